"""What README and documentation show runs as it stands: the Python of a page, one block after the other, and commands."""

from __future__ import annotations

import codeop
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from datasets_core import config

ROOT = Path(__file__).parents[2]
_PLACES = {"HF_DATASETS_CACHE", "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE", "XDG_CACHE_HOME"}  # which come before HF_HOME
DOCS = ROOT / "docs"
COMMANDS = DOCS / "how-to" / "command.md"


def _blocks(page: Path, language: str) -> Iterator[tuple[int, str, str | None]]:
    """The line at which each block begins, its text, and the text block right below it, which is what it prints."""
    text = page.read_text(encoding="utf-8")
    for found in re.finditer(rf"^```{language}\n(.*?)^```\n(?:\n```text\n(.*?)^```)?", text, re.DOTALL | re.MULTILINE):
        yield text.count("\n", 0, found.start(1)), found.group(1), found.group(2)


PAGES = [
    page
    for page in [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
    if not {"_build", "reference"} & set(page.relative_to(ROOT).parts) and any(_blocks(page, "python"))
]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with what the README names of this checkout, which is the present one."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "scripts" / "demo", folder / "scripts" / "demo")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def online(hub: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The small Hub with the repository that the README names, for a user who is logged in."""
    rows = "a\n" + "\n".join(map(str, range(20)))
    card = "---\nconfigs:\n- config_name: en\n  data_files: en/*.csv\n---\n"
    repo = hub.repo("org/name", {"README.md": card, "en/train.csv": rows, "extra/1.csv": rows})
    repo.tag("v1")
    repo.branch("refs/convert/parquet")
    pyarrow.parquet.write_table(pyarrow.table({"a": [1]}), tmp_path / "0000.parquet")
    converted = {"default/train/0000.parquet": (tmp_path / "0000.parquet").read_bytes()}
    repo.commit(converted, delete=["README.md", "en/train.csv", "extra/1.csv"], branch="refs/convert/parquet")
    monkeypatch.setenv("HF_TOKEN", hub.token)
    return hub


@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")  # jax, where a page before imported it
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_its_python_runs(page: Path, checkout: Path, online: Any, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": "page"}
    done, skipped = 0, 0
    with config.using(cache_dir=str(checkout / "cache")):
        for line, text, printed in _blocks(page, "python"):
            block = text.replace("hf_…", online.token)
            capsys.readouterr()
            try:
                exec(compile("\n" * line + block, str(page), "exec", dont_inherit=True), names)
            except ImportError as error:
                package = getattr(error, "package", None) or error.name
                if not package or find_spec(package.partition(".")[0]) is not None:
                    raise
                skipped += 1
            except NameError:  # it comes from a block that needs a package
                if not skipped:
                    raise
            else:
                done += 1
                assert printed is None or capsys.readouterr().out == printed, f"{page}:{line}"
    assert done or skipped


def not_pasteable(block: str) -> str | None:
    """The first line of a block that a Python prompt refuses when the block is pasted, line by line."""
    entered: list[str] = []
    for line in [*block.splitlines(), ""]:
        entered.append(line)
        try:
            if codeop.compile_command("\n".join(entered)) is not None:
                entered = []
        except SyntaxError as error:
            return f"{line!r}: {error.msg}"
    return f"{entered[0]!r} has no end" if entered else None


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_its_python_can_be_pasted_into_a_prompt(page: Path) -> None:
    refused = [f"line {line}: {why}" for line, text, _ in _blocks(page, "python") if (why := not_pasteable(text))]
    assert not refused


@pytest.mark.parametrize(
    "block",
    [
        "for a in b:\n    c(a)\nd()\n",
        "class A:\n    b = 1\n\n    c = 2\n",
        "def f():\n    a = 1\n\n    return a\n",
        "a = (\n",
    ],
)
def test_blocks_that_a_prompt_refuses(block: str) -> None:
    assert not_pasteable(block)


def test_a_block_that_a_prompt_takes() -> None:
    assert not_pasteable("a = '''b\n\n c'''\n\nif a:\n    b()\nelse:\n    # c\n    d()\n") is None


def test_its_commands_run(checkout: Path, online: Any) -> None:
    (text,) = [block for _, block, _ in _blocks(COMMANDS, "sh") if block.startswith("datasets-core build")]
    environment = {name: value for name, value in os.environ.items() if name not in _PLACES}
    environment |= {"PYTHONPATH": str(ROOT), "HF_HOME": str(checkout / ".cache" / "huggingface"), "HF_ENDPOINT": online.url}
    for line in text.splitlines():
        if line.startswith("datasets-core view "):  # runs until Ctrl-C, as tests/viewer does
            continue
        words = [word.replace("~", str(checkout)) for word in shlex.split(line, comments=True)]
        command = [sys.executable, "-m", "datasets_core", *words[1:]]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert "org/penguins" in online.repos
