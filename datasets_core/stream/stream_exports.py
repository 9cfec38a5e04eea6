"""Streams written to files, in bounded memory: what was written before a crash is not read again."""

from __future__ import annotations

import os
from typing import IO, Any

from datasets_core._lazy import later
from datasets_core.stream.stream_pushing import StreamPushing

_FILES = "datasets_core.exchange.stream_files"


class StreamExports(StreamPushing):
    """A stream and the files that it is written to.

    Each method writes row after row, from where the stream stands, into a hidden folder beside the target, `.<name>.writing`
    (for a URL, into the cache), with a journal of what is finished.  A write that was cut short, by a crash or an error, goes
    on there when the same call is made again for the same rows, and ends with the same bytes; for other rows or options it
    begins anew.  The target is there when all is written.

    More than one file is written into a folder (`"out/"`) or to a path with a number (`"out/part-{index:05d}.parquet"`).
    """

    def to_parquet(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        **parquet_writer_kwargs: Any,
    ) -> int:
        """Write the rows as Parquet, with the features in the files: the bytes of the rows in Arrow's layout.

        A single file cannot be gone on with itself: until it is finished its rows stand beside it, as Arrow.

        Args:
            path_or_buf: path, URL, folder, or a file that is open for bytes, which is written through.
            batch_size: rows of a row group; None makes groups of about 32 MB.
            storage_options: for the file system of a URL.
            max_shard_size: bytes of rows of a file, about; for folders and numbered paths `max_shard_bytes` of the settings.
            num_shards: number of files, each a run of the rows; where these can be cut unseen.
            parquet_writer_kwargs: for `pyarrow.parquet.ParquetWriter`.

        Raises:
            CastError: Parquet has no such type, or a value is of another type than those of the first rows.
            ConfigurationError: the rows have no end; numbered files of another write stand there.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> IterableDataset.from_dict({"a": [1, 2]}).to_parquet(file)
        16
        """
        return self._written(
            "write_parquet", path_or_buf, batch_size, storage_options, max_shard_size, num_shards, parquet_writer_kwargs
        )

    def to_json(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        **to_json_kwargs: Any,
    ) -> int:
        """Write the rows as JSON lines, or as a list of records (`lines=False`): the number of bytes of the text.

        Args:
            path_or_buf: path, URL, folder, or a file that is open for bytes, which is written through.
            batch_size: rows that are turned into text at once.
            storage_options: for the file system of a URL.
            max_shard_size, num_shards: see `to_parquet`; of text.
            to_json_kwargs: see `Dataset.to_json`.

        Raises:
            MissingDependencyError: the options need pandas, which is not installed.
            CastError: a value is of another type than those of the first rows.
            ConfigurationError: options that need all rows at once; as for `to_parquet`.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> IterableDataset.from_dict({"a": [1, None]}).to_json(file), file.getvalue()
        (19, b'{"a":1}\\n{"a":null}\\n')
        """
        return self._written("write_json", path_or_buf, batch_size, storage_options, max_shard_size, num_shards, to_json_kwargs)

    def to_csv(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        **to_csv_kwargs: Any,
    ) -> int:
        """Write the rows as csv: the number of bytes of the text.

        Args:
            path_or_buf: path, URL, folder, or a file that is open for bytes, which is written through.
            batch_size: rows that are turned into text at once.
            storage_options: for the file system of a URL.
            max_shard_size, num_shards: see `to_parquet`; of text.
            to_csv_kwargs: see `Dataset.to_csv`.

        Raises:
            MissingDependencyError: the options or columns need pandas, which is not installed.
            CastError: a value is of another type than those of the first rows.
            ConfigurationError: as for `to_parquet`.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> IterableDataset.from_dict({"a": [1, 2]}).to_csv(file), file.getvalue()
        (6, b'a\\n1\\n2\\n')
        """
        return self._written("write_csv", path_or_buf, batch_size, storage_options, max_shard_size, num_shards, to_csv_kwargs)

    def to_tfrecord(
        self,
        path_or_buf: str | os.PathLike[str] | IO[bytes],
        compression: str | None = None,
        num_shards: int | None = None,
        batch_size: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        max_shard_size: int | str | None = None,
    ) -> int:
        """Write the rows as TFRecord files of `tf.train.Example`s: the bytes of the records with their frames.

        What becomes of columns, and how files are named, is as for `Dataset.to_tfrecord`.

        Args:
            path_or_buf: path, URL, folder, or a file that is open for bytes, which is written through.
            compression: "GZIP" or "ZLIB", "" for none; None goes by the path: `.gz` is gzip.
            num_shards: number of files, each a run of the rows; where these can be cut unseen.
            batch_size: rows that are read at once.
            storage_options: for the file system of a URL.
            max_shard_size: bytes of a file, about, before it is compressed; for folders and numbered paths
                `max_shard_bytes` of the settings.

        Raises:
            CastError: TFRecord files have no form of a column or a value; names column and row.
            ConfigurationError: as for `to_parquet`.
            MediaError: a file that a medium names cannot be read.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import io
        >>> file = io.BytesIO()
        >>> IterableDataset.from_dict({"a": [1, 2]}).to_tfrecord(file), len(file.getvalue())
        (60, 60)
        """
        options = {"compression": compression}
        return self._written("write_tfrecord", path_or_buf, batch_size, storage_options, max_shard_size, num_shards, options)

    def save_to_disk(
        self,
        dataset_path: str | os.PathLike[str],
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> None:
        """Save the rows to a folder, which `load_from_disk` opens as a `Dataset`.

        Args:
            dataset_path: local folder or URL.
            max_shard_size: bytes of rows of a file, about; None: `max_shard_bytes` of the settings.
            num_shards: number of files, each a run of the rows; where these can be cut unseen.
            storage_options: for the file system of a URL.

        Raises:
            CastError: a value is of another type than those of the first rows.
            ConfigurationError: the rows have no end; a built dataset stands there.
            DatasetDiskError: the disk is full, read-only or forbidden; what was there stands.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     IterableDataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
        ...     Dataset.load_from_disk(folder)["a"][:]
        [1, 2]
        """
        save = later("datasets_core.exchange.stream_saving", "save_streams")
        save({"": self}, dataset_path, max_shard_size, {"": num_shards}, storage_options, group=False)

    def _written(self, form: str, *request: Any) -> int:
        written: int = later(_FILES, form)(self, later(_FILES, "WriteRequest")(*request))
        return written
