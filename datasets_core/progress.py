"""Progress bars, one line per stage, and the functions that disable them."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO


class Progress(Protocol):
    """Handle of a stage: reports progress."""

    def update(self, n: int = 1, /) -> object:
        """`n` more units are done."""


class _Silent:
    def update(self, n: int = 1, /) -> None:
        return None


class Switch:
    """True if bars are wanted; one per process, as the public functions promise."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("HF_DATASETS_DISABLE_PROGRESS_BARS", "").lower() not in {"1", "true", "yes", "on"}
        self.lock = threading.Lock()


switch = Switch()


def enable_progress_bars() -> None:
    """Show progress bars (on a terminal).

    >>> enable_progress_bars()
    >>> are_progress_bars_disabled()
    False
    """
    with switch.lock:
        switch.enabled = True


def disable_progress_bars() -> None:
    """Show no progress bars.

    >>> disable_progress_bars()
    >>> is_progress_bar_enabled()
    False
    >>> enable_progress_bars()
    """
    with switch.lock:
        switch.enabled = False


def are_progress_bars_disabled() -> bool:
    """True if bars were switched off.

    >>> disable_progress_bars()
    >>> are_progress_bars_disabled()
    True
    >>> enable_progress_bars()
    """
    return not switch.enabled


def is_progress_bar_enabled() -> bool:
    """The opposite of `are_progress_bars_disabled`.

    >>> enable_progress_bars()
    >>> is_progress_bar_enabled()
    True
    """
    return switch.enabled


enable_progress_bar = enable_progress_bars
disable_progress_bar = disable_progress_bars


@contextmanager
def progress(stage: str, *, total: int | None = None, unit: str = "rows") -> Iterator[Progress]:
    """Show a bar for one stage; silent if disabled or if standard error is not a terminal.

    Args:
        stage: its name for the user ("Downloading", "Building train").
        total: number of units, if known.
        unit: "rows", "files", "jobs", or "B" for bytes (scaled to k, M, G).
    """
    if are_progress_bars_disabled() or not _is_terminal(sys.stderr):
        yield _Silent()
        return
    from tqdm import tqdm  # a bar is drawn in few processes

    with tqdm(desc=stage, total=total, unit=unit if unit == "B" else f" {unit}", unit_scale=True, dynamic_ncols=True) as bar:
        yield bar


def _is_terminal(stream: TextIO | None) -> bool:
    """True if the stream is a terminal; a process may have no standard error at all, or a closed one."""
    return stream is not None and not stream.closed and stream.isatty()
