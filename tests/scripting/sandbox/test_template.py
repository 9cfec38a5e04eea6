"""The template: started once for each process, and anew when it is gone."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfinementUnavailableError, WorkerDiedError
from datasets_core.scripting.sandbox import template
from datasets_core.scripting.sandbox import template as forks
from datasets_core.scripting.sandbox.limits import Sandbox, layers
from datasets_core.scripting.sandbox.process import SandboxedProcess
from datasets_core.scripting.sandbox.template import environment, words

TRIAL = "datasets_core.scripting.sandbox.protocol:serve"


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., SandboxedProcess]:
    numbers = iter(range(100))
    return lambda **options: SandboxedProcess.start(Sandbox((), str(tmp_path / f"{next(numbers)}"), **options), serve=TRIAL)


def _process() -> int:
    return template.template()._process.pid


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_is_started_once(start: Callable[..., SandboxedProcess]) -> None:
    with start() as first, start() as second:
        parents = {each.ask({"text": "import os; result = os.getppid()"}).head["result"] for each in (first, second)}
    assert parents == {_process()}


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_is_alone_single_threaded_and_closed(start: Callable[..., SandboxedProcess]) -> None:
    start().close()
    process = _process()
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines() if ":\t" in line)
    assert (status["Threads"], os.getsid(process)) == ("1", process)
    assert len(os.listdir(f"/proc/{process}/fd")) == 5  # the standard streams, the parent's socket, and the parent


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_killed_one_takes_its_processes_along_and_is_started_anew(start: Callable[..., SandboxedProcess]) -> None:
    confined, first = start(), _process()
    os.kill(first, signal.SIGKILL)
    with pytest.raises(WorkerDiedError, match="ended with the process that started it"):
        confined.ask({"text": "while True: pass"})
    start().close()
    assert _process() != first


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_one_that_hangs_is_given_up(start: Callable[..., SandboxedProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    start().close()
    monkeypatch.setattr(template, "_ANSWER_SECONDS", 0.2)
    os.kill(_process(), signal.SIGSTOP)
    with pytest.raises(ConfinementUnavailableError, match=r"no answer in 0\.2 s"):
        start()
    monkeypatch.undo()
    start().close()


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_fork_of_this_process_starts_its_own(start: Callable[..., SandboxedProcess]) -> None:
    start().close()
    first = _process()
    process = os.fork()
    if not process:
        status = 1
        try:
            with start() as confined:
                own = confined.ask({"text": "import os; result = os.getppid()"}).head["result"]
            status = 0 if own != first else 2
            template.stop()
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0
    assert _process() == first


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_known_modules_are_imported_before_the_fork_and_others_not(start: Callable[..., SandboxedProcess]) -> None:
    text = "import sys; result = [name in sys.modules for name in ('yaml', 'antigravity')]"
    with start(preload=("yaml", "antigravity", "no_such_module")) as confined:
        assert confined.ask({"text": text}).head["result"] == [True, False]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_no_interpreter_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/python")
    with pytest.raises(ConfinementUnavailableError, match="'/no/python'"):
        template.Template()


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_one_that_cannot_be_imported_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def words(*_: object, **__: Any) -> list[str]:
        return ["/bin/sh", "-c", "echo ImportError: no numpy >&2; exit 1"]

    monkeypatch.setattr(template, "words", words)
    broken = template.Template()
    with pytest.raises(ConfinementUnavailableError, match="ImportError: no numpy"):
        broken.fork([], scratch=str(tmp_path), serve=TRIAL)


# A fresh interpreter runs a function of this library, and nothing of this process reaches it.


def test_neither_path_nor_environment_of_this_process_reaches_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('taken from the working folder')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("HF_TOKEN", "secret")
    line = words("builtins", "print", sep="\n", end="", flush=True)
    index = line.index("-c") + 1
    line[index] += "print(sys.path, dict(os.environ), os.path.dirname(library.__file__))"
    done = subprocess.run(line, env=environment(), cwd=tmp_path, capture_output=True, text=True, check=True)
    assert str(tmp_path) not in done.stdout
    assert "secret" not in done.stdout
    assert str(Path(sys.modules["datasets_core"].__file__ or "").parent) in done.stdout


def test_the_time_zone_is_that_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert environment()["TZ"] == "Asia/Tokyo"


# The surroundings of a confined process, as it finds them itself.

Run = Callable[..., Any]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_the_layers_that_hold_are_told(confined: SandboxedProcess) -> None:
    assert confined.layers[:2] == ("limits", "capabilities")
    assert "seccomp" in confined.layers


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_leads_a_session_of_its_own_without_input(run: Run) -> None:
    found = run("import os, sys; result = [os.getsid(0) == os.getpid(), sys.stdin.read()]")
    assert found == [True, ""]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_home_and_temporary_files_are_in_its_scratch_folder(run: Run, confined: SandboxedProcess) -> None:
    scratch = os.path.realpath(confined.sandbox.scratch)
    text = "import os, tempfile; result = [os.getcwd(), os.path.expanduser('~'), tempfile.gettempdir(), oct(os.umask(0o77))]"
    assert run(text) == [scratch, f"{scratch}/home", f"{scratch}/tmp", "0o77"]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_modules_come_from_where_packages_are_installed(run: Run) -> None:
    paths = run("import sys; result = sys.path")
    assert "" not in paths and os.getcwd() not in paths
    assert run("import sys; result = [sys.flags.isolated, sys.dont_write_bytecode, sys.argv]") == [1, True, [""]]


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_each_process_draws_chances_of_its_own(run: Run, confined: SandboxedProcess) -> None:
    text = "import random, numpy as np, uuid; result = [random.random(), np.random.rand(), str(uuid.uuid4())]"
    with SandboxedProcess.start(
        type(confined.sandbox)((), confined.sandbox.scratch + "2"), serve="datasets_core.scripting.sandbox.protocol:serve"
    ) as other:
        drawn = other.ask({"text": text}).head["result"]
    assert not set(run(text)) & set(drawn)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_function_that_is_not_there_is_an_error(tmp_path: object) -> None:
    from datasets_core.errors import DatasetsCoreError
    from datasets_core.scripting.sandbox.limits import Sandbox

    with pytest.raises(DatasetsCoreError, match="no_such_function"):
        SandboxedProcess.start(
            Sandbox((), f"{tmp_path}/scratch"), serve="datasets_core.scripting.sandbox.protocol:no_such_function"
        )


# What the template does when an import starts threads, and with whom it ends.


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_threads_are_counted() -> None:
    before = forks.num_threads()
    done = threading.Event()
    thread = threading.Thread(target=done.wait)
    thread.start()
    during = forks.num_threads()
    done.set()
    thread.join()
    assert during == before + 1


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_only_well_known_modules_are_imported_on_request() -> None:
    assert {"pandas", "PIL.Image"} <= forks.PRELOADS
    assert not any(name.startswith(("os", "datasets_core")) for name in forks.PRELOADS)


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_a_module_that_starts_threads_is_left_to_another_template(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    asked: list[tuple[str, ...]] = []

    class Threaded(template.Template):
        def fork(self, descriptors: object, **options: object) -> template.Forked | None:  # type: ignore[override]
            asked.append(options["preload"])  # type: ignore[arg-type]
            return None if options["preload"] else template.Forked(self, 1, os.getpid(), -1)

    monkeypatch.setattr(template, "Template", Threaded)
    template.stop()
    try:
        template.fork([], scratch=str(tmp_path), serve="x:y", preload=["pandas"])
        template.fork([], scratch=str(tmp_path), serve="x:y", preload=["pandas"])
        assert asked == [("pandas",), (), ()]
    finally:
        template.stop()
        template._threaded.clear()


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_imports_what_later_processes_need_while_it_has_no_request(start: Callable[..., SandboxedProcess]) -> None:
    text = f"import sys; result = [name for name in {template._LATER!r} if name not in sys.modules]"
    assert template._LATER
    while True:
        with start() as confined:
            if not confined.ask({"text": text}).head["result"]:
                return
