"""The download manager of a confined script: it asks, and reads what it was given."""

import gzip
import pickle
import tarfile
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DatasetBuildError
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.scripting.sandbox.denials import head_of
from datasets_core.scripting.sandbox.served import RemoteDownloads


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RemoteDownloads, list[Any]]:
    monkeypatch.setenv("HOME", str(tmp_path / "scratch" / "home"))
    (tmp_path / "scratch" / "home").mkdir(parents=True)
    questions: list[Any] = []

    def question(head: Any) -> dict[str, Any]:
        questions.append(head)
        if head["ask"] == "recorded":
            return {"recorded": {"http://x/a": {"num_bytes": 7}}}
        if "missing" in head["names"]:
            return head_of(DataFilesNotFoundError("missing does not exist. Check the path."))
        return {"places": [f"/given/{name}" for name in head["names"]]}

    form = {"script": "words.py", "dataset_name": "words", "data_dir": "/mine", "record_checksums": True, "downloads": "/given"}
    form |= {"extracted": "/given/extracted", "base_path": str(tmp_path), "config": {"num_proc": 2}}
    return RemoteDownloads(question, form), questions


def test_any_nesting_is_asked_for_at_once(asked: Any) -> None:
    manager, questions = asked
    found = manager.download({"train": ["a", "b"], "test": ("a",)})
    assert found == {"train": ["/given/a", "/given/b"], "test": ("/given/a",)}
    assert questions == [{"ask": "download", "names": ["a", "b"]}]
    assert manager.downloaded_paths == {"a": "/given/a", "b": "/given/b"}
    assert manager.download([]) == []
    assert manager.download_and_extract("c") == "/given//given/c"


def test_it_looks_like_any_other(asked: Any) -> None:
    manager, _ = asked
    assert isinstance(manager, DownloadManager)
    assert type(manager) is RemoteDownloads
    assert (manager.manual_dir, manager.data_dir, manager.is_streaming, manager.dataset_name) == (
        "/mine",
        "/mine",
        False,
        "words",
    )
    assert (manager.download_config.num_proc, manager.cache_folders, manager.downloaded_size) == (
        2,
        ("/given", "/given/extracted"),
        7,
    )
    assert manager.manage_extracted_files() is manager.delete_extracted_files() is None


def test_an_error_of_the_parent_is_raised_for_the_script(asked: Any) -> None:
    with pytest.raises(FileNotFoundError, match="missing does not exist"):
        asked[0].download(["missing"])


def test_archives_and_files_are_read_here(asked: Any, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "x.txt").write_text("x")
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        archive.add(tmp_path / "in" / "x.txt", "x.txt")
    manager, questions = asked
    assert [(name, file.read()) for name, file in manager.iter_archive("a.tar")] == [("x.txt", b"x")]
    assert list(manager.iter_files(["in"])) == [str(tmp_path / "in" / "x.txt")]
    assert questions == []


def test_what_the_script_made_is_unpacked_here(asked: Any, tmp_path: Path) -> None:
    made = tmp_path / "scratch" / "made.gz"
    made.write_bytes(gzip.compress(b"made"))
    manager, questions = asked
    (place,) = manager.extract([str(made)])
    assert Path(place).read_bytes() == b"made"
    assert place.startswith(str(tmp_path / "scratch"))
    assert questions == []


def test_own_ways_of_downloading_run_here(asked: Any, tmp_path: Path) -> None:
    place = asked[0].download_custom("own://a", lambda url, path: Path(path).write_text(url))
    assert Path(place).read_text() == "own://a"
    assert place.startswith(str(tmp_path / "scratch"))


def test_what_cannot_be_done_confined_says_so(asked: Any) -> None:
    with pytest.raises((ConfigurationError, DatasetBuildError), match=r"Beam.*trust_remote_code=True"):
        asked[0].ship_files_with_pipeline("a", None)
    with pytest.raises(ConfigurationError, match="cannot be kept as a value"):
        pickle.dumps(asked[0])
