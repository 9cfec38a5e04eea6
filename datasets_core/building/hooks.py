"""Hooks of dataset authors: `_info`, `_split_generators`, `_generate_*`; `SplitGenerator`, `BuilderConfig`; parts of splits."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import itertools
import json
import os
import stat
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, Protocol

from datasets_core.config import has_alias
from datasets_core.errors import ConfigurationError, InvalidConfigNameError, UnknownOptionError, redact_text
from datasets_core.files import is_local_path, is_url
from datasets_core.hub_urls import without_commit
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.split_info import SplitInfo
from datasets_core.meta.version import Version
from datasets_core.store.fingerprint import Hasher

if TYPE_CHECKING:
    import pyarrow as pa

    from datasets_core.building.marks import Mark
    from datasets_core.engines.deadline import Deadline
    from datasets_core.features.schema import Features
    from datasets_core.features.unordered import Facts
    from datasets_core.fetch.checksums import RegisteredFile
    from datasets_core.meta.info import DatasetInfo
    from datasets_core.meta.row_blocks import RowBlocks


# `BuilderConfig`: one variant of a dataset, and the id that names its folder.


_NO_VERSION = Version("0.0.0")
_FORBIDDEN = frozenset('<>:/\\|?*"')
_READABLE = 32  # number of characters of options spelled out in an id, as in Hugging Face `datasets`
_LONGEST = 255  # limit of a folder name in bytes on common file systems


@dataclasses.dataclass(eq=False)
class BuilderConfig:
    """A variant of a dataset; subclass it to add options.

    Args:
        name: name of the config.
        version: version of the config; `0.0.0` means the version of the builder class.
        data_dir: folder of the user's files (manual downloads, or data files).
        data_files: the data files by split; with the alias of `datasets` only a `DataFilesDict`, as there.
        description: description for users.
        supported_versions: other supported versions; empty means those of the builder class.
        release_notes: changes, by version; empty means those of the builder class.

    Example:
        >>> BuilderConfig("en", version="1.2.0").create_config_id({"lower": True})
        'en-lower=True'
    """

    name: str = "default"
    version: Version | str | None = _NO_VERSION
    data_dir: str | None = None
    data_files: Any = None
    description: str | None = None
    supported_versions: Iterable[Version | str] = dataclasses.field(default=(), kw_only=True)
    release_notes: Mapping[str, str] | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_name(self.name)
        if has_alias() and self.data_files is not None and not isinstance(self.data_files, DataFilesDict):
            raise ConfigurationError(
                f"Expected a DataFilesDict in data_files but got {redact_text(repr(self.data_files))}",
                advice="Pass data_files= to load_dataset",
            )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__module__.startswith("datasets_core."):  # `dataclass` leaves it then; classes of users stay as they are
            cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        """Show the options that differ from those of a new config."""
        kind, shown = type(self), []
        for field in dataclasses.fields(self):
            value = getattr(self, field.name, None)
            default = field.default if field.default_factory is dataclasses.MISSING else field.default_factory()
            if field.name == "name" or (
                field.repr and not (value is default or (type(value) is type(default) and value == default))
            ):
                shown.append(f"{field.name}={value!r}")
        return f"{kind.__name__}({', '.join(shown)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Features | None = None) -> str:
        """Return the name of this config's folder: its name, with a suffix for the user's changes.

        Args:
            config_kwargs: the options that the user gave.
            custom_features: the features that the user gave.
        """
        suffix = _options_suffix(config_kwargs)
        parts: list[Any] = [suffix] if suffix else []
        if isinstance(self.data_files, DataFilesDict):
            named = self.data_files.items()
            # As one text: hashing a file of thousands takes a microsecond this way, and ten value by value.
            # A commit that changes no file is not part of it.
            known = {
                split: [(path if is_local_path(path) else without_commit(path), *rest) for path, *rest in files.identities]
                for split, files in named
            }
            parts.append(json.dumps(known))
        elif self.data_files is not None:
            parts.append(self.data_files)
        if custom_features is not None:
            parts.append(custom_features.to_dict())
        if len(parts) > (1 if suffix else 0):
            suffix = Hasher.hash(parts)
        if not suffix:
            return self.name
        readable = f"{self.name}-{suffix}"
        return readable if len(readable.encode()) <= _LONGEST else f"{self.name[:100]}-{Hasher.hash([self.name, suffix])}"


def check_name(name: object) -> None:
    """Refuse a name that is not a valid folder name.

    Raises:
        InvalidConfigNameError: `name` is not a string, is empty, or has a character that file systems do not allow.
    """
    if not isinstance(name, str) or not name or name in {".", ".."}:
        raise InvalidConfigNameError(f"Invalid config name {name!r}", advice="Use letters, digits, '-', '_' or '.'")
    bad = sorted(_FORBIDDEN.intersection(name))
    if bad:
        raise InvalidConfigNameError(
            f"Bad characters in the config name {name!r}: folder names cannot contain {bad[0]!r}", advice="Choose another name"
        )


def _options_suffix(config_kwargs: dict[str, Any]) -> str:
    options = {
        name: config_kwargs[name] for name in sorted(config_kwargs) if name not in {"name", "version", "data_files", "features"}
    }
    if options.get("data_dir") is None:
        options.pop("data_dir", None)
    else:
        options["data_dir"] = os.path.normpath(options["data_dir"])
    if not options:
        return ""
    if all(isinstance(value, (str, bool, int, float)) for value in options.values()):
        from urllib.parse import quote_plus  # takes 3 ms; a config without options does not need it

        spelled = ",".join(f"{name}={quote_plus(str(value))}" for name, value in options.items())
        if len(spelled) <= _READABLE:
            return spelled
    return Hasher.hash(options)


def option_names(config_class: type[BuilderConfig]) -> list[str]:
    """Return the keyword arguments of a config class, including those of its parents that it passes on."""
    found: dict[str, None] = {}
    for parent in config_class.__mro__:
        if "__init__" not in vars(parent) or parent is object:
            continue
        parameters = inspect.signature(vars(parent)["__init__"]).parameters.values()
        plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found.update(dict.fromkeys(p.name for p in parameters if p.kind in plain and p.name != "self"))
        if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
            break
    return list(found)


def make_config(config_class: type[BuilderConfig], options: dict[str, Any], *, builder: str) -> BuilderConfig:
    """Return a new config of `config_class`.

    Raises:
        UnknownOptionError: the class does not have the option.
    """
    try:
        return config_class(**options)
    except TypeError as error:
        unknown = [name for name in options if "unexpected keyword argument" in str(error) and f"'{name}'" in str(error)]
        if not unknown:
            raise
        raise UnknownOptionError(unknown[0], builder=builder, known=option_names(config_class)) from error


def change_config(config: BuilderConfig, options: dict[str, Any], *, builder: str) -> BuilderConfig:
    """Return a copy of `config` with the user's options; None keeps the config's value.

    Raises:
        UnknownOptionError: the config does not have the attribute.
    """
    changed = _copy(config)
    for name, value in options.items():
        if not hasattr(changed, name):
            known = dict.fromkeys([*option_names(type(config)), *(key for key in vars(config) if not key.startswith("_"))])
            raise UnknownOptionError(name, builder=builder, known=known)
        if value is not None:
            setattr(changed, name, value)
    return changed


def _copy(config: BuilderConfig) -> BuilderConfig:
    try:
        return copy.deepcopy(config)
    except TypeError:  # an attribute that cannot be copied, such as a module, is shared
        return copy.copy(config)


@dataclasses.dataclass
class SplitGenerator:
    """A split: its name, and the arguments for generating its rows.

    Args:
        name: `Split.TRAIN`, `"train"` or another name.
        gen_kwargs: keyword arguments of `_generate_examples` or `_generate_tables`.  Lists of equal length divide the split
            into jobs.

    Example:
        >>> SplitGenerator("train", {"files": ["a.txt", "b.txt"]}).split_info.name
        'train'
    """

    name: str
    gen_kwargs: dict[str, Any] = dataclasses.field(default_factory=dict)
    split_info: SplitInfo = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.name = str(self.name)
        self.split_info = SplitInfo(name=self.name)


class Replay(Exception):
    """Raised by `_generate_tables` to read its text again with a wider schema.

    Args:
        schema: the schema to read with; the builder has it as `self.read_schema` when it runs again.
    """

    def __init__(self, schema: pa.Schema) -> None:
        super().__init__(schema)
        self.schema = schema


class Part(Protocol):
    """The part of a split generated by a job."""

    @property
    def split(self) -> str:
        """The split."""
        ...

    @property
    def gen_kwargs(self) -> dict[str, Any]:
        """The arguments of this part."""
        ...

    @property
    def index(self) -> int:
        """Number of the part."""
        ...

    @property
    def count(self) -> int:
        """Total number of parts."""
        ...

    @property
    def batch_rows(self) -> int | None:
        """Maximum number of rows in a batch; None for the setting."""
        ...

    @property
    def max_rows(self) -> int | None:
        """Maximum number of rows; None for all."""
        ...

    @property
    def deadline(self) -> Deadline | None:
        """Deadline of the author's code."""
        ...

    @property
    def is_order_free(self) -> bool:
        """True if the rows determine columns and types, independent of their order."""
        ...

    @property
    def skip(self) -> int:
        """Number of rows at the beginning that are generated but skipped; they count towards `max_rows`."""
        ...

    @property
    def is_live(self) -> bool:
        """True in a streaming build: the first batch is one row, and rows before a failure are delivered before the error."""
        ...


class Encoded(NamedTuple):
    """Rows as a batch.

    Attributes:
        keys: one key for each row.
        batch: the rows.
        facts: facts about all rows so far, if they are encoded without an order.
    """

    keys: Sequence[Any]
    batch: pa.RecordBatch
    facts: Facts | None = None


class Hooks(Protocol):
    """Interface of a builder for a job."""

    yields: ClassVar[Literal["rows", "tables"]]
    shuffle_on_write: ClassVar[bool]
    is_of_old_datasets: ClassVar[bool]
    extra_columns: ClassVar[Literal["raise", "ignore"]]
    is_confined: ClassVar[bool]
    rereads: bool
    merge_columns: bool
    read_schema: pa.Schema | None
    dataset_name: str
    config: BuilderConfig
    info: DatasetInfo

    @property
    def denied(self) -> tuple[str, ...]:
        """Descriptions of the accesses denied so far to its sandboxed code."""
        ...

    @property
    def label(self) -> str:
        """The name of the dataset in messages."""
        ...

    @property
    def reads_in_order(self) -> bool:
        """True for formats, which read file after file, each independent of the others."""
        ...

    def file_blocks(self, gen_kwargs: dict[str, Any]) -> RowBlocks | None:
        """Return the blocks of the rows of a part, if the footers of its files describe blocks; else None."""
        ...

    def with_schema(self, schema: pa.Schema) -> Hooks:
        """Return a copy that reads with `schema`."""
        ...

    def reading_live(self, mark: Mark | None) -> Hooks:
        """Return a copy that reads a file in blocks with marks, from a mark on; or itself if the format has no marks."""
        ...

    def join_types(self, a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
        """Return the common type of values read from text; None if only text fits."""
        ...

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Return pairs of key and row (or table)."""
        ...

    def encoded_rows(self, job: Part, *, first: list[Any] | None = None, copies: bool = False) -> Generator[Encoded]:
        """Return the rows of a part, as batches: see `building.write.generate`."""
        ...

    def made_tables(self, job: Part) -> Generator[tuple[Any, pa.Table | pa.RecordBatch], None, object]:
        """Return the keys and tables of a part: see `building.write.generate`."""
        ...

    def place_of_row(self, job: Part, row: int, key: Any) -> str | None:
        """Return `FILE, line N` of the code that yielded a row, as far as known; see `building.failures`."""
        ...


class Builder(Hooks, Protocol):
    """Interface of a builder for a build."""

    hash: str
    config_id: str
    recorded: DatasetInfo
    is_partial: bool
    token: bool | str | None
    storage_options: dict[str, Any]
    writer_batch_size: int | None
    download_dir: str | None
    base_path: str | None
    repo_id: str | None
    commit_sha: str | None
    locked_checksums: Mapping[str, RegisteredFile]
    is_stopped_by_timer: ClassVar[bool]

    @property
    def cache_dir(self) -> str:
        """The folder of the finished dataset in the cache."""
        ...

    @property
    def checksums_path(self) -> str | None:
        """Path of the `checksums.tsv` of its downloads; None if there is none."""
        ...

    @property
    def version(self) -> Version:
        """Its version."""
        ...

    @property
    def manual_download_instructions(self) -> str | None:
        """Instructions for files that must be downloaded manually."""
        ...

    @property
    def cache_root(self) -> str:
        """The cache, or the data folder, that contains `cache_dir`."""
        ...

    def has_source(self, path: str) -> bool:
        """Return True if a local file among the arguments of a split may be read."""
        ...

    def split_generators(self, dl_manager: Any) -> Any:
        """Return the `SplitGenerator`s of its splits."""
        ...


def holds_once(value: Any) -> bool:
    """Return True if `value` is, or contains, an iterator or an open file, which can only be read once.

    >>> holds_once({"lines": iter([])}), holds_once({"lines": []})
    (True, False)
    """
    if isinstance(value, str):  # checked first, since there may be thousands
        return False
    if isinstance(value, Mapping):
        return any(map(holds_once, value.values()))
    if isinstance(value, (list, tuple)):
        return any(map(holds_once, value))
    return isinstance(value, Iterator)


# Division of a split: by its `gen_kwargs` alone, never by the number of workers, so that the bytes do not depend on it.


MAX_JOBS = 64
TABLE_GROUP_BYTES = 16 << 20
ROW_GROUP_BYTES = 4 << 20  # Python reads a row in the time in which pyarrow reads about ten


def divide(
    gen_kwargs: dict[str, Any], *, group_bytes: int = TABLE_GROUP_BYTES, count: int | None = None
) -> list[dict[str, Any]]:
    """Return the parts in which a split is built, in the order of its rows.

    Lists with a common length are divided into contiguous parts: lists of local files when a part reaches `group_bytes`, other
    lists item by item; at most 64 parts.  With `group_bytes=0` each item is a part; with `count` there are at most that many
    parts, the first ones longer by one item if needed.  Values are not divided if that may lose or repeat rows: lists
    of different lengths; a list of plain values next to other data or another list (it is likely a parameter: names of
    labels, languages, combined with each other); and anything that can be read only once, since a second part would begin
    where the first one ended.

    >>> divide({"shards": [0, 1], "lower": True})
    [{'shards': [0], 'lower': True}, {'shards': [1], 'lower': True}]
    >>> divide({"shards": [0, 1], "languages": ["en", "fr"]})
    [{'shards': [0, 1], 'languages': ['en', 'fr']}]
    """
    lists = {name: value for name, value in gen_kwargs.items() if isinstance(value, list)}
    lengths = {len(value) for value in lists.values()}
    if len(lengths) != 1 or count == 1 or holds_once(gen_kwargs):
        return [gen_kwargs]
    (length,) = lengths
    if length < 2:
        return [gen_kwargs]
    rest = [value for name, value in gen_kwargs.items() if name not in lists]
    named = {"names"} if "files" in lists else set()  # name of the argument with the names of files for errors
    plain = [value for name, value in lists.items() if name not in named and not any(map(is_data, value[:1]))]
    if plain and (len(lists) > 1 or any(map(is_data, rest))):
        return [gen_kwargs]
    sizes = _file_sizes(list(lists.values())) if group_bytes and count is None else None
    if count is not None:
        bounds = _evenly(length, count)
    elif sizes is not None:
        bounds = _by_bytes(sizes, group_bytes)
    else:
        bounds = _by_count(length, MAX_JOBS if group_bytes else length)
    return [
        {name: value[start:stop] if name in lists else value for name, value in gen_kwargs.items()} for start, stop in bounds
    ]


def file_of(gen_kwargs: Mapping[str, Any], number: int | None = None) -> str | None:
    """Return the name of file `number` among the arguments; without one, that of the first file and the number of others."""
    found = one_file_of(gen_kwargs, number)
    if found is not None:
        return found
    listed = _files_of(gen_kwargs)
    return f"{listed[0]} (and {len(listed) - 1} more)" if listed else None


def one_file_of(gen_kwargs: Mapping[str, Any], number: int | None = None) -> str | None:
    """Return the name of file `number` among the arguments, or of the only file; None if it may be one of several."""
    listed = _files_of(gen_kwargs)
    if number is not None and 0 <= number < len(listed):
        return listed[number]
    return listed[0] if len(listed) == 1 else None


def _files_of(gen_kwargs: Mapping[str, Any]) -> list[str]:
    listed = gen_kwargs.get("names") or gen_kwargs.get("files")
    if not isinstance(listed, list) or not all(isinstance(name, (str, os.PathLike)) for name in listed):
        return []
    return [os.fspath(name) for name in listed]


def names_of_parts(split: str, gen_kwargs: dict[str, Any]) -> list[str]:
    """Return names of the parts of a split, item by item: their files, else their numbers."""
    parts = divide(gen_kwargs, group_bytes=0)
    return [file_of(part) or f"{split}, part {index}" for index, part in enumerate(parts)]


def is_data(value: Any) -> bool:
    """Return True if `value` may be a source of rows: an existing path, a URL, an iterable object, or a container of these."""
    from datasets_core.fetch.remote import RemoteFile

    if isinstance(value, RemoteFile):  # checking it would fetch it
        return True
    if isinstance(value, (str, os.PathLike)):
        path = os.fspath(value)
        return isinstance(path, str) and bool(path) and (is_url(path) or _exists(path))
    if value is None or isinstance(value, (bytes, int, float, complex)):
        return False
    if isinstance(value, dict):
        return any(map(is_data, value.values()))
    if isinstance(value, (list, tuple, set, frozenset)):
        return any(map(is_data, value))
    return hasattr(value, "__iter__") or hasattr(value, "read")


def _exists(path: str) -> bool:
    try:
        return os.path.exists(path)
    except ValueError:  # a string with a NUL is not a path
        return False


def _file_sizes(lists: Sequence[list[Any]]) -> list[int] | None:
    """Return the total bytes at each position of all lists of local files; None if no list has only files."""
    total: list[int] | None = None
    for values in lists:
        if values is not lists[0] and values == lists[0]:
            continue  # the files, and a list with their names
        sizes = list(_sizes(values))
        if len(sizes) == len(values):
            total = sizes if total is None else [a + b for a, b in zip(total, sizes, strict=True)]
    return total


def _sizes(values: list[Any]) -> Iterator[int]:
    from datasets_core.fetch.remote import RemoteFile

    for value in values:
        if not isinstance(value, (str, os.PathLike)) or isinstance(value, RemoteFile):
            return
        try:
            status = os.stat(value)
        except (OSError, ValueError):
            return
        if stat.S_ISDIR(status.st_mode):
            return
        yield status.st_size


def _by_bytes(sizes: Sequence[int], group_bytes: int) -> list[tuple[int, int]]:
    wanted = max(group_bytes, -(-sum(sizes) // MAX_JOBS))
    bounds, start, held = [], 0, 0
    for position, size in enumerate(sizes):
        held += size
        if held >= wanted:
            bounds.append((start, position + 1))
            start, held = position + 1, 0
    if start < len(sizes):
        bounds.append((start, len(sizes)))
    return bounds


def _evenly(length: int, count: int) -> list[tuple[int, int]]:
    parts = min(length, count)
    sizes = [length // parts + (part < length % parts) for part in range(parts)]
    return list(itertools.pairwise(itertools.accumulate(sizes, initial=0)))


def _by_count(length: int, most: int) -> list[tuple[int, int]]:
    parts = min(length, most)
    edges = [length * part // parts for part in range(parts + 1)]
    return list(itertools.pairwise(edges))
