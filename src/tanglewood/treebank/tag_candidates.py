"""Tag candidates of words, left to the parser by a first tagger: written to MISC as ``TagChoices=NOUN:0,VERB:2.31``.

The first tag is the tagger's own; the number says how far a tag is behind the best, in log-probability.
"""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import quote, unquote

from tanglewood.treebank.sentence import Sentence

KEY = "TagChoices"
TagCandidate = tuple[str, float]


def write_candidates(choices: Sequence[TagCandidate]) -> str:
    """Return the candidates of a word as text; in tags all but letters, digits and a few signs is percent-encoded."""
    return ",".join(f"{quote(tag, safe='')}:{behind:.2f}" for tag, behind in choices)


def read_candidates(misc: str) -> list[TagCandidate]:
    """Return the candidates in a MISC column, the tagger's own tag first; those that cannot be read are ignored."""
    for part in misc.split("|"):
        key, _, text = part.partition("=")
        if key == KEY:
            pairs = [choice.rpartition(":") for choice in text.split(",")]
            return [(unquote(tag), float(behind)) for tag, _, behind in pairs if tag and _is_number(behind)]
    return []


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdecimal()


def with_candidates(sentence: Sentence, choices: Sequence[Sequence[TagCandidate]]) -> Sentence:
    """Return a copy whose words have these candidates in MISC."""
    return sentence.with_misc(KEY, [write_candidates(word) for word in choices])


def with_first_candidates(sentence: Sentence, column: str) -> Sentence:
    """Return a copy with the tagger's own tags in a column (upos or xpos), and without candidates."""
    columns = {name: getattr(sentence, name) for name in ("lemmas", "upos", "xpos", "feats")}
    columns[column] = [read_candidates(misc)[0][0] for misc in sentence.misc]
    return without_candidates(sentence.with_columns(*columns.values()))


def without_candidates(sentence: Sentence) -> Sentence:
    """Return a copy without candidates in MISC, or the sentence itself if there are none."""
    return sentence.without_misc(KEY)
