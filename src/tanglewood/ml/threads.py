"""The threads of NumPy's matrix products: one is enough for ours, and gives the same sums in the same order everywhere.

The command line asks for one before NumPy is loaded (cli/common.py). Here the OpenBLAS in NumPy's wheels is asked for
one; with any other library OPENBLAS_NUM_THREADS, MKL_NUM_THREADS or OMP_NUM_THREADS should be set to 1.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

NAMES = ("scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads64_", "openblas_{}_num_threads")


@cache
def _library() -> tuple[Callable[[], int], Callable[[int], Any]] | None:
    """Return the functions that get and set the number of threads, if they are found."""
    import numpy as np

    folder = Path(np.__file__).parent
    for path in (*folder.parent.glob("numpy.libs/*openblas*"), *folder.glob(".dylibs/*openblas*")):
        with suppress(OSError):
            library = ctypes.CDLL(str(path))  # loaded already
            for name in NAMES:
                with suppress(AttributeError):
                    return getattr(library, name.format("get")), getattr(library, name.format("set"))
    return None


def keep_one_matrix_thread() -> None:
    """Keep matrix products to one thread from now on, in a process of our own."""
    found = _library()
    if found is not None:
        found[1](1)


@contextmanager
def one_matrix_thread() -> Iterator[None]:
    """Keep matrix products to one thread inside the block; not thread-safe."""
    found = _library()
    before = found[0]() if found is not None else 1
    keep_one_matrix_thread()
    try:
        yield
    finally:
        if found is not None:
            found[1](before)
