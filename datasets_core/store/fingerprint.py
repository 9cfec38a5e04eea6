"""`Hasher`: fingerprints of values and of transforms, equal in every process and on every run.

A value without a lasting identity gets a random hash, with a warning that says why results cannot be reused.
"""

from __future__ import annotations

import contextlib
import contextvars
import copyreg
import dataclasses
import datetime
import decimal
import enum
import functools
import hashlib
import os
import pathlib
import re
import sys
import threading
import types
import uuid
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import UnhashableError
from datasets_core.store.code import (
    attribute,
    changed_since,
    foreign_parts,
    imported_sources,
    is_found_by_name,
    is_installed,
    is_of_library,
    module_name,
    reach_of,
    set_by_program,
    source_digest,
    uncompiled,
    unmarked,
    value_at,
)
from datasets_core.store.recorded_names import recorded_function, recorded_module, recorded_name

_MANY = 10_000  # objects; after so many, an object that is met again is not written again, so that dense graphs come to an end
_WRITTEN_IN_PYTHON = 1 << 9  # Py_TPFLAGS_HEAPTYPE: a list that is a dataclass has more than its fields
_MOST_STEPS = 6  # of the way to a value, in a message


class ValueWriter:
    """Writes values into a hash, each as its type, its length and its content, so that different values never collide.

    Args:
        sink: takes the bytes.
        is_strict: True to refuse values without a lasting identity; False writes their type instead.
    """

    def __init__(self, sink: Callable[[bytes], object], *, is_strict: bool = True) -> None:
        self._sink, self._is_strict = sink, is_strict
        self._open: dict[int, int] = {}  # what is being written, by its place: values that contain themselves end here
        self._seen: dict[int, tuple[int, Any]] = {}  # functions, classes and modules: their number, and that they live
        self._objects = 0
        self._way: list[str] = []

    def write(self, value: Any) -> None:
        """Add a value.

        Raises:
            UnhashableError: the value, or something in it, has no lasting identity; the message gives the path to it.
        """
        scalar = _SCALARS.get(type(value))
        if scalar is not None:
            self._put(type(value).__name__, scalar(value))
            return
        place = self._open.get(id(value))
        if place is not None:
            self._put("again", str(place).encode())
            return
        self._open[id(value)] = len(self._open)
        try:
            self._write_container(value)
        except Exception as error:  # an error of a strange value while it is read is no failure of the user's program
            if not self._is_strict:
                self._put("unhashable", _name(type(value)).encode())
            elif isinstance(error, UnhashableError):
                raise
            elif isinstance(error, RecursionError):
                raise self._unhashable(f"a {_name(type(value))} is nested too deeply") from error
            else:
                raise self._unhashable(f"a {_name(type(value))} cannot be read ({error})") from error
        finally:
            del self._open[id(value)]

    def _put(self, kind: str, content: bytes) -> None:
        self._sink(f"{kind}:{len(content)}:".encode())
        self._sink(content)

    def _items(self, kind: str, values: Iterable[Any], count: int) -> None:
        self._sink(f"{kind}[{count}]".encode())
        for value in values:
            self.write(value)

    def _named(self, kind: str, values: Mapping[str, Any], step: str) -> None:
        """Write values by name, in order; `step` says what a name is, for messages."""
        self._sink(f"{kind}[{len(values)}]".encode())
        for name, value in values.items():
            self._put("name", name.encode("utf-8", "surrogatepass"))
            with self._on_the_way(step.format(name)):
                self.write(value)

    @contextlib.contextmanager
    def _on_the_way(self, step: str) -> Iterator[None]:
        self._way.append(step)
        try:
            yield
        finally:
            self._way.pop()

    def _unhashable(self, what: str) -> UnhashableError:
        steps = self._way if len(self._way) <= _MOST_STEPS else [*self._way[: _MOST_STEPS - 1], "…", self._way[-1]]
        return UnhashableError(f"{what}, reached by {', '.join(steps)}" if steps else what)

    def _alone(self, value: Any) -> bytes:
        digest = hashlib.blake2b(digest_size=16)
        writer = ValueWriter(digest.update, is_strict=self._is_strict)
        writer._way = self._way
        writer._open = dict(self._open)  # a set in what it contains
        writer.write(value)
        return digest.digest()

    def _is_known(self, value: Any) -> bool:
        """Return True if a function, class or module was written before: then its number is written instead."""
        if (known := self._seen.get(id(value))) is not None:
            self._put("known", str(known[0]).encode())
            return True
        self._seen[id(value)] = len(self._seen), value
        return False

    def _write_container(self, value: Any) -> None:
        kind = type(value := uncompiled(value) if "torch._dynamo" in sys.modules else value)
        if kind in (list, tuple):
            if len(value) > 1 and set(map(type, value)) == {str}:  # names of thousands of files, at once
                self._put(f"{kind.__name__} of str", ",".join(map(str, map(len, value))).encode())
                self._put("str", "".join(value).encode("utf-8", "surrogatepass"))
            else:
                self._items(kind.__name__, value, len(value))
        elif kind is dict:
            self._write_dict(value)
        elif isinstance(value, (set, frozenset)):
            self._put(kind.__name__, b"".join(sorted(self._alone(part) for part in value)))
            if kind not in (set, frozenset):
                self._items("set", (kind, getattr(value, "__dict__", None)), 2)
        elif isinstance(value, _FUNCTIONS):
            self._write_function(value)
        elif isinstance(value, type):
            self._write_class(value)
        elif isinstance(value, types.ModuleType):
            self._write_module(value)
        elif isinstance(value, types.CodeType):
            self._write_code(value)
        elif isinstance(value, (np.ndarray, np.generic, np.dtype)) or _is_of_numpy_random(value):
            self._write_numpy(value)
        elif kind.__module__.partition(".")[0] == "pyarrow":
            self._write_arrow(value)
        else:
            self._write_object(value)

    def _write_dict(self, value: dict[Any, Any]) -> None:
        self._sink(f"dict[{2 * len(value)}]".encode())
        for key, inner in value.items():
            self.write(key)
            if type(inner) in _SCALARS:
                self.write(inner)
            else:
                with self._on_the_way(f"key {_short(key)}"):
                    self.write(inner)

    # -- functions and classes -----------------------------------------------------------------------------------------

    def _write_function(self, value: Any) -> None:
        if isinstance(value, functools.partial):
            self._items("partial", (type(value), value.func, value.args, value.keywords, vars(value)), 5)
        elif isinstance(value, types.MethodType):
            self._items("method", (value.__func__, value.__self__), 2)
        elif isinstance(value, types.FunctionType):
            self._write_python_function(value)
        elif isinstance(value, property):
            self._items("property", (value.fget, value.fset, value.fdel), 3)
        elif isinstance(value, functools.cached_property):
            self._items("cached_property", (value.func,), 1)
        elif isinstance(value, functools._lru_cache_wrapper):
            self._items("cached", (value.__wrapped__,), 1)
        elif isinstance(value, (staticmethod, classmethod)):
            self._items(type(value).__name__, (value.__func__,), 1)
        elif isinstance(value, np.ufunc) and not _is_named_ufunc(value):
            raise self._unhashable(f"the ufunc {value.__name__!r} does not expose the function that it calls")
        else:  # built in: its name, and the object it is bound to
            owner = getattr(value, "__self__", None)
            self._put("builtin", f"{getattr(value, '__module__', None)}.{_qualified(value)}".encode())
            if owner is not None and not isinstance(owner, types.ModuleType):
                with self._on_the_way(f"the method {_qualified(value)!r}"):
                    self.write(owner)

    def _write_python_function(self, value: types.FunctionType) -> None:
        """Write a function by its code, defaults, closure and the globals that it reads; not by its file and line."""
        if self._is_known(value):
            return
        home: Any = value.__globals__.get("__name__")
        is_of_package = is_installed(home) and value.__globals__ is getattr(sys.modules.get(home), "__dict__", None)
        place = str(value.__module__) if is_of_library(str(home)) else home  # declared functions have globals of `_lazy`
        if is_of_package and is_found_by_name(value, place):
            self._sink(recorded_function(place, value.__qualname__))
            return
        name = value.__qualname__
        if home == "functools" and hasattr(value, "registry"):  # of singledispatch, whose caches change
            self._items("dispatch", sorted(value.registry.items(), key=lambda item: _recorded(item[0])), len(value.registry))
            return
        self._sink(b"function[7]")
        self._write_code(value.__code__)
        self._named(
            "defaults", {str(k): v for k, v in enumerate(value.__defaults__ or ())}, f"default {{}} of function {name!r}"
        )
        self._named("defaults", value.__kwdefaults__ or {}, f"default {{!r}} of function {name!r}")
        cells = dict(zip(value.__code__.co_freevars, map(_cell, value.__closure__ or ()), strict=True))
        self._named("cells", cells, f"variable {{!r}} of function {name!r}")
        self._named("annotations", _annotations(value), f"annotation {{!r}} of function {name!r}")
        self._named("attributes", dict(sorted(vars(value).items())), f"attribute {{!r}} of function {name!r}")
        if is_of_package:
            defined = value.__code__.co_qualname  # of a wrapped function, `__qualname__` names what it wraps
            self._put("of", recorded_module(str(home), defined).encode())  # what it reads there is known by that name
        else:
            self._write_reach(value)

    def _write_reach(self, value: types.FunctionType) -> None:
        """Write the globals that a function names, and the attributes that it reads from the user's own modules."""
        names = value.__globals__
        reach = reach_of(value.__code__)
        paths = reach.paths | {(word,) for word in reach.words}
        step = f"global {{!r}} of function {value.__qualname__!r}"
        used: dict[str, Any] = {}
        for path in sorted(paths):
            if path[0] in names:
                found, rest = names[path[0]], list(path[1:])
                label = path[0]
                while rest and isinstance(found, types.ModuleType) and not is_installed(found):
                    label = f"{label}.{rest[0]}"
                    is_there, found = attribute(found, rest.pop(0))
                    if not is_there:
                        found = _Missing
                        break
                used[label] = found
        self._named("globals", {name: found for name, found in used.items() if found is not _Missing}, step)
        if not self._is_strict:  # compared between processes, which may hold other values there
            self._named("set", {f"{home}.{name}": value_at(home, name) for home, name in set_by_program(value)}, step)
        if reach.is_open:
            raise self._unhashable(f"function {value.__qualname__!r} imports a module whose name is only known at run time")
        if reach.imports:
            self._write_imports(value, reach.imports)

    def _write_imports(self, value: types.FunctionType, imports: set[tuple[int, str]]) -> None:
        """Write the user's files that imports read, and the module attributes that differ from these files."""
        for name, place in imported_sources(imports, value.__globals__.get("__package__")).items():
            with self._on_the_way(f"import of {name!r} in function {value.__qualname__!r}"):
                if not isinstance(place, str):
                    self.write(place)
                    continue
                self._put("import", name.encode())
                self._put("source", source_digest(place))
                module = sys.modules.get(name)
                changed = changed_since(module, place) if module is not None and place.endswith(".py") else {}
                if changed:
                    self._named("changed", changed, f"{{!r}} of module {name!r}")

    def _write_code(self, value: types.CodeType, *, is_inner: bool = False) -> None:
        # Without file, lines and the outermost name: the same lambda in another notebook cell has the same hash.
        counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        tables = (getattr(value, "co_exceptiontable", b""), value.co_cellvars, value.co_name if is_inner else "")
        self._items("code", (value.co_code, value.co_names, value.co_varnames, value.co_freevars, counts, tables), 6)
        self._sink(f"constants[{len(value.co_consts)}]".encode())
        for constant in value.co_consts:
            if isinstance(constant, types.CodeType):
                self._write_code(constant, is_inner=True)
            else:
                self.write(constant)

    def _write_class(self, value: type) -> None:
        self._put("class", _recorded(value).encode())
        if is_installed(value.__module__) and is_found_by_name(value, value.__module__):
            return
        if self._is_known(value):
            return
        left_out = _NOT_STATE if self._is_strict else _NOT_STATE | {"__slotnames__"}  # set when an object of it is pickled
        own = {name: part for name, part in sorted(vars(value).items()) if name not in left_out}
        self._items("bases", (list(value.__bases__), type(value)), 2)
        self._named("annotations", _annotations(value), f"annotation {{!r}} of class {value.__qualname__!r}")
        self._named("state", own, f"{{!r}} of class {value.__qualname__!r}")

    def _write_module(self, value: types.ModuleType) -> None:
        """Write a module by its name; a module of the user also by its content: any attribute may be looked up."""
        self._put("module", module_name(value.__name__).encode())
        if is_installed(value) or self._is_known(value):
            return
        path = getattr(value, "__file__", None)
        if path is not None:
            self._put("source", source_digest(path))
        for name, part in sorted(vars(value).items()):
            if name.startswith("__"):
                continue
            is_defined = isinstance(part, (type, *_FUNCTIONS))
            home = sys.modules.get(getattr(part, "__module__", None) or "") if is_defined else part
            if isinstance(home, types.ModuleType):
                if is_defined and is_of_library(home.__name__):
                    self._put("module", recorded_module(home.__name__, _qualified(part)).encode())
                elif home is not value or path is not None:
                    self._write_module(home)
                else:
                    self.write(part)
            elif path is None:
                with self._on_the_way(f"{name!r} of module {value.__name__!r}"):
                    self._put("name", name.encode())
                    self.write(part)
            else:
                with contextlib.suppress(UnhashableError):  # it is as the source made it
                    self._put(name, self._alone(part))

    # -- arrays and tables ---------------------------------------------------------------------------------------------

    def _write_numpy(self, value: Any) -> None:
        if isinstance(value, np.dtype):
            self._write_dtype(value)
        elif isinstance(value, (np.ndarray, np.generic)):
            self._write_array(value)
        elif isinstance(value, np.random.Generator):
            self._items("Generator", (value.bit_generator.state,), 1)
        elif isinstance(value, np.random.BitGenerator):
            self._items("BitGenerator", (value.state,), 1)
        else:
            self._items("RandomState", (value.get_state(legacy=False),), 1)

    def _write_dtype(self, value: Any) -> None:
        """Write a dtype by its name and size, not by `str` alone: numpy sees all types of other libraries as raw bytes."""
        self._put(
            "dtype",
            f"{value.type.__module__}.{value.type.__name__} {value.str} {value.itemsize} {value.isalignedstruct}".encode(),
        )
        if value.subdtype is not None:
            self._items("of", value.subdtype, 2)
        elif value.fields:
            self._items("fields", [(name, *value.fields[name]) for name in value.names], len(value.names))
        else:
            self._put("repr", repr(value).encode())
        if value.metadata:
            self._items("metadata", (dict(value.metadata),), 1)

    def _write_array(self, value: Any) -> None:
        array = np.asarray(value)
        self.write(array.dtype)
        self._put("shape", repr((type(value).__name__, array.shape)).encode())
        if array.dtype.hasobject:
            self._items("objects", array.ravel().tolist(), array.size)
        else:
            self._put("data", np.ascontiguousarray(array).tobytes())
        if isinstance(value, np.ma.MaskedArray):
            self._items("masked", (np.ma.getmaskarray(value), value.fill_value), 2)
        elif isinstance(value, np.ndarray) and type(value) not in (np.ndarray, np.memmap):
            self._items("subclass", (type(value), getattr(value, "__dict__", None)), 2)

    def _write_arrow(self, value: Any) -> None:
        if isinstance(value, (pa.Table, pa.RecordBatch)):
            table = value if isinstance(value, pa.Table) else pa.Table.from_batches([value])
            self.write(table.schema)
            for column in table.columns:
                self.write(column)
        elif isinstance(value, (pa.Array, pa.ChunkedArray)):
            self._put("arrow", b"array:" + str(value.type).encode())
            self._put("data", _ipc(value))
        elif isinstance(value, (pa.Schema, pa.Field, pa.DataType)):
            kind = b"schema:" if isinstance(value, pa.Schema) else b"field:" if isinstance(value, pa.Field) else b"type:"
            fields = value if isinstance(value, (pa.Schema, pa.Field)) else pa.field("", value)
            self._put("arrow", kind + (pa.schema([fields]) if kind != b"schema:" else fields).serialize().to_pybytes())
        elif isinstance(value, pa.Scalar):
            self.write(pa.array([value.as_py()], value.type))
        elif isinstance(value, pa.Buffer):
            self._put("arrow", b"buffer:" + value.to_pybytes())
        elif type(value).__name__ == "Expression":  # its literals, and its calls in the metadata of their schema
            self._items("expression", [pa.ipc.open_file(value.__reduce__()[1][0]).get_batch(0)], 1)
        else:
            self._write_object(value)

    # -- anything else -------------------------------------------------------------------------------------------------

    def _write_object(self, value: Any) -> None:
        kind = type(value)
        self._objects += 1
        if self._objects > _MANY and self._is_known(value):
            return
        if isinstance(value, enum.Enum):
            own = {} if is_installed(kind.__module__) else {name: each for name, each in vars(value).items() if name[-1] != "_"}
            self._items("enum", (kind, value.name, value.value, *([own] if own else [])), 4 if own else 3)
        elif isinstance(value, re.Pattern):
            self._items("pattern", (value.pattern, value.flags), 2)
        elif kind.__name__ == "Pattern" and kind.__module__ in ("_regex", "regex._regex"):  # of the package regex
            self._items("regex", (value.pattern, value.flags, value.named_lists), 3)
        elif isinstance(value, pathlib.PurePath):
            self._items("path", (kind, os.fspath(value), getattr(value, "__dict__", None)), 3)
        elif isinstance(value, contextvars.ContextVar):
            self._items("contextvar", (value.name, [value.get()] if value.get(_Missing) is not _Missing else []), 2)
        elif kind is threading.local and not self._is_strict:
            self._write_dict(vars(value))
        elif isinstance(value, types.UnionType):
            self._items("union", value.__args__, len(value.__args__))
        elif isinstance(value, types.MappingProxyType):
            self._items("mappingproxy", (dict(value),), 1)
        elif isinstance(value, range | slice):
            self._items(kind.__name__, (value.start, value.stop, value.step), 3)
        elif isinstance(value, memoryview):
            self._put("memoryview", value.tobytes())
        elif isinstance(value, (datetime.datetime, datetime.time)) and kind.__module__ == "datetime":
            self._items(kind.__name__, (repr(value.replace(tzinfo=None)), value.tzinfo), 2)
        elif (parts := foreign_parts(value)) is not None:
            self._items(_recorded(kind), (kind, *parts), 1 + len(parts))
        elif dataclasses.is_dataclass(value) and all(base.__flags__ & _WRITTEN_IN_PYTHON for base in kind.__mro__[:-1]):
            self._write_dataclass(value)
        else:
            self._write_state(value)

    def _write_dataclass(self, value: Any) -> None:
        self._write_class(type(value))
        names = [item.name for item in dataclasses.fields(value) if item.metadata.get("is_hashed", True)]
        more = sorted(set(getattr(value, "__dict__", ())) - {item.name for item in dataclasses.fields(value)})
        self._named(
            "fields",
            {name: getattr(value, name, None) for name in [*names, *more]},
            f"attribute {{!r}} of a {_name(type(value))}",
        )

    def _write_state(self, value: Any) -> None:
        """Write a value by its class and by the state that a copy would get (`__reduce_ex__`, which is never loaded)."""
        kind = type(value)
        if isinstance(value, _NEVER):
            raise self._unhashable(f"a {_name(kind)} differs in every process")
        try:
            reduced = value.__reduce_ex__(2)
        except Exception as error:
            raise self._unhashable(f"a {_name(kind)} has no readable state ({error})") from error
        if isinstance(reduced, str):
            self._put("global", recorded_name(kind.__module__, reduced).encode())
            if not is_installed(kind.__module__):
                slots = [name for base in kind.__mro__ for name in _slots(base)]
                self._write_class(kind)
                self._named(
                    "state", {name: getattr(value, name, None) for name in slots}, f"attribute {{!r}} of a {_name(kind)}"
                )
                self.write(getattr(value, "__dict__", None))
            return
        make, arguments, state, items, pairs = (*reduced, None, None, None)[:5]
        state = unmarked(state)
        self._put("object", _recorded(kind).encode())
        if make is not _NEWOBJ:
            self.write(make)
        step = f"attribute {{!r}} of a {_name(kind)}"
        self.write(list(arguments or ()))
        if isinstance(state, dict) and all(isinstance(name, str) for name in state):
            self._named("attributes", dict(sorted(state.items())), step)  # their order says nothing
        elif isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):  # of a class with slots
            held, slots = state
            self._named("attributes", dict(sorted((held or {}).items())), step)
            self._named("slots", dict(sorted(slots.items())), step)
        else:
            self.write(state)
        self.write(list(items) if items is not None else None)
        self.write([list(pair) for pair in pairs] if pairs is not None else None)


def _slots(kind: type) -> Iterable[str]:
    return sorted(name for name, part in vars(kind).items() if isinstance(part, types.MemberDescriptorType))


def _annotations(value: Any) -> dict[str, Any]:
    try:
        found = value.__annotations__
        return dict(found) if isinstance(found, dict) else {}
    except (AttributeError, NameError):  # none, or (from Python 3.14 on) of names that only type checkers see
        return {}


def _name(kind: type) -> str:
    return f"{module_name(kind.__module__)}.{kind.__qualname__}"


def _recorded(kind: type) -> str:
    return recorded_name(module_name(kind.__module__), kind.__qualname__)


def _short(key: Any) -> str:
    text = repr(key) if isinstance(key, (str, int, float, bool)) else f"of type {type(key).__name__}"
    return text if len(text) <= 40 else f"{text[:37]}…"


class _Missing:
    """Placeholder for an attribute that a module does not have."""


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # a name that is not bound yet


def _ipc(value: Any) -> bytes:
    """Write Arrow data in one form, regardless of its chunks."""
    try:
        array = _whole(value)
    except (pa.ArrowInvalid, pa.ArrowCapacityError):  # more bytes than the offsets of one array reach: two halves of the rows
        if len(value) < 2:
            raise
        half = len(value) // 2
        return b"".join(hashlib.blake2b(_ipc(part)).digest() for part in (value.slice(0, half), value.slice(half)))
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    sink = pa.BufferOutputStream()
    schema = pa.schema([pa.field("", value.type)])
    with pa.ipc.new_stream(sink, schema) as writer:
        for chunk in chunks:
            writer.write_batch(pa.RecordBatch.from_arrays([chunk], schema=schema))
    return bytes(sink.getvalue().to_pybytes())


def _whole(value: Any) -> Any:
    return value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value


def _is_of_numpy_random(value: Any) -> bool:
    random = sys.modules.get("numpy.random")  # 10 ms to import, which numpy puts off too
    return random is not None and isinstance(value, (random.Generator, random.RandomState, random.BitGenerator))


def _is_named_ufunc(value: np.ufunc) -> bool:
    """Return True if numpy has a ufunc of this name; results of `np.frompyfunc` are not found by name."""
    homes = (np, sys.modules.get("scipy.special"))
    return any(getattr(home, value.__name__, None) is value for home in homes)


def _qualified(value: Any) -> str:
    return str(getattr(value, "__qualname__", None) or value.__name__)


def _text(value: Any) -> bytes:
    return str(value).encode("utf-8", "surrogatepass")


_SCALARS: Mapping[type, Callable[[Any], bytes]] = {
    type(None): _text,
    type(Ellipsis): _text,
    type(NotImplemented): _text,
    bool: _text,
    int: lambda value: hex(value).encode(),
    float: lambda value: value.hex().encode(),
    complex: lambda value: f"{value.real.hex()},{value.imag.hex()}".encode(),
    str: lambda value: value.encode("utf-8", "surrogatepass"),
    bytes: bytes,
    bytearray: bytes,
    decimal.Decimal: lambda value: repr(value.as_tuple()).encode(),
    datetime.date: _text,
    datetime.timedelta: lambda value: f"{value.days},{value.seconds},{value.microseconds}".encode(),
    uuid.UUID: lambda value: value.bytes,
}
_FUNCTIONS = (
    functools.partial,
    types.MethodType,
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodWrapperType,
    types.WrapperDescriptorType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.MemberDescriptorType,
    types.GetSetDescriptorType,
    functools.cached_property,
    functools._lru_cache_wrapper,
    property,
    staticmethod,
    classmethod,
    np.ufunc,
)
_NEWOBJ: Any = vars(copyreg)["__newobj__"]
_NEVER = (
    types.GeneratorType,
    types.CoroutineType,
    types.AsyncGeneratorType,
    types.FrameType,
    types.TracebackType,
    weakref.ReferenceType,
)
_NOT_STATE = {
    "__dict__",
    "__weakref__",
    "__module__",
    "__qualname__",
    "__firstlineno__",
    "__static_attributes__",
    "__annotations__",
    "__annotate__",
    "__annotate_func__",
    "__annotations_cache__",
    "__abstractmethods__",
    "_abc_impl",
    "__signature__",
    "__pydantic_core_schema__",  # these follow from fields and methods
    "__pydantic_parent_namespace__",
    "__pydantic_serializer__",
    "__pydantic_setattr_handlers__",
    "__pydantic_validator__",
}


_DIGEST_BYTES = 8  # sixteen digits, as other tools' cache names have


class Hasher:
    """Hashes Python values.

    >>> Hasher.hash({"b", "a"}) == Hasher.hash({"a", "b"})
    True
    >>> Hasher.hash(lambda row: row) == Hasher.hash(lambda row: row)
    True
    """

    def __init__(self) -> None:
        self._digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)

    @classmethod
    def hash(cls, value: Any) -> str:
        """Return the hash of `value`, 16 hexadecimal digits.

        Raises:
            UnhashableError: the value, or something in it, cannot be identified across processes.
        """
        (hasher := cls()).update(value)
        return hasher.hexdigest()

    @classmethod
    def hash_what_can_be(cls, value: Any) -> str:
        """Return the hash of `value`; parts that cannot be identified across processes are replaced by their type."""
        hasher = cls()
        ValueWriter(hasher._digest.update, is_strict=False).write(value)
        return hasher.hexdigest()

    @classmethod
    def hash_bytes(cls, value: bytes | list[bytes]) -> str:
        """Return the hash of the bytes `value`, or of a list of bytes joined."""
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        for part in [value] if isinstance(value, bytes) else value:
            digest.update(part)
        return digest.hexdigest()

    def update(self, value: Any) -> None:
        """Add `value`, any Python value."""
        ValueWriter(self._digest.update).write(value)

    def hexdigest(self) -> str:
        """Return the hash of all added values, 16 hexadecimal digits."""
        return self._digest.hexdigest()


def random_fingerprint() -> str:
    """Return a new random fingerprint."""
    return os.urandom(_DIGEST_BYTES).hex()


def fingerprint(*parts: Any, what: str = "This transform") -> str:
    """Return the identity of all `parts` together; if a part has none, warn and return a random one.

    Args:
        parts: for a transform: the fingerprint before it, its name, its arguments.
        what: the subject of the warning.
    """
    try:
        return Hasher.hash(parts)
    except UnhashableError as error:
        warnings.warn(
            f"{what} cannot be reused in another run: {error}. "
            "Pass new_fingerprint=, or use functions and values whose content can be hashed.",
            stacklevel=_users_level(),
        )
        return random_fingerprint()


def _users_level() -> int:
    """Return the number of calls between the caller and the first line outside of this library."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and is_of_library(str(frame.f_globals.get("__name__"))):
        frame, level = frame.f_back, level + 1
    return level
