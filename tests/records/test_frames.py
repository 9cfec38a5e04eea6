"""Tests of datasets_core/records/frames.py."""

import gzip
import io
import json
import random
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError, DamagedRecordError, DownloadError
from datasets_core.records import frames
from datasets_core.records.frames import (
    BLOCK_BYTES,
    Bytes,
    Inflated,
    block_of_array,
    blocks_of,
    checked_compression,
    compression_of,
    first_frame,
    frame,
    frame_offsets,
    framed,
    inflated,
    scan,
)
from datasets_core.records.wire.values import RecordBlock

KNOWN = {  # RFC 3720, B.4, and the usual check value
    bytes(32): 0x8A9136AA,
    b"\xff" * 32: 0x62A8AB43,
    bytes(range(32)): 0x46DD794E,
    bytes(range(31, -1, -1)): 0x113FDB5C,
    b"123456789": 0xE3069283,
    b"": 0,
}


def _masked(crc: int) -> int:
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


@pytest.mark.parametrize("data", list(KNOWN), ids=range(len(KNOWN)))
def test_known_vectors(data: bytes) -> None:
    assert frames.masked_crc32c(data) == _masked(KNOWN[data])
    many = frames.masked_crcs(b"x" + data + b"y", np.array([1]), np.array([1 + len(data)]))
    assert many.dtype == np.uint32 and many.tolist() == [_masked(KNOWN[data])]


@given(st.lists(st.integers(0, 400), max_size=30), st.randoms(use_true_random=False))
def test_many_ranges_have_the_crcs_of_a_loop_over_bytes(lengths: list[int], random_: random.Random) -> None:
    data = random_.randbytes(600)
    starts = np.array([random_.randrange(600 - length) for length in lengths], np.int64)
    stops = starts + np.array(lengths, np.int64)
    expected = [_masked(_by_byte(data[start:stop])) for start, stop in zip(starts, stops, strict=True)]
    assert frames.masked_crcs(data, starts, stops).tolist() == expected


def _by_byte(data: bytes) -> int:
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def test_no_ranges_have_no_crcs() -> None:
    none = np.zeros(0, np.int64)
    assert frames.masked_crcs(b"", none, none).tolist() == []
    assert frames.masked_length_crcs(none.astype(np.uint64)).tolist() == []


@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 2**20)))
def test_crcs_of_lengths(lengths: list[int]) -> None:
    found = frames.masked_length_crcs(np.array(lengths, np.uint64))
    assert found.tolist() == [frames.masked_crc32c(length.to_bytes(8, "little")) for length in lengths]


@given(st.integers(0, 999), st.integers(0, 43), st.integers(0, 7))
def test_one_wrong_bit_among_many_short_frames_is_told_and_those_before_it_are_good(number: int, place: int, bit: int) -> None:
    data = bytearray(frames.frame(b"x" * 40) * 1000)
    data[number * 56 + 12 + place] ^= 1 << bit
    found = scan(bytes(data))
    assert (len(found.starts), found.damage and found.damage.name) == (number, "data CRC")


@given(st.randoms(use_true_random=False), st.integers(256, 600), st.sampled_from([1, 2, 20, 300, 1000]), st.integers(0, 5))
def test_wrong_bits_among_frames_of_all_lengths_are_told(random_: random.Random, count: int, most: int, num_wrong: int) -> None:
    records = [random_.randbytes(random_.randrange(most)) for _ in range(count)]
    data = bytearray(b"".join(map(frames.frame, records)))
    whole = scan(bytes(data))
    assert (len(whole.starts), whole.damage, whole.end) == (count, None, len(data))
    wrong = sorted(random_.sample(range(count), num_wrong))
    for number in wrong:
        data[random_.randrange(int(whole.starts[number]), int(whole.stops[number]) + 4)] ^= 1 << random_.randrange(8)
    found = scan(bytes(data))
    assert len(found.starts) == (wrong[0] if wrong else count)
    assert (found.damage and found.damage.name) == ("data CRC" if wrong else None)


# framing

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("frames.json").read_text(encoding="utf-8"))


def test_frames_are_those_of_tensorflow() -> None:
    records = [bytes.fromhex(record) for record in GOLDEN["records"]]
    written = bytes.fromhex(GOLDEN["plain"]["file"])
    assert b"".join(map(frame, records)) == written
    assert framed(RecordBlock.of(records)).to_pybytes() == written


@given(st.lists(st.binary(max_size=30), max_size=20))
def test_many_at_once_are_as_one_after_the_other(records: list[bytes]) -> None:
    assert framed(RecordBlock.of(records)).to_pybytes() == b"".join(map(frame, records))


@given(st.lists(st.binary(max_size=30), max_size=20), st.integers(0, 20), st.booleans())
def test_arrays_of_arrow_are_records_from_any_place_on(records: list[bytes], start: int, large: bool) -> None:
    array = pa.array(records, pa.large_binary() if large else pa.binary())[start:]
    block = block_of_array(array)
    assert list(block) == records[start:]
    assert framed(block).to_pybytes() == b"".join(map(frame, records[start:]))


def test_records_apart_from_each_other_are_framed_too() -> None:
    block = RecordBlock(b"..one....two.", np.array([2, 9]), np.array([5, 12]))
    assert framed(block).to_pybytes() == frame(b"one") + frame(b"two")


@pytest.mark.parametrize("array", [pa.array(["text"]), pa.array([b"a", None]), pa.array([1])], ids=["text", "null", "number"])
def test_other_arrays_are_refused(array: pa.Array) -> None:
    with pytest.raises(ArgumentTypeError, match="array of type binary"):
        block_of_array(array)


# inflated

RECORDS = [bytes.fromhex(record) for record in GOLDEN["records"]]
KINDS = ("gzip", "zlib")


def packed(data: bytes, kind: str, level: int = 6) -> bytes:
    return gzip.compress(data, level, mtime=0) if kind == "gzip" else zlib.compress(data, level)


def all_of(stream: Bytes, size: int = 1 << 16) -> bytes:
    return b"".join(iter(lambda: stream.read(size), b""))


def read(data: bytes, compression: str | None = None, block_bytes: int = 1000) -> tuple[list[bytes], DamagedRecordError | None]:
    found: list[bytes] = []
    stream = inflated(io.BytesIO(data), name="a.gz", compression=compression)
    try:
        for block in blocks_of(stream, name="a.gz", block_bytes=block_bytes):
            found += block
    except DamagedRecordError as error:
        assert error.record == len(found)
        return found, error
    return found, None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("is_told", [True, False])
def test_what_tensorflow_wrote_is_read_and_every_cut_is_told(kind: str, is_told: bool) -> None:
    data = bytes.fromhex(GOLDEN[kind]["file"])
    compression = kind.upper() if is_told else None
    assert read(data, compression) == (RECORDS, None)
    for size in range(1, len(data)):
        found, error = read(data[:size], compression)
        count, _ = GOLDEN[kind]["cuts"][size]
        assert found == RECORDS[:count]
        assert error is not None and error.offset == [0, 19, 35, 91, 111][count]
        if size > 8 or (is_told and size > 0):
            assert error.damage == f"cut {kind}"
    assert read(b"", compression) == ([], None)  # an empty file is one without records, whatever it is called


@pytest.mark.parametrize("kind", KINDS)
def test_every_wrong_bit_is_told_and_gives_no_wrong_record(kind: str) -> None:
    data = packed(b"".join(frame(b"record %d" % number * 3) for number in range(8)), kind)
    records = [b"record %d" % number * 3 for number in range(8)]
    silent = 0
    for place in range(len(data) * 8):
        byte, bit = divmod(place, 8)
        found, error = read(data[:byte] + bytes([data[byte] ^ 1 << bit]) + data[byte + 1 :])
        assert found == records[: len(found)]
        if error is None:
            silent += 1
            assert found == records
    assert silent < 80  # gzip's head has bytes that mean nothing, and some data can be packed in two ways


@pytest.mark.parametrize("kind", KINDS)
def test_records_before_a_damage_are_given_to_the_last(kind: str) -> None:
    random_ = random.Random(0)
    records = [random_.randbytes(50) for _ in range(3000)]
    data = bytearray(packed(b"".join(map(frame, records)), kind))
    place = len(data) - 1000
    data[place : place + 20] = bytes(20)
    found, error = read(bytes(data), block_bytes=1 << 20)
    assert found == records[: len(found)] and 2900 < len(found) < 3000
    assert error is not None


@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_check_sum_is_told_after_all_records(kind: str) -> None:
    data = bytearray(packed(b"".join(map(frame, RECORDS)), kind))
    data[-5 if kind == "gzip" else -1] ^= 1
    found, error = read(bytes(data))
    assert found == RECORDS and error is not None
    assert error.damage == f"damaged {kind}" and (error.record, error.offset) == (4, 111)


@pytest.mark.parametrize("kind", KINDS)
def test_several_streams_in_a_row_and_zeros_behind_them_are_one_file(kind: str) -> None:
    parts = [packed(frame(b"one") + frame(b"two")[:5], kind), packed(b"", kind), packed(frame(b"two")[5:], kind)]
    assert read(b"".join(parts)) == ([b"one", b"two"], None)
    assert read(b"".join(parts) + bytes(70_000)) == ([b"one", b"two"], None)
    assert read(bytes(10).join(parts)) == ([b"one", b"two"], None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("again", [False, True])
def test_zeros_behind_the_end_may_come_in_reads_of_their_own(kind: str, again: bool) -> None:
    class Parts:
        def __init__(self, *parts: bytes) -> None:
            self.parts = list(parts)

        def read(self, size: int, /) -> bytes:
            return self.parts.pop(0) if self.parts else b""

    data, rest = packed(b"one", kind), packed(b"two", kind) if again else b""
    stream = inflated(Parts(data, bytes(7), bytes(9) + rest, bytes(3)), name="a.gz", compression=kind)
    assert all_of(stream) == (b"onetwo" if again else b"one")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tail", [b"hello", b"\1\2", frame(b"more")], ids=["text", "bytes", "record"])
def test_foreign_bytes_behind_the_end_are_told(kind: str, tail: bytes) -> None:
    found, error = read(packed(frame(b"one"), kind) + tail)
    assert found == [b"one"] and error is not None
    assert error.damage == f"damaged {kind}" and "other bytes follow" in error.reason


def test_a_second_stream_that_is_cut_is_told() -> None:
    data = packed(frame(b"one"), "gzip") + packed(frame(b"two"), "gzip")[:-3]
    found, error = read(data)
    assert found == [b"one", b"two"] and error is not None and error.damage == "cut gzip"


def test_plain_data_that_are_said_to_be_gzip_are_told() -> None:
    found, error = read(frame(b"one"), "GZIP")
    assert found == [] and error is not None and "does not begin like gzip" in str(error)


def test_lengths_that_look_like_a_compression_are_none() -> None:
    for length in (0x0178, 0x9C78, 0xDA78, 0x5E78, 0x8B1F, 0x088B1F, 0x10178):
        data = frame(bytes(length))
        assert compression_of(data[:12]) == ""
        assert read(data, block_bytes=1 << 20) == ([bytes(length)], None)
        damaged = bytearray(data)
        damaged[9] ^= 1
        _, error = read(bytes(damaged))
        assert error is not None and (error.damage == "length CRC" or length == 0x088B1F)


@pytest.mark.parametrize("level", range(10))
def test_every_level_of_compression_is_told(level: int) -> None:
    for records in ([], [b""], [b"one"], [bytes(1000)] * 50, [random.Random(1).randbytes(70_000)]):
        data = b"".join(map(frame, records))
        for kind in KINDS:
            made = packed(data, kind, level)
            assert compression_of(made[:12]) == kind.upper()
            assert read(made) == (records, None)


def test_names_of_compressions() -> None:
    assert [checked_compression(name) for name in ("GZIP", "zlib", "", None)] == ["GZIP", "ZLIB", "", None]
    for name in ("gz", "SNAPPY", 3):
        with pytest.raises(ConfigurationError, match="compression="):
            checked_compression(name)  # type: ignore[arg-type]


# -- memory ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_a_bomb_is_opened_no_further_than_it_is_read(kind: str) -> None:
    data = packed(bytes(20 << 20), kind, 9)
    assert len(data) < 30_000
    stream = inflated(io.BytesIO(data), name="a.gz")
    assert sum(len(part) for part in iter(lambda: stream.read(1 << 16), b"")) == 20 << 20
    found, error = read(data)
    assert found == [] and error is not None and error.damage == "length CRC"  # the CRC of zeros is not zero


@given(st.binary(max_size=3000), st.integers(1, 400), st.sampled_from(KINDS))
def test_reads_give_no_more_than_they_are_asked_for(data: bytes, size: int, kind: str) -> None:
    stream = Inflated(io.BytesIO(packed(data * 20, kind)), kind.upper(), "a.gz")
    parts = list(iter(lambda: stream.read(size), b""))
    assert b"".join(parts) == data * 20 and all(len(part) <= size for part in parts)


@given(st.binary(min_size=1, max_size=2000), st.integers(1, 300), st.data())
def test_what_comes_before_an_end_too_early_is_the_same_in_any_steps(data: bytes, size: int, draw: st.DataObject) -> None:
    made = packed(data * 5, "zlib")
    cut = made[: draw.draw(st.integers(2, len(made) - 1))]
    for step in (size, 1 << 20):
        stream, found = Inflated(io.BytesIO(cut), "ZLIB", "a"), b""
        with pytest.raises(DamagedRecordError, match="cut zlib") as caught:
            while part := stream.read(step):
                found += part
        assert found == zlib.decompressobj().decompress(cut)
        assert caught.value.offset == len(found)
        with pytest.raises(DamagedRecordError):
            stream.read(step)  # again


def test_a_stream_that_fails_keeps_what_came_before() -> None:
    class Fails:
        def __init__(self) -> None:
            self.parts = iter([packed(frame(b"one"), "gzip")])

        def read(self, size: int, /) -> bytes:
            for part in self.parts:
                return part
            raise DownloadError("a.gz", "the connection was lost")

    found: list[bytes] = []
    with pytest.raises(DownloadError):
        for block in blocks_of(inflated(Fails(), name="a.gz", compression="GZIP"), name="a.gz"):
            found += block
    assert found == [b"one"]


def test_plain_streams_are_given_as_they_are() -> None:
    assert all_of(inflated(io.BytesIO(b"abc"), name="a")) == b"abc"
    stream = io.BytesIO(b"abc")
    assert inflated(stream, name="a", compression="") is stream


def test_text_is_refused() -> None:
    with pytest.raises(ArgumentTypeError, match="returned str"):
        inflated(io.StringIO("text"), name="a")  # type: ignore[arg-type]


# record frames

WRITTEN = bytes.fromhex(GOLDEN["plain"]["file"])
BOUNDS = [0, 19, 35, 91, 111]


def read_record_frames(
    data: bytes, *, block_bytes: int = BLOCK_BYTES, verify: bool = True
) -> tuple[list[bytes], DamagedRecordError | None]:
    """The records, and what followed them."""
    found: list[bytes] = []
    try:
        for block in blocks_of(io.BytesIO(data), name="a.tfrecord", block_bytes=block_bytes, verify=verify):
            assert block.first == len(found)
            found += block
    except DamagedRecordError as error:
        assert error.record == len(found)
        return found, error
    return found, None


@given(st.lists(st.binary(max_size=60), max_size=12), st.integers(1, 90), st.booleans())
def test_what_was_framed_is_read(records: list[bytes], block_bytes: int, verify: bool) -> None:
    assert read_record_frames(b"".join(map(frame, records)), block_bytes=block_bytes, verify=verify) == (records, None)


@pytest.mark.parametrize("block_bytes", [1, 13, 40, BLOCK_BYTES])
def test_every_cut_is_told(block_bytes: int) -> None:
    for size in range(len(WRITTEN)):
        found, error = read_record_frames(WRITTEN[:size], block_bytes=block_bytes)
        count, _ = GOLDEN["plain"]["cuts"][size]
        assert found == RECORDS[:count]
        if size in BOUNDS:
            assert error is None
            continue
        assert error is not None
        assert error.damage == ("cut in header" if size - BOUNDS[count] < 12 else "cut in data")
        assert (error.offset, error.path) == (BOUNDS[count], "a.tfrecord")


@pytest.mark.parametrize("block_bytes, way", [(13, "one by one"), (BLOCK_BYTES, "one by one"), (BLOCK_BYTES, "at once")])
def test_every_wrong_bit_is_told_where_tensorflow_tells_it(block_bytes: int, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if way == "at once":
        monkeypatch.setattr(frames, "_FEW", 0)
    for place, (count, _) in enumerate(GOLDEN["plain"]["flips"]):
        byte, bit = divmod(place, 8)
        found, error = read_record_frames(flipped(WRITTEN, byte, bit), block_bytes=block_bytes)
        assert found == RECORDS[:count]
        assert error is not None and error.offset == BOUNDS[count]
        assert error.damage == ("length CRC" if byte - BOUNDS[count] < 12 else "data CRC")


def flipped(data: bytes, byte: int, bit: int) -> bytes:
    return data[:byte] + bytes([data[byte] ^ 1 << bit]) + data[byte + 1 :]


@given(st.randoms(use_true_random=False), st.integers(1, 3000))
def test_random_damage_never_gives_a_wrong_record(random_: random.Random, block_bytes: int) -> None:
    records = [random_.randbytes(random_.randrange(40)) for _ in range(100)]
    data = bytearray(b"".join(map(frame, records)))
    for _ in range(random_.randrange(1, 4)):
        place = random_.randrange(len(data))
        match random_.randrange(4):
            case 0:
                data[place] ^= 1 << random_.randrange(8)
            case 1:
                del data[place : place + random_.randrange(1, 20)]
            case 2:
                data[place:place] = random_.randbytes(random_.randrange(1, 20))
            case _:
                data[place : place + 8] = random_.randbytes(8)
    found, error = read_record_frames(bytes(data), block_bytes=block_bytes)
    assert found == records[: len(found)]
    assert error is not None or len(found) == len(records) or sum(16 + len(record) for record in found) == len(data)


def test_an_error_says_what_where_and_what_to_do() -> None:
    _, error = read_record_frames(flipped(WRITTEN, 31, 0))
    assert str(error) == (
        "a.tfrecord: record 1 at byte 19 is damaged (data CRC): its data has the CRC 0xa282ead8, but 0xa282ead9 is recorded. "
        "Download or write the file again; the records before this one are valid."
    )


GIT_LFS = "a Git LFS pointer"


@pytest.mark.parametrize(
    "head, kind, damage",
    [
        (b"<!DOCTYPE html><html>no such file</html>", "a web page", "length CRC"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", GIT_LFS, "length CRC"),
        (b"PK\x03\x04" + bytes(40), "a file of the kind zip", "length CRC"),
        (b"id,name\n1,Zo\xc3\xab\n2,Max\n", "a text", "length CRC"),
        (b"a\n1\n", "a text", "cut in header"),
    ],
    ids=["html", "lfs", "zip", "csv", "short"],
)
def test_what_is_no_such_file_at_all_is_named(head: bytes, kind: str, damage: str) -> None:
    found, error = read_record_frames(head)
    assert found == [] and error is not None and error.damage == damage
    assert str(error).endswith(f"; the file begins like {kind}. Pass a TFRecord file.")


# -- lengths that are not to be believed -------------------------------------------------------------------------------


class Counted:
    """A stream that says how many bytes were asked for at once, and how many it gave."""

    def __init__(self, data: bytes) -> None:
        self.data, self.most, self.given = io.BytesIO(data), 0, 0

    def read(self, size: int, /) -> bytes:
        self.most = max(self.most, size)
        part = self.data.read(size)
        self.given += len(part)
        return part


def headed(length: int) -> bytes:
    """A head whose CRC is right."""
    packed = struct.pack("<Q", length)
    return packed + struct.pack("<I", frames.masked_crc32c(packed))


@pytest.mark.parametrize("length", [100, 1 << 31, 1 << 62, (1 << 63) - 1, 1 << 63, (1 << 64) - 1])
@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_length_beyond_the_file_asks_for_no_memory(length: int, verify: bool, is_known: bool) -> None:
    data = frame(b"one") + headed(length) + b"few"
    stream = Counted(data)
    found: list[bytes] = []
    with pytest.raises(DamagedRecordError, match=r"record 1 at byte 19 is damaged \(cut in data\)") as caught:
        size = len(data) if is_known else None
        for block in blocks_of(stream, name="a.tfrecord", verify=verify, size=size):
            found += block
    assert found == [b"one"] and caught.value.record == 1
    assert stream.most <= 16 << 20


def test_a_length_beyond_a_known_size_is_told_before_the_rest_is_read() -> None:
    data = headed(1 << 40) + bytes(5 << 20)
    stream = Counted(data)
    with pytest.raises(DamagedRecordError, match="cut in data"):
        next(blocks_of(stream, name="a.tfrecord", size=len(data)))
    assert stream.given <= BLOCK_BYTES


@pytest.mark.parametrize("verify", [True, False])
def test_a_huge_length_with_a_wrong_crc_is_never_believed(verify: bool) -> None:
    stream = Counted(frame(b"one") + struct.pack("<QI", 1 << 60, 7) + bytes(5 << 20))
    with pytest.raises(DamagedRecordError, match="length CRC"):
        list(blocks_of(stream, name="a.tfrecord", verify=verify))
    assert stream.given <= BLOCK_BYTES


def test_without_checks_wrong_crcs_pass_and_cuts_do_not() -> None:
    data = b"".join(struct.pack("<QI", 3, 0) + record + bytes(4) for record in (b"one", b"two"))
    assert read_record_frames(data, verify=False) == ([b"one", b"two"], None)
    found, error = read_record_frames(data[:-1], verify=False)
    assert found == [b"one"] and error is not None and error.damage == "cut in data"


# -- streams -----------------------------------------------------------------------------------------------------------


def test_streams_may_give_less_than_is_asked_for() -> None:
    class Trickle:
        def __init__(self) -> None:
            self.data = io.BytesIO(WRITTEN)

        def read(self, size: int, /) -> bytes:
            return self.data.read(min(size, 3))

    assert [list(block) for block in blocks_of(Trickle(), name="a")] == [RECORDS]


def test_records_before_a_failure_of_the_stream_come_first() -> None:
    class Fails:
        def __init__(self) -> None:
            self.parts = iter([WRITTEN[:40], b""])

        def read(self, size: int, /) -> bytes:
            part = next(self.parts)
            if not part:
                raise DownloadError("a.tfrecord", "the connection was lost")
            return part

    found: list[bytes] = []
    with pytest.raises(DownloadError, match="the connection was lost"):
        for block in blocks_of(Fails(), name="a.tfrecord"):
            found += block
    assert found == RECORDS[:2]


@pytest.mark.parametrize(
    "stream", [io.StringIO("text"), io.TextIOWrapper(io.BytesIO(b"\xff\xff"), "utf-8")], ids=["text", "none"]
)
def test_text_is_refused_record_frames(stream: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"returned str instead of bytes\. Open it with mode 'rb'"):
        list(blocks_of(stream, name="a.tfrecord"))


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=12), st.integers(1, 200), st.integers(1, 200))
def test_blocks_end_at_the_same_places_wherever_reading_begins(
    records: list[bytes], block_bytes: int, later_bytes: int
) -> None:
    data = b"".join(map(frame, records))

    def ends(offset: int, first: int) -> list[tuple[int, int]]:
        how: dict[str, Any] = {"block_bytes": block_bytes, "later_bytes": later_bytes}
        found = blocks_of(io.BytesIO(data[offset:]), name="a.tfrecord", first=first, offset=offset, **how)
        return [(block.offset, block.first + len(block)) for block in found]

    whole = ends(0, 0)
    assert whole[-1][1] == len(records)
    for number in range(1, len(whole)):
        assert ends(whole[number][0], whole[number - 1][1]) == whole[number:]


@given(st.lists(st.binary(max_size=60), min_size=1, max_size=12), st.integers(1, 200))
def test_offsets_lead_to_the_frames(records: list[bytes], block_bytes: int) -> None:
    data = b"".join(map(frame, records))
    places = [int(place) for block in blocks(data, block_bytes) for place in frame_offsets(block)]
    assert [frame(record) for record in records] == [
        data[start:stop] for start, stop in zip(places, [*places[1:], len(data)], strict=True)
    ]


def blocks(data: bytes, block_bytes: int) -> Iterator:  # type: ignore[type-arg]
    return blocks_of(io.BytesIO(data), name="a", block_bytes=block_bytes)


def test_a_stream_may_begin_in_the_middle() -> None:
    (block,) = blocks_of(io.BytesIO(WRITTEN[35:]), name="a", first=2, offset=35)
    assert (list(block), block.first, frame_offsets(block).tolist()) == (RECORDS[2:], 2, [35, 91])
    with pytest.raises(DamagedRecordError) as caught:
        list(blocks_of(io.BytesIO(WRITTEN[35:-1]), name="a", first=2, offset=35))
    assert (caught.value.row, caught.value.offset) == (3, 91)


def test_blocks_hold_about_as_much_as_they_are_told() -> None:
    data = frame(bytes(84)) * 1000
    sizes = [len(block.data) for block in blocks(data, 1000)]
    assert max(sizes) <= 1000 and len(sizes) >= 100
    (long, *rest) = blocks(frame(bytes(5000)) + data, 1000)
    assert len(long) == 1 and max(len(block.data) for block in rest) <= 1000


@pytest.mark.parametrize("count", [3, 64, 65, 300])
@pytest.mark.parametrize("heads_only", [True, False])
def test_few_frames_and_many_are_checked_alike(count: int, heads_only: bool) -> None:
    good = frame(b"record") * count
    last = len(good) - 22
    assert len(scan(good, heads_only=heads_only).starts) == count
    for byte, damage in ((last + 2, "length CRC"), (last + 14, "data CRC"), (last + 20, "data CRC")):
        found = scan(flipped(good, byte, 1), heads_only=heads_only)
        if damage == "data CRC" and heads_only:
            assert len(found.starts) == count and found.damage is None
        else:
            assert found.damage is not None and found.damage.name == damage
            assert len(found.starts) == count - 1 and found.end == last


def test_the_first_of_two_damages_is_told() -> None:
    good = frame(b"record") * 100
    both = flipped(flipped(good, 22 * 50 + 3, 1), 22 * 40 + 13, 1)
    found, error = read_record_frames(both)
    assert len(found) == 40 and error is not None and error.damage == "data CRC"


def test_one_frame_is_looked_at_alone() -> None:
    assert first_frame(WRITTEN) == (19, None)
    assert first_frame(WRITTEN[:5]) == (16, None)
    assert first_frame(flipped(WRITTEN, 13, 0), verify=False) == (19, None)
    needs, damage = first_frame(flipped(WRITTEN, 13, 0))
    assert needs == 19 and damage is not None and damage.name == "data CRC"


def test_a_gzip_file_that_is_read_as_plain_is_named() -> None:
    _, error = read_record_frames(gzip.compress(WRITTEN, mtime=0))
    assert error is not None and "gz" in str(error)
