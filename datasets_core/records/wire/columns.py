"""Decodes blocks of `tf.train.Example` and `SequenceExample` records to columns."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.records.wire.maps import (
    Entries,
    FeatureGroup,
    Spans,
    WireBytes,
    feature_groups,
    first_fields,
    repeated_fields,
    scan_entries,
)
from datasets_core.records.wire.messages import Rules, checked_rules, raw_example, raw_sequence_example
from datasets_core.records.wire.values import (
    Bools,
    Ints,
    Kind,
    RawFeature,
    RawFeatures,
    RawLists,
    RecordBlock,
    SequenceColumns,
    WireColumns,
    arrow_numbers,
    every,
    offsets_of,
    scattered,
    spliced,
    told,
    walked_values,
)
from datasets_core.records.wire.values import SequenceColumn as SequenceColumn
from datasets_core.records.wire.values import WireColumn as WireColumn

# Blocks of records as columns of the features of `tf.train.Example`: `decode_examples`.


WalkedRows: TypeAlias = Mapping[int, Mapping[bytes, RawFeature]]

_FIRST = 0x0A
_FEW_RECORDS, _FEW_BYTES = 8, 1 << 14  # up to these sizes, parsing one by one is faster


def decode_examples(block: RecordBlock, keys: Collection[bytes] | None = None, *, rules: Rules = "protobuf") -> WireColumns:
    """Return the features of a block of serialized `tf.train.Example` messages as columns, by key and type of values.

    A feature without a list of values has the type None.

    Args:
        block: the records.
        keys: the features to read; others are not parsed. None means all, in the order in which they first
            occur.
        rules: how unusual messages are parsed: `"protobuf"` or `"tensorflow"`, see `decode_example`.

    Raises:
        ExampleError: a record is not such a message.

    Example:
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
    """Return True if the block is so small that parsing records one by one is faster."""
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
        entries: its positions.
        groups: its values by type, by the numbers of the maps.
    """

    entries: Entries
    groups: list[FeatureGroup]


def wanted_entries(wire: WireBytes, maps: Spans, keys: Collection[bytes] | None, rules: Rules) -> dict[bytes, Entries]:
    """Return the entries of maps under the requested keys; maps with a key that the rules reject become odd."""
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
    """Return the features of many maps from keys to `Feature` messages; maps of an unusual form become odd."""
    found = wanted_entries(wire, maps, keys, rules)
    return {key: MapFeature(entries, feature_groups(wire, entries.values)) for key, entries in found.items()}


def merged_columns(features: Mapping[bytes, MapFeature], walked: WalkedRows, odd: Bools) -> WireColumns:
    """Return the columns of the features of many records, merged with those of the odd records.

    Args:
        features: the features decoded together.
        walked: the features of the odd records, which were parsed one by one.
        odd: mask of the odd records; `features` is not valid for them.
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
        for number, (kind, _) in rows.items():
            kinds[kind] = min(kinds.get(kind, number), number)
        columns[key] = {
            kind: _merged(
                kind, groups.get(kind), {number: feature for number, feature in rows.items() if feature[0] == kind}, odd
            )
            for kind in sorted(kinds, key=kinds.__getitem__)
        }
    return columns


def first_places(
    entries: Mapping[bytes, Entries], walked: Mapping[int, Mapping[bytes, object]], odd: Bools
) -> dict[bytes, tuple[int, int]]:
    """Return the record in which each key first occurs, and its position there."""
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


WalkedSteps: TypeAlias = Mapping[int, Mapping[bytes, Sequence[RawFeature]]]

_CONTEXT_KEY, _SECOND = 0x0A, 0x12


def decode_sequence_examples(
    block: RecordBlock,
    keys: Collection[bytes] | None = None,
    list_keys: Collection[bytes] | None = None,
    *,
    rules: Rules = "protobuf",
) -> tuple[WireColumns, SequenceColumns]:
    """Return the context and the feature lists of a block of serialized `tf.train.SequenceExample`, by key and type.

    A feature list has the type of its steps, several types if they differ, and None if no step has any.

    Args:
        block: the records.
        keys: the features of the context to read; others are not parsed. None means all.
        list_keys: the feature lists to read; None means all.
        rules: how unusual messages are parsed.

    Raises:
        ExampleError: a record is not such a message.

    Example:
        >>> block = RecordBlock.of([bytes.fromhex("12100a0e0a017412090a070a050a01610a00")] * 2)
        >>> context, lists = decode_sequence_examples(block)
        >>> lists[b"t"]["bytes"].lists.to_pylist()
        [[[b'a', b'']], [[b'a', b'']]]
    """
    keys, list_keys = (wanted if wanted is None else frozenset(wanted) for wanted in (keys, list_keys))
    if is_small(block):
        odd = np.ones(len(block), np.bool_)
        rows = _walked_sequence(block, range(len(block)), keys, list_keys, rules)
        return merged_columns({}, rows[0], odd), _merged_lists({}, rows[1], odd)
    wire = WireBytes(block)
    records = Spans.numbered(wire.starts, wire.stops)
    contexts, lists = _fields_of(wire, records.filled())
    features = decode_maps(wire, contexts, keys, rules)
    found = wanted_entries(wire, lists, list_keys, rules)
    steps = {key: _steps_of(wire, entries.values) for key, entries in found.items()}
    rows = _walked_sequence(block, np.flatnonzero(records.odd).tolist(), keys, list_keys, rules)
    columns = merged_columns(features, rows[0], records.odd)
    return columns, _merged_lists({key: (found[key], steps[key]) for key in found}, rows[1], records.odd)


def _walked_sequence(
    block: RecordBlock,
    numbers: Collection[int],
    keys: Collection[bytes] | None,
    list_keys: Collection[bytes] | None,
    rules: Rules,
) -> tuple[dict[int, RawFeatures], dict[int, RawLists]]:
    contexts: dict[int, RawFeatures] = {}
    lists: dict[int, RawLists] = {}
    for number in numbers:
        contexts[number], lists[number] = raw_sequence_example(
            block.data[block.starts[number] : block.stops[number]],
            rules=rules,
            keys=keys,
            list_keys=list_keys,
            name=block.name,
            record=block.first + number,
        )
    return contexts, lists


def walked_lists(rows: Sequence[Mapping[bytes, Sequence[RawFeature]]]) -> SequenceColumns:
    """Return the columns of the feature lists of messages that were parsed one by one."""
    return _merged_lists({}, dict(enumerate(rows)), np.ones(len(rows), np.bool_))


def _fields_of(wire: WireBytes, records: Spans) -> tuple[Spans, Spans]:
    """Return the contexts and the maps of feature lists of records that have either, or both in this order."""
    contexts, _ = first_fields(wire, records.part(wire.octets[records.starts] == _CONTEXT_KEY), _CONTEXT_KEY)
    behind = wire.starts.copy()
    behind[contexts.which] = contexts.stops
    rest = records.part(~records.odd[records.which])
    lists, around = first_fields(wire, rest.within(behind[rest.which]).filled(), _SECOND)
    return contexts, lists.kept(lists.stops == around.stops)


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps of one type of a feature list in many records.

    Attributes:
        values: the values of all steps.
        value_counts: the number of values of each step.
        without_kind: mask of the steps of another type, or without a type.
        step_counts: the number of steps of each record.
        present: mask of the records that have steps of this type.
    """

    values: pa.Array
    value_counts: Ints
    without_kind: Bools
    step_counts: Ints
    present: Bools

    def part(self, chosen: Bools) -> _Steps:
        """Return the steps of the chosen records."""
        if every(chosen[self.present]):
            return self
        steps = np.repeat(chosen, self.step_counts)
        return _Steps(
            self.values.take(arrow_numbers(np.flatnonzero(np.repeat(steps, self.value_counts)))),
            self.value_counts[steps],
            self.without_kind[steps],
            self.step_counts * chosen,
            self.present & chosen,
        )

    def record_counts(self) -> Ints:
        """Return the number of values of each record."""
        return np.diff(offsets_of(self.value_counts)[offsets_of(self.step_counts)])

    def and_others(self, others: _Steps) -> _Steps:
        """Return these steps merged with those of other records, in the order of the records."""
        value_counts, without_kind = (
            spliced(arrow_numbers(of_steps), self.step_counts, arrow_numbers(of_others), others.step_counts)
            for of_steps, of_others in (
                (self.value_counts, others.value_counts),
                (self.without_kind.astype(np.int64), others.without_kind.astype(np.int64)),
            )
        )
        return _Steps(
            spliced(self.values, self.record_counts(), others.values, others.record_counts()),
            np.asarray(value_counts),
            np.asarray(without_kind).astype(np.bool_),
            self.step_counts + others.step_counts,
            self.present | others.present,
        )

    def column(self) -> SequenceColumn:
        offsets = offsets_of(self.value_counts), offsets_of(self.step_counts)
        return SequenceColumn(self.values, *offsets, self.present, self.without_kind)


_StepsByKind: TypeAlias = dict[Kind | None, _Steps]


def _steps_of(wire: WireBytes, lists: Spans) -> _StepsByKind:
    """Return the steps of the feature lists of many records by type; records with steps of several types become odd."""
    size = len(lists.odd)
    rounds = repeated_fields(wire, lists, _CONTEXT_KEY)
    which, starts, stops = (
        np.concatenate([np.zeros(0, np.int64), *places])
        for places in ([s.which for s in rounds], [s.starts for s in rounds], [s.stops for s in rounds])
    )
    order = np.argsort(starts, kind="stable")
    records = which[order]
    features = Spans.numbered(starts[order], stops[order])
    groups = [group for group in feature_groups(wire, features) if group.kind is not None]
    step_counts = np.bincount(records, minlength=size)
    lists.odd[records[features.odd]] = True
    kinds = np.zeros(size, np.int64)
    found: _StepsByKind = {}
    for group in groups:
        present = told(records[group.which], size)
        kinds += present
        steps = present[records]
        counts = scattered(group.counts, group.which, len(records))
        without_kind = ~told(group.which, len(records))
        found[group.kind] = _Steps(group.values, counts[steps], without_kind[steps], step_counts * present, present)
    lists.odd |= kinds > 1
    rest = told(lists.which, size) & (kinds == 0)
    empty = int(step_counts[rest].sum())
    if rest.any():
        found[None] = _Steps(pa.nulls(0), np.zeros(empty, np.int64), np.ones(empty, np.bool_), step_counts * rest, rest)
    return found


def _walked_steps(kind: Kind | None, rows: Mapping[int, Sequence[RawFeature]], size: int) -> _Steps:
    numbers = np.fromiter(rows, np.int64, len(rows))
    steps = [step for row in rows.values() for step in row]
    values, counts = walked_values(kind, steps)
    return _Steps(
        values,
        counts,
        np.fromiter((kind is None or own != kind for own, _ in steps), np.bool_, len(steps)),
        scattered(np.fromiter(map(len, rows.values()), np.int64, len(rows)), numbers, size),
        told(numbers, size),
    )


def _kinds(steps: Sequence[RawFeature]) -> list[Kind | None]:
    return list(dict.fromkeys(kind for kind, _ in steps if kind is not None)) or [None]


def _merged_lists(lists: Mapping[bytes, tuple[Entries, _StepsByKind]], walked: WalkedSteps, odd: Bools) -> SequenceColumns:
    """Return the columns of the feature lists of many records, merged with those of the odd records."""
    columns: SequenceColumns = {}
    by_key: dict[bytes, dict[Kind | None, dict[int, Sequence[RawFeature]]]] = {}
    for number, row in walked.items():
        for key, steps in row.items():
            for kind in _kinds(steps):
                by_key.setdefault(key, {}).setdefault(kind, {})[number] = steps
    firsts = first_places({key: entries for key, (entries, _) in lists.items()}, walked, odd)
    for key in sorted(firsts, key=firsts.__getitem__):
        parts: dict[Kind | None, list[_Steps]] = {}
        for kind, found in lists[key][1].items() if key in lists else ():
            usual = found.part(~odd)
            if usual.present.any():
                parts.setdefault(kind, []).append(usual)
        for kind, rows in by_key.get(key, {}).items():
            parts.setdefault(kind, []).append(_walked_steps(kind, rows, len(odd)))
        merged: _StepsByKind = {kind: part[0].and_others(part[1]) if part[1:] else part[0] for kind, part in parts.items()}
        firsts_of: dict[Kind | None, int] = {kind: int(np.argmax(steps.present)) for kind, steps in merged.items()}
        columns[key] = {kind: merged[kind].column() for kind in sorted(merged, key=firsts_of.__getitem__)}
    return columns
