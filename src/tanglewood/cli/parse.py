"""Parse text, or the sentences of a treebank, and write or draw their trees.

Text is split into sentences and words and tagged by a pipeline (made by train --pipeline; an English one comes with
tanglewood and needs no -m). In CoNLL-U and CoNLL-X only HEAD and DEPREL are filled in, and with --tag also lemmas, tags
and features where there are none; everything else stays as it is, byte for byte.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_processes, add_reading, add_reproducible, use_one_matrix_thread
from tanglewood.cli.inputs import is_text
from tanglewood.cli.writing import add_writing, chosen_format, chosen_look, on_screen
from tanglewood.decoders import JOINT_SEARCHES, MOST_MEMORY, MOVE_SEARCHES, SEARCHES, search_help
from tanglewood.errors import one_line
from tanglewood.options import SENTENCES, ParseOptions
from tanglewood.show.formats import FORMATS, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.pipeline import Pipeline
    from tanglewood.text.batches import Piece
    from tanglewood.text.familiarity import Familiarity
    from tanglewood.treebank.conllu import Batch

HELP = "parse text or tagged sentences"
EXAMPLES = """\
  tanglewood parse "A hearing is scheduled on the issue today ."
  tanglewood parse letters.txt -o letters.conllu
  tanglewood parse -m nl.tw --format html brieven.txt -o brieven.html
  tanglewood parse --tag tokens.conllu > trees.conllu
  tanglewood parse -m model.tw words.conllu -o trees.conllu
  tanglewood parse -m model.tw --accurate words.conllu > trees.conllu
  tanglewood parse -m arcs.tw --search eisner --confidence words.conllu > trees.conllu
  zcat big.conllu.gz | tanglewood parse -m model.tw -j 2 - -o big-trees.conllu.gz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files="*", text=True)
    parser.add_argument(
        "-m", "--model", metavar="MODEL", help="model file made by train (default: the bundled English one)"
    )
    add_writing(parser, FORMATS, "what OUT ends in, or tree on a terminal, else conllu")
    parser.add_argument("--text", action="store_true", help="treat the input as text, whatever it looks like")
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
        help="vectors of a large encoder, from tanglewood embed, or the encoder, for models that have learnt from some",
    )
    parser.add_argument(
        "--tag", action="store_true", help="fill in lemmas, tags and features where a sentence has none"
    )
    parser.add_argument(
        "--search",
        choices=(*MOVE_SEARCHES, *JOINT_SEARCHES, *SEARCHES),
        help=search_help() + ". Models that score moves alone take the first two, graph-based ones the last four, and "
        "networks all that their system has (default: vote; for graph-based models as in training; by moves alone beam "
        "with a pipeline, else greedy)",
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
        "--nbest", type=int, default=1, metavar="K", help="write the K best trees of each sentence, from the beam"
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
        help="in sentences longer than N follow moves alone or, graph-based, take the best of all trees",
    )
    parser.add_argument(
        "--max-memory",
        type=int,
        metavar="MB",
        help=f"likewise where the search needs more megabytes than this (default {MOST_MEMORY >> 20}); "
        "graph-based: if even the best of all trees needs more, the sentence is an error",
    )
    parser.add_argument(
        "--show-search",
        action="store_true",
        help="add a comment with the search and its proof to every sentence",
    )
    add_reproducible(parser)
    add_processes(
        parser,
        "parse with N processes (default 1), each with its share of the sentences: the same output, in order; "
        "with 1 each sentence from a pipe is answered at once, of text each paragraph or, with --sentences lines, line",
    )


def run(args: argparse.Namespace) -> int:
    """Parse all input into one output."""
    use_one_matrix_thread()
    from tanglewood.pipeline import load
    from tanglewood.run.corpus import Corpus

    reading = Reading(args)
    began = time.perf_counter()
    options = ParseOptions(
        search=args.search or "",
        beam=args.beam,
        accurate=args.accurate,
        nbest=args.nbest,
        confidence=args.confidence,
        min_risk=args.min_risk,
        max_length=args.max_length,
        max_memory=MOST_MEMORY if args.max_memory is None else args.max_memory << 20,
        show_search=args.show_search,
        sentences=args.sentences,
        contextual=args.contextual,
        reproducible=args.reproducible,
    )
    format_ = chosen_format(args, FORMATS, "tree" if on_screen(args) else "conllu")
    pipeline = load(args.model)
    corpus = Corpus(pipeline.worker(options, tag=args.tag), processes=args.processes)
    familiarity = None if pipeline.tagger is None else pipeline.familiarity()
    batches = _seen(_batches(args, reading, pipeline), familiarity)
    with closing(corpus.parse(batches, reading.note)) as sentences:
        count = write(sentences, args.output, format_, chosen_look(args, format_))
    words = corpus.words
    if words and corpus.missing:
        remedy = "" if pipeline.tagger is None else "; --tag fills them in"
        print(
            f"warning: the input has no {', '.join(corpus.missing)}: 0 of {words:,} words; the model was trained with "
            f"them{remedy}",
            file=sys.stderr,
        )
    for warning in familiarity.warnings() if familiarity else ():
        print(f"warning: {warning}", file=sys.stderr)
    if corpus.fallbacks:
        print(
            f"{corpus.fallbacks:,} of {count:,} sentences were too long for the search; a comment (# search) in each "
            "says what was done instead",
            file=sys.stderr,
        )
    if sys.stderr.isatty() and not on_screen(args):
        spent = time.perf_counter() - began
        print(f"{count:,} sentences, {words:,} words in {spent:.1f} s: {words / spent:,.0f} words/s", file=sys.stderr)
    return reading.close()


def _seen(batches: Iterator[Batch | Piece], familiarity: Familiarity | None) -> Iterator[Batch | Piece]:
    """Yield the batches; the words of those that come from text are counted."""
    from tanglewood.text.batches import Piece

    for batch in batches:
        if familiarity and isinstance(batch, Piece):
            familiarity.add(batch.text, batch.sentences)
        yield batch


def _batches(args: argparse.Namespace, reading: Reading, pipeline: Pipeline) -> Iterator[Batch | Piece]:
    """Yield the sentences of all input: those of treebanks as they are, those of texts as the pipeline finds them."""
    from tanglewood.files import opened
    from tanglewood.text.batches import Piece
    from tanglewood.text.reading import Seen, read_text
    from tanglewood.treebank.conllu import read_batches

    number = 1
    for item in args.files or ["-"]:
        if is_text(item, command=args.command, forced=args.text):
            for piece in pipeline.pieces([item], number=number, sentences=args.sentences):
                yield piece
                number = piece.number + len(piece.sentences)
            continue
        with reading.opened(item) as (source, progress), opened(source) as (stream, name):
            batches: Iterator[Batch | Piece]
            seen = Seen(stream, name)
            silent = args.model is not None
            if not args.text and seen.is_treebank:
                batches = read_batches(seen.as_stream(), max_sentence=reading.max_sentence)
            else:
                document = "" if item == "-" else name
                text = read_text(seen.as_stream(), name)
                batches = pipeline.pieces(text, document=document, number=number, sentences=args.sentences)
            for batch in batches:
                if isinstance(batch, Piece):
                    number = batch.number + len(batch.sentences)
                elif not silent:
                    print(
                        f"{one_line(name)}: parsed with the English model of tanglewood; -m names another",
                        file=sys.stderr,
                    )
                    silent = True
                progress.step(len(batch.sentences) if isinstance(batch, Piece) else len(batch.blocks))
                yield batch
