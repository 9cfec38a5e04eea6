"""The rows of a stream as batches of one schema, with states behind them."""

from __future__ import annotations

import json
import threading

from datasets_core.features.base import Value
from datasets_core.stream.io.write import StreamBatches
from datasets_core.stream.iterable import IterableDataset


def test_every_batch_has_a_state_that_goes_on_behind_it() -> None:
    stream = IterableDataset.from_dict({"a": list(range(23))}).filter(lambda row: row["a"] % 3)
    rows = StreamBatches(stream, 4)
    seen = []
    for batch, state in rows.behind(None, 0):
        seen += batch.column("a").to_pylist()
        rest = [
            each for more, _ in rows.behind(json.loads(json.dumps(state())), len(seen)) for each in more.column("a").to_pylist()
        ]
        assert seen + rest == [each for each in range(23) if each % 3]


def test_types_that_nobody_told_are_those_of_the_first_rows() -> None:
    rows = StreamBatches(IterableDataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": row["a"] / 2}))
    assert rows.features == {"a": Value("int64"), "b": Value("float64")}
    assert rows.sample.num_rows == 0 and rows.sample.column_names == ["a", "b"]


def test_rows_are_told_apart_by_what_makes_them() -> None:
    stream = IterableDataset.from_dict({"a": [1, 2]})
    signature = StreamBatches(stream).signature()
    assert signature == StreamBatches(IterableDataset.from_dict({"a": [1, 2]})).signature()
    assert signature != StreamBatches(IterableDataset.from_dict({"a": [1, 3]})).signature()
    assert signature != StreamBatches(stream, 7).signature()
    assert signature == json.loads(json.dumps(signature))


def test_a_function_without_identity_is_never_the_same() -> None:
    handle = threading.Lock()
    stream = IterableDataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": str(handle is None)})
    assert StreamBatches(stream).signature() != StreamBatches(stream).signature()
