"""Comma-separated values, also with other separators, with the options and semantics of `pandas.read_csv`.

pyarrow reads them.  Python's csv module splits the fields for the few options that pyarrow lacks; `pandas` itself reads,
if it is installed, for options that only it has.
"""

from __future__ import annotations

import io
import numbers
import os
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig
from datasets_core.errors import ConfigurationError, FileFormatError, logger_of
from datasets_core.features.base import Feature, Value
from datasets_core.files import disk_errors, kind_of
from datasets_core.optional import needed

from ._tables import FileBuilder

if TYPE_CHECKING:
    from datasets_core.building.marks import Mark
    from datasets_core.features.base import FeatureType
    from datasets_core.features.schema import Features

    from ._csv_types import ColumnTypes, CsvForm, TextRules
    from ._source import Source, TextBytes


# csv read by pandas, for options that only pandas has: it splits the fields, and the types follow the same rules as
# everywhere.


_READ_BYTES = 1 << 18


def read_csv_by_pandas(
    source: Source,
    options: dict[str, Any],
    form: CsvForm,
    schema: pa.Schema | None,
    *,
    option: str,
    as_text: Collection[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Return the rows of a csv file as `pandas.read_csv` splits them.

    Args:
        source: the file.
        options: keyword arguments of `pandas.read_csv`.
        form: layout of the file, for the conversion of text.
        schema: types known from other files or from an earlier pass.
        option: the option that needs pandas, for the error if pandas is missing.
        as_text: columns that stay text as requested by the features.

    Raises:
        MissingDependencyError: pandas is not installed.
        FileFormatError: pandas cannot read the file.
        Replay: a column needs a wider type than delivered rows had.
    """
    from ._csv_types import ColumnTypes
    from ._source import text_reader

    pd = needed("pandas", f"The csv option {option}")
    settled = ColumnTypes(schema, as_text, form.null_numbers_of if form.null_numbers else None)

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            with text_reader(source, "csv", encoding=options["encoding"], errors=options["encoding_errors"]) as text:
                yielded = False
                # pandas must find the end before the footer, and returns no chunk if no row is requested
                whole = bool(options.get("skipfooter")) or options.get("nrows") == 0
                ours: dict[str, Any] = {"encoding": "utf-8", "encoding_errors": "strict", "engine": _engine(options)}
                ours |= {"chunksize": None} if whole else {}
                found: Any = pd.read_csv(io.BufferedReader(_File(text)), dtype=str, iterator=not whole, **(options | ours))
                for frame in [found] if whole else _frames(found):
                    if yielded and not len(frame):
                        continue
                    yielded = True
                    columns = _columns(frame, form.rules, settled, options.get("converters") or ())
                    for name, column in columns.items():
                        if settled.types.get(name) == pa.string() and column.type not in (pa.string(), pa.null()):
                            raise source.fault(
                                f"the converter of {name!r} returns text for some rows and {column.type} for others",
                                advice="Return values of one type from the converter",
                            )
                    yield settled.batch(columns)
        except FileFormatError:
            raise
        except Exception as error:  # pandas passes on IndexError and others, and converters may raise anything
            reason = f"{type(error).__name__}: {error}"
            raise source.fault(f"pandas cannot read it ({' '.join(reason.split())[:300]})") from error

    return settled.pass_on(batches())


def _engine(options: dict[str, Any]) -> str | None:
    """Return the engine that these options need, which pandas would otherwise choose with a warning."""
    sep, quote = options.get("sep"), options.get("quotechar") or ""
    is_python = (
        sep is None
        or (len(sep) > 1 and sep != r"\s+")
        or not (sep + quote).isascii()
        or bool(options.get("skipfooter"))
        or callable(options.get("on_bad_lines"))
    )
    engine: str | None = options.get("engine")
    return "python" if engine is None and is_python else engine


def _frames(reader: Any) -> Iterator[Any]:
    """Yield the chunks of a reader, without its warning that converters take precedence over the type of all columns."""
    while True:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Both a converter and dtype")
            frame = next(reader, None)
        if frame is None:
            return
        yield frame


class _File(io.RawIOBase):
    """Text as the file object that pandas needs."""

    def __init__(self, text: TextBytes) -> None:
        self._text, self._held = text, b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        size = len(buffer)
        data = self._held or self._text.read(_READ_BYTES)
        buffer[: min(size, len(data))] = data[:size]
        self._held = data[size:]
        return min(size, len(data))


def _columns(frame: Any, rules: TextRules, settled: ColumnTypes, converted: Collection[Any]) -> dict[str, pa.Array]:
    """Return the columns of a frame, the index last unless it only counts the rows; columns in `converted` have their types."""
    from ._csv_types import index_names

    columns = {str(name): frame[name] for name in frame.columns}
    if type(frame.index).__name__ != "RangeIndex":
        for level, name in enumerate(frame.index.names):
            plain = index_names(frame.index.nlevels, columns)[level]
            columns[str(name) if name is not None else plain] = frame.index.get_level_values(level)
    found = {}
    for number, (name, values) in enumerate(columns.items()):
        column = pa.array(values, from_pandas=True)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if column.null_count == len(column):
            column = pa.nulls(len(column))  # pandas has a type for the column
        if pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        if pa.types.is_string(column.type) and not settled.is_text(name) and not {name, number} & {*converted}:
            column = rules.typed(column)
        found[name] = column
    return found


EXTENSIONS: dict[str, dict[str, Any]] = {".csv": {}, ".tsv": {"sep": "\t"}, ".tab": {"sep": "\t"}}

logger = logger_of(__name__)

_HEAD_BYTES = 1 << 19  # bytes of a stream, to determine the types
_ON_BAD_LINES = ("error", "warn", "skip")
_TEXTS = (
    *("delimiter", "sep", "prefix", "thousands", "decimal", "lineterminator", "quotechar", "escapechar", "comment"),
    *("encoding", "encoding_errors", "date_format", "float_precision"),
)
_SWITCHES = (
    *("mangle_dupe_cols", "skipinitialspace", "keep_default_na", "na_filter", "verbose", "skip_blank_lines"),
    *("error_bad_lines", "warn_bad_lines", "doublequote", "memory_map"),
)
_NOT_FOR_PANDAS = {
    *(
        "delimiter",
        "column_names",
        "features",
        "on_short_lines",
        "dtype",
        "parse_dates",
    ),  # of ours, or another name of an option
    *("prefix", "mangle_dupe_cols", "error_bad_lines", "warn_bad_lines", "verbose"),  # removed from pandas
}


@dataclass(eq=False)
class CsvConfig(BuilderConfig):
    """Options of `load_dataset("csv", ...)`: those of `pandas.read_csv`, with its defaults.

    A column's type is that of the whole split.  Integers with nulls stay integers; integers past 64 bits, dates and mixed
    columns stay text unchanged.  A row of the wrong length is an error unless `on_bad_lines` says otherwise.

    Args:
        features: target types of the columns.
        on_bad_lines: "error" refuses a row of the wrong length; "warn" and "skip" drop longer rows, and fill shorter ones.
        on_short_lines: "fill" ends rows that are too short with nulls, as pandas does; "error" leaves them to `on_bad_lines`.
        dtype: types of columns by name, as `{"zip": str, "n": "int32"}`, or one type for all columns; the others are inferred.
        parse_dates: names of columns of dates in the form of ISO 8601, or in that of `date_format`.
    """

    sep: str | None = ","
    delimiter: str | None = None
    header: int | list[int] | str | None = "infer"
    names: list[str] | None = None
    column_names: list[str] | None = None
    index_col: Any = None
    usecols: Any = None
    prefix: str | None = None
    mangle_dupe_cols: bool = True
    engine: Literal["c", "python", "pyarrow"] | None = None
    converters: dict[Any, Any] | None = None
    true_values: list[Any] | None = None
    false_values: list[Any] | None = None
    skipinitialspace: bool = False
    skiprows: Any = None
    nrows: int | None = None
    na_values: Any = None
    keep_default_na: bool = True
    na_filter: bool = True
    verbose: bool = False
    skip_blank_lines: bool = True
    thousands: str | None = None
    decimal: str = "."
    lineterminator: str | None = None
    quotechar: str | None = '"'
    quoting: int = 0
    escapechar: str | None = None
    comment: str | None = None
    encoding: str | None = None
    dialect: Any = None
    error_bad_lines: bool = True
    warn_bad_lines: bool = True
    skipfooter: int = 0
    doublequote: bool = True
    memory_map: bool = False
    float_precision: str | None = None
    chunksize: int = 10_000
    features: Any = None
    encoding_errors: str | None = "strict"
    on_bad_lines: Literal["error", "warn", "skip"] = "error"
    date_format: str | None = None
    on_short_lines: Literal["error", "fill"] = "error"
    dtype: Any = None
    parse_dates: Any = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.delimiter is not None:
            self.sep = self.delimiter
        if self.column_names is not None:
            self.names = self.column_names
        if (wrong := self._of_another_kind() or self._without_meaning()) is not None:
            name, advice = wrong
            raise ConfigurationError(f"{name}={getattr(self, name)!r} is not valid. {advice}.")
        self.names = None if self.names is None else list(self.names)
        if self.on_bad_lines not in _ON_BAD_LINES and not callable(self.on_bad_lines):
            raise ConfigurationError(f"on_bad_lines={self.on_bad_lines!r} is unknown. Pass 'error', 'warn' or 'skip'.")
        if self.on_short_lines not in ("error", "fill"):
            raise ConfigurationError(f"on_short_lines={self.on_short_lines!r} is unknown. Pass 'error' or 'fill'.")
        if self.names is not None and len(set(self.names)) < len(self.names):
            raise ConfigurationError(f"names={self.names!r} has a name twice. Use each name once.")
        if not self.mangle_dupe_cols:
            raise ConfigurationError("mangle_dupe_cols=False gives two columns the same name. Omit it, or pass names=.")
        if isinstance(self.header, str) and self.header != "infer":
            raise ConfigurationError(f"header={self.header!r} is unknown. Pass the number of the header line, 'infer' or None.")
        if not self.error_bad_lines and self.on_bad_lines == "error":  # the old name
            self.on_bad_lines = "warn" if self.warn_bad_lines else "skip"
        dates = self.parse_dates
        if dates is not None and not (isinstance(dates, (list, tuple)) and all(isinstance(name, str) for name in dates)):
            raise ConfigurationError(f"parse_dates={dates!r} is not a list of names. Pass those of columns, as ['date'].")
        self.types()  # refuses types that do not exist

    def types(self) -> dict[Any, FeatureType]:
        """Return the feature of each column in `dtype` and `parse_dates`; with the key None that of all others."""
        found = {name: _dtype_feature(kind) for name, kind in self.dtype.items()} if isinstance(self.dtype, Mapping) else {}
        if self.dtype is not None and not isinstance(self.dtype, Mapping):
            found[None] = _dtype_feature(self.dtype)
        return {**found, **{name: Value("timestamp[us]") for name in self.parse_dates or ()}}

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Features | None = None) -> str:
        """See `BuilderConfig.create_config_id`: a separator that was found in the first local file is part of it."""
        found = {} if {"sep", "delimiter", "dialect", "names", "column_names"} & set(config_kwargs) else self._sniffed()
        if found:
            found = {name: value for name, value in found.items() if name not in config_kwargs}
            vars(self).update(found)
            config_kwargs = {**config_kwargs, **found}
        return super().create_config_id(config_kwargs, custom_features)

    def _sniffed(self) -> dict[str, str]:
        """Return separator and decimal point of the first data file, if it is a local one and its header has no comma."""
        path = next((name for names in (self.data_files or {}).values() for name in names), None)
        stored = (path or "").rpartition("::")[2]  # of a member: its archive
        if self.sep != "," or self.skiprows or self.header not in ("infer", 0) or not path or not os.path.isfile(stored):
            return {}
        with disk_errors(stored, action="read"), open(stored, "rb") as handle:
            head = handle.read(_SNIFFED_BYTES)
        if path != stored or kind_of(head) is not None:
            from ._source import first_bytes

            head = first_bytes(path, _SNIFFED_BYTES)
        sep = sniffed(head, (self.quotechar or '"').encode())
        if sep is None:
            return {}
        found = {"sep": sep} | ({"decimal": ","} if has_decimal_commas(head, sep) and self.decimal == "." else {})
        told = " and ".join(f"{name}={value!r}" for name, value in found.items())
        logger.warning("%s is read with %s, by its first lines. Pass sep=',' if commas separate its columns.", path, told)
        return found

    def _of_another_kind(self) -> tuple[str, str] | None:
        """Return the first option with a value of a wrong type, and the advice; None if all are valid."""
        for name in _TEXTS:
            value = getattr(self, name)
            if not isinstance(value, str) and not (value is None and name != "decimal"):
                return name, "Pass a string" if name == "decimal" else "Pass a string, or None"
        for name in _SWITCHES:
            if not isinstance(getattr(self, name), (bool, int)):
                return name, "Pass True or False"
        for name in ("column_names", "names"):
            value = getattr(self, name)
            if value is not None and (isinstance(value, str) or not isinstance(value, Iterable)):
                return name, "Pass a list of names"
        for name in ("skiprows", "usecols"):
            value = getattr(self, name)
            if not (value is None or _is_count(value) or callable(value) or isinstance(value, Iterable)):
                return name, "Pass a list, or a function"
        return None

    def _without_meaning(self) -> tuple[str, str] | None:
        """Return the first option with an invalid value, and the advice; None if all are valid."""
        signs = ("", "\n", "\r", self.escapechar, self.quotechar if self.quoting != 3 else None)
        rules = {
            "sep": (self.sep is None or self.sep not in signs, "Pass the separator of fields"),
            "quotechar": (self.quotechar is None or len(self.quotechar) == 1, "Pass one character, or None"),
            "escapechar": (self.escapechar is None or len(self.escapechar) == 1, "Pass one character, or None"),
            "thousands": (self.thousands is None or (len(self.thousands) == 1 and self.thousands != self.decimal),
                          "Pass one character that is not the decimal point, or None"),
            "quoting": (self.quoting in range(4), "Pass csv.QUOTE_MINIMAL, QUOTE_ALL, QUOTE_NONNUMERIC or QUOTE_NONE"),
            "skipfooter": (_is_count(self.skipfooter), "Pass a number of lines"),
            "chunksize": (self.chunksize is None or (_is_count(self.chunksize) and self.chunksize > 0), "Pass a number"),
            "nrows": (self.nrows is None or _is_count(self.nrows), "Pass a number of rows, or None"),
            "skiprows": (not isinstance(self.skiprows, (int, str)) or _is_count(self.skiprows),
                         "Pass a number, a list of numbers, or a function"),
            "header": (not isinstance(self.header, int) or _is_count(self.header), "Pass a number, 'infer' or None"),
            "usecols": (not isinstance(self.usecols, (str, int)), "Pass a list of names or numbers, or a function"),
        }  # fmt: skip
        return next(((name, advice) for name, (has_meaning, advice) in rules.items() if not has_meaning), None)

    @property
    def pandas_only(self) -> str | None:
        """Return the first given option that only pandas has; None if there is none."""
        only = {
            "sep": self.sep is None or len(self.sep) != 1,
            "header": isinstance(self.header, (list, tuple)),
            "converters": bool(self.converters),
            "lineterminator": self.lineterminator not in (None, "\n", "\r\n", "\r"),
            "quoting": self.quoting not in (0, 1, 3),
            "comment": self.comment is not None,
            "dialect": self.dialect is not None,
            "skipfooter": self.skipfooter != 0,
            "decimal": len(self.decimal) != 1,
            "on_bad_lines": callable(self.on_bad_lines),
        }
        found = next((name for name, is_only in only.items() if is_only), None)
        return None if found is None else f"{found}={getattr(self, found)!r}"

    @property
    def pandas_options(self) -> dict[str, Any]:
        """The options as `pandas.read_csv` takes them."""
        own = _NOT_FOR_PANDAS | {field.name for field in fields(BuilderConfig)}
        options = {field.name: getattr(self, field.name) for field in fields(self) if field.name not in own}
        if self.names is None:
            del options["names"]
        return options

    def form(self) -> CsvForm:
        """Return the layout that these options describe."""
        from ._csv_types import (
            CsvForm,
            Grammar,
            TextRules,
        )

        sep = self.sep or ","
        quote = None if self.quoting == 3 else self.quotechar
        nulls = self._nulls()
        header = 0 if self.header == "infer" else self.header
        singles = (sep, quote or "", self.escapechar or "")
        return CsvForm(
            grammar=Grammar(
                sep.encode(),
                quote.encode() if quote else None,
                self.escapechar.encode() if self.escapechar else None,
                self.doublequote,
                self.skipinitialspace,
            ),
            rules=TextRules(
                self.decimal, self.thousands, tuple(map(str, self.true_values or ())), tuple(map(str, self.false_values or ()))
            ),
            delimiter=sep,
            quote=quote,
            escape=self.escapechar,
            header=None if self.names is not None and self.header == "infer" else header,  # type: ignore[arg-type]  # lists went to pandas
            names=None if self.names is None else tuple(map(str, self.names)),
            prefix=self.prefix or "",
            keep_columns=self.usecols,
            index=_index(self.index_col),
            skip_records=_skipped(self.skiprows),
            skip_initial_space=self.skipinitialspace,
            skip_blank=self.skip_blank_lines,
            num_rows=self.nrows,
            nulls=nulls,
            null_numbers=self._null_numbers(),
            bad_rows=self.on_bad_lines,
            fills_short_rows=self.on_short_lines == "fill",
            encoding=self.encoding,
            encoding_errors=self.encoding_errors or "strict",
            by_python=self.skipinitialspace
            or not self.skip_blank_lines
            or not isinstance(_skipped(self.skiprows), int)
            or isinstance(nulls, dict)
            or any(len(single.encode()) > 1 for single in singles),
        )

    def _nulls(self) -> tuple[str, ...] | dict[str, tuple[str, ...]]:
        if not self.na_filter:
            return ()
        from ._csv_types import DEFAULT_NULLS

        default = DEFAULT_NULLS if self.keep_default_na else ()
        if isinstance(self.na_values, dict):
            return {"": default, **{str(name): default + _spelled(values) for name, values in self.na_values.items()}}
        return default + _spelled(self.na_values)

    def _null_numbers(self) -> tuple[float, ...] | dict[str, tuple[float, ...]]:
        if not self.na_filter or self.na_values is None:
            return ()
        if isinstance(self.na_values, dict):
            return {str(name): _numbers(values) for name, values in self.na_values.items()}
        return _numbers(self.na_values)


class Csv(FileBuilder):
    """Files of separated values."""

    is_format = True
    name = "csv"
    cache_version = "e86722281255b0e468f4929517b896b1"
    BUILDER_CONFIG_CLASS = CsvConfig
    streams = True
    rereads = True
    has_marks = True

    @property
    def is_native(self) -> bool:
        return self.config.pandas_only is None and not self.config.form().by_python

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType:
        """See `FileBuilder.join_types`: a column that is not numeric in all jobs is text.

        So are integers past 63 bits in one job with integers in another, which may be negative.
        """
        from ._csv_types import widened

        return pa.string() if {a, b} == {pa.int64(), pa.uint64()} else widened(a, b)

    def read_live(
        self, source: Source, schema: pa.Schema | None, mark: Mark | None
    ) -> Iterator[tuple[pa.RecordBatch, Mark | None]]:
        """See `FileBuilder.read_live`; without marks if pandas reads."""
        from ._csv_reader import csv_blocks

        config: CsvConfig = self.config
        if config.pandas_only is not None:
            yield from ((batch, None) for batch in self.read(source, schema))
            return
        wanted = self.wanted
        typed = _Typed(source, config)
        blocks = csv_blocks(
            source,
            config.form(),
            schema,
            mark,
            as_text=self._texts,
            if_empty=None if wanted is None else list(wanted),
            has_features=wanted is not None,
            first_bytes=_HEAD_BYTES if wanted is None else 0,
        )
        yield from ((typed.batch(batch), told) for batch, told in blocks)

    @property
    def _texts(self) -> Collection[str]:
        """Return the columns to be read as text, unchanged."""
        from ._csv_types import EVERY

        types = self.config.types()
        if None in types and _is_text(types[None]):
            return EVERY
        named = {**(self.wanted or {}), **types}
        return [name for name, feature in named.items() if _is_text(feature)]

    def read(self, source: Source, schema: pa.Schema | None) -> Iterator[pa.RecordBatch]:
        from ._csv_reader import read_csv

        config: CsvConfig = self.config
        as_text = self._texts
        if (option := config.pandas_only) is not None:
            batches = read_csv_by_pandas(source, config.pandas_options, config.form(), schema, option=option, as_text=as_text)
        else:
            known = self.wanted
            batches = read_csv(source, config.form(), schema, as_text=as_text, if_empty=None if known is None else list(known))
        return map(_Typed(source, config).batch, batches)


# Types given by `dtype` and `parse_dates`.

_DTYPES = {"str": "string", "object": "string", "category": "string", "boolean": "bool"}


def _dtype_feature(kind: Any) -> FeatureType:
    """Return the feature of a type as pandas, numpy, Arrow or this library name it.

    >>> _dtype_feature(str), _dtype_feature("Int64"), _dtype_feature("datetime64[ns]")
    (Value('string'), Value('int64'), Value('timestamp[ns]'))
    """
    if isinstance(kind, (Feature, dict)):
        return kind
    if isinstance(kind, pa.DataType):
        from datasets_core.features.schema import feature_from_arrow  # takes 5 ms; a finished dataset does not need it

        return feature_from_arrow(kind)
    name = (kind.__name__ if isinstance(kind, type) else str(kind)).lower()
    name = {"int": "int64", "float": "float64"}.get(name, name) if isinstance(kind, (type, str)) else name
    dated = re.fullmatch(r"datetime64\[(s|ms|us|ns)\]", name)
    return Value(f"timestamp[{dated[1]}]" if dated else _DTYPES.get(name, name))


class _Typed:
    """Batches of one csv file with the types that `dtype` and `parse_dates` give."""

    def __init__(self, source: Source, config: CsvConfig) -> None:
        self._source, self._types, self._form, self._row = source, config.types(), config.date_format, 0
        self._dates = set(config.parse_dates or ())
        self._all = self._types.pop(None, None)

    def batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the batch with these types.

        Raises:
            ConfigurationError: a column does not exist.
            FileFormatError: a value does not fit; the error names row and column.
        """
        if not self._types and self._all is None:
            return batch
        names = batch.schema.names
        for name in self._types:
            if name not in names:
                option, known = "parse_dates" if name in self._dates else "dtype", ", ".join(map(repr, names[:20]))
                raise ConfigurationError(f"{option} names column {name!r}, which {self._source.name} lacks. Columns: {known}.")
        columns = list(batch.columns)
        for place, (name, column) in enumerate(zip(names, columns, strict=True)):
            feature = self._types.get(name, self._all)
            if feature is not None:
                columns[place] = self._cast(column, feature, name, name in self._dates)
        self._row += batch.num_rows
        return pa.RecordBatch.from_arrays(columns, names)

    def _cast(self, column: pa.Array, feature: FeatureType, name: str, is_date: bool) -> pa.Array:
        from datasets_core.features.arrow import Misfit
        from datasets_core.features.cast import cast_array

        try:
            if self._form is not None and is_date and pa.types.is_string(column.type):
                column = self._parsed(column, self._form)
            return cast_array(column, feature)
        except Misfit as error:
            advice = None
            if is_date:
                form = f"does not match date_format={self._form!r}" if self._form else "is not an ISO 8601 date"
                reason, advice = f"column {name!r}: {column[error.index].as_py()!r} {form}", "Pass date_format=, as '%d/%m/%Y'"
            else:
                reason = f"column {name!r}: {error.reason}"
            raise self._source.fault(reason, row=self._row + error.index, advice=advice) from None

    @staticmethod
    def _parsed(column: pa.Array, form: str) -> pa.Array:
        from datasets_core.features.arrow import Misfit

        coded = column.dictionary_encode()
        found: list[datetime | None] = []
        for place, text in enumerate(coded.dictionary.to_pylist()):
            try:
                found.append(datetime.strptime(text, form))
            except ValueError:
                raise Misfit(coded.indices.index(place).as_py(), text) from None
        kind = "UTC" if any(moment.tzinfo for moment in found if moment) else None
        return pa.array(found, pa.timestamp("us", kind)).take(coded.indices)


_SNIFFED_BYTES, _SNIFFED_LINES = 1 << 13, 20
_SEPARATORS = (";", "\t", "|")


def sniffed(head: bytes, quote: bytes = b'"') -> str | None:
    """Return the separator of lines whose first one has no comma: ";", tab or "|", in each at most as often as in the first.

    >>> sniffed(b"a;b\n1,5;2\n"), sniffed(b"a,b;c\n1,2;3\n"), sniffed(b"text\none; two\n"), sniffed(b"a;b\n")
    (';', None, None, None)
    """
    if b"\0" in head:
        return None  # compressed, or UTF-16
    lines = [line for line in head.decode("utf-8", "replace").splitlines() if line.strip()]
    if len(head) >= _SNIFFED_BYTES:
        lines = lines[:-1]  # it may be cut
    mark = quote.decode("utf-8", "replace")
    bare = ["".join(line.split(mark)[::2]) for line in lines[:_SNIFFED_LINES]]  # without what is quoted
    if len(bare) < 2 or "," in bare[0]:
        return None
    counts = {sep: [line.count(sep) for line in bare] for sep in _SEPARATORS}
    found = [sep for sep, (first, *others) in counts.items() if first in others and min(others) >= 1 and max(others) <= first]
    return found[0] if len(found) == 1 else None


def has_decimal_commas(head: bytes, sep: str) -> bool:
    """Return True if fields are numbers with a decimal comma that separates no thousands, and none has a decimal point.

    >>> has_decimal_commas(b"a;b\n1,5;x\n", ";"), has_decimal_commas(b"a;b\n1,500;x\n", ";")
    (True, False)
    """
    fields = [field.strip() for line in head.decode("utf-8", "replace").splitlines()[1:] for field in line.split(sep)]
    commas = [field for field in fields if re.fullmatch(r"[+-]?\d+,\d+", field)]
    if any(re.fullmatch(r"[+-]?\d+\.\d+", field) for field in fields):
        return False
    return any(len(field.rpartition(",")[2]) != 3 for field in commas)


def _is_count(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Integral) and int(value) >= 0


def _is_text(feature: Any) -> bool:
    """Return True if a column with this feature must keep its text, since a number would lose something (`007`, digits)."""
    from datasets_core.features.types import ClassLabel  # takes 2 ms; an existing dataset does not need it

    if isinstance(feature, ClassLabel):
        return any(_is_number(name) for name in feature.names or ())
    if not isinstance(feature, Value):
        return False
    kind = feature.pa_type
    return any(test(kind) for test in (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_decimal))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _index(index_col: Any) -> tuple[int | str, ...] | bool | None:
    if index_col is None or isinstance(index_col, bool):
        return index_col
    return (index_col,) if isinstance(index_col, (int, str)) else tuple(index_col)


def _skipped(skiprows: Any) -> Any:
    if skiprows is None:
        return 0
    return skiprows if isinstance(skiprows, int) or callable(skiprows) else frozenset(skiprows)


def _numbers(values: Any) -> tuple[float, ...]:
    """Return the numbers in `na_values`, given as numbers or text."""
    listed = [values] if isinstance(values, (str, int, float)) else values
    return tuple(float(value) for value in listed if _is_number(str(value)))


def _spelled(values: Any) -> tuple[str, ...]:
    """Return the null texts for `na_values`: for a number, its spellings."""
    if values is None:
        return ()
    spelled: list[str] = []
    for value in [values] if isinstance(values, (str, int, float)) else values:
        spelled.append(str(value))
        if _is_number(str(value)):
            number = float(value)
            spelled += [str(number)] + ([str(int(number))] if number.is_integer() else [])
    return tuple(dict.fromkeys(spelled))
