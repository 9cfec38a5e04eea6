"""Formats of tables and frames: a format is one row of `TABULAR`, and rows come in it wherever they come in any other."""

from __future__ import annotations

import importlib
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core import Array2D, Dataset, Features, Image, IterableDataset, Value
from datasets_core.errors import ArgumentTypeError, ConfigurationError, MissingDependencyError
from datasets_core.features.formats import formats
from datasets_core.features.formats.formats import TABULAR, TabularFormat, as_table, register_tabular
from datasets_core.store.fingerprint import Hasher

ROWS = {"a": [1, 2, 3], "b": ["x", None, "z"]}

CUDF = """
'''Frames as a library for other devices has them.'''
import pyarrow as pa
from datasets_core.features import TabularFormat, register_tabular

class DataFrame:
    def __init__(self, table):
        self._on_device = table
    @classmethod
    def from_arrow(cls, table):
        return cls(table)
    def to_arrow(self):
        return self._on_device
    @property
    def columns(self):
        return self._on_device.column_names
    def __getitem__(self, key):
        return DataFrame(self._on_device[key]) if isinstance(key, slice) else self._on_device[key]
    def __len__(self):
        return self._on_device.num_rows

register_tabular(TabularFormat("cudf", lambda table, objects: DataFrame.from_arrow(table), DataFrame.to_arrow, "cudf_double"))
"""


@pytest.fixture
def cudf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A package whose frames are a format by one call, and which processes find by its entry point."""
    (tmp_path / "cudf_double.py").write_text(CUDF, encoding="utf-8")
    (tmp_path / "cudf_double-1.0.dist-info").mkdir()
    (tmp_path / "cudf_double-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: cudf-double\nVersion: 1.0\n")
    (tmp_path / "cudf_double-1.0.dist-info" / "entry_points.txt").write_text("[datasets_core.formats]\ncudf = cudf_double\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    Dataset.from_dict(ROWS).with_format("cudf")  # nobody has imported it
    yield importlib.import_module("cudf_double")
    del TABULAR["cudf"], formats._NAMES["cudf"], sys.modules["cudf_double"]


@pytest.fixture(params=["arrow", "pandas", "polars", "narwhals", "cudf"])
def kind(request: pytest.FixtureRequest) -> str:
    if request.param == "cudf":
        request.getfixturevalue("cudf")
    else:
        pytest.importorskip(TABULAR[str(request.param)].package)
    return str(request.param)


def values(frame: Any) -> dict[str, list[Any]]:
    table = as_table(frame)
    assert table is not None
    return {name: column.to_pylist() for name, column in zip(table.column_names, table.columns, strict=True)}


def test_datasets_and_streams_come_in_every_format(kind: str) -> None:
    data = Dataset.from_dict(ROWS)
    for rows in (data.with_format(kind), data.to_iterable_dataset().with_format(kind)):
        assert [values(row) for row in rows] == [{"a": [a], "b": [b]} for a, b in zip(*ROWS.values(), strict=True)]
        batches = list(rows.iter(2))
        assert all(TABULAR[kind].is_instance(batch) for batch in batches)
        assert [values(batch)["a"] for batch in batches] == [[1, 2], [3]]
    shown = data.with_format(kind)
    assert values(shown[1]) == {"a": [2], "b": [None]} and values(shown[:]) == ROWS
    assert list(shown["a"]) is not None and len(shown["a"]) == 3
    assert values(pickle.loads(pickle.dumps(shown))[:]) == ROWS


def test_functions_take_and_give_every_format(kind: str) -> None:
    form, data = TABULAR[kind], Dataset.from_dict(ROWS)

    def doubled(frame: Any) -> Any:
        table = form.to_table(frame)
        doubles = pa.table({"a": table["a"].to_numpy() * 2, "c": ["new"] * table.num_rows})
        return form.from_table(doubles, lambda *, arrays=False: {})

    expected = [{"a": a * 2, "c": "new"} for a in ROWS["a"]]
    for rows in (data, data.to_iterable_dataset()):
        assert [*rows.with_format(kind).map(doubled, batched=True, batch_size=2).with_format(None)] == expected
        assert [*rows.with_format(kind).map(doubled).with_format(None)] == expected


def test_workers_read_every_format(kind: str, tmp_path: Path) -> None:
    data = Dataset.from_dict({"a": list(range(40))}).with_format(kind)
    done = data.map(
        _lengths, batched=True, batch_size=10, num_proc=2, remove_columns=["a"], cache_file_name=str(tmp_path / "a.arrow")
    )
    assert done.with_format(None)["n"] == [10] * 4


def _lengths(frame: Any) -> dict[str, list[int]]:
    return {"n": [len(frame)]}


def test_frames_have_fingerprints_by_their_values(kind: str) -> None:
    form = TABULAR[kind]
    one, same, other = (
        form.from_table(pa.table({"a": found}), lambda *, arrays=False: {}) for found in ([1, 2], [1, 2], [1, 3])
    )
    assert Hasher.hash(one) == Hasher.hash(same) != Hasher.hash(other)


def test_narwhals_works_on_the_backend_that_is_asked_for() -> None:
    nw = pytest.importorskip("narwhals")
    pd = pytest.importorskip("pandas")
    features = Features({"a": Array2D((2, 2), "int8"), "n": Value("int64")})
    data = Dataset.from_dict({"a": [np.ones((2, 2))], "n": [5]}, features)
    whole: Any = data.to_narwhals()
    assert isinstance(whole.to_native(), pa.Table)
    frame = data.with_format("nw", backend="pandas")[:]
    assert isinstance(frame, nw.DataFrame) and isinstance(frame.to_native(), pd.DataFrame)
    assert frame.to_native()["a"][0].shape == (2, 2)
    batches: Any = data.to_iterable_dataset().to_narwhals(batched=True, backend="pd")
    assert [batch.to_native()["n"].tolist() for batch in batches] == [[5]]
    with pytest.raises(ConfigurationError, match="Unknown tabular format"):
        data.to_narwhals(backend="numpy")
    with pytest.raises(ArgumentTypeError):
        data.with_format("narwhals", device="cuda")


def test_narwhals_expressions_in_map() -> None:
    nw = pytest.importorskip("narwhals")
    data = Dataset.from_dict(ROWS).with_format("narwhals")
    mapped = data.map(lambda frame: frame.with_columns(c=nw.col("a") * 10).drop("b"), batched=True)
    assert mapped.with_format(None)[:] == {"a": [1, 2, 3], "c": [10, 20, 30]}
    streamed = data.to_iterable_dataset().map(lambda frame: frame.filter(nw.col("a") > 1), batched=True)
    assert [row["a"] for row in streamed.with_format(None)] == [2, 3]


def test_datasets_are_made_of_frames_of_narwhals() -> None:
    nw = pytest.importorskip("narwhals")
    frame = nw.from_native(pa.table(ROWS))
    assert Dataset.from_narwhals(frame)[:] == Dataset.from_narwhals(frame.lazy())[:] == ROWS
    assert IterableDataset.from_narwhals(frame).to_dict() == ROWS
    features = Features({"a": Value("int8"), "b": Value("string")})
    assert Dataset.from_narwhals(frame, features).features == features
    with pytest.raises(ArgumentTypeError, match="narwhals"):
        Dataset.from_narwhals({"a": [1]})  # type: ignore[arg-type]


def test_pictures_are_decoded_for_frames_that_hold_objects() -> None:
    pd, pictures = pytest.importorskip("pandas"), pytest.importorskip("PIL.Image")
    data = Dataset.from_dict({"p": [pictures.new("L", (2, 3))]}, Features({"p": Image()}))
    assert data.with_format("pandas")[0]["p"][0].size == (2, 3)
    assert isinstance(data.with_format("narwhals", backend="pandas")[0].to_native()["p"], pd.Series)
    assert data.with_format("narwhals", backend="pandas")[0]["p"][0].size == (2, 3)


def test_what_cannot_be_registered_or_asked_for() -> None:
    with pytest.raises(ConfigurationError, match="is already a name of the format 'numpy'"):
        register_tabular(TabularFormat("mine", pa.Table, pa.Table, "mine", aliases=("np",)))
    assert "mine" not in TABULAR
    register_tabular(TabularFormat("absent", pa.Table, pa.Table, "no_such_package"))
    try:
        with pytest.raises(MissingDependencyError) as caught:
            Dataset.from_dict(ROWS).with_format("absent")
        assert caught.value.package == "no_such_package"
    finally:
        del TABULAR["absent"], formats._NAMES["absent"]
