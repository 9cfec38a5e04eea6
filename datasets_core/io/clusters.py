"""Rows to and from frames of Ray, Dask, Spark and Daft, and lazy frames of polars: workers read and write the files."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, TypeVar

import pyarrow as pa

from datasets_core.config import settings
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, UnknownOptionError
from datasets_core.features.schema import Features, plain_schema
from datasets_core.optional import needed
from datasets_core.store.rows.indices import as_features
from datasets_core.store.rows.rows import Lineage, Rows

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

    from datasets_core.store.manifest import ShardRecord

T = TypeVar("T", bound=Rows)
Folder = str | os.PathLike[str]

_PART_BYTES, _LEAST_PARTS, _BATCH_BYTES = 128 << 20, 16, 32 << 20
_SPARK_OPTIONS = ("split", "features", "keep_in_memory", "cache_dir", "working_dir", "load_from_cache_file")


def packed_parts(dataset: Rows, parts: int | None) -> list[bytes]:
    """Return the rows in parts for other machines: files and row ranges, packed."""
    from datasets_core.engines.process import packed

    rows = dataset.num_rows
    count = max(1, min(rows, parts or max(_LEAST_PARTS, dataset._table.num_bytes // _PART_BYTES)))
    cuts = [rows * number // count for number in range(count + 1)]
    found = []
    for start, stop in pairwise(cuts):
        part = dataset._selected(range(start, stop))
        part._lineage = Lineage.known("part")  # else its fingerprint would be computed on the way
        found.append(packed(part))
    return found


def ray_dataset(dataset: Rows, parts: int | None) -> Any:
    """Return rows as a `ray.data.Dataset`; see `Dataset.to_ray`."""
    data = needed("ray.data", "to_ray()", "datasets_core[ray]")
    items = data.from_items([{"part": part} for part in packed_parts(dataset, parts)])
    return items.map_batches(_tables_of_parts, batch_size=1, batch_format="pyarrow")


def dask_frame(dataset: Rows, parts: int | None) -> Any:
    """Return rows as a `dask.dataframe.DataFrame`; see `Dataset.to_dask`."""
    frames = needed("dask.dataframe", "to_dask()", "dask[dataframe]")
    meta = frames_of(dataset._selected(range(0)))
    return frames.from_map(_frame_of_part, packed_parts(dataset, parts), meta=meta, enforce_metadata=False)


def spark_frame(dataset: Rows, parts: int | None, spark: Any) -> Any:
    """Return rows as a Spark data frame; see `Dataset.to_spark`."""
    sql = needed("pyspark.sql", "to_spark()", "datasets_core[spark]")
    types = needed("pyspark.sql.pandas.types", "to_spark()", "datasets_core[spark]")
    session = sql.SparkSession.builder.getOrCreate() if spark is None else spark
    schema = pa.schema([pa.field(field.name, _spark_type(field.name, field.type)) for field in dataset._table.schema])
    items = [(bytearray(part),) for part in packed_parts(dataset, parts)]
    frame = session.createDataFrame(session.sparkContext.parallelize(items, len(items)), "part binary")
    return frame.mapInArrow(_read_by_spark(schema), types.from_arrow_schema(schema, prefer_timestamp_ntz=True))


def lazy_polars(dataset: Rows, options: Mapping[str, Any]) -> pl.LazyFrame:
    """Return rows as a lazy frame; see `Dataset.to_polars`."""
    polars = needed("polars", "to_polars()")
    plugins = needed("polars.io.plugins", "to_polars(lazy=True)", "polars>=1.20")
    from datasets_core.io.tables import table_of

    schema = polars.from_arrow(table_of(dataset, 0, 0), **options).schema
    frame: pl.LazyFrame = plugins.register_io_source(partial(_scanned, dataset, dict(options)), schema=schema, is_pure=True)
    return frame


# -- rows for workers of others ----------------------------------------------------------------------------------------


def _tables_of_parts(parts: pa.Table) -> pa.Table:
    """Return the rows of packed parts, in a worker."""
    from datasets_core.engines.process import unpacked

    return pa.concat_tables([unpacked(part).with_format("arrow")[:] for part in parts.column("part").to_pylist()])


def _frame_of_part(part: bytes) -> pd.DataFrame:
    from datasets_core.engines.process import unpacked

    return frames_of(unpacked(part))


def frames_of(rows: Any) -> pd.DataFrame:
    """Return rows as a pandas frame of Arrow's types: equal in all parts, with nulls or without."""
    import pandas as pd

    return rows.with_format("arrow")[:].to_pandas(types_mapper=pd.ArrowDtype)


def _batches_of_part(part: bytes, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a packed part in a worker, in bounded memory, with the types of a schema."""
    from datasets_core.engines.process import unpacked
    from datasets_core.io.tables import rows_of_bytes, tables

    rows = unpacked(part)
    for table in tables(rows, rows_of_bytes(rows, _BATCH_BYTES)):
        yield from table.replace_schema_metadata(None).cast(schema).to_batches()


def _spark_type(column: str, kind: pa.DataType) -> pa.DataType:
    """Return the Arrow type that Spark reads for a type."""
    inner = partial(_spark_type, column)
    if isinstance(kind, pa.BaseExtensionType):
        return inner(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return inner(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(inner(kind.value_type))
    if pa.types.is_struct(kind):
        return pa.struct([(field.name, inner(field.type)) for field in kind])
    if pa.types.is_map(kind):
        return pa.map_(inner(kind.key_type), inner(kind.item_type))
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", None if kind.tz is None else "UTC")
    if pa.types.is_duration(kind):
        return pa.duration("us")
    found = _SPARK_TYPES.get(str(kind), kind)
    if str(found) in _WITHOUT_SPARK or pa.types.is_decimal256(found) or pa.types.is_union(found):
        raise CastError(f"Spark has no type for column {column!r} ({kind})", advice="Cast it, or leave it out", value=column)
    return found


_SPARK_TYPES = {
    "uint8": pa.int16(),
    "uint16": pa.int32(),
    "uint32": pa.int64(),
    "uint64": pa.decimal128(20, 0),
    "halffloat": pa.float32(),
    "date64[ms]": pa.date32(),
    "large_string": pa.string(),
    "string_view": pa.string(),
    "large_binary": pa.binary(),
    "binary_view": pa.binary(),
}
_WITHOUT_SPARK = frozenset({"time32[s]", "time32[ms]", "time64[us]", "time64[ns]", "month_day_nano_interval"})


def _read_by_spark(schema: pa.Schema) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for part in batch.column("part").to_pylist():
                yield from _batches_of_part(part, schema)

    return read


def daft_frame(dataset: Rows, number: int | None) -> Any:
    """Return rows as a `daft.DataFrame`; see `Dataset.to_daft`."""
    parts, schema = packed_parts(dataset, number), plain_schema(dataset._table.schema)
    source = needed("daft.io.source", "to_daft()", "daft")
    batches, schemas = needed("daft.recordbatch", "to_daft()", "daft"), needed("daft.schema", "to_daft()", "daft")
    plain = pa.schema([pa.field(field.name, getattr(field.type, "storage_type", field.type)) for field in schema])
    known = schemas.Schema.from_pyarrow_schema(plain)

    class Part(source.DataSourceTask):  # type: ignore[misc, name-defined]
        def __init__(self, part: bytes) -> None:
            self._part = part

        @property
        def schema(self) -> Any:
            return known

        async def read(self) -> Any:
            for batch in _batches_of_part(self._part, plain):
                yield batches.RecordBatch.from_arrow_record_batches([batch], plain)

    class Parts(source.DataSource):  # type: ignore[misc, name-defined]
        @property
        def name(self) -> str:
            return "datasets_core"

        @property
        def schema(self) -> Any:
            return known

        async def get_tasks(self, pushdowns: Any) -> Any:
            for part in parts:
                yield Part(part)

    return Parts().read()


def _scanned(
    rows: Rows,
    options: dict[str, Any],
    columns: list[str] | None,
    where: pl.Expr | None,
    first: int | None,
    size: int | None,
) -> Iterator[pl.DataFrame]:
    """Yield the rows that a lazy frame asks for: only their columns, batch by batch."""
    import polars

    from datasets_core.io.tables import rows_of_bytes

    read = None if columns is None else list(dict.fromkeys([*columns, *(where.meta.root_names() if where is not None else ())]))
    table = rows._table if read is None else rows._table.select(read)
    stop = rows.num_rows if first is None else min(first, rows.num_rows)
    step = size or rows_of_bytes(rows, _BATCH_BYTES)
    for start, end in pairwise([*range(0, stop, step), stop] if stop else [0, 0]):
        batches = table.batches(None, start, end) if rows._index is None else table.batches_at(rows._index[start:end])
        frame = polars.from_arrow(pa.Table.from_batches(batches, table.schema), **options)
        frame = frame if where is None else frame.filter(where)
        yield frame if columns is None or columns == read else frame.select(columns)


# -- rows that workers of others write ---------------------------------------------------------------------------------

Tables = Iterable[pa.Table | pa.RecordBatch]
Write = Callable[[Callable[[Tables], bytes]], list[bytes]]
"""Runs a function on the rows of each part, in workers, and returns what it returns, in the order of the rows."""


def written_by_workers(kind: type[T], name: str, write: Write, split: str | None, features: Any, cache_dir: Folder | None) -> T:
    """Return rows that workers write; this process makes the manifest."""
    from datasets_core.engines.pool import versions
    from datasets_core.meta.info import DatasetInfo
    from datasets_core.meta.split_info import SplitDict, SplitInfo
    from datasets_core.store import module_state
    from datasets_core.store.commit import Staging, locked_once
    from datasets_core.store.fingerprint import random_fingerprint
    from datasets_core.store.manifest import Manifest, lock_path
    from datasets_core.store.pieces import row_ranges
    from datasets_core.store.source import dataset_folder, open_rows

    split, wanted, key = split or "train", as_features(features), random_fingerprint()
    where = os.path.abspath(os.fspath(cache_dir or settings().cache_dir))
    target = dataset_folder(where, name, f"default-{key}", "0.0.0", key)
    with _without_empty_folders(target), locked_once(lock_path(target)):
        staging = Staging.adopt_or_create(target)
        try:
            job = partial(_write_part, staging.folder, split, wanted, versions())
            with module_state.marked(staging.folder, job) as seeing:
                found = [_taken(each) for each in write(partial(_caught, seeing))]
            records, schema = _agreed_records(found, wanted)
            if not records:
                found = [_taken(job([wanted.arrow_schema.empty_table()]))]  # type: ignore[union-attr]
                records, schema = _agreed_records(found, wanted)
            for left in set(os.listdir(staging.folder)) - {record.name for record in records}:
                os.unlink(os.path.join(staging.folder, left))  # of attempts whose results did not count
            size, lengths = sum(record.num_bytes for record in records), [record.rows for record in records]
            info = DatasetInfo(
                features=wanted or Features.from_arrow_schema(schema), builder_name=name, dataset_name=name, dataset_size=size
            )
            info.splits = SplitDict(
                {split: SplitInfo(split, num_bytes=size, num_examples=sum(lengths), shard_lengths=lengths)}, dataset_name=name
            )
            created = dt.datetime.now(dt.UTC).isoformat(timespec="seconds")
            manifest = staging.commit(Manifest(info=info, shards=tuple(records), created=created))
        except BaseException:
            staging.discard_as_far_as_possible()
            raise
    rows = open_rows(target, manifest, row_ranges(split, manifest.split_lengths()))
    return kind(rows, info=manifest.info, split=split, fingerprint=key)


@contextlib.contextmanager
def _without_empty_folders(target: str) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with contextlib.suppress(OSError):  # another process has rows there
            for _ in range(2):
                target = os.path.dirname(target)
                os.rmdir(target)
        raise


def _caught(write: Callable[[Tables], bytes], tables: Tables) -> bytes:
    """Return the error of a worker as it is, which other libraries wrap into errors of their own."""
    from datasets_core.engines.process import Failure, packed

    try:
        return write(tables)
    except Exception as error:
        return bytes(packed(Failure.of(error)))


def _taken(found: bytes) -> tuple[list[ShardRecord], pa.Schema | None]:
    from datasets_core.engines.process import Failure, unpacked

    value = unpacked(found)
    if isinstance(value, Failure):
        raise value.error()
    return value  # type: ignore[no-any-return]


def _write_part(folder: str, split: str, features: Features | None, known: Mapping[str, str], tables: Tables) -> bytes:
    """Write rows in a worker, under names of this attempt; return the records of the files and the schema, packed."""
    from datasets_core.engines.pool import check_versions
    from datasets_core.engines.process import packed
    from datasets_core.features.cast import cast_table
    from datasets_core.store.writer import ShardWriter

    check_versions(known)
    with contextlib.ExitStack() as stack:
        writer: ShardWriter | None = None
        schema = None
        for each in tables:
            table = pa.Table.from_batches([each]) if isinstance(each, pa.RecordBatch) else each
            if features is not None:
                table = cast_table(table.cast(plain_schema(table.schema)), features, what="The frame")
            if writer is None:
                schema = plain_schema(table.schema).remove_metadata() if features is None else features.arrow_schema
                writer = stack.enter_context(ShardWriter(folder, f"part-{os.urandom(8).hex()}", split=split, schema=schema))
            writer.write(table.cast(schema))
        records = [] if writer is None else writer.close()
    return bytes(packed((records, schema)))


def _agreed_records(
    found: list[tuple[list[ShardRecord], pa.Schema | None]], features: Features | None
) -> tuple[list[ShardRecord], pa.Schema]:
    """Return the records of all parts, without those that have no rows, and their schema."""
    schema: pa.Schema | None = None
    for records, each in found:
        if each is None or (features is None and not any(record.rows for record in records)):
            continue
        if schema is not None and not each.equals(schema):
            name = next((field.name for field in schema if field not in each), ", ".join(each.names))
            types = " and ".join(
                str(of.field(name).type) if of.get_field_index(name) >= 0 else "missing" for of in (schema, each)
            )
            raise CastError(
                f"Column {name!r} has different types in different parts: {types}", advice="Give features=", value=name
            )
        schema = each
    records = [record for part, _ in found for record in part]
    kept = [record for record in records if record.rows] or records[:1]
    if schema is None:
        schema = next((each for _, each in found if each is not None), None)
    if schema is None and features is None:
        raise ConfigurationError("The frame has no rows, so its types are not known", advice="Give features=")
    return kept, schema


def rows_of_ray(kind: type[T], ds: Any, split: str | None, features: Features | None, cache_dir: Folder | None) -> T:
    """Return the rows of a `ray.data.Dataset`; see `Dataset.from_ray`."""
    needed("ray.data", "from_ray()", "datasets_core[ray]")
    if not hasattr(ds, "map_batches"):
        raise ArgumentTypeError(f"from_ray() takes a ray.data.Dataset, found {type(ds).__name__}", value=ds)
    return written_by_workers(kind, "ray", partial(_write_by_ray, ds), split, features, cache_dir)


def rows_of_dask(kind: type[T], df: Any, split: str | None, features: Features | None, cache_dir: Folder | None) -> T:
    """Return the rows of a `dask.dataframe.DataFrame`; see `Dataset.from_dask`."""
    needed("dask.dataframe", "from_dask()", "dask[dataframe]")
    if not hasattr(df, "map_partitions"):
        raise ArgumentTypeError(f"from_dask() takes a Dask data frame, found {type(df).__name__}", value=df)
    return written_by_workers(kind, "dask", partial(_write_by_dask, df), split, features, cache_dir)


def _write_by_ray(ds: Any, write: Callable[[Tables], bytes]) -> list[bytes]:
    def of_block(table: pa.Table) -> pa.Table:
        return pa.table({"written": pa.array([write([table])], pa.binary())})

    made = ds.map_batches(of_block, batch_size=None, batch_format="pyarrow")
    made.context.execution_options.preserve_order = True
    return [row["written"] for row in made.take_all()]


def _write_by_dask(df: Any, write: Callable[[Tables], bytes]) -> list[bytes]:
    import pandas as pd

    def of_partition(frame: pd.DataFrame) -> pd.DataFrame:
        table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
        return pd.DataFrame({"written": pd.Series([write([table])], dtype=object)})

    meta = pd.DataFrame({"written": pd.Series([], dtype=object)})
    made = df.map_partitions(of_partition, meta=meta, enforce_metadata=False)
    return list(made.compute()["written"])


def _write_by_spark(df: Any, write: Callable[[Tables], bytes]) -> list[bytes]:
    def of_partition(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"written": pa.array([write(batches)], pa.binary())})

    return [bytes(row["written"]) for row in df.mapInArrow(of_partition, "written binary").collect()]


def check_spark_options(given: Mapping[str, Any]) -> None:
    """Check for arguments that `from_spark` does not have.

    Raises:
        UnknownOptionError: an argument is unknown.
    """
    for name in given:
        raise UnknownOptionError(name, builder="from_spark", known=_SPARK_OPTIONS)


def rows_of_spark(
    kind: type[T],
    df: Any,
    split: str | None,
    features: Features | None,
    cache_dir: Folder | None = None,
    *,
    keep_in_memory: bool = False,
) -> T:
    """Return the rows of a Spark frame; see `Dataset.from_spark`."""
    needed("pyspark", "from_spark()", "pyspark")
    if not hasattr(df, "toPandas"):
        raise ArgumentTypeError(f"from_spark() needs a Spark DataFrame, not {type(df).__name__}.")
    if not keep_in_memory:
        return written_by_workers(kind, "spark", partial(_write_by_spark, df), split, features, cache_dir)
    from datasets_core.io.tables import rows_of_table

    if hasattr(df, "toArrow"):  # since Spark 4
        table = df.toArrow()
    else:
        table = pa.Table.from_pandas(df.toPandas(), preserve_index=False).replace_schema_metadata(None)
    return rows_of_table(kind, table, features, None, split or "train")
