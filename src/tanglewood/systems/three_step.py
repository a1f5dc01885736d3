"""three-step (Lacroix & Béchet 2014): a projective parse over anchors, then a left and a right pass by valencies.

1. Arc-eager (or another projective system) over the anchored tree: each non-projective dependent is attached, with its
   own label, where projectivization puts it.
2. Left pass, from left to right, over (σ, β, θ, A): PutValency opens a valency for the buffer's front; Dist-Left lets
   the buffer's front take the last open valency with that label, so that its arc replaces the anchor; Shift moves on.
3. Right pass, from right to left, the same mirrored; it ends with one RShift after word 1.

The paper's Table 3 moves a word to the stack with PutValency, its Table 5 does not; here as in Table 5, and Shift stays
a move of its own. What the paper leaves open: an arc that would close a cycle is not legal.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import ClassVar

from tanglewood.core.oracle import Oracle
from tanglewood.core.short import GAP, ends_of
from tanglewood.core.state import State
from tanglewood.core.system import FRONT, Move, Option, Phase, TransitionSystem, arc_move, options_of
from tanglewood.systems.arc_eager import ArcEager
from tanglewood.systems.arc_hybrid import ArcHybrid
from tanglewood.systems.arc_standard import ArcStandard
from tanglewood.transforms.lifting import lift

PROJECTIVE, LEFT_PASS, RIGHT_PASS = range(3)  # State.phase
PUT, DIST, SHIFT = range(3)  # kinds of move in both passes
FIRST_STEPS = {system.name: system for system in (ArcEager, ArcHybrid, ArcStandard)}


class StaticOracle(Oracle):
    """Anchors by projectivization; each lifted arc gives one PutValency at its dependent and one Dist at its head.

    Valencies with the same label may be open at once; where the last one is not the wanted one, the tree is not
    covered.
    """

    def __init__(self, system: ThreeStep) -> None:
        Oracle.__init__(self, system)
        self.steps = system
        self.first: Oracle = system.first.oracle()

    def _prepare(self) -> None:
        self.anchors = array("i", lift(self.heads))
        self.first.bind(self.anchors, self.labels)

    def take_anchors(self, anchors: Sequence[int]) -> None:
        """Take other anchors for the tree that was bound, such as a treebank's own: heads indexed by node."""
        self.anchors = array("i", anchors)
        self.first.bind(self.anchors, self.labels)

    def _move(self, s: State) -> int:
        if s.phase == PROJECTIVE:
            return self.first._move(s)
        move = self.steps.base + (s.phase - 1) * 3
        if self._wanted(s) >= 0:
            return move + DIST
        word = s.buffer[s.n_buffer - 1]
        due = LEFT_PASS if self.heads[word] > word else RIGHT_PASS
        is_lifted = self.anchors[word] != self.heads[word]
        if is_lifted and s.phase == due and self.steps._is_legal(s, move + PUT, self.labels[word]):
            return move + PUT
        return move + SHIFT

    def _wanted(self, s: State) -> int:
        """Index in θ of an open valency that the front word should take and can, as the last one with its label."""
        for index in range(s.aside_depth - 1, -1, -1):
            if (
                self.heads[s.aside[index]] == s.buffer[s.n_buffer - 1]
                and self.steps._open_valency(s, s.aside_labels[index]) == index
            ):
                return index
        return -1

    def _label(self, s: State, move: int) -> int:
        if s.phase == PROJECTIVE:
            return self.first._label(s, move)
        kind = self.steps._kind(s, move)
        if kind == PUT:
            return self.labels[s.buffer[s.n_buffer - 1]]
        index = self._wanted(s)
        return s.aside_labels[index] if kind == DIST and index >= 0 else -1


class ThreeStep(TransitionSystem):
    """The moves of the first system, then PutValency, Dist and Shift of the two passes.

    θ is kept aside with its labels; the right pass, which puts valencies at the front of θ, keeps it reversed.
    ``marks`` is 1 for a word that has left its anchor.
    """

    name = "three-step"
    covers = "trees whose non-projective arcs can be paired by label, closest first, over projectivized anchors"
    paper = "Lacroix & Béchet 2014"
    options: ClassVar[dict[str, Option]] = options_of(
        Option(
            "first",
            str,
            ArcEager.name,
            "the projective system of its first step",
            choices=tuple(FIRST_STEPS),
            metavar="SYSTEM",
        )
    )
    oracles: ClassVar[dict[str, type]] = {"static": StaticOracle}
    label_matters = True
    aside_name = "Valencies"

    def __init__(self, *, first: str = ArcEager.name, single_root: bool = False) -> None:
        TransitionSystem.__init__(self, single_root=single_root)
        # The right pass cannot take the root word from 0: every word is below it, so the arc would close a cycle.
        self.first = FIRST_STEPS[first](single_root=single_root)
        self.base = self.first.n_moves
        left_pass = (Move("PutValency↙", labelled=True), arc_move("Dist-Left↖"), Move("Shift"))
        right_pass = (Move("PutValency↘", labelled=True), arc_move("Dist-Right↗"), Move("RShift"))
        self._set_moves((*self.first.moves, *left_pass, *right_pass))
        left, right = Phase("left pass", FRONT), Phase("right pass", FRONT, right_to_left=True)
        self.phases = (*self.first.phases, left, right)

    def _start(self, s: State) -> None:
        self.first._start(s)
        if s.n == 0:  # nothing to do in any step
            s.phase = RIGHT_PASS
            s.depth = 0

    def _is_final(self, s: State) -> bool:
        return s.phase == RIGHT_PASS and s.depth == 0

    def _kind(self, s: State, move: int) -> int:
        """PUT, DIST or SHIFT if the move belongs to the pass under way, else -1."""
        kind = move - self.base - (s.phase - 1) * 3
        return kind if s.phase != PROJECTIVE and PUT <= kind <= SHIFT else -1

    def _open_valency(self, s: State, label: int) -> int:
        """Index of the last open valency with this label (any, if -1), or -1: the first-available principle."""
        for index in range(s.aside_depth - 1, -1, -1):
            if label < 0 or s.aside_labels[index] == label:
                return index
        return -1

    def _is_legal(self, s: State, move: int, label: int) -> bool:
        """Decide the preconditions of Tables 3 and 4.

        PutValency: at most one per word, and only while it is attached to its anchor. Dist: there is an open valency
        with the label, of another word, and the arc closes no cycle.
        """
        if s.phase == PROJECTIVE:
            return move < self.base and self.first._is_legal(s, move, label)
        kind = self._kind(s, move)
        if kind == SHIFT:
            return True
        word = s.buffer[s.n_buffer - 1]
        if kind == PUT:
            return s.marks[word] == 0 and (s.aside_depth == 0 or s.aside[s.aside_depth - 1] != word)
        if kind != DIST:
            return False
        index = self._open_valency(s, label)
        if index < 0:
            return False
        while word > 0 and word != s.aside[index]:
            word = s.heads[word]
        return word == 0

    def _head(self, s: State, move: int, label: int) -> int:
        if s.phase == PROJECTIVE:
            return self.first._head(s, move, label) if move < self.base else -1
        return s.buffer[s.n_buffer - 1] if self._kind(s, move) == DIST else -1

    def _dependent(self, s: State, move: int, label: int) -> int:
        if s.phase == PROJECTIVE:
            return self.first._dependent(s, move, label) if move < self.base else -1
        index = self._open_valency(s, label)
        return s.aside[index] if self._kind(s, move) == DIST and index >= 0 else -1

    def _apply(self, s: State, move: int, label: int) -> None:
        """Apply the effects of Tables 3 and 4; after the last move of a step, set up the next."""
        if s.phase == PROJECTIVE:
            self.first._apply(s, move, label)
            if self.first._is_final(s):
                self.first._finish(s)
                s.phase = LEFT_PASS
                self._fill(s, 0, 1)
            return
        kind = self._kind(s, move)
        if kind == PUT:
            s.aside[s.aside_depth] = s.buffer[s.n_buffer - 1]
            s.aside_labels[s.aside_depth] = label
            s.aside_depth += 1
        elif kind == DIST:
            gone = self._open_valency(s, label)
            s.marks[s.aside[gone]] = 1
            s.aside_depth -= 1
            for index in range(gone, s.aside_depth):
                s.aside[index] = s.aside[index + 1]
                s.aside_labels[index] = s.aside_labels[index + 1]
        elif s.phase == RIGHT_PASS:
            s.depth -= 1
            s.buffer[s.n_buffer] = s.stack[s.depth]
            s.n_buffer += 1
        else:
            s._shift()
            if s.n_buffer == 0:
                s.phase = RIGHT_PASS
                self._fill(s, 0, s.n)
                s.aside_depth = 0

    def aside(self, s: State, short: bool = False) -> list[tuple[int, int]]:
        """Return θ: the open valencies with their labels, in the paper's order."""
        places = range(s.aside_depth)
        if s.phase != LEFT_PASS:
            places = places[::-1]
        shown = ends_of(places) if short else places
        return [(GAP, -1) if i == GAP else (s.aside[i], s.aside_labels[i]) for i in shown]

    def max_steps(self, n: int) -> int:
        """Return the first system's bound plus 6n: in either pass a word is put, taken and shifted at most once."""
        return self.first.max_steps(n) + 6 * n
