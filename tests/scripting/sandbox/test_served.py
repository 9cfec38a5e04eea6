"""The confined side of a builder, asked over a pipe within this process."""

import base64
import dataclasses
import gzip
import io
import json
import os
import pickle
import tarfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.remote import RemoteFile
from datasets_core.scripting.sandbox.batches import Receiver
from datasets_core.scripting.sandbox.denials import head_of
from datasets_core.scripting.sandbox.protocol import Channel, Incoming, Kind, packed
from datasets_core.scripting.sandbox.served import RemoteDownloads, RemoteStreams, serve

SCRIPT = """
import datasets
class Words(datasets.GeneratorBasedBuilder):
    def _info(self): return datasets.DatasetInfo(description="d")
    def _split_generators(self, dl_manager):
        self.info.description = "later"
        bad = datasets.SplitGenerator("bad", {"n": 0, "it": ()})
        return [datasets.SplitGenerator("train", {"n": 3, "it": iter("ab")}), bad]
    def _generate_examples(self, n, it):
        if not n: raise ValueError("no n")
        yield from ((i, {"a": i, "s": "".join(it)}) for i in range(n))
"""


class Asking:
    """The parent's end."""

    def __init__(self, tmp_path: Path) -> None:
        its_reads, self.requests = os.pipe()
        replies, its_writes = os.pipe()
        self.incoming = Incoming(replies)
        self.thread = threading.Thread(target=serve, args=(Channel(its_reads, its_writes),), daemon=True)
        self.thread.start()
        self.path = str(tmp_path / "words.py")

    def ask(self, **request: Any) -> list[tuple[Kind, Any]]:
        os.write(self.requests, packed(Kind.REQUEST, request))
        found = []
        while not found or found[-1][0] is Kind.PART:
            message = self.incoming.read()
            if message is not None:
                found.append(message)
        return found

    def load(self) -> dict[str, Any]:
        module = ["words", self.path, base64.b64encode(SCRIPT.encode()).decode(), False]
        limits = json.loads(json.dumps(dataclasses.asdict(config.settings())))
        ((_, message),) = self.ask(do="load", script=self.path, modules=[module], settings=limits)
        return message.head  # type: ignore[no-any-return]

    def make(self) -> dict[str, Any]:
        said = dict.fromkeys(("config_name", "data_dir", "version", "features", "data_files", "info", "repo_id"))
        said |= {"cache_dir": "/c", "dataset_name": "words", "hash": "ab", "base_path": "/b", "options": {"d": {}}}
        ((_, message),) = self.ask(do="make", **said)
        return message.head  # type: ignore[no-any-return]

    def name(self) -> dict[str, Any]:
        form = {"script": self.path, "dataset_name": "words", "data_dir": None, "record_checksums": True, "downloads": "/d"}
        form |= {"extracted": "/e", "base_path": "/b", "config": {}, "is_streaming": False}
        ((_, message),) = self.ask(do="split_generators", downloads=form)
        return message.head  # type: ignore[no-any-return]

    def rows(self, **part: Any) -> list[tuple[Kind, Any]]:
        whole = {"gen_kwargs": None, "index": 0, "count": 1, "batch_rows": None, "max_rows": None, "skip": 0}
        return self.ask(do="rows", part={**whole, "is_order_free": False, "is_live": False, **part}, copies=False)


@pytest.fixture
def asking(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Asking]:
    monkeypatch.setenv("HOME", str(tmp_path / "scratch" / "home"))
    monkeypatch.setenv("HF_HOME", str(tmp_path / "scratch" / "home" / "hf"))
    asking = Asking(tmp_path)
    yield asking
    os.close(asking.requests)
    asking.thread.join(60)
    os.close(asking.incoming.descriptor)


def test_a_script_is_asked_step_by_step(asking: Asking) -> None:
    assert asking.load()["class"] == "Words"
    made = asking.make()
    assert (made["config_id"], made["info"]["description"]) == ("default", "d")
    named = asking.name()
    assert named["info"]["description"] == "later"
    (train, kwargs), _ = named["splits"]
    assert train == "train"
    assert kwargs["d"]["n"] == 3
    assert kwargs["d"]["it"]["held"]["kind"] == "once"
    *parts, (last, end) = asking.rows(split="train")
    assert last is Kind.LAST
    assert end.head == {"end": True}
    receiver = Receiver("words")
    batches = [receiver.batch(message.head, message.payload) for _, message in parts]
    assert pa.Table.from_batches(batches).to_pydict() == {"a": [0, 1, 2], "s": ["ab", "", ""]}
    assert list(receiver.keys(parts[0][1].head, None)) == [0, 1, 2]


def test_what_stays_is_given_back_by_its_number(asking: Asking) -> None:
    asking.load()
    asking.make()
    asking.name()
    given = {"d": {"n": 1, "it": {"held": {"number": 0}}}}
    (_, message), _ = asking.rows(split="train", gen_kwargs=given)
    assert Receiver("words").batch(message.head, message.payload).to_pydict() == {"a": [0], "s": ["ab"]}


def test_an_error_is_told_and_the_next_request_served(asking: Asking) -> None:
    asking.load()
    asking.make()
    asking.name()
    ((kind, message),) = asking.rows(split="bad")
    assert kind is Kind.FAILURE
    assert message.head["error"]["class"] == "DatasetGenerationError"
    assert "ValueError: no n" in message.head["error"]["message"]
    assert asking.rows(split="train")[-1][0] is Kind.LAST


def test_settings_hold_but_for_the_folders(asking: Asking, tmp_path: Path) -> None:
    with config.using(batch_rows=1, cache_dir="/elsewhere"):
        asking.load()
    asking.make()
    asking.name()
    assert len(asking.rows(split="train")) == 4


def test_the_script_asks_the_parent_for_files(asking: Asking) -> None:
    asking.load()
    asking.make()
    ((kind, _),) = asking.ask(do="nothing")
    assert kind is Kind.FAILURE


# The download manager of a confined script: it asks, and reads what it was given.


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


def test_pipelines_run_in_this_process_where_pickled_managers_are_the_same(asked: Any) -> None:
    assert asked[0].ship_files_with_pipeline("a", None) == "a"
    assert pickle.loads(pickle.dumps(asked[0])) is asked[0]


def test_a_manager_of_another_process_says_what_to_do(asked: Any) -> None:
    load, (process, number) = asked[0].__reduce__()
    with pytest.raises(ConfigurationError) as caught:
        load(process + 1, number)
    assert caught.value.advice == "Give its paths to _generate_examples instead"


# Streams of a confined script: remote files that the parent reads.

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
