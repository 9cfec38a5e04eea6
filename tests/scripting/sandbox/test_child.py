"""The surroundings of a confined process, as it finds them itself."""

import os
from collections.abc import Callable
from typing import Any

import pytest

from datasets_core.scripting.sandbox.limits import layers
from datasets_core.scripting.sandbox.process import SandboxedProcess

pytestmark = pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
Run = Callable[..., Any]


def test_the_layers_that_hold_are_told(confined: SandboxedProcess) -> None:
    assert confined.layers[:2] == ("limits", "capabilities")
    assert "seccomp" in confined.layers


def test_it_leads_a_session_of_its_own_without_input(run: Run) -> None:
    found = run("import os, sys; result = [os.getsid(0) == os.getpid(), sys.stdin.read()]")
    assert found == [True, ""]


def test_home_and_temporary_files_are_in_its_scratch_folder(run: Run, confined: SandboxedProcess) -> None:
    scratch = os.path.realpath(confined.sandbox.scratch)
    text = "import os, tempfile; result = [os.getcwd(), os.path.expanduser('~'), tempfile.gettempdir(), oct(os.umask(0o77))]"
    assert run(text) == [scratch, f"{scratch}/home", f"{scratch}/tmp", "0o77"]


def test_modules_come_from_where_packages_are_installed(run: Run) -> None:
    paths = run("import sys; result = sys.path")
    assert "" not in paths and os.getcwd() not in paths
    assert run("import sys; result = [sys.flags.isolated, sys.dont_write_bytecode, sys.argv]") == [1, True, [""]]


def test_each_process_draws_chances_of_its_own(run: Run, confined: SandboxedProcess) -> None:
    text = "import random, numpy as np, uuid; result = [random.random(), np.random.rand(), str(uuid.uuid4())]"
    with SandboxedProcess.start(
        type(confined.sandbox)((), confined.sandbox.scratch + "2"), serve="datasets_core.scripting.sandbox.protocol:serve"
    ) as other:
        drawn = other.ask({"text": text}).head["result"]
    assert not set(run(text)) & set(drawn)


def test_a_function_that_is_not_there_is_an_error(tmp_path: object) -> None:
    from datasets_core.errors import DatasetsCoreError
    from datasets_core.scripting.sandbox.limits import Sandbox

    with pytest.raises(DatasetsCoreError, match="no_such_function"):
        SandboxedProcess.start(
            Sandbox((), f"{tmp_path}/scratch"), serve="datasets_core.scripting.sandbox.protocol:no_such_function"
        )
