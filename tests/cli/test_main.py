"""The command line: what is understood, and how a mistake is answered."""

import subprocess
import sys
from pathlib import Path

import pytest

from datasets_core.cli.main import main


def test_a_mistake_is_one_line_and_a_status(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["build", str(tmp_path / "nothing.csv"), "--cache-dir", cache])
    error = capsys.readouterr().err
    assert (status, error.count("\n")) == (1, 1)
    assert "nothing.csv" in error


def test_an_unknown_command_has_status_two(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["bild"])
    assert ended.value.code == 2
    assert "invalid choice: 'bild'" in capsys.readouterr().err


def test_the_module_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "datasets_core", "--version"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("datasets-core ")


def test_data_files_may_name_their_splits(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["head", "csv", "--data-files", f"dev={table}", "--split", "dev", "-n", "1", "--cache-dir", cache]
    assert main(words) == 0
    assert capsys.readouterr().out == '{"name": "alba", "mass": 3}\n'


def test_a_file_without_a_split_among_others_is_refused(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["head", "csv", "--data-files", f"dev={table}", "--data-files", table, "--cache-dir", cache]
    assert main(words) == 1
    assert "has no split" in capsys.readouterr().err


def test_builder_options_reach_the_builder(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1;2\n")
    assert main(["head", str(path), "--option", "sep=;", "--cache-dir", cache]) == 0
    assert capsys.readouterr().out == '{"a": 1, "b": 2}\n'


@pytest.mark.parametrize("word", ["sep", "=;"])
def test_an_option_that_is_no_pair_is_refused(word: str, table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", table, "--option", word, "--cache-dir", cache]) == 1
    assert "must be KEY=VALUE" in capsys.readouterr().err


def test_advice_is_given_in_flags(tmp_path: Path, cache: str, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "mine.py").write_text("raise AssertionError")
    assert main(["info", str(tmp_path / "mine"), "--no-remote-code", "--cache-dir", cache]) == 1
    assert "disables scripts. Pass --sandbox to run it confined, or read it and pass --trust" in capsys.readouterr().err


def test_new_offers_no_cache(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["new", "--help"])
    assert "--cache-dir" not in capsys.readouterr().out


@pytest.mark.parametrize("command", ["build", "info", "head"])
def test_a_script_that_hangs_is_stopped_in_time(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "slow.py"
    script.write_text("import datasets\nwhile True:\n    pass\n")

    assert main([command, str(script), "--timeout", "0.2", "--cache-dir", str(tmp_path / "cache")]) == 1

    printed = capsys.readouterr().err
    assert f"{script}, line" in printed
    assert "importing it was not finished after 0.2 seconds" in printed
    assert "(--timeout, or leave it out)" in printed
