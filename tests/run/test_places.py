"""Outputs by URL: the same bytes as in a folder here, there only when they are whole; against a real S3 server, too."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path

import pytest
from corpora import job_for, make_corpus, outputs, parse_corpus

from tanglewood.cli import main
from tanglewood.cli.corpus import ENDINGS
from tanglewood.run import places
from tanglewood.run.folder import Run, Task
from tanglewood.run.listing import find_inputs
from tanglewood.run.places import INSIDE, RECORD, Elsewhere, files_below, place_of, writing_at
from tanglewood.run.records import runs, verified
from tanglewood.run.units import read_record

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")
pytestmark = pytest.mark.filterwarnings("ignore")  # those of packages for S3
SMALL = 200  # bytes of a part: a few sentences
OUT = "memory://bucket/trees"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"))
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def far_outputs(url: str) -> dict[str, bytes]:
    """What `outputs` returns, of a folder elsewhere."""
    system, root = fsspec.core.url_to_fs(url, use_listings_cache=False)
    found = {path.removeprefix(root).lstrip("/"): system.cat_file(path) for path in system.find(root)}
    other = (RECORD, "errors.jsonl")
    return {name: data for name, data in found.items() if not name.startswith(INSIDE) and not name.endswith(other)}


def far_corpus(model, given="in", out=OUT, *, packing="", reading=None, **run):
    """Parse a corpus as `parse_corpus` does, to a folder elsewhere."""
    job = job_for(model, out, packing=packing, **(reading or {}))
    found = find_inputs([given], ENDINGS[job.reading.format] + packing, job.output)
    told: list[str] = []
    return Run(job, found.inputs, tell=told.append, **run).do(), told


@pytest.mark.parametrize("format_", ["conllu", "json", "parquet"])
@pytest.mark.parametrize("size", [1 << 20, SMALL])
def test_outputs_elsewhere_have_the_same_bytes(model, format_, size):
    if format_ == "parquet":
        pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    reading = {"format": format_}
    parse_corpus(model, Path("in"), Path("whole"), reading=reading)
    summary, told = far_corpus(model, reading=reading, part_size=size)
    assert (summary.finished, summary.failed, told) == (10, 0, [])
    assert far_outputs(OUT) == outputs(Path("whole"))
    left = [name for name in files_below(place_of(OUT)) if name.startswith(INSIDE)]
    assert left == [f"{INSIDE}/corpus.json"]  # neither parts nor a run that has ended
    assert far_corpus(model, reading=reading, part_size=size)[0].skipped == 10


def test_outputs_elsewhere_may_be_compressed(model):
    parse_corpus(model, Path("in"), Path("whole"), packing=".gz")
    far_corpus(model, packing=".gz")
    assert far_outputs(OUT) == outputs(Path("whole"))


def test_tasks_share_a_folder_elsewhere(model):
    parse_corpus(model, Path("in"), Path("whole"))
    for number in (3, 1, 2):
        summary, _ = far_corpus(model, part_size=SMALL, task=Task(number, 3))
    assert summary.left == 0
    assert far_outputs(OUT) == outputs(Path("whole"))


def test_what_has_changed_is_done_again_and_errors_are_listed_as_here(model, here):
    Path("in/sub/bad.jsonl").write_text("{\n")
    Path("in/bad.txt.gz").write_bytes(b"no gz")
    parse_corpus(model, Path("in"), Path("whole"))
    far_corpus(model)
    assert here.cat_file("/bucket/trees/errors.jsonl") == Path("whole/errors.jsonl").read_bytes() != b""
    Path("in/long.txt").write_text("Dax.")
    here.pipe_file("/bucket/trees/trees.conllu", b"x")
    here.rm_file("/bucket/trees/packed.conllu")
    told = far_corpus(model)[1]
    assert sorted(told)[1:] == [
        "long.txt: done again, since the input has changed",
        "packed.txt.gz: done again, since its output is missing",
        "trees.conllu: done again, since its output was changed",
    ]
    assert sorted(told)[0].startswith("bad.txt.gz:1: ")


def test_status_and_verify_look_elsewhere(model, capsys, here):
    assert main(["corpus", "in", "-o", OUT, "-m", str(model)]) == 0
    assert main(["corpus", "status", OUT, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == {"done": 10, "failed": 0, "to do": 0}
    assert main(["corpus", "verify", OUT]) == 0
    assert capsys.readouterr().out == "10 files are as their records say\n"
    here.pipe_file("/bucket/trees/long.conllu", b"x")
    here.rm_file("/bucket/trees/trees.conllu")
    assert main(["corpus", "verify", OUT]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "long.conllu: it is not what was written: its checksum is another one",
        "trees.conllu: it is missing",
        "8 files are as their records say, 2 are not",
    ]
    assert main(["corpus", "status", "memory://bucket/nowhere"]) == 1
    assert "bucket/nowhere: there is no such folder" in capsys.readouterr().err


def test_a_run_says_elsewhere_that_it_is_at_work(model):
    seen = []
    far_corpus(model, watch=lambda _: seen.append([said["pid"] for _, said in runs(place_of(OUT))]))
    assert seen[-1] == [os.getpid()]
    assert list(runs(place_of(OUT))) == []


def test_an_output_is_there_only_when_it_is_whole_and_its_record_comes_last(model, here, monkeypatch):
    with suppress(KeyboardInterrupt), writing_at(place_of(OUT) / "half.conllu") as out:
        out.write(b"half")
        raise KeyboardInterrupt
    assert here.store == {}
    sent = []
    whole = Elsewhere.send

    def send(self, path):
        sent.append(self.below)
        whole(self, path)

    monkeypatch.setattr(places.Elsewhere, "send", send)
    far_corpus(model)
    for name in far_outputs(OUT):
        assert sent.index(name) + 1 == sent.index(name + RECORD)


def test_outputs_beside_inputs_are_not_taken_for_inputs(model, here):
    here.put("in/", "/bucket/texts/", recursive=True)
    for _ in range(2):
        summary, _ = far_corpus(model, "memory://bucket/texts", "memory://bucket/texts/trees")
        assert summary.finished + summary.skipped == 10


def test_names_elsewhere_and_here(tmp_path):
    place = place_of("memory://bucket/trees/")
    assert place == place_of("memory:///bucket/trees")
    assert (place / "a/b.conllu").with_name("c").below == "a/c"
    assert (place / "b.conllu").with_name("c").below == "c"
    assert (place / "a/b").parent.name == "a"
    assert place_of("out") == Path("out")
    assert place_of(tmp_path.as_uri()) == tmp_path


def test_files_are_listed_in_the_same_order_here_and_elsewhere(here):
    names = ["b", "a/b", "a.b", "a/a/x", "B/y", "a/c", "skip/x", "a/skip/y"]
    for name in names:
        here.pipe_file(f"/bucket/{name}", b"")
        Path("files", name).parent.mkdir(parents=True, exist_ok=True)
        Path("files", name).touch()
    found = list(files_below(Path("files"), without="skip"))
    assert found == list(files_below(place_of("memory://bucket"), without="skip"))
    assert found == ["a.b", "b", "B/y", "a/b", "a/c", "a/a/x", "a/skip/y"]
    assert list(files_below(place_of("memory://nowhere"))) == list(files_below(Path("nowhere"))) == []


class Broken(fsspec.AbstractFileSystem):
    """A store that cannot be written, whose errors are its own."""

    protocol = "broken"

    class StrangeError(Exception):
        pass

    def put_file(self, lpath, rpath, **_):
        raise self.StrangeError("the store is closed on Mondays")

    def info(self, path, **_):
        raise FileNotFoundError(path)

    def ls(self, path, **_):
        return []

    def cat_file(self, path, **_):
        raise FileNotFoundError(path)


@pytest.mark.parametrize(
    ("url", "more", "told"),
    [
        ("broken://bucket", (), "the store is closed on Mondays"),
        ("nosuch://bucket/x", (), "nosuch://bucket/x: Protocol not known"),
        (OUT, ("-j", "2"), "other processes cannot write there"),
        (OUT, ("--dask", "local"), "other processes cannot write there"),
        ("memory://bucket/file", (), "bucket/file is a file; -o should name a folder"),
    ],
)
def test_outputs_that_are_wrong(url, more, told, model, capsys, here):
    fsspec.register_implementation("broken", Broken, clobber=True)
    here.pipe_file("/bucket/file", b"x")
    assert main(["corpus", "in", "-o", url, "-m", str(model), *more]) == 1
    err = capsys.readouterr().err
    assert told in err
    assert "Traceback" not in err


# A real server of S3. -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def bucket():
    """The URL of a bucket on a server of moto, with no other access than what the environment says."""
    pytest.importorskip("s3fs", reason="s3fs is not installed")
    server_of = pytest.importorskip("moto.server", reason="moto[server] is not installed")
    server = server_of.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        patch.setenv("AWS_ACCESS_KEY_ID", "someone")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "something")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3", use_listings_cache=False).mkdir("words")
        yield "s3://words"
    server.stop()


def test_s3_round_trip_gives_the_same_bytes_and_is_skipped_verified_and_told(model, bucket, capsys):
    parse_corpus(model, Path("in"), Path("whole"))
    system = fsspec.filesystem("s3", use_listings_cache=False)
    system.put("in/", "words/texts/", recursive=True)
    command = ["corpus", f"{bucket}/texts", "-o", f"{bucket}/trees", "-m", str(model)]
    assert main([*command, "-j", "1"]) == 0
    assert far_outputs(f"{bucket}/trees") == outputs(Path("whole"))
    capsys.readouterr()
    assert main([*command, "-j", "1"]) == 0
    assert "0 files done, 10 were finished before" in capsys.readouterr().err
    assert main(["corpus", "status", f"{bucket}/trees", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["files"] == {"done": 10, "failed": 0, "to do": 0}
    assert main(["corpus", "verify", f"{bucket}/trees"]) == 0
    system.pipe_file("words/texts/long.txt", b"Dax zorps.")
    system.pipe_file("words/trees/trees.conllu", b"x")
    assert sorted(problem for _, problem in verified(place_of(f"{bucket}/trees")) if problem) == [
        "it is not what was written: its checksum is another one",
        "the input has changed since",
    ]
    capsys.readouterr()
    assert main([*command, "-j", "1"]) == 0
    assert "2 files done, 8 were finished before" in capsys.readouterr().err


def test_s3_by_processes_and_in_parts_gives_the_same_bytes(model, bucket):
    parse_corpus(model, Path("in"), Path("whole"))
    summary, told = far_corpus(model, out=f"{bucket}/parts", part_size=SMALL, processes=2)
    assert (summary.failed, told) == (0, [])
    assert far_outputs(f"{bucket}/parts") == outputs(Path("whole"))
    assert read_record(place_of(f"{bucket}/parts") / "long.conllu")["parts"] > 1
    assert not [name for name in files_below(place_of(f"{bucket}/parts")) if "/parts/" in name]


@pytest.mark.usefixtures("bucket")
def test_a_bucket_that_is_not_there_is_told(model, capsys):
    assert main(["corpus", "in", "-o", "s3://nowhere/trees", "-m", str(model), "-j", "1"]) == 1
    err = capsys.readouterr().err
    assert "s3://nowhere/trees" in err
    assert "bucket" in err
    assert "Traceback" not in err
    assert main(["corpus", "s3://nowhere/texts", "-o", "out", "-m", str(model)]) == 1
    assert "s3://nowhere/texts: there is no such file or folder" in capsys.readouterr().err
