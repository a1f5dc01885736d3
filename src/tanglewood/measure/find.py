"""Filters for sentences of a treebank: by their arcs, words and length, or by a system that does not derive them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError
from tanglewood.measure.coverage import Coverage
from tanglewood.systems import make_system

if TYPE_CHECKING:
    from tanglewood.treebank.sentence import Sentence
    from tanglewood.treebank.tree import Tree


@dataclass(frozen=True, slots=True)
class Filter:
    """Sentences for which all conditions hold; every thread needs its own instance.

    ``crossing`` asks for a non-projective arc, and ``label`` for an arc with this label, which with ``crossing`` must
    be a non-projective one. ``degree`` is the least degree (Nivre 2007) and ``not_covered_by`` the name of a system
    that does not derive the tree. ``search`` is in the text or the sent_id, in upper or lower case, and ``form`` is a
    regular expression that matches somewhere in some word form. Lengths are in words; None: no limit.
    """

    crossing: bool = False
    degree: int = 0
    not_covered_by: str = ""
    label: str = ""
    search: str = ""
    form: str = ""
    min_length: int = 0
    max_length: int | None = None
    _searched: str = field(init=False, repr=False, compare=False)
    _pattern: re.Pattern[str] = field(init=False, repr=False, compare=False)
    _coverage: Coverage | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.max_length is not None and self.min_length > self.max_length:
            raise ConfigError(f"no sentence has at least {self.min_length} and at most {self.max_length} words")
        try:
            pattern = re.compile(self.form)
        except (re.error, RecursionError, OverflowError) as error:
            raise ConfigError(f"form {self.form!r} is not a regular expression: {error}") from None
        system = self.not_covered_by
        object.__setattr__(self, "_searched", self.search.casefold())
        object.__setattr__(self, "_pattern", pattern)
        object.__setattr__(self, "_coverage", Coverage({system: make_system(system)}) if system else None)

    def passes(self, sentence: Sentence, uncovered: Collection[str] | None = None) -> bool:
        """Whether a sentence is wanted; ``uncovered`` are the systems that do not derive it, where that is known.

        Cheap conditions come first. Only conditions on arcs need a tree, and raise a TreeError if there is none.
        """
        return (
            self._fits(len(sentence))
            and (not self.label or self.label in sentence.deprels)
            and (not self.form or any(map(self._pattern.search, sentence.forms)))
            and (not self.search or self._mentioned(sentence))
            and (not (self.crossing or self.degree or self._coverage) or self._shaped(sentence.tree, uncovered))
        )

    def _fits(self, length: int) -> bool:
        return self.min_length <= length and (self.max_length is None or length <= self.max_length)

    def _mentioned(self, sentence: Sentence) -> bool:
        text = sentence.text or " ".join(sentence.forms)
        return self._searched in text.casefold() or self._searched in (sentence.sent_id or "").casefold()

    def _shaped(self, tree: Tree, uncovered: Collection[str] | None) -> bool:
        if self.crossing and not any(self.label in ("", tree.labels[word]) for word in tree.nonprojective_arcs()):
            return False
        if self.degree and tree.degree() < self.degree:
            return False
        if self._coverage is None:
            return True
        return self.not_covered_by in (self._coverage.add(tree) if uncovered is None else uncovered)
