"""Streams by split: what is done to all of them, and what is said of them."""

import pickle

import pytest

from datasets_core.errors import ArgumentTypeError, UnknownColumnError, UnknownSplitError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.iterable_dict import IterableDatasetDict


@pytest.fixture
def splits():
    rows = {"train": {"a": [1, 2, 3], "b": ["x", "y", "z"]}, "test": {"a": [4], "b": ["w"]}}
    return IterableDatasetDict({name: IterableDataset.from_dict(columns) for name, columns in rows.items()})


def lists(splits):
    return {name: list(stream) for name, stream in splits.items()}


def test_it_is_a_dict_of_streams(splits):
    assert list(splits) == ["train", "test"]
    assert (splits.column_names, splits.num_columns) == ({"train": ["a", "b"], "test": ["a", "b"]}, {"train": 2, "test": 2})
    assert repr(splits).startswith("IterableDatasetDict({\n    train: IterableDataset({\n        features: ['a', 'b'],")
    assert type(pickle.loads(pickle.dumps(splits))) is IterableDatasetDict


def test_a_split_that_does_not_exist_is_told(splits):
    with pytest.raises(UnknownSplitError, match=r"Unknown split 'tran'.*'train', 'test'"):
        splits["tran"]
    with pytest.raises(KeyError):
        splits[["train"]]


@pytest.mark.parametrize(
    ("change", "first"),
    [
        (lambda splits: splits.map(lambda row: {"a": row["a"] * 10}), {"a": 40, "b": "w"}),
        (
            lambda splits: splits.map(lambda row, number, split: {"a": (number, split)}, True, True),
            {"a": (0, "test"), "b": "w"},
        ),
        (lambda splits: splits.map(lambda batch: {"c": batch["a"]}, batched=True, remove_columns=["a", "b"]), {"c": 4}),
        (lambda splits: splits.filter(lambda row: row["a"] > 1), {"a": 4, "b": "w"}),
        (lambda splits: splits.shuffle(seed=1, buffer_size=2), {"a": 4, "b": "w"}),
        (lambda splits: splits.select_columns("a"), {"a": 4}),
        (lambda splits: splits.remove_columns(["a"]), {"b": "w"}),
        (lambda splits: splits.rename_column("a", "c"), {"c": 4, "b": "w"}),
        (lambda splits: splits.rename_columns({"a": "b", "b": "a"}), {"b": 4, "a": "w"}),
        (lambda splits: splits.cast(Features({"a": Value("string"), "b": Value("string")})), {"a": "4", "b": "w"}),
        (lambda splits: splits.cast_column("a", Value("float32")), {"a": 4.0, "b": "w"}),
        (lambda splits: splits.with_format("numpy"), {"a": 4, "b": "w"}),
    ],
)
def test_what_is_done_is_done_to_every_split(splits, change, first):
    changed = change(splits)

    assert type(changed) is IterableDatasetDict
    assert lists(changed)["test"] == [first]
    assert {name: len(rows) for name, rows in lists(changed).items()}["train"] in (2, 3)
    assert lists(splits)["test"] == [{"a": 4, "b": "w"}]


def test_an_error_says_in_which_split_it_arose(splits):
    splits["test"] = splits["test"].remove_columns("b")

    with pytest.raises(UnknownColumnError) as told:
        splits.remove_columns("b")
    assert told.value.__notes__ == ["The error occurred in split 'test'."]


def test_what_is_no_stream_is_refused(splits):
    splits["test"] = [1]

    with pytest.raises(ArgumentTypeError, match="Split 'test' of this IterableDatasetDict is list"):
        splits.map(lambda row: row)
    del splits["test"]
    with pytest.raises(ArgumentTypeError, match="map\\(\\) takes a function"):
        splits.map(3, with_split=True)


def test_workers_and_errors_of_all_splits() -> None:
    splits = IterableDatasetDict({name: IterableDataset.from_dict({"a": [0, 1, 2]}) for name in ("train", "test")})
    made = splits.map(lambda row: {"b": 2 // row["a"]}, num_workers=2).filter(lambda row: row["b"] > 1, num_workers=2)
    for rows in made.on_error("skip").values():
        assert list(rows) == [{"a": 1, "b": 2}]
    assert next(iter(splits.map(lambda row: {"b": 2 // row["a"]}, on_error="null")["test"])) == {"a": 0, "b": None}


def test_each_split_is_shuffled_anew_for_each_iteration_where_that_is_wanted() -> None:
    splits = IterableDatasetDict({"train": IterableDataset.from_dict({"a": list(range(50))})})
    train = splits.shuffle(seed=1, reshuffle_each_iteration=True)["train"]
    assert list(train) != list(train) and train.epoch == 1
