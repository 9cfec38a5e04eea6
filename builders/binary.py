"""Binary tables, each read by one library: ORC (pyarrow), Avro (fastavro), workbooks (calamine), numpy arrays, SQLite files."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from itertools import islice
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, DatasetsCoreError, logger_of
from datasets_core.features.arrow import struct_array
from datasets_core.features.base import plain_array
from datasets_core.features.schema import RowEncoder
from datasets_core.fetch.members import Budget
from datasets_core.optional import needed

from ._source import Source, refuse_foreign
from ._tables import FileBuilder

logger = logger_of(__name__)

_HEAD_BYTES = 4096
_BATCH_ROWS = 1 << 12
_AGAIN = "Write or fetch the file again"


@dataclass(eq=False)
class TableConfig(BuilderConfig):
    """Options of `load_dataset("orc", ...)` and `load_dataset("avro", ...)`.

    Args:
        features: types that the columns are cast to.
    """

    features: Any = None


class _Binary(FileBuilder):
    """A format of local files with a magic number."""

    BUILDER_CONFIG_CLASS: ClassVar[type[BuilderConfig]] = TableConfig
    EXTENSIONS: ClassVar[Mapping[str, Mapping[str, Any]]]
    magics: ClassVar[tuple[bytes, ...]]
    noun: ClassVar[str]
    seeks = True

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        """See `FileBuilder.read`.

        Raises:
            FileFormatError: the file is damaged, or of another kind.
        """
        with open(source.path, "rb") as handle:
            head = handle.read(_HEAD_BYTES)
        if not head.startswith(self.magics):
            refuse_foreign(source, head, self.noun)
            raise source.fault(f"is not {self.noun}", advice="Load it with its own format")
        try:
            yield from self._batches(source)
        except DatasetsCoreError:
            raise
        except Exception as error:  # each library has its own errors
            reason = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            raise source.fault(f"cannot be read as {self.noun} ({reason})", advice=_AGAIN) from error

    def _batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        raise NotImplementedError


class Orc(_Binary):
    """ORC files, stripe by stripe."""

    is_format = True
    name = "orc"
    cache_version = "1"
    EXTENSIONS: ClassVar[dict[str, dict[str, Any]]] = {".orc": {}}
    magics, noun = (b"ORC",), "an ORC file"

    def _batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        from pyarrow import orc

        file = orc.ORCFile(source.path)
        for number in range(file.nstripes):
            yield file.read_stripe(number)
        if not file.nstripes:
            yield pa.RecordBatch.from_arrays([pa.nulls(0, field.type) for field in file.schema], schema=file.schema)


class Avro(_Binary):
    """Avro files, by the package fastavro."""

    is_format = True
    name = "avro"
    cache_version = "1"
    EXTENSIONS: ClassVar[dict[str, dict[str, Any]]] = {".avro": {}}
    magics, noun = (b"Obj\x01",), "an Avro file"

    def _batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        fastavro = needed("fastavro", "The format avro", "datasets_core[avro]")
        encoder, schema = RowEncoder(None), None
        with open(source.path, "rb") as handle:
            reader = fastavro.reader(handle)
            while rows := list(islice(reader, _BATCH_ROWS)):
                batch = encoder.encode(rows)
                yield batch
                schema = batch.schema
            if schema is None:
                names = [field["name"] for field in reader.writer_schema["fields"]]
                yield pa.RecordBatch.from_arrays([pa.nulls(0) for _ in names], names)


# Arrays of numpy.


@dataclass(eq=False)
class NumpyConfig(BuilderConfig):
    """Options of `load_dataset("numpy", ...)`.

    Args:
        column: name of the column of an `.npy` file; a structured array has those of its fields.
        features: types that the columns are cast to.
    """

    column: str = "array"
    features: Any = None


class Numpy(_Binary):
    """Arrays in `.npy` and `.npz` files, whose first dimension is that of the rows; pickled objects are refused."""

    is_format = True
    name = "numpy"
    cache_version = "2"
    BUILDER_CONFIG_CLASS = NumpyConfig
    EXTENSIONS: ClassVar[dict[str, dict[str, Any]]] = {".npy": {}, ".npz": {}}
    magics, noun = (b"\x93NUMPY", b"PK"), "a numpy file"

    def _batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        if zipfile.is_zipfile(source.path):
            _check_size(source)
        try:
            mapped = np.load(source.path, mmap_mode="r", allow_pickle=False)
            if isinstance(mapped, np.ndarray):
                fields = mapped.dtype.names
                arrays = {name: mapped[name] for name in fields} if fields else {self.config.column: mapped}
            else:
                with mapped:
                    arrays = {name: mapped[name] for name in mapped.files}
        except ValueError as error:
            if "allow_pickle" not in str(error) and "Python objects" not in str(error):
                raise
            raise source.fault(
                "holds Python objects, stored as a pickle, which is not loaded because it can run any code",
                advice="Save numbers or texts, as by numpy.save(path, array.astype(str)), or write the rows as JSON or Parquet",
            ) from None
        if not arrays:
            raise source.fault("contains no arrays", advice="Save at least one, as by numpy.savez(path, a=array)")
        if single := [name for name, array in arrays.items() if not array.ndim]:
            told = f"has a single value, not an array with rows: {', '.join(map(repr, single))}"
            raise source.fault(told, advice="Save arrays with a first dimension, and single values in another file")
        lengths = {name: len(array) for name, array in arrays.items()}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{length} in {name!r}" for name, length in lengths.items())
            raise source.fault(
                f"has arrays of different lengths ({told})", advice="Save each in a separate file, or give all the same length"
            )
        rows = next(iter(lengths.values()))
        row_bytes = sum(array.nbytes for array in arrays.values()) // max(rows, 1)
        step = max(1, min(1 << 16, settings().batch_bytes // max(row_bytes, 1)))
        for start in range(0, max(rows, 1), step):
            columns = {name: _array_column(array[start : start + step]) for name, array in arrays.items()}
            fields_ = [pa.field(name, column.type, metadata=metadata) for name, (column, metadata) in columns.items()]
            yield pa.RecordBatch.from_arrays([column for column, _ in columns.values()], schema=pa.schema(fields_))


def _array_column(values: np.ndarray[Any, Any]) -> tuple[pa.Array, Any]:
    if values.dtype.kind == "U" and values.ndim == 1:
        return plain_array(values.tolist(), pa.string()), None
    if values.dtype.kind in "mM" and values.ndim == 1:
        return pa.array(np.ascontiguousarray(values)), None
    if values.dtype.names is not None and values.ndim == 1:
        columns = {name: _array_column(values[name]) for name in values.dtype.names}
        kind = pa.struct([pa.field(name, array.type, metadata=metadata) for name, (array, metadata) in columns.items()])
        return struct_array(kind, len(values), None, [array for array, _ in columns.values()]), None
    from .hdf5 import column_of_array

    try:
        return column_of_array(values, values.dtype)
    except NotImplementedError:
        raise TypeError(f"arrays of {values.dtype} with {values.ndim} dimensions are not supported") from None


def _check_size(source: Source) -> None:
    """Refuse a zip that extracts to too much."""
    budget = Budget(source.name, os.path.getsize(source.path), settings())
    with zipfile.ZipFile(source.path) as packed:
        for member in packed.infolist():
            budget.take_bytes(member.file_size)


# Workbooks.


@dataclass(eq=False)
class ExcelConfig(BuilderConfig):
    """Options of `load_dataset("excel", ...)`.

    Args:
        sheet_name: name of the sheet, or its number from 0.
        header: number of the row with the names of the columns, from 0; None for columns "0", "1", ….
        features: types that the columns are cast to.
    """

    sheet_name: str | int = 0
    header: int | None = 0
    features: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        sheet, header = self.sheet_name, self.header
        if not isinstance(sheet, (str, int)) or isinstance(sheet, bool):
            advice = "Pass the name of one sheet, or its number from 0; each sheet is a dataset"
            raise ConfigurationError(f"Invalid sheet_name={sheet!r}", advice=advice, value=sheet)
        if header is not None and (not isinstance(header, int) or isinstance(header, bool) or header < 0):
            advice = "Pass the number of the row with the names, from 0, or None"
            raise ConfigurationError(f"Invalid header={header!r}", advice=advice, value=header)


class Excel(_Binary):
    """Sheets of workbooks (xlsx, xlsm, xlsb, xls, ods), by the package python-calamine; formulas are read as their results."""

    is_format = True
    name = "excel"
    cache_version = "1"
    BUILDER_CONFIG_CLASS = ExcelConfig
    EXTENSIONS: ClassVar[dict[str, dict[str, Any]]] = {name: {} for name in (".xlsx", ".xlsm", ".xlsb", ".xls", ".ods")}
    magics, noun = (b"PK", b"\xd0\xcf\x11\xe0"), "a workbook"

    def _batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        calamine = needed("python_calamine", "The format excel", "datasets_core[excel]")
        if zipfile.is_zipfile(source.path):
            _check_size(source)
        asked, header = self.config.sheet_name, self.config.header
        with calamine.CalamineWorkbook.from_path(source.path) as book:
            known = book.sheet_names
            if not (asked in known if isinstance(asked, str) else -len(known) <= asked < len(known)):
                raise ConfigurationError(f"{source.name} has no sheet {asked!r}. Its sheets are {', '.join(map(repr, known))}.")
            if len(known) > 1:
                logger.info("Of %s, sheet %r of %s is read.", source.name, asked, ", ".join(map(repr, known)))
            sheet = book.get_sheet_by_name(asked) if isinstance(asked, str) else book.get_sheet_by_index(asked % len(known))
            rows = sheet.to_python(skip_empty_area=False)
        width = max(map(len, rows), default=0)
        names = list(map(str, range(width)))
        if header is not None:
            if header >= len(rows):
                raise source.fault(
                    f"has no row {header} with the names of the columns", advice="Pass header=None, or the number of a row"
                )
            from ._csv_types import mangled

            names = mangled([_title(value) for value in rows[header]] + [""] * (width - len(rows[header])))
            rows = rows[header + 1 :]
        columns = [_cells([row[place] if place < len(row) else "" for row in rows]) for place in range(width)]
        table = pa.table(columns, names=names) if names else pa.table({})
        yield from table.to_batches(_BATCH_ROWS * 16) or [pa.RecordBatch.from_arrays([pa.nulls(0) for _ in names], names)]


def _title(value: Any) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value).strip()


def _cells(values: list[Any]) -> pa.Array:
    """Return the cells of a column: numbers that are whole are integers, cells of several kinds are text."""
    values = [None if value == "" else value for value in values]
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float}:
        is_whole = all(float(value).is_integer() and abs(value) < 2**53 for value in values if value is not None)
        number = int if is_whole else float
        kind = pa.null() if not kinds else pa.int64() if is_whole else pa.float64()
        return pa.array([None if value is None else number(value) for value in values], kind)
    if kinds == {date, datetime}:
        values = [datetime(value.year, value.month, value.day) if type(value) is date else value for value in values]
    elif len(kinds) > 1:
        values = [None if value is None else _title(value) for value in values]
    found = pa.array(values)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


# SQLite.


@dataclass(eq=False)
class SqliteConfig(BuilderConfig):
    """Options of `load_dataset("sqlite", ...)`.

    Args:
        table: the table or view to read; None: the only one.
        columns: the columns to read; None: all.
        features: types that the columns are cast to.
    """

    table: str | None = None
    columns: list[str] | None = None
    features: Any = None


class Sqlite(_Binary):
    """Tables of SQLite files; for queries and other databases see `sql`."""

    is_format = True
    name = "sqlite"
    cache_version = "1"
    BUILDER_CONFIG_CLASS = SqliteConfig
    EXTENSIONS: ClassVar[dict[str, dict[str, Any]]] = {name: {} for name in (".sqlite", ".sqlite3", ".db", ".db3")}
    magics, noun = (b"SQLite format 3\0",), "an SQLite file"

    def _batches(self, source: Source) -> Iterator[pa.RecordBatch]:
        from .sql import SqlConfig, read_sql

        con, table = f"sqlite:///{source.path}", self.config.table
        tables = _tables(read_sql(SqlConfig(sql=_TABLES, con=con)))
        if (table is None and len(tables) != 1) or (table is not None and table not in tables):
            known = ", ".join(map(repr, tables)) or "none"
            raise ConfigurationError(
                f"{source.name} has {f'no table {table!r}' if table else f'{len(tables)} tables'}. Pass table=, one of {known}."
            )
        names = None if self.config.columns is None else list(self.config.columns)
        quoted = "*" if names is None else ", ".join(map(_quoted, names))
        yield from read_sql(SqlConfig(sql=f"SELECT {quoted} FROM {_quoted(table or tables[0])}", con=con))


_TABLES = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%' ORDER BY name"


def _tables(batches: Iterable[pa.RecordBatch]) -> Sequence[str]:
    return [name for batch in batches for name in batch.column(0).to_pylist()]


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
