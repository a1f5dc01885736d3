"""The compiled part of the tokeniser: where tokens and sentences of a text end, and the features that say so.

A *chunk* is what stands between white space, at most MOST_CHUNK characters of it. Features of a place within a chunk
look at the chunk and at the first characters of the next one; features of a token as the last of its sentence look at
the tokens of that sentence and at AHEAD tokens after it. So a text may be cut after any sentence that ends with a
chunk, and what follows comes out as if nothing had been before it.
"""

from __future__ import annotations

from array import array

from tanglewood.scorers.linear_weights import LearningWeights, Weights

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

CLASS_BITS = 5  # a character is its small letter, then its class
CLASS_MASK = 31
DIGIT, STOP, ASKS, DOUBLE_QUOTE, OPENS, CLOSES, ELLIPSIS = 4, 6, 8, 11, 12, 13, 24
NEWLINE = 10
MOST_CHUNK = 4096
MOST_SPACE = 1000  # characters of white space that end a paragraph, as a blank line does
MOST_TOKENS = 1000  # a longer sentence ends with its chunk
LONGEST = 24  # characters of a word that its features see
AHEAD = 8
TOGETHER, SPACE, SPACES, NEW_LINE, NEW_PARAGRAPH = range(5)  # what follows a token
MOST_KEYS = 64
LOW_BITS = 0xFFFFFFFF
SPREAD, LAST_SPREAD = 0x9E3779B1, 0x85EBCA6B  # odd numbers without a pattern in their bits
EXAMPLE = 5  # numbers a place where a token may end: place, begin and end of its chunk, begin of its token, next chunk


class Scanner:
    """Finds the tokens and the sentences of one text; every thread has its own.

    ``may_cut`` says for two classes whether a token may end between them, ``joins`` whether one may hold a space
    between digits. ``threshold`` is what the score of a sentence's end must exceed.
    """

    def __init__(
        self, may_cut: memoryview, joins: bool, cuts: Weights | None, stops: Weights | None, threshold: float
    ) -> None:
        self.may_cut = may_cut
        self.joins = joins
        self.cuts = cuts
        self.stops = stops
        self.threshold = threshold
        self.keys = array("i", bytes(4 * MOST_KEYS))
        self.places = array("i", bytes(4 * MOST_KEYS))
        self.sums = array("i", bytes(8))
        self.out = array("f", bytes(4))
        self.n_keys = 0
        self.n_tokens = 0
        self.n_examples = 0

    def use(self, codes: memoryview, table: array[int]) -> None:
        """Turn to a text, given as its code points, with a table of all characters in it."""
        self.size = len(codes)
        self.codes = codes
        self.characters = array("i", bytes(4 * self.size + 4))
        self.starts = array("i", bytes(4 * self.size + 4))
        self.ends = array("i", bytes(4 * self.size + 4))
        self.gaps = array("b", bytes(self.size + 1))
        self.last = array("b", bytes(self.size + 1))
        self._look_up(table)

    def _look_up(self, table: array[int]) -> None:
        for i in range(self.size):
            self.characters[i] = table[self.codes[i]]

    # Features

    def _mix(self, hashed: int, value: int) -> int:
        hashed = ((hashed ^ value) * SPREAD) & LOW_BITS
        return hashed ^ (hashed >> 15)

    def _add(self, template: int, one: int, two: int, three: int) -> None:
        hashed = self._mix(self._mix(self._mix(template * LAST_SPREAD & LOW_BITS, one), two), three)
        self.keys[self.n_keys] = ((hashed * LAST_SPREAD) & LOW_BITS) >> 1
        self.n_keys += 1

    def _low(self, i: int) -> int:
        """Small letter of a character of the chunk, 0 outside of it."""
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
        """Hash of small letters."""
        hashed = last - first
        for i in range(first, last):
            hashed = self._mix(hashed, self.characters[i] >> CLASS_BITS)
        return hashed

    def _shape(self, first: int, last: int) -> int:
        """Hash of classes, repetitions left out."""
        hashed = 7
        before = -1
        for i in range(first, last):
            which = self.characters[i] & CLASS_MASK
            if which != before:
                hashed = self._mix(hashed, which)
            before = which
        return hashed

    def _is_wordy(self, i: int) -> bool:
        """Whether there is a letter or a digit."""
        return 0 < (self.characters[i] & CLASS_MASK) <= DIGIT + 1

    def _cut_features(self, i: int, token: int, following: int) -> None:
        """Features of the place before character i, if the token begins at ``token``, the next chunk at `following`."""
        begin = self.begin
        end = self.end
        self.n_keys = 0
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
        self._add(1, pair, 0, 0)
        self._add(2, a, 0, 0)
        self._add(3, b, 0, 0)
        self._add(4, c, 0, 0)
        self._add(5, d, 0, 0)
        self._add(6, e, 0, 0)
        self._add(7, f, 0, 0)
        self._add(8, b, c, 0)
        self._add(9, c, d, 0)
        self._add(10, d, e, 0)
        self._add(11, a, b, c)
        self._add(12, b, c, d)
        self._add(13, c, d, e)
        self._add(14, d, e, f)
        self._add(15, self._mix(b, c), d, e)
        self._add(16, self._classes(i - 3, i + 3), 0, 0)
        self._add(17, self._classes(i - 5, i), d, 0)
        self._add(18, self._classes(i, i + 5), c, 0)
        self._add(19, self._classes(i - 2, i + 2), 0, 0)
        self._add(20, self._classes(i - 4, i + 1), self._classes(i + 1, i + 5), 0)
        self._add(21, so_far, 0, 0)
        self._add(22, so_far, d, e)
        self._add(23, so_far, self._classes(i, i + 3), 0)
        self._add(24, rest, c, 0)
        self._add(25, rest, self._classes(i - 3, i), 0)
        self._add(26, self._letters(far_left, i), 0, 0)
        self._add(27, self.chunk, i - begin, 0)
        self._add(28, left_word, d, 0)
        self._add(29, c, right_word, 0)
        self._add(30, left_word, right_word, 0)
        self._add(31, after, self._mix(c, d), is_end)
        self._add(32, after, so_far, self._mix(d, is_end))
        self._add(33, min(end - i, 4), min(i - token, 4), pair)
        self._add(34, self._shape(far_left, i), self._shape(i, far_right), 0)
        self._add(35, self._shape(token, i), self._shape(i, far_right), 0)
        self._add(36, self._shape(token, i), c, d)
        self._add(37, self.marks, c, d)
        self._add(38, self.marks, pair, is_end)

    def _describe_chunk(self) -> None:
        """What features see of the whole chunk: its letters, and whether it looks like an address."""
        end = min(self.end, self.begin + LONGEST)
        self.chunk = self._letters(self.begin, end)
        self.marks = 0
        for i in range(self.begin, end):
            letter = self.characters[i] >> CLASS_BITS
            if letter == 64:  # @
                self.marks |= 1
            elif letter == 47 and self._low(i + 1) == 47:  # //
                self.marks |= 2
            elif letter == 119 and self._low(i + 1) == 119 and self._low(i + 2) == 119:  # www
                self.marks |= 4
            elif letter == 46 and self._is_wordy(i - 1 if i > self.begin else i) and self._class(i + 1) == 1:
                self.marks |= 8  # a letter.letter

    def _is_joint(self, i: int) -> bool:
        """Whether the character is a space that a token may hold."""
        return (
            self.joins
            and 0 < i < self.size - 1
            and self.codes[i] != NEWLINE
            and self.characters[i] & CLASS_MASK == 0
            and self.characters[i - 1] & CLASS_MASK == DIGIT
            and self.characters[i + 1] & CLASS_MASK == DIGIT
        )

    def _gap(self, i: int) -> int:
        """Pass over white space from i on, up to ``self.begin``; return what it is."""
        start = i
        lines = 0
        while i < self.size and self.characters[i] & CLASS_MASK == 0:
            if self.codes[i] == NEWLINE:
                lines += 1
            i += 1
        self.begin = i
        if i == self.size or lines > 1 or i - start > MOST_SPACE:
            return NEW_PARAGRAPH
        if lines:
            return NEW_LINE
        return SPACES if i - start > 1 else SPACE  # a chunk cut for its length is followed by none

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
                if self.characters[end] & CLASS_MASK == 0 and not self._is_joint(end):
                    break
                end += 1
            gap = self._gap(end)
            following = self.begin
            self.begin = begin
            self.end = end
            described = False
            token = begin
            for i in range(begin + 1, end):
                before = self.characters[i - 1] & CLASS_MASK
                which = self.characters[i] & CLASS_MASK
                if before == 0 or not self.may_cut[before << CLASS_BITS | which]:
                    continue
                if learning:
                    cut = gold[i] != 0
                    examples[EXAMPLE * self.n_examples] = i
                    examples[EXAMPLE * self.n_examples + 1] = begin
                    examples[EXAMPLE * self.n_examples + 2] = end
                    examples[EXAMPLE * self.n_examples + 3] = token
                    examples[EXAMPLE * self.n_examples + 4] = following if gap < NEW_PARAGRAPH else -1
                    self.n_examples += 1
                else:
                    if not described:
                        self._describe_chunk()
                        described = True
                    self._cut_features(i, token, following if gap < NEW_PARAGRAPH else -1)
                    self.cuts._score(self.keys, self.n_keys, self.places, self.sums, self.out)
                    cut = self.out[0] > 0
                if cut:
                    self._token(token, i, TOGETHER if which else SPACE)
                    token = i if which else i + 1
            self._token(token, end, gap)

    # Sentences

    def _describe_tokens(self) -> None:
        """Number what features see of the tokens."""
        to_stop = to_end = AHEAD
        for k in range(self.n_tokens - 1, -1, -1):
            start = self.starts[k]
            end = self.ends[k]
            first = self.characters[start] & CLASS_MASK
            stop = min(end, start + LONGEST)
            self.begin = start
            self.end = end
            self.small[k] = self._letters(start, stop)
            self.suffixes[k] = self._letters(max(start, end - 3), end)
            self.shapes[k] = self._mix(self._shape(start, stop), min(end - start, 3))
            hashed = end - start
            for i in range(start, stop):
                hashed = self._mix(hashed, self.codes[i])
            self.forms[k] = hashed
            self.firsts[k] = first
            if self.gaps[k] == NEW_PARAGRAPH:
                to_stop = AHEAD
                to_end = 0
            self.to_stop[k] = to_stop
            self.to_end[k] = to_end
            to_stop = 1 if first in (STOP, ASKS, ELLIPSIS) else min(AHEAD, to_stop + 1)
            to_end = min(AHEAD, to_end + 1)

    def prepare(self) -> None:
        """Make room for what is said of the tokens, and say it."""
        n = 4 * self.n_tokens + 4
        self.small = array("I", bytes(n))
        self.forms = array("I", bytes(n))
        self.shapes = array("I", bytes(n))
        self.suffixes = array("I", bytes(n))
        self.firsts = array("i", bytes(n))
        self.to_stop = array("i", bytes(n))
        self.to_end = array("i", bytes(n))
        with cython.nogil:
            self._describe_tokens()

    def _stop_features(self, k: int, first: int, depth: int, quotes: int) -> None:
        """Features of token k as the last of the sentence that begins with token ``first``."""
        self.n_keys = 0
        gap = self.gaps[k]
        small = self.small[k]
        form = self.forms[k]
        shape = self.shapes[k]
        small1 = form1 = shape1 = small2 = shape2 = 1
        if k > first:
            small1 = self.small[k - 1]
            form1 = self.forms[k - 1]
            shape1 = self.shapes[k - 1]
        if k > first + 1:
            small2 = self.small[k - 2]
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
        shapes = self._mix(shape, next_shape)
        around = self._mix(shapes, gap)
        self._add(51, gap, shape, next_shape)
        self._add(52, small, 0, 0)
        self._add(53, form, next_first, gap)
        self._add(54, next_small, 0, 0)
        self._add(55, next_form, 0, 0)
        self._add(56, small, next_small, 0)
        self._add(57, form, next_form, gap)
        self._add(58, form, next_shape, gap)
        self._add(59, shape, next_form, gap)
        self._add(60, small1, small, next_first)
        self._add(61, form1, around, 0)
        self._add(62, next_form, form3, 0)
        self._add(63, shape1, around, 0)
        self._add(64, around, shape3, 0)
        self._add(65, self._mix(shape2, shape1), around, self._mix(shape3, shape4))
        self._add(66, shape1, around, shape3)
        self._add(67, small2, small1, small)
        self._add(68, next_small, small3, shape)
        self._add(69, small3, shape, next_shape)
        self._add(70, length, 0, 0)
        self._add(71, length, shape, next_shape)
        self._add(72, length, small, next_first)
        self._add(73, length, next_form, 0)
        self._add(74, self.forms[first], shape, next_shape)
        self._add(75, self.shapes[first], around, length)
        self._add(76, self.suffixes[k], next_first, 0)
        self._add(77, self.suffixes[k + 1], shape, 0)
        self._add(78, self.suffixes[k], self.suffixes[k + 1], next_first)
        self._add(79, depth * 2 + quotes, small, next_small)
        self._add(80, depth * 2 + quotes, shape, next_shape)
        self._add(81, self.to_stop[k], around, 0)
        self._add(82, self.to_end[k], around, 0)
        self._add(83, self.to_stop[k], self.to_end[k], length)
        self._add(84, self.to_stop[k], next_form, shape)
        self._add(85, self.to_end[k], small, length)
        self._add(86, small1, around, next_form)
        self._add(87, 0, 0, 0)

    def _find_sentences(self) -> None:
        first = depth = quotes = 0
        for k in range(self.n_tokens):
            which = self.firsts[k]
            depth = self._depth(depth, which)
            quotes = quotes ^ 1 if which == DOUBLE_QUOTE else quotes
            gap = self.gaps[k]
            ends = gap == NEW_PARAGRAPH or (gap != TOGETHER and k - first + 1 >= MOST_TOKENS)
            if not ends:
                self._stop_features(k, first, depth, quotes)
                self.stops._score(self.keys, self.n_keys, self.places, self.sums, self.out)
                ends = self.out[0] > self.threshold
            self.last[k] = ends
            if ends:
                first = k + 1
                depth = quotes = 0

    def _depth(self, depth: int, which: int) -> int:
        """How many brackets are open, at most 2."""
        if which == OPENS:
            return min(depth + 1, 2)
        return max(depth - 1, 0) if which == CLOSES else depth

    def scan(self) -> int:
        """Find tokens and sentences; return how many tokens there are."""
        none = array("b", b"")
        nothing = array("i", b"")
        with cython.nogil:
            self._find_tokens(none, nothing)
        self.prepare()
        with cython.nogil:
            self._find_sentences()
        return self.n_tokens

    def found(self) -> tuple[array[int], array[int], array[int], array[int]]:
        """Return where the tokens begin and end, what follows each, and whether it is the last of its sentence."""
        n = self.n_tokens
        return (
            array("i", bytes(self.starts)[: 4 * n]),
            array("i", bytes(self.ends)[: 4 * n]),
            array("b", bytes(self.gaps)[:n]),
            array("b", bytes(self.last)[:n]),
        )


class Teacher:
    """Learns from the places of a text, in any order, by steps that are as large as the mistake (PA-I)."""

    def __init__(self, scanner: Scanner, margin: float, most: float) -> None:
        self.scanner = scanner
        self.weights = LearningWeights(1)
        self.margin = margin
        self.most = most
        self.time = 1.0
        self.mistakes = 0
        self.score = array("f", bytes(4))

    def cut_examples(self, gold: array[int]) -> array[int]:
        """Find the tokens that gold says begin or end before each character; return the places looked at."""
        examples = array("i", bytes(4 * EXAMPLE * (len(gold) + 1)))
        self.scanner._find_tokens(gold, examples)
        self.scanner.prepare()
        return examples[: EXAMPLE * self.scanner.n_examples]

    def stop_examples(self, last: array[int]) -> array[int]:
        """Return for each token that is not the last of its paragraph: itself, its sentence's first, brackets, quotes."""
        scanner = self.scanner
        examples = array("i")
        first = depth = quotes = 0
        for k in range(scanner.n_tokens):
            which = scanner.firsts[k]
            depth = scanner._depth(depth, which)
            quotes = quotes ^ 1 if which == DOUBLE_QUOTE else quotes
            if scanner.gaps[k] != NEW_PARAGRAPH:
                examples.extend((k, first, depth, quotes, 0))
            if last[k] or scanner.gaps[k] == NEW_PARAGRAPH:
                first = k + 1
                depth = quotes = 0
        return examples

    def learn(self, examples: array[int], gold: array[int], order: array[int], stops: bool) -> None:
        """Go through some examples of one kind in this order; gold says of each place or token whether it is an end."""
        count = len(order)
        self.weights.reserve()
        with cython.nogil:
            self._learn(examples, gold, order, count, stops)

    def _learn(self, examples: array[int], gold: array[int], order: array[int], count: int, stops: bool) -> None:
        for n in range(count):
            at = EXAMPLE * order[n]
            place = examples[at]
            if stops:
                self.scanner._stop_features(place, examples[at + 1], examples[at + 2], examples[at + 3])
            else:
                self.scanner.begin = examples[at + 1]
                self.scanner.end = examples[at + 2]
                self.scanner._describe_chunk()
                self.scanner._cut_features(place, examples[at + 3], examples[at + 4])
            self.weights._score(self.scanner.keys, self.scanner.n_keys, self.score)
            sign = 1.0 if gold[place] else -1.0
            lead = sign * self.score[0]
            self.time += 1
            if lead <= 0:
                self.mistakes += 1
            if lead < self.margin:
                step = min(self.most, (self.margin - lead) / self.scanner.n_keys)
                self.weights._change(self.scanner.keys, self.scanner.n_keys, 0, sign * step, self.time)
