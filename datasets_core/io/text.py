"""Writes rows as CSV and JSON text in the format of pandas: simple columns here, other columns with pandas.

For CSV, simple columns are numbers, strings, booleans, dates, and dicts and lists of them.  For JSON lines or one list of
records, all columns are written here.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import json
import lzma
import math
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from itertools import chain, pairwise
from json.encoder import encode_basestring, encode_basestring_ascii
from typing import IO, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.engines import get_engine
from datasets_core.engines.deadline import SerialEngine
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.base import FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.types import ClassLabel, FixedShape, Json
from datasets_core.io.tables import BATCH_ROWS, object_column, opened, rows_of_bytes, spans, table_of
from datasets_core.optional import needed
from datasets_core.progress import progress
from datasets_core.store.rows.rows import Rows

# JSON text of Arrow columns in the format of pandas: floats with ten decimals, timestamps as milliseconds.


types = pa.types
_TICKS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}  # milliseconds in a second
_BINARY = (types.is_binary, types.is_large_binary, types.is_fixed_size_binary)
_NUMBERS = re.compile(  # constants that Python's JSON writes differently, and the strings that may contain them
    r'("(?:[^"\\]|\\.)*")|(-?(?:\d+\.\d+(?:e[+-]?\d+)?|\d+e[+-]?\d+|Infinity)|NaN)|(-?\d{19,})'
)
_DELETE = re.compile(r"(?<!\\)((?:\\\\)*)\\u007f")
_LISTS = (types.is_list, types.is_large_list, types.is_fixed_size_list)
_TEXTS = (types.is_string, types.is_large_string, types.is_string_view)
_KNOWN = (
    *(*_BINARY, *_TEXTS, types.is_integer, types.is_floating, types.is_boolean, types.is_null, types.is_decimal),
    *(types.is_timestamp, types.is_duration, types.is_date, types.is_time),
)


def is_known(kind: pa.DataType) -> bool:
    """Return True if values of this Arrow type are written here.

    >>> is_known(pa.list_(pa.struct({"a": pa.date32()}))), is_known(pa.month_day_nano_interval())
    (True, False)
    """
    if isinstance(kind, pa.JsonType):
        return True
    if _is_any(kind, _LISTS) or types.is_struct(kind):
        return all(is_known(kind.field(place).type) for place in range(kind.num_fields))
    return _is_any(kind, _KNOWN)


def objects(table: pa.Table, *, between: str = "\n", is_ascii: bool = True) -> bytes:
    """Return a JSON object for each row.

    Args:
        table: columns of known types.
        between: separator of rows.
        is_ascii: True to escape non-ASCII characters.

    Raises:
        CastError: a value has bytes that are not UTF-8 text.

    >>> objects(pa.table({"a": [[0.1 + 0.2, None]], "b": ["x/y"]}))
    b'{"a":[0.3,null],"b":"x\\\\/y"}'
    """
    write = _Writer(encode_basestring_ascii if is_ascii else encode_basestring)
    columns: list[list[str]] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            columns.append(list(chain.from_iterable(map(write.texts, column.chunks))))
        except pa.ArrowInvalid as error:
            raise CastError(
                f"Column {name!r} has bytes that are not valid UTF-8 text, which JSON cannot store ({error})",
                advice="Cast it to a type that JSON supports, remove it, or use to_parquet",
            ) from error
    form = write.object_of(table.column_names)
    text = between.join([form % row for row in zip(*columns, strict=True)])
    if is_ascii and "\\u007f" in text:  # left unchanged by pandas
        text = _DELETE.sub("\\1\x7f", text)
    return text.replace("/", "\\/").encode("utf-8")  # slashes only occur in strings and names; pandas escapes them


class _Writer:
    """Writes the values of arrays.

    Args:
        quote: returns the JSON text of a string.
    """

    def __init__(self, quote: Callable[[str], str]) -> None:
        self._quote = quote

    def object_of(self, names: list[str]) -> str:
        """Return the template of an object with these keys, for the texts of their values."""
        return "{" + ",".join([self._quote(name).replace("%", "%%") + ":%s" for name in names]) + "}"

    def texts(self, array: pa.Array, holder: str = "") -> list[str]:
        """Return the text of each value.

        Args:
            array: an array of a supported type.
            holder: "struct" for the values of a struct, "below" for those of lists within one: pandas formats timestamps
                differently there.
        """
        kind = array.type
        if isinstance(kind, pa.JsonType):
            return self._json(array.storage)
        if types.is_struct(kind):
            return self._objects(array)
        if _is_any(kind, _LISTS):
            return self._lists(array, "below" if holder else "")
        if _is_any(kind, _BINARY):
            array = array.cast(pa.large_string() if types.is_large_binary(kind) else pa.string())
        numbers = _number_texts(array, holder)
        if numbers is not None:
            found: list[str] = numbers.to_pylist()
            return found
        if types.is_time(kind):
            array = array.cast(pa.time64("us"), safe=False)
        return self._quoted(array.to_pylist())

    def _quoted(self, values: list[Any]) -> list[str]:
        quote = self._quote
        return ["null" if value is None else quote(str(value)) for value in values]

    def _objects(self, array: pa.StructArray) -> list[str]:
        kind = array.type
        if not kind.num_fields:
            return _with_nulls(["{}"] * len(array), array)
        fields = [self.texts(array.field(place), "struct") for place in range(kind.num_fields)]
        form = self.object_of([kind.field(place).name for place in range(kind.num_fields)])
        return _with_nulls([form % row for row in zip(*fields, strict=True)], array)

    def _lists(self, array: pa.Array, holder: str) -> list[str]:
        if types.is_fixed_size_list(array.type):
            size = array.type.list_size
            borders = [*range(array.offset * size, (array.offset + len(array) + 1) * size, size)] if size else []
            borders = borders or [0] * (len(array) + 1)
        else:
            borders = array.offsets.to_pylist()
        first = borders[0]
        inner = array.values.slice(first, borders[-1] - first)
        numbers = _number_texts(inner, holder)
        if numbers is None:
            texts, joined = self.texts(inner, holder), ",".join
            found = [f"[{joined(texts[start - first : stop - first])}]" for start, stop in pairwise(borders)]
        else:
            offsets = pa.array(np.array(borders, dtype=np.int64) - first)
            lists = pc.binary_join(pa.LargeListArray.from_arrays(offsets, numbers), _text(","))
            found = pc.binary_join_element_wise(_text("["), lists, _text("]"), _text("")).to_pylist()
        return _with_nulls(found, array)

    def _json(self, stored: pa.Array) -> list[str]:
        """Return JSON values in the text form of pandas."""
        write = json.JSONEncoder(separators=(",", ":"), ensure_ascii=self._quote is encode_basestring_ascii).encode
        text = "\n".join(["null" if value is None else write(json.loads(value)) for value in stored.to_pylist()])
        found = [float(number) for _, number, _ in _NUMBERS.findall(text) if number]
        floats: Iterator[str] = iter(float_texts(np.array(found, dtype=np.float64)).to_pylist())

        def written(match: re.Match[str]) -> str:
            string, number, whole = match.groups()
            if number:
                return next(floats)
            return string or (whole if -(1 << 63) <= int(whole) < 1 << 64 else f'"{whole}"')

        return _NUMBERS.sub(written, text).split("\n") if len(stored) else []


def _number_texts(array: pa.Array, holder: str) -> pa.Array | None:
    """Return the texts of values that Arrow converts itself: numbers, booleans and timestamps; None for others."""
    kind = array.type
    if types.is_floating(kind):
        return float_texts(array.cast(pa.float64()).to_numpy(zero_copy_only=False))
    if types.is_timestamp(kind) or types.is_duration(kind) or types.is_date(kind):
        array = _milliseconds(array, holder)
    elif not (types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind)):
        return None
    return array.cast(pa.large_string()).fill_null("null")


def float_texts(values: np.ndarray[Any, Any]) -> pa.Array:
    """Return floats in the format of pandas: ten decimals, or ten digits and an exponent.

    >>> float_texts(np.array([0.1 + 0.2, 1e20, 2.0, -0.5, float("nan")])).to_pylist()
    ['0.3', '1e+20', '2.0', '-0.5', 'null']
    """
    size = np.abs(values)
    is_usual = (size <= 1e16 - 1) & ((size >= 1e-15) | (size == 0))
    usual = np.where(is_usual, size, 0.0)
    whole = usual.astype(np.int64)
    part = (usual - whole) * 1e10
    decimals = part.astype(np.int64)
    rest = part - decimals
    decimals += (rest > 0.5) | ((rest == 0.5) & ((decimals == 0) | (decimals & 1 == 1)))
    over = decimals >= 10**10
    whole += over
    decimals[over] = 0
    digits = pc.ascii_rtrim(pc.ascii_lpad(pa.array(decimals).cast(pa.large_string()), 10, "0"), "0")
    digits = pc.if_else(pa.array(decimals == 0), _text("0"), digits)
    sign = pc.if_else(pa.array(values < 0), _text("-"), _text(""))
    units = pc.binary_join_element_wise(sign, pa.array(whole).cast(pa.large_string()), _text(""))
    texts = pc.binary_join_element_wise(units, digits, _text("."))
    if is_usual.all():
        return texts
    others = [f"{value:.10g}" if math.isfinite(value) else "null" for value in values[~is_usual].tolist()]
    return pc.replace_with_mask(texts, pa.array(~is_usual), pa.array(others, pa.large_string()))


def _milliseconds(array: pa.Array, holder: str) -> pa.Array:
    """Return milliseconds since 1970, or of a duration; like pandas, nanoseconds directly in a struct stay unchanged."""
    kind = array.type
    if types.is_date(kind):
        array = array.cast(pa.timestamp("ms"))
    unit = array.type.unit
    if unit == "ns" and holder == "struct":
        return array.cast(pa.int64())
    is_null = array.is_null().to_numpy(zero_copy_only=False)
    counts = array.cast(pa.int64()).fill_null(0).to_numpy()
    ticks = _TICKS[unit]
    if ticks <= 1000:
        return pa.array(counts * (1000 // ticks), mask=is_null)
    found = counts // (ticks // 1000)
    if holder == "struct" or (holder and unit == "us" and types.is_timestamp(kind)):  # rounded towards 1970
        found += (counts < 0) & (counts % (ticks // 1000) != 0)
    return pa.array(found, mask=is_null)


def _text(text: str) -> pa.Scalar:
    return pa.scalar(text, pa.large_string())


def _with_nulls(texts: list[str], array: pa.Array) -> list[str]:
    if array.null_count:
        for row in np.flatnonzero(array.is_null().to_numpy(zero_copy_only=False)).tolist():
            texts[row] = "null"
    return texts


def _is_any(kind: pa.DataType, tests: tuple[Callable[[pa.DataType], bool], ...]) -> bool:
    return any(test(kind) for test in tests)


_PLAIN_ROWS = 10_000  # rows of a batch, if its size does not affect the text
_PLAIN_BYTES = 4 << 20  # bytes of a batch in Arrow's layout; its text and parts take about ten times as much
Packer = Callable[[IO[bytes]], Any]
_PACKERS: dict[str, Packer] = {
    "gzip": lambda out: gzip.GzipFile("", "wb", fileobj=out, mtime=0),  # equal rows give equal bytes
    "bz2": lambda out: bz2.BZ2File(out, "wb"),
    "xz": lambda out: lzma.LZMAFile(out, "wb"),  # noqa: SIM115 - its caller closes it
}
_ENDINGS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}

Encode = Callable[[Rows, tuple[int, int]], bytes]


@dataclass(frozen=True, slots=True)
class TextForm:
    """Conversion of rows to text.

    Attributes:
        rows: returns the text of a range of rows.
        head: text before all rows.
        between: separator of batches.
        tail: text after all rows.
        batch_rows: default number of rows converted at once.
        is_whole: True if all rows must be converted at once.
        is_by_row: True if the text of a row does not depend on other rows of its batch.
    """

    rows: Callable[[Rows, tuple[int, int]], bytes]
    head: bytes = b""
    between: bytes = b""
    tail: bytes = b""
    batch_rows: int = BATCH_ROWS
    is_whole: bool = False
    is_by_row: bool = False


def csv_form(dataset: Rows, options: Mapping[str, Any]) -> TextForm:
    """Return the conversion of rows to CSV.

    Args:
        dataset: rows with the selected columns.
        options: options of `pandas.DataFrame.to_csv`, without `mode` and `compression`.

    Raises:
        MissingDependencyError: the options or columns need pandas, which is not installed.
    """
    options = {"index": False, **options}
    if options == {"index": False} and all(map(_is_plain_csv, dataset._features.values())):
        has_lists = any(map(_is_list, dataset._features.values()))
        default = BATCH_ROWS if has_lists else _PLAIN_ROWS
        return TextForm(_csv_rows, _csv_text([dataset.column_names]), batch_rows=default, is_by_row=not has_lists)
    needed("pandas", "Writing csv with these options or columns")
    header = options.pop("header", True)
    head = _csv_by_pandas({**options, "header": header}, dataset, (0, 0)) if header else b""
    return TextForm(partial(_csv_by_pandas, {**options, "header": False}), head)


def json_form(dataset: Rows, options: Mapping[str, Any]) -> TextForm:
    """Return the conversion of rows to JSON.

    Args:
        dataset: rows with the selected columns.
        options: options of `pandas.DataFrame.to_json`, without `mode` and `compression`.

    Raises:
        MissingDependencyError: the options need pandas, which is not installed.
    """
    options = dict(options)
    orient = options.pop("orient", "records")
    lines = options.pop("lines", orient == "records")
    if "index" not in options and orient in {"split", "table"}:
        options["index"] = False
    is_ascii = options.get("force_ascii", True)
    is_plain = options.keys() <= {"force_ascii"} and orient == "records" and type(lines) is type(is_ascii) is bool
    if not is_plain or not all(is_known(field.type) for field in dataset._table.schema):
        needed("pandas", "Writing JSON with these options")
        return TextForm(partial(_json_by_pandas, {**options, "orient": orient, "lines": lines}), is_whole=not lines)
    rows = min(_PLAIN_ROWS, rows_of_bytes(dataset, _PLAIN_BYTES))
    encode = partial(_json_rows, is_lines=lines, is_ascii=is_ascii)
    if lines:
        return TextForm(encode, batch_rows=rows, is_by_row=True)
    return TextForm(encode, b"[", b",", b"]\n", rows, is_by_row=True)


def write_csv(
    dataset: Rows,
    target: Any,
    batch_size: int | None,
    num_proc: int | None,
    storage_options: dict[str, Any] | None,
    options: dict[str, Any],
) -> int:
    """Write the rows as CSV; return the number of bytes; see `Dataset.to_csv`."""
    check_mode(options.pop("mode", "w"))
    packer = packer_of(target, options.pop("compression", None))
    form = csv_form(dataset, options)
    with _place(target, storage_options, packer) as out:
        return _write(dataset, out, form, spans(dataset, batch_size, form.batch_rows), num_proc, "csv")


def write_json(
    dataset: Rows,
    target: Any,
    batch_size: int | None,
    num_proc: int | None,
    storage_options: dict[str, Any] | None,
    options: dict[str, Any],
) -> int:
    """Write the rows as JSON; return the number of bytes; see `Dataset.to_json`."""
    check_mode(options.pop("mode", "w"))
    packer = packer_of(target, options.pop("compression", None if hasattr(target, "write") else "infer"))
    lines = options.get("lines", options.get("orient", "records") == "records")
    form = json_form(dataset, options)
    batches = spans(dataset, batch_size, max(1, dataset.num_rows) if form.is_whole else form.batch_rows)
    if not lines and batch_size is not None and len(batches) > 1:
        raise ConfigurationError(
            f"lines=False writes all rows as one text, but batch_size={batch_size} is smaller", advice="Omit batch_size"
        )
    with _place(target, storage_options, packer) as out:
        return _write(dataset, out, form, batches or ([(0, 0)] if form.is_whole else []), num_proc, "JSON")


def _write(
    dataset: Rows, out: IO[bytes], form: TextForm, batches: list[tuple[int, int]], num_proc: int | None, what: str
) -> int:
    """Write the batches in order; with several processes, as many batches are prepared ahead."""
    written = out.write(form.head)
    with progress(f"Writing {what}", total=dataset.num_rows) as bar:
        texts = zip(batches, _texts(dataset, form.rows, batches, num_proc), strict=True)
        for number, ((start, stop), text) in enumerate(texts):
            written += (out.write(form.between) if number else 0) + out.write(text)
            bar.update(stop - start)
    return written + out.write(form.tail)


def _texts(dataset: Rows, encode: Encode, batches: list[tuple[int, int]], num_proc: int | None) -> Iterator[bytes]:
    engine = get_engine(num_proc=num_proc)
    if isinstance(engine, SerialEngine) or len(batches) < 2:
        for batch in batches:
            yield encode(dataset, batch)
        return
    yield from (text for _, text in engine.run(partial(encode, dataset), batches, ordered=True))


def check_mode(mode: Any) -> None:
    """Check that the mode overwrites the file.

    Raises:
        ConfigurationError: the mode is not "w".
    """
    if mode != "w":
        advice = "To append rows to a file, pass the file opened with 'ab'"
        raise ConfigurationError(f"mode={mode!r} is not supported, since paths are always overwritten. {advice}.", value=mode)


def _refused(error: Exception, method: str) -> ConfigurationError:
    """Return the error for options that pandas does not accept."""
    kind = ArgumentTypeError if isinstance(error, TypeError) else ConfigurationError
    said = str(error.args[0] if error.args else error).replace("NDFrame.", "").replace("DataFrame.", "").rstrip(".")
    return kind(f"pandas cannot write this: {said}. Pass options of pandas.DataFrame.{method}.")


def packer_of(target: Any, compression: Any) -> Packer | None:
    """Return the compressor of the text of a file; None for no compression.

    Args:
        target: a path, whose extension may be used, or a file.
        compression: "gzip", "bz2", "xz", "infer" or None.

    Raises:
        ConfigurationError: the compression is unknown, or given for an open file.
    """
    if compression is None:
        return None
    if hasattr(target, "write"):
        raise ConfigurationError(
            f"compression={compression!r} is only for paths", advice="Compress the file itself", value=compression
        )
    if compression == "infer":
        compression = next((name for ending, name in _ENDINGS.items() if str(target).endswith(ending)), None)
        return None if compression is None else _PACKERS[compression]
    if not isinstance(compression, str) or compression not in _PACKERS:
        known = ", ".join(map(repr, ("infer", *_PACKERS)))
        raise ConfigurationError(
            f"compression={compression!r} is not supported", advice=f"Pass None or one of {known}", value=compression
        )
    return _PACKERS[compression]


@contextlib.contextmanager
def _place(
    target: Any, storage_options: dict[str, Any] | None, packer: Callable[[IO[bytes]], Any] | None
) -> Iterator[IO[bytes]]:
    with opened(target, storage_options) as out:
        if packer is None:
            yield out
            return
        with packer(out) as packed:
            yield packed


# -- csv ---------------------------------------------------------------------------------------------------------------


def _is_plain_csv(feature: FeatureType) -> bool:
    if isinstance(feature, dict):
        return all(not isinstance(inner, (dict, List, LargeList)) and _is_plain_csv(inner) for inner in feature.values())
    if isinstance(feature, ClassLabel):
        return True
    if isinstance(feature, (List, LargeList)):
        inner = feature.feature
        if type(inner) is not Value:
            return isinstance(inner, ClassLabel)
        return any(is_kind(feature_to_arrow(inner)) for is_kind in _PLAIN_LISTED)
    if type(feature) is not Value:
        return False
    kind = feature_to_arrow(feature)
    return _is_exact(kind) or any(is_kind(kind) for is_kind in _PLAIN_CSV)


def _is_exact(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in _EXACT)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


_EXACT = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_null, pa.types.is_decimal, _is_text)
_PLAIN_LISTED = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_floating, _is_text)
_PLAIN_CSV = (pa.types.is_floating, pa.types.is_date32, pa.types.is_binary, pa.types.is_large_binary)


def _csv_rows(dataset: Rows, batch: tuple[int, int]) -> bytes:
    columns = dataset.with_format(None)._batch(range(*batch))
    for name, feature in dataset._features.items():
        if _is_float(feature):
            columns[name] = _csv_floats(columns[name], feature)
        elif _is_list(feature):
            columns[name] = _csv_lists(columns[name], feature_to_arrow(feature))
    return _csv_text(zip(*columns.values(), strict=True))


def _is_float(feature: FeatureType) -> bool:
    return isinstance(feature, Value) and feature.dtype in {"float16", "float32", "float64"}


def _csv_floats(values: list[float | None], feature: FeatureType) -> list[Any]:
    kind = feature_to_arrow(feature)
    if pa.types.is_float64(kind):
        return [None if value != value else value for value in values]
    texts = np.array(values, dtype=kind.to_pandas_dtype()).astype(str).tolist()  # the shortest text of its own type
    return [None if text == "nan" else text for text in texts]


def _is_list(feature: FeatureType) -> bool:
    return isinstance(feature, (List, LargeList))


def _csv_lists(rows: list[list[Any] | None], kind: pa.DataType) -> list[str | None]:
    """Format lists like numpy, as pandas does: long ones are abbreviated; one null makes all values objects."""
    members = kind.value_type
    has_nulls = any(None in row for row in rows if row) or (pa.types.is_fixed_size_list(kind) and None in rows)
    is_object = _is_text(members) or (has_nulls and not pa.types.is_floating(members))
    dtype = np.dtype(object) if is_object else members.to_pandas_dtype()
    return [None if row is None else str(np.array(row, dtype=dtype)) for row in rows]


def _csv_text(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def _csv_by_pandas(options: Mapping[str, Any], dataset: Rows, batch: tuple[int, int]) -> bytes:
    frame = table_of(dataset, *batch).to_pandas(integer_object_nulls=True)
    try:
        text: str = frame.to_csv(None, **options)
        return text.encode(str(options.get("encoding") or "utf-8"))
    except (TypeError, ValueError, LookupError) as error:
        raise _refused(error, "to_csv") from error


# -- JSON --------------------------------------------------------------------------------------------------------------


def _json_rows(dataset: Rows, batch: tuple[int, int], *, is_lines: bool, is_ascii: bool) -> bytes:
    text = objects(table_of(dataset, *batch), between="\n" if is_lines else ",", is_ascii=is_ascii)
    return text + b"\n" if is_lines else text


def _json_by_pandas(options: Mapping[str, Any], dataset: Rows, batch: tuple[int, int]) -> bytes:
    frame = _frame_for_json(table_of(dataset, *batch), options)
    decoded = [name for name, feature in dataset._features.items() if isinstance(feature, (Json, FixedShape))]
    if decoded:
        columns = dataset.with_format(None)._batch(range(*batch))
        for name in decoded:
            frame[name] = object_column(columns[name])
    try:
        with (
            warnings.catch_warnings()
        ):  # future versions of pandas write timestamps as ISO strings, as `date_format="iso"` does now
            warnings.filterwarnings("ignore", message=".*datetime/timedelta")
            text: str = frame.to_json(None, **options)
    except (UnicodeDecodeError, OverflowError) as error:
        raise _unwritable(dataset, frame, options, error) from error
    except (TypeError, ValueError) as error:
        raise _refused(error, "to_json") from error
    return (text if text.endswith("\n") or not text else text + "\n").encode("utf-8", "surrogatepass")


def _frame_for_json(table: pa.Table, options: Mapping[str, Any]) -> Any:
    """Return the frame of a table, with times that every release of pandas writes correctly as JSON.

    Before 3.0, pandas writes times in different units than nanoseconds wrong by a factor of 1,000 or more. Times out of range
    for nanoseconds are replaced by the numbers of the text.
    """
    is_iso = options.get("date_format", "iso" if options["orient"] == "table" else "epoch") == "iso"
    unit = options.get("date_unit") or "ms"
    for number, field in enumerate(table.schema):
        wanted, column = _in_unit(field.type, "ns"), table.column(number)
        if wanted == field.type:
            continue
        try:
            column = column.cast(wanted)
        except pa.ArrowInvalid:
            if not is_iso:
                column = column.cast(_in_unit(field.type, unit), safe=False).cast(_in_unit(field.type, None))
            elif types.is_duration(field.type):
                column = pa.array(map(_iso_duration, column.to_pylist()), pa.string())
        table = table.set_column(number, field.name, column)
    return table.to_pandas(integer_object_nulls=True)


def _iso_duration(value: timedelta | None) -> str | None:
    """Return the text of a duration.

    >>> _iso_duration(timedelta(days=200_000, seconds=3, milliseconds=20))
    'P200000DT0H0M3.02S'
    """
    if value is None:
        return None
    minutes, seconds = divmod(value.seconds, 60)
    fraction = f"{seconds}.{value.microseconds:06}".rstrip("0").rstrip(".")
    return f"P{value.days}DT{minutes // 60}H{minutes % 60}M{fraction}S"


def _in_unit(kind: pa.DataType, unit: str | None) -> pa.DataType:
    """Return the type with timestamps and durations in a unit, or as integers, including in lists; structs stay unchanged.

    >>> _in_unit(pa.list_(pa.timestamp("s", tz="UTC")), "ns")
    ListType(list<item: timestamp[ns, tz=UTC]>)
    """
    if types.is_timestamp(kind):
        return pa.int64() if unit is None else pa.timestamp(unit, tz=kind.tz)
    if types.is_duration(kind):
        return pa.int64() if unit is None else pa.duration(unit)
    if types.is_fixed_size_list(kind):
        return pa.list_(_in_unit(kind.value_type, unit), kind.list_size)
    if types.is_list(kind) or types.is_large_list(kind):
        make = pa.list_ if types.is_list(kind) else pa.large_list
        return make(_in_unit(kind.value_type, unit))
    return kind


def _unwritable(dataset: Rows, frame: Any, options: Mapping[str, Any], error: Exception) -> CastError:
    """Return the error for a column that JSON cannot store."""
    for name in dataset.column_names:
        try:
            frame[[name]].to_json(None, **options)
        except (UnicodeDecodeError, OverflowError):
            advice = "Cast it to a type that JSON supports, remove it, or use to_parquet"
            return CastError(f"Column {name!r} has values that pandas cannot write as JSON ({error}). {advice}.")
    return CastError(f"pandas cannot write these rows as JSON ({error})", advice="Use to_parquet")
