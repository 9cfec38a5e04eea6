"""A confined process from its start to its end: what it may do, what it may not, and that nothing of it stays."""

import dataclasses
import gc
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import (
    ConfinementUnavailableError,
    DatasetDiskError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    ScriptMemoryError,
    ScriptTimeoutError,
    WorkerDiedError,
)
from datasets_core.scripting.sandbox import kernel, limits
from datasets_core.scripting.sandbox.limits import Sandbox, layers, program
from datasets_core.scripting.sandbox.process import (
    MAX_BYTES,
    Output,
    ProcessResources,
    SandboxedProcess,
    error_of_end,
    readable,
)

TRIAL = "datasets_core.scripting.sandbox.protocol:serve"
Run = Callable[..., Any]
RAW = "import ctypes\nc = ctypes.CDLL(None, use_errno=True)\nctypes.set_errno(0)\nresult = ({}, ctypes.get_errno())"


def _cage(tmp_path: Path, **options: Any) -> Sandbox:
    return Sandbox((), str(tmp_path / "scratch"), script="/there/script.py", **options)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_script_reads_its_inputs_and_writes_its_scratch_folder(run: Run, tmp_path: Path) -> None:
    text = f"open('made', 'w').write(open({str(tmp_path / 'inputs' / 'note.txt')!r}).read()); result = open('made').read()"
    assert run(text) == "a note"


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_moves_and_removes_what_is_its_own(run: Run) -> None:
    text = """
        import os, pathlib, shutil, tempfile
        os.makedirs("a/b"); pathlib.Path("a/x").write_text("1"); os.replace("a/x", "a/b/y"); pathlib.Path("a/b/y").touch()
        pathlib.Path("t").touch()
        shutil.copy2("a/b/y", "z"); os.chmod("z", 0o644); shutil.rmtree("a")
        with tempfile.NamedTemporaryFile() as file: file.write(b"x")
        result = sorted(os.listdir("."))
    """
    assert run(textwrap.dedent(text)) == ["home", "t", "tmp", "z"]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_its_environment_holds_nothing_of_the_parents(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    environment = run("import os; result = dict(os.environ)")
    assert "hf_secret" not in repr(environment)
    assert set(environment) >= {"HOME", "TMPDIR"}


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    ("text", "tried"),
    [
        ("open('/etc/passwd')", "read '/etc/passwd'"),
        ("open('/tmp/evil', 'w')", "write '/tmp/evil'"),
        ("import os; os.listdir('/')", "list '/'"),
        ("import pathlib; list(pathlib.Path('/etc').iterdir())", "list '/etc'"),
        ("open('/proc/self/environ')", "read '/proc/self/environ'"),
        ("import os; open(f'/proc/{os.getppid()}/environ')", "read '/proc/"),
        ("import pyarrow as pa; pa.memory_map('/etc/passwd')", "open '/etc/passwd'"),
        ("import os; os.chmod('/etc/passwd', 0o777)", "change the mode of '/etc/passwd'"),
        ("import os; os.utime('/etc/passwd')", "change the times of '/etc/passwd'"),
        ("import os; os.remove('/etc/passwd')", "remove '/etc/passwd'"),
        ("import os; os.rename('/etc/passwd', 'mine')", "move '/etc/passwd'"),
        ("import os; os.symlink('/etc', 'etc')", "make a link to '/etc' at 'etc'"),
        ("import os; open('a', 'w'); os.link('a', 'b')", "make a link to 'a' at 'b'"),
        ("import os; os.mkfifo('fifo')", "make the system call mknod"),
        ("import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM)", "open a socket (AF_INET, SOCK_DGRAM)"),
        ("import socket; socket.socket(socket.AF_UNIX)", "open a socket (AF_UNIX, SOCK_STREAM)"),
        ("import socket; socket.socketpair()", "open a socket"),
        ("import socket; socket.create_connection(('192.0.2.1', 80))", "connect to '192.0.2.1', port 80"),
        ("import urllib.request as r; r.urlopen('http://me:pw@192.0.2.1/x')", "connect to 'http://***@192.0.2.1/x'"),
        ("import http.client as h; h.HTTPConnection('192.0.2.1').connect()", "connect to '192.0.2.1', port 80"),
        ("import os; os.fork()", "start a process (fork)"),
        ("import os; os.system('id')", "start a process (id)"),
        ("import os; os.execv('/bin/sh', ['sh', '-c', 'id'])", "start a process (sh -c id)"),
        ("import os; os.posix_spawn('/bin/true', ['true'], {})", "start a process (true)"),
        ("import subprocess; subprocess.run(['id', '-u'])", "start a process (id -u)"),
        ("import multiprocessing; multiprocessing.Pool(2)", "start a process (fork)"),
        (
            "import multiprocessing; multiprocessing.get_context('spawn').Process().start()",
            "start processes (multiprocessing)",
        ),
        ("import os; os.kill(os.getppid(), 9)", "send signal 9 to process "),
    ],
)
def test_what_a_script_may_not_do_is_an_error_that_names_it_and_its_line(run: Run, text: str, tried: str) -> None:
    with pytest.raises(DeniedAccessError) as raised:
        run(f"\n{text}")
    assert raised.value.tried.startswith(tried)
    assert (raised.value.path, raised.value.line) == ("/there/script.py", 2)  # type: ignore[attr-defined]
    assert "trust_remote_code=True" in str(raised.value)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_pools_of_threads_run_confined(run: Run) -> None:
    text = "import multiprocessing.pool as p\nwith p.ThreadPool(2) as pool: result = pool.map(str, [3, 4])"
    assert run(text) == ["3", "4"]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_denial_that_the_script_swallows_is_told_of_once(run: Run, confined: SandboxedProcess) -> None:
    text = "for _ in range(3):\n  try: open('/etc/passwd')\n  except OSError: result = 'none'"
    assert run(text) == "none"
    assert [(each.tried, each.line) for each in confined.denials] == [("read '/etc/passwd'", 2)]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_file_that_is_not_there_is_no_denial(run: Run, confined: SandboxedProcess) -> None:
    assert run("try: open('/etc/no-such-file')\nexcept FileNotFoundError: result = 'none'") == "none"
    assert confined.denials == []


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.skipif(not layers().notices, reason="the kernel hands no calls over")
@pytest.mark.parametrize(
    ("call", "tried"),
    [
        ("c.socket(2, 1, 0)", "socket"), ("c.socket(1, 1, 0)", "socket"), ("c.socket(16, 3, 0)", "socket"),
        ("c.socketpair(1, 1, 0, ctypes.create_string_buffer(8))", "socketpair"), ("c.connect(0, None, 0)", "connect"),
        ("c.fork()", "clone"), ("c.vfork()", "vfork"), ("c.execve(b'/bin/sh', None, None)", "execve"),
        ("c.ptrace(16, 1, 0, 0)", "ptrace"), ("c.process_vm_readv(1, None, 0, None, 0, 0)", "process_vm_readv"),
        ("c.kill(1, 0)", "kill"), ("c.kill(-1, 9)", "kill"), ("c.kill(0, 9)", "kill"),
        ("c.mount(b'a', b'/', b'tmpfs', 0, 0)", "mount"), ("c.unshare(0x10000000)", "unshare"), ("c.setns(0, 0)", "setns"),
        ("c.chroot(b'/')", "chroot"), ("c.setsid()", "setsid"), ("c.setuid(0)", "setuid"), ("c.personality(0)", "personality"),
        ("c.prctl(1, 0, 0, 0, 0)", "prctl"), ("c.memfd_create(b'x', 0)", "memfd_create"),
        ("c.shmget(0, 4096, 0o1600)", "shmget"),
        ("c.inotify_init()", "inotify_init"), ("c.fcntl(0, 8, 1)", "fcntl"), ("c.fcntl(0, 1024, 0)", "fcntl"),
        ("c.ioctl(0, 0x5412, b'x')", "ioctl"), ("c.truncate(b'made', 0)", "truncate"), ("c.symlink(b'/etc', b'x')", "symlink"),
        ("c.open(b'/usr/lib', 3)", "open"), ("c.chmod(b'/etc/passwd', 0o777)", "chmod"),
        ("c.chown(b'/etc/passwd', 1, 1)", "chown"),
        ("c.mknod(b'x', 0o60600, 0)", "mknod"), ("c.quotactl(0, None, 0, None)", "quotactl"),
    ],
)  # fmt: skip
def test_system_calls_past_python_are_refused_and_told_of(run: Run, confined: SandboxedProcess, call: str, tried: str) -> None:
    result, code = run(RAW.format(call))
    assert (result, code != 0) == (-1, True)
    told = " ".join(each.tried for each in confined.denials)
    assert f"system call {tried}" in told


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize("number", [435, 437, 425, 9999], ids=["clone3", "openat2", "io_uring_setup", "unknown"])
def test_calls_that_hide_their_arguments_and_new_ones_fail(run: Run, number: int) -> None:
    result, code = run(RAW.format(f"c.syscall({number}, 0, 0, 0)"))
    assert (result, code in (1, 38)) == (-1, True)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_files_are_closed_to_calls_past_python_too(run: Run) -> None:
    assert run(RAW.format("c.open(b'/etc/passwd', 0)")) == [-1, 13]
    assert run(RAW.format("c.open(b'/tmp/evil', 0o102, 0o600)"))[0] == -1
    assert run(RAW.format("c.opendir(b'/root')"))[0] == 0


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.skipif(layers().machine != "x86_64", reason="the calls of another machine")
def test_calls_of_another_machine_end_the_process(run: Run) -> None:
    with pytest.raises(DeniedAccessError, match="SIGSYS"):
        run(RAW.format("c.syscall(0x40000000 + 39)"))


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_no_capability_and_no_way_to_one_is_left(run: Run) -> None:
    status = dict(
        line.split(":\t", 1) for line in run("result = open('/proc/self/status').read()").splitlines() if ":\t" in line
    )
    assert {status[name] for name in ("CapInh", "CapPrm", "CapEff", "CapAmb")} == {"0" * 16}
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")
    assert os.geteuid() != 0 or status["CapBnd"] == "0" * 16


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_nothing_of_the_parent_is_open(run: Run) -> None:
    assert run("import os\nresult = [n for n in range(300) if os.path.exists(f'/proc/self/fd/{n}')]") == [0, 1, 2, 3, 4]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_computes_as_outside(run: Run, confined: SandboxedProcess) -> None:
    text = """
        import bz2, csv, gzip, io, json, lzma, mmap, sqlite3, tarfile, threading, xml.etree.ElementTree as tree, zipfile
        from concurrent.futures import ThreadPoolExecutor
        import numpy as np, pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
        pq.write_table(pa.table({"a": list(range(1000))}), "a.parquet")
        numbers = pc.sum(pq.read_table("a.parquet", memory_map=True)["a"]).as_py()
        np.save("a.npy", np.arange(10)); mapped = int(np.load("a.npy", mmap_mode="r").sum())
        for module in (gzip, bz2, lzma):
            with module.open("a", "wb") as file: file.write(b"x")
            assert module.open("a").read() == b"x"
        with zipfile.ZipFile("a.zip", "w") as file: file.writestr("b/c", "x")
        zipfile.ZipFile("a.zip").extractall("zip")
        with tarfile.open("a.tar.gz", "w:gz") as file: file.add("a.npy")
        tarfile.open("a.tar.gz").extractall("tar", filter="data")
        base = sqlite3.connect("a.db"); base.execute("create table t (a)"); base.commit()
        squares = list(ThreadPoolExecutor(8).map(lambda n: n * n, range(100)))
        result = [numbers, mapped, squares[9], tree.fromstring("<a><b/></a>")[0].tag, float(np.linalg.det(np.eye(50)))]
    """
    assert run(textwrap.dedent(text)) == [499500, 45, 81, "b", 1.0]
    assert confined.denials == []


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize("package", ["pandas", "PIL.Image", "soundfile", "h5py", "lxml.etree", "polars", "duckdb"])
def test_packages_of_data_work_confined(run: Run, confined: SandboxedProcess, package: str) -> None:
    pytest.importorskip(package)
    uses = {
        "pandas": "m.DataFrame({'a': [1]}).to_csv('a.csv'); result = len(m.read_csv('a.csv'))",
        "PIL.Image": "m.new('RGB', (2, 2)).save('a.png'); result = m.open('a.png').size[0] - 1",
        "soundfile": "m.write('a.wav', [0.0] * 10, 8000); result = len(m.read('a.wav')[0]) // 10",
        "h5py": "f = m.File('a.h5', 'w'); f['a'] = [1]; f.close(); result = len(m.File('a.h5')['a'])",
        "lxml.etree": "result = len(m.fromstring('<a><b/></a>'))",
        "polars": "m.DataFrame({'a': [1]}).write_parquet('a'); result = len(m.read_parquet('a'))",
        "duckdb": "result = len(m.sql('select 1').fetchall())",
    }
    assert run(f"import {package} as m\n{uses[package]}") == 1
    assert confined.denials == []


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    "text",
    [
        "x = []\nwhile True: x.append(bytearray(10 << 20))",
        "import mmap\nx = []\nwhile True: x.append(mmap.mmap(-1, 10 << 20)); x[-1].write(bytes(10 << 20))",
        "import pyarrow as pa; pa.allocate_buffer(8 << 30)",
        "import numpy as np; np.ones(8 << 30, dtype='u1')",
    ],
    ids=["bytes", "shared", "arrow", "numpy"],
)
def test_memory_is_limited(tmp_path: Path, text: str) -> None:
    with (
        SandboxedProcess.start(_cage(tmp_path, memory_bytes=300 << 20), serve=TRIAL) as confined,
        pytest.raises(ScriptMemoryError, match=r"script\.py needs more memory than its limit of 314,572,800 bytes"),
    ):
        confined.ask({"text": text})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_files_and_threads_are_limited(tmp_path: Path) -> None:
    with SandboxedProcess.start(_cage(tmp_path, file_bytes=1 << 20, memory_bytes=1 << 30), serve=TRIAL) as confined:
        text = "import threading, time\nwhile True: threading.Thread(target=time.sleep, args=(9,), daemon=True).start()"
        with pytest.raises(DatasetGenerationError, match="can't start new thread"):
            confined.ask({"text": text})
        with pytest.raises(DatasetDiskError, match="confined_file_bytes"):
            confined.ask({"text": "with open('a', 'wb') as file: file.write(bytes(2 << 20))"})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.slow
def test_processor_time_is_limited(tmp_path: Path) -> None:
    with (
        config.using(confined_cpu_seconds=1),
        SandboxedProcess.start(_cage(tmp_path), serve=TRIAL) as confined,
        pytest.raises(WorkerDiedError, match=r"used up its processor time.*confined_cpu_seconds"),
    ):
        confined.ask({"text": "while True: pass"})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    "text",
    ["while True: pass", "import time; time.sleep(10**6)", "while True: print('x' * 999)", "while True: question({})"],
    ids=["busy", "asleep", "printing", "asking"],
)
def test_a_script_that_does_not_end_is_stopped_in_time(tmp_path: Path, text: str) -> None:
    confined = SandboxedProcess.start(_cage(tmp_path), serve=TRIAL)
    with pytest.raises(ScriptTimeoutError, match=r"script\.py"):
        confined.ask({"text": text}, lambda question: {}, deadline=time.monotonic() + 0.2)
    assert not os.path.exists(confined.sandbox.scratch)


SENT = "import os, struct\nos.write(4, {})"


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SENT.format("b'garbage' * 9"), "no known kind"),
        (SENT.format("struct.pack('!cIQ', b'L', 1 << 30, 0)"), "too large"),
        (SENT.format("struct.pack('!cIQ', b'L', 2, 1 << 60) + b'{}'"), "too large"),
        (SENT.format("struct.pack('!cIQ', b'L', 3, 0) + b'[1]'"), "not a JSON object"),
        (SENT.format("struct.pack('!cIQ', b'R', 2, 0) + b'{}'"), "invalid or too large"),
        (SENT.format("struct.pack('!cIQ', b'Y', 2, 0) + b'{}'"), "an unexpected"),
        ("reply({'a': 1})", "an unexpected"),
        ("question({'a': 1})", "an unexpected"),
        ("import os, time; os.close(4); time.sleep(10**6)", "closed its pipe"),
        ("import os; os._exit(3)", "exit status 3"),
        ("import os; os.abort()", "SIGABRT"),
        ("import ctypes; ctypes.string_at(0)", "SIGSEGV"),
        ("import os; os.kill(os.getpid(), 9)", "SIGKILL"),
    ],
)
def test_a_process_that_breaks_the_rules_or_itself_is_an_error_that_says_how(tmp_path: Path, text: str, said: str) -> None:
    confined = SandboxedProcess.start(_cage(tmp_path), serve=TRIAL)
    with pytest.raises(WorkerDiedError, match=said):
        confined.ask({"text": text})
    assert not os.path.exists(confined.sandbox.scratch)
    with pytest.raises(WorkerDiedError, match="has ended"):
        confined.ask({"text": "result = 1"})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_speaking_before_being_asked_ends_it(tmp_path: Path) -> None:
    confined = SandboxedProcess.start(_cage(tmp_path), serve=TRIAL)
    twice = "import os, struct\nos.write(4, 2 * (struct.pack('!cIQ', b'L', 2, 0) + b'{}'))"
    confined.ask({"text": twice})
    with pytest.raises(WorkerDiedError, match="unexpected message"):
        confined.ask({"text": "result = 1"})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_an_error_of_the_script_leaves_the_process_to_be_asked_again(run: Run) -> None:
    with pytest.raises(DatasetGenerationError, match="ZeroDivisionError: division by zero") as raised:
        run("1 / 0")
    assert 'File "/there/script.py", line 1' in raised.value.__notes__[0]
    assert run("result = 1") == 1


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_replies_come_one_after_the_other_with_their_payloads(confined: SandboxedProcess) -> None:
    text = "for n in range(3): reply({'n': n, 'of': question({'n': n})['of']}, bytes([n]) * (n << 20))"
    messages = list(confined.stream({"text": text}, lambda question: {"of": question["n"] + 1}))
    assert [message.head for message in messages[:3]] == [{"n": n, "of": n + 1} for n in range(3)]
    assert [None if message.payload is None else bytes(memoryview(message.payload)) for message in messages] == [
        None, bytes([1]) * (1 << 20), bytes([2]) * (2 << 20), None,
    ]  # fmt: skip


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_leaving_a_stream_early_ends_the_process(confined: SandboxedProcess) -> None:
    stream = confined.stream({"text": "while True: reply({})"})
    next(stream)
    stream.close()  # type: ignore[attr-defined]
    assert not os.path.exists(confined.sandbox.scratch)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_an_error_of_the_answer_ends_the_process_and_is_raised(confined: SandboxedProcess) -> None:
    with pytest.raises(ZeroDivisionError):
        confined.ask({"text": "question({})"}, lambda question: {"n": 1 / 0})
    assert not os.path.exists(confined.sandbox.scratch)


def _descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def _start_and_end(tmp_path: Path, name: str) -> None:
    with SandboxedProcess.start(Sandbox((), str(tmp_path / name)), serve=TRIAL) as confined:
        assert confined.ask({"text": "result = 1"}).head == {"result": 1}


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_nothing_stays_behind(tmp_path: Path) -> None:
    _start_and_end(tmp_path, "first")
    gc.collect()
    before = _descriptors()
    for number in range(20):
        _start_and_end(tmp_path, f"{number}")
    forgotten = SandboxedProcess.start(Sandbox((), str(tmp_path / "forgotten")), serve=TRIAL)
    process = forgotten._forked.process
    del forgotten
    gc.collect()
    # fewer is possible: what tests before this one left to the garbage collector closes in between
    assert _descriptors() <= before
    assert (list(tmp_path.iterdir()), os.path.exists(f"/proc/{process}")) == ([], False)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_threads_start_processes_of_their_own(tmp_path: Path) -> None:
    threads = [threading.Thread(target=_start_and_end, args=(tmp_path, f"{number}")) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize("ends", ["kill", "interrupt"])
def test_everything_ends_with_the_parent(tmp_path: Path, ends: str) -> None:
    code = f"""
        import sys; sys.path.insert(0, {str(Path(__file__).parents[3])!r})
        from datasets_core.scripting.sandbox.limits import Sandbox
        from datasets_core.scripting.sandbox.process import SandboxedProcess
        confined = SandboxedProcess.start(Sandbox((), {str(tmp_path / "scratch")!r}), serve={TRIAL!r})
        print(confined._forked.process, flush=True)
        confined.ask({{"text": "while True: pass"}})
    """
    parent = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    with parent:
        assert parent.stdout is not None
        process = int(parent.stdout.readline())
        watched = os.pidfd_open(process)
        parent.kill() if ends == "kill" else parent.send_signal(2)
        parent.wait()
    has_ended = readable(watched, 60)
    os.close(watched)
    end = time.monotonic() + 60
    while os.path.exists(tmp_path / "scratch") and time.monotonic() < end:
        os.sched_yield()
    assert (has_ended, os.path.exists(tmp_path / "scratch")) == (True, False)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize("change", [{"landlock": 1}, {"notices": False}], ids=["Landlock of 5.13", "without notices"])
def test_an_older_kernel_confines_too(tmp_path: Path, change: dict[str, Any]) -> None:
    found = dataclasses.replace(layers(), **change)
    if not layers().landlock:
        pytest.skip("no Landlock here")
    with SandboxedProcess.start(_cage(tmp_path), serve=TRIAL, _layers=found) as confined:
        text = (
            "import pathlib, shutil; pathlib.Path('a').touch(); shutil.copy2('a', 'b'); pathlib.Path('b').touch(); result = 1"
        )
        assert confined.ask({"text": text}).head["result"] == 1
        for text in ("open('/etc/passwd')", "import socket; socket.socket()", "import os; os.kill(os.getppid(), 0)"):
            with pytest.raises(DeniedAccessError):
                confined.ask({"text": text})
        for call in ("socket(2, 1, 0)", "fork()", "kill(1, 0)", "truncate(b'a', 0)", "open(b'a', 3)", "open(b'a', 0o1000)"):
            assert confined.ask({"text": RAW.format(f"c.{call}")}).head["result"][0] == -1


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.skipif(program() is None, reason="bwrap is not there, or does not work")
def test_bwrap_confines_where_landlock_is_missing(tmp_path: Path) -> None:
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "a").write_text("x")
    found = dataclasses.replace(layers(), landlock=0, bwrap=program())
    with SandboxedProcess.start(Sandbox((str(inputs),), str(tmp_path / "scratch")), serve=TRIAL, _layers=found) as confined:
        assert set(confined.layers) >= {"bwrap", "seccomp"}
        assert confined.ask({"text": f"result = open({str(inputs / 'a')!r}).read()"}).head["result"] == "x"
        for text in ("open('/etc/passwd')", f"open({str(inputs / 'a')!r}, 'a')", "open('/x', 'w')", "import os; os.fork()"):
            with pytest.raises(DeniedAccessError):
                confined.ask({"text": text})
        assert confined.ask({"text": RAW.format("c.socket(2, 1, 0)")}).head["result"][0] == -1
    assert not (tmp_path / "scratch").exists()


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_machine_that_cannot_confine_refuses(tmp_path: Path) -> None:
    for change in ({"landlock": 0, "bwrap": None}, {"seccomp": False}, {"machine": None}):
        with pytest.raises(ConfinementUnavailableError, match="trust_remote_code=True"):
            SandboxedProcess.start(_cage(tmp_path), serve=TRIAL, _layers=dataclasses.replace(layers(), **change))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_user_without_rights_confines_as_well(as_nobody: Run) -> None:
    text = f"""
        import os, tempfile
        from datasets_core.scripting.sandbox.limits import Sandbox
        from datasets_core.scripting.sandbox.process import SandboxedProcess
        from datasets_core.errors import DeniedAccessError
        with SandboxedProcess.start(Sandbox((), tempfile.mkdtemp()), serve={TRIAL!r}) as confined:
            print(os.getuid(), confined.ask({{"text": "open('a', 'w'); result = 1"}}).head["result"])
            for text in ("open('/etc/passwd')", "import socket; socket.socket()", "import os; os.kill(os.getppid(), 9)"):
                try: confined.ask({{"text": text}})
                except DeniedAccessError as error: print(error.tried.split()[0])
        print(os.path.exists(confined.sandbox.scratch), *confined.layers)
    """
    lines = as_nobody(textwrap.dedent(text)).splitlines()
    assert lines[0].split()[1:] == ["1"] and lines[0].split()[0] != "0"
    assert lines[1:4] == ["read", "open", "send"]
    assert lines[4].split()[0] == "False" and "seccomp" in lines[4]


# How a process ended is told by its status and by what it had taken.

LIMIT = 1 << 30


@pytest.mark.parametrize(
    ("end", "tail", "kind", "said"),
    [
        ({}, "", WorkerDiedError, "ended with the process that started it"),
        ({"status": 3 << 8}, "bye", WorkerDiedError, "exit status 3.*'bye'"),
        ({"status": signal.SIGSEGV}, "", WorkerDiedError, "SIGSEGV"),
        ({"status": signal.SIGSEGV | 0x80}, "", WorkerDiedError, "SIGSEGV"),
        ({"status": (128 + signal.SIGSEGV) << 8}, "", WorkerDiedError, "SIGSEGV"),
        ({"status": signal.SIGABRT}, "what():  std::bad_alloc", ScriptMemoryError, "1,073,741,824 bytes"),
        ({"status": signal.SIGKILL, "max_rss": LIMIT}, "", ScriptMemoryError, "1,073,741,824 bytes"),
        ({"status": signal.SIGKILL, "max_rss": 5}, "", WorkerDiedError, "another process"),
        ({"status": signal.SIGKILL, "cpu": 7.5}, "", WorkerDiedError, "processor time"),
        ({"status": signal.SIGXCPU, "cpu": 7.0}, "", WorkerDiedError, "processor time"),
        ({"status": signal.SIGSYS}, "", DeniedAccessError, "SIGSYS"),
        ({"status": 63}, "", WorkerDiedError, "signal 63"),
    ],
)
def test_the_error_says_what_ended_it(end: dict[str, int], tail: str, kind: type[DatasetsCoreError], said: str) -> None:
    error = error_of_end(end, "a.py", memory_bytes=LIMIT, cpu_seconds=7, tail=tail)
    assert type(error) is kind
    with pytest.raises(kind, match=said):
        raise error
    assert "a.py" in str(error)


# What is held for a confined process is given back once, and by its owner only.


def test_descriptors_and_the_folder_are_given_back_once(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    (tmp_path / "scratch").mkdir()
    held = ProcessResources(os.getpid(), [reads, writes], str(tmp_path / "scratch"))
    held.release()
    held.release()
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(reads)


def test_a_fork_of_the_owner_leaves_the_folder_alone(tmp_path: Path) -> None:
    reads, writes = os.pipe()
    ProcessResources(os.getpid() + 1, [reads, writes], str(tmp_path)).release()
    assert tmp_path.exists()


def test_a_folder_that_cannot_go_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("x")
    ProcessResources(os.getpid(), [], str(tmp_path / "file")).release()
    assert "could not be removed" in caplog.text


def test_what_can_be_read_is_told_at_once() -> None:
    reads, writes = os.pipe()
    assert readable(reads, 0) is False
    os.write(writes, b"x")
    assert readable(reads, None) is True
    os.close(reads)
    os.close(writes)


# What a confined script prints reaches the log, harmless and bounded.


@pytest.fixture
def ends() -> Iterator[tuple[Output, int]]:
    reads, writes = os.pipe()
    yield Output(reads, script="a.py"), writes
    os.close(reads)


def test_lines_are_shown_without_what_a_terminal_would_obey(ends: tuple[Output, int], caplog: pytest.LogCaptureFixture) -> None:
    output, writes = ends
    with caplog.at_level(logging.WARNING, logger="datasets_core"):
        os.write(writes, b"hello\n\x1b]0;owned\x07 \xff\nno end")
        assert output.drain() is True
        os.close(writes)
        assert output.drain() is False
    assert caplog.messages == ["a.py: hello", "a.py: \\x1b]0;owned\\x07 \N{REPLACEMENT CHARACTER}", "a.py: no end"]
    assert output.tail.endswith("no end")


def test_what_is_printed_without_end_is_left_out_and_that_is_said_once(
    ends: tuple[Output, int], caplog: pytest.LogCaptureFixture
) -> None:
    output, writes = ends
    with caplog.at_level(logging.INFO, logger="datasets_core"):
        for _ in range(10):
            os.write(writes, b"x" * 30_000 + b"\n")
            output.drain()
    os.close(writes)
    assert sum(map(len, caplog.messages)) < MAX_BYTES + 1000
    assert [message for message in caplog.messages if "left out" in message] == [
        f"a.py printed more than {MAX_BYTES} bytes; the rest is left out."
    ]


def test_a_line_without_end_takes_no_memory_without_end(ends: tuple[Output, int]) -> None:
    output, writes = ends
    for _ in range(20):
        os.write(writes, b"x" * 60_000)
        output.drain()
    os.close(writes)
    assert len(output._line) <= MAX_BYTES


def _ticks(confined: SandboxedProcess) -> int:
    return int(confined.ask({"text": "result = COUNT[0]"}).head["result"])


_BUSY = """
import builtins, threading
COUNT = builtins.COUNT = [0]
def busy():
    while True:
        COUNT[0] += 1
threading.Thread(target=busy, daemon=True).start()
"""


def _used(process: int) -> int:
    """Processor time of a process, in clock ticks."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_process_does_nothing_while_it_has_no_request(confined: SandboxedProcess) -> None:
    confined.ask({"text": _BUSY})
    process = confined._forked.process
    while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)
    before = _used(process)
    time.sleep(0.2)
    assert _used(process) == before
    count = _ticks(confined)
    assert confined.ask({"text": f"import time\nwhile COUNT[0] <= {count}: time.sleep(0.001)"})  # it goes on when it is asked


_WAKES = """
import ctypes, fcntl, os, signal, struct
c = ctypes.CDLL(None, use_errno=True)
event = ctypes.create_string_buffer(struct.pack("QiiQ", 0, signal.SIGCONT, 0, 0), 64)
timer = ctypes.c_int(-1)
made = c.syscall({create}, 1, event, ctypes.byref(timer))
c.syscall({settime}, timer, 0, struct.pack("4q", 0, 20_000_000, 0, 20_000_000), None)
told = []
for what, number in ((10, signal.SIGCONT), (8, os.getpid()), (1026, 1), (1024, 1)):  # signals, owner, news, lease
    try:
        told.append(fcntl.fcntl(1, what, number))
    except OSError:
        told.append("refused")
result = [made, *told, c.syscall({notify}, 0, event), c.prctl(1, signal.SIGCONT, 0, 0, 0)]
"""


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_process_that_is_stopped_cannot_wake_itself(confined: SandboxedProcess) -> None:
    known = kernel.refused(str(kernel.machine())) | kernel.allowed(str(kernel.machine()))
    text = _WAKES.format(create=known["timer_create"], settime=known["timer_settime"], notify=known["mq_notify"])
    assert confined.ask({"text": _BUSY + text}).head["result"] == [-1, *["refused"] * 4, -1, -1]
    process = confined._forked.process
    while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.001)
    before = _used(process)
    time.sleep(0.2)
    assert _used(process) == before


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_process_whose_replies_are_not_taken_is_stopped_and_goes_on(confined: SandboxedProcess) -> None:
    replies = confined.stream({"text": _BUSY + "for n in range(3): reply({'n': n})"})
    assert next(replies).head == {"n": 0}
    process = confined._forked.process
    while Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "T":
        time.sleep(0.01)
    assert [message.head for message in replies][:2] == [{"n": 1}, {"n": 2}]
    assert _ticks(confined) > 0


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    ("setting", "most", "text", "said"),
    [
        ("confined_scratch_bytes", 1 << 20, "open('big', 'wb').write(b'x' * (4 << 20))", "more than 1,048,576 bytes"),
        ("confined_scratch_files", 10, "[open(f'{n}', 'wb').close() for n in range(30)]", "more than 10 files"),
        (
            "confined_scratch_bytes",
            1 << 20,
            "import builtins, os\nf = builtins.KEPT = open('gone', 'wb', 0)\nf.write(b'x' * (4 << 20)); os.unlink('gone')",
            "more than 1,048,576 bytes",
        ),
        (
            "confined_scratch_bytes",
            1 << 20,
            "import builtins, mmap, os\nf = open('gone', 'w+b', 0)\nf.write(b'x' * (4 << 20))\n"
            "builtins.KEPT = mmap.mmap(f.fileno(), 4 << 20); os.unlink('gone'); f.close()",
            "more than 1,048,576 bytes",
        ),
        ("confined_seconds", 1, "while True: pass", "confined_seconds"),
    ],
)
def test_the_whole_life_of_a_process_has_a_budget(tmp_path: Path, setting: str, most: int, text: str, said: str) -> None:
    with config.using(**{setting: most}):
        confined = SandboxedProcess.start(_cage(tmp_path), serve=TRIAL)
        with pytest.raises((DatasetDiskError, ScriptTimeoutError), match=said):
            confined.ask({"text": text})
    with pytest.raises(WorkerDiedError, match="has ended"):
        confined.ask({"text": "result = 1"})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_process_with_too_many_threads_is_ended(confined: SandboxedProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_TASKS", 20)
    text = "import threading, time\nfor _ in range(30): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()"
    with pytest.raises(WorkerDiedError, match="more than 20 threads"):
        confined.ask({"text": text})


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
@pytest.mark.parametrize(
    "question", ["os.getpgid({})", "os.getsid({})", "os.sched_getaffinity({})", "os.getpriority(os.PRIO_PROCESS, {})"]
)
def test_nothing_is_learned_about_other_processes(run: Run, question: str) -> None:
    other = question.format(os.getpid())
    text = f"import os\ntry:\n    result = str({other})\nexcept OSError as error:\n    result = 'refused'"
    assert run(text) == "refused"
    for own in ("0", "os.getpid()"):
        assert run(f"import os\nresult = str({question.format(own)})") != "refused"
