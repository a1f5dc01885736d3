"""A sentence as plain data: nested for JSON, or one flat row per word for tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tanglewood.errors import LocatedError
from tanglewood.treebank.ranges import multiword_ranges
from tanglewood.treebank.sentence import DEPREL, FEATS, FORM, HEAD, ID, LEMMA, MISC, UPOS, XPOS, number_of

if TYPE_CHECKING:
    from tanglewood.treebank.sentence import Sentence

NUMBER = "(0|[1-9][0-9]{0,14})"
TOKEN_RANGE = re.compile(rf"(?:^|\|)TokenRange={NUMBER}:{NUMBER}(?:$|\|)")
ROW_COLUMNS = (  # of a row: the sentence, the word, and what is known of it
    *("sentence", "sent_id", "id", "form", "lemma", "upos", "xpos", "feats"),
    *("head", "deprel", "start", "end", "nonprojective", "confidence"),
)


def pairs(column: str) -> dict[str, str]:
    """Return what a column like ``Case=Nom|Number=Sing`` says, by name; a name alone has the value ""."""
    if column == "_":
        return {}
    return {key: value for key, _, value in (pair.partition("=") for pair in column.split("|"))}


def token_range(misc: str) -> tuple[int, int] | None:
    """Return where a token begins and ends in the text, from its last column; None if that does not say so."""
    found = TOKEN_RANGE.search(misc)
    return None if found is None else (int(found[1]), int(found[2]))


def offsets(sentence: Sentence) -> list[tuple[int, int] | None]:
    """Return where each word begins and ends in the text; the words of a multiword token are where the token is."""
    found = [token_range(misc) for misc in sentence.misc]
    for first, last, _, misc in multiword_ranges(sentence):
        found[first - 1 : last] = [own or token_range(misc) for own in found[first - 1 : last]]
    return found


def confidence(misc: dict[str, str]) -> float | None:
    """Return how sure the parser was of a word's head, from what its last column says; None if that is not known."""
    try:
        return float(misc["Confidence"])
    except (KeyError, ValueError):
        return None


def sentence_dict(sentence: Sentence) -> dict[str, Any]:
    """Return what is known of a sentence; columns that hold nothing are left out."""
    result: dict[str, Any] = {}
    for key, value in (("sent_id", sentence.sent_id), ("text", sentence.text)):
        if value is not None:
            result[key] = value
    crossing = _nonprojective(sentence) or ()
    has_misc = sentence.format != "conllx"
    result["words"] = [
        {
            **_columns(row),
            **(_misc(row[MISC]) if has_misc else {}),
            **({"nonprojective": True} if number in crossing else {}),
        }
        for number, row in enumerate(sentence.words, 1)
    ]
    tokens = [
        {"first": first, "last": last, "form": form, **_misc(misc)}
        for first, last, form, misc in multiword_ranges(sentence)
    ]
    return {**result, "multiword": tokens} if tokens else result


def sentence_rows(sentence: Sentence, number: int = 1) -> list[dict[str, Any]]:
    """Return a row for each word, with all of ROW_COLUMNS; what is not known is None.

    ``number`` is that of the sentence. Features are one string, as in the file.
    """
    crossing = _nonprojective(sentence)
    sent_id = sentence.sent_id
    rows = []
    for word, (row, misc, place) in enumerate(zip(sentence.words, sentence.misc, sentence.offsets, strict=True), 1):
        start, end = place or (None, None)
        known = {
            **_columns(row),
            "sentence": number,
            "sent_id": sent_id,
            "feats": None if row[FEATS] == "_" else row[FEATS],
            "start": start,
            "end": end,
            "nonprojective": None if crossing is None else word in crossing,
            "confidence": confidence(pairs(misc)),
        }
        rows.append({column: known.get(column) for column in ROW_COLUMNS})
    return rows


def _nonprojective(sentence: Sentence) -> frozenset[int] | None:
    try:
        return sentence.nonprojective
    except LocatedError:
        return None  # there is no tree, or not a whole one


def _columns(row: tuple[str, ...]) -> dict[str, Any]:
    word: dict[str, Any] = {"id": int(row[ID]), "form": row[FORM]}
    for key, column in (("lemma", LEMMA), ("upos", UPOS), ("xpos", XPOS)):
        if row[column] != "_" or (column == LEMMA and row[FORM] == "_"):  # the lemma of an underscore is one
            word[key] = row[column]
    if row[FEATS] != "_":
        word["feats"] = pairs(row[FEATS])
    if number_of(row[HEAD]) >= 0:
        word |= {"head": int(row[HEAD]), "deprel": row[DEPREL]}
    return word


def _misc(column: str) -> dict[str, Any]:
    """Return the last column, with the place of a word in the text as two numbers."""
    place = token_range(column)
    found = pairs(column)
    sure = confidence(found)
    if place is not None:
        del found["TokenRange"]
    if sure is not None:
        del found["Confidence"]
    return {
        **({} if place is None else {"start": place[0], "end": place[1]}),
        **({} if sure is None else {"confidence": sure}),
        **({"misc": found} if found else {}),
    }
