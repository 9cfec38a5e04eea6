"""The folder of a dataset, by the words of the user."""

from pathlib import Path

import pytest

from datasets_core.resolve.request import Request
from datasets_core.resolve.resolve import root_of


def test_a_folder_is_its_own_root_and_files_have_that_which_holds_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n")
    for path in (tmp_path, tmp_path / "a.csv", tmp_path / "gone.py", f"file://{tmp_path}/a.csv"):
        assert root_of(Request(str(path))) == str(tmp_path)


@pytest.mark.parametrize(
    ("path", "root"),
    [("https://example.org/d/a.csv", "https://example.org/d"), ("s3://bucket/d/", "s3://bucket/d")],
)
def test_urls_have_roots_too(path: str, root: str) -> None:
    assert root_of(Request(path)) == root


@pytest.mark.parametrize(
    ("data_files", "root"),
    [
        ("/d/a.csv", "/d"),
        ("/d/*/a.csv", "/d"),
        ({"train": "/d/a/*.csv", "test": ["/d/b/[x]/c.csv"]}, "/d"),
        (["/d/a.csv", "https://example.org/b.csv"], "/d"),
    ],
)
def test_a_format_has_the_folder_above_all_that_is_named(data_files: object, root: str) -> None:
    assert root_of(Request("csv", data_files=data_files)) == root  # type: ignore[arg-type]


def test_a_format_without_local_files_has_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert root_of(Request("csv", data_files="https://example.org/b.csv")) == str(tmp_path)
    assert root_of(Request("csv", data_dir="data")) == str(tmp_path / "data")
    assert root_of(Request("csv", data_files="sub/a.csv")) == str(tmp_path / "sub")
