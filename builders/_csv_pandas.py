"""csv by pandas, for the options that only pandas has: it splits the fields, the types follow the same rules as everywhere."""

from __future__ import annotations

import io
import warnings
from collections.abc import Collection, Iterator, Sequence
from typing import Any

import pyarrow as pa

from datasets_core.errors import FileFormatError
from datasets_core.optional import needed

from ._csv_form import CsvForm
from ._csv_types import Settled, TextRules
from ._source import Source, TextBytes, text_reader

_READ_BYTES = 1 << 18


def read_csv_by_pandas(
    source: Source,
    options: dict[str, Any],
    form: CsvForm,
    schema: pa.Schema | None,
    *,
    option: str,
    as_text: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """The rows of a csv file as `pandas.read_csv` splits them.

    Args:
        source: the file.
        options: keyword arguments of `pandas.read_csv`.
        form: how its text becomes values.
        schema: types known from other files or from an earlier pass.
        option: the option that needs pandas, for the message where it is missing.
        as_text: columns that stay text because the features say so.

    Raises:
        MissingDependencyError: pandas is not installed.
        FileFormatError: pandas cannot read the file.
        Reread: a column needs a wider type than rows given out had.
    """
    pd = needed("pandas", f"The csv option {option}")
    settled = Settled(schema, as_text, form.null_numbers_of if form.null_numbers else None)

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            with text_reader(source, "csv", encoding=options["encoding"], errors=options["encoding_errors"]) as text:
                yielded = False
                # pandas must see the end before it knows the footer, and gives no chunk where no row is wanted
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
                                f"the converter of {name!r} gives text for some rows and {column.type} for others",
                                advice="Let the converter give values of one type",
                            )
                    yield settled.batch(columns)
        except FileFormatError:
            raise
        except Exception as error:  # pandas lets IndexError and others through, and converters raise what they like
            reason = f"{type(error).__name__}: {error}"
            raise source.fault(f"pandas cannot read it ({' '.join(reason.split())[:300]})") from error

    return settled.pass_on(batches())


def _engine(options: dict[str, Any]) -> str | None:
    """The engine that reads these options: what pandas would fall back to, with a warning, is named at once."""
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
    """The chunks of a reader, without its warning that converters go before the type of all columns, as they should."""
    while True:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Both a converter and dtype")
            frame = next(reader, None)
        if frame is None:
            return
        yield frame


class _File(io.RawIOBase):
    """A text as the file that pandas wants."""

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


def _columns(frame: Any, rules: TextRules, settled: Settled, converted: Collection[Any]) -> dict[str, pa.Array]:
    """The columns of a frame, its index last unless it only counts the rows; those in `converted` have their types."""
    columns = {str(name): frame[name] for name in frame.columns}
    if type(frame.index).__name__ != "RangeIndex":
        for level, name in enumerate(frame.index.names):
            columns[str(name) if name is not None else f"__index_level_{level}__"] = frame.index.get_level_values(level)
    found = {}
    for number, (name, values) in enumerate(columns.items()):
        column = pa.array(values, from_pandas=True)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if column.null_count == len(column):
            column = pa.nulls(len(column))  # pandas has a type for it
        if pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        if pa.types.is_string(column.type) and not settled.is_text(name) and not {name, number} & {*converted}:
            column = rules.typed(column)
        found[name] = column
    return found
