"""Writes of streams that are killed: the next one goes on, and ends with the bytes of one that was not."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import ConfigurationError
from datasets_core.stream.io.write import StreamBatches, parts_of, shard_name
from datasets_core.stream.iterable import IterableDataset

WRITER = """
import os, sys, time
from datasets_core import IterableDataset, Value
from datasets_core.io import sinks as stream_sinks; from datasets_core.stream.io import write as stream_writing
from datasets_core.features.schema import Features
stream_writing._SETTLED_BYTES = 4000
stream_sinks.GROUP_BYTES = 8000
def slow(row):
    time.sleep(float(os.environ["TEST_PAUSE"]))
    with open(os.environ["TEST_SEEN"], "a") as seen:
        seen.write("x")
    return {"b": row["a"] * 3}
features = Features({"a": Value("int64"), "b": Value("int64")})
stream = IterableDataset.from_dict({"a": list(range(6000))}).map(slow, features=features)
method, target = sys.argv[1:]
getattr(stream, method)(target)
"""


def start(method: str, target: Path, seen: Path, pause: float) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "TEST_PAUSE": str(pause), "TEST_SEEN": str(seen)}
    return subprocess.Popen([sys.executable, "-c", WRITER, method, str(target)], env=environment)


@pytest.mark.parametrize("method", ["to_parquet", "to_json", "to_csv"])
def test_a_killed_write_goes_on(method: str, tmp_path: Path) -> None:
    whole, target, seen = tmp_path / "whole", tmp_path / "out", tmp_path / "seen"
    assert start(method, whole, seen, 0).wait(60) == 0
    killed = start(method, target, tmp_path / "first", 0.0003)
    journal, deadline = tmp_path / ".out.writing" / "journal.jsonl", time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") > 2):
        assert killed.poll() is None and time.monotonic() < deadline
        time.sleep(0.005)
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    assert not target.exists()
    seen.unlink()
    assert start(method, target, seen, 0).wait(60) == 0
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
