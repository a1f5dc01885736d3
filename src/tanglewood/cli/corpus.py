"""Parse a corpus of many files into a folder, whatever dies meanwhile: the same command goes on where it stopped.

Each input file becomes one output file with the same relative name, which appears only when it is complete, and a
record (NAME.record.json): counts, checksums of input, output and model, options, seconds. What is finished is skipped;
if the input, the model or an option has changed, it is done again. Large files are cut into parts, which different
processes and tasks work on. What is wrong in the input is left out, counted and listed in OUT/errors.jsonl.

`corpus status OUT` says how far the work has got, `corpus verify OUT` compares every file with its record.
"""

from __future__ import annotations

import os
import sys
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import (
    add_dask,
    add_encoding,
    add_json,
    add_max_sentence,
    add_reproducible,
    encoding_of,
    print_json,
    print_table,
    use_one_matrix_thread,
)
from tanglewood.cli.guard import stop_of
from tanglewood.cli.searching import add_search, search_options
from tanglewood.errors import ConfigError, one_line
from tanglewood.files import MAGIC
from tanglewood.measure.clock import minutes

if TYPE_CHECKING:
    import argparse
    from typing import Any

    from tanglewood.run.folder import Summary
    from tanglewood.run.places import Place
    from tanglewood.run.records import Running

HELP = "parse a corpus of many files, in many processes or tasks, and go on where it stopped"
EXAMPLES = """\
  tanglewood corpus texts -o trees
  tanglewood corpus texts -o trees -m nl.tw --processes 4 --compress zst
  tanglewood corpus "news/**/*.jsonl.gz" -o trees --text-field body --id-field url --format json
  tanglewood corpus texts -o trees --task 3/8                 the third of eight jobs, on any machine
  tanglewood corpus texts -o trees --dask tcp://scheduler:8786
  tanglewood corpus status trees
  tanglewood corpus verify trees"""
ENDINGS = {"conllu": ".conllu", "json": ".jsonl", "parquet": ".parquet", "parquet-words": ".parquet"}
MOST_TOLD = 20  # lines about single files; the rest is in errors.jsonl and in the records


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "inputs",
        nargs="+",
        metavar="IN",
        help="files, folders, patterns in quotes, or URLs of these (extra: remote): text, CoNLL-U, JSON lines "
        "(.jsonl), plain, .gz, .xz or .zst, or Parquet. status OUT or verify OUT instead look at what is there",
    )
    parser.add_argument("-o", "--output", metavar="OUT", help="folder to write to, or the URL of one (extra: remote)")
    parser.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="model: a file made by train, or the name of an installed one (default: the bundled English one)",
    )
    parser.add_argument(
        "--processes", "-j", type=int, metavar="N", help="how many parse side by side (default: one per core)"
    )
    parser.add_argument(
        "--task",
        metavar="I/N",
        default="1/1",
        help="do the I-th of N shares of the work, for job arrays; shares may be done in any order, on any machine, "
        "and repeated",
    )
    add_dask(parser, "it")
    parser.add_argument(
        "--format",
        choices=ENDINGS,
        default="conllu",
        help="conllu (default); json: one sentence per line or, from JSON lines, one document per line, with its other "
        "fields; parquet: a table with one row per sentence, or parquet-words: one per word (extra: parquet)",
    )
    parser.add_argument(
        "--compress", choices=[ending[1:] for ending in MAGIC], help="compress the outputs (default: plain)"
    )
    parser.add_argument(
        "--on-error",
        choices=("skip", "replace", "stop"),
        default="skip",
        help="at a malformed sentence or document, or bytes of text that cannot be decoded: skip it (default); replace "
        "such bytes with U+FFFD; or stop, giving up on the file. The run goes on in any case",
    )
    parser.add_argument(
        "--text-field",
        default="text",
        metavar="NAME",
        help="field of the text in JSON lines and Parquet (default: text)",
    )
    parser.add_argument(
        "--id-field",
        default="id",
        metavar="NAME",
        help="field of the identifier in JSON lines and Parquet (default: id)",
    )
    parser.add_argument(
        "--part-size", type=int, default=32, metavar="MB", help="cut files that are larger than this (default 32)"
    )
    add_encoding(parser)
    add_max_sentence(parser)
    add_search(parser)
    add_reproducible(parser)
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Parse a corpus, or look at one."""
    from tanglewood.run.places import is_folder, place_of

    if args.output is None and args.inputs[0] in ("status", "verify"):
        if len(args.inputs) != 2:
            raise ConfigError(f"corpus {args.inputs[0]} takes one folder, the OUT of a run")
        folder = place_of(args.inputs[1])
        if not is_folder(folder):
            raise ConfigError(f"{folder}: there is no such folder")
        return _status(folder, args) if args.inputs[0] == "status" else _verify(folder)
    if args.output is None:
        raise ConfigError("-o OUT should name the folder to write to")
    return _parse(args)


def _parse(args: argparse.Namespace) -> int:
    use_one_matrix_thread()
    from tanglewood.pipeline import load
    from tanglewood.run.dask_engine import cluster
    from tanglewood.run.folder import Run, Task, by_cluster
    from tanglewood.run.listing import find_inputs
    from tanglewood.run.parquet import check_parquet
    from tanglewood.run.places import is_file, is_of_this_process, place_of
    from tanglewood.run.processes import checked
    from tanglewood.run.units import TABLES, Job, Reading

    if min(args.part_size, args.max_sentence) < 1:
        raise ConfigError("--part-size and --max-sentence should be 1 megabyte or more")
    task = Task.read(args.task)
    output = place_of(args.output)
    if is_file(output):
        raise ConfigError(f"{output} is a file; -o should name a folder")
    alone = is_of_this_process(output)
    usual = 1 if alone else _cores()
    processes = checked(usual if args.processes is None else args.processes)
    if alone and (processes > 1 or args.dask):
        raise ConfigError(f"{output}: other processes cannot write there; --processes 1 should do it")
    packing = f".{args.compress}" if args.compress else ""
    if args.format in TABLES:
        check_parquet()
        if packing:
            raise ConfigError("--compress: Parquet is compressed in itself")
    reading = Reading(
        format=args.format,
        on_error=args.on_error,
        encoding=encoding_of(args),
        text_field=args.text_field,
        id_field=args.id_field,
        max_sentence=args.max_sentence << 20,
    )
    found = find_inputs(args.inputs, ENDINGS[args.format] + packing, output)
    if found.others:
        print(f"{found.others:,} files of other kinds are left out", file=sys.stderr)
    if not found.inputs:
        raise ConfigError("there are no files to parse; names should end in .txt, .conllu, .jsonl or .parquet")
    pipeline = load(args.model)
    worker = pipeline.worker(search_options(args), tag=args.tag)
    # For another machine, a relative name would be that of another folder.
    where = str(output.absolute() if isinstance(output, Path) and args.dask else output)
    job = Job(worker, pipeline.checksum, reading, where, packing)
    told = _Told()
    try:
        with ExitStack() as stack:
            whole = Run(
                job,
                found.inputs,
                processes=processes,
                task=task,
                part_size=args.part_size << 20,
                tell=told.tell,
                watch=told.watch,
                engine=partial(by_cluster, stack.enter_context(cluster(args.dask, processes))) if args.dask else None,
            )
            summary = whole.do()
    except KeyboardInterrupt as error:
        told.clear()
        status, why = stop_of(error)
        print(f"\n{why}: what is finished is kept; the same command goes on", file=sys.stderr)
        return status
    finally:
        told.clear()
    if pipeline.origin is not None and not pipeline.origin.is_unchanged():
        print(
            f"warning: {one_line(pipeline.origin.name)} was replaced during the run; this run used the model it began "
            "with, and the next one will do everything again",
            file=sys.stderr,
        )
    _sum_up(summary, output)
    return 1 if summary.failed else 0


def _cores() -> int:
    """Return how many cores this process may use, which a batch system may have limited."""
    allowed = getattr(os, "sched_getaffinity", None)
    return len(allowed(0)) if allowed is not None else os.cpu_count() or 1


def _sum_up(summary: Summary, output: Place) -> None:
    counts = summary.counts
    done = f"{summary.finished:,} files done, {summary.skipped:,} were finished before"
    print(
        f"{done}: {counts.documents:,} documents, {counts.sentences:,} sentences, {counts.words:,} words",
        file=sys.stderr,
    )
    if summary.left:
        print(f"{summary.left:,} files wait for parts that other tasks do", file=sys.stderr)
    if summary.failed or counts.errors:
        what = f"{summary.failed:,} files failed, {counts.errors:,} errors in others"
        print(f"{what}; {one_line(str(output / 'errors.jsonl'))} says where", file=sys.stderr)


class _Told:
    """What is said while a run goes on: lines, and on a terminal one that shows how far it is."""

    def __init__(self) -> None:
        self._lines = 0
        self._shown = False
        self._screen = sys.stderr.isatty()
        self._last = 0.0

    def tell(self, text: str) -> None:
        """Print a line, unless there were many."""
        self._lines += 1
        if self._lines <= MOST_TOLD + 1:
            self.clear()
            print(one_line(text) if self._lines <= MOST_TOLD else "further files are not listed here", file=sys.stderr)

    def watch(self, running: Running) -> None:
        """Show how far it is, now and then."""
        if not self._screen or running.seconds < self._last + 0.5:
            return
        self._last = running.seconds
        self._shown = True
        print(
            f"\r{_going(running.done, running.total, running.words, running.seconds)}\x1b[K",
            end="",
            file=sys.stderr,
            flush=True,
        )

    def clear(self) -> None:
        """Remove the line that shows how far it is."""
        if self._shown:
            self._shown = False
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def _going(done: int, total: int, words: int, seconds: float) -> str:
    """Return how far a run is, how fast, and how long it will take."""
    text = f"{words:,} words, {words / seconds:,.0f} a second"
    if total:
        text += f", {done / total:.0%} of {_size(total)}"
    return f"{text}, {minutes(seconds * (total - done) / done)} left" if done else text


def _size(size: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:,.0f} {unit}"
        size /= 1000
    return f"{size:,.0f} TB"


def _status(folder: Place, args: argparse.Namespace) -> int:
    """Tell what is done, running and failed, how fast and how long to go."""
    import time

    from tanglewood.run.records import is_alive, is_over, read_manifest, runs, write_errors
    from tanglewood.run.units import read_record

    try:
        listed = read_manifest(folder)
    except (OSError, ValueError, LookupError, TypeError):
        raise ConfigError(f"{folder}: no corpus was parsed into this folder") from None
    sizes = {"done": 0, "failed": 0, "to do": 0}
    files = dict.fromkeys(sizes, 0)
    sums = dict.fromkeys(("documents", "sentences", "words", "errors", "seconds"), 0.0)
    for given, size in listed:
        record = read_record(folder / given.output)
        state = "to do" if record is None else str(record["state"])
        files[state] += 1
        sizes[state] += size
        if record is not None and state == "done":
            for name in sums:
                sums[name] += record[name]
    now = time.time()
    at_work: list[dict[str, Any]] = [{**said, "alive": is_alive(said)} for _, said in runs(folder)]
    with suppress(OSError):  # it may be looked at where nothing may be written, and while a run that ends clears away
        write_errors(folder)
    if args.json:
        counts = {name: value if name == "seconds" else int(value) for name, value in sums.items()}
        print_json({"files": files, "bytes": sizes, **counts, "running": at_work})
        return 0
    print_table(["files", "", "size"], [[name, files[name], _size(sizes[name])] for name in files])
    print()
    print(f"{sums['documents']:,.0f} documents, {sums['sentences']:,.0f} sentences, {sums['words']:,.0f} words", end="")
    print(f", {sums['errors']:,.0f} errors, {minutes(sums['seconds'])} of work")
    for said in at_work:
        where = f"{said['host']}, process {said['pid']}, task {'/'.join(map(str, said['task']))}"
        went = max(now - said["began"], 1e-9)
        if said["alive"]:
            going = _going(said["done"], said["total"], said["words"], went)
        elif is_over(said):
            going = "it has ended without a word"
        else:
            going = f"not heard of for {minutes(now - said['told'])}; it may be busy, or dead"
        print(f"{where}: {going}")
    if sizes["to do"] and all(map(is_over, at_work)):
        print("nothing is running; the same command goes on")
    return 0


def _verify(folder: Place) -> int:
    """Compare every output with its record; the status is 1 if something is wrong."""
    from tanglewood.run.records import verified

    right = wrong = 0
    for name, problem in verified(folder):
        if problem:
            wrong += 1
            print(f"{one_line(name)}: {one_line(problem)}")
        else:
            right += 1
    if not right and not wrong:
        raise ConfigError(f"{folder}: no corpus was parsed into this folder")
    print(f"{right:,} files are as their records say{f', {wrong:,} are not' if wrong else ''}")
    return 1 if wrong else 0
