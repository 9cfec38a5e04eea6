"""Log level of the library: one logger, `datasets_core`, set by the user or by `DATASETS_VERBOSITY`.

>>> set_verbosity_info(); get_verbosity() == INFO
True
>>> set_verbosity_warning()
"""

from __future__ import annotations

import logging as _logging
import os
import sys
import warnings

from datasets_core.errors import ConfigurationError
from datasets_core.progress import disable_progress_bar, enable_progress_bar, is_progress_bar_enabled

NOTSET, DEBUG, INFO, WARNING, ERROR, CRITICAL = (
    _logging.NOTSET,
    _logging.DEBUG,
    _logging.INFO,
    _logging.WARNING,
    _logging.ERROR,
    _logging.CRITICAL,
)
WARN, FATAL = WARNING, CRITICAL

_ROOT = "datasets_core"
_LEVELS = {"debug": DEBUG, "info": INFO, "warning": WARNING, "error": ERROR, "critical": CRITICAL}


def get_logger(name: str | None = None) -> _logging.Logger:
    """Return a logger.

    Args:
        name: name of the logger; None means that of the library.

    Example:
        >>> get_logger().name
        'datasets_core'
    """
    return _logging.getLogger(name or _ROOT)


def get_verbosity() -> int:
    """Return the lowest level of the messages of the library that are shown.

    Example:
        >>> get_verbosity() in (DEBUG, INFO, WARNING, ERROR, CRITICAL)
        True
    """
    return get_logger().getEffectiveLevel()


class _Printer(_logging.Handler):
    """Prints messages to standard error, unless handlers of the root logger receive them, so that no message is shown twice."""

    def emit(self, record: _logging.LogRecord) -> None:
        if (get_logger().propagate and _logging.getLogger().handlers) or sys.stderr is None:
            return
        try:
            print(self.format(record), file=sys.stderr, flush=True)
        except Exception:  # as every handler of `logging`: a message that cannot be printed ends no program
            self.handleError(record)


def set_verbosity(verbosity: int | str) -> None:
    """Show messages of the library at this level and above.

    Args:
        verbosity: a level of `logging`, or one of debug, info, warning, error, critical.

    Raises:
        ConfigurationError: the level does not exist.

    Example:
        >>> before = get_verbosity()
        >>> set_verbosity(INFO)
        >>> get_verbosity() == INFO
        True
        >>> set_verbosity(before)
    """
    level = _LEVELS.get(verbosity.lower()) if isinstance(verbosity, str) else verbosity
    if level is None:
        raise ConfigurationError(f"Unknown level {verbosity!r}. Available levels: {', '.join(_LEVELS)}.", value=verbosity)
    logger = get_logger()
    logger.setLevel(level)
    if not any(isinstance(handler, _Printer) for handler in logger.handlers):
        logger.addHandler(_Printer())


def set_verbosity_debug() -> None:
    """Show everything."""
    set_verbosity(DEBUG)


def set_verbosity_info() -> None:
    """Show what the library is doing."""
    set_verbosity(INFO)


def set_verbosity_warning() -> None:
    """Show warnings and errors: the default."""
    set_verbosity(WARNING)


def set_verbosity_error() -> None:
    """Show only errors."""
    set_verbosity(ERROR)


def enable_propagation() -> None:
    """Pass messages on to the root logger's handlers: the default."""
    get_logger().propagate = True


def disable_propagation() -> None:
    """Keep messages from the root logger's handlers."""
    get_logger().propagate = False


def _take_from_environment() -> None:
    wanted = os.environ.get("DATASETS_VERBOSITY", "")
    if wanted.lower() in _LEVELS:
        set_verbosity(wanted)
    elif wanted:
        warnings.warn(
            f"DATASETS_VERBOSITY is {wanted!r}, which is not a level. Available levels: {', '.join(_LEVELS)}.", stacklevel=2
        )


_take_from_environment()

__all__ = [
    "CRITICAL",
    "DEBUG",
    "ERROR",
    "FATAL",
    "INFO",
    "NOTSET",
    "WARN",
    "WARNING",
    "disable_progress_bar",
    "disable_propagation",
    "enable_progress_bar",
    "enable_propagation",
    "get_logger",
    "get_verbosity",
    "is_progress_bar_enabled",
    "set_verbosity",
    "set_verbosity_debug",
    "set_verbosity_error",
    "set_verbosity_info",
    "set_verbosity_warning",
]
