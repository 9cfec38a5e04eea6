"""`map` on a block of rows: unchanged columns stay Arrow, columns that the function set are encoded."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain
from operator import is_, itemgetter
from types import NoneType
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.dataset.transforms.calling import Caller, Calls
from datasets_core.dataset.transforms.values import Block, ColumnEncoder, Encoded, Inputs, columns_read
from datasets_core.errors import ArgumentTypeError, CastError, CellCastError
from datasets_core.features.base import FeatureType, feature_to_arrow
from datasets_core.features.formats.formats import as_table
from datasets_core.features.schema import Features
from datasets_core.features.values import tensor_array
from datasets_core.store.rows.column import UNTOUCHED, LazyDict, held

if TYPE_CHECKING:
    from datasets_core.store.rows.rows import Rows


# Record batches of the results for many small blocks: unchanged columns are sliced once for all of them.


_MOST_ROWS = 1 << 16
_MOST_BYTES = 8 << 20


@dataclass(slots=True)
class MappedRows:
    """Result of `map` for consecutive rows.

    Attributes:
        names: names of the columns, in their order.
        kept: columns that are unchanged, row for row.
        kinds: the features of columns whose Arrow type does not express them.
        has_update: True if the function returned a value for these rows.
        num_rows: number of input rows.
        length: number of result rows.
        array: returns the column at an index of `names`.
    """

    names: list[str]
    kept: frozenset[str]
    kinds: Mapping[str, FeatureType]
    has_update: bool
    num_rows: int
    length: int
    array: Callable[[int], pa.Array]

    def batch(self, without: Collection[str] = ()) -> pa.RecordBatch:
        """Return the rows without the columns in `without`."""
        places = [place for place, name in enumerate(self.names) if name not in without]
        if not places:
            return rows_without_columns(self.length)
        return pa.RecordBatch.from_arrays([self.array(place) for place in places], [self.names[place] for place in places])


@dataclass(slots=True)
class Draft:
    """The result columns of one block.

    Attributes:
        block: the input rows.
        names: names of the columns, in their order.
        arrays: array of each column; None for an unchanged one.
        kinds: the feature of each, if the array's type does not express it.
        has_update: True if the function returned a value.
    """

    block: Block
    names: list[str]
    arrays: list[pa.Array | None]
    kinds: list[FeatureType | None]
    has_update: bool

    def length(self) -> int:
        """Return the number of result rows.

        Raises:
            CastError: the columns have different lengths.
        """
        rows = self.block.num_rows
        if all(array is None or len(array) == rows for array in self.arrays):
            return rows
        pairs = zip(self.names, self.arrays, strict=True)
        lengths = {name: rows if array is None else len(array) for name, array in pairs}
        if len(set(lengths.values())) > 1:
            raise ColumnLengthError(lengths)
        return next(iter(lengths.values()), rows)


class ColumnLengthError(CastError, pa.ArrowInvalid):  # type: ignore[misc]
    """A function returned columns of different lengths, or of a different length than columns that stay."""

    def __init__(self, lengths: Mapping[str, int]) -> None:
        self.lengths = dict(lengths)
        told = ", ".join(f"{name!r}: {length}" for name, length in lengths.items())
        super().__init__(
            f"The columns of a result have different numbers of rows ({told}) instead of one expected length.  "
            "Return the same number for each, and list input columns of other lengths in remove_columns=."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return ColumnLengthError, (self.lengths,)


class Assembler:
    """Joins consecutive drafts that have the same columns."""

    def __init__(self, inputs: Inputs) -> None:
        self._inputs = inputs
        self._drafts: list[Draft] = []
        self._types: list[Any] = []
        self._length = self._rows = self._bytes = 0
        self._kinds: Mapping[str, FeatureType] = {}

    def add(self, draft: Draft) -> list[MappedRows]:
        """Add a draft; return the rows before it if it does not continue them."""
        length = draft.length()
        types = [None if array is None else array.type for array in draft.arrays]
        made = [] if self._continues(draft, types) else self.flush()
        if not self._drafts:
            self._types = types
        self._drafts.append(draft)
        self._length += length
        self._rows += draft.block.num_rows
        for array in draft.arrays:
            if array is not None:
                self._bytes += array.get_total_buffer_size()  # `nbytes` takes 30 us
        if self._inputs.index is not None:
            self._bytes += draft.block.batch.nbytes
        return made

    def _continues(self, draft: Draft, types: list[Any]) -> bool:
        if not self._drafts:
            return True
        first = self._drafts[0]
        return (
            self._rows < _MOST_ROWS
            and self._bytes < _MOST_BYTES
            and (first.names is draft.names or first.names == draft.names)
            and first.has_update == draft.has_update
            and all(map(is_, first.kinds, draft.kinds))
            and self._types == types
        )

    def flush(self) -> list[MappedRows]:
        """Return the waiting rows; a very large block in several batches, so that unchanged columns are not concatenated."""
        drafts = self._drafts
        if not drafts:
            return []
        first, rows = drafts[0], self._rows
        is_cut = len(drafts) == 1 and self._inputs.index is None and any(array is None for array in first.arrays)
        step = _MOST_ROWS if is_cut else max(rows, 1)
        stays = zip(first.names, first.arrays, strict=True) if self._inputs.index is None else ()
        kept = frozenset(name for name, array in stays if array is None)
        self._remember_kinds(first)
        made: list[MappedRows] = []
        for start in range(0, max(rows, 1), step):
            stop = min(start + step, rows)
            length = stop - start if step < rows else self._length
            column = partial(self._array, drafts, start=start, stop=stop)
            made.append(MappedRows(first.names, kept, self._kinds, first.has_update, stop - start, length, column))
        self._drafts = []
        self._length = self._rows = self._bytes = 0
        return made

    def _array(self, drafts: list[Draft], column: int, start: int, stop: int) -> pa.Array:
        name = drafts[0].names[column]
        if drafts[0].arrays[column] is None:
            if self._inputs.index is None and stop > start:
                first = drafts[0].block.start
                return self._inputs.stored(name, first + start, first + stop)
            parts: list[Any] = [draft.block.array(name) for draft in drafts]
        else:
            parts = [draft.arrays[column] for draft in drafts]
        whole = parts[0] if len(parts) == 1 else pa.concat_arrays(parts)
        return whole.slice(start, stop - start) if len(parts) == 1 and stop - start < drafts[0].block.num_rows else whole

    def _remember_kinds(self, first: Draft) -> None:
        """Return the same dict object as before if it is equal, so that writers detect immediately that nothing changed."""
        kinds = {name: kind for name, kind in zip(first.names, first.kinds, strict=True) if kind is not None}
        if kinds.keys() != self._kinds.keys() or any(kind is not self._kinds[name] for name, kind in kinds.items()):
            self._kinds = kinds


def rows_without_columns(length: int) -> pa.RecordBatch:
    """Return rows without columns, which can still be counted."""
    return pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), length, [None], children=[]))


_KEPT: Any = object()  # marks a column that is unchanged
_SIDE_BY_SIDE = 64  # batches whose coroutines wait together


@dataclass(frozen=True, slots=True)
class MapPlan:
    """Arguments of `map` that affect its result."""

    calls: Calls
    input_columns: tuple[str, ...] | None
    batched: bool
    batch_size: int | None
    drop_last_batch: bool
    remove_columns: tuple[str, ...]
    features: Features | None
    disable_nullable: bool
    try_original_type: bool
    as_json: bool


class Mapper:
    """Maps blocks of one dataset."""

    def __init__(self, plan: MapPlan, dataset: Rows, caller: Caller) -> None:
        self._plan, self._caller = plan, caller
        self.inputs = Inputs(dataset, plan.input_columns, None if plan.batched else columns_read(plan.calls.function))
        self._original = dict(dataset._features)
        self._removed = frozenset(plan.remove_columns)
        self._encoders: dict[str, ColumnEncoder] = {}
        self._merges = not self.inputs.is_tabular
        self._kinds_kept = {name: kind for name in self.inputs.names if (kind := self._kind_of_kept(name)) is not None}
        self._orders: dict[tuple[str, ...], list[str]] = {}
        self._all_kept = {name: _KEPT for name in self.inputs.names if name not in self._removed}

    def made(self, start: int, stop: int, shift: int = 0) -> Iterator[MappedRows]:
        """Return the results for the rows from `start` to `stop`, block by block.

        Args:
            start, stop: rows of the dataset of this mapper.
            shift: the number of its first row in the user's dataset.
        """
        return self._assembled(self._drafts(start, stop, shift))

    def passed(self, start: int, stop: int) -> Iterator[MappedRows]:
        """Return the rows from `start` to `stop` unchanged, without the removed columns."""
        return self._assembled(map(self._passed, self.inputs.blocks(start, stop)))

    def _assembled(self, drafts: Iterable[Draft]) -> Iterator[MappedRows]:
        assembler = Assembler(self.inputs)
        for draft in drafts:
            yield from assembler.add(draft)
        yield from assembler.flush()

    def _drafts(self, start: int, stop: int, shift: int) -> Iterator[Draft]:
        plan = self._plan
        if not plan.batched:
            for block in self.inputs.blocks(start, stop):
                yield self._of_rows(block, _shifted(block.numbers, shift))
            return
        size = plan.batch_size or max(stop - start, 1)
        if plan.drop_last_batch:
            stop = start + (stop - start) // size * size
        blocks = self.inputs.batches(start, stop, size)
        if not self._caller.is_async:
            for block in blocks:
                given = block.batch_arguments()
                numbers = _shifted(block.numbers, shift)
                yield self._of_batch(block, given, self._caller.on_batch(given, numbers), numbers)
            return
        while window := [block for _, block in zip(range(_SIDE_BY_SIDE), blocks, strict=False)]:
            asked = [(block.batch_arguments(), _shifted(block.numbers, shift)) for block in window]
            for block, (given, numbers), found in zip(window, asked, self._caller.on_batches(asked), strict=True):
                yield self._of_batch(block, given, found, numbers)

    def _passed(self, block: Block) -> Draft:
        return self._draft(block, self._kept(block, None), block.numbers, has_update=False)

    # -- rows ----------------------------------------------------------------------------------------------------------

    def _of_rows(self, block: Block, numbers: range) -> Draft:
        arguments = block.row_arguments()
        found = self._caller.on_rows(arguments, numbers, are_kept=True)
        kinds = set(map(type, found))
        if kinds == {NoneType}:
            return self._passed(block)
        if not all(issubclass(kind, (Mapping, NoneType)) for kind in kinds):
            tables = [
                self._one_row(value, number) if value is not None else self._unchanged(block, row)
                for row, (value, number) in enumerate(zip(found, numbers, strict=True))
            ]
            return self._of_table(block, pa.concat_tables(tables, promote_options="permissive"), numbers)
        is_open = self._plan.input_columns is None and self._merges and not self.inputs.is_sealed
        rows = arguments[0] if is_open else None
        columns: dict[str, Any] = {}
        if self._merges:
            before = self._changed_rows(block, rows) if rows is not None and self.inputs.is_plain else None
            columns = self._kept(block, before)
        given_back = [value is row for value, row in zip(found, rows, strict=True)] if rows is not None else [False]
        if any(given_back):
            if not self.inputs.is_plain:
                found = [
                    _touched(value, self._removed) if same else value for value, same in zip(found, given_back, strict=True)
                ]
            elif all(given_back):
                return self._draft(block, columns, numbers)
            else:
                found = [None if same else value for value, same in zip(found, given_back, strict=True)]
        columns.update(self._from_dicts(found, block, columns))
        return self._draft(block, columns, numbers)

    def _one_row(self, value: Any, number: int) -> pa.Table:
        table = _as_table(value)
        if table is None:
            raise self._refused(value)
        if table.num_rows != 1:
            raise CastError(
                f"The function passed to {self._plan.calls.verb}() returned {table.num_rows} rows for row {number}",
                advice="Return one, or pass batched=True, batch_size=1, with which a function may return any number of rows",
            )
        return table

    def _unchanged(self, block: Block, row: int) -> pa.Table:
        """Return as a table a row that the function left unchanged, while it returned tables for others."""
        return pa.table({name: block.array(name).slice(row, 1) for name in self._all_kept})

    def _from_dicts(self, found: list[Any], block: Block, columns: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values that the function set, by column; for a row without a new value, its earlier value."""
        first = found[0]
        if type(first) is dict and set(map(type, found)) == {dict} and set(map(len, found)) == {len(first)}:
            try:
                return {name: self._recognized(name, [row[name] for row in found], block) for name in first}
            except KeyError:
                pass
        names = dict.fromkeys(chain.from_iterable(value for value in found if value is not None))
        updates: dict[str, Any] = {}
        for name in names:
            if not any(value is None or name not in value for value in found):
                values = [value[name] for value in found]
            else:
                before = self._values_before(name, block, columns)
                values = [before[i] if value is None or name not in value else value[name] for i, value in enumerate(found)]
            updates[name] = self._recognized(name, values, block)
        return updates

    def _values_before(self, name: str, block: Block, columns: Mapping[str, Any]) -> Sequence[Any]:
        now = columns.get(name)
        if now is None:
            return [None] * block.num_rows
        return now if isinstance(now, list) else block.column(name)

    def _recognized(self, name: str, values: list[Any], block: Block) -> Any:
        """Return the Arrow column itself, if `values` came from it and cannot have been changed."""
        known = block.read(name)
        if known is None or name in self.inputs.lazy or not self.inputs.is_plain or not all(map(is_, values, known)):
            return values
        return _KEPT

    def _changed_rows(self, block: Block, rows: Sequence[Any]) -> dict[str, list[Any] | None]:
        """Return the current columns of the rows: values if some may have changed, None if all are unchanged."""
        names = self.inputs.names
        if not self.inputs.is_lazy and _same_values(rows, [block.column(name) for name in names], names):
            return dict.fromkeys(names)
        states = [held(row) for row in rows]
        present = dict.fromkeys(chain.from_iterable(states))
        changed: dict[str, list[Any] | None] = {}
        for name in present:
            values = [state.get(name) for state in states]
            changed[name] = self._unless_same(block, name, values)
        return changed

    def _unless_same(self, block: Block, name: str, values: list[Any]) -> list[Any] | None:
        if name not in self.inputs.names:
            return values
        if name not in self.inputs.lazy:
            return None if all(map(is_, values, block.column(name))) else values
        if all(value is UNTOUCHED for value in values):
            return None
        stored = _Stored(block, name)
        touched = [index for index, value in enumerate(values) if value is not UNTOUCHED]
        if all(_is_unchanged(values[index], stored, index) for index in touched):
            return None
        return [stored.raw(index) if value is UNTOUCHED else value for index, value in enumerate(values)]

    # -- batches -------------------------------------------------------------------------------------------------------

    def _of_batch(self, block: Block, given: Sequence[Any], found: Any, numbers: range) -> Draft:
        if found is None:
            return self._passed(block)
        if not isinstance(found, Mapping):
            table = _as_table(found)
            if table is None:
                raise self._refused(found)
            return self._of_table(block, table, numbers)
        whole = given[0] if self._plan.input_columns is None and self._merges else None
        columns: dict[str, Any] = {}
        if self._merges:
            before = self._changed_batch(block, whole) if whole is not None and self.inputs.is_plain else None
            columns = self._kept(block, before)
        if found is not whole:
            columns.update(self._from_batch(block, found))
        elif not self.inputs.is_plain and whole is not None:
            columns.update(_touched(whole, self._removed))
        return self._draft(block, columns, numbers)

    def _changed_batch(self, block: Block, whole: LazyDict) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        for name, values in held(whole).items():
            is_same = values is UNTOUCHED or self._is_same_batch(block, name, values)
            changed[name] = None if is_same else values
        return changed

    def _is_same_batch(self, block: Block, name: str, values: Any) -> bool:
        known = block.read(name)
        if known is None or not isinstance(values, list) or len(values) != len(known) or not all(map(is_, values, known)):
            return False
        if name not in self.inputs.lazy:
            return True
        stored = _Stored(block, name)
        return all(_is_unchanged(value, stored, index) for index, value in enumerate(values))

    def _from_batch(self, block: Block, found: Mapping[str, Any]) -> dict[str, Any]:
        columns: dict[str, Any] = {}
        for name, values in found.items():
            if isinstance(values, list) and self.inputs.is_plain and self._is_same_batch(block, name, values):
                columns[name] = _KEPT
            else:
                columns[name] = values
        return columns

    def _of_table(self, block: Block, table: pa.Table, numbers: range) -> Draft:
        columns = {name: _own(table.column(index)) for index, name in enumerate(table.column_names)}
        return self._draft(block, columns, numbers, in_order=True)

    # -- assembly ----------------------------------------------------------------------------------------------

    def _kept(self, block: Block, before: Mapping[str, list[Any] | None] | None) -> dict[str, Any]:
        """Return the columns of the rows before the update, as Arrow columns if they are unchanged."""
        if before is None:
            return dict(self._all_kept)
        return {name: _KEPT if values is None else values for name, values in before.items() if name not in self._removed}

    def _draft(
        self, block: Block, columns: dict[str, Any], numbers: range, *, in_order: bool = False, has_update: bool = True
    ) -> Draft:
        names = list(columns) if in_order else self._order(tuple(columns))
        if self._plan.features is not None:
            names = self._asked_for(names, self._plan.features)
        arrays: list[pa.Array | None] = []
        kinds: list[FeatureType | None] = []
        lacking = []
        for place, name in enumerate(names):
            values = columns.get(name)
            array, kind = None, self._kinds_kept.get(name)
            if values is None:  # a column of the features that nothing was given for
                lacking.append(place)
            elif values is not _KEPT or kind is None:
                array, kind = self._encoded(block, name, values, numbers)
            arrays.append(array)
            kinds.append(kind)
        if lacking:
            num_rows = next((len(array) for array in arrays if array is not None), len(numbers))
            for place in lacking:
                arrays[place], kinds[place] = self._encoded(block, names[place], [None] * num_rows, numbers)
        if self._plan.disable_nullable:
            self._refuse_nulls(names, [block.array(name) if a is None else a for name, a in zip(names, arrays, strict=True)])
        return Draft(block, names, arrays, kinds, has_update)

    def _order(self, found: tuple[str, ...]) -> list[str]:
        """Return columns in the order of a result: first those that the rows had."""
        names = self._orders.get(found)
        if names is None:
            known = [name for name in self.inputs.names if name in found]
            names = self._orders[found] = known + [name for name in found if name not in self._original]
        return names

    def _asked_for(self, names: list[str], features: Features) -> list[str]:
        odd = next((name for name in names if name not in features), None)
        if odd is not None:
            raise CastError(
                f"The result of {self._plan.calls.verb}() has a column {odd!r}, which is not in the features",
                advice="Add it to features=, or to remove_columns=",
            )
        return list(features)

    def _encoded(self, block: Block, name: str, values: Any, numbers: range) -> Encoded:
        if not isinstance(name, str):
            raise ArgumentTypeError(
                f"{name!r} is not a valid column name", advice="Return a dict with strings as keys", value=name
            )
        encoder = self._encoders.get(name)
        if encoder is None:
            encoder = self._encoders[name] = self._encoder(name)
        try:
            if values is _KEPT:
                return encoder.array(block.array(name))
            return _of_values(encoder, values, self)
        except CellCastError as error:
            row = None if error.row is None else numbers[error.row] if error.row < len(numbers) else error.row
            what = f"The result of {self._plan.calls.verb}()"
            raise CellCastError(error.column, error.reason, row=row, what=what, advice=error.advice) from error

    def _kind_of_kept(self, name: str) -> FeatureType | None:
        """Return the feature of an unchanged column; None if the requested features store it differently."""
        features = self._plan.features
        if features is None:
            return self._original[name]
        kind = features.get(name)
        return kind if kind is not None and feature_to_arrow(kind) == self.inputs.schema.field(name).type else None

    def _encoder(self, name: str) -> ColumnEncoder:
        plan = self._plan
        given = None if plan.features is None else plan.features[name]
        original = self._original.get(name) if plan.try_original_type else None
        return ColumnEncoder(name, given, original, as_json=plan.as_json)

    def _refuse_nulls(self, names: list[str], arrays: list[pa.Array]) -> None:
        for name, array in zip(names, arrays, strict=True):
            if array.null_count:
                raise CellCastError(
                    name, "the value is null, which disable_nullable=True forbids", advice="Return a value for every row"
                )

    def _refused(self, value: Any) -> ArgumentTypeError:
        verb = self._plan.calls.verb
        return ArgumentTypeError(
            f"The function passed to {verb}() returned a {type(value).__name__}",
            advice="Return a dict of columns, a table or a data frame, or None to leave the rows unchanged",
        )


# -- parts -------------------------------------------------------------------------------------------------------------


class _Stored:
    """The original values of a column, read again on use."""

    def __init__(self, block: Block, name: str) -> None:
        self._block, self._name = block, name
        self.is_decoded = name in block.inputs.decoded
        self._all: list[Any] | None = None

    def given(self, index: int) -> Any:
        """Return the object that was passed to the function."""
        return self._block.given(self._name, index)

    def fresh(self, index: int) -> Any:
        """Return a value in the form that was passed to the function."""
        if self.is_decoded:
            array = self._block.array(self._name).slice(index, 1)
            return self._block.inputs.values(self._name, array)[0]
        if self._all is None:
            self._all = self._block.fresh(self._name)
        return self._all[index]

    def raw(self, index: int) -> Any:
        """Return a value as it is stored."""
        return self._block.array(self._name)[index].as_py()


def _touched(given: Mapping[str, Any], removed: frozenset[str]) -> dict[str, Any]:
    """Return the values of a row or batch that a function received and returned, as far as it read or set them.

    These include values of the columns `removed`, which `map` removes before the update: they stay.
    """
    now = held(given) if isinstance(given, LazyDict) else given
    touched = {name: value for name, value in now.items() if value is not UNTOUCHED}
    return touched | {name: given[name] for name in now if name in removed}


def _is_unchanged(value: Any, stored: _Stored, index: int) -> bool:
    """Return True if a value that was passed to the user's function, which can change it, is unchanged."""
    if value is not stored.given(index):
        return False
    equals: Any = type(value).__eq__
    if equals is object.__eq__:  # a decoder of sound or film: it reads, and cannot be changed
        return True
    return value is None or bool(np.all(stored.fresh(index) == value))


def _same_values(rows: Sequence[Any], columns: list[list[Any]], names: tuple[str, ...]) -> bool:
    """Return True if plain dicts contain exactly the objects of some columns, and these objects are immutable."""
    if not names or set(map(len, rows)) != {len(names)}:
        return not names and not any(rows)
    try:
        if len(names) == 1:
            (name,) = names
            return all(map(is_, [row[name] for row in rows], columns[0]))
        now = map(itemgetter(*names), rows)
        return all(map(is_, chain.from_iterable(now), chain.from_iterable(zip(*columns, strict=True))))
    except KeyError:
        return False


def _of_values(encoder: ColumnEncoder, values: Any, mapper: Mapper) -> Encoded:
    """Return the array of a function's result for a column: a value for each row."""
    if type(values) is list:
        return encoder.rows(values)
    if type(values) is np.ndarray and values.ndim:
        return encoder.numbers(values)
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return encoder.array(_one_chunk(values))
    values = tensor_array(values) if type(values).__module__.startswith("torch") else values
    if isinstance(values, np.ndarray) and values.ndim:
        return encoder.numbers(values)
    if isinstance(values, tuple):
        return encoder.rows(list(values))
    to_arrow = getattr(values, "to_arrow", None)  # of a polars series
    if to_arrow is not None:
        return encoder.array(_one_chunk(to_arrow()))
    if type(values).__module__.startswith("pandas") and hasattr(values, "array"):
        return encoder.array(_one_chunk(pa.Array.from_pandas(values)))
    if hasattr(values, "__array__") and hasattr(values, "shape") and not isinstance(values, np.generic) and values.shape:
        return encoder.numbers(np.asarray(values))
    raise ArgumentTypeError(
        f"The function passed to {mapper._plan.calls.verb}() returned a {type(values).__name__} for column {encoder.name!r} "
        "of a batch",
        advice="Return a list or an array with one value for each row",
    )


def _one_chunk(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    if isinstance(values, pa.Array):
        return values
    if values.num_chunks == 1:
        return values.chunk(0)
    return pa.concat_arrays(values.chunks) if values.num_chunks else pa.nulls(0, values.type)


def _as_table(value: Any) -> pa.Table | None:
    table = as_table(value)
    return None if table is None else table.replace_schema_metadata(None)


def _own(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column in memory that is not shared with the user's numpy array, which may be refilled for the next batch."""
    if pa.types.is_primitive(column.type) or pa.types.is_nested(column.type):
        with contextlib.suppress(pa.ArrowNotImplementedError):  # types that pyarrow does not concatenate
            return pa.chunked_array([pa.concat_arrays([chunk, chunk.slice(0, 0)]) for chunk in column.chunks], column.type)
    return column  # of texts and bytes Arrow has a copy already


def _shifted(numbers: range, by: int) -> range:
    return range(numbers.start + by, numbers.stop + by)
