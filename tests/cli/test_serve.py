"""The commands beside the page: serve starts, says where, and ends; trace follows a model."""

from __future__ import annotations

import argparse
import json
import re
import signal
import socket
import subprocess
import sys
import urllib.request
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace
from urllib.error import HTTPError
from urllib.parse import urlsplit

import pytest

from tanglewood.cli import main
from tanglewood.cli.serve import add_arguments
from tanglewood.derivation import trace_model
from tanglewood.training.config import Config
from tanglewood.training.loop import Training
from tanglewood.web.api import Playground
from tanglewood.web.limits import Limits
from toy import sentences_of, toy_sentences, toy_text, train_parser

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.fixture(scope="module")
def parser():
    return train_parser(toy_sentences(12), system="swap")


@pytest.fixture(scope="module")
def model(parser, tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "toy.tw"
    parser.save(path)
    return path


@pytest.fixture
def words(tmp_path):
    """Sentences without trees."""
    lines = [line.split("\t") for line in toy_text(2).split("\n")]
    path = tmp_path / "words.conllu"
    rows = ["\t".join([*row[:6], "_", "_", *row[8:]]) if len(row) == 10 else row[0] for row in lines]
    path.write_text("\n".join(rows), encoding="utf-8")
    return path


@contextmanager
def serving(*arguments, end=signal.SIGINT):
    """Run the command until the block ends; gives its address, and then what it wrote to standard error."""
    start = "import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)"  # tests may run where it is ignored
    start += "; import sys; from tanglewood.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", start, "serve", "--port", "0", *map(str, arguments)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = SimpleNamespace()
    try:
        line = server.stdout.readline()
        assert line.startswith("tanglewood is at http://127.0.0.1:")
        found.address = line.split()[3]
        yield found
    finally:
        server.send_signal(end)
        _, found.errors = server.communicate(timeout=60)
    assert server.returncode == 0


def test_serve_prints_its_address_answers_and_ends_cleanly(model):
    with serving("-m", model, "--max-words", "7", "--quiet") as server:
        with urllib.request.urlopen(f"{server.address}api/systems", timeout=60) as answer:
            content = json.load(answer)
        assert content["limits"]["max_words"] == 7
        assert [one["name"] for one in content["models"]] == ["toy"]
    assert server.errors == "\ntanglewood serve: ended\n"


def test_variables_set_limits_and_options_win(model, monkeypatch):
    monkeypatch.setenv("TANGLEWOOD_SERVE_MAX_WORDS", "7")
    monkeypatch.setenv("TANGLEWOOD_SERVE_WORKERS", "3")
    with serving("-m", model, "--workers", "1", "--quiet") as server:
        answer = urllib.request.urlopen(f"{server.address}api/systems", timeout=60)
        with answer:
            limits = json.load(answer)["limits"]
    assert (limits["max_words"], limits["workers"]) == (7, 1)


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP])
def test_serve_ends_as_cleanly_when_it_is_told_to(model, end):
    with serving("-m", model, "--quiet", end=end) as server:
        pass  # perhaps before it has begun to listen
    assert server.errors == "\ntanglewood serve: ended\n"
    with socket.socket() as half:
        half.settimeout(60)
        with serving("-m", model, "--quiet", end=end) as server:
            address = urlsplit(server.address)
            with urllib.request.urlopen(f"{server.address}health", timeout=60) as answer:
                assert answer.status == 200
            half.connect((address.hostname, address.port))
            half.sendall(b"GET / HTTP/1.1\r\n")
        assert server.errors == "\ntanglewood serve: ended\n"
        assert half.recv(100) == b""


def test_serve_takes_the_limits_of_connections(model):
    with serving("-m", model, "--quiet", "--arrival", "0.2", "--connections", "3", "--max-answer", "5000") as server:
        address = urlsplit(server.address)
        with socket.create_connection((address.hostname, address.port), timeout=60) as half:
            half.sendall(b"GET / HTTP/1.1\r\n")
            assert half.recv(100).startswith(b"HTTP/1.1 408 ")
        with urllib.request.urlopen(f"{server.address}health", timeout=60) as answer:
            assert answer.status == 200


def test_serve_logs_a_line_for_each_request(model):
    with serving("-m", model) as server:
        for path in ("", "health?secret", "no%0Asuch%20path"):
            with suppress(HTTPError), urllib.request.urlopen(f"{server.address}{path}", timeout=60) as answer:
                answer.read()
        body = json.dumps({"conllu": toy_text(1)}).encode()
        request = urllib.request.Request(f"{server.address}api/parse", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            length = len(answer.read())
    *lines, ended = server.errors.strip().split("\n")
    assert ended == "tanglewood serve: ended"
    told = [
        re.fullmatch(r"(\d{4}-\S+ \S+) (\w+ \S+ \d+) [\d.]+ ms (\d+ bytes in \d+ out)", line) for line in lines if line
    ]
    assert [found[2] for found in told] == [
        "GET / 200",
        "GET /health 200",
        "GET /no%0Asuch%20path 404",
        "POST /api/parse 200",
    ]
    assert told[-1][3] == f"{len(body)} bytes in {length} out"


def test_serve_without_its_packages_says_how_to_get_them(monkeypatch, capsys):
    monkeypatch.setattr("tanglewood.cli.serve.find_spec", lambda _: None)
    assert main(["serve"]) == 1
    assert "needs starlette, uvicorn, msgspec: pip install 'tanglewood[web]'" in capsys.readouterr().err


def test_serve_on_a_port_that_is_taken_says_so(model, capsys):
    with socket.create_server(("127.0.0.1", 0)) as other:
        assert main(["serve", "-m", str(model), "--port", str(other.getsockname()[1])]) == 1
    assert "in use" in capsys.readouterr().err


def test_serve_with_a_wrong_model_or_limit_does_not_start(model, capsys):
    assert main(["serve", "-m", str(EXAMPLES / "figure1.conllu")]) == 1
    assert "not a tanglewood model" in capsys.readouterr().err
    assert main(["serve", "-m", str(model), "--workers", "0"]) == 1
    assert "the limit workers must be more than 0" in capsys.readouterr().err


def test_every_limit_is_an_option(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    shown = capsys.readouterr().out
    text = " ".join(shown.split())
    for name in Limits.__slots__:
        assert f"--{name.replace('_', '-')} " in shown
        assert f"(default {getattr(Limits(), name):,})" in text.partition(f"--{name.replace('_', '-')} ")[2]


def test_help_shows_the_defaults_of_where_and_what_it_serves(capsys):
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    _, _, shown = " ".join(capsys.readouterr().out.split()).partition("options: ")
    for option, default in {
        "--model": "the bundled English one",
        "--host": "127.0.0.1: this machine",
        "--port": "8000; 0: any free one",
        "--allow-host": "those of this machine, or any with another --host",
    }.items():
        _, _, told = shown.partition(f"{option} ")
        assert re.search(r"\(default:? (.*?)\)", told)[1] == default
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    args = parser.parse_args([])
    assert (args.model, args.host, args.port, args.allow_host) == ([], "127.0.0.1", 8000, None)


def test_other_commands_do_not_load_the_web():
    code = (
        "import sys; from tanglewood.cli import main; main(['info']);"
        "sys.exit(any(name.split('.')[0] in ('starlette', 'uvicorn', 'msgspec') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode == 0


def test_trace_follows_a_model(model, words, parser, capsys):
    assert main(["trace", "-m", str(model), str(words), "--sentence", "2"]) == 0
    shown = capsys.readouterr().out
    assert main(["trace", "-m", str(model), str(words), "--sentence", "2", "--json"]) == 0
    steps = json.loads(capsys.readouterr().out)
    arcs = {arc[2]: arc[0] for step in steps for arc in step["attached"]}
    tree = parser.parse(sentences_of(words.read_bytes(), trees=False)[1])
    assert [arcs[word] for word in range(1, len(tree) + 1)] == tree.heads[1:].tolist()
    assert f"{len(steps) - 1} transitions for {len(tree)} words" in shown
    assert all(legal["score"] is not None for step in steps for legal in step["legal"])


def test_trace_refuses_a_model_of_arcs_and_a_system_beside_a_model(model, words, capsys):
    assert main(["trace", "-m", str(model), str(words), "--system", "swap"]) == 1
    assert "a model has its own system" in capsys.readouterr().err
    training = Training(Config(system="attardi", search="mst", settings={"epochs": 1}), toy_sentences(6), ())
    *_, last = training.run()
    arcs = last.parser
    with pytest.raises(ValueError, match="makes no moves"):
        list(trace_model(arcs, toy_sentences(1)[0]))


def test_a_playground_without_anything_is_one():
    assert Playground().systems().models == []
