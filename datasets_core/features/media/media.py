"""`Media`: base of media features: stored as `{bytes, path}`, decoded on use; paths that may be opened; embedding of files."""

from __future__ import annotations

import io
import os
import posixpath
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import IO, Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core.config import settings
from datasets_core.errors import (
    CastError,
    DatasetsCoreError,
    DecodingDisabledError,
    MediaDecodeError,
    MediaError,
    MediaNotFoundError,
    UntrustedPathError,
    redact,
)
from datasets_core.features.arrow import Misfit, list_array, list_parts, struct_array, struct_parts, validity
from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value, feature_to_arrow

# `MediaPaths`: the paths in a dataset that may be opened.


_ARCHIVES = {"zip", "tar"}
_SNAPSHOT = r"(.*)/snapshots/[0-9a-f]+(?:/.*)?"
_BLOB = r"[0-9a-f]+"
_KEPT = r"(.*)/(?:\.git/annex/objects/.*|\.dvc/cache/.*|datasets--[^/]+/blobs/[0-9a-f]+)"
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class MediaPaths:
    """The folders below which paths that come from data may be opened.

    Args:
        roots: local folders, and prefixes of URLs; None opens every path.
        fetch: downloads the file of an `http(s)` URL and returns its local path.
        allowed: further paths allowed by the user, as in the setting `media_paths`.

    >>> MediaPaths(("/data/birds",)).locate("/data/birds/../../etc/passwd")
    Traceback (most recent call last):
    datasets_core.errors.UntrustedPathError: ...
    """

    roots: tuple[str, ...] | None = ()
    fetch: Callable[[str], str] | None = None
    allowed: tuple[str, ...] = ()

    def __or__(self, other: MediaPaths) -> MediaPaths:
        """Return the paths for rows of both: a path that only one may open is allowed only if that one names its folders."""
        if self.roots is None or other.roots is None:
            return other if self.roots is None else self
        roots = tuple(dict.fromkeys((*self.roots, *other.roots)))
        return MediaPaths(roots, self.fetch or other.fetch, tuple(dict.fromkeys((*self.allowed, *other.allowed))))

    def settled(self) -> MediaPaths:
        """Return the same object with the currently allowed settings, for a process that has other settings."""
        allowed = settings().media_paths
        return self if self.roots is None or not allowed else replace(self, allowed=(*self.allowed, *allowed))

    def locate(self, path: str) -> str:
        """Return the path in the form to open: a local one, absolute if access depends on folders, or a URL.

        Raises:
            UntrustedPathError: the path points outside the folders that may be opened.
        """
        inner, mark, source = path.rpartition("::")
        if self.roots is None:
            return path if files.is_url(path) and not path.startswith("file://") else files.local_path(path)
        if mark and ("::" in inner or inner.partition("://")[0] not in _ARCHIVES):
            raise self._refusal(path)
        place = self._source(source)
        if place is None:
            raise self._refusal(path)
        return f"{inner}{mark}{place}"

    def open(self, path: str) -> IO[bytes]:
        """Return the file of a path, open for reading.

        Raises:
            UntrustedPathError: the path may not be opened.
            MediaNotFoundError: the file does not exist.
        """
        return self._opened(path, files.open_binary)

    def source(self, path: str) -> str | io.BytesIO:
        """Return the input of a decoder: the local path of a file, or its bytes if it has none.

        Raises:
            UntrustedPathError, MediaNotFoundError: see `open`.
        """
        return self._opened(path, _local_or_bytes)

    def _opened(self, path: str, opener: Callable[[str], T]) -> T:
        place = self.locate(path)
        if files.is_http(place) and self.fetch is not None:
            place = self.fetch(place)
        try:
            if not files.is_url(place) and not stat.S_ISREG(os.stat(place).st_mode):  # a pipe would wait for ever
                raise MediaNotFoundError(path, "is a folder, a pipe or a device, not a file")
            return opener(place)
        except DatasetsCoreError:
            raise
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError, KeyError) as error:
            raise MediaNotFoundError(path) from error
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise MediaNotFoundError(path, f"cannot be opened: {reason}") from error

    def _refusal(self, path: str) -> UntrustedPathError:
        return UntrustedPathError(path, allowed=(*(self.roots or ()), *self.allowed, *settings().media_paths))

    def _source(self, source: str) -> str | None:
        """Return the target of a path, without links of an archive; None if it may not be opened."""
        own = self.roots or ()
        granted = (*self.allowed, *settings().media_paths)
        if files.is_url(source) and not source.startswith("file://"):
            return source if any(_is_below_url(source, root) for root in (*own, *granted)) else None
        local = files.local_path(source)
        if "\0" in local:
            return None
        folders = [_real(os.path.abspath(files.local_path(root))) for root in (*own, *granted) if _is_local(root)]
        trusted = folders[sum(map(_is_local, own)) :]
        named = [os.path.normpath(os.path.join(folder, local)) for folder in folders]
        places = {os.path.realpath(os.path.join(folder, local)): name for folder, name in zip(folders, named, strict=True)}
        inside = [
            place
            for place, name in places.items()
            if any(_is_below(place, folder) for folder in trusted)
            or any(_holds(folder, place) and not _is_hidden(name, place, folder) for folder in folders)
        ]
        return next((place for place in inside if os.path.exists(place)), inside[0] if inside else None)


def _is_local(root: str) -> bool:
    return not files.is_url(root) or root.startswith("file://")


def _is_below(place: str, folder: str) -> bool:
    return place.startswith(folder.rstrip(os.sep) + os.sep)


def _holds(folder: str, place: str) -> bool:
    """Return True if a file is the dataset's own: below its folder, or in the blobs of the hub cache that the folder is a
    snapshot of.

    Both paths are resolved, so that blobs that are themselves links elsewhere do not count.
    """
    if _is_below(place, folder):
        return True
    snapshot = re.fullmatch(_SNAPSHOT, folder)
    store, _, blob = place.rpartition(os.sep)
    return snapshot is not None and store == f"{snapshot[1]}/blobs" and re.fullmatch(_BLOB, blob) is not None


def _is_hidden(name: str, place: str, folder: str) -> bool:
    """Return True if a file, or one of its parent folders, has a hidden name: such files are not part of a dataset.

    A link that can be seen may lead to a hidden file within the dataset, as all files of git-annex do.
    """
    shown = name if _is_below(name, folder) else place if _is_below(place, folder) else ""
    return any(part.startswith(".") for part in shown[len(folder) :].split(os.sep))


def refuse_stray_link(path: str, root: str, link: str = "") -> None:
    """Raise an error for a file in the folder `root` that is a link to a file outside the dataset and the allowed folders.

    Files in the store of a tool that makes links are of the dataset: the hub cache, git-annex and DVC of its repository.

    Args:
        path: the file, as it is named.
        root: the folder of the dataset.
        link: the link to it, if that is a folder above it.

    Raises:
        UntrustedPathError: the link points outside.
    """
    place, granted = os.path.realpath(path), settings().media_paths
    folders = [_real(os.path.abspath(files.local_path(folder))) for folder in granted if _is_local(folder)]
    folder, kept = os.path.realpath(root), re.fullmatch(_KEPT, place)
    is_kept = kept is not None and (_is_below(folder, kept[1]) or kept[1] == _real(settings().hub_cache_dir))
    if not (is_kept or _holds(folder, place)) and not any(_is_below(place, each) or place == each for each in folders):
        link = link or path
        raise UntrustedPathError(link, allowed=(root, *granted), target=os.path.realpath(link))


def _local_or_bytes(place: str) -> str | io.BytesIO:
    if not files.is_url(place):
        return place
    with files.open_binary(place) as file:
        return io.BytesIO(file.read())


@lru_cache(maxsize=64)
def _real(folder: str) -> str:
    """Return a folder with its links resolved; cached, since it takes a tenth of a millisecond."""
    return os.path.realpath(folder)


def _is_below_url(url: str, root: str) -> bool:
    """Return True if `root` is a protocol (`https://`), or a URL above `url`."""
    if root.endswith("://"):
        return url.startswith(root)
    return url.startswith(root.rstrip("/") + "/") and ".." not in url.split("/") and "%2e" not in url.lower()


ANYWHERE = MediaPaths(None)
"""For values that the user passed directly."""
NOWHERE = MediaPaths()
"""For values of unknown origin."""


# Stored form of images, audio, video and documents: built from values, cast from other types, with embedded files.


types = pa.types
STORAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
MARK = b"datasets_core:feature"
"""Metadata of the field `bytes` of a struct with an inferred media type; in memory only."""
_MOST_BYTES = 2**31 - 1  # of one Arrow array
_CHUNK_BYTES = 1 << 29  # of files in one array where they are embedded


def media_array(values: list[dict[str, Any] | None]) -> pa.Array:
    """Return the Arrow array of stored values.

    Raises:
        Misfit: the files are larger than one Arrow array can hold.
    """
    valid = np.array([value is not None for value in values], bool)
    data = [None if value is None else value["bytes"] for value in values]
    paths = [None if value is None else value["path"] for value in values]
    return struct_array(STORAGE, len(values), None if valid.all() else valid, [binary_array(data), _text_array(paths)])


def binary_array(values: list[bytes | None]) -> pa.Array:
    """Return the Arrow array of bytes.

    Raises:
        Misfit: the bytes are larger than one Arrow array can hold.
    """
    return _from_bytes(values, pa.binary())


def _text_array(values: list[str | None]) -> pa.Array:
    return _from_bytes([None if value is None else value.encode() for value in values], pa.string())


def _from_bytes(values: list[bytes | None], arrow_type: pa.DataType) -> pa.Array:
    offsets = np.zeros(len(values) + 1, np.int64)
    np.cumsum(np.fromiter((0 if value is None else len(value) for value in values), np.int64, len(values)), out=offsets[1:])
    if offsets[-1] > _MOST_BYTES:
        index = int(np.argmax(offsets > _MOST_BYTES)) - 1
        raise Misfit(index, "the files of one batch are larger than 2 GiB; write smaller batches, or store paths")
    joined = b"".join(value for value in values if value is not None)
    valid = np.array([value is not None for value in values], bool)
    bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(arrow_type, len(values), [bits, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(joined)])


def narrowed(array: pa.Array, wanted: pa.DataType) -> pa.Array:
    """Return an array as the plain `binary` or `string` in which media are stored.

    Raises:
        Misfit: the array has other values, or too many for one array.
    """
    if array.type == wanted:
        return array
    if types.is_list(array.type) and types.is_uint8(array.type.value_type) and wanted == pa.binary():
        lengths, valid, child = list_parts(array)
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
        start = child.offset
        data = (child.buffers()[1] or pa.py_buffer(b"")).slice(start, len(child))
        return pa.Array.from_buffers(wanted, len(array), [bits, pa.py_buffer(offsets), data])
    try:
        return array.cast(wanted)
    except pa.ArrowException as error:
        raise Misfit(0, f"{array.type} is not a valid {wanted}: {error}") from error


def is_text(t: pa.DataType) -> bool:
    """Return True if an Arrow type holds text."""
    return bool(types.is_string(t) or types.is_large_string(t) or types.is_string_view(t))


def is_binary(t: pa.DataType) -> bool:
    """Return True if an Arrow type holds bytes."""
    checks = (types.is_binary, types.is_large_binary, types.is_binary_view, types.is_fixed_size_binary)
    return any(check(t) for check in checks)


def embedded_arrays(array: pa.Array, paths: MediaPaths, *, local_files: bool, remote_files: bool) -> list[pa.Array]:
    """Return stored values with the bytes of their files, in arrays of bounded size; only the last part of each path is kept.

    Raises:
        UntrustedPathError: a path points outside the folders that may be opened.
        MediaNotFoundError: a file is missing.
    """
    done: list[pa.Array] = []
    rows: list[dict[str, Any] | None] = []
    held = 0
    for row in array:
        value: Any = row.as_py()
        if value is None:
            rows.append(None)
            continue
        path = value["path"]
        if path is not None and (remote_files if files.is_url(path) else local_files):
            if value["bytes"] is None:
                with paths.open(path) as file:
                    value["bytes"] = file.read()
            value["path"] = base_name(path)
        size = len(value["bytes"] or b"")
        if rows and held + size > _CHUNK_BYTES:
            done.append(media_array(rows))
            rows, held = [], 0
        rows.append(value)
        held += size
    return [*done, media_array(rows)]


def base_name(path: str) -> str:
    """Return the last part of a path, of a URL, or of a member of an archive.

    >>> base_name("zip://images/1.png::s3://birds/all.zip"), base_name("/data/1.png")
    ('1.png', '1.png')
    """
    inner = path.partition("::")[0]
    return posixpath.basename(inner.replace("\\", "/") if not files.is_url(inner) else inner)


_ADDRESS = r" <[^<>]* at 0x[0-9a-f]+>"  # of an object in memory, meaningless to users
Stored = Mapping[str, Any]


class _OfClass(property):
    """A property that is also available on the class."""

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        assert self.fget is not None
        return self.fget(instance)


class Media(Feature):
    """A file in each row: its bytes, or a path that leads to it."""

    __slots__ = ()
    needs_encoding: ClassVar[bool] = True
    is_constant: ClassVar[bool] = True
    croissant: ClassVar[str | tuple[str, ...]] = ("sc:Text", "sc:MediaObject")
    noun: ClassVar[str] = "file"
    """Name of one value in messages."""
    decode: bool

    @property
    def arrow_type(self) -> pa.DataType:
        return STORAGE

    @_OfClass
    def pa_type(self) -> pa.DataType:
        """See `Feature.pa_type`; also available on the class."""
        return STORAGE

    @property
    def needs_decoding(self) -> bool:
        return self.decode

    def column(self) -> Callable[[list[Any]], pa.Array]:
        """See `Feature.column`."""
        from datasets_core.features.cast import encoded  # a warm load encodes nothing

        return encoded(self, media_array)

    def encode_example(self, value: Any) -> dict[str, Any]:
        """Return the stored form of a path, of bytes, of a dict of both, or of an object of this kind.

        Args:
            value: the path, bytes, dict or object.

        Raises:
            CastError: the value has another type.
        """
        if isinstance(value, str):
            return {"bytes": None, "path": str(value)}
        if isinstance(value, os.PathLike):
            return {"bytes": None, "path": os.path.abspath(os.fsdecode(value))}
        if isinstance(value, (bytes, bytearray, memoryview)):
            return {"bytes": bytes(value), "path": None}
        if isinstance(value, pa.Scalar):
            value = value.as_py()
        encoded = self._encode_object(value)
        if encoded is not None:
            return encoded
        if isinstance(value, Mapping):
            return self._encode_dict(value)
        raise CastError(
            f"A value of type {type(value).__name__} is not a valid {self.noun}",
            advice="Give a path, bytes, or a dict of 'bytes' and 'path'",
        )

    def _encode_dict(self, value: Stored) -> dict[str, Any]:
        data, path = value.get("bytes"), value.get("path")
        if isinstance(path, os.PathLike):
            path = os.path.abspath(os.fsdecode(path))
        if isinstance(data, (bytearray, memoryview)):
            data = bytes(data)
        if not isinstance(data, (bytes, type(None))) or not isinstance(path, (str, type(None))):
            kinds = f"{type(data).__name__} and {type(path).__name__}"
            raise CastError(f"The 'bytes' and 'path' of this {self.noun} are {kinds}", advice="Give bytes and a string")
        if data is None and path is None:
            raise CastError(
                f"This {self.noun} has neither 'bytes' nor 'path', only {sorted(map(str, value))}", advice="Give one of the two"
            )
        return {"bytes": data, "path": path}

    def _encode_object(self, value: Any) -> dict[str, Any] | None:
        """Return the stored form of an object of the decoding package; None for other values."""
        return None

    def decode_example(self, value: Any, token_per_repo_id: object = None) -> Any:
        """Return the decoded value of a stored one. Its path is opened wherever it leads.

        Args:
            value: the stored value: a dict with `bytes` and `path`.
            token_per_repo_id: ignored.

        Raises:
            MediaDecodeError: the file is damaged, or of another format.
            MissingDependencyError: the package that decodes the format is not installed.
        """
        return self.decode_stored(value, ANYWHERE)

    def decode_stored(self, value: Any, paths: MediaPaths) -> Any:
        """Return the decoded value of a stored one. Its path is opened only where `paths` allows it.

        Args:
            value: the stored value, or one that is decoded already.
            paths: the folders and URLs that may be opened.

        Raises:
            UntrustedPathError: the path leads to another place.
        """
        if not self.decode:
            kind = type(self).__name__
            raise DecodingDisabledError(f"{kind}(decode=False) does not decode", advice=f"Decode with {kind}(decode=True)")
        if isinstance(value, str):
            value = {"bytes": None, "path": value}
        if value is None or not isinstance(value, Mapping):
            return value
        data, path = value.get("bytes"), value.get("path")
        if data is None and path is None:
            raise MediaDecodeError(self.noun, "it has neither bytes nor a path")
        try:
            return self._decode(data, path, paths)
        except (DatasetsCoreError, ImportError):
            raise
        except Exception as error:  # a decoder fails in ways of its own on a damaged file
            where = f" {redact(path)!r}" if path else ""
            raise MediaDecodeError(f"{self.noun}{where}", reason_of(error)) from error

    def _decode(self, data: bytes | None, path: str | None, paths: MediaPaths) -> Any:
        raise NotImplementedError

    def flatten(self) -> Any:
        """Return the feature itself, or its stored columns if it is not decoded."""
        return self if self.decode else storage_features()

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """Return an array of paths, of bytes, or of structs of both, in the stored form.

        Args:
            storage: the array.

        Raises:
            CastError: the array has another type.
        """
        try:
            return self.cast_array(storage)
        except Misfit as misfit:
            raise CastError(f"Row {misfit.index}: {misfit.reason}", advice="Give paths, or bytes") from misfit

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `cast_storage`; the error is a `Misfit`."""
        if array.type == STORAGE:
            return array
        length, valid = len(array), validity(array)
        if types.is_struct(array.type):
            _, fields = struct_parts(array)
            return self._from_fields(array, valid, fields)
        if is_text(array.type):
            return struct_array(STORAGE, length, valid, [pa.nulls(length, pa.binary()), narrowed(array, pa.string())])
        if is_binary(array.type):
            return struct_array(STORAGE, length, valid, [narrowed(array, pa.binary()), pa.nulls(length, pa.string())])
        if types.is_null(array.type):
            return pa.nulls(length, STORAGE)
        index = 0 if valid is None else int(np.argmax(valid))
        raise Misfit(index, f"{array.type} does not contain a valid {self.noun}")

    def _cast_objects(self, array: pa.Array) -> pa.Array:
        """Return an array whose Python values are objects of this kind."""
        stored: list[dict[str, Any] | None] = []
        for index, value in enumerate(array.to_pylist()):
            try:
                stored.append(None if value is None else self.encode_example(value))
            except CastError as error:
                raise Misfit(index, str(error).removesuffix(".")) from error
        return media_array(stored)

    def _from_fields(self, array: pa.Array, valid: Any, fields: dict[str, pa.Array]) -> pa.Array:
        if not fields.keys() & {"bytes", "path"}:
            index = 0 if valid is None else int(np.argmax(valid))
            raise Misfit(index, f"it has the fields {list(fields)}, but a {self.noun} is stored as 'bytes' and 'path'")
        children = []
        for name, wanted in (("bytes", pa.binary()), ("path", pa.string())):
            child = fields.get(name)
            children.append(pa.nulls(len(array), wanted) if child is None else narrowed(child, wanted))
        return struct_array(STORAGE, len(array), valid, children)

    def embed_storage(
        self, storage: pa.Array, token_per_repo_id: object = None, local_files: bool = True, remote_files: bool = True
    ) -> pa.Array:
        """Return the stored values with the content of their files, and file names instead of paths.

        Args:
            storage: the stored array.
            token_per_repo_id: ignored.
            local_files: False keeps paths of local files.
            remote_files: False keeps URLs.

        Raises:
            MediaNotFoundError: a file does not exist.
        """
        done = embedded_arrays(storage, ANYWHERE, local_files=local_files, remote_files=remote_files)
        return done[0] if len(done) == 1 else pa.concat_arrays(done)


def storage_features() -> dict[str, FeatureType]:
    """Return columns of the stored form."""
    return {"bytes": Value("binary"), "path": Value("string")}


def reason_of(error: Exception) -> str:
    """Return the reason that a decoder gives for a damaged file, in one line without addresses in memory."""
    text = " ".join(re.sub(_ADDRESS, "", str(error)).split()).rstrip(".") or type(error).__name__
    return text if len(text) <= 200 else text[:199] + "…"


# Embedding: the bytes of the files that media refer to by path, stored in the rows.


_NESTED_ROWS = 64  # of one array where each row may hold several files


def embed_table(
    table: pa.Table,
    features: Mapping[str, FeatureType],
    *,
    paths: MediaPaths = ANYWHERE,
    local_files: bool = True,
    remote_files: bool = True,
) -> pa.Table:
    """Return the table with the bytes of every file that a medium refers to by path; only the last part of the path is kept.

    Args:
        table: a table with the columns of `features`, or some of them.
        features: the types of the columns.
        paths: the paths that may be opened.
        local_files: False leaves local paths unchanged.
        remote_files: False leaves URLs unchanged.

    Raises:
        UntrustedPathError: a path points outside the folders that may be opened.
        MediaNotFoundError: a file is missing.
    """
    for index, name in enumerate(table.column_names):
        feature = features.get(name)
        if feature is None or not has_media(feature):
            continue
        embed = partial(_embedded, feature=feature, paths=paths, local=local_files, remote=remote_files)
        chunks: list[pa.Array] = []
        first = 0
        for chunk in table.column(index).chunks:
            step = max(1, len(chunk)) if isinstance(feature, Media) else _NESTED_ROWS
            for start in range(0, len(chunk), step):
                part = chunk.slice(start, step)
                try:
                    chunks += embed(part)
                except MediaError as error:
                    raise error.at(column=name, row=first + start + _failing(part, embed)) from error.__cause__
            first += len(chunk)
        column = pa.chunked_array(chunks, feature_to_arrow(feature))
        table = table.set_column(index, table.schema.field(index).with_type(column.type), column)
    return table


def _failing(array: pa.Array, embed: Callable[[pa.Array], object]) -> int:
    """Return the first row that cannot be embedded."""
    for row in range(len(array)):
        try:
            embed(array.slice(row, 1))
        except MediaError:
            return row
    return 0


def has_media(feature: FeatureType) -> bool:
    """Return True if a feature is, or contains, a feature of images, audio, video or documents.

    >>> from datasets_core.features.media.types import Image
    >>> has_media({"pictures": List(Image())})
    True
    """
    if isinstance(feature, dict):
        return any(map(has_media, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return has_media(feature.feature)
    return isinstance(feature, Media)


def embed_array(
    array: pa.Array, feature: FeatureType, paths: MediaPaths, *, local_files: bool = True, remote_files: bool = True
) -> pa.Array:
    """Return one array of a feature with the bytes of its files."""
    done = _embedded(array, feature, paths, local_files, remote_files)
    return done[0] if len(done) == 1 else pa.concat_arrays(done)


def _embedded(array: pa.Array, feature: FeatureType, paths: MediaPaths, local: bool, remote: bool) -> list[pa.Array]:
    if not has_media(feature):
        return [array]
    if isinstance(feature, Media):
        return embedded_arrays(array, paths, local_files=local, remote_files=remote)
    if isinstance(feature, dict):
        valid, fields = struct_parts(array)
        children = [
            embed_array(fields[name], inner, paths, local_files=local, remote_files=remote) for name, inner in feature.items()
        ]
        return [struct_array(feature_to_arrow(feature), len(array), valid, children)]
    assert isinstance(feature, (List, LargeList))
    lengths, valid, child = list_parts(array)
    child = embed_array(child, feature.feature, paths, local_files=local, remote_files=remote)
    return [list_array(feature_to_arrow(feature), lengths, valid, child)]
