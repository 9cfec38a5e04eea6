"""What is registered of URLs; what a manager makes of it is tested with `download`."""

from __future__ import annotations

import hashlib

import pytest

from datasets_core.errors import NonMatchingChecksumError
from datasets_core.fetch.checksums import FileRecord, RegisteredFile, entry_of, file_by_hand, name_of, registrable


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
    with pytest.raises(NonMatchingChecksumError, match="It stands for u"):
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
