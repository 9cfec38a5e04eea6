"""Names on disk."""

import os
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.store import manifest


def test_a_staging_folder_stands_beside_its_target_and_names_its_owner(tmp_path: Path) -> None:
    path = manifest.staging_path(str(tmp_path / "data"))
    assert os.path.dirname(path) == str(tmp_path)
    assert manifest.parse_staging(path) == manifest.StagingName(path, str(tmp_path / "data"), os.getpid())


def test_fresh_names_differ(tmp_path: Path) -> None:
    assert (
        len({manifest.staging_path(str(tmp_path)) for _ in range(50)} | {manifest.temporary_path("a") for _ in range(50)})
        == 100
    )


def test_only_the_staging_folders_of_the_target_are_listed(tmp_path: Path) -> None:
    for name in ("data", "data.incomplete-1-ab", "data.incomplete-2-cd", "data2.incomplete-1-ab", "data.incomplete-x-ab"):
        (tmp_path / name).mkdir()
    (tmp_path / "data.incomplete-3-ab").touch()
    found = [(os.path.basename(name.path), name.pid) for name in manifest.staging_folders(str(tmp_path / "data"))]
    assert found == [
        ("data.incomplete-1-ab", 1),
        ("data.incomplete-2-cd", 2),
    ]


def test_nothing_is_listed_where_no_folder_is(tmp_path: Path) -> None:
    assert manifest.staging_folders(str(tmp_path / "no" / "data")) == []


def test_a_link_and_its_folder_share_lock_and_staging(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert (
        manifest.lock_path(str(tmp_path / "link")) == manifest.lock_path(f"file://{tmp_path}/real") == f"{tmp_path}/real.lock"
    )


def test_a_url_is_staged_in_the_cache(tmp_path: Path) -> None:
    with config.using(cache_dir=tmp_path):
        assert manifest.staging_base("s3://bucket/a").startswith(str(tmp_path))
        assert manifest.staging_base("s3://bucket/a") != manifest.staging_base("s3://bucket/b")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("reviews-train-00000-of-00001.arrow", True),
        ("reviews-train-100000-of-100001.parquet", True),
        ("reviews-train-00000-of-00001-0123456789abcdef.arrow", True),
        ("cache-0123456789abcdef.arrow", False),
        ("dataset_info.json", False),
        ("reviews-train.arrow", False),
    ],
)
def test_shards_are_known_by_name(name: str, known: bool) -> None:
    assert manifest.is_shard_name(name) is known
