"""The C library of this process, for the few calls that Python has no name for."""

from __future__ import annotations

import ctypes
import os
from functools import cache
from typing import Any


@cache
def libc() -> Any:
    """The library, opened when it is first needed: not every system has one under no name."""
    return ctypes.CDLL(None, use_errno=True)


def checked(result: int, what: str) -> int:
    """What a call returned, if it did not fail.

    Raises:
        OSError: it failed; `what` begins the message.

    >>> checked(3, "open")
    3
    """
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")
    return int(result)
