"""Messages between parent and sandboxed process; classes and builders described as plain values, checked in the parent."""

from __future__ import annotations

import dataclasses
import json
import os
import struct
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import BuilderConfig, check_name
from datasets_core.building.versions import BlockedVersions, Versions
from datasets_core.errors import ConfigurationError, DatasetsCoreError, ScriptError
from datasets_core.features.schema import Features
from datasets_core.features.serialization import check_forms
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.info import DatasetInfo, info_of
from datasets_core.meta.version import Version
from datasets_core.scripting.sandbox.batches import decoded, encoded, shown_form
from datasets_core.scripting.sandbox.denials import Watch, head_of, shown

if TYPE_CHECKING:
    import pyarrow as pa

_LONGEST_NAME = 255
_MOST_CONFIGS = 100_000


# -- in the confined process -------------------------------------------------------------------------------------------


def class_form(cls: type[DatasetBuilder]) -> dict[str, Any]:
    """Return the description of a class, before a builder is made."""
    blocked = BlockedVersions.of(cls.BLOCKED_VERSIONS)
    return {
        "class": cls.__name__,
        "name": cls.class_name(),
        "doc": cls.__doc__,
        "configs": [_config_form(config, _shown) for config in cls.builder_configs.values()],
        "default": cls.DEFAULT_CONFIG_NAME,
        "version": None if cls.VERSION is None else str(cls.VERSION),
        "yields": cls.yields,
        "shuffle_on_write": bool(cls.shuffle_on_write),
        "requires_version": bool(cls.requires_version),
        "is_of_old_datasets": bool(cls.is_of_old_datasets),
        "blocked": [
            [[str(version), _reason(reason)] for version, reason in blocked.versions.items()],
            [[str(name), _blocked_form(found)] for name, found in blocked.configs.items()],
        ],
    }


def _reason(reason: object) -> str | None:
    return None if reason is None else str(reason)


def _blocked_form(found: Any) -> Any:
    return (
        {str(version): _reason(reason) for version, reason in found.items()} if isinstance(found, Mapping) else _reason(found)
    )


def builder_form(builder: DatasetBuilder) -> dict[str, Any]:
    """Return the description of a builder."""
    versions = builder._versions
    return {
        "config": _config_form(builder.config, _remote_form),
        "config_id": builder.config_id,
        "version": _version_form(builder.version),
        "canonical": _version_form(versions.canonical),
        "supported": [_version_form(version) for version in versions.supported],
        "refused": [str(version) for version in versions.blocked],
        "release_notes": builder.release_notes,
        "info": builder.info.to_dict(),
        "manual": builder.manual_download_instructions,
        "rereads": bool(builder.rereads),
        "merge_columns": bool(builder.merge_columns),
        "writer_batch_size": builder.writer_batch_size,
    }


def _version_form(version: Version) -> dict[str, Any]:
    release = version.library_version_to_prepare
    description = _reason(version.description)
    return {"version": str(version), "description": description, "release": None if release is None else str(release)}


def _config_form(config: Any, hold: Any) -> dict[str, Any]:
    fields = {name: encoded(value, hold) for name, value in vars(config).items() if not name.startswith("_")}
    return {"name": config.name, "fields": fields}


def _shown(value: Any) -> dict[str, Any]:
    if isinstance(value, Version):
        return {"held": {"version": _version_form(value)}}
    return shown_form(value)


def _remote_form(value: Any) -> dict[str, Any]:
    if isinstance(value, Features):
        return {"held": {"features": value.to_dict()}}
    if isinstance(value, DataFilesDict):
        return {"held": {"files": files_form(value)}}
    return _shown(value)


def files_form(data_files: DataFilesDict) -> list[Any]:
    """Return data files with their identities."""
    return [[str(split), list(map(list, files.identities))] for split, files in data_files.items()]


def files_of(form: Sequence[Any]) -> DataFilesDict:
    """Return data files from their form."""
    found = DataFilesDict()
    for split, identities in form:
        known = [(str(path), int(size), str(identity)) for path, size, identity in identities]
        found[str(split)] = DataFilesList((path for path, _, _ in known), known)
    return found


# -- in the parent -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RemoteText:
    """A value of a config that stays in the confined process, as text.

    Args:
        text: the text.
    """

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """Checked description of a class of a sandboxed script.

    Attributes:
        class_name, name: names of the class, and of its builders.
        doc: its docstring.
        configs: its configs, in their order.
        default: the name of the default one.
        version: its version.
        yields: "rows" or "tables".
        shuffle_on_write, requires_version, is_of_old_datasets: as for `DatasetBuilder`.
        blocked: versions and configs that its author blocked.
    """

    class_name: str
    name: str
    doc: str | None
    configs: tuple[BuilderConfig, ...]
    default: str | None
    version: str | None
    yields: Any
    shuffle_on_write: bool
    requires_version: bool
    is_of_old_datasets: bool
    blocked: BlockedVersions

    @classmethod
    def of(cls, form: Mapping[str, Any], *, script: str) -> ClassFacts:
        """Return the facts of a form.

        Raises:
            ScriptError: it is not a result of `class_form`.
        """
        with _Checked(script):
            versions, configs = form["blocked"]
            yields = _text(form["yields"])
            if yields not in ("rows", "tables"):
                raise ValueError(yields)
            if len(form["configs"]) > _MOST_CONFIGS:
                raise ValueError("too many configs")
            return cls(
                class_name=_identifier(form["class"]),
                name=_folder_name(form["name"]),
                doc=_optional(form["doc"]),
                configs=tuple(_config_of(each) for each in form["configs"]),
                default=_optional(form["default"]),
                version=_optional(form["version"]),
                yields=yields,
                shuffle_on_write=form["shuffle_on_write"] is True,
                requires_version=form["requires_version"] is True,
                is_of_old_datasets=form["is_of_old_datasets"] is True,
                blocked=BlockedVersions(_reasons(versions), {_text(name): _blocked_of(found) for name, found in configs}),
            )


@dataclass(frozen=True, slots=True)
class BuilderFacts:
    """Checked description of a builder of a sandboxed script.

    Attributes:
        config, config_id: its config, and the name of the config's folder.
        version, versions: the picked version, and all listed ones.
        release_notes: changes, by version.
        info: its info.
        manual: instructions for manual downloads.
        rereads, merge_columns, writer_batch_size: as for `DatasetBuilder`.
    """

    config: BuilderConfig
    config_id: str
    version: Version
    versions: Versions
    release_notes: dict[str, str]
    info: DatasetInfo
    manual: str | None
    rereads: bool
    merge_columns: bool
    writer_batch_size: int | None

    @classmethod
    def of(cls, form: Mapping[str, Any], *, script: str) -> BuilderFacts:
        """Return the facts of a form.

        Raises:
            ScriptError: it is not a result of `builder_form`, or has an invalid folder name.
        """
        info = info_of(form.get("info"), path=script, place="the info of its builder")
        with _Checked(script):
            supported = tuple(map(_version_of, form["supported"]))
            blocked = frozenset(Version(_text(version)) for version in form["refused"])
            batch = form["writer_batch_size"]
            if batch is not None and (type(batch) is not int or batch < 1):
                raise ValueError(batch)
            config = _config_of(form["config"])
            if not isinstance(config.version, str | Version | None) or not isinstance(config.data_files, DataFilesDict | None):
                raise TypeError("an invalid version, or invalid data files")
            notes = {_text(version): _text(note) for version, note in form["release_notes"].items()}
            return cls(
                config=config,
                config_id=_folder_name(form["config_id"]),
                version=_version_of(form["version"]),
                versions=Versions(_version_of(form["canonical"]), supported, blocked),
                release_notes=notes,
                info=info,
                manual=None if form["manual"] is None else shown(_text(form["manual"])),
                rereads=form["rereads"] is True,
                merge_columns=form["merge_columns"] is True,
                writer_batch_size=batch,
            )


class _Checked:
    """Converts errors in a description to one error that names the script."""

    def __init__(self, script: str) -> None:
        self._script = script

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (KeyError, TypeError, ValueError, AttributeError)) and not isinstance(error, DatasetsCoreError):
            reason = f"its process sent an invalid builder ({type(error).__name__}: {str(error)[:200]})"
            raise ScriptError(self._script, reason, advice="Do not trust it") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} instead of a text")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _identifier(value: Any) -> str:
    if not _text(value).isidentifier() or len(value) > _LONGEST_NAME:
        raise ValueError(f"a class called {value[:100]!r}")
    return str(value)


def _folder_name(value: Any) -> str:
    check_name(_text(value))
    if len(os.fsencode(value)) > _LONGEST_NAME or not value.isprintable() or ".incomplete-" in value:
        raise ConfigurationError(f"{value[:100]!r} is not a valid folder name", advice="Fix the names in the script")
    return str(value)


def _version_of(form: Mapping[str, Any]) -> Version:
    return Version(
        _text(form["version"]), _optional(form["description"]), library_version_to_prepare=_optional(form["release"])
    )


def _reasons(pairs: Iterable[Any]) -> dict[str, str | None]:
    return {_text(version): _optional(reason) for version, reason in pairs}


def _blocked_of(found: Any) -> Any:
    return _reasons(found.items()) if isinstance(found, dict) else _optional(found)


def _config_of(form: Mapping[str, Any]) -> BuilderConfig:
    config = BuilderConfig(name=_text(form["name"]))
    for name, value in form["fields"].items():
        if name == "name":
            continue
        if not name.isidentifier() or name.startswith("_") or callable(getattr(BuilderConfig, name, None)):
            raise ValueError(f"a field called {name[:100]!r}")
        setattr(config, name, decoded(value, _remote_value_of))
    if not isinstance(config.description, str | None) or not isinstance(config.data_dir, str | None):
        raise TypeError("a description, or a data_dir, that is not a string")
    return config


def _remote_value_of(form: Mapping[str, Any]) -> Any:
    ((kind, inner),) = form.items()
    if kind == "version":
        return _version_of(inner)
    if kind == "features":
        return Features.from_dict(check_forms(inner))
    if kind == "files":
        return files_of(inner)
    if kind == "shown":
        return RemoteText(shown(_text(inner)))
    raise ValueError(kind)


# Messages between a confined process and its parent: a length, a JSON head, and maybe a binary payload; never a pickle.


MAX_HEAD_BYTES = 16 << 20
MAX_PAYLOAD_BYTES = 1 << 31
MAX_DEPTH = 64
_MOST_VALUES = 1 << 22  # of a head: each takes some fifty bytes, a list or an entry of a dict more
_AT_ONCE = 16 << 20  # payload bytes that memory is taken for before they have come
_CHUNK = 1 << 16
_HEADER = struct.Struct("!cIQ")


class Kind(Enum):
    """Kind of a message; the parent sends the first two."""

    REQUEST = b"R"
    ANSWER = b"A"
    READY = b"Y"
    PART = b"P"
    LAST = b"L"
    QUESTION = b"Q"
    FAILURE = b"F"
    DENIAL = b"D"


_FROM_CHILD = frozenset(Kind) - {Kind.REQUEST, Kind.ANSWER}


class PipeError(Exception):
    """Bytes that are not a message, or a message that is too large."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message of either side.

    Attributes:
        head: plain values.
        payload: bytes after the head, if any.
    """

    head: dict[str, Any]
    payload: pa.Buffer | bytes | None = None


def packed(kind: Kind, head: Mapping[str, Any], payload_bytes: int = 0) -> bytes:
    """Return a message up to its payload.

    Raises:
        PipeError: the head is too large, or contains values that are not plain.

    >>> packed(Kind.REQUEST, {"do": "info"})
    b'R\\x00\\x00\\x00\\r\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00{"do":"info"}'
    """
    try:
        text = json.dumps(head, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise PipeError(f"a head that is not of plain values: {error}") from error
    if len(text) > MAX_HEAD_BYTES:
        raise PipeError(f"a head of {len(text):,} bytes, where at most {MAX_HEAD_BYTES:,} may be sent")
    return _HEADER.pack(kind.value, len(text), payload_bytes) + text


def _head(text: bytes | bytearray) -> dict[str, Any]:
    num_values = text.count(b",") + 2 * text.count(b":") + 4 * (text.count(b"[") + text.count(b"{"))
    if num_values > _MOST_VALUES:  # those in texts count too
        raise PipeError("a head of too many values")
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise PipeError(f"a head that is not valid JSON ({error})") from error
    if not isinstance(head, dict):
        raise PipeError("a head that is not a JSON object")
    level: list[Any] = [head]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for value in level
            for inner in (value.values() if isinstance(value, dict) else value)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return head
    raise PipeError(f"a head nested deeper than {MAX_DEPTH}")


class Incoming:
    """The parent's end of the pipe from a confined process: non-blocking, and every message is checked.

    Args:
        descriptor: the pipe.
        max_payload_bytes: the largest payload that is accepted.
    """

    def __init__(self, descriptor: int, *, max_payload_bytes: int = MAX_PAYLOAD_BYTES) -> None:
        self.descriptor = descriptor
        self._limit = min(max_payload_bytes, MAX_PAYLOAD_BYTES)
        self._begun = bytearray()
        self._pending: tuple[Kind, dict[str, Any], int] | None = None
        self._payload: Any = None
        self._filled = 0
        os.set_blocking(descriptor, False)

    @property
    def is_empty(self) -> bool:
        """True if all data that was read has been returned."""
        return not self._begun and self._pending is None

    def read(self) -> tuple[Kind, Message] | None:
        """Return the next message if it is complete, without waiting.

        Raises:
            PipeError: malformed data.
            EOFError: the pipe is closed.
        """
        while True:
            if self._pending is None:
                self._pending = self._begin()
            if self._pending is not None:
                kind, head, size = self._pending
                if self._filled == size:
                    payload, self._pending, self._payload, self._filled = self._payload, None, None, 0
                    return kind, Message(head, payload)
            if not self._more():
                return None

    def _begin(self) -> tuple[Kind, dict[str, Any], int] | None:
        """Return a complete head, with the payload received so far in its buffer."""
        if len(self._begun) < _HEADER.size:
            return None
        letter, head_bytes, size = _HEADER.unpack_from(self._begun)
        try:
            kind = Kind(letter)
        except ValueError:
            raise PipeError(f"a message of no known kind ({letter!r})") from None
        if kind not in _FROM_CHILD or head_bytes > MAX_HEAD_BYTES or size > self._limit:
            raise PipeError(f"a message of {head_bytes:,} and {size:,} bytes, which is invalid or too large")
        end = _HEADER.size + head_bytes
        if len(self._begun) < end:
            return None
        head = _head(self._begun[_HEADER.size : end])
        rest = bytes(self._begun[end : end + size])
        del self._begun[: end + len(rest)]
        if size:
            self._payload = _memory(min(size, _AT_ONCE))
            memoryview(self._payload).cast("B")[: len(rest)] = rest
            self._filled = len(rest)
        return kind, head, size

    def _more(self) -> bool:
        """Read the available data; return True if there was any."""
        try:
            if self._pending is None:
                chunk = os.read(self.descriptor, _CHUNK)
                self._begun += chunk
                count = len(chunk)
            else:
                size = self._pending[2]
                if self._filled == self._payload.size:  # no memory for what is announced, only for what comes
                    larger = _memory(min(size, 2 * self._filled))
                    memoryview(larger).cast("B")[: self._filled] = memoryview(self._payload).cast("B")
                    self._payload = larger
                count = os.readv(self.descriptor, [memoryview(self._payload)[self._filled :]])
                self._filled += count
        except BlockingIOError:
            return False
        if not count:
            raise EOFError("the confined process ended in the middle of a message" if not self.is_empty else "it ended")
        return True


def _memory(size: int) -> Any:
    import pyarrow as pa  # 200 ms that only payloads need

    return pa.allocate_buffer(size)


class Channel:
    """The sandboxed process's end: requests, replies, and questions to the parent.

    Args:
        reads, writes: descriptors of its two pipes.
    """

    def __init__(self, reads: int, writes: int) -> None:
        self.watch: Watch | None = None  # records denials, once the sandbox is entered
        self._reads, self._writes = reads, writes
        self._lock = threading.RLock()

    def requests(self) -> Iterator[dict[str, Any]]:
        """Yield the requests, until the parent closes its end."""
        while True:
            message = self._receive(Kind.REQUEST)
            if message is None:
                return
            yield message

    def reply(self, head: Mapping[str, Any], payload: Any = None, last: bool = True) -> None:
        """Send a reply to the current request, the last one or one of several.

        Args:
            head: plain values.
            payload: a buffer to send along.
            last: no more replies follow.
        """
        self.send(Kind.LAST if last else Kind.PART, head, payload)

    def question(self, head: Mapping[str, Any]) -> dict[str, Any]:
        """Send the parent a question during a request.

        Raises:
            EOFError: the parent has ended.
        """
        with self._lock:
            self.send(Kind.QUESTION, head)
            answer = self._receive(Kind.ANSWER)
        if answer is None:
            raise EOFError("the parent of this confined process has ended")
        return answer

    def fail(self, error: BaseException) -> None:
        """End the current request with an error, which the parent raises."""
        self.send(Kind.FAILURE, head_of(error, None if self.watch is None else self.watch.blamed(error)))

    def send(self, kind: Kind, head: Mapping[str, Any], payload: Any = None) -> None:
        """Send one complete message of any kind, after notes of accesses denied since the last one."""
        with self._lock:
            self.tell_denials()
            self._write(kind, head, payload)

    def tell_denials(self) -> None:
        """Send notes of accesses denied since the last message."""
        with self._lock:
            while self.watch is not None and self.watch.unsent:
                self._write(Kind.DENIAL, dataclasses.asdict(self.watch.unsent.pop(0)), None)

    def _write(self, kind: Kind, head: Mapping[str, Any], payload: Any) -> None:
        view = None if payload is None else memoryview(payload).cast("B")
        parts = [memoryview(packed(kind, head, 0 if view is None else len(view)))]
        if view is not None and len(view):
            parts.append(view)
        while parts:
            written = os.writev(self._writes, parts)
            while parts and written >= len(parts[0]):
                written -= len(parts.pop(0))
            if parts:
                parts[0] = parts[0][written:]

    def _receive(self, expected: Kind) -> dict[str, Any] | None:
        header = self._exactly(_HEADER.size)
        if header is None:
            return None
        letter, head_bytes, _ = _HEADER.unpack(header)
        text = self._exactly(head_bytes)
        if letter != expected.value or text is None:
            raise PipeError("the parent sent an unexpected message")
        head: dict[str, Any] = json.loads(text)
        return head

    def _exactly(self, size: int) -> bytes | None:
        parts = bytearray()
        while len(parts) < size:
            chunk = os.read(self._reads, min(size - len(parts), 1 << 20))
            if not chunk:
                return None
            parts += chunk
        return bytes(parts)


# Code run in the sandbox: how `datasets-core doctor` and the tests check that it holds.


def serve(channel: Channel) -> None:
    """Run the text of each request, and answer with the value of its variable `result`.

    A text may call `reply(head, payload)`, any number of times, and `question(head)`.
    """
    for request in channel.requests():
        names: dict[str, Any] = {
            "result": None,
            "question": channel.question,
            "reply": lambda head, payload=None: channel.reply(head, payload, last=False),
        }
        try:
            exec(compile(request["text"], request.get("path", "<trial>"), "exec"), names)
        except Exception as error:
            channel.fail(error)
        else:
            channel.reply({"result": names["result"]})
