"""Learning an encoder from text: every gradient against differences of a slow twin's loss, and what comes of it."""

from dataclasses import replace

import numpy as np
import pytest

from exhaustive import COMPILED
from tanglewood.errors import ConfigError
from tanglewood.ml import language_model
from tanglewood.ml.encoder import EMBED
from tanglewood.ml.language_model import KNOWN, LanguageModel, LanguageOptions, Text, Types, batches
from toy import Recorder, toy_sentences

OPTIONS = LanguageOptions(words=2_000, forms=30, predicted=8, samples=5, batch_words=40, drop_input=0.0, drop_form=0.0)


def toy_types(options=OPTIONS):
    text = toy_raw()
    return text, Types.of(text, options)


def toy_raw():
    """The toy treebank as numbers; zorps has none, as if there had been too many forms."""
    numbers = {}
    tokens, starts = [], [0]
    for sentence in toy_sentences(40):
        tokens += [0 if form == "zorps" else numbers.setdefault(form, len(numbers) + 2) for form in sentence.forms]
        starts.append(len(tokens))
    counts = np.bincount(tokens, minlength=len(numbers) + 2).astype(np.int64)
    return Text(list(numbers), counts, np.array(tokens, np.int32), np.array(starts, np.int64))


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm(inputs, recurrent):
    """Run an LSTM over rows, one after the other."""
    hidden = cell = np.zeros(len(recurrent))
    outputs = []
    for row in inputs:
        i, f, o, g = np.split(row + hidden @ recurrent, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * np.tanh(g)
        hidden = sigmoid(o) * np.tanh(cell)
        outputs.append(hidden)
    return np.array(outputs)


def twin_loss(parameters, types, sentences, drawn, samples):
    """The mean loss, written plainly: word by word, sentence by sentence."""
    p = {name: value.astype(np.float64) for name, value in parameters.items()}
    losses = []
    half = p["word.bias"].size // 2
    for tokens in sentences:
        nodes = [1, *tokens]
        embedded = [
            np.concatenate([p[f"{EMBED}{name}"][types.numbers[name][node]].sum(0) for name in types.values])
            for node in nodes
        ]
        words = np.maximum(np.array(embedded) @ p["word.weight"] + p["word.bias"], 0)
        forward, backward = (
            lstm(rows @ p[f"lstm0.{way}.input"] + p[f"lstm0.{way}.bias"], p[f"lstm0.{way}.recurrent"])
            for way, rows in (("forward", words), ("backward", words[::-1]))
        )
        contexts = words + np.concatenate([forward, backward[::-1]], axis=1)
        for i in range(1, len(nodes)):
            target = types.predicted[nodes[i]]
            if target < 0:
                continue
            after = contexts[i + 1, half:] if i + 1 < len(nodes) else np.zeros(half)
            seen = np.concatenate([contexts[i - 1, :half], after])
            chosen = [target, *(form for form in drawn if form != target)]
            scores = np.array(
                [
                    seen @ p["predict.weight"][form]
                    + p["predict.bias"][form, 0]
                    - np.log(types.chances[form] * samples)
                    for form in chosen
                ]
            )
            losses.append(np.log(np.exp(scores).sum()) - scores[0])
    return float(np.mean(losses))


def test_every_gradient_is_that_of_a_slow_twin(monkeypatch):
    monkeypatch.setattr(language_model, "SIZES", (6, 3, 1))
    monkeypatch.setattr(language_model, "WIDTHS", {"affixes": 3, "short_shape": 2, KNOWN: 4})
    text, types = toy_types()
    model = LanguageModel(types, OPTIONS, 1)
    parameters = {name: value.copy() for name, value in model._parameters.items()}
    recorder = model._adam = Recorder(parameters)
    sentences = [text.tokens[text.starts[i] : text.starts[i + 1]] for i in range(3)]
    state = model._rng.bit_generator.state
    loss, n = model.learn(sentences, 0.0)
    rng = np.random.default_rng(0)
    rng.bit_generator.state = state
    draws = np.searchsorted(np.cumsum(types.chances), rng.random(OPTIONS.samples), side="right")
    drawn = sorted(set(np.minimum(draws, len(types.chances) - 1).tolist()))
    assert loss / n == pytest.approx(twin_loss(parameters, types, sentences, drawn, OPTIONS.samples), rel=1e-5)
    rng = np.random.default_rng(2)
    for name, value in parameters.items():
        for place in rng.permutation(value.size)[: 12 if COMPILED else 4].tolist():
            index = np.unravel_index(place, value.shape)
            kept = value[index]
            around = []
            for step in (1e-3, -1e-3):
                changed = {**parameters, name: value.astype(np.float64)}
                changed[name][index] = kept + step
                around.append(twin_loss(changed, types, sentences, drawn, OPTIONS.samples))
            expected = (around[0] - around[1]) / 2e-3
            assert recorder.gradients[name][index] == pytest.approx(expected, rel=2e-3, abs=2e-6), (name, index)


def test_types_have_the_numbers_of_their_values():
    text, types = toy_types()
    assert types.values[KNOWN][0] == "."  # the most frequent first
    for number, form in enumerate(text.types, 2):
        known = types.numbers[KNOWN][number, 0]
        assert types.values[KNOWN][known - 2] == form.lower()
        assert types.predicted[number] == (known - 2 if known - 2 < OPTIONS.predicted else -1)
    assert types.predicted[0] == types.predicted[1] == -1
    assert types.chances.sum() == pytest.approx(1)
    assert types.numbers["affixes"].shape == (len(text.types) + 2, 5)


def test_batches_hold_all_words_once_and_long_sentences_are_cut(monkeypatch):
    monkeypatch.setattr(language_model, "LONGEST", 4)
    text = toy_raw()
    found = list(batches(text, 25, np.random.default_rng(3)))
    assert all(len(tokens) <= 4 for batch in found for tokens in batch)
    assert all(sum(map(len, batch)) >= 25 for batch in found[:-1])
    assert sorted(np.concatenate([t for batch in found for t in batch])) == sorted(text.tokens)
    again = list(batches(text, 25, np.random.default_rng(3)))
    assert [[t.tolist() for t in b] for b in found] == [[t.tolist() for t in b] for b in again]


def test_text_that_follows_rules_becomes_less_surprising_and_the_encoder_comes_out_averaged(monkeypatch):
    monkeypatch.setattr(language_model, "SIZES", (16, 8, 1))
    text, types = toy_types(replace(OPTIONS, rate=0.01))
    model = LanguageModel(types, replace(OPTIONS, rate=0.01), 1)
    held = [text.tokens[text.starts[i] : text.starts[i + 1]] for i in range(5)]
    before = model.perplexity(held)
    for number in range(20):
        for batch in batches(text, 40, np.random.default_rng(number)):
            model.learn(batch, number / 20)
    assert model.perplexity(held) < before / 2
    knowledge = model.knowledge()
    table = model._adam.averaged[f"{EMBED}{KNOWN}"]
    assert np.abs(knowledge.lexicon.vectors - table).max() <= 0.51 * np.abs(table).max() / 127
    assert list(knowledge.values) == ["affixes", "short_shape"]
    assert not any(name.startswith("predict.") for name in knowledge.parameters)


@pytest.mark.parametrize("wrong", [{"words": -1}, {"drop_form": 1.0}, {"rate": 0.0}, {"samples": 10**13}])
def test_options_out_of_range_are_refused(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        LanguageOptions(**wrong)
