"""The rows of a stream as batches of one schema, with states behind them."""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from datasets_core.config import using
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError, FileInPlaceError
from datasets_core.features.base import Value
from datasets_core.stream.io.write import StreamBatches, WriteJournal, header_of, holds, parts_of, shard_name, writing_folder
from datasets_core.stream.iterable import IterableDataset


def test_every_batch_has_a_state_that_goes_on_behind_it() -> None:
    stream = IterableDataset.from_dict({"a": list(range(23))}).filter(lambda row: row["a"] % 3)
    rows = StreamBatches(stream, 4)
    seen = []
    for batch, state in rows.behind(None, 0):
        seen += batch.column("a").to_pylist()
        rest = [
            each for more, _ in rows.behind(json.loads(json.dumps(state())), len(seen)) for each in more.column("a").to_pylist()
        ]
        assert seen + rest == [each for each in range(23) if each % 3]


def test_types_that_nobody_told_are_those_of_the_first_rows() -> None:
    rows = StreamBatches(IterableDataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": row["a"] / 2}))
    assert rows.features == {"a": Value("int64"), "b": Value("float64")}
    assert rows.sample.num_rows == 0 and rows.sample.column_names == ["a", "b"]


def test_rows_are_told_apart_by_what_makes_them() -> None:
    stream = IterableDataset.from_dict({"a": [1, 2]})
    signature = StreamBatches(stream).signature()
    assert signature == StreamBatches(IterableDataset.from_dict({"a": [1, 2]})).signature()
    assert signature != StreamBatches(IterableDataset.from_dict({"a": [1, 3]})).signature()
    assert signature != StreamBatches(stream, 7).signature()
    assert signature == json.loads(json.dumps(signature))


def test_a_function_without_identity_is_never_the_same() -> None:
    handle = threading.Lock()
    stream = IterableDataset.from_dict({"a": [1, 2]}).map(lambda row: {"b": str(handle is None)})
    assert StreamBatches(stream).signature() != StreamBatches(stream).signature()


# Writes of streams that are killed: the next one goes on, and ends with the bytes of one that was not.

WRITER = """
import os, sys, time
from datasets_core import IterableDataset, Value
from datasets_core.io import sinks as stream_sinks; from datasets_core.stream.io import write as stream_writing
from datasets_core.features.schema import Features
stream_writing._SETTLED_BYTES = 4000
stream_sinks.GROUP_BYTES = 8000
def slow(row):
    while row["a"] == int(os.environ["TEST_STOP"]):
        time.sleep(1)  # until it is killed
    with open(os.environ["TEST_SEEN"], "a") as seen:
        seen.write("x")
    return {"b": row["a"] * 3}
features = Features({"a": Value("int64"), "b": Value("int64")})
stream = IterableDataset.from_dict({"a": list(range(6000))}).map(slow, features=features)
method, target = sys.argv[1:]
getattr(stream, method)(target)
"""


def start(method: str, target: Path, seen: Path, stop: int = -1) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "TEST_STOP": str(stop), "TEST_SEEN": str(seen)}
    return subprocess.Popen([sys.executable, "-c", WRITER, method, str(target)], env=environment)


@pytest.mark.parametrize("method", ["to_parquet", "to_json", "to_csv"])
def test_a_killed_write_goes_on(method: str, tmp_path: Path, until: Any) -> None:
    whole, target, seen = tmp_path / "whole", tmp_path / "out", tmp_path / "seen"
    assert start(method, whole, seen).wait(60) == 0
    killed = start(method, target, tmp_path / "first", stop=5000)
    journal = tmp_path / ".out.writing" / "journal.jsonl"
    until(lambda: journal.exists() and journal.read_bytes().count(b"\n") > 2)
    assert killed.poll() is None
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    assert not target.exists()
    seen.unlink()
    assert start(method, target, seen).wait(60) == 0
    assert target.read_bytes() == whole.read_bytes()
    assert seen.stat().st_size < 6000, "rows that were written are made again"
    assert sorted(name for name in os.listdir(tmp_path) if name.startswith(".")) == []


def test_parts_are_runs_of_the_rows() -> None:
    stream = Dataset.from_dict({"a": list(range(10))}).to_iterable_dataset()
    parts = parts_of(stream, StreamBatches(stream, 2), 3)
    rows = [[batch.column("a").to_pylist() for batch, _ in part.behind(None, 0)] for part in parts]
    assert rows == [[[0, 1], [2, 3]], [[4, 5], [6]], [[7, 8], [9]]]


def test_parts_of_uncounted_rows_are_refused() -> None:
    stream = IterableDataset.from_dict({"a": [1, 2, 3]}).filter(lambda row: True).take(2)
    with pytest.raises(ConfigurationError, match="max_shard_size="):
        parts_of(stream, StreamBatches(stream, 10), 2)


def test_names_sort_as_numbers_do() -> None:
    assert sorted(map(shard_name, (10, 2))) == ["00002", "00010"]


# The journal of a write: what it keeps, what it drops.


def journal_of(folder: Path, header: dict[str, object]) -> WriteJournal:
    return WriteJournal(str(folder / "work"), header, "out.csv")


def test_entries_come_back(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0, "state": {"at": [1, 2]}})
        journal.add({"shard": 1, "state": None})
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert [entry["shard"] for entry in journal.entries] == [0, 1]
        journal.keep(journal.entries[:1])
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert [entry["shard"] for entry in journal.entries] == [0]


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0})
        journal.add({"shard": 1})
    path = tmp_path / "work" / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-4])
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert journal.entries == [{"shard": 0}]
        journal.add({"shard": 5})
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert journal.entries == [{"shard": 0}, {"shard": 5}]


def test_another_write_begins_anew_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0})
        Path(journal.path("00000")).write_bytes(b"rows")
    with caplog.at_level(logging.WARNING, "datasets_core"), journal_of(tmp_path, {"rows": "b"}) as journal:
        assert journal.entries == []
        assert not os.path.exists(journal.path("00000"))
    assert "out.csv" in caplog.text and "written again" in caplog.text


def test_a_finished_write_leaves_nothing(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0})
        journal.finish()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").write_bytes(b"")
    with pytest.raises(FileInPlaceError, match="work"), journal_of(tmp_path, {}):
        pass


def test_files_are_written_beside_their_place_or_in_the_cache(tmp_path: Path) -> None:
    assert writing_folder(str(tmp_path / "a.csv")) == str(tmp_path / ".a.csv.writing")
    with using(cache_dir=str(tmp_path)):
        assert writing_folder("memory://bucket/a.csv").startswith(str(tmp_path / "writes"))


def test_a_prefix_is_held_to_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abcdef")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of b"abc"
    assert holds(str(path), 3, digest)
    assert not holds(str(path), 4, digest)
    assert not holds(str(path), 30, digest)
    assert not holds(str(tmp_path / "b"), 3, digest)


def test_a_journal_has_the_number_of_its_form_beside_what_is_written(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"form": "csv", "rows": "a"}):
        assert header_of(str(tmp_path / "work")) == {"form": "csv", "rows": "a", "journal": 1}


@pytest.mark.parametrize(("form", "entries"), [({}, [{"shard": 0}]), ({"journal": 1}, [{"shard": 0}]), ({"journal": 2}, [])])
def test_a_journal_without_a_form_is_of_the_first_and_one_of_another_form_is_dropped(
    tmp_path: Path, form: dict[str, int], entries: list[dict[str, int]]
) -> None:
    (tmp_path / "work").mkdir()
    lines = [{"form": "csv", "rows": "a", **form}, {"shard": 0}]
    (tmp_path / "work" / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with journal_of(tmp_path, {"form": "csv", "rows": "a"}) as journal:
        assert journal.entries == entries
