"""A corpus of many files, and how fast `tanglewood corpus` parses it with one process, with two, and with Dask.

    python bench/corpus.py TREEBANK_DIR -m model.tw --files 200 --words 20000000 --work FOLDER

The corpus is invented: words of the treebank's training file, each drawn by how often it follows the word before, in
sentences of lengths that occur there, in paragraphs and documents of several sizes; text and JSON lines, plain and
compressed. The same seed makes the same bytes. It is made once and kept in --work.

Prints a Markdown table: words a second by the clock, how many times those of one process, CPU hours and gigabytes for a
billion words, and the memory of the largest process and of all together, halfway and at the end. Run it on a quiet
machine; --engines chooses what is timed, such as "1,2,4,8,16,dask:2", and --plot draws it. costs.py computes from the
numbers of --json what a billion words cost.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import os
import re
import shutil
import subprocess
import sys
import time
from bisect import bisect
from collections import Counter
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from random import Random

import costs
import timing
from tanglewood.treebank.conllu import read

ENDINGS = (".txt", ".jsonl", ".txt.gz", ".txt", ".jsonl.gz", ".txt", ".txt.xz")  # in turn
SPREAD = (0.25, 0.5, 1.0, 1.0, 2.25)  # sizes of files in turn, as shares of the mean
CLOSING = re.compile(r"[.,;:!?)\]}»”’%]+")  # what stands next to the word before
EVERY = 0.5  # seconds between two looks at memory


class Words:
    """Makes sentences of the words of a treebank: each follows the one before as often as there."""

    def __init__(self, path: Path) -> None:
        follows: dict[str, Counter[str]] = {}
        self.lengths: list[int] = []
        for sentence in read(path, on_error=lambda _: None):
            self.lengths.append(len(sentence))
            for one, other in zip(["", *sentence.forms], sentence.forms, strict=False):
                follows.setdefault(one, Counter())[other] += 1
        self._next = {one: (list(counts), list(accumulate(counts.values()))) for one, counts in follows.items()}

    def sentence(self, rng: Random) -> tuple[str, int]:
        """Return a sentence, and how many words it has."""
        length = rng.choice(self.lengths)
        parts: list[str] = []
        word = ""
        for _ in range(length):
            forms, sums = self._next.get(word) or self._next[""]
            word = forms[bisect(sums, rng.randrange(sums[-1]))]
            parts.append(word if not parts or CLOSING.fullmatch(word) else f" {word}")
        text = "".join(parts)
        return (text if text[-1] in ".!?" else f"{text}."), length

    def paragraphs(self, words: int, rng: Random) -> Iterator[str]:
        """Yield paragraphs until there are so many words."""
        while words > 0:
            lines = []
            for _ in range(rng.randint(1, 8)):
                text, length = self.sentence(rng)
                lines.append(text)
                words -= length
            yield " ".join(lines)


def make(treebank: Path, folder: Path, files: int, words: int, seed: int) -> dict[str, int]:
    """Write the corpus, unless it is there; return how many files and bytes it has."""
    (source,) = [path for path in (treebank / "train.conllu", treebank / "train.conll") if path.exists()][:1]
    about = {"treebank": treebank.name, "files": files, "words": words, "seed": seed}
    note = folder.with_suffix(".json")
    if note.exists() and json.loads(note.read_text()) == about:
        print(f"the corpus is in {folder}", file=sys.stderr)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        made = Words(source)
        whole = sum(SPREAD[number % len(SPREAD)] for number in range(files))
        for number in range(files):
            rng = Random(f"{seed}-{number}")
            share = round(words * SPREAD[number % len(SPREAD)] / whole)
            name = f"{number % 10}/{number:05}{ENDINGS[number % len(ENDINGS)]}"
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_packed(_content(made, share, name, rng), path.suffix))
        note.write_text(json.dumps(about))
    found = [path.stat().st_size for path in folder.rglob("*") if path.is_file()]
    return {"files": len(found), "bytes": sum(found)}


def _content(made: Words, words: int, name: str, rng: Random) -> bytes:
    paragraphs = list(made.paragraphs(words, rng))
    if ".jsonl" not in name:
        return "".join(f"{text}\n\n" for text in paragraphs).encode()
    lines = []
    while paragraphs:
        size = rng.randint(1, 20)
        text = "\n\n".join(paragraphs[:size])
        del paragraphs[:size]
        lines.append(json.dumps({"id": f"{name}-{len(lines)}", "text": text, "year": 2000 + len(lines) % 20}))
    return "".join(f"{line}\n" for line in lines).encode()


def _packed(data: bytes, suffix: str) -> bytes:
    if suffix == ".gz":
        return gzip.compress(data, mtime=0)
    return lzma.compress(data) if suffix == ".xz" else data


def family(pid: int) -> set[int]:
    """Return a process and all that it has started, directly or not."""
    found = {pid}
    parents = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def memory(pid: int) -> tuple[float, float]:
    """Return the megabytes of the largest of a process and its children, and of all, shared pages counted once."""
    largest = whole = 0.0
    for one in family(pid):
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text(encoding="utf-8")
        except OSError:
            continue
        resident, share = (re.search(rf"^{name}:\s+(\d+)", text, re.MULTILINE) for name in ("Rss", "Pss"))
        if resident and share:
            largest = max(largest, int(resident[1]) / 1024)
            whole += int(share[1]) / 1024
    return largest, whole


def parsed(corpus: Path, output: Path, engine: str, more: list[str]) -> dict[str, float]:
    """Parse the corpus, and return what it took."""
    shutil.rmtree(output, ignore_errors=True)
    kind, _, workers = engine.rpartition(":")
    command = [sys.executable, "-m", "tanglewood", "corpus", str(corpus), "-o", str(output), "--processes", workers]
    command += ["--dask", "local"] if kind == "dask" else []
    before = os.times()
    began = time.monotonic()
    seen: list[tuple[float, float]] = []
    process = subprocess.Popen([*command, *more], stderr=subprocess.PIPE, text=True)
    while process.poll() is None:
        seen.append(memory(process.pid))
        time.sleep(EVERY)
    seconds = time.monotonic() - began
    errors = process.communicate()[1]
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors}")
    after = os.times()
    records = [json.loads(path.read_text()) for path in output.rglob("*.record.json")]
    half = seen[len(seen) // 4 : len(seen) // 2] or seen
    last = seen[len(seen) // 2 :] or seen
    return {
        "words": sum(record["words"] for record in records),
        "bytes": sum(record["output"]["size"] for record in records),
        "files": len(records),
        "seconds": seconds,
        "cpu": after.children_user + after.children_system - before.children_user - before.children_system,
        "largest": max((one for one, _ in last), default=0.0),
        "half": max((whole for _, whole in half), default=0.0),
        "end": max((whole for _, whole in last), default=0.0),
    }


def main() -> None:
    """Make the corpus, parse it with every engine, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path, metavar="TREEBANK_DIR", help="folder with train.conllu or train.conll")
    parser.add_argument("-m", "--model", help="model file (default: the bundled English one)")
    parser.add_argument("--files", type=int, default=200, metavar="N")
    parser.add_argument("--words", type=int, default=20_000_000, metavar="M")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", type=Path, default=Path("bench-corpus"), help="folder for corpus and outputs")
    parser.add_argument("--engines", default="1,2,dask:2", help='processes, or "dask:N" (default 1,2,dask:2)')
    parser.add_argument("--options", default="", help='more options of corpus, such as "--search greedy"')
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers there, too")
    parser.add_argument("--plot", type=Path, metavar="OUT.svg", help="plot words a second by number of workers")
    parser.add_argument("--make-only", action="store_true", help="make the corpus and stop")
    args = parser.parse_args()
    args.work.mkdir(parents=True, exist_ok=True)
    corpus = args.work / "texts"
    size = make(args.treebank, corpus, args.files, args.words, args.seed)
    print(f"{size['files']:,} files, {size['bytes'] / 1e6:,.1f} MB", file=sys.stderr)
    if args.make_only:
        return
    more = [*(["-m", args.model] if args.model else []), *args.options.split()]
    found = {}
    for engine in args.engines.split(","):
        found[engine] = parsed(corpus, args.work / f"trees-{engine.replace(':', '-')}", engine, more)
        print(f"{engine}: {found[engine]['seconds']:,.0f} s", file=sys.stderr)
    base = next(iter(found.values()))
    rows = []
    for engine, one in found.items():
        billion = 1e9 / max(one["words"], 1)
        rows.append(
            [
                engine,
                f"{one['words']:,}",
                f"{one['seconds']:,.1f}",
                f"{one['words'] / one['seconds']:,.0f}",
                f"{base['seconds'] / one['seconds']:.2f}",
                f"{one['cpu'] * billion / 3600:,.1f}",
                f"{size['bytes'] * billion / 1e9:,.1f}",
                f"{one['bytes'] * billion / 1e9:,.1f}",
                f"{one['largest']:,.0f}",
                f"{one['half']:,.0f}",
                f"{one['end']:,.0f}",
            ]
        )
    header = ["engine", "words", "seconds", "words/s", f"times {args.engines.split(',')[0]}"]
    header += [
        "CPU hours for 10⁹ words",
        "GB in",
        "GB out",
        "MB, largest process",
        "MB, all, first half",
        "MB, all, then",
    ]
    timing.print_markdown(header, rows)
    whole = {"corpus": size, "engines": found}
    if args.json:
        args.json.write_text(json.dumps(whole, indent=1))
    if args.plot:
        args.plot.write_text(costs.plotted(whole), encoding="utf-8")


if __name__ == "__main__":
    main()
