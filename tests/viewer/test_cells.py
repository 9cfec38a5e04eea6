"""Cells are cut to a size, are JSON where they nest, and are texts whatever the data says."""

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import Array2D, Array3D, Dataset, Features, Image, Json, List
from datasets_core.features.media.media import MediaPaths
from datasets_core.viewer.cells import IN_PANEL, IN_TABLE, inner_value, plain, time_text
from datasets_core.viewer.opening import open_rows
from datasets_core.viewer.queries import View

from .conftest import ATTACK, every_kind, png


def _cells(dataset: Dataset, row: int = 0) -> list[object]:
    page = open_rows(dataset).queries.page(View("train"), row, row + 1)
    return [page.column(place)[0].as_py() for place in range(1, page.num_columns)]


def test_every_kind_of_cell() -> None:
    found = _cells(every_kind())
    number, count, flag, label, text, when, data, words, nested, chat, grid, picture, boxes, sound, paper = found
    assert (number, count, flag, label, when) == (1.5, 2**60, True, "cat", "1970-01-01 00:00:00")
    assert isinstance(text, str) and text.startswith("שלום") and text.endswith("\x00905") and len(text) == 404
    loaded = [json.loads(str(each)) for each in (data, words, nested, chat, grid, picture, boxes, sound, paper)]
    assert loaded[0] == {"$bytes": "00ff", "size": 2} and loaded[1] == ["one", "two"]
    assert loaded[2] == {"$map": [["a", 1], ["b", [{"$map": [["c", "deep"]], "of": 1}]]], "of": 2}
    assert loaded[3][1]["$map"][1] == ["content", "Good day."]
    assert loaded[4] == {"$array": [2, 3], "heat": [[0, 51, 102], [153, 204, 255]], "min": "0", "max": "5"}
    assert loaded[5]["$media"] == {
        "kind": "image",
        "name": "teal.png",
        "size": len(png()),
        "width": 40,
        "height": 30,
        "format": "PNG",
    }
    assert loaded[6] == [[4, 4, 10, 10]] and loaded[7]["$media"]["kind"] == "audio" and loaded[8]["$media"]["name"] == "a.pdf"


def test_damaged_media_say_so_in_their_cell_and_nulls_are_none() -> None:
    assert "cannot be decoded" in json.loads(str(_cells(every_kind(), 1)[11]))["$media"]["error"]
    assert _cells(every_kind(), 2) == [None] * 15


def test_a_row_of_many_megabytes_is_cut() -> None:
    rows = Dataset(pa.table({"text": ["é" * 40_000_000], "data": [b"\0" * 50_000_000], "numbers": [list(range(500_000))]}))
    assert sum(len(str(each)) for each in _cells(rows)) < 2_000
    whole = open_rows(rows).queries.row(View("train"), 0)
    assert len(json.dumps(whole)) < 2_000_000


def test_a_row_of_500_megabytes_is_not_read_whole() -> None:
    ends = pa.py_buffer(np.array([0, 500_000_000], np.int64))
    zeros = pa.py_buffer(np.zeros(500_000_000, np.uint8))  # its memory is only taken where it is read
    kinds = {"text": pa.large_string(), "data": pa.large_binary()}
    rows = Dataset(pa.table({name: pa.Array.from_buffers(kind, 1, [None, ends, zeros]) for name, kind in kinds.items()}))
    text, data = map(str, _cells(rows))
    assert len(text) < 500 and text.endswith("\x00500000000") and json.loads(data)["size"] == 500_000_000
    assert len(json.dumps(open_rows(rows).queries.row(View("train"), 0))) < 2_000_000


def test_attacks_stay_texts() -> None:
    rows = Dataset.from_list([{ATTACK: ATTACK, "deep": {ATTACK: [ATTACK]}}])
    page = open_rows(rows).queries.page(View("train"), 0, 1)
    assert page.schema.names == ["row", "0", "1"] and page.column("0")[0].as_py() == ATTACK
    assert json.loads(page.column("1")[0].as_py()) == {"$map": [[ATTACK, [ATTACK]]], "of": 1}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=30) | st.dictionaries(st.text(max_size=4), inner, max_size=30),
    max_leaves=80,
)


@settings(max_examples=60, deadline=None)
@given(value=VALUES, is_whole=st.booleans())
def test_json_values_come_out_as_strict_json_of_bounded_size(value: object, is_whole: bool) -> None:
    rows = Dataset.from_dict({"j": [json.dumps(value)]}, features=Features({"j": Json()}))
    shown = plain(rows._table.to_table().column("j")[0], Json(), MediaPaths(), IN_PANEL if is_whole else IN_TABLE)
    text = json.dumps(shown, allow_nan=False)
    assert is_whole or len(text) < 60_000


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60))
def test_a_heat_map_is_small(rows: int, columns: int) -> None:
    grid = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    feature = Array2D((rows, columns), "float32")
    made = Dataset.from_dict({"g": [grid]}, features=Features({"g": feature}))
    found = plain(made._table.to_table().column("g")[0], feature, MediaPaths())
    assert (
        found["$array"] == [rows, columns] and len(found["heat"]) == min(24, rows) and len(found["heat"][0]) == min(24, columns)
    )
    assert found["heat"][-1][-1] == (255 if rows * columns > 1 else 0)


def test_arrays_of_three_dimensions_and_of_nan() -> None:
    for shape in ((3, 4, 5), (8, 9, 3)):
        feature = Array3D(shape, "float32")
        made = Dataset.from_dict({"g": [np.full(shape, math.nan, np.float32)]}, features=Features({"g": feature}))
        found = plain(made._table.to_table().column("g")[0], feature, MediaPaths())
        assert found["$array"] == list(shape) and found["heat"]


def test_media_in_lists_are_found_by_their_path() -> None:
    features = Features({"pictures": List({"file": Image()})})
    rows = Dataset.from_list([{"pictures": [{"file": {"bytes": png(), "path": None}}]}], features=features)
    value, feature = inner_value(rows._table.to_table().column("pictures")[0], features["pictures"], [0, "file"])
    assert feature == Image() and value["bytes"].as_py() == png()
    for path in ([1, "file"], [0, "other"], ["file"], [0], []):
        with pytest.raises((KeyError, IndexError, TypeError)):
            inner_value(rows._table.to_table().column("pictures")[0], features["pictures"], path)


def test_times_that_python_does_not_have() -> None:
    assert time_text(pa.scalar(2**62, pa.timestamp("s"))) == str(2**62)
    assert time_text(pa.scalar(1, pa.timestamp("ns"))) == "1970-01-01 00:00:00.000000001"
