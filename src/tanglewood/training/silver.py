"""Sentences of raw text whose trees only teachers know: a random choice, split by a tokenizer, as yet without tags."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

from tanglewood.errors import ConfigError
from tanglewood.files import opened
from tanglewood.text.reading import Seen
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.training.raw_text import sentences_in
from tanglewood.treebank.sentence import Sentence

LARGE = 100_000  # words of a treebank with which as many of raw text are mixed; with a smaller one four times as many
LONGEST = 100  # words of a sentence; what is longer is rarely one
EMPTY = "\t_" * 8  # the columns after the form


def is_text(file: str | Path) -> bool:
    """Tell whether a file holds raw text, and not a treebank; standard input, which can be read once, is a treebank."""
    if str(file) == "-":
        return False
    with opened(file) as (stream, name):
        return not Seen(stream, name).is_treebank


def words_for(gold: int) -> int:
    """Return how many words of raw text go with a treebank of so many."""
    return gold if gold >= LARGE else 4 * gold


def silver_sentences(files: Sequence[str], tokenizer: Tokenizer | None, words: int, seed: int) -> list[Sentence]:
    """Return sentences of raw text, in their order: all, or of so many words a random choice.

    Without a tokenizer every line is a sentence, and spaces separate its words. However long the text is, no more is
    held than that (reservoir sampling).
    """
    rng = Random(f"silver {seed}")
    kept: list[tuple[int, Sequence[str]]] = []
    size = seen = 0
    for number, forms in enumerate(sentences_in(files, tokenizer)):
        if len(forms) > LONGEST:
            continue
        seen += 1
        if size < words:
            kept.append((number, forms))
            size += len(forms)
        elif (place := rng.randrange(seen)) < len(kept):
            kept[place] = number, forms
    if not kept:
        raise ConfigError(f"{', '.join(files)}: there is no sentence; unlabelled text should have some")
    return [_sentence(forms) for _, forms in sorted(kept, key=lambda item: item[0])]


def _sentence(forms: Sequence[str]) -> Sentence:
    return Sentence("\n".join([*(f"{n}\t{form}{EMPTY}" for n, form in enumerate(forms, 1)), "", ""]).encode())
