"""Values that do not fit are taken as Hugging Face `datasets` 1 to 3 took them."""

import datetime as dt
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import CastError, CellCastError
from datasets_core.features.base import List, Sequence, Value
from datasets_core.features.encode import compile_column
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.features.values import loose_coercer, loose_elements


@pytest.mark.parametrize(
    ("arrow_type", "value", "stored"),
    [
        (pa.int32(), 1.9, 1),
        (pa.int32(), "7", 7),
        (pa.bool_(), "False", True),
        (pa.bool_(), "", False),
        (pa.bool_(), 2, True),
        (pa.string(), b"a", "b'a'"),
        (pa.string(), [1], "[1]"),
        (pa.float32(), "1e3", 1000.0),
        (pa.date32(), dt.datetime(2020, 1, 2, 23), dt.date(2020, 1, 2)),
        (pa.date32(), dt.datetime(2020, 1, 2, 23, tzinfo=dt.timezone(-dt.timedelta(hours=2))), dt.date(2020, 1, 3)),
        (pa.binary(), "a", b"a"),
        (pa.int64(), np.array([3]), 3),
    ],
)
def test_a_value_is_made_to_fit(arrow_type: pa.DataType, value: Any, stored: Any) -> None:
    assert loose_coercer(arrow_type)(value) == stored


@pytest.mark.parametrize(
    ("arrow_type", "value"), [(pa.int8(), "x"), (pa.int8(), 300), (pa.float64(), "1,5"), (pa.bool_(), np.array([1, 2]))]
)
def test_what_no_constructor_takes_is_refused(arrow_type: pa.DataType, value: Any) -> None:
    with pytest.raises(CastError):
        loose_coercer(arrow_type)(value)


def test_elements_of_a_text_are_its_letters() -> None:
    assert loose_elements("ab") == ["a", "b"]
    with pytest.raises(CastError):
        loose_elements(5)


def test_an_encoder_is_exact_unless_it_is_told_otherwise() -> None:
    features = Features({"n": Value("int32"), "many": List(Value("int64"))})
    rows = [{"n": 1.5, "many": np.array([0.5, 2.0]), "other": "left out"}]
    assert RowEncoder(features, is_loose=True).encode(rows).to_pylist() == [{"n": 1, "many": [0, 2]}]
    with pytest.raises(CellCastError, match="no such column"):
        RowEncoder(features).encode(rows)


def test_moments_are_dates_and_times_as_old_versions_stored_them() -> None:
    moment, text = np.datetime64("2020-01-02T03:04:05"), "2020-01-02 03:04:05"
    pandas = pytest.importorskip("pandas")
    for arrow_type in (pa.date32(), pa.date64()):
        made = [pa.scalar(loose_coercer(arrow_type)(value), arrow_type).as_py() for value in (moment, pandas.Timestamp(text))]
        assert made == [dt.date(2020, 1, 2)] * 2
    for arrow_type in (pa.time32("s"), pa.time64("us")):
        coerce = loose_coercer(arrow_type)
        for value in (moment, pandas.Timestamp(text), dt.datetime.fromisoformat(text)):
            assert pa.scalar(coerce(value), arrow_type).as_py() == dt.time(3, 4, 5)
        assert coerce(pandas.NaT) is None
        with pytest.raises(CastError, match="datetime64"):
            coerce(np.datetime64("2020-01-02"))
    assert loose_coercer(pa.date64())(1577934245) == dt.date(1970, 1, 19)
    with pytest.raises(CastError, match="finer than a s"):
        loose_coercer(pa.time32("s"))(dt.time(1, 2, 3, 4))


def test_elements_of_arrays_have_the_text_that_numpy_gives_them() -> None:
    column = compile_column(Sequence(Value("string")), is_loose=True)
    assert column([np.ones((2, 2), int), np.array([0.1], "float32")]).to_pylist() == [["[1 1]", "[1 1]"], ["0.1"]]
    assert compile_column(Sequence(Sequence(Value("int8"))), is_loose=True)([np.ones((1, 2))]).to_pylist() == [[[1, 1]]]
