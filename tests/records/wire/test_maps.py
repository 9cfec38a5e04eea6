"""Tests of datasets_core/records/wire/maps.py."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.records.wire.maps import (
    FEW,
    PATIENCE,
    Spans,
    WireBytes,
    feature_groups,
    first_fields,
    gathered,
    joined,
    read_lengths,
    read_many,
    read_single,
    repeated_fields,
    scan_entries,
)
from datasets_core.records.wire.values import RecordBlock
from tests.records import wire_forms as forms
from tests.records.wire_forms import entry, field, varint


def _scanned(*maps: bytes) -> tuple[dict[bytes, dict[int, bytes]], list[int]]:
    wire = WireBytes(RecordBlock.of(maps))
    spans = Spans.numbered(wire.starts, wire.stops)
    found = {}
    for key, entries in scan_entries(wire, spans).items():
        values = wire.strings(entries.values.starts, entries.values.stops).to_pylist()
        found[key] = dict(zip(entries.values.which.tolist(), values, strict=True))
    return found, np.flatnonzero(spans.odd).tolist()


def test_entries_are_found_by_their_keys() -> None:
    maps = [entry(b"a", b"1") + entry(b"bc", b"2"), b"", entry(b"bc", b"3") + entry(b"a", b"")]
    assert _scanned(*maps) == ({b"a": {0: b"1", 2: b""}, b"bc": {0: b"2", 2: b"3"}}, [])


def test_the_place_of_an_entry_in_its_map_is_told() -> None:
    wire = WireBytes(RecordBlock.of([entry(b"a", b"") + entry(b"b", b""), entry(b"b", b"")]))
    found = scan_entries(wire, Spans.numbered(wire.starts, wire.stops))
    assert {key: entries.steps.tolist() for key, entries in found.items()} == {b"a": [0], b"b": [1, 0]}


def test_a_map_with_a_key_twice_is_odd() -> None:
    found, odd = _scanned(entry(b"a", b"1"), entry(b"a", b"2") + entry(b"b", b"3") + entry(b"a", b"4"), entry(b"b", b"5"))
    assert odd == [1]
    assert found[b"a"][0] == b"1"


def test_entries_of_another_form_make_their_maps_odd() -> None:
    key, value = field(1, b"a"), field(2, b"1")
    odd = [
        value + key,
        key,
        value,
        b"",
        key + value + b"\x08\x01",
        b"\x08\x01" + key + value,
        key + key + value,
        key + value * 2,
    ]
    good = [entry(b"a", b"1")] * 3
    found, numbers = _scanned(*good, *(field(1, one) for one in odd), *good)
    assert numbers == [*range(3, 3 + len(odd))]
    assert {0, 1, 2, 11, 12, 13} <= {*found[b"a"]}


def test_keys_in_any_number_are_grouped() -> None:
    maps = [entry(b"key%d" % number, b"%d" % number) + entry(b"k" * number, b"x") for number in range(60)]
    found, odd = _scanned(*maps)
    assert odd == []
    assert all(found[b"key%d" % number] == {number: b"%d" % number} for number in range(60))
    assert all(found[b"k" * number] == {number: b"x"} for number in range(60))


def test_keys_that_share_a_hash_are_left_to_be_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("datasets_core.records.wire.maps._MULTIPLIER", np.uint64(0))
    found, odd = _scanned(*(entry(b"key%d" % (number % 20), b"") for number in range(40)))
    assert set(range(40)) - {*odd} == {number for values in found.values() for number in values} - {*odd}
    assert all({number % 20 for number in values if number not in odd} <= {int(key[3:])} for key, values in found.items())


# wire lists


def _read(*features: bytes) -> tuple[dict[str | None, dict[int, list[object]]], list[int]]:
    wire = WireBytes(RecordBlock.of(features))
    spans = Spans.numbered(wire.starts, wire.stops)
    groups = feature_groups(wire, spans)
    odd = np.flatnonzero(spans.odd).tolist()
    found: dict[str | None, dict[int, list[object]]] = {}
    for group in groups:
        values, stops = group.values.to_pylist(), np.cumsum(group.counts).tolist()
        rows = zip(group.which.tolist(), [0, *stops], stops, strict=False)
        found[group.kind] = {number: values[start:stop] for number, start, stop in rows if number not in odd}
    return found, odd


def test_features_are_grouped_by_their_kinds() -> None:
    features = [forms.ints(1, 300, -1), b"", forms.strings(b"x", b""), forms.floats(0.5), forms.ints(7), forms.strings()]
    assert _read(*features) == (
        {None: {1: []}, "bytes": {2: [b"x", b""], 5: []}, "float": {3: [0.5]}, "int64": {0: [1, 300, -1], 4: [7]}},
        [],
    )


def test_packed_and_single_numbers_stand_in_the_order_of_the_features() -> None:
    ints = [
        forms.single_ints(1, 300),
        forms.ints(2),
        forms.ints(),
        forms.single_ints(-1),
        forms.field(3, b""),
        forms.ints(5, 6),
    ]
    floats = [forms.floats(1.0), forms.single_floats(2.0, 3.0), forms.single_floats(), forms.floats(4.0)]
    assert _read(*ints) == ({"int64": {0: [1, 300], 1: [2], 2: [], 3: [-1], 4: [], 5: [5, 6]}}, [])
    assert _read(*floats) == ({"float": {0: [1.0], 1: [2.0, 3.0], 2: [], 3: [4.0]}}, [])


ODD = {
    "two kinds": forms.ints(1) + forms.floats(1.0),
    "not a list": b"\x22\x01x",
    "a list that is cut": forms.ints(1, 2)[:-1],
    "more behind": forms.ints(1) + b"\x38\x01",
    "two pieces of ints": forms.field(3, forms.field(1, b"\x01") * 2),
    "packed, then single ints": forms.field(3, forms.field(1, b"\x01") + b"\x08\x01"),
    "an int that is cut": forms.field(3, forms.field(1, b"\x01\x80")),
    "an int of 11 bytes": forms.field(3, forms.field(1, b"\x80" * 10 + b"\x01")),
    "a single int of 11 bytes": forms.field(3, b"\x08" + b"\x80" * 10 + b"\x01"),
    "a single int without a value": forms.field(3, b"\x08\x01\x08"),
    "a single int with a longer tag": forms.field(3, b"\x08\x01\x88\x00\x01"),
    "a single int of another field": forms.field(3, b"\x08\x01\x10\x01"),
    "5 bytes of floats": forms.field(2, forms.field(1, b"12345")),
    "a single float that is cut": forms.field(2, b"\x0d1234\x0d12"),
    "a single float of another field": forms.field(2, b"\x0d1234\x151234"),
    "bytes of another field": forms.field(1, forms.field(1, b"x") + forms.field(2, b"x")),
    "bytes that are cut": forms.field(1, forms.field(1, b"x", 5)),
}


@pytest.mark.parametrize("name", ODD)
def test_features_of_another_form_are_odd_and_the_others_are_read(name: str) -> None:
    good = [forms.ints(1), forms.floats(1.0), forms.strings(b"x"), forms.single_ints(5), forms.single_floats(2.0)]
    found, odd = _read(*good, ODD[name], *good)
    assert odd == [5]
    assert found == {
        "bytes": {2: [b"x"], 8: [b"x"]},
        "float": {1: [1.0], 4: [2.0], 7: [1.0], 10: [2.0]},
        "int64": {0: [1], 3: [5], 6: [1], 9: [5]},
    }


@pytest.mark.parametrize("size", [3, 200, 70_000])
def test_lists_of_any_length_are_counted(size: int) -> None:
    values = [[number % 1000 for number in range(length)] for length in (size, 0, 1, size)]
    assert _read(*(forms.ints(*row) for row in values))[0] == {"int64": dict(enumerate(values))}


# wire spans


def _spans(*messages: bytes) -> tuple[WireBytes, Spans]:
    wire = WireBytes(RecordBlock.of(messages))
    return wire, Spans.numbered(wire.starts, wire.stops)


def test_spans_that_are_not_usual_are_odd_from_then_on() -> None:
    _, spans = _spans(b"a", b"", b"ccc")
    part = spans.part(np.array([True, False, True]))
    assert part.kept(np.array([False, True])).which.tolist() == [2]
    assert spans.odd.tolist() == [True, False, False]
    assert spans.filled().which.tolist() == [0, 2]


def test_the_first_field_of_each_message_is_told() -> None:
    wire, spans = _spans(field(1, b"abc") + b"rest", field(2, b"x"), field(1, b"y", 9), field(1, b"z" * 300))
    fields, around = first_fields(wire, spans, 0x0A)
    assert wire.strings(fields.starts, fields.stops).to_pylist() == [b"abc", b"z" * 300]
    assert (fields.which.tolist(), around.which.tolist()) == ([0, 3], [0, 3])
    assert spans.odd.tolist() == [False, True, True, False]


def test_fields_one_after_the_other_are_told_in_rounds() -> None:
    wire, spans = _spans(field(1, b"a") + field(1, b"b"), b"", field(1, b"c"), field(1, b"d") + b"\x08\x01")
    rounds = repeated_fields(wire, spans, 0x0A)
    assert [wire.strings(one.starts, one.stops).to_pylist() for one in rounds] == [[b"a", b"c", b"d"], [b"b"]]
    assert spans.odd.tolist() == [False, False, False, True]


def test_few_messages_with_many_fields_are_left() -> None:
    wire, spans = _spans(field(1, b"a") * (PATIENCE + 1), field(1, b"b"))
    assert len(repeated_fields(wire, spans, 0x0A)) == PATIENCE
    assert spans.odd.tolist() == [True, False]


def test_many_messages_with_many_fields_are_read() -> None:
    wire, spans = _spans(*[field(1, b"a") * (PATIENCE + 1)] * FEW)
    assert len(repeated_fields(wire, spans, 0x0A)) == PATIENCE + 1
    assert not spans.odd.any()


# wire words

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
