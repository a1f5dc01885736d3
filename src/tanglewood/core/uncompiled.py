"""Stands in for Cython's module where the core runs interpreted and Cython is not installed."""

from contextlib import nullcontext
from types import SimpleNamespace

cython = SimpleNamespace(nogil=nullcontext(), gil=nullcontext(), compiled=False)
