"""`lock_dataset`: what a dataset is made of, and what came of it, written into a file that `load_dataset` can be held to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from datasets_core.building.dataset_lock import LOCK_NAME, differences, read_lock
from datasets_core.building.pinning import lock_of
from datasets_core.errors import LockDriftError
from datasets_core.files import check_writable, write_atomically
from datasets_core.load import load_dataset_builder, request_of
from datasets_core.resolve.holding import asked_revision
from datasets_core.resolve.root import root_of_builder


@dataclass(frozen=True, slots=True)
class LockOutcome:
    """What became of a lock.

    Attributes:
        path: the file.
        moved: what is not what an earlier lock said, a line each; empty where there was none, or nothing moved.
        is_written: whether the file was written.
    """

    path: str
    moved: tuple[str, ...]
    is_written: bool


def lock_dataset(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    lock: str | os.PathLike[str] = LOCK_NAME,
    update: bool = False,
    num_proc: int | None = None,
    **reference: Any,
) -> LockOutcome:
    """Write down what a dataset is made of: `load_dataset(..., lock=)` then refuses anything else.

    The lock names every file with its size and sha256 (paths relative to the folder of the dataset, so that it holds on another
    machine), the script, config and options, the columns, the rows of each split with a sha256 of their values, and the
    versions of the libraries.  The dataset is built where it does not stand yet.

    Loading by a lock hashes every local source, every shard that stands in the cache, and its rows, each time: some seconds
    for a gigabyte.  With `verification_mode="no_checks"` the cache is trusted, and its rows are counted.  A file that a script
    opens by itself, and not as an argument of a split or by the download manager, is in no lock: that it changed shows in the
    rows, once they are built anew.

    Of a dataset on the Hub the lock names repository and commit, and loading by it loads that commit, wherever its branch has
    moved: without a request, where it is in the cache.

    Args:
        path, name: as for `load_dataset`.
        lock: the file to write.
        update: replace a lock that says something else; otherwise it is refused.
        num_proc: worker processes of a build.
        reference: the other arguments of `load_dataset` that say which dataset is meant: `data_files`, `data_dir`, `version`,
            `revision`, `token`, `features`, `cache_dir`, `storage_options`, `download_config`, options of the config.

    Raises:
        FileNotFoundDatasetsError: there is no folder for the file.
        LockDriftError: the file says something else, and `update` is False; all that moved is named.

    >>> import os, pathlib, tempfile
    >>> from datasets_core import load_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     data, lock = pathlib.Path(folder, "birds.csv"), os.path.join(folder, "dataset.lock")
    ...     _ = data.write_text("name\\nalba\\n")
    ...     _ = lock_dataset(data, lock=lock, cache_dir=folder)
    ...     rows = load_dataset(data, split="train", lock=lock, cache_dir=folder, keep_in_memory=True)
    ...     _ = data.write_text("name\\nbrno\\n")
    ...     try:
    ...         load_dataset(data, split="train", lock=lock, cache_dir=folder)
    ...     except LockDriftError as error:
    ...         print(rows[0], error.moved[0].partition(" (")[0])
    {'name': 'alba'} birds.csv changed
    """
    place = os.path.abspath(os.fspath(lock))
    before = read_lock(place) if os.path.lexists(place) else None
    if before is None or update:
        check_writable(place)
    builder = load_dataset_builder(path, name, **reference)
    how = {key: reference[key] for key in ("download_config", "download_mode", "storage_options") if key in reference}
    builder.download_and_prepare(num_proc=num_proc, **how)
    request = request_of(path, name, **reference)
    made = lock_of(builder, root_of_builder(request, builder), asked_revision(request))
    moved = [] if before is None else differences(before, made)
    if moved and not update:
        raise LockDriftError(place, moved)
    if before is not None and not moved:
        return LockOutcome(place, (), is_written=False)
    write_atomically(place, made.text().encode("utf-8", "surrogatepass"))
    return LockOutcome(place, tuple(moved), is_written=True)
