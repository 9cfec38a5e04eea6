"""What `describe` says of columns is what Python and numpy say of their values."""

import datetime as dt
import math
import statistics as py

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.insight.statistics import EXACT_LIMIT, Distinct, hashes, is_media, time_value
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import Array2D, ClassLabel


def described(values, feature, **kwargs):
    return Dataset.from_dict({"a": values}, features=Features({"a": feature})).describe(**kwargs)["a"]


@given(st.lists(st.none() | st.integers(-(2**62), 2**62), max_size=30), st.integers(1, 12))
def test_integers(values, bins) -> None:
    found, there = described(values, Value("int64"), bins=bins), [value for value in values if value is not None]

    assert (found.nulls, found.distinct) == (values.count(None), len(set(there)))
    assert (found.min, found.max) == ((min(there), max(there)) if there else (None, None))
    assert found.mean == (pytest.approx(py.fmean(there), abs=1e3) if there else None)
    assert found.std == (pytest.approx(py.stdev(there), abs=1e3) if len(there) > 1 else None)
    assert sum(found.histogram.counts if found.histogram else ()) == len(there)


@given(st.lists(st.none() | st.floats(), max_size=30))
def test_floats_with_nans_and_infinities(values) -> None:
    found = described(values, Value("float64"))
    there = [value for value in values if value is not None and not math.isnan(value)]

    assert (found.nulls, found.nans) == (values.count(None), len(values) - values.count(None) - len(there))
    assert (found.min, found.max) == ((min(there), max(there)) if there else (None, None))
    assert found.distinct == len(set(there))
    assert sum(found.histogram.counts if found.histogram else ()) == sum(map(math.isfinite, there))


def test_many_numbers_agree_with_numpy() -> None:
    values = np.random.default_rng(0).normal(5, 2, 200_000)
    dataset = Dataset(pa.table({"a": values}))
    order = np.random.default_rng(1).permutation(len(values))[:150_000]

    for found, wanted in ((dataset.describe()["a"], values), (dataset.select(order).describe()["a"], values[order])):
        counts, edges = np.histogram(wanted, 10)
        assert (found.min, found.max) == (wanted.min(), wanted.max())
        assert (found.mean, found.std) == (pytest.approx(wanted.mean()), pytest.approx(wanted.std(ddof=1)))
        assert found.histogram.edges == pytest.approx(edges.tolist())
        assert np.abs(np.array(found.histogram.counts) - counts).max() <= 2  # numbers at an edge


def test_texts_are_measured_in_characters_and_counted() -> None:
    found = described(["ä", "bcd", None, "ä"], Value("string"))

    assert (found.lengths.unit, found.lengths.min, found.lengths.mean, found.lengths.max) == (
        "characters",
        1,
        pytest.approx(5 / 3),
        3,
    )
    assert found.frequencies == (("ä", 2), ("bcd", 1))


def test_labels_are_counted_by_name_also_those_that_do_not_occur() -> None:
    found = described([0, 0, 2, -1, None], ClassLabel(names=["a", "b", "c"]))

    assert dict(found.frequencies) == {"a": 2, "c": 1, "-1": 1, "b": 0}
    assert (found.mean, found.histogram, found.kind) == (None, None, "label of 3")


def test_bools_lists_bytes_and_arrays() -> None:
    assert described([True, False, True], Value("bool")).frequencies == ((True, 2), (False, 1))
    assert described([[1], [], None, [1, 2]], List(Value("int8"))).lengths.mean == 1
    assert described([b"ab", b""], Value("binary")).lengths.unit == "bytes"
    assert described([[[1, 2]], [[3, 4]]], Array2D((1, 2), "int8")).kind == "Array2D 1×2"
    assert described([None, None], Value("null")).nulls == 2


def test_times_have_a_range_and_a_histogram_of_times() -> None:
    days = [dt.date(2020, 1, 1), None, dt.date(2020, 1, 11)]
    found = described(days, Value("date32"))

    assert (found.min, found.max, found.mean) == (days[0], days[2], None)
    assert found.histogram.edges[0] == days[0] and found.histogram.counts == (1, 0, 0, 0, 0, 0, 0, 0, 0, 1)


def test_nanoseconds_are_told_in_microseconds() -> None:
    assert time_value(1_500, pa.timestamp("ns")) == dt.datetime(1970, 1, 1, 0, 0, 0, 1)


def test_fields_of_dicts_are_columns_of_their_own() -> None:
    dataset = Dataset.from_dict({"a": [{"x": 1, "y": "u"}, None, {"x": None, "y": "v"}]})
    found = dataset.describe()

    assert [column.name for column in found] == ["a", "a.x", "a.y"]
    assert [column.nulls for column in found] == [1, 2, 1]


def test_files_are_measured_not_decoded() -> None:
    stored = pa.array([{"bytes": b"not a picture", "path": None}, None], pa.struct({"bytes": pa.binary(), "path": pa.string()}))

    assert is_media(Value("null"), stored.type)
    assert not is_media({"bytes": Value("binary"), "path": Value("string")}, stored.type)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", "b", None]).dictionary_encode(),
        pa.array(["a", "b", None], pa.string_view()),
        pa.array([1, 2, None], pa.decimal128(10, 2)),
        pa.array([1, 2, None], pa.float16()),
        pa.array([1, 2, None], pa.uint64()),
        pa.array([b"ab", b"cd", None], pa.binary(2)),
    ],
    ids=str,
)
def test_every_type_of_arrow_is_described(column) -> None:
    found = Dataset(pa.table({"a": column})).describe()["a"]

    assert (found.nulls, found.distinct) == (1, 2)


def test_no_rows_have_no_numbers() -> None:
    found = Dataset.from_dict({"a": [1.5], "s": ["x"]}).select([]).describe()

    assert (found.num_rows, found["a"].min, found["a"].histogram, found["s"].lengths) == (0, None, None, None)


# Distinct values are counted exactly up to a limit and estimated within some percent beyond it.


@given(st.lists(st.lists(st.text(max_size=3) | st.just("x" * 200), max_size=8), max_size=5))
def test_few_values_are_counted_exactly(lists) -> None:
    seen = Distinct()
    for values in lists:
        seen.add(pa.array(values, pa.string()))

    flat = [value for values in lists for value in values]
    assert seen.is_exact
    assert seen.counts == {value: flat.count(value) for value in set(flat)}


@pytest.mark.parametrize(
    "values",
    [
        pa.array(np.arange(300_000) * 7919),
        pa.array(np.arange(300_000) / 3),
        pa.array([f"user number {i}" for i in range(300_000)]),
        pa.array([f"user number {i}".encode() for i in range(300_000)], pa.large_binary()),
    ],
    ids=["int", "float", "text", "bytes"],
)
def test_many_values_are_estimated(values) -> None:
    seen = Distinct()
    for start in range(0, len(values), 50_000):
        seen.add(values.slice(start, 50_000))
        seen.add(values.slice(start, 50_000))

    assert not seen.is_exact
    assert seen.number == pytest.approx(300_000, rel=0.06)


def test_values_counted_before_the_limit_are_not_lost_behind_it() -> None:
    seen = Distinct()
    seen.add(pa.array(np.arange(EXACT_LIMIT)))
    seen.add(pa.array(np.arange(EXACT_LIMIT, 2 * EXACT_LIMIT)))

    assert seen.number == pytest.approx(2 * EXACT_LIMIT, rel=0.06)


def test_long_texts_that_differ_anywhere_have_different_hashes() -> None:
    base = bytearray(b"a" * 3000)
    texts = []
    for place in range(0, 3000, 7):
        changed = base.copy()
        changed[place] = ord("b")
        texts.append(changed.decode())

    assert len(np.unique(hashes(pa.array(texts)))) == len(texts)


@given(st.lists(st.text(max_size=40), min_size=1))
def test_the_hash_of_a_text_depends_on_the_text_alone(texts) -> None:
    together = hashes(pa.array(texts))

    assert together.tolist() == [hashes(pa.array(["xyz", text]).slice(1))[0] for text in texts]
    assert together.tolist() == hashes(pa.array(texts, pa.large_string())).tolist()
