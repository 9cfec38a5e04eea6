"""What a confined process may take: limits that it cannot raise, and capabilities that it cannot get back."""

import os
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.scripting.sandbox import kernel, limits
from datasets_core.scripting.sandbox.limits import Layers, Sandbox, clear, layers


def _printed(code: str) -> str:
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})\n{textwrap.dedent(code)}"
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
def test_the_settings_decide_and_else_the_machine(tmp_path: Path) -> None:
    assert limits.memory_bytes() >= 2 << 30
    assert 0 < limits.file_bytes(str(tmp_path)) < limits.free(str(tmp_path)) + (1 << 30)
    with config.using(confined_memory_bytes=1 << 29, confined_file_bytes=7):
        assert (limits.memory_bytes(), limits.file_bytes(str(tmp_path))) == (1 << 29, 7)


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
def test_no_more_is_kept_free_than_half_of_what_is_free(tmp_path: Path) -> None:
    assert limits.kept_free(str(tmp_path)) == min(1 << 30, limits.free(str(tmp_path)) // 2)


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
def test_tasks_of_this_user_are_counted() -> None:
    assert limits.num_tasks() >= 1


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
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


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
def test_a_limit_that_holds_already_is_not_raised() -> None:
    code = """
        import resource
        from datasets_core.scripting.sandbox import limits
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))
        limits.limit(memory=1 << 30, cpu_seconds=None, file=1000, tasks=10)
        print(resource.getrlimit(resource.RLIMIT_FSIZE))
    """
    assert _printed(code).strip() == "(500, 500)"


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
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


@pytest.mark.skipif(kernel.machine() is None, reason="not a machine that confines")
def test_who_lost_its_parent_does_not_go_on() -> None:
    with pytest.raises(ProcessLookupError):
        limits.die_with(os.getpid())
    limits._prctl(limits._DEATH_SIGNAL, 0)


# The world that bwrap makes: what is bound there, and how it is told that bwrap does not work.


def _pairs(line: list[str], option: str) -> set[str]:
    return {line[place + 2] for place, word in enumerate(line) if word == option}


def test_only_the_scratch_folder_can_be_written(tmp_path: Path) -> None:
    line = limits.command("/usr/bin/bwrap", ["python", "-c", "x"], inputs=[str(tmp_path / "in")], scratch=str(tmp_path / "s"))
    assert _pairs(line, "--bind") == {str(tmp_path / "s")}
    assert _pairs(line, "--ro-bind-try") >= {str(tmp_path / "in"), "/usr/lib"}
    assert _pairs(line, "--dev-bind-try") == {"/dev/null", "/dev/full", "/dev/zero", "/dev/random", "/dev/urandom"}
    assert line[line.index("--remount-ro") + 1] == "/"
    assert line[-4:] == ["--", "python", "-c", "x"]


def test_everything_else_is_of_its_own(tmp_path: Path) -> None:
    line = limits.command("bwrap", [], inputs=[], scratch=str(tmp_path))
    assert line[1:4] == ["--unshare-all", "--die-with-parent", "--new-session"]


def test_a_linked_input_is_there_under_both_names(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    line = limits.command("bwrap", [], inputs=[str(tmp_path / "link")], scratch=str(tmp_path))
    assert _pairs(line, "--ro-bind-try") >= {str(tmp_path / "link"), str(tmp_path / "real")}


@pytest.mark.parametrize("status", [0, 1])
def test_it_counts_only_where_it_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    (tmp_path / "bwrap").write_text(f"#!{sys.executable}\nraise SystemExit({status})")
    (tmp_path / "bwrap").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert limits.program() == (None if status else str(tmp_path / "bwrap"))


def test_without_it_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert limits.program() is None


# What a cage grants follows from its fields, and else from the settings.

FOUND = Layers("x86_64", 7, True, True)


def test_the_settings_fill_what_a_cage_leaves_open(tmp_path: Path) -> None:
    with config.using(confined_memory_bytes=1 << 29, confined_cpu_seconds=9, confined_file_bytes=8):
        open_, said = Sandbox((), str(tmp_path)), Sandbox((), str(tmp_path), memory_bytes=1, cpu_seconds=2, file_bytes=3)
        assert [open_.setup(FOUND)[name] for name in ("memory_bytes", "cpu_seconds", "file_bytes")] == [1 << 29, 9, 8]
        assert [said.setup(FOUND)[name] for name in ("memory_bytes", "cpu_seconds", "file_bytes")] == [1, 2, 3]


def test_what_may_be_read_is_told_by_where_it_is(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert Sandbox((str(tmp_path / "link"),), str(tmp_path)).setup(FOUND)["readable"] == [str(tmp_path / "real")]


def test_the_environment_is_its_own_but_for_the_time_zone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    monkeypatch.setenv("HF_TOKEN", "secret")
    assert Sandbox((), str(tmp_path)).setup(FOUND)["environment"] == {
        "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "LOGNAME": "nobody", "USER": "nobody", "TZ": "Asia/Tokyo",
    }  # fmt: skip


# What a machine offers decides whether scripts of strangers run, and why not.

FULL = Layers("x86_64", 7, True, True)


@pytest.mark.parametrize(
    ("found", "reason"),
    [
        (FULL, ""),
        (Layers("aarch64", 1, True, False), ""),
        (Layers("x86_64", 0, True, True, "/usr/bin/bwrap"), ""),
        (Layers("x86_64", 0, True, True), "has no Landlock, and bwrap does not exist or does not work"),
        (Layers("x86_64", 7, False, False), "no filters of system calls"),
        (Layers(None, 7, True, True), "are not known here"),
    ],
)
def test_a_reason_says_what_is_missing(found: Layers, reason: str) -> None:
    assert reason in found.reason
    assert found.can_sandbox is not bool(reason)


def test_another_system_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.system", lambda: "Darwin")
    assert FULL.reason == "Darwin has neither Landlock nor seccomp"


@pytest.mark.parametrize(
    ("found", "last"),
    [
        (FULL, ["Landlock ABI 7", "seccomp with notices"]),
        (Layers("x86_64", 0, True, False, "/usr/bin/bwrap"), ["bwrap", "seccomp"]),
    ],
)
def test_the_layers_have_names_for_people(found: Layers, last: list[str]) -> None:
    assert found.words()[-2:] == last


def test_they_are_looked_up_once() -> None:
    assert layers() is layers()


# What every confined script may read: code and facts, and nothing of the user's.


def test_code_may_be_read_and_its_surroundings_not() -> None:
    readable = limits.readable()
    root = limits.root_folder()
    assert os.path.join(root, "datasets_core") in readable
    assert set(readable) & {root, "/", "/etc", "/tmp", "/proc", "/home", os.path.expanduser("~"), "/root", "/dev"} == set()
    assert sysconfig.get_paths()["purelib"] in readable


def test_of_itself_a_process_may_read_neither_environment_nor_descriptors() -> None:
    own = {os.path.basename(path) for path in limits.readable() if path.startswith(f"/proc/{os.getpid()}/")}
    assert own == {"cgroup", "maps", "stat", "statm", "status"}


def test_folders_that_packages_were_installed_into_are_read_wherever_they_lie(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in ("installed", "sources"):
        (tmp_path / name / "pack").mkdir(parents=True)
    (tmp_path / "installed" / "pack-1.0.dist-info").mkdir()
    (tmp_path / "installed" / "pack-1.0.dist-info" / "METADATA").write_text("Name: pack\n")
    monkeypatch.setattr(sys, "path", [*sys.path, "", str(tmp_path / "installed"), str(tmp_path / "sources")])
    found = limits.site_folders.__wrapped__()
    assert str(tmp_path / "installed") in found
    assert not {str(tmp_path / "sources"), os.getcwd()} & set(found)


# Scratch folders go, whatever is in them.


def test_a_folder_that_is_not_there_is_cleared(tmp_path: Path) -> None:
    clear(str(tmp_path / "none"))


def test_folders_deeper_than_a_path_can_name_go(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    descriptor = os.open(scratch, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("deep", dir_fd=descriptor)
        inner = os.open("deep", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)
    clear(str(scratch))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_lies_deep_itself_goes_with_the_longest_names(tmp_path: Path) -> None:
    scratch = tmp_path.joinpath(*["p" * 250] * 12)
    scratch.mkdir(parents=True)
    descriptor = os.open(scratch, os.O_RDONLY)
    for _ in range(40):
        os.mkdir("d" * 255, dir_fd=descriptor)
        inner = os.open("d" * 255, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    clear(str(scratch))
    assert not scratch.exists()


def test_links_and_what_they_lead_to_are_told_apart(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    scratch = tmp_path / "scratch"
    (scratch / "closed").mkdir(parents=True)
    (scratch / "link").symlink_to(outside)
    (scratch / "closed" / "link").symlink_to(outside / "file")
    (scratch / "closed").chmod(0)
    clear(str(scratch))
    assert [path.name for path in tmp_path.rglob("*")] == ["outside", "file"]


@settings(max_examples=25)
@given(names=st.lists(st.lists(st.sampled_from(["a", "0.moved", "1.moved", "b"]), min_size=1, max_size=4), max_size=4))
def test_names_of_its_own_do_not_matter(tmp_path_factory: object, names: list[list[str]]) -> None:
    root = tmp_path_factory.mktemp("root")  # type: ignore[attr-defined]
    for parts in names:
        (root / "scratch").joinpath(*parts).mkdir(parents=True, exist_ok=True)
    clear(str(root / "scratch"))
    assert list(root.iterdir()) == []


def test_a_project_is_no_folder_of_installed_packages(tmp_path: Path) -> None:
    (tmp_path / "a-1.0.dist-info").mkdir()
    (tmp_path / "a-1.0.dist-info" / "METADATA").write_text("")
    assert limits._holds_installed(str(tmp_path))
    (tmp_path / ".env").write_text("TOKEN=secret")
    assert not limits._holds_installed(str(tmp_path))


def test_files_in_folders_that_a_script_made_unreadable_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir(0o300)
    (hidden / "large").write_bytes(b"x" * (1 << 20))
    scandir = os.scandir

    def as_no_root_may(path: str) -> Any:
        if not os.stat(path).st_mode & 0o400:
            raise PermissionError(path)
        return scandir(path)

    monkeypatch.setattr(os, "scandir", as_no_root_may)
    num_bytes, num_files, _ = limits.used(str(tmp_path), os.getpid(), most_files=100)
    assert num_bytes >= 1 << 20
    assert num_files >= 2
