"""Parts of a dataset as jobs of an engine: where they are cut, what their progress is, and errors that name the rows."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from datasets_core.engines.engine import Engine, get_engine
from datasets_core.errors import ConfigurationError, WorkerDiedError
from datasets_core.progress import Progress, progress
from datasets_core.rows.arguments import as_int

if TYPE_CHECKING:
    from datasets_core.rows.tabled import Tabled

R = TypeVar("R")
_LOOK_SECONDS = 0.2  # between two looks at how far workers are


@dataclass(frozen=True, slots=True)
class Part:
    """A run of rows of a dataset: the job of one worker.

    Attributes:
        dataset: those rows alone.
        start: the number of the first in the user's dataset.
        rank: which part it is; None where there is no division.
        folder: where its files go; "" where it has none.
        tells: the file in which it says how many rows are done; "" where nobody looks.
        most_bytes: results up to this size come back in memory.
    """

    dataset: Tabled
    start: int
    rank: int | None
    folder: str = ""
    tells: str = ""
    most_bytes: int = 0

    @property
    def rows(self) -> str:
        """Its rows, for errors."""
        return f"rows {self.start} to {self.start + self.dataset.num_rows - 1}"


def number_of_parts(num_proc: int | None, rows: int) -> int | None:
    """Into how many parts so many rows go; None where no division was asked for.

    Raises:
        ConfigurationError: a negative number.
    """
    if num_proc is None or (count := as_int("num_proc", num_proc)) == 0:
        return None
    if count < 0:
        raise ConfigurationError(f"num_proc={num_proc} makes no process. Give 1 or more, or None.")
    return max(1, min(count, rows))


def borders(rows: int, parts: int, unit: int) -> list[tuple[int, int]]:
    """Runs of rows that begin at multiples of `unit`, so that batches are the same for any number of parts.

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
    verb: str,
) -> list[R]:
    """What `work` makes of each part, in their order.

    Raises:
        WorkerDiedError: a worker process was killed; it names the rows.
    """
    runner = get_engine(engine, num_proc=len(parts) if len(parts) > 1 or engine is not None else None)
    found: dict[int, R] = {}
    with _watched(stage, total, [part.tells for part in parts]):
        try:
            with closing(runner.run(work, parts)) as done:  # type: ignore[type-var]
                found.update(done)
        except WorkerDiedError as error:
            at = parts[error.job].rows if error.job is not None else "some rows"
            raise WorkerDiedError(
                f"The worker process that ran {verb}() on {at} ended without a result: it was killed, perhaps for want of "
                "memory. Run again with a smaller num_proc or smaller batches.",
                job=error.job,
            ) from error
    return [found[index] for index in range(len(parts))]


class Teller:
    """Says in a file how many rows are done, for whoever watches from another process."""

    def __init__(self, path: str) -> None:
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666) if path else -1
        self._done = 0

    def update(self, rows: int) -> None:
        """So many rows more are done."""
        if self._descriptor >= 0:
            self._done += rows
            os.pwrite(self._descriptor, b"%020d" % self._done, 0)

    def __enter__(self) -> Teller:
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


@contextmanager
def _watched(stage: str, total: int, files: Sequence[str]) -> Iterator[None]:
    """A bar that follows what tellers say, in a thread; none where nobody tells."""
    if not any(files):
        yield
        return
    ended = threading.Event()
    with progress(stage, total=total, unit="rows") as bar:
        thread = threading.Thread(target=_follow, args=(bar, files, ended), name="datasets_core-progress", daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()


def _follow(bar: Progress, files: Sequence[str], ended: threading.Event) -> None:
    shown = 0
    while True:
        is_over = ended.wait(_LOOK_SECONDS)
        done = sum(map(_told, files))
        if done > shown:
            bar.update(done - shown)
            shown = done
        if is_over:
            return


def _told(path: str) -> int:
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as handle:
        return int(handle.read() or 0)
    return 0


def as_size(batch_size: Any) -> int | None:
    """The rows of a batch; None for all of them."""
    return None if batch_size is None or (size := as_int("batch_size", batch_size)) <= 0 else size
