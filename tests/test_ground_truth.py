"""Statistics, coverage and running time of the treebanks beside the repository, against independent programs."""

import json
from pathlib import Path

import pytest

from exhaustive import COMPILED
from tanglewood.measure.coverage import Coverage
from tanglewood.measure.running_time import RunningTime
from tanglewood.measure.stats import TreebankStats
from tanglewood.systems import make_system
from tanglewood.treebank import conllu

SMALL = 12_000  # words; interpreted, only smaller files are quick enough
FOLDER = Path(__file__).resolve().parents[2] / "shared"
TRUTH_FILE = FOLDER / "ground_truth/ground_truth.json"
FILES = json.loads(TRUTH_FILE.read_text())["files"] if TRUTH_FILE.exists() else {}
RUN = sorted((f for f in FILES if COMPILED or FILES[f]["words"] < SMALL), key=lambda f: -FILES[f]["words"])


@pytest.mark.usefixtures("shared")
def test_the_ground_truth_speaks_of_53_files():
    assert len(FILES) == 53
    assert len(RUN) == 53 if COMPILED else len(RUN) > 10


@pytest.mark.parametrize("name", RUN)
def test_every_number_of_a_treebank_is_reproduced(name):
    truth = FILES[name]
    systems = {system: make_system(system) for system in truth["covered"]}
    stats, coverage = TreebankStats(), Coverage(systems)
    running = {oracle: RunningTime(make_system("swap"), oracle) for oracle in truth["swap"]}
    for sentence in conllu.read(FOLDER / "treebanks" / name):
        stats.add(sentence)
        tree = sentence.tree
        coverage.add(tree)
        for count in running.values():
            count.add(tree)
    found = {**stats.as_dict(), **coverage.as_dict()}
    found["swap"] = {oracle: count.as_dict() for oracle, count in running.items()}
    assert {item: found[item] for item in truth if item != "swap"} == {k: v for k, v in truth.items() if k != "swap"}
    for oracle, expected in truth["swap"].items():
        derived = found["swap"][oracle]
        assert {item: derived[item] for item in expected} == {item: round(value, 4) for item, value in expected.items()}
        assert derived["words"] == truth["words"]
        assert derived["transitions"] == 2 * truth["words"] + 2 * derived["swaps"]
        assert derived["uncovered"] == 0
