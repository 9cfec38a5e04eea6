"""Expected against recorded: which splits there are, how many rows and bytes each has, and what the downloads were.

What is not on record is not known, and never a mismatch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from datasets_core.building.hooks import Builder
from datasets_core.errors import (
    DamagedShardError,
    ExpectedMoreSplitsError,
    NonMatchingSplitsSizesError,
    UnexpectedSplitsError,
    describe,
)
from datasets_core.fetch.checksum import Digest, VerificationMode, check_files
from datasets_core.files import join, open_binary
from datasets_core.meta.split_info import SplitInfo
from datasets_core.store.manifest import Manifest

STRENGTH = {VerificationMode.NO_CHECKS: 0, VerificationMode.BASIC_CHECKS: 1, VerificationMode.ALL_CHECKS: 2}

_BLOCK = 1 << 20


def check_splits(
    expected: Mapping[str, SplitInfo] | None, found: Mapping[str, SplitInfo], *, dataset: str, mode: VerificationMode
) -> None:
    """Compare the splits that were built with those on record.

    Args:
        expected: the recorded splits; None where none are.
        found: the splits that were built.
        dataset: for messages.
        mode: bytes are compared only under `all_checks`, since they depend on how the rows are stored.

    Raises:
        ExpectedMoreSplitsError: a recorded split was not built.
        UnexpectedSplitsError: a split was built that is not on record.
        NonMatchingSplitsSizesError: a split has another number of rows or bytes.
    """
    if not expected or mode is VerificationMode.NO_CHECKS:
        return
    missing = [name for name in expected if name not in found]
    if missing:
        raise ExpectedMoreSplitsError(
            f"{dataset!r} was built without the splits {missing} that are on record (built: {list(found)}). "
            "Mend the record or the data; verification_mode='no_checks' skips the comparison."
        )
    extra = [name for name in found if name not in expected]
    if extra:
        raise UnexpectedSplitsError(
            f"{dataset!r} has the splits {extra} that are not on record (recorded: {list(expected)}). "
            "Mend the record or the data; verification_mode='no_checks' skips the comparison."
        )
    wrong = [line for name in found for line in _differences(name, expected[name], found[name], mode)]
    if wrong:
        raise NonMatchingSplitsSizesError(
            f"{dataset!r} differs from its record: {'; '.join(wrong)}. "
            "Mend the record or the data; verification_mode='no_checks' skips the comparison."
        )


def _differences(name: str, expected: SplitInfo, found: SplitInfo, mode: VerificationMode) -> Iterable[str]:
    wanted: dict[str, object] = {}
    if expected.num_examples and expected.num_examples != found.num_examples:  # a recorded 0 is how old records say unknown
        wanted["num_examples"] = expected.num_examples
    if mode is VerificationMode.ALL_CHECKS and expected.num_bytes and not _about(expected.num_bytes, found.num_bytes or 0):
        wanted["num_bytes"] = expected.num_bytes
    if wanted:
        real = {what: getattr(found, what) for what in wanted}
        yield f"split {name!r} was expected with {describe(wanted)} and has {describe(real)}"


def _about(expected: int, found: int) -> bool:
    """Equal but for the offsets and bitmaps that each record batch adds: other writers make other batches."""
    return abs(expected - found) * 100 <= expected


def check_downloads(expected: Mapping[str, Any] | None, recorded: Mapping[str, Any] | None, mode: VerificationMode) -> None:
    """Compare the downloads with those on record.

    Raises:
        ChecksumVerificationError: a file is missing, is not on record, or has other bytes.
    """
    if recorded is not None:
        check_files(expected or None, recorded, mode)


def recorded_downloads(builder: Builder, mode: VerificationMode) -> Mapping[str, Any] | None:
    """What is on record of the downloads of a builder; None where they are not compared.

    Hugging Face `datasets` compared them under `all_checks` alone, and the files of many scripts changed since.
    """
    if builder.is_of_old_datasets and mode is not VerificationMode.ALL_CHECKS:
        return None
    return builder.recorded.download_checksums or None


def check_manifest(builder: Builder, manifest: Manifest, downloads: Mapping[str, Any] | None, mode: VerificationMode) -> None:
    """Compare a whole dataset, and the downloads that it was built from, with what its builder has on record.

    A dataset of files that the user chose is a part of what is on record, and compared with nothing; of one that
    holds the first rows of each split, only the downloads are.

    Raises:
        VerificationError: they differ.
    """
    if builder.is_partial:
        return
    check_downloads(recorded_downloads(builder, mode), downloads, mode)
    if manifest.max_rows is None:
        check_splits(builder.recorded.splits, manifest.info.splits or {}, dataset=builder.label, mode=mode)


def check_shards(
    folder: str,
    manifest: Manifest,
    on_bytes: Callable[[int], object] = lambda done: None,
    storage_options: dict[str, Any] | None = None,
) -> None:
    """Hash every shard again, local or remote, and compare it with its record.

    Raises:
        DamagedShardError: one has other bytes.
    """
    for shard in manifest.shards:
        path = join(folder, shard.name)
        digest = Digest()
        with open_binary(path, storage_options) as handle:
            while block := handle.read(_BLOCK):
                digest.update(block)
        found = digest.hexdigest()
        on_bytes(shard.num_bytes)
        if found != shard.sha256:
            raise DamagedShardError(path, f"has sha256 {found}, and {shard.sha256} is on record")
