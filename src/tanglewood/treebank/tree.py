"""Tree: the heads and labels of one sentence, checked, and what its crossing arcs look like."""

from array import array
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NoReturn

from tanglewood.errors import ConfigError, TreeError
from tanglewood.treebank import measures

if TYPE_CHECKING:
    from tanglewood.show.drawing import Drawing


def cycle_of(heads: Sequence[int], word: int) -> list[int]:
    """Return the words met from ``word`` along ``heads`` until one repeats; ``word`` must lie on a cycle."""
    cycle = [word]
    while heads[cycle[-1]] != word:
        cycle.append(heads[cycle[-1]])
    return cycle


def describe_problem(heads: Sequence[int], word: int) -> str:
    """Say what is wrong with ``heads`` at ``word``, which :func:`measures.offender` found, and what would be right."""
    n = len(heads) - 1
    head = heads[word]
    if not 0 <= head <= n:
        return f"word {word} has head {head}, which does not exist; heads go from 0 (the root) to {n}"
    if head == word:
        return f"word {word} is its own head; its head should be another word, or 0 if it is the root"
    cycle = cycle_of(heads, word)
    shown = [str(w) for w in (cycle if len(cycle) <= 20 else [*cycle[:19], "...", cycle[-1]])]
    loop = f"words {' <- '.join([*shown, str(word)])} form a cycle"
    if 0 not in heads[1:]:
        return f"no word has head 0, and {loop}; at least one word should be the root"
    return f"{loop}; following the heads from any word should lead to 0"


class Tree:
    """A dependency tree over words 1..n and the artificial root 0; several words may depend on 0.

    ``Tree([2, 0, 2])`` takes the heads of the words only. ``heads`` and ``labels`` are indexed by node:
    ``heads[0]`` is -1 and ``labels[0]`` is "".
    """

    __slots__ = ("heads", "labels")

    heads: "array[int]"
    labels: list[str]

    def __init__(self, heads: Sequence[int], labels: Sequence[str] | None = None) -> None:
        n = len(heads)
        if labels is not None and len(labels) != n:
            raise TreeError(f"{len(labels)} labels for {n} heads; there should be one label for each head")
        try:
            self.heads = array("i", [-1, *heads])
        except OverflowError:
            word = next(i for i, head in enumerate(heads, 1) if not 0 <= head <= n)
            raise TreeError(describe_problem([-1, *heads], word)) from None
        self.labels = ["", *(["_"] * n if labels is None else labels)]
        word = measures.offender(self.heads)
        if word:
            raise TreeError(describe_problem(self.heads, word))

    @classmethod
    def _checked(cls, heads: "array[int]", labels: list[str]) -> "Tree":
        """Return a tree of arrays indexed by node that are known to be right; they are kept, not copied."""
        tree = cls.__new__(cls)
        tree.heads = heads
        tree.labels = labels
        return tree

    def __len__(self) -> int:
        return len(self.heads) - 1

    def __call__(self) -> NoReturn:
        """Explain how to get the tree of a sentence: ``sentence.tree()`` was the old way."""
        raise TypeError("a sentence's tree is a property: write sentence.tree, without parentheses")

    def __bool__(self) -> bool:
        return True  # an empty tree is a tree, so that `if tree` asks for None only

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return self.heads == other.heads and self.labels == other.labels

    __hash__ = None  # type: ignore[assignment]  # the arrays can change

    def __repr__(self) -> str:
        heads, labels = self.heads[1:].tolist(), self.labels[1:]
        return f"Tree({heads})" if set(labels) <= {"_"} else f"Tree({heads}, {labels})"

    def roots(self) -> list[int]:
        """Return the words whose head is 0, from left to right."""
        return [word for word, head in enumerate(self.heads) if head == 0]

    def arcs(self) -> Iterator[tuple[int, str, int]]:
        """Yield every arc as (head, label, dependent), in the order of the dependents."""
        for word in range(1, len(self.heads)):
            yield self.heads[word], self.labels[word], word

    def nonprojective_arcs(self) -> list[int]:
        """Return the dependents of the arcs over some word that their head does not dominate."""
        return [word for word, degree in enumerate(measures.arc_degrees_2006(self.heads)) if degree]

    def is_projective(self) -> bool:
        """Whether every head dominates all words between it and its dependents."""
        return not any(measures.arc_degrees_2007(self.heads))

    def crossing_pairs(self, with_root: bool = True) -> list[tuple[int, int]]:
        """Return the pairs of arcs that cross, sorted, each arc named by its dependent.

        Arcs from node 0 count only if ``with_root``.
        """
        return sorted(measures.crossing_pairs(self.heads, with_root, 0))

    def count_crossing_pairs(self, with_root: bool = True) -> int:
        """Return how many pairs of arcs cross, without listing them: in a long sentence there may be billions."""
        return measures.count_crossing_pairs(self.heads, with_root)

    def is_planar(self) -> bool:
        """Whether no two arcs between words cross; arcs from 0 do not count."""
        return not measures.crossing_pairs(self.heads, False, 1)

    def arc_degrees(self, reading: int = 2007) -> list[int]:
        """Return the degree of each word's arc, indexed by word (0 at index 0).

        Reading 2007 (Nivre 2007, Definition 3) counts the components under the arc attached neither to its head nor
        its dependent; reading 2006 (Kuhlmann and Nivre 2006) those the head does not dominate in the whole tree.
        """
        if reading == 2007:
            return measures.arc_degrees_2007(self.heads).tolist()
        if reading == 2006:
            return measures.arc_degrees_2006(self.heads).tolist()
        raise ConfigError(f"there is no reading {reading!r} of the arc degree; the readings are 2006 and 2007")

    def degree(self, reading: int = 2007) -> int:
        """Return the largest degree of an arc; 0 exactly for projective trees, in both readings."""
        return max(self.arc_degrees(reading))

    def edge_degree(self) -> int:
        """Return the edge degree of Kuhlmann and Nivre (2006): another name for ``degree(2006)``."""
        return self.degree(2006)

    def gap_degree(self) -> int:
        """Return the largest number of gaps in the yield of a node (Bodirsky, Kuhlmann and Möhl 2005)."""
        return max(measures.block_counts(self.heads)) - 1

    def is_well_nested(self) -> bool:
        """Whether no two disjoint subtrees interleave (Bodirsky, Kuhlmann and Möhl 2005)."""
        return bool(measures.is_well_nested(self.heads))

    def projective_order(self) -> list[int]:
        """Return the nodes in projective order: each between its left and its right dependents (Nivre 2009)."""
        return measures.projective_order(self.heads).tolist()

    def draw(
        self,
        forms: Sequence[str] | None = None,
        *,
        width: int | None = None,
        tags: Sequence[str] | None = None,
        other: "Tree | None" = None,
        title: str | None = None,
        names: tuple[str, str] = ("first", "second"),
    ) -> "Drawing":
        """Return a drawing, which shows itself in terminals and notebooks and can be saved.

        Without ``forms`` the words are numbers. The rest is as in :meth:`Sentence.draw`.
        """
        from tanglewood.show.drawing import draw_tree

        return draw_tree(self, forms, width=width, tags=tags, other=other, title=title, names=names)

    def _repr_svg_(self) -> str:
        from tanglewood.show import svg

        return svg.draw(self)
