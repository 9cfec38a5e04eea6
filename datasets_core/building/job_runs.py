"""The jobs of a split, run by an engine: their results as they come, and in words of the split what stopped a worker."""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Sequence
from typing import Any

from datasets_core.building.author_failures import out_of_time
from datasets_core.building.hooks import Builder
from datasets_core.building.jobs import ShardJob, ShardResult
from datasets_core.engines.deadline import Deadline, TimeUp, can_stop
from datasets_core.engines.engine import Engine
from datasets_core.engines.serial import SerialEngine
from datasets_core.errors import WorkerDiedError


def run_jobs(
    function: Callable[..., ShardResult],
    jobs: Sequence[Any],
    *,
    builder: Builder,
    split: str,
    engine: Engine,
    deadline: Deadline | None,
    on_rows: Callable[[int], object],
) -> Generator[tuple[int, ShardResult]]:
    """Position and result of each job, as they are done.

    Args:
        function: what does a job; with `on_rows` as a keyword where it runs here.
        jobs: the jobs.
        builder: whose jobs.
        split: whose rows.
        engine: the engine that is asked for.  One job needs no worker, unless it is to be stopped at a deadline that only a
            worker can be stopped at.
        deadline: when the jobs are to be done, where an author's code runs in them.
        on_rows: told how many rows were written.

    Raises:
        WorkerDiedError: a worker process was killed; names the part of the split.
        ScriptTimeoutError: a worker process had to be killed, since it was not done in time.
    """
    chosen = _chosen(engine, len(jobs), deadline if builder.is_stopped_by_timer else None)
    here = isinstance(chosen, SerialEngine)
    running = chosen.run(functools.partial(function, on_rows=on_rows) if here else function, jobs)
    try:
        for position, result in running:
            if not here:
                on_rows(result.rows)
            yield position, result
    except WorkerDiedError as error:
        job = jobs[error.job] if error.job is not None else None
        if not isinstance(job, ShardJob):
            raise
        part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
        raise WorkerDiedError(
            f"The worker process that made split {split!r}{part} of {builder.label} ended without a result{_how(error)}: "
            "it was killed, perhaps for want of memory, or the code of the dataset ended it. "
            "Run again with a smaller num_proc; finished parts are kept.",
            job=error.job,
        ) from error
    except TimeUp as up:
        doing = f"making the rows of split {split!r}, in code that cannot be interrupted,"
        raise out_of_time(builder, deadline, up, doing, split=split) from None
    finally:
        if isinstance(running, Generator):
            running.close()


def _chosen(engine: Engine, count: int, deadline: Deadline | None) -> Engine:
    if isinstance(engine, SerialEngine) and (deadline is None or can_stop()):
        return engine
    from datasets_core.engines.local import ProcessEngine, ThreadEngine  # 2 ms that a serial build does without

    if isinstance(engine, SerialEngine):
        return ProcessEngine(1, deadline=deadline)
    if deadline is not None:
        return engine.until(deadline) if isinstance(engine, ProcessEngine) else engine
    if count == 1 and isinstance(engine, (ProcessEngine, ThreadEngine)):
        return SerialEngine()  # a worker would be started for nothing
    return engine


def _how(error: WorkerDiedError) -> str:
    """How the process ended, as the system says it: `SIGKILL(-9)`."""
    said = str(error.__cause__ or "")
    codes = said.rpartition("{")[2].partition("}")[0] if "exit codes" in said else ""
    return f" ({codes})" if codes else ""
