"""`Listing`: what a store holds, known beforehand, so that nobody asks it for each file."""

from __future__ import annotations

from typing import Protocol

from datasets_core.files import FileEntry


class Listing(Protocol):
    """Files by their URLs, at versions that do not change any more."""

    def holds(self, url: str) -> bool:
        """Whether this listing tells what there is at a URL, or at the archive behind its last `::`."""
        ...

    def pinned(self, url: str) -> str:
        """The URL in its one spelling, at the version that is listed."""
        ...

    def is_whole(self, url: str) -> bool:
        """Whether all that the store holds at a pinned URL is listed, so that what is missing is missing there."""
        ...

    def entry(self, url: str) -> FileEntry | None:
        """One file by its pinned URL; None where there is none."""
        ...

    def list_folder(self, url: str) -> list[FileEntry]:
        """The files below a folder by its pinned URL, by path; none where there is no such folder."""
        ...
