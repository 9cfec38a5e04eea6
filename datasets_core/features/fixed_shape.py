"""`Array2D` to `Array5D`: an array of one shape in each row."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar

import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import Feature, Value
from datasets_core.features.dtypes import canonical_name, type_from_name

EXTENSION_NAME = b"ARROW:extension:name"
EXTENSION_VALUE = b"ARROW:extension:metadata"
_PREFIX = "datasets.features.features."


@dataclass(frozen=True, slots=True)
class FixedShape(Feature):
    """An array of a fixed number of dimensions in each row.

    Args:
        shape: the size of each dimension; the first may be None, for any size.
        dtype: the name of the type of the elements.
        id: a name that is kept and never read.
    """

    shape: tuple[int | None, ...]
    dtype: str
    id: str | None = None
    _type: ClassVar[str] = "FixedShape"
    ndim: ClassVar[int] = 0
    needs_encoding: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Iterable):
            raise ConfigurationError(
                f"shape={self.shape!r} is no shape. Pass {self.ndim} sizes, for example {(2,) * self.ndim}."
            )
        shape = tuple(self.shape)
        name = type(self).__name__
        if len(shape) != self.ndim:
            raise ConfigurationError(f"{name} has {self.ndim} dimensions, and shape={shape} has {len(shape)}. Make them agree.")
        if not all(isinstance(size, int) and size >= 0 for size in shape[1:]) or not (
            shape[0] is None or (isinstance(shape[0], int) and shape[0] >= 0)
        ):
            raise ConfigurationError(f"shape={shape} of {name} means nothing. Only the first size may be None.")
        type_from_name(self.dtype)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", canonical_name(self.dtype))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape!r}, dtype={self.dtype!r})"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        arrow_type = type_from_name(self.dtype)
        for _ in range(self.ndim):
            arrow_type = pa.list_(arrow_type)
        return arrow_type

    @property
    def arrow_metadata(self) -> dict[bytes, bytes]:
        # The names under which Hugging Face `datasets` finds its extension types. They are not registered here: a
        # process that imports both libraries could not register one name twice, and the storage is the same.
        """See `Feature.arrow_metadata`."""
        name = f"{_PREFIX}{type(self).__name__}ExtensionType"
        return {EXTENSION_NAME: name.encode(), EXTENSION_VALUE: json.dumps([list(self.shape), self.dtype]).encode()}

    @property
    def element(self) -> Value:
        """The kind of one element."""
        return Value(self.dtype)

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Complain about an array whose shape is another one."""
        if len(shape) != self.ndim or any(size not in (None, found) for size, found in zip(self.shape, shape, strict=True)):
            raise CastError(f"An array of shape {shape} does not fit {self!r}. Reshape it, or change the feature.")


class Array2D(FixedShape):
    """An array of two dimensions in each row.

    >>> Array2D(shape=(None, 3), dtype="float32").arrow_type
    ListType(list<item: list<item: float>>)
    """

    __slots__ = ()
    _type = "Array2D"
    ndim = 2


class Array3D(FixedShape):
    """An array of three dimensions in each row.

    >>> features = Features({"a": Array3D(shape=(2, 2, 3), dtype="float32")})
    >>> Dataset.from_dict({"a": [np.zeros((2, 2, 3))]}, features).with_format("numpy")[0]["a"].shape
    (2, 2, 3)
    """

    __slots__ = ()
    _type = "Array3D"
    ndim = 3


class Array4D(FixedShape):
    """An array of four dimensions in each row.

    >>> features = Features({"a": Array4D(shape=(None, 2, 2, 3), dtype="float32")})
    >>> Dataset.from_dict({"a": [np.zeros((5, 2, 2, 3))]}, features).with_format("numpy")[0]["a"].shape
    (5, 2, 2, 3)
    """

    __slots__ = ()
    _type = "Array4D"
    ndim = 4


class Array5D(FixedShape):
    """An array of five dimensions in each row.

    >>> features = Features({"a": Array5D(shape=(None, 1, 2, 2, 3), dtype="float32")})
    >>> Dataset.from_dict({"a": [np.zeros((7, 1, 2, 2, 3))]}, features).with_format("numpy")[0]["a"].shape
    (7, 1, 2, 2, 3)
    """

    __slots__ = ()
    _type = "Array5D"
    ndim = 5


_BY_EXTENSION: dict[str, type[FixedShape]] = {
    f"{_PREFIX}{kind.__name__}ExtensionType": kind for kind in (Array2D, Array3D, Array4D, Array5D)
}


def from_extension(name: str, serialized: bytes) -> FixedShape | None:
    """The feature behind an extension type that Hugging Face `datasets` wrote, or None for another extension.

    >>> from_extension("datasets.features.features.Array2DExtensionType", b'[[2, 3], "float32"]')
    Array2D(shape=(2, 3), dtype='float32')
    """
    kind = _BY_EXTENSION.get(name)
    if kind is None:
        return None
    shape, dtype = json.loads(serialized)
    return kind(tuple(shape), dtype)
