"""`Spans`: places of the wire where messages stand, of which those of an unusual form leave to be walked one by one."""

from __future__ import annotations

import numpy as np

from datasets_core.records.record_block import Ints
from datasets_core.records.wire_values import Bools, every
from datasets_core.records.wire_words import WireBytes, read_lengths

PATIENCE, FEW = 256, 8  # steps after which a few spans that go on are left to the walker: a step costs the same for few


class Spans:
    """Some messages on the wire, in the order of their places, each with a number that the caller knows it by.

    Attributes:
        which: their numbers, which ascend.
        starts, stops: where each begins and ends.
        odd: by number, those that were left to the walker; shared by all spans that are made of these.
    """

    __slots__ = ("odd", "starts", "stops", "which")

    def __init__(self, which: Ints, starts: Ints, stops: Ints, odd: Bools) -> None:
        self.which, self.starts, self.stops, self.odd = which, starts, stops, odd

    @classmethod
    def numbered(cls, starts: Ints, stops: Ints) -> Spans:
        """Spans whose numbers count from 0, none of them odd."""
        return cls(np.arange(len(starts)), starts, stops, np.zeros(len(starts), np.bool_))

    def __len__(self) -> int:
        return len(self.which)

    def within(self, starts: Ints, stops: Ints | None = None) -> Spans:
        """What stands at other places in each of these."""
        return Spans(self.which, starts, self.stops if stops is None else stops, self.odd)

    def part(self, chosen: Bools) -> Spans:
        """Those that are chosen."""
        if every(chosen):
            return self
        return Spans(self.which[chosen], self.starts[chosen], self.stops[chosen], self.odd)

    def kept(self, usual: Bools) -> Spans:
        """Those of the usual form; the others are odd from now on."""
        if every(usual):
            return self
        self.odd[self.which[~usual]] = True
        return self.part(usual)

    def filled(self) -> Spans:
        """Those that are not empty."""
        return self.part(self.starts < self.stops)


def first_fields(wire: WireBytes, spans: Spans, tag: int) -> tuple[Spans, Spans]:
    """The field with a length that each message begins with, and the message that it stands in.

    Args:
        wire: the bytes.
        spans: the messages, none of them empty; those that begin with another tag, or whose field ends behind them, leave.
        tag: the tag that is looked for.
    """
    words = wire.words(spans.starts)
    lengths, widths, longer = read_lengths(words >> np.uint64(8))
    starts = spans.starts + 1 + widths
    stops = starts + lengths
    usual = ((words & np.uint64(0xFF)) == np.uint64(tag)) & (stops <= spans.stops)
    if longer is not None:
        usual &= ~longer
    if every(usual):
        return spans.within(starts, stops), spans
    around = spans.kept(usual)
    return around.within(starts[usual], stops[usual]), around


def repeated_fields(wire: WireBytes, spans: Spans, tag: int) -> list[Spans]:
    """The fields with a length and one tag of which messages consist: the first field of each, then the second, ..."""
    steps: list[Spans] = []
    around = spans.filled()
    while len(around):
        if len(steps) >= PATIENCE and len(around) < FEW:
            around.kept(np.zeros(len(around), np.bool_))
            break
        fields, around = first_fields(wire, around, tag)
        steps.append(fields)
        around = around.within(fields.stops).filled()
    return steps
