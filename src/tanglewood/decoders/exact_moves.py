"""The exact decoder of scores of moves for the Attardi family: the best derivation, whatever its tree."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from typing import Any

from tanglewood.decoders.base import NO_TREE, Decoded, Pool, no_tree
from tanglewood.decoders.chart_moves import ChartMoves, table_rows
from tanglewood.errors import ConfigError


class ExactMoves:
    """The best derivation of SHIFT and an inventory of reduces, each move being scored by three nodes.

    Scores of n words are a C-contiguous float32 table of shape (moves, (n + 1)(n + 2) / 2, n + 1): the score of a move
    in the view a < b < j (decoders/chart_moves.py) is ``scores[move, j * (j - 1) // 2 + b, a]``. Places that are no
    views, and those of moves that are not legal, are ignored. One decoder serves any number of threads.
    """

    proof = "chart"

    def __init__(self, inventory: Sequence[tuple[int, int]], *, single_root: bool = False) -> None:
        self.inventory = list(inventory)
        self.single_root = single_root
        self._charts = Pool(lambda: ChartMoves(self.inventory, single_root))
        self._charts.give(self._charts.take())  # the first complains if there is no chart for the inventory

    def shape(self, n: int) -> tuple[int, int, int]:
        """Return the shape of the scores of n words."""
        return (len(self.inventory) + 1, table_rows(n), n + 1)

    def memory(self, n: int) -> int:
        """Return the bytes that n words need, scores included."""
        moves, rows, columns = self.shape(n)
        return ChartMoves(self.inventory, self.single_root).memory(n) + 4 * moves * rows * columns

    def best(self, scores: Any, gold: Sequence[int] = (), cost: float = 0.0) -> Decoded:  # noqa: ANN401 - a table
        """Return the best derivation and its tree; with gold heads, arcs that are wrong add ``cost`` to the value."""
        view = memoryview(scores)
        shape = view.shape or ()
        if view.format != "f" or not view.c_contiguous or len(shape) != 3 or shape != self.shape(shape[2] - 1):
            raise ConfigError(
                "scores of moves of n words are a C-contiguous float32 table of shape (moves, (n + 1)(n + 2) / 2, "
                f"n + 1), not one of shape {shape} and format {view.format!r}"
            )
        if len(gold) not in (0, shape[2]):
            raise ConfigError(f"there are {len(gold)} gold heads for {shape[2]} nodes")
        chart = self._charts.take()
        try:
            chart.load(scores, gold, cost)
            value = chart.run()
            if value == NO_TREE:
                return no_tree(self.proof)
            return Decoded(array("i", chart.heads), value, self.proof, array("i", chart.moves))
        finally:
            self._charts.give(chart)
