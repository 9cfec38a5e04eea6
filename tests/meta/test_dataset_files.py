"""Media types of files by their names."""

import pytest

from datasets_core.meta.listings import media_type


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.CSV", "text/csv"),
        ("a.tsv", "text/tab-separated-values"),
        ("a.jsonl", "application/jsonlines"),
        ("a.json", "application/json"),
        ("a.parquet", "application/x-parquet"),
        ("a.zip", "application/zip"),
        ("a.tar", "application/x-tar"),
        ("a.csv.gz", "application/gzip"),
        ("a.png", "image/png"),
        ("a", "application/octet-stream"),
    ],
)
def test_a_name_tells_the_media_type(name: str, kind: str) -> None:
    assert media_type(name) == kind
