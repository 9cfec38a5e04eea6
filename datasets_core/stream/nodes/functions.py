"""`Function`, `RowsMade`: calls of user functions on rows of a stream, their results, and errors that name the rows."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from datasets_core.engines.pool import WorkerPool, call_in_process
from datasets_core.engines.process import Failure, SentFunction
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, MaskLengthError, WorkerDiedError
from datasets_core.features.formats.formats import TABULAR, RowFormat
from datasets_core.features.schema import Features
from datasets_core.stream.nodes.block import (
    Block,
    BlockFormatter,
    DictBlock,
    Failures,
    Kinds,
    check_names,
    encoded,
    joined,
    of_table,
)
from datasets_core.stream.nodes.node import Numbers, RowChange

CALLS_USERS = True  # see `errors.base.users_frames`


@dataclass(frozen=True, slots=True)
class Function:
    """A user function with the options of its call.

    Attributes:
        call: the function.
        verb: the method it was passed to, for error messages.
        kwargs: keyword arguments of the function.
        with_indices: True to pass row numbers after the rows.
        input_columns: the columns passed; None: the row itself.
        format: format of the rows passed.
        pool: calls it; None: the reading thread.
    """

    call: Callable[..., Any]
    verb: str
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    with_indices: bool = False
    input_columns: tuple[str, ...] | None = None
    format: RowFormat = field(default_factory=RowFormat)
    pool: WorkerPool | None = field(default=None, compare=False)
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def is_sent(self) -> bool:
        """True if it is called in worker processes."""
        return self.pool is not None and self.pool.engine == "processes"

    @property
    def name(self) -> str:
        """Name in error messages.

        >>> Function(len, "map").name
        'map(len)'
        """
        return f"{self.verb}({str(getattr(self.call, '__qualname__', type(self.call).__qualname__)).rpartition('.')[2]})"

    def here(self) -> Function:
        """Return the same function, called by the reading thread."""
        return self if self.pool is None else replace(self, pool=None, _kept={})

    def on_rows(self, block: Block, numbers: Numbers, failures: Failures | None = None) -> tuple[list[Any], list[Any]]:
        """Return the arguments and the results of the calls, for each row that did not fail."""
        rows = self._given(block, numbers, failures)
        if failures is not None and failures.rows:  # rows that cannot be decoded
            others = failures.others(len(rows))
            rows, block = [rows[row] for row in others], block.take(others)
            numbers = None if numbers is None else np.asarray(numbers)[others]
            inner = Failures(True)
            given, found = self._answers(rows, block, numbers, inner)
            failures.rows.update({others[row]: error for row, error in inner.rows.items()})
        else:
            given, found = self._answers(rows, block, numbers, failures)
        return given, found

    def _given(self, block: Block, numbers: Numbers, failures: Failures | None) -> list[Any]:
        """Return each row in the form that is passed to the function."""
        shown = BlockFormatter(self.format)
        if failures is None:
            return shown.rows(block)
        try:
            return shown.rows(block)
        except Exception as error:
            if not failures.are_tolerated:
                found = _first_failing(block, shown)
                if found is not None:
                    failures.rows[found] = error
                raise
        rows: list[Any] = []
        for row in range(block.num_rows):
            try:
                rows += shown.rows(block.slice(row, row + 1))
            except Exception as error:
                failures.rows[row] = error
                rows.append(None)
        return rows

    def _answers(
        self, rows: list[Any], block: Block, numbers: Numbers, failures: Failures | None
    ) -> tuple[list[Any], list[Any]]:
        arguments: list[Sequence[Any]] = [rows]
        if self.input_columns is not None:
            check_names(self.input_columns, block.names)
            arguments = [[row[name] for row in rows] for name in self.input_columns]
        if self.with_indices:
            arguments.append(_listed(numbers))
        call = partial(self.call, **self.kwargs) if self.kwargs else self.call
        found: list[Any] = []
        if failures is not None and failures.are_tolerated:
            return self._tolerant_answers(rows, call, arguments, numbers, failures)
        try:
            if self.is_async:
                found.extend(_run(_gathered([call(*given) for given in zip(*arguments, strict=True)])))
            else:
                for given in zip(*arguments, strict=True):
                    answer = call(*given)  # in two lines: a comprehension would hide the row at which it failed
                    found.append(answer)
        except Exception as error:
            if failures is not None and not self.is_async:
                failures.rows[len(found)] = error
            self._note(error, None if self.is_async or numbers is None else [numbers[len(found)]])
            raise
        return rows, found

    def _tolerant_answers(
        self, rows: list[Any], call: Callable[..., Any], arguments: list[Sequence[Any]], numbers: Numbers, failures: Failures
    ) -> tuple[list[Any], list[Any]]:
        kept: list[Any] = []
        found: list[Any] = []
        answers = None
        if self.is_async:
            answers = _run(_gathered([call(*given) for given in zip(*arguments, strict=True)], keeps_errors=True))
        for row, given in enumerate(zip(*arguments, strict=True)):
            try:
                answer = call(*given) if answers is None else answers[row]
                if isinstance(answer, Exception) and answers is not None:
                    raise answer
            except Exception as error:
                self._note(error, None if numbers is None else [numbers[row]])
                failures.rows[row] = error
            else:
                kept.append(rows[row])
                found.append(answer)
        return kept, found

    def on_batch(self, block: Block, numbers: Numbers) -> tuple[Any, Any]:
        """Return the arguments and the result of one call for all rows."""
        batch = BlockFormatter(self.format).columns(block)
        arguments = [batch]
        if self.input_columns is not None:
            check_names(self.input_columns, block.names)
            arguments = [batch[name] for name in self.input_columns]
        if self.with_indices:
            arguments.append(_listed(numbers))
        try:
            found = self.call(*arguments, **self.kwargs)
            return batch, _run(found) if self.is_async else found
        except Exception as error:
            self._note(error, numbers)
            raise

    @property
    def is_async(self) -> bool:
        """True if a call returns a coroutine."""
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

    def kept_rows(self, block: Block, numbers: Numbers, failures: Failures | None = None, *, is_batched: bool) -> list[int]:
        """Return the rows, by number in the block, for which the function returns a true value.

        Raises:
            MaskLengthError: a batched function did not return one value for each row.
        """
        if self.is_sent:
            kept = partial(self.here().kept_rows, is_batched=is_batched)
            found: list[int] = in_process(self._kept, self.name, kept, block, numbers, failures)
            return found
        if not is_batched:
            answers = self.on_rows(block, numbers, failures)[1]
            if failures is None or not failures.rows:
                return [row for row, answer in enumerate(answers) if answer]
            return [row for row, answer in zip(failures.others(block.num_rows), answers, strict=True) if answer]
        _, answer = self.on_batch(block, numbers)
        answers = answer.to_pylist() if hasattr(answer, "to_pylist") else list(answer)
        if len(answers) != block.num_rows:
            raise MaskLengthError(len(answers), size=block.num_rows)
        return [row for row, answer in enumerate(answers) if answer]


@dataclass(frozen=True, slots=True)
class RowsMade(RowChange):
    """`map` on some rows.

    Attributes:
        function: the user's function.
        removed: columns removed before the update.
        result: the features of the result; None: values stay as the function returned them.
    """

    function: Function
    removed: tuple[str, ...] = ()
    result: Features | None = None
    _kept: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @property
    def needs_numbers(self) -> bool:
        return self.function.with_indices

    @property
    def pool(self) -> WorkerPool | None:
        return self.function.pool

    @property
    def label(self) -> str:
        return self.function.name

    def changed(self, block: Block, numbers: Numbers, failures: Failures | None = None) -> Block:
        """See `RowChange.changed`: the function takes one row; those that fail are left out, if that is tolerated."""
        if self.function.is_sent:
            found: Block = in_process(self._kept, self.function.name, self._alone().changed, block, numbers, failures)
            return found
        check_names(self.removed, block.names)
        given, answers = self.function.on_rows(block, numbers, failures)
        if failures is None or not failures.are_tolerated:
            return self._made(block, given, answers)
        others = failures.others(block.num_rows)
        try:
            return self._made(block.take(others) if failures.rows else block, given, answers)
        except Exception:
            made = []
            for row, one, answer in zip(others, given, answers, strict=True):
                try:
                    made.append(self._made(block.slice(row, row + 1), [one], [answer]))
                except Exception as error:
                    failures.rows[row] = error
            return joined(made) if made else DictBlock([])

    def attempted(self, block: Block, numbers: Numbers, failures: Failures) -> Block:
        return self.changed(block, numbers, failures)

    def _alone(self) -> RowsMade:
        """Return the same object without a pool, for sending to a worker."""
        return RowsMade(self.function.here(), self.removed, self.result)

    def _made(self, block: Block, given: list[Any], found: list[Any]) -> Block:
        if self.function.format.type in TABULAR or any(_is_table(value) for value in found):
            same = block.rows() if any(value is None for value in found) else []
            made: list[Block] = []
            for row, value in enumerate(found):
                table = DictBlock([self._updated(same[row], None)]) if value is None else of_table(value)
                if table is None:
                    raise self._refused(value)
                if table.num_rows != 1:
                    raise CastError(
                        f"The function of {self.function.verb}() returned {table.num_rows} rows for one row",
                        advice=(
                            "Return one, or pass batched=True, batch_size=1, with which a function may return any number of "
                            "rows"
                        ),
                    )
                made.append(table)
            return self.fitted(joined(made))
        rows = given if self.function.format.type is None and self.function.input_columns is None else block.rows()
        if self.removed and rows is not given:  # a row that comes back as it was given loses them too
            found = [
                {name: held for name, held in value.items() if name not in self.removed} if value is one else value
                for one, value in zip(given, found, strict=True)
            ]
        return self.fitted(DictBlock([self._updated(row, value) for row, value in zip(rows, found, strict=True)]))

    def on_batch(self, block: Block, numbers: Numbers) -> Block:
        """Return the rows that the function returns for a batch."""
        if self.function.is_sent:
            made: Block = in_process(self._kept, self.function.name, self._alone().on_batch, block, numbers, None)
            return made
        check_names(self.removed, block.names)
        given, found = self.function.on_batch(block, numbers)
        table = None if found is None or isinstance(found, Mapping) else of_table(found)
        if table is not None:
            return self.fitted(table)
        if found is not None and not isinstance(found, Mapping):
            raise self._refused(found)
        is_open = self.function.format.type is None and self.function.input_columns is None
        is_replaced = found is not None and self.function.format.type in TABULAR
        columns: dict[str, Any] = {} if is_replaced else dict(given if is_open else block.columns())
        for name in self.removed:
            columns.pop(name, None)
        kept = list(columns)
        if found is not None and found is given and not is_open:
            columns.update({name: values for name, values in found.items() if name not in self.removed})
        elif found is not None and found is not given:
            columns.update(found)
        rows = _rows_of(columns)
        if rows is None:
            lengths = {name: len(values) for name, values in columns.items()}
            odd = next((name for name in kept if lengths[name] != lengths[list(columns)[-1]]), kept[0] if kept else None)
            raise ConfigurationError(
                f"Column lengths mismatch after {self.function.verb}() of a batch: {lengths}",
                advice=(
                    f"Return lists of the same length, or remove {odd!r} and other columns of different length with "
                    "remove_columns="
                ),
            )
        if not columns and not self.removed:
            return block
        return self.fitted(DictBlock(rows))

    def _updated(self, row: dict[str, Any], value: Any) -> dict[str, Any]:
        if value is not None and not isinstance(value, Mapping):
            raise self._refused(value)
        if self.removed:
            kept = {name: held for name, held in row.items() if name not in self.removed}
            return kept if value is None or value is row else {**kept, **value}
        if value is None or value is row:
            return row
        return {**row, **value}

    def fitted(self, block: Block) -> Block:
        """Return the rows with the features of the result, if it has any."""
        if self.result is None:
            return block
        kinds = self._kept.get("kinds")
        if kinds is None:
            kinds = self._kept["kinds"] = Kinds(self.result)
        return encoded(block.rows(), kinds)

    def _refused(self, value: Any) -> ArgumentTypeError:
        return ArgumentTypeError(
            f"The function of {self.function.verb}() returned {type(value).__name__}",
            advice="Return a dict of columns, or None",
        )


def _is_table(value: Any) -> bool:
    return value is not None and not isinstance(value, Mapping) and of_table(value) is not None


def _rows_of(columns: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Return columns as rows; None if their lengths differ."""
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


def _run(coroutine: Any) -> Any:
    import asyncio  # 25 ms, not needed for plain functions

    return asyncio.run(coroutine)


async def _gathered(coroutines: list[Any], *, keeps_errors: bool = False) -> list[Any]:
    import asyncio  # it runs by now

    return list(await asyncio.gather(*coroutines, return_exceptions=keeps_errors))


def _first_failing(block: Block, shown: BlockFormatter) -> int | None:
    """Return the first row that cannot be formatted."""
    for row in range(block.num_rows):
        try:
            shown.rows(block.slice(row, row + 1))
        except Exception:
            return row
    return None


def in_process(
    kept: dict[str, Any], name: str, work: Callable[..., Any], block: Block, numbers: Numbers, failures: Failures | None
) -> Any:
    """Return the result of work on rows, done in the worker process of this thread, or here if modules differ between the two.

    Args:
        kept: caches the packed work.
        name: name of the function, for error messages.
        work: takes the rows, their numbers, and the collector of failures, if any.
        block, numbers, failures: arguments of the work.
    """
    from datasets_core.store import module_state  # 3 ms that work of threads does without

    key = getattr(work, "__name__", None) or "partial"
    sent = kept.get(key)
    if sent is None:
        sent = kept[key] = SentFunction(module_state.checked(partial(_worked, work), work), name)
    tolerates = None if failures is None else failures.are_tolerated
    try:
        if kept.get("is_here"):
            found, failed, raised = _worked(work, block, numbers, tolerates)
        else:
            found, failed, raised = call_in_process(sent, block, numbers, tolerates)
    except module_state.ModuleStateError as error:
        if not kept.get("is_here"):
            kept["is_here"] = True
            module_state.warn_of(error, name)
        found, failed, raised = _worked(work, block, numbers, tolerates)
    except WorkerDiedError as error:
        if numbers is not None and len(numbers):
            error.add_note(f"It was called with rows {numbers[0]} to {numbers[-1]} of the stream.")
        raise
    if failures is not None:
        failures.rows.update({row: failure.error() for row, failure in failed.items()})
    if raised is not None:
        raise raised.error()
    return found


def _worked(work: Callable[..., Any], block: Block, numbers: Numbers, tolerates: bool | None) -> Any:
    """Return the result of the work, in the worker process."""
    if tolerates is None:
        return work(block, numbers), {}, None
    failures = Failures(tolerates)
    try:
        found = work(block, numbers, failures)
    except Exception as error:
        return None, {row: Failure.of(each) for row, each in failures.rows.items()}, Failure.of(error)
    return found, {row: Failure.of(each) for row, each in failures.rows.items()}, None
