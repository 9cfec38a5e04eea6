"""Runs tests under each Python that this machine has, and prints a table of the results.

    python scripts/pythons.py
    python scripts/pythons.py --python 3.13 --keep /tmp/pythons tests/builders tests/stream

For each of Python 3.11 to 3.14 that is found (`python3.x` in PATH, pyenv, uv), a virtual environment is made, this checkout is
installed with the extra `test`, and pytest runs the given tests. Ends with exit code 1 if a Python fails.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
VERSIONS = ("3.11", "3.12", "3.13", "3.14")
TESTS = (
    "tests/test_architecture.py",
    "tests/test_config.py",
    "tests/test_face.py",
    "tests/test_lazy.py",
    "tests/test_load.py",
    "tests/builders/test_csv.py",
    "tests/dataset/transforms/test_map.py",
    "tests/store/test_fingerprint.py",
)


class Result(NamedTuple):
    """What came of one Python."""

    version: str
    step: str
    summary: str
    seconds: float

    @property
    def is_good(self) -> bool:
        """True if the tests ran and passed."""
        return self.step == "passed"


def _version_of(python: str) -> str | None:
    """Return the version of an interpreter, None for one that does not start: a shim of pyenv may have none behind it."""
    code = "import sys; print('%d.%d.%d' % sys.version_info[:3])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def interpreters(versions: tuple[str, ...] = VERSIONS) -> dict[str, str]:
    """Return the interpreters by version, such as "3.12": the newest patch of each."""
    homes = (Path(os.environ.get("PYENV_ROOT", "~/.pyenv")) / "versions", Path("~/.local/share/uv/python"))
    found: dict[str, tuple[tuple[int, ...], str]] = {}
    for version in versions:
        candidates = [str(path) for home in homes for path in home.expanduser().glob(f"*/bin/python{version}")]
        candidates += [path for path in [shutil.which(f"python{version}")] if path]
        for python in candidates:
            full = _version_of(python)
            if full is None or not full.startswith(f"{version}."):
                continue
            rank = tuple(map(int, full.split(".")))
            if version not in found or rank > found[version][0]:
                found[version] = rank, python
    return {version: python for version, (_, python) in found.items()}


def tried(python: str, folder: Path, tests: list[str]) -> Result:
    """Return what the tests give under an interpreter, in an environment in `folder`; an existing one is used again."""
    version, begun = _version_of(python) or "?", time.perf_counter()
    inside = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    steps = [
        ("venv", [python, "-m", "venv", str(folder)]),
        ("install", [str(inside), "-m", "pip", "install", "-q", "-e", f"{ROOT}[test]"]),
        ("tests", [str(inside), "-m", "pytest", "-p", "no:cacheprovider", "-n", "0", *tests]),
    ]
    printed = ""
    for step, command in steps:
        done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        printed = done.stdout
        if done.returncode:
            print(f"--- Python {version}: {step}\n{printed[-6000:]}", flush=True)
            return Result(version, f"{step} failed", _last(printed), time.perf_counter() - begun)
    return Result(version, "passed", _last(printed), time.perf_counter() - begun)


def _last(printed: str) -> str:
    """Return the line of pytest with the numbers of tests, else the last one."""
    lines = [line.strip("= ") for line in printed.splitlines() if line.strip()]
    return next((line for line in reversed(lines) if re.search(r"\d+ (passed|failed|error)", line)), lines[-1] if lines else "")


def main() -> int:
    """Print a row for each Python; the result is the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "tests", nargs="*", default=list(TESTS), help="files or folders of tests, and options of pytest after --"
    )
    parser.add_argument("--python", action="append", choices=VERSIONS, help="only this version; may be given several times")
    parser.add_argument("--keep", type=Path, help="folder of the environments, which are kept for the next run")
    asked = parser.parse_args()
    wanted = tuple(asked.python or VERSIONS)
    found = interpreters(wanted)
    results = []
    with tempfile.TemporaryDirectory() as made:
        for python in found.values():
            version = _version_of(python)
            results.append(tried(python, (asked.keep or Path(made)) / f"python-{version}", asked.tests))
    print(f"{'Python':8} {'result':16} {'seconds':>8}  tests")
    for result in results:
        print(f"{result.version:8} {result.step:16} {result.seconds:8.0f}  {result.summary}")
    for version in wanted:
        if version not in found:
            print(f"{version:8} {'not installed':16}")
    return 0 if results and all(result.is_good for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
