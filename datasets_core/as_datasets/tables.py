"""Tables, writers, readers and feature types with the interfaces of `datasets.table`, `.arrow_writer`, `.arrow_reader`, `.io`
and `.features.features`.
"""

from __future__ import annotations

import copy
import dataclasses
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self

import pyarrow as pa

from datasets_core import files
from datasets_core.as_datasets.internals import make_file_instructions
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ArgumentTypeError, ConfigurationError, DatasetsCoreError
from datasets_core.features import KINDS
from datasets_core.features.base import (
    REGISTERED,
    Feature,
    FeatureType,
    LargeList,
    List,
    Value,
    adopted,
    feature_to_arrow,
    needs_decoding,
    register_feature,
)
from datasets_core.features.cast import cast_array, cast_table
from datasets_core.features.media.media import embed_table
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features, joined_features
from datasets_core.features.serialization import feature_from_json, library_kind
from datasets_core.io.tables import ConcatenationTable, InMemoryTable, MemoryMappedTable, Table, plain_table, read_ipc
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.info import DatasetInfo
from datasets_core.stream.iterable import IterableDataset


def concat_tables(tables: Sequence[Any], axis: int = 0) -> Table:
    """Join tables: `axis=0` appends rows, `axis=1` appends columns."""
    if len(tables) == 1 and isinstance(tables[0], Table):
        return tables[0]
    return ConcatenationTable.from_tables(tables, axis)


def embed_table_storage(table: Any, token_per_repo_id: Any = None) -> pa.Table:
    """Return the table with the content of media files that it refers to by path.

    Args:
        table: a table whose metadata defines the media columns.
        token_per_repo_id: ignored; the token of the settings is used.
    """
    table = plain_table(table)
    return embed_table(table, Features.from_arrow_schema(table.schema))


def cast_table_to_features(table: Any, features: Features) -> pa.Table:
    """Return the table cast to `features`.

    Raises:
        CastError: the columns differ, or a value does not fit.
    """
    return cast_table(plain_table(table), features, fill_missing=False)


def cast_table_to_schema(table: Any, schema: pa.Schema) -> pa.Table:
    """Return the table cast to `schema`; missing columns are null.

    Raises:
        CastError: a column is not in the schema, or a value does not fit.
    """
    return cast_table(plain_table(table), Features.from_arrow_schema(schema))


def cast_array_to_feature(array: pa.Array, feature: FeatureType, **_: bool) -> pa.Array:
    """Return the array cast to a feature.

    Raises:
        CastError: a value does not fit.
    """
    return cast_array(array, feature)


def array_cast(array: pa.Array, pa_type: pa.DataType, **_: bool) -> pa.Array:
    """Return the array cast to an Arrow type."""
    return array.cast(pa_type)


def table_iter(table: Any, batch_size: int, drop_last_batch: bool = False) -> Iterator[pa.Table]:
    """Yield the rows in tables of `batch_size` rows."""
    table = plain_table(table)
    stop = len(table) - len(table) % batch_size if drop_last_batch else len(table)
    for start in range(0, stop, batch_size):
        yield table.slice(start, min(batch_size, stop - start))


def table_flatten(table: Any) -> pa.Table:
    """Return the table with the fields of structs as separate columns."""
    return plain_table(table).flatten()


def read_schema_from_file(filename: str) -> pa.Schema:
    """Return the schema of an Arrow file in stream or file format."""
    with pa.memory_map(os.fspath(filename)) as source:
        return read_ipc(source).schema


def require_decoding(feature: FeatureType, ignore_decode_attribute: bool = False) -> bool:
    """Return True if stored values of the feature are decoded when they are read."""
    return needs_decoding(feature)


class SchemaInferenceError(DatasetsCoreError, ValueError):
    """No rows and no features were given, so the columns of the file are unknown."""


class TypedSequence:
    """Values to convert to an Arrow array of a type: `pa.array(TypedSequence(values, type=Value("int8")))`.

    Args:
        data: the values.
        type: the required feature.
        try_type: a feature that is used if the values fit; otherwise the type is inferred.
        optimized_int_type: an integer type that is used if the values are integers and fit.
        on_mixed_types: ignored.

    >>> pa.array(TypedSequence([1, 2], type=Value("int8"))).type
    DataType(int8)
    """

    def __init__(
        self,
        data: Iterable[Any],
        type: FeatureType | None = None,
        try_type: FeatureType | None = None,
        optimized_int_type: FeatureType | None = None,
        on_mixed_types: str | None = None,
    ) -> None:
        if type is not None and try_type is not None:
            raise ArgumentTypeError("TypedSequence accepts type= or try_type=, not both", advice="Pass one of them")
        self.data, self.type, self.try_type, self.optimized_int_type = data, type, try_type, optimized_int_type
        self._inferred: FeatureType | None = None

    def get_inferred_type(self) -> FeatureType:
        """Return the feature of the array."""
        if self._inferred is None:
            self._inferred = Features.from_arrow_schema(pa.schema({"values": pa.array(self).type}))["values"]
        return self._inferred

    def __arrow_array__(self, type: pa.DataType | None = None) -> pa.Array:
        if type is not None:
            raise ArgumentTypeError(
                "Call pa.array(TypedSequence(...)) without a type", advice="Pass the feature to TypedSequence as type="
            )
        values = self.data if isinstance(self.data, list) else list(self.data)
        if self.type is not None:
            return self._encoded(values, self.type)
        for wanted in (self.try_type, self.optimized_int_type):
            if wanted is not None:
                try:
                    return self._encoded(values, wanted)
                except DatasetsCoreError:
                    continue
        return self._encoded(values, None)

    def _encoded(self, values: list[Any], feature: FeatureType | None) -> pa.Array:
        made = Dataset.from_dict({"values": values}, features=None if feature is None else Features({"values": feature}))
        self._inferred = made.features["values"]
        return made._table.to_table().column(0).combine_chunks()


_SMALL = {"attention_mask": "int8", "special_tokens_mask": "int8", "input_ids": "int32", "token_type_ids": "int8"}


class OptimizedTypedSequence(TypedSequence):
    """Values of the column `col`; columns of tokenizers are stored as small integers.

    >>> pa.array(OptimizedTypedSequence([[1, 0]], col="attention_mask")).type
    ListType(list<item: int8>)
    """

    def __init__(
        self,
        data: Iterable[Any],
        type: FeatureType | None = None,
        try_type: FeatureType | None = None,
        col: str | None = None,
        optimized_int_type: FeatureType | None = None,
        on_mixed_types: str | None = None,
    ) -> None:
        values = list(data)
        if type is None and try_type is None and col in _SMALL:
            first = next((value for value in values if value is not None), None)
            if isinstance(first, (list, tuple)):
                optimized_int_type = List(Value(_SMALL[col]))
            elif isinstance(first, int):
                optimized_int_type = Value(_SMALL[col])
        super().__init__(values, type, try_type, optimized_int_type, on_mixed_types)


class ArrowWriter:
    """Writes rows into an Arrow file.

    Args:
        schema: the Arrow schema of the rows; by default that of `features`, or of the first rows.
        features: the features of the columns.
        path: the file to write: a local path or an fsspec URL.
        stream: an open Arrow sink, instead of `path`.
        fingerprint: fingerprint of the rows, stored in the metadata.
        writer_batch_size: number of rows in a record batch; 1,000 by default.
        disable_nullable, update_features, on_mixed_types, with_metadata, unit, storage_options: as in `datasets`; types
            are inferred from the first batch unless given, and `with_metadata=False` omits the features from the file.
        embed_local_files: True to store the content of media files that rows refer to by path.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with ArrowWriter(path=f"{folder}/a.arrow") as writer:
    ...         writer.write({"a": 1})
    ...         writer.write_batch({"a": [2, 3]})
    ...         writer.finalize()[0], Dataset.from_file(f"{folder}/a.arrow")["a"][:]
    (3, [1, 2, 3])
    """

    def __init__(
        self,
        schema: pa.Schema | None = None,
        features: Features | None = None,
        path: str | None = None,
        stream: Any = None,
        fingerprint: str | None = None,
        writer_batch_size: int | None = None,
        disable_nullable: bool = False,
        update_features: bool = False,
        on_mixed_types: str | None = "use_json",
        with_metadata: bool = True,
        unit: str = "examples",
        embed_local_files: bool = False,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        if path is None and stream is None:
            raise ArgumentTypeError("ArrowWriter needs path= or stream=", advice="Pass the file to write")
        self._features = features if features is not None else None if schema is None else Features.from_arrow_schema(schema)
        self._path, self._with_metadata, self._embeds = path, with_metadata, embed_local_files
        self.writer_batch_size = writer_batch_size or 1000
        self._closes = stream is None
        self.stream = stream if stream is not None else _sink(str(path), storage_options)
        self.pa_writer: pa.RecordBatchStreamWriter | None = None
        self.current_examples: list[tuple[dict[str, Any], Any]] = []
        self._num_examples = self._num_bytes = 0

    def __len__(self) -> int:
        return self._num_examples + len(self.current_examples)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; unlike `finalize`, without writing buffered rows."""
        if self.pa_writer is not None:
            self.pa_writer.close()
            self.pa_writer = None
        if self._closes:
            self.stream.close()

    @property
    def schema(self) -> pa.Schema | None:
        """The schema of the file; None until it is known."""
        return None if self._features is None else self._features.arrow_schema

    def write(self, example: Mapping[str, Any], writer_batch_size: int | None = None) -> None:
        """Write a row."""
        self.current_examples.append((dict(example), None))
        if len(self.current_examples) >= (writer_batch_size or self.writer_batch_size):
            self.write_examples_on_file()

    def write_examples_on_file(self) -> None:
        """Write the buffered rows."""
        if self.current_examples:
            rows, self.current_examples = [row for row, _ in self.current_examples], []
            names = self._features if self._features is not None else dict.fromkeys(name for row in rows for name in row)
            self._write({name: [row.get(name) for row in rows] for name in names})

    def write_batch(
        self, batch_examples: Mapping[str, Any], writer_batch_size: int | None = None, try_original_type: bool | None = True
    ) -> None:
        """Write the rows of a dict of columns."""
        self.write_examples_on_file()
        if batch_examples and len(next(iter(batch_examples.values()))):
            self._write({name: list(values) for name, values in batch_examples.items()})

    def write_row(self, row: pa.Table, writer_batch_size: int | None = None) -> None:
        """Write the one row of a table."""
        self.write_table(row, writer_batch_size)

    def write_rows_on_file(self) -> None:
        """Write the buffered rows."""
        self.write_examples_on_file()

    def write_table(self, pa_table: Any, writer_batch_size: int | None = None) -> None:
        """Write the rows of an Arrow table."""
        self.write_examples_on_file()
        table = plain_table(pa_table)
        if self._features is None:
            self._features = Features.from_arrow_schema(table.schema)
        self._check_nulls(
            {name: len(table) - column.null_count for name, column in zip(table.schema.names, table.columns, strict=True)}
        )
        self._put(cast_table(table, self._features, fill_missing=False), writer_batch_size)

    def _write(self, columns: dict[str, list[Any]]) -> None:
        self._check_nulls({name: sum(value is not None for value in values) for name, values in columns.items()})
        made = Dataset.from_dict(columns, features=self._features, missing_columns="insert")
        self._features = made.features
        self._put(made._table.to_table(), None)

    def _check_nulls(self, num_values: Mapping[str, int]) -> None:
        for name, feature in (self._features or {}).items():
            if feature == Value("null") and num_values.get(name):
                before = f"the first {self._num_examples} values written for it were all None, so its type is null"
                raise ArgumentTypeError(
                    f"Column {name!r} cannot store a value: {before}", advice=f"Set the type of {name!r} with features="
                )

    def _put(self, table: pa.Table, writer_batch_size: int | None) -> None:
        assert self._features is not None
        if self._embeds:
            table = embed_table(table, self._features, remote_files=False)
        self._opened().write_table(table.cast(self._opened_schema()), writer_batch_size or self.writer_batch_size)
        self._num_examples += len(table)
        self._num_bytes += table.nbytes

    def _opened_schema(self) -> pa.Schema:
        assert self._features is not None
        schema = self._features.arrow_schema
        return schema if self._with_metadata else schema.remove_metadata()

    def _opened(self) -> pa.RecordBatchStreamWriter:
        if self.pa_writer is None:
            self.pa_writer = pa.RecordBatchStreamWriter(self.stream, self._opened_schema())
        return self.pa_writer

    def finalize(self, close_stream: bool = True) -> tuple[int, int]:
        """Write the buffered rows, and finish the file.

        Returns:
            The number of rows, and their size in bytes.

        Raises:
            SchemaInferenceError: no rows and no features were given.
        """
        self.write_examples_on_file()
        if self._features is None:
            self.close()
            raise SchemaInferenceError(
                f"{self._path or 'The stream'} has no rows and no features. Pass features=, or write a row."
            )
        self._opened().close()
        self.pa_writer = None
        if close_stream:
            self.stream.close()
        return self._num_examples, self._num_bytes


def _sink(path: str, storage_options: Mapping[str, Any] | None) -> Any:
    if files.is_url(path):
        system, inner = files.filesystem(path, dict(storage_options or {}))
        return system.open(inner, "wb")
    return pa.OSFile(path, "wb")


class BaseReader:
    """Reads files below a folder; a subclass defines `_get_table_from_filename`.

    Args:
        path: the folder.
        info: the info of the dataset.
    """

    _filetype_suffix: str | None = None

    def __init__(self, path: str, info: DatasetInfo | None) -> None:
        self._path, self._info = path, info

    def _get_table_from_filename(self, filename_skip_take: dict[str, Any], in_memory: bool = False) -> Any:
        raise NotImplementedError

    def get_file_instructions(self, name: str, instruction: Any, split_infos: Iterable[Any]) -> list[dict[str, Any]]:
        """Return the rows of files for an instruction; see `make_file_instructions`."""
        return make_file_instructions(name, split_infos, instruction, self._filetype_suffix, self._path).file_instructions

    def read(self, name: str, instructions: Any, split_infos: Iterable[Any], in_memory: bool = False) -> dict[str, Any]:
        """Return the arguments of `Dataset` for the rows of an instruction.

        Raises:
            ConfigurationError: there are no such rows.
        """
        listed = self.get_file_instructions(name, instructions, split_infos)
        if not listed:
            raise ConfigurationError(f"{str(instructions)!r} selects no rows", advice="Select some", value=instructions)
        return self.read_files(listed, instructions, in_memory)

    def read_files(
        self, files: Iterable[dict[str, Any]], original_instructions: Any = None, in_memory: bool = False
    ) -> dict[str, Any]:
        """Return the arguments of `Dataset` for the rows of `files`: dicts of `filename`, and of rows to `skip` and `take`."""
        listed = [{**file, "filename": os.path.join(self._path, file["filename"])} for file in files]
        if not listed:
            raise ArgumentTypeError("read_files needs files", advice="Pass one or more")
        parts = [plain_table(self._get_table_from_filename(file, in_memory=in_memory)) for file in listed]
        split = None if original_instructions is None else str(original_instructions)
        return {"arrow_table": pa.concat_tables(parts), "info": self._info, "split": split}


class ArrowReader(BaseReader):
    """Reads Arrow files below a folder; see `BaseReader`."""

    filetype_suffix: ClassVar[str] = "arrow"
    _filetype_suffix = "arrow"

    @staticmethod
    def read_table(filename: str, in_memory: bool = False) -> Table:
        """Return the table of a file, mapped or in memory."""
        return (InMemoryTable if in_memory else MemoryMappedTable).from_file(filename)

    def _get_table_from_filename(self, filename_skip_take: dict[str, Any], in_memory: bool = False) -> pa.Table:
        table = self.read_table(filename_skip_take["filename"], in_memory).table
        skip, take = filename_skip_take.get("skip") or 0, filename_skip_take.get("take")
        return table.slice(skip) if take in (None, -1) else table.slice(skip, take)


# Readers and writers of files.


class AbstractDatasetInputStream(ABC):
    """Reads rows from somewhere: `datasets.io.abc`.

    Args:
        features, cache_dir, keep_in_memory, streaming, num_proc: see `load_dataset`.
        kwargs: options of the format.
    """

    def __init__(
        self,
        features: Features | None = None,
        cache_dir: Any = None,
        keep_in_memory: bool = False,
        streaming: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> None:
        self.features, self.cache_dir, self.keep_in_memory = features, cache_dir, keep_in_memory
        self.streaming, self.num_proc, self.kwargs = streaming, num_proc, kwargs

    @abstractmethod
    def read(self) -> Any:
        """Return the rows."""


class AbstractDatasetReader(AbstractDatasetInputStream):
    """Reads rows from files: `datasets.io.abc`.

    Args:
        path_or_paths: the files of the split, or a dict of the files of each split, which are all read.
        split: the split; "train" by default.
        features, cache_dir, keep_in_memory, streaming, num_proc: see `load_dataset`.
        kwargs: options of the format.
    """

    def __init__(
        self,
        path_or_paths: Any = None,
        split: Any = None,
        features: Features | None = None,
        cache_dir: Any = None,
        keep_in_memory: bool = False,
        streaming: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(features, cache_dir, keep_in_memory, streaming, num_proc, **kwargs)
        self.path_or_paths = path_or_paths
        self.split = split or (None if isinstance(path_or_paths, dict) else "train")


def reader_of(kind: str) -> type[AbstractDatasetReader]:
    """Return the class that reads files of a format, such as `datasets.io.csv.CsvDatasetReader`."""

    class FormatReader(AbstractDatasetReader):
        @property
        def builder(self) -> Any:
            return load_dataset_builder(kind, **self._files(), **self._options("features", "cache_dir"))

        def read(self) -> Any:
            options = self._options("features", "cache_dir", "streaming", "num_proc", "keep_in_memory")
            return load_dataset(kind, split=None if self.split is None else str(self.split), **self._files(), **options)

        def _files(self) -> dict[str, Any]:
            files = self.path_or_paths if isinstance(self.path_or_paths, dict) else {self.split: self.path_or_paths}
            return {"data_files": {str(name): paths for name, paths in files.items()}}

        def _options(self, *names: str) -> dict[str, Any]:
            return {**{name: getattr(self, name) for name in names}, **self.kwargs}

    FormatReader.__name__ = FormatReader.__qualname__ = f"{kind.capitalize()}DatasetReader"
    FormatReader.__doc__ = f"Reads {kind} files; see `AbstractDatasetReader`."
    return FormatReader


CsvReader, JsonReader, ParquetReader, TextReader = map(reader_of, ("csv", "json", "parquet", "text"))


class SqlReader(AbstractDatasetInputStream):
    """Reads the result of a database query; see `Dataset.from_sql`."""

    def __init__(self, sql: Any, con: Any, features: Features | None = None, **kwargs: Any) -> None:
        super().__init__(features, **kwargs)
        self.sql, self.con = sql, con

    def read(self) -> Dataset:
        """Return the rows."""
        options = {"cache_dir": self.cache_dir, "keep_in_memory": self.keep_in_memory, **self.kwargs}
        return Dataset.from_sql(self.sql, self.con, self.features, **options)


class GeneratorStream(AbstractDatasetInputStream):
    """Reads the rows that a function yields; see `Dataset.from_generator`."""

    def __init__(self, generator: Callable[..., Any], features: Features | None = None, **kwargs: Any) -> None:
        super().__init__(features, **kwargs)
        self.generator = generator

    def read(self) -> Any:
        """Return the rows."""
        if self.streaming:
            return IterableDataset.from_generator(self.generator, self.features, **self.kwargs)
        options = {"cache_dir": self.cache_dir, "keep_in_memory": self.keep_in_memory, "num_proc": self.num_proc}
        return Dataset.from_generator(self.generator, self.features, **options, **self.kwargs)


class SparkReader(AbstractDatasetReader):
    """Reads a frame of Spark; see `Dataset.from_spark`."""

    def __init__(self, df: Any, split: Any = None, streaming: bool = True, **kwargs: Any) -> None:
        super().__init__(None, split, streaming=streaming, **kwargs)
        self.df = df

    def read(self) -> Any:
        """Return the rows."""
        if self.streaming:
            return IterableDataset.from_spark(self.df, split=self.split, features=self.features, **self.kwargs)
        options = {"cache_dir": self.cache_dir, "keep_in_memory": self.keep_in_memory, **self.kwargs}
        return Dataset.from_spark(self.df, split=self.split, features=self.features, **options)


def writer_of(kind: str) -> type[Any]:
    """Return the class that writes datasets by their method `to_…`, such as `datasets.io.csv.CsvDatasetWriter`."""

    class FormatWriter:
        def __init__(self, dataset: Dataset, *target: Any, num_proc: int | None = None, **kwargs: Any) -> None:
            if num_proc is not None and num_proc <= 0:
                raise ConfigurationError(f"Invalid num_proc={num_proc}", advice="Give 1 or more", value=num_proc)
            self.dataset, self.num_proc = dataset, num_proc
            self._target, self._options = target, kwargs if num_proc is None else {**kwargs, "num_proc": num_proc}

        def write(self) -> int:
            return int(getattr(self.dataset, f"to_{kind}")(*self._target, **self._options))

    FormatWriter.__name__ = FormatWriter.__qualname__ = f"{kind.capitalize()}DatasetWriter"
    FormatWriter.__doc__ = f"Writes {kind}; see `Dataset.to_{kind}`."
    return FormatWriter


CsvWriter, JsonWriter, ParquetWriter, SqlWriter = map(writer_of, ("csv", "json", "parquet", "sql"))


# Feature types.

_ROW = "value"


class _FeatureTypes(Mapping[str, Any]):
    """The feature types by name."""

    def __getitem__(self, name: str) -> Any:
        if name in KINDS or name in REGISTERED:
            return library_kind(name) if name in KINDS else REGISTERED[name]
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter([*KINDS, *REGISTERED])

    def __len__(self) -> int:
        return len(KINDS) + len(REGISTERED)


FEATURE_TYPES = _FeatureTypes()


def register_feature_type(feature_cls: type, feature_type: str) -> None:
    """Register a feature type under the name `feature_type`.

    Args:
        feature_cls: a subclass of `Feature` of this library, a dataclass with `pa_type`, or a class whose instances return
            their Arrow type when called without arguments, like the feature types of `datasets`.
        feature_type: the name.

    Raises:
        ConfigurationError: another feature type has that name.
    """
    if issubclass(feature_cls, Feature):
        kind: Any = feature_cls
        if vars(kind).get("_type") != feature_type:
            raise ConfigurationError(f"{kind.__name__} has _type = {vars(kind).get('_type')!r}. Set _type = {feature_type!r}.")
        register_feature(kind)
        return
    if not dataclasses.is_dataclass(feature_cls) or not {"pa_type", "__call__"} & {*dir(feature_cls)}:
        raise ConfigurationError(
            f"{feature_cls.__name__} is not a feature type. Make it a dataclass with pa_type, or one whose instances "
            "return it when called, or derive it from datasets_core.features.base.Feature."
        )
    adopted(feature_cls, feature_type)


def generate_from_dict(obj: Any) -> Any:
    """Return the feature, or the nested features, of a serialized form."""
    return feature_from_json(obj)


def generate_from_arrow_type(pa_type: pa.DataType) -> FeatureType:
    """Return the feature of an Arrow type."""
    return Features.from_arrow_schema(pa.schema({_ROW: pa_type}))[_ROW]


def get_nested_type(schema: FeatureType) -> pa.DataType:
    """Return the Arrow type that stores a feature, or nested features."""
    return feature_to_arrow(Features({_ROW: schema})[_ROW])


def encode_nested_example(schema: FeatureType, obj: Any, level: int = 0) -> Any:
    """Return the stored form of a value."""
    return Features({_ROW: schema}).encode_example({_ROW: obj})[_ROW]


def decode_nested_example(schema: FeatureType, obj: Any, token_per_repo_id: Any = None) -> Any:
    """Return the value that rows show for a stored value."""
    return Features({_ROW: schema}).decode_example({_ROW: obj})[_ROW]


def encode_image(image: Any) -> Any:
    """Return the stored form of a Pillow image, or of an array of pixels."""
    return Image().encode_example(image)


def check_non_null_non_empty_recursive(obj: Any, schema: Any = None) -> bool:
    """Return True if a value is not None, not an empty list, and not a list that begins with such a value."""
    if obj is None:
        return False
    if isinstance(obj, (list, tuple)):
        return bool(obj) and check_non_null_non_empty_recursive(obj[0])
    return True


def visit(feature: Any, func: Callable[[Any], Any]) -> Any:
    """Return the feature with every feature in it, the innermost first, replaced by what `func` returns unless that is None."""
    if isinstance(feature, dict):
        made: Any = type(feature)({name: visit(each, func) for name, each in feature.items()})
    elif isinstance(feature, (List, LargeList)):
        made = copy.copy(feature)
        object.__setattr__(made, "feature", visit(feature.feature, func))
    else:
        made = feature
    found = func(made)
    return made if found is None else found


def is_null_feature(feature: Any) -> bool:
    """Return True for `Value("null")`, and for lists of it."""
    return is_null_feature(feature.feature) if isinstance(feature, (List, LargeList)) else feature == Value("null")


def align_features(features_list: Sequence[Features]) -> list[Features]:
    """Return the features with the types that their columns have in any of them, where they are null in others.

    Raises:
        CastError: a column has different types.
    """
    joined = joined_features(features_list)
    return [Features({name: joined[name] for name in each}) for each in features_list]
