"""`IterableDataset`: rows in a computed order, with an exact state after each; `IterableColumn`."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.cast import cast_table
from datasets_core.features.formats.formats import TABULAR, RowFormat, check_format
from datasets_core.features.media.media import MediaPaths
from datasets_core.features.schema import Features
from datasets_core.io.export import Frames
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import NamedSplit, Split
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.rows.indices import at_least, at_least_one, listed_ids
from datasets_core.store.rows.rows import Rows
from datasets_core.store.table import RowTable
from datasets_core.stream.io.exports import Path, StreamExports, StreamMaking
from datasets_core.stream.nodes.block import BlockFormatter, Kinds, encoded, of_dicts
from datasets_core.stream.order.shuffle import LANES
from datasets_core.stream.plan import Plan
from datasets_core.stream.steps import Limit, Repeat, Shuffle

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl

    from datasets_core.stream.costs import Explanation


# `IterableColumn`: the values of one column of a stream, one after the other.


class IterableColumn:
    """The values of one column, or of one field within it; each iteration reads the stream again.

    Args:
        source: rows, or the values of a column of structs.
        column_name: name of the column or field.

    Example:
        >>> list(IterableColumn([{"a": {"b": 1}}, {"a": {"b": 2}}], "a")["b"])
        [1, 2]
    """

    def __init__(self, source: Iterable[Any], column_name: str) -> None:
        self.source, self.column_name = source, column_name

    def __iter__(self) -> Iterator[Any]:
        for row in self.source:
            yield row[self.column_name]

    def __getitem__(self, column_name: str) -> IterableColumn:
        return IterableColumn(self, column_name)


_RESOLVING_ROWS = 5  # as many as `datasets` reads


class IterableDataset(StreamExports, StreamMaking, Frames):
    """A stream of rows.

    It is made by `Dataset.to_iterable_dataset`, or by `from_generator`, `from_dict` and similar constructors.  Iteration
    yields rows; `state_dict` saves the position, and `load_state_dict` resumes exactly there, also inside batches, after
    `filter` and within `shuffle`.  In torch's `DataLoader` the workers share the rows.

    Args:
        plan: source of the rows, and steps.
        info: metadata of the dataset.
        split: name of the split.
        format: format of the rows.

    Example:
        >>> stream = IterableDataset.from_dict({"a": [1, 2, 3]})
        >>> list(stream.skip(1).map(lambda row: {"a": row["a"] * 10}))
        [{'a': 20}, {'a': 30}]
    """

    def __init__(
        self,
        plan: Plan,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        format: RowFormat | None = None,
    ) -> None:
        self._plan = plan
        self._info = DatasetInfo() if info is None else info.copy()
        self._info.features = plan.features
        self._split = NamedSplit(split) if isinstance(split, str) and not isinstance(split, NamedSplit) else split
        self._format = format or RowFormat()
        self._epoch, self._is_begun = 0, False
        self._loaded = self._cursor = self._signature = None

    @property
    def _formatting(self) -> SimpleNamespace | None:
        """The output format for other libraries: its name is `format_type`; None for plain Python."""
        return None if self._format.type is None else SimpleNamespace(format_type=self._format.type)

    def _resolve_features(self) -> Self:
        """Return the stream with known features; its first rows are read if the features are not known otherwise."""
        features = self._known_features()
        if features is None:
            rows = list(self.with_format(None).take(_RESOLVING_ROWS))
            names = dict.fromkeys(name for row in rows for name in row)
            features = type(self).from_list([{**names, **row} for row in rows]).features if rows else None
        other = copy.copy(self)
        other._info = self._info.copy()
        other._info.features = features
        return other

    def __repr__(self) -> str:
        names = "Unknown" if self._info.features is None else list(self._info.features)
        return f"IterableDataset({{\n    features: {names},\n    num_shards: {self.num_shards}\n}})"

    def __getitem__(self, column_name: str) -> IterableColumn:
        """Return one column, as an iterable of its values.

        >>> list(IterableDataset.from_dict({"a": [1, 2]})["a"])
        [1, 2]
        """
        if not isinstance(column_name, str):
            raise ArgumentTypeError(
                f"A stream does not support access by row number ({column_name!r})", advice="Use skip() and take()"
            )
        return IterableColumn(self, column_name)

    # -- order ---------------------------------------------------------------------------------------------------------

    def take(self, n: int) -> Self:
        """Return a stream of the first `n` rows.

        Args:
            n: number of rows.

        Example:
            >>> list(IterableDataset.from_dict({"a": [1, 2, 3]}).take(2))
            [{'a': 1}, {'a': 2}]
        """
        return self._then(Limit(at_least("n", n, 0)))

    def skip(self, n: int) -> Self:
        """Return the stream without the first `n` rows. They are not read, unless a function needs them.

        Args:
            n: number of rows to leave out.

        Example:
            >>> list(IterableDataset.from_dict({"a": [1, 2, 3]}).skip(2))
            [{'a': 3}]
        """
        return self._then(Limit(at_least("n", n, 0), is_skip=True))

    def repeat(self, num_times: int | None) -> Self:
        """Return the stream repeated a number of times, or endlessly.

        Args:
            num_times: number of repetitions; None repeats without end.

        Example:
            >>> list(IterableDataset.from_dict({"a": [1, 2]}).repeat(None).take(3))
            [{'a': 1}, {'a': 2}, {'a': 1}]
        """
        return self._then(Repeat(None if num_times is None else max(0, at_least("num_times", num_times, -(2**62)))))

    def shuffle(
        self,
        seed: int | None = None,
        generator: np.random.Generator | None = None,
        buffer_size: int = 1000,
        max_buffer_input_shards: int = 10,
        *,
        window_bytes: int | None = None,
        reshuffle_each_iteration: bool = False,
    ) -> Self:
        """Return the rows in a random order that depends only on the seed and the epoch: see `set_epoch`.

        The order is computed, so no row waits in a buffer, and saved states are small.  If rows lie in blocks that can be
        read separately, such as row groups of Parquet and record batches of Arrow files, the blocks are permuted, and rows mix
        in windows of 16 blocks, or of the blocks of `buffer_size` rows if those are more, limited by the setting
        `stream_window_bytes` of decoded data; the first windows are smaller.  In other files rows mix in windows of
        `buffer_size` rows, and the files are permuted.  The same holds after a function that may drop rows, where blocks
        are permuted as files are.  For rows in memory, each window of `buffer_size` rows mixes rows from 64 places.

        Args:
            seed: seed of the order; None takes one from the global state of `np.random`.
            generator: source of the seed, if `seed` is None.
            buffer_size: rows of a window.
            max_buffer_input_shards: ignored: windows mix all shards.
            window_bytes: decoded bytes of a window of blocks, regardless of `buffer_size`.
            reshuffle_each_iteration: True makes each further iteration, and each round of a `repeat`, the next epoch, with
                another order; else the order stays the same until `set_epoch` is called.  In a `DataLoader` that starts new
                workers for each epoch, call `set_epoch` before each epoch.

        Raises:
            ConfigurationError: a window has no rows or no bytes, or the seed is negative.

        Example:
            >>> stream = IterableDataset.from_dict({"a": range(8)}).shuffle(seed=42)
            >>> sorted(stream["a"]) == list(range(8)), list(stream) == list(stream)
            (True, True)
        """
        most = settings().stream_window_bytes if window_bytes is None else at_least_one("window_bytes", window_bytes)
        size = at_least_one("buffer_size", buffer_size)
        is_by_bytes = window_bytes is not None
        anew = bool(reshuffle_each_iteration)
        return self._then(Shuffle(_seed(seed, generator), size, anew, window_bytes=most, is_by_bytes=is_by_bytes))

    def shard(self, num_shards: int, index: int, contiguous: bool = True) -> Self:
        """Return one of `num_shards` disjoint parts, which together contain all rows.

        Args:
            num_shards: number of parts.
            index: number of the part, from 0.
            contiguous: True for a contiguous range of shards or rows; False for every `num_shards`-th one.

        Raises:
            ConfigurationError: the part does not exist.

        Example:
            >>> list(IterableDataset.from_dict({"a": [1, 2, 3]}).shard(2, 0))
            [{'a': 1}, {'a': 2}]
        """
        count = at_least_one("num_shards", num_shards)
        if at_least("index", index, 0) >= count:
            raise ConfigurationError(f"index={index} is out of range for {count} parts", advice=f"Give 0 to {count - 1}")
        return self._like(self._plan.sharded(count, index, is_contiguous=contiguous))

    def _every(self, count: int, index: int) -> Self:
        """Return every `count`-th row."""
        return self._like(self._plan.every(count, index))

    def reshard(self) -> Self:
        """Return the same rows in more shards: one for each row group of Parquet files, or record batch of Arrow files.

        The parts of `shard`, and those of the workers of a loader, have equal numbers of rows (a difference of at most one)
        in any case.

        Example:
            >>> IterableDataset.from_dict({"a": [1, 2]}).reshard().num_shards
            1
        """
        from datasets_core.stream.combine import resharded  # 5 ms that streams of one source do without

        return self._like(resharded(self._plan))

    def explain(
        self, *, world_size: int = 1, batch_size: int = 32, lanes: int = LANES, bandwidth: float | None = None
    ) -> Explanation:
        """Return the cost of reading the rows: requests, bytes, memory, seconds, and recommendations.

        Reads the footers of files that are not known yet, and times one small request; reads no row.

        Args:
            world_size: number of ranks.
            batch_size: rows of the first batch.
            lanes: as for `split_dataset_by_node`.
            bandwidth: bytes a second assumed in the estimates of seconds; None: 50 MB, or 500 MB for local files.

        Raises:
            ConfigurationError: a number is invalid.

        Example:
            >>> stream = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
            >>> stream.explain().num_rows
            3
        """
        from datasets_core.stream.explain import ExplainRequest, explained  # 3 ms that reading does without

        if bandwidth is not None and not bandwidth > 0:
            raise ConfigurationError(
                f"Invalid bandwidth={bandwidth!r}",
                advice="Give a positive number of bytes per second, or None",
                value=bandwidth,
            )
        ranks, rows = at_least_one("world_size", world_size), at_least_one("batch_size", batch_size)
        return explained(self._plan, ExplainRequest(rows, ranks, at_least_one("lanes", lanes), bandwidth))

    # -- rows by their ids ---------------------------------------------------------------------------------------------

    def locate(self, id: str | bytes) -> int:
        """Return the position of a row in the current epoch: `list(stream)[stream.locate(id)]` is that row.

        Only streams of the files of a built dataset support this, before any transform; see `as_dataset(read_config=…)`.
        For a row that occurs more than once, the first position is returned.

        Args:
            id: the id of the row.

        Raises:
            RowIdError: no row of the stream has the id.
            ConfigurationError: the stream does not have row ids.
        """
        from datasets_core.stream.row_ids import files_of_plan, place_of  # 2 ms that other streams do without

        return place_of(files_of_plan(self._plan), id, self._epoch)

    def rows(self, ids: Any) -> Self:
        """Return a stream of the rows with some ids, in the order of the ids. Supported by the same streams as `locate`.

        Args:
            ids: a list, tuple, array or column of ids, as str or bytes; a single id gives a stream of one row.

        Raises:
            RowIdError: no row of the stream has one of the ids.
            ConfigurationError: the stream does not have row ids.
        """
        from datasets_core.stream.row_ids import files_of_plan, rows_by_id

        return self._like(Plan(rows_by_id(files_of_plan(self._plan), listed_ids(ids))))

    # -- constructors --------------------------------------------------------------------------------------------------

    @classmethod
    def from_dict(
        cls,
        mapping: Mapping[str, Sequence[Any]],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        num_shards: int = 1,
        *,
        extra_columns: Literal["raise", "ignore"] = "raise",
        missing_columns: Literal["raise", "insert"] = "raise",
    ) -> Self:
        """Return a stream of columns of values.

        Args:
            mapping: the values of each column.
            features: types of the columns; None infers them from the values.
            info: metadata of the dataset.
            split: name of the split.
            num_shards: number of shards into which the rows are divided.
            extra_columns: "ignore" leaves out columns that the features lack; "raise" raises an error.
            missing_columns: "insert" adds a column of None for each column that only the features have; "raise" raises an
                error.

        Raises:
            ConfigurationError: the columns have different lengths, or there are more shards than rows.

        Example:
            >>> list(IterableDataset.from_dict({"a": [1, 2]}))
            [{'a': 1}, {'a': 2}]
        """
        lengths = {name: len(values) for name, values in mapping.items()}
        if len(set(lengths.values())) > 1:
            raise ConfigurationError(f"The columns differ in length: {lengths}", advice="Give columns of the same length")
        rows = [dict(zip(mapping, values, strict=True)) for values in zip(*mapping.values(), strict=True)]
        if not rows and features is None:
            return cls._of(pa.table({name: pa.nulls(0) for name in mapping}), features, info, split, num_shards)
        options: Any = {"extra_columns": extra_columns, "missing_columns": missing_columns}
        return cls.from_list(rows, features, info, split, num_shards, **options)

    @classmethod
    def from_list(
        cls,
        mapping: Sequence[Mapping[str, Any]],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        num_shards: int = 1,
        *,
        extra_columns: Literal["raise", "ignore"] = "raise",
        missing_columns: Literal["raise", "insert"] = "raise",
    ) -> Self:
        """Return a stream of rows.

        Args:
            mapping: the rows, each a dict by column.
            features, info, split, num_shards, extra_columns, missing_columns: see `from_dict`.

        Raises:
            CellCastError: values share no type, or do not fit their feature.

        Example:
            >>> list(IterableDataset.from_list([{"a": 1}, {"a": 2}]))
            [{'a': 1}, {'a': 2}]
        """
        wanted = features if info is None or info.features is None else info.features
        from datasets_core.store.rows.create import rows_table  # 7 ms that reading does without

        kinds = None if wanted is None else Features(wanted)
        table = rows_table(mapping, kinds, None, extra_columns=extra_columns, missing_columns=missing_columns)
        return cls._of(table, wanted, info, split, num_shards)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Mapping[str, Any]]],
        features: Features | None = None,
        gen_kwargs: Mapping[str, Any] | None = None,
        split: NamedSplit | str = Split.TRAIN,
        *,
        extra_columns: Literal["raise", "ignore"] = "raise",
    ) -> Self:
        """Return a stream of the rows that a generator function yields. The function is called again in each iteration.

        Args:
            generator: a function that returns an iterable of dicts; it is called with `gen_kwargs`.
            features: types of the columns; None passes rows on as they are yielded.
            gen_kwargs: arguments of the generator; lists of the same length divide the rows among workers.
            split: name of the split.
            extra_columns: "ignore" leaves out keys of rows that the features lack; "raise" raises an error.

        Raises:
            ArgumentTypeError: `generator` is not a function.

        Example:
            >>> def squares(below):
            ...     for number in range(below):
            ...         yield {"square": number**2}
            >>> list(IterableDataset.from_generator(squares, gen_kwargs={"below": 3}))
            [{'square': 0}, {'square': 1}, {'square': 4}]
        """
        from datasets_core.stream.sources.tables import rows_of_generator

        wanted = None if features is None else Features(features).copy()
        source = rows_of_generator(generator, gen_kwargs, wanted, str(split), extra_columns)
        return cls(Plan(source, (), len(source.jobs)), None, split)

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
        preserve_index: bool | None = None,
        num_shards: int = 1,
    ) -> Self:
        """Return a stream of the rows of a pandas frame.

        Args:
            df: the frame.
            features, info, split, num_shards: see `from_dict`.
            preserve_index: True keeps the index as a column; None keeps it unless it only counts the rows.

        Example:
            >>> import pandas as pd
            >>> list(IterableDataset.from_pandas(pd.DataFrame({"a": [1, 2]})))
            [{'a': 1}, {'a': 2}]
        """
        table = pa.Table.from_pandas(df, preserve_index=preserve_index).replace_schema_metadata(None)
        return cls._of(table, features, info, split, num_shards)

    @classmethod
    def from_polars(
        cls,
        df: pl.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
    ) -> Self:
        """Return a stream of the rows of a polars frame.

        Args:
            df: the frame.
            features, info, split: see `from_dict`.

        Example:
            >>> import polars as pl
            >>> list(IterableDataset.from_polars(pl.DataFrame({"a": [1, 2]})))
            [{'a': 1}, {'a': 2}]
        """
        return cls._of(df.to_arrow(), features, info, split, 1)

    @classmethod
    def from_narwhals(
        cls,
        df: nw.DataFrame[Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: NamedSplit | str | None = None,
    ) -> Self:
        """Return a stream of the rows of a narwhals frame.

        Args:
            df: the frame.
            features, info, split: see `from_dict`.

        Example:
            >>> import narwhals as nw
            >>> list(IterableDataset.from_narwhals(nw.from_native(pa.table({"a": [1, 2]}))))
            [{'a': 1}, {'a': 2}]
        """
        return cls._of(df.to_arrow(), features, info, split, 1)

    @classmethod
    def from_file(cls, filename: Path) -> Self:
        """Return a stream of the rows of an Arrow file (file or stream format) or of a Parquet file, memory-mapped.

        Args:
            filename: path of the file.

        Raises:
            DamagedShardError: the file is truncated, damaged or of another format.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "a.parquet")
            ...     _ = Dataset.from_dict({"a": [1, 2]}).to_parquet(path)
            ...     list(IterableDataset.from_file(path))
            [{'a': 1}, {'a': 2}]
        """
        from datasets_core.store.source import paths_of_files

        rows = Rows(RowTable.from_file(os.fspath(filename)))
        rows._paths = paths_of_files([os.fspath(filename)])
        return cls._of_rows(rows)

    @classmethod
    def from_spark(
        cls, df: Any, split: NamedSplit | str | None = None, features: Features | None = None, **kwargs: Any
    ) -> Self:
        """Return a stream of the rows of a Spark frame, which its workers write, a file for each partition.

        Args:
            df: the frame.
            split: name of the split; "train" if None.
            features: types of the columns; None: those of the frame.
            kwargs: `cache_dir` and `keep_in_memory` of `Dataset.from_spark`; its other ones are ignored.

        Raises:
            MissingDependencyError: pyspark is not installed.
            CastError: a column does not fit its feature.

        Example:
            >>> from pyspark.sql import SparkSession
            >>> spark = SparkSession.builder.master("local[1]").getOrCreate()
            >>> list(IterableDataset.from_spark(spark.createDataFrame([(1, "x")], ["a", "b"])))
            [{'a': 1, 'b': 'x'}]
            >>> spark.stop()
        """
        from datasets_core.io.clusters import check_spark_options, rows_of_spark  # 10 ms that other streams do without

        options = ("keep_in_memory", "cache_dir", "working_dir", "load_from_cache_file")
        check_spark_options({name: value for name, value in kwargs.items() if name not in options})
        where, is_held = kwargs.get("cache_dir"), bool(kwargs.get("keep_in_memory"))
        return cls._of_rows(rows_of_spark(Rows, df, split, features, where, keep_in_memory=is_held))

    @classmethod
    def _of_rows(cls, rows: Rows, num_shards: int = 1) -> Self:
        """Return a stream of the rows of a dataset, in their order and format; see `Dataset.to_iterable_dataset`.

        Raises:
            ConfigurationError: there are more shards than rows, or the format of the rows is a function.
        """
        from datasets_core.stream.sources.tables import RowsOfBuilt, RowsOfTable

        if rows._format.type == "custom":
            raise ConfigurationError(
                "A stream does not support transforms of set_transform()", advice="Use with_format(None) and map(batched=True)"
            )
        identity = partial(getattr, rows._lineage, "fingerprint")
        count = shards_of(num_shards, rows.num_rows)
        structure = rows._table.structure if count == 1 and rows._index is None else None
        blocks = None if structure is None else structure.blocks()
        kind = RowsOfTable if blocks is None else RowsOfBuilt
        source = kind(rows._table, rows._index, rows._features, rows._media_paths(), identity)
        stream = cls(
            Plan(source, (), count if blocks is None else max(1, blocks.num_files)),
            rows._info,
            rows._split,
            RowFormat(rows._format.type, None, False, rows._format.kwargs),
        )
        shown = rows._format.columns
        return stream if shown is None or rows._format.is_complete else stream.select_columns(list(shown))

    @classmethod
    def _of(
        cls,
        table: pa.Table,
        features: Features | None,
        info: DatasetInfo | None,
        split: NamedSplit | str | None,
        num_shards: int,
    ) -> Self:
        from datasets_core.stream.sources.tables import RowsOfTable

        kinds = Features.from_arrow_schema(table.schema) if features is None else Features(features).copy()
        rows = RowTable.from_table(cast_table(table, kinds, what="The rows"))
        source = RowsOfTable(rows, None, kinds, MediaPaths(None), partial(Hasher.hash, rows))
        return cls(Plan(source, (), shards_of(num_shards, rows.num_rows)), info, split)

    def to_narwhals(
        self, batch_size: int | None = None, batched: bool = False, backend: str = "pyarrow"
    ) -> nw.DataFrame[Any] | Iterator[nw.DataFrame[Any]]:
        """Return the rows as a narwhals frame or, with `batched=True`, as frames of `batch_size` rows.

        Args:
            batch_size: number of rows of a frame.
            batched: True returns an iterator of frames instead of one with all rows.
            backend: name of the library whose frames narwhals wraps.

        Raises:
            MissingDependencyError: narwhals, or the backend, is not installed.

        Example:
            >>> IterableDataset.from_dict({"a": [1, 2]}).to_narwhals()["a"].sum()
            3
        """
        check_format("narwhals", {"backend": backend})
        return self._frames("narwhals", batch_size, batched, backend=backend)  # type: ignore[no-any-return]

    def _frames(self, type: str | None, batch_size: int | None, batched: bool, **options: Any) -> Any:
        form = TABULAR.get(str(type))
        taken = {} if form is None else {name: options.pop(name) for name in form.options if name in options}
        finished = None if form is None or form.finished is None else partial(form.finished, **options)
        other = self.with_format(None)
        other._format = wanted = RowFormat(type, kwargs=taken)
        if batched:
            blocks = other.iter(1000 if batch_size is None else batch_size)
            return blocks if finished is None else map(finished, blocks)
        found = next(iter(other.iter(2**62)), None)
        if found is None:
            features = self._known_features()
            found = BlockFormatter(wanted).columns(of_dicts([]) if features is None else encoded([], Kinds(features)))
        return found if finished is None else finished(found)


def shards_of(num_shards: int, num_rows: int) -> int:
    """Check and return the number of shards for some rows.

    Raises:
        ConfigurationError: more shards than rows.
    """
    count = at_least_one("num_shards", num_shards)
    if count > max(num_rows, 1):
        raise ConfigurationError(
            f"{num_rows} rows cannot be divided into {count} shards", advice=f"Give num_shards={max(num_rows, 1)} or less"
        )
    return count


def _seed(seed: Any, generator: Any) -> int:
    if generator is not None:
        if not isinstance(generator, np.random.Generator):
            raise ArgumentTypeError(
                f"generator={generator!r} is not a numpy.random.Generator",
                advice="Give a Generator, or a seed",
                value=generator,
            )
        return int(copy.deepcopy(generator).integers(2**63)) if seed is None else at_least("seed", seed, 0)
    return int(np.random.randint(2**31)) if seed is None else at_least("seed", seed, 0)
