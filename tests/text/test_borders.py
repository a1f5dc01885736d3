"""The network for the ends of sentences: what it learns, what it looks at, and what must not change its opinion."""

from array import array
from functools import cache
from itertools import chain
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from exhaustive import COMPILED
from raw_texts import treebank
from tanglewood.errors import ModelError
from tanglewood.ml.contexts import Contexts
from tanglewood.ml.encoder import OUTPUT
from tanglewood.ml.kernels import kernels_for
from tanglewood.ml.words import untagged
from tanglewood.store import load_model, save_model
from tanglewood.text.borders import EDGE, MARGIN, MOST, ROOM, WINDOW, BorderLearner, BorderOptions, Borders
from tanglewood.text.characters import Characters
from tanglewood.text.raw import gold_text
from tanglewood.text.tagger import BIAS
from tanglewood.text.tokenizer import ROOM as ROOM_OF_TOKENIZER
from tanglewood.text.tokenizer import Tokenizer

WORDS = ["dax", "wug", "Tawug", "zorps", ".", "!", "42", "blick"]
OPTIONS = BorderOptions(epochs=4, mixed=2.0, batch_words=60)


def sentences(count, seed):
    """Sentences of an invented language whose ends can be told from its words: a noun, perhaps more, and a verb."""
    rng = Random(seed)
    nouns, verbs = [f"n{i}" for i in range(6)], [f"v{i}" for i in range(6)]
    return [
        [*((rng.choice(nouns), "NOUN") for _ in range(rng.randint(1, 4))), (rng.choice(verbs), "VERB")]
        for _ in range(count)
    ]


@cache
def learnt():
    learner = BorderLearner([sentences(8, seed) for seed in range(40)], OPTIONS, 1)
    losses = [learner.epoch() for _ in range(OPTIONS.epochs)]
    assert losses[-1] < losses[0]
    return learner.borders(0.5)


@cache
def tokenizer():
    return Tokenizer.learn(treebank(), treebank(), epochs=2, borders=BorderOptions(epochs=1))


def test_sentences_without_any_marks_are_told_apart():
    text = sentences(30, 99)
    forms = [form for sentence in text for form, _ in sentence]
    ends = [k == len(sentence) - 1 for sentence in text for k in range(len(sentence))]
    hints = learnt().hints(forms, [len(forms) - 1], range(len(forms)))
    right = sum((hint > 0) == end for hint, end in zip(hints, ends, strict=False))
    assert right >= 0.95 * len(forms)
    assert max(map(abs, hints)) <= MOST + 1e-6


@given(st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=60), min_size=1, max_size=3), st.data())
@settings(max_examples=30, deadline=None)
def test_hints_are_those_of_a_window_at_a_time(paragraphs, data):
    borders = learnt()
    forms = [*chain.from_iterable(paragraphs)]
    ends = np.cumsum([len(p) for p in paragraphs]) - 1
    doubtful = sorted(data.draw(st.sets(st.integers(0, len(forms) - 1))))
    found = borders.hints(forms, ends.tolist(), doubtful)
    contexts = Contexts(borders.vocabulary, borders.parameters, kernels_for(reproducible=True))
    offset = 0
    for paragraph in paragraphs:
        for begin in range(0, len(paragraph), WINDOW):
            inside = range(begin, min(begin + WINDOW, len(paragraph)))
            padded = [EDGE, *map(untagged, paragraph), EDGE]
            first = 0 if begin <= MARGIN else begin - MARGIN + 1
            last = inside[-1] + 1 + MARGIN
            vectors, _ = contexts.of([padded[first : len(padded) if last >= len(paragraph) else last + 1]])
            scores = vectors @ borders.parameters[OUTPUT] + borders.parameters[BIAS]
            for k in inside:
                row = scores[k + 1 - first + 1]  # node 0 comes first
                wanted = np.clip(0.5 * (row[1] - row[0]), -MOST, MOST)
                asked = any(offset + other in doubtful for other in inside)
                assert found[offset + k] == pytest.approx(wanted if asked else 0, abs=1e-4)
        offset += len(paragraph)


@given(st.lists(st.sampled_from(WORDS), min_size=ROOM + 40, max_size=ROOM + 80), st.lists(st.sampled_from(WORDS)))
@settings(max_examples=10 if COMPILED else 3, deadline=None)
def test_what_is_far_ahead_changes_nothing(forms, more):
    borders = learnt()
    short = borders.hints(forms, [len(forms) - 1], range(len(forms)))
    longer = [*forms, *more]
    long = borders.hints(longer, [len(longer) - 1], range(len(longer)))
    for k in range(len(forms) - ROOM - 1):
        assert short[k] == long[k]
    assert ROOM == ROOM_OF_TOKENIZER


@given(
    st.lists(st.sampled_from([*WORDS, "We open.", "It's late", "\n", "\n\n", "- x"]), max_size=40), st.integers(1, 60)
)
@settings(max_examples=40, deadline=None)
def test_a_stream_is_what_the_whole_text_is(parts, size):
    text = " ".join(parts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tanglewood.text.tokenizer.PIECE", 40)
        whole = tokenizer().tokenize(text)
        found, begin = [], 0
        for piece, some in tokenizer().stream(text[start : start + size] for start in range(0, len(text), size)):
            found += [[(token.start + begin, token.end + begin) for token in sentence] for sentence in some]
            begin += len(piece)
    assert begin == len(text)
    assert found == [[(token.start, token.end) for token in sentence] for sentence in whole]


@given(st.lists(st.sampled_from([*WORDS, "We open.", "(it", "late)", '"']), min_size=1, max_size=40), st.randoms())
@settings(max_examples=40, deadline=None)
def test_scores_kept_from_the_first_scan_are_those_of_the_second(parts, rng):
    tokens, scanner = tokenizer()._scanners(0.0)
    tokens.use(*Characters().of(" ".join(parts)))
    tokens.scan()
    scanner.scan()
    hints = array("f", [rng.choice([0, 0, 0, -3, 3]) for _ in range(scanner.n_tokens + 1)])
    scanner.scan_again(hints)
    found, doubtful = scanner.ends(), scanner.doubtful(1.0)
    scanner.prepare()  # forgets all scores
    scanner.scan_again(hints)
    assert (found, doubtful) == (scanner.ends(), scanner.doubtful(1.0))


def test_a_saved_tokenizer_has_the_same_opinion(tmp_path):
    text = gold_text(treebank()).text
    save_model(tmp_path / "model", tokenizer().arrays(), tokenizer().settings())
    again = Tokenizer.load(*load_model(tmp_path / "model"))
    assert again.borders.weight == tokenizer().borders.weight
    assert again.tokenize(text) == tokenizer().tokenize(text)


def test_the_same_seed_gives_the_same_bytes():
    one, other = (Tokenizer.learn(treebank(), None, epochs=1, borders=BorderOptions(epochs=1)) for _ in range(2))
    assert {name: bytes(value) for name, value in one.arrays().items()} == {
        name: bytes(value) for name, value in other.arrays().items()
    }


@pytest.mark.parametrize("what", ["missing", "shape", "settings"])
def test_a_damaged_network_is_refused(what):
    arrays = {name: memoryview(np.ascontiguousarray(array)) for name, array in learnt().arrays().items()}
    about = dict(learnt().settings())
    if what == "missing":
        del arrays[BIAS]
    elif what == "shape":
        arrays[BIAS] = memoryview(np.zeros(3, np.float32))
    else:
        about["weight"] = "much"
    with pytest.raises(ModelError):
        Borders.load(arrays, about)
