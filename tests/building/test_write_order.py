"""Which order is wanted, and which dataset that stands has it."""

from types import SimpleNamespace

import pytest

from datasets_core.building.options import BuildOptions, is_wanted, variant_folder, wanted_order
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.manifest import Manifest, ShardRecord


def builder(shuffles, disables=False):
    return SimpleNamespace(shuffle_on_write=shuffles, info=DatasetInfo(disable_shuffling=disables))


def manifest(order="source", lengths=(5, 5), **more):
    shards = tuple(ShardRecord(f"{rows}", "train", rows, 100, 10, "", ((rows, 1),)) for rows in lengths)
    return Manifest(DatasetInfo(), shards, write_order=order, **more)


def options(**given):
    return BuildOptions.of(output_dir="x", **given)


@pytest.mark.parametrize(
    ("shuffles", "disables", "asked", "expected"),
    [
        (False, False, False, "source"),
        (False, True, True, "source"),
        (True, False, False, "hash"),
        (True, True, False, "key"),
        (True, False, True, "key"),
    ],
)
def test_rows_are_ordered_where_a_builder_asks_for_it_and_nobody_disables_it(shuffles, disables, asked, expected):
    assert wanted_order(builder(shuffles, disables), disable_shuffling=asked) == expected


@pytest.mark.parametrize(
    ("shuffles", "given", "stands", "expected"),
    [
        (False, {}, manifest(), True),
        (False, {}, manifest("hash"), False),
        (False, {}, manifest(disable_shuffling=True), False),
        (True, {}, manifest("hash"), True),
        (True, {}, manifest(), False),
        (True, {}, manifest("key", disable_shuffling=True), False),
        (True, {"disable_shuffling": True}, manifest("key", disable_shuffling=True), True),
        (True, {"disable_shuffling": True}, manifest("source", disable_shuffling=True), True),
        (True, {"disable_shuffling": True}, manifest("hash"), False),
        (True, {"num_shards": 2}, manifest("hash"), True),
        (True, {"num_shards": 3}, manifest("hash"), False),
        (True, {"num_shards": 0}, manifest("hash"), True),
        (False, {"num_shards": 3}, manifest(lengths=(0,)), True),
        (False, {"max_examples_per_split": 10}, manifest(), False),
        (False, {"max_examples_per_split": 10}, manifest(max_rows=10), True),
        (False, {}, manifest(max_rows=10), False),
    ],
)
def test_what_stands_is_taken_where_rows_order_and_shards_are_those_asked_for(shuffles, given, stands, expected):
    assert is_wanted(stands, builder(shuffles), options(**given)) is expected


def test_other_rows_and_another_order_have_folders_of_their_own():
    plain, shuffling, kept = builder(False), builder(True), builder(True, disables=True)

    assert variant_folder("/c/a", plain, disable_shuffling=True, max_rows=None) == "/c/a"
    assert variant_folder("/c/a", shuffling, disable_shuffling=True, max_rows=None) == "/c/a-unshuffled"
    assert variant_folder("/c/a", kept, disable_shuffling=True, max_rows=3) == "/c/a-first3"
