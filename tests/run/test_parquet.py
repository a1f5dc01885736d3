"""Parquet in and out: what goes in comes out, in parts of any size, and others can read it."""

from __future__ import annotations

import datetime
import importlib.util
import json
import re
from pathlib import Path

import pytest
from corpora import make_corpus, outputs, paragraphs, parse_corpus

from tanglewood.cli import main
from tanglewood.run import units
from tanglewood.run.units import read_record
from tanglewood.treebank.doc import Doc
from tanglewood.treebank.record import ROW_COLUMNS
from toy import sentences_of

pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
pq = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tanglewood.run.parquet.GROUP", 7)
    make_corpus(Path("in"))
    day = datetime.date(2020, 2, 29)
    texts = [*paragraphs(12, 5).split("\n\n")[:12], None]
    table = pa.table(
        {
            "id": pa.array(range(13), pa.int64()),
            "text": texts,
            "day": pa.array([day] * 13),
            "words": pa.array([["a", "b"]] * 13),
        }
    )
    pq.write_table(table, "in/table.parquet", row_group_size=4)


def test_a_table_of_sentences_holds_what_conllu_holds(model):
    parse_corpus(model, Path("in"), Path("conllu"))
    parse_corpus(model, Path("in"), Path("out"), reading={"format": "parquet"})
    assert len(outputs(Path("out"))) == 11
    for name, data in outputs(Path("conllu")).items():
        rows = pq.read_table(Path("out", name).with_suffix(".parquet")).to_pylist()
        sentences = sentences_of(data)
        assert len(rows) == len(sentences)
        for number, (row, sentence) in enumerate(zip(rows, sentences, strict=True), 1):
            assert row["sentence"] == number
            assert (row["sent_id"], row["text"]) == (sentence.sent_id, sentence.text)
            assert row["form"] == sentence.forms
            assert row["head"] == list(sentence.tree.heads)[1:]
            assert row["deprel"] == sentence.deprels
            assert row["upos"] == [None if tag == "_" else tag for tag in sentence.upos]
            assert [*zip(row["start"], row["end"], strict=True)] == [one or (None, None) for one in sentence.offsets]
    documents = pq.read_table("out/sub/docs.parquet").to_pylist()
    assert {row["doc_id"] for row in documents} == {f"d4-{number}" for number in range(10)}
    assert json.loads(documents[0]["meta"]) == {"n": 0, "tags": ["a", None]}
    assert set(pq.read_table("out/trees.parquet")["doc_id"].to_pylist()) == {"t"}
    assert set(pq.read_table("out/long.parquet")["doc_id"].to_pylist()) == {"long.txt"}


def test_a_table_of_words_has_a_row_for_each(model):
    parse_corpus(model, Path("in"), Path("out"), reading={"format": "parquet-words"})
    for name in outputs(Path("out")):
        table = pq.read_table(Path("out", name))
        assert len(table) == read_record(Path("out", name))["words"]
        assert table.schema.names[: len(ROW_COLUMNS) + 1] == ["doc_id", *ROW_COLUMNS]


@pytest.mark.parametrize("format_", ["parquet", "parquet-words"])
def test_parts_of_any_size_give_the_same_bytes(model, format_):
    reading = {"format": format_}
    parse_corpus(model, Path("in"), Path("whole"), reading=reading)
    parse_corpus(model, Path("in"), Path("parts"), reading=reading, part_size=200)
    assert outputs(Path("parts")) == outputs(Path("whole"))
    for name in ("long", "trees", "table", "sub/docs"):
        assert read_record(Path("parts", f"{name}.parquet"))["parts"] > 1


def test_tables_are_read_and_their_other_columns_kept(model, capsys):
    for format_, ending in (("conllu", "conllu"), ("json", "jsonl"), ("parquet", "parquet")):
        command = ["corpus", "in/table.parquet", "-o", "out", "-m", str(model), "-j", "1", "--format", format_]
        assert main(command) == 0
        record = read_record(Path(f"out/table.{ending}"))
        assert (record["documents"], record["errors"]) == (12, 1)
        assert record["listed"][0]["line"] == 13
    assert '# newdoc id = 0\n# meta::day = "2020-02-29"\n' in Path("out/table.conllu").read_text()
    assert json.loads(Path("out/table.jsonl").read_text().splitlines()[3])["id"] == 3
    table = pq.read_table("out/table.parquet")
    assert table.schema.field("meta_day").type == pa.date32()
    assert table["meta_words"][0].as_py() == ["a", "b"]
    assert table["doc_id"][0].as_py() == "0"


def test_what_is_wrong_with_tables_is_told(model, capsys):
    Path("in/bad.parquet").write_bytes(b"PAR1 no table")
    data = Path("in/table.parquet").read_bytes()
    Path("in/damaged.parquet").write_bytes(data[:100] + bytes(60) + data[160:])
    command = ["corpus", "in", "-o", "out", "-m", str(model), "-j", "1"]
    assert main(command) == 1
    err = capsys.readouterr().err
    assert "bad.parquet: this is no Parquet, or damaged" in err
    assert "damaged.parquet" in err
    assert Path("out/table.conllu").exists()
    assert main([*command, "--text-field", "nosuch"]) == 1
    assert "there is no column 'nosuch'; --text-field names another of: id, text, day, words" in capsys.readouterr().err
    assert main([*command, "--format", "parquet", "--compress", "gz"]) == 1
    assert "Parquet is compressed in itself" in capsys.readouterr().err


def not_utf_8():
    data = pa.array([b"Dax zorps.", b"Wug \xe9.", b"Mib."], pa.binary())
    return pa.StringArray.from_buffers(3, *data.buffers()[1:])


def times(*numbers, unit, zone=None):
    return pa.array(numbers, pa.timestamp(unit, zone))


@pytest.mark.parametrize("format_", ["conllu", "parquet"])
@pytest.mark.parametrize(
    ("column", "values"),
    [
        ("text", not_utf_8()),
        ("other", not_utf_8()),
        ("when", times(0, 1_600_000_000_123_456_789, 1000, unit="ns")),
        ("when", times(0, 2**60, 1, unit="us")),
        ("when", times(None, 1, None, unit="us", zone="Mars/Base")),
    ],
)
def test_a_row_that_cannot_be_read_costs_no_other(model, column, values, format_):
    if getattr(values.type, "unit", "") == "ns" and importlib.util.find_spec("pandas"):
        pytest.skip("pandas, which pyarrow has found, reads nanoseconds")
    Path("bad").mkdir()
    table = pa.table({"text": ["Dax zorps.", "Wug.", "Mib."], column: values})
    pq.write_table(table, "bad/rows.parquet")
    summary, told = parse_corpus(model, Path("bad"), Path("out"), reading={"format": format_})
    assert (summary.finished, summary.failed, told) == (1, 0, [])
    assert (summary.counts.documents, summary.counts.errors) == (2, 1)
    (error,) = map(json.loads, Path("out/errors.jsonl").read_text().splitlines())
    assert (error["file"], error["line"]) == ("rows.parquet", 2)
    assert f"the value in the column '{column}' cannot be read: " in error["reason"]


def test_what_a_table_cannot_hold_is_a_failure_of_its_file(model, monkeypatch):
    monkeypatch.setattr(units, "in_comment", lambda text: "\udce9" if text == "long.txt" else text)
    summary, told = parse_corpus(model, Path("in"), Path("out"), reading={"format": "parquet"})
    assert (summary.finished, summary.failed) == (10, 1)
    assert told[0].startswith("long.txt: a table cannot hold this: ")


@pytest.mark.parametrize("package", ["pandas", "polars", "duckdb", "datasets"])
def test_others_can_read_it(model, package):
    other = pytest.importorskip(package, reason=f"{package} is not installed")
    parse_corpus(model, Path("in"), Path("out"), reading={"format": "parquet"})
    path, wanted = "out/long.parquet", pq.read_table("out/long.parquet").to_pylist()
    if package in ("pandas", "polars"):
        forms = [list(row) for row in other.read_parquet(path)["form"]]
    elif package == "duckdb":
        forms = [row[0] for row in other.sql(f"select form from '{path}' order by sentence").fetchall()]
    else:
        forms = other.load_dataset("parquet", data_files=path, cache_dir="cache")["train"]["form"]
    assert list(map(list, forms)) == [row["form"] for row in wanted]


@pytest.mark.parametrize("package", ["pandas", "datasets"])
def test_rows_become_tables_as_the_docs_show(package):
    other = pytest.importorskip(package, reason=f"{package} is not installed")
    text = """\
# sent_id = a
1\tNA\tnull\tX\t_\tB=1|A=2\t0\troot\t_\tTokenRange=0:2|Confidence=0.5
2\t"\t_\tPUNCT\t"\t_\t1\tpunct\t_\tTokenRange=3:4
3\tnan\tNone\tX\t_\t_\t2\tdep\t_\t_

"""
    doc = Doc('NA " nan', sentences_of(text * 2))
    doc.save("letters.tsv")
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"```py\n(.*?)```", page, re.DOTALL)
    lines = [line for line in block.splitlines() if line.startswith(f"{package}.")]
    assert len(lines) == {"pandas": 2, "datasets": 1}[package]
    for line in lines:
        table = eval(line, {package: other, "doc": doc})
        rows = table.to_dict("records") if package == "pandas" else table.to_list()
        if package == "pandas":
            rows = [{name: None if other.isna(value) else value for name, value in row.items()} for row in rows]
        assert rows == doc.to_rows()


def test_without_the_package_an_error_says_what_to_install(model, capsys, monkeypatch):
    found = importlib.util.find_spec
    monkeypatch.setattr(
        "importlib.util.find_spec", lambda name, *more: None if name == "pyarrow" else found(name, *more)
    )
    command = ["corpus", "in/long.txt", "-o", "out", "-m", str(model), "-j", "1", "--format", "parquet"]
    assert main(command) == 1
    assert "pip install 'tanglewood[parquet]'" in capsys.readouterr().err
    assert main(["corpus", "in/table.parquet", "-o", "out", "-m", str(model), "-j", "1"]) == 1
    assert "pip install 'tanglewood[parquet]'" in capsys.readouterr().err
