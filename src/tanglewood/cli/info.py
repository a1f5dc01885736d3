"""Say which tanglewood this is: version, compiled or interpreted, optional extras, and the systems it knows."""

from __future__ import annotations

import platform
from importlib.util import find_spec
from typing import TYPE_CHECKING

from tanglewood import __version__, compiled
from tanglewood.cli.common import add_json, print_json, print_table

if TYPE_CHECKING:
    import argparse

HELP = "version, compiled or interpreted, optional extras, the systems known"
EXAMPLES = "  tanglewood info\n  tanglewood info --json"
EXTRAS = {
    "plot": ("matplotlib", "plots of running time: oracle --plot"),
    "web": ("uvicorn", "the playground: serve"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print what is installed."""
    from tanglewood.systems import SYSTEMS

    extras = {extra: find_spec(module) is not None for extra, (module, _) in EXTRAS.items()}
    if args.json:
        systems = {
            name: {"covers": system.covers, "paper": system.paper, "oracles": list(system.oracles)}
            for name, system in SYSTEMS.items()
        }
        print_json(
            {
                "version": __version__,
                "python": platform.python_version(),
                "compiled": compiled(),
                "extras": extras,
                "systems": systems,
            }
        )
        return 0
    print(f"tanglewood {__version__}, Python {platform.python_version()}")
    print("core: compiled" if compiled() else "core: interpreted (slow; meant for debugging)")
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
