import numpy as np

from datasets_core.records.wire.maps import FEW, PATIENCE, Spans, WireBytes, first_fields, repeated_fields
from datasets_core.records.wire.values import RecordBlock
from tests.records.wire_forms import field


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
