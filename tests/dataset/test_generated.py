"""Rows of a generator: written once, in order, with types that hold all of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.dataset import results
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, DatasetGenerationError
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, Json


def numbers(n: int) -> Iterator[dict[str, Any]]:
    """Rows with a number and a text."""
    for i in range(n):
        yield {"i": i, "t": f"row {i}"}


def items_of(items: list[int], suffix: str = "") -> Iterator[dict[str, Any]]:
    """A row for each item."""
    for item in items:
        yield {"i": item, "pid": os.getpid(), "s": suffix}


@pytest.mark.parametrize("in_memory", [False, True])
@pytest.mark.parametrize("n", [0, 1, 257, 30_000])
def test_the_rows_are_those_of_the_generator(tmp_path: Path, n: int, in_memory: bool) -> None:
    dataset = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": n}, keep_in_memory=in_memory)

    assert list(dataset) == list(numbers(n))
    assert dataset.split == "train"
    assert len(dataset.cache_files) == (0 if in_memory or not n else 1)


def test_the_generator_runs_once_for_the_same_arguments(tmp_path: Path) -> None:
    log = tmp_path / "log"

    def rows(n: int, log: str) -> Iterator[dict[str, int]]:
        with open(log, "a") as out:
            out.write("x")
        yield from ({"i": i} for i in range(n))

    made = [
        Dataset.from_generator(rows, cache_dir=tmp_path / "c", gen_kwargs={"n": n, "log": str(log)}).num_rows for n in (2, 2, 3)
    ]

    assert (made, log.read_text()) == ([2, 2, 3], "xx")


@pytest.mark.parametrize("fingerprint", [None, "abc"])
def test_without_caching_every_call_runs_the_generator(tmp_path: Path, fingerprint: str | None) -> None:
    def made(n: int) -> Dataset:
        return Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": n}, fingerprint=fingerprint)

    kept = made(2)
    with config.using(caching=False):
        first, second = made(2), made(2)
    again = made(2)

    files = [dataset.cache_files[0]["filename"] for dataset in (kept, first, second, again)]
    assert (len(set(files)), files[0]) == (3, files[-1])
    assert [list(dataset) for dataset in (first, second)] == [list(numbers(2))] * 2
    assert (first._fingerprint == second._fingerprint) is (fingerprint is not None)


def test_a_fingerprint_names_the_rows(tmp_path: Path) -> None:
    first = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 2}, fingerprint="abc")
    second = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 5}, fingerprint="abc")

    assert (len(first), len(second)) == (2, 2)


@pytest.mark.parametrize("late", [100, 300, 40_000])
def test_types_widen_when_later_rows_need_it(tmp_path: Path, late: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(results, "WAITING_BYTES", 20_000)

    def rows() -> Iterator[dict[str, Any]]:
        for i in range(late):
            yield {"null": None, "int": i, "list": [], "struct": {"a": i}}
        yield {"null": "text", "int": 0.5, "list": ["x"], "struct": {"b": 1.5}, "new": True}

    dataset = Dataset.from_generator(rows, cache_dir=tmp_path)

    assert len(dataset) == late + 1
    assert {name: str(feature) for name, feature in dataset.features.items()} == {
        "null": "Value('string')",
        "int": "Value('float64')",
        "list": "List(Value('string'))",
        "struct": "Json(decode=True)",
        "new": "Value('bool')",
    }
    assert dataset[0] == {"null": None, "int": 0.0, "list": [], "struct": {"a": 0}, "new": None}
    assert dataset[-1] == {"null": "text", "int": 0.5, "list": ["x"], "struct": {"b": 1.5}, "new": True}


def test_a_value_that_fits_no_type_names_column_and_row(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for i in range(1000):
            yield {"a": i, "b": "x" if i == 777 else 5}

    with pytest.raises(CastError, match=r"777.*on_mixed_types='use_json'") as caught:
        Dataset.from_generator(rows, cache_dir=tmp_path, on_mixed_types=None)

    assert "'b'" in str(caught.value)
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if name.endswith(".arrow")]


@pytest.mark.parametrize("num_proc", [None, 2])
def test_values_that_share_no_type_are_json(tmp_path: Path, num_proc: int | None) -> None:
    def rows(shards: list[int]) -> Iterator[dict[str, Any]]:
        for shard in shards:
            yield [{"a": 1, "b": [1, "x"], "c": {"d": 1}}, {"a": "x", "b": [2], "c": {"d": "y"}}][shard]

    dataset = Dataset.from_generator(rows, cache_dir=tmp_path, gen_kwargs={"shards": [0, 1]}, num_proc=num_proc)

    assert dataset.features == Features({"a": Json(), "b": List(Json()), "c": {"d": Json()}})
    assert dataset[:] == {"a": [1, "x"], "b": [[1, "x"], [2]], "c": [{"d": 1}, {"d": "y"}]}


def test_a_value_that_does_not_fit_its_feature_names_column_and_row(tmp_path: Path) -> None:
    def rows() -> Iterator[dict[str, Any]]:
        for i in range(1000):
            yield {"a": "x" if i == 777 else 5}

    with pytest.raises(CastError, match=r"row 777, column 'a'"):
        Dataset.from_generator(rows, features=Features({"a": Value("int8")}), cache_dir=tmp_path)


def test_features_are_kept(tmp_path: Path) -> None:
    features = Features({"label": ClassLabel(names=["no", "yes"]), "x": Value("float32")})

    dataset = Dataset.from_generator(lambda: [{"label": "yes", "x": 1}, {"x": 2}], features=features, cache_dir=tmp_path)

    assert dataset.features == features
    assert dataset[:] == {"label": [1, None], "x": [1.0, 2.0]}


@pytest.mark.parametrize("in_memory", [False, True])
def test_a_generator_that_fails_names_the_row_and_leaves_nothing(tmp_path: Path, in_memory: bool) -> None:
    def rows() -> Iterator[dict[str, int]]:
        yield from ({"i": i} for i in range(500))
        raise RuntimeError("no more")

    with pytest.raises(DatasetGenerationError, match="failed at row 500: RuntimeError: no more") as caught:
        Dataset.from_generator(rows, cache_dir=tmp_path, keep_in_memory=in_memory)

    assert isinstance(caught.value.__cause__, RuntimeError)
    assert not [name for _, _, names in os.walk(tmp_path) for name in names if not name.endswith(".lock")]


@pytest.mark.parametrize("generator", [5, [{"a": 1}]])
def test_what_is_no_function_is_refused(tmp_path: Path, generator: Any) -> None:
    with pytest.raises(ArgumentTypeError, match="takes a function"):
        Dataset.from_generator(generator, cache_dir=tmp_path)


def test_a_function_that_gives_no_rows_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ArgumentTypeError, match="holds no rows"):
        Dataset.from_generator(lambda: 5, cache_dir=tmp_path)  # type: ignore[arg-type, return-value]
    with pytest.raises(CastError):
        Dataset.from_generator(lambda: [1, 2], cache_dir=tmp_path)  # type: ignore[list-item]


def test_processes_share_the_lists_and_keep_their_order(tmp_path: Path) -> None:
    kwargs = {"items": list(range(11)), "suffix": "s"}

    dataset = Dataset.from_generator(items_of, cache_dir=tmp_path, gen_kwargs=kwargs, num_proc=2)

    assert dataset["i"][:] == list(range(11))
    assert dataset["s"][:] == ["s"] * 11
    assert os.getpid() not in dataset["pid"]


def test_lists_of_different_lengths_cannot_be_divided(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="different lengths"):
        Dataset.from_generator(items_of, cache_dir=tmp_path, gen_kwargs={"items": [1, 2], "suffix": ["a"]}, num_proc=2)


def test_no_process_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="num_proc=0"):
        Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 1}, num_proc=0)


def test_large_rows_make_small_batches(tmp_path: Path) -> None:
    dataset = Dataset.from_generator(lambda: ({"b": bytes(100_000)} for _ in range(600)), cache_dir=tmp_path)

    assert max(dataset._table.piece(k).nbytes for k in range(dataset._table.num_pieces)) < 32 << 20
    assert len(dataset) == 600


def test_damaged_files_are_made_again(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 500})
    path = Path(first.cache_files[0]["filename"])
    path.write_bytes(path.read_bytes()[:-20])

    again = Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 500})

    assert list(again) == list(numbers(500))
    assert "Running the generator again" in caplog.text


def test_a_split_of_another_name_is_kept_apart(tmp_path: Path) -> None:
    made = [
        Dataset.from_generator(numbers, cache_dir=tmp_path, gen_kwargs={"n": 3}, split=split) for split in ("train", "test")
    ]

    assert [dataset.split for dataset in made] == ["train", "test"]
    assert [list(dataset.info.splits or ()) for dataset in made] == [["train"], ["test"]]


def test_a_plain_dict_will_do_for_features(tmp_path: Path) -> None:
    features = {"i": Value("int8"), "t": Value("string")}
    dataset = Dataset.from_generator(numbers, features, tmp_path, gen_kwargs={"n": 2}, writer_batch_size=1)  # type: ignore[arg-type]
    assert dataset.features == Features(features)


@pytest.mark.parametrize(
    "wrong", [{"gen_kwargs": 5}, {"features": 5}, {"num_proc": "2"}, {"fingerprint": "../x"}, {"fingerprint": ""}], ids=repr
)
def test_arguments_that_mean_nothing_are_shown(tmp_path: Path, wrong: dict[str, Any]) -> None:
    with pytest.raises((ArgumentTypeError, ConfigurationError), match=r"gen_kwargs=5|features=5|num_proc='2'|fingerprint='"):
        Dataset.from_generator(numbers, cache_dir=tmp_path, **wrong)
