"""`AskedStreams`: the streaming download manager of a confined script, whose remote files are read by the parent."""

from __future__ import annotations

import base64
import io
import os
from typing import Any, BinaryIO, cast

from datasets_core.confine.asked_downloads import AskedDownloads, scratch
from datasets_core.fetch.checksum import FileRecord
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.fetch.parallel import Watch
from datasets_core.fetch.streaming_downloads import StreamingDownloadManager

_BLOCK = 1 << 20


class AskedStreams(StreamingDownloadManager):
    """As `StreamingDownloadManager`; what it would do on the network or in the cache, the parent does.

    Args:
        asked: asks the parent.
    """

    def __init__(self, asked: AskedDownloads) -> None:
        config = DownloadConfig(**{**vars(asked.download_config), "cache_dir": os.path.join(scratch(), "made")})
        super().__init__(asked.dataset_name, asked.data_dir, config, asked.base_path)
        self._asked = asked

    @property
    def cache_folders(self) -> tuple[str, str]:
        """Where downloads are kept, and what is unpacked."""
        return self._asked.cache_folders

    def fetch(self, url: str) -> str:
        """See `StreamingDownloadManager.fetch`."""
        return self._asked.fetched(url)

    def held(self, url: str) -> str | None:
        """Nothing: the parent looks, when the bytes are asked for."""
        return None

    def stream(self, url: str) -> BinaryIO:
        """See `StreamingDownloadManager.stream`."""
        return cast(BinaryIO, io.BufferedReader(_Bytes(self._asked, url), _BLOCK))

    def is_enforced(self, url: str) -> bool:
        """See `StreamingDownloadManager.is_enforced`."""
        return self._asked.answer({"ask": "enforced", "names": [url]})["is_enforced"] is True

    def tell_whole(self, url: str, *, is_folder: bool) -> None:
        """See `StreamingDownloadManager.tell_whole`: the parent says it."""
        self._asked.answer({"ask": "whole folder" if is_folder else "whole file", "names": [url]})

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, int | str | None]]:
        """See `DownloadManager.get_recorded_sizes_checksums`."""
        return self._asked.get_recorded_sizes_checksums()

    def _fetched(self, url: str, watch: Watch) -> tuple[str, FileRecord]:
        return self._asked.located(url) or url, FileRecord()

    def _by_hand(self, url: str, place: str) -> tuple[str, FileRecord] | None:
        found = self._asked.located(url)
        return None if found is None else (found, FileRecord())

    def _unpacked(self, path: str, watch: Watch) -> str:
        return str(self._asked.extract(path))


class _Bytes(io.RawIOBase):
    """The bytes of a URL, as the parent reads them."""

    def __init__(self, asked: AskedDownloads, url: str) -> None:
        super().__init__()
        self._asked = asked
        opened = asked.answer({"ask": "open", "names": [url]})
        self._handle, self._seeks = opened["handle"], opened["seekable"] is True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seeks

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), _BLOCK)
        data = base64.b64decode(self._asked.answer({"ask": "read", "handle": self._handle, "size": wanted})["data"])
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self._seeks:
            raise io.UnsupportedOperation("seek")
        return int(self._asked.answer({"ask": "seek", "handle": self._handle, "offset": offset, "whence": whence})["position"])

    def tell(self) -> int:
        return self.seek(0, io.SEEK_CUR) if self._seeks else super().tell()

    def close(self) -> None:
        if not self.closed:
            try:
                self._asked.answer({"ask": "close", "handle": self._handle})
            finally:
                super().close()
