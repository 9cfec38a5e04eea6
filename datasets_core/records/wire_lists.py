"""Many `Feature` messages at once: of which kind each is, and the values of its list."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.record_block import Ints
from datasets_core.records.wire_features import KINDS, Kind
from datasets_core.records.wire_spans import Spans, repeated_fields
from datasets_core.records.wire_values import arrow_numbers, every, offsets_of
from datasets_core.records.wire_words import Octets, WireBytes, read_lengths, read_many, read_single

Numbers: TypeAlias = npt.NDArray[Any]

_FIRST, _FIRST_VARINT, _FIRST_FIXED = 0x0A, 0x08, 0x0D
_IS_KIND = np.isin(np.arange(256), [*KINDS])


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """The features of one kind among several.

    Attributes:
        kind: their kind; None of those that are empty.
        which: the numbers of the features; they ascend.
        values: all of their values, one after the other.
        counts: how many each has; what an odd one is said to have does not matter.
    """

    kind: Kind | None
    which: Ints
    values: pa.Array
    counts: Ints


def feature_groups(wire: WireBytes, features: Spans) -> list[FeatureGroup]:
    """The values of features by their kinds; features of an unusual form become odd."""
    groups: list[FeatureGroup] = []
    filled = features.filled()
    if len(filled) < len(features):
        which = features.which[features.starts == features.stops]
        groups.append(FeatureGroup(None, which, pa.nulls(0), np.zeros(len(which), np.int64)))
    if not len(filled):
        return groups
    words = wire.words(filled.starts)
    tags = words & np.uint64(0xFF)
    lengths, widths, longer = read_lengths(words >> np.uint64(8))
    starts = filled.starts + 1 + widths
    usual = starts + lengths == filled.stops
    if longer is not None:
        usual &= ~longer
    usual &= _IS_KIND[tags.view(np.int64)]
    lists = filled.within(starts).kept(usual)
    tags = tags if len(tags) == len(lists) else tags[usual]
    for tag, kind in KINDS.items():
        of_kind = tags == np.uint64(tag)
        if np.count_nonzero(of_kind):
            groups.append(_READ[kind](wire, lists.part(of_kind)))
    return groups


def _strings(wire: WireBytes, lists: Spans) -> FeatureGroup:
    steps = repeated_fields(wire, lists, _FIRST)
    if len(steps) == 1 and len(steps[0]) == len(lists):
        counts = np.ones(len(lists), np.int64)
        return FeatureGroup("bytes", lists.which, wire.strings(steps[0].starts, steps[0].stops), counts)
    if not steps:
        return FeatureGroup("bytes", lists.which, wire.strings(lists.starts, lists.stops)[:0], np.zeros(len(lists), np.int64))
    counts = np.bincount(np.concatenate([step.which for step in steps]), minlength=len(lists.odd))[lists.which]
    starts, stops = (np.sort(np.concatenate(places)) for places in zip(*((s.starts, s.stops) for s in steps), strict=True))
    return FeatureGroup("bytes", lists.which, wire.strings(starts, stops), counts)


def _floats(wire: WireBytes, lists: Spans) -> FeatureGroup:
    values, counts = _numbers(wire, lists, _FIRST_FIXED, _packed_floats, _single_floats, np.float32)
    return FeatureGroup("float", lists.which, arrow_numbers(values), counts)


def _ints(wire: WireBytes, lists: Spans) -> FeatureGroup:
    values, counts = _numbers(wire, lists, _FIRST_VARINT, _packed_ints, _single_ints, np.int64)
    return FeatureGroup("int64", lists.which, arrow_numbers(values), counts)


_READ: dict[Kind, Callable[[WireBytes, Spans], FeatureGroup]] = {"bytes": _strings, "float": _floats, "int64": _ints}
# What reads the pieces that numbers of one form fill: the pieces that stay, their values, and how many each has.
_Reader: TypeAlias = Callable[[WireBytes, Spans], tuple[Spans, Numbers, Ints]]


def _numbers(
    wire: WireBytes, lists: Spans, single: int, read_packed: _Reader, read_single: _Reader, dtype: npt.DTypeLike
) -> tuple[Numbers, Ints]:
    """The values of lists of numbers, and how many each has: packed into one piece, or single with a tag before each."""
    filled = lists.filled()
    words = wire.words(filled.starts)
    tags = words & np.uint64(0xFF)
    lengths, widths, longer = read_lengths(words >> np.uint64(8))
    starts = filled.starts + 1 + widths
    is_packed = (tags == np.uint64(_FIRST)) & (starts + lengths == filled.stops)
    if longer is not None:
        is_packed &= ~longer
    if every(is_packed) and len(filled) == len(lists):
        packed, values, counts = read_packed(wire, filled.within(starts))
        if len(packed) == len(lists):
            return values, counts
        return values, _scattered(packed, counts, lists)
    is_single = tags == np.uint64(single)
    filled.kept(is_packed | is_single)
    parts = [read_packed(wire, filled.within(starts).part(is_packed)), read_single(wire, filled.part(is_single))]
    total = sum(_scattered(spans, counts, lists) for spans, _, counts in parts)
    assert not isinstance(total, int)
    return _ordered(parts, lists, total, dtype), total


def _scattered(spans: Spans, counts: Ints, lists: Spans) -> Ints:
    """The counts of some of the lists as counts of all."""
    by_number = np.zeros(len(lists.odd), np.int64)
    by_number[spans.which] = counts
    return by_number[lists.which]


def _ordered(parts: list[tuple[Spans, Numbers, Ints]], lists: Spans, total: Ints, dtype: npt.DTypeLike) -> Numbers:
    """The values of parts of the lists in the order of the lists."""
    values = np.empty(int(total.sum()), dtype)
    begins = np.zeros(len(lists.odd), np.int64)
    begins[lists.which] = offsets_of(total)[:-1]
    for spans, found, counts in parts:
        values[np.repeat(begins[spans.which] - offsets_of(counts)[:-1], counts) + np.arange(len(found))] = found
    return values


def _pieces(counts: Ints, places: Ints) -> Ints:
    """Which of the pieces, one after the other and of these lengths, places stand in."""
    return np.searchsorted(offsets_of(counts), places, side="right") - 1


def _without(spans: Spans, pieces: Ints) -> Spans:
    usual = np.ones(len(spans), np.bool_)
    usual[pieces] = False
    return spans.kept(usual)


def _packed_floats(wire: WireBytes, packed: Spans) -> tuple[Spans, Numbers, Ints]:
    packed = packed.kept((packed.stops - packed.starts) % 4 == 0)
    return packed, _as_floats(wire.flat(packed.starts, packed.stops)), (packed.stops - packed.starts) // 4


def _as_floats(octets: Octets) -> npt.NDArray[np.float32]:
    return octets.view("<f4").astype(np.float32, copy=False)


def _single_floats(wire: WireBytes, single: Spans) -> tuple[Spans, Numbers, Ints]:
    single = single.kept((single.stops - single.starts) % 5 == 0)
    table = wire.flat(single.starts, single.stops).reshape(-1, 5)
    counts = (single.stops - single.starts) // 5
    others = np.flatnonzero(table[:, 0] != _FIRST_FIXED)
    if len(others):
        return _single_floats(wire, _without(single, _pieces(counts, others)))
    return single, _as_floats(np.ascontiguousarray(table[:, 1:]).reshape(-1)), counts


def _packed_ints(wire: WireBytes, packed: Spans) -> tuple[Spans, Numbers, Ints]:
    values = read_single(wire, packed.starts, packed.stops)
    if values is not None:
        return packed, values, np.ones(len(packed), np.int64)
    octets, packed = _whole_varints(wire, packed)
    widths = packed.stops - packed.starts
    values, longer = read_many(octets)
    if len(longer):
        return _packed_ints(wire, _without(packed, _pieces(widths, longer)))
    return packed, values, widths if len(values) == len(octets) else _counted(octets, widths)


def _single_ints(wire: WireBytes, single: Spans) -> tuple[Spans, Numbers, Ints]:
    octets, single = _whole_varints(wire, single)
    widths = single.stops - single.starts
    counts = _counted(octets, widths)
    single_now = single.kept(counts % 2 == 0)
    if len(single_now) < len(single):
        return _single_ints(wire, single_now)
    # Tags and values take turns; a tag follows a value at once, and is one byte.
    ends = np.flatnonzero(octets < 0x80)
    tags, stops = ends[0::2], ends[1::2]
    expected = np.concatenate([np.zeros(1, np.int64), stops[:-1] + 1])[: len(tags)]
    others = tags[(tags != expected) | (octets[tags] != _FIRST_VARINT) | (stops - tags > 10)]
    if len(others):
        return _single_ints(wire, _without(single, _pieces(widths, others)))
    is_value = np.ones(len(octets), np.bool_)
    is_value[tags] = False
    return single, read_many(octets[is_value])[0], counts // 2


def _whole_varints(wire: WireBytes, spans: Spans) -> tuple[Octets, Spans]:
    """The bytes of the pieces that end with the last byte of a varint."""
    is_empty = spans.starts == spans.stops
    spans = spans.kept(is_empty | (wire.octets[np.maximum(spans.stops - 1, 0)] < 0x80))
    return wire.flat(spans.starts, spans.stops), spans


def _counted(octets: Octets, widths: Ints) -> Ints:
    """How many varints end in each of the pieces, one after the other and of these lengths, that bytes consist of."""
    counts = np.zeros(len(widths), np.int64)
    offsets = offsets_of(widths)
    longest = int(widths.max(initial=0))
    if longest >= 1 << 16:
        pieces = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return np.fromiter((np.count_nonzero(octets[start:stop] < 0x80) for start, stop in pieces), np.int64, len(widths))
    filled = widths > 0
    if longest:
        narrow = np.uint8 if longest < 1 << 8 else np.uint16  # so that the marks take no eight bytes each
        counts[filled] = np.add.reduceat((octets < 0x80).view(np.uint8), offsets[:-1][filled], dtype=narrow)
    return counts
