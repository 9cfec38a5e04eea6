"""Parsing by specs, like `tf.io`: `parse_single_example`, `parse_example`, and `ExampleParser` for many records."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownColumnError
from datasets_core.records.specs.readers import SpecReader, StepsReader, spec_reader, step_rows
from datasets_core.records.specs.specs import FixedLenSequenceFeature, Spec, as_specs, spec_keys
from datasets_core.records.specs.values import RaggedValue, SparseValue, Where, with_first_error
from datasets_core.records.wire.columns import decode_examples, decode_sequence_examples
from datasets_core.records.wire.messages import plain_example, raw_example, raw_sequence_example
from datasets_core.records.wire.values import RecordBlock

Parsed: TypeAlias = npt.NDArray[Any] | SparseValue | RaggedValue
_ALONE = Where("Example", None, 1)
_KEPT = 64  # number of cached parsers, for calls that parse single records


class ExampleParser:
    """Parses serialized `tf.train.Example` messages by specs. Reuse it for many records: the specs are checked once.

    Args:
        features: key to spec: `FixedLenFeature`, `VarLenFeature`, `SparseFeature`, `FixedLenSequenceFeature` or
            `RaggedFeature`, of this library or of TensorFlow.

    Raises:
        ConfigurationError: no specs were given, or a spec is invalid.

    Example:
        >>> from datasets_core import records
        >>> parser = ExampleParser({"age": records.FixedLenFeature([], "int64"), "tags": records.VarLenFeature("string")})
        >>> parser.parse(records.encode_example({"age": 7}))["age"]
        array(7)
    """

    def __init__(self, features: Mapping[str, Any]) -> None:
        self.specs: dict[str, Spec] = as_specs(features)
        if not self.specs:
            raise ConfigurationError("features={} is empty. Pass a dict: key to FixedLenFeature, VarLenFeature, …")
        self.readers: dict[str, SpecReader] = {name: spec_reader(name, spec) for name, spec in self.specs.items()}
        self._ones = [(name, reader.one) for name, reader in self.readers.items()]
        self.keys = frozenset(key.encode() for key in spec_keys(self.specs))

    def parse(self, serialized: Any) -> dict[str, Parsed]:
        """Parse one record.

        Args:
            serialized: the bytes of the message.

        Returns:
            By feature an array, a `SparseValue` or a `RaggedValue`.

        Raises:
            ExampleError: the record is not an Example, or does not match a spec.
        """
        data = record_bytes(serialized)
        # By protobuf: 120,000 records of four features a CPU second.  As blocks of one they would be 9,800: what one column
        # needs of numpy and Arrow (offsets, values, presence, lengths) takes as long as protobuf takes for the message.
        found = plain_example(data, self.keys)
        if found is None:
            found = raw_example(data, rules="tensorflow", keys=self.keys)
        return {name: one(found, _ALONE) for name, one in self._ones}

    def parse_batch(self, serialized: Any) -> dict[str, Parsed]:
        """Parse many records as one batch.

        Args:
            serialized: a `RecordBlock`, or records.

        Returns:
            The batch, as returned by `parse_example`.

        Raises:
            ExampleError: a record is not an Example, or does not match a spec; `record` is its number.
        """
        return with_first_error(as_block(serialized), self._batch)

    def _batch(self, block: RecordBlock) -> dict[str, Parsed]:
        columns = decode_examples(block, self.keys, rules="tensorflow")
        where = Where.of(block)
        return {name: reader.part(columns, where).batch() for name, reader in self.readers.items()}

    def parse_rows(self, serialized: Any, names: Collection[str] | None = None) -> dict[str, list[Parsed]]:
        """Parse many records, each on its own.

        The values of a feature share memory. Copy values that you keep for a long time.

        Args:
            serialized: a `RecordBlock`, or records.
            names: the features to parse; None means all.

        Returns:
            For each feature the list of the values that `parse` returns for each record.

        Raises:
            ExampleError: a record is not an Example, or does not match a spec; `record` is its number.
            UnknownColumnError: a feature does not exist.

        Example:
            >>> from datasets_core import records
            >>> parser = ExampleParser({"age": records.FixedLenFeature([], "int64")})
            >>> parser.parse_rows([records.encode_example({"age": age}) for age in (7, 8)])
            {'age': [array(7), array(8)]}
        """
        readers = self.readers if names is None else {name: self._reader(name) for name in names}
        keys = self.keys
        if names is not None:
            keys = frozenset(key.encode() for key in spec_keys({name: self.specs[name] for name in readers}))

        def read(block: RecordBlock) -> dict[str, list[Parsed]]:
            columns = decode_examples(block, keys, rules="tensorflow")
            where = Where.of(block)
            return {name: reader.rows(columns, where) for name, reader in readers.items()}

        return with_first_error(as_block(serialized), read)

    def _reader(self, name: str) -> SpecReader:
        try:
            return self.readers[name]
        except KeyError:
            raise UnknownColumnError(name, known=self.readers) from None


def parse_single_example(serialized: Any, features: Mapping[str, Any]) -> dict[str, Parsed]:
    """Parse one `tf.train.Example` by specs into numpy arrays, like `tf.io.parse_single_example`.

    Args:
        serialized: the bytes of the message.
        features: the spec of each key.

    Returns:
        By key an array, a `SparseValue` or a `RaggedValue`.

    Raises:
        ExampleError: the record is not an Example, or does not match a spec.
        ConfigurationError: a spec is invalid.

    Example:
        >>> from datasets_core import records
        >>> data = records.encode_example({"label": 7, "tags": ["a", "b"]})
        >>> strings = records.FixedLenSequenceFeature([], "string", allow_missing=True)
        >>> spec = {"label": records.FixedLenFeature([], "int64"), "tags": strings}
        >>> parse_single_example(data, spec)
        {'label': array(7), 'tags': array([b'a', b'b'], dtype=object)}
    """
    return _parser_of(features).parse(serialized)


def parse_example(serialized: Any, features: Mapping[str, Any]) -> dict[str, Parsed]:
    """Parse many `tf.train.Example` messages by specs into one batch of numpy arrays, like `tf.io.parse_example`.

    A `FixedLenFeature` gives an array with one row per record. A `VarLenFeature` or `SparseFeature` gives a `SparseValue`
    whose first index is the record. A `FixedLenSequenceFeature` gives an array padded to the longest row. A
    `RaggedFeature` gives a `RaggedValue`.

    Args:
        serialized: records, or a `RecordBlock`.
        features: the spec of each key.

    Returns:
        By key an array, a `SparseValue` or a `RaggedValue`.

    Raises:
        ExampleError: a record is not an Example, or does not match a spec.
        ConfigurationError: a spec is invalid.

    Example:
        >>> from datasets_core import records
        >>> data = [records.encode_example({"n": [1, 2]}), records.encode_example({})]
        >>> parse_example(data, {"n": records.FixedLenSequenceFeature([], "int64", allow_missing=True, default_value=-1)})
        {'n': array([[ 1,  2],
               [-1, -1]])}
    """
    if isinstance(serialized, bytes):
        return parse_single_example(serialized, features)
    return _parser_of(features).parse_batch(serialized)


_parsers: dict[tuple[Any, ...], tuple[Any, ExampleParser]] = {}


def _parser_of(features: Any) -> ExampleParser:
    """Return the parser of these specs, reused for the same objects."""
    if not isinstance(features, Mapping):
        return ExampleParser(features)
    known = (*features, *map(id, features.values()))
    kept = _parsers.get(known)
    if kept is None:
        if len(_parsers) >= _KEPT:
            _parsers.clear()
        kept = _parsers[known] = (list(features.values()), ExampleParser(features))  # the specs live on, and so do their ids
    return kept[1]


def record_bytes(serialized: Any) -> bytes:
    """Return the bytes of one record, given as any bytes-like object.

    Raises:
        ArgumentTypeError: the argument is not bytes-like.
    """
    if isinstance(serialized, bytes):
        return serialized
    if isinstance(serialized, (bytearray, memoryview)):
        return bytes(serialized)
    if hasattr(serialized, "numpy"):
        serialized = serialized.numpy()
    if hasattr(serialized, "as_py"):
        serialized = serialized.as_py()
    if isinstance(serialized, np.ndarray) and serialized.ndim == 0:
        serialized = serialized.item()
    if not isinstance(serialized, bytes):
        raise ArgumentTypeError(
            f"A {type(serialized).__name__} is not a record", advice="Pass the bytes of one serialized message"
        )
    return serialized


def as_block(serialized: Any, name: str = "Example") -> RecordBlock:
    """Return records as a block.

    Args:
        serialized: the records.
        name: name for error messages, if the records have no name.

    Raises:
        ArgumentTypeError: the argument does not hold records.
    """
    if isinstance(serialized, RecordBlock):
        return serialized
    if hasattr(serialized, "numpy"):
        serialized = serialized.numpy()
    if isinstance(serialized, np.ndarray) and serialized.dtype.kind == "S":
        raise ArgumentTypeError(
            "A numpy array of dtype bytes drops trailing zero bytes", advice="Pass a list, or an array of dtype object"
        )
    if isinstance(serialized, (str, bytes, Mapping)) or not isinstance(serialized, Iterable):
        raise ArgumentTypeError(
            f"A {type(serialized).__name__} is not a list of records", advice="Pass a list of bytes, or a RecordBlock"
        )
    return RecordBlock.of([record_bytes(record) for record in serialized], name=name)


# Parsing of sequences by specs, like `tf.io`: `parse_single_sequence_example`, `parse_sequence_example`.


_NAME = "SequenceExample"
_ALONE_IN_SEQUENCE = Where(_NAME, None, 1)
Values = dict[str, Parsed]


class SequenceParser:
    """Parses serialized `tf.train.SequenceExample` messages by specs. Reuse it: the specs are checked once.

    Args:
        context_features: key to spec, for the features of the context.
        sequence_features: key to spec, for the feature lists: `FixedLenSequenceFeature`, `VarLenFeature`, `RaggedFeature`.

    Raises:
        ConfigurationError: no specs were given, or a spec is invalid.

    Example:
        >>> from datasets_core import records
        >>> parser = SequenceParser(None, {"n": records.FixedLenSequenceFeature([], "int64")})
        >>> parser.parse(records.encode_sequence_example({}, {"n": [1, 2]}))
        ({}, {'n': array([1, 2])})
    """

    def __init__(self, context_features: Mapping[str, Any] | None, sequence_features: Mapping[str, Any] | None) -> None:
        if not context_features and not sequence_features:
            raise ConfigurationError(
                "Both context_features and sequence_features are empty", advice="Pass at least one of them"
            )
        self.context_specs = as_specs(context_features or {}, of="context_features")
        self.sequence_specs = as_specs(sequence_features or {}, of="sequence_features")
        self.context_readers = {name: spec_reader(name, spec, in_context=True) for name, spec in self.context_specs.items()}
        self.sequence_readers = {name: StepsReader(name, spec) for name, spec in self.sequence_specs.items()}
        self.keys = frozenset(key.encode() for key in spec_keys(self.context_specs))
        self.list_keys = frozenset(key.encode() for key in spec_keys(self.sequence_specs))

    def parse(self, serialized: Any) -> tuple[Values, Values]:
        """Parse one record.

        Args:
            serialized: the bytes of the message.

        Returns:
            The values of its context, and those of its feature lists.

        Raises:
            ExampleError: the record is not a SequenceExample, or does not match a spec.
        """
        found, lists = raw_sequence_example(
            record_bytes(serialized), rules="tensorflow", keys=self.keys, list_keys=self.list_keys
        )
        context = {name: reader.one(found, _ALONE_IN_SEQUENCE) for name, reader in self.context_readers.items()}
        return context, {name: reader.one(lists, _ALONE_IN_SEQUENCE) for name, reader in self.sequence_readers.items()}

    def parse_batch(self, serialized: Any) -> tuple[Values, Values, Values]:
        """Parse many records as one batch.

        Args:
            serialized: a `RecordBlock`, or records.

        Returns:
            The batch, as returned by `parse_sequence_example`.

        Raises:
            ExampleError: a record is not a SequenceExample, or does not match a spec; `record` is its number.
        """
        return with_first_error(as_block(serialized, _NAME), self._batch)

    def _batch(self, block: RecordBlock) -> tuple[Values, Values, Values]:
        where = Where.of(block)
        columns, lists = decode_sequence_examples(block, self.keys, self.list_keys, rules="tensorflow")
        context = {name: reader.part(columns, where).batch() for name, reader in self.context_readers.items()}
        parts = {name: reader.part(lists, where) for name, reader in self.sequence_readers.items()}
        lengths: Values = {
            name: np.diff(part.offsets)
            for name, part in parts.items()
            if isinstance(self.sequence_specs[name], FixedLenSequenceFeature)
        }
        return context, {name: part.batch() for name, part in parts.items()}, lengths

    def parse_rows(self, serialized: Any) -> tuple[dict[str, list[Parsed]], dict[str, list[Parsed]]]:
        """Parse many records, each on its own.

        The values of a feature share memory. Copy values that you keep for a long time.

        Args:
            serialized: a `RecordBlock`, or records.

        Returns:
            For each feature the list of the values that `parse` returns for each record.

        Raises:
            ExampleError: a record is not a SequenceExample, or does not match a spec; `record` is its number.

        Example:
            >>> from datasets_core import records
            >>> parser = SequenceParser(None, {"n": records.FixedLenSequenceFeature([], "int64")})
            >>> parser.parse_rows([records.encode_sequence_example({}, {"n": steps}) for steps in ([1, 2], [])])
            ({}, {'n': [array([1, 2]), array([], dtype=int64)]})
        """
        return with_first_error(as_block(serialized, _NAME), self._rows)

    def _rows(self, block: RecordBlock) -> tuple[dict[str, list[Parsed]], dict[str, list[Parsed]]]:
        where = Where.of(block)
        columns, lists = decode_sequence_examples(block, self.keys, self.list_keys, rules="tensorflow")
        context = {name: reader.rows(columns, where) for name, reader in self.context_readers.items()}
        return context, {name: step_rows(reader.part(lists, where)) for name, reader in self.sequence_readers.items()}


def parse_single_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
) -> tuple[Values, Values]:
    """Parse one `tf.train.SequenceExample` by specs into numpy arrays, like `tf.io.parse_single_sequence_example`.

    Args:
        serialized: the bytes of the message.
        context_features: the spec of each key of the context.
        sequence_features: the spec of each feature list.

    Returns:
        The values of the context, and those of the feature lists.

    Raises:
        ExampleError: the record is not a SequenceExample, or does not match a spec.
        ConfigurationError: no specs are passed, or a spec is invalid.

    Example:
        >>> from datasets_core import records
        >>> data = records.encode_sequence_example({"id": 5}, {"words": [["a"], ["b", "c"]]})
        >>> context, lists = parse_single_sequence_example(
        ...     data, {"id": records.FixedLenFeature([], "int64")}, {"words": records.VarLenFeature("string")})
        >>> context, lists["words"].dense_shape
        ({'id': array(5)}, array([2, 2]))
    """
    return SequenceParser(context_features, sequence_features).parse(serialized)


def parse_sequence_example(
    serialized: Any,
    context_features: Mapping[str, Any] | None = None,
    sequence_features: Mapping[str, Any] | None = None,
) -> tuple[Values, Values, Values]:
    """Parse many `tf.train.SequenceExample` messages into one batch of arrays, like `tf.io.parse_sequence_example`.

    Args:
        serialized: records, or a `RecordBlock`.
        context_features: key to spec, for the features of the context.
        sequence_features: key to spec, for the feature lists.

    Returns:
        The context, the feature lists, and the number of steps of each record for each `FixedLenSequenceFeature`.
        Shorter lists are padded with zeros, or with empty bytes.

    Raises:
        ExampleError: a record is not a SequenceExample, or does not match a spec.
        ConfigurationError: no specs were given, or a spec is invalid.

    Example:
        >>> from datasets_core import records
        >>> data = [records.encode_sequence_example({}, {"n": steps}) for steps in ([1, 2], [3])]
        >>> parse_sequence_example(data, None, {"n": records.FixedLenSequenceFeature([], "int64")})
        ({}, {'n': array([[1, 2],
               [3, 0]])}, {'n': array([2, 1])})
    """
    return SequenceParser(context_features, sequence_features).parse_batch(serialized)
