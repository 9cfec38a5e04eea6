from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import pytest

import datasets_core as datasets
from datasets_core.errors import MissingVersionError, WrongVersionError

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
        WrongVersionError, match=f"Version {version} of 'test_bump' is a .* change of 1.0.0.*Call it {right}"
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
    with pytest.raises(WrongVersionError, match=r"Call it 2\.0\.0"):
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
    with pytest.raises(WrongVersionError, match=r"Call it 2\.0\.0") as caught:
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
    (tmp_path / "foreign" / "dataset_info.json").write_text('{"dataset_name": "test_bump", "version": "1.0.0"}')
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
    assert "first is not compared, since it is broken" in caplog.text
    assert "whether the version fits was not checked" in caplog.text


def test_it_is_said_where_there_is_nothing_to_compare_with(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("WARNING", logger="datasets_core"):
        folder_of("1.0.0", OLD, tmp_path, "first", check_version=True)
    assert "Nothing of test_bump that is of version 1.0.0 or below stands prepared" in caplog.text
    caplog.clear()
    with caplog.at_level("WARNING", logger="datasets_core"):
        folder_of("1.0.1", OLD, tmp_path, "second", check_version=True)
    assert not caplog.text
