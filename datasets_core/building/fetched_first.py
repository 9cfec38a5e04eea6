"""Streamed scripts that make a text of a path and open that: told from how they fail, since such a text cannot fetch itself."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from urllib.parse import urlsplit

from datasets_core.errors import DatasetGenerationError, DeniedAccessError, UrlNotFoundError
from datasets_core.redact import redact

# What Python, and packages that open paths in C, say of a place that is not on this disk.
_NOT_HERE = re.compile(
    r"FileNotFoundError|NotADirectoryError|No such file|does not exist|not found|rror opening|nable to open|OSError|"
    r"cannot open|nrecognized filesystem",
    re.IGNORECASE,
)
_NETWORK = ("connect to ", "look up ")


def unopened(error: BaseException, given: Collection[str]) -> str | None:
    """The URL whose text a streamed script took for the path of a file, so that it failed; None where it failed otherwise.

    Args:
        error: what the library says of the failure.
        given: the URLs that the script was given as paths.

    >>> failed = DatasetGenerationError("FileNotFoundError: No such file or directory: 'https://example.org/a.csv.txt'")
    >>> unopened(failed, ["https://example.org/a.csv"])
    'https://example.org/a.csv'
    """
    longest_first = sorted(given, key=len, reverse=True)
    if isinstance(error, UrlNotFoundError):  # a name beside a given one is that of a file which the script would make
        shown = {form: url for url in longest_first for form in (url, redact(url))}
        return next((url for form, url in shown.items() if error.url.startswith(form) and error.url != form), None)
    if isinstance(error, DeniedAccessError):
        hosts = {urlsplit(url).hostname: url for url in longest_first}
        is_network = error.tried.startswith(_NETWORK)
        return next((url for host, url in hosts.items() if is_network and host and host in error.tried), None)
    if not isinstance(error, DatasetGenerationError):
        return None
    words = str(error)
    if not _NOT_HERE.search(words):
        return None
    return next((url for url in longest_first if any(form in words for form in _forms(url))), None)


def _forms(url: str) -> tuple[str, ...]:
    """A URL as it may stand in an error: as it is, as `pathlib` writes it, and as `repr` does."""
    path = os.path.normpath(url)
    return url, path, redact(url), repr(url)[1:-1]
