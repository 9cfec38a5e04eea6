"""`tfds.download`: options in the words of the library, and files as paths."""

import bz2
import gzip
import pathlib
import zipfile
from typing import Any

import pytest

from datasets_core import tfds
from datasets_core.errors import ConfigurationError, ManualDownloadError
from datasets_core.fetch.checksums import DownloadMode, VerificationMode
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.tfds import download


def _manager(folder: Any, manual_dir: str | None = None) -> Any:
    inner = DownloadManager(base_path=str(folder))
    return tfds.download.DownloadManager(inner, manual_dir=manual_dir, dataset="d", instructions=None)


def test_files_are_paths_in_the_nest_in_which_they_are_asked_for(tmp_path: Any) -> None:
    (tmp_path / "a.txt").write_text("one")
    found = _manager(tmp_path).download({"a": [pathlib.Path("a.txt"), tfds.download.Resource(path="a.txt")]})
    assert found == {"a": [tmp_path / "a.txt"] * 2}
    assert found["a"][0].read_text() == "one"


def test_archives_are_unpacked_or_walked(tmp_path: Any) -> None:
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("inner.txt", "two")
    manager = _manager(tmp_path)
    assert (manager.download_and_extract("a.zip") / "inner.txt").read_text() == "two"
    assert (manager.extract(str(tmp_path / "a.zip")) / "inner.txt").is_file()
    assert [(name, file.read()) for name, file in manager.iter_archive(tmp_path / "a.zip")] == [("inner.txt", b"two")]
    kept = tfds.download.Resource(url="a.zip", extract_method=tfds.download.ExtractMethod.NO_EXTRACT)
    assert manager.download_and_extract(kept) == tmp_path / "a.zip"


def test_files_fetched_by_hand_must_be_there(tmp_path: Any) -> None:
    assert _manager(tmp_path, str(tmp_path)).manual_dir == tmp_path
    for folder in (None, str(tmp_path / "none")):
        with pytest.raises(ManualDownloadError):
            _ = _manager(tmp_path, folder).manual_dir
    with pytest.raises(ManualDownloadError, match="digits"):
        _manager(tmp_path).download_kaggle_data("digits")


def test_options_are_said_in_the_words_of_the_library() -> None:
    config = tfds.download.DownloadConfig(
        num_shards=3,
        max_examples_per_split=5,
        max_shard_size=100,
        download_mode=tfds.download.GenerateMode.FORCE_REDOWNLOAD,
        force_checksums_validation=True,
        override_max_simultaneous_downloads=2,
    )
    found = config.options("/downloads")
    fetching = found.pop("download_config")
    assert (fetching.cache_dir, fetching.num_proc) == ("/downloads", 2)
    assert found == {
        "download_mode": DownloadMode.FORCE_REDOWNLOAD,
        "max_examples_per_split": 5,
        "num_shards": 3,
        "max_shard_size": 100,
        "force_checksums_validation": True,
        "verification_mode": VerificationMode.ALL_CHECKS,
    }


@pytest.mark.parametrize("options", [{"verify_ssl": False}], ids=str)
def test_what_would_be_unsafe_is_refused(options: Any) -> None:
    with pytest.raises(ConfigurationError):
        tfds.download.DownloadConfig(**options).options("/d")


def test_a_resource_of_nothing_is_refused(tmp_path: Any) -> None:
    with pytest.raises(ConfigurationError):
        _manager(tmp_path).download(tfds.download.Resource())


def test_members_are_an_iterator_used_once(tmp_path: Any) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x", b"1")
        archive.writestr("y", b"2")
    members = download.iter_archive(str(tmp_path / "a.zip"))
    again = download.unread(members)
    assert [name for name, _ in members] == ["x", "y"] and list(members) == []
    assert next(again)[0] == "x" and download.unread(again) is again


def test_files_called_gz_and_bz2_have_one_member(tmp_path: Any) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one"))
    (tmp_path / "b.bz2").write_bytes(bz2.compress(b"two"))
    assert [file.read() for _, file in download.iter_archive(tmp_path / "a.txt.gz")] == [b"one"]
    assert [file.read() for _, file in download.iter_archive(tmp_path / "b.bz2")] == [b"two"]
