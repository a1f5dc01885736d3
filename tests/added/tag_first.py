"""tag-first: a system for the tests: one pass gives every word a tag, then arc-standard builds the tree.

Two phases, an option and tags: whatever the house must learn from a system's own file.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, ClassVar

from tanglewood.core.kinds import FIRST_TAG
from tanglewood.core.oracle import GreedyOracle, Oracle
from tanglewood.core.state import State
from tanglewood.core.system import FRONT, STACK, Move, Option, Phase, options_of
from tanglewood.systems.arc_standard import ArcStandard

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFT, LEFT_ARC, RIGHT_ARC, TAG = range(4)
TAGGING, BUILDING = range(2)  # State.phase


class TagFirstOracle(Oracle):
    """Gold tags, then the oracle of arc-standard."""

    def __init__(self, system: TagFirst) -> None:
        Oracle.__init__(self, system)
        self.builder = GreedyOracle(system)

    def bind(
        self, heads: Sequence[int], labels: Sequence[int] | None = None, tags: Sequence[int] | None = None
    ) -> None:
        """Take a gold tree and the numbers of its tags, indexed by node."""
        self.builder.bind(heads, labels)
        Oracle.bind(self, heads, labels)
        self.tags = array("i", [-1] * len(heads) if tags is None else tags)

    def _move(self, s: State) -> int:
        return TAG if s.phase == TAGGING else self.builder._move(s)

    def _label(self, s: State, move: int) -> int:
        if move == TAG:
            return self.tags[s.buffer[s.n_buffer - 1]] if s.n_buffer > 0 else -1
        return self.builder._label(s, move)


class TagFirst(ArcStandard):
    """TAG(p) for every word from left to right, then SHIFT, LEFT-ARC and RIGHT-ARC."""

    name = "tag-first"
    covers = "the projective trees"
    paper = "none: it is for tests"
    options: ClassVar[dict[str, Option]] = options_of(
        Option("eagerness", int, 3, "how many candidates a tag is chosen from", least=1, most=9, metavar="K")
    )
    oracles: ClassVar[dict[str, type]] = {"static": TagFirstOracle}
    label_matters = True
    all_moves: ClassVar[tuple[Move, ...]] = (*ArcStandard.all_moves, Move("TAG", labelled=True, tags=True))

    def __init__(self, *, eagerness: int = 3, single_root: bool = False) -> None:
        ArcStandard.__init__(self, single_root=single_root)
        self.phases = (Phase("tagging", FRONT), Phase("building", STACK))
        self.tag_column = "upos"
        self.best_tags = eagerness
        self.tag_threshold = 9.0

    def _start(self, s: State) -> None:
        self._fill(s, 0, 1)
        s.phase = TAGGING if s.n > 0 else BUILDING

    def _is_final(self, s: State) -> bool:
        return s.phase == BUILDING and ArcStandard._is_final(self, s)

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        if s.phase == TAGGING or move == TAG:
            return s.phase == TAGGING and move == TAG and self._is_candidate(s, s._front(), label)
        return ArcStandard._is_legal(self, s, move, label)

    def _head(self, s: State, move: int, label: int) -> int:
        return -1 if s.phase == TAGGING or move == TAG else ArcStandard._head(self, s, move, label)

    def _dependent(self, s: State, move: int, label: int) -> int:
        return -1 if s.phase == TAGGING or move == TAG else ArcStandard._dependent(self, s, move, label)

    def _apply(self, s: State, move: int, label: int) -> None:
        if move != TAG:
            ArcStandard._apply(self, s, move, label)
            return
        s.marks[s.buffer[s.n_buffer - 1]] = FIRST_TAG + label
        s._shift()
        if s.n_buffer == 0:
            s.phase = BUILDING
            self._fill(s, 0, 1)

    def max_steps(self, n: int) -> int:
        """Return 3n: n tags, then as arc-standard."""
        return 3 * n
