"""A Dask cluster as the engine: the same bytes, whichever workers are lost, and errors that say what is wrong."""

from __future__ import annotations

import importlib.util
import os
import platform
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

import pytest
from corpora import make_corpus, outputs, parse_corpus

from tanglewood.cli import main
from tanglewood.errors import ModelError
from tanglewood.run import dask_engine
from tanglewood.run.dask_engine import cluster
from tanglewood.run.folder import by_cluster

pytest.importorskip("distributed", reason="dask and distributed are not installed")
pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def client():
    with cluster("local", 2) as client:
        yield client


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    make_corpus(Path("in"), 20)
    Path("toy.tw").write_bytes(model.read_bytes())
    parse_corpus(model, Path("in"), Path("whole"))


def over(client, **more):
    return parse_corpus(Path("toy.tw"), Path("in"), Path("out").absolute(), engine=partial(by_cluster, client), **more)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries keep memory as they like")
def test_freed_memory_is_kept_where_dask_would_give_it_back():
    count = """
import resource
from tanglewood.run.dask_engine import keep_freed_memory
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(100):
        bytearray(1 << 20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
before = faults()
keep_freed_memory()
print(before, faults())
"""
    as_dask = {**os.environ, "MALLOC_TRIM_THRESHOLD_": "65536"}
    told = subprocess.run([sys.executable, "-c", count], env=as_dask, capture_output=True, text=True, check=True)
    before, after = map(int, told.stdout.split())
    assert before > 10 * after


def test_a_cluster_gives_the_same_bytes_and_loads_the_model_once_a_worker(client):
    summary, told = over(client, part_size=200)
    assert (summary.failed, told) == (0, [])
    assert outputs(Path("out")) == outputs(Path("whole"))
    assert over(client, part_size=200)[0].skipped == 10

    def loaded():
        """Which job each worker has."""

        def own():
            return id(dask_engine._own.work.__self__)

        told = {}
        for worker in client.scheduler_info()["workers"]:
            told[worker] = client.submit(own, workers=[worker], pure=False).result()
        return told

    before = loaded()
    assert len(before) == 2
    for name in ("long", "packed", "trees"):
        Path(f"out/{name}.conllu").unlink()
    assert over(client, part_size=200)[0].finished == 3
    assert loaded() == before


def test_workers_that_are_killed_change_nothing(client):
    stop = threading.Event()

    def kill():
        for _ in range(3):
            if stop.wait(0.3):
                return
            for pid in list(client.run(os.getpid).values())[:1]:
                os.kill(pid, signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        summary, _ = over(client, part_size=60)
    finally:
        stop.set()
        killer.join()
    assert summary.failed == 0
    assert outputs(Path("out")) == outputs(Path("whole"))


def test_bad_inputs_fail_alone(client):
    Path("in/bad.txt.gz").write_bytes(b"no gz")
    summary, told = over(client)
    assert summary.failed == 1
    assert told[0].startswith("bad.txt.gz:1: the name ends in .gz")
    assert outputs(Path("out")) == outputs(Path("whole"))


def test_a_model_that_is_replaced_is_not_used(client):
    dumped = dask_engine.pickle.dumps
    data = []

    def dumps(job):
        data.append(dumped(job))
        Path("toy.tw").write_bytes(b"another model")
        return data[0]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dask_engine.pickle, "dumps", dumps)
        with pytest.raises(ModelError, match=r"toy.tw"):
            over(client)
    assert outputs(Path("out")) == {}


def test_the_command_takes_local_and_addresses(model, capsys, client, monkeypatch):
    command = ["corpus", "in", "-o", "out", "-m", str(model)]
    assert main([*command, "--dask", client.scheduler.address]) == 0
    assert outputs(Path("out")) == outputs(Path("whole"))
    monkeypatch.setattr(dask_engine, "LONGEST", 0.5)
    assert main([*command, "--dask", "tcp://127.0.0.1:1"]) == 1
    assert "--dask tcp://127.0.0.1:1: no scheduler answers there" in capsys.readouterr().err


def test_without_the_package_an_error_says_what_to_install(model, capsys, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "distributed" else found(name, *more)
    )
    assert main(["corpus", "in", "-o", "out", "-m", str(model), "--dask", "local"]) == 1
    assert "pip install 'tanglewood[dask]'" in capsys.readouterr().err
