"""Sequences put together: no token lost, none twice, little room left, and every row can be gone on from."""

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.packing import first_fit

RANDOM = np.random.default_rng(7)
ROWS = [{"input_ids": [row] * size, "id": row} for row, size in enumerate(RANDOM.integers(0, 40, 150).tolist())]
FEATURES = Features({"input_ids": List(Value("int32")), "id": Value("string")})
TYPED = Dataset.from_list([{**row, "id": str(row["id"])} for row in ROWS], FEATURES).to_iterable_dataset()
STREAMS = {"typed": TYPED, "dicts": TYPED.map(lambda row: {"input_ids": row["input_ids"]})}


def _sequences(rows: list[dict[str, Any]]) -> list[tuple[str, list[int]]]:
    found = []
    for row in rows:
        start = 0
        for name, length in zip(row["id"], row["seq_lengths"], strict=True):
            found.append((name, row["input_ids"][start : start + length]))
            start += length
        assert start == len(row["input_ids"])
    return found


@pytest.fixture(params=STREAMS)
def stream(request: pytest.FixtureRequest) -> IterableDataset:
    return STREAMS[request.param]


def test_every_sequence_comes_once_and_rows_are_nearly_full(stream: IterableDataset) -> None:
    rows = list(stream.pack(64))
    assert sorted(_sequences(rows)) == sorted((str(row["id"]), row["input_ids"]) for row in ROWS if row["input_ids"])
    sizes = [len(row["input_ids"]) for row in rows]
    assert max(sizes) <= 64 and sum(sizes) / (64 * len(sizes)) > 0.95


def test_going_on_behind_any_row_gives_the_rest(stream: IterableDataset) -> None:
    packed = stream.pack(64, window_rows=8)
    rows = list(packed)
    found = iter(packed)
    for place, _ in enumerate(found):
        packed.load_state_dict(json.loads(json.dumps(found.state_dict())))
        assert list(packed) == rows[place + 1 :]


@pytest.mark.parametrize(("overlong", "found"), [
    ("split", [[0, 1, 2], [3, 4, 5], [6, 9]]),
    ("truncate", [[0, 1, 2], [9]]),
    ("drop", [[9]]),
])  # fmt: skip
@pytest.mark.parametrize("is_typed", [True, False])
def test_sequences_that_are_too_long(overlong: str, found: list[list[int]], is_typed: bool) -> None:
    stream = IterableDataset.from_dict({"input_ids": [list(range(7)), [], [9], None]})
    stream = stream if is_typed else stream.map(lambda row: {"x": 1})
    assert [row["input_ids"] for row in stream.pack(3, overlong=overlong)] == found


def test_a_sequence_that_is_too_long_can_be_an_error() -> None:
    with pytest.raises(ConfigurationError, match=r"has 7 values .* maximum"):
        list(IterableDataset.from_dict({"input_ids": [list(range(7))]}).pack(3, overlong="raise"))


@pytest.mark.parametrize("is_typed", [True, False])
def test_columns_that_belong_together_are_put_together_and_filled_up(is_typed: bool) -> None:
    stream = IterableDataset.from_dict({"x": [[1, 2], [3], [4, 5]], "labels": [[7, 7], [8], [9, 9]]})
    stream = stream if is_typed else stream.map(lambda row: {"x": np.array(row["x"])})
    assert list(stream.pack(4, ["x", "labels"], pad={"x": 0, "labels": -100})) == [
        {"x": [1, 2, 4, 5], "labels": [7, 7, 9, 9], "seq_lengths": [2, 2]},
        {"x": [3, 0, 0, 0], "labels": [8, -100, -100, -100], "seq_lengths": [1]},
    ]


def test_features_are_told() -> None:
    packed = TYPED.pack(8)
    assert packed.features == Features(
        {"input_ids": List(Value("int32")), "id": List(Value("string")), "seq_lengths": List(Value("int32"))}
    )
    assert next(iter(packed.with_format("arrow"))).schema == packed.features.arrow_schema
    assert STREAMS["dicts"].pack(8).features is None


@pytest.mark.parametrize("wrong", [{"length": 0}, {"overlong": "x"}, {"column": []}, {"pad": {"x": 0}}, {"window_rows": 0}])
def test_arguments_without_meaning_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        TYPED.pack(**{"length": 8, **wrong})


def test_columns_that_cannot_be_packed_are_refused() -> None:
    with pytest.raises(UnknownColumnError):
        TYPED.pack(8, "tokens")
    with pytest.raises(ConfigurationError, match="does not contain lists"):
        TYPED.pack(8, "id")
    with pytest.raises(ConfigurationError, match="seq_lengths"):
        TYPED.pack(8).pack(9)
    with pytest.raises(ConfigurationError, match="not a list"):
        list(TYPED.map(lambda row: {"input_ids": 1}).pack(8))
    with pytest.raises(ConfigurationError, match="2 values in 'y' and 1 in 'x'"):
        list(IterableDataset.from_dict({"x": [[1]], "y": [[1, 2]]}).pack(8, ["x", "y"]))


@pytest.mark.parametrize("pad", ["x", 1.5, [1], 2**70, {"input_ids": "x"}])
def test_a_pad_that_the_lists_cannot_hold_is_refused_with_its_column(pad: Any) -> None:
    rows = IterableDataset.from_dict({"input_ids": [[1], [2]]})
    with pytest.raises(ConfigurationError, match=r"pad=.* 'input_ids'"):
        rows.pack(4, pad=pad)


def test_lanes_are_packed_by_themselves_and_states_go_to_other_ranks(stream: IterableDataset) -> None:
    alone = [row["id"] for row in split_dataset_by_node(stream.pack(64), 0, 1, lanes=6)]
    ranks = [[row["id"] for row in split_dataset_by_node(stream.pack(64), rank, 2, lanes=6)] for rank in range(2)]
    assert sorted(alone) == sorted(ranks[0] + ranks[1])
    assert [alone[place] for place in range(0, 12, 2)] == ranks[0][:6]


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 30), max_size=40))
def test_first_fit_is_that_of_the_definition(lengths: list[int]) -> None:
    rooms: list[int] = []
    expected = []
    for length in lengths:
        place = next((place for place, room in enumerate(rooms) if room >= length), len(rooms))
        rooms += [30] * (place == len(rooms))
        rooms[place] -= length
        expected.append(place)
    assert first_fit(lengths, 30) == expected
