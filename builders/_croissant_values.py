"""Values of Croissant fields: transforms, JSON paths, joins by key, and conversion to the type of the field.

The package `mlcroissant` could take over joins and nesting, about 300 lines.  It accepts 10 of the 64 descriptions that the
tests of this reader load, so they stay here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.features.arrow import Misfit, list_array, list_parts, struct_array, struct_parts
from datasets_core.features.base import FeatureType, LargeList, List
from datasets_core.features.cast import cast_array
from datasets_core.features.inference import infer_column
from datasets_core.meta.croissant_nodes import Step, ValueSource, found_at, parse_json_path

_types = pa.types
# CLDR date patterns, which Croissant uses, and their strptime equivalents; the longest first.
_CLDR = (
    ("yyyy", "%Y"), ("MMMM", "%B"), ("MMM", "%b"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"),
    ("yy", "%y"), ("SSSSSS", "%f"), ("SSS", "%f"), ("S", "%f"), ("EEEE", "%A"), ("EEE", "%a"), ("Z", "%z"), ("XXX", "%z"),
)  # fmt: skip


class ValueFault(ValueError):
    """A value or a transform that fails, with the reason and the row of the column.

    Args:
        reason: what is wrong, without a final stop.
        row: the row in the column; None if it is not a single row.
    """

    def __init__(self, reason: str, row: int | None = None) -> None:
        super().__init__(reason, row)
        self.reason, self.row = reason, row


def transformed(column: pa.Array, source: ValueSource, *, is_loose: bool = False) -> pa.Array:
    """Return a column after all transforms of its source; elements of lists are transformed one by one.

    Args:
        column: the values.
        source: source of the field.
        is_loose: see `at_path`.

    Raises:
        ValueFault: a transform is unsupported, or does not fit a value.
    """
    for name, argument in source.transforms:
        if name == "jsonPath":
            column = _by_path(column, argument, is_loose=is_loose)
            continue
        make = _TRANSFORMS.get(name)
        if make is None:
            raise ValueFault(f"has the transform {name!r}, which is not supported")
        column = make(column, argument)
    return column


def typed(column: pa.Array, feature: FeatureType) -> pa.Array:
    """Return a column in the type of a feature.

    Raises:
        ValueFault: a value does not fit.
    """
    try:
        return cast_array(column, feature)
    except Misfit as misfit:
        raise ValueFault(f"has a value that does not fit its data type: {misfit.reason}", misfit.index) from misfit


def narrowed(column: pa.Array, feature: FeatureType) -> pa.Array:
    """Return a column without the fields of structs that a feature does not have."""
    if isinstance(feature, (List, LargeList)) and _is_list(column.type):
        lengths, valid, child = list_parts(column)
        inner = narrowed(child, feature.feature)
        return column if inner is child else list_array(pa.list_(inner.type), lengths, valid, inner)
    if not isinstance(feature, dict) or not _types.is_struct(column.type):
        return column
    valid, fields = struct_parts(column)
    kept = {name: narrowed(fields[name], inner) for name, inner in feature.items() if name in fields}
    if len(kept) == len(fields) and all(kept[name] is fields[name] for name in fields):
        return column
    kind = pa.struct([(name, array.type) for name, array in kept.items()])
    return struct_array(kind, len(column), valid, list(kept.values()))


# -- transforms --------------------------------------------------------------------------------------------------------


def _each(column: pa.Array, make: Callable[[pa.Array], pa.Array]) -> pa.Array:
    """Return the result of `make` for the values of a column, inside its lists if it has any."""
    if not _is_list(column.type):
        return make(column)
    lengths, valid, child = list_parts(column)
    inner = _each(child, make)
    return list_array(pa.list_(inner.type), lengths, valid, inner)


def _by_regex(column: pa.Array, pattern: Any) -> pa.Array:
    """Return the part of each text that the group of a pattern matches; matching begins at the start of the text."""
    text = str(pattern)
    try:
        groups = re.compile(text).groups
        whole = f"^(?:{text})(?s:.*)$"
        pc.match_substring_regex(pa.array([""]), pattern=whole)
    except (re.error, pa.ArrowInvalid) as error:
        raise ValueFault(f"has the regular expression {text!r}, which is not supported ({error})") from error

    def parts(values: pa.Array) -> pa.Array:
        values = _as_text(values, "a regular expression")
        matches = pc.match_substring_regex(values, pattern=whole)
        if pc.any(pc.invert(matches)).as_py():
            row = pc.index(matches, False).as_py()
            raise ValueFault(f"has the regular expression {text!r}, which does not match {values[row].as_py()!r}", row)
        if not groups:
            return values
        found = "".join(f"\\{number + 1}" for number in range(min(groups, 9)))
        return pc.replace_substring_regex(values, pattern=whole, replacement=found)

    return _each(column, parts)


def _by_separator(column: pa.Array, separator: Any) -> pa.Array:
    if not isinstance(separator, str) or not separator:
        raise ValueFault(f"has the separator {separator!r}, which is empty")
    return _each(column, lambda values: pc.split_pattern(_as_text(values, "a separator"), pattern=separator))


def _by_path(column: pa.Array, path: Any, *, is_loose: bool) -> pa.Array:
    try:
        steps = parse_json_path(str(path))
    except ValueError as error:
        raise ValueFault(f"has a JSON path that is not supported: {error}") from error
    return at_path(column, steps, is_loose=is_loose)


def at_path(column: pa.Array, steps: Sequence[Step], *, is_loose: bool = False) -> pa.Array:
    """Return the values at a path in each value of a column; inside lists, and in JSON for text.

    Args:
        column: the values.
        steps: the path.
        is_loose: True if objects may lack the path, with null as result, as in JSON.

    Raises:
        ValueFault: no value in the column has the path.
    """
    if not steps:
        return column
    if _is_list(column.type):
        if steps[0] is None:
            steps = steps[1:]
        elif isinstance(steps[0], int):
            return at_path(_element(column, steps[0]), steps[1:], is_loose=is_loose)
        return _each(column, lambda values: at_path(values, steps, is_loose=is_loose))
    if _types.is_null(column.type):
        return column
    if _types.is_struct(column.type) and isinstance(steps[0], str):
        valid, fields = struct_parts(column)
        if steps[0] not in fields and is_loose:
            return pa.nulls(len(column))
        if steps[0] not in fields:
            listed = ", ".join(map(repr, fields)) or "nothing"
            raise ValueFault(f"has the step {steps[0]!r} in a JSON path; available keys: {listed}")
        child = fields[steps[0]]
        if valid is not None and not valid.all():
            child = pc.if_else(pa.array(valid), child, pa.scalar(None, child.type))
        return at_path(child, steps[1:], is_loose=is_loose)
    return _parsed(column, steps)


def only_values(column: pa.Array) -> pa.Array:
    """Return the only element of each list, null for an empty list.

    Raises:
        ValueFault: a list has several.
    """
    if not _is_list(column.type):
        return column
    lengths, _, _ = list_parts(column)
    if (lengths > 1).any():
        row = int((lengths > 1).argmax())
        raise ValueFault(f"has a JSON path that leads to {lengths[row]} values, but the field is not an array", row)
    return _element(column, 0)


def _parsed(column: pa.Array, steps: Sequence[Step]) -> pa.Array:
    """Return the values at a path in JSON text."""
    values: list[Any] = []
    texts: list[str | None] = _as_text(column, "a JSON path").to_pylist()
    for row, text in enumerate(texts):
        try:
            found = [] if text is None else found_at(json.loads(text), steps)
        except (ValueError, RecursionError) as error:
            raise ValueFault(f"has a JSON path, but the text {str(text)[:40]!r} is not valid JSON", row) from error
        values.append(found if None in steps else found[0] if found else None)
    return array_of(values)


def array_of(values: list[Any]) -> pa.Array:
    """Return Python values as a column.

    Raises:
        ValueFault: the values have no common type.
    """
    try:
        return infer_column(values)
    except Misfit as misfit:
        raise ValueFault(f"has values without a common type: {misfit.reason}", misfit.index) from misfit


def _by_format(column: pa.Array, form: Any) -> pa.Array:
    """Convert timestamps in a custom format; other formats (of boxes, of numbers) describe the meaning of values."""
    text = str(form)
    if not re.search(r"%[YymdHMSfjbBp]|yy|MM|dd|HH", text) or not _is_text(_innermost(column.type)):
        return column
    pattern = text if "%" in text else _strptime(text)
    plain = pattern.replace(".%f", "").replace("%f", "")

    def parsed(values: pa.Array) -> pa.Array:
        moments: list[Any] = []
        for row, value in enumerate(values.to_pylist()):
            try:
                moments.append(None if value is None else datetime.strptime(value.strip(), pattern))
            except ValueError as error:
                raise ValueFault(f"has the format {text!r}, which does not fit {value!r}", row) from error
        return pa.array(moments, pa.timestamp("us"))

    def quick(values: pa.Array) -> pa.Array:
        if pattern != plain or re.search(r"%[zZ]", pattern):
            return parsed(values)
        found = pc.strptime(values, format=pattern, unit="us", error_is_null=True)
        return found if found.null_count == values.null_count else parsed(values)

    return _each(column, quick)


def _strptime(pattern: str) -> str:
    found, at = "", 0
    while at < len(pattern):
        for sign, meaning in _CLDR:
            if pattern.startswith(sign, at):
                found, at = found + meaning, at + len(sign)
                break
        else:
            found, at = found + pattern[at].replace("'", ""), at + 1
    return found


def _unchanged(column: pa.Array, argument: Any) -> pa.Array:
    return column


_TRANSFORMS: dict[str, Callable[[pa.Array, Any], pa.Array]] = {
    "regex": _by_regex,
    "separator": _by_separator,
    "format": _by_format,
    "samplingRate": _unchanged,  # a property of the feature
}


def _as_text(values: pa.Array, what: str) -> pa.Array:
    if _is_text(values.type):
        return values
    if _types.is_null(values.type) or _types.is_primitive(values.type):
        return values.cast(pa.string())
    if _types.is_binary(values.type) or _types.is_large_binary(values.type):
        try:
            return values.cast(pa.string())
        except pa.ArrowInvalid as error:
            raise ValueFault(f"has {what}, but its values are not valid UTF-8") from error
    raise ValueFault(f"has {what}, but its values are {values.type}, not text")


def _is_text(kind: pa.DataType) -> bool:
    return bool(_types.is_string(kind) or _types.is_large_string(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(_types.is_list(kind) or _types.is_large_list(kind) or _types.is_fixed_size_list(kind))


def _element(column: pa.Array, position: int) -> pa.Array:
    """Return the element at a position of each list; null where a list is shorter."""
    lengths, _, child = list_parts(column)
    starts = lengths.cumsum() - lengths
    return child.take(pa.array(starts + position, mask=lengths <= position))


def _innermost(kind: pa.DataType) -> pa.DataType:
    while _is_list(kind):
        kind = kind.value_type
    return kind


# The rows that others are joined to by a key, in memory.


class Keyed:
    """Rows by their keys; several rows may have the same key.

    Args:
        key: name of the key column.
        columns: the columns to join.
    """

    def __init__(self, key: str, columns: Sequence[str]) -> None:
        self._key, self._columns = key, list(columns)
        self._parts: list[Mapping[str, pa.Array]] = []
        self._rows: dict[Any, list[int]] | None = None
        self._arrays: dict[str, pa.Array] = {}
        self._kind: pa.DataType = pa.null()

    def add(self, arrays: Mapping[str, pa.Array]) -> None:
        """Add rows."""
        self._parts.append({name: arrays[name] for name in (self._key, *self._columns)})

    def joined(self, arrays: Mapping[str, pa.Array], key: str, num_rows: int) -> tuple[dict[str, pa.Array], int]:
        """Return rows joined with the columns of rows that have the same key: null if there are none, one row for each of
        several.

        Args:
            arrays: the rows, as columns.
            key: their own key.
            num_rows: number of rows.

        Raises:
            ValueFault: the keys have different types, so that none can be equal.
        """
        rows = self._by_key()
        own = arrays[key]
        if self._parts and rows and _family(own.type) != _family(self._kind) and own.null_count < len(own):
            raise ValueFault(f"joins keys of type {own.type} with keys of type {self._kind}, which are never equal")
        matches = [[None] if value is None else rows.get(value, [None]) for value in own.to_pylist()]
        counts = np.fromiter(map(len, matches), np.int64, len(matches))
        taken = pa.array([match for each in matches for match in each], pa.int64())
        found = dict(arrays)
        if len(taken) != num_rows:
            repeats = pa.array(np.repeat(np.arange(num_rows), counts))
            found = {name: array.take(repeats) for name, array in arrays.items()}
        found |= {
            name: self._arrays[name].take(taken) if name in self._arrays else pa.nulls(len(taken)) for name in self._columns
        }
        return found, len(taken)

    def _by_key(self) -> dict[Any, list[int]]:
        if self._rows is None:
            self._rows = {}
            for name in (self._key, *self._columns):
                parts = [part[name] for part in self._parts]
                if parts:
                    kind = next((part.type for part in parts if not pa.types.is_null(part.type)), pa.null())
                    self._arrays[name] = pa.concat_arrays([part.cast(kind) for part in parts])
            keys = self._arrays.get(self._key, pa.nulls(0))
            self._kind = keys.type
            for row, value in enumerate(keys.to_pylist()):
                if value is not None:
                    self._rows.setdefault(value, []).append(row)
        return self._rows


def _family(kind: pa.DataType) -> str:
    """Return the group of types whose values can be equal."""
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
        return "number"
    return "text" if pa.types.is_string(kind) or pa.types.is_large_string(kind) else str(kind)
