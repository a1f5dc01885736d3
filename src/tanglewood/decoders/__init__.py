"""The compiled core of graph-based parsing: the best tree of a class by a table of arc scores, and sums over trees.

This file is the registry of searches over arcs; their names and what they find are known without loading anything else.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from tanglewood.errors import ConfigError

if TYPE_CHECKING:
    from tanglewood.core.system import TransitionSystem
    from tanglewood.decoders.base import Decoder

MOST_MEMORY = 1 << 30  # bytes that a search may use by default
MOVE_SEARCHES = {  # of models that score moves
    "greedy": "the best move in every configuration",
    "beam": "the best derivation in a beam",
}
CHART_SEARCHES = {  # of models whose moves are scored by three nodes
    "exact-moves": "the best of all derivations by the scores of moves, with the triples learner",
}
JOINT_SEARCHES = {  # of models that score moves and arcs
    "vote": "the best tree by the scores of arcs and the trees that moves find",
    "rescore": "the tree of the beam that moves and arcs together find best",
}


class SearchEntry(NamedTuple):
    """A search over arcs: what it finds, how to make its decoder, and what else is true of it."""

    help: str
    make: Callable[[TransitionSystem], Decoder]
    of_system: bool = False  # whether it finds only trees that the system derives, and is only for systems that list it
    limited: bool = True  # whether sentences beyond a limit get the best of all trees instead
    shortcut: bool = False  # whether the best of all trees is the answer if the system derives it
    projective: bool = False  # whether sums that go with it are over projective trees only
    siblings: bool = False  # whether it is for models that score neighbouring dependents, too


def _exact(system: TransitionSystem) -> Decoder:
    return system.exact()  # type: ignore[no-any-return]


def _lite(system: TransitionSystem) -> Decoder:
    return system.exact(lite=True)  # type: ignore[no-any-return]


def _spanning(system: TransitionSystem) -> Decoder:
    from tanglewood.decoders.spanning import SpanningTree

    return SpanningTree(single_root=system.single_root)


def _eisner(system: TransitionSystem) -> Decoder:
    from tanglewood.decoders.eisner import Eisner

    return Eisner(single_root=system.single_root)


def _eisner2(system: TransitionSystem) -> Decoder:
    from tanglewood.decoders.eisner2 import Eisner2

    return Eisner2(single_root=system.single_root)


def _mst2(system: TransitionSystem) -> Decoder:
    from tanglewood.decoders.mst2 import Mst2

    return Mst2(single_root=system.single_root)


SEARCHES: dict[str, SearchEntry] = {
    "exact": SearchEntry(
        "the best tree of the system, one of the attardi family", _exact, of_system=True, shortcut=True
    ),
    "lite": SearchEntry("the best tree of nearly all that attardi-alls0s1 derives, in O(n^5)", _lite, of_system=True),
    "mst": SearchEntry("the best of all trees", _spanning, limited=False),
    "eisner": SearchEntry("the best projective tree", _eisner, projective=True),
    "mst2": SearchEntry(
        "a good tree of all trees by arcs and siblings, from that of eisner2 uphill", _mst2, siblings=True
    ),
    "eisner2": SearchEntry(
        "the best projective tree by arcs and siblings (second order)", _eisner2, projective=True, siblings=True
    ),
}


def search_help(*, over_arcs: bool = False) -> str:
    """Say in one line what each search finds, or each search over arcs."""
    known = {name: entry.help for name, entry in SEARCHES.items()}
    if not over_arcs:
        known = {**MOVE_SEARCHES, **CHART_SEARCHES, **JOINT_SEARCHES, **known}
    return "; ".join(f"{name}: {text}" for name, text in known.items())


def searches_of(system: TransitionSystem) -> list[str]:
    """Return the searches over arcs that a system can be used with."""
    return [name for name, entry in SEARCHES.items() if not entry.of_system or name in system.exact_searches]


def check_system(search: str, system: TransitionSystem) -> None:
    """Raise ConfigError if a system has no such search over arcs."""
    if search not in searches_of(system):
        raise ConfigError(
            f"there is no {search} search for {system.name}, only {' and '.join(searches_of(system))}; "
            "`tanglewood info --json` says which systems have one"
        )


def make_decoder(
    search: str, system: TransitionSystem, *, max_words: int | None = None, max_bytes: int | None = MOST_MEMORY
) -> Decoder:
    """Return the decoder of that search; sentences beyond the limits get the best of all trees instead.

    The proof of such an answer is "fallback".
    """
    from tanglewood.decoders.exact import ShortcutDecoder
    from tanglewood.decoders.limits import LimitedDecoder

    if search not in SEARCHES:
        raise ConfigError(f"unknown search {search!r} for a graph-based model; choose from {', '.join(SEARCHES)}")
    check_system(search, system)
    entry = SEARCHES[search]
    decoder = entry.make(system)
    if entry.limited:
        decoder = LimitedDecoder(decoder, _spanning(system), max_words=max_words, max_bytes=max_bytes)
    return ShortcutDecoder(system, decoder, _spanning(system)) if entry.shortcut else decoder


def make_summing_decoder(search: str, system: TransitionSystem) -> Decoder:
    """Return the decoder whose sums over trees go with a search: projective ones for eisner, else all trees."""
    return (_eisner if SEARCHES[search].projective else _spanning)(system)
