"""`Dataset`: specification of a dataset; `BuilderReader` and other readers of its data sources."""

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

# `BuilderReader`: the rows of files of every format that the library reads.


_BLOCK_ROWS = 256
_BLOCK_ROWS_OF_MEDIA = 4  # which are decoded as the row is made


class BuilderReader(SampleReader):
    """Reads files as `load_dataset` does: a sample is a row, as a dict, and its key is its number, from 0.

    `RowDecoder` makes the items of rows.  A dataset whose reader takes no options may name the format, as `"csv"`, as
    its reader.  Each file is read separately: if types or labels are inferred from the content, `features=` makes them equal.

    Args:
        format: `"csv"`, `"json"`, `"parquet"`, `"text"`, or any other format of a builder.
        options: of the builder, as for `load_dataset`.

    Raises:
        ConfigurationError: an unknown format.

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
            raise ConfigurationError(f"Unknown format {format!r}. Available formats: {', '.join(sorted(known_formats()))}.")
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
                except Exception as error:  # the rows before it are good
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


# `get_data_files`: the files that `data_sources` names.


def get_data_files(data_sources: Any) -> list[Any]:
    """Return the files of data sources, in the order of reading without shuffling.

    A path or URL is one file, even if it does not exist; a pattern with `*`, `?` or `[` means the matching files, sorted; a
    list means its elements, in order.  A path is returned unchanged, and keys of samples contain it so.

    Args:
        data_sources: a path or URL, a pattern, or a list or tuple of such, also nested.

    Raises:
        NoDataFilesError: a pattern without matches, or an empty list.
        ArgumentTypeError: anything else.

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
            f"data_sources is a path, a pattern, or a list of them, not {data_sources!r}. Give one of those."
        )
    if not found:
        raise NoDataFilesError(data_sources if isinstance(data_sources, list | tuple) else os.fspath(data_sources))
    return found


def _files_of(source: str) -> list[str]:
    if not source:
        return []
    if not data_files.is_pattern(source) or files.is_http(source):  # the `?` of a URL begins its query
        return [source]
    if files.is_url(source) and not source.startswith("file://"):
        try:
            return sorted(str(path) for path in resolve_data_files(source)["train"])
        except DataFilesNotFoundError:
            return []
    return _local_files(source)


def _local_files(pattern: str) -> list[str]:
    local = files.local_path(pattern)
    if os.path.lexists(local):  # a name may hold a bracket
        return [pattern]
    return sorted(path for path in glob.glob(local, recursive=True, include_hidden=True) if not os.path.isdir(path))


_OF_OTHERS: dict[str, type[SampleReader]] = {  # by their names: TensorFlow's own, and what reads records for others here
    "TFRecordReader": TFRecordReader,
    "TextLineReader": TextLineReader,
    "FixedLengthRecordReader": FixedLengthRecordReader,
    "WholeFileReader": WholeFileReader,
}
_OTHERS = ("tensorflow", "datasets_core.records")


def reader_maker(reader: Any, reader_kwargs: Mapping[str, Any] | None = None) -> Callable[[], SampleReader]:
    """Return a function that makes a reader for each thread.

    Args:
        reader: a class derived from `SampleReader`, or another factory of readers; a reader, which
            all threads share; the name of a format, as "csv"; or a reader class of TensorFlow, replaced by the one of
            the same name here.
        reader_kwargs: arguments of the factory.

    Raises:
        ArgumentTypeError: arguments that it does not accept, or not a reader.

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
            raise ArgumentTypeError(f"There is no replacement for the reader {name}. Pass one of: {', '.join(_OF_OTHERS)}.")
        reader = _OF_OTHERS[name]
    if not callable(reader):
        raise ArgumentTypeError(f"The reader must be a class such as slim.TFRecordReader, not {reader!r}.")
    return partial(_made, reader, kwargs)


def _made(reader: Any, kwargs: Mapping[str, Any]) -> SampleReader:
    try:
        made = reader(**kwargs)
    except TypeError as error:
        raise ArgumentTypeError(f"The reader cannot be made with {kwargs!r}: {error}. Fix reader_kwargs.") from error
    if isinstance(made, SampleReader):
        return made
    if callable(getattr(made, "samples", None)):
        return _Adapted(made)
    raise ArgumentTypeError(f"{made!r} is not a reader. Derive its class from slim.SampleReader.")


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
    """Return a reader and its arguments in words that are the same in every process, for fingerprints.

    >>> named(TextLineReader, {"skip_header_lines": 1})
    ['TextLineReader', ['skip_header_lines', 1]]
    """
    name = reader if isinstance(reader, str) else getattr(reader, "__name__", type(reader).__name__)
    plain = (bool, int, float, str, type(None))
    kwargs = sorted((reader_kwargs or {}).items())
    return [name, *([key, value if isinstance(value, plain) else type(value).__name__] for key, value in kwargs)]


# `Dataset`: specification of a dataset, as in TF-Slim: its files, reader and decoder.


class Dataset:
    """The specification of a dataset, from which `DatasetDataProvider` provides samples.

    Nothing is opened and nothing is looked up: each argument is kept as an attribute of its name.

    Args:
        data_sources: the files: a list of paths or URLs, a glob, or nested lists of them.
        reader: the class that reads such files, as `slim.TFRecordReader` or `slim.TextLineReader`.
        decoder: the `DataDecoder` that makes items of what the reader gives.
        num_samples: how many samples there are.
        items_to_descriptions: item → what it is, in words.
        fields: whatever else belongs to the dataset, as `num_classes` or `labels_to_names`.

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

    def __getattr__(self, name: str) -> Any:  # a field of the user; called by Python for missing attributes
        raise AttributeError(f"This dataset has no field {name!r}. Fields: {', '.join(map(repr, self.__dict__))}.")

    def list_items(self) -> list[str]:
        """Return the items that the decoder makes, in its order.

        >>> from datasets_core import slim
        >>> slim.Dataset([], None, slim.RowDecoder({"text": "line"}), 0, {}).list_items()
        ['text']
        """
        return list(method_of(self.decoder, "list_items", "ListItems")())

    def decode(self, data: Any, items: Sequence[str] | None = None) -> list[Any]:
        """Return the items of one sample, in the order of `items`: the result of the decoder's `decode`.

        Args:
            data: the reader's data of one sample.
            items: names of items; default all.

        >>> from datasets_core import slim
        >>> slim.Dataset([], None, slim.RowDecoder({"text": "line"}), 1, {}).decode({"line": "a wren"}, ["text"])
        ['a wren']
        """
        return list(method_of(self.decoder, "decode", "Decode")(data, items))

    def __repr__(self) -> str:
        return f"Dataset({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"
