"""The C library, and what its failures are."""

import ctypes
import errno
import os

import pytest

from datasets_core.scripting.sandbox.kernel import checked, libc


def test_it_is_this_processs() -> None:
    assert libc().getpid() == os.getpid()


def test_a_failure_is_an_error_with_its_code() -> None:
    ctypes.set_errno(errno.EBADF)
    with pytest.raises(OSError, match="close: Bad file descriptor") as raised:
        checked(-1, "close")
    assert raised.value.errno == errno.EBADF
