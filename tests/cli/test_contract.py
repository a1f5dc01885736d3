"""What every command owes whoever calls it, whatever it is given: the right status, and a short clear message."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tanglewood.cli import COMMANDS, main
from tanglewood.cli.guard import BUG
from tanglewood.cli.inputs import TAKE_ONE
from toy import toy_sentences, toy_text, train_parser

LEARNT = ["--learner", "linear", "--epochs", "1"]
WAYS = {  # command -> its arguments; FILE is where a treebank goes, MODEL a model
    "train": ["FILE", "-o", "out.tw", *LEARNT],
    "parse": ["-m", "MODEL", "FILE"],
    "corpus": ["FILE", "-o", "corpus", "-m", "MODEL", "--on-error", "stop", "-j", "1"],
    "evaluate": ["FILE", "trees.conllu"],
    "crossval": ["FILE", "--folds", "2", *LEARNT],
    "pretrain": ["FILE", "-o", "out.pre.tw", "--words", "20"],
    "embed": ["FILE", "--encoder", "folder", "-o", "out.safetensors"],
    "draw": ["FILE"],
    "find": ["FILE"],
    "trace": ["FILE"],
    "stats": ["FILE"],
    "coverage": ["FILE"],
    "oracle": ["FILE"],
    "convert": ["FILE"],
    "serve": ["-m", "MODEL", "--port", "-1"],
    "reproduce": ["shi2018", "FILE", "-o", "run", "--longest", "3", "--restart"],
    "info": ["MODEL"],
    "models": [],
    "package": ["MODEL", "--licence", "MIT"],
    "completion": ["bash"],
}
READERS = [command for command, way in WAYS.items() if "FILE" in way]
NEED_SENTENCES = {"train", "evaluate", "crossval", "pretrain", "embed", "draw", "trace"}
PRINT = [command for command in WAYS if command not in {"train", "corpus", "pretrain", "embed", "reproduce", "serve"}]
WRITERS = ["parse", "draw", "find", "convert"]
TREES = toy_text(8).encode()
GZIP, XZ = gzip.compress(TREES), lzma.compress(TREES)
LONG = "x" * 1_000_000
BROKEN = {  # name of a file -> content that no reader may take for a treebank, or for nothing at all
    "garbage.conllu": bytes(range(256)) * 20,
    "zeros.conllu": bytes(5000),
    **{f"cut{size}.conllu.gz": GZIP[:size] for size in (0, 1, 2, 5, 9, 10, 18, len(GZIP) // 2, len(GZIP) - 1)},
    **{f"cut{size}.conllu.xz": XZ[:size] for size in (0, 1, 5, 6, 12, 24, len(XZ) // 2, len(XZ) - 1)},
    **{f"cut{size}": GZIP[:size] for size in (2, 9, len(GZIP) // 2)},  # told by the content alone
    "after.conllu.gz": GZIP + b"garbage",
    "after.conllu.xz": XZ + b"garbage",
    "after2.conllu.xz": XZ + XZ[: len(XZ) // 2],
    "one.conllu.gz": GZIP + b"x",
    "plain.conllu.gz": TREES,
    "label.conllu": f"1\tx\t_\tX\t_\t_\t0\tx\t_\n2\t{LONG}\n\n".encode(),
    "form.conllu": f"# sent_id = {LONG}\n1\t{LONG}\t_\tX\t_\t_\t{LONG}\t{LONG}\t_\t_\n\n".encode(),
    "escape.conllu": b"# sent_id = \x1b[2J\x07\n1\tx\t_\tX\t_\t_\t\x1b]0;a\x07\tx\t_\t_\n\n",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a treebank, a model, and what is broken."""
    folder = tmp_path_factory.mktemp("contract")
    (folder / "trees.conllu").write_bytes(TREES)
    (folder / "empty.conllu").write_bytes(b"")
    (folder / "folder").mkdir()
    train_parser(toy_sentences(8)).save(folder / "model.tw")
    for name, content in BROKEN.items():
        (folder / name).write_bytes(content)
    return folder


class Zeros:
    """In the place of an encoder, which would need PyTorch."""

    def __init__(self, name, device):
        self.width = 3

    def __call__(self, sentences):
        return [np.zeros((len(forms), self.width), np.float32) for forms in sentences]

    def close(self):
        pass


@pytest.fixture(autouse=True)
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setattr("tanglewood.embedding.EncoderProcess", Zeros)


def words(command, file="trees.conllu", *more):
    """The arguments of a command that reads this file."""
    return [command, *({"FILE": str(file), "MODEL": "model.tw"}.get(word, word) for word in WAYS[command]), *more]


def keeps_to_the_contract(status, err, wrong=True):
    """A message of a few lines, none of which a terminal would obey, and a status that says whether all is well."""
    assert status != BUG, err
    assert status in ({1, 2} if wrong else {0}), err
    assert "Traceback" not in err
    assert len(err.encode("utf-8", "surrogateescape")) < 4000
    assert err.count("\n") <= 10
    assert not wrong or err.strip()
    assert "\x1b" not in err
    assert "\x07" not in err


def outcome(capfd, arguments):
    """The status, and what stands on standard error."""
    try:
        status = main(arguments)
    except SystemExit as error:
        status = error.code
    return status, capfd.readouterr().err


def test_every_command_is_here():
    assert tuple(WAYS) == COMMANDS


@pytest.mark.parametrize("command", [command for command in WAYS if command != "serve"])
def test_what_is_right_works(command, capfd):
    keeps_to_the_contract(*outcome(capfd, words(command)), wrong=False)


@pytest.mark.parametrize("command", READERS)
def test_broken_files_are_errors_that_say_where(command, capfd):
    late = (
        "one",
        "after",
        *(name for name, content in BROKEN.items() if name.startswith("cut") and len(content) > 100),
    )
    for name in BROKEN:
        if command in TAKE_ONE and name.startswith(late):
            continue  # the first sentence is there, and they look no further
        status, err = outcome(capfd, words(command, name))
        keeps_to_the_contract(status, err)
        assert name in err, name
        if name.startswith(("cut", "after", "one")):
            assert f"{name}:" in err
            assert "made or fetched again" in err


@pytest.mark.parametrize("command", READERS)
def test_files_that_are_not_there_and_folders_are_errors(command, capfd):
    for name in ("nowhere.conllu", "folder", "\x1b[2Jnowhere\x07.conllu", "\udcff.conllu", LONG, f"{LONG}.conllu"):
        keeps_to_the_contract(*outcome(capfd, words(command, name)))


@pytest.mark.parametrize("command", READERS)
def test_an_empty_file_is_an_error_where_sentences_are_needed(command, capfd):
    status, err = outcome(capfd, words(command, "empty.conllu"))
    keeps_to_the_contract(status, err, wrong=command in NEED_SENTENCES)


@pytest.mark.parametrize("command", WAYS)
def test_arguments_that_are_wrong_are_not_repeated_at_length(command, capfd):
    for more in ([f"--{LONG}"], ["--on-error", LONG], ["--set", LONG], [f"--format={LONG}"]):
        keeps_to_the_contract(*outcome(capfd, words(command, "trees.conllu", *more)))


@pytest.mark.parametrize("command", ["parse", "info", "serve", "stats"])
@pytest.mark.parametrize("model", ["nowhere.tw", "folder", "trees.conllu", "empty.conllu", "garbage.conllu", LONG])
def test_models_that_are_none_are_errors(command, model, capfd):
    given = words(command) if command != "stats" else ["stats", "One bird sings", "-m", "model.tw"]
    keeps_to_the_contract(*outcome(capfd, [model if word == "model.tw" else word for word in given]))


NETWORK = ["train", "trees.conllu", "-o", "student.tw", "--epochs", "1"]


@pytest.mark.parametrize("model", ["nowhere.tw", "folder", "trees.conllu", "empty.conllu", "garbage.conllu", LONG])
def test_teachers_that_are_no_models_are_errors(model, capfd):
    status, err = outcome(capfd, [*NETWORK, "--distil-from", "model.tw", model])
    keeps_to_the_contract(status, err)
    assert model[:20] in err
    assert not Path("student.tw").exists()


def test_unlabelled_sentences_that_are_broken_or_not_there_are_errors(capfd):
    for name in (*BROKEN, "nowhere.conllu", "folder", "empty.conllu", LONG, "\x1b[2Jnowhere\x07.conllu"):
        status, err = outcome(capfd, [*NETWORK, "--distil-from", "model.tw", "--unlabelled", name])
        keeps_to_the_contract(status, err)
        if name in BROKEN:
            assert name in err
    for more in (["--unlabelled", "trees.conllu"], ["--distil", "many"], ["--distil", "-1"], ["--distil", LONG]):
        keeps_to_the_contract(*outcome(capfd, [*NETWORK, *more]))
    assert not Path("student.tw").exists()


@pytest.mark.parametrize("command", ["train", "crossval"])
def test_configurations_that_are_wrong_are_errors(command, capfd, folder):
    nested = "[" * 5000
    for text in (f"x = {nested}", LONG, f"system = '{LONG}'", "system = '\\u001b[2J'", "\x00", f"{LONG} = 1"):
        (folder / "config.toml").write_text(text)
        keeps_to_the_contract(*outcome(capfd, words(command, "trees.conllu", "--config", "config.toml")))
        for key in ("stacked", "distil", "distil_from", "unlabelled"):
            keeps_to_the_contract(*outcome(capfd, words(command, "trees.conllu", "--set", f"{key}={text}")))


@pytest.mark.parametrize("command", WRITERS)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_named(command, capfd):
    status, err = outcome(capfd, [*words(command), "-o", "/dev/full"])
    keeps_to_the_contract(status, err)
    assert err.endswith("/dev/full: No space left on device\n")


@pytest.mark.parametrize("command", ["train", "pretrain", "embed", *WRITERS])
@pytest.mark.parametrize("name", ["folder", "folder/", "fresh/"])
def test_an_output_that_names_a_folder_is_told_what_to_name_before_the_input_is_read(command, name, capfd, monkeypatch):
    for read in ("tanglewood.cli.common.Reading.sentences", "tanglewood.treebank.conllu.read_batches"):
        if command != "pretrain":
            monkeypatch.setattr(read, lambda *_, **__: pytest.fail("the input was read first"))
    status, err = outcome(capfd, [*words(command), "-o", name])
    keeps_to_the_contract(status, err)
    assert " a folder" in err
    assert f", such as {name.rstrip('/')}/" in err
    assert not Path("fresh").exists()


@pytest.mark.parametrize("command", ["train", "pretrain", "embed", *WRITERS])
def test_an_output_in_a_folder_that_is_not_there_names_the_folder(command, capfd, monkeypatch):
    for read in ("tanglewood.cli.common.Reading.sentences", "tanglewood.treebank.conllu.read_batches"):
        if command != "pretrain":
            monkeypatch.setattr(read, lambda *_, **__: pytest.fail("the input was read first"))
    for folder, told in (("none", "there is no folder none"), ("trees.conllu", "trees.conllu is not a folder")):
        status, err = outcome(
            capfd, [*words(command), "-o", f"{folder}/x.conllu" if command != "draw" else f"{folder}/x.svg"]
        )
        keeps_to_the_contract(status, err)
        assert f"{folder}/x." in err
        assert told in err
        assert not Path("none").exists()


ERRORS = {
    MemoryError(): "there is not enough memory to go on; what may help: ",
    RecursionError("deep"): "nested too deeply",
    BlockingIOError(11, "try again"): "try again",
    OSError("odd"): "odd",
    OSError(5, "odd", 17): "17: odd",
    BrokenPipeError(32, "Broken pipe", "fifo"): "fifo: Broken pipe",  # of an output that somebody named
    UnicodeEncodeError("ascii", "ü", 0, 1, "no"): "should be in UTF-8",
}


@pytest.mark.parametrize("command", WAYS)
def test_errors_of_python_itself_are_told_in_one_line(command, capfd, monkeypatch):
    for error, told in ERRORS.items():

        def fail(_, error=error):
            raise error

        monkeypatch.setattr(f"tanglewood.cli.{command}.run", fail)
        status, err = outcome(capfd, words(command))
        keeps_to_the_contract(status, err)
        assert err.startswith(f"tanglewood {command}: ")
        assert told in err
        assert err.count("\n") == 1


def test_a_mistake_of_ours_has_a_status_of_its_own_and_can_be_traced(capfd, monkeypatch):
    monkeypatch.setattr("tanglewood.cli.info.run", lambda _: 1 // 0)
    status, err = outcome(capfd, ["info"])
    assert status == BUG
    assert "a mistake in tanglewood: ZeroDivisionError" in err
    assert err.count("\n") == 1
    monkeypatch.setenv("TANGLEWOOD_TRACEBACK", "1")
    with pytest.raises(ZeroDivisionError):
        main(["info"])


# A process with everything loaded that forks for each command, with other standard streams: what a shell does with
# <&- and >&-, without the time that Python takes to start.
FORKS = """
import json, os, sys
from importlib import import_module
from tanglewood.cli import COMMANDS, main
from tanglewood.cli.common import use_one_matrix_thread
use_one_matrix_thread()
import numpy, tanglewood.training.session, tanglewood.experiments.shi2018
from tanglewood.learners.linear import learner
from tanglewood.learners.network import learner
for name in COMMANDS:
    import_module(f"tanglewood.cli.{name}")

def put(number, kind):
    if kind == "closed":
        os.close(number)
        return None
    if kind == "pipe":
        reader, found = os.pipe()
        os.close(reader)
    else:
        found = os.open(kind, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(found, number)
    os.close(found)
    return os.fdopen(number, "r" if number == 0 else "w", buffering=1 if number == 2 else -1, closefd=False)

lines = sys.stdin.read().splitlines()
with open(os.devnull, "w") as sys.stdout, open(os.devnull, "w") as sys.stderr:
    for arguments in {tuple(json.loads(line)[1]) for line in lines}:  # so that all they need is loaded
        if not {"-", "--help", "--version", "train", "crossval", "pretrain", "embed"} & set(arguments):
            main(list(arguments))
sys.stdout, sys.stderr = sys.__stdout__, sys.__stderr__

for line in lines:
    (stdin, stdout, stderr), arguments = json.loads(line)
    child = os.fork()
    if not child:
        sys.stderr = sys.__stderr__ = put(2, stderr)
        sys.stdout = sys.__stdout__ = put(1, stdout)
        sys.stdin = sys.__stdin__ = put(0, stdin)
        sys.exit(main(arguments))
    _, status = os.waitpid(child, 0)
    print(os.waitstatus_to_exitcode(status), flush=True)
"""
USUAL = ["/dev/null", "out.txt", "err.txt"]


def run_all(cases):
    """The status and what was written to out.txt and err.txt, for each list of standard streams and arguments."""
    found = []
    lines = []
    for number, (streams, arguments) in enumerate(cases):
        names = [name.replace("out.txt", f"out{number}").replace("err.txt", f"err{number}") for name in streams]
        lines.append(json.dumps([names, arguments]))
        found.append((Path(f"out{number}"), Path(f"err{number}")))
        for path in found[-1]:
            path.unlink(missing_ok=True)
    done = subprocess.run(
        [sys.executable, "-c", FORKS], input="\n".join(lines), capture_output=True, text=True, check=True, timeout=300
    )
    assert done.stderr == ""
    read = [[path.read_text() if path.exists() else "" for path in paths] for paths in found]
    return [(int(status), *texts) for status, texts in zip(done.stdout.split(), read, strict=True)]


needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


@needs_fork
def test_without_standard_input_files_are_read_and_a_dash_is_an_error():
    streams = ["closed", *USUAL[1:]]
    dashed = [command for command in READERS if command not in {"corpus", "reproduce"}]
    found = run_all([(streams, words(command)) for command in PRINT] + [(streams, words(one, "-")) for one in dashed])
    for status, out, err in found[: len(PRINT)]:
        keeps_to_the_contract(status, err, wrong=False)
        assert out
    for status, out, err in found[len(PRINT) :]:
        keeps_to_the_contract(status, err)
        assert "<stdin>: it is closed" in err
        assert out == ""


@needs_fork
def test_without_standard_output_nothing_is_lost_in_silence():
    streams = [USUAL[0], "closed", USUAL[2]]
    cases = [*([*words(command), "-o", f"{command}.txt"] for command in WRITERS), words("train")]
    cases[WRITERS.index("convert")] += ["--to", "conllu"]
    found = run_all([(streams, words(command)) for command in PRINT] + [(streams, case) for case in cases])
    for status, _, err in found[: len(PRINT)]:
        keeps_to_the_contract(status, err)
        assert "<stdout>: it is closed" in err
    for status, _, err in found[len(PRINT) :]:
        keeps_to_the_contract(status, err, wrong=False)
    assert all(Path(f"{command}.txt").stat().st_size for command in WRITERS)


@needs_fork
def test_a_standard_error_that_is_closed_or_full_changes_nothing_else():
    kinds = ["err.txt", "closed", *(["/dev/full"] if Path("/dev/full").exists() else []), "pipe"]
    cases = [words("info"), words("find"), words("parse"), words("convert", "trees.conllu", "--projectivize", "head")]
    cases += [words("train"), words("parse", "trees.conllu", "-o", "stderr.conllu")]
    found = run_all([([*USUAL[:2], kind], case) for kind in kinds for case in cases])
    told = [err for _, _, err in found[: len(cases)]]
    assert told[1] == "found 8 of 8 sentences\n"
    for number, (status, out, _) in enumerate(found):
        assert (status, out) == (0, found[number % len(cases)][1])


@needs_fork
def test_output_that_cannot_be_written_is_an_error_and_a_reader_that_has_seen_enough_is_none():
    full = PRINT if Path("/dev/full").exists() else []
    cases = [words(command) for command in PRINT] + [["--help"], ["parse", "--help"], ["--version"]]
    found = run_all(
        [([USUAL[0], "/dev/full", USUAL[2]], words(command)) for command in full]
        + [([USUAL[0], "pipe", USUAL[2]], case) for case in cases]
    )
    for status, _, err in found[: len(full)]:
        keeps_to_the_contract(status, err)
        assert "No space left on device" in err
    for status, _, err in found[len(full) :]:
        keeps_to_the_contract(status, err, wrong=False)
        assert "roken" not in err


def shell(line):
    """What a shell makes of a line; $tw is the command."""
    script = f'tw() {{ "{sys.executable}" -m tanglewood "$@"; }}; {line}'
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.skipif(os.name != "posix", reason="this system has no sh")
def test_a_real_shell_finds_the_same():
    status, out, err = shell("tw stats - <&-")
    assert (status, out) == (1, "")
    assert err.startswith("tanglewood stats: <stdin>: it is closed")
    status, out, err = shell("tw stats trees.conllu >&-")
    assert status == 1
    assert err.startswith("tanglewood stats: <stdout>: it is closed")
    assert shell("tw convert trees.conllu --projectivize head 2>&-")[2] == ""
    assert shell("tw stats trees.conllu | head -1")[2] == ""
    status, out, err = shell("PYTHONIOENCODING=ascii tw stats trees.conllu")
    assert (status, err) == (0, "")
    assert "\\u2500" in out
