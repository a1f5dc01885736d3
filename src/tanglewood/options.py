"""The options of a search, for the command line, the page and Python; importing them loads nothing else."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TypedDict

from tanglewood.decoders import MOST_MEMORY
from tanglewood.errors import ArgumentError, ConfigError

SENTENCES = ("model", "punctuation", "lines", "blank-lines")  # what may end the sentences of raw text

MOST_TAGS = 100  # sequences of tags that may be tried


@dataclass(frozen=True, slots=True)
class ParseOptions:
    """How to search for trees.

    A model that scores moves searches greedily or with a ``beam`` (None: as wide as suits the model, see
    `Parser.resolved`); one that scores arcs too lets both vote unless another ``search`` is asked for (searches.py says
    what there is). ``accurate`` takes a beam, which usually gives better trees. With ``nbest`` each sentence is
    returned up to that many times, the best tree first, with comments ``# nbest`` and ``# log_probability``.

    A graph-based model takes the ``search`` it was trained with, or another one of the registry. With ``min_risk``
    it gives the tree that is expected to have the most heads right. Sentences longer than ``max_length`` words (0: any
    length), or that need more than ``max_memory`` bytes, get the best of all trees; a comment ``# search`` then says
    so, and with ``show_search`` every sentence has one. A model that scores moves too follows them alone there.

    With ``confidence`` MISC gets ``Confidence=``: the probability of the word's head among all trees (projective ones
    with "eisner"); from a model that scores moves alone the share of the beam's probability in which the word has this
    head.

    ``sentences`` says where the sentences of raw text end: where the "model" says, at final "punctuation", with each
    line ("lines"), or at "blank-lines" only.

    ``contextual`` names a file of a large encoder's vectors (`tanglewood embed`), or the encoder, for models that have
    learnt from some.

    With ``keep_heads`` words that have a head, or a label, keep it, and only "_" is filled in: for searches over arcs.

    With ``tags_nbest`` so many sequences of tags are tried in each sentence that is tagged, and that is taken which the
    tagger and the moves of the parser together find likeliest.

    With ``reproducible`` a network computes the same bits on every machine, a little more slowly (arithmetic.py).
    """

    search: str = ""
    beam: int | None = None
    accurate: bool = False
    nbest: int = 1
    confidence: bool = False
    min_risk: bool = False
    max_length: int = 0
    max_memory: int = MOST_MEMORY
    show_search: bool = False
    sentences: str = "model"
    contextual: str = ""
    keep_heads: bool = False
    tags_nbest: int = 1
    reproducible: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            wanted = type(field.default) if field.default is not None else int
            if type(value) is not wanted and value is not field.default:
                raise ArgumentError(f"{field.name}={value!r}: the option should be of type {wanted.__name__}")
        if min(self.beam or 1, self.nbest) < 1 or self.beam == 0:
            raise ConfigError(f"beam and nbest must be 1 or more, not {self.beam} and {self.nbest}")
        if not 1 <= self.tags_nbest <= MOST_TAGS:
            raise ConfigError(f"tags_nbest should be from 1 to {MOST_TAGS}, not {self.tags_nbest}")
        if self.sentences not in SENTENCES:
            raise ConfigError(f"sentences={self.sentences!r}: it should be one of {', '.join(SENTENCES)}")
        if self.max_length < 0 or self.max_memory < 1:
            raise ConfigError(f"limits of {self.max_length} words and {self.max_memory} bytes let nothing through")


class OptionsByName(TypedDict, total=False):
    """The fields of ParseOptions, as they may be given to functions by name."""

    search: str
    beam: int | None
    accurate: bool
    nbest: int
    confidence: bool
    min_risk: bool
    max_length: int
    max_memory: int
    show_search: bool
    sentences: str
    contextual: str
    keep_heads: bool
    tags_nbest: int
    reproducible: bool


def asked_beam(width: int) -> int | None:
    """Return the width of the beam that a training run asks for; None, for a width of 1, leaves it to the model."""
    return width if width > 1 else None


def chosen(options: ParseOptions | None, more: OptionsByName) -> ParseOptions:
    """Return the options, with those given by name replaced."""
    options = ParseOptions() if options is None else options
    if not isinstance(options, ParseOptions):
        raise ArgumentError(f"options should be ParseOptions(...), not {options!r}")
    known = [field.name for field in fields(ParseOptions)]
    for name in more:
        if name not in known:
            raise ArgumentError(f"there is no option {name!r}; the options are {', '.join(known)}")
    return replace(options, **more)
