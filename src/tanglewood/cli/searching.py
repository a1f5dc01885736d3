"""How to search for trees: the options of the commands that parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tanglewood.decoders import CHART_SEARCHES, JOINT_SEARCHES, MOST_MEMORY, MOVE_SEARCHES, SEARCHES, search_help
from tanglewood.options import SENTENCES, ParseOptions

if TYPE_CHECKING:
    import argparse


def add_search(parser: argparse.ArgumentParser) -> None:
    """Add the options of a search, and where the sentences of text end."""
    parser.add_argument(
        "--sentences",
        choices=SENTENCES,
        default="model",
        help="where the sentences of text end: where the model says (default), at final punctuation, with each line, "
        "or at blank lines only",
    )
    parser.add_argument(
        "--contextual",
        default="",
        metavar="FILE",
        help="vectors of a large encoder, from tanglewood embed, or the encoder itself, for models that have learnt "
        "from one",
    )
    parser.add_argument(
        "--tag", action="store_true", help="fill in lemmas, tags and features where a sentence has none"
    )
    parser.add_argument(
        "--tags-nbest",
        type=int,
        default=1,
        metavar="N",
        help="let the parser choose from the tagger's N best sequences of tags; slower (default 1)",
    )
    parser.add_argument(
        "--keep-heads",
        action="store_true",
        help='keep heads and labels that words have, and fill in those that are "_"; only with searches over arcs',
    )
    parser.add_argument(
        "--search",
        choices=(*MOVE_SEARCHES, *CHART_SEARCHES, *JOINT_SEARCHES, *SEARCHES),
        help=search_help() + ". Models that score moves alone take the first two, and those of the "
        "triples learner also the third; graph-based models take those from exact "
        "to eisner or, if they score siblings, the last two; networks take all but the third and the "
        "last two, as far as their system has them (default: vote; for graph-based models as in training; by moves "
        "alone beam with a pipeline, else greedy)",
    )
    parser.add_argument(
        "--accurate", action="store_true", help="take a beam of 8 where there can be one: usually better trees, slower"
    )
    parser.add_argument(
        "--confidence",
        action="store_true",
        help="write to MISC how probable each word's head is: by the sum over all trees, or by the share of the beam "
        "that agrees, for models that score moves alone",
    )
    parser.add_argument(
        "--beam",
        type=int,
        metavar="K",
        help="keep the K best derivations (default 1; 8 with --accurate, where a beam is needed and, for models that "
        "score moves alone, with a pipeline)",
    )
    parser.add_argument(
        "--min-risk",
        action="store_true",
        help="with a search over arcs: find the tree expected to have the most correct heads",
    )
    parser.add_argument(
        "--max-length",
        type=int,
        default=0,
        metavar="N",
        help="in sentences longer than N follow moves alone or, if graph-based, take the best of all trees",
    )
    parser.add_argument(
        "--max-memory",
        type=int,
        metavar="MB",
        help=f"likewise where the search needs more megabytes than this (default {MOST_MEMORY >> 20}); "
        "if a graph-based model needs more even for the best of all trees, the sentence is an error",
    )
    parser.add_argument(
        "--show-search",
        action="store_true",
        help="add a comment with the search and its proof to every sentence",
    )


def search_options(args: argparse.Namespace, *, nbest: int = 1) -> ParseOptions:
    """Return the options of a search that were given."""
    return ParseOptions(
        search=args.search or "",
        beam=args.beam,
        accurate=args.accurate,
        nbest=nbest,
        confidence=args.confidence,
        min_risk=args.min_risk,
        max_length=args.max_length,
        max_memory=MOST_MEMORY if args.max_memory is None else args.max_memory << 20,
        show_search=args.show_search,
        sentences=args.sentences,
        contextual=args.contextual,
        keep_heads=args.keep_heads,
        tags_nbest=args.tags_nbest,
        reproducible=args.reproducible,
    )
