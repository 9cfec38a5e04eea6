"""`as_numpy` of streams, datasets, values and nests of them."""

import json
import pathlib
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, EmptySplitError, UnknownColumnError, UnknownSplitError
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.tfds.reading import mapped


def test_anything_with_values_becomes_arrays_and_bytes(rows: Any) -> None:
    dataset = Dataset.from_dict({"a": ["x"]})
    found = tfds.as_numpy({"s": rows.take(1), "d": dataset, "i": dataset.to_iterable_dataset(), "v": ["é", np.arange(2)]})
    assert len(list(found["s"])) == 1
    assert [*found["d"], *found["i"]] == [{"a": b"x"}, {"a": b"x"}]
    assert (found["v"][0], found["v"][1].tolist()) == ("é".encode(), [0, 1])


def test_the_result_has_the_length_of_the_stream_and_can_be_read_again(rows: Any) -> None:
    found = tfds.as_numpy(rows)
    assert len(found) == len(list(found)) == len(list(found)) == 10


def test_functions_are_no_values() -> None:
    with pytest.raises(ArgumentTypeError):
        tfds.as_numpy(len)


def test_pictures_of_the_library_are_arrays_too() -> None:
    pytest.importorskip("PIL")
    dataset = Dataset.from_dict({"a": [np.zeros((2, 3), np.uint8)]}, Features({"a": Image()}))
    (row,) = tfds.as_numpy(dataset)
    assert (row["a"].shape, row["a"].dtype) == ((2, 3, 1), np.uint8)


# What builders give of their splits: the order of TFDS, supervised tuples, batches, decoders, nests, ids.

ORDER = json.loads((pathlib.Path(__file__).parents[1] / "building/golden/tfds_reading_order.json").read_text())


def _is_even(lengths: list[int]) -> bool:
    """Whether `num_shards=` makes shards of these lengths."""
    ends = [round(sum(lengths) * i / len(lengths)) for i in range(len(lengths) + 1)]
    return lengths == np.diff(ends).tolist()


def _interleaved() -> list[Any]:
    """Cases of one split, in an order that two lengths decide."""
    cases = [
        case for case in ORDER["interleave_cases"] if set(case["shard_lengths"]) == {"train"} and "ids" in case["expected"]
    ]
    return [
        case
        for case in cases
        if _is_even(case["shard_lengths"]["train"])
        and set(case["read_config"]) <= {"interleave_cycle_length", "interleave_block_length"}
    ]


@pytest.mark.parametrize("case", _interleaved()[:12], ids=lambda case: f"{case['shard_lengths']['train']}{case['read_config']}")
def test_files_are_read_in_turn_as_tfds_reads_them(case: Any, data_dir: str) -> None:
    lengths = case["shard_lengths"]["train"]

    class Counted(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"x": np.int64})

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            for number in range(sum(lengths)):
                yield number, {"x": number}

    builder = Counted(data_dir=data_dir)
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(num_shards=len(lengths)))
    stored = builder.as_data_source("train")["x"][:]
    found = builder.as_dataset(case["split"], read_config=tfds.ReadConfig(**case["read_config"]))
    assert [row["x"] for row in found] == [stored[place] for place in case["expected"]["ids"]]


def test_splits_come_in_the_nest_in_which_they_are_asked_for(numbers: Any, data_dir: str) -> None:
    found = tfds.load("numbers", split=["train[:3]", ("test", {"a": "train+test"})], data_dir=data_dir)
    assert mapped(len, found) == [3, (4, {"a": 14})]
    assert mapped(len, tfds.load("numbers", data_dir=data_dir)) == {"train": 10, "test": 4}


def test_even_splits_load(numbers: Any, data_dir: str) -> None:
    parts = tfds.load("numbers", split=tfds.even_splits("train", n=3), data_dir=data_dir)
    assert [len(part) for part in parts] == [4, 3, 3]
    assert sorted(row["number"] for part in parts for row in part) == list(range(10))


def test_supervised_rows_are_tuples(numbers: Any, data_dir: str) -> None:
    rows = tfds.load("numbers", split="train", data_dir=data_dir, as_supervised=True)
    text, even = next(iter(rows))
    assert even == int(int(text[1:]) % 2 == 0)
    assert next(iter(rows.map(lambda text, even: (text, even * 10)))) == (text, even * 10)


def test_a_dataset_without_supervised_keys_says_so(data_dir: str) -> None:
    class Plain(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"
        _split_generators, _generate_examples = (lambda self, dl: {"train": [(0, {"x": 1})]}), None

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"x": np.int64})

    with pytest.raises(ConfigurationError, match="supervised"):
        tfds.load("plain", split="train", data_dir=data_dir, as_supervised=True)


def test_all_rows_come_at_once(numbers: Any, data_dir: str) -> None:
    found = tfds.load("numbers", split="train", data_dir=data_dir, batch_size=-1)
    assert sorted(found["number"].tolist()) == list(range(10))
    assert found["number"].dtype == np.int64
    assert tfds.as_numpy(found)["text"][0] == f"n{found['number'][0]}".encode()
    text, even = tfds.load("numbers", split="train", data_dir=data_dir, batch_size=-1, as_supervised=True)
    assert (len(text), even.dtype) == (10, np.int64)


def test_rows_come_in_batches(numbers: Any, data_dir: str) -> None:
    batches = list(tfds.load("numbers", split="train", data_dir=data_dir, batch_size=4))
    assert [len(batch["number"]) for batch in batches] == [4, 4, 2]


@pytest.mark.parametrize("size", [0, -2, 1.5])
def test_batches_of_no_size_are_refused(size: Any, numbers: Any, data_dir: str) -> None:
    with pytest.raises(ConfigurationError):
        tfds.load("numbers", split="train", data_dir=data_dir, batch_size=size)


def test_images_are_arrays_or_undecoded_or_left_out(data_dir: str) -> None:
    class Pictures(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"image": tfds.features.Image(shape=(2, 3, 1)), "x": np.int64})

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": self._generate_examples()}

        def _generate_examples(self) -> Any:
            yield 0, {"image": np.full((2, 3, 1), 7, np.uint8), "x": 1}

    (row,) = tfds.load("pictures", split="train", data_dir=data_dir)
    assert row["image"].shape == (2, 3, 1)
    (skipped,) = tfds.load("pictures", split="train", data_dir=data_dir, decoders={"image": tfds.decode.SkipDecoding()})
    assert skipped["image"][:4] == b"\x89PNG"
    (part,) = tfds.load("pictures", split="train", data_dir=data_dir, decoders=tfds.decode.PartialDecoding({"x": True}))
    assert part == {"x": 1}
    assert tfds.data_source("pictures", split="train", data_dir=data_dir)[0]["image"].dtype == np.uint8
    with pytest.raises(UnknownColumnError):
        tfds.load("pictures", split="train", data_dir=data_dir, decoders={"picture": tfds.decode.SkipDecoding()})


def test_row_ids_lead_back_to_rows(numbers: Any, data_dir: str) -> None:
    rows = tfds.load("numbers", split="train", data_dir=data_dir, read_config=tfds.ReadConfig(add_tfds_id=True))
    found = list(tfds.as_numpy(rows.skip(4)))
    ids = [row["tfds_id"] for row in found]
    assert all(isinstance(each, bytes) for each in ids)
    assert [row["number"] for row in rows.rows(ids)] == [row["number"] for row in found]
    assert [rows.locate(each) for each in ids] == list(range(4, 10))


def test_files_in_random_order_come_in_another_one_each_time(data_dir: str) -> None:
    class Shuffled(tfds.core.GeneratorBasedBuilder):
        VERSION = "1.0.0"

        def _info(self) -> Any:
            return tfds.core.DatasetInfo(builder=self, features={"x": np.int64})

        def _split_generators(self, dl_manager: Any) -> Any:
            return {"train": ((number, {"x": number}) for number in range(200))}

        _generate_examples = None

    kwargs = {"download_config": tfds.download.DownloadConfig(num_shards=50)}
    config = tfds.ReadConfig(shuffle_seed=3, interleave_cycle_length=1)
    one, other = (
        tfds.load(
            "shuffled",
            split="train",
            data_dir=data_dir,
            shuffle_files=True,
            read_config=config,
            download_and_prepare_kwargs=kwargs,
        )
        for _ in range(2)
    )
    first, second = [[row["x"] for row in one] for _ in range(2)]
    assert first != second
    assert [[row["x"] for row in other] for _ in range(2)] == [first, second]


def test_what_is_not_there_is_said(numbers: Any, data_dir: str) -> None:
    with pytest.raises(UnknownSplitError):
        tfds.load("numbers", split="tset", data_dir=data_dir)
    with pytest.raises(EmptySplitError):
        tfds.load("numbers", split="train[10:]", data_dir=data_dir)
    with pytest.raises(ConfigurationError):
        tfds.load("numbers", split="train", data_dir=data_dir, read_config={"interleave_cycle_length": 1})
