"""Tests of datasets_core/resolve/tfds_folder.py."""

import shutil
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError, UnknownConfigError, UnknownOptionError, UnknownVersionError
from datasets_core.inspect import get_dataset_config_names, get_dataset_split_names
from datasets_core.load import load_dataset, load_dataset_builder

GOLDEN = Path(__file__).parents[1] / "tfds" / "golden"
PARTS = str(GOLDEN / "parts")


def test_a_folder_of_one_version_is_a_dataset_with_its_splits() -> None:
    assert get_dataset_split_names(f"{PARTS}/en/1.2.0") == ["train", "test", "more-1"]
    assert get_dataset_config_names(f"{PARTS}/en/1.2.0") == ["en"]
    builder = load_dataset_builder(f"{PARTS}/en/1.2.0")
    assert builder.info.splits is not None and builder.info.splits["train"].num_examples == 70


@pytest.mark.parametrize(
    ("path", "config", "told"),
    [
        (PARTS, None, {}),
        (PARTS, "en", {}),
        (PARTS, "fr", {"version": "1.*.*"}),
        (f"{PARTS}/en:1.2.0", None, {}),
        (str(GOLDEN), None, {"data_dir": "parts/en/1.2.0"}),
    ],
)
def test_folders_above_name_config_and_version(path: str, config: str | None, told: dict[str, str]) -> None:
    found = load_dataset(path, config, split="test", streaming=True, **told)  # type: ignore[arg-type]
    is_english = config == "en" or "/en" in f"{path}{told}"
    assert found.info.config_name == ("en" if is_english else "fr") and len(list(found)) == 7


def test_the_highest_version_is_taken(tmp_path: Path) -> None:
    for version in ("1.0.0", "1.10.0", "1.9.0"):
        shutil.copytree(GOLDEN / "ordered" / "1.0.0", tmp_path / "ordered" / version)
    assert load_dataset_builder(str(tmp_path / "ordered")).cache_dir.endswith("1.10.0")
    assert load_dataset_builder(str(tmp_path / "ordered"), version="1.0.*").cache_dir.endswith("1.0.0")


def test_what_such_a_folder_does_not_have_is_refused() -> None:
    with pytest.raises(UnknownConfigError) as caught:
        load_dataset(f"{PARTS}/en/1.2.0", "zz")
    assert caught.value.name == "zz"
    with pytest.raises(UnknownConfigError) as caught:
        load_dataset(PARTS, "zz")
    assert caught.value.name == "zz"
    with pytest.raises(UnknownVersionError) as caught:
        load_dataset(f"{PARTS}/en/1.2.0", version="2.0.0")
    assert caught.value.value == "2.0.0"
    with pytest.raises(UnknownOptionError, match="sep"):
        load_dataset(f"{PARTS}/en/1.2.0", sep=",")


def test_a_folder_of_several_datasets_is_refused_and_they_are_listed(tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / "parts", tmp_path / "parts")
    for version in ("1.0.0", "1.10.0"):
        shutil.copytree(GOLDEN / "ordered" / "1.0.0", tmp_path / "ordered" / version)
    for name in (None, "ordered", "nope"):
        with pytest.raises(ConfigurationError, match=r"has 2 datasets .*ordered \(1\.10\.0, 1\.0\.0\)") as caught:
            load_dataset(str(tmp_path), name)
        assert "parts (en, fr)" in str(caught.value)
    assert load_dataset_builder(str(tmp_path), data_dir="ordered").cache_dir.endswith("1.10.0")


def test_configs_are_known_without_the_record_of_their_default(tmp_path: Path) -> None:
    for name in ("en", "fr"):
        shutil.copytree(GOLDEN / "parts" / name, tmp_path / "parts" / name)
    for asked in ("zz", None):
        with pytest.raises(UnknownConfigError, match=r"Available configs: 'en', 'fr'"):
            load_dataset(str(tmp_path / "parts"), asked)
    assert load_dataset_builder(str(tmp_path / "parts"), "en").config.name == "en"


def test_a_broken_version_hides_no_good_one(tmp_path: Path) -> None:
    for version in ("1.0.0", "1.1.0"):
        shutil.copytree(GOLDEN / "parts" / "en" / "1.2.0", tmp_path / "parts" / "en" / version)
    (tmp_path / "parts" / "en" / "1.1.0" / "dataset_info.json").write_text("{")
    assert load_dataset_builder(str(tmp_path / "parts"), "en").cache_dir.endswith("1.0.0")


def hub_files(name: str, root: str = "") -> dict[str, bytes]:
    paths = (path for path in (GOLDEN / name).rglob("*") if path.is_file())
    return {root + path.relative_to(GOLDEN / name).as_posix(): path.read_bytes() for path in paths}


@pytest.mark.parametrize(
    ("path", "root", "config_name", "told"),
    [
        ("org/set", "", "en", {}),
        ("org/set", "", None, {}),
        ("org/set", "deep/parts/", "fr", {"data_dir": "deep/parts"}),
        ("hf://datasets/org/set/parts/en/1.2.0", "parts/", None, {}),
        ("hf://datasets/org/set/parts", "parts/", "en", {"version": "1.*.*"}),
    ],
)
def test_a_repository_has_the_rows_of_the_folder(hub: Any, path: str, root: str, config_name: str | None, told: Any) -> None:
    hub.repo("org/set", {**hub_files("parts", root), "README.md": b"# Parts"})
    local = str(GOLDEN / "parts/en/1.2.0") if path.endswith("1.2.0") else PARTS
    same = load_dataset(local, config_name, streaming=True)
    found = load_dataset(path, config_name, streaming=True, **told)
    assert list(found) == list(same) and found["train"].features == same["train"].features
    for split in same:
        assert list(found[split]) == list(same[split])
    assert load_dataset(path, config_name, split="test", **told)[:] == load_dataset(local, config_name, split="test")[:]


def test_a_repository_of_several_datasets_is_refused_and_they_are_listed(hub: Any) -> None:
    hub.repo("org/set", hub_files("parts", "parts/") | hub_files("labels", "labels/"))
    with pytest.raises(ConfigurationError, match=r"load_dataset\(URL\) with hf://\S+/labels, hf://\S+/parts\."):
        load_dataset("org/set")
    with pytest.raises(UnknownConfigError, match=r"Unknown config 'zz' in .* Available configs: 'en', 'fr'"):
        load_dataset("hf://datasets/org/set/parts", "zz")


def test_only_the_version_that_is_read_is_fetched_and_then_it_is_here(hub: Any) -> None:
    hub.repo("org/set", hub_files("parts"))
    load_dataset_builder("org/set", "fr")
    fetched = {request.name for request in hub.of("resolve")}
    assert not any(name.startswith("en/") and "tfrecord" in name for name in fetched)
    hub.requests.clear()
    with config.using(offline=True):
        assert load_dataset_builder("org/set", "fr").info.config_name == "fr"
    with pytest.raises(UnknownVersionError) as caught:
        load_dataset_builder("org/set", "fr", version="9.0.0")
    assert caught.value.value == "9.0.0"


def test_beside_several_datasets_the_card_says_what_is_read(hub: Any, tmp_path: Path) -> None:
    card = b"---\nconfigs:\n- config_name: default\n  data_files: rows/*.csv\n---\n"
    contents = {**hub_files("parts", "parts/"), "README.md": card, "rows/a.csv": b"a\n1\n"}
    hub.repo("org/set", contents)
    for path, content in contents.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(content)
    for place in ("org/set", str(tmp_path)):
        assert load_dataset(place, split="train")[:] == {"a": [1]}
