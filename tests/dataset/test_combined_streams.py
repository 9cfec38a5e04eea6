"""Streams as one: by the functions that users know, with what Hugging Face `datasets` gives of them where it is defined."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.stream.iterable import IterableDataset

# Made with `datasets` 5.2.0: streams of [0, 1, 2], [10, 11, 12, 13] and [20, 21, 22, 23, 24].
IN_TURN = {
    "first_exhausted": [0, 10, 20, 1, 11, 21, 2],
    "all_exhausted": [0, 10, 20, 1, 11, 21, 2, 12, 22, 0, 13, 23, 1, 10, 24],
    "all_exhausted_without_replacement": [0, 10, 20, 1, 11, 21, 2, 12, 22, 13, 23, 24],
}


def _stream(*values: Any, name: str = "a") -> IterableDataset:
    return IterableDataset.from_dict({name: list(values)})


def _three() -> list[IterableDataset]:
    return [_stream(0, 1, 2), _stream(10, 11, 12, 13), _stream(20, 21, 22, 23, 24)]


@pytest.mark.parametrize("strategy", IN_TURN)
def test_turns_are_those_of_hugging_face(strategy: str) -> None:
    assert list(interleave_datasets(_three(), stopping_strategy=strategy)["a"]) == IN_TURN[strategy]


def test_weights_are_kept_within_a_row_and_the_same_seed_gives_the_same_rows() -> None:
    endless = [_stream(number).repeat(None) for number in range(3)]
    rows = [list(interleave_datasets(endless, [0.7, 0.2, 0.1], seed=seed).take(999)["a"]) for seed in (1, 1, 2)]

    assert rows[0] == rows[1] != rows[2]
    counts = Counter(rows[0])
    assert all(abs(counts[number] - 999 * weight) < 1 for number, weight in enumerate((0.7, 0.2, 0.1)))


def test_weights_may_change_at_a_row() -> None:
    endless = [_stream(number).repeat(None) for number in range(2)]
    rows = list(interleave_datasets(endless, {0: [1.0, 0.0], 10: [0.5, 0.5]}, seed=1).take(20)["a"])

    assert rows[:10] == [0] * 10
    assert sum(rows[10:]) == 5


def test_each_epoch_has_its_order() -> None:
    stream = interleave_datasets([_stream(*range(50)), _stream(*range(100, 150))], [0.5, 0.5], seed=1)
    first = list(stream)
    stream.set_epoch(1)

    assert list(stream) != first


def test_all_rows_come_once_where_nothing_is_replaced() -> None:
    rows = interleave_datasets(_three(), [0.6, 0.3, 0.1], seed=4, stopping_strategy="all_exhausted_without_replacement")

    assert sorted(rows["a"]) == [0, 1, 2, 10, 11, 12, 13, 20, 21, 22, 23, 24]


def test_what_is_known_is_brought_together() -> None:
    streams = [_stream(1), _stream("x", name="b")]

    both = concatenate_datasets(streams, split="train", info=DatasetInfo(description="two"))

    assert both.features == Features({"a": Value("int64"), "b": Value("string")})
    assert (str(both.split), both.info.description) == ("train", "two")
    assert next(iter(both.with_format("arrow"))).column_names == ["a", "b"]


def test_the_format_that_all_have_is_kept() -> None:
    assert concatenate_datasets([stream.with_format("numpy") for stream in _three()])._format.type == "numpy"
    assert concatenate_datasets([_stream(1).with_format("numpy"), _stream(2)])._format.type is None


def test_streams_of_streams_go_on_where_they_were() -> None:
    def made() -> IterableDataset:
        inner = interleave_datasets(_three()[:2], stopping_strategy="all_exhausted")
        columns = concatenate_datasets([_stream(5, 6, name="b"), _stream("x", name="c")], axis=1)
        return concatenate_datasets([inner.filter(lambda row: row["a"] != 11), columns, _three()[2].map(dict)])

    rows = list(made())
    for place in range(len(rows) + 1):
        stream = made()
        iterator = iter(stream)
        for _ in range(place):
            next(iterator)
        state = json.loads(json.dumps(stream.state_dict()))
        other = made()
        other.load_state_dict(state)
        assert list(other) == rows[place:]


def test_datasets_and_streams_do_not_go_together() -> None:
    with pytest.raises(ArgumentTypeError, match=r"Element 1 is a Dataset, and element 0 is a stream\. Make streams of all"):
        concatenate_datasets([_stream(1), Dataset.from_dict({"a": [1]})])


def test_a_single_stream_is_no_list_of_streams() -> None:
    with pytest.raises(ArgumentTypeError, match="Give a list of datasets"):
        interleave_datasets(_stream(1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"stopping_strategy": "none"}, r"'none' is unknown\. Strategies: 'first_exhausted', "),
        ({"probabilities": [0.5]}, "1 probabilities for 3 datasets"),
        ({"probabilities": [0.5, 0.5, 0], "stopping_strategy": "all_exhausted"}, "Dataset 2 has the probability 0"),
        ({"probabilities": [0.5, 0.5, 0], "seed": -1}, "seed=-1 has no meaning"),
    ],
)
def test_arguments_without_meaning_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        interleave_datasets(_three(), **arguments)


def test_features_that_the_streams_do_not_have_are_refused() -> None:
    with pytest.raises(CastError, match=r"info\.features are not those of the streams together"):
        concatenate_datasets([_stream(1)], info=DatasetInfo(features=Features({"a": Value("string")})))
