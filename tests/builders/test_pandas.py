"""Stored frames: Parquet and Feather are read, a pickle is never loaded."""

import io
import pickle

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

from datasets_core.errors import FileFormatError

TABLE = pa.table({"a": [1, None], "b": ["x", "y"]})


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("the pickle was loaded",))


@pytest.mark.parametrize("write", [pq.write_table, feather.write_feather])
def test_frames_in_arrow_formats_are_read(build, write):
    sink = io.BytesIO()
    write(TABLE, sink)
    assert list(build("pandas", {"a.bin": sink.getvalue()})) == TABLE.to_pylist()


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_not_loaded(build, protocol):
    with pytest.raises(FileFormatError, match=r"a\.pkl: is a pickle, which is not loaded because it can run any code"):
        build("pandas", {"a.pkl": pickle.dumps(Trap(), protocol)})


def test_anything_else_is_an_error(build):
    with pytest.raises(FileFormatError, match=r"is not a frame in Parquet or Feather"):
        build("pandas", {"a.x": b"a,b\n"})
