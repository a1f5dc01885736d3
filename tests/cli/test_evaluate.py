"""`tanglewood evaluate` as a user runs it."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tanglewood import read
from tanglewood.cli import main
from tanglewood.measure.calibration import calibration
from tanglewood.measure.scores import evaluate
from tanglewood.show.reliability import draw

SMALL = str(Path(__file__).resolve().parents[2] / "examples" / "small.conllu")
KEYS = [
    *("file", "words", "sentences", "las", "uas", "la", "upos", "xpos"),
    *("exact_match", "exact_match_unlabelled"),
    *("projective_las", "projective_uas", "projective_la"),
    *("nonprojective_las", "nonprojective_uas", "nonprojective_la"),
    *("nonprojective_precision", "nonprojective_recall", "nonprojective_f1"),
    *("nonprojective_labelled_precision", "nonprojective_labelled_recall", "nonprojective_labelled_f1"),
    *("nonprojective_gold", "nonprojective_predicted", "las_universal"),
    *("clas", "clas_precision", "clas_recall", "mlas", "mlas_precision", "mlas_recall"),
    *("blex", "blex_precision", "blex_recall", "las_interval", "uas_interval", "mcnemar", "by"),
]


@pytest.fixture
def lifted(tmp_path, capsys):
    """The small treebank made projective: seven arcs have another head and label."""
    path = tmp_path / "lifted.conllu"
    assert main(["convert", SMALL, "--projectivize", "head", "-o", str(path)]) == 0
    capsys.readouterr()
    return str(path)


def run_json(capsys, *argv):
    assert main(["evaluate", *argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def error_of(capsys, *argv):
    assert main(["evaluate", *argv]) == 1
    return capsys.readouterr().err


def test_json_has_one_object_a_system_with_all_scores(capsys, lifted):
    first, second = run_json(capsys, SMALL, lifted, SMALL)
    assert list(first) == KEYS
    assert (first["file"], second["file"]) == (lifted, SMALL)
    assert (first["words"], first["sentences"], first["las"]) == (44, 7, 84.0909)
    assert (first["nonprojective_gold"], first["nonprojective_predicted"]) == (7, 0)
    assert (first["nonprojective_precision"], first["nonprojective_f1"]) == (None, 0)
    assert second["las"] == second["exact_match"] == second["nonprojective_f1"] == second["mlas"] == 100
    assert second["las_interval"] == [100, 100]
    assert first["las_interval"][0] < first["las"] < first["las_interval"][1]
    assert first["las"] == round(evaluate(read(SMALL), read(lifted)).las, 4)
    assert (first["mcnemar"], first["by"]) == ([], {})
    (test,) = second["mcnemar"]
    assert (test["first"], test["second"]) == (lifted, SMALL)
    assert test["las"] == {
        **{"only_first": 0, "only_second": 7, "chi_square": None, "p_value": 2 / 2**7, "significant": True}
    }
    assert (test["exact_match"]["only_second"], test["exact_match"]["p_value"]) == (6, 2 / 2**6)


def test_options_change_what_is_counted_and_shown(capsys, lifted):
    (row,) = run_json(capsys, SMALL, lifted, "--no-punctuation", "--bootstrap", "0", "--by", "degree", "--by", "label")
    assert row["words"] == 37
    assert "las_interval" not in row
    assert list(row["by"]) == ["label", "degree"]
    assert "punct" not in row["by"]["label"]
    assert row["by"]["label"]["nsubj"]["gold"] == 13
    (row,) = run_json(capsys, SMALL, lifted, "--by", "all", "--bootstrap", "3")
    assert list(row["by"]) == ["label", "length", "direction", "degree", "crossing"]
    (other,) = run_json(capsys, SMALL, lifted, "--by", "all", "--bootstrap", "3", "--seed", "2")
    assert row["las_interval"] != other["las_interval"]
    assert row["by"] == other["by"]


def test_the_table_for_people_has_a_column_a_system(capsys, lifted, tmp_path):
    assert main(["evaluate", SMALL, lifted, SMALL, "--by", "direction"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "44 words in 7 sentences; 7 non-projective arcs in gold"
    assert lines[2].split() == ["score", "lifted.conllu", "small.conllu"]
    assert lines[4].split() == ["LAS", "84.09", "100.00"]
    found = [line.split() for line in lines]
    assert ["lifted.conllu", "small.conllu", "LAS", "0", "7", "0.0156", "yes"] in found
    assert ["small.conllu", "100.00", "100.00", "100.00", "100.00"] in found
    assert "lifted.conllu by direction" in lines
    twin = tmp_path / "again" / "lifted.conllu"
    twin.parent.mkdir()
    twin.write_bytes(Path(lifted).read_bytes())
    assert main(["evaluate", SMALL, lifted, str(twin)]) == 0
    assert f"{lifted}  {twin}\n" in capsys.readouterr().out
    assert main(["evaluate", SMALL, lifted, "--no-punctuation", "--bootstrap", "0"]) == 0
    out = capsys.readouterr().out
    assert "37 words in 7 sentences, punctuation left out;" in out
    assert "bootstrap" not in out
    assert "McNemar" not in out


# Where the words differ. ------------------------------------------------------------------------------------------


@pytest.fixture
def glued(tmp_path):
    """The small treebank with the full stop of the first sentence glued to the verb, which keeps its arcs."""
    path = tmp_path / "glued.conllu"
    text = Path(SMALL).read_text(encoding="utf-8")
    assert text.count("4\tslept\t") == 1
    head, tail = text.split("5\t.\t.\tPUNCT\t_\t_\t4\tpunct\t_\t_\n", 1)
    path.write_text(head.replace("4\tslept\t", "4\tslept.\t") + tail, encoding="utf-8")
    return str(path)


def test_words_that_differ_give_the_table_of_the_shared_task(capsys, lifted, glued):
    assert main(["evaluate", SMALL, glued]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0] == "44 words in 7 sentences in gold"
    assert lines[1] == "43 words in 7 sentences in glued.conllu, 42 of them aligned"
    assert "words differ, so they are aligned by characters and scored as in CoNLL 2018" in out
    assert "Intervals and McNemar's test, which need the same words, are left out." in out
    rows = [line.rsplit(maxsplit=4) for line in lines]
    assert lines[7].split()[:5] == ["score", "precision", "recall", "F1", "aligned"]
    assert ["Tokens", "97.67", "95.45", "96.55", "-"] in rows
    assert ["Sentences", "100.00", "100.00", "100.00", "-"] in rows
    assert ["UPOS", "97.67", "95.45", "96.55", "100.00"] in rows
    assert ["LAS", "95.35", "93.18", "94.25", "97.62"] in rows  # dog -> slept is lost too
    assert ["non-projective arcs", "100.00", "100.00", "100.00", "100.00"] in rows
    assert "XPOS" not in out  # there is none
    assert main(["evaluate", SMALL, glued, lifted]) == 0
    out = capsys.readouterr().out
    assert "\nF1                    glued.conllu  lifted.conllu\n" in out
    assert ["LAS", "94.25", "84.09"] in [line.split() for line in out.splitlines()]
    assert "\nlifted.conllu\nscore " in out


def test_json_of_words_that_differ(capsys, lifted, glued):
    first, second = run_json(capsys, SMALL, glued, lifted)
    assert (first["file"], second["file"]) == (glued, lifted)
    assert (first["words"], first["words_system"], first["words_aligned"], second["words_aligned"]) == (44, 43, 42, 44)
    assert (first["las"], first["las_precision"], first["las_recall"]) == (94.2529, 95.3488, 93.1818)
    assert (first["xpos"], first["tokens_f1"], second["las_universal"]) == (None, 96.5517, 84.0909)
    assert not {"mcnemar", "las_interval", "by"} & {*first}
    assert {"file", *evaluate(SMALL, glued).as_dict()} == {*first}


def test_the_words_may_be_aligned_by_characters_even_if_they_are_the_same(capsys, lifted):
    (row,) = run_json(capsys, SMALL, lifted, "--align")
    assert (row["words"], row["words_aligned"], row["las"], row["tokens_f1"]) == (44, 44, 84.0909, 100)
    assert main(["evaluate", SMALL, lifted, "--align"]) == 0
    assert "\nWords are aligned by characters" in capsys.readouterr().out


def test_words_that_differ_may_come_from_standard_input(capsys, glued, monkeypatch):
    (expected,) = run_json(capsys, SMALL, glued)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(glued).read_bytes())))
    assert run_json(capsys, SMALL, "-") == [{**expected, "file": "-"}]


def test_options_that_need_the_same_words_say_so(capsys, lifted, glued):
    difference = f"{glued}:6, sent_id nap-en: word 4 is 'slept.', but 'slept' in gold at {SMALL}:6, sent_id nap-en"
    assert f"--by needs the same words in gold and system: {difference}" in error_of(
        capsys, SMALL, glued, "--by", "all"
    )
    message = f"--no-punctuation needs the same words in gold and system: {difference}"
    assert message in error_of(capsys, SMALL, lifted, glued, "--no-punctuation")
    assert "with --align they may differ" in error_of(capsys, SMALL, lifted, "--align", "--no-punctuation")


# Calibration. ------------------------------------------------------------------------------------------------------


@pytest.fixture
def sure(tmp_path, lifted):
    """The small treebank made projective, with a confidence of 0.95 for every head but 0.5 for every fourth."""
    path = tmp_path / "sure.conllu"
    with path.open("wb") as out:
        for sentence in read(lifted):
            values = ["0.5000" if number % 4 == 0 else "0.9500" for number in range(1, len(sentence) + 1)]
            out.write(sentence.with_misc("Confidence", values).to_bytes())
    return str(path)


def test_calibration_is_shown_below_the_scores(capsys, sure):
    assert main(["evaluate", SMALL, sure, "--calibration", "--by", "direction"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split() for line in lines]
    place = lines.index("sure.conllu by confidence")
    data = calibration(SMALL, sure)
    assert rows[place - 2] == ["sure.conllu", "44", *(f"{x:.2f}" for x in (data.ece, data.mean_confidence, data.uas))]
    assert lines[place + 1].split() == ["from", "to", "words", "right", "heads", "mean", "confidence", "UAS"]
    low, high = data.bins[7], data.bins[14]
    assert (low.words + high.words, low.right + high.right) == (44, 37)
    assert rows[place + 3 :] == [
        ["46.67", "53.33", str(low.words), str(low.right), "50.00", f"{low.uas:.2f}"],
        ["93.33", "100.00", str(high.words), str(high.right), "95.00", f"{high.uas:.2f}"],
    ]
    assert main(["evaluate", SMALL, sure]) == 0
    assert "onfidence" not in capsys.readouterr().out


def test_calibration_is_part_of_the_json_of_each_system(capsys, sure, glued, tmp_path):
    both = [sure, str(tmp_path / "twin.conllu")]
    Path(both[1]).write_text(Path(sure).read_text().replace("0.5000", "0.5"))
    rows = run_json(capsys, SMALL, *both, "--calibration", "--no-punctuation")
    assert list(rows[0]) == [*KEYS, "calibration"]
    assert rows[0]["calibration"] == calibration(SMALL, sure, punctuation=False).as_dict() == rows[1]["calibration"]
    assert rows[0]["calibration"]["words"] == 37
    assert rows[0]["calibration"]["uas"] == rows[0]["uas"]
    (row,) = run_json(capsys, SMALL, sure, "--calibration", "--align")
    assert row["calibration"] == calibration(SMALL, sure).as_dict()
    assert "calibration" not in run_json(capsys, SMALL, sure)[0]


def test_calibration_counts_aligned_words_also_from_standard_input(capsys, glued, tmp_path, monkeypatch):
    text = b"".join(one.with_misc("Confidence", ["0.8"] * len(one)).to_bytes() for one in read(glued))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    (row,) = run_json(capsys, SMALL, "-", "--calibration")
    found = row["calibration"]
    assert (found["words"], found["mean_confidence"]) == (row["words_aligned"], 80)
    assert found["uas"] == row["uas_aligned_accuracy"]
    assert found["ece"] == pytest.approx(found["uas"] - 80)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert main(["evaluate", SMALL, "-", "--calibration"]) == 0
    assert ["80.00", "86.67", "42", "41", "80.00", "97.62"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


def test_calibration_is_drawn(capsys, sure, glued, tmp_path):
    target = tmp_path / "reliability.svg"
    assert main(["evaluate", SMALL, sure, sure, "--calibration", "--plot", str(target)]) == 0
    assert target.read_text() == draw([(sure, calibration(SMALL, sure))] * 2)
    assert main(["evaluate", SMALL, sure, "--calibration", "--align", "--json", "--plot", str(target)]) == 0
    assert target.read_text() == draw([("sure.conllu", calibration(SMALL, sure))])
    assert "--plot draws the calibration, so it needs --calibration" in error_of(capsys, SMALL, sure, "--plot", "x.svg")
    message = "x.pdf: the name should end in one of .svg, .png"
    assert message in error_of(capsys, SMALL, sure, "--calibration", "--plot", "x.pdf")


def test_words_without_confidence_are_an_error_that_says_where(capsys, lifted, sure, tmp_path):
    target = tmp_path / "x.svg"
    err = error_of(capsys, SMALL, sure, lifted, "--calibration", "--plot", str(target))
    assert f"{lifted}:3, sent_id nap-en: word 1 has no Confidence= in MISC" in err
    assert "parse --confidence writes" in err
    assert not target.exists()
    bad = tmp_path / "bad.conllu"
    bad.write_text(Path(sure).read_text().replace("0.9500", "95", 1))
    err = error_of(capsys, SMALL, str(bad), "--calibration")
    assert f"{bad}:3, sent_id nap-en: word 1 has Confidence=95; it should be a number from 0 to 1" in err


# What is given. ----------------------------------------------------------------------------------------------------


def test_one_file_may_be_standard_input(capsys, lifted, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(Path(lifted).read_bytes())))
    (row,) = run_json(capsys, SMALL, "-")
    assert (row["file"], row["las"]) == ("-", 84.0909)
    assert "one of the files only" in error_of(capsys, "-", "-")


def test_errors_say_what_is_wrong_and_where(capsys, lifted, tmp_path):
    bad = tmp_path / "bad.conllu"
    bad.write_text(Path(SMALL).read_text().replace("\told\told", "\tnew\told"))
    here, there = (f"'{word[0]}' in 'The {word} dog slept . A'" for word in ("new", "old"))
    message = (
        f"{bad}:4, sent_id nap-en: {here} here, but {there} in gold at {SMALL}:4, sent_id nap-en; both should have"
    )
    assert message in error_of(capsys, SMALL, lifted, str(bad))
    bad.write_text(Path(SMALL).read_text().replace("4\tslept\tsleep\tVERB\t_\t_\t0", "4\tslept\tsleep\tVERB\t_\t_\t3"))
    assert f"{bad}:" in error_of(capsys, SMALL, str(bad))
    bad.write_text("")
    assert f"{bad}: there are no sentences in it" in error_of(capsys, SMALL, str(bad))
    assert f"{bad}: there are no sentences in it" in error_of(capsys, str(bad), SMALL)
    bad.write_text("1\t...\t_\t_\t_\t_\t0\troot\t_\t_\n\n")
    assert "nothing to score" in error_of(capsys, str(bad), str(bad), "--no-punctuation")
    assert "no-such.conllu: No such file" in error_of(capsys, SMALL, "no-such.conllu")
    assert "--bootstrap -1" in error_of(capsys, SMALL, lifted, "--bootstrap", "-1")
