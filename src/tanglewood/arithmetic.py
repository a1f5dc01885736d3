"""Which code computes sums and products: one of the families of kernels, and the same bits on every machine or not.

The environment variable TANGLEWOOD_KERNELS names a family instead of the best that the machine has, or `reproducible`,
or both, with a comma between them. docs/reproducible.md tells what is the same when.
"""

from __future__ import annotations

import os
from typing import NamedTuple

from tanglewood.errors import ConfigError

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython

VARIABLE = "TANGLEWOOD_KERNELS"
REPRODUCIBLE = "reproducible"
# As in arithmetic.h, those of x86 first and then those of ARM: a machine takes the last that it has.
FAMILIES = ("portable", "avx2", "avxvnni", "avx512", "vnni", "neon", "dotprod")


class Arithmetic(NamedTuple):
    """A family of kernels, and whether they give the same bits as any other family."""

    family: str
    reproducible: bool

    def __str__(self) -> str:
        return f"{self.family}, {REPRODUCIBLE}" if self.reproducible else self.family


def available() -> tuple[str, ...]:
    """Return the families that this machine has, the best last; where nothing is compiled there is one."""
    found = tw_families() if cython.compiled else 1  # type: ignore[name-defined]  # noqa: F821
    return tuple(name for number, name in enumerate(FAMILIES) if found >> number & 1)


def chosen(*, reproducible: bool = False) -> Arithmetic:
    """Return what TANGLEWOOD_KERNELS asks for, by default the best family; a ConfigError if there is no such thing."""
    families = available()  # compiled, an index may not be negative
    names = os.environ.get(VARIABLE, "").replace(",", " ").split()
    for name in names:
        if name != REPRODUCIBLE and name not in families:
            what = "this machine lacks the instructions" if name in FAMILIES else "there are no such kernels"
            raise ConfigError(f"{VARIABLE}={name}: {what}; here it can be {', '.join((*families, REPRODUCIBLE))}")
    named = {name for name in names if name != REPRODUCIBLE}
    if len(named) > 1:
        raise ConfigError(f"{VARIABLE}={','.join(names)}: one family at a time, not {len(named)}")
    return Arithmetic(named.pop() if named else families[len(families) - 1], reproducible or REPRODUCIBLE in names)
