"""Archives member by member: everything that is in them, or an error that names archive and member."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import struct
import tarfile
import zipfile

import lz4.frame
import pytest
import zstandard

from datasets_core import config
from datasets_core.errors import ArchiveError, DataFilesNotFoundError, UnsafeArchiveError
from datasets_core.fetch.archive import archive_kind, detect, walk

PACK = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
    ".lz4": lambda data: lz4.frame.compress(data, content_checksum=True),
}
NOISE = random.Random(1).randbytes(5000)
CONTENT = {"a.csv": b"1,2\n", "d/b.csv": NOISE, "d/e/c.csv": b"", "z.bin": NOISE * 3}
suffixes = pytest.mark.parametrize("suffix", PACK)


def tarred(content=CONTENT, format=tarfile.GNU_FORMAT):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=format) as archive:
        for name, data in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def zipped(content=CONTENT, compression=zipfile.ZIP_DEFLATED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def read_all(path):
    found = {}
    for member, opener in walk(str(path)):
        with opener() as source:
            found[member.path] = source.read()
    return found


@pytest.fixture
def path(tmp_path):
    return tmp_path / "the.archive"


@suffixes
@pytest.mark.parametrize("format", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
def test_a_tar_gives_all_its_members_in_order(path, suffix, format):
    path.write_bytes(PACK[suffix](tarred(format=format)))
    assert list(read_all(path).items()) == list(CONTENT.items())
    assert archive_kind(path) == "tar"


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_gives_all_its_members_in_order(path, compression):
    path.write_bytes(zipped(compression=compression))
    assert list(read_all(path).items()) == list(CONTENT.items())
    assert archive_kind(path) == detect(path) == "zip"


def test_long_names_are_read_whole(path):
    name = "/".join(["long" * 20] * 10) + ".csv"
    for kind in (tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        path.write_bytes(tarred({name: b"x"}, kind))
        assert read_all(path) == {name: b"x"}


@suffixes
def test_a_member_may_be_read_in_part_or_not_at_all(path, suffix):
    path.write_bytes(PACK[suffix](tarred()))
    begun = []
    for number, (_, opener) in enumerate(walk(str(path))):
        if number % 2:
            begun.append(opener().read(3))
    assert begun == [NOISE[:3], NOISE[:3]]


@suffixes
def test_a_cut_tar_is_an_error_wherever_it_is_cut(path, suffix):
    whole = PACK[suffix](tarred())
    ends = [600, 1024, 1536, 2048, 5000, 7680, len(whole) // 2, len(whole) - 10_300]
    cuts = sorted({end for end in ends if 600 <= end < len(whole) - 600})
    for cut in cuts:
        path.write_bytes(whole[:cut])
        with pytest.raises(ArchiveError) as caught:
            read_all(path)
        assert str(caught.value.file).endswith("the.archive")


def test_a_tar_without_its_end_mark_is_cut(path):
    path.write_bytes(tarred({"a": bytes([1]) * 512, "b": bytes([2]) * 512})[:1024])
    with pytest.raises(ArchiveError, match="end mark"):
        read_all(path)


def test_a_broken_header_in_the_middle_is_no_end(path):
    data = bytearray(tarred({"a": b"x" * 512, "b": b"y" * 512}))
    data[1024 + 3] ^= 0xFF
    path.write_bytes(bytes(data))
    with pytest.raises(ArchiveError, match="damaged"):
        read_all(path)


def test_two_tars_in_one_file_are_not_read_as_one(path):
    path.write_bytes(tarred({"a": b"x"}) + tarred({"b": b"y"}))
    with pytest.raises(ArchiveError, match="two archives in one file"):
        read_all(path)


@pytest.mark.parametrize("cut", [10, 100, 3000, 9000])
def test_a_cut_zip_is_an_error(path, cut):
    path.write_bytes(zipped()[:-cut])
    with pytest.raises(ArchiveError, match=r"the\.archive: the archive is damaged or truncated"):
        read_all(path)


def test_a_wrong_check_sum_names_archive_and_member(path):
    data = bytearray(zipped({"a": b"fine", "d/b.csv": NOISE}, zipfile.ZIP_STORED))
    data[bytes(data).index(NOISE) + 100] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(ArchiveError, match=r"the\.archive: member 'd/b\.csv' is damaged or truncated \(Bad CRC"):
        read_all(path)


def test_an_encrypted_zip_says_so(path):
    data = bytearray(zipped({"a": b"secret"}))
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = bytes(data).index(mark) + offset
        struct.pack_into("<H", data, at, struct.unpack_from("<H", data, at)[0] | 1)
    path.write_bytes(bytes(data))
    with pytest.raises(ArchiveError, match="member 'a' is encrypted"):
        read_all(path)


def test_a_method_that_is_not_known_is_an_error(path):
    data = bytearray(zipped({"a": b"x" * 100}))
    for mark, offset in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        struct.pack_into("<H", data, bytes(data).index(mark) + offset, 97)
    path.write_bytes(bytes(data))
    with pytest.raises(ArchiveError, match="member 'a'"):
        read_all(path)


@pytest.mark.parametrize("kind", [tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"])
def test_a_device_in_a_tar_is_refused(path, kind):
    member = tarfile.TarInfo("dev")
    member.type = kind
    with tarfile.open(path, "w") as archive:
        archive.addfile(member)
    with pytest.raises(UnsafeArchiveError, match="device, a pipe or of an unknown kind"):
        read_all(path)


def test_a_device_in_a_zip_is_refused(path):
    member = zipfile.ZipInfo("dev")
    member.create_system, member.external_attr = 3, 0o020644 << 16
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "")
    with pytest.raises(UnsafeArchiveError, match="device"):
        read_all(path)


def test_names_of_a_zip_are_utf_8_whether_or_not_it_says_so(path):
    data = zipped({"grün.csv": b"x"})
    path.write_bytes(data)
    assert list(read_all(path)) == ["grün.csv"]
    unsaid = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        struct.pack_into("<H", unsaid, data.index(mark) + offset, 0)
    path.write_bytes(bytes(unsaid))
    assert list(read_all(path)) == ["grün.csv"]
    path.write_bytes(bytes(unsaid).replace("grün".encode(), b"gr\x81\xffn"))
    with pytest.raises(UnsafeArchiveError, match="not UTF-8"):
        read_all(path)


def test_names_of_a_tar_are_utf_8(path):
    path.write_bytes(tarred({"grün.csv": b"x"}))
    assert list(read_all(path)) == ["grün.csv"]
    with tarfile.open(path, "w", format=tarfile.GNU_FORMAT, encoding="latin-1") as archive:
        archive.addfile(tarfile.TarInfo("grün.csv"))
    with pytest.raises(UnsafeArchiveError, match="not UTF-8"):
        read_all(path)


def test_a_zero_byte_in_a_name_is_refused(path):
    path.write_bytes(zipped({"a_b": b"x"}).replace(b"a_b", b"a\0b"))
    with pytest.raises(ArchiveError, match="zero byte"):
        read_all(path)


def test_too_many_members_are_refused(path):
    with config.using(max_archive_members=3):
        for data in (tarred(), zipped()):
            path.write_bytes(data)
            with pytest.raises(UnsafeArchiveError, match=r"more than 3 members.*max_archive_members"):
                read_all(path)


@suffixes
def test_too_many_bytes_are_refused(path, suffix):
    path.write_bytes(PACK[suffix](tarred()))
    with config.using(max_archive_bytes=6000), pytest.raises(UnsafeArchiveError, match="more than 6,000 bytes"):
        read_all(path)


def test_a_bomb_is_refused_before_it_goes_off(path):
    path.write_bytes(zipped({"zeros": bytes(101_000_000)}))
    with pytest.raises(UnsafeArchiveError, match="more than 200 times its size"):
        next(walk(str(path)))


def test_a_bomb_behind_the_end_of_a_tar_is_refused(path):
    path.write_bytes(gzip.compress(tarred({"a": b"x"}) + bytes(101_000_000), 1))
    with pytest.raises(UnsafeArchiveError, match="more than 200 times its size"):
        read_all(path)


def test_a_header_of_gigabytes_is_not_taken_into_memory(path):
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, 1 << 33
    path.write_bytes(header.tobuf(tarfile.GNU_FORMAT) + bytes(2048))
    with pytest.raises(ArchiveError, match="declares 8589934592 bytes"):
        read_all(path)


def test_a_size_below_zero_ends_in_an_error(path):
    member = tarfile.TarInfo("a")
    member.size = -512
    path.write_bytes(member.tobuf(tarfile.GNU_FORMAT) + bytes(1024))
    with pytest.raises(ArchiveError):
        read_all(path)


@pytest.mark.parametrize("kind", ["rar", "7z"])
def test_rar_and_7z_are_to_be_unpacked_by_hand(path, kind):
    path.write_bytes({"rar": b"Rar!\x1a\x07\x00", "7z": b"7z\xbc\xaf\x27\x1c"}[kind] + bytes(100))
    for read in (read_all, archive_kind):
        with pytest.raises(ArchiveError, match=f"{kind} archives are not supported. Extract it manually"):
            read(path)


@pytest.mark.parametrize(
    ("data", "words"), [(b"", "empty"), (b"a,b\n", "an archive"), (gzip.compress(b"a,b\n", mtime=0), "not a tar")]
)
def test_what_is_no_archive_is_told(path, data, words):
    path.write_bytes(data)
    with pytest.raises(ArchiveError, match=words):
        read_all(path)


@suffixes
def test_an_empty_tar_has_no_members(path, suffix):
    path.write_bytes(PACK[suffix](tarred({})))
    assert read_all(path) == {}


def test_an_empty_zip_has_no_members(path):
    path.write_bytes(zipped({}))
    assert read_all(path) == {}


def test_a_missing_archive_or_a_folder_is_told(path):
    with pytest.raises(DataFilesNotFoundError, match="does not exist"):
        read_all(path)
    os.mkdir(path)
    with pytest.raises(DataFilesNotFoundError, match="is a folder"):
        read_all(path)


@pytest.mark.parametrize("seed", range(60))
def test_random_damage_gives_an_error_or_the_right_bytes(path, seed):
    chance = random.Random(seed)
    data = bytearray(chance.choice([tarred(), zipped(), gzip.compress(tarred()), zipped(compression=zipfile.ZIP_STORED)]))
    for _ in range(chance.randint(1, 4)):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(bytes(data))
    try:
        found = read_all(path)
    except ArchiveError:
        return
    assert len(found) == len(CONTENT)
