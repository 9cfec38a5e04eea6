"""NIfTI volumes in folders, labelled by folder, or with the rows of metadata."""

from __future__ import annotations

from typing import Any

from ._folder import FolderBuilder, FolderConfig, companions

EXTENSIONS: dict[str, dict[str, Any]] = {".nii": {}, ".nii.gz": {}}

__all__ = ["EXTENSIONS", "NiftiFolder", "companions"]


class NiftiFolder(FolderBuilder):
    """NIfTI volumes in folders."""

    is_format = True
    name = "niftifolder"
    cache_version = "3fcb68951d1ef1dd6fa8181be9f2126d"
    BUILDER_CONFIG_CLASS = FolderConfig
    medium = "nifti"

    def feature(self) -> Any:
        from datasets_core.features.media.types import Nifti

        return Nifti()
