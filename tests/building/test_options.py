"""The arguments of a build."""

import numpy as np
import pytest

from datasets_core.building.options import BuildOptions
from datasets_core.errors import ConfigurationError
from datasets_core.fetch.checksums import DownloadMode, VerificationMode
from datasets_core.store.rows.indices import parse_size


@pytest.mark.parametrize(
    "options",
    [
        {"num_proc": 0},
        {"file_format": "json"},
        {"download_mode": "sometimes"},
        {"verification_mode": "some_checks"},
        {"max_shard_size": "big"},
        {"max_shard_size": 0},
        {"engine": "steam"},
        {"num_shards": -1},
        {"num_shards": 1.5},
        {"num_shards": True},
        {"max_examples_per_split": -1},
        {"max_examples_per_split": "10"},
        {"wrong": 1},
    ],
)
def test_options_without_a_meaning_are_refused(options):
    with pytest.raises(ConfigurationError):
        BuildOptions.of(output_dir="x", **options)


@pytest.mark.parametrize(
    ("size", "expected"), [(None, None), (7, 7), ("500MB", 500_000_000), ("1.5 KiB", 1536), ("2_000", 2000), ("1gb", 10**9)]
)
def test_sizes_are_read(size, expected):
    assert parse_size(size) == expected


def test_what_is_left_out_has_a_default():
    options = BuildOptions.of(output_dir="x")

    assert options.mode is DownloadMode.REUSE_DATASET_IF_EXISTS
    assert options.verification is VerificationMode.BASIC_CHECKS
    assert (options.num_shards, options.disable_shuffling, options.max_rows) == (None, False, None)


def test_no_shards_are_no_wish_and_no_rows_are_one():
    options = BuildOptions.of(output_dir="x", num_shards=0, max_examples_per_split=0)

    assert (options.num_shards, options.max_rows) == (None, 0)


def test_counts_may_be_integers_of_numpy():
    counts = {name: np.int64(3) for name in ("num_shards", "max_examples_per_split", "num_proc", "max_shard_size")}
    options = BuildOptions.of(output_dir="x", **counts)

    found = (options.num_shards, options.max_rows, options.max_shard_bytes)
    assert found == (3, 3, 3)
    assert [type(each) for each in found] == [int] * 3


def test_old_names_are_taken():
    options = BuildOptions.of(output_dir="x", ignore_verifications=True, try_from_hf_gcs=False)

    assert options.verification is VerificationMode.NO_CHECKS
