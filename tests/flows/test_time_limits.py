"""Scripts that hang are stopped by `timeout=` and by Ctrl-C, say where they hung, and leave nothing behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from datasets_core.errors import ConfigurationError
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.scripting.sandbox.limits import layers

ROOT = Path(__file__).parents[2]
SCRIPT = """\
import os, re, sys, time
import datasets

FOLDER = {folder!r}


def hang():
    if {tells}:
        open(FOLDER + "/begun", "w").close()
    {how}  # HERE


{top}

class Slow(datasets.GeneratorBasedBuilder):
    def _info(self):
        {info}
        return datasets.DatasetInfo(features=datasets.Features({{"a": datasets.Value("int32")}}))

    def _split_generators(self, dl_manager):
        {splits}
        return [datasets.SplitGenerator(name="train", gen_kwargs={{}})]

    def _generate_examples(self):
        yield 0, {{"a": 0}}
        {rows}
        yield 1, {{"a": 1}}
"""
HOW = {
    "loop": "while True: pass",
    "sleep": "time.sleep(10**6)",
    "pipe": "with open(FOLDER + '/pipe') as pipe: pipe.read()",
    "expression": "re.match('(a+)+$', 'a' * 60 + 'b')",
}
PHASES = {
    "top": "importing it",
    "info": "creating its builder",
    "splits": "returning its splits",
    "rows": "generating the rows of split 'train'",
}


def _script(folder: Path, phase: str, how: str, *, tells: bool = False) -> Path:
    folder.mkdir()
    if how == "pipe":
        os.mkfifo(folder / "pipe")
    hooks = {name: "hang()" if name == phase else "pass" for name in PHASES}
    path = folder / "slow.py"
    path.write_text(SCRIPT.format(folder=str(folder), how=HOW[how], tells=tells, **hooks))
    return path


def _left(cache: Path) -> list[Path]:
    """What stands in a cache, but for locks and empty folders."""
    return [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("how", ["loop", "sleep", "pipe", "expression"])
def test_a_script_that_hangs_is_stopped(tmp_path, phase, how, stopped_in):
    path = _script(tmp_path / "slow", phase, how)

    load = lambda seconds: load_dataset(str(path), cache_dir=tmp_path / "cache", timeout=seconds)  # noqa: E731
    error, given = stopped_in(load, PHASES[phase], f"{path}, line 10")

    assert (error.path, error.seconds, error.split) == (str(path), given, "train" if phase == "rows" else None)
    assert error.row == (1 if phase == "rows" else None)
    assert _left(tmp_path / "cache") == []


@pytest.mark.skipif(not layers().can_sandbox, reason="nothing confines here")
@pytest.mark.parametrize("phase", PHASES)
def test_a_confined_script_that_hangs_is_stopped(tmp_path, phase, stopped_in):
    path, options = _script(tmp_path / "slow", phase, "loop"), {"cache_dir": tmp_path / "cache", "trust_remote_code": "sandbox"}

    error, given = stopped_in(lambda seconds: load_dataset(str(path), timeout=seconds, **options), PHASES[phase])

    assert str(path) in str(error)
    assert error.seconds == given
    assert _left(tmp_path / "cache") == []


def test_enough_time_changes_nothing(tmp_path):
    path = _script(tmp_path / "slow", "none", "loop")

    assert load_dataset(str(path), split="train", cache_dir=tmp_path / "cache", timeout=600)["a"][:] == [0, 1]
    assert load_dataset(str(path), split="train", cache_dir=tmp_path / "cache", timeout=600)["a"][:] == [0, 1]


def test_after_a_script_was_stopped_it_runs_again_from_the_start(tmp_path, stopped_in):
    path = _script(tmp_path / "slow", "rows", "pipe")
    stopped_in(lambda seconds: load_dataset(str(path), cache_dir=tmp_path / "cache", timeout=seconds), PHASES["rows"])
    (path.parent / "pipe").unlink()
    (path.parent / "pipe").write_text("")

    assert load_dataset(str(path), split="train", cache_dir=tmp_path / "cache", timeout=600)["a"][:] == [0, 1]


def test_a_builder_takes_a_limit_too(tmp_path, stopped_in):
    path = _script(tmp_path / "slow", "info", "loop")

    stopped_in(lambda s: load_dataset_builder(str(path), cache_dir=tmp_path / "cache", timeout=s), "creating its builder")


def test_a_thread_that_cannot_be_stopped_is_told_so_at_once(tmp_path):
    path, raised = _script(tmp_path / "slow", "top", "loop"), []

    def load():
        try:
            load_dataset(str(path), cache_dir=tmp_path / "cache", timeout=600)
        except ConfigurationError as error:
            raised.append(str(error))

    thread = threading.Thread(target=load)
    thread.start()
    thread.join()

    assert "main" in raised[0]
    assert "sandbox" in raised[0]


@pytest.mark.parametrize("timeout", [0, -1, "5", True])
def test_a_limit_that_is_none_is_refused(tmp_path, timeout):
    with pytest.raises(ConfigurationError, match="timeout"):
        load_dataset(str(tmp_path), timeout=timeout)


# -- Ctrl-C ------------------------------------------------------------------------------------------------------------

PROGRAM = """\
import sys
from datasets_core import load_dataset
try:
    load_dataset(sys.argv[1], cache_dir=sys.argv[2], **eval(sys.argv[3]))
except KeyboardInterrupt:
    print("interrupted")
"""


def _interrupted(path: Path, cache: Path, options: str) -> str:
    """What a program prints that loads a script, and is interrupted when the script hangs."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
    command = [sys.executable, "-c", PROGRAM, str(path), str(cache), options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True) as process:
        assert process.stdout is not None
        begun, end = path.parent / "begun", time.monotonic() + 300
        while not begun.exists() and process.poll() is None and time.monotonic() < end:
            threading.Event().wait(0.02)
        assert begun.exists()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        try:
            return process.communicate(timeout=300)[0]
        finally:
            process.kill()


@pytest.mark.parametrize(
    ("phase", "options"), [*((phase, "{}") for phase in PHASES), ("rows", "{'num_proc': 2, 'timeout': 600}")]
)
def test_an_interruption_leaves_nothing(tmp_path, phase, options):
    path = _script(tmp_path / "slow", phase, "sleep", tells=True)

    printed = _interrupted(path, tmp_path / "cache", options)

    assert printed == "interrupted\n"
    assert _left(tmp_path / "cache") == []
    (path.parent / "slow.py").write_text(path.read_text().replace("time.sleep(10**6)", "pass"))
    assert load_dataset(str(path), split="train", cache_dir=tmp_path / "cache")["a"][:] == [0, 1]
