"""Digests of downloaded files: compute, compare, record; and how strictly to compare."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from datasets_core import files
from datasets_core.errors import (
    ConfigurationError,
    ExpectedMoreDownloadedFilesError,
    ManifestError,
    NonMatchingChecksumError,
    UnexpectedDownloadedFileError,
    redact,
)

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
        raise ConfigurationError(f"Unknown verification mode {value!r}. Available modes: {known}.")


class FileRecord(NamedTuple):
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


class RegisteredFile(NamedTuple):
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


# What a `checksums.tsv` registers of URLs: found by any of their names, or as a file that was fetched by hand.


Registered = Mapping[str, RegisteredFile]


def entry_of(registered: Registered, *names: str) -> RegisteredFile | None:
    """What is registered of a URL, by any of its names; secrets in them do not count.

    >>> entry_of({"https://h/a?token=***": RegisteredFile(3)}, "a", "https://h/a?token=secret")
    RegisteredFile(num_bytes=3, checksum=None, name=None)
    """
    if not registered:
        return None
    known = (registered.get(name) or registered.get(redact(name)) for name in names)
    return next((entry for entry in known if entry is not None), None)


def file_by_hand(
    url: str, entry: RegisteredFile | None, folder: str | None, registered: Registered, *, is_enforced: bool
) -> tuple[str, FileRecord] | None:
    """The file of the manual folder that has the name that is registered for a URL; None where there is none.

    Raises:
        NonMatchingChecksumError: it has other bytes than are registered.
    """
    if entry is None or not entry.name or os.path.basename(entry.name) != entry.name or not folder or files.is_url(folder):
        return None
    path = os.path.join(folder, entry.name)
    if not os.path.isfile(path):
        return None
    record = record_of(path)
    if is_enforced and differ(entry.record, record):
        namesakes = [other for other in registered.values() if other.name == entry.name]
        if any(not differ(other.record, record) for other in namesakes):
            return None  # it is the file of another URL
        advice = f"It stands for {redact(url)}: fetch it again, or take it out of the folder"
        check_registered(path, entry.record, record, advice=advice)
    return path, record


def registrable(records: Mapping[str, tuple[str, FileRecord]], registered: Registered) -> dict[str, RegisteredFile]:
    """What can be registered of downloads: URLs with their secrets hidden, each with size, sha256 and name.

    URLs that differ in their secrets alone, and lead to different files, are left out.

    Args:
        records: URL as it was asked for → whole URL, and what came.
        registered: what stands there, whose names are kept.
    """
    found: dict[str, RegisteredFile] = {}
    unclear: set[str] = set()
    for url, (place, record) in records.items():
        if record.checksum is None:
            continue
        shown, entry = redact(place), entry_of(registered, url, place)
        name = entry.name if entry is not None and entry.name else name_of(shown)
        known = found.setdefault(shown, RegisteredFile(record.num_bytes, record.checksum, name))
        if known.record != record:
            unclear.add(shown)
    return {url: entry for url, entry in found.items() if url not in unclear}


def name_of(url: str) -> str:
    """The name that a file has when it is fetched by hand, as far as its URL tells.

    >>> name_of("https://example.org/data/a%20b.zip?download=1")
    'a b.zip'
    """
    from urllib.parse import unquote, urlsplit  # 3 ms that local paths do without

    parts = urlsplit(url.partition("::")[0])
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
    name = re.sub(r"[^\w .()+,=@~-]", "_", last).strip()[:200]
    return name if name.strip("._") else "download"


# `checksums.tsv` as text: what is registered of each URL, and how it is written.


CHECKSUMS_NAME = "checksums.tsv"
_SHA256 = r"[0-9A-Fa-f]{64}"
_UNKNOWN = ("None", "null", "-", "")
_CONTROL = r"[\x00-\x1f\x7f\x85\u2028\u2029]"


def parse_checksums(text: str, *, path: str) -> dict[str, dict[str, Any]]:
    """What a `checksums.tsv` registers of each URL: `num_bytes`, `checksum` (sha256) and `name`; None where unknown.

    The author is not trusted: a name leads to a file of the manual folder, and never out of it.

    Raises:
        ManifestError: a line that means nothing, or a name that is no name of a file; names the line.

    >>> parse_checksums("https://example.org/a.zip\\t12\\tNone\\ta.zip\\n", path="checksums.tsv")
    {'https://example.org/a.zip': {'num_bytes': 12, 'checksum': None, 'name': 'a.zip'}}
    """
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t") if "\t" in line else line.rsplit(None, 2)
        if len(fields) not in (3, 4) or not fields[0].strip():
            raise ManifestError(
                path, f"line {number}: {line[:80]!r} is not url, size, sha256 and file name, with tabs between them"
            )
        url, size, checksum, name = (part.strip() for part in [*fields, ""][:4])
        if size not in _UNKNOWN and not (size.isascii() and size.isdigit() and len(size) < 20):
            raise ManifestError(path, f"line {number}: the size {size[:40]!r} is not a number of bytes")
        if checksum not in _UNKNOWN and re.fullmatch(_SHA256, checksum) is None:
            raise ManifestError(path, f"line {number}: {checksum[:80]!r} is not a sha256, which has 64 hexadecimal digits")
        if name not in _UNKNOWN and not is_file_name(name):
            raise ManifestError(path, f"line {number}: {name[:80]!r} is not a file name without folders")
        record = {
            "num_bytes": None if size in _UNKNOWN else int(size),
            "checksum": None if checksum in _UNKNOWN else checksum.lower(),
            "name": None if name in _UNKNOWN else name,
        }
        known = found.setdefault(url, record)
        if {**known, "name": None} != {**record, "name": None}:
            raise ManifestError(path, f"line {number}: {url} is recorded a second time, with another size or sha256")
    return found


def is_file_name(name: str) -> bool:
    """Whether it is the name of one file in a folder, and leads nowhere else.

    >>> is_file_name("a.zip"), is_file_name("../a.zip"), is_file_name("C:\\\\a.zip")
    (True, False, False)
    """
    return (
        name not in ("", ".", "..")
        and not any(mark in name for mark in "/\\")
        and re.search(_CONTROL, name) is None
        and len(name.encode("utf-8", "surrogatepass")) <= 255
    )


def checksums_text(entries: Mapping[str, Mapping[str, Any]], *, comments: str = "") -> str:
    """The text of a `checksums.tsv`, sorted by url.

    Args:
        entries: as `parse_checksums` gives them.
        comments: lines that begin with `#`, which stand first.

    Raises:
        ConfigurationError: a URL that no line can hold.

    >>> checksums_text({"https://example.org/a": {"num_bytes": 3, "checksum": "ab" * 32, "name": "a"}}).split("\\t")[1]
    '3'
    """
    lines = []
    for url in sorted(entries):
        if re.search(_CONTROL, url) or url != url.strip() or url.startswith("#"):
            raise ConfigurationError(f"The URL {url!r} cannot stand in {CHECKSUMS_NAME}. Write it without such characters.")
        entry = entries[url]
        fields = [url, *(str(entry.get(key)) for key in ("num_bytes", "checksum"))]
        lines.append("\t".join([*fields, entry["name"]] if entry.get("name") else fields) + "\n")
    return comments + "".join(lines)
