"""`DataDecoder`: base of decoders from the data of one sample to its items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownItemError


class DataDecoder(ABC):
    """The base of decoders: derive a class that has `decode` and `list_items`, or `Decode` and `ListItems`.

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
            items: names of items; default all.

        Raises:
            ValueError: an unknown item, or data without it.
        """

    @abstractmethod
    def list_items(self) -> list[str]:
        """Return the names of the items that the decoder makes, in a fixed order."""

    def decode_block(self, block: Iterable[Any], items: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Yield the samples of a block, each as item → value; called by providers.

        Samples before one that cannot be decoded are yielded, then the error is raised. This one calls `decode` for each;
        a decoder that is faster for many records at once overrides it.

        Args:
            block: a `RecordBlock`, or any other samples.
            items: names of items; default all.

        >>> from datasets_core import slim
        >>> list(slim.RowDecoder({"text": "line"}).decode_block([{"line": "a"}, {"line": "b"}], ["text"]))
        [{'text': 'a'}, {'text': 'b'}]
        """
        names = chosen_items(items, self.list_items())
        return (dict(zip(names, self.decode(data, names), strict=True)) for data in block)

    def Decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:  # noqa: N802
        """`decode`, as older code spells it."""
        return self.decode(data, items)

    def ListItems(self) -> list[str]:  # noqa: N802
        """`list_items`, as older code spells it."""
        return self.list_items()


def method_of(decoder: Any, *names: str) -> Any:
    """Return a method of whatever has the methods of a decoder.

    Args:
        decoder: what was given as one.
        names: what the method may be called; the first that is there is taken.

    Raises:
        ConfigurationError: it has none of them.

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
    raise ConfigurationError(f"The decoder {decoder!r} has no method {names[0]}. Pass a slim.DataDecoder.")


def chosen_items(items: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """Return the requested items, in their order; all if none are requested.

    Args:
        items: the requested names.
        known: the existing items.

    Raises:
        UnknownItemError: an unknown item.
        ArgumentTypeError: one name instead of a list.

    >>> chosen_items(["b"], ["a", "b"]), chosen_items(None, ["a", "b"])
    (['b'], ['a', 'b'])
    """
    if items is None or not len(items):
        return list(known)
    if isinstance(items, str | bytes):
        raise ArgumentTypeError(f"items must be a list or tuple of names, not {items!r}. Write [{items!r}].")
    for item in items:
        if item not in known:
            raise UnknownItemError(item, known=known)
    return list(items)
