import gzip
import io
import json
import random
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, ConfigurationError, DamagedRecordError, DownloadError
from datasets_core.records.frames import Bytes, Inflated, blocks_of, checked_compression, compression_of, frame, inflated

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("frames.json").read_text(encoding="utf-8"))
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
    assert error.damage == f"damaged {kind}" and "follow its end" in error.reason


def test_a_second_stream_that_is_cut_is_told() -> None:
    data = packed(frame(b"one"), "gzip") + packed(frame(b"two"), "gzip")[:-3]
    found, error = read(data)
    assert found == [b"one", b"two"] and error is not None and error.damage == "cut gzip"


def test_plain_data_that_are_said_to_be_gzip_are_told() -> None:
    found, error = read(frame(b"one"), "GZIP")
    assert found == [] and error is not None and "does not begin as gzip does" in str(error)


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
            raise DownloadError("a.gz", "the connection broke")

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
    with pytest.raises(ArgumentTypeError, match="gives str"):
        inflated(io.StringIO("text"), name="a")  # type: ignore[arg-type]
