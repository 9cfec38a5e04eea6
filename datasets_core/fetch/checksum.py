"""Digests of downloaded files: compute, compare, record; and how strictly to compare."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from datasets_core.errors import (
    ConfigurationError,
    ExpectedMoreDownloadedFilesError,
    NonMatchingChecksumError,
    UnexpectedDownloadedFileError,
)
from datasets_core.redact import redact

REGISTER_IT = "If what comes now is right, register it with register_checksums=True"
_CHUNK = 1 << 20
_LEAST_CHUNK = 1 << 13


class VerificationMode(StrEnum):
    """How much is compared with the record: everything, the cheap things, or nothing.

    >>> VerificationMode("all_checks")
    <VerificationMode.ALL_CHECKS: 'all_checks'>
    """

    ALL_CHECKS = "all_checks"
    BASIC_CHECKS = "basic_checks"
    NO_CHECKS = "no_checks"

    @classmethod
    def _missing_(cls, value: object) -> VerificationMode:
        known = ", ".join(repr(mode.value) for mode in cls)
        raise ConfigurationError(f"{value!r} is no verification mode. Modes: {known}.")


@dataclass(frozen=True, slots=True)
class FileRecord:
    """Size and sha256 of one file; None where the record does not say."""

    num_bytes: int | None = None
    checksum: str | None = None

    @classmethod
    def from_dict(cls, record: Mapping[str, Any] | FileRecord | None) -> FileRecord:
        """A record in the form of `dataset_infos.json`; unknown means None."""
        if isinstance(record, FileRecord):
            return record
        size, checksum = (record or {}).get("num_bytes"), (record or {}).get("checksum")
        return cls(None if size is None else int(size), checksum.lower() if checksum else None)

    def to_dict(self) -> dict[str, int | str | None]:
        """The form of `dataset_infos.json`."""
        return {"num_bytes": self.num_bytes, "checksum": self.checksum}


@dataclass(frozen=True, slots=True)
class RegisteredFile:
    """What a `checksums.tsv` registers of a URL: size and sha256, and the name of the file for whoever fetches it by hand."""

    num_bytes: int | None = None
    checksum: str | None = None
    name: str | None = None

    @property
    def record(self) -> FileRecord:
        """Size and sha256."""
        return FileRecord(self.num_bytes, self.checksum)


class Digest:
    """A sha256 and a count of bytes, taken while the bytes pass by."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.num_bytes = 0

    def update(self, data: bytes | bytearray | memoryview) -> None:
        """Take in more bytes."""
        self._hash.update(data)
        self.num_bytes += len(data)

    def hexdigest(self) -> str:
        """The sha256 of the bytes so far."""
        return self._hash.hexdigest()

    def record(self) -> FileRecord:
        """What was seen so far."""
        return FileRecord(self.num_bytes, self.hexdigest())


def digest_of(path: str | os.PathLike[str]) -> Digest:
    """The digest of a whole local file, open to be continued."""
    digest = Digest()
    with open(path, "rb", buffering=0) as source:
        buffer = memoryview(bytearray(min(_CHUNK, max(_LEAST_CHUNK, os.fstat(source.fileno()).st_size + 1))))
        while count := source.readinto(buffer):
            digest.update(buffer[:count])
    return digest


def record_of(path: str | os.PathLike[str]) -> FileRecord:
    """Size and sha256 of a local file."""
    return digest_of(path).record()


def differ(expected: FileRecord, found: FileRecord) -> bool:
    """Whether two records of a file contradict each other; what either does not say is not compared.

    >>> differ(FileRecord(3), FileRecord(3, "ab")), differ(FileRecord(3, "cd"), FileRecord(3, "ab"))
    (False, True)
    """
    pairs = ((expected.num_bytes, found.num_bytes), (expected.checksum, found.checksum))
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def check_file(url: str, expected: FileRecord, found: FileRecord, mode: VerificationMode) -> None:
    """Compare one file with its record, as strictly as `mode` says; what either does not say is not compared.

    Raises:
        NonMatchingChecksumError: size or sha256 differ.
    """
    if mode is VerificationMode.NO_CHECKS:
        return
    if expected.num_bytes is not None and found.num_bytes is not None and expected.num_bytes != found.num_bytes:
        raise NonMatchingChecksumError(
            redact(url), expected=f"{expected.num_bytes} bytes", found=f"{found.num_bytes} bytes", what="size"
        )
    if mode is VerificationMode.ALL_CHECKS and expected.checksum and found.checksum and expected.checksum != found.checksum:
        raise NonMatchingChecksumError(redact(url), expected=expected.checksum, found=found.checksum)


def check_registered(what: str, expected: FileRecord, found: FileRecord, *, advice: str | None = None) -> None:
    """Compare one file with what is registered of it: size and sha256, whatever the mode.

    Args:
        what: the file as messages name it.
        expected, found: what either does not say is not compared.
        advice: one thing to do, as a sentence without its stop.

    Raises:
        NonMatchingChecksumError: they differ.
    """
    pairs = (("size", _bytes(expected), _bytes(found)), ("sha256", expected.checksum, found.checksum))
    for name, wanted, real in pairs:
        if wanted and real and wanted != real:
            raise NonMatchingChecksumError(what, expected=wanted, found=real, what=name, advice=advice or REGISTER_IT)


def _bytes(record: FileRecord) -> str | None:
    return None if record.num_bytes is None else f"{record.num_bytes} bytes"


def check_files(
    expected: Mapping[str, Mapping[str, Any] | FileRecord] | None,
    found: Mapping[str, Mapping[str, Any] | FileRecord],
    mode: VerificationMode,
) -> None:
    """Compare the files that were downloaded with those on record; `expected=None` means that there is no record.

    Under `all_checks` the two lists must name the same URLs, too.

    Raises:
        ExpectedMoreDownloadedFilesError: URLs on record were not downloaded.
        UnexpectedDownloadedFileError: URLs were downloaded that are not on record.
        NonMatchingChecksumError: size or sha256 differ.
    """
    if expected is None or mode is VerificationMode.NO_CHECKS:
        return
    on_record = {redact(url): FileRecord.from_dict(record) for url, record in expected.items()}
    downloaded = {redact(url): FileRecord.from_dict(record) for url, record in found.items()}
    if mode is VerificationMode.ALL_CHECKS:
        if missing := [url for url in on_record if url not in downloaded]:
            raise ExpectedMoreDownloadedFilesError(
                f"{_listed(missing)} on record and not downloaded. "
                "Mend the record or the script; verification_mode='basic_checks' skips the comparison."
            )
        if surplus := [url for url in downloaded if url not in on_record]:
            raise UnexpectedDownloadedFileError(
                f"{_listed(surplus)} downloaded and not on record. "
                "Mend the record or the script; verification_mode='basic_checks' skips the comparison."
            )
    for url, record in downloaded.items():
        if url in on_record:
            check_file(url, on_record[url], record, mode)


def _listed(urls: Iterable[str]) -> str:
    named = list(urls)
    more = f" and {len(named) - 10} more" if len(named) > 10 else ""
    return ", ".join(named[:10]) + more + (" is" if len(named) == 1 else " are")
