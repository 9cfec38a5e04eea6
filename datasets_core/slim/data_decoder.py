"""`DataDecoder`: base class of decoders, which convert the data of a sample to items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownItemError


class DataDecoder(ABC):
    """Base class of decoders; subclasses define `decode` and `list_items`, or `Decode` and `ListItems`.

    Example:
        >>> class Reversed(DataDecoder):
        ...     def decode(self, data, items=None):
        ...         return [{"text": data[::-1], "length": len(data)}[item] for item in items or self.list_items()]
        ...     def list_items(self):
        ...         return ["text", "length"]
        >>> Reversed().decode(b"abc", ["length", "text"]), Reversed().Decode(b"abc", ["text"])
        ([3, b'cba'], [b'cba'])
    """

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        own = vars(cls)
        if "Decode" in own and "decode" not in own:
            cls.decode = cls.Decode  # type: ignore[method-assign]
        if "ListItems" in own and "list_items" not in own:
            cls.list_items = cls.ListItems  # type: ignore[method-assign]

    @abstractmethod
    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Return the items of one sample, in the order of `items`.

        Args:
            data: the reader's data of the sample: the bytes of a record, or a row.
            items: names of items; None means all.

        Raises:
            ValueError: an item is unknown, or missing in the data.
        """

    @abstractmethod
    def list_items(self) -> list[str]:
        """Return the names of the items of the decoder, in a fixed order."""

    def decode_block(self, block: Iterable[Any], items: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the samples of a block, each as item → value; called by providers.

        If a sample cannot be decoded, the samples before it are yielded first. The default implementation calls `decode` for
        each sample; override it in a decoder that is faster for many samples at once.

        Args:
            block: a `RecordBlock`, or any other iterable of samples.
            items: names of items; None means all.

        Example:
            >>> from datasets_core import slim
            >>> list(slim.RowDecoder({"text": "line"}).decode_block([{"line": "a"}, {"line": "b"}], ["text"]))
            [{'text': 'a'}, {'text': 'b'}]
        """
        names = chosen_items(items, self.list_items())
        return (dict(zip(names, self.decode(data, names), strict=True)) for data in block)

    def Decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:  # noqa: N802
        """See `decode`; this is its older name."""
        return self.decode(data, items)

    def ListItems(self) -> list[str]:  # noqa: N802
        """See `list_items`; this is its older name."""
        return self.list_items()


def method_of(decoder: Any, *names: str) -> Any:
    """Return a method of any object with the methods of a decoder.

    Args:
        decoder: the object.
        names: accepted names of the method; the first existing one is returned.

    Raises:
        ConfigurationError: the object has none of these methods.

    >>> class Older:
    ...     def ListItems(self):
    ...         return ["text"]
    >>> method_of(Older(), "list_items", "ListItems")()
    ['text']
    """
    for name in names:
        method = getattr(decoder, name, None)
        if callable(method):
            return method
    raise ConfigurationError(f"The decoder {decoder!r} has no method {names[0]}", advice="Pass a slim.DataDecoder")


def chosen_items(items: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the requested items in their order; all items if `items` is None.

    Args:
        items: the requested names.
        known: the existing items.

    Raises:
        UnknownItemError: an item is unknown.
        ArgumentTypeError: `items` is a single name, not a list.

    >>> chosen_items(["b"], ["a", "b"]), chosen_items(None, ["a", "b"])
    (['b'], ['a', 'b'])
    """
    if items is None or not len(items):
        return list(known)
    if isinstance(items, str | bytes):
        raise ArgumentTypeError(
            f"items must be a list or tuple of names, not {items!r}", advice=f"Pass [{items!r}]", value=items
        )
    for item in items:
        if item not in known:
            raise UnknownItemError(item, known=known)
    return list(items)
