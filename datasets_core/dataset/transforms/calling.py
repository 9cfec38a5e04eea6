"""`Caller`: calls of a user's function on rows and batches: arguments, coroutines, errors that name rows; parts for workers."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, TypeVar

from datasets_core.config import has_alias
from datasets_core.engines import Engine, get_engine
from datasets_core.engines.deadline import SerialEngine
from datasets_core.engines.threads import followed
from datasets_core.errors import ConfigurationError, WorkerDiedError
from datasets_core.progress import progress, switch, told
from datasets_core.store import module_state
from datasets_core.store.atomic import temporary_folder
from datasets_core.store.chunks import copied, unchanged
from datasets_core.store.rows.indices import as_int

if TYPE_CHECKING:
    from datasets_core.store.rows.rows import Rows

CALLS_USERS = True  # see `errors.base.users_frames`

_OLD_MESSAGE = (  # of datasets, word for word, for programs that compare it
    "One of the subprocesses has abruptly died during map operation.To debug the error, disable multiprocessing."
)
_MOST_TASKS = 1000  # coroutines that wait side by side
_PROBED_ROWS = 4  # of a block, whose results are compared with what they were when they were returned


@dataclass(frozen=True, slots=True)
class Calls:
    """A user function with the options of its calls.

    Attributes:
        function: the user's function.
        kwargs: its keyword arguments.
        with_indices, with_rank: True to pass the row number, and the rank, after the row or rows.
        verb: the method it was passed to, for error messages.
        split: split of the rows, for error messages.
    """

    function: Callable[..., Any]
    kwargs: Mapping[str, Any]
    with_indices: bool
    with_rank: bool
    verb: str
    split: str | None = None

    @property
    def is_async(self) -> bool:
        """True if a call returns a coroutine."""
        function = self.function
        while isinstance(function, partial):
            function = function.func
        return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


class Caller:
    """Calls a function, in one worker; a context manager, since coroutines have one event loop for all calls.

    Args:
        calls: how it is called.
        rank: rank of the worker.
    """

    def __init__(self, calls: Calls, rank: int | None = None) -> None:
        self._calls, self._rank = calls, rank
        self.function, self.kwargs = calls.function, calls.kwargs
        self.is_async = calls.is_async
        self._stack = ExitStack()
        self._run: Callable[[Any], Any] | None = None
        self._reuses = False  # the function fills one object again and again
        self._ended, self._waits = 0, 0  # what `rows_done` counts
        self._current: Any = iter(())

    def __enter__(self) -> Caller:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def rows_done(self) -> int:
        """Number of rows for which the function has been called; read by the thread that shows progress."""
        left: int = self._current.__length_hint__()
        return self._ended + max(0, self._waits - left)

    def on_rows(self, columns: Sequence[Sequence[Any]], numbers: range, *, are_kept: bool = False) -> list[Any]:
        """Return the result of the function for each row.

        Args:
            columns: for each of its arguments, the values of all rows.
            numbers: numbers of the rows.
            are_kept: True if the results are dicts that are read when all exist: later changes of an earlier result are undone.

        Raises:
            ConfigurationError: an earlier result was changed, and its value is lost.
        """
        first: Any = iter(columns[0]) if columns else iter(numbers)
        arguments: list[Iterable[Any]] = [first, *columns[1:]] if columns else []
        if self._calls.with_indices:
            arguments.append(numbers)
        if self._calls.with_rank:
            arguments.append(repeat(self._rank, len(numbers)))
        if not arguments:
            arguments = [first]
        call = partial(self.function, **self.kwargs) if self.kwargs else self.function
        found: list[Any] = []
        failure: Exception
        try:
            if self.is_async:
                return self._waited(_gathered(self._counted(call), list(zip(*arguments, strict=True))))  # type: ignore[no-any-return]
            self._current, self._waits = first, len(numbers)
            if are_kept:
                self._extend(found, _called(call, arguments), columns[0] if columns else numbers)
            else:
                found.extend(_called(call, arguments))
            self._waits = 0  # first, so that no row is counted twice in between
            self._ended += len(numbers)
            return found
        except _RowFailure as of_a_row:
            failure, number = of_a_row.error, of_a_row.number
        except Exception as error:
            number = len(numbers) - first.__length_hint__() - 1
            self._note(error, numbers[number : number + 1])
            raise
        self._note(failure, numbers[number : number + 1])
        raise failure

    def _counted(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a coroutine function that counts its rows as done."""

        async def counted(*given: Any) -> Any:
            made = await call(*given)
            self._ended += 1
            return made

        return counted

    def _extend(self, found: list[Any], made: Iterator[Any], rows: Sequence[Any]) -> None:
        """Add the results, each in the state in which it was returned: a function may refill one list for all rows."""
        kept: list[Any] = []
        while not self._reuses and len(kept) < _PROBED_ROWS:
            before = len(found)
            found.extend(islice(made, 1))
            if len(found) == before:
                return
            kept.append(copied(_held(found[-1], rows[before]), with_objects=False))
            if not _are_unchanged(kept, found, rows):
                self._reuses = True
                for place, was in enumerate(kept):
                    _put_back(found, place, rows[place], was)
        if not self._reuses:
            found.extend(made)
            if not _are_unchanged(kept, found, rows):
                raise ConfigurationError(
                    "The function modified an object that it had returned for another row",
                    advice="Return a new object for each row",
                )
            return
        for value in made:
            found.append(value)
            place = len(found) - 1
            _put_back(found, place, rows[place], copied(_held(value, rows[place]), with_objects=False))

    def on_batch(self, values: Sequence[Any], numbers: range) -> Any:
        """Return the result of the function for a batch of rows."""
        try:
            made = self._started(values, numbers)
            made = self._waited(_awaited(made)) if self.is_async else made
            self._ended += len(numbers)
            return made
        except Exception as error:
            failure = RuntimeError("the function raised StopIteration") if isinstance(error, StopIteration) else error
            self._note(failure, numbers)
            if failure is error:
                raise
            raise failure from error  # a generator that calls this would take it for its own end

    def on_batches(self, batches: Sequence[tuple[Sequence[Any], range]]) -> list[Any]:
        """Return the results of a coroutine function for several batches, awaited concurrently."""

        async def one(values: Sequence[Any], numbers: range) -> Any:
            try:
                made = await self._started(values, numbers)
            except Exception as error:
                self._note(error, numbers)
                raise
            self._ended += len(numbers)
            return made

        found: list[Any] = self._waited(_gathered(one, list(batches), names_row=False))
        return found

    def _started(self, values: Sequence[Any], numbers: range) -> Any:
        further: list[Any] = []
        if self._calls.with_indices:
            further.append(list(numbers))
        if self._calls.with_rank:
            further.append(self._rank)
        return self.function(*values, *further, **self.kwargs)

    def _waited(self, coroutine: Any) -> Any:
        """Return the result of a coroutine, in the event loop of this caller; in a thread if a loop runs here already."""
        import asyncio  # 25 ms, not needed for plain functions

        if self._run is None:
            runner = asyncio.Runner()
            try:
                asyncio.get_running_loop()
            except RuntimeError:
                self._stack.callback(runner.close)
                self._run = runner.run
            else:  # as in a notebook
                from datasets_core.engines.pool import WorkerPool

                submit = self._stack.enter_context(WorkerPool(1).working())
                self._stack.callback(lambda: submit(runner.close, 0).result())
                self._run = lambda coroutine: submit(partial(runner.run, coroutine), 0).result()
        return self._run(coroutine)

    def _note(self, error: BaseException, numbers: range) -> None:
        """Add to the user's own error the rows at which it was raised."""
        if len(numbers) == 1:
            rows = f"row {numbers[0]}"
        else:
            rows = f"rows {numbers.start} to {numbers.stop - 1}" if numbers else "no row"
        of = f" of split {str(self._calls.split)!r}" if self._calls.split else ""
        name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
        error.add_note(f"{self._calls.verb}() called {name} on {rows}{of}.")


def _called(call: Callable[..., Any], arguments: Sequence[Iterable[Any]]) -> Iterator[Any]:
    """Like `map`, except that StopIteration from `call` is an error whose cause shows the user's line, instead of the end."""
    if len(arguments) == 1:
        for value in arguments[0]:
            yield call(value)
    else:
        for values in zip(*arguments, strict=False):
            yield call(*values)


def _held(value: Any, row: Any) -> Any:
    """Return the result of a call for a row: the dict that it returned, or the row that it changed."""
    return value if type(value) is dict else row if value is None and type(row) is dict else None


def _are_unchanged(kept: Sequence[Any], found: Sequence[Any], rows: Sequence[Any]) -> bool:
    return all(unchanged(was, _held(value, row)) for was, value, row in zip(kept, found, rows, strict=False))


def _put_back(found: list[Any], place: int, row: Any, was: Any) -> None:
    """Restore the earlier content of a result, in separate objects."""
    if found[place] is None or found[place] is row:
        if type(row) is dict:
            row.clear()
            row.update(was)
    elif was is not None:
        found[place] = was


class _RowFailure(Exception):
    def __init__(self, error: Exception, number: int) -> None:
        self.error, self.number = error, number


async def _awaited(made: Any) -> Any:
    return await made


async def _gathered(call: Callable[..., Any], arguments: list[Any], *, names_row: bool = True) -> list[Any]:
    """Return the results of one call for each of the arguments, with a maximum number of concurrent calls; the first failure
    ends the others.
    """
    import asyncio  # it runs by now

    gate = asyncio.Semaphore(_MOST_TASKS)

    async def one(number: int, given: Any) -> Any:
        async with gate:
            try:
                return await call(*given)
            except Exception as error:
                if names_row:
                    raise _RowFailure(error, number) from error
                raise

    tasks = [asyncio.ensure_future(one(number, given)) for number, given in enumerate(arguments)]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()


# Parts of a dataset as jobs of an engine: their limits, their progress, and errors that name the rows.


R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Part:
    """A range of rows of a dataset: the job of one worker.

    Attributes:
        dataset: these rows only.
        start: the number of the first in the user's dataset.
        rank: number of the part; None for a single part.
        folder: folder of its files; "" without one.
        tells: the file for its progress, the number of rows done; "" without one.
        most_bytes: size limit of results returned in memory.
    """

    dataset: Rows
    start: int
    rank: int | None
    folder: str = ""
    tells: str = ""
    most_bytes: int = 0

    @property
    def rows(self) -> str:
        """Its rows, for errors."""
        return f"rows {self.start} to {self.start + self.dataset.num_rows - 1}"


_LEAST_PARTS = 64  # on machines whose number may change, so that a run that was killed finds its parts again


def number_of_parts(num_proc: int | None, rows: int, engine: Engine | None = None) -> int | None:
    """Return the number of parts for this many rows; None if none was requested.

    An engine without `num_proc` has a part for each worker; one that uses many machines has at least 64 in all, and four for
    each worker.

    Raises:
        ConfigurationError: a negative number.
    """
    if num_proc is None or (count := as_int("num_proc", num_proc)) == 0:
        if engine is None or isinstance(engine, SerialEngine):
            return None
        count = getattr(engine, "workers", None) or os.cpu_count() or 1
        if getattr(engine, "spans_machines", False):
            count = max(_LEAST_PARTS, 1 << (4 * count - 1).bit_length())
        return max(1, min(count, rows))
    if count < 0:
        raise ConfigurationError(f"Invalid num_proc={num_proc}", advice="Give 1 or more, or None")
    return max(1, min(count, rows))


def borders(rows: int, parts: int, unit: int) -> list[tuple[int, int]]:
    """Return runs of rows that begin at multiples of `unit`, so that batches are the same for any number of parts.

    >>> borders(10, 2, 3)
    [(0, 6), (6, 10)]
    >>> borders(10, 4, 10)
    [(0, 10)]
    """
    units = -(-rows // unit)
    parts = max(1, min(parts, units))
    cuts = [units * part // parts * unit for part in range(parts)]
    return list(zip(cuts, [*cuts[1:], rows], strict=True))


def results(
    work: Callable[[Part], R],
    parts: Sequence[Part],
    *,
    engine: str | Engine | None,
    stage: str,
    total: int,
    code: Sequence[Any] = (),
    verb: str,
    note: Callable[[Part, R], None] = lambda part, result: None,
) -> list[R]:
    """Return the result of `work` for each part, in their order; `code` is the user's function, `note` is called on each.

    Raises:
        WorkerDiedError: a worker process was killed; the error names the rows.
    """
    runner = get_engine(engine, num_proc=len(parts) if len(parts) > 1 or engine is not None else None)
    found: dict[int, R] = {}
    with tempfile.TemporaryDirectory(dir=temporary_folder()) if switch.enabled else nullcontext() as folder:
        if folder is not None:
            parts = [replace(part, tells=os.path.join(folder, str(number))) for number, part in enumerate(parts)]
        found.update(_done(runner, work, parts, stage, total, code, verb, note))
    return [found[index] for index in range(len(parts))]


def _done(
    runner: Engine,
    work: Callable[[Part], R],
    parts: Sequence[Part],
    stage: str,
    total: int,
    code: Sequence[Any],
    verb: str,
    note: Callable[[Part, R], None],
) -> dict[int, R]:
    found: dict[int, R] = {}
    with _watched(stage, total, [part.tells for part in parts]):
        try:
            folder = parts[0].folder or None
            running = module_state.run(runner, work, parts, *code, verb=f"{verb}()", folder=folder)
            with closing(running) as done:  # type: ignore[type-var]
                for index, result in done:
                    found[index] = result
                    note(parts[index], result)
        except WorkerDiedError as error:
            at = parts[error.job].rows if error.job is not None else "some rows"
            message = (
                f"The worker process that ran {verb}() on {at} ended without a result: it was killed, perhaps for lack of "
                "memory. Run again with a smaller num_proc or smaller batches."
            )
            died = WorkerDiedError(_OLD_MESSAGE if has_alias() else message, job=error.job)
            if has_alias():
                died.add_note(message)
            raise died from error
    return found


@contextmanager
def _watched(stage: str, total: int, files: Sequence[str]) -> Iterator[None]:
    """Show a progress bar that follows progress files; none without files."""
    if not any(files):
        yield
        return
    with progress(stage, total=total, unit="rows") as bar, followed(bar.update, lambda: sum(map(told, files))):
        yield


def as_size(batch_size: Any) -> int | None:
    """Return the rows of a batch; None for all of them."""
    if batch_size is None:
        return None
    size = batch_size if type(batch_size) is int else as_int("batch_size", batch_size)
    return size if size > 0 else None
