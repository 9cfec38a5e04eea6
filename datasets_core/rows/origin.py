"""Where rows come from, and what follows for the paths among them: which may be opened, and how URLs are fetched."""

from __future__ import annotations

import os
from collections.abc import Iterable

from datasets_core import files
from datasets_core.features.media_paths import MediaPaths


def paths_of_files(paths: Iterable[str]) -> MediaPaths:
    """What the rows of some files may open: what lies below the folders of these files; for rows of no file, everything.

    >>> paths_of_files(["/data/birds/train.parquet", "zip://a.json::/data/owls.zip"]).roots
    ('/data/birds', '/data')
    """
    named = list(paths)
    return paths_below(folder_of(path) for path in named) if named else MediaPaths(None, fetch)


def paths_below(folders: Iterable[str]) -> MediaPaths:
    """What rows may open that belong to some folders; the root of the disk is none."""
    named = (folder if files.is_url(folder) else os.path.abspath(files.local_path(folder)) for folder in folders)
    return MediaPaths(tuple(dict.fromkeys(folder for folder in named if folder.strip(os.sep))), fetch)


def folder_of(path: str) -> str:
    """The folder of a file; of a member of an archive, the folder of the archive."""
    source = path.rpartition("::")[2]
    if files.is_url(source):
        return source.rpartition("/")[0]
    return os.path.dirname(os.path.abspath(files.local_path(source)))


def fetch(url: str) -> str:
    """The local copy of what a URL names, in the cache of downloads.

    Raises:
        DownloadError: it cannot be fetched.
        OfflineError: offline mode is on.
    """
    from datasets_core.fetch.download import DownloadManager  # 60 ms that local files do without
    from datasets_core.fetch.download_config import DownloadConfig

    place: str = DownloadManager(download_config=DownloadConfig(disable_tqdm=True)).download(url)
    return place
