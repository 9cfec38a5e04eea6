"""What a commit is to do to a repository of the Hub: the files that it brings, copies and takes away."""

from __future__ import annotations

import copy
import hashlib
import io
import os
import posixpath
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from datasets_core.fetch.hub import client_package
from datasets_core.fetch.hub_listing import HubCommit


class NewFile:
    """A file that a commit is to bring, on the own disk or in memory, or on the Hub already.

    Args:
        path: where in the repository; may be changed up to the commit.
        content: the path of a local file, or bytes.
    """

    def __init__(self, path: str, content: str | bytes) -> None:
        self.operation: Any = client_package().CommitOperationAdd(path_in_repo=path, path_or_fileobj=content)
        self.local = content if isinstance(content, str) else None
        self._bytes = content if isinstance(content, bytes) else None
        self.size: int = self.operation.upload_info.size
        self.sha256: str = self.operation.upload_info.sha256.hex()
        self.is_sent = False
        self._git_oid: str | None = None

    @property
    def path(self) -> str:
        """Where in the repository."""
        return str(self.operation.path_in_repo)

    @path.setter
    def path(self, path: str) -> None:
        self.operation.path_in_repo = path

    def stands_in(self, commit: HubCommit) -> bool:
        """Whether the repository holds this content at this path."""
        there = commit.files.get(self.path)
        if there is None or there.size != self.size:
            return False
        if there.sha256 is not None or self.is_stored:
            return there.sha256 == self.sha256
        return there.oid == self._oid()

    def _oid(self) -> str:
        if self._git_oid is None:
            digest = hashlib.sha1(f"blob {self.size}\0".encode(), usedforsecurity=False)
            with self.operation.as_file() as source:
                while data := source.read(1 << 20):
                    digest.update(data)
            self._git_oid = digest.hexdigest()
        return self._git_oid

    @property
    def is_stored(self) -> bool:
        """Whether the Hub has its bytes, so that the local file may go."""
        return self.is_sent and self.operation.path_or_fileobj == b"" and self.size > 0

    @property
    def kind(self) -> tuple[str, str, str]:
        """What decides how the Hub wants it sent: files of one kind are sent once."""
        return self.sha256, posixpath.dirname(self.path), posixpath.splitext(self.path)[1]

    def share(self, sent: NewFile) -> None:
        """Take it that this file is sent, as one of the same kind is."""
        path, self.is_sent = self.path, sent.is_sent
        self.operation = copy.copy(sent.operation)
        self.path = path

    @contextmanager
    def unnamed(self) -> Iterator[None]:
        """While this lasts, it is called as nothing in a repository is: the Hub tells of no file that it would replace."""
        path = self.path
        stem, ending = posixpath.splitext(path)
        self.path = f"{stem}-of-pending{ending}"
        try:
            yield
        finally:
            self.path = path

    @contextmanager
    def opened(self) -> Iterator[None]:
        """While this lasts, its content is a file that is open already, unless it is gone."""
        given = self.operation.path_or_fileobj
        if self.is_stored:
            yield
            return
        with io.BytesIO(self._bytes or b"") if self.local is None else open(self.local, "rb") as source:
            self.operation.path_or_fileobj = source
            try:
                yield
            finally:
                if self.operation.path_or_fileobj is source:
                    self.operation.path_or_fileobj = given

    def forget_local(self) -> None:
        """Remove the local file."""
        if self.local is not None:
            os.unlink(self.local)
            self.local = None


@dataclass
class Change:
    """What one commit does to a repository.

    Attributes:
        files: what it brings.
        copies: new paths → (commit, path) where the Hub has that content.
        deletions: paths that go.
    """

    files: list[NewFile] = field(default_factory=list)
    copies: dict[str, tuple[HubCommit, str]] = field(default_factory=dict)
    deletions: list[str] = field(default_factory=list)

    def is_empty(self) -> bool:
        """Whether it changes nothing."""
        return not (self.files or self.copies or self.deletions)

    def stands_in(self, commit: HubCommit) -> bool:
        """Whether a commit is as this change would make it, as far as it goes."""
        copied = all(
            path in commit.files and commit.files[path].etag == there.files[source].etag
            for path, (there, source) in self.copies.items()
        )
        return copied and all(file.stands_in(commit) for file in self.files) and not set(self.deletions) & set(commit.files)
