"""The table of all systems: the parsers of the papers are in it, and its commands train what was measured."""

import argparse
import json
import shlex
from copy import deepcopy
from pathlib import Path

import pytest

from exhaustive import COMPILED
from tanglewood.cli import convert as convert_command
from tanglewood.cli import main
from tanglewood.cli import train as train_command
from tanglewood.experiments import systems
from tanglewood.experiments.running import Learning, projective
from tanglewood.experiments.systems import FEATURES, ROWS, arguments_of, commands_of, config_of, findings, report
from tanglewood.measure.significance import McNemar
from tanglewood.text.tagger import TaggerOptions
from tanglewood.training.config import Config
from tanglewood.training.pipeline import TagPlan, prepare_tags
from tanglewood.transforms.pseudo_projective import lifted
from tanglewood.treebank.conllu import read
from tanglewood.treebank.tag_candidates import with_first_candidates
from toy import toy_sentences, toy_text

ROOT = Path(__file__).resolve().parents[2]
FILES = {"train": {"file": "train.conllu"}, "dev": {"file": "dev.conllu"}, "test": {"file": "test.conllu"}}
# What the papers' tables have, what they cite and what came later, and which training run it is.
NAMED = {
    "Sp": {"system": "arc-standard"},
    "Su, eager oracle": {"system": "swap", "oracle": "eager"},
    "Su, lazy oracle": {"system": "swap", "oracle": "lazy"},
    "Spp": {"system": "arc-standard", "pseudo_projective": "head"},
    "Malt-06 features, SVM": {"learner": "svm", "settings": {"features": "nivre2006"}, "pseudo_projective": "head"},
    "MST, first-order": {"search": "mst", "stacked": ""},
    "MST-06, second-order": {"search": "mst2", "stacked": ""},
    "MST + Malt, stacked": {"search": "mst2", "stacked": "malt-06.tw"},
    "Covington, d = 0": {"system": "covington", "options": {"max_degree": 0}},
    "Covington, d = 1": {"system": "covington", "options": {"max_degree": 1}},
    "Covington, d = 2": {"system": "covington", "options": {"max_degree": 2}},
    "Covington, unbounded": {"system": "covington", "options": {}},
    "Attardi": {"system": "attardi"},
    "ALLDEG1": {"system": "attardi-alldeg1"},
    "ALL": {"system": "attardi-all"},
    "ALLs0s1": {"system": "attardi-alls0s1", "search": ""},
    "leftward": {"system": "attardi", "options": {"reduces": "s0>s1,s1>s0,b0>s1"}},
    "ALLs0s1, exact inference": {"system": "attardi-alls0s1", "search": "exact"},
    "arc-eager": {"system": "arc-eager", "pseudo_projective": ""},
    "arc-hybrid": {"system": "arc-hybrid", "oracle": "static"},
    "three-step": {"system": "three-step"},
    "planar": {"system": "planar"},
    "two-planar": {"system": "two-planar"},
    "SWAP on the stack": {"system": "stack-swap"},
    "planar, SWAP on the stack": {"system": "stack-swap-planar"},
    "Covington with LEFT-POP": {"system": "choi-palmer", "oracle": "static"},
    "arc-eager, buffer transitions": {"system": "buffer-arcs"},
    "arc-hybrid with SWAP": {"system": "arc-hybrid-swap", "oracle": "static-dynamic"},
    "joint tagging and parsing": {"system": "joint-swap"},
    "tagger, then swap": {"system": "swap"},
}
# From what should be worse to what should be better, where the papers compare; else any order.
ORDER = [*(name for name in ROWS if name not in {"all", "mst-malt", "joint"}), "all", "mst-malt", "joint"]
LEARNINGS = [
    Learning(),
    Learning(settings={"epochs": 3, "explore": 0.5}, seed=7),
    Learning(settings={"templates": "my templates.toml", "margin": 2}, seed=0),
]


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A treebank, and the folder of a finished run on it."""
    treebank = tmp_path_factory.mktemp("data") / "Danish-toy"
    treebank.mkdir()
    for part, size, seed in (("train", 14, 1), ("dev", 4, 2), ("test", 8, 3)):
        (treebank / f"{part}.conllu").write_text(toy_text(size, seed))
    folder = tmp_path_factory.mktemp("runs") / "systems-toy"
    assert main(command(treebank, folder)) == 0
    return treebank, folder


def command(treebank, folder):
    return ["reproduce", "systems", "--treebank", str(treebank), "--epochs", "1", "-o", str(folder)]


def results_of(folder):
    return json.loads((folder / "results.json").read_text())


def parsed_by(module, words):
    """The arguments of a command, read by that command's own parser."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    module.add_arguments(parser)
    return parser.parse_args(words)


def test_the_systems_that_the_page_lists_are_in_the_table(finished):
    configs = {ROWS[name].name: config_of(name, Learning().as_in_paper(FEATURES)) for name in ROWS}
    assert list(configs) == list(NAMED)
    for name, choices in NAMED.items():
        assert {key: getattr(configs[name], key) for key in choices} == choices, name
    lines = (finished[1] / "report.md").read_text().splitlines()
    for name in NAMED:
        row, commands = (line for line in lines if line.startswith(f"| {name} |"))
        assert "](../../src/tanglewood/" in row
        assert "`tanglewood train " in commands
        assert row.split(" | ")[3] == ("predicted" if name in list(NAMED)[-2:] else "gold")
        assert "| - |" not in row


@pytest.mark.parametrize("name", ROWS)
def test_links_lead_to_files(name):
    for file in ROWS[name].code:
        assert (ROOT / "docs/reproductions" / systems.SOURCE / file).is_file()


@pytest.mark.parametrize("learning", LEARNINGS)
@pytest.mark.parametrize("name", ROWS)
def test_a_command_makes_the_choices_of_its_row(name, learning):
    config = config_of(name, learning.as_in_paper(FEATURES))
    *before, last = map(shlex.split, commands_of(name, config, FILES))
    assert last[:2] == ["tanglewood", "train"]
    args = parsed_by(train_command, last[2:])
    assert train_command.chosen_config(args) == config
    assert (args.dev, args.output) == (["dev.conllu"], f"{name}.tw")
    assert args.pipeline == (ROWS[name].data == systems.PIPELINE)
    if ROWS[name].data == systems.PROJECTIVE:
        ((program, verb, *words),) = before
        made = parsed_by(convert_command, words)
        assert (program, verb, made.files, made.projectivize) == ("tanglewood", "convert", ["train.conllu"], "baseline")
        assert args.files == [made.output]
    else:
        assert (before, args.files) == ([], ["train.conllu"])


def test_an_option_that_is_a_flag_has_no_value_in_the_command():
    config = Config(system="covington", options={"every_pair": True, "max_degree": 1})
    words = ["train.conllu", "-o", "model.tw", *arguments_of(config)]
    assert train_command.chosen_config(parsed_by(train_command, words)) == config


def test_without_dev_the_command_has_none_and_other_suffixes_are_kept():
    config = config_of("sp", Learning())
    first, second = commands_of("sp", config, {"train": {"file": "train.conll"}})
    assert first == "tanglewood convert train.conll --projectivize baseline -o projective.conll"
    assert second == "tanglewood train projective.conll -o sp.tw --system arc-standard --learner linear"


@pytest.mark.parametrize(
    "name", ["sp", "spp", "mst", "covington-1", *(["mst-malt", "joint", "pipeline"] if COMPILED else [])]
)
def test_the_commands_give_the_trees_that_were_scored(finished, tmp_path, monkeypatch, name):
    treebank, folder = finished
    row = ROWS[name]
    monkeypatch.chdir(tmp_path)
    for file in treebank.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    commands = results_of(folder)["commands"]
    for text in (*(commands[row.stacked] if row.stacked else ()), *commands[name]):
        assert main(shlex.split(text)[1:]) == 0
    words = ["test.conllu", *([] if row.stacked or name == "mst" else ["--beam", "1"])]
    if row.is_tagged:
        blank = [sentence.with_columns(*[["_"] * len(sentence)] * 4) for sentence in read(tmp_path / "test.conllu")]
        (tmp_path / "test.conllu").write_text("".join(sentence.to_text() for sentence in blank))
        words.append("--tag")
    assert main(["parse", "-m", f"{name}.tw", *words, "-o", "parsed.conllu"]) == 0
    kept = read(folder / f"parsed/{name}.conllu")
    assert [one.tree for one in read(tmp_path / "parsed.conllu")] == [one.tree for one in kept]


def test_results_of_code_with_fewer_rows_are_reported_and_what_is_missing_is_said(finished):
    results = results_of(finished[1])
    assert list(results["scores"]) == list(ROWS)
    del results["scores"]["mst2"], results["commands"]["mst2"]
    text = systems.report(results)
    assert "- Not run: MST-06, second-order: these results are of code that had no such row." in text
    assert "(../../src/tanglewood/learners/arcs/learner.py) | gold | - | - | - | - | - | - |" in text
    assert "not all of them were run" in text


def test_findings_are_decided_by_the_tests(finished):
    results = deepcopy(results_of(finished[1]))
    scores = results["scores"]
    for name, found in scores.items():
        is_flat = ROWS[name].data == systems.PROJECTIVE
        found |= {"nonprojective_predicted": 0 if is_flat else 3, "nonprojective_recall": 0.0 if is_flat else 50.0}

    def judged(better, worse):
        """The verdicts if, of any two systems, the one that should be better alone is right so often, the other so."""
        for row in results["mcnemar"]:
            counts = (better, worse) if ORDER.index(row["first"]) > ORDER.index(row["second"]) else (worse, better)
            row |= {by: McNemar(*counts).as_dict() for by in row if by not in {"first", "second"}}
        return [finding.verdict for finding in findings(results)]

    for found in scores.values():
        found["nonprojective_gold"] = 1000
    has_stacked = "mst-malt" in scores
    assert judged(20, 0) == ["found", "found", "found", "found" if has_stacked else "open", "found"]
    weakly = "found, not significantly"
    assert judged(2, 0) == ["found", weakly, "found", weakly if has_stacked else "open", weakly]
    assert judged(0, 2)[1:3] == ["not found", "found"]
    assert judged(0, 20)[1:3] == ["contradicted", "not found"]  # 2 points less, of a margin of 5
    assert judged(0, 60)[1:3] == ["contradicted", "contradicted"]
    assert judged(0, 20)[4] == "contradicted"
    scores["arc-eager"]["nonprojective_predicted"] = 1
    assert judged(20, 0)[0] == "contradicted"
    for found in scores.values():
        found |= {"nonprojective_gold": 0, "nonprojective_recall": None, "nonprojective_f1": None}
        found |= {"nonprojective_las": None}
    assert judged(20, 0)[:3:2] == ["open", "open"]
    assert "None" not in report(results)


def test_results_from_before_a_row_was_there_are_still_reported(finished):
    results = deepcopy(results_of(finished[1]))
    for by_name in (results["scores"], results["systems"], results["commands"]):
        del by_name["arc-hybrid"]
    results["mcnemar"] = [row for row in results["mcnemar"] if "arc-hybrid" not in {row["first"], row["second"]}]
    assert "- Not run: arc-hybrid: these results are of code that had no such row." in report(results)
    assert "no such row" not in (finished[1] / "report.md").read_text()


# What it is made of. -----------------------------------------------------------------------------------------------


def test_first_choices_are_the_tags_of_a_pipeline():
    sentences, dev = toy_sentences(6), toy_sentences(2, seed=2)
    options = TaggerOptions(epochs=1)
    _, *offered = prepare_tags(sentences, dev, TagPlan(folds=2, options=options, tag_column="upos"))
    _, *plain = prepare_tags(sentences, dev, TagPlan(folds=2, options=options))
    for several, tagged in zip(offered, plain, strict=True):
        assert [with_first_candidates(one, "upos").to_text() for one in several] == [one.to_text() for one in tagged]


def test_converted_trees_are_lifted_and_keep_their_labels(tmp_path, capsys):
    (tmp_path / "toy.conllu").write_text(toy_text(20))
    assert main(["convert", str(tmp_path / "toy.conllu"), "--projectivize", "baseline"]) == 0
    printed = capsys.readouterr()
    sentences = toy_sentences(20)
    assert printed.out == "".join(sentence.to_text() for sentence in projective(sentences))
    changed = sum(not sentence.tree.is_projective() for sentence in sentences)
    assert f"{changed} of 20 trees changed" in printed.err
    for sentence in sentences:
        tree = sentence.tree
        assert lifted(tree).is_projective()
        assert lifted(tree).labels == tree.labels
        assert (lifted(tree) is tree) == tree.is_projective()
