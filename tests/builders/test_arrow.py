"""Arrow: both formats, features from metadata, and nothing that points outside its buffers."""

import io

import numpy as np
import pyarrow as pa
import pytest
from datasets_core.builders._blocks import read_arrow
from datasets_core.builders._source import Source
from datasets_core.builders.arrow import EXTENSIONS

from datasets_core.errors import FileFormatError
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel

TABLE = pa.table(
    {"a": pa.array([1, None, 3]), "b": pa.array([["x"], [], None]), "c": pa.array([{"d": 1.5}, None, {"d": None}])}
)
MAKERS = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}


def content(table, kind):
    sink = io.BytesIO()
    with MAKERS[kind](sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return sink.getvalue()


def read(tmp_path, data):
    path = tmp_path / "local-copy"
    path.write_bytes(data)
    return pa.Table.from_batches(read_arrow(Source(str(path), "user.arrow")))


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("table", [TABLE, TABLE.slice(0, 0)], ids=["rows", "no rows"])
def test_both_formats_are_read_by_their_first_bytes(tmp_path, kind, table):
    assert read(tmp_path, content(table, kind)).equals(table)


@pytest.mark.parametrize("kind", MAKERS)
def test_features_in_the_metadata_are_kept(build, kind):
    features = Features({"a": ClassLabel(names=["x", "y"])})
    found = build("arrow", {"a.arrow": content(pa.table({"a": pa.array([1])}, schema=features.arrow_schema), kind)})
    assert (found.features, list(found)) == (features, [{"a": 1}])


def _wild_offsets():
    offsets = np.array([0, 1 << 20, 2], np.int32)
    wild = pa.StringArray.from_buffers(2, pa.py_buffer(offsets), pa.py_buffer(b"ab"))
    return content(pa.table({"a": wild}), "stream")


def _misnamed(kind):
    return content(pa.table({"name_in_utf_8": pa.array([1])}), kind).replace(b"name_in_utf_8", b"name_\xb4n_utf_8")


UNION = pa.UnionArray.from_sparse(pa.array([0], pa.int8()), [pa.array([1])])


@pytest.mark.parametrize(
    ("data", "cause"),
    [
        (b"", "is empty"),
        (content(TABLE, "file")[:-20], "not a readable Arrow file"),
        (content(TABLE, "stream")[:-120], "is damaged"),
        (content(TABLE, "stream")[:-8], "has no end mark"),
        (_wild_offsets(), "is damaged"),
        (_misnamed("file"), "can't decode byte 0xb4"),
        (_misnamed("stream"), "can't decode byte 0xb4"),
        (content(pa.Table.from_arrays([pa.array([1])] * 2, ["x", "x"]), "file"), "two of its columns are named 'x'"),
        (content(pa.table({"x": pa.StructArray.from_arrays([UNION], ["y"])}), "file"), "'y' is a union of several types"),
        (b"a,b\n1,2\n", "not a readable Arrow file"),
        (b"<html>", "web page"),
        (b"PAR1....", "a Parquet file"),
        (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS pointer"),
    ],
)
def test_damage_is_one_error_with_the_users_name(tmp_path, data, cause):
    with pytest.raises(FileFormatError, match=cause) as caught:
        read(tmp_path, data)
    assert caught.value.path == "user.arrow"


def test_the_extension_is_known():
    assert EXTENSIONS == {".arrow": {}, ".feather": {}}
