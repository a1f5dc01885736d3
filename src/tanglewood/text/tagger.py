"""The tagger: UPOS, XPOS, FEATS and lemma of every word, from the forms of the sentence alone.

The encoder is that of the network parser; on top of it every column has its classes, lemmas as rules (see lemmas.py).
Of the combinations of tags in the training data the likeliest is chosen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanglewood.checks import FIELD, Layout, Shape, check_arrays, check_settings
from tanglewood.errors import ConfigError, ModelError
from tanglewood.ml.adam import Adam, falling, follow
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.contextual import Contextual
from tanglewood.ml.encoder import (
    EMBED,
    GOLD_FROM,
    OUTPUT,
    Encoder,
    Floats,
    Ints,
    Rng,
    Shapes,
    batch_for,
    glorot,
    new_encoder,
    number_words,
    packed,
    packed_arrays,
    random_batches,
    rounded,
    sizes_in,
    unknown_chances,
    unpacked,
)
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.knowledge import Knowledge
from tanglewood.ml.lexicon import Lexicon, taken_out
from tanglewood.ml.losses import cross_entropy, one_hot, softmax
from tanglewood.ml.products import linear
from tanglewood.ml.vocabulary import Numbers, Vocabulary
from tanglewood.ml.words import Word, untagged
from tanglewood.text.lemmas import apply_rule, is_rule, lemma_rule, most_frequent_lemmas
from tanglewood.text.opinions import opinions
from tanglewood.text.tag_sequences import Change, cheapest
from tanglewood.treebank.sentence import FEATS, LEMMA, UPOS, XPOS, Sentence
from tanglewood.treebank.tag_candidates import TagCandidate

COLUMNS = ("upos", "xpos", "feats", "rule")
SETTINGS: Shape = {
    "vocabulary": dict,
    "lexicon?": (str, dict),
    "contextual?": dict,
    "classes": {column: [FIELD] for column in COLUMNS},
    "lemmas": {str: FIELD},
}
# What the tagger embeds of a form: names of ml/word_features.py, and the widths of their vectors.
EMBEDDED = {"lower": 64, "form": 32, "short_shape": 16, "last": 16, "pieces": 48, "affixes": 32}
LEAST = {"lower": 2, "form": 2, "pieces": 3, "affixes": 2}  # fewest occurrences of what is kept
BIAS = "output.bias"
SIZES = (128, 64)  # of the vectors of words, and of the outputs of LSTMs
LEAST_RULE = 2  # fewest occurrences of a rule for lemmas that is kept
GOLD_SHARE = np.float32(0.5)  # what the treebank counts beside teachers
MOST_CANDIDATES, MOST_BEHIND = 5, 9.0  # candidates for the tag of a word, and how far they may be behind the best


class Tags(NamedTuple):
    """What the tagger says about a word; ``choices`` are the candidates for one column, if asked for."""

    lemma: str
    upos: str
    xpos: str
    feats: str
    choices: Sequence[TagCandidate] = ()


@dataclass(frozen=True, slots=True)
class TaggerOptions:
    """How the tagger is trained."""

    epochs: int = 0  # 0: 20 for a small treebank, up to 40 for one of few words, fewer for a large one
    most_epochs: int = 0  # at most as many as this, where they are chosen; 0: no limit
    layers: int = 2  # of LSTMs
    batch_words: int = 0  # 0: 100 for a small treebank, more for a large one
    rate: float = 2e-3
    last_rate: float = 0.02  # share of the rate that is left at the end
    drop_input: float = 0.125
    drop_context: float = 0.2
    drop_form: float = 0.5  # a form seen n times is taken for unknown with probability 0.5 / (0.5 + n)
    drop_vectors: float = 0.05  # probability of taking a form that has a vector for one that has none

    def resolved(self, words: int) -> TaggerOptions:
        """Return the options, with those left open chosen for this many words of training data."""
        usual = max(10, min(20, 2_000_000 // max(words, 1)), min(40, 600_000 // max(words, 1)))
        return replace(
            self,
            epochs=self.epochs or min(usual, self.most_epochs or usual),
            batch_words=self.batch_words or batch_for(words),
        )


class Tagger:
    """Learnt parameters, the classes of each column, and the lemmas that were seen."""

    def __init__(
        self,
        vocabulary: Vocabulary,
        classes: Mapping[str, Sequence[str]],
        combinations: NDArray[np.int32],
        lemmas: Mapping[str, str],
        parameters: Mapping[str, Floats],
    ) -> None:
        self.vocabulary = vocabulary
        self.classes = classes
        self.combinations = combinations  # numbers of UPOS, XPOS and FEATS that were seen together: (m, 3)
        self.lemmas = lemmas  # by form and UPOS, a tab between them
        self.parameters = parameters

    @property
    def lexicon(self) -> Lexicon | None:
        """The vectors of forms that came from elsewhere, if there are any."""
        return self.vocabulary.lexicon

    def worker(self, *, reproducible: bool = False) -> TagWorker:
        """Return a worker for one thread; if ``reproducible``, with the same tags on every machine."""
        return TagWorker(self, reproducible=reproducible)

    def arrays(self) -> dict[str, Any]:
        """Return the parameters, with embeddings packed, the lexicon's vectors and the combinations."""
        lexicon = self.vocabulary.lexicon
        known = {} if lexicon is None else lexicon.arrays()
        return {**packed(self.parameters), **known, "combinations": self.combinations}

    def settings(self) -> dict[str, Any]:
        """Return everything else, as plain data."""
        lexicon, contextual = self.vocabulary.lexicon, self.vocabulary.contextual
        return {
            "vocabulary": self.vocabulary.settings(),
            **({} if lexicon is None else {"lexicon": lexicon.settings()}),
            **({} if contextual is None else {"contextual": contextual.settings()}),
            "classes": {column: list(names) for column, names in self.classes.items()},
            "lemmas": dict(self.lemmas),
        }

    @classmethod
    def load(
        cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any], shared: Lexicon | None = None
    ) -> Tagger:
        """Rebuild the tagger, and check that everything has the right size; ``shared`` is the parser's lexicon."""
        try:
            return cls._load(arrays, settings, shared)
        except ModelError as error:
            raise ModelError(f"the tagger's part: {error}") from None

    @classmethod
    def _load(cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any], shared: Lexicon | None) -> Tagger:
        check_settings(settings, SETTINGS)
        lexicon, arrays = taken_out(arrays, settings, shared)
        contextual = Contextual.load(settings["contextual"]) if "contextual" in settings else None
        vocabulary = Vocabulary.load(settings["vocabulary"], EMBEDDED, lexicon=lexicon, contextual=contextual)
        classes = {column: settings["classes"][column] for column in COLUMNS}
        if not all(classes.values()) or not all(map(is_rule, classes["rule"])):
            raise ModelError("every column should have classes, those of lemmas being rules")
        wanted = new_parameters(vocabulary, classes, sizes_in(arrays), Shapes())
        check_arrays(arrays, packed_arrays(wanted) | {"combinations": Layout("i", ("combinations", 3), least=0)})
        parameters = unpacked(arrays)
        combinations = parameters.pop("combinations")
        if len(combinations) == 0 or (combinations >= [len(classes[column]) for column in COLUMNS[:3]]).any():
            raise ModelError("the combinations are not of its classes")
        return cls(vocabulary, classes, combinations, settings["lemmas"], parameters)


def new_parameters(
    vocabulary: Vocabulary,
    classes: Mapping[str, Sequence[str]],
    sizes: tuple[int, int, int],
    rng: Rng,
) -> dict[str, Floats]:
    """Return freshly initialized parameters; the sizes are those of words, LSTMs, and the number of layers."""
    parameters = new_encoder(EMBEDDED, vocabulary, sizes, rng)
    n_classes = sum(map(len, classes.values()))
    parameters[OUTPUT] = glorot(rng, sizes[0], n_classes)
    parameters[BIAS] = np.zeros(n_classes, np.float32)
    return parameters


def _sections(classes: Mapping[str, Sequence[str]]) -> list[slice]:
    """Return where the classes of each column are among all classes."""
    ends = np.cumsum([len(classes[column]) for column in COLUMNS]).tolist()
    return [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]


class TagWorker:
    """Tags sentences, in one thread."""

    def __init__(self, tagger: Tagger, *, reproducible: bool = False) -> None:
        self._tagger = tagger
        self._kernels = kernels_for(reproducible=reproducible)
        self._contexts = Contexts(tagger.vocabulary, tagger.parameters, self._kernels)
        self._sections = _sections(tagger.classes)
        self._known = {tuple(row) for row in tagger.combinations.tolist()}

    def tag(self, sentences: Sequence[Sequence[str]], tag_column: str = "") -> list[list[Tags]]:
        """Return the tags of all forms of some sentences, with the candidates for a column if one is named."""
        if not sentences:
            return []
        upos, xpos, feats, rules = (self._tagger.classes[column] for column in COLUMNS)
        scores, begins = self._scores(sentences)
        best = self._choose(scores)
        chosen = best.tolist()
        choices: Sequence[Sequence[TagCandidate]] = [()] * len(best)
        if tag_column:
            choices = list(self._candidates(scores, best, tag_column))
        return [
            [
                Tags(self._lemma(form, upos[u], rules[r]), upos[u], xpos[x], feats[f], choices[place])
                for place, (form, (u, x, f, r)) in enumerate(zip(forms, chosen[begin + 1 :], strict=False), begin + 1)
            ]
            for forms, begin in zip(sentences, begins, strict=False)
        ]

    def best_sequences(self, sentences: Sequence[Sequence[str]], n: int) -> list[list[tuple[float, list[Tags]]]]:
        """Return for each sentence up to n sequences of tags, and how far each is behind the first, which `tag` gives.

        Words that change have another UPOS, and whatever else was seen with it and is likeliest.
        """
        if not sentences:
            return []
        scores, begins = self._scores(sentences)
        own = self._choose(scores)
        upos = scores[:, self._sections[0]]
        behind = np.maximum(np.take_along_axis(upos, own[:, :1], 1) - upos, 0)
        np.put_along_axis(behind, own[:, :1], np.inf, 1)
        behind[:, np.setdiff1d(np.arange(upos.shape[1]), self._tagger.combinations[:, 0])] = np.inf
        found: list[list[tuple[float, list[Tags]]]] = []
        for forms, begin in zip(sentences, begins, strict=False):
            nodes = slice(begin + 1, begin + 1 + len(forms))
            first = list(map(self._named, forms, own[nodes].tolist()))
            words, numbers = np.nonzero(behind[nodes] <= MOST_BEHIND)
            gaps = behind[nodes][words, numbers]
            choices = cheapest(list(map(Change, gaps.tolist(), words.tolist(), numbers.tolist())), n)
            found.append([(cost, first[:]) for cost, _ in choices])
            for (_, tags), (_, changes) in zip(found[-1], choices, strict=True):
                for _, word, number in changes:
                    row = self._likeliest(scores[begin + 1 + word], number)
                    tags[word] = self._named(forms[word], [*row, own[begin + 1 + word, 3]])
        return found

    def chances(self, sentences: Sequence[Sequence[str]]) -> Floats:
        """Return the probabilities of all classes for every word; those of each column add up to 1."""
        scores, begins = self._scores(sentences)
        scores = np.delete(scores, begins[:-1], axis=0)
        for section in self._sections:
            softmax(scores[:, section])
        return scores

    def _scores(self, sentences: Sequence[Sequence[str]]) -> tuple[Floats, list[int]]:
        """Return the scores of all classes for every node, and where sentences begin and the last one ends."""
        contexts, begins = self._contexts.of([list(map(untagged, forms)) for forms in sentences])
        parameters = self._tagger.parameters
        return linear(self._kernels, contexts, parameters[OUTPUT], parameters[BIAS]), begins

    def _named(self, form: str, row: Sequence[int]) -> Tags:
        """Return the tags of a word by the numbers of their classes."""
        upos, xpos, feats, rule = (
            self._tagger.classes[column][number] for column, number in zip(COLUMNS, row, strict=True)
        )
        return Tags(self._lemma(form, upos, rule), upos, xpos, feats)

    def _likeliest(self, scores: Floats, upos: int) -> list[int]:
        """Return the likeliest combination with a UPOS for a node."""
        together = self._tagger.combinations
        some = together[together[:, 0] == upos]
        _, xpos, feats = (scores[section] for section in self._sections[:3])
        found: list[int] = some[np.argmax(xpos[some[:, 1]] + feats[some[:, 2]])].tolist()
        return found

    def _candidates(self, scores: Floats, chosen: Ints, column: str) -> Iterator[list[TagCandidate]]:
        """Yield the likeliest classes of a column for every node, the one chosen first."""
        place = COLUMNS.index(column)
        names = self._tagger.classes[column]
        own = scores[:, self._sections[place]]
        behind = own.max(1, keepdims=True) - own
        behind[np.arange(len(behind)), chosen[:, place]] = -1
        best = np.argsort(behind, axis=1, kind="stable")[:, :MOST_CANDIDATES]
        for numbers, gaps in zip(best.tolist(), np.take_along_axis(behind, best, 1).tolist(), strict=True):
            pairs = zip(numbers, gaps, strict=True)
            yield [(names[number], max(gap, 0.0)) for number, gap in pairs if gap <= MOST_BEHIND]

    def _choose(self, scores: Floats) -> Ints:
        """Return the best class of each column; of UPOS, XPOS and FEATS the best that were seen together."""
        best = np.stack([scores[:, section].argmax(1) for section in self._sections], axis=1).astype(np.int32)
        odd = [node for node, row in enumerate(best[:, :3].tolist()) if tuple(row) not in self._known]
        if odd:
            together = self._tagger.combinations
            # Scores are log-probabilities but for a constant of each node and column, which changes no maximum.
            upos, xpos, feats = (scores[odd, section] for section in self._sections[:3])
            sums = upos[:, together[:, 0]] + xpos[:, together[:, 1]] + feats[:, together[:, 2]]
            best[odd, :3] = together[np.argmax(sums, axis=1)]
        return best

    def _lemma(self, form: str, upos: str, rule: str) -> str:
        seen = self._tagger.lemmas.get(f"{form}\t{upos}")
        return apply_rule(rule, form) if seen is None else seen


class TaggerLearner:
    """Learns a tagger, one epoch at a time: from the treebank and, if there are teachers, from what they say.

    Teachers also know something about ``unlabelled`` sentences, given by their forms; ``silver`` ones have tags and
    lemmas that another tagger gave them. Both are left out at the end.
    """

    def __init__(
        self,
        sentences: Sequence[Sentence],
        options: TaggerOptions,
        seed: int,
        knowledge: Knowledge | None = None,
        teachers: Sequence[Tagger] = (),
        unlabelled: Sequence[Sequence[str]] = (),
        silver: Sequence[Sentence] = (),
    ) -> None:
        if not sentences:
            raise ConfigError("there is no sentence to learn tags from")
        self.options = options.resolved(sum(map(len, sentences)))
        self._rng = np.random.default_rng(seed)
        tagged = [*sentences, *silver]
        self._words = [list(map(untagged, sentence.forms)) for sentence in tagged]
        self._words += (list(map(untagged, forms)) for forms in unlabelled)
        words = chain.from_iterable(self._words[: len(tagged)])
        self.vocabulary = Vocabulary.of(words, EMBEDDED, LEAST, knowledge)
        rows = list(map(_rows, sentences))
        self.classes = {}
        for i, column in enumerate(COLUMNS):
            counts = Counter(row[i] for sentence in rows for row in sentence)
            least = LEAST_RULE if column == "rule" else 1
            self.classes[column] = [name for name, count in counts.most_common() if count >= least] or ["=/0//0/"]
        numbers = [{name: number for number, name in enumerate(names)} for names in self.classes.values()]
        self._targets = [_targets(sentence, numbers) for sentence in rows]
        self._n_gold = len(rows)
        together = Counter(tuple(row[:3]) for targets in self._targets for row in targets[1:].tolist())
        self.combinations = np.array([tags for tags, _ in together.most_common()], np.int32)
        self.lemmas = most_frequent_lemmas(sentences)
        for known, place in zip(numbers, (UPOS, XPOS, FEATS, LEMMA), strict=True):
            if all(value == "_" for sentence in silver for value in sentence.column(place)):
                known.clear()  # nobody has said that the words have no features, say
        self._targets += (_targets(_rows(sentence), numbers) for sentence in silver)
        heard = [*range(len(rows)), *range(len(tagged), len(self._words))]
        said = opinions(teachers, self.classes, [*(s.forms for s in sentences), *unlabelled])
        self._opinions = dict(zip(heard, said, strict=bool(teachers)))
        self._parameters = new_parameters(self.vocabulary, self.classes, (*SIZES, options.layers), self._rng)
        if knowledge is not None:
            knowledge.give_to(self._parameters, self.vocabulary)
        self._sparse = tuple(f"{EMBED}{feature}" for feature in self.vocabulary.numbers)
        self._gradients = {name: np.zeros_like(p) for name, p in self._parameters.items() if name not in self._sparse}
        self._adam = Adam(self._parameters)
        self._encoder = Encoder(self._parameters, self.vocabulary.numbers)
        self._sections = _sections(self.classes)
        self._unknown = unknown_chances(self.vocabulary.counts["lower"], options.drop_form)
        self._known: dict[Word, Numbers] = {}
        self._epochs = 0

    def epoch(self) -> float:
        """Go through the sentences once in random order; return the mean loss per word."""
        options = self.options
        gold_only = self._epochs >= GOLD_FROM * options.epochs
        lengths = [len(words) for words in (self._words[: self._n_gold] if gold_only else self._words)]
        batches = list(random_batches(lengths, options.batch_words, self._rng))
        loss = 0.0
        for number, batch in enumerate(batches):
            done = (self._epochs + number / len(batches)) / options.epochs
            self._adam.begin(falling(options.rate, options.last_rate, done))
            loss += self._learn(batch)
        self._epochs += 1
        return loss / sum(lengths)

    def _learn(self, places: Sequence[int]) -> float:
        options = self.options
        batch = number_words(self.vocabulary, [self._words[place] for place in places], self._known)
        forms = batch.single[:, 0]
        batch.single[self._rng.random(len(forms)) < self._unknown[forms], :2] = 0  # in lowercase and as written
        if self.vocabulary.lexicon is not None:
            self.vocabulary.lexicon.hide(batch.given, options.drop_vectors, self._rng)
        contexts = self._encoder.forward(batch, self._rng, options.drop_input, options.drop_context)
        scores = contexts @ self._parameters[OUTPUT] + self._parameters[BIAS]
        wanted = np.concatenate([self._wanted(place) for place in places])
        loss = sum(cross_entropy(scores[:, section], wanted[:, section]) for section in self._sections)
        scores /= np.float32(len(wanted) - len(places))
        self._gradients[BIAS][...] = scores.sum(0)
        d_contexts = self._encoder.output_back(OUTPUT, scores, self._gradients)
        follow(self._adam, self._encoder.backward(d_contexts, self._gradients), self._gradients)
        return loss

    def _wanted(self, place: int) -> Floats:
        """Return how probable all classes should be for the nodes of a sentence; nothing where that is not known.

        If there are teachers, what they say and what is in the treebank count alike.
        """
        opinion = self._opinions.get(place)
        said = None if opinion is None else opinion.table(len(self._words[place]), self._sections[-1].stop)
        if place >= len(self._targets):
            assert said is not None, "without teachers nothing is known about these sentences"
            return np.concatenate([np.zeros_like(said[:1]), said])
        targets = self._targets[place]
        gold = [one_hot(column, s.stop - s.start) for column, s in zip(targets.T, self._sections, strict=True)]
        if said is not None:
            for wanted, section in zip(gold, self._sections, strict=True):
                # Not all rules are known, and teachers that find nothing probable say nothing.
                known, heard = (rows.any(1, keepdims=True) for rows in (wanted[1:], said[:, section]))
                own = known * np.where(heard, GOLD_SHARE, np.float32(1))
                wanted[1:] = own * wanted[1:] + (1 - own) * said[:, section]
        return np.concatenate(gold, axis=1)

    def tagger(self) -> Tagger:
        """Return the averaged tagger as of now."""
        averaged = rounded(self._adam.average(self._sparse))
        return Tagger(self.vocabulary, self.classes, self.combinations, self.lemmas, averaged)


def _rows(sentence: Sentence) -> list[tuple[str, ...]]:
    """Return UPOS, XPOS, FEATS and the rule for the lemma of every word."""
    rules = map(lemma_rule, sentence.forms, sentence.lemmas)
    return list(zip(sentence.upos, sentence.xpos, sentence.feats, rules, strict=True))


def _targets(rows: Sequence[Sequence[str]], numbers: Sequence[Mapping[str, int]]) -> NDArray[np.int64]:
    """Return the numbers of the classes of nodes, -1 where there is none."""
    return np.array([[-1] * 4, *([n.get(v, -1) for n, v in zip(numbers, row, strict=True)] for row in rows)])


@dataclass(frozen=True, slots=True)
class TagScores:
    """Shares of words whose column is right, in percent; ``tags`` is for UPOS, XPOS and FEATS together."""

    upos: float
    xpos: float
    feats: float
    tags: float
    lemma: float


def tag_scores(gold: Sequence[Sentence], tagged: Sequence[Sequence[Tags]]) -> TagScores:
    """Compare tags with those of the treebank."""
    right = np.zeros(5)
    for sentence, found in zip(gold, tagged, strict=True):
        for *wanted, tags in zip(sentence.lemmas, sentence.upos, sentence.xpos, sentence.feats, found, strict=True):
            lemma, *rest = (one == other for one, other in zip(wanted, tags[:4], strict=True))
            right += [*rest, all(rest), lemma]
    return TagScores(*(100 * right / max(sum(map(len, gold)), 1)).tolist())


@dataclass(frozen=True, slots=True)
class TagProgress:
    """The state of learning after an epoch; the tagger is the best so far (the last, if there is no dev set)."""

    epoch: int
    epochs: int
    loss: float
    scores: TagScores | None
    tagger: Tagger


def train_tagger(
    train: Sequence[Sentence],
    dev: Sequence[Sentence],
    options: TaggerOptions,
    seed: int,
    knowledge: Knowledge | None = None,
    teachers: Sequence[Tagger] = (),
    unlabelled: Sequence[Sequence[str]] = (),
    silver: Sequence[Sentence] = (),
) -> Iterator[TagProgress]:
    """Learn epoch by epoch, and yield the progress after each; see `TaggerLearner`."""
    learner = TaggerLearner(train, options, seed, knowledge, teachers, unlabelled, silver)
    best: tuple[float, Tagger] | None = None
    for epoch in range(1, learner.options.epochs + 1):
        loss = learner.epoch()
        scores = None
        if dev or epoch == learner.options.epochs or best is None:
            tagger = learner.tagger()
            if dev:
                scores = tag_scores(dev, tagger.worker().tag([sentence.forms for sentence in dev]))
            value = scores.tags + scores.upos + scores.lemma if scores else 0.0
            if best is None or not scores or value > best[0]:
                best = (value, tagger)
        yield TagProgress(epoch, learner.options.epochs, loss, scores, best[1])
