"""`checksums.tsv` as text: what is registered of each URL, and how it is written.

Each line is `url`, `size`, `sha256` and a file name, with tabs between them, sorted by url.  The old form, with blanks and
without a file name, is read too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from datasets_core.errors import ConfigurationError, ManifestError

CHECKSUMS_NAME = "checksums.tsv"
_SHA256 = re.compile(r"[0-9A-Fa-f]{64}")
_UNKNOWN = ("None", "null", "-", "")
_CONTROL = re.compile(r"[\x00-\x1f\x7f\x85\u2028\u2029]")


def parse_checksums(text: str, *, path: str) -> dict[str, dict[str, Any]]:
    """What a `checksums.tsv` registers of each URL: `num_bytes`, `checksum` (sha256) and `name`; None where unknown.

    The author is not trusted: a name leads to a file of the manual folder, and never out of it.

    Raises:
        ManifestError: a line that means nothing, or a name that is no name of a file; names the line.

    >>> parse_checksums("https://example.org/a.zip\\t12\\tNone\\ta.zip\\n", path="checksums.tsv")
    {'https://example.org/a.zip': {'num_bytes': 12, 'checksum': None, 'name': 'a.zip'}}
    """
    found: dict[str, dict[str, Any]] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        line = line.rstrip("\r")
        if not line.strip() or line.startswith("#"):
            continue
        fields = line.split("\t") if "\t" in line else line.rsplit(None, 2)
        if len(fields) not in (3, 4) or not fields[0].strip():
            raise ManifestError(
                path, f"line {number}: {line[:80]!r} is not url, size, sha256 and file name, with tabs between them"
            )
        url, size, checksum, name = (part.strip() for part in [*fields, ""][:4])
        if size not in _UNKNOWN and not (size.isascii() and size.isdigit() and len(size) < 20):
            raise ManifestError(path, f"line {number}: the size {size[:40]!r} is not a number of bytes")
        if checksum not in _UNKNOWN and _SHA256.fullmatch(checksum) is None:
            raise ManifestError(path, f"line {number}: {checksum[:80]!r} is not a sha256, which has 64 hexadecimal digits")
        if name not in _UNKNOWN and not is_file_name(name):
            raise ManifestError(path, f"line {number}: {name[:80]!r} is no name of a file, which has no folder in it")
        record = {
            "num_bytes": None if size in _UNKNOWN else int(size),
            "checksum": None if checksum in _UNKNOWN else checksum.lower(),
            "name": None if name in _UNKNOWN else name,
        }
        known = found.setdefault(url, record)
        if {**known, "name": None} != {**record, "name": None}:
            raise ManifestError(path, f"line {number}: {url} is recorded a second time, with another size or sha256")
    return found


def is_file_name(name: str) -> bool:
    """Whether it is the name of one file in a folder, and leads nowhere else.

    >>> is_file_name("a.zip"), is_file_name("../a.zip"), is_file_name("C:\\\\a.zip")
    (True, False, False)
    """
    return (
        name not in ("", ".", "..")
        and not any(mark in name for mark in "/\\")
        and _CONTROL.search(name) is None
        and len(name.encode("utf-8", "surrogatepass")) <= 255
    )


def checksums_text(entries: Mapping[str, Mapping[str, Any]], *, comments: str = "") -> str:
    """The text of a `checksums.tsv`, sorted by url.

    Args:
        entries: as `parse_checksums` gives them.
        comments: lines that begin with `#`, which stand first.

    Raises:
        ConfigurationError: a URL that no line can hold.

    >>> checksums_text({"https://example.org/a": {"num_bytes": 3, "checksum": "ab" * 32, "name": "a"}}).split("\\t")[1]
    '3'
    """
    lines = []
    for url in sorted(entries):
        if _CONTROL.search(url) or url != url.strip() or url.startswith("#"):
            raise ConfigurationError(f"The URL {url!r} cannot stand in {CHECKSUMS_NAME}. Write it without such characters.")
        entry = entries[url]
        fields = [url, *(str(entry.get(key)) for key in ("num_bytes", "checksum"))]
        lines.append("\t".join([*fields, entry["name"]] if entry.get("name") else fields) + "\n")
    return comments + "".join(lines)
