"""Measures of one dependency tree, given as an int array of heads.

Every function takes ``heads``, an ``array('i')`` of length n + 1 with ``heads[0] == -1``. All but :func:`offender`
expect a tree rooted in node 0. Nothing here is recursive, so a chain of any length is fine.
Compiled with the types in measures.pxd, where a negative index would read outside the array.
"""

from array import array


def zeros(size: int) -> "array[int]":
    """Return a new int array of ``size`` zeros."""
    return array("i", bytes(4 * size))


def offender(heads: "array[int]") -> int:
    """Return the first word because of which ``heads`` is not a tree rooted in 0, or 0 if it is one.

    A head out of range or a self-loop comes before a longer cycle; of a cycle, the smallest word is given.
    """
    n = len(heads) - 1
    for word in range(1, n + 1):
        if heads[word] < 0 or heads[word] > n or heads[word] == word:
            return word
    mark = zeros(n + 1)
    for word in range(1, n + 1):
        node = word
        while node > 0 and mark[node] == 0:
            mark[node] = word
            node = heads[node]
        if node > 0 and mark[node] == word:
            # The walk came back to itself: `node` lies on a cycle no earlier walk has met.
            smallest = node
            step = heads[node]
            while step != node:
                smallest = min(smallest, step)
                step = heads[step]
            return smallest
    return 0


def _children(heads: "array[int]", first: "array[int]", following: "array[int]") -> None:
    """Chain the dependents of every node in ascending order; 0 ends a chain, for 0 depends on nothing."""
    for word in range(len(heads) - 1, 0, -1):
        following[word] = first[heads[word]]
        first[heads[word]] = word


def _tour(heads: "array[int]", enter: "array[int]", leave: "array[int]") -> None:
    """Walk the tree depth first and note the times: v dominates w exactly if ``enter[v] <= enter[w] < leave[v]``."""
    n = len(heads) - 1
    first = zeros(n + 1)
    following = zeros(n + 1)
    _children(heads, first, following)
    clock = 1
    node = 0
    while node >= 0:
        child = first[node]
        if child > 0:
            first[node] = following[child]
            enter[child] = clock
            clock += 1
            node = child
        else:
            leave[node] = clock
            node = heads[node]


def arc_degrees_2007(heads: "array[int]") -> "array[int]":
    """Return for each dependent d the number of words between d and its head h whose head lies outside h..d.

    This is the arc degree of Nivre (2007), Definition 3. O(n log n): two sweeps over a Fenwick tree, which holds
    the words whose head lies left of the span in the first and right of the span in the second.
    """
    n = len(heads) - 1
    degrees = zeros(n + 1)
    out = degrees
    first = zeros(n + 1)
    following = zeros(n + 1)
    _children(heads, first, following)
    by_low = zeros(n + 1)
    next_low = zeros(n + 1)
    by_high = zeros(n + 1)
    next_high = zeros(n + 1)
    for word in range(1, n + 1):
        low = min(heads[word], word)
        high = max(heads[word], word)
        next_low[word] = by_low[low]
        by_low[low] = word
        next_high[word] = by_high[high]
        by_high[high] = word
    fenwick = zeros(n + 1)
    for low in range(1, n + 1):
        word = first[low - 1]
        while word > 0:
            _add(fenwick, word)
            word = following[word]
        word = by_low[low]
        while word > 0:
            out[word] = _sum(fenwick, max(heads[word], word) - 1) - _sum(fenwick, low)
            word = next_low[word]
    fenwick = zeros(n + 1)
    for high in range(n, 0, -1):
        word = by_high[high]
        while word > 0:
            out[word] += _sum(fenwick, high - 1) - _sum(fenwick, min(heads[word], word))
            word = next_high[word]
        word = first[high]
        while word > 0:
            _add(fenwick, word)
            word = following[word]
    return degrees


def _add(fenwick: "array[int]", place: int) -> None:
    size = len(fenwick)
    while place < size:
        fenwick[place] += 1
        place += place & -place


def _sum(fenwick: "array[int]", place: int) -> int:
    total = 0
    while place > 0:
        total += fenwick[place]
        place &= place - 1
    return total


def arc_degrees_2006(heads: "array[int]") -> "array[int]":
    """Return for each dependent the components below its arc that its head does not dominate in the whole tree.

    This is the edge degree of Kuhlmann and Nivre (2006); it is positive exactly for the non-projective arcs.
    Only spans with a positive 2007 degree are scanned, since the 2006 degree is never larger.
    """
    n = len(heads) - 1
    degrees = arc_degrees_2007(heads)
    out = degrees
    enter = zeros(n + 1)
    leave = zeros(n + 1)
    _tour(heads, enter, leave)
    for word in range(1, n + 1):
        if out[word] == 0:
            continue
        head = heads[word]
        low = min(head, word)
        high = max(head, word)
        count = 0
        for between in range(low + 1, high):
            if (heads[between] < low or heads[between] > high) and (
                enter[between] < enter[head] or enter[between] >= leave[head]
            ):
                count += 1
        out[word] = count
    return degrees


def crossing_pairs(heads: "array[int]", with_root: bool, limit: int) -> list[tuple[int, int]]:
    """Return the pairs of crossing arcs, each arc named by its dependent, in O(n + pairs).

    ``with_root`` says whether arcs from node 0 count; a positive ``limit`` stops after that many pairs.
    """
    pairs: list[tuple[int, int]] = []
    _sweep(heads, with_root, limit, pairs, zeros(0), zeros(0))
    return pairs


def two_planes(heads: "array[int]") -> "array[int]":
    """Return for every dependent the plane, 0 or 1, of its arc so that no arcs of a plane cross; nothing if impossible.

    Arcs from 0 are not drawn. The smallest dependent of arcs that hang together by crossings lies in plane 0. Time is
    O(n + pairs) as in :func:`crossing_pairs`, space O(n).
    """
    n = len(heads) - 1
    above = array("i", range(n + 1))
    sides = zeros(n + 1)
    planes = zeros(n + 1)
    out = planes
    if not _sweep(heads, False, 0, None, above, sides):
        return planes[:0]
    for word in range(n, 0, -1):
        out[_top(above, sides, word)] = word  # the smallest comes last
    result = zeros(n + 1)
    marks = result
    for word in range(1, n + 1):
        _top(above, sides, word)
        smallest = out[above[word]]
        marks[word] = (sides[word] + sides[smallest]) % 2
    return result


def _top(above: "array[int]", sides: "array[int]", node: int) -> int:
    """Return what represents the arcs that hang together with this one; its ``sides`` is then relative to that."""
    top = node
    side = 0
    while above[top] != top:
        side += sides[top]
        top = above[top]
    while node != top:  # shorten the way for the next time
        parent = above[node]
        rest = side - sides[node]
        above[node] = top
        sides[node] = side % 2
        node = parent
        side = rest
    return top


def _part(above: "array[int]", sides: "array[int]", one: int, other: int) -> bool:
    """Put two arcs that cross on different sides; return whether that is possible."""
    first = _top(above, sides, one)
    second = _top(above, sides, other)
    if first == second:
        return sides[one] != sides[other]
    above[second] = first
    sides[second] = (sides[one] + sides[other] + 1) % 2
    return True


def _sweep(
    heads: "array[int]",
    with_root: bool,
    limit: int,
    pairs: list[tuple[int, int]] | None,
    above: "array[int]",
    sides: "array[int]",
) -> bool:
    """Append the pairs of crossing arcs, up to a limit, or put them on two sides; return whether that was possible.

    A sweep from left to right keeps the open arcs in a linked list, outermost first; the arcs behind one that closes
    have begun inside it and end outside: they cross it.
    """
    n = len(heads) - 1
    opening = zeros(n + 1)  # arcs by left end, the longest first
    next_opening = zeros(n + 1)
    closing = zeros(n + 1)  # arcs by right end, the shortest first
    next_closing = zeros(n + 1)
    first = zeros(n + 1)
    following = zeros(n + 1)
    _children(heads, first, following)
    # Ascending right (left) ends pushed onto each left (right) end leave its arcs in the order wanted.
    for node in range(n + 1):
        if node > 0 and heads[node] < node and (with_root or heads[node] > 0):
            next_opening[node] = opening[heads[node]]
            opening[heads[node]] = node
        if node > 0 and heads[node] > node:
            next_closing[node] = closing[heads[node]]
            closing[heads[node]] = node
        word = first[node]
        while word > 0:
            if word < node:
                next_opening[word] = opening[word]
                opening[word] = word
            elif with_root or node > 0:
                next_closing[word] = closing[word]
                closing[word] = word
            word = following[word]
    before = zeros(n + 1)
    behind = zeros(n + 1)  # behind[0] is the outermost open arc, before[0] the innermost
    for node in range(n + 1):
        word = closing[node]
        while word > 0:
            other = behind[word]
            while other > 0:
                if pairs is None:
                    if not _part(above, sides, word, other):
                        return False
                else:
                    pairs.append((word, other) if word < other else (other, word))
                    if len(pairs) == limit:
                        return True
                other = behind[other]
            behind[before[word]] = behind[word]
            before[behind[word]] = before[word]
            word = next_closing[word]
        word = opening[node]
        while word > 0:
            last = before[0]
            before[word] = last
            behind[last] = word
            behind[word] = 0
            before[0] = word
            word = next_opening[word]
    return True


def count_crossing_pairs(heads: "array[int]", with_root: bool) -> int:
    """Return the number of pairs of crossing arcs, in O(n log n).

    Arc (a, b) crosses from the right those that begin left of a and end inside it: of the arcs that end left of b,
    those that begin left of a, less those that end at a or before.
    """
    n = len(heads) - 1
    by_right = zeros(n + 1)
    next_right = zeros(n + 1)
    for word in range(1, n + 1):
        if with_root or heads[word] > 0:
            right = max(heads[word], word)
            next_right[word] = by_right[right]
            by_right[right] = word
    fenwick = zeros(n + 2)  # of left ends, counted from 1
    ended = zeros(n + 1)  # how many arcs end here or before
    total = 0
    seen = 0
    for right in range(n + 1):
        word = by_right[right]
        while word > 0:
            left = min(heads[word], word)
            total += _sum(fenwick, left) - ended[left]
            word = next_right[word]
        word = by_right[right]
        while word > 0:
            _add(fenwick, min(heads[word], word) + 1)
            seen += 1
            word = next_right[word]
        ended[right] = seen
    return total


def block_counts(heads: "array[int]") -> "array[int]":
    """Return for each node the number of maximal runs of adjacent nodes in its yield; its gap degree is one less.

    A run of v's yield starts at word i exactly if v dominates i but not i - 1. Walking up from i to the first
    ancestor of i - 1 meets just these v, so the work is the number of runs.
    """
    n = len(heads) - 1
    counts = zeros(n + 1)
    out = counts
    enter = zeros(n + 1)
    leave = zeros(n + 1)
    _tour(heads, enter, leave)
    out[0] = 1
    for word in range(1, n + 1):
        place = enter[word - 1]
        node = word
        while place < enter[node] or place >= leave[node]:
            out[node] += 1
            node = heads[node]
    return counts


def is_well_nested(heads: "array[int]") -> bool:
    """Whether no two disjoint subtrees interleave (Bodirsky, Kuhlmann and Möhl 2005).

    It is enough that no two siblings' yields do. The runs of all yields come from left to right as in
    :func:`block_counts`; each node keeps a stack of its children whose yields may still go on, and a child that
    comes back closes those above it for good.
    """
    n = len(heads) - 1
    enter = zeros(n + 1)
    leave = zeros(n + 1)
    _tour(heads, enter, leave)
    top = zeros(n + 1)  # of each node's stack
    below = zeros(n + 1)
    status = zeros(n + 1)  # 0 not met, 1 on the stack, 2 closed
    for word in range(1, n + 1):
        place = enter[word - 1]
        child = word
        while place < enter[child] or place >= leave[child]:
            node = heads[child]
            if status[child] == 2:
                return False
            if status[child] == 0:
                status[child] = 1
                below[child] = top[node]
            else:
                above = top[node]
                while above != child:
                    status[above] = 2
                    above = below[above]
            top[node] = child
            child = node
    return True


def projective_order(heads: "array[int]") -> "array[int]":
    """Return the nodes in the order of an inorder traversal: left dependents, node, right dependents (Nivre 2009)."""
    n = len(heads) - 1
    order = zeros(n + 1)
    out = order
    first = zeros(n + 1)
    following = zeros(n + 1)
    _children(heads, first, following)
    said = zeros(n + 1)
    size = 0
    node = 0
    while node >= 0:
        child = first[node]
        if said[node] == 0 and (child == 0 or child > node):
            said[node] = 1
            out[size] = node
            size += 1
        elif child > 0:
            first[node] = following[child]
            node = child
        else:
            node = heads[node]
    return order
