"""Compile everything with AddressSanitizer and UBSan into a folder of its own, and run fuzz targets or tests with it.

    python fuzz/sanitized.py models --count 2000 --processes 2   # arguments of run.py
    python fuzz/sanitized.py --tests                             # the tests of the compiled rooms
    python fuzz/sanitized.py --tests tests/core -k beam          # or others: arguments of pytest

A bad read, write, shift or overflow then ends the process with a report. It needs gcc with its sanitizers.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "build" / "sanitized" / "lib"
TESTS = ("core", "systems", "decoders", "learners", "ml", "transforms", "treebank", "text", "measure", "test_parser.py")
OPTIONS = {
    # Python frees little at its end, and a report of each of those leaks would hide everything else. A short memory of
    # what was freed, and of who asked for it, takes a quarter off the time.
    "ASAN_OPTIONS": "detect_leaks=0:abort_on_error=1:allocator_may_return_null=1:max_allocation_size_mb=4096"
    ":malloc_context_size=1:quarantine_size_mb=16",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
    "PYTHONMALLOC": "malloc",  # otherwise Python's own blocks hide what is read beyond their ends
}


def build() -> None:
    """Compile what has changed."""
    command = [sys.executable, "setup.py", "-q", "build", "--build-lib", str(LIB)]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "TANGLEWOOD_SANITIZE": "1"}, check=True)


def library(name: str) -> str:
    """Return the path of a library of the compiler."""
    asked = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return asked.stdout.strip()


def main() -> int:
    """Build, and run what was asked for."""
    given = sys.argv[1:]
    if given[:1] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    build()
    preloaded = f"{library('libasan.so')} {library('libstdc++.so')}"  # C++ libraries need theirs before exceptions
    environment = {**os.environ, **OPTIONS, "LD_PRELOAD": preloaded, "PYTHONPATH": str(LIB)}
    command = [sys.executable, str(ROOT / "fuzz" / "run.py"), *given]
    if given[:1] == ["--tests"]:
        chosen = given[1:] or [str(ROOT / "tests" / name) for name in TESTS]
        # A worker of its own, so that what ends a process fails one test; -n 2 among the arguments makes it two.
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "1", *chosen]
    return subprocess.run(command, env=environment, check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())
