"""Rows as authors of TFDS builders yield them, made into rows that the library stores: sounds and films are decoded."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from datasets_core.errors import CastError
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.optional import needed
from datasets_core.tfds.features import AUDIO, DATASET, VIDEO

Change = Callable[[Any], Any]


def row_change(features: Mapping[str, FeatureType]) -> Change | None:
    """What is to be done to a row before it is stored; None where nothing is.

    >>> from datasets_core import tfds
    >>> change = row_change({"x": tfds.features.Dataset(np.int64), "y": tfds.features.Text()})
    >>> change({"x": (number for number in range(3)), "y": "a"})
    {'x': [0, 1, 2], 'y': 'a'}
    >>> row_change({"y": tfds.features.Text()}) is None
    True
    """
    changes = {name: change for name, feature in features.items() if (change := _change(feature)) is not None}
    if not changes:
        return None

    def changed(row: Any) -> Any:
        if not isinstance(row, Mapping):
            return row  # the library says what is wrong with it
        return {name: changes[name](value) if name in changes and value is not None else value for name, value in row.items()}

    return changed


def _change(feature: FeatureType) -> Change | None:
    if isinstance(feature, dict):
        return row_change(feature)
    if not isinstance(feature, (List, LargeList)):
        return None
    kind = str(feature.id)
    if kind.startswith(AUDIO):
        return _samples
    if kind == VIDEO:
        return _pictures
    inner = _change(feature.feature)
    if kind == DATASET or inner is not None:
        return lambda value: _listed(value, inner)
    return None


def _listed(value: Any, change: Change | None) -> Any:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return value
    return list(value) if change is None else [None if each is None else change(each) for each in value]


def _samples(value: Any) -> Any:
    """The samples of a sound: integers as the file has them, with a second dimension where it has several channels."""
    if not isinstance(value, (str, os.PathLike)) and not hasattr(value, "read"):
        return value
    soundfile = needed("soundfile", "Reading sounds", "datasets_core[audio]")
    try:
        with soundfile.SoundFile(os.fspath(value) if isinstance(value, os.PathLike) else value) as sound:
            return sound.read(dtype="int32" if sound.subtype in ("PCM_24", "PCM_32") else "int16")
    except (OSError, RuntimeError) as error:
        raise CastError(f"{value!r} is no sound that can be read: {error}. Give a path, an open file or samples.") from error


def _pictures(value: Any) -> Any:
    """The pictures of a film, as they are given or as torchcodec decodes them."""
    is_path = isinstance(value, (str, os.PathLike))
    if not is_path and not isinstance(value, bytes) and not hasattr(value, "read"):
        return list(value)
    from datasets_core.features.video import Video  # for films alone

    stored = value if is_path or isinstance(value, bytes) else value.read()
    film = Video(dimension_order="NHWC")
    decoder = film.decode_example(film.encode_example(stored))
    return [np.asarray(frame) for frame in decoder]
