"""What /metrics counts: requests, words, seconds and refusals, in a text that Prometheus reads."""

from __future__ import annotations

import re
import threading

import pytest

from playground import DESCRIPTION, FIGURE1, JSON, client_of, limited, toy_playground
from tanglewood.web.metrics import SECONDS, Metrics

SAMPLE = re.compile(r'(tanglewood_[a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)')
LABEL = re.compile(r'([a-z]+)="((?:[^"\\]|\\.)*)"')


def read(text):
    """The samples by name and labels, and the types by name; every line has to be one of the format."""
    assert text.endswith("\n")
    samples, types, helped = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split(" ")[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types
            types[name] = kind
        else:
            name, labels, value = SAMPLE.fullmatch(line).groups()
            assert any(name in (one, f"{one}_bucket", f"{one}_sum", f"{one}_count") for one in types)
            key = (name.removeprefix("tanglewood_"), *sorted(LABEL.findall(labels or "")))
            assert key not in samples
            samples[key] = float(value)
    assert helped == {*types}
    return samples, types


def metrics_of(client):
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.headers["Cache-Control"] == "no-store"
    return read(answer.text)[0]


def requests(path, status):
    return ("requests_total", ("path", path), ("status", str(status)))


@pytest.fixture
def client():
    with client_of(toy_playground()) as client:
        yield client


def test_requests_words_and_refusals_are_counted(client):
    assert client.post("/api/parse", json={"text": "dax zorps. wug"}).status_code == 200
    assert client.post("/api/parse", json={"texts": ["dax zorps", "", "wug mib dax"]}).status_code == 200
    assert client.post("/api/trace", json={"conllu": FIGURE1}).status_code == 200
    assert client.post("/api/treebank", json={"conllu": FIGURE1 * 2}).status_code == 200
    assert client.post("/api/parse", json={"nothing": 1}).status_code == 422
    assert client.post("/api/parse", content=b"{}", headers={"Content-Type": "text/plain"}).status_code == 415
    assert client.get("/static/nothing").status_code == 404
    assert client.get("/%22%0A%5C").status_code == 404
    assert client.get("/health", headers={"Host": "elsewhere"}).status_code == 421
    assert client.get("/").status_code == 200
    found = metrics_of(client)
    assert found[requests("/api/parse", 200)] == 2
    assert found[requests("/api/parse", 422)] == found[requests("/api/parse", 415)] == 1
    assert found[requests("/api/trace", 200)] == found[requests("/api/treebank", 200)] == 1
    assert found[requests("other", 404)] == 2
    assert found[requests("/health", 421)] == found[requests("/", 200)] == 1
    refusals = {key[1][1]: count for key, count in found.items() if key[0] == "refusals_total"}
    assert refusals == {"404": 2, "415": 1, "421": 1, "422": 1}
    words = {key[1][1]: count for key, count in found.items() if key[0] == "words_total"}
    assert words == {"/api/parse": 8, "/api/trace": 9, "/api/treebank": 18}
    assert metrics_of(client)[requests("/metrics", 200)] == 1
    assert found["working",] == found["waiting",] == 0


def test_the_seconds_are_a_histogram():
    metrics = Metrics()
    metrics.paths = {"/a"}
    for seconds in (0.0, 0.005, 0.006, 0.3, 100.0):
        metrics.answered("/a", 200, seconds)
    samples, types = read(metrics.text((2, 5)))
    assert types["tanglewood_request_seconds"] == "histogram"
    assert types["tanglewood_requests_total"] == "counter"
    path = ("path", "/a")
    counts = [samples["request_seconds_bucket", ("le", str(border)), path] for border in (*SECONDS, "+Inf")]
    assert counts == [2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 5]
    assert samples["request_seconds_count", path] == 5
    assert samples["request_seconds_sum", path] == pytest.approx(100.311)
    assert (samples["working",], samples["waiting",]) == (2, 5)


def test_names_are_written_so_that_they_stay_in_their_line():
    metrics = Metrics()
    metrics.worked('a"b\\c\nd', 1)
    samples, _ = read(metrics.text((0, 0)))
    assert samples["words_total", ("path", r"a\"b\\c\nd")] == 1


def test_paths_of_others_do_not_fill_the_memory(client):
    for number in range(50):
        client.get(f"/{number}")
    found = metrics_of(client)
    assert found[requests("other", 404)] == 50
    assert len(found) < 40


def test_no_count_is_lost_between_threads():
    metrics = Metrics()
    metrics.paths = {"/a"}

    def count():
        for _ in range(500):
            metrics.answered("/a", 429, 0.1)
            metrics.worked("/a", 2)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    samples, _ = read(metrics.text((0, 0)))
    assert samples[requests("/a", 429)] == samples["refusals_total", ("status", "429")] == 2000
    assert samples["words_total", ("path", "/a")] == 4000


def test_words_of_answers_that_are_too_large_are_not_counted():
    client = limited(max_answer=10)
    assert client.post("/api/parse", json={"conllu": FIGURE1}, headers=JSON).status_code == 422
    assert not [key for key in metrics_of(client) if key[0] == "words_total"]


def test_the_description_says_that_it_is_text():
    answer = DESCRIPTION["paths"]["/metrics"]["get"]["responses"]["200"]
    assert answer["content"] == {"text/plain": {"schema": {"type": "string"}}}
