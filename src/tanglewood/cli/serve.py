"""Open the playground: a page in the browser that parses sentences, steps through derivations and browses treebanks."""

from __future__ import annotations

import logging
import os
import socket
import sys
from contextlib import suppress
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import use_one_matrix_thread
from tanglewood.cli.guard import STOPS, handling
from tanglewood.errors import ConfigError, MissingExtraError, ModelError

if TYPE_CHECKING:
    import argparse
    from collections.abc import Mapping
    from typing import Any

    from tanglewood.web.models import Model

HELP = "a playground in the browser, and its JSON interface"
EXAMPLES = """\
  tanglewood serve --open
  tanglewood serve -m czech.tw dutch.tw --port 8080
  tanglewood serve --host 0.0.0.0 --allow-host trees.example.org --workers 8"""
VARIABLE = "TANGLEWOOD_SERVE_"  # what the names of variables begin with that set limits
LIMITS = {  # field of Limits -> (metavar, help)
    "max_body": ("BYTES", "largest request"),
    "max_text": ("N", "most characters of raw text"),
    "max_words": ("N", "longest sentence"),
    "max_sentences": ("N", "most sentences to parse and draw at once"),
    "max_steps": ("N", "longest derivation"),
    "max_costs": ("N", "longest sentence whose moves are given their costs, in words"),
    "max_beam": ("N", "widest beam, and most trees of a sentence"),
    "seconds": ("S", "time for one request"),
    "workers": ("N", "requests worked on at once"),
    "waiting": ("N", "requests that may wait beside them"),
    "max_answer": ("BYTES", "largest answer"),
    "arrival": ("S", "time for a request to arrive"),
    "connections": ("N", "connections at once"),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "-m",
        "--model",
        nargs="+",
        default=[],
        metavar="MODEL",
        help="models: files, or names of installed ones (default: the bundled English one)",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default 127.0.0.1: this machine)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default 8000; 0: any free one)")
    parser.add_argument("--open", action="store_true", help="open the page in the browser")
    parser.add_argument(
        "--allow-host",
        nargs="+",
        metavar="NAME",
        help="host names to answer to (default: those of this machine, or any with another --host)",
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="do not log requests to standard error")
    group = parser.add_argument_group(
        "limits of one server", f"Environment variables set them as well, such as {VARIABLE}MAX_WORDS; options win."
    )
    defaults = _defaults()
    for name, (metavar, help_) in LIMITS.items():
        kind = _kind(metavar)
        default = f" (default {defaults[name]:,})" if name in defaults else ""
        group.add_argument(f"--{name.replace('_', '-')}", type=kind, metavar=metavar, help=f"{help_}{default}")


def _defaults() -> dict[str, float]:
    """Return the limits that hold if nothing else is said; none without the packages that serving needs."""
    if find_spec("msgspec") is None:
        return {}
    from tanglewood.web.limits import Limits

    return {field.name: field.default for field in fields(Limits) if isinstance(field.default, int | float)}


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    missing = [name for name in ("starlette", "uvicorn", "msgspec") if find_spec(name) is None]
    if missing:
        raise MissingExtraError(f"the playground needs {', '.join(missing)}: pip install 'tanglewood[web]'")
    if not 0 <= args.port <= 65535:
        raise ConfigError(f"--port {args.port}: ports go from 0 (any that is free) to 65535")
    use_one_matrix_thread()
    import uvicorn

    from tanglewood.web.api import Playground
    from tanglewood.web.app import LOOPBACK, make_app
    from tanglewood.web.connections import configured
    from tanglewood.web.limits import Limits

    given = {field.name: getattr(args, field.name) for field in fields(Limits)}
    chosen = {name: value for name, value in given.items() if value is not None}
    limits = Limits(**{**limits_of(os.environ), **chosen})
    family = socket.AF_INET6 if ":" in args.host else socket.AF_INET
    shown = f"[{args.host}]" if family == socket.AF_INET6 else args.host
    hosts = args.allow_host or (LOOPBACK if shown in LOOPBACK else None)
    app = make_app(Playground(_load(args.model), limits), hosts=hosts)
    with socket.create_server((args.host, args.port), family=family, backlog=256) as listening:
        server = uvicorn.Server(configured(app, limits))
        # uvicorn sees to signals itself, but only once its event loop runs: an exception raised while that is being
        # made would leave it half open, or get lost where Python ignores exceptions.
        with suppress(KeyboardInterrupt), handling(STOPS, server.handle_exit):
            address = f"http://{shown}:{listening.getsockname()[1]}/"
            print(f"tanglewood is at {address} (Ctrl-C ends it)", flush=True)
            if not args.quiet:
                _log_requests()
            if args.open:
                import webbrowser

                webbrowser.open(address)
            server.run(sockets=[listening])
        print("\ntanglewood serve: ended", file=sys.stderr)
    return 0


def limits_of(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the limits that environment variables set; an empty one sets none."""
    found: dict[str, Any] = {}
    for variable, value in variables.items():
        if not variable.startswith(VARIABLE) or not value:
            continue
        name = variable.removeprefix(VARIABLE).lower()
        if name not in LIMITS or variable != variable.upper():
            names = ", ".join(f"{VARIABLE}{one.upper()}" for one in LIMITS)
            raise ConfigError(f"{variable}: there is no such limit; it should be one of {names}")
        try:
            found[name] = _kind(LIMITS[name][0])(value)
        except ValueError:
            raise ConfigError(f"{variable}={value}: it should be a number") from None
    return found


def _kind(metavar: str) -> type[int] | type[float]:
    return float if metavar == "S" else int


def _log_requests() -> None:
    """Write a line for each request to standard error."""
    log = logging.getLogger("tanglewood.web")
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(asctime)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(logging.INFO)


def _load(paths: list[str]) -> dict[str, Model]:
    """Return the models by name; without paths, the bundled one if there is one."""
    from tanglewood.web.models import Model

    if not paths:
        try:
            return {"english": Model.load()}
        except (ModelError, OSError) as error:
            print(f"tanglewood serve: no model ({error}); CoNLL-U can be shown, text not parsed", file=sys.stderr)
            return {}
    models: dict[str, Model] = {}
    for path in paths:
        name = Path(path).stem
        while name in models:
            name += "'"
        models[name] = Model.load(path)
    return models
