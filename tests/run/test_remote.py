"""Inputs by URL: found, read and cut as files here are, and done again when they change."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from corpora import job_for, make_corpus, outputs, parse_corpus

from tanglewood.cli import main
from tanglewood.run.folder import Run
from tanglewood.run.listing import find_inputs
from tanglewood.run.remote import is_remote

fsspec = pytest.importorskip("fsspec", reason="fsspec is not installed")


@pytest.fixture(autouse=True)
def bucket(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"))
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.put("in/", "/bucket/texts/", recursive=True)
    yield system
    system.store.clear()


def from_bucket(model, *urls, **run):
    job = job_for(model, Path("out"))
    told = []
    found = find_inputs(urls, ".conllu", Path("out"))
    return Run(job, found.inputs, tell=told.append, **run).do(), told


def test_a_folder_elsewhere_is_parsed_as_one_here(model):
    parse_corpus(model, Path("in"), Path("whole"))
    for size in (1 << 20, 200):
        summary, _ = from_bucket(model, "memory://bucket/texts", part_size=size)
        assert summary.failed == 0
        assert outputs(Path("out")) == outputs(Path("whole"))
        for name in outputs(Path("out")):
            Path("out", name).unlink()


def test_what_has_changed_elsewhere_is_done_again(model, bucket):
    from_bucket(model, "memory://bucket/texts")
    assert from_bucket(model, "memory://bucket/texts")[0].skipped == 10
    bucket.pipe("/bucket/texts/long.txt", b"Dax zorps.")
    summary, told = from_bucket(model, "memory://bucket/texts")
    assert (summary.finished, summary.skipped) == (1, 9)
    assert told == ["long.txt: done again, since the input has changed"]
    bucket.pipe("/bucket/texts/long.txt", b"Dax zorps.")  # the same again, at another time
    assert from_bucket(model, "memory://bucket/texts")[0].skipped == 10


def test_what_vanishes_elsewhere_fails_alone(model, bucket):
    found = find_inputs(["memory://bucket/texts"], ".conllu", Path("out"))
    bucket.rm("/bucket/texts/long.txt")
    told = []
    summary = Run(job_for(model, Path("out")), found.inputs, tell=told.append).do()
    assert (summary.failed, summary.finished) == (1, 9)
    assert told[0].startswith("long.txt: ")


def names(*urls):
    return [one.name for one in find_inputs(urls, ".conllu", Path("out")).inputs]


def test_patterns_and_single_files_elsewhere():
    assert names("memory://bucket/texts/sub/deep/*.txt") == ["0.txt", "1.txt", "2.txt", "3.txt"]
    assert names("memory://bucket/texts/**/[01].txt") == ["sub/deep/0.txt", "sub/deep/1.txt"]
    assert names("memory://bucket/texts/sub/docs.jsonl") == ["docs.jsonl"]
    assert ".hidden.txt" not in names("memory://bucket/texts")
    assert names(Path("in").absolute().as_uri()) == names("in")


def test_what_runs_have_written_down_elsewhere_is_no_input(bucket):
    for name in ("errors.jsonl", *(f"trees/{n}" for n in ("a.conllu", "a.conllu.record.json", "errors.jsonl"))):
        bucket.pipe(f"/bucket/more/{name}", b"")
    bucket.pipe("/bucket/more/trees/.tanglewood/corpus.json", b"{}")
    assert names("memory://bucket/more") == ["errors.jsonl", "trees/a.conllu"]
    assert names("memory://bucket/more/trees") == ["a.conllu"]


def test_tables_elsewhere_are_read(model, bucket):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    with bucket.open("/bucket/t/table.parquet", "wb") as file:
        pq.write_table(pa.table({"text": ["Dax zorps.", "Wug."]}), file)
    assert from_bucket(model, "memory://bucket/t")[0].counts.documents == 2


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("memory://bucket/nowhere", "memory://bucket/nowhere: there is no such file or folder"),
        ("memory://bucket/no*", "memory://bucket/no*: there is no such file or folder"),
        ("nosuch://bucket/x", "nosuch://bucket/x: Protocol not known"),
    ],
)
def test_urls_that_are_wrong(url, told, model, capsys):
    assert main(["corpus", url, "-o", "out", "-m", str(model)]) == 1
    assert told in capsys.readouterr().err


def test_without_the_package_an_error_says_what_to_install(model, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec.core", None)
    assert main(["corpus", "memory://bucket/texts", "-o", "out", "-m", str(model)]) == 1
    assert "pip install 'tanglewood[remote]'" in capsys.readouterr().err


def test_names_of_files_are_not_taken_for_urls():
    for name in ("s3://b/x", "memory://x", "abfs+x://y"):
        assert is_remote(name)
    for name in ("x.txt", "c:/x", "/a://b", "a b://c", "://x"):
        assert not is_remote(name)
