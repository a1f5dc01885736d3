"""The tokenizer: cuts raw text into sentences, tokens and the words of multiword tokens, as it learnt from a treebank.

There are three linear classifiers, one after the other: the first says between which characters a token ends, the
second after which token a sentence ends, the third where a token that is only sometimes several words is so.
White space ends a token, unless it is between digits and the treebank has such tokens ("10 000"). A blank line ends
a sentence; a single line break is a space, unless the treebank's text has line breaks to learn from.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from random import Random
from typing import Any

from tanglewood.checks import REAL, Layout, Shape, check_arrays, check_settings
from tanglewood.errors import ConfigError, ModelError
from tanglewood.ml.linear_tables import freeze_tables, load_tables, table_arrays
from tanglewood.ml.linear_weights import Weights
from tanglewood.text.characters import CLASSES, SPACE, Characters
from tanglewood.text.multiword import Multiword
from tanglewood.text.raw import GoldText, Token, training_text
from tanglewood.text.sentences_core import SentenceScanner
from tanglewood.text.tokenizer_learning import Teacher
from tanglewood.text.tokens_core import TokenScanner
from tanglewood.treebank.memo import Memo
from tanglewood.treebank.sentence import Sentence

RARE = 0.001  # tokens must end between two classes in a larger share of cases for a cut there to be considered
COMMON = 2  # how often a word must occur in lowercase to count as common
MARGIN, MOST = 1.0, 0.02  # by how much the right answer should lead, and the largest step of a weight
LEAST, UPDATES = 0.01, 2  # share of the largest weight, and number of updates, below which a weight is dropped
THRESHOLDS = [step / 20 for step in range(-12, 13)]
MOST_BYTES = 64 << 20  # of tokens whose words are kept: about 100,000
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
LINE_BREAK = re.compile(r"\S[^\S\n]*\n[^\S\n]*\S")
JOINT = re.compile(r"\d[ \u00a0\u2009\u202f]\d")
TABLES = ("cuts", "stops", "splits")  # in the order of the kinds that a Teacher knows
PIECE = 1 << 16  # characters after which a stream looks for a place to cut
SETTINGS: Shape = {  # of a model
    "joins": bool,
    "lines": bool,
    "threshold": REAL,
    "multiword": dict,
    "scales": dict.fromkeys(TABLES, REAL),
}
ARRAYS = {
    "may_cut": Layout("B", (CLASSES * CLASSES,)),
    "common": Layout("i", ("common",)),
    **table_arrays(TABLES),
}


class Tokenizer:
    """Cuts text into sentences and tokens; any number of threads may share it."""

    def __init__(self, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self._arrays = dict(arrays)
        self._settings = dict(settings)
        self.multiword = Multiword.load(settings["multiword"])
        self.threshold: float = settings["threshold"]
        self._tables = load_tables(arrays, settings["scales"], dict.fromkeys(TABLES, 1))
        self._characters = Characters()
        self._words = Memo(self._split, MOST_BYTES)

    @classmethod
    def learn(
        cls,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] | None,
        *,
        seed: int = 1,
        epochs: int = 10,
        report: Callable[[str], None] | None = None,
    ) -> Tokenizer:
        """Learn from the text of a treebank; with ``dev`` the threshold for ending sentences is tuned on it."""
        gold = training_text(train)
        if not gold.text:
            raise ConfigError("there is no text to learn from")
        tokens = [token for sentence in gold.sentences for token in sentence]
        characters = Characters()
        multiword = Multiword.learn((gold.text[token.start : token.end], token.words) for token in tokens)
        settings: dict[str, Any] = {
            "joins": any(JOINT.search(gold.text, token.start, token.end) for token in tokens),
            "lines": LINE_BREAK.search(gold.text) is not None,
            "threshold": 0.0,
            "multiword": multiword.settings(),
            "scales": {},
        }
        arrays: dict[str, Any] = {"may_cut": _places_to_cut(gold, characters), "common": array("i")}
        tables = dict.fromkeys(TABLES, Weights(memoryview(array("i")), memoryview(array("i")), 1, 1.0))
        surface, sentences = _scanners(arrays, settings, tables, 0.0)
        surface.use(*characters.of(gold.text))
        marks = array("b", bytes(len(gold.text) + 1))
        for token in tokens:
            marks[token.start] = marks[token.end] = 1
        cut_examples = surface.examples(marks)
        sentences.prepare()
        arrays["common"] = sentences.learn_common(COMMON)
        starts, ends = surface.found()
        stops = {sentence[-1].end for sentence in gold.sentences if sentence}
        last = array("b", [end in stops for end in ends])
        stop_examples = sentences.examples(last)
        several = {(token.start, token.end): len(token.words) > 1 for token in tokens}
        splits = array("b", [several.get(place, False) for place in zip(starts, ends, strict=True)])
        split_examples = array("i")
        for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
            if multiword.is_unsure(gold.text[start:end]):
                split_examples.extend((k, 0, 0, 0, 0))
        rng = Random(seed)
        lessons = ((cut_examples, marks), (stop_examples, last), (split_examples, splits))
        for kind, (name, (examples, truth)) in enumerate(zip(TABLES, lessons, strict=True)):
            teacher = Teacher(surface, sentences, MARGIN, MOST)
            for epoch in range(1, epochs + 1):
                mistakes, places = teacher.epoch(examples, truth, kind, rng)
                if report:
                    report(f"tokenizer: {name} epoch {epoch:2}: {mistakes} mistakes in {places} places")
            frozen, scale = freeze_tables({name: teacher.weights}, teacher.time, LEAST, UPDATES)
            arrays |= frozen
            settings["scales"] |= scale
        learnt = cls(arrays, settings)
        if dev:
            score = learnt._fit(training_text(dev))
            if report:
                report(f"tokenizer: threshold {learnt.threshold}, F1 of the dev sentences {100 * score:.2f}")
        return learnt

    def _fit(self, gold: GoldText) -> float:
        """Set the threshold that gives the best sentences; return their F1."""
        wanted = {(sentence[0].start, sentence[-1].end) for sentence in gold.sentences if sentence}
        scores = []
        for threshold in THRESHOLDS:
            self.threshold = threshold
            found = {(sentence[0].start, sentence[-1].end) for sentence in self.tokenize(gold.text)}
            scores.append((2 * len(found & wanted) / max(1, len(found) + len(wanted)), -abs(threshold), threshold))
        score, _, self.threshold = max(scores)
        self._settings["threshold"] = self.threshold
        return score

    def tokenize(self, text: str) -> list[list[Token]]:
        """Return the sentences of a text; every character but white space belongs to exactly one token, in order."""
        starts, ends, sentences = self._scan(text)
        return self._sentences(text, starts, ends, sentences)

    def _scan(self, text: str) -> tuple[array[int], array[int], SentenceScanner]:
        tokens, sentences = _scanners(self._arrays, self._settings, self._tables, self.threshold)
        tokens.use(*self._characters.of(text))
        tokens.scan()
        sentences.scan()
        return *tokens.found(), sentences

    def _split(self, form: str) -> tuple[str, ...]:
        """Return the words of a token, none if that depends on its context."""
        return () if self.multiword.is_unsure(form) else self.multiword.split(form)

    def _sentences(
        self, text: str, starts: array[int], ends: array[int], scanner: SentenceScanner
    ) -> list[list[Token]]:
        """Group the tokens into sentences."""
        known = self._words
        sentences = []
        tokens: list[Token] = []
        last = scanner.ends()
        for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
            form = text[start:end]
            words = known[form] or (self.multiword.several(form) if scanner.is_several(k) else (form,))
            tokens.append(Token(start, end, words))
            if last[k]:
                sentences.append(tokens)
                tokens = []
        return sentences

    def stream(self, chunks: Iterable[str]) -> Iterator[tuple[str, list[list[Token]]]]:
        """Yield an endless text piece by piece, each with its sentences, whose offsets count from its beginning.

        A piece ends with a blank line as soon as there is one. Where none comes it ends with a sentence followed by so
        much text that further text cannot change it: the features of a sentence's end look at AHEAD tokens after it and
        at nothing before the sentence, those of a token's end at its chunk (what is between white space) and the
        beginning of the next. Sentences and chunks have a largest size, so memory stays flat.
        """
        text = ""
        searched = 0
        limit = PIECE
        for chunk in chunks:
            text += chunk
            cut = 0
            for match in BLANK_LINE.finditer(text, searched):
                cut = match.end()
            if cut:
                yield text[:cut], self.tokenize(text[:cut])
                text = text[cut:]
                limit = PIECE
            if len(text) >= limit:
                starts, ends, scanner = self._scan(text)
                sure = scanner.settled()
                cut = len(text) if sure == len(starts) else starts[sure] if sure else 0
                if cut:
                    yield text[:cut], self._sentences(text, starts[:sure], ends[:sure], scanner)
                    text = text[cut:]
                limit = max(PIECE, 2 * len(text))
            newline = text.rfind("\n")
            searched = newline if newline >= 0 else len(text)
        if text:
            yield text, self.tokenize(text)

    def arrays(self) -> dict[str, Any]:
        """Return the tables of weights."""
        return self._arrays

    def settings(self) -> dict[str, Any]:
        """Return everything else, as plain data for JSON."""
        return self._settings

    @classmethod
    def load(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Tokenizer:
        """Rebuild the tokenizer from its arrays and settings."""
        try:
            check_settings(settings, SETTINGS)
            check_arrays(arrays, ARRAYS)
            return cls(arrays, settings)
        except ModelError as error:
            raise ModelError(f"the tokenizer's part: {error}") from None


def _scanners(
    arrays: Mapping[str, Any], settings: Mapping[str, Any], tables: Mapping[str, Weights], threshold: float
) -> tuple[TokenScanner, SentenceScanner]:
    tokens = TokenScanner(
        memoryview(arrays["may_cut"]), tables["cuts"], joins=settings["joins"], lines=settings["lines"]
    )
    common = memoryview(arrays["common"])
    return tokens, SentenceScanner(tokens, tables["stops"], tables["splits"], common=common, threshold=threshold)


def _places_to_cut(gold: GoldText, characters: Characters) -> array[int]:
    """Return for two classes, the first times CLASSES plus the second, whether a token may end between them."""
    codes, table = characters.of(gold.text)
    classes = bytes(table[code] % CLASSES for code in codes)
    together = Counter(pairwise(classes))
    ends = {token.end for sentence in gold.sentences for token in sentence}
    apart = Counter((classes[end - 1], classes[end]) for end in ends if end < len(classes))
    may_cut = array("B", bytes(CLASSES * CLASSES))
    for one in range(1, CLASSES):
        for other in range(CLASSES):
            seen = together[one, other]
            likely = apart[one, other] > RARE * seen if seen else one != other
            may_cut[one * CLASSES + other] = likely or other == SPACE
    return may_cut
