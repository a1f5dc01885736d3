"""What comes before the parser of a pipeline: taggers that have not seen what they tag, and parts that are kept."""

from __future__ import annotations

import pytest

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import ModelError
from tanglewood.pipeline import Pipeline
from tanglewood.text import tagger
from tanglewood.text.tagger import TaggerOptions, Tags
from tanglewood.training import pipeline as learning
from tanglewood.training.pipeline import prepare
from tanglewood.treebank.sentence import Sentence
from toy_pipeline import written


def test_the_training_data_is_tagged_by_taggers_that_did_not_see_it(monkeypatch):
    seen = []

    class Fake:
        def __init__(self, sentences):
            self.known = {s.sent_id for s in sentences}

        def worker(self):
            return self

        def tag(self, forms, _offered):
            seen.append((self.known, [tuple(f) for f in forms]))
            return [[Tags("l", f"U{len(seen)}", "X", "F")] * len(f) for f in forms]

    def fake_train(train, dev, options, seed, knowledge, teachers=(), unlabelled=(), silver=()):
        assert knowledge is None
        assert len(teachers) == (3 if dev else 0)
        assert unlabelled == ([["zorp"]] if dev else ())
        yield learning.TagProgress(1, 1, 0.0, None, Fake(train))

    monkeypatch.setattr(learning, "train_tagger", fake_train)
    monkeypatch.setattr(learning.Tagger, "load", lambda *_: Fake([]))
    monkeypatch.setattr(Fake, "arrays", dict, raising=False)
    monkeypatch.setattr(Fake, "settings", dict, raising=False)
    train = written(12, 1)
    zorp = Sentence(b"1\tzorp\t_\t_\t_\t_\t_\t_\t_\t_\n\n")
    found = prepare(train, train[:2], lambda tokenizer: [zorp] if tokenizer else [], folds=3)
    assert [s.forms for s in found.train] == [s.forms for s in train]
    assert len(seen) == 5  # three folds, dev and the unlabelled sentence
    for known, forms in seen[:3]:
        held = [s for s in train if s.sent_id not in known]
        assert len(held) == 4
        assert sorted(forms) == sorted(tuple(s.forms) for s in held)
    assert {u for s in found.train for u in s.upos} == {"U1", "U2", "U3"}
    assert {u for s in found.dev for u in s.upos} == {"U4"}
    assert [(s.forms, s.upos) for s in found.unlabelled] == [(["zorp"], ["U5"])]


def test_an_interrupted_preparation_goes_on_where_it_stopped_and_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(tagger, "SIZES", (8, 4))
    options = TaggerOptions(epochs=1, layers=1)
    train, dev = written(8, 1), written(3, 2)
    wanted = prepare(train, dev, folds=2, options=options)
    runs = []
    learn = learning.train_tagger

    def interrupted(*arguments, **more):
        runs.append(1)
        if len(runs) == 2:
            raise KeyboardInterrupt
        yield from learn(*arguments, **more)

    monkeypatch.setattr(learning, "train_tagger", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepare(train, dev, folds=2, options=options, folder=tmp_path / "parts")
    found = prepare(train, dev, folds=2, options=options, folder=tmp_path / "parts")
    assert len(runs) == 4  # the first fold once, the second twice, all data once
    for one, other in ((found.train, wanted.train), (found.dev, wanted.dev)):
        assert [s.to_bytes() for s in one] == [s.to_bytes() for s in other]
    assert found.tagger.settings() == wanted.tagger.settings()
    weights, expected = (
        {name: bytes(values) for name, values in one.tagger.arrays().items()} for one in (found, wanted)
    )  # though one of the teachers comes from a file
    assert weights == expected
    with pytest.raises(ModelError, match="another training run"):
        prepare(train, dev, folds=2, options=options, seed=2, folder=tmp_path / "parts")


@pytest.mark.skipif(not COMPILED, reason="learns taggers and parsers of full size")
def test_the_command_learns_the_same_bytes_with_any_number_of_processes(tmp_path, capsys):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_bytes(b"".join(s.to_bytes() for s in written(12, seed)))
    for name, more in (("one", []), ("two", ["-j", "2"])):
        command = ["train", "--pipeline", tmp_path / "train.conllu", "--dev", tmp_path / "dev.conllu"]
        command += ["--epochs", 1, "--set", "folds=2", "-o", tmp_path / f"{name}.tw", *more]
        assert main([str(part) for part in command]) == 0
        assert not (tmp_path / f"{name}.tw.parts").exists()
    assert (tmp_path / "one.tw").read_bytes() == (tmp_path / "two.tw").read_bytes()
    assert "left" in capsys.readouterr().err
    assert Pipeline.load(tmp_path / "one.tw").parser.description["settings"] == {"epochs": 1, "layers": 2}
