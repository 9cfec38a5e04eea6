"""How many shards, and where they end: the recorded tables, and the laws."""

import itertools
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.write.reorder import ROW_BYTES, number_of_shards, shard_boundaries
from datasets_core.meta.split_info import shard_file_name

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "tfds_generation.json").read_text())


@pytest.mark.parametrize("case", GOLDEN["number_of_shards"], ids=str)
def test_numbers_of_shards_are_those_on_record(case):
    found = number_of_shards(case["total_size"], case["num_examples"], is_precise=case["precise"])

    assert found == case["expected"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["number_of_shards_config"] if "tfds_quirk" not in case], ids=str)
def test_a_wish_for_shards_is_met_and_zero_is_none(case):
    assert number_of_shards(case["total_size"], case["num_examples"], **case["config"]) == case["expected"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["shard_boundaries"] if "value" in case.get("expected", {})], ids=str)
def test_boundaries_are_those_on_record(case):
    assert shard_boundaries(case["num_examples"], case["num_shards"]) == case["expected"]["value"]


@pytest.mark.parametrize("case", [case for case in GOLDEN["shard_boundaries"] if "error" in case.get("expected", {})], ids=str)
def test_shards_without_rows_are_refused(case):
    with pytest.raises(ValueError, match="rows cannot fill"):
        shard_boundaries(case["num_examples"], case["num_shards"])


@pytest.mark.parametrize("case", [case for case in GOLDEN["shard_boundaries"] if "expected_starts" in case], ids=str)
def test_starts_of_a_large_split_are_those_on_record(case):
    starts = [0, *shard_boundaries(case["num_examples"], case["num_shards"])]

    assert {index: starts[int(index)] for index in case["expected_starts"]} == case["expected_starts"]


@pytest.mark.parametrize("wish", [-1, 11])
def test_wishes_that_cannot_be_met_are_refused(wish):
    with pytest.raises(ValueError, match=f"num_shards is {wish} for 10 rows"):
        number_of_shards(100, 10, num_shards=wish)


@given(st.integers(0, 1 << 50), st.integers(1, 10_000), st.integers(1, 1 << 40))
def test_shards_keep_to_their_largest_size_on_the_average_and_no_fewer_would(num_bytes, num_rows, most):
    count = number_of_shards(num_bytes, num_rows, max_shard_bytes=most)

    total = num_bytes + ROW_BYTES * num_rows
    assert 1 <= count <= num_rows
    assert total <= most * count or count == num_rows
    assert count == 1 or total > most * (count - 1)


@given(st.integers(1, 1 << 40).flatmap(lambda rows: st.tuples(st.just(rows), st.integers(1, min(rows, 2000)))))
def test_boundaries_cut_rows_into_shards_of_about_one_length(rows_and_shards):
    rows, shards = rows_and_shards

    ends = shard_boundaries(rows, shards)

    lengths = [stop - start for start, stop in itertools.pairwise([0, *ends])]
    assert len(lengths) == shards
    assert sum(lengths) == rows
    assert max(lengths) - min(lengths) <= 1
    assert min(lengths) >= 1


def test_boundaries_of_many_rows_are_exact():
    assert shard_boundaries(10**18 + 1, 2) == [5 * 10**17, 10**18 + 1]


@pytest.mark.parametrize(("total", "name"), [(2, "a-b-00001-of-00002.arrow"), (100_000, "a-b-000001-of-100000.arrow")])
def test_shards_are_named_with_five_digits_or_more(total, name):
    assert shard_file_name("a", "b", 1, total) == name
