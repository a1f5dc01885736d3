"""Which words of a system match which of gold, where they may differ: aligned by characters, as in CoNLL 2018.

Both sides must be made of the same characters, spaces (the Unicode category Zs) aside. A token is a stretch of these
characters, and so is a word that is not part of a multiword token; words of multiword tokens are aligned by their
forms. The words are visited in the same order as in the official evaluation, so that the same ones become partners even
where its description leaves that open.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, chain, islice, pairwise, repeat
from sys import intern

from tanglewood.errors import FormatError, one_line
from tanglewood.measure.conll2018 import Arcs, universal_features, universal_label
from tanglewood.measure.sources import Source
from tanglewood.treebank import measures
from tanglewood.treebank.ranges import multiword_ranges
from tanglewood.treebank.sentence import FEATS, FORM, LEMMA, UPOS, XPOS, Sentence

SPACES = " \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000"  # Zs
SPACE = re.compile(f"[{SPACES}]")
BEYOND = 2**31 - 1  # past the last character
LONGEST_ID = 100  # of a sentence, in a message
NEARBY = 4  # tokens shown on either side of a difference


class Side:
    """All words of gold or of a system in columns, and the characters they are made of.

    Columns are indexed by node, as in trees, but through the whole text; node 0 is the root of every sentence. A word
    has the ``starts`` and ``ends`` of its token; after the last word both have an end mark. ``crossing`` is
    true where the arc to the word is non-projective; ``feats`` are universal features.
    """

    def __init__(self, sentences: Source) -> None:
        self.sentences = sentences
        self.starts, self.ends = array("i", [-1]), array("i", [-1])
        self.multiword, self.crossing = bytearray(1), bytearray(1)  # truth values
        self.token_ends, self.sentence_ends = array("i"), array("i")
        self.upos, self.xpos, self.feats, self.lemmas = [""], [""], [""], [""]
        self._heads, self._labels = array("i", [-1]), [""]
        self._forms: dict[int, str] = {}  # of words of multiword tokens; those of others are cut out when asked for
        self.characters = "".join(map(self._add, sentences))
        self.arcs = Arcs(self._heads, self._labels)
        self.starts.append(BEYOND)
        self.ends.append(BEYOND)
        self.multiword.append(0)

    def __len__(self) -> int:
        return len(self._heads) - 1

    def form(self, node: int) -> str:
        """Return the form, in lower case, by which a word is aligned within multiword tokens."""
        form = self._forms.get(node)
        return (self.characters[self.starts[node] : self.ends[node]] if form is None else form).lower()

    def _add(self, sentence: Sentence) -> str:
        """Add the columns of a sentence; return its characters."""
        before = len(self)
        heads, rows = sentence.heads(), sentence.words
        self._heads.extend([head + before if head else 0 for head in heads[1:]])
        self.crossing.extend(map(bool, measures.arc_degrees_2006(heads)[1:]))
        self._labels.extend(map(universal_label, sentence.deprels))
        self.feats.extend([universal_features(row[FEATS]) for row in rows])
        for column, texts in ((LEMMA, self.lemmas), (UPOS, self.upos), (XPOS, self.xpos)):
            texts.extend([intern(row[column]) for row in rows])
        tokens = [row[FORM] for row in rows]
        sizes = [1] * len(rows)  # in words
        self.multiword.extend(bytes(len(rows)))
        for low, high, form, _ in reversed([*multiword_ranges(sentence)]):  # so that earlier places stay valid
            size = high - low + 1
            self._forms.update(enumerate(tokens[low - 1 : high], before + low))
            self.multiword[before + low : before + high + 1] = bytes([1]) * size
            tokens[low - 1 : high] = [form]
            sizes[low - 1 : high] = [size]
        characters = "".join(tokens)
        if SPACE.search(characters):
            tokens = [SPACE.sub("", token) for token in tokens]
            characters = "".join(tokens)
            if "" in tokens:
                raise _blank_error(sentence, sum(sizes[: tokens.index("")]) + 1)
        start, *ends = accumulate(map(len, tokens), initial=self.sentence_ends[-1] if before else 0)
        self.token_ends.extend(ends)
        self.sentence_ends.append(ends[-1])
        starts = [start, *ends[:-1]]
        if len(tokens) < len(rows):
            starts, ends = ([*chain.from_iterable(map(repeat, places, sizes))] for places in (starts, ends))
        self.starts.extend(starts)
        self.ends.extend(ends)
        return characters


def align(gold: Side, system: Side) -> array[int]:
    """Return for each node of the system its partner in gold, or -1; partners ascend, and that of 0 is 0."""
    if gold.characters != system.characters:
        raise _text_error(gold, system)
    partners = array("i", [-1]) * (len(system) + 1)
    partners[0] = 0
    g = s = 1
    while g <= len(gold) and s <= len(system):
        start, other_start = gold.starts[g], system.starts[s]
        if gold.multiword[g] or system.multiword[s]:
            first, other_first, g, s = _stretch(gold, system, g, s)
            forms = [gold.form(node) for node in range(first, g)]
            other_forms = [system.form(node) for node in range(other_first, s)]
            for i, j in common_subsequence(forms, other_forms):
                partners[other_first + j] = first + i
        elif start == other_start and gold.ends[g] == system.ends[s]:
            partners[s] = g
            g += 1
            s += 1
        elif start <= other_start:
            g += 1
        else:
            s += 1
    return partners


def _stretch(gold: Side, system: Side, g: int, s: int) -> tuple[int, int, int, int]:
    """Return where the words to align by their forms begin and end in gold and system.

    Of the next words, ``g`` and ``s``, at least one is part of a multiword token; if the other is not and begins before
    it, it is skipped. Then words of both sides are taken in the order in which they begin, until neither side has
    another one within the multiword tokens taken so far.
    """
    end = gold.ends[g] if gold.multiword[g] else system.ends[s]
    if gold.multiword[g] > system.multiword[s]:
        s += system.starts[s] < gold.starts[g]
    elif gold.multiword[g] < system.multiword[s]:
        g += gold.starts[g] < system.starts[s]
    first, other_first = g, s
    while _lies_within(gold, g, end) or _lies_within(system, s, end):
        if gold.starts[g] <= system.starts[s]:
            side, node = gold, g
            g += 1
        else:
            side, node = system, s
            s += 1
        if side.multiword[node]:
            end = max(end, side.ends[node])
    return first, other_first, g, s


def _lies_within(side: Side, node: int, end: int) -> bool:
    """Whether a word ends by ``end``; a multiword token need only begin before it."""
    return side.starts[node] < end if side.multiword[node] else side.ends[node] <= end


def common_subsequence(one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield the places of a longest common subsequence in both.

    If there are several it is the one found from the front: equal items are taken; otherwise the item of ``one`` is
    skipped if that loses nothing, and that of ``other`` if it does.
    """
    i = j = 0
    while i < len(one) and j < len(other) and one[i] == other[j]:
        yield i, j
        i += 1
        j += 1
    if i == len(one) or j == len(other):
        return
    longest = [[0] * (len(other) + 1)]  # of one[i:] and other[j:], from the last i to the first
    for item in reversed(one):
        after = longest[-1]
        row = [0] * (len(other) + 1)
        for place in reversed(range(len(other))):
            row[place] = after[place + 1] + 1 if item == other[place] else max(after[place], row[place + 1])
        longest.append(row)
    longest.reverse()
    while i < len(one) and j < len(other):
        if one[i] == other[j]:
            yield i, j
            i += 1
            j += 1
        elif longest[i][j] == longest[i + 1][j]:
            i += 1
        else:
            j += 1


def common_spans(gold_ends: Sequence[int], system_ends: Sequence[int]) -> int:
    """Return how many spans are the same on both sides, which begin at 0 and have no gaps."""
    count = g = s = start = other_start = 0
    while g < len(gold_ends) and s < len(system_ends):
        end, other_end = gold_ends[g], system_ends[s]
        count += start == other_start and end == other_end
        if end <= other_end:
            start = end
            g += 1
        if other_end <= end:
            other_start = other_end
            s += 1
    return count


# What cannot be aligned. --------------------------------------------------------------------------------------------


def place_of(sentence: Sentence, line: int) -> str:
    """Return how messages name a line of a sentence."""
    name = "" if sentence.sent_id is None else f", sent_id {sentence.sent_id}"
    return f"{sentence.file or '<memory>'}:{line}{name}"


def _error(problem: str, sentence: Sentence, line: int) -> FormatError:
    return FormatError(problem, file=sentence.file, line=line, sent_id=sentence.sent_id)


def _blank_error(sentence: Sentence, word: int) -> FormatError:
    problem = f"word {word}, or the multiword token that begins there, is made of spaces only; it should have a form"
    return _error(problem, sentence, sentence.line_of(word))


def _text_error(gold: Side, system: Side) -> FormatError:
    """Say where the characters of two sides begin to differ, and what is there."""
    pairs = zip(gold.characters, system.characters, strict=False)
    end = min(len(gold.characters), len(system.characters))
    place = next((i for i, (one, other) in enumerate(pairs) if one != other), end)
    should = f"both should have the same text, spaces aside{_missing(gold, system)}"
    if place < end:
        there = f"{_shown(gold, place)} in gold at {place_of(*_location(gold, place))}"
        return _error(f"{_shown(system, place)} here, but {there}; {should}", *_location(system, place))
    longer, shorter, name = (gold, system, "system") if len(system.characters) == end else (system, gold, "gold")
    ended = f"ends before {_shown(longer, place)}, at {place_of(*_location(shorter, end - 1))}" if end else "is empty"
    return _error(f"the {name} side {ended}; {should}", *_location(longer, place))


def _missing(gold: Side, system: Side) -> str:
    """Say which sentence is the first that one side lacks, if most of them have the same sent_id on both sides."""
    names = [[sentence.sent_id for sentence in side.sentences] for side in (gold, system)]
    known = [set(own) for own in names]
    if any(None in own for own in known) or 2 * len(known[0] & known[1]) <= min(map(len, known)):
        return ""
    for side, own, others in (("gold", names[0], known[1]), ("the system", names[1], known[0])):
        if name := next((name for name in own if name not in others), None):
            return f"; only {side} has sentence {one_line(name, LONGEST_ID)}: --agreement matches sentences by sent_id"
    return ""


def _location(side: Side, place: int) -> tuple[Sentence, int]:
    """Return the sentence and the line of the token with this character."""
    number = bisect_right(side.sentence_ends, place)
    begin = side.sentence_ends[number - 1] if number else 0
    node = bisect_left(side.starts, side.starts[bisect_right(side.starts, place) - 1])  # the first of its token
    sentence = next(islice(side.sentences, number, None))
    return sentence, sentence.line_of(node - bisect_left(side.starts, begin) + 1) - side.multiword[node]


def _shown(side: Side, place: int) -> str:
    """Return a character, and the token it is in with some tokens around it."""
    token = bisect_right(side.token_ends, place)
    first, last = max(token - NEARBY, 0), min(token + NEARBY, len(side.token_ends) - 1)
    cuts = [side.token_ends[number - 1] if number else 0 for number in range(first, last + 2)]
    return f"{side.characters[place]!r} in {' '.join(side.characters[i:j] for i, j in pairwise(cuts))!r}"
