"""From raw text to an encoder: its file, going on where it stopped, the command, and PyTorch's twin."""

from dataclasses import replace

import numpy as np
import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.errors import ConfigError, FormatError, ModelError
from tanglewood.ml import language_model
from tanglewood.ml.language_model import LanguageModel, LanguageOptions, Types
from tanglewood.store import load_model, save_model
from tanglewood.training import pretrain as module
from tanglewood.training.pretrain import Pretraining
from tanglewood.training.pretrained import load_knowledge
from tanglewood.training.raw_text import read_texts
from toy import toy_sentences

SMALL = {"words": 3_000, "forms": 40, "predicted": 20, "samples": 10, "batch_words": 60}


@pytest.fixture(autouse=True)
def _small(monkeypatch):
    monkeypatch.setattr(language_model, "SIZES", (16, 8, 1))


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(" ".join(sentence.forms) + "\n" for sentence in toy_sentences(150)))
    return path


def run(*args, **choices):
    return list(Pretraining(*args, options=LanguageOptions(**SMALL), **choices).run())


def test_lines_and_spaces_make_sentences_and_words_however_the_text_comes(tmp_path, monkeypatch):
    path = tmp_path / "text.txt"
    path.write_text("ta wug\n\n  wug   zorps .\nta")
    for size in (1, 3, 1 << 20):
        monkeypatch.setattr("tanglewood.text.reading.READ_SIZE", size)
        found = read_texts([path, path], None, 100)
        assert found.types == ["ta", "wug", "zorps", "."]
        assert found.tokens.tolist() == [2, 3, 3, 4, 5, 2] * 2
        assert found.starts.tolist() == [0, 2, 5, 6, 8, 11, 12]
        assert found.counts.tolist() == [0, 0, 4, 4, 2, 2]
    assert read_texts([path, path], None, 4).starts.tolist() == [0, 2, 5]


def test_forms_beyond_the_limit_and_very_long_ones_have_no_number(tmp_path, monkeypatch):
    monkeypatch.setattr("tanglewood.training.raw_text.MOST_TYPES", 2)
    path = tmp_path / "text.txt"
    path.write_text(f"{'x' * 101} ta wug zorps ta")
    found = read_texts([path], None, 100)
    assert found.types == ["ta", "wug"]
    assert found.tokens.tolist() == [0, 2, 3, 0, 2]


def test_of_treebanks_the_words_are_taken(tmp_path):
    path = tmp_path / "toy.conllu"
    path.write_bytes(b"".join(sentence.to_bytes() for sentence in toy_sentences(3)))
    found = read_texts([path], None, 100)
    forms = ["", "", *found.types]
    assert [forms[number] for number in found.tokens] == [form for s in toy_sentences(3) for form in s.forms]


def test_a_tokenizer_splits_what_is_not_split(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("He came. I didn't see him.\n")
    found = read_texts([path], tw.load().tokenizer, 100)
    forms = ["", "", *found.types]
    assert [forms[number] for number in found.tokens] == ["He", "came", ".", "I", "did", "n't", "see", "him", "."]
    assert found.starts.tolist() == [0, 3, 9]


def test_the_file_holds_the_encoder_and_says_what_it_was_made_from(text, tmp_path):
    out = tmp_path / "toy.pre.tw"
    records = run([text], out)
    assert records[-1].words >= 3_000
    assert records[-1].perplexity < records[0].perplexity if records[0].perplexity else True
    knowledge, description = load_knowledge(out)
    assert description["files"] == ["text.txt"]
    assert description["options"]["words"] == 3_000
    assert set(knowledge.lexicon.words) >= {"ta", "wug", "zorps"}
    assert knowledge.parameters["word.weight"].shape == (32 + 16 + 64, 16)
    assert not list(tmp_path.glob("*.training"))
    with pytest.raises(ModelError, match="not a parser; train --pretrained takes it"):
        tw.load(out)


def test_the_same_seed_gives_the_same_bytes_and_so_does_a_run_that_was_interrupted(text, tmp_path):
    whole, stopped, other = (tmp_path / name for name in ("whole.tw", "stopped.tw", "other.tw"))
    run([text], whole)
    run([text], other, seed=2)
    going = Pretraining([text], stopped, options=LanguageOptions(**SMALL)).run()
    for record in going:
        if record.words > 1_700:
            break
    going.close()
    assert not stopped.exists()
    records = run([text], stopped, resume=True)
    assert records[0].words > 1_200
    assert stopped.read_bytes() == whole.read_bytes() != other.read_bytes()


def test_a_text_is_read_ten_times_at_most_unless_told_otherwise(text):
    run = Pretraining([text])
    words = len(run._text.tokens)
    assert run.options.words == run.description["options"]["words"] == 10 * words
    assert Pretraining([text], options=LanguageOptions(words=77)).options.words == 77
    assert LanguageOptions().resolved(2_000_000).words == 10_000_000


def test_who_learns_the_text_by_heart_is_warned_also_after_an_interruption(tmp_path):
    rng = np.random.default_rng(1)  # words at random: there is nothing to learn but the text itself
    lines = [" ".join(f"w{number}" for number in rng.integers(40, size=8)) for _ in range(120)]
    (tmp_path / "noise.txt").write_text("\n".join(lines) + "\n")
    options = LanguageOptions(**{**SMALL, "words": 40_000, "rate": 0.01})
    heard = []

    def pretraining(options, **choices):
        return Pretraining([tmp_path / "noise.txt"], tmp_path / "x.tw", options=options, warn=heard.append, **choices)

    for record in pretraining(options).run():
        if record.words > 36_500:
            break
    assert heard == []
    *_, last = pretraining(options, resume=True).run()
    (warning,) = heard
    assert f"is {last.perplexity:.0f} now: the text, which was read 42 times, was learnt by heart" in warning
    list(pretraining(replace(options, words=2_000)).run())
    assert len(heard) == 1


def test_a_checkpoint_of_other_text_is_refused(text, tmp_path):
    out = tmp_path / "x.tw"
    going = Pretraining([text], out, options=LanguageOptions(**SMALL)).run()
    while not (tmp_path / "x.tw.training").exists():
        next(going)
    going.close()
    with text.open("a") as file:
        file.write("wug wug\n")
    with pytest.raises(ModelError, match=r"of another run .*; --restart removes it"):
        run([text], out, resume=True)


def test_a_full_disk_costs_a_checkpoint_and_no_more(text, tmp_path, monkeypatch):
    whole, out, told = tmp_path / "whole.tw", tmp_path / "x.tw", []
    run([text], whole)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "save_model", full)
    run([text], out, warn=told.append)
    assert told[0] == f"{out}.training: No space left on device; pretraining goes on without it"
    assert out.read_bytes() == whole.read_bytes()


def test_what_an_interrupted_run_has_left_is_removed_only_if_asked(text, tmp_path, capsys):
    out, old = tmp_path / "x.tw", tmp_path / "x.tw.training"
    old.write_bytes(b"old")
    with pytest.raises(ConfigError, match="was interrupted: --resume goes on with it, --restart removes it"):
        tw.pretrain(text, out)
    assert main(["pretrain", str(text), "-o", str(out)]) == 1
    assert "--restart removes it" in capsys.readouterr().err
    assert old.read_bytes() == b"old"
    next(Pretraining([text], out, options=LanguageOptions(**SMALL), restart=True).run())
    assert not old.exists()
    with pytest.raises(ConfigError, match="choose one"):
        tw.pretrain(text, out, resume=True, restart=True)


@pytest.mark.parametrize(
    "damage",
    [
        lambda arrays, settings: arrays.pop("lexicon.rows"),
        lambda arrays, settings: settings["pretrained"]["values"].pop("affixes"),
        lambda arrays, settings: settings["pretrained"]["values"]["affixes"].append("more"),
        lambda arrays, settings: arrays.update({"word.bias": np.zeros(7, np.float32)}),
        lambda arrays, settings: settings.pop("pretrained"),
    ],
)
def test_a_damaged_file_is_refused_by_name(text, tmp_path, damage):
    out = tmp_path / "toy.pre.tw"
    run([text], out)
    arrays, settings = load_model(out)
    damage(arrays, settings)
    save_model(out, arrays, settings)
    with pytest.raises(ModelError, match=r"toy.pre.tw: "):
        load_knowledge(out)


def test_the_command_tells_how_it_goes_and_errors_are_one_line(text, tmp_path, capsys):
    out = tmp_path / "toy.pre.tw"
    settings = [word for name, value in SMALL.items() for word in ("--set", f"{name}={value}")]
    assert main(["pretrain", str(text), "-o", str(out), *settings, "--words", "3000"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"reading {text}"
    assert "sentences are held out" in lines[1]
    assert "perplexity" in lines[-2]
    assert lines[-2].endswith("0:00 left")
    assert lines[-1].startswith(str(out))
    assert main(["pretrain", str(text), "-o", str(out), "--set", "wrods=3"]) == 1
    assert "pretraining has no setting 'wrods'; it has words" in capsys.readouterr().err
    assert main(["pretrain", str(text), "-o", str(out), "--words", "0"]) == 1
    assert "--words 0: it should be 1 or more" in capsys.readouterr().err


def test_empty_text_bad_bytes_and_settings_of_other_types_are_errors(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text(" \n")
    with pytest.raises(ConfigError, match="no words in"):
        Pretraining([path])
    path.write_bytes(b"wug\n\xff\n")
    with pytest.raises(FormatError, match=r"text.txt:2"):
        Pretraining([path])
    with pytest.raises(ConfigError, match="of type int"):
        tw.pretrain(path, tmp_path / "x.tw", words="many")
    with pytest.raises(ConfigError, match="seed=-1"):
        tw.pretrain(path, tmp_path / "x.tw", seed=-1)
    with pytest.raises(ConfigError, match="of type bool"):
        tw.pretrain(path, tmp_path / "x.tw", latin=1)


def test_pytorch_learns_the_same_encoder(text):
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    from tanglewood.training.pretrain_torch import TorchLanguageModel

    torch.manual_seed(1)
    options = LanguageOptions(**{**SMALL, "drop_input": 0.0, "drop_form": 0.0})
    raw = read_texts([text], None, 10_000)
    types = Types.of(raw, options)
    held = [raw.tokens[raw.starts[i] : raw.starts[i + 1]] for i in range(30)]
    own, theirs = LanguageModel(types, options, 1), TorchLanguageModel(types, options, 1, "cpu")
    before = own.perplexity(held)
    assert theirs.perplexity(held) == pytest.approx(before, rel=1e-5)
    for _ in range(30):
        theirs.learn(held, 0.0)
    arrays, data = theirs.state()
    again = TorchLanguageModel(types, options, 2, "cpu")
    again.restore(arrays, data)
    for learner in (theirs, again):
        learner.learn(held, 0.5)
    assert theirs.perplexity(held) < before
    assert again.perplexity(held) == pytest.approx(theirs.perplexity(held), rel=1e-5)
    for name, value in theirs.knowledge().parameters.items():  # in our order of gates: the same perplexity
        own._parameters[name][...] = own._adam.averaged[name][...] = value
    kept = theirs._average
    for name, value in (("embed.known", kept["known.weight"]), ("predict.weight", kept["predict.weight"])):
        own._parameters[name][...] = own._adam.averaged[name][...] = value.numpy()
    bias = kept["predict.bias"].numpy()[:, None]
    own._parameters["predict.bias"][...] = own._adam.averaged["predict.bias"][...] = bias
    assert own.perplexity(held) == pytest.approx(theirs.perplexity(held), rel=1e-4)


def test_a_gpu_without_pytorch_is_a_clear_error(text, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "torch", None)
    with pytest.raises(ConfigError, match="pip install torch"):
        module._learner(Types.of(read_texts([text], None, 100), LanguageOptions()), LanguageOptions(), 1, "cuda")


# Training from it. ----------------------------------------------------------------------------------------------------


@pytest.fixture
def encoder(text, tmp_path, monkeypatch):
    """The file of an encoder that fits small networks and taggers."""
    from tanglewood.text import tagger
    from toy import SMALL as SIZES
    from toy import small_network

    small_network(monkeypatch)
    for name in ("RARE_ARCS", "RARE_LABEL"):  # everything is rare in so few sentences
        monkeypatch.setattr(f"tanglewood.training.loop.{name}", 0)
    monkeypatch.setattr(tagger, "SIZES", (SIZES.word, SIZES.lstm))
    monkeypatch.setattr(language_model, "SIZES", (SIZES.word, SIZES.lstm, 1))
    out = tmp_path / "toy.pre.tw"
    run([text], out)
    return out


@pytest.mark.parametrize(
    "more", [{}, {"pipeline": True, "folds": 2}, {"distil": 2}], ids=["parser", "pipeline", "distil"]
)
def test_parsers_taggers_and_teachers_begin_with_it(encoder, tmp_path, more):
    sentences = toy_sentences(20)
    model = tw.train(sentences, sentences[:5], epochs=1, pretrained=encoder, **more)
    knowledge, _ = load_knowledge(encoder)
    known = model.parser.model.vocabulary
    assert known.lexicon.same_as(knowledge.lexicon)
    assert list(known.numbers["short_shape"])[2:][: len(knowledge.values["short_shape"])] == list(
        knowledge.values["short_shape"]
    )
    assert model.description["pretrained_sha256"] == knowledge.sha256
    path = tmp_path / "model.tw"
    model.save(path)
    again = tw.load(path)
    assert [s.to_text() for s in again.parse(sentences)] == [s.to_text() for s in model.parse(sentences)]
    if "pipeline" in more:
        assert again.tagger.vocabulary.lexicon is again.parser.model.vocabulary.lexicon
        assert len(again("Ta wug zorps.").sentences) >= 1


def test_what_is_known_matters_and_the_same_seed_gives_the_same_bytes(encoder, tmp_path):
    sentences = toy_sentences(20)
    files = [tmp_path / name for name in ("a.tw", "b.tw", "plain.tw")]
    for path, choice in zip(files, (encoder, encoder, ""), strict=True):
        tw.train(sentences, epochs=1, pretrained=choice, output=path)
    first, second, plain = (path.read_bytes() for path in files)
    assert first == second
    assert tw.load(files[0]).parser.model.parameters["word.bias"].any()
    assert len(plain) < len(first)


def test_what_does_not_go_together_is_refused(encoder, tmp_path, capsys):
    sentences = toy_sentences(5)
    with pytest.raises(ConfigError, match="choose one of vectors and pretrained"):
        tw.train(sentences, pretrained=encoder, vectors="x.vec")
    with pytest.raises(ConfigError, match="for the network, not for the linear learner"):
        tw.train(sentences, pretrained=encoder, learner="linear")
    with pytest.raises(ConfigError, match="name of a file"):
        tw.train(sentences, pretrained=3)
    model = tmp_path / "model.tw"
    tw.train(sentences, learner="linear", epochs=1).save(model)
    with pytest.raises(ModelError, match=r"model.tw: not a pretrained encoder"):
        tw.train(sentences, pretrained=model)
    assert main(["info", str(encoder)]) == 0
    shown = capsys.readouterr().out
    assert "encoder: train --pretrained takes it" in shown
    assert "files: text.txt" in shown
