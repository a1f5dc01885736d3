"""Text as numbers: what an encoder is pretrained on."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import numpy as np

from tanglewood.errors import ConfigError
from tanglewood.files import opened
from tanglewood.ml.language_model import UNSEEN, Text
from tanglewood.text.reading import Seen, read_text
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.treebank.conllu import read

MOST_TYPES = 2_000_000  # distinct forms that are told apart
LONGEST_FORM = 100  # characters; what is longer is no word


def read_texts(files: Sequence[str | Path], tokenizer: Tokenizer | None, most_words: int) -> Text:
    """Read files, compressed or not, until there are so many words, and number their forms.

    Of treebanks the words are taken. Other files are split by the tokenizer; without one each line is a sentence, and
    spaces separate its words.
    """
    numbers: dict[str, int] = {}
    counts = array("q", [0, 0])
    tokens = array("i")
    starts = array("q", [0])
    for forms in sentences_in(files, tokenizer):
        for form in forms:
            number = numbers.get(form, UNSEEN)
            if not number and len(numbers) < MOST_TYPES and len(form) <= LONGEST_FORM:
                number = numbers[form] = len(counts)
                counts.append(0)
            counts[number] += 1
            tokens.append(number)
        starts.append(len(tokens))
        if len(tokens) >= most_words:
            break
    if not tokens:
        raise ConfigError(f"there are no words in {', '.join(map(str, files))}")
    numbered = np.frombuffer(tokens, np.int32), np.frombuffer(starts, np.int64)
    return Text(list(numbers), np.frombuffer(counts, np.int64), *numbered)


def sentences_in(files: Iterable[str | Path], tokenizer: Tokenizer | None) -> Iterator[Sequence[str]]:
    """Yield the forms of one sentence after the other, split as `read_texts` says; none is empty."""
    for file in files:
        with opened(file) as (stream, name):
            seen = Seen(stream, name)
            if seen.is_treebank:
                yield from (sentence.forms for sentence in read(seen.as_stream(), trees=False))
                continue
            chunks = read_text(seen.as_stream(), name)
            if tokenizer is None:
                yield from filter(None, map(str.split, _lines(chunks)))
                continue
            for _, sentences in tokenizer.stream(chunks):
                yield from ([form for token in sentence for form in token.words] for sentence in sentences if sentence)


def _lines(chunks: Iterable[str]) -> Iterator[str]:
    """Yield the lines of a text that comes in pieces."""
    rest = ""
    for chunk in chunks:
        first, *others = chunk.split("\n")
        rest += first
        if others:
            yield rest
            yield from others[:-1]
            rest = others[-1]
    yield rest
