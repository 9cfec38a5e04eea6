"""`tf.int64` and its kin: names of types, which are equal to those of numpy."""

from __future__ import annotations

from typing import Any

import numpy as np

_NUMBERS = (
    "bool", "complex128", "complex64", "float16", "float32", "float64", "int16", "int32", "int64", "int8",
    "uint16", "uint32", "uint64", "uint8",
)  # fmt: skip
_OTHERS = {"bfloat16": np.float32, "qint8": np.int8, "quint8": np.uint8, "resource": np.object_, "variant": np.object_}
_TEXT = "string"


class DType(str):
    """The name of a type, as TensorFlow has it; equal to the type of numpy that it stands for.

    >>> DType("int64") == np.int64, DType("int64") == np.dtype("int64"), DType("int64") == "int64"
    (True, True, True)
    >>> DType("string").as_numpy_dtype, DType("float32").is_floating, DType("uint8").max
    (<class 'numpy.object_'>, True, 255)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return str.__eq__(self, other)
        if not isinstance(other, (type, np.dtype)):
            return False
        if self == _TEXT:
            return other in (str, bytes, object, np.str_, np.bytes_, np.object_)
        try:
            return np.dtype(other) == self.as_numpy_dtype
        except TypeError:
            return False

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__

    def __repr__(self) -> str:
        return f"tf.{self.name}"

    @property
    def name(self) -> str:
        """The name, as plain text."""
        return str(self)

    @property
    def as_numpy_dtype(self) -> type:
        """The type of numpy; `numpy.object_` for texts."""
        found: type = np.object_ if self == _TEXT else _OTHERS.get(self.name) or np.dtype(self.name).type
        return found

    @property
    def kind(self) -> str:
        """The letter by which numpy says what kind of values it is."""
        return np.dtype(self.as_numpy_dtype).kind

    @property
    def type(self) -> Any:
        """The type of numpy, under the name that numpy's own types have for it."""
        return self.as_numpy_dtype

    @property
    def base_dtype(self) -> DType:
        """The same."""
        return self

    @property
    def is_bool(self) -> bool:
        """Whether the values are true or false."""
        return self.kind == "b"

    @property
    def is_integer(self) -> bool:
        """Whether the values are integers."""
        return self.kind in "iu"

    @property
    def is_unsigned(self) -> bool:
        """Whether the values are integers of which none is negative."""
        return self.kind == "u"

    @property
    def is_floating(self) -> bool:
        """Whether the values are floating point numbers."""
        return self.kind == "f"

    @property
    def is_complex(self) -> bool:
        """Whether the values are complex numbers."""
        return self.kind == "c"

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether numpy has such a type."""
        return self.name not in _OTHERS

    @property
    def size(self) -> int:
        """Bytes of a value."""
        return int(np.dtype(self.as_numpy_dtype).itemsize)

    @property
    def min(self) -> Any:
        """The least value."""
        return np.iinfo(self.as_numpy_dtype).min if self.is_integer else np.finfo(self.as_numpy_dtype).min

    @property
    def max(self) -> Any:
        """The greatest value."""
        return np.iinfo(self.as_numpy_dtype).max if self.is_integer else np.finfo(self.as_numpy_dtype).max

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least value and the greatest."""
        return self.min, self.max


TYPES = {
    **{name: DType(name) for name in (*_NUMBERS, *_OTHERS, _TEXT)},
    "double": DType("float64"),
    "half": DType("float16"),
}
"""The types by their names in TensorFlow."""


def as_dtype(given: Any) -> DType:
    """The type that is meant by a name, a type of numpy or one of Python.

    >>> as_dtype(np.uint8), as_dtype(str), as_dtype(float)
    (tf.uint8, tf.string, tf.float32)

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(given, DType):
        return given
    if isinstance(given, str) and given in TYPES:
        return TYPES[given]
    if given in (str, bytes, object):
        return TYPES[_TEXT]
    if given in (int, float):
        return TYPES["int32" if given is int else "float32"]  # as TensorFlow has them
    found = np.dtype(given)
    name = _TEXT if found.kind in "USO" else found.name
    if name not in TYPES:
        raise TypeError(f"{given!r} is no type of TensorFlow. Write for example tf.int64 or tf.string.")
    return TYPES[name]


def cast(value: Any, dtype: Any) -> Any:
    """A value of numpy in another type.

    >>> cast([1.5, 2.5], "int32")
    array([1, 2], dtype=int32)
    """
    return np.asarray(value).astype(as_dtype(dtype).as_numpy_dtype)
