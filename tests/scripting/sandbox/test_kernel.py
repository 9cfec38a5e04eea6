"""Landlock: what an ABI covers, and what a thread can still reach once it is on."""

import ctypes
import errno
import itertools
import os
import platform
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.scripting.sandbox import kernel
from datasets_core.scripting.sandbox.kernel import checked, libc


@pytest.mark.skipif(not kernel.abi(), reason="no Landlock here")
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


@pytest.mark.skipif(not kernel.abi(), reason="no Landlock here")
@pytest.mark.parametrize("version", range(1, 8))
def test_what_is_not_granted_is_out_of_reach(tmp_path: Path, version: int) -> None:
    if version > kernel.abi():
        pytest.skip("a later kernel's")
    older = ["move_out"] if version < 2 else []
    cut = [] if version < 3 else ["truncate_in"]  # `seccomp` sees to it
    outside = ["read_other", "list_other", "write_in", "make_in", *cut, "remove_in", "link_out", "fifo_out", "steal"]
    assert _tried(tmp_path, version) == older + outside


@pytest.mark.skipif(not kernel.abi(), reason="no Landlock here")
def test_a_ruleset_that_the_kernel_refuses_is_an_error() -> None:
    with pytest.raises(OSError, match="Landlock: Bad file descriptor"):
        kernel._call(kernel._ADD_RULE, -1, 1, bytes(12), 0)


# The C library, and what its failures are.


def test_it_is_this_processs() -> None:
    assert libc().getpid() == os.getpid()


def test_a_failure_is_an_error_with_its_code() -> None:
    ctypes.set_errno(errno.EBADF)
    with pytest.raises(OSError, match="close: Bad file descriptor") as raised:
        checked(-1, "close")
    assert raised.value.errno == errno.EBADF


# The filter program, run by an interpreter of its own on both machines, for every system call.

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
OWN = 1234
MACHINES = pytest.mark.parametrize("machine", sorted(_ARCHITECTURES))


def _decided(program: list[kernel.Instruction], number: int, architecture: int, *arguments: int) -> int:
    """What the program answers for one call, by the rules of the kernel."""
    data = {0: number, 4: architecture}
    for place, argument in enumerate((*arguments, *[0] * (6 - len(arguments)))):
        data[16 + 8 * place], data[20 + 8 * place] = argument & 0xFFFFFFFF, (argument >> 32) & 0xFFFFFFFF
    position, value = 0, 0
    while True:
        code, yes, no, constant = program[position]
        position += 1
        if code == 0x20:
            value = data[constant]
        elif code == 0x54:
            value &= constant
        elif code == 0x06:
            return constant
        else:
            holds = {0x15: value == constant, 0x35: value >= constant, 0x45: bool(value & constant)}[code]
            position += yes if holds else no


class _Filter:
    def __init__(self, machine: str, *, notices: bool = True) -> None:
        self.machine = machine
        self.program = kernel.program(machine, process=OWN, notices=notices)
        self.numbers = kernel.allowed(machine) | kernel.refused(machine) | kernel.ruled(machine)
        self.numbers |= kernel.pretended(machine) | kernel.unsupported(machine)

    def __call__(self, name: str, *arguments: int) -> int:
        return _decided(self.program, self.numbers[name], _ARCHITECTURES[self.machine], *arguments)


@MACHINES
def test_the_program_is_one_that_the_kernel_takes(machine: str) -> None:
    program = _Filter(machine).program
    assert len(program) < 4096
    assert max(max(yes, no) for _, yes, no, _ in program) < 256
    assert program[-1][0] == 0x06
    assert all(place + 1 + max(yes, no) < len(program) for place, (code, yes, no, _) in enumerate(program) if code & 7 == 5)


@MACHINES
def test_what_computing_takes_is_allowed(machine: str) -> None:
    answer = _Filter(machine)
    special = {"open", "openat"}  # by their flags
    assert {name for name in kernel.allowed(machine) if name not in special and answer(name) != kernel.ALLOW} == set()


@MACHINES
def test_what_no_script_needs_is_refused_and_handed_over_where_that_can_be(machine: str) -> None:
    told, untold = _Filter(machine), _Filter(machine, notices=False)
    passed = {"sendmsg", "seccomp"}  # until the second filter
    names = set(kernel.refused(machine))
    assert {name for name in names - passed if told(name) != kernel.NOTIFY} == set()
    assert {name for name in names if untold(name) != kernel.REFUSE} == set()


@MACHINES
def test_the_second_filter_takes_back_what_the_first_let_pass(machine: str) -> None:
    closing, numbers = kernel.closing(machine), _Filter(machine).numbers
    for name in ("sendmsg", "seccomp"):
        assert _decided(closing, numbers[name], _ARCHITECTURES[machine]) == kernel.REFUSE
    assert _decided(closing, numbers["read"], _ARCHITECTURES[machine]) == kernel.ALLOW


@MACHINES
@given(number=st.integers(0, 0x3FFFFFFF))
def test_what_is_not_known_does_not_exist(machine: str, number: int) -> None:
    answer = _Filter(machine)
    known = set(answer.numbers.values())
    decided = _decided(answer.program, number, _ARCHITECTURES[machine])
    assert number in known or decided == kernel.errno_action(errno.ENOSYS)


@MACHINES
def test_calls_of_other_machines_end_the_process(machine: str) -> None:
    program = _Filter(machine).program
    assert _decided(program, 0, 0x40000003) == kernel.KILL  # i386
    assert machine != "x86_64" or _decided(program, 0x40000000, _ARCHITECTURES[machine]) == kernel.KILL  # x32


@MACHINES
@pytest.mark.parametrize(
    ("flags", "is_thread"),
    [(0x3D0F00, True), (0x7D0F00, True), (0x11, False), (0x01200011, False), (0x3D0F00 | 0x20000000, False), (0x4111, False)],
    ids=["glibc's thread", "musl's thread", "fork", "glibc's fork", "a namespace", "vfork"],
)
def test_clone_makes_threads_only(machine: str, flags: int, is_thread: bool) -> None:
    assert (_Filter(machine)("clone", flags) == kernel.ALLOW) is is_thread


@MACHINES
@given(flags=st.integers(0, 0xFFFFFFFF))
def test_clone_lets_nothing_pass_that_is_no_thread(machine: str, flags: int) -> None:
    passes = _Filter(machine)("clone", flags) == kernel.ALLOW
    assert not passes or (flags & 0x10000 and not flags & 0x7E020000 and not flags & 0xFF)


@MACHINES
@pytest.mark.parametrize(
    ("flags", "passes"),
    [
        *((os.O_RDONLY, True), (os.O_WRONLY | os.O_CREAT | os.O_TRUNC, True), (os.O_RDWR | os.O_TRUNC, True), (3, False)),
        *((os.O_RDONLY | os.O_TRUNC, False), (3 | os.O_TRUNC, False), (os.O_RDONLY | os.O_CLOEXEC, True)),
    ],
)
def test_opening_truncates_only_what_it_writes(machine: str, flags: int, passes: bool) -> None:
    assert (_Filter(machine)("openat", 0, 0, flags) == kernel.ALLOW) is passes


@MACHINES
def test_signals_and_limits_are_the_processs_own(machine: str) -> None:
    answer = _Filter(machine)
    for name in ("kill", "tgkill", "prlimit64"):
        assert answer(name, OWN) == kernel.ALLOW
        assert {answer(name, other) for other in (1, OWN + 1, 0xFFFFFFFF)} == {kernel.NOTIFY}
    assert (answer("kill", 0), answer("prlimit64", 0)) == (kernel.NOTIFY, kernel.ALLOW)


@MACHINES
def test_descriptors_get_no_owners_and_terminals_no_input(machine: str) -> None:
    answer = _Filter(machine)
    assert [answer("fcntl", 0, command) == kernel.ALLOW for command in (1, 3, 6, 8, 10, 15, 1024, 1026)] == [True] * 3 + [
        False
    ] * 5
    assert answer("ioctl", 0, 0x5401) == kernel.ALLOW
    assert {answer("ioctl", 0, command) for command in (0x5412, 0x541C)} == {kernel.NOTIFY}
    assert answer("ioctl", 0, 0x80086601) == kernel.errno_action(errno.ENOTTY)


@MACHINES
def test_modes_of_files_seem_to_change_where_nobody_can_be_asked(machine: str) -> None:
    assert _Filter(machine)("fchmodat") == kernel.NOTIFY
    untold = _Filter(machine, notices=False)
    assert untold("fchmodat") == kernel.errno_action(0)
    assert [untold("utimensat", 0, 0, times) for times in (0, 7, 7 << 32)] == [kernel.REFUSE, *[kernel.errno_action(0)] * 2]


@pytest.mark.skipif(platform.system() != "Linux" or kernel.machine() is None, reason="no system calls that are known here")
def test_numbers_are_those_of_this_machine() -> None:
    library = ctypes.CDLL(None, use_errno=True)
    number = kernel.allowed(kernel.machine() or "")["getpid"]
    assert library.syscall(number) == os.getpid()


# The table of system calls: no name twice, no number twice, and the numbers that the kernel's own headers give.

TABLES = [kernel.allowed, kernel.ruled, kernel.pretended, kernel.unsupported, kernel.refused]
HEADERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_each_call_stands_once(machine: str) -> None:
    entries = [entry for table in TABLES for entry in table(machine).items()]
    assert len({name for name, _ in entries}) == len({number for _, number in entries}) == len(entries)


@pytest.mark.parametrize("machine", kernel.MACHINES)
def test_a_number_leads_back_to_its_name(machine: str) -> None:
    assert {
        name for table in TABLES for name, number in table(machine).items() if kernel.name_of(number, machine) != name
    } == set()


@pytest.mark.skipif(not HEADERS.exists(), reason="the kernel's headers are not installed")
def test_the_numbers_are_those_of_the_kernel() -> None:
    theirs = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", HEADERS.read_text())}
    ours = {name: number for table in TABLES for name, number in table("x86_64").items()}
    assert {name for name, number in ours.items() if name in theirs and theirs[name] != number} == set()
