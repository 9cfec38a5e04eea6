"""Columns of mixed types: found in parsed rows, kept as JSON text, and typed as `Json`.

A path leads to a value inside a row: keys of objects, and `None` for the items of a list.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from datasets_core.features.dynamic import Json
from datasets_core.features.merge import merge_types

Path = tuple[str | None, ...]

JSON_TYPE = pa.json_(pa.string())
_ENCODE = Json().encode_example
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_INT64 = range(-(1 << 63), 1 << 63)


class BrokenRow(Exception):  # becomes a FileFormatError where the file is known
    """A row that is no object, or no JSON.

    Attributes:
        at: the byte where it begins.
        reason: what is wrong.
    """

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(at, reason)
        self.at, self.reason = at, reason


def parsed_rows(lines: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Place and value of each object in `lines`, by Python's parser.

    Raises:
        BrokenRow: a row is broken, no object, or has a key twice.
    """
    at = 0
    for line in lines.split(b"\n"):
        try:
            text = line.decode()
        except UnicodeDecodeError as error:
            raise BrokenRow(at + error.start, f"byte 0x{line[error.start]:02x} is not UTF-8") from None
        position = _skip_blanks(text, 0)
        while position < len(text):
            begin = position
            try:
                value, position = _DECODER.raw_decode(text, position)
            except json.JSONDecodeError as error:
                raise BrokenRow(at + _size(text[: error.pos].rstrip()), f"broken JSON ({error.msg})") from None
            except (ValueError, RecursionError) as error:
                raise BrokenRow(at + _size(text[:begin]), str(error) or "nested too deep") from None
            if value is not None and not isinstance(value, dict):
                raise BrokenRow(at + _size(text[:begin]), f"holds {_KIND_NAMES[_kind(value)]} where an object is expected")
            if _SURROGATE.search(text, begin, position) and not _has_text(value):
                raise BrokenRow(at + _size(text[:begin]), "half of a surrogate pair stands alone in a string")
            yield at + _size(text[:begin]), value
            position = _skip_blanks(text, position)
        at += len(line) + 1


def _size(text: str) -> int:
    return len(text.encode())


def _has_text(value: Any) -> bool:
    """Whether all strings in a value can be written as UTF-8."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def _skip_blanks(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\n":
        position += 1
    return position


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} stands twice in one object")
    return found


def _float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise ValueError(f"the number {text[:30]} is too large for a float")
    return value


_DECODER = json.JSONDecoder(object_pairs_hook=_object, parse_float=_float)
_KIND_NAMES = {
    "null": "null",
    "bool": "a boolean",
    "number": "a number",
    "big": "a number",
    "string": "a string",
    "list": "an array",
    "object": "an object",
}


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "number" if value in _INT64 else "big"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "list" if isinstance(value, list) else "object"


def mixed_paths(rows: Iterable[dict[str, Any] | None]) -> set[Path]:
    """Paths whose values are of several kinds, or integers past 64 bits: the shortest ones."""
    kinds: dict[Path, set[str]] = {}
    pending: list[tuple[Path, Any]] = [((), row) for row in rows]
    while pending:
        path, value = pending.pop()
        kind = _kind(value)
        if kind == "null":
            continue
        kinds.setdefault(path, set()).add(kind)
        if kind == "object":
            pending.extend(((*path, key), inner) for key, inner in value.items())
        elif kind == "list":
            pending.extend(((*path, None), inner) for inner in value)
    return shortest({path for path, found in kinds.items() if path and (len(found) > 1 or "big" in found)})


def shortest(paths: set[Path]) -> set[Path]:
    """The paths that no other of them leads to."""
    return {path for path in paths if not any(path[:end] in paths for end in range(len(path)))}


def with_text(rows: Iterable[dict[str, Any] | None], paths: set[Path]) -> bytes:
    """The rows as JSON lines, in which the values at `paths` are JSON text."""
    return "".join(json.dumps(_replaced(row, paths), ensure_ascii=False) + "\n" for row in rows).encode()


def _replaced(value: Any, paths: set[Path]) -> Any:
    if value is None:
        return None
    if () in paths:
        return _ENCODE(value)
    if isinstance(value, dict):
        heads = {path[0] for path in paths}
        return {
            key: _replaced(inner, {path[1:] for path in paths if path[0] == key}) if key in heads else inner
            for key, inner in value.items()
        }
    if isinstance(value, list):
        inner_paths = {path[1:] for path in paths if path[0] is None}
        return [_replaced(inner, inner_paths) for inner in value] if inner_paths else value
    return value


def paths_of(is_meant: Callable[[pa.DataType], bool], kind: pa.DataType, path: Path = ()) -> set[Path]:
    """The paths inside a type whose own type is meant."""
    if is_meant(kind):
        return {path}
    if pa.types.is_struct(kind):
        return {found for inner in kind for found in paths_of(is_meant, inner.type, (*path, inner.name))}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return paths_of(is_meant, kind.value_type, (*path, None))
    return set()


def is_json(kind: pa.DataType) -> bool:
    return bool(kind == JSON_TYPE)


def is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def spelled(value: Any, paths: set[Path]) -> Any:
    """A value in which what stands at `paths` is text: strings as they are, anything else as JSON."""
    if value is None or not paths:
        return value
    if () in paths:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        return {key: spelled(inner, {path[1:] for path in paths if path[0] == key}) for key, inner in value.items()}
    if isinstance(value, list):
        inner_paths = {path[1:] for path in paths if path[0] is None}
        return [spelled(inner, inner_paths) for inner in value]
    return value


def typed_as_json(column: pa.Array, paths: set[Path]) -> pa.Array:
    """A column whose text at `paths` is typed as JSON."""
    if () in paths:
        if pa.types.is_null(column.type):
            return column
        return pa.ExtensionArray.from_storage(JSON_TYPE, column)
    if pa.types.is_struct(column.type):
        arrays, inner = [], []
        for number, child in enumerate(column.type):
            below = {path[1:] for path in paths if path[0] == child.name}
            values = column.field(number)
            arrays.append(typed_as_json(values, below) if below else values)
            inner.append(pa.field(child.name, arrays[-1].type))
        if not arrays:
            return column
        return pa.StructArray.from_arrays(arrays, fields=inner, mask=column.is_null())
    if pa.types.is_list(column.type):
        below = {path[1:] for path in paths if path[0] is None}
        if below:
            values = typed_as_json(column.values, below)
            return pa.ListArray.from_arrays(column.offsets, values, mask=column.is_null())
    return column


def joined(a: pa.DataType, b: pa.DataType) -> tuple[pa.DataType, bool]:
    """The type that holds both, and whether the text is needed to get there: times that turn out text, and mixed types."""
    if a == b or pa.types.is_null(b):
        return a, False
    if pa.types.is_null(a):
        return b, False
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        return _joined_structs(a, b)
    if pa.types.is_list(a) and pa.types.is_list(b):
        inner, again = joined(a.value_type, b.value_type)
        return pa.list_(inner), again
    if JSON_TYPE in (a, b):
        return JSON_TYPE, True
    if (pa.types.is_string(a) and pa.types.is_timestamp(b)) or (pa.types.is_timestamp(a) and pa.types.is_string(b)):
        return pa.string(), True
    wider = merge_types(a, b)
    return (JSON_TYPE, True) if wider is None else (wider, False)


def meet_as_floats(a: pa.DataType, b: pa.DataType) -> bool:
    """Whether integers of one type stand where the other has floats."""
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        others = {inner.name: inner.type for inner in b}
        return any(inner.name in others and meet_as_floats(inner.type, others[inner.name]) for inner in a)
    if pa.types.is_list(a) and pa.types.is_list(b):
        return meet_as_floats(a.value_type, b.value_type)
    return {a, b} == {pa.int64(), pa.float64()}


def _joined_structs(a: pa.DataType, b: pa.DataType) -> tuple[pa.DataType, bool]:
    again = False
    fields = {inner.name: inner.type for inner in a}
    for inner in b:
        if inner.name in fields:
            fields[inner.name], needs_text = joined(fields[inner.name], inner.type)
            again |= needs_text
        else:
            fields[inner.name] = inner.type
    return pa.struct(list(fields.items())), again
