"""Files of a dataset as other tools are told of them: where each lies, what it holds, and the splits that it belongs to."""

from __future__ import annotations

import mimetypes
from dataclasses import dataclass, field
from typing import Any, Protocol

TABLES = {
    ".csv": "text/csv",
    ".tsv": "text/tab-separated-values",
    ".jsonl": "application/jsonlines",
    ".ndjson": "application/jsonlines",
    ".json": "application/json",
    ".parquet": "application/x-parquet",
    ".geoparquet": "application/x-parquet",
    ".gpq": "application/x-parquet",
    ".arrow": "application/vnd.apache.arrow.file",
}
"""The media types of files whose columns are those of the rows, by extension."""

_PACKED = {
    "gzip": "application/gzip",
    "bzip2": "application/x-bzip2",
    "xz": "application/x-xz",
    "br": "application/x-brotli",
    "compress": "application/x-compress",
}


@dataclass(frozen=True, slots=True)
class DatasetFile:
    """One file.

    Attributes:
        name: its path in the dataset, with `/`; unique among the files of the dataset.
        url: where it is fetched from; None for a file beside the description, at `name`.
        encoding: its media type.
        size: bytes; None where unknown.
        sha256: in hex; None where unknown.
        splits: those that its rows belong to.
    """

    name: str
    url: str | None = None
    encoding: str = "application/octet-stream"
    size: int | None = None
    sha256: str | None = None
    splits: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """The files of a dataset.

    Attributes:
        tables: those that hold its rows, as columns.
        others: what those were made of.
        features: the columns of `tables`; None where they are those that the info names.
        page: the address where people look at the dataset.
        owner: who publishes it.
        created: when, as ISO time; "" where unknown.
    """

    tables: tuple[DatasetFile, ...] = ()
    others: tuple[DatasetFile, ...] = ()
    features: Any = field(default=None, hash=False)
    page: str = ""
    owner: str = ""
    created: str = ""


class FilesOrigin(Protocol):
    """What knows the files of a dataset, and looks at them when it is asked."""

    def dataset_files(self, folder: str | None = None) -> DatasetFiles:
        """The files, local ones by their paths below `folder`, or below the innermost folder that holds them all."""
        ...


def media_type(name: str) -> str:
    """The media type of a file by its name; of a packed file that of the packing.

    >>> media_type("a/b.csv"), media_type("b.tar.gz"), media_type("b.mp3"), media_type("b")
    ('text/csv', 'application/gzip', 'audio/mpeg', 'application/octet-stream')
    """
    lowered = name.lower().rpartition("/")[2]
    known = next((kind for extension, kind in TABLES.items() if lowered.endswith(extension)), None)
    if known is not None:
        return known
    kind, packing = mimetypes.guess_type(lowered, strict=False)
    return _PACKED.get(packing or "", kind or "application/octet-stream")
