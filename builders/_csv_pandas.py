"""csv by pandas, for the options that only pandas has: it splits the fields, the types follow the same rules as everywhere."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from datasets_core.errors import FileFormatError, MissingDependencyError

from ._csv_types import Settled, TextRules
from ._source import Source


def read_csv_by_pandas(
    source: Source,
    options: dict[str, Any],
    rules: TextRules,
    schema: pa.Schema | None,
    *,
    option: str,
    as_text: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """The rows of a csv file as `pandas.read_csv` splits them.

    Args:
        source: the file.
        options: keyword arguments of `pandas.read_csv`.
        rules: how its text becomes values.
        schema: types known from other files or from an earlier pass.
        option: the option that needs pandas, for the message where it is missing.
        as_text: columns that stay text because the features say so.

    Raises:
        MissingDependencyError: pandas is not installed.
        FileFormatError: pandas cannot read the file.
        Reread: a column needs a wider type than rows given out had.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingDependencyError(
            "pandas", needed_for=f"The csv option {option}", install="datasets_core[pandas]"
        ) from error
    settled = Settled(schema, as_text)

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            with contextlib.closing(source.open()) as handle:
                converted = options.get("converters") or {}
                kinds = None if converted else str
                yielded = False
                whole = bool(options.get("skipfooter"))  # pandas must see the end before it knows the footer
                chunks = {**options, "chunksize": None} if whole else options
                frames = pd.read_csv(handle, dtype=kinds, iterator=not whole, **chunks)
                for frame in [frames] if whole else frames:
                    if yielded and not len(frame):
                        continue
                    yielded = True
                    yield settled.batch(_columns(frame, rules, settled))
        except FileFormatError:
            raise
        except (ValueError, TypeError, pd.errors.ParserError) as error:
            raise source.fault(f"pandas cannot read it ({' '.join(str(error).split())[:300]})") from error

    return settled.pass_on(batches())


def _columns(frame: Any, rules: TextRules, settled: Settled) -> dict[str, pa.Array]:
    """The columns of a frame, its index last unless it only counts the rows."""
    columns = {str(name): frame[name] for name in frame.columns}
    if type(frame.index).__name__ != "RangeIndex":
        for level, name in enumerate(frame.index.names):
            columns[str(name) if name is not None else f"__index_level_{level}__"] = frame.index.get_level_values(level)
    found = {}
    for name, values in columns.items():
        column = pa.array(values, from_pandas=True)
        if isinstance(column, pa.ChunkedArray):
            column = column.combine_chunks()
        if pa.types.is_large_string(column.type):
            column = column.cast(pa.string())
        if pa.types.is_string(column.type) and not settled.is_text(name):
            column = rules.typed(column)
        found[name] = column
    return found
