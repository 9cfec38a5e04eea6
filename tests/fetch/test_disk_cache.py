"""What is kept of indexes: whole or not at all, and never an error."""

from __future__ import annotations

import contextlib
import io
import itertools
import logging
import os
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.config import using
from datasets_core.fetch import disk_cache
from datasets_core.fetch.disk_cache import IndexCache, RangeCache, write_all


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


# Ranges on the disk: found by version and place, never more than may be, and none where the disk refuses.


def _size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def cache_range_cache(tmp_path):
    return RangeCache(str(tmp_path / "ranges"), 10_000)


def test_bytes_are_found_by_file_version_and_place(cache_range_cache):
    cache_range_cache.put(cache_range_cache.key("u", "v", 0, 3), b"abc")
    assert cache_range_cache.get(cache_range_cache.key("u", "v", 0, 3)) == b"abc"
    for key in (
        cache_range_cache.key("u", "w", 0, 3),
        cache_range_cache.key("t", "v", 0, 3),
        cache_range_cache.key("u", "v", 1, 3),
    ):
        assert cache_range_cache.get(key) is None


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-1] + b"!", lambda data: b""])
def test_damaged_bytes_are_none(cache_range_cache, tmp_path, damage):
    key = cache_range_cache.key("u", "v", 0, 3)
    cache_range_cache.put(key, b"abc")
    (path,) = [path for path in (tmp_path / "ranges").rglob("*") if path.is_file()]
    path.write_bytes(damage(path.read_bytes()))
    assert cache_range_cache.get(key) is None
    cache_range_cache.put(key, b"abc")
    assert cache_range_cache.get(key) == b"abc"


def test_there_are_never_more_bytes_than_may_be_and_the_oldest_go(cache_range_cache, tmp_path):
    keys = [cache_range_cache.key("u", "v", n, n + 900) for n in range(30)]
    for number, key in enumerate(keys):
        cache_range_cache.put(key, bytes(900))
        os.utime(cache_range_cache._path(key), (number, number))
        assert _size(tmp_path / "ranges") <= 10_000
    assert cache_range_cache.get(keys[-1]) is not None
    assert cache_range_cache.get(keys[0]) is None


def test_what_was_used_stays(cache_range_cache):
    keys = [cache_range_cache.key("u", "v", n, n + 900) for n in range(11)]
    for number, key in enumerate(keys[:-1]):
        cache_range_cache.put(key, bytes(900))
        os.utime(cache_range_cache._path(key), (number + 1, number + 1))
    cache_range_cache.get(keys[0])
    cache_range_cache.put(keys[-1], bytes(900))
    assert cache_range_cache.get(keys[0]) is not None
    assert cache_range_cache.get(keys[1]) is None


def test_what_is_larger_than_all_of_it_is_not_kept(cache_range_cache, tmp_path):
    cache_range_cache.put("aa", bytes(20_000))
    assert not (tmp_path / "ranges").exists()


def test_a_disk_that_refuses_is_no_cache_and_said_once(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    cache = RangeCache(str(tmp_path / "file" / "ranges"), 10_000)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            cache.put("aa", b"abc")
    assert cache.get("aa") is None
    assert caplog.text.count("cannot cache fetched") == 1


def test_many_write_and_read_at_the_same_time(tmp_path):
    def work(seed):
        cache = RangeCache(str(tmp_path / "ranges"), 20_000)
        for n in range(60):
            place = (n * 7 + seed) % 40
            key, data = cache.key("u", "v", place, place + 900), bytes([place]) * 900
            assert cache.get(key) in (None, data)
            cache.put(key, data)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    RangeCache(str(tmp_path / "ranges"), 20_000).put("aa", b"x")
    assert _size(tmp_path / "ranges") <= 20_000


def test_many_who_know_nothing_of_each_other_keep_the_ceiling_while_they_write(tmp_path):
    folder, most, seen = tmp_path / "ranges", 400_000, []

    def work(seed):
        cache = RangeCache(str(folder), most)  # counts for itself, as that of another process does
        for n in range(60):
            cache.put(cache.key("u", str(seed), n, n + 900), bytes(900))
            if n % 10 == 9:
                seen.append(_size_now(folder))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    assert max(seen) <= most
    assert max(seen) > most * 0.8


def _size_now(folder):
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                total += os.stat(os.path.join(place, name)).st_size
    return total


def test_the_folder_is_not_walked_for_each_part(tmp_path, monkeypatch):
    cache, walks = RangeCache(str(tmp_path / "ranges"), 10_000_000), []
    listed = cache._listed
    monkeypatch.setattr(cache, "_listed", lambda: [walks.append(1), listed()][1])
    for n in range(200):
        cache.put(cache.key("u", "v", n, n + 900), bytes(900))
    assert len(walks) < 10


def test_what_a_dead_writer_left_goes(cache_range_cache, tmp_path):
    cache_range_cache.put("aa", b"x")
    left = tmp_path / "ranges" / "aa" / "bb.1-2.part"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))
    RangeCache(str(tmp_path / "ranges"), 10_000).put("ab", b"x")
    assert not left.exists()


def test_settings_ask_for_it(tmp_path):
    assert RangeCache.of_settings() is None
    with config.using(stream_cache_bytes=1000, cache_dir=tmp_path):
        cache = RangeCache.of_settings()
        assert cache is RangeCache.of_settings()
        cache.put("aa", b"x")
    assert (tmp_path / "ranges" / "aa" / "aa").exists()


# Unfinished files: dead ones go, living ones stay.


def test_litter_of_dead_owners_goes_and_that_of_living_ones_stays(site, manager, faults, cache_dir):
    cache_dir.mkdir(parents=True)
    for name, pid in (("dead", 2**22 + 1), ("living", os.getpid())):
        (cache_dir / f"{name}.part").write_bytes(b"x")
        (cache_dir / f"{name}.part.json").write_text(f'{{"pid": {pid}, "host": "{os.uname().nodename}"}}')
    (cache_dir / "young.part").write_bytes(b"x")
    (cache_dir / "dead.part.plain").write_bytes(b"x")
    for name in ("dead.part", "living.part", "dead.part.json", "living.part.json"):
        os.utime(cache_dir / name, (0, 0))
    site.pages["/a"] = faults.page(b"a")
    manager.download(site.at("/a"))
    assert sorted(name for name in os.listdir(cache_dir) if ".part" in name) == [
        "living.part",
        "living.part.json",
        "young.part",
    ]


@given(data=st.binary(max_size=300), parts=st.lists(st.integers(1, 40), min_size=1))
def test_all_bytes_are_written_however_few_the_system_takes_at_a_time(data, parts):
    taken, sizes = bytearray(), itertools.cycle(parts)

    class Taking(io.RawIOBase):
        def write(self, rest):
            part = bytes(rest[: next(sizes)])
            taken.extend(part)
            return len(part)

    write_all(cast(Any, Taking()), data)
    assert taken == data


def test_a_note_whose_file_became_the_result_is_litter_of_its_dead_owner(tmp_path, monkeypatch):
    note = tmp_path / f"key{disk_cache.SUFFIX}.json"
    note.write_text('{"pid": 4194999}')
    monkeypatch.setattr(disk_cache, "_LITTER_AFTER_SECONDS", -1.0)
    disk_cache.sweep(str(tmp_path))
    assert not note.exists()
