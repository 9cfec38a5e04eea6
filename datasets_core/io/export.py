"""`Export`: the methods `to_*` of a dataset, for Python values, data frames, files and TensorFlow."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, TYPE_CHECKING, Any, TypeAlias

import numpy as np
import pyarrow as pa

from datasets_core.engines import Engine, on_engine
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownColumnError
from datasets_core.features.formats.formats import check_format
from datasets_core.io.split_mapping import Looked
from datasets_core.optional import needed
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.rows.indices import as_int, checked_batch_size, names_of
from datasets_core.store.rows.rows import Rows

if TYPE_CHECKING:
    import os

    import narwhals as nw
    import pandas as pd
    import polars as pl

    from datasets_core.io.tables import Table

    Target: TypeAlias = str | os.PathLike[str] | IO[bytes]


class Frames(Looked):
    """Conversion of the rows of a dataset or a stream to Python values and data frames."""

    def _frames(self, type: str | None, batch_size: int | None, batched: bool, **options: Any) -> Any:
        """Return the rows as columns in a format, at once or in batches."""
        raise NotImplementedError

    def to_dict(
        self, batch_size: int | None = None, batched: bool = False
    ) -> dict[str, list[Any]] | Iterator[dict[str, list[Any]]]:
        """Return the rows as columns of Python values, at once or (`batched`) in batches.

        Args:
            batch_size: number of rows of a batch.
            batched: True returns an iterator of batches instead of all rows at once.

        Example:
            >>> Dataset.from_dict({"a": [1, 2]}).to_dict()
            {'a': [1, 2]}
        """
        found: dict[str, list[Any]] | Iterator[dict[str, list[Any]]] = self._frames(None, batch_size, batched)
        return found

    def to_list(self) -> list[dict[str, Any]]:
        """Return the rows as a list of dicts.

        Example:
            >>> Dataset.from_dict({"a": [1, 2]}).to_list()
            [{'a': 1}, {'a': 2}]
        """
        rows: Any = self
        return list(rows.with_format(None))

    def to_pandas(self, batch_size: int | None = None, batched: bool = False) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """Return the rows as a pandas frame, at once or (`batched`) in frames of `batch_size` rows.

        Args:
            batch_size: number of rows of a frame.
            batched: True returns an iterator of frames instead of one with all rows.

        Raises:
            MissingDependencyError: pandas is not installed.

        Example:
            >>> Dataset.from_dict({"a": [1, 2]}).to_pandas().shape
            (2, 1)
        """
        return self._frames("pandas", batch_size, batched)

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: dict[str, Any] | None = None,
        rechunk: bool = True,
        *,
        lazy: bool = False,
    ) -> pl.DataFrame | pl.LazyFrame | Iterator[pl.DataFrame]:
        """Return the rows as a polars frame, at once or (`batched`) in frames of `batch_size` rows; columns are not copied.

        A lazy frame reads nothing until it is collected, then only the columns and the first rows that the query needs, batch
        by batch.  Rows with an index (of `select`, `shuffle` or `sort`) are gathered by their numbers, batch by batch.

        Args:
            batch_size: number of rows in a frame.
            batched: True to return an iterator of frames.
            schema_overrides: polars types of columns, for `polars.from_arrow`.
            rechunk: True to make each column contiguous, for `polars.from_arrow`.
            lazy: True to return a `polars.LazyFrame`; not for streams.

        Raises:
            ConfigurationError: `lazy` for a stream, or with `batched`.
            MissingDependencyError: polars is not installed.

        Example:
            >>> Dataset.from_dict({"a": [1, 2]}).to_polars()["a"].sum()
            3
        """
        options = {"schema_overrides": schema_overrides, "rechunk": rechunk}
        if not lazy:
            return self._frames("polars", batch_size, batched, **options)
        if batched:
            raise ConfigurationError("to_polars() got both lazy=True and batched=True", advice="Give one of them")
        return self._lazy_polars(options)

    def _lazy_polars(self, options: Mapping[str, Any]) -> pl.LazyFrame:
        raise ConfigurationError("A stream has no lazy frame", advice="Write it first, or use to_polars(batched=True)")


class Export(Rows, Frames):
    """Export of rows.  Files appear when they are complete; the batch size limits the memory used."""

    @property
    def data(self) -> Table:
        """The Arrow table with all rows of the dataset in stored order, before selection; its `table` is a `pyarrow.Table`.

        >>> Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]).data.column("a").to_pylist()
        [1, 2, 3]
        """
        from datasets_core.io.tables import data_table

        return data_table(self._described(self._table.to_table()), self._table)

    @property
    def _data(self) -> Table:
        return self.data

    @property
    def _indices(self) -> Table | None:
        """The numbers of the rows in `data`, as a table of one column; None for all rows in stored order."""
        from datasets_core.io.tables import InMemoryTable

        return None if self._index is None else InMemoryTable.from_pydict({"indices": pa.array(self._index).cast(pa.uint64())})

    def _frames(self, type: str | None, batch_size: int | None, batched: bool, **options: Any) -> Any:
        from datasets_core.io import tables

        if type is None:
            plain = self.with_format(None)
            size = 1000 if batch_size is None else batch_size
            return plain.iter(size) if batched else dict(plain._batch(range(self.num_rows)))
        if type == "pandas":
            return tables.pandas_frames(self, batch_size) if batched else tables.pandas_frame(self)
        return tables.polars_frames(self, batch_size, options) if batched else tables.polars_frame(self, options)

    def to_narwhals(
        self, batch_size: int | None = None, batched: bool = False, backend: str = "pyarrow"
    ) -> nw.DataFrame[Any] | Iterator[nw.DataFrame[Any]]:
        """Return the rows as a frame of narwhals, at once or (`batched`) in frames of `batch_size` rows.

        Args:
            batch_size: number of rows in a frame.
            batched: True to return an iterator of frames.
            backend: the table type that narwhals wraps, such as `"polars"`, or `"pyarrow"`, which does not copy columns.

        Raises:
            MissingDependencyError: narwhals, or the backend, is not installed.

        Example:
            >>> Dataset.from_dict({"a": [1, 2]}).to_narwhals()["a"].sum()
            3
        """
        shown = self.with_format("narwhals", backend=backend)
        frames: Any = shown.iter(1000 if batch_size is None else batch_size) if batched else shown[:]
        return frames  # type: ignore[no-any-return]

    def __narwhals_dataframe__(self) -> Any:
        """Return the frame that `narwhals.from_native(dataset)` wraps, so libraries that use narwhals take datasets."""
        frame: Any = self.with_format(None).to_narwhals()
        return frame._compliant_frame

    def to_hf(self) -> Any:
        """Return the rows as a `datasets.Dataset` of Hugging Face, with selection, features, split and format.

        Columns are not copied. Its worker processes map the files of rows that are in Arrow files.

        Raises:
            MissingDependencyError: the package `datasets` is not installed.
            ConfigurationError: `import datasets` loads this library in this process.

        Example:
            >>> Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]).to_hf()[0]
            {'a': 3}
        """
        from datasets_core.io.tables import hugging_face_table

        hf = needed("datasets", "A dataset of Hugging Face", "datasets")
        if type(hf).__name__ == "AliasModule":
            raise ConfigurationError(
                "In this process `import datasets` loads datasets_core, so to_hf() has no class for the result",
                advice="Omit to_hf()",
            )
        described = self._described(self._table.to_table())
        features = hf.Features.from_dict(self._features.to_dict())
        texts: dict[str, Any] = {
            name: getattr(self._info, name) or "" for name in ("description", "citation", "homepage", "license")
        }
        made = hf.Dataset(
            hugging_face_table(hf, described, self._table, features),
            info=hf.DatasetInfo(features=features, **texts),
            split=None if self._split is None else hf.NamedSplit(str(self._split)),
            indices_table=None if self._index is None else hf.table.InMemoryTable(self._indices.table),  # type: ignore[union-attr]
            fingerprint=Hasher.hash(("datasets_core", self._fingerprint)),
        )
        how = self.format
        if how["type"] is not None or how["columns"] != self.column_names:
            made.set_format(how["type"], how["columns"], how["output_all_columns"], **how["format_kwargs"])
        return made

    def _lazy_polars(self, options: Mapping[str, Any]) -> pl.LazyFrame:
        from datasets_core.io.clusters import lazy_polars

        return lazy_polars(self, options)

    def to_csv(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
        **to_csv_kwargs: Any,
    ) -> int:
        """Write the rows as CSV.

        Args:
            path_or_buf: path, URL, or a file opened in binary mode.
            batch_size: number of rows converted to text at a time.
            num_proc: number of processes.
            storage_options: options of the file system of a URL.
            engine: what converts the batches, which this process writes; see `Dataset.map`.
            to_csv_kwargs: options of `pandas.DataFrame.to_csv`; `index` defaults to False.

        Returns:
            The number of bytes written.

        Raises:
            MissingDependencyError: the options or types of columns need pandas, which is not installed.
            DatasetDiskError: the disk is full, read-only or forbidden; an existing file stays unchanged.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> Dataset.from_dict({"a": [1, 2], "b": ["x", None]}).to_csv(file), file.getvalue()
            (11, b'a,b\\n1,x\\n2,\\n')
        """
        from datasets_core.io.text import write_csv

        with on_engine(engine, num_proc=num_proc):
            return write_csv(self, path_or_buf, batch_size, num_proc, storage_options, to_csv_kwargs)

    def to_json(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
        **to_json_kwargs: Any,
    ) -> int:
        """Write the rows as JSON lines, or in another form of JSON.

        Args:
            path_or_buf: path, URL, or a file opened in binary mode.
            batch_size: number of rows converted to text at a time; with `lines=False` it must cover all rows.
            num_proc: number of processes.
            storage_options: options of the file system of a URL.
            engine: what converts the batches, which this process writes; see `Dataset.map`.
            to_json_kwargs: options of `pandas.DataFrame.to_json`; `orient` defaults to "records" and `lines` to True.
                All options except these two, `force_ascii` and `compression` need pandas, and so does any other `orient`.
                `compression` may be "gzip", "bz2", "xz", "infer" or None; the default follows the extension of the path.

        Returns:
            The number of bytes written, before compression.

        Raises:
            MissingDependencyError: the options need pandas, which is not installed.
            CastError: a value has bytes that are not UTF-8 text.
            DatasetDiskError: the disk is full, read-only or forbidden; an existing file stays unchanged.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> Dataset.from_dict({"a": [1, None]}).to_json(file), file.getvalue()
            (19, b'{"a":1}\\n{"a":null}\\n')
        """
        from datasets_core.io.text import write_json

        with on_engine(engine, num_proc=num_proc):
            return write_json(self, path_or_buf, batch_size, num_proc, storage_options, to_json_kwargs)

    def to_parquet(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
        **parquet_writer_kwargs: Any,
    ) -> int:
        """Write the rows as Parquet, with the features in the file.

        Args:
            path_or_buf: path, URL, or a file opened in binary mode.
            batch_size: number of rows in a row group; None makes groups of about 64 MB.
            storage_options: options of the file system of a URL.
            engine: what gathers the rows, which this process writes; see `Dataset.map`.
            parquet_writer_kwargs: options of `pyarrow.parquet.ParquetWriter`, such as `compression="zstd"`. By default
                pages are cut by content (`use_content_defined_chunking=True`, which the footer records) and indexed
                (`write_page_index=True`).

        Returns:
            The size of the rows in Arrow's layout, in bytes.

        Raises:
            CastError: Parquet does not support the type of a column.
            DatasetDiskError: the disk is full, read-only or forbidden; an existing file stays unchanged.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> Dataset.from_dict({"a": [1, 2]}).to_parquet(file)
            16
        """
        from datasets_core.io.tables import write_parquet  # takes 12 ms, with pyarrow.parquet

        with on_engine(engine):
            return write_parquet(self, path_or_buf, batch_size, storage_options, parquet_writer_kwargs)

    def to_tfrecord(
        self,
        path_or_buf: Target,
        compression: str | None = None,
        num_shards: int | None = None,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
    ) -> int:
        """Write the rows as TFRecord files of `tf.train.Example` messages.

        Each column becomes a feature of its name.  Integers, booleans and labels are an `int64_list`; so are timestamps,
        dates, times and durations, as the numbers that Arrow stores.  Floats are a `float_list`: TFRecord files store float32,
        and the log reports rounded columns.  Texts (as UTF-8) and bytes are a `bytes_list`, and so are images,
        audio clips and other media, by the bytes of their files.  Lists and arrays are flattened, the fields of a dict become
        features named `column/field`, and nulls have no feature.  If a column holds lists of lists of any size, the
        records are `SequenceExample`s: such a column is a feature list, with a step for each inner list, and the other columns
        are the context.  `load_dataset("tfrecord", data_files=..., features=ds.features)` reads the same rows again.

        Args:
            path_or_buf: path, URL, or a file opened in binary mode; in a folder the file is `data.tfrecord`.
            compression: "GZIP" or "ZLIB", "" for none; None uses the extension: `.gz` is gzip.
            num_shards: number of files, in runs of equal length: `<path>-00000-of-00003` and so on.  Local files appear when
                all of them are written.
            batch_size: number of rows converted to messages at a time; None means some megabytes of rows.
            num_proc: number of processes.
            storage_options: options of the file system of a URL.
            engine: what makes the records, which this process writes; see `Dataset.map`.

        Returns:
            The size of the framed records, in bytes, before compression.

        Raises:
            CastError: TFRecord files cannot store a column (decimals, lists of lists of lists) or a value (out of range for
                int64 or float32, None in a list); the error names column and row.
            ConfigurationError: files of a different number of shards exist there; or an option is invalid.
            MediaError: a file that an image or another medium refers to cannot be read.
            DatasetDiskError: the disk is full, read-only or forbidden; existing files stay unchanged.

        Example:
            >>> import io
            >>> file = io.BytesIO()
            >>> Dataset.from_dict({"a": [1, 2]}).to_tfrecord(file), len(file.getvalue())
            (60, 60)
        """
        from datasets_core.io.tfrecord import write_tfrecord  # imported only when needed

        with on_engine(engine, num_proc=num_proc):
            return write_tfrecord(self, path_or_buf, compression, num_shards, batch_size, num_proc, storage_options)

    def to_tfds(
        self,
        folder: str | os.PathLike[str],
        *,
        split: str | None = None,
        name: str | None = None,
        version: str | None = None,
        num_shards: int | None = None,
        max_shard_size: int | str | None = None,
    ) -> int:
        """Write the rows as a folder of TensorFlow Datasets, which `tfds.builder_from_directory` opens.

        The folder has TFRecord files, `features.json`, `dataset_info.json` with the metadata of the dataset, and the names of
        classes.  Rows keep their order, and their ids are `<name>-<split>.tfrecord-00000-of-00001__0` and so on.  `float64` is
        stored exactly, as tensors encoded as bytes; a list of dicts is a dict of lists when it is read, as always in
        TensorFlow Datasets.

        Args:
            folder: a new or empty local folder: that of one version.
            split: name of the split; None: that of the dataset, else `train`.
            name: name of the dataset; None: that in its metadata, else the name of the folder.
            version: `1.0.0` and similar; None: that in its metadata, else `1.0.0`.
            num_shards: number of files.
            max_shard_size: approximate size of a file, in bytes or as `"500MB"`; None: the setting `max_shard_bytes`.

        Returns:
            The size of the records, in bytes.

        Raises:
            CellCastError: TensorFlow Datasets cannot store a column or a value, such as None or a timestamp.
            ConfigurationError: the folder is not empty, or an option is invalid.
            DatasetDiskError: the disk is full, read-only or forbidden.

        Example:
            >>> import tempfile
            >>> from datasets_core import tfds
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     _ = Dataset.from_dict({"a": [3, 1, 2]}).to_tfds(f"{folder}/numbers/1.0.0")
            ...     builder = tfds.builder_from_directory(f"{folder}/numbers/1.0.0")
            ...     [row["a"] for row in builder.as_dataset("train")]
            [3, 1, 2]
        """
        from datasets_core.io.tfds import write_split  # imported only when needed

        size = max_shard_size
        return write_split(self, split, folder, name=name, version=version, num_shards=num_shards, max_shard_size=size)

    def _tfds_rows(self) -> Any:
        from datasets_core.io.push_parquet import PushedRows
        from datasets_core.io.tfds import TfdsRows

        return TfdsRows.of(self, PushedRows.of(self, "train", embeds=False).paths, self.num_rows)

    def to_sql(
        self, name: str, con: Any, batch_size: int | None = None, num_proc: int | None = None, **sql_writer_kwargs: Any
    ) -> int:
        """Write the rows into a table of a database. Lists and structs are written as JSON text.

        Args:
            name: name of the table.
            con: a connection of sqlite3 or SQLAlchemy, or the URI of a database (which needs SQLAlchemy).
            batch_size: number of rows written at a time.
            num_proc: ignored: one connection writes all rows.
            sql_writer_kwargs: options of `pandas.DataFrame.to_sql`; `index` defaults to False.

        Returns:
            The number of rows written.

        Raises:
            MissingDependencyError: pandas is not installed.
            ConfigurationError: the table exists, unless `if_exists="append"` or `"replace"` is given; or the database fails.
            ArgumentTypeError: `con` is not a connection or URI.
            CastError: a nested column has values that JSON cannot store, such as bytes.

        Example:
            >>> import sqlite3
            >>> connection = sqlite3.connect(":memory:")
            >>> Dataset.from_dict({"a": [1, 2]}).to_sql("numbers", connection)
            2
            >>> connection.close()
        """
        from datasets_core.io.tables import write_sql

        return write_sql(self, name, con, batch_size, sql_writer_kwargs)


# A dataset as a `tf.data.Dataset`: batches of row numbers, each read in the numpy format.


_LABELS = ("label", "labels", "label_ids")  # columns that a collate function may need though they were not requested


class ForTensorflow(Rows):
    """Export to TensorFlow."""

    def to_tf_dataset(
        self,
        batch_size: int | None = None,
        columns: str | Sequence[str] | None = None,
        shuffle: bool = False,
        collate_fn: Callable[..., Mapping[str, Any]] | None = None,
        drop_remainder: bool = False,
        collate_fn_args: Mapping[str, Any] | None = None,
        label_cols: str | Sequence[str] | None = None,
        prefetch: bool = True,
        num_workers: int = 0,
        num_test_batches: int = 20,
    ) -> Any:
        """Return the rows as a `tf.data.Dataset`.

        Args:
            batch_size: number of rows in a batch; None returns single rows.
            columns: the input columns: one becomes a tensor, several become a dict of tensors.  None: all columns.
            shuffle: True to shuffle the rows again in each epoch.
            collate_fn: makes a batch (a dict of arrays or tensors) from a list of rows (dicts of numpy values).
            drop_remainder: True to drop the last batch if it is shorter.
            collate_fn_args: keyword arguments for `collate_fn`.
            label_cols: the label columns, the second element of each pair.
            prefetch: True to prefetch batches.
            num_workers: number of batches read in parallel.
            num_test_batches: number of batches read to infer types and shapes.

        Raises:
            MissingDependencyError: tensorflow is not installed.
            UnknownColumnError: a column neither exists nor is returned by `collate_fn`.
            CastError: the rows of a column cannot be stacked, such as lists of different lengths.

        Example:
            >>> dataset = Dataset(pa.table({"a": [1, 2]}))
            >>> for batch in dataset.to_tf_dataset(batch_size=2, columns="a"):
            ...     print(batch.shape)
            (2,)
        """
        check_format("tensorflow", {})
        size = None if batch_size is None else checked_batch_size(batch_size)
        inputs, labels = names_of(columns or ()), names_of(label_cols or ())
        if labels and not inputs:
            raise ConfigurationError("label_cols= requires columns=", advice="Pass the input columns as well")
        if as_int("num_workers", num_workers) < 0 or as_int("num_test_batches", num_test_batches) < 1:
            raise ConfigurationError("num_workers must be at least 0, and num_test_batches at least 1.")
        wanted = list(dict.fromkeys([*inputs, *labels]))
        if collate_fn is None:
            self._check_columns(wanted)
        extra = _LABELS if collate_fn is not None else ()
        read = [name for name in self.column_names if not wanted or name in wanted or name in extra]
        source = self.with_format("numpy", columns=read)
        collate_args = dict(collate_fn_args or {})

        def batch_of(rows: Any) -> dict[str, Any]:
            if collate_fn is None:
                return {name: _stacked(name, values) for name, values in source[rows].items()}
            made = collate_fn(list(source.__getitems__(rows)), **collate_args)
            if not isinstance(made, Mapping):
                raise ArgumentTypeError(f"collate_fn returned {type(made).__name__}, not a dict. Return a dict of arrays.")
            return {name: _stacked(name, np.asarray(values)) for name, values in made.items()}

        tests = _test_batches(batch_of, self.num_rows, size or 1, num_test_batches)
        unknown = [name for name in wanted if name not in tests[0]]
        if unknown:
            raise UnknownColumnError(unknown[0], known=tests[0])
        kept = {name: [batch[name] for batch in tests] for name in tests[0] if not wanted or name in wanted}
        return _pipeline(
            batch_of,
            kept,
            num_rows=self.num_rows,
            size=size,
            is_shuffled=shuffle,
            is_cut=drop_remainder,
            reads_ahead=prefetch,
            num_workers=num_workers,
            inputs=inputs,
            labels=labels,
        )


def _stacked(name: str, values: Any) -> Any:
    """Return an array for TensorFlow: of numbers, or of strings as objects."""
    if values.dtype.kind in "US":
        return values.astype(object)
    if values.dtype == object and not all(isinstance(value, (str, bytes)) for value in values.reshape(-1)):
        raise CastError(f"The rows of column {name!r} cannot be stacked. Exclude it with columns=, or pass a collate_fn.")
    if values.dtype.kind in "Mm":
        raise CastError(f"Column {name!r} has times, which TensorFlow does not support", advice="Exclude it with columns=")
    return values


def _test_batches(batch_of: Callable[[Any], dict[str, Any]], num_rows: int, size: int, count: int) -> list[dict[str, Any]]:
    """Return some batches, evenly spread over the rows."""
    if not num_rows:
        raise CastError("The types of the tensors cannot be inferred without rows", advice="Use a dataset with rows")
    starts = np.unique(np.linspace(0, max(0, num_rows - size), min(count, -(-num_rows // size)), dtype=np.int64))
    return [batch_of(list(range(start, min(start + size, num_rows)))) for start in starts.tolist()]


def _pipeline(
    batch_of: Callable[[Any], dict[str, Any]],
    tests: dict[str, list[Any]],
    *,
    num_rows: int,
    size: int | None,
    is_shuffled: bool,
    is_cut: bool,
    reads_ahead: bool,
    num_workers: int,
    inputs: list[str],
    labels: list[str],
) -> Any:
    import tensorflow as tf

    dtypes = {name: np.result_type(*(array.dtype for array in arrays)) for name, arrays in tests.items()}
    types = [tf.string if dtype.kind == "O" else tf.as_dtype(dtype) for dtype in dtypes.values()]
    shapes = [_common_shape(arrays) for arrays in tests.values()]

    def fetch(rows: Any) -> list[Any]:
        batch = batch_of(np.atleast_1d(rows))
        made = [batch[name].astype(dtypes[name]) for name in tests]
        return made if size is not None else [values[0] for values in made]

    def tensors(rows: Any) -> Any:
        found = tf.numpy_function(fetch, [rows], types)
        for tensor, shape in zip(found, shapes, strict=True):
            tensor.set_shape(shape if size is None else [size if is_cut else None, *shape])
        return _sorted_out(dict(zip(tests, found, strict=True)), inputs, labels)

    rows = tf.data.Dataset.range(num_rows)
    rows = rows.shuffle(num_rows) if is_shuffled else rows
    rows = rows if size is None else rows.batch(size, drop_remainder=is_cut)
    made = rows.map(tensors, num_parallel_calls=num_workers or None)
    return made.prefetch(tf.data.AUTOTUNE) if reads_ahead else made


def _common_shape(arrays: list[Any]) -> list[int | None]:
    """Return the shape of a row, with None for sizes that differ."""
    shapes = {array.shape[1:] for array in arrays}
    if len({len(shape) for shape in shapes}) > 1:
        raise CastError(f"The batches have different dimensions: {sorted(shapes)}. Return the same dimensions from collate_fn.")
    return [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*shapes, strict=True)]


def _sorted_out(batch: dict[str, Any], inputs: list[str], labels: list[str]) -> Any:
    if not inputs:
        return batch
    first, second = ({name: batch[name] for name in names} for names in (inputs, labels))
    features = first if len(first) > 1 else next(iter(first.values()))
    if not labels:
        return features
    return features, second if len(second) > 1 else next(iter(second.values()))
