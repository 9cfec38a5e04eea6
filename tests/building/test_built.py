"""What a builder built is read by split expressions, in the shape that they are asked for."""

from __future__ import annotations

import itertools
import json
import os
import pathlib
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.building.builder import ArrowBasedBuilder, GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DatasetNotFoundError,
    EmptySplitError,
    StreamStateError,
    UnknownSplitError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import FileInstruction
from datasets_core.meta.splits import ReadInstruction, Split
from datasets_core.store.commit import Staging
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.writer import ShardWriter
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.order.files import Interleave, ReadConfig

FEATURES = Features({"id": Value("int64")})


class Single(GeneratorBasedBuilder):
    def _info(self):
        return DatasetInfo(features=FEATURES)

    def _split_generators(self, dl_manager):
        return [SplitGenerator(Split.TRAIN, {"count": 10}), SplitGenerator(Split.TEST, {"count": 4})]

    def _generate_examples(self, count):
        for row in range(count):
            yield row, {"id": row}


@pytest.fixture
def built(tmp_path):
    builder = Single(cache_dir=str(tmp_path), dataset_name="Single")
    builder.download_and_prepare()
    return builder


@pytest.mark.parametrize(
    ("split", "rows"),
    [
        ("train", list(range(10))),
        (Split.TEST, list(range(4))),
        ("train[2:4]", [2, 3]),
        (ReadInstruction("train", to=20, unit="%"), [0, 1]),
        ("train[:1]+test[-1:]", [0, 3]),
        ("all", [*range(10), *range(4)]),
    ],
)
def test_a_split_expression_gives_its_rows(built, split, rows):
    assert [row["id"] for row in built.as_dataset(split)] == rows


def test_nests_of_splits_come_back_in_their_shape(built):
    listed = built.as_dataset(["train[:1]", ("test", {"a": "test[:2]"})])

    assert len(listed[0]) == 1
    assert isinstance(listed[1], tuple)
    assert len(listed[1][0]) == 4
    assert len(listed[1][1]["a"]) == 2


def test_no_split_is_all_of_them_by_name(built):
    assert {name: len(split) for name, split in built.as_dataset().items()} == {"train": 10, "test": 4}


def test_an_unknown_split_is_named_with_those_that_exist(built):
    with pytest.raises(UnknownSplitError, match="'train', 'test'"):
        built.as_dataset("validation")


@pytest.mark.parametrize("in_memory", [False, True])
def test_rows_are_the_same_in_memory(built, in_memory):
    assert [row["id"] for row in built.as_dataset("train", in_memory=in_memory)] == list(range(10))


def test_small_datasets_are_read_into_memory_where_the_settings_say_so(built):
    with config.using(max_memory_bytes=1 << 20):
        assert len(built.as_dataset("train")) == 10


def test_the_info_of_a_built_dataset_has_splits_and_sizes(built):
    info = built.as_dataset("train").info

    assert (info.splits["train"].num_examples, info.splits["train[:50%]"].num_examples) == (10, 5)
    assert info.dataset_size == sum(split.num_bytes for split in info.splits.values())
    assert (info.builder_name, info.dataset_name, info.config_name) == (built.name, "single", "default")
    assert built.info.features == FEATURES


def test_equal_slices_have_equal_fingerprints(built):
    again = Single(cache_dir=built.cache_dir.partition("/single/")[0], dataset_name="single")
    again.download_and_prepare()

    assert again.as_dataset("train[:5]")._fingerprint == built.as_dataset("train[:5]")._fingerprint
    assert again.as_dataset("train[:5]")._fingerprint != built.as_dataset("train[:6]")._fingerprint


class Processed(Single):
    name_of_file = "index.txt"

    def _post_processing_resources(self, split):
        return {"index": self.name_of_file}

    def _post_process(self, dataset, resources_paths):
        path = pathlib.Path(resources_paths["index"])
        if not path.exists():
            path.write_text("made once")
        return dataset.add_column("note", [path.read_text()] * len(dataset)) if len(dataset) < 10 else None


def test_what_an_author_does_to_a_dataset_that_is_read_is_done(tmp_path):
    builder = Processed(cache_dir=str(tmp_path))
    builder.download_and_prepare()

    assert builder.as_dataset("train[:1]")[0] == {"id": 0, "note": "made once"}
    assert builder.as_dataset()["test"][3] == {"id": 3, "note": "made once"}
    assert builder.as_dataset("train").column_names == ["id"]
    assert builder.as_dataset(["test"])[0].column_names == ["id", "note"]


def test_files_of_an_author_stand_beside_the_dataset_and_nowhere_else(tmp_path):
    builder = Processed(cache_dir=str(tmp_path))
    builder.download_and_prepare()
    builder.name_of_file = "../out.txt"

    with pytest.raises(ConfigurationError, match=r"has the file name '\.\./out\.txt'"):
        builder.as_dataset("test")


# Datasets that were built, pushed as they stand on the disk.


class Numbers(GeneratorBasedBuilder):
    """Some numbers, in two configs."""

    BUILDER_CONFIGS = [BuilderConfig(name="small"), BuilderConfig(name="large")]  # noqa: RUF012

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"a": Value("int64")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator(name=name, gen_kwargs={"count": count}) for name, count in (("train", 9), ("test", 2))]

    def _generate_examples(self, count: int) -> Iterator[tuple[int, dict[str, int]]]:
        for number in range(count):
            yield number, {"a": number}


def test_a_built_dataset_is_pushed_as_its_config(hub: Any, tmp_path: Path) -> None:
    builder = Numbers(config_name="small", cache_dir=str(tmp_path))
    builder.download_and_prepare()
    builder.push_to_hub("org/x", token=hub.token, num_shards={"train": 2})
    builder.push_to_hub("org/x", "other", token=hub.token)

    found = load_dataset("org/x", "small", token=hub.token)
    assert {name: split["a"][:] for name, split in found.items()} == {"train": list(range(9)), "test": [0, 1]}
    assert "small/train-00001-of-00002.parquet" in hub.repos["org/x"].files()
    assert load_dataset("org/x", "other", split="test", token=hub.token).num_rows == 2


def test_what_is_not_built_is_told(hub: Any, tmp_path: Path) -> None:
    with pytest.raises(DatasetNotFoundError, match="download_and_prepare"):
        Numbers(config_name="small", cache_dir=str(tmp_path)).push_to_hub("org/x", token=hub.token)
    assert hub.requests == []


# Files are read in turn in the order of TensorFlow Datasets, from any row on, and nothing is opened before its time.

GOLDEN = json.loads((Path(__file__).parent / "golden" / "tfds_reading_order.json").read_text())
FEATURES_FILE_STREAM = Features({"id": Value("int64"), "split": Value("string")})
SMALL = {"train": [5, 0, 3, 8, 1, 6], "test": [4, 2]}


class Plain(ArrowBasedBuilder):
    """A builder whose files stand already."""

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=FEATURES_FILE_STREAM)

    def _split_generators(self, dl_manager: Any) -> list[Any]:
        return []

    def _generate_tables(self) -> Iterator[Any]:
        yield from ()


def _built(folder: Path | str, lengths: dict[str, list[int]], *, disable_shuffling: bool = False) -> Plain:
    """A dataset whose shards have these lengths; a row holds its split, and its number within that."""
    builder = Plain(cache_dir=str(folder), dataset_name="ds")
    staging = Staging.adopt_or_create(builder._output_dir)
    shards = []
    for split, rows in lengths.items():
        for number, (start, count) in enumerate(zip(np.cumsum([0, *rows]).tolist(), rows, strict=False)):
            writer = ShardWriter(
                staging.folder,
                f"{split}-{number}",
                split=split,
                schema=FEATURES_FILE_STREAM.arrow_schema,
                batch_rows=7 if sum(rows) < 1000 else None,
            )
            writer.write(
                pa.table({"id": range(start, start + count), "split": [split] * count}, FEATURES_FILE_STREAM.arrow_schema)
            )
            shards += writer.close()
    splits = [{"name": split, "num_examples": sum(rows)} for split, rows in lengths.items()]
    info = DatasetInfo.from_dict({"dataset_name": "ds", "splits": splits})
    info.features = FEATURES_FILE_STREAM
    staging.commit(Manifest(info, tuple(shards), disable_shuffling=disable_shuffling))
    return builder


@pytest.fixture(scope="module")
def of_lengths(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Plain]]:
    """What makes a dataset of shards of these lengths, or takes the one that was made before."""
    made: dict[str, Plain] = {}

    def found(lengths: dict[str, list[int]], *, disable_shuffling: bool = False) -> Plain:
        key = repr((lengths, disable_shuffling))
        if key not in made:
            made[key] = _built(tmp_path_factory.mktemp("data"), lengths, disable_shuffling=disable_shuffling)
        return made[key]

    with config.using(cache_dir=str(tmp_path_factory.mktemp("cache"))):
        yield found


@pytest.fixture(scope="module")
def small(of_lengths: Callable[..., Plain]) -> Plain:
    """Two splits of small shards."""
    return of_lengths(SMALL)


def _ids(rows: Any) -> list[tuple[str, int]]:
    return [(row["split"], row["id"]) for row in rows]


# -- the order of TensorFlow Datasets ----------------------------------------------------------------------------------


@pytest.mark.parametrize("case", GOLDEN["interleave_cases"], ids=lambda case: f"{case['split']}-{case['read_config']}")
def test_rows_come_in_the_order_of_tfds(case: dict[str, Any], of_lengths: Callable[..., Plain]) -> None:
    expected = case["expected"]
    builder = of_lengths(case["shard_lengths"], disable_shuffling=case.get("disable_shuffling", False))
    asked = ReadConfig(**case["read_config"], add_tfds_id=True)

    if "error" in expected:
        with pytest.raises(ValueError, match="corresponds to no rows"):
            builder.as_dataset(case["split"], read_config=asked)
        return
    rows = list(builder.as_dataset(case["split"], read_config=asked))

    assert [row["id"] for row in rows] == expected["ids"]
    assert [row["split"] for row in rows] == (expected["splits"] or ["train"] * len(rows))
    ids = expected.get("tfds_ids") or expected["first_tfds_ids"]
    assert [row["tfds_id"] for row in rows[: len(ids)]] == [_our_id(each) for each in ids]


def _our_id(id: str) -> str:
    """The id of a row that TFDS has in a TFRecord file: the format stands elsewhere in the name of the file."""
    name, row = id.replace(".tfrecord", "").split("__")
    return f"{name}.arrow__{row}"


@pytest.fixture(scope="module")
def imagenet(of_lengths: Callable[..., Plain]) -> Plain:
    """As many rows in as many shards as the dataset of the documentation."""
    ends = [round(1281167 * shard / 1024) for shard in range(1025)]
    return of_lengths({"train": np.diff(ends).tolist()})


@pytest.mark.parametrize("case", GOLDEN["seed_cases"], ids=lambda case: case["what"])
def test_rows_come_in_the_order_of_the_documentation(case: dict[str, Any], imagenet: Plain) -> None:
    sort = (lambda files: list(reversed(files))) if "reversed" in case["what"] else None
    asked = ReadConfig(
        interleave_cycle_length=case["cycle_length"],
        interleave_block_length=case["block_length"],
        experimental_interleave_sort_fn=sort,
    )

    rows = imagenet.as_dataset(case["what"].partition(",")[0], read_config=asked)

    assert [row["id"] for row in rows.skip(case["skip"]).take(case["take"])] == case["expected_ids"]


def test_the_order_is_that_of_the_arithmetic(small: Plain) -> None:
    files, rows = Interleave([5, 3, 8, 1, 6, 4, 2], 3, 2).at(np.arange(29))
    starts = [0, 5, 8, 16, 17, 0, 4]

    found = small.as_dataset("all", read_config=ReadConfig(interleave_cycle_length=3, interleave_block_length=2))

    assert [row["id"] for row in found] == [starts[file] + row for file, row in zip(files, rows, strict=True)]


# -- what is given back ------------------------------------------------------------------------------------------------


def test_without_a_read_config_rows_come_in_their_order_by_number(small: Plain) -> None:
    assert [row["id"] for row in small.as_dataset("train")] == list(range(23))
    assert [row["id"] for row in small.as_dataset("train", shuffle_files=False, read_config=None)] == list(range(23))


@pytest.mark.parametrize("asked", [{"shuffle_files": True}, {"read_config": ReadConfig()}])
def test_nests_of_splits_come_back_in_their_shape_file_stream(small: Plain, asked: dict[str, Any]) -> None:
    every = small.as_dataset(**asked)
    listed, (pair, _), named = small.as_dataset(["train", ("test", ReadInstruction("train", to=2)), {"a": "test[:1]"}], **asked)

    assert {name: sorted(row["id"] for row in stream) for name, stream in every.items()} == {
        "train": list(range(23)),
        "test": list(range(6)),
    }
    assert all(isinstance(each, IterableDataset) for each in (listed, pair, named["a"]))
    assert len(list(named["a"])) == 1


def test_what_is_no_read_config_is_refused(small: Plain) -> None:
    with pytest.raises(ArgumentTypeError, match="is not a ReadConfig"):
        small.as_dataset("train", read_config={"shuffle_seed": 1})


def test_a_config_that_was_changed_into_nonsense_is_refused_when_it_is_used(small: Plain) -> None:
    asked = ReadConfig()
    asked.interleave_block_length = 0
    with pytest.raises(ConfigurationError, match="interleave_block_length=0"):
        small.as_dataset("train", read_config=asked)


@pytest.mark.parametrize("split", ["train[:0]", "train[5:5]+test[6:]", "train[1shard]"])
def test_a_split_without_rows_is_refused(small: Plain, split: str) -> None:
    with pytest.raises(EmptySplitError, match="corresponds to no rows"):
        small.as_dataset(split, shuffle_files=True)


@settings(max_examples=60)
@given(st.integers(0, 30), st.integers(0, 30), st.sampled_from(["train", "train[3:]+test", "test+train+test"]))
def test_with_one_file_at_a_time_skip_and_take_are_a_slice(small: Plain, start: int, count: int, split: str) -> None:
    stream = small.as_dataset(split, read_config=ReadConfig(interleave_cycle_length=1, interleave_block_length=2))

    found = _ids(stream.skip(start).take(count))

    assert found == _ids(small.as_dataset(split))[start : start + count]


@pytest.mark.parametrize("format", ["numpy", "arrow"])
def test_batches_come_in_the_same_order(small: Plain, format: str) -> None:
    stream = small.as_dataset("all", read_config=ReadConfig(interleave_cycle_length=3, interleave_block_length=2))

    batches = list(stream.with_format(format).iter(4))

    assert np.concatenate([np.array(batch["id"]) for batch in batches]).tolist() == [row["id"] for row in stream]


# -- data in an order that is to be kept -------------------------------------------------------------------------------


@pytest.mark.parametrize("asked", [{"read_config": ReadConfig(interleave_cycle_length=16)}, {"shuffle_files": True}])
def test_data_that_was_not_shuffled_is_not_mixed(of_lengths: Callable[..., Plain], asked: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match=r"disable_shuffling.*enable_ordering_guard=False"):
        of_lengths(SMALL, disable_shuffling=True).as_dataset("train", **asked)


def test_data_that_was_not_shuffled_is_mixed_with_a_warning_where_the_guard_is_off(of_lengths: Callable[..., Plain]) -> None:
    asked = ReadConfig(interleave_cycle_length=2, interleave_block_length=1, enable_ordering_guard=False)
    with pytest.warns(UserWarning, match="interleave_cycle_length=2 does not keep"):
        stream = of_lengths({"train": [2, 2]}, disable_shuffling=True).as_dataset("train", read_config=asked)

    assert [row["id"] for row in stream] == [0, 2, 1, 3]


@pytest.mark.parametrize("cycle", [{}, {"interleave_cycle_length": None}, {"interleave_cycle_length": 1}])
def test_data_that_was_not_shuffled_is_read_file_by_file(of_lengths: Callable[..., Plain], cycle: dict[str, Any]) -> None:
    stream = of_lengths(SMALL, disable_shuffling=True).as_dataset("train", read_config=ReadConfig(**cycle))

    assert [row["id"] for row in stream] == list(range(23))


# -- files by a function, and by pipelines -----------------------------------------------------------------------------


def _trimmed(files: Any) -> list[FileInstruction]:
    """The files from the last on, the first left out, one twice, one without its first and last row."""
    _, *rest, last = files
    return [
        last,
        *reversed([file.replace(skip=file.skip + 1, take=file.num_examples - 2) for file in rest if file.num_examples > 2]),
        last,
    ]


@pytest.mark.parametrize("name", ["interleave_sort_fn", "experimental_interleave_sort_fn"])
def test_a_sort_function_says_what_is_read_and_in_which_order(small: Plain, name: str) -> None:
    asked = ReadConfig(interleave_cycle_length=1, add_row_id=True, **{name: _trimmed})

    rows = list(small.as_dataset("train", read_config=asked))

    last = list(range(17, 23))
    assert [row["id"] for row in rows] == [*last, *range(9, 15), 6, *last]
    assert rows[6]["row_id"] == "ds-train-00003-of-00006.arrow__1"


def test_pipelines_divide_the_files(small: Plain) -> None:
    class Context:
        num_input_pipelines, input_pipeline_id = 2, 1

    asked = ReadConfig(interleave_cycle_length=1, input_context=Context(), interleave_sort_fn=lambda files: files[::-1])

    assert [row["id"] for row in small.as_dataset("train", read_config=asked)] == [16, *range(5, 8)]


# -- row ids -----------------------------------------------------------------------------------------------------------


def test_ids_name_file_and_row_after_slices_skips_filters_and_shuffles(small: Plain) -> None:
    asked = ReadConfig(interleave_cycle_length=2, interleave_block_length=3, add_tfds_id=True, shuffle_seed=1)
    stream = small.as_dataset("train[2:]+test", shuffle_files=True, read_config=asked)
    starts = {"train": np.cumsum([0, *SMALL["train"]]).tolist(), "test": np.cumsum([0, *SMALL["test"]]).tolist()}

    changed = (
        stream.skip(3).filter(lambda row: row["id"] % 3 != 0).map(lambda row: {"more": 1}).shuffle(7, buffer_size=5).take(9)
    )
    rows = [row for index in range(2) for row in changed.shard(2, index)]

    assert len(rows) == 9
    for row in rows:
        name, _, number = row["tfds_id"].partition("__")
        shard = int(name.split("-")[2])
        assert (name, starts[row["split"]][shard] + int(number)) == (
            f"ds-{row['split']}-{shard:05d}-of-{len(SMALL[row['split']]):05d}.arrow",
            row["id"],
        )


@pytest.mark.parametrize("column", ["tfds_id", "row_id"])
def test_a_column_of_the_same_name_is_not_hidden(tmp_path: Path, column: str) -> None:
    builder = _built(tmp_path, {"train": [1]})
    manifest = read_manifest(builder._output_dir)
    assert manifest is not None
    manifest.info.features = Features({**FEATURES_FILE_STREAM, column: Value("string")})
    builder._manifest = manifest

    with pytest.raises(ConfigurationError, match=f"already has a column '{column}'"):
        builder.as_dataset("train", read_config=ReadConfig(add_tfds_id=True, add_row_id=True))


# -- files in random order ---------------------------------------------------------------------------------------------


def _shuffled(builder: Plain, split: str = "train", **asked: Any) -> IterableDataset:
    return builder.as_dataset(split, shuffle_files=True, read_config=ReadConfig(interleave_block_length=2, **asked))


def test_each_iteration_is_another_epoch(small: Plain) -> None:
    stream = _shuffled(small, shuffle_seed=5)
    epochs = [_ids(stream) for _ in range(6)]

    assert all(one != other for one, other in itertools.pairwise(epochs))
    assert all(sorted(epoch) == sorted(epochs[0]) for epoch in epochs)
    assert [_ids(again) for again in [_shuffled(small, shuffle_seed=5)] for _ in range(6)] == epochs
    assert stream.epoch == 5


def test_an_epoch_can_be_chosen(small: Plain) -> None:
    epochs = [_ids(stream) for stream in [_shuffled(small, shuffle_seed=5)] for _ in range(4)]
    stream = _shuffled(small, shuffle_seed=5)

    stream.set_epoch(2)

    assert [_ids(stream), _ids(stream)] == epochs[2:]


def test_repetitions_are_epochs(small: Plain) -> None:
    epochs = [_ids(stream) for stream in [_shuffled(small, shuffle_seed=5)] for _ in range(4)]
    twice = _shuffled(small, shuffle_seed=5).repeat(2)
    kept = _shuffled(small, shuffle_seed=5).filter(lambda row: True).repeat(2)

    assert [_ids(twice), _ids(twice)] == [epochs[0] + epochs[1], epochs[2] + epochs[3]]
    assert [_ids(kept), _ids(kept)] == [epochs[0] + epochs[1], epochs[2] + epochs[3]]
    assert _ids(_shuffled(small, shuffle_seed=5).repeat(None).take(60)) == [*itertools.chain(*epochs)][:60]


def test_files_of_the_next_epoch_are_read_beside_the_last(small: Plain) -> None:
    def read(builder: Plain, rows: int, **asked: Any) -> list[int]:
        asked = {"interleave_cycle_length": 2, "interleave_block_length": 2, **asked}
        stream = builder.as_dataset("train", read_config=ReadConfig(repeat_filenames=True, **asked))
        return [row["id"] for row in stream.take(rows)]

    long = read(small, 200)

    assert read(small, 100, interleave_cycle_length=1) == [*range(23)] * 4 + [*range(8)]
    assert long[:23] != [row["id"] for row in small.as_dataset("train", read_config=ReadConfig(interleave_cycle_length=2))]
    assert sorted(long[:150])[:7] == [0] * 7
    assert long[57:] == [
        row["id"]
        for row in small.as_dataset(
            "train",
            read_config=ReadConfig(interleave_cycle_length=2, interleave_block_length=2, repeat_filenames=True),
        )
        .skip(57)
        .take(143)
    ]


@pytest.mark.parametrize("seen", [False, True])
def test_files_without_end_are_divided_and_shuffled_like_others(small: Plain, seen: bool) -> None:
    def stream() -> IterableDataset:
        found = _shuffled(small, shuffle_seed=5, repeat_filenames=True)
        return found.map(lambda batch: batch, batched=True, batch_size=7) if seen else found

    whole = _ids(stream().take(300))
    parts = [_ids(stream().shard(3, index).take(100)) for index in range(3)]
    mixed = stream().shuffle(seed=1, buffer_size=20).batch(5).take(8)

    assert sorted(itertools.chain(*parts)) == sorted(whole)
    assert sorted(number for batch in mixed for number in batch["id"]) == sorted(number for _, number in whole[:40])


def test_files_without_end_resume_at_any_row(small: Plain) -> None:
    def stream() -> IterableDataset:
        return _shuffled(small, shuffle_seed=5, repeat_filenames=True, interleave_cycle_length=3)

    whole, rows = _ids(stream().take(200)), iter(stream())
    for place in range(0, 150, 5):
        other = stream()
        other.load_state_dict(rows.state_dict())
        assert _ids(itertools.islice(other, 50)) == whole[place : place + 50]
        list(itertools.islice(rows, 5))


@pytest.mark.parametrize("shuffles", [False, True])
def test_files_without_end_are_read_far_behind_at_once(small: Plain, shuffles: bool) -> None:
    """All of these would take for ever, if the rows before were planned one after the other."""

    def stream() -> IterableDataset:
        return small.as_dataset("train", shuffle_files=shuffles, read_config=ReadConfig(repeat_filenames=True, shuffle_seed=1))

    late = iter(stream().skip(10**15))
    first = [next(late) for _ in range(5)]
    state = late.state_dict()
    other = stream().skip(10**15)
    other.load_state_dict(state)

    assert list(itertools.islice(other, 30)) == list(itertools.islice(late, 30))
    assert _ids([*first, *stream().skip(10**15 + 5).take(9)]) == _ids(stream().take(10**15 + 14).skip(10**15))
    assert _ids(stream().skip(10**15).shard(2, 1).take(7)) == _ids(stream().skip(10**15).take(14))[1::2]
    parts = [_ids(stream().take(10**9).skip(10**9 - 40).shard(2, index)) for index in range(2)]
    assert parts[0] + parts[1] == _ids(stream().skip(10**9 - 40).take(40))


@pytest.mark.parametrize("contiguous", [False, True])
def test_parts_of_files_without_end_are_taken_before_functions_see_the_rows(small: Plain, contiguous: bool) -> None:
    seen: list[int] = []

    def kept(row: dict[str, Any]) -> bool:
        seen.append(row["id"])
        return row["id"] != 3

    whole = _ids(small.as_dataset("train", read_config=ReadConfig(repeat_filenames=True)).take(60))
    stream = small.as_dataset("train", read_config=ReadConfig(repeat_filenames=True)).filter(kept)
    part = list(itertools.islice(stream.shard(2, 1, contiguous=contiguous), 20))

    assert _ids(part) == [row for row in whole[1::2] if row[1] != 3][:20]
    assert seen[:23] == [number for _, number in whole[1:46:2]]


def test_one_order_for_all_epochs_can_be_asked_for(small: Plain) -> None:
    stream = _shuffled(small, shuffle_seed=5, shuffle_reshuffle_each_iteration=False)

    assert _ids(stream) == _ids(stream) == _ids(_shuffled(small, shuffle_seed=5))
    assert _ids(stream) != _ids(small.as_dataset("train", read_config=ReadConfig(interleave_block_length=2)))


def test_without_shuffled_files_every_epoch_is_the_same(small: Plain) -> None:
    stream = small.as_dataset("train", read_config=ReadConfig(shuffle_seed=5))
    first = _ids(stream)
    stream.set_epoch(3)

    assert _ids(stream) == first == _ids(stream)


def test_a_seed_that_nobody_gave_is_drawn_once_and_goes_with_the_state(small: Plain) -> None:
    np.random.seed(3)
    stream, other = _shuffled(small), _shuffled(small)
    epochs = [_ids(stream) for _ in range(3)]
    rows = iter(stream)
    first = [next(rows) for _ in range(7)]

    other.load_state_dict(json.loads(json.dumps(rows.state_dict())))

    assert _ids(first) + _ids(other) == _ids([*first, *rows])
    assert _ids(other) == _ids(stream)
    assert len({tuple(epoch) for epoch in epochs}) > 1


# -- resumed -----------------------------------------------------------------------------------------------------------


CONFIGS = st.builds(
    dict,
    interleave_cycle_length=st.integers(1, 9),
    interleave_block_length=st.integers(1, 9),
    shuffle_seed=st.sampled_from([None, 0, 7]),
    add_tfds_id=st.booleans(),
)
SPLITS = st.sampled_from(["train", "test", "train+test", "train[2:17]", "test+train[50%:]+test", "all"])


def _total(value: Any) -> int:
    """The sum of a number, or of the numbers of batches of batches."""
    return sum(map(_total, value)) if isinstance(value, list) else value


STEPS: dict[str, Callable[[IterableDataset], IterableDataset]] = {
    "skip": lambda stream: stream.skip(3),
    "take": lambda stream: stream.take(11),
    "filter": lambda stream: stream.filter(lambda row: _total(row["id"]) % 3 != 1),
    "map": lambda stream: stream.map(lambda batch: {"n": [len(batch["id"])] * len(batch["id"])}, batched=True, batch_size=4),
    "repeat": lambda stream: stream.repeat(3),
    "shuffle": lambda stream: stream.shuffle(seed=4, buffer_size=6),
    "batch": lambda stream: stream.batch(3),
    "shard": lambda stream: stream.shard(2, 1, contiguous=False),
    "part": lambda stream: stream.shard(2, 0),
}


def _stream(builder: Plain, split: str, asked: dict[str, Any], shuffles: bool, steps: list[str]) -> IterableDataset:
    stream = builder.as_dataset(split, shuffle_files=shuffles, read_config=ReadConfig(**asked))
    for step in steps:
        stream = STEPS[step](stream)
    return stream


@settings(max_examples=150)
@given(
    CONFIGS,
    SPLITS,
    st.booleans(),
    st.lists(st.sampled_from(sorted(STEPS)), max_size=3),
    st.lists(st.integers(0, 25), max_size=4),
)
def test_resumed_again_and_again_is_uninterrupted(
    small: Plain, asked: dict[str, Any], split: str, shuffles: bool, steps: list[str], stops: list[int]
) -> None:
    """Over three epochs: at the start, in the middle, at the very end, twice, each time by a stream that was made anew."""
    asked = {**asked, "shuffle_seed": asked["shuffle_seed"] or 0}
    whole = [list(stream) for stream in [_stream(small, split, asked, shuffles, steps)] for _ in range(3)]
    stream, found = _stream(small, split, asked, shuffles, steps), []
    for stop in stops:
        found += list(itertools.islice(stream, stop))
        state = json.dumps(stream.state_dict())
        assert len(state) < 10_000
        stream = _stream(small, split, asked, shuffles, steps)
        stream.load_state_dict(json.loads(state))
    found += list(stream)

    again = [list(stream) for _ in range(2)]

    assert [*found, *itertools.chain(*again)] == ([*itertools.chain(*whole)] if shuffles else whole[0] * 3)


@pytest.mark.parametrize("shuffles", [False, True])
@pytest.mark.parametrize(("cycle", "block"), [(1, 1), (2, 1), (2, 3), (3, 2), (16, 16), (16, 1)])
def test_at_every_row_the_iterator_goes_on_elsewhere(small: Plain, cycle: int, block: int, shuffles: bool) -> None:
    def stream() -> IterableDataset:
        asked = ReadConfig(interleave_cycle_length=cycle, interleave_block_length=block, shuffle_seed=3)
        return small.as_dataset("train+test[1:]", shuffle_files=shuffles, read_config=asked)

    whole = list(stream())
    rows = iter(stream())
    for place in range(len(whole) + 1):
        other = iter(stream())
        other.load_state_dict(json.loads(json.dumps(rows.state_dict())))
        assert list(other) == whole[place:]
        next(rows, None)


def test_an_iterator_that_has_begun_or_ended_goes_back(small: Plain) -> None:
    stream = _shuffled(small, shuffle_seed=1)
    rows = iter(stream)
    first = [next(rows) for _ in range(5)]
    state = rows.state_dict()
    rest = list(rows)

    rows.load_state_dict(state)

    assert list(rows) == rest
    assert len(first) + len(rest) == 23


@pytest.mark.parametrize("size", [1, 4, 7])
def test_batches_resume_behind_the_last_one(small: Plain, size: int) -> None:
    stream = _shuffled(small, shuffle_seed=1)
    batches = stream.iter(size)
    first = [next(batches), next(batches)]
    other = _shuffled(small, shuffle_seed=1)

    other.load_state_dict(batches.state_dict())

    assert [number for batch in first for number in batch["id"]] + [row["id"] for row in other] == [
        row["id"] for row in _shuffled(small, shuffle_seed=1)
    ]


def test_a_copy_in_another_process_goes_on(small: Plain) -> None:
    stream = _shuffled(small, shuffle_seed=1)
    rows = iter(stream)
    first = [next(rows) for _ in range(9)]
    other = pickle.loads(pickle.dumps(stream))

    other.load_state_dict(rows.state_dict())

    assert first + list(other) == list(_shuffled(small, shuffle_seed=1))


@pytest.mark.optional("torch")
@pytest.mark.parametrize("workers", [1, 3])
def test_workers_of_a_loader_share_the_files_and_resume(small: Plain, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from torch.utils import data

    class Worker:
        def __init__(self, id: int) -> None:
            self.id, self.num_workers = id, workers

    found = []
    for index in range(workers):
        monkeypatch.setattr(data, "get_worker_info", lambda index=index: Worker(index))
        stream = _shuffled(small, shuffle_seed=1)
        first = list(itertools.islice(stream, 3))
        other = _shuffled(small, shuffle_seed=1)
        other.load_state_dict(stream.state_dict())
        found += [*first, *other]

    assert sorted(_ids(found)) == sorted(_ids(small.as_dataset("train")))


@pytest.mark.parametrize(
    ("split", "shuffles", "asked", "message"),
    [
        ("train[:20]", True, {}, r"another split: it has train, but this stream has train\[:20\]"),
        ("train", False, {}, "another read config: it has shuffle_files=True, but this stream has shuffle_files=False"),
        ("train", True, {"shuffle_seed": 2}, "it has shuffle_seed=1, but this stream has shuffle_seed=2"),
        ("train", True, {"shuffle_seed": None}, "it has shuffle_seed=1, but this stream has shuffle_seed=None"),
        (
            "train",
            True,
            {"interleave_cycle_length": 3},
            "it has interleave_cycle_length=16, but this stream has interleave_",
        ),
        (
            "train",
            True,
            {"interleave_block_length": 1},
            "it has interleave_block_length=16, but this stream has interleave_",
        ),
        ("train", True, {"shuffle_reshuffle_each_iteration": False}, "it has shuffle_reshuffle_each_iteration=True"),
        ("train", True, {"add_tfds_id": True}, "it has add_tfds_id=False, but this stream has add_tfds_id=True"),
        ("train", True, {"repeat_filenames": True}, "it has repeat_filenames=False, but this stream has repeat_filenames=True"),
        ("test", True, {}, "another split: it has train, but this stream has test"),
        ("train+test", True, {}, r"another split: it has train, but this stream has train\+test"),
        ("test[:1]", False, {}, r"another split: it has train, but this stream has test\[:1\]"),
        (
            "train",
            True,
            {"interleave_sort_fn": lambda files: files[1:]},
            "this stream has files as chosen by a sort function",
        ),
    ],
)
def test_a_state_of_another_stream_is_refused_with_what_differs(
    small: Plain, split: str, shuffles: bool, asked: dict[str, Any], message: str
) -> None:
    state = small.as_dataset("train", shuffle_files=True, read_config=ReadConfig(shuffle_seed=1)).state_dict()
    other = small.as_dataset(split, shuffle_files=shuffles, read_config=ReadConfig(**{"shuffle_seed": 1, **asked}))

    with pytest.raises(StreamStateError, match=message):
        other.load_state_dict(state)
    with pytest.raises(StreamStateError, match=message):
        iter(other).load_state_dict(state)


def test_a_state_of_other_rows_is_refused(small: Plain, of_lengths: Callable[..., Plain]) -> None:
    other = of_lengths({"train": [23]})
    with pytest.raises(StreamStateError, match="another dataset: it has another ds with 23 rows"):
        other.as_dataset("train", shuffle_files=True).load_state_dict(
            small.as_dataset("train", shuffle_files=True).state_dict()
        )


def test_the_same_rows_by_another_expression_are_the_same(small: Plain) -> None:
    rows = iter(small.as_dataset("train", read_config=ReadConfig()))
    next(rows)
    other = small.as_dataset("train[:100%]", read_config=ReadConfig())

    other.load_state_dict(rows.state_dict())

    assert len(list(other)) == 22


# -- what is opened ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffles", [False, True])
@pytest.mark.parametrize("change", ["removed", "altered"])
def test_going_on_opens_the_files_that_are_open_there_and_no_other(tmp_path: Path, shuffles: bool, change: str) -> None:
    lengths = [5, 3, 8, 4, 6, 5, 7, 2]
    builder = _built(tmp_path, {"train": lengths})
    asked = ReadConfig(interleave_cycle_length=2, interleave_block_length=2, shuffle_seed=4, add_row_id=True)

    def stream() -> IterableDataset:
        return builder.as_dataset("train", shuffle_files=shuffles, read_config=asked)

    whole = list(stream())
    files = [row["row_id"].partition("__")[0] for row in whole]
    rows, states = iter(stream()), []
    for _ in whole:
        states.append(rows.state_dict())
        next(rows)

    for place, state in enumerate(states):
        begun = set(files[: place + 1])
        until = next((row for row in range(place, len(files)) if files[row] not in begun), len(files))
        hidden = [name for name in set(files) if name not in set(files[place:until])]
        other = stream()
        other.load_state_dict(state)
        with _Hidden(builder._output_dir, hidden, change):
            assert list(itertools.islice(other, until - place)) == whole[place:until]


def _named(row: dict[str, Any]) -> list[str]:
    """The ids of a row, or of a list of rows."""
    ids = row["row_id"]
    return ids if isinstance(ids, list) else [ids]


@pytest.mark.parametrize("step", ["batch", "part", "shard", "skip", "repeat", "map"])
@pytest.mark.parametrize(("cycle", "block"), [(1, 16), (2, 2), (3, 5)])
def test_behind_steps_too_going_on_opens_the_files_that_are_open_there(
    tmp_path: Path, step: str, cycle: int, block: int
) -> None:
    builder = _built(tmp_path, {"train": [5, 3, 8, 4, 6, 5, 7, 2]})
    asked = ReadConfig(interleave_cycle_length=cycle, interleave_block_length=block, add_row_id=True)
    plain = [row["row_id"] for row in builder.as_dataset("train", read_config=asked)]
    files = [named.partition("__")[0] for named in plain]

    def stream() -> IterableDataset:
        found = builder.as_dataset("train", read_config=asked)
        return found.map(lambda row: {"n": 1}) if step == "map" else STEPS[step](found)

    rows = iter(stream())
    while True:
        state = rows.state_dict()
        if (row := next(rows, None)) is None:
            return
        places = [plain.index(named) for named in _named(row)]
        other = stream()
        other.load_state_dict(state)
        hidden = [name for name in set(files) if name not in set(files[: max(places) + 1]) & set(files[min(places) :])]
        with _Hidden(builder._output_dir, hidden, "removed"):
            assert next(iter(other)) == row


class _Hidden:
    """Files that cannot be read for a while."""

    def __init__(self, folder: str, names: list[str], change: str) -> None:
        self.paths, self.change = [os.path.join(folder, name) for name in names], change

    def __enter__(self) -> None:
        for path in self.paths:
            os.rename(path, f"{path}.hidden")
            if self.change == "altered":
                Path(path).write_bytes(bytes(os.path.getsize(f"{path}.hidden")))

    def __exit__(self, *_: object) -> None:
        for path in self.paths:
            os.replace(f"{path}.hidden", path)


def test_a_file_that_is_gone_is_named_when_it_is_its_turn(tmp_path: Path) -> None:
    builder = _built(tmp_path, {"train": [3, 3]})
    rows = iter(builder.as_dataset("train", read_config=ReadConfig(interleave_cycle_length=1)))
    os.remove(os.path.join(builder._output_dir, "ds-train-00001-of-00002.arrow"))

    assert [next(rows)["id"] for _ in range(3)] == [0, 1, 2]
    with pytest.raises(FileNotFoundError) as caught:
        next(rows)
    assert str(caught.value.file).endswith("ds-train-00001-of-00002.arrow")
