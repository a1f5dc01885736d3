"""Feature templates of the linear learner, and the features they give, checked against a slow obvious twin."""

from itertools import product
from random import Random

import pytest
from test_linear import LABELS, SMALL_LABELS, treebank

from tanglewood.core.addresses import Addresses
from tanglewood.errors import ConfigError
from tanglewood.learners.features import FeatureSet
from tanglewood.learners.templates import SHIPPED, Templates
from tanglewood.ml.word_features import shape_of
from tanglewood.ml.word_table import WordNumbers
from tanglewood.systems import make_system


@pytest.mark.parametrize(
    ("template", "words"),
    [
        ("s0.colour", ["colour", "lemma", "suffix3", "distance"]),
        ("q0.form", ["q0", "s0..s9", "right2"]),
        ("s0.left7.form", ["left7", "left1"]),
        ("h.form", ["h", "s0..s9"]),
        ("s0-x1.distance", ["x1"]),
        ("s0-s1.form", ["form", "between"]),
        ("s0.feats s1.feats b0.feats", ["at most two"]),
        ("", ["at least one"]),
    ],
)
def test_a_wrong_template_gives_an_error_that_lists_what_exists(template, words):
    with pytest.raises(ConfigError) as caught:
        Templates((template,), SMALL_LABELS)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_templates_are_read_from_a_file(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('moves = ["s0.upos s1.upos", "s0.feats"]\nlabels = ["d.upos"]\n', encoding="utf-8")
    assert Templates.read(path) == Templates(("s0.upos s1.upos", "s0.feats"), ("d.upos",))
    for wrong in ("moves = 3", "moves = [", 'moves = ["s0.upos"]', 'moves=["s0.upos"]\nlabels=["d.upos"]\nmore=1'):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(ConfigError, match=r"mine\.toml"):
            Templates.read(path)
    with pytest.raises(ConfigError, match=r"^templates=none\.toml: the file cannot be read: No such file"):
        Templates.read("none.toml")


def slow_value(state, words, atom, head, dependent):
    """The values of an atom, by name: the obvious way."""

    def node_at(name):
        start, _, steps = name.partition(".")
        node = {"h": head, "d": dependent}.get(start)
        if node is None:
            return Addresses([name]).nodes(state)[0]
        for step in steps.split(".") if steps else []:
            node = -1 if node < 0 else getattr(state, "heads" if step == "head" else step)[node]
        return node

    if atom == "flags":
        top, front = ([*state.stack_nodes()[-1:], -1][0], [*state.buffer_nodes()[:1], -1][0])
        swapped = 0 <= front < top
        counts = (min(2, state.n_buffer), min(3, state.depth), state.aside_depth > 0)
        return [(state.phase & 3, swapped, counts, top >= 0 and state.heads[top] >= 0)]
    address, _, attribute = atom.rpartition(".")
    if "-" in address:
        first, second = map(node_at, address.split("-"))
        if first < 0 or second < 0:
            return ["none"]
        if attribute == "between":
            low, high = sorted((first, second))
            return list(dict.fromkeys(words[node - 1][2] for node in range(low + 1, high)))
        gap = abs(second - first)
        bounds = [0, 1, 2, 3, 4, 6, 10, 20]
        return [(second < first, sum(gap > bound for bound in bounds))]
    node = node_at(address)
    if node < 0:
        return ["none"]
    if attribute == "label":
        return [("label", state.labels[node])]
    if attribute in ("lefts", "rights"):
        children = [word for word in range(1, state.n + 1) if state.heads[word] == node]
        return [("count", min(2, sum((child < node) == (attribute == "lefts") for child in children)))]
    if attribute == "deps":
        return [("count", min(6, sum(state.heads[word] == node for word in range(1, state.n + 1))))]
    if node == 0:
        return ["root"]
    form, lemma, upos, xpos, feats = words[node - 1]
    lower = form.lower()
    cut = {"prefix2": lower[:2], "prefix3": lower[:3], "suffix2": lower[-2:], "suffix3": lower[-3:]}
    known = {"form": form, "lower": lower, "lemma": lemma, "upos": upos, "xpos": xpos, "suffix4": lower[-4:], **cut}
    return feats.split("|") if attribute == "feats" else [known.get(attribute, attribute)]


def slow_features(state, words, templates, head, dependent):
    """Features as tuples of a template and values; order of the atoms as the fast way has it."""
    found = []
    for template in templates:
        atoms = sorted(template.split(), key=lambda atom: atom.endswith((".feats", ".between")))
        values = [slow_value(state, words, atom, head, dependent) for atom in atoms]
        found += [(template, combination) for combination in product(*values)]
    return found


@pytest.mark.parametrize("system_name", ["swap", "arc-eager", "two-planar"])
def test_features_are_those_of_the_slow_obvious_twin(system_name):
    random = Random(11)
    system = make_system(system_name)
    more = ("s0.head.deps s0.lower", "s0.left1.left2.prefix2", "s1.right1-b0.between s0.feats", "s0.suffix4 b2.feats")
    move_templates = (*SHIPPED.moves, *more)
    move_set, label_set = FeatureSet(move_templates), FeatureSet(SHIPPED.labels, ends=("h", "d"))
    key_of: dict[object, int] = {}
    examples = treebank(4, 6)
    table, offsets = WordNumbers().table([example.words for example in examples])
    for example, offset in zip(examples, offsets, strict=True):
        move_set.use(table, offset)
        label_set.use(table, offset)
        state = system.start(len(example.words))
        while not system.is_final(state):
            move = random.choice(system.legal_moves(state))
            head, dependent = system.arc(state, move)
            for fast, twins in (
                (move_set.extract(state), slow_features(state, example.words, move_templates, -1, -1)),
                (
                    label_set.extract(state, head, dependent, move + 1),
                    [(move, twin) for twin in slow_features(state, example.words, SHIPPED.labels, head, dependent)],
                ),
            ):
                assert len(fast) == len(twins)
                for key, twin in zip(fast, twins, strict=True):
                    assert key_of.setdefault(twin, key) == key, twin
            system.apply(state, move, random.randrange(len(LABELS)))
    assert len(key_of) > 500
    assert len(set(key_of.values())) == len(key_of)  # different features have different keys


def test_shapes_of_words():
    assert [shape_of(form) for form in ("Tree", "USA", "x-1990", "")] == ["Xx", "X", "x-0", ""]
