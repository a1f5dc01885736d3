"""What is declared of arrays and settings is demanded; whatever differs from it in any way is refused by name."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tanglewood.checks import (
    FIELD,
    MOST_DEPTH,
    MOST_WEIGHT,
    PLAIN,
    REAL,
    Field,
    Layout,
    Whole,
    check_arrays,
    check_settings,
    starts,
)
from tanglewood.errors import ModelError

DECLARED = {
    "groups": starts("groups", among="members"),
    "members": Layout("i", ("members",), least=0, below="things"),
    "table": Layout("f", ("things", 2)),
}
GOOD = {
    "groups": np.array([0, 2, 2, 3], np.int32),
    "members": np.array([1, 0, 1], np.int32),
    "table": np.zeros((2, 2), np.float32),
}


def test_sizes_are_found_and_those_given_are_demanded():
    wanted = {"groups": 3, "members": 3, "things": 2}
    assert check_arrays(GOOD, DECLARED) == wanted
    assert check_arrays(GOOD, DECLARED, {"things": 2, "more": 7}) == {**wanted, "more": 7}
    with pytest.raises(ModelError, match="'table' has format f and shape"):
        check_arrays(GOOD, DECLARED, {"things": 3})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("groups", [0, 2, 2], "should rise from 0 to 3"),
        ("groups", [0, 3, 2, 3], "should rise from 0 to 3"),
        ("groups", [1, 2, 2, 3], "should rise from 0 to 3"),
        ("groups", [0, 2, 2, 4], "should rise from 0 to 3"),
        ("groups", [0, -1, 2, 3], "should rise|from -1 to 3"),
        ("groups", [], "has format i and shape"),
        ("members", [1, 0, 2], "from 0 to 2; it should be 0 to 1"),
        ("members", [1, 0, -1], "from -1 to 1; it should be 0 to 1"),
        ("members", [[1, 0, 1]], "shape"),
        ("table", [[0.0, 0.0]], "from 0 to 1; it should be 0 to 0|shape"),
        ("table", [[0.0], [0.0]], "shape"),
        ("table", [[0.0, np.nan], [0, 0]], "no weights"),
        ("table", [[0.0, np.inf], [0, 0]], "no weights"),
        ("table", [[0.0, -np.inf], [0, 0]], "no weights"),
        ("table", [[0.0, 2 * MOST_WEIGHT], [0, 0]], "no weights"),
        ("table", [[0.0, -2 * MOST_WEIGHT], [0, 0]], "no weights"),
    ],
)
def test_every_departure_is_refused(name, value, message):
    with pytest.raises(ModelError, match=message):
        check_arrays({**GOOD, name: np.array(value, GOOD[name].dtype)}, DECLARED)


@pytest.mark.parametrize("name", DECLARED)
def test_missing_arrays_other_types_and_strangers_are_refused(name):
    with pytest.raises(ModelError, match=f"lacks the array '{name}'"):
        check_arrays({other: values for other, values in GOOD.items() if other != name}, DECLARED)
    for kind in (np.int64, np.float64, np.int16, np.uint8):
        with pytest.raises(ModelError, match=f"'{name}' has format"):
            check_arrays({**GOOD, name: GOOD[name].astype(kind)}, DECLARED)
    with pytest.raises(ModelError, match="'other' does not belong"):
        check_arrays({**GOOD, "other": GOOD[name]}, DECLARED)


def test_starts_are_those_of_some_groups():
    """Twin: of all short arrays, exactly those are accepted that the sizes of some groups add up to."""
    for size in range(4):
        for numbers in product(range(-1, 4), repeat=size):
            real = size > 0 and list(numbers) == [sum(np.diff(numbers)[:i]) for i in range(size)]
            real = real and all(step >= 0 for step in np.diff(numbers)) and numbers[-1] == 2
            arrays = {"groups": np.array(numbers, np.int32), "members": np.zeros(2, np.int32)}
            declared = {"groups": starts("groups", among="members"), "members": Layout("i", ("members",))}
            if real:
                check_arrays(arrays, declared)
            else:
                with pytest.raises(ModelError):
                    check_arrays(arrays, declared)


DEEP = [0]
for _ in range(MOST_DEPTH):
    DEEP = [DEEP]


@pytest.mark.parametrize(
    ("shape", "good", "bad"),
    [
        (str, ["", "a\tb"], [1, None, ["a"], "\ud800"]),
        (bool, [True, False], [0, 1, "true", None]),
        (None, [None], [0, False, ""]),
        (Whole(-1, 5), [-1, 0, 5], [-2, 6, 1.0, True, "1", 10**30]),
        (REAL, [0, 1.5, -1e6], [1e7, float("nan"), float("inf"), 10**30, True, "1", None]),
        (FIELD, ["a", "a b", "é"], ["", "a\tb", "a\nb", "a\rb", "\ud800", 1]),
        (Field(empty=True), ["", "a"], ["a\t", "\udfff"]),
        ([str], [[], ["a", ""]], ["a", {"a": "b"}, ["a", 1], ["\ud800"], None]),
        ([[Whole(0, 3)]], [[], [[], [1, 2]]], [[1], [[4]]]),
        ({"a": str, "b?": bool}, [{"a": "x"}, {"a": "x", "b": True}], [{}, {"b": True}, {"a": "x", "c": 1}, [], "a"]),
        ({"a": str, str: REAL}, [{"a": "x"}, {"a": "x", "z": 2}], [{"z": 2}, {"a": "x", "z": "y"}]),
        ({str: FIELD}, [{}, {"a": "b"}], [{"a": ""}, {"\ud800": "a"}, {"a": 1}]),
        ((None, [str]), [None, ["a"]], [[1], 0, "a"]),
        (dict, [{}, {"anything": [1]}], [[], None]),
        (PLAIN, [None, 3, [{"a": [1, "b"]}], DEEP[0]], [DEEP, {"a": DEEP}, ["\ud800"], {"\ud800": 1}]),
    ],
    ids=str,
)
def test_settings_have_their_shape_or_are_refused(shape, good, bad):
    for value in good:
        check_settings(value, shape)
    for value in bad:
        with pytest.raises(ModelError, match="settings"):
            check_settings(value, shape)


def test_messages_name_the_place_and_stay_short():
    with pytest.raises(ModelError, match=r"^model\.scales\.moves should be a number from .*, not 'x+\.\.\. \(str\)$"):
        check_settings({"scales": {"moves": "x" * 10**6}}, {"scales": {"moves": REAL}}, "model")
