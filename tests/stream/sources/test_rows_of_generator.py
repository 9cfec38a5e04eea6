from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from datasets_core.errors import ArgumentTypeError, CellCastError, DatasetGenerationError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset


def numbers(count: int, fails_at: int | None = None) -> Iterator[dict[str, Any]]:
    row: dict[str, Any] = {}
    for number in range(count):
        if number == fails_at:
            raise RuntimeError("no more")
        row["number"], row["list"] = number, [number]
        yield row


def lines(files: list[str], sep: str = ",") -> Iterator[dict[str, Any]]:
    for name in files:
        for number in range(3):
            yield {"line": f"{name}{sep}{number}"}


def test_rows_are_those_that_were_yielded_even_if_one_dict_is_filled_again_and_again() -> None:
    stream = IterableDataset.from_generator(numbers, gen_kwargs={"count": 3000})
    assert list(stream) == [{"number": number, "list": [number]} for number in range(3000)]


def test_the_generator_is_called_anew_in_each_iteration() -> None:
    stream = IterableDataset.from_generator(numbers, gen_kwargs={"count": 3})
    assert list(stream) == list(stream)


def test_features_are_what_the_columns_become() -> None:
    kinds = Features({"number": Value("int8"), "list": [Value("string")]})
    stream = IterableDataset.from_generator(numbers, kinds, {"count": 2})
    assert stream.features == kinds
    assert list(stream) == [{"number": 0, "list": ["0"]}, {"number": 1, "list": ["1"]}]


def test_without_features_only_the_rows_tell() -> None:
    assert IterableDataset.from_generator(numbers, gen_kwargs={"count": 2}).features is None


def test_lists_of_one_length_are_shards() -> None:
    stream = IterableDataset.from_generator(lines, gen_kwargs={"files": ["a", "b", "c"]})
    parts = [list(stream.shard(3, index)) for index in range(3)]
    assert stream.num_shards == 3
    assert [row["line"][0] for part in parts for row in part] == list("aaabbbccc")


def test_a_stream_goes_on_behind_any_row() -> None:
    made = {"generator": lines, "gen_kwargs": {"files": ["a", "b"], "sep": ":"}}
    whole = list(IterableDataset.from_generator(**made))
    for seen in range(len(whole) + 1):
        first = IterableDataset.from_generator(**made)
        assert list(itertools.islice(first, seen)) == whole[:seen]
        rest = IterableDataset.from_generator(**made)
        rest.load_state_dict(first.state_dict())
        assert list(rest) == whole[seen:]


def test_an_endless_generator_gives_its_first_rows() -> None:
    stream = IterableDataset.from_generator(lambda: ({"number": number} for number in itertools.count()))
    assert [row["number"] for row in stream.take(5)] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("features", [None, Features({"number": Value("int64"), "list": [Value("int64")]})])
def test_the_rows_before_a_failure_are_given(features: Features | None) -> None:
    rows = iter(IterableDataset.from_generator(numbers, features, {"count": 9, "fails_at": 4}))
    assert [row["number"] for row in itertools.islice(rows, 4)] == [0, 1, 2, 3]
    with pytest.raises(DatasetGenerationError, match="row 4: RuntimeError: no more"):
        next(rows)


def test_what_is_no_dict_is_no_row() -> None:
    with pytest.raises(DatasetGenerationError, match="yielded int as row 1"):
        list(IterableDataset.from_generator(lambda: iter([{"a": 1}, 2])))  # type: ignore[list-item]


def test_a_value_that_does_not_fit_its_feature_is_told() -> None:
    with pytest.raises(CellCastError, match="'a'"):
        list(IterableDataset.from_generator(lambda: iter([{"a": "x"}]), Features({"a": Value("int8")})))


@pytest.mark.parametrize("generator", [iter([{"a": 1}]), [{"a": 1}], None])
def test_what_cannot_be_called_is_no_generator(generator: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="takes a function"):
        IterableDataset.from_generator(generator)


def test_arguments_are_given_by_name() -> None:
    with pytest.raises(ArgumentTypeError, match="gen_kwargs"):
        IterableDataset.from_generator(numbers, gen_kwargs=[3])  # type: ignore[arg-type]
