from pathlib import Path

import pytest

from datasets_core.building.prepared import ReadOnlyBuilder, builder_from_directory
from datasets_core.building.tfds_folders.description import Conversion
from datasets_core.errors import EmptySplitError, UnknownSplitError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"


@pytest.fixture
def builder(tmp_path: Path) -> ReadOnlyBuilder:
    found = builder_from_directory(GOLDEN / "parts" / "en" / "1.2.0")
    found.conversion = Conversion(str(tmp_path / "cache"))
    return found


def test_streams_convert_nothing(builder: ReadOnlyBuilder, tmp_path: Path) -> None:
    streams = builder.as_streaming_dataset()
    assert [len(list(streams[name])) for name in ("train", "test", "more-1")] == [70, 7, 3]
    assert len(list(builder.as_dataset("train", shuffle_files=True))) == 70
    assert not (tmp_path / "cache").exists()
    assert len(builder.as_dataset("train")) == 70 and (tmp_path / "cache").exists()


def test_shuffled_and_divided_streams_have_each_row_once_and_go_on(builder: ReadOnlyBuilder) -> None:
    stream = builder.as_streaming_dataset("train").shuffle(seed=3, buffer_size=20)
    whole = [row["n"] for row in stream]
    assert sorted(whole) == list(range(70)) and whole != [row["n"] for row in builder.as_streaming_dataset("train")]
    rows = iter(stream)
    for _ in range(33):
        next(rows)
    other = builder.as_streaming_dataset("train").shuffle(seed=3, buffer_size=20)
    other.load_state_dict(rows.state_dict())
    assert [row["n"] for row in other] == whole[33:]
    parts = [builder.as_streaming_dataset("train").shard(3, index) for index in range(3)]
    assert sorted(row["n"] for part in parts for row in part) == list(range(70))


def test_a_stream_of_what_was_converted_has_the_same_order(builder: ReadOnlyBuilder) -> None:
    direct = builder.as_streaming_dataset("train").shuffle(seed=3)
    built = builder.as_dataset("train").to_iterable_dataset().shuffle(seed=3)
    assert list(direct) == list(built)


def test_rows_are_cast_to_the_features_that_are_wanted(builder: ReadOnlyBuilder) -> None:
    builder.wanted = Features({"n": Value("int8"), "name": Value("string")})
    assert builder.as_dataset("test").features == builder.as_streaming_dataset("test").features == builder.wanted


def test_splits_that_do_not_exist_are_refused(builder: ReadOnlyBuilder) -> None:
    for read in (builder.as_streaming_dataset, builder.as_dataset):
        with pytest.raises(UnknownSplitError, match="valid"):
            read("valid")
    with pytest.raises(EmptySplitError):
        builder.as_dataset("train[3:3]", shuffle_files=True)
    assert list(builder.as_streaming_dataset("train[3:3]")) == []
