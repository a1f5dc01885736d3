"""Matrix products on one thread."""

import subprocess
import sys

import pytest

SCRIPT = """
import numpy
from tanglewood.ml.threads import _library, keep_one_matrix_thread, one_matrix_thread
found = _library()
if found is None:
    print("none")
else:
    get, set_ = found
    set_(2)
    before = get()
    with one_matrix_thread():
        inside = get()
    after = get()
    keep_one_matrix_thread()
    print(before, inside, after, get())
"""


def test_there_is_one_thread_for_a_while_and_then_as_many_as_before():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    if done.stdout == "none\n":
        pytest.skip("NumPy has another library than OpenBLAS here")
    before, inside, after, kept = map(int, done.stdout.split())
    assert inside == kept == 1
    assert after == before >= 1
