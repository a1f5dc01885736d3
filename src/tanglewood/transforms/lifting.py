"""Makes trees projective by moving dependents up (Nivre & Nilsson 2005), compiled."""

from array import array
from heapq import heapify, heappop, heappush

from tanglewood.errors import TreeError
from tanglewood.treebank.measures import offender
from tanglewood.treebank.tree import describe_problem


def lift(heads: "array[int]") -> "array[int]":
    """Return the heads of the projective tree that lifting turns ``heads`` into, as a new array.

    While the tree is non-projective, the smallest non-projective arc (shortest, then leftmost left end) is lifted: its
    dependent moves to its head's head. ``heads`` is an ``array('i')`` over nodes 0..n, with -1 at 0; TreeError if
    it is not a tree. An arc is non-projective if its head does not dominate every word between its two ends.
    """
    return lift_and_mark(heads)[0]


def lift_and_mark(heads: "array[int]") -> "tuple[array[int], array[int]]":
    """Return what `lift` does, and an array with 1 at every word whose arc some dependent was lifted past, else 0."""
    lifted = array("i", heads)
    nonprojective = array("i", bytes(4 * len(heads)))
    passed = array("i", bytes(4 * len(heads)))
    # Compiled code would loop for ever on a cycle and read outside the array for a head out of range.
    if word := offender(lifted):
        raise TreeError(describe_problem(lifted, word))
    _lift(lifted, nonprojective, passed, len(heads) - 1)
    return lifted, passed


def _lift(heads: "array[int]", nonprojective: "array[int]", passed: "array[int]", n: int) -> None:
    # The loop ends: 0 dominates every word, so an arc from 0 is never non-projective and every arc found here has a
    # head with a head; and each lift makes the depths of the words sum to less.
    waiting: list[tuple[int, int, int]] = []  # a heap of non-projective arcs: length, left end, dependent
    for dependent in range(1, n + 1):
        if _is_nonprojective(heads, heads[dependent], dependent):
            nonprojective[dependent] = 1
            waiting.append(_ranked(heads[dependent], dependent))
    if not waiting:
        return
    heapify(waiting)
    dependents: list[list[int]] = [[] for _ in range(n + 1)]
    for dependent in range(1, n + 1):
        dependents[heads[dependent]].append(dependent)
    while waiting:
        dependent = heappop(waiting)[2]
        head = heads[dependent]
        passed[head] = 1
        heads[dependent] = heads[head]
        dependents[heads[head]].append(dependent)
        nonprojective[dependent] = _is_nonprojective(heads, heads[dependent], dependent)
        if nonprojective[dependent]:
            heappush(waiting, _ranked(heads[dependent], dependent))
        # Only the old head dominates less than before, so only its arcs can become non-projective; none becomes
        # projective, for no word ever dominates more.
        dependents[head] = [other for other in dependents[head] if heads[other] == head]
        for other in dependents[head]:
            if not nonprojective[other] and _is_nonprojective(heads, head, other):
                nonprojective[other] = 1
                heappush(waiting, _ranked(head, other))


def _ranked(head: int, dependent: int) -> tuple[int, int, int]:
    """Return an arc with its length and left end first: no two arcs of a tree have both in common."""
    left = min(head, dependent)
    return max(head, dependent) - left, left, dependent


def _is_nonprojective(heads: "array[int]", head: int, dependent: int) -> bool:
    if head == 0:
        return False
    left = min(head, dependent)
    right = max(head, dependent)
    for word in range(left + 1, right):
        # A climb may stop inside: both ends are dominated by the head, and from other words between we climb as well.
        node = heads[word]
        while node < left or node > right:
            if node == 0:
                return True
            node = heads[node]
    return False
