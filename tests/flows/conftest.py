import gc
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Peer = Callable[..., Any]


def _module(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True, scope="module")
def _files_left_open() -> Iterator[None]:
    """Close the files that published scripts leave open here, where their warnings are ignored, and not during another test."""
    yield
    gc.collect()


@pytest.fixture(scope="session")
def exchange() -> ModuleType:
    """The form in which rows and features of both libraries are compared."""
    return _module("exchange")


@pytest.fixture(scope="session")
def every_kind() -> ModuleType:
    """The table that both libraries make."""
    return _module("every_kind")


@pytest.fixture(scope="session")
def hub_shapes() -> ModuleType:
    """Repositories of every shape, and calls on them."""
    return _module("hub_shapes")


@pytest.fixture(scope="session")
def hub_calls() -> ModuleType:
    """How a call is made on either library, and what comes of it as JSON."""
    return _module("hub_calls")


@pytest.fixture(scope="session")
def peer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Peer]:
    """Hugging Face `datasets` in a process of its own: `peer("load", kind="arrow", files=[...])`."""
    home = tmp_path_factory.mktemp("peer")
    python = os.environ.get("DATASETS_PEER_PYTHON", sys.executable)
    environment = {**os.environ, "HF_HOME": str(home), "HF_HUB_OFFLINE": "1", "PYTHONWARNINGS": "ignore"}
    with (
        (home / "errors").open("w+") as errors,
        subprocess.Popen(
            [python, str(Path(__file__).with_name("exchange.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        ) as process,
    ):
        assert process.stdin is not None
        assert process.stdout is not None
        requests, answers = process.stdin, process.stdout

        def ask(what: str, **details: Any) -> Any:
            requests.write(json.dumps({"do": what, **details}) + "\n")
            requests.flush()
            line = answers.readline()
            assert line, (home / "errors").read_text()
            answer = json.loads(line)
            assert "error" not in answer, answer["error"]
            return answer["found"]

        yield ask
        requests.close()
