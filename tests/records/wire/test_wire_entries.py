import numpy as np
import pytest

from datasets_core.records.wire.maps import Spans, WireBytes, scan_entries
from datasets_core.records.wire.values import RecordBlock
from tests.records.wire_forms import entry, field


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
