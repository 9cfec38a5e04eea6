"""Files against their records."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.engines.threads import Watch
from datasets_core.errors import (
    ConfigurationError,
    ExpectedMoreDownloadedFilesError,
    ManifestError,
    NonMatchingChecksumError,
    UnexpectedDownloadedFileError,
)
from datasets_core.fetch.checksums import (
    DownloadConfig,
    DownloadMode,
    FileRecord,
    RegisteredFile,
    VerificationMode,
    check_registered,
    checksums_text,
    entry_of,
    file_by_hand,
    is_file_name,
    leaves,
    mapped,
    name_of,
    parse_checksums,
    registrable,
)

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
    with pytest.raises(ExpectedMoreDownloadedFilesError, match="https://host/other is recorded"):
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


# `checksums.tsv` as text.

SHA = "3527663986b8295af4f7fcdff1ba1ff3f72d07d61a20f487cb238a6ef92fd955"


def test_checksums_are_read_in_both_forms() -> None:
    text = f"# note\nhttps://x/a b.zip\t12\t{SHA.upper()}\ta.zip\r\n\nhttps://x/b 3 {SHA}\nhttps://x/c\tNone\tnull\tc\n"
    assert parse_checksums(text, path="checksums.tsv") == {
        "https://x/a b.zip": {"num_bytes": 12, "checksum": SHA, "name": "a.zip"},
        "https://x/b": {"num_bytes": 3, "checksum": SHA, "name": None},
        "https://x/c": {"num_bytes": None, "checksum": None, "name": "c"},
    }


def test_a_checksum_that_is_recorded_twice_alike_is_one() -> None:
    assert len(parse_checksums(f"u\t1\t{SHA}\tx\nu\t1\t{SHA}\ty\n", path="f")) == 1


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("https://x/a", "is not URL, size, sha256"),
        ("https://x/a\t3", "is not URL, size, sha256"),
        (f"https://x/a\t3\t{SHA}\ta\tb", "is not URL, size, sha256"),
        (f"\t3\t{SHA}\ta", "is not URL, size, sha256"),
        (f"https://x/a\t-3\t{SHA}\ta", "the size '-3'"),
        (f"https://x/a\t٣\t{SHA}\ta", "the size '٣'"),
        ("https://x/a\t3\tabc\ta", "'abc' is not a sha256"),
        (f"https://x/0\t4\t{SHA}\ta", "recorded twice"),
        (f"https://x/a\t3\t{SHA}\t../a", "not a plain file name"),
        (f"https://x/a\t3\t{SHA}\t/etc/passwd", "not a plain file name"),
        (f"https://x/a\t3\t{SHA}\t..", "not a plain file name"),
        (f"https://x/a\t3\t{SHA}\tb\\a", "not a plain file name"),
        (f"https://x/a\t3\t{SHA}\ta\x07", "not a plain file name"),
        (f"https://x/a\t3\t{SHA}\t{'a' * 300}", "not a plain file name"),
    ],
)
def test_a_malformed_checksum_is_named_by_file_and_line(line: str, reason: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parse_checksums(f"https://x/0\t3\t{SHA}\ta\n{line}\n", path="checksums.tsv")
    assert str(caught.value).startswith("checksums.tsv: line 2: ")
    assert reason in str(caught.value)


def test_a_name_that_is_empty_or_unknown_is_none() -> None:
    assert parse_checksums(f"u\t1\t{SHA}\t\nv\t1\t{SHA}\tNone\n", path="f")["u"]["name"] is None


def test_the_text_is_sorted_by_url_and_keeps_its_comments() -> None:
    entries = {url: {"num_bytes": 3, "checksum": SHA, "name": None} for url in ("https://x/b", "https://x/a")}
    assert checksums_text(entries, comments="# note\n") == f"# note\nhttps://x/a\t3\t{SHA}\nhttps://x/b\t3\t{SHA}\n"


@pytest.mark.parametrize("url", ["https://x/a\tb", "https://x/a\nb", " https://x/a", "#x"])
def test_a_url_that_no_line_can_hold_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"cannot be written to checksums\.tsv"):
        checksums_text({url: {"num_bytes": 3, "checksum": SHA, "name": None}})


URLS = st.text(st.characters(categories=["L", "N", "P", "Zs"]), min_size=1).map(lambda text: f"https://x/{text}y")
UNKNOWN = ("None", "null", "-")  # what the file has for a name that is not known
ENTRIES = st.fixed_dictionaries(
    {
        "num_bytes": st.none() | st.integers(0, 10**15),
        "checksum": st.none() | st.just(SHA),
        "name": st.none()
        | st.text(max_size=9).filter(lambda name: is_file_name(name) and name == name.strip() and name not in UNKNOWN),
    }
)


@given(st.dictionaries(URLS, ENTRIES))
def test_what_is_written_is_read_again(entries: dict[str, dict[str, object]]) -> None:
    assert parse_checksums(checksums_text(entries), path="f") == entries


# What a user says about downloads.


def test_a_copied_config_shares_nothing():
    one = DownloadConfig(storage_options={"a": {}})
    two = one.copy()
    two.storage_options["a"]["b"] = 1
    assert one.storage_options == {"a": {}}


def test_a_token_is_not_shown():
    assert "hf_x" not in repr(DownloadConfig(token="hf_x"))


def test_an_unknown_mode_names_the_known_ones():
    with pytest.raises(ConfigurationError, match="'reuse_cache_if_exists'"):
        DownloadMode("reuse")


# Nestings of paths.

NESTINGS = st.recursive(
    st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner), max_leaves=20
)


@pytest.mark.parametrize("wrong", [(x for x in "a"), None, 3, {"a"}, [b"bytes"], ["a", None]])
def test_what_is_no_path_is_refused_by_name(manager, wrong, tmp_path):
    (tmp_path / "a").write_text("a")
    with pytest.raises(ConfigurationError, match="not a path or URL"):
        manager.download(wrong)


@given(NESTINGS)
def test_any_nesting_keeps_its_shape_and_its_order(nested):
    numbers = iter(range(1000))
    numbered = mapped(nested, lambda leaf: f"{leaf} {next(numbers)}")
    assert mapped(numbered, lambda leaf: leaf.rpartition(" ")[0]) == nested
    assert [leaf.rpartition(" ")[0] for leaf in leaves(numbered)] == list(leaves(nested))
    assert [int(leaf.rpartition(" ")[2]) for leaf in leaves(numbered)] == list(range(len(list(leaves(nested)))))


# What is registered of URLs; what a manager makes of it is tested with `download`.


def _file(body, name=None):
    return RegisteredFile(len(body), hashlib.sha256(body).hexdigest(), name)


def test_a_url_is_found_by_any_name_and_without_its_secrets():
    known = {"https://h/a": _file(b"1"), "https://h/b?token=***": _file(b"2")}
    assert entry_of(known, "a", "https://h/a") == _file(b"1")
    assert entry_of(known, "https://h/b?token=x") == _file(b"2")
    assert entry_of(known, "https://h/c") is entry_of({}, "https://h/a") is None


def test_a_file_by_hand_is_taken_by_its_registered_name(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1")
    entry = _file(b"1", "a.txt")
    path, record = file_by_hand("u", entry, str(tmp_path), {"u": entry}, is_enforced=True)
    assert (path, record) == (str(tmp_path / "a.txt"), entry.record)
    for other, folder in ((None, str(tmp_path)), (_file(b"1"), str(tmp_path)), (entry, None), (entry, "s3://bucket/x")):
        assert file_by_hand("u", other, folder, {}, is_enforced=True) is None


@pytest.mark.parametrize("name", ["../a.txt", "/etc/passwd", "sub/a.txt", "gone.txt", ".."])
def test_a_name_leads_to_a_file_of_the_folder_or_nowhere(name, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"1")
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.txt").write_bytes(b"1")
    assert file_by_hand("u", _file(b"1", name), str(tmp_path / "sub"), {}, is_enforced=True) is None


def test_a_file_by_hand_of_other_bytes_is_refused_unless_it_is_registered_anew(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"2")
    known = {"u": _file(b"1", "a.txt")}
    with pytest.raises(NonMatchingChecksumError, match="It is used for u"):
        file_by_hand("u", known["u"], str(tmp_path), known, is_enforced=True)
    assert file_by_hand("u", known["u"], str(tmp_path), known, is_enforced=False)[1] == _file(b"2").record
    known["v"] = _file(b"2", "a.txt")
    assert file_by_hand("u", known["u"], str(tmp_path), known, is_enforced=True) is None


def test_what_can_be_registered_keeps_the_names_that_stand_there():
    known = {"https://h/a": _file(b"1", "mine.txt")}
    records = {"a": ("https://h/a", _file(b"2").record), "https://h/b": ("https://h/b", FileRecord(3))}
    assert registrable(records, known) == {"https://h/a": _file(b"2", "mine.txt")}


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://h/d/a%20b.zip?x=1", "a b.zip"),
        ("https://h/", "h"),
        ("https://h/%2e%2e", "download"),
        ("https://h/a%2f..%2fb", "a_.._b"),
        ("https://h/a%00%0a\\b", "a___b"),
        ("zip://in.csv::https://h/a.zip", "in.csv"),
        (f"https://h/{'x' * 300}", "x" * 200),
    ],
)
def test_the_name_of_a_url_is_the_name_of_a_file(url, name):
    assert name_of(url) == name
