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
    """The parts of an earlier run that are reused: everything, the downloads, or nothing.

    >>> DownloadMode("force_redownload")
    <DownloadMode.FORCE_REDOWNLOAD: 'force_redownload'>
    """

    REUSE_DATASET_IF_EXISTS = "reuse_dataset_if_exists"
    REUSE_CACHE_IF_EXISTS = "reuse_cache_if_exists"
    FORCE_REDOWNLOAD = "force_redownload"

    @classmethod
    def _missing_(cls, value: object) -> DownloadMode:
        known = ", ".join(repr(mode.value) for mode in cls)
        raise ConfigurationError(f"{value!r} is no download mode. Modes: {known}.")


@dataclass
class DownloadConfig:
    """Options of downloads.

    Attributes:
        cache_dir: folder of downloads; default: the setting `downloads_dir`.
        force_download: True to fetch cached files again.
        resume_download: has no effect: partial downloads are always continued if that is safe.
        local_files_only: True to use only cached files.
        proxies: scheme → URL of a proxy; default: those of the environment.
        user_agent: added to that of the library.
        extract_compressed_file: True if `download` also extracts.
        force_extract: True to extract again.
        delete_extracted: True to remove extracted files after the build.
        extract_on_the_fly: has no effect: readers open compressed files directly.
        use_etag: True to ask the server whether a cached file is current.
        num_proc: number of files fetched at the same time (in threads); default: the setting `download_threads`.
        max_retries: tries of one request; the setting of that name if that is larger.
        token: the token for the Hugging Face Hub.
        storage_options: for fsspec, by protocol or plain; `{"https": {"headers": {…}}}` is sent to the URL's own server only.
        download_desc: text of the progress bar.
        disable_tqdm: True to show no progress bar.
        register_checksums: True to write downloads into the `checksums.tsv` beside the script of a build, instead of comparing.
        force_checksums_validation: True to require that every URL is registered there.

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
            f"{nested!r} ({type(nested).__name__}) is no path or URL, nor a list, tuple or dict of them. "
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
