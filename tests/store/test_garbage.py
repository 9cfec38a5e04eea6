"""What `cache gc` finds, and what it must leave."""

import os
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa

from datasets_core.files import lease_path, locked
from datasets_core.meta.splits import row_ranges
from datasets_core.store.commit import dead_work, find_garbage, remove_garbage
from datasets_core.store.manifest import Manifest, read_manifest
from datasets_core.store.source import open_rows

Dataset = tuple[str, Manifest]
Build = Callable[..., Dataset]

DEAD = 2**22 + 1  # above the largest process number of Linux


def _aged(path: Path, content: str = "x", *, seconds: float = 7200) -> Path:
    """A file, or a folder with one file, that was last changed so long ago."""
    if "incomplete" in path.name:
        path.mkdir()
        _aged(path / "part.arrow", content, seconds=seconds)
    else:
        path.write_text(content)
    then = time.time() - seconds
    os.utime(path, (then, then))
    return path


def _found(folder: Path) -> list[tuple[str, str]]:
    return [(os.path.basename(found.path), found.kind) for found in find_garbage(str(folder))]


def test_old_temporaries_of_dead_processes_are_garbage(tmp_path: Path) -> None:
    _aged(tmp_path / f"data.incomplete-{DEAD}-ab", "12345")
    _aged(tmp_path / f"file.tmp-{DEAD}-ab", "123")
    found = find_garbage(str(tmp_path))
    assert [(os.path.basename(one.path), one.kind, one.size) for one in found] == [
        (f"data.incomplete-{DEAD}-ab", "staging", 5),
        (f"file.tmp-{DEAD}-ab", "temporary", 3),
    ]
    assert remove_garbage(found) == 8
    assert os.listdir(tmp_path) == []


def test_what_is_young_or_alive_or_not_ours_stays(tmp_path: Path) -> None:
    _aged(tmp_path / f"young.incomplete-{DEAD}-ab", seconds=60)
    _aged(tmp_path / f"young.tmp-{DEAD}-ab", seconds=60)
    _aged(tmp_path / f"alive.incomplete-{os.getpid()}-ab")
    _aged(tmp_path / f"alive.tmp-{os.getpid()}-ab")
    _aged(tmp_path / "notes.tmp")
    _aged(tmp_path / "data.incomplete")
    assert _found(tmp_path) == []


def test_a_staging_folder_in_which_something_changed_lately_stays(tmp_path: Path) -> None:
    folder = _aged(tmp_path / f"data.incomplete-{DEAD}-ab")
    os.utime(folder / "part.arrow")
    assert _found(tmp_path) == []


def test_a_staging_folder_whose_target_is_locked_stays(tmp_path: Path) -> None:
    _aged(tmp_path / f"data.incomplete-{DEAD}-ab")
    with locked(str(tmp_path / "data.lock")):
        assert _found(tmp_path) == []
    assert len(_found(tmp_path)) == 1


def test_shards_of_a_replaced_dataset_are_garbage_after_a_while(dataset: Dataset, table: pa.Table, build: Build) -> None:
    target, old = dataset
    build(target, pa.concat_tables([table.slice(50), table.slice(0, 50)]))
    assert _found(Path(target)) == []
    for name in os.listdir(target):
        os.utime(os.path.join(target, name), (1, 1))
    found = find_garbage(target)
    assert {os.path.basename(one.path) for one in found} == {shard.name for shard in old.shards}
    assert {one.kind for one in found} == {"orphan"}
    remove_garbage(found)
    manifest = read_manifest(target)
    assert manifest is not None
    assert open_rows(target, manifest, row_ranges("train", manifest.split_lengths())).num_rows == 100


def test_without_a_manifest_that_can_be_read_no_shard_is_garbage(dataset: Dataset) -> None:
    target, _ = dataset
    for content in ("{", "{}"):
        Path(target, "dataset_info.json").write_text(content)
        for name in os.listdir(target):
            os.utime(os.path.join(target, name), (1, 1))
        assert _found(Path(target)) == []


def test_results_of_transforms_are_no_garbage(dataset: Dataset) -> None:
    target, _ = dataset
    Path(target, "cache-0123.arrow").touch()
    for name in os.listdir(target):
        os.utime(os.path.join(target, name), (1, 1))
    assert _found(Path(target)) == []


def test_what_another_process_removed_meanwhile_frees_nothing(tmp_path: Path) -> None:
    path = _aged(tmp_path / f"file.tmp-{DEAD}-ab")
    found = find_garbage(str(tmp_path))
    path.unlink()
    assert remove_garbage(found) == 0


def test_the_age_can_be_chosen(tmp_path: Path) -> None:
    _aged(tmp_path / f"file.tmp-{DEAD}-ab", seconds=60)
    assert len(find_garbage(str(tmp_path), min_age_seconds=30)) == 1


def test_unfinished_builds_of_dead_processes_are_found_in_a_cache(tmp_path: Path) -> None:
    place = tmp_path / "reviews" / "default" / "1.0.0"
    place.mkdir(parents=True)
    _aged(place / f"old.incomplete-{DEAD}-ab")
    _aged(place / f"young.incomplete-{DEAD}-ab", seconds=60)
    _aged(place / f"alive.incomplete-{os.getpid()}-ab")
    (tmp_path / "downloads" / "extracted").mkdir(parents=True)
    found = dead_work(str(tmp_path))
    assert [os.path.basename(one.path) for one in found] == [f"old.incomplete-{DEAD}-ab"]


def test_a_lease_keeps_the_staging_folder_of_its_target(tmp_path: Path) -> None:
    _aged(tmp_path / f"data.incomplete-{DEAD}-ab")
    lease = Path(lease_path(str(tmp_path / "data.lock")))
    lease.touch()
    assert _found(tmp_path) == []
    os.utime(lease, (1, 1))
    assert len(_found(tmp_path)) == 1


def test_results_that_nobody_used_for_long_are_garbage(tmp_path: Path) -> None:
    for name, days in (("old", 40), ("young", 3)):
        folder = tmp_path / "transforms" / "root" / name
        folder.mkdir(parents=True)
        (folder / "dataset_info.json").write_text("{}")
        os.utime(folder, (time.time() - days * 86_400,) * 2)
    found = find_garbage(str(tmp_path))
    assert [(os.path.basename(one.path), one.kind) for one in found] == [("old", "unused")]
    assert remove_garbage(found) == 2
    assert os.listdir(tmp_path / "transforms" / "root") == ["young"]
