"""Write what Hugging Face `datasets` makes of the repositories in `tests/flows/hub_shapes.py`: `golden/hub_shapes.json`.

DATASETS_PEER_PYTHON=/path/to/python python scripts/hub_golden.py
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

TESTS = Path(__file__).parents[1] / "tests"
FLOWS = TESTS / "flows"


def _flow(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, FLOWS / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _small_hub(name: str) -> Any:
    if "small_hub" not in sys.modules:
        package = ModuleSpec("small_hub", None, is_package=True)
        package.submodule_search_locations = [str(TESTS / "hub")]
        sys.modules["small_hub"] = importlib.util.module_from_spec(package)
    return importlib.import_module(f"small_hub.{name}")


def main() -> None:
    """Ask the peer, and write down its answers."""
    python = os.environ.get("DATASETS_PEER_PYTHON", sys.executable)
    shapes, hub = _flow("hub_shapes"), _small_hub("server").SmallHub()
    shapes.extend(hub)
    asked = [json.dumps([call[0], shapes.repository(call), call[2]]) for call in shapes.CALLS]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder, "home")
        home.mkdir()
        environment = _small_hub("fresh").Fresh(hub.url, home).environment(PYTHONPATH=None, PYTHONWARNINGS="ignore")
        command = [python, str(FLOWS / "hub_calls.py"), "datasets"]
        done = subprocess.run(command, input="\n".join(asked), stdout=subprocess.PIPE, text=True, env=environment, check=True)
    hub.stop()
    answers = [shapes.compared(json.loads(line), {}) for line in done.stdout.splitlines()]
    titled = zip(map(shapes.title, shapes.CALLS), answers, strict=True)
    lines = ",\n".join(f"{json.dumps(title)}: {json.dumps(answer)}" for title, answer in titled)
    (FLOWS / "golden" / "hub_shapes.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
