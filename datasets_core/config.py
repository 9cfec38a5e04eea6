"""`Config`: settings of the library: defaults, environment variables, and changes within a block of code.

>>> settings().max_shard_bytes
500000000
>>> with using(max_shard_bytes=1_000_000):
...     settings().max_shard_bytes
1000000
"""

from __future__ import annotations

import dataclasses
import importlib
import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from types import ModuleType
from typing import Any

from datasets_core.errors import ColumnLimitError, ConfigurationError

_TRUE = {"1", "true", "yes", "on"}
_FALSE = {"0", "false", "no", "off"}
_FOLDERS = ("cache_dir", "downloads_dir", "extracted_dir")
_HUB = "https://huggingface.co"
FEW_COLUMNS = 1_000
"""Columns that `max_columns` always allows, so that they are not compared with it."""
_LEAST = {
    "max_memory_bytes": 0,
    "max_shard_bytes": 1,
    "batch_bytes": 1,
    "job_bytes": 1,
    "batch_rows": 1,
    "sort_bytes": 1,
    "max_retries": 1,
    "max_download_bytes": 0,
    "max_archive_members": 0,
    "max_archive_bytes": 0,
    "max_archive_ratio": 1,
    "max_columns": FEW_COLUMNS,
    "download_threads": 1,
    "stream_memory_bytes": 1,
    "stream_threads": 1,
    "stream_window_bytes": 1,
    "stream_cache_bytes": 0,
    "confined_memory_bytes": 1 << 28,
    "confined_cpu_seconds": 1,
    "confined_file_bytes": 0,
    "confined_output_bytes": 0,
    "confined_scratch_bytes": 0,
    "confined_scratch_files": 0,
    "confined_seconds": 1,
}
_OR_NONE = {"max_download_bytes", "job_bytes", *(name for name in _LEAST if name.startswith("confined_"))}
_NOT_HASHED = {"is_hashed": False}  # of fields that are newer than fingerprints of `Config`
_CHOICES = {
    "stream_transport": ("default", "obstore"),
    "jpeg_dct": ("accurate", "fast"),
    "verify_reads": ("all", "sequential", "never"),
    "start_method": ("auto", "fork", "spawn"),
}
_SECONDS = (
    "connect_timeout_seconds",
    "read_timeout_seconds",
    "max_retry_wait_seconds",
    "hub_timeout_seconds",
    "stream_timeout_seconds",
)
_FOREVER = 1e9  # seconds that a socket can wait


@dataclasses.dataclass(frozen=True, slots=True)
class Config:
    """Every setting, with its default.

    Attributes:
        cache_dir: folder of finished datasets (`HF_DATASETS_CACHE`, else `HF_HOME/datasets`).
        downloads_dir: folder of downloaded files (`HF_DATASETS_DOWNLOADED_DATASETS_PATH`).
        extracted_dir: folder of extracted archives (`HF_DATASETS_EXTRACTED_DATASETS_PATH`).
        offline: no network access (`HF_DATASETS_OFFLINE`, `HF_HUB_OFFLINE`).
        max_memory_bytes: tables smaller than this are read into memory instead of mapped (`HF_DATASETS_IN_MEMORY_MAX_SIZE`).
        max_shard_bytes: size at which a new shard begins.
        batch_bytes: bytes of rows in memory before a record batch is written.
        batch_rows: maximum rows of one record batch.
        sort_bytes: memory for sorting; larger columns are sorted in parts, on the disk.
        max_retries: maximum number of tries of one request, including the first.
        connect_timeout_seconds, read_timeout_seconds: limits on connecting, and on silence while reading.
        max_retry_wait_seconds: longest pause between two tries, including one that `Retry-After` requires.
        max_download_bytes: limit for a file whose size is neither recorded nor sent by the server; None leaves 5%
            of the disk free.
        max_archive_members, max_archive_bytes, max_archive_ratio: limits on the unpacked content of an archive; the ratio only
            counts above 100 MB.
        max_columns: columns of a file of others (data, cards, infos, manifests, rows of scripts), fields in columns included;
            more are refused before they become columns, at 0.1 ms each. Rows in memory have no limit.
        download_threads: files fetched at the same time.
        hub_endpoint: address of the Hugging Face Hub (`HF_ENDPOINT`).
        hub_cache_dir: folder of files from the Hub, shared with other tools (`HF_HUB_CACHE`, else `HF_HOME/hub`).
        hub_timeout_seconds: total time for retries of a Hub that is unreachable or silent.
        hub_symlinks: True for snapshots of links to their files; False copies them (`HF_HUB_DISABLE_SYMLINKS`).
        media_paths: folders, and prefixes of URLs, that paths in the values of a dataset, and links in its folder, may
            refer to; `"/"` allows every local path, `"https://"` every URL of that protocol.  The dataset's own folder is
            always allowed, and so are the blobs of the hub cache that it is a snapshot of.
        confined_memory_bytes: memory of a sandboxed script; None means half of the machine's memory, at least 2 GiB.
        confined_cpu_seconds: processor time of one sandboxed process; None means no limit.
        confined_file_bytes: size of one file that a sandboxed script may write; None means the free disk space minus 1 GiB.
        confined_output_bytes: total bytes of rows of a sandboxed script; None means the free disk space minus 1 GiB.
        confined_scratch_bytes: total bytes of the files of one sandboxed process; None means 16 times `confined_file_bytes`,
            or the free disk space minus 1 GiB.
        confined_scratch_files: number of files of one sandboxed process; None means 100,000.
        confined_seconds: total seconds that one sandboxed process may run; None means no limit. The process is paused while it
            has nothing to do, and that time does not count.
        refuse_found_scripts: refuse scripts in folders or repositories even in the sandbox, unless `trust_remote_code=`
            allows it; set by `HF_DATASETS_TRUST_REMOTE_CODE=0`.  No setting can trust scripts: only an argument of a load can.
        stream_memory_bytes: memory for rows that a stream has read ahead or keeps decoded; a larger batch may exceed it.
        stream_threads: number of byte ranges that a stream fetches at the same time.
        stream_window_bytes: decoded bytes of the window of a shuffled stream, the default of `shuffle`.
        stream_cache_bytes: size of the disk cache of streams; 0 for none.
        stream_cache_dir: folder of that cache; "" means `ranges` in `cache_dir`.
        stream_transport: how streams read stores such as `s3://`: "default" by fsspec, "obstore" by the package of that name
            for the protocols and options it supports.
        stream_timeout_seconds: how long a stream waits for bytes, over all retries, while almost none arrive.
        jpeg_dct: how `datasets_core.tfds` decodes JPEG: "accurate" by Pillow, or "fast" by the package `simplejpeg`, whose
            pixels equal those of TensorFlow.
        verify_reads: when the bytes of record batches are compared with their recorded checksums, once for each batch of a
            mapped file in a process: "sequential" when a batch is read as a whole (iteration, `map`, exports), or when up to 16
            MiB in the page cache are first read, and one of 32 of a file that a process has compared whole since the machine
            was started; "all" always before rows are read; "never" (`DATASETS_VERIFY_READS`).
        start_method: how worker processes of `map`, `filter`, exports and builds start (`DATASETS_START_METHOD`): "fork" copies
            this process, with all that was set in its modules; "spawn" starts Python again; "auto" forks on Linux, unless
            CUDA is initialized or a library is imported whose threads do not survive a fork (JAX, TensorFlow, Polars, gRPC,
            Lance, CuPy). Processes of streams are spawned.
        job_bytes: minimum number of bytes of local source files that one job of a build reads, so that many small files become
            few jobs; each job writes its own shards.  None: 16 MiB of tables, 4 MiB of text that Python reads.
        engine: what runs the jobs of builds, `map`, `filter`, exports and pushes if no `engine=` is given: a name such as
            "ray", an engine itself, or an executor of `concurrent.futures`; None chooses by `num_proc`.
        caching: True to cache results of `map`, `filter`, `from_generator` and similar; False computes them again.
    """

    cache_dir: str
    downloads_dir: str
    extracted_dir: str
    offline: bool = False
    max_memory_bytes: int = 0
    max_shard_bytes: int = 500_000_000
    batch_bytes: int = 8 << 20
    batch_rows: int = 1 << 16
    sort_bytes: int = 512 << 20
    max_retries: int = 5
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 20.0
    max_retry_wait_seconds: float = 60.0
    max_download_bytes: int | None = None
    max_archive_members: int = 1_000_000
    max_archive_bytes: int = 1 << 42
    max_archive_ratio: int = 200
    max_columns: int = dataclasses.field(default=100_000, metadata=_NOT_HASHED)
    download_threads: int = 8
    hub_endpoint: str = _HUB
    hub_cache_dir: str = ""
    hub_timeout_seconds: float = 5.0
    hub_symlinks: bool = True
    confined_memory_bytes: int | None = None
    confined_cpu_seconds: int | None = None
    confined_file_bytes: int | None = None
    confined_output_bytes: int | None = None
    confined_scratch_bytes: int | None = dataclasses.field(default=None, metadata=_NOT_HASHED)
    confined_scratch_files: int | None = dataclasses.field(default=None, metadata=_NOT_HASHED)
    confined_seconds: int | None = dataclasses.field(default=None, metadata=_NOT_HASHED)
    refuse_found_scripts: bool = False
    stream_memory_bytes: int = 256 << 20
    stream_threads: int = 16
    stream_window_bytes: int = 64 << 20
    stream_cache_bytes: int = 0
    stream_cache_dir: str = ""
    stream_transport: str = "default"
    stream_timeout_seconds: float = 120.0
    jpeg_dct: str = dataclasses.field(default="accurate", metadata=_NOT_HASHED)
    verify_reads: str = dataclasses.field(default="sequential", metadata=_NOT_HASHED)
    start_method: str = dataclasses.field(default="auto", metadata=_NOT_HASHED)
    caching: bool = True
    media_paths: tuple[str, ...] = ()
    job_bytes: int | None = dataclasses.field(default=None, metadata=_NOT_HASHED)
    engine: Any = dataclasses.field(default=None, metadata=_NOT_HASHED)

    def __post_init__(self) -> None:
        """Raise an error for invalid values.

        Raises:
            ConfigurationError: a setting is invalid; the error names it.
        """
        for name in _FOLDERS:
            folder = getattr(self, name)
            if not isinstance(folder, str) or not folder or "\0" in folder:
                raise ConfigurationError(f"The setting {name} is {folder!r}", advice="Give a path", value=folder)
        if self.hub_cache_dir == "":
            object.__setattr__(self, "hub_cache_dir", os.path.join(_home(os.environ), "hub"))
        for name in ("hub_endpoint", "hub_cache_dir"):
            text = getattr(self, name)
            if not isinstance(text, str) or not text or "\0" in text:
                raise ConfigurationError(f"The setting {name} must be a non-empty string", advice="Give a path or URL")
        object.__setattr__(self, "hub_endpoint", self.hub_endpoint.strip().rstrip("/"))
        for name in ("offline", "caching", "refuse_found_scripts", "hub_symlinks"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigurationError(f"The setting {name} is {getattr(self, name)!r}", advice="Give True or False")
        object.__setattr__(self, "media_paths", _paths(self.media_paths))
        if not isinstance(self.stream_cache_dir, str) or "\0" in self.stream_cache_dir:
            raise ConfigurationError(
                f"The setting stream_cache_dir is {self.stream_cache_dir!r}",
                advice="Give a path, or ''",
                value=self.stream_cache_dir,
            )
        for name, choices in _CHOICES.items():
            if getattr(self, name) not in choices:
                known = " or ".join(map(repr, choices))
                raise ConfigurationError(f"The setting {name} is {getattr(self, name)!r}", advice=f"Give {known}")
        for name, least in _LEAST.items():
            value = getattr(self, name)
            is_whole = isinstance(value, int) and not isinstance(value, bool)
            if not (is_whole and value >= least) and not (value is None and name in _OR_NONE):
                raise ConfigurationError(
                    f"The setting {name} is {value!r}", advice=f"Give a whole number, {least} or more", value=value
                )
        for name in _SECONDS:
            value = getattr(self, name)
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not (is_number and 0 <= value < _FOREVER and (value or name == "max_retry_wait_seconds")):
                raise ConfigurationError(f"The setting {name} is {value!r}", advice="Give seconds, such as 10", value=value)


def check_columns(count: int, path: str) -> None:
    """Refuse more columns and fields in a file of others than `max_columns`.

    Args:
        count: how many there are.
        path: the file, URL or script.

    Raises:
        ColumnLimitError: there are more.
    """
    if count > (most := settings().max_columns):
        raise ColumnLimitError(path, count, most)


def check_schema(schema: Any, path: str) -> None:
    """Like `check_columns`, for an Arrow schema: fields in columns are counted before anything is made of them.

    Args:
        schema: the schema.
        path: the file, URL or script that it is from.

    Raises:
        ColumnLimitError: it has too many columns.
    """
    if (count := len(schema)) > FEW_COLUMNS:
        check_columns(count, path)
    waiting = list(schema.types)
    while waiting:
        kind = waiting.pop()
        if (num_fields := kind.num_fields) and (count := count + num_fields) > FEW_COLUMNS:
            check_columns(count, path)
        waiting += [kind.field(number).type for number in range(num_fields)]
        if not num_fields:  # an extension type, or a dictionary
            inner = getattr(kind, "storage_type", None) or getattr(kind, "value_type", None)
            waiting += [] if inner is None else [inner]


def has_alias() -> bool:
    """Return True while the alias of `datasets` is installed, see `datasets_core.as_datasets`; child processes inherit it."""
    return os.environ.get("DATASETS_CORE_AS_DATASETS") == "1"


def has_small_tokens() -> bool:
    """Return True to store `input_ids` as int32 and masks as int8 if they fit; False if `DATASETS_SMALL_TOKENS` is 0."""
    return os.environ.get("DATASETS_SMALL_TOKENS", "").lower() not in _FALSE


def _paths(given: object) -> tuple[str, ...]:
    listed = (given,) if isinstance(given, (str, os.PathLike)) else given
    if not isinstance(listed, Iterable) or not all(isinstance(path, (str, os.PathLike)) and os.fspath(path) for path in listed):
        raise ConfigurationError(f"The setting media_paths is {given!r}", advice="Give folders or URL prefixes", value=given)
    return tuple(str(os.fspath(path)) for path in listed)


class _Environ(Mapping[str, str]):
    """The environment variables of this process; `help()` does not print their values, which may include tokens."""

    def __getitem__(self, name: str) -> str:
        return os.environ[name]

    def __iter__(self) -> Iterator[str]:
        return iter(os.environ)

    def __len__(self) -> int:
        return len(os.environ)

    def __repr__(self) -> str:
        return "os.environ"


def from_environment(environ: Mapping[str, str] = _Environ()) -> Config:
    """Return the settings from the environment variables of Hugging Face tools.

    Raises:
        ConfigurationError: a variable does not contain a number although one is needed.
    """
    home = _home(environ)
    hub_cache = environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE") or os.path.join(home, "hub")
    cache_dir = os.path.expanduser(environ.get("HF_DATASETS_CACHE") or os.path.join(home, "datasets"))
    downloads = environ.get("HF_DATASETS_DOWNLOADED_DATASETS_PATH") or os.path.join(cache_dir, "downloads")
    return Config(
        cache_dir=cache_dir,
        downloads_dir=downloads,
        extracted_dir=environ.get("HF_DATASETS_EXTRACTED_DATASETS_PATH") or os.path.join(downloads, "extracted"),
        offline=any(environ.get(name, "").lower() in _TRUE for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE")),
        hub_endpoint=environ.get("HF_ENDPOINT") or _HUB,
        hub_cache_dir=os.path.expandvars(os.path.expanduser(hub_cache)),
        hub_symlinks=environ.get("HF_HUB_DISABLE_SYMLINKS", "").lower() not in _TRUE,
        max_memory_bytes=_number(environ, "HF_DATASETS_IN_MEMORY_MAX_SIZE", 0),
        verify_reads=environ.get("DATASETS_VERIFY_READS") or "sequential",
        start_method=environ.get("DATASETS_START_METHOD") or "auto",
        refuse_found_scripts=environ.get("HF_DATASETS_TRUST_REMOTE_CODE", "").lower() in _FALSE,
    )


def _home(environ: Mapping[str, str]) -> str:
    home = environ.get("HF_HOME")
    if home:
        return os.path.expandvars(os.path.expanduser(home))
    return os.path.join(environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "huggingface")


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if not text:
        return default
    try:
        return max(0, int(float(text)))
    except (ValueError, OverflowError):
        message = f"The environment variable {name} is {text!r}, which is not a number. Unset it or give bytes."
        raise ConfigurationError(message) from None


_changed: ContextVar[Config | None] = ContextVar("datasets_core_config", default=None)


@cache
def _default() -> Config:
    return from_environment()


_assigned: Config | None = None  # by `config.HF_DATASETS_CACHE = ...`, for the whole process


def settings() -> Config:
    """Return the current settings: those of the innermost `using`, else the assigned ones, else those of the environment."""
    return _changed.get() or _assigned or _default()


def _replaced(config: Config, changes: dict[str, Any]) -> Config:
    """Return `config` with other values; a new `cache_dir` also moves the folders of downloads."""
    fields = {field.name for field in dataclasses.fields(Config)}
    unknown = sorted(set(changes) - fields)
    if unknown:
        raise ConfigurationError(f"Unknown setting {unknown[0]!r}. Available settings: {', '.join(sorted(fields))}.")
    for name in (*_FOLDERS, "hub_cache_dir", "stream_cache_dir"):
        if isinstance(changes.get(name), os.PathLike):
            changes[name] = os.fspath(changes[name])
    if isinstance(changes.get("cache_dir"), str):
        changes.setdefault("downloads_dir", os.path.join(changes["cache_dir"], "downloads"))
        changes.setdefault("extracted_dir", os.path.join(changes["downloads_dir"], "extracted"))
    return dataclasses.replace(config, **changes)


@contextmanager
def using(config: Config | None = None, /, **changes: Any) -> Iterator[Config]:
    """Change settings within the block, in this thread and the tasks it starts.

    Args:
        config: a whole `Config` that replaces the current one (as when a worker process receives that of its parent).
        changes: fields of `Config` and their values.  A new `cache_dir` also moves `downloads_dir` and `extracted_dir`,
            unless these are given too.

    Raises:
        ConfigurationError: a setting is unknown, or a value is invalid.
    """
    token = _changed.set(_replaced(config or settings(), changes))
    try:
        yield settings()
    finally:
        _changed.reset(token)


def enable_caching() -> None:
    """Use cached results of `map`, `filter`, `from_generator`, … again.

    This is the default. The call affects this thread and the tasks that it starts.

    Example:
        >>> enable_caching()
        >>> is_caching_enabled()
        True
    """
    _changed.set(dataclasses.replace(settings(), caching=True))


def disable_caching() -> None:
    """From now on, run every function again, in this thread and the tasks that it starts.

    `map`, `filter` and `from_generator` then use no cached results, and later calls do not find their results. This does not
    affect `load_dataset`: `download_mode="force_redownload"` makes it build again.

    Example:
        >>> disable_caching()
        >>> is_caching_enabled()
        False
        >>> enable_caching()
    """
    _changed.set(dataclasses.replace(settings(), caching=False))


def is_caching_enabled() -> bool:
    """Return True if results of functions are cached and reused.

    Example:
        >>> is_caching_enabled()
        True
    """
    return settings().caching


_SIZE = r"(?i)\s*([0-9][0-9_]*(?:\.[0-9]+)?)\s*([kmgt]?)(i?)b?\s*"


def parse_size(size: int | str | None) -> int | None:
    """Return a size such as `500_000`, `"500MB"` or `"1GiB"` as a number of bytes.

    >>> parse_size("500MB"), parse_size("1 GiB")
    (500000000, 1073741824)

    Raises:
        ConfigurationError: the argument is not a size, or is less than one byte.
    """
    if size is None:
        return None
    if isinstance(size, int) and not isinstance(size, bool):
        found = size
    else:
        match = re.fullmatch(_SIZE, str(size))
        if match is None:
            raise ConfigurationError(
                f"max_shard_size is {size!r}", advice="Give bytes as a number, or a text such as '500MB'", value=size
            )
        number, prefix, binary = match.groups()
        found = int(
            float(number.replace("_", "")) * (1024 if binary else 1000) ** ("kmgt".index(prefix.lower()) + 1 if prefix else 0)
        )
    if found < 1:
        raise ConfigurationError(f"max_shard_size is {size!r}", advice="Give at least one byte", value=size)
    return found


# -- names of Hugging Face `datasets` ----------------------------------------------------------------------------------

_OLD_VALUES: dict[str, Any] = {
    "ARROW_READER_BATCH_SIZE_IN_DATASET_ITER": 10,
    "DATASET_ARROW_FILENAME": "dataset.arrow",
    "DATASET_INDICES_FILENAME": "indices.arrow",
    "DATASET_INFO_FILENAME": "dataset_info.json",
    "DATASETDICT_INFOS_FILENAME": "dataset_infos.json",
    "DATASETDICT_JSON_FILENAME": "dataset_dict.json",
    "DATASET_STATE_JSON_FILENAME": "state.json",
    "DEFAULT_IN_MEMORY_MAX_SIZE": 0,
    "DEFAULT_MAX_BATCH_SIZE": 1000,
    "DEFAULT_XDG_CACHE_HOME": "~/.cache",
    "DOWNLOADED_DATASETS_DIR": "downloads",
    "ENV_VARS_FALSE_VALUES": {each.upper() for each in _FALSE},
    "ENV_VARS_TRUE_VALUES": {each.upper() for each in _TRUE},
    "EXTRACTED_DATASETS_DIR": "extracted",
    "HF_DATASETS_MULTITHREADING_MAX_WORKERS": 16,
    "HUB_DEFAULT_VERSION": "main",
    "HUB_DATASETS_HFFS_URL": "hf://datasets/{repo_id}@{revision}/{path}",
    "IS_MP3_SUPPORTED": True,
    "IS_OPUS_SUPPORTED": True,
    "LICENSE_FILENAME": "LICENSE",
    "MAX_DATASET_CONFIG_ID_READABLE_LENGTH": 255,
    "MAX_NUM_RUNNING_ASYNC_MAP_FUNCTIONS_IN_PARALLEL": 1000,
    "MAX_ROW_GROUP_SIZE": "100MB",
    "MAX_SHARD_SIZE": "500MB",
    "MAX_TABLE_NBYTES_FOR_PICKLING": 4 << 30,
    "METADATA_CONFIGS_FIELD": "configs",
    "MODULE_NAME_FOR_DYNAMIC_MODULES": "datasets_modules",
    "PARQUET_ROW_GROUP_SIZE_FOR_AUDIO_DATASETS": 100,
    "PARQUET_ROW_GROUP_SIZE_FOR_BINARY_DATASETS": 100,
    "PARQUET_ROW_GROUP_SIZE_FOR_IMAGE_DATASETS": 100,
    "REPOCARD_FILENAME": "README.md",
    "REPOYAML_FILENAME": ".huggingface.yaml",
    "STREAMING_OPEN_MAX_RETRIES": 20,
    "STREAMING_OPEN_RETRY_INTERVAL": 5,
    "STREAMING_READ_MAX_RETRIES": 20,
    "STREAMING_READ_RATE_LIMIT_RETRY_INTERVAL": 60,
    "STREAMING_READ_RETRY_INTERVAL": 5,
    "STREAMING_READ_SERVER_UNAVAILABLE_RETRY_INTERVAL": 20,
    "TEMP_CACHE_DIR_PREFIX": "hf_datasets-",
    "UPLOADS_MAX_NUMBER_PER_COMMIT": 50,
    "USE_PARQUET_EXPORT": True,
}
_OLD_PACKAGES = {
    "BEAM": "apache_beam", "BIOPYTHON": "Bio", "DILL": "dill", "DUCKDB": "duckdb", "FSSPEC": "fsspec",
    "HF_HUB": "huggingface_hub", "JAX": "jax", "LZ4": "lz4", "NIBABEL": "nibabel", "PANDAS": "pandas",
    "PDFPLUMBER": "pdfplumber", "PIL": "PIL", "POLARS": "polars", "PY7ZR": "py7zr", "PYARROW": "pyarrow",
    "RARFILE": "rarfile", "SQLALCHEMY": "sqlalchemy", "TF": "tensorflow", "TORCH": "torch", "TORCHCODEC": "torchcodec",
    "TORCHVISION": "torchvision", "TRIMESH": "trimesh", "ZSTANDARD": "zstandard",
}  # fmt: skip
_OLD_NAMES: dict[str, Callable[[], Any]] = {
    "DEFAULT_DOWNLOADED_DATASETS_PATH": lambda: os.path.join(settings().cache_dir, "downloads"),
    "DEFAULT_EXTRACTED_DATASETS_PATH": lambda: os.path.join(settings().cache_dir, "downloads", "extracted"),
    "DOWNLOADED_DATASETS_PATH": lambda: _path(settings().downloads_dir),
    "EXTRACTED_DATASETS_PATH": lambda: _path(settings().extracted_dir),
    "DEFAULT_HF_CACHE_HOME": lambda: os.path.join(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "huggingface"),
    "DEFAULT_HF_DATASETS_CACHE": lambda: os.path.join(_home(os.environ), "datasets"),
    "DEFAULT_HF_MODULES_CACHE": lambda: os.path.join(_home(os.environ), "modules"),
    "HF_CACHE_HOME": lambda: os.path.dirname(settings().cache_dir),
    "HF_DATASETS_CACHE": lambda: _path(settings().cache_dir),
    "HF_DATASETS_OFFLINE": lambda: settings().offline,
    "HF_ENDPOINT": lambda: settings().hub_endpoint,
    "HF_HUB_OFFLINE": lambda: settings().offline,
    "HUB_DATASETS_URL": lambda: f"{settings().hub_endpoint}/datasets/{{repo_id}}/resolve/{{revision}}/{{path}}",
    "HF_MODULES_CACHE": lambda: _path(settings().cache_dir).parent / "modules",
    "IN_MEMORY_MAX_SIZE": lambda: float(settings().max_memory_bytes),
    "PY_VERSION": lambda: _parsed(".".join(map(str, sys.version_info[:3]))),
    "USE_JAX": lambda: os.environ.get("USE_JAX", "AUTO").upper(),
    "USE_TF": lambda: os.environ.get("USE_TF", "AUTO").upper(),
    "USE_TORCH": lambda: os.environ.get("USE_TORCH", "AUTO").upper(),
    "XDG_CACHE_HOME": lambda: os.environ.get("XDG_CACHE_HOME", "~/.cache"),
}


def old_names() -> list[str]:
    """Return the names of the settings in `datasets.config`.

    >>> "HF_DATASETS_CACHE" in old_names()
    True
    """
    about = [f"{what}_{kind}" for what in _OLD_PACKAGES for kind in ("AVAILABLE", "VERSION")]
    return sorted([*_OLD_VALUES, *_OLD_NAMES, *about])


def __getattr__(name: str) -> Any:
    """Return a setting by its name in Hugging Face `datasets`, such as `HF_DATASETS_CACHE`."""
    if name in _OLD_VALUES:  # an assigned one as it was given
        return next((value for each, value in reversed(_ASSIGNED) if each == name), _OLD_VALUES[name])
    if name in _OLD_NAMES:
        found = _OLD_NAMES[name]()
        given = next((value for each, value in reversed(_ASSIGNED) if each == name), found)
        return given if str(given) == str(found) else found
    what, _, kind = name.rpartition("_")
    if what in _OLD_PACKAGES and kind == "AVAILABLE":
        from datasets_core.optional import is_installed

        return is_installed(_OLD_PACKAGES[what])
    if what in _OLD_PACKAGES and kind == "VERSION":
        return _release(_OLD_PACKAGES[what])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_SETTABLE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "DEFAULT_MAX_BATCH_SIZE": ("batch_rows", int),
    "DOWNLOADED_DATASETS_PATH": ("downloads_dir", os.fspath),
    "EXTRACTED_DATASETS_PATH": ("extracted_dir", os.fspath),
    "HF_DATASETS_CACHE": ("cache_dir", os.fspath),
    "HF_DATASETS_OFFLINE": ("offline", bool),
    "HF_ENDPOINT": ("hub_endpoint", str),
    "HF_HUB_OFFLINE": ("offline", bool),
    "IN_MEMORY_MAX_SIZE": ("max_memory_bytes", int),
    "MAX_SHARD_SIZE": ("max_shard_bytes", parse_size),
    "STREAMING_READ_MAX_RETRIES": ("max_retries", int),
}
"""The names that may be assigned → the field of `Config`, and the conversion of the given value."""

_ASSIGNED: list[tuple[str, Any]] = []  # what was assigned and not taken back, as it was given


def _assign(name: str, value: Any) -> None:
    """Change a setting for the whole process by the name that it has in Hugging Face `datasets`."""
    global _assigned
    if name not in _SETTABLE:
        if name in old_names() and value == __getattr__(name):
            return
        raise ConfigurationError(
            f"config.{name} cannot be changed: datasets_core has no such setting. Names that can be assigned: "
            f"{', '.join(_SETTABLE)}",
            advice="All settings: datasets_core.config.Config",
        )
    try:
        change = _change(name, value)
        assigned = _replaced(_assigned or _default(), dict(change))
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"config.{name} cannot be {value!r}: {error}.") from None
    _assigned = assigned
    _ASSIGNED.append((name, value))
    _change_here(change)


def _take_back(name: str) -> None:
    """Undo the last assignment of a name: the one before it applies again, or the environment."""
    global _assigned
    place = next((place for place in reversed(range(len(_ASSIGNED))) if _ASSIGNED[place][0] == name), None)
    if place is None:
        raise AttributeError(f"config.{name} was not assigned")
    del _ASSIGNED[place]
    _assigned = _default()
    for each, value in _ASSIGNED:
        _assigned = _replaced(_assigned, _change(each, value))
    field = _SETTABLE[name][0]
    _change_here({field: getattr(_assigned, field)})


def _change(name: str, value: Any) -> dict[str, Any]:
    field, convert = _SETTABLE[name]
    return {field: convert(value)}


def _change_here(change: dict[str, Any]) -> None:
    here = _changed.get()
    if here is not None:  # inside `using`: its other settings stay its own
        _changed.set(_replaced(here, change))


class _Module(ModuleType):
    """This module, as a class: assigning a name of `datasets.config` changes a setting, or is refused."""

    def __reduce__(self) -> tuple[Any, ...]:
        return importlib.import_module, (self.__name__,)

    def __setattr__(self, name: str, value: Any) -> None:
        if name.isupper() and not name.startswith("_"):
            _assign(name, value)
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in _SETTABLE:
            _take_back(name)
        else:
            super().__delattr__(name)


def _path(text: str) -> Any:
    from pathlib import Path  # 10 ms

    return Path(text)


def _release(package: str) -> Any:
    """Return the version of a package; "N/A" if it is not installed, as scripts expect it."""
    import importlib.metadata  # 9 ms, only for scripts that read a version

    try:
        return _parsed(importlib.metadata.version(package))
    except importlib.metadata.PackageNotFoundError:
        return "N/A"


def _parsed(text: str) -> Any:
    from packaging.version import parse  # 5 ms, only for scripts that read a version

    return parse(text)


sys.modules[__name__].__class__ = _Module
