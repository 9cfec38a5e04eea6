"""Datasets made of frames."""

from __future__ import annotations

import datetime as dt
import sys

import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, MissingDependencyError, UnknownOptionError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel

pytestmark = pytest.mark.optional("pandas")


def test_types_of_pandas_become_those_of_arrow() -> None:
    import pandas as pd

    frame = pd.DataFrame(
        {
            "i": pd.array([1, None], dtype="Int64"),
            "b": pd.array([True, None], dtype="boolean"),
            "t": pd.to_datetime(["2020-01-01", None]).tz_localize("Europe/Paris"),
            "f": [1.5, float("nan")],
            "l": [[1], None],
            "d": [{"x": 1}, None],
            "c": pd.Categorical(["u", "v"]),
            "o": pd.Series(["p", None], dtype=object),
        }
    )
    found = Dataset.from_pandas(frame)
    assert found.column_names == list(frame.columns)
    assert found.features["i"] == Value("int64")
    assert found.features["t"].dtype.endswith("tz=Europe/Paris]")
    first = found[0]
    assert (first["i"], first["b"], first["l"], first["d"], first["c"], first["o"]) == (1, True, [1], {"x": 1}, "u", "p")
    assert first["t"].astimezone(dt.UTC) == dt.datetime(2019, 12, 31, 23, tzinfo=dt.UTC)
    assert {name: value for name, value in found[1].items() if name != "c"} == dict.fromkeys("ibtfldo")


@pytest.mark.parametrize(
    ("preserve", "named", "columns"),
    [(None, None, ["a", "__index_level_0__"]), (None, "id", ["a", "id"]), (False, "id", ["a"])],
)
def test_an_index_is_kept_where_it_says_something(preserve: bool | None, named: str | None, columns: list[str]) -> None:
    import pandas as pd

    frame = pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name=named))
    assert Dataset.from_pandas(frame, preserve_index=preserve).column_names == columns
    assert Dataset.from_pandas(pd.DataFrame({"a": [1]})).column_names == ["a"]


def test_features_are_what_the_columns_are_cast_to() -> None:
    import pandas as pd

    frame = pd.DataFrame({"label": ["no", "yes"], "n": [1, 2]})
    features = Features({"label": ClassLabel(names=["no", "yes"]), "n": Value("string")})
    found = Dataset.from_pandas(frame, features=features, split="test")
    assert found[1] == {"label": 1, "n": "2"}
    assert (found.split, found.features) == ("test", features)


def test_what_has_no_type_and_what_is_no_frame_is_refused() -> None:
    import pandas as pd

    with pytest.raises(CastError, match="column odd"):
        Dataset.from_pandas(pd.DataFrame({"odd": [1, "a"]}))
    with pytest.raises(ArgumentTypeError, match="found dict"):
        Dataset.from_pandas({"a": [1]})  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="found dict"):
        Dataset.from_polars({"a": [1]})  # type: ignore[arg-type]


@pytest.mark.optional("polars")
def test_a_frame_of_polars_eager_or_lazy_is_taken() -> None:
    import polars as pl

    frame = pl.DataFrame({"a": [1, 2], "c": pl.Series(["x", "y"], dtype=pl.Categorical), "l": [[1], []]})
    for given in (frame, frame.lazy()):
        assert Dataset.from_polars(given).to_list() == [{"a": 1, "c": "x", "l": [1]}, {"a": 2, "c": "y", "l": []}]


class _SparkFrame:
    """What a frame of Spark 4 offers."""

    def toArrow(self) -> pa.Table:  # noqa: N802 - its name
        return pa.table({"a": [1, 2]})

    def toPandas(self) -> None:  # noqa: N802
        raise AssertionError


def test_a_frame_of_spark_needs_spark(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(MissingDependencyError, match="pyspark"):
        Dataset.from_spark(_SparkFrame())
    monkeypatch.setitem(sys.modules, "pyspark", pa)
    assert Dataset.from_spark(_SparkFrame()).to_dict() == {"a": [1, 2]}


def test_spark_options_that_there_are_not_are_named() -> None:
    with pytest.raises(UnknownOptionError, match="'split'"):
        Dataset.from_spark(None, splt="train")
