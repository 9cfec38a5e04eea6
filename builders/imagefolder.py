"""Images in folders, labelled by folder, or with the rows of `metadata.csv`, `.jsonl` or `.parquet`."""

from __future__ import annotations

from typing import Any

from ._folder import FolderBuilder, FolderConfig, companions

_NAMES = (
    ".blp .bmp .dib .bufr .cur .pcx .dcx .dds .ps .eps .fit .fits .fli .flc .ftc .ftu .gbr .gif .grib .png .apng .jp2 "
    ".j2k .jpc .jpf .jpx .j2c .icns .ico .im .iim .tif .tiff .jfif .jpe .jpg .jpeg .msp .pcd .pxr .pbm .pgm .ppm .pnm "
    ".psd .bw .rgb .rgba .sgi .ras .tga .icb .vda .vst .webp .wmf .emf .xbm .xpm .avif "
    ".heic .heif"
)
EXTENSIONS: dict[str, dict[str, Any]] = {extension: {} for extension in _NAMES.split()}

__all__ = ["EXTENSIONS", "ImageFolder", "companions"]


class ImageFolder(FolderBuilder):
    """Images in folders."""

    is_format = True
    name = "imagefolder"
    cache_version = "a4fcff5a8f5aa95df5c7c166264895a1"
    BUILDER_CONFIG_CLASS = FolderConfig
    medium = "image"

    def feature(self) -> Any:
        from datasets_core.features.media.types import Image

        return Image()
