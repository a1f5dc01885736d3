"""covington: the incremental non-projective parser of Nivre 2007, unrestricted or with a bounded degree.

For j = 1..n, for i = j-1 down to 0: LINK(i, j). As transitions over (left list, skipped list, buffer): the stack is
the left list, its top is i, the buffer's front is j; the nodes between are skipped. SHIFT drops the rest of the left
list; with every_pair, as in the paper, it waits till nothing is left of it. Words left without a head are attached to
0. O(n^2) moves. MaltParser's covnonproj, and covproj with max_degree=0.
"""

from __future__ import annotations

from typing import ClassVar

from tanglewood.core.oracle import Oracle, ReachOracle, leftmost_dependents
from tanglewood.core.short import ends_of
from tanglewood.core.state import State
from tanglewood.core.system import FrontArcSystem, Move, Option, TransitionSystem, arc_move, options_of
from tanglewood.errors import ConfigError

MOST_DEGREE = 1 << 30  # more than any sentence can have
SHIFT, LEFT_ARC, RIGHT_ARC, NO_ARC = range(4)


class StaticOracle(Oracle):
    """Link what is linked in the gold tree; SHIFT when nothing further left is linked to the buffer's front."""

    def __init__(self, system: Covington) -> None:
        Oracle.__init__(self, system)
        self.every_pair = system.every_pair

    def _prepare(self) -> None:
        self.leftmost = leftmost_dependents(self.heads)

    def _move(self, s: State) -> int:
        if s.depth == 0:
            return SHIFT
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        if self.heads[i] == j:
            return LEFT_ARC
        if self.heads[j] == i:
            return RIGHT_ARC
        return NO_ARC if self.every_pair or self.heads[j] < i or self.leftmost[j] < i else SHIFT


class DynamicOracle(ReachOracle):
    """Exact costs from any state (Gómez-Rodríguez & Fernández-González 2015), for the unrestricted system.

    The loss of a state is the number of gold arcs out of reach plus the number of cycles that those within reach
    would close with the arcs already built. A word left over counts as attached to 0, as it is before single_root
    repairs the tree.
    """

    def __init__(self, system: Covington) -> None:
        ReachOracle.__init__(self, system)
        if system.bound >= 0:
            raise ConfigError("covington with max_degree has no dynamic oracle; leave the degree unbounded to train")

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether the two nodes will still meet as the pair (i, j)."""
        front = s.n + 1 - s.n_buffer
        low = min(head, dependent)
        high = max(head, dependent)
        return high > front or (high == front and low < s.depth)


class Covington(FrontArcSystem):
    """SHIFT, LEFT-ARC, RIGHT-ARC and NO-ARC between the top of the left list and the buffer's front."""

    name = "covington"
    covers = "all trees; with max_degree=d those whose arcs between words have degree <= d (Nivre 2007)"
    paper = "Covington 2001; Nivre 2007"
    options: ClassVar[dict[str, Option]] = options_of(
        Option("max_degree", int, None, "highest degree of non-projectivity an arc may have", least=0, metavar="D"),
        Option("every_pair", bool, False, "look at every pair of words, as in the paper: no SHIFT before that"),
    )
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle, "dynamic": DynamicOracle}
    aside_name = "Skipped"
    # The skipped nodes lie between i and j: those next to either, and the first two that have no head between them.
    slots = (
        *("s0", "s1", "s2", "b0", "b1", "b2", "s0.next", "b0.previous", "c0", "c1"),
        *("s0.left1", "s0.right1", "b0.left1", "s0.head", "b0.head"),
    )
    label_slots = (*TransitionSystem.label_slots, "b0.left2")
    distance = ("s0", "b0")
    all_moves: ClassVar[tuple[Move, ...]] = (
        Move("SHIFT"),
        arc_move("LEFT-ARC"),
        arc_move("RIGHT-ARC"),
        Move("NO-ARC"),
    )

    def __init__(self, *, max_degree: int | None = None, every_pair: bool = False, single_root: bool = False) -> None:
        FrontArcSystem.__init__(self, single_root=single_root)
        self.bound = -1 if max_degree is None else min(max_degree, MOST_DEGREE)
        self.every_pair = every_pair

    @property
    def projective(self) -> bool:  # type: ignore[override]
        """Whether no arc may have a degree of non-projectivity."""
        return bool(self.bound == 0)

    def _start(self, s: State) -> None:
        # The left list is always a prefix of 0..n: its nodes are laid out once, depth says how many are on it.
        self._fill(s, 0, 1)
        s._part()
        for node in range(s.n + 1):
            s.stack[node] = node

    def _is_final(self, s: State) -> bool:
        return s.n_buffer == 0

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide whether the move is open: LINK(i, j) keeps one head a word and no cycle, and must be PERMISSIBLE.

        With single_root there is at most one arc from 0.
        """
        if s.n_buffer == 0:
            return False
        if move == SHIFT:
            return s.depth == 0 or not self.every_pair
        if s.depth == 0:
            return False
        if move == NO_ARC:
            return True
        i = s.stack[s.depth - 1]
        j = s.buffer[s.n_buffer - 1]
        if move == LEFT_ARC:
            if i == 0 or s.heads[i] >= 0:
                return False
        elif s.heads[j] >= 0 or (i == 0 and self.single_root and s.n_deps[0] > 0):
            return False
        return self._is_permissible(s) and s._root_of(i) != s._root_of(j)

    def _is_permissible(self, s: State) -> bool:
        """PERMISSIBLE(i, j, d): arcs between i and j would have degree <= d in the graph built so far.

        ``count`` is that degree: the number of nodes between i and j whose head is not in i..j. Arcs from 0 are
        always permissible, since words left over are attached there anyway.
        """
        return self.bound < 0 or s.depth == 1 or s.count <= self.bound

    def _apply(self, s: State, move: int, label: int) -> None:
        """Move on to the next pair: SHIFT to (j, j+1), any other move from (i, j) to (i-1, j)."""
        j = s.buffer[s.n_buffer - 1]
        if move == SHIFT:
            s.n_buffer -= 1
            s.depth = j + 1
            s.count = 0
            return
        i = s.stack[s.depth - 1]
        if move == LEFT_ARC:
            s.component[s._root_of(i)] = s._root_of(j)
        elif move == RIGHT_ARC:
            s.component[s._root_of(j)] = s._root_of(i)
            s.marks[i] += 1  # right dependents
        s.depth -= 1
        if s.heads[i] < i:
            s.count += 1  # i lies between now, without a head or with one that is further left ...
        if i > 0:
            s.count -= s.marks[i - 1]  # ... and those between whose head is i-1 have it within the span now

    def _finish(self, s: State) -> None:
        self._hang_left_over(s)

    def aside(self, s: State, short: bool = False) -> list[tuple[int, int]]:
        """Return the skipped nodes, between i and j."""
        nodes = range(s.depth, s.n + 1 - s.n_buffer)
        return [(node, -1) for node in (ends_of(nodes) if short else nodes)]

    def training_oracle(self) -> str:
        """Return the dynamic oracle, which exists only without a bound, or else the static one."""
        return "static" if self.bound >= 0 else "dynamic"

    def max_steps(self, n: int) -> int:
        """Return the number of pairs and shifts."""
        return n * (n + 1) // 2 + n
