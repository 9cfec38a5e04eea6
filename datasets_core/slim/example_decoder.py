"""`TFExampleDecoder`: items of the records of `tf.train.Example`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from datasets_core.records.example_parsing import ExampleParser
from datasets_core.records.feature_specs import FixedLenSequenceFeature, SparseFeature, Spec, VarLenFeature, as_specs
from datasets_core.records.record_block import RecordBlock
from datasets_core.slim.box_handlers import BoundingBox
from datasets_core.slim.image_handler import Image
from datasets_core.slim.item_handlers import ItemHandler, LookupTensor, Tensor
from datasets_core.slim.message_decoder import Columns, MessageDecoder, Row

_SPARSE = (VarLenFeature, SparseFeature)
_ON_ARRAYS = (Tensor, LookupTensor, BoundingBox, Image)
"""Handlers that make the same of the array of a `VarLenFeature` as of its sparse array, which is dearer."""


class TFExampleDecoder(MessageDecoder):
    """The decoder of `tf.train.Example`: specs tell how keys are parsed, handlers make items of what they give.

    Args:
        keys_to_features: key → `FixedLenFeature`, `VarLenFeature` or another spec, of this library or of TensorFlow.
        items_to_handlers: item → the `ItemHandler` that makes it.

    Raises:
        ConfigurationError: a spec that has no meaning, or no handler.

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
        """The parser of a block for these items, and for each item the key whose values it is, if it is no more than that.

        A `VarLenFeature` whose handlers do as well with arrays is read as arrays.
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
