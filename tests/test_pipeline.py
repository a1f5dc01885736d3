"""From text, words or sentences to trees: what a pipeline writes, and that it is the same however it is asked."""

from __future__ import annotations

import io
from io import BytesIO, StringIO
from itertools import cycle, islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from udtools import udeval

import tanglewood as tw
from exhaustive import COMPILED
from tanglewood import pipeline as pipeline_module
from tanglewood.errors import ArgumentError, ConfigError, FormatError, ModelError
from tanglewood.options import ParseOptions
from tanglewood.packages.installed import bundled_model
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.text import batches
from tanglewood.text.raw import gold_text
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.treebank import chunks
from tanglewood.treebank.conllu import read
from tanglewood.treebank.doc import Doc
from tanglewood.treebank.sentence import MISC, comment_value
from toy import sentences_of, toy_sentences
from toy_pipeline import TEXT, TEXTS, blocks, written


def surface(sentence):
    """The tokens of a sentence: what stands in the second column, and MISC."""
    rows = [line.split("\t") for line in sentence.lines if line[:1].isdigit()]
    inside = {n for row in rows if "-" in row[0] for n in range(*(int(x) for x in row[0].split("-")))}
    inside |= {int(row[0].split("-")[1]) for row in rows if "-" in row[0]}
    return [(row[1], row[MISC]) for row in rows if "-" in row[0] or int(row[0]) not in inside]


def test_every_token_says_where_it_stands_and_no_character_is_lost(pipeline):
    end = 0
    for number, sentence in enumerate(pipeline(TEXT), 1):
        assert sentence.sent_id == str(number)
        joined = ""
        for form, misc in surface(sentence):
            values = dict(part.split("=") for part in misc.split("|"))
            start, stop = map(int, values["TokenRange"].split(":"))
            assert TEXT[start:stop] == form
            assert not TEXT[end:start].strip()
            assert ("SpaceAfter" in values) == bool(TEXT[stop : stop + 1].strip())
            joined += form + ("" if "SpaceAfter" in values else " ")
            end = stop
        assert sentence.text == joined.strip()
        assert sentence.tree is not None
    assert end == len(TEXT)


def test_multiword_tokens_are_split_into_their_words(pipeline):
    first, *_ = pipeline(TEXT)
    assert first.forms[:2] == ["Ta", "wug"]
    assert surface(first)[0][0] == "Tawug"
    assert first.to_dict()["multiword"] == [{"first": 1, "last": 2, "form": "Tawug", "start": 0, "end": 5}]


def test_what_is_learnt_is_right(pipeline):
    gold = written(20, 7)
    found = pipeline(gold_text(gold).text)
    assert [s.forms for s in found] == [s.forms for s in gold]
    words = [(a, b) for s, t in zip(found, gold, strict=True) for a, b in zip(s.upos, t.upos, strict=True)]
    assert sum(a == b for a, b in words) > 0.9 * len(words)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"ab. \n'é", "Tawug ", "zorps. ", "\n\n", "\r\n", "\u2028", "\x0b", "\x00"])))
def test_any_text_becomes_valid_sentences_however_it_is_cut(pipeline, pieces):
    whole = [s.to_bytes() for s in pipeline.parse_stream(pieces)]
    assert [s.to_bytes() for s in pipeline("".join(pieces))] == whole
    again = list(read(BytesIO(b"".join(whole))))
    assert [s.to_bytes() for s in again] == whole


def test_tagged_text_has_no_trees_yet(pipeline):
    for tagged, parsed in zip(pipeline.tag_text(TEXT), pipeline(TEXT), strict=True):
        assert tagged.with_tree(parsed.tree).to_bytes() == parsed.to_bytes()


def test_a_pipeline_comes_back_from_its_file_as_it_was(pipeline, model, tmp_path):
    again = Pipeline.load(model)
    assert [s.to_bytes() for s in again(TEXT)] == [s.to_bytes() for s in pipeline(TEXT)]
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == model.read_bytes()


def test_the_parser_of_a_pipeline_may_be_used_alone(pipeline, model):
    tagged = list(pipeline.tag_text(TEXT))
    assert [Parser.load(model).parse(s) for s in tagged] == [s.tree for s in pipeline(TEXT)]


# Docs. ------------------------------------------------------------------------------------------------------------


def test_a_doc_is_the_text_and_its_sentences(pipeline):
    doc = pipeline(TEXT)
    assert isinstance(doc, Doc)
    assert doc.text == TEXT
    assert blocks(doc) == blocks(pipeline.parse_stream([TEXT]))
    assert (pipeline("").text, pipeline("").sentences) == ("", [])
    assert pipeline(" \n\n ").sentences == []


@pytest.mark.parametrize("words", [1, 20, 2500])
@pytest.mark.parametrize("letters", [1, 60, 1 << 14])
def test_many_texts_give_what_each_gives_alone(pipeline, monkeypatch, words, letters):
    wanted = [blocks(pipeline(text)) for text in TEXTS]
    monkeypatch.setattr(chunks, "CHUNK_WORDS", words)
    monkeypatch.setattr(batches, "MOST_LETTERS", letters)
    docs = list(pipeline.pipe(TEXTS))
    assert [doc.text for doc in docs] == TEXTS
    assert [blocks(doc) for doc in docs] == wanted


def test_processes_give_the_same_docs_in_order(pipeline, model, monkeypatch):
    monkeypatch.setattr(batches, "MOST_LETTERS", 100)
    texts = list(islice(cycle(TEXTS), 30))
    wanted = [(doc.text, blocks(doc)) for doc in pipeline.pipe(texts)]
    for nlp in (pipeline, tw.load(model)):  # one travels as bytes, one as a path
        assert [(doc.text, blocks(doc)) for doc in nlp.pipe(iter(texts), processes=2)] == wanted
    assert list(pipeline.pipe([], processes=2)) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_texts_may_come_with_contexts(pipeline, processes):
    contexts = [object() for _ in TEXTS]  # they do not travel
    pairs = list(pipeline.pipe(zip(TEXTS, contexts, strict=True), as_tuples=True, processes=processes))
    assert [context for _, context in pairs] == contexts
    assert [doc.text for doc, _ in pairs] == TEXTS


@pytest.mark.parametrize("processes", [1, 2])
def test_texts_are_read_as_they_are_needed(pipeline, monkeypatch, processes):
    monkeypatch.setattr(batches, "MOST_TEXTS", 3)
    read_ = []

    def endless():
        for number in cycle("123"):
            read_.append(number)
            yield "Dax."

    docs = pipeline.pipe(endless(), processes=processes)
    for _ in range(4):
        next(docs)
    assert len(read_) <= 3 * (2 * processes + 2)
    docs.close()


def test_short_texts_are_encoded_together(pipeline, monkeypatch):
    calls = []
    plain = pipeline_module.Worker.parse
    monkeypatch.setattr(pipeline_module.Worker, "parse", lambda self, batch: calls.append(1) or plain(self, batch))
    assert len(list(pipeline.pipe(["Dax zorps."] * 100))) == 100
    assert len(calls) == 1


def test_options_may_be_given_by_name_or_together(pipeline):
    plain = pipeline(TEXT, beam=1)
    assert blocks(pipeline(TEXT, options=ParseOptions(beam=1))) == blocks(plain)
    assert [s.tree for s in pipeline(TEXT, options=ParseOptions(beam=4), beam=1)] == [s.tree for s in plain]
    (doc,) = pipeline.pipe([TEXT], confidence=True)
    assert all("Confidence=" in misc for s in doc for misc in s.misc)
    assert blocks(doc) == blocks(pipeline(TEXT, confidence=True))


# Sentences and words. ---------------------------------------------------------------------------------------------


@pytest.fixture
def tagged(pipeline):
    return list(pipeline.tag_text(TEXT))


def test_tagged_sentences_come_from_anywhere(pipeline, tagged, tmp_path):
    wanted = blocks(pipeline(TEXT))
    path = tmp_path / "tagged sentences.conllu"
    path.write_bytes(b"".join(blocks(tagged)))
    with path.open("rb") as file:
        for source in (
            path,
            str(path),
            file,
            tagged,
            iter(tagged),
            Doc(TEXT, tagged),
            [path],
            BytesIO(path.read_bytes()),
        ):
            assert blocks(pipeline.parse(source)) == wanted
    assert blocks(pipeline.parse(tagged, processes=2)) == wanted
    assert list(pipeline.parse([])) == []


def test_only_heads_and_labels_change(pipeline, tagged):
    for before, after in zip(tagged, pipeline.parse(tagged), strict=True):
        assert before.with_tree(after.tree).to_bytes() == after.to_bytes()


def test_moves_and_arcs_vote_with_and_without_a_tagger(pipeline, bare, tagged):
    assert blocks(bare.parse(tagged)) == blocks(pipeline.parse(tagged))
    for nlp in (bare, pipeline):
        assert (nlp.resolved().search, nlp.resolved().beam) == ("vote", 1)
        assert (nlp.resolved(accurate=True).search, nlp.resolved(accurate=True).beam) == ("vote", 8)


def test_tags_are_filled_in_if_asked_for(pipeline, tagged):
    empty = [s.with_columns(*[["_"] * len(s)] * 4) for s in tagged]
    assert blocks(pipeline.parse(empty, tag=True)) == blocks(pipeline(TEXT))
    assert {u for s in pipeline.parse(empty) for u in s.upos} == {"_"}


def test_words_that_are_split_get_tags_and_trees(pipeline, tagged):
    words = [s.forms for s in tagged]
    found = list(pipeline.parse_words(words))
    assert [s.forms for s in found] == words
    for one, other in zip(found, pipeline(TEXT), strict=True):
        assert (one.upos, one.lemmas, one.feats, one.tree) == (other.upos, other.lemmas, other.feats, other.tree)
        assert set(one.misc) == {"_"}
    assert [s.sent_id for s in found] == [str(n) for n in range(1, len(words) + 1)]
    assert found[0].text == " ".join(words[0])
    assert blocks(pipeline.parse_words(map(iter, words), processes=2)) == blocks(found)
    assert blocks(sentences_of(b"".join(blocks(found)))) == blocks(found)


def test_words_are_numbered_through_all_chunks(pipeline, monkeypatch):
    monkeypatch.setattr(chunks, "CHUNK_WORDS", 3)
    found = pipeline.parse_words([["Dax", "zorps"]] * 7)
    assert [s.sent_id for s in found] == [str(n) for n in range(1, 8)]


def test_nbest_trees_are_data(pipeline, tagged):
    several = 0
    for sentence in tagged:
        found = pipeline.nbest(sentence, 3)
        written_ = list(pipeline.parse([sentence], nbest=3))
        assert [tree for tree, _ in found] == [s.tree for s in written_]
        scores = [score for _, score in found]
        assert [f"{score:.4f}" for score in scores] == [comment_value(s.lines, "log_probability") for s in written_]
        assert scores == sorted(scores, reverse=True)
        # the last digits of scores depend on what else was in a batch, unless they are to be the same everywhere
        same = [pipeline.nbest(sentence, k, reproducible=True) for k in (1, 3)]
        assert same[0] == same[1][:1]
        several += len(found) > 1
    assert several


# What is refused. -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda nlp: nlp(None), r"one text, a str, not None \(NoneType\)$"),
        (lambda nlp: nlp(b"Dax."), r"one text, a str, not b'Dax.' \(bytes\)$"),
        (lambda nlp: nlp(["Dax."]), r"one text, a str, not \['Dax.'\] \(list\); nlp.pipe\(texts\) takes many"),
        (lambda nlp: nlp.pipe("Dax."), r"an iterable of texts, not 'Dax.' \(str\); nlp\(text\) takes one"),
        (lambda nlp: nlp.pipe(None), "an iterable of texts, not None"),
        (lambda nlp: list(nlp.pipe(["Dax.", None])), r"text 2 should be a str, not None \(NoneType\)"),
        (lambda nlp: list(nlp.pipe([("Dax.", 1)])), r"text 1 should be a str.*as_tuples=True"),
        (lambda nlp: list(nlp.pipe(["Dax."], as_tuples=True)), r"item 1 should be a pair \(text, context\), not"),
        (lambda nlp: list(nlp.pipe([(1, 2)], as_tuples=True)), "text 1 should be a str, not 1"),
        (lambda nlp: nlp.parse("Dax zorps."), r"no file 'Dax zorps.' \(str\); raw text is parsed by nlp\(text\)"),
        (lambda nlp: nlp.parse("Dax zorps. " * 999), "no file"),
        (lambda nlp: nlp.parse(None), "a path, an open binary file, or an iterable of sentences"),
        (lambda nlp: nlp.parse(toy_sentences(1)[0]), r"one sentence was given.*several are expected; \[sentence\]"),
        (lambda nlp: nlp.parse(io.StringIO("x")), "binary mode"),
        (lambda nlp: list(nlp.parse([["You", "do"]])), r"\['You', 'do'\] \(list\) was given among the sentences"),
        (lambda nlp: nlp.parse_words("You do"), r"lists of words, as in \[\[\"You\", \"do\"\], .*, not 'You do'"),
        (lambda nlp: list(nlp.parse_words(["You", "do"])), r"sentence 1 should be a list of words, as in \[\[.*'You'"),
        (lambda nlp: list(nlp.parse_words([["You"], [1]])), "sentence 2: each word should be a str, .*not 1"),
        (lambda nlp: nlp.tag_text(None), "one text, a str, not None"),
        (lambda nlp: nlp.parse_stream("Dax."), r"parts of a text, not 'Dax.' \(str\); nlp\(text\) takes it whole"),
        (lambda nlp: nlp.nbest("Dax zorps.", 2), "one Sentence, such as"),
        (lambda nlp: nlp.nbest(toy_sentences(1)[0], "2"), "nbest='2'"),
        (lambda nlp: nlp("Dax.", beem=3), "no option 'beem'; the options are search, beam"),
        (lambda nlp: nlp("Dax.", options=3), r"options should be ParseOptions\(...\), not 3"),
        (lambda nlp: nlp.pipe(["Dax."], processes="2"), "processes='2'"),
    ],
)  # fmt: skip
def test_what_is_of_the_wrong_type_is_refused_at_once_with_what_is_right(pipeline, call, message):
    with pytest.raises(ArgumentError, match=message):
        call(pipeline)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda nlp: nlp("Dax.", nbest=2), ConfigError, r"one tree a sentence; nlp.nbest\(sentence, k\)"),
        (lambda nlp: nlp("Dax.", beam=0), ConfigError, "1 or more"),
        (lambda nlp: nlp.pipe(["Dax."], search="lite"), ConfigError, "no lite search for swap"),
        (lambda nlp: nlp.parse([], processes=0), ConfigError, "processes must be 1 or more"),
        (lambda nlp: nlp.nbest(toy_sentences(1)[0], 0), ConfigError, "1 or more"),
        (lambda nlp: nlp.nbest(toy_sentences(1)[0], 1, beam=1), ConfigError, "come from the beam"),
        (lambda nlp: list(nlp.parse("nosuchfile")), FileNotFoundError, "nosuchfile"),
        (lambda nlp: list(nlp.parse_words([["a"], []])), FormatError, "sentence 2 has no words"),
        (lambda nlp: list(nlp.parse_words([["a\tb"]])), FormatError, "sentence 1: a word should be a text without tab"),
        (lambda nlp: list(nlp.parse_words([[" "]])), FormatError, "sentence 1: a word should be"),
        (lambda nlp: list(nlp.parse(BytesIO(b"1\ttwo columns\n\n"))), FormatError, "2 columns"),
        (lambda nlp: nlp.parse_all([]), AttributeError, r"no attribute 'parse_all'; nlp.parse\(sentences\)"),
        (lambda nlp: nlp.model, AttributeError, "no attribute 'model'; its parser has: nlp.parser.model"),
        (lambda nlp: nlp.oak, AttributeError, "no attribute 'oak'$"),
        (lambda nlp: nlp.parse_text("Dax."), AttributeError, r"no attribute 'parse_text'; nlp\(text\) returns a Doc"),
    ],
)
def test_what_cannot_be_done_says_why(pipeline, call, error, message):
    with pytest.raises(error, match=message):
        call(pipeline)


@pytest.mark.parametrize(
    "call",
    [
        lambda nlp: nlp("Dax."),
        lambda nlp: nlp.pipe(["Dax."]),
        lambda nlp: nlp.parse_words([["Dax"]]),
        lambda nlp: nlp.parse(toy_sentences(1), tag=True),
        lambda nlp: nlp.worker(tag=True),
        lambda nlp: nlp.pieces(["Dax."]),
    ],
)
def test_a_model_of_tagged_words_says_what_it_lacks(bare, call):
    with pytest.raises(ModelError, match=r"bare\.tw: the model has a parser only.*train --pipeline"):
        call(bare)
    assert (bare.tagger, bare.tokenizer) == (None, None)


def test_a_graph_based_model_has_no_nbest_trees():
    *_, last = Training(Config(search="mst", settings={"epochs": 1}), toy_sentences(5)).run()
    nlp = Pipeline(last.parser)
    assert len(list(nlp.parse(toy_sentences(2), confidence=True))) == 2
    for k in (1, 2):
        with pytest.raises(ConfigError):
            nlp.nbest(toy_sentences(1)[0], k)


def test_a_tokenizer_needs_a_tagger(pipeline):
    with pytest.raises(ConfigError, match="a tagger with it"):
        Pipeline(pipeline.parser, None, pipeline.tokenizer)
    only_words = Pipeline(pipeline.parser, pipeline.tagger)
    assert blocks(only_words.parse_words([["Dax", "."]])) == blocks(pipeline.parse_words([["Dax", "."]]))


def test_it_says_what_it_is(pipeline, bare):
    assert repr(pipeline) == "<Pipeline for text: swap, network learner>"
    assert repr(bare) == "<Pipeline for tagged words: swap, network learner>"
    assert pipeline.description is pipeline.parser.description
    with pytest.raises(AttributeError):
        pipeline.parser = bare.parser


# The bundled model. -----------------------------------------------------------------------------------------------


def test_the_bundled_model_parses_english():
    english = tw.load()
    assert bundled_model().stat().st_size <= 30_000_000
    (sentence,) = english("A hearing is scheduled on the issue today .")
    assert sentence.upos == ["DET", "NOUN", "AUX", "VERB", "ADP", "DET", "NOUN", "NOUN", "PUNCT"]
    heads = list(sentence.tree.heads)[1:]
    assert heads[:4] == [2, 4, 4, 0]
    one, two = english("I don't know. She said it's John's book.")
    assert one.forms == ["I", "do", "n't", "know", "."]
    assert two.forms == ["She", "said", "it", "'s", "John", "'s", "book", "."]


def test_the_licence_of_the_bundled_model_lies_beside_it():
    text = (bundled_model().parent / "LICENSE-english-ewt.txt").read_text()
    assert "CC BY-SA 4.0" in text
    assert "English Web Treebank" in text


@pytest.mark.skipif(not COMPILED, reason="25,000 words")
def test_the_bundled_model_reaches_its_figures_by_the_official_evaluation(shared):
    gold = shared / "treebanks" / "English-EWT" / "test.conllu"
    text = gold_text(read(gold)).text
    found = "".join(sentence.to_text() for sentence in tw.load()(text))
    with gold.open(encoding="utf-8") as one:
        scores = udeval.evaluate(udeval.load_conllu(one, "gold", {}), udeval.load_conllu(StringIO(found), "found", {}))
    least = {"Tokens": 98.5, "Sentences": 80, "UPOS": 94, "LAS": 82}
    assert {name: 100 * scores[name].f1 >= figure for name, figure in least.items()} == dict.fromkeys(least, True)
