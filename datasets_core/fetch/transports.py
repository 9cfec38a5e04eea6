"""`Transport`: how the bytes of one file come, in three calls, and the failures that those who read by it know of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from datasets_core.fetch.daemons import Patience
from datasets_core.fetch.range_file import Bytes, FileVersion, Range


class NoRangesError(Exception):
    """A server that gives nothing but all of a file.

    Args:
        version: of the file, as far as the server says.
    """

    def __init__(self, version: FileVersion | None) -> None:
        self.version = version
        super().__init__("the server gives no parts of the file")


class Transport(Protocol):
    """The way to one file.  All of it is called in threads, and may go to another process."""

    @property
    def name(self) -> str:
        """The file, for messages, without secrets."""
        ...

    @property
    def url(self) -> str:
        """The file, which tells it from others."""
        ...

    @property
    def takes_many(self) -> bool:
        """Whether many ranges are best asked for by one call."""
        ...

    def stat(self, patience: Patience) -> FileVersion:
        """Size and tag of what is there."""
        ...

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, patience: Patience
    ) -> tuple[list[Bytes], FileVersion]:
        """The bytes of some ranges, and of which version they are.

        Args:
            ranges: none of them empty; one that begins below 0 is the end of the file: `(-8, 0)` are its last 8 bytes.
            held: the version that they have to be of; None for any.
            patience: is told of bytes as they come.

        Raises:
            FileChangedError: another version is there.
            NoRangesError: only all of it is to be had.
        """
        ...

    def put(self, data: bytes) -> None:
        """Have all of the file be these bytes.

        Raises:
            DownloadError: it cannot be written.
        """
        ...

    def close(self) -> None:
        """Give connections back."""
        ...
