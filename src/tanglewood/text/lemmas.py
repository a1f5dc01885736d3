"""Lemmas as rules: what to do with a form to get its lemma, so that forms never seen before get one, too."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

from tanglewood.treebank.sentence import Sentence

CASES: dict[str, Callable[[str], str]] = {
    "l": str.lower,
    "=": str,
    "t": lambda text: text[:1].upper() + text[1:].lower(),
    "u": str.upper,
}
RULE = re.compile(f"!.+|[{''.join(CASES)}](/[0-9]{{1,9}}/[^/]*){{2}}")


def lemma_rule(form: str, lemma: str) -> str:
    """Return the rule that turns the form into the lemma: case, then what the beginning and the end become.

    A rule reads ``case/cut/new beginning/cut/new end``. What form and lemma have in common is the longest text that
    occurs in both, whatever its case; if there is none, the rule is ``!`` and the lemma itself.
    """
    small, wanted = form.lower(), lemma.lower()
    begin, length, place = _longest_common(small, wanted)
    if not length or len(small) != len(form) or len(wanted) != len(lemma):
        return f"!{lemma}"
    edit = f"{begin}/{lemma[:place]}/{len(form) - begin - length}/{lemma[place + length :]}"
    for case in CASES:
        rule = f"{case}/{edit}"
        if edit.count("/") == 3 and apply_rule(rule, form) == lemma:
            return rule
    return f"!{lemma}"


def is_rule(text: str) -> bool:
    """Whether the text is a rule that can be applied to any form and leaves something of it."""
    return RULE.fullmatch(text) is not None


def apply_rule(rule: str, form: str) -> str:
    """Return what the rule turns a form into; the form itself where the rule cuts more than there is."""
    if rule.startswith("!"):
        return rule[1:]
    case, cut_begin, begin, cut_end, end = rule.split("/")
    last = len(form) - int(cut_end)
    if last <= int(cut_begin):
        return form
    return begin + CASES[case](form[int(cut_begin) : last]) + end


def _longest_common(first: str, second: str) -> tuple[int, int, int]:
    """Return where the longest common text begins in the first, its length, and where it begins in the second."""
    best = (0, 0, 0)
    lengths = [0] * (len(second) + 1)  # of the common text that ends at a place of the second
    for i, character in enumerate(first, 1):
        previous = 0
        for j, other in enumerate(second, 1):
            above = lengths[j]
            lengths[j] = previous + 1 if character == other else 0
            previous = above
            if lengths[j] > best[1]:
                best = (i - lengths[j], lengths[j], j - lengths[j])
    return best


def most_frequent_lemmas(sentences: Sequence[Sentence]) -> dict[str, str]:
    """Return the lemma that a form has most often with a UPOS, by form, tab, UPOS."""
    counts: dict[str, Counter[str]] = {}
    for s in sentences:
        for form, lemma, upos in zip(s.forms, s.lemmas, s.upos, strict=True):
            counts.setdefault(f"{form}\t{upos}", Counter())[lemma] += 1
    return {key: lemmas.most_common(1)[0][0] for key, lemmas in counts.items()}
