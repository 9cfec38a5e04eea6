"""`Pdf`: a document in each row, opened by pdfplumber."""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from typing import Any, ClassVar

from datasets_core.features.media import Media
from datasets_core.features.media_paths import MediaPaths
from datasets_core.optional import needed


@dataclass(frozen=True, slots=True)
class Pdf(Media):
    """A PDF document in each row: a path, bytes or a `pdfplumber.pdf.PDF` goes in, a `pdfplumber.pdf.PDF` comes out.

    Args:
        decode: False shows `{"bytes": …, "path": …}`, for which pdfplumber is not needed.
        id: a name that is kept and never read.

    >>> Pdf().encode_example(b"%PDF-1.7")
    {'bytes': b'%PDF-1.7', 'path': None}
    """

    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Pdf"
    noun: ClassVar[str] = "PDF document"
    dtype: ClassVar[str] = "pdfplumber.pdf.PDF"

    def __repr__(self) -> str:
        return f"Pdf(decode={self.decode!r})"

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        if not is_document(value):
            return None
        name = getattr(value.stream, "name", None)
        if isinstance(name, str) and name:
            return {"bytes": None, "path": name}
        value.stream.seek(0)
        return {"bytes": value.stream.read(), "path": None}

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        pdfplumber = needed("pdfplumber", "Decoding PDF documents", "datasets_core[pdf]")
        return pdfplumber.open(io.BytesIO(data) if data is not None else paths.source(str(path)))


def is_document(value: object) -> bool:
    """Whether `value` is a document of pdfplumber, which is not imported to tell."""
    module = sys.modules.get("pdfplumber.pdf")
    return module is not None and isinstance(value, module.PDF)
