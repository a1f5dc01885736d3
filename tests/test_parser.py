"""The parser on sentences of any kind: valid trees, nothing else touched, the same however the work is shared out."""

from __future__ import annotations

from io import BytesIO
from random import Random
from types import SimpleNamespace

import pytest

from exhaustive import COMPILED, over_variants
from tanglewood.errors import ArgumentError, ConfigError, ModelError
from tanglewood.learners.base import Capabilities
from tanglewood.measure.scores import evaluate
from tanglewood.ml import contexts
from tanglewood.options import OptionsByName, ParseOptions, chosen
from tanglewood.parser import Parser
from tanglewood.systems import SYSTEMS
from tanglewood.treebank import chunks
from tanglewood.treebank.conllu import write
from tanglewood.treebank.sentence import Sentence, comment_value
from toy import TAGS, sentences_of, toy_sentences, toy_text, train_parser

N_TRAIN = 100 if COMPILED else 40
EPOCHS = {"settings": {"epochs": 8 if COMPILED else 4}}
slow_if_interpreted = pytest.mark.slow if not COMPILED else lambda test: test

ODD = """\ufeff# newpar
# sent_id = odd
# text = du wug ☃
1-2\tdu\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No
1\tta\tta\tDET\tD\tDefinite=Def\t_\t_\t_\tA=1
2\twug\twug\tNOUN\tN\t_\t_\t_\t5:what|6:ever\t_
2.1\tzorps\tzorp\tVERB\tV\t_\t_\t_\t0:root\t_
3\t☃\t_\tSYM\t_\t_\t_\t_\t_\tTree=🌳|X=a b

# between, no sent_id
1\tzorps zorps\t_\t_\t_\t_\t_\t_\t_\t_

"""


@pytest.fixture(scope="module")
def learnt():
    return train_parser(toy_sentences(N_TRAIN), **EPOCHS)


@pytest.fixture(scope="module")
def pseudo_projective():
    choices = {"system": "arc-standard", "pseudo_projective": "head+path"}
    return train_parser(toy_sentences(N_TRAIN), **choices, **EPOCHS)


@pytest.fixture
def unseen():
    return toy_sentences(60, seed=9)


def texts(parser, sentences, **options):
    return [sentence.to_text() for sentence in parser.parse_all(sentences, **options)]


def long_sentence(n, seed=1):
    rng = Random(seed)
    forms = [rng.choice(list(TAGS)) for _ in range(n)]
    return Sentence.build([(str(i), form, form, *TAGS[form], "_", "_", "_", "_") for i, form in enumerate(forms, 1)])


def test_a_saved_parser_parses_as_before(learnt, pseudo_projective, unseen, tmp_path):
    for parser in (learnt, pseudo_projective):
        parser.save(tmp_path / "model.tw")
        loaded = Parser.load(tmp_path / "model.tw")
        assert texts(loaded, unseen) == texts(parser, unseen)
        assert texts(loaded, unseen, beam=4) == texts(parser, unseen, beam=4)
        assert loaded.description == parser.description
        loaded.save(tmp_path / "again.tw")
        assert (tmp_path / "again.tw").read_bytes() == (tmp_path / "model.tw").read_bytes()


@pytest.mark.parametrize("beam", [1, 4])
def test_threads_and_borders_of_chunks_change_nothing(learnt, unseen, monkeypatch, beam):
    unseen = unseen if COMPILED else unseen[:15]
    wanted = texts(learnt, unseen, beam=beam)
    for words in (1, 17, 100):
        monkeypatch.setattr(chunks, "CHUNK_WORDS", words)
        for threads in (1, 2, 3):
            assert texts(learnt, unseen, beam=beam, threads=threads) == wanted


def test_what_is_kept_of_words_may_be_forgotten_at_any_time(learnt, unseen, monkeypatch):
    wanted = texts(learnt, unseen)
    monkeypatch.setattr(chunks, "CHUNK_WORDS", 20)
    monkeypatch.setattr(contexts, "MOST_KEPT", 3)
    assert texts(learnt, unseen) == wanted


def test_long_words_are_forgotten_before_the_next_sentences(learnt, unseen, monkeypatch):
    wanted = texts(learnt, unseen)
    monkeypatch.setattr(chunks.in_chunks, "__kwdefaults__", {"most": 20})
    monkeypatch.setattr(contexts, "MOST_LETTERS", 100)
    forgotten = []
    forget = contexts.Contexts._forget
    monkeypatch.setattr(contexts.Contexts, "_forget", lambda self: (forgotten.append(1), forget(self))[1])
    assert texts(learnt, unseen) == wanted
    assert len(forgotten) > 1


def test_a_beam_gives_way_to_greedy_search_in_a_very_long_sentence(learnt, unseen, monkeypatch):
    monkeypatch.setattr("tanglewood.searches.MOST_BEAM_WORDS", 6)
    ways = ({"search": "beam", "beam": 4}, {"search": "greedy"})
    beam, greedy = (list(learnt.parse_all(unseen, **options)) for options in ways)
    monkeypatch.undo()
    whole = list(learnt.parse_all(unseen, search="beam", beam=4))
    assert any(len(sentence) > 6 for sentence in unseen)
    for sentence, one, all_of_it in zip(beam, greedy, whole, strict=True):
        long = len(sentence) > 6
        assert sentence.tree == (one if long else all_of_it).tree
        why = f"search = greedy instead of a beam of 4: {len(sentence)} words are beyond the limit"
        assert (why in sentence.comments) == long
    monkeypatch.setattr("tanglewood.searches.MOST_BEAM_WORDS", 6)
    best = list(learnt.parse_all(unseen, beam=4, nbest=2))  # which only a beam can find
    assert [s.tree for s in best if "nbest = 1" in s.comments] == [sentence.tree for sentence in whole]


def test_sentences_come_one_by_one_and_not_all_are_read_first(learnt, monkeypatch):
    monkeypatch.setattr(chunks.in_chunks, "__kwdefaults__", {"most": 10})
    for threads in (1, 2):
        read = []
        source = (read.append(1) or sentence for sentence in toy_sentences(200))
        next(iter(learnt.parse_all(source, threads=threads)))
        assert 0 < len(read) < 40


def test_an_error_in_the_input_comes_through_with_threads_too(learnt):
    def source():
        yield from toy_sentences(3)
        raise KeyError("broken")

    for threads in (1, 2):
        with pytest.raises(KeyError, match="broken"):
            list(learnt.parse_all(source(), threads=threads))


def test_nothing_to_parse_gives_nothing(learnt):
    assert list(learnt.parse_all([])) == list(learnt.parse_all([], threads=2)) == []


@pytest.mark.parametrize("options", [{"beam": 0}, {"threads": 0}, {"beam": -1}, {"nbest": 0}])
def test_a_beam_threads_or_nbest_below_1_are_refused(learnt, options):
    with pytest.raises(ConfigError, match="must be 1 or more"):
        list(learnt.parse_all(toy_sentences(1), **options))


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("columns", [(2,), (3, 4), (5,), (2, 3, 4, 5)], ids=["lemma", "tags", "feats", "all"])
def test_input_without_some_columns_is_parsed(learnt, columns, beam):
    for sentence in toy_sentences(5, seed=3):
        words = [tuple("_" if i in {*columns, 6, 7} else c for i, c in enumerate(row)) for row in sentence.words]
        assert len(learnt.parse(Sentence.build(words), beam=beam).roots()) == 1


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("forms", [["wug"], ["."], ["☃"], [".", ".", "."], ["???"] * 7, ["\u0301", "a" * 5000]])
def test_odd_sentences_get_trees_with_labels(learnt, pseudo_projective, forms, beam):
    sentence = Sentence.build([(str(i), form, *"________") for i, form in enumerate(forms, 1)])
    for parser in (learnt, pseudo_projective):
        tree = parser.parse(sentence, beam=beam)
        assert len(tree) == len(forms)
        assert len(tree.roots()) == 1
        assert tree.labels[tree.roots()[0]] == "root"
        assert tree.labels[1:].count("root") == 1
        assert all(tree.labels[1:])


@slow_if_interpreted
@pytest.mark.parametrize("n", [2000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_very_long_sentence_gets_a_tree(learnt, n):
    tree = learnt.parse(long_sentence(n))
    assert len(tree) == n
    assert len(tree.roots()) == 1


@slow_if_interpreted
@pytest.mark.parametrize("name", ["swap", "arc-eager", "two-planar"])
def test_a_long_sentence_gets_a_tree_from_a_beam(name):
    parser = train_parser(toy_sentences(10), system=name)
    assert len(parser.parse(long_sentence(300), beam=4)) == 300


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("threads", [1, 2])
def test_all_but_head_and_deprel_stays_byte_for_byte(learnt, end, threads):
    text = (ODD + toy_text(3) + "\n\n" + toy_text(1)[:-1]).replace("\n", end).encode()
    out = BytesIO()
    write(learnt.parse_all(sentences_of(text, trees=False), threads=threads), out)
    before, after = text.split(b"\n"), out.getvalue().split(b"\n")
    assert len(before) == len(after)
    filled = 0
    for old, new in zip(before, after, strict=True):
        if old[:1].isdigit() and old.split(b"\t")[0].isdigit():
            columns = new.split(b"\t")
            assert columns[6].isdigit()
            assert columns[7] != b"_"
            assert [*columns[:6], *columns[8:]] == [*old.split(b"\t")[:6], *old.split(b"\t")[8:]]
            filled += 1
        else:
            assert new == old
    assert filled > 20
    sentences_of(out.getvalue())  # all of them trees


def test_heads_in_the_input_do_not_matter(learnt, unseen):
    bare = [
        Sentence.build([(*row[:6], "_", "_", *row[8:]) for row in sentence.words], sentence.comments)
        for sentence in unseen
    ]
    assert texts(learnt, bare) == texts(learnt, unseen)


def test_the_parser_does_not_change_the_sentences_it_is_given(learnt, unseen):
    before = [(sentence.to_text(), list(sentence.words)) for sentence in unseen]
    list(learnt.parse_all(unseen))
    assert [(sentence.to_text(), list(sentence.words)) for sentence in unseen] == before


@pytest.mark.parametrize(("search", "beam"), [("greedy", 1), ("beam", 4), ("vote", 1), ("vote", 4)])
def test_no_decorated_label_leaks_and_arcs_cross_again(pseudo_projective, unseen, search, beam):
    known = {label for sentence in toy_sentences(N_TRAIN) for label in sentence.deprels}
    assert pseudo_projective.scheme is not None
    assert any(pseudo_projective.scheme.clashes(pseudo_projective.model.actions.labels))
    parsed = list(pseudo_projective.parse_all(unseen, search=search, beam=beam))
    assert {label for sentence in parsed for label in sentence.deprels} <= known
    # Interpreted, so little is learnt that only greedy search is sure to find a crossing arc.
    assert (search != "greedy" and not COMPILED) or any(not sentence.tree.is_projective() for sentence in parsed)
    for n in (1, 2, 30):
        assert set(pseudo_projective.parse(long_sentence(n), search=search, beam=beam).labels[1:]) <= known


@pytest.mark.parametrize("single_root", [True, False, None])
@pytest.mark.parametrize("name", SYSTEMS)
def test_every_system_trains_and_parses_to_valid_trees(name, single_root, unseen):
    n = 30 if COMPILED else 5
    train = toy_sentences(n)
    parser = train_parser(train, system=name, single_root=single_root, settings={"epochs": 1})
    assert parser.description["single_root"] is (single_root is not False)
    for beam in (1, 3):
        for sentence in parser.parse_all([*unseen[:n], long_sentence(25)], beam=beam):
            tree = sentence.tree  # raises if it is none
            assert single_root is False or len(tree.roots()) == 1


@over_variants
def test_every_variant_comes_back_from_its_file_with_its_options(name, options, unseen, tmp_path):
    parser = train_parser(toy_sentences(5), system=name, options=options, settings={"epochs": 1})
    parser.save(tmp_path / "model.tw")
    loaded = Parser.load(tmp_path / "model.tw")
    assert [m.name for m in loaded.model.actions.system.moves] == [m.name for m in parser.model.actions.system.moves]
    assert texts(loaded, unseen[:5]) == texts(parser, unseen[:5])


def test_a_model_of_one_word_sentences_parses_longer_ones(unseen):
    train = sentences_of("1\twug\twug\tNOUN\tN\t_\t0\troot\t_\t_\n\n" * 4)
    parser = train_parser(train, settings={"epochs": 1})
    for beam in (1, 4):
        for sentence in parser.parse_all(unseen[:5], beam=beam):
            assert len(sentence.tree.roots()) == 1


@slow_if_interpreted
def test_several_labels_from_0_and_several_roots_are_learnt():
    text = "1\twug\twug\tNOUN\tN\t_\t0\ttop\t_\t_\n2\tdax\tdax\tNOUN\tN\t_\t0\tother\t_\t_\n\n" * 40
    parser = train_parser(sentences_of(text), settings={"epochs": 5, "drop_hidden": 0.1})
    assert parser.model.actions.root_label == -1
    assert parser.description["single_root"] is False
    assert evaluate(sentences_of(text), parser.parse_all(sentences_of(text))).las == 100


# The beam's other answers. ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unsure():
    """A parser that has hardly learnt anything, so that the beam holds different trees."""
    return train_parser(toy_sentences(10))


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["swap", "covington", "two-planar"])
def test_nbest_gives_different_trees_best_first_with_their_scores(unseen, name, threads):
    unsure = train_parser(toy_sentences(10), system=name)
    unseen = unseen[:10]
    found: dict[str, list[Sentence]] = {}
    for sentence in unsure.parse_all(unseen, beam=8, nbest=4, threads=threads):
        found.setdefault(sentence.sent_id, []).append(sentence)
    assert list(found) == [sentence.sent_id for sentence in unseen]
    # Two planes have so many derivations of the same tree that a beam of 8 may hold one tree only.
    assert name == "two-planar" or any(len(ranked) > 1 for ranked in found.values())
    best = {sentence.sent_id: sentence for sentence in unsure.parse_all(unseen, search="beam", beam=8)}
    for name, ranked in found.items():
        assert 1 <= len(ranked) <= 4
        assert [comment_value(s.lines, "nbest") for s in ranked] == [str(i + 1) for i in range(len(ranked))]
        scores = [float(comment_value(s.lines, "log_probability")) for s in ranked]
        assert scores == sorted(scores, reverse=True)
        assert ranked[0].tree == best[name].tree
        assert len({str(s.words) for s in ranked}) == len(ranked), "the same tree twice"
        assert all(len(s.tree.roots()) == 1 for s in ranked)


def test_confidence_is_a_share_and_leaves_the_rest_of_misc_alone(unsure, learnt, unseen):
    unseen = unseen[:10] + sentences_of(ODD, trees=False)
    means = []
    for parser in (unsure, learnt):
        values = []
        plain = list(parser.parse_all(unseen, beam=8))
        for sentence, without in zip(parser.parse_all(unseen, beam=8, confidence=True), plain, strict=True):
            assert sentence.tree == without.tree
            for misc, old in zip(sentence.misc, without.misc, strict=True):
                *rest, value = misc.split("|")
                assert value.startswith("Confidence=")
                assert "|".join(rest) == old.removeprefix("_")
                values.append(float(value.removeprefix("Confidence=")))
        assert all(0 < value <= 1 for value in values)
        means.append(sum(values) / len(values))
    assert not COMPILED or means[0] < means[1]


@pytest.mark.parametrize(
    "options", [{"beam": 1, "nbest": 2}, {"beam": 3, "nbest": 4}, {"beam": 1, "search": "rescore"}]
)
def test_nbest_and_rescoring_need_a_beam(learnt, options):
    with pytest.raises(ConfigError, match="come from the beam"):
        list(learnt.parse_all(toy_sentences(1), **options))


def test_nbest_as_data_is_what_is_written(unsure, unseen):
    some = 0
    for sentence in unseen[:10]:
        worker = unsure.worker(ParseOptions(nbest=4))
        found = worker.nbest(sentence)
        written = list(unsure.parse_all([sentence], nbest=4))
        assert [tree for tree, _ in found] == [s.tree for s in written]
        assert [f"{score:.4f}" for _, score in found] == [comment_value(s.lines, "log_probability") for s in written]
        some += len(found) > 1
    assert some


# How wide the beam is. --------------------------------------------------------------------------------------------


class FakeModel:
    """Says of itself what decides about the beam."""

    def __init__(self, **capabilities):
        self.capabilities = Capabilities(**({"scores_moves": True} | capabilities))
        self.actions = SimpleNamespace(tags=())


BOTH = {"scores_arcs": True}


@pytest.mark.parametrize(
    ("model", "predicted", "options", "width"),
    [
        ({}, False, {}, 1),
        ({}, True, {}, 8),
        ({}, True, {"beam": 1}, 1),
        ({}, True, {"search": "greedy"}, 1),
        ({}, False, {"beam": 3}, 3),
        ({}, False, {"search": "beam"}, 8),
        ({}, False, {"confidence": True}, 8),
        ({}, False, {"nbest": 2}, 8),
        ({}, True, {"nbest": 20}, 20),
        ({}, False, {"nbest": 2, "beam": 2}, 2),
        ({"learnt_beam": 4}, False, {}, 4),
        ({"learnt_beam": 4}, True, {}, 8),
        ({"learnt_beam": 16}, True, {}, 16),
        ({"learnt_beam": 16}, False, {"nbest": 2}, 16),
        ({"learnt_beam": 4}, False, {"beam": 1}, 1),
        ({"learnt_beam": 4}, False, {"search": "greedy"}, 1),
        ({"beam": False}, False, {}, 1),
        ({"beam": False}, True, {}, 1),
        ({}, False, {"accurate": True}, 8),
        ({"beam": False}, False, {"accurate": True}, 1),
        (BOTH, False, {}, 1),
        (BOTH, True, {}, 1),
        (BOTH, False, {"accurate": True}, 8),
        (BOTH, False, {"confidence": True}, 1),
        (BOTH, False, {"nbest": 3}, 8),
        (BOTH, False, {"search": "rescore"}, 8),
        (BOTH, False, {"search": "beam"}, 8),
        (BOTH, False, {"search": "mst", "accurate": True}, 1),
    ],
)
def test_the_width_of_the_beam_is_decided_by_options_model_and_tags(model, predicted, options, width):
    parser = Parser(FakeModel(**model), {"search": ""})
    found = parser.resolved(ParseOptions(**options), predicted_tags=predicted)
    assert found.beam == width
    assert parser.resolved(found, predicted_tags=not predicted) == found  # decided once and for all


def test_a_graph_based_model_has_no_beam():
    parser = Parser(FakeModel(scores_moves=False, scores_arcs=True), {"search": "mst"})
    assert parser.resolved(ParseOptions(confidence=True), predicted_tags=True) == ParseOptions(confidence=True)
    for options in ({"beam": 2}, {"nbest": 2}, {"search": "beam"}):
        with pytest.raises(ConfigError):
            parser.resolved(ParseOptions(**options))


@pytest.mark.parametrize("options", [{"beam": 2}, {"nbest": 2}, {"confidence": True}, {"search": "beam"}])
def test_a_model_without_probabilities_refuses_a_beam(options):
    with pytest.raises(ConfigError, match="only greedy search"):
        Parser(FakeModel(beam=False), {"search": ""}).resolved(ParseOptions(**options))


def test_options_may_be_given_by_name_and_wrong_ones_are_named():
    assert set(OptionsByName.__annotations__) == set(ParseOptions.__slots__)
    assert chosen(None, {}) == ParseOptions()
    assert chosen(ParseOptions(beam=3), {"nbest": 2}) == ParseOptions(beam=3, nbest=2)
    for bad, message in (
        ({"beem": 3}, "no option 'beem'; the options are search, beam, "),
        ({"beam": "3"}, "beam='3': the option should be of type int"),
        ({"beam": True}, "beam=True: the option should be of type int"),
        ({"confidence": 1}, "confidence=1: the option should be of type bool"),
        ({"search": None}, "search=None: the option should be of type str"),
    ):
        with pytest.raises(ArgumentError, match=message):
            chosen(None, bad)
    with pytest.raises(ArgumentError, match=r"options should be ParseOptions\(...\), not \{'beam': 3\}"):
        chosen({"beam": 3}, {})


# Models that do not fit. ------------------------------------------------------------------------------------------


def broken(parser, path, change):
    """Save the parser with a wrong array or setting, in a file whose checksum is right."""
    arrays = dict(parser.model.arrays())
    settings = parser.model.settings()
    change(arrays, settings)
    model = type(
        "Broken", (), {"arrays": lambda _: arrays, "settings": lambda _: settings, "actions": parser.model.actions}
    )
    Parser(model(), parser.description, parser.scheme).save(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, settings: arrays.pop("move.weight"),
        lambda arrays, settings: arrays.update({"move.weight": arrays["move.weight"][:-1]}),
        lambda arrays, settings: arrays.update({"hidden.labels": arrays["hidden.labels"][:, :-3].copy()}),
        lambda arrays, settings: arrays.update({"label.bias": arrays["label.bias"][0]}),
        lambda arrays, settings: arrays.update({"hidden.slots": arrays["hidden.slots"].astype("d")}),
        lambda arrays, settings: arrays.update({"embed.lower": arrays["embed.lower"][:3]}),
        lambda arrays, settings: settings["vocabulary"].pop("lower"),
        lambda arrays, settings: settings["vocabulary"]["lower"].extend(["more", "words"]),
    ],
    ids=["missing", "short", "labels", "flat", "doubles", "embeddings", "field", "vocabulary"],
)
def test_a_model_whose_parts_do_not_fit_is_refused_when_loaded(learnt, tmp_path, change):
    broken(learnt, tmp_path / "model.tw", change)
    with pytest.raises(ModelError, match=r"model\.tw"):
        Parser.load(tmp_path / "model.tw")
