"""The playground in tests: small models, a client, and checks that every answer is as its description says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from tanglewood.pipeline import Pipeline
from tanglewood.web.api import Playground
from tanglewood.web.app import make_app
from tanglewood.web.limits import Limits
from tanglewood.web.models import Model
from toy import sentences_of, toy_sentences, train_parser

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FIGURE1 = (EXAMPLES / "figure1.conllu").read_text(encoding="utf-8")
JSON = {"Content-Type": "application/json"}


class ToyModel(Model):
    """Stands in for a model with a pipeline: every word is a noun, and a full stop ends a sentence."""

    def tag_text(self, text, sentences="model"):
        rows = []
        for part in text.split("."):
            words = part.split()
            lines = [f"{n}\t{word}\t_\tNOUN\tN\t_\t_\t_\t_\t_" for n, word in enumerate(words, 1)]
            if lines:
                rows.append("\n".join(lines))
        return sentences_of("\n\n".join(rows) + "\n\n", trees=False) if rows else []


@cache
def toy_model(system="swap", **choices):
    """A model of toy sentences, trained once."""
    return ToyModel(Pipeline(train_parser(toy_sentences(12), system=system, **choices)))


def toy_playground():
    return Playground({"toy": toy_model(), "lifted": toy_model("arc-eager", pseudo_projective="head")})


def client_of(playground=None, **choices):
    return TestClient(make_app(playground, **choices), base_url="http://127.0.0.1")


def limited(**limits):
    return client_of(Playground(limits=Limits(**limits)))


DESCRIPTION = client_of().get("/api/openapi.json").json()
SCHEMAS = DESCRIPTION["components"]["schemas"]


def check(name, content):
    """The content is what the description says."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": {"schemas": SCHEMAS}}
    Draft202012Validator(schema).validate(content)
    return content


def check_answer(path, method, response):
    """The answer is what the description says of its route and status."""
    described = DESCRIPTION["paths"][path][method]["responses"][str(response.status_code)]
    schema = described["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": {"schemas": SCHEMAS}}).validate(response.json())
    return response.json()


def post(client, path, **body):
    check(f"{path.capitalize()}Request", body)
    response = client.post(f"/api/{path}", json=body)
    assert response.status_code == 200, response.text
    return check_answer(f"/api/{path}", "post", response)


def refused(client, path, status=422, **body):
    response = client.post(f"/api/{path}", content=json.dumps(body), headers=JSON)
    assert response.status_code == status, response.text
    return check_answer(f"/api/{path}", "post", response)
