"""The benchmarks run: on invented sentences, with a learner that has hardly learnt anything."""

import json
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from exhaustive import COMPILED
from tanglewood.arithmetic import available
from tanglewood.systems import SYSTEMS
from toy import toy_sentences, toy_text, train_parser

pytestmark = pytest.mark.one_build

BENCH = Path(__file__).resolve().parents[1] / "bench"


def run(script, *arguments):
    command = [sys.executable, str(BENCH / script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr
    return done


def test_swaps_counts_those_of_three_oracles(tmp_path):
    rows = ["1\ta\t_\t_\t_\t_\t0\troot\t_\t_", "2\tb\t_\t_\t_\t_\t0\troot\t_\t_"]
    rows += [f"{word}\tc\t_\t_\t_\t_\t1\tdep\t_\t_" for word in (3, 4)]
    (tmp_path / "dev.conllu").write_text("\n".join(rows) + "\n\n")
    table = run("swaps.py", tmp_path).stdout.splitlines()
    assert table[2] == f"| {tmp_path.name} | 1 | 1 | 2 | 2 | 1 | 1 | 0 |"


def test_accuracy_is_the_mean_over_seeds_and_kept(tmp_path):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(12, seed=seed))
    command = ["accuracy.py", tmp_path, "--learner", "linear", "--seeds", "1,2", "--searches", "greedy", "--rounds", 1]
    command += ["--work", tmp_path / "work"]
    first = run(*command)
    assert first.stderr.count("training test") == 2
    row = first.stdout.splitlines()[2].split(" | ")
    kept = [
        json.loads((tmp_path / f"work/linear/{tmp_path.name}.{n}.dev.greedy.json").read_text())["las"] for n in (1, 2)
    ]
    assert row[2] == f"{sum(kept) / 2:.2f} ({min(kept):.2f}-{max(kept):.2f})"
    again = run(*command)
    assert (again.stdout, again.stderr.count("training test")) == (first.stdout, 0)


@pytest.mark.skipif(not COMPILED, reason="learns taggers of full size")
def test_taggers_are_scored_with_and_without_teachers(tmp_path):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(30, seed=seed))
    (tmp_path / "text").write_text("".join(f"{' '.join(s.forms)}\n" for s in toy_sentences(20, seed=3)))
    command = ["taggers.py", tmp_path, "--seeds", "1", "--folds", "2", "--unlabelled", tmp_path / "text"]
    _, _, *rows = run(*command).stdout.splitlines()
    found = [row.strip("| ").split(" | ") for row in rows]
    assert [row[1] for row in found] == ["alone", "with teachers", "with teachers and text"]
    assert [row for row in found if not 25 < float(row[2]) <= 100] == [], "UPOS"


def test_sentences_are_scored_without_a_parser(tmp_path):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(12, seed=seed))
    kept = tmp_path / "tokenizer.tw"
    rows = []
    for choice in ("--keep", "--tokenizer"):
        found = run("sentences.py", tmp_path, choice, kept)
        rows.append(found.stdout.splitlines()[2].strip("| ").split(" | ")[:-1])
    assert rows[0] == rows[1]
    assert rows[0][0] == tmp_path.name
    assert float(rows[0][1]) > 90  # tokens of a toy language


@pytest.mark.skipif(not COMPILED, reason="learns five taggers and a parser of full size")
def test_text_is_scored_by_the_official_evaluation(tmp_path):
    for part, seed in (("train", 1), ("dev", 2)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(12, seed=seed))
    command = ["text.py", tmp_path, "--searches", "greedy", "--rounds", 1, "--work", tmp_path / "work"]
    command += ["--name", "short", "--train", "--epochs 2"]
    found = run(*command)
    row = found.stdout.splitlines()[2].strip("| ").split(" | ")
    assert row[:2] == [tmp_path.name, "greedy"]
    assert all(0 <= float(figure) <= 100 for figure in row[2:-1])
    assert float(row[2]) > 90  # tokens of a toy language
    assert (tmp_path / "work" / "short" / f"{tmp_path.name}.1.tw").exists()
    assert run(*command).stdout == found.stdout  # kept


def test_every_system_is_trained_measured_and_kept(tmp_path):
    for part, seed in (("train", 1), ("dev", 2), ("test", 3)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(12, seed=seed))
    command = ["systems.py", tmp_path, "--learner", "linear", "--epochs", 1, "--rounds", 1]
    command += ["--work", tmp_path / "work", "--json", tmp_path / "rows.json"]
    command += [] if COMPILED else ["--only", "swap,covington,arc-eager"]
    first = run(*command)
    rows = json.loads((tmp_path / "rows.json").read_text())
    names = [row["system"] for row in rows]
    systems = set(SYSTEMS) - {"joint-swap"}  # joint.py measures that one
    assert {name.split(",")[0] for name in names} == (systems if COMPILED else {"swap", "covington", "arc-eager"})
    assert {"swap, eager oracle", "swap, lazy oracle", "arc-eager, head+path", "covington, degree <= 0"} < set(names)
    assert [line.split(" | ")[0] for line in first.stdout.splitlines()[2:]] == [f"| {name}" for name in names]
    by_name = {row["system"]: row for row in rows}
    for row in rows:
        assert 1 <= row["calls"] + 1 <= row["moves"] + 1
        assert row["tokens_cpu"] > 0
    assert by_name["swap, lazy oracle"]["moves"] >= 2
    again = run(*command)
    assert "training" not in again.stderr
    assert [line.split(" | ")[1] for line in again.stdout.splitlines()] == [
        line.split(" | ")[1] for line in first.stdout.splitlines()
    ]


def test_exact_search_over_moves_stands_beside_beams_and_models_are_kept(tmp_path):
    for part, seed in (("train", 1), ("dev", 2), ("test", 3)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(8, seed=seed))
    command = ["exact_moves.py", tmp_path, "--set", "epochs=2", "--beams", "2,4", "--work", tmp_path / "work"]
    first = run(*command)
    assert first.stdout.count(": epoch ") == 4
    lines = [line for line in first.stdout.splitlines() if line.startswith(f"| {tmp_path.name}")]
    rows = [line.strip("| ").split(" | ") for line in lines]
    searches = [row for row in rows if len(row) >= 9]
    assert [row[2] for row in searches] == ["greedy", "beam 2", "beam 4", "exact-moves"] * 2
    assert all(row[-1] == "0" for row in searches), "a beam found a better derivation than exact search"
    assert [row[7].split()[0] for row in searches if row[2] == "exact-moves"] == ["0", "0"]
    assert ": epoch " not in run(*command).stdout


def test_exact_search_over_moves_is_timed_by_length():
    done = run("exact_moves.py", "--speed", "--lengths", "3,6" if COMPILED else "3", "--seconds", 0)
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()[2:]]
    assert [row[0] for row in rows][::-1][0] == "attardi-all"
    assert all(float(cell) > 0 for row in rows for cell in row[1:])


def test_joint_parsing_stands_beside_the_pipeline_and_models_are_kept(tmp_path):
    for part, seed in (("train", 1), ("dev", 2), ("test", 3)):
        (tmp_path / f"{part}.conllu").write_text(toy_text(8, seed=seed))
    command = ["joint.py", tmp_path, "--folds", 2, "--tagger-epochs", 1, "--epochs", 1, "--beam", 2]
    command += ["--work", tmp_path / "work", "--json", tmp_path / "rows.json"]
    first = run(*command)
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["part"], row["learnt with beam"]) for row in rows] == [
        (p, b) for b in "18" for p in ("dev", "test")
    ] * 2
    assert {row["row"].split(",")[0] for row in rows} == {"tagger", "joint-swap"}
    assert "epoch 1" in first.stdout
    again = run(*command)
    assert "epoch 1" not in again.stdout
    assert again.stdout.splitlines()[-8].split(" | ")[:-1] == first.stdout.splitlines()[-8].split(" | ")[:-1]


@pytest.mark.skipif(not COMPILED, reason="a sentence of 1,000 words takes its time when interpreted")
def test_speed_is_measured_by_length_and_plotted(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    train_parser(toy_sentences(20)).save(tmp_path / "model.tw")
    (tmp_path / "words.conllu").write_text(toy_text(30))
    plot = tmp_path / "speed.svg"
    done = run("length.py", tmp_path / "model.tw", tmp_path / "words.conllu", "--words", 500, "--plot", plot)
    assert [line.split(" | ")[0] for line in done.stdout.splitlines()[2:]][-1] == "| 1,000"
    assert "| 20 | " in done.stdout
    assert "<svg" in plot.read_text()


def test_the_playground_answers_many_clients(tmp_path):
    """A model without a pipeline takes no text; then the other requests are sent."""
    train_parser(toy_sentences(8)).save(tmp_path / "model.tw")
    done = run("serve.py", "-m", tmp_path / "model.tw", "--clients", 4, "--seconds", 1)
    first, *rows = done.stdout.splitlines()
    assert first.startswith("4 clients, ")
    assert [row.split()[0] for row in rows] == ["trace", "page", "errors:", "memory"]
    assert rows[2] == "errors: none"


def test_each_family_of_kernels_is_timed(tmp_path):
    text = tmp_path / "text.txt"
    text.write_text("Rain falls on the roof. " * 20)
    rows = [line.split(" | ") for line in run("families.py", text, "--rounds", 1).stdout.splitlines()[2:]]
    assert [row[0] for row in rows] == [f"| {family}" for family in reversed(available())]
    assert all(float(cell.strip(" |").replace(",", "")) > 0 for row in rows for cell in row[1:])


def test_a_corpus_is_made_once_and_parsed_by_every_engine(tmp_path):
    (tmp_path / "train.conllu").write_text(toy_text(12))
    command = ["corpus.py", tmp_path, "--files", 8, "--words", 400, "--engines", "1,2", "--options", "--search greedy"]
    texts = []
    for work in (tmp_path / "one", tmp_path / "two"):
        run(*command, "--work", work, "--make-only")
        found = {path.relative_to(work): path.read_bytes() for path in (work / "texts").rglob("*.*")}
        texts.append(found)
    assert texts[0] == texts[1]
    assert len(texts[0]) == 8
    assert {path.suffix for path in texts[0]} == {".txt", ".jsonl", ".gz", ".xz"}
    written = ["--json", tmp_path / "found.json", "--plot", tmp_path / "speed.svg"]
    done = run(*command, "--work", tmp_path / "one", *written)
    assert "the corpus is in" in done.stderr
    engines = json.loads((tmp_path / "found.json").read_text())["engines"]
    assert engines["1"]["words"] == engines["2"]["words"] >= 400
    assert [one["files"] for one in engines.values()] == [8, 8]
    rows = [line.strip("| ").split(" | ") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == ["engine", "---", "1", "2"]
    assert rows[2][4] == "1.00"
    again = run("costs.py", tmp_path / "found.json", "--plot", tmp_path / "again.svg")
    assert [line.split(" | ")[0] for line in again.stdout.splitlines()[2:]] == ["| 1", "| 2"]
    assert "words a second</text>" in (tmp_path / "speed.svg").read_text()
    assert (tmp_path / "again.svg").read_bytes() == (tmp_path / "speed.svg").read_bytes()


def test_costs_are_in_proportion_to_the_words(tmp_path):
    """Two million words with 2 GB in and 40 GB out, in 7,200 CPU seconds, so that a billion takes 500 times that."""
    one = {"words": 2_000_000, "bytes": 40 * 10**9, "files": 1, "seconds": 7200.0, "cpu": 7200.0}
    one |= {"largest": 200.0, "half": 300.0, "end": 300.0}
    four = one | {"seconds": 1800.0, "cpu": 7920.0, "end": 600.0}
    found = {"corpus": {"files": 1, "bytes": 2 * 10**9}, "engines": {"1": one, "4": four, "dask:4": four}}
    (tmp_path / "found.json").write_text(json.dumps(found))
    done = run("costs.py", tmp_path / "found.json", "--plot", tmp_path / "speed.svg")
    header, _, *rows = (line.strip("| ").split(" | ") for line in done.stdout.splitlines())
    assert header[6] == "10¹² words, computed: CPU hours"
    more = ["1,000.0", "20,000.0"]
    assert rows[0] == ["1", "2,000,000", "1,000.0", *more, "300", "1,000,000", *more, "41.7"]
    assert rows[1] == ["4", "2,000,000", "1,100.0", *more, "150", "1,100,000", *more, "41.7"]
    assert rows[2] == ["dask:4", *rows[1][1:]]
    plot = (tmp_path / "speed.svg").read_text()
    for name in ("processes", "Dask", "as many times one process", "workers", "words a second"):
        assert f">{name}</text>" in plot


GRANT = "either version {} of the License, or (at your option) any later version."
ENDS = "... noncommercial ... {} ... That's all there is to it!"


@pytest.mark.parametrize(
    ("text", "licence"),
    [
        ("CC BY-SA 4.0", "CC-BY-SA-4.0"),
        ("Creative Commons License Attribution-\nShareAlike 3.0 Unported", "CC-BY-SA-3.0"),
        ("https://creativecommons.org/licenses/by-sa/2.5/", "CC-BY-SA-2.5"),
        ("Attribution 2.0 Generic", "CC-BY-2.0"),
        ("Creative Commons BY, version 4.0 (CC BY 4.0)", "CC-BY-4.0"),
        (
            "CC BY 4.0. The text of the Creative Commons public licenses is dedicated to the public domain: CC0.",
            "CC-BY-4.0",
        ),
        ("CC BY-SA 4.0 of the trees, CC BY-SA 3.0 of the words", "CC-BY-SA-3.0, CC-BY-SA-4.0"),
        ("The Creative Commons Attribution licence", ""),
        ("CC BY-SA 5.0", ""),
        ("Creative Commons Legal Code CC0 1.0 Universal", "CC0-1.0"),
        ("The treebank is in the public domain.", "LicenseRef-Public-Domain"),
        ("The treebank is not in the public domain.", ""),
        ("The data are in the public domain, the annotation: CC BY 4.0", "CC-BY-4.0"),
        ("The MIT Open Source Licence", "MIT"),
        ("MIT License, or GPL", "GPL, MIT"),
        ("BSD 3-Clause License", "BSD-3-Clause"),
        ("The 2-Clause BSD License", "BSD-2-Clause"),
        ("the BSD license", ""),
        ("Apache License\nVersion 2.0, January 2004", "Apache-2.0"),
        ("Licensed under Apache 2.0", "Apache-2.0"),
        ("Mozilla Public License Version 2.0", "MPL-2.0"),
        (
            'MPL 2.0. "Secondary License" means the GNU GPL 2.0, or any later versions of those licenses.',
            "MPL-2.0",
        ),
        ("MOZILLA PUBLIC LICENSE\n  Version 1.1", "MPL-1.1"),
        ("MPL 1.1/GPL 2.0/LGPL 2.1", "GPL-2.0-only, LGPL-2.1-only, MPL-1.1"),
        ("EUROPEAN UNION PUBLIC LICENCE v. 1.2", "EUPL-1.2"),
        ("EUPL v1.1. 'Compatible Licences' according to Article 5 EUPL are: GPL v. 2 - Cecill v. 2.0", "EUPL-1.1"),
        ("Lesser General Public License For Linguistic Resources", "LGPLLR"),
        ("GNU General Public License, version 2", "GPL-2.0-only"),
        ("version 3 of the GNU General Public License", "GPL-3.0-only"),
        ("version 3 or later of the GNU General Public License", "GPL-3.0-or-later"),
        (
            f"GNU General Public License as published by the Free Software Foundation; {GRANT.format(2)}",
            "GPL-2.0-or-later",
        ),
        (f"GNU Lesser General Public License; {GRANT.format(2.1)} See the LGPL.", "LGPL-2.1-or-later"),
        ("GPLv3", "GPL-3.0-only"),
        ("GPL-3.0-or-later", "GPL-3.0-or-later"),
        ("LGPL 2.1+", "LGPL-2.1-or-later"),
        ("GPL 2. We will tell you more sooner or later.", "GPL-2.0-only"),
        ("GPL 2.1", ""),
        ("the GNU Public License", ""),
        ("AGPL-3.0", "AGPL-3.0-only"),
        (f"GNU GENERAL PUBLIC LICENSE\n  Version 2, June 1991 {ENDS.format(GRANT.format(2))}", "GPL-2.0-only"),
        (f"{GRANT} GNU LIBRARY GENERAL PUBLIC LICENSE Version 2, June 1991 {ENDS.format('GPL')}", "LGPL-2.0-only"),
        (f"LGPL 2.1 or later. GNU LESSER GENERAL PUBLIC LICENSE Version 2.1, May 1999 {ENDS}", "LGPL-2.1-or-later"),
        (f"GNU GENERAL PUBLIC LICENSE Version 1, February 1989 {ENDS} The words: CC BY 4.0", "CC-BY-4.0, GPL-1.0-only"),
        (f"GNU GENERAL PUBLIC LICENSE Version 3, 29 June 2007 {ENDS} For noncommercial use.", "noncommercial"),
        ("GNU General Public License Version 2, of 1991. For noncommercial use. That's all.", "noncommercial"),
        (
            "GNU Free Documentation License Version 1.2, May 2002 ... permit their use in free software.",
            "GFDL-1.2-only",
        ),
        ("CC BY-SA 4.0 and CC BY-NC-SA 4.0", "BY-NC"),
        ("Creative Commons Attribution-NoDerivs 3.0", "NoDeriv"),
        ("The CeCILL licence, which goes with GPL 2 or later", "CeCILL, GPL-2.0-or-later"),
        ("The Artistic License", ""),
        ("Ask us.", ""),
    ],
)
def test_a_licence_is_told_from_its_text_or_left_out(text, licence):
    """What names several, forbids something or cannot be told is left out, with the reason."""
    name, reason = runpy.run_path(str(BENCH / "models.py"))["licence_of"](text)
    if licence in ("noncommercial", "BY-NC", "NoDeriv"):
        assert (name, reason) == ("", f"its licence says {licence!r}")
    elif ", " in licence:
        assert (name, reason) == ("", f"its licence names {licence}; --licence NAME=LICENCE says which it is")
    else:
        assert (name, reason.partition(";")[0]) == (licence, "" if licence else "its licence cannot be told")


def test_whole_texts_of_licences_are_told():
    """Their versions stand alone: only who licenses something says that later ones may be taken as well."""
    folder = Path("/usr/share/common-licenses")
    if not folder.is_dir():
        pytest.skip(f"there is no {folder}, as on Debian")
    wanted = {"Artistic": "", "BSD": "BSD-3-Clause", "LGPL-2": "LGPL-2.0-only"}
    wanted |= dict.fromkeys(["Apache-2.0", "CC0-1.0", "MPL-1.1", "MPL-2.0"])
    wanted |= {f"GPL-{version}": f"GPL-{version}.0-only" for version in (1, 2, 3)}
    wanted |= {"LGPL-2.1": "LGPL-2.1-only", "LGPL-3": "LGPL-3.0-only"}
    wanted |= {f"GFDL-{version}": f"GFDL-{version}-only" for version in (1.2, 1.3)}
    licence_of = runpy.run_path(str(BENCH / "models.py"))["licence_of"]
    found = {name: licence_of((folder / name).read_text())[0] for name in wanted if (folder / name).is_file()}
    assert found
    assert found == {name: name if wanted[name] is None else wanted[name] for name in found}


def test_models_are_made_of_free_treebanks_only(tmp_path):
    texts = {
        "Free-One": "Licensed under CC BY-SA 4.0.",
        "Bound-Two": "Creative Commons Attribution-NonCommercial-\nShareAlike 2.5",
        "Odd-Three": "Ask us.",
        "Free-Four": "The MIT License",
    }
    for name, text in texts.items():
        (tmp_path / "in" / name).mkdir(parents=True)
        (tmp_path / "in" / name / "LICENSE.txt").write_text(text)
        for part in ("train", "dev"):
            if name != "Free-Four":
                (tmp_path / "in" / name / f"{part}.conllu").write_text(toy_text(8))
    told = run("models.py", tmp_path / "in", "--list").stderr.splitlines()
    assert told == [
        "Bound-Two is left out: its licence says 'NonCommercial'",
        "Free-Four is left out: it has no train.conllu",
        "Odd-Three is left out: its licence cannot be told; --licence NAME=LICENCE says what it is",
        "Free-One: CC-BY-SA-4.0",
    ]
    other = tmp_path / "more" / "Free-Five"
    other.mkdir(parents=True)
    for name in ("train.conllu", "dev.conllu"):
        (other / name).touch()
    (other / "LICENSE.txt").write_text("Lesser General Public License For Linguistic Resources")
    assert run("models.py", tmp_path / "more", "--list").stderr == "Free-Five: LGPLLR\n"
    command = ["models.py", tmp_path / "in", "-o", tmp_path / "out", "--work", tmp_path / "work"]
    done = run(*command, "--train", "--learner linear --epochs 1 --set folds=2")
    assert done.stdout.strip().endswith("tanglewood_model_free_one-1.0-py3-none-any.whl")
    assert "training free-one" not in run(*command).stderr  # it is kept
