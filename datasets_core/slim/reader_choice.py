"""`reader_maker`: what makes the readers that a dataset asks for, in whatever way it says so."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.slim.builder_reader import BuilderReader
from datasets_core.slim.sample_reader import Position, SampleBlock, SampleReader
from datasets_core.slim.sample_readers import FixedLengthRecordReader, TextLineReader, TFRecordReader, WholeFileReader

_OF_OTHERS: dict[str, type[SampleReader]] = {  # by their names: TensorFlow's own, and what reads records for others here
    "TFRecordReader": TFRecordReader,
    "TextLineReader": TextLineReader,
    "FixedLengthRecordReader": FixedLengthRecordReader,
    "WholeFileReader": WholeFileReader,
}
_OTHERS = ("tensorflow", "datasets_core.records")


def reader_maker(reader: Any, reader_kwargs: Mapping[str, Any] | None = None) -> Callable[[], SampleReader]:
    """What makes a reader for each thread.

    Args:
        reader: a class derived from `SampleReader`, or anything else that makes readers when it is called; a reader, which
            all threads share; the name of a format, as "csv"; or a reader class of TensorFlow, which stands for the one of
            the same name here.
        reader_kwargs: what it is called with.

    Raises:
        ArgumentTypeError: arguments that it does not take, or nothing that reads.

    >>> from datasets_core import slim
    >>> make = reader_maker(slim.TextLineReader, {"skip_header_lines": 1})
    >>> type(make()).__name__, type(reader_maker("csv")()).__name__
    ('TextLineReader', 'BuilderReader')
    """
    kwargs = dict(reader_kwargs or {})
    if isinstance(reader, str):
        return partial(_made, partial(BuilderReader, reader), kwargs)
    if isinstance(reader, SampleReader):
        if kwargs:
            raise ConfigurationError(
                "reader_kwargs are for a reader class, and the dataset has a reader. Make that one with them."
            )
        return lambda: reader
    if isinstance(reader, type) and not issubclass(reader, SampleReader) and reader.__module__.startswith(_OTHERS):
        name = reader.__name__.removesuffix("V2")
        if name not in _OF_OTHERS:
            raise ArgumentTypeError(f"There is no reader in the place of {name}. Give one of: {', '.join(_OF_OTHERS)}.")
        reader = _OF_OTHERS[name]
    if not callable(reader):
        raise ArgumentTypeError(f"A dataset's reader is a class as slim.TFRecordReader, not {reader!r}. Give one.")
    return partial(_made, reader, kwargs)


def _made(reader: Any, kwargs: Mapping[str, Any]) -> SampleReader:
    try:
        made = reader(**kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"The reader cannot be made with {kwargs!r}: {error}. Mend reader_kwargs.") from error
    if isinstance(made, SampleReader):
        return made
    if callable(getattr(made, "samples", None)):
        return _Adapted(made)
    raise ArgumentTypeError(f"{made!r} reads no samples. Derive its class from slim.SampleReader.")


class _Adapted(SampleReader):
    """A reader of a class that only has the methods."""

    def __init__(self, reader: Any) -> None:
        self._reader = reader

    @property
    def reads_one_by_one(self) -> bool:
        return getattr(self._reader, "blocks", None) is None

    def samples(self, path: str) -> Iterator[tuple[Position, Any]]:
        found: Iterator[tuple[Position, Any]] = iter(self._reader.samples(path))
        return found

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        own = getattr(self._reader, "blocks", None)
        found: Iterator[SampleBlock] = super().blocks(path, start) if own is None else own(path, start)
        return found

    def key(self, path: str, position: Position) -> str:
        own = getattr(self._reader, "key", None)
        return super().key(path, position) if own is None else str(own(path, position))


def named(reader: Any, reader_kwargs: Mapping[str, Any] | None = None) -> list[Any]:
    """A reader and its arguments in words that are the same in every process, for fingerprints.

    >>> named(TextLineReader, {"skip_header_lines": 1})
    ['TextLineReader', ['skip_header_lines', 1]]
    """
    name = reader if isinstance(reader, str) else getattr(reader, "__name__", type(reader).__name__)
    plain = (bool, int, float, str, type(None))
    kwargs = sorted((reader_kwargs or {}).items())
    return [name, *([key, value if isinstance(value, plain) else type(value).__name__] for key, value in kwargs)]
