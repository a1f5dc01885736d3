"""Sentences that are learnt beside a treebank: of raw text, whose trees only teachers know, or with another's trees."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Sized
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar

from tanglewood.core.actions import Actions
from tanglewood.errors import ConfigError
from tanglewood.files import opened
from tanglewood.learners.base import Example
from tanglewood.ml.words import words_of
from tanglewood.text.reading import Seen
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.training.config import Config
from tanglewood.training.raw_text import sentences_in
from tanglewood.transforms.pseudo_projective import Scheme, projectivize
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.sources import sentences_from

LARGE = 100_000  # words of a treebank with which as many more are mixed; with a smaller one four times as many
LONGEST = 100  # words of a sentence; what is longer is rarely one
EMPTY = "\t_" * 8  # the columns after the form
SHOWN = 5  # most labels that a message names
Item = TypeVar("Item", bound=Sized)


def is_text(file: str | Path) -> bool:
    """Tell whether a file holds raw text, and not a treebank; standard input, which can be read once, is a treebank."""
    if str(file) == "-":
        return False
    with opened(file) as (stream, name):
        return not Seen(stream, name).is_treebank


def words_for(gold: int) -> int:
    """Return how many more words go with a treebank of so many."""
    return gold if gold >= LARGE else 4 * gold


def random_choice(sentences: Iterable[Item], words: int, seed: int) -> list[Item]:
    """Return sentences, in their order: all that are not too long or, of so many words, a random choice of these.

    However many there are, no more are held than that (reservoir sampling).
    """
    rng = Random(f"silver {seed}")
    kept: list[tuple[int, Item]] = []
    size = seen = 0
    for number, sentence in enumerate(sentences):
        if len(sentence) > LONGEST:
            continue
        seen += 1
        if size < words:
            kept.append((number, sentence))
            size += len(sentence)
        elif (place := rng.randrange(seen)) < len(kept):
            kept[place] = number, sentence
    return [sentence for _, sentence in sorted(kept, key=lambda one: one[0])]


def silver_sentences(files: Sequence[str], tokenizer: Tokenizer | None, words: int, seed: int) -> list[Sentence]:
    """Return sentences of raw text, as `random_choice` does.

    Without a tokenizer every line is a sentence, and spaces separate its words.
    """
    kept = random_choice(sentences_in(files, tokenizer), words, seed)
    if not kept:
        raise ConfigError(f"{', '.join(files)}: there is no sentence; unlabelled text should have some")
    return list(map(_sentence, kept))


def _sentence(forms: Sequence[str]) -> Sentence:
    return Sentence("\n".join([*(f"{n}\t{form}{EMPTY}" for n, form in enumerate(forms, 1)), "", ""]).encode())


def silver_trees(
    config: Config, train: Sequence[Sentence], sentences: Iterable[Sentence] | None = None, *, shares: int = 1
) -> list[Sentence]:
    """Return sentences that another parser has annotated: as many as go with the training data, times the shares.

    They are those of the files that the choices name, which may be read elsewhere.
    """
    if not config.silver:
        return []
    for file in config.silver:
        if Path(file).is_file() and is_text(file):  # of a pipe, the beginning would be lost
            raise ConfigError(
                f"{file}: raw text, where sentences with tags and trees are expected, in CoNLL-U; text is for "
                "unlabelled (--unlabelled)"
            )
    source = sentences_from(config.silver) if sentences is None else sentences
    words = config.silver_words or words_for(sum(map(len, train)))
    kept = random_choice(source, shares * words, config.seed)
    if not kept:
        raise ConfigError(f"{', '.join(config.silver)}: there is no sentence; silver data should have some")
    return kept


@dataclass(frozen=True, slots=True)
class Fitting:
    """Silver sentences with trees that a parser could give, and what was noticed about the others."""

    sentences: list[Sentence] = field(default_factory=list)
    examples: list[Example] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def in_words(self) -> str:
        """Say how much there is."""
        words = sum(map(len, self.sentences))
        return f"also learning from {len(self.sentences):,} sentences with another parser's trees, {words:,} words"


def fitting(sentences: Sequence[Sentence], actions: Actions, scheme: Scheme | None) -> Fitting:
    """Return those of the sentences whose labels and roots the parser knows from the treebank, as examples."""
    found = Fitting()
    known, unknown = set(actions.labels), set[str]()
    for sentence in sentences:
        tree = sentence.tree
        new: set[str] = set()
        if scheme is not None:
            new = set(scheme.clashes(tree.labels))  # in the data, they would be taken for decorations
            tree = tree if new else projectivize(tree, scheme)
        new |= {*tree.labels[1:]} - known
        labels = actions.label_numbers(tree)
        from_root = [head == 0 for head in tree.heads[1:]]
        right_root = actions.root_label < 0 or [label == actions.root_label for label in labels[1:]] == from_root
        if new or not right_root or (actions.system.single_root and sum(from_root) > 1):
            unknown |= new
            continue
        found.sentences.append(sentence)
        found.examples.append(Example(words_of(sentence), list(tree.heads), labels, gold=False))
    left_out = len(sentences) - len(found.sentences)
    if left_out:
        shown = f" ({', '.join(sorted(unknown)[:SHOWN])}{', ...' if len(unknown) > SHOWN else ''})" if unknown else ""
        told = f"{left_out:,} of {len(sentences):,} silver sentences"
        reason = f"labels{shown} or roots that the trees of the training data do not have"
        if not found.sentences:
            raise ConfigError(f"{told} have {reason}; they should be annotated as the training data is")
        found.warnings.append(f"{told} are left out: they have {reason}")
    return found
