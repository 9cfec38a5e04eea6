"""What is known of the blocks of a file."""

import pickle

import numpy as np
import pyarrow as pa

from datasets_core.stream.sources.block_reader import FileIndex


def test_an_index_counts_its_rows_and_pickles():
    index = FileIndex.of(pa.schema({"a": pa.int64()}), np.array([3, 0, 4]), np.array([24, 0, 32]), (100, "tag"))
    assert index.num_rows == 7 and index.numbers.tolist() == [0, 2]
    found = pickle.loads(pickle.dumps(index))
    assert found.num_rows == 7 and found.version == (100, "tag") and found.schema == index.schema
