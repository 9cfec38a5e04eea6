"""Output of the command: plain text, colours, and tables that fit the terminal."""

from __future__ import annotations

import logging
import os
import re
import shutil
import sys
import unicodedata
from collections.abc import Iterable, Sequence
from typing import TextIO

# Wording of the command line: counts, advice with flags instead of arguments, and escaped control characters.


_FLAGS = {
    r"\btrust_remote_code=True\b": "--trust-remote-code",
    r"\btrust_remote_code=False\b": "--no-remote-code",
    r"\btrust_remote_code='sandbox'": "--sandbox",
    r"\bdownload_mode='force_redownload'": "--force",
    r"\bverification_mode='(\w+)'": r"--verification-mode \1",
    r"\bload_dataset\('(\w+)', data_files=('[^']*')\)": r"datasets-core build \1 --data-files \2",
    r"\bdata_files=(?!\w)": "--data-files ",
    r"\bregister_checksums=True\b": "--register-checksums",
    r"\bforce_checksums_validation=True\b": "--force-checksums-validation",
    r"\block_dataset\(\.\.\., update=True\)": "datasets-core lock … --update",
    r"\block_dataset\(\.\.\.\)": "datasets-core lock …",
    r"\(timeout=, or None for no limit\)": "(--timeout, or leave it out)",
    r"\btimeout= ": "--timeout ",
    r"Call download_and_prepare\(\) first": "Run datasets-core build first",
}
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """Escape control characters, since the text may come from an untrusted dataset. JSON text keeps its meaning.

    >>> print(plain("a\\x1b[31mred"))
    a\\u001b[31mred
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: object, *, file: TextIO | None = None, style: str = "") -> None:
    """Print a text with control characters escaped.

    Args:
        text: the text.
        file: the file to print to; standard output if None.
        style: `bold`, `dim`, `red`, `green` or `yellow`, used if the file is a terminal with colours.
    """
    print(styled(plain(str(text)), style, file or sys.stdout), file=file)


class PlainFormatter(logging.Formatter):
    """Formatter of log lines that escapes control characters."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))


def counted(count: int, noun: str) -> str:
    """Return a count with its noun.

    >>> counted(1, "shard"), counted(1200, "row")
    ('1 shard', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_flags(message: str) -> str:
    """Return a message of the library with flags of the command line instead of Python arguments.

    >>> in_flags("Read it, then pass trust_remote_code=True or name the .py file itself.")
    'Read it, then pass --trust-remote-code or name the .py file itself.'
    """
    for argument, flag in _FLAGS.items():
        message = re.sub(argument, flag, message)
    return re.sub(r"(--data-files) (?=[.,;]|$)", r"\1", message)


# Colours and tables.


_STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def has_colours(file: TextIO) -> bool:
    """Return True if styles are printed: to a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`; anywhere with
    `FORCE_COLOR`.
    """
    if os.environ.get("NO_COLOR"):
        return False
    return bool(os.environ.get("FORCE_COLOR")) or (file.isatty() and os.environ.get("TERM") != "dumb")


def styled(text: str, style: str, file: TextIO) -> str:
    """Return the text in a style, if the file shows styles."""
    return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if style and has_colours(file) else text


def terminal_width() -> int | None:
    """Return the width of the terminal in columns; None if standard output is not a terminal."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None


def print_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Iterable[str] = (), tail: str = "", whole: int = 0
) -> None:
    """Print rows under a head; on a terminal, long cells are shortened until a row fits in one line.

    Args:
        head: titles of the columns.
        rows: one text for each column.
        right: titles of the columns of numbers, which are aligned to the right.
        tail: title of a column of paths; a long path keeps its end.
        whole: number of leading columns that are shortened only where shortening the others is not enough; then columns of
            numbers are never shortened, since a part of a number misleads.
    """
    table = [[one_line(cell) for cell in row] for row in rows]
    widths = [max(map(_columns_of, cells)) for cells in zip(head, *table, strict=True)]
    most = terminal_width()
    numbers = {number for number, title in enumerate(head) if title in set(right)}
    if most is not None:
        kept = {*range(whole), *numbers} if whole else set[int]()
        free = [number for number in range(len(head)) if number not in kept]
        for chosen, least in ((free, 8), (list(range(whole)), 12), (free, 4)) if whole else ((free, 4),):
            room = most - sum(width + 2 for number, width in enumerate(widths) if number not in chosen)
            for number, width in zip(chosen, fitted([widths[each] for each in chosen], room, least), strict=True):
                widths[number] = width
    for place, row in enumerate([list(head), *table]):
        cells = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            text = _shortened(cell, width, keeps_end=head[number] == tail)
            space = " " * (width - _columns_of(text))
            cells.append(space + text if number in numbers else text + space)
        say("  ".join(cells).rstrip(), style="" if place else "bold")


def fitted(widths: Sequence[int], most: int, least: int = 4) -> list[int]:
    """Return widths of columns that fit in a line, with two spaces between them; the widest columns are reduced first.

    No column is reduced below `least`, even if they do not fit then.

    >>> fitted([10, 50, 90], 80), fitted([3, 4], 80), fitted([10, 50], 12, 8)
    ([10, 33, 33], [3, 4], [8, 8])
    """
    room = most - 2 * (len(widths) - 1)
    found = list(widths)
    while found and sum(found) > room and max(found) > least:
        widest = max(found)
        below = max((width for width in found if width < widest), default=least)
        wide = [number for number, width in enumerate(found) if width == widest]
        step = min(widest - max(below, least), -(-(sum(found) - room) // len(wide)))
        for number in wide:
            found[number] -= step
    return found


def one_line(text: str) -> str:
    """Return the text with control characters escaped, and every run of line ends and tabs replaced by one space."""
    return plain(" ".join(text.split()) if "\n" in text or "\t" in text else text)


def _columns_of(text: str) -> int:
    """Return the number of columns that the text takes in a terminal: two for a wide character."""
    if text.isascii():
        return len(text)
    wide = sum(unicodedata.east_asian_width(letter) in "WF" for letter in text)
    return len(text) + wide - sum(unicodedata.combining(letter) > 0 for letter in text)


def _shortened(text: str, width: int, *, keeps_end: bool = False) -> str:
    if _columns_of(text) <= width:
        return text
    kept, room = 0, width - 1
    for letter in reversed(text) if keeps_end else text:
        room -= _columns_of(letter)
        if room < 0:
            break
        kept += 1
    return "…" + text[len(text) - kept :] if keeps_end else text[:kept] + "…"
