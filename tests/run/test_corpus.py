"""Parsing in several processes gives the bytes and the errors that one process gives, and no process stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from exhaustive import COMPILED
from tanglewood.errors import ConfigError, LocatedError
from tanglewood.options import ParseOptions
from tanglewood.pipeline import load
from tanglewood.run.corpus import Corpus
from tanglewood.treebank import conllu
from tanglewood.treebank.conllu import Batch
from toy import toy_sentences, toy_text, train_parser

N_TRAIN = 40 if COMPILED else 10
N_PARSED = 120 if COMPILED else 30
SMALL_READS = """
import signal
import sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # tests may run where Ctrl-C is ignored
from tanglewood.treebank import blocks
blocks.READ_SIZE = 600
from tanglewood.cli import main
if __name__ == "__main__":
    sys.exit(main())
"""
BAD = "# sent_id = bad\n1\ttoo few columns\n\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with a model, a script that runs the commands with small reads, and files that are not all the same."""
    folder = tmp_path_factory.mktemp("scale")
    train_parser(toy_sentences(N_TRAIN)).save(folder / "model.tw")
    (folder / "run.py").write_text(SMALL_READS)
    rng = Random(5)
    blocks = toy_text(N_PARSED, seed=9).split("\n\n")[:-1]
    for name, newline, mark in (("plain", "\n", ""), ("odd", "\r\n", "\ufeff")):
        text = "".join(block + "\n" * rng.randint(2, 4) for block in blocks)
        (folder / f"{name}.conllu").write_bytes((mark + text.rstrip("\n")).replace("\n", newline).encode())
    halves = ["\n\n".join(half) + "\n\n" for half in (blocks[: N_PARSED // 2], blocks[N_PARSED // 2 :])]
    (folder / "bad.conllu").write_text(halves[0] + BAD + halves[1] + BAD.replace("bad", "worse"))
    return folder


def command(*arguments, script="run.py"):
    return [sys.executable, script, "parse", "-m", "model.tw", *map(str, arguments)]


def run(folder, *arguments, **options):
    done = subprocess.run(command(*arguments), cwd=folder, capture_output=True, check=False, timeout=120, **options)
    return done.returncode, done.stdout, done.stderr.decode()


@pytest.mark.parametrize(
    "arguments",
    [
        ["plain.conllu", "odd.conllu", "plain.conllu"],
        ["--beam", "4", "--nbest", "3", "--confidence", "odd.conllu", "plain.conllu"],
        ["bad.conllu"],
        ["--on-error", "skip", "bad.conllu", "plain.conllu"],
        ["--on-error", "report", "bad.conllu", "bad.conllu"],
        ["plain.conllu", "nowhere.conllu"],
    ],
    ids=" ".join,
)
def test_any_number_of_processes_gives_the_same_bytes_errors_and_status(folder, arguments):
    one = run(folder, *arguments)
    assert one[0] == (1 if "nowhere.conllu" in arguments or arguments[-1] == "bad.conllu" else 0), one[2]
    for processes in (2, 3) if COMPILED else (2,):
        assert run(folder, *arguments, "-j", processes) == one
    if arguments == ["bad.conllu"]:
        assert one[1].count(b"# sent_id") == N_PARSED // 2  # all that stands before the error
        assert "sent_id bad: " in one[2]


def test_standard_input_is_shared_out_too(folder):
    data = (folder / "plain.conllu").read_bytes()
    one = run(folder, "plain.conllu")
    for option in ("-j", "--processes", "--threads"):  # the last is an older name
        assert run(folder, "-", option, 2, input=data) == one


def batches_of(path, size=7):
    """The blocks of a file in small batches."""
    blocks = [block for batch in conllu.read_batches(path) for block in batch.blocks]
    return [Batch(str(path), blocks[i : i + size]) for i in range(0, len(blocks), size)]


def outcome(corpus, batches, **how):
    """The bytes of the sentences, and the errors in their places."""
    found = []
    found += (sentence.to_bytes() for sentence in corpus.parse(batches, found.append, **how))
    return [(type(item), str(item)) if isinstance(item, LocatedError) else item for item in found]


def test_spawned_processes_load_the_model_themselves(folder):
    worker = load(folder / "model.tw").worker(ParseOptions(beam=2))
    batches = batches_of(folder / "bad.conllu")
    wanted = outcome(Corpus(worker), batches)
    assert [type(item) for item in wanted].count(tuple) == 2
    assert isinstance(wanted[N_PARSED // 2], tuple)
    assert outcome(Corpus(worker, processes=2), batches, method="spawn") == wanted


def test_words_are_counted_and_columns_that_are_missing_remembered(folder):
    worker = load(folder / "model.tw").worker()
    sentences = list(conllu.read(folder / "plain.conllu"))
    batches = batches_of(folder / "plain.conllu")
    for processes in (1, 2):
        corpus = Corpus(worker, processes=processes)
        outcome(corpus, batches)
        assert corpus.words == sum(map(len, sentences))
        assert corpus.missing == []


def test_a_batch_becomes_what_its_sentences_become(folder):
    pipeline = load(folder / "model.tw")
    sentences = list(conllu.read(folder / "plain.conllu", trees=False))
    wanted = [sentence.to_bytes() for sentence in pipeline.parser.parse_all(sentences, beam=2)]
    worker = pipeline.worker(ParseOptions(beam=2))
    assert outcome(Corpus(worker), batches_of(folder / "plain.conllu")) == wanted


def test_options_that_do_not_fit_are_refused_before_any_process_starts(folder):
    pipeline = load(folder / "model.tw")
    for options in (ParseOptions(search="lite"), ParseOptions(beam=1, nbest=2)):
        with pytest.raises(ConfigError):
            pipeline.worker(options)
    with pytest.raises(ConfigError, match="processes must be 1 or more"):
        outcome(Corpus(pipeline.worker(), processes=0), [])


SLOW_BEGINNING = """\
import multiprocessing, time
from tanglewood.run import processes
begin = processes._begin
def begin_slowly(*given):
    time.sleep(multiprocessing.current_process().name.endswith("2"))
    begin(*given)
processes._begin = begin_slowly
"""


@pytest.mark.parametrize("beginning", ["", SLOW_BEGINNING], ids=["", "while_another_begins"])
def test_a_process_that_dies_is_an_error_that_says_so(folder, beginning):
    script = (
        f"import os\nfrom tanglewood import worker\n{beginning}"
        "worker.Worker.parse = lambda self, batch: os._exit(9)\n" + SMALL_READS
    )
    (folder / "dies.py").write_text(script)
    arguments = command("plain.conllu", "-j", 2, "-o", "never.conllu", script="dies.py")
    done = subprocess.run(arguments, cwd=folder, capture_output=True, check=False, timeout=120)
    assert done.returncode == 1
    assert done.stderr.decode().startswith("tanglewood parse: a process ended without a word")
    assert len(done.stderr.splitlines()) == 1
    assert not (folder / "never.conllu").exists()


def test_one_process_answers_each_sentence_from_a_pipe_at_once(folder):
    with subprocess.Popen(command("-"), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for block in toy_text(3, seed=4).split("\n\n")[:-1]:
            process.stdin.write(f"{block}\n\n".encode())
            process.stdin.flush()
            lines = []
            while not lines or lines[-1] != b"\n":
                lines.append(process.stdout.readline())
                assert lines[-1], "the process has ended"
            assert len(lines) == block.count("\n") + 2
        process.stdin.close()
        assert process.stdout.read() == b""
    assert process.returncode == 0


def children_of(pid):
    path = Path(f"/proc/{pid}/task/{pid}/children")
    if not path.exists():
        pytest.skip("this system does not list the children of a process")
    return [int(child) for child in path.read_text().split()]


def waiting_process(folder):
    """A command with two processes that waits for more input."""
    pipe = subprocess.PIPE
    arguments = command("-", "-j", 2)
    process = subprocess.Popen(arguments, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True)
    data = (folder / "plain.conllu").read_bytes()
    process.stdin.write(data)
    process.stdin.flush()
    process.stdout.readline()  # something has been parsed
    return process


def all_end(pids):
    def is_running(pid):
        try:
            return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
        except OSError:
            return False

    deadline = time.monotonic() + 30
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not any(map(is_running, pids))


def test_ctrl_c_ends_all_processes_quietly(folder):
    process = waiting_process(folder)
    children = children_of(process.pid)
    assert len(children) == 2
    os.killpg(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err.decode() == "\ntanglewood parse: interrupted\n"
    assert all_end(children)


def test_no_process_outlives_one_that_is_killed(folder):
    process = waiting_process(folder)
    children = children_of(process.pid)
    process.kill()
    process.communicate(timeout=60)
    assert all_end(children)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_reader_that_has_seen_enough_ends_the_command_quietly(folder, processes):
    arguments = command(*["plain.conllu"] * (9 if COMPILED else 3), "-j", processes)
    process = subprocess.Popen(arguments, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 0
