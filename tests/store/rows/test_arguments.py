"""Arguments of the methods of a dataset."""

import pytest

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.store.rows.indices import as_int, checked_batch_size, names_of, row_count


def test_one_name_is_a_list_of_one() -> None:
    assert names_of("a") == ["a"]


def test_a_name_given_twice_counts_once() -> None:
    assert names_of(["a", "b", "a"]) == ["a", "b"]


def test_what_names_no_columns_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="names no columns"):
        names_of(3)  # type: ignore[arg-type]


def test_a_float_is_no_whole_number() -> None:
    with pytest.raises(ArgumentTypeError, match="num_shards="):
        as_int("num_shards", 1.5)


def test_a_negative_count_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Cannot take -1 rows"):
        row_count("take", -1)


def test_a_batch_of_no_rows_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="batch_size of 1 or more"):
        checked_batch_size(0)
