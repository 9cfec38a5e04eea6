"""The rows as what other tools hold: Python values, frames, files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from datasets_core.rows.tabled import Tabled

if TYPE_CHECKING:
    import os

    import pandas as pd
    import polars as pl

    Target: TypeAlias = str | os.PathLike[str] | IO[bytes]


class Export(Tabled):
    """Rows handed over.  Files appear when they are whole; memory is bounded by the batch."""

    def to_dict(
        self, batch_size: int | None = None, batched: bool = False
    ) -> dict[str, list[Any]] | Iterator[dict[str, list[Any]]]:
        """The rows as columns of Python values, at once or (`batched`) in batches.

        >>> Dataset.from_dict({"a": [1, 2]}).to_dict()
        {'a': [1, 2]}
        """
        plain = self.with_format(None)
        if not batched:
            return dict(plain._batch(range(self.num_rows)))
        return plain.iter(1000 if batch_size is None else batch_size)

    def to_list(self) -> list[dict[str, Any]]:
        """The rows as a list of dicts.

        >>> Dataset.from_dict({"a": [1, 2]}).to_list()
        [{'a': 1}, {'a': 2}]
        """
        return list(self.with_format(None))

    def to_pandas(self, batch_size: int | None = None, batched: bool = False) -> pd.DataFrame | Iterator[pd.DataFrame]:
        """The rows as a pandas frame, at once or (`batched`) in frames of `batch_size` rows.

        Raises:
            MissingDependencyError: pandas is not installed.

        >>> Dataset.from_dict({"a": [1, 2]}).to_pandas().shape
        (2, 1)
        """
        from datasets_core.exchange.frames_out import (  # what reads frames is loaded where it is used
            pandas_frame,
            pandas_frames,
        )

        return pandas_frames(self, batch_size) if batched else pandas_frame(self)

    def to_polars(
        self,
        batch_size: int | None = None,
        batched: bool = False,
        schema_overrides: dict[str, Any] | None = None,
        rechunk: bool = True,
    ) -> pl.DataFrame | Iterator[pl.DataFrame]:
        """The rows as a polars frame, at once or (`batched`) in frames of `batch_size` rows; columns are not copied.

        Args:
            batch_size: rows of a frame.
            batched: give several frames.
            schema_overrides: polars types of columns, for `polars.from_arrow`.
            rechunk: have each column in one piece, for `polars.from_arrow`.

        Raises:
            MissingDependencyError: polars is not installed.

        >>> Dataset.from_dict({"a": [1, 2]}).to_polars()["a"].sum()
        3
        """
        from datasets_core.exchange.frames_out import polars_frame, polars_frames

        options = {"schema_overrides": schema_overrides, "rechunk": rechunk}
        return polars_frames(self, batch_size, options) if batched else polars_frame(self, options)

    def to_csv(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **to_csv_kwargs: Any,
    ) -> int:
        """Write the rows as csv: the number of bytes.

        Args:
            path_or_buf: path, URL, or a file that is open for bytes.
            batch_size: rows that are turned into text at once.
            num_proc: processes that do so.
            storage_options: for the file system of a URL.
            to_csv_kwargs: for `pandas.DataFrame.to_csv`; `index` is False unless given.

        Raises:
            MissingDependencyError: the options or types of columns need pandas, which is not installed.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> Dataset.from_dict({"a": [1, 2], "b": ["x", None]}).to_csv(file), file.getvalue()
        (11, b'a,b\\n1,x\\n2,\\n')
        """
        from datasets_core.exchange.text_files import write_csv

        return write_csv(self, path_or_buf, batch_size, num_proc, storage_options, to_csv_kwargs)

    def to_json(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **to_json_kwargs: Any,
    ) -> int:
        """Write the rows as JSON lines, or as another form of JSON: the number of bytes.

        Args:
            path_or_buf: path, URL, or a file that is open for bytes.
            batch_size: rows that are turned into text at once; with `lines=False` all of them must fit.
            num_proc: processes that do so.
            storage_options: for the file system of a URL.
            to_json_kwargs: as of `pandas.DataFrame.to_json`; `orient` is "records" and `lines` True unless given. Options
                other than these two, `force_ascii` and `compression` need pandas, as does another `orient`.
                `compression` may be "gzip", "bz2", "xz", "infer" or None; a path's ending decides unless given.

        Raises:
            MissingDependencyError: the options need pandas, which is not installed.
            CastError: bytes that are no UTF-8 text.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> Dataset.from_dict({"a": [1, None]}).to_json(file), file.getvalue()
        (19, b'{"a":1}\\n{"a":null}\\n')
        """
        from datasets_core.exchange.text_files import write_json

        return write_json(self, path_or_buf, batch_size, num_proc, storage_options, to_json_kwargs)

    def to_parquet(
        self,
        path_or_buf: Target,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        **parquet_writer_kwargs: Any,
    ) -> int:
        """Write the rows as Parquet, with the features in the file: the number of bytes of the rows in Arrow's layout.

        Args:
            path_or_buf: path, URL, or a file that is open for bytes.
            batch_size: rows of a row group; None makes groups of 64 MB, about.
            storage_options: for the file system of a URL.
            parquet_writer_kwargs: for `pyarrow.parquet.ParquetWriter`, such as `compression="zstd"` or
                `use_content_defined_chunking=True`.

        Raises:
            CastError: Parquet has no such type.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> Dataset.from_dict({"a": [1, 2]}).to_parquet(file)
        16
        """
        from datasets_core.exchange.parquet_file import write_parquet  # 12 ms with pyarrow.parquet

        return write_parquet(self, path_or_buf, batch_size, storage_options, parquet_writer_kwargs)

    def to_tfrecord(
        self,
        path_or_buf: Target,
        compression: str | None = None,
        num_shards: int | None = None,
        batch_size: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> int:
        """Write the rows as TFRecord files of `tf.train.Example`s: the bytes of the records with their frames.

        Each column becomes a feature of its name.  Whole numbers, booleans and labels are an `int64_list`; so are moments,
        days, times and durations, as the numbers that Arrow stores.  Floats are a `float_list`: TFRecord files hold float32,
        and that a column was rounded is said in the log.  Texts (as UTF-8) and bytes are a `bytes_list`, and so are images,
        sounds and other media, by the bytes of their files.  Lists and arrays are flattened, the fields of a dict become
        features named `column/field`, and of a null there is no feature.  Where a column holds lists of lists of any size, the
        records are `SequenceExample`s: such a column is a feature list, with a step for each inner list, and the other columns
        are the context.  `load_dataset("tfrecord", data_files=..., features=ds.features)` reads the same rows again.

        Args:
            path_or_buf: path, URL, or a file that is open for bytes; in a folder it is `data.tfrecord`.
            compression: "GZIP" or "ZLIB", "" for none; None goes by the path: `.gz` is gzip.
            num_shards: how many files the rows go into, in runs of equal length: `<path>-00000-of-00003` and so on.  Local ones
                are there when all of them are written.
            batch_size: rows that are turned into messages at once; None: as many as take some megabytes.
            num_proc: processes that do so.
            storage_options: for the file system of a URL.

        Raises:
            CastError: TFRecord files have no form of a column (decimals, lists of lists of lists), or of a value (beyond int64
                or float32, None in a list); names column and row.
            ConfigurationError: shards of another number stand there; options that mean nothing.
            MediaError: a file that a medium names cannot be read.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> Dataset.from_dict({"a": [1, 2]}).to_tfrecord(file), len(file.getvalue())
        (60, 60)
        """
        from datasets_core.exchange.tfrecord_files import write_tfrecord  # what makes records is loaded where it is used

        return write_tfrecord(self, path_or_buf, compression, num_shards, batch_size, num_proc, storage_options)

    def to_sql(
        self, name: str, con: Any, batch_size: int | None = None, num_proc: int | None = None, **sql_writer_kwargs: Any
    ) -> int:
        """Write the rows into a table of a database: the number of rows.  Lists and structs are written as JSON text.

        Args:
            name: the table.
            con: a connection of sqlite3 or SQLAlchemy, or the URI of a database (which takes SQLAlchemy).
            batch_size: rows that are written at once.
            num_proc: has no effect: one connection writes one row after the other.
            sql_writer_kwargs: for `pandas.DataFrame.to_sql`; `index` is False unless given.

        Raises:
            MissingDependencyError: pandas is not installed.
            ConfigurationError: the table exists, unless `if_exists="append"` or `"replace"` is given; or the database refuses.
            ArgumentTypeError: `con` is no database.
            CastError: a nested column holds what JSON cannot, such as bytes.

        >>> import sqlite3
        >>> connection = sqlite3.connect(":memory:")
        >>> Dataset.from_dict({"a": [1, 2]}).to_sql("numbers", connection)
        2
        >>> connection.close()
        """
        from datasets_core.exchange.frames_out import write_sql

        return write_sql(self, name, con, batch_size, sql_writer_kwargs)
