"""`save_to_disk` and `load_from_disk`: datasets saved as Arrow streams in a folder."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import parse_size, settings
from datasets_core.engines import Engine, get_engine, on_engine
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError, FileNotFoundDatasetsError
from datasets_core.features.media.media import embed_table, has_media
from datasets_core.features.schema import Features
from datasets_core.fetch.checksums import digest_of
from datasets_core.meta.listings import TABLES, DatasetFile, DatasetFiles
from datasets_core.progress import Progress, ProgressFile, is_seen, progress, told
from datasets_core.store.manifest import runs, staging_base
from datasets_core.store.pieces import BatchRows
from datasets_core.store.rows.rows import Rows
from datasets_core.store.shard import FileShard

if TYPE_CHECKING:
    from datasets_core.io.saved_folder import Saved, SavedShard

# Datasets saved to a folder and loaded from it, in the layout of Hugging Face `datasets`.


class Disk(Rows):
    """A dataset that can be saved to a folder."""

    def save_to_disk(
        self,
        dataset_path: str | os.PathLike[str],
        max_shard_size: int | str | None = None,
        num_shards: int | None = None,
        num_proc: int | None = None,
        storage_options: dict[str, Any] | None = None,
        *,
        engine: str | Engine | None = None,
    ) -> None:
        """Save rows, features, split and format to a folder, for `load_from_disk`.

        If it is interrupted, the folder has either the old content or the new copy.  The folder may be the one that this
        dataset was loaded from.  Files of images and other media named by path are stored in the rows.

        Args:
            dataset_path: local folder or URL.
            max_shard_size: approximate size of a file, such as "500MB".
            num_shards: number of files.
            num_proc: number of files written at the same time.
            storage_options: options for the file system of a URL.
            engine: what writes the files; None: threads.

        Raises:
            ConfigurationError: both limits were given, or the folder contains a built dataset.
            FileInPlaceError: the path is a file.
            DatasetDiskError, DownloadError: writing to the disk or the store failed; the old copy is unchanged.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     Dataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
            ...     Dataset.load_from_disk(folder)[1]
            {'a': 2}
        """

        with on_engine(engine, num_proc=num_proc):
            wanted = {"": Shards.of(max_shard_size, num_shards, num_proc)}
            save({"": self}, dataset_path, wanted, storage_options, group=False)

    @classmethod
    def load_from_disk(
        cls,
        dataset_path: str | os.PathLike[str],
        keep_in_memory: bool | None = None,
        storage_options: dict[str, Any] | None = None,
    ) -> Self:
        """Load a dataset saved by `save_to_disk`, of this library or Hugging Face `datasets`; its files are memory-mapped.

        Args:
            dataset_path: local folder or URL; the files of a URL are fetched into the cache.
            keep_in_memory: True to read the files into memory; None reads files below the setting `max_memory_bytes`.
            storage_options: options of the file system of a URL.

        Returns:
            The saved rows.

        Raises:
            FileNotFoundDatasetsError: the folder has no saved dataset.
            ManifestError, DamagedShardError: the saved dataset is damaged.

        Example:
            >>> import tempfile
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     Dataset.from_dict({"a": [1, 2, 3]}).with_format("numpy").save_to_disk(folder)
            ...     Dataset.load_from_disk(folder)[:]["a"]
            array([1, 2, 3])
        """

        return load_one(cls, dataset_path, keep_in_memory, storage_options)


# The files of a saved dataset, for other tools.


_ARROW_STREAM = "application/vnd.apache.arrow.stream"


class SavedFiles:
    """The files of one saved dataset.

    Args:
        folder: the folder, local or at a URL.
        names: its files, in row order.
        split: split of the dataset; None if there is none.
        features: the columns.
    """

    def __init__(self, folder: str, names: Sequence[str], split: str | None, features: Features | None) -> None:
        self.folder, self.names, self.split, self.features = folder, tuple(names), split, features

    def __deepcopy__(self, memo: object) -> SavedFiles:
        return self  # immutable

    def dataset_files(self, folder: str | None = None) -> DatasetFiles:
        """See `FilesOrigin.dataset_files`."""
        return DatasetFiles(tuple(self._file(name, folder) for name in self.names), features=self.features)

    def _file(self, name: str, folder: str | None) -> DatasetFile:
        splits = () if self.split is None else (self.split,)
        path = files.join(self.folder, name)
        if files.is_url(path):
            return DatasetFile(name, path, _ARROW_STREAM, splits=splits)
        below = os.path.relpath(path, folder).replace(os.sep, "/") if folder is not None else name
        with open(path, "rb") as handle:
            encoding = TABLES[".arrow"] if handle.read(6) == b"ARROW1" else _ARROW_STREAM
        named = name if below.startswith("../") else below
        return DatasetFile(named, None, encoding, os.path.getsize(path), digest_of(path).hexdigest(), splits)


# Loading of saved folders, of one dataset or of several splits, and saving of several splits together.


D = TypeVar("D", bound=Rows)


def save_group(
    datasets: Mapping[str, Rows],
    dataset_dict_path: str | os.PathLike[str],
    max_shard_size: int | str | None = None,
    num_shards: Mapping[str, int] | None = None,
    num_proc: int | None = None,
    storage_options: dict[str, Any] | None = None,
    engine: str | Engine | None = None,
) -> None:
    """Save the datasets of several splits to one folder; see `Dataset.save_to_disk`.

    If it is interrupted, the folder has either the old copy of all splits or the new one.

    Args:
        datasets: datasets by split.
        dataset_dict_path: local folder or URL.
        max_shard_size: approximate size of a file, such as "500MB".
        num_shards: number of files, by split.
        num_proc: number of files written at the same time.
        storage_options: options for the file system of a URL.
        engine: what writes the files; None: threads.

    Raises:
        ConfigurationError: a split is not a valid folder name, or the keys of `num_shards` are not the splits.
        DatasetDiskError, DownloadError: writing to the disk or the store failed; the old copy is unchanged.

    >>> import os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_group({"train": Dataset.from_dict({"a": [1]})}, folder)
    ...     sorted(os.listdir(folder))
    ['dataset_dict.json', 'train']
    """
    from datasets_core.io.saved_folder import check_names  # takes 10 ms; reading does not need it

    check_names(datasets)
    if num_shards is not None and (not isinstance(num_shards, Mapping) or set(num_shards) != set(datasets)):
        raise ConfigurationError(
            f"num_shards is {num_shards!r}",
            advice=f"Pass a dict with a number for each split: {', '.join(map(repr, datasets))}",
            value=num_shards,
        )
    with on_engine(engine, num_proc=num_proc):
        wanted = {name: Shards.of(max_shard_size, (num_shards or {}).get(name), num_proc) for name in datasets}
        save(datasets, dataset_dict_path, wanted, storage_options, group=True)


def load_one(
    kind: type[D],
    dataset_path: str | os.PathLike[str],
    keep_in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> D:
    """Load a dataset saved by `Dataset.save_to_disk`; see `Dataset.load_from_disk`.

    Args:
        kind: the class of the dataset.
        dataset_path: local folder or URL.
        keep_in_memory: True to read the files instead of mapping them.
        storage_options: options for the file system of a URL.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Dataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
    ...     load_one(Dataset, folder)[1]
    {'a': 2}
    """
    from datasets_core.io.saved_folder import folder_of, is_saved_dataset, read_saved

    folder = folder_of(dataset_path)
    with files.disk_errors(folder, action="read"):
        if not is_saved_dataset(folder, storage_options):
            raise _not_there(folder, storage_options, group=False)
        return _opened(kind, folder, read_saved(folder, storage_options), keep_in_memory, storage_options)


def load_group(
    kind: type[D],
    dataset_dict_path: str | os.PathLike[str],
    keep_in_memory: bool | None = None,
    storage_options: dict[str, Any] | None = None,
) -> dict[str, D]:
    """Load the datasets saved by `DatasetDict.save_to_disk`, by split; see `Dataset.load_from_disk`.

    Args:
        kind: the class of the datasets.
        dataset_dict_path: local folder or URL.
        keep_in_memory: True to read the files instead of mapping them.
        storage_options: options for the file system of a URL.
    """
    from datasets_core.io.saved_folder import folder_of, is_saved_group, read_group

    folder = folder_of(dataset_dict_path)
    with files.disk_errors(folder, action="read"):
        if not is_saved_group(folder, storage_options):
            raise _not_there(folder, storage_options, group=True)
        found = read_group(folder, storage_options).items()
        return {name: _opened(kind, files.join(folder, name), saved, keep_in_memory, storage_options) for name, saved in found}


def holds_group(path: str | os.PathLike[str], storage_options: dict[str, Any] | None = None) -> bool:
    """Return True if a folder contains a saved `DatasetDict`, False for a single dataset.

    Raises:
        FileNotFoundDatasetsError: the folder contains neither.
    """
    from datasets_core.io.saved_folder import folder_of, is_saved_dataset, is_saved_group

    folder = folder_of(path)
    with files.disk_errors(folder, action="read"):
        if is_saved_dataset(folder, storage_options):
            return False
        if is_saved_group(folder, storage_options):
            return True
    raise _not_there(folder, storage_options, group=None)


def _opened(kind: type[D], folder: str, saved: Saved, keep_in_memory: bool | None, storage_options: dict[str, Any] | None) -> D:
    from datasets_core.io.saved_folder import INFO_FILE, open_saved

    table, index = open_saved(folder, saved, in_memory=keep_in_memory, storage_options=storage_options)
    try:
        made = kind(table, info=saved.info, split=saved.split, indices_table=index, fingerprint=saved.fingerprint)
    except CastError as error:
        path = files.join(folder, INFO_FILE)
        raise CastError(f"The features in {path} do not fit the saved files. {error}", file=path) from error
    if index is None:
        split = None if saved.split is None else str(saved.split)
        made._info.files_origin = SavedFiles(folder, [shard.name for shard in saved.shards], split, made._features)
    rows = saved.format
    if rows.type is None and rows.columns is None:
        return made
    columns = None if rows.columns is None else list(rows.columns)
    return made.with_format(rows.type, columns, rows.is_complete, **rows.kwargs)


def _not_there(folder: str, storage_options: dict[str, Any] | None, *, group: bool | None) -> FileNotFoundDatasetsError:
    from datasets_core.io.saved_folder import GROUP_FILE, is_saved_dataset, is_saved_group

    if group is True and is_saved_dataset(folder, storage_options):
        return FileNotFoundDatasetsError(
            f"{folder} contains one dataset", advice="Use Dataset.load_from_disk or load_from_disk", file=folder
        )
    if group is False and is_saved_group(folder, storage_options):
        return FileNotFoundDatasetsError(
            f"{folder} contains a DatasetDict ({GROUP_FILE})",
            advice="Use DatasetDict.load_from_disk or load_from_disk",
            file=folder,
        )
    if not files.is_url(folder) and not os.path.isdir(folder):
        return FileNotFoundDatasetsError(f"The folder {folder} does not exist", advice="Check the path", file=folder)
    return FileNotFoundDatasetsError(
        f"{folder} has no dataset saved by save_to_disk",
        advice="Check the path; for data files and built datasets use load_dataset",
        file=folder,
    )


_GATHERED_BYTES = 16 << 20  # bytes of rows that are reordered at a time
_MOST_FILES, _WORTHY_BYTES = 8, 8 << 20  # more files are copied only if they have this size on average
NAME = "data-{:05d}-of-{:05d}.arrow"


class Shards(NamedTuple):
    """The number of files for the rows.

    Args:
        num_shards: number of files; None computes it from `max_shard_bytes`, with at least one per process.
        max_shard_bytes: approximate size of a file in bytes; None: the setting of that name.
        num_proc: number of files written at the same time.
    """

    num_shards: int | None = None
    max_shard_bytes: int | None = None
    num_proc: int | None = None

    @classmethod
    def of(cls, max_shard_size: int | str | None, num_shards: int | None, num_proc: int | None) -> Shards:
        """Return the checked limits of `save_to_disk`.

        Raises:
            ConfigurationError: both limits were given, or a number is below 1.
        """
        get_engine(num_proc=num_proc)  # raises for an invalid number
        if max_shard_size is not None and num_shards is not None:
            raise ConfigurationError("Pass either max_shard_size or num_shards, not both.")
        if num_shards is not None and (isinstance(num_shards, bool) or not isinstance(num_shards, int) or num_shards < 1):
            raise ConfigurationError(f"num_shards is {num_shards!r}", advice="Pass an integer of at least 1", value=num_shards)
        return cls(num_shards, parse_size(max_shard_size), num_proc)

    @property
    def are_free(self) -> bool:
        """True if no limits are given, so that existing files can be copied."""
        return self.num_shards is None and self.max_shard_bytes is None and self.num_proc in (None, 1)


def save(
    datasets: Mapping[str, Rows],
    path: str | os.PathLike[str],
    wanted: Mapping[str, Shards],
    storage_options: dict[str, Any] | None,
    *,
    group: bool,
) -> None:
    """Save datasets to a folder, each in a folder of its name; see `Dataset.save_to_disk`.

    Args:
        datasets: datasets by split; the name is `""` for a single dataset.
        path: local folder or URL.
        wanted: number of files of each dataset.
        storage_options: options for fsspec.
        group: True for the splits of a dictionary.
    """
    from datasets_core.io.saved_folder import folder_of, place, refuse_taken
    from datasets_core.store.atomic import StagedFolder

    target = folder_of(path)
    with contextlib.ExitStack() as stack:
        stack.enter_context(files.disk_errors(target))
        refuse_taken(target, storage_options)
        staged = stack.enter_context(StagedFolder(staging_base(target)))
        parts: dict[str, Saved] = {}
        for name, dataset in datasets.items():
            folder = os.path.join(staged.path, name)
            with files.disk_errors(folder):
                os.makedirs(folder, exist_ok=True)
            parts[name] = described(dataset, write_rows(dataset, folder, wanted[name]))
        for dataset in datasets.values():
            _hold(dataset, staged.target)
        place(staged, target, parts, group=group, storage_options=storage_options)


def _hold(dataset: Rows, target: str) -> None:
    """Map all files that will be replaced, since mapped files stay readable."""
    table = dataset._table
    if any(os.path.realpath(path).startswith(target + os.sep) for path in table.files if not files.is_url(path)):
        for number in range(table.num_pieces):
            table.piece(number)


def described(dataset: Rows, shards: tuple[SavedShard, ...]) -> Saved:
    """Return the description of the dataset for the folder."""
    from datasets_core.io.saved_folder import Saved

    rows = dataset._format
    try:
        json.dumps(dict(rows.kwargs))
    except TypeError as error:
        raise ArgumentTypeError(
            f"The format {rows.type!r} of the dataset has an argument that cannot be stored in a file ({error})",
            advice="Call reset_format() before saving, and set the format again after loading",
        ) from error
    split = None if dataset.split is None else str(dataset.split)
    return Saved(dataset._info, shards, dataset._lineage.fingerprint, split, rows)


def write_rows(dataset: Rows, folder: str, wanted: Shards) -> tuple[SavedShard, ...]:
    """Write the rows into a local folder; return the files, in order.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    with progress(f"Saving {dataset.split or 'the dataset'}", total=dataset.num_rows) as bar:
        whole = _whole_files(dataset) if wanted.are_free else None
        copied = None if whole is None else _copied(whole, folder, bar)
        return copied or _written(dataset, folder, wanted, bar)


# -- copying -----------------------------------------------------------------------------------------------------------


def _whole_files(dataset: Rows) -> list[FileShard] | None:
    """Return the files that contain exactly the rows to save, features included."""
    from datasets_core.features.schema import plain_schema

    if dataset._index is not None or _has_media(dataset):
        return None
    found = dataset._table.whole_files()
    if found is None or plain_schema(found[0].schema) is not found[0].schema:
        return None
    if Features.from_arrow_schema(found[0].schema) != dataset._features:
        return None
    size = sum(os.stat(shard.path).st_size for shard in found)
    return found if len(found) <= _MOST_FILES or size >= _WORTHY_BYTES * len(found) else None


def _copied(shards: list[FileShard], folder: str, bar: Progress) -> tuple[SavedShard, ...] | None:
    """Copy the files; return None if one of them cannot be copied."""
    from datasets_core.engines.threads import followed
    from datasets_core.io.saved_folder import SavedShard
    from datasets_core.store.writer import copy_stream, sums_of_stream

    made: list[SavedShard] = []
    done, at = [0], [(shards[0].path, os.path.join(folder, NAME.format(0, len(shards))), 0)]

    def rows_done() -> int:
        """Return the rows of whole copies, and of the one that is written now by its bytes."""
        source, path, count = at[0]
        with contextlib.suppress(OSError):  # it does not exist yet
            return done[0] + count * os.stat(path).st_size // max(1, os.stat(source).st_size)
        return done[0]

    with followed(bar.update if is_seen(bar) else None, rows_done):
        for number, shard in enumerate(shards):
            name = NAME.format(number, len(shards))
            rows = BatchRows(runs(shard.batch_rows()))
            path = os.path.join(folder, name)
            shard.validate_once()
            at[0] = shard.path, path, sum(rows)
            size = copy_stream(shard.path, path, is_file=shard.kind == "arrow")
            if size is None:
                for one in made:
                    os.unlink(os.path.join(folder, one.name))
                return None
            sums = sums_of_stream(shard.sums, path) if shard.kind == "arrow" else shard.sums
            made.append(SavedShard(name, size, rows, sums))
            done[0], at[0] = done[0] + sum(rows), (shard.path, path, 0)
    return tuple(made)


# -- writing -----------------------------------------------------------------------------------------------------------


def _written(dataset: Rows, folder: str, wanted: Shards, bar: Progress) -> tuple[SavedShard, ...]:
    count = wanted.num_shards
    if count is None:
        limit = wanted.max_shard_bytes or settings().max_shard_bytes
        count = max(int(_num_bytes(dataset) / limit) + 1, wanted.num_proc or 1)
        count = max(1, min(count, dataset.num_rows))
    least, more = divmod(dataset.num_rows, count)
    borders = [least * number + min(number, more) for number in range(count + 1)]
    jobs = [(number, count, start, stop) for number, (start, stop) in enumerate(pairwise(borders))]
    from datasets_core.engines.threads import followed
    from datasets_core.store import module_state  # 3 ms that reading does without

    name = None if settings().engine is not None else "threads" if (wanted.num_proc or 1) > 1 else "serial"
    engine = get_engine(name, num_proc=wanted.num_proc)
    found: list[SavedShard] = []
    options: Any = {"verb": "save_to_disk()", "folder": folder, "ordered": True}
    import tempfile  # a warm read does without

    from datasets_core.store.atomic import temporary_folder

    with contextlib.ExitStack() as stack:
        tells = stack.enter_context(tempfile.TemporaryDirectory(dir=temporary_folder())) if is_seen(bar) else ""
        told_by = [os.path.join(tells, str(number)) for number in range(count)] if tells else []
        stack.enter_context(followed(bar.update if tells else None, lambda: sum(map(told, told_by))))
        work = partial(_write_shard, dataset, folder, tells)
        for _, (written, shard) in module_state.run(engine, work, jobs, **options):
            os.replace(os.path.join(folder, written), os.path.join(folder, shard.name))
            found.append(shard)
    for name in set(os.listdir(folder)) - {shard.name for shard in found}:  # of jobs that ran twice
        os.unlink(os.path.join(folder, name))
    return tuple(found)


def _write_shard(dataset: Rows, folder: str, tells: str, job: tuple[int, int, int, int]) -> tuple[str, SavedShard]:
    """Write a file under a name of this attempt; an engine may run a job twice. The rows done are told in a file in `tells`."""
    from datasets_core.features.schema import plain_schema
    from datasets_core.io.saved_folder import SavedShard
    from datasets_core.store.writer import write_stream

    number, count, start, stop = job
    name = NAME.format(number, count)
    table = dataset._table
    schema = plain_schema(table.schema.with_metadata(dataset._metadata_of(table)))
    written = f"{name}-{os.urandom(4).hex()}"
    with ProgressFile(os.path.join(tells, str(number)) if tells else "") as file:
        batches = _counted(rows_to_save(dataset, schema, start, stop), file)
        size, rows, sums = write_stream(os.path.join(folder, written), schema, batches)
    return written, SavedShard(name, size, BatchRows(runs(rows)), sums)


def _counted(batches: Iterator[pa.RecordBatch], file: ProgressFile) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        yield batch
        file.update(batch.num_rows)


def rows_to_save(dataset: Rows, schema: pa.Schema, start: int, stop: int) -> Iterator[pa.RecordBatch]:
    """Yield the rows from `start` to `stop`, without dictionaries, with the content of media files."""
    embeds = _has_media(dataset)
    for batch in _batches(dataset, start, stop, embeds):
        table = pa.Table.from_batches([batch])
        if embeds:
            table = embed_table(table, dataset._features, paths=dataset._media_paths(), remote_files=False)
        if not table.schema.equals(schema):
            table = table.cast(schema)
        yield from table.to_batches()


def _batches(dataset: Rows, start: int, stop: int, embeds: bool) -> Iterator[pa.RecordBatch]:
    table, index = dataset._table, dataset._index
    most = min(100, settings().batch_rows) if embeds else settings().batch_rows
    if index is None:
        yield from table.batches(most, start, stop)
        return
    step = min(most, max(1, _GATHERED_BYTES * dataset._table.num_rows // max(1, _num_bytes(dataset, whole=True))))
    for first in range(start, stop, step):
        yield from table.take(index[first : min(first + step, stop)]).to_batches()


def _num_bytes(dataset: Rows, whole: bool = False) -> int:
    """Return the approximate size of the selected rows (or of the table), from a sample."""
    table = dataset._table
    picked = np.linspace(0, table.num_pieces - 1, num=min(table.num_pieces, 64)).astype(int).tolist()  # all rows differ
    pieces = [table.piece(k) for k in picked]
    rows = sum(piece.num_rows for piece in pieces)
    count = table.num_rows if whole else dataset.num_rows
    return int(sum(piece.nbytes for piece in pieces) * count / rows) if rows else 0


def _has_media(dataset: Rows) -> bool:
    return any(has_media(feature) for feature in dataset._features.values())
