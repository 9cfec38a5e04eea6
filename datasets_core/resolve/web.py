"""The versions of data files behind http, which no listing tells: a changed file is another dataset."""

from __future__ import annotations

from collections.abc import Iterable

from datasets_core import files
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.meta.data_files import DataFilesDict, DataFilesList


def versioned(data_files: DataFilesDict, config: DownloadConfig) -> DataFilesDict:
    """The same files; the identity of one behind http is the version that its server has now.

    A server that does not answer leaves the version in the cache of downloads in force.

    Raises:
        DownloadError: a server refuses, or does not answer and nothing is in the cache.
    """
    urls = {path: outer for path in _paths(data_files) if files.is_http(outer := path.rpartition("::")[2])}
    if not urls:
        return data_files
    from datasets_core.fetch.download import DownloadManager  # 20 ms that local files do without

    versions = DownloadManager(download_config=config).versions(urls.values())
    found = {path: versions[url] for path, url in urls.items()}
    return DataFilesDict({split: _identified(listed, found) for split, listed in data_files.items()})


def _paths(data_files: DataFilesDict) -> Iterable[str]:
    return (path for listed in data_files.values() for path in listed)


def _identified(listed: DataFilesList, versions: dict[str, str]) -> DataFilesList:
    identities = ((path, size, versions.get(path, known)) for path, size, known in listed.identities)
    return DataFilesList(listed, identities, listed.links)
