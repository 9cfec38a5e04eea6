"""Tables, frames, transforms and completed rows hold the rows of the dataset."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, MediaDecodeError, UnknownColumnError
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features


@pytest.fixture
def small() -> Dataset:
    """Five rows in three pieces."""
    table = pa.table({"a": [1, 2, 3, 4, 5], "b": ["v", "w", None, "y", "z"]})
    return Dataset(pa.Table.from_batches(table.to_batches(max_chunksize=2)))


def _plain(frame: Any) -> list[dict[str, Any]]:
    if isinstance(frame, pa.Table):
        return frame.to_pylist()
    rows: list[dict[str, Any]] = frame.to_dicts() if hasattr(frame, "to_dicts") else frame.to_dict("records")
    return [{name: None if value != value else value for name, value in row.items()} for row in rows]


@pytest.mark.parametrize("name", ["arrow", *(pytest.param(n, marks=pytest.mark.optional(n)) for n in ("pandas", "polars"))])
@pytest.mark.parametrize("index", [None, [4, 0, 2]])
def test_frames_hold_the_rows(small: Dataset, name: str, index: list[int] | None) -> None:
    dataset = small if index is None else small.select(index)
    rows = list(dataset)
    formatted = dataset.with_format(name)

    assert _plain(formatted[:]) == rows
    assert [_plain(row) for row in formatted] == [[row] for row in rows]
    assert _plain(formatted[1]) == [rows[1]]
    assert [_plain(row) for row in formatted.__getitems__([2, 0])] == [[rows[2]], [rows[0]]]
    assert [row for batch in formatted.iter(2) for row in _plain(batch)] == rows
    assert len(formatted["b"]) == len(rows)


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.optional(n)) for n in ("pandas", "polars")])
@pytest.mark.parametrize("index", [None, [2, 1, 0, 3]])
@pytest.mark.parametrize(
    "read",
    [
        lambda rows: rows[1],
        lambda rows: rows[:],
        lambda rows: rows[[3, 1]],
        lambda rows: rows["image"][1],
        lambda rows: rows.__getitems__([0, 1]),
        list,
        lambda rows: list(rows.iter(3)),
    ],
)
def test_a_frame_whose_medium_cannot_be_shown_names_the_row(name: str, index: list[int] | None, read: Any) -> None:
    pillow = pytest.importorskip("PIL.Image")
    buffer = io.BytesIO()
    pillow.new("RGB", (2, 1)).save(buffer, "PNG")
    whole = buffer.getvalue()
    rows = Dataset.from_dict({"image": [whole, b"damaged", whole, whole]}, Features({"image": Image()}))
    shown = rows if index is None else rows.select(index)

    with pytest.raises(MediaDecodeError, match="Row 1, column 'image'"):
        read(shown.with_format(name))


def test_a_transform_gets_columns_of_rows_and_gives_such(small: Dataset) -> None:
    seen: list[Any] = []

    def double(batch: dict[str, list[Any]]) -> dict[str, Any]:
        seen.append(batch)
        return {"a": np.array(batch["a"]) * 2}

    formatted = small.with_transform(double, columns=["a"])

    assert formatted[1] == {"a": 4}
    assert seen == [{"a": [2]}]
    assert formatted[:2]["a"].tolist() == [2, 4]
    assert [row["a"] for row in formatted] == [2, 4, 6, 8, 10]
    assert [row["a"] for row in formatted.__getitems__([4, 0])] == [10, 2]
    assert formatted["a"][2] == 6
    with pytest.raises(UnknownColumnError):
        small.with_transform(double)["b"][0]
    assert small.with_transform(double, ["a"], output_all_columns=True)[0] == {"a": 2, "b": "v"}


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (3, ArgumentTypeError),
        ([1], ArgumentTypeError),
        ({"a": 1}, ArgumentTypeError),
        ({"a": "x"}, ArgumentTypeError),
        ({"a": [1, 2, 3]}, CastError),
    ],
)
def test_a_transform_that_gives_no_columns_of_as_many_rows_is_an_error(
    small: Dataset, given: Any, error: type[Exception]
) -> None:
    formatted = small.with_transform(lambda batch: given)

    with pytest.raises(error, match="The transform gave"):
        formatted[0]
    with pytest.raises(error, match="The transform gave"):
        formatted[:2]


def test_the_other_columns_come_as_plain_python(small: Dataset) -> None:
    formatted = small.with_format("numpy", columns=["a"], output_all_columns=True)

    assert (type(formatted[0]["a"]), formatted[0]["b"]) == (np.int64, "v")
    assert formatted[:2]["b"] == ["v", "w"]
    assert [row["b"] for row in formatted] == small["b"][:]
    assert formatted.__getitems__([4, 2])[1]["b"] is None
    assert [batch["b"] for batch in formatted.iter(3)] == [["v", "w", None], ["y", "z"]]
    assert formatted["b"][:1] == ["v"]
