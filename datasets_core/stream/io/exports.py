"""Methods `to_*` and `from_*` of streams: files, saved folders, SQL tables, written in bounded memory and resumable."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import partial
from typing import IO, TYPE_CHECKING, Any, Self, TypeAlias

from datasets_core._lazy import options_to
from datasets_core.engines import Engine, on_engine
from datasets_core.features.schema import Features
from datasets_core.io.split_mapping import Pushable
from datasets_core.meta.splits import NamedSplit, Split
from datasets_core.stream.iteration import Streamed
from datasets_core.stream.transforms import Transforming

if TYPE_CHECKING:
    from datasets_core.io.push_target import ShardLimits, Shards


def _written(
    self: Any,
    *,
    kind: str,
    path_or_buf: Any,
    batch_size: int | None,
    storage_options: dict[str, Any] | None,
    max_shard_size: int | str | None,
    num_shards: int | None,
    engine: str | Engine | None,
    **options: Any,
) -> Any:
    from datasets_core.stream.io import files  # 15 ms that reading does without

    request = files.WriteRequest(path_or_buf, batch_size, storage_options, max_shard_size, num_shards, options)
    with on_engine(engine):
        return getattr(files, f"write_{kind}")(self, request)


class StreamPushing(Transforming, Pushable):
    """A stream and the repository that it is pushed to."""

    @staticmethod
    def _pushed(
        splits: Mapping[str, Transforming], limits: Mapping[str, ShardLimits], *, embeds: bool
    ) -> tuple[Features, Shards, bool]:
        """Return the common features of the splits, their shards, and True (the number of shards is unknown).

        Args:
            splits: the rows by split.
            limits: limits of the shards of each split.
            embeds: True if files of media are stored in the rows.
        """
        from datasets_core.io.push_target import same_features
        from datasets_core.stream.io.push import StreamRows, shards_of_stream  # 6 ms that reading does without

        known = next((found for stream in splits.values() if (found := stream._plan.features) is not None), None)
        rows = {
            name: StreamRows.of(stream._plan, stream.epoch, name, embeds=embeds, features=known)
            for name, stream in splits.items()
        }
        features = same_features({name: each.features for name, each in rows.items()})
        return features, {name: shards_of_stream(each, limits[name]) for name, each in rows.items()}, True


class StreamExports(StreamPushing):
    """Methods of a stream that write it to files.

    Each method writes from the current position of the stream, into a hidden folder next to the target, `.<name>.writing`
    (for a URL, into the cache), with a journal of finished files.  The same call for the same rows resumes a write that a
    crash or an error interrupted, and produces the same bytes; for other rows or options it starts again.  The target
    appears when all rows are written.

    More than one file is written into a folder (`"out/"`) or to a path with a number (`"out/part-{index:05d}.parquet"`).
    """

    @options_to(partial(_written, kind="parquet"))
    def to_parquet(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        engine: str | Engine | None = None,
        **parquet_writer_kwargs: Any,
    ) -> int:
        """Write the rows as Parquet, with the features in the files.

        A single Parquet file cannot be appended to. Until it is finished, its rows are stored next to it in Arrow format.

        Args:
            path_or_buf: path, URL, folder, or a file that is open for writing bytes.
            batch_size: number of rows of a row group; None makes groups of about 32 MB.
            storage_options: options of the file system of a URL.
            max_shard_size: approximate size of the rows of a file, in bytes or such as "1GB"; for folders and numbered
                paths the default is the setting `max_shard_bytes`.
            num_shards: number of files, each with a contiguous range of rows, if the stream can be divided in advance.
            engine: what writes the files of `num_shards`; see `Dataset.map`.
            parquet_writer_kwargs: options of `pyarrow.parquet.ParquetWriter`.

        Returns:
            The size of the rows in Arrow's layout, in bytes.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden; existing files stay unchanged.
            CastError: Parquet does not support a type, or the type of a value differs from the first rows.
            ConfigurationError: the stream is endless, or the folder contains numbered files that another call wrote.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> IterableDataset.from_dict({"a": [1, 2]}).to_parquet(file)
            16
        """

    @options_to(partial(_written, kind="json"))
    def to_json(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        engine: str | Engine | None = None,
        **to_json_kwargs: Any,
    ) -> int:
        """Write the rows as JSON lines or, with `lines=False`, as a list of objects.

        Args:
            path_or_buf, storage_options, max_shard_size, num_shards, engine: see `to_parquet`; sizes are those of the text.
            batch_size: number of rows converted to text at a time.
            to_json_kwargs: see `Dataset.to_json`.

        Returns:
            The number of bytes written, before compression.

        Raises:
            MissingDependencyError: the options need pandas, which is not installed.
            DatasetDiskError: the disk is full, read-only or forbidden; existing files stay unchanged.
            CastError: the type of a value differs from the first rows.
            ConfigurationError: an option needs all rows at once; see also `to_parquet`.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> IterableDataset.from_dict({"a": [1, None]}).to_json(file), file.getvalue()
            (19, b'{"a":1}\\n{"a":null}\\n')
        """

    @options_to(partial(_written, kind="csv"))
    def to_csv(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        engine: str | Engine | None = None,
        **to_csv_kwargs: Any,
    ) -> int:
        """Write the rows as CSV.

        Args:
            path_or_buf, storage_options, max_shard_size, num_shards, engine: see `to_parquet`; sizes are those of the text.
            batch_size: number of rows converted to text at a time.
            to_csv_kwargs: see `Dataset.to_csv`.

        Returns:
            The number of bytes written.

        Raises:
            MissingDependencyError: the options or columns need pandas, which is not installed.
            DatasetDiskError: the disk is full, read-only or forbidden; existing files stay unchanged.
            CastError: the type of a value differs from the first rows.
            ConfigurationError: see `to_parquet`.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> IterableDataset.from_dict({"a": [1, 2]}).to_csv(file), file.getvalue()
            (6, b'a\\n1\\n2\\n')
        """

    @options_to(partial(_written, kind="tfrecord"))
    def to_tfrecord(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        compression: str | None = None,
        num_shards: int | None = None,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        engine: str | Engine | None = None,
    ) -> int:
        """Write the rows as TFRecord files of `tf.train.Example` messages.

        For the conversion of columns and the names of files see `Dataset.to_tfrecord`.

        Args:
            path_or_buf: path, URL, folder, or a file that is open for writing bytes.
            compression: "GZIP" or "ZLIB", "" for none; None uses the extension: `.gz` is gzip.
            num_shards: number of files, each with a contiguous range of rows, if the stream can be divided in advance.
            batch_size: number of rows read at a time.
            storage_options: options of the file system of a URL.
            max_shard_size: approximate size of a file, in bytes, before compression; for folders and numbered paths the
                default is the setting `max_shard_bytes`.
            engine: what writes the files of `num_shards`; see `Dataset.map`.

        Returns:
            The size of the framed records, in bytes, before compression.

        Raises:
            DatasetDiskError: the disk is full, read-only or forbidden; existing files stay unchanged.
            CastError: TFRecord files cannot store a column or a value; the error names column and row.
            ConfigurationError: see `to_parquet`.
            MediaError: a file that an image or another medium refers to cannot be read.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> IterableDataset.from_dict({"a": [1, 2]}).to_tfrecord(file), len(file.getvalue())
            (60, 60)
        """

    def to_tfds(
        self,
        folder: str | os.PathLike[str],
        *,
        split: str | None = None,
        name: str | None = None,
        version: str | None = None,
        max_shard_size: int | str | None = None,
    ) -> int:
        """Write the rows as a folder of TensorFlow Datasets; see `Dataset.to_tfds`.

        Args:
            folder: a new or empty local folder, for one version of the dataset.
            split: name of the split; None: that of the stream, else `train`.
            name, version, max_shard_size: see `Dataset.to_tfds`.

        Returns:
            The size of the records, in bytes.

        Raises:
            CellCastError: TensorFlow Datasets cannot store a column or a value.
            ConfigurationError: the folder is not empty, or the types of the columns are not known.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     rows = IterableDataset.from_dict({"a": [1, 2]})
            ...     _ = rows.to_tfds(f"{folder}/numbers/1.0.0")
            ...     sorted(os.listdir(f"{folder}/numbers/1.0.0"))
            ['dataset_info.json', 'features.json', 'numbers-train.tfrecord-00000-of-00001']
        """
        from datasets_core.io.tfds import write_split  # imported only when needed

        return write_split(self, split, folder, name=name, version=version, num_shards=None, max_shard_size=max_shard_size)

    def _tfds_rows(self) -> Any:
        from datasets_core.io.tfds import TfdsRows

        plain: Any = self
        return TfdsRows.of(plain, plain._plan.source.paths)

    def save_to_disk(
        self,
        dataset_path: str | os.PathLike[str],
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
    ) -> None:
        """Save the rows to a folder, which `load_from_disk` opens as a `Dataset`.

        Args:
            dataset_path: local folder or URL.
            max_shard_size: approximate bytes of the rows of a file; None: `max_shard_bytes` of the settings.
            num_shards: number of files, each with a contiguous range of rows, if the stream can be divided in advance.
            storage_options: options of the file system of a URL.
            engine: what writes the files of `num_shards`; see `Dataset.map`.

        Raises:
            CastError: a value is of a different type than those of the first rows.
            ConfigurationError: the stream is endless, or the folder holds a built dataset.
            DatasetDiskError: the disk is full, read-only or forbidden; existing files stay unchanged.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     IterableDataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
            ...     Dataset.load_from_disk(folder)["a"][:]
            [1, 2]
        """
        from datasets_core.stream.io.files import save_streams  # 15 ms that reading does without

        with on_engine(engine):
            save_streams({"": self}, dataset_path, max_shard_size, {"": num_shards}, storage_options, group=False)


# Constructors of streams from files and frames.


Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = "Path | Sequence[Path] | Mapping[str, Path | Sequence[Path]]"


def _stream_of(
    cls: Any, *, kind: str, path_or_paths: Paths, split: NamedSplit | str | None, keep_in_memory: bool, **options: Any
) -> Any:
    from datasets_core.io.tables import rows_of_files  # 10 ms that other streams do without

    name = None if split is None and isinstance(path_or_paths, Mapping) else str(split or Split.TRAIN)
    paths: Mapping[Any, Any] = path_or_paths if isinstance(path_or_paths, Mapping) else {name: path_or_paths}
    files = {key if key is None else str(key): value for key, value in paths.items()}
    return rows_of_files(kind, data_files=files, split=name, streaming=True, **options)


class StreamMaking(Streamed):
    """Constructors of a stream from files, which are read in place: nothing is built."""

    @classmethod
    @options_to(partial(_stream_of, kind="csv"))
    def from_csv(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Return a stream of the rows of csv files.

        Args:
            path_or_paths: paths, globs or URLs. A dict of these by split, without `split=`, gives an `IterableDatasetDict`.
            split: name of the split; None means "train".
            features: types of the columns; None: inferred from the values.
            keep_in_memory: ignored.
            kwargs: options of the format, such as `sep=`, and of `load_dataset`, such as `storage_options=`.

        Raises:
            DataFilesNotFoundError: a file does not exist.
            DatasetBuildError: (while reading) a file is not valid in its format.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.csv")
            ...     _ = path.write_text("a,b\\n1,x\\n")
            ...     list(IterableDataset.from_csv(path))
            [{'a': 1, 'b': 'x'}]
        """

    @classmethod
    @options_to(partial(_stream_of, kind="json"))
    def from_json(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        **kwargs: Any,
    ) -> Self:
        """Return a stream of the rows of JSON files: one object per line, a list of objects, or the list under one key of an
        object.

        Args:
            path_or_paths, split, features, keep_in_memory, kwargs: see `from_csv`.
            field: key of the object that contains the rows.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.json")
            ...     _ = path.write_text('{"rows": [{"a": 1}]}')
            ...     list(IterableDataset.from_json(path, field="rows"))
            [{'a': 1}]
        """

    @classmethod
    @options_to(partial(_stream_of, kind="parquet"))
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
        """Return a stream of the rows of Parquet files. Only the selected columns and row groups are read.

        Args:
            path_or_paths, split, features, keep_in_memory, kwargs: see `from_csv`.
            columns: the columns to read; None reads all.
            filters: an expression of `pyarrow.dataset`, or tuples such as `[("a", ">", 1)]`; only rows that match are
                returned.
            fragment_scan_options: a `pyarrow.dataset.ParquetFragmentScanOptions`.
            on_bad_files: "error", or "warn" or "skip" to leave out files that cannot be read.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "a.parquet")
            ...     _ = Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).to_parquet(path)
            ...     list(IterableDataset.from_parquet(path, columns=["b"]))
            [{'b': 3}, {'b': 4}]
        """

    @classmethod
    @options_to(partial(_stream_of, kind="text"))
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
        """Return a stream of the lines, paragraphs or whole documents of text files, in the column `text`.

        Args:
            path_or_paths, split, features, keep_in_memory, kwargs: see `from_csv`.
            keep_linebreaks: True keeps the line break at the end of each line.
            sample_by: what makes a row: "line", "paragraph" or "document".

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.txt")
            ...     _ = path.write_text("one\\ntwo\\n")
            ...     list(IterableDataset.from_text(path))
            [{'text': 'one'}, {'text': 'two'}]
        """

    @classmethod
    @options_to(partial(_stream_of, kind="tfrecord"))
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
        """Return a stream of the records of TFRecord files.

        Args:
            path_or_paths, split, keep_in_memory, kwargs: see `from_csv`.
            features: types of the columns; None infers them from the first records, or from `spec`.
            spec: the features of the messages as for `tf.io.parse_single_example`.
            columns: the columns to read; None reads all.

        Example:
            >>> import os, tempfile
            >>> from datasets_core.records import TFRecordWriter, encode_example
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "a.tfrecord")
            ...     with TFRecordWriter(path) as writer:
            ...         writer.write(encode_example({"label": 7, "image": b"..."}))
            ...     list(IterableDataset.from_tfrecord(path, columns=["label"]))
            [{'label': 7}]
        """

    def to_sql(self, name: str, con: Any, batch_size: int | None = None, **sql_writer_kwargs: Any) -> int:
        """Write the rows into a table of a database, in bounded memory.

        Args:
            name: name of the table.
            con: a connection of sqlite3 or SQLAlchemy, or the URI of a database (which needs SQLAlchemy).
            batch_size: number of rows written at a time.
            sql_writer_kwargs: options of `pandas.DataFrame.to_sql`; `index` defaults to False.

        Returns:
            The number of rows written.

        Raises:
            MissingDependencyError: pandas is not installed.
            ConfigurationError: the table exists and `if_exists` is neither "append" nor "replace"; the database refuses a
                statement; or the stream is endless.
            CastError: a nested column has values that JSON cannot store, such as bytes, or the type of a value differs from
                its column.

        Example:
            >>> import sqlite3
            >>> connection = sqlite3.connect(":memory:")
            >>> IterableDataset.from_dict({"a": [1, 2]}).to_sql("numbers", connection)
            2
            >>> connection.close()
        """
        from datasets_core.stream.io.files import write_stream_sql  # 10 ms that reading does without

        return write_stream_sql(self, name, con, batch_size, sql_writer_kwargs)
