import io
import os
from typing import Any, BinaryIO

from datasets_core.builders._blocks import Window
from datasets_core.builders._source import Source

from datasets_core.fetch.remote import Access, RemoteFile

DATA = bytes(range(100))


class Counted(io.BytesIO):
    reads = 0

    def read(self, size: Any = -1, /) -> bytes:
        self.reads += 1
        return super().read(size)


class Here(Access):
    def __init__(self) -> None:
        self.data = Counted(DATA)

    def opened(self, url: str) -> BinaryIO:
        return self.data


def test_what_is_loaded_is_read_without_asking_again() -> None:
    access = Here()
    window = Window(Source("", "a", RemoteFile("https://example.org/a", access)))
    assert window.seek(0, os.SEEK_END) == 100
    assert window.seek(-10, os.SEEK_END) == window.tell() == 90
    assert window.read() == DATA[90:]
    window.load(20, 60)
    before = access.data.reads
    for start, count in ((20, 5), (50, 10), (25, 35)):
        window.seek(start)
        assert window.read(count) == DATA[start : start + count]
    assert access.data.reads == before
    window.seek(55)
    assert window.read(20) == DATA[55:75]  # beyond what is loaded, too
    window.load(60, 100)
    window.seek(20)
    assert window.read(5) == DATA[20:25]
    window.close()
    assert window.closed
    assert access.data.closed
