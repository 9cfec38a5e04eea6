"""`Register`: the `checksums.tsv` beside a script: reading it, and writing the checksums of downloads."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.building.hooks import Builder
from datasets_core.building.options import BuildOptions
from datasets_core.errors import ConfigurationError, ManifestError, MissingChecksumError, redact
from datasets_core.fetch.checksums import (
    CHECKSUMS_NAME,
    FileRecord,
    RegisteredFile,
    VerificationMode,
    check_registered,
    checksums_text,
    is_file_name,
    parse_checksums,
)
from datasets_core.files import check_writable, disk_errors, is_url, write_atomically
from datasets_core.meta.listings import UnfitFileError, small_bytes

logger = logging.getLogger(__name__)

_MAX_BYTES = 256 << 20


@dataclass(frozen=True, slots=True)
class Register:
    """Registered checksums of the downloads of one build, and their use.

    Attributes:
        path: the `checksums.tsv`; None without a place for one.
        entries: its entries, by URL.
        mode: `no_checks` compares nothing.
        is_written: True to register downloads instead of comparing them.
        is_demanded: True if a URL that is not registered is an error.
    """

    path: str | None
    entries: Mapping[str, RegisteredFile]
    mode: VerificationMode
    is_written: bool = False
    is_demanded: bool = False

    @classmethod
    def of(cls, builder: Builder, options: BuildOptions) -> Register:
        """Return the register of a builder, before anything is downloaded.

        Raises:
            ConfigurationError: it is to be written, and the builder has no script.
            DatasetDiskError: it is to be written, and cannot be.
            ManifestError: it cannot be understood.
        """
        path = builder.checksums_path
        if options.registers_checksums:
            check_place(path, builder.label)
        entries = {**read_registered(path), **builder.locked_checksums}
        return cls(path, entries, options.verification, options.registers_checksums, options.demands_checksums)

    def equip(self, manager: Any) -> Any:
        """A download manager that compares, or takes down, what it fetches."""
        if hasattr(manager, "registered"):
            manager.registered, manager.registered_path = self.entries, self.path
            manager.download_config = manager.download_config.copy()
            manager.download_config.register_checksums = self.is_written
            manager.download_config.force_checksums_validation = self.is_demanded
        return manager

    def settle(self, manager: Any, downloads: Mapping[str, Any] | None) -> None:
        """Write what was downloaded, or compare it.

        Raises:
            NonMatchingChecksumError, MissingChecksumError: as `check`.
            DatasetDiskError: the register cannot be written.
        """
        if self.is_written and self.path is not None and hasattr(manager, "registrable"):
            register(self.path, manager.registrable())
        else:
            self.check(downloads)

    def check(self, downloads: Mapping[str, Any] | None) -> None:
        """Compare the downloads on record, of this build or of an earlier one.

        Raises:
            NonMatchingChecksumError: one has another size or sha256 than is registered.
            MissingChecksumError: one is not registered, and each is to be.
        """
        if self.mode is VerificationMode.NO_CHECKS or self.is_written:
            return
        found = {url: FileRecord.from_dict(record) for url, record in (downloads or {}).items()}
        known = {redact(url): entry for url, entry in self.entries.items()}
        missing = [url for url in found if is_url(url) and (url not in known or known[url].checksum is None)]
        if self.is_demanded and missing:
            raise MissingChecksumError(missing, path=self.path)
        for url, record in found.items():
            if url in known:
                check_registered(url, known[url].record, record)


def read_registered(path: str | None, *, within: str | None = None) -> dict[str, RegisteredFile]:
    """Return the registered entries by URL; empty without a file.

    Args:
        path: the file.
        within: the folder that must contain it after resolving links; None for any.

    Raises:
        ManifestError: the file cannot be understood; names the line.
    """
    text = _text(path, within=within)
    if path is None or text is None:
        return {}
    return {url: RegisteredFile(**entry) for url, entry in parse_checksums(text, path=path).items()}


def check_place(path: str | None, label: str) -> str:
    """Return the register file, if it can be written: checked before anything is downloaded.

    Raises:
        ConfigurationError: the builder has no script.
        DatasetDiskError: the folder cannot be written.
        ManifestError: the existing file cannot be understood.
    """
    if path is None:
        raise ConfigurationError(
            f"{label} has no script beside which {CHECKSUMS_NAME} could stand. Leave register_checksums=True out."
        )
    read_registered(path)
    check_writable(path)
    return path


def register(path: str, found: Mapping[str, RegisteredFile]) -> None:
    """Merge the checksums of downloads into the file; an entry with another size or sha256 is replaced.

    Processes that register at the same time take turns: the file has the entries of both in the end.

    Raises:
        DatasetDiskError: it cannot be written; the existing file stays unchanged.
        ManifestError: the existing file cannot be understood.
    """
    if not found:
        return
    with _alone_in(os.path.dirname(path)):
        text = _text(path) or ""
        entries: dict[str, dict[str, Any]] = parse_checksums(text, path=path)
        for url, file in found.items():
            known = entries.get(url)
            if known is not None and (known["num_bytes"], known["checksum"]) != (file.num_bytes, file.checksum):
                logger.warning(
                    "%s: %s had %s bytes and sha256 %s, and is registered with %s bytes and sha256 %s from now on.",
                    *(path, url, known["num_bytes"], known["checksum"], file.num_bytes, file.checksum),
                )
            name = (known and known["name"]) or (file.name if file.name and is_file_name(file.name) else None)
            entries[url] = {"num_bytes": file.num_bytes, "checksum": file.checksum, "name": name}
        comments = [line.rstrip("\r") + "\n" for line in text.removeprefix("\ufeff").split("\n") if line.startswith("#")]
        written = checksums_text(entries, comments="".join(comments))
        if written != text:
            write_atomically(path, written.encode("utf-8", "surrogatepass"))


def _text(path: str | None, *, within: str | None = None) -> str | None:
    if path is None:
        return None
    try:
        data = small_bytes(path, most_bytes=_MAX_BYTES, within=within)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnfitFileError as error:  # a pipe may never end
        raise ManifestError(path, str(error)) from error
    except OSError as error:
        raise ManifestError(path, f"cannot be read ({error.strerror or error})") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(path, f"line {line}: it is not UTF-8") from error


@contextlib.contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Lock the folder against other registering processes; without a lock file among the author's own files."""
    import fcntl

    with disk_errors(folder):
        descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks: the merge is made right before the rename
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)
