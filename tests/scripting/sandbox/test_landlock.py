"""Landlock: what an ABI covers, and what a thread can still reach once it is on."""

import itertools
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from datasets_core.scripting.sandbox import kernel

pytestmark = pytest.mark.skipif(not kernel.abi(), reason="no Landlock here")


def test_later_versions_cover_more() -> None:
    covered = [kernel.coverage(version) for version in range(8)]
    assert covered[0] == [] and covered[1] == ["files"]
    assert all(before == after[: len(before)] for before, after in itertools.pairwise(covered))


def _tried(tmp_path: Path, version: int) -> list[str]:
    """What fails in a process that may read `in`, and write `out`."""
    for name in ("in", "out", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "a").write_text("x")
    code = f"""
        import os, sys
        sys.path.insert(0, {str(Path(__file__).parents[3])!r})
        from datasets_core.scripting.sandbox import kernel as landlock, kernel as seccomp
        seccomp.forbid_new_privileges()
        landlock.restrict(readable=["in", "none"], writable=["out"], devices=["/dev/null"], version={version})
        tries = dict(
            read_in=lambda: open("in/a").read(), list_in=lambda: os.listdir("in"), write_out=lambda: open("out/b", "w").close(),
            remove_out=lambda: os.remove("out/a"), folder_out=lambda: os.mkdir("out/c"),
            null=lambda: open("/dev/null", "w").close(),
            move_out=lambda: os.rename("out/b", "out/c/b"), read_other=lambda: open("other/a").read(),
            list_other=lambda: os.listdir("other"), write_in=lambda: open("in/a", "a"), make_in=lambda: open("in/b", "w"),
            truncate_in=lambda: os.truncate("in/a", 0), remove_in=lambda: os.remove("in/a"),
            link_out=lambda: os.symlink("/", "out/l"),
            fifo_out=lambda: os.mkfifo("out/f"), steal=lambda: os.link("in/a", "out/d"),
        )
        for name, attempt in tries.items():
            try: attempt()
            except OSError: print(name)
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    return done.stdout.split()


@pytest.mark.parametrize("version", range(1, 8))
def test_what_is_not_granted_is_out_of_reach(tmp_path: Path, version: int) -> None:
    if version > kernel.abi():
        pytest.skip("a later kernel's")
    older = ["move_out"] if version < 2 else []
    cut = [] if version < 3 else ["truncate_in"]  # `seccomp` sees to it
    outside = ["read_other", "list_other", "write_in", "make_in", *cut, "remove_in", "link_out", "fifo_out", "steal"]
    assert _tried(tmp_path, version) == older + outside


def test_a_ruleset_that_the_kernel_refuses_is_an_error() -> None:
    with pytest.raises(OSError, match="Landlock: Bad file descriptor"):
        kernel._call(kernel._ADD_RULE, -1, 1, bytes(12), 0)
