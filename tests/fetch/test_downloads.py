"""`DownloadManager`: what goes in comes out as local paths, of the same shape, recorded."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import pickle
import subprocess
import sys
import zipfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from datasets_core import files
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DownloadError,
    MissingChecksumError,
    NonMatchingChecksumError,
    UnsafeArchiveError,
)
from datasets_core.fetch.checksums import RegisteredFile, VerificationMode
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.fetch.http import HttpClient

BODY = bytes(range(256)) * 4000


def sha(data):
    return hashlib.sha256(data).hexdigest()


def read(path):
    return Path(path).read_bytes()


def test_a_url_comes_back_as_a_file_with_its_bytes_and_its_record(site, manager, faults):
    site.pages["/a.csv"] = faults.page(BODY)
    path = manager.download(site.at("/a.csv"))
    assert read(path) == BODY
    assert manager.get_recorded_sizes_checksums() == {site.at("/a.csv"): {"num_bytes": len(BODY), "checksum": sha(BODY)}}
    assert manager.downloaded_size == len(BODY)


def test_an_empty_body_is_a_file_of_no_bytes(site, manager, faults):
    site.pages["/empty"] = faults.page(b"")
    assert read(manager.download(site.at("/empty"))) == b""


def test_a_body_of_undeclared_length_is_taken_whole(site, manager, faults):
    site.pages["/a"] = faults.page(BODY, has_length=False)
    assert read(manager.download(site.at("/a"))) == BODY


def test_the_shape_that_goes_in_comes_out(site, manager, faults, tmp_path):
    for name in "abc":
        site.pages[f"/{name}"] = faults.page(name.encode())
    (tmp_path / "local.txt").write_bytes(b"here")
    found = manager.download({"x": [site.at("/a"), (site.at("/b"),)], 3: {"y": site.at("/c")}, "l": tmp_path / "local.txt"})
    assert read(found["x"][0]) == b"a"
    assert isinstance(found["x"][1], tuple)
    assert read(found["x"][1][0]) == b"b"
    assert read(found[3]["y"]) == b"c"
    assert found["l"] == str(tmp_path / "local.txt")


def test_one_url_named_twice_is_fetched_once(site, manager, faults):
    site.pages["/a"] = faults.page(b"a")
    first, second = manager.download([site.at("/a")] * 2)
    assert first == second
    assert len(site.requests) == 1


def test_a_named_tuple_keeps_its_type(manager, tmp_path):
    (tmp_path / "a").write_text("a")
    pair = namedtuple("pair", "left right")
    assert manager.download(pair("a", "a")) == pair(str(tmp_path / "a"), str(tmp_path / "a"))


def test_relative_paths_start_from_the_base_path_which_may_be_a_url(site, manager, faults, cache_dir, policy, tmp_path):
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "a.csv").write_text("x")
    site.pages["/base/b.csv"] = faults.page(b"b")
    remote = DownloadManager(base_path=site.at("/base"), retries=policy)
    assert manager.download("d/a.csv") == str(tmp_path / "d" / "a.csv")
    assert read(remote.download("b.csv")) == b"b"


def test_a_file_url_is_the_local_path(manager, tmp_path):
    (tmp_path / "a.csv").write_text("x")
    assert manager.download(f"file://{tmp_path}/a.csv") == str(tmp_path / "a.csv")


def test_a_missing_local_file_is_named(manager, tmp_path):
    with pytest.raises(DataFilesNotFoundError) as caught:
        manager.download("nowhere.csv")
    assert str(caught.value.file).endswith("nowhere.csv")


def test_other_stores_are_fetched_through_the_cache_and_again_when_they_change(manager):
    import fsspec

    store = fsspec.filesystem("memory")
    store.pipe("/fetch/a.csv", b"one")
    first = manager.download("memory://fetch/a.csv")
    assert (read(first), manager.download("memory://fetch/a.csv")) == (b"one", first)
    store.pipe("/fetch/a.csv", b"other")
    assert read(manager.download("memory://fetch/a.csv")) == b"other"
    store.rm("/fetch", recursive=True)


def test_a_missing_file_of_another_store_is_named(manager):
    with pytest.raises(DataFilesNotFoundError, match=r"memory://fetch/none\.csv"):
        manager.download("memory://fetch/none.csv")


def test_an_unknown_protocol_is_named(manager):
    with pytest.raises(DownloadError, match="nonsense://x"):
        manager.download("nonsense://x/y")


def test_chained_urls_reach_into_archives_also_behind_http(site, manager, faults, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/a.csv", "inner")
    site.pages["/a.zip"] = faults.page((tmp_path / "a.zip").read_bytes())
    local, remote = manager.download([f"zip://in/a.csv::{tmp_path}/a.zip", f"zip://in/a.csv::{site.at('/a.zip')}"])
    assert read(local) == read(remote) == b"inner"


def test_download_and_extract_opens_what_it_fetched_once(site, manager, faults, tmp_path):
    site.pages["/d/a.csv.gz"] = faults.page(gzip.compress(b"plain"))
    path = manager.download_and_extract(site.at("/d/a.csv.gz"))
    assert (read(path), os.path.basename(path)) == (b"plain", "a.csv")
    assert manager.download_and_extract({"x": site.at("/d/a.csv.gz")}) == {"x": path}
    manager.delete_extracted_files()
    assert not os.path.exists(path)


def test_extracted_files_are_removed_only_when_asked(manager, tmp_path):
    (tmp_path / "a.gz").write_bytes(gzip.compress(b"x"))
    path = manager.extract(str(tmp_path / "a.gz"))
    manager.manage_extracted_files()
    assert os.path.exists(path)
    manager.download_config.delete_extracted = True
    manager.manage_extracted_files()
    assert not os.path.exists(path)
    assert os.path.exists(tmp_path / "a.gz")


def test_a_plain_file_is_not_extracted(manager, tmp_path):
    (tmp_path / "a.csv").write_text("a,b")
    assert manager.extract([str(tmp_path / "a.csv")]) == [str(tmp_path / "a.csv")]


def test_iter_archive_of_a_url_fetches_it(site, manager, faults, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "inner")
    site.pages["/a.zip"] = faults.page((tmp_path / "a.zip").read_bytes())
    assert [(name, handle.read()) for name, handle in manager.iter_archive(site.at("/a.zip"))] == [("a.csv", b"inner")]


def test_download_custom_calls_the_function_once_and_keeps_the_file(manager):
    calls = []

    def fetch(url, path):
        calls.append(url)
        Path(path).write_text(url)

    found = manager.download_custom({"a": "x://1", "b": ["x://2", "x://1"]}, fetch)
    assert read(found["b"][0]) == b"x://2"
    assert manager.download_custom("x://1", fetch) == found["a"]
    assert calls == ["x://1", "x://2"]


def test_download_custom_that_writes_nothing_is_told(manager):
    with pytest.raises(DownloadError, match="did not write a file"):
        manager.download_custom("x://1", lambda url, path: None)


class _Pipeline:
    """As much of a pipeline of Apache Beam as shipping files looks at."""

    def __init__(self, **options):
        self.options = self
        self._all = options

    def get_all_options(self):
        return self._all


@pytest.mark.parametrize("options", [{}, {"temp_location": None}, {"temp_location": "/tmp/beam"}])
def test_a_pipeline_of_this_machine_sees_files_where_they_are(manager, options):
    assert manager.ship_files_with_pipeline({"a": ["b"]}, _Pipeline(**options)) == {"a": ["b"]}


def test_files_go_where_a_pipeline_elsewhere_sees_them(manager, tmp_path):
    (tmp_path / "one.txt").write_bytes(b"one")
    place = f"memory://ship/{tmp_path.name}"
    found = manager.ship_files_with_pipeline({"a": str(tmp_path / "one.txt")}, _Pipeline(temp_location=place))
    assert found == {"a": f"{place}/downloads/one.txt"}
    with files.open_binary(found["a"]) as copy:
        assert copy.read() == b"one"


def test_manual_dir_is_the_data_dir_and_nothing_streams():
    manager = DownloadManager(data_dir="/data")
    assert (manager.manual_dir, manager.is_streaming) == ("/data", False)


def test_a_manager_can_be_sent_to_another_process(site, manager, faults):
    site.pages["/a"] = faults.page(b"a")
    path = manager.download(site.at("/a"))
    assert pickle.loads(pickle.dumps(manager)).download(site.at("/a")) == path


def test_an_unknown_verification_mode_names_the_known_ones():
    with pytest.raises(ConfigurationError, match="'basic_checks'"):
        VerificationMode("some")


def test_local_use_imports_no_client():
    code = (
        "import sys, datasets_core.fetch.downloads as d; d.DownloadManager().download(sys.argv[1])\n"
        "print([m for m in ('httpx2', 'fsspec', 'pyarrow', 'numpy', 'tqdm', 'huggingface_hub') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code, __file__], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_an_unsafe_archive_is_named_by_the_url_that_it_came_from(site, manager, faults, tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("../out", "1")
    site.pages["/a.zip"] = faults.page(read(tmp_path / "a.zip"))
    url = site.at("/a.zip?token=abc")

    for use in (manager.download_and_extract, lambda url: list(manager.iter_archive(url))):
        with pytest.raises(UnsafeArchiveError) as caught:
            use(url)
        assert caught.value.path == site.at("/a.zip?token=***")


# -- what is registered ------------------------------------------------------------------------------------------------


def _register(manager, url, body, name=None):
    manager.registered = {**manager.registered, url: RegisteredFile(len(body), sha(body), name)}


def test_what_is_registered_is_compared_under_the_default_mode(site, manager, faults):
    site.pages["/a.csv"] = faults.page(BODY)
    _register(manager, site.at("/a.csv"), BODY[:-1] + b"#")
    with pytest.raises(NonMatchingChecksumError, match="register_checksums=True") as caught:
        manager.download(site.at("/a.csv"))
    assert (caught.value.url, caught.value.found) == (site.at("/a.csv"), sha(BODY))
    assert len(site.requests) == 2  # a fault on the way would have been mended


def test_a_registered_file_of_the_cache_needs_no_request(site, manager, faults):
    site.pages["/a.csv"] = faults.page(BODY)
    _register(manager, site.at("/a.csv"), BODY)
    first = manager.download(site.at("/a.csv"))
    site.pages["/a.csv"] = faults.page(b"another", etag='"v2"')
    assert manager.download(site.at("/a.csv")) == first
    assert len(site.requests) == 1


def test_urls_that_are_not_registered_are_named_before_anything_is_fetched(site, manager, faults):
    site.pages["/a.csv"] = faults.page(BODY)
    manager.download_config.force_checksums_validation = True
    _register(manager, site.at("/a.csv"), BODY)
    with pytest.raises(MissingChecksumError) as caught:
        manager.download([site.at("/a.csv"), site.at("/b.csv"), f"{site.at('/c.csv')}?token=secret"])
    assert caught.value.urls == (site.at("/b.csv"), f"{site.at('/c.csv')}?token=***")
    assert site.requests == []


def test_what_can_be_registered_has_no_secrets(site, manager, faults, tmp_path):
    site.pages["/a.csv"] = faults.page(BODY)
    (tmp_path / "local.csv").write_bytes(BODY)
    manager.download([f"{site.at('/a.csv')}?token=secret", "local.csv"])
    assert manager.registrable() == {f"{site.at('/a.csv')}?token=***": RegisteredFile(len(BODY), sha(BODY), "a.csv")}


def test_urls_that_only_their_secrets_tell_apart_are_not_registered(site, manager, faults):
    def other(handler, page):
        handler.serve(faults.page(b"other"))

    site.pages["/a.csv"] = faults.page(BODY, faults=[other])
    manager.download_config.num_proc = 1
    manager.download([f"{site.at('/a.csv')}?token={token}" for token in ("one", "two")])
    assert manager.registrable() == {}


def test_a_chained_url_takes_the_archive_that_was_fetched_by_hand(site, manager, tmp_path):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("inner.csv", BODY)
    (tmp_path / "by_hand.zip").write_bytes(packed.getvalue())
    _register(manager, site.at("/a.zip"), packed.getvalue(), "by_hand.zip")
    manager.data_dir = str(tmp_path)
    assert Path(manager.download(f"zip://inner.csv::{site.at('/a.zip')}")).read_bytes() == BODY
    assert site.requests == []


def test_files_share_connections_that_are_made_with_the_first() -> None:
    manager = DownloadManager()
    assert not any(isinstance(value, HttpClient) for value in vars(manager).values())
    with ThreadPoolExecutor(8) as threads:
        made = set(threads.map(lambda _: manager._client, range(64)))
    assert len(made) == 1
