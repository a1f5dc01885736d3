"""Parse text, or the sentences of a treebank, and write or draw their trees.

Text is split into sentences and words and tagged by a pipeline (made by train --pipeline; an English one comes with
tanglewood and needs no -m). In CoNLL-U and CoNLL-X only HEAD and DEPREL are filled in, and with --tag also lemmas, tags
and features where there are none; everything else stays as it is, byte for byte.
"""

from __future__ import annotations

import sys
import time
from contextlib import closing
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import Reading, add_processes, add_reading, add_reproducible, use_one_matrix_thread
from tanglewood.cli.guard import stop_of
from tanglewood.cli.inputs import is_text, shown_name
from tanglewood.cli.searching import add_search, search_options
from tanglewood.cli.writing import add_writing, chosen_format, chosen_look, on_screen, warnings_told
from tanglewood.errors import ConfigError, one_line
from tanglewood.files import kept_part_of
from tanglewood.show.formats import FORMATS, Format, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator

    from tanglewood.pipeline import Pipeline
    from tanglewood.run.corpus import Corpus
    from tanglewood.text.batches import Piece
    from tanglewood.text.familiarity import Familiarity
    from tanglewood.treebank.conllu import Batch
    from tanglewood.treebank.sentence import Sentence

HELP = "parse text or tagged sentences"
EXAMPLES = """\
  tanglewood parse "A hearing is scheduled on the issue today ."
  tanglewood parse letters.txt -o letters.conllu
  tanglewood parse -m nl.tw --format html brieven.txt -o brieven.html
  tanglewood parse --tag tokens.conllu > trees.conllu
  tanglewood parse -m model.tw words.conllu -o trees.conllu
  tanglewood parse -m model.tw --accurate words.conllu > trees.conllu
  tanglewood parse -m arcs.tw --search eisner --confidence words.conllu > trees.conllu
  tanglewood parse -m model.tw --keep-heads half-annotated.conllu > trees.conllu
  tanglewood parse --resume -j 2 big.txt -o big.conllu
  zcat big.conllu.gz | tanglewood parse -m model.tw -j 2 - -o big-trees.conllu.gz"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_reading(parser, files="*", text=True)
    parser.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="model: a file made by train, or the name of an installed one (default: the bundled English one)",
    )
    add_writing(parser, FORMATS, "what OUT ends in, or tree on a terminal, else conllu")
    parser.add_argument("--text", action="store_true", help="treat the input as text, whatever it looks like")
    add_search(parser)
    parser.add_argument(
        "--nbest", type=int, default=1, metavar="K", help="write the K best trees of each sentence, from the beam"
    )
    parser.add_argument(
        "--resume",
        action="store_true",
        help="write to OUT.part, which stays if the command is stopped or killed; the same command goes on from there, "
        "and OUT appears at the end. Refused if input, model or options have changed since",
    )
    add_reproducible(parser)
    add_processes(
        parser,
        "parse with N processes (default 1), each with its share of the sentences: the same output, in order; "
        "with 1, each sentence from a pipe is answered at once; of text, each paragraph or, with --sentences lines, "
        "each line",
    )


def run(args: argparse.Namespace) -> int:
    """Parse all input into one output."""
    use_one_matrix_thread()
    from tanglewood.pipeline import load
    from tanglewood.run.corpus import Corpus

    reading = Reading(args)
    began = time.perf_counter()
    options = search_options(args, nbest=args.nbest)
    format_ = chosen_format(args, FORMATS, "tree" if on_screen(args) else "conllu")
    pipeline = load(args.model)
    corpus = Corpus(pipeline.worker(options, tag=args.tag), processes=args.processes)
    familiarity = None if pipeline.tagger is None else pipeline.familiarity()
    batches = _seen(_batches(args, reading, pipeline), familiarity)
    if args.resume:
        try:
            count = _go_on(args, reading, pipeline, corpus, batches, format_)
        except KeyboardInterrupt as error:
            status, told = stop_of(error)
            part = kept_part_of(Path(args.output))
            print(f"\n{told}: {one_line(str(part))} is kept; the same command goes on from there", file=sys.stderr)
            return status
    else:
        with warnings_told(), closing(corpus.parse(batches, reading.note)) as sentences:
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


def _go_on(
    args: argparse.Namespace,
    reading: Reading,
    pipeline: Pipeline,
    corpus: Corpus,
    batches: Iterator[Batch | Piece],
    format_: Format,
) -> int:
    """Write what an earlier run with --resume has not, and return how many sentences there are in all."""
    from dataclasses import asdict

    from tanglewood.run.resume import Done, made_from, resumed

    if not format_.resumes:
        names = " and ".join(name for name, one in FORMATS.items() if one.resumes)
        raise ConfigError(f"--resume adds sentences to {names}; {format_.name} is written in one go, without it")
    inputs = [(item, is_text(item, command=args.command, forced=args.text)) for item in (args.files or ["-"])]
    options = asdict(corpus.options) | {
        "tag": args.tag,
        "text": args.text,
        "format": format_.name,
        "on_error": args.on_error,
        "encoding": reading.encoding,
        "max_sentence": reading.max_sentence,
    }
    with resumed(args.output, made_from(inputs, pipeline.checksum, options)) as part:
        done = part.done
        if done.batches:
            print(f"{one_line(str(part.path))}: going on after {done.sentences:,} sentences", file=sys.stderr)
            corpus.words, corpus.fallbacks, corpus.missing = done.words, done.fallbacks, done.missing
            reading.n_errors += done.errors
        finished, count = done.batches, done.sentences

        def counted() -> Iterator[Sentence]:
            nonlocal count
            for sentence in sentences:
                count += 1
                yield sentence

        def batch_done() -> None:
            nonlocal finished
            finished += 1
            errors = reading.n_errors - reading.n_places
            part.batch_done(Done(finished, 0, count, corpus.words, corpus.fallbacks, errors, corpus.missing))

        look = replace(chosen_look(args, format_), after=part.end)
        rest = islice(batches, finished, None)
        with closing(corpus.parse(rest, reading.note, after_batch=batch_done)) as sentences:
            write(counted(), part.file, format_, look)
    return count


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
    from tanglewood.text.reading import Seen
    from tanglewood.treebank.conllu import read_batches

    number = 1
    for item in args.files or ["-"]:
        if is_text(item, command=args.command, forced=args.text):
            _check_text(args, item)
            for piece in pipeline.pieces([item], number=number, sentences=args.sentences):
                yield piece
                number = piece.number + len(piece.sentences)
            continue
        with reading.opened(item) as (source, progress), opened(source) as (stream, name):
            batches: Iterator[Batch | Piece]
            seen = Seen(stream, name, reading.encoding)
            silent = args.model is not None
            if not args.text and seen.is_treebank:
                batches = read_batches(seen.check_treebank(), max_sentence=reading.max_sentence)
            else:
                _check_text(args, name)
                document = "" if item == "-" else name
                batches = pipeline.pieces(
                    reading.text_of(seen), document=document, number=number, sentences=args.sentences
                )
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


def _check_text(args: argparse.Namespace, name: str) -> None:
    """Raise an error if something is asked for that text cannot have."""
    if args.keep_heads:
        told = "--keep-heads is for treebanks whose words have some heads already; this is text"
        raise ConfigError(f"{shown_name(name)}: {told}")
