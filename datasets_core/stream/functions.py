"""A user's function on rows of a stream: what it is given, what its answer makes of the rows, and errors that name them."""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from datasets_core.errors import ArgumentTypeError, ConfigurationError, MaskLengthError
from datasets_core.features.schema import Features
from datasets_core.format.formatter import RowFormat
from datasets_core.stream.block import Block, DictBlock, Kinds, check_names, encoded, joined
from datasets_core.stream.node import Numbers
from datasets_core.stream.shown import TABLES, Shown, of_table


@dataclass(frozen=True, slots=True)
class Function:
    """A function, and how it is called.

    Attributes:
        call: the user's.
        verb: the method that it was given to, for errors.
        kwargs: what it gets by name.
        with_indices: it gets numbers of rows behind the rows.
        input_columns: the columns that it gets; None: the row itself.
        format: what rows come to it as.
    """

    call: Callable[..., Any]
    verb: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    with_indices: bool = False
    input_columns: tuple[str, ...] | None = None
    format: RowFormat = field(default_factory=RowFormat)

    def on_rows(self, block: Block, numbers: Numbers) -> tuple[list[Any], list[Any]]:
        """What it was given and what it returned, for each row."""
        rows = Shown(self.format).rows(block)
        arguments: list[Sequence[Any]] = [rows]
        if self.input_columns is not None:
            check_names(self.input_columns, block.names)
            arguments = [[row[name] for row in rows] for name in self.input_columns]
        if self.with_indices:
            arguments.append(_listed(numbers))
        call = partial(self.call, **self.kwargs) if self.kwargs else self.call
        found: list[Any] = []
        try:
            if self.is_async:
                found.extend(asyncio.run(_gathered([call(*given) for given in zip(*arguments, strict=True)])))
            else:
                for given in zip(*arguments, strict=True):
                    answer = call(*given)  # in two lines: a comprehension would not tell at which row it failed
                    found.append(answer)
        except Exception as error:
            self._note(error, None if self.is_async or numbers is None else [numbers[len(found)]])
            raise
        return rows, found

    def on_batch(self, block: Block, numbers: Numbers) -> tuple[Any, Any]:
        """What it was given and what it returned, for all rows together."""
        batch = Shown(self.format).columns(block)
        arguments = [batch]
        if self.input_columns is not None:
            check_names(self.input_columns, block.names)
            arguments = [batch[name] for name in self.input_columns]
        if self.with_indices:
            arguments.append(_listed(numbers))
        try:
            found = self.call(*arguments, **self.kwargs)
            return batch, asyncio.run(found) if self.is_async else found
        except Exception as error:
            self._note(error, numbers)
            raise

    @property
    def is_async(self) -> bool:
        """Whether a call gives a coroutine."""
        function = self.call
        while isinstance(function, partial):
            function = function.func
        return inspect.iscoroutinefunction(function)

    def _note(self, error: Exception, numbers: Numbers) -> None:
        name = getattr(self.call, "__qualname__", type(self.call).__qualname__)
        if numbers is None or not len(numbers):
            where = ""
        else:
            where = f" on row {numbers[0]}" if len(numbers) == 1 else f" on rows {numbers[0]} to {numbers[-1]}"
        error.add_note(f"{self.verb}() called {name}{where} of the stream.")

    def kept_rows(self, block: Block, numbers: Numbers, *, is_batched: bool) -> list[int]:
        """The rows, by number in the block, for which it says something true.

        Raises:
            MaskLengthError: a function on batches gave not one answer for each row.
        """
        if not is_batched:
            return [row for row, answer in enumerate(self.on_rows(block, numbers)[1]) if answer]
        _, found = self.on_batch(block, numbers)
        answers = found.to_pylist() if hasattr(found, "to_pylist") else list(found)
        if len(answers) != block.num_rows:
            raise MaskLengthError(len(answers), size=block.num_rows)
        return [row for row, answer in enumerate(answers) if answer]


@dataclass(frozen=True, slots=True)
class RowsMade:
    """What `map` makes of rows.

    Attributes:
        function: the user's.
        removed: columns that go before the update.
        result: the features of the result; None: the values are what the function made of them.
    """

    function: Function
    removed: tuple[str, ...] = ()
    result: Features | None = None
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def needs_numbers(self) -> bool:
        """See `RowChange.needs_numbers`."""
        return self.function.with_indices

    def changed(self, block: Block, numbers: Numbers) -> Block:
        """See `RowChange.changed`: the function takes one row."""
        check_names(self.removed, block.names)
        given, found = self.function.on_rows(block, numbers)
        if self.function.format.type in TABLES or any(_is_table(value) for value in found):
            tables = [of_table(value) for value in found]
            if not all(tables):
                raise self._refused(next(value for value in found if of_table(value) is None))
            return self._finished(joined([table for table in tables if table is not None]))
        rows = given if self.function.format.type is None and self.function.input_columns is None else block.rows()
        return self._finished(DictBlock([self._updated(row, value) for row, value in zip(rows, found, strict=True)]))

    def on_batch(self, block: Block, numbers: Numbers) -> Block:
        """The rows that the function makes of a batch."""
        check_names(self.removed, block.names)
        given, found = self.function.on_batch(block, numbers)
        table = None if found is None or isinstance(found, Mapping) else of_table(found)
        if table is not None:
            return self._finished(table)
        if found is not None and not isinstance(found, Mapping):
            raise self._refused(found)
        is_open = self.function.format.type is None and self.function.input_columns is None
        columns: dict[str, Any] = {} if self.function.format.type in TABLES else dict(given if is_open else block.columns())
        is_same = found is given
        for name in self.removed:
            columns.pop(name, None)
        kept = list(columns)
        if found is not None and not is_same:
            columns.update(found)
        rows = _rows_of(columns)
        if rows is None:
            lengths = {name: len(values) for name, values in columns.items()}
            odd = next((name for name in kept if lengths[name] != lengths[list(columns)[-1]]), kept[0] if kept else None)
            raise ConfigurationError(
                f"{self.function.verb}() made columns of different lengths of a batch: {lengths}. "
                f"Return lists of one length, or give remove_columns={odd!r} and the others that do not fit."
            )
        if not columns and not self.removed:
            return block
        return self._finished(DictBlock(rows))

    def _updated(self, row: dict[str, Any], value: Any) -> dict[str, Any]:
        if value is not None and not isinstance(value, Mapping):
            raise self._refused(value)
        if self.removed:
            kept = {name: held for name, held in row.items() if name not in self.removed}
            return kept if value is None or value is row else {**kept, **value}
        if value is None or value is row:
            return row
        return {**row, **value}

    def _finished(self, block: Block) -> Block:
        if self.result is None:
            return block
        kinds = self._kept.get("kinds")
        if kinds is None:
            kinds = self._kept["kinds"] = Kinds(self.result)
        return encoded(block.rows(), kinds)

    def _refused(self, value: Any) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"The function of {self.function.verb}() returned {type(value).__name__}. Return a dict of columns, or None."
        )


def _is_table(value: Any) -> bool:
    return value is not None and not isinstance(value, Mapping) and of_table(value) is not None


def _rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Columns as rows; None where their lengths differ."""
    lists = [_values(values) for values in columns.values()]
    if len(set(map(len, lists))) > 1:
        return None
    names = tuple(columns)
    return [dict(zip(names, values, strict=True)) for values in zip(*lists, strict=True)]


def _values(values: Any) -> list[Any]:
    if isinstance(values, np.ndarray) and values.ndim == 1:
        return list(values.tolist())
    to_pylist = getattr(values, "to_pylist", None)  # of an Arrow array
    return list(values if to_pylist is None else to_pylist())


def _listed(numbers: Numbers) -> list[int]:
    assert numbers is not None
    return np.asarray(numbers).tolist()  # type: ignore[no-any-return]


async def _gathered(coroutines: list[Any]) -> list[Any]:
    return list(await asyncio.gather(*coroutines))
