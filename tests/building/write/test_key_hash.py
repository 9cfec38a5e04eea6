"""The hash of a key: that of the recorded table, for every kind of key, and words in its order."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.write.row_keys import (
    bucket_of,
    hash_words,
    integer_words,
    key_bytes,
    key_hash,
    position_words,
    row_words,
    sorted_order,
)
from datasets_core.errors import DatasetGenerationError, InvalidKeyError

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
    with pytest.raises(DatasetGenerationError, match=r"row 4 is .*too large"):
        integer_words([0, 1 << 70], first_row=3)


def test_rows_without_keys_have_their_number_as_key():
    assert row_words(3, 6, "train").tolist() == hash_words([3, 4, 5], "train").tolist()
    assert position_words(3, 6).tolist() == [[3, 4, 5], [0, 0, 0]]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3))))
def test_an_order_sorts_both_words(pairs):
    words = np.array(pairs, np.uint64).reshape(-1, 2).T

    order = sorted_order(words)

    found = words if order is None else words[:, order]
    assert list(map(tuple, found.T.tolist())) == sorted(pairs)
