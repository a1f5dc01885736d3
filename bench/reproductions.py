"""The pages of docs/reproductions from finished runs of `tanglewood reproduce`.

    python bench/reproductions.py RUN_FOLDER... [--docs docs/reproductions]

Each folder, named PAPER-TREEBANK, becomes a page of that name, with its figure beside it; the part of README.md below
the line "<!-- made by ... -->" becomes the summary of all of them, and a list of the pages that were there and are not
of these runs. Nothing on these pages is typed by hand.
"""

import argparse
import re
import shutil
from pathlib import Path

from tanglewood.experiments import PAPERS, experiment
from tanglewood.experiments.summary import read_results, summarize

DAY = re.compile(r"^Made by .* core\), (\d{4}-\d{2}-\d{2})\.", re.MULTILINE)
MARK = "<!-- made by bench/reproductions.py: nothing below is typed by hand -->\n"


def earlier(docs: Path, names: set[str]) -> str:
    """The pages of other runs, by paper, with the day on which they were made where they say it."""
    lines = []
    for paper in PAPERS:
        links = []
        for page in sorted(docs.glob(f"{paper}-*.md")):
            if page.stem not in names:
                day = DAY.search(page.read_text(encoding="utf-8"))
                links.append(f"[{page.stem.removeprefix(f'{paper}-')}]({page.name})" + (f" ({day[1]})" if day else ""))
        if links:
            lines.append(f"- {paper}: {', '.join(links)}")
    return "\n## Not run again\n\n" + "\n".join(lines) + "\n" if lines else ""


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
    names = {folder.resolve().name for folder in args.folders}
    readme = args.docs / "README.md"
    head, mark, _ = readme.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise SystemExit(f"{readme}: there is no line {MARK!r}")
    made = summarize(args.folders, links=True) + earlier(args.docs, names)
    readme.write_text(f"{head}{MARK}\n{made}", encoding="utf-8")


if __name__ == "__main__":
    main()
