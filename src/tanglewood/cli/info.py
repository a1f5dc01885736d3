"""Show what is installed (version, compiled or interpreted, kernels, optional extras, systems), or describe a model."""

from __future__ import annotations

import platform
from dataclasses import asdict
from importlib.resources import as_file
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from tanglewood import __version__, compiled, kernels
from tanglewood.arithmetic import available
from tanglewood.cli.common import add_json, print_json, print_table

if TYPE_CHECKING:
    import argparse

    from tanglewood.core.system import TransitionSystem

HELP = "version, compiled or interpreted, kernels, optional extras, systems; or what a model is"
EXAMPLES = "  tanglewood info\n  tanglewood info --json\n  tanglewood info model.tw"
EXTRAS = {
    "plot": ("matplotlib", "plots of running time: oracle --plot"),
    "svm": ("sklearn", "a learner of the papers: train --learner liblinear"),
    "png": ("resvg_py", "pictures of trees: draw -o tree.png"),
    "web": ("uvicorn", "the playground: serve"),
    "contextual": ("transformers", "vectors of large encoders: embed"),
    "zst": ("zstandard", "files compressed as .zst"),
    "parquet": ("pyarrow", "tables: corpus --format parquet"),
    "remote": ("fsspec", "inputs by URL: corpus s3://..."),
    "spacy": ("spacy", "components of spaCy's pipelines: tanglewood_parser, tanglewood_tagger"),
    "dask": ("distributed", "clusters: corpus --dask"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "model",
        nargs="?",
        metavar="MODEL",
        help="model to describe: a file, the name of an installed one, or bundled, the English one",
    )
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print what is installed, or what is in a model."""
    from tanglewood.systems import SYSTEMS

    if args.model:
        return _describe(args.model, as_json=args.json)
    extras = {extra: find_spec(module) is not None for extra, (module, _) in EXTRAS.items()}
    if args.json:
        systems = {name: _facts(system) for name, system in SYSTEMS.items()}
        print_json(
            {
                "version": __version__,
                "python": platform.python_version(),
                "compiled": compiled(),
                "kernels": {**kernels()._asdict(), "available": available()},
                "extras": extras,
                "systems": systems,
            }
        )
        return 0
    print(f"tanglewood {__version__}, Python {platform.python_version()}")
    print(
        "core: compiled" if compiled() else "core: interpreted (slow: installed without a C compiler, or for debugging)"
    )
    print(f"kernels: {kernels()} (this machine has {', '.join(available())})")
    for extra, present in extras.items():
        module, purpose = EXTRAS[extra]
        state = "present" if present else f"missing; pip install 'tanglewood[{extra}]' adds it"
        print(f"extra {extra} ({module}; {purpose}): {state}")
    print()
    print_table(
        ["system", "oracles", "covers"],
        [[name, ", ".join(system.oracles), system.covers] for name, system in SYSTEMS.items()],
    )
    return 0


def _facts(system: type[TransitionSystem]) -> dict[str, Any]:
    """Return what a system says about itself."""
    return {
        "covers": system.covers,
        "paper": system.paper,
        "oracles": list(system.oracles),
        "options": {
            option.name: {"type": option.kind.__name__, "default": option.default, "help": option.help}
            for option in system.options.values()
        },
        "exact_searches": list(system.exact_searches),
    }


def _describe(model: str, *, as_json: bool) -> int:
    """Print what a model was made from."""
    from tanglewood.packages.installed import model_file
    from tanglewood.pipeline import load
    from tanglewood.store import load_model

    with as_file(model_file(model)) as file:
        _, settings = load_model(file)
    if "pretrained" in settings:
        return _describe_encoder(settings["pretrained"], as_json=as_json)
    pipeline = load(model)
    learnt = pipeline.parser.model
    data: dict[str, Any] = {
        "kind": learnt.capabilities.kind,
        "capabilities": asdict(learnt.capabilities),
        "labels": list(learnt.actions.labels),
        **pipeline.description,
    }
    if pipeline.tagger is not None:
        data["pipeline"] = {column: len(names) for column, names in pipeline.tagger.classes.items()}
    if as_json:
        print_json(data)
        return 0
    print("pipeline: takes raw text" if pipeline.tokenizer else "parser: takes tagged words")
    _print_facts(data)
    return 0


def _describe_encoder(pretrained: dict[str, Any], *, as_json: bool) -> int:
    """Print what an encoder was learnt from."""
    data = {"kind": "pretrained encoder", "forms": len(pretrained["lexicon"]["words"]), **pretrained["description"]}
    if as_json:
        print_json(data)
        return 0
    print("encoder: train --pretrained takes it")
    _print_facts(data)
    return 0


def _print_facts(data: dict[str, Any]) -> None:
    for key, value in sorted(data.items()):
        if value not in ("", None, {}, []):
            shown = ", ".join(map(str, value)) if isinstance(value, list) else value
            print(f"{key}: {shown}")
