"""The shapes that every learner and its models share, so that training, parsing and model files know only these."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tanglewood.core.search import MoveScorer, Search
from tanglewood.core.state import State
from tanglewood.core.system import TransitionSystem
from tanglewood.ml.words import Word
from tanglewood.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Example:
    """A training sentence: its words, and gold heads and label numbers indexed by node (index 0 is -1).

    Where a system gives tags, also the gold ones, indexed likewise, and their candidates (State.tag_candidates).
    """

    words: Sequence[Word]
    heads: Sequence[int]
    labels: Sequence[int]
    guess: Guess | None = None
    tags: Sequence[int] = ()
    tag_candidates: array[int] | None = None

    def state(self) -> State:
        """Return a configuration of the sentence, with the tags that its words may be given."""
        state = State(len(self.words))
        if self.tag_candidates is not None:
            state.take_candidates(self.tag_candidates)
        return state

    def bind(self, oracle: Any) -> None:  # noqa: ANN401 - any Oracle
        """Bind the oracle to what is gold here."""
        oracle.bind(self.heads, self.labels, *((self.tags,) if self.tags else ()))


@dataclass(frozen=True, slots=True)
class Guess:
    """What another parser makes of a sentence: heads and label numbers indexed by node (index 0 is -1)."""

    heads: Sequence[int]
    labels: Sequence[int]


@dataclass(frozen=True, slots=True)
class Task:
    """What is to be learnt: the system, the names of its labels, and which of them is for arcs from 0 only (or -1).

    ``tags`` are the names of tags, if the system gives any.
    """

    system: TransitionSystem
    labels: Sequence[str]
    root_label: int
    tags: Sequence[str] = ()

    @property
    def n_labels(self) -> int:
        """How many labels a move may have to choose from, be they those of arcs or tags."""
        return max(len(self.labels), len(self.tags))

    def search(self, scorer: MoveScorer) -> Search:
        """Return a search for the scorer."""
        return Search(self.system, scorer, len(self.labels), self.root_label, len(self.tags))


class Workspace(Protocol):
    """What one thread needs to score the states of sentences; the weights are shared."""

    def encode(self, sentences: Sequence[Sequence[Word]]) -> None:
        """Do the work that can be done for many sentences at once."""

    def turn_to(self, index: int) -> MoveScorer:
        """Return the scorer, set to one of the encoded sentences."""


class ArcScores(NamedTuple):
    """The scores of all arcs of a sentence, best labels included, and the number of the best label of each."""

    scores: memoryview[float]
    labels: memoryview[int]

    def sharpened(self, factor: float) -> memoryview[float]:
        """Return the scores times a factor."""
        size = len(self.scores)
        flat = array("f", [factor * score for score in self.scores.cast("B").cast("f")])
        return memoryview(flat).cast("B").cast("f", (size, size))


class ArcWorkspace(Protocol):
    """What one thread needs to score the arcs of sentences; scores times sharpness are logarithms of weights."""

    sharpness: float

    def encode(self, sentences: Sequence[Sequence[Word]], guesses: Sequence[Guess] = ()) -> None:
        """Do the work that can be done for many sentences at once; a model with a guide needs its guesses."""

    def score(self, index: int) -> ArcScores:
        """Return the scores of the arcs of one of the encoded sentences."""


class Model(Protocol):
    """Learnt weights, ready to parse: arrays and plain settings, nothing else.

    A model of moves has workspaces that score moves, a model of arcs those that score arcs.
    """

    task: Task

    def workspace(self) -> Any:  # noqa: ANN401 - a Workspace or an ArcWorkspace
        """Return a workspace for one thread."""

    def arrays(self) -> Mapping[str, Any]:
        """Return the weights: names to arrays that have a buffer (NumPy arrays, array.array, memoryviews)."""

    def settings(self) -> dict[str, Any]:
        """Return what else is needed to make the model anew, as plain JSON data."""

    @classmethod
    def load(cls, task: Task, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Model:
        """Make the model anew; arrays come as shaped memoryviews of format f, i, b, B, h, e or d."""


class Learner(Protocol):
    """Learns a model from examples, one epoch at a time.

    A learner whose epochs take long may have an attribute ``tell``, which it calls with the share of the epoch done.
    """

    @classmethod
    def begin(cls, task: Task, sentences: Sequence[Sentence], options: Any, seed: int) -> Learner:  # noqa: ANN401
        """Return a learner for this training data; the options are the learner's own."""

    def epoch(self, examples: Sequence[Example], teacher: Any) -> float:  # noqa: ANN401 - Oracle or Decoder
        """Go through the examples once in an order of its own; return the mean loss (lower is better).

        The teacher is an oracle for moves; learners of arcs are given the decoder whose mistakes they learn from.
        """

    def model(self) -> Model:
        """Return the (averaged) model as of now; it must not change when learning goes on."""

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return arrays and plain data from which `restore` goes on as if nothing had happened."""

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to such a state."""
