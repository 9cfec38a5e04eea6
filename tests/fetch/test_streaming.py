"""Any bytes of any file: `ranges_of` finds out how."""

import bz2
import gzip
import hashlib
import json
import lzma
import os
import pickle

import pytest

from datasets_core import config
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    MissingChecksumError,
    NonMatchingChecksumError,
    OfflineError,
    UrlNotFoundError,
)
from datasets_core.fetch.checksums import DownloadConfig, RegisteredFile, VerificationMode
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.remote import RemoteFile
from datasets_core.fetch.streaming import StreamingDownloadManager, ranges_of


def test_paths_are_of_this_disk(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"abcdefgh")
    for given in (path, str(path), f"file://{path}"):
        assert ranges_of(given).read([(1, 3)]) == [b"bc"]
        assert ranges_of(given).name == str(path)


def test_urls_are_of_their_servers(range_server, tmp_path):
    (tmp_path / "a.bin").write_bytes(bytes(range(200)))
    url = f"{range_server.serve(tmp_path)}/a.bin"
    file = RemoteFile(url, StreamingDownloadManager()._access).ranges()
    assert [bytes(part) for part in file.read([(100, 110), (3, 5)])] == [bytes(range(100, 110)), bytes([3, 4])]
    assert file.name == url


# The download manager of a stream: URLs are paths that fetch themselves, all else is as in a build.

TEXT = b"".join(b"line %d\n" % number for number in range(20_000))


@pytest.mark.parametrize("ranged", [True, False])
def test_the_next_reader_sees_a_file_that_changed(range_server, ranged):
    """What one reader fetched, perhaps the whole file, is not handed to the next one for as long as the process lives."""
    range_server.ranged = ranged
    for content in (b"of the first day", b"of the second day"):
        file = ranges_of(range_server.put("a.bin", content))
        assert bytes(file.read([(3, len(content))])[0]) == content[3:]
        assert bytes(file.tail(3)) == b"day"


@pytest.fixture
def downloads(cache_dir, policy, tmp_path):
    return StreamingDownloadManager("reviews", base_path=str(tmp_path), retries=policy)


def test_it_says_that_it_streams(downloads):
    assert (downloads.is_streaming, DownloadManager.is_streaming) == (True, False)
    assert downloads.manual_dir is None
    assert isinstance(downloads.download_config, DownloadConfig)


def test_every_url_of_a_nesting_becomes_a_path_and_nothing_is_fetched(site, downloads, tmp_path):
    (tmp_path / "b.txt").write_text("local")
    url = site.at("/a.txt")

    found = downloads.download({"train": [url, "b.txt"], "test": (tmp_path / "b.txt",)})

    assert found == {"train": [url, str(tmp_path / "b.txt")], "test": (str(tmp_path / "b.txt"),)}
    assert isinstance(found["train"][0], RemoteFile)
    assert type(found["train"][1]) is type(found["test"][0]) is str
    assert site.requests == []


def test_relative_paths_of_a_remote_base_are_remote(site, faults, cache_dir):
    site.pages["/d/a.txt"] = faults.page(b"text")

    assert StreamingDownloadManager(base_path=site.at("/d")).download("a.txt").read_text() == "text"


def test_a_local_file_that_does_not_exist_is_told_at_once(downloads):
    with pytest.raises(DataFilesNotFoundError) as caught:
        downloads.download("x.txt")
    assert str(caught.value.file).endswith("x.txt")
    with pytest.raises(ConfigurationError, match="not a path or URL"):
        downloads.download(iter(["a"]))


def test_a_url_with_nothing_behind_it_is_told_when_it_is_read(site, downloads):
    path = downloads.download(site.at("/x.txt"))

    assert not path.exists()
    assert not os.path.exists(path)
    for opened in (path.read_text, lambda: os.fspath(path)):
        with pytest.raises(UrlNotFoundError, match=r"/x\.txt: the server answers 404"):
            opened()


@pytest.mark.parametrize("packed", [gzip.compress, bz2.compress, lzma.compress, bytes])
@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_a_compressed_file_opens_as_what_is_inside(site, faults, downloads, packed, suffix):
    site.pages[f"/a.txt{suffix}"] = faults.page(packed(TEXT))

    path = downloads.download_and_extract(site.at(f"/a.txt{suffix}"))

    assert not path.endswith(".gz")
    with path.open("rb") as handle:
        assert handle.read() == TEXT
    with path.open(encoding="utf-8") as handle:
        assert next(handle) == "line 0\n"
    with open(path, "rb") as handle:
        assert handle.read() == TEXT
    assert downloads.extract(path) == path


def test_what_stands_in_the_cache_is_read_there(site, faults, downloads):
    site.pages["/a.txt"] = faults.page(TEXT)
    path = downloads.download(site.at("/a.txt"))
    with open(path, "rb") as handle:
        assert handle.read() == TEXT
    site.requests.clear()

    assert path.read_bytes() == TEXT
    again = StreamingDownloadManager().download(site.at("/a.txt"))
    assert again.read_bytes() == TEXT
    assert site.heads("if-none-match") == ['"v1"']  # the second manager asks whether it is current
    with config.using(offline=True):
        assert StreamingDownloadManager().download(site.at("/a.txt")).read_bytes() == TEXT


def test_offline_what_is_not_in_the_cache_is_told(site, downloads):
    path = downloads.download(site.at("/a.txt"))

    with config.using(offline=True), pytest.raises(OfflineError):
        path.open()


def test_the_path_is_that_of_a_build(site, faults, downloads):
    site.pages["/a.txt"] = faults.page(TEXT)

    assert os.fspath(downloads.download(site.at("/a.txt"))) == DownloadManager().download(site.at("/a.txt"))


@pytest.mark.parametrize("mode", [VerificationMode.BASIC_CHECKS, VerificationMode.ALL_CHECKS])
def test_a_size_on_record_that_differs_is_refused_at_once(site, faults, downloads, mode):
    site.pages["/a.txt"] = faults.page(TEXT)
    downloads.expected = {site.at("/a.txt"): {"num_bytes": 5, "checksum": None}}
    downloads.verification = mode

    with pytest.raises(NonMatchingChecksumError, match="size"):
        downloads.download(site.at("/a.txt")).open().readline()


def test_a_checksum_on_record_that_differs_is_refused_at_the_end_or_told(site, faults, downloads, caplog):
    site.pages["/a.txt"] = faults.page(TEXT)
    downloads.expected = {site.at("/a.txt"): {"num_bytes": len(TEXT), "checksum": "0" * 64}}

    with downloads.download(site.at("/a.txt")).open("rb") as handle:
        assert handle.read() == TEXT
    assert "has sha256" in caplog.text

    downloads.verification = VerificationMode.ALL_CHECKS
    with downloads.download(site.at("/a.txt")).open("rb") as handle:
        assert handle.read(10) == TEXT[:10]
        with pytest.raises(NonMatchingChecksumError, match="sha256"):
            handle.read()

    downloads.verification = VerificationMode.NO_CHECKS
    assert downloads.download(site.at("/a.txt")).read_bytes() == TEXT


def test_what_is_registered_is_compared_in_any_mode(site, faults, downloads):
    site.pages["/a.txt"] = faults.page(TEXT)
    downloads.registered = {site.at("/a.txt"): RegisteredFile(len(TEXT), hashlib.sha256(TEXT).hexdigest())}
    assert downloads.download(site.at("/a.txt")).read_bytes() == TEXT

    downloads.registered = {site.at("/a.txt"): RegisteredFile(len(TEXT), "0" * 64)}
    with pytest.raises(NonMatchingChecksumError, match="register_checksums=True"):
        downloads.download(site.at("/a.txt")).read_bytes()


def test_urls_that_are_not_registered_are_refused_where_that_is_demanded(site, downloads):
    downloads.download_config.force_checksums_validation = True

    with pytest.raises(MissingChecksumError):
        downloads.download(site.at("/a.txt"))


def test_a_file_that_was_fetched_by_hand_is_taken(site, cache_dir, tmp_path):
    (tmp_path / "by-hand.txt").write_bytes(TEXT)
    downloads = StreamingDownloadManager(data_dir=str(tmp_path))
    downloads.registered = {site.at("/a.txt"): RegisteredFile(len(TEXT), None, "by-hand.txt")}

    assert downloads.download(site.at("/a.txt")) == str(tmp_path / "by-hand.txt")


def test_what_was_read_whole_is_recorded(site, faults, downloads):
    site.pages["/a.txt"], site.pages["/b.txt"] = faults.page(TEXT), faults.page(TEXT)
    first, second = downloads.download([site.at("/a.txt"), site.at("/b.txt")])
    with second.open() as handle:
        next(handle)
    first.read_bytes()

    assert downloads.get_recorded_sizes_checksums() == {
        site.at("/a.txt"): {"num_bytes": len(TEXT), "checksum": hashlib.sha256(TEXT).hexdigest()}
    }


def test_it_and_its_paths_can_be_sent(site, faults, downloads):
    site.pages["/a.txt"] = faults.page(TEXT)
    path = downloads.download(site.at("/a.txt"))

    assert pickle.loads(pickle.dumps(path)).read_bytes() == TEXT
    assert pickle.loads(pickle.dumps(downloads)).download(site.at("/a.txt")) == path


def test_readers_of_the_standard_library_take_it(site, faults, downloads):
    site.pages["/a.json"] = faults.page(json.dumps({"a": 1}).encode())
    site.pages["/a.gz"] = faults.page(gzip.compress(b"inside"))
    path = downloads.download(site.at("/a.json"))

    with path.open() as handle:
        assert json.load(handle) == {"a": 1}
    with gzip.open(downloads.download(site.at("/a.gz")), "rt") as handle:
        assert handle.read() == "inside"
    with downloads.download(site.at("/a.gz")).open("rb") as raw, gzip.open(raw, "rt") as handle:
        assert handle.read() == "inside"
    assert (os.path.isfile(path), os.path.isdir(path), os.path.getsize(path)) == (True, False, 8)


def test_tables_are_read_from_it(site, faults, downloads, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"a": range(100_000)}), tmp_path / "a.parquet")
    site.pages["/a.parquet"] = faults.page((tmp_path / "a.parquet").read_bytes())
    path = downloads.download(site.at("/a.parquet"))

    assert pq.read_table(path).num_rows == 100_000
    with path.open("rb") as handle:
        assert pq.ParquetFile(handle).read_row_group(0).num_rows == 100_000


def test_files_and_folders_are_listed(site, faults, downloads, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "b.txt").write_text("")
    path = downloads.download(site.at("/a.txt"))

    assert list(downloads.iter_files([path, str(tmp_path / "d")])) == [path, str(tmp_path / "d" / "b.txt")]
    assert list(downloads.iter_files("d")) == [str(tmp_path / "d" / "b.txt")]
    assert list(downloads.iter_files(site.at("/a.txt"))) == [path]


def test_local_archives_are_unpacked_and_walked_as_in_a_build(downloads, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as made:
        made.writestr("b.txt", "inside")

    folder = downloads.download_and_extract("a.zip")
    assert type(folder) is str
    assert os.listdir(folder) == ["b.txt"]
    assert [(name, file.read()) for name, file in downloads.iter_archive("a.zip")] == [("b.txt", b"inside")]


def test_extract_compressed_file_unpacks_what_is_downloaded(site, faults, cache_dir):
    site.pages["/a.txt.gz"] = faults.page(gzip.compress(TEXT))

    path = StreamingDownloadManager(download_config=DownloadConfig(extract_compressed_file=True)).download(site.at("/a.txt.gz"))

    assert path.read_bytes() == TEXT
    with open(path, "rb") as handle:
        assert handle.read() == TEXT


def test_a_store_is_read_as_it_comes(downloads):
    import fsspec

    fsspec.filesystem("memory").pipe("/streaming-downloads/a.txt", TEXT)
    path = downloads.download("memory://streaming-downloads/a.txt")

    assert path.read_bytes() == TEXT
    with open(path, "rb") as handle:
        assert handle.read() == TEXT
