"""The last extension comes first; queries of URLs are none."""

from __future__ import annotations

import pytest

from datasets_core.meta.extensions import COMPRESSION, FORMATS, extensions


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("data/a.CSV", [".csv"]),
        (".hidden", []),
        ("a.b/c", []),
        ("https://x.org/a.json.gz?b=.csv#d.txt", [".gz", ".json"]),
        ("hf://datasets/org/x@main/what?.csv", [".csv"]),
        ("a.tar::zip://b.csv", [".tar"]),
    ],
)
def test_the_last_extension_comes_first(path: str, found: list[str]) -> None:
    assert list(extensions(path)) == found


def test_a_tar_is_both_an_archive_and_a_format() -> None:
    assert COMPRESSION & FORMATS.keys() == {".tar"}
