"""Indexes of a dataset: which there are, what they find, and what becomes of them when the dataset changes."""

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, MissingIndexError, UnknownColumnError

pytest.importorskip("faiss")

QUERY = np.array([3.2, 0], dtype=np.float32)


@pytest.fixture
def dataset() -> Dataset:
    dataset = Dataset.from_dict({"v": [[float(i), 0.0] for i in range(5)], "t": list("abcde")})
    return dataset.add_faiss_index("v")


def test_results_are_named(dataset) -> None:
    found = dataset.search("v", QUERY, k=2)
    rows = dataset.get_nearest_examples("v", QUERY, k=2)
    many = dataset.search_batch("v", np.stack([QUERY, QUERY]), k=1)
    rows_of_many = dataset.get_nearest_examples_batch("v", np.stack([QUERY, QUERY]), k=1)

    assert found.indices.tolist() == [3, 4] and found.scores == pytest.approx([0.04, 0.64], abs=1e-5)
    assert rows.examples["t"] == ["d", "e"] and rows.scores == pytest.approx(found.scores)
    assert many.total_indices.tolist() == [[3], [3]] and many.total_scores.shape == (2, 1)
    assert [examples["t"] for examples in rows_of_many.total_examples] == [["d"], ["d"]]


def test_more_rows_than_there_are_give_all(dataset) -> None:
    assert dataset.search("v", QUERY, k=7).indices.tolist()[5:] == [-1, -1]
    scores, rows = dataset.get_nearest_examples("v", QUERY, k=7)
    assert len(scores) == len(rows["t"]) == 5


def test_queries_of_the_wrong_shape(dataset) -> None:
    with pytest.raises(CastError, match="1 numbers"):
        dataset.search("v", QUERY[:1])
    with pytest.raises(ConfigurationError, match="search_batch"):
        dataset.search("v", np.stack([QUERY, QUERY]))
    with pytest.raises(ConfigurationError, match="matrix"):
        dataset.search_batch("v", QUERY)
    with pytest.raises(ConfigurationError, match="k=0"):
        dataset.search("v", QUERY, k=0)


def test_indexes_are_listed_and_dropped(dataset) -> None:
    other = dataset.with_format("arrow")
    dataset.drop_index("v")

    assert (dataset.list_indexes(), dataset.is_index_initialized("v")) == ([], False)
    assert other.list_indexes() == ["v"] and other.is_index_initialized("v")
    with pytest.raises(MissingIndexError, match="'v'"):
        dataset.get_index("v")
    with pytest.raises(MissingIndexError):
        dataset.drop_index("v")
    with pytest.raises(UnknownColumnError):
        dataset.add_faiss_index("x")


def test_other_columns_keep_the_index(dataset) -> None:
    for changed in (dataset.rename_column("t", "u"), dataset.remove_columns("t"), dataset.select_columns(["t"])):
        assert changed.search("v", QUERY, k=1).indices.tolist() == [3]


def test_other_rows_have_no_index_and_the_error_says_why(dataset) -> None:
    for changed in (dataset.select([4, 1]), dataset.take(2), dataset.shuffle(seed=0)):
        assert changed.list_indexes() == []
        with pytest.raises(MissingIndexError, match="other rows"):
            changed.search("v", QUERY)


def test_rows_come_in_the_format(dataset) -> None:
    assert dataset.with_format("arrow").get_nearest_examples("v", QUERY, k=1).examples["t"].to_pylist() == ["d"]
