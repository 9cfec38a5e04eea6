"""`checksums.tsv` as text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError, ManifestError
from datasets_core.fetch.checksums import checksums_text, is_file_name, parse_checksums

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
        ("https://x/a", "is not url, size, sha256"),
        ("https://x/a\t3", "is not url, size, sha256"),
        (f"https://x/a\t3\t{SHA}\ta\tb", "is not url, size, sha256"),
        (f"\t3\t{SHA}\ta", "is not url, size, sha256"),
        (f"https://x/a\t-3\t{SHA}\ta", "the size '-3'"),
        (f"https://x/a\t٣\t{SHA}\ta", "the size '٣'"),
        ("https://x/a\t3\tabc\ta", "'abc' is not a sha256"),
        (f"https://x/0\t4\t{SHA}\ta", "a second time"),
        (f"https://x/a\t3\t{SHA}\t../a", "not a file name"),
        (f"https://x/a\t3\t{SHA}\t/etc/passwd", "not a file name"),
        (f"https://x/a\t3\t{SHA}\t..", "not a file name"),
        (f"https://x/a\t3\t{SHA}\tb\\a", "not a file name"),
        (f"https://x/a\t3\t{SHA}\ta\x07", "not a file name"),
        (f"https://x/a\t3\t{SHA}\t{'a' * 300}", "not a file name"),
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
    with pytest.raises(ConfigurationError, match=r"cannot stand in checksums\.tsv"):
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
