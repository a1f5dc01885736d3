"""The kernels that a parser, tagger or learner computes with: of one family, fast or the same on every machine."""

from __future__ import annotations

from tanglewood.arithmetic import FAMILIES, Arithmetic, chosen

try:
    import cython
except ModuleNotFoundError:
    from tanglewood.core.uncompiled import cython


class Kernels:
    """Compiled, a table of the functions of vectors.h and products.h; vectors.pxd calls them.

    Matrices of integers are packed as these want them: in groups of ``group`` inputs, to which ``offset`` is added.
    """

    def __init__(self, arithmetic: Arithmetic) -> None:
        self.arithmetic = arithmetic
        self.reproducible = arithmetic.reproducible
        self.group, self.offset = 2, 0
        if cython.compiled:
            family = FAMILIES.index(arithmetic.family)
            if self.reproducible:
                self.table = exact_family(family)  # type: ignore[name-defined]  # noqa: F821
            else:
                self.table = fast_family(family)  # type: ignore[name-defined]  # noqa: F821
            self.group = self.table.group
            self.offset = self.table.offset


def kernels_for(*, reproducible: bool = False) -> Kernels:
    """Return the kernels that TANGLEWOOD_KERNELS asks for, by default the machine's best."""
    return Kernels(chosen(reproducible=reproducible))
