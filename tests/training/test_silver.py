"""Raw text among what a student learns from: which sentences are taken, when, and where raw text is refused."""

import pytest

import tanglewood as tw
from tanglewood.cli import main
from tanglewood.errors import ConfigError
from tanglewood.learners.network.learner import NetworkLearner
from tanglewood.learners.network.student import StudentLearner
from tanglewood.ml.encoder import GOLD_FROM
from tanglewood.training.silver import LARGE, LONGEST, is_text, silver_sentences, words_for
from toy import toy_sentences, toy_text

pytestmark = pytest.mark.usefixtures("small_training")


class Spaces:
    """Stands in for a tokenizer: lines and spaces."""

    @staticmethod
    def stream(chunks):
        text = "".join(chunks)
        yield text, [[Token(form) for form in line.split()] for line in text.splitlines()]


class Token:
    def __init__(self, form):
        self.words = (form,)


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("".join(f"wug {number} zorps .\n" for number in range(100)))
    return path


def test_files_of_text_and_treebanks_are_told_apart(tmp_path, text):
    bank = tmp_path / "trees"
    bank.write_text(toy_text(2))
    assert is_text(text)
    assert not is_text(bank)
    assert not is_text("-")


def test_small_treebanks_get_more_text():
    assert words_for(LARGE) == LARGE
    assert words_for(LARGE - 1) == 4 * (LARGE - 1)


def test_all_sentences_are_taken_if_there_are_few_and_a_random_choice_if_there_are_many(text):
    every = silver_sentences([str(text)], Spaces(), 10_000, 1)
    assert [sentence.forms[1] for sentence in every] == [str(number) for number in range(100)]
    assert every[0].upos == ["_"] * 4
    some = [int(sentence.forms[1]) for sentence in silver_sentences([str(text)], Spaces(), 80, 1)]
    assert len(some) == 20
    assert some == sorted(set(some))
    assert max(some) > 50  # not the first ones
    again = [int(sentence.forms[1]) for sentence in silver_sentences([str(text)], Spaces(), 80, 1)]
    other = [int(sentence.forms[1]) for sentence in silver_sentences([str(text)], Spaces(), 80, 2)]
    assert some == again != other


def test_each_sentence_is_as_likely_to_be_taken(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("\n".join(map(str, range(10))))
    taken = [0] * 10
    for seed in range(300):
        for sentence in silver_sentences([str(path)], Spaces(), 4, seed):
            taken[int(sentence.forms[0])] += 1
    assert sum(taken) == 1200
    assert all(80 < count < 165 for count in taken)  # 120 expected, 8.5 the standard deviation


def test_what_is_too_long_or_not_there_is_left_out(tmp_path):
    path = tmp_path / "text.txt"
    path.write_text("x " * (LONGEST + 1) + "\nwug zorps\n")
    assert [sentence.forms for sentence in silver_sentences([str(path)], Spaces(), 100, 1)] == [["wug", "zorps"]]
    path.write_text("x " * (LONGEST + 1))
    with pytest.raises(ConfigError, match="no sentence"):
        silver_sentences([str(path)], Spaces(), 100, 1)


def test_a_pipeline_learns_from_text_and_ends_with_gold_trees(text, monkeypatch):
    sentences = toy_sentences(12)
    learnt = []

    def epoch(self, examples, oracle):
        if isinstance(self, StudentLearner):
            learnt.append((sum(bool(e.heads) for e in examples), sum(not e.heads for e in examples)))
        return plain(self, examples, oracle)

    plain = NetworkLearner.epoch
    monkeypatch.setattr(NetworkLearner, "epoch", epoch)
    model = tw.train(sentences, pipeline=True, folds=2, distil=1, epochs=8, unlabelled=text)
    description = model.description
    assert 0 < description["unlabelled_words"] <= words_for(sum(map(len, sentences))) + LONGEST
    assert [gold for gold, _ in learnt] == [12] * 8
    assert [silver > 0 for _, silver in learnt] == [number < GOLD_FROM * 8 for number in range(8)]


def test_raw_text_without_a_pipeline_is_refused_before_anything_is_learnt(text, tmp_path, capsys):
    bank = tmp_path / "trees.conllu"
    bank.write_text(toy_text(5))
    out = tmp_path / "x.tw"
    assert main(["train", str(bank), "-o", str(out), "--distil", "1", "--epochs", "1", "--unlabelled", str(text)]) == 1
    assert "text.txt: raw text, which only a pipeline splits and tags (--pipeline)" in capsys.readouterr().err
    assert not out.exists()
