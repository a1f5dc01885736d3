"""Files: written whole or not at all, with the permissions of any file, and read to the end or not without an error."""

from __future__ import annotations

import errno
import gzip
import io
import lzma
import os
import stat
import sys
from pathlib import Path

import pytest

from tanglewood import files
from tanglewood.errors import FormatError, MissingExtraError
from tanglewood.files import DAMAGED, PART, opened, part_of_name, writing

TEXT = b"".join(b"line %d\n" % number for number in range(20_000))


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_temporary_names_are_random_and_never_too_long(tmp_path):
    path = tmp_path / "out.conllu"
    first, second = part_of_name(path), part_of_name(path)
    assert first != second
    assert first.parent == tmp_path
    assert first.name.startswith(".out.conllu.")
    assert first.name.endswith(PART)
    for name in ("x" * 255, "文" * 85):
        with writing(tmp_path / name) as out:
            out.write(b"x")
        assert (tmp_path / name).read_bytes() == b"x"


def test_what_a_killed_run_left_is_not_in_the_way(tmp_path):
    left = [tmp_path / f".out.{os.getpid()}.part", part_of_name(tmp_path / "out")]
    for path in left:
        path.write_bytes(b"left")
    with writing(tmp_path / "out") as out:
        out.write(b"new")
    assert (tmp_path / "out").read_bytes() == b"new"
    assert all(path.read_bytes() == b"left" for path in left)


def test_a_file_that_is_there_already_is_not_written_to(tmp_path, monkeypatch):
    taken = tmp_path / ".taken.part"
    taken.symlink_to(tmp_path / "victim")
    monkeypatch.setattr(files, "part_of_name", lambda _: taken)
    with pytest.raises(FileExistsError, match="out"), writing(tmp_path / "out"):
        pass
    assert not (tmp_path / "victim").exists()


@pytest.mark.skipif(os.name != "posix", reason="permissions are those of POSIX")
def test_permissions_are_those_of_any_new_file_or_of_the_one_replaced(tmp_path):
    for mask in (0o022, 0o077, 0o002):
        before = os.umask(mask)
        try:
            with writing(tmp_path / f"{mask}") as out:
                out.write(b"x")
            (tmp_path / f"{mask}.plain").write_bytes(b"x")
        finally:
            os.umask(before)
        modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in (f"{mask}", f"{mask}.plain")]
        assert modes == [0o666 & ~mask] * 2
    for mode in (0o600, 0o640, 0o755, 0o666):
        (tmp_path / "old").unlink(missing_ok=True)
        (tmp_path / "old").write_bytes(b"old")
        (tmp_path / "old").chmod(mode)
        with writing(tmp_path / "old") as out:
            out.write(b"new")
        assert stat.S_IMODE((tmp_path / "old").stat().st_mode) == mode
        assert (tmp_path / "old").read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write everywhere")
def test_what_may_not_be_written_is_not_replaced_and_the_message_names_it(tmp_path):
    target = tmp_path / "old"
    target.write_bytes(b"old")
    target.chmod(0o444)
    with pytest.raises(PermissionError) as found, writing(target):
        pass
    assert found.value.filename == str(target)
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(PermissionError) as found, writing(tmp_path / "new"):
            pass
        assert found.value.filename == str(tmp_path / "new")
    finally:
        tmp_path.chmod(0o755)
    assert names(tmp_path) == ["old"]


def test_the_file_is_on_the_disk_before_its_name_is_and_then_the_name(tmp_path, monkeypatch):
    done = []
    sync, replace = os.fsync, Path.replace

    def synced(number):
        status = os.fstat(number)
        done.append("folder" if stat.S_ISDIR(status.st_mode) else status.st_size)
        sync(number)

    def replaced(self, target):
        done.append("renamed")
        return replace(self, target)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(Path, "replace", replaced)
    with writing(tmp_path / "out") as out:
        out.write(b"12345")
    assert done == [5, "renamed", "folder"]


def test_a_disk_that_fails_at_the_very_end_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "out").write_bytes(b"old")

    def full(_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left") as found, writing(tmp_path / "out") as out:
        out.write(b"new")
    assert found.value.filename == str(tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == b"old"
    assert names(tmp_path) == ["out"]


def test_an_error_names_the_file_even_if_its_part_cannot_be_removed(tmp_path, monkeypatch):
    def read_only(self, *_, **__):
        raise OSError(errno.EROFS, "Read-only file system", str(self))

    monkeypatch.setattr(Path, "open", read_only)
    monkeypatch.setattr(Path, "unlink", read_only)
    with pytest.raises(OSError, match="Read-only") as found, writing(tmp_path / "out"):
        pass
    assert found.value.filename == str(tmp_path / "out")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, ValueError, FileExistsError])
def test_nothing_stays_after_an_error(tmp_path, error):
    def write():
        with writing(tmp_path / "out.gz") as out:
            out.write(b"new")
            raise error

    (tmp_path / "out.gz").write_bytes(b"old")
    with pytest.raises(error):
        write()
    assert names(tmp_path) == ["out.gz"]
    assert (tmp_path / "out.gz").read_bytes() == b"old"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_named_pipe_whose_reader_has_gone_is_named(tmp_path):
    def write():
        with writing(path) as out:
            os.close(reader)
            out.write(b"x" * 100_000)

    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(BrokenPipeError) as found:
        write()
    assert found.value.filename == str(path)


def test_errors_that_reading_may_have_are_not_blamed_on_the_output(tmp_path):
    with pytest.raises(OSError, match="trouble") as found, writing(tmp_path / "out"):
        raise OSError(errno.EIO, "trouble")
    assert found.value.filename is None


@pytest.mark.parametrize("name", ["stdin", "stdout"])
def test_a_standard_stream_that_is_closed_is_an_error(name, monkeypatch, tmp_path):
    monkeypatch.setattr(sys, name, None)
    way = opened if name == "stdin" else writing
    with pytest.raises(OSError, match="it is closed") as found, way("-"):
        pass
    assert found.value.filename == f"<{name}>"
    with writing(tmp_path / "out") as out:
        assert not files.is_standard_output(out)


def content(data, name="x", tmp_path=None):
    """All of a file, opened by its path or as a stream."""
    source = io.BytesIO(data)
    if tmp_path is not None:
        source = tmp_path / name
        source.write_bytes(data)
    with opened(source) as (stream, _):
        return stream.read()


XZ, GZIP = lzma.compress(TEXT), gzip.compress(TEXT)


def test_xz_may_have_several_streams_and_padding():
    for data in (XZ, XZ + bytes(4), XZ + bytes(400_000), XZ + XZ, XZ + bytes(8) + XZ + bytes(4)):
        assert content(data) == TEXT * data.count(files.XZ_MAGIC)
    assert content(lzma.compress(b"")) == b""
    large = os.urandom(1 << 18) + bytes(1 << 20)
    assert content(lzma.compress(large)) == large


def test_every_cut_of_compressed_data_is_an_error(tmp_path):
    for data, name in ((gzip.compress(b"a few words\n"), "x.gz"), (lzma.compress(b"a few words\n"), "x.xz")):
        assert content(data, name, tmp_path) == b"a few words\n"
        for size in range(len(data)):
            with pytest.raises((*DAMAGED, FormatError)):
                content(data[:size], name, tmp_path)


@pytest.mark.parametrize("data", [XZ + b"x", XZ + b"garbage", XZ + XZ[:40], XZ + GZIP, GZIP + b"x", GZIP + XZ])
def test_what_follows_compressed_data_and_is_none_is_an_error(data):
    with pytest.raises(DAMAGED):
        content(data)


def test_a_file_that_is_empty_or_begins_like_a_compressed_one_is_told_from_one_that_is_plain(tmp_path):
    for data, told in (
        (b"", "the file is empty"),
        (b"\xfd7z", "breaks off after 3 bytes"),
        (b"1\tx", "not compressed"),
    ):
        with pytest.raises(FormatError, match=told):
            content(data, "x.xz", tmp_path)
        with pytest.raises(FormatError, match=r"x\.xz:1: "), (tmp_path / "x.xz").open("rb") as raw, opened(raw):
            pass
    (tmp_path / "x.gz").write_bytes(gzip.compress(b"plain"))
    with gzip.open(tmp_path / "x.gz") as unpacked, opened(unpacked) as (stream, _):
        assert stream.read() == b"plain"  # the name says nothing about a stream that is unpacked already


def test_zst_is_read_whole_or_with_an_error_and_written(tmp_path):
    zstandard = pytest.importorskip("zstandard", reason="zstandard is not installed")
    packed = zstandard.ZstdCompressor().compress(TEXT)
    path = tmp_path / "x.zst"
    for data, wanted in ((packed, TEXT), (packed + packed, TEXT + TEXT)):
        path.write_bytes(data)
        with opened(path) as (stream, _):
            assert stream.read() == wanted
    for data in (packed[:-1], packed[: len(packed) // 2], packed + b"garbage", packed[:40] + b"x" * 9 + packed[49:]):
        path.write_bytes(data)
        with opened(path) as (stream, _), pytest.raises(DAMAGED):
            stream.read()
    for data in (b"", packed[:3], TEXT):
        path.write_bytes(data)
        with pytest.raises(FormatError), opened(path):
            pass
    with writing(path) as out:
        out.write(TEXT)
    with opened(path) as (stream, _):
        assert stream.read() == TEXT


def test_zst_without_its_package_is_an_error_that_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "zstandard", None)
    (tmp_path / "x.zst").write_bytes(files.ZST_MAGIC + b"rest")
    with pytest.raises(MissingExtraError, match=r"pip install 'tanglewood\[zst\]'"), opened(tmp_path / "x.zst"):
        pass
    with pytest.raises(MissingExtraError, match=r"zstandard"), writing(tmp_path / "y.zst"):
        pass
    assert names(tmp_path) == ["x.zst"]
