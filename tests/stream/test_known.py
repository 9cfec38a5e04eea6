"""What is known of a stream."""

from datasets_core.dataset.dataset import Dataset
from datasets_core.features.base import List, Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo, SupervisedKeysData
from datasets_core.stream.iterable import IterableDataset

INFO = DatasetInfo(
    description="numbers",
    citation="@me",
    homepage="https://example.org",
    license="MIT",
    builder_name="csv",
    config_name="default",
    version="1.0.0",  # type: ignore[arg-type]
    supervised_keys=SupervisedKeysData("a", "b"),
    download_size=3,
    dataset_size=4,
    size_in_bytes=7,
)
STREAM = IterableDataset.from_dict({"a": [1, 2], "b": ["x", "y"]}, info=INFO, split="train", num_shards=2)


def test_a_stream_repeats_its_info() -> None:
    names = ["description", "citation", "homepage", "license", "builder_name", "config_name", "download_checksums"]
    names += ["download_size", "dataset_size", "size_in_bytes", "supervised_keys", "version"]
    assert [getattr(STREAM, name) for name in names] == [getattr(STREAM.info, name) for name in names]
    assert (STREAM.description, STREAM.split, STREAM.num_shards, STREAM.n_shards) == ("numbers", "train", 2, 2)


def test_steps_say_what_becomes_of_the_columns() -> None:
    assert (STREAM.column_names, STREAM.num_columns) == (["a", "b"], 2)
    assert STREAM.batch(2).features == {"a": List(Value("int64")), "b": List(Value("string"))}
    assert STREAM.filter(None).select_columns("b").rename_column("b", "c").column_names == ["c"]
    assert STREAM.add_column("c", [1.5, 2.5]).cast_column("a", Value("int8")).features == {
        "a": Value("int8"), "b": Value("string"), "c": Value("float64"),
    }  # fmt: skip


def test_behind_a_function_columns_are_unknown_unless_features_say_them() -> None:
    stream = STREAM.map(lambda row: {"c": 1})
    wanted = Features({"a": Value("int64"), "b": Value("string"), "c": Value("int8")})
    assert (stream.features, stream.column_names, stream.num_columns) == (None, None, None)
    assert stream.cast(wanted).features == wanted == STREAM.map(lambda row: {"c": 1}, features=wanted).features


def test_a_step_leaves_the_info_of_the_stream_before_it_alone() -> None:
    STREAM.remove_columns("a")
    assert list(STREAM.info.features or ()) == ["a", "b"]
    dataset = Dataset.from_dict({"a": [1]})
    dataset.to_iterable_dataset().rename_column("a", "b")
    assert list(dataset.features) == ["a"]
