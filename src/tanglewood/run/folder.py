"""A corpus of many files, parsed into a folder: what is to be done, by whom, and what is made of the parts.

Whatever is killed, whenever: the next run finds finished outputs by their records, finished parts by theirs, and does
the rest. Nothing here depends on the order in which units are done, nor on who does them; two runs that do the same
unit write the same bytes, each aside first.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from tanglewood import __version__
from tanglewood.errors import ConfigError, WorkerError
from tanglewood.ml.threads import keep_one_matrix_thread
from tanglewood.run import dask_engine
from tanglewood.run.cutting import MOST_PARTS, Cut, cuts_of
from tanglewood.run.listing import Input, kind_of
from tanglewood.run.parquet import join as join_tables
from tanglewood.run.parquet import row_cuts
from tanglewood.run.places import Place, make_folder, remove_folder, size_of, writing_at
from tanglewood.run.processes import in_order
from tanglewood.run.records import Running, clear_away, write_errors, write_manifest
from tanglewood.run.remote import checksum, state_of
from tanglewood.run.units import (
    BADLY,
    CHANGED,
    TABLES,
    Counts,
    Job,
    Result,
    Unit,
    forget_record,
    parts_folder,
    problem_of,
    read_record,
    record_of,
    write_record,
)

PART_SIZE = 32 << 20  # bytes of a part
MOST_DEATHS = 3  # of processes, one after the other without a finished unit, until units are done one by one
NUMBERED = {"conllu": b"# sent_id = ", "json": b'{"sent_id": "'}  # what stands before the numbers of sentences
LOST = {"reason": "the processes that parsed it died; memory may have run out"}


class Task(NamedTuple):
    """Which share of the work is done here: every ``of``-th unit, ``number`` being counted from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def read(cls, text: str) -> Task:
        """Return the task that is written as I/N."""
        number, slash, of = text.partition("/")
        if not slash or not (number.isdecimal() and of.isdecimal()) or not 1 <= int(number) <= int(of):
            raise ConfigError(f"--task {text}: it should be I/N, with I from 1 to N, as in 3/8")
        return cls(int(number), int(of))

    def has(self, index: int) -> bool:
        """Tell whether something with this number is done here."""
        return index % self.of == self.number - 1


class Todo(NamedTuple):
    """A file that is not finished: its place among all, its size, and why it is done again, if it was done before."""

    place: int
    input: Input
    size: int
    why: str


@dataclass(slots=True)
class Summary:
    """What a run did: files by what became of them, and what was counted in those that it finished."""

    finished: int = 0
    skipped: int = 0
    failed: int = 0
    left: int = 0  # files whose other parts are not there yet
    counts: Counts = field(default_factory=Counts)


Tell = Callable[[str], object]
Engine = Callable[[Job, Iterator[Unit], Callable[[int], object]], Generator[Result]]  # what has units done


class Run:
    """One run over a corpus, or the share of it that is a task's."""

    def __init__(
        self,
        job: Job,
        inputs: Sequence[Input],
        *,
        processes: int = 1,
        task: Task | None = None,
        part_size: int = PART_SIZE,
        tell: Tell = lambda _: None,
        watch: Callable[[Running], object] = lambda _: None,
        engine: Engine | None = None,
    ) -> None:
        self.job = job
        self.inputs = inputs
        self.processes = processes
        self.task = task or Task()
        self.part_size = part_size
        self.tell = tell
        self.watch = watch
        self._engine = engine or self._by_processes
        self.summary = Summary()
        self._cut: dict[str, list[Unit]] = {}  # files in several parts that are not joined yet
        self._failed: set[str] = set()

    def do(self) -> Summary:
        """Do all that is not finished."""
        output = self.job.output
        make_folder(output)
        with Running(output, self.task, self.job.doing) as running:
            todo = list(self._todo())
            running.total = sum(one.size for one in todo) // self.task.of
            write_manifest(output, self.inputs)
            clear_away(output)
            try:
                with closing(self._results(self._units(todo), running)) as results:
                    for result in results:
                        self._take(result)
                        running.finished(_weight(result.unit))
                        self.watch(running)
                for units in list(self._cut.values()):
                    self._join(units)
                self._forget_finished()
            except BaseException:
                clear_away(output)
                with suppress(OSError):  # what stopped the run is told, and not what it may lead to
                    write_errors(output)
                raise
            clear_away(output)
            write_errors(output)
        self.summary.left = len(self._cut)
        return self.summary

    # What is to be done. --------------------------------------------------------------------------------------------

    def _todo(self) -> Iterator[Todo]:
        for index, given in enumerate(self.inputs):
            try:
                state = state_of(given.path)
                why = self._why(given, state)
            except OSError as error:
                if self.task.has(index):
                    self._fail(given, problem_of(error))
                continue
            if why is None:
                self.summary.skipped += 1
            else:
                yield Todo(index, given, state[0], why)

    def _why(self, given: Input, state: tuple[int, int]) -> str | None:
        """Return why a file is done again, nothing if it was never finished; None if it is finished."""
        target = self.job.output / given.output
        record = read_record(target)
        if record is None or record["state"] != "done":
            return ""
        try:
            if record["tanglewood"] != __version__:
                return f"it was made by tanglewood {record['tanglewood']}"
            if record["model"] != self.job.model:
                return "the model is another one"
            old, new = record["options"], self.job.settings
            names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
            if names:
                return f"other options: {', '.join(names)}"
            if size_of(target) != record["output"]["size"]:
                return "its output was changed"
            source = record["input"]
            if (source["size"], source["changed"]) == state:
                return None
            if source["size"] != state[0] or source["sha256"] != checksum(given.path):
                return "the input has changed"
            write_record(target, {**record, "input": {**source, "changed": state[1]}})
        except FileNotFoundError:
            return "its output is missing"
        except (LookupError, TypeError, AttributeError):
            return "its record cannot be read"
        return None

    def _units(self, todo: Sequence[Todo]) -> Iterator[Unit]:
        """Yield the units of this task that are not done."""
        for index, given, size, why in todo:
            large = size > self.part_size
            if not large and not self.task.has(index):
                continue
            if why:
                self.tell(
                    f"{given.name}: done again, since {why}" if ":" not in why else f"{given.name}: done again ({why})"
                )
            try:
                kind = kind_of(given.path, self.job.reading.encoding)
                units = self._planned(given, kind, size) if large else [Unit(given, kind)]
            except (OSError, *BADLY) as error:
                if self.task.has(index):
                    self._fail(given, problem_of(error))
                continue
            if len(units) > 1:
                self._cut[given.output] = units
            for unit in units:
                if self.task.has(index + unit.part) and not (unit.parts > 1 and self._is_done(unit)):
                    yield unit

    def _planned(self, given: Input, kind: str, size: int) -> list[Unit]:
        """Return the parts of a large file; where they are is written down for the next run and for other tasks."""
        reading, rule = self.job.reading, self.job.worker.options.sentences
        path = parts_folder(self.job.output, given) / "plan.json"
        replaced = reading.on_error == "replace"
        state = state_of(given.path)
        made_for = [*state, kind, self.part_size, reading.encoding, replaced, rule]
        plan: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            plan = json.loads(path.read_bytes())
        if plan.get("made_for") != made_for:
            part_size = max(self.part_size, size // MOST_PARTS)
            lines = rule == "lines" and kind == "text"
            if kind == "parquet":
                cuts = row_cuts(given.path, part_size)
            else:
                cuts = cuts_of(given.path, kind, part_size, encoding=reading.encoding, replaced=replaced, lines=lines)
            plan = {"made_for": made_for, "sha256": checksum(given.path), "cuts": cuts}
            make_folder(path.parent)
            with suppress(FileNotFoundError), writing_at(path) as out:  # another run may take the folder away
                out.write(json.dumps(plan).encode())
        cuts = [Cut(*cut) for cut in plan["cuts"]]
        return [Unit(given, kind, part, len(cuts), cut, plan["sha256"], state) for part, cut in enumerate(cuts)]

    def _is_done(self, unit: Unit) -> bool:
        target = self.job.target(unit)
        record = read_record(target)
        with suppress(FileNotFoundError):
            return record is not None and size_of(target) == record["output"]["size"]
        return False

    # Who does it. ---------------------------------------------------------------------------------------------------

    def _results(self, units: Iterator[Unit], running: Running) -> Generator[Result]:
        """Yield the results as they come; if a process dies, its units are done again by others.

        If that goes on, they are done one by one, which tells whose fault it is.
        """
        pending: dict[tuple[str, int], Unit] = {}
        deaths = done = 0

        def sent(some: Iterator[Unit]) -> Iterator[Unit]:
            for unit in some:
                pending[unit.input.output, unit.part] = unit
                yield unit

        def hear(words: int) -> None:
            running.heard(words)
            self.watch(running)

        def results_of(some: Iterator[Unit]) -> Generator[Result]:
            nonlocal deaths, done
            with closing(self._engine(self.job, sent(some), hear)) as results:
                for result in results:
                    del pending[result.unit.input.output, result.unit.part]
                    deaths = 0
                    done += 1
                    yield result

        while True:
            try:
                yield from results_of(chain(list(pending.values()), units))
            except WorkerError as error:
                deaths += 1
                how = "again" if deaths < MOST_DEATHS else "one by one"
                self.tell(f"a process ended without a word; what it was doing is done {how}")
                if deaths < MOST_DEATHS:
                    continue
                died = error
            else:
                return
            lost = 0
            for key, unit in list(pending.items()):
                try:
                    yield from results_of(iter([unit]))
                except WorkerError:
                    lost += 1
                    del pending[key]
                    yield Result(unit, None, LOST)
            if lost > 1 and not done and next(units, None) is not None:  # whatever they do, they die: it is no file
                raise died
            deaths = 0

    def _by_processes(self, job: Job, units: Iterator[Unit], hear: Callable[[int], object]) -> Generator[Result]:
        """Do units in processes of this machine."""
        prepare = keep_one_matrix_thread
        return in_order(job.do, units, processes=self.processes, prepare=prepare, hear=hear, as_done=True)

    # What comes of it. ----------------------------------------------------------------------------------------------

    def _take(self, result: Result) -> None:
        """Note the result of a unit; the last one of a file has its parts joined."""
        unit = result.unit
        if result.problem is not None:
            self._fail(unit.input, result.problem)
        elif result.record is None:
            return  # another run has joined the parts of the file meanwhile
        elif unit.parts == 1:
            remove_folder(parts_folder(self.job.output, unit.input))  # a plan with one part
            self._finish(result.record)
        elif unit.input.output in self._cut:  # neither joined already, its other results being on the way, nor failed
            self._join(self._cut[unit.input.output])

    def _fail(self, given: Input, problem: dict[str, Any]) -> None:
        if given.output in self._failed:
            return
        self._failed.add(given.output)
        self._cut.pop(given.output, None)
        self.summary.failed += 1
        where = f":{problem['line']}" if "line" in problem else ""
        self.tell(f"{given.name}{where}: {problem['reason']}")
        target = self.job.output / given.output
        make_folder(target.parent)
        named = {"input": {"name": given.name, "path": given.path}, "output": {"name": given.output}}
        write_record(target, {"state": "failed", **named, "problem": problem})

    def _finish(self, record: dict[str, Any]) -> None:
        self.summary.finished += 1
        self.summary.counts.add(_counts(record))

    def _join(self, units: Sequence[Unit]) -> None:
        """Make one output of the parts of a file, if they are all there."""
        given, kind = units[0].input, units[0].kind
        if not all(map(self._is_done, units)):
            return
        target = self.job.output / given.output
        counts = Counts()
        try:
            state = state_of(given.path)
        except OSError as error:
            self._fail(given, problem_of(error))
            return
        if state != units[0].state:
            self._fail(given, {"reason": CHANGED})
            return
        try:
            make_folder(target.parent)
            parts = list(map(self.job.target, units))
            found_in = [_counts(read_record(part) or {}) for part in parts]
            with writing_at(target) as out:
                self._write_joined(parts, found_in, out, numbered=kind == "text")
                forget_record(target)
            for one in found_in:
                counts.add(one)
        except (FileNotFoundError, LookupError):  # another task has joined and removed them
            found = read_record(target)
            if found is None or found["state"] != "done":
                return  # yet another is at it
        else:
            record = record_of(self.job, given, units[0].source, state, counts, target)
            write_record(target, {**record, "parts": len(units)})
            self._finish(record)
        del self._cut[given.output]
        remove_folder(parts_folder(self.job.output, given))

    def _forget_finished(self) -> None:
        """Leave out files that another run has finished meanwhile."""
        for output, units in list(self._cut.items()):
            with suppress(OSError):
                if self._why(units[0].input, state_of(units[0].input.path)) is None:
                    del self._cut[output]
                    remove_folder(parts_folder(self.job.output, units[0].input))  # which we may have made once more
                    self.summary.skipped += 1

    def _write_joined(self, parts: Sequence[Place], found: Sequence[Counts], out: BinaryIO, *, numbered: bool) -> None:
        """Write what the parts hold, one after the other; ``numbered`` sentences go on counting."""
        numbers = [one.numbers for one in found]
        if self.job.reading.format in TABLES:
            join_tables(parts, out, [one.sentences for one in found], numbers, numbered=numbered)
            return
        for place, part in enumerate(parts):
            with part.open("rb") as file:
                mark = NUMBERED[self.job.reading.format] if numbered and place else b""
                _copy(file, out, mark, sum(numbers[:place]))


def by_cluster(client: Any, job: Job, units: Iterator[Unit], hear: Callable[[int], object]) -> Generator[Result]:  # noqa: ANN401
    """Do units on a Dask cluster: they are names of files, so little is sent.

    A unit that kills its workers is a failure of its file.
    """
    for unit, result, lost in dask_engine.as_done(client, job.do, units, idle=lambda: hear(0)):
        if lost or result is None:
            yield Result(unit, None, LOST)
        else:
            hear(result.record["words"] if result.record is not None else 0)
            yield result


def _copy(file: BinaryIO, out: BinaryIO, mark: bytes, before: int) -> None:
    """Copy a part; sentences whose number follows the mark, in parts that are not the first, come after others."""
    if not mark:
        shutil.copyfileobj(file, out, 1 << 20)
        return
    for line in file:
        if line.startswith(mark):
            digits = line[len(mark) :]
            end = len(digits) - len(digits.lstrip(b"0123456789"))
            out.write(b"%s%d%s" % (mark, before + int(digits[:end]), digits[end:]))
        else:
            out.write(line)


def _counts(record: dict[str, Any]) -> Counts:
    names = ("documents", "sentences", "words", "errors", "numbers", "seconds", "listed")
    return Counts(**{name: record[name] for name in names})


def _weight(unit: Unit) -> int:
    """Return how much of the input a unit is, in bytes."""
    with suppress(OSError):
        return state_of(unit.input.path)[0] // unit.parts
    return 0
