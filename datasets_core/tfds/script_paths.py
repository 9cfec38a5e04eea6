"""Paths that scripts of TFDS name by its own folders: they mean files beside the script, or of the collection it stands in."""

from __future__ import annotations

import os

from datasets_core.scripting.calling_script import script_folder
from datasets_core.scripting.epath_standin import Path

_COLLECTION = "tensorflow_datasets"


def tfds_path(*relative: str | os.PathLike[str]) -> Path:
    """A file of the collection of datasets that the calling script stands in; else one beside the script.

    Args:
        relative: its path in the collection, for example `image_classification/food101_classes.txt`.

    >>> tfds_path("a/b.txt").name
    'b.txt'
    """
    folder = Path(script_folder() or os.curdir)
    wanted = Path(*relative) if relative else Path()
    places: list[Path] = [above / wanted for above in (folder, *folder.parents) if above.name == _COLLECTION]
    places += [folder.joinpath(*wanted.parts[first:]) for first in range(len(wanted.parts))]
    return next((place for place in places if place.exists()), Path(folder, wanted))


def tfds_write_path(*relative: str | os.PathLike[str]) -> Path:
    """See `tfds_path`: there is no other place for what is written."""
    return tfds_path(*relative)


def to_write_path(path: str | os.PathLike[str]) -> Path:
    """The same path: there is no other place for what is written.

    >>> to_write_path("a").name
    'a'
    """
    return Path(path)


def gcs_path(*relative: str | os.PathLike[str]) -> Path:
    """A file in the cloud folder of TFDS, which nothing here reads.

    >>> str(gcs_path("datasets"))
    'gs://tfds-data/datasets'
    """
    return Path("gs://tfds-data", *relative)
