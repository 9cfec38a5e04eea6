"""The record of sources, and what has changed since."""

import os
import threading

from datasets_core.building.cache_key import identity_of, sources_of, stale_source
from datasets_core.config import using
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.info import DatasetInfo
from datasets_core.store.manifest import Manifest, SourceRecord


def file(path, text="abc"):
    path.write_text(text)
    return str(path)


def test_data_files_downloads_and_files_among_the_arguments_are_recorded(tmp_path):
    local = file(tmp_path / "a.txt")
    data_files = DataFilesDict(train=DataFilesList(["s3://b/x"], [("s3://b/x", 9, "etag")]))
    downloads = {"http://a/z": {"num_bytes": None, "checksum": "ff"}}

    found = sources_of(data_files, [{"deep": [{"path": local}], "text": "no file"}], downloads, hashed=True)

    assert [(record.path, record.size, record.sha256 is not None) for record in found] == [
        ("s3://b/x", 9, False),
        ("http://a/z", -1, True),
        (local, 3, True),
    ]


def test_secrets_of_urls_are_not_recorded():
    url = "https://me:pw@host/a.csv?token=abc"
    data_files = DataFilesDict(train=DataFilesList([url], [(url, 9, "etag")]))
    downloads = {"https://***@host/a.csv?token=***": {"num_bytes": 9, "checksum": "ff"}}

    (found,) = sources_of(data_files, [], downloads, hashed=False)

    assert found == SourceRecord("https://***@host/a.csv?token=***", 9, "etag", "ff")


def test_a_download_is_recorded_once_wherever_it_is_kept(tmp_path):
    (tmp_path / "cache").mkdir()
    kept = file(tmp_path / "cache" / "0123")
    downloads = {"https://host/a.csv": {"num_bytes": 3, "checksum": None}}

    found = sources_of(None, [{"files": [kept]}], downloads, hashed=True, caches=(str(tmp_path / "cache"),))

    assert found == (SourceRecord("https://host/a.csv", 3, "", None),)


def test_a_changed_local_source_is_stale_and_a_missing_one_is_not(tmp_path):
    path = file(tmp_path / "a.txt")
    (record,) = sources_of(None, [{"path": path}], {}, hashed=False)
    manifest = Manifest(
        DatasetInfo(), sources=(record, SourceRecord("/no/such/file", 3, "7"), SourceRecord("http://a", 3, "e"))
    )

    assert stale_source(manifest, None) is None
    file(tmp_path / "a.txt", "abcd")
    assert stale_source(manifest, None) == path
    assert stale_source(manifest, DataFilesDict(train=DataFilesList([path]))) is None


def test_the_identity_changes_with_a_local_file(tmp_path):
    path = file(tmp_path / "a.txt")
    before = identity_of([{"path": path}])

    os.utime(path, ns=(1, 1))

    assert None not in {before, identity_of([{"path": path}])}
    assert before != identity_of([{"path": path}])


def test_what_cannot_be_hashed_has_no_identity():
    assert identity_of([threading.Lock()]) is None


def test_local_files_that_were_asked_for_are_looked_at(tmp_path):
    archive = file(tmp_path / "a.zip")

    found = sources_of(None, [], {archive: {"num_bytes": 3, "checksum": "ff"}}, hashed=False, local_paths={archive})

    assert found == (SourceRecord(archive, 3, str(os.stat(archive).st_mtime_ns), "ff"),)


def test_files_that_do_not_belong_are_not_looked_into(tmp_path):
    mine, other = tmp_path / "mine.txt", tmp_path / "other.txt"
    mine.write_text("1")
    other.write_text("2")

    found = sources_of(None, [{"files": [str(mine), str(other)]}], {}, hashed=True, belongs=lambda path: path == str(mine))

    assert [record.path for record in found] == [str(mine)]


def test_a_file_of_the_hub_is_recorded_once_and_without_its_commit(tmp_path):
    url = f"hf://datasets/org/set@{'a' * 40}/a.csv"
    kept = file(tmp_path / "a.csv")
    data_files = DataFilesDict(train=DataFilesList([url], [(url, 3, "etag")]))
    with using(hub_cache_dir=tmp_path):
        found = sources_of(data_files, [{"file": kept}], {url: {"num_bytes": 3, "checksum": "ff"}}, hashed=True)

    assert found == (SourceRecord("hf://datasets/org/set/a.csv", 3, "etag", "ff"),)
