"""Digests of downloaded files: computing, comparing and recording them; the strictness of comparisons."""

from __future__ import annotations

import copy
import hashlib
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
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

REGISTER_IT = "If the new content is correct, register it with register_checksums=True"
_CHUNK = 1 << 20
_LEAST_CHUNK = 1 << 13


class VerificationMode(StrEnum):
    """Strictness of the comparison with the record: everything, cheap checks only, or nothing.

    Example:
        >>> VerificationMode("all_checks")
        <VerificationMode.ALL_CHECKS: 'all_checks'>
    """

    ALL_CHECKS = "all_checks"
    BASIC_CHECKS = "basic_checks"
    NO_CHECKS = "no_checks"

    @classmethod
    def _missing_(cls, value: object) -> VerificationMode:
        known = ", ".join(repr(mode.value) for mode in cls)
        raise ConfigurationError(f"Unknown verification mode {value!r}. Available modes: {known}.", value=value)


class FileRecord(NamedTuple):
    """Size and sha256 of one file; None if unknown."""

    num_bytes: int | None = None
    checksum: str | None = None

    @classmethod
    def from_dict(cls, record: Mapping[str, Any] | FileRecord | None) -> FileRecord:
        """Return a record from the form in `dataset_infos.json`; unknown values are None."""
        if isinstance(record, FileRecord):
            return record
        size, checksum = (record or {}).get("num_bytes"), (record or {}).get("checksum")
        return cls(None if size is None else int(size), checksum.lower() if checksum else None)

    def to_dict(self) -> dict[str, int | str | None]:
        """Return the record in the form of `dataset_infos.json`."""
        return {"num_bytes": self.num_bytes, "checksum": self.checksum}


class RegisteredFile(NamedTuple):
    """A line of a `checksums.tsv`: size and sha256 of a URL, and the file name for manual downloads."""

    num_bytes: int | None = None
    checksum: str | None = None
    name: str | None = None

    @property
    def record(self) -> FileRecord:
        """Size and sha256."""
        return FileRecord(self.num_bytes, self.checksum)


class Digest:
    """A sha256 and a count of bytes, updated while bytes are read."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.num_bytes = 0

    def update(self, data: bytes | bytearray | memoryview) -> None:
        """Add more bytes."""
        self._hash.update(data)
        self.num_bytes += len(data)

    def hexdigest(self) -> str:
        """Return the sha256 of the bytes so far."""
        return self._hash.hexdigest()

    def record(self) -> FileRecord:
        """Return the size and sha256 of the bytes so far."""
        return FileRecord(self.num_bytes, self.hexdigest())


def digest_of(path: str | os.PathLike[str]) -> Digest:
    """Return the digest of a whole local file, open to be continued."""
    digest = Digest()
    with open(path, "rb", buffering=0) as source:
        buffer = memoryview(bytearray(min(_CHUNK, max(_LEAST_CHUNK, os.fstat(source.fileno()).st_size + 1))))
        while count := source.readinto(buffer):
            digest.update(buffer[:count])
    return digest


def record_of(path: str | os.PathLike[str]) -> FileRecord:
    """Return size and sha256 of a local file.

    Raises:
        DatasetDiskError: its disk cannot be read.
    """
    with files.disk_errors(os.fspath(path), action="read"):
        return digest_of(path).record()


def differ(expected: FileRecord, found: FileRecord) -> bool:
    """Return True if two records of a file contradict each other; missing values are not compared.

    >>> differ(FileRecord(3), FileRecord(3, "ab")), differ(FileRecord(3, "cd"), FileRecord(3, "ab"))
    (False, True)
    """
    pairs = ((expected.num_bytes, found.num_bytes), (expected.checksum, found.checksum))
    return any(None not in pair and pair[0] != pair[1] for pair in pairs)


def check_file(url: str, expected: FileRecord, found: FileRecord, mode: VerificationMode) -> None:
    """Compare one file with its record, as strictly as `mode` requires; unknown values are not compared.

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
    """Compare size and sha256 of a file with the registered values, in any mode.

    Args:
        what: name of the file, for error messages.
        expected, found: the records; unknown values are not compared.
        advice: advice for the user, without a final period.

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
    """Compare the downloaded files with the recorded ones; `expected=None` means no record.

    Under `all_checks` both must have the same URLs.

    Raises:
        ExpectedMoreDownloadedFilesError: recorded URLs were not downloaded.
        UnexpectedDownloadedFileError: downloaded URLs are not recorded.
        NonMatchingChecksumError: size or sha256 differ.
    """
    if expected is None or mode is VerificationMode.NO_CHECKS:
        return
    on_record = {redact(url): FileRecord.from_dict(record) for url, record in expected.items()}
    downloaded = {redact(url): FileRecord.from_dict(record) for url, record in found.items()}
    if mode is VerificationMode.ALL_CHECKS:
        if missing := [url for url in on_record if url not in downloaded]:
            raise ExpectedMoreDownloadedFilesError(
                f"{_listed(missing)} recorded but not downloaded",
                advice="Fix the record or the script; verification_mode='basic_checks' skips the comparison",
            )
        if surplus := [url for url in downloaded if url not in on_record]:
            raise UnexpectedDownloadedFileError(
                f"{_listed(surplus)} downloaded but not recorded",
                advice="Fix the record or the script; verification_mode='basic_checks' skips the comparison",
            )
    for url, record in downloaded.items():
        if url in on_record:
            check_file(url, on_record[url], record, mode)


def _listed(urls: Iterable[str]) -> str:
    named = list(urls)
    more = f" and {len(named) - 10} more" if len(named) > 10 else ""
    return ", ".join(named[:10]) + more + (" is" if len(named) == 1 else " are")


# The entries of a `checksums.tsv` by URL: found by any of their names, or for a manually downloaded file.


Registered = Mapping[str, RegisteredFile]


def entry_of(registered: Registered, *names: str) -> RegisteredFile | None:
    """Return the entry of a URL, found by any of its names; secrets in them are ignored.

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
    """Return the file of the manual folder with the registered name of a URL; None if it does not exist.

    Raises:
        NonMatchingChecksumError: the file differs from the registered size or sha256.
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
            return None  # it belongs to another URL
        advice = f"It is used for {redact(url)}: download it again, or remove it from the folder"
        check_registered(path, entry.record, record, advice=advice)
    return path, record


def registrable(records: Mapping[str, tuple[str, FileRecord]], registered: Registered) -> dict[str, RegisteredFile]:
    """Return the entries to register for downloads: URLs with their secrets hidden, each with size, sha256 and name.

    URLs that only differ in their secrets, but have different content, are omitted.

    Args:
        records: requested URL → full URL, and its record.
        registered: the existing entries, whose names are kept.
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
    """Return the name for manual downloads of a URL, if the URL contains one.

    >>> name_of("https://example.org/data/a%20b.zip?download=1")
    'a b.zip'
    """
    from urllib.parse import unquote, urlsplit  # takes 3 ms; local paths do not need it

    parts = urlsplit(url.partition("::")[0])
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
    name = re.sub(r"[^\w .()+,=@~-]", "_", last).strip()[:200]
    return name if name.strip("._") else "download"


# Parsing and formatting of `checksums.tsv`.


CHECKSUMS_NAME = "checksums.tsv"
_SHA256 = r"[0-9A-Fa-f]{64}"
_UNKNOWN = ("None", "null", "-", "")
_CONTROL = r"[\x00-\x1f\x7f\x85\u2028\u2029]"


def parse_checksums(text: str, *, path: str) -> dict[str, dict[str, Any]]:
    """Parse a `checksums.tsv`: return `num_bytes`, `checksum` (sha256) and `name` of each URL; None if unknown.

    The file is not trusted: a name refers to a file in the folder of manual downloads, never to one outside it.

    Raises:
        ManifestError: a line or file name is invalid; the error contains the line.

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
            raise ManifestError(path, f"line {number}: {line[:80]!r} is not URL, size, sha256 and file name, separated by tabs")
        url, size, checksum, name = (part.strip() for part in [*fields, ""][:4])
        if size not in _UNKNOWN and not (size.isascii() and size.isdigit() and len(size) < 20):
            raise ManifestError(path, f"line {number}: the size {size[:40]!r} is not a number of bytes")
        if checksum not in _UNKNOWN and re.fullmatch(_SHA256, checksum) is None:
            raise ManifestError(path, f"line {number}: {checksum[:80]!r} is not a sha256 (64 hexadecimal digits)")
        if name not in _UNKNOWN and not is_file_name(name):
            raise ManifestError(path, f"line {number}: {name[:80]!r} is not a plain file name")
        record = {
            "num_bytes": None if size in _UNKNOWN else int(size),
            "checksum": None if checksum in _UNKNOWN else checksum.lower(),
            "name": None if name in _UNKNOWN else name,
        }
        known = found.setdefault(url, record)
        if {**known, "name": None} != {**record, "name": None}:
            raise ManifestError(path, f"line {number}: {url} is recorded twice, with different size or sha256")
    return found


def is_file_name(name: str) -> bool:
    """Return True for a plain file name without a path.

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
    """Return the text of a `checksums.tsv`, sorted by URL.

    Args:
        entries: as returned by `parse_checksums`.
        comments: lines that begin with `#`, written first.

    Raises:
        ConfigurationError: a URL cannot be written in a line.

    >>> checksums_text({"https://example.org/a": {"num_bytes": 3, "checksum": "ab" * 32, "name": "a"}}).split("\\t")[1]
    '3'
    """
    lines = []
    for url in sorted(entries):
        if re.search(_CONTROL, url) or url != url.strip() or url.startswith("#"):
            raise ConfigurationError(
                f"The URL {url!r} cannot be written to {CHECKSUMS_NAME}", advice="Remove tabs and line breaks"
            )
        entry = entries[url]
        fields = [url, *(str(entry.get(key)) for key in ("num_bytes", "checksum"))]
        lines.append("\t".join([*fields, entry["name"]] if entry.get("name") else fields) + "\n")
    return comments + "".join(lines)


# Options of downloads, and nested paths.


class DownloadMode(StrEnum):
    """The results of an earlier run to reuse: all, the downloads, or none.

    Example:
        >>> DownloadMode("force_redownload")
        <DownloadMode.FORCE_REDOWNLOAD: 'force_redownload'>
    """

    REUSE_DATASET_IF_EXISTS = "reuse_dataset_if_exists"
    REUSE_CACHE_IF_EXISTS = "reuse_cache_if_exists"
    FORCE_REDOWNLOAD = "force_redownload"

    @classmethod
    def _missing_(cls, value: object) -> DownloadMode:
        known = ", ".join(repr(mode.value) for mode in cls)
        raise ConfigurationError(f"Unknown download mode {value!r}. Available modes: {known}.", value=value)


@dataclass
class DownloadConfig:
    """Options of downloads.

    Attributes:
        cache_dir: folder of downloads; the setting `downloads_dir` by default.
        force_download: True to fetch cached files again.
        resume_download: ignored: downloads are always resumed if that is safe.
        local_files_only: True to only use cached files.
        proxies: scheme → URL of a proxy; default: those of the environment.
        user_agent: added to that of the library.
        extract_compressed_file: True if `download` also extracts files.
        force_extract: True to extract again.
        delete_extracted: True to remove extracted files after the build.
        extract_on_the_fly: ignored: readers open compressed files directly.
        use_etag: True to check with the server whether a cached file is current.
        num_proc: number of parallel downloads (threads); default: the setting `download_threads`.
        max_retries: minimum number of tries of a request; the setting of that name applies if it is larger.
        token: access token for the Hugging Face Hub.
        storage_options: options for fsspec, by protocol or plain; `{"https": {"headers": {…}}}` only for the server of the URL.
        download_desc: title of the progress bar.
        disable_tqdm: True to hide the progress bar.
        register_checksums: True to record downloads in the `checksums.tsv` next to the script instead of comparing them.
        force_checksums_validation: True to raise an error for unregistered URLs.

    Example:
        >>> config = DownloadConfig(max_retries=5, storage_options={"https": {"headers": {"Authorization": "Bearer secret"}}})
        >>> "secret" in repr(config)
        False
    """

    cache_dir: str | os.PathLike[str] | None = None
    force_download: bool = False
    resume_download: bool = False
    local_files_only: bool = False
    proxies: dict[str, str] | None = None
    user_agent: str | None = None
    extract_compressed_file: bool = False
    force_extract: bool = False
    delete_extracted: bool = False
    extract_on_the_fly: bool = False
    use_etag: bool = True
    num_proc: int | None = None
    max_retries: int = 1
    token: str | bool | None = field(default=None, repr=False)
    storage_options: dict[str, Any] = field(default_factory=dict, repr=False)
    download_desc: str | None = None
    disable_tqdm: bool = False
    register_checksums: bool = False
    force_checksums_validation: bool = False

    def copy(self) -> DownloadConfig:
        """Return a deep copy."""
        return copy.deepcopy(self)


# Paths and URLs in nested lists, tuples and dicts: results have the same structure.


def leaves(nested: Any) -> Iterator[str]:
    """Yield every path or URL of a nesting, in order.

    >>> list(leaves({"train": ["a", "b"], "test": ("c",)}))
    ['a', 'b', 'c']

    Raises:
        ConfigurationError: a value is not a path, list, tuple or dict.
    """
    if isinstance(nested, (str, os.PathLike)):
        text = os.fspath(nested)
        if not isinstance(text, str):
            raise ConfigurationError(f"{text!r} is a path as bytes", advice="Pass it as str", value=text)
        yield text
    elif isinstance(nested, Mapping):
        for value in nested.values():
            yield from leaves(value)
    elif isinstance(nested, (list, tuple)):
        for value in nested:
            if type(value) is str:  # the common case, possibly thousands of times
                yield value
            else:
                yield from leaves(value)
    else:
        raise ConfigurationError(
            f"{nested!r} ({type(nested).__name__}) is not a path or URL, nor a list, tuple or dict of them",
            advice="Pass one of these (convert a generator with list(...))",
            value=nested,
        )


def mapped(nested: Any, function: Callable[[str], Any]) -> Any:
    """Return the same structure with `function(leaf)` in place of each leaf.

    >>> mapped({"train": ["a"], "test": ("b", "c")}, str.upper)
    {'train': ['A'], 'test': ('B', 'C')}
    """
    if isinstance(nested, (str, os.PathLike)):
        return function(str(os.fspath(nested)))
    if isinstance(nested, Mapping):
        return {key: mapped(value, function) for key, value in nested.items()}
    made = [mapped(value, function) for value in nested]
    if isinstance(nested, tuple):
        return type(nested)(*made) if hasattr(nested, "_fields") else tuple(made)
    return made
