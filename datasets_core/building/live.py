"""`LiveSplits`: a builder as a stream: the author's hooks run while rows are read; nothing is written.

It also has the split expressions of streams (`split_blocks`), and the fallback for scripts that need a local file.

Each part of a split is a job of the stream, and generates its rows in the order of a build.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import pyarrow as pa

from datasets_core.building.cache_key import is_format
from datasets_core.building.hooks import Builder, SplitGenerator, divide, holds_once, names_of_parts
from datasets_core.building.live_jobs import Begun, FileJob, LiveJob, LiveTables
from datasets_core.building.marks import MarkCache
from datasets_core.building.options import BuildOptions, Register, download_manager, has_register, named_splits
from datasets_core.engines.deadline import Deadline
from datasets_core.engines.process import packed, unpacked
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    FileFormatError,
    UnknownSplitError,
    UrlNotFoundError,
    logger_of,
    redact,
)
from datasets_core.features.media.media import MediaPaths
from datasets_core.fetch.disk_cache import INDEX_BYTES, IndexCache
from datasets_core.fetch.streaming import StreamingDownloadManager
from datasets_core.files import is_url, join
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import ALL, ReadInstruction, SplitPart, nested
from datasets_core.store.fingerprint import Hasher
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.nodes.jobs import RowsOfJobs
from datasets_core.stream.plan import Plan
from datasets_core.stream.steps import Limit, Step

if TYPE_CHECKING:
    from datasets_core.stream.iterable_dict import IterableDatasetDict
    from datasets_core.stream.sources.block_index import BlockIndex
    from datasets_core.stream.sources.blocks import BlockPart

# Streamed scripts that open a path converted to a string: detected by their errors, since a string cannot fetch
# its file.


# Error messages of Python, and of packages that open paths in C, for a missing local file.
_NOT_HERE = re.compile(
    r"FileNotFoundError|NotADirectoryError|No such file|does not exist|not found|rror opening|nable to open|OSError|"
    r"cannot open|nrecognized filesystem",
    re.IGNORECASE,
)
_NETWORK = ("connect to ", "look up ")


def unopened(error: BaseException, given: Collection[str]) -> str | None:
    """Return the URL whose text a failed script used as the path of a file; None if it failed for another reason.

    Args:
        error: the error of the library for the failure.
        given: the URLs passed to the script as paths.

    >>> failed = DatasetGenerationError("FileNotFoundError: No such file or directory: 'https://example.org/a.csv.txt'")
    >>> unopened(failed, ["https://example.org/a.csv"])
    'https://example.org/a.csv'
    """
    longest_first = sorted(given, key=len, reverse=True)
    if isinstance(error, UrlNotFoundError):  # a name next to a given one is a file that the script would create
        shown = {form: url for url in longest_first for form in (url, redact(url))}
        return next((url for form, url in shown.items() if error.url.startswith(form) and error.url != form), None)
    if isinstance(error, DeniedAccessError):
        hosts = {urlsplit(url).hostname: url for url in longest_first}
        is_network = error.tried.startswith(_NETWORK)
        return next((url for host, url in hosts.items() if is_network and host and host in error.tried), None)
    if not isinstance(error, DatasetGenerationError) or isinstance(error, FileFormatError):
        return None
    words = str(error)
    if not _NOT_HERE.search(words):
        return None
    return next((url for url in longest_first if any(form in words for form in _forms(url))), None)


def _forms(url: str) -> tuple[str, ...]:
    """Return the forms of a URL in error messages: unchanged, as `pathlib` writes it, and as `repr` does."""
    path = os.path.normpath(url)
    return url, path, redact(url), repr(url)[1:-1]


# The rows of a split expression in blocks of its files, if the format has blocks: only needed blocks are read.


@dataclass(frozen=True, slots=True)
class SplitBlocks:
    """The files of all splits of a dataset.

    Attributes:
        indexes: the blocks of each split, in the order of the splits.
        recorded: recorded numbers of rows of splits.
        label: name of the dataset in messages.
        steps: steps from the rows of the files to those of the dataset.
    """

    indexes: Mapping[str, BlockIndex]
    recorded: Mapping[str, int]
    label: str
    steps: tuple[Step, ...] = ()

    def parts(self, instruction: ReadInstruction) -> tuple[BlockPart, ...]:
        """Return the rows of a split expression.

        Raises:
            UnknownSplitError: the split does not exist.
        """
        return tuple(found for part in instruction.parts for found in self._parts(part))

    def _parts(self, part: SplitPart) -> Iterator[BlockPart]:
        from datasets_core.stream.sources.blocks import BlockPart

        if part.split not in self.indexes and part.split != ALL:
            raise UnknownSplitError(part.split, known=list(self.indexes), dataset=self.label)
        names = list(self.indexes) if part.split == ALL else [part.split]
        is_plain = part.start is None and part.stop is None and not part.cuts
        for name in names:
            if is_plain:
                yield BlockPart(self.indexes[name])
            elif part.split != ALL and part.unit == "abs" and not part.cuts and min(part.start or 0, part.stop or 0) >= 0:
                start, stop = int(part.start or 0), None if part.stop is None else int(part.stop)
                yield BlockPart(self.indexes[name], Fixed(start, stop if stop is None else max(start, stop)))
            else:
                yield BlockPart(self.indexes[name], Bounds(self, part, name))


@dataclass(frozen=True, slots=True)
class Fixed:
    """Rows selected by number."""

    start: int
    stop: int | None

    def __call__(self) -> tuple[int, int | None]:
        return self.start, self.stop


@dataclass(frozen=True)
class Bounds:
    """Rows selected by percent, from the end, by shards or as an even part; footers are read if the row counts are not
    recorded.

    Attributes:
        splits: the splits.
        part: the requested rows.
        name: name of the split.
    """

    splits: SplitBlocks
    part: SplitPart
    name: str

    def __call__(self) -> tuple[int, int | None]:
        known = self.__dict__.get("known")
        if known is None:
            found = ReadInstruction.from_parts((self.part,)).to_absolute(self._lengths())
            known = next(((start, stop) for name, start, stop in found if name == self.name), (0, 0))
            self.__dict__["known"] = known
        return known

    def _lengths(self) -> dict[str, Any]:
        """Return the number of rows of each split, or of each file if shards are counted."""
        splits, names = self.splits, list(self.splits.indexes)
        asked = names if self.part.split == ALL else [self.name]
        lengths: dict[str, Any] = {}
        for name in asked:
            if self.part.unit == "shard":
                lengths[name] = splits.indexes[name].file_rows()
            else:
                known = splits.recorded.get(name)
                lengths[name] = splits.indexes[name].whole() if known is None else known
        return lengths


def split_blocks(builder: Any, asked: Mapping[str, Mapping[str, Any]], recorded: Mapping[str, int]) -> SplitBlocks | None:
    """Return the files of all splits with their blocks; None if a file has none.

    Args:
        builder: the builder of a format.
        asked: arguments of the hook for each split.
        recorded: recorded number of rows of splits.
    """
    from datasets_core.stream.sources.block_index import BlockIndex

    indexes: dict[str, BlockIndex] = {}
    if not hasattr(builder, "block_files"):  # not all formats only have files
        return None
    for split, found in asked.items():
        files = builder.block_files(found)
        if files is None:
            return None
        indexes[split] = BlockIndex(files)
    return SplitBlocks(indexes, recorded, str(builder.label), builder.block_steps()) if indexes else None


logger = logger_of(__name__)


class LiveSplits:
    """The splits of a builder in a streaming build; the hooks run when the first split is read.

    Args:
        builder: the builder.
        options: options for downloads and checks.
        paths: the paths among values that are allowed to be opened.
    """

    def __init__(self, builder: Any, options: BuildOptions, paths: MediaPaths) -> None:
        self.builder, self._paths = builder, paths
        self._timeout = None if options.timeout is None else options.timeout.seconds
        self._manager = options.dl_manager or download_manager(builder, options, kind=StreamingDownloadManager)
        if has_register(builder, options):
            Register.of(builder, options).equip(self._manager)
        self._named: dict[str, SplitGenerator] | None = None
        self._unread: set[str] = set()  # splits that were not started since they were defined
        self.one_piece: dict[str, str | None] = {}
        self.tables: dict[str, LiveTables] = {}
        self._blocks: list[SplitBlocks | None] = []
        self.heads: dict[str, pa.Schema] = {}
        self.begun: dict[str, Begun] = {}
        self._divided: dict[str, tuple[dict[str, Any], list[dict[str, Any]]]] = {}
        self._marks: MarkCache | None = None

    @property
    def marks(self) -> MarkCache:
        """The marks in the files of a format."""
        if self._marks is None:
            self._marks = MarkCache(partial(_told, self.builder), _cache_of(self.builder))
        return self._marks

    @property
    def names(self) -> list[str]:
        """The names of the splits, in order."""
        return list(self.splits())

    @property
    def deadline(self) -> Deadline | None:
        """Deadline of the author's code for the next rows, from now."""
        return None if self._timeout is None else Deadline.of(self._timeout)

    def splits(self, *, again: bool = False) -> dict[str, SplitGenerator]:
        """Return the splits by name; with `again`, defined again if they can only be read once."""
        if self._named is None or again:
            try:
                self._named = self._name()
            except DatasetsCoreError as error:
                if not self.fetches_first(error):
                    raise
                self._named = self._name()
            self._unread = set(self._named)
        return self._named

    def _name(self) -> dict[str, SplitGenerator]:
        deadline = self.deadline if self.builder.is_stopped_by_timer else None
        return {split.name: split for split in named_splits(self.builder, self._manager, deadline=deadline)}

    def fetches_first(self, error: DatasetsCoreError) -> bool:
        """Return whether to fetch files and retry after this failure of the author's code; logged once.

        That is the case if the code used the text of a URL as the path of a file.
        """
        manager = self._manager
        if not isinstance(manager, StreamingDownloadManager):
            return False
        url = unopened(error, manager.given_urls)
        if url is None:
            return False
        logger.warning(
            "%s converts the path of %s to a string and opens it, which cannot be streamed: from now on files are downloaded "
            "before they are read. Load it without streaming to build it once, or change the script to pass the path "
            "itself to open().",
            self.label,
            redact(url),
        )
        self._manager, self._named = manager.fetching(), None
        return True

    def stream(self, split: str | ReadInstruction) -> IterableDataset:
        """Return the rows of a split expression.

        Raises:
            UnknownSplitError: the split does not exist.
            ConfigurationError: the expression needs the number of rows, which is not known.
        """
        instruction = split if isinstance(split, ReadInstruction) else ReadInstruction.from_spec(str(split))
        if (blocks := self._split_blocks()) is not None:
            return self._stream_of_blocks(blocks, instruction, split if isinstance(split, str) else split.to_spec())
        jobs = tuple(job for part in instruction.parts for job in self._jobs(part))
        text = str(split) if isinstance(split, str) else split.to_spec()
        info: DatasetInfo = self.builder.shown_info()
        identity = partial(_signed, self.builder, text, len(jobs))
        asks = jobs[0].first_schema if jobs and isinstance(jobs[0], FileJob) else None
        names = partial(self._names, jobs) if self.is_format else None
        source = RowsOfJobs(jobs, info.features, self._paths, identity, asks, names)
        return IterableDataset(Plan(source, (), max(1, len(jobs))), info, text)

    def _split_blocks(self) -> SplitBlocks | None:
        """Return the blocks of the files, if the format has blocks."""
        if not self._blocks:
            builder = self.builder
            asked = {name: split.gen_kwargs for name, split in self.splits().items()} if self.is_format else {}
            recorded = {} if builder.is_partial else builder.recorded.splits or {}
            known = {name: found.num_examples for name, found in recorded.items()}
            self._blocks = [split_blocks(builder, asked, known)]
        return self._blocks[0]

    def _stream_of_blocks(self, blocks: SplitBlocks, instruction: ReadInstruction, text: str) -> IterableDataset:
        from datasets_core.stream.sources.blocks import RowsOfBlocks

        info: DatasetInfo = self.builder.shown_info()
        steps = blocks.steps
        if steps:  # filters drop rows: the numbers of a slice refer to the remaining ones
            instruction, cut = self._cut_behind(instruction, text)
            steps = (*steps, *cut)
        parts = blocks.parts(instruction)
        count = sum(len(part.index.files) for part in parts)
        identity = partial(_signed, self.builder, text, count)
        label = f"split {text!r} of {self.label}"
        source = RowsOfBlocks(parts, None if blocks.steps else info.features, self._paths, label, identity)
        return IterableDataset(Plan(source, steps, max(1, count)), info, text)

    def _cut_behind(self, instruction: ReadInstruction, text: str) -> tuple[ReadInstruction, tuple[Limit, ...]]:
        """Return the whole splits of an expression, and the steps that cut their rows after they were filtered.

        Raises:
            ConfigurationError: the expression needs the number of remaining rows.
        """
        if all(part.start is None and part.stop is None and not part.cuts for part in instruction.parts):
            return instruction, ()
        first, *more = instruction.parts
        is_counted = first.unit == "abs" and not first.cuts and min(first.start or 0, first.stop or 0) >= 0
        if more or first.split == ALL or not is_counted:
            raise ConfigurationError(
                f"{text!r} of {self.label} cannot be streamed with filters=: the number of remaining rows is unknown",
                advice=f"Select rows from the beginning, such as '{first.split}[:100]', or omit streaming=True",
                value=text,
            )
        start, stop = int(first.start or 0), None if first.stop is None else int(first.stop)
        cut = [Limit(start, is_skip=True)] if start else []
        if stop is not None:
            cut.append(Limit(max(0, stop - start)))
        return ReadInstruction.from_spec(first.split), tuple(cut)

    def _jobs(self, part: SplitPart) -> Iterator[LiveJob | FileJob]:
        names = self.names
        if part.split not in names and part.split != ALL:
            raise UnknownSplitError(part.split, known=names, dataset=self.builder.label)
        if part.start is None and part.stop is None and not part.cuts:
            for name in names if part.split == ALL else [part.split]:
                yield from self._parts(name)
            return
        if part.split != ALL and part.unit == "abs" and not part.cuts and min(part.start or 0, part.stop or 0) >= 0:
            yield from self._parts(part.split, int(part.start or 0), None if part.stop is None else int(part.stop))
            return
        instruction = ReadInstruction.from_parts((part,))
        for name, start, stop in instruction.to_absolute(self._lengths(part)):
            yield from self._parts(name, start, stop)

    def _parts(self, name: str, start: int = 0, stop: int | None = None) -> Iterator[LiveJob | FileJob]:
        """Yield a job for each file of a format, or for each part of a script; for a slice of a script, a single job."""
        count = len(divide(self.splits()[name].gen_kwargs, group_bytes=0))
        if not self.is_format and (start or stop is not None):
            yield LiveJob(self, name, 0, 1, start, stop)
            return
        for index in range(count):
            yield FileJob(self, name, index, count, start, stop) if self.is_format else LiveJob(self, name, index, count)

    def _names(self, jobs: tuple[LiveJob | FileJob, ...]) -> list[str]:
        """Return the files of jobs."""
        found = {name: names_of_parts(name, self.splits()[name].gen_kwargs) for name in {job.split for job in jobs}}
        return [found[job.split][job.index] for job in jobs]

    def _lengths(self, part: SplitPart) -> Mapping[str, int]:
        """Return the number of rows of each split: recorded, or counted when all its files were read."""
        recorded = {} if self.builder.is_partial else self.builder.recorded.splits or {}
        names = self.names if part.split == ALL else [part.split]
        found = {name: recorded[name].num_examples if name in recorded else self._counted(name) for name in names}
        for name, count in found.items():
            if count is None:
                raise ConfigurationError(
                    f"{str(part)!r} of {self.builder.label} cannot be streamed: it depends on the number of rows of {name!r}, "
                    "which is not recorded",
                    advice=(
                        f"Select rows from the beginning, such as '{name}[:100]', {self._way_to_count}or omit streaming=True"
                    ),
                )
        return {name: found.get(name) or 0 for name in self.names}

    def _counted(self, name: str) -> int | None:
        if not self.is_format:
            return None
        counts = [job.counted() for job in self._parts(name) if isinstance(job, FileJob)]
        return None if None in counts else sum(count or 0 for count in counts)

    @property
    def _way_to_count(self) -> str:
        return "read the stream to its end once, " if self.is_format else ""

    def gen_kwargs(self, split: str, index: int, count: int) -> dict[str, Any]:
        """Return the arguments of a part; created again if they can only be read once."""
        found = self.splits()[split].gen_kwargs
        known, parts = self._divided.get(split, (None, []))
        if known is found and len(parts) == count:
            return parts[index]
        is_once = holds_once(found) or holds_once(vars(self.builder))
        if is_once:
            if split not in self._unread:
                found = self.splits(again=True)[split].gen_kwargs
            self._unread.discard(split)
        if count == 1:
            return found
        parts = divide(found, group_bytes=0)
        if len(parts) != count:
            raise DatasetGenerationError(
                f"Split {split!r} of {self.label} has {len(parts)} parts instead of {count} after its files were "
                "downloaded. Load it without streaming."
            )
        if self.is_format and not is_once:  # whose parts do not change, and may be many
            self._divided[split] = found, parts
        return parts[index]

    def why_one_piece(self, split: str) -> str | None:
        """Return why a split must be read in one piece: "keys" if its parts have equal keys, or "failure"; None if it need not.

        A build makes such a split in one piece.  For example, a row counter that continues from file to file would start again
        in each part; and if the files of a list have different roles, one of them is not usable without the others.
        """
        if split not in self.one_piece:
            count = len(divide(self.splits()[split].gen_kwargs, group_bytes=0))
            self.one_piece[split] = LiveJob(self, split, 0, count).why_not_apart()
        return self.one_piece[split]

    @property
    def is_format(self) -> bool:
        """True if the builder reads data files of a format."""
        return is_format(type(self.builder))

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        return str(self.builder.label)

    def release(self) -> None:
        """Close connections kept open between rows."""
        if isinstance(self._manager, StreamingDownloadManager):
            self._manager.release()

    def __getstate__(self) -> dict[str, Any]:
        named = None if holds_once([split.gen_kwargs for split in (self._named or {}).values()]) else self._named
        return {"packed": packed((self.builder, self._paths, self._timeout, self._manager, named, self.heads))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.builder, self._paths, self._timeout, self._manager, self._named, self.heads = unpacked(state["packed"])
        self.one_piece, self.tables, self._unread, self._blocks, self.begun = {}, {}, set(self._named or ()), [], {}
        self._divided = {}
        self._marks = None


def _told(builder: Builder) -> str:
    """Return the identity of the rows of a builder's files."""
    features = builder.info.features
    return Hasher.hash(
        [builder.hash, builder.config_id, str(builder.version), None if features is None else features.to_dict()]
    )


def _cache_of(builder: Builder) -> IndexCache:
    """Return the cache of row positions in files: in the cache of the builder, if that is local."""
    root = builder.cache_root
    return IndexCache.of_settings() if is_url(root) else IndexCache.at(join(root, "row_indexes"), INDEX_BYTES)


def _signed(builder: Builder, split: str, count: int) -> list[Any]:
    """Return the identity of the rows: the dataset, the split, and the code and options that make them."""
    features = builder.info.features
    parts = [
        (builder.hash, builder.config_id, str(builder.version), count, None if features is None else features.to_dict()),
    ]
    return [f"{split!r} of {builder.label} in {count} parts", Hasher.hash(parts)]


def streamed_splits(builder: Any, split: Any, options: BuildOptions | None = None, paths: MediaPaths | None = None) -> Any:
    """Return the streams of a nesting of split expressions; for None, those of all splits.

    Args:
        builder: the builder.
        split: see `DatasetBuilder.as_streaming_dataset`.
        options: options for downloads and checks; None reads the finished dataset.
        paths: the paths among values that are allowed to be opened.
    """
    if options is None or paths is None:
        return nested(
            split,
            lambda part: builder.as_dataset(part).to_iterable_dataset(),
            lambda: _by_split({name: rows.to_iterable_dataset() for name, rows in builder.as_dataset().items()}),
        )
    live = LiveSplits(builder, options, paths)
    return nested(split, live.stream, lambda: _by_split({name: live.stream(name) for name in live.names}))


def _by_split(splits: dict[str, Any]) -> IterableDatasetDict:
    from datasets_core.stream.iterable_dict import IterableDatasetDict  # takes 5 ms; one split does not need it

    return IterableDatasetDict(splits)
