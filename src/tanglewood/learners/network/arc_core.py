"""The compiled part of the arc head: tables of scores and probabilities, ``[head, word]``, of one sentence.

``float`` makes sums double in the interpreter too, as they are when compiled.

What an arc is like besides its two nodes is one of `N_KINDS` kinds: its direction and length, or that it comes from 0.
"""

from __future__ import annotations

from typing import Any

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

if not cython.compiled:
    from tanglewood.core.logs_plain import exp, log

Table = Any  # an array of floats or ints
N_LENGTHS = 8  # 1, 2, 3, 4, 5-6, 7-10, 11-20, more
TINY = 1e-9  # added to probabilities before their logarithm is taken
N_KINDS = 2 * N_LENGTHS + 1


def kind_of(head: int, word: int) -> int:
    """Return the kind of an arc: by its length if it goes right, then by its length if it goes left, then from 0."""
    if head == 0:
        return 16
    length = word - head if word > head else head - word
    if length <= 4:
        kind = length - 1
    elif length <= 6:
        kind = 4
    elif length <= 10:
        kind = 5
    else:
        kind = 6 if length <= 20 else 7
    return kind if word > head else kind + 8


def label_layer(
    rows: Table,
    begins: Table,
    heads: Table,
    words: Table,
    worth: Table,
    bias: Table,
    start: int,
    kinds: Table,
    out: Table,
) -> None:
    """Fill the hidden layer of the labels of arcs, and write their kinds.

    An arc joins the nodes ``heads`` and ``words`` of the sentence whose rows begin at ``begins``. Its layer is what the
    word adds (columns of the rows from ``start`` on), what the head adds (as many columns behind those), what the
    arc's kind is worth, and a bias; ReLU.
    """
    width = out.shape[1]
    with cython.nogil:
        for i in range(out.shape[0]):
            kinds[i] = kind_of(heads[i], words[i])
            for k in range(width):
                total = rows[begins[i] + words[i], start + k] + rows[begins[i] + heads[i], start + width + k]
                total = total + worth[kinds[i], k] + bias[k]
                out[i, k] = total if total > 0 else 0


def add_kinds(scores: Table, worth: Table, words: Table, heads: Table) -> None:
    """Add to every score what the arc's kind is worth: by itself, with this word (rows), and with this head (rows)."""
    size = scores.shape[0]
    with cython.nogil:
        for head in range(size):
            for word in range(1, size):
                if head != word:
                    kind = kind_of(head, word)
                    scores[head, word] += worth[kind] + words[word, kind] + heads[head, kind]


def add_kinds_back(d_scores: Table, d_worth: Table, d_words: Table, d_heads: Table) -> None:
    """Add the gradient of scores to those of what was added to them."""
    size = d_scores.shape[0]
    with cython.nogil:
        for head in range(size):
            for word in range(1, size):
                if head != word:
                    kind = kind_of(head, word)
                    d_worth[kind] += d_scores[head, word]
                    d_words[word, kind] += d_scores[head, word]
                    d_heads[head, kind] += d_scores[head, word]


def head_shares(scores: Table, shares: Table) -> None:
    """Write for every word the probabilities of its heads, each word by itself; 0 in column 0 and on the diagonal."""
    size = scores.shape[0]
    with cython.nogil:
        for head in range(size):
            shares[head, 0] = 0
        for word in range(1, size):
            top = scores[0, word]
            for head in range(1, size):
                if head != word and scores[head, word] > top:
                    top = scores[head, word]
            total = 0.0
            for head in range(size):
                shares[head, word] = exp(scores[head, word] - top) if head != word else 0.0
                total += float(shares[head, word])
            for head in range(size):
                shares[head, word] = float(shares[head, word]) / total


def head_shares_back(shares: Table, d_shares: Table, d_scores: Table) -> None:
    """Add the gradient of probabilities of heads to that of scores."""
    size = shares.shape[0]
    with cython.nogil:
        for word in range(1, size):
            mean = 0.0
            for head in range(size):
                mean += float(shares[head, word]) * float(d_shares[head, word])
            for head in range(size):
                d_scores[head, word] += float(shares[head, word]) * (float(d_shares[head, word]) - mean)


def softmax_rows(scores: Table) -> None:
    """Turn the scores of each row into probabilities."""
    with cython.nogil:
        for row in range(scores.shape[0]):
            _softmax(scores, row, _largest(scores, row))


def _softmax(scores: Table, row: int, largest: int) -> None:
    """Turn the scores of a row into probabilities; ``largest`` is the place of the largest."""
    top = scores[row, largest]
    total = 0.0
    for i in range(scores.shape[1]):
        scores[row, i] = exp(scores[row, i] - top)
        total += float(scores[row, i])
    for i in range(scores.shape[1]):
        scores[row, i] = float(scores[row, i]) / total


def _largest(scores: Table, row: int) -> int:
    """Return the place of the largest number in a row; of equals the first."""
    best = 0
    for i in range(1, scores.shape[1]):
        if scores[row, i] > scores[row, best]:
            best = i
    return best


def sum_of_tree(scores: Table, chances: Table, heads: Table, labels: Table) -> float:
    """Return the sum of the scores of a tree's arcs and of the logarithms of its labels' probabilities.

    Heads and label numbers are those of words; words without a label (-1) add nothing for it.
    """
    total = 0.0
    with cython.nogil:
        for i in range(heads.shape[0]):
            total += float(scores[heads[i], i + 1])
            if labels[i] >= 0:
                total += log(float(chances[i, labels[i]]) + TINY)
    return total


def add_votes(scores: Table, heads: Table, weights: Table) -> None:
    """Add the weights of trees, given by the heads of words, one row a tree, to the scores of their arcs."""
    with cython.nogil:
        for tree in range(heads.shape[0]):
            for word in range(heads.shape[1]):
                scores[heads[tree, word], word + 1] += weights[tree]


def voted_labels(scores: Table, own: Table, heads: Table, labels: Table, weights: Table, best: Table) -> None:
    """Write the best label of each word, by its probability and the weights of the trees that give it this label.

    ``own`` are the heads of words; a tree counts where it has the same head. Scores (one row a word) are changed.
    """
    with cython.nogil:
        for word in range(scores.shape[0]):
            chosen = _largest(scores, word)
            differs = False
            for tree in range(heads.shape[0]):
                if heads[tree, word] == own[word] and labels[tree, word] >= 0 and labels[tree, word] != chosen:
                    differs = True
            if differs:  # otherwise votes change nothing, and probabilities are not needed
                _softmax(scores, word, chosen)
                for tree in range(heads.shape[0]):
                    if heads[tree, word] == own[word] and labels[tree, word] >= 0:
                        scores[word, labels[tree, word]] += weights[tree]
                chosen = _largest(scores, word)
            best[word] = chosen
