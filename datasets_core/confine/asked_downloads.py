"""`AskedDownloads`: the download manager of a confined script, which asks the parent for every file that is not there yet."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, NoReturn

from datasets_core import files
from datasets_core.confine.reported import raised
from datasets_core.errors import ConfigurationError
from datasets_core.fetch.download import DownloadManager
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.fetch.listing import ArchiveIterable, FilesIterable, iter_archive, iter_files
from datasets_core.fetch.nested import leaves, mapped

Question = Callable[[Mapping[str, Any]], dict[str, Any]]

CONFIG_FIELDS = (
    "force_download", "local_files_only", "extract_compressed_file", "force_extract", "delete_extracted", "use_etag",
    "num_proc", "max_retries", "disable_tqdm", "register_checksums", "force_checksums_validation",
)  # fmt: skip


def scratch() -> str:
    """In the confined process: the one folder that it may write."""
    return os.path.dirname(os.path.realpath(os.environ["HOME"]))


class AskedDownloads(DownloadManager):
    """Files for a confined script.  The parent fetches and unpacks; what it gave, and lies beside the script, is read here.

    Args:
        question: asks the parent.
        form: what the parent says of its own manager.
    """

    def __init__(self, question: Question, form: Mapping[str, Any]) -> None:
        self._question, self._script = question, str(form["script"])
        config = DownloadConfig(cache_dir=form["downloads"], **form["config"])
        super().__init__(form["dataset_name"], form["data_dir"], config, form["base_path"], bool(form["record_checksums"]))
        self.base_path: str = form["base_path"]
        self._folders: tuple[str, str] = (form["downloads"], form["extracted"])
        self._names: dict[str, str] = {}

    def __getstate__(self) -> NoReturn:
        raise ConfigurationError(
            "The download manager of a confined script is no value to keep. Give its paths to _generate_examples instead."
        )

    @property
    def cache_folders(self) -> tuple[str, str]:
        """See `DownloadManager.cache_folders`."""
        return self._folders

    @property
    def downloaded_size(self) -> int:
        """Bytes of all files that `download` was asked for."""
        return sum(record.get("num_bytes") or 0 for record in self.get_recorded_sizes_checksums().values())

    def download(self, url_or_urls: Any) -> Any:
        """Fetch files: see `DownloadManager.download`.  The parent does it."""
        places = self._asked("download", url_or_urls)
        self.downloaded_paths.update(places)
        self._names.update({place: url for url, place in places.items()})
        found = mapped(url_or_urls, places.__getitem__)
        return self.extract(found) if self.download_config.extract_compressed_file else found

    def extract(self, path_or_paths: Any, num_proc: int | None = None) -> Any:
        """Unpack archives: see `DownloadManager.extract`.  The parent does it, but for files that the script made itself."""
        asked = list(dict.fromkeys(leaves(path_or_paths)))
        own = os.path.join(scratch(), "")
        made = [path for path in asked if os.path.realpath(path).startswith(own)]
        places = self._asked("extract shown" if self.skips_junk else "extract", [path for path in asked if path not in made])
        places.update({path: self._here().extract(path) for path in made})
        self.extracted_paths.update({path: place for path, place in places.items() if place != path})
        return mapped(path_or_paths, places.__getitem__)

    def download_and_extract(self, url_or_urls: Any) -> Any:
        """`extract(download(url_or_urls))`."""
        return self.extract(self.download(url_or_urls))

    def iter_archive(self, path_or_buf: str | os.PathLike[str] | BinaryIO) -> ArchiveIterable:
        """The regular files of an archive: see `DownloadManager.iter_archive`."""
        if not isinstance(path_or_buf, (str, os.PathLike)):
            return iter_archive(path_or_buf)
        place = self._local(os.fspath(path_or_buf))
        return iter_archive(place, known_as=self._names.get(place))

    def iter_files(self, paths: Any) -> FilesIterable:
        """The given files, and those below the given folders: see `DownloadManager.iter_files`."""
        return iter_files([self._local(path) for path in leaves(paths)])

    def download_custom(self, url_or_urls: Any, custom_download: Callable[[str, str], object]) -> Any:
        """Files by a function of the script: see `DownloadManager.download_custom`.  It runs here, without network."""
        return self._here().download_custom(url_or_urls, custom_download)

    def ship_files_with_pipeline(self, downloaded_path_or_paths: Any, pipeline: Any) -> NoReturn:
        """Refuse: pipelines of Beam need the network.

        Raises:
            ConfigurationError: always.
        """
        raise ConfigurationError(
            f"{self._script} is built by a pipeline of Apache Beam, which cannot run confined. "
            "Pass trust_remote_code=True if you trust the script."
        )

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, Any]]:
        """Size and sha256 of everything that was downloaded, by URL."""
        return self.answer({"ask": "recorded"})["recorded"]  # type: ignore[no-any-return]

    def fetched(self, url: str) -> str:
        """Where a file is, fetched now: what a path of a streamed script asks for when it is opened."""
        return self._asked("fetch", [url])[url]

    def located(self, name: str) -> str | None:
        """Where a file is that need not be fetched; None for a URL that has to be."""
        return self._asked("locate", [name])[name] or None

    def delete_extracted_files(self) -> None:
        """Nothing: the parent removes what is not kept."""

    def manage_extracted_files(self) -> None:
        """Nothing: the parent removes what is not kept."""

    def _here(self) -> DownloadManager:
        """A manager for what the script makes itself."""
        return DownloadManager(self.dataset_name, download_config=DownloadConfig(cache_dir=os.path.join(scratch(), "made")))

    def _asked(self, what: str, nested: Any) -> dict[str, str]:
        asked = list(dict.fromkeys(leaves(nested)))
        if not asked:
            return {}
        return dict(zip(asked, self.answer({"ask": what, "names": asked})["places"], strict=True))

    def answer(self, question: Mapping[str, Any]) -> dict[str, Any]:
        """What the parent answers to a question, or the error that it tells of."""
        answer = self._question(question)
        if "error" in answer:
            raise raised(answer, script=self._script)
        return answer

    def _local(self, path: str) -> str:
        if files.is_url(path) and not path.startswith("file://"):
            return str(self.download(path))
        local = files.local_path(path)
        if os.path.isabs(local):
            return local
        place = files.join(self.base_path, local)
        return str(self.download(path)) if files.is_url(place) else place
