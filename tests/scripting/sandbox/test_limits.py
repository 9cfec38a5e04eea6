"""What a confined process may take: limits that it cannot raise, and capabilities that it cannot get back."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.scripting.sandbox import kernel, limits

pytestmark = pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")


def _printed(code: str) -> str:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n{textwrap.dedent(code)}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


def test_the_settings_decide_and_else_the_machine(tmp_path: Path) -> None:
    assert limits.memory_bytes() >= 2 << 30
    assert 0 < limits.file_bytes(str(tmp_path)) < limits.free(str(tmp_path)) + (1 << 30)
    with config.using(confined_memory_bytes=1 << 29, confined_file_bytes=7):
        assert (limits.memory_bytes(), limits.file_bytes(str(tmp_path))) == (1 << 29, 7)


def test_no_more_is_kept_free_than_half_of_what_is_free(tmp_path: Path) -> None:
    assert limits.kept_free(str(tmp_path)) == min(1 << 30, limits.free(str(tmp_path)) // 2)


def test_tasks_of_this_user_are_counted() -> None:
    assert limits.num_tasks() >= 1


def test_limits_hold_and_cannot_be_raised() -> None:
    code = """
        import resource
        from datasets_core.scripting.sandbox import limits, kernel as seccomp
        limits.limit(memory=64 << 20, cpu_seconds=5, file=1000, tasks=10)
        limits.drop_capabilities(seccomp.machine())
        print([resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in ("CPU", "FSIZE", "CORE")])
        for name in ("AS", "CPU", "FSIZE", "NOFILE", "NPROC"):
            what = getattr(resource, f"RLIMIT_{name}")
            try: resource.setrlimit(what, (resource.getrlimit(what)[0], resource.RLIM_INFINITY))
            except ValueError: print(name)
        try: bytearray(100 << 20)
        except MemoryError: print("no memory")
    """
    assert _printed(code).splitlines() == [
        "[(5, 6), (1000, 1000), (0, 0)]", "AS", "CPU", "FSIZE", "NOFILE", "NPROC", "no memory",
    ]  # fmt: skip


def test_a_limit_that_holds_already_is_not_raised() -> None:
    code = """
        import resource
        from datasets_core.scripting.sandbox import limits
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        limits.limit(memory=1 << 30, cpu_seconds=None, file=1000, tasks=10)
        print(resource.getrlimit(resource.RLIMIT_FSIZE))
    """
    assert _printed(code).strip() == "(500, 500)"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root has capabilities to lose")
def test_root_without_capabilities_is_root_in_name() -> None:
    code = """
        import os
        from datasets_core.scripting.sandbox import limits, kernel as seccomp
        limits.drop_capabilities(seccomp.machine())
        for attempt in (lambda: os.setuid(1), lambda: os.chroot("/"), lambda: os.kill(os.getppid(), 0)):
            try: attempt(); print("done")
            except PermissionError: print("denied")
    """
    assert _printed(code).split() == ["denied", "denied", "done"]


def test_who_lost_its_parent_does_not_go_on() -> None:
    with pytest.raises(ProcessLookupError):
        limits.die_with(os.getpid())
    limits._prctl(limits._DEATH_SIGNAL, 0)
