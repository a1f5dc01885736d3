"""Long lists of nodes as tables show them: their ends."""

from collections.abc import Sequence

GAP = -1  # in place of what is left out


def ends_of(nodes: Sequence[int]) -> list[int]:
    """Return a list of more than four nodes with GAP in place of all but the first and the last two."""
    return [*nodes] if len(nodes) <= 4 else [nodes[0], GAP, nodes[-2], nodes[-1]]
