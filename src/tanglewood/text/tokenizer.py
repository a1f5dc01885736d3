"""The tokenizer: cuts raw text into sentences, tokens and the words of multiword tokens, as it learnt from a treebank.

There are three linear classifiers, one after the other: the first says between which characters a token ends, the
second after which token a sentence ends, the third where a token that is only sometimes several words is so. Where the
second is in doubt, a small network adds its opinion (borders.py), if the model has one.
White space ends a token, unless it is between digits and the treebank has such tokens ("10 000"). A blank line ends
a sentence; a single line break is a space, unless the treebank's text has line breaks to learn from, or it ends its
line early, as before the items of a list and after headings (sentences_core.py).
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, pairwise
from random import Random
from typing import TYPE_CHECKING, Any, NamedTuple

from tanglewood.checks import REAL, Layout, Shape, check_arrays, check_settings
from tanglewood.errors import ConfigError, ModelError
from tanglewood.ml.linear_tables import freeze_tables, load_tables, table_arrays
from tanglewood.ml.linear_weights import Weights
from tanglewood.text.characters import CLASSES, SPACE, Characters
from tanglewood.text.multiword import Multiword
from tanglewood.text.raw import GoldText, Token, training_text
from tanglewood.text.sentences_core import SentenceScanner, hashes_of
from tanglewood.text.tokenizer_learning import Teacher
from tanglewood.text.tokens_core import TokenScanner
from tanglewood.treebank.memo import Memo
from tanglewood.treebank.sentence import Sentence

if TYPE_CHECKING:
    from tanglewood.text.borders import BorderOptions, Borders

RARE = 0.001  # tokens must end between two classes in a larger share of cases for a cut there to be considered
COMMON = 2  # how often a word must occur in lowercase to count as common
MARGIN, MOST = 1.0, 0.02  # by how much the right answer should lead, and the largest step of a weight
LEAST, UPDATES = 0.01, 2  # share of the largest weight, and number of updates, below which a weight is dropped
THRESHOLDS = [step / 20 for step in range(-12, 13)]
LEARNT = 0  # as in RULES
MOST_BYTES = 64 << 20  # of tokens whose words are kept: about 100,000
BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
LINE_BREAK = re.compile(r"\S[^\S\n]*\n[^\S\n]*\S")
JOINT = re.compile(r"\d[ \u00a0\u2009\u202f]\d")
TABLES = ("cuts", "stops", "splits")  # in the order of the kinds that a Teacher knows
# Titles before names, as many languages write them: a full stop after one ends no sentence before a capital.
TITLES = hashes_of(("prof", "dr", "mr", "mrs", "ms", "rev", "hon", "capt", "sgt", "lt", "gov", "sra", "mme", "mlle"))
RULES = {"model": 0, "punctuation": 1, "blank-lines": 2}  # what ends sentences, by its number in sentences_core
PIECE = 1 << 16  # characters after which a stream looks for a place to cut
ROOM = 14  # how many tokens the network looks ahead, as in borders.py, which is loaded when it is needed
SETTINGS: Shape = {  # of a model
    "joins": bool,
    "lines": bool,
    "threshold": REAL,
    "multiword": dict,
    "scales": dict.fromkeys(TABLES, REAL),
    "borders?": dict,
}
BORDERS = "borders/"  # prefix of the names of the network's arrays
WEIGHTS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4)  # of the network's scores, to choose from
ARRAYS = {
    "may_cut": Layout("B", (CLASSES * CLASSES,)),
    "common": Layout("i", ("common",)),
    **table_arrays(TABLES),
}


class _Scanned(NamedTuple):
    """The tokens that were found in a text, and what groups them into sentences."""

    starts: array[int]
    ends: array[int]
    forms: list[str]
    sentences: SentenceScanner


class Tokenizer:
    """Cuts text into sentences and tokens; any number of threads may share it."""

    def __init__(self, arrays: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        self._arrays = dict(arrays)
        self._settings = dict(settings)
        self.multiword = Multiword.load(settings["multiword"])
        self.threshold: float = settings["threshold"]
        self._tables = load_tables(arrays, settings["scales"], dict.fromkeys(TABLES, 1))
        self.borders: Borders | None = None
        if "borders" in settings:
            from tanglewood.text.borders import Borders

            own = {name.removeprefix(BORDERS): a for name, a in arrays.items() if name.startswith(BORDERS)}
            self.borders = Borders.load(own, settings["borders"])
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
        borders: BorderOptions | None = None,
        report: Callable[[str], None] | None = None,
    ) -> Tokenizer:
        """Learn from the text of a treebank; with ``dev`` the threshold for ending sentences is tuned on it.

        With ``borders`` a network for the ends of sentences is learnt too; what its opinion counts is tuned on ``dev``.
        """
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
        if borders:
            learnt._learn_borders(train, gold, borders, seed, report)
        if dev:
            score = learnt._fit(training_text(dev))
            if report:
                report(f"tokenizer: threshold {learnt.threshold}, F1 of the dev sentences {100 * score:.2f}")
        return learnt

    def _learn_borders(
        self,
        train: Sequence[Sentence],
        gold: GoldText,
        options: BorderOptions,
        seed: int,
        report: Callable[[str], None] | None,
    ) -> None:
        from tanglewood.text.borders import BorderLearner

        paragraphs: list[list[list[tuple[str, str]]]] = [[]]
        before = 0
        for sentence, tokens in zip(train, gold.sentences, strict=True):
            if BLANK_LINE.search(gold.text, before, tokens[0].start):
                paragraphs.append([])
            before = tokens[-1].end
            places = accumulate((len(token.words) for token in tokens), initial=0)
            tagged = [(gold.text[t.start : t.end], sentence.upos[n]) for t, n in zip(tokens, places, strict=False)]
            paragraphs[-1].append(tagged)
        learner = BorderLearner(paragraphs, options, seed)
        for epoch in range(1, options.epochs + 1):
            loss = learner.epoch()
            if report:
                report(f"tokenizer: borders epoch {epoch:2}: loss {loss:.4f}")
        self._use(learner.borders(WEIGHTS[1]))

    def _use(self, borders: Borders) -> None:
        self.borders = borders
        self._settings["borders"] = borders.settings()
        self._arrays |= {f"{BORDERS}{name}": values for name, values in borders.arrays().items()}

    def _fit(self, gold: GoldText) -> float:
        """Set the threshold, and the weight of the network, that give the best sentences; return their F1."""
        wanted = {(sentence[0].start, sentence[-1].end) for sentence in gold.sentences if sentence}
        tokens, sentences = self._scanners(0.0)
        tokens.use(*self._characters.of(gold.text))
        tokens.scan()
        sentences.scan()
        starts, ends = tokens.found()
        scores = []
        for weight in WEIGHTS if self.borders else (0.0,):
            hints = array("f", bytes(4 * len(starts) + 4))
            if self.borders:
                self.borders.weight = weight
                forms = _forms(gold.text, starts, ends)
                hints = self.borders.hints(forms, sentences.paragraph_ends(), range(len(starts)))
            for threshold in THRESHOLDS:
                sentences.threshold = threshold
                sentences.scan_again(hints)
                found = set()
                first = 0
                for k, last in enumerate(sentences.ends()):
                    if last:
                        found.add((starts[first], ends[k]))
                        first = k + 1
                f1 = 2 * len(found & wanted) / max(1, len(found) + len(wanted))
                scores.append((f1, -abs(threshold), -weight, threshold))
        score, _, weight, self.threshold = max(scores)
        self._settings["threshold"] = self.threshold
        if self.borders:
            self.borders.weight = self._settings["borders"]["weight"] = -weight
        return score

    def tokenize(self, text: str, sentences: str = "model") -> list[list[Token]]:
        """Return the sentences of a text; every character but white space belongs to exactly one token, in order.

        ``sentences`` is one of RULES: they end where the model says, at final punctuation, or at blank lines only.
        """
        chunks = (text[i : i + PIECE] for i in range(0, len(text), PIECE))
        return [tokens for _, found in self.stream(chunks, sentences, whole=True) for tokens in found]

    def _scanners(self, threshold: float, rule: int = LEARNT) -> tuple[TokenScanner, SentenceScanner]:
        return _scanners(self._arrays, self._settings, self._tables, threshold, rule)

    def _scan(self, text: str, rule: int) -> _Scanned:
        tokens, sentences = self._scanners(self.threshold, rule)
        tokens.use(*self._characters.of(text))
        tokens.scan()
        sentences.scan()
        starts, ends = tokens.found()
        forms = _forms(text, starts, ends)
        if self.borders and rule == LEARNT:
            from tanglewood.text.borders import MOST

            doubtful = sentences.doubtful(MOST)
            if doubtful:
                sentences.scan_again(self.borders.hints(forms, sentences.paragraph_ends(), doubtful))
        return _Scanned(starts, ends, forms, sentences)

    def _split(self, form: str) -> tuple[str, ...]:
        """Return the words of a token, none if that depends on its context."""
        return () if self.multiword.is_unsure(form) else self.multiword.split(form)

    def _sentences(self, scanned: _Scanned, begin: int, sure: int | None = None) -> list[list[Token]]:
        """Group the tokens, or those that are sure, into sentences; ``begin`` is added to their offsets."""
        starts, ends, forms, scanner = scanned
        words = list(map(self._words.__getitem__, forms[:sure]))
        for k in [k for k, several in enumerate(words) if not several]:
            words[k] = self.multiword.several(forms[k]) if scanner.is_several(k) else (forms[k],)
        if begin:
            starts, ends = (array("q", [place + begin for place in places[:sure]]) for places in (starts, ends))
        tokens = list(map(Token, starts, ends, words))
        stops = [k for k, last in enumerate(scanner.ends()[:sure], 1) if last]
        return [tokens[first:stop] for first, stop in pairwise((0, *stops))]

    def stream(
        self, chunks: Iterable[str], sentences: str = "model", *, whole: bool = False
    ) -> Iterator[tuple[str, list[list[Token]]]]:
        """Yield an endless text piece by piece, each with its sentences, whose offsets count from its beginning.

        With ``whole`` they count from the beginning of the text.

        A piece ends with a blank line as soon as there is one. Where none comes for PIECE characters, those are looked
        at alone, and the piece ends with a sentence followed by so much text that further text cannot change it: the
        features of a sentence's end look at AHEAD tokens after it and at nothing before the sentence, those of a
        token's end at its chunk (what is between white space) and the beginning of the next, the network's at ROOM
        tokens. So it does not matter how the text comes in chunks. Sentences and chunks have a largest size, so memory
        stays flat.
        """
        rule = RULES[sentences]
        text = ""
        limit = PIECE
        searched = 0
        begin = 0  # of the offsets
        for chunk in chain(chunks, [None]):
            text += chunk or ""
            while text:
                lead = len(text) - len(text.lstrip()) if text[0].isspace() else 0
                stop = min(len(text), lead + limit)
                cut = 0
                for match in BLANK_LINE.finditer(text, searched, stop):
                    cut = match.end()
                if cut:
                    found = self._sentences(self._scan(text[:cut], rule), begin)
                elif lead == len(text) >= PIECE:
                    cut, found = lead, []
                elif stop < len(text) or (chunk is not None and stop == lead + limit):
                    scanned = self._scan(text[:stop], rule)
                    sure = scanned.sentences.settled()
                    cut = stop if sure == len(scanned.starts) else scanned.starts[sure] if sure else 0
                    if not cut:
                        limit *= 2
                        continue
                    found = self._sentences(scanned, begin, sure)
                elif chunk is None:
                    cut = len(text)
                    found = self._sentences(self._scan(text, rule), begin)
                else:
                    break
                yield text[:cut], found
                begin += cut if whole else 0
                text = text[cut:]
                limit = PIECE
                searched = 0
            newline = text.rfind("\n")
            searched = newline if newline >= 0 else len(text)

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
            check_arrays({name: a for name, a in arrays.items() if not name.startswith(BORDERS)}, ARRAYS)
            return cls(arrays, settings)
        except ModelError as error:
            raise ModelError(f"the tokenizer's part: {error}") from None


def _forms(text: str, starts: array[int], ends: array[int]) -> list[str]:
    return [text[start:end] for start, end in zip(starts, ends, strict=True)]


def _scanners(
    arrays: Mapping[str, Any],
    settings: Mapping[str, Any],
    tables: Mapping[str, Weights],
    threshold: float,
    rule: int = LEARNT,
) -> tuple[TokenScanner, SentenceScanner]:
    tokens = TokenScanner(
        memoryview(arrays["may_cut"]), tables["cuts"], joins=settings["joins"], lines=settings["lines"]
    )
    common = memoryview(arrays["common"])
    ahead = ROOM if "borders" in settings else 0
    stops, splits = tables["stops"], tables["splits"]
    return tokens, SentenceScanner(
        tokens, stops, splits, common=common, threshold=threshold, ahead=ahead, rule=rule, titles=TITLES
    )


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
