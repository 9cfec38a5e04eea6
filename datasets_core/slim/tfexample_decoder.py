"""Decoders of messages and rows, and the item handlers, under the module name of TF-Slim: `slim.tfexample_decoder`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    ExampleError,
    ItemError,
    UnknownColumnError,
    UnknownFeatureError,
)
from datasets_core.records.specs.parsing import ExampleParser, SequenceParser
from datasets_core.records.specs.specs import FixedLenSequenceFeature, SparseFeature, Spec, VarLenFeature, as_specs
from datasets_core.records.wire.values import RecordBlock
from datasets_core.slim.data_decoder import DataDecoder, chosen_items
from datasets_core.slim.handlers import BackupHandler, ItemHandler, ItemHandlerCallback, LookupTensor, Tensor, bytes_array
from datasets_core.slim.image_handlers import (
    BoundingBox,
    BoundingBoxSequence,
    Image,
    KeypointsSequence,
    NumBoxesSequence,
    SparseTensor,
)

# Common parts of message decoders: specs, handlers, and errors that name the record.


Row = dict[str, Any]
Columns = dict[str, list[Any]]


class MessageDecoder(DataDecoder):
    """Base class of decoders of messages with keys, each with a spec.

    Args:
        items_to_handlers: item → its `ItemHandler`.

    Raises:
        ConfigurationError: the argument is not a dict of handlers.
    """

    _message: ClassVar[str]  # what one message is called

    def __init__(self, items_to_handlers: Mapping[str, ItemHandler]) -> None:
        if not isinstance(items_to_handlers, Mapping):
            raise ArgumentTypeError(
                f"items_to_handlers={items_to_handlers!r} is not a dict of items and handlers.", value=items_to_handlers
            )
        for item, handler in items_to_handlers.items():
            if not isinstance(handler, ItemHandler):
                raise ConfigurationError(
                    f"The handler of item {item!r} is {handler!r}",
                    advice="Pass an ItemHandler, such as slim.Tensor('key')",
                    value=handler,
                )
        self._handlers = dict(items_to_handlers)

    def list_items(self) -> list[str]:
        """See `DataDecoder.list_items`."""
        return list(self._handlers)

    @abstractmethod
    def _known_keys(self) -> Collection[str]:
        """Return the keys that have specs."""

    def _keys_of(self, items: Iterable[str]) -> list[str]:
        """Return the keys of these items, without duplicates.

        Raises:
            UnknownFeatureError: a key has no spec.
        """
        known = self._known_keys()
        found: dict[str, None] = {}
        for item in items:
            for key in self._handlers[item].keys:
                if key not in known:
                    raise UnknownFeatureError(key, item=item, known=known)
                found[key] = None
        return list(found)

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Return the items of one message, in the order of `items`. Only the keys they need are parsed.

        Args:
            data: the bytes of the message.
            items: names of items; None means all.

        Raises:
            UnknownItemError: an item is unknown.
            UnknownFeatureError: an item needs a key that has no spec.
            ExampleError: the message is damaged, violates a spec, or does not make an item.
        """
        names = chosen_items(items, self.list_items())
        keys = self._keys_of(names)
        found = self._parsed(data, keys) if keys else {}
        return [self._item(item, found, self._message, None) for item in names]

    @abstractmethod
    def _parsed(self, data: Any, keys: list[str]) -> Row:
        """Return the values of keys of one message."""

    def _item(self, item: str, found: Mapping[str, Any], name: str, record: int | None) -> Any:
        handler = self._handlers[item]
        try:
            return handler.tensors_to_item({key: found[key] for key in handler.keys})
        except ItemError as error:
            advice = error.advice
            raise ExampleError(name, f"item {item!r}: {error.reason}", record=record, advice=advice) from error
        except Exception as error:
            where = name if record is None else f"{name}, record {record:,}"
            error.add_note(f"This is item {item!r} of {where}.")
            raise

    def decode_block(self, block: Iterable[Any], items: Sequence[str] | None = None) -> Iterator[Row]:
        """See `DataDecoder.decode_block`: the records are parsed at once, and handlers called sample by sample.

        Raises:
            UnknownItemError: an item is unknown.
            UnknownFeatureError: an item needs a key that has no spec.
            ExampleError: see `decode`; raised after the samples before the record.
        """
        names = chosen_items(items, self.list_items())
        self._keys_of(names)
        return self._samples(block if isinstance(block, RecordBlock) else RecordBlock.of(list(block)), names)

    def _samples(self, block: RecordBlock, items: list[str]) -> Iterator[Row]:
        """Yield the samples of a block."""
        if not items:
            yield from ({} for _ in range(len(block)))
        columns: Columns = {}
        direct: list[str | None] = [None] * len(items)
        if self._keys_of(items):
            direct = self._direct_keys(items)
            try:
                columns = self._columns(block, items)
            except ExampleError as error:
                if error.record is None:
                    raise
                if error.record > block.first:  # an earlier record may have another error
                    yield from self._samples(block[: error.record - block.first], items)
                raise
        made = [
            self._made(item, columns, block) if key is None else columns[key] for item, key in zip(items, direct, strict=True)
        ]
        for values in zip(*made, strict=True):
            yield dict(zip(items, values, strict=True))

    @abstractmethod
    def _columns(self, block: RecordBlock, items: list[str]) -> Columns:
        """Return the values of all records of a block, for each key of these items.

        Raises:
            ExampleError: a record is damaged, or does not match a spec.
        """

    def _direct_keys(self, items: list[str]) -> list[str | None]:
        """Return, for each item, the key whose unchanged values it is, or None if its handler must be called."""
        return [None] * len(items)

    def _made(self, item: str, columns: Columns, block: RecordBlock) -> Iterator[Any]:
        keys = self._handlers[item].keys
        wanted = [columns[key] for key in keys]
        for k in range(len(block)):
            found = {key: values[k] for key, values in zip(keys, wanted, strict=True)}
            yield self._item(item, found, block.name, block.first + k)


# `TFExampleDecoder`: items from `tf.train.Example` records.


_SPARSE = (VarLenFeature, SparseFeature)
_ON_ARRAYS = (Tensor, LookupTensor, BoundingBox, Image)
"""Handlers that accept a plain array for a `VarLenFeature`, which is cheaper than its sparse array."""


class TFExampleDecoder(MessageDecoder):
    """The decoder of `tf.train.Example`: specs define how keys are parsed, handlers make items from the values.

    Args:
        keys_to_features: key → `FixedLenFeature`, `VarLenFeature` or another spec, of this library or of TensorFlow.
        items_to_handlers: item → its `ItemHandler`.

    Raises:
        ConfigurationError: a spec or a handler is invalid.

    Example:
        >>> from datasets_core import records, slim
        >>> decoder = slim.TFExampleDecoder(
        ...     {"label": slim.FixedLenFeature([], "int64"), "size": slim.VarLenFeature("int64")},
        ...     {"label": slim.Tensor("label"), "size": slim.Tensor("size", shape=[1, -1])},
        ... )
        >>> decoder.decode(records.encode_example({"label": 3, "size": [5, 4]}), ["size", "label"])
        [array([[5, 4]]), array(3)]
    """

    _message: ClassVar[str] = "Example"

    def __init__(self, keys_to_features: Mapping[str, Any], items_to_handlers: Mapping[str, ItemHandler]) -> None:
        super().__init__(items_to_handlers)
        self._specs: dict[str, Spec] = as_specs(keys_to_features)
        self._parsers: dict[tuple[str, ...], ExampleParser] = {}
        self._block_parsers: dict[tuple[str, ...], tuple[ExampleParser, list[str | None]]] = {}

    def _known_keys(self) -> Collection[str]:
        return self._specs

    def _parsed(self, data: Any, keys: list[str]) -> Row:
        parser = self._parsers.get(wanted := tuple(keys))
        if parser is None:
            parser = self._parsers[wanted] = ExampleParser({key: self._specs[key] for key in keys})
        return parser.parse(data)

    def _columns(self, block: RecordBlock, items: list[str]) -> Columns:
        return self._block_parser(tuple(items))[0].parse_rows(block)

    def _direct_keys(self, items: list[str]) -> list[str | None]:
        return self._block_parser(tuple(items))[1]

    def _block_parser(self, items: tuple[str, ...]) -> tuple[ExampleParser, list[str | None]]:
        """Return the parser of a block for these items, and for each item the key whose unchanged values it is, if any.

        A `VarLenFeature` is parsed to arrays if all of its handlers accept them.
        """
        kept = self._block_parsers.get(items)
        if kept is None:
            handlers = [self._handlers[item] for item in items]
            others = {key for handler in handlers if type(handler) not in _ON_ARRAYS for key in handler.keys}
            specs = {key: self._specs[key] for key in self._keys_of(items)}
            for key, spec in specs.items():
                if isinstance(spec, VarLenFeature) and key not in others:
                    specs[key] = FixedLenSequenceFeature([], spec.dtype, allow_missing=True)
            plain = [handler.plain_key if isinstance(handler, Tensor) else None for handler in handlers]
            direct = [None if key is None or isinstance(specs[key], _SPARSE) else key for key in plain]
            kept = self._block_parsers[items] = ExampleParser(specs), direct
        return kept


# `RowDecoder`: the decoder for readers that yield rows; items are columns, or made from columns by handlers.


class RowDecoder(DataDecoder):
    """Makes items from rows, which `slim.BuilderReader` reads from files of all formats of the library.

    Numbers, lists of numbers and images become numpy arrays; other values are returned unchanged.

    Args:
        items_to_columns: item → the name of a column, or an `ItemHandler` whose keys are columns; or a list of columns, which
            become items of the same names.

    Raises:
        ConfigurationError: the argument has another form.

    Example:
        >>> decoder = RowDecoder({"text": "line", "label": "class"})
        >>> decoder.decode({"line": "a wren", "class": 3}, ["label", "text"])
        [array(3), 'a wren']
        >>> RowDecoder(["line", "class"]).list_items()
        ['line', 'class']
    """

    def __init__(self, items_to_columns: Mapping[str, str | ItemHandler] | Sequence[str]) -> None:
        if isinstance(items_to_columns, str | bytes) or not isinstance(items_to_columns, Iterable):
            raise ConfigurationError(
                f"RowDecoder needs a dict of items and columns, or a list of columns, not {items_to_columns!r}.",
                value=items_to_columns,
            )
        items = items_to_columns if isinstance(items_to_columns, Mapping) else {name: name for name in items_to_columns}
        for item, column in items.items():
            if not isinstance(column, str | ItemHandler):
                raise ConfigurationError(
                    f"Item {item!r} has the value {column!r}", advice="Pass a column name or an ItemHandler"
                )
        self._items = dict(items)

    def decode(self, data: Mapping[str, Any], items: Sequence[str] | None = None) -> list[Any]:
        """See `DataDecoder.decode`.

        Raises:
            UnknownColumnError: the row does not have a column.
        """
        return [self._item(data, self._items[item]) for item in chosen_items(items, self.list_items())]

    def _item(self, row: Mapping[str, Any], column: str | ItemHandler) -> Any:
        if isinstance(column, str):
            return as_array(_cell(row, column))
        return column.tensors_to_item({key: _as_parsed(_cell(row, key)) for key in column.keys})

    def list_items(self) -> list[str]:
        """See `DataDecoder.list_items`."""
        return list(self._items)


def _cell(row: Mapping[str, Any], column: str) -> Any:
    try:
        return row[column]
    except KeyError:
        raise UnknownColumnError(column, known=row) from None


def as_array(value: Any) -> Any:
    """Return numbers, nested lists of numbers and images as numpy arrays, and other values unchanged.

    Args:
        value: the value in the row.

    >>> as_array([1, 2]), as_array(["a"]), as_array([[1], [2, 3]])
    (array([1, 2]), ['a'], [[1], [2, 3]])
    """
    is_made_of_numbers = _numbers_shape(value) is not None and not (isinstance(value, list | tuple) and not value)
    if not is_made_of_numbers and not hasattr(value, "__array_interface__"):
        return value
    array = np.asarray(value)
    return value if array.dtype.hasobject or array.dtype.kind in "SU" else array  # integers too large for any type, or strings


def _numbers_shape(value: Any) -> tuple[int, ...] | None:
    """Return the shape of a number or of nested lists of numbers; None for other values."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return ()
    if isinstance(value, np.ndarray):
        return tuple(value.shape) if value.dtype.kind in "biuf" else None
    if not isinstance(value, list | tuple):
        return None
    shapes = {_numbers_shape(inner) for inner in value}
    if len(shapes) > 1:
        return None
    inner = shapes.pop() if shapes else ()
    return None if inner is None else (len(value), *inner)


def _as_parsed(value: Any) -> Any:
    """Return a value of a row in the form that handlers expect: an array, with strings as bytes."""
    if isinstance(value, str | bytes):
        return bytes_array(value)
    if isinstance(value, list | tuple) and all(isinstance(inner, str | bytes) for inner in value):
        return bytes_array(list(value)) if value else np.asarray(value)
    return as_array(value)


# `TFSequenceExampleDecoder`: items from `tf.train.SequenceExample` records.


class TFSequenceExampleDecoder(MessageDecoder):
    """The decoder of `tf.train.SequenceExample`: specs define how keys are parsed, handlers make items from the values.

    Args:
        keys_to_context_features: key → spec, for the features of the context.
        keys_to_sequence_features: key → spec, for the feature lists: `FixedLenSequenceFeature`, `VarLenFeature`.
        items_to_handlers: item → its `ItemHandler`.

    Raises:
        ConfigurationError: a key is in both, or a spec or a handler is invalid.

    Example:
        >>> from datasets_core import records, slim
        >>> decoder = slim.TFSequenceExampleDecoder(
        ...     {"id": slim.FixedLenFeature([], "int64")},
        ...     {"speed": slim.FixedLenSequenceFeature([], "float32")},
        ...     {"id": slim.Tensor("id"), "speed": slim.Tensor("speed")},
        ... )
        >>> decoder.decode(records.encode_sequence_example({"id": 5}, {"speed": [0.5, 1.5]}))
        [array(5), array([0.5, 1.5], dtype=float32)]
    """

    _message: ClassVar[str] = "SequenceExample"

    def __init__(
        self,
        keys_to_context_features: Mapping[str, Any] | None,
        keys_to_sequence_features: Mapping[str, Any] | None,
        items_to_handlers: Mapping[str, ItemHandler],
    ) -> None:
        super().__init__(items_to_handlers)
        self._context: dict[str, Spec] = as_specs(keys_to_context_features or {}, of="context_features")
        self._sequence: dict[str, Spec] = as_specs(keys_to_sequence_features or {}, of="sequence_features")
        both = [key for key in self._context if key in self._sequence]
        if both:
            raise ConfigurationError(
                f"The keys {both} are both in the context and in the sequence", advice="Remove them from one of the two"
            )
        self._parsers: dict[tuple[str, ...], SequenceParser] = {}

    def _known_keys(self) -> Collection[str]:
        return {**self._context, **self._sequence}

    def _parsed(self, data: Any, keys: list[str]) -> Row:
        context, lists = self._parser(keys).parse(data)
        return {**context, **lists}

    def _parser(self, keys: list[str]) -> SequenceParser:
        parser = self._parsers.get(wanted := tuple(keys))
        if parser is None:
            context = {key: self._context[key] for key in keys if key in self._context}
            lists = {key: self._sequence[key] for key in keys if key in self._sequence}
            parser = self._parsers[wanted] = SequenceParser(context, lists)
        return parser

    def _columns(self, block: RecordBlock, items: list[str]) -> Columns:
        context, lists = self._parser(self._keys_of(items)).parse_rows(block)
        return {**context, **lists}


__all__ = [
    "BackupHandler", "BoundingBox", "BoundingBoxSequence", "Image", "ItemHandler", "ItemHandlerCallback", "KeypointsSequence",
    "LookupTensor", "NumBoxesSequence", "SparseTensor", "TFExampleDecoder", "TFSequenceExampleDecoder", "Tensor",
]  # fmt: skip
