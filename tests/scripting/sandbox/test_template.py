"""The template: started once for each process, and anew when it is gone."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfinementUnavailableError, WorkerDiedError
from datasets_core.scripting.sandbox import template
from datasets_core.scripting.sandbox.limits import Sandbox, layers
from datasets_core.scripting.sandbox.process import SandboxedProcess

pytestmark = pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
TRIAL = "datasets_core.scripting.sandbox.protocol:serve"


@pytest.fixture
def start(tmp_path: Path) -> Callable[..., SandboxedProcess]:
    numbers = iter(range(100))
    return lambda **options: SandboxedProcess.start(Sandbox((), str(tmp_path / f"{next(numbers)}"), **options), serve=TRIAL)


def _process() -> int:
    return template.template()._process.pid


def test_it_is_started_once(start: Callable[..., SandboxedProcess]) -> None:
    with start() as first, start() as second:
        parents = {each.ask({"text": "import os; result = os.getppid()"}).head["result"] for each in (first, second)}
    assert parents == {_process()}


def test_it_is_alone_single_threaded_and_closed(start: Callable[..., SandboxedProcess]) -> None:
    start().close()
    process = _process()
    status = dict(line.split(":\t", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines() if ":\t" in line)
    assert (status["Threads"], os.getsid(process)) == ("1", process)
    assert len(os.listdir(f"/proc/{process}/fd")) == 5  # the standard streams, the parent's socket, and the parent


def test_a_killed_one_takes_its_processes_along_and_is_started_anew(start: Callable[..., SandboxedProcess]) -> None:
    confined, first = start(), _process()
    os.kill(first, signal.SIGKILL)
    with pytest.raises(WorkerDiedError, match="ended with the process that started it"):
        confined.ask({"text": "while True: pass"})
    start().close()
    assert _process() != first


def test_one_that_hangs_is_given_up(start: Callable[..., SandboxedProcess], monkeypatch: pytest.MonkeyPatch) -> None:
    start().close()
    monkeypatch.setattr(template, "_ANSWER_SECONDS", 0.2)
    os.kill(_process(), signal.SIGSTOP)
    with pytest.raises(ConfinementUnavailableError, match=r"no answer in 0\.2 s"):
        start()
    monkeypatch.undo()
    start().close()


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


def test_known_modules_are_imported_before_the_fork_and_others_not(start: Callable[..., SandboxedProcess]) -> None:
    text = "import sys; result = [name in sys.modules for name in ('yaml', 'antigravity')]"
    with start(preload=("yaml", "antigravity", "no_such_module")) as confined:
        assert confined.ask({"text": text}).head["result"] == [True, False]


def test_no_interpreter_is_an_error_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/no/python")
    with pytest.raises(ConfinementUnavailableError, match="'/no/python'"):
        template.Template()


def test_one_that_cannot_be_imported_says_why(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def words(*_: object, **__: Any) -> list[str]:
        return ["/bin/sh", "-c", "echo ImportError: no numpy >&2; exit 1"]

    monkeypatch.setattr(template, "words", words)
    broken = template.Template()
    with pytest.raises(ConfinementUnavailableError, match="ImportError: no numpy"):
        broken.fork([], scratch=str(tmp_path), serve=TRIAL)
