"""`Served`: the code of a sandboxed process: loads the script, makes its builder, and answers requests of the parent."""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import io
import os
import queue
import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, cast
from weakref import WeakValueDictionary

import pyarrow as pa

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import Replay, SplitGenerator
from datasets_core.building.options import named_splits
from datasets_core.config import Config, using
from datasets_core.engines.threads import Watch, in_thread
from datasets_core.errors import ConfigurationError, ExperimentalVersionWarning
from datasets_core.features.schema import Features
from datasets_core.features.unordered import Facts
from datasets_core.fetch.checksums import DownloadConfig, FileRecord, leaves, mapped
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.extract import ArchiveIterable, FilesIterable, iter_archive, iter_files
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.meta.info import DatasetInfo
from datasets_core.scripting.modules import Module, Script
from datasets_core.scripting.sandbox.batches import (
    Sender,
    Values,
    decoded,
    encoded,
    keys_form,
    schema_form,
    shown_form,
    unknown,
    whole,
)
from datasets_core.scripting.sandbox.denials import raised
from datasets_core.scripting.sandbox.protocol import Channel, builder_form, class_form, files_of
from datasets_core.scripting.script import load, ran
from datasets_core.store.chunks import ChangedRowsError

# `RemoteDownloads`: the download manager of a sandboxed script, which requests from the parent every file that is not
# yet.


Question = Callable[[Mapping[str, Any]], dict[str, Any]]

CONFIG_FIELDS = (
    "force_download", "local_files_only", "extract_compressed_file", "force_extract", "delete_extracted", "use_etag",
    "num_proc", "max_retries", "disable_tqdm", "register_checksums", "force_checksums_validation",
)  # fmt: skip


def scratch() -> str:
    """In the confined process: the only folder that it may write."""
    return os.path.dirname(os.path.realpath(os.environ["HOME"]))


_managers: WeakValueDictionary[int, RemoteDownloads] = WeakValueDictionary()


def _same_manager(process: int, number: int) -> RemoteDownloads:
    manager = _managers.get(number) if process == os.getpid() else None
    if manager is None:
        raise ConfigurationError(
            "The download manager of a confined script cannot be kept as a value",
            advice="Give its paths to _generate_examples instead",
        )
    return manager


class RemoteDownloads(DownloadManager):
    """Files for a sandboxed script.  The parent fetches and unpacks; files it provided, or next to the script, are read here.

    Args:
        question: sends a question to the parent.
        form: description of the parent's manager.
    """

    def __init__(self, question: Question, form: Mapping[str, Any]) -> None:
        self._question, self._script = question, str(form["script"])
        config = DownloadConfig(cache_dir=form["downloads"], **form["config"])
        super().__init__(form["dataset_name"], form["data_dir"], config, form["base_path"], bool(form["record_checksums"]))
        self.base_path: str = form["base_path"]
        self._folders: tuple[str, str] = (form["downloads"], form["extracted"])
        self._names: dict[str, str] = {}

    def __reduce__(self) -> tuple[Callable[[int, int], RemoteDownloads], tuple[int, int]]:
        """Within this process it is the same object for those that pickle functions, such as Apache Beam."""
        _managers[id(self)] = self
        return _same_manager, (os.getpid(), id(self))

    @property
    def cache_folders(self) -> tuple[str, str]:
        return self._folders

    @property
    def downloaded_size(self) -> int:
        """Bytes of all files requested by `download`."""
        return sum(record.get("num_bytes") or 0 for record in self.get_recorded_sizes_checksums().values())

    def download(self, url_or_urls: Any) -> Any:
        """Fetch files: see `DownloadManager.download`.  The parent does it."""
        places = self._asked("download", url_or_urls)
        self.downloaded_paths.update(places)
        self._names.update({place: url for url, place in places.items()})
        found = mapped(url_or_urls, places.__getitem__)
        return self.extract(found) if self.download_config.extract_compressed_file else found

    def extract(self, path_or_paths: Any, num_proc: int | None = None) -> Any:
        """Unpack archives: see `DownloadManager.extract`.  The parent does it, except for files that the script
        itself wrote.
        """
        asked = list(dict.fromkeys(leaves(path_or_paths)))
        own = os.path.join(scratch(), "")
        made = [path for path in asked if os.path.realpath(path).startswith(own)]
        places = self._asked("extract shown" if self.skips_junk else "extract", [path for path in asked if path not in made])
        places.update({path: self._here().extract(path) for path in made})
        self.extracted_paths.update({path: place for path, place in places.items() if place != path})
        return mapped(path_or_paths, places.__getitem__)

    def download_and_extract(self, url_or_urls: Any) -> Any:
        """`extract(download(url_or_urls))`."""
        return self.extract(self.download(url_or_urls))

    def iter_archive(self, path_or_buf: str | os.PathLike[str] | BinaryIO) -> ArchiveIterable:
        """Return the regular files of an archive: see `DownloadManager.iter_archive`."""
        if not isinstance(path_or_buf, (str, os.PathLike)):
            return iter_archive(path_or_buf)
        place = self._local(os.fspath(path_or_buf))
        return iter_archive(place, known_as=self._names.get(place))

    def iter_files(self, paths: Any) -> FilesIterable:
        """Return the given files, and those below the given folders: see `DownloadManager.iter_files`."""
        return iter_files([self._local(path) for path in leaves(paths)])

    def download_custom(self, url_or_urls: Any, custom_download: Callable[[str, str], object]) -> Any:
        """Return files from a function of the script, which has no network here: see `DownloadManager.download_custom`."""
        return self._here().download_custom(url_or_urls, custom_download)

    def ship_files_with_pipeline(self, downloaded_path_or_paths: Any, pipeline: Any) -> Any:
        """Return the given paths: pipelines of confined scripts run in this process."""
        return downloaded_path_or_paths

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, Any]]:
        """Return size and sha256 of everything that was downloaded, by URL."""
        return self.answer({"ask": "recorded"})["recorded"]  # type: ignore[no-any-return]

    def fetched(self, url: str) -> str:
        """Fetch a file and return its path; used when a streamed script opens a path."""
        return self._asked("fetch", [url])[url]

    def located(self, name: str) -> str | None:
        """Return the path of a file that need not be fetched; None for a URL that has to be."""
        return self._asked("locate", [name])[name] or None

    def delete_extracted_files(self) -> None:
        """Do nothing: the parent removes files that are not kept."""

    def manage_extracted_files(self) -> None:
        """Do nothing: the parent removes files that are not kept."""

    def _here(self) -> DownloadManager:
        """Return a manager for files that the script itself writes."""
        return DownloadManager(self.dataset_name, download_config=DownloadConfig(cache_dir=os.path.join(scratch(), "made")))

    def _asked(self, what: str, nested: Any) -> dict[str, str]:
        asked = list(dict.fromkeys(leaves(nested)))
        if not asked:
            return {}
        return dict(zip(asked, self.answer({"ask": what, "names": asked})["places"], strict=True))

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parent's answer to a question, or raise the error in it."""
        answer = self._question(question)
        if "error" in answer:
            raise raised(answer, script=self._script)
        return answer

    def _local(self, path: str) -> str:
        if files.is_url(path) and not path.startswith("file://"):
            return str(self.download(path))
        local = files.local_path(path)
        if os.path.isabs(local):
            return local
        place = files.join(self.base_path, local)
        return str(self.download(path)) if files.is_url(place) else place


# `RemoteStreams`: the streaming download manager of a confined script, whose remote files are read by the parent.


_BLOCK = 1 << 20


class RemoteStreams(StreamingDownloadManager):
    """Like `StreamingDownloadManager`, with network and cache accesses done by the parent.

    Args:
        asked: sends questions to the parent.
    """

    def __init__(self, asked: RemoteDownloads) -> None:
        config = DownloadConfig(**{**vars(asked.download_config), "cache_dir": os.path.join(scratch(), "made")})
        super().__init__(asked.dataset_name, asked.data_dir, config, asked.base_path)
        self._asked = asked

    @property
    def cache_folders(self) -> tuple[str, str]:
        """Folders of downloads, and of unpacked files."""
        return self._asked.cache_folders

    def fetch(self, url: str) -> str:
        return self._asked.fetched(url)

    def held(self, url: str) -> str | None:
        """Return None: the parent checks the cache when the bytes are requested."""
        return None

    def stream(self, url: str) -> BinaryIO:
        return cast(BinaryIO, io.BufferedReader(_Bytes(self._asked, url), _BLOCK))

    def is_enforced(self, url: str) -> bool:
        return self._asked.answer({"ask": "enforced", "names": [url]})["is_enforced"] is True

    def tell_whole(self, url: str, *, is_folder: bool) -> None:
        """See `StreamingDownloadManager.tell_whole`: the parent logs it."""
        self._asked.answer({"ask": "whole folder" if is_folder else "whole file", "names": [url]})

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, int | str | None]]:
        return self._asked.get_recorded_sizes_checksums()

    def _fetched(self, url: str, watch: Watch) -> tuple[str, FileRecord]:
        return self._asked.located(url) or url, FileRecord()

    def _by_hand(self, url: str, place: str) -> tuple[str, FileRecord] | None:
        found = self._asked.located(url)
        return None if found is None else (found, FileRecord())

    def _unpacked(self, path: str, watch: Watch) -> str:
        return str(self._asked.extract(path))


class _Bytes(io.RawIOBase):
    """The bytes of a URL, read by the parent."""

    def __init__(self, asked: RemoteDownloads, url: str) -> None:
        super().__init__()
        self._asked = asked
        opened = asked.answer({"ask": "open", "names": [url]})
        self._handle, self._seeks = opened["handle"], opened["seekable"] is True

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self._seeks

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), _BLOCK)
        data = base64.b64decode(self._asked.answer({"ask": "read", "handle": self._handle, "size": wanted})["data"])
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if not self._seeks:
            raise io.UnsupportedOperation("seek")
        return int(self._asked.answer({"ask": "seek", "handle": self._handle, "offset": offset, "whence": whence})["position"])

    def tell(self) -> int:
        return self.seek(0, io.SEEK_CUR) if self._seeks else super().tell()

    def close(self) -> None:
        if not self.closed:
            try:
                self._asked.answer({"ask": "close", "handle": self._handle})
            finally:
                super().close()


_AHEAD = 3  # batches that are made while others are on their way


def serve(channel: Channel) -> None:
    """Answer requests until the channel is closed.

    Args:
        channel: the pipe to the parent.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True)  # what a script prints is shown while it runs
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
    """Return the parent's settings, with separate folders: data that a script loads itself is stored here."""
    own = os.path.join(os.environ["HF_HOME"], "datasets")
    folders = {"cache_dir": own, "downloads_dir": f"{own}/downloads", "extracted_dir": f"{own}/downloads/extracted"}
    return Config(**{**form, **folders, "media_paths": tuple(form["media_paths"])})


@dataclasses.dataclass(frozen=True, slots=True)
class Part:
    """A part of a split, as requested by the parent; see `building.hooks.Part`."""

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
    """One script, and its builder: a method for each request.

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
        """Run the script, and send the description of its class."""
        modules = tuple(
            Module(name, path, base64.b64decode(text), is_package) for name, path, text, is_package in request["modules"]
        )
        self._script = Script(request["script"], modules)
        self._class = load(self._script)
        form = ran(self._script, lambda: class_form(self._class), doing="looking at its builder")
        self._channel.reply(form)

    def make(self, request: Mapping[str, Any]) -> None:
        """Make the builder, and send its description."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ExperimentalVersionWarning)  # the parent's
            self._builder = ran(self._script, lambda: self._made(request), doing="creating its builder")
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
        """Send the splits, with the arguments of each."""
        manager: Any = RemoteDownloads(self._channel.question, request["downloads"])
        if request["downloads"]["is_streaming"]:
            manager = RemoteStreams(manager)
        listed = named_splits(self._builder, manager)
        self._splits = {split.name: split for split in listed}
        self._values = Values()
        forms = [[split.name, encoded(split.gen_kwargs, self._values.hold, own=scratch())] for split in listed]
        self._channel.reply({"splits": forms, **self._news()})

    def _news(self) -> dict[str, Any]:
        """Return the current content of the info, if the script has changed it."""
        before, self._told = self._told, self._builder.info.to_dict()
        return {} if self._told == before else {"info": self._told}

    def rows(self, request: Mapping[str, Any]) -> None:
        """Generate the rows of a part, as batches."""
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
        """Generate the tables of a part."""
        part, builder = self._part(request), self._builder
        if request["read_schema"] is not None:
            builder = builder.with_schema(_schema(request["read_schema"]))
        tables = builder.made_tables(part)
        with contextlib.closing(tables), _Ahead(self._channel) as ahead:
            try:
                for key, table in tables:
                    ahead.send({"key": encoded(key, shown_form)}, whole(table))
            except Replay as again:
                ahead.flush()
                self._channel.reply({"end": True, "reread": schema_form(again.schema), **self._news()})
                return
        self._channel.reply({"end": True, **self._news()})

    def place_of_row(self, request: Mapping[str, Any]) -> None:
        """Send the place at which a row is yielded."""
        part, key = self._part(request), decoded(request["key"], lambda form: None)
        self._channel.reply({"place": self._builder.place_of_row(part, request["row"], key)})

    def join_types(self, request: Mapping[str, Any]) -> None:
        """Send the type in which the builder reads a column that has two different types."""
        a, b = _schema(request["types"]).types
        joined = self._builder.join_types(a, b)
        self._channel.reply({"type": None if joined is None else schema_form(pa.schema([("joined", joined)]))})

    def _part(self, request: Mapping[str, Any]) -> Part:
        form, name = request["part"], request["part"]["split"]
        gen_kwargs = form.pop("gen_kwargs")
        whole_split = self._splits[name].gen_kwargs if gen_kwargs is None else decoded(gen_kwargs, self._values.held)
        return Part(gen_kwargs=whole_split, **form)


class _Ahead:
    """Sends in a separate thread, so that the next rows are generated meanwhile.

    Args:
        channel: the pipe.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._waiting: queue.Queue[tuple[dict[str, Any], Any] | None] = queue.Queue(_AHEAD)
        self._failed: BaseException | None = None

    def __enter__(self) -> _Ahead:
        self._sending = in_thread(self._run, "datasets_core-send")
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        self._waiting.put(None)
        self._sending.join()
        if error is None:
            self._check()

    def send(self, head: dict[str, Any], payload: Any) -> None:
        """Send as soon as possible."""
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
                self._failed = error  # raised in the thread that generates rows
            finally:
                self._waiting.task_done()


def _facts_form(facts: Facts | None) -> dict[str, Any] | None:
    return None if facts is None else facts.to_json()


def _schema(form: str) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(form)))
