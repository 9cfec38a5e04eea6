"""SQL: the rows of a query or of a table, from SQLite, a DB-API connection, or SQLAlchemy."""

from __future__ import annotations

import contextlib
import os
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.config import has_alias
from datasets_core.errors import (
    CastError,
    CellCastError,
    ConfigurationError,
    DatasetGenerationError,
    DatasetsCoreError,
    logger_of,
    redact,
    redact_text,
)
from datasets_core.features.schema import Features, RowEncoder
from datasets_core.meta.info import DatasetInfo
from datasets_core.optional import is_installed, needed

_SQLITE = "sqlite:///"

logger = logger_of(__name__)


@dataclass(eq=False)
class SqlConfig(BuilderConfig):
    """Query and connection.

    Args:
        sql: a query, or the name of a table.
        con: a URI such as `sqlite:///file.db`, a DB-API connection, or an engine or connection of SQLAlchemy.
        index_col: a column, or several, to put at the end.
        coerce_float: True to convert decimals to floats.
        params: the parameters of the query.
        parse_dates: columns of text that are dates, or a mapping of column to the format of `strptime`.
        columns: the columns to read, if `sql` is the name of a table.
        chunksize: number of rows fetched at a time.
        features: target types of the columns.
    """

    sql: Any = None
    con: Any = None
    index_col: str | list[str] | None = None
    coerce_float: bool = True
    params: Any = None
    parse_dates: Any = None
    columns: list[str] | None = None
    chunksize: int | None = 10_000
    features: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sql is None or self.con is None:
            raise ConfigurationError("sql= and con= are both required. Pass a query or table name, and a connection.")
        if self.chunksize is not None and (not isinstance(self.chunksize, int) or self.chunksize < 1):
            raise ConfigurationError(
                f"chunksize={self.chunksize!r} is not a valid count. Pass a whole number of 1 or more, or None."
            )

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Features | None = None) -> str:
        """See `BuilderConfig.create_config_id`: an SQLite file is identified by size and time; others are read again."""
        if not isinstance(self.con, (str, os.PathLike)):
            logger.info(
                "The connection con=%s couldn't be hashed properly: each build reads the rows. Pass a URI to reuse them.",
                type(self.con).__name__,
            )
        named = {**config_kwargs, "sql": str(self.sql), "con": _identity(self.con)} | (
            {"text": "large"} if _has_large_text() else {}
        )
        return super().create_config_id(named, custom_features)


class Sql(ArrowBasedBuilder):
    """The rows of a query, as one split `train`."""

    is_format = True
    name = "sql"
    cache_version = "bcfb388b3e378cc8940547d16c94d7b2"
    BUILDER_CONFIG_CLASS = SqlConfig
    merge_columns = True
    reads_files = False
    config: Any

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=self.config.features)

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {})]

    def _generate_tables(self) -> Iterator[tuple[int, pa.RecordBatch]]:
        yield from enumerate(read_sql(self.config))


def read_sql(options: SqlConfig) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a query in batches; at least one batch, possibly empty.

    Raises:
        DatasetGenerationError: the database raises an error, or a column mixes types.
        MissingDependencyError: SQLAlchemy is needed and not installed.
    """
    shown = redact_text(" ".join(str(options.sql).split())[:200])
    encoder = RowEncoder(None)
    row = 0
    try:
        with _opened(options.con) as connection:
            names, chunks = _query(connection, options)
            order, finish = _finish(names, options)
            for chunk in chunks:
                rows = [dict(zip(order, values, strict=True)) for values in map(finish, chunk)]
                batch = encoder.encode(rows)
                row += len(rows)
                yield _with_large_text(batch) if _has_large_text() and not options.features else batch
            if not row:
                yield pa.RecordBatch.from_arrays([pa.nulls(0) for _ in order], list(order))
    except CellCastError as error:
        where = f"Row {row + (error.row or 0)} of {shown!r} does not fit column {error.column!r}"
        raise DatasetGenerationError(f"{where}: {error.reason}. Cast the column in the query.", row=row) from error
    except CastError as error:
        raise DatasetGenerationError(f"{shown!r}: {error}", row=row) from error
    except (DatasetsCoreError, GeneratorExit):
        raise
    except Exception as error:  # each driver has its own errors, with no common root
        reason = redact_text(f"{type(error).__name__}: {error}")
        raise DatasetGenerationError(
            f"The query {shown!r} failed ({reason}). Check the query and the connection.", row=row
        ) from error


def _has_large_text() -> bool:
    """Return True if text is to be `large_string`, which `datasets` gets from pandas 3: with its alias."""
    return has_alias() and is_installed("pandas") and int(version("pandas").partition(".")[0]) >= 3


def _with_large_text(batch: pa.RecordBatch) -> pa.RecordBatch:
    fields = [field.with_type(pa.large_string()) if field.type == pa.string() else field for field in batch.schema]
    return batch.cast(pa.schema(fields, batch.schema.metadata))


def _query(connection: Any, options: SqlConfig) -> tuple[list[str], Iterator[Sequence[Any]]]:
    size = options.chunksize or 10_000
    if hasattr(connection, "exec_driver_sql"):  # an object of SQLAlchemy
        import sqlalchemy

        asked = options.sql
        if isinstance(asked, str):
            statement = (
                asked if _is_query(asked) else _select(asked, options.columns, connection.dialect.identifier_preparer.quote)
            )
            asked = sqlalchemy.text(statement)
        result = connection.execution_options(stream_results=True).execute(asked, options.params or {})
        return _distinct(list(result.keys())), result.partitions(size)
    cursor = connection.cursor()
    statement = options.sql if _is_query(options.sql) else _select(options.sql, options.columns, _quoted)
    cursor.execute(statement, *([options.params] if options.params is not None else []))
    if cursor.description is None:
        raise ConfigurationError(f"{statement[:200]!r} returns no rows. Pass a query such as 'SELECT …', or a table name.")
    return _distinct([column[0] for column in cursor.description]), iter(lambda: cursor.fetchmany(size), [])


def _is_query(sql: Any) -> bool:
    """Return True if a text is a query, not the name of a table.

    >>> _is_query("reviews"), _is_query("SELECT 1")
    (False, True)
    """
    return not isinstance(sql, str) or len(sql.split()) > 1


def _select(table: str, columns: Sequence[str] | None, quote: Any) -> str:
    chosen = "*" if columns is None else ", ".join(map(quote, columns))
    return f"SELECT {chosen} FROM {'.'.join(map(quote, table.strip().split('.')))}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _distinct(names: list[str]) -> list[str]:
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ConfigurationError(f"The query returns two columns named {twice!r}. Rename one of them with AS.")
    return [str(name) for name in names]


def _finish(names: list[str], options: SqlConfig) -> tuple[list[str], Any]:
    """Return the columns in order, and the function that makes a row from fetched values."""
    index = [options.index_col] if isinstance(options.index_col, str) else list(options.index_col or ())
    dates = options.parse_dates or {}
    dates = dict(dates) if isinstance(dates, Mapping) else dict.fromkeys([dates] if isinstance(dates, str) else dates)
    for option, wanted in (("index_col", index), ("parse_dates", list(dates))):
        if unknown := [name for name in wanted if name not in names]:
            raise ConfigurationError(f"{option}= names {unknown[0]!r}. Available columns: {', '.join(map(repr, names))}.")
    order = [name for name in names if name not in index] + index
    places = [names.index(name) for name in order]
    parsers = {places[order.index(name)]: _date_parser(form) for name, form in dates.items()}
    coerce, is_plain = options.coerce_float, places == list(range(len(names)))

    def finish(values: Sequence[Any]) -> list[Any]:
        made = [float(value) if coerce and type(value) is Decimal else value for value in values]
        for place, parse in parsers.items():
            made[place] = parse(made[place])
        return made if is_plain else [made[place] for place in places]

    return order, finish


def _date_parser(form: Any) -> Any:
    from datetime import UTC, datetime

    def parse(value: Any) -> Any:
        if isinstance(value, (int, float)):
            return datetime.fromtimestamp(value, UTC).replace(tzinfo=None)
        if not isinstance(value, str):
            return value
        return datetime.strptime(value, form) if isinstance(form, str) else datetime.fromisoformat(value)

    return parse


# -- the connection ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _opened(con: Any) -> Iterator[Any]:
    """A connection: the user's own, or a new one that is closed afterwards."""
    if isinstance(con, (str, os.PathLike)):
        path = _sqlite_path(os.fspath(con))
        if path is not None:
            import sqlite3

            if not os.path.isfile(path):
                raise ConfigurationError(f"The database {path} does not exist. Check the path after 'sqlite:///'.")
            opened = sqlite3.connect(f"file:{_percent(path)}?mode=ro", uri=True)
            # A read-only connection still allows ATTACH and VACUUM INTO to create other files.
            opened.set_authorizer(lambda action, *_: int(action == sqlite3.SQLITE_ATTACH))  # 1: deny the statement
            with contextlib.closing(opened):
                yield opened
            return
        con = _engine(os.fspath(con))
        try:
            with con.connect() as connection:
                yield connection
        finally:
            con.dispose()
    elif hasattr(con, "connect") and hasattr(con, "dialect") and not hasattr(con, "exec_driver_sql"):
        with con.connect() as connection:
            yield connection
    elif hasattr(con, "cursor") or hasattr(con, "exec_driver_sql"):
        yield con
    else:
        raise ConfigurationError(f"con={type(con).__name__} is not a connection. Pass a URI, a DB-API connection or an engine.")


def _engine(uri: str) -> Any:
    return needed("sqlalchemy", f"The database {redact(uri)}", "datasets_core[sql]").create_engine(uri)


def _sqlite_path(uri: str) -> str | None:
    if not uri.startswith(_SQLITE) or "?" in uri or uri == _SQLITE + ":memory:":
        return None
    return os.path.abspath(uri.removeprefix(_SQLITE))


def _percent(path: str) -> str:
    from urllib.parse import quote

    return quote(path)


def _identity(con: Any) -> str:
    path = _sqlite_path(os.fspath(con)) if isinstance(con, (str, os.PathLike)) else None
    if path is None:
        return uuid.uuid4().hex  # the content of a database cannot be identified without reading it
    seen = []
    for each in (path, f"{path}-wal"):
        with contextlib.suppress(OSError):
            status = os.stat(each)
            seen.append(f"{each} {status.st_size} {status.st_mtime_ns}")
    return " ".join(seen)
