"""`as_numpy`: streams, and what is made of their rows, as arrays and bytes."""

from __future__ import annotations

from typing import Any

from datasets_core.errors import ArgumentTypeError
from datasets_core.rows.tabled import Tabled
from datasets_core.stream.iterable import IterableDataset
from datasets_core.tfds.split_reading import mapped
from datasets_core.tfds.split_stream import SplitStream
from datasets_core.tfds.values_out import as_bytes


def as_numpy(dataset: Any) -> Any:
    """Streams as streams of arrays, scalars of numpy and bytes; values likewise, in any nest.

    Args:
        dataset: a stream, rows, values, or a nest of them.

    >>> from datasets_core import tfds
    >>> stream = tfds.SplitStream.of(Dataset.from_dict({"a": [1, 2], "text": ["x", "y"]}).to_iterable_dataset())
    >>> next(iter(as_numpy(stream)))
    {'a': np.int64(1), 'text': b'x'}

    Raises:
        ArgumentTypeError: a function or another object that holds no values.
    """
    return mapped(_one, dataset)


def _one(value: Any) -> Any:
    if isinstance(value, SplitStream):
        return value.as_numpy()
    if isinstance(value, Tabled):
        return SplitStream.of(value.to_iterable_dataset()).as_numpy()  # type: ignore[attr-defined]
    if isinstance(value, IterableDataset):
        return SplitStream.of(value).as_numpy()
    if callable(value):
        raise ArgumentTypeError(f"{value!r} holds no values. Give a dataset, or values of one.")
    return as_bytes(value)
