"""Runs of the experiments on an invented treebank: their commands, and what they write."""

import json

SIZES = {"train": (14, 1), "dev": (4, 2), "test": (8, 3)}
COMMANDS = {
    "nivre2009": ["--epochs", "1", "--no-graph"],
    "nivre2007": ["--epochs", "1"],
    "shi2018": ["--longest", "6"],
    "lacroix2014": ["--epochs", "1", "--folds", "2", "--gold-tags"],
    "systems": ["--epochs", "1"],
}
CHANGING = {"seconds", "seconds_saved", "date"}  # what two runs do not share


def command(paper, treebank, folder, *more):
    data = [f"{treebank}/train.conllu", f"{treebank}/test.conllu"] if paper == "shi2018" else ["--treebank", treebank]
    return [str(word) for word in ("reproduce", paper, *data, *COMMANDS[paper], *more, "-o", folder)]


def results_of(folder):
    return json.loads((folder / "results.json").read_text())


def settled(data):
    """The results without what changes from run to run."""
    if isinstance(data, dict):
        return {key: settled(value) for key, value in data.items() if key not in CHANGING}
    return [settled(item) for item in data] if isinstance(data, list) else data


def verdict_of(findings, words):
    """The verdict on the one claim that has these words."""
    (found,) = (finding for finding in findings if words in finding.claim)
    return found.verdict
