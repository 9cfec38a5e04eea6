import shutil
from pathlib import Path

import pytest

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.prepared import ReadOnlyBuilder, builder_from_directory, folder_of_dataset
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    DatasetBuildError,
    DatasetNotFoundError,
    ManifestError,
    UnknownSplitError,
)
from datasets_core.load import load_dataset_builder


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
    with pytest.raises(UnknownSplitError, match="Unknown split 'dev'"):
        builder.as_dataset("dev")


def test_the_folder_of_a_version_in_the_cache_opens_too(made: DatasetBuilder, tmp_path: Path) -> None:
    version = Path(made.cache_dir).parent
    assert builder_from_directory(version).cache_dir == made.cache_dir
    shutil.copytree(made.cache_dir, version / "other")
    with pytest.raises(ConfigurationError, match="stands prepared 2 times"):
        builder_from_directory(version)


def test_preparing_checks_and_builds_nothing(made: DatasetBuilder, tmp_path: Path) -> None:
    builder = builder_from_directory(made.cache_dir)
    builder.download_and_prepare()
    builder.download_and_prepare(made.cache_dir, num_proc=2, verification_mode="all_checks")
    for changed in ({"download_mode": "force_redownload"}, {"output_dir": tmp_path / "elsewhere"}):
        with pytest.raises(DatasetBuildError, match="there is no code here to build it again"):
            builder.download_and_prepare(**changed)
    for hook in (lambda: builder._split_generators(None), lambda: builder.generate({})):
        with pytest.raises(DatasetBuildError, match="there is no code here"):
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
    with pytest.raises(DatasetNotFoundError, match=r"is not the folder of one version. Give one.*: \S*1\.10\.0, \S*1\.2\.0\.$"):
        builder_from_directory(tmp_path / "cache" / "parquet")


def test_a_folder_without_a_dataset_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "nothing", tmp_path / "nothing" / "1.0.0"):
        with pytest.raises(DatasetNotFoundError, match="No dataset stands prepared in"):
            builder_from_directory(folder)
    (tmp_path / "dataset_info.json").write_text("{}")
    with pytest.raises(DatasetNotFoundError, match=r"was written neither by this library nor by.*load_dataset"):
        builder_from_directory(tmp_path)
    (tmp_path / "dataset_info.json").write_text("{")
    with pytest.raises(ManifestError):
        builder_from_directory(tmp_path)
    for value in ("", None):
        with pytest.raises(ConfigurationError, match="Give the folder"):
            builder_from_directory(value)  # type: ignore[arg-type]


def test_a_folder_is_absolute_and_a_url_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of_dataset("a/") == str(tmp_path / "a")
    assert folder_of_dataset("s3://bucket/a/") == "s3://bucket/a"
