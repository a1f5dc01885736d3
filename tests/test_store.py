"""Model files: what goes in comes out, and whatever is wrong with a file is said, never loaded."""

from __future__ import annotations

import io
import json
import struct
from array import array
from random import Random

import numpy as np
import pytest

from tanglewood.errors import ModelError
from tanglewood.parser import Parser
from tanglewood.pipeline import Pipeline
from tanglewood.store import DEEPEST, _read, dump_model, load_model, parse_model, read_model, save_model

ARRAYS = {
    "floats": np.arange(6, dtype=np.float32).reshape(2, 3) / 7,
    "doubles": np.arange(4, dtype=np.float64) / 7,
    "ints": np.array([[[-(2**31)], [2**31 - 1]]], np.int32),
    "shorts": np.array([-(2**15), 2**15 - 1], np.int16),
    "bytes": np.array([[-128, 127, 3]], np.int8),
    "unsigned": np.array([0, 255, 7], np.uint8),
    "longs": np.array([-(2**63), 2**63 - 1], np.int64),
    'odd name with ü and "quotes"': np.ones((1, 1, 1, 2), np.float32),
}
SETTINGS = {"number": 3, "share": 0.25, "none": None, "list": [1, ["a", {"b": True}]]}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "model.tw"
    save_model(path, ARRAYS, SETTINGS)
    return path


def header_of(data):
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def with_header(header, body):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + body


def test_arrays_of_all_types_and_shapes_and_settings_come_back(saved):
    arrays, settings = load_model(saved)
    assert settings == SETTINGS
    assert set(arrays) == set(ARRAYS)
    for name, wanted in ARRAYS.items():
        found = np.asarray(arrays[name])
        assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape), name
        assert found.tobytes() == wanted.tobytes(), name


def test_arrays_may_be_anything_with_a_buffer(tmp_path):
    path = tmp_path / "model.tw"
    given = {"array": array("f", [1, 2]), "bytes": b"abc", "view": memoryview(array("i", [1, 2, 3, 4]))[1:3]}
    save_model(path, given, {})
    arrays, _ = load_model(path)
    assert {name: found.tolist() for name, found in arrays.items()} == {
        "array": [1.0, 2.0],
        "bytes": [97, 98, 99],
        "view": [2, 3],
    }


def test_empty_arrays_and_no_arrays_come_back(tmp_path):
    path = tmp_path / "model.tw"
    save_model(path, {"empty": np.zeros(0, np.float32), "flat": np.zeros((0, 3), np.int32)}, {})
    arrays, _ = load_model(path)
    assert (arrays["empty"].nbytes, arrays["empty"].format) == (0, "f")
    assert (arrays["flat"].nbytes, arrays["flat"].format) == (0, "i")
    save_model(path, {}, {"a": 1})
    assert load_model(path) == ({}, {"a": 1})


def test_a_single_number_keeps_its_shape(tmp_path):
    path = tmp_path / "model.tw"
    save_model(path, {"number": np.array(3.5, np.float32)}, {})
    assert load_model(path)[0]["number"].shape == ()


@pytest.mark.parametrize(
    "bad",
    [np.zeros(2, bool), np.zeros(2, np.complex64), np.zeros((4, 4), np.float32)[:, ::2], np.zeros(2, ">f4")],
    ids=["bool", "complex", "not contiguous", "big-endian"],
)
def test_an_array_that_cannot_be_saved_is_named_and_no_file_is_left(tmp_path, bad):
    with pytest.raises(ModelError, match=r"array 'weights' cannot be saved"):
        save_model(tmp_path / "model.tw", {"weights": bad}, {})
    assert list(tmp_path.iterdir()) == []


def test_settings_that_are_no_json_leave_no_file_and_the_old_one_alone(saved):
    before = saved.read_bytes()
    with pytest.raises((TypeError, ModelError)):
        save_model(saved, ARRAYS, {"path": saved})
    assert list(saved.parent.iterdir()) == [saved]
    assert saved.read_bytes() == before


def test_a_save_that_fails_half_way_leaves_the_old_file_alone(saved, monkeypatch):
    before = saved.read_bytes()
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(OSError, match="No space left"):
        save_model(saved, ARRAYS, {"other": 1})
    assert list(saved.parent.iterdir()) == [saved]
    assert saved.read_bytes() == before


def test_saving_twice_gives_the_same_bytes_whatever_the_order(saved, tmp_path):
    again = tmp_path / "again.tw"
    save_model(again, dict(reversed(ARRAYS.items())), dict(reversed(SETTINGS.items())))
    assert again.read_bytes() == saved.read_bytes()


def test_bytes_are_those_of_the_file_and_their_checksum_tells_them_from_others(saved):
    data = dump_model(ARRAYS, SETTINGS)
    assert data == saved.read_bytes()
    arrays, settings, checksum, origin = parse_model(data, "bytes")
    assert origin is None
    assert settings == SETTINGS
    assert {name: found.tobytes() for name, found in arrays.items()} == {
        name: wanted.tobytes() for name, wanted in ARRAYS.items()
    }
    assert read_model(saved).checksum == checksum
    others = [
        parse_model(dump_model(ARRAYS, {"a": 1}), "").checksum,
        parse_model(dump_model({}, SETTINGS), "").checksum,
    ]
    assert len({checksum, *others}) == 3
    with pytest.raises(ModelError, match=r"my bytes: .*damaged"):
        parse_model(data[:-1], "my bytes")


def test_odd_unicode_in_settings_comes_back(tmp_path):
    path = tmp_path / "model.tw"
    odd = ["\0", "\ufeff", "\u2028\u2029\x85", "e\u0301é", "🌳\U0010ffff", '"\\\n\r\t', "אב", "\x7f", "<|>%", ""]
    save_model(path, {}, {"labels": odd, **dict.fromkeys(odd, 1)})
    assert load_model(path)[1] == {"labels": odd, **dict.fromkeys(odd, 1)}


def test_the_library_safetensors_reads_our_files(saved):
    numpy_side = pytest.importorskip("safetensors.numpy")
    for name, found in numpy_side.load_file(saved).items():
        assert found.dtype == ARRAYS[name].dtype
        assert np.array_equal(found, ARRAYS[name]), name
    with pytest.importorskip("safetensors").safe_open(saved, "np") as file:
        assert json.loads(file.metadata()["settings"]) == SETTINGS


# Damage. ----------------------------------------------------------------------------------------------------------


def test_a_thousand_changed_bytes_are_all_noticed(saved):
    good = saved.read_bytes()
    rng = Random(8)
    for _ in range(1000):
        place, change = rng.randrange(len(good)), rng.randrange(1, 256)
        saved.write_bytes(good[:place] + bytes([good[place] ^ change]) + good[place + 1 :])
        with pytest.raises(ModelError, match=r"model\.tw: .*(not a tanglewood model|damaged|has layout)"):
            load_model(saved)


def test_every_white_space_in_the_header_is_part_of_the_checksum(saved):
    good = saved.read_bytes()
    for place in [i for i, byte in enumerate(good[8:-100], 8) if byte == ord(" ")]:
        saved.write_bytes(good[:place] + b"\t" + good[place + 1 :])
        with pytest.raises(ModelError):
            load_model(saved)


def test_every_cut_and_every_addition_is_noticed(saved):
    good = saved.read_bytes()
    rng = Random(9)
    for end in [*range(40), *(rng.randrange(len(good)) for _ in range(300)), len(good) - 1]:
        saved.write_bytes(good[:end])
        with pytest.raises(ModelError, match=r"model\.tw: .*(not a tanglewood model|damaged|has layout)"):
            load_model(saved)
    for extra in (b"\0", b" ", b"\n", good):
        saved.write_bytes(good + extra)
        with pytest.raises(ModelError, match="damaged"):
            load_model(saved)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "only 0 bytes"),
        (b"1\tRain\train\tNOUN\t_\t_\t2\tnsubj\t_\t_\n" * 50, "not a tanglewood model"),
        (b"\x80\x04\x95" + bytes(200), "not a tanglewood model"),
        (b"\x1f\x8b\x08\0" + bytes(100), "not a tanglewood model"),
        (struct.pack("<Q", 2**63) + b"{}", "not a tanglewood model"),
        (struct.pack("<Q", 2) + b"[]", "not a tanglewood model"),
        (struct.pack("<Q", 2) + b"{}", "not a tanglewood model"),
        (with_header({"__metadata__": 5}, b""), "not a tanglewood model"),
        (with_header({"__metadata__": {"format": "pt", "version": "1"}}, b""), "not a tanglewood model but 'pt'"),
        (with_header({"x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}, b"abcd"), "not a tanglewood model"),
        (struct.pack("<Q", 100_000) + b"[" * 100_000, "not a tanglewood model"),
    ],
    ids=["empty", "treebank", "pickle", "gzip", "huge", "list", "bare", "number", "torch", "foreign", "deep"],
)
def test_a_file_that_is_no_model_is_refused_by_name(tmp_path, data, message):
    path = tmp_path / "file.tw"
    path.write_bytes(data)
    for load in (load_model, Parser.load, Pipeline.load):
        with pytest.raises(ModelError, match=rf"file\.tw: .*{message}"):
            load(path)


def test_a_folder_is_no_model(tmp_path):
    with pytest.raises(ModelError, match=r"folder|directory|not a tanglewood model"):
        load_model(tmp_path)


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "none.tw")


@pytest.mark.parametrize(("version", "remedy"), [("1", "train the model again"), ("3", "a later tanglewood")])
def test_another_layout_is_named_with_what_to_do(saved, version, remedy):
    header, body = header_of(saved.read_bytes())
    header["__metadata__"]["version"] = version
    saved.write_bytes(with_header(header, body))
    with pytest.raises(ModelError, match=f"has layout {version}, and this tanglewood reads 2; {remedy}"):
        load_model(saved)


@pytest.mark.parametrize(
    "entry",
    [
        {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2], "data_offsets": [4, 12]},
        {"dtype": "F32", "shape": [2], "data_offsets": [-8, 0]},
        {"dtype": "F32", "shape": [-1, -2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": ["2"], "data_offsets": [0, 8]},
        {"dtype": "F128", "shape": [2], "data_offsets": [0, 8]},
        {"dtype": "F32", "shape": [2]},
        5,
    ],
)
def test_a_header_that_makes_no_sense_is_refused_even_with_the_right_checksum(tmp_path, entry):
    path = tmp_path / "model.tw"
    path.write_bytes(crafted({"x": entry}, struct.pack("<2f", 1, 2)))
    with pytest.raises(ModelError, match=r"model\.tw"):
        load_model(path)


def test_a_model_file_that_holds_something_else_cannot_be_a_parser(saved):
    with pytest.raises(ModelError, match="cannot be used by this tanglewood"):
        Parser.load(saved)
    with pytest.raises(ModelError, match="cannot be used by this tanglewood"):
        Pipeline.load(saved)


def crafted(table, body, settings="{}"):
    """The bytes of a model file with any table of arrays, and the right checksum."""
    from tanglewood.store import BLANK, _digest

    metadata = {"format": "tanglewood-model", "version": "2", "settings": settings, "sha256": BLANK.decode()}
    data = with_header({"__metadata__": metadata, **table}, body)
    return data.replace(BLANK, _digest(data[8 : len(data) - len(body)], [memoryview(body)]), 1)


def floats(begin, end, n):
    return {"dtype": "F32", "shape": [n], "data_offsets": [begin, end]}


@pytest.mark.parametrize(
    ("table", "settings"),
    [
        ({"a": floats(0, 8, 2), "b": floats(4, 12, 2)}, "{}"),
        ({"a": floats(0, 4, 1), "b": floats(8, 12, 1)}, "{}"),
        ({"a": floats(4, 12, 2)}, "{}"),
        ({"a": floats(0, 8, 2)}, "{}"),
        ({"a": floats(0, 12, 3) | {"shape": [True, 3]}}, "{}"),
        ({"a": floats(0, 12, 3) | {"shape": [3.0]}}, "{}"),
        ({"a": floats(0, 2**62, 2**60)}, "{}"),
        ({"a": floats(0, 12, 3) | {"shape": [1] * 80 + [3]}}, "{}"),
        ({"a": floats(0, 12, 3)}, "[]"),
        ({"a": floats(0, 12, 3)}, '{"a": NaN}'),
        ({"a": floats(0, 12, 3)}, '{"a": -Infinity}'),
        ({"a": floats(0, 12, 3)}, "[" * 100_000),
        ({"a": floats(0, 12, 3)}, '{"a": ' + "[" * 5000 + "]" * 5000 + "}"),
        ({"a": floats(0, 12, 3)}, '{"a": 1' + "0" * 5000 + "}"),
        ({"a": floats(0, 12, 3)}, "3"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_arrays_fill_the_file_one_after_the_other_and_settings_are_a_table(table, settings):
    body = struct.pack("<3f", 1, 2, 3)
    good = parse_model(crafted({"a": floats(0, 12, 3)}, body), "crafted")
    assert good.arrays["a"].tolist() == [1, 2, 3]
    with pytest.raises(ModelError, match="crafted: the model is damaged"):
        parse_model(crafted(table, body, settings), "crafted")


def test_settings_have_few_levels_but_any_number_of_lists():
    body = struct.pack("<3f", 1, 2, 3)
    many = "[], " * DEEPEST
    for levels in (1, DEEPEST - 1, DEEPEST):  # below the outermost
        settings = f'{{"many": [{many}1], "deep": {"[" * levels}{"]" * levels}}}'
        model = crafted({"a": floats(0, 12, 3)}, body, settings)
        if levels < DEEPEST:
            assert len(parse_model(model, "crafted").settings["many"]) == DEEPEST + 1
        else:
            with pytest.raises(ModelError, match="crafted: the model is damaged"):
                parse_model(model, "crafted")


def test_no_more_is_read_than_a_model_has():
    """Neither an endless file nor one whose header promises more than there is fills the memory."""

    class Endless(io.RawIOBase):
        def __init__(self, start):
            self.start, self.given = start, 0

        def read(self, size=-1):
            assert 0 <= size <= 2**28
            part = self.start[:size] or bytes(min(size, 2**20))
            self.start = self.start[size:]
            self.given += len(part)
            return part

    body = struct.pack("<3f", 1, 2, 3)
    model = Endless(crafted({"a": floats(0, 12, 3)}, body))
    with pytest.raises(ModelError, match="endless: the model is damaged"):
        _read(model, "endless")
    assert model.given < 2000
    for start in (b"", struct.pack("<Q", 2**40), struct.pack("<Q", 2**26 + 1)):
        with pytest.raises(ModelError, match="endless: not a tanglewood model"):
            _read(Endless(start), "endless")
    with pytest.raises(ModelError, match="short: the model is damaged"):
        parse_model(crafted({"a": floats(0, 2**50, 2**48)}, body), "short")


def test_numbers_are_aligned_however_the_arrays_lie():
    table = {
        "bytes": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "doubles": {"dtype": "F64", "shape": [2], "data_offsets": [3, 19]},
        "floats": floats(19, 27, 2),
    }
    arrays = parse_model(crafted(table, b"abc" + struct.pack("<2d2f", 0.5, 2, 3, 4)), "crafted").arrays
    assert [values.tolist() for values in arrays.values()] == [[97, 98, 99], [0.5, 2], [3, 4]]
    assert all(np.asarray(values).flags.aligned for values in arrays.values())
