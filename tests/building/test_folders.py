"""Tests of datasets_core/building/folders.py."""

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import datasets_core as datasets
from datasets_core.building import folders, options
from datasets_core.building.folders import (
    check_sound,
    check_whole,
    find_prepared,
    prepared_manifest,
    prepared_versions,
    tfds_manifest,
    the_one,
    versions_below,
    whole_builds,
)
from datasets_core.building.prepared import builder_from_directory
from datasets_core.building.tfds_folders.folder import RecordManifest
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    DatasetsCoreError,
    FileFormatError,
    ManifestError,
    MissingVersionError,
    ReferenceSyntaxError,
    UnknownConfigError,
    WrongVersionError,
)
from datasets_core.load import load_dataset_builder
from datasets_core.meta.version import Version
from datasets_core.store.manifest import Manifest, read_manifest

Rows = list[dict[str, Any]]
OLD: Rows = [{"a": 1}, {"a": 2}]
WIDER: Rows = [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
OTHER: Rows = [{"a": 1}, {"a": 3}]


def builder(version: str | None, rows: Rows, cache: Path, **options: Any) -> datasets.DatasetBuilder:
    class Made(datasets.GeneratorBasedBuilder):
        VERSION = version
        SUPPORTED_VERSIONS: ClassVar[list[Any]] = []

        def _info(self) -> datasets.DatasetInfo:
            types = {int: datasets.Value("int64"), str: datasets.Value("string")}
            return datasets.DatasetInfo(features=datasets.Features({name: types[type(rows[0][name])] for name in rows[0]}))

        def _split_generators(self, dl_manager: Any) -> list[datasets.SplitGenerator]:
            return [datasets.SplitGenerator("train", {"count": len(rows)})]

        def _generate_examples(self, count: int) -> Iterator[tuple[int, dict[str, Any]]]:
            yield from enumerate(rows)

    options.setdefault("hash", f"{version}-{id(rows)}")
    return Made(cache_dir=cache, **options)


@pytest.mark.parametrize(
    ("version", "rows", "right"),
    [
        ("1.0.1", OLD, None),
        ("1.1.0", WIDER, None),
        ("2.0.0", OTHER, None),
        ("2.0.0", OLD, None),  # more than has changed is no mistake
        ("1.0.1", WIDER, "1.1.0"),
        ("1.0.1", OTHER, "2.0.0"),
        ("1.1.0", OTHER, "2.0.0"),
        ("1.0.0", OTHER, "2.0.0"),
        ("1.0.0", WIDER, "1.1.0"),
        ("1.0.0", OLD, None),
        ("0.9.0", OTHER, None),  # nothing below it stands there
    ],
)
def test_a_version_must_say_what_has_changed(version: str, rows: Rows, right: str | None, tmp_path: Path) -> None:
    builder("1.0.0", OLD, tmp_path).download_and_prepare()
    builder("9.0.0", [{"a": 9}], tmp_path).download_and_prepare()
    made = builder(version, rows, tmp_path, hash="new")
    if right is None:
        made.download_and_prepare(check_version=True)
        assert made.as_dataset("train")[:] == {name: [row[name] for row in rows] for name in rows[0]}
        return
    with pytest.raises(
        WrongVersionError, match=f"Version {version} of 'test_folders' is a .* change of 1.0.0.*Use version {right}"
    ) as caught:
        made.download_and_prepare(check_version=True)
    assert (caught.value.old, caught.value.new, caught.value.right) == ("1.0.0", version, right)
    assert not Path(made.cache_dir).exists()
    made.download_and_prepare()
    with pytest.raises(WrongVersionError):  # what stands already is compared too
        made.download_and_prepare(check_version=True)


def test_the_message_says_what_differs(tmp_path: Path) -> None:
    builder("1.0.0", OLD, tmp_path).download_and_prepare()
    with pytest.raises(
        WrongVersionError, match=r"train: 1 of 2 rows differs? \('a' in 1\); train, row 1, column 'a': 2, then 3"
    ):
        builder("1.0.1", OTHER, tmp_path).download_and_prepare(check_version=True)


def test_the_highest_version_below_is_compared(tmp_path: Path) -> None:
    builder("1.9.0", OTHER, tmp_path).download_and_prepare()
    builder("1.10.0", OLD, tmp_path).download_and_prepare()
    builder("1.10.1", OLD, tmp_path).download_and_prepare(check_version=True)


def test_of_several_builds_the_latest_is_compared(tmp_path: Path) -> None:
    builder("1.0.0", OTHER, tmp_path, hash="z").download_and_prepare()
    builder("1.0.0", OLD, tmp_path, hash="a").download_and_prepare()
    builder("1.0.1", OLD, tmp_path).download_and_prepare(check_version=True)


def test_a_broken_older_version_is_passed_over(tmp_path: Path) -> None:
    builder("1.0.0", OLD, tmp_path).download_and_prepare()
    broken = builder("1.0.1", OTHER, tmp_path)
    broken.download_and_prepare()
    Path(broken.cache_dir, "dataset_info.json").write_text("{")
    builder("1.0.2", OLD, tmp_path).download_and_prepare(check_version=True)


def test_folders_of_the_user_s_own_are_compared_by_their_versions(tmp_path: Path) -> None:
    data = tmp_path / "data" / "birds"
    builder("1.0.0", OLD, tmp_path / "cache").download_and_prepare(data / "1.0.0")
    with pytest.raises(WrongVersionError):
        builder("1.0.1", OTHER, tmp_path / "cache").download_and_prepare(data / "1.0.1", check_version=True)
    builder("1.0.1", OLD, tmp_path / "cache").download_and_prepare(data / "1.0.1", check_version=True)
    builder("1.0.1", OTHER, tmp_path / "cache").download_and_prepare(tmp_path / "elsewhere", check_version=True)


def test_a_rebuild_in_place_keeps_its_rows_or_gets_a_version(tmp_path: Path) -> None:
    builder("1.0.0", OLD, tmp_path, hash="k").download_and_prepare()
    changed = builder("1.0.0", OTHER, tmp_path, hash="k")
    with pytest.raises(WrongVersionError, match=r"Use version 2\.0\.0"):
        changed.download_and_prepare(check_version=True, download_mode="force_redownload")
    assert builder("1.0.0", OLD, tmp_path, hash="k").as_dataset("train")["a"][:] == [1, 2]


def test_without_a_version_there_is_nothing_to_compare(tmp_path: Path) -> None:
    with pytest.raises(MissingVersionError):
        builder(None, OLD, tmp_path).download_and_prepare(check_version=True)


def test_a_store_is_compared_too(tmp_path: Path) -> None:
    import fsspec

    builder("1.0.0", OLD, tmp_path).download_and_prepare("memory://bumped/birds/1.0.0")
    with pytest.raises(WrongVersionError):
        builder("1.0.1", OTHER, tmp_path / "x").download_and_prepare("memory://bumped/birds/1.0.1", check_version=True)
    builder("2.0.0", OTHER, tmp_path / "x").download_and_prepare("memory://bumped/birds/2.0.0", check_version=True)
    fsspec.filesystem("memory").rm("/bumped", recursive=True)


def folder_of(version: str, rows: Rows, root: Path, name: str, **options: Any) -> Path:
    """Builds into a folder of the user's own; the cache is another one each time."""
    builder(version, rows, root / f"cache-{version}-{id(rows)}").download_and_prepare(root / name, **options)
    return root / name


@pytest.mark.parametrize("name", ["oo", "1.0.0", "birds"])
def test_what_an_output_dir_holds_is_compared_before_it_is_replaced(name: str, tmp_path: Path) -> None:
    folder = folder_of("1.0.0", OLD, tmp_path, name, check_version=True)
    with pytest.raises(WrongVersionError, match=r"Use version 2\.0\.0") as caught:
        folder_of("1.0.1", OTHER, tmp_path, name, check_version=True)
    assert caught.value.old == "1.0.0"
    assert datasets.builder_from_directory(folder).as_dataset("train")["a"][:] == [1, 2]
    with pytest.raises(WrongVersionError):  # the same version has the same rows
        folder_of("1.0.0", OTHER, tmp_path, name, check_version=True, download_mode="force_redownload")
    folder_of("1.0.1", OLD, tmp_path, name, check_version=True)
    folder_of("2.0.0", OTHER, tmp_path, name, check_version=True)
    assert str(datasets.builder_from_directory(folder).version) == "2.0.0"


def test_folders_beside_it_are_compared_however_they_are_called(tmp_path: Path) -> None:
    folder_of("1.0.0", OLD, tmp_path, "first")
    folder_of("9.0.0", WIDER, tmp_path, "above")
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "dataset_info.json").write_text('{"dataset_name": "test_folders", "version": "1.0.0"}')
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "dataset_info.json").write_text("{")
    with pytest.raises(WrongVersionError):
        folder_of("1.0.1", OTHER, tmp_path, "second", check_version=True)
    folder_of("1.1.0", WIDER, tmp_path, "second", check_version=True)


def test_a_rebuild_is_compared_with_the_version_below_too(tmp_path: Path) -> None:
    folder_of("1.0.0", OLD, tmp_path, "first")
    folder_of("1.0.1", OTHER, tmp_path, "second")
    with pytest.raises(WrongVersionError) as caught:
        folder_of("1.0.1", OTHER, tmp_path, "second", check_version=True, download_mode="force_redownload")
    assert caught.value.old == "1.0.0"


def test_a_part_is_not_compared_with_the_whole(tmp_path: Path) -> None:
    folder_of("1.0.0", OLD, tmp_path, "first")
    folder_of("1.0.1", OLD, tmp_path, "second", check_version=True, max_examples_per_split=1)


def test_a_dataset_that_cannot_be_read_is_not_compared(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = folder_of("1.0.0", OLD, tmp_path, "first")
    (shard,) = folder.glob("*.arrow")
    shard.write_bytes(shard.read_bytes()[:8] + bytes(shard.stat().st_size - 8))
    with caplog.at_level("WARNING", logger="datasets_core"):
        folder_of("1.0.1", OTHER, tmp_path, "first", check_version=True)
    assert "first is not compared, since it is damaged" in caplog.text
    assert "the version was not checked" in caplog.text


def test_it_is_said_where_there_is_nothing_to_compare_with(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="datasets_core"):
        folder_of("1.0.0", OLD, tmp_path, "first", check_version=True)
    assert "No build of test_folders with version 1.0.0 or below found" in caplog.text
    caplog.clear()
    with caplog.at_level("WARNING", logger="datasets_core"):
        folder_of("1.0.1", OLD, tmp_path, "second", check_version=True)
    assert not caplog.text


# prepared folders

VERSIONS = ["1.0.0", "1.2.0", "1.10.0", "2.0.0"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    Dataset.from_dict({"a": [1, 2]}).to_parquet(folder / "a.parquet")
    builder = load_dataset_builder("parquet", data_files=str(folder / "a.parquet"), cache_dir=folder, version="1.0.0")
    builder.download_and_prepare(folder / "one")
    return folder / "one"


def place(built: Path, root: Path, *names: str) -> Path:
    """Copies of a dataset below `root`."""
    for name in names:
        shutil.copytree(built, root / name)
    return root


@pytest.fixture
def disk(built: Path, tmp_path: Path) -> Path:
    """The folders of the golden table, with one that is empty and one that was not finished."""
    place(built, tmp_path / "disk_ds", *VERSIONS, "incomplete.xyz_4.0.0")
    (tmp_path / "disk_ds" / "3.0.0").mkdir()
    return tmp_path


@pytest.mark.parametrize(
    ("pattern", "version"),
    [
        (None, "2.0.0"),  # the empty folder does not hide it, as it does in TFDS
        ("*.*.*", "2.0.0"),
        ("1.*.*", "1.10.0"),
        ("1.2.*", "1.2.0"),
        ("1.*.0", "1.10.0"),
        ("2.0.0", "2.0.0"),
        ("3.0.0", None),
        ("3.*.*", None),
        ("1.2.1", None),
        ("4.*.*", None),
    ],
)
def test_the_highest_whole_version_is_found(disk: Path, pattern: str | None, version: str | None) -> None:
    found = find_prepared(disk, "disk_ds", None, pattern)
    assert (found and str(found.version), found and found.folder) == (version, version and str(disk / "disk_ds" / version))


@pytest.mark.parametrize("damage", ["empty", "no manifest", "broken manifest", "cut shard", "no shard"])
def test_a_damaged_newer_folder_never_hides_a_good_one(
    disk: Path, built: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    newer = disk / "disk_ds" / "9.0.0"
    shutil.copytree(built, newer)
    (shard,) = newer.glob("*.arrow")
    if damage == "empty":
        shutil.rmtree(newer)
        newer.mkdir()
    elif damage == "no manifest":
        (newer / "dataset_info.json").unlink()
    elif damage == "broken manifest":
        (newer / "dataset_info.json").write_text('{"manifest": {')
    elif damage == "cut shard":
        shard.write_bytes(shard.read_bytes()[:-8])
    else:
        shard.unlink()
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        found = find_prepared(disk, "disk_ds")
    assert found is not None
    assert found.version == "2.0.0"
    assert f"Ignoring {newer}" in caplog.text


def test_both_layouts_are_found(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "acme___reviews/en/1.0.0/key", "acme___reviews/en/1.1.0", "acme___reviews/de-lower=True/2.0.0/key")
    folders = {
        ("en", None): "en/1.1.0",
        ("en", "1.0.*"): "en/1.0.0/key",
        ("de", None): "de-lower=True/2.0.0/key",
        ("de-lower=True", None): "de-lower=True/2.0.0/key",
    }
    for (config, pattern), folder in folders.items():
        found = find_prepared(tmp_path, "acme/reviews", config, pattern)
        assert found is not None
        assert found.folder == str(tmp_path / "acme___reviews" / folder)
    with pytest.raises(UnknownConfigError, match="several configs and no default config"):
        find_prepared(tmp_path, "acme/reviews")
    with pytest.raises(UnknownConfigError) as caught:
        find_prepared(tmp_path, "acme/reviews", "fr")
    assert caught.value.name == "fr"


def test_without_a_config_the_unnamed_the_default_or_the_only_one_is_meant(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "a/1.0.0", "a/en/2.0.0", "b/default/1.0.0", "b/en/2.0.0", "c/en/2.0.0")
    versions = {}
    for name in "abc":
        found = find_prepared(tmp_path, name)
        versions[name] = found and str(found.version)
    assert versions == {"a": "1.0.0", "b": "1.0.0", "c": "2.0.0"}


def test_several_builds_of_one_version_are_named(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "a/default/1.0.0/one", "a/default/1.0.0/two", "a/default/1.0.0/two.incomplete-7-ab")
    with pytest.raises(ConfigurationError, match=r"of 'a' was prepared 2 times: .*one, .*two\. Open") as caught:
        find_prepared(tmp_path, "a")
    assert "incomplete" not in str(caught.value)
    (tmp_path / "a/default/1.0.0/one/dataset_info.json").unlink()
    found = find_prepared(tmp_path, "a")
    assert found is not None
    assert found.folder.endswith("two")


def test_nothing_is_none(tmp_path: Path) -> None:
    assert find_prepared(tmp_path, "a") is None
    assert find_prepared(tmp_path / "nothing", "a", "en", "1.*.*") is None
    assert whole_builds(str(tmp_path / "nothing"), Version("1.0.0")) == []
    assert the_one([], "a") is None
    assert versions_below(tmp_path / "nothing") == []
    with pytest.raises(ReferenceSyntaxError):
        find_prepared(tmp_path, "a", None, "latest")


def test_a_store_is_searched_too(built: Path) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    for version in ("1.9.0", "1.10.0"):
        for path in built.iterdir():
            if path.is_file():
                store.pipe_file(f"/data/ds/{version}/{path.name}", path.read_bytes())
    store.makedirs("/data/ds/2.0.0")
    found = find_prepared("memory://data", "ds", None, "*.*.*")
    assert found is not None
    assert (str(found.version), found.folder) == ("1.10.0", "memory://data/ds/1.10.0")
    assert find_prepared("memory://data", "other") is None
    assert [os.path.basename(folder) for folder in versions_below("memory://data/ds")] == ["2.0.0", "1.10.0", "1.9.0"]
    store.rm("/data", recursive=True)


def zero_middle(shard: Path) -> None:
    content = bytearray(shard.read_bytes())
    content[16:-200] = bytes(len(content) - 216)
    shard.write_bytes(content)


def edit(folder: Path, **changes: Any) -> None:
    path = folder / "dataset_info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "zeroed": lambda folder: zero_middle(next(folder.glob("*.arrow"))),
    "no features": lambda folder: edit(folder, features={}),
    "one feature too many": lambda folder: edit(
        folder, features={name: {"dtype": "int64", "_type": "Value"} for name in ("a", "b")}
    ),
    "no splits": lambda folder: edit(folder, splits=None),
    "empty splits": lambda folder: edit(folder, splits={}),
    "a path as config": lambda folder: edit(folder, config_name="../../etc"),
    "no object": lambda folder: (folder / "dataset_info.json").write_text("[]"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_looks_whole_and_cannot_be_read_never_hides_a_good_one(
    disk: Path, built: Path, damage: str, caplog: pytest.LogCaptureFixture
) -> None:
    newer = disk / "disk_ds" / "9.0.0"
    shutil.copytree(built, newer)
    DAMAGES[damage](newer)
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        found = find_prepared(disk, "disk_ds")
    assert found is not None
    assert found.version == "2.0.0"
    assert f"Ignoring {newer}, which is damaged" in caplog.text


def test_of_builds_that_cannot_be_read_the_highest_is_opened_for_its_error(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path / "a", "1.0.0", "2.0.0")
    for shard in tmp_path.glob("a/*/*.arrow"):
        zero_middle(shard)
    found = find_prepared(tmp_path, "a")
    assert found is not None
    assert found.version == "2.0.0"


def test_of_several_builds_the_sound_one_is_taken(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "a/default/1.0.0/one", "a/default/1.0.0/two")
    zero_middle(next((tmp_path / "a/default/1.0.0/two").glob("*.arrow")))
    found = find_prepared(tmp_path, "a")
    assert found is not None
    assert found.folder.endswith("one")


def test_a_config_that_nothing_stands_in_is_no_choice(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "a/en/1.0.0")
    (tmp_path / "a" / "fr").mkdir()
    found = find_prepared(tmp_path, "a")
    assert found is not None
    assert found.folder == str(tmp_path / "a" / "en" / "1.0.0")


def test_only_what_stands_whole_is_listed(disk: Path, built: Path) -> None:
    place(built, disk / "disk_ds", "9.0.0")
    (disk / "disk_ds" / "9.0.0" / "dataset_info.json").unlink()
    assert list(map(str, prepared_versions(disk, "disk_ds"))) == ["2.0.0", "1.10.0", "1.2.0", "1.0.0"]
    assert prepared_versions(disk, "nothing") == []


# prepared manifest

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"


def test_folders_of_others_have_no_such_manifest(tmp_path: Path) -> None:
    assert prepared_manifest(str(tmp_path)) is None
    (tmp_path / "dataset_info.json").write_text('{"description": "", "splits": {"train": {"name": "train"}}}')
    assert prepared_manifest(str(tmp_path)) is None and tfds_manifest(str(tmp_path)) is None


def test_what_tensorflow_datasets_prepared_is_known() -> None:
    found = prepared_manifest(str(GOLDEN / "parts" / "en" / "1.2.0"))
    assert isinstance(found, RecordManifest) and found.split_lengths()["train"] == [23, 24, 23]
    with pytest.raises(FileFormatError, match="parquet"):
        tfds_manifest(str(GOLDEN / "parts" / "en" / "1.2.0"), file_format="parquet")


def test_others_do_without_what_reads_records() -> None:
    code = "import sys; from datasets_core import builder_from_directory; assert 'datasets_core.records' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# soundness

Damage = Callable[[Path], object]


@pytest.fixture(scope="module", params=["arrow", "parquet"])
def built_soundness(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("built")
    Dataset.from_dict({"a": list(range(1000)), "b": ["x"] * 1000}).to_parquet(folder / "a.parquet")
    builder = load_dataset_builder("parquet", data_files=str(folder / "a.parquet"), cache_dir=folder)
    builder.download_and_prepare(folder / "one", file_format=request.param, num_shards=2)
    return folder / "one"


@pytest.fixture
def folder(built_soundness: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(built_soundness, tmp_path / "copy"))


def manifest_of(folder: Path) -> Manifest:
    found = read_manifest(str(folder))
    assert found is not None
    return found


def shards(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix in {".arrow", ".parquet"})


def zero_middle_soundness(shard: Path) -> None:
    content = bytearray(shard.read_bytes())
    middle = len(content) // 2
    content[middle - 100 : middle + 100] = bytes(200)
    shard.write_bytes(content)


def edit_soundness(folder: Path, **changes: object) -> None:
    path = folder / "dataset_info.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def test_what_is_sound_passes(folder: Path) -> None:
    check_whole(str(folder), manifest_of(folder))
    check_sound(str(folder), manifest_of(folder))


def test_a_missing_shard_is_no_whole_dataset(built_soundness: Path, tmp_path: Path) -> None:
    for check in (check_whole, check_sound):
        with pytest.raises(DamagedShardError, match="the shard is missing"):
            check(str(tmp_path), manifest_of(built_soundness))


def test_the_bytes_of_a_small_dataset_are_compared(folder: Path) -> None:
    manifest = manifest_of(folder)
    zero_middle_soundness(shards(folder)[1])
    os.utime(shards(folder)[1], (0, 0))
    check_whole(str(folder), manifest)
    with pytest.raises(DamagedShardError, match="has sha256"):
        check_sound(str(folder), manifest)


def test_of_a_large_dataset_those_that_were_written_later_are(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_HASHED_BYTES", 0)
    hashed: list[str] = []
    monkeypatch.setattr(
        options, "check_hashes", lambda folder, manifest, **_: hashed.extend(shard.name for shard in manifest.shards)
    )
    first, second = shards(folder)
    os.utime(first, (0, 0))
    os.utime(folder / "dataset_info.json", (1000, 1000))
    check_sound(str(folder), manifest_of(folder))
    assert hashed == [second.name]


def test_the_batches_of_a_large_dataset_are_opened(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "_HASHED_BYTES", 0)
    manifest = manifest_of(folder)
    if manifest.file_format == "parquet":
        pytest.skip("to open a row group is to read it")
    content = bytearray(shards(folder)[0].read_bytes())
    content[8:-400] = bytes(len(content) - 408)
    shards(folder)[0].write_bytes(content)
    os.utime(shards(folder)[0], (0, 0))
    with pytest.raises(DamagedShardError):
        check_sound(str(folder), manifest)


@pytest.mark.parametrize(
    ("damage", "error"),
    [
        (lambda folder: edit_soundness(folder, features={}), ManifestError),
        (lambda folder: edit_soundness(folder, features={"a": {"dtype": "int64", "_type": "Value"}}), ManifestError),
        (lambda folder: edit_soundness(folder, config_name="a/b"), ConfigurationError),
    ],
)
def test_what_is_described_must_fit_the_shards(folder: Path, damage: Damage, error: type[DatasetsCoreError]) -> None:
    damage(folder)
    with pytest.raises(error):
        check_sound(str(folder), manifest_of(folder))
    with pytest.raises(ManifestError) as caught:  # and who opens it is told which file
        builder_from_directory(folder).as_dataset()
    assert str(caught.value.file).endswith("dataset_info.json")


def test_a_store_is_looked_at_too(built_soundness: Path) -> None:
    import fsspec

    store = fsspec.filesystem("memory")
    for path in built_soundness.iterdir():
        store.pipe_file(f"/sound/{path.name}", path.read_bytes())
    manifest = manifest_of(built_soundness)
    check_sound("memory://sound", manifest)
    name = manifest.shards[0].name
    store.pipe_file(f"/sound/{name}", store.cat_file(f"/sound/{name}")[:-1])
    with pytest.raises(DamagedShardError):
        check_sound("memory://sound", manifest)
    store.rm("/sound", recursive=True)
