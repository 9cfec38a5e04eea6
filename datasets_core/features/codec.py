"""`RowEncoder`, `Decoder`: rows to record batches and back, by functions compiled once for each schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import CastError, CellCastError, MediaError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import needs_decoding
from datasets_core.features.media.media import NOWHERE, MediaPaths
from datasets_core.features.schema import Features
from datasets_core.features.values import decode_value, shown

if TYPE_CHECKING:
    from datasets_core.features.encode import Column


class RowEncoder:
    """Makes record batches of rows.

    Args:
        features: the columns; None takes the columns and types of each batch from its rows.
        as_json: without features, values that share no type and dicts of different keys become JSON.
        is_loose: with features, values and keys that do not fit are taken as Hugging Face `datasets` 1 to 3 did: see `loose`;
            keys that are none of the features are left out.

    >>> from datasets_core.features.base import Value
    >>> RowEncoder(Features({"a": Value("int8")})).encode([{"a": 1}, {"a": None}]).to_pylist()
    [{'a': 1}, {'a': None}]
    >>> RowEncoder(None).encode([{"a": 1}, {"a": 2.5, "b": "x"}]).schema.types
    [DataType(double), DataType(string)]
    """

    def __init__(self, features: Features | None, *, as_json: bool = False, is_loose: bool = False) -> None:
        from datasets_core.features.encode import compile_column  # 10 ms with the next, that reading does without
        from datasets_core.features.inference import infer_column, infer_or_json

        self.features, self._is_loose = features, is_loose
        self._infer = infer_or_json if as_json else infer_column
        self._schema = None if features is None else features.arrow_schema
        self._columns: list[tuple[str, Column]] = []
        if features is not None:
            self._columns = [(name, compile_column(feature, is_loose=is_loose)) for name, feature in features.items()]

    @property
    def schema(self) -> pa.Schema | None:
        """The schema of every batch; None where each batch has its own."""
        return self._schema

    def encode(self, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
        """One batch that holds these rows, in their order; a key that a row lacks is null.

        Raises:
            CellCastError: a value does not fit its column, or a key is none of the features; it names column and row.
        """
        if self._schema is None:
            return infer_batch(rows, lambda name: self._infer)
        arrays = [_array(name, values, write) for (name, write), values in zip(self._columns, self._values(rows), strict=True)]
        if not arrays:
            return _empty_rows(len(rows), self._schema)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _values(self, rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        columns = _equal_rows(rows, [name for name, _ in self._columns])
        if columns is not None:
            return columns
        if not self._is_loose:
            self._check_keys(rows)
        return [[row.get(name) for row in rows] for name, _ in self._columns]

    def _check_keys(self, rows: Sequence[Mapping[str, Any]]) -> None:
        known = dict(self._columns)
        _check_rows(rows)
        for index, row in enumerate(rows):
            unknown = next((name for name in row if name not in known), None)
            if unknown is not None:
                raise CellCastError(
                    str(unknown),
                    f"the features have no such column, only {', '.join(map(repr, known)) or 'none'}",
                    row=index,
                    advice="Add it to the features, or leave it out of the rows",
                )


def _array(name: str, values: list[Any], write: Column) -> pa.Array:
    try:
        return write(values)
    except Misfit as misfit:
        raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=misfit.index) from misfit.__cause__


def _check_rows(rows: Sequence[Any]) -> None:
    for index, row in enumerate(rows):
        if type(row) is not dict and not isinstance(row, Mapping):
            raise CastError(
                f"Row {index} is {shown(row)} ({type(row).__name__}), not a dict. Give each row as a dict: column to value."
            )


def _equal_rows(rows: Sequence[Any], names: Sequence[Any]) -> list[list[Any]] | None:
    """Return the columns of rows with exactly these keys; None if a row has others, or is not a plain dict."""
    if not set(map(type, rows)) <= {dict} or not set(map(len, rows)) <= {len(names)}:
        return None
    try:
        return [[row[name] for row in rows] for name in names]
    except KeyError:
        return None


def infer_batch(rows: Sequence[Mapping[Any, Any]], infer: Callable[[str], Column]) -> pa.RecordBatch:
    """Rows as a batch whose columns are made by `infer(name)`.

    Raises:
        CellCastError: a value does not fit its column; it names column and row.
    """
    names = list(rows[0]) if rows and type(rows[0]) is dict else []
    columns = _equal_rows(rows, names)
    if columns is None:
        _check_rows(rows)
        names = list(dict.fromkeys(chain.from_iterable(rows)))
        columns = [[row.get(name) for row in rows] for name in names]
    arrays = []
    for name, values in zip(names, columns, strict=True):
        if not isinstance(name, str):
            index = next(index for index, row in enumerate(rows) if name in row)
            raise CellCastError(
                str(name), "the name of this column is not a string", row=index, advice="Name columns by strings"
            )
        arrays.append(_array(name, values, infer(name)))
    if not arrays:
        return _empty_rows(len(rows), pa.schema([]))
    return pa.RecordBatch.from_arrays(arrays, names)


def _empty_rows(length: int, schema: pa.Schema) -> pa.RecordBatch:
    """Rows without columns, which still can be counted."""
    batch = pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), length, [None], children=[]))
    return batch.replace_schema_metadata(schema.metadata)


class Decoder:
    """Makes what the user sees of stored values, for the columns where the two differ.

    Args:
        features: the kinds of the columns.
        paths: which paths among the values may be opened; none, where it is not said.

    >>> from datasets_core.features.types import Json
    >>> decoder = Decoder(Features({"a": Json()}))
    >>> decoder.columns_to_decode, decoder.decode_value("a", '{"x": 1}')
    (frozenset({'a'}), {'x': 1})
    """

    def __init__(self, features: Features, paths: MediaPaths = NOWHERE) -> None:
        self.features, self.paths = features, paths
        self._decoders: dict[str, Callable[[Any], Any]] = {
            name: partial(decode_value, feature, paths=paths) for name, feature in features.items() if needs_decoding(feature)
        }
        self.columns_to_decode: frozenset[str] = frozenset(self._decoders)

    def decode_value(self, name: str, value: Any) -> Any:
        """A stored value of one column as the user sees it."""
        decode = self._decoders.get(name)
        if decode is None:
            return value
        try:
            return decode(value)
        except MediaError as error:
            raise error.at(column=name) from error.__cause__
