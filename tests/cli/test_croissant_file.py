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
    assert "Unknown split 'dev'" in capsys.readouterr().err


def test_croissant_takes_one_config(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["croissant", table, "one", "--config", "two", "--cache-dir", cache]) == 1
    assert "Two configs" in capsys.readouterr().err


def test_all_configs_are_described_unless_one_is_named(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "multi"
    folder.mkdir()
    configs = [{"config_name": name, "data_files": f"{name}.csv"} for name in ("small", "large")]
    (folder / "README.md").write_text(f"---\nconfigs: {json.dumps(configs)}\n---\n")
    for name in ("small", "large"):
        (folder / f"{name}.csv").write_text("a\n1\n")
    assert main(["croissant", str(folder), "--cache-dir", cache]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [node["contentUrl"] for node in told["distribution"]] == ["small.csv", "large.csv"]
    assert {"small", "large"} <= {node["@id"] for node in told["recordSet"]}
    assert (
        main(["croissant", str(folder), "--config", "large", "--cache-dir", cache, "-o", str(folder / "croissant.json")]) == 0
    )
    capsys.readouterr()
    assert main(["head", "croissant", "--data-dir", str(folder), "--cache-dir", cache]) == 0
    assert json.loads(capsys.readouterr().out) == {"a": 1}


def test_options_of_the_format_are_passed_on(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("a\tb\n1\tx\n")
    words = ["croissant", "csv", "--data-files", str(tmp_path / "a.csv"), "--option", "sep=\t", "--cache-dir", cache]
    assert main(words) == 0
    assert "text/tab-separated-values" in capsys.readouterr().out
