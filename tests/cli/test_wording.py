"""Counts, and advice in flags."""

import json
import logging

import pytest

from datasets_core.cli.maintenance import PlainFormatter, counted, in_flags, plain, say


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


OBEYED = [chr(code) for code in range(256) if not chr(code).isprintable() and chr(code) not in "\t\n\xa0\xad"]


def test_nothing_that_a_terminal_obeys_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    text = "\n\taé" + "".join(OBEYED) + "\u202e\u2066"
    say(text)
    said = capsys.readouterr().out
    assert not set(said) & {*OBEYED, "\u202e", "\u2066"}
    assert said.startswith("\n\taé\\u0000")
    record = logging.LogRecord("a", logging.INFO, "a.py", 1, "%s", ("\x1b[2J",), None)
    assert PlainFormatter().format(record) == "\\u001b[2J"


def test_json_stays_what_it_is() -> None:
    value = {"a\x9b": ["\x7f", "\u202e", "ü\x1b"]}
    assert json.loads(plain(json.dumps(value, ensure_ascii=False, indent=2))) == value
