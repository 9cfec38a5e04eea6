"""A dataset that stands prepared in a repository of the Hub: its folder, fetched into the hub cache and read there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from datasets_core.errors import DatasetNotFoundError
from datasets_core.fetch.hub_url import parse_hub_url
from datasets_core.store.layout import MANIFEST_NAME

if TYPE_CHECKING:
    from datasets_core.fetch.hub import Hub
    from datasets_core.fetch.hub_listing import HubCommit

_LISTED = 10


def is_at_hub(path: str) -> bool:
    """Whether a path names something on the Hub, and not something in an archive there.

    >>> is_at_hub("hf://datasets/org/name"), is_at_hub("/data"), is_at_hub("zip://a::hf://datasets/org/name/a.zip")
    (True, False, False)
    """
    return path.startswith("hf://") and "::" not in path


def fetched_folder(hub: Hub, commit: HubCommit, inner: str) -> str:
    """A folder of a commit as one of this disk, with all its files.

    Args:
        hub: where from.
        commit: whose folder.
        inner: its path in the repository, which holds a description of a dataset; "" for the repository itself.

    Raises:
        DownloadError, OfflineError: a file cannot be fetched.
    """
    from datasets_core.fetch.hub_files import fetch_files  # 10 ms that folders of this disk do without

    root = f"{inner}/" if inner else ""
    places = fetch_files(hub, commit, [path for path in commit.files if path.startswith(root)])
    return os.path.dirname(places[root + MANIFEST_NAME])


def folder_at_hub(url: str, storage_options: Mapping[str, Any] | None = None) -> str:
    """The folder of a dataset at an `hf://datasets/…` URL as one of this disk.

    Args:
        url: of the folder.
        storage_options: its `token`.

    Raises:
        DatasetNotFoundError: no dataset stands prepared in it, or there is no such repository.
        OfflineError, DownloadError: it cannot be fetched.
    """
    from datasets_core.fetch.hub import Hub  # 10 ms that folders of this disk do without

    place = parse_hub_url(url)
    if place is None:
        raise DatasetNotFoundError(f"{url!r} names no dataset of the Hub. Write hf://datasets/org/name/folder.")
    hub = Hub.of((storage_options or {}).get("token"))
    commit = hub.commit(place.repo_id, place.revision)
    root = f"{place.path}/" if place.path else ""
    if root + MANIFEST_NAME in commit.files:
        return fetched_folder(hub, commit, place.path)
    below = [path for path in commit.files if path.startswith(root) and path.endswith(f"/{MANIFEST_NAME}")]
    listed = [commit.url(os.path.dirname(path)) for path in below[:_LISTED]] + ["…"] * (len(below) > _LISTED)
    if listed:
        raise DatasetNotFoundError(f"{url} is not the folder of one version. Give one of those below it: {', '.join(listed)}.")
    raise DatasetNotFoundError(f"No dataset stands prepared in {url}. Give the folder that holds its {MANIFEST_NAME}.")
