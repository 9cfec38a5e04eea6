"""What a confined process does: it loads the script, makes its builder, and answers what the parent asks about it."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import os
import queue
import threading
import warnings
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import Reread, SplitGenerator
from datasets_core.building.split_names import named_splits
from datasets_core.config import Config, using
from datasets_core.confine.asked_downloads import AskedDownloads, scratch
from datasets_core.confine.builder_form import builder_form, class_form, files_of
from datasets_core.confine.gen_values import Values, decoded, encoded, shown_form, unknown
from datasets_core.confine.pipe import Channel
from datasets_core.confine.sent_batches import Sender, keys_form, schema_form, whole
from datasets_core.errors import ExperimentalVersionWarning
from datasets_core.features.order_free import Facts
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.scripting.modules import Module, Script
from datasets_core.scripting.own_code import ran
from datasets_core.scripting.script import load
from datasets_core.store.chunks import ChangedRowsError

_AHEAD = 3  # batches that are made while others are on their way


def serve(channel: Channel) -> None:
    """Answer requests until there are no more.

    Args:
        channel: the pipe to the parent.
    """
    served = Served(channel)
    with contextlib.ExitStack() as stack:
        for request in channel.requests():
            try:
                if request["do"] == "load":
                    stack.enter_context(using(_settings(request["settings"])))
                getattr(served, request["do"])(request)
            except Exception as error:
                channel.fail(error)


def _settings(form: Mapping[str, Any]) -> Config:
    """The parent's settings, with folders of our own: what a script loads itself is kept here."""
    own = os.path.join(os.environ["HF_HOME"], "datasets")
    folders = {"cache_dir": own, "downloads_dir": f"{own}/downloads", "extracted_dir": f"{own}/downloads/extracted"}
    return Config(**{**form, **folders, "media_paths": tuple(form["media_paths"])})


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of a split, as the parent asks for it; see `building.hooks.Part`."""

    split: str
    gen_kwargs: dict[str, Any]
    index: int
    count: int
    batch_rows: int | None
    max_rows: int | None
    is_order_free: bool
    skip: int
    is_live: bool
    deadline: None = None


class Served:
    """One script, and its builder: a method for each thing that is asked.

    Args:
        channel: the pipe to the parent.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._script: Script
        self._class: type[DatasetBuilder]
        self._builder: DatasetBuilder
        self._values = Values()
        self._told: dict[str, Any] = {}  # of the info, at last
        self._splits: dict[str, SplitGenerator] = {}
        self._first: dict[tuple[str, int, int], list[Any]] = {}  # key of the first row, of parts whose rows are made again

    def load(self, request: Mapping[str, Any]) -> None:
        """Run the script, and tell of the class that it defines."""
        modules = tuple(
            Module(name, path, base64.b64decode(text), is_package) for name, path, text, is_package in request["modules"]
        )
        self._script = Script(request["script"], modules)
        self._class = load(self._script)
        form = ran(self._script, lambda: class_form(self._class), doing="looking at its builder")
        self._channel.reply(form)

    def make(self, request: Mapping[str, Any]) -> None:
        """Make the builder, and tell of it."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalVersionWarning)  # the parent's
            self._builder = ran(self._script, lambda: self._made(request), doing="making its builder")
        self._builder.script_digest = self._script.digest
        form = ran(self._script, lambda: builder_form(self._builder), doing="looking at its builder")
        self._told = form["info"]
        self._channel.reply(form)

    def _made(self, request: Mapping[str, Any]) -> DatasetBuilder:
        features, data_files, info = request["features"], request["data_files"], request["info"]
        return self._class(
            cache_dir=request["cache_dir"],
            dataset_name=request["dataset_name"],
            config_name=request["config_name"],
            hash=request["hash"],
            base_path=request["base_path"],
            repo_id=request["repo_id"],
            data_dir=request["data_dir"],
            version=request["version"],
            features=None if features is None else Features.from_dict(features),
            data_files=None if data_files is None else files_of(data_files),
            info=None if info is None else DatasetInfo.from_dict(info),
            **decoded(request["options"], unknown),
        )

    def split_generators(self, request: Mapping[str, Any]) -> None:
        """Name the splits, and what each is made of."""
        manager: Any = AskedDownloads(self._channel.question, request["downloads"])
        if request["downloads"]["is_streaming"]:
            from datasets_core.confine.asked_streams import AskedStreams  # 20 ms that a build does without

            manager = AskedStreams(manager)
        listed = named_splits(self._builder, manager)
        self._splits = {split.name: split for split in listed}
        self._values = Values()
        forms = [[split.name, encoded(split.gen_kwargs, self._values.hold, own=scratch())] for split in listed]
        self._channel.reply({"splits": forms, **self._news()})

    def _news(self) -> dict[str, Any]:
        """What the info says now, if the script has changed it."""
        before, self._told = self._told, self._builder.info.to_dict()
        return {} if self._told == before else {"info": self._told}

    def rows(self, request: Mapping[str, Any]) -> None:
        """Make the rows of a part, as batches."""
        part, sender = self._part(request), Sender()
        first = self._first.setdefault((part.split, part.index, part.count), []) if request["copies"] else []
        batches = self._builder.encoded_rows(part, first=first, copies=request["copies"])
        with contextlib.closing(batches), _Ahead(self._channel) as ahead:
            try:
                for encoded_rows in batches:
                    keys, column = keys_form(encoded_rows.keys)
                    head, payload = sender.payload(encoded_rows.batch)
                    head["facts"] = _facts_form(encoded_rows.facts)
                    if column is not None:
                        ahead.send(keys, column)
                        keys = {}
                    ahead.send({**keys, **head}, payload)
            except ChangedRowsError:
                ahead.flush()
                self._first[part.split, part.index, part.count] = first
                self._channel.reply({"end": True, "changed": True, **self._news()})
                return
        self._channel.reply({"end": True, **self._news()})

    def tables(self, request: Mapping[str, Any]) -> None:
        """Make the tables of a part."""
        part, builder = self._part(request), self._builder
        if request["read_schema"] is not None:
            builder = builder.with_schema(_schema(request["read_schema"]))
        tables = builder.made_tables(part)
        with contextlib.closing(tables), _Ahead(self._channel) as ahead:
            try:
                for key, table in tables:
                    ahead.send({"key": encoded(key, shown_form)}, whole(table))
            except Reread as again:
                ahead.flush()
                self._channel.reply({"end": True, "reread": schema_form(again.schema), **self._news()})
                return
        self._channel.reply({"end": True, **self._news()})

    def place_of_row(self, request: Mapping[str, Any]) -> None:
        """Where a row is yielded."""
        part, key = self._part(request), decoded(request["key"], lambda form: None)
        self._channel.reply({"place": self._builder.place_of_row(part, request["row"], key)})

    def join_types(self, request: Mapping[str, Any]) -> None:
        """The type in which the builder reads a column that is of one type here and of another there."""
        a, b = _schema(request["types"]).types
        joined = self._builder.join_types(a, b)
        self._channel.reply({"type": None if joined is None else schema_form(pa.schema([("joined", joined)]))})

    def _part(self, request: Mapping[str, Any]) -> Part:
        form, name = request["part"], request["part"]["split"]
        gen_kwargs = form.pop("gen_kwargs")
        whole_split = self._splits[name].gen_kwargs if gen_kwargs is None else decoded(gen_kwargs, self._values.held)
        return Part(gen_kwargs=whole_split, **form)


class _Ahead:
    """Sends in a thread of its own, so that the next rows are made meanwhile.

    Args:
        channel: the pipe.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: queue.Queue[tuple[dict[str, Any], Any] | None] = queue.Queue(_AHEAD)
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> _Ahead:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._waiting.put(None)
        self._thread.join()
        if error is None:
            self._check()

    def send(self, head: dict[str, Any], payload: Any) -> None:
        """Send as soon as can be."""
        self._check()
        self._waiting.put((head, payload))

    def flush(self) -> None:
        """Wait until all is sent."""
        self._waiting.join()
        self._check()

    def _check(self) -> None:
        if self._failed is not None:
            raise self._failed

    def _run(self) -> None:
        while (waiting := self._waiting.get()) is not None:
            try:
                if self._failed is None:
                    self._channel.reply(*waiting, last=False)
            except BaseException as error:
                self._failed = error  # told by the thread that makes rows
            finally:
                self._waiting.task_done()


def _facts_form(facts: Facts | None) -> dict[str, Any] | None:
    return None if facts is None else facts.to_json()


def _schema(form: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(form)))
