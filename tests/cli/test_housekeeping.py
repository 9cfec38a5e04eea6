"""`verify` and `cache`."""

import os
import re
import time
from pathlib import Path
from typing import Any

import pytest

from datasets_core.cli.main import main
from datasets_core.fetch.disk_cache import IndexCache


def _shard(folder: str) -> Path:
    return next(Path(folder).glob("*.arrow"))


def test_a_sound_dataset_verifies(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", built]) == 0
    assert capsys.readouterr().out.startswith(f"good {built}: 1 shard, 3 rows,")


def test_one_flipped_bit_is_found_and_named(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    shard = _shard(built)
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    assert main(["verify", built]) == 1
    assert f"BAD  {shard}: the shard has sha256" in capsys.readouterr().out


def test_a_missing_shard_is_named(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    shard = _shard(built)
    shard.unlink()
    assert main(["verify", built]) == 1
    assert f"{shard}: the shard is missing" in capsys.readouterr().out


def test_a_folder_without_datasets_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path)]) == 1
    assert "holds no finished dataset" in capsys.readouterr().err


def test_a_name_of_the_cache_verifies_too(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.path.relpath(built, cache)
    for part in (name, name.partition("/")[0]):
        assert main(["verify", part, "--cache-dir", cache]) == 0
        assert capsys.readouterr().out.startswith(f"good {built}: ")


def test_a_dataset_of_the_hub_verifies_by_its_name_there(hub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    hub.repo("org/data", {"train.csv": "a\n1\n"})
    assert main(["build", "org/data"]) == 0
    capsys.readouterr()
    assert main(["verify", "org/data"]) == 0
    assert "good" in capsys.readouterr().out
    assert main(["cache", "rm", "org/data", "--yes"]) == 0
    assert main(["verify", "org/data"]) != 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 minutes"), (61, "1 minute"), (7300, "2 hours"), (86_401, "1 day"), (900_000, "10 days")]
)
def test_the_list_tells_age_and_source(
    seconds: int, words: str, built: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]
) -> None:
    then = time.time() - seconds
    os.utime(os.path.join(built, "dataset_info.json"), (then, then))
    assert main(["cache", "ls", "--cache-dir", cache]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(f"  {words} old  from {table}")


def test_the_list_counts_the_sources_past_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    words = ["csv", "--data-files", str(tmp_path / "*.csv"), "--cache-dir", str(tmp_path / "cache")]
    assert main(["build", *words]) == 0
    capsys.readouterr()
    assert main(["cache", "ls", "--cache-dir", str(tmp_path / "cache")]) == 0
    assert capsys.readouterr().out.splitlines()[0].endswith(f"  from {tmp_path}/a.csv (+ 2 more)")


def test_the_cache_is_listed_and_removed_by_name(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.path.relpath(built, cache)
    assert main(["cache", "ls", "--cache-dir", cache]) == 0
    assert capsys.readouterr().out.startswith(f"{name}  train 3  ")
    assert main(["cache", "rm", name, "--yes", "--cache-dir", cache]) == 0
    assert not os.path.exists(built)


def test_nothing_is_removed_unasked(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "rm", os.path.relpath(built, cache), "--cache-dir", cache]) == 1
    assert re.search(r"Removing 1 dataset \(.* kB\) needs a yes\. Pass --yes\.", capsys.readouterr().err)
    assert os.path.exists(built)


def test_removing_what_is_not_there_is_an_error(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "rm", "nobody", "--yes", "--cache-dir", cache]) == 1
    assert "No dataset 'nobody'" in capsys.readouterr().err


def test_gc_removes_a_dead_build_and_spares_a_finished_one(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    dead = Path(f"{built}.incomplete-999999999-abcd")
    dead.mkdir()
    (dead / "job.arrow").write_bytes(b"x" * 100)
    for path in (dead / "job.arrow", dead):
        os.utime(path, (0, 0))
    assert main(["cache", "gc", "--dry-run", "--cache-dir", cache]) == 0
    assert dead.exists()
    assert main(["cache", "gc", "--cache-dir", cache]) == 0
    assert str(dead) in capsys.readouterr().out
    assert not dead.exists()
    assert os.path.exists(built)


def test_gc_removes_indexes_that_nobody_used_for_months(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = IndexCache(os.path.join(cache, "row_indexes"))
    for key in ("old", "new"):
        kept.put(key, b"value")
    old = min(path for path in Path(kept.folder).rglob("*") if path.is_file())
    os.utime(old, (1, 1))
    assert main(["cache", "gc", "--cache-dir", cache]) == 0
    assert str(old) in capsys.readouterr().out
    assert len([path for path in Path(kept.folder).rglob("*") if path.is_file()]) == 1


def test_gc_removes_a_dead_download_and_spares_a_fresh_one(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    downloads = Path(cache) / "downloads"
    downloads.mkdir(exist_ok=True)
    dead, fresh = downloads / "dead.part", downloads / "fresh.part"
    for path in (dead, Path(f"{dead}.plain"), fresh):
        path.write_bytes(b"x" * 100)
    os.utime(dead, (0, 0))
    assert main(["cache", "gc", "--dry-run", "--cache-dir", cache]) == 0
    assert "200 B would come free" in capsys.readouterr().out
    assert dead.exists()
    assert main(["cache", "gc", "--cache-dir", cache]) == 0
    assert re.search(rf"^download +200 B  {re.escape(str(dead))}$", capsys.readouterr().out, re.MULTILINE)
    assert sorted(path.name for path in downloads.glob("*.part*")) == ["fresh.part"]
