"""The hash of a key: that of the recorded table, for every kind of key, and words in its order."""

import json
import os
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.write.row_keys import (
    Clash,
    KeyLog,
    KeyRecord,
    as_json,
    bucket_of,
    compare,
    compare_heads,
    from_json,
    hash_words,
    integer_words,
    key_bytes,
    key_hash,
    position_words,
    row_words,
    sorted_order,
)
from datasets_core.errors import DatasetDiskError, DatasetGenerationError, InvalidKeyError

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tfds_generation.json").read_text())
ODD = {"1.5": 1.5, "True": True, "(1, 2)": (1, 2), "numpy.array([7])": np.array([7])}


def given_key(case):
    found = ODD[case["key_repr"]] if "key_repr" in case else case["key"]
    return bytes.fromhex(found["bytes_hex"]) if isinstance(found, dict) else found


def salt_of(case):
    return bytes.fromhex(case["salt"]["bytes_hex"]) if isinstance(case["salt"], dict) else case["salt"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["hash_keys"] if "hex" in case["expected"]], ids=str)
def test_hashes_are_those_on_record(case):
    found = key_hash(given_key(case), salt_of(case))

    known = {"hex": found.hex(), "bucket_of_1000": bucket_of(found, 1000), "bucket_of_10": bucket_of(found, 10)}
    assert {name: known[name] for name in case["expected"]} == case["expected"]


@pytest.mark.parametrize(
    "key", [1.5, (1, 2), None, np.int64(7), np.bool_(True), np.array([1, 2]), np.array([1.5]), np.array([]), [1]], ids=repr
)
def test_other_keys_are_refused_with_their_split_and_row(key):
    with pytest.raises(TypeError):
        key_hash(key, "train")
    with pytest.raises(InvalidKeyError, match="row 12 of split 'train'") as caught:
        hash_words([1, "a", key], "train", first_row=10)
    assert caught.value.row == 12
    assert caught.value.split == "train"


@pytest.mark.parametrize(
    ("one", "other"), [(1, "1"), (b"1", 1), ("a\\b", "a/b"), (np.array(["x"]), "x"), (np.str_("x"), b"x"), (np.array(7), 7)]
)
def test_keys_of_other_kinds_may_be_the_same(one, other):
    assert key_bytes(one) == key_bytes(other)


keys = st.one_of(st.integers(), st.text(), st.binary())


@given(st.lists(keys), st.sampled_from(["train", "test", ""]))
def test_words_are_the_hash_whatever_stands_beside_a_key(listed, split):
    words = hash_words(listed, split)

    assert words.shape == (2, len(listed))
    assert [int(high) << 64 | int(low) for high, low in words.T] == [int.from_bytes(key_hash(key, split)) for key in listed]


@given(st.lists(st.integers(-(1 << 64) - (1 << 63) + 1, (1 << 64) + (1 << 63) - 2) | st.integers(-5, 5) | st.booleans()))
def test_words_of_integers_are_in_their_order(listed):
    words = integer_words(listed)

    assert sorted(range(len(listed)), key=lambda place: tuple(words[:, place])) == sorted(
        range(len(listed)), key=lambda place: listed[place]
    )


def test_words_of_integers_want_integers_that_two_words_hold():
    assert integer_words([1, "2"]) is None
    with pytest.raises(DatasetGenerationError) as caught:
        integer_words([0, 1 << 70], first_row=3)
    assert caught.value.row == 4


def test_rows_without_keys_have_their_number_as_key():
    assert row_words(3, 6, "train").tolist() == hash_words([3, 4, 5], "train").tolist()
    assert position_words(3, 6).tolist() == [[3, 4, 5], [0, 0, 0]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_an_order_sorts_both_words(pairs):
    words = np.array(pairs, np.uint64).reshape(-1, 2).T

    order = sorted_order(words)

    found = words if order is None else words[:, order]
    assert list(map(tuple, found.T.tolist())) == sorted(pairs)


# Laws of `building/keys.py`: a key that two rows share is found, and no other.

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
