"""joint-swap: tagging and parsing in one, after Bohnet & Nivre 2012: the swap system whose SHIFT gives the word a tag.

SHIFT(p) is for a word that has no tag yet; p is one of its tag candidates, the first tagger's best few that are not too
far behind its very best. A word that SWAP put back keeps its tag: RESHIFT.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, ClassVar

from tanglewood.core.kinds import FIRST_TAG
from tanglewood.core.oracle import Oracle
from tanglewood.core.state import State
from tanglewood.core.system import Move, Option, options_of
from tanglewood.systems.swap import EagerOracle, LazyOracle, Swap

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFT, RESHIFT = 0, 4  # LEFT-ARC, RIGHT-ARC and SWAP, between them, are those of swap
TAG_COLUMNS = ("upos", "xpos")


class EagerTagOracle(Oracle):
    """The eager oracle of swap, with the gold tag for SHIFT; -1 where no tags are given."""

    explores = True
    without_tags: ClassVar[type[Oracle]] = EagerOracle

    def __init__(self, system: JointSwap) -> None:
        Oracle.__init__(self, system)
        self.inner = self.without_tags(system)

    def bind(
        self, heads: Sequence[int], labels: Sequence[int] | None = None, tags: Sequence[int] | None = None
    ) -> None:
        """Take a gold tree and the numbers of its tags, indexed by node."""
        self.inner.bind(heads, labels)
        Oracle.bind(self, heads, labels)
        self.tags = array("i", [-1] * len(heads) if tags is None else tags)

    def _move(self, s: State) -> int:
        move = self.inner._move(s)
        return RESHIFT if move == SHIFT and s.n_buffer > 0 and s.marks[s.buffer[s.n_buffer - 1]] > 0 else move

    def _label(self, s: State, move: int) -> int:
        if move == SHIFT:
            return self.tags[s.buffer[s.n_buffer - 1]] if s.n_buffer > 0 else -1
        return self.inner._label(s, move)

    def _costs(self, s: State, out: array[int]) -> None:
        """Write the costs of swap; only one of SHIFT and RESHIFT is ever legal."""
        self.inner._costs(s, out)
        out[RESHIFT] = out[SHIFT]


class LazyTagOracle(EagerTagOracle):
    """The lazy oracle of swap likewise."""

    without_tags = LazyOracle


class JointSwap(Swap):
    """SHIFT(p), LEFT-ARC, RIGHT-ARC, SWAP and RESHIFT; ``marks`` of a word is 0 until SHIFT gives it a tag."""

    name = "joint-swap"
    covers = "all trees"
    paper = "Bohnet & Nivre 2012"
    options: ClassVar[dict[str, Option]] = options_of(
        Option(
            "tag_column", str, TAG_COLUMNS[0], "the column whose tags it gives", choices=TAG_COLUMNS, metavar="COLUMN"
        ),
        Option(
            "best_tags",
            int,
            3,
            "how many tags of the first tagger a word may choose from",
            least=1,
            most=1000,
            metavar="K",
        ),
        Option(
            "tag_threshold",
            float,
            4.0,
            "how far such a tag may be behind the best, in logarithms of probabilities",
            least=0,
        ),
    )
    oracles: ClassVar[dict[str, type]] = {"eager": EagerTagOracle, "lazy": LazyTagOracle}
    label_matters = True
    all_moves: ClassVar[tuple[Move, ...]] = (
        Move("SHIFT", labelled=True, tags=True),
        *Swap.all_moves[1:],
        Move("RESHIFT"),
    )

    def __init__(
        self,
        *,
        tag_column: str = TAG_COLUMNS[0],
        best_tags: int = 3,
        tag_threshold: float = 4.0,
        single_root: bool = False,
    ) -> None:
        Swap.__init__(self, single_root=single_root)
        self.tag_column = tag_column
        self.best_tags = best_tags
        self.tag_threshold = tag_threshold

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """SHIFT(p): (σ, [i|β]), i without a tag, p a candidate. RESHIFT: (σ, [i|β]), i with a tag. Else as swap."""
        if move == SHIFT:
            if s.n_buffer == 0:
                return False
            front = s.buffer[s.n_buffer - 1]
            return s.marks[front] == 0 and (label < 0 or self._is_candidate(s, front, label))
        if move == RESHIFT:
            return s.n_buffer > 0 and s.marks[s.buffer[s.n_buffer - 1]] > 0
        return Swap._is_legal(self, s, move, label)

    def _head(self, s: State, move: int, label: int) -> int:
        return -1 if move == RESHIFT else Swap._head(self, s, move, label)

    def _dependent(self, s: State, move: int, label: int) -> int:
        return -1 if move == RESHIFT else Swap._dependent(self, s, move, label)

    def _apply(self, s: State, move: int, label: int) -> None:
        """SHIFT(p): (σ, [i|β]) => ([σ|i], β), tag of i is p. RESHIFT: (σ, [i|β]) => ([σ|i], β). Else as swap."""
        if move == SHIFT:
            s.marks[s.buffer[s.n_buffer - 1]] = FIRST_TAG + label
        Swap._apply(self, s, SHIFT if move == RESHIFT else move, label)
