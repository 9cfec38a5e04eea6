"""Constructors of datasets from generators, files and data frames."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

import contextlib
import dataclasses
import datetime as dt
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeAlias

import pyarrow as pa

from datasets_core._lazy import options_to
from datasets_core.config import settings
from datasets_core.engines import get_engine
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, DamagedShardError, ManifestError, logger_of
from datasets_core.features.formats.formats import as_table
from datasets_core.features.schema import Features
from datasets_core.files import locked
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.meta.splits import NamedSplit, Split
from datasets_core.optional import is_hugging_face
from datasets_core.progress import Meter, ProgressFile, is_seen, metered, progress, told
from datasets_core.store.fingerprint import Hasher, fingerprint, random_fingerprint
from datasets_core.store.manifest import Manifest, ShardRecord, lock_path, read_manifest
from datasets_core.store.pieces import row_ranges
from datasets_core.store.rows.indices import as_features
from datasets_core.store.rows.rows import Rows
from datasets_core.store.source import dataset_folder, open_rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    import narwhals as nw
    import pandas as pd
    import polars as pl

    from datasets_core.dataset.results import Written
    from datasets_core.store.rows.create import Recipe


# Rows of a generator, into the cache: streamed in bounded memory, keyed by the generator, committed at once.


logger = logger_of(__name__)


_NAME, _CONFIG = "generator", "default"


class GeneratedTable(NamedTuple):
    """Rows, and their known properties."""

    table: RowTable
    info: DatasetInfo
    fingerprint: str


def generated(
    recipe: Recipe, *, cache_dir: str | None, keep_in_memory: bool, num_proc: int | None, key: str | None
) -> GeneratedTable:
    """Return the rows of a generator: from the cache if it ran before, else generated now.

    Without caching (`disable_caching()`) they are generated now, into a folder with a name that later calls do not look for.
    """
    from datasets_core.dataset.results import table_of
    from datasets_core.store.rows.create import made_of_batches  # here and below: 7 ms that reading does without

    if num_proc is not None and (not isinstance(num_proc, int) or num_proc < 1):
        raise ConfigurationError(f"Invalid num_proc={num_proc!r}", advice="Give 1 or more, or None", value=num_proc)
    if key is not None and not re.fullmatch(r"\w[\w.-]*", key):
        raise ConfigurationError(f"fingerprint={key!r} is not a valid folder name. Use letters, digits, '-', '_' and '.'.")
    if keep_in_memory:
        held = made_of_batches(recipe, partial(_write_batches, recipe, _no_folder, "", most_bytes=sys.maxsize))
        schema = _joined(held, recipe)
        table = table_of(held, schema)
        return GeneratedTable(table, _info(recipe, schema, ()), key or _key(recipe))
    if settings().caching:
        key = place = key or _key(recipe)
    else:
        place = random_fingerprint()
        key = key or place
    folder = dataset_folder(cache_dir or settings().cache_dir, _NAME, f"{_CONFIG}-{place}", recipe.version, place)
    found = _earlier_result(recipe, folder, key)
    if found is not None:
        return found
    with locked(lock_path(folder)):
        return _earlier_result(recipe, folder, key) or _opened(_build(recipe, folder, num_proc), recipe, folder, key)


def _earlier_result(recipe: Recipe, folder: str, key: str) -> GeneratedTable | None:
    """Return the rows of an earlier run; None if there was none, or if its files are damaged."""
    try:
        manifest = read_manifest(folder)
        return None if manifest is None else _opened(manifest, recipe, folder, key)
    except (DamagedShardError, ManifestError) as error:
        logger.warning("Running the generator again: %s", error)
        return None


def _opened(manifest: Manifest, recipe: Recipe, folder: str, key: str) -> GeneratedTable:
    ranges = row_ranges(recipe.split, manifest.split_lengths())
    return GeneratedTable(open_rows(folder, manifest, ranges), manifest.info, key)


def _key(recipe: Recipe) -> str:
    features = None if recipe.features is None else recipe.features.to_dict()
    options = [recipe.extra_columns] if recipe.extra_columns != "raise" else []  # which keys of before do not name
    return fingerprint(
        recipe.generator,
        dict(recipe.kwargs),
        features,
        recipe.split,
        recipe.as_json,
        recipe.version,
        *options,
        what="The generator",
    )


# -- building ----------------------------------------------------------------------------------------------------------


class _Part(NamedTuple):
    """One run of the generator, into separate shards."""

    recipe: Recipe
    folder: str
    stem: str
    tells: str = ""  # the file for its progress, the number of rows done; "" without one


def _build(recipe: Recipe, folder: str, num_proc: int | None) -> Manifest:
    from datasets_core.dataset.results import conformed
    from datasets_core.engines.threads import followed
    from datasets_core.store import module_state
    from datasets_core.store.commit import Staging
    from datasets_core.store.rows.create import divided

    staging = Staging.adopt_or_create(folder)
    try:
        for name in os.listdir(staging.folder):  # of a run that was killed: a generator cannot resume in the middle
            os.unlink(os.path.join(staging.folder, name))
        parts = [
            _Part(dataclasses.replace(recipe, kwargs=kwargs), staging.folder, f"part-{index:05d}")
            for index, kwargs in enumerate(divided(recipe.kwargs, num_proc or 1))
        ]
        engine = get_engine(None, num_proc=num_proc if len(parts) > 1 else None)
        written: list[Written] = []
        import tempfile  # a warm read does without

        from datasets_core.store.atomic import temporary_folder

        with contextlib.ExitStack() as stack:
            bar = stack.enter_context(progress(f"Generating {recipe.split}", total=None, unit="rows"))
            if is_seen(bar):
                tells = stack.enter_context(tempfile.TemporaryDirectory(dir=temporary_folder()))
                parts = [part._replace(tells=os.path.join(tells, part.stem)) for part in parts]
                stack.enter_context(followed(bar.update, lambda: sum(told(part.tells) for part in parts)))
            code = recipe.generator, recipe.kwargs
            for _, made in module_state.run(engine, _write, parts, *code, verb="from_generator()", ordered=True):
                written += made
        schema = _joined(written, recipe)
        records = [
            record
            for k, each in enumerate(written)
            for record in conformed(each, schema, staging.folder, f"wide-{k:05d}", is_hashed=True)
        ]
        records = [record for record in records if record.rows] or records[:1]
        return staging.commit(
            Manifest(
                info=_info(recipe, schema, records),
                shards=tuple(record._replace(split=recipe.split) for record in records),
                created=dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
            )
        )
    except BaseException:
        staging.discard()
        raise


def _info(recipe: Recipe, schema: pa.Schema, records: Iterable[ShardRecord]) -> DatasetInfo:
    held = list(records)
    features = recipe.features if recipe.features is not None else Features.from_arrow_schema(schema)
    info = DatasetInfo(features=features, builder_name=_NAME, dataset_name=_NAME, config_name=_CONFIG, version=recipe.version)  # type: ignore[arg-type]
    if held:
        num_bytes = sum(record.num_bytes for record in held)
        split = SplitInfo(
            recipe.split,
            num_bytes=num_bytes,
            num_examples=sum(record.rows for record in held),
            shard_lengths=[record.rows for record in held],
            dataset_name=_NAME,
        )
        info.splits = SplitDict({recipe.split: split}, dataset_name=_NAME)
        info.dataset_size, info.download_size, info.size_in_bytes = num_bytes, 0, num_bytes
    return info


# -- writing -----------------------------------------------------------------------------------------------------------


def _write(part: _Part) -> list[Written]:
    """Run the generator, into shards of one or more schemas in their order."""
    from datasets_core.engines.threads import followed
    from datasets_core.store.rows.create import made_of_batches

    stem = f"{part.stem}-{os.urandom(4).hex()}"  # of this attempt: an engine may run a job twice
    watched = Meter()
    tell = ProgressFile(part.tells)
    with tell, metered(watched), followed(tell.update if part.tells else None, lambda: watched.done()):
        return made_of_batches(part.recipe, partial(_write_batches, part.recipe, lambda: part.folder, stem))


def _write_batches(
    recipe: Recipe, folder: Callable[[], str], stem: str, batches: Iterable[pa.RecordBatch], *, most_bytes: int = 0
) -> list[Written]:
    from datasets_core.dataset.results import WideningWriter

    as_json = recipe.as_json and recipe.features is None
    writer = WideningWriter(folder, stem, most_bytes=most_bytes, as_json=as_json, is_hashed=True)
    try:
        for batch in batches:
            writer.write(batch)
        if not writer.rows:
            writer.write(_empty_batch(recipe))
        return writer.close()
    except BaseException:
        writer.abort()
        raise


def _no_folder() -> str:
    raise AssertionError("rows in memory need no folder")


def _empty_batch(recipe: Recipe) -> pa.RecordBatch:
    schema = pa.schema([]) if recipe.features is None else recipe.features.arrow_schema
    return pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in schema], schema=schema)


def _joined(written: list[Written], recipe: Recipe) -> pa.Schema:
    """Return the common schema that can hold all rows."""
    from datasets_core.dataset.results import joined

    return joined(written, as_json=recipe.as_json)[0] if recipe.features is None else recipe.features.arrow_schema


Path: TypeAlias = str | os.PathLike[str]
Paths: TypeAlias = Path | Sequence[Path]


def _built_of(
    cls: Any, *, kind: str, path_or_paths: Paths | Mapping[str, Paths], split: NamedSplit | str | None, **options: Any
) -> Any:
    name = str(split or Split.TRAIN)
    by_split = path_or_paths if isinstance(path_or_paths, Mapping) else {name: path_or_paths}
    files = {str(key): value for key, value in by_split.items()}
    if split is None:
        if len(files) != 1:
            raise ConfigurationError(
                f"The paths belong to the splits {', '.join(map(repr, files))}. Give split=, or use DatasetDict.from_{kind}."
            )
        name = next(iter(files))
    return _built(cls, kind=kind, split=name, data_files=files, **options)


def _built(cls: Any, *, kind: str, split: str = Split.TRAIN, keep_in_memory: bool, **options: Any) -> Any:
    from datasets_core.io.tables import rows_of_files

    found = rows_of_files(kind, split=split, keep_in_memory=keep_in_memory or None, **options)
    if isinstance(found, cls) or not isinstance(found, Rows):
        return found
    made = cls(found._table, info=found._info, split=found._split, fingerprint=found._fingerprint)
    made._index = found._index
    return made


class FromFiles(Rows):
    """Constructors from files of a format, built once into the cache."""

    @classmethod
    @options_to(partial(_built_of, kind="csv"))
    def from_csv(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Return the rows of csv files.

        Args:
            path_or_paths: paths, globs or URLs.
            split: name of the split; None means "train".
            features: types of the columns; None infers them from the values.
            cache_dir: folder of the cache; None means that of the settings.
            keep_in_memory: True reads the built rows into memory.
            num_proc: number of worker processes of the build.
            kwargs: options of the format, such as `sep=`, and of `load_dataset`, such as `storage_options=`.

        Raises:
            DataFilesNotFoundError: a file does not exist.
            DatasetBuildError: a file is invalid in its format.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.csv")
            ...     _ = path.write_text("a,b\\n1,x\\n")
            ...     Dataset.from_csv(path, cache_dir=folder, keep_in_memory=True)[0]
            {'a': 1, 'b': 'x'}
        """

    @classmethod
    @options_to(partial(_built_of, kind="json"))
    def from_json(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        field: str | None = None,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Return the rows of JSON files: one object a line, or a list of objects, or the list under one key of an object.

        Args:
            path_or_paths, split, cache_dir, keep_in_memory, num_proc, kwargs: see `from_csv`.
            features: types of the columns; None infers them from the values.
            field: key of the object that contains the rows.

        Raises:
            DataFilesNotFoundError: a file does not exist.
            DatasetBuildError: a file is invalid in its format.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.json")
            ...     _ = path.write_text('{"rows": [{"a": 1}]}')
            ...     Dataset.from_json(path, field="rows", cache_dir=folder, keep_in_memory=True)[0]
            {'a': 1}
        """

    @classmethod
    @options_to(partial(_built_of, kind="parquet"))
    def from_parquet(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        columns: list[str] | None = None,
        num_proc: int | None = None,
        filters: Any = None,
        fragment_scan_options: Any = None,
        on_bad_files: str = "error",
        **kwargs: Any,
    ) -> Self:
        """Return the rows of Parquet files.

        Args:
            path_or_paths, split, cache_dir, keep_in_memory, num_proc, kwargs: see `from_csv`.
            features: types of the columns; None means those of the files.
            columns: the columns to read; None reads all.
            filters: an Arrow expression, or a list of tuples as pyarrow takes it; only rows that match are read.
            fragment_scan_options: options of `pyarrow.dataset` for reading.
            on_bad_files: "error", or "warn" or "skip" to leave out files that cannot be read.

        Raises:
            DataFilesNotFoundError: a file does not exist.
            DatasetBuildError: a file is invalid in its format.

        Example:
            >>> import os, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "a.parquet")
            ...     _ = Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).to_parquet(path)
            ...     Dataset.from_parquet(path, columns=["b"], cache_dir=folder, keep_in_memory=True)[1]
            {'b': 4}
        """

    @classmethod
    @options_to(partial(_built_of, kind="text"))
    def from_text(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        num_proc: int | None = None,
        keep_linebreaks: bool = False,
        sample_by: str = "line",
        **kwargs: Any,
    ) -> Self:
        """Return the lines, paragraphs or whole documents of text files, in the column `text`.

        Args:
            path_or_paths, split, cache_dir, keep_in_memory, num_proc, kwargs: see `from_csv`.
            features: type of the column; None means a string.
            keep_linebreaks: True keeps the line break at the end of each line.
            sample_by: what makes a row: "line", "paragraph" or "document".

        Raises:
            DataFilesNotFoundError: a file does not exist.
            DatasetBuildError: a file is not text in its encoding.

        Example:
            >>> import pathlib, tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = pathlib.Path(folder, "a.txt")
            ...     _ = path.write_text("one\\ntwo\\n")
            ...     Dataset.from_text(path, cache_dir=folder, keep_in_memory=True)[1]
            {'text': 'two'}
        """

    @classmethod
    @options_to(partial(_built_of, kind="tfrecord"))
    def from_tfrecord(
        cls,
        path_or_paths: Paths,
        split: NamedSplit | str | None = None,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        spec: Mapping[str, Any] | None = None,
        columns: list[str] | None = None,
        num_proc: int | None = None,
        **kwargs: Any,
    ) -> Self:
        """Return the records of TFRecord files.

        Args:
            path_or_paths, split, cache_dir, keep_in_memory, num_proc, kwargs: see `from_csv`.
            features: types of the columns; None infers them from the records, or from `spec`.
            spec: the features of the messages as for `tf.io.parse_single_example`.
            columns: the columns to read; None reads all.

        Raises:
            DataFilesNotFoundError: a file does not exist.
            DatasetBuildError: a record is damaged, or does not fit the spec.

        Example:
            >>> import os, tempfile
            >>> from datasets_core.records import TFRecordWriter, encode_example
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     path = os.path.join(folder, "a.tfrecord")
            ...     with TFRecordWriter(path) as writer:
            ...         writer.write(encode_example({"label": 7, "image": b"..."}))
            ...     Dataset.from_tfrecord(path, columns=["label"], cache_dir=folder, keep_in_memory=True)[0]
            {'label': 7}
        """

    @classmethod
    @options_to(partial(_built, kind="sql"))
    def from_sql(
        cls,
        sql: Any,
        con: Any,
        features: Features | None = None,
        cache_dir: Path | None = None,
        keep_in_memory: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Return the result of a database query.

        Args:
            sql: the query, or the name of a table.
            con: URI of a database, or a connection of sqlite3 or SQLAlchemy.
            features: types of the columns; None infers them from the values.
            cache_dir: folder of the cache; None means that of the settings.
            keep_in_memory: True reads the built rows into memory.
            kwargs: options of the format: `index_col`, `coerce_float`, `params`, `parse_dates`, `columns`, `chunksize`.

        Raises:
            DatasetGenerationError: the database refuses the query.
            MissingDependencyError: the database needs SQLAlchemy, which is not installed.

        Example:
            >>> import sqlite3
            >>> connection = sqlite3.connect(":memory:")
            >>> _ = connection.execute("create table t (a integer)"), connection.execute("insert into t values (7)")
            >>> Dataset.from_sql("select * from t", connection)[0]
            {'a': 7}
            >>> connection.close()
        """


# Datasets from data frames of pandas, polars and Spark.


class FromFrames(Rows):
    """Constructors from data frames."""

    @classmethod
    def from_pandas(
        cls,
        df: pd.DataFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
        preserve_index: bool | None = None,
    ) -> Self:
        """Return a dataset of the rows of a pandas frame, in memory. Numbers without nulls are not copied.

        Args:
            df: the frame.
            features: types of the columns; None means those of the frame.
            info: metadata of the dataset.
            split: name of the split.
            preserve_index: True stores the index as a column; None stores it unless it only counts the rows.

        Raises:
            CastError: the values of a column share no type, or do not fit its feature.

        Example:
            >>> import pandas as pd
            >>> Dataset.from_pandas(pd.DataFrame({"a": [1, 2]}, index=pd.Index([5, 6], name="id")))[0]
            {'a': 1, 'id': 5}
        """
        from datasets_core.io.tables import rows_of_table

        if not hasattr(df, "columns") or not hasattr(df, "dtypes"):
            raise ArgumentTypeError(f"from_pandas() takes a pandas frame, found {type(df).__name__}", advice="Give a DataFrame")
        texts = _json_columns(df, as_features(features))
        try:
            table = pa.Table.from_pandas(df.drop(columns=list(texts)), preserve_index=preserve_index)
        except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
            said = " ".join(str(part) for part in error.args)
            raise CastError(f"{said}", advice="Give the column one type, or use from_dict") from error
        metadata = {key: value for key, value in (table.schema.metadata or {}).items() if key != b"pandas"}
        for name, column in texts.items():
            table = table.add_column(min(df.columns.get_loc(name), table.num_columns), name, column)
        return rows_of_table(cls, table.replace_schema_metadata(metadata or None), features, info, split)

    @classmethod
    def from_polars(
        cls,
        df: pl.DataFrame | pl.LazyFrame,
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
    ) -> Self:
        """Return a dataset of the rows of a polars frame, in memory. Columns are not copied.

        Args:
            df: the frame; a lazy one is collected.
            features: types of the columns; None means those of the frame.
            info: metadata of the dataset.
            split: name of the split.

        Raises:
            CastError: a column does not fit its feature.

        Example:
            >>> import polars as pl
            >>> Dataset.from_polars(pl.DataFrame({"a": [1, 2], "b": ["x", None]}))[1]
            {'a': 2, 'b': None}
        """
        from datasets_core.io.tables import rows_of_table

        frame: Any = df
        if hasattr(frame, "collect"):
            frame = frame.collect()
        if not hasattr(frame, "to_arrow"):
            raise ArgumentTypeError(f"from_polars() takes a polars frame, found {type(df).__name__}", advice="Give a DataFrame")
        return rows_of_table(cls, frame.to_arrow(), features, info, split)

    @classmethod
    def from_narwhals(
        cls,
        df: nw.DataFrame[Any] | nw.LazyFrame[Any],
        features: Features | None = None,
        info: DatasetInfo | None = None,
        split: str | None = None,
    ) -> Self:
        """Return a dataset of the rows of a narwhals frame, in memory.

        Args:
            df: the frame; a lazy one is collected.
            features: types of the columns; None means those of the frame.
            info: metadata of the dataset.
            split: name of the split.

        Raises:
            CastError: a column does not fit its feature.

        Example:
            >>> import narwhals as nw
            >>> Dataset.from_narwhals(nw.from_native(pa.table({"a": [1, 2]})))[1]
            {'a': 2}
        """
        from datasets_core.io.tables import rows_of_table

        frame: Any = df
        table = as_table(frame.collect() if hasattr(frame, "collect") else frame)
        if table is None:
            raise ArgumentTypeError(f"from_narwhals() takes a narwhals frame, found {type(df).__name__}. Give a DataFrame.")
        return rows_of_table(cls, table, features, info, split)

    @classmethod
    def from_hf(cls, dataset: Any) -> Self:
        """Return a dataset of Hugging Face `datasets` as one of this library, with its rows, selection, features, split and
        format.

        Nothing is copied. Files that the dataset has mapped stay mapped as long as one of the two datasets exists.

        Args:
            dataset: a `datasets.Dataset`. For a `datasets.DatasetDict` see `DatasetDict.from_hf`.

        Raises:
            ArgumentTypeError: another object is passed.

        Example:
            >>> import datasets
            >>> Dataset.from_hf(datasets.Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]))["a"][:]
            [3, 1]
        """
        table: Any = getattr(getattr(dataset, "data", None), "table", None)
        indices = getattr(dataset, "_indices", None)
        if not is_hugging_face(dataset) or not isinstance(table, pa.Table):
            found = f"{type(dataset).__module__}.{type(dataset).__name__}"
            raise ArgumentTypeError(
                f"from_hf() takes a Dataset of Hugging Face datasets, found {found}",
                advice="Use DatasetDict.from_hf for several splits, and from_generator for rows that are streamed",
            )
        features = Features.from_arrow_schema(dataset.features.arrow_schema)
        schema = features.arrow_schema
        columns = [_as_stored(table.column(field.name), field.type) for field in schema]
        told = ("description", "citation", "homepage", "license")
        texts: dict[str, Any] = {name: getattr(dataset.info, name, None) or "" for name in told}
        made = cls(
            pa.Table.from_arrays(columns, schema=schema),
            info=DatasetInfo(features=features, **texts),
            split=None if dataset.split is None else str(dataset.split),
            indices_table=None if indices is None else indices.table,
            fingerprint=Hasher.hash(("datasets", dataset._fingerprint)),
        )
        how = dataset.format
        if how["type"] is None and how["columns"] == dataset.column_names:
            return made
        made.set_format(how["type"], how["columns"], how["output_all_columns"], **how["format_kwargs"])
        return made


def _as_stored(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column in the type that this library uses for it, without a copy if both have the same storage."""
    from datasets_core.store.rows.create import viewed

    chunks = [chunk.storage if isinstance(chunk.type, pa.BaseExtensionType) else chunk for chunk in column.chunks]
    stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return pa.chunked_array([viewed(chunk if chunk.type == stored else chunk.cast(stored), kind) for chunk in chunks], kind)


def _json_columns(df: pd.DataFrame, features: Features | None) -> dict[str, pa.ChunkedArray]:
    """Return the columns of arbitrary values, which have no common Arrow type, in their stored form."""
    from datasets_core.features.types import Json  # 2 ms that reading does without
    from datasets_core.store.rows.create import columns_table

    names = [name for name, feature in (features or {}).items() if isinstance(feature, Json) and name in df.columns]
    return {name: columns_table({name: list(df[name])}, Features({name: Json()}), None).column(0) for name in names}
