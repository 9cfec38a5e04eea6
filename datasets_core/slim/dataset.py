"""`Dataset`: specification of a dataset; `BuilderReader`; the files of `data_sources`."""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from datasets_core import files
from datasets_core.errors import ArgumentTypeError, ConfigurationError, DataFilesNotFoundError, NoDataFilesError
from datasets_core.features.media.media import has_media
from datasets_core.fetch.remote import RemoteFile
from datasets_core.load import load_dataset
from datasets_core.meta import data_files
from datasets_core.meta.data_files import resolve_data_files
from datasets_core.resolve.registry import is_format, known_formats
from datasets_core.slim.data_decoder import method_of
from datasets_core.slim.readers import (
    FixedLengthRecordReader,
    Position,
    SampleBlock,
    SampleReader,
    TextLineReader,
    TFRecordReader,
    WholeFileReader,
)

# `BuilderReader`: reads files of all formats of the library.


_BLOCK_ROWS = 256
_BLOCK_ROWS_OF_MEDIA = 4  # small, since media are decoded with their rows


class BuilderReader(SampleReader):
    """Reads files like `load_dataset`: each sample is a row, as a dict, and its key is the row number, from 0.

    `RowDecoder` makes items from rows.  If no options are needed, a dataset may use the name of the format, such as
    `"csv"`, as its reader.  Each file is read separately; if types or labels are inferred from the content, pass `features=` so
    that they are the same in all files.

    Args:
        format: `"csv"`, `"json"`, `"parquet"`, `"text"`, or any other format of a builder.
        options: options of the builder, as for `load_dataset`.

    Raises:
        ConfigurationError: the format is unknown.

    Example:
        >>> import pathlib, tempfile
        >>> from datasets_core import slim
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "birds.csv")
        ...     _ = path.write_text("name;count\\nwren;3\\n", encoding="utf-8")
        ...     list(slim.BuilderReader("csv", sep=";").samples(str(path)))
        [(0, {'name': 'wren', 'count': 3})]
    """

    def __init__(self, format: str, **options: Any) -> None:
        if not isinstance(format, str) or not is_format(format):
            raise ConfigurationError(
                f"Unknown format {format!r}. Available formats: {', '.join(sorted(known_formats()))}.", value=format
            )
        self._format, self._options = format, options

    def samples(self, path: str) -> Iterator[tuple[Position, Any]]:
        """See `SampleReader.samples`."""
        for block in self.blocks(path):
            yield from zip(block.positions.tolist(), block.payloads, strict=True)

    def blocks(self, path: str, start: Position | None = None) -> Iterator[SampleBlock]:
        """See `SampleReader.blocks`; a position is the number of a row."""
        named: Any = glob.escape(path) if isinstance(path, str) and data_files.is_pattern(path) else path
        stream = load_dataset(self._format, data_files=[named], split="train", streaming=True, **self._options)
        number = int(start or 0)
        rows = iter(stream.skip(number) if number else stream)
        features = stream.features
        is_heavy = features is None or any(map(has_media, features.values()))
        size, failure = _BLOCK_ROWS_OF_MEDIA if is_heavy else _BLOCK_ROWS, None
        try:
            while failure is None:
                block: list[Any] = []
                try:
                    for row in rows:
                        block.append(row)
                        if len(block) == size:
                            break
                except Exception as error:  # the rows before it are returned first
                    failure = error
                if block:
                    yield SampleBlock(block, np.arange(number, number + len(block), dtype=np.int64), number)
                    number += len(block)
                elif failure is None:
                    return
            raise failure
        finally:
            if hasattr(rows, "close"):
                rows.close()


# `get_data_files`: the files of `data_sources`.


def get_data_files(data_sources: Any) -> list[Any]:
    """Return the files of data sources, in the order in which they are read without shuffling.

    A path or URL is one file, even if it does not exist; a pattern with `*`, `?` or `[` means the matching files, sorted; a
    list means its elements, in order.  Paths are returned unchanged, and appear unchanged in the keys of samples.

    Args:
        data_sources: a path or URL, a pattern, or a list or tuple of these, which may be nested.

    Raises:
        NoDataFilesError: a pattern has no matches, or a list is empty.
        ArgumentTypeError: the argument has another type.

    Example:
        >>> get_data_files(["b.tfrecord", ["a.tfrecord"]])
        ['b.tfrecord', 'a.tfrecord']
        >>> get_data_files("nothing/here-*")
        Traceback (most recent call last):
          ...
        datasets_core.errors.NoDataFilesError: No data files found in nothing/here-*. Check the path or pattern.
    """
    if isinstance(data_sources, list | tuple):
        found = [path for source in data_sources for path in get_data_files(source)]
    elif isinstance(data_sources, RemoteFile):
        return [data_sources]
    elif isinstance(data_sources, str | os.PathLike) and isinstance(os.fspath(data_sources), str):
        found = _files_of(os.fspath(data_sources))
    else:
        raise ArgumentTypeError(
            f"data_sources must be a path, a pattern, or a list of these, not {data_sources!r}.", value=data_sources
        )
    if not found:
        raise NoDataFilesError(data_sources if isinstance(data_sources, list | tuple) else os.fspath(data_sources))
    return found


def _files_of(source: str) -> list[str]:
    if not source:
        return []
    if not data_files.is_pattern(source) or files.is_http(source):  # in a URL, `?` begins the query
        return [source]
    if files.is_url(source) and not source.startswith("file://"):
        try:
            return sorted(str(path) for path in resolve_data_files(source)["train"])
        except DataFilesNotFoundError:
            return []
    return _local_files(source)


def _local_files(pattern: str) -> list[str]:
    local = files.local_path(pattern)
    if os.path.lexists(local):  # a file name may contain a bracket
        return [pattern]
    return sorted(path for path in glob.glob(local, recursive=True, include_hidden=True) if not os.path.isdir(path))


_OF_OTHERS: dict[str, type[SampleReader]] = {  # by the names of the classes of TensorFlow, or of `records`
    "TFRecordReader": TFRecordReader,
    "TextLineReader": TextLineReader,
    "FixedLengthRecordReader": FixedLengthRecordReader,
    "WholeFileReader": WholeFileReader,
}
_OTHERS = ("tensorflow", "datasets_core.records")


def reader_maker(reader: Any, reader_kwargs: Mapping[str, Any] | None = None) -> Callable[[], SampleReader]:
    """Return a function that makes a reader for each thread.

    Args:
        reader: a subclass of `SampleReader`, or another factory of readers; a reader, which all threads share; the name
            of a format, such as "csv"; or a reader class of TensorFlow, which is replaced by the class of the same name
            in this library.
        reader_kwargs: arguments of the factory.

    Raises:
        ArgumentTypeError: the reader does not accept the arguments, or is not a reader.

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
                "reader_kwargs require a reader class, but the dataset has a reader object",
                advice="Create that object with them",
            )
        return lambda: reader
    if isinstance(reader, type) and not issubclass(reader, SampleReader) and reader.__module__.startswith(_OTHERS):
        name = reader.__name__.removesuffix("V2")
        if name not in _OF_OTHERS:
            raise ArgumentTypeError(f"The reader {name} is not supported. Available readers: {', '.join(_OF_OTHERS)}.")
        reader = _OF_OTHERS[name]
    if not callable(reader):
        raise ArgumentTypeError(f"The reader must be a class such as slim.TFRecordReader, not {reader!r}.", value=reader)
    return partial(_made, reader, kwargs)


def _made(reader: Any, kwargs: Mapping[str, Any]) -> SampleReader:
    try:
        made = reader(**kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"The reader cannot be created with {kwargs!r}: {error}", advice="Fix reader_kwargs") from error
    if isinstance(made, SampleReader):
        return made
    if callable(getattr(made, "samples", None)):
        return _Adapted(made)
    raise ArgumentTypeError(f"{made!r} is not a reader", advice="Derive its class from slim.SampleReader", value=made)


class _Adapted(SampleReader):
    """Wraps a reader that has the methods but not the base class."""

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
    """Return a description of a reader and its arguments that is the same in every process, for fingerprints.

    >>> named(TextLineReader, {"skip_header_lines": 1})
    ['TextLineReader', ['skip_header_lines', 1]]
    """
    name = reader if isinstance(reader, str) else getattr(reader, "__name__", type(reader).__name__)
    plain = (bool, int, float, str, type(None))
    kwargs = sorted((reader_kwargs or {}).items())
    return [name, *([key, value if isinstance(value, plain) else type(value).__name__] for key, value in kwargs)]


# `Dataset`: specification of a dataset as in TF-Slim: files, reader and decoder.


class Dataset:
    """The specification of a dataset, whose samples `DatasetDataProvider` provides.

    Each argument becomes an attribute of the same name. No file is opened or checked.

    Args:
        data_sources: the files: a list of paths or URLs, a glob, or nested lists of them.
        reader: the class that reads the files, such as `slim.TFRecordReader` or `slim.TextLineReader`.
        decoder: the `DataDecoder` that makes items from the samples of the reader.
        num_samples: number of samples.
        items_to_descriptions: item → description.
        fields: further attributes of the dataset, such as `num_classes` or `labels_to_names`.

    Example:
        >>> from datasets_core import slim
        >>> decoder = slim.TFExampleDecoder(
        ...     {"label": slim.FixedLenFeature([], "int64")}, {"label": slim.Tensor("label")}
        ... )
        >>> birds = slim.Dataset(
        ...     ["birds.tfrecord"], slim.TFRecordReader, decoder, 300, {"label": "Which bird it is."}, num_classes=2
        ... )
        >>> birds.num_samples, birds.num_classes, birds.list_items()
        (300, 2, ['label'])
    """

    data_sources: Any
    reader: Any
    decoder: Any
    num_samples: Any
    items_to_descriptions: Any

    def __init__(
        self,
        data_sources: str | Sequence[Any],
        reader: Any,
        decoder: Any,
        num_samples: int | None,
        items_to_descriptions: Mapping[str, str] | None,
        **fields: Any,
    ) -> None:
        self.__dict__.update(
            fields,
            data_sources=data_sources,
            reader=reader,
            decoder=decoder,
            num_samples=num_samples,
            items_to_descriptions=items_to_descriptions,
        )

    def __getattr__(self, name: str) -> Any:  # called by Python for missing attributes
        raise AttributeError(f"This dataset has no field {name!r}. Available fields: {', '.join(map(repr, self.__dict__))}.")

    def list_items(self) -> list[str]:
        """Return the items of the decoder, in its order.

        Example:
            >>> from datasets_core import slim
            >>> slim.Dataset([], None, slim.RowDecoder({"text": "line"}), 0, {}).list_items()
            ['text']
        """
        return list(method_of(self.decoder, "list_items", "ListItems")())

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Return the items of one sample, in the order of `items`: the result of the decoder's `decode`.

        Args:
            data: the reader's data of one sample.
            items: names of items; None means all.

        Example:
            >>> from datasets_core import slim
            >>> slim.Dataset([], None, slim.RowDecoder({"text": "line"}), 1, {}).decode({"line": "a wren"}, ["text"])
            ['a wren']
        """
        return list(method_of(self.decoder, "decode", "Decode")(data, items))

    def __repr__(self) -> str:
        return f"Dataset({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"
