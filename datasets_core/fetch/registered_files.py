"""What a `checksums.tsv` registers of URLs: found by any of their names, or as a file that was fetched by hand."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from datasets_core import files
from datasets_core.fetch.checksum import FileRecord, RegisteredFile, check_registered, differ, record_of
from datasets_core.redact import redact

Registered = Mapping[str, RegisteredFile]


def entry_of(registered: Registered, *names: str) -> RegisteredFile | None:
    """What is registered of a URL, by any of its names; secrets in them do not count.

    >>> entry_of({"https://h/a?token=***": RegisteredFile(3)}, "a", "https://h/a?token=secret")
    RegisteredFile(num_bytes=3, checksum=None, name=None)
    """
    if not registered:
        return None
    known = (registered.get(name) or registered.get(redact(name)) for name in names)
    return next((entry for entry in known if entry is not None), None)


def file_by_hand(
    url: str, entry: RegisteredFile | None, folder: str | None, registered: Registered, *, is_enforced: bool
) -> tuple[str, FileRecord] | None:
    """The file of the manual folder that has the name that is registered for a URL; None where there is none.

    Raises:
        NonMatchingChecksumError: it has other bytes than are registered.
    """
    if entry is None or not entry.name or os.path.basename(entry.name) != entry.name or not folder or files.is_url(folder):
        return None
    path = os.path.join(folder, entry.name)
    if not os.path.isfile(path):
        return None
    record = record_of(path)
    if is_enforced and differ(entry.record, record):
        namesakes = [other for other in registered.values() if other.name == entry.name]
        if any(not differ(other.record, record) for other in namesakes):
            return None  # it is the file of another URL
        advice = f"It stands for {redact(url)}: fetch it again, or take it out of the folder"
        check_registered(path, entry.record, record, advice=advice)
    return path, record


def registrable(records: Mapping[str, tuple[str, FileRecord]], registered: Registered) -> dict[str, RegisteredFile]:
    """What can be registered of downloads: URLs with their secrets hidden, each with size, sha256 and name.

    URLs that differ in their secrets alone, and lead to different files, are left out.

    Args:
        records: URL as it was asked for → whole URL, and what came.
        registered: what stands there, whose names are kept.
    """
    found: dict[str, RegisteredFile] = {}
    unclear: set[str] = set()
    for url, (place, record) in records.items():
        if record.checksum is None:
            continue
        shown, entry = redact(place), entry_of(registered, url, place)
        name = entry.name if entry is not None and entry.name else name_of(shown)
        known = found.setdefault(shown, RegisteredFile(record.num_bytes, record.checksum, name))
        if known.record != record:
            unclear.add(shown)
    return {url: entry for url, entry in found.items() if url not in unclear}


def name_of(url: str) -> str:
    """The name that a file has when it is fetched by hand, as far as its URL tells.

    >>> name_of("https://example.org/data/a%20b.zip?download=1")
    'a b.zip'
    """
    from urllib.parse import unquote, urlsplit  # 3 ms that local paths do without

    parts = urlsplit(url.partition("::")[0])
    last = unquote(parts.path.rstrip("/").rpartition("/")[2]) or parts.netloc
    name = re.sub(r"[^\w .()+,=@~-]", "_", last).strip()[:200]
    return name if name.strip("._") else "download"
