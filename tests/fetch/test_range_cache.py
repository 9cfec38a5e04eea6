"""Ranges on the disk: found by version and place, never more than may be, and none where the disk refuses."""

import contextlib
import logging
import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from datasets_core import config
from datasets_core.fetch.disk_cache import RangeCache


def _size(folder):
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


@pytest.fixture
def cache(tmp_path):
    return RangeCache(str(tmp_path / "ranges"), 10_000)


def test_bytes_are_found_by_file_version_and_place(cache):
    cache.put(cache.key("u", "v", 0, 3), b"abc")
    assert cache.get(cache.key("u", "v", 0, 3)) == b"abc"
    for key in (cache.key("u", "w", 0, 3), cache.key("t", "v", 0, 3), cache.key("u", "v", 1, 3)):
        assert cache.get(key) is None


@pytest.mark.parametrize("damage", [lambda data: data[:-1], lambda data: data[:-1] + b"!", lambda data: b""])
def test_damaged_bytes_are_none(cache, tmp_path, damage):
    key = cache.key("u", "v", 0, 3)
    cache.put(key, b"abc")
    (path,) = [path for path in (tmp_path / "ranges").rglob("*") if path.is_file()]
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get(key) is None
    cache.put(key, b"abc")
    assert cache.get(key) == b"abc"


def test_there_are_never_more_bytes_than_may_be_and_the_oldest_go(cache, tmp_path):
    keys = [cache.key("u", "v", n, n + 900) for n in range(30)]
    for number, key in enumerate(keys):
        cache.put(key, bytes(900))
        os.utime(cache._path(key), (number, number))
        assert _size(tmp_path / "ranges") <= 10_000
    assert cache.get(keys[-1]) is not None
    assert cache.get(keys[0]) is None


def test_what_was_used_stays(cache):
    keys = [cache.key("u", "v", n, n + 900) for n in range(11)]
    for number, key in enumerate(keys[:-1]):
        cache.put(key, bytes(900))
        os.utime(cache._path(key), (number + 1, number + 1))
    cache.get(keys[0])
    cache.put(keys[-1], bytes(900))
    assert cache.get(keys[0]) is not None
    assert cache.get(keys[1]) is None


def test_what_is_larger_than_all_of_it_is_not_kept(cache, tmp_path):
    cache.put("aa", bytes(20_000))
    assert not (tmp_path / "ranges").exists()


def test_a_disk_that_refuses_is_no_cache_and_said_once(tmp_path, caplog):
    (tmp_path / "file").write_text("")
    cache = RangeCache(str(tmp_path / "file" / "ranges"), 10_000)
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            cache.put("aa", b"abc")
    assert cache.get("aa") is None
    assert caplog.text.count("cannot keep what is fetched") == 1


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


def test_what_a_dead_writer_left_goes(cache, tmp_path):
    cache.put("aa", b"x")
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
