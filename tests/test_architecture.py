"""The house plan: who may import whom, what stays out of module level, how files are named and how long they are."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tanglewood.systems import SYSTEMS

pytestmark = pytest.mark.one_build
SOURCE = Path(__file__).resolve().parents[1] / "src" / "tanglewood"
MODULES = sorted(SOURCE.rglob("*.py"))
HEAVY = {
    "matplotlib",
    "torch",
    "sklearn",
    "numpy",
    "scipy",
    "pandas",
    "pyarrow",
    "zstandard",
    "dask",
    "distributed",
    "fsspec",
    "spacy",
}
MATRICES = {  # loaded when asked for
    *(f"ml/{name}.py" for name in ("adam", "contexts", "contextual", "encoder", "language_model", "lexicon", "losses")),
    *(f"ml/{name}.py" for name in ("products", "vectors_plain")),
    *(f"ml/{name}.py" for name in ("file_lexicon", "subword_files", "vector_files", "vector_source")),
    *(
        f"learners/{name}.py"
        for name in (
            "network/arcs",
            "network/learner",
            "network/student",
            "network/triple_learner",
            "svm/learner",
            "svm/solver",
        )
    ),
    "learners/svm/models.py",
    "text/borders.py",
    "text/opinions.py",
    "text/tagger.py",
    "embedding.py",
    "spacy_bridge/components.py",
    *(f"training/{name}.py" for name in ("pretrain", "pretrain_torch", "raw_text")),
}
LONGEST = 500

# What each room stands on: it may import those rooms, what they stand on, itself and errors. "" is the package itself,
# whose names are loaded when first used. A module of a folder may be a room of its own ("run.processes").
ON: dict[str, tuple[str, ...]] = {
    "errors": (),
    "arithmetic": (),
    "files": (),
    "checks": (),
    "store": ("files",),
    "treebank": ("files",),
    "transforms": ("treebank",),
    "core": ("treebank", "checks"),
    "ml": ("treebank", "arithmetic", "checks"),
    "decoders": ("core", "arithmetic"),
    "systems": ("core", "decoders", "transforms"),  # Eisner's chart in dynamic oracles; which decoder is exact
    "measure": ("core", "systems"),
    "options": ("decoders",),  # how far a search may go if nothing else is said
    "learners": ("ml", "core", "decoders"),
    "text": ("ml", "treebank"),
    "decoding": ("decoders", "learners", "options"),
    "searches": ("decoding", "transforms"),
    "parser": ("searches", "systems", "store", ""),  # the version stands in a model file
    "run.processes": (),
    "run.dask_engine": ("ml",),
    "run.engine": ("run.processes", "run.dask_engine"),
    "packages.installed": (),
    "embedding": ("ml", "store", ""),  # the version stands in its files
    "worker": ("parser", "text", "embedding"),
    "pipeline": ("worker", "run.processes", "packages.installed"),
    "packages": ("pipeline",),
    "spacy_bridge": ("pipeline",),
    "derivation": ("parser",),
    "show": ("derivation", "measure"),  # plots of running time
    "training": ("pipeline", "measure", "run.engine"),
    "run": ("pipeline", "measure", "show"),
    "web": ("pipeline", "measure", "show"),
    "experiments": ("training", "pipeline", "measure", "show"),
}
ON["cli"] = tuple(ON)
ON["__main__"] = ("cli",)


def closure(room: str) -> set[str]:
    """A room and all that it stands on, directly or not."""
    found = {room}
    for other in ON.get(room, ()):
        found |= closure(other)
    return found


ROOMS = {room: closure(room) | {"errors"} for room in ON} | {"": set(ON)}

TYPES = "if TYPE_CHECKING"  # where imports stand that are for type checkers only
EXCEPTIONS = {  # trees, sentences and documents draw themselves and are saved as drawings
    ("treebank", function, "show") for function in ("draw", "save", "_repr_svg_", "_repr_html_", TYPES)
}


class Import(NamedTuple):
    """One import of another module: its dotted name, the function around it, if any, and its line."""

    module: str
    function: str
    line: int


def imports(tree: ast.AST, function: str = "") -> Iterator[Import]:
    """All imports of a module, those inside functions and for type checkers too."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, function, node.lineno)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute"
            for alias in node.names:  # `from tanglewood import show` is an import of tanglewood.show
                whole = node.module == "tanglewood"
                yield Import(f"tanglewood.{alias.name}" if whole else str(node.module), function, node.lineno)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from imports(node, node.name)
        elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            yield from imports(node, TYPES)
        else:
            yield from imports(node, function)


def room_of(path: Path) -> str:
    """The folder a module is in, or its own name if it stands by itself."""
    name = ".".join(("tanglewood", *path.relative_to(SOURCE).with_suffix("").parts))
    return room_named(name.removesuffix(".__init__"))


def room_named(module: str) -> str:
    """The room that an imported module of ours belongs to; names of the package itself are in room ""."""
    parts = module.split(".")[1:]
    if ".".join(parts[:2]) in ON:
        return ".".join(parts[:2])
    return parts[0] if parts and (parts[0] in ON or (SOURCE / parts[0]).is_dir()) else ""


def wrong_imports(room: str, text: str) -> list[str]:
    """What a module of the room imports and should not."""
    found = []
    for module, function, line in imports(ast.parse(text)):
        if module.split(".")[0] != "tanglewood" or module == "tanglewood.core.uncompiled":
            continue  # the latter stands in for the package cython
        other = room_named(module)
        if other not in ROOMS[room] and (room, function, other) not in EXCEPTIONS:
            found.append(f"line {line}: {room or 'the package'} may not import {module}")
    return found


def module_ids(path: Path) -> str:
    return str(path.relative_to(SOURCE))


over_modules = pytest.mark.parametrize("path", MODULES, ids=module_ids)


def test_every_room_is_in_the_plan():
    assert {room_of(path) for path in MODULES} <= set(ROOMS)
    assert len(MODULES) > 20


@over_modules
def test_imports_go_in_the_direction_of_the_plan(path):
    assert wrong_imports(room_of(path), path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("room", "text"),
    [
        ("treebank", "from tanglewood.core.state import State"),
        ("treebank", "from tanglewood import show"),
        ("treebank", "def to_text():\n    from tanglewood.show import svg"),
        ("treebank", "def draw():\n    from tanglewood.parser import Parser"),
        ("treebank", "if TYPE_CHECKING:\n    from tanglewood.parser import Parser"),
        ("core", "if TYPE_CHECKING:\n    import tanglewood.systems.swap"),
        ("transforms", "from tanglewood.core.state import State"),
        ("systems", "from tanglewood.measure.stats import TreebankStats"),
        ("measure", "from tanglewood.cli.common import percent"),
        ("show", "from tanglewood.cli import main"),
        ("show", "from tanglewood.web.app import make_app"),
        ("errors", "from tanglewood.treebank.tree import Tree"),
        ("core", "from tanglewood import make_system"),
        ("learners", "from tanglewood.systems.three_step import ThreeStep"),
        ("ml", "from tanglewood.systems import SYSTEMS"),
        ("pipeline", "from tanglewood.run.corpus import parse_files"),
        ("text", "from tanglewood.training.loop import Training"),
        ("web", "from tanglewood.cli.writing import drawings"),
    ],
)
def test_a_wrong_import_is_found(room, text):
    assert len(wrong_imports(room, text)) == 1


def test_a_listed_exception_is_allowed_in_its_function_only():
    assert wrong_imports("treebank", "def _repr_svg_(self):\n    from tanglewood.show import svg") == []
    assert wrong_imports("treebank", "if TYPE_CHECKING:\n    from tanglewood.show.drawing import Drawing") == []
    assert wrong_imports("treebank", "if other:\n    from tanglewood.show.drawing import Drawing")
    assert wrong_imports("core", "def _repr_svg_(self):\n    from tanglewood.show import svg")


@cache
def constants_of(path: Path) -> set[str]:
    """Names that a module gives whole numbers to, alone or as `A, B = range(2)`."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and not isinstance(node.value, ast.Dict | ast.List | ast.JoinedStr | ast.Set):
            names = [name.id for target in node.targets for name in ast.walk(target) if isinstance(name, ast.Name)]
            found |= {name for name in names if name.isupper()}
    return found


def facts_of_systems_elsewhere(text: str) -> list[str]:
    """What a module outside systems/ knows of single systems: their classes, or attributes asked for by name."""
    classes = {kind.__name__ for kind in SYSTEMS.values()}
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name | ast.Attribute):
            name = node.id if isinstance(node, ast.Name) else node.attr
            found += [f"line {node.lineno}: {name}"] if name in classes else []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in {"getattr", "hasattr"}:
            of_system = "system" in ast.unparse(node.args[0]).rsplit(".", 1)[-1]
            found += [f"line {node.lineno}: {ast.unparse(node)}"] if of_system else []
    return found


@over_modules
def test_no_constant_of_a_system_is_copied_and_no_system_known_by_its_class(path):
    """Experiments name systems, as the papers do; nobody else does."""
    if room_of(path) in {"systems", "experiments"}:
        return
    own = {name for file in (SOURCE / "systems").glob("*.py") for name in constants_of(file)}
    shared = {name for file in (SOURCE / "core").glob("*.py") for name in constants_of(file)} | {"FILES", "NEVER"}
    if room_of(path) != "core":
        assert constants_of(path) & (own - shared) == set()
    assert facts_of_systems_elsewhere(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    "text",
    ["x = isinstance(system, ThreeStep)", "y = getattr(system, 'bound', -1)", "z = hasattr(self.system, 'first')"],
)
def test_a_fact_about_a_system_outside_its_file_is_found(text):
    assert len(facts_of_systems_elsewhere(text)) == 1


@over_modules
def test_nothing_heavy_is_imported_at_module_level(path):
    found = [item for item in imports(ast.parse(path.read_text(encoding="utf-8"))) if item.function in ("", TYPES)]
    allowed = {"numpy"} if path.relative_to(SOURCE).as_posix() in MATRICES else set()
    if room_of(path) == "spacy_bridge":
        allowed |= {"spacy"}  # which loads it: its factories are declared as the module is imported
    assert [item for item in found if item.module.split(".")[0] in HEAVY - allowed] == []


@pytest.mark.parametrize("path", [*MODULES, *sorted(SOURCE.rglob("*.pxd"))], ids=module_ids)
def test_no_file_is_longer_than_500_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


@over_modules
def test_library_code_does_not_print_or_exit(path):
    if room_of(path) in {"cli", "__main__"}:
        return
    calls = [node.func for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
    assert [call.lineno for call in calls if ast.unparse(call) in {"print", "exit", "sys.exit", "quit"}] == []


def test_every_pxd_lies_beside_its_module():
    """Or beside the header it wraps, which then has a plain twin."""
    for pxd in SOURCE.rglob("*.pxd"):
        wraps = pxd.with_suffix(".h").exists() and pxd.with_name(f"{pxd.stem}_plain.py").exists()
        assert pxd.with_suffix(".py").exists() or pxd.stem == "__init__" or wraps, pxd.name


def test_every_system_has_a_pxd_so_that_it_is_compiled():
    for path in (SOURCE / "systems").glob("*.py"):
        assert path.stem == "__init__" or path.with_suffix(".pxd").exists(), path.name


@pytest.mark.parametrize("name", SYSTEMS)
def test_a_system_is_registered_under_its_name_and_lives_in_the_file_of_that_name(name):
    """Variants live in the file of what they vary: attardi-all in attardi.py, two-planar in planar.py."""
    system = SYSTEMS[name]
    assert system.name == name
    room, file = system.__module__.rsplit(".", 1)
    assert room == "tanglewood.systems"
    assert (SOURCE / "systems" / f"{file}.py").exists()
    assert file.replace("_", "-") in name
