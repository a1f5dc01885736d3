"""The second opinion on where sentences end: a small bidirectional LSTM over the tokens of a paragraph.

The linear classifier of the tokenizer sees a few tokens and knows them by heart. Where there is no punctuation mark
it takes the words before and after, so a network reads them: the encoder of the tagger, smaller, over windows of
tokens. What it learns from is the treebank's text and, so that there is enough without marks, sentences of it in other
orders, some without their last marks or their capitals. It learns UPOS too, which helps it to tell clauses.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tanglewood.checks import REAL, Shape, check_arrays, check_settings
from tanglewood.ml.adam import Adam, falling, follow
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.encoder import (
    OUTPUT,
    Encoder,
    Floats,
    Ints,
    Numbered,
    Rng,
    Shapes,
    Wanted,
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
from tanglewood.ml.losses import cross_entropy, one_hot
from tanglewood.ml.products import linear
from tanglewood.ml.vocabulary import Numbers, Vocabulary
from tanglewood.ml.words import Word, untagged
from tanglewood.text.tagger import BIAS

# What the network embeds of a token: names of ml/word_features.py, and the widths of their vectors.
EMBEDDED = {"lower": 48, "form": 24, "short_shape": 16, "last": 16, "affixes": 24}
LEAST = {"lower": 2, "form": 2, "affixes": 2}  # fewest occurrences of what is kept
SPARSE = tuple(f"embed.{feature}" for feature in EMBEDDED)
SIZES = (128, 64, 2)  # of the vectors of words, of the outputs of LSTMs, and the number of layers
EDGE = untagged("\u00b6")  # stands before and after a paragraph
WINDOW, MARGIN = 4, 10  # tokens that are decided together, and those that are seen to either side of them
ROOM = WINDOW + MARGIN  # how far the scores of a token look ahead
MOST = 0.6  # how much its opinion may add to the score of the linear classifier, or take away
MOST_LETTERS = 24  # of a token that are looked at
TOGETHER = 1000  # windows that are computed together, so that memory stays flat
SETTINGS: Shape = {"vocabulary": dict, "weight": REAL}


@dataclass(frozen=True, slots=True)
class BorderOptions:
    """How the network is trained."""

    epochs: int = 14
    batch_words: int = 300
    rate: float = 2e-3
    last_rate: float = 0.02
    drop_input: float = 0.25
    drop_context: float = 0.4
    drop_form: float = 0.5  # as in the tagger
    bare: float = 0.2  # share of sentences that lose their last marks
    small: float = 0.15  # share of sentences that lose the capital of their first word
    mixed: float = 1.5  # how much text of sentences in other orders there is for each text of the treebank
    tags: float = 0.3  # what UPOS counts


Paragraph = Sequence[Sequence[tuple[str, str]]]  # sentences of tokens and their UPOS


class Borders:
    """Learnt parameters; any number of threads may share them."""

    def __init__(self, vocabulary: Vocabulary, parameters: Mapping[str, Floats], weight: float) -> None:
        self.vocabulary = vocabulary
        self.parameters = parameters
        self.weight = weight  # of its scores beside those of the linear classifier
        self._idle: list[Contexts] = []

    def hints(self, forms: Sequence[str], ends: Sequence[int], doubtful: Sequence[int]) -> array[float]:
        """Return what is to be added to the linear score of each token, 0 in windows where none is doubtful.

        ``ends`` are the last tokens of paragraphs. The result is the same on every machine, and what is more than ROOM
        tokens away from a token changes nothing about it.
        """
        hints = np.zeros(len(forms) + 1, np.float32)  # one to spare, for a text without tokens
        if len(doubtful) > 0:
            try:
                contexts = self._idle.pop()
            except IndexError:
                contexts = Contexts(self.vocabulary, self.parameters, kernels_for(reproducible=True))
            windows = _windows(np.asarray(ends), np.asarray(doubtful))
            places = _places(contexts, forms, ends, windows)
            for start in range(0, len(windows[0]), TOGETHER):
                some = _Windows(*(column[start : start + TOGETHER] for column in windows))
                hints[_runs(some.begins, some.sizes)] = self._opinion(contexts, places, some)
            self._idle.append(contexts)
        return array("f", hints.tobytes())

    def _opinion(self, contexts: Contexts, places: Ints, windows: _Windows) -> Floats:
        """Return the hints for the tokens that some windows decide, one window after the other."""
        lengths = windows.highs - windows.lows + 1  # with node 0, which stands where the token before would
        nodes = np.cumsum(lengths) - lengths
        order = places[_runs(windows.lows - 1, lengths)]
        order[nodes] = 0
        first = windows.inner - windows.lows + 1
        vectors = contexts.at(order, lengths, Wanted(first, first + windows.sizes))
        decided = vectors[_runs(nodes + first, windows.sizes)]
        found = linear(kernels_for(reproducible=True), decided, self.parameters[OUTPUT], self.parameters[BIAS])
        lead: Floats = (found[:, 1] - found[:, 0]) * np.float32(self.weight)
        return np.clip(lead, -MOST, MOST, out=lead)

    def arrays(self) -> dict[str, Any]:
        """Return the parameters, with embeddings packed."""
        return packed(self.parameters)

    def settings(self) -> dict[str, Any]:
        """Return everything else, as plain data."""
        return {"vocabulary": self.vocabulary.settings(), "weight": self.weight}

    @classmethod
    def load(cls, arrays: Mapping[str, memoryview], settings: Mapping[str, Any]) -> Borders:
        """Rebuild the network, and check that everything has the right size."""
        check_settings(settings, SETTINGS)
        vocabulary = Vocabulary.load(settings["vocabulary"], EMBEDDED)
        wanted = _new_parameters(vocabulary, sizes_in(arrays), 2, Shapes())
        check_arrays(arrays, packed_arrays(wanted))
        return cls(vocabulary, unpacked(arrays), settings["weight"])


class _Windows(NamedTuple):
    """Windows of tokens, a column for each thing known of them.

    Some are places in the text with an EDGE before and after every paragraph.
    """

    begins: Numbered  # first token that is decided
    sizes: Numbered  # how many are decided
    inner: Numbered  # place of the first
    lows: Numbered  # place of the first token that is seen, or of the edge
    highs: Numbered  # and the one after the last


def _windows(ends: Numbered, doubtful: Numbered) -> _Windows:
    """Return the windows with doubtful tokens."""
    starts = np.append(0, ends[:-1] + 1)
    first = starts[np.searchsorted(ends, doubtful)]
    begins = np.unique(doubtful - (doubtful - first) % WINDOW)
    paragraphs = np.searchsorted(ends, begins)
    start, end = starts[paragraphs], ends[paragraphs] + 1
    stops = np.minimum(begins + WINDOW, end)
    low, high = begins - MARGIN, stops + MARGIN
    edges = paragraphs + 1  # that come before
    lows = np.where(low <= start, start - 1, low) + edges
    highs = np.where(high >= end, end + 1, high) + edges
    return _Windows(begins, stops - begins, begins + edges, lows, highs)


def _places(contexts: Contexts, forms: Sequence[str], ends: Sequence[int], windows: _Windows) -> Ints:
    """Return where the contexts keep each token that some window sees, in the text with edges."""
    padded = [EDGE[0]]
    for before, end in pairwise((-1, *ends)):
        padded += forms[before + 1 : end + 1]
        padded.append(EDGE[0])
    opened, closed = (np.bincount(places, minlength=len(padded) + 1) for places in (windows.lows, windows.highs))
    seen = np.flatnonzero(np.cumsum(opened - closed))
    places = np.zeros(len(padded), np.int32)
    places[seen] = contexts.number(untagged(padded[place][:MOST_LETTERS]) for place in seen.tolist())
    return places


def _runs(starts: Numbered, sizes: Numbered) -> Numbered:
    """Return for each start so many numbers from it on, one run after the other."""
    ends = np.cumsum(sizes)
    return np.arange(ends[-1]) + np.repeat(starts - ends + sizes, sizes)


def _new_parameters(vocabulary: Vocabulary, sizes: tuple[int, int, int], n_classes: int, rng: Rng) -> dict[str, Floats]:
    parameters = new_encoder(EMBEDDED, vocabulary, sizes, rng)
    parameters[OUTPUT] = glorot(rng, sizes[0], n_classes)
    parameters[BIAS] = np.zeros(n_classes, np.float32)
    return parameters


class BorderLearner:
    """Learns from paragraphs, one epoch at a time."""

    def __init__(self, paragraphs: Sequence[Paragraph], options: BorderOptions, seed: int) -> None:
        self._paragraphs = paragraphs
        self._options = options
        self._rng = np.random.default_rng(seed)
        words = (untagged(form[:MOST_LETTERS]) for p in paragraphs for sentence in p for form, _ in sentence)
        self._vocabulary = Vocabulary.of((*words, EDGE, EDGE), EMBEDDED, LEAST)
        tags = sorted({upos for p in paragraphs for sentence in p for _, upos in sentence})
        self._tags = {upos: number for number, upos in enumerate(tags)}
        self._parameters = _new_parameters(self._vocabulary, SIZES, 2 + len(tags), self._rng)
        self._gradients = {name: np.zeros_like(p) for name, p in self._parameters.items() if name not in SPARSE}
        self._adam = Adam(self._parameters)
        self._encoder = Encoder(self._parameters, EMBEDDED)
        self._unknown = unknown_chances(self._vocabulary.counts["lower"], options.drop_form)
        self._known: dict[Word, Numbers] = {}
        self._epochs = 0

    def epoch(self) -> float:
        """Go through all text once in random order; return the mean loss per token."""
        options = self._options
        texts = [self._text(paragraph) for paragraph in self._mixed()]
        windows = [(t, begin, end) for t, (words, _) in enumerate(texts) for begin, end in self._windows(len(words))]
        batches = list(random_batches([end - begin for _, begin, end in windows], options.batch_words, self._rng))
        loss = 0.0
        for number, batch in enumerate(batches):
            done = (self._epochs + number / len(batches)) / options.epochs
            self._adam.begin(falling(options.rate, options.last_rate, done))
            some = [(texts[t], begin, end) for t, begin, end in map(windows.__getitem__, batch)]
            loss += self._learn([words[b:e] for (words, _), b, e in some], [truth[b:e] for (_, truth), b, e in some])
        self._epochs += 1
        return loss / max(1, sum(len(words) for words, _ in texts))

    def _mixed(self) -> Iterator[Paragraph]:
        """Yield the paragraphs, and others of sentences picked at random."""
        yield from self._paragraphs
        pool = [sentence for paragraph in self._paragraphs for sentence in paragraph]
        for _ in range(int(self._options.mixed * len(pool) / 6)):
            yield [pool[place] for place in self._rng.integers(0, len(pool), self._rng.integers(3, 10)).tolist()]

    def _text(self, paragraph: Paragraph) -> tuple[list[Word], NDArray[np.int64]]:
        """Return the tokens of a paragraph and their classes, after some sentences have lost marks and capitals."""
        words, truth = [EDGE], [(-1, -1)]
        for sentence in paragraph:
            tokens = list(sentence)
            if len(tokens) > 2 and self._rng.random() < self._options.bare:
                while len(tokens) > 1 and tokens[-1][1] == "PUNCT":
                    tokens.pop()
            if self._rng.random() < self._options.small:
                tokens[0] = (tokens[0][0].lower(), tokens[0][1])
            words += (untagged(form[:MOST_LETTERS]) for form, _ in tokens)
            truth += ((0, self._tags[upos]) for _, upos in tokens)
            truth[-1] = (1, truth[-1][1])
        truth[-1] = (-1, truth[-1][1])  # a paragraph's end needs no decision
        return [*words, EDGE], np.array([*truth, (-1, -1)])

    def _windows(self, size: int) -> Iterator[tuple[int, int]]:
        """Yield where windows begin and end, at random places."""
        begin, end = 0, size if size <= 50 else int(self._rng.integers(1, 50))
        while begin < size:
            yield begin, min(end, size)
            begin, end = end, end + int(self._rng.integers(30, 70))

    def _learn(self, words: Sequence[Sequence[Word]], truth: Sequence[NDArray[np.int64]]) -> float:
        options = self._options
        batch = number_words(self._vocabulary, words, self._known)
        forms = batch.single[:, 0]
        batch.single[self._rng.random(len(forms)) < self._unknown[forms], :2] = 0  # in lowercase and as written
        contexts = self._encoder.forward(batch, self._rng, options.drop_input, options.drop_context)
        scores = contexts @ self._parameters[OUTPUT] + self._parameters[BIAS]
        targets = np.concatenate([part for found in truth for part in (np.full((1, 2), -1), found)])
        loss = cross_entropy(scores[:, :2], one_hot(targets[:, 0], 2))
        cross_entropy(scores[:, 2:], one_hot(targets[:, 1], scores.shape[1] - 2))
        scores[:, 2:] *= np.float32(options.tags)
        scores /= np.float32(len(targets) - len(words))
        self._gradients[BIAS][...] = scores.sum(0)
        d_contexts = self._encoder.output_back(OUTPUT, scores, self._gradients)
        follow(self._adam, self._encoder.backward(d_contexts, self._gradients), self._gradients)
        return loss

    def borders(self, weight: float) -> Borders:
        """Return the averaged network as of now, without what tells UPOS."""
        averaged = rounded(self._adam.average(SPARSE))
        averaged[OUTPUT] = np.ascontiguousarray(averaged[OUTPUT][:, :2])
        averaged[BIAS] = averaged[BIAS][:2].copy()
        return Borders(self._vocabulary, averaged, weight)
