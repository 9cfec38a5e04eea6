import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records.wire.maps import WireBytes, gathered, joined, read_lengths, read_many, read_single
from datasets_core.records.wire.values import RecordBlock
from tests.records.wire_forms import varint

NUMBERS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=30)
PIECES = st.lists(st.binary(max_size=12), max_size=12)


@given(NUMBERS)
def test_varints_one_after_the_other_are_read(numbers: list[int]) -> None:
    values, longer = read_many(np.frombuffer(b"".join(map(varint, numbers)), np.uint8))
    assert (values.tolist(), longer.tolist()) == (numbers, [])


def test_varints_are_read_in_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.records.wire.maps._STRETCH", 7)
    numbers = [1, 300, -1, 1 << 40, 5, -(1 << 63), 127, 128]
    values, longer = read_many(np.frombuffer(b"".join(map(varint, numbers)), np.uint8))
    assert (values.tolist(), longer.tolist()) == (numbers, [])


def test_the_places_of_varints_that_are_too_long_are_told() -> None:
    octets = np.frombuffer(b"\x05" + b"\x80" * 10 + b"\0" + varint(-1) + b"\xff" * 11 + b"\x01", np.uint8)
    assert read_many(octets)[1].tolist() == [1, 22]


@given(st.lists(st.integers(0, (1 << 56) - 1), min_size=1, max_size=20))
def test_single_varints_are_read_at_once(numbers: list[int]) -> None:
    wire = WireBytes(RecordBlock.of([varint(number) for number in numbers]))
    values = read_single(wire, wire.starts, wire.stops)
    assert values is not None
    assert values.tolist() == numbers


@pytest.mark.parametrize("piece", [b"", b"\x05\x06", b"\x80", varint(-1)])
def test_what_is_no_single_varint_is_left(piece: bytes) -> None:
    wire = WireBytes(RecordBlock.of([b"\x05", piece]))
    assert read_single(wire, wire.starts, wire.stops) is None


@given(st.lists(st.integers(0, (1 << 30) - 1), min_size=1, max_size=20))
def test_lengths_of_up_to_four_bytes_are_read(numbers: list[int]) -> None:
    words = np.array([int.from_bytes(varint(number).ljust(8, b"\xff"), "little") for number in numbers], np.uint64)
    values, widths, longer = read_lengths(words)
    is_longer = np.zeros(len(numbers), np.bool_) if longer is None else longer
    assert is_longer.tolist() == [number >= 1 << 28 for number in numbers]
    assert values[~is_longer].tolist() == [number for number in numbers if number < 1 << 28]
    widths = np.broadcast_to(widths, len(numbers))
    assert widths[~is_longer].tolist() == [len(varint(number)) for number in numbers if number < 1 << 28]


def test_bits_of_bytes_are_joined() -> None:
    assert joined(np.array([0xFFFF_FFFF_FFFF_FFFF, 0x0281], np.uint64)).tolist() == [(1 << 56) - 1, 257]


@given(PIECES)
def test_pieces_are_gathered_as_values_and_as_bytes(pieces: list[bytes]) -> None:
    wire = WireBytes(RecordBlock.of(pieces))
    assert wire.strings(wire.starts, wire.stops).to_pylist() == pieces
    assert wire.flat(wire.starts, wire.stops).tobytes() == b"".join(pieces)


@given(st.binary(max_size=20), st.integers(1, 24))
def test_zeros_stand_behind_the_end(data: bytes, width: int) -> None:
    places = np.arange(len(data) + 1)
    rows = gathered(np.frombuffer(data, np.uint8), places, width)
    assert [row.tobytes() for row in rows] == [data[at : at + width].ljust(width, b"\0") for at in places.tolist()]
