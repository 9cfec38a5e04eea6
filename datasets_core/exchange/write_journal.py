"""`WriteJournal`: what a write has finished, line by line in a file, so that the same write goes on there after a crash."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import shutil
from collections.abc import Mapping
from types import TracebackType
from typing import Any, Self

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import FileInPlaceError

logger = logging.getLogger(__name__)

_FORM = 1
_JOURNAL, _LOCK = "journal.jsonl", "lock"
_CHUNK = 1 << 20


class WriteJournal:
    """A folder for what is being written, and the journal in it; one writer at a time has it.

    The first line of the journal says what is written; each further line says what stands on the disk, and is there itself
    before anything else is written.  A journal of another write, or one that was cut, is used as far as it holds.

    Args:
        folder: local; it is gone when `finish` was called.
        header: what is written, and how: plain JSON.  Of another header all begins anew, which is said.
        label: what is written, for messages.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
        FileInPlaceError: a file stands where the folder is to be.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     with WriteJournal(files.join(place, "a"), {"of": "rows"}, "a.csv") as journal:
    ...         journal.add({"rows": 5})
    ...     with WriteJournal(files.join(place, "a"), {"of": "rows"}, "a.csv") as journal:
    ...         journal.entries
    [{'rows': 5}]
    """

    def __init__(self, folder: str, header: Mapping[str, Any], label: str) -> None:
        self.folder, self._label = folder, label
        self._header = json.loads(json.dumps({"form": _FORM, **header}))
        self.entries: list[dict[str, Any]] = []
        with files.disk_errors(folder):
            try:
                os.makedirs(folder, exist_ok=True)
            except (FileExistsError, NotADirectoryError) as error:
                raise FileInPlaceError(folder) from error
        self._lock = files.locked(self.path(_LOCK))
        self._lock.__enter__()
        try:
            with files.disk_errors(folder):
                self._begin()
        except BaseException:
            self._lock.__exit__(None, None, None)
            raise

    def _begin(self) -> None:
        os.makedirs(self.folder, exist_ok=True)  # whoever had the lock before may have finished
        path = self.path(_JOURNAL)
        header, *entries = self._read(path) or [None]
        if header is not None and header != self._header:
            logger.warning("%s: an earlier write of other rows or options is dropped, and it is written anew.", self._label)
        if header == self._header:
            self.entries = entries
        else:
            for name in set(os.listdir(self.folder)) - {_LOCK}:
                os.unlink(self.path(name))
        self._rewrite(path, self.entries)
        self._out = open(path, "ab", buffering=0)  # noqa: SIM115 - closed with the journal

    @staticmethod
    def _read(path: str) -> list[Any]:
        """The lines of a journal, up to the first that was cut."""
        found: list[Any] = []
        if os.path.exists(path):
            with open(path, "rb") as lines:
                for line in lines:
                    try:
                        found.append(json.loads(line))
                    except ValueError:  # the crash came in the midst of this line
                        break
        return found

    def _rewrite(self, path: str, entries: list[dict[str, Any]]) -> None:
        text = b"".join(json.dumps(line).encode() + b"\n" for line in (self._header, *entries))
        files.write_atomically(path, text)

    def add(self, entry: Mapping[str, Any]) -> None:
        """Note what stands on the disk; it is on the disk, too, when this returns."""
        line = memoryview(json.dumps(entry).encode() + b"\n")
        with files.disk_errors(self.folder):
            while line:  # a disk that is nearly full takes a part
                line = line[self._out.write(line) :]
            os.fsync(self._out.fileno())
        self.entries.append(dict(entry))

    def keep(self, count: int) -> None:
        """Forget the entries behind the first `count`: what they say does not stand on the disk."""
        if count == len(self.entries):
            return
        self.entries = self.entries[:count]
        with files.disk_errors(self.folder):
            self._out.close()
            path = self.path(_JOURNAL)
            self._rewrite(path, self.entries)
            self._out = open(path, "ab", buffering=0)  # noqa: SIM115 - closed with the journal

    def path(self, name: str) -> str:
        """A file in the folder."""
        return os.path.join(self.folder, name)

    def finish(self) -> None:
        """Remove the folder: all is where it belongs."""
        self._out.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._out.close()
        self._lock.__exit__(None, None, None)


def header_of(folder: str) -> dict[str, Any]:
    """The header of the journal in a folder; nothing where there is none."""
    header, *_ = WriteJournal._read(os.path.join(folder, _JOURNAL)) or [None]
    return header if isinstance(header, dict) else {}


def writing_folder(target: str) -> str:
    """Where files are while they are written: beside a local path, out of sight; for a URL in the cache.

    >>> writing_folder("/data/rows.csv")
    '/data/.rows.csv.writing'
    """
    if files.is_url(target):
        return os.path.join(settings().cache_dir, "writes", hashlib.sha256(target.encode()).hexdigest()[:32])
    head, tail = os.path.split(os.path.abspath(target))
    return os.path.join(head, f".{tail}.writing")


def holds(path: str, size: int, sha256: str) -> bool:
    """Whether the first `size` bytes of a file are those with this sha256."""
    digest, missing = hashlib.sha256(), size
    if not os.path.exists(path) or os.stat(path).st_size < size:
        return False
    with open(path, "rb") as file:
        while missing and (chunk := file.read(min(_CHUNK, missing))):
            digest.update(chunk)
            missing -= len(chunk)
    return not missing and digest.hexdigest() == sha256
