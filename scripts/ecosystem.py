"""Runs libraries that use `datasets` on this library instead, and prints a table of what passed.

    python scripts/ecosystem.py [library ...] [--envs FOLDER] [--keep] [--list]

For each group of libraries that go together it makes a virtual environment with this library, the wheel of `compat`, and
the libraries from PyPI, and runs their files of `tests/ecosystem` whole. Nothing but pip uses the network. `--envs FOLDER`
keeps the environments there and takes them from there again. pip obeys its own variables: a file that `PIP_CONSTRAINT`
names can pin `torch` to a build without CUDA, which is a tenth of the size.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
TESTS = ROOT / "tests" / "ecosystem"
LIMIT = 1800  # seconds for the checks of one library


@dataclass(frozen=True)
class Group:
    """Libraries that share an environment.

    Attributes:
        requirements: what the checks need besides the libraries.
        has_alias: True where `import datasets` gives this library, by the wheel of `compat`.
        is_loose: True to install the libraries without what they require: they allow only older releases of `datasets`.
    """

    requirements: tuple[str, ...] = ()
    has_alias: bool = True
    is_loose: bool = False


@dataclass(frozen=True)
class Library:
    """A library and its checks.

    Attributes:
        group: the environment that it runs in.
        requirement: what pip is asked for; by default its name.
        file: its file of `tests/ecosystem`; by default `test_<name>.py`.
        only: the checks of that file that are meant, as of `pytest -k`; by default all.
        reason: why it cannot run here; then it is not installed, and the table says so.
    """

    group: str
    requirement: str = ""
    file: str = ""
    only: str = ""
    reason: str = ""


_OF_LOOSE = (
    "accelerate", "addict", "aiohttp", "attrs", "av", "colorama", "dacite", "deepdiff", "draccus", "einops", "fire",
    "imageio", "jieba", "json_repair", "jsonlines", "matplotlib", "modelscope", "nltk", "numba", "omegaconf",
    "opencv-python-headless", "pandas", "peft", "posthog", "protobuf", "requests", "rouge", "scipy", "sentencepiece",
    "simplejson", "termcolor", "tiktoken", "torch", "torchaudio", "torchvision", "transformers", "trl", "tyro",
)  # fmt: skip

GROUPS: Mapping[str, Group] = {
    "trainers": Group(("pillow", "soundfile", "soxr", "librosa", "sentencepiece", "protobuf")),
    "plain": Group(("pandas", "pyarrow"), has_alias=False),
    "tuning": Group(("accelerate", "scikit-learn", "cleanvision")),
    "pictures": Group(("torchvision",)),
    "evaluation": Group(("accelerate", "orjson", "scikit-learn")),
    "lighteval": Group(("xxhash<4",)),  # it hashes texts, which xxhash 4 does not take
    "chains": Group(("pillow",)),
    "feedback": Group(("requests",)),
    "loose": Group(_OF_LOOSE, is_loose=True),
}

LIBRARIES: Mapping[str, Library] = {
    "transformers": Library("trainers"),
    "accelerate": Library("trainers"),
    "torch": Library("trainers", "torch torchdata"),
    "lightning": Library("trainers"),
    **{
        name: Library("plain", requirement, "test_plain.py", f"test_{name.partition('-')[0]}")
        for name, requirement in {
            "scikit-learn": "scikit-learn",
            "polars": "polars",
            "duckdb": "duckdb",
            "ibis": "ibis-framework[duckdb]",
            "narwhals": "narwhals",
            "jax": "jax",
            "ray": "ray[data]",
            "dask": "dask[dataframe]",
            "lightning-plain": "lightning torch",
        }.items()
    },
    **dict.fromkeys(("trl", "evaluate", "sentence-transformers", "setfit", "peft", "cleanlab"), Library("tuning")),
    "timm": Library("pictures"),
    **dict.fromkeys(("lm-eval", "datatrove", "mteb"), Library("evaluation")),
    "lighteval": Library("lighteval"),
    "datachain": Library("chains"),
    **dict.fromkeys(("distilabel", "argilla"), Library("feedback")),
    **dict.fromkeys(("llamafactory", "ms-swift"), Library("loose")),
    "lerobot": Library("loose", "lerobot<0.5"),  # later ones require Python 3.12
    "axolotl": Library("loose", "axolotl<0.20"),  # later ones require Python 3.12
}


@dataclass
class Row:
    """What became of the checks of a library."""

    library: str
    version: str = "-"
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    seconds: float = 0.0
    notes: tuple[str, ...] = ()
    is_wrong: bool = False


def environment(folder: Path, group: str, names: list[str]) -> Path:
    """Make an environment for libraries of a group, or take the one that is there, and return its interpreter.

    Raises:
        RuntimeError: pip could not install them.
    """
    python = folder / "bin" / "python"
    asked = [word for name in names for word in (LIBRARIES[name].requirement or name).split()]
    is_loose = GROUPS[group].is_loose
    requirements = ["pytest", *GROUPS[group].requirements, *asked]
    installed = folder / "installed.txt"
    if installed.exists() and set(requirements) <= set(installed.read_text().split()):
        return python
    if not python.exists():
        venv.create(folder, with_pip=True)
    ours = ["-e", str(ROOT), *([str(ROOT / "compat")] if GROUPS[group].has_alias else [])]
    command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    calls = [[*ours, *requirements]]
    if is_loose:
        calls = [[*ours, *(each for each in requirements if each not in asked)], ["--no-deps", *asked]]
    for call in calls:
        done = subprocess.run([*command, *call], text=True, capture_output=True)
        if done.returncode:
            raise RuntimeError(next((line for line in done.stderr.splitlines() if "ERROR" in line), done.stderr[-300:]))
    before = installed.read_text().split() if installed.exists() else []
    installed.write_text("\n".join(sorted({*before, *requirements})))
    return python


def version_of(python: Path, name: str) -> str:
    """Return the version of a distribution in an environment; "-" where it is not installed."""
    code = "import sys, importlib.metadata as m\ntry: print(m.version(sys.argv[1]))\nexcept m.PackageNotFoundError: print('-')"
    return subprocess.run([str(python), "-c", code, name], text=True, capture_output=True).stdout.strip()


def checked(python: Path, name: str, scratch: Path) -> Row:
    """Run the checks of a library in an environment."""
    library = LIBRARIES[name]
    row = Row(name, version_of(python, (library.requirement or name).split()[0].partition("[")[0].partition("<")[0]))
    file = TESTS / (library.file or f"test_{name.replace('-', '_')}.py")
    report = scratch / f"{name}.xml"
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-o", "filterwarnings=", f"--confcutdir={TESTS}"]
    command += ["--tb=short", "-rs", f"--junitxml={report}", f"--basetemp={scratch / name}", str(file)]
    command += ["-k", library.only] if library.only else []
    offline = dict.fromkeys(("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE", "HF_HUB_DISABLE_TELEMETRY"), "1")
    others = {"HF_HOME": str(scratch / "home"), "TOKENIZERS_PARALLELISM": "false", "WANDB_MODE": "disabled"}
    start = time.monotonic()
    try:
        subprocess.run(command, cwd=ROOT, env={**os.environ, **offline, **others}, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        row.notes = (f"not done after {LIMIT} s",)
    row.seconds = time.monotonic() - start
    if report.exists():
        cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        bad = [case for case in cases if case.find("failure") is not None or case.find("error") is not None]
        skips = [skip for case in cases for skip in case.findall("skipped")]
        row.failed, row.skipped = len(bad), len(skips)
        row.passed = len(cases) - len(bad) - len(skips)
        row.notes += tuple(f"failed: {case.get('name')}" for case in bad)
        row.notes += tuple(dict.fromkeys(f"skipped: {skip.get('message')}" for skip in skips))
    row.is_wrong = bool(row.failed or not row.passed)
    return row


def run(names: list[str], envs: Path) -> Iterator[Row]:
    """Run the checks of libraries, group by group."""
    for group in dict.fromkeys(LIBRARIES[name].group for name in names):
        members = [name for name in names if LIBRARIES[name].group == group]
        wanted = [name for name in members if not LIBRARIES[name].reason]
        try:
            python = environment(envs / group, group, wanted) if wanted else Path()
        except RuntimeError as error:
            yield from (Row(name, notes=(f"not installed: {error}",), is_wrong=True) for name in wanted)
            wanted = []
        for name in members:
            if LIBRARIES[name].reason:
                yield Row(name, notes=(f"cannot run: {LIBRARIES[name].reason}",))
            elif name in wanted:
                with tempfile.TemporaryDirectory(prefix=f"{name}-") as scratch:
                    yield checked(python, name, Path(scratch))


def table(rows: list[Row]) -> str:
    """Return the rows as text."""
    lines = [f"{'library':<22}{'version':<16}{'run':>5}{'passed':>8}{'failed':>8}{'skipped':>9}{'seconds':>9}  notes"]
    for row in rows:
        counts = f"{row.passed + row.failed:>5}{row.passed:>8}{row.failed:>8}{row.skipped:>9}{row.seconds:>9.1f}"
        lines.append(f"{row.library:<22}{row.version:<16}{counts}  {'; '.join(row.notes)}".rstrip())
    good = sum(bool(row.passed) and not row.is_wrong for row in rows)
    return "\n".join([*lines, f"{good} of {len(rows)} libraries ran whole, {sum(row.passed for row in rows)} checks passed"])


@contextmanager
def _folder(given: str | None, keep: bool) -> Iterator[Path]:
    if given:
        yield Path(given).resolve()
    elif keep:
        yield Path(tempfile.mkdtemp(prefix="ecosystem-"))
    else:
        with tempfile.TemporaryDirectory(prefix="ecosystem-") as folder:
            yield Path(folder)


def main() -> int:
    """Run what the command line names; return 1 where a check failed, or a library has none that ran."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("library", nargs="*", help="the libraries to run; by default all")
    parser.add_argument("--envs", help="the folder of the environments, which stay there")
    parser.add_argument("--keep", action="store_true", help="keep the environments without --envs too")
    parser.add_argument("--list", action="store_true", help="print the names of the libraries")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(LIBRARIES))
        return 0
    names = list(dict.fromkeys(arguments.library)) or list(LIBRARIES)
    unknown = [name for name in names if name not in LIBRARIES]
    if unknown:
        parser.error(f"unknown libraries {unknown}; known are {list(LIBRARIES)}")
    with _folder(arguments.envs, arguments.keep) as envs:
        rows = list(run(names, envs))
        if arguments.keep or arguments.envs:
            print(f"environments: {envs}")
    print(table(rows))
    return int(any(row.is_wrong for row in rows))


if __name__ == "__main__":
    sys.exit(main())
