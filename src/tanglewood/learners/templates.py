"""Feature templates of the linear learner: what they may contain, the shipped set, and your own files.

A template is a conjunction of atoms with spaces between, such as ``s0.upos s1.upos s1-s0.distance``. An atom is an
address and an attribute of its node; a pair of addresses and ``distance``, ``between``, ``direction`` or ``arc``;
``flags``; or ``valencies``, the labels in the second list (open valencies, in three-step). Addresses are those of
core/addresses.py and, in templates for labels, h and d: head and dependent of the arc in question; in those for
siblings also n, the dependent of h before d. A template that begins with ``first:`` or ``later:`` is for configurations
of a system's first phase only, or of those after it.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from tanglewood.core.addresses import Addresses
from tanglewood.errors import ConfigError
from tanglewood.ml.word_table import COLUMNS

# The number of an attribute tells the compiled core what to do: first come the columns of the word table, which are
# known before parsing begins, then these.
ATTRIBUTES = {name: number for number, name in enumerate((*COLUMNS, "feats", "label", "lefts", "rights", "deps"))}
PAIR_ATTRIBUTES = {name: len(ATTRIBUTES) + n for n, name in enumerate(("distance", "direction", "arc", "between"))}
FLAGS, VALENCIES, SIDE_LABELS, CANDIDATES = range(len(ATTRIBUTES) + 4, len(ATTRIBUTES) + 8)
ATTRIBUTES["sidelabels"] = SIDE_LABELS  # of the dependents on the left or, in a phase from right to left, on the right
ATTRIBUTES["choices"] = CANDIDATES  # the first tagger's tag candidates, taken together
# These have several values, each a feature of its own.
MANY = (ATTRIBUTES["feats"], PAIR_ATTRIBUTES["between"], VALENCIES, SIDE_LABELS)
ARC = ("h", "d")
SIBLING = (*ARC, "n")  # and the dependent of h next to d, nearer to h
STEPS = ("first:", "later:")


@dataclass(frozen=True, slots=True)
class Atom:
    """One part of a template: the number of its attribute and the addresses it refers to ("" where it has none)."""

    attribute: int
    first: str = ""
    second: str = ""


class TemplateLists:
    """Lists of templates, as they are written; ``lists`` says what they are called and to which nodes they may refer.

    These come beside those of a configuration. The ``optional`` ones may be left out.
    """

    __slots__ = ()
    lists: ClassVar[dict[str, tuple[str, ...]]] = {}
    optional: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name, ends in self.lists.items():
            for text in getattr(self, name):
                parse_template(text, ends)

    @classmethod
    def of(cls, data: dict[str, Any], where: str = "templates") -> Self:
        """Return the templates of a mapping with lists of strings."""
        names = [name for name in cls.lists if name not in cls.optional]
        for name in (*names, *(name for name in cls.optional if data.get(name))):
            found = data.get(name)
            if not isinstance(found, list) or not found or not all(isinstance(text, str) for text in found):
                raise ConfigError(f"{where} should have two lists of strings, {' and '.join(names)}")
        if not data.keys() <= cls.lists.keys():
            raise ConfigError(f"{where} should have nothing but {' and '.join(names)}; it has {', '.join(data)}")
        return cls(**{name: tuple(found) for name, found in data.items()})

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Read a TOML file with lists of strings."""
        try:
            data = tomllib.loads(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise ConfigError(f"templates={path}: the file cannot be read: {error.strerror or error}") from error
        except ValueError as error:
            raise ConfigError(f"{path}: not a TOML file: {error}") from error
        return cls.of(data, str(path))

    def as_dict(self) -> dict[str, list[str]]:
        """Return plain data from which `of` rebuilds them."""
        return {name: list(getattr(self, name)) for name in self.lists if getattr(self, name)}


@dataclass(frozen=True, slots=True)
class Templates(TemplateLists):
    """The templates for moves, those for labels and, for systems that give tags, those for tags."""

    lists = {"moves": (), "labels": ARC, "tags": ()}  # noqa: RUF012 - a ClassVar
    optional = ("tags",)
    moves: tuple[str, ...]
    labels: tuple[str, ...]
    tags: tuple[str, ...] = ()

    def __add__(self, other: Templates) -> Templates:
        return Templates(self.moves + other.moves, self.labels + other.labels, self.tags + other.tags)


def parse_template(text: str, ends: tuple[str, ...] = ()) -> list[Atom]:
    """Return the atoms of a template; ``ends`` are the nodes of an arc that it may refer to."""
    atoms = [_parse_atom(atom, text, ends) for atom in step_of(text)[1].split()]
    many = [atom for atom in atoms if atom.attribute in MANY]
    if not atoms or len(many) > 2:
        raise ConfigError(f"template {text!r} should have at least one atom, and at most two of feats or between")
    return atoms


def step_of(text: str) -> tuple[int, str]:
    """Return whether a template is for all steps (0), the first (1) or the later ones (2), and the rest of it."""
    for step, prefix in enumerate(STEPS, 1):
        if text.startswith(prefix):
            return step, text[len(prefix) :]
    return 0, text


def _parse_atom(atom: str, template: str, ends: tuple[str, ...]) -> Atom:
    if atom in ("flags", "valencies"):
        return Atom(FLAGS if atom == "flags" else VALENCIES)
    address, _, attribute = atom.rpartition(".")
    first, dash, second = address.partition("-")
    known = PAIR_ATTRIBUTES if dash else ATTRIBUTES
    if attribute not in known:
        raise ConfigError(
            f"unknown attribute {attribute!r} in template {template!r}; a node has {', '.join(ATTRIBUTES)}; "
            f"a pair such as s1-s0 has {', '.join(PAIR_ATTRIBUTES)}; a configuration has flags and valencies"
        )
    for name in (first, second) if dash else (first,):
        _check_address(name, template, ends)
    return Atom(known[attribute], first, second)


def _check_address(name: str, template: str, ends: tuple[str, ...]) -> None:
    """Raise ConfigError if this is not an address; the ends of an arc may be followed by the same steps as s0."""
    start, dot, steps = name.partition(".")
    try:
        Addresses([f"s0{dot}{steps}" if start in ends else name])
    except ConfigError as error:
        hint = "; or h or d, head and dependent of the arc" if ends else ""
        hint += "; or n, the dependent of h before d" if "n" in ends else ""
        raise ConfigError(f"in template {template!r}: {error}{hint}") from error


def template_lines(text: str) -> tuple[str, ...]:
    """Return the templates in a text: one per line or, with commas, several."""
    return tuple(part.strip() for line in text.splitlines() for part in line.split(",") if part.strip())


# The shipped set: the templates of Zhang & Nivre 2011, their words also as lemmas, and morphology: single features of
# the words in question, and their pairs, which is what agreement and case are about.
SHIPPED = Templates(
    moves=template_lines("""
        s0.form, s0.lemma, s0.upos, s0.xpos, s0.form s0.upos, s0.feats, s0.suffix3, s0.suffix2, s0.prefix3
        s1.form, s1.lemma, s1.upos, s1.xpos, s1.form s1.upos, s1.feats, s1.suffix3, s1.suffix2
        s2.lemma, s2.upos, s2.xpos, s2.feats
        b0.form, b0.lemma, b0.upos, b0.xpos, b0.form b0.upos, b0.feats, b0.suffix3
        b1.form, b1.lemma, b1.upos, b1.xpos, b1.feats
        b2.lemma, b2.upos, b2.xpos

        s0.form s1.form, s0.lemma s1.lemma, s0.upos s1.upos, s0.xpos s1.xpos
        s0.lemma s1.upos, s0.upos s1.lemma, s0.form s1.upos, s0.upos s1.form
        s0.feats s1.feats, s0.feats s1.upos, s0.upos s1.feats
        s0.form s0.upos s1.upos, s0.upos s1.form s1.upos, s0.suffix3 s1.upos, s0.upos s1.suffix3
        s0.lemma b0.lemma, s0.upos b0.upos, s0.xpos b0.xpos, s0.lemma b0.upos, s0.upos b0.lemma
        s0.feats b0.feats, s0.feats b0.upos, s0.upos b0.feats
        s1.upos b0.upos, s1.lemma b0.upos, s1.upos b0.lemma, s1.xpos b0.xpos, s1.feats b0.upos
        b0.upos b1.upos, b0.xpos b1.xpos, b0.lemma b1.upos, b0.upos b1.lemma, s0.upos b1.upos

        s0.upos s1.upos s2.upos, s0.upos s1.upos b0.upos, s0.upos b0.upos b1.upos, b0.upos b1.upos b2.upos
        s0.upos s1.upos b0.upos b1.upos, s0.lemma s1.upos b0.upos, s0.upos s1.lemma b0.upos, s0.upos s1.upos b0.lemma
        s0.xpos s1.xpos b0.xpos, s0.upos s1.upos b0.feats, s0.upos s1.upos s0.feats, s0.upos s1.upos s1.feats

        s0.left1.upos, s0.left1.label, s0.left1.lemma, s0.left2.label, s0.right1.upos, s0.right1.label
        s0.right1.lemma, s0.right2.label, s1.left1.upos, s1.left1.label, s1.left2.label, s0.left1.feats, s1.left1.feats
        s1.right1.upos, s1.right1.label, s1.right1.lemma, s1.right2.label
        s0.upos s0.left1.label, s0.upos s0.right1.label, s1.upos s1.left1.label, s1.upos s1.right1.label
        s0.upos s1.upos s0.left1.label, s0.upos s1.upos s0.right1.label
        s0.upos s1.upos s1.left1.label, s0.upos s1.upos s1.right1.label
        s0.upos s1.upos s0.left1.upos, s0.upos s1.upos s0.right1.upos
        s0.upos s1.upos s1.left1.upos, s0.upos s1.upos s1.right1.upos
        s0.upos s0.left1.label s0.left2.label, s0.upos s0.right1.label s0.right2.label
        s1.upos s1.left1.label s1.left2.label, s1.upos s1.right1.label s1.right2.label
        s0.lemma s0.left1.label, s0.lemma s0.right1.label, s1.lemma s1.left1.label, s1.lemma s1.right1.label
        s0.label, s0.upos s0.label, s0.head.upos, b0.left1.label, b0.upos b0.left1.label, b0.left1.upos

        s1-s0.distance, s0.upos s1-s0.distance, s1.upos s1-s0.distance, s0.upos s1.upos s1-s0.distance
        s0.lemma s1-s0.distance, s1.lemma s1-s0.distance, s0-b0.distance, s0.upos s0-b0.distance
        s0.upos b0.upos s0-b0.distance, s0.upos s1.upos s1-s0.between
        s0.upos s0.lefts, s0.upos s0.rights, s1.upos s1.lefts, s1.upos s1.rights
        s0.lemma s0.lefts, s0.lemma s0.rights, s1.lemma s1.lefts, s1.lemma s1.rights
        s0.upos s1.upos s0.rights, s0.upos s1.upos s1.rights, s0.upos s1.upos s1.lefts
        flags, flags s0.upos, flags s1.upos
    """),
    labels=template_lines("""
        d.form, d.lemma, d.upos, d.xpos, d.feats, d.suffix2, d.suffix3, d.suffix4, d.prefix3, d.form d.upos
        h.form, h.lemma, h.upos, h.xpos, h.feats, h.suffix3
        d.upos h.upos, d.xpos h.xpos, d.lemma h.upos, d.upos h.lemma, d.lemma h.lemma, d.form h.upos, d.upos h.form
        d.feats h.upos, d.upos h.feats, d.feats h.feats, d.feats h.lemma, d.upos d.feats, d.upos d.feats h.upos
        d.suffix3 h.upos, d.suffix3 h.lemma
        h-d.distance, d.upos h.upos h-d.distance
        d.left1.label, d.left1.upos, d.left1.lemma, d.right1.label, d.right1.upos, d.right1.lemma, d.left2.label
        d.upos d.left1.lemma, d.upos h.upos d.left1.lemma, d.upos d.left1.label, d.upos h.upos d.left1.label
        d.upos d.right1.label, d.upos d.lefts, d.upos d.rights
        h.left1.label, h.left2.label, h.right1.label, h.right2.label, h.upos h.left1.label, h.upos h.right1.label
        d.upos h.upos h.left1.label, d.upos h.upos h.right1.label, d.upos h.lemma h.left1.label
        d.feats h.left1.label, d.feats h.right1.label
        s2.upos, s2.lemma, b0.upos, b0.lemma, d.upos s2.upos, d.upos b0.upos, d.upos h.upos b0.upos
    """),
)

# In addition, for the two passes of three-step, where b0 is the word in question and still attached to its anchor: what
# the paper's Table 6 has, and the anchor's other dependents, since the right head is often among them. PutValency makes
# no arc, so its label has no h and d to look at.
LATER = Templates(
    moves=template_lines("""
        later:valencies, later:valencies b0.upos, later:valencies b0.lemma, later:valencies b0.feats
        later:valencies b0.upos b0.label, later:valencies b0.left1.label, later:valencies b0.right1.label
        later:b0.label, later:b0.upos b0.label, later:b0.lemma b0.label, later:b0.feats b0.label
        later:b0.head.form, later:b0.head.lemma, later:b0.head.upos, later:b0.head.feats, later:b0.head.label
        later:b0.upos b0.head.upos, later:b0.lemma b0.head.lemma, later:b0.lemma b0.head.upos
        later:b0.upos b0.head.lemma, later:b0.feats b0.head.upos, later:b0.feats b0.head.feats
        later:b0.label b0.head.upos, later:b0.label b0.head.lemma, later:b0.label b0.head.label
        later:b0.upos b0.label b0.head.upos, later:b0.label b0.head.upos b0.head.head.upos
        later:b0-b0.head.distance, later:b0.label b0-b0.head.distance, later:b0.label b0.head.upos b0-b0.head.distance
        later:b0.head.sidelabels, later:b0.label b0.head.sidelabels, later:b0.upos b0.head.upos b0.head.sidelabels
        later:b0.previous.form, later:b0.previous.upos, later:b0.previous.previous.upos
        later:b0.next.form, later:b0.next.upos, later:b0.next.next.upos, later:b0.previous.upos b0.upos b0.next.upos
        later:b0.label b0.previous.upos, later:b0.label b0.next.upos
        later:b0.label b0.left1.label, later:b0.label b0.right1.label
        later:b0.label b0.head.left1.label, later:b0.label b0.head.left2.label, later:b0.label b0.head.left1.upos
        later:b0.label b0.head.right1.label, later:b0.label b0.head.right2.label, later:b0.label b0.head.right1.upos
        later:b0.label b0.head.right1.lemma, later:b0.label b0.head.right1.feats, later:b0.upos b0.head.left1.label
        later:b0.label b0.head.upos b0.head.right1.upos, later:b0.label b0.head.upos b0.head.right1.label
        later:b0.label b0.head.lemma b0.head.right1.label, later:b0.upos b0.head.right1.upos b0.head.right1.label
        later:b0.feats b0.head.right1.upos, later:b0.feats b0.head.right1.feats
        later:b0.label b0.head.lefts, later:b0.label b0.head.rights
    """),
    labels=template_lines("""
        later:b0.lemma, later:b0.upos, later:b0.feats, later:b0.label, later:b0.left1.label, later:b0.left1.lemma
        later:b0.upos b0.label, later:b0.lemma b0.label, later:b0.feats b0.label, later:b0.upos b0.feats
        later:b0.head.upos b0.label, later:b0.head.lemma b0.label, later:b0.upos b0.head.upos b0.label
    """),
)

# For the tag of b0: the first tagger's candidates, the word, its neighbours, the tags given so far, and the stack.
TAGS = """
    b0.choices, b0.tag, b0.form, b0.lower, b0.feats, b0.shape
    b0.prefix2, b0.prefix3, b0.suffix2, b0.suffix3, b0.suffix4
    b0.choices b0.lower, b0.choices b0.suffix3, b0.choices b0.shape, b0.tag b0.lower, b0.tag b0.suffix3
    b0.previous.tag, b0.previous.tag b0.previous.previous.tag, b0.previous.lower, b0.previous.tag b0.lower
    b0.previous.tag b0.choices, b0.previous.lower b0.choices, b0.previous.tag b0.previous.previous.tag b0.choices
    b1.tag, b1.tag b2.tag, b1.lower, b1.tag b0.lower, b1.tag b0.choices, b1.lower b0.choices, b1.tag b2.tag b0.choices
    b0.previous.tag b1.tag, b0.previous.tag b1.tag b0.choices, b2.tag b0.choices
    s0.tag, s0.lemma, s0.tag b0.choices, s0.lemma b0.choices, s0.feats b0.choices, s0.tag s1.tag
    s0.tag s1.tag b0.choices, s1.tag b0.choices, s0.tag b1.tag b0.choices
    s0.left1.label b0.choices, s0.right1.label b0.choices
    s0.tag s0.left1.label b0.choices, s0.tag s0.right1.label b0.choices, s0.tag s0.right1.tag b0.choices
    s0.tag s0.lefts s0.rights b0.choices, s0-b0.distance b0.choices, flags b0.choices
"""


def tag_templates(column: str) -> tuple[str, ...]:
    """Return the shipped templates for tags of a column."""
    return template_lines(TAGS.replace(".tag", f".{column}"))
