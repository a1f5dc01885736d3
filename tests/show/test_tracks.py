"""What the layout of long sentences asks has slow, obvious twins; drawings take work in proportion to their words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tanglewood.show import layout, svg, tikz, tracks, tree
from tanglewood.show.tracks import Heights, Shifts, Track
from tanglewood.treebank.tree import Tree

stretches = st.tuples(st.integers(0, 20), st.integers(1, 9)).map(lambda pair: (pair[0], pair[0] + pair[1]))


def levels_by_bits(pairs):
    """The lowest level whose arcs have no gap between words in common with this one; shorter arcs choose first."""
    result, taken = [0] * len(pairs), []
    for index in sorted(range(len(pairs)), key=lambda i: (abs(pairs[i][0] - pairs[i][1]), min(pairs[i]))):
        gaps = {*range(min(pairs[index]), max(pairs[index]))}
        level = next((level for level, others in enumerate(taken) if not others & gaps), len(taken))
        taken += [set()] * (level == len(taken))
        taken[level] = taken[level] | gaps
        result[index] = level + 1
    return result


@given(st.lists(st.tuples(st.integers(0, 15), st.integers(0, 15)).filter(lambda pair: pair[0] != pair[1]), max_size=20))
def test_levels_are_the_lowest_that_are_free(pairs):
    assert layout.levels(pairs) == levels_by_bits(pairs)


@given(st.lists(stretches, max_size=20))
def test_a_track_takes_what_overlaps_nothing(given_stretches):
    track, taken = Track(), set()
    for begin, end in given_stretches:
        free = not taken & {*range(begin, end)}
        assert track.take(begin, end) == free
        taken |= {*range(begin, end)} if free else set()


@given(st.integers(1, 20), st.data())
def test_shifts_add_up(size, data):
    shifts, places = Shifts(size), [0] * size
    for first, distance in data.draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(-9, 9)), max_size=9)):
        shifts.move(first, distance)
        places[first:] = [place + distance for place in places[first:]]
    assert [shifts[place] for place in range(size)] == places


@given(st.lists(st.integers(0, 5), min_size=1, max_size=20), st.integers(0, 5), st.integers(0, 25), st.integers(0, 25))
def test_the_higher_places_of_a_stretch_are_found(heights, height, first, last):
    found = [place for place, one in enumerate(heights) if one > height and first <= place <= last]
    assert list(Heights(heights).above(height, first, last)) == found


# Work is counted, never timed. -------------------------------------------------------------------------------------

SHAPES = {
    "chain": lambda n: [0, *range(1, n)],
    "flat": lambda n: [0] + [1] * (n - 1),
    "last": lambda n: [n] * (n - 1) + [0],
    "few cross": lambda n: [0, *(max(1, i - 1 - 2 * (i % 5 == 0)) for i in range(2, n + 1))],
    "roots": lambda n: [0] * n,
}


@pytest.mark.parametrize("shape", SHAPES)
def test_the_work_for_a_picture_grows_with_its_words(monkeypatch, shape):
    work = 0

    def counting(method):
        def counted(*args):
            nonlocal work
            work += 1
            return method(*args)

        return counted

    monkeypatch.setattr(tracks.Track, "take", counting(tracks.Track.take))
    monkeypatch.setattr(tracks.Shifts, "__getitem__", counting(tracks.Shifts.__getitem__))
    monkeypatch.setattr(layout.Piece, "kind", property(counting(layout.Piece.kind.fget)))
    monkeypatch.setattr(layout.Piece, "below", property(counting(layout.Piece.below.fget)))
    for n in (100, 300):
        work = 0
        svg.draw(Tree(SHAPES[shape](n)), width=None)
        tikz.draw(Tree(SHAPES[shape](n)), [str(word) for word in range(n)])
        assert work <= 100 * n


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cells_of_a_vertical_drawing_are_drawn_a_few_times_only(monkeypatch, shape):
    cells = 0
    plain = tree._Canvas.line

    def line(canvas, start, end, *pen, **options):
        nonlocal cells
        cells += abs(start[0] - end[0]) + abs(start[1] - end[1]) + 1
        plain(canvas, start, end, *pen, **options)

    monkeypatch.setattr(tree._Canvas, "line", line)
    n = 400
    tree.draw([str(word) for word in range(n)], Tree(SHAPES[shape](n)))
    assert cells <= 4 * n * (2 * tree.MOST_COMBS + 2)
    assert cells <= 20 * n or shape in {"chain", "few cross"}  # which have many columns
