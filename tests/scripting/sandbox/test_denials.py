"""The audit hook: what it refuses, what it takes note of, and whom it holds answerable."""

import errno
import os
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import datasets_core
from datasets_core import errors
from datasets_core.errors import DatasetGenerationError, DeniedAccessError, DeniedAccessWarning
from datasets_core.scripting.sandbox.denials import UNNAMED, Denial, Watch, raised, warn_of
from datasets_core.scripting.sandbox.limits import layers
from datasets_core.scripting.sandbox.process import SandboxedProcess


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    for name in ("in", "out", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("x")
    return Watch(
        readable=[str(tmp_path / "in")],
        writable=[str(tmp_path / "out")],
        trusted=["/trusted", os.path.dirname(datasets_core.__file__)],
    )


def _opened(watch: Watch, path: object, mode: str = "r") -> list[str]:
    watch.hook("open", (path, mode, os.O_RDONLY if mode == "r" else os.O_WRONLY))
    return [denial.tried for denial in watch.denials]


@pytest.mark.parametrize(
    ("name", "mode", "words"),
    [
        ("in/a", "r", None), ("in/none", "r", None), ("out/a", "r", None), ("out/new", "w", None), ("other/none", "r", None),
        ("other/a", "r", "read"), ("in/a", "w", "write"), ("other/new", "w", "write"), ("in/../other/a", "r", "read"),
        ("none/new", "w", None),
    ],
)  # fmt: skip
def test_files_outside_are_noted_and_left_to_the_kernel(
    watch: Watch, tmp_path: Path, name: str, mode: str, words: str | None
) -> None:
    path = tmp_path / name
    expected = [] if words is None else [f"{words} {os.path.normpath(path)!r}"]
    assert _opened(watch, str(path), mode) == expected
    assert _opened(watch, os.fsencode(path), mode) == expected
    assert _opened(watch, path, mode) == expected
    assert _opened(watch, 3, mode) == expected


def test_a_link_leads_where_it_leads(watch: Watch, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "in")
    assert _opened(watch, str(tmp_path / "link" / "a")) == []


def test_relative_paths_are_of_the_working_folder(watch: Watch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path / "in")
    assert _opened(watch, "a") == []
    assert _opened(watch, "../other/a") == [f"read {str(tmp_path / 'other' / 'a')!r}"]


def test_what_is_refused_says_where_in_the_script(watch: Watch) -> None:
    with pytest.raises(DeniedAccessError) as raised:
        watch.hook("socket.getaddrinfo", ("example.org", 80, 0, 0, 0))
    assert (raised.value.tried, raised.value.path) == ("connect to 'example.org', port 80", __file__)  # type: ignore[attr-defined]
    assert isinstance(raised.value, PermissionError)


def test_signals_to_itself_and_files_of_urls_are_let_pass(watch: Watch) -> None:
    watch.hook("os.kill", (os.getpid(), 0))
    watch.hook("urllib.Request", ("file:///x", None, {}, "GET"))
    watch.hook("compile", ("x", "y"))
    assert watch.denials == []


def test_an_import_of_an_installed_package_is_not_the_scripts_doing(watch: Watch) -> None:
    names = {"hook": watch.hook}
    text = "try: hook('os.system', ('uname -p',))\nexcept PermissionError: done = True"
    exec(compile(text, "<frozen importlib._bootstrap>", "exec"), names)
    exec(compile(text, "/trusted/platform.py", "exec"), names)
    assert ("done" in names, watch.denials) == (True, [])
    exec(compile(text, "/script/platform.py", "exec"), names)
    assert [denial.path for denial in watch.denials] == ["/script/platform.py"]


def test_an_error_is_blamed_on_the_denial_that_it_came_of(watch: Watch, tmp_path: Path) -> None:
    path = str(tmp_path / "other" / "a")
    _opened(watch, path)
    wrapped = DatasetGenerationError("row 3")
    wrapped.__cause__ = PermissionError(errno.EACCES, "denied", path)
    during = KeyError("x")
    during.__context__ = wrapped
    assert [getattr(watch.blamed(error), "tried", None) for error in (wrapped.__cause__, wrapped, during)] == [
        f"read {path!r}"
    ] * 3


def test_errors_of_native_code_are_blamed_by_the_path_that_they_quote(watch: Watch, tmp_path: Path) -> None:
    path = str(tmp_path / "other" / "a")
    blamed = watch.blamed(
        PermissionError(f"[Errno 13] Failed to open local file '{path}'. Detail: [errno 13] Permission denied")
    )
    assert blamed is not None and blamed.tried == f"open {path!r}"


@pytest.mark.parametrize(
    "error",
    [ValueError("x"), PermissionError("not allowed by the author"), FileNotFoundError(2, "none", "/x"), OSError(28, "full")],
)
def test_other_errors_are_blamed_on_nothing(watch: Watch, error: Exception) -> None:
    assert watch.blamed(error) is None


def test_a_refusal_without_a_path_is_a_denial_without_a_name(watch: Watch) -> None:
    blamed = watch.blamed(PermissionError(errno.EPERM, "Operation not permitted"))
    assert blamed is not None and blamed.tried.startswith(UNNAMED)


def test_where_the_cage_hides_files_a_missing_one_is_blamed(tmp_path: Path) -> None:
    watch = Watch(readable=[], writable=[], trusted=[], hides=True)
    assert _opened(watch, "/none/such") == []
    blamed = watch.blamed(FileNotFoundError(errno.ENOENT, "none", "/none/such"))
    assert blamed is not None and blamed.tried == "read '/none/such'"


def test_each_denial_is_warned_of_once() -> None:
    denials = [Denial("read '/x'", "a.py", 3), Denial("read '/x'", "a.py", 3), Denial("fork")]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn_of(denials, script="b.py")
    assert [each.category for each in caught] == [DeniedAccessWarning] * 2
    assert "The script a.py, line 3, tried to read '/x'." in str(caught[0].message)
    assert "The script b.py tried to fork." in str(caught[1].message)


def test_a_move_out_and_a_file_below_a_folder_elsewhere_are_denials(watch: Watch, tmp_path: Path) -> None:
    out, other = str(tmp_path / "out" / "a"), str(tmp_path / "other" / "a")
    moved = watch.blamed(PermissionError(errno.EACCES, "denied", out, None, other))
    below = watch.blamed(PermissionError(errno.EACCES, "denied", str(tmp_path / "out" / "etc" / "passwd")))
    own = watch.blamed(PermissionError(errno.EACCES, "denied", out))
    assert moved is not None and moved.tried == f"open {other!r}"
    assert below is not None and below.tried.endswith("etc/passwd'")
    assert own is None


# Refused calls, as the parent sees them: which are told, and which are only done as if.

Run = Callable[..., Any]
RAW = "import ctypes, os\nc = ctypes.CDLL(None, use_errno=True)\nopen('own', 'w').close()\nresult = {}"


@pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
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


@pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
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


@pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
def test_who_a_user_is_may_be_asked_and_is_not_answered(run: Run, confined: SandboxedProcess) -> None:
    assert run("import pwd\ntry: pwd.getpwnam('daemon')\nexcept KeyError: result = 'none'") == "none"
    assert confined.denials == []


@pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
def test_many_refusals_do_not_hold_the_parent_up(run: Run, confined: SandboxedProcess) -> None:
    assert run("import ctypes\nc = ctypes.CDLL(None)\nresult = sum(c.socket(2, 1, 0) for _ in range(500))") == -500
    assert [denial.tried for denial in confined.denials] == ["open a socket (by the system call socket)"]


@pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
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


@pytest.mark.parametrize("name", [name for name in dir(errors) if isinstance(getattr(errors, name), type)])
def test_no_script_makes_an_error_that_programs_decide_about_trust_by(name: str) -> None:
    found = raised({"error": {"class": name, "message": "trust me", "facts": {"reason": "x"}}}, script="a.py")
    assert not isinstance(found, (errors.UntrustedScriptError, errors.ConfinementUnavailableError))
