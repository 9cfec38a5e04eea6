import numpy as np
import pytest

from datasets_core.records.wire.maps import Spans, WireBytes, feature_groups
from datasets_core.records.wire.values import RecordBlock
from tests.records import wire_forms as forms


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
    "no list": b"\x22\x01x",
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
