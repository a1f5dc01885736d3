"""The interface that all decoders share: a table of arc scores in, the best tree of a class and its proof out.

Arc scores of n words are a C-contiguous float32 buffer of shape (n + 1, n + 1), read as ``scores[head, modifier]``.
Column 0 and the diagonal are ignored; -inf forbids an arc, +inf and NaN are not scores. A NumPy array is such a buffer,
and `score_table` makes one without NumPy.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from random import Random
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeAlias, TypeVar

from tanglewood.errors import ConfigError

Scores: TypeAlias = Any  # anything with such a buffer
Siblings: TypeAlias = Any  # the same for scores of siblings (decoders/siblings.py)
Space = TypeVar("Space")


class Decoded(NamedTuple):
    """A tree, its value (the sum of its arcs' scores) and how it was proved to be the best of its class.

    ``heads`` is indexed by node, with -1 for node 0, and empty if every tree of the class has the value -inf.
    ``moves`` is a sequence of moves that derives the tree, from decoders of a transition system; others leave it empty.
    """

    heads: array[int]
    value: float
    proof: str
    moves: array[int] = array("i")

    @property
    def found(self) -> bool:
        """Whether there is a tree."""
        return len(self.heads) > 0


NO_TREE = float("-inf")


def no_tree(proof: str) -> Decoded:
    """Return the answer that no tree has a value above -inf."""
    return Decoded(array("i"), NO_TREE, proof)


def score_table(n: int, score: float = NO_TREE, code: Literal["f", "d"] = "f") -> memoryview[float]:
    """Return a writable table of scores for n words, all the same at first; code "d" makes it float64."""
    return memoryview(array(code, [score]) * (n + 1) ** 2).cast("B").cast(code, (n + 1, n + 1))


def words_in(scores: Scores) -> int:
    """Return the number of words of a table of arc scores; raise ConfigError if it is not such a table."""
    view = memoryview(scores)
    shape = view.shape or ()
    if view.format != "f" or not view.c_contiguous or len(shape) != 2 or not 0 < shape[0] == shape[1]:
        raise ConfigError(
            "arc scores of n words are a C-contiguous float32 table of shape (n + 1, n + 1), not one of shape "
            f"{shape} and format {view.format!r}"
        )
    return shape[0] - 1


class Pool(Generic[Space]):
    """Space to work in that no thread is using, so that one decoder serves any number of threads."""

    def __init__(self, make: Callable[[], Space]) -> None:
        self._make = make
        self._free: list[Space] = []

    def take(self) -> Space:
        """Return space for one thread, new if all there is is in use."""
        try:
            return self._free.pop()
        except IndexError:
            return self._make()

    def give(self, space: Space) -> None:
        """Keep space for the next who needs it."""
        self._free.append(space)


class Decoder:
    """Finds the best tree of a class; some decoders can also sum and sample, the others raise ConfigError."""

    proof: ClassVar[str] = ""  # what `best` writes into its answer

    def __init__(self, *, single_root: bool = False) -> None:
        self.single_root = single_root

    def memory(self, n: int) -> int:
        """Return the bytes that `best` needs to decode n words, not counting the scores."""
        raise NotImplementedError

    def best(self, scores: Scores) -> Decoded:
        """Return the best tree; its heads are empty if every tree has the value -inf."""
        raise NotImplementedError

    def second_order_best(self, scores: Scores, siblings: Siblings) -> Decoded:
        """Return the best tree by the scores of its arcs and of neighbouring dependents (decoders/siblings.py)."""
        raise self._unable("scores of siblings")

    def fits(self, n: int) -> bool:
        """Whether sentences of n words are within its limits, if it has any."""
        return True

    def log_partition(self, scores: Scores) -> float:
        """Return log of the sum of exp(value) over the trees of the class (or, where it says so, derivations)."""
        raise self._unable("log_partition")

    def marginals(self, scores: Scores) -> memoryview[float]:
        """Return the probability of every arc under exp(value - log_partition) as float64; columns sum to 1."""
        raise self._unable("marginals")

    def sample(self, scores: Scores, rng: Random) -> Decoded:
        """Return a tree (or derivation) drawn with probability exp(value - log_partition)."""
        raise self._unable("sample")

    def _unable(self, ability: str) -> ConfigError:
        return ConfigError(f"{type(self).__name__} has no {ability}")
