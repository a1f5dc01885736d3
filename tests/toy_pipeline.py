"""A small pipeline that has learnt the toy language as it is written, for tests of what leads from text to trees."""

from __future__ import annotations

from functools import cache
from random import Random
from typing import TYPE_CHECKING

import pytest

from exhaustive import COMPILED
from tanglewood.pipeline import Pipeline
from tanglewood.text import tagger
from tanglewood.text.tagger import TaggerOptions
from tanglewood.training.pipeline import prepare
from toy import TAGS, clause, sentences_of, small_network, train_parser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tanglewood.treebank.sentence import Sentence

OPTIONS = TaggerOptions(epochs=10, layers=1, batch_words=30, rate=0.02)
N_TRAIN = 60 if COMPILED else 25
TEXT = "Tawug zorps mib dax. Dax fimps krell.\n\nWug   blick zorps\ngrubben vonly. <odd> & \u00e9!"
TEXTS = [TEXT, "", "Dax.", "Dax zorps. " * 9, TEXT * 3, "  ", "Tawug fimps blick .", "Wug\n\nwug"]


def blocks(sentences: Iterable[Sentence]) -> list[bytes]:
    """The sentences as they are written."""
    return [sentence.to_bytes() for sentence in sentences]


def written(n: int, seed: int) -> list[Sentence]:
    """Toy sentences as they are written: a capital first, no space before the dot, ta and wug as one token."""
    chance = Random(seed)
    blocks = []
    for number in range(n):
        rows = clause(chance)
        lines = [f"# sent_id = {number}"] if number % 5 else ["# newpar", f"# sent_id = {number}"]
        for place, (form, lemma, head, label) in enumerate(rows, 1):
            after = "SpaceAfter=No" if place == len(rows) - 1 else "_"
            if form == "ta" and rows[place][0] == "wug":  # ta wug is written tawug
                glued = "SpaceAfter=No" if place + 1 == len(rows) - 1 else "_"
                lines.append(f"{place}-{place + 1}\t{'Tawug' if place == 1 else 'tawug'}" + "\t_" * 7 + f"\t{glued}")
            shown = form.capitalize() if place == 1 else form
            lines.append("\t".join([str(place), shown, lemma, *TAGS[form], str(head), label, "_", after]))
        blocks.append("\n".join(lines) + "\n\n")
    return sentences_of("".join(blocks))


@cache
def toy_pipeline() -> Pipeline:
    """A pipeline of tokenizer, tagger and parser, trained once for all tests of a process."""
    with pytest.MonkeyPatch.context() as patch:
        small_network(patch)
        patch.setattr(tagger, "SIZES", (16, 8))
        found = prepare(written(N_TRAIN, 1), written(10, 2), folds=2, options=OPTIONS)
        return Pipeline(train_parser(found.train), found.tagger, found.tokenizer)
