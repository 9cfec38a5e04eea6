"""Rows divided among nodes and processes: each row for one."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import datasets_core
from datasets_core.dataset.dataset import Dataset
from datasets_core.distributed import split_dataset_by_node, split_for_jax_process, split_for_process, split_for_torch_process
from datasets_core.errors import ArgumentTypeError, ConfigurationError, MissingDependencyError, RankError, StreamStateError
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.row_blocks import even_splits
from datasets_core.meta.splits import ReadInstruction, Split

DATASET = Dataset.from_dict({"a": list(range(11))})


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_a_dataset_is_cut_into_runs(size: int) -> None:
    parts = [split_dataset_by_node(DATASET, rank, size)["a"][:] for rank in range(size)]
    assert [row for part in parts for row in part] == list(range(11))


@pytest.mark.parametrize("strategy", ["auto", "lanes", "shards", "examples"])
@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_every_row_of_a_stream_is_for_one_node(size: int, strategy: str) -> None:
    stream = DATASET.to_iterable_dataset(4).shuffle(seed=1).filter(lambda row: row["a"] != 5)
    parts = [list(split_dataset_by_node(stream, rank, size, strategy)["a"]) for rank in range(size)]
    assert sorted(row for part in parts for row in part) == [0, 1, 2, 3, 4, 6, 7, 8, 9, 10]


@pytest.mark.parametrize(
    ("rank", "size", "name"), [("0", 2, "rank"), (0, "2", "world_size"), (0.0, 2, "rank"), (0, 2.0, "world_size")]
)
def test_numbers_of_nodes_are_whole(rank: Any, size: Any, name: str) -> None:
    for rows in (Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": [1]}).to_iterable_dataset()):
        with pytest.raises(ArgumentTypeError, match=f"{name}="):
            split_dataset_by_node(rows, rank, size)


def test_a_stream_and_its_only_rank_have_orders_and_states_of_their_own() -> None:
    stream = Dataset.from_dict({"a": list(range(100))}).to_iterable_dataset()
    rank = split_dataset_by_node(stream, 0, 1)
    assert list(rank["a"]) != list(stream["a"]) and sorted(rank["a"]) == list(stream["a"])
    for one, other in ((stream, rank), (rank, stream)):
        with pytest.raises(StreamStateError):
            one.load_state_dict(other.state_dict())


def test_nodes_take_shards_or_every_so_many_rows_if_asked_to() -> None:
    stream = DATASET.to_iterable_dataset(4)
    assert list(split_dataset_by_node(stream, 1, 2, "shards")["a"]) == [6, 7, 8, 9, 10]
    assert list(split_dataset_by_node(stream, 1, 3, "examples")["a"]) == [1, 4, 7, 10]
    assert split_dataset_by_node(stream, 1, 2, "shards").num_shards == 2


def test_nodes_take_a_row_of_each_of_their_lanes_in_turn() -> None:
    stream = DATASET.to_iterable_dataset()
    parts = [list(split_dataset_by_node(stream, rank, 2, lanes=4)["a"]) for rank in range(2)]
    assert parts == [[0, 6, 1, 7, 2, 8], [3, 9, 4, 10, 5]]
    assert list(split_dataset_by_node(stream, 0, 1, lanes=4)["a"]) == [0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8]


@pytest.mark.parametrize(("ends", "count"), [("drop", 9), ("pad", 12)])
def test_ends_may_be_even(ends: str, count: int) -> None:
    stream = DATASET.to_iterable_dataset()
    parts = [list(split_dataset_by_node(stream, rank, 3, lanes=3, ends=ends)["a"]) for rank in range(3)]
    assert [len(part) for part in parts] == [count // 3] * 3
    assert set(parts[0] + parts[1] + parts[2]) == (set(range(11)) if ends == "pad" else set(range(11)) - {3, 7})


def test_nodes_of_nodes_divide_lanes() -> None:
    stream = DATASET.to_iterable_dataset()
    outer = [split_dataset_by_node(stream, rank, 2, lanes=4) for rank in range(2)]
    inner = [list(split_dataset_by_node(part, rank, 2)["a"]) for part in outer for rank in range(2)]
    assert inner == [[0, 1, 2], [6, 7, 8], [3, 4, 5], [9, 10]]


def test_more_nodes_than_lanes_get_more_lanes() -> None:
    stream = DATASET.to_iterable_dataset()
    parts = [list(split_dataset_by_node(stream, rank, 5, lanes=2)["a"]) for rank in range(5)]
    assert sorted(row for part in parts for row in part) == list(range(11))
    assert all(parts)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ends": "even"}, "ends='even' is unknown"),
        ({"ends": "pad", "lanes": 4}, "Give lanes=12"),
        ({"lanes": 0}, "lanes=0"),
        ({"ends": "drop", "strategy": "shards"}, "is only supported with lanes"),
    ],
)
def test_lanes_that_cannot_be_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        split_dataset_by_node(DATASET.to_iterable_dataset(), 0, 3, **options)


@pytest.mark.parametrize(("rank", "size", "strategy"), [(2, 2, "auto"), (-1, 2, "auto"), (0, 1, "rows"), (0, 1, "shards")])
def test_what_does_not_exist_is_refused(rank: int, size: int, strategy: str) -> None:
    with pytest.raises(ConfigurationError):
        split_dataset_by_node(DATASET, rank, size, strategy)


# -- splits ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("drop", [False, True])
def test_a_process_gets_its_even_part(drop: bool) -> None:
    assert [split_for_process("train[75%:]+test", rank, 3, drop) for rank in range(3)] == even_splits(
        "train[75%:]+test", 3, drop
    )


@pytest.mark.parametrize("rank", [3, -1])
def test_a_process_that_does_not_exist_is_refused(rank: int) -> None:
    with pytest.raises(RankError) as caught:
        split_for_process("train", rank, 3)
    assert isinstance(caught.value, IndexError)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("size", [0, -1, 1.5, None])
def test_a_number_of_processes_that_means_nothing_is_refused(size: Any) -> None:
    with pytest.raises(ConfigurationError, match="Invalid world_size="):
        split_for_process("train", 0, size)


@pytest.mark.parametrize("names", [("RANK", "WORLD_SIZE"), ("SLURM_PROCID", "SLURM_NTASKS"), ("PMI_RANK", "PMI_SIZE")])
def test_a_launcher_tells_which_node_this_is(monkeypatch: pytest.MonkeyPatch, names: tuple[str, str]) -> None:
    for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delitem(sys.modules, "torch.distributed", raising=False)
    monkeypatch.setitem(sys.modules, "ray.train", None)
    rows = Dataset.from_dict({"a": [1, 2, 3, 4]})
    with pytest.raises(ConfigurationError, match=r"This process has no rank: none of RANK and WORLD_SIZE, SLURM_PROCID"):
        split_dataset_by_node(rows)
    monkeypatch.setenv(names[0], "1")
    monkeypatch.setenv(names[1], "2")
    assert split_dataset_by_node(rows)["a"] == [3, 4]
    train = SimpleNamespace(get_context=lambda: SimpleNamespace(get_world_rank=lambda: 0, get_world_size=lambda: 4))
    monkeypatch.setitem(sys.modules, "ray.train", train)
    assert split_dataset_by_node(rows)["a"] == [1]
    monkeypatch.delitem(sys.modules, "ray.train")
    monkeypatch.setenv(names[0], "first")
    with pytest.raises(ConfigurationError, match=rf"{names[0]} is 'first'"):
        split_dataset_by_node(rows)


def test_jax_tells_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", SimpleNamespace(process_index=lambda: 1, process_count=lambda: 3))
    assert split_for_jax_process("train+test") == even_splits("train+test", 3)[1]
    assert split_for_jax_process("train", drop_remainder=True) == even_splits("train", 3, drop_remainder=True)[1]


def test_a_missing_jax_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(MissingDependencyError, match="jax"):
        split_for_jax_process("train")


def _torch(monkeypatch: pytest.MonkeyPatch, *, initialised: bool) -> None:
    told = SimpleNamespace(
        is_available=lambda: True, is_initialized=lambda: initialised, get_rank=lambda: 2, get_world_size=lambda: 4
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=told))
    monkeypatch.setitem(sys.modules, "torch.distributed", told)


def test_torch_tells_its_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    _torch(monkeypatch, initialised=True)
    monkeypatch.setenv("RANK", "0")
    monkeypatch.setenv("WORLD_SIZE", "8")
    assert split_for_torch_process("train") == even_splits("train", 4)[2]
    assert split_for_torch_process("train", drop_remainder=True) == even_splits("train", 4, True)[2]


def test_torchrun_tells_its_processes_before_torch_does(monkeypatch: pytest.MonkeyPatch) -> None:
    _torch(monkeypatch, initialised=False)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert split_for_torch_process("train") == even_splits("train", 3)[1]


@pytest.mark.parametrize(("rank", "size"), [(None, None), ("1", None), (None, "2"), ("x", "2"), ("-1", "2")])
def test_processes_that_nobody_tells_are_asked_for(monkeypatch: pytest.MonkeyPatch, rank: str | None, size: str | None) -> None:
    _torch(monkeypatch, initialised=False)
    for name, value in (("RANK", rank), ("WORLD_SIZE", size)):
        monkeypatch.delenv(name, raising=False) if value is None else monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match=r"torch\.distributed is not initialised.*init_process_group"):
        split_for_torch_process("train")


def test_dividing_a_split_imports_neither_torch_nor_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("torch", "torch.distributed", "jax"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "3")
    assert split_for_torch_process("train") == split_for_process("train", 1, 3)
    assert not {"torch", "jax"} & set(sys.modules)


# -- and read ----------------------------------------------------------------------------------------------------------


@pytest.fixture(params=["load_dataset", "as_dataset"])
def read(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[Any], Any]:
    """Eleven rows of `train` and four of `test` by either entrance."""
    files = {}
    for name, rows in (("train", range(11)), ("test", range(100, 104))):
        files[name] = str(tmp_path / f"{name}.csv")
        Path(files[name]).write_text("a\n" + "".join(f"{row}\n" for row in rows), encoding="utf-8")
    cache = str(tmp_path / "cache")
    if request.param == "load_dataset":
        return lambda split: load_dataset("csv", data_files=files, split=split, cache_dir=cache)
    builder = load_dataset_builder("csv", data_files=files, cache_dir=cache)
    builder.download_and_prepare()
    return lambda split: builder.as_dataset(split=split)


def _values(found: Any) -> Any:
    if isinstance(found, dict):
        return {name: _values(each) for name, each in found.items()}
    if isinstance(found, (list, tuple)):
        return type(found)(map(_values, found))
    return found["a"][:]


TRAIN, TEST = list(range(11)), list(range(100, 104))


@pytest.mark.parametrize(
    ("split", "wanted"),
    [
        (None, {"train": TRAIN, "test": TEST}),
        (["train", "test[:50%]"], [TRAIN, TEST[:2]]),
        (("test", Split.TRAIN), (TEST, TRAIN)),
        ({"fit": "train[:3]", "check": ["test", "train[-1:]"]}, {"fit": [0, 1, 2], "check": [TEST, [10]]}),
        (ReadInstruction("train", from_=50, to=75, unit="%") + ReadInstruction("test"), [6, 7, *TEST]),
        (ReadInstruction("train", to=2, unit="abs") + "test[1:]", [0, 1, *TEST[1:]]),
        (even_splits("train", 3), [TRAIN[:4], TRAIN[4:8], TRAIN[8:]]),
        (even_splits("train", 3, drop_remainder=True), [TRAIN[:3], TRAIN[3:6], TRAIN[6:9]]),
        (even_splits("train+test", 3)[1] + "test[:1]", [4, 5, 6, 7, 102, 100]),
        ("train(even3[1])", TRAIN[4:8]),
        (even_splits("all", 2)[1], [*TRAIN[6:], *TEST[2:]]),
        (even_splits({"fit": "train", "check": "test"}, 2)[0], {"fit": TRAIN[:6], "check": TEST[:2]}),
        (split_for_process("train[:1]", 1, 2), []),
        ("train[20:30]", []),
        ("train[5:2]", []),
        ("all", TRAIN + TEST),
    ],
    ids=str,
)
def test_every_form_of_split_is_read_alike(read: Callable[[Any], Any], split: Any, wanted: Any) -> None:
    assert _values(read(split)) == wanted


def test_the_parts_of_a_split_know_what_they_are(read: Callable[[Any], Any]) -> None:
    for part in even_splits("train", 3):
        assert str(read(part).split) == str(part)
        assert read(part).info.splits[part].num_examples == len(read(part))


@pytest.mark.parametrize("name", ["all", "ALL", "All"])
def test_a_builder_may_not_call_a_split_all(tmp_path: Path, name: str) -> None:
    class Own(datasets_core.GeneratorBasedBuilder):
        VERSION = datasets_core.Version("1.0.0")

        def _info(self) -> datasets_core.DatasetInfo:
            return datasets_core.DatasetInfo(features=datasets_core.Features({"a": datasets_core.Value("int64")}))

        def _split_generators(self, dl_manager: Any) -> list[Any]:
            return [datasets_core.SplitGenerator(name=name)]

        def _generate_examples(self) -> Any:
            yield 0, {"a": 1}

    with pytest.raises(ConfigurationError, match=f"has a split named '{name}', but 'all' means the union"):
        Own(cache_dir=str(tmp_path)).download_and_prepare()


def test_a_process_of_jax_may_be_named() -> None:
    found = split_for_jax_process("train", process_index=1, process_count=3)
    assert found == split_for_process("train", 1, 3)
