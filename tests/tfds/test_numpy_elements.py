"""`as_numpy` of streams, datasets, values and nests of them."""

from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features


def test_anything_with_values_becomes_arrays_and_bytes(rows: Any) -> None:
    dataset = Dataset.from_dict({"a": ["x"]})
    found = tfds.as_numpy({"s": rows.take(1), "d": dataset, "i": dataset.to_iterable_dataset(), "v": ["é", np.arange(2)]})
    assert len(list(found["s"])) == 1
    assert [*found["d"], *found["i"]] == [{"a": b"x"}, {"a": b"x"}]
    assert (found["v"][0], found["v"][1].tolist()) == ("é".encode(), [0, 1])


def test_the_result_has_the_length_of_the_stream_and_can_be_read_again(rows: Any) -> None:
    found = tfds.as_numpy(rows)
    assert len(found) == len(list(found)) == len(list(found)) == 10


def test_functions_are_no_values() -> None:
    with pytest.raises(ArgumentTypeError):
        tfds.as_numpy(len)


def test_pictures_of_the_library_are_arrays_too() -> None:
    pytest.importorskip("PIL")
    dataset = Dataset.from_dict({"a": [np.zeros((2, 3), np.uint8)]}, Features({"a": Image()}))
    (row,) = tfds.as_numpy(dataset)
    assert (row["a"].shape, row["a"].dtype) == ((2, 3, 1), np.uint8)
