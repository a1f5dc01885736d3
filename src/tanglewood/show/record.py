"""A sentence as plain data, for JSON: words by their numbers, multiword tokens by those of their words."""

from __future__ import annotations

from typing import Any

from tanglewood.treebank.ranges import multiword_ranges
from tanglewood.treebank.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS, Sentence, number_of


def record(sentence: Sentence) -> dict[str, Any]:
    """Return what is known of a sentence; columns that hold nothing are left out."""
    result: dict[str, Any] = {}
    for key, value in (("sent_id", sentence.sent_id), ("text", sentence.text)):
        if value is not None:
            result[key] = value
    crossing = {*sentence.tree.nonprojective_arcs()} if "_" not in sentence.column(HEAD) else set()
    result["words"] = [
        {**_columns(row), **({"nonprojective": True} if number in crossing else {})}
        for number, row in enumerate(sentence.words, 1)
    ]
    tokens = [
        {"first": first, "last": last, "form": form, **_misc(misc)}
        for first, last, form, misc in multiword_ranges(sentence)
    ]
    return {**result, "multiword": tokens} if tokens else result


def _columns(row: tuple[str, ...]) -> dict[str, Any]:
    word: dict[str, Any] = {"id": int(row[ID]), "form": row[FORM]}
    for key, column in (("lemma", LEMMA), ("upos", UPOS), ("xpos", XPOS)):
        if row[column] != "_":
            word[key] = row[column]
    if row[FEATS] != "_":
        word["feats"] = _pairs(row[FEATS])
    if row[HEAD] != "_":
        word |= {"head": int(row[HEAD]), "deprel": row[DEPREL]}
    return {**word, **_misc(row[MISC])}


def _misc(column: str) -> dict[str, Any]:
    """Return the last column; where a word stands in the text as two numbers."""
    if column == "_":
        return {}
    pairs = _pairs(column)
    start, _, end = pairs.pop("TokenRange", "").partition(":")
    known = all(0 < len(text) < 16 and number_of(text) >= 0 for text in (start, end))
    place = {"start": int(start), "end": int(end)} if known else {}
    return {**place, **({"misc": pairs} if pairs else {})}


def _pairs(column: str) -> dict[str, str]:
    return {key: value for key, _, value in (pair.partition("=") for pair in column.split("|"))}
