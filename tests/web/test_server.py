"""The server around the JSON interface: its description, its limits, its log, and what keeps a browser safe."""

from __future__ import annotations

import json
import logging
import re
import threading
import time
from dataclasses import asdict

import pytest
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from playground import DESCRIPTION, FIGURE1, JSON, check, check_answer, client_of, limited, refused, toy_playground
from tanglewood import __version__
from tanglewood.systems import SYSTEMS
from tanglewood.web.api import Playground
from tanglewood.web.app import make_app
from tanglewood.web.limits import Limits


@pytest.fixture(scope="module")
def client():
    with client_of(toy_playground()) as client:
        yield client


def routes():
    """The paths and methods that the application has, without those of the page."""
    inner = make_app()
    while not hasattr(inner, "routes"):
        inner = inner.app
    found = [route for route in inner.routes if route.path != "/" and not route.path.startswith("/static/")]
    return {(route.path, method.lower()) for route in found for method in route.methods - {"HEAD"}}


def test_the_description_is_valid_and_names_exactly_the_routes():
    validate(DESCRIPTION)
    assert routes() == {(path, method) for path, methods in DESCRIPTION["paths"].items() for method in methods}


def test_everything_described_is_said_in_words():
    for path, methods in DESCRIPTION["paths"].items():
        for operation in methods.values():
            assert operation["summary"].endswith("."), path
            assert "421" in operation["responses"]
    schemas = DESCRIPTION["components"]["schemas"]
    assert all(schema.get("description") for schema in schemas.values())
    for name in ("ParseRequest", "TraceRequest", "TreebankRequest", "SentenceFilter", "Options"):
        for field, schema in schemas[name]["properties"].items():
            assert schema.get("description") or "Filter" in str(schema), (name, field)
    assert {*schemas["SystemName"]["enum"]} == {*SYSTEMS}
    options = {option for system in SYSTEMS.values() for option in system.options}
    assert {*schemas["Options"]["properties"]} == {*options, "single_root"}


def test_the_description_and_the_list_of_systems_are_served(client):
    assert client.get("/api/openapi.json").json() == DESCRIPTION
    content = check_answer("/api/systems", "get", client.get("/api/systems"))
    assert [system["name"] for system in content["systems"]] == list(SYSTEMS)
    assert [(model["name"], model["kind"]) for model in content["models"]] == [("toy", "moves"), ("lifted", "moves")]
    assert content["limits"] == asdict(Limits())
    (option,) = [one for one in content["systems"][-1]["options"] if one["name"] == "tag_threshold"]
    assert option["type"] == "number"


def test_health_says_that_the_server_is_up(client):
    content = check_answer("/health", "get", client.get("/health"))
    assert content == {
        "status": "ok",
        "version": __version__,
        "models": ["toy", "lifted"],
        "working": 0,
        "waiting": 0,
    }
    assert client.head("/health").status_code == 200
    assert client.post("/health").status_code == 405


def test_unknown_paths_and_methods_are_answered_in_json(client):
    assert client.get("/api/no").status_code == 404
    assert client.get("/api/parse").status_code == 405
    check("Refusal", client.get("/api/no").json())


def test_large_requests_are_refused_with_or_without_their_length():
    client = limited(max_body=1000)
    assert "1,000 bytes" in refused(client, "parse", 413, conllu="x" * 1000)["error"]
    chunks = (b"x" * 100 for _ in range(20))
    response = client.post("/api/parse", content=chunks, headers=JSON)
    assert response.status_code == 413


def test_long_sentences_and_many_sentences_and_long_derivations_are_refused():
    assert "9 words; a sentence may have 8" in refused(limited(max_words=8), "trace", conllu=FIGURE1)["error"]
    assert "more than 1 sentences" in refused(limited(max_sentences=1), "parse", conllu=FIGURE1 * 2)["error"]
    assert "9 characters; a text may have 8" in refused(limited(max_text=8), "parse", text="nine long")["error"]
    assert "more than 5 steps" in refused(limited(max_steps=5), "trace", conllu=FIGURE1)["error"]
    (error,) = limited(max_words=8).post("/api/treebank", json={"conllu": FIGURE1}).json()["errors"]
    assert error["error"] == "9 words; a sentence may have 8"


def test_a_request_that_takes_too_long_is_ended():
    response = limited(seconds=1e-9).post("/api/treebank", json={"conllu": FIGURE1})
    assert response.status_code == 408
    assert response.headers["Retry-After"] == "1"
    assert "longer than" in check("Refusal", response.json())["error"]


class SlowPipeline:
    """Works until it is let go."""

    def __init__(self):
        self.go = threading.Event()

    def tag_text(self, text, sentences="model"):
        self.go.wait(60)
        return []


def test_too_many_requests_at_once_are_turned_away_while_the_rest_answers():
    slow = SlowPipeline()
    limits = Limits(workers=1, waiting=1, seconds=60)
    with client_of(Playground({"slow": slow}, limits)) as client:
        answers = []
        threads = [
            threading.Thread(target=lambda: answers.append(client.post("/api/parse", json={"text": "a"})))
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 50
        while not answers:  # one works, one waits, one is turned away
            assert time.monotonic() < end
            time.sleep(0.01)
        assert client.get("/").status_code == 200  # the event loop is free
        health = check_answer("/health", "get", client.get("/health"))
        assert (health["working"], health["waiting"]) == (1, 1)
        slow.go.set()
        for thread in threads:
            thread.join(50)
        refusal, *others = answers
        assert (refusal.status_code, refusal.headers["Retry-After"]) == (429, "1")
        assert "2 requests" in check("Refusal", refusal.json())["error"]
        assert [answer.status_code for answer in others] == [422, 422]
        assert client.post("/api/parse", json={"conllu": FIGURE1}).status_code == 200


def test_every_answer_has_the_headers_that_keep_a_browser_safe(client):
    for response in (client.get("/"), client.get("/api/systems"), client.get("/no"), client.post("/api/parse")):
        policy = response.headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'")
        assert "unsafe" not in policy
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "no-referrer"
        assert "Access-Control-Allow-Origin" not in response.headers
    assert client.get("/api/systems").headers["Cache-Control"] == "no-store"


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:8000", 200),
        ("127.0.0.1", 200),
        ("[::1]:8000", 200),
        ("[::1]", 200),
        ("evil.example", 421),
        ("", 421),
    ],
)
def test_only_this_machines_names_are_answered_to(client, host, status):
    assert client.get("/", headers={"Host": host}).status_code == status


def test_other_host_names_can_be_allowed():
    client = TestClient(make_app(hosts=["trees.example"]), base_url="http://trees.example")
    assert client.get("/").status_code == 200
    assert client.get("/", headers={"Host": "127.0.0.1"}).status_code == 421
    assert TestClient(make_app(hosts=None), base_url="http://any.example").get("/").status_code == 200


def test_a_failure_is_told_without_details(monkeypatch):
    monkeypatch.setattr("tanglewood.web.api.read", lambda *_, **__: 1 / 0)
    client = TestClient(make_app(), base_url="http://127.0.0.1", raise_server_exceptions=False)
    response = client.post("/api/parse", json={"conllu": FIGURE1})
    assert response.status_code == 500
    assert "ZeroDivision" not in response.text
    assert response.headers["X-Content-Type-Options"] == "nosniff"


def test_limits_must_let_something_through():
    with pytest.raises(ValueError, match="max_words"):
        Limits(max_words=0)


def logged(caplog, client, *requests):
    """What the log says of some requests, without their times."""
    with caplog.at_level(logging.INFO, "tanglewood.web"):
        for method, path, body in requests:
            client.request(method, path, content=body, headers=JSON)
    return [re.sub(r"[\d.]+ ms ", "", record.getMessage()) for record in caplog.records]


def test_the_log_tells_status_and_sizes_and_nothing_that_was_sent(caplog, client):
    secret = json.dumps({"text": "zorpsecret wug"}).encode()
    wrong = b'{"zorpsecret": 1}'
    told = logged(
        caplog,
        client,
        ("POST", "/api/parse", secret),
        ("POST", "/api/parse?zorpsecret", wrong),
        ("GET", "/health", None),
        ("GET", f"/{'x' * 500}", None),
    )
    answered = len(client.post("/api/parse", content=secret, headers=JSON).content)
    assert told[0] == f"POST /api/parse 200 {len(secret)} bytes in {answered} out"
    assert told[1].startswith(f"POST /api/parse 422 {len(wrong)} bytes in ")
    assert told[2].startswith("GET /health 200 0 bytes in ")
    assert told[3].startswith(f"GET /{'x' * 99} 404 ")
    assert "zorpsecret" not in caplog.text


def test_a_path_cannot_forge_a_line_of_the_log(caplog, client):
    (told,) = logged(caplog, client, ("GET", "/a%0AGET%20/health%20200", None))
    assert told.startswith("GET /a%0AGET%20/health%20200 404 ")


def test_a_failure_is_logged_with_its_request(caplog, monkeypatch):
    monkeypatch.setattr("tanglewood.web.api.read", lambda *_, **__: 1 / 0)
    client = TestClient(make_app(), base_url="http://127.0.0.1", raise_server_exceptions=False)
    told = logged(caplog, client, ("POST", "/api/parse", b'{"conllu": "x"}'))
    assert told[0] == "POST /api/parse failed"
    assert told[1].startswith("POST /api/parse 500 15 bytes in ")


def test_requests_are_not_looked_at_when_nobody_logs(caplog, client):
    with caplog.at_level(logging.WARNING, "tanglewood.web"):
        assert client.get("/health").status_code == 200
    assert caplog.records == []
