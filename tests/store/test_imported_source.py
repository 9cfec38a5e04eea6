"""What a function imports itself is part of its identity, loaded or not, with all that it imports in turn."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

_PROGRAM = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from datasets_core.store.fingerprint import Hasher
exec({source!r})
print(Hasher.hash(f))
try:
    f(0)
except ImportError:
    pass
print(Hasher.hash(f))
{change}
print(Hasher.hash(f))
"""

_FILES = {
    "pkg/__init__.py": "",
    "pkg/sub.py": "from .deep import K",
    "pkg/deep.py": "K = 1",
    "helpers.py": (
        "import functools\nimport importlib\nfrom deeper import K\nLIMIT = {1, 2}\n"
        "@functools.lru_cache\ndef g(): return importlib.import_module('dyn').K\n"
        "class A:\n  def m(s): return 1"
    ),
    "deeper.py": "K = 1",
    "dyn.py": "K = 1",
}


def _hashes(folder: Path, source: str, change: str = "") -> list[str]:
    for name, text in _FILES.items():
        path = folder / name
        if not path.exists():
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text)
    program = _PROGRAM.format(source=source, change=change)
    run = subprocess.run([sys.executable, "-c", program, str(folder)], capture_output=True, text=True, check=True)
    return run.stdout.split()


@pytest.mark.parametrize(
    ("body", "edited"),
    [
        ("from pkg import sub; return sub.K", "pkg/deep.py"),
        ("import pkg.sub; return pkg.sub.K", "pkg/__init__.py"),
        ("import helpers; return helpers.K", "deeper.py"),
        ("import helpers as h; return h.g()", "dyn.py"),
        ("import importlib; return importlib.import_module('dyn').K", "dyn.py"),
        ("return __import__('dyn').K", "dyn.py"),
    ],
)
def test_an_edited_file_counts_wherever_it_is_imported_and_a_loaded_module_does_not(
    tmp_path: Path, body: str, edited: str
) -> None:
    source = f"def f(r):\n  {body}"
    before = _hashes(tmp_path, source)
    (tmp_path / edited).write_text("K = 2")
    after = _hashes(tmp_path, source)

    assert len(set(before)) == len(set(after)) == 1
    assert before != after


@pytest.mark.parametrize(
    "change",
    [
        "import helpers; helpers.LIMIT = 5",
        "import helpers; helpers.other = 5",
        "open(sys.argv[1] + '/helpers.py', 'a').write('\\nK = 2')",
        "import helpers; helpers.A.m = lambda s: 2",
    ],
)
def test_what_was_changed_in_a_loaded_module_counts(tmp_path: Path, change: str) -> None:
    first, second, third = _hashes(tmp_path, "def f(r):\n  import helpers\n  return helpers.A().m()", change)

    assert first == second != third


def test_code_that_was_loaded_before_its_file_was_edited_is_not_the_files(tmp_path: Path) -> None:
    source = "def f(r):\n  import helpers\n  return helpers.A().m()"
    edit = "p = sys.argv[1] + '/helpers.py'; t = open(p).read(); open(p, 'w').write(t.replace('return 1', 'return 2'))"
    stale = _hashes(tmp_path, source, edit)[2]

    assert stale != _hashes(tmp_path, source)[0]


@pytest.mark.parametrize(
    "source",
    [
        "def f(r, name='dyn'):\n  import importlib\n  return importlib.import_module(name)",
        "def f(r, name='dyn'):\n  return __import__(name)",
        "def f(r):\n  import opens",
    ],
)
def test_an_import_of_what_only_the_run_decides_is_told(tmp_path: Path, source: str) -> None:
    (tmp_path / "opens.py").write_text("import importlib\ndef g(name): return importlib.import_module(name)")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        _hashes(tmp_path, source)

    assert "UnhashableError" in caught.value.stderr and "only its run decides" in caught.value.stderr
