"""The table of formats: endings, what each can hold, and what it writes."""

import csv
import gzip
import io
import json
import lzma
from pathlib import Path

import pytest

from conllu_texts import RICH, block, parse, row
from tanglewood.errors import ConfigError, TreeError
from tanglewood.show.formats import DRAWINGS, FORMATS, Look, format_of_name, save, write
from tanglewood.treebank.record import ROW_COLUMNS


def test_each_ending_means_one_format():
    endings = [ending for format_ in FORMATS.values() for ending in format_.endings]
    assert len(set(endings)) == len(endings)
    assert all(ending.startswith(".") and ending == ending.lower() for ending in endings)
    assert [*FORMATS] == ["conllu", "json", "tsv", "tree", "html", "svg", "png", "tikz"]
    assert [*DRAWINGS] == ["tree", "html", "svg", "png", "tikz"]
    assert all(name == format_.name and format_.help for name, format_ in FORMATS.items())


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("x.conllu", "conllu"),
        ("x.conll", "conllu"),
        ("x.JSON", "json"),
        ("x.jsonl.gz", "json"),
        ("folder.d/x.svg.xz", "svg"),
        ("x.htm", "html"),
        ("x.tex", "tikz"),
        ("x.txt", "tree"),
        ("x.y.tsv", "tsv"),
        ("-", None),
        ("x", None),
        ("x.gz", None),
        ("folder.d/x", None),
        ("/dev/stdout", None),
        (".conllu", None),
    ],
)
def test_the_name_of_a_file_tells_its_format(name, expected):
    found = format_of_name(name)
    assert (found and found.name) == expected


@pytest.mark.parametrize("name", ["x.jpg", "x.jpg.gz", "x.conllu.bz2", "x.svgz", "x.v2"])
def test_an_unknown_ending_is_an_error_that_lists_the_known_ones(name):
    with pytest.raises(ConfigError) as caught:
        format_of_name(name, remedy="; or so")
    assert str(caught.value) == (
        f"{name}: the name should end in one of .conllu, .conll, .conllx, .json, .jsonl, .tsv, .txt, .html, .htm, "
        ".svg, .png, .tex; or so"
    )
    with pytest.raises(ConfigError, match=r"end in one of \.txt, \.html, \.htm, \.svg, \.png, \.tex$"):
        format_of_name("x.conllu", DRAWINGS)


@pytest.mark.parametrize("name", [name for name in FORMATS if name != "png"])
def test_what_is_said_of_a_format_is_so(name):
    """Formats of one sentence refuse two, those that stream give the first before the second is asked for."""
    format_ = FORMATS[name]
    asked = []

    def sentences():
        for sentence in parse(RICH):
            asked.append(sentence)
            yield sentence

    parts = format_.write(sentences(), Look())
    if format_.one:
        with pytest.raises(ConfigError, match=f"several sentences do not go into one {name} picture"):
            list(parts)
        with pytest.raises(ConfigError, match="there is no sentence to draw"):
            list(format_.write([], Look()))
        return
    data = next(parts)
    while b"Let" not in data:
        data = next(parts)
    assert len(asked) == (1 if format_.streams else 2)
    data += b"".join(parts)
    assert len(asked) == 2
    assert "Rain" in data.decode()


@pytest.mark.parametrize("name", DRAWINGS)
def test_drawings_need_trees_and_data_does_not(name, monkeypatch):
    monkeypatch.setattr("tanglewood.show.png.check_png", lambda: None)
    bare = parse(block(row(1, "_")), trees=False)
    with pytest.raises(TreeError, match="has no head"):
        list(FORMATS[name].write(bare, Look()))
    for data in FORMATS.keys() - DRAWINGS.keys():
        assert list(FORMATS[data].write(bare, Look()))


@pytest.mark.parametrize(("ending", "unpack"), [(".gz", gzip.decompress), (".xz", lzma.decompress)])
def test_what_is_saved_is_packed_by_its_ending(ending, unpack, tmp_path):
    path = tmp_path / f"garden.json{ending}"
    save(parse(RICH), path)
    lines = unpack(path.read_bytes()).decode().splitlines()
    assert [json.loads(line)["sent_id"] for line in lines] == ["moss-1", "moss-2"]


def test_packing_does_not_begin_anew_with_every_sentence(tmp_path):
    path = tmp_path / "garden.tsv.gz"
    save(parse(RICH) * 300, path)
    plain = gzip.decompress(path.read_bytes())
    assert len(path.read_bytes()) < 1.1 * len(gzip.compress(plain))


def test_the_documentation_names_every_format_ending_and_column():
    page = (Path(__file__).resolve().parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    for format_ in FORMATS.values():
        endings = " ".join(f"`{ending}`" for ending in format_.endings)
        assert f"| {format_.name} | {endings} |" in page
        (row_,) = [line for line in page.split("\n") if line.startswith(f"| {format_.name} |")]
        assert row_.endswith(
            "one sentence |" if format_.one else "as they come |" if format_.streams else "any number, in memory |"
        )
    columns = page.partition("| Column |")[2]
    assert all(f"`{column}`" in columns for column in ROW_COLUMNS)


def test_writing_counts_the_sentences(tmp_path):
    assert write(parse(RICH), tmp_path / "x", FORMATS["tsv"], Look()) == 2
    assert write([], tmp_path / "x", FORMATS["tsv"], Look()) == 0
    assert (tmp_path / "x").read_text() == "\t".join(ROW_COLUMNS) + "\n"


def test_data_passes_over_how_drawings_look():
    for name in ("conllu", "json", "tsv"):
        plain = b"".join(FORMATS[name].write(parse(RICH), Look()))
        assert plain == b"".join(FORMATS[name].write(parse(RICH), Look(tags=True, width=3, title="x")))


def test_a_table_has_a_header_and_a_row_for_each_word():
    text = b"".join(FORMATS["tsv"].write(parse(RICH), Look())).decode()
    lines = text.splitlines()
    assert lines[0].split("\t") == [
        *("sentence", "sent_id", "id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel"),
        *("start", "end", "nonprojective", "confidence"),
    ]
    assert lines[1] == "1\tmoss-1\t1\tLet\tlet\tVERB\tVB\tMood=Imp\t0\troot\t\t\tFalse\t"
    assert len(lines) == 1 + 9
    assert lines[-1].startswith("2\tmoss-2\t2\t!\t!\t")


def test_quotes_and_line_breaks_do_not_shift_the_rows_of_a_table():
    odd = ['"', '""', "a\rb", "'", "a b", "=1+1", "NA", "\x1f", "\u2028"]
    rows = [f"{i}\t{form}\t_\t_\t_\t_\t0\tdep\t_\t_" for i, form in enumerate(odd, 1)]
    text = b"".join(FORMATS["tsv"].write(parse(block('# sent_id = a\tb"', *rows)), Look())).decode()
    found = list(csv.DictReader(io.StringIO(text, newline=""), dialect="excel-tab"))
    assert [row_["form"] for row_ in found] == odd
    assert {row_["sent_id"] for row_ in found} == {'a\tb"'}
    assert [row_["id"] for row_ in found] == [str(i) for i in range(1, len(odd) + 1)]
