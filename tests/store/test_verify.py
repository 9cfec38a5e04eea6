"""Every shard against the manifest."""

import os
from collections.abc import Callable
from pathlib import Path

import fsspec
import pyarrow as pa
import pytest

from datasets_core.store.manifest import Manifest
from datasets_core.store.source import verify_folder

Dataset = tuple[str, Manifest]
Build = Callable[..., Dataset]


def _flip(path: str) -> None:
    with open(path, "r+b") as handle:
        handle.seek(os.path.getsize(path) // 2)
        byte = handle.read(1)[0]
        handle.seek(-1, os.SEEK_CUR)
        handle.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_an_untouched_dataset_has_no_problem(tmp_path: Path, table: pa.Table, build: Build, file_format: str) -> None:
    target, _ = build(str(tmp_path / "data"), table, file_format=file_format)
    assert verify_folder(target) == []


def test_every_fault_is_named_with_its_file(dataset: Dataset) -> None:
    target, manifest = dataset
    paths = [os.path.join(target, shard.name) for shard in manifest.shards]
    os.unlink(paths[0])
    _flip(paths[1])
    with open(paths[2], "ab") as handle:
        handle.write(b"x")
    os.unlink(paths[3])
    os.mkdir(paths[3])
    extra = os.path.join(target, "reviews-train-00000-of-00009.arrow")
    Path(extra).touch()
    problems = verify_folder(target)
    assert [(problem.path, problem.kind) for problem in problems] == [
        (paths[0], "missing"),
        (paths[1], "sha256"),
        (paths[2], "size"),
        (paths[3], "unreadable"),
        (extra, "extra"),
    ]
    assert str(problems[0]) == f"{paths[0]}: the shard is missing (20 rows of split 'train')"


def test_progress_is_told_in_bytes_to_the_end(dataset: Dataset) -> None:
    target, manifest = dataset
    told: list[int] = []
    verify_folder(target, told.append)
    assert sum(told) == sum(shard.size for shard in manifest.shards)


def test_without_a_manifest_nothing_can_be_right(tmp_path: Path) -> None:
    (problem,) = verify_folder(str(tmp_path))
    assert (problem.path, problem.kind) == (str(tmp_path), "manifest")
    (tmp_path / "dataset_info.json").write_text("{")
    (problem,) = verify_folder(str(tmp_path))
    assert (problem.path, problem.kind) == (str(tmp_path / "dataset_info.json"), "manifest")


def test_remote_datasets_are_verified(table: pa.Table, build: Build) -> None:
    target, manifest = build("memory://verify/reviews", table)
    assert verify_folder(target) == []
    fsspec.filesystem("memory").pipe_file(f"/verify/reviews/{manifest.shards[0].name}", bytes(manifest.shards[0].size))
    assert [problem.kind for problem in verify_folder(target)] == ["sha256"]
