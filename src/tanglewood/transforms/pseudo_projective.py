"""Pseudo-projective parsing: trees made projective with labels that tell the way back (Nivre & Nilsson 2005).

A dependent that was lifted gets the separator after its label, then (``head``, ``head+path``) the label of its original
head; a word whose arc a dependent was lifted past gets the path mark (``path``, ``head+path``): ``NMOD|SBJ%``.
"""

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from tanglewood.errors import ConfigError
from tanglewood.transforms.lifting import lift, lift_and_mark
from tanglewood.treebank.tree import Tree

SCHEMES = ("head", "path", "head+path")
MARKS = "|%↑↓^~!$&*+/@#¦§¶"


class Decoration(NamedTuple):
    """What a label says: itself, the label of the original head if the word was lifted, whether its arc was passed."""

    label: str
    origin: str | None = None
    passed: bool = False


@dataclass(frozen=True, slots=True)
class Scheme:
    """How labels are decorated: a name of `SCHEMES` and two different characters that no label contains."""

    name: str = "head+path"
    separator: str = "|"
    mark: str = "%"

    def __post_init__(self) -> None:
        if self.name not in SCHEMES:
            raise ConfigError(f"unknown pseudo-projective scheme {self.name!r}; known: {', '.join(SCHEMES)}")
        marks = (self.separator, self.mark)
        if self.separator == self.mark or any(len(mark) != 1 or mark.isspace() for mark in marks):
            raise ConfigError(
                f"separator {self.separator!r} and path mark {self.mark!r} must be two different characters, not spaces"
            )

    @property
    def keeps_head(self) -> bool:
        """Whether lifted labels name the label of the original head."""
        return self.name != "path"

    @property
    def keeps_path(self) -> bool:
        """Whether the arcs passed by a lift are marked."""
        return self.name != "head"

    def clashes(self, labels: Iterable[str]) -> list[str]:
        """Return the labels, sorted, that contain the separator or the path mark."""
        return sorted({label for label in labels if self.separator in label or self.mark in label})

    def check(self, labels: Iterable[str]) -> None:
        """Raise ConfigError if a label contains the separator or the path mark."""
        if clashes := self.clashes(labels):
            raise ConfigError(
                f"label {clashes[0]!r} contains the separator {self.separator!r} or the path mark {self.mark!r} of the "
                "pseudo-projective scheme; choose others (--separator, --mark; in Python fitting_scheme finds some)"
            )

    def decorate(self, decoration: Decoration) -> str:
        """Return the label that says all of ``decoration`` that this scheme keeps."""
        label, origin, passed = decoration
        if origin is not None:
            label += self.separator + (origin if self.keeps_head else "")
        return label + self.mark if passed and self.keeps_path else label

    def undecorate(self, label: str) -> Decoration:
        """Return what a decorated label says; any string is understood, and no part of the answer contains a mark."""
        front, separator, back = label.partition(self.separator)
        origin = back.partition(self.separator)[0].partition(self.mark)[0] if separator else None
        return Decoration(front.partition(self.mark)[0], origin, self.mark in label)


def fitting_scheme(name: str, labels: Iterable[str]) -> Scheme:
    """Return the scheme of that name with the first two characters of `MARKS` that occur in no label."""
    used = {character for label in labels for character in label}
    free = [mark for mark in MARKS if mark not in used]
    if len(free) < 2:
        raise ConfigError(f"the labels leave no two of these marks free: {' '.join(MARKS)}; give a Scheme of your own")
    return Scheme(name, free[0], free[1])


def lifted(tree: Tree) -> Tree:
    """Return the tree with non-projective arcs lifted and labels as they were: there is no way back from it."""
    heads = lift(tree.heads)
    return tree if heads == tree.heads else Tree(heads[1:], tree.labels[1:])


def projectivize(tree: Tree, scheme: Scheme | str = "head+path") -> Tree:
    """Return the tree with non-projective arcs lifted and labels decorated; a projective tree as it is.

    Raises ConfigError if a label contains a mark of the scheme, for `deprojectivize` would cut it.
    """
    scheme = _scheme(scheme)
    scheme.check(tree.labels)
    heads, passed = lift_and_mark(tree.heads)
    if heads == tree.heads:
        return tree
    # Each lift goes up the tree, so a word was lifted exactly if its head has changed.
    labels = [
        scheme.decorate(Decoration(label, None if head == old else tree.labels[old], passed[word] == 1))
        for word, (label, head, old) in enumerate(zip(tree.labels, heads, tree.heads, strict=True))
    ]
    return Tree(heads[1:], labels[1:])


def deprojectivize(tree: Tree, scheme: Scheme | str = "head+path") -> Tree:
    """Return the tree with lifted dependents moved back down, as far as the labels tell where, and no marks.

    Lifted dependents are treated top-down, left to right. Any labels do: a dependent whose original head is not found
    stays where it is, and no dependent moves below itself.
    """
    scheme = _scheme(scheme)
    if not scheme.clashes(tree.labels):
        return tree
    decorations = [scheme.undecorate(label) for label in tree.labels]
    heads = tree.heads[:]
    dependents: list[list[int]] = [[] for _ in heads]
    for word in range(1, len(heads)):
        dependents[heads[word]].append(word)
    treated = [decoration.origin is None for decoration in decorations]
    agenda = [0]
    for head in agenda:  # grows while it is read: breadth first
        for word in dependents[head][:]:
            if treated[word]:
                continue
            treated[word] = True
            origin = _find_head(scheme, decorations, dependents, head, word)
            if origin > 0:
                heads[word] = origin
                dependents[head].remove(word)
                insort(dependents[origin], word)
        agenda += dependents[head]
    return Tree(heads[1:], [decoration.label for decoration in decorations[1:]])


def _find_head(
    scheme: Scheme, decorations: Sequence[Decoration], dependents: Sequence[Sequence[int]], head: int, word: int
) -> int:
    """Return the word below ``head`` that ``word`` was lifted from, by what its label says; 0 if there is none."""
    second_best = 0
    agenda = [head]
    for node in agenda:  # grows while it is read: breadth first, left to right
        for candidate in dependents[node]:
            # Never below the word itself: that would be a cycle.
            if candidate == word or (scheme.keeps_path and not decorations[candidate].passed):
                continue
            agenda.append(candidate)
            if scheme.keeps_head and decorations[candidate].label != decorations[word].origin:
                continue
            # A path that goes on below the candidate probably leads to the original head.
            if not scheme.keeps_path or not any(decorations[below].passed for below in dependents[candidate]):
                return candidate
            second_best = second_best or candidate
    return second_best


@dataclass(frozen=True, slots=True)
class RoundTrip:
    """Counts over trees t and their deprojectivize(projectivize(t)); see `round_trip`."""

    trees: int
    restored: int
    arcs: int
    recovered: int
    labels_before: int
    labels_after: int


def round_trip(trees: Iterable[Tree], scheme: Scheme | str = "head+path") -> RoundTrip:
    """Count what is lost when trees are made projective and brought back, with gold labels.

    ``arcs`` counts the arcs that are non-projective in the gold trees (some word between is not dominated by the head),
    ``recovered`` those of them whose dependent has its gold head and its gold label in the tree brought back. ``trees``
    counts all trees, ``restored`` those equal to the gold tree. ``labels_before`` and ``labels_after`` are the numbers
    of distinct labels of the gold trees and of the projective trees.
    """
    scheme = _scheme(scheme)
    count = restored = arcs = recovered = 0
    before: set[str] = set()
    after: set[str] = set()
    for tree in trees:
        projective = projectivize(tree, scheme)
        back = deprojectivize(projective, scheme)
        count += 1
        restored += back == tree
        before.update(tree.labels[1:])
        after.update(projective.labels[1:])
        for word in tree.nonprojective_arcs():
            arcs += 1
            recovered += back.heads[word] == tree.heads[word] and back.labels[word] == tree.labels[word]
    return RoundTrip(count, restored, arcs, recovered, len(before), len(after))


def _scheme(scheme: Scheme | str) -> Scheme:
    return scheme if isinstance(scheme, Scheme) else Scheme(scheme)


def scheme_of(labels: Iterable[str], separator: str = "|", mark: str = "%") -> Scheme:
    """Return the scheme that decorated the labels of a sentence, judging by these; `head` if none is decorated."""
    decorations = [Scheme("head+path", separator, mark).undecorate(label) for label in labels]
    if any(decoration.origin == "" for decoration in decorations):
        return Scheme("path", separator, mark)
    passed = any(decoration.passed for decoration in decorations)
    return Scheme("head+path" if passed else "head", separator, mark)
