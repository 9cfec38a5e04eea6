"""The bytes of the files that media name by path, put into the rows themselves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import pyarrow as pa

from datasets_core.errors import MediaError
from datasets_core.features.base import FeatureType, LargeList, List, feature_to_arrow
from datasets_core.features.media import Media
from datasets_core.features.media_paths import ANYWHERE, MediaPaths
from datasets_core.features.nesting import list_array, list_parts, struct_array, struct_parts
from datasets_core.features.stored_media import embedded_arrays

_NESTED_ROWS = 64  # of one array where each row may hold several files


def embed_table(
    table: pa.Table,
    features: Mapping[str, FeatureType],
    *,
    paths: MediaPaths = ANYWHERE,
    local_files: bool = True,
    remote_files: bool = True,
) -> pa.Table:
    """The table with the bytes of every file that a medium names by path; of the path its last part stays.

    Args:
        table: with the columns of `features`, or some of them.
        features: the kinds of the columns.
        paths: which paths may be opened.
        local_files: False leaves local paths as they are.
        remote_files: False leaves URLs as they are.

    Raises:
        UntrustedPathError: a path leads out of the folders that may be opened.
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
        table = table.set_column(index, table.schema.field(index), pa.chunked_array(chunks, feature_to_arrow(feature)))
    return table


def _failing(array: pa.Array, embed: Callable[[pa.Array], object]) -> int:
    """The first row that cannot be embedded."""
    for row in range(len(array)):
        try:
            embed(array.slice(row, 1))
        except MediaError:
            return row
    return 0


def has_media(feature: FeatureType) -> bool:
    """Whether a feature is, or holds, one of images, sounds, films or documents.

    >>> from datasets_core.features.image import Image
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
    """One array of a feature with the bytes of its files."""
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
