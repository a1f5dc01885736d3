"""CoNLL files taken apart into lines and cells, changed in places, wrapped and damaged."""

from __future__ import annotations

import gzip
import lzma
import zlib
from collections.abc import Callable
from random import Random

from mutations import damaged
from seeds import CONLLU, CONLLX, chain

BLOCKS = [block.encode() + b"\n\n" for block in CONLLU.split("\n\n")[:-1]]
PLAIN = [block.encode() + b"\n\n" for block in CONLLX.split("\n\n")[:-1]]
NUMBERS = b"0 1 2 -1 +1 01 1.0 1.1 0.1 1-2 2-1 3-3 _ 999999999 2147483648 99999999999999999999 1e3".split()
NUMBERS += [b"", b" 1", b"1 ", "\u0663".encode(), "\u00b2".encode(), b"1-", b"-", b".", b"1\0"]
TEXTS = [
    b"",
    b"_",
    b" ",
    b"a b",
    b"|",
    b"=",
    b"A=B|C",
    b"%",
    b"&<>\"'",
    b"\0",
    b"a\rb",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc3",
]
TEXTS += (
    text.encode()
    for text in ("\ufeff", "\u2028", "\u0085", "\u00a0", "\u202e", "\U0001f438", "\ufdfd" * 50, "e" + "\u0301" * 99)
)
LINES = [
    b"",
    b" ",
    b"\t",
    b"\r",
    b"\x0b",
    b"#",
    b"# text =",
    b"# sent_id = \t",
    b"# newdoc",
    b"# global.columns = ID FORM",
    b"1-2" + b"\t_" * 9,
    b"1.1" + b"\t_" * 9,
    b"0.1" + b"\t_" * 9,
    b"1" + b"\t_" * 8,
    b"2\tw",
    b"\t" * 9,
    b"\xef\xbb\xbf",
]
ENDS = (b"\n", b"\r\n", b"\r", b"\n\n", b"\n \n", b"\x0b", b"")


def random_tree(rng: Random) -> bytes:
    """Return a sentence with any tree at all, its arcs crossing wildly."""
    size = rng.choice((1, 2, 3, 5, 8, 13, 40))
    order = rng.sample(range(1, size + 1), size)
    heads = {word: rng.choice([0, *order[:place]]) for place, word in enumerate(order)}
    rows = (f"{word}\tw{word}\tw\tNOUN\tN\t_\t{heads[word]}\td{word % 7}\t_\t_\n" for word in range(1, size + 1))
    return "".join(rows).encode() + b"\n"


def cell(rng: Random, lines: list[bytes]) -> None:
    """Change a cell."""
    rows = [place for place, line in enumerate(lines) if line.count(b"\t") > 3]
    if rows:
        place = rng.choice(rows)
        cells = lines[place].split(b"\t")
        column = rng.choice((0, 6, 6, rng.randrange(len(cells))))
        near = str(rng.randrange(12)).encode()
        cells[min(column, len(cells) - 1)] = rng.choice((near, rng.choice(NUMBERS), rng.choice(TEXTS)))
        lines[place] = b"\t".join(cells)


def line(rng: Random, lines: list[bytes]) -> None:
    """Remove, double, move or add a line."""
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(4)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(other, lines[place])
    elif kind == 2:
        lines[place], lines[other] = lines[other], lines[place]
    else:
        lines.insert(place, rng.choice(LINES))


def text(rng: Random, lines: list[bytes]) -> None:
    """Put something odd into a line."""
    place = rng.randrange(len(lines))
    column = rng.randint(0, len(lines[place]))
    lines[place] = lines[place][:column] + rng.choice(TEXTS) + lines[place][column:]


def tabs(rng: Random, lines: list[bytes]) -> None:
    """Add or remove tabs, or separate by something else."""
    place = rng.randrange(len(lines))
    old, new = rng.choice(((b"\t", b" "), (b"\t", b"\t\t"), (b"_\t", b""), (b"\t_", b"\t"), (b" ", b"\t")))
    lines[place] = lines[place].replace(old, new, rng.choice((1, -1)))


CHANGES: tuple[Callable[[Random, list[bytes]], None], ...] = (cell, cell, cell, line, line, text, tabs)


def made_up(rng: Random) -> bytes:
    """Return a file: some sentences, changed in some places."""
    seeds = PLAIN if rng.random() < 0.15 else [*BLOCKS, random_tree(rng), random_tree(rng)]
    blocks = [rng.choice(seeds) for _ in range(rng.choice((1, 2, 3, 6)))]
    if rng.random() < 0.02:
        blocks.append(chain(rng.choice((100, 100, 1000))).encode())
    lines = b"".join(blocks).split(b"\n")
    for _ in range(rng.choice((0, 1, 1, 1, 2, 4))):
        if lines:
            rng.choice(CHANGES)(rng, lines)
    end = b"\r\n" if rng.random() < 0.15 else b"\n"
    odd = 0.05 if rng.random() < 0.1 else 0.0
    data = b"".join(part + (rng.choice(ENDS) if rng.random() < odd else end) for part in lines)
    if rng.random() < 0.1:
        data = b"\xef\xbb\xbf" + data
    if rng.random() < 0.1:
        data = data.rstrip()
    if rng.random() < 0.1:
        data = damaged(rng, data)
    return wrapped(rng, data)


def wrapped(rng: Random, data: bytes) -> bytes:
    """Return the file as it is or, sometimes, compressed, and then sometimes damaged."""
    chance = rng.random()
    if chance > 0.1:
        return data
    pack = (lambda part: gzip.compress(part, mtime=0)) if chance < 0.05 else lzma.compress
    half = len(data) // 2
    packed = pack(data) if rng.random() < 0.7 else pack(data[:half]) + pack(data[half:])
    return damaged(rng, packed) if rng.random() < 0.4 else packed


def unwrapped(data: bytes) -> bytes | None:
    """Return what is compressed in a file, or the file itself; None if it is damaged."""
    try:
        if data.startswith(b"\x1f\x8b"):
            return gzip.decompress(data)
        if data.startswith(b"\xfd7zXZ\0"):
            return lzma.decompress(data)
    except (EOFError, OSError, ValueError, lzma.LZMAError, zlib.error):
        return None
    return data


def n_blocks(data: bytes) -> int:
    """Return the number of sentences, well-formed or not: runs of lines that are not blank."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    filled = [bool(one.strip(b" \t\r\n\x0b\x0c")) for one in lines]
    return sum(now and not before for before, now in zip([False, *filled], filled, strict=False))
