"""What decoders of messages have in common: specs that parse, handlers that make items, and errors that name the record."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ExampleError, ItemError, UnknownFeatureError
from datasets_core.records.record_block import RecordBlock
from datasets_core.slim.data_decoder import DataDecoder, chosen_items
from datasets_core.slim.item_handlers import ItemHandler

Row = dict[str, Any]
Columns = dict[str, list[Any]]


class MessageDecoder(DataDecoder):
    """The base of the decoders of messages with keys, each of which a spec tells of.

    Args:
        items_to_handlers: item → the `ItemHandler` that makes it.

    Raises:
        ConfigurationError: no dict of handlers.
    """

    _message: ClassVar[str]  # what one message is called

    def __init__(self, items_to_handlers: Mapping[str, ItemHandler]) -> None:
        if not isinstance(items_to_handlers, Mapping):
            raise ArgumentTypeError(f"items_to_handlers={items_to_handlers!r} is no dict. Give one of items and handlers.")
        for item, handler in items_to_handlers.items():
            if not isinstance(handler, ItemHandler):
                raise ConfigurationError(
                    f"Item {item!r} is to be made by {handler!r}. Give an ItemHandler, as slim.Tensor('key')."
                )
        self._handlers = dict(items_to_handlers)

    def list_items(self) -> list[str]:
        """See `DataDecoder.list_items`."""
        return list(self._handlers)

    @abstractmethod
    def _known_keys(self) -> Collection[str]:
        """The keys that have specs."""

    def _keys_of(self, items: Iterable[str]) -> list[str]:
        """The keys of these items, each once.

        Raises:
            UnknownFeatureError: one has no spec.
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
        """The items of one message, in the order asked for. Only the keys that they are made of are parsed.

        Args:
            data: the bytes of the message.
            items: which items; all of them by default.

        Raises:
            UnknownItemError: an item that there is none of.
            UnknownFeatureError: an item is made of a key that has no spec.
            ExampleError: the message is damaged, breaks the rules of a spec, or does not make an item.
        """
        names = chosen_items(items, self.list_items())
        keys = self._keys_of(names)
        found = self._parsed(data, keys) if keys else {}
        return [self._item(item, found, self._message, None) for item in names]

    @abstractmethod
    def _parsed(self, data: Any, keys: list[str]) -> Row:
        """The values of keys of one message."""

    def _item(self, item: str, found: Mapping[str, Any], name: str, record: int | None) -> Any:
        handler = self._handlers[item]
        try:
            return handler.tensors_to_item({key: found[key] for key in handler.keys})
        except ItemError as error:
            advice = error.advice or "Mend the record, or the handler of the item"
            raise ExampleError(name, f"item {item!r}: {error.reason}", record=record, advice=advice) from error
        except Exception as error:
            where = name if record is None else f"{name}, record {record:,}"
            error.add_note(f"This is item {item!r} of {where}.")
            raise

    def decode_block(self, block: Iterable[Any], items: Sequence[str] | None = None) -> Iterator[Row]:
        """See `DataDecoder.decode_block`: the records are parsed at once, and handlers asked one sample after the other.

        Raises:
            UnknownItemError: an item that there is none of.
            UnknownFeatureError: an item is made of a key that has no spec.
            ExampleError: a record as in `decode`, once the samples before it are given.
        """
        names = chosen_items(items, self.list_items())
        self._keys_of(names)
        return self._samples(block if isinstance(block, RecordBlock) else RecordBlock.of(list(block)), names)

    def _samples(self, block: RecordBlock, items: list[str]) -> Iterator[Row]:
        """The samples of a block."""
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
                if error.record > block.first:  # a record before it may be refused too, for another reason
                    yield from self._samples(block[: error.record - block.first], items)
                raise
        made = [
            self._made(item, columns, block) if key is None else columns[key] for item, key in zip(items, direct, strict=True)
        ]
        for values in zip(*made, strict=True):
            yield dict(zip(items, values, strict=True))

    @abstractmethod
    def _columns(self, block: RecordBlock, items: list[str]) -> Columns:
        """For each key of these items the values of all records of a block.

        Raises:
            ExampleError: a record is damaged, or breaks the rules of a spec.
        """

    def _direct_keys(self, items: list[str]) -> list[str | None]:
        """For each item the key whose values it is as they are, or None where its handler is to be asked."""
        return [None] * len(items)

    def _made(self, item: str, columns: Columns, block: RecordBlock) -> Iterator[Any]:
        keys = self._handlers[item].keys
        wanted = [columns[key] for key in keys]
        for k in range(len(block)):
            found = {key: values[k] for key, values in zip(keys, wanted, strict=True)}
            yield self._item(item, found, block.name, block.first + k)
