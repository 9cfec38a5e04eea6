"""The settings of the library: defaults, environment, and changes that hold for a block of code.

>>> settings().max_shard_bytes
500000000
>>> with using(max_shard_bytes=1_000_000):
...     settings().max_shard_bytes
1000000
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any

from datasets_core.errors import ConfigurationError

_TRUE = {"1", "true", "yes", "on"}


@dataclasses.dataclass(frozen=True, slots=True)
class Config:
    """Every setting, with its default.

    Attributes:
        cache_dir: folder of finished datasets (`HF_DATASETS_CACHE`, else `HF_HOME/datasets`).
        downloads_dir: folder of downloaded files (`HF_DATASETS_DOWNLOADED_DATASETS_PATH`).
        extracted_dir: folder of extracted archives (`HF_DATASETS_EXTRACTED_DATASETS_PATH`).
        offline: no network at all (`HF_DATASETS_OFFLINE`, `HF_HUB_OFFLINE`).
        max_memory_bytes: tables smaller than this are read into memory instead of mapped (`HF_DATASETS_IN_MEMORY_MAX_SIZE`).
        max_shard_bytes: size at which a new shard is begun.
        batch_bytes: bytes of rows held before a record batch is written.
        batch_rows: rows of one record batch at most.
        max_retries: tries of one request, the first included.
        connect_timeout_seconds, read_timeout_seconds: limits on connecting, and on silence while reading.
        max_retry_wait_seconds: longest pause between two tries, `Retry-After` included.
        max_download_bytes: limit for a body of undeclared size; None means free disk less 1 GiB.
        max_archive_members, max_archive_bytes, max_archive_ratio: limits on what an archive may unpack to; the ratio counts
            above 100 MB only.
        download_threads: files fetched at the same time.
        caching: results of transforms are kept and reused.
    """

    cache_dir: str
    downloads_dir: str
    extracted_dir: str
    offline: bool = False
    max_memory_bytes: int = 0
    max_shard_bytes: int = 500_000_000
    batch_bytes: int = 8 << 20
    batch_rows: int = 1 << 16
    max_retries: int = 5
    connect_timeout_seconds: float = 10.0
    read_timeout_seconds: float = 20.0
    max_retry_wait_seconds: float = 60.0
    max_download_bytes: int | None = None
    max_archive_members: int = 1_000_000
    max_archive_bytes: int = 1 << 42
    max_archive_ratio: int = 200
    download_threads: int = 8
    caching: bool = True


def from_environment(environ: Mapping[str, str] = os.environ) -> Config:
    """The settings that the environment variables of Hugging Face tools ask for.

    Raises:
        ConfigurationError: a variable holds no number where one is needed.
    """
    home = environ.get("HF_HOME") or os.path.join(
        environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache"), "huggingface"
    )
    cache_dir = os.path.expanduser(environ.get("HF_DATASETS_CACHE") or os.path.join(home, "datasets"))
    downloads = environ.get("HF_DATASETS_DOWNLOADED_DATASETS_PATH") or os.path.join(cache_dir, "downloads")
    return Config(
        cache_dir=cache_dir,
        downloads_dir=downloads,
        extracted_dir=environ.get("HF_DATASETS_EXTRACTED_DATASETS_PATH") or os.path.join(downloads, "extracted"),
        offline=any(environ.get(name, "").lower() in _TRUE for name in ("HF_DATASETS_OFFLINE", "HF_HUB_OFFLINE")),
        max_memory_bytes=_number(environ, "HF_DATASETS_IN_MEMORY_MAX_SIZE", 0),
    )


def _number(environ: Mapping[str, str], name: str, default: int) -> int:
    text = environ.get(name)
    if not text:
        return default
    try:
        return int(float(text))
    except ValueError:
        message = f"The environment variable {name} is {text!r}, which is no number. Unset it or give bytes."
        raise ConfigurationError(message) from None


_changed: ContextVar[Config | None] = ContextVar("datasets_core_config", default=None)


@cache
def _default() -> Config:
    return from_environment()


def settings() -> Config:
    """The settings in force here: those of the innermost `using`, else those of the environment at first use."""
    return _changed.get() or _default()


@contextmanager
def using(config: Config | None = None, /, **changes: Any) -> Iterator[Config]:
    """Settings changed for the block, in this thread and the tasks it starts.

    Args:
        config: a whole `Config` to hold instead of the present one (a worker process gets its parent's so).
        changes: fields of `Config` and their values.  A new `cache_dir` takes `downloads_dir` and `extracted_dir` along,
            unless they are given too.

    Raises:
        ConfigurationError: a name that is no setting.
    """
    fields = {field.name for field in dataclasses.fields(Config)}
    unknown = sorted(set(changes) - fields)
    if unknown:
        raise ConfigurationError(f"{unknown[0]!r} is no setting. Settings: {', '.join(sorted(fields))}.")
    if "cache_dir" in changes:
        changes["cache_dir"] = os.fspath(changes["cache_dir"])
        changes.setdefault("downloads_dir", os.path.join(changes["cache_dir"], "downloads"))
        changes.setdefault("extracted_dir", os.path.join(changes["downloads_dir"], "extracted"))
    token = _changed.set(dataclasses.replace(config or settings(), **changes))
    try:
        yield settings()
    finally:
        _changed.reset(token)


def enable_caching() -> None:
    """Keep and reuse the results of transforms, from here on in this thread and the tasks it starts."""
    _changed.set(dataclasses.replace(settings(), caching=True))


def disable_caching() -> None:
    """Make every transform anew, from here on in this thread and the tasks it starts."""
    _changed.set(dataclasses.replace(settings(), caching=False))


def is_caching_enabled() -> bool:
    """Whether the results of transforms are kept and reused."""
    return settings().caching
