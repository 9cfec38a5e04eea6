"""Files against their records."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest

from datasets_core.engines.threads import Watch
from datasets_core.errors import ExpectedMoreDownloadedFilesError, NonMatchingChecksumError, UnexpectedDownloadedFileError
from datasets_core.fetch.checksums import FileRecord, RegisteredFile, VerificationMode, check_registered

BODY = bytes(range(256)) * 4000


def sha(data):
    return hashlib.sha256(data).hexdigest()


def read(path):
    return Path(path).read_bytes()


def test_a_right_record_passes_and_unknown_is_no_mismatch(site, manager, faults):
    site.pages["/a"] = site.pages["/b"] = faults.page(BODY)
    manager.verification = VerificationMode.ALL_CHECKS
    manager.expected = {
        site.at("/a"): {"num_bytes": len(BODY), "checksum": sha(BODY)},
        site.at("/b"): {"num_bytes": None, "checksum": None},
    }
    manager.download([site.at("/a"), site.at("/b")])
    manager.check_downloads()


def test_a_wrong_checksum_is_fetched_twice_and_then_told(site, manager, faults, cache_dir):
    site.pages["/a"] = faults.page(BODY)
    manager.verification = VerificationMode.ALL_CHECKS
    manager.expected = {site.at("/a"): {"num_bytes": len(BODY), "checksum": "0" * 64}}
    with pytest.raises(NonMatchingChecksumError) as caught:
        manager.download(site.at("/a"))
    assert (caught.value.expected, caught.value.found) == ("0" * 64, sha(BODY))
    assert len(site.requests) == 2
    assert [name for name in os.listdir(cache_dir) if not name.endswith(".lock")] == []


def test_a_fault_on_the_wire_is_mended_by_the_second_fetch(site, manager, faults):
    site.pages["/a"] = faults.page(
        b"bad" * 10, faults=[faults.changing_to(b"abc" * 10, '"v1"', lambda handler, page: handler.serve(page))]
    )
    manager.verification = VerificationMode.ALL_CHECKS
    manager.expected = {site.at("/a"): {"num_bytes": 30, "checksum": sha(b"abc" * 10)}}
    assert read(manager.download(site.at("/a"))) == b"abc" * 10


@pytest.mark.parametrize("mode", ["all_checks", "basic_checks"])
def test_a_wrong_size_is_told(site, manager, faults, mode):
    site.pages["/a"] = faults.page(BODY)
    manager.verification = VerificationMode(mode)
    manager.expected = {site.at("/a"): {"num_bytes": len(BODY) + 1}}
    with pytest.raises(NonMatchingChecksumError, match="size"):
        manager.download(site.at("/a"))


def test_no_checks_compare_nothing(site, manager, faults):
    site.pages["/a"] = faults.page(BODY)
    manager.verification = VerificationMode.NO_CHECKS
    manager.expected = {site.at("/a"): {"num_bytes": 1, "checksum": "0"}, "x": {}}
    manager.download(site.at("/a"))
    manager.check_downloads()


def test_missing_and_unexpected_downloads_are_named(site, manager, faults):
    site.pages["/a"] = faults.page(BODY)
    manager.verification = VerificationMode.ALL_CHECKS
    manager.download(site.at("/a"))
    manager.expected = {site.at("/a"): {}, "https://host/other": {}}
    with pytest.raises(ExpectedMoreDownloadedFilesError, match="https://host/other is on record"):
        manager.check_downloads()
    manager.expected = {}
    with pytest.raises(UnexpectedDownloadedFileError, match=site.at("/a")):
        manager.check_downloads()
    manager.expected = None
    manager.check_downloads()


def test_local_files_are_compared_too(manager, tmp_path):
    (tmp_path / "a.csv").write_bytes(b"abc")
    manager.verification = VerificationMode.ALL_CHECKS
    manager.expected = {"a.csv": {"num_bytes": 3, "checksum": "0" * 64}}
    with pytest.raises(NonMatchingChecksumError, match=r"a\.csv has sha256"):
        manager.download("a.csv")


def test_a_wrong_declared_size_is_told_before_the_body_is_fetched(site, manager, faults, tmp_path):
    site.pages["/a"] = faults.page(BODY)
    told = []
    manager.expected = {site.at("/a"): {"num_bytes": 7}}
    source = manager._source(site.at("/a"))
    with pytest.raises(NonMatchingChecksumError, match=f"has size {len(BODY)} bytes, expected 7 bytes"):
        source.fetch(str(tmp_path / "a"), FileRecord(7), Watch(told.append))
    assert sum(told) == 0


def test_what_is_registered_is_compared_in_size_and_sha256():
    known = RegisteredFile(3, "a" * 64, "x").record
    check_registered("u", known, FileRecord(3, "a" * 64))
    check_registered("u", known, FileRecord(None, "a" * 64))
    for found, what in ((FileRecord(4, "b" * 64), "size"), (FileRecord(3, "b" * 64), "sha256")):
        with pytest.raises(NonMatchingChecksumError, match="register_checksums=True") as caught:
            check_registered("u", known, found)
        assert caught.value.what == what
