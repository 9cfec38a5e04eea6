"""`croissant`."""

import hashlib
import json
from pathlib import Path

import pytest

from datasets_core.cli.main import main


def test_croissant_prints_the_description(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "--cache-dir", cache]) == 0
    told = json.loads(capsys.readouterr().out)
    (file,) = told["distribution"]
    assert file["sha256"] == hashlib.sha256(Path(table).read_bytes()).hexdigest()
    assert "mass" in [field["name"] for field in told["recordSet"][-1]["field"]]


def test_croissant_writes_a_file_whose_paths_start_beside_it(
    table: str, cache: str, capsys: pytest.CaptureFixture[str]
) -> None:
    output = Path(table).parent.parent / "croissant.json"
    assert main(["croissant", table, "--cache-dir", cache, "--output", str(output)]) == 0
    told = json.loads(output.read_text())
    said = capsys.readouterr()
    assert (output.parent / told["distribution"][0]["contentUrl"]).samefile(table)
    assert (said.out.strip(), said.err) == (str(output), "")


def test_croissant_says_where_a_file_belongs_that_is_written_elsewhere(
    table: str, cache: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    assert main(["croissant", table, "--cache-dir", cache, "-o", str(elsewhere / "croissant.json")]) == 0
    assert "its paths start at the folder of the data" in capsys.readouterr().err


def test_croissant_of_a_split_that_is_not_there_is_an_error(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "--cache-dir", cache, "--split", "dev"]) == 1
    assert "'dev' is no split" in capsys.readouterr().err


def test_croissant_takes_one_config(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "one", "--config", "two", "--cache-dir", cache]) == 1
    assert "Two configs" in capsys.readouterr().err
