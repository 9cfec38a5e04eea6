"""Audio files in folders, labelled by folder, or with the rows of `metadata.csv`, `.jsonl` or `.parquet`."""

from __future__ import annotations

from typing import Any

from ._folder import FolderBuilder, FolderConfig, companions

_NAMES = (
    ".mpg .aiff .au .avr .caf .flac .htk .svx .mat4 .mat5 .mpc2k .ogg .paf .pvf .raw .rf64 .sd2 .sds .ircam .voc .w64 "
    ".wav .nist .wavex .wve .xi .mp3 .opus .3gp .3g2 .asf .flv .m4v .webm .f4v .wmv .wma .ogm .mxf .nut .m4a "
    ".aac"
)
EXTENSIONS: dict[str, dict[str, Any]] = {extension: {} for extension in _NAMES.split()}

__all__ = ["EXTENSIONS", "AudioFolder", "companions"]


class AudioFolder(FolderBuilder):
    """Audio files in folders."""

    is_format = True
    name = "audiofolder"
    cache_version = "7c37abdc889dd211e341a464f3d87a93"
    BUILDER_CONFIG_CLASS = FolderConfig
    medium = "audio"

    def feature(self) -> Any:
        from datasets_core.features.media.audio import Audio

        return Audio()
