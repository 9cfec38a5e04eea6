"""Rows as authors of TFDS builders yield them, converted to stored rows, with files read at once."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np

from datasets_core.errors import CastError, CellCastError
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.media import Media
from datasets_core.features.media.types import is_pillow_image
from datasets_core.features.serialization import AUDIO, BOX, DATASET, VIDEO, is_optional, kind_of
from datasets_core.features.types import ClassLabel
from datasets_core.files import is_url
from datasets_core.optional import needed
from datasets_core.tfds.connectors import TensorList, np_dtype_of

Change = Callable[[Any], Any]
_NUMBERS = (int, float, complex, np.number, np.bool_)
_FLOATS = frozenset({"float16", "float32", "float64"})


def row_change(features: Mapping[str, FeatureType]) -> Change:
    """Return the change of a row before it is stored: reads files while the author has them open; no column may be missing.

    A row that needs no change is returned itself.

    >>> from datasets_core import tfds
    >>> change = row_change({"x": tfds.features.Dataset(np.int64), "y": tfds.features.Text()})
    >>> change({"x": (number for number in range(3)), "y": "a"})
    {'x': [0, 1, 2], 'y': 'a'}
    >>> change({"x": [1]})
    Traceback (most recent call last):
    datasets_core.errors.CellCastError: Column 'y': the row has no such value. Yield it, or make the feature Optional.
    """
    plan = [(name, _change(each), is_optional(each), _missing(each)) for name, each in features.items()]

    def changed(row: Any) -> Any:
        if not isinstance(row, Mapping):
            return row  # the library says what is wrong with it
        new: dict[str, Any] | None = None
        for name, change, may_lack, missing in plan:
            value = row.get(name)
            if value is None:
                if may_lack:
                    continue
                if missing is None or name not in row:
                    _refuse("it is None" if name in row else "the row has no such value", _WHOLE, name)
                made: Any = missing
            elif change is None:
                continue
            else:
                try:
                    made = change(value)
                except CellCastError as error:
                    _refuse(error.reason, error.advice, f"{name}.{error.column}".rstrip("."))
            if made is not value:
                new = dict(row) if new is None else new
                new[name] = made
        return row if new is None else new

    return changed


_WHOLE = "Yield it, or make the feature Optional"


def _refuse(reason: str, advice: str | None = None, column: str = "") -> NoReturn:
    raise CellCastError(column, reason, advice=advice)


def _missing(feature: FeatureType) -> Any:
    """Return the value for None, as in TFDS: NaN for floats; None if there is none."""
    return math.nan if isinstance(feature, Value) and feature.dtype in _FLOATS else None


def _change(feature: FeatureType) -> Change | None:
    if isinstance(feature, dict):
        return _dicts(feature)
    if isinstance(feature, Media):
        return _file
    if isinstance(feature, ClassLabel):
        return _label(feature)
    if isinstance(feature, Value):
        return _text if _is_text(feature) else _number(feature)
    if not isinstance(feature, (List, LargeList)):
        return None
    kind = kind_of(feature)
    if kind.startswith(AUDIO):
        plain = _plain(feature.feature, None, may_lack=False) if isinstance(feature.feature, Value) else _same
        return lambda value: plain(_samples(value))
    if kind == VIDEO:
        return lambda value: _listed(_pictures(value), _file, may_lack=False)
    inner, of = feature.feature, _change(feature.feature)
    may_lack = is_optional(inner)
    if kind.startswith(BOX):
        return _box(kind)
    if isinstance(inner, Value):
        return _plain(inner, of, may_lack=may_lack, is_dataset=kind == DATASET, is_tensor=isinstance(feature, TensorList))
    return lambda value: _listed(value, of, may_lack=may_lack)


def _dicts(features: dict[str, FeatureType], *, is_listed: bool = False) -> Change:
    """Return the change of a dict; if all its columns are lists, a list of dicts is accepted, too, and becomes such a dict."""
    whole = row_change(features)
    lists = {name: each.feature for name, each in features.items() if isinstance(each, (List, LargeList))}
    of_each = _dicts(lists, is_listed=True) if len(lists) == len(features) else None

    def changed(value: Any) -> Any:
        if isinstance(value, Mapping) or of_each is None:
            return whole(value)
        made = _listed(value, of_each, may_lack=False)
        if is_listed and isinstance(made, (list, tuple)) and all(isinstance(each, Mapping) for each in made):
            return {name: [each.get(name) for each in made] for name in features}
        return made

    return changed


def _listed(value: Any, change: Change | None, *, may_lack: bool) -> Any:
    is_array = isinstance(value, np.ndarray) and value.dtype != object and change is not _file
    if is_array or isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        return value
    made = []
    for each in value:
        if each is None and not may_lack:
            _refuse("one of its items is None", _WHOLE)
        made.append(each if each is None or change is None else change(each))
    same = isinstance(value, (list, tuple)) and all(new is old for new, old in zip(made, value, strict=True))
    return value if same else made


def _is_text(feature: Value) -> bool:
    return feature.dtype in ("string", "large_string")


def _same(value: Any) -> Any:
    return value


def _plain(inner: Value, change: Change | None, *, may_lack: bool, is_dataset: bool = False, is_tensor: bool = False) -> Change:
    """Of a list of numbers or texts: only what kinds it holds is looked at, unless some are to be changed."""
    is_text, missing, dtype = _is_text(inner), _missing(inner), np_dtype_of(inner)
    each = None if is_text else change
    as_they_are = _INTEGERS if dtype.kind in "iu" else _INTEGERS | _FLOATING if dtype.kind == "f" else _TRUTHS

    def plain(value: Any) -> Any:
        if is_dataset and hasattr(value, "__next__"):
            value = list(value)
        if isinstance(value, np.ndarray) and value.dtype.kind == "f" and dtype.kind in "iu" and not is_tensor:
            return np.trunc(value)  # as each of its items is cut in TFDS
        if not isinstance(value, (list, tuple)):
            return value
        kinds = set(map(type, value))
        if type(None) in kinds and not may_lack:
            if missing is None:
                _refuse("one of its items is None", _WHOLE)
            value = [missing if item is None else item for item in value]
        for kind in kinds if is_text else ():
            if issubclass(kind, _NUMBERS):
                _refuse(f"it holds a {kind.__name__}, which is not a string")
        if each is None or kinds <= as_they_are:
            return value
        return [item if item is None else each(item) for item in value]

    return plain


_INTEGERS = frozenset({int, *(np.dtype(code).type for code in "bhilqBHILQ")})
_FLOATING = frozenset({float, *(np.dtype(code).type for code in "efd")})
_TRUTHS = frozenset({bool, np.bool_})
_REAL = (float, np.floating)


def _number(feature: Value) -> Change | None:
    """Numbers as numpy makes them of what is given: texts are read, and fractions cut off for integers."""
    dtype = np_dtype_of(feature)
    if dtype.kind not in "iufb":
        return None
    changed = (str, bytes, *(_REAL if dtype.kind in "iu" else _NUMBERS if dtype.kind == "b" else ()))

    def number(value: Any) -> Any:
        if not isinstance(value, changed) or type(value) in (bool, np.bool_):
            return value
        if dtype.kind == "b" and isinstance(value, (str, bytes)):
            _refuse(f"{value!r} is a text, each of which is true but the empty one", "Yield True or False")
        try:
            with np.errstate(invalid="raise"):
                return np.array(value, dtype).item()
        except (ValueError, OverflowError, FloatingPointError):
            return value  # the library says what is wrong with it

    return number


def _label(feature: ClassLabel) -> Change:
    """The number of a class, by the names that the feature has now: authors set them when the data is there."""

    def label(value: Any) -> Any:
        if not isinstance(value, (str, bytes)):
            return value
        try:
            return feature.str2int(value.decode() if isinstance(value, bytes) else value)
        except CastError as error:
            _refuse(str(error).rstrip("."), "Set the names, or yield one of them")

    return label


def _box(kind: str) -> Change:
    """The four numbers of a box, checked where they are parts of a picture."""
    form = kind.removeprefix(BOX).strip() or "REL_YXYX"

    def box(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "iu":
            value = value.astype(np.float64)
        if not isinstance(value, (list, tuple, np.ndarray)) or len(value) != 4:
            _refuse(f"{value!r} is not a box", "Yield a BBox, or an array of four numbers")
        if form in ("REL_YXYX", "REL_XYXY") and not all(isinstance(edge, _REAL) and 0 <= edge <= 1 for edge in value):
            _refuse(f"{value!r} has edges that are not fractions of the picture", "Divide them by its height and width")
        if form in ("REL_YXYX", "YXYX") and (value[2] < value[0] or value[3] < value[1]):
            _refuse(f"{value!r} ends before it begins", "Yield ymin <= ymax and xmin <= xmax")
        return value

    return box


def _text(value: Any) -> Any:
    if type(value) is not str and isinstance(value, _NUMBERS):
        _refuse(f"{value!r} ({type(value).__name__}) is not a string", "Yield a str, or declare the feature by a dtype")
    return value


def _file(value: Any) -> Any:
    """Return the bytes of a file given by path or open; other values stay."""
    path = value
    if isinstance(value, Mapping):
        path = value.get("path") if value.get("bytes") is None and value.keys() <= {"bytes", "path"} else None
    elif is_pillow_image(value):
        path = getattr(value, "filename", None) or None
    try:
        if isinstance(path, (str, os.PathLike)):
            if is_url(os.fspath(path)):
                return value
            with open(path, "rb") as file:
                return {"bytes": file.read(), "path": os.path.basename(os.fspath(path))}
        read = getattr(value, "read", None)
        if read is None:
            return value
        data = read()
    except (OSError, ValueError) as error:
        _refuse(f"{path!r} cannot be read: {error}", "Yield the path of a file that is there, an open file, or an array")
    if not isinstance(data, bytes):
        _refuse(f"{value!r} gives {type(data).__name__}", "Open the file with mode 'rb'")
    return {"bytes": data, "path": None}


def _samples(value: Any) -> Any:
    """The samples of a sound: integers as the file has them, with a second dimension where it has several channels."""
    if not isinstance(value, (str, os.PathLike)) and not hasattr(value, "read"):
        return value
    soundfile = needed("soundfile", "Reading sounds", "datasets_core[audio]")
    try:
        with soundfile.SoundFile(os.fspath(value) if isinstance(value, os.PathLike) else value) as sound:
            return sound.read(dtype="int32" if sound.subtype in ("PCM_24", "PCM_32") else "int16")
    except (OSError, RuntimeError) as error:
        raise CastError(f"{value!r} is not readable audio: {error}. Give a path, an open file or samples.") from error


def _pictures(value: Any) -> Any:
    """The pictures of a film, as they are given or as torchcodec decodes them."""
    is_path = isinstance(value, (str, os.PathLike))
    if not is_path and not isinstance(value, bytes) and not hasattr(value, "read"):
        return list(value)
    from datasets_core.features.media.types import Video  # for films alone

    stored = value if is_path or isinstance(value, bytes) else value.read()
    film = Video(dimension_order="NHWC")
    decoder = film.decode_example(film.encode_example(stored))
    return [np.asarray(frame) for frame in decoder]
