"""Values and rows on the pipe: record batches as Arrow IPC messages, with keys; handles of values that stay in the process.

All input is untrusted. One rule holds for it: a batch has types of a fixed list, plainly encoded, and each byte is in
one buffer.  Without dictionaries, runs, compression and views that share text, no batch takes more memory or disk than was
sent. The confined process sends its rows that way (`plain`); the parent checks metadata (`check_message`) before Arrow sees it.
"""

from __future__ import annotations

import base64
import os
import pathlib
import struct
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from datasets_core.building.failures import words_of
from datasets_core.building.hooks import holds_once, is_data
from datasets_core.config import check_schema
from datasets_core.errors import ColumnLimitError, ConfigurationError, DatasetBuildError, DatasetGenerationError
from datasets_core.features.arrow import list_array, list_parts, struct_array, validity
from datasets_core.features.base import plain_array
from datasets_core.features.schema import Features, plain_schema
from datasets_core.scripting.sandbox.denials import shown
from datasets_core.store.fingerprint import Hasher

# Arguments of `_generate_*` on the pipe: plain values as JSON with their types; others stay where they are, under a
# number.


_MOST_SHOWN = 1000
_MAX_DEPTH = 24  # of the forms; the pipe takes 64 levels of JSON
_LONG = 1 << 16  # characters or bytes of a value that stays in the process
_MOST_KEYS = 1 << 12  # of a dict, unless all are texts: others may have one hash, and each is compared with all

Hold = Callable[[Any], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class RemoteValue:
    """A value of the author that stays in the sandboxed process.

    Attributes:
        number: identifies it within the process.
        identity: content identity; different each time for a value without one.
    """

    number: int
    identity: str

    def __repr__(self) -> str:
        return f"<value {self.number} of a confined script>"


class RemoteData(RemoteValue):
    """A value from which rows can be read repeatedly."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        _stays()


class RemoteIterator(RemoteData):
    """A value that can be read once: an iterator, or an open file."""

    __slots__ = ()

    def __next__(self) -> Any:
        _stays()


def _stays() -> NoReturn:
    raise DatasetBuildError("This value stays in the confined process of its script. Only that script reads it.")


def encoded(value: Any, hold: Hold, *, own: str | tuple[str, ...] = (), depth: int = 0) -> Any:
    """Return a value in a JSON form.

    Args:
        value: the value.
        hold: returns the form of values that are not plain.
        own: prefix of texts that are not sent: paths in a folder that is removed with the process.
        depth: nesting of the value.

    >>> encoded({"files": ["a", ("b", b"c")]}, refused)
    {'d': {'files': ['a', {'t': ['b', {'b': 'Yw=='}]}]}}
    """
    kind = type(value)
    if value is None or kind is bool or kind is int or kind is float:
        return value
    if kind is str:
        return hold(value) if len(value) > _LONG or value.startswith(own) else value
    if depth > _MAX_DEPTH:
        return hold(value)
    if kind is list:
        if set(map(type, value)) <= {str, int} and not any(
            len(item) > _LONG or item.startswith(own) for item in value if type(item) is str
        ):
            return value
        return [encoded(item, hold, own=own, depth=depth + 1) for item in value]
    if kind is tuple:
        return {"t": [encoded(item, hold, own=own, depth=depth + 1) for item in value]}
    if kind is dict and (len(value) <= _MOST_KEYS or all(type(name) is str for name in value)):
        if all(type(name) is str for name in value):
            return {"d": {name: encoded(item, hold, own=own, depth=depth + 1) for name, item in value.items()}}
        return {"m": [[encoded(each, hold, own=own, depth=depth + 2) for each in pair] for pair in value.items()]}
    if kind is bytes and len(value) <= _LONG:
        return {"b": base64.b64encode(value).decode("ascii")}
    if isinstance(value, pathlib.PurePath) and kind.__module__.partition(".")[0] == "pathlib":
        return hold(value) if os.fspath(value).startswith(own) else {"p": os.fspath(value)}
    return hold(value)


def decoded(form: Any, held: Callable[[Mapping[str, Any]], Any]) -> Any:
    """Return the value of a form.

    Args:
        form: the result of `encoded`; it may be forged.
        held: returns the value for a form of values that are not plain.

    Raises:
        ConfigurationError: an invalid form.

    >>> decoded({"d": {"files": ["a", {"t": ["b", {"b": "Yw=="}]}]}}, unknown)
    {'files': ['a', ('b', b'c')]}
    """
    if isinstance(form, list):
        if set(map(type, form)) <= {str, int}:
            return form
        return [decoded(item, held) for item in form]
    if not isinstance(form, dict):
        return form
    try:
        ((tag, inner),) = form.items()
        if tag == "d" and isinstance(inner, dict):
            return {name: decoded(item, held) for name, item in inner.items()}
        if tag == "t" and isinstance(inner, list):
            return tuple(decoded(item, held) for item in inner)
        if tag == "m" and isinstance(inner, list) and len(inner) <= _MOST_KEYS:
            return {decoded(name, held): decoded(item, held) for name, item in inner}
        if tag == "b" and isinstance(inner, str):
            return base64.b64decode(inner, validate=True)
        if tag == "p" and isinstance(inner, str):
            return pathlib.Path(inner)
        if tag == "held" and isinstance(inner, dict):
            return held(inner)
    except (KeyError, TypeError, ValueError) as error:
        raise _no_form(form) from error
    raise _no_form(form)


def _no_form(form: object) -> ConfigurationError:
    return ConfigurationError(
        f"{shown(repr(form), 100)} is not a value that a confined script may receive or send", advice="Do not trust it"
    )


def shown_form(value: object) -> dict[str, Any]:
    """Return the text of a value that has no other form.

    >>> shown_form({1})
    {'held': {'shown': '{1}'}}
    """
    return {"held": {"shown": words_of(value)[:_MOST_SHOWN]}}


def refused(value: Any) -> dict[str, Any]:
    """Refuse a value: users may only pass plain values to a confined script.

    Raises:
        ConfigurationError: always.
    """
    raise ConfigurationError(
        f"{value!r} ({type(value).__name__}) cannot be passed to a confined script",
        advice="Give texts, numbers, lists and dicts of them, or pass trust_remote_code=True if you trust the script",
    )


def unknown(form: Mapping[str, Any]) -> NoReturn:
    """Refuse a form of a value that is unknown here."""
    raise _no_form(form)


class Values:
    """Values that stay in the confined process, in the order in which they occurred."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def hold(self, value: Any) -> dict[str, Any]:
        """Store a value, and return its form."""
        self._values.append(value)
        kind = "once" if holds_once(value) else "data" if is_data(value) else "value"
        return {"held": {"number": len(self._values) - 1, "kind": kind, "identity": _identity(value)}}

    def held(self, form: Mapping[str, Any]) -> Any:
        """Return the stored value of a form."""
        return self._values[form["number"]]


def _identity(value: Any) -> str | None:
    try:
        return Hasher.hash(value)
    except Exception:  # the author's own class: without an identity nothing is taken over from another build
        return None


_KINDS = {"value": RemoteValue, "data": RemoteData, "once": RemoteIterator}


def remote_value(form: Mapping[str, Any]) -> RemoteValue:
    """Return the parent's handle of a value that stays in the process."""
    kind, number, identity = _KINDS[form["kind"]], form["number"], form["identity"]
    if type(number) is not int or number < 0 or not isinstance(identity, str | None):
        raise ValueError(number)
    return kind(number, os.urandom(16).hex() if identity is None else identity[:64])


def given_back(value: Any) -> dict[str, Any]:
    """Return the form in which the parent sends a held value back."""
    return {"held": {"number": value.number}} if isinstance(value, RemoteValue) else refused(value)


_MOST_ROWS = 1 << 20  # of one batch; processes of ours send some thousand
_MOST_EMPTY, _EMPTY_BYTES = 1 << 22, 8  # values of one batch that take no bytes on the pipe, and some when they are read
_MOST_CHUNKS = 1000  # of a table that is sent as it is
_MOST_MESSAGES = 1 << 16  # of one payload, and one more for so many bytes
_LEAST_BYTES = 1 << 12
_LEAST_INT, _MOST_INT = -(1 << 63), (1 << 63) - 1
_VERSION, _HEADER, _CUSTOM = 0, 2, 4  # fields of a Message in Arrow's format
_BUFFERS, _COMPRESSION = 2, 3  # of a RecordBatch there
_NEWEST = 4  # the version of the metadata, V5; older ones have other rules for compression and unions
_INLINE = 12  # bytes of a text that is in its view itself
# What a value on the pipe may be: these, and lists, structs and maps of them.
_COMPACT = tuple(
    getattr(pa.types, f"is_{name}")
    for name in ("primitive", "null", "decimal", "string", "binary", "large_string", "large_binary", "fixed_size_binary")
)
_LEAVES = (*_COMPACT, pa.types.is_string_view, pa.types.is_binary_view)  # views may show one text many times
_NESTED = tuple(getattr(pa.types, f"is_{name}") for name in ("list", "large_list", "fixed_size_list", "struct", "map"))
# What Arrow raises for metadata that somebody made up: `KeyError` for a type without a class in pyarrow.
_FAULTS = (
    *(KeyError, TypeError, ValueError, IndexError, AttributeError, NotImplementedError, RecursionError, OverflowError),
    *(MemoryError, OSError, SystemError, pa.ArrowException),
)


def is_plain(kind: pa.DataType, leaves: Sequence[Callable[[pa.DataType], bool]] = _LEAVES) -> bool:
    """Return True if the pipe takes values of a type.

    Args:
        kind: the type.
        leaves: tests of types that are not nested.

    >>> is_plain(pa.list_(pa.string())), is_plain(pa.dictionary(pa.int8(), pa.string()))
    (True, False)
    """
    if isinstance(kind, pa.BaseExtensionType):
        return not _is_foreign(kind) and is_plain(kind.storage_type, leaves)
    if _is(kind, _NESTED):
        return all(is_plain(kind.field(number).type, leaves) for number in range(kind.num_fields))
    return _is(kind, leaves)


def _is(kind: pa.DataType, tests: Sequence[Callable[[pa.DataType], bool]]) -> bool:
    return any(test(kind) for test in tests)


class OtherKey:
    """An invalid key, as text.

    Args:
        text: the text.
    """

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return shown(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OtherKey) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


# -- in the confined process -------------------------------------------------------------------------------------------


def keys_form(keys: Sequence[Any]) -> tuple[dict[str, Any], pa.Buffer | None]:
    """Return keys as the head and the payload of a message.

    >>> keys_form([4, 5, 6])[0], keys_form([("a", 1)])[0]
    ({'span': [4, 7]}, {'keys': [{'t': ['a', 1]}]})
    """
    kinds = set(map(type, keys))
    if kinds == {int}:
        if keys[-1] - keys[0] == len(keys) - 1 and list(keys) == list(range(keys[0], keys[-1] + 1)):
            return {"span": [keys[0], keys[-1] + 1]}, None
        if min(keys) >= _LEAST_INT and max(keys) <= _MOST_INT:
            return {"column": True}, _column(plain_array(list(keys), pa.int64()))
    elif kinds == {str}:
        try:
            return {"column": True}, _column(plain_array(list(keys), pa.string()))
        except (UnicodeEncodeError, pa.ArrowInvalid):
            pass  # a text that is not UTF-8 has its own form
    return {"keys": [encoded(_plain_key(key), _other) for key in keys]}, None


def _plain_key(key: Any) -> Any:
    return int(key) if isinstance(key, np.integer) else key


def _other(value: Any) -> dict[str, Any]:
    if isinstance(value, np.integer):
        return {"held": {"int": str(int(value))}}
    if type(value) is not str and isinstance(value, str):
        return {"held": {"text": str.__str__(value)}}
    if type(value) is str or type(value) is bytes:
        return {"held": {"long": value if isinstance(value, str) else value.hex(), "bytes": type(value) is bytes}}
    return shown_form(value)


def _column(array: pa.Array) -> pa.Buffer:
    return whole(pa.record_batch([array], names=["key"]))


def schema_form(schema: pa.Schema) -> str:
    """Return a schema as text."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode("ascii")


def plain(data: pa.RecordBatch | pa.Table) -> pa.RecordBatch | pa.Table:
    """Return rows in the types and encodings of the pipe: dictionaries and runs decoded, list views as lists, views compact.

    Raises:
        ConfigurationError: no feature supports the type of a column.
    """
    if all(is_plain(kind, _COMPACT) for kind in data.schema.types):
        return data
    Features.from_arrow_schema(data.schema)
    columns = [
        pa.chunked_array([_plain(chunk) for chunk in column.chunks or [pa.array([], column.type)]])
        if isinstance(data, pa.Table)
        else _plain(column)
        for column in data.columns
    ]
    fields = [field.with_type(column.type) for field, column in zip(data.schema, columns, strict=True)]
    return type(data).from_arrays(columns, schema=pa.schema(fields, data.schema.metadata))


def _plain(array: pa.Array) -> pa.Array:
    kind = array.type
    if is_plain(kind, _COMPACT):
        return array
    if isinstance(kind, pa.BaseExtensionType):
        storage = _plain(array.storage)
        return pa.ExtensionArray.from_storage(kind, storage) if storage.type == kind.storage_type else storage
    if pa.types.is_dictionary(kind):
        nested = pa.types.is_nested(kind.value_type)  # which cannot be decoded, as views cannot be taken
        return _plain(array.dictionary.take(array.indices) if nested else array.dictionary_decode())
    if pa.types.is_run_end_encoded(kind):
        return _plain(pa.array(array.to_pylist(), kind.value_type))
    if pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
        return array.cast(pa.large_string() if pa.types.is_string_view(kind) else pa.large_binary()).cast(kind)
    valid = validity(array)
    if pa.types.is_struct(kind):
        children = [_plain(child) for child in array.flatten()]
        fields = [kind.field(number).with_type(child.type) for number, child in enumerate(children)]
        return struct_array(pa.struct(fields), len(array), valid, children)
    lengths, valid, child = list_parts(array)
    child = _plain(child)
    field = (pa.field("item", child.type) if pa.types.is_map(kind) else kind.value_field).with_type(child.type)
    if pa.types.is_fixed_size_list(kind):
        return list_array(pa.list_(field, kind.list_size), lengths, valid, child)
    is_large = pa.types.is_large_list(kind) or pa.types.is_large_list_view(kind)
    return list_array(pa.large_list(field) if is_large else pa.list_(field), lengths, valid, child)


def whole(data: pa.RecordBatch | pa.Table) -> pa.Buffer:
    """Return a stream of the schema and the rows."""
    data = plain(data)
    if isinstance(data, pa.Table) and sum(column.num_chunks for column in data.columns) > _MOST_CHUNKS:
        data = data.combine_chunks()  # each would be a message of its own
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, data.schema) as writer:
        writer.write(data)
    return sink.getvalue()


class Sender:
    """Yield batches as payloads; a schema is included when it changes."""

    def __init__(self) -> None:
        self._schema: pa.Schema | None = None

    def payload(self, batch: pa.RecordBatch) -> tuple[dict[str, Any], pa.Buffer]:
        """Return the head and the payload of a batch."""
        batch = plain(batch)
        if self._schema is not None and batch.schema.equals(self._schema, check_metadata=True):
            return {"rows": batch.num_rows}, batch.serialize()
        self._schema = batch.schema
        return {"rows": batch.num_rows, "schema": True}, whole(batch)


# -- in the parent -----------------------------------------------------------------------------------------------------


class Receiver:
    """Batches of payloads, checked.

    Args:
        what: the sender of the rows, as the subject of a sentence.
        expected: the schema of every batch; None if the rows determine it.

    Attributes:
        empty_bytes: bytes of memory of values that took no bytes on the pipe.
    """

    def __init__(self, what: str, expected: pa.Schema | None = None) -> None:
        self._what, self._expected = what, None if expected is None else plain_schema(expected)
        self.empty_bytes = 0
        self._schema: pa.Schema | None = None

    def keys(self, head: Mapping[str, Any], payload: Any) -> Sequence[Any]:
        """Return the keys of the next rows.

        Raises:
            DatasetGenerationError: the payload is not keys.
        """
        try:
            if "span" in head:
                start, stop = head["span"]
                if type(start) is not int or type(stop) is not int or not 0 <= stop - start <= _MOST_ROWS:
                    raise ValueError(head["span"])
                return range(start, stop)
            if "column" in head:
                batch = self._read(payload)
                self._validate(batch, payload)
                (column,) = batch
                if column.type not in (pa.int64(), pa.string()) or column.null_count or len(column) > _MOST_ROWS:
                    raise ValueError(column.type)
                found: list[Any] = column.to_pylist()
                return found
            return [decoded(form, _key) for form in head["keys"]]
        except _FAULTS as error:
            raise self._refused(f"invalid keys ({type(error).__name__})") from error

    def batch(self, head: Mapping[str, Any], payload: Any) -> pa.RecordBatch:
        """Return the next rows.

        Raises:
            DatasetGenerationError: the payload is not a batch, or has different columns than announced.
        """
        try:
            if head.get("schema") is not True and self._schema is not None:
                batch = self._next(payload)
            else:
                batch = self._read(payload)
                self._schema = batch.schema
            if batch.num_rows > _MOST_ROWS:
                raise ValueError(f"{batch.num_rows:,} rows at once")
            self._validate(batch, payload)
        except ColumnLimitError as error:
            raise ColumnLimitError(self._what, error.value, error.limit) from error
        except _FAULTS as error:
            raise self._refused(f"a damaged batch of rows ({type(error).__name__}: {str(error)[:200]})") from error
        if batch.num_rows != head.get("rows"):
            raise self._refused(f"a batch of {batch.num_rows} rows, which was announced with {head.get('rows')!r}")
        if self._expected is not None and not batch.schema.equals(self._expected):
            raise self._refused("rows with different columns than announced")
        return batch

    def table(self, payload: Any) -> pa.Table:
        """Return one table.

        Raises:
            DatasetGenerationError: the payload is not a table.
        """
        try:
            table = pa.Table.from_batches(*self._stream(payload))
            self._validate(table, payload)
        except ColumnLimitError as error:
            raise ColumnLimitError(self._what, error.value, error.limit) from error
        except _FAULTS as error:
            raise self._refused(f"a damaged table ({type(error).__name__}: {str(error)[:200]})") from error
        return table

    def _next(self, payload: Any) -> pa.RecordBatch:
        message = pa.ipc.read_message(_buffer(payload))
        check_message(message)
        return pa.ipc.read_record_batch(message, self._schema)

    def _read(self, payload: Any) -> pa.RecordBatch:
        ((batch,), _) = self._stream(payload)
        return batch

    def _stream(self, payload: Any) -> tuple[list[pa.RecordBatch], pa.Schema]:
        buffer = _buffer(payload)
        schema: pa.Schema | None = None
        for number, message in enumerate(pa.ipc.MessageReader.open_stream(buffer)):
            check_message(message)
            if (message.type == "schema") is not (number == 0):
                raise ValueError("two schemas" if number else "no schema")
            if number > _MOST_MESSAGES + len(buffer) // _LEAST_BYTES:
                raise ValueError(f"more than {number:,} messages in {len(buffer):,} bytes")
            if schema is None:
                schema = _known_schema(message)
        if schema is None:
            raise ValueError("no schema")
        with pa.ipc.open_stream(buffer) as reader:
            return list(reader), schema

    def _validate(self, data: pa.RecordBatch | pa.Table, payload: Any) -> None:
        """Refuse invalid data: lengths first, since reading data with wrong lengths may crash the process."""
        data.validate()
        chunks = [chunk for column in data.columns for chunk in getattr(column, "chunks", [column])]
        self.empty_bytes += _EMPTY_BYTES * check_values(chunks, payload)
        data.validate(full=True)

    def _refused(self, reason: str) -> DatasetGenerationError:
        return DatasetGenerationError(
            f"{self._what} sent {reason} out of its confined process, and was stopped. Do not trust it."
        )


def read_schema(payload: Any) -> pa.Schema:
    """Return a schema that was sent alone.

    Raises:
        ValueError: it is not a schema, or has more columns or other types than rows may have.
    """
    try:
        schema = pa.ipc.read_schema(_buffer(payload))
        check_schema(schema, "The schema")
        for field in schema:
            if str(field) and _is_foreign(field.type):  # all names are text
                raise ValueError(f"an extension type ({field.type.extension_name[:100]!r})")
    except ColumnLimitError:
        raise
    except _FAULTS as error:
        raise ValueError(f"{type(error).__name__}: {str(error)[:200]}") from error
    return schema


def _known_schema(message: Any) -> pa.Schema:
    """Return the schema of rows."""
    schema = read_schema(message.serialize())
    for field in schema:
        if not is_plain(field.type):
            raise ValueError(f"a column of the type {str(field.type)[:100]}")
    return schema


def _key(form: Mapping[str, Any]) -> Any:
    ((kind, inner), *more) = form.items()
    if kind == "int" and isinstance(inner, str) and len(inner) < 4000:
        return int(inner)
    if kind == "text" and isinstance(inner, str):
        return inner
    if kind == "long" and isinstance(inner, str):
        return bytes.fromhex(inner) if more and more[0][1] is True else inner
    if kind == "shown" and isinstance(inner, str):
        return OtherKey(inner)
    return unknown(form)


def _is_foreign(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return not kind.extension_name.startswith("arrow.") or kind.extension_name == "arrow.py_extension_type"
    return any(_is_foreign(kind.field(number).type) for number in range(kind.num_fields))


def _buffer(payload: Any) -> pa.Buffer:
    return payload if isinstance(payload, pa.Buffer) else pa.py_buffer(payload)


def check_values(arrays: Sequence[pa.Array], payload: Any) -> int:
    """Return the number of values that take no bytes in the message, but do when they are read.

    Raises:
        ValueError: there are more than a batch may have, or texts that share bytes.
    """
    most, num_empty = max(_MOST_EMPTY, len(memoryview(payload))), 0
    pending = list(arrays)
    while pending:
        array = pending.pop()
        kind = array.type
        if isinstance(array, pa.ExtensionArray):
            pending.append(array.storage)
        elif pa.types.is_struct(kind) and kind.num_fields:
            pending += [array.field(number) for number in range(kind.num_fields)]
        elif pa.types.is_fixed_size_list(kind) and kind.list_size:
            pending.append(array.values)
        elif _is(kind, _NESTED) and not pa.types.is_struct(kind) and not pa.types.is_fixed_size_list(kind):
            pending.append(array.values)  # a list, or a map
        elif pa.types.is_string_view(kind) or pa.types.is_binary_view(kind):
            _check_views(array)
        elif pa.types.is_null(kind) or _is(kind, _NESTED) or (pa.types.is_fixed_size_binary(kind) and not kind.byte_width):
            num_empty += len(array)
            if num_empty > most:
                raise ValueError(f"{num_empty:,} values in {len(memoryview(payload)):,} bytes")
    return num_empty


def _check_views(array: pa.Array) -> None:
    """Refuse views that show the same text many times."""
    _, views, *texts = array.buffers()
    sizes = np.frombuffer(views or b"", np.int32)[:: 16 // 4][array.offset : array.offset + len(array)]
    num_bytes = int(sizes[sizes > _INLINE].sum(dtype=np.int64))
    if num_bytes > sum(len(text) for text in texts):
        raise ValueError(f"views of {num_bytes:,} bytes in {sum(len(text) for text in texts):,}")


def check_message(message: Any) -> None:
    """Refuse a message whose rows could take different memory than it has.

    Raises:
        ValueError: its buffers are compressed or share bytes, its metadata are of an older version or have notes, or it is of
            a different kind than rows and their schema.
    """
    kind = message.type
    if kind not in ("schema", "record batch"):
        raise ValueError(f"a message of kind {kind!r}")
    metadata = bytes(message.metadata)
    try:
        root = _Table(metadata, _uint(metadata, 0))
        version = root.scalar(_VERSION, "<h")
        if version != _NEWEST or root.offset(_CUSTOM):
            raise ValueError(f"metadata of version {version + 1}" if version != _NEWEST else "metadata with notes")
        if kind == "schema":
            return
        header = root.table(_HEADER)
        if header.offset(_COMPRESSION):
            raise ValueError("compressed buffers")
        _check_buffers(header.structs(_BUFFERS, 2), 0 if message.body is None else len(message.body))
    except struct.error as error:
        raise ValueError("invalid metadata") from error


def _check_buffers(buffers: Any, size: int) -> None:
    """Check that each buffer begins at or after the end of the one before, and that the last one ends within the body."""
    starts, lengths = buffers[:, 0], buffers[:, 1]
    if len(buffers) and (buffers.min() < 0 or buffers.max() > size):
        raise ValueError("buffers outside of their message")
    is_used = lengths > 0
    starts, stops = starts[is_used], (starts + lengths)[is_used]
    if (stops > size).any() or (starts[1:] < stops[:-1]).any():
        raise ValueError("buffers that share bytes")


class _Table:
    """A table of flatbuffers."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position = data, position
        (back,) = struct.unpack_from("<i", data, position)
        self._fields = position - back

    def offset(self, field: int) -> int:
        if self._fields < 0:
            raise struct.error("before the beginning")
        (size,) = struct.unpack_from("<H", self._data, self._fields)
        place = 4 + 2 * field
        return struct.unpack_from("<H", self._data, self._fields + place)[0] if place + 2 <= size else 0

    def scalar(self, field: int, form: str) -> int:
        at = self.offset(field)
        return int(struct.unpack_from(form, self._data, self._position + at)[0]) if at else 0

    def table(self, field: int) -> _Table:
        return _Table(self._data, self._place(field))

    def structs(self, field: int, width: int) -> npt.NDArray[np.int64]:
        """Return a vector of structs of `width` 64-bit integers; empty if it is missing."""
        if not self.offset(field):
            return np.zeros((0, width), np.int64)
        place = self._place(field)
        count = _uint(self._data, place)
        if place + 4 + 8 * width * count > len(self._data):
            raise struct.error("past the end")
        return np.frombuffer(self._data, "<i8", width * count, place + 4).reshape(count, width)

    def _place(self, field: int) -> int:
        at = self.offset(field)
        if not at:
            raise struct.error("a field that is missing")
        return self._position + at + _uint(self._data, self._position + at)


def _uint(data: bytes, position: int) -> int:
    return int(struct.unpack_from("<I", data, position)[0])
