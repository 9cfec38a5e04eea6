"""`datasets-core doctor`: what this machine offers, above all to confine the scripts of strangers with, tried out."""

from __future__ import annotations

import json
import os
import platform
import shutil
import tempfile
import time
from importlib import metadata
from typing import Any

from datasets_core import _version
from datasets_core.cli.wording import say
from datasets_core.confine import bwrap, landlock, limits
from datasets_core.confine.confined import Cage, Confined
from datasets_core.confine.layers import Layers, layers
from datasets_core.errors import DatasetsCoreError, DeniedAccessError

_NEEDED = ("pyarrow", "numpy", "fsspec", "huggingface_hub", "httpx2", "loky")
_OPTIONAL = (
    *("pandas", "polars", "torch", "tensorflow", "jax", "duckdb", "pillow", "soundfile", "torchcodec", "h5py", "pdfplumber"),
    *("faiss-cpu", "elasticsearch", "sqlalchemy", "s3fs", "pyspark", "apache-beam", "lxml", "zstandard", "lz4"),
)
_TRIALS = {
    "read a file outside": "open('/etc/passwd').close()",
    "list a folder outside": "import os; os.listdir('/')",
    "write a file outside": "open('/tmp/datasets-core-doctor', 'w').close()",
    "connect": "import socket; socket.create_connection(('127.0.0.1', 9), timeout=1)",
    "start a process": "import os; os.posix_spawn('/bin/true', ['true'], {})",
    "open a socket past Python": (
        "import ctypes\ncode = ctypes.CDLL(None, use_errno=True)\n"
        "if code.socket(2, 1, 0) < 0: raise PermissionError(ctypes.get_errno(), 'socket')"
    ),
}


def report(*, as_json: bool) -> int:
    """Print what there is, and what happens to scripts."""
    found = layers()
    facts = _facts(found)
    if as_json:
        say(json.dumps(facts, indent=2))
        return 0
    for title, entries in facts.items():
        if isinstance(entries, dict):
            say(f"{title}:")
            for name, value in entries.items():
                say(f"  {name}: {value}")
        else:
            say(f"{title}: {entries}")
    return 0


def _facts(found: Layers) -> dict[str, Any]:
    version = found.landlock
    facts: dict[str, Any] = {
        "datasets-core": _version.__version__,
        "Python": f"{platform.python_version()} on {platform.system()} {platform.release()}, {platform.machine()}",
        "Packages": _versions(_NEEDED),
        "Optional packages": _versions(_OPTIONAL),
        "Confinement": {
            "Landlock": f"ABI {version}: {', '.join(landlock.coverage(version))}" if version else "not there",
            "seccomp": ("there, refusals are reported" if found.notices else "there") if found.seccomp else "not there",
            "bwrap": _bwrap(found),
            "user": f"{os.geteuid()}, which gives up all capabilities in a confined process",
            "memory of a confined script": f"{limits.memory_bytes():,} bytes (setting confined_memory_bytes)",
        },
    }
    tried, holds = _tried() if found.can_confine else ({}, False)
    if tried:
        facts["Tried in a confined process"] = tried
    reason = found.reason or (
        "" if holds else "what was tried in a confined process was not denied, or it could not be started"
    )
    facts["Scripts that you name (a .py file)"] = "run as they are"
    facts["Scripts of strangers"] = (
        f"are refused because {reason}; trust_remote_code=True runs those that you trust"
        if reason
        else f"run confined by: {', '.join(found.words())}"
    )
    return facts


def _bwrap(found: Layers) -> str:
    path = found.bwrap or (bwrap.program() if shutil.which("bwrap") else None)
    if path is None:
        return "there, but does not work for this user" if shutil.which("bwrap") else "not there"
    return f"{path}, {'used' if found.bwrap and not found.landlock else 'not needed beside Landlock'}"


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    versions = {}
    for package in packages:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return versions


def _tried() -> tuple[dict[str, str], bool]:
    """What becomes of things that no script may do; whether all were denied."""
    told, began = {}, time.monotonic()
    scratch = tempfile.mkdtemp(prefix="datasets-core-doctor-")
    try:
        with Confined.start(Cage((), scratch), serve="datasets_core.confine.trial:serve") as confined:
            told["start"] = f"{time.monotonic() - began:.2f} s"
            for name, text in _TRIALS.items():
                try:
                    confined.ask({"text": text}, deadline=time.monotonic() + 10)
                    told[name] = "NOT DENIED"
                except DeniedAccessError as error:
                    told[name] = f"denied: {error.tried}"
    except DatasetsCoreError as error:
        return {**told, "failed": str(error)}, False
    return told, all(value != "NOT DENIED" for value in told.values())
