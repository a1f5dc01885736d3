"""swap: the system Su of Nivre 2009 for all trees, with its eager oracle and the lazier one of Nivre et al. 2009.

Arc-standard plus SWAP, which moves the second node of the stack back to the buffer and so reorders the words.
2n + 2k moves for k swaps, at most n + n^2. MaltParser's stackeager.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, ClassVar

from tanglewood.core.oracle import GreedyOracle, Oracle
from tanglewood.core.state import State
from tanglewood.core.system import Move
from tanglewood.systems.arc_standard import ArcStandard
from tanglewood.systems.swap_search import search_fewest_swaps
from tanglewood.treebank.measures import projective_order

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFT, LEFT_ARC, RIGHT_ARC, SWAP = range(4)


def maximal_projective_components(heads: Sequence[int]) -> list[int]:
    """Return for every node the top node of its maximal projective component (Nivre, Kuhlmann & Hall 2009).

    The components are those of the arcs that the oracle of arc-standard builds when it runs to the end of the
    buffer. ``heads`` is indexed by node, index 0 being -1.
    """
    system = ArcStandard()
    oracle = GreedyOracle(system)
    oracle.bind(heads)
    s = State(len(heads) - 1)
    oracle.reaches_gold(s)
    built = [-1, *s.word_heads()]
    components = [-1] * len(heads)
    for node in range(len(heads)):
        top = node
        path = []
        while components[top] < 0 <= built[top]:  # up to the root of its fragment, or a node whose component is known
            path.append(top)
            top = built[top]
        if components[top] < 0:
            components[top] = top
        for below in path:
            components[below] = components[top]
    return components


class EagerOracle(Oracle):
    """Figure 4 of Nivre 2009: arcs as soon as they are complete, SWAP as soon as two nodes are not in order <G.

    ``_move`` is the figure. ``_costs`` may be asked from any state: where mistakes have been made, it aims at the
    best tree that is left (``_aim``), after the idea of de Lhoneux et al. 2017.
    """

    explores = True

    def _prepare(self) -> None:
        self.order = array("i", bytes(4 * (self.n + 1)))
        for position, node in enumerate(projective_order(self.heads)):
            self.order[node] = position
        empty = array("i", bytes(4 * (self.n + 2)))
        self.best = empty[:]  # the head each node in play should get
        self.best_order = empty[:]  # its place in the projective order of those heads
        self.pending = empty[:]  # how many nodes in play wait for it
        self.first = empty[:]  # first child and next sibling of that tree, and a stack to walk it
        self.sibling = empty[:]
        self.path = empty[:]

    def _move(self, s: State) -> int:
        if s.depth < 2:
            return SHIFT
        i = s.stack[s.depth - 2]
        j = s.stack[s.depth - 1]
        if self.heads[i] == j and s.n_deps[i] == self.n_deps[i]:
            return LEFT_ARC
        if self.heads[j] == i and s.n_deps[j] == self.n_deps[j]:
            return RIGHT_ARC
        if self.order[j] < self.order[i] and self._may_swap(s):
            return SWAP
        return SHIFT

    def _may_swap(self, s: State) -> bool:
        """Whether two nodes that are not in order <G are swapped at once; always."""
        return True

    def _costs(self, s: State, out: array[int]) -> None:
        """Write 0 for the move Figure 4 takes towards the best tree left, for an arc the arcs it loses, else 1."""
        out[SHIFT] = 0
        out[LEFT_ARC] = out[RIGHT_ARC] = out[SWAP] = 1
        if s.depth < 2:
            return
        self._aim(s)
        i = s.stack[s.depth - 2]
        j = s.stack[s.depth - 1]
        out[LEFT_ARC] = self.pending[i] + (self.best[i] != j)
        out[RIGHT_ARC] = self.pending[j] + (self.best[j] != i)
        if out[LEFT_ARC] == 0 or out[RIGHT_ARC] == 0:
            out[SHIFT] = 1
            return
        # With an empty buffer SWAP is also the way out for nodes in order <G whose arcs were missed earlier on.
        wants_swap = (self.best_order[j] < self.best_order[i] and self._may_swap(s)) or s.n_buffer == 0
        if wants_swap and self.system._is_legal(s, SWAP, -1):
            out[SHIFT] = 1
            out[SWAP] = 0
        elif s.n_buffer == 0:
            # Only arcs are left, and the nodes are in an order that cannot be undone: the cheapest arc it is.
            out[SHIFT] = 1
            cheapest = min(out[LEFT_ARC], out[RIGHT_ARC])
            out[LEFT_ARC] -= cheapest
            out[RIGHT_ARC] -= cheapest

    def _aim(self, s: State) -> None:
        """Find the heads that the nodes in play (without a head) should get from here on, and their order.

        A gold head that is gone stands for the fragment it went into, that is, for the fragment's root; where this
        would close a cycle, the gold head's own gold head is tried, and so on up to 0. With single_root, one of the
        nodes that would depend on 0 does, and the others depend on it.
        """
        for node in range(s.n + 1):
            self.best[node] = -1
            self.pending[node] = 0
        root = -1
        for word in range(1, s.n + 1):
            # Gold arcs between nodes in play first, so that no makeshift head stands in their way.
            if s.heads[word] < 0 and s.heads[self.heads[word]] < 0:
                self.best[word] = self.heads[word]
                if self.heads[word] == 0 and root < 0:
                    root = word
        for word in range(1, s.n + 1):
            if s.heads[word] >= 0 or self.best[word] >= 0:
                continue
            gold = self.heads[word]
            head = self._fragment(s, gold)
            while self._is_above(word, head):
                gold = self.heads[gold]
                head = self._fragment(s, gold)
            self.best[word] = head
            if head == 0 and root < 0:
                root = word
        for word in range(1, s.n + 1):
            if s.heads[word] < 0:
                if self.system.single_root and self.best[word] == 0 and word != root:
                    self.best[word] = root
                self.pending[self.best[word]] += 1
        self._sort(s)

    def _fragment(self, s: State, node: int) -> int:
        """Root of the fragment of the tree built so far that the node belongs to."""
        while s.heads[node] >= 0:
            node = s.heads[node]
        return node

    def _is_above(self, node: int, below: int) -> bool:
        """Whether ``below`` is the node or is below it by the heads chosen so far."""
        while below > 0 and below != node:
            below = self.best[below]
        return below == node

    def _sort(self, s: State) -> None:
        """Number the nodes in play in the projective order of the tree given by ``best``."""
        for node in range(s.n + 1):
            self.first[node] = -1
        for word in range(s.n, 0, -1):
            if s.heads[word] < 0:
                self.sibling[word] = self.first[self.best[word]]
                self.first[self.best[word]] = word
        top = 0
        place = 0
        self.path[0] = 0
        while top >= 0:
            node = self.path[top]
            child = self.first[node]
            if child >= 0 and child < node:  # a left child comes before the node
                self.first[node] = self.sibling[child]
                top += 1
                self.path[top] = child
                continue
            # The node itself, then its right children; pushing them last to first keeps their order.
            self.best_order[node] = place
            place += 1
            top -= 1
            base = top
            while child >= 0:
                top += 1
                self.path[top] = child
                child = self.sibling[child]
            low = base + 1
            high = top
            while low < high:
                swapped = self.path[low]
                self.path[low] = self.path[high]
                self.path[high] = swapped
                low += 1
                high -= 1


class LazyOracle(EagerOracle):
    """Nivre, Kuhlmann & Hall 2009: SWAP only when the buffer's front is not of the top's projective component."""

    def _prepare(self) -> None:
        EagerOracle._prepare(self)
        self.components = array("i", maximal_projective_components(self.heads))

    def _may_swap(self, s: State) -> bool:
        return s.n_buffer == 0 or self.components[s.stack[s.depth - 1]] != self.components[s.buffer[s.n_buffer - 1]]


class FewestOracle(LazyOracle):
    """The fewest swaps that a search finds (swap_search.py), or the lazy oracle's moves where those are as few.

    ``at_least`` says how many swaps every derivation of the bound tree needs. If that is less than the derivation
    has, the search gave up, and the moves are the lazy oracle's.
    """

    explores = False

    def _prepare(self) -> None:
        LazyOracle._prepare(self)
        self.plan_length = 0
        s = State(self.n)
        reached = self.reaches_gold(s)
        lazy = self.system.swaps(s)
        self.at_least = min(lazy, 1)  # a tree that needs none is projective, and then the lazy oracle swaps nothing
        if reached and lazy > 1:
            found = search_fewest_swaps(list(self.heads), lazy)
            self.at_least = found.at_least
            self.plan = array("i", found.moves or [-1])
            self.plan_length = len(found.moves)

    def _move(self, s: State) -> int:
        if self.plan_length == 0:
            return LazyOracle._move(self, s)
        return self.plan[s.steps] if s.steps < self.plan_length else -1

    def _costs(self, s: State, out: array[int]) -> None:
        Oracle._costs(self, s, out)


class Swap(ArcStandard):
    """SHIFT, LEFT-ARC, RIGHT-ARC and SWAP on the two topmost nodes of the stack."""

    name = "swap"
    covers = "all trees"
    projective = False
    paper = "Nivre 2009, Figure 2 (Su)"
    oracles: ClassVar[dict[str, type]] = {"eager": EagerOracle, "lazy": LazyOracle, "fewest": FewestOracle}
    trained_by = "lazy"
    puts_back = True
    all_moves: ClassVar[tuple[Move, ...]] = (*ArcStandard.all_moves, Move("SWAP"))

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """SWAP: ([σ|i, j], β) with 0 < i < j in the original order, so that a pair is swapped at most once."""
        if move == SWAP:
            return s.depth >= 2 and 0 < s.stack[s.depth - 2] < s.stack[s.depth - 1]
        return ArcStandard._is_legal(self, s, move, label)

    def _head(self, s: State, move: int, label: int) -> int:
        return -1 if move == SWAP else ArcStandard._head(self, s, move, label)

    def _dependent(self, s: State, move: int, label: int) -> int:
        return -1 if move == SWAP else ArcStandard._dependent(self, s, move, label)

    def _apply(self, s: State, move: int, label: int) -> None:
        """SWAP: ([σ|i, j], β) => ([σ|j], [i|β])."""
        if move == SWAP:
            s.depth -= 1
            s.buffer[s.n_buffer] = s.stack[s.depth - 1]
            s.n_buffer += 1
            s.stack[s.depth - 1] = s.stack[s.depth]
            s.put_back += 1
        else:
            if move == SHIFT and s.put_back > 0:
                s.put_back -= 1
            ArcStandard._apply(self, s, move, label)

    def swaps(self, s: State) -> int:
        """Return k where there are 2n + 2k transitions."""
        return (s.steps - 2 * s.n) // 2

    def max_steps(self, n: int) -> int:
        """Return n + n^2: every pair of words swapped once."""
        return n + n * n
