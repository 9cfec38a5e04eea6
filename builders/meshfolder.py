"""Triangle meshes in folders, labelled by folder, or with the rows of metadata."""

from __future__ import annotations

from typing import Any

from ._folder import FolderBuilder, FolderConfig, companions

EXTENSIONS: dict[str, dict[str, Any]] = {".glb": {}, ".gltf": {}, ".ply": {}, ".stl": {}}

__all__ = ["EXTENSIONS", "MeshFolder", "companions"]


class MeshFolder(FolderBuilder):
    """Triangle meshes in folders."""

    is_format = True
    name = "meshfolder"
    cache_version = "98f3671485e58ff1b16c83a524b7f580"
    BUILDER_CONFIG_CLASS = FolderConfig
    medium = "mesh"

    def feature(self) -> Any:
        from datasets_core.features.media.types import Mesh

        return Mesh()
