"""The entries of many maps at once (features, feature lists): which maps have a key, and where its values stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from datasets_core.records.record_block import Ints
from datasets_core.records.wire_spans import FEW, PATIENCE, Spans, first_fields
from datasets_core.records.wire_values import Bools, every
from datasets_core.records.wire_words import KEPT, WireBytes, Words, read_lengths

_FIRST, _SECOND = 0x0A, 0x12
_MANY = 1 << 16  # entries with many keys that are grouped at once
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)  # odd, and its bits have no pattern: 2^64 divided by the golden ratio


@dataclass(frozen=True, slots=True)
class Entries:
    """The entries under one key in several maps.

    Attributes:
        values: where the values stand, by the numbers of the maps.
        steps: the place of each entry in its map, from 0.
    """

    values: Spans
    steps: Ints


@dataclass(frozen=True, slots=True)
class _Unsorted:
    """Entries of which each may have another key."""

    keys: Spans
    entries: Entries


def scan_entries(wire: WireBytes, maps: Spans) -> dict[bytes, Entries]:
    """The entries of maps by their keys; maps of an unusual form, and those that have a key twice, become odd.

    All maps are read side by side, the first entry of each, then the second, ...: most have the same key there, which is
    compared at once. Those with another one are tried again with theirs; where keys are many they are grouped.
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
    """How the first entry begins: its key, and the tag of its value; nothing where it begins otherwise."""
    first = Spans.numbered(entries.starts[:1], entries.stops[:1])
    keys, _ = first_fields(wire, first, _FIRST)
    if not len(keys):
        return b""
    start, stop = int(first.starts[0]), int(keys.stops[0])
    return wire.octets[start : stop + 1].tobytes() if stop < first.stops[0] and wire.octets[stop] == _SECOND else b""


def _key(head: bytes) -> bytes:
    """The key of the head of an entry."""
    begin = 2
    while head[begin - 1] >= 0x80:
        begin += 1
    return head[begin:-1]


def _begin_with(wire: WireBytes, entries: Spans, head: bytes) -> Bools:
    """The entries that begin as one of them does, and have more."""
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
    """The values behind heads of a length, which end where the entries do."""
    starts = entries.starts + head
    lengths, widths, longer = read_lengths(wire.words(starts))
    starts += widths
    usual = starts + lengths == entries.stops
    if longer is not None:
        usual &= ~longer
    return entries.within(starts).kept(usual)


def _split(wire: WireBytes, entries: Spans, step: int) -> _Unsorted:
    """The keys and the values of entries."""
    filled = entries.kept(entries.starts < entries.stops)
    keys, around = first_fields(wire, filled, _FIRST)
    more = keys.stops < around.stops
    values, around = first_fields(wire, around.within(keys.stops).kept(more), _SECOND)
    exact = values.stops == around.stops
    values = values.kept(exact)
    keys = keys.part(np.isin(keys.which, values.which))
    return _Unsorted(keys, _at_step(values, step))


def _grouped(wire: WireBytes, unsorted: list[_Unsorted]) -> Iterator[tuple[bytes, Entries]]:
    """The entries that have the same key, group by group."""
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
    """The bytes of keys, a word of each at a time, with which keys have one there."""
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
    """The entries under one key in the order of their maps; a map that has two becomes odd, and stays with one."""
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
