"""Refused calls, as the parent sees them: which are told, and which are only done as if."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from datasets_core.scripting.sandbox.limits import layers
from datasets_core.scripting.sandbox.process import SandboxedProcess

pytestmark = pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
Run = Callable[..., Any]
RAW = "import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\nopen('own', 'w').close()\nresult = {}"


@pytest.mark.parametrize(
    "call",
    [
        "c.chmod(b'own', 0o777)", "c.chmod(os.path.abspath('own').encode(), 0)", "c.fchown(os.open('own', 0), 7, 7)",
        "c.fchmod(os.open('own', os.O_RDONLY), 0)",
        "c.fchmodat(-100, b'own', 0, 0)", "c.fchmodat(os.open('.', os.O_RDONLY), b'own', 0, 0)", "c.chown(b'own', 7, 7)",
        "c.utimensat(-100, b'own', None, 0)", "c.futimens(os.open('own', os.O_RDONLY), None)",
    ],
)  # fmt: skip
def test_modes_owners_and_times_of_its_own_files_seem_to_change(run: Run, confined: SandboxedProcess, call: str) -> None:
    before = os.umask(0)
    os.umask(before)
    assert run(RAW.format(call)) == 0
    found = os.stat(os.path.join(confined.sandbox.scratch, "own"))
    assert (found.st_mode & 0o777, found.st_uid, confined.denials) == (0o600, os.geteuid(), [])


@pytest.mark.parametrize(
    "call",
    [
        "c.chmod(b'/etc/passwd', 0o777)", "c.chmod(b'../inputs/note.txt', 0)", "c.chmod(None, 0)", "c.chmod(b'none', 0)",
        "c.fchmod(os.open('../inputs/note.txt', 0), 0)", "c.fchmodat(99, b'own', 0, 0)", "c.chmod(b'x' * 9000, 0)",
        "c.utimensat(-100, b'/etc/passwd', None, 0)", "c.lchown(b'/etc/passwd', 7, 7)", "c.chmod(b'no\\xff', 0)",
        "c.chmod(b'home/../../inputs/note.txt', 0)", "c.chmod(ctypes.c_void_p(2**64 - 1), 0)",
        "c.chmod(ctypes.c_void_p(2**63), 0)", "c.chmod(ctypes.c_void_p(2**63 - 1), 0)",
    ],
)  # fmt: skip
def test_those_of_other_files_do_not(run: Run, confined: SandboxedProcess, call: str) -> None:
    assert run(RAW.format(call)) == -1
    note = os.path.join(os.path.dirname(confined.sandbox.scratch), "inputs", "note.txt")
    assert os.stat(note).st_mode & 0o777 == 0o644


def test_who_a_user_is_may_be_asked_and_is_not_answered(run: Run, confined: SandboxedProcess) -> None:
    assert run("import pwd\ntry: pwd.getpwnam('daemon')\nexcept KeyError: result = 'none'") == "none"
    assert confined.denials == []


def test_many_refusals_do_not_hold_the_parent_up(run: Run, confined: SandboxedProcess) -> None:
    assert run("import ctypes\nc = ctypes.CDLL(None)\nresult = sum(c.socket(2, 1, 0) for _ in range(500))") == -500
    assert [denial.tried for denial in confined.denials] == ["open a socket (by the system call socket)"]


def test_threads_are_refused_each(run: Run) -> None:
    text = """
import ctypes, threading
c = ctypes.CDLL(None)
found = []
threads = [threading.Thread(target=lambda: found.append(c.fork())) for _ in range(8)]
[each.start() for each in threads]; [each.join() for each in threads]
result = found
"""
    assert run(text) == [-1] * 8
