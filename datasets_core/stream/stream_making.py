"""Streams made of files and frames: by `load`, which stands above and is looked up when it is called."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Self, TypeAlias

from datasets_core._lazy import later
from datasets_core.features.schema import Features
from datasets_core.meta.split import NamedSplit, Split
from datasets_core.stream.streamed import Streamed

Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = "Path | Sequence[Path] | Mapping[str, Path | Sequence[Path]]"


class StreamMaking(Streamed):
    """What a stream is made of: files of a format, which are read where they are, and nothing is built."""

    @classmethod
    def from_csv(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> Self:
        """The rows of csv files.

        Args:
            path_or_paths: paths, globs or URLs; by split, where no split is given, they become an `IterableDatasetDict`.
            split: the split that the rows are of; "train" if None.
            features: what the columns are to be; None: what the values say.
            keep_in_memory: has no effect.
            kwargs: options of the format, such as `sep=`, and of `load_dataset`, such as `storage_options=`.

        Raises:
            DataFilesNotFoundError: no such file.
            DatasetBuildError: while reading: a file is not what its format promises.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.csv")
        ...     _ = path.write_text("a,b\\n1,x\\n")
        ...     list(IterableDataset.from_csv(path))
        [{'a': 1, 'b': 'x'}]
        """
        return cls._streamed("csv", path_or_paths, split, features, kwargs)

    @classmethod
    def from_json(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """The rows of JSON files: lines, lists of objects, or (`field`) what stands at a key of one object; see `from_csv`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.json")
        ...     _ = path.write_text('{"rows": [{"a": 1}]}')
        ...     list(IterableDataset.from_json(path, field="rows"))
        [{'a': 1}]
        """
        return cls._streamed("json", path_or_paths, split, features, {**kwargs, **({} if field is None else {"field": field})})

    @classmethod
    def from_parquet(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: str = "error",
        **kwargs: Any,
    ) -> Self:
        """The rows of Parquet files; of the others than `columns` and `filters` say nothing is read; see `from_csv`.

        Args:
            path_or_paths, split, features, keep_in_memory, kwargs: see `from_csv`.
            columns: the columns that are read.
            filters: which rows are meant: an expression of `pyarrow.dataset`, or tuples such as `[("a", ">", 1)]`.
            fragment_scan_options: see `pyarrow.dataset.ParquetFragmentScanOptions`.
            on_bad_files: "error", "warn" or "skip".

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.parquet")
        ...     _ = Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).to_parquet(path)
        ...     list(IterableDataset.from_parquet(path, columns=["b"]))
        [{'b': 3}, {'b': 4}]
        """
        given = {
            "columns": columns,
            "filters": filters,
            "fragment_scan_options": fragment_scan_options,
            "on_bad_files": None if on_bad_files == "error" else on_bad_files,
        }
        options = {**kwargs, **{name: value for name, value in given.items() if value is not None}}
        return cls._streamed("parquet", path_or_paths, split, features, options)

    @classmethod
    def from_text(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        keep_linebreaks: bool = False,
        sample_by: str = "line",
        **kwargs: Any,
    ) -> Self:
        """The lines of text files; by `sample_by` their paragraphs, or whole documents; see `from_csv`.

        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.txt")
        ...     _ = path.write_text("one\\ntwo\\n")
        ...     list(IterableDataset.from_text(path))
        [{'text': 'one'}, {'text': 'two'}]
        """
        options = {**kwargs, "keep_linebreaks": keep_linebreaks, "sample_by": sample_by}
        return cls._streamed("text", path_or_paths, split, features, options)

    @classmethod
    def from_tfrecord(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        spec: Mapping[str, Any] | None = None,
        columns: list[str] | None = None,
        **kwargs: Any,
    ) -> Self:
        """The records of TFRecord files, by `spec` or `features` if one is given; see `from_csv`.

        >>> import os, tempfile
        >>> from datasets_core.records import TFRecordWriter, encode_example
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.tfrecord")
        ...     with TFRecordWriter(path) as writer:
        ...         writer.write(encode_example({"label": 7, "image": b"..."}))
        ...     list(IterableDataset.from_tfrecord(path, columns=["label"]))
        [{'label': 7}]
        """
        given = {"spec": spec, "columns": columns}
        options = {**kwargs, **{name: value for name, value in given.items() if value is not None}}
        return cls._streamed("tfrecord", path_or_paths, split, features, options)

    @classmethod
    def from_file(cls, filename: Path) -> Self:
        """The rows of an Arrow file (file or stream format) or of a Parquet file, mapped.

        Raises:
            DamagedShardError: the file is cut, damaged or of another kind.

        >>> import os, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "a.parquet")
        ...     _ = Dataset.from_dict({"a": [1, 2]}).to_parquet(path)
        ...     list(IterableDataset.from_file(path))
        [{'a': 1}, {'a': 2}]
        """
        dataset = later("datasets_core.dataset.dataset", "Dataset")
        stream: Self = dataset.from_file(filename).to_iterable_dataset()
        return stream

    @classmethod
    def from_spark(
        cls, df: Any, split: NamedSplit | str | None = None, features: Features | None = None, **kwargs: Any
    ) -> Self:
        """The rows of a Spark frame, collected by the driver as Arrow data.

        Args:
            df: the frame.
            split: the split that the rows are of; "train" if None.
            features: what the columns are to be; None: what the frame says.
            kwargs: those of `Dataset.from_spark`, which have no effect.

        Raises:
            MissingDependencyError: pyspark is not installed.
            CastError: a column that does not fit its feature.
        """
        dataset = later("datasets_core.dataset.dataset", "Dataset")
        stream: Self = dataset.from_spark(df, split, features, **kwargs).to_iterable_dataset()
        return stream

    def to_sql(self, name: str, con: Any, batch_size: int | None = None, **sql_writer_kwargs: Any) -> int:
        """Write the rows into a table of a database, in bounded memory: the number of rows; see `Dataset.to_sql`.

        Args:
            name: the table.
            con: a connection of sqlite3 or SQLAlchemy, or the URI of a database (which takes SQLAlchemy).
            batch_size: rows that are written at once.
            sql_writer_kwargs: for `pandas.DataFrame.to_sql`; `index` is False unless given.

        Raises:
            MissingDependencyError: pandas is not installed.
            ConfigurationError: the table exists, unless `if_exists="append"` or `"replace"` is given; or the database refuses;
                or the rows have no end.
            CastError: a nested column holds what JSON cannot, such as bytes; or a value is of another type than its column.

        >>> import sqlite3
        >>> connection = sqlite3.connect(":memory:")
        >>> IterableDataset.from_dict({"a": [1, 2]}).to_sql("numbers", connection)
        2
        >>> connection.close()
        """
        write = later("datasets_core.exchange.stream_sql", "write_stream_sql")
        written: int = write(self, name, con, batch_size, sql_writer_kwargs)
        return written

    @classmethod
    def _streamed(
        cls, kind: str, paths: Paths, split: NamedSplit | str | None, features: Features | None, options: Mapping[str, Any]
    ) -> Self:
        name = None if split is None and isinstance(paths, Mapping) else str(split or Split.TRAIN)
        files = {str(key): value for key, value in paths.items()} if isinstance(paths, Mapping) else {name: paths}
        load_dataset = later("datasets_core.load", "load_dataset")
        stream: Self = load_dataset(kind, data_files=files, split=name, features=features, streaming=True, **options)
        return stream
