"""Output that a run goes on with after it was stopped, however it was stopped: OUT.part, and OUT.part.json beside it.

OUT.part holds what was written so far, never compressed; OUT.part.json how much of it is of batches that were finished,
what was counted, and what all of it was made from. What a record speaks of is on the disk before the record is, so that
the two fit together even after kill -9 or a power cut.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from tanglewood import __version__
from tanglewood.errors import ConfigError, one_line
from tanglewood.files import MAGIC, READ_SIZE, kept_part_of, on_disk, put_in_place, writing
from tanglewood.run.remote import checksum

try:
    import fcntl
except ModuleNotFoundError:  # not a POSIX system: two runs at once are not noticed
    fcntl = None  # type: ignore[assignment]

RECORD = ".json"
EVERY = 5.0  # seconds between two records of how far a run got
TAIL = 1 << 16  # bytes at the end of the output that what follows may depend on


@dataclass(slots=True)
class Done:
    """What is finished: batches of the input, bytes of the output, and what was counted in them."""

    batches: int = 0
    size: int = 0
    sentences: int = 0
    words: int = 0
    fallbacks: int = 0
    errors: int = 0
    missing: list[str] = field(default_factory=list)


def made_from(inputs: Sequence[tuple[str, bool]], model: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return all that decides what the output is: inputs (text itself, if that is true), model and options.

    A ConfigError if an input cannot be read a second time.
    """
    found = []
    for name, is_text in inputs:
        if is_text:
            found.append([one_line(name, 40), hashlib.sha256(name.encode(errors="replace")).hexdigest()])
        elif name == "-" or not Path(name).is_file():
            shown = "standard input" if name == "-" else name
            raise ConfigError(f"--resume reads its input again where it goes on; {shown} can be read only once")
        else:
            found.append([name, checksum(name)])
    plain = json.loads(json.dumps(dict(options)))
    return {"tanglewood": __version__, "input": found, "model": model, "options": plain}


class Part:
    """OUT.part, open for writing, and how far it got."""

    def __init__(self, path: Path, file: BinaryIO, source: dict[str, Any], done: Done) -> None:
        self.path = path
        self.file = file
        self.done = done
        self._source = source
        self._told = time.monotonic()

    @property
    def end(self) -> bytes:
        """The end of what was written before."""
        size = min(self.done.size, TAIL)
        with self.path.open("rb") as file:
            file.seek(self.done.size - size)
            return file.read(size)

    def batch_done(self, done: Done) -> None:
        """Note that all up to here is finished; now and then also on the disk."""
        done.size = self.file.tell()
        self.done = done
        if time.monotonic() > self._told + EVERY:
            self.record()

    def record(self) -> None:
        """Write down how far it got."""
        on_disk(self.file)
        with writing(record_of(self.path)) as out:
            out.write(json.dumps({"made_from": self._source, "done": asdict(self.done)}, indent=1).encode() + b"\n")
        self._told = time.monotonic()


def record_of(part: Path) -> Path:
    """Return the name of the record beside OUT.part."""
    return part.with_name(part.name + RECORD)


@contextmanager
def resumed(output: str, source: dict[str, Any]) -> Iterator[Part]:
    """Yield what there is of the output already, to add the rest to; if all goes well it gets its final name.

    Otherwise it stays for the next run. A ConfigError if it was made from something else, or another run writes it.
    """
    if output == "-" or (os.path.exists(output) and not os.path.isfile(output)):  # noqa: PTH110, PTH113
        raise ConfigError(f"--resume needs the name of a file to write (-o OUT), not {output}")
    target = Path(output).resolve()
    path = kept_part_of(target)
    try:
        file = path.open("r+b" if path.exists() else "x+b")
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    with file:
        _lock(file, path)
        done = _done_before(path, source)
        file.truncate(done.size)
        file.seek(done.size)
        part = Part(path, file, source, done)
        try:
            part.record()
            yield part
            on_disk(file)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):  # the last record holds
                raise OSError(error.errno, error.strerror, str(path)) from None
            part.record()
            raise
        except BaseException:
            part.record()
            raise
        _finish(path, target)


def _finish(path: Path, target: Path) -> None:
    """Give the output its final name, compressed if that says so."""
    if target.suffix in MAGIC:
        with path.open("rb") as file, writing(target) as out:
            shutil.copyfileobj(file, out, READ_SIZE)
        path.unlink()
    else:
        if target.exists():
            path.chmod(target.stat().st_mode & 0o777)
        put_in_place(path, target)
    record_of(path).unlink(missing_ok=True)


def _lock(file: BinaryIO, path: Path) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            raise ConfigError(f"{path}: another run is writing it; wait for that, or name another output") from None


def _done_before(path: Path, source: dict[str, Any]) -> Done:
    """Return how far an earlier run got; a ConfigError if it did something else."""
    size = path.stat().st_size
    remedy = "delete it to begin anew, or name another output"
    try:
        record = json.loads(record_of(path).read_bytes())
        before, done = record["made_from"], Done(**record["done"])
        if done.size > size:
            raise ValueError
        other = _changed(before, source)
    except FileNotFoundError:
        if size == 0:
            return Done()
        raise ConfigError(f"{path}: {record_of(path).name}, which says what it is, is missing; {remedy}") from None
    except (ValueError, LookupError, TypeError, AttributeError):
        if size == 0:
            return Done()
        raise ConfigError(f"{path}: {record_of(path).name} does not fit it; {remedy}") from None
    if other and size:
        raise ConfigError(f"{path}: it was made from something else ({other}); {remedy}")
    return Done() if other else done


def _changed(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """Return what is different, in words."""
    if before["tanglewood"] != now["tanglewood"]:
        return f"by tanglewood {before['tanglewood']}, this is {now['tanglewood']}"
    if before["model"] != now["model"]:
        return "the model is another one"
    old, new = before["options"], now["options"]
    names = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    if names:
        return f"other options: {', '.join(names)}"
    if [name for name, _ in before["input"]] != [name for name, _ in now["input"]]:
        return "other input files"
    for (name, one), (_, other) in zip(before["input"], now["input"], strict=True):
        if one != other:
            return f"{name} has changed"
    return ""
