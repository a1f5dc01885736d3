"""The JSON interface of the playground: what it answers, what it refuses, and that its description is true."""

from __future__ import annotations

import json
import re
import threading
import time
from dataclasses import asdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate
from starlette.testclient import TestClient

from tanglewood.parser import ParseOptions
from tanglewood.pipeline import Pipeline
from tanglewood.systems import SYSTEMS
from tanglewood.web.api import Playground
from tanglewood.web.app import make_app
from tanglewood.web.limits import Limits
from tanglewood.web.models import Model
from tanglewood.web.openapi import describe
from toy import sentences_of, toy_sentences, toy_text, train_parser

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FIGURE1 = (EXAMPLES / "figure1.conllu").read_text(encoding="utf-8")
NASTY = "<script>alert(1)</script>"


class ToyModel(Model):
    """Stands in for a model with a pipeline: every word is a noun, and a full stop ends a sentence."""

    def tag_text(self, text):
        rows = []
        for part in text.split("."):
            words = part.split()
            lines = [f"{n}\t{word}\t_\tNOUN\tN\t_\t_\t_\t_\t_" for n, word in enumerate(words, 1)]
            if lines:
                rows.append("\n".join(lines))
        return sentences_of("\n\n".join(rows) + "\n\n", trees=False) if rows else []


@pytest.fixture(scope="module")
def moves():
    return ToyModel(train_parser(toy_sentences(12), system="swap"))


@pytest.fixture(scope="module")
def lifted():
    return ToyModel(train_parser(toy_sentences(12), system="arc-eager", pseudo_projective="head"))


@pytest.fixture(scope="module")
def client(moves, lifted):
    with TestClient(make_app(Playground({"toy": moves, "lifted": lifted})), base_url="http://127.0.0.1") as client:
        yield client


def limited(**limits):
    return TestClient(make_app(Playground(limits=Limits(**limits))), base_url="http://127.0.0.1")


SCHEMAS = describe()["components"]["schemas"]


def check(name, content):
    """The content is what the description says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    Draft202012Validator(schema).validate(content)
    return content


def post(client, path, **body):
    response = client.post(f"/api/{path}", json=body)
    assert response.status_code == 200, response.text
    check(f"{path.capitalize()}Request", body)
    return check(f"{path.capitalize()}Answer", response.json())


def refused(client, path, status=422, **body):
    response = client.post(f"/api/{path}", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code == status, response.text
    return check("Problem", response.json())


def test_the_description_is_valid_and_names_exactly_the_routes():
    app = make_app()
    validate(describe())
    routes = {
        (route.path, method.lower())
        for route in app.app.routes
        if route.path.startswith("/api/")
        for method in route.methods - {"HEAD"}
    }
    assert routes == {(path, method) for path, methods in describe()["paths"].items() for method in methods}


def test_the_description_and_the_list_of_systems_are_served(client):
    assert client.get("/api/openapi.json").json() == describe()
    content = check("Systems", client.get("/api/systems").json())
    assert [system["name"] for system in content["systems"]] == list(SYSTEMS)
    assert [(model["name"], model["kind"]) for model in content["models"]] == [("toy", "moves"), ("lifted", "moves")]


PAGE = (EXAMPLES.parent / "docs" / "playground.md").read_text(encoding="utf-8")
CURLS = re.findall(r"curl -s http://127\.0\.0\.1:8000/api/(\w+) [^\n]*\\\n  -d '(\{.*?\})'\n", PAGE, re.DOTALL)


@pytest.mark.parametrize(("path", "body"), CURLS)
def test_the_requests_of_the_documentation_are_answered(client, path, body):
    post(client, path, **json.loads(body))


def test_the_limits_of_the_documentation_are_those_of_the_server():
    assert len(CURLS) == 4
    shown = dict(re.findall(r"^\| `--([a-z-]+)` \| (\d+) \|", PAGE, re.MULTILINE))
    assert {name.replace("-", "_"): float(value) for name, value in shown.items()} == asdict(Limits())


def test_parse_keeps_the_trees_of_conllu_and_draws_them(client):
    (sentence,) = post(client, "parse", conllu=FIGURE1)["sentences"]
    assert sentence["heads"] == [2, 3, 0, 3, 2, 7, 5, 4, 3]
    assert sentence["conllu"] == FIGURE1
    assert 'class="arc nonprojective"' in sentence["svg"]
    assert "<style" not in sentence["svg"]  # the policy forbids it; the page has the colours


def test_parse_gives_text_a_tree_for_each_sentence(client, moves):
    sentences = post(client, "parse", text="ta wug zorps. wug fimps")["sentences"]
    assert [len(sentence["words"]) for sentence in sentences] == [3, 2]
    tagged = moves.tag_text("ta wug zorps")[0]
    assert sentences[0]["heads"] == moves.parser.parse(tagged).heads[1:].tolist()


def test_parse_fills_in_missing_trees_but_no_broken_ones(client):
    bare = "1\twug\t_\tNOUN\t_\t_\t_\t_\t_\t_\n2\tzorps\t_\tVERB\t_\t_\t_\t_\t_\t_\n\n"
    (sentence,) = post(client, "parse", conllu=bare)["sentences"]
    assert sorted(sentence["heads"]) in ([0, 1], [0, 2])
    broken = bare.replace("VERB\t_\t_\t_", "VERB\t_\t_\t2").replace("NOUN\t_\t_\t_", "NOUN\t_\t_\t2")
    assert "own head" in refused(client, "parse", conllu=broken)["error"]


def test_trace_gives_the_derivation_of_figure_3(client):
    content = post(client, "trace", conllu=FIGURE1, system="swap", oracle="eager")
    assert content["transitions"] == 30
    assert [step["move"] for step in content["steps"]].count("SWAP") == 6
    assert content["steps"][-1]["stack"] == [0]
    assert len(content["drawings"]) == 1
    for step, following in pairwise(content["steps"]):
        (taken,) = [legal for legal in step["legal"] if legal["taken"]]
        assert (taken["move"], taken["label"]) == (following["move"], following["label"])


def test_the_lazy_oracle_swaps_less(client):
    steps = post(client, "trace", conllu=FIGURE1, oracle="lazy")["steps"]
    assert [step["move"] for step in steps].count("SWAP") == 2


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_system_traces_and_its_arcs_add_up_to_its_last_drawing(client, system):
    content = post(client, "trace", conllu=FIGURE1, system=system)
    heads = {word: head for step in content["steps"] for head, _, word in step["attached"]}
    if content["covered"]:
        assert [heads[word] for word in range(1, 10)] == content["sentence"]["heads"]
    else:
        assert "not covered" in content["problem"]
    for word, head in heads.items():
        assert f'data-head="{head}" data-dependent="{word}"' in content["drawings"][-1]


def test_an_arc_that_replaces_another_begins_a_new_drawing(client):
    text = (EXAMPLES / "figure2-lacroix.conllu").read_text(encoding="utf-8")
    content = post(client, "trace", conllu=text, system="three-step")
    assert content["covered"]
    made: dict[int, int] = {}
    for step in content["steps"]:
        for head, _, word in step["attached"]:
            made[word] = head
        for word, head in made.items():
            assert f'data-head="{head}" data-dependent="{word}"' in content["drawings"][step["drawing"]]
    assert len(content["drawings"]) == 3  # the projective tree, and one more for each arc put back


def test_trace_by_a_model_scores_the_legal_moves_and_builds_the_parsers_tree(client, moves):
    content = post(client, "trace", text="ta wug zorps ta dax", guide="model")
    assert (content["model"], content["system"]) == ("toy", "swap")
    parsed = moves.parser.parse(moves.tag_text("ta wug zorps ta dax")[0])
    assert content["sentence"]["heads"] == parsed.heads[1:].tolist()
    assert content["sentence"]["labels"] == parsed.labels[1:]
    for step in content["steps"][:-1]:
        best = max(step["legal"], key=lambda legal: legal["score"])
        assert best["taken"]
        assert sum(legal["share"] for legal in step["legal"]) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("seed", range(4))
def test_a_model_that_puts_lifted_arcs_back_says_so_in_a_last_step(client, lifted, seed):
    """The tree of the trace is always the parser's, marks stripped."""
    text = toy_text(1, seed)
    content = post(client, "trace", conllu=text, guide="model", model="lifted")
    parsed = lifted.parser.parse(sentences_of(text)[0])
    assert (content["sentence"]["heads"], content["sentence"]["labels"]) == (
        parsed.heads[1:].tolist(),
        parsed.labels[1:],
    )


def test_options_reach_the_system(client):
    content = post(client, "trace", conllu=FIGURE1, system="attardi", options={"degree": 3})
    assert content["covered"]
    assert not post(client, "trace", conllu=FIGURE1, system="attardi")["covered"]
    steps = [
        post(client, "trace", conllu=FIGURE1, system="covington", options=options)["transitions"]
        for options in ({}, {"every_pair": False}, {"every_pair": True})
    ]
    assert steps[0] == steps[1] < steps[2]
    for options in ({"best_tags": 2}, {"tag_threshold": 0.5}, {"tag_threshold": 1}):
        assert post(client, "trace", conllu=FIGURE1, system="joint-swap", options=options)["covered"]


def test_treebank_counts_covers_and_filters(client):
    text = toy_text(30)
    content = post(client, "treebank", conllu=text)
    assert content["stats"]["sentences"] == content["matches"] == len(content["sentences"]) == 30
    crossing = [row for row in content["sentences"] if row["crossing"]]
    assert len(crossing) == content["stats"]["nonprojective_sentences"] > 0
    found = post(client, "treebank", conllu=text, filter={"crossing": True}, limit=2)
    assert (found["matches"], found["sentences"]) == (len(crossing), crossing[:2])
    uncovered = [row for row in content["sentences"] if "arc-eager" in row["uncovered"]]
    assert uncovered == crossing == post(client, "treebank", conllu=text, filter={"degree": 1})["sentences"]
    assert uncovered == post(client, "treebank", conllu=text, filter={"not_covered_by": "arc-eager"})["sentences"]
    assert content["coverage"]["covered"]["arc-eager"] == 30 - len(crossing)
    labelled = post(client, "treebank", conllu=text, filter={"label": "acl"})["sentences"]
    assert labelled == [row for row in content["sentences"] if "acl" in row["labels"]]
    assert post(client, "treebank", conllu=text, filter={"search": "TOY-1-7"})["matches"] == 1


def test_the_lines_of_a_row_are_those_of_the_sentence(client):
    text = toy_text(3)
    lines = text.split("\n")
    for row, sentence in zip(post(client, "treebank", conllu=text)["sentences"], sentences_of(text), strict=True):
        assert "\n".join(lines[row["first_line"] - 1 : row["last_line"]]) == sentence.to_text().strip()
    (row,) = post(client, "treebank", conllu=toy_text(1), first_line=101)["sentences"]
    assert row["first_line"] == 101


def test_treebank_goes_on_after_bad_sentences_and_lists_them(client):
    content = post(client, "treebank", conllu=(EXAMPLES / "broken.conllu").read_text(encoding="utf-8"), first_line=11)
    assert content["stats"]["sentences"] == 2
    assert [(error["sent_id"], error["line"]) for error in content["errors"]] == [("cycle-en", 22), ("columns-en", 28)]
    assert "there should be 10" in content["errors"][1]["error"]


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        ("parse", {}, "either text or conllu"),
        ("parse", {"text": "a", "conllu": "b"}, "not both"),
        ("parse", {"text": 3}, "should be a text"),
        ("parse", {"text": "\ud800"}, "surrogate"),
        ("parse", {"text": ""}, "no sentence"),
        ("parse", {"text": "a", "model": "no"}, "choose from toy, lifted"),
        ("parse", {"txt": "a"}, "the fields are text, conllu, model"),
        ("trace", {"conllu": FIGURE1, "system": "no"}, "choose from arc-standard, arc-eager"),
        ("trace", {"conllu": FIGURE1, "oracle": "no"}, "it has eager, lazy"),
        ("trace", {"conllu": FIGURE1, "guide": "no"}, "oracle or model"),
        ("trace", {"conllu": FIGURE1, "sentence": 2}, "there are 1"),
        ("trace", {"conllu": FIGURE1, "sentence": True}, "whole number"),
        ("trace", {"conllu": FIGURE1, "options": {"degree": 2}}, "swap has no option 'degree'"),
        ("trace", {"conllu": FIGURE1, "options": [1]}, "an object"),
        ("trace", {"conllu": FIGURE1, "system": "attardi", "options": {"degree": "3"}}, "a whole number"),
        ("trace", {"conllu": FIGURE1, "system": "attardi", "options": {"degree": 10}}, "1 to 9"),
        ("trace", {"conllu": FIGURE1, "system": "joint-swap", "options": {"best_tags": "2"}}, "a whole number"),
        ("trace", {"conllu": FIGURE1, "system": "joint-swap", "options": {"best_tags": 10**12}}, "at most 1000"),
        ("trace", {"conllu": FIGURE1, "system": "covington", "options": {"every_pair": "no"}}, "true or false"),
        ("trace", {"conllu": FIGURE1, "system": "attardi", "options": {"reduces": "s0>s1," * 99}}, "characters"),
        ("trace", {"conllu": FIGURE1, "system": "covington", "options": {"max_degree": 10**12}}, "at most 1000"),
        ("trace", {"conllu": FIGURE1, "guide": "model", "system": "covington"}, "model toy is of swap"),
        ("treebank", {}, "conllu should be given"),
        ("treebank", {"conllu": FIGURE1, "systems": "swap"}, "a list of names"),
        ("treebank", {"conllu": FIGURE1, "systems": ["no"]}, "unknown system 'no'"),
        ("treebank", {"conllu": FIGURE1, "filter": {"no": 1}}, "the fields are crossing"),
        ("treebank", {"conllu": FIGURE1, "filter": {"crossing": "yes"}}, "true or false"),
        ("treebank", {"conllu": FIGURE1, "systems": ["swap"], "filter": {"not_covered_by": "planar"}}, "not among"),
    ],
)
def test_a_wrong_field_is_refused_with_what_would_be_right(client, path, body, said):
    assert said in refused(client, path, **body)["error"]


NAMES = [*SCHEMAS["TraceRequest"]["properties"], *SCHEMAS["TreebankRequest"]["properties"]]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.sampled_from([*SYSTEMS]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
CONLLU = st.lists(st.sampled_from([*FIGURE1, "\t", "\n", "1-2", "3.1", "\r", "\ufeff"]), max_size=60).map("".join)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    path=st.sampled_from(["parse", "trace", "treebank"]),
    body=st.dictionaries(st.sampled_from(NAMES), VALUES, max_size=4),
    conllu=st.none() | st.just(FIGURE1) | CONLLU,
)
def test_whatever_is_sent_is_answered_or_refused_but_never_fails(client, path, body, conllu):
    body = body if conllu is None else {**body, "conllu": conllu}
    response = client.post(f"/api/{path}", content=json.dumps(body), headers={"Content-Type": "application/json"})
    assert response.status_code in (200, 422)
    check("Problem" if response.status_code == 422 else f"{path.capitalize()}Answer", response.json())


def test_malformed_conllu_is_refused_with_line_and_sent_id(client):
    problem = refused(client, "parse", conllu=FIGURE1.replace("3\tis\tbe", "3\tis be"))
    assert (problem["line"], problem["sent_id"]) == (5, "nivre2009-figure1")
    assert "there should be 10" in problem["error"]


def test_the_bundled_model_takes_text():
    client = TestClient(make_app(Playground({"english": Model.load()})), base_url="http://127.0.0.1")
    content = post(client, "trace", text="What does she want to eat?", guide="model")
    tags = " ".join(word["upos"] for word in content["sentence"]["words"])
    assert tags == "PRON AUX PRON VERB PART VERB PUNCT"
    assert content["sentence"]["heads"][3] == 0
    untagged = "\n".join("\t".join([str(n), form, *"_" * 8]) for n, form in enumerate(["It", "rains", "."], 1))
    (sentence,) = post(client, "parse", conllu=untagged)["sentences"]
    assert (sentence["heads"], sentence["words"][1]["upos"]) == ([2, 0, 2], "VERB")


def test_a_model_without_a_pipeline_parses_conllu_only(moves):
    client = TestClient(make_app(Playground({"words": Model(moves.parser)})), base_url="http://127.0.0.1")
    assert "parser only" in refused(client, "parse", text="A word.")["error"]
    assert len(post(client, "parse", conllu=toy_text(2), model="words")["sentences"]) == 2


@pytest.mark.parametrize(
    "text",
    [
        FIGURE1.replace("# text = A", f"# text = A{' ' * 1_000_000}"),
        FIGURE1.replace("\t3\tVG", f"\t3\t{'V' * 1_000_000}"),
        FIGURE1.replace("3\tis", f"{'3' * 1_000_000}\tis"),
        "\n" * 100_000 + FIGURE1,
    ],
    ids=["blanks in a comment", "a long label", "a long number", "blank lines"],
)
def test_long_pieces_take_no_longer_than_their_length(client, text):
    """With a million letters anything quadratic would run into the time for one request."""
    response = client.post("/api/treebank", json={"conllu": text})
    assert response.status_code == 200
    assert len(response.content) < 10_000 + 3 * 1_000_000
    response = client.post("/api/parse", json={"conllu": text})
    assert response.status_code == 200 or len(response.content) < 2000


def test_text_without_a_model_says_how_to_get_one():
    assert "tanglewood serve -m MODEL" in refused(limited(), "parse", text="A word.")["error"]


@pytest.mark.parametrize(
    ("body", "status"),
    [(b"{", 400), (b"[]", 400), (b"\xff", 400), (b"[" * 100_000, 400), (b'{"text": NaN}', 422)],
)
def test_a_body_that_is_no_json_object_is_refused(client, body, status):
    response = client.post("/api/parse", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == status
    check("Problem", response.json())


def test_a_body_of_another_type_is_refused(client):
    """A foreign page can send forms and plain text without asking first."""
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert client.post("/api/parse", content=b"{}", headers={"Content-Type": kind}).status_code == 415


def test_unknown_paths_and_methods_are_answered_in_json(client):
    assert client.get("/api/no").status_code == 404
    assert client.get("/api/parse").status_code == 405
    check("Problem", client.get("/api/no").json())


def test_large_requests_are_refused_with_or_without_their_length():
    client = limited(max_body=1000)
    assert "1,000 bytes" in refused(client, "parse", 413, conllu="x" * 1000)["error"]
    chunks = (b"x" * 100 for _ in range(20))
    response = client.post("/api/parse", content=chunks, headers={"Content-Type": "application/json"})
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
    assert "longer than" in check("Problem", response.json())["error"]


class SlowPipeline:
    """Works until it is let go."""

    def __init__(self):
        self.go = threading.Event()

    def tag_text(self, text):
        self.go.wait(60)
        return []


def test_too_many_requests_at_once_are_turned_away_while_the_rest_answers():
    slow = SlowPipeline()
    limits = Limits(workers=1, waiting=1, seconds=60)
    with TestClient(make_app(Playground({"slow": slow}, limits)), base_url="http://127.0.0.1") as client:
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
        slow.go.set()
        for thread in threads:
            thread.join(50)
        refusal, *others = answers
        assert (refusal.status_code, refusal.headers["Retry-After"]) == (429, "1")
        assert "2 requests" in check("Problem", refusal.json())["error"]
        assert [answer.status_code for answer in others] == [422, 422]
        assert client.post("/api/parse", json={"conllu": FIGURE1}).status_code == 200


def test_markup_in_words_labels_and_ids_comes_out_escaped(client):
    text = FIGURE1.replace("hearing\thearing", f"{NASTY}\t{NASTY}").replace("NMOD", NASTY)
    text = text.replace("nivre2009-figure1", NASTY).replace("# text = A", f"# text = {NASTY}")
    (sentence,) = post(client, "parse", conllu=text)["sentences"]
    (drawing,) = post(client, "trace", conllu=text)["drawings"]
    for svg in (sentence["svg"], drawing):
        assert "<script" not in svg
        assert svg.count("&lt;script&gt;") == 3


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


class CountingPipeline(Pipeline):
    """The bundled pipeline, which counts the pieces that were asked for."""

    asked = 0

    def pieces(self, texts, **choices):
        for piece in Pipeline.pieces(self, texts, **choices):
            self.asked += 1
            yield piece


@pytest.fixture(scope="module")
def english():
    found = Pipeline.load()
    return CountingPipeline(found.parser, found.tagger, found.tokenizer)


def test_text_gets_the_trees_that_the_command_gives_it(english):
    client = TestClient(make_app(Playground({"en": Model(english.parser, english)})), base_url="http://127.0.0.1")
    text = "The horse raced past the barn fell."
    wanted, greedy = (
        [list(s.tree.heads)[1:] for s in english(text, options=options)] for options in (None, ParseOptions(beam=1))
    )
    assert wanted != greedy
    assert [sentence["heads"] for sentence in post(client, "parse", text=text)["sentences"]] == wanted


def test_no_more_text_is_tagged_than_may_be_sent(english):
    limits = Limits(max_sentences=5)
    client = TestClient(
        make_app(Playground({"en": Model(english.parser, english)}, limits)), base_url="http://127.0.0.1"
    )
    english.asked = 0
    assert "more than 5 sentences" in refused(client, "parse", text="Yes. " * 5000)["error"]
    assert english.asked == 1


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("trace", {"conllu": FIGURE1, "options": {"name": "x"}}),
        ("parse", {"text": "x", "foo\ud800": 1}),
        ("parse", {"text": "x", "model": "\ud800"}),
    ],
)
def test_odd_names_in_a_request_are_refused(client, path, body):
    refused(client, path, **body)


def test_a_place_in_the_text_that_is_no_number_is_passed_over(client):
    conllu = "1\tA\t_\tX\t_\t_\t0\troot\t_\tTokenRange=5:" + "9" * 5000 + "\n\n"
    (sentence,) = post(client, "parse", conllu=conllu)["sentences"]
    assert "start" not in sentence["words"][0]
