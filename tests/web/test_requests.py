"""What is sent to the JSON interface: decoded, or refused with what would be right; it never fails."""

from __future__ import annotations

import json
from math import isfinite

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from playground import FIGURE1, JSON, SCHEMAS, check_answer, client_of, refused, toy_playground
from tanglewood.options import SENTENCES
from tanglewood.systems import SYSTEMS
from tanglewood.web.decoding import decode
from tanglewood.web.messages import ParseRequest, TraceRequest, TreebankRequest
from tanglewood.web.problems import Problem


@pytest.fixture(scope="module")
def client():
    with client_of(toy_playground()) as client:
        yield client


@pytest.mark.parametrize(
    ("path", "body", "field", "said"),
    [
        ("parse", {}, "text", "either text, texts or conllu should be given"),
        ("trace", {}, "text", "either text or conllu should be given"),
        ("parse", {"text": "a", "conllu": "b"}, "text", "text and conllu are given"),
        ("parse", {"text": "a", "conllu": "b"}, "text", "only one of them"),
        ("parse", {"texts": ["a"], "conllu": "b"}, "texts", "only one of them"),
        ("parse", {"text": 3}, "text", "text is 3; it should be a text"),
        ("parse", {"text": ["a"]}, "text", "text is a list; it should be a text"),
        ("parse", {"texts": "a"}, "texts", 'texts is "a"; it should be a list, each item of which is a text'),
        ("parse", {"texts": ["a", None]}, "texts[1]", "texts[1] is null; it should be a text"),
        ("parse", {"text": "ab\ud800"}, "text", "character 3 of text is half a surrogate pair"),
        ("parse", {"texts": ["a", "\udc00"]}, "texts[1]", "character 1 of texts[1] is half a surrogate pair"),
        ("treebank", {"conllu": "", "filter": {"label": "\udc00"}}, "filter.label", "character 1 of filter.label"),
        ("parse", {"text": ""}, "text", "no sentence"),
        ("parse", {"conllu": "\n"}, "conllu", "no sentence"),
        ("parse", {"text": "a", "model": "no"}, "model", "unknown model 'no'; choose from toy, lifted"),
        (
            "parse",
            {"txt": "a"},
            "txt",
            "unknown field 'txt'; the fields are text, conllu, model, sentences, drawings, texts, beam",
        ),
        ("trace", {"texts": ["a"]}, "texts", "unknown field 'texts'; the fields are text, conllu, model"),
        ("parse", {"text": "a", "drawings": "no"}, "drawings", "true or false"),
        ("parse", {"text": "a", "beam": 0}, "beam", "beam is 0; it should be a whole number of 1 or more"),
        ("parse", {"text": "a", "beam": 65}, "beam", "beam is 65; it may be up to 64"),
        (
            "parse",
            {"text": "a", "nbest": 10**40},
            "nbest",
            "…; it should be a whole number of at most 9007199254740991",
        ),
        ("parse", {"text": "a", "nbest": 4, "beam": 3}, "nbest", "3 is too narrow; use a wider one"),
        ("parse", {"conllu": FIGURE1, "beam": 4}, "beam", "the trees of the CoNLL-U stay; name a model"),
        ("parse", {"conllu": FIGURE1, "confidence": True}, "confidence", "name a model"),
        (
            "trace",
            {"conllu": FIGURE1, "system": "no"},
            "system",
            'system is "no"; it should be one of arc-standard, arc-eager',
        ),
        ("trace", {"conllu": FIGURE1, "system": "\ud800"}, "system", "half a surrogate pair"),
        ("trace", {"conllu": FIGURE1, "oracle": "no"}, "oracle", "swap has no oracle 'no'; it has eager, lazy"),
        ("trace", {"conllu": FIGURE1, "guide": "no"}, "guide", 'guide is "no"; it should be model or oracle'),
        ("trace", {"conllu": FIGURE1, "sentence": 2}, "sentence", "there are 1"),
        ("trace", {"conllu": FIGURE1, "sentence": 0}, "sentence", "1 or more"),
        ("trace", {"conllu": FIGURE1, "sentence": True}, "sentence", "sentence is true; it should be a whole number"),
        ("trace", {"conllu": FIGURE1, "sentence": 1.5}, "sentence", "sentence is 1.5; it should be a whole number"),
        (
            "trace",
            {"conllu": FIGURE1, "options": {"degree": 2}},
            "options",
            "swap has no option 'degree'; it has single_root",
        ),
        ("trace", {"conllu": FIGURE1, "options": [1]}, "options", "options is a list; it should be an object"),
        ("trace", {"conllu": FIGURE1, "options": {"name": "x"}}, "options.name", "unknown field 'name' of options"),
        *(
            ("trace", {"conllu": FIGURE1, "system": system, "options": {option: value}}, f"options.{option}", said)
            for system, option, value, said in [
                ("attardi", "degree", "3", 'options.degree is "3"; it should be a whole number'),
                ("joint-swap", "best_tags", "2", "a whole number"),
                (
                    "joint-swap",
                    "best_tags",
                    10**12,
                    "options.best_tags is 1000000000000; it should be a whole number of at most 1000",
                ),
                ("joint-swap", "tag_threshold", "1", "a number"),
                ("covington", "every_pair", "no", 'options.every_pair is "no"; it should be true or false'),
                ("attardi", "reduces", "s0>s1," * 99, "s0>…; it should be a text of up to 200 characters"),
                ("covington", "max_degree", 10**12, "at most 1000"),
            ]
        ),
        (
            "trace",
            {"conllu": FIGURE1, "system": "attardi", "options": {"degree": 10}},
            "options.degree",
            "a whole number of at most 9",
        ),
        ("trace", {"conllu": FIGURE1, "guide": "model", "system": "covington"}, "system", "model toy is of swap"),
        ("trace", {"conllu": FIGURE1, "guide": "model", "oracle": "lazy"}, "oracle", "model toy is of swap"),
        (
            "trace",
            {"conllu": FIGURE1, "guide": "model", "options": {"single_root": True}},
            "options",
            "is for guide oracle",
        ),
        ("treebank", {}, "conllu", "conllu should be given: the text of a treebank"),
        ("treebank", {"conllu": FIGURE1, "systems": "swap"}, "systems", 'systems is "swap"; it should be a list'),
        (
            "treebank",
            {"conllu": FIGURE1, "systems": ["swap", "no"]},
            "systems[1]",
            'systems[1] is "no"; it should be one of',
        ),
        ("treebank", {"conllu": FIGURE1, "filter": {"no": 1}}, "filter.no", "'no' of filter; the fields are crossing"),
        ("treebank", {"conllu": FIGURE1, "filter": {"form": "(a+)+"}}, "filter.form", "unknown field 'form'"),
        ("treebank", {"conllu": FIGURE1, "filter": {"crossing": "yes"}}, "filter.crossing", "true or false"),
        (
            "treebank",
            {"conllu": FIGURE1, "filter": {"degree": -1}},
            "filter.degree",
            "filter.degree is -1; it should be a whole",
        ),
        ("treebank", {"conllu": FIGURE1, "filter": [1]}, "filter", "filter is a list; it should be an object"),
        (
            "treebank",
            {"conllu": FIGURE1, "systems": ["swap"], "filter": {"not_covered_by": "planar"}},
            "filter.not_covered_by",
            "planar is not among the systems to count; it should be one of swap",
        ),
        (
            "treebank",
            {"conllu": FIGURE1, "filter": {"min_length": 9, "max_length": 8}},
            "filter.max_length",
            "max_length is 8; it should be at least min_length, which is 9",
        ),
        ("treebank", {"conllu": FIGURE1, "first_line": 10**30}, "first_line", "at most 9007199254740991"),
        ("parse", {"text": "x", "foo\ud800": 1}, "foo\\ud800", "unknown field 'foo\\ud800'"),
        ("parse", {"text": "x", "model": "\ud800"}, "model", "half a surrogate pair"),
        ("parse", {"a` - at `$.text": 1}, "a` - at `$.text", "unknown field"),
    ],
)
def test_a_wrong_field_is_refused_with_what_would_be_right(client, path, body, field, said):
    refusal = refused(client, path, **body)
    assert said in refusal["error"]
    assert refusal["field"] == field


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "line 1 column 2"),
        (b'{"text": "a"} x', 400, "not JSON"),
        (b"[]", 400, "the body is a list; it should be a JSON object"),
        (b'"x"', 400, 'the body is "x"; it should be a JSON object'),
        (b"\xff", 400, "not JSON"),
        (b'{"text": "\xff"}', 400, "not JSON"),
        (b'{"text": "\xed\xa0\x80"}', 422, "half a surrogate pair"),
        (b'{"text": "\\ud800x"}', 422, "half a surrogate pair"),
        ('{"text": "a"}'.encode("utf-16"), 400, "not JSON in UTF-8"),
        (b"[" * 100_000, 400, "nested too deeply"),
        (b'{"text": ' + b"[" * 100_000, 400, "nested too deeply"),
        (b'{"x": ' + b"[" * 500 + b"]" * 500 + b"}", 422, "unknown field 'x'"),
        (b'{"text": ' + b"[" * 500 + b"]" * 500 + b"}", 422, "text is a list"),
        (b'{"text": NaN}', 422, "text is NaN; it should be a text"),
        (b'{"conllu": "x", "options": {"tag_threshold": NaN}}', 422, "is NaN; it should be a number"),
        (b'{"conllu": "x", "options": {"tag_threshold": 1e999}}', 422, "is Infinity; it should be"),
        (b'{"sentence": ' + b"9" * 5000 + b"}", 422, "sentence is 9999"),
    ],
)
def test_a_body_that_is_not_a_json_object_is_refused(client, body, status, said):
    response = client.post("/api/trace", content=body, headers=JSON)
    assert response.status_code == status
    assert said in check_answer("/api/trace", "post", response)["error"]


def test_what_json_leaves_open_is_taken(client):
    for body in (
        b'\xef\xbb\xbf{"text": "wug"}',
        b'{"text": "dax", "text": "wug", "conllu": null}',
        b' {"text" : "w\\u0075g"}\n',
    ):
        response = client.post("/api/parse", content=body, headers=JSON)
        assert response.status_code == 200
        assert response.json()["sentences"][0]["text"] == "wug"


def test_a_body_of_another_type_is_refused(client):
    """A foreign page can send forms and plain text without asking first."""
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        assert client.post("/api/parse", content=b"{}", headers={"Content-Type": kind}).status_code == 415


def fields_of(name):
    """A strategy for objects with the fields of a request, mostly of the right type."""
    return st.dictionaries(st.sampled_from([*SCHEMAS[name]["properties"], "no"]), VALUES, max_size=4)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([*SYSTEMS, "\ud800", "toy"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
CONLLU = st.lists(st.sampled_from([*FIGURE1, "\t", "\n", "1-2", "3.1", "\r", "\ufeff"]), max_size=60).map("".join)
TEXT = st.text(st.sampled_from("wug dax.\n"), max_size=20)
BODIES = {
    "parse": fields_of("ParseRequest"),
    "trace": st.builds(
        lambda body, options: body if options is None else {**body, "options": options},
        fields_of("TraceRequest"),
        st.none() | fields_of("Options"),
    ),
    "treebank": st.builds(
        lambda body, wanted: body if wanted is None else {**body, "filter": wanted},
        fields_of("TreebankRequest"),
        st.none() | fields_of("SentenceFilter"),
    ),
}


def check_any(client, path, content):
    """Whatever is sent is answered or refused, as the description says; a check of the answer follows."""
    response = client.post(f"/api/{path}", content=content, headers=JSON)
    assert response.status_code in (200, 400, 422)
    check_answer(f"/api/{path}", "post", response)
    return response.status_code


quickly = settings(deadline=None, max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture])


@quickly
@given(data=st.data(), path=st.sampled_from([*BODIES]), conllu=st.none() | st.just(FIGURE1) | CONLLU)
def test_whatever_is_sent_is_answered_or_refused_but_never_fails(client, data, path, conllu):
    body = data.draw(BODIES[path])
    check_any(client, path, json.dumps(body if conllu is None else {**body, "conllu": conllu}))


@quickly
@given(
    body=st.fixed_dictionaries(
        {},
        optional={
            "text": TEXT,
            "texts": st.lists(TEXT, max_size=3),
            "model": st.sampled_from(["toy", "lifted"]),
            "drawings": st.booleans(),
            "beam": st.integers(1, 4),
            "nbest": st.integers(1, 4),
            "confidence": st.booleans(),
            "accurate": st.booleans(),
            "sentences": st.sampled_from(SENTENCES),
        },
    )
)
def test_every_right_combination_of_fields_is_answered(client, body):
    status = check_any(client, "parse", json.dumps(body))
    beam, nbest = body.get("beam", 8), body.get("nbest")
    possible = beam >= max(nbest or 1, 2 if nbest else 1)
    one = len({"text", "texts"} & {*body}) == 1
    words = "texts" in body or any(part.strip() for part in body.get("text", "").split("."))
    assert status == (200 if possible and one and words else 422)


def is_decoded(body, kind):
    try:
        decode(json.dumps(body).encode(), kind)
    except Problem:
        return False
    return True


def is_described(value):
    """Whether the description can tell: it has no word for half surrogate pairs, and 1.0 is an integer to it."""
    if isinstance(value, dict | list):
        return all(map(is_described, [*value, *value.values()] if isinstance(value, dict) else value))
    return not (isinstance(value, float) and (value.is_integer() or not isfinite(value))) and "\\ud" not in ascii(value)


@quickly
@given(data=st.data(), kind=st.sampled_from([ParseRequest, TraceRequest, TreebankRequest]))
def test_what_is_decoded_is_what_the_description_allows(data, kind):
    body = data.draw(BODIES[kind.__name__.removesuffix("Request").lower()].filter(is_described))
    if data.draw(st.booleans()):
        body["conllu"] = ""
    schema = {"$ref": f"#/components/schemas/{kind.__name__}", "components": {"schemas": SCHEMAS}}
    assert is_decoded(body, kind) == Draft202012Validator(schema).is_valid(body)


@quickly
@given(path=st.sampled_from([*BODIES]), content=st.binary(max_size=60) | VALUES.map(json.dumps).map(str.encode))
def test_whatever_bytes_are_sent_are_refused(client, path, content):
    assert check_any(client, path, content) in (400, 422)


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
