"""Writes `tests/corpus/golden/<name>.json`: what Hugging Face `datasets` 2.21.0 makes of each script of the corpus.

    python scripts/corpus_golden.py [NAME ...]

It is run in an interpreter that has that version, the last that runs every kind of script, and the packages that scripts need.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import Any

CORPUS = Path(__file__).parents[1] / "tests" / "corpus"


def _script(calls: Any, name: str, folder: str) -> str:
    """The script, or a copy of its folder under a name that this library can import."""
    if "." not in name:
        return str(calls.script(name))
    other = name.replace(".", "_")
    target = shutil.copytree(CORPUS / name, os.path.join(folder, other))
    return shutil.move(os.path.join(target, f"{name}.py"), os.path.join(target, f"{other}.py"))


def _built(datasets: Any, script: str, arguments: dict[str, Any], cache: str) -> tuple[dict[Any, Any], list[str]]:
    """The splits, and the names of those without rows, which this library builds and cannot read."""
    try:
        return datasets.load_dataset(script, cache_dir=cache, trust_remote_code=True, **arguments), []
    except ValueError as error:
        if "corresponds to no data" not in str(error):
            raise
    builder = datasets.load_dataset_builder(script, cache_dir=cache, trust_remote_code=True, **arguments)
    full = [name for name, split in builder.info.splits.items() if split.num_examples]
    empty = [name for name in builder.info.splits if name not in full]
    return {name: builder.as_dataset(split=name) for name in full}, empty


def _loaded(datasets: Any, calls: Any, script: str, arguments: dict[str, Any], cache: str) -> dict[str, Any]:
    try:
        found: dict[str, Any] = calls.described(*_built(datasets, script, arguments, cache))
    except Exception as error:  # what a script is refused for is a result too
        inner: BaseException = error
        while type(inner).__name__ == "DatasetGenerationError" and inner.__cause__ is not None:
            inner = inner.__cause__
        message = re.sub(r"http://127\.0\.0\.1:\d+", "", str(inner)).replace(str(CORPUS), "").strip()
        return {"error": type(inner).__name__, "message": message.split("\n")[0][:160]}
    return found


def golden(datasets: Any, calls: Any, name: str, server: str) -> dict[str, Any]:
    """Everything that is known of one script."""
    with tempfile.TemporaryDirectory() as folder:
        script = _script(calls, name, folder)
        configs = datasets.get_dataset_config_names(script, trust_remote_code=True)
        default = datasets.get_dataset_default_config_name(script, trust_remote_code=True)
        todo = calls.CALLS.get(name) or [{"name": config} if config != "default" else {} for config in configs]
        loads = []
        for i, call in enumerate(todo):
            arguments = calls.arguments(datasets, name, call, server)
            loads.append({"call": call, **_loaded(datasets, calls, script, arguments, os.path.join(folder, str(i)))})
    return {"config_names": configs, "default_config": default, "loads": loads}


def _text(found: dict[str, Any]) -> str:
    """What was found as JSON, a line for each load."""
    loads = ",\n".join(json.dumps(load, ensure_ascii=False) for load in found["loads"])
    head = json.dumps({key: value for key, value in found.items() if key != "loads"}, ensure_ascii=False)
    return f'{head[:-1]}, "loads": [\n{loads}\n]}}\n'


def main() -> None:
    """Write the files of the named scripts, or of all."""
    with tempfile.TemporaryDirectory() as home:
        os.environ |= {"HF_HOME": home, "HF_DATASETS_DISABLE_PROGRESS_BARS": "1"}
        import datasets

        if datasets.__version__ != "2.21.0":
            raise SystemExit(f"This is datasets {datasets.__version__}; run it where datasets==2.21.0 is installed.")
        datasets.disable_progress_bars()
        datasets.logging.set_verbosity(50)
        calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))
        target = CORPUS / "golden"
        target.mkdir(exist_ok=True)
        with calls.served() as server:
            for name in sys.argv[1:] or calls.names():
                found = golden(datasets, calls, name, server)
                (target / f"{name}.json").write_text(_text(found), encoding="utf-8")
                for load in found["loads"]:
                    rows = {split: made["num_rows"] for split, made in load.get("splits", {}).items()}
                    print(name, load["call"], load.get("error") or rows)


if __name__ == "__main__":
    main()
