"""Cages to try: a confined process that runs text, and a user without rights to start one as."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core.scripting.sandbox.limits import Sandbox
from datasets_core.scripting.sandbox.process import SandboxedProcess

TRIAL = "datasets_core.scripting.sandbox.protocol:serve"
NOBODY = 65534

Run = Callable[..., Any]


@pytest.fixture
def confined(tmp_path: Path) -> Iterator[SandboxedProcess]:
    """One confined process, which may read the folder `inputs` that it finds `note.txt` in."""
    inputs = tmp_path / "inputs"
    inputs.mkdir()
    (inputs / "note.txt").write_text("a note")
    with SandboxedProcess.start(
        Sandbox((str(inputs),), str(tmp_path / "scratch"), script="/there/script.py"), serve=TRIAL
    ) as process:
        yield process


@pytest.fixture
def run(confined: SandboxedProcess) -> Run:
    """Run a text confined, and have what it leaves as `result`."""
    return lambda text, **options: confined.ask({"text": text, "path": "/there/script.py"}, **options).head["result"]


@pytest.fixture(scope="session")
def as_nobody(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Run a text in an interpreter of a user without any rights, unconfined, and have what it prints."""
    if os.geteuid() == 0:
        closed = _closed_folder(os.path.realpath(sys.executable))
        place = tmp_path_factory.mktemp("opened")
        command = [*_opened(closed, place), "setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        command += ["--bounding-set=-all", "--inh-caps=-all"]
    else:
        command = []
    words = [*command, sys.executable, "-c"]
    if subprocess.run([*words, "pass"], capture_output=True, cwd="/").returncode != 0:
        pytest.skip("no interpreter can be started as another user here")

    def started(text: str) -> str:
        code = f"import sys; sys.path.insert(0, {str(Path(__file__).parents[2])!r})\n{text}"
        done = subprocess.run([*words, code], capture_output=True, text=True, cwd="/", timeout=100)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return started


def _closed_folder(path: str) -> str | None:
    """The outermost folder above `path` that others may not enter."""
    for folder in reversed(Path(path).parents):
        if not folder.stat().st_mode & 0o001:
            return str(folder)
    return None


def _opened(closed: str | None, place: Path) -> list[str]:
    """A command that runs the rest of its line where that folder is open, and holds nothing but what the interpreter needs."""
    if closed is None:
        return []
    inside = place / os.path.relpath(sys.base_prefix, closed)
    inside.mkdir(parents=True)
    for folder in (place, *inside.parents):
        if folder.is_relative_to(place):
            folder.chmod(0o755)
    script = (
        f'mount --make-rprivate / && mount --bind {sys.base_prefix} {inside} && mount --rbind {place} {closed} && exec "$@"'
    )
    return ["unshare", "-m", "sh", "-c", script, "sh"]
