"""The manifest of what stands prepared in a folder: by this library, or by TensorFlow Datasets."""

from __future__ import annotations

from typing import Any

from datasets_core import files
from datasets_core.building.record_manifest import RecordManifest, content
from datasets_core.meta.tfds_description import parse_tfds_description
from datasets_core.store.layout import MANIFEST_NAME, located
from datasets_core.store.manifest import Manifest, read_manifest


def prepared_manifest(
    folder: str, storage_options: dict[str, Any] | None = None, *, file_format: str | None = None
) -> Manifest | None:
    """The manifest of what stands prepared in a folder; None where nothing does.

    Args:
        folder: local, or at a URL.
        storage_options: for the URL.
        file_format: of several formats in which the rows of TensorFlow Datasets stand there, the one to read.

    Raises:
        ManifestError: what is recorded of it cannot be understood.
        FileFormatError: its rows stand in files of a format that is not read.
        DatasetDiskError: see `read_manifest`.
    """
    manifest = read_manifest(folder, storage_options)
    return manifest if manifest is not None else tfds_manifest(folder, storage_options, file_format=file_format)


def tfds_manifest(
    folder: str, storage_options: dict[str, Any] | None = None, *, file_format: str | None = None
) -> RecordManifest | None:
    """The manifest of a folder that TensorFlow Datasets prepared; None for any other. Args and errors: `prepared_manifest`."""
    folder = located(folder)
    path = files.join(folder, MANIFEST_NAME)
    data = content(path, storage_options)
    description = None if data is None else parse_tfds_description(data, path=path)
    if description is None or "splits" not in description.stored:
        return None
    from datasets_core.building.tfds_folder import manifest_of  # 100 ms, with pyarrow.compute, that all others do without

    return manifest_of(folder, description, storage_options, file_format=file_format)
