"""References, splits and streams are opened alike, and their facts are told."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import datasets_core
from datasets_core import DatasetDict, IterableDataset
from datasets_core.cli.main import main
from datasets_core.errors import ConfigurationError, DatasetsCoreError, UnknownSplitError
from datasets_core.viewer.opening import STREAMED_ROWS, open_reference, open_rows
from datasets_core.viewer.queries import View

from .conftest import numbers

DEMO = Path(__file__).parents[2] / "scripts" / "demo"


def test_a_folder_a_file_a_saved_and_a_prepared_dataset_are_opened(table: str, tmp_path: Path) -> None:
    cache = str(tmp_path / "cache")
    first = open_reference({"path": table, "cache_dir": cache})
    assert first.about()["splits"] == [{"name": "train", "rows": 3}] and first.split == "train"
    facts = first.facts()
    assert facts["verification"] == "basic_checks" and facts["shards"][0]["rows"] == 3 and facts["configs"] == ["default"]
    prepared = open_reference({"path": facts["folder"]})
    assert prepared.queries.page(View("train[1:]"), 0, 9).column("0").to_pylist() == ["brno", "ciro"]
    DatasetDict({"a": numbers(3), "b": numbers(4)}).save_to_disk(tmp_path / "saved")
    saved = open_reference({"path": str(tmp_path / "saved")}, "b")
    assert (saved.split, saved.queries.opened(View("b"))["rows"], saved.facts()["features"][0]["name"]) == ("b", 4, "i")
    for opened, split in ((prepared, "train[1:]"), (saved, "b[:2]"), (saved, "a")):
        names: dict[str, Any] = {}
        exec(opened.queries.python(View(split)), names)
        assert len(names["ds"]) == opened.queries.opened(View(split))["rows"]


def test_a_script_and_its_citation_are_opened(tmp_path: Path) -> None:
    opened = open_reference({"path": str(DEMO / "penguins"), "cache_dir": str(tmp_path), "trust_remote_code": True})
    facts = opened.facts()
    assert sum(split["rows"] for split in facts["splits"]) == 344
    assert facts["citation"] and facts["version"] and facts["checksums"]


@pytest.mark.parametrize(
    ("split", "error"), [("tran", UnknownSplitError), ("train[5:5]", DatasetsCoreError), ("train[", DatasetsCoreError)]
)
def test_a_split_that_is_not_there_or_empty_is_refused(table: str, tmp_path: Path, split: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        open_reference({"path": table, "cache_dir": str(tmp_path / "cache")}, split)


def test_a_stream_shows_its_first_rows_and_reads_more_when_asked() -> None:
    def rows() -> Any:
        for number in range(1000):
            yield {"n": number}

    opened = open_rows(IterableDataset.from_generator(rows))
    assert opened.about()["streams"] == ["train"] and opened.queries.opened(View("train"))["rows"] == STREAMED_ROWS
    assert opened.read_more("train") == 2 * STREAMED_ROWS
    assert opened.queries.page(View("train"), 399, 400).column("0").to_pylist() == [399]
    assert "rows" in opened.facts()["cost"]["train"]
    with pytest.raises(UnknownSplitError):
        opened.read_more("test")
    with pytest.raises(ConfigurationError, match="stream"):
        IterableDataset.from_generator(rows).report("x.html")


def test_the_bytes_of_a_stream_are_told(serve: Callable[..., Any]) -> None:
    client = serve(numbers(300).to_iterable_dataset())
    assert set(client.ask("read", split="train")) == {"bytes"} and client.ask("read", split="other") == {"bytes": None}


def test_splits_of_streams_are_read_when_they_are_shown(tmp_path: Path) -> None:
    for name in ("train", "test"):
        (tmp_path / f"{name}.csv").write_text("a\n" + "1\n" * (3 if name == "train" else 5))
    opened = open_reference({"path": str(tmp_path)}, streams=True)
    assert opened.queries.splits["test"].num_rows == 0
    assert opened.queries.opened(View("test"))["rows"] == 5
    assert opened.queries.splits["test"].num_rows == 5


@pytest.mark.parametrize("rows_of_group", [1000, 400_000])
def test_a_remote_parquet_is_streamed_and_little_of_it_is_read(range_server: Any, tmp_path: Path, rows_of_group: int) -> None:
    path = tmp_path / "rows.parquet"
    rows = pa.table({"n": np.random.default_rng(0).integers(0, 2**60, 400_000), "t": [f"text {n}" for n in range(400_000)]})
    pq.write_table(rows, path, row_group_size=rows_of_group, use_dictionary=False)
    opened = open_reference({"path": range_server.put("rows.parquet", path.read_bytes())})
    assert opened.about()["streams"] == ["train"] and opened.queries.opened(View("train"))["rows"] == STREAMED_ROWS
    assert range_server.num_bytes < path.stat().st_size / 4
    told = opened.bytes_read("train") or 0
    assert range_server.num_bytes - 16 <= told <= range_server.num_bytes  # a probe of one byte is not read
    opened.read_more("train")
    assert (opened.bytes_read("train") or 0) >= told


def test_paths_of_a_stream_are_opened_only_where_it_may(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"secret")
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "train.jsonl").write_text(json.dumps({"image": {"bytes": None, "path": str(secret)}}))
    features = datasets_core.Features({"image": datasets_core.Image()})
    opened = open_reference({"path": str(folder), "features": features}, streams=True)
    with pytest.raises(DatasetsCoreError, match="secret"):
        opened.queries.content(View("train"), "image", 0, [])[0].read(0, 10)


def test_two_datasets_are_compared(serve: Callable[..., Any]) -> None:
    one, other = numbers(20), numbers(21).map(lambda row: {"kind": "new" if row["i"] == 3 else row["kind"]})
    found = serve(one, other).ask("diff")
    assert found["level"] == "major" and any("kind" in line for line in found["summary"])
    assert {(each["row"], each["column"]) for each in found["first_differences"]} == {(3, "kind"), (20, None)}
    assert serve(one, one.select(range(20))).ask("diff")["summary"] == []


# -- the command -------------------------------------------------------------------------------------------------------


def _started(*arguments: str) -> tuple[subprocess.Popen[str], str]:
    process = subprocess.Popen(
        [sys.executable, "-m", "datasets_core", "view", "--no-browser", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, process.stdout.readline().strip()


def test_the_command_prints_its_address_and_ctrl_c_ends_it(table: str, tmp_path: Path) -> None:
    import signal
    import urllib.request

    process, url = _started(table, "--cache-dir", str(tmp_path / "cache"), "--split", "train[:2]")
    try:
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        with opener.open(url, timeout=30) as page:
            assert b"<main" in page.read()
    finally:
        process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=30)
    assert process.returncode == 0 and told.strip() == "datasets-core: the viewer has ended"


@pytest.mark.parametrize(("arguments", "told"), [
    (["{folder}/nothing"], "nothing"), (["{table}", "--split", "tran"], "tran"), (["{folder}/empty.csv"], "empty.csv"),
    (["{table}", "--host", "0.0.0.0"], "--token"), (["{table}", "--diff", "{folder}/nothing"], "nothing"),
    (["{table}", "--port", "99999"], "99999"), (["{table}", "one", "--name", "two"], "Two different configs"),
])  # fmt: skip
def test_bad_input_is_one_line_and_a_status(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], told: str
) -> None:
    (tmp_path / "empty.csv").write_text("a,b\n")
    given = [each.format(folder=tmp_path, table=table) for each in arguments]
    assert main(["view", *given, "--no-browser", "--cache-dir", str(tmp_path / "cache")]) == 1
    error = capsys.readouterr().err
    assert told in error and len(error.strip().splitlines()) == 1


def test_a_missing_package_is_told_with_its_extra(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    assert main(["view", table, "--no-browser", "--cache-dir", str(tmp_path / "cache")]) == 1
    assert "datasets_core[view]" in capsys.readouterr().err
