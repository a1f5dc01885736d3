"""Tables of weights: what is in a file is checked against a slow twin before anything is looked up in it."""

from __future__ import annotations

from array import array
from itertools import product
from random import Random

import pytest

from tanglewood.errors import ModelError
from tanglewood.ml.linear_weights import QUANTA, LearningWeights, Weights

SLOT_SIZE = 4  # ints per slot: key, where its entries begin, how many there are, how often it was updated


def entry(which, weight, last):
    return weight * 8192 + last * 4096 + which


def are_groups(keys, entries, n_classes):
    """Whether each key has a group of entries, the last of which is marked, and all numbers are in their ranges."""
    groups, group = 0, 0
    for number in entries:
        which, last, weight = number % 4096, number // 4096 % 2, number // 8192
        if which >= n_classes or abs(weight) > QUANTA:
            return False
        group = 0 if last else group + 1
        groups += last
    return group == 0 and groups == len(keys) and all(key >= 0 for key in keys)


def test_tables_are_accepted_if_and_only_if_keys_have_entries():
    choices = [entry(0, 1, 0), entry(1, -QUANTA, 1), entry(2, 5, 1), entry(0, QUANTA + 1, 1), entry(0, -QUANTA - 1, 1)]
    accepted = 0
    for n_keys, n_entries in product(range(3), range(4)):
        for keys in product((0, 7, -1), repeat=n_keys):
            for entries in product(choices, repeat=n_entries):
                arrays = memoryview(array("i", keys)), memoryview(array("i", entries))
                if are_groups(keys, entries, 2):
                    Weights(*arrays, 2, 1.0)
                    accepted += 1
                else:
                    with pytest.raises(ModelError, match="table of weights is damaged"):
                        Weights(*arrays, 2, 1.0)
    assert accepted > 10


def learnt():
    """A table that has learnt something, as it is kept in a checkpoint."""
    weights = LearningWeights(5)
    rng = Random(1)
    for time in range(1, 60):
        keys = array("i", rng.sample(range(40), 6))
        weights.update(keys, *rng.sample(range(5), 2), 0.5, float(time))
    return weights


def restored(slots, pool, n_keys, n_pool):
    again = LearningWeights(5)
    again.restore(memoryview(slots), memoryview(pool), n_keys, n_pool)
    return again


def test_what_was_being_learnt_comes_back():
    weights = learnt()
    again = restored(*weights.tables(), weights.n_keys, weights.n_pool)
    keys = array("i", range(40))
    assert again.score(keys) == weights.score(keys)


def changes(slots, pool, n_keys, n_pool):
    """The same with one thing wrong in each."""
    used = next(place for place in range(0, len(slots), SLOT_SIZE) if slots[place] >= 0)
    for place, odd in [
        (used, -1),
        (used + 1, -1),
        (used + 1, n_pool),
        (used + 1, 2**31 - 1),
        (used + 2, -1),
        (used + 2, 6),
        (used + 2, 2**31 - 1),
    ]:
        changed = slots[:]
        changed[place] = odd
        yield changed, pool, n_keys, n_pool
    for odd in (-1.0, 5.0, 0.5, float("nan"), float("inf"), 1e30):
        changed = pool[:]
        changed[3 * slots[used + 1]] = odd
        yield slots, changed, n_keys, n_pool
    yield slots, pool, n_keys + 1, n_pool
    yield slots, pool, n_keys, -1
    yield slots, pool, n_keys, 2**31 - 1
    yield slots, pool[:10], n_keys, n_pool
    yield slots[:-1], pool, n_keys, n_pool
    yield array("i", [7, 0, 1, 1] * 4), pool, 4, n_pool  # no free slot: a search for one would never end
    yield array("q", slots), pool, n_keys, n_pool
    yield slots, array("d", pool), n_keys, n_pool


def test_what_was_being_learnt_is_refused_if_anything_is_wrong():
    weights = learnt()
    slots, pool = weights.tables()
    tried = list(changes(slots, pool, weights.n_keys, weights.n_pool))
    for changed in tried:
        with pytest.raises(ModelError, match="being learnt is damaged"):
            restored(*changed)
    assert len(tried) > 15
