"""The families of kernels, compiled with fused multiply-adds where the machine has them (setup.py sees to that).

Their last bits differ between families. Only kernels.py asks for them.
"""

from __future__ import annotations

from typing import Any


def fast_family(family: int) -> Any:  # noqa: ANN401 - a pointer of C
    """Return the kernels of the family with this number."""
    return tw_family(family)  # type: ignore[name-defined]  # noqa: F821
