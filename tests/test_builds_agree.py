"""The compiled build does exactly what its sources do when interpreted; run as a program, prints the workload."""

import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.abc import MetaPathFinder
from importlib.machinery import SOURCE_SUFFIXES, FileFinder, ModuleSpec, SourceFileLoader
from pathlib import Path
from random import Random
from typing import NamedTuple
from zlib import crc32

import pytest

SEEDS = 4


class SourceOnly(MetaPathFinder):
    """Finds the modules of tanglewood as .py files only; compiled modules beside them are passed over."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if fullname.split(".", maxsplit=1)[0] != "tanglewood":
            return None
        folder = Path(self.folder, *fullname.split(".")[:-1])
        return FileFinder(str(folder), (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(fullname)


def random_tree(random: Random, n: int) -> list[int]:
    order = random.sample(range(1, n + 1), n)
    heads = [0] * (n + 1)
    for i, word in enumerate(order):
        heads[word] = random.choice([0, *order[:i]])
    return heads[1:]


def workload() -> Iterator[str]:
    """Trees, measures, sums over trees; for every system random walks and oracles' runs: a line for every step."""
    import raw_texts
    from exhaustive import ORACLES, VARIANTS, bind, everything
    from tanglewood.core.state import State
    from tanglewood.decoders.base import score_table
    from tanglewood.decoders.spanning import SpanningTree
    from tanglewood.systems import make_system
    from tanglewood.text.tokenizer import Tokenizer
    from tanglewood.transforms.lifting import lift_and_mark
    from tanglewood.treebank import Tree

    random = Random(2009)
    for _ in range(100):
        tree = Tree(random_tree(random, random.randint(0, 15)))
        lifted, passed = lift_and_mark(tree.heads)
        yield f"{tree} {tree.arc_degrees(2006)} {tree.arc_degrees(2007)} {tree.crossing_pairs()}"
        yield f"{tree.is_planar()} {tree.gap_degree()} {tree.is_well_nested()} {tree.projective_order()}"
        yield f"{list(lifted)} {list(passed)}"
    for number in range(60):
        decoder = SpanningTree(single_root=bool(number % 2))
        scores = score_table(random.randint(1, 12))
        spread = random.choice([1, 30, 400])
        for head in range(len(scores)):
            for word in range(1, len(scores)):
                scores[head, word] = random.choice([random.gauss(0, spread), spread])
        yield f"{decoder.best(scores)} {decoder.log_partition(scores)} {crc32(decoder.marginals(scores))}"
    tokenizer = Tokenizer.learn(raw_texts.treebank(), None, epochs=3)
    yield f"{tokenizer.settings()} {[(name, crc32(table)) for name, table in tokenizer.arrays().items()]}"
    yield f"{tokenizer.tokenize(''.join(random.choices('aB1. ', k=1000)))}"
    for name, options in VARIANTS:
        for seed in range(2 * SEEDS):
            system = make_system(name, single_root=bool(seed % 2), **options)
            n = random.randint(1, 9)
            heads = random_tree(random, n)
            yield f"{name} {options} {heads}"
            oracles = [system.oracle(oracle) for row, more, oracle in ORACLES if (row, more) == (name, options)]
            for oracle in oracles:
                bind(oracle, heads, seed)
                state = State(n)
                yield f"{oracle.reaches_gold(state)} {everything(state)}"
            s = system.start(n)
            while not system.is_final(s):
                label = random.randrange(3)
                legal = system.legal_moves(s, label)
                arcs = [system.arc(s, move, label) for move in legal]
                costs = [oracle.costs(s) for oracle in oracles if oracle.explores]
                move = random.choice(legal)
                system.apply(s, move, label)
                yield f"{legal} {arcs} {costs} took {move} {label} to {crc32(repr(everything(s)).encode()):08x}"


@pytest.fixture(scope="module")
def package() -> Path:
    """The folder of the installed package, if it is compiled."""
    import tanglewood.core.state

    if tanglewood.core.state.__file__.endswith(".py"):
        pytest.skip("this build is interpreted: there is no compiled one to compare with")
    return Path(tanglewood.__file__).parent


def test_compiled_and_interpreted_builds_agree_move_by_move(package):
    run = subprocess.run(
        [sys.executable, __file__, str(package.parent)], capture_output=True, text=True, check=False, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    modules, *interpreted = run.stdout.splitlines()
    assert modules == "all interpreted"
    compiled = list(workload())
    assert len(compiled) > 1000
    for number, (line, twin) in enumerate(zip(compiled, interpreted, strict=False)):
        assert line == twin, f"line {number}, after {compiled[max(0, number - 3) : number]}"
    assert len(compiled) == len(interpreted)


# Cython ignores a .pxd that it does not find beside its module, and compiles slow Python without a word. ------------


class Declared(NamedTuple):
    """One name of a .pxd: which class it is in ("" for none), whether it is a function, and who can see it."""

    owner: str
    name: str
    is_function: bool
    is_visible: bool


def declarations(text: str) -> Iterator[Declared]:
    """Everything a .pxd declares."""
    owner = ""
    for line in text.splitlines():
        if match := re.match(r"cdef class (\w+)", line):
            owner = match[1]
        elif match := re.match(r"(\s*)(cp?def) (public |readonly )?(.*)", line):
            owner = owner if match[1] else ""
            is_visible = match[2] == "cpdef" or bool(match[3])
            if function := re.match(r"[^(]*?(\w+)\(", match[4]):
                yield Declared(owner, function[1], True, is_visible)
            else:
                for name in re.sub(r"\[.*?\]", "", match[4]).split(None, 1)[1].split(","):
                    yield Declared(owner, name.split()[-1], False, is_visible)  # a type may be "long long"


def test_declarations_are_read_from_a_pxd():
    members = "    cdef int[:, ::1] x, y\n    cdef public int z\n    cdef int f(self, int i)\n"
    assert list(declarations(f"cdef int A, B\ncdef class C(D):\n{members}cpdef list g(int n)\n")) == [
        ("", "A", False, False),
        ("", "B", False, False),
        ("C", "x", False, False),
        ("C", "y", False, False),
        ("C", "z", False, True),
        ("C", "f", True, False),
        ("", "g", True, True),
    ]


def test_every_module_with_a_pxd_is_compiled_with_its_c_types(package):
    # One that wraps a C header has no module but a plain twin of the header.
    files = [file for file in sorted(package.rglob("*.pxd")) if not file.with_name(f"{file.stem}_plain.py").exists()]
    assert len(files) >= 14
    for file in files:
        name = ".".join(file.relative_to(package.parent).with_suffix("").parts)
        module = importlib.import_module(name)
        assert not str(module.__file__).endswith(".py"), f"{name} is not compiled"
        for declared in declarations(file.read_text()):
            home = getattr(module, declared.owner) if declared.owner else module
            where = f"{name}: {declared.owner}.{declared.name}"
            if not declared.is_visible:
                assert not hasattr(home, declared.name), f"{where} is no C name"
            elif declared.is_function:
                assert not inspect.isfunction(getattr(home, declared.name)), f"{where} is no C function"
            else:
                assert inspect.isgetsetdescriptor(vars(home)[declared.name]), f"{where} is no C attribute"


def main() -> None:
    sys.meta_path.insert(0, SourceOnly(sys.argv[1]))
    lines = list(workload())
    loaded = [module for name, module in sys.modules.items() if name.split(".")[0] == "tanglewood"]
    compiled = [module.__name__ for module in loaded if not str(module.__file__).endswith(".py")]
    sys.stdout.reconfigure(encoding="utf-8")
    print(f"compiled: {compiled}" if compiled else "all interpreted")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
