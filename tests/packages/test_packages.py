"""Models as packages: a wheel that pip takes, the names of what is installed, and how they are listed."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import shlex
import subprocess
import sys
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path

import numpy as np
import pytest

import tanglewood as tw
from tanglewood.cli import main, whole_parser
from tanglewood.cli.train import chosen_config
from tanglewood.embedding import save_vectors
from tanglewood.errors import ConfigError, ModelError
from tanglewood.packages.installed import find_installed, installed_models
from tanglewood.packages.wheel import card_of, command_of, write_wheel
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.training.stacking import config_of
from tanglewood.training.student import Taught
from toy import TAGS, small_network, toy_sentences, toy_text, train_parser
from toy_pipeline import written
from vector_writers import as_text

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
WHEEL = "tanglewood_model_toy_words-1.2-py3-none-any.whl"
COMMAND = ["package", "toy.tw", "--name", "toy-words", "--version", "1.2", "--licence", "CC0-1.0", "--language", "art"]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_network(monkeypatch)
    train_parser(toy_sentences(10), settings={"epochs": 1}).save("toy.tw")
    return tmp_path / "toy.tw"


@pytest.fixture
def site(model, monkeypatch, capsys):
    """A folder that Python looks for packages in, with the model's wheel unpacked as pip does it."""
    (model.parent / "LICENCE").write_text("Do what you like.\n")
    assert main([*COMMAND, "--licence-file", "LICENCE", "--source", "toys"]) == 0
    assert capsys.readouterr().out == f"{WHEEL}\n"
    site = model.parent / "site"
    with zipfile.ZipFile(WHEEL) as wheel:
        wheel.extractall(site)
    monkeypatch.syspath_prepend(site)
    return site


def test_a_wheel_records_what_is_in_it(site):
    with zipfile.ZipFile(WHEEL) as wheel:
        (record,) = (name for name in wheel.namelist() if name.endswith("/RECORD"))
        rows = [*csv.reader(io.StringIO(wheel.read(record).decode()))]
        assert sorted(row[0] for row in rows) == sorted(wheel.namelist())
        for name, digest, size in rows:
            if name != record:
                data = wheel.read(name)
                wanted = urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
                assert (digest, size) == (f"sha256={wanted}", str(len(data)))
        metadata = wheel.read(record.replace("RECORD", "METADATA")).decode()
        assert "Name: tanglewood-model-toy-words\nVersion: 1.2\n" in metadata
        assert "License: CC0-1.0\n" in metadata
        assert "--learner network" in metadata
        assert wheel.read(record.replace("RECORD", "licenses/LICENSE")) == b"Do what you like.\n"


def test_the_same_model_gives_the_same_bytes(model):
    first = main(COMMAND), (model.parent / WHEEL).read_bytes()
    assert first == (main(COMMAND), (model.parent / WHEEL).read_bytes())


def test_an_installed_model_is_found_by_its_name(site, model, capsys):
    assert find_installed("toy-words") == site / "tanglewood_model_toy_words" / "model.tw"
    assert tw.load("toy-words").checksum == tw.load("toy.tw").checksum
    (model.parent / "words.conllu").write_text(toy_text(3, seed=4))
    assert main(["parse", "-m", "toy-words", "words.conllu", "-o", "by-name.conllu"]) == 0
    assert main(["parse", "-m", "toy.tw", "words.conllu", "-o", "by-file.conllu"]) == 0
    assert (model.parent / "by-name.conllu").read_bytes() == (model.parent / "by-file.conllu").read_bytes()
    assert main(["info", "toy-words"]) == 0
    assert "network" in capsys.readouterr().out


def test_a_file_comes_before_an_installed_model_of_the_same_name(site, model):
    train_parser(toy_sentences(10), settings={"epochs": 1}, seed=2).save("toy-words")
    assert tw.load("toy-words").checksum != tw.load("toy.tw").checksum


def test_models_are_listed_with_language_licence_size_and_scores(site, capsys):
    assert main(["models", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}  # others may be installed, too
    bundled, toy = rows["english-ewt"], rows["toy-words"]
    assert bundled["licence"] == "CC-BY-SA-4.0"
    assert bundled["command"].startswith("tanglewood train --pipeline TRAIN --dev DEV")
    assert "--pretrained en.pre.tw --distil 4" in bundled["command"]
    assert (toy["version"], toy["language"], toy["licence"]) == ("1.2", "art", "CC0-1.0")
    assert toy["takes"] == "tagged words"
    assert toy["size"] == installed_models()["toy-words"].path.stat().st_size
    assert toy["source"] == "toys"
    assert main(["models"]) == 0
    out = capsys.readouterr().out
    assert "toy-words" in out
    assert f"LAS {bundled['scores']['las']:.2f}, UAS {bundled['scores']['uas']:.2f}\n" in out
    assert "CC0-1.0" in out


@pytest.mark.parametrize("name", ["english-ewt", "bundled"])
def test_the_bundled_model_has_names_too(name, capsys):
    assert tw.load(name).checksum == tw.load().checksum
    assert main(["info", name]) == 0
    assert "pipeline: takes raw text" in capsys.readouterr().out
    assert main(["parse", "-m", name, "Rain falls."]) == 0
    (teacher,) = Taught.named_in(Config(distil_from=name)).teachers
    assert teacher.parser.description["learner"] == "network"
    stacked = Training(Config(search="mst", stacked=name), toy_sentences(2)).stacked
    assert stacked is not None
    assert stacked.description == tw.load().description


def test_a_folder_is_not_in_the_way_of_a_model_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "english-ewt").mkdir()
    assert tw.load("english-ewt").checksum == tw.load().checksum
    (tmp_path / "nothing").mkdir()
    with pytest.raises(ModelError, match="nothing: a folder, not a tanglewood model"):
        tw.load("nothing")


@pytest.mark.parametrize(
    "more",
    [
        {"search": "mst", "stacked": "toy-words", "folds": 2},
        {"distil_from": "toy-words", "favour_rare": 0.0},
        {"begin_from": "toy-words"},
    ],
)
@pytest.mark.usefixtures("site", "small_training")
def test_training_takes_installed_models_by_name_as_it_takes_their_files(more):
    def trained(model):
        given = {name: model if value == "toy-words" else value for name, value in more.items()}
        return tw.train(toy_sentences(6), epochs=1, **given).parser.model.arrays()

    by_name, by_file = trained("toy-words"), trained("toy.tw")
    assert {name: bytes(array) for name, array in by_name.items()} == {n: bytes(a) for n, a in by_file.items()}


def test_a_name_that_nothing_has_and_a_broken_package_are_errors(site, capsys):
    with pytest.raises(FileNotFoundError, match="no installed model of that name"):
        tw.load("toy-verbs")
    assert main(["parse", "-m", "toy-verbs", "toy.tw"]) == 1
    assert "tanglewood models lists those that there are" in capsys.readouterr().err
    (site / "tanglewood_model_toy_words" / "model.tw").unlink()
    with pytest.raises(ModelError, match="its model model is not there"):
        tw.load("toy-words")
    assert "toy-words" not in installed_models()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--name", "Toy Words"], "is no name for a model"),
        (["--name", "english-ewt"], "english-ewt is the name of the model that comes with tanglewood"),
        (["--name", "bundled"], "bundled is the name of the model that comes with tanglewood"),
        (["--version", "new"], "is no version"),
        (["-o", "nowhere"], "there is no folder nowhere"),
    ],
)
def test_what_makes_no_package_is_an_error(model, capsys, more, message):
    assert main([*COMMAND, *more]) == 1
    assert message in capsys.readouterr().err
    assert not [*model.parent.glob("*.whl")]


def test_only_models_become_packages(model):
    pipeline = tw.load("toy.tw")
    card = card_of(pipeline, name="x", version="1", language="", licence="MIT", command="", source="")
    (model.parent / "no.tw").write_text("no model")
    with pytest.raises(ModelError):
        write_wheel("no.tw", ".", card)
    with pytest.raises(ConfigError, match="no name"):
        write_wheel("toy.tw", ".", {**card, "name": "a/b"})


def test_the_command_of_a_model_says_how_it_was_made(model):
    words = command_of(tw.load("toy.tw")).split()
    assert words[:2] == ["tanglewood", "train"]
    assert words[words.index("--system") + 1] == "swap"
    assert "epochs=1" in words
    assert "--dev" not in words


@pytest.mark.parametrize(
    "choices",
    [
        {"system": "covington", "max_degree": 2, "every_pair": True, "oracle": "static", "seed": 7, "dev": True},
        {"single_root": False, "pseudo_projective": "head+path"},
        {"single_root": True, "rate": 1e-5, "beam": 3},
        {"pipeline": True, "folds": 2},
        {"search": "mst", "stacked": "toy.tw", "folds": 3, "dev": True},
        {"learner": "linear", "templates": "größe 🌲.toml"},
        {"vectors": "toy.vec", "vectors_rows": 7, "vectors_width": 0},
        {"vectors": "toy.vec"},
        {"contextual": ["one.vectors", "two.vectors"]},
        {"distil": 2},
        {"distil_from": ["toy.tw", "toy-2.tw"], "unlabelled": ["more.conllu"], "favour_rare": 0.0},
        {"silver": ["more.conllu"], "silver_words": 9},
        {"begin_from": "toy.tw"},
    ],
    ids=lambda choices: "-".join(map(str, choices)),
)
@pytest.mark.usefixtures("small_training")
def test_the_command_of_a_model_makes_the_same_choices(model, choices):
    """Parsed as any other command, it gives the configuration that the model has."""
    sentences = written(6, 1)
    (model.parent / "toy-2.tw").write_bytes(model.read_bytes())
    (model.parent / "more.conllu").write_text(toy_text(3))
    (model.parent / "größe 🌲.toml").write_bytes((EXAMPLES / "templates.toml").read_bytes())
    (model.parent / "toy.vec").write_bytes(as_text([*TAGS], np.ones((len(TAGS), 3), np.float32)))
    for name in ("one.vectors", "two.vectors"):
        save_vectors(name, "toy/encoder", 2, [(one.forms, np.ones((len(one), 2))) for one in sentences])
    dev = sentences[:2] if choices.pop("dev", False) else None
    made = tw.train(sentences, dev, epochs=1, **choices)
    args = whole_parser().parse_args(shlex.split(command_of(made))[1:])
    assert chosen_config(args) == config_of(made.description)
    assert (args.pipeline, args.dev) == (made.tokenizer is not None, [] if dev is None else ["DEV"])


def test_the_command_of_a_model_names_files_without_their_folders_and_encoders_whole(model):
    pipeline = tw.load("toy.tw")
    pipeline.parser.description |= {"contextual": ["owner/encoder"], "pretrained": "/home/wug/a b.pre.tw"}
    assert command_of(pipeline).endswith("--pretrained 'a b.pre.tw' --contextual owner/encoder")
    pipeline.parser.description |= {"contextual": ["/home/wug/dax.vectors"]}
    assert command_of(pipeline).endswith("--contextual dax.vectors")
    pipeline.parser.description |= {"settings": {"templates": "/home/wug/my.toml"}}
    assert "--set 'templates=\"my.toml\"'" in command_of(pipeline)


@pytest.mark.slow
def test_pip_installs_it(site, tmp_path):
    target = tmp_path / "installed"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(target), WHEEL]
    done = subprocess.run(pip, capture_output=True, text=True, check=False)
    if "No module named pip" in done.stderr:
        pytest.skip("there is no pip")
    assert done.returncode == 0, done.stderr
    assert (target / "tanglewood_model_toy_words" / "model.tw").read_bytes() == (tmp_path / "toy.tw").read_bytes()
