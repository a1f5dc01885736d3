"""The pages of docs/reproductions from finished runs of `tanglewood reproduce`.

    python bench/reproductions.py RUN_FOLDER... [--docs docs/reproductions]

Each folder, named PAPER-TREEBANK, becomes a page of that name, with its figure beside it; the part of README.md below
the line "<!-- made by ... -->" becomes the summary of all of them. Nothing on these pages is typed by hand.
"""

import argparse
import shutil
from pathlib import Path

from tanglewood.experiments import experiment
from tanglewood.experiments.summary import read_results, summarize

MARK = "<!-- made by bench/reproductions.py: nothing below is typed by hand -->\n"


def main() -> None:
    """Write the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", type=Path, nargs="+", metavar="RUN_FOLDER")
    parser.add_argument("--docs", type=Path, default=Path("docs/reproductions"), metavar="DIR")
    args = parser.parse_args()
    for folder in args.folders:
        results = read_results(folder)
        name = folder.resolve().name
        for figure in folder.glob("*.svg"):
            results["figure"] = f"{name}.svg"
            shutil.copy(figure, args.docs / results["figure"])
        (args.docs / f"{name}.md").write_text(experiment(results["paper"]).report(results), encoding="utf-8")
    readme = args.docs / "README.md"
    head, mark, _ = readme.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise SystemExit(f"{readme}: there is no line {MARK!r}")
    readme.write_text(f"{head}{MARK}\n{summarize(args.folders, links=True)}", encoding="utf-8")


if __name__ == "__main__":
    main()
