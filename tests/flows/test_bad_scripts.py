"""Scripts that are wrong say so by file, line, split, key and column: as they are, and in a confined process."""

from __future__ import annotations

import os
import pickle
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from datasets_core import errors
from datasets_core.errors import DatasetsCoreError, WorkerDiedError
from datasets_core.load import load_dataset
from datasets_core.scripting.sandbox.limits import layers

_of_table = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("bad_scripts.py")), run_name="bad_scripts"))
BAD, Bad, of_rows, script = _of_table.BAD, _of_table.Bad, _of_table.of_rows, _of_table.script
CONFINED = pytest.param("sandbox", marks=pytest.mark.skipif(not layers().can_sandbox, reason="nothing confines here"))

_PARTS = 'return [datasets.SplitGenerator(name="train", gen_kwargs={"n": 5, "parts": [0, 1]})]'


def _write(folder: Path, bad: Any) -> Path:
    path = folder / "bad.py"
    folder.mkdir()
    path.write_bytes(bad.raw if bad.raw is not None else bad.text.encode())
    for name, text in bad.beside.items():
        (folder / name).write_text(text)
    return path


def _error_of(path: Path, **options: object) -> DatasetsCoreError:
    with pytest.raises(DatasetsCoreError) as caught:
        load_dataset(str(path), cache_dir=path.parents[1] / "cache", **options)
    return caught.value


def _files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".lock"]


@pytest.mark.parametrize("trust", [None, CONFINED])
@pytest.mark.parametrize("name", BAD)
def test_an_error_names_what_is_wrong_and_where(tmp_path, name, trust):
    bad = BAD[name]
    path = _write(tmp_path / "bad", bad)
    here = [number for number, line in enumerate(bad.text.split("\n"), 1) if line.endswith("# HERE")]

    error = _error_of(path, trust_remote_code=trust, **bad.options)

    words = str(error)
    assert type(error).__name__ == bad.error, words
    assert [part for part in bad.words if part not in words] == [], words
    assert str(path) in words or not bad.names_script
    assert not (bad.line and here) or f"{path}, line {here[0]}" in words, words
    assert str(pickle.loads(pickle.dumps(error))) == words
    assert len(words) < 5000
    assert _files_below(tmp_path / "cache") == []


@pytest.mark.parametrize("name", ["raises what cannot be sent", "a wrong value in a list of dicts", "exits", "raises a group"])
def test_in_a_worker_process_an_error_says_the_same(tmp_path, name):
    bad = BAD[name]
    text = bad.text.replace('{"n": 5}', '{"n": 5, "parts": [0, 1]}').replace("(self, n)", "(self, n, parts)")
    path = _write(tmp_path / "bad", Bad(text, bad.error))
    here = [number for number, line in enumerate(text.split("\n"), 1) if line.endswith("# HERE")]

    error = _error_of(path, num_proc=2)

    assert type(error).__name__ == bad.error
    assert f"{path}, line {here[0]}" in str(error)


@pytest.mark.parametrize("trust", [None, CONFINED])
def test_an_interruption_of_the_script_itself_passes(tmp_path, trust):
    path = _write(tmp_path / "bad", Bad(of_rows("raise KeyboardInterrupt"), ""))

    with pytest.raises((KeyboardInterrupt, errors.DatasetGenerationError)):
        load_dataset(str(path), cache_dir=tmp_path / "cache", trust_remote_code=trust)


def test_a_script_that_ends_its_worker_is_told_by_its_part(tmp_path):
    text = script(
        splits='return [datasets.SplitGenerator(name="train", gen_kwargs={"n": [0, 1]})]',
        rows="import os\nyield n[0], {'a': 1, 't': ''}\nif n == [1]:\n    os._exit(3)",
    )
    path = _write(tmp_path / "bad", Bad(text, ""))

    with pytest.raises(WorkerDiedError, match=r"split 'train' \(part 2 of 2\) of bad"):
        load_dataset(str(path), cache_dir=tmp_path / "cache", num_proc=2)


# -- what is no text of a script ----------------------------------------------------------------------------------------


def test_a_folder_that_is_called_like_a_script_is_a_folder(tmp_path):
    (tmp_path / "bad.py").mkdir()

    with pytest.raises(errors.DataFilesNotFoundError, match=r"bad\.py"):
        load_dataset(str(tmp_path / "bad.py"))


def test_a_pipe_is_no_script(tmp_path):
    os.mkfifo(tmp_path / "bad.py")

    with pytest.raises(errors.DatasetNotFoundError, match=r"bad\.py"):
        load_dataset(str(tmp_path / "bad.py"))


def test_a_link_to_a_script_is_the_script(tmp_path):
    _write(tmp_path / "bad", Bad(script(), ""))
    (tmp_path / "other.py").symlink_to(tmp_path / "bad" / "bad.py")

    assert load_dataset(str(tmp_path / "other.py"), split="train", cache_dir=tmp_path / "cache").num_rows == 5


def test_a_link_to_nothing_is_told(tmp_path):
    (tmp_path / "bad.py").symlink_to(tmp_path / "gone.py")

    with pytest.raises(errors.DatasetNotFoundError, match=r"bad\.py"):
        load_dataset(str(tmp_path / "bad.py"))


def test_a_script_of_gigabytes_is_not_read(tmp_path):
    path = tmp_path / "bad.py"
    with path.open("wb") as file:
        file.truncate(1 << 30)

    with pytest.raises(errors.ScriptError, match="1,073,741,824 bytes"):
        load_dataset(str(path))


@pytest.mark.parametrize(
    "raw",
    [
        b"\xef\xbb\xbf" + script().encode(),
        script().replace("\n", "\r\n").encode(),
        script().replace("    ", "\t").encode(),
        b"# -*- coding: latin-1 -*-\n" + script(head="x = 'caf\u00e9'\nassert len(x) == 4").encode("latin-1"),
    ],
    ids=["mark", "line ends", "tabs", "latin-1"],
)
@pytest.mark.parametrize("trust", [None, CONFINED])
def test_texts_that_are_written_in_other_ways_run(tmp_path, raw, trust):
    path = _write(tmp_path / "bad", Bad("", "", raw=raw))

    assert load_dataset(str(path), split="train", cache_dir=tmp_path / "cache", trust_remote_code=trust).num_rows == 5


# -- what a script does besides -----------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:old")
def test_rows_come_whatever_else_a_script_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    besides = (
        "import os, sys, warnings",
        "os.chdir('/')",
        "sys.stdout.close()",
        "warnings.warn('old')",
        "sys.setrecursionlimit(100000)",
        "os.environ['HOME'] = '/nowhere'",
        "for i in range(n):",
        "    yield f'{parts}-{i}', {'a': i, 't': 'x'}",
    )
    path = _write(tmp_path / "bad", Bad(script(rows="\n".join(besides), splits=_PARTS, signature="n, parts"), ""))

    found = load_dataset(str(path), split="train", cache_dir="cache", num_proc=2)

    assert found.num_rows == 10
