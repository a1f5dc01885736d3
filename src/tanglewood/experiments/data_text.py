"""Results as text: JSON that a person can read and compare."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def as_json(data: Mapping[str, Any]) -> str:
    """Return data as text, lists of numbers on one line."""
    return _text(data, "") + "\n"


def _text(data: Any, indent: str) -> str:  # noqa: ANN401 - anything that json can write
    if isinstance(data, dict) and data:
        inner = ",\n".join(
            f"{indent}  {json.dumps(key, ensure_ascii=False)}: {_text(value, indent + '  ')}"
            for key, value in data.items()
        )
        return f"{{\n{inner}\n{indent}}}"
    if isinstance(data, list) and any(isinstance(item, dict) for item in data):
        inner = ",\n".join(f"{indent}  {_text(item, indent + '  ')}" for item in data)
        return f"[\n{inner}\n{indent}]"
    return json.dumps(data, ensure_ascii=False)
