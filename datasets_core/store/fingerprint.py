"""The identity of values and of transforms: a hash that is the same in every process, on every run.

Values are written into a hash by kind, without pickle: numbers, texts and containers by content, sets and what has no order
sorted, functions by code, defaults and what they close over, objects by class and state.  What has no such form gets a
random identity, and a warning says that nothing can be reused.
"""

from __future__ import annotations

import copyreg
import dataclasses
import datetime
import decimal
import enum
import functools
import hashlib
import os
import re
import sys
import types
import uuid
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import UnhashableError

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
        """The hash of one value, in sixteen hexadecimal digits.

        Raises:
            UnhashableError: the value, or something in it, has no lasting identity.
        """
        hasher = cls()
        hasher.update(value)
        return hasher.hexdigest()

    @classmethod
    def hash_bytes(cls, value: bytes | list[bytes]) -> str:
        """The hash of bytes, or of a list of them one after the other."""
        digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
        for part in [value] if isinstance(value, bytes) else value:
            digest.update(part)
        return digest.hexdigest()

    def update(self, value: Any) -> None:
        """Add a value."""
        _Writer(self._digest.update).write(value)

    def hexdigest(self) -> str:
        """The hash of all that was added."""
        return self._digest.hexdigest()


def random_fingerprint() -> str:
    """A fingerprint that no other has."""
    return os.urandom(_DIGEST_BYTES).hex()


def fingerprint(*parts: Any, what: str = "This transform") -> str:
    """The identity that `parts` have together; a random one, and a warning, where a part has none.

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
            stacklevel=2,
        )
        return random_fingerprint()


class _Writer:
    """Writes values into a hash, each as its kind, its length and its content, so that no two forms run together."""

    def __init__(self, sink: Callable[[bytes], object]) -> None:
        self._sink = sink
        self._open: dict[int, int] = {}  # what is being written, by its place: values that contain themselves end here

    def write(self, value: Any) -> None:
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
        except RecursionError as error:
            raise UnhashableError(f"a {_name(type(value))} is nested too deep") from error
        finally:
            del self._open[id(value)]

    def _put(self, kind: str, content: bytes) -> None:
        self._sink(f"{kind}:{len(content)}:".encode())
        self._sink(content)

    def _items(self, kind: str, values: Iterable[Any], count: int) -> None:
        self._sink(f"{kind}[{count}]".encode())
        for value in values:
            self.write(value)

    def _write_container(self, value: Any) -> None:
        kind = type(value)
        if kind in (list, tuple):
            if len(value) > 1 and set(map(type, value)) == {str}:  # names of thousands of files, at once
                self._put(f"{kind.__name__} of str", ",".join(map(str, map(len, value))).encode())
                self._put("str", "".join(value).encode("utf-8", "surrogatepass"))
            else:
                self._items(kind.__name__, value, len(value))
        elif kind is dict:
            self._items("dict", (part for item in value.items() for part in item), 2 * len(value))
        elif kind in (set, frozenset):
            self._put(kind.__name__, b"".join(sorted(_alone(part) for part in value)))
        elif isinstance(value, _FUNCTIONS):
            self._write_function(value)
        elif isinstance(value, type):
            self._write_class(value)
        elif isinstance(value, types.ModuleType):
            self._put("module", value.__name__.encode())
        elif isinstance(value, types.CodeType):
            self._write_code(value)
        elif isinstance(value, (np.ndarray, np.generic, np.dtype)) or _is_of_numpy_random(value):
            self._write_numpy(value)
        elif kind.__module__.partition(".")[0] == "pyarrow":
            self._write_arrow(value)
        else:
            self._write_object(value)

    # -- functions and classes -----------------------------------------------------------------------------------------

    def _write_function(self, value: Any) -> None:
        if isinstance(value, functools.partial):
            self._items("partial", (value.func, value.args, dict(sorted(value.keywords.items()))), 3)
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
        else:  # built in: its name, and the object it is bound to
            owner = getattr(value, "__self__", None)
            self._put("builtin", f"{getattr(value, '__module__', None)}.{value.__qualname__}".encode())
            if owner is not None and not isinstance(owner, types.ModuleType):
                self.write(owner)

    def _write_python_function(self, value: types.FunctionType) -> None:
        """By what it does: code, defaults, what it closes over and the globals that its code names; not by where it stands."""
        if _is_installed(value.__module__) and _found_by_name(value):
            self._put("function", f"{value.__module__}.{value.__qualname__}".encode())
            return
        cells = [_cell(cell) for cell in value.__closure__ or ()]
        used = {name: value.__globals__[name] for name in sorted(_names(value.__code__)) if name in value.__globals__}
        self._items("function", (value.__code__, value.__defaults__, value.__kwdefaults__, cells, used), 5)

    def _write_code(self, value: types.CodeType) -> None:
        # Without file name, line numbers and name: the same lambda in another cell or line is the same.
        counts = (value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags)
        self._items("code", (value.co_code, value.co_consts, value.co_names, value.co_varnames, value.co_freevars, counts), 6)

    def _write_class(self, value: type) -> None:
        self._put("class", f"{value.__module__}.{value.__qualname__}".encode())
        if _is_installed(value.__module__):
            return
        state = {name: part for name, part in sorted(vars(value).items()) if name not in _NOT_STATE}
        self._items("state", (list(value.__bases__), state), 2)

    # -- arrays and tables ---------------------------------------------------------------------------------------------

    def _write_numpy(self, value: Any) -> None:
        if isinstance(value, np.dtype):
            self._put("dtype", repr(value.descr if value.fields else value.str).encode())
        elif isinstance(value, (np.ndarray, np.generic)):
            self._write_array(value)
        elif isinstance(value, np.random.Generator):
            self._items("Generator", (value.bit_generator.state,), 1)
        else:
            self._items("RandomState", (value.get_state(legacy=False),), 1)

    def _write_array(self, value: Any) -> None:
        array = np.asarray(value)
        self.write(array.dtype)
        self._put("shape", repr((type(value).__name__, array.shape)).encode())
        if array.dtype.hasobject:
            self._items("objects", array.ravel().tolist(), array.size)
        else:
            self._put("data", np.ascontiguousarray(array).tobytes())

    def _write_arrow(self, value: Any) -> None:
        if isinstance(value, (pa.Table, pa.RecordBatch)):
            table = value if isinstance(value, pa.Table) else pa.Table.from_batches([value])
            self.write(table.schema)
            for column in table.columns:
                self.write(column)
        elif isinstance(value, (pa.Array, pa.ChunkedArray)):
            self._put("arrow", b"array:" + str(value.type).encode())
            self._put("data", _ipc(value))
        elif isinstance(value, pa.Schema):
            self._put("arrow", b"schema:" + value.serialize().to_pybytes())
        elif isinstance(value, pa.Field):
            self._put("arrow", b"field:" + pa.schema([value]).serialize().to_pybytes())
        elif isinstance(value, pa.DataType):
            self._put("arrow", b"type:" + pa.schema([pa.field("", value)]).serialize().to_pybytes())
        elif isinstance(value, pa.Scalar):
            self.write(pa.array([value.as_py()], value.type))
        elif isinstance(value, pa.Buffer):
            self._put("arrow", b"buffer:" + value.to_pybytes())
        else:
            self._write_object(value)

    # -- anything else -------------------------------------------------------------------------------------------------

    def _write_object(self, value: Any) -> None:
        kind = type(value)
        known = getattr(value, "_fingerprint", None)
        if isinstance(known, str):  # a dataset: it knows how it came about
            self._items("fingerprint", (_name(kind), known), 2)
        elif isinstance(value, enum.Enum):
            self._items("enum", (kind, value.name), 2)
        elif isinstance(value, re.Pattern):
            self._items("pattern", (value.pattern, value.flags), 2)
        elif isinstance(value, os.PathLike):
            self._items("path", (os.fspath(value),), 1)
        elif isinstance(value, types.MappingProxyType):
            self._items("mappingproxy", (dict(value),), 1)
        elif isinstance(value, range):
            self._items("range", (value.start, value.stop, value.step), 3)
        elif isinstance(value, slice):
            self._items("slice", (value.start, value.stop, value.step), 3)
        elif isinstance(value, memoryview):
            self._put("memoryview", value.tobytes())
        elif _is_torch_tensor(value):
            self._items("tensor", (str(value.dtype), value.detach().cpu().contiguous().numpy()), 2)
        elif dataclasses.is_dataclass(value):
            self._write_class(kind)
            fields = dataclasses.fields(value)
            self._items("fields", [getattr(value, item.name) for item in fields], len(fields))
        else:
            self._write_state(value)

    def _write_state(self, value: Any) -> None:
        """By class and by the state that a copy of the object would get (`__reduce_ex__`, which nobody reads back)."""
        kind = type(value)
        if isinstance(value, _NEVER):
            raise UnhashableError(f"a {_name(kind)} is another one in every process")
        try:
            reduced = value.__reduce_ex__(2)
        except Exception as error:
            raise UnhashableError(f"a {_name(kind)} has no state that can be read ({error})") from error
        if isinstance(reduced, str):
            self._put("global", f"{kind.__module__}.{reduced}".encode())
            return
        make, arguments, *rest = reduced
        state, items, pairs = (*rest, None, None, None)[:3]
        self._put("object", _name(kind).encode())
        if make is not _NEWOBJ:
            self.write(make)
        if isinstance(state, dict):
            state = dict(sorted(state.items(), key=lambda item: str(item[0])))  # the order of attributes says nothing
        self.write((list(arguments), state))
        self.write(list(items) if items is not None else None)
        self.write([list(pair) for pair in pairs] if pairs is not None else None)


def _alone(value: Any) -> bytes:
    digest = hashlib.blake2b(digest_size=16)
    _Writer(digest.update).write(value)
    return digest.digest()


def _name(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _is_installed(module: str | None) -> bool:
    """Whether a module is part of Python or an installed package, so that its name says what it does."""
    found = sys.modules.get(module or "")
    path = getattr(found, "__file__", None)
    if found is None or module == "__main__":
        return False
    return path is None or "site-packages" in path or "dist-packages" in path or path.startswith(_STANDARD)


_STANDARD = os.path.dirname(os.__file__)


def _found_by_name(value: types.FunctionType) -> bool:
    found: Any = sys.modules[value.__module__]
    for name in value.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is value


def _cell(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return None  # a name that is not bound yet


def _names(code: types.CodeType) -> set[str]:
    """Every name that the code and the functions within it look up globally."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names


def _ipc(value: Any) -> bytes:
    array = value.combine_chunks() if isinstance(value, pa.ChunkedArray) else value
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    sink = pa.BufferOutputStream()
    schema = pa.schema([pa.field("", value.type)])
    with pa.ipc.new_stream(sink, schema) as writer:
        for chunk in chunks:
            writer.write_batch(pa.RecordBatch.from_arrays([chunk], schema=schema))
    return bytes(sink.getvalue().to_pybytes())


def _is_torch_tensor(value: Any) -> bool:
    kind = type(value)
    return kind.__module__ in ("torch", "torch.nn.parameter") and kind.__name__ in ("Tensor", "Parameter")


def _is_of_numpy_random(value: Any) -> bool:
    random = sys.modules.get("numpy.random")  # 10 ms to import, which numpy puts off too
    return random is not None and isinstance(value, (random.Generator, random.RandomState))


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
    datetime.datetime: lambda value: repr(value).encode(),
    datetime.date: _text,
    datetime.time: lambda value: repr(value).encode(),
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
_NEVER = (types.GeneratorType, types.CoroutineType, types.FrameType, types.TracebackType)
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
    "__doc__",
    "__abstractmethods__",
    "_abc_impl",
}
