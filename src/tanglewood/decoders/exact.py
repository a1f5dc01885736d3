"""Exact decoders for the Attardi family: the best tree that a transition system can derive, with its derivation."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from random import Random

from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.decoders.base import NO_TREE, Decoded, Decoder, Pool, Scores, no_tree, words_in
from tanglewood.decoders.chart import Chart, ChartS0S1
from tanglewood.decoders.chart_leftward import ChartLeftward
from tanglewood.decoders.chart_lite import ChartLite
from tanglewood.decoders.chart_s2 import ChartS2
from tanglewood.decoders.chart_sum import ChartSum, TransitionScores
from tanglewood.decoders.values import tree_value
from tanglewood.errors import ConfigError, UndecidedError


class ExactDecoder(Decoder):
    """The best tree of SHIFT and an inventory of reduces (head place, modifier place), s0, s1, s2 = 0, 1, 2, b0 = -1.

    Move 0 of the derivation returned is SHIFT, move k + 1 the k-th reduce. One decoder serves any number of threads:
    each takes a chart from those that are free. Charts stay as large as the longest sentence they have seen.
    ``lite`` restricts attardi-alls0s1 to the class of decoders/chart_lite.py. ``chart`` is one that suits the
    inventory, by default the fastest.
    """

    proof = "chart"

    def __init__(
        self,
        inventory: Sequence[tuple[int, int]],
        *,
        single_root: bool = False,
        lite: bool = False,
        chart: type[Chart] | None = None,
    ) -> None:
        Decoder.__init__(self, single_root=single_root)
        self.inventory = list(inventory)
        self.make_chart: type[Chart] = ChartS0S1
        if lite or chart is not None:
            self.make_chart = chart or ChartLite
        elif any(modifier == 2 for _, modifier in inventory):
            self.make_chart = ChartS2
        elif all(place < 2 for pair in inventory for place in pair):
            self.make_chart = ChartLeftward
        self._charts = Pool(lambda: self.make_chart(self.inventory, single_root))
        self._charts.give(self._charts.take())  # the first complains if there is no chart for the inventory

    def memory(self, n: int) -> int:
        """Return the bytes that a sentence of n words needs: n^4/6, or n^5/15 if s2 is reduced, 4n^3/3 without s2."""
        return self.make_chart(self.inventory, self.single_root).memory(n)

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree and a derivation of it."""
        words_in(scores)
        chart = self._charts.take()
        try:
            chart.load(scores)
            if chart.run() == NO_TREE:
                return no_tree(self.proof)
            heads = array("i", chart.heads)
            return Decoded(heads, tree_value(memoryview(scores), heads), self.proof, array("i", chart.moves))
        finally:
            self._charts.give(chart)

    # By derivations: sums, in which a tree counts as often as it has derivations, and scores of transitions. ---

    def _chart(self, scores: Scores, transitions: TransitionScores | None) -> ChartSum:
        if self.make_chart is ChartLite:
            raise ConfigError("the lite chart knows the best tree only; it has no sums and no scores of transitions")
        words_in(scores)
        chart = ChartSum(self.inventory, self.single_root)
        chart.load(scores)
        if transitions is not None:
            chart.score_transitions(transitions)
        return chart

    def best_derivation(self, scores: Scores, transitions: TransitionScores) -> Decoded:
        """Return the best derivation where transitions have scores beside those of their arcs, and its tree.

        Not vectorized, and in double precision. The spanning-tree shortcut does not hold for such scores.
        """
        chart = self._chart(scores, transitions)
        value = chart.search()
        if value == NO_TREE:
            return no_tree(self.proof)
        return Decoded(array("i", chart.heads), value, self.proof, array("i", chart.moves))

    def log_partition(self, scores: Scores, transitions: TransitionScores | None = None) -> float:
        """Return log of the sum of exp(value) over all derivations."""
        return float(self._chart(scores, transitions).run())

    def marginals(self, scores: Scores, transitions: TransitionScores | None = None) -> memoryview[float]:
        """Return the probability of every arc, derivations being weighted by exp(value)."""
        chart = self._chart(scores, transitions)
        chart.run()
        return chart.expect()

    def sample(self, scores: Scores, rng: Random, transitions: TransitionScores | None = None) -> Decoded:
        """Return a derivation drawn with probability exp(value - log_partition), and its tree; value is the tree's."""
        chart = self._chart(scores, transitions)
        if chart.run() == NO_TREE:
            return no_tree("sample")
        chart.draw(rng)
        heads = array("i", chart.heads)
        return Decoded(heads, tree_value(memoryview(scores), heads), "sample", array("i", chart.moves))


def derivation(system: TransitionSystem, heads: Sequence[int]) -> array[int] | None:
    """Return the moves by which the system's oracle derives a tree; None if the tree is not in the system's class."""
    oracle = system.oracle()
    try:
        oracle.bind(heads)
    except UndecidedError:
        return None
    s = system.start(len(heads) - 1)
    if not oracle.reaches_gold(State(s.n)):
        return None
    moves = array("i")
    while not system.is_final(s):
        move, _ = oracle.action(s)
        system.apply(s, move)
        moves.append(move)
    return moves


class ShortcutDecoder(Decoder):
    """Finds the best of all trees first: if the system can derive it, it is also the best of the system's class.

    Only otherwise is the chart needed. The shortcut holds for scores of arcs only, not of transitions. ``spanning`` has
    the same rule about roots as the system.
    """

    def __init__(self, system: TransitionSystem, chart: Decoder, spanning: Decoder) -> None:
        Decoder.__init__(self, single_root=system.single_root)
        self.system = system
        self.chart = chart
        self.spanning = spanning

    def memory(self, n: int) -> int:
        """Return the bytes that the chart takes for n words, if it is used at all."""
        return self.chart.memory(n)

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree; its proof is "spanning-tree" or that of the chart."""
        tree = self.spanning.best(scores)
        if not tree.found:
            return no_tree("spanning-tree")
        moves = derivation(self.system, tree.heads)
        if moves is not None:
            return Decoded(tree.heads, tree.value, "spanning-tree", moves)
        return self.chart.best(scores)
