import json
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.folders import find_prepared, prepared_versions, the_one, versions_below, whole_builds
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, ReferenceSyntaxError, UnknownConfigError
from datasets_core.load import load_dataset_builder
from datasets_core.meta.version import Version

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
    assert f"Passing over {newer}" in caplog.text


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
    with pytest.raises(UnknownConfigError, match="several configs and none is the default"):
        find_prepared(tmp_path, "acme/reviews")
    with pytest.raises(UnknownConfigError, match="Unknown config 'fr'"):
        find_prepared(tmp_path, "acme/reviews", "fr")


def test_without_a_config_the_unnamed_the_default_or_the_only_one_is_meant(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "a/1.0.0", "a/en/2.0.0", "b/default/1.0.0", "b/en/2.0.0", "c/en/2.0.0")
    versions = {}
    for name in "abc":
        found = find_prepared(tmp_path, name)
        versions[name] = found and str(found.version)
    assert versions == {"a": "1.0.0", "b": "1.0.0", "c": "2.0.0"}


def test_several_builds_of_one_version_are_named(built: Path, tmp_path: Path) -> None:
    place(built, tmp_path, "a/default/1.0.0/one", "a/default/1.0.0/two", "a/default/1.0.0/two.incomplete-7-ab")
    with pytest.raises(ConfigurationError, match=r"of 'a' stands prepared 2 times: .*one, .*two\. Open") as caught:
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
    assert f"Passing over {newer}, which is broken" in caplog.text


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
