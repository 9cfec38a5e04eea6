"""A folder of data, and a cache that is this test's own."""

from pathlib import Path

import pytest

from datasets_core.cli.main import main


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "birds" / "birds.csv"
    path.parent.mkdir()
    path.write_text("name,mass\nalba,3\nbrno,4\nciro,5\n")
    return str(path)


@pytest.fixture
def cache(tmp_path: Path) -> str:
    return str(tmp_path / "cache")


@pytest.fixture
def built(table: str, cache: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The folder of a built dataset."""
    assert main(["build", table, "--cache-dir", cache]) == 0
    return capsys.readouterr().out.splitlines()[0]
