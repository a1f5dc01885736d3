"""Make a wheel of a model, which pip installs; it is then found by its name, in every command and in Python.

The package holds the model, its licence, the scores it had in training and the command that made it.
`tanglewood models` lists those that are installed.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.errors import ConfigError, one_line

if TYPE_CHECKING:
    import argparse

HELP = "make an installable package of a model"
EXAMPLES = """\
  tanglewood package nl.tw --name dutch-alpino --licence CC-BY-SA-4.0 --language nl --source UD_Dutch-Alpino
  tanglewood package model.tw --name my-model --licence MIT --licence-file LICENSE -o wheels
  pip install tanglewood_model_dutch_alpino-1.0-py3-none-any.whl && tanglewood parse -m dutch-alpino brieven.txt"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("model", metavar="MODEL", help="model file made by train")
    parser.add_argument("--name", metavar="NAME", help="what it is called (default: the name of the file)")
    parser.add_argument("--version", default="1.0", help="version of the package (default 1.0)")
    parser.add_argument(
        "--licence", "--license", required=True, metavar="NAME", help="who may use it how, such as CC-BY-SA-4.0"
    )
    parser.add_argument(
        "--licence-file", "--license-file", metavar="FILE", help="the text of the licence, which becomes part of it"
    )
    parser.add_argument("--language", default="", metavar="CODE", help="language of its sentences, such as nl")
    parser.add_argument("--source", default="", metavar="TEXT", help="what it was learnt from, such as UD_Dutch-Alpino")
    parser.add_argument(
        "--command", dest="made_by", metavar="TEXT", help="the command that made it (default: as the model says)"
    )
    parser.add_argument("-o", "--output", default=".", metavar="FOLDER", help="folder to write to (default: this one)")


def run(args: argparse.Namespace) -> int:
    """Write the wheel and print its name."""
    from tanglewood.packages.wheel import card_of, command_of, write_wheel
    from tanglewood.pipeline import load

    if not Path(args.output).is_dir():
        raise ConfigError(f"there is no folder {args.output} to write to; it should be made first")
    pipeline = load(args.model)
    if pipeline.origin is None or pipeline.origin.path is None:
        raise ConfigError(f"{args.model}: a package is made of a model file")
    text = Path(args.licence_file).read_text(encoding="utf-8") if args.licence_file else ""
    name = args.name or Path(args.model).name.removesuffix(".tw").lower().replace("_", "-").replace(".", "-")
    card = card_of(
        pipeline,
        name=name,
        version=args.version,
        language=args.language,
        licence=args.licence,
        command=command_of(pipeline) if args.made_by is None else args.made_by,
        source=args.source,
    )
    print(one_line(str(write_wheel(pipeline.origin.path, args.output, card, text))))
    return 0
