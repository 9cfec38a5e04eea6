"""How a fresh interpreter is told to run one function of this library, with nothing of this process's paths or environment."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from datasets_core.confine.readable_places import root_folder, site_folders

ENVIRONMENT = {
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "4",  # each arena reserves 64 MiB of the address space, which is limited
    "JE_ARROW_MALLOC_CONF": "background_thread:false",  # pyarrow's, which starts a thread when it is imported
    "MALLOC_CONF": "background_thread:false",
}
_PASSED = ("TZ", "LD_LIBRARY_PATH")  # the local time, and what some interpreters cannot be started without
_TEXT = """
import importlib.util, json, os, sys
root, module, name, folders, arguments = sys.argv[1:]
sys.argv[:] = [""]
place = os.path.join(root, "datasets_core")
file = os.path.join(place, "__init__.py")
spec = importlib.util.spec_from_file_location("datasets_core", file, submodule_search_locations=[place])
sys.modules["datasets_core"] = library = importlib.util.module_from_spec(spec)
spec.loader.exec_module(library)
folders = json.loads(folders)
sys.path[:] = [path for path in sys.path if any(path == each or path.startswith(each + os.sep) for each in folders)]
sys.path += [each for each in folders if each not in sys.path]
getattr(importlib.import_module(module), name)(**json.loads(arguments))
"""


def environment() -> dict[str, str]:
    """The environment of a fresh interpreter."""
    return {name: os.environ[name] for name in _PASSED if os.environ.get(name)} | ENVIRONMENT


def words(module: str, name: str, **arguments: Any) -> list[str]:
    """The command line of an interpreter that runs one function.

    Its modules come from the standard library, from where packages are installed, and from the folder of this library alone.

    Args:
        module, name: the function, of this library.
        arguments: plain values for it.

    >>> words("datasets_core.confine.forks", "run", control=3)[1:5]
    ['-I', '-X', 'utf8', '-c']
    """
    told = [root_folder(), module, name, json.dumps(site_folders()), json.dumps(arguments)]
    return [sys.executable, "-I", "-X", "utf8", "-c", _TEXT, *told]
