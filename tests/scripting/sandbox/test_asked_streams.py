"""Streams of a confined script: remote files that the parent reads."""

import base64
import io
import os
from pathlib import Path
from typing import Any

import pytest

from datasets_core.fetch.remote import RemoteFile
from datasets_core.scripting.sandbox.served import RemoteDownloads, RemoteStreams

TEXT = b"one\ntwo\nthree\n" * 100_000


@pytest.fixture
def streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[RemoteStreams, list[str]]:
    monkeypatch.setenv("HOME", str(tmp_path / "scratch" / "home"))
    (tmp_path / "scratch" / "home").mkdir(parents=True)
    (tmp_path / "fetched.txt").write_bytes(TEXT)
    asked: list[str] = []
    data = io.BytesIO(TEXT)

    def question(head: Any) -> dict[str, Any]:
        asked.append(head["ask"])
        if head["ask"] == "locate":
            return {"places": ["" if "://" in name else f"/own/{name}" for name in head["names"]]}
        if head["ask"] == "fetch":
            return {"places": [str(tmp_path / "fetched.txt")]}
        if head["ask"] == "read":
            return {"data": base64.b64encode(data.read(head["size"])).decode()}
        if head["ask"] == "seek":
            return {"position": data.seek(head["offset"], head["whence"])}
        return {"handle": 1, "seekable": True, "is_enforced": False}

    form = {"script": "words.py", "dataset_name": "words", "data_dir": None, "record_checksums": True, "downloads": "/given"}
    form |= {"extracted": "/given/extracted", "base_path": str(tmp_path), "config": {}}
    return RemoteStreams(RemoteDownloads(question, form)), asked


def test_urls_are_remote_files_and_local_ones_are_where_they_are(streams: Any) -> None:
    manager, asked = streams
    found = manager.download({"a": "http://127.0.0.1/a.txt", "b": "b.txt"})
    assert isinstance(found["a"], RemoteFile)
    assert found["b"] == "/own/b.txt"
    assert set(asked) == {"locate"}
    assert manager.is_streaming


def test_bytes_come_as_they_are_read(streams: Any) -> None:
    manager, asked = streams
    file = manager.download("http://127.0.0.1/a.txt")
    with file.open("rb") as data:
        assert data.readline() == b"one\n"
        assert asked.count("read") == 1
        assert data.seek(4) == 4
        assert data.readline() == b"two\n"
        data.seek(0)
        assert data.read() == TEXT
    assert asked[-1] == "close"
    assert "fetch" not in asked


def test_a_path_is_fetched_when_it_is_opened_as_one(streams: Any) -> None:
    manager, asked = streams
    file = manager.download("http://127.0.0.1/a.txt")
    assert Path(os.fspath(file)).read_bytes() == TEXT
    assert asked.count("fetch") == 1
