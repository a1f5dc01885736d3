"""A recipe: trains a pipeline on every freely licensed treebank in a folder, and makes a package of each.

    python bench/models.py FOLDER -o WHEELS [--work DIR] [--train "OPTIONS"] [--licence NAME=LICENCE ...] [--list]

FOLDER holds one folder for each treebank, called Language-Name, with train.conllu, dev.conllu and LICENSE.txt. A
licence is free if the text names one that lets everybody use and pass on what is made of it, for any purpose; a text
that forbids commercial use or changes anywhere, that names several licences, or that cannot be told, is left out with
the reason, unless --licence says what it is. --list says what would be done, and does nothing. Models are kept in
--work: a run that was stopped goes on where it was, and what is finished is not trained again.
"""

import argparse
import re
import shlex
import sys
from pathlib import Path

from tanglewood.cli import main as tanglewood

NAMED = {  # licence -> what texts call it
    "CC0-1.0": r"\bCC[ -]?(?:0|Zero)\b|Creative Commons Zero|publicdomain/zero/",
    "LGPLLR": r"Lesser General Public Licen[sc]e for Linguistic Resources",
    "MIT": r"\bMIT (?:Open ?source )?Licen[sc]e|licenses/MIT\b",
    "BSD-2-Clause": r"\bBSD[ -]2[ -]Clause\b|\b2[ -]Clause BSD\b|with the distribution\.? this software is provided",
    "BSD-3-Clause": r"\bBSD[ -]3[ -]Clause\b|\b3[ -]Clause BSD\b|with the distribution\.? \W?3?\W{0,2}neither the name",
}
CREATIVE = r"\b(?:CC|Creative ?Commons)[ -]"
VERSIONED = {  # licence -> what texts call it, and its versions; without any it cannot be told from its name
    "CC-BY-SA": (rf"{CREATIVE}BY[ -]SA\b|\bAttribution[ -]?Share[ -]?Alike|licenses/by-sa/", "1.0 2.0 2.5 3.0 4.0"),
    "CC-BY": (rf"{CREATIVE}BY\b(?![ -]SA)|\bAttribution(?= \d)|licenses/by/", "1.0 2.0 2.5 3.0 4.0"),
    "GPL": (r"(?<!Lesser )(?<!Library )(?<!Affero )(?:General|GNU) Public Licen[sc]e|\bGPL", "1.0 2.0 3.0"),
    "LGPL": (r"(?:Lesser|Library) General Public Licen[sc]e(?! for)|\bLGPL", "2.0 2.1 3.0"),
    "AGPL": (r"Affero General Public Licen[sc]e|\bAGPL", "3.0"),
    "GFDL": (r"Free Documentation Licen[sc]e|\bGFDL", "1.1 1.2 1.3"),
    "MPL": (r"Mozilla Public Licen[sc]e|\bMPL", "1.0 1.1 2.0"),
    "EUPL": (r"European Union Public Licen[sc]e|\bEUPL", "1.0 1.1 1.2"),
    "Apache": (r"\bApache(?: Software)? Licen[sc]e|\bApache(?=[ -]\d)", "2.0"),
    "BSD": (r"(?<!Clause )\bBSD Licen[sc]e", ""),
    "Artistic": (r"\bArtistic Licen[sc]e", ""),
    "CeCILL": (r"\bCeCILL", ""),
}
LATER_TOO = ("GPL", "LGPL", "AGPL", "GFDL")  # their names say whether later versions may be taken as well
BETWEEN = (  # a name and its version
    r"[ ,;:()\"/-]*(?:Licen[sc]e)?[ ,-]*(?:as published by the Free Software Foundation[;,]? )?(?:either )?"
    r"(?:version|v)?[ .]*"
)
NUMBER = r"(?P<number>\d(?:\.\d)?)(?!\.?\d)"
LATER = r"(?P<later>\+|-or-later|[^.]{0,60}?\bor,? (?:\(?at your option\)?,? )?(?:any )?(?:later|newer|subsequent))?"
PUBLIC_DOMAIN = (
    r"(?:treebank|corpus|data|annotations?|works?|files?) (?:is|are|was|were|has been|have been) (?:hereby )?"
    r"(?:in|(?:placed|put) in(?:to)?|(?:released|dedicated) (?:in)?to) the public domain"
)
WHOLE = re.compile(  # texts of licences, from title to end: they speak of later versions and noncommercial copies, too
    r"(GNU (?:Lesser |Library |Affero )?(?:General Public|Free Documentation) License Version [\d.]+)"
    r", [\w ]{0,20}\d{4}\b(?:(?!License Version \d).)*?"
    r"(?:instead of this License\.(?: But first, please read \S+)?|to choose that version for the Library\."
    r"|That's all there is to it!|permit their use in free software\.|follow the GNU AGPL, see)",
    re.IGNORECASE,
)
ABOUT_OTHERS = re.compile(  # what the texts of MPL-2.0, of CC-BY-4.0 and its like, and of the EUPL say of others
    r"Secondary License\W{1,2}means .*? those licenses|text of the Creative Commons public licenses is dedicated [^.]*"
    r"|Compatible Licen[cs]es\W{1,3}according to Article 5 EUPL.{0,900}?(?:LiLiQ-R\+|Cecill v\. 2\.0)",
    re.IGNORECASE,
)
BOUND = re.compile(
    r"non-? ?commercial|\bBY-NC\b|noderiv|no-? ?derivatives|\bBY-ND\b|\bND\b|research (use|purposes) only",
    re.IGNORECASE,
)


def licence_of(text: str) -> tuple[str, str]:
    """The name of a free licence, or "" and the reason why there is none."""
    words = re.sub(r"-\s+", "-", " ".join(text.split()))
    words = ABOUT_OTHERS.sub("", WHOLE.sub(r"\1.", words))
    if bound := BOUND.search(words):
        return "", f"its licence says {bound[0]!r}"
    found = licences_in(words)
    if len(found) > 1:
        return "", f"its licence names {', '.join(sorted(found))}; --licence NAME=LICENCE says which it is"
    if found and not found & VERSIONED.keys():
        return found.pop(), ""
    return "", "its licence cannot be told; --licence NAME=LICENCE says what it is"


def licences_in(words: str) -> set[str]:
    """All licences that a text names, as SPDX does; those whose version cannot be told without one."""
    found = {name for name, pattern in NAMED.items() if re.search(pattern, words, re.IGNORECASE)}
    for family, (pattern, versions) in VERSIONED.items():
        told = set()
        for whole in (
            f"(?:{pattern}){BETWEEN}{NUMBER}{LATER}",
            f"version {NUMBER}{LATER} of the (?:GNU )?(?:{pattern})",
        ):
            for match in re.finditer(whole, words, re.IGNORECASE):
                number = match["number"] if "." in match["number"] else f"{match['number']}.0"
                if number in versions.split():
                    later = "-or-later" if match["later"] else "-only"
                    told.add(f"{family}-{number}{later if family in LATER_TOO else ''}")
        told -= {name.replace("-or-later", "-only") for name in told if name.endswith("-or-later")}
        found |= told or ({family} if re.search(pattern, words, re.IGNORECASE) else set())
    if not found and re.search(PUBLIC_DOMAIN, words, re.IGNORECASE):
        return {"LicenseRef-Public-Domain"}
    return found


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
