"""The families of kernels, compiled without fused multiply-adds (setup.py sees to that).

All families give the same bits. Only kernels.py asks for them.
"""

from __future__ import annotations

from typing import Any


def exact_family(family: int) -> Any:  # noqa: ANN401 - a pointer of C
    """Return the kernels of the family with this number."""
    return tw_family(family)  # type: ignore[name-defined]  # noqa: F821
