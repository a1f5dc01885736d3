"""The compiled part of the arcs learner: scores of all arcs of a sentence, and learning from one sentence at a time.

The score of an arc is the sum of a score of its head and one of its dependent, both given the direction, and one of
both together; the score of the best label is included. So a tree's value is that of its best labelled tree. In a
second-order model, siblings have scores, too: one of the two dependents, and one of them and their head.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tanglewood.core.actions import Actions
from tanglewood.core.state import State
from tanglewood.decoders.base import Decoded, Decoder, score_table
from tanglewood.decoders.siblings import find_nearer, sibling_table
from tanglewood.learners.arcs.templates import ArcTemplates, by_head, by_side
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.templates import ARC, SIBLING
from tanglewood.ml.linear_weights import LearningWeights, Weights
from tanglewood.ml.word_table import WordTable

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython


class ArcFeatures:
    """The features of arcs in three sets: of the head, of the dependent and of both."""

    def __init__(self, templates: Sequence[str]) -> None:
        heads, words, pairs = by_side(tuple(templates))
        self.heads = FeatureSet(heads, ends=ARC)
        self.words = FeatureSet(words, ends=ARC)
        self.pairs = FeatureSet(pairs, ends=ARC)
        self.most_keys = max(self.heads.most_keys, self.words.most_keys, self.pairs.most_keys)

    def use(self, table: WordTable, offset: int) -> None:
        """Switch to the sentence whose node 0 is at this place in the table."""
        self.heads.use(table, offset)
        self.words.use(table, offset)
        self.pairs.use(table, offset)

    def _of_head(self, s: State, head: int, to_right: int) -> int:
        """Look up the features that all arcs of a head in one direction share."""
        return self.heads._extract(s, head, head + 1 if to_right else head - 1, 0)

    def _of_word(self, s: State, word: int, to_right: int) -> int:
        return self.words._extract(s, word - 1 if to_right else word + 1, word, 0)


class SiblingFeatures:
    """The features of siblings in two sets: of the two dependents alone, and of both and their head."""

    def __init__(self, templates: Sequence[str]) -> None:
        pairs, triples = by_head(tuple(templates))
        self.pairs = FeatureSet(pairs, ends=SIBLING)
        self.triples = FeatureSet(triples, ends=SIBLING)
        self.most_keys = max(self.pairs.most_keys, self.triples.most_keys)

    def use(self, table: WordTable, offset: int) -> None:
        """Switch to the sentence whose node 0 is at this place in the table."""
        self.pairs.use(table, offset)
        self.triples.use(table, offset)

    def _of_pair(self, s: State, nearer: int, word: int) -> int:
        """Look up the features of two neighbouring dependents, whatever their head."""
        self.pairs.sibling = nearer
        return self.pairs._extract(s, -1, word, 0)

    def _of_triple(self, s: State, head: int, nearer: int, word: int) -> int:
        """Look up the features of two neighbouring dependents and their head; if nearer is the head, of one."""
        self.triples.sibling = -1 if nearer == head else nearer
        return self.triples._extract(s, head, word, 0)


class ArcScorer:
    """Scores the arcs of one sentence at a time; subclasses have the weights."""

    def __init__(self, templates: ArcTemplates, actions: Actions) -> None:
        self.arcs = ArcFeatures(templates.arcs)
        self.labels = ArcFeatures(templates.labels)
        self.siblings = SiblingFeatures(templates.siblings)
        self.has_siblings = len(templates.siblings) > 0
        self.actions = actions
        self.n_labels = max(actions.n_arc_labels, 1)
        self.state = State(0)
        self.arc_score = array("f", [0.0])
        self.label_scores = array("f", bytes(4 * self.n_labels))
        self.head_scores = self.word_scores = self.head_labels = self.word_labels = array("f", [0.0])
        self.is_learning = False
        self.gold_heads = self.gold_labels = array("i", [0])
        self.head_cost = self.label_cost = self.gold_value = 0.0

    def use(self, table: WordTable, offset: int, state: State) -> None:
        """Switch to the sentence whose node 0 is at this place; the state may have a stacked parser's tree."""
        self.arcs.use(table, offset)
        self.labels.use(table, offset)
        self.siblings.use(table, offset)
        self.state = state
        nodes = 2 * (state.n + 1)
        self.head_scores = array("f", bytes(4 * nodes))
        self.word_scores = array("f", bytes(4 * nodes))
        self.head_labels = array("f", bytes(4 * nodes * self.n_labels))
        self.word_labels = array("f", bytes(4 * nodes * self.n_labels))

    def _weigh_arcs(self, features: FeatureSet, count: int, out: array[float]) -> None:
        """Write the score that the features of an arc give it."""

    def _weigh_labels(self, features: FeatureSet, count: int, out: array[float]) -> None:
        """Write the score that the features of an arc give every label."""

    def _weigh_ends(self) -> None:
        """Score each node as the head and as the dependent of arcs."""
        for node in range(self.state.n + 1):
            for to_right in range(2):
                place = 2 * node + to_right
                self._weigh_arcs(self.arcs.heads, self.arcs._of_head(self.state, node, to_right), self.arc_score)
                self.head_scores[place] = self.arc_score[0]
                self._weigh_arcs(self.arcs.words, self.arcs._of_word(self.state, node, to_right), self.arc_score)
                self.word_scores[place] = self.arc_score[0]
                place *= self.n_labels
                self._weigh_labels(
                    self.labels.heads, self.labels._of_head(self.state, node, to_right), self.label_scores
                )
                for label in range(self.n_labels):
                    self.head_labels[place + label] = self.label_scores[label]
                self._weigh_labels(
                    self.labels.words, self.labels._of_word(self.state, node, to_right), self.label_scores
                )
                for label in range(self.n_labels):
                    self.word_labels[place + label] = self.label_scores[label]

    def _best_label(self, head: int, word: int) -> int:
        """Find the best label of an arc; its score, cost included, is in ``label_scores``."""
        to_right = 1 if word > head else 0
        first = (2 * head + to_right) * self.n_labels
        second = (2 * word + to_right) * self.n_labels
        self._weigh_labels(self.labels.pairs, self.labels.pairs._extract(self.state, head, word, 0), self.label_scores)
        best = -1
        for label in range(self.n_labels):
            score = self.label_scores[label]
            score += self.head_labels[first + label]  # in steps, so that it is done in double precision
            score += self.word_labels[second + label]
            if self.is_learning:
                if label != self.gold_labels[word]:
                    score += self.label_cost
                elif head == self.gold_heads[word]:
                    self.gold_value += score
            self.label_scores[label] = score
            if self.actions._may_label(head, label) and (best < 0 or score > self.label_scores[best]):
                best = label
        return best

    def _fill(self, scores: memoryview[float], labels: memoryview[int]) -> None:
        self._weigh_ends()
        self.gold_value = 0
        for head in range(self.state.n + 1):
            for word in range(1, self.state.n + 1):
                if head == word:
                    continue
                to_right = 1 if word > head else 0
                self._weigh_arcs(self.arcs.pairs, self.arcs.pairs._extract(self.state, head, word, 0), self.arc_score)
                score = self.arc_score[0]
                score += self.head_scores[2 * head + to_right]
                score += self.word_scores[2 * word + to_right]
                if self.is_learning:
                    if head == self.gold_heads[word]:
                        self.gold_value += score
                    else:
                        score += self.head_cost
                settled = self.actions._settled_label(head)
                if settled >= 0:
                    labels[head, word] = settled
                elif self.n_labels > 1 or self.actions.root_label < 0:
                    label = self._best_label(head, word)
                    labels[head, word] = label
                    score += self.label_scores[label]
                scores[head, word] = score

    def fill(self, scores: memoryview[float], labels: memoryview[int]) -> None:
        """Write the score of every arc of the sentence and its best label."""
        with cython.nogil:
            self._fill(scores, labels)

    def _fill_siblings(self, siblings: memoryview[float]) -> None:
        last = self.state.n
        for nearer in range(last + 1):
            for word in range(1, last + 1):
                if nearer == word:
                    continue
                score = 0.0
                if nearer > 0:
                    count = self.siblings._of_pair(self.state, nearer, word)
                    self._weigh_arcs(self.siblings.pairs, count, self.arc_score)
                    score = self.arc_score[0]
                first = 0 if nearer < word else nearer + 1
                end = nearer if nearer < word else last + 1
                for head in range(first, end):
                    self._weigh_triple(siblings, head, nearer, word, score)
                self._weigh_triple(siblings, nearer, nearer, word, 0.0)

    def _weigh_triple(self, siblings: memoryview[float], head: int, nearer: int, word: int, score: float) -> None:
        """Write the score of siblings: that of the two alone, which is given, and that of both and their head."""
        count = self.siblings._of_triple(self.state, head, nearer, word)
        self._weigh_arcs(self.siblings.triples, count, self.arc_score)
        siblings[head, nearer, word] = score + self.arc_score[0]

    def fill_siblings(self, siblings: memoryview[float]) -> None:
        """Write the scores of all siblings that there can be (decoders/siblings.py)."""
        with cython.nogil:
            self._fill_siblings(siblings)


class ArcCore(ArcScorer):
    """Scores with learnt weights."""

    def __init__(self, templates: ArcTemplates, actions: Actions, arc_weights: Weights, label_weights: Weights) -> None:
        ArcScorer.__init__(self, templates, actions)
        self.arc_weights = arc_weights
        self.label_weights = label_weights
        self.sums = array("i", bytes(4 * label_weights.n_classes + 8))
        most_keys = max(self.arcs.most_keys, self.labels.most_keys, self.siblings.most_keys)
        self.places = array("i", bytes(4 * most_keys + 4))

    def _weigh_arcs(self, features: FeatureSet, count: int, out: array[float]) -> None:
        self.arc_weights._score(features.keys, count, self.places, self.sums, out)

    def _weigh_labels(self, features: FeatureSet, count: int, out: array[float]) -> None:
        self.label_weights._score(features.keys, count, self.places, self.sums, out)


class ArcTrainer(ArcScorer):
    """Moves the weights so that the gold tree leads any other by as much as that one gets wrong (1-best MIRA)."""

    def __init__(
        self,
        templates: ArcTemplates,
        actions: Actions,
        *,
        head_cost: float,
        label_cost: float,
        most: float,
    ) -> None:
        ArcScorer.__init__(self, templates, actions)
        self.learnt_arcs = LearningWeights(1)
        self.learnt_labels = LearningWeights(self.n_labels)
        self.is_learning = True
        self.head_cost = head_cost
        self.label_cost = label_cost
        self.most = most
        self.time = 1.0
        self.loss = 0.0
        self.heads = array("i", [0])
        self.gold_nearer = self.nearer = array("i", [0])
        self.by_siblings = False

    def _weigh_arcs(self, features: FeatureSet, count: int, out: array[float]) -> None:
        self.learnt_arcs._score(features.keys, count, out)

    def _weigh_labels(self, features: FeatureSet, count: int, out: array[float]) -> None:
        self.learnt_labels._score(features.keys, count, out)

    def _change_arc(self, head: int, word: int, other: int, step: float) -> int:
        """Change the weights of an arc that should replace, or be replaced by, one from another head.

        Return how many features the two do not share; a step of 0 only counts them.
        """
        to_right = 1 if word > head else 0
        count = self.arcs._of_head(self.state, head, to_right)
        total = count
        if step != 0:
            self.learnt_arcs._change(self.arcs.heads.keys, count, 0, step, self.time)
        if (word > other) != (word > head):
            count = self.arcs._of_word(self.state, word, to_right)
            total += count
            if step != 0:
                self.learnt_arcs._change(self.arcs.words.keys, count, 0, step, self.time)
        count = self.arcs.pairs._extract(self.state, head, word, 0)
        if step != 0:
            self.learnt_arcs._change(self.arcs.pairs.keys, count, 0, step, self.time)
        return total + count

    def _change_label(self, head: int, word: int, label: int, step: float) -> int:
        """Likewise for the label of an arc."""
        if self.actions._settled_label(head) >= 0 or self.n_labels == 1:
            return 0
        to_right = 1 if word > head else 0
        heads = self.labels._of_head(self.state, head, to_right)
        words = self.labels._of_word(self.state, word, to_right)
        pairs = self.labels.pairs._extract(self.state, head, word, 0)
        if step != 0:
            self.learnt_labels._change(self.labels.heads.keys, heads, label, step, self.time)
            self.learnt_labels._change(self.labels.words.keys, words, label, step, self.time)
            self.learnt_labels._change(self.labels.pairs.keys, pairs, label, step, self.time)
        return heads + words + pairs

    def _change_siblings(self, head: int, nearer: int, word: int, other: int, step: float) -> int:
        """Likewise for siblings, which should replace, or be replaced by, a word with another one before it."""
        count = self.siblings._of_triple(self.state, head, nearer, word)
        total = count
        if step != 0:
            self.learnt_arcs._change(self.siblings.triples.keys, count, 0, step, self.time)
        if nearer not in (head, other):
            count = self.siblings._of_pair(self.state, nearer, word)
            total += count
            if step != 0:
                self.learnt_arcs._change(self.siblings.pairs.keys, count, 0, step, self.time)
        return total

    def _change_weights(self, labels: memoryview[int], step: float) -> int:
        """Make the gold tree better and the tree found worse, where they differ; return how many features differ."""
        total = 0
        for word in range(1, self.state.n + 1):
            gold = self.gold_heads[word]
            head = self.heads[word]
            if head != gold:
                total += self._change_arc(gold, word, head, step)
                total += self._change_arc(head, word, gold, -step)
            if head != gold or labels[head, word] != self.gold_labels[word]:
                total += self._change_label(gold, word, self.gold_labels[word], step)
                total += self._change_label(head, word, labels[head, word], -step)
            if self.by_siblings and (head != gold or self.nearer[word] != self.gold_nearer[word]):
                # The pair of dependents is shared if the word before is the same and is not the head of one of them.
                before = self.nearer[word] if self.nearer[word] != head else -1
                total += self._change_siblings(gold, self.gold_nearer[word], word, before, step)
                before = self.gold_nearer[word] if self.gold_nearer[word] != gold else -1
                total += self._change_siblings(head, self.nearer[word], word, before, -step)
        return total

    def update(self, value: float, labels: memoryview[int]) -> None:
        """Learn from the best tree found, which has this value, costs included."""
        with cython.nogil:
            lag = value - self.gold_value
            if lag > 0:
                self.loss += lag
                count = self._change_weights(labels, 0)
                if count > 0:
                    step = lag / count
                    self._change_weights(labels, self.most if step > self.most else step)

    def learn(self, heads: Sequence[int], labels: Sequence[int], decoder: Decoder) -> None:
        """Learn from the current sentence; gold heads and labels are indexed by node."""
        n = self.state.n
        self.gold_heads = array("i", heads)
        self.gold_labels = array("i", labels)
        self.learnt_arcs.reserve()
        self.learnt_labels.reserve()
        scores = score_table(n)
        best_labels = label_table(n)
        self.fill(scores, best_labels)
        self.by_siblings = self.has_siblings and decoder.fits(n)
        decoded = self._decoded_by_siblings(scores, decoder) if self.by_siblings else decoder.best(scores)
        self.time += 1
        if decoded.found:
            self.heads = decoded.heads
            if self.by_siblings:
                self.nearer = array("i", bytes(8 * (n + 1)))
                find_nearer(self.heads, self.nearer)
            self.update(decoded.value, best_labels)

    def _decoded_by_siblings(self, scores: memoryview[float], decoder: Decoder) -> Decoded:
        """Decode with scores of siblings; the value of the gold tree then has those of its own."""
        siblings = sibling_table(self.state.n)
        self.fill_siblings(siblings)
        self.gold_nearer = array("i", bytes(8 * (self.state.n + 1)))
        find_nearer(self.gold_heads, self.gold_nearer)
        for word in range(1, self.state.n + 1):
            self.gold_value += siblings[self.gold_heads[word], self.gold_nearer[word], word]
        return decoder.second_order_best(scores, siblings)


def label_table(n: int) -> memoryview[int]:
    """Return a table for the label numbers of all arcs among n words and 0."""
    return memoryview(array("i", [-1]) * (n + 1) ** 2).cast("B").cast("i", (n + 1, n + 1))
