"""Slow, obvious checks of what comes out, which share no code with what is tested."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO

import tanglewood as tw
from engine import Broken
from tanglewood.treebank.sentence import Sentence


def check_tree(sentence: Sentence) -> None:
    """From every word the heads must lead to the root."""
    heads = list(sentence.tree.heads)
    for word in range(1, len(sentence) + 1):
        node, steps = word, 0
        while node != 0:
            if not 0 <= heads[node] <= len(sentence) or steps > len(sentence):
                raise Broken("the heads do not form a tree")
            node, steps = heads[node], steps + 1


def check_again(sentences: Sequence[Sentence]) -> None:
    """What is written can be read again, and is the same."""
    out = BytesIO()
    tw.write(sentences, out)
    again = list(tw.read(BytesIO(out.getvalue())))
    if [list(one.tree.heads) for one in again] != [list(one.tree.heads) for one in sentences]:
        raise Broken("what was written is read as other trees")
    if [one.deprels for one in again] != [one.deprels for one in sentences]:
        raise Broken("what was written is read with other labels")
