"""The last extension comes first; queries of URLs are none."""

from __future__ import annotations

import pytest

from datasets_core.meta.listings import COMPRESSION, FORMATS, extensions, is_bare_shard


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("data/a.CSV", [".csv"]),
        (".hidden", []),
        ("a.b/c", []),
        ("https://x.org/a.json.gz?b=.csv#d.txt", [".gz", ".json"]),
        ("hf://datasets/org/x@main/what?.csv", [".csv"]),
        ("a.tar::zip://b.csv", [".tar"]),
        ("mnist-train.tfrecord-00000-of-00010", [".tfrecord"]),
        ("a.tfrecord-00000-of-00010.gz", [".gz", ".tfrecord"]),
        ("a-00000-of-00010.csv", [".csv"]),
    ],
)
def test_the_last_extension_comes_first(path: str, found: list[str]) -> None:
    assert list(extensions(path)) == found


def test_a_tar_is_both_an_archive_and_a_format() -> None:
    assert COMPRESSION & FORMATS.keys() == {".tar"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("data/train-00000-of-01024", True),
        ("imagenet-2.0.1-train-00000-of-01024.gz", True),
        ("https://x.org/train-00000-of-01024?key=1", True),
        ("train-0-of-2", False),
        ("a.txt-00000-of-00002", False),
        ("a.array_record-00000-of-00002", False),
        ("a-00000-of-00002.csv", False),
        ("train-00000-of-01024.idx", False),
    ],
)
def test_a_shard_without_an_extension_is_told_by_its_number(path: str, expected: bool) -> None:
    assert is_bare_shard(path) is expected
