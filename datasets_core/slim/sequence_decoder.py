"""`TFSequenceExampleDecoder`: items of the records of `tf.train.SequenceExample`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, ClassVar

from datasets_core.errors import ConfigurationError
from datasets_core.records.feature_specs import Spec, as_specs
from datasets_core.records.record_block import RecordBlock
from datasets_core.records.sequence_parsing import SequenceParser
from datasets_core.slim.item_handlers import ItemHandler
from datasets_core.slim.message_decoder import Columns, MessageDecoder, Row


class TFSequenceExampleDecoder(MessageDecoder):
    """The decoder of `tf.train.SequenceExample`: specs tell how keys are parsed, handlers make items of what they give.

    Args:
        keys_to_context_features: key → spec, of what a record has once.
        keys_to_sequence_features: key → spec, of what each of its steps has: `FixedLenSequenceFeature`, `VarLenFeature`.
        items_to_handlers: item → the `ItemHandler` that makes it.

    Raises:
        ConfigurationError: a key in both, a spec that has no meaning, or no handler.

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
                f"The keys {both} are of the context and of the sequence. Leave them out of one of the two."
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
