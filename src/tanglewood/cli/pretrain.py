"""Learn an encoder from raw text, for `train --pretrained`: a network that has read much knows more than one treebank.

Each word is predicted from those before it and those after it. Of treebanks the words are taken. Other text is split by
--tokenizer; without one every line is a sentence whose words are separated by spaces.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tanglewood.cli.common import add_restart, use_one_matrix_thread
from tanglewood.cli.guard import stop_of
from tanglewood.errors import ConfigError, one_line

if TYPE_CHECKING:
    import argparse

HELP = "learn an encoder from raw text, to train parsers from"
EXAMPLES = """\
  tanglewood pretrain books.txt.xz -o english.pre.tw --tokenizer bundled
  tanglewood pretrain tokenized.txt -o latin.pre.tw --latin --words 20000000
  tanglewood train train.conllu --dev dev.conllu -o latin.tw --pretrained latin.pre.tw"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "files", nargs="+", metavar="TEXT", help="text or treebank, plain, .gz, .xz or .zst; - is standard input"
    )
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write, such as english.pre.tw")
    parser.add_argument(
        "--tokenizer",
        metavar="MODEL",
        help="model of train --pipeline that splits the text (bundled: the English one); without it every line is a "
        "sentence, and spaces separate its words",
    )
    parser.add_argument(
        "--words",
        type=int,
        metavar="N",
        help="words to learn from, all passes counted (default 10,000,000, but ten times the text at most)",
    )
    parser.add_argument(
        "--latin", action="store_const", const=True, help="take v and j for u and i, and letters without accents"
    )
    parser.add_argument(
        "--device", default="cpu", choices=("cpu", "cuda"), help="cuda: a GPU, with PyTorch (default cpu, without)"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of everything random (default 1)")
    parser.add_argument(
        "--resume", action="store_true", help="continue where an interrupted run stopped (FILE.training)"
    )
    add_restart(parser)
    parser.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="set an option, such as rate=0.003"
    )


def run(args: argparse.Namespace) -> int:
    """Learn, and say how it goes."""
    use_one_matrix_thread()
    from tanglewood.training.config import read_config
    from tanglewood.training.pretrain import Pretraining, options_from

    chosen = dict(read_config(None, args.set).settings)
    chosen |= {name: getattr(args, name) for name in ("words", "latin") if getattr(args, name) is not None}
    if args.words is not None and args.words < 1:
        raise ConfigError(f"--words {args.words}: it should be 1 or more")
    options = options_from(chosen)
    print(f"reading {one_line(', '.join(args.files))}", file=sys.stderr)
    session = Pretraining(
        args.files,
        args.output,
        options=options,
        tokenizer=args.tokenizer,
        device=args.device,
        seed=args.seed,
        resume=args.resume,
        restart=args.restart,
        warn=lambda text: print(f"warning: {one_line(text)}", file=sys.stderr),
    )
    print(session.in_words(), file=sys.stderr)
    try:
        for progress in session.run():
            print(progress, file=sys.stderr)
    except KeyboardInterrupt as error:
        if not session.can_resume:
            raise
        status, told = stop_of(error)
        print(f"\n{told}: what was learnt up to the last checkpoint is kept; --resume goes on", file=sys.stderr)
        return status
    size = Path(args.output).stat().st_size / 1e6
    print(f"{one_line(args.output)}: {size:.1f} MB", file=sys.stderr)
    return 0
