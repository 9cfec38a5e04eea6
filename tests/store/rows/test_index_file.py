"""An index in a file is the index, and other tools can read it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.store.rows.indices import ints_of, mapped_index


def test_a_mapped_index_is_the_index_and_takes_no_memory(tmp_path: Path) -> None:
    index = np.array([5, 0, 3] * 1000)
    before = pa.total_allocated_bytes()

    mapped = mapped_index(index, str(tmp_path / "below" / "index.arrow"))

    assert mapped.tolist() == index.tolist()
    assert pa.total_allocated_bytes() == before
    assert [path.name for path in (tmp_path / "below").iterdir()] == ["index.arrow"]


def test_an_index_without_rows_is_one(tmp_path: Path) -> None:
    assert mapped_index(np.empty(0, np.int64), str(tmp_path / "index.arrow")).tolist() == []


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint64(), pa.int32(), pa.uint8()])
def test_numbers_come_from_any_column_of_ints(kind: pa.DataType) -> None:
    column = pa.chunked_array([pa.array([9, 1], kind).slice(1), pa.array([2, 3], kind)])

    assert ints_of(column).tolist() == [1, 2, 3]
    assert ints_of(column.slice(0, 0)).tolist() == []


@pytest.mark.parametrize("column", [pa.chunked_array([[1, None]]), pa.chunked_array([["x"]]), pa.chunked_array([[1.0]])])
def test_what_is_no_number_is_refused(column: pa.ChunkedArray) -> None:
    with pytest.raises(ArgumentTypeError, match="Row numbers are ints"):
        ints_of(column)


def test_a_selection_keeps_its_index_where_it_is_told(tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"n": list(range(9))})
    path = str(tmp_path / "index.arrow")

    shuffled = dataset.shuffle(seed=1, indices_cache_file_name=path)

    assert shuffled[:] == dataset.shuffle(seed=1)[:]
    again = Dataset(dataset.data, indices_table=pa.ipc.open_stream(path).read_all())
    assert again[:] == shuffled[:]
    assert dataset.sort("n", reverse=True, indices_cache_file_name=path)["n"][:] == list(range(8, -1, -1))
    assert dataset.select([3, 1], indices_cache_file_name=path)["n"][:] == [3, 1]
    assert dataset.shard(2, 1, contiguous=False, indices_cache_file_name=path)["n"][:] == [1, 3, 5, 7]
    parts = dataset.train_test_split(seed=1, test_indices_cache_file_name=path, train_indices_cache_file_name=path + "2")
    assert parts["test"][:] == dataset.train_test_split(seed=1)["test"][:]
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["index.arrow", "index.arrow2"]


def test_a_write_that_fails_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()

    with pytest.raises(OSError, match="folder"):
        mapped_index(np.arange(3), str(tmp_path / "folder"))
    assert [entry.name for entry in tmp_path.iterdir()] == ["folder"]


def test_a_file_of_the_user_is_no_place_for_an_index(tmp_path: Path) -> None:
    path = tmp_path / "mine.csv"
    path.write_text("a,b\n")

    with pytest.raises(ConfigurationError, match=r"mine\.csv is not a cache file"):
        Dataset.from_dict({"n": [1, 2]}).select([1, 0], indices_cache_file_name=str(path))
    assert path.read_text() == "a,b\n"
