"""What is written down about a corpus beside its outputs: which files there are, who is at work, what went wrong."""

from __future__ import annotations

import errno
import json
import os
import socket
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tanglewood.errors import ConfigError
from tanglewood.files import is_left_part
from tanglewood.run.listing import Input
from tanglewood.run.places import ERRORS, INSIDE, RECORD, Elsewhere, Place, files_below, make_folder, writing_at
from tanglewood.run.remote import checksum, state_of
from tanglewood.run.units import in_bytes, read_record, record_name

try:
    import fcntl
except ModuleNotFoundError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]

EVERY = 2.0  # seconds between two signs of life
EVERY_FAR = 30.0  # the same where each is a request to a server
SILENT = 120.0  # seconds without one after which a run on another machine may be dead, or only very busy
OVER = 24 * 3600.0  # seconds without one after which it is taken for dead


class Running:
    """A run as others see it: a small file that says how far it is, and that goes away with it.

    ``doing`` stands for all that decides what the outputs are. Two runs at once that would make different ones into the
    same folder are refused, since the record of one would speak for what the other wrote.
    """

    def __init__(self, output: Place, task: Sequence[int], doing: str = "") -> None:
        self.total = self.done = self.words = 0  # the total and what is done in bytes
        self.began = time.time()
        self._task = list(task)
        self._doing = doing
        self._me = {"host": socket.gethostname(), "space": _space(), "pid": os.getpid()}
        self._told = 0.0
        self._every = EVERY_FAR if isinstance(output, Elsewhere) else EVERY
        self._output = output
        self._path = output / INSIDE / "running" / f"{'-'.join(map(str, self._me.values()))}.json"

    @property
    def seconds(self) -> float:
        """How long it has been running."""
        return max(time.time() - self.began, 1e-9)

    def heard(self, words: int) -> None:
        """Count words that were parsed."""
        self.words += words
        self._tell()

    def finished(self, size: int) -> None:
        """Count bytes of the input that are done."""
        self.done += size
        self._tell()

    def _tell(self, *, now: bool = False) -> None:
        if not now and time.monotonic() < self._told + self._every:
            return
        self._told = time.monotonic()
        said = {
            **self._me,
            "start": _start_of(os.getpid()),
            "task": self._task,
            "doing": self._doing,
            "began": self.began,
            "told": time.time(),
            "total": self.total,
            "done": self.done,
            "words": self.words,
        }
        with writing_at(self._path) as out:
            out.write(json.dumps(said).encode())

    def __enter__(self) -> Running:
        make_folder(self._path.parent)
        self._tell(now=True)  # before looking for others, so that of two that begin at once one sees the other
        for other, said in list(runs(self._output)):
            if is_over(said):
                other.unlink(missing_ok=True)
            elif is_alive(said) and said.get("doing") != self._doing:
                self.__exit__()
                raise ConfigError(
                    f"{self._output}: another run is at work there with another model or other options "
                    f"({said['host']}, process {said['pid']}); wait until it has ended, or name another folder with -o"
                )
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._path.unlink(missing_ok=True)


def runs(output: Place) -> Iterator[tuple[Place, dict[str, Any]]]:
    """Yield the runs that have said that they are at work, and what they say."""
    folder = output / INSIDE / "running"
    for path in (folder / name for name in files_below(folder) if name.endswith(".json")):
        with suppress(OSError, ValueError):
            said = json.loads(path.read_bytes())
            if isinstance(said, dict) and {"host", "pid", "told", "began", "done", "total", "words"} <= said.keys():
                yield path, said


def is_alive(said: dict[str, Any]) -> bool:
    """Tell whether a run is still at work: on this machine by its process, elsewhere by when it was heard of last."""
    return _is_running(said) if _is_here(said) else _silence(said) < SILENT


def is_over(said: dict[str, Any]) -> bool:
    """Tell whether a run has surely ended; one on another machine that is silent may only be busy."""
    return not _is_running(said) if _is_here(said) else _silence(said) > OVER


def _silence(said: dict[str, Any]) -> float:
    """Return how many seconds ago a run was heard of last."""
    return time.time() - float(said["told"])


def _is_here(said: dict[str, Any]) -> bool:
    """Tell whether the number of a run's process means here what it means there."""
    return (said["host"], said.get("space")) == (socket.gethostname(), _space())


def _is_running(said: dict[str, Any]) -> bool:
    try:
        os.kill(said["pid"], 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    now, then = _start_of(said["pid"]), said["start"]
    return not now or not then or now == then


def _space() -> int:
    """Return which numbers of processes these are: containers of one name each have their own; 0 if that is unknown."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _start_of(pid: int) -> str:
    """Return when a process began, as the system counts, since numbers are used again; nothing if that is unknown.

    What has ended may still be there because nobody has asked how; it has begun at no time.
    """
    try:
        state, *numbers = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
        return "never" if state == "Z" else numbers[18]
    except (OSError, ValueError, IndexError):
        return ""


def clear_away(output: Place) -> None:
    """Remove what killed processes have left half written, unless another run, whose it may be, may be at work.

    A run says that it is at work before it writes anything, so whoever writes what is listed is seen after that. What
    is half written of its saying so is nobody's only when it is old. Elsewhere, nothing that is not whole has a name.
    """
    if isinstance(output, Elsewhere):
        return
    saying = output / INSIDE / "running"
    left = [Path(where, name) for where, _, names in os.walk(output) for name in names if is_left_part(name)]
    if any(not is_over(said) and not (_is_here(said) and said["pid"] == os.getpid()) for _, said in runs(output)):
        return
    for path in left:
        with suppress(OSError):
            if path.parent != saying or time.time() - path.stat().st_mtime > OVER:
                path.unlink()


def write_manifest(output: Place, inputs: Sequence[Input]) -> None:
    """Write down which files the corpus has."""
    found = []
    for one in inputs:
        size = 0
        with suppress(OSError):
            size, _ = state_of(one.path)
        found.append([one.path, one.name, one.output, size])
    path = output / INSIDE / "corpus.json"
    make_folder(path.parent)
    with writing_at(path) as out:
        out.write(in_bytes({"inputs": found}, indent=0))


def read_manifest(output: Place) -> list[tuple[Input, int]]:
    """Return the files of a corpus with their sizes; an OSError or ValueError if there is no list of them."""
    found = json.loads((output / INSIDE / "corpus.json").read_bytes())
    return [(Input(path, name, target), size) for path, name, target, size in found["inputs"]]


def recorded(output: Place) -> Iterator[tuple[str, dict[str, Any] | None]]:
    """Yield the name of every file of the output that has a record, folder by folder, and the record if it can be read.

    Where the name is too long for its record to be called after it, the record knows it.
    """
    for found in files_below(output, without=INSIDE):
        if found.endswith(RECORD):
            name = found.removesuffix(RECORD)
            record = read_record(output / name)
            known = str((record or {}).get("output", {}).get("name", name))
            yield known if record_name(output / known) == output / found else name, record


def errors_in(record: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the errors that a record speaks of, each with its file."""
    named = {"file": record["input"]["name"]}
    if record["state"] != "done":
        return [{**named, "failed": True, **record["problem"]}]
    found = [{**named, **problem} for problem in record["listed"]]
    if record["errors"] > len(found):
        found.append({**named, "reason": f"and {record['errors'] - len(found):,} more errors"})
    return found


def write_errors(output: Place) -> int:
    """Write all errors that records speak of to one file, and return how many lines it has.

    Whoever does that last has seen every record that was there before, since only one does it at a time. Elsewhere
    there are no locks; there, `corpus status` writes them all.
    """
    count = 0
    with _alone(output), writing_at(output / ERRORS) as out:
        for _, record in recorded(output):
            for error in errors_in(record) if record is not None else ():
                count += 1
                out.write(json.dumps(error, ensure_ascii=False).encode(errors="replace") + b"\n")
    return count


@contextmanager
def _alone(output: Place) -> Iterator[None]:
    if isinstance(output, Elsewhere):
        yield
        return
    path = output / INSIDE / "lock"
    make_folder(path.parent)
    with path.open("ab") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError as error:  # some network file systems have no locks
                if error.errno not in (errno.ENOLCK, errno.ENOTSUP, errno.EOPNOTSUPP):
                    raise
        yield


def verified(output: Place) -> Iterator[tuple[str, str]]:
    """Yield every output, by its name, with what is wrong with it, nothing if all is well.

    Each file is compared with its record, and the input with what it was, if it is still there.
    """
    seen = set()
    for name, record in recorded(output):
        seen.add(name)
        yield name, _problem(output / name, record)
    with suppress(OSError, ValueError):
        for one, _ in read_manifest(output):
            if one.output not in seen:
                yield one.output, "not done yet"


def _problem(target: Place, record: dict[str, Any] | None) -> str:
    if record is None:
        return "its record cannot be read"
    if record["state"] != "done":
        return f"failed: {record['problem']['reason']}"
    try:
        if checksum(target) != record["output"]["sha256"]:
            return "it is not what was written: its checksum is another one"
        if checksum(record["input"]["path"]) != record["input"]["sha256"]:
            return "the input has changed since"
    except FileNotFoundError as error:
        return "it is missing" if error.filename == str(target) else ""  # inputs may be gone
    except OSError as error:
        return error.strerror or str(error)
    return ""
