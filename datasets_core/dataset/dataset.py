"""`Dataset`: rows by number, over memory-mapped shards or a table in memory; its constructors, and its stream.

The methods are defined in the modules of its base classes, a module for each topic.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import pyarrow as pa

from datasets_core.config import settings
from datasets_core.dataset.insight.notebook import Overview
from datasets_core.dataset.insight.search import Queries, Search
from datasets_core.dataset.relational import Relational
from datasets_core.dataset.selection import Selection
from datasets_core.dataset.sources import FromFiles, FromFrames
from datasets_core.errors import ArgumentTypeError
from datasets_core.features.schema import Features
from datasets_core.io.export import Export, ForTensorflow
from datasets_core.io.push_parquet import Pushing
from datasets_core.io.save_to_disk import Disk
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import Split
from datasets_core.meta.version import Version
from datasets_core.store.rows.indices import agreed, as_features
from datasets_core.store.rows.rows import Identified, Rows
from datasets_core.store.source import paths_of_files
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.stream.iterable import IterableDataset


# Constructors from Python values, generators, buffers and Arrow files.


class Constructors(Rows):
    """Constructors of a dataset: from columns, rows, a generator, a file, a buffer."""

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        on_mixed_types: str | None = None,
        *,
        extra_columns: Literal["raise", "ignore"] = "raise",
        missing_columns: Literal["raise", "insert"] = "raise",
    ) -> Self:
        """Return a dataset of columns, in memory.

        Args:
            mapping: for each column a list, a numpy array (copied) or an Arrow array (shared: do not change its memory
                later).
            features: types of the columns; None infers them from the values.
            info: metadata of the dataset; its features are used if `features` is None.
            split: name of the split.
            on_mixed_types: "use_json" stores a column whose values share no type as JSON; None raises an error.
            extra_columns: "ignore" leaves out columns that the features lack; "raise" raises an error.
            missing_columns: "insert" adds a column of None for each that only the features have; "raise" raises an error.

        Raises:
            CastError: the columns have different lengths, values do not fit, or the columns differ from those of the
                features.

        Example:
            >>> Dataset.from_dict({"a": [1, None], "b": ["x", "y"]})[0]
            {'a': 1, 'b': 'x'}
        """
        from datasets_core.store.rows.create import columns_table  # here and below: 7 ms that reading does without

        info, features = agreed(info, features)
        table = columns_table(mapping, features, on_mixed_types, extra_columns=extra_columns, missing_columns=missing_columns)
        return cls(table, info=info, split=split)

    @classmethod
    def from_list(
        cls,
        mapping: Iterable[Mapping[str, Any]],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        on_mixed_types: str | None = None,
        *,
        extra_columns: Literal["raise", "ignore"] = "raise",
        missing_columns: Literal["raise", "insert"] = "raise",
    ) -> Self:
        """Return a dataset of rows, in memory. A key that a row lacks is None in it.

        Args:
            mapping: the rows, each a dict by column.
            features, info, split, on_mixed_types: see `from_dict`.
            extra_columns, missing_columns: see `from_dict`.

        Raises:
            CastError: values do not fit (the error names column and row), or the keys differ from those of the features.

        Example:
            >>> Dataset.from_list([{"a": 1}, {"a": 2, "b": "x"}])["b"][:]
            [None, 'x']
        """
        from datasets_core.store.rows.create import rows_table

        info, features = agreed(info, features)
        table = rows_table(mapping, features, on_mixed_types, extra_columns=extra_columns, missing_columns=missing_columns)
        return cls(table, info=info, split=split)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Mapping[str, Any]]],
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
        keep_in_memory: bool = False,
        gen_kwargs: Mapping[str, Any] | None = None,
        num_proc: int | None = None,
        split: str = Split.TRAIN,
        fingerprint: str | None = None,
        writer_batch_size: int | None = None,
        *,
        on_mixed_types: str | None = "use_json",
        version: str | Version | None = None,
        extra_columns: Literal["raise", "ignore"] = "raise",
        **options: Any,
    ) -> Self:
        """Return a dataset of the rows that a generator function yields, written to the cache in bounded memory.

        The same function with the same arguments is not run again: its code, its closure and `gen_kwargs` are its
        identity, unless `fingerprint` is given.

        Args:
            generator: returns an iterable of dicts, called with `gen_kwargs`.
            features: types of the columns; None: inferred from the values, widened while they are read.
            cache_dir: the cache; None: the setting.
            keep_in_memory: True to hold the rows in memory and write nothing.
            gen_kwargs: arguments of the generator.
            num_proc: worker processes; the lists among `gen_kwargs` are divided among them, in order.
            split: name of the split.
            fingerprint: the identity of the rows.
            writer_batch_size: ignored: batches are bounded by their bytes.
            on_mixed_types: "use_json" stores values of no common type, and dicts of different keys, as JSON; None raises an
                error.
            version: version of the dataset, for its info.
            extra_columns: "ignore" leaves out keys of rows that the features lack; "raise" is an error.
            options: not supported; any other argument raises an error.

        Raises:
            CastError: a value does not fit the others of its column, or its feature.
            DatasetGenerationError: the generator failed.
            ArgumentTypeError: an argument is unknown.

        Example:
            >>> def squares(below):
            ...     for number in range(below):
            ...         yield {"number": number, "square": number**2}
            >>> Dataset.from_generator(squares, gen_kwargs={"below": 4}, keep_in_memory=True)[3]
            {'number': 3, 'square': 9}
        """
        from datasets_core.dataset.sources import generated
        from datasets_core.store.rows.create import Recipe, check_columns, check_mixed, named_arguments

        kwargs = named_arguments(gen_kwargs)
        if options:
            raise ArgumentTypeError(
                f"from_generator() has no argument {next(iter(options))!r}",
                advice="Give the generator its own arguments in gen_kwargs",
            )
        check_mixed(on_mixed_types)
        check_columns(extra_columns)
        release = str(Version("0.0.0" if version is None else str(version)))
        made = generated(
            Recipe(generator, kwargs, as_features(features), str(split), on_mixed_types is not None, release, extra_columns),
            cache_dir=None if cache_dir is None else os.fspath(cache_dir),
            keep_in_memory=keep_in_memory,
            num_proc=num_proc,
            key=fingerprint,
        )
        dataset = cls(made.table, info=made.info, split=split, fingerprint=made.fingerprint)
        dataset._paths = paths_of_files(())  # the user's own rows, wherever they are kept
        return dataset

    @classmethod
    def from_file(
        cls,
        filename: str | os.PathLike[str],
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_filename: str | os.PathLike[str] | None = None,
        in_memory: bool = False,
    ) -> Self:
        """Return the rows of an Arrow file (file or stream format) or of a Parquet file, memory-mapped.

        Args:
            filename: path of the file.
            info: metadata of the dataset.
            split: name of the split.
            indices_filename: path of an Arrow file with the row numbers to select; None selects all rows.
            in_memory: True reads the file into memory instead.

        Raises:
            DamagedShardError: the file is truncated, damaged or of another format.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "a.parquet")
            ...     _ = Dataset.from_dict({"a": [1, 2]}).to_parquet(path)
            ...     Dataset.from_file(path)[1]
            {'a': 2}
        """
        table = RowTable.from_file(os.fspath(filename), in_memory=in_memory)
        index = None if indices_filename is None else RowTable.from_file(os.fspath(indices_filename)).to_table()
        dataset = cls(table, info=info, split=split, indices_table=index)
        dataset._paths = paths_of_files([os.fspath(filename)])
        return dataset

    @classmethod
    def from_buffer(
        cls,
        buffer: pa.Buffer | bytes,
        info: DatasetInfo | None = None,
        split: str | None = None,
        indices_buffer: pa.Buffer | bytes | None = None,
    ) -> Self:
        """Return the rows of an Arrow file or stream that is in memory.

        Args:
            buffer: the bytes of the file.
            info: metadata of the dataset.
            split: name of the split.
            indices_buffer: bytes of an Arrow file with the row numbers to select; None selects all rows.

        Raises:
            DamagedShardError: the bytes are truncated, damaged or of another format.

        Example:
            >>> sink, table = pa.BufferOutputStream(), pa.table({"a": [1, 2]})
            >>> with pa.ipc.new_stream(sink, table.schema) as writer:
            ...     writer.write_table(table)
            >>> Dataset.from_buffer(sink.getvalue())[1]
            {'a': 2}
        """
        from datasets_core.store.rows.create import buffer_table

        index = None if indices_buffer is None else buffer_table(indices_buffer)
        return cls(buffer_table(buffer), info=info, split=split, indices_table=index)


# A dataset as a stream of its rows.


class Streaming(Rows):
    """Conversion of a dataset to a stream."""

    def to_iterable_dataset(self, num_shards: int = 1) -> IterableDataset:
        """Return the rows as a stream, in their order and format; nothing is copied.

        Rows built from data files come in the order in which `load_dataset(..., streaming=True)` yields them, also shuffled
        or divided among readers, as long as they are a range of rows of their split.

        Args:
            num_shards: number of parts for the workers of a loader; 1 uses the files that the rows were
                built from, if known.  With another number these files do not affect the order.

        Raises:
            ConfigurationError: there are more shards than rows, or the format of the rows is a function.

        Example:
            >>> list(Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().take(2))
            [{'a': 1}, {'a': 2}]
        """
        from datasets_core.stream.iterable import IterableDataset  # 5 ms that rows by number do without

        return IterableDataset._of_rows(self, num_shards)


# Rows to and from other libraries for many machines; their code opens on use.


class Clusters(Rows):
    """Rows to and from frames of Ray, Dask, Spark and Daft, without a way through this process."""

    def to_ray(self, parts: int | None = None) -> Any:
        """Return the rows as a `ray.data.Dataset`, whose workers read the files of this dataset themselves.

        Rows in files are not copied by this process; rows in memory are sent with the plan.

        Args:
            parts: number of tasks that read; None makes parts of about 128 MB, and at least 16.

        Raises:
            MissingDependencyError: Ray is not installed.

        Example:
            >>> load_dataset("org/name", split="train").to_ray().map_batches(embed)  # doctest: +SKIP
        """
        from datasets_core.io.clusters import ray_dataset

        return ray_dataset(self, parts)

    def to_dask(self, parts: int | None = None) -> Any:
        """Return the rows as a `dask.dataframe.DataFrame`, whose workers read the files of this dataset themselves.

        Args:
            parts: number of partitions; None makes partitions of about 128 MB, and at least 16.

        Raises:
            MissingDependencyError: `dask[dataframe]` is not installed.

        Example:
            >>> load_dataset("org/name", split="train").to_dask().groupby("label").size().compute()  # doctest: +SKIP
        """
        from datasets_core.io.clusters import dask_frame

        return dask_frame(self, parts)

    def to_spark(self, parts: int | None = None, *, spark: Any = None) -> Any:
        """Return the rows as a Spark data frame, whose workers read the files of this dataset themselves, in their order.

        Unsigned integers and 16-bit floats get the next larger type, times the unit of a microsecond.

        Args:
            parts: number of partitions; None makes partitions of about 128 MB, and at least 16.
            spark: the session; None means that of the program.

        Raises:
            MissingDependencyError: Spark is not installed.
            CastError: Spark has no type for a column.

        Example:
            >>> load_dataset("org/name", split="train").to_spark().groupBy("label").count()  # doctest: +SKIP
        """
        from datasets_core.io.clusters import spark_frame

        return spark_frame(self, parts, spark)

    def to_daft(self, parts: int | None = None) -> Any:
        """Return the rows as a `daft.DataFrame`, whose workers read the files of this dataset themselves.

        Args:
            parts: number of tasks that read; None makes parts of about 128 MB, and at least 16.

        Raises:
            MissingDependencyError: Daft is not installed.

        Example:
            >>> load_dataset("org/name", split="train").to_daft().where("label = 1").count_rows()  # doctest: +SKIP
        """
        from datasets_core.io.clusters import daft_frame

        return daft_frame(self, parts)

    @classmethod
    def from_ray(
        cls,
        ds: Any,
        split: str | None = None,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Return the rows of a `ray.data.Dataset`, which its workers write, a file for each block, in the order of the blocks.

        Args:
            ds: the rows.
            split: name of the split; None means "train".
            features: types of the columns; None: those of the blocks, which must be equal.
            cache_dir: folder of the files, which workers and this process see; None means that of the settings.

        Raises:
            MissingDependencyError: Ray is not installed.
            CastError: a column does not fit its feature, or blocks have different types.
            ConfigurationError: a worker does not see the folder, or there are no rows and no features.

        Example:
            >>> Dataset.from_ray(ray.data.range(100), cache_dir="/shared/cache")  # doctest: +SKIP
        """
        from datasets_core.io.clusters import rows_of_ray

        return rows_of_ray(cls, ds, split, features, cache_dir)

    @classmethod
    def from_dask(
        cls,
        df: Any,
        split: str | None = None,
        features: Features | None = None,
        cache_dir: str | os.PathLike[str] | None = None,
    ) -> Self:
        """Return the rows of a `dask.dataframe.DataFrame`, which its workers write, a file for each partition.

        The index is left out; `df.reset_index()` makes it a column.

        Args:
            df: the frame.
            split, features, cache_dir: see `from_ray`.

        Raises:
            MissingDependencyError: `dask[dataframe]` is not installed.
            CastError: a column does not fit its feature, or partitions have different types.
            ConfigurationError: a worker does not see the folder, or there are no rows and no features.

        Example:
            >>> Dataset.from_dask(dask.dataframe.read_csv("*.csv"), cache_dir="/shared/cache")  # doctest: +SKIP
        """
        from datasets_core.io.clusters import rows_of_dask

        return rows_of_dask(cls, df, split, features, cache_dir)

    @classmethod
    def from_spark(
        cls,
        df: Any,
        split: str | None = None,
        features: Features | None = None,
        keep_in_memory: bool = False,
        cache_dir: str | os.PathLike[str] | None = None,
        working_dir: str | None = None,
        load_from_cache_file: bool = True,
        **kwargs: Any,
    ) -> Self:
        """Return the rows of a Spark frame, which its workers write, a file for each partition.

        Args:
            df: the frame.
            split: name of the split; None means "train".
            features: types of the columns; None: those of the frame.
            keep_in_memory: True collects the rows in this process, and writes no file.
            cache_dir: folder of the files, which workers and this process see; None means that of the settings.
            working_dir, load_from_cache_file: ignored: each call writes the rows, into `cache_dir`.
            kwargs: other options of Hugging Face `datasets`, which are refused.

        Raises:
            UnknownOptionError: another argument is given.
            MissingDependencyError: pyspark is not installed.
            CastError: a column does not fit its feature.
            ConfigurationError: there are no rows and no features.

        Example:
            >>> from pyspark.sql import SparkSession
            >>> spark = SparkSession.builder.master("local[1]").getOrCreate()
            >>> Dataset.from_spark(spark.createDataFrame([(1, "x"), (2, "y")], ["a", "b"]))[1]
            {'a': 2, 'b': 'y'}
            >>> spark.stop()
        """
        from datasets_core.io.clusters import check_spark_options, rows_of_spark

        check_spark_options(kwargs)
        return rows_of_spark(cls, df, split, features, cache_dir, keep_in_memory=keep_in_memory)


class Dataset(
    Constructors,
    Clusters,
    FromFrames,
    FromFiles,
    Selection,
    Disk,
    Export,
    Pushing,
    Overview,
    Queries,
    Search,
    Relational,
    ForTensorflow,
    Streaming,
    Identified,
):
    """A table of rows, read on access.

    `dataset[3]` is a row, `dataset[:10]`, `dataset[[5, 1]]` and `dataset[mask]` are columns of rows, `dataset["text"]` is a
    column; iteration gives rows.

    Args:
        arrow_table: the rows.
        info: metadata of the dataset; its features, if given, must fit the table.
        split: name of the split.
        indices_table: row numbers in its one column, if the dataset is a selection of the table's rows.
        fingerprint: the identity of the content, if known.

    Raises:
        CastError: the features do not fit the table, or two columns share a name.
        RowIndexError: a row number is beyond the table.

    Example:
        >>> Dataset(pa.table({"a": [1, 2, 3]}))[1]
        {'a': 2}
    """

    # Functions that other libraries take from inside `datasets`.

    def _get_cache_file_path(self, fingerprint: str) -> str:
        """Return the file for a result with this fingerprint: next to the rows, or in a temporary folder if they are in memory.

        >>> os.path.basename(Dataset.from_dict({"a": [1]})._get_cache_file_path("12ab"))
        'cache-12ab.arrow'
        """
        from datasets_core.dataset.results import home_of  # 5 ms that reading does without
        from datasets_core.store.atomic import temporary_folder

        home = home_of(self) if settings().caching else None
        return os.path.join(temporary_folder() if home is None else home, f"cache-{fingerprint}.arrow")

    @staticmethod
    def _build_local_temp_path(uri_or_path: str) -> Path:
        """Return a path below a temporary folder of this process that ends like the given path or URL."""
        from datasets_core.store.atomic import temporary_folder  # reading does without

        path = Path(uri_or_path)
        return Path(temporary_folder(), path.relative_to(path.anchor))
