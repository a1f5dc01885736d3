"""Models whose numbers or settings were changed, with the right checksum: refused by name, or they parse, never more.

The compiled code trusts the numbers in a model, so what could lead it astray has to be found when it is loaded.
"""

from __future__ import annotations

import json
from functools import cache

import numpy as np
import pytest

from exhaustive import COMPILED
from tanglewood.errors import ModelError
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.store import dump_model, parse_model
from toy import toy_sentences, train_parser
from toy_pipeline import TEXT, toy_pipeline

pytestmark = pytest.mark.skipif(not COMPILED, reason="interpreted code trusts nobody")
SENTENCES = toy_sentences(20)
KINDS = {
    "linear": {"learner": "linear"},
    "linear with a beam": {"learner": "linear", "settings": {"train_beam": 2}},
    "network": {},
    "triples": {"learner": "triples"},
    "arcs": {"learner": "arcs"},
    "siblings": {"learner": "arcs", "search": "mst2"},
    "svm": {"learner": "svm"},
    "liblinear": {"learner": "liblinear"},
    "pseudo-projective": {"learner": "linear", "system": "arc-standard", "pseudo_projective": "head+path"},
    "joint": {"learner": "linear", "system": "joint-swap"},
}


@cache
def model(kind):
    """Arrays, as NumPy's, and settings of a small model."""
    if kind == "pipeline":
        contents = toy_pipeline().contents()
    else:
        choices = {**KINDS[kind]}
        if choices.get("learner") == "liblinear":
            pytest.importorskip("sklearn")
        contents = trained(choices).contents()
    arrays, settings, *_ = parse_model(dump_model(*contents), "")
    return {name: np.array(values) for name, values in arrays.items()}, settings


def trained(choices):
    with pytest.MonkeyPatch.context() as patch:
        if choices:
            patch.setattr("toy.QUICK", {"epochs": 1} if choices["learner"] in ("linear", "arcs") else {})
        return train_parser(SENTENCES, **choices)


def load(kind, arrays, settings):
    """Load a model and use it."""
    data = dump_model(arrays, settings)
    if kind == "pipeline":
        nlp = Pipeline._of(parse_model(data, "changed"))
        return [sentence.tree for sentence in nlp(TEXT)]
    contents = parse_model(data, "changed")
    parser = Pipeline._of(contents).parser
    return [sentence.tree for sentence in parser.parse_all(SENTENCES[:3])]


over_kinds = pytest.mark.parametrize("kind", [*KINDS, "pipeline"])


@over_kinds
def test_what_was_not_changed_parses(kind):
    assert load(kind, *model(kind))


def is_free(name):
    """Whether any number of its type may stand in an array: hashes of words and of features, places to cut."""
    return name.endswith(("parts.keys", "tokenizer/common", "tokenizer/may_cut"))


def extremes(values):
    """Numbers that an array never has."""
    if values.dtype == np.int16:  # floats of 16 bits
        return [np.float16(odd).view(np.int16) for odd in (np.nan, np.inf, -np.inf)]
    if values.dtype.kind == "f":
        return [np.nan, np.inf, -np.inf, np.finfo(values.dtype).max]
    return [np.iinfo(values.dtype).min, np.iinfo(values.dtype).max]


@over_kinds
def test_numbers_that_cannot_be_are_refused(kind):
    arrays, settings = model(kind)
    tried = 0
    for name, values in arrays.items():
        if is_free(name) or not values.size:
            continue
        for place in {0, values.size // 2, values.size - 1}:
            for odd in extremes(values):
                changed = values.copy()
                is_key = name.endswith("keys")  # those of features go from 0 to the largest
                changed.reshape(-1)[place] = min(odd, -1) if is_key else odd
                with pytest.raises(ModelError, match="cannot be used"):
                    load(kind, {**arrays, name: changed}, settings)
                tried += 1
    assert tried > 10


@over_kinds
def test_arrays_of_other_types_and_shapes_are_refused(kind):
    arrays, settings = model(kind)
    for name, values in arrays.items():
        others = [values.astype(np.int64), *([values.reshape(-1, 1, 1)] if values.size else [])]
        if values.size and not name.endswith(("common", "combinations")):  # which are as long as they happen to be
            others += [values[:-1].copy(), values[:0], np.concatenate([values, values[-1:]])]
        for other in others:
            with pytest.raises(ModelError, match="cannot be used"):
                load(kind, {**arrays, name: other}, settings)
        with pytest.raises(ModelError, match="lacks the array"):
            load(kind, {other: array for other, array in arrays.items() if other != name}, settings)
    if kind != "pipeline":
        with pytest.raises(ModelError, match="does not belong"):
            load(kind, {**arrays, "stranger": np.zeros(3, np.float32)}, settings)


def places(value, path=()):
    """All places in settings, each as a path of keys; of long lists and tables the first and last only."""
    yield path
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    for key in [*keys[:1], *keys[-1:]] if len(keys) > 12 else keys:
        yield from places(value[key], (*path, key))


def changed_at(settings, path, value):
    """A copy of the settings with another value at a place."""
    copy = json.loads(json.dumps(settings))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = value
    return copy


DEEP = json.loads("[" * 200 + "]" * 200)
ODD = [None, -1, 2**70, 1e300, "", "a\tb\n", [], ["\t"], [7], {}, {"a": 1}, True, DEEP, "\udc80", 0.5]


@over_kinds
def test_settings_of_other_kinds_are_refused_or_do_no_harm(kind):
    """Every tree that is built can be written."""
    arrays, settings = model(kind)
    refused = tried = longest = 0
    for path in places(settings):
        for odd in ODD if path else []:
            try:
                data = changed_at(settings, path, odd)
                trees = load(kind, arrays, data)
                assert all(label.encode() and "\t" not in label for tree in trees for label in tree.labels[1:])
            except ModelError as error:
                refused += 1
                longest = max(longest, len(str(error)))
            except UnicodeEncodeError:
                assert odd == "\udc80"  # dump_model cannot write it, so no file has it
            tried += 1
    assert tried > 100
    assert refused > tried / 2
    assert longest < 500


def test_a_value_that_is_in_the_vocabulary_twice_is_refused():
    """Its number would be that of a row which the embeddings do not have."""
    arrays, settings = model("network")
    tags = settings["model"]["vocabulary"]["upos"]
    changed = changed_at(settings, ("model", "vocabulary", "upos"), [*tags[:-1], tags[2], tags[-1]])
    with pytest.raises(ModelError, match="has a value twice"):
        load("network", arrays, changed)


@pytest.mark.parametrize("move", range(4))
def test_a_scorer_that_rules_out_all_moves_but_one_still_gives_trees(move):
    arrays, settings = model("liblinear")
    changed = {**arrays, "classes.moves": np.full_like(arrays["classes.moves"], move)}
    parser = Pipeline._of(parse_model(dump_model(changed, settings), "changed")).parser
    for beam in (1, 2, 8):
        assert [len(sentence.tree) for sentence in parser.parse_all(SENTENCES, beam=beam)] == list(map(len, SENTENCES))


def test_a_parser_stacked_on_one_that_is_stacked_is_refused():
    """However deeply they are nested: nobody follows them down."""
    arrays, settings = model("arcs")
    nested = settings
    for _ in range(200):
        nested = {**settings, "stacked": nested}
    with pytest.raises(ModelError, match="should not be stacked itself"):
        load("arcs", arrays, nested)


def test_a_parser_is_loaded_with_the_same_checks(tmp_path):
    arrays, settings = model("linear")
    path = tmp_path / "model.tw"
    path.write_bytes(dump_model({**arrays, "moves.keys": arrays["moves.keys"] - 2**30}, settings))
    with pytest.raises(ModelError, match=r"model\.tw: .*table of weights"):
        Parser.load(path)
