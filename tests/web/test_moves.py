"""The JSON interface of play: derivations that begin with somebody's moves, and what moves cost."""

from __future__ import annotations

import pytest

from playground import FIGURE1, client_of, limited, post, refused, toy_playground
from tanglewood.systems import SYSTEMS


@pytest.fixture(scope="module")
def client():
    with client_of(toy_playground()) as client:
        yield client


@pytest.mark.parametrize("oracle", ["static", "dynamic"])
def test_a_derivation_may_begin_with_moves_of_somebody_else(client, oracle):
    taken = ["SHIFT", "SHIFT", "RIGHT-ARC"]  # hearing below A: wrong, and what depends on hearing is lost
    content = post(client, "trace", conllu=FIGURE1, system="arc-standard", oracle=oracle, moves=taken)
    steps, heads = content["steps"], content["sentence"]["heads"]
    assert [step["move"] for step in steps[1:4]] == taken
    assert not content["covered"]
    assert heads[1] == 3  # the sentence keeps its tree
    if oracle == "static":
        assert len(steps) == 4
        assert "knows on from its own moves only" in content["problem"]
        assert steps[-1]["legal"]  # somebody else may go on
    else:
        wrong = {word for step in steps for head, _, word in step["attached"] if head != heads[word - 1]}
        assert f"{len(wrong)} of 9 heads" in content["problem"]
    assert 'data-head="3" data-dependent="2"' in content["drawings"][steps[2]["drawing"]]  # to come
    assert 'data-head="1" data-dependent="2"' in content["drawings"][steps[3]["drawing"]]  # made
    assert steps[2]["drawing"] < steps[3]["drawing"]
    refusal = refused(client, "trace", conllu=FIGURE1, system="arc-standard", moves=["LEFT-ARC"])
    assert refusal == {"error": "move 1: 'LEFT-ARC' is not legal here; legal moves: SHIFT", "field": "moves"}
    assert "3 moves; there may be 2" in refused(limited(max_steps=2), "trace", conllu=FIGURE1, moves=taken)["error"]
    by_model = post(client, "trace", conllu=FIGURE1, guide="model", model="toy", moves=["SHIFT", "SHIFT", "SWAP"])
    assert by_model["steps"][3]["move"] == "SWAP"
    assert by_model["covered"]


@pytest.mark.parametrize("system", SYSTEMS)
def test_the_costs_of_moves_are_told_where_an_oracle_knows_them(client, system):
    (about,) = [one for one in client.get("/api/systems").json()["systems"] if one["name"] == system]
    content = post(client, "moves", conllu=FIGURE1, system=system, moves=["SHIFT"])
    assert content["oracle"] == next(iter(about["costs"]), None)
    assert [legal["cost"] is None for legal in content["legal"]] == [not about["costs"]] * len(content["legal"])
    if not about["costs"]:
        assert content["problem"] == f"{system} has no oracle that knows what any move costs"
        return
    steps = post(client, "trace", conllu=FIGURE1, system=system, oracle=content["oracle"], moves=["SHIFT"])["steps"]
    assert content["problem"] is None
    assert [{**legal, "taken": False, "label": None} for legal in steps[1]["legal"]] == content["legal"]
    long = post(limited(max_costs=8), "moves", conllu=FIGURE1, system=system)
    assert (long["oracle"], {legal["cost"] for legal in long["legal"]}) == (None, {None})
    assert long["problem"] == "costs are left out: the sentence has more than 8 words"


def test_an_oracle_that_does_not_go_with_the_options_leaves_the_costs_out(client):
    content = post(client, "moves", conllu=FIGURE1, system="attardi", options={"degree": 3}, moves=["SHIFT"] * 3)
    assert content["oracle"] is None
    assert content["problem"] == "attardi has a dynamic oracle up to degree 2 only; choose static or lazy"
    assert {legal["cost"] for legal in content["legal"]} == {None}


def test_what_is_wrong_with_moves_is_told(client):
    refusal = refused(client, "moves", conllu=FIGURE1, system="swap", moves=["SHIFT", "HOP"])
    assert refusal["field"] == "moves"
    assert "move 2: 'HOP' is no move of swap" in refusal["error"]
    refusal = refused(client, "moves", conllu=FIGURE1, system="swap", oracle="fewest")
    assert refusal["error"] == "swap has no oracle 'fewest' that knows the costs of all moves (eager, lazy)"
    assert refused(client, "moves", conllu=FIGURE1, system="swap", options={"degree": 3})["field"] == "options"
