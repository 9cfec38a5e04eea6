"""Tests of datasets_core/building/prepared.py."""

import itertools
import os
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import tfds
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.folders import tfds_manifest
from datasets_core.building.prepared import (
    ConvertedRecords,
    ReadOnlyBuilder,
    builder_from_directories,
    builder_from_directory,
    converted_rows,
    folder_of_dataset,
)
from datasets_core.building.tfds_folders.description import Conversion
from datasets_core.building.tfds_folders.folder import TfdsManifest
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    DatasetBuildError,
    DatasetNotFoundError,
    EmptySplitError,
    ManifestError,
    RowIdError,
    UnknownSplitError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.stream.order.files import ReadConfig


@pytest.fixture
def made(tmp_path: Path) -> DatasetBuilder:
    for split, rows in {"train": [1, 2, 3], "test": [4]}.items():
        Dataset.from_dict({"a": rows}).to_parquet(tmp_path / f"{split}.parquet")
    files = {split: str(tmp_path / f"{split}.parquet") for split in ("train", "test")}
    builder = load_dataset_builder("parquet", data_files=files, cache_dir=tmp_path / "cache", version="1.2.0")
    builder.download_and_prepare()
    for path in files.values():
        Path(path).unlink()
    return builder


def test_a_folder_opens_without_what_made_it(made: DatasetBuilder) -> None:
    builder = builder_from_directory(made.cache_dir)
    assert isinstance(builder, ReadOnlyBuilder)
    assert (builder.name, builder.dataset_name, builder.config.name) == ("parquet", "parquet", "default")
    assert builder.version == builder.canonical_version == "1.2.0"
    assert builder.versions == ["1.2.0"]
    assert (builder.supported_versions, builder.release_notes) == ([], {})
    assert builder.info.full_name == builder.label == "parquet/1.2.0"
    assert builder.cache_dir == made.cache_dir
    assert str(builder) == f"ReadOnlyBuilder(parquet/1.2.0, in {made.cache_dir})"
    assert builder.as_dataset("train[1:]+test")["a"][:] == [2, 3, 4]
    assert isinstance(builder.as_dataset(), DatasetDict)
    with pytest.raises(UnknownSplitError) as caught:
        builder.as_dataset("dev")
    assert caught.value.name == "dev"


def test_the_folder_of_a_version_in_the_cache_opens_too(made: DatasetBuilder, tmp_path: Path) -> None:
    version = Path(made.cache_dir).parent
    assert builder_from_directory(version).cache_dir == made.cache_dir
    shutil.copytree(made.cache_dir, version / "other")
    with pytest.raises(ConfigurationError, match="was prepared 2 times"):
        builder_from_directory(version)


def test_preparing_checks_and_builds_nothing(made: DatasetBuilder, tmp_path: Path) -> None:
    builder = builder_from_directory(made.cache_dir)
    builder.download_and_prepare()
    builder.download_and_prepare(made.cache_dir, num_proc=2, verification_mode="all_checks")
    for changed in ({"download_mode": "force_redownload"}, {"output_dir": tmp_path / "elsewhere"}):
        with pytest.raises(DatasetBuildError, match="its code is not available to build it again"):
            builder.download_and_prepare(**changed)
    for hook in (lambda: builder._split_generators(None), lambda: builder.generate({})):
        with pytest.raises(DatasetBuildError, match="its code is not available"):
            hook()
    (shard,) = Path(made.cache_dir).glob("*-test-*.arrow")
    data = bytearray(shard.read_bytes())
    data[len(data) // 2] ^= 1
    shard.write_bytes(data)
    builder.download_and_prepare()
    with pytest.raises(DamagedShardError, match="sha256"):
        builder.download_and_prepare(verification_mode="all_checks")
    shard.unlink()
    with pytest.raises(DamagedShardError, match="the shard is missing"):
        builder.download_and_prepare()


def test_an_output_folder_and_a_store_open(made: DatasetBuilder, tmp_path: Path) -> None:
    shutil.copytree(made.cache_dir, tmp_path / "data" / "birds" / "en" / "1.2.0")
    assert builder_from_directory(f"file://{tmp_path}/data/birds/en/1.2.0").as_dataset("test")["a"][:] == [4]
    import fsspec

    store = fsspec.filesystem("memory")
    for path in Path(made.cache_dir).iterdir():
        store.pipe_file(f"/birds/{path.name}", path.read_bytes())
    builder = builder_from_directory("memory://birds/")
    builder.download_and_prepare(verification_mode="all_checks")
    assert builder.as_dataset("train[:1]")["a"][:] == [1]
    store.rm("/birds", recursive=True)


def test_a_folder_above_names_the_versions_below(made: DatasetBuilder, tmp_path: Path) -> None:
    version = Path(made.cache_dir).parent
    shutil.copytree(version, version.with_name("1.10.0"))
    version.with_name("1.20.0").mkdir()  # no dataset
    with pytest.raises(DatasetNotFoundError, match=r"is not the folder of a version\. Pass one.*: \S*1\.10\.0, \S*1\.2\.0\.$"):
        builder_from_directory(tmp_path / "cache" / "parquet")


def test_a_folder_without_a_dataset_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nothing", tmp_path / "nothing" / "1.0.0"):
        with pytest.raises(DatasetNotFoundError, match="There is no prepared dataset in"):
            builder_from_directory(folder)
    (tmp_path / "dataset_info.json").write_text("{}")
    with pytest.raises(DatasetNotFoundError, match=r"was written neither by this library nor by.*load_dataset"):
        builder_from_directory(tmp_path)
    (tmp_path / "dataset_info.json").write_text("{")
    with pytest.raises(ManifestError):
        builder_from_directory(tmp_path)
    for value in ("", None):
        with pytest.raises(ConfigurationError, match="Pass the folder"):
            builder_from_directory(value)  # type: ignore[arg-type]


def test_a_folder_is_absolute_and_a_url_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of_dataset("a/") == str(tmp_path / "a")
    assert folder_of_dataset("s3://bucket/a/") == "s3://bucket/a"


# converted

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"


@pytest.fixture
def folder(tmp_path: Path) -> str:
    return str(shutil.copytree(GOLDEN / "parts" / "en" / "1.2.0", tmp_path / "data"))


@pytest.fixture
def how(tmp_path: Path) -> Conversion:
    return Conversion(str(tmp_path / "cache"))


def manifest(folder: str) -> TfdsManifest:
    found = tfds_manifest(folder)
    assert isinstance(found, TfdsManifest)
    return found


def numbers(folder: str, split: str, how: Conversion) -> list[int]:
    table, _ = converted_rows(folder, manifest(folder), split, how)
    return [number for batch in table.batches() for number in batch.column("n").to_pylist()]


def converted(how: Conversion) -> list[str]:
    return sorted(os.listdir(Path(str(how.cache_dir), "tfds_folder")))


def test_only_the_splits_that_are_read_are_converted(folder: str, how: Conversion) -> None:
    whole = numbers(folder, "train", how)
    assert converted(how) == ["parts-en-train"] and sorted(whole) == list(range(70))
    assert numbers(folder, "train[20:50]+train[:2]", how) == whole[20:50] + whole[:2]
    assert numbers(folder, "train[1shard]", how) == whole[23:47]
    assert sorted(numbers(folder, "test+more-1", how)) == [0, 0, 1, 1, 2, 2, 3, 4, 5, 6]
    assert converted(how) == ["parts-en-more-1", "parts-en-test", "parts-en-train"]


def test_no_rows_take_no_conversion(folder: str, how: Conversion) -> None:
    assert numbers(folder, "train[5:5]", how) == [] and not os.path.exists(str(how.cache_dir))


def test_a_changed_file_is_converted_again(folder: str, how: Conversion) -> None:
    before = numbers(folder, "test", how)
    for number in range(3):
        shutil.copy(
            f"{folder}/parts-more-1.tfrecord-{number:05d}-of-00003", f"{folder}/parts-test.tfrecord-{number:05d}-of-00003"
        )
    info = Path(folder, "dataset_info.json")
    info.write_text(info.read_text().replace('"2",\n        "3",\n        "2"', '"1", "1", "1"'))
    assert len(before) == 7 and sorted(numbers(folder, "test", how)) == [0, 1, 2]


def test_a_conversion_is_used_again_unless_it_is_forced(folder: str, how: Conversion) -> None:
    builder = ConvertedRecords(folder, manifest(folder), "test", cache_dir=how.cache_dir)
    numbers(folder, "test", how)
    before = os.stat(os.path.join(builder.cache_dir, "dataset_info.json")).st_mtime_ns
    numbers(folder, "test", how)
    assert os.stat(os.path.join(builder.cache_dir, "dataset_info.json")).st_mtime_ns == before
    numbers(folder, "test", Conversion(how.cache_dir, is_forced=True))
    assert os.stat(os.path.join(builder.cache_dir, "dataset_info.json")).st_mtime_ns > before


def test_several_processes_convert_the_files_of_a_split(folder: str, how: Conversion) -> None:
    one = numbers(folder, "train", how)
    assert numbers(folder, "train", Conversion(how.cache_dir, num_proc=2, is_forced=True)) == one


def test_a_file_that_is_missing_is_told_by_name(folder: str, how: Conversion) -> None:
    os.unlink(f"{folder}/parts-train.tfrecord-00001-of-00003")
    with pytest.raises(DamagedShardError) as caught:
        numbers(folder, "train", how)
    assert str(caught.value.file).endswith("parts-train.tfrecord-00001-of-00003")


def test_a_split_that_does_not_exist_is_refused(folder: str, how: Conversion) -> None:
    with pytest.raises(UnknownSplitError):
        numbers(folder, "valid", how)


# joined


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
    with pytest.raises(ConfigurationError, match="have no common parent folder"):
        builder_from_directories(["memory://joined/a", two[1]])
    store.rm("/joined", recursive=True)


def test_folders_that_do_not_fit_are_refused(two: list[Path], tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No folder was given"):
        builder_from_directories([])
    with pytest.raises(ConfigurationError, match="was given twice"):
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


# prepared hub


def files_of(name: str) -> dict[str, bytes]:
    return {path.relative_to(GOLDEN).as_posix(): path.read_bytes() for path in (GOLDEN / name).rglob("*") if path.is_file()}


def test_a_folder_of_the_hub_is_read_as_one_of_this_disk(hub: Any) -> None:
    hub.repo("org/root", files_of("parts") | files_of("labels"))
    own = builder_from_directory(GOLDEN / "parts" / "en" / "1.2.0")
    for opened in (builder_from_directory, tfds.builder_from_directory):
        found: Any = opened("hf://datasets/org/root/parts/en/1.2.0")
        assert found.info.features == own.info.features and found.info.splits == own.info.splits
    assert list(builder_from_directory("hf://datasets/org/root@main/labels/1.0.0").as_streaming_dataset("train")) == list(
        load_dataset(str(GOLDEN / "labels" / "1.0.0"), split="train", streaming=True)
    )


def test_what_is_no_folder_of_a_version_is_told_with_those_below(hub: Any) -> None:
    hub.repo("org/root", {**files_of("labels"), "more/a.csv": b"a\n1\n"})
    with pytest.raises(DatasetNotFoundError, match=r"of a version\. Pass one below it: hf://.*/labels/1\.0\.0"):
        builder_from_directory("hf://datasets/org/root")
    with pytest.raises(DatasetNotFoundError, match="There is no prepared dataset in hf://datasets/org/root/more"):
        builder_from_directory("hf://datasets/org/root/more")
    with pytest.raises(DatasetNotFoundError, match="is not a dataset on the Hub"):
        builder_from_directory("hf://datasets")
    with pytest.raises(ConfigurationError, match=r"builder_from_directory\('hf://datasets/org/root/labels/<version>'\)"):
        tfds.load("labels", data_dir="hf://datasets/org/root")


# record reading


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
