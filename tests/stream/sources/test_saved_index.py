"""Indexes as bytes come back as they were; what is damaged is nothing."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.stream.sources.block_index import from_bytes, to_bytes
from datasets_core.stream.sources.block_reader import FileIndex

SCHEMAS = [pa.schema({"a": pa.int64()}), pa.schema({"b": pa.list_(pa.string())}, metadata={b"huggingface": b"{}"})]


@given(st.lists(st.tuples(st.lists(st.integers(0, 9), max_size=4), st.integers(0, 1)), min_size=1, max_size=5))
def test_they_come_back(files):
    given_ = [
        FileIndex.of(SCHEMAS[kind], np.array(rows, np.int64), np.array(rows, np.int64) * 8, (9, f"{kind}"))
        for rows, kind in files
    ]
    found = from_bytes(to_bytes(given_))
    assert len(found) == len(given_)
    for one, other in zip(found, given_, strict=True):
        assert one.schema.equals(other.schema, check_metadata=True) and one.version == other.version
        for name in ("rows", "sizes", "numbers", "firsts"):
            assert getattr(one, name).tolist() == getattr(other, name).tolist()


DAMAGED = to_bytes([FileIndex.of(SCHEMAS[0], np.array([1]), np.array([8]), (1, ""))])[:-40]


@pytest.mark.parametrize("data", [None, b"", b"garbage", DAMAGED], ids=["none", "empty", "garbage", "cut"])
def test_what_is_damaged_is_nothing(data):
    assert from_bytes(data) == []
