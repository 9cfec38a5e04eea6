"""The confined side of a builder, asked over a pipe within this process."""

import base64
import dataclasses
import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import config
from datasets_core.scripting.sandbox.batches import Receiver
from datasets_core.scripting.sandbox.protocol import Channel, Incoming, Kind, packed
from datasets_core.scripting.sandbox.served import serve

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
    asking.thread.join(10)
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
