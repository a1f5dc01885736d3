"""What the layout of long sentences asks again and again, answered without going through all arcs or words."""

from bisect import bisect_right
from collections.abc import Iterator, Sequence


class Track:
    """Stretches of a line that do not overlap; each goes from its begin up to, but not including, its end."""

    __slots__ = ("_begins", "_ends")

    def __init__(self) -> None:
        self._begins: list[int] = []  # of the stretches from left to right
        self._ends: list[int] = []

    def take(self, begin: int, end: int) -> bool:
        """Put a stretch there if it overlaps none; return whether it does not."""
        place = bisect_right(self._ends, begin)
        if place < len(self._begins) and self._begins[place] < end:
            return False
        self._begins.insert(place, begin)
        self._ends.insert(place, end)
        return True


class Shifts:
    """Distances by which places 0..n have been moved: to move all from one place on takes O(log n)."""

    __slots__ = ("_sums",)

    def __init__(self, size: int) -> None:
        self._sums = [0] * (size + 1)  # a Fenwick tree

    def move(self, first: int, distance: int) -> None:
        """Move this place and all behind it."""
        place = first + 1
        while place < len(self._sums):
            self._sums[place] += distance
            place += place & -place

    def __getitem__(self, place: int) -> int:
        place += 1
        total = 0
        while place:
            total += self._sums[place]
            place &= place - 1
        return total


class Heights:
    """Heights of places, of which those above some height can be found in a stretch: O(log n) for each."""

    __slots__ = ("_most", "_size")

    def __init__(self, heights: Sequence[float]) -> None:
        self._size = 1 << max(len(heights) - 1, 0).bit_length()
        most = [*[0.0] * self._size, *heights, *[0.0] * (self._size - len(heights))]  # a tree, its root at 1
        for node in range(self._size - 1, 0, -1):
            most[node] = max(most[2 * node], most[2 * node + 1])
        self._most = most

    def above(self, height: float, first: int, last: int) -> Iterator[int]:
        """Yield the places from first to last that are higher, from left to right."""
        agenda = [(1, 0, self._size)]
        while agenda:
            node, begin, size = agenda.pop()
            if begin > last or begin + size <= first or self._most[node] <= height:
                continue
            if size == 1:
                yield begin
            else:
                agenda += [(2 * node + 1, begin + size // 2, size // 2), (2 * node, begin, size // 2)]
