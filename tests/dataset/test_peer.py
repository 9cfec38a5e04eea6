"""What Hugging Face `datasets` gives for the same table, we give too: values, their types, columns, formats, texts."""

from __future__ import annotations

import datetime as dt
import decimal
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict

pytestmark = pytest.mark.optional("datasets")

_ROWS = 23


@pytest.fixture(scope="module")
def peer() -> ModuleType:
    """The package `datasets`, where it is installed."""
    found: ModuleType = pytest.importorskip("datasets")
    found.disable_progress_bars()
    return found


def _column(kind: str, values: list[Any]) -> list[Any]:
    """`_ROWS` values, every fifth of them null."""
    return [None if i % 5 == 4 else values[i % len(values)] for i in range(_ROWS)]


_STRUCT = pa.struct({"x": pa.list_(pa.int8()), "y": pa.struct({"z": pa.date32()})})
_COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [1, -128, 127]),
    "uint64": (pa.uint64(), [0, 2**64 - 1]),
    "float16": (pa.float16(), [np.float16(1.5), np.float16(-2)]),
    "float32": (pa.float32(), [1.1, -2.0]),
    "float64": (pa.float64(), [1.1, float("inf")]),
    "bool": (pa.bool_(), [True, False, False]),
    "string": (pa.string(), ["", "a", "ü€"]),
    "large_string": (pa.large_string(), ["", "a", "ü€"]),
    "string_view": (pa.string_view(), ["a", "a text that is longer than twelve bytes"]),
    "binary": (pa.binary(), [b"", b"\0\xff"]),
    "large_binary": (pa.large_binary(), [b"", b"\0\xff"]),
    "binary_view": (pa.binary_view(), [b"", b"bytes that are more than twelve of them"]),
    "fixed": (pa.binary(2), [b"ab", b"cd"]),
    "null": (pa.null(), [None]),
    "date32": (pa.date32(), [dt.date(1, 1, 1), dt.date(2020, 2, 29)]),
    "date64": (pa.date64(), [dt.date(1969, 12, 31), dt.date(2020, 2, 29)]),
    "time32": (pa.time32("ms"), [dt.time(1, 2, 3, 4000)]),
    "time64": (pa.time64("us"), [dt.time(23, 59, 59, 999999)]),
    "timestamp_s": (pa.timestamp("s"), [dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1, 1, 1, 1)]),
    "timestamp_us": (pa.timestamp("us"), [dt.datetime(1, 1, 1), dt.datetime(2020, 1, 1, 1, 1, 1, 7)]),
    "timestamp_ns": (pa.timestamp("ns"), [dt.datetime(1900, 1, 1), dt.datetime(2020, 1, 1, 1, 1, 1, 7)]),
    "timestamp_tz": (pa.timestamp("ms", "Europe/Paris"), [dt.datetime(2020, 7, 1), dt.datetime(2020, 10, 25, 1, 30)]),
    "timestamp_utc": (pa.timestamp("us", "UTC"), [dt.datetime(2020, 7, 1)]),
    "duration": (pa.duration("ms"), [dt.timedelta(days=-1, milliseconds=5), dt.timedelta(0)]),
    "duration_ns": (pa.duration("ns"), [dt.timedelta(days=-1, microseconds=5)]),
    "decimal128": (pa.decimal128(9, 3), [decimal.Decimal("1.100"), decimal.Decimal("-2.000")]),
    "decimal256": (pa.decimal256(50, 3), [decimal.Decimal("1.100")]),
    "dictionary": (pa.dictionary(pa.int16(), pa.string()), ["a", "b"]),
    "list": (pa.list_(pa.int64()), [[], [1, None], [2, 3, 4]]),
    "large_list": (pa.large_list(pa.string()), [[], ["a", None]]),
    "fixed_list": (pa.list_(pa.float64(), 2), [[1.0, None], [2.0, 3.0]]),
    "list_of_lists": (pa.list_(pa.list_(pa.int8())), [[[1], None, []], []]),
    "list_of_structs": (pa.list_(pa.struct({"x": pa.int8(), "y": pa.string()})), [[{"x": 1, "y": None}, None], []]),
    "struct": (_STRUCT, [{"x": [1], "y": {"z": dt.date(2020, 1, 1)}}, {"x": None, "y": None}]),
}


def _table(names: list[str], chunk: int) -> pa.Table:
    arrays = {name: pa.array(_column(name, _COLUMNS[name][1]), _COLUMNS[name][0]) for name in names}
    batches = pa.table(arrays).to_batches(max_chunksize=chunk)
    return pa.Table.from_batches(batches)


def _kinds(value: Any) -> Any:
    """The value with the types of everything in it; what pandas has for times counts as the standard class."""
    if isinstance(value, dict):
        return {key: _kinds(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_kinds(inner) for inner in value]
    for kind in (dt.datetime, dt.timedelta):
        if isinstance(value, kind):
            return kind.__name__, value, str(getattr(value, "tzinfo", None))
    return type(value).__name__, value


_KEYS: list[Any] = [
    0,
    -1,
    np.int32(7),
    slice(None),
    slice(3, 17),
    slice(None, None, -3),
    slice(20, 99),
    slice(5, 2),
    [0],
    [22, 0, 5, 5, -1],
    (1, 2),
    range(0, 23, 4),
    range(5, 1, -1),
    np.array([3, 1]),
    [],
]


@pytest.mark.parametrize("chunk", [1, 7, 100])
@pytest.mark.parametrize("name", list(_COLUMNS))
def test_values_and_their_types_are_the_same(peer: ModuleType, name: str, chunk: int) -> None:
    table = _table([name], chunk)
    ours, theirs = Dataset(table), peer.Dataset(table)

    for key in _KEYS:
        assert _kinds(ours[key]) == _kinds(theirs[key]), key
    assert [_kinds(row) for row in ours] == [_kinds(row) for row in theirs]
    assert [_kinds(batch) for batch in ours.iter(5)] == [_kinds(batch) for batch in theirs.iter(5)]
    assert _kinds(ours[name][2:9]) == _kinds(theirs[name][2:9])
    assert _kinds(ours.__getitems__([4, 2])) == _kinds(theirs.__getitems__([4, 2]))
    assert str(ours.features) == str(theirs.features)


@pytest.mark.parametrize("indices", [[5, 1, 1, 22], range(3, 9), range(0, 23, 2), [4], [], np.array([8, 9, 10])])
def test_selections_are_the_same(peer: ModuleType, indices: Any) -> None:
    table = _table(["int8", "string", "struct"], 5)
    ours, theirs = Dataset(table).select(indices), peer.Dataset(table).select(indices)

    assert ours[:] == theirs[:]
    assert list(ours) == list(theirs)
    assert ours.take(2).to_list() == theirs.take(2).to_list()
    assert ours.skip(2).to_dict() == theirs.skip(2).to_dict()
    assert repr(ours) == repr(theirs)
    assert ours.shape == theirs.shape
    again = [i for i in (1, 0) if i < len(ours)]
    assert ours.select(again)[:] == theirs.select(again)[:]


_ACTS: dict[str, Callable[[Any], Any]] = {
    "select_columns": lambda ds: ds.select_columns(["string", "int8"]),
    "remove_columns": lambda ds: ds.remove_columns(["string"]),
    "rename_column": lambda ds: ds.rename_column("int8", "n"),
    "rename_columns": lambda ds: ds.rename_columns({"int8": "string", "string": "int8"}),
    "shard": lambda ds: ds.shard(4, 1),
    "strided shard": lambda ds: ds.shard(4, 1, contiguous=False),
    "format": lambda ds: ds.with_format(columns=["string"]),
    "all columns": lambda ds: ds.with_format(columns=["string"], output_all_columns=True),
    "format and rename": lambda ds: ds.with_format(columns=["string"]).rename_column("string", "s"),
    "format and remove": lambda ds: ds.with_format(columns=["string", "int8"]).remove_columns("int8"),
}


@pytest.mark.parametrize("act", list(_ACTS))
def test_other_columns_and_formats_are_the_same(peer: ModuleType, act: str) -> None:
    table = _table(["int8", "string", "struct"], 6)
    ours, theirs = _ACTS[act](Dataset(table)), _ACTS[act](peer.Dataset(table))

    assert (ours[3], ours[2:5], list(ours)) == (theirs[3], theirs[2:5], list(theirs))
    assert list(ours[3]) == list(theirs[3])
    assert ours.column_names == theirs.column_names
    assert ours.format == theirs.format
    assert str(ours.features) == str(theirs.features)


def test_the_arrow_format_is_the_same(peer: ModuleType) -> None:
    table = _table(["int8", "string", "list"], 6)
    ours, theirs = Dataset(table).with_format("arrow"), peer.Dataset(table).with_format("arrow")

    for key in (0, slice(2, 9), [5, 1]):
        assert ours[key].equals(theirs[key])
        assert ours[key].schema.equals(theirs[key].schema, check_metadata=True)
    assert ours["int8"].equals(theirs["int8"])
    assert [row.to_pylist() for row in ours] == [row.to_pylist() for row in theirs]


def test_columns_print_and_read_the_same(peer: ModuleType) -> None:
    data = {"n": list(range(7)), "s": [{"x": i} for i in range(7)]}
    ours, theirs = Dataset.from_dict(data), peer.Dataset.from_dict(data)

    assert repr(ours["n"]) == repr(theirs["n"])
    assert repr(ours.take(2)["n"]) == repr(theirs.take(2)["n"])
    assert ours["s"]["x"][1:3] == theirs["s"]["x"][1:3]
    assert (ours["n"][[0, -1]], len(ours["n"])) == (theirs["n"][[0, -1]], len(theirs["n"]))


def test_groups_print_the_same(peer: ModuleType) -> None:
    data = {"a": [1, 2]}
    ours = DatasetDict({"train": Dataset.from_dict(data), "test": Dataset.from_dict(data)})
    theirs = peer.DatasetDict({"train": peer.Dataset.from_dict(data), "test": peer.Dataset.from_dict(data)})

    assert repr(ours) == repr(theirs)
    assert (ours.column_names, ours.num_rows, ours.shape) == (theirs.column_names, theirs.num_rows, theirs.shape)


@pytest.mark.parametrize(
    "data",
    [
        {"a": [1, 2.5]},
        {"a": [None, None]},
        {"a": [[], [1]]},
        {"a": [{"x": 1}, {"x": None}]},
        {"a": np.arange(3, dtype=np.int16)},
        {"a": [np.float32(1.5)]},
        {"a": [dt.datetime(2020, 1, 1)]},
        {"a": [dt.date(2020, 1, 1)]},
        {"a": [b"x"], "b": ["y"]},
        {"a": [decimal.Decimal("1.5")]},
        {"a": [np.arange(3)]},
        {"a": [True, None]},
    ],
)
def test_columns_of_python_values_become_the_same(peer: ModuleType, data: dict[str, Any]) -> None:
    ours, theirs = Dataset.from_dict(data), peer.Dataset.from_dict(data)

    assert ours[:] == theirs[:]
    assert str(ours.features) == str(theirs.features)


def _generate(n: int) -> Any:
    for i in range(n):
        yield {"i": i, "t": None if i < 500 else "x", "l": [float(i)], "s": {"a": str(i)}}


def test_generators_become_the_same(peer: ModuleType, tmp_path: Path) -> None:
    ours = Dataset.from_generator(_generate, gen_kwargs={"n": 3000}, cache_dir=tmp_path / "a")
    theirs = peer.Dataset.from_generator(_generate, gen_kwargs={"n": 3000}, cache_dir=str(tmp_path / "b"))

    assert list(ours) == list(theirs)
    assert str(ours.features) == str(theirs.features)
    assert ours.split == theirs.split


def test_each_opens_the_files_of_the_other(peer: ModuleType, tmp_path: Path) -> None:
    theirs = peer.Dataset.from_generator(_generate, gen_kwargs={"n": 3000}, cache_dir=str(tmp_path / "b"))
    ours = Dataset.from_file(theirs.cache_files[0]["filename"])
    assert list(ours) == list(theirs)

    mine = Dataset.from_generator(_generate, gen_kwargs={"n": 3000}, cache_dir=tmp_path / "a")
    again = peer.load_dataset("arrow", data_files=mine.cache_files[0]["filename"], split="train", cache_dir=str(tmp_path / "c"))
    assert list(again) == list(mine)
    assert str(again.features) == str(mine.features)


def _same_rows(peer: ModuleType, one: Any, other: Any) -> bool:
    plain = [rows.cast_column("image", peer.Image(decode=False)).with_format(None)[:] for rows in (one, other)]
    return bool(plain[0] == plain[1])


def test_datasets_of_the_peer_become_ours_and_theirs_again_without_a_copy(peer: ModuleType, tmp_path: Path) -> None:
    features = peer.Features(
        {
            "matrix": peer.Array2D((1, 2), "int32"),
            "image": peer.Image(),
            "list": peer.List(peer.Value("int8")),
            "label": peer.ClassLabel(names=["x", "y"]),
        }
    )
    columns = {
        "matrix": [[[1, 2]], [[3, 4]], [[5, 6]]],
        "image": [None, {"bytes": b"12", "path": None}, None],
        "list": [[1], [], None],
        "label": [0, 1, 0],
    }
    theirs = peer.Dataset.from_dict(columns, features=features, split="train")
    formatted = theirs.with_format("numpy", columns=["matrix"])
    for given in (theirs, theirs.select([2, 0]), formatted):
        ours = Dataset.from_hf(given)
        assert ours.features.to_dict() == given.features.to_dict() and ours.split == given.split
        assert ours.with_format(None)["matrix"][:] == given.with_format(None)["matrix"][:]
        assert ours._fingerprint == Dataset.from_hf(given)._fingerprint
        back = ours.to_hf()
        assert type(back) is peer.Dataset and back.features == given.features and back.format == given.format
        assert back.split == given.split and _same_rows(peer, back, given)
    buffers = [rows.data.table["label"].chunk(0).buffers()[1].address for rows in (theirs, Dataset.from_hf(theirs))]
    assert buffers[0] == buffers[1]
    Dataset.from_dict({"a": list(range(100))}).save_to_disk(tmp_path / "d")
    ours = Dataset.load_from_disk(tmp_path / "d")
    assert ours.to_hf().cache_files == ours.cache_files and ours.select([7, 3]).to_hf()["a"][:] == [7, 3]
    splits = DatasetDict.from_hf(peer.DatasetDict(train=theirs))
    assert type(splits.to_hf()) is peer.DatasetDict and splits["train"].num_rows == 3
