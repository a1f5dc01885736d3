"""Heads that are given and stay: tables of scores in which the words that have one can have no other."""

from __future__ import annotations

from array import array
from collections.abc import Sequence

from tanglewood.decoders.base import NO_TREE, Scores, words_in
from tanglewood.errors import LimitError, LocatedError, TreeError
from tanglewood.treebank.sentence import Sentence
from tanglewood.treebank.tree import Tree

MOST_SHOWN = 10  # words that a message names


def with_heads(scores: Scores, heads: Sequence[int]) -> memoryview[float]:
    """Return a copy of a table of scores that forbids all other arcs to words with a head, indexed by node.

    A negative number stands for a head that is not known.
    """
    size = words_in(scores) + 1
    table = memoryview(array("f", memoryview(scores).cast("B").tobytes())).cast("B").cast("f", (size, size))
    for word, head in enumerate(heads):
        if word and head >= 0:
            for other in range(size):
                if other != head:
                    table[other, word] = NO_TREE
    return table


def kept_heads(sentence: Sentence) -> Sequence[int] | None:
    """Return the heads that a sentence has, by node, negative where there is none; None if there are none at all."""
    heads = sentence.heads_given()
    return heads if any(head >= 0 for head in heads) else None


def kept_problem(sentence: Sentence, *, single_root: bool) -> LocatedError | None:
    """Return the error if no tree has the heads that a sentence has; if there is none, there is such a tree."""
    try:
        heads = sentence.heads_given()
    except LocatedError as error:
        return error
    if single_root and heads.count(0) > 1:
        roots = [word for word, head in enumerate(heads) if word and head == 0]
        shown = f"{', '.join(map(str, roots[:MOST_SHOWN]))}{', ...' if len(roots) > MOST_SHOWN else ''}"
        problem = (
            f"several words have head 0 ({shown}), and the model gives each sentence one root; only one should have it"
        )
        return sentence.located(TreeError(problem))
    return None


def too_long_to_keep() -> LimitError:
    """Return the error for a sentence that is too long for a search over arcs."""
    return LimitError(
        "heads are kept by a search over arcs, and the sentence is beyond its limits; it should be shorter, or "
        "--max-length and --max-memory should be higher"
    )


def with_labels_of(sentence: Sentence, tree: Tree) -> Tree:
    """Return a tree with the labels that a sentence has; where it has none, those of the tree stay."""
    labels = [own if own != "_" else new for own, new in zip(sentence.deprels, tree.labels[1:], strict=True)]
    return Tree(tree.heads[1:], labels)
