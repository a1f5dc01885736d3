"""The compiled part of the tokenizer that finds sentences, and which tokens are several words, by their features.

Features of a token as the last of its sentence look at the tokens of that sentence and at AHEAD tokens after it. So a
text may be cut after any sentence that ends with a chunk, and what follows is scanned as if nothing had been before it.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tanglewood.ml.linear_weights import Weights
from tanglewood.text.hashed import Features
from tanglewood.text.tokens_core import TokenScanner

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

CLASS_MASK = 31
LOWER, UPPER, STOP, ASKS, DOUBLE_QUOTE, OPENS, CLOSES, ELLIPSIS = 1, 2, 6, 8, 11, 12, 13, 24
DIGIT, COLON, APOSTROPHE = 4, 9, 10
LEARNT, PUNCTUATION, BLANK_LINES = range(3)  # what ends sentences, as in tokenizer.py
TOGETHER, NEW_PARAGRAPH = 0, 4
NEWLINE, FULL_STOP = 10, 0x2E
LOW_BITS, SPREAD = 0xFFFFFFFF, 0x9E3779B1
LONGEST, MOST_SPACE = 24, 1000  # these and the above as in tokens_core
MOST_TOKENS = 1000  # a longer sentence ends with its chunk
AHEAD = 8
SHORT = 50  # characters: a line that could have held this many ended early
NUMBER, BULLET = 1, 2  # what a line may begin with
LIKELIER, ENDS, NEVER = 1, 2, 3  # what lines say about the end of a sentence
LINE_END = 0.7  # what an early end of a line adds to the score of a sentence's end


def hashes_of(words: Sequence[str]) -> array[int]:
    """Return the hashes that words in lowercase have in a text."""
    hashes = array("I")
    for word in words:
        hashed = len(word)
        for letter in word:
            hashed = ((hashed ^ ord(letter)) * SPREAD) & LOW_BITS
            hashed ^= hashed >> 15
        hashes.append(hashed)
    return hashes


class SentenceScanner:
    """Groups the tokens of a text into sentences; every thread has its own.

    ``stops`` are the weights of a sentence's end, whose score must exceed ``threshold``, ``splits`` those of a token
    that is several words. ``common`` has, sorted, the hashes of words that are often written in lowercase. ``ahead``
    is how many tokens after it the hints for a token look at, ``titles`` has the hashes of titles before names. Another
    ``rule`` than LEARNT ends sentences at final punctuation, or at blank lines only.
    """

    def __init__(
        self,
        tokens: TokenScanner,
        stops: Weights,
        splits: Weights,
        *,
        common: memoryview,
        threshold: float,
        ahead: int,
        rule: int,
        titles: array[int],
    ) -> None:
        self.tokens = tokens
        self.stops = stops
        self.splits = splits
        self.common = common
        self.n_common = len(common)
        self.threshold = threshold
        self.ahead = max(AHEAD, ahead)
        self.rule = rule
        self.titles = titles
        self.n_titles = len(titles)
        self.features = Features()

    def prepare(self) -> None:
        """Switch to the tokens that were found, and number what features see of them."""
        self.n_tokens = self.tokens.n_tokens
        self.gaps = self.tokens.gaps
        n = 4 * self.n_tokens + 4
        self.small = array("I", bytes(n))
        self.forms = array("I", bytes(n))
        self.shapes = array("I", bytes(n))
        self.suffixes = array("I", bytes(n))
        self.firsts = array("i", bytes(n))
        self.to_stop = array("i", bytes(n))
        self.to_end = array("i", bytes(n))
        self.last = array("b", bytes(n))
        self.layout = array("b", bytes(n))
        self.scores = array("d", bytes(2 * n))
        self.begins = array("i", b"\xff" * n)
        self.hints = array("f", bytes(n))
        with cython.nogil:
            self._describe_tokens()
            if not self.tokens.lines:
                self._look_at_lines()

    def _describe_tokens(self) -> None:
        to_stop = to_end = AHEAD
        for k in range(self.n_tokens - 1, -1, -1):
            start = self.tokens.starts[k]
            end = self.tokens.ends[k]
            first = self.tokens.characters[start] & CLASS_MASK
            stop = min(end, start + LONGEST)
            self.firsts[k] = first
            self.small[k] = self.tokens._letters(start, stop)
            self.forms[k] = self.tokens._form(start, stop)
            self.suffixes[k] = self.tokens._letters(max(start, end - 3), end)
            self.shapes[k] = self.features._mix(self.tokens._shape(start, stop), min(end - start, 3))
            if first == UPPER and self._is_common(self.small[k]):
                self.shapes[k] ^= 1
            if self.gaps[k] == NEW_PARAGRAPH:
                to_stop = AHEAD
                to_end = 0
            self.to_stop[k] = to_stop
            self.to_end[k] = to_end
            to_stop = 1 if first in (STOP, ASKS, ELLIPSIS) else min(AHEAD, to_stop + 1)
            to_end = min(AHEAD, to_end + 1)

    def _look_at_lines(self) -> None:
        """Note which line breaks end a sentence or make that likelier, for models that have not learnt about lines."""
        line = 0  # where the line begins
        for k in range(-1, self.n_tokens - 1):
            start = self.tokens.starts[k + 1]
            if k < 0 or self.gaps[k] == NEW_PARAGRAPH:
                line = start
                self._keep_with_item(k + 1, start)
                continue
            end = self.tokens.ends[k]
            broken = False
            for i in range(end, start):
                if self.tokens.codes[i] == NEWLINE:
                    broken = True
            if not broken:
                continue
            word = start
            while word < self.tokens.size and word < start + SHORT and self.tokens.characters[word] & CLASS_MASK != 0:
                word += 1
            early = word - start + end - line < SHORT  # the next word would have fitted into any column
            last = self.tokens.characters[end - 1] & CLASS_MASK
            item = self._list_item(start)
            if item and (early or item == BULLET or last in (STOP, ASKS, COLON, CLOSES, ELLIPSIS)):
                self.layout[k] = ENDS
            elif early and self.firsts[k + 1] in (UPPER, DIGIT, DOUBLE_QUOTE, OPENS):
                self.layout[k] = LIKELIER
            line = start
            self._keep_with_item(k + 1, start)

    def _keep_with_item(self, k: int, start: int) -> None:
        """Note that no sentence ends with what stands before the item of a list in its line, which k begins."""
        if self._list_item(start):
            while self.gaps[k] == TOGETHER:
                self.layout[k] = NEVER
                k += 1
            self.layout[k] = NEVER

    def _list_item(self, i: int) -> int:
        """Whether a line begins with a bullet, or a short number or letter and a mark, and a space."""
        size = self.tokens.size
        code = self.tokens.codes[i]
        if code in (0x2022, 0x2023, 0x25AA, 0x25E6, 0x25CF, 0xB7):
            return BULLET
        if code in (0x2A, 0x2B, 0x2D, 0x2013):  # * + - and a dash
            return NUMBER if self._space_follows(i) else 0
        which = self.tokens.characters[i] & CLASS_MASK
        i += 1
        if which == DIGIT and i < size and self.tokens.characters[i] & CLASS_MASK == DIGIT:
            i += 1
        elif which not in (LOWER, DIGIT):
            return 0
        if i >= size or not self._space_follows(i):
            return 0
        return NUMBER if self.tokens.codes[i] in (0x29, 0x2E) else 0  # ) and a full stop

    def _space_follows(self, i: int) -> bool:
        """Whether a space comes after a character, in the same line: what comes after a line changes nothing in it."""
        if i + 1 >= self.tokens.size or self.tokens.codes[i + 1] == NEWLINE:
            return False
        return self.tokens.characters[i + 1] & CLASS_MASK == 0

    def _is_common(self, small: int) -> bool:
        """Whether the word with this hash in lowercase is often written so."""
        low = 0
        high = self.n_common
        while low < high:
            middle = (low + high) // 2
            if self.common[middle] < small >> 1:
                low = middle + 1
            else:
                high = middle
        return low < self.n_common and self.common[low] == small >> 1

    def learn_common(self, least: int) -> array[int]:
        """Treat words that occur in lowercase at least this often as common; return their hashes."""
        counts: dict[int, int] = {}
        for k in range(self.n_tokens):
            if self.firsts[k] == LOWER:
                small = self.small[k]
                counts[small >> 1] = counts.get(small >> 1, 0) + 1
        common = array("i", sorted(small for small, count in counts.items() if count >= least))
        self.common = memoryview(common)
        self.n_common = len(common)
        self.prepare()
        return common

    def _stop_features(self, k: int, first: int, depth: int, quotes: int) -> None:
        """Features of token k as the last of the sentence that begins with token ``first``."""
        self.features._clear()
        gap = self.gaps[k]
        small = self.small[k]
        form = self.forms[k]
        shape = self.shapes[k]
        small1 = form1 = shape1 = shape2 = 1
        if k > first:
            small1 = self.small[k - 1]
            form1 = self.forms[k - 1]
            shape1 = self.shapes[k - 1]
        if k > first + 1:
            shape2 = self.shapes[k - 2]
        # Not the last of its paragraph: there is a next token.
        next_small = self.small[k + 1]
        next_form = self.forms[k + 1]
        next_shape = self.shapes[k + 1]
        next_first = self.firsts[k + 1]
        small3 = form3 = shape3 = shape4 = 1
        if self.gaps[k + 1] != NEW_PARAGRAPH:
            small3 = self.small[k + 2]
            form3 = self.forms[k + 2]
            shape3 = self.shapes[k + 2]
            if self.gaps[k + 2] != NEW_PARAGRAPH:
                shape4 = self.shapes[k + 3]
        length = k - first + 1
        if length > 6:
            length = 7 if length <= 10 else 8 if length <= 15 else 9 if length <= 25 else 10 if length <= 40 else 11
        shapes = self.features._mix(shape, next_shape)
        around = self.features._mix(shapes, gap)
        self.features._add(51, gap, shape, next_shape)
        self.features._add(52, small, 0, 0)
        self.features._add(53, form, next_first, gap)
        self.features._add(54, next_small, 0, 0)
        self.features._add(55, next_form, 0, 0)
        self.features._add(56, small, next_small, 0)
        self.features._add(57, form, next_form, gap)
        self.features._add(58, form, next_shape, gap)
        self.features._add(59, shape, next_form, gap)
        self.features._add(60, small1, small, next_first)
        self.features._add(61, form1, around, 0)
        self.features._add(62, next_form, form3, 0)
        self.features._add(63, shape1, around, 0)
        self.features._add(64, around, shape3, 0)
        self.features._add(65, self.features._mix(shape2, shape1), around, self.features._mix(shape3, shape4))
        self.features._add(66, shape1, around, shape3)
        self.features._add(67, next_small, small3, shape)
        self.features._add(68, small3, shape, next_shape)
        self.features._add(69, length, 0, 0)
        self.features._add(70, length, shape, next_shape)
        self.features._add(71, length, small, next_first)
        self.features._add(72, length, next_form, 0)
        self.features._add(73, self.forms[first], shape, next_shape)
        self.features._add(74, self.shapes[first], around, length)
        self.features._add(75, self.suffixes[k], next_first, 0)
        self.features._add(76, self.suffixes[k + 1], shape, 0)
        self.features._add(77, self.suffixes[k], self.suffixes[k + 1], next_first)
        self.features._add(78, depth * 2 + quotes, small, next_small)
        self.features._add(79, depth * 2 + quotes, shape, next_shape)
        self.features._add(80, self.to_stop[k], around, 0)
        self.features._add(81, self.to_end[k], around, 0)
        self.features._add(82, self.to_stop[k], self.to_end[k], length)
        self.features._add(83, self.to_stop[k], next_form, shape)
        self.features._add(84, small1, around, next_form)

    def _find_sentences(self) -> None:
        first = depth = quotes = 0
        final = False
        for k in range(self.n_tokens):
            which = self.firsts[k]
            depth = self._depth(depth, which)
            quotes = quotes ^ 1 if which == DOUBLE_QUOTE else quotes
            gap = self.gaps[k]
            ends = gap == NEW_PARAGRAPH or (gap != TOGETHER and k - first + 1 >= MOST_TOKENS)
            if self.rule != LEARNT:
                final = which in (STOP, ASKS, ELLIPSIS) or (
                    final and which in (CLOSES, DOUBLE_QUOTE, APOSTROPHE) and self._is_mark(k)
                )
                if self.rule == PUNCTUATION and final and gap != TOGETHER and not ends:
                    ends = not self._is_title(k, first)
            elif not ends:
                if self.begins[k] != first:  # where the sentence begins is all that may differ from the last scan
                    self._stop_features(k, first, depth, quotes)
                    score = self.features._score(self.stops)
                    if self.layout[k] == LIKELIER:
                        score += LINE_END
                    self.scores[k] = score
                    self.begins[k] = first
                ends = self.layout[k] == ENDS or self.scores[k] + self.hints[k] > self.threshold
                if ends and (self.layout[k] == NEVER or self._is_title(k, first)):
                    ends = False
            self.last[k] = ends
            if ends:
                first = k + 1
                depth = quotes = 0

    def _is_title(self, k: int, first: int) -> bool:
        """Whether token k is, or ends, a title before a name; there is a next token."""
        if self.firsts[k + 1] != UPPER or self.tokens.codes[self.tokens.ends[k] - 1] != FULL_STOP:
            return False
        start = self.tokens.starts[k]
        end = self.tokens.ends[k] - 1
        if start == end:
            if k == first or self.gaps[k - 1] != TOGETHER:
                return False
            start = self.tokens.starts[k - 1]
        if self.tokens.characters[start] & CLASS_MASK != UPPER:
            return False
        small = self.tokens._letters(start, end)
        for i in range(self.n_titles):
            if self.titles[i] == small:
                return True
        return False

    def _is_mark(self, k: int) -> bool:
        """Whether the token is not longer than two characters, as quotation marks are, and what follows a mark."""
        return self.tokens.ends[k] - self.tokens.starts[k] <= 2

    def _depth(self, depth: int, which: int) -> int:
        """How many brackets are open, at most 2."""
        if which == OPENS:
            return min(depth + 1, 2)
        return max(depth - 1, 0) if which == CLOSES else depth

    def scan(self) -> None:
        """Find the sentences."""
        self.prepare()
        with cython.nogil:
            self._find_sentences()

    def scan_again(self, hints: array[float]) -> None:
        """Find the sentences with something added to the score of every token."""
        self.hints = hints
        with cython.nogil:
            self._find_sentences()

    def doubtful(self, most: float) -> array[int]:
        """Return the tokens after which hints of this size could change whether a sentence ends."""
        found = array("i")
        for k in range(self.n_tokens):
            if self.gaps[k] != NEW_PARAGRAPH and abs(self.scores[k] - self.threshold) < most:
                found.append(k)
        return found

    def paragraph_ends(self) -> array[int]:
        """Return the last tokens of paragraphs, and the last of all."""
        ends = array("i")
        for k in range(self.n_tokens):
            if self.gaps[k] == NEW_PARAGRAPH or k == self.n_tokens - 1:
                ends.append(k)
        return ends

    def _split_features(self, k: int) -> None:
        """Features of token k as several words; they look at two tokens to each side, within its sentence."""
        self.features._clear()
        small = self.small[k]
        left = left_suffix = left2 = right = right_suffix = right2 = 1
        if k > 0 and not self.last[k - 1]:
            left = self.small[k - 1]
            left_suffix = self.suffixes[k - 1]
            if k > 1 and not self.last[k - 2]:
                left2 = self.small[k - 2]
        if not self.last[k]:
            right = self.small[k + 1]
            right_suffix = self.suffixes[k + 1]
            if not self.last[k + 1]:
                right2 = self.small[k + 2]
        self.features._add(101, small, 0, 0)
        self.features._add(102, small, self.shapes[k], 0)
        self.features._add(103, small, left, 0)
        self.features._add(104, small, right, 0)
        self.features._add(105, small, left_suffix, 0)
        self.features._add(106, small, right_suffix, 0)
        self.features._add(107, small, left, right)
        self.features._add(108, small, left_suffix, right_suffix)
        self.features._add(109, small, left, left2)
        self.features._add(110, small, right, right2)
        self.features._add(111, small, left2, 0)
        self.features._add(112, left_suffix, right_suffix, 0)

    def examples(self, gold: array[int]) -> array[int]:
        """Set which tokens end sentences; return those not at the end of a paragraph, with what their features need."""
        examples = array("i")
        first = depth = quotes = 0
        for k in range(self.n_tokens):
            which = self.firsts[k]
            depth = self._depth(depth, which)
            quotes = quotes ^ 1 if which == DOUBLE_QUOTE else quotes
            self.last[k] = 1
            if self.gaps[k] != NEW_PARAGRAPH:
                examples.extend((k, first, depth, quotes, 0))
                self.last[k] = gold[k]
            if self.last[k]:
                first = k + 1
                depth = quotes = 0
        return examples

    def is_several(self, k: int) -> bool:
        """Whether token k, which only sometimes is several words, is so here."""
        self._split_features(k)
        return self.features._score(self.splits) > 0

    def ends(self) -> array[int]:
        """Return for each token whether it is the last of its sentence."""
        return array("b", bytes(self.last[: self.n_tokens]))

    def settled(self) -> int:
        """How many tokens are in sentences that no further text can change, and after which the text may be cut."""
        if self.n_tokens and self.tokens.size - self.tokens.ends[self.n_tokens - 1] > MOST_SPACE:
            return self.n_tokens
        sure = self.n_tokens
        for _ in range(2):  # the last chunk may go on, and the one before looks at its beginning
            sure -= 1
            while sure > 0 and not self._ends_chunk(sure - 1):
                sure -= 1
        k = sure - self.ahead - 1
        while k >= 0 and not (self.last[k] and self._ends_chunk(k)):
            k -= 1
        return max(k + 1, 0)

    def _ends_chunk(self, k: int) -> bool:
        return self.gaps[k] != TOGETHER and not self.tokens._is_joint(self.tokens.ends[k])
