"""What is kept of indexes: whole or not at all, and never an error."""

import os
import time

import pytest

from datasets_core.config import using
from datasets_core.fetch.disk_cache import IndexCache


@pytest.fixture
def cache(tmp_path):
    return IndexCache(str(tmp_path / "row_indexes"))


def stored(cache):
    return [os.path.join(folder, name) for folder, _, names in os.walk(cache.folder) for name in names]


def test_a_value_comes_back_and_another_takes_its_place(cache):
    assert cache.get("key") is None
    cache.put("key", b"one" * 100)
    assert cache.get("key") == b"one" * 100
    cache.put("key", b"")
    assert cache.get("key") == b""
    assert cache.get("other") is None
    assert len(stored(cache)) == 1


def test_a_dropped_value_is_gone_and_may_be_dropped_again(cache):
    cache.put("key", b"one")
    cache.drop("key")
    cache.drop("key")
    assert cache.get("key") is None


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "foreign"])
def test_what_is_damaged_is_missing(cache, damage):
    cache.put("key", b"value" * 50)
    (path,) = stored(cache)
    with open(path, "rb") as source:
        data = source.read()
    made = {"cut": data[:-3], "changed": data[:-1] + bytes([data[-1] ^ 1]), "empty": b"", "foreign": b"PAR1"}[damage]
    with open(path, "wb") as out:
        out.write(made)
    assert cache.get("key") is None


def test_there_is_a_ceiling_and_what_was_not_used_for_the_longest_time_goes(tmp_path):
    cache = IndexCache(str(tmp_path / "row_indexes"), 20_000)
    for number in range(60):
        cache.put(str(number), os.urandom(1_000))
        os.utime(cache._path(str(number)), (time.time() - 1_000_000 + number,) * 2)
        assert cache.get("0") is not None  # which marks it as used
        assert sum(map(os.path.getsize, stored(cache))) <= 20_000 + 20_000 // 64
    assert cache.get("59") is not None
    assert cache.get("1") is None


def test_what_nobody_used_for_months_and_halves_may_go(cache):
    for key in ("old", "new"):
        cache.put(key, b"value")
    half = cache._path("old") + ".tmp-1-ab"
    with open(half, "wb") as out:
        out.write(b"half")
    assert cache.stale() == {}
    for path in (half, cache._path("old")):
        os.utime(path, (1, 1))
    assert set(cache.stale()) == {half, cache._path("old")}


def test_keys_are_not_written_down(cache):
    cache.put("https://user:secret@example.org/a?token=secret", b"value")
    (path,) = stored(cache)
    with open(path, "rb") as source:
        assert b"secret" not in source.read()
    assert "secret" not in path


def test_a_folder_that_cannot_be_written_keeps_nothing(tmp_path):
    (tmp_path / "file").write_text("no folder")
    cache = IndexCache(str(tmp_path / "file" / "below"))
    cache.put("key", b"value")
    assert cache.get("key") is None


def test_the_folder_of_the_settings(tmp_path):
    with using(cache_dir=str(tmp_path)):
        IndexCache.of_settings().put("key", b"value")
    assert os.listdir(tmp_path) == ["row_indexes"]
