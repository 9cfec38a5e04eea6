"""Videos in folders, labelled by folder, or with the rows of `metadata.csv`, `.jsonl` or `.parquet`."""

from __future__ import annotations

from typing import Any

from ._folder import FolderBuilder, FolderConfig, companions

EXTENSIONS: dict[str, dict[str, Any]] = {".mpeg": {}, ".avi": {}, ".mp4": {}, ".mov": {}, ".mkv": {}}

__all__ = ["EXTENSIONS", "VideoFolder", "companions"]


class VideoFolder(FolderBuilder):
    """Videos in folders."""

    is_format = True
    name = "videofolder"
    cache_version = "c7d05cf7ff28ea08ca966bd9454c47fa"
    BUILDER_CONFIG_CLASS = FolderConfig
    medium = "video"

    def feature(self) -> Any:
        from datasets_core.features.media.types import Video

        return Video()
