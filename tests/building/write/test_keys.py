"""Laws of `building/keys.py`: a key that two rows share is found, and no other."""

import os
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.write.row_keys import Clash, KeyLog, KeyRecord, as_json, compare, compare_heads, from_json
from datasets_core.errors import DatasetDiskError, InvalidKeyError

INTEGERS = st.integers(-(1 << 70), 1 << 70) | st.integers(-3, 200)
PLAIN = INTEGERS | st.text(max_size=100) | st.binary(max_size=100)
KEYS = PLAIN | st.tuples(PLAIN, PLAIN)


def log_of(folder, chunks, *, stem="job", keep=False, memory_keys=1 << 20):
    log = KeyLog(str(folder), stem, keep=keep, memory_keys=memory_keys)
    for chunk in chunks:
        log.add(chunk)
    return log.finish()


def chunked(keys, size):
    return [keys[start : start + size] for start in range(0, len(keys), size)]


def clash_of(call):
    """The rows of the clash that a call finds, or None."""
    try:
        call()
    except Clash as clash:
        return clash.first, clash.second
    return None


def rows_that_share_a_key(jobs):
    """All pairs of different places (job, row) that have one key, the earlier one first."""
    places = [((job, row), key) for job, keys in enumerate(jobs) for row, key in enumerate(keys)]
    return {(a, b) for (a, one), (b, other) in combinations(places, 2) if one == other}


@given(st.lists(KEYS, max_size=60), st.integers(1, 9))
def test_a_clash_is_found_exactly_where_two_keys_are_equal(tmp_path_factory, keys, size):
    folder = tmp_path_factory.mktemp("keys")

    found = clash_of(lambda: log_of(folder, chunked(keys, size), memory_keys=16))

    assert found in (rows_that_share_a_key([keys]) or {None})


@given(st.lists(st.lists(st.integers(-50, 400) | st.text("ab", max_size=4), unique=True, max_size=80), max_size=4))
def test_a_key_of_two_jobs_is_found(tmp_path_factory, jobs):
    folder = tmp_path_factory.mktemp("keys")
    records = [log_of(folder, chunked(keys, 30), stem=f"job{n}", keep=True) for n, keys in enumerate(jobs)]

    found = clash_of(lambda: compare(records, str(folder), at_once=8))

    assert (found and tuple(sorted(found))) in (rows_that_share_a_key(jobs) or {None})


def test_counting_keys_cost_one_interval(tmp_path):
    record = log_of(tmp_path, [range(start, start + 1000) for start in range(0, 100_000, 1000)], keep=True)

    assert record == KeyRecord(100_000, ((0, 100_000, 0),), (), ())
    assert list(tmp_path.iterdir()) == []


def test_an_integer_inside_a_counted_run_is_found(tmp_path):
    with pytest.raises(Clash) as caught:
        log_of(tmp_path, [list(range(500)), [7000, 123]])

    assert (caught.value.first, caught.value.second) == ((0, 123), (0, 501))


def test_a_repeat_in_one_chunk_is_found_at_once(tmp_path):
    log = KeyLog(str(tmp_path), "job", keep=False)
    log.add(["a", "b"])

    with pytest.raises(Clash) as caught:
        log.add(["c", "d", "c"])

    assert (caught.value.first, caught.value.second) == ((0, 2), (0, 4))


def test_a_repeat_far_apart_is_found_though_the_runs_were_spilled(tmp_path):
    keys = [f"key {number * 7919 % 10_007}" for number in range(10_000)]

    with pytest.raises(Clash) as caught:
        log_of(tmp_path, chunked([*keys, keys[3]], 100), memory_keys=1024)

    assert (caught.value.first, caught.value.second) == ((0, 3), (0, 10_000))


def test_kinds_of_keys_are_told_apart(tmp_path):
    assert log_of(tmp_path, [[1, "1", b"1", (1,), ("1",), (1, 2), "12", 12]]).rows == 8


def test_true_is_one(tmp_path):
    with pytest.raises(Clash):
        log_of(tmp_path, [[1, True]])


@pytest.mark.parametrize("key", [None, 1.5, {"a": 1}, ["a"], ("a", None)])
def test_a_key_that_cannot_be_compared_is_refused_with_its_row(tmp_path, key):
    with pytest.raises(InvalidKeyError, match="row 3") as caught:
        log_of(tmp_path, [["a", "b"], ["c", key]])

    assert caught.value.key == key


def test_first_keys_of_jobs_are_compared_when_they_arrive(tmp_path):
    records = [log_of(tmp_path, [[f"{row}" for row in range(500)]], stem=stem, keep=True) for stem in ("a", "b")]

    with pytest.raises(Clash) as caught:
        compare_heads(records, 1, str(tmp_path))

    assert {caught.value.first[0], caught.value.second[0]} == {0, 1}


def test_a_record_survives_the_journal(tmp_path):
    record = log_of(tmp_path, [list(range(100)), ["a", "b"]], keep=True)

    assert from_json(as_json(record)) == record


def test_keys_that_find_no_space_are_one_disk_error(tmp_path):
    os.symlink("/dev/full", tmp_path / "job-00000.keys")

    with pytest.raises(DatasetDiskError, match="No space left") as caught:
        log_of(tmp_path, [["a", "b"]], keep=True)

    assert caught.value.needed == 48
