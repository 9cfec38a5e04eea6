"""Blocks of records as columns of the features of `tf.train.Example`: `decode_examples`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from datasets_core.records.record_block import RecordBlock
from datasets_core.records.wire import Rules, checked_rules, raw_example
from datasets_core.records.wire_entries import Entries, scan_entries
from datasets_core.records.wire_features import Kind, RawFeature
from datasets_core.records.wire_lists import FeatureGroup, feature_groups
from datasets_core.records.wire_spans import Spans, first_fields
from datasets_core.records.wire_values import (
    Bools,
    WireColumns,
    arrow_numbers,
    every,
    offsets_of,
    scattered,
    spliced,
    told,
    walked_values,
)
from datasets_core.records.wire_values import WireColumn as WireColumn
from datasets_core.records.wire_words import WireBytes

WalkedRows: TypeAlias = Mapping[int, Mapping[bytes, RawFeature]]

_FIRST = 0x0A
_FEW_RECORDS, _FEW_BYTES = 8, 1 << 14  # up to so many, walking is faster


def decode_examples(block: RecordBlock, keys: Collection[bytes] | None = None, *, rules: Rules = "protobuf") -> WireColumns:
    """The features of a block of serialized `tf.train.Example`, as columns: by key, and by the kind of their values.

    A feature that a message names without a list of values stands under the kind None.

    Args:
        block: the records.
        keys: the features that are wanted, all others are not looked into; None for all. They come in the order in which
            they are first seen.
        rules: how odd messages are read: `"protobuf"` or `"tensorflow"`, as `decode_example` takes them.

    Raises:
        ExampleError: a record is no such message.

    >>> block = RecordBlock.of([bytes.fromhex("0a0e0a0c0a036167651205" + "1a030a01" + age) for age in ("07", "2a")])
    >>> decode_examples(block)[b"age"]["int64"].lists.to_pylist()
    [[7], [42]]
    """
    keys = keys if keys is None else frozenset(keys)
    if is_small(block):
        return merged_columns({}, _walked(block, range(len(block)), keys, rules), np.ones(len(block), np.bool_))
    wire = WireBytes(block)
    records = Spans.numbered(wire.starts, wire.stops)
    maps, around = first_fields(wire, records.filled(), _FIRST)
    maps = maps.kept(maps.stops == around.stops)
    features = decode_maps(wire, maps, keys, rules)
    walked = _walked(block, np.flatnonzero(records.odd).tolist(), keys, rules)
    return merged_columns(features, walked, records.odd)


def is_small(block: RecordBlock) -> bool:
    """Whether the records are so few that they are faster walked one by one."""
    return len(block) <= _FEW_RECORDS and block.num_bytes <= _FEW_BYTES


def _walked(block: RecordBlock, numbers: Collection[int], keys: Collection[bytes] | None, rules: Rules) -> WalkedRows:
    return {
        number: raw_example(
            block.data[block.starts[number] : block.stops[number]],
            rules=rules,
            keys=keys,
            name=block.name,
            record=block.first + number,
        )
        for number in numbers
    }


@dataclass(frozen=True, slots=True)
class MapFeature:
    """A feature of several maps, such as the features of Examples.

    Attributes:
        entries: where it stands.
        groups: its values by kinds, by the numbers of the maps.
    """

    entries: Entries
    groups: list[FeatureGroup]


def wanted_entries(wire: WireBytes, maps: Spans, keys: Collection[bytes] | None, rules: Rules) -> dict[bytes, Entries]:
    """The entries of maps under the keys that are wanted; maps with a key that the rules refuse become odd."""
    found = scan_entries(wire, maps)
    if checked_rules(rules) == "protobuf":
        for key, entries in found.items():
            if not _is_text(key):
                maps.odd[entries.values.which] = True
    return found if keys is None else {key: entries for key, entries in found.items() if key in keys}


def _is_text(key: bytes) -> bool:
    try:
        key.decode()
    except UnicodeDecodeError:
        return False
    return True


def decode_maps(wire: WireBytes, maps: Spans, keys: Collection[bytes] | None, rules: Rules) -> dict[bytes, MapFeature]:
    """The features of many maps from keys to `Feature` messages; maps of an unusual form become odd."""
    found = wanted_entries(wire, maps, keys, rules)
    return {key: MapFeature(entries, feature_groups(wire, entries.values)) for key, entries in found.items()}


def merged_columns(features: Mapping[bytes, MapFeature], walked: WalkedRows, odd: Bools) -> WireColumns:
    """The columns of features of many records, and of the odd ones, which were walked.

    Args:
        features: those that were read side by side.
        walked: the odd records.
        odd: which records are odd; what `features` says of them does not count.
    """
    columns: dict[bytes, dict[Kind | None, WireColumn]] = {}
    by_key: dict[bytes, dict[int, RawFeature]] = {}
    for number, row in walked.items():
        for key, feature in row.items():
            by_key.setdefault(key, {})[number] = feature
    firsts = first_places({key: feature.entries for key, feature in features.items()}, walked, odd)
    for key in sorted(firsts, key=firsts.__getitem__):
        groups: dict[Kind | None, FeatureGroup] = {}
        if key in features:
            groups.update((group.kind, group) for group in features[key].groups)
        rows = by_key.get(key, {})
        kinds: dict[Kind | None, int] = {}
        for kind, group in groups.items():
            usual = group.which[~odd[group.which]]
            if len(usual):
                kinds[kind] = int(usual[0])
        for number, feature in rows.items():
            kinds[feature.kind] = min(kinds.get(feature.kind, number), number)
        columns[key] = {
            kind: _merged(
                kind, groups.get(kind), {number: feature for number, feature in rows.items() if feature.kind == kind}, odd
            )
            for kind in sorted(kinds, key=kinds.__getitem__)
        }
    return columns


def first_places(
    entries: Mapping[bytes, Entries], walked: Mapping[int, Mapping[bytes, object]], odd: Bools
) -> dict[bytes, tuple[int, int]]:
    """The record in which each key is first seen, and its place there."""
    firsts: dict[bytes, tuple[int, int]] = {}
    any_odd = bool(odd.any())
    for key, found in entries.items():
        usual = np.flatnonzero(~odd[found.values.which]) if any_odd else np.arange(min(len(found.values), 1))
        if len(usual):
            firsts[key] = int(found.values.which[usual[0]]), int(found.steps[usual[0]])
    for number, row in walked.items():
        for place, key in enumerate(row):
            firsts[key] = min(firsts.get(key, (number, place)), (number, place))
    return firsts


def _merged(kind: Kind | None, group: FeatureGroup | None, walked: Mapping[int, RawFeature], odd: Bools) -> WireColumn:
    size = len(odd)
    if group is not None and len(group.which) == size and not np.count_nonzero(odd):
        return WireColumn(group.values, offsets_of(group.counts), np.ones(size, np.bool_))
    numbers = np.fromiter(walked, np.int64, len(walked))
    others, of_others = walked_values(kind, list(walked.values()))
    of_others = scattered(of_others, numbers, size)
    if group is None:
        return WireColumn(others, offsets_of(of_others), told(numbers, size))
    values, which, counts = group.values, group.which, group.counts
    usual = ~odd[which]
    if not every(usual):
        values = values.take(arrow_numbers(np.flatnonzero(np.repeat(usual, counts))))
        which, counts = which[usual], counts[usual]
    counts = scattered(counts, which, size)
    present = told(which, size) | told(numbers, size)
    return WireColumn(spliced(values, counts, others, of_others), offsets_of(counts + of_others), present)
