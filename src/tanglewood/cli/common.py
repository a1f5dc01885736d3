"""What commands share: reading files with progress and error handling, choosing sentences and systems, tables."""

from __future__ import annotations

import argparse
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NoReturn

from tanglewood.cli.inputs import ENGLISH, check_folder, is_text, parse_text
from tanglewood.errors import ConfigError, LocatedError, one_line
from tanglewood.files import standard_stream
from tanglewood.measure.clock import minutes

if TYPE_CHECKING:
    from tanglewood.core.system import TransitionSystem
    from tanglewood.text.reading import Seen
    from tanglewood.treebank.sentence import Sentence

IDLE = "-m is for text: a treebank should have its trees already (tanglewood parse makes new ones)"
LONGEST_USAGE = 3  # lines
LONGEST_NAME = 60  # of a file, in the line that shows progress
MOST_LISTED = 1000  # errors that are listed at the end


class ArgumentParser(argparse.ArgumentParser):
    """Keeps its complaints short, however many options a command has and whatever was given."""

    def error(self, message: str) -> NoReturn:
        """Say what is wrong with the arguments, and end the program."""
        usage = self.format_usage()
        shown = usage if usage.count("\n") <= LONGEST_USAGE else ""
        self.exit(2, f"{shown}{self.prog}: {one_line(message)}; {self.prog} --help shows what can be given\n")


class HelpFormatter(argparse.RawDescriptionHelpFormatter):
    """Keeps the line breaks of descriptions and leaves room for command names, whose indentation argparse forgets."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog)
        self._action_max_length = 15


def add_reading(parser: argparse.ArgumentParser, *, files: str | int = "+", text: bool = False) -> None:
    """Add the file arguments, ``files`` being argparse's nargs, and --on-error.

    With ``text`` an argument may be raw text instead of a file.
    """
    parser.add_argument(
        "files",
        nargs=files,
        metavar="FILE|TEXT" if text else "FILE",
        help=f"{'text, ' if text else ''}CoNLL-U or CoNLL-X, plain, .gz, .xz or .zst; - is stdin"
        + ("; an argument with a space in it that is not the name of a file is taken as text" if text else ""),
    )
    parser.add_argument(
        "--on-error",
        choices=("stop", "skip", "report", *(["replace"] if text else [])),
        default="stop",
        help=f"at a malformed sentence{', or bytes of text that cannot be decoded' if text else ''}: stop (default); "
        "skip it and list all that was skipped at the end; or report it at once, go on, and exit with status 1"
        + ("; replace: as skip, but such bytes become U+FFFD" if text else ""),
    )
    if text:
        add_encoding(parser)
    add_max_sentence(parser)


def add_encoding(parser: argparse.ArgumentParser) -> None:
    """Add --encoding."""
    parser.add_argument(
        "--encoding",
        metavar="NAME",
        help="encoding of text, such as latin-1 (default: UTF-8, or UTF-16 or UTF-32 where the text begins with the "
        "byte order mark of one)",
    )


def add_max_sentence(parser: argparse.ArgumentParser) -> None:
    """Add --max-sentence."""
    from tanglewood.treebank.blocks import MAX_SENTENCE

    parser.add_argument(
        "--max-sentence",
        type=int,
        default=MAX_SENTENCE >> 20,
        metavar="MB",
        help="treat a sentence of a treebank as malformed if it has more megabytes than this, so that a file without "
        f"blank lines does not fill the memory (default {MAX_SENTENCE >> 20})",
    )


def add_text(parser: argparse.ArgumentParser, *, forced: bool = True) -> None:
    """Add the options for raw text, which is parsed before the command uses it."""
    parser.add_argument(
        "-m",
        "--model",
        metavar="MODEL",
        help="model that parses text: a file, or the name of an installed one (default: the bundled English one)",
    )
    if forced:
        parser.add_argument("--text", action="store_true", help="treat the input as text, whatever it looks like")
    add_reproducible(parser)


def add_reproducible(parser: argparse.ArgumentParser) -> None:
    """Add --reproducible."""
    parser.add_argument(
        "--reproducible",
        action="store_true",
        help="parse with the same result on every machine, a little more slowly; the environment variable "
        "TANGLEWOOD_KERNELS=reproducible does so in every command",
    )


def add_restart(parser: argparse.ArgumentParser) -> None:
    """Add --restart, beside a --resume."""
    parser.add_argument(
        "--restart", action="store_true", help="begin anew, and remove what an interrupted run has left there"
    )


def add_processes(parser: argparse.ArgumentParser, help_: str) -> None:
    """Add the number of processes."""
    parser.add_argument(
        "-j",
        "--processes",
        type=int,
        default=1,
        metavar="N",
        help=f"{help_} (--threads N, its older name, still works)",
    )
    parser.add_argument("--threads", type=int, dest="processes", default=argparse.SUPPRESS, help=argparse.SUPPRESS)


def add_dask(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the address of a cluster that does what goes side by side."""
    parser.add_argument(
        "--dask",
        metavar="ADDRESS|local",
        help=f"have {what} done by a Dask cluster whose machines see the same files: the one at an address, such as "
        "tcp://host:8786, or, with local, one of --processes here (extra: dask)",
    )


def check_cluster(args: argparse.Namespace, *, wanted: bool = True, what: str = "") -> None:
    """Raise an error if there can be no cluster, or if there is nothing for it to do but for ``what``."""
    if args.dask:
        if not wanted:
            raise ConfigError(f"--dask {args.dask}: it is for {what} only")
        from tanglewood.run.dask_engine import check_dask

        check_dask()


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add --json."""
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")


def add_choice(parser: argparse.ArgumentParser) -> None:
    """Add --sentence and --sent-id, which choose one sentence."""
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--sentence", type=int, metavar="K", help="the K-th sentence of the file (default: the first)")
    choice.add_argument("--sent-id", metavar="ID", help="the sentence with this sent_id")


def add_system_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that some systems take."""
    from tanglewood.systems import options_of_systems

    group = parser.add_argument_group("options of single systems")
    for name, (option, systems) in options_of_systems().items():
        word = f"--{name.replace('_', '-')}"
        told = f"{', '.join(systems)}: {option.help}".replace("%", "%%")
        if option.kind is bool:
            group.add_argument(word, action="store_const", const=True, help=told)
        else:
            choices = f": {' or '.join(option.choices)}" if option.choices else ""
            default = "" if option.default is None else f" (default {option.default})"
            group.add_argument(word, type=option.kind, metavar=option.metavar, help=f"{told}{choices}{default}")


def given_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options of single systems that were given."""
    from tanglewood.systems import options_of_systems

    values = {name: getattr(args, name) for name in options_of_systems()}
    return {option: value for option, value in values.items() if value is not None}


def make_systems(names: Sequence[str], args: argparse.Namespace) -> dict[str, TransitionSystem]:
    """Make the named systems, each with those of the given options that it takes."""
    from tanglewood.systems import SYSTEMS, make_system

    given = given_options(args)
    for name in names:
        if name not in SYSTEMS:
            make_system(name)  # raises with the list of known names
    for option in given:
        if not any(option in SYSTEMS[name].options for name in names):
            takers = ", ".join(name for name, system in SYSTEMS.items() if option in system.options)
            raise ConfigError(f"--{option.replace('_', '-')} is an option of {takers}, not of {', '.join(names)}")
    return {
        name: make_system(name, **{option: value for option, value in given.items() if option in SYSTEMS[name].options})
        for name in names
    }


def use_one_matrix_thread() -> None:
    """Keep NumPy's matrix products to one thread, so that sums are taken in the same order on every machine.

    Must be called before NumPy is imported. Parsing has its own threads.
    """
    for library in ("OPENBLAS", "MKL", "OMP"):
        os.environ[f"{library}_NUM_THREADS"] = "1"


def encoding_of(args: argparse.Namespace) -> str:
    """Return the encoding of text that was asked for, if any, as Python names it."""
    if getattr(args, "encoding", None) is None:
        return ""
    from tanglewood.text.reading import checked_encoding

    return checked_encoding(args.encoding)


class Reading:
    """Reads the sentences of one file after another, shows progress, and keeps track of bad sentences.

    With ``texts`` raw text is parsed first, by the model that ``args`` names or the bundled one. ``idle`` is the
    complaint if a model is named but the input is a treebank; with an empty one that is allowed.
    """

    def __init__(self, args: argparse.Namespace, *, texts: bool = False, idle: str = IDLE) -> None:
        self.on_error: str = args.on_error
        self.encoding = encoding_of(args)
        self.errors: list[LocatedError] = []  # the first of them
        self.n_errors = 0
        self.n_places = 0  # those that were bytes of text
        self.texts = texts
        self.idle = idle
        self.command: str = args.command
        self.model: str | None = args.model if texts else None
        self.forced: bool = texts and getattr(args, "text", False)
        self.forcible = hasattr(args, "text")
        self.reproducible: bool = texts and args.reproducible
        if args.max_sentence < 1:
            raise ConfigError(f"--max-sentence {args.max_sentence}: it should be 1 megabyte or more")
        self.max_sentence: int = args.max_sentence << 20

    def is_text(self, argument: str) -> bool:
        """Tell whether an argument is itself text, where that is accepted; raise an error if it is a mistake."""
        if self.texts:
            return is_text(argument, command=self.command, forced=self.forced, forcible=self.forcible)
        check_folder(argument, self.command)
        return False

    def sentences(self, file: str, *, trees: bool = True) -> Iterator[Sentence]:
        """Yield the sentences of a file or text; with trees=False those of a treebank need not have heads."""
        if self.is_text(file):
            yield from self._parsed("", [file])
            return
        with self.opened(file) as (source, progress):
            for sentence in self._found(source, trees=trees):
                progress.step()
                yield sentence

    def _found(self, source: str | BinaryIO, *, trees: bool) -> Iterator[Sentence]:
        """Yield the sentences of a treebank as they are, or those of a text after parsing it."""
        from tanglewood.treebank.conllu import read

        if not self.texts:
            yield from read(source, on_error=self.note, trees=trees, max_sentence=self.max_sentence)
            return
        from tanglewood.files import opened
        from tanglewood.text.reading import Seen

        with opened(source) as (stream, name):
            seen = Seen(stream, name, self.encoding)
            if self.forced or not seen.is_treebank:
                yield from self._parsed(f"{name}: ", self.text_of(seen))
                return
            if self.model is not None and self.idle:
                raise ConfigError(f"{name} is a treebank; {self.idle}")
            yield from read(seen.check_treebank(), on_error=self.note, trees=trees, max_sentence=self.max_sentence)

    def text_of(self, seen: Seen) -> Iterator[str]:
        """Yield the text of a stream; bytes that cannot be decoded are handled as --on-error says."""
        from tanglewood.text.reading import read_text

        on_error = None if self.on_error == "stop" else self.note_bytes
        return read_text(
            seen.as_stream(),
            seen.name,
            encoding=self.encoding,
            on_error=on_error,
            replaced=self.on_error == "replace",
        )

    def _parsed(self, name: str, texts: Iterable[str]) -> Iterator[Sentence]:
        """Parse a text, and say on standard error which model does it."""
        use_one_matrix_thread()
        found = parse_text(texts, self.model, reproducible=self.reproducible)  # raises if there is no such model
        model = self.model or f"{ENGLISH} (-m names another)"
        print(one_line(f"{name}text parsed with {model}"), file=sys.stderr)
        return found

    @contextmanager
    def opened(self, file: str) -> Iterator[tuple[str | BinaryIO, Progress]]:
        """Open a file to read from, with a progress line."""
        with ExitStack() as stack:
            check_folder(file, self.command)
            raw = standard_stream("stdin") if file == "-" else stack.enter_context(Path(file).open("rb"))
            yield "-" if file == "-" else raw, stack.enter_context(Progress(file, raw))

    def note(self, error: LocatedError) -> None:
        """Handle a bad sentence, or bytes that are no text, as --on-error says."""
        if self.on_error == "stop":
            raise error
        self.n_errors += 1
        if len(self.errors) < MOST_LISTED:
            self.errors.append(error)
        if self.on_error == "report":
            print(error, file=sys.stderr)

    def note_bytes(self, error: LocatedError) -> None:
        """Handle bytes of text that cannot be decoded."""
        self.n_places += 1
        self.note(error)

    def close(self) -> int:
        """Say what was left out and return the exit status."""
        if self.n_errors > self.n_places:
            print(f"{_count(self.n_errors - self.n_places, 'sentence')} left out because of errors", file=sys.stderr)
        if self.n_places:
            done = "replaced" if self.on_error == "replace" else "left out"
            print(f"bytes that could not be decoded were {done} in {_count(self.n_places, 'place')}", file=sys.stderr)
        if self.on_error in ("skip", "replace"):
            for error in self.errors:
                print(f"  {error}", file=sys.stderr)
            if self.n_errors > len(self.errors):
                print(f"  and {self.n_errors - len(self.errors):,} more", file=sys.stderr)
        return 1 if self.n_errors and self.on_error == "report" else 0


def choose_from(sentences: Iterable[Sentence], args: argparse.Namespace, source: str) -> tuple[int, Sentence]:
    """Return the sentence asked for by --sentence or --sent-id, by default the first, and its number from 1."""
    wanted = f"sent_id {args.sent_id}" if args.sent_id else f"sentence {args.sentence or 1}"
    if args.sentence is not None and args.sentence < 1:
        raise ConfigError(f"--sentence {args.sentence}: sentences are counted from 1")
    number = 0
    for number, sentence in enumerate(sentences, start=1):
        if sentence.sent_id == args.sent_id if args.sent_id else number == (args.sentence or 1):
            return number, sentence
    raise ConfigError(f"{source}: there is no {wanted} among its {_count(number, 'sentence')}")


class Progress:
    """A line on the terminal: how much of a file has been read, and how long the rest will take; silent in pipes."""

    def __init__(self, name: str, raw: BinaryIO) -> None:
        self.name = one_line(name, LONGEST_NAME)
        self.raw = raw
        self.shown = sys.stderr.isatty()
        self.sentences = 0
        self.began = self.last = time.monotonic()
        self.size = raw.seekable() and name != "-" and os.fstat(raw.fileno()).st_size

    def step(self, count: int = 1) -> None:
        """Count some sentences, and update the line now and then."""
        self.sentences += count
        if not self.shown or (count == 1 and self.sentences % 64) or time.monotonic() - self.last < 0.2:
            return
        self.last = time.monotonic()
        text = f"{self.name}: {self.sentences:,} sentences"
        if self.size:
            share = max(self.raw.tell() / self.size, 1e-9)
            left = (self.last - self.began) * (1 - share) / share
            text += f", {share:.0%}, {minutes(left)} left"
        print(f"\r{text}\x1b[K", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *_: object) -> None:
        if self.shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def print_json(data: Any) -> None:  # noqa: ANN401 - anything that json can write
    """Print data as JSON, with escapes if the output takes less than all characters."""
    print(_json(data))


def print_json_list(items: Iterable[Any]) -> None:
    """Print items as a list in JSON, each as soon as it is there."""
    before = "["
    for item in items:
        print(before, *_json(item).split("\n"), sep="\n  ", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def _json(data: Any) -> str:  # noqa: ANN401
    import json

    return json.dumps(data, ensure_ascii=(sys.stdout.encoding or "utf-8").lower() != "utf-8", indent=2)


def print_table(header: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print rows under a header; columns of text are aligned left, columns of numbers right."""
    body = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    columns = list(zip(header, *body, strict=True))
    widths = [max(map(len, column)) for column in columns]
    aligned = [
        [cell.rjust(width) if _are_numbers(cells) else cell.ljust(width) for cell in (name, *cells)]
        for (name, *cells), width in zip(columns, widths, strict=True)
    ]
    first, *rest = ("  ".join(line).rstrip() for line in zip(*aligned, strict=True))
    print(first, "─" * (sum(widths) + 2 * (len(widths) - 1)), *rest, sep="\n")


def _are_numbers(cells: Sequence[str]) -> bool:
    return all(re.fullmatch(r"-|[\d,.]+%?", cell) for cell in cells)


def percent(part: int, whole: int) -> str:
    """Return a share in percent with two decimals, or a dash if the whole is 0."""
    return f"{100 * part / whole:.2f}%" if whole else "-"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
