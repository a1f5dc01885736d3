"""Sentences that are hard to find: how many of them the bundled English model gets right."""

import tanglewood as tw
from hard_borders import KINDS, MARK, right

LEAST = 55  # of the sixty texts


def test_there_are_sixty_texts_at_least_six_of_each_kind():
    assert sum(map(len, KINDS.values())) == 60
    assert min(map(len, KINDS.values())) >= 6
    assert sum(MARK in case for cases in KINDS.values() for case in cases) >= 40


def test_the_bundled_model_gets_most_of_them_right():
    results = right(tw.load().tokenizer.tokenize)
    assert sum(map(sum, results.values())) >= LEAST, {kind: f"{sum(r)}/{len(r)}" for kind, r in results.items()}
