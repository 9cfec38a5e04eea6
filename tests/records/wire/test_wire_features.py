import pytest

from datasets_core.records.wire.values import Malformed, as_floats, read_varint, signed


def test_floats_are_those_that_a_float32_holds() -> None:
    assert as_floats(b"\xcd\xcc\xcc\x3d\0\0\x80\xbf") == [0.10000000149011612, -1.0]


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "cut in a number at byte 0"), (b"\x80", "byte 1"), (b"\x80" * 11, "more than 10 bytes")]
)
def test_numbers_that_are_none_are_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Malformed, match=reason):
        read_varint(data, 0, len(data))


def test_the_last_64_bits_of_a_number_count() -> None:
    assert [signed(number) for number in (5, (1 << 64) - 1, 1 << 63, (1 << 64) + 5)] == [5, -1, -(1 << 63), 5]
