"""Parsing of sequences by specs as `tf.io` does: `parse_single_sequence_example`, `parse_sequence_example`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from datasets_core.errors import ConfigurationError
from datasets_core.records.example_parsing import Parsed, as_block, record_bytes
from datasets_core.records.feature_specs import FixedLenSequenceFeature, as_specs, spec_keys
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.sequence_wire import decode_sequence_examples
from datasets_core.records.spec_readers import spec_reader
from datasets_core.records.step_readers import StepsReader
from datasets_core.records.step_rows import step_rows
from datasets_core.records.wanted_values import Where, with_first_error
from datasets_core.records.wire import raw_sequence_example

_NAME = "SequenceExample"
_ALONE = Where(_NAME, None, 1)
Values = dict[str, Parsed]


class SequenceParser:
    """Parses records of `tf.train.SequenceExample` by specs; made once for many records, since it checks the specs once.

    Args:
        context_features: key to spec, of the features of the whole.
        sequence_features: key to spec, of the feature lists: `FixedLenSequenceFeature`, `VarLenFeature`, `RaggedFeature`.

    Raises:
        ConfigurationError: there are no specs, or one has no meaning.

    >>> from datasets_core import records
    >>> parser = SequenceParser(None, {"n": records.FixedLenSequenceFeature([], "int64")})
    >>> parser.parse(records.encode_sequence_example({}, {"n": [1, 2]}))
    ({}, {'n': array([1, 2])})
    """

    def __init__(self, context_features: Mapping[str, Any] | None, sequence_features: Mapping[str, Any] | None) -> None:
        if not context_features and not sequence_features:
            raise ConfigurationError("Neither context_features nor sequence_features asks for anything. Pass one of them.")
        self.context_specs = as_specs(context_features or {}, of="context_features")
        self.sequence_specs = as_specs(sequence_features or {}, of="sequence_features")
        self.context_readers = {name: spec_reader(name, spec, in_context=True) for name, spec in self.context_specs.items()}
        self.sequence_readers = {name: StepsReader(name, spec) for name, spec in self.sequence_specs.items()}
        self.keys = frozenset(key.encode() for key in spec_keys(self.context_specs))
        self.list_keys = frozenset(key.encode() for key in spec_keys(self.sequence_specs))

    def parse(self, serialized: Any) -> tuple[Values, Values]:
        """One record: the values of its context, and those of its feature lists.

        Raises:
            ExampleError: it is no SequenceExample, or breaks the rules of a spec.
        """
        found, lists = raw_sequence_example(
            record_bytes(serialized), rules="tensorflow", keys=self.keys, list_keys=self.list_keys
        )
        context = {name: reader.one(found, _ALONE) for name, reader in self.context_readers.items()}
        return context, {name: reader.one(lists, _ALONE) for name, reader in self.sequence_readers.items()}

    def parse_batch(self, serialized: Any) -> tuple[Values, Values, Values]:
        """Many records as one batch, as `parse_sequence_example` gives it.

        Raises:
            ExampleError: a record is no SequenceExample, or breaks the rules of a spec; its `record` tells which.
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
        """Many records at once, each by itself: for each feature the values that `parse` gives for each record.

        The values of a feature share memory; copy what is kept for long.

        Args:
            serialized: a `RecordBlock`, or records.

        Raises:
            ExampleError: a record is no SequenceExample, or breaks the rules of a spec; its `record` tells which.

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
    """One `tf.train.SequenceExample` by specs, as `tf.io.parse_single_sequence_example` gives it, with numpy arrays.

    Args:
        serialized: the bytes of the message.
        context_features: key to spec, of the features of the whole.
        sequence_features: key to spec, of the feature lists.

    Raises:
        ExampleError: it is no SequenceExample, or breaks the rules of a spec.
        ConfigurationError: there are no specs, or one has no meaning.

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
    """Many `tf.train.SequenceExample` by specs as one batch, as `tf.io.parse_sequence_example` gives it, with numpy arrays.

    Args:
        serialized: records, or a `RecordBlock`.
        context_features: key to spec, of the features of the whole.
        sequence_features: key to spec, of the feature lists.

    Returns:
        The context, the feature lists, and of each `FixedLenSequenceFeature` how many steps each record has; those of
        shorter lists are filled up with zeros, or with no bytes.

    Raises:
        ExampleError: a record is no SequenceExample, or breaks the rules of a spec.
        ConfigurationError: there are no specs, or one has no meaning.

    >>> from datasets_core import records
    >>> data = [records.encode_sequence_example({}, {"n": steps}) for steps in ([1, 2], [3])]
    >>> parse_sequence_example(data, None, {"n": records.FixedLenSequenceFeature([], "int64")})
    ({}, {'n': array([[1, 2],
           [3, 0]])}, {'n': array([2, 1])})
    """
    return SequenceParser(context_features, sequence_features).parse_batch(serialized)
