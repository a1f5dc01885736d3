"""tanglewood's components in a pipeline of spaCy: the same trees as without it, in batches and in processes."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import entry_points
from pathlib import Path

import pytest

spacy = pytest.importorskip("spacy", reason="needs the extra spacy")

from spacy.tokens import Doc as SpacyDoc  # noqa: E402

from tanglewood.errors import ConfigError  # noqa: E402
from tanglewood.spacy_bridge import components  # noqa: E402
from tanglewood.spacy_bridge.docs import from_spacy, to_spacy  # noqa: E402
from toy import toy_sentences, train_parser  # noqa: E402
from toy_pipeline import toy_pipeline  # noqa: E402

TEXTS = ["Dax zorps. Dax  fimps krell .", "", "Wug blick zorps grubben.\n\n", " Dax zorps.", "\n"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "toy.tw"
    toy_pipeline().save(path)
    return str(path)


@pytest.fixture
def nlp(model):
    nlp = spacy.blank("xx")
    nlp.add_pipe("tanglewood_tagger", config={"model": model})
    nlp.add_pipe("tanglewood_parser", config={"model": model})
    return nlp


def facts(doc):
    return [
        (token.text, token.lemma_, token.pos_, token.tag_, str(token.morph), token.head.i, token.dep_, token.sent.start)
        for token in doc
    ]


def test_the_trees_are_those_of_the_model(nlp):
    doc = nlp("Dax zorps. Dax fimps krell .")
    assert doc.has_annotation("DEP")
    assert len([*doc.sents]) == 2
    for span, sentence in zip(doc.sents, from_spacy(doc), strict=True):
        (wanted,) = toy_pipeline().parse_words([[token.text for token in span]])
        assert sentence.tree == wanted.tree
        assert (sentence.upos, sentence.feats, sentence.lemmas) == (wanted.upos, wanted.feats, wanted.lemmas)


def test_batches_give_the_same_as_one_by_one(nlp):
    alone = [facts(nlp(text)) for text in TEXTS]
    assert alone == [facts(doc) for doc in nlp.pipe(TEXTS, batch_size=2)]
    assert any(len(found) > 3 for found in alone)


def test_the_example_of_the_docs_runs_in_a_fresh_process():
    if not entry_points(group="spacy_factories", name="tanglewood_parser"):
        pytest.skip("tanglewood is not installed, so spaCy finds no entry points of it")
    page = (Path(__file__).resolve().parents[2] / "docs" / "spacy.md").read_text(encoding="utf-8")
    example = page.split("```py\n", 1)[1].split("```", 1)[0]
    done = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    *words, last = done.stdout.splitlines()
    assert "know VERB " in done.stdout
    assert "root know" in done.stdout
    assert len(words) == 11
    assert last == "['I know what you are looking for.', 'You do.']"


@pytest.mark.slow
def test_two_processes_give_the_same(nlp):
    texts = TEXTS * 10
    assert [facts(nlp(text)) for text in texts] == [facts(doc) for doc in nlp.pipe(texts, n_process=2, batch_size=4)]


def test_white_space_hangs_on_the_word_before_it(nlp):
    doc = nlp("Dax  zorps.\n")
    spaces = [token for token in doc if token.is_space]
    assert spaces
    assert [token.head.i for token in spaces] == [token.i - 1 for token in spaces]
    assert doc.text == "Dax  zorps.\n"


def test_sentences_that_the_document_has_stay(model):
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer", config={"punct_chars": ["!"]})
    nlp.add_pipe("tanglewood_parser", config={"model": model})
    assert [len([*nlp(text).sents]) for text in ("Dax zorps. Dax fimps.", "Dax zorps! Dax fimps.")] == [1, 2]


def test_a_pipeline_is_saved_and_loaded_with_its_model(tmp_path):
    path = tmp_path / "toy.tw"
    toy_pipeline().save(path)
    nlp = spacy.blank("xx")
    for name in ("tanglewood_tagger", "tanglewood_parser"):
        nlp.add_pipe(name, config={"model": str(path)})
    wanted = facts(nlp(TEXTS[0]))
    nlp.to_disk(tmp_path / "pipeline")
    assert (tmp_path / "pipeline" / "tanglewood_parser" / "model.tw").exists()
    path.unlink()  # the saved pipeline has the model itself
    assert facts(spacy.load(tmp_path / "pipeline")(TEXTS[0])) == wanted
    again = spacy.blank("xx")
    for name in nlp.pipe_names:
        again.add_pipe(name)
    assert facts(again.from_bytes(nlp.to_bytes())(TEXTS[0])) == wanted


def test_a_model_is_read_when_it_is_needed():
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("tanglewood_parser", config={"model": "no/such/model.tw"})
    # What spaCy asks for when a component is added; in which order is chance.
    assert not any(hasattr(parser, name) for name in ("model", "listeners", "is_trainable", "initialize"))
    with pytest.raises(OSError, match="no/such/model"):
        nlp("Dax zorps.")


def test_a_parser_of_tagged_words_needs_tags_and_takes_any(tmp_path):
    train_parser(toy_sentences(20)).save(tmp_path / "words.tw")
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("tanglewood_parser", config={"model": str(tmp_path / "words.tw")})
    with pytest.raises(ConfigError, match="the document has no tags"):
        nlp("Dax zorps.")
    sentences = toy_sentences(5, seed=8)
    doc = parser(to_spacy(sentences, nlp.vocab))
    wanted = [sentence.tree for sentence in parser.pipeline.parse(sentences)]
    assert [sentence.tree for sentence in from_spacy(doc)] == wanted
    tagger = nlp.add_pipe("tanglewood_tagger", config={"model": str(tmp_path / "words.tw")})
    with pytest.raises(ConfigError, match="has a parser only"):
        tagger(doc)


def test_an_empty_document_is_no_trouble(nlp):
    assert len(nlp("")) == 0
    assert len(nlp.get_pipe("tanglewood_parser")(SpacyDoc(nlp.vocab))) == 0


def test_spacy_finds_the_factories_by_entry_points():
    path = Path(__file__).resolve().parents[2] / "pyproject.toml"
    declared = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["entry-points"]["spacy_factories"]
    assert declared == {
        f"tanglewood_{kind}": f"{components.__name__}:{made.__name__}"
        for kind, made in (("parser", components.make_parser), ("tagger", components.make_tagger))
    }
