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
        """The items of one sample, in the order asked for.

        Args:
            data: what the reader gives for the sample: the bytes of a record, or a row.
            items: which items; all of them by default.

        Raises:
            ValueError: an item that there is none of, or data that does not give it.
        """

    @abstractmethod
    def list_items(self) -> list[str]:
        """The names of the items that the decoder makes, in a fixed order."""

    def decode_block(self, block: Iterable[Any], items: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """The samples of a block, each as item → value: what a provider asks for.

        Samples before one that cannot be decoded are given, then comes the error. This one calls `decode` for each;
        a decoder that can do with less work for many records at once overrides it.

        Args:
            block: a `RecordBlock`, or any other samples.
            items: which items; all of them by default.

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
    """A method of whatever has the methods of a decoder.

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
    raise ConfigurationError(f"A dataset's decoder has a method {names[0]}, and {decoder!r} has none. Give a slim.DataDecoder.")


def chosen_items(items: Sequence[str] | None, known: Sequence[str]) -> list[str]:
    """The items that are meant: those asked for, in their order; all where nothing is asked for.

    Args:
        items: what was asked for.
        known: the items that there are.

    Raises:
        UnknownItemError: an item that there is none of.
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
