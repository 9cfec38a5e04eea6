"""`to_tf_dataset`: what tensorflow gets are the rows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import CastError, ConfigurationError, MissingDependencyError, UnknownColumnError


@pytest.fixture
def small() -> Dataset:
    """Seven rows."""
    rows = range(7)
    return Dataset.from_dict(
        {"a": list(rows), "f": [i / 2 for i in rows], "t": [f"t{i}" for i in rows], "r": [[0] * i for i in rows]}
    )


@pytest.mark.skipif(find_spec("tensorflow") is not None, reason="tensorflow is installed")
def test_without_tensorflow_the_error_says_what_to_install(small: Dataset) -> None:
    with pytest.raises(MissingDependencyError, match=r"pip install 'datasets_core\[tensorflow\]'"):
        small.to_tf_dataset()


@pytest.mark.optional("tensorflow")
def test_batches_are_inputs_and_labels(small: Dataset) -> None:
    made = small.to_tf_dataset(batch_size=3, columns=["a", "f"], label_cols="t")

    batches = [({name: x.numpy().tolist() for name, x in inputs.items()}, labels.numpy().tolist()) for inputs, labels in made]

    assert batches[0] == ({"a": [0, 1, 2], "f": [0, 0.5, 1]}, [b"t0", b"t1", b"t2"])
    assert [len(labels) for _, labels in batches] == [3, 3, 1]


@pytest.mark.optional("tensorflow")
def test_rows_come_one_by_one_without_a_batch_size_and_each_once_when_shuffled(small: Dataset) -> None:
    assert [x.numpy() for x in small.to_tf_dataset(columns="a")] == list(range(7))
    shuffled = small.to_tf_dataset(columns="a", batch_size=2, shuffle=True, drop_remainder=True, num_workers=2)
    assert len({int(x) for batch in shuffled for x in batch.numpy()}) == 6


@pytest.mark.optional("tensorflow")
def test_a_collate_function_gets_rows(small: Dataset) -> None:
    def pad(rows: list[dict[str, Any]], width: int) -> dict[str, Any]:
        return {"p": np.stack([np.pad(row["r"], (0, width - len(row["r"]))) for row in rows])}

    made = small.remove_columns("t").to_tf_dataset(4, collate_fn=pad, collate_fn_args={"width": 8})

    assert [tuple(batch["p"].shape) for batch in made] == [(4, 8), (3, 8)]


@pytest.mark.optional("tensorflow")
def test_what_has_no_tensor_is_an_error_at_once(small: Dataset) -> None:
    with pytest.raises(CastError, match="column 'r' do not stack"):
        small.to_tf_dataset(3)
    with pytest.raises(UnknownColumnError):
        small.to_tf_dataset(3, columns="zz")
    with pytest.raises(ConfigurationError, match="label_cols"):
        small.to_tf_dataset(3, label_cols="a")
