"""The compiled part of the tokenizer that finds tokens: chunks of a text, and the features of a token's end.

A *chunk* is what is between white space, at most MOST_CHUNK characters of it. Features of a place within a chunk
look only at the chunk and at the first characters of the next one.
"""

from __future__ import annotations

from array import array

from tanglewood.ml.linear_weights import Weights
from tanglewood.text.hashed import Features

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

CLASS_BITS = 5  # a character is its lowercase form, then its class
CLASS_MASK = 31
LOWER, DIGIT, MARK = 1, 4, 5
NEWLINE, LONG_DASH = 10, 0x2014
MOST_CHUNK = 4096
MOST_SPACE = 1000  # characters of white space that end a paragraph, as a blank line does
LONGEST = 24  # characters of a word that its features see
TOGETHER, SPACE, SPACES, NEW_LINE, NEW_PARAGRAPH = range(5)  # what follows a token
LOW_BITS, SPREAD = 0xFFFFFFFF, 0x9E3779B1
EXAMPLE = 5  # numbers per place where a token may end: place, start and end of chunk, start of token, next chunk


class TokenScanner:
    """Finds the tokens of one text; every thread has its own.

    ``may_cut`` says for two classes whether a token may end between them, ``joins`` whether one may hold a space
    between digits, ``lines`` whether a line break is more than a space.
    """

    def __init__(self, may_cut: memoryview, cuts: Weights, *, joins: bool, lines: bool) -> None:
        self.may_cut = may_cut
        self.cuts = cuts
        self.joins = joins
        self.lines = lines
        self.features = Features()
        self.n_tokens = 0
        self.n_examples = 0

    def use(self, codes: memoryview, table: array[int]) -> None:
        """Switch to a text, given as its code points, with a table of all characters in it."""
        self.size = len(codes)
        self.codes = codes
        self.characters = array("i", bytes(4 * self.size + 4))
        self.starts = array("i", bytes(4 * self.size + 4))
        self.ends = array("i", bytes(4 * self.size + 4))
        self.gaps = array("b", bytes(self.size + 1))
        with cython.nogil:
            self._look_up(table)

    def _look_up(self, table: array[int]) -> None:
        for i in range(self.size):
            self.characters[i] = table[self.codes[i]]

    def _low(self, i: int) -> int:
        """Lowercase form of a character of the chunk, 0 outside it."""
        return self.characters[i] >> CLASS_BITS if self.begin <= i < self.end else 0

    def _class(self, i: int) -> int:
        return self.characters[i] & CLASS_MASK if self.begin <= i < self.end else 0

    def _classes(self, first: int, last: int) -> int:
        """Classes of at most six characters."""
        value = 0
        for i in range(first, last):
            value = value << CLASS_BITS | self._class(i)
        return value

    def _letters(self, first: int, last: int) -> int:
        """Hash of characters in lowercase."""
        hashed = last - first
        for i in range(first, last):
            hashed = ((hashed ^ (self.characters[i] >> CLASS_BITS)) * SPREAD) & LOW_BITS
            hashed ^= hashed >> 15
        return hashed

    def _form(self, first: int, last: int) -> int:
        """Hash of the characters themselves."""
        hashed = last - first
        for i in range(first, last):
            hashed = ((hashed ^ self.codes[i]) * SPREAD) & LOW_BITS
            hashed ^= hashed >> 15
        return hashed

    def _shape(self, first: int, last: int) -> int:
        """Hash of classes, repetitions left out."""
        hashed = 7
        before = -1
        for i in range(first, last):
            which = self.characters[i] & CLASS_MASK
            if which != before:
                hashed = ((hashed ^ which) * SPREAD) & LOW_BITS
                hashed ^= hashed >> 15
            before = which
        return hashed

    def _is_wordy(self, i: int) -> bool:
        """Whether there is a letter or a digit."""
        return 0 < (self.characters[i] & CLASS_MASK) <= MARK

    def _cut_features(self, i: int, token: int, following: int) -> None:
        """Features of the place before character i, if the token begins at ``token``, the next chunk at `following`."""
        begin = self.begin
        end = self.end
        self.features._clear()
        pair = self._classes(i - 1, i + 1)
        far_left = max(begin, i - LONGEST)
        far_right = min(end, i + LONGEST)
        token = max(token, far_left)
        left = i
        while left > far_left and self._is_wordy(left - 1):
            left -= 1
        if left == i:  # the word before the mark before i
            left = i - 1
            while left > far_left and self._is_wordy(left - 1):
                left -= 1
        right = i
        while right < far_right and self._is_wordy(right):
            right += 1
        if right == i:
            right = i + 1
            while right < far_right and self._is_wordy(right):
                right += 1
        left_word = self._letters(left, i)
        right_word = self._letters(i, right)
        so_far = self._letters(token, i)
        rest = self._letters(i, far_right)
        after = 0
        if following >= 0:
            after = self.characters[following] & CLASS_MASK
            if following + 1 < self.size:
                after = after << CLASS_BITS | (self.characters[following + 1] & CLASS_MASK)
        is_end = 1 if i == end - 1 else 0
        a = self._low(i - 3)
        b = self._low(i - 2)
        c = self._low(i - 1)
        d = self._low(i)
        e = self._low(i + 1)
        f = self._low(i + 2)
        self.features._add(1, pair, 0, 0)
        self.features._add(2, b, 0, 0)
        self.features._add(3, c, 0, 0)
        self.features._add(4, d, 0, 0)
        self.features._add(5, e, 0, 0)
        self.features._add(6, b, c, 0)
        self.features._add(7, c, d, 0)
        self.features._add(8, d, e, 0)
        self.features._add(9, a, b, c)
        self.features._add(10, b, c, d)
        self.features._add(11, c, d, e)
        self.features._add(12, d, e, f)
        self.features._add(13, self.features._mix(b, c), d, e)
        self.features._add(14, self._classes(i - 3, i + 3), 0, 0)
        self.features._add(15, self._classes(i - 5, i), d, 0)
        self.features._add(16, self._classes(i, i + 5), c, 0)
        self.features._add(17, self._classes(i - 2, i + 2), 0, 0)
        self.features._add(18, self._classes(i - 4, i + 1), self._classes(i + 1, i + 5), 0)
        self.features._add(19, so_far, 0, 0)
        self.features._add(20, so_far, d, e)
        self.features._add(21, so_far, self._classes(i, i + 3), 0)
        self.features._add(22, rest, c, 0)
        self.features._add(23, rest, self._classes(i - 3, i), 0)
        self.features._add(24, self._letters(far_left, i), 0, 0)
        self.features._add(25, self.chunk, i - begin, 0)
        self.features._add(26, left_word, d, 0)
        self.features._add(27, c, right_word, 0)
        self.features._add(28, left_word, right_word, 0)
        self.features._add(29, after, self.features._mix(c, d), is_end)
        self.features._add(30, after, so_far, self.features._mix(d, is_end))
        self.features._add(31, min(end - i, 4), min(i - token, 4), pair)
        self.features._add(32, self._shape(far_left, i), self._shape(i, far_right), 0)
        self.features._add(33, self._shape(token, i), self._shape(i, far_right), 0)
        self.features._add(34, self._shape(token, i), c, d)
        self.features._add(35, self.marks, pair, is_end)

    def _turn_to(self, begin: int, end: int) -> None:
        """Note what features see of a whole chunk: its letters, and whether it looks like an address."""
        self.begin = begin
        self.end = end
        stop = min(end, begin + LONGEST)
        self.chunk = self._letters(begin, stop)
        self.marks = 0
        for i in range(begin, stop):
            letter = self.characters[i] >> CLASS_BITS
            if letter == 64:  # @
                self.marks |= 1
            elif letter == 47 and self._low(i + 1) == 47:  # //
                self.marks |= 2
            elif letter == 119 and self._low(i + 1) == 119 and self._low(i + 2) == 119:  # www
                self.marks |= 4
            elif letter == 46 and self._is_wordy(i - 1 if i > begin else i) and self._class(i + 1) == LOWER:
                self.marks |= 8  # a.b

    def _is_joint(self, i: int) -> bool:
        """Whether the character is a space that a token may hold."""
        return (
            self.joins
            and 0 < i < self.size - 1
            and self.codes[i] in (0x20, 0xA0, 0x2009, 0x202F)  # spaces, also narrow and unbreakable ones
            and self.characters[i - 1] & CLASS_MASK == DIGIT
            and self.characters[i + 1] & CLASS_MASK == DIGIT
        )

    def _gap(self, i: int) -> int:
        """Skip white space from i on, up to ``self.begin``; return what kind of gap it is."""
        start = i
        lines = 0
        while i < self.size and self.characters[i] & CLASS_MASK == 0:
            if self.codes[i] == NEWLINE:
                lines += 1
            i += 1
        self.begin = i
        if i == self.size or lines > 1 or i - start > MOST_SPACE:
            return NEW_PARAGRAPH
        if not self.lines:
            return SPACE
        return NEW_LINE if lines else SPACES if i - start > 1 else SPACE

    def _token(self, start: int, end: int, gap: int) -> None:
        self.starts[self.n_tokens] = start
        self.ends[self.n_tokens] = end
        self.gaps[self.n_tokens] = gap
        self.n_tokens += 1

    def _find_tokens(self, gold: array[int], examples: array[int]) -> None:
        """Find the tokens by their scores, or, if ``gold`` is the size of the text, by what it says, for examples."""
        learning = len(gold) >= self.size
        self.n_tokens = 0
        self.n_examples = 0
        self._gap(0)
        following = self.begin
        while following < self.size:
            begin = following
            end = begin + 1
            while end < self.size and end - begin < MOST_CHUNK:
                if self.characters[end] & CLASS_MASK == 0 and (
                    end - begin == MOST_CHUNK - 1 or not self._is_joint(end)
                ):
                    break  # a chunk never ends with a space
                end += 1
            gap = self._gap(end)
            following = self.begin
            described = False
            token = begin
            for i in range(begin + 1, end):
                before = self.characters[i - 1] & CLASS_MASK
                which = self.characters[i] & CLASS_MASK
                dash = not learning and (self.codes[i] == LONG_DASH) != (self.codes[i - 1] == LONG_DASH)
                if before == 0 or not (dash or self.may_cut[before << CLASS_BITS | which]):
                    continue
                if dash:
                    cut = True  # it is a token of its own, though it is rare in treebanks
                elif learning:
                    cut = gold[i] != 0
                    examples[EXAMPLE * self.n_examples] = i
                    examples[EXAMPLE * self.n_examples + 1] = begin
                    examples[EXAMPLE * self.n_examples + 2] = end
                    examples[EXAMPLE * self.n_examples + 3] = token
                    examples[EXAMPLE * self.n_examples + 4] = following if gap < NEW_PARAGRAPH else -1
                    self.n_examples += 1
                else:
                    if not described:
                        self._turn_to(begin, end)
                        described = True
                    self._cut_features(i, token, following if gap < NEW_PARAGRAPH else -1)
                    cut = self.features._score(self.cuts) > 0
                if cut:
                    self._token(token, i, TOGETHER if which else SPACE)
                    token = i if which else i + 1
            self._token(token, end, gap)

    def examples(self, gold: array[int]) -> array[int]:
        """Find the tokens that, as gold says, begin or end before each character; return the places looked at."""
        examples = array("i", bytes(4 * EXAMPLE * (len(gold) + 1)))
        self._find_tokens(gold, examples)
        return examples[: EXAMPLE * self.n_examples]

    def scan(self) -> None:
        """Find the tokens."""
        none = array("b", b"")
        nothing = array("i", b"")
        with cython.nogil:
            self._find_tokens(none, nothing)

    def found(self) -> tuple[array[int], array[int]]:
        """Return where the tokens begin and end."""
        n = self.n_tokens
        return array("i", bytes(self.starts[:n])), array("i", bytes(self.ends[:n]))
