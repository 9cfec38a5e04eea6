"""`SandboxedBuilder`: a builder whose script runs in a sandboxed process, with the interface of any builder.

The author's builder lives in the process, with the state that its hooks set on `self`. Its results arrive as checked values and
batches. Downloads, keys, order, shards, checks and the commit are done by the parent, with the same code as for other builders.
"""

from __future__ import annotations

import base64
import contextlib
import dataclasses
import os
from collections.abc import Generator, Iterator, Mapping
from typing import Any, ClassVar

import pyarrow as pa

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import BuilderConfig, Encoded, Part, Replay, SplitGenerator
from datasets_core.config import settings
from datasets_core.engines.deadline import Deadline
from datasets_core.engines.threads import done_by
from datasets_core.errors import (
    ColumnLimitError,
    ConfigurationError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    ScriptTimeoutError,
    logger_of,
)
from datasets_core.features.schema import Features
from datasets_core.features.unordered import Facts
from datasets_core.fetch.checksums import CHECKSUMS_NAME
from datasets_core.files import Overdue, free_bytes, is_url
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo, info_of
from datasets_core.meta.version import Version
from datasets_core.scripting.sandbox.answers import Answers, PrefetchedFiles, manager_form, sandboxed_manager
from datasets_core.scripting.sandbox.batches import (
    OtherKey,
    Receiver,
    decoded,
    encoded,
    given_back,
    read_schema,
    refused,
    remote_value,
    schema_form,
)
from datasets_core.scripting.sandbox.children import Children, in_time
from datasets_core.scripting.sandbox.denials import Denial, shown, warn_of
from datasets_core.scripting.sandbox.grants import Granted, OwnFiles
from datasets_core.scripting.sandbox.protocol import BuilderFacts, ClassFacts, Message, files_form
from datasets_core.store.chunks import ChangedRowsError

logger = logger_of(__name__)

_KEPT_FREE = 1 << 30  # bytes of the disk that are left by a script without an end


@dataclasses.dataclass(frozen=True)
class ScriptSandbox:
    """The sandbox of a script, with its rights.

    Args:
        children: its processes.
        granted: the rules for its requests.
        folder: folder of the script.
        own: files of the script's repository; None for a script in a folder.
        blind: processes of the script without access to the user's files, and their rules; None if not needed.
    """

    children: Children
    granted: Granted
    folder: str
    own: OwnFiles | None = None
    blind: tuple[Children, Granted] | None = None


class SandboxedBuilder(DatasetBuilder):
    """The builder of a script that runs in a sandboxed process.

    Args:
        confinement: the sandbox of the script.
        deadline: deadline for creating its builder.
        said: the arguments of `DatasetBuilder`.
    """

    is_confined: ClassVar[bool] = True
    is_stopped_by_timer: ClassVar[bool] = False
    class_facts: ClassVar[ClassFacts]
    class_form: ClassVar[Mapping[str, Any]]

    def __init__(self, *, confinement: ScriptSandbox, deadline: Deadline | None = None, **said: Any) -> None:
        self._confinement = confinement
        self._deadline = deadline
        self._splits: dict[str, dict[str, Any]] = {}
        self._made_bytes = 0
        self._denied: tuple[str, ...] = ()
        self._is_preparing = False
        self._answers: Answers | None = None  # requests of the script while it generates rows
        self._streams = False
        self._before: PrefetchedFiles | None = None
        self._before_of: Any = None
        script = confinement.children.script
        self._facts = BuilderFacts.of(confinement.children.made(_make_request(said), deadline), script=script)
        super().__init__(**{name: value for name, value in said.items() if name in _TOLD})
        self.config_kwargs = {name: value for name, value in said.items() if name not in _TOLD}
        self.rereads, self.merge_columns = self._facts.rereads, self._facts.merge_columns
        self.writer_batch_size = self._facts.writer_batch_size

    def __reduce__(self) -> tuple[Any, ...]:
        state = {**self.__dict__, "_is_preparing": False}
        if not self._streams:
            state["_answers"] = None  # what fetches for a build stays where the build is
        return _remade, (self.class_form, self._confinement.children.script), state

    # -- what it is ----------------------------------------------------------------------------------------------------

    @classmethod
    def class_name(cls) -> str:
        return cls.class_facts.name

    @classmethod
    def get_imported_module_dir(cls) -> str:
        """Return an empty string, since the module is imported in another process."""
        return ""

    @property
    def checksums_path(self) -> str | None:
        return os.path.join(self._confinement.folder, CHECKSUMS_NAME)

    @property
    def manual_download_instructions(self) -> str | None:
        return self._facts.manual

    @property
    def release_notes(self) -> dict[str, str]:
        return dict(self._facts.release_notes)

    def _info(self) -> DatasetInfo:
        return self._facts.info.copy()

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return self.split_generators(dl_manager)

    def _own_folders(self) -> Iterator[str]:
        """See `Built`; the name that the script reports is not trusted."""
        places = (settings().downloads_dir, settings().extracted_dir, self.download_dir or "")
        for folder in super()._own_folders():
            if self.is_partial or folder in places or self.has_source(folder):
                yield folder

    def _create_builder_config(
        self,
        config_name: str | BuilderConfig | None = None,
        custom_features: Features | None = None,
        config_id: str | None = None,
        **config_kwargs: Any,
    ) -> tuple[Any, str]:
        config = self._facts.config
        given = config_kwargs.get("data_files")
        if given is not None:
            config.data_files = given
        elif isinstance(config.data_files, DataFilesDict):
            for path in (path for listed in config.data_files.values() for path in listed):
                if "://" not in path:
                    self._confinement.granted.path(path)
        return config, self._facts.config_id

    def _pick_version(self, requested: str | Version | None) -> None:
        self._versions, self._version = self._facts.versions, self._facts.version
        self._warn_of_experimental(stacklevel=5)

    # -- what it does --------------------------------------------------------------------------------------------------

    def download_and_prepare(self, *args: Any, **options: Any) -> None:
        children = self._confinement.children
        self._deadline, self._made_bytes, self._is_preparing = Deadline.of(options.get("timeout")), 0, True
        options["timeout"] = self._deadline
        try:
            super().download_and_prepare(*args, **options)
        except Exception as error:
            for tried in dict.fromkeys(denial.tried for denial in self._taken_denials()):
                if tried != getattr(error, "tried", None):
                    logger.warning("%s tried to %s, and was denied.", children.script, tried)
            raise
        finally:
            self._is_preparing = False
            children.end()
        self._tell_denials()

    def split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        held = self._confinement
        folder, base_path = held.children.home.files, getattr(dl_manager, "_base_path", None) or held.folder
        form = manager_form(dl_manager, held.children.script, base_path=base_path, folder=folder)
        request = {"do": "split_generators", "downloads": form}
        is_streaming = bool(getattr(dl_manager, "is_streaming", False))
        manager = sandboxed_manager(dl_manager, held.granted, folder)

        def answers(granted: Granted, **how: Any) -> Answers:
            return Answers(granted, base_path=base_path, folder=folder, own=held.own, **how)

        before = None
        if held.blind is not None:
            before = self._before if is_streaming and self._before_of is dl_manager else None
            if before is None:
                before = self._fetched_before(request, answers(held.blind[1], manager=manager, is_blind=True))
            self._before, self._before_of = (before, dl_manager) if is_streaming else (None, None)
        live = answers(held.granted, manager=manager, before=before)
        replay = live if is_streaming else answers(held.granted, record=live.record)
        self._answers, self._streams = live, is_streaming
        told = held.children.named(request, live, replay, self._deadline)
        self._hear(told)
        splits = [_split_of(entry, held.children.script) for entry in told.get("splits", ())]
        self._splits = {split.name: split.gen_kwargs for split in splits}
        return splits

    def _fetched_before(self, request: dict[str, Any], answers: Answers) -> PrefetchedFiles:
        """Return the files that a run of the script without the user's files requests: they are fetched, even if it fails."""
        held = self._confinement
        assert held.blind is not None
        children = held.blind[0]
        children.make = _without_names(held.children.make)
        request = {**request, "downloads": {**request["downloads"], "data_dir": _hidden(request["downloads"]["data_dir"])}}
        try:
            with contextlib.suppress(DatasetsCoreError):  # it may need hidden files: its requests count
                children.named(request, answers, answers, self._deadline)
        finally:
            answers.close()
            children.close()
        script, at = held.children.script, None if self._deadline is None else self._deadline.at
        with in_time(script, self._deadline, "fetching its files"):
            try:
                return done_by(at, lambda: answers.fetched_before(script))
            except Overdue:
                raise ScriptTimeoutError(script, "fetching its files", seconds=0) from None

    def encoded_rows(self, job: Part, *, first: list[Any] | None = None, copies: bool = False) -> Generator[Encoded]:
        features = self.info.features
        receiver = Receiver(self.label, None if features is None or job.is_order_free else features.arrow_schema)
        keys: Any = None
        is_changed = False
        replies = self._replies({"do": "rows", "part": self._part_form(job), "copies": copies}, job)
        with contextlib.closing(replies):
            for message in replies:
                head = message.head
                if "end" in head:  # the last message
                    self._hear(head)
                    is_changed = head.get("changed") is True
                    continue
                if "rows" not in head:
                    if keys is not None:
                        raise self._nonsense("keys for the same rows twice")
                    keys = receiver.keys(head, message.payload)
                    continue
                found = keys if keys is not None else receiver.keys(head, None)
                batch, keys = receiver.batch(head, message.payload), None
                if len(found) != batch.num_rows or not batch.num_rows:
                    raise self._nonsense(f"{len(found)} keys for {batch.num_rows} rows")
                self._made_bytes += receiver.empty_bytes
                receiver.empty_bytes = 0
                yield Encoded(found, batch, self._facts_of(head.get("facts")) if job.is_order_free else None)
        if is_changed:
            raise ChangedRowsError

    def made_tables(self, job: Part) -> Generator[tuple[Any, pa.Table | pa.RecordBatch]]:
        receiver = Receiver(self.label)
        schema = None if self.read_schema is None else schema_form(self.read_schema)
        again: Any = None
        replies = self._replies({"do": "tables", "part": self._part_form(job), "read_schema": schema}, job)
        with contextlib.closing(replies):
            for message in replies:
                if "end" in message.head:  # the last message
                    self._hear(message.head)
                    again = message.head.get("reread")
                else:
                    table = receiver.table(message.payload)
                    self._made_bytes += receiver.empty_bytes
                    receiver.empty_bytes = 0
                    yield decoded(message.head.get("key"), _key), table
        if again is not None:
            raise Replay(self._schema_of(again))

    def has_source(self, path: str) -> bool:
        """See `DatasetBuilder.has_source`: paths that the script itself may read."""
        try:
            self._confinement.granted.path(path)
        except DeniedAccessError:
            return False
        return True

    def place_of_row(self, job: Part, row: int, key: Any) -> str | None:
        """See `DatasetBuilder.place_of_row`: another process generates the rows up to it again."""
        request = {"do": "place_of_row", "part": self._part_form(job), "row": row, "key": encoded(key, _no_key)}
        try:
            with contextlib.closing(
                self._confinement.children.stream(request, lambda: job.deadline, doing="finding a row")
            ) as replies:
                message = self._only(replies)
        except DatasetsCoreError:  # the error is reported without the place
            return None
        place = message.head.get("place")
        return shown(place, 4096) if isinstance(place, str) else None

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """See `DatasetBuilder.generate`; rows arrive as they are stored."""
        split = next((name for name, whole in self._splits.items() if whole == gen_kwargs), next(iter(self._splits), "train"))
        part = _Part(split, gen_kwargs)
        if self.yields == "tables":
            yield from self.made_tables(part)
            return
        for encoded_rows in self.encoded_rows(part, copies=True):
            yield from zip(encoded_rows.keys, encoded_rows.batch.to_pylist(), strict=True)

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
        request = {"do": "join_types", "types": schema_form(pa.schema([("a", a), ("b", b)]))}
        with contextlib.closing(
            self._confinement.children.stream(request, lambda: self._deadline, doing="joining types")
        ) as replies:
            form = self._only(replies).head.get("type")
        if form is None:
            return None
        types = self._schema_of(form).types
        if len(types) != 1:
            raise self._nonsense(f"{len(types)} types for one column")
        return types[0]

    def _only(self, replies: Iterator[Message]) -> Message:
        """Return the one reply to a request."""
        message = next(replies)
        if next(replies, None) is not None:
            raise self._nonsense("two replies to one request")
        return message

    def _hear(self, head: Mapping[str, Any]) -> None:
        """Apply the changes that the script made to its info, except to the dataset's identity and to measured values."""
        if "info" in head:
            changed = info_of(head["info"], path=self._confinement.children.script, place="the info of its builder")
            for name in vars(changed).keys() - _KNOWN_HERE:
                setattr(self.info, name, getattr(changed, name))

    # -- on the pipe ---------------------------------------------------------------------------------------------------

    def _replies(self, request: dict[str, Any], job: Part) -> Generator[Message]:
        part = f" (part {job.index + 1} of {job.count})" if job.count > 1 else ""
        doing, limit = f"generating the rows of split {job.split!r}{part}", self._limit(job)
        children, row = self._confinement.children, job.skip
        replies = children.stream(request, lambda: job.deadline or self._deadline, doing=doing, answer=self._answers)
        with contextlib.closing(replies):
            while True:
                try:
                    message = next(replies)
                except StopIteration:
                    break
                except ScriptTimeoutError as error:
                    told = ScriptTimeoutError(children.script, doing, seconds=error.seconds, split=job.split, row=row)
                    raise told from None
                made = message.head.get("rows")
                row += made if isinstance(made, int) else 0
                self._made_bytes += 0 if message.payload is None else len(memoryview(message.payload))
                if limit is not None and self._made_bytes > limit:
                    raise DatasetGenerationError(
                        f"{self.label} generated more than {limit:,} bytes of rows, the last for split {job.split!r}. Fix "
                        "the script if it never ends; otherwise free disk space or raise the setting confined_output_bytes."
                    )
                yield message
        if not self._is_preparing:
            self._tell_denials()

    @property
    def denied(self) -> tuple[str, ...]:
        refused = [] if self._answers is None else self._answers.denied
        now = (denial.tried for denial in (*self._confinement.children.denials, *refused))
        return tuple(dict.fromkeys((*self._denied, *now)))

    def _tell_denials(self) -> None:
        """Warn of accesses that were denied to the script and that it ignored."""
        self._denied = self.denied
        warn_of(self._taken_denials(), script=self._confinement.children.script)

    def _taken_denials(self) -> list[Denial]:
        """Return denials that were not reported yet; they count as reported from now on."""
        children = self._confinement.children
        denials, children.denials = children.denials, []
        if self._answers is not None:
            denials += self._answers.denied
            self._answers.denied = []
        return denials

    def _limit(self, job: Part) -> int | None:
        """Return the bytes of rows that may be generated; None if they are not written to a disk."""
        folder, chosen = getattr(job, "folder", None), settings().confined_output_bytes
        if chosen is not None or folder is None:
            return chosen
        free = free_bytes(folder)
        return None if free is None else self._made_bytes + max(0, free - _KEPT_FREE)

    def _part_form(self, job: Part) -> dict[str, Any]:
        whole = job.count == 1 and job.gen_kwargs == self._splits.get(job.split)
        return {
            "split": job.split,
            "gen_kwargs": None if whole else encoded(job.gen_kwargs, given_back),
            "index": job.index,
            "count": job.count,
            "batch_rows": job.batch_rows,
            "max_rows": job.max_rows,
            "is_order_free": job.is_order_free,
            "skip": job.skip,
            "is_live": job.is_live,
        }

    def _facts_of(self, form: Any) -> Facts:
        try:
            return Facts.from_json(form)
        except (KeyError, TypeError, ValueError) as error:
            raise self._nonsense("no facts of its rows") from error

    def _schema_of(self, form: Any) -> pa.Schema:
        try:
            return read_schema(base64.b64decode(form, validate=True))
        except ColumnLimitError as error:
            raise ColumnLimitError(self.label, error.value, error.limit) from error
        except (TypeError, ValueError) as error:
            raise self._nonsense("a damaged schema") from error

    def _nonsense(self, what: str) -> DatasetGenerationError:
        return DatasetGenerationError(
            f"{self.label} sent {what} out of its confined process, and was stopped. Do not trust it."
        )


@dataclasses.dataclass(frozen=True, slots=True)
class _Part:
    """All rows of a split, one by one; see `building.hooks.Part`."""

    split: str
    gen_kwargs: dict[str, Any]
    index: int = 0
    count: int = 1
    batch_rows: int | None = None
    max_rows: int | None = None
    deadline: Deadline | None = None
    is_order_free: bool = False
    skip: int = 0
    is_live: bool = False


_KNOWN_HERE = frozenset(
    {"builder_name", "dataset_name", "config_name", "version", "splits", "download_checksums", "download_size",
     "post_processing_size", "dataset_size", "size_in_bytes"}
)  # fmt: skip
_TOLD = frozenset(
    {"cache_dir", "dataset_name", "config_name", "hash", "base_path", "info", "features", "token", "repo_id", "data_files",
     "data_dir", "storage_options", "writer_batch_size", "config_id", "version"}
)  # fmt: skip


def _make_request(said: Mapping[str, Any]) -> dict[str, Any]:
    """Return the request that makes the builder; tokens and options of file systems are not sent."""
    features, info, data_files = said.get("features"), said.get("info"), said.get("data_files")
    texts = ("cache_dir", "dataset_name", "config_name", "hash", "base_path", "data_dir", "repo_id")
    version = said.get("version")
    options = {name: value for name, value in said.items() if name not in _TOLD or name == "writer_batch_size"}
    return {
        "do": "make",
        **{name: said.get(name) for name in texts},
        "cache_dir": said.get("cache_dir") or settings().cache_dir,
        "version": None if version is None else str(version),
        "features": None if features is None else features.to_dict(),
        "info": None if info is None else info.to_dict(),
        "data_files": None if data_files is None else files_form(data_files),
        "options": encoded(options, refused),
    }


def _without_names(make: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the request that makes the builder, for a run that may still ask for URLs: names, sizes and identities of files
    are the user's.
    """
    if make is None:
        return None
    hidden = [
        [split, [[_hidden(path, number), 0, ""] for number, (path, _, _) in enumerate(files)]]
        for split, files in make["data_files"] or ()
    ]
    data_files = None if make["data_files"] is None else hidden
    return {**make, "data_dir": _hidden(make["data_dir"]), "data_files": data_files}


def _hidden(path: str | None, number: int = 0) -> str | None:
    """Return a placeholder for a local path, which only has its extension."""
    if path is None or is_url(path):
        return path
    return f"/fetched by hand/{number}{os.path.splitext(path)[1][:8]}"


def _split_of(entry: Any, script: str) -> SplitGenerator:
    if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], str):
        gen_kwargs = decoded(entry[1], remote_value)
        if isinstance(gen_kwargs, dict):
            return SplitGenerator(entry[0], gen_kwargs)
    raise ConfigurationError(f"{script} sent invalid splits from its confined process", advice="Do not trust it")


def _no_key(key: Any) -> dict[str, Any]:
    return {"held": {"shown": type(key).__name__}}


def _key(form: Mapping[str, Any]) -> OtherKey:
    return OtherKey(str(form.get("shown")))


def sandboxed_class(form: Mapping[str, Any], script: str) -> type[SandboxedBuilder]:
    """Return the builder class of a script, from the description of its process.

    Args:
        form: the description.
        script: the script, for messages.

    Raises:
        ScriptError: the description is impossible.
    """
    facts = ClassFacts.of(form, script=script)
    told = {
        "__doc__": facts.doc,
        "__module__": __name__,
        "class_facts": facts,
        "class_form": form,
        "BUILDER_CONFIGS": list(facts.configs),
        "DEFAULT_CONFIG_NAME": facts.default,
        "VERSION": None if facts.version is None else Version(facts.version),
        "BLOCKED_VERSIONS": facts.blocked,
        "yields": facts.yields,
        "shuffle_on_write": facts.shuffle_on_write,
        "requires_version": facts.requires_version,
        "is_of_old_datasets": facts.is_of_old_datasets,
    }
    return type(facts.class_name, (SandboxedBuilder,), told)


def _remade(form: Mapping[str, Any], script: str) -> SandboxedBuilder:
    cls = sandboxed_class(form, script)
    return cls.__new__(cls)
