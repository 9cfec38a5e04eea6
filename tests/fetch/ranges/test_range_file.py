"""Files of this disk, and whatever can be opened, give any of their bytes, all of one version."""

import io
import os
import pickle

import pytest

from datasets_core.errors import DataFilesNotFoundError, DownloadError, FileChangedError
from datasets_core.fetch.ranges.file import FileVersion, LocalRanges, OpenedRanges

BODY = bytes(range(256)) * 40


@pytest.fixture(params=["local", "opened"])
def file(request, tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(BODY)
    return LocalRanges(str(path)) if request.param == "local" else OpenedRanges("a.bin", lambda: path.open("rb"))


def test_any_bytes_are_read(file):
    assert [bytes(part) for part in file.read([(5, 9), (0, 0), (10_000, 10_240), (1, 2)])] == [
        BODY[5:9],
        b"",
        BODY[10_000:],
        BODY[1:2],
    ]
    assert bytes(file.tail(7)) == BODY[-7:]
    assert bytes(file.tail(1 << 20)) == BODY
    assert file.version().size == len(BODY)


@pytest.mark.parametrize("place", [(0, len(BODY) + 1), (-1, 5), (9, 5)])
def test_bytes_that_a_file_has_not_are_told(file, place):
    with pytest.raises(DownloadError, match=r"a\.bin: it has 10,240 bytes"):
        file.read([place])


def test_another_version_is_not_read(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(BODY)
    file = LocalRanges(str(path))
    file.read([(0, 5)])
    path.write_bytes(BODY[::-1])
    os.utime(path, ns=(1, 1))
    with pytest.raises(FileChangedError, match=r"a\.bin: it changed while it was read"):
        file.read([(0, 5)])
    path.write_bytes(BODY[:-1])
    with pytest.raises(FileChangedError, match="it had 10,240 bytes, and has 10,239 now"):
        file.tail(5)


def test_a_version_of_before_is_held_to(file):
    file.hold(FileVersion(len(BODY) - 1, "another"))
    with pytest.raises(FileChangedError):
        file.read([(0, 1)])


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(DataFilesNotFoundError, match="does not exist"):
        LocalRanges(str(tmp_path / "none")).version()
    with pytest.raises(DownloadError, match=r"does not support reading parts of it|Is a directory"):
        LocalRanges(str(tmp_path)).version()


def test_it_goes_to_another_process(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(BODY)
    assert pickle.loads(pickle.dumps(LocalRanges(str(path), name="b"))).read([(0, 3)]) == [BODY[:3]]


def test_a_file_that_ends_early_is_told():
    class Cut(io.BytesIO):
        def read(self, count=-1):
            return super().read(min(count, max(0, 2 - self.tell())))

    with pytest.raises(FileChangedError, match="cut to 2 bytes"):
        OpenedRanges("x", lambda: Cut(BODY)).read([(0, 9)])
