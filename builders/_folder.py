"""`FolderBuilder`: base of `imagefolder`, `audiofolder` and similar formats: files labelled by folder, or rows from metadata.

The bytes of the files are stored in the dataset, so it is self-contained, verified and movable, and reading a row opens
no other file.  `embed_files=False` stores their paths instead.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.config import settings
from datasets_core.errors import ConfigurationError, logger_of, redact
from datasets_core.features.arrow import (
    list_array,
    list_parts,
    merge_schemas,
    struct_array,
    struct_parts,
    validity,
)
from datasets_core.features.base import plain_array
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.fetch.remote import RemoteFile
from datasets_core.files import is_url, local_path
from datasets_core.meta.data_files import SPLIT_KEYWORDS, DataFilesDict, infer_splits, match

from ._folder_metadata import (
    METADATA_FILENAMES,
    PLACE,
    FolderFiles,
    Locator,
    Member,
    first_names,
    gathered,
    places,
    read_metadata,
)
from ._source import Source
from ._tables import FileBuilder, warn_left_out

_PART_BYTES = 16 << 20
_MOST_PARTS = 64
_SHOWN = 3
_FETCHED_TOGETHER = 16
_SPLIT_WORDS = frozenset(word for words in SPLIT_KEYWORDS.values() for word in words)


logger = logger_of(__name__)

_SAID_BYTES = 1_000_000_000  # a copy that is larger is announced


def companions(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of files that accompany those of a folder format, though their extension is of another format."""
    named = options.get("metadata_filenames") or METADATA_FILENAMES
    return (named,) if isinstance(named, str) else tuple(named)


@dataclass(eq=False)
class FolderConfig(BuilderConfig):
    """Options of `load_dataset("imagefolder", ...)` and similar formats.

    Args:
        features: target types of the columns; labels are numbered in the order of its names.
        drop_labels: False adds the labels of the folders, also with metadata and for a single folder; True leaves them
            out; None adds them without metadata, for several folders of the same depth that are not the splits.
        drop_metadata: True to ignore the metadata files.
        metadata_filenames: names of metadata files; default: `metadata.csv`, `.jsonl` and `.parquet`.
        filters: the rows of the metadata to keep, as `[(column, operator, value)]` or an expression.
        decode_num_threads: ignored; accepted for old calls.
        embed_files: True to store the files' bytes; False to store their paths, and read rows from the files themselves.
    """

    features: Any = None
    drop_labels: bool | None = None
    drop_metadata: bool | None = None
    metadata_filenames: list[str] | str | None = None
    filters: Any = None
    decode_num_threads: int = 32
    embed_files: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.filters, (str, bytes, dict)):
            raise ConfigurationError(
                f"filters={self.filters!r} is not valid. Pass [(column, operator, value)], a list of these, or an expression."
            )


@dataclass(frozen=True, slots=True)
class Part:
    """Some rows of a split: a table with the paths of files in it.

    Attributes:
        rows: the table.
        bounds: the end of each batch in rows, and its size in bytes of files.
        downloads: fetches remote files when their rows are read; None if there are none.
    """

    rows: pa.Table
    bounds: tuple[tuple[int, int], ...]
    downloads: Any = None


class LazyArchives:
    """The parts of splits with remote archives, which are fetched and opened when the first row is read.

    Args:
        named, local: the files by split, and their locations.
        downloads: fetches and extracts them.
    """

    def __init__(self, named: dict[str, list[str]], local: Any, downloads: Any) -> None:
        self._given = named, local, downloads
        self._known: tuple[dict[str, list[Part]], Features] | None = None

    def planned(self, builder: FolderBuilder) -> tuple[dict[str, list[Part]], Features]:
        """Return the parts of each split, and the features of their rows."""
        if self._known is None:
            planner = copy.copy(builder)
            planner.info = builder.info.copy()
            parts = planner.plan(*self._given)
            assert planner.info.features is not None
            self._known = parts, planner.info.features
        return self._known


@dataclass(frozen=True, slots=True)
class LazyArchiveParts:
    """The parts of one of these splits."""

    split: str
    later: LazyArchives


class FolderBuilder(FileBuilder):
    """A builder whose rows are files; a subclass names its medium."""

    BUILDER_CONFIG_CLASS = FolderConfig
    merge_columns = True
    medium: ClassVar[str]
    """The column of the files."""

    _sizes: Mapping[str, int] = MappingProxyType({})

    def feature(self) -> Any:
        """Return the feature of the column of the files."""
        raise NotImplementedError(f"{type(self).__name__} has no feature()")

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        named = self._named()
        self._refuse_strays(named)
        local = dl_manager.download(named)
        if any(map(self._is_packed, chain.from_iterable(local.values()))):
            later = LazyArchives(named, local, dl_manager)
            return [SplitGenerator(split, {"parts": LazyArchiveParts(split, later)}) for split in named]
        return [SplitGenerator(split, {"parts": parts}) for split, parts in self.plan(named, local, dl_manager).items()]

    def plan(self, named: dict[str, list[str]], local: Any, dl_manager: Any) -> dict[str, list[Part]]:
        """Return the rows of each split, with the places of their files; the features of all of them go to `info`."""
        options: FolderConfig = self.config
        members = _divided({split: self._members(named[split], local[split], dl_manager) for split in named})
        if not any(member.is_medium for found in members.values() for member in found):
            raise ConfigurationError(
                f"No file for {self.name} among the data files: none ends in {', '.join(self._extensions[:5])} …. "
                "Check data_dir= or data_files=."
            )
        self._sizes = {path: size for path, size, _ in getattr(options.data_files, "identities", ()) if size > 0}
        files = {split: FolderFiles(found, dl_manager.download, self._root_of) for split, found in members.items()}
        metadata = {split: self._metadata(found) for split, found in files.items()}
        has_metadata = any(metadata.values())
        labels = self._labels(files, has_metadata)
        if has_metadata and not options.drop_metadata:
            tables = {split: list(self._described(split, files, metadata, labels)) for split in files}
        else:
            tables = {split: [self._plain(found, labels)] for split, found in files.items()}
        features = self._settle([table for found in tables.values() for table in found], labels)
        elsewhere = any(is_url(member.path) for found in members.values() for member in found)
        parts = {split: self._parts(found, features, dl_manager if elsewhere else None) for split, found in tables.items()}
        self._sizes = {}  # the builder is sent to every process
        num_bytes = sum(size for found in parts.values() for part in found for _, size in part.bounds)
        if num_bytes > _SAID_BYTES and not elsewhere and not dl_manager.is_streaming:
            logger.warning(
                "%s: %.1f GB of files are copied into the cache, so that the dataset is self-contained. "
                "embed_files=False stores their paths and copies nothing.",
                self.dataset_name,
                num_bytes / 1e9,
            )
        return parts

    # -- the files

    def _own_folders(self) -> Iterator[str]:
        yield from super()._own_folders()
        data_files = self.config.data_files
        if not self.config.embed_files and isinstance(data_files, DataFilesDict):  # links that the user named are followed
            for listed in data_files.values():
                named = (name for name in listed if name not in listed.links and not is_url(name) and os.path.islink(name))
                yield from {os.path.dirname(os.path.realpath(name)) for name in named}

    def _root_of(self, folder: str) -> str:
        """Return the folder of the dataset, if it is known, else one that contains metadata."""
        bases = [
            os.path.abspath(local_path(base)) for base in (self.base_path, self.config.data_dir) if base and not is_url(base)
        ]
        above = [base for base in bases if base != os.getcwd() and f"{os.path.abspath(folder)}/".startswith(f"{base}/")]
        return min(above, key=len, default=folder)

    def _is_packed(self, path: Any) -> bool:
        """Return True if a remote file is neither a media file nor metadata, and so an archive."""
        if not isinstance(path, RemoteFile) or path.name in companions(vars(self.config)):
            return False
        return not path.name.lower().endswith(self._extensions)

    def _members(self, names: Sequence[str], local: Sequence[Any], dl_manager: Any) -> list[Member]:
        members: list[Member] = []
        endings, beside = self._extensions, companions(vars(self.config))
        usual = frozenset(endings)  # checked first: there are seventy extensions, and there may be thousands of files
        for name, given in zip(names, local, strict=True):
            plain = name.removeprefix("file://").replace(os.sep, "/")
            ends_so = plain[plain.rfind(".") :].lower() in usual or plain.lower().endswith(endings)
            if ends_so or (is_url(plain) and plain.partition("?")[0].lower().endswith(endings)):
                is_later = isinstance(given, RemoteFile) and self.config.embed_files
                members.append(Member(given.url if is_later else os.fspath(given), plain, is_medium=True))
                continue
            path = os.fspath(given)
            inside = {"": path}
            if os.path.basename(plain) not in beside:
                inside = {inner: member for member, inner in self._members_of(name, path, dl_manager)}
            if "" in inside:
                members.append(Member(inside[""], plain))
            else:  # without hidden files and the files in __MACOSX
                seen = match("**", inside)
                members += [Member(inside[each], each, redact(name), each.lower().endswith(endings)) for each in seen]
        return members

    def _metadata(self, files: FolderFiles) -> list[Member]:
        names = companions(vars(self.config))
        found = [member for member in files.members if os.path.basename(member.inner) in names]
        folders: dict[tuple[str, str], Member] = {}
        for member in found:
            other = folders.setdefault((member.archive, member.folder), member)
            if other is not member:
                raise Source(member.path, member.name).fault(
                    f"is in the same folder as {other.name}, but only one metadata file can define the rows of a folder",
                    advice="Delete one of them, or choose one with metadata_filenames=",
                )
        return found

    def _stored(self, member: Member) -> str:
        """Return the stored `path` of a file: absolute; within the archive for its members; the name for a download."""
        if not self.config.embed_files:
            return member.path
        if member.archive:
            return member.inner
        return os.path.basename(member.inner) if is_url(member.inner) else os.path.abspath(member.path)

    # -- labels

    def _labels(self, files: Mapping[str, FolderFiles], has_metadata: bool) -> list[str] | None:
        """Return the names of the labels in the order of their numbers; None without labels."""
        options: FolderConfig = self.config
        if options.drop_labels or (self.wanted is not None and "label" not in self.wanted):
            return None
        media = [member for found in files.values() for member in found.members if member.is_medium]
        folders = {(member.folder, member.archive): member for member in media}.values()
        names = sorted({member.label for member in folders})
        if options.drop_labels is None:
            is_split = all(name.lower() in _SPLIT_WORDS for name in names)
            if has_metadata or is_split or len(names) < 2 or len({member.depth for member in folders}) > 1:
                return None
        return names

    def _label_column(self, names: Sequence[str | None], labels: list[str]) -> pa.Array:
        if self.wanted is not None:  # its names may be in another order, or it accepts text
            return plain_array(list(names), pa.string())
        numbers = {name: number for number, name in enumerate(labels)}
        return plain_array([None if name is None else numbers[name] for name in names], pa.int64())

    # -- rows

    def _plain(self, files: FolderFiles, labels: list[str] | None) -> pa.Table:
        media = [member for member in files.members if member.is_medium]
        columns = {self.medium: places(media, self._stored)}
        if labels is not None:
            columns["label"] = self._label_column([member.label for member in media], labels)
        return pa.Table.from_arrays(list(columns.values()), list(columns))

    def _described(
        self,
        split: str,
        files: Mapping[str, FolderFiles],
        metadata: Mapping[str, list[Member]],
        labels: list[str] | None,
    ) -> Iterator[pa.Table]:
        own = files[split]
        others = [found for name, found in files.items() if name != split]
        used: set[str] = set()
        for member in metadata[split]:
            table = read_metadata(member)
            if self.config.filters is not None:
                table = _filtered(table, self.config.filters, Source(member.path, member.name))
            if any(member in found for name, found in metadata.items() if name != split):
                table = _of_split(table, member, own, others)
            locator = Locator(member, own, self.medium, self._stored)
            columns = locator.locate(table)
            self._refuse_missing(member, locator.missing)
            used.update(locator.found)
            if labels is not None and "label" not in columns:
                columns["label"] = self._label_column(self._label_names(columns, locator.found), labels)
            yield pa.Table.from_arrays(list(columns.values()), schema=_schema(table.schema, columns))
        left = [each.name for each in own.members if each.is_medium and each.path not in used]
        if left and self.config.filters is None:
            warn_left_out(f"Files of split {split!r} have no row in the metadata", left, "Add rows, or pass drop_metadata=True")

    def _refuse_missing(self, metadata: Member, missing: list[tuple[int, str]]) -> None:
        if not missing:
            return
        row, name = missing[0]
        more = f" (and {len(missing) - 1} more)" if len(missing) > 1 else ""
        raise Source(metadata.path, metadata.name).fault(
            f"refers to {name!r}{more}, which does not exist", row=row, advice="Add the file, or remove the row"
        )

    def _label_names(self, columns: Mapping[str, pa.Array], found: Mapping[str, Member]) -> list[str | None]:
        for column in columns.values():
            if column.type.equals(PLACE):
                local = column.flatten()[0].to_pylist()
                return [None if path is None else found[path].label for path in local]
        return [None] * len(next(iter(columns.values())))

    def _settle(self, tables: list[pa.Table], labels: list[str] | None) -> Features:
        """Return the features of the planned tables; those of the rows go to `info`."""
        merged = tables[0].schema
        for table in tables[1:]:
            merged = merge_schemas(merged, table.schema)
        planned = Features.from_arrow_schema(merged)
        if self.wanted is None:
            self.info.features = Features({name: self._as_media(feature) for name, feature in planned.items()})
            if labels is not None and planned["label"] == Features.from_arrow_schema(pa.schema([("l", pa.int64())]))["l"]:
                self.info.features["label"] = ClassLabel(names=labels)
        return planned

    def _as_media(self, feature: Any) -> Any:
        if isinstance(feature, dict):
            if list(feature) == PLACE.names:
                return self.feature()
            return {name: self._as_media(inner) for name, inner in feature.items()}
        if isinstance(getattr(feature, "feature", None), dict):
            return type(feature)(self._as_media(feature.feature))
        return feature

    def _parts(self, tables: list[pa.Table], features: Features, downloads: Any) -> list[Part]:
        """Return the rows of a split in parts of some megabytes, independent of the number of processes."""
        whole = pa.concat_tables([cast_table(table, features) for table in tables]).combine_chunks()
        weights = np.zeros(len(whole), np.int64)
        if self.config.embed_files:
            for column in whole.columns:
                weights += _weights(_one(column), self._sizes)
        stops = _cut(weights, max(_PART_BYTES, int(weights.sum()) // _MOST_PARTS), 1 << 20)
        batch_bytes, batch_rows = settings().batch_bytes, settings().batch_rows
        parts, start = [], 0
        for stop in stops:
            own = weights[start:stop]
            ends = _cut(own, batch_bytes, batch_rows) if downloads is None else _growing(len(own))
            sizes = (int(own[begin:end].sum()) for begin, end in pairwise([0, *ends]))
            parts.append(Part(whole.slice(start, stop - start), tuple(zip(ends, sizes, strict=True)), downloads))
            start = stop
        return parts

    def _generate_tables(  # type: ignore[override]
        self, parts: Sequence[Part] | LazyArchiveParts
    ) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
        if not isinstance(parts, LazyArchiveParts):
            yield from self._batches(parts)
            return
        planned, features = parts.later.planned(self)
        for key, batch in self._batches(planned[parts.split]):
            yield key, cast_table(batch, features, what=f"{self.medium} rows")

    def _batches(self, parts: Sequence[Part]) -> Iterator[tuple[tuple[int, int], pa.RecordBatch]]:
        for number, part in enumerate(parts):
            start = 0
            for index, (stop, size) in enumerate(part.bounds):
                rows = part.rows.slice(start, stop - start)
                columns = {name: self._filled(_one(rows.column(name)), size, part.downloads) for name in rows.column_names}
                yield (number, index), pa.RecordBatch.from_arrays(list(columns.values()), schema=_schema(rows.schema, columns))
                start = stop

    def _filled(self, array: pa.Array, most_bytes: int, downloads: Any) -> pa.Array:
        """Return a planned column with the bytes of files, about `most_bytes`, in place of their paths."""
        if not _has_places(array.type):
            return array
        if array.type.equals(PLACE):
            return self._media(array, most_bytes, downloads)
        if pa.types.is_struct(array.type):
            valid, fields = struct_parts(array)
            children = [self._filled(field, most_bytes, downloads) for field in fields.values()]
            made = pa.struct([(name, child.type) for name, child in zip(fields, children, strict=True)])
            return struct_array(made, len(array), valid, children)
        lengths, valid, child = list_parts(array)
        filled = self._filled(child, most_bytes, downloads)
        return list_array(pa.list_(filled.type), lengths, valid, filled)

    def _media(self, array: pa.Array, most_bytes: int, downloads: Any) -> pa.Array:
        from datasets_core.features.media.media import STORAGE, binary_array

        local, stored = array.flatten()
        paths = local.to_pylist()
        if self.config.embed_files:
            if downloads is not None:
                fetched = downloads.fetch_all([path for path in paths if path is not None and is_url(path)])
                paths = [fetched.get(path, path) for path in paths]
            data = gathered(paths, stored.to_pylist(), most_bytes)
        else:
            data = binary_array([None] * len(paths))
        return struct_array(STORAGE, len(array), validity(array), [data, stored])


def _of_split(table: pa.Table, metadata: Member, own: FolderFiles, others: Sequence[FolderFiles]) -> pa.Table:
    """Return the rows with files of this split, from a metadata file above several splits."""
    keep = [
        name is None or own.knows(metadata, name) or not any(found.knows(metadata, name) for found in others)
        for name in first_names(table)
    ]
    return table if all(keep) else table.filter(plain_array(keep, pa.bool_()))


def _divided(members: dict[str, list[Member]]) -> dict[str, list[Member]]:
    """Divide an archive that several splits name by the splits in the names of its members, if it has just these.

    Metadata that belong to no split describe the files of all of them.
    """
    holders: dict[str, dict[str, list[Member]]] = {}
    for split, found in members.items():
        for member in found:
            if member.archive:
                holders.setdefault(member.archive, {}).setdefault(split, []).append(member)
    homes: dict[tuple[str, str], str] = {}
    for archive, held in holders.items():
        listed = next(iter(held.values()))
        inferred = infer_splits([member.inner for member in listed])
        if len(held) > 1 and inferred.keys() == held.keys():
            homes.update({(archive, member.inner): "" for member in listed if member.is_medium})  # of no split
            homes.update({(archive, path): split for split, paths in inferred.items() for path in paths})
    return {
        split: [member for member in found if homes.get((member.archive, member.inner), split) == split]
        for split, found in members.items()
    }


def _filtered(table: pa.Table, filters: Any, source: Source) -> pa.Table:
    import pyarrow.parquet as pq  # takes 12 ms; metadata without filters do not need it

    try:
        return table.filter(pq.filters_to_expression(filters) if isinstance(filters, list) else filters)
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise source.fault(f"cannot be filtered: {error}", advice="Use its columns and types in filters=") from error


def _schema(schema: pa.Schema, columns: Mapping[str, pa.Array]) -> pa.Schema:
    """Return the schema of `columns`, with unchanged fields taken from `schema`."""
    known = {field.name: field for field in schema}
    return pa.schema(
        [
            known[name] if name in known and known[name].type.equals(column.type) else pa.field(name, column.type)
            for name, column in columns.items()
        ]
    )


def _has_places(kind: pa.DataType) -> bool:
    if kind.equals(PLACE):
        return True
    if pa.types.is_struct(kind):
        return any(_has_places(kind.field(number).type) for number in range(kind.num_fields))
    return (pa.types.is_list(kind) or pa.types.is_large_list(kind)) and _has_places(kind.value_type)


def _weights(array: pa.Array, sizes: Mapping[str, int]) -> npt.NDArray[np.int64]:
    """Return the bytes of files of each row of a planned column."""
    if not _has_places(array.type):
        return np.zeros(len(array), np.int64)
    if array.type.equals(PLACE):
        local = array.flatten()[0].to_pylist()
        return np.fromiter((sizes.get(path) or _size(path) for path in local), np.int64, len(local))
    if pa.types.is_struct(array.type):
        inner = (_weights(field, sizes) for field in struct_parts(array)[1].values())
        return sum(inner, np.zeros(len(array), np.int64))
    lengths, _, child = list_parts(array)
    ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(_weights(child, sizes))])
    stops = np.cumsum(lengths)
    between: npt.NDArray[np.int64] = ends[stops] - ends[stops - lengths]
    return between


def _size(path: str | None) -> int:
    return 0 if path is None or is_url(path) else os.stat(path).st_size


def _growing(count: int) -> list[int]:
    """Return the ends of batches whose files have to be fetched: the first batch has one row, for a quick first result.

    >>> _growing(40)
    [1, 3, 7, 15, 31, 40]
    """
    ends = [0]
    while ends[-1] < count:
        ends.append(min(count, ends[-1] + min(1 << (len(ends) - 1), _FETCHED_TOGETHER)))
    return ends[1:]


def _cut(weights: npt.NDArray[np.int64], most_bytes: int, most_rows: int) -> list[int]:
    """Return the ends of runs of about `most_bytes`, and `most_rows` at most.

    >>> _cut(np.array([3, 3, 3, 9, 1]), 6, 10)
    [2, 3, 4, 5]
    """
    ends = np.cumsum(weights)
    stops: list[int] = []
    start, before = 0, 0
    while start < len(weights):
        stop = int(np.searchsorted(ends, before + most_bytes, side="right"))
        start = min(max(stop, start + 1), start + most_rows, len(weights))
        before = int(ends[start - 1])
        stops.append(start)
    return stops


def _one(column: pa.ChunkedArray) -> pa.Array:
    if column.num_chunks == 1:
        return column.chunk(0)
    combined = column.combine_chunks()
    if isinstance(combined, pa.ChunkedArray):
        return combined.chunk(0) if combined.num_chunks else pa.nulls(0, column.type)
    return combined
