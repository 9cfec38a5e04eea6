"""Cells: stored values as the page reads them: plain columns, and JSON for nested values, limited in size."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.dataset.insight.describe import kind_of_feature
from datasets_core.dataset.insight.statistics import is_media
from datasets_core.features.base import FeatureType, LargeList, List, Value
from datasets_core.features.media.media import Media, MediaPaths
from datasets_core.features.types import ClassLabel, FixedShape, Json
from datasets_core.viewer.media import medium

_BOX_WORDS = ("bbox", "bboxes", "box", "boxes", "bounding_box", "bounding_boxes")
_ROLES, _CONTENTS = ("role", "from"), ("content", "value")  # of chat messages


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits on how much of a value is sent.

    Args:
        characters: maximum number of characters of a text.
        items: maximum number of items of a list, and of fields of a dict.
        depth: maximum depth of nesting.
        budget: maximum number of values in one cell, over all levels.
    """

    characters: int = 400
    items: int = 24
    depth: int = 6
    budget: int = 400


IN_TABLE = Limits()
IN_PANEL = Limits(characters=200_000, items=1_000, depth=16, budget=20_000)
_HEAT = 24  # points of a heat map in each direction
_LARGE_CELL_BYTES = 64 << 20  # a column of few rows above this is not looked at as a whole


def kind_of_cell(feature: FeatureType, arrow_type: pa.DataType) -> str:
    """Return how the cells of a column are shown.

    >>> kind_of_cell(Value("int8"), pa.int8()), kind_of_cell(List({"role": Value("string"), "content": Value("string")}),
    ...     pa.list_(pa.struct({"role": pa.string(), "content": pa.string()})))
    ('number', 'chat')
    """
    if isinstance(feature, ClassLabel):
        return "label"
    if is_media(feature, arrow_type):
        return "media"
    if isinstance(feature, FixedShape):
        return "array"
    if isinstance(feature, Json):
        return "json"
    kind = arrow_type.value_type if pa.types.is_dictionary(arrow_type) else arrow_type
    if isinstance(feature, (List, LargeList)):
        inner = feature.feature
        if isinstance(inner, Mapping) and _role_fields(inner) is not None:
            return "chat"
        if isinstance(inner, Value) and (inner.dtype in ("string", "large_string") or inner.dtype.startswith(("int", "uint"))):
            return "tokens"
        return "list"
    if pa.types.is_boolean(kind):
        return "bool"
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "number"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return "text"
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        return "time"
    if (
        pa.types.is_binary(kind)
        or pa.types.is_large_binary(kind)
        or pa.types.is_fixed_size_binary(kind)
        or kind == pa.binary_view()
    ):
        return "bytes"
    if pa.types.is_null(kind):
        return "null"
    return "dict" if pa.types.is_struct(kind) else "list"


def _role_fields(feature: Mapping[str, Any]) -> tuple[str, str] | None:
    role = next((name for name in _ROLES if name in feature), None)
    content = next((name for name in _CONTENTS if name in feature), None)
    return None if role is None or content is None else (role, content)


def described_columns(features: Mapping[str, FeatureType], schema: pa.Schema) -> list[dict[str, Any]]:
    """Return for each column its name, its type, and how its cells and boxes are shown."""
    columns: list[dict[str, Any]] = []
    for name, feature in features.items():
        kind = kind_of_cell(feature, schema.field(name).type)
        found: dict[str, Any] = {"name": name, "type": kind_of_feature(feature), "cell": kind}
        if kind == "media":
            found["medium"] = str(getattr(feature, "_type", "")).lower()
        if isinstance(feature, ClassLabel):
            found["labels"] = feature.names[:200]
        columns.append(found)
    boxes = _boxes(features)
    if boxes is not None:
        for found in columns:
            if found.get("medium") == "image":
                found["boxes"] = boxes
    return columns


def _boxes(features: Mapping[str, FeatureType]) -> dict[str, Any] | None:
    """Return where the boxes for the pictures of a row are: in a column of lists of four numbers, or in a field of a column."""
    for name, feature in features.items():
        if name.lower() in _BOX_WORDS and _is_box_list(feature):
            return {"path": [name], "labels": None}
        inner = feature.feature if isinstance(feature, (List, LargeList)) else feature
        if isinstance(inner, Mapping):
            for field, each in inner.items():
                if field.lower() in _BOX_WORDS and (_is_box_list(each) or _is_box(each)):
                    labels = next((other for other in inner if other in ("category", "label", "labels", "categories")), None)
                    return {"path": [name, field], "labels": labels}
    return None


def _is_box(feature: Any) -> bool:
    if type(feature).__name__ == "BBoxFeature":
        return True
    inner = feature.feature if isinstance(feature, (List, LargeList)) else None
    return isinstance(inner, Value) and inner.dtype.startswith(("int", "float"))


def _is_box_list(feature: Any) -> bool:
    return _is_box(feature) or (isinstance(feature, (List, LargeList)) and _is_box(feature.feature))


# -- tables of cells ---------------------------------------------------------------------------------------------------


def cells(
    table: pa.Table, features: Mapping[str, FeatureType], paths: MediaPaths, numbers: Sequence[int], places: Sequence[int]
) -> pa.RecordBatch:
    """Return rows as the page reads them: a column of row numbers, then one for each column.

    Args:
        table: the rows as they are stored.
        features: features of its columns.
        paths: the paths in values that may be opened.
        numbers: numbers of the rows in their dataset.
        places: positions of the columns in their dataset.

    Returns:
        A batch with the column `row`, and the others, named by their positions; nested values, media and arrays are JSON.
    """
    arrays: list[pa.Array] = [pa.array(list(numbers), pa.int64())]
    names = ["row"]
    for place, (name, feature) in zip(places, features.items(), strict=True):
        arrays.append(_cells(table.column(name), feature, paths, IN_TABLE))
        names.append(str(place))
    return pa.RecordBatch.from_arrays(arrays, names)


def _cells(column: pa.ChunkedArray, feature: FeatureType, paths: MediaPaths, limits: Limits) -> pa.Array:
    kind = kind_of_cell(feature, column.type)
    if kind == "null":
        return pa.nulls(len(column), pa.string())
    if kind == "text":
        return _texts(column, limits)
    values = _one(column)
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if kind == "bool":
        return values
    if kind == "label":
        assert isinstance(feature, ClassLabel)
        known = feature.names
        found = [None if code is None else known[code] if 0 <= code < len(known) else str(code) for code in values.to_pylist()]
        return pa.array(found, pa.string())
    if kind == "number":
        if pa.types.is_decimal(values.type):
            return values.cast(pa.string())
        return values.cast(pa.float32()) if pa.types.is_float16(values.type) else values
    if kind == "time":
        return pa.array([None if not value.is_valid else time_text(value) for value in values], pa.string())
    shown = [None if not value.is_valid else _dumped(value, feature, paths, limits) for value in values]
    return pa.array(shown, pa.string())


def _one(column: pa.ChunkedArray) -> pa.Array:
    return (
        column.chunk(0)
        if column.num_chunks == 1
        else column.combine_chunks()
        if column.num_chunks
        else pa.nulls(0, column.type)
    )


def _texts(column: pa.ChunkedArray, limits: Limits) -> pa.Array:
    """Return texts; long ones are cut, and end with a mark: a null character and the full number of characters."""
    found: list[str | None] = []
    most = limits.characters
    for value in (scalar for chunk in column.chunks for scalar in chunk):
        if isinstance(value, pa.DictionaryScalar):
            value = value.value
        if not value.is_valid:
            found.append(None)
            continue
        data = value.as_buffer()
        if data.size <= most:
            found.append(data.to_pybytes().decode(errors="replace"))
            continue
        text = data.slice(0, min(data.size, 4 * most + 4)).to_pybytes().decode(errors="ignore")
        if data.size <= 4 * most and len(text) <= most:
            found.append(text)
        else:
            size = pc.utf8_length(value).as_py() if data.size <= _LARGE_CELL_BYTES else data.size
            found.append(f"{text[:most]}\0{size}")
    return pa.array(found, pa.string())


def time_text(value: pa.Scalar) -> str:
    """Return a time as text.

    >>> import datetime
    >>> time_text(pa.scalar(datetime.timedelta(hours=30))), time_text(pa.scalar(0, pa.timestamp("s", "UTC")))
    ('1 day, 6:00:00', '1970-01-01 00:00:00+00:00')
    """
    try:
        if pa.types.is_timestamp(value.type) and value.type.unit == "ns":
            return str(value.cast(pa.timestamp("ns")).cast(pa.string()).as_py())
        return str(value.as_py())
    except (ValueError, OverflowError):  # a year or a zone that Python does not have
        return str(value.value)


def _dumped(value: pa.Scalar, feature: FeatureType, paths: MediaPaths, limits: Limits) -> str:
    return json.dumps(plain(value, feature, paths, limits), ensure_ascii=False, allow_nan=False)


def plain(value: pa.Scalar, feature: FeatureType, paths: MediaPaths, limits: Limits = IN_PANEL) -> Any:
    """Return a stored value as JSON values, read only as far as it is shown.

    A dict with a key that begins with `$` is not part of the data: `$text`, `$bytes`, `$media`, `$array`, `$more` or `$map`
    names what it represents.

    >>> plain(pa.scalar([1, None]), List(Value("int64")), MediaPaths()), plain(pa.scalar(b"ab"), Value("binary"), MediaPaths())
    ([1, None], {'$bytes': '6162', 'size': 2})
    """
    return _Plain(paths, limits).of(value, feature, 0, ())


class _Plain:
    """One cell, and the number of values that it may still have."""

    def __init__(self, paths: MediaPaths, limits: Limits) -> None:
        self._paths, self._limits = paths, limits
        self._left = limits.budget

    def of(self, value: pa.Scalar, feature: Any, depth: int, path: tuple[str | int, ...]) -> Any:
        self._left -= 1
        if isinstance(value, pa.DictionaryScalar):
            value = value.value
        if isinstance(value, pa.ExtensionScalar):
            value = value.value
        if value is None or not value.is_valid:
            return None
        kind = value.type
        if isinstance(feature, ClassLabel):
            code = value.as_py()
            return feature.names[code] if 0 <= code < len(feature.names) else str(code)
        if isinstance(feature, Media) and pa.types.is_struct(kind):
            return {"$media": medium(value, feature, self._paths), "path": list(path)}
        if isinstance(feature, FixedShape):
            return _heat(value, feature)
        if isinstance(feature, Json) and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return self._of_json(value)
        if depth > self._limits.depth or self._left < 0:
            return {"$more": "…"}
        if pa.types.is_struct(kind):
            inner = feature if isinstance(feature, Mapping) else {}
            fields = [field.name for field in kind]
            shown = {
                fields[number]: self.of(value[number], inner.get(fields[number]), depth + 1, (*path, fields[number]))
                for number in range(min(len(fields), self._limits.items))
            }
            return {"$map": [[name, each] for name, each in shown.items()], "of": len(fields)}
        if pa.types.is_map(kind):
            pairs = value.as_py()[: self._limits.items]
            return {"$map": [[str(key), self._text(str(each))] for key, each in pairs], "of": len(value.values)}
        if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
            inner_kind = feature.feature if isinstance(feature, (List, LargeList)) else None
            size = len(value.values)
            items = []
            for number in range(min(size, self._limits.items)):
                if self._left < 0:
                    break
                items.append(self.of(value.values[number], inner_kind, depth + 1, (*path, number)))
            return items if len(items) == size else [*items, {"$more": f"{size - len(items):,} more"}]
        return self._leaf(value, kind)

    def _leaf(self, value: pa.Scalar, kind: pa.DataType) -> Any:
        if pa.types.is_boolean(kind):
            return value.as_py()
        if pa.types.is_integer(kind):
            number = value.as_py()
            return number if -(2**53) < number < 2**53 else {"$number": str(number)}
        if pa.types.is_floating(kind):
            number = float(value.as_py())
            return number if math.isfinite(number) else {"$number": str(number)}
        if pa.types.is_decimal(kind):
            return {"$number": str(value.as_py())}
        if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
            data = value.as_buffer()
            text = data.slice(0, min(data.size, 4 * self._limits.characters)).to_pybytes().decode(errors="ignore")
            return self._text(text, data.size)
        if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
            return {"$time": time_text(value)}
        if hasattr(value, "as_buffer"):
            data = value.as_buffer()
            return {
                "$bytes": data.slice(0, min(data.size, 256 if self._limits is IN_PANEL else 16)).to_pybytes().hex(),
                "size": data.size,
            }
        return self._text(str(value.as_py()))

    def _text(self, text: str, size: int | None = None) -> Any:
        most = self._limits.characters
        if len(text) <= most and (size is None or size <= len(text.encode())):
            return text
        return {"$text": text[:most], "size": len(text) if size is None else size}

    def _of_json(self, value: pa.Scalar) -> Any:
        data = value.as_buffer()
        if data.size > 1 << 20:
            return self._text(data.slice(0, 4 * self._limits.characters).to_pybytes().decode(errors="ignore"), data.size)
        try:
            return self._parsed(json.loads(data.to_pybytes()), 0)
        except ValueError:
            return self._text(data.to_pybytes().decode(errors="replace"))

    def _parsed(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if self._left < 0 or depth > self._limits.depth:
            return {"$more": "…"}
        if isinstance(value, dict):
            shown = [[name, self._parsed(each, depth + 1)] for name, each in list(value.items())[: self._limits.items]]
            return {"$map": shown, "of": len(value)}
        if isinstance(value, list):
            items = [self._parsed(each, depth + 1) for each in value[: self._limits.items]]
            return items if len(items) == len(value) else [*items, {"$more": f"{len(value) - len(items):,} more"}]
        if isinstance(value, str):
            return self._text(value)
        if isinstance(value, float) and not math.isfinite(value):
            return {"$number": str(value)}
        return value


def _heat(value: pa.Scalar, feature: FixedShape) -> Any:
    """Return an array as its shape, its bounds, and a small map of its last two dimensions."""
    flat = value
    shape: list[int] = []
    while pa.types.is_list(flat.type) or pa.types.is_large_list(flat.type) or pa.types.is_fixed_size_list(flat.type):
        shape.append(len(flat.values))
        inner = flat.values
        if not (pa.types.is_list(inner.type) or pa.types.is_large_list(inner.type) or pa.types.is_fixed_size_list(inner.type)):
            break
        if not len(inner):
            break
        flat = inner[0]
    values: Any = value.values
    while pa.types.is_list(values.type) or pa.types.is_large_list(values.type) or pa.types.is_fixed_size_list(values.type):
        values = values.flatten()
    numbers = values.cast(pa.float64(), safe=False).fill_null(math.nan).to_numpy(zero_copy_only=False)
    if len(numbers) != math.prod(shape) or not len(numbers):
        return {"$array": shape, "heat": [], "min": None, "max": None}
    finite = numbers[np.isfinite(numbers)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    grid = numbers.reshape(shape)
    while grid.ndim > 2:  # a picture with channels last keeps its first channel, others their first matrix
        grid = grid[..., 0] if grid.shape[-1] <= 4 < grid.shape[0] else grid[0]
    rows = np.linspace(0, grid.shape[0] - 1, min(_HEAT, grid.shape[0])).astype(int)
    columns = np.linspace(0, grid.shape[1] - 1, min(_HEAT, grid.shape[1])).astype(int)
    small = grid[np.ix_(rows, columns)]
    with np.errstate(all="ignore"):
        scaled = np.nan_to_num((small - low) / ((high - low) or 1.0) * 255)
    return {"$array": shape, "heat": np.clip(scaled, 0, 255).astype(int).tolist(), "min": f"{low:.6g}", "max": f"{high:.6g}"}


def inner_value(value: pa.Scalar, feature: Any, path: Sequence[str | int]) -> tuple[pa.Scalar, Any]:
    """Return the medium, and its feature, at a path of fields and items within a cell.

    Raises:
        KeyError, IndexError: there is no medium at the path.
    """
    for step in path:
        if not value.is_valid:
            raise KeyError(step)
        if isinstance(step, int):
            if not 0 <= step < len(value.values):
                raise IndexError(step)
            value, feature = value.values[step], feature.feature
        else:
            value, feature = value[step], feature[step]
    if not isinstance(feature, Media):
        raise KeyError(path[-1] if path else "")
    return value, feature
