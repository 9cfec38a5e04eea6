"""`ExampleReader`: converts blocks of records to record batches, by specs, by features, or by inferred types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.arrow import Misfit, struct_array
from datasets_core.features.base import Feature, LargeList, List, Value
from datasets_core.features.cast import cast_array
from datasets_core.features.schema import Features
from datasets_core.records.feature_readers import (
    ColumnReader,
    has_feature_lists,
    inferred_columns,
    join_types,
    leaves_of,
    typed_values,
    widened,
)
from datasets_core.records.frames import record_array
from datasets_core.records.specs.readers import StepsReader, spec_reader
from datasets_core.records.specs.specs import as_specs, spec_feature, spec_keys
from datasets_core.records.specs.values import Part, Where, with_first_error
from datasets_core.records.wire.columns import decode_examples, decode_sequence_examples
from datasets_core.records.wire.values import RecordBlock, SequenceColumns, WireColumns

Message: TypeAlias = Literal["example", "sequence_example", "bytes"]
RAW_COLUMN = "record"
"""The name of the column of raw records."""
_MESSAGES = ("example", "sequence_example", "bytes")


class ExampleReader:
    """Converts records to rows.

    With specs, the rules of TensorFlow apply, and a column of strings has type bytes; `features` are then the types to
    cast to.  With features alone, each column determines how its key is read: records without the key have None.  With
    neither, types are inferred: if each record that has the key has one value, the column holds values, otherwise lists;
    strings are bytes.

    Attributes:
        features: the columns, if they are known before reading; otherwise None.
        message: the argument.

    Args:
        spec: key to spec: of an Example, or of the context of a SequenceExample.
        sequence_spec: key to spec, of feature lists.
        features: the columns.
        message: the message type of the records; None: `"sequence_example"` if a record has feature lists, else `"example"`.
        columns: the columns to read, in this order; None means all.

    Raises:
        ConfigurationError: specs are invalid, or contradict each other, the features or the message.
        UnknownColumnError: a column does not exist.
        CastError: a column has a type that records cannot store.

    Example:
        >>> from datasets_core.records import encode_example
        >>> block = RecordBlock.of([encode_example({"n": 1, "tags": ["a", "b"]}), encode_example({"n": 2})])
        >>> ExampleReader().read(block).to_pylist()
        [{'n': 1, 'tags': [b'a', b'b']}, {'n': 2, 'tags': None}]
        >>> ExampleReader(features=Features({"tags": [Value("string")]})).read(block).to_pylist()
        [{'tags': ['a', 'b']}, {'tags': None}]
    """

    def __init__(
        self,
        *,
        spec: Mapping[str, Any] | None = None,
        sequence_spec: Mapping[str, Any] | None = None,
        features: Features | None = None,
        message: Message | str | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        if message not in (None, *_MESSAGES):
            raise ConfigurationError(
                f"Unknown message type {message!r}", advice=f"Pass one of {', '.join(map(repr, _MESSAGES))}", value=message
            )
        self.message = message
        self.columns = None if columns is None else list(columns)
        self.features: Features | None = None if features is None else Features(features)
        self._rows: _RowMaker
        if message == "bytes":
            self._rows = _Raw(self.features, spec is not None or sequence_spec is not None, self.columns)
        elif spec is not None or sequence_spec is not None:
            self._rows = _BySpecs(spec, sequence_spec, self.features, message, self.columns)
        elif self.features is not None:
            self._rows = _ByFeatures(self.features, message, self.columns)
        else:
            self._rows = _ByRecords(message, self.columns)
        self.features = self._rows.features

    def read(self, block: RecordBlock, known: pa.Schema | None = None) -> pa.RecordBatch:
        """Return the rows of a block.

        Args:
            block: the records.
            known: columns inferred from earlier records, used if types are inferred: these columns come first, and each
                has the common type of both.

        Raises:
            ExampleError: a record is not such a message, or does not fit the requested features.
        """
        return with_first_error(block, lambda part: self._rows.read(part, known))


class _RowMaker(Protocol):
    """A way to convert records to rows."""

    @property
    def features(self) -> Features | None: ...

    def read(self, block: RecordBlock, known: pa.Schema | None) -> pa.RecordBatch: ...


def _batch(arrays: Mapping[str, pa.Array], count: int, schema: pa.Schema | None = None) -> pa.RecordBatch:
    """Return columns as a batch of `count` rows, even without columns."""
    if not arrays:
        return pa.RecordBatch.from_struct_array(struct_array(pa.struct([]), count, None, []))
    if schema is not None:
        return pa.RecordBatch.from_arrays(list(arrays.values()), schema=schema)
    return pa.RecordBatch.from_arrays(list(arrays.values()), names=list(arrays))


def _chosen(features: Features, columns: Sequence[str] | None) -> Features:
    """Return the features of the columns that are requested, in their order."""
    if columns is None:
        return features
    for name in columns:
        if name not in features:
            raise UnknownColumnError(name, known=features)
    return Features({name: features[name] for name in columns})


# -- by specs ----------------------------------------------------------------------------------------------------------


class _BySpecs:
    def __init__(
        self,
        spec: Mapping[str, Any] | None,
        sequence_spec: Mapping[str, Any] | None,
        features: Features | None,
        message: str | None,
        columns: Sequence[str] | None,
    ) -> None:
        self.is_sequence = sequence_spec is not None or message == "sequence_example"
        if sequence_spec is not None and message == "example":
            raise ConfigurationError("An Example has no feature lists", advice="Omit sequence_spec= or message=")
        specs = as_specs(spec or {}, of="context_features" if self.is_sequence else "features")
        lists = as_specs(sequence_spec or {}, of="sequence_features")
        both = [name for name in specs if name in lists]
        if both:
            raise ConfigurationError(f"spec= and sequence_spec= both have {both[0]!r}", advice="Remove it from one of them")
        made = {name: spec_feature(each) for name, each in specs.items()}
        made.update((name, spec_feature(each, steps=True)) for name, each in lists.items())
        if features is not None and features.keys() != made.keys():
            differ = sorted(features.keys() ^ made.keys())
            raise ConfigurationError(
                f"features= and the specs differ in the columns {differ}", advice="Use the same columns in both"
            )
        self._made = made
        self.features = _chosen(features if features is not None else Features(made), columns)
        self.casts = features is not None
        self.schema = self.features.arrow_schema
        self.readers = {
            name: spec_reader(name, specs[name], in_context=self.is_sequence) for name in self.features if name in specs
        }
        self.step_readers = {name: StepsReader(name, lists[name]) for name in self.features if name in lists}
        self.keys = _raw(spec_keys({name: specs[name] for name in self.readers}))
        self.list_keys = _raw(spec_keys({name: lists[name] for name in self.step_readers}))

    def read(self, block: RecordBlock, known: pa.Schema | None) -> pa.RecordBatch:
        where = Where.of(block)
        steps: SequenceColumns = {}
        if self.is_sequence:
            columns, steps = decode_sequence_examples(block, self.keys, self.list_keys, rules="tensorflow")
        else:
            columns = decode_examples(block, self.keys, rules="tensorflow")
        arrays = {}
        for name, feature in self.features.items():
            reader = self.readers.get(name)
            part: Part = self.step_readers[name].part(steps, where) if reader is None else reader.part(columns, where)
            try:
                array = part.arrow(self._made[name])
                arrays[name] = cast_array(array, feature) if self.casts else array
            except Misfit as misfit:
                raise where.error(misfit.index, name, f"has a value that does not fit: {misfit.reason}") from misfit
        return _batch(arrays, len(block), self.schema)


def _raw(keys: Iterable[str]) -> frozenset[bytes]:
    return frozenset(key.encode(errors="surrogateescape") for key in keys)


# -- by features -------------------------------------------------------------------------------------------------------


class _ByFeatures:
    def __init__(self, features: Features, message: str | None, columns: Sequence[str] | None) -> None:
        self.features = _chosen(features, columns)
        self.schema = self.features.arrow_schema
        leaves_of(self.features)  # raises if two columns have the same key
        self.readers = {name: ColumnReader(name, feature) for name, feature in self.features.items()}
        deep = [name for name, reader in self.readers.items() if reader.needs_lists]
        if message == "example" and deep:
            raise ConfigurationError(
                f"Column {deep[0]!r} has lists of lists, which an Example cannot store", advice="Omit message="
            )
        self.is_sequence = True if deep or message == "sequence_example" else None if message is None else False
        self.keys = _raw(key for reader in self.readers.values() for key in reader.keys)

    def read(self, block: RecordBlock, known: pa.Schema | None) -> pa.RecordBatch:
        where = Where.of(block)
        columns, lists = _decoded(block, self.keys, self.is_sequence)
        arrays = {name: reader.read(columns, lists, where) for name, reader in self.readers.items()}
        return _batch(arrays, len(block), self.schema)


def _decoded(
    block: RecordBlock, keys: frozenset[bytes] | None, is_sequence: bool | None
) -> tuple[WireColumns, SequenceColumns]:
    """Return the columns of a block, and its feature lists; `is_sequence=None` checks if the records have any."""
    if is_sequence or (is_sequence is None and has_feature_lists(block)):
        return decode_sequence_examples(block, keys, keys)
    return decode_examples(block, keys), {}


def keys_of(block: RecordBlock, message: str | None = None) -> list[str]:
    """Return the keys of the records, including feature lists, in the order of first occurrence.

    Args:
        block: the records.
        message: see `ExampleReader`.

    Raises:
        ExampleError: a record is not such a message.
    """
    columns, lists = _decoded(block, None, None if message is None else message == "sequence_example")
    return [key.decode(errors="surrogateescape") for key in (*columns, *lists)]


# -- inferred from the records -----------------------------------------------------------------------------------------


class _ByRecords:
    features: Features | None = None

    def __init__(self, message: str | None, columns: Sequence[str] | None) -> None:
        self.columns = columns
        self.is_sequence = None if message is None else message == "sequence_example"
        self.keys = None if columns is None else _raw(columns)

    def read(self, block: RecordBlock, known: pa.Schema | None) -> pa.RecordBatch:
        where = Where.of(block)
        columns, lists = _decoded(block, self.keys, self.is_sequence)
        found = inferred_columns(columns, lists, where)
        types = {} if known is None else {field.name: field.type for field in known}
        names = [*types, *(name for name in found if name not in types)]
        if self.columns is not None:
            names = [name for name in self.columns if name in names]
        arrays = {}
        for name in names:
            array = found.get(name)
            if array is None:
                array = pa.nulls(len(block), types[name])
            elif name in types:
                joined = join_types(types[name], array.type)
                if joined is None:
                    index = int(np.argmax(np.asarray(array.is_valid())))
                    raise where.error(index, name, f"has type {array.type}, but {types[name]} in earlier records", _FIX)
                array = widened(array, joined)
            arrays[name] = array
        return _batch(arrays, len(block))


_FIX = "Fix the record, or pass features= or spec= without it"


# -- raw records -------------------------------------------------------------------------------------------------------


class _Raw:
    def __init__(self, features: Features | None, has_specs: bool, columns: Sequence[str] | None) -> None:
        if has_specs:
            raise ConfigurationError("message='bytes' reads raw records, but specs parse them", advice="Omit one of them")
        if features is not None and len(features) != 1:
            raise ConfigurationError(
                f"message='bytes' makes one column, but features= has {list(features)}", advice="Pass one feature"
            )
        self.features = _chosen(features if features is not None else Features({RAW_COLUMN: Value("binary")}), columns)
        self.kinds: dict[str, Feature] = {}
        for name, feature in self.features.items():
            if not isinstance(feature, Feature) or isinstance(feature, (List, LargeList)):
                raise ConfigurationError(
                    f"A raw record cannot be {feature!r}", advice=f"Pass Value('binary') for column {name!r}"
                )
            self.kinds[name] = feature

    def read(self, block: RecordBlock, known: pa.Schema | None) -> pa.RecordBatch:
        arrays = {}
        for name, feature in self.kinds.items():
            try:
                arrays[name] = typed_values(record_array(block), feature)
            except Misfit as misfit:
                reason = f"does not fit: {misfit.reason}"
                raise Where.of(block).error(misfit.index, name, reason) from misfit
        return _batch(arrays, len(block), self.features.arrow_schema)
