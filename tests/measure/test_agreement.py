"""Agreement of two annotators: kappa as its definition has it, sentences matched by their names."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from random import Random

import pytest

from tanglewood import read
from tanglewood.cli import main
from tanglewood.errors import FormatError
from tanglewood.measure.agreement import Agreement, agreement, kappa_of, matched

ROWS = {
    "a": [("Birds", 2, "nsubj"), ("sing", 0, "root"), (".", 2, "punct")],
    "b": [("Fish", 2, "nsubj"), ("swim", 0, "root"), ("far", 2, "advmod")],
    "c": [("Go", 0, "root"), ("!", 1, "punct")],
}


def text_of(names, changes=None, *, named=True):
    """Some of the sentences; changes are by sentence and word."""
    parts = []
    for name in names:
        lines = [f"# sent_id = {name}"] if named else []
        for number, row in enumerate(ROWS[name], 1):
            form, head, label = (changes or {}).get((name, number), row)
            lines.append(f"{number}\t{form}\t_\tX\t_\t_\t{head}\t{label}\t_\t_")
        parts.append("\n".join(lines) + "\n\n")
    return "".join(parts)


@pytest.fixture
def files(tmp_path, monkeypatch):
    def write(first, second):
        (tmp_path / "anna.conllu").write_text(first)
        (tmp_path / "bert.conllu").write_text(second)
        return "anna.conllu", "bert.conllu"

    monkeypatch.chdir(tmp_path)
    return write


def slow_kappa(pairs):
    """Cohen's kappa by its definition, in fractions."""
    total = len(pairs)
    observed = Fraction(sum(one == other for one, other in pairs), total)
    values = {value for pair in pairs for value in pair}
    shares = [[Fraction(sum(pair[side] == value for pair in pairs), total) for value in values] for side in (0, 1)]
    chance = sum(one * other for one, other in zip(*shares, strict=True))
    return None if chance == 1 else (observed - chance) / (1 - chance)


def test_kappa_is_that_of_its_definition():
    rng = Random(7)
    for size in (1, 2, 5, 40):
        for _ in range(30):
            pairs = [(rng.choice("abc"), rng.choice("abcc")) for _ in range(size)]
            found, wanted = kappa_of(Counter(pairs)), slow_kappa(pairs)
            assert (found is None) == (wanted is None)
            assert found is None or found == pytest.approx(float(wanted))


def test_two_files_that_are_the_same_agree(files):
    first, second = files(text_of("abc"), text_of("abc"))
    found = agreement(first, second).as_dict()
    assert found["same_trees"] == found["sentences"] == 3
    assert found["labels"] == {"agreement": 100.0, "kappa": 1.0}
    assert found["disagreements"] == []


def test_heads_and_labels_are_compared_where_both_have_the_sentence(files):
    changes = {("b", 3): ("far", 1, "obl"), ("b", 1): ("Fish", 2, "obl")}
    first, second = files(text_of("abc"), text_of("cb", changes))
    found = agreement(first, second)
    assert found.sentences == 2
    assert found.heads.total == 5
    assert found.heads.agreement == 80
    assert found.labels.agreement == 60
    assert found.labels_of_same_heads.agreement == 75
    assert found.disagreements() == [("advmod", "obl", 1), ("nsubj", "obl", 1)]
    rows = {row["label"]: row for row in found.by_label()}
    assert (rows["root"]["first"], rows["root"]["both"], rows["root"]["kappa"]) == (2, 2, 1.0)
    assert (rows["obl"]["first"], rows["obl"]["second"], rows["obl"]["both"]) == (0, 2, 0)


def test_punctuation_may_be_left_out():
    counts = Agreement(punctuation=False)
    assert counts.as_dict()["labels"] == {"agreement": None, "kappa": None}


def test_sentences_without_names_are_matched_by_their_places(files):
    first, second = files(text_of("abc", named=False), text_of("abc", named=False))
    assert len(matched(first, second).pairs) == 3
    first, second = files(text_of("abc", named=False), text_of("ab", named=False))
    with pytest.raises(FormatError, match=r"anna\.conllu:9: one side has 3 sentences and the other 2"):
        matched(first, second)


def test_a_name_that_is_missing_or_there_twice_is_an_error(files):
    first, second = files(text_of("aa"), text_of("a"))
    with pytest.raises(FormatError, match="sent_id a is there twice"):
        matched(first, second)
    first, second = files(text_of("a"), text_of("a", named=False))
    with pytest.raises(FormatError, match="has no sent_id"):
        matched(first, second)


def test_the_command_names_what_is_left_out(files, capsys):
    first, second = files(text_of("ab"), text_of("cb", {("b", 3): ("away", 2, "advmod")}))
    assert main(["evaluate", first, second, "--agreement"]) == 1
    assert "no sentence of it is in bert.conllu with the same sent_id" in capsys.readouterr().err
    first, second = files(text_of("abc"), text_of("ca", {("a", 1): ("Birds", 3, "obj")}))
    assert main(["evaluate", first, second, "--agreement"]) == 0
    captured = capsys.readouterr()
    assert "annotated by both: 5 words, 2 sentences, of which 1 with the same tree" in captured.out
    assert "anna.conllu: left out, since not in bert.conllu: 1 (b)\n" in captured.err
    assert main(["evaluate", first, second, "--agreement", "--json", "--no-punctuation"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["words"] == 3
    assert data["only_first"] == ["b"]
    assert data["disagreements"] == [["nsubj", "obj", 1]]
    assert main(["evaluate", first, second, second, "--agreement"]) == 1
    assert "--agreement compares two files" in capsys.readouterr().err
    assert len(list(read(first))) == 3
