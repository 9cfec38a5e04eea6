"""Counts, and advice in flags."""

import pytest

from datasets_core.cli.wording import counted, in_flags


@pytest.mark.parametrize(("count", "words"), [(0, "0 shards"), (1, "1 shard"), (2, "2 shards"), (1200, "1,200 shards")])
def test_one_is_singular(count: int, words: str) -> None:
    assert counted(count, "shard") == words


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("again with download_mode='force_redownload', or", "again with --force, or"),
        ("or pass verification_mode='no_checks'.", "or pass --verification-mode no_checks."),
        ("or name the files by data_files=.", "or name the files by --data-files."),
        ("load_dataset('csv', data_files='http://a/b')", "datasets-core build csv --data-files 'http://a/b'"),
        ("nothing of it", "nothing of it"),
    ],
)
def test_arguments_become_flags(message: str, words: str) -> None:
    assert in_flags(message) == words
