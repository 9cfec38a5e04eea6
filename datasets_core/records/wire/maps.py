"""Decodes the maps of features of many messages at once: keys, types and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.records.wire.values import (
    KINDS,
    Bools,
    Ints,
    Kind,
    RecordBlock,
    arrow_numbers,
    arrow_strings,
    every,
    offsets_of,
)

# Reading many positions at once: `WireBytes` gathers the bytes there, and functions decode varints from them.


Words: TypeAlias = npt.NDArray[np.uint64]
Octets: TypeAlias = npt.NDArray[np.uint8]

_BEHIND = 16  # a position may be this far behind the end, which is less than the longest field header
_NARROW = 256  # up to this number of bytes, gathering rows is faster than taking pieces with Arrow
_WIDE = 1 << 12  # from this number of bytes, copying one by one is faster: Arrow does not know the total
_STRETCH = 1 << 17  # bytes of varints decoded at once
_MORE = np.uint64(0x8080808080808080)  # the continuation bits of the bytes of a varint
_MORE_OF_LENGTH = np.uint64(0x80808080)
_BYTE = np.uint64(0x7F)
_ONE = np.uint64(1)
# By the number of bytes of a varint in a word, up to 8: its bits, and the continuation bits of all but the last byte.
KEPT = np.array([(1 << 8 * width) - 1 for width in range(9)], np.uint64)
_MARKS = np.array([0, *((1 << 8 * width) // 255 * 0x80 for width in range(8))], np.uint64)


class WireBytes:
    """Access to the bytes at many positions of a block; zeros follow after its end.

    Args:
        block: the records; their bytes are not copied.

    >>> wire = WireBytes(RecordBlock.of([b"one", b"three"]))
    >>> wire.strings(wire.starts, wire.stops).to_pylist()
    [b'one', b'three']
    """

    def __init__(self, block: RecordBlock) -> None:
        self.octets: Octets = np.frombuffer(block.data, np.uint8)
        self.starts, self.stops = block.starts, block.stops
        self._is_large = len(self.octets) >= 1 << 31

    def words(self, at: Ints) -> Words:
        """Return the 8 bytes at each position as little-endian integers."""
        return gathered(self.octets, at, 8).view("<u8")

    def rows(self, at: Ints, width: int) -> npt.NDArray[np.uint64]:
        """Return the words that hold `width` bytes at each position; `[positions, words]`."""
        count = (width + 7) // 8
        return gathered(self.octets, at, 8 * count).view("<u8").reshape(len(at), count)

    def strings(self, starts: Ints, stops: Ints) -> pa.Array:
        """Return the pieces between ascending positions as binary values."""
        count, width = len(starts), equal_width(starts, stops)
        if width is not None and width <= _NARROW and count * width < 1 << 31:
            values = pa.py_buffer(gathered(self.octets, starts, width))
            offsets = np.arange(count + 1, dtype=np.int32) * np.int32(width)
            return pa.Array.from_buffers(pa.binary(), count, [None, pa.py_buffer(offsets), values])
        if not count or int((stops - starts).sum()) >= count * _WIDE:
            view = self.octets.data
            return arrow_strings([view[start:stop] for start, stop in zip(starts.tolist(), stops.tolist(), strict=True)])
        ends = np.empty(2 * count, np.int64 if self._is_large else np.int32)
        ends[0::2], ends[1::2] = starts, stops
        kind = pa.large_binary() if self._is_large else pa.binary()
        pieces = pa.Array.from_buffers(kind, 2 * count - 1, [None, pa.py_buffer(ends), pa.py_buffer(self.octets)])
        return pieces.take(arrow_numbers(np.arange(0, 2 * count - 1, 2)))

    def flat(self, starts: Ints, stops: Ints) -> Octets:
        """Return the concatenated bytes of the pieces."""
        width = equal_width(starts, stops)
        if width is not None:
            return gathered(self.octets, starts, width).view(np.uint8)
        values = self.strings(starts, stops)
        return np.frombuffer(values.buffers()[2], np.uint8, int((stops - starts).sum()))


def gathered(octets: Octets, at: Ints, width: int) -> npt.NDArray[np.void]:
    """Return the `width` bytes at each position, with zeros after the end."""
    if not width or not len(at):
        return np.zeros(0, np.dtype((np.void, max(width, 1))))
    limit = len(octets) - width
    if at.max() > limit:
        tail = max(limit, 0)
        is_late = at > limit
        rows = np.zeros(len(at), np.dtype((np.void, width)))
        rows[~is_late] = gathered(octets, at[~is_late], width)
        padded = np.concatenate([octets[tail:], np.zeros(width + _BEHIND, np.uint8)])
        rows[is_late] = gathered(padded, at[is_late] - tail, width)
        return rows
    # The rows of this view overlap; numpy only copies the chosen ones.
    overlapping = np.ndarray((limit + 1,), np.dtype((np.void, width)), octets, 0, (1,))
    return overlapping[at]


def equal_width(starts: Ints, stops: Ints) -> int | None:
    """Return the common length of all pieces; None if lengths differ, or there are no pieces."""
    if not len(starts):
        return None
    widths = stops - starts
    return int(widths[0]) if every(widths == widths[0]) else None


def read_lengths(words: Words) -> tuple[Ints, Ints | int, Bools | None]:
    """Decode varints of up to 4 bytes at the start of words: values, sizes in bytes, and a mask of longer ones, if any."""
    if not np.count_nonzero(words & np.uint64(0x80)):
        return (words & _BYTE).view(np.int64), 1, None
    stops = ~words & _MORE_OF_LENGTH
    last = stops & (~stops + _ONE)
    bits = words & (last - _ONE)
    values = bits & _BYTE
    for place in (1, 2, 3):
        values |= (bits >> np.uint64(place)) & (_BYTE << np.uint64(7 * place))
    widths = 1 + (last > np.uint64(1 << 7)) + (last > np.uint64(1 << 15)).astype(np.int64) + (last > np.uint64(1 << 23))
    longer = last == 0
    return values.view(np.int64), widths, longer if np.count_nonzero(longer) else None


def joined(bits: Words) -> Ints:
    """Return the numbers encoded in the low seven bits of each byte of words."""
    bits = bits & ~_MORE
    bits = (bits & np.uint64(0x007F007F007F007F)) | ((bits & np.uint64(0x7F007F007F007F00)) >> _ONE)
    bits = (bits & np.uint64(0x00003FFF00003FFF)) | ((bits & np.uint64(0x3FFF00003FFF0000)) >> np.uint64(2))
    bits = (bits & np.uint64(0x000000000FFFFFFF)) | ((bits & np.uint64(0x0FFFFFFF00000000)) >> np.uint64(4))
    return bits.view(np.int64)


def read_single(wire: WireBytes, starts: Ints, stops: Ints) -> Ints | None:
    """Return the varint in each piece; None if a piece is not exactly one varint of up to 8 bytes."""
    widths = stops - starts
    if len(widths) and (widths.max() > 8 or widths.min() < 1):
        return None
    bits = wire.words(starts) & KEPT[widths]
    return joined(bits) if every((bits & _MORE) == _MARKS[widths]) else None


def read_many(octets: Octets) -> tuple[Ints, Ints]:
    """Return the varints in some bytes, and the positions of those longer than 10 bytes."""
    ends_there = octets < 0x80
    count = int(np.count_nonzero(ends_there))
    if count == len(octets):
        return octets.astype(np.int64), np.zeros(0, np.int64)
    values = np.empty(count, np.int64)
    longer: list[Ints] = []
    begin = number = 0
    while begin < len(octets):
        ends = begin + np.flatnonzero(ends_there[begin : begin + _STRETCH])
        if not len(ends):  # a varint longer than a stretch
            ends = begin + _STRETCH + np.flatnonzero(ends_there[begin + _STRETCH :])[:1]
        starts = np.concatenate([[begin], ends[:-1] + 1])
        widths = ends + 1 - starts
        bits = joined(gathered(octets, starts, 8).view("<u8") & KEPT[np.minimum(widths, 8)])
        for place in (8, 9):
            more = np.flatnonzero(widths > place)
            if len(more):
                bits[more] |= (octets[starts[more] + place] & np.uint8(0x7F)).astype(np.int64) << (7 * place)
        longer.append(starts[widths > 10])
        values[number : number + len(ends)] = bits
        begin, number = int(ends[-1]) + 1, number + len(ends)
    return values, np.concatenate(longer)


# `Spans`: positions of serialized messages; messages of an unusual form are removed and parsed one by one.


PATIENCE, FEW = 256, 8  # after so many steps, few remaining spans are left to the parser: a step costs the same for few


class Spans:
    """Serialized messages in the order of their positions, each with a number assigned by the caller.

    Attributes:
        which: their numbers, ascending.
        starts, stops: the bounds of each.
        odd: mask, by number, of the messages left to the parser; shared by all spans derived from these.
    """

    __slots__ = ("odd", "starts", "stops", "which")

    def __init__(self, which: Ints, starts: Ints, stops: Ints, odd: Bools) -> None:
        self.which, self.starts, self.stops, self.odd = which, starts, stops, odd

    @classmethod
    def numbered(cls, starts: Ints, stops: Ints) -> Spans:
        """Return spans numbered from 0, none of them odd."""
        return cls(np.arange(len(starts)), starts, stops, np.zeros(len(starts), np.bool_))

    def __len__(self) -> int:
        return len(self.which)

    def within(self, starts: Ints, stops: Ints | None = None) -> Spans:
        """Return spans of the same numbers with other bounds."""
        return Spans(self.which, starts, self.stops if stops is None else stops, self.odd)

    def part(self, chosen: Bools) -> Spans:
        """Return the chosen spans."""
        if every(chosen):
            return self
        return Spans(self.which[chosen], self.starts[chosen], self.stops[chosen], self.odd)

    def kept(self, usual: Bools) -> Spans:
        """Return the spans of the usual form; mark the others as odd, which leaves them to the parser."""
        if every(usual):
            return self
        self.odd[self.which[~usual]] = True
        return self.part(usual)

    def filled(self) -> Spans:
        """Return the spans that are not empty."""
        return self.part(self.starts < self.stops)


def first_fields(wire: WireBytes, spans: Spans, tag: int) -> tuple[Spans, Spans]:
    """Return the length-delimited field at the beginning of each message, and the messages that have it.

    Args:
        wire: the bytes.
        spans: the messages, none of them empty; messages that begin with another tag, or end inside the field, are removed.
        tag: the expected tag.
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
    """Return the length-delimited fields with one tag: the first field of each message, then the second, and so on."""
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


# Entries of many maps at once (features, feature lists): the maps that have a key, and the bounds of its values.


_FIRST, _SECOND = 0x0A, 0x12
_MANY = 1 << 16  # number of entries with many keys grouped at once
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # an odd number without a bit pattern: 2^64 divided by the golden ratio


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries under one key in several maps.

    Attributes:
        values: the bounds of the values, by the numbers of the maps.
        steps: the position of each entry in its map, from 0.
    """

    values: Spans
    steps: Ints


@dataclass(frozen=True, slots=True)
class _Unsorted:
    """Entries that may have different keys."""

    keys: Spans
    entries: Entries


def scan_entries(wire: WireBytes, maps: Spans) -> dict[bytes, Entries]:
    """Return the entries of maps by key; maps of an unusual form, or with a duplicate key, become odd.

    All maps are read in parallel: the first entry of each, then the second, and so on. Most have the same key there, which
    is compared at once. The others are compared with their own key; if there are many keys, entries are grouped.
    """
    found: dict[bytes, list[Entries]] = {}
    unsorted: list[_Unsorted] = []
    around, step = maps.filled(), 0
    while len(around):
        if step >= PATIENCE and len(around) < FEW:
            around.kept(np.zeros(len(around), np.bool_))
            break
        rest, around = first_fields(wire, around, _FIRST)
        around = around.within(rest.stops).filled()
        while len(rest):
            head = _head(wire, rest)
            hits = _begin_with(wire, rest, head)
            if np.count_nonzero(hits) * 8 < len(rest):
                unsorted.append(_split(wire, rest, step))
                break
            values = _behind(wire, rest.part(hits), len(head))
            found.setdefault(_key(head), []).append(_at_step(values, step))
            rest = rest.part(~hits)
        step += 1
        if sum(len(piece.keys) for piece in unsorted) >= _MANY or not len(around):
            for key, entries in _grouped(wire, unsorted):
                found.setdefault(key, []).append(entries)
            unsorted.clear()
    return {key: _joined(found.pop(key)) for key in list(found)}


def _at_step(values: Spans, step: int) -> Entries:
    return Entries(values, np.broadcast_to(np.int64(step), len(values)))


def _head(wire: WireBytes, entries: Spans) -> bytes:
    """Return the bytes before the value of the first entry: its key and the tag of its value; empty for another form."""
    first = Spans.numbered(entries.starts[:1], entries.stops[:1])
    keys, _ = first_fields(wire, first, _FIRST)
    if not len(keys):
        return b""
    start, stop = int(first.starts[0]), int(keys.stops[0])
    return wire.octets[start : stop + 1].tobytes() if stop < first.stops[0] and wire.octets[stop] == _SECOND else b""


def _key(head: bytes) -> bytes:
    """Return the key in the head of an entry."""
    begin = 2
    while head[begin - 1] >= 0x80:
        begin += 1
    return head[begin:-1]


def _begin_with(wire: WireBytes, entries: Spans, head: bytes) -> Bools:
    """Return a mask of the entries that begin with `head` and are longer."""
    enough = (entries.stops - entries.starts > len(head)) & bool(head)
    if not every(enough):
        among = np.zeros(len(entries), np.bool_)
        if enough.any():
            among[enough] = _begin_with(wire, entries.part(enough), head)
        return among
    rows = wire.rows(entries.starts, len(head))
    words = np.frombuffer(head.ljust(8 * rows.shape[1], b"\0"), "<u8")
    hits: Bools = (rows[:, -1] & KEPT[(len(head) - 1) % 8 + 1]) == words[-1]
    for place in range(rows.shape[1] - 1):
        hits &= rows[:, place] == words[place]
    return hits


def _behind(wire: WireBytes, entries: Spans, head: int) -> Spans:
    """Return the values after heads of `head` bytes; they end where the entries end."""
    starts = entries.starts + head
    lengths, widths, longer = read_lengths(wire.words(starts))
    starts += widths
    usual = starts + lengths == entries.stops
    if longer is not None:
        usual &= ~longer
    return entries.within(starts).kept(usual)


def _split(wire: WireBytes, entries: Spans, step: int) -> _Unsorted:
    """Return the keys and the values of entries."""
    filled = entries.kept(entries.starts < entries.stops)
    keys, around = first_fields(wire, filled, _FIRST)
    more = keys.stops < around.stops
    values, around = first_fields(wire, around.within(keys.stops).kept(more), _SECOND)
    exact = values.stops == around.stops
    values = values.kept(exact)
    keys = keys.part(np.isin(keys.which, values.which))
    return _Unsorted(keys, _at_step(values, step))


def _grouped(wire: WireBytes, unsorted: list[_Unsorted]) -> Iterator[tuple[bytes, Entries]]:
    """Yield the entries that have the same key, group by group."""
    if not unsorted:
        return
    keys = _concatenated([piece.keys for piece in unsorted])
    values = _concatenated([piece.entries.values for piece in unsorted])
    steps = np.concatenate([piece.entries.steps for piece in unsorted])
    if not len(keys):
        return
    widths = keys.stops - keys.starts
    hashes = widths.astype(np.uint64) * _MULTIPLIER
    for chosen, words in _words_of(wire, keys):
        mixed = (hashes[chosen] ^ words) * _MULTIPLIER
        hashes[chosen] = mixed ^ (mixed >> np.uint64(32))
    _, leaders, groups, sizes = np.unique(hashes, return_index=True, return_inverse=True, return_counts=True)
    same = widths == widths[leaders[groups]]
    leading = Spans(keys.which, keys.starts[leaders[groups]], keys.starts[leaders[groups]] + widths, keys.odd)
    for (chosen, words), (_, others) in zip(_words_of(wire, keys), _words_of(wire, leading), strict=True):
        same[chosen] &= words == others
    keys.odd[keys.which[~same]] = True  # another key has the same hash
    order = np.argsort(groups, kind="stable")
    stop = 0
    for leader, size in zip(leaders.tolist(), sizes.tolist(), strict=True):
        start, stop = stop, stop + size
        members = order[start:stop]
        key = wire.octets[keys.starts[leader] : keys.stops[leader]].tobytes()
        yield (
            key,
            Entries(Spans(values.which[members], values.starts[members], values.stops[members], values.odd), steps[members]),
        )


def _words_of(wire: WireBytes, keys: Spans) -> Iterator[tuple[Ints, Words]]:
    """Yield the bytes of keys word by word, with the keys that have a word there."""
    widths = keys.stops - keys.starts
    for begin in range(0, int(widths.max()), 8):
        chosen = np.flatnonzero(widths > begin)
        yield chosen, wire.words(keys.starts[chosen] + begin) & KEPT[np.minimum(widths[chosen] - begin, 8)]


def _concatenated(pieces: list[Spans]) -> Spans:
    which, starts, stops = (
        np.concatenate(places) for places in zip(*((s.which, s.starts, s.stops) for s in pieces), strict=True)
    )
    return Spans(which, starts, stops, pieces[0].odd)


def _joined(pieces: list[Entries]) -> Entries:
    """Return the entries under one key in the order of their maps; a map with two becomes odd and keeps one."""
    values = pieces[0].values if len(pieces) == 1 else _concatenated([piece.values for piece in pieces])
    steps = pieces[0].steps if len(pieces) == 1 else np.concatenate([piece.steps for piece in pieces])
    which = values.which
    if every(which[1:] > which[:-1]):
        return Entries(values, steps)
    places = np.full(len(values.odd), -1)
    places[which] = np.arange(len(which))
    order = places[places >= 0]
    if len(order) < len(which):
        values.odd[np.delete(which, order)] = True
    return Entries(Spans(which[order], values.starts[order], values.stops[order], values.odd), steps[order])


Numbers: TypeAlias = npt.NDArray[Any]

_FIRST_KEY, _FIRST_VARINT, _FIRST_FIXED = 0x0A, 0x08, 0x0D
_IS_KIND = np.isin(np.arange(256), [*KINDS])


@dataclass(frozen=True, slots=True)
class FeatureGroup:
    """The features of one type among several.

    Attributes:
        kind: their type; None for empty features.
        which: the numbers of the features, ascending.
        values: the concatenated values.
        counts: number of values of each; meaningless for odd ones.
    """

    kind: Kind | None
    which: Ints
    values: pa.Array
    counts: Ints


def feature_groups(wire: WireBytes, features: Spans) -> list[FeatureGroup]:
    """Return the values of features by type; features of an unusual form become odd."""
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
    steps = repeated_fields(wire, lists, _FIRST_KEY)
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
# A function that decodes pieces of numbers: returns the pieces kept, their values, and the number of values of each.
_Reader: TypeAlias = Callable[[WireBytes, Spans], tuple[Spans, Numbers, Ints]]


def _numbers(
    wire: WireBytes, lists: Spans, single: int, read_packed: _Reader, read_single: _Reader, dtype: npt.DTypeLike
) -> tuple[Numbers, Ints]:
    """Return the values of lists of numbers, packed or with a tag before each number, and the length of each list."""
    filled = lists.filled()
    words = wire.words(filled.starts)
    tags = words & np.uint64(0xFF)
    lengths, widths, longer = read_lengths(words >> np.uint64(8))
    starts = filled.starts + 1 + widths
    is_packed = (tags == np.uint64(_FIRST_KEY)) & (starts + lengths == filled.stops)
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
    """Return the counts of some of the lists as counts of all lists."""
    by_number = np.zeros(len(lists.odd), np.int64)
    by_number[spans.which] = counts
    return by_number[lists.which]


def _ordered(parts: list[tuple[Spans, Numbers, Ints]], lists: Spans, total: Ints, dtype: npt.DTypeLike) -> Numbers:
    """Return the values of parts of the lists in the order of the lists."""
    values = np.empty(int(total.sum()), dtype)
    begins = np.zeros(len(lists.odd), np.int64)
    begins[lists.which] = offsets_of(total)[:-1]
    for spans, found, counts in parts:
        values[np.repeat(begins[spans.which] - offsets_of(counts)[:-1], counts) + np.arange(len(found))] = found
    return values


def _pieces(counts: Ints, places: Ints) -> Ints:
    """Return the piece that contains each position, for consecutive pieces of the lengths `counts`."""
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
    # Tags and values alternate; each tag is one byte directly after a value.
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
    """Return the bytes of the pieces that end at the end of a varint, and these pieces."""
    is_empty = spans.starts == spans.stops
    spans = spans.kept(is_empty | (wire.octets[np.maximum(spans.stops - 1, 0)] < 0x80))
    return wire.flat(spans.starts, spans.stops), spans


def _counted(octets: Octets, widths: Ints) -> Ints:
    """Return the number of varints that end in each of the consecutive pieces of the bytes, by their lengths `widths`."""
    counts = np.zeros(len(widths), np.int64)
    offsets = offsets_of(widths)
    longest = int(widths.max(initial=0))
    if longest >= 1 << 16:
        pieces = zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)
        return np.fromiter((np.count_nonzero(octets[start:stop] < 0x80) for start, stop in pieces), np.int64, len(widths))
    filled = widths > 0
    if longest:
        narrow = np.uint8 if longest < 1 << 8 else np.uint16  # smaller than the default of eight bytes
        counts[filled] = np.add.reduceat((octets < 0x80).view(np.uint8), offsets[:-1][filled], dtype=narrow)
    return counts
