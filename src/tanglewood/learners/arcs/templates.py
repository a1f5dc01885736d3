"""Feature templates for arcs: what they may contain, and the shipped set.

They are written like those for moves (learners/templates.py), but refer only to the head h, the dependent d, and what
can be reached from them: ``h.next.upos``, ``d.previous.upos``. There is no configuration; in a stacked model the other
parser's tree takes its place: ``h-d.arc`` says whether it has this arc and with which label, ``d.label`` and
``d.head.upos`` are those of that tree. Templates for siblings also refer to n, the dependent of h next to d on the side
of h; where d is the nearest dependent itself, n is missing.
"""

from __future__ import annotations

from dataclasses import dataclass

from tanglewood.errors import ConfigError
from tanglewood.learners.templates import ARC, FLAGS, SIBLING, TemplateLists, parse_template, step_of, template_lines


@dataclass(frozen=True, slots=True)
class ArcTemplates(TemplateLists):
    """The templates for arcs, those for their labels and, in a second-order model, those for siblings."""

    lists = {"arcs": ARC, "labels": ARC, "siblings": SIBLING}  # noqa: RUF012 - a ClassVar
    optional = ("siblings",)
    arcs: tuple[str, ...]
    labels: tuple[str, ...]
    siblings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        TemplateLists.__post_init__(self)
        for name, ends in self.lists.items():
            for text in getattr(self, name):
                if step_of(text)[0]:
                    raise ConfigError(f"template {text!r} of an arc cannot be for a phase: there are none")
                for atom in parse_template(text, ends):
                    starts = [address.split(".")[0] for address in (atom.first, atom.second) if address]
                    if atom.attribute >= FLAGS or any(start not in ends for start in starts):
                        only = "h, d and n" if name == "siblings" else "h and d"
                        raise ConfigError(f"template {text!r} of an arc should speak of {only} only")


def by_side(templates: tuple[str, ...]) -> tuple[list[str], list[str], list[str]]:
    """Divide templates into those of the head alone, those of the dependent alone and those of both.

    Features of one end and the direction alone need not be looked up again for every arc.
    """
    sides: tuple[list[str], list[str], list[str]] = ([], [], [])
    for text in templates:
        ends = {name[0] for atom in text.split() if atom != "h-d.direction" for name in _addresses(atom)}
        sides[2 if len(ends) > 1 or not ends else ARC.index(ends.pop())].append(text)
    return sides


def by_head(templates: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Divide templates for siblings into those without h, which are the same for all heads, and the others."""
    with_head = [
        text for text in templates if any(name[0] == "h" for atom in text.split() for name in _addresses(atom))
    ]
    return [text for text in templates if text not in with_head], with_head


def _addresses(atom: str) -> list[str]:
    return atom.rpartition(".")[0].split("-")


def _with(texts: str, *more: str) -> tuple[str, ...]:
    """Templates, each with every one of these atoms added."""
    return tuple(f"{text} {atom}" for text in template_lines(texts) for atom in more)


# McDonald, Crammer & Pereira (2005), with lemmas, and morphology feature by feature: what agreement and case are about.
SHIPPED = ArcTemplates(
    arcs=(
        *_with(
            """
            h.form, h.lemma, h.upos, h.xpos, h.form h.upos, h.feats, h.suffix3
            d.form, d.lemma, d.upos, d.xpos, d.form d.upos, d.feats, d.suffix3
            h.upos h.previous.upos, h.upos h.next.upos, d.upos d.previous.upos, d.upos d.next.upos
            d.lemma d.previous.upos, d.lemma d.next.upos
            h.previous.upos h.upos h.next.upos, d.previous.upos d.upos d.next.upos
            """,
            "h-d.direction",
        ),
        *_with("h.upos, d.upos, h.lemma, d.lemma, d.xpos, d.feats, h.feats", "h-d.distance"),
        *_with(
            """
            h.upos d.upos, h.xpos d.xpos, h.lemma d.upos, h.upos d.lemma, h.upos d.feats, h.upos d.suffix3
            h.upos h.next.upos d.previous.upos d.upos, h.previous.upos h.upos d.previous.upos d.upos
            h.upos h.next.upos d.upos d.next.upos, h.previous.upos h.upos d.upos d.next.upos
            """,
            "h-d.direction",
            "h-d.distance",
        ),
        *_with(
            """
            h.form d.form, h.lemma d.lemma, h.form d.upos, h.upos d.form, h.feats d.upos, h.feats d.feats
            h.upos d.upos d.feats, h.upos d.upos h.feats, h.suffix3 d.upos, h.upos d.upos d.lemma, h.upos d.upos h.lemma
            h.upos d.upos h.next.upos, h.upos d.upos h.previous.upos, h.upos d.upos d.next.upos
            h.upos d.upos d.previous.upos, h.lemma d.feats, h.suffix3 d.suffix3
            """,
            "h-d.direction",
        ),
        "h-d.distance",
        "h.upos d.upos h-d.between",
        "d.upos h-d.between",
    ),
    labels=(
        *_with(
            """
            d.form, d.lemma, d.upos, d.xpos, d.feats, d.suffix2, d.suffix3, d.suffix4, d.prefix3, d.upos d.feats
            d.previous.upos, d.next.upos, d.upos d.previous.upos, d.upos d.next.upos, d.previous.lemma, d.next.lemma
            d.upos d.previous.lemma, h.form, h.lemma, h.upos, h.xpos, h.feats
            """,
            "h-d.direction",
        ),
        *_with(
            """
            d.upos h.upos, d.xpos h.xpos, d.lemma h.upos, d.upos h.lemma, d.lemma h.lemma, d.form h.upos
            d.feats h.upos, d.upos h.feats, d.feats h.feats, d.feats h.lemma, d.upos d.feats h.upos
            d.suffix3 h.upos, d.suffix3 h.lemma, d.previous.lemma d.upos h.upos
            """,
            "h-d.direction",
        ),
        "d.upos h.upos h-d.distance",
        "d.upos h.upos h-d.between",
    ),
)

# What is added where the model is stacked on another parser (Nivre & McDonald 2008).
STACKED = ArcTemplates(
    arcs=template_lines("""
        h-d.arc, h-d.arc h-d.direction, h-d.arc h-d.distance, h-d.arc d.upos, h-d.arc h.upos, h-d.arc h.upos d.upos
        h-d.arc d.lemma, h-d.arc h.lemma, d.label h.upos d.upos, d.head.upos h.upos d.upos, h-d.arc d.feats
        d.label h.upos h-d.direction, h.label d.upos h-d.arc
    """),
    labels=template_lines("""
        h-d.arc, d.label, h-d.arc d.upos, d.label d.upos, d.label h.upos, d.label d.upos h.upos, h.label
        h.label d.label, d.label d.lemma, d.label d.feats
    """),
)

# What is added in a second-order model (McDonald & Pereira 2006): the tags of head and both dependents, and tags and
# words of the two dependents alone, with direction and distance. A template without h is looked up once for each pair
# of dependents; where n is missing, it does not count.
SIBLINGS = (
    *_with(
        """
        h.upos n.upos d.upos, h.xpos n.xpos d.xpos, h.lemma n.upos d.upos, h.upos n.lemma d.upos, h.upos n.upos d.lemma
        """,
        "h-d.direction",
    ),
    "h.upos n.upos d.upos h-d.direction n-d.distance",
    *_with(
        """
        n.upos d.upos, n.xpos d.xpos, n.lemma d.lemma, n.lemma d.upos, n.upos d.lemma, n.feats d.feats
        """,
        "n-d.direction",
        "n-d.distance",
    ),
)
