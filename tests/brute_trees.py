"""Slow and obvious twins of the measures, each written straight from its definition.

Every function takes the heads of words 1..n only, as ``Tree`` does.
"""

from collections.abc import Iterator
from itertools import combinations, pairwise, product

from hypothesis import strategies as st


def is_tree(heads: list[int]) -> bool:
    """Every word reaches 0 along the heads."""
    nodes = [-1, *heads]
    for word in range(1, len(nodes)):
        node = word
        for _ in range(len(nodes)):
            if node == 0:
                break
            node = nodes[node]
            if not 0 <= node < len(nodes):
                return False
        if node != 0:
            return False
    return True


def all_trees(n: int) -> Iterator[list[int]]:
    """The heads of every tree over n words, several roots allowed: (n + 1) ** (n - 1) of them."""
    return (list(heads) for heads in product(range(n + 1), repeat=n) if is_tree(list(heads)))


@st.composite
def random_heads(draw: st.DrawFn, max_n: int, min_n: int = 0) -> list[int]:
    """Any tree of at most max_n words: in some order, each word goes below 0 or a word before it in that order."""
    n = draw(st.integers(min_n, max_n))
    order = [0, *draw(st.permutations(range(1, n + 1)))]
    heads = [0] * (n + 1)
    for i in range(1, n + 1):
        heads[order[i]] = order[draw(st.integers(0, i - 1))]
    return heads[1:]


def dominates(heads: list[int], above: int, below: int) -> bool:
    """Whether the path of heads from ``below`` meets ``above``; every node dominates itself."""
    while below != above and below > 0:
        below = heads[below - 1]
    return below == above


def words_between(heads: list[int], dependent: int) -> range:
    """The words strictly between a word and its head."""
    head = heads[dependent - 1]
    return range(min(head, dependent) + 1, max(head, dependent))


def is_nonprojective(heads: list[int], dependent: int) -> bool:
    """Some word below the arc is not dominated by its head."""
    return any(not dominates(heads, heads[dependent - 1], word) for word in words_between(heads, dependent))


def component_roots(heads: list[int], dependent: int) -> list[int]:
    """The words below the arc whose head is not below it."""
    between = words_between(heads, dependent)
    return [word for word in between if heads[word - 1] not in between]


def arc_degrees_2007(heads: list[int]) -> list[int]:
    """Component roots whose head is neither end of the arc."""
    return [0] + [
        sum(heads[root - 1] not in {heads[word - 1], word} for root in component_roots(heads, word))
        for word in range(1, len(heads) + 1)
    ]


def arc_degrees_2006(heads: list[int]) -> list[int]:
    """Component roots that the head of the arc does not dominate in the whole tree."""
    return [0] + [
        sum(not dominates(heads, heads[word - 1], root) for root in component_roots(heads, word))
        for word in range(1, len(heads) + 1)
    ]


def crossing_pairs(heads: list[int], with_root: bool) -> list[tuple[int, int]]:
    """Pairs of arcs of which one begins inside the other and ends outside, as pairs of dependents."""
    arcs = [(min(h, d), max(h, d), d) for d, h in enumerate(heads, 1) if with_root or h > 0]
    return sorted(
        (min(a[2], b[2]), max(a[2], b[2]))
        for a, b in combinations(arcs, 2)
        if a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]
    )


def yield_of(heads: list[int], node: int) -> list[int]:
    """The nodes that ``node`` dominates, in order."""
    return [other for other in range(len(heads) + 1) if dominates(heads, node, other)]


def gap_degrees(heads: list[int]) -> list[int]:
    """For every node, the places where its yield leaves out something."""
    yields = [yield_of(heads, node) for node in range(len(heads) + 1)]
    return [sum(b - a > 1 for a, b in pairwise(nodes)) for nodes in yields]


def is_well_nested(heads: list[int]) -> bool:
    """No l1 < l2 < r1 < r2 with l1, r1 in one of two disjoint yields and l2, r2 in the other."""
    yields = [yield_of(heads, node) for node in range(1, len(heads) + 1)]
    for one, other in combinations(yields, 2):
        if set(one) & set(other):
            continue
        for a, b in ((one, other), (other, one)):
            if any(l1 < l2 < r1 < r2 for l1, r1 in combinations(a, 2) for l2, r2 in combinations(b, 2)):
                return False
    return True


def projective_order(heads: list[int], node: int = 0) -> list[int]:
    """Left dependents with all below them, the node, right dependents with all below them."""
    children = [word for word, head in enumerate(heads, 1) if head == node]
    left = [x for child in children if child < node for x in projective_order(heads, child)]
    right = [x for child in children if child > node for x in projective_order(heads, child)]
    return [*left, node, *right]


def two_planes(heads: list[int]) -> list[int]:
    """The plane of each arc between words, by a walk over the pairs that cross; nothing if two are not enough."""
    crossed: dict[int, list[int]] = {}
    for one, other in crossing_pairs(heads, with_root=False):
        crossed.setdefault(one, []).append(other)
        crossed.setdefault(other, []).append(one)
    plane = [-1] * (len(heads) + 1)
    for first in range(len(plane)):
        if plane[first] >= 0:
            continue
        plane[first] = 0
        agenda = [first]
        while agenda:
            arc = agenda.pop()
            for other in crossed.get(arc, ()):
                if plane[other] == plane[arc]:
                    return []
                if plane[other] < 0:
                    plane[other] = 1 - plane[arc]
                    agenda.append(other)
    return plane
