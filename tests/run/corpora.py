"""A small corpus of all kinds of files in the toy language, and how it is parsed, for tests of `tanglewood corpus`."""

from __future__ import annotations

import gzip
import json
import lzma
from pathlib import Path
from random import Random

from tanglewood.cli.corpus import ENDINGS
from tanglewood.options import ParseOptions
from tanglewood.pipeline import load
from tanglewood.run.folder import Run
from tanglewood.run.listing import find_inputs
from tanglewood.run.places import INSIDE, RECORD
from tanglewood.run.units import Job, Reading
from toy import toy_text

WORDS = ("tawug", "zorps", "dax", "mib", "wug", "fimps", "krell", "é")
SMALL = 200  # bytes of a part: a few sentences


def paragraphs(n: int, seed: int) -> str:
    """Text of n paragraphs."""
    rng = Random(seed)
    lines = [" ".join(rng.choices(WORDS, k=rng.randint(2, 6))).capitalize() + "." for _ in range(2 * n)]
    return "".join(f"{one} {other}\n\n" for one, other in zip(lines[::2], lines[1::2], strict=True))


def documents(n: int, seed: int) -> str:
    """JSON lines of n documents."""
    texts = paragraphs(n, seed).split("\n\n")
    lines = [{"id": f"d{seed}-{k}", "text": text, "n": k, "tags": ["a", None]} for k, text in enumerate(texts[:n])]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def make_corpus(folder: Path, size: int = 10) -> None:
    """Write a corpus; ``size`` is about how many sentences the larger files have."""
    (folder / "sub" / "deep").mkdir(parents=True)
    (folder / "long.txt").write_text(paragraphs(size, 1))
    (folder / "packed.txt.gz").write_bytes(gzip.compress(paragraphs(size, 2).encode()))
    (folder / "sub" / "packed.txt.xz").write_bytes(lzma.compress(paragraphs(size, 3).encode()))
    (folder / "trees.conllu").write_text("# newdoc id = t\n" + toy_text(size))
    (folder / "sub" / "docs.jsonl").write_text(documents(size, 4))
    for number in range(4):
        (folder / "sub" / "deep" / f"{number}.txt").write_text(paragraphs(2, 10 + number))
    (folder / "empty.txt").write_text("")
    (folder / ".hidden.txt").write_text("Dax.")
    (folder / "picture.png").write_bytes(b"\x89PNG")


def job_for(model: Path, output: Path, *, packing: str = "", rule: str = "model", **reading: object) -> Job:
    """A job with the default options, but for these."""
    nlp = load(model)
    return Job(nlp.worker(ParseOptions(sentences=rule)), nlp.checksum, Reading(**reading), str(output), packing)


def parse_corpus(model: Path, folder: Path, output: Path, *, packing: str = "", reading: dict | None = None, **run):
    """Parse a corpus in this process, unless other options are given; return the summary and what was told."""
    job = job_for(model, output, packing=packing, **(reading or {}))
    ending = ENDINGS[job.reading.format] + packing
    found = find_inputs([str(folder)], ending, output)
    told: list[str] = []
    return Run(job, found.inputs, tell=told.append, **run).do(), told


def outputs(folder: Path) -> dict[str, bytes]:
    """All outputs by their names, without records and what is inside."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and INSIDE not in path.parts and not path.name.endswith((RECORD, "errors.jsonl"))
    }
