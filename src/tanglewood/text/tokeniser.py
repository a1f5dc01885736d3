"""The tokeniser: cuts raw text into sentences, tokens and the words of multiword tokens, as it learnt from a treebank.

Two linear classifiers, one after the other: the first says between which characters a token ends, the second after
which token a sentence does. White space ends a token, a blank line ends a sentence.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from random import Random
from typing import Any

from tanglewood.errors import ConfigError
from tanglewood.scorers.linear import freeze_tables
from tanglewood.scorers.linear_weights import LearningWeights, Weights
from tanglewood.text.multiword import Multiword
from tanglewood.text.raw import GoldText, Token, gold_text
from tanglewood.text.tokeniser_core import Scanner, Teacher
from tanglewood.treebank.sentence import Sentence

CLASSES = 32  # fit into the five bits that the core has for them
SPACE, LOWER, UPPER, LETTER, DIGIT, MARK, STOP, COMMA, ASKS, COLON, APOSTROPHE, DOUBLE_QUOTE = range(12)
OPENS, CLOSES, HYPHEN, DASH, SLASH, LINK, MONEY, AT, OTHER_MARK, MATHS, SYMBOL, OTHER, ELLIPSIS = range(12, 25)
CHARACTERS = {
    **dict.fromkeys(".．", STOP),
    **dict.fromkeys(",،、，", COMMA),
    **dict.fromkeys("!?。！？؟।։။።‼⁇⁈⁉", ASKS),
    **dict.fromkeys(":;：；؛·", COLON),
    **dict.fromkeys("'’‘`´ʼ", APOSTROPHE),
    **dict.fromkeys('"“”„«»', DOUBLE_QUOTE),
    **dict.fromkeys("-‐‑", HYPHEN),
    **dict.fromkeys("/\\", SLASH),
    "@": AT,
    "…": ELLIPSIS,
}
CATEGORIES = {
    **dict.fromkeys(("Ll",), LOWER),
    **dict.fromkeys(("Lu", "Lt"), UPPER),
    **dict.fromkeys(("Lo", "Lm"), LETTER),
    **dict.fromkeys(("Nd", "Nl", "No"), DIGIT),
    **dict.fromkeys(("Mn", "Mc", "Me"), MARK),
    **dict.fromkeys(("Ps", "Pi"), OPENS),
    **dict.fromkeys(("Pe", "Pf"), CLOSES),
    **dict.fromkeys(("So", "Sk"), SYMBOL),
    "Pd": DASH,
    "Pc": LINK,
    "Sc": MONEY,
    "Po": OTHER_MARK,
    "Sm": MATHS,
}
CODEC = f"utf-32-{sys.byteorder[0]}e"
RARE = 0.0005  # share of two classes between which tokens end so rarely that it is not considered
BATCH = 200  # examples learnt from at a time
THRESHOLDS = [step / 20 for step in range(-12, 13)]
MOST_REMEMBERED = 100_000  # tokens whose words are kept
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
AHEAD, MOST_SPACE, TOGETHER = 8, 1000, 0  # as in the core
PIECE = 1 << 16  # characters after which a stream looks for a place to cut


def class_of(character: str) -> int:
    """Return the class of a character, SPACE for white space."""
    if character.isspace():
        return SPACE
    return CHARACTERS.get(character) or CATEGORIES.get(unicodedata.category(character), OTHER)


class Tokeniser:
    """Cuts text into sentences and tokens; any number of threads may share it."""

    def __init__(self, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self._arrays = dict(arrays)
        self._settings = dict(settings)
        self.multiword = Multiword.load(settings["multiword"])
        self.threshold: float = settings["threshold"]
        self._cuts, self._stops = (
            Weights(arrays[f"{name}.keys"], arrays[f"{name}.entries"], 1, settings["scales"][name])
            for name in ("cuts", "stops")
        )
        self._characters = _Characters()
        self._words: dict[str, tuple[str, ...]] = {}

    @classmethod
    def learn(
        cls,
        train: Sequence[Sentence],
        dev: Sequence[Sentence] | None,
        *,
        seed: int = 1,
        epochs: int = 10,
        most: float = 0.01,
        margin: float = 1.0,
        least: float = 0.005,
        updates: int = 2,
        report: Callable[[str], None] | None = None,
    ) -> Tokeniser:
        """Learn from the text of a treebank; with ``dev`` the inclination to end sentences is fitted to it."""
        gold = gold_text(train)
        if not gold.text:
            raise ConfigError("there is no text to learn from")
        say = report or (lambda text: None)
        characters = _Characters()
        may_cut = _places_to_cut(gold, characters)
        joins = any(" " in gold.text[token.start : token.end] for sentence in gold.sentences for token in sentence)
        scanner = Scanner(memoryview(may_cut), joins, None, None, 0.0)
        scanner.use(*characters.of(gold.text))
        teachers = {name: Teacher(scanner, margin, most) for name in ("cuts", "stops")}
        marks, ends = array("b", bytes(len(gold.text) + 1)), set()
        for sentence in gold.sentences:
            for token in sentence:
                marks[token.start] = marks[token.end] = 1
            if sentence:
                ends.add(sentence[-1].end)
        examples = {"cuts": teachers["cuts"].cut_examples(marks)}
        last = array("b", [end in ends for end in scanner.found()[1]])
        examples["stops"] = teachers["stops"].stop_examples(last)
        chance = Random(seed)
        tables: dict[str, LearningWeights] = {}
        times = {}
        for name, truth in (("cuts", marks), ("stops", last)):
            teacher = teachers[name]
            order = list(range(len(examples[name]) // 5))
            for epoch in range(1, epochs + 1):
                chance.shuffle(order)
                before = teacher.mistakes
                for start in range(0, len(order), BATCH):
                    teacher.learn(examples[name], truth, array("i", order[start : start + BATCH]), name == "stops")
                say(f"{name} epoch {epoch}: {teacher.mistakes - before} mistakes in {len(order)} places")
            tables[name], times[name] = teacher.weights, teacher.time
        arrays: dict[str, Any] = {}
        scales: dict[str, float] = {}
        for name, table in tables.items():
            more, scale = freeze_tables({name: table}, times[name], least, updates)
            arrays |= more
            scales |= scale
        arrays["may_cut"] = may_cut
        multiword = Multiword.learn(
            (gold.text[token.start : token.end], token.words) for sentence in gold.sentences for token in sentence
        )
        settings = {"scales": scales, "threshold": 0.0, "joins": joins, "multiword": multiword.settings()}
        learnt = cls(arrays, settings)
        if dev:
            learnt._fit(gold_text(dev), say)
        return learnt

    def _fit(self, gold: GoldText, say: Callable[[str], None]) -> None:
        """Set the threshold to what gives the best sentences."""
        wanted = {(sentence[0].start, sentence[-1].end) for sentence in gold.sentences if sentence}
        scores = []
        for threshold in THRESHOLDS:
            self.threshold = threshold
            found = {(sentence[0].start, sentence[-1].end) for sentence in self.tokenise(gold.text)}
            scores.append((2 * len(found & wanted) / max(1, len(found) + len(wanted)), -abs(threshold), threshold))
        score, _, self.threshold = max(scores)
        self._settings["threshold"] = self.threshold
        say(f"threshold {self.threshold}: sentences {100 * score:.2f} on the development data")

    def tokenise(self, text: str) -> list[list[Token]]:
        """Return the sentences of a text; every character but white space belongs to exactly one token, in order."""
        starts, ends, _, last = self._scan(text)
        return self._sentences(text, starts, ends, last)

    def _scan(self, text: str) -> tuple[array[int], array[int], array[int], array[int]]:
        settings = self._settings
        scanner = Scanner(
            memoryview(self._arrays["may_cut"]), settings["joins"], self._cuts, self._stops, self.threshold
        )
        scanner.use(*self._characters.of(text))
        scanner.scan()
        return scanner.found()

    def _sentences(
        self, text: str, starts: Sequence[int], ends: Sequence[int], last: Sequence[int]
    ) -> list[list[Token]]:
        known = self._words
        sentences = []
        tokens = []
        for start, end, is_last in zip(starts, ends, last, strict=True):
            form = text[start:end]
            words = known.get(form)
            if words is None:
                if len(known) >= MOST_REMEMBERED:
                    known.clear()
                words = known[form] = self.multiword.split(form)
            tokens.append(Token(start, end, words))
            if is_last:
                sentences.append(tokens)
                tokens = []
        return sentences

    def stream(self, chunks: Iterable[str]) -> Iterator[tuple[str, list[list[Token]]]]:
        """Give an endless text piece by piece, each with its sentences, whose offsets count from its beginning.

        A piece ends with a blank line as soon as one is there. Where none comes it ends with a sentence after which
        so much text has come that no more can change it: the features of a sentence's end look at AHEAD tokens after
        it and at nothing before the sentence, those of a token's end at its chunk (what stands between white space)
        and the beginning of the next. Sentences and chunks have a largest size, so memory stays flat.
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
                yield text[:cut], self.tokenise(text[:cut])
                text = text[cut:]
                limit = PIECE
            if len(text) >= limit:
                cut, sentences = self._safe_part(text)
                if cut:
                    yield text[:cut], sentences
                    text = text[cut:]
                limit = max(PIECE, 2 * len(text))
            searched = max(0, text.rfind("\n"))
        if text:
            yield text, self.tokenise(text)

    def _safe_part(self, text: str) -> tuple[int, list[list[Token]]]:
        """Return how much of a text is made of sentences that will not change, whatever follows, and these."""
        if len(text) - len(text.rstrip()) > MOST_SPACE:
            return len(text), self.tokenise(text)
        starts, ends, gaps, last = self._scan(text)
        sure = len(starts)
        for _ in range(2):  # the last chunk may go on, and the one before looks at its beginning
            sure -= 1
            while sure > 0 and gaps[sure - 1] == TOGETHER:
                sure -= 1
        k = sure - AHEAD - 1
        while k >= 0 and not (last[k] and gaps[k] != TOGETHER):
            k -= 1
        if k < 0:
            return 0, []
        return starts[k + 1], self._sentences(text, starts[: k + 1], ends[: k + 1], last[: k + 1])

    def arrays(self) -> dict[str, Any]:
        """Return the tables of weights."""
        return self._arrays

    def settings(self) -> dict[str, Any]:
        """Return all else, as JSON knows it."""
        return self._settings

    @classmethod
    def load(cls, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> Tokeniser:
        """Make the tokeniser anew from its arrays and settings."""
        return cls(arrays, settings)


class _Characters:
    """A table of all characters met so far: the small letter of each, then, in five bits, its class."""

    def __init__(self) -> None:
        self.table = array("i", bytes(4 * (sys.maxunicode + 1)))
        self.known: set[str] = set()

    def of(self, text: str) -> tuple[memoryview, array[int]]:
        """Return the code points of a text, and the table."""
        new = set(text) - self.known
        for character in new:
            lower = character.lower()
            letter = ord(lower) if len(lower) == 1 else ord(character)
            self.table[ord(character)] = letter * CLASSES + class_of(character)
        self.known |= new
        return memoryview(text.encode(CODEC, "surrogatepass")).cast("i"), self.table


def _places_to_cut(gold: GoldText, characters: _Characters) -> array[int]:
    """Return for two classes, the first times CLASSES plus the second, whether a token may end between them."""
    codes, table = characters.of(gold.text)
    classes = bytes(table[code] % CLASSES for code in codes)
    together = Counter(zip(classes, classes[1:], strict=False))
    ends = {token.end for sentence in gold.sentences for token in sentence}
    apart = Counter((classes[end - 1], classes[end]) for end in ends if end < len(classes))
    may_cut = array("B", bytes(CLASSES * CLASSES))
    for one in range(1, CLASSES):
        for other in range(CLASSES):
            seen = together[one, other]
            likely = apart[one, other] > RARE * seen if seen else one != other
            may_cut[one * CLASSES + other] = likely or other == SPACE
    return may_cut
