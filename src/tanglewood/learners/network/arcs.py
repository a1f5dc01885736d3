"""The arc head of the network: a score for every arc of a sentence, and for the labels of arcs that were chosen.

The score of an arc is a form of the vectors of its head and its word and of the arc's kind (biaffine, as in Dozat &
Manning 2017), computed twice: the second time every word also knows which head and which dependents it is likely to
have by the first scores, a soft second order. Both are added. Training makes the gold tree probable among all trees
(matrix-tree theorem: Koo et al. 2007; Smith & Smith 2007), and the gold label of each gold arc.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tanglewood.core.actions import Actions
from tanglewood.decoders.spanning import SpanningTree
from tanglewood.errors import ModelError
from tanglewood.learners.base import TreeVote
from tanglewood.learners.network.arc_core import (
    N_KINDS,
    add_kinds,
    add_kinds_back,
    add_votes,
    head_shares,
    head_shares_back,
    label_layer,
    softmax_rows,
    sum_of_tree,
    voted_labels,
)
from tanglewood.ml.encoder import Floats, Ints, Rng, dropout_mask, glorot, normal
from tanglewood.ml.kernels import Kernels, kernels_for
from tanglewood.ml.products import linear, product

WIDTH = 64  # of a word as dependent, and of a word as head
LABEL_WIDTH = 128
WORDS = "arc.words"  # the weights that contexts are multiplied by: dependent, head, dependent and head of labels
TURNS = 2
FIRST_SHARE = np.float32(0.3)  # weight of the loss of the first scores by themselves
LABEL_VOTE = 0.4  # how much the label that moves give an arc adds to its probability
LOWEST = np.float32(-1e30)


def new_arc_parameters(n_word: int, n_labels: int, rng: Rng) -> dict[str, Floats]:
    """Return freshly initialized parameters."""
    return {
        WORDS: glorot(rng, n_word, 2 * WIDTH + 2 * LABEL_WIDTH),
        "arc.bias": np.zeros(2 * WIDTH, np.float32),
        "arc.again": glorot(rng, 2 * WIDTH, 2 * WIDTH),  # likely head and dependents: to dependent and head
        "arc.pairs": normal(rng, 1 / WIDTH, TURNS, WIDTH, WIDTH),
        "arc.heads": np.zeros((TURNS, WIDTH), np.float32),
        "arc.kinds": np.zeros((TURNS, N_KINDS), np.float32),
        "arc.kind_words": np.zeros((TURNS, N_KINDS, WIDTH), np.float32),
        "arc.kind_heads": np.zeros((TURNS, N_KINDS, WIDTH), np.float32),
        "arc.label_kinds": normal(rng, 0.05, N_KINDS, LABEL_WIDTH),
        "arc.label_bias": np.zeros(LABEL_WIDTH, np.float32),
        "arc.label_weight": glorot(rng, LABEL_WIDTH, n_labels),
        "arc.label_out": np.zeros(n_labels, np.float32),
    }


class Turn(NamedTuple):
    """One of the two computations of scores, of all sentences of a batch."""

    words: Floats  # nodes as dependents, and as heads
    heads: Floats
    crossed: Floats  # heads times the matrix of pairs
    tables: list[Floats]  # scores of each sentence


class ArcHead:
    """Scores the arcs of some sentences at a time; ``rows`` are their contexts times the matrix `WORDS`."""

    def __init__(self, parameters: Mapping[str, Floats], actions: Actions, kernels: Kernels | None = None) -> None:
        self.parameters = parameters
        self.kernels = kernels or kernels_for()
        self.rows: Floats
        self.bounds: list[tuple[int, int]] = []
        # The root label belongs to arcs from 0 and to no others.
        self.root_label = actions.root_label

    def score(self, rows: Floats, offsets: Sequence[int]) -> list[Floats]:
        """Return the scores of each sentence, ``[head, word]``; offsets say where each begins and the last one ends."""
        self._begin(rows, offsets)
        first = self._turn(0, *self._hidden(self._sums()))
        more = product(self.kernels, self._likely(first), self.parameters["arc.again"])
        second = self._turn(1, *self._hidden(self._sums() + more))
        return [table + more for table, more in zip(first.tables, second.tables, strict=True)]

    def _begin(self, rows: Floats, offsets: Sequence[int]) -> None:
        self.rows = rows
        self.bounds = list(pairwise(offsets))

    def _sums(self) -> Floats:
        sums: Floats = self.rows[:, : 2 * WIDTH] + self.parameters["arc.bias"]
        return sums

    def _hidden(self, sums: Floats) -> tuple[Floats, Floats]:
        """Return the vectors of nodes as dependents and as heads."""
        return np.maximum(sums[:, :WIDTH], 0), np.maximum(sums[:, WIDTH:], 0)

    def _turn(self, turn: int, words: Floats, heads: Floats) -> Turn:
        p = self.parameters
        crossed = product(self.kernels, heads, p["arc.pairs"][turn])
        word_kinds = product(self.kernels, words, p["arc.kind_words"][turn].T)
        head_kinds = product(self.kernels, heads, (p["arc.kind_heads"][turn] + p["arc.heads"][turn]).T)
        tables = []
        for begin, end in self.bounds:
            table = product(self.kernels, crossed[begin:end], words[begin:end].T)
            add_kinds(table, p["arc.kinds"][turn], word_kinds[begin:end], head_kinds[begin:end])
            tables.append(table)
        return Turn(words, heads, crossed, tables)

    def _likely(self, first: Turn, kept: list[Floats] | None = None) -> Floats:
        """Return each node's expected head and the sum of its expected dependents; keep the probabilities."""
        likely = np.empty((len(first.words), 2 * WIDTH), np.float32)
        for (begin, end), table in zip(self.bounds, first.tables, strict=True):
            shares = np.empty_like(table)
            head_shares(table, shares)
            likely[begin:end, :WIDTH] = product(self.kernels, shares.T, first.heads[begin:end])
            likely[begin:end, WIDTH:] = product(self.kernels, shares, first.words[begin:end])
            if kept is not None:
                kept.append(shares)
        return likely

    def _label_hidden(self, begins: Ints, heads: Ints, words: Ints) -> tuple[Floats, Ints]:
        """Return the hidden layer of the labels of arcs, given by their sentences and their nodes there, and kinds."""
        p = self.parameters
        kinds = np.empty(len(heads), np.int32)
        hidden = np.empty((len(heads), LABEL_WIDTH), np.float32)
        worth, bias = p["arc.label_kinds"], p["arc.label_bias"]
        label_layer(self.rows, begins, heads, words, worth, bias, 2 * WIDTH, kinds, hidden)
        return hidden, kinds

    def _label_scores(self, hidden: Floats, heads: Ints) -> Floats:
        """Return a score for each label of each arc; those that an arc from this head cannot have get the lowest."""
        scores = linear(self.kernels, hidden, self.parameters["arc.label_weight"], self.parameters["arc.label_out"])
        if self.root_label >= 0:
            scores[heads > 0, self.root_label] = LOWEST
            scores[heads == 0] = LOWEST
            scores[heads == 0, self.root_label] = 0
        return scores

    def labels(self, index: int, heads: Sequence[int]) -> Floats:
        """Return the scores of the labels of the words of one of the sentences with these heads."""
        begin, end = self.bounds[index]
        local = np.asarray(heads, np.int32)
        words = np.arange(1, end - begin, dtype=np.int32)
        hidden, _ = self._label_hidden(np.full(len(local), begin, np.int32), local, words)
        return self._label_scores(hidden, local)


class NetworkArcs:
    """The scores of the arcs of one sentence, and the labels that the head gives them."""

    def __init__(self, scores: Floats, head: ArcHead, index: int) -> None:
        self.scores = scores
        self._head = head
        self._index = index

    def label_chances(self, heads: Sequence[int]) -> Floats:
        """Return the probabilities of the labels of words with these heads, one row a word."""
        chances = self._head.labels(self._index, heads)
        softmax_rows(chances)
        return chances

    def best_labels(self, heads: Sequence[int], votes: Sequence[TreeVote] = ()) -> list[int]:
        """Return the best labels of words with these heads; a tree votes where it has the same head."""
        scores = self._head.labels(self._index, heads)
        own = np.asarray(heads, np.int32)
        best = np.empty(len(own), np.int32)
        shape = (len(votes), len(own))
        others = np.array([vote.heads for vote in votes], np.int32).reshape(shape)
        labels = np.array([vote.labels for vote in votes], np.int32).reshape(shape)
        weights = np.array([LABEL_VOTE * vote.weight for vote in votes], np.float32)
        voted_labels(scores, own, others, labels, weights, best)
        return best.tolist()

    def with_votes(self, votes: Sequence[TreeVote], worth: float) -> Floats:
        """Return the scores with the weights of trees, times what they are worth, added to those of their arcs."""
        scores = self.scores.copy()
        weights = np.array([worth * vote.weight for vote in votes], np.float32)
        add_votes(scores, np.array([vote.heads for vote in votes], np.int32), weights)
        return scores

    def tree_score(self, heads: Sequence[int], labels: Sequence[int]) -> float:
        """Return the score of a tree: the logarithm of its probability and those of its labels, less a constant."""
        numbers = np.array([heads, labels], np.int32)
        return sum_of_tree(self.scores, self.label_chances(heads), *numbers)


class ArcTarget(NamedTuple):
    """What to learn about the arcs of a sentence: a tree, by heads and label numbers indexed by node.

    Where others have said how probable they find arcs and the labels of the tree's arcs (one row a word), that counts
    instead.
    """

    heads: Sequence[int]
    labels: Sequence[int]
    chances: Floats | None = None
    label_chances: Floats | None = None


class ArcTrainer(ArcHead):
    """Learns the arcs of a batch, and writes gradients into the caller's arrays."""

    def __init__(
        self, parameters: Mapping[str, Floats], gradients: Mapping[str, Floats], actions: Actions, *, dropout: float
    ) -> None:
        ArcHead.__init__(self, parameters, actions)
        self.gradients = gradients
        self.dropout = dropout
        self.sums = SpanningTree(single_root=actions.system.single_root)
        self.masks: list[Floats] = []
        self.loss = 0.0  # by how much the probabilities of gold arcs and labels fall short of 1
        self.n_decisions = 0

    def learn(
        self, rows: Floats, offsets: Sequence[int], targets: Sequence[ArcTarget], rng: np.random.Generator
    ) -> Floats:
        """Write the gradient of the mean loss per word; return that of the rows."""
        self._begin(rows, offsets)
        nodes = len(rows)
        self.masks = [dropout_mask(rng, (nodes, 2 * WIDTH), self.dropout) for _ in range(TURNS)]
        sums = self._sums()
        first = self._turn(0, *self._dropped(0, sums))
        shares: list[Floats] = []
        likely = self._likely(first, shares)
        again = sums + likely @ self.parameters["arc.again"]
        second = self._turn(1, *self._dropped(1, again))
        wanted = [_wanted(target, len(table)) for target, table in zip(targets, first.tables, strict=True)]
        share = np.float32(1 / sum(len(table) - 1 for table in wanted))
        d_tables = [
            self._tree_error(table + more, one) * share
            for table, more, one in zip(first.tables, second.tables, wanted, strict=True)
        ]
        d_rows = np.zeros_like(rows)
        self._learn_labels(targets, share, d_rows, rng)
        d_again: Floats = self._back(1, second, d_tables) * (self.masks[1] * (again > 0))
        self.gradients["arc.again"][...] = likely.T @ d_again
        d_likely: Floats = d_again @ self.parameters["arc.again"].T
        d_first = self._likely_back(first, shares, d_likely, d_tables)
        for d_table, chances, one in zip(d_tables, shares, wanted, strict=True):
            np.add(d_table, (FIRST_SHARE * share) * (chances - one), out=d_table)
        d_sums = self._back(0, first, d_tables)
        d_sums += d_first
        d_sums *= self.masks[0] * (sums > 0)
        d_sums += d_again
        self.gradients["arc.bias"][...] = d_sums.sum(0)
        d_rows[:, : 2 * WIDTH] = d_sums
        return d_rows

    def _dropped(self, turn: int, sums: Floats) -> tuple[Floats, Floats]:
        hidden = np.maximum(sums, 0) * self.masks[turn]
        return np.ascontiguousarray(hidden[:, :WIDTH]), np.ascontiguousarray(hidden[:, WIDTH:])

    def _tree_error(self, scores: Floats, wanted: Floats) -> Floats:
        """Return the gradient of -log of a tree's probability: that of arcs as it is, less what it should be."""
        if not np.isfinite(scores).all():
            raise ModelError("weights have grown beyond all bounds; settings that keep them small help: a lower rate")
        chances = np.empty_like(scores)
        self.sums.marginals_into(scores, chances)
        self.loss += float((wanted - np.minimum(chances, wanted)).sum())
        self.n_decisions += len(wanted) - 1
        return chances - wanted

    def _back(self, turn: int, made: Turn, d_tables: Sequence[Floats]) -> Floats:
        """Write the gradients of one turn's parameters; return that of the vectors of nodes, both side by side."""
        p, gradients = self.parameters, self.gradients
        nodes = len(made.words)
        d_words = np.empty((nodes, WIDTH), np.float32)
        d_crossed = np.empty((nodes, WIDTH), np.float32)
        d_word_kinds, d_head_kinds = np.zeros((2, nodes, N_KINDS), np.float32)
        d_kinds = np.zeros(N_KINDS, np.float32)
        for (begin, end), d_table in zip(self.bounds, d_tables, strict=True):
            d_crossed[begin:end] = d_table @ made.words[begin:end]
            d_words[begin:end] = d_table.T @ made.crossed[begin:end]
            add_kinds_back(d_table, d_kinds, d_word_kinds[begin:end], d_head_kinds[begin:end])
        gradients["arc.kinds"][turn] = d_kinds
        gradients["arc.kind_words"][turn] = d_word_kinds.T @ made.words
        gradients["arc.kind_heads"][turn] = d_head_kinds.T @ made.heads
        gradients["arc.heads"][turn] = gradients["arc.kind_heads"][turn].sum(0)
        gradients["arc.pairs"][turn] = made.heads.T @ d_crossed
        d_words += d_word_kinds @ p["arc.kind_words"][turn]
        d_heads = d_crossed @ p["arc.pairs"][turn].T
        d_heads += d_head_kinds @ (p["arc.kind_heads"][turn] + p["arc.heads"][turn])
        return np.concatenate([d_words, d_heads], axis=1)

    def _likely_back(
        self, first: Turn, shares: Sequence[Floats], d_likely: Floats, d_tables: Sequence[Floats]
    ) -> Floats:
        """Add to the gradients of tables what comes through the first probabilities; return that of vectors."""
        d_hidden = np.empty_like(d_likely)
        for (begin, end), chances, d_table in zip(self.bounds, shares, d_tables, strict=True):
            words, heads = first.words[begin:end], first.heads[begin:end]
            d_head, d_dependents = d_likely[begin:end, :WIDTH], d_likely[begin:end, WIDTH:]
            d_hidden[begin:end, :WIDTH] = chances.T @ d_dependents
            d_hidden[begin:end, WIDTH:] = chances @ d_head
            d_chances = heads @ d_head.T
            d_chances += d_dependents @ words.T
            head_shares_back(chances, d_chances, d_table)
        return d_hidden

    def _learn_labels(
        self, targets: Sequence[ArcTarget], share: np.float32, d_rows: Floats, rng: np.random.Generator
    ) -> None:
        """Write the gradients of the parameters of labels, and add those of the rows."""
        p, gradients = self.parameters, self.gradients
        heads = np.concatenate([np.asarray(target.heads[1:], np.int32) for target in targets])
        words = np.concatenate([np.arange(1, end - begin, dtype=np.int32) for begin, end in self.bounds])
        sizes = [end - begin - 1 for begin, end in self.bounds]
        begins = np.repeat(np.array([begin for begin, _ in self.bounds], np.int32), sizes)
        wanted = np.concatenate([_wanted_labels(target, len(p["arc.label_out"])) for target in targets])
        asked = wanted.any(1)
        if self.root_label >= 0:
            asked &= heads > 0
        heads, words, begins, wanted = heads[asked], words[asked], begins[asked], wanted[asked]
        hidden, kinds = self._label_hidden(begins, heads, words)
        mask = dropout_mask(rng, hidden.shape, self.dropout)
        dropped = hidden * mask
        errors = self._label_scores(dropped, heads)
        softmax_rows(errors)
        self.loss += float((wanted - np.minimum(errors, wanted)).sum())
        self.n_decisions += len(wanted)
        errors -= wanted
        errors *= share
        gradients["arc.label_weight"][...] = dropped.T @ errors
        gradients["arc.label_out"][...] = errors.sum(0)
        d_hidden = (errors @ p["arc.label_weight"].T) * (mask * (hidden > 0))
        gradients["arc.label_bias"][...] = d_hidden.sum(0)
        gradients["arc.label_kinds"].fill(0)
        np.add.at(gradients["arc.label_kinds"], kinds, d_hidden)
        d_rows[words + begins, 2 * WIDTH : 2 * WIDTH + LABEL_WIDTH] = d_hidden  # every word has one head
        np.add.at(d_rows[:, 2 * WIDTH + LABEL_WIDTH :], heads + begins, d_hidden)


def _wanted(target: ArcTarget, size: int) -> Floats:
    """Return how probable each arc of a sentence should be."""
    if target.chances is not None:
        return target.chances.astype(np.float32, copy=False)
    wanted = np.zeros((size, size), np.float32)
    wanted[target.heads[1:], np.arange(1, size)] = 1
    return wanted


def _wanted_labels(target: ArcTarget, n_labels: int) -> Floats:
    """Return how probable each label of each word should be; nothing where the label is not known."""
    if target.label_chances is not None:
        return target.label_chances.astype(np.float32, copy=False)
    labels = np.asarray(target.labels[1:])
    wanted = np.zeros((len(labels), n_labels), np.float32)
    known = np.flatnonzero(labels >= 0)
    wanted[known, labels[known]] = 1
    return wanted
