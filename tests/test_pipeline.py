"""From text to trees: what a pipeline writes, that it is the same however the text comes, and how it is trained."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from io import BytesIO, StringIO
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from udtools import udeval

from exhaustive import COMPILED
from tanglewood.cli import main
from tanglewood.errors import FormatError, ModelError
from tanglewood.parser import ParseOptions, Parser
from tanglewood.pipeline import Pipeline, bundled_model, with_tags
from tanglewood.run.corpus import BatchParser, parse_batches
from tanglewood.text import tagger
from tanglewood.text.raw import gold_text
from tanglewood.text.reading import Seen, is_treebank, read_text
from tanglewood.text.tagger import TaggerOptions, Tags
from tanglewood.text.tokenizer import Tokenizer
from tanglewood.training import pipeline as learning
from tanglewood.training.pipeline import prepare
from tanglewood.treebank.conllu import read
from tanglewood.treebank.sentence import MISC
from toy import TAGS, clause, sentences_of, small_network, toy_sentences, train_parser

OPTIONS = TaggerOptions(epochs=10, layers=1, batch_words=30, rate=0.02)
N_TRAIN = 60 if COMPILED else 25


def written(n, seed):
    """Toy sentences as they are written: a capital first, no space before the dot, ta and wug as one token."""
    rng = Random(seed)
    blocks = []
    for number in range(n):
        rows = clause(rng)
        lines = [f"# sent_id = {number}"] if number % 5 else ["# newpar", f"# sent_id = {number}"]
        for place, (form, lemma, head, label) in enumerate(rows, 1):
            after = "SpaceAfter=No" if place == len(rows) - 1 else "_"
            if form == "ta" and rows[place][0] == "wug":  # ta wug is written tawug
                glued = "SpaceAfter=No" if place + 1 == len(rows) - 1 else "_"
                lines.append(f"{place}-{place + 1}\t{'Tawug' if place == 1 else 'tawug'}" + "\t_" * 7 + f"\t{glued}")
            shown = form.capitalize() if place == 1 else form
            lines.append("\t".join([str(place), shown, lemma, *TAGS[form], str(head), label, "_", after]))
        blocks.append("\n".join(lines) + "\n\n")
    return sentences_of("".join(blocks))


@pytest.fixture(scope="module")
def pipeline():
    with pytest.MonkeyPatch.context() as patch:
        small_network(patch)
        patch.setattr(tagger, "SIZES", (16, 8))
        found = prepare(written(N_TRAIN, 1), written(10, 2), folds=2, options=OPTIONS)
        return Pipeline(train_parser(found.train), found.tagger, found.tokenizer)


@pytest.fixture(scope="module")
def model(pipeline, tmp_path_factory):
    path = tmp_path_factory.mktemp("pipeline") / "toy.tw"
    pipeline.save(path)
    return path


TEXT = "Tawug zorps mib dax. Dax fimps krell.\n\nWug   blick zorps\ngrubben vonly. <odd> & \u00e9!"


def surface(sentence):
    """The tokens of a sentence: what stands in the second column, and MISC."""
    rows = [line.split("\t") for line in sentence.lines if line[:1].isdigit()]
    inside = {n for row in rows if "-" in row[0] for n in range(*(int(x) for x in row[0].split("-")))}
    inside |= {int(row[0].split("-")[1]) for row in rows if "-" in row[0]}
    return [(row[1], row[MISC]) for row in rows if "-" in row[0] or int(row[0]) not in inside]


def test_every_token_says_where_it_stands_and_no_character_is_lost(pipeline):
    end = 0
    for number, sentence in enumerate(pipeline.parse_text(TEXT), 1):
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
    first, *_ = pipeline.parse_text(TEXT)
    assert first.forms[:2] == ["Ta", "wug"]
    assert surface(first)[0][0] == "Tawug"
    assert first.to_dict()["multiword"] == [{"first": 1, "last": 2, "form": "Tawug", "start": 0, "end": 5}]


def test_what_is_learnt_is_right(pipeline):
    gold = written(20, 7)
    found = pipeline.parse_text(gold_text(gold).text)
    assert [s.forms for s in found] == [s.forms for s in gold]
    words = [(a, b) for s, t in zip(found, gold, strict=True) for a, b in zip(s.upos, t.upos, strict=True)]
    assert sum(a == b for a, b in words) > 0.9 * len(words)


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"ab. \n'é", "Tawug ", "zorps. ", "\n\n", "\r\n", "\u2028", "\x0b", "\x00"])))
def test_any_text_becomes_valid_sentences_however_it_is_cut(pipeline, pieces):
    whole = [s.to_bytes() for s in pipeline.parse_stream(pieces)]
    assert [s.to_bytes() for s in pipeline.parse_text("".join(pieces))] == whole
    again = list(read(BytesIO(b"".join(whole))))
    assert [s.to_bytes() for s in again] == whole


@settings(deadline=None)
@given(st.lists(st.sampled_from([*"ab. ", "Tawug zorps", "\n", "\n\n", " \n", "\u2028"])))
def test_with_lines_each_line_is_a_sentence(pipeline, parts):
    text = "".join(parts)
    pieces = list(pipeline.pieces(parts, lines=True))
    found = [[range(t.start + p.begin, t.end + p.begin) for t in s] for p in pieces for s in p.sentences]
    begin = 0
    for line in text.split("\n"):
        if line.strip():
            tokens = found.pop(0)
            spans = [(start, start + len(word)) for start, word in _words_and_places(line, begin)]
            covered = {place for token in tokens for place in token}
            assert covered == {place for start, end in spans for place in range(start, end)}
        begin += len(line) + 1
    assert found == []


def _words_and_places(line, begin):
    place = begin
    for word in re.split(r"(\s+)", line):
        if word.strip():
            yield place, word
        place += len(word)


def test_tagged_text_has_no_trees_yet(pipeline):
    for tagged, parsed in zip(pipeline.tag_text(TEXT), pipeline.parse_text(TEXT), strict=True):
        assert tagged.with_tree(parsed.tree).to_bytes() == parsed.to_bytes()


def test_a_pipeline_comes_back_from_its_file_as_it_was(pipeline, model, tmp_path):
    again = Pipeline.load(model)
    assert [s.to_bytes() for s in again.parse_text(TEXT)] == [s.to_bytes() for s in pipeline.parse_text(TEXT)]
    again.save(tmp_path / "again.tw")
    assert (tmp_path / "again.tw").read_bytes() == model.read_bytes()


def test_the_parser_of_a_pipeline_may_be_used_alone_and_a_parser_is_no_pipeline(pipeline, model, tmp_path):
    tagged = pipeline.tag_text(TEXT)
    assert [Parser.load(model).parse(s, beam=8) for s in tagged] == [s.tree for s in pipeline.parse_text(TEXT)]
    pipeline.parser.save(tmp_path / "parser.tw")
    with pytest.raises(ModelError, match=r"parser only.*train --pipeline"):
        Pipeline.load(tmp_path / "parser.tw")


def test_tags_are_filled_in_only_where_a_sentence_has_none():
    (sentence,) = toy_sentences(1)
    bare = sentence.with_columns(["_"] * len(sentence), sentence.upos, ["_"] * len(sentence), sentence.feats)
    tags = [Tags("l", "U", "X", "f")] * len(sentence)
    filled = with_tags(bare, tags)
    assert (filled.lemmas, filled.xpos) == (["l"] * len(sentence), ["X"] * len(sentence))
    assert (filled.upos, filled.feats, filled.tree) == (sentence.upos, sentence.feats, sentence.tree)
    assert with_tags(sentence, tags).to_bytes() == sentence.to_bytes()
    assert with_tags(sentence, tags, replaced=True).upos == ["U"] * len(sentence)


def test_the_training_data_is_tagged_by_taggers_that_did_not_see_it(monkeypatch):
    seen = []

    class Fake:
        def __init__(self, sentences):
            self.known = {s.sent_id for s in sentences}

        def worker(self):
            return self

        def tag(self, forms, _offered):
            seen.append((self.known, [tuple(f) for f in forms]))
            return [[Tags("l", f"U{len(seen)}", "X", "F")] * len(f) for f in forms]

    def fake_train(train, dev, options, seed):
        yield learning.TagProgress(1, 1, 0.0, None, Fake(train))

    monkeypatch.setattr(learning, "train_tagger", fake_train)
    monkeypatch.setattr(learning.Tagger, "load", lambda *_: Fake([]))
    monkeypatch.setattr(Fake, "arrays", dict, raising=False)
    monkeypatch.setattr(Fake, "settings", dict, raising=False)
    train = written(12, 1)
    found = prepare(train, train[:2], folds=3)
    assert [s.forms for s in found.train] == [s.forms for s in train]
    assert len(seen) == 4  # three folds and dev
    for known, forms in seen[:3]:
        held = [s for s in train if s.sent_id not in known]
        assert len(held) == 4
        assert sorted(forms) == sorted(tuple(s.forms) for s in held)
    assert {u for s in found.train for u in s.upos} == {"U1", "U2", "U3"}
    assert {u for s in found.dev for u in s.upos} == {"U4"}


def test_an_interrupted_preparation_goes_on_where_it_stopped_and_gives_the_same(tmp_path, monkeypatch):
    monkeypatch.setattr(tagger, "SIZES", (8, 4))
    options = TaggerOptions(epochs=1, layers=1)
    train, dev = written(8, 1), written(3, 2)
    wanted = prepare(train, dev, folds=2, options=options)
    runs = []
    learn = learning.train_tagger

    def interrupted(*arguments):
        runs.append(1)
        if len(runs) == 2:
            raise KeyboardInterrupt
        yield from learn(*arguments)

    monkeypatch.setattr(learning, "train_tagger", interrupted)
    with pytest.raises(KeyboardInterrupt):
        prepare(train, dev, folds=2, options=options, folder=tmp_path / "parts")
    found = prepare(train, dev, folds=2, options=options, folder=tmp_path / "parts")
    assert len(runs) == 4  # the first fold once, the second twice, all data once
    for one, other in ((found.train, wanted.train), (found.dev, wanted.dev)):
        assert [s.to_bytes() for s in one] == [s.to_bytes() for s in other]
    assert found.tagger.settings() == wanted.tagger.settings()
    with pytest.raises(ModelError, match="another training run"):
        prepare(train, dev, folds=2, options=options, seed=2, folder=tmp_path / "parts")


@pytest.mark.skipif(not COMPILED, reason="learns taggers and parsers of full size")
def test_the_command_learns_the_same_bytes_with_any_number_of_threads(tmp_path, capsys):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_bytes(b"".join(s.to_bytes() for s in written(12, seed)))
    for name, more in (("one", []), ("two", ["--threads", "2"])):
        command = ["train", "--pipeline", tmp_path / "train.conllu", "--dev", tmp_path / "dev.conllu"]
        command += ["--epochs", 1, "--set", "folds=2", "-o", tmp_path / f"{name}.tw", *more]
        assert main([str(part) for part in command]) == 0
        assert not (tmp_path / f"{name}.tw.parts").exists()
    assert (tmp_path / "one.tw").read_bytes() == (tmp_path / "two.tw").read_bytes()
    assert "left" in capsys.readouterr().err
    assert Pipeline.load(tmp_path / "one.tw").parser.description["settings"] == {"epochs": 1, "layers": 2}


def test_text_is_parsed_in_processes_as_in_one(pipeline, model):
    pieces = list(pipeline.pieces([TEXT, "\n\n", TEXT]))
    pieces = [p._replace(sentences=[s], number=p.number + i) for p in pieces for i, s in enumerate(p.sentences)]
    workplace = BatchParser.load(model, ParseOptions())
    one = [parsed.blocks for parsed in parse_batches(pieces, workplace)]
    for method in ("fork", "spawn"):
        assert [parsed.blocks for parsed in parse_batches(pieces, workplace, processes=2, method=method)] == one


@pytest.mark.parametrize(
    ("start", "name", "expected"),
    [
        (b"# sent_id = 1\n1\tA\t_\t_\t_\t_\t_\t_\t_\t_\n", "", True),
        (b"\xef\xbb\xbf1\tA\t_\n", "", True),
        (b"1-2\tdu\t_\n", "", True),
        (b"1 A hearing\n", "", False),
        (b"# A heading\nand text\n", "", False),
        (b"Some text.", "", False),
        (b"1 A hearing\n", "x.conllu.gz", True),
        (b"", "", True),
    ],
)
def test_treebanks_are_told_from_text(start, name, expected):
    assert is_treebank(start, name) == expected


def test_what_a_stream_is_is_not_decided_before_a_whole_line_has_come():
    assert is_treebank(b"# sent_id = 1\n1", ended=False) is None
    assert is_treebank(b"# Notes\n", ended=False) is None
    assert is_treebank(b"# Notes\n") is False
    assert is_treebank(b"# sent_id = 1\n") is True

    class Slow(BytesIO):
        def read1(self, size=-1):
            return self.read(1)

    for data, expected in ((b"# x\n1\tA\t_\n", True), (b"# Notes\nHello.\n", False)):
        seen = Seen(Slow(data), "-")
        assert seen.is_treebank is expected
        assert b"".join(iter(seen.read1, b"")) == data


def test_damaged_archives_are_errors_that_say_so(model, tmp_path, capsys):
    for name, text in (("a.txt.gz", "Dax zorps.\n" * 50), ("a.conllu.gz", toy_sentences(3)[0].to_text())):
        whole = gzip.compress(text.encode())
        (tmp_path / name).write_bytes(whole[: len(whole) - 12])
        status, _, err = run(capsys, "-m", model, tmp_path / name)
        assert status == 1
        assert "damaged or breaks off" in err


def test_text_that_breaks_off_is_an_error_that_says_where():
    class Broken(BytesIO):
        def read1(self, size=-1):
            data = self.read(4)
            if not data:
                raise EOFError("ended early")
            return data

    found = read_text(Broken(b"a\nb\nc"), "f")
    assert next(found) == "a\nb\n"
    with pytest.raises(FormatError, match=r"f:3: .*damaged or breaks off.*ended early"):
        list(found)


def test_half_characters_and_odd_names_do_no_harm(pipeline, tmp_path):
    (sentence,) = pipeline.parse_text("Dax \ud800 zorps")
    assert sentence.forms[1] == "?"
    (piece,) = pipeline.pieces(["Dax."], document="odd\nname\udcff")
    assert piece.document == "odd name?"


def test_only_spaces_may_stand_inside_a_token():
    rows = ["1\t10 000\t_\tNUM\t_\t_\t2\tnummod\t_\t_", "2\tdax\t_\tNOUN\t_\t_\t0\troot\t_\tSpaceAfter=No"]
    block = "\n".join([*rows, "3\t.\t_\tPUNCT\t_\t_\t2\tpunct\t_\t_", "", ""])
    tokenizer = Tokenizer.learn(sentences_of(block * 30), None)
    for gap, tokens in ((" ", 3), ("\u00a0", 3), ("\t", 4), ("\r", 4), ("\x0b", 4), ("\u2028", 4)):
        assert sum(map(len, tokenizer.tokenize(f"10{gap}000 dax."))) == tokens, repr(gap)


def test_text_that_is_no_utf8_is_an_error_that_says_where():
    assert "".join(read_text(BytesIO("\ufeffà\nb".encode()), "f")) == "à\nb"
    with pytest.raises(FormatError, match=r"f:3: .*xff.*UTF-8"):
        list(read_text(BytesIO(b"a\nb\nc \xff d"), "f"))


def run(capsys, *arguments):
    status = main(["parse", *map(str, arguments)])
    out, err = capsys.readouterr()
    return status, out, err


def test_the_command_takes_text_files_and_standard_input(pipeline, model, tmp_path, capsys):
    wanted = "".join(s.to_text() for s in pipeline.parse_text(TEXT))
    assert run(capsys, "-m", model, TEXT) == (0, wanted, "")
    file = tmp_path / "my text.txt"
    file.write_text(TEXT)
    status, out, err = run(capsys, "-m", model, file)
    assert (status, err) == (0, "")
    assert out == f"# newdoc id = {file}\n{wanted}"
    command = [sys.executable, "-m", "tanglewood", "parse", "-m", str(model)]
    done = subprocess.run(command, input=TEXT.encode(), capture_output=True, check=True)
    assert done.stdout.decode() == wanted


def test_several_texts_have_sentences_of_different_names(model, tmp_path, capsys):
    for name in "ab":
        (tmp_path / f"{name}.txt").write_text(TEXT)
    _, out, _ = run(capsys, "-m", model, tmp_path / "a.txt", tmp_path / "b.txt", "One more.")
    names = [s.sent_id for s in sentences_of(out)]
    assert names == [str(number) for number in range(1, len(names) + 1)]
    assert out.count("# newdoc") == 2


def test_lines_of_a_file_may_be_its_sentences(model, tmp_path, capsys):
    (tmp_path / "lines").write_text("Dax. Wug.\nTawug\nzorps\n")
    _, out, _ = run(capsys, "-m", model, "--lines", tmp_path / "lines")
    assert [s.text for s in sentences_of(out)] == ["Dax. Wug.", "Tawug", "zorps"]


def test_a_missing_file_is_an_error_and_text_can_be_forced(model, capsys):
    status, out, err = run(capsys, "-m", model, "nosuchfile")
    assert (status, out) == (1, "")
    assert "nosuchfile" in err
    status, out, _ = run(capsys, "-m", model, "--text", "Dax.")
    assert status == 0
    assert [s.forms for s in sentences_of(out)] == [["Dax", "."]]


def test_a_parser_without_a_tokenizer_refuses_text(pipeline, tmp_path, capsys):
    pipeline.parser.save(tmp_path / "parser.tw")
    for arguments in (["Dax zorps."], ["--tag", "examples/small.conllu"]):
        status, _, err = run(capsys, "-m", tmp_path / "parser.tw", *arguments)
        assert status == 1
        assert "train --pipeline" in err


def test_tag_fills_in_what_a_treebank_lacks(pipeline, model, tmp_path, capsys):
    bare = [s.with_columns(*[["_"] * len(s)] * 4) for s in pipeline.tag_text(TEXT)]
    file = tmp_path / "bare.conllu"
    file.write_bytes(b"".join(s.to_bytes() for s in bare))
    wanted = "".join(s.to_text() for s in pipeline.parse_text(TEXT))
    assert run(capsys, "-m", model, "--tag", file) == (0, wanted, "")
    _, out, err = run(capsys, "-m", model, file)
    assert {u for s in sentences_of(out) for u in s.upos} == {"_"}
    assert "--tag fills them in" in err


def test_several_sentences_make_one_page_and_no_one_picture(model, tmp_path, capsys):
    _, out, _ = run(capsys, "-m", model, "--format", "html", TEXT)
    assert out.startswith("<!DOCTYPE html>")
    assert out.count("<figure") > 1
    for arguments in (["--format", "svg"], ["-o", tmp_path / "x.svg"], ["-o", tmp_path / "x.png"]):
        status, out, err = run(capsys, "-m", model, *arguments, TEXT)
        assert (status, out) == (1, "")
        assert "picture" in err or "should end in" in err
    assert not list(tmp_path.iterdir())


def test_json_holds_what_conllu_holds(pipeline, model, capsys):
    _, out, _ = run(capsys, "-m", model, "--format", "json", TEXT)
    lines = [json.loads(line) for line in out.splitlines()]
    for data, sentence in zip(lines, pipeline.parse_text(TEXT), strict=True):
        assert [word["form"] for word in data["words"]] == sentence.forms
        assert [word["head"] for word in data["words"]] == list(sentence.tree.heads)[1:]
        assert [word["deprel"] for word in data["words"]] == sentence.deprels
        crossing = [word["id"] for word in data["words"] if word.get("nonprojective")]
        assert crossing == sentence.tree.nonprojective_arcs()
        for word in data["words"]:
            if "start" in word:
                assert TEXT[word["start"] : word["end"]] == word["form"]


def test_the_bundled_model_parses_english():
    english = Pipeline.load()
    assert bundled_model().stat().st_size <= 20_000_000
    (sentence,) = english.parse_text("A hearing is scheduled on the issue today .")
    assert sentence.upos == ["DET", "NOUN", "AUX", "VERB", "ADP", "DET", "NOUN", "NOUN", "PUNCT"]
    heads = list(sentence.tree.heads)[1:]
    assert heads[:4] == [2, 4, 4, 0]
    one, two = english.parse_text("I don't know. She said it's John's book.")
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
    found = "".join(sentence.to_text() for sentence in Pipeline.load().parse_text(text))
    with gold.open(encoding="utf-8") as one:
        scores = udeval.evaluate(udeval.load_conllu(one, "gold", {}), udeval.load_conllu(StringIO(found), "found", {}))
    least = {"Tokens": 98.5, "Sentences": 75, "UPOS": 93, "LAS": 79}
    assert {name: 100 * scores[name].f1 >= figure for name, figure in least.items()} == dict.fromkeys(least, True)
