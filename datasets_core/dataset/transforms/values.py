"""Arguments and results of user functions: rows and batches in the dataset's format, with their Arrow columns."""

from __future__ import annotations

import copy
import dis
import inspect
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property, partial
from itertools import chain
from types import FunctionType, NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import CellCastError
from datasets_core.features.arrow import Misfit
from datasets_core.features.base import FeatureType, LargeList, List, feature_to_arrow, needs_decoding
from datasets_core.features.cast import Column, cast_table, compile_column
from datasets_core.features.formats.formats import TABULAR
from datasets_core.features.formats.python import dict_rows, reader
from datasets_core.features.inference import infer_column, infer_or_json, token_array
from datasets_core.features.schema import Decoder, Features
from datasets_core.features.types import ClassLabel
from datasets_core.features.values import is_tensor, tensor_array
from datasets_core.store.rows.column import UNTOUCHED, LazyDict, Source

if TYPE_CHECKING:
    from datasets_core.store.rows.rows import Rows
    from datasets_core.store.table import RowTable

_MOST_ROWS = 4096  # of a block: what it takes fits the processor's cache
_BLOCK_BYTES = 8 << 20
_PROBE_ROWS = 64
_WINDOW_ROWS = 1 << 14
_NO_WINDOW: tuple[int, int, Any] = (1, 0, None)
_SLICED = frozenset({"numpy", "torch"})
_WRITABLE = {"copy": True}  # functions may change what they are given


class Inputs:
    """Reads a dataset for a function.

    Args:
        dataset: the rows; its format applies to all columns, even to those that it hides.
        input_columns: the columns passed as arguments; None: the row is one argument.
        read: the columns that a row function reads, if it certainly uses the row for nothing else.
        is_only_read: True if the other columns are not needed: with an index, only those that are read are gathered.
    """

    def __init__(
        self,
        dataset: Rows,
        input_columns: Sequence[str] | None = None,
        read: frozenset[str] | None = None,
        *,
        is_only_read: bool = False,
    ) -> None:
        self.dataset, self.input_columns = dataset, input_columns
        self.table, self.index = dataset._table, dataset._index
        kind = dataset._format.type
        self.is_plain = kind is None
        self.is_tabular = kind in TABULAR
        self.schema = self.table.schema
        self.names: tuple[str, ...] = tuple(self.schema.names)
        features = dataset._features
        self.decoded = frozenset(name for name in self.names if needs_decoding(features[name]))
        nested = {field.name for field in self.schema if _is_changeable(field.type)}
        self.lazy = self.decoded | nested
        self.is_lazy = bool(self.lazy)
        self.is_only_read = is_only_read
        self._tables: dict[str, RowTable] = {}
        self.shown = self.names
        self.is_sealed = False  # rows hold nothing that the function can change
        if read is not None and self.is_plain and input_columns is None and not read & self.lazy and read <= set(self.names):
            self.shown, self.is_sealed = tuple(name for name in self.names if name in read), True
        self._dicts = dict_rows(self.shown)
        self.formatted: Any = None
        if not self.is_plain:
            self.formatted = copy.copy(dataset)
            kwargs = {**dataset._format.kwargs, **(_WRITABLE if kind in _SLICED else {})}
            self.formatted._format = replace(dataset._format, kwargs=kwargs, columns=None, is_complete=False)
            self.formatted._forget()
        self.reads_by_column = self.formatted is not None and not self.is_tabular and kind != "custom"
        self._single: dict[str, Any] = {}
        self._windows: dict[str, tuple[int, int, Any]] = {}
        self._places = {name: place for place, name in enumerate(self.names)}
        self._piece: tuple[int, int, list[pa.Array]] = (0, 0, [])

    # -- blocks --------------------------------------------------------------------------------------------------------

    def blocks(self, start: int, stop: int) -> Iterator[Block]:
        """Yield the rows from `start` to `stop`, in blocks bounded in rows and bytes."""
        if self.index is not None:
            step = _PROBE_ROWS
            while start < stop:
                block = self.block(start, min(start + step, stop))
                yield block
                start += block.num_rows
                like = self.table.piece(self.table.locate(int(self.index[start - 1]))[0]) if self.is_only_read else block.batch
                step = max(1, min(_MOST_ROWS, _BLOCK_BYTES * like.num_rows // max(1, like.nbytes)))
            return
        while start < stop:
            k, offset = self.table.locate(start)
            self.table.compare(k)
            piece = self.table.piece(k)
            most = max(1, min(_MOST_ROWS, _BLOCK_BYTES * piece.num_rows // max(1, piece.nbytes)))
            end = min(piece.num_rows, offset + stop - start)
            for at in range(offset, end, most):
                batch = piece.slice(at, min(most, end - at))
                yield Block(self, start, batch.num_rows, batch)
                start += batch.num_rows

    def batches(self, start: int, stop: int, size: int) -> Iterator[Block]:
        """Yield the rows from `start` to `stop`, in blocks of `size` rows except the last."""
        for first in range(start, stop, size):
            yield self.block(first, min(first + size, stop))

    def block(self, start: int, stop: int) -> Block:
        """Return the rows from `start` to `stop`."""
        return Block(self, start, stop - start)

    def batch(self, start: int, stop: int) -> pa.RecordBatch:
        """Return the rows from `start` to `stop`, as they are stored."""
        if self.index is None:
            batches = list(self.table.batches(start=start, stop=stop))
        else:
            batches = self.table.take(self.index[start:stop]).to_batches()
        if not batches:
            return pa.RecordBatch.from_pylist([], schema=self.schema)
        return batches[0] if len(batches) == 1 else pa.concat_batches(batches)

    def gathered(self, name: str, start: int, stop: int) -> pa.Array:
        """Return a column of the rows from `start` to `stop` of an index, as it is stored."""
        assert self.index is not None
        table = self._tables.get(name)
        if table is None:
            table = self._tables[name] = self.table.select([name])
        found = table.take(self.index[start:stop]).column(0)
        return found.chunk(0) if found.num_chunks == 1 else pa.concat_arrays(found.chunks)

    def stored(self, name: str, start: int, stop: int) -> pa.Array:
        """Return a column of the rows from `start` to `stop` of a table without an index, as it is stored."""
        first, end, columns = self._piece
        if not first <= start < end:
            k, offset = self.table.locate(start)
            self.table.compare(k)
            piece = self.table.piece(k)
            first, end, columns = self._piece = start - offset, start - offset + piece.num_rows, piece.columns
        if stop <= end:
            return columns[self._places[name]].slice(start - first, stop - start)
        return pa.concat_arrays([batch.column(self._places[name]) for batch in self.table.batches(start=start, stop=stop)])

    def single(self, name: str) -> Any:
        """Return the dataset with one column only, in the same format."""
        found = self._single.get(name)
        if found is None:
            found = self._single[name] = self.formatted.select_columns([name])
        return found

    def formatted_column(self, name: str, start: int, stop: int) -> Any:
        """Return a column of the rows from `start` to `stop` in the format; plain numbers are made for many batches at once."""
        first, end, values = self._windows.get(name, _NO_WINDOW)
        if first <= start and stop <= end:
            return values[start - first : stop - first]
        dataset = self.single(name)
        field = self.schema.field(self._places[name])
        if self.index is not None or self.dataset._format.type not in _SLICED or not pa.types.is_primitive(field.type):
            return dataset._batch(range(start, stop))[name]
        end = min(start + max(stop - start, _WINDOW_ROWS), self.table.num_rows)
        if self.stored(name, start, end).null_count:
            return dataset._batch(range(start, stop))[name]
        values = dataset._batch(range(start, end))[name]
        self._windows[name] = start, end, values
        return values[: stop - start]

    # -- values --------------------------------------------------------------------------------------------------------

    @cached_property
    def decoder(self) -> Decoder:
        """Decodes stored values to the values that users see."""
        return Decoder(self.dataset._features, self.dataset._media_paths())

    def values(self, name: str, array: pa.Array) -> list[Any]:
        """Return a column as the user sees it."""
        values = reader(array.type)(array)
        if name in self.decoded:
            decode = self.decoder.decode_value
            return [decode(name, value) for value in values]
        return values


def _is_changeable(arrow_type: pa.DataType) -> bool:
    """Return True if values of the type are Python objects that a function can change in place."""
    return pa.types.is_nested(arrow_type) or isinstance(arrow_type, pa.BaseExtensionType)


class Block:
    """Rows as Arrow data, and as arguments of the function.

    Attributes:
        start: the number of the first row.
        num_rows: number of rows.
    """

    __slots__ = ("_batch", "_decoded", "_lists", "inputs", "num_rows", "start")

    def __init__(self, inputs: Inputs, start: int, num_rows: int, batch: pa.RecordBatch | None = None) -> None:
        self.inputs, self.start, self.num_rows, self._batch = inputs, start, num_rows, batch
        self._lists: dict[str, list[Any]] = {}
        self._decoded: dict[tuple[str, int], Any] = {}

    @property
    def batch(self) -> pa.RecordBatch:
        """The rows, as they are stored."""
        if self._batch is None:
            self._batch = self.inputs.batch(self.start, self.start + self.num_rows)
        return self._batch

    def array(self, name: str) -> pa.Array:
        """Return a column, as it is stored."""
        if self._batch is None and self.inputs.index is None and self.num_rows:
            return self.inputs.stored(name, self.start, self.start + self.num_rows)
        if self._batch is None and self.inputs.is_only_read and self.num_rows:
            return self.inputs.gathered(name, self.start, self.start + self.num_rows)
        return self.batch.column(self.inputs._places[name])

    @property
    def numbers(self) -> range:
        """Numbers of the rows."""
        return range(self.start, self.start + self.num_rows)

    def column(self, name: str) -> list[Any]:
        """Return the values of a column, the same list at every call."""
        values = self._lists.get(name)
        if values is None:
            values = self._lists[name] = self.inputs.values(name, self.array(name))
        return values

    def read(self, name: str) -> list[Any] | None:
        """Return the values of a column that `column` returned before; None if it has not."""
        return self._lists.get(name)

    def decoded(self, name: str, number: int) -> Any:
        """Return a single value that has to be decoded."""
        array = self.array(name).slice(number, 1)
        value = self._decoded[name, number] = self.inputs.values(name, array)[0]
        return value

    def given(self, name: str, number: int) -> Any:
        """Return the object that was passed to a function for a value, if one was."""
        known = self._lists.get(name)
        return self._decoded.get((name, number)) if known is None else known[number]

    def fresh(self, name: str) -> list[Any]:
        """Return the values of a column, read again."""
        return self.inputs.values(name, self.array(name))

    def rows(self) -> list[Any]:
        """Return each row in the form that is passed to the function."""
        inputs = self.inputs
        if inputs.reads_by_column:
            given = _FormattedRows(self)
            return [LazyDict(dict.fromkeys(inputs.names, UNTOUCHED), given, number) for number in range(self.num_rows)]
        if inputs.formatted is not None:
            rows: list[Any] = inputs.formatted._formatter().rows_at(self.numbers)
            return rows
        if not inputs.is_lazy or inputs.is_sealed:
            return inputs._dicts(self.num_rows, [self.column(name) for name in inputs.shown])
        unread = [UNTOUCHED] * self.num_rows
        dicts = inputs._dicts(self.num_rows, [unread if name in inputs.lazy else self.column(name) for name in inputs.names])
        source = _RowSource(self)
        return [LazyDict(row, source, number) for number, row in enumerate(dicts)]

    def records(self) -> list[Any]:
        """Return each row as a dict of single values, where `rows` gives data frames of one row."""
        inputs = self.inputs
        if inputs.is_tabular and hasattr(frame := inputs.formatted._batch(self.numbers), "columns"):
            to_dict, iter_rows = getattr(frame, "to_dict", None), getattr(frame, "iter_rows", None)
            if iter_rows is not None:  # of polars
                return list(iter_rows(named=True))
            if to_dict is not None:  # of pandas
                return list(to_dict("records"))
        return self.rows()

    def row_arguments(self, *, as_records: bool = False) -> list[Sequence[Any]]:
        """Return for each argument of the function its values for all rows."""
        wanted = self.inputs.input_columns
        if wanted is None:
            return [self.records() if as_records else self.rows()]
        if self.inputs.is_plain:
            return [self.column(name) for name in wanted]
        rows = self.records() if as_records else self.rows()
        return [[row[name] for row in rows] for name in wanted]

    def whole(self) -> Any:
        """Return the rows together, in the form in which the function receives them."""
        inputs = self.inputs
        if inputs.formatted is not None and not inputs.reads_by_column:
            return inputs.formatted._batch(self.numbers)
        source: Source = _ColumnSource(self) if inputs.is_plain else _FormattedColumns(self)
        return LazyDict(dict.fromkeys(inputs.names, UNTOUCHED), source, 0)

    def batch_arguments(self) -> list[Any]:
        """Return the arguments of the function, for all rows at once."""
        wanted = self.inputs.input_columns
        if wanted is None:
            return [self.whole()]
        if self.inputs.is_plain:
            return [self.column(name) for name in wanted]
        batch = self.whole()
        return [batch[name] for name in wanted]


class _RowSource:
    """Single values of a block: a column of lists or structs is read at once, decoded values one by one."""

    __slots__ = ("_block",)

    def __init__(self, block: Block) -> None:
        self._block = block

    def value(self, name: str, number: int) -> Any:
        """See `Source`."""
        if name not in self._block.inputs.decoded:
            return self._block.column(name)[number]
        return self._block.decoded(name, number)


class _ColumnSource:
    """Whole columns of a block; the caller gets a copy of the list."""

    __slots__ = ("_block",)

    def __init__(self, block: Block) -> None:
        self._block = block

    def value(self, name: str, number: int) -> Any:
        """See `Source`."""
        return list(self._block.column(name))


class _FormattedRows:
    """Single values of a block in a format, a column at a time."""

    __slots__ = ("_block", "_rows")

    def __init__(self, block: Block) -> None:
        self._block = block
        self._rows: dict[str, list[Any]] = {}

    def value(self, name: str, number: int) -> Any:
        """See `Source`."""
        block = self._block
        if name in block.inputs.decoded:
            return block.inputs.single(name)[block.start + number][name]
        rows = self._rows.get(name)
        if rows is None:
            rows = self._rows[name] = block.inputs.single(name).__getitems__(block.numbers)
        return rows[number][name]


class _FormattedColumns:
    """Whole columns of a block in a format."""

    __slots__ = ("_block",)

    def __init__(self, block: Block) -> None:
        self._block = block

    def value(self, name: str, number: int) -> Any:
        """See `Source`."""
        return self._block.inputs.formatted_column(name, self._block.start, self._block.start + self._block.num_rows)


# The columns that a function reads of its row, if its code shows that it does nothing else with the
# row.


_LOADS = frozenset({"LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK"})
_SEES_ALL = frozenset({"locals", "vars", "eval", "exec", "dir", "_getframe", "currentframe", "breakpoint", "set_trace"})
_NO_PLAIN_CALL = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR | inspect.CO_ITERABLE_COROUTINE


def columns_read(function: Callable[..., Any]) -> frozenset[str] | None:
    """Return the keys that a function looks up in its first argument; None if it may do anything else with it.

    The result is certain: every use of the argument in the code looks up a constant key, so that the row cannot be changed,
    stored or seen as a whole.

    >>> sorted(columns_read(lambda row: {"n": len(row["text"]) + row["id"]}))
    ['id', 'text']
    >>> columns_read(lambda row: row) is columns_read(lambda row: row.update(a=1)) is None
    True
    """
    while isinstance(function, partial) and not function.args:
        function = function.func
    if type(function) is not FunctionType:
        return None
    code = function.__code__
    if not code.co_argcount or code.co_flags & _NO_PLAIN_CALL or _SEES_ALL & set(code.co_names):
        return None
    row = code.co_varnames[0]
    if row in code.co_cellvars:
        return None
    steps = list(dis.get_instructions(code))
    found = set()
    for place, step in enumerate(steps):
        used = step.argval if isinstance(step.argval, tuple) else (step.argval,)
        if "FAST" not in step.opname or row not in used:
            continue
        behind = steps[place + 1 : place + 3]
        if step.opname not in _LOADS or len(behind) < 2 or not _is_look_up(*behind):
            return None
        found.add(behind[0].argval)
    return frozenset(found)


def _is_look_up(key: dis.Instruction, access: dis.Instruction) -> bool:
    if key.opname != "LOAD_CONST" or not isinstance(key.argval, str) or key.is_jump_target or access.is_jump_target:
        return False
    return access.opname == "BINARY_SUBSCR" or (access.opname == "BINARY_OP" and access.argrepr == "[]")


# The result of a user's function for one column as an Arrow array: of the original type if it fits, else of its
# own.


types = pa.types
_TEXTS = frozenset({str, NoneType, np.str_})
_LABELS = frozenset({str, int, NoneType, np.str_, np.int64, np.int32})
_USUAL = frozenset({int, float, str, bool, bytes, dict})
Encoded = tuple[pa.Array, "FeatureType | None"]
"""An array, and its feature if the array's type does not express it."""


class ColumnEncoder:
    """Makes Arrow arrays from the values of one column.

    Args:
        name: name of the column, for error messages.
        given: the feature requested by the user; None: inferred from the values.
        original: the former feature of a column of this name; its type is kept if the values fit.
        as_json: True to store values of no common type, and dicts of different keys, as JSON; otherwise they are an error, or
            nulls.
    """

    def __init__(self, name: str, given: FeatureType | None, original: FeatureType | None, *, as_json: bool) -> None:
        self.name, self.as_json = name, as_json
        self._kind = given if given is not None else original
        self._is_given = given is not None
        self._column: Column | None = None if self._kind is None else compile_column(self._kind)
        self._type = None if self._kind is None else feature_to_arrow(self._kind)
        self._numbers: tuple[np.dtype[Any], pa.DataType] | None = None  # of the arrays before

    def rows(self, values: list[Any]) -> Encoded:
        """Return the array of one value for each row.

        Raises:
            CellCastError: a value that does not fit; it names the row, from 0 in `values`.
        """
        values = _plain(values)
        try:
            if self._is_given:
                assert self._column is not None
                return self._column(values), self._kind
            return self._as_original(values) or self._inferred(values)
        except Misfit as misfit:
            advice = "Return values of one kind, or pass on_mixed_types='use_json'" if self._kind is None else None
            raise CellCastError(
                f"{self.name}{misfit.path}", misfit.reason, row=misfit.index, advice=advice
            ) from misfit.__cause__

    def array(self, array: pa.Array) -> Encoded:
        """Return the array of values that are Arrow data already."""
        if self._type is None or array.type == self._type:
            return array, self._kind
        wanted = Features({self.name: self._kind})
        batch = pa.RecordBatch.from_arrays([array], [self.name])
        if self._is_given:
            return cast_table(batch, wanted, what="The result").column(0), self._kind
        if not _texts_agree(array.type, self._type):
            return array, None
        try:
            return array.cast(self._type), self._kind
        except (pa.ArrowException, ValueError):
            return array, None

    def numbers(self, array: np.ndarray[Any, Any]) -> Encoded:
        """Return the array of a numpy array, each element of the first dimension a row."""
        dtype = array.dtype
        if array.ndim == 1 and dtype.kind in "iuf" and dtype.isnative and dtype.itemsize <= 8:
            held = np.array(array, order="C") if array.flags.writeable else np.ascontiguousarray(array)
            if self._numbers is None or self._numbers[0] != dtype:
                self._numbers = dtype, pa.from_numpy_dtype(dtype)
            found = pa.Array.from_buffers(self._numbers[1], len(held), [None, pa.py_buffer(held)])
            return self.array(found if self._kind is not None else token_array(self.name, found))
        return self.rows(list(array) if array.ndim > 1 else array.tolist() if array.dtype.kind in "bUSO" else list(array))

    # -- types ---------------------------------------------------------------------------------------------------------

    def _as_original(self, values: list[Any]) -> Encoded | None:
        """Return the values in the earlier type of the column; None if they do not fit it."""
        if self._column is None or self._type is None:
            return None
        kinds = set(map(type, values))
        if types.is_string(self._type) or types.is_large_string(self._type) or types.is_string_view(self._type):
            if not kinds <= _TEXTS:
                return None
        elif types.is_nested(self._type) and _has_text(self._type):
            array, _ = self._inferred(values)
            if not _texts_agree(array.type, self._type) or not _has_no_other_keys(values, self._kind):
                return None
        elif not _has_no_other_keys(values, self._kind):
            return None
        try:
            return self._column(values), self._kind
        except Misfit:
            if isinstance(self._kind, ClassLabel) and kinds <= _LABELS:
                raise  # a name that the label does not have is a mistake, not another type
            return None

    def _inferred(self, values: list[Any]) -> Encoded:
        if self._shows_pictures(values):
            from datasets_core.features.media.types import Image

            return compile_column(Image())(values), Image()
        found = infer_or_json(values) if self.as_json else infer_column(values)
        return found if self._kind is not None else token_array(self.name, found), None

    def _shows_pictures(self, values: list[Any]) -> bool:
        pictures = sys.modules.get("PIL.Image")
        first = next((value for value in values if value is not None), None)
        return pictures is not None and isinstance(first, pictures.Image)


def _has_no_other_keys(values: list[Any], feature: FeatureType | None) -> bool:
    """Return True if the feature has a field for every key of the dicts among the values; a missing key is null."""
    if isinstance(feature, dict):
        present = [value for value in values if isinstance(value, dict)]
        if not all(feature.keys() >= value.keys() for value in present):
            return False
        nested = {name: inner for name, inner in feature.items() if isinstance(inner, (dict, List, LargeList))}
        return all(_has_no_other_keys([value.get(name) for value in present], inner) for name, inner in nested.items())
    if isinstance(feature, (List, LargeList)) and isinstance(feature.feature, (dict, List, LargeList)):
        members = chain.from_iterable(value for value in values if isinstance(value, (list, tuple)))
        return _has_no_other_keys(list(members), feature.feature)
    return True


def _has_text(arrow_type: pa.DataType) -> bool:
    if types.is_nested(arrow_type):
        return any(_has_text(arrow_type.field(index).type) for index in range(arrow_type.num_fields))
    return bool(types.is_string(arrow_type) or types.is_large_string(arrow_type) or types.is_string_view(arrow_type))


def _texts_agree(found: pa.DataType, original: pa.DataType) -> bool:
    """Return True if the values are texts where the earlier ones were: numbers must not silently become text."""
    if types.is_null(found) or types.is_null(original):
        return bool(types.is_null(found))
    if types.is_struct(original) and types.is_struct(found):
        names = {field.name for field in found}
        both = [field for field in original if field.name in names]
        return all(_texts_agree(found.field(field.name).type, field.type) for field in both)
    if types.is_nested(original) and types.is_nested(found) and not types.is_struct(original) and not types.is_struct(found):
        if original.num_fields != 1 or found.num_fields != 1:
            return True
        return _texts_agree(found.field(0).type, original.field(0).type)
    return not _has_text(original) or _has_text(found)


def _plain(values: list[Any]) -> list[Any]:
    """Return numpy scalars and tensors as values that inference reads fast."""
    first = next((value for value in values if value is not None), None)
    if type(first) in _USUAL:
        return values  # a scalar of numpy among them is read too, only more slowly
    kinds = set(map(type, values))
    if len(kinds) == 1:
        kind = next(iter(kinds))
        if kind is np.float64 or kind is np.int64 or kind is np.bool_:
            return [value.item() for value in values]
    if any(map(is_tensor, kinds)):
        return [tensor_array(value) if is_tensor(type(value)) else value for value in values]
    return values
