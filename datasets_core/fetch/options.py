"""`DownloadConfig` and `DownloadMode`: what a user says about downloads."""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from datasets_core.errors import ConfigurationError


class DownloadMode(StrEnum):
    """What of an earlier run is used again: everything, the downloads, or nothing.

    >>> DownloadMode("force_redownload")
    <DownloadMode.FORCE_REDOWNLOAD: 'force_redownload'>
    """

    REUSE_DATASET_IF_EXISTS = "reuse_dataset_if_exists"
    REUSE_CACHE_IF_EXISTS = "reuse_cache_if_exists"
    FORCE_REDOWNLOAD = "force_redownload"

    @classmethod
    def _missing_(cls, value: object) -> DownloadMode:
        known = ", ".join(repr(mode.value) for mode in cls)
        raise ConfigurationError(f"Unknown download mode {value!r}. Available modes: {known}.")


@dataclass
class DownloadConfig:
    """How files are fetched.

    Attributes:
        cache_dir: folder of downloads; the setting `downloads_dir` by default.
        force_download: fetch again what is in the cache.
        resume_download: has no effect: what can be continued safely is continued.
        local_files_only: take everything from the cache.
        proxies: scheme → URL of a proxy; what the environment says by default.
        user_agent: added to ours.
        extract_compressed_file: `download` unpacks what it fetched.
        force_extract: unpack again.
        delete_extracted: remove what was unpacked when the dataset is built.
        extract_on_the_fly: has no effect: readers open compressed files as they are.
        use_etag: ask the server whether a file in the cache is still current.
        num_proc: files fetched at the same time (in threads); the setting `download_threads` by default.
        max_retries: tries of one request; the setting of that name where that is more.
        token: for the Hugging Face Hub.
        storage_options: for fsspec, by protocol or plain; `{"https": {"headers": {…}}}` goes to the URL's own server only.
        download_desc: the words of the progress bar.
        disable_tqdm: show no progress bar.
        register_checksums: a build writes what it downloads into the `checksums.tsv` beside its script, instead of comparing.
        force_checksums_validation: a URL that is not registered there is an error.

    >>> config = DownloadConfig(max_retries=5, storage_options={"https": {"headers": {"Authorization": "Bearer secret"}}})
    >>> "secret" in repr(config)
    False
    """

    cache_dir: str | os.PathLike[str] | None = None
    force_download: bool = False
    resume_download: bool = False
    local_files_only: bool = False
    proxies: dict[str, str] | None = None
    user_agent: str | None = None
    extract_compressed_file: bool = False
    force_extract: bool = False
    delete_extracted: bool = False
    extract_on_the_fly: bool = False
    use_etag: bool = True
    num_proc: int | None = None
    max_retries: int = 1
    token: str | bool | None = field(default=None, repr=False)
    storage_options: dict[str, Any] = field(default_factory=dict, repr=False)
    download_desc: str | None = None
    disable_tqdm: bool = False
    register_checksums: bool = False
    force_checksums_validation: bool = False

    def copy(self) -> DownloadConfig:
        """A copy that shares nothing."""
        return copy.deepcopy(self)


# Paths and URLs in any nesting of lists, tuples and dicts: what goes in as one shape comes out as the same.


def leaves(nested: Any) -> Iterator[str]:
    """Every path or URL of a nesting, in order.

    >>> list(leaves({"train": ["a", "b"], "test": ("c",)}))
    ['a', 'b', 'c']

    Raises:
        ConfigurationError: something in it is neither a path nor a list, tuple or dict.
    """
    if isinstance(nested, (str, os.PathLike)):
        text = os.fspath(nested)
        if not isinstance(text, str):
            raise ConfigurationError(f"{text!r} is a path in bytes. Give it as str.")
        yield text
    elif isinstance(nested, Mapping):
        for value in nested.values():
            yield from leaves(value)
    elif isinstance(nested, (list, tuple)):
        for value in nested:
            if type(value) is str:  # most are, and there may be thousands
                yield value
            else:
                yield from leaves(value)
    else:
        raise ConfigurationError(
            f"{nested!r} ({type(nested).__name__}) is not a path or URL, nor a list, tuple or dict of them. "
            "Give one of these (a generator as list(...))."
        )


def mapped(nested: Any, function: Callable[[str], Any]) -> Any:
    """The same shape with `function(leaf)` in the place of every leaf.

    >>> mapped({"train": ["a"], "test": ("b", "c")}, str.upper)
    {'train': ['A'], 'test': ('B', 'C')}
    """
    if isinstance(nested, (str, os.PathLike)):
        return function(str(os.fspath(nested)))
    if isinstance(nested, Mapping):
        return {key: mapped(value, function) for key, value in nested.items()}
    made = [mapped(value, function) for value in nested]
    if isinstance(nested, tuple):
        return type(nested)(*made) if hasattr(nested, "_fields") else tuple(made)
    return made
