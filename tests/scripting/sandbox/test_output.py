"""What a confined script prints reaches the log, harmless and bounded."""

import logging
import os
from collections.abc import Iterator

import pytest

from datasets_core.scripting.sandbox.process import MAX_BYTES, Output


@pytest.fixture
def ends() -> Iterator[tuple[Output, int]]:
    reads, writes = os.pipe()
    yield Output(reads, script="a.py"), writes
    os.close(reads)


def test_lines_are_shown_without_what_a_terminal_would_obey(ends: tuple[Output, int], caplog: pytest.LogCaptureFixture) -> None:
    output, writes = ends
    with caplog.at_level(logging.INFO, logger="datasets_core"):
        os.write(writes, b"hello\n\x1b]0;owned\x07 \xff\nno end")
        assert output.drain() is True
        os.close(writes)
        assert output.drain() is False
    assert caplog.messages == ["a.py: hello", "a.py: \\x1b]0;owned\\x07 \N{REPLACEMENT CHARACTER}", "a.py: no end"]
    assert output.tail.endswith("no end")


def test_what_is_printed_without_end_is_left_out_and_that_is_said_once(
    ends: tuple[Output, int], caplog: pytest.LogCaptureFixture
) -> None:
    output, writes = ends
    with caplog.at_level(logging.INFO, logger="datasets_core"):
        for _ in range(10):
            os.write(writes, b"x" * 30_000 + b"\n")
            output.drain()
    os.close(writes)
    assert sum(map(len, caplog.messages)) < MAX_BYTES + 1000
    assert [message for message in caplog.messages if "left out" in message] == [
        f"a.py printed more than {MAX_BYTES} bytes; the rest is left out."
    ]


def test_a_line_without_end_takes_no_memory_without_end(ends: tuple[Output, int]) -> None:
    output, writes = ends
    for _ in range(20):
        os.write(writes, b"x" * 60_000)
        output.drain()
    os.close(writes)
    assert len(output._line) <= MAX_BYTES
