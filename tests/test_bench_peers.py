"""Other parsers beside tanglewood: what they are given, what they write, and what is said when one is missing."""

import argparse
import importlib.util
import itertools
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from toy import toy_text

BENCH = Path(__file__).resolve().parents[1] / "bench"
WORDS = """1-2 ab _ _ _ _ _ _ _ _
1 a a DET D Case=Nom|Number=Sing {} {} _ _
2 b b NOUN N _ {} {} _ _
""".replace(" ", "\t")


@pytest.fixture
def bench(monkeypatch):
    """The modules of the benchmark can be imported."""
    monkeypatch.syspath_prepend(str(BENCH))


@pytest.mark.usefixtures("bench")
def test_features_stand_in_place_of_xpos_and_nothing_else_changes():
    from peer_parsers.stanza_ import features_as_tags

    text = "# text = ab\n" + WORDS.format(2, "det", 0, "root") + "\n"
    expected = text.replace("\tD\t", "\tCase=Nom|Number=Sing\t").replace("\tN\t", "\t_\t")
    assert features_as_tags(text) == expected


@pytest.mark.usefixtures("bench")
def test_stanza_trains_without_anything_from_elsewhere_and_looks_at_dev_in_the_last_steps():
    from peer_parsers.stanza_ import training_arguments

    for steps in (1, 4, 5, 120, 602):
        words = training_arguments(Path("a/train.conllu"), Path("a/dev.conllu"), Path("b/m.pt"), steps)
        options = dict(itertools.pairwise(words))
        assert {"--no_pretrain", "--cpu"} < set(words)
        assert not {"--charlm", "--bert_model", "--wordvec_pretrain_file"} & set(words)
        assert (options["--save_dir"], options["--save_name"]) == ("b", "m.pt")
        assert (options["--train_file"], options["--eval_file"]) == ("a/train.conllu", "a/dev.conllu")
        assert int(options["--max_steps"]) == steps
        interval = int(options["--eval_interval"])
        assert min(steps, 5) == steps // interval
        assert steps % interval < 5


@pytest.mark.usefixtures("bench")
def test_trees_are_written_into_the_lines_they_were_read_from(tmp_path):
    from peer_parsers.runs import write_trees

    empty = "1.1\tc\tc\tX\t_\t_\t_\t_\t_\t_\n"
    blind = "# text = ab\n" + WORDS.format("_", "_", "_", "_") + empty + "\n"
    parsed = "# text = ab\n" + WORDS.format(2, "det", 0, "root") + empty + "\n"
    (tmp_path / "in").write_text(blind * 2)
    tree = [(2, "det"), (0, "root")]
    write_trees(str(tmp_path / "in"), str(tmp_path / "out"), [tree, tree])
    assert (tmp_path / "out").read_text() == parsed * 2
    with pytest.raises(ValueError, match="longer"):
        write_trees(str(tmp_path / "in"), str(tmp_path / "out"), [tree])


@pytest.mark.usefixtures("bench")
def test_a_parser_that_cannot_be_imported_is_skipped_with_the_reason(tmp_path, monkeypatch):
    from peer_parsers.runs import Bench, SkippedError
    from peer_parsers.stanza_ import stanza

    (tmp_path / "stanza.py").write_text("raise ImportError('torch is broken')\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
    args = argparse.Namespace(cpu=None, quick=True, work=tmp_path, stanza_steps=600)
    with pytest.raises(SkippedError, match=re.escape("ImportError: torch is broken; pip install stanza")):
        next(stanza(Bench(args)))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("tanglewood") is None, reason="the tanglewood command is not installed")
@pytest.mark.skipif(importlib.util.find_spec("stanza") is None, reason="Stanza is not installed: pip install stanza")
def test_stanza_is_trained_and_timed(tmp_path):
    for part, seed in (("train", 1), ("dev", 2), ("test", 3)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(12, seed=seed))
    command = [
        sys.executable,
        str(BENCH / "peers.py"),
        str(tmp_path),
        "--parsers",
        "stanza",
        "--quick",
        "--repeat",
        "2",
    ]
    command += ["--work", str(tmp_path / "work"), "--json", str(tmp_path / "rows.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "rows.json").read_text())
    assert found["skipped"] == {}
    (row,) = found["rows"]
    assert row["parser"].startswith("Stanza ")
    assert row["las"] > 20  # a toy language, five steps
    assert row["train_cpu"] > 0
