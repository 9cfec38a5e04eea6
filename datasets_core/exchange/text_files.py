"""Rows as csv and JSON: the text that pandas makes of them, written here where columns are plain, and by pandas where not.

Plain are numbers, texts, booleans, dates, dicts and lists of them (csv); as JSON lines or one list of records, columns of all
kinds.
"""

from __future__ import annotations

import bz2
import contextlib
import csv
import gzip
import io
import lzma
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import IO, Any

import pyarrow as pa

from datasets_core.engines.engine import get_engine
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.exchange.frames_out import object_column
from datasets_core.exchange.json_text import is_known, objects
from datasets_core.exchange.rows_out import BATCH_ROWS, opened, rows_of_bytes, spans, table_of
from datasets_core.features.base import FeatureType, LargeList, List, Value, feature_to_arrow
from datasets_core.features.dynamic import Json
from datasets_core.features.fixed_shape import FixedShape
from datasets_core.features.labels import ClassLabel
from datasets_core.optional import needed
from datasets_core.progress import progress
from datasets_core.rows.tabled import Tabled

_PLAIN_ROWS = 10_000  # of a batch, where its size does not show in the text
_PLAIN_BYTES = 4 << 20  # of it in Arrow's layout; its text and the parts of that take about ten times as much
Packer = Callable[[IO[bytes]], Any]
_PACKERS: dict[str, Packer] = {
    "gzip": lambda out: gzip.GzipFile("", "wb", fileobj=out, mtime=0),  # the same rows, the same bytes
    "bz2": lambda out: bz2.BZ2File(out, "wb"),
    "xz": lambda out: lzma.LZMAFile(out, "wb"),  # noqa: SIM115 - its caller closes it
}
_ENDINGS = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}

Encode = Callable[[Tabled, tuple[int, int]], bytes]


@dataclass(frozen=True, slots=True)
class TextForm:
    """How rows become text.

    Attributes:
        rows: gives the text of some rows, by their first one and the one behind them.
        head: stands before all rows.
        between: stands between the texts of two batches.
        tail: stands behind all rows.
        batch_rows: how many rows become text at once, where nobody says.
        is_whole: all rows become text at once.
        is_by_row: the text of a row does not depend on the rows of its batch.
    """

    rows: Callable[[Tabled, tuple[int, int]], bytes]
    head: bytes = b""
    between: bytes = b""
    tail: bytes = b""
    batch_rows: int = BATCH_ROWS
    is_whole: bool = False
    is_by_row: bool = False


def csv_form(dataset: Tabled, options: Mapping[str, Any]) -> TextForm:
    """How rows like these become csv.

    Args:
        dataset: rows with the columns that are meant.
        options: as of `pandas.DataFrame.to_csv`, without `mode` and `compression`.

    Raises:
        MissingDependencyError: the options or columns need pandas, which is not installed.
    """
    options = {"index": False, **options}
    if options == {"index": False} and all(map(_is_plain_csv, dataset.features.values())):
        has_lists = any(map(_is_list, dataset.features.values()))
        default = BATCH_ROWS if has_lists else _PLAIN_ROWS
        return TextForm(_csv_rows, _csv_text([dataset.column_names]), batch_rows=default, is_by_row=not has_lists)
    needed("pandas", "Writing csv with these options or columns")
    header = options.pop("header", True)
    head = _csv_by_pandas({**options, "header": header}, dataset, (0, 0)) if header else b""
    return TextForm(partial(_csv_by_pandas, {**options, "header": False}), head)


def json_form(dataset: Tabled, options: Mapping[str, Any]) -> TextForm:
    """How rows like these become JSON.

    Args:
        dataset: rows with the columns that are meant.
        options: as of `pandas.DataFrame.to_json`, without `mode` and `compression`.

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
    dataset: Tabled,
    target: Any,
    batch_size: int | None,
    num_proc: int | None,
    storage_options: dict[str, Any] | None,
    options: dict[str, Any],
) -> int:
    """Write the rows as csv: the number of bytes; see `Dataset.to_csv`."""
    check_mode(options.pop("mode", "w"))
    packer = packer_of(target, options.pop("compression", None))
    form = csv_form(dataset, options)
    with _place(target, storage_options, packer) as out:
        return _write(dataset, out, form, spans(dataset, batch_size, form.batch_rows), num_proc, "csv")


def write_json(
    dataset: Tabled,
    target: Any,
    batch_size: int | None,
    num_proc: int | None,
    storage_options: dict[str, Any] | None,
    options: dict[str, Any],
) -> int:
    """Write the rows as JSON: the number of bytes; see `Dataset.to_json`."""
    check_mode(options.pop("mode", "w"))
    packer = packer_of(target, options.pop("compression", None if hasattr(target, "write") else "infer"))
    lines = options.get("lines", options.get("orient", "records") == "records")
    form = json_form(dataset, options)
    batches = spans(dataset, batch_size, max(1, dataset.num_rows) if form.is_whole else form.batch_rows)
    if not lines and batch_size is not None and len(batches) > 1:
        raise ConfigurationError(
            f"lines=False makes one text of all rows, and batch_size={batch_size} is below them. Leave batch_size out."
        )
    with _place(target, storage_options, packer) as out:
        return _write(dataset, out, form, batches or ([(0, 0)] if form.is_whole else []), num_proc, "JSON")


def _write(
    dataset: Tabled, out: IO[bytes], form: TextForm, batches: list[tuple[int, int]], num_proc: int | None, what: str
) -> int:
    """Write the batches in their order; several processes work ahead by as many as there are of them."""
    written = out.write(form.head)
    with progress(f"Writing {what}", total=dataset.num_rows) as bar:
        texts = zip(batches, _texts(dataset, form.rows, batches, num_proc), strict=True)
        for number, ((start, stop), text) in enumerate(texts):
            written += (out.write(form.between) if number else 0) + out.write(text)
            bar.update(stop - start)
    return written + out.write(form.tail)


def _texts(dataset: Tabled, encode: Encode, batches: list[tuple[int, int]], num_proc: int | None) -> Iterator[bytes]:
    engine = get_engine(num_proc=num_proc)
    if num_proc is None or num_proc == 1 or len(batches) < 2:
        for batch in batches:
            yield encode(dataset, batch)
        return
    waiting: dict[int, bytes] = {}
    wanted = 0
    for number, text in engine.run(partial(encode, dataset), batches):
        waiting[number] = text
        while wanted in waiting:
            yield waiting.pop(wanted)
            wanted += 1


def check_mode(mode: Any) -> None:
    """Refuse a mode that leaves a part of a file as it is.

    Raises:
        ConfigurationError: it is not "w".
    """
    if mode != "w":
        advice = "To add rows to a file, open it with 'ab' and give that"
        raise ConfigurationError(f"mode={mode!r} is not known: a path is written as a whole. {advice}.")


def _refused(error: Exception, method: str) -> ConfigurationError:
    """The error of options that pandas does not take."""
    kind = ArgumentTypeError if isinstance(error, TypeError) else ConfigurationError
    said = str(error.args[0] if error.args else error).replace("NDFrame.", "").replace("DataFrame.", "").rstrip(".")
    return kind(f"pandas cannot write this: {said}. Give options of pandas.DataFrame.{method}.")


def packer_of(target: Any, compression: Any) -> Packer | None:
    """What compresses the text on its way into a file; None: nothing does.

    Args:
        target: a path, whose ending may tell, or a file.
        compression: "gzip", "bz2", "xz", "infer" or None.

    Raises:
        ConfigurationError: another one, or a file was given.
    """
    if compression is None:
        return None
    if hasattr(target, "write"):
        raise ConfigurationError(f"compression={compression!r} is for paths, and a file was given. Compress the file itself.")
    if compression == "infer":
        compression = next((name for ending, name in _ENDINGS.items() if str(target).endswith(ending)), None)
        return None if compression is None else _PACKERS[compression]
    if not isinstance(compression, str) or compression not in _PACKERS:
        known = ", ".join(map(repr, ("infer", *_PACKERS)))
        raise ConfigurationError(f"compression={compression!r} is not known. Give None or one of {known}.")
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


def _csv_rows(dataset: Tabled, batch: tuple[int, int]) -> bytes:
    columns = dataset.with_format(None)._batch(range(*batch))
    for name, feature in dataset.features.items():
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
    import numpy as np

    texts = np.array(values, dtype=kind.to_pandas_dtype()).astype(str).tolist()  # as few digits as tell it in its own type
    return [None if text == "nan" else text for text in texts]


def _is_list(feature: FeatureType) -> bool:
    return isinstance(feature, (List, LargeList))


def _csv_lists(rows: list[list[Any] | None], kind: pa.DataType) -> list[str | None]:
    """Lists as numpy shows them, which is how pandas writes them: of long ones the ends; one null makes all of them objects."""
    import numpy as np

    members = kind.value_type
    has_nulls = any(None in row for row in rows if row) or (pa.types.is_fixed_size_list(kind) and None in rows)
    is_object = _is_text(members) or (has_nulls and not pa.types.is_floating(members))
    dtype = np.dtype(object) if is_object else members.to_pandas_dtype()
    return [None if row is None else str(np.array(row, dtype=dtype)) for row in rows]


def _csv_text(rows: Any) -> bytes:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue().encode("utf-8")


def _csv_by_pandas(options: Mapping[str, Any], dataset: Tabled, batch: tuple[int, int]) -> bytes:
    frame = table_of(dataset, *batch).to_pandas(integer_object_nulls=True)
    try:
        text: str = frame.to_csv(None, **options)
        return text.encode(str(options.get("encoding") or "utf-8"))
    except (TypeError, ValueError, LookupError) as error:
        raise _refused(error, "to_csv") from error


# -- JSON --------------------------------------------------------------------------------------------------------------


def _json_rows(dataset: Tabled, batch: tuple[int, int], *, is_lines: bool, is_ascii: bool) -> bytes:
    text = objects(table_of(dataset, *batch), between="\n" if is_lines else ",", is_ascii=is_ascii)
    return text + b"\n" if is_lines else text


def _json_by_pandas(options: Mapping[str, Any], dataset: Tabled, batch: tuple[int, int]) -> bytes:
    table = table_of(dataset, *batch)
    frame = table.to_pandas(integer_object_nulls=True)
    decoded = [name for name, feature in dataset.features.items() if isinstance(feature, (Json, FixedShape))]
    if decoded:
        columns = dataset.with_format(None)._batch(range(*batch))
        for name in decoded:
            frame[name] = object_column(columns[name])
    try:
        with warnings.catch_warnings():  # pandas is about to write moments as ISO texts; `date_format="iso"` does so now
            warnings.filterwarnings("ignore", message=".*datetime/timedelta")
            text: str = frame.to_json(None, **options)
    except (UnicodeDecodeError, OverflowError) as error:
        raise _unwritable(dataset, frame, options, error) from error
    except (TypeError, ValueError) as error:
        raise _refused(error, "to_json") from error
    return (text if text.endswith("\n") or not text else text + "\n").encode("utf-8", "surrogatepass")


def _unwritable(dataset: Tabled, frame: Any, options: Mapping[str, Any], error: Exception) -> CastError:
    """The error of the column that JSON cannot hold."""
    for name in dataset.column_names:
        try:
            frame[[name]].to_json(None, **options)
        except (UnicodeDecodeError, OverflowError):
            advice = "Cast it to a type that JSON can hold, leave it out, or use to_parquet"
            return CastError(f"Column {name!r} holds what pandas cannot write as JSON ({error}). {advice}.")
    return CastError(f"pandas cannot write these rows as JSON ({error}). Use to_parquet.")
