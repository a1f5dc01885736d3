"""The kernels as other compilers and machines have them: the same bits, and with fused operations nearly the same.

A small program in C is compiled with what is here: the compiler of this machine as itself and as one without vectors
(as MSVC is), the same with musl, Clang, and one for ARM whose program qemu runs. For macOS and Windows Clang only
compiles the kernels: what runs there is not at hand. On Debian: apt install clang gcc-aarch64-linux-gnu
libc6-dev-arm64-cross musl-tools qemu-user, then pytest --slow tests/ml/test_kernels_elsewhere.py
"""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import tanglewood
from tanglewood.arithmetic import FAMILIES
from tanglewood.ml import vectors_plain

pytestmark = pytest.mark.one_build

DRIVER = Path(__file__).with_name("kernels_driver.c")
SOURCES = Path(tanglewood.__file__).resolve().parents[1]
PLAIN = SimpleNamespace(reproducible=True)
SHAPES = [(1, 4, 64, 3), (7, 36, 64, 16), (13, 300, 128, 21)]  # rows, inputs, outputs, width of the LSTM
TOLERANCE = 2**-23  # times the number of terms and the sum of their sizes: by how much a sum of floats may differ


class Build(NamedTuple):
    """A way to make the program, and to run it."""

    compiler: str
    options: tuple[str, ...] = ("-O2",)
    runner: tuple[str, ...] = ()


HERE = {
    "plain": Build("cc", ("-O1", "-DTW_PLAIN", "-std=c99", "-pedantic-errors")),
    "wide": Build("cc", ("-O1", "-DTW_AVXVNNI_AS_AVX512")),
}
ARM = Build("aarch64-linux-gnu-gcc", ("-O3", "-static"), ("qemu-aarch64", "-cpu", "max"))
ELSEWHERE = {
    "gcc": Build("gcc", ("-O3",)),
    "musl": Build("musl-gcc", ("-O3",)),
    "clang": Build("clang", ("-O3",)),
    "clang, plain": Build("clang", ("-O3", "-DTW_PLAIN")),
    "arm": ARM,
    "arm, plain": ARM._replace(options=("-O3", "-static", "-DTW_PLAIN")),
}
# All that the kernels need of a C library, declared for systems whose headers are not at hand.
HEADERS = {
    "math.h": "float fabsf(float), sqrtf(float);\n",
    "string.h": "#include <stddef.h>\nvoid *memcpy(void *, const void *, size_t), *memset(void *, int, size_t);\n",
    "sys/sysctl.h": "#include <stddef.h>\nint sysctlbyname(const char *, void *, size_t *, void *, size_t);\n",
}
ALL_OF_THEM = """
#include "tanglewood/ml/families.h"
const tw_kernels *chosen(int family) { return tw_families() >> family & 1 ? tw_family(family) : 0; }
"""
X86 = {"portable", "avx2", "avxvnni", "avx512", "vnni"}
ARM64 = {"portable", "neon", "dotprod"}


@pytest.fixture(scope="module")
def make(tmp_path_factory):
    """Compile the program, once for each build, fused or not; skips what is not installed."""

    @cache
    def made(build: Build, fused: bool = False) -> list[str]:
        for tool in (build.compiler, *build.runner[:1]):
            if shutil.which(tool) is None:
                pytest.skip(f"{tool} is not installed")
        program = tmp_path_factory.mktemp("driver") / "driver"
        options = [*build.options, f"-ffp-contract={'fast' if fused else 'off'}", f"-I{SOURCES}", str(DRIVER)]
        subprocess.run([build.compiler, *options, "-o", str(program), "-lm"], check=True, timeout=600)
        return [*build.runner, str(program)]

    return made


def numbers(shape):
    """The numbers that the program reads: some are 0, so that rectified inputs are tried."""
    rng = np.random.default_rng(sum(shape))
    pool = rng.normal(0, 1, 1 << 18).astype(np.float32)
    pool[rng.random(len(pool)) < 0.1] = 0
    return pool


def outputs(command, shape):
    """What each family computed: names to floats."""
    done = subprocess.run(
        [*command, *map(str, shape)], input=numbers(shape).tobytes(), capture_output=True, check=True, timeout=600
    )
    found, at = {}, 0
    while at < len(done.stdout):
        family, count = np.frombuffer(done.stdout, np.int32, 2, at)
        found[FAMILIES[family]] = np.frombuffer(done.stdout, np.float32, count, at + 8)
        at += 8 + 4 * int(count)
    return found


def twin(shape):
    """What parsing needs of it, by the plain twins of the kernels; and for sums how far they may be off if fused."""
    rows, n_in, n_out, width = shape
    pool, at = numbers(shape), 0

    def take(*sizes):
        nonlocal at
        at += int(np.prod(sizes))
        return pool[at - int(np.prod(sizes)) : at].reshape(sizes).copy()

    table = take(rows, n_out)
    summed, few, many = np.zeros((3, n_out), np.float32)
    vectors_plain.rectified_sum(PLAIN, summed, table, rows)
    bias, few_weights, weights, inputs = take(n_out), take(n_out, n_in), take(n_in, n_out), take(rows, n_in)
    vectors_plain.few_outputs(PLAIN, few, bias, few_weights, inputs[0])
    vectors_plain.many_outputs(PLAIN, many, bias[None], weights[None], 0, inputs[0])
    dense = np.zeros((rows, n_out), np.float32)
    vectors_plain.dense_layer(PLAIN, dense, bias, weights, inputs)
    matrix, rounded_rows = take(n_in, n_out), take(rows, n_in)
    scales = np.maximum(np.abs(matrix).max(0), np.float32(1e-30)) / np.float32(127)
    whole = np.rint(matrix / scales).astype(np.int16)
    packed = whole.reshape(n_in // 2, 2, n_out // 16, 16).transpose(2, 0, 3, 1).reshape(-1).view(np.int8)
    rounded = np.zeros((rows, n_out), np.float32)
    vectors_plain.rounded_products(PLAIN, packed, scales, None, None, np.zeros(rows, np.float32), rounded_rows, rounded)
    gates, recurrent = take(2 * rows, 4 * width), take(width, 4 * width)
    steps = [gates, *np.zeros((3, 2 * rows, width), np.float32)]
    vectors_plain.lstm_step(PLAIN, *steps, recurrent, 0, -1, rows)
    vectors_plain.lstm_step(PLAIN, *steps, recurrent, rows, 0, rows)
    parts = [summed, few, many, dense, rounded, *steps]
    sizes = np.abs(np.concatenate([inputs[:1], inputs]))
    most = [np.abs(few_weights) @ sizes[0], *(row @ np.abs(weights) for row in sizes)]
    allowed = TOLERANCE * n_in * np.concatenate([np.abs(table).sum(0), *(np.abs(bias) + each for each in most)])
    return np.concatenate([part.ravel() for part in parts]), allowed, rows * n_out


def compare(make, build, shape):
    """Compare all families of a build with the twins, and with each other; return their names."""
    wanted, allowed, n_rounded = twin(shape)
    found = outputs(make(build), shape)
    for family, computed in found.items():
        assert computed[: len(wanted)].tobytes() == wanted.tobytes(), family
        assert computed.tobytes() == found["portable"].tobytes(), family
    for family, computed in outputs(make(build, fused=True), shape).items():
        floats, integers = slice(len(allowed)), slice(len(allowed), len(allowed) + n_rounded)
        assert (np.abs(computed[floats] - wanted[floats]) <= allowed).all(), family
        assert computed[integers].tobytes() == wanted[integers].tobytes(), family
        np.testing.assert_allclose(computed, found["portable"], rtol=1e-3, atol=1e-4 * shape[3])
    return set(found)


@pytest.mark.parametrize("name", HERE)
def test_without_vectors_and_with_all_of_them_the_bits_are_the_same(make, name):
    families = compare(make, HERE[name], SHAPES[1])
    if name == "plain":
        assert families == {"portable"}
    else:
        assert ("avxvnni" in families) == ("vnni" in families), "avxvnni is tried as what vnni machines have"


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", [*HERE, *ELSEWHERE])
def test_other_compilers_and_machines_give_the_same_bits(make, name, shape):
    families = compare(make, (HERE | ELSEWHERE)[name], shape)
    if name == "arm":
        assert families == {"portable", "neon", "dotprod"}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("build", "processor", "families"),
    [
        (ARM, "cortex-a53", ["portable", "neon"]),
        (ARM, "cortex-a76", ["portable", "neon", "dotprod"]),
        (Build("gcc", ("-O2", "-static"), ("qemu-x86_64",)), "Nehalem", ["portable"]),
        (Build("gcc", ("-O2", "-static"), ("qemu-x86_64",)), "Haswell", ["portable", "avx2"]),
    ],
)
def test_a_machine_says_what_it_has(make, build, processor, families):
    command = make(build._replace(runner=(build.runner[0], "-cpu", processor)))
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if "unable to find CPU model" in done.stderr:
        pytest.skip(f"this qemu does not know {processor}")
    assert [name for number, name in enumerate(FAMILIES) if int(done.stdout) >> number & 1] == families
    assert set(outputs(command, SHAPES[0])) == set(families)


@pytest.mark.slow
@pytest.mark.parametrize("contract", ["fast", "off"])
@pytest.mark.parametrize(
    ("target", "families"),
    [
        (["--target=x86_64-apple-macos11"], X86),
        (["--target=arm64-apple-macos11"], ARM64),
        (["--target=x86_64-pc-windows-msvc"], X86),
        (["--target=arm64-pc-windows-msvc", "-march=armv8.2-a+dotprod"], ARM64),  # Clang 16 does without the second
    ],
)
def test_clang_compiles_every_family_for_macos_and_windows(tmp_path, target, families, contract):
    if shutil.which("clang") is None:
        pytest.skip("clang is not installed")
    for name, declared in HEADERS.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(declared)
    command = ["clang", *target, "-O3", f"-ffp-contract={contract}", "-Werror=implicit", "-ffreestanding"]
    command += ["-nostdlibinc", "-isystem", str(tmp_path), f"-I{SOURCES}", "-c", "-x", "c", "-"]
    command += ["-o", str(tmp_path / "kernels.o")]
    subprocess.run(command, input=ALL_OF_THEM, text=True, check=True, timeout=600)
    symbols = re.findall(rb"\b_?kernels_(\w+)", (tmp_path / "kernels.o").read_bytes())
    assert {symbol.decode() for symbol in symbols} == families
