"""`datasets-core doctor` says what there is, what was tried, and what happens to scripts."""

import dataclasses
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config, load_dataset
from datasets_core.cli import maintenance
from datasets_core.cli.main import main
from datasets_core.cli.terminal import PlainFormatter, counted, in_flags, plain, say
from datasets_core.fetch.disk_cache import IndexCache
from datasets_core.optional import is_installed
from datasets_core.scripting.sandbox import limits
from datasets_core.scripting.sandbox.limits import layers


@pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")
def test_it_tries_the_cage_and_says_what_confines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    said = capsys.readouterr().out
    assert "Untrusted scripts: run in the sandbox: " in said
    assert "read a file outside: denied: read '/etc/passwd'" in said
    assert "NOT DENIED" not in said
    assert "pyarrow: " in said


def test_it_says_why_scripts_are_refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(limits, "layers", lambda: dataclasses.replace(layers(), landlock=0, bwrap=None, seccomp=False))
    assert main(["doctor", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["Untrusted scripts"].startswith("are refused because ")
    assert facts["Confinement"]["Landlock"] == "not available"
    assert "Tried in a sandboxed process" not in facts


def test_doctor_lists_what_each_extra_adds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    extras = json.loads(capsys.readouterr().out)["Extras"]
    declared = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert set(maintenance._EXTRAS) == set(declared) - maintenance._FOR_DEVELOPERS
    assert extras["pandas"] == f"{maintenance._EXTRAS['pandas']} (installed)"
    assert extras["spark"].endswith("(pip install 'datasets_core[spark]')") or is_installed("pyspark")


def test_the_shell_completes_commands(tmp_path: Path) -> None:
    pytest.importorskip("argcomplete")
    line = "datasets-core ca"
    asked = {
        **os.environ,
        "_ARGCOMPLETE": "1",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
        "_ARGCOMPLETE_STDOUT_FILENAME": str(tmp_path / "out"),
    }
    subprocess.run([sys.executable, "-m", "datasets_core"], env=asked, check=True, timeout=60)
    assert (tmp_path / "out").read_text().strip() == "cache"


# `verify` and `cache`.


def test_the_list_is_also_json_and_sorted(built: str, cache: str, table: str, capsys: pytest.CaptureFixture[str]) -> None:
    with config.using(cache_dir=cache):
        load_dataset(table, split="train").map(lambda row: {"double": 2 * row["mass"]})
    Path(table).with_name("more.csv").write_text("a\n" + "1234567\n" * 999)
    assert main(["build", str(Path(table).with_name("more.csv")), "--cache-dir", cache]) == 0
    capsys.readouterr()
    assert main(["cache", "ls", "--json", "--sort", "size", "--cache-dir", cache]) == 0
    large, small = map(json.loads, capsys.readouterr().out.splitlines())
    assert (large["rows"], small["rows"], small["folder"], small["sources"]) == ({"train": 999}, {"train": 3}, built, [table])
    assert large["bytes"] > small["bytes"] > 0 == large["results_bytes"] < small["results_bytes"]
    assert main(["cache", "ls", "--sort", "age", "--cache-dir", cache]) == 0
    head, first, second, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "ROWS", "SIZE", "RESULTS", "AGE", "SOURCE"]
    assert (table in first, "more.csv" in second, total.startswith("2 datasets, ")) == (True, True, True)
    assert main(["cache", "rm", "csv", "--yes", "--cache-dir", cache]) == 0  # with the results in their folders
    assert main(["cache", "ls", "--names", "--cache-dir", cache]) == 0
    assert not capsys.readouterr().out.splitlines()[2:]


def _shard(folder: str) -> Path:
    return next(Path(folder).glob("*.arrow"))


def test_a_sound_dataset_verifies(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", built]) == 0
    assert capsys.readouterr().out.startswith(f"good {built}: 1 shard, 3 rows,")


def test_one_flipped_bit_is_found_and_named(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    shard = _shard(built)
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    assert main(["verify", built]) == 1
    assert f"BAD  {shard}: the shard has sha256" in capsys.readouterr().out


def test_a_missing_shard_is_named(built: str, capsys: pytest.CaptureFixture[str]) -> None:
    shard = _shard(built)
    shard.unlink()
    assert main(["verify", built]) == 1
    assert f"{shard}: the shard is missing" in capsys.readouterr().out


def test_a_folder_without_datasets_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["verify", str(tmp_path)]) == 1
    assert "No prepared dataset" in capsys.readouterr().err


def test_a_folder_of_tensorflow_datasets_verifies(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden = Path(__file__).parents[1] / "tfds" / "golden" / "ordered" / "1.0.0"
    folder = Path(shutil.copytree(golden, tmp_path / "ordered" / "1.0.0"))
    assert main(["verify", str(folder)]) == 0
    assert capsys.readouterr().out.startswith(f"good {folder}: 2 shards, 20 rows")
    shard = folder / "ordered-train.tfrecord-00001-of-00002"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    assert main(["verify", str(folder)]) == 1
    assert "BAD" in (told := capsys.readouterr().out) and str(shard) in told


def test_a_name_of_the_cache_verifies_too(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = os.path.relpath(built, cache)
    for part in (name, name.partition("/")[0]):
        assert main(["verify", part, "--cache-dir", cache]) == 0
        assert capsys.readouterr().out.startswith(f"good {built}: ")


def test_a_dataset_of_the_hub_verifies_by_its_name_there(hub: Any, capsys: pytest.CaptureFixture[str]) -> None:
    hub.repo("org/data", {"train.csv": "a\n1\n"})
    assert main(["build", "org/data"]) == 0
    capsys.readouterr()
    assert main(["verify", "org/data"]) == 0
    assert "good" in capsys.readouterr().out
    assert main(["cache", "rm", "org/data", "--yes"]) == 0
    assert main(["verify", "org/data"]) != 0


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 minutes"), (61, "1 minute"), (7300, "2 hours"), (86_401, "1 day"), (900_000, "10 days")]
)
def test_the_list_tells_age_and_source(
    seconds: int, words: str, built: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]
) -> None:
    then = time.time() - seconds
    os.utime(os.path.join(built, "dataset_info.json"), (then, then))
    assert main(["cache", "ls", "--cache-dir", cache]) == 0
    head, row, total = capsys.readouterr().out.splitlines()
    assert head.split() == ["NAME", "ROWS", "SIZE", "AGE", "SOURCE"]
    assert row.endswith(f"  {words}  {table}")
    assert row.index(table) == head.index("SOURCE")
    assert total.startswith("1 dataset, ")


def test_the_list_counts_the_sources_past_the_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.csv").write_text("x\n1\n")
    words = ["csv", "--data-files", str(tmp_path / "*.csv"), "--cache-dir", str(tmp_path / "cache")]
    assert main(["build", *words]) == 0
    capsys.readouterr()
    assert main(["cache", "ls", "--cache-dir", str(tmp_path / "cache")]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith(f"  {tmp_path}/a.csv (+ 2 more)")


def test_the_cache_is_listed_and_removed_by_name(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "ls", "--names", "--cache-dir", cache]) == 0
    name = capsys.readouterr().out.strip()
    assert name == "/".join(os.path.relpath(built, cache).split("/")[:2])
    assert main(["cache", "ls", "--cache-dir", cache]) == 0
    assert capsys.readouterr().out.splitlines()[1].startswith(f"{name}  train 3  ")
    assert main(["cache", "rm", name, "--yes", "--cache-dir", cache]) == 0
    assert not os.path.exists(built)


def test_nothing_is_removed_unasked(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "rm", os.path.relpath(built, cache), "--cache-dir", cache]) == 1
    assert re.search(r"Removing 1 dataset \(.* kB\) needs confirmation\. Pass --yes\.", capsys.readouterr().err)
    assert os.path.exists(built)


def test_removing_what_is_not_there_is_an_error(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cache", "rm", "nobody", "--yes", "--cache-dir", cache]) == 1
    assert "No dataset 'nobody'" in capsys.readouterr().err


def test_gc_removes_a_dead_build_and_spares_a_finished_one(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    dead = Path(f"{built}.incomplete-999999999-abcd")
    dead.mkdir()
    (dead / "job.arrow").write_bytes(b"x" * 100)
    for path in (dead / "job.arrow", dead):
        os.utime(path, (0, 0))
    assert main(["cache", "gc", "--dry-run", "--cache-dir", cache]) == 0
    assert dead.exists()
    assert main(["cache", "gc", "--cache-dir", cache]) == 0
    assert str(dead) in capsys.readouterr().out
    assert not dead.exists()
    assert os.path.exists(built)


def test_gc_removes_indexes_that_nobody_used_for_months(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    kept = IndexCache(os.path.join(cache, "row_indexes"))
    for key in ("old", "new"):
        kept.put(key, b"value")
    old = min(path for path in Path(kept.folder).rglob("*") if path.is_file())
    os.utime(old, (1, 1))
    assert main(["cache", "gc", "--cache-dir", cache]) == 0
    assert str(old) in capsys.readouterr().out
    assert len([path for path in Path(kept.folder).rglob("*") if path.is_file()]) == 1


def test_gc_removes_a_dead_download_and_spares_a_fresh_one(built: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    downloads = Path(cache) / "downloads"
    downloads.mkdir(exist_ok=True)
    dead, fresh = downloads / "dead.part", downloads / "fresh.part"
    for path in (dead, Path(f"{dead}.plain"), fresh):
        path.write_bytes(b"x" * 100)
    os.utime(dead, (0, 0))
    assert main(["cache", "gc", "--dry-run", "--cache-dir", cache]) == 0
    assert "200 B would be freed" in capsys.readouterr().out
    assert dead.exists()
    assert main(["cache", "gc", "--cache-dir", cache]) == 0
    assert re.search(rf"^download +200 B  {re.escape(str(dead))}$", capsys.readouterr().out, re.MULTILINE)
    assert sorted(path.name for path in downloads.glob("*.part*")) == ["fresh.part"]


# `new` writes a script that builds, with a test that passes.


def test_the_script_builds_as_it_stands(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", "my_birds", "--dir", str(tmp_path)]) == 0
    assert main(["head", str(tmp_path / "my_birds" / "my_birds.py"), "--cache-dir", cache, "-n", "1"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == '{"text": "It works.", "label": 1}'


def test_its_own_test_passes(tmp_path: Path) -> None:
    assert main(["new", "my_birds", "--dir", str(tmp_path)]) == 0
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(tmp_path),
        str(tmp_path / "my_birds"),
    ]
    environment = {"PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(tmp_path), "PATH": ""}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_what_exists_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_birds").mkdir()
    assert main(["new", "my_birds", "--dir", str(tmp_path)]) == 1
    assert "already exists" in capsys.readouterr().err
    assert list((tmp_path / "my_birds").iterdir()) == []


@pytest.mark.parametrize("name", ["My_birds", "my-birds", "1birds", "../birds", ""])
def test_a_name_that_is_none_is_refused(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["new", name, "--dir", str(tmp_path)]) == 1
    assert "is not a valid dataset name" in capsys.readouterr().err


# Counts, and advice in flags.


@pytest.mark.parametrize(("count", "words"), [(0, "0 shards"), (1, "1 shard"), (2, "2 shards"), (1200, "1,200 shards")])
def test_one_is_singular(count: int, words: str) -> None:
    assert counted(count, "shard") == words


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("again with download_mode='force_redownload', or", "again with --force, or"),
        ("or pass verification_mode='no_checks'.", "or pass --verification-mode no_checks."),
        ("or pass the files as data_files=.", "or pass the files as --data-files."),
        ("load_dataset('csv', data_files='http://a/b')", "datasets-core build csv --data-files 'http://a/b'"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_arguments_become_flags(message: str, words: str) -> None:
    assert in_flags(message) == words


OBEYED = [chr(code) for code in range(256) if not chr(code).isprintable() and chr(code) not in "\t\n\xa0\xad"]


def test_nothing_that_a_terminal_obeys_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n\taé" + "".join(OBEYED) + "\u202e\u2066"
    say(text)
    said = capsys.readouterr().out
    assert not set(said) & {*OBEYED, "\u202e", "\u2066"}
    assert said.startswith("\n\taé\\u0000")
    record = logging.LogRecord("a", logging.INFO, "a.py", 1, "%s", ("\x1b[2J",), None)
    assert PlainFormatter().format(record) == "\\u001b[2J"


def test_json_stays_what_it_is() -> None:
    value = {"a\x9b": ["\x7f", "\u202e", "ü\x1b"]}
    assert json.loads(plain(json.dumps(value, ensure_ascii=False, indent=2))) == value
