"""How the command line words things: counts, the advice of the library in flags, and nothing that a terminal obeys."""

from __future__ import annotations

import logging
import re
from typing import TextIO

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
_OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def plain(text: str) -> str:
    """A text with what a terminal would obey written out: authors of datasets are strangers. JSON stays what it is.

    >>> print(plain("a\\x1b[31mred"))
    a\\u001b[31mred
    """
    return _OBEYED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def say(text: object, *, file: TextIO | None = None) -> None:
    """Print a text, with what a terminal would obey written out.

    Args:
        text: the text.
        file: standard output if None.
    """
    print(plain(str(text)), file=file)


class PlainFormatter(logging.Formatter):
    """Lines of a log, with what a terminal would obey written out."""

    def format(self, record: logging.LogRecord) -> str:
        """See `logging.Formatter`."""
        return plain(super().format(record))


def counted(count: int, noun: str) -> str:
    """A count and its noun.

    >>> counted(1, "shard"), counted(1200, "row")
    ('1 shard', '1,200 rows')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def in_flags(message: str) -> str:
    """A message of the library in the words of the command line.

    >>> in_flags("Read it, then pass trust_remote_code=True or name the .py file itself.")
    'Read it, then pass --trust-remote-code or name the .py file itself.'
    """
    for argument, flag in _FLAGS.items():
        message = re.sub(argument, flag, message)
    return re.sub(r"(--data-files) (?=[.,;]|$)", r"\1", message)
