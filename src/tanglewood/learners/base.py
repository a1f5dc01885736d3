"""The interfaces that all learners and models share; training, parsing and model files know only these."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from tanglewood.core.actions import Actions
from tanglewood.core.search import MoveScorer
from tanglewood.core.state import State
from tanglewood.errors import UndecidedError
from tanglewood.ml.words import Word
from tanglewood.treebank.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Example:
    """A training sentence: its words, and gold heads and label numbers indexed by node (index 0 is -1).

    Where a system gives tags, also the gold ones, indexed likewise, and their candidates (State.tag_candidates). For
    three-step there may be anchors, indexed likewise, in place of those by projectivization.
    """

    words: Sequence[Word]
    heads: Sequence[int]
    labels: Sequence[int]
    stacked: StackedTree | None = None
    tags: Sequence[int] = ()
    tag_candidates: array[int] | None = None
    anchors: Sequence[int] = ()
    gold: bool = True  # whether its tree is the treebank's; others are left out at the end

    def state(self) -> State:
        """Return a configuration of the sentence, with the tags that its words may be given."""
        state = State(len(self.words))
        if self.tag_candidates is not None:
            state.take_candidates(self.tag_candidates)
        return state

    def bind(self, oracle: Any) -> None:  # noqa: ANN401 - any Oracle
        """Bind the oracle to the gold tree and tags of this sentence.

        An oracle that gave up its search is as good as one that knows that the tree is not covered.
        """
        with suppress(UndecidedError):
            oracle.bind(self.heads, self.labels, self.tags or None)
            if self.anchors:
                oracle.take_anchors(self.anchors)


@dataclass(frozen=True, slots=True)
class StackedTree:
    """A stacked parser's tree of a sentence: heads and label numbers indexed by node (index 0 is -1)."""

    heads: Sequence[int]
    labels: Sequence[int]


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do, so that nobody has to know which learner made it."""

    scores_moves: bool = False
    scores_arcs: bool = False
    scores_siblings: bool = False  # beside arcs: then only searches that know of them find the best tree
    beam: bool = True  # whether its scores of moves may be added up; else the search is greedy
    exact_moves: bool = False  # whether moves are scored by three nodes, as a chart needs it, and added up as they are
    learnt_beam: int = 1  # width of the beam it was trained with: from 2 on, scores are added up as they are
    calibrated: bool = False  # whether it has a temperature that turns its arc scores into log-probabilities
    stacked: bool = False  # whether it needs the trees of a stacked parser

    @property
    def kind(self) -> str:
        """The name of this kind of model."""
        return "transition-based" if self.scores_moves else "graph-based"

    @property
    def kind_in_words(self) -> str:
        """What the model does, after "this model"."""
        if self.scores_siblings:
            return "scores arcs and siblings"
        return "scores moves and arcs" if self.scores_moves and self.scores_arcs else f"is {self.kind}"


class Workspace(Protocol):
    """What one thread needs to score the states of sentences; the weights are shared."""

    def encode(self, sentences: Sequence[Sequence[Word]]) -> None:
        """Do the work that can be done for many sentences at once."""

    def turn_to(self, index: int) -> MoveScorer:
        """Return the scorer, set to one of the encoded sentences."""


class Votes(NamedTuple):
    """How much the greedy tree, or all trees of a beam together, add to the score of an arc; chosen on dev sets."""

    greedy: float = 0.7
    beam: float = 2.0


class ArcScores(Protocol):
    """The scores of all arcs of a sentence, and the labels of those that are chosen."""

    @property
    def scores(self) -> Any:  # noqa: ANN401 - a table as decoders take it (decoders/base.py)
        """The scores."""

    def best_labels(self, heads: Sequence[int], votes: Sequence[TreeVote] = ()) -> list[int]:
        """Return the numbers of the best labels of words with these heads; those of other trees may count as votes."""

    def with_votes(self, votes: Sequence[TreeVote], worth: float) -> Any:  # noqa: ANN401 - a table as decoders take it
        """Return the scores with the weights of trees, times what they are worth, added to those of their arcs."""

    def tree_score(self, heads: Sequence[int], labels: Sequence[int]) -> float:
        """Return the score of a tree: the logarithm of its probability and those of its labels, less a constant."""


class TreeVote(NamedTuple):
    """A tree that another search found, by heads and label numbers of words, and how much its vote counts."""

    heads: Sequence[int]
    labels: Sequence[int]
    weight: float


class ArcTable(NamedTuple):
    """The scores of all arcs of a sentence, best labels included, and the number of the best label of each."""

    scores: memoryview[float]
    labels: memoryview[int]

    def best_labels(self, heads: Sequence[int], votes: Sequence[TreeVote] = ()) -> list[int]:
        """Return the best labels of words with these heads."""
        return [self.labels[head, word] for word, head in enumerate(heads, 1)]

    def with_votes(self, votes: Sequence[TreeVote], worth: float) -> memoryview[float]:
        """Only models that score moves too are voted on."""
        raise NotImplementedError

    def tree_score(self, heads: Sequence[int], labels: Sequence[int]) -> float:
        """Only models that score moves too rescore trees."""
        raise NotImplementedError


class ArcWorkspace(Protocol):
    """What one thread needs to score the arcs of sentences.

    Scores divided by the temperature are logarithms of weights. Models that score moves, too, say what their trees'
    votes are worth.
    """

    temperature: float
    votes: Votes

    def encode(self, sentences: Sequence[Sequence[Word]], stacked: Sequence[StackedTree] = ()) -> None:
        """Do the work that can be done for many sentences at once; a stacked model needs the other parser's trees."""

    def score(self, index: int) -> ArcScores:
        """Return the scores of the arcs of one of the encoded sentences."""

    def score_siblings(self, index: int) -> Any:  # noqa: ANN401 - a table as decoders take it (decoders/siblings.py)
        """Return the scores of siblings of one of the encoded sentences, from a model that has them."""


class Model(Protocol):
    """Learnt weights, ready to parse: arrays and plain settings, nothing else.

    A transition-based model has workspaces that score moves, a graph-based one those that score arcs.
    """

    actions: Actions

    @property
    def capabilities(self) -> Capabilities:
        """What the model can do."""

    def workspace(self, *, reproducible: bool = False) -> Any:  # noqa: ANN401 - a Workspace or an ArcWorkspace
        """Return a workspace for one thread; if ``reproducible``, with the same scores on every machine."""

    def arrays(self) -> Mapping[str, Any]:
        """Return the weights: names to arrays that have a buffer (NumPy arrays, array.array, memoryviews)."""

    def settings(self) -> dict[str, Any]:
        """Return everything else needed to rebuild the model, as plain JSON data."""

    @classmethod
    def load(cls, actions: Actions, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Model:
        """Rebuild the model; arrays come as shaped memoryviews of format f, i, b, B, h, e or d."""


def quiet(_share: float) -> None:
    """Report nothing about how much of an epoch is done."""


class Learner(Protocol):
    """Learns a model from examples, one epoch at a time.

    A learner whose epochs take long calls ``tell`` with the share of the epoch done.
    """

    tell: Callable[[float], None]

    @classmethod
    def begin(
        cls,
        actions: Actions,
        sentences: Sequence[Sentence],
        options: Any,  # noqa: ANN401 - the learner's own
        seed: int,
        *,
        stacked: bool = False,
    ) -> Learner:
        """Return a learner for this training data; a ``stacked`` one looks at the trees that come with examples."""

    def epoch(self, examples: Sequence[Example], teacher: Any) -> float:  # noqa: ANN401 - Oracle or Decoder
        """Go through the examples once in an order of its own; return the mean loss (lower is better).

        The teacher of a transition-based learner is an oracle, that of a graph-based one its decoder.
        """

    def model(self) -> Model:
        """Return the (averaged) model as of now; it must not change when learning goes on."""

    def state(self) -> tuple[Mapping[str, Any], dict[str, Any]]:
        """Return arrays and plain data from which `restore` continues as if nothing had happened."""

    def restore(self, arrays: Mapping[str, memoryview], data: Mapping[str, Any]) -> None:
        """Go back to what `state` returned."""
