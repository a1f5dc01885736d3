"""stack-swap and stack-swap-planar: SWAP exchanges the two topmost nodes of the stack and leaves them there.

Two systems that Nivre 2009 cites because they cannot derive all trees: Nivre 2008 ("Sorting out dependency parsing"),
here arc-standard with that SWAP, and Titov et al. 2009 ("Online graph planarisation for synchronous parsing of semantic
and syntactic dependencies"), here the planar system with it. Neither paper was at hand. That the first is sound but not
complete and has the four moves of Su by name is what Nivre 2009 says (section 5); with a SWAP that puts a word back
into the buffer it would be Su, which is complete, so it must be one that does not. The second is the SWAP of the two
topmost nodes as later papers describe it, over trees instead of semantic graphs. In both, a pair is exchanged at most
once, as in Su, so that every derivation ends; they take linear time.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import ClassVar

from tanglewood.core.oracle import Oracle
from tanglewood.core.state import State
from tanglewood.core.system import Move
from tanglewood.errors import UndecidedError
from tanglewood.systems.arc_standard import ArcStandard
from tanglewood.systems.planar import Planar

SHIFT, LEFT_ARC, RIGHT_ARC = range(3)
STANDARD_SWAP = 3
REDUCE, PLANAR_SWAP = 3, 4
SEARCH_LIMIT = 50_000  # configurations that the search for a derivation may visit
Nodes = tuple[int, ...]
Configuration = tuple[int, Nodes, Nodes]  # front of the buffer, stack, nodes with which the front's arcs are due


class SearchOracle(Oracle):
    """Moves without SWAP where these will do, else those of a derivation that is found by search.

    Arcs are always made as soon as they can be: they are never in the way. What the search decides is SWAP or SHIFT.
    For a tree that is not covered the moves are those without SWAP, as far as they go.
    """

    def __init__(self, system: StackSwap | StackSwapPlanar) -> None:
        Oracle.__init__(self, system)
        self.plain = system.without_swap().oracle()

    def _prepare(self) -> None:
        self.planned = False
        self.plain.bind(self.heads, self.labels)
        if self.plain.reaches_gold(State(self.n)) or (self.system.single_root and self.n_deps[0] > 1):
            return
        self._tabulate()
        plan = self._search()
        if plan:
            self.plan = array("i", plan)
            self.plan_length = len(plan)
            self.planned = True

    def _move(self, s: State) -> int:
        if self.planned:
            return self.plan[s.steps] if s.steps < self.plan_length else -1
        return self.plain._move(s)  # type: ignore[no-any-return]

    def _search(self) -> list[int]:
        """Find the moves of some derivation of the gold tree, depth first; an empty list if there is none."""
        trail: list[tuple[int, list[int]]] = []  # of every configuration, the one before it and the moves between them
        moves, first = self._settled(1, self._first())
        seen = {first}
        trail.append((-1, moves))
        agenda = [(0, first)]
        while agenda:
            place, configuration = agenda.pop()
            if configuration[0] > self.n and len(configuration[1]) <= 1:
                return self._moves_to(trail, place)
            for moves, successor in self._successors(configuration):
                if successor not in seen and not self._is_dead(successor):
                    seen.add(successor)
                    agenda.append((len(trail), successor))
                    trail.append((place, moves))
            if len(seen) > SEARCH_LIMIT:
                raise UndecidedError(
                    f"{self.system.name}: no derivation found in {SEARCH_LIMIT:,} configurations; the oracle has to "
                    "search for one, and it gave up"
                )
        return []

    def _moves_to(self, trail: list[tuple[int, list[int]]], place: int) -> list[int]:
        """Return the moves from the start to a configuration of the trail."""
        parts = []
        while place >= 0:
            place, moves = trail[place]
            parts.append(moves)
        return [move for moves in reversed(parts) for move in moves]

    # What the two systems do differently. -------------------------------------------------------------------------

    def _tabulate(self) -> None:
        """Compute tables of the gold tree for the search."""

    def _first(self) -> Nodes:
        """Return the stack at the start."""
        return ()

    def _settled(self, front: int, stack: Nodes) -> tuple[list[int], Configuration]:
        """Make the arcs that are due after SHIFT; return the moves and what they lead to."""
        raise NotImplementedError

    def _successors(self, configuration: Configuration) -> list[tuple[list[int], Configuration]]:
        """Return moves and where they lead to, what is to be tried first at the end."""
        raise NotImplementedError

    def _is_dead(self, configuration: Configuration) -> bool:
        """Whether two nodes of the stack, one of them its top, are in each other's way for good."""
        raise NotImplementedError


class StandardOracle(SearchOracle):
    """The oracle of stack-swap."""

    def _tabulate(self) -> None:
        self.last = [0] * (self.n + 1)  # last dependent of every node
        children: list[list[int]] = [[] for _ in self.heads]
        for word in range(1, self.n + 1):
            self.last[self.heads[word]] = word
            children[self.heads[word]].append(word)
        # A walk through the tree enters and leaves every node: one is below another if it is entered in between.
        self.enter = [0] * (self.n + 1)
        self.leave = [0] * (self.n + 1)
        time = 0
        agenda = [0]
        while agenda:
            node = agenda.pop()
            if node < 0:
                self.leave[-node - 1] = time
                continue
            self.enter[node] = time
            time += 1
            agenda.append(-node - 1)
            agenda += children[node]

    def _first(self) -> Nodes:
        return (0,)

    def _is_above(self, node: int, below: int) -> bool:
        return bool(self.enter[node] < self.enter[below] < self.leave[node])

    def _is_complete(self, node: int, front: int, stack: Nodes | list[int]) -> bool:
        """Whether no dependent of the node is in play: what has left was complete and went to its gold head."""
        return self.last[node] < front and all(self.heads[other] != node for other in stack)

    def _settled(self, front: int, stack: Nodes) -> tuple[list[int], Configuration]:
        moves = []
        nodes = list(stack)
        while len(nodes) > 1:
            *rest, i, j = nodes
            if i > 0 and self.heads[i] == j and self._is_complete(i, front, nodes):
                moves.append(LEFT_ARC)
                nodes = [*rest, j]
            elif self.heads[j] == i and self._is_complete(j, front, nodes):
                moves.append(RIGHT_ARC)
                nodes = [*rest, i]
            else:
                break
        return moves, (front, tuple(nodes), ())

    def _successors(self, configuration: Configuration) -> list[tuple[list[int], Configuration]]:
        front, stack, _ = configuration
        if front > self.n:
            return []  # an exchange would bring no other two nodes together
        found: list[tuple[list[int], Configuration]] = []
        swaps, shifts = self._choices(front, stack)
        if swaps:
            *rest, i, j = stack
            found.append(([STANDARD_SWAP], (front, (*rest, j, i), ())))
        if shifts:
            moves, successor = self._settled(front + 1, (*stack, front))
            found.append(([SHIFT, *moves], successor))
        return found

    def _choices(self, front: int, stack: Nodes) -> tuple[bool, bool]:
        """Return whether SWAP and SHIFT need to be tried.

        A complete word that waits for the next one had better be on top. Of two complete words that wait for the same
        one, either may.
        """
        if len(stack) < 2:
            return False, True
        *_, i, j = stack
        if not 0 < i < j:
            return False, True
        i_waits, j_waits = (self._is_complete(node, front, stack) for node in (i, j))
        if j_waits and (self.heads[j] == front or (i_waits and self.heads[i] == self.heads[j])):
            return False, True
        return True, not (i_waits and self.heads[i] == front)

    def _is_dead(self, configuration: Configuration) -> bool:
        front, stack, _ = configuration
        place = {node: index for index, node in enumerate(stack)}
        *_, top = stack
        head_of_top = place.get(self.heads[top], len(stack))  # words of the buffer come above all
        for below in range(1, len(stack) - 1):
            node = stack[below]
            if self.heads[node] == top and self._is_complete(node, front, stack):
                continue
            if not self._is_above(top, node) and head_of_top >= below:
                continue  # the top may leave first
            if node < top:  # they may be exchanged
                if self.heads[top] == node and self._is_complete(top, front, stack):
                    continue
                if not self._is_above(node, top) and place.get(self.heads[node], len(stack)) >= below:
                    continue
            return True
        return False


class PlanarOracle(SearchOracle):
    """The oracle of stack-swap-planar."""

    def _tabulate(self) -> None:
        self.linked: list[list[int]] = [[] for _ in self.heads]  # of every word, those it is linked to
        for word in range(1, self.n + 1):
            if self.heads[word] > 0:
                self.linked[word].append(self.heads[word])
                self.linked[self.heads[word]].append(word)
        for words in self.linked:
            words.sort()
        self.last = [max(words, default=0) for words in self.linked]

    def _settled(self, front: int, stack: Nodes) -> tuple[list[int], Configuration]:
        due = [node for node in stack if front <= self.n and front in self.linked[node]]
        return self._settled_with(front, list(stack), due)

    def _settled_with(self, front: int, nodes: list[int], due: list[int]) -> tuple[list[int], Configuration]:
        """Link the stack's top and take it away if nothing is left to do for it, again and again."""
        moves = []
        while nodes and front <= self.n:
            top = nodes.pop()
            if top in due:
                moves.append(LEFT_ARC if self.heads[top] == front else RIGHT_ARC)
                due.remove(top)
            if self.last[top] > front:
                nodes.append(top)
                break
            moves.append(REDUCE)
        return moves, (front, () if front > self.n else tuple(nodes), tuple(due))

    def _successors(self, configuration: Configuration) -> list[tuple[list[int], Configuration]]:
        front, stack, due = configuration
        found = []
        if len(stack) > 1:
            *rest, i, j = stack
            if i < j and (not due or i in due):
                moves, successor = self._settled_with(front, [*rest, j, i], list(due))
                found.append(([PLANAR_SWAP, *moves], successor))
        if not due:
            moves, successor = self._settled(front + 1, (*stack, front))
            found.append(([SHIFT, *moves], successor))
        return found

    def _is_dead(self, configuration: Configuration) -> bool:
        front, stack, due = configuration
        if len(stack) < 2:
            return False
        *rest, top = stack
        for node in rest:
            words = self.linked[node]
            first = bisect_left(words, front if node in due else front + 1)
            if first == len(words) or words[first] >= self.last[top]:
                continue  # the top leaves first
            # Or they are exchanged, and the top waits till the other one has left.
            between = bisect_left(self.linked[top], words[first] + 1)
            if node > top or self.linked[top][between] < self.last[node]:
                return True
        return False


class StackSwap(ArcStandard):
    """SHIFT, LEFT-ARC, RIGHT-ARC and SWAP on the two topmost nodes of the stack."""

    name = "stack-swap"
    covers = "the projective trees and more, by exchanging the two topmost nodes of the stack"
    projective = False
    paper = "Nivre 2008, as Nivre 2009 describes it"
    oracles: ClassVar[dict[str, type]] = {"static": StandardOracle}
    all_moves: ClassVar[tuple[Move, ...]] = (*ArcStandard.all_moves, Move("SWAP"))

    def without_swap(self) -> ArcStandard:
        """Return the system that has all moves but SWAP."""
        return ArcStandard(single_root=self.single_root)

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """SWAP: ([σ|i, j], β) with 0 < i < j in the original order, so that a pair is exchanged at most once."""
        if move == STANDARD_SWAP:
            return s.depth >= 2 and 0 < s.stack[s.depth - 2] < s.stack[s.depth - 1]
        return ArcStandard._is_legal(self, s, move, label)

    def _head(self, s: State, move: int, label: int) -> int:
        return -1 if move == STANDARD_SWAP else ArcStandard._head(self, s, move, label)

    def _dependent(self, s: State, move: int, label: int) -> int:
        return -1 if move == STANDARD_SWAP else ArcStandard._dependent(self, s, move, label)

    def _apply(self, s: State, move: int, label: int) -> None:
        """SWAP: ([σ|i, j], β) => ([σ|j, i], β)."""
        if move == STANDARD_SWAP:
            i = s.stack[s.depth - 2]
            s.stack[s.depth - 2] = s.stack[s.depth - 1]
            s.stack[s.depth - 1] = i
        else:
            ArcStandard._apply(self, s, move, label)

    def max_steps(self, n: int) -> int:
        """Return 4n: a SWAP at most after each of the 2n other moves."""
        return 4 * n


class StackSwapPlanar(Planar):
    """SHIFT, LEFT-ARC, RIGHT-ARC and REDUCE of planar, and SWAP on the two topmost nodes of the stack."""

    name = "stack-swap-planar"
    covers = "the trees of planar and more, by exchanging the two topmost nodes of the stack"
    projective = False
    paper = "Titov et al. 2009, for trees"
    oracles: ClassVar[dict[str, type]] = {"static": PlanarOracle}
    all_moves: ClassVar[tuple[Move, ...]] = (*Planar.all_moves, Move("SWAP"))

    def without_swap(self) -> Planar:
        """Return the system that has all moves but SWAP."""
        return Planar(single_root=self.single_root)

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """SWAP: ([σ|i, j], [k|β]) with i < j in the original order, so that a pair is exchanged at most once."""
        if move == PLANAR_SWAP:
            return s.n_buffer > 0 and s.depth >= 2 and s.stack[s.depth - 2] < s.stack[s.depth - 1]
        return Planar._is_legal(self, s, move, label)

    def _apply(self, s: State, move: int, label: int) -> None:
        """SWAP: ([σ|i, j], β) => ([σ|j, i], β)."""
        if move == PLANAR_SWAP:
            i = s.stack[s.depth - 2]
            s.stack[s.depth - 2] = s.stack[s.depth - 1]
            s.stack[s.depth - 1] = i
        else:
            Planar._apply(self, s, move, label)

    def max_steps(self, n: int) -> int:
        """Return 5n: every word is shifted, reduced and given a head at most once, SWAP after the first two."""
        return 5 * n
