import gzip
import io
import json
import random
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ArgumentTypeError, DamagedRecordError, DownloadError
from datasets_core.records import frames
from datasets_core.records.frames import BLOCK_BYTES, blocks_of, first_frame, frame, frame_offsets, scan

GOLDEN = json.loads(Path(__file__).with_name("golden").joinpath("frames.json").read_text(encoding="utf-8"))
RECORDS = [bytes.fromhex(record) for record in GOLDEN["records"]]
WRITTEN = bytes.fromhex(GOLDEN["plain"]["file"])
BOUNDS = [0, 19, 35, 91, 111]


def read(data: bytes, *, block_bytes: int = BLOCK_BYTES, verify: bool = True) -> tuple[list[bytes], DamagedRecordError | None]:
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
    assert read(b"".join(map(frame, records)), block_bytes=block_bytes, verify=verify) == (records, None)


@pytest.mark.parametrize("block_bytes", [1, 13, 40, BLOCK_BYTES])
def test_every_cut_is_told(block_bytes: int) -> None:
    for size in range(len(WRITTEN)):
        found, error = read(WRITTEN[:size], block_bytes=block_bytes)
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
        found, error = read(flipped(WRITTEN, byte, bit), block_bytes=block_bytes)
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
    found, error = read(bytes(data), block_bytes=block_bytes)
    assert found == records[: len(found)]
    assert error is not None or len(found) == len(records) or sum(16 + len(record) for record in found) == len(data)


def test_an_error_says_what_where_and_what_to_do() -> None:
    _, error = read(flipped(WRITTEN, 31, 0))
    assert str(error) == (
        "a.tfrecord: record 1 at byte 19 is damaged (data CRC): its data has the CRC 0xa282ead8, and 0xa282ead9 is on record. "
        "Fetch or write the file again; what stands before this record is good."
    )


GIT_LFS = "the text that Git-LFS keeps in the place of a file"


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
    found, error = read(head)
    assert found == [] and error is not None and error.damage == damage
    assert str(error).endswith(f"; it begins as {kind} does. Give a TFRecord file.")


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
    assert read(data, verify=False) == ([b"one", b"two"], None)
    found, error = read(data[:-1], verify=False)
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
                raise DownloadError("a.tfrecord", "the connection broke")
            return part

    found: list[bytes] = []
    with pytest.raises(DownloadError, match="the connection broke"):
        for block in blocks_of(Fails(), name="a.tfrecord"):
            found += block
    assert found == RECORDS[:2]


@pytest.mark.parametrize(
    "stream", [io.StringIO("text"), io.TextIOWrapper(io.BytesIO(b"\xff\xff"), "utf-8")], ids=["text", "none"]
)
def test_text_is_refused(stream: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"gives str where bytes are read\. Open it with mode 'rb'"):
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
    with pytest.raises(DamagedRecordError, match="record 3 at byte 91"):
        list(blocks_of(io.BytesIO(WRITTEN[35:-1]), name="a", first=2, offset=35))


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
    found, error = read(both)
    assert len(found) == 40 and error is not None and error.damage == "data CRC"


def test_one_frame_is_looked_at_alone() -> None:
    assert first_frame(WRITTEN) == (19, None)
    assert first_frame(WRITTEN[:5]) == (16, None)
    assert first_frame(flipped(WRITTEN, 13, 0), verify=False) == (19, None)
    needs, damage = first_frame(flipped(WRITTEN, 13, 0))
    assert needs == 19 and damage is not None and damage.name == "data CRC"


def test_a_gzip_file_that_is_read_as_plain_is_named() -> None:
    _, error = read(gzip.compress(WRITTEN, mtime=0))
    assert error is not None and "gz" in str(error)
