"""Which files a corpus has: named, in folders and by patterns; what becomes of their names; what they hold."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from corpora import make_corpus

from tanglewood.errors import ConfigError
from tanglewood.run.listing import find_inputs, kind_of, output_name


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"))


def names(*given, output="out"):
    return {one.name: one.output for one in find_inputs(given, ".conllu", Path(output)).inputs}


def test_files_of_folders_keep_their_relative_names():
    found = names("in")
    assert found["long.txt"] == "long.conllu"
    assert found["sub/packed.txt.xz"] == "sub/packed.conllu"
    assert found["sub/deep/3.txt"] == "sub/deep/3.conllu"
    assert ".hidden.txt" not in found
    assert "picture.png" not in found
    assert find_inputs(["in"], ".conllu", Path("out")).others == 1
    assert list(found) == sorted(found)
    assert all(os.path.isabs(one.path) for one in find_inputs(["in"], "", Path("out")).inputs)  # noqa: PTH117


def test_patterns_and_single_files():
    assert list(names("in/sub/deep/*.txt")) == ["0.txt", "1.txt", "2.txt", "3.txt"]
    assert list(names("in/**/[01].txt")) == ["sub/deep/0.txt", "sub/deep/1.txt"]
    assert names("in/sub/deep/0.txt", "in/picture.png") == {"0.txt": "0.conllu", "picture.png": "picture.png.conllu"}
    Path("in/[odd] *.txt").write_text("x")
    assert list(names("in/[odd] *.txt")) == ["[odd] *.txt"]


def test_the_output_is_not_taken_for_input():
    Path("in/out").mkdir()
    Path("in/out/x.conllu").write_text("")
    assert "out/x.conllu" in names("in")
    assert "out/x.conllu" not in names("in", output="in/out")


def test_two_files_that_would_become_one_are_an_error():
    Path("in/long.jsonl").write_text("")
    with pytest.raises(ConfigError, match=r"long.txt.* would both become long.conllu; one of them should be renamed"):
        names("in")
    Path("other").mkdir()
    Path("other/0.txt").write_text("")
    with pytest.raises(ConfigError, match="name a folder that holds both"):
        names("other/0.txt", "in/sub/deep/0.txt")
    assert len(names("in/long.txt", "in/long.txt")) == 1


def test_a_file_that_would_become_the_list_of_errors_is_refused():
    Path("in/errors.txt").write_text("")
    assert names("in")["errors.txt"] == "errors.conllu"
    with pytest.raises(ConfigError, match=r"errors.txt would become errors.jsonl, .* it should be renamed"):
        find_inputs(["in"], ".jsonl", Path("out"))
    assert "errors.jsonl.gz" in [one.output for one in find_inputs(["in"], ".jsonl.gz", Path("out")).inputs]


def test_what_runs_have_written_down_is_no_input():
    Path("in/errors.jsonl").write_text("")
    Path("in/sub/trees/.tanglewood").mkdir(parents=True)
    for name in ("a.conllu", "a.conllu.record.json", "errors.jsonl"):
        Path("in/sub/trees", name).write_text("")
    found = names("in")
    assert [name for name in found if name.startswith("sub/trees/")] == ["sub/trees/a.conllu"]
    assert "errors.jsonl" in found  # of somebody else
    assert find_inputs(["in"], ".conllu", Path("out")).others == 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.txt", "a.x"), ("a.TXT.gz", "a.x"), ("b/a.b.jsonl.zst", "b/a.b.x"), ("a", "a.x"), ("a.png", "a.png.x")],
)
def test_names_of_outputs(name, expected):
    assert output_name(name, ".x") == expected


def test_kinds_are_told_by_name_or_content():
    Path("in/other.txt").write_text(Path("in/trees.conllu").read_text())
    kinds = {name: kind_of(f"in/{name}", "") for name in ("long.txt", "packed.txt.gz", "trees.conllu", "other.txt")}
    assert list(kinds.values()) == ["text", "text", "conllu", "conllu"]
    assert kind_of("in/sub/docs.jsonl", "") == "json"
