"""The names of searches, and what bounds them: known without loading anything else."""

SEARCHES = {  # for models of arcs
    "exact": "the best tree of the system, one of the attardi family",
    "lite": "the best tree of nearly all that attardi-alls0s1 derives, in O(n^5)",
    "mst": "the best of all trees",
    "eisner": "the best projective tree",
}
MOVE_SEARCHES = ("greedy", "beam")  # for models of moves
MOST_MEMORY = 1 << 30  # bytes a search may ask for, if nothing else is said
