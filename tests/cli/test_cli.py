"""The commands as a user runs them: output, errors, exit status."""

from __future__ import annotations

import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tanglewood import __version__, compiled, kernels
from tanglewood.arithmetic import available
from tanglewood.cli import COMMANDS, LONG, main
from tanglewood.cli.info import EXTRAS
from tanglewood.systems import SYSTEMS

ROOT = Path(__file__).resolve().parents[2]
FIGURE_1 = str(ROOT / "examples" / "figure1.conllu")
FIGURE_2 = str(ROOT / "examples" / "figure2-lacroix.conllu")

GOOD = "# sent_id = good-{}\n1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tfalls\tfall\tVERB\t_\t_\t0\troot\t_\t_\n\n"
CYCLE = "# sent_id = bad\n1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_\n2\tfalls\tfall\tVERB\t_\t_\t1\troot\t_\t_\n\n"


@pytest.fixture
def half_bad(tmp_path):
    path = tmp_path / "half-bad.conllu"
    path.write_text(GOOD.format(1) + CYCLE + GOOD.format(2))
    return path


def run_json(capsys, *argv):
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def run_text(capsys, *argv):
    assert main(list(argv)) == 0
    return capsys.readouterr().out


def test_help_lists_every_command_and_each_has_examples(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    out = capsys.readouterr().out
    for command in COMMANDS:
        assert f"\n    {command} " in out
        with pytest.raises(SystemExit):
            main([command, "--help"])
        assert f"  tanglewood {command}" in capsys.readouterr().out.partition("examples:")[2]


def test_help_imports_nothing_heavy():
    code = "import sys; from tanglewood.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
    code += "print([m for m in ('numpy', 'matplotlib', 'tanglewood.systems') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_info_tells_version_build_extras_and_systems(capsys):
    info = run_json(capsys, "info")
    assert info["version"] == __version__
    assert info["compiled"] == compiled()
    assert info["kernels"] == {**kernels()._asdict(), "available": list(available())}
    assert list(info["systems"]) == list(SYSTEMS)
    assert set(info["extras"]) == set(EXTRAS)
    out = run_text(capsys, "info")
    assert ("core: compiled" if compiled() else "core: interpreted") in out
    assert f"kernels: {kernels()} (this machine has {', '.join(available())})" in out
    assert all(f"\n{name} " in out for name in SYSTEMS)


@pytest.mark.parametrize("is_compiled", [False, True])
def test_long_commands_say_on_a_terminal_that_they_are_interpreted(capsys, monkeypatch, is_compiled):
    monkeypatch.setattr("tanglewood.cli.compiled", lambda: is_compiled)
    for on_terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda answer=on_terminal: answer)
        for command in ("coverage", "stats"):
            assert main([command, FIGURE_1]) == 0
            told = capsys.readouterr().err.count("tanglewood runs interpreted here")
            assert told == (on_terminal and not is_compiled and command == "coverage")
    assert set(COMMANDS) > LONG


def test_info_says_which_kernels_were_asked_for(capsys, monkeypatch):
    monkeypatch.setenv("TANGLEWOOD_KERNELS", "portable,reproducible")
    assert "\nkernels: portable, reproducible (this machine has " in run_text(capsys, "info")
    monkeypatch.setenv("TANGLEWOOD_KERNELS", "abacus")
    assert main(["info"]) == 1
    assert "TANGLEWOOD_KERNELS=abacus: there are no such kernels; here it can be portable" in capsys.readouterr().err


def test_info_says_how_to_get_a_missing_extra(capsys, monkeypatch):
    monkeypatch.setattr("tanglewood.cli.info.find_spec", lambda _: None)
    assert "missing; pip install 'tanglewood[plot]' adds it" in run_text(capsys, "info")


def test_every_optional_extra_that_is_not_huge_is_in_all_and_all_are_known_to_info():
    import tomllib

    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    optional = set(extras) - {"all", "docs", "test"}  # the last two are for who works on tanglewood
    assert set(EXTRAS) == optional
    assert extras["all"] == [f"tanglewood[{','.join(sorted(optional - {'contextual', 'spacy'}))}]"]


def test_trace_prints_figure_3_of_nivre_2009_line_by_line(capsys):
    lines = run_text(capsys, "trace", FIGURE_1, "--system", "swap").splitlines()
    # The paper shortens the stack of its 23rd line although it has three nodes only; here it stands whole.
    figure_3 = """
        | [ROOT0] | [A1, ..., .9] |
        SHIFT | [ROOT0, A1] | [hearing2, ..., .9] |
        SHIFT | [ROOT0, A1, hearing2] | [is3, ..., .9] |
        LEFT-ARC(DET) | [ROOT0, hearing2] | [is3, ..., .9] | (2, DET, 1)
        SHIFT | [ROOT0, hearing2, is3] | [scheduled4, ..., .9] |
        SHIFT | [ROOT0, ..., is3, scheduled4] | [on5, ..., .9] |
        SHIFT | [ROOT0, ..., scheduled4, on5] | [the6, ..., .9] |
        SWAP | [ROOT0, ..., is3, on5] | [scheduled4, ..., .9] |
        SWAP | [ROOT0, hearing2, on5] | [is3, ..., .9] |
        SHIFT | [ROOT0, ..., on5, is3] | [scheduled4, ..., .9] |
        SHIFT | [ROOT0, ..., is3, scheduled4] | [the6, ..., .9] |
        SHIFT | [ROOT0, ..., scheduled4, the6] | [issue7, ..., .9] |
        SWAP | [ROOT0, ..., is3, the6] | [scheduled4, ..., .9] |
        SWAP | [ROOT0, ..., on5, the6] | [is3, ..., .9] |
        SHIFT | [ROOT0, ..., the6, is3] | [scheduled4, ..., .9] |
        SHIFT | [ROOT0, ..., is3, scheduled4] | [issue7, ..., .9] |
        SHIFT | [ROOT0, ..., scheduled4, issue7] | [today8, .9] |
        SWAP | [ROOT0, ..., is3, issue7] | [scheduled4, ..., .9] |
        SWAP | [ROOT0, ..., the6, issue7] | [is3, ..., .9] |
        LEFT-ARC(DET) | [ROOT0, ..., on5, issue7] | [is3, ..., .9] | (7, DET, 6)
        RIGHT-ARC(PC) | [ROOT0, hearing2, on5] | [is3, ..., .9] | (5, PC, 7)
        RIGHT-ARC(NMOD) | [ROOT0, hearing2] | [is3, ..., .9] | (2, NMOD, 5)
        SHIFT | [ROOT0, hearing2, is3] | [scheduled4, ..., .9] |
        LEFT-ARC(SBJ) | [ROOT0, is3] | [scheduled4, ..., .9] | (3, SBJ, 2)
        SHIFT | [ROOT0, is3, scheduled4] | [today8, .9] |
        SHIFT | [ROOT0, ..., scheduled4, today8] | [.9] |
        RIGHT-ARC(ADV) | [ROOT0, is3, scheduled4] | [.9] | (4, ADV, 8)
        RIGHT-ARC(VG) | [ROOT0, is3] | [.9] | (3, VG, 4)
        SHIFT | [ROOT0, is3, .9] | [] |
        RIGHT-ARC(P) | [ROOT0, is3] | [] | (3, P, 9)
        RIGHT-ARC(ROOT) | [ROOT0] | [] | (0, ROOT, 3)
    """
    expected = [[cell.strip() for cell in line.split("|")] for line in figure_3.strip().splitlines()]
    assert lines[0].split() == ["Transition", "Stack", "Buffer", "Added", "arc"]
    starts = [lines[0].index(word) for word in ("Transition", "Stack", "Buffer", "Added")]
    found = [
        [line[a:b].strip() for a, b in zip(starts, [*starts[1:], None], strict=True)]
        for line in lines[2 : 2 + len(expected)]
    ]
    assert found == expected
    assert lines[-1] == "30 transitions for 9 words"


def test_trace_prints_table_5_of_lacroix_and_bechet_2014(capsys):
    steps = run_json(capsys, "trace", FIGURE_2, "--system", "three-step")
    left = next(i for i, step in enumerate(steps) if step["transition"] == "Shift") - 1
    assert steps[left]["stack"] == [0]
    assert steps[left]["buffer"] == list(range(1, 11))
    passes = [step["transition"] for step in steps[left + 1 :]]
    # Table 5's slips mended: the last "Shift (x6)" of the left pass is seven, the right pass uses its own names,
    # and a last RShift ends it.
    assert passes == [
        *["Shift", "PutValency↙(clit-l-obj)", "Shift", "Shift", "Dist-Left↖(clit-l-obj)"],
        *["Shift"] * 7,
        *["RShift"] * 4,
        "PutValency↘(modif)",
        *["RShift"] * 5,
        "Dist-Right↗(modif)",
        "RShift",
    ]
    put, dist = steps[left + 2], steps[left + 5]
    assert (put["stack"], put["buffer"][0], put["aside"]) == ([0, 1], 2, [[2, "clit-l-obj"]])
    assert (dist["stack"], dist["buffer"][0], dist["aside"]) == ([0, 1, 2, 3], 4, [])
    assert dist["arc"] == [4, "clit-l-obj", 2]
    assert steps[-2]["arc"] == [1, "modif", 6]


def test_trace_of_a_tree_that_is_not_covered_shows_the_moves_and_fails(capsys):
    assert main(["trace", FIGURE_1, "--system", "attardi"]) == 1
    captured = capsys.readouterr()
    assert "s2>s0(ADV)" in captured.out
    assert "not covered" in captured.err


@pytest.mark.parametrize("system", SYSTEMS)
def test_trace_works_for_every_system(capsys, system, tmp_path):
    path = tmp_path / "rain.conllu"
    path.write_text(GOOD.format(1))
    steps = run_json(capsys, "trace", str(path), "--system", system, "--single-root")
    assert sorted(step["arc"][2] for step in steps if step["arc"]) in ([1, 2], [1])  # planar draws no arc from 0


def test_stats_counts_files_one_by_one(capsys, half_bad):
    rows = run_json(capsys, "stats", FIGURE_1, FIGURE_2, "--worst", "1")
    assert [row["file"] for row in rows] == [FIGURE_1, FIGURE_2]
    assert rows[0]["words"] == 9
    assert rows[0]["nonprojective_arcs"] == 2
    assert rows[0]["degree_2007"] == {"1": 1}
    assert rows[0]["nonprojective_labels"]["NMOD"] == {"nonprojective": 1, "all": 1}
    assert rows[0]["worst"] == [
        {
            "sent_id": "nivre2009-figure1",
            "line": 1,
            "crossing_pairs": 3,
            "nonprojective_arcs": 2,
            "text": "A hearing is scheduled on the issue today .",
        }
    ]
    out = run_text(capsys, "stats", FIGURE_1, FIGURE_2, "--worst", "1")
    assert "all together" in out
    assert "nivre2009-figure1" in out
    assert "A hearing is scheduled on the issue today ." in out


def test_stats_worst_lists_the_most_tangled_first_and_only_n(capsys, tmp_path):
    def crossing(name, n):  # n nested pairs of crossing arcs
        rows = [(1, 3), (2, 4), (3, 0), (4, 3)] if n else [(1, 0), (2, 1), (3, 1), (4, 1)]
        body = "".join(f"{i}\tw\tw\tX\t_\t_\t{h}\tdep\t_\t_\n" for i, h in rows)
        return f"# sent_id = {name}\n{body}\n"

    path = tmp_path / "t.conllu"
    path.write_text(crossing("flat", 0) + crossing("tangled", 1) + crossing("also", 1))
    (row,) = run_json(capsys, "stats", str(path), "--worst", "1")
    assert len(row["worst"]) == 1
    assert row["worst"][0]["sent_id"] in {"tangled", "also"}


def test_a_plot_in_a_folder_that_is_not_there_names_the_folder_before_the_work(capsys, monkeypatch):
    monkeypatch.setattr("tanglewood.cli.common.Reading.sentences", lambda *_: pytest.fail("the input was read first"))
    for command in (["oracle", FIGURE_1], ["evaluate", FIGURE_1, FIGURE_1, "--calibration"]):
        assert main([*command, "--plot", "none/x.svg"]) == 1
        assert "none/x.svg: there is no folder none; it should be made first" in capsys.readouterr().err


def test_words_that_a_command_does_not_know_point_to_its_own_help(capsys):
    with pytest.raises(SystemExit):
        main(["coverage", FIGURE_1, "--list-uncovered", "planar", "--nothing"])
    assert capsys.readouterr().err == (
        "tanglewood coverage: unrecognized arguments: planar --nothing; tanglewood coverage --help shows what can be "
        "given\n"
    )


@pytest.mark.parametrize("number", ["0", "-1"])
def test_stats_worst_needs_a_number_of_sentences(capsys, number):
    assert main(["stats", FIGURE_1, "--worst", number]) == 1
    assert f"--worst {number}: it should be 1 or more" in capsys.readouterr().err


def test_coverage_lists_what_a_system_does_not_derive(capsys):
    (row,) = run_json(capsys, "coverage", FIGURE_1, "--system", "attardi", "swap", "planar", "--list-uncovered")
    (missing,) = row["uncovered"]
    assert missing == {
        "line": 1,
        "sent_id": "nivre2009-figure1",
        "systems": ["attardi", "planar"],
        "text": "A hearing is scheduled on the issue today .",
    }
    out = run_text(capsys, "coverage", FIGURE_1, "--system", "attardi", "swap", "--list-uncovered")
    assert "A hearing is scheduled on the issue today .  attardi\n" in out
    assert "Every system derives every sentence" in run_text(
        capsys, "coverage", FIGURE_1, "--system", "swap", "--list-uncovered"
    )
    assert "uncovered" not in run_json(capsys, "coverage", FIGURE_1, "--system", "attardi")[0]


def test_coverage_counts_each_system_and_knows_their_options(capsys):
    rows = run_json(capsys, "coverage", FIGURE_1)
    assert list(rows[0]["covered"]) == list(SYSTEMS)
    assert rows[0]["covered_nonprojective"]["attardi"] == 0
    assert rows[0]["covered_nonprojective"]["attardi-all"] == 1
    rows = run_json(capsys, "coverage", FIGURE_1, "--system", "attardi", "--degree", "4")
    assert rows[0]["covered"] == {"attardi": 1}
    rows = run_json(capsys, "coverage", FIGURE_1, FIGURE_2, "--system", "attardi", "--reduces", "s0>s1,s1>s0,b0>s1")
    assert [row["covered"]["attardi"] for row in rows] == [0, 0]
    rows = run_json(capsys, "coverage", FIGURE_1, "--system", "covington", "swap", "--max-degree", "0")
    assert rows[0]["covered"] == {"covington": 0, "swap": 1}
    assert "three-step" in run_text(capsys, "coverage", FIGURE_1, FIGURE_2)


def test_coverage_takes_files_before_and_after_the_systems(capsys):
    after = run_json(capsys, "coverage", FIGURE_1, "--system", "swap", "--system", "planar")
    assert after == run_json(capsys, "coverage", "--system", "swap", "planar", FIGURE_1)
    assert main(["coverage", "--system", "swap"]) == 1
    assert "no FILE or TEXT" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--system", "swop"], "unknown system 'swop'; choose from arc-standard"),
        (["--system", "swap", "--degree", "3"], "--degree is an option of attardi"),
        (["--system", "attardi", "--reduces", "s0-s1"], "is not of the form s0>s1"),
        (["--system", "attardi", "--reduces", "s0>s1"], "needs s1>s0"),
        (["--system", "attardi", "--degree", "0"], "1 to 9"),
        (["--system", "covington", "--max-degree", "-1"], "it should be 0 or more"),
        (["--system", "three-step", "--first", "swap"], "choose from arc-eager"),
    ],
)
def test_wrong_options_say_what_would_be_right(capsys, argv, message):
    assert main(["coverage", FIGURE_1, *argv]) == 1
    assert message in capsys.readouterr().err


def test_oracle_fits_a_line_through_the_origin(capsys):
    (row,) = run_json(capsys, "oracle", FIGURE_1)
    assert (row["system"], row["oracle"]) == ("swap", "eager")
    assert (row["transitions"], row["swaps"], row["max_swaps"], row["slope"]) == (30, 6, 6, 3.3333)
    (row,) = run_json(capsys, "oracle", FIGURE_1, "--oracle", "lazy")
    assert (row["transitions"], row["swaps"]) == (22, 2)
    (row,) = run_json(capsys, "oracle", FIGURE_1, "--system", "arc-standard")
    assert (row["sentences"], row["uncovered"], row["transitions"]) == (1, 1, 0)
    assert main(["oracle", FIGURE_1, "--oracle", "sleepy"]) == 1
    assert "it has eager, lazy" in capsys.readouterr().err


def test_oracle_plot_writes_the_picture_or_says_what_is_missing(capsys, tmp_path, monkeypatch):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed")
    target = tmp_path / "figure5.svg"
    assert main(["oracle", FIGURE_1, FIGURE_2, "--plot", str(target)]) == 0
    assert target.read_text().lstrip().startswith("<?xml")
    assert main(["oracle", FIGURE_1, "--plot", str(tmp_path / "figure5.doc")]) == 1
    assert ".svg, .png, .pdf" in capsys.readouterr().err
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    assert main(["oracle", FIGURE_1, "--plot", str(target)]) == 1
    assert "pip install 'tanglewood[plot]'" in capsys.readouterr().err


def test_convert_without_options_copies_byte_for_byte(tmp_path, capfdbinary):
    text = (GOOD.format(1) + GOOD.format(2)).replace("\n", "\r\n").encode()[:-2]
    source, target = tmp_path / "in.conllu", tmp_path / "out.conllu.gz"
    source.write_bytes(text)
    assert main(["convert", str(source)]) == 0
    assert capfdbinary.readouterr().out == text
    assert main(["convert", str(source), "-o", str(target)]) == 0
    assert gzip.decompress(target.read_bytes()) == text


@pytest.mark.parametrize("name", ["x.jpg", "x.svg", "x.conllu.bz2", "x.txt.gz"])
def test_convert_writes_no_conll_to_a_name_that_promises_something_else(tmp_path, capsys, name):
    target = tmp_path / name
    assert main(["convert", FIGURE_1, "-o", str(target)]) == 1
    wanted = "the name should end in one of .conllu, .conll, .conllx, or --to say what to write"
    assert f"{target}: {wanted}" in capsys.readouterr().err
    assert not target.exists()
    assert main(["convert", FIGURE_1, "-o", str(target), "--to", "conllu"]) == 0
    assert target.exists()


def test_convert_projectivizes_and_back(tmp_path):
    for scheme, restored in (("head", True), ("path", False), ("head+path", True)):
        flat, back = tmp_path / "flat.conllu", tmp_path / "back.conllu"
        assert main(["convert", FIGURE_1, "--projectivize", scheme, "-o", str(flat)]) == 0
        assert flat.read_bytes() != Path(FIGURE_1).read_bytes()
        assert main(["convert", str(flat), "--deprojectivize", "-o", str(back)]) == 0
        # `path` cannot tell which of the two marked words below "is" the two lifted ones belong to.
        assert (back.read_bytes() == Path(FIGURE_1).read_bytes()) == restored
        assert "%" not in back.read_text()
        assert "|" not in back.read_text()


def test_convert_changes_the_format(capfd):
    assert main(["convert", FIGURE_1, "--to", "conllx"]) == 0
    assert capfd.readouterr().out.splitlines()[0] == "1\tA\ta\tDET\tDET\t_\t2\tDET\t_\t_"


def test_convert_may_write_the_file_it_reads_and_leaves_it_alone_on_errors(half_bad):
    before = half_bad.read_bytes()
    assert main(["convert", str(half_bad), "--projectivize", "head", "-o", str(half_bad)]) == 1
    assert half_bad.read_bytes() == before
    assert list(half_bad.parent.iterdir()) == [half_bad]
    argv = ["convert", str(half_bad), "--projectivize", "head", "-o", str(half_bad), "--on-error", "skip"]
    assert main(argv) == 0
    assert half_bad.read_text() == GOOD.format(1) + GOOD.format(2)


@pytest.mark.parametrize("command", [["stats"], ["coverage", "--system", "swap"], ["oracle"]])
def test_a_bad_sentence_stops_is_skipped_or_is_reported(capsys, half_bad, command):
    where = f"{half_bad}:6, sent_id bad: "
    assert main([*command, str(half_bad)]) == 1
    assert where in capsys.readouterr().err
    assert main([*command, str(half_bad), "--json", "--on-error", "skip"]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["sentences"] == 2
    assert "1 sentence left out because of errors" in captured.err
    assert where in captured.err
    assert main([*command, str(half_bad), "--json", "--on-error", "report"]) == 1
    captured = capsys.readouterr()
    assert json.loads(captured.out)[0]["sentences"] == 2
    assert captured.err.index(where) < captured.err.index("1 sentence left out")


def test_a_missing_file_and_a_missing_sentence_are_named(capsys):
    assert main(["stats", "no-such-file.conllu"]) == 1
    assert (
        "no-such-file.conllu: there is no such file; text without a space in it needs --text" in capsys.readouterr().err
    )
    assert main(["convert", "no-such-file.conllu"]) == 1
    assert "no-such-file.conllu: No such file or directory" in capsys.readouterr().err
    assert main(["draw", FIGURE_1, "--sentence", "7"]) == 1
    assert "there is no sentence 7 among its 1 sentence" in capsys.readouterr().err
    assert main(["draw", FIGURE_1, "--sent-id", "x"]) == 1
    assert "there is no sent_id x" in capsys.readouterr().err
    assert main(["draw", FIGURE_1, "--sentence", "0"]) == 1
    assert "counted from 1" in capsys.readouterr().err


def test_draw_writes_text_and_svg(capfd, tmp_path):
    assert main(["draw", FIGURE_1, "--tags"]) == 0
    out = capfd.readouterr().out
    assert "hearing" in out
    assert "═" in out
    assert "NOUN" in out
    assert "\x1b" not in out
    target = tmp_path / "tree.svg"
    assert main(["draw", FIGURE_1, "-o", str(target)]) == 0
    assert target.read_text().startswith("<svg")


def test_standard_input_is_a_file_called_dash(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO((GOOD.format(1) * 3).encode())))
    (row,) = run_json(capsys, "stats", "-")
    assert (row["file"], row["sentences"]) == ("-", 3)


def test_a_closed_pipe_is_no_error(tmp_path):
    path = tmp_path / "long.conllu"
    path.write_text(GOOD.format(1) * 20_000)
    command = f"{sys.executable} -m tanglewood convert {path} | head -n 1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout == "# sent_id = good-1\n"
    assert done.stderr == ""


def test_progress_shows_on_a_terminal_and_stays_silent_in_pipes(monkeypatch, capsys, tmp_path):
    path = tmp_path / "long.conllu"
    path.write_text(GOOD.format(1) * 300)
    assert main(["stats", str(path)]) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    ticks = iter(range(100_000))
    monkeypatch.setattr("time.monotonic", lambda: float(next(ticks)))
    assert main(["stats", str(path)]) == 0
    err = capsys.readouterr().err
    assert "192 sentences, " in err
    assert "left" in err
