"""Pictures of headers are those of `describe`; the cross-filter counts what a plain filter counts."""

import datetime
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import ClassLabel, Dataset, Features, Value
from datasets_core.errors import ConfigurationError
from datasets_core.viewer import pictures
from datasets_core.viewer.pictures import BINS, Picture, Pictures, summary_of

from .conftest import every_kind, numbers

COLUMNS: dict[str, Any] = {
    "i": st.lists(st.none() | st.integers(-(2**62), 2**62), min_size=1, max_size=60),
    "x": st.lists(st.none() | st.floats(), min_size=1, max_size=60),
    "few": st.lists(st.none() | st.sampled_from(["a", "b", ""]), min_size=1, max_size=60),
    "text": st.lists(st.none() | st.text(max_size=5), min_size=45, max_size=60, unique=True),
    "flag": st.lists(st.none() | st.booleans(), min_size=1, max_size=60),
    "when": st.lists(
        st.none() | st.datetimes(datetime.datetime(1900, 1, 1), datetime.datetime(2100, 1, 1)), min_size=1, max_size=60
    ),
    "list": st.lists(st.none() | st.lists(st.integers(0, 9), max_size=9), min_size=1, max_size=60),
}
TYPES = {"i": pa.int64(), "x": pa.float64(), "few": pa.string(), "text": pa.string(), "flag": pa.bool_(),
         "when": pa.timestamp("us"), "list": pa.list_(pa.int64())}  # fmt: skip


@pytest.mark.parametrize("name", sorted(COLUMNS))
@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_row_is_in_the_bin_that_counts_it(name: str, data: st.DataObject) -> None:
    values = data.draw(COLUMNS[name])
    dataset = Dataset(pa.table({name: pa.array(values, TYPES[name])}))
    found = Pictures(dataset)
    picture = found.picture(name)
    if picture.kind == "none":
        return
    codes = found.codes([name])[name]
    counted = np.bincount(codes, minlength=256)
    assert counted[: len(picture.counts)].tolist() == list(picture.counts)
    assert counted[255] == picture.column.nulls == dataset.describe()[name].nulls
    assert counted.sum() == len(values)


def test_the_numbers_are_those_of_describe() -> None:
    dataset = every_kind()
    own, told = summary_of(dataset), dataset.describe()
    for column in own:
        other = told[column.name]
        for fact in ("nulls", "nans", "distinct", "min", "max", "mean", "std", "frequencies"):
            one, two = getattr(column, fact), getattr(other, fact)
            assert one == two or (one != one and two != two), (column.name, fact)


@settings(max_examples=30, deadline=None)
@given(
    low=st.integers(0, BINS - 1),
    width=st.integers(1, BINS),
    chosen=st.sets(st.integers(0, 2)),
    nulls=st.sampled_from([None, True, False]),
)
def test_a_cross_filter_counts_the_rows_that_pass_the_other_filters(
    low: int, width: int, chosen: set[int], nulls: bool | None
) -> None:
    dataset = numbers(300)
    found = Pictures(dataset)
    filters: list[dict[str, Any]] = [{"column": "x", "bins": [low, low + width]}, {"column": "kind", "values": sorted(chosen)}]
    if nulls is not None:
        filters.append({"column": "half", "null": nulls})
    edges, kinds = found.picture("x").edges, found.picture("kind").values
    last = min(low + width, BINS)
    passes = {
        "x": [edges[low] <= value < edges[last] or (last == BINS and value == edges[last]) for value in dataset["x"][:]],
        "kind": [value in {kinds[number] for number in chosen} for value in dataset["kind"][:]],
        "half": [nulls is None or (value is None) == nulls for value in dataset["half"][:]],
    }
    every = np.logical_and.reduce(list(passes.values()))
    assert found.mask(filters).tolist() == every.tolist()
    counted = found.counts(dataset.column_names, filters, None)
    assert counted["rows"] == every.sum()
    others = np.logical_and(passes["x"], passes["half"])
    for number, kind in enumerate(kinds):
        assert counted["columns"]["kind"]["counts"][number] == sum(others & (np.array(dataset["kind"][:]) == kind))
    assert sum(counted["columns"]["i"]["counts"]) == every.sum()


def test_labels_are_counted_by_name_and_codes_beyond_them() -> None:
    rows = Dataset.from_dict({"y": [0, 1, 1, None]}, features=Features({"y": ClassLabel(names=["cat", "dog", "emu"])}))
    found = Pictures(rows)
    assert (found.picture("y").values, found.picture("y").counts) == (("dog", "cat", "emu"), (2, 1, 0))
    assert found.mask([{"column": "y", "values": [0]}]).tolist() == [False, True, True, False]


def test_statistics_of_a_large_dataset_are_of_a_sample_first_and_kept_beside_its_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    numbers(90_000).save_to_disk(tmp_path / "rows")
    dataset = Dataset.load_from_disk(tmp_path / "rows")
    seen: list[bool] = []
    publish = Pictures._publish
    monkeypatch.setattr(
        Pictures, "_publish", lambda self, found, is_exact: (seen.append(is_exact), publish(self, found, is_exact=is_exact))[1]
    )
    first = Pictures(dataset).summary()
    assert seen == [False, True] and first.num_rows == 90_000
    kept = [name for name in os.listdir(tmp_path / "rows") if name.endswith(".statistics.json")]
    assert len(kept) == 1
    monkeypatch.setattr(pictures, "_summary_of", lambda *_: pytest.fail("computed again"))
    assert Pictures(Dataset.load_from_disk(tmp_path / "rows")).summary() == first
    (tmp_path / "rows" / kept[0]).write_text(json.dumps({"version": 0}))
    monkeypatch.undo()
    assert Pictures(Dataset.load_from_disk(tmp_path / "rows")).summary() == first


def test_kept_statistics_have_every_kind_of_bound(tmp_path: Path) -> None:
    import decimal

    times = {
        "date": pa.array([datetime.date(2020, 1, 1), None] * 11_000), "time": pa.array([datetime.time(1, 2), None] * 11_000),
        "stamp": pa.array([datetime.datetime(2020, 1, 1), None] * 11_000, pa.timestamp("s", "UTC")),
        "span": pa.array([datetime.timedelta(1), None] * 11_000), "exact": pa.array([decimal.Decimal("1.5"), None] * 11_000),
        "data": pa.array([b"\xff", None] * 11_000),
    }  # fmt: skip
    Dataset(pa.table(times)).save_to_disk(tmp_path / "rows")
    first = summary_of(Dataset.load_from_disk(tmp_path / "rows"))
    assert summary_of(Dataset.load_from_disk(tmp_path / "rows")) == first
    assert any(name.endswith(".statistics.json") for name in os.listdir(tmp_path / "rows"))


def test_an_error_of_the_statistics_is_raised_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_summary_of", lambda *_: (_ for _ in ()).throw(ConfigurationError("damaged")))
    with pytest.raises(ConfigurationError, match="damaged"):
        Pictures(numbers()).summary()


def test_a_column_without_a_picture_cannot_be_filtered() -> None:
    dataset = Dataset.from_dict({"n": [{"a": 1}]}, features=Features({"n": {"a": Value("int8")}}))
    assert Picture(summary_of(dataset)["n"]).kind == "none"
    with pytest.raises(ConfigurationError, match="SQL"):
        Pictures(dataset).mask([{"column": "n", "bins": [0, 1]}])


def test_a_cross_filter_that_needs_too_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "_MOST_CODED_BYTES", 10)
    with pytest.raises(ConfigurationError, match=r"train\[:10%\]"):
        Pictures(numbers()).mask([{"column": "i", "bins": [0, 1]}])
