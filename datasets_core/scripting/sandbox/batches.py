"""Values and rows on the pipe: record batches as Arrow IPC messages, with keys; handles of values that stay in the process.

What comes is hostile.  Nothing that is compressed is taken, so that no buffer is larger than what came; every batch is
validated in full, and has the columns that were announced.
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
import pyarrow as pa

from datasets_core.building.failures import words_of
from datasets_core.building.hooks import holds_once, is_data
from datasets_core.errors import ConfigurationError, DatasetBuildError, DatasetGenerationError
from datasets_core.features.base import plain_array
from datasets_core.scripting.sandbox.denials import shown
from datasets_core.store.fingerprint import Hasher

# Arguments of `_generate_*` on the pipe: plain values as JSON with their types; others stay where they are, under a
# number.


_MOST_SHOWN = 1000
_MAX_DEPTH = 24  # of the forms; the pipe takes 64 levels of JSON
_LONG = 1 << 16  # characters or bytes of a value that stays in the process

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


def encoded(value: Any, hold: Hold, *, own: str = "\0", depth: int = 0) -> Any:
    """Return the form of a value as JSON.

    Args:
        value: the value.
        hold: returns the form of other than plain values.
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
    if kind is dict:
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
        held: returns the value for the form of other than plain values.

    Raises:
        ConfigurationError: not a form.

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
        if tag == "m" and isinstance(inner, list):
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
    text = repr(form)
    shown = text if len(text) <= 100 else f"{text[:100]} …"
    return ConfigurationError(f"{shown} stands for no value that a confined script is given, or gives. Do not trust it.")


def shown_form(value: object) -> dict[str, Any]:
    """Return the text of a value that has no other form.

    >>> shown_form({1})
    {'held': {'shown': '{1}'}}
    """
    return {"held": {"shown": words_of(value)[:_MOST_SHOWN]}}


def refused(value: Any) -> dict[str, Any]:
    """Return the form of nothing: what the user says to a confined script is plain.

    Raises:
        ConfigurationError: always.
    """
    raise ConfigurationError(
        f"{value!r} ({type(value).__name__}) cannot be said to a confined script. Give texts, numbers, lists and dicts of "
        "them, or pass trust_remote_code=True if you trust the script."
    )


def unknown(form: Mapping[str, Any]) -> NoReturn:
    """Raise: the form of a value that is unknown here.

    Raises:
        ConfigurationError: always.
    """
    raise _no_form(form)


class Values:
    """Values that stay in the confined process, in the order in which they occurred."""

    def __init__(self) -> None:
        self._values: list[Any] = []

    def hold(self, value: Any) -> dict[str, Any]:
        """Keep a value, and give its form."""
        self._values.append(value)
        kind = "once" if holds_once(value) else "data" if is_data(value) else "value"
        return {"held": {"number": len(self._values) - 1, "kind": kind, "identity": _identity(value)}}

    def held(self, form: Mapping[str, Any]) -> Any:
        """Return the value of a form that came back."""
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
    """Return the form in which the parent gives a held value back."""
    return {"held": {"number": value.number}} if isinstance(value, RemoteValue) else refused(value)


_MAX_COLUMNS = 100_000
_MOST_ROWS = 1 << 20  # of one batch; processes of ours send some thousand
_MOST_EMPTY = 1 << 24  # values of one batch that take no bytes: what is read of them does
_MOST_CHUNKS = 1000  # of a table that is sent as it is
_MOST_MESSAGES = 1 << 16  # of one payload, and one more for so many bytes
_LEAST_BYTES = 1 << 12
_LEAST_INT, _MOST_INT = -(1 << 63), (1 << 63) - 1
_RECORD_BATCH, _DICTIONARY, _SCHEMA = 3, 2, 1  # members of the union MessageHeader in Arrow's format
_COMPRESSION = 3  # field of a RecordBatch there


class OtherKey:
    """An invalid key, as text.

    Args:
        text: its words.
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
    """Keys as the head and the payload of a message.

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


def whole(data: pa.RecordBatch | pa.Table) -> pa.Buffer:
    """Return a stream of the schema and the rows."""
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
        is_new = self._schema is None or not batch.schema.equals(self._schema, check_metadata=True)
        if not is_new and not _has_dictionaries(batch.schema):
            return {"rows": batch.num_rows}, batch.serialize()
        self._schema = batch.schema
        return {"rows": batch.num_rows, "schema": True}, whole(batch)


def _has_dictionaries(schema: pa.Schema) -> bool:
    return any(map(_is_encoded, schema.types))


def _is_encoded(kind: pa.DataType) -> bool:
    return pa.types.is_dictionary(kind) or any(_is_encoded(kind.field(number).type) for number in range(kind.num_fields))


# -- in the parent -----------------------------------------------------------------------------------------------------


class Receiver:
    """Batches of payloads, checked.

    Args:
        what: whose rows, as the subject of a sentence.
        expected: the schema that every batch has; None if rows decide.
    """

    def __init__(self, what: str, expected: pa.Schema | None = None) -> None:
        self._what, self._expected = what, expected
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
                _validate(batch, payload)
                (column,) = batch
                if column.type not in (pa.int64(), pa.string()) or column.null_count or len(column) > _MOST_ROWS:
                    raise ValueError(column.type)
                found: list[Any] = column.to_pylist()
                return found
            return [decoded(form, _key) for form in head["keys"]]
        except (KeyError, TypeError, ValueError, OverflowError, MemoryError, OSError, SystemError, pa.ArrowException) as error:
            raise self._refused(f"keys that are none ({type(error).__name__})") from error

    def batch(self, head: Mapping[str, Any], payload: Any) -> pa.RecordBatch:
        """Return the next rows.

        Raises:
            DatasetGenerationError: the payload is not a batch, or has other columns than announced.
        """
        try:
            if head.get("schema") is not True and self._schema is not None:
                batch = self._next(payload)
            else:
                batch = self._read(payload)
                self._schema = batch.schema
            if batch.num_rows > _MOST_ROWS:
                raise ValueError(f"{batch.num_rows:,} rows at once")
            _validate(batch, payload)
        except (TypeError, ValueError, MemoryError, OSError, SystemError, pa.ArrowException) as error:
            raise self._refused(f"a damaged batch of rows ({type(error).__name__}: {str(error)[:200]})") from error
        if batch.num_rows != head.get("rows"):
            raise self._refused(f"a batch of {batch.num_rows} rows, which was announced with {head.get('rows')!r}")
        if self._expected is not None and not batch.schema.equals(self._expected):
            raise self._refused("rows of other columns than it announced")
        return batch

    def table(self, payload: Any) -> pa.Table:
        """Return one table.

        Raises:
            DatasetGenerationError: what came is none.
        """
        try:
            table = pa.Table.from_batches(*self._stream(payload))
            _validate(table, payload)
        except (TypeError, ValueError, MemoryError, OSError, SystemError, pa.ArrowException) as error:
            raise self._refused(f"a damaged table ({type(error).__name__}: {str(error)[:200]})") from error
        return table

    def _next(self, payload: Any) -> pa.RecordBatch:
        message = pa.ipc.read_message(_buffer(payload))
        check_message(message)
        if message.type != "record batch":
            raise ValueError(message.type)
        return pa.ipc.read_record_batch(message, self._schema)

    def _read(self, payload: Any) -> pa.RecordBatch:
        """Return the one batch of a stream."""
        (batch,), _ = self._stream(payload)
        return batch

    def _stream(self, payload: Any) -> tuple[list[pa.RecordBatch], pa.Schema]:
        buffer = _buffer(payload)
        schema: pa.Schema | None = None
        for number, message in enumerate(pa.ipc.MessageReader.open_stream(buffer)):
            check_message(message)
            if (message.type == "schema") is not (number == 0):
                raise ValueError("no schema" if schema is None else "two schemas")
            if number > _MOST_MESSAGES + len(buffer) // _LEAST_BYTES:
                raise ValueError(f"more than {number:,} messages in {len(buffer):,} bytes")
            if schema is None:
                schema = _known_schema(pa.ipc.read_schema(message))
        if schema is None:
            raise ValueError("no schema")
        with pa.ipc.open_stream(buffer) as reader:
            return list(reader), schema

    def _refused(self, reason: str) -> DatasetGenerationError:
        return DatasetGenerationError(
            f"{self._what} sent {reason} out of its confined process, and was stopped. Do not trust it."
        )


def _known_schema(schema: pa.Schema) -> pa.Schema:
    if len(schema) > _MAX_COLUMNS:
        raise ValueError(f"{len(schema)} columns")
    if any(map(_is_foreign, schema.types)):
        raise ValueError("an extension type")
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
    """Return True if an extension type is in a type that is none of Arrow's own."""
    if isinstance(kind, pa.BaseExtensionType):
        return not kind.extension_name.startswith("arrow.") or kind.extension_name == "arrow.py_extension_type"
    return any(_is_foreign(kind.field(number).type) for number in range(kind.num_fields))


def _buffer(payload: Any) -> pa.Buffer:
    if payload is None:
        raise ValueError("no rows")
    return payload if isinstance(payload, pa.Buffer) else pa.py_buffer(payload)


def _validate(data: pa.RecordBatch | pa.Table, payload: Any) -> None:
    """Refuse what is not sound: lengths and bounds first, since looking into what has wrong ones may end the process."""
    data.validate()
    check_values([chunk for column in data.columns for chunk in getattr(column, "chunks", [column])], payload)
    data.validate(full=True)


def check_values(arrays: Sequence[pa.Array], payload: Any) -> None:
    """Refuse huge numbers of values that take no bytes in the message, but memory once they are read.

    Raises:
        ValueError: there are such.
    """
    most = max(_MOST_EMPTY, 8 * len(memoryview(payload)))
    pending = list(arrays)
    while pending:
        array = pending.pop()
        if len(array) > most:
            raise ValueError(f"{len(array):,} values in {len(memoryview(payload)):,} bytes")
        if isinstance(array, pa.ExtensionArray):
            pending.append(array.storage)
        elif isinstance(array, pa.DictionaryArray):
            pending.append(array.dictionary)
        elif isinstance(array, (pa.StructArray, pa.UnionArray)):
            pending += [array.field(number) for number in range(array.type.num_fields)]
        elif pa.types.is_list_view(array.type) or pa.types.is_large_list_view(array.type):
            num_values = int(np.asarray(array.sizes).sum(dtype=np.float64))  # all may show the same
            if num_values > most:
                raise ValueError(f"{num_values:,} values in {len(memoryview(payload)):,} bytes")
            pending.append(array.values)
        elif pa.types.is_nested(array.type) or pa.types.is_run_end_encoded(array.type):
            pending.append(array.values)  # a list, a map, or runs


def check_message(message: Any) -> None:
    """Refuse a message whose buffers are compressed: they may become any size.

    Raises:
        ValueError: they are, or the message is of another kind than rows and their schema.
    """
    kind = message.type
    if kind == "schema":
        return
    if kind not in ("record batch", "dictionary"):
        raise ValueError(f"a message of kind {kind!r}")
    metadata = bytes(message.metadata)
    try:
        root = _Table(metadata, _uint(metadata, 0))
        header = root.table(2)
        if kind == "dictionary":
            header = header.table(1)
        compressed = header.offset(_COMPRESSION)
    except struct.error as error:
        raise ValueError("metadata that are none") from error
    if compressed:
        raise ValueError("compressed buffers")


class _Table:
    """A table of flatbuffers: as much of the format as says whether a field is there."""

    def __init__(self, data: bytes, position: int) -> None:
        self._data, self._position = data, position
        (back,) = struct.unpack_from("<i", data, position)
        self._fields = position - back

    def offset(self, field: int) -> int:
        """Return the offset of a field from the begin of the table; 0 if it is missing."""
        if self._fields < 0:
            raise struct.error("before the beginning")
        (size,) = struct.unpack_from("<H", self._data, self._fields)
        place = 4 + 2 * field
        return struct.unpack_from("<H", self._data, self._fields + place)[0] if place + 2 <= size else 0

    def table(self, field: int) -> _Table:
        """Return the table that a field leads to."""
        at = self.offset(field)
        if not at:
            raise struct.error("a field that is missing")
        return _Table(self._data, self._position + at + _uint(self._data, self._position + at))


def _uint(data: bytes, position: int) -> int:
    (value,) = struct.unpack_from("<I", data, position)
    return int(value)
