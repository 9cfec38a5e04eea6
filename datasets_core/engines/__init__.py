"""Engines, which run jobs: in one process, threads, processes, an executor, Ray or Dask."""

from __future__ import annotations

import contextlib
import functools
import operator
from collections.abc import Callable, Iterable, Iterator
from threading import Event
from typing import Any, Protocol, TypeVar, runtime_checkable

from datasets_core.config import settings, using
from datasets_core.engines.deadline import RETRIES, Deadline, SerialEngine
from datasets_core.errors import ConfigurationError

# The `Engine` protocol, and the lookup of engines by name.


T = TypeVar("T")
R = TypeVar("R")

GROUP = "datasets_core.engines"

Factory = Callable[..., Any]
"""Makes an engine of `num_proc`, and of `address=` where it has one."""


def _local(name: str, num_proc: int | None) -> Any:
    from datasets_core.engines import pool  # 3 ms that serial work does without

    return getattr(pool, name)(num_proc)


_ENGINES: dict[str, Factory] = {
    "serial": SerialEngine,
    "threads": functools.partial(_local, "ThreadEngine"),
    "processes": functools.partial(_local, "ProcessEngine"),
}
_BUILT_IN = frozenset(_ENGINES)  # known without an installation, and not to be replaced by accident


@runtime_checkable
class Engine(Protocol):
    """Interface of an engine, which runs jobs.

    An engine may have the attribute `shares_memory`: True if jobs see the objects of the calling process, so that functions
    are not sent. Builds and `map` call `run(function, jobs)`, and pass a deadline only to engines that do not share memory;
    engines of other packages need not support the options.
    """

    def run(
        self,
        function: Callable[[T], R],
        jobs: Iterable[T],
        *,
        window: int | None = None,
        ordered: bool = False,
        retries: int = RETRIES,
        deadline: Deadline | None = None,
        stop: Event | None = None,
    ) -> Iterator[tuple[int, R]]:
        """Call `function` on every job; yield pairs (position of the job, result) as jobs finish.

        Nothing starts before the first result is requested. The first exception stops everything and is raised unchanged, with
        the traceback of its worker process as a note; closing the iterator stops all jobs. No job is running any more once the
        iterator has ended, for any reason.

        Args:
            function: called with each job.
            jobs: taken one by one, as workers become free.
            window: maximum number of jobs that are in progress, or finished but not yielded; None: two for each worker.
            ordered: True to yield results, and to raise exceptions, in the order of the jobs.
            retries: number of times that a job is run again if its worker died.
            deadline: time by which all jobs must have finished.
            stop: an event that ends the run when set, as closing does; a run that fails or is closed sets it, for jobs that
                check it.

        Raises:
            WorkerDiedError: the worker of a job died, as did those of its retries.
            TimeUp: the deadline has passed. Worker processes are killed then; other engines wait for running jobs.
        """
        ...


def get_engine(engine: str | Engine | None = None, *, num_proc: int | None = None, address: str | None = None) -> Engine:
    """Return the requested engine.

    Args:
        engine: a name (`serial`, `threads`, `processes`, `ray`, `dask`, or one that `register_engine` or the entry point
            group `datasets_core.engines` of an installed package adds), an engine itself, an executor of
            `concurrent.futures`, or None: the setting `engine`, or, if that is not set, processes if `num_proc` is above one,
            else serial.
        num_proc: number of workers; None lets a named engine choose.
        address: address of the cluster, for engines given by name that use one.

    Raises:
        ConfigurationError: the engine does not exist, `num_proc` is below one, or the engine takes no address.

    >>> get_engine().__class__.__name__, get_engine(num_proc=2).__class__.__name__
    ('SerialEngine', 'ProcessEngine')
    """
    if num_proc is not None:
        if isinstance(num_proc, bool) or not hasattr(num_proc, "__index__") or num_proc < 1:
            raise ConfigurationError(
                f"num_proc is {num_proc!r}", advice="Give a whole number of at least 1, or omit it", value=num_proc
            )
        num_proc = operator.index(num_proc)  # of numpy's integers too
    if engine is None:
        engine = settings().engine
    is_open = engine is None
    if engine is None:
        engine = "serial" if num_proc is None or num_proc == 1 else "processes"
    if not isinstance(engine, str):
        if isinstance(engine, Engine):
            return engine
        if hasattr(engine, "submit"):
            from datasets_core.engines.executor import ExecutorEngine  # few bring one

            return ExecutorEngine(engine, num_proc)
        raise ConfigurationError(
            f"Unknown engine {engine!r}",
            advice="Give a name, an executor of concurrent.futures, or an object with a method run(function, jobs)",
            value=engine,
        )
    if address is not None and engine in _BUILT_IN:
        raise ConfigurationError(f"The engine {engine!r} runs on this machine and has no address", advice="Remove the address")
    found: Any = _factory(engine)(num_proc, **({} if address is None else {"address": address}))
    if is_open and engine == "processes":
        found.is_named = False
    if not isinstance(found, Engine):
        raise ConfigurationError(
            f"The engine {engine!r} has no method run(function, jobs)", advice="Fix the package that provides it"
        )
    return found


@contextlib.contextmanager
def on_engine(
    engine: str | Engine | None, *, num_proc: int | None = None, address: str | None = None
) -> Iterator[Engine | None]:
    """Make `get_engine()` return this engine within the block; at its end, stop what an engine given by name has started.

    Args:
        engine: see `get_engine`; None: that of the settings.
        num_proc, address: options of an engine given by name.

    Yields:
        The engine; None if neither the caller nor the settings name one.
    """
    named = settings().engine if engine is None else engine
    if named is None and address is None:
        yield None
        return
    found = get_engine(named, num_proc=num_proc, address=address)
    with using(engine=found):
        try:
            yield found
        finally:
            if isinstance(named, str):
                getattr(found, "close", bool)()


def register_engine(name: str, factory: Factory) -> None:
    """Register an engine under a name, for `engine=` of builds and of `map()`; an earlier engine of that name is replaced.

    Args:
        name: the name that users pass.
        factory: makes the engine, given `num_proc`, which is None if the user passed none.

    Raises:
        ConfigurationError: an engine of the library has that name.

    Example:
        >>> register_engine("one_by_one", lambda num_proc: SerialEngine())
        >>> Dataset.from_dict({"a": [1]}).map(lambda row: {"a": row["a"] + 1}, engine="one_by_one")[0]
        {'a': 2}
    """
    if name in _BUILT_IN:
        raise ConfigurationError(f"{name!r} is a built-in engine", advice="Use another name for the new engine", value=name)
    _ENGINES[name] = factory


def _factory(name: str) -> Factory:
    made = _ENGINES.get(name)
    if made is not None:
        return made
    from importlib.metadata import entry_points  # 9 ms that a known engine does without

    offered = {point.name: point for point in entry_points(group=GROUP)}
    if name not in offered:
        known = ", ".join(map(repr, [*_ENGINES, *sorted(offered)]))
        raise ConfigurationError(f"Unknown engine {name!r}. Available engines: {known}.", value=name)
    return offered[name].load()  # type: ignore[no-any-return]
