"""The pages of docs/reproductions from finished runs of `tanglewood reproduce`.

    python bench/reproductions.py RUN_FOLDER... [--docs docs/reproductions]

Each folder, named PAPER-TREEBANK, becomes a page of that name, with its figure beside it; the part of README.md below
the line "<!-- made by ... -->" becomes the summary of all of them: a section for each paper. Papers without such a run
keep the section that they have; of the others, pages that are not of these runs are listed. Nothing is typed by hand.
"""

import argparse
import re
import shutil
from pathlib import Path

from tanglewood.experiments import PAPERS, experiment
from tanglewood.experiments.summary import read_results, summarize

DAY = re.compile(r"^Made by .* core\), (\d{4}-\d{2}-\d{2})\.", re.MULTILINE)
MARK = "<!-- made by bench/reproductions.py: nothing below is typed by hand -->\n"


def sections(text: str) -> dict[str, str]:
    """The sections of a summary, by paper."""
    parts = re.split(r"^## (.+)\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def earlier(docs: Path, paper: str, names: set[str]) -> str:
    """The pages of a paper's other runs, with the day on which they were made."""
    links = []
    for page in sorted(docs.glob(f"{paper}-*.md")):
        if page.stem not in names:
            day = DAY.search(page.read_text(encoding="utf-8"))
            if day is None:
                raise SystemExit(f"{page}: it does not say when it was made")
            links.append(f"[{page.stem.removeprefix(f'{paper}-')}]({page.name}) ({day[1]})")
    return f"\nNot run again: {', '.join(links)}.\n" if links else ""


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
    head, mark, tail = readme.read_text(encoding="utf-8").partition(MARK)
    if not mark:
        raise SystemExit(f"{readme}: there is no line {MARK!r}")
    old, new = sections(tail), sections(summarize(args.folders, links=True))
    made = {
        paper: new[paper].rstrip("\n") + "\n" + earlier(args.docs, paper, names) if paper in new else old[paper]
        for paper in PAPERS
        if paper in new or paper in old
    }
    text = "\n".join(f"## {paper}\n{body.rstrip()}\n" for paper, body in made.items())
    readme.write_text(f"{head}{MARK}\n{text}", encoding="utf-8")


if __name__ == "__main__":
    main()
