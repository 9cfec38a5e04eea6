"""Which lock a user means, and a build that is held to it."""

from __future__ import annotations

import contextlib
import os
from contextlib import AbstractContextManager

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.dataset_lock import LOCK_NAME, read_lock
from datasets_core.building.pinning import held_to
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.resolve.request import Request
from datasets_core.resolve.root import root_of


def held(
    lock: str | os.PathLike[str] | bool | None,
    builder: DatasetBuilder,
    request: Request,
    *,
    registers: bool,
    is_hashed: bool = True,
) -> AbstractContextManager[None]:
    """What a build stands in that is held to a lock: see `held_to`; nothing where there is no lock.

    Args:
        lock: the file; True for `dataset.lock` in the folder of the dataset, or else in the present one.
        builder: is built inside.
        request: what the user asked for, which tells the folder of the dataset.
        registers: whether downloads are to be registered, which contradicts a lock.
        is_hashed: whether what stands in the cache is hashed too, before rows of it are given.

    Raises:
        FileNotFoundDatasetsError: there is no such file.
        ManifestError: it is no lock.
        LockDriftError: the sources are not what they were.
    """
    if lock is None or lock is False:
        return contextlib.nullcontext()
    if lock is not True and not isinstance(lock, (str, os.PathLike)):
        raise ArgumentTypeError(f"lock is {lock!r}. Give the path of a lock, or True for the one beside the dataset.")
    if registers:
        raise ConfigurationError(
            "lock= holds the downloads to what they were, and register_checksums=True takes them as they are. Leave one out."
        )
    root = root_of(request)
    path = os.path.join(root, LOCK_NAME) if lock is True else os.fspath(lock)
    if lock is True and not os.path.exists(path) and os.path.exists(LOCK_NAME):
        path = os.path.abspath(LOCK_NAME)
    return held_to(read_lock(path), path, builder, root, is_hashed=is_hashed)
