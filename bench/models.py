"""A recipe: trains a pipeline on every freely licensed treebank in a folder, and makes a package of each.

    python bench/models.py FOLDER -o WHEELS [--work DIR] [--train "OPTIONS"] [--licence NAME=LICENCE ...] [--list]

FOLDER holds one folder for each treebank, called Language-Name, with train.conllu, dev.conllu and LICENSE.txt. A
licence is free if the text names one that lets everybody use and pass on what is made of it, for any purpose; a text
that forbids commercial use or changes anywhere, or that cannot be told, is left out with the reason, unless --licence
says what it is. --list says what would be done, and does nothing. Models are kept in --work: a run that was stopped
goes on where it was, and what is finished is not trained again.
"""

import argparse
import re
import shlex
import sys
from pathlib import Path

from tanglewood.cli import main as tanglewood

FREE = {  # licence -> what its text says
    "CC-BY-SA-4.0": r"CC BY-SA 4\.0|Attribution-ShareAlike 4\.0",
    "CC-BY-SA-3.0": r"CC BY-SA 3\.0|Attribution-ShareAlike 3\.0",
    "CC-BY-4.0": r"CC BY 4\.0|Attribution 4\.0",
    "CC-BY-3.0": r"CC BY 3\.0|Attribution 3\.0",
    "LGPLLR": r"Lesser General Public License For Linguistic Resources",
    "GPL-3.0-or-later": r"GNU General Public License[^.]{0,60}version 3",
    "GPL-2.0-or-later": r"GNU General Public License[^.]{0,60}version 2",
    "MIT": r"\bMIT Licen[sc]e\b",
    "Apache-2.0": r"Apache License,? Version 2\.0",
}
BOUND = re.compile(
    r"non-? ?commercial|\bBY-NC\b|noderiv|no-? ?derivatives|\bBY-ND\b|\bND\b|research (use|purposes) only",
    re.IGNORECASE,
)


def licence_of(text: str) -> tuple[str, str]:
    """The name of a free licence, or "" and the reason why there is none."""
    words = re.sub(r"-\s+", "-", " ".join(text.split()))
    if bound := BOUND.search(words):
        return "", f"its licence says {bound[0]!r}"
    for name, pattern in FREE.items():
        if re.search(pattern, words, re.IGNORECASE):
            return name, ""
    return "", "its licence cannot be told; --licence NAME=LICENCE says what it is"


def package_name(treebank: str) -> str:
    """What the model of a treebank is called: dutch-alpino."""
    return re.sub(r"[^a-z0-9]+", "-", treebank.lower()).strip("-")


def plan(folder: Path, given: dict[str, str]) -> tuple[dict[Path, str], dict[str, str]]:
    """The treebanks to train on, with their licences, and those that are left out, with the reasons."""
    chosen, left_out = {}, {}
    for treebank in sorted(path for path in folder.iterdir() if path.is_dir()):
        missing = [name for name in ("train.conllu", "dev.conllu") if not (treebank / name).is_file()]
        texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(treebank.glob("LICENSE*"))]
        licence, reason = licence_of("\n".join(texts))
        licence = given.get(treebank.name, licence)
        if missing:
            left_out[treebank.name] = f"it has no {missing[0]}"
        elif not licence:
            left_out[treebank.name] = reason
        else:
            chosen[treebank] = licence
    return chosen, left_out


def make(treebank: Path, licence: str, args: argparse.Namespace) -> None:
    """Train a model, if it is not kept, and make a package of it."""
    name = package_name(treebank.name)
    model = args.work / f"{name}.tw"
    options = ["--pipeline", str(treebank / "train.conllu"), "--dev", str(treebank / "dev.conllu")]
    begun = any(Path(f"{model}.{end}").exists() for end in ("training", "parts"))
    if begun or not model.exists():
        print(f"training {name}", file=sys.stderr)
        run("train", *options, "-o", model, *shlex.split(args.train), *(["--resume"] if begun else []))
    texts = [["--licence-file", path] for path in sorted(treebank.glob("LICENSE*"))][:1]
    made = shlex.join(["tanglewood", "train", "--pipeline", "train.conllu", "--dev", "dev.conllu", "-o", f"{name}.tw"])
    run(
        *("package", model, "--name", name, "--licence", licence, "--source", treebank.name, "-o", args.output),
        *("--language", treebank.name.partition("-")[0].replace("_", " ")),
        *("--command", f"{made} {args.train}".strip()),
        *(word for text in texts for word in text),
    )


def run(*arguments: object) -> None:
    """Run a command of tanglewood; stop with its status if it fails."""
    status = tanglewood([str(argument) for argument in arguments])
    if status:
        sys.exit(status)


def main() -> None:
    """Say what is done, and do it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=Path("wheels"))
    parser.add_argument("--work", type=Path, default=Path("models"))
    parser.add_argument("--train", default="", help="more options of train, such as '--distil 5 -j 2'")
    parser.add_argument("--licence", action="append", default=[], metavar="NAME=LICENCE")
    parser.add_argument("--list", action="store_true", help="say what would be done")
    args = parser.parse_args()
    chosen, left_out = plan(args.folder, dict(pair.split("=", 1) for pair in args.licence))
    for name, reason in left_out.items():
        print(f"{name} is left out: {reason}", file=sys.stderr)
    for treebank, licence in chosen.items():
        print(f"{treebank.name}: {licence}", file=sys.stderr)
        if not args.list:
            args.work.mkdir(parents=True, exist_ok=True)
            args.output.mkdir(parents=True, exist_ok=True)
            make(treebank, licence, args)


if __name__ == "__main__":
    main()
