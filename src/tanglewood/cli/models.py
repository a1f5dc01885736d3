"""List the models that can be named without a path: the bundled one, and those that are installed as packages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tanglewood.cli.common import add_json, print_json, print_table

if TYPE_CHECKING:
    import argparse

HELP = "models that are installed: language, licence, size, scores"
EXAMPLES = "  tanglewood models\n  tanglewood models --json"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    add_json(parser)


def run(args: argparse.Namespace) -> int:
    """Print a table or JSON."""
    from tanglewood.packages.installed import bundled_model, installed_models
    from tanglewood.packages.wheel import bundled_card

    bundled = bundled_model()
    rows: list[dict[str, Any]] = [{**bundled_card(), "size": len(bundled.read_bytes()), "file": str(bundled)}]
    for name, model in installed_models().items():
        rows.append({**model.card, "name": name, "size": model.size, "file": str(model.path)})
    if args.json:
        print_json(rows)
        return 0
    print_table(
        ["name", "version", "language", "takes", "licence", "MB", "scores on dev"],
        [
            [
                *(row.get(key) or "-" for key in ("name", "version", "language", "takes", "licence")),
                f"{row['size'] / 1e6:.1f}",
                _scores(row.get("scores") or {}),
            ]
            for row in rows
        ],
    )
    return 0


def _scores(scores: dict[str, Any]) -> str:
    """Return scores rounded as other commands print them; what a package says may also be something else."""
    shown = [(key, f"{value:.2f}" if isinstance(value, int | float) else value) for key, value in scores.items()]
    return ", ".join(f"{key.upper()} {value}" for key, value in shown) or "-"
