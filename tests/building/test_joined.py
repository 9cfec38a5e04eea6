import itertools
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.building.prepared import ReadOnlyBuilder, builder_from_directories
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, DatasetNotFoundError, RowIdError
from datasets_core.load import load_dataset_builder
from datasets_core.stream.order.files import ReadConfig


def prepare(folder: Path, splits: dict[str, list[Any]], **options: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for split, rows in splits.items():
        Dataset.from_dict({"a": rows}).to_parquet(folder / f"{split}.parquet")
    files = {split: str(folder / f"{split}.parquet") for split in splits}
    builder = load_dataset_builder("parquet", data_files=files, cache_dir=folder, version=options.pop("version", "1.0.0"))
    builder.download_and_prepare(folder / "built", **options)
    return folder / "built"


@pytest.fixture
def two(tmp_path: Path) -> list[Path]:
    return [
        prepare(tmp_path / "x" / "one", {"train": [1, 2, 3], "test": [8]}),
        prepare(tmp_path / "x" / "two", {"train": [4, 5], "dev": [9]}),
    ]


def test_splits_of_the_same_name_are_joined(two: list[Path]) -> None:
    builder = builder_from_directories(two)
    splits = {name: builder.as_dataset(name)["a"][:] for name in builder.info.splits or ()}
    assert splits == {"train": [1, 2, 3, 4, 5], "test": [8], "dev": [9]}
    assert builder.as_dataset("train[2:4]+dev")["a"][:] == [3, 4, 9]
    assert builder.info.splits is not None
    assert builder.info.splits["train"].num_examples == 5
    assert builder.info.splits["train[1:]"].num_shards == 2
    assert builder.version == "1.0.0"
    builder.download_and_prepare(verification_mode="all_checks")


def test_row_ids_tell_the_folders_apart(two: list[Path]) -> None:
    builder = builder_from_directories(two)
    rows = builder.as_dataset("train")
    ids = rows.row_ids()
    assert len(set(ids)) == 5
    assert [rows.locate(each) for each in ids] == list(range(5))
    assert builder.info.splits is not None
    assert [builder.info.splits.locate(each) for each in ids] == [("train", row) for row in range(5)]
    assert rows.locate(builder.info.splits["train"].row_id(3)) == 3


def test_a_row_has_one_id_in_slices_streams_and_the_record_of_the_splits(two: list[Path]) -> None:
    builder = builder_from_directories(two)
    splits = builder.info.splits
    assert splits is not None
    rows = builder.as_dataset("train")
    ids = [splits["train"].row_id(row) for row in range(5)]
    assert ids[0].startswith("one/built/") and ids[3].startswith("two/built/")
    assert rows.row_ids() == ids
    assert [row["row_id"] for row in builder.as_dataset("train", read_config=ReadConfig(add_row_id=True))] == ids
    for start, stop in itertools.combinations(range(6), 2):
        part = builder.as_dataset(f"train[{start}:{stop}]")
        sliced = splits[f"train[{start}:{stop}]"]
        assert part.row_ids() == rows.select(range(start, stop)).row_ids() == ids[start:stop]
        assert [sliced.row_id(row) for row in range(stop - start)] == ids[start:stop]
        assert [part.locate(each) for each in ids[start:stop]] == list(range(stop - start))
    assert [splits.locate(each) for each in ids] == [("train", row) for row in range(5)]
    assert builder.as_dataset("train", in_memory=True).row_ids() == ids
    assert pickle.loads(pickle.dumps(rows.select(range(3, 5)))).row_ids() == ids[3:]


def test_an_id_of_one_of_the_folders_means_no_row_of_all(two: list[Path]) -> None:
    builder = builder_from_directories(two)
    own = builder_from_directories(two[:1]).as_dataset("train").row_id(1)
    assert builder.info.splits is not None
    for ask in (builder.as_dataset("train").locate, builder.info.splits.locate, builder.info.splits["train"].locate):
        with pytest.raises(RowIdError, match=r"one/built/.*two/built/"):
            ask(own)
    for ask in (builder.as_dataset("train[3:]").locate, builder.info.splits["train[3:]"].locate):
        with pytest.raises(RowIdError):
            ask(own)


def test_the_order_is_that_of_the_folders(two: list[Path]) -> None:
    assert builder_from_directories(reversed(two)).as_dataset("train")["a"][:] == [4, 5, 1, 2, 3]


def test_one_folder_is_itself(two: list[Path]) -> None:
    for given_ in (two[0], [str(two[0])]):
        assert builder_from_directories(given_).cache_dir == str(two[0])  # type: ignore[arg-type]


def test_a_folder_may_stand_in_another(tmp_path: Path) -> None:
    outer = prepare(tmp_path, {"train": [1]})
    inner = prepare(outer / "more", {"train": [2]})
    assert builder_from_directories([outer, inner]).as_dataset("train")["a"][:] == [1, 2]


def test_a_version_is_kept_where_all_have_it(two: list[Path], tmp_path: Path) -> None:
    other = prepare(tmp_path / "three", {"train": [6]}, version="2.0.0")
    builder = builder_from_directories([two[0], other])
    assert (builder.info.version, builder.info.full_name) == (None, "parquet")
    assert builder.as_dataset("train")["a"][:] == [1, 2, 3, 6]


def test_a_store_joins_too(two: list[Path]) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    for name, folder in zip("ab", two, strict=True):
        for path in folder.iterdir():
            store.pipe_file(f"/joined/{name}/{path.name}", path.read_bytes())
    builder = builder_from_directories(["memory://joined/a", "memory://joined/b"])
    assert builder.as_dataset("train[1:4]")["a"][:] == [2, 3, 4]
    with pytest.raises(ConfigurationError, match="have no folder in common"):
        builder_from_directories(["memory://joined/a", two[1]])
    store.rm("/joined", recursive=True)


def test_folders_that_do_not_fit_are_refused(two: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No folder is given"):
        builder_from_directories([])
    with pytest.raises(ConfigurationError, match="is given twice"):
        builder_from_directories([two[0], two[1], str(two[0])])
    with pytest.raises(ConfigurationError, match=r"different features\. Join"):
        builder_from_directories([two[0], prepare(tmp_path / "text", {"train": ["x"]})])
    with pytest.raises(ConfigurationError, match=r"different file formats \(arrow and parquet\)"):
        builder_from_directories([two[0], prepare(tmp_path / "parquet", {"train": [1]}, file_format="parquet")])
    with pytest.raises(DatasetNotFoundError):
        builder_from_directories([two[0], tmp_path / "nothing"])


@pytest.fixture(scope="module")
def joined(tmp_path_factory: pytest.TempPathFactory) -> ReadOnlyBuilder:
    folder = tmp_path_factory.mktemp("joined")
    return builder_from_directories([prepare(folder / str(n), {"train": list(range(10 * n, 10 * n + n))}) for n in (1, 3, 4)])


@settings(max_examples=30, deadline=None)
@given(bounds=st.tuples(st.integers(-10, 10), st.integers(-10, 10)))
def test_a_slice_is_that_of_all_rows(joined: ReadOnlyBuilder, bounds: tuple[int, int]) -> None:
    whole = [10, 30, 31, 32, 40, 41, 42, 43]
    assert joined.as_dataset(f"train[{bounds[0]}:{bounds[1]}]")["a"][:] == whole[bounds[0] : bounds[1]]
