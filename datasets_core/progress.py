"""Progress bars, one line per stage, and the functions that disable them."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, TextIO


class Progress(Protocol):
    """Progress of one stage, which a caller updates."""

    def update(self, n: int = 1, /) -> object:
        """Report that `n` more units are done."""


def is_seen(bar: Progress) -> bool:
    """Return True if this progress is shown."""
    return not isinstance(bar, _Silent)


class _Silent:
    def update(self, n: int = 1, /) -> None:
        return None


class _PrintedLines:
    """Progress without a terminal: a line at intervals, for the log of a job."""

    def __init__(self, stage: str, total: int | None, unit: str, seconds: float) -> None:
        self._stage, self._total, self._unit, self._seconds = stage, total, unit, seconds
        self._done, self._printed, self.jobs = 0, False, ""
        self._lock = threading.Lock()
        self._began = self._spoken = time.monotonic()

    def update(self, n: int = 1, /) -> None:
        with self._lock:
            self._done += n
            now = time.monotonic()
            if now - self._spoken >= self._seconds:
                self._spoken, self._printed = now, True
                self._print(now - self._began)

    def close(self) -> None:
        """Print the end of a stage for which a line was printed."""
        if self._printed:
            self._print(time.monotonic() - self._began)

    def _print(self, took: float) -> None:
        text = f"{self._stage}: {self._done:,} {self._unit}"
        if self._total:
            text = f"{self._stage}: {self._done:,} of {self._total:,} {self._unit} ({self._done / self._total:.0%})"
        text += f", {took:.0f} s"
        if self._done and took >= 1:
            text += f", {self._done / took:,.0f} {self._unit}/s"
        if self._total and 0 < self._done < self._total:
            text += f", about {took / self._done * (self._total - self._done):.0f} s left"
        print(f"{text}, {self.jobs}" if self.jobs else text, file=sys.stderr, flush=True)

    @property
    def total(self) -> int | None:
        """Number of units, if known."""
        return self._total


class Switch:
    """True if bars are enabled; there is one switch per process.

    `is_forced`: a call enabled them, so that they are drawn without a terminal too.
    """

    def __init__(self) -> None:
        self.is_forced = False
        self.enabled = os.environ.get("HF_DATASETS_DISABLE_PROGRESS_BARS", "").lower() not in {"1", "true", "yes", "on"}
        self.lock = threading.Lock()


switch = Switch()


def enable_progress_bars() -> None:
    """Show progress bars, even if standard error is not a terminal.

    Without this call, they appear on terminals and in notebooks; elsewhere, a line is printed every ten seconds
    (`DATASETS_CORE_PROGRESS_SECONDS`; 0 for none).

    Example:
        >>> enable_progress_bars()
        >>> are_progress_bars_disabled()
        False
    """
    with switch.lock:
        switch.enabled = switch.is_forced = True


def disable_progress_bars() -> None:
    """Hide progress bars.

    Example:
        >>> disable_progress_bars()
        >>> is_progress_bar_enabled()
        False
        >>> enable_progress_bars()
    """
    with switch.lock:
        switch.enabled = switch.is_forced = False


def are_progress_bars_disabled() -> bool:
    """Return True if progress bars are switched off.

    Example:
        >>> disable_progress_bars()
        >>> are_progress_bars_disabled()
        True
        >>> enable_progress_bars()
    """
    return not switch.enabled


def is_progress_bar_enabled() -> bool:
    """Return the opposite of `are_progress_bars_disabled`.

    Example:
        >>> enable_progress_bars()
        >>> is_progress_bar_enabled()
        True
    """
    return switch.enabled


enable_progress_bar = enable_progress_bars
disable_progress_bar = disable_progress_bars


@contextmanager
def progress(stage: str, *, total: int | None = None, unit: str = "rows") -> Iterator[Progress]:
    """Show a bar for one stage on a terminal, in a notebook, or if a call enabled bars; otherwise print lines.

    Args:
        stage: its name for the user ("Downloading", "Building train").
        total: number of units, if known.
        unit: "rows", "files", "jobs", or "B" for bytes (scaled to k, M, G).
    """
    stream = sys.stderr
    if are_progress_bars_disabled() or stream is None or stream.closed:
        yield _Silent()
        return
    if not (switch.is_forced or _is_notebook(stream) or _is_terminal(stream)):
        lines = _PrintedLines(stage, total, "bytes" if unit == "B" else unit, _line_seconds())
        try:
            with _as_current(lines):
                yield lines
        finally:
            lines.close()
        return
    if _is_notebook(stream):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # without ipywidgets the bar is text, which needs no warning
            from tqdm.auto import tqdm
    else:
        from tqdm import tqdm  # a bar is drawn in few processes; `tqdm.auto` takes 25 ms more

    shown = unit if unit == "B" else f" {unit}"
    # `miniters=1`: by its own guess tqdm passes over updates for seconds where the pace falls
    look: dict[str, Any] = {"unit_scale": True, "mininterval": 0.1, "miniters": 1}
    look |= {"dynamic_ncols": True} if _knows_width(stream) else {"ncols": 80, "nrows": 24}
    with tqdm(desc=stage, total=total, unit=shown, **look) as bar, _as_current(bar):
        yield bar


def _knows_width(stream: TextIO) -> bool:
    """Return False for a terminal of 0 columns, as without a window; tqdm would draw nothing."""
    try:
        return os.get_terminal_size(stream.fileno()).columns > 0
    except (OSError, ValueError):  # no terminal
        return True


_shown: ContextVar[Any] = ContextVar("bar", default=None)


@contextmanager
def _as_current(bar: Any) -> Iterator[None]:
    token = _shown.set(bar)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # a generator that is closed in another context
            _shown.reset(token)


def show_jobs(done: int, count: int, retried: int, seconds: float) -> None:
    """Show the jobs of an engine next to the bar of the current stage, if it has one.

    Args:
        done, count: finished jobs, and all.
        retried: number of jobs that were begun again since their worker died.
        seconds: time since the first began.
    """
    bar = _shown.get()
    if bar is None:
        return
    text = f"{done:,} of {count:,} jobs"
    if retried:
        text += f", {retried:,} {'retry' if retried == 1 else 'retries'}"
    if not bar.total and 0 < done < count:  # else the bar itself says it
        text += f", about {seconds / done * (count - done):.0f} s left"
    if isinstance(bar, _PrintedLines):
        bar.jobs = text
    else:
        bar.set_postfix_str(text, refresh=False)


def _line_seconds() -> float:
    """Return the seconds between two lines; infinity if there are no lines.

    >>> _line_seconds()
    10.0
    """
    text = os.environ.get("DATASETS_CORE_PROGRESS_SECONDS", "10")
    try:
        return float(text) or float("inf")
    except ValueError:
        warnings.warn(f"DATASETS_CORE_PROGRESS_SECONDS is {text!r}, which is not a number. 10 is used.", stacklevel=4)
        return 10.0


def _is_notebook(stream: TextIO) -> bool:
    """Return True for the output of a cell in Jupyter, Colab or VS Code, which is not a terminal but shows bars."""
    return type(stream).__module__.startswith("ipykernel.")


def _is_terminal(stream: TextIO | None) -> bool:
    """Return True if the stream is a terminal; a process may have no standard error at all, or a closed one."""
    return stream is not None and not stream.closed and stream.isatty()


# Progress of work elsewhere: in a function that takes its time, in a thread, in another process.


class ProgressFile:
    """Writes the number of rows done to a file, for the progress bar of another process.

    Nothing is written if the folder does not exist, as on another machine.
    """

    def __init__(self, path: str) -> None:
        is_here = path and os.path.isdir(os.path.dirname(path))
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o666) if is_here else -1
        self._done = 0

    def update(self, rows: int) -> None:
        """Add rows that are done."""
        if self._descriptor >= 0:
            self._done += rows
            os.lseek(self._descriptor, 0, os.SEEK_SET)
            os.write(self._descriptor, b"%020d" % self._done)

    def __enter__(self) -> ProgressFile:
        return self

    def __exit__(self, *error: object) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)


def told(path: str) -> int:
    """Return the number in a progress file; 0 if the file does not exist yet."""
    with contextlib.suppress(OSError, ValueError), open(path, "rb") as handle:
        return int(handle.read() or 0)
    return 0


class Meter:
    """The progress of a job, for a thread that reads it several times a second.

    Attributes:
        done: returns the number of rows or bytes done; code that knows it better than the sum of additions sets another
            function.
    """

    def __init__(self) -> None:
        self._added = 0
        self.done: Callable[[], int] = lambda: self._added

    def reset(self) -> None:
        """Reset the progress to zero."""
        type(self).__init__(self)

    def add(self, count: int) -> None:
        """Add to the amount done."""
        self._added += count


class FileMeter(Meter):
    """The bytes read of files that are read in order, possibly again from the first file."""

    def __init__(self) -> None:
        super().__init__()
        self._starts: dict[str, int] = {}
        self._end = 0
        self._place: tuple[int, int, Callable[[], int]] = 0, 0, lambda: 0
        self.done = self._read

    def opened(self, path: str, size: int, read: Callable[[], int]) -> None:
        """Record that a file is being read from now on.

        Args:
            path: its path.
            size: its bytes.
            read: returns the bytes read of it; any thread may ask, and OSError says that the file was closed.
        """
        start = self._starts.setdefault(path, self._end)
        self._end = max(self._end, start + size)
        self._place = start, size, read

    def _read(self) -> int:
        start, size, read = self._place
        try:
            return start + min(read(), size)
        except OSError:  # it was closed
            return start + size


_current = threading.local()


def meter() -> Meter | None:
    """Return the meter of the job that this thread runs; None if no bar is shown."""
    found: Meter | None = getattr(_current, "meter", None)
    return found


@contextmanager
def metered(used: Meter) -> Iterator[Meter]:
    """Set what `meter()` returns in this thread."""
    _current.meter = used
    try:
        yield used
    finally:
        _current.meter = None
