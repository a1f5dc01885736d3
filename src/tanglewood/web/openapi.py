"""The description of the JSON interface, OpenAPI 3.1."""

from __future__ import annotations

from typing import Any

from tanglewood import __version__
from tanglewood.systems import SYSTEMS

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
YES_NO: Schema = {"type": "boolean"}
ANY: Schema = {"type": "object"}
NODE: Schema = {"type": "integer", "minimum": 0, "description": "a word's number, or 0 for the artificial root"}
SYSTEM: Schema = {"type": "string", "enum": list(SYSTEMS)}


def describe() -> Schema:
    """Return the description of all routes below /api."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "tanglewood",
            "version": __version__,
            "summary": "Dependency trees whose arcs may cross: parse, derive step by step, browse treebanks.",
        },
        "paths": {
            "/api/parse": {"post": _post("Parse", "Give text or CoNLL-U its trees, and draw them.")},
            "/api/trace": {"post": _post("Trace", "Derive a tree move by move, by an oracle or a model.")},
            "/api/treebank": {"post": _post("Treebank", "Count a treebank, say which systems cover it, filter it.")},
            "/api/systems": {"get": _get("systems", "Which systems, models and limits there are.", "Systems")},
            "/api/openapi.json": {"get": _get("openapi", "This description.", None)},
        },
        "components": {"schemas": _schemas()},
    }


def _ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _content(schema: Schema) -> Schema:
    return {"content": {"application/json": {"schema": schema}}}


def _get(name: str, summary: str, answer: str | None) -> Schema:
    schema = ANY if answer is None else _ref(answer)
    return {
        "operationId": name,
        "summary": summary,
        "responses": {"200": {"description": "the answer", **_content(schema)}},
    }


def _post(name: str, summary: str) -> Schema:
    problems = {
        "400": "the body is not a JSON object",
        "408": "the request did not arrive in time, or the work took too long",
        "413": "the request is too large",
        "415": "the content type is not application/json",
        "422": "a field is wrong, a sentence too long, CoNLL-U malformed, or a name unknown",
        "429": "too many requests wait; Retry-After says when to come again",
    }
    return {
        "operationId": name.lower(),
        "summary": summary,
        "requestBody": {"required": True, **_content(_ref(f"{name}Request"))},
        "responses": {
            "200": {"description": "the answer", **_content(_ref(f"{name}Answer"))},
            **{status: {"description": text, **_content(_ref("Problem"))} for status, text in problems.items()},
        },
    }


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _counts() -> Schema:
    return {"type": "object", "additionalProperties": NUMBER}


def _schemas() -> dict[str, Schema]:
    source = {
        "text": _said(TEXT, "raw text, split, tagged and parsed by a model"),
        "conllu": _said(TEXT, "sentences in CoNLL-U or CoNLL-X; trees they have stay unless a model is named"),
        "model": _said(TEXT, "name of a model; by default the first of /api/systems"),
    }
    arc = _said(
        {
            "type": "array",
            "prefixItems": [NODE, TEXT, NODE],
            "minItems": 3,
            "maxItems": 3,
        },
        "head, label, dependent",
    )
    aside = {"type": "array", "prefixItems": [NODE, _or_null(TEXT)], "minItems": 2, "maxItems": 2}
    texts = {"type": "object", "additionalProperties": TEXT}
    place = {"start": _said(NUMBER, "where it begins in the raw text, in characters"), "end": NUMBER, "misc": texts}
    columns = {**dict.fromkeys(("lemma", "upos", "xpos"), TEXT), "feats": texts, "head": NODE, "deprel": TEXT}
    word = _object({"id": NODE, "form": TEXT}, {**columns, "nonprojective": {"type": "boolean"}, **place})
    sentence = {
        "sent_id": _or_null(TEXT),
        "text": TEXT,
        "words": _said(_list(word), "columns that hold nothing are left out"),
        "heads": _list(NODE),
        "labels": _list(TEXT),
        "nonprojective": _said(_list(NODE), "the dependents of the non-projective arcs"),
        "degree": NUMBER,
        "conllu": TEXT,
    }
    token = _object({"first": NODE, "last": NODE, "form": TEXT}, place)
    multiword = {"multiword": _said(_list(token), "tokens of several words, which have these numbers")}
    return {
        "Problem": _object({"error": TEXT}, {"field": TEXT, "line": NUMBER, "sent_id": TEXT}),
        "ParseRequest": _object({}, source),
        "ParseAnswer": _object({"sentences": _list(_object({**sentence, "svg": TEXT}, multiword))}),
        "TraceRequest": _object(
            {},
            {
                **source,
                "sentence": _said(NUMBER, "which sentence, from 1"),
                "guide": {"type": "string", "enum": ["oracle", "model"], "default": "oracle"},
                "system": {**SYSTEM, "default": "swap"},
                "options": _said(ANY, "options of the system, and single_root"),
                "oracle": _said(TEXT, "oracle of the system; by default its first"),
            },
        ),
        "LegalMove": _object(
            {
                "move": TEXT,
                "label": _or_null(TEXT),
                "taken": YES_NO,
                "score": _said(_or_null({"type": "number"}), "what the model gives the move"),
                "share": _said(_or_null({"type": "number"}), "softmax of the scores of the legal moves"),
                "cost": _said(_or_null(NUMBER), "how many more heads the move makes wrong, if the oracle knows"),
            }
        ),
        "Step": _object(
            {
                "move": _or_null(TEXT),
                "label": _or_null(TEXT),
                "transition": TEXT,
                "stack": _said(_list(NODE), "top last"),
                "buffer": _said(_list(NODE), "front first"),
                "aside": _said(_list(aside), "the second list, if the system has one: nodes with labels"),
                "arc": _or_null(arc),
                "attached": _said(_list(arc), "all arcs that are new or changed"),
                "legal": _said(_list(_ref("LegalMove")), "the moves that may follow"),
                "drawing": _said(NUMBER, "which of the drawings holds the arcs made so far"),
            }
        ),
        "TraceAnswer": _object(
            {
                "guide": TEXT,
                "system": SYSTEM,
                "options": ANY,
                "aside": _said(TEXT, "what the second list is called; empty if there is none"),
                "sentence": _object(sentence, multiword),
                "covered": YES_NO,
                "problem": _or_null(TEXT),
                "transitions": NUMBER,
                "drawings": _said(_list(TEXT), "SVG"),
                "steps": _list(_ref("Step")),
            },
            {"oracle": TEXT, "model": TEXT},
        ),
        "TreebankRequest": _object(
            {"conllu": TEXT},
            {
                "first_line": _said(NUMBER, "line of the file at which this part of it begins"),
                "systems": _list(SYSTEM),
                "filter": _object(
                    {},
                    {
                        "crossing": _said(YES_NO, "only non-projective sentences"),
                        "degree": _said(NUMBER, "only those of this degree or more (Nivre 2007)"),
                        "not_covered_by": SYSTEM,
                        "label": _said(TEXT, "only those with this label, with crossing on a non-projective arc"),
                        "search": _said(TEXT, "only those with this in their text or sent_id"),
                    },
                ),
                "offset": NUMBER,
                "limit": NUMBER,
            },
        ),
        "TreebankAnswer": _object(
            {
                "stats": ANY,
                "coverage": _object(
                    {
                        "sentences": NUMBER,
                        "nonprojective_sentences": NUMBER,
                        **{name: _counts() for name in ("covered", "covered_nonprojective", "undecided")},
                    }
                ),
                "matches": _said(NUMBER, "sentences that pass the filter"),
                "sentences": _list(
                    _object(
                        {
                            "first_line": NUMBER,
                            "last_line": NUMBER,
                            "sent_id": _or_null(TEXT),
                            "text": TEXT,
                            "words": NUMBER,
                            "crossing": _said(NUMBER, "non-projective arcs"),
                            "degree": NUMBER,
                            "uncovered": _said(_list(SYSTEM), "systems that cannot derive the tree"),
                            "labels": _list(TEXT),
                            "crossing_labels": _list(TEXT),
                        }
                    )
                ),
                "errors": _list(_object({"error": TEXT, "line": _or_null(NUMBER), "sent_id": _or_null(TEXT)})),
            }
        ),
        "Systems": _object(
            {
                "version": TEXT,
                "systems": _list(
                    _object(
                        {
                            **dict.fromkeys(("name", "covers", "paper", "aside"), TEXT),
                            "oracles": _list(TEXT),
                            "options": _list(_object(dict.fromkeys(("name", "type", "help"), TEXT))),
                        }
                    )
                ),
                "models": _list(_object({"name": TEXT, "kind": TEXT, "system": TEXT, "options": ANY})),
                "limits": {"type": "object", "additionalProperties": {"type": "number"}},
            }
        ),
    }
