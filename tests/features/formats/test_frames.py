"""Frames hold the values of the table that they are made of."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.features.base import Value
from datasets_core.features.formats.formats import framer
from datasets_core.features.formats.python import RowReader
from datasets_core.features.schema import Decoder, Features
from datasets_core.features.types import Array2D, Json

_FEATURES = Features({"a": Value("int32"), "j": Json(), "m": Array2D(shape=(1, 2), dtype="float32")})
_TABLE = pa.table({"a": [1, 2], "j": ['{"x": 1}', "[2]"], "m": [[[1.0, 2.0]], [[3.0, 4.0]]]}, schema=_FEATURES.arrow_schema)
_FRAMES = [pytest.param(name, marks=pytest.mark.optional(name)) for name in ("pandas", "polars")]


def _frame(name: str, table: pa.Table = _TABLE) -> Any:
    return framer(name, _FEATURES, RowReader(table.schema, Decoder(_FEATURES)))(table)


@pytest.mark.parametrize("name", _FRAMES)
def test_a_frame_holds_the_values_as_the_user_sees_them(name: str) -> None:
    frame = _frame(name)

    assert list(frame["a"]) == [1, 2]
    assert list(frame["j"]) == [{"x": 1}, [2]]
    assert [np.array(list(row)).tolist() for row in frame["m"]] == [[[1.0, 2.0]], [[3.0, 4.0]]]


@pytest.mark.parametrize("name", _FRAMES)
def test_a_frame_of_several_chunks_or_of_none_has_all_rows(name: str) -> None:
    assert len(_frame(name, pa.concat_tables([_TABLE, _TABLE]))) == 4
    assert len(_frame(name, _TABLE.slice(0, 0))) == 0


def test_arrow_tables_stay_as_they_are() -> None:
    assert _frame("arrow") is _TABLE
