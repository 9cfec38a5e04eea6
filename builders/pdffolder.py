"""PDFs in folders, labelled by folder, or with the rows of `metadata.csv`, `.jsonl` or `.parquet`."""

from __future__ import annotations

from typing import Any

from ._folder import FolderBuilder, FolderConfig, companions

EXTENSIONS: dict[str, dict[str, Any]] = {".pdf": {}}

__all__ = ["EXTENSIONS", "PdfFolder", "companions"]


class PdfFolder(FolderBuilder):
    """PDF documents in folders."""

    is_format = True
    name = "pdffolder"
    cache_version = "b5d1dfb52276470e61d31dbafb8fa1af"
    BUILDER_CONFIG_CLASS = FolderConfig
    medium = "pdf"

    def feature(self) -> Any:
        from datasets_core.features.media.types import Pdf

        return Pdf()
