"""Oracles: what a gold tree says about the moves of a system."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, ClassVar

from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem, refuse_python_rules
from tanglewood.errors import OracleError, TreeError
from tanglewood.treebank.measures import offender

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIFT = 0  # its number in every system that uses GreedyOracle
RULES = ("_move", "_label", "_costs", "_loss", "_follow", "_matches", "_is_gold", "_is_gold_move")  # called in C


def leftmost_dependents(heads: array[int]) -> array[int]:
    """Return for every node its leftmost dependent, or the node itself if it has none to its left."""
    leftmost = array("i", range(len(heads)))
    for word in range(len(heads) - 1, 0, -1):
        leftmost[heads[word]] = min(leftmost[heads[word]], word)
    return leftmost


class Oracle:
    """Knows, for one gold tree at a time, which moves lead to it.

    ``explores`` says whether it may be asked from any state a parser can get into; if not, only from states that
    its own moves lead to.
    """

    explores: ClassVar[bool] = False

    def __init__(self, system: TransitionSystem) -> None:
        refuse_python_rules(self, RULES)
        self.system = system
        self.n = -1

    def bind(
        self, heads: Sequence[int], labels: Sequence[int] | None = None, tags: Sequence[int] | None = None
    ) -> None:
        """Take a gold tree: heads (and numbers of labels and tags) indexed by node, index 0 being -1.

        Tags are for systems that give them.
        """
        nodes = array("i", heads)
        if not nodes or nodes[0] != -1 or offender(nodes):
            raise TreeError("the gold heads, indexed by node with -1 for node 0, do not form a tree rooted in node 0")
        self.n = len(nodes) - 1
        self.limit = self.system.max_steps(self.n)
        self.heads = nodes
        self.labels = array("i", [-1] * len(heads) if labels is None else labels)
        self.n_deps = array("i", bytes(4 * len(heads)))
        for word in range(1, self.n + 1):
            self.n_deps[self.heads[word]] += 1
        self._prepare()

    def _prepare(self) -> None:
        """Compute further tables of the newly bound tree."""

    # What an oracle's file defines. ---------------------------------------------------------------------------

    def _move(self, s: State) -> int:
        """Return the one move of the static oracle, or -1 where it knows none; it may turn out to be illegal."""
        return -1

    def _label(self, s: State, move: int) -> int:
        """Return the label the move should carry: the gold label of the arc's dependent."""
        dependent = self.system._dependent(s, move, -1)
        return self.labels[dependent] if dependent > 0 else -1

    def _costs(self, s: State, out: array[int]) -> None:
        """Write a cost per move: 0 for the move of the static oracle, 1 for every other."""
        for move in range(self.system.n_moves):
            out[move] = 1
        best = self._move(s)
        if best >= 0:
            out[best] = 0

    # Pieces that oracles share. -------------------------------------------------------------------------------

    def _is_gold(self, s: State, head: int, dependent: int) -> bool:
        """Whether the arc is in the gold tree and its dependent has all dependents of its own."""
        return (
            head >= 0
            and dependent > 0
            and self.heads[dependent] == head
            and s.n_deps[dependent] == self.n_deps[dependent]
        )

    def _follow(self, s: State) -> bool:
        """Follow the static oracle from this state on; return whether it gets to the end."""
        while not self.system._is_final(s):
            move = self._move(s)
            if move < 0 or s.steps == self.limit:
                return False
            label = self._label(s, move) if self.system.labelled[move] else -1
            if not self.system._is_legal(s, move, label):
                return False
            self.system._take(s, move, label)
        self.system._finish(s)
        return True

    def _matches(self, s: State) -> bool:
        """Whether the state holds exactly the gold heads, all of them made by moves rather than by a lucky repair."""
        if s.repaired > 0:
            return False
        for word in range(1, self.n + 1):
            if s.heads[word] != self.heads[word]:
                return False
        return True

    # The public interface. ------------------------------------------------------------------------------------

    def _check(self, s: State) -> int:
        """Raise OracleError if the state is not one of the bound tree's sentence: compiled code would not notice."""
        if self.n < 0:
            raise OracleError(f"the oracle of {self.system.name} is not bound to a gold tree yet; call bind first")
        if s.n != self.n:
            raise OracleError(f"the state is one of {s.n} words, the bound gold tree has {self.n}")
        return 0

    def reaches_gold(self, s: State) -> bool:
        """Run from the initial configuration; return whether the gold tree results. ``s`` ends where the run ended."""
        self._check(s)
        with cython.nogil:
            s._clear()
            self.system._start(s)
            reached = self._follow(s) and self._matches(s)
        return bool(reached)

    def reaches_gold_from(self, s: State) -> bool:
        """Go on from this state; return whether the gold tree results. ``s`` ends where the run ended."""
        self._check(s)
        return bool(self._follow(s) and self._matches(s))

    def matches(self, s: State) -> bool:
        """Whether the finished state holds the gold tree."""
        self._check(s)
        return bool(self._matches(s))

    def action(self, s: State, static: bool = False) -> tuple[int, int]:
        """Return the (move, label) to take in this state: the static oracle's, or a free one if that has a cost.

        With ``static`` it is always the static oracle's, as it should be where its moves have led to the state: that
        spares the costs, which take a look at the whole sentence.
        """
        self._check(s)
        move = self._move(s)
        if self.explores and not static:
            costs = self.costs(s)
            free = [m for m in self.system.legal_moves(s) if costs[m] == 0]
            move = move if move in free or not free else free[0]
        if move < 0 or not self.system.is_legal(s, move, self._label(s, move)):
            raise OracleError(f"{self.system.name}: no move leads on to the gold tree; it is not covered")
        return (move, self._label(s, move))

    def costs(self, s: State) -> list[int]:
        """Return the cost of every move (meaningful where the move is legal); 0 is best."""
        self._check(s)
        out = array("i", bytes(4 * self.system.n_moves))
        self._costs(s, out)
        return list(out)


class LossOracle(Oracle):
    """Knows the fewest wrong heads any continuation can end with, and costs moves by that."""

    explores = True

    def _prepare(self) -> None:
        self.after = State(self.n)
        self.move_costs = array("i", bytes(4 * self.system.n_moves))

    def _loss(self, s: State) -> int:
        """Fewest words with a wrong head over all ways to go on from here."""
        return 0

    def _costs(self, s: State, out: array[int]) -> None:
        """Write how many more heads each legal move makes wrong than the best of them; n + 1 for illegal moves."""
        least = self.n + 1
        for move in range(self.system.n_moves):
            out[move] = self.n + 1
            if self.system._is_legal(s, move, -1):
                self.after._copy_from(s)
                self.system._take(self.after, move, -1)
                out[move] = self._loss(self.after)
                least = min(least, out[move])
        for move in range(self.system.n_moves):
            if out[move] <= self.n:
                out[move] -= least

    def _move(self, s: State) -> int:
        """Return the first legal move that costs nothing."""
        self._costs(s, self.move_costs)
        for move in range(self.system.n_moves):
            if self.move_costs[move] == 0:
                return move
        return -1


class ReachOracle(LossOracle):
    """The loss is the number of gold arcs that are out of reach, and of cycles that the others would close.

    Each gold arc is looked at on its own. Where those within reach never rule each other out, this is exact.
    """

    def _prepare(self) -> None:
        LossOracle._prepare(self)
        self.seen = array("i", bytes(4 * (self.n + 1)))

    def _is_open(self, s: State, head: int, dependent: int) -> bool:
        """Whether the two nodes will still meet, so that an arc can join them."""
        return True

    def _loss(self, s: State) -> int:
        loss = 0
        for word in range(1, s.n + 1):
            self.seen[word] = 0
            gold = self.heads[word]
            if s.heads[word] >= 0:
                if s.heads[word] != gold:
                    loss += 1
            elif gold > 0 and not self._is_open(s, gold, word):
                loss += 1
        for word in range(1, s.n + 1):
            node = word
            while node > 0 and self.seen[node] == 0:
                self.seen[node] = word
                head = s.heads[node]
                if head < 0 and self._is_open(s, self.heads[node], node):
                    head = self.heads[node]
                node = head
            if node > 0 and self.seen[node] == word:
                loss += 1
        return loss


class GreedyOracle(Oracle):
    """Take the first move whose arc is gold and whose dependent is complete; else SHIFT.

    For arc-standard this is the textbook oracle; for the Attardi family see attardi.py on when it is complete.
    """

    def _move(self, s: State) -> int:
        for move in range(1, self.system.n_moves):
            if self._is_gold_move(s, move):
                return move
        return SHIFT

    def _is_gold_move(self, s: State, move: int) -> bool:
        head = self.system._head(s, move, -1)
        dependent = self.system._dependent(s, move, -1)
        return self._is_gold(s, head, dependent) and self.system._is_legal(s, move, -1)
