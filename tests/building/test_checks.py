"""Expected against recorded."""

from types import SimpleNamespace

import pytest

from datasets_core.building.options import check_downloads, check_hashes, check_manifest, check_splits, recorded_downloads
from datasets_core.errors import (
    DamagedShardError,
    ExpectedMoreSplitsError,
    NonMatchingChecksumError,
    NonMatchingSplitsSizesError,
    UnexpectedSplitsError,
)
from datasets_core.fetch.checksums import VerificationMode
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitInfo
from datasets_core.store.manifest import Manifest, ShardRecord

BASIC, ALL, NONE = VerificationMode.BASIC_CHECKS, VerificationMode.ALL_CHECKS, VerificationMode.NO_CHECKS


def splits(**numbers):
    return {name: SplitInfo(name, num_bytes, num_examples) for name, (num_bytes, num_examples) in numbers.items()}


@pytest.mark.parametrize(
    ("expected", "mode"),
    [
        (None, ALL),
        ({}, ALL),
        (splits(train=(1000, 10)), ALL),
        (splits(train=(1009, 10)), ALL),  # another writer's batches
        (splits(train=(7, 10)), BASIC),
        (splits(train=(None, None)), ALL),
        (splits(train=(0, 0)), ALL),
        (splits(test=(1, 1)), NONE),
    ],
)
def test_what_agrees_or_is_unknown_passes(expected, mode):
    check_splits(expected, splits(train=(1000, 10)), dataset="reviews", mode=mode)


@pytest.mark.parametrize(
    ("expected", "mode", "error", "words"),
    [
        (splits(train=(0, 10), test=(0, 1)), BASIC, ExpectedMoreSplitsError, r"\['test'\]"),
        (splits(test=(0, 1)), BASIC, ExpectedMoreSplitsError, r"\['test'\]"),
        (splits(train=(0, 11)), BASIC, NonMatchingSplitsSizesError, "num_examples=11 and has num_examples=10"),
        (splits(train=(2000, 10)), ALL, NonMatchingSplitsSizesError, "num_bytes=2000 and has num_bytes=1000"),
    ],
)
def test_what_differs_is_named_with_both_numbers(expected, mode, error, words):
    with pytest.raises(error, match=words):
        check_splits(expected, splits(train=(1000, 10)), dataset="reviews", mode=mode)


def test_a_split_that_is_not_on_record_is_refused():
    with pytest.raises(UnexpectedSplitsError, match="more"):
        check_splits(splits(train=(0, 1)), splits(train=(0, 1), more=(0, 1)), dataset="reviews", mode=BASIC)


def test_downloads_are_compared_where_both_sides_are_known():
    found = {"http://a/x": {"num_bytes": 3, "checksum": "ab"}}

    check_downloads(None, found, ALL)
    check_downloads({"http://a/x": {"num_bytes": 4, "checksum": None}}, None, ALL)
    check_downloads({"http://a/x": {"num_bytes": None, "checksum": "AB"}}, found, ALL)
    with pytest.raises(NonMatchingChecksumError, match="http://a/x"):
        check_downloads({"http://a/x": {"num_bytes": 4, "checksum": None}}, found, BASIC)


def test_the_first_rows_of_a_dataset_are_compared_in_their_downloads_only():
    recorded = DatasetInfo(splits=[{"name": "train", "num_examples": 9}], download_checksums={"http://a/x": {"num_bytes": 4}})
    builder = SimpleNamespace(is_partial=False, recorded=recorded, label="reviews", is_of_old_datasets=False)
    found = DatasetInfo(splits=[{"name": "train", "num_examples": 3}])

    check_manifest(builder, Manifest(found, max_rows=3), recorded.download_checksums, ALL)
    with pytest.raises(NonMatchingSplitsSizesError):
        check_manifest(builder, Manifest(found), recorded.download_checksums, ALL)
    with pytest.raises(NonMatchingChecksumError):
        check_manifest(builder, Manifest(found, max_rows=3), {"http://a/x": {"num_bytes": 5}}, ALL)


def test_a_shard_of_other_bytes_is_named(tmp_path):
    (tmp_path / "a.arrow").write_bytes(b"abc")
    manifest = Manifest(DatasetInfo(), (ShardRecord("a.arrow", "train", 1, 3, 3, "00", ((1, 1),)),))

    with pytest.raises(DamagedShardError, match=r"a\.arrow.*sha256"):
        check_hashes(str(tmp_path), manifest)


@pytest.mark.parametrize(("is_old", "mode", "compared"), [(True, BASIC, False), (True, ALL, True), (False, BASIC, True)])
def test_downloads_of_old_scripts_count_under_all_checks(is_old: bool, mode: VerificationMode, compared: bool) -> None:
    recorded = DatasetInfo(download_checksums={"https://x.org/a": {"num_bytes": 1, "checksum": None}})
    builder = SimpleNamespace(recorded=recorded, is_of_old_datasets=is_old)
    assert (recorded_downloads(builder, mode) is not None) is compared
