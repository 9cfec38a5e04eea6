"""Columns of mixed JSON types: detected in parsed rows, stored as JSON text, with the feature `Json`.

A path leads to a value inside a row: keys of objects, and `None` for the items of a list.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.features.arrow import merge_types, raw_values, validity
from datasets_core.features.types import Json

# pyarrow's JSON parser on a block of lines, and the check of its result.


_POOL_BLOCK_BYTES = 1 << 20
_EXACT_INTS = float(1 << 63)
_IS_BLANK = np.isin(np.arange(256), np.frombuffer(b" \t\r\n", np.uint8))
_NULL_ROW = re.compile(rb"((?:\A|[\r\n])[ \t]*)null\b")


def read_lines(lines: bytes, schema: pa.Schema | None) -> pa.Table:
    """Return the rows of some lines, with types inferred by pyarrow where `schema` has none."""
    lines = _without_null_rows(lines)
    table = _read_unchecked(lines, schema)
    if all(map(_is_sound, table.columns)):
        return table
    # While pyarrow infers the type of a list, it loses leading nulls (apache/arrow#51305); a given type avoids that.
    table = _read_unchecked(lines, table.schema)
    for number, column in enumerate(table.columns):
        if not _is_sound(column):
            table = table.set_column(
                number, table.field(number), pa.chunked_array(list(map(_with_nulls, column.chunks)), column.type)
            )
    if not all(map(_is_sound, table.columns)):
        raise pa.ArrowInvalid("pyarrow returned lists that are longer than their values")
    return table


def _without_null_rows(lines: bytes) -> bytes:
    """Return the lines with `{}` in place of null rows, which means the same: pyarrow may start a block at any row."""
    codes = np.frombuffer(lines, np.uint8)
    ends = codes == 10
    if b"\r" in lines:
        ends |= codes == 13
    firsts = np.append(0, np.flatnonzero(ends[:-1]) + 1)
    while len(firsts):  # a null per blank at the beginning of a line
        found = codes[firsts]
        if (found == ord("n")).any():
            return _NULL_ROW.sub(rb"\1{}  ", lines)
        firsts = firsts[_IS_BLANK[found]] + 1
        firsts = firsts[firsts < len(codes)]
    return lines


def _read_unchecked(lines: bytes, schema: pa.Schema | None) -> pa.Table:
    import pyarrow.json as pajson  # here and below: takes 20 ms; an existing dataset does not need it

    parse = pajson.ParseOptions(explicit_schema=schema, newlines_in_values=False)
    try:
        return pajson.read_json(pa.BufferReader(lines), pajson.ReadOptions(block_size=_POOL_BLOCK_BYTES), parse)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        if len(lines) < _POOL_BLOCK_BYTES:
            raise
        # An object longer than a block of the pool, or types that differ between two of them.
        return pajson.read_json(pa.BufferReader(lines), pajson.ReadOptions(block_size=len(lines) + 1, use_threads=False), parse)


def _is_sound(column: pa.ChunkedArray | pa.Array) -> bool:
    """Return True if lists and structs have as many child values as their offsets say."""
    if isinstance(column, pa.ChunkedArray):
        return not pa.types.is_nested(column.type) or all(map(_is_sound, column.chunks))
    if pa.types.is_struct(column.type):
        children = [column.field(number) for number in range(column.type.num_fields)]
        return all(len(child) == len(column) and _is_sound(child) for child in children)
    if pa.types.is_list(column.type):
        offsets = column.offsets
        return offsets[len(offsets) - 1].as_py() <= len(column.values) and _is_sound(column.values)
    return True


def _with_nulls(column: pa.Array) -> pa.Array:
    """Return a column with the missing nulls added to lists that hold only nulls."""
    if pa.types.is_struct(column.type):
        children = [_with_nulls(column.field(number)) for number in range(column.type.num_fields)]
        return pa.StructArray.from_arrays(children, fields=list(column.type), mask=column.is_null())
    if not pa.types.is_list(column.type):
        return column
    offsets, values = column.offsets, column.values
    values = pa.nulls(offsets[len(offsets) - 1].as_py()) if pa.types.is_null(values.type) else _with_nulls(values)
    return pa.ListArray.from_arrays(offsets, values, type=column.type, mask=column.is_null())


def loses_digits(table: pa.Table) -> bool:
    """Return True if a column of floats may hold an integer past 64 bits."""
    return any(_has_huge(column) for column in table.columns if _may_have_floats(column.type))


def _may_have_floats(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind):
        return any(_may_have_floats(inner.type) for inner in kind)
    return _may_have_floats(kind.value_type) if pa.types.is_list(kind) else pa.types.is_floating(kind)


def _has_huge(column: pa.ChunkedArray | pa.Array) -> bool:
    if isinstance(column, pa.ChunkedArray):
        return any(map(_has_huge, column.chunks))
    if pa.types.is_struct(column.type):
        return any(_has_huge(column.field(number)) for number, inner in enumerate(column.type) if _may_have_floats(inner.type))
    if pa.types.is_list(column.type):
        return _has_huge(column.values)
    return _largest(column) >= _EXACT_INTS


_EXACT_FLOATS = 1 << 53


def has_inexact_integers(column: pa.ChunkedArray | pa.Array) -> bool:
    """Return True if a column holds integers that a float cannot represent."""
    if isinstance(column, pa.ChunkedArray):
        return any(map(has_inexact_integers, column.chunks))
    if pa.types.is_struct(column.type):
        return any(has_inexact_integers(column.field(number)) for number in range(column.type.num_fields))
    if pa.types.is_list(column.type):
        return has_inexact_integers(column.values)
    if not pa.types.is_int64(column.type):
        return False
    return _largest(column) > _EXACT_FLOATS


def _largest(column: pa.Array) -> float:
    """Return the largest absolute number of a column: by numpy, as pyarrow.compute takes 15 ms to import."""
    is_whole = pa.types.is_int64(column.type)
    if not is_whole and not pa.types.is_float64(column.type):
        column = column.cast(pa.float64())
    values = raw_values(column.buffers()[1], np.int64 if is_whole else np.float64, column)
    valid = validity(column)
    if valid is not None:
        values = values[valid]
    if not len(values):
        return 0
    low, high = np.fmin.reduce(values), np.fmax.reduce(values)  # which ignores NaN
    return max(-int(low), int(high)) if is_whole else max(-float(low), float(high))


def is_utf8(lines: bytes) -> bool:
    if lines.isascii():
        return True
    offsets = pa.py_buffer((0).to_bytes(8, "little") + len(lines).to_bytes(8, "little"))
    try:
        pa.LargeStringArray.from_buffers(1, offsets, pa.py_buffer(lines)).validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


Path = tuple[str | None, ...]

JSON_TYPE = pa.json_(pa.string())
_ENCODE = Json().encode_example
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_INT64 = range(-(1 << 63), 1 << 63)


class BrokenRow(Exception):  # converted to a FileFormatError where the file is known
    """A row that is not an object, or not JSON.

    Attributes:
        at: the byte at which it begins.
        reason: what is wrong.
    """

    def __init__(self, at: int, reason: str) -> None:
        super().__init__(at, reason)
        self.at, self.reason = at, reason


def parsed_rows(lines: bytes) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """Yield position and value of each object in `lines`, with Python's parser.

    Raises:
        BrokenRow: a row is invalid, is not an object, or repeats a key.
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
                raise BrokenRow(at + _size(text[:begin]), str(error) or "nested too deeply") from None
            if value is not None and not isinstance(value, dict):
                raise BrokenRow(at + _size(text[:begin]), f"holds {_KIND_NAMES[_kind(value)]} where an object is expected")
            if _SURROGATE.search(text, begin, position) and not _has_text(value):
                raise BrokenRow(at + _size(text[:begin]), "a string has half of a surrogate pair")
            yield at + _size(text[:begin]), value
            position = _skip_blanks(text, position)
        at += len(line) + 1


def _size(text: str) -> int:
    return len(text.encode())


def _has_text(value: Any) -> bool:
    """Return True if all strings in a value can be written as UTF-8."""
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
        raise ValueError(f"the key {twice!r} is repeated in one object")
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


def mixed_paths(rows: Iterable[dict[str, Any] | None], keys: dict[Path, frozenset[str]] | None = None) -> set[Path]:
    """Return the shortest paths whose values are of several kinds, integers past 64 bits, or objects with different keys.

    Args:
        rows: the objects.
        keys: keys of the objects at some paths, as far as they are known; None if keys may differ.
    """
    kinds: dict[Path, set[str]] = {}
    known = dict(keys or {})
    pending: list[tuple[Path, Any]] = [((), row) for row in rows]
    while pending:
        path, value = pending.pop()
        kind = _kind(value)
        if kind == "null":
            continue
        kinds.setdefault(path, set()).add(kind)
        if kind == "object":
            if keys is not None and path and (not value or known.setdefault(path, frozenset(value)) != value.keys()):
                kinds[path].add("keys")
            pending.extend(((*path, key), inner) for key, inner in value.items())
        elif kind == "list":
            pending.extend(((*path, None), inner) for inner in value)
    return shortest({path for path, found in kinds.items() if path and (len(found) > 1 or "big" in found)})


def keys_of(kind: pa.DataType, path: Path) -> dict[Path, frozenset[str]]:
    """Return the keys of the objects inside a type, by their paths."""
    if pa.types.is_struct(kind):
        inner = {found: keys for field in kind for found, keys in keys_of(field.type, (*path, field.name)).items()}
        return {path: frozenset(field.name for field in kind), **inner}
    return keys_of(kind.value_type, (*path, None)) if pa.types.is_list(kind) else {}


def may_lack_keys(table: pa.Table, lines: bytes) -> bool:
    """Return True if an object below the columns of a table may lack a key of another one.

    A key without a value may have been null or missing.  It was present everywhere if the lines have it as often as
    there are objects that should have it.
    """
    due: dict[str, int] = {}
    open_keys: set[str] = set()
    for column in table.columns:
        for chunk in column.chunks if pa.types.is_nested(column.type) else ():
            if not _count_keys(chunk, due, open_keys):
                return True
    for name in open_keys:
        key = json.dumps(name, ensure_ascii=False).encode()
        times = due[name] + (table.num_rows if name in table.column_names else 0)
        if lines.count(key + b":") != times or b"\\" + key in lines:
            return True
    return False


def _count_keys(array: pa.Array, due: dict[str, int], open_keys: set[str]) -> bool:
    """Count the expected occurrences of each key, and add keys without a value in some object; False for empty objects."""
    if pa.types.is_list(array.type):
        return _count_keys(array.values, due, open_keys)
    if not pa.types.is_struct(array.type):
        return True
    present = len(array) - array.null_count
    if present and not array.type.num_fields:
        return False
    for number, field in enumerate(array.type):
        child = array.field(number)
        due[field.name] = due.get(field.name, 0) + present
        if child.null_count > array.null_count:
            open_keys.add(field.name)
        if not _count_keys(child, due, open_keys):
            return False
    return True


def shortest(paths: set[Path]) -> set[Path]:
    """Return the paths that have no other path as prefix."""
    return {path for path in paths if not any(path[:end] in paths for end in range(len(path)))}


def with_text(rows: Iterable[dict[str, Any] | None], paths: set[Path]) -> bytes:
    """Return the rows as JSON lines, in which the values at `paths` are JSON text."""
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
    """Return the paths inside a type that need their own type."""
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
    """Return a value with text at `paths`: strings unchanged, other values as JSON."""
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
    """Return a column whose text at `paths` is typed as JSON."""
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


def joined(a: pa.DataType, b: pa.DataType, *, same_keys: bool) -> tuple[pa.DataType, bool]:
    """Return the type that holds both, and whether it has to be read from the text: times that become text, and mixed types.

    With `same_keys`, objects of different keys are a mixed type.
    """
    if a == b or pa.types.is_null(b):
        return a, False
    if pa.types.is_null(a):
        return b, False
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        return _joined_structs(a, b, same_keys)
    if pa.types.is_list(a) and pa.types.is_list(b):
        inner, again = joined(a.value_type, b.value_type, same_keys=same_keys)
        return pa.list_(inner), again
    if JSON_TYPE in (a, b):
        return JSON_TYPE, True
    if (pa.types.is_string(a) and pa.types.is_timestamp(b)) or (pa.types.is_timestamp(a) and pa.types.is_string(b)):
        return pa.string(), True
    wider = merge_types(a, b)
    return (JSON_TYPE, True) if wider is None else (wider, False)


def meet_as_floats(a: pa.DataType, b: pa.DataType) -> bool:
    """Return True if one type has integers where the other has floats."""
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        others = {inner.name: inner.type for inner in b}
        return any(inner.name in others and meet_as_floats(inner.type, others[inner.name]) for inner in a)
    if pa.types.is_list(a) and pa.types.is_list(b):
        return meet_as_floats(a.value_type, b.value_type)
    return {a, b} == {pa.int64(), pa.float64()}


def _joined_structs(a: pa.DataType, b: pa.DataType, same_keys: bool) -> tuple[pa.DataType, bool]:
    if same_keys and {inner.name for inner in a} != {inner.name for inner in b}:
        return JSON_TYPE, True
    again = False
    fields = {inner.name: inner.type for inner in a}
    for inner in b:
        if inner.name in fields:
            fields[inner.name], needs_text = joined(fields[inner.name], inner.type, same_keys=same_keys)
            again |= needs_text
        else:
            fields[inner.name] = inner.type
    return pa.struct(list(fields.items())), again
