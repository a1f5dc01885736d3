"""What a model file must hold: declared for every array and every setting, and checked before anything is made of it.

Compiled code trusts the numbers it is given, so a file that could lead it astray must not get that far.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, NamedTuple

from tanglewood.errors import ModelError, given

MOST_WEIGHT = 1e6  # no learner comes near it, and what is computed of weights up to it is finite, or is checked
MOST_DEPTH = 8  # of plain data

# Arrays. --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Layout:
    """What an array must be: its format, its shape, and the range of its numbers; floats must be weights.

    Sizes and ends of ranges are numbers or names; whatever goes by the same name has the same size.
    """

    format: str
    shape: tuple[int | str, ...]
    least: int | None = None
    below: int | str | None = None
    starts: str = ""  # what the numbers are places in: they begin with 0, never fall and end with its size


def starts(of: str, among: str) -> Layout:
    """Return what an array must be that says where the part of each ``of`` begins ``among`` others, and the last ends.

    It has one number more than there are.
    """
    return Layout("i", (of,), starts=among)


def check_arrays(
    arrays: Mapping[str, Any], declared: Mapping[str, Layout], sizes: Mapping[str, int] | None = None
) -> dict[str, int]:
    """Raise ModelError unless the arrays are those declared; return all sizes that have a name, those given too."""
    for name in declared:
        if name not in arrays:
            raise ModelError(f"the model lacks the array {name!r}")
    for name in arrays:
        if name not in declared:
            raise ModelError(f"the array {name!r} does not belong to the model")
    found = dict(sizes or {})
    for name, wanted in declared.items():
        _check_shape(name, memoryview(arrays[name]), wanted, found)
    for name, wanted in declared.items():
        _check_numbers(name, arrays[name], wanted, found)
    return found


def _check_shape(name: str, view: memoryview, wanted: Layout, sizes: dict[str, int]) -> None:
    """Check format and shape, and give sizes that have not been met before their names."""
    shape = view.shape or ()
    if 0 in shape and 0 not in wanted.shape:
        shape = (0,) * len(wanted.shape)  # an empty array has lost its shape
    expected = []
    for place, size in enumerate(wanted.shape):
        own = shape[place] - bool(wanted.starts) if place < len(shape) else 0
        expected.append(sizes.setdefault(size, max(own, 0)) if isinstance(size, str) else size)
    if wanted.starts:
        expected[0] += 1
    if view.format != wanted.format or shape != tuple(expected):
        raise ModelError(
            f"the array {name!r} has format {view.format} and shape {list(view.shape or ())}; "
            f"it should have {wanted.format} and {expected}"
        )


def _check_numbers(name: str, values: Any, wanted: Layout, sizes: Mapping[str, int]) -> None:  # noqa: ANN401
    is_float = wanted.format in "fd"
    if not (is_float or wanted.starts or wanted.least is not None or wanted.below is not None):
        return
    import numpy as np

    numbers = np.asarray(values)
    if numbers.size == 0:
        return
    if is_float:
        if not max(numbers.max(), -numbers.min()) <= MOST_WEIGHT:  # NaN is not, either
            raise ModelError(f"the array {name!r} has numbers that are no weights: infinite, undefined or too large")
        return
    least, below = (0, None) if wanted.starts else (wanted.least, wanted.below)
    most = sizes[below] if isinstance(below, str) else below
    if (least is not None and numbers.min() < least) or (most is not None and numbers.max() >= most):
        span = f"{'any' if least is None else least} to {'any' if most is None else most - 1}"
        raise ModelError(f"the array {name!r} has numbers from {numbers.min()} to {numbers.max()}; it should be {span}")
    if wanted.starts and (numbers[0] != 0 or numbers[-1] != sizes[wanted.starts] or (np.diff(numbers) < 0).any()):
        raise ModelError(f"the array {name!r} should rise from 0 to {sizes[wanted.starts]}")


def check_halves(name: str, values: Any) -> None:  # noqa: ANN401 - a NumPy array of floats of 32 bits
    """Raise ModelError unless all numbers are finite, in an array of which each was kept in 16 bits."""
    if not isfinite(values.sum(dtype="f4")):  # no sum of such small numbers is infinite unless one of them is
        raise ModelError(f"the array {name!r} has numbers that are no weights: infinite or undefined")


# Settings. ------------------------------------------------------------------------------------------------------------


class Whole(NamedTuple):
    """A whole number in a range."""

    least: int
    most: int


class Real(NamedTuple):
    """A finite number in a range."""

    least: float = -MOST_WEIGHT
    most: float = MOST_WEIGHT


class Plain(NamedTuple):
    """Any plain data, not too deep."""


class Field(NamedTuple):
    """A text that fits into a column of a treebank; ``empty`` says whether it may also be empty."""

    empty: bool = False


FIELD, PLAIN, REAL = Field(), Plain(), Real()
# A shape is one of the above, str, bool, None, a list with the shape of its items, a tuple of alternatives, or a
# dictionary: of its keys, of which those that end in "?" may be missing, and, if str is a key, of all other keys.
Shape = Any


def check_settings(value: object, shape: Shape, name: str = "settings") -> None:
    """Raise ModelError unless the value has the shape; ``name`` is what the message calls it."""
    if isinstance(shape, dict):
        _check_dictionary(_of(dict, value, name), shape, name)
    elif isinstance(shape, list):
        _check_list(_of(list, value, name), shape[0], name)
    elif isinstance(shape, Whole):
        if type(value) is not int or not shape.least <= value <= shape.most:
            raise _unfit(value, f"a whole number from {shape.least} to {shape.most}", name)
    elif isinstance(shape, Real):
        if type(value) not in (int, float) or not shape.least <= value <= shape.most:  # type: ignore[operator]
            raise _unfit(value, f"a number from {shape.least:g} to {shape.most:g}", name)
    elif isinstance(shape, Field):
        _check_texts([_of(str, value, name)], shape, name)
    elif isinstance(shape, Plain):
        _check_depth(value, name)
    elif isinstance(shape, tuple):
        _check_alternatives(value, shape, name)
    elif shape is None:
        if value is not None:
            raise _unfit(value, "null", name)
    elif shape is str:
        _check_texts([_of(str, value, name)], None, name)
    else:
        _of(shape, value, name)


def _of(kind: type, value: object, name: str) -> Any:  # noqa: ANN401 - of the kind
    if type(value) is not kind:
        raise _unfit(value, f"of type {kind.__name__}", name)
    return value


def _unfit(value: object, wanted: str, name: str) -> ModelError:
    return ModelError(f"{name} should be {wanted}, not {given(value)}")


def _check_dictionary(value: dict[str, object], shape: dict[Any, Shape], name: str) -> None:
    named = {key.removesuffix("?"): (key, part) for key, part in shape.items() if isinstance(key, str)}
    for key, (written, part) in named.items():
        if key in value:
            check_settings(value[key], part, f"{name}.{key}")
        elif not written.endswith("?"):
            raise ModelError(f"{name} should have {key!r}")
    others = [key for key in value if key not in named]
    if others and str not in shape:
        raise ModelError(f"{name} should not have {given(others[0])}")
    _check_texts(others, None, name)
    _check_list([value[key] for key in others], shape.get(str), name)


def _check_list(values: list[object], shape: Shape, name: str) -> None:
    """Check items; texts, of which there may be many, all at once."""
    if shape is str or isinstance(shape, Field):
        if not set(map(type, values)) <= {str}:
            odd = next(value for value in values if type(value) is not str)
            raise _unfit(odd, "a text", f"a part of {name}")
        _check_texts(values, shape if isinstance(shape, Field) else None, name)  # type: ignore[arg-type]
        return
    for value in values:
        check_settings(value, shape, f"a part of {name}")


def _check_texts(texts: Iterable[str], field: Field | None, name: str) -> None:
    texts = list(texts)
    joined = " ".join(texts)
    try:
        joined.encode()
    except UnicodeEncodeError:
        raise ModelError(f"{name} has a text with half a character, which cannot be written") from None
    if field is not None:
        if any(character in joined for character in "\t\r\n"):
            raise ModelError(f"{name} has a text with a tab or a line break, which fits into no column")
        if not field.empty and "" in texts:
            raise ModelError(f"{name} has an empty text, which cannot stand in a column")


def _check_alternatives(value: object, shapes: tuple[Shape, ...], name: str) -> None:
    for shape in shapes[:-1]:
        try:
            return check_settings(value, shape, name)
        except ModelError:
            pass
    return check_settings(value, shapes[-1], name)


def _check_depth(value: object, name: str) -> None:
    level = [value]
    for _ in range(MOST_DEPTH):
        texts = [part for part in level if isinstance(part, str)]
        texts += [key for part in level if isinstance(part, dict) for key in part]
        _check_texts(texts, None, name)
        level = [
            inner
            for part in level
            if isinstance(part, dict | list)
            for inner in (part.values() if isinstance(part, dict) else part)
        ]
        if not level:
            return
    if any(isinstance(part, dict | list) for part in level):
        raise ModelError(f"{name} is nested more than {MOST_DEPTH} levels deep")
