"""The configuration: copies are independent, and the outermost children are kept right."""

import random

import pytest

from tanglewood.core.state import State
from tanglewood.systems import SYSTEMS, make_system


def outermost(s: State, head: int) -> tuple[int, int, int, int]:
    """Leftmost, second leftmost, rightmost and second rightmost dependent, found by looking at all words."""
    left = [word for word in range(1, s.n + 1) if s.heads[word] == head and word < head]
    right = [word for word in range(s.n, 0, -1) if s.heads[word] == head and word > head]
    return (*[*left, -1, -1][:2], *[*right, -1, -1][:2])


@pytest.mark.parametrize("name", SYSTEMS)
def test_outermost_children_are_those_found_by_looking_at_all_words(name):
    rng = random.Random(3)
    system = make_system(name)
    for _ in range(60):
        s = system.start(rng.randrange(1, 12))
        while not system.is_final(s):
            system.apply(s, rng.choice(system.legal_moves(s, 0)), 0)
            for head in range(s.n + 1):
                kept = (s.left1[head], s.left2[head], s.right1[head], s.right2[head])
                assert kept == outermost(s, head)


def test_a_copy_does_not_change_with_the_original():
    system = make_system("swap")
    s = system.start(5)
    for move in (0, 0, 0):
        system.apply(s, move)
    twin = s.copy()
    system.apply(s, 1, 7)
    assert twin.stack_nodes() == [0, 1, 2, 3]
    assert twin.word_heads() == [-1] * 5
    assert s.stack_nodes() == [0, 1, 3]
    assert s.word_labels() == [-1, 7, -1, -1, -1]
