"""Item handlers, which make items from the values of keys: tensors, lookup tables, sparse values."""

from __future__ import annotations

import math
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ItemError
from datasets_core.records.specs.values import RaggedValue, SparseValue

# `LookupTable`: maps values to values, such as names to numbers.


class LookupTable:
    """A table that maps values to values, for `LookupTensor`.

    Args:
        vocabulary: a dict of values, or a list of values, which are mapped to their indices. Strings are encoded as UTF-8.
        default_value: result for all other values; None raises an error for them.

    Example:
        >>> table = LookupTable(["wren", "owl"])
        >>> table.lookup(np.array([b"owl", b"rook"], dtype=object)).tolist()
        [1, -1]
        >>> LookupTable({0: "wren", 1: "owl"}, default_value="?").lookup(np.array([1, 7])).tolist()
        [b'owl', b'?']
    """

    def __init__(self, vocabulary: Mapping[Any, Any] | Iterable[Any], default_value: Any = -1) -> None:
        if isinstance(vocabulary, str | bytes):
            raise ArgumentTypeError(
                f"{vocabulary!r} is not a vocabulary", advice="Pass a dict, or a list of values", value=vocabulary
            )
        pairs = vocabulary.items() if isinstance(vocabulary, Mapping) else ((word, k) for k, word in enumerate(vocabulary))
        self._known = {_plain(word): _plain(number) for word, number in pairs}
        self._factory = getattr(vocabulary, "default_factory", None)
        self.default_value = _plain(default_value)
        kinds = [*self._known.values(), *([] if default_value is None else [self.default_value])]
        self._dtype: Any = object if any(isinstance(kind, bytes) for kind in kinds) else np.asarray(kinds).dtype

    @classmethod
    def of(cls, table: Any) -> Any:
        """Return a table from a `LookupTable`, an object with `lookup`, or a dict; values missing in a dict are an error.

        A static hash table of TensorFlow is copied, since it only accepts tensors.

        Args:
            table: a `LookupTable`, an object with `lookup`, or a dict.

        Raises:
            ArgumentTypeError: the argument is not a table, or is an unsupported table of TensorFlow.
        """
        if hasattr(getattr(table, "key_dtype", None), "base_dtype"):
            return cls._copied(table)
        if hasattr(table, "lookup"):
            return table
        if isinstance(table, Mapping):
            return cls(table, default_value=None)
        raise ArgumentTypeError(
            f"table={table!r} is not a table", advice="Pass slim.LookupTable({…}, default_value=-1), or a dict", value=table
        )

    @classmethod
    def _copied(cls, table: Any) -> Any:
        """Return a copy of a table of TensorFlow as a `LookupTable`."""
        parts = [*table.export(), table.default_value] if hasattr(table, "export") and hasattr(table, "default_value") else []
        if not parts or not all(hasattr(part, "numpy") for part in parts):
            raise ArgumentTypeError(
                f"table={table!r} is a TensorFlow table whose content cannot be exported",
                advice="Pass slim.LookupTable({…}, default_value=-1), or a dict",
                value=table,
            )
        keys, values, default = (np.asarray(part.numpy()) for part in parts)
        made = cls(dict(zip(keys.tolist(), values.tolist(), strict=True)), default.tolist())
        made._dtype = values.dtype
        return made

    def __len__(self) -> int:
        return len(self._known)

    def lookup(self, values: Any) -> npt.NDArray[Any]:
        """Return the table's value for each value, in an array of the same shape.

        Args:
            values: an array.

        Raises:
            ItemError: a value is missing in a table without default.
        """
        values = np.asarray(values)
        found = np.empty(values.shape, self._dtype)
        known, default = self._known, self.default_value
        for place, value in np.ndenumerate(values):
            plain = _plain(value)
            number = known.get(plain, default)
            if number is None:
                number = self._missing(plain)
            found[place] = number
        return found

    def _missing(self, value: Any) -> Any:
        if self._factory is not None:
            return _plain(self._factory())
        advice = "Pass a table with a default: slim.LookupTable({…}, default_value=-1)"
        raise ItemError(f"the table has no entry for {value!r}", advice=advice)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value.encode() if isinstance(value, str) else value


# Reshaping of dense and sparse arrays by the rules of TensorFlow.


MOST_ELEMENTS = 1 << 30
"""Limit of elements of a dense array made from a sparse one: a small record could request any size."""


def sizes_of(shape: Any, what: str = "shape") -> tuple[int, ...]:
    """Return a shape as integers, at most one of them -1.

    Args:
        shape: the sizes.
        what: its name in error messages.

    Raises:
        ConfigurationError: the argument is not a shape.

    >>> sizes_of([2, np.int64(-1)])
    (2, -1)
    """
    try:
        sizes = tuple(operator.index(size) for size in shape)
    except TypeError:
        raise ConfigurationError(f"{what} {shape!r} is not a list of integers", advice="Pass for example [2, -1]") from None
    if sizes.count(-1) > 1 or any(size < -1 for size in sizes):
        raise ConfigurationError(
            f"{what} {list(sizes)} is not a valid shape", advice="Pass non-negative sizes, at most one of them -1"
        )
    return sizes


def _resolved(count: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape for `count` values, with -1 replaced by a size."""
    known = math.prod(size for size in shape if size != -1)
    if -1 in shape:
        if known and count % known == 0:
            return tuple(count // known if size == -1 else size for size in shape)
    elif known == count:
        return shape
    values = "1 value" if count == 1 else f"{count:,} values"
    raise ItemError(f"{values} do not fit the shape {list(shape)}", advice="Fix the record, or pass its actual shape")


def reshaped(value: npt.NDArray[Any], shape: tuple[int, ...]) -> npt.NDArray[Any]:
    """Return an array in another shape.

    Args:
        value: the array.
        shape: the sizes, as returned by `sizes_of`.

    Raises:
        ItemError: the number of values does not fit the shape.

    >>> reshaped(np.arange(4), (2, -1)).tolist()
    [[0, 1], [2, 3]]
    """
    return value.reshape(_resolved(value.size, shape))


def sparse_reshaped(value: SparseValue, shape: tuple[int, ...]) -> SparseValue:
    """Return a sparse array in another shape; each value keeps its position in row-major order.

    Args:
        value: the sparse array.
        shape: the sizes, as returned by `sizes_of`.

    Raises:
        ItemError: the number of elements does not fit the shape.

    >>> sparse_reshaped(SparseValue.of([[0], [3]], [5, 6], [4]), (2, 2)).indices.tolist()
    [[0, 0], [1, 1]]
    """
    old = value.dense_shape.tolist()
    new = _resolved(math.prod(old), shape)
    _check_places(value)
    flat = _flat(value.indices, old)
    indices = np.empty((len(flat), len(new)), np.int64)
    for axis in reversed(range(len(new))):
        indices[:, axis], flat = flat % max(new[axis], 1), flat // max(new[axis], 1)
    return SparseValue(indices, value.values, np.array(new, np.int64))


def dense(value: SparseValue, default_value: Any) -> npt.NDArray[Any]:
    """Return a sparse array as a dense one, without a copy if it has a value for every element.

    Args:
        value: the sparse array.
        default_value: value of missing elements; for arrays of bytes, 0 means empty bytes.

    Raises:
        ItemError: indices are out of bounds, unordered or duplicate; the array is too large; or the default is unsuitable.

    >>> dense(SparseValue.of([[0], [2]], [5, 6], [3]), -1)
    array([ 5, -1,  6])
    """
    shape = value.dense_shape.tolist()
    count = len(value.values)
    if shape == [count] and len(value.indices) == count and (value.indices[:, 0] == np.arange(count)).all():
        return value.values  # the result of a `VarLenFeature`
    _check_places(value)
    if math.prod(shape) == count:  # ordered, unique and within bounds: every element has a value
        return value.values.reshape(shape)
    if math.prod(shape) > MOST_ELEMENTS:
        raise ItemError(f"a dense array of shape {shape} has more than {MOST_ELEMENTS:,} elements", advice="Keep it sparse")
    made = np.full(shape, fill_of(default_value, value.values.dtype), value.values.dtype)
    made[tuple(value.indices.T)] = value.values
    return made


def _check_places(value: SparseValue) -> None:
    """Raise an error for indices that are unordered or out of bounds."""
    indices, shape = value.indices, value.dense_shape
    if indices.shape != (len(value.values), len(shape)):
        counts = f"{len(indices):,} indices and {len(value.values):,} values in {len(shape)} dimensions"
        raise ItemError(f"a sparse array has {counts}", advice="Fix the record, so that each value has one index")
    if not len(indices):
        return
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        place = indices[int(outside.argmax())].tolist()
        raise ItemError(f"a value is at {place}, outside the array's shape {shape.tolist()}")
    flat = _flat(indices, shape.tolist())
    wrong = np.diff(flat) <= 0
    if wrong.any():
        place = indices[int(wrong.argmax()) + 1].tolist()
        raise ItemError(f"the value at {place} follows one at the same or a later index")


def _flat(indices: npt.NDArray[np.int64], shape: list[int]) -> npt.NDArray[np.int64]:
    """Return indices as positions in row-major order."""
    if math.prod(shape) > np.iinfo(np.int64).max:
        raise ItemError(f"a sparse array of shape {shape} has too many elements")
    flat = np.zeros(len(indices), np.int64)
    for axis, size in enumerate(shape):
        flat = flat * size + indices[:, axis]
    return flat


def as_sparse(array: npt.NDArray[Any]) -> SparseValue:
    """Return an array as a sparse array with all of its values.

    >>> as_sparse(np.array([[5, 6]])).indices.tolist()
    [[0, 0], [0, 1]]
    """
    indices = np.argwhere(np.ones(array.shape, bool)).astype(np.int64)
    return SparseValue(indices, array.reshape(-1), np.array(array.shape, np.int64))


def fill_of(default_value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the fill value of an array of a dtype; 0, None and the empty string mean its empty value.

    Args:
        default_value: the requested value.
        dtype: dtype of the array; objects are bytes.

    Raises:
        ItemError: the array cannot contain it.

    >>> fill_of("-", np.dtype(object)), fill_of(0, np.dtype(object)), fill_of("", np.dtype("int64"))
    (b'-', b'', 0)
    """
    if isinstance(default_value, np.ndarray | np.generic):
        default_value = default_value.item()
    is_nothing = default_value is None or default_value in (0, "", b"")
    if dtype.hasobject:
        fill = b"" if is_nothing else default_value.encode() if isinstance(default_value, str) else default_value
        is_held = isinstance(fill, bytes)
    else:
        fill = 0 if is_nothing else default_value
        is_held = isinstance(fill, bool | int) or (isinstance(fill, float) and dtype.kind == "f")
    if not is_held:
        named = "strings" if dtype.hasobject else dtype.name
        raise ItemError(f"default_value={default_value!r} does not fit an array of {named}", advice="Pass a value of that type")
    return fill


class ItemHandler(ABC):
    """Base class of item handlers, which make an item from parsed values; subclasses implement `tensors_to_item`.

    Args:
        keys: the key, or a list of keys, whose values are passed to the handler.

    Example:
        >>> class Area(ItemHandler):
        ...     def tensors_to_item(self, keys_to_tensors):
        ...         return keys_to_tensors["height"] * keys_to_tensors["width"]
        >>> area = Area(["height", "width"])
        >>> area.keys, int(area.tensors_to_item({"height": np.int64(3), "width": np.int64(4)}))
        (['height', 'width'], 12)
    """

    def __init__(self, keys: str | Sequence[str]) -> None:
        self._keys: list[str] = [keys] if isinstance(keys, str) else list(keys)

    @property
    def keys(self) -> list[str]:
        """The keys whose values are passed to `tensors_to_item`."""
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """Return the item.

        Args:
            keys_to_tensors: key → its parsed value: a numpy array, or a `SparseValue` if the length varies.

        Raises:
            ItemError: the item cannot be made from the values.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._keys))})"


class ItemHandlerCallback(ItemHandler):
    """An item made by a function.

    Args:
        keys: the key, or a list of keys.
        func: receives a dict of key → parsed value, and returns the item.

    Example:
        >>> double = ItemHandlerCallback("size", lambda found: found["size"] * 2)
        >>> double.tensors_to_item({"size": np.array([1, 2])})
        array([2, 4])
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__(keys)
        if not callable(func):
            raise ArgumentTypeError(
                f"func={func!r} is not callable", advice="Pass a function that accepts a dict of keys and values", value=func
            )
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        return self._func(dict(keys_to_tensors))


class Tensor(ItemHandler):
    """The value of a key as an array, reshaped if a shape is given.

    Args:
        tensor_key: the key.
        shape_keys: the key of the shape, or a list of keys, one for each dimension.
        shape: the shape; -1 is a dimension computed from the number of values.
        default_value: value of missing elements in a dense array made from the `VarLenFeature` of a sequence, or from a
            `SparseFeature`. For a missing key, use the default of its spec.

    Raises:
        ConfigurationError: both `shape_keys` and `shape` are given, or the shape is invalid.

    Example:
        >>> Tensor("flat", shape=[2, -1]).tensors_to_item({"flat": np.arange(6)})
        array([[0, 1, 2],
               [3, 4, 5]])
        >>> Tensor("flat", shape_keys="size").tensors_to_item({"flat": np.arange(6), "size": np.array([3, 2])}).shape
        (3, 2)
    """

    def __init__(
        self,
        tensor_key: str,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = 0,
    ) -> None:
        if shape_keys and shape is not None:
            raise ConfigurationError(
                f"{type(self).__name__}({tensor_key!r}) accepts shape_keys or shape, not both", advice="Pass one"
            )
        self._tensor_key = tensor_key
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or [])
        self._shape = None if shape is None else sizes_of(shape)
        self._default_value = default_value
        super().__init__([tensor_key, *self._shape_keys])

    @property
    def plain_key(self) -> str | None:
        """The key whose values are the item unchanged, so that the handler need not be called; None otherwise."""
        is_plain = type(self) is Tensor and not self._shape_keys and self._shape is None
        return self._tensor_key if is_plain else None

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        value = keys_to_tensors[self._tensor_key]
        shape = self._shape
        if self._shape_keys:
            parts = [as_dense(keys_to_tensors[key]).reshape(-1) for key in self._shape_keys]
            shape = sizes_of(np.concatenate(parts), what=f"the shape in {', '.join(map(repr, self._shape_keys))}")
        if isinstance(value, SparseValue):
            return dense(value if shape is None else sparse_reshaped(value, shape), self._default_value)
        return value if shape is None else reshaped(as_dense(value), shape)


class LookupTensor(Tensor):
    """The values of a key mapped by a table, such as labels to numbers.

    Args:
        tensor_key: the key.
        table: a `slim.LookupTable`, a dict, or an object whose `lookup` maps an array to one of the same shape; a
            `StaticHashTable` of TensorFlow is copied, outside of graphs.
        shape_keys, shape, default_value: as for `Tensor`.

    Raises:
        ConfigurationError: the table is invalid; see also `Tensor`.

    Example:
        >>> LookupTensor("name", LookupTable({"wren": 0, "owl": 1})).tensors_to_item({"name": bytes_array(["owl", "rook"])})
        array([ 1, -1])
    """

    def __init__(
        self,
        tensor_key: str,
        table: Any,
        shape_keys: str | Sequence[str] | None = None,
        shape: Sequence[int] | None = None,
        default_value: Any = "",
    ) -> None:
        super().__init__(tensor_key, shape_keys, shape, default_value)
        self._table = LookupTable.of(table)

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        found = self._table.lookup(super().tensors_to_item(keys_to_tensors))
        return found.numpy() if hasattr(found, "numpy") else found


class BackupHandler(ItemHandler):
    """The item of one handler, or of a second handler if the first item is empty.

    Args:
        handler: the first handler.
        backup: the second handler.

    Raises:
        ArgumentTypeError: an argument is not an `ItemHandler`.

    Example:
        >>> either = BackupHandler(Tensor("boxes"), Tensor("points"))
        >>> either.tensors_to_item({"boxes": np.empty(0), "points": np.array([1, 2])})
        array([1, 2])
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, given in (("handler", handler), ("backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ArgumentTypeError(
                    f"{name}={given!r} is not an ItemHandler", advice="Pass for example slim.Tensor('key')", value=given
                )
        self._handler, self._backup = handler, backup
        super().__init__([*handler.keys, *backup.keys])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        item = self._handler.tensors_to_item(keys_to_tensors)
        return self._backup.tensors_to_item(keys_to_tensors) if _is_empty(item) else item


def _is_empty(item: Any) -> bool:
    if isinstance(item, SparseValue):
        return not item.dense_shape.all()
    return not (len(item.values) if isinstance(item, RaggedValue) else np.size(item))


def as_dense(value: Any) -> npt.NDArray[Any]:
    """Return a parsed value as an array; the values of a sparse array must fill it."""
    if isinstance(value, SparseValue):
        return dense(value, None)
    return value.values if isinstance(value, RaggedValue) else np.asarray(value)


def bytes_array(values: Any) -> npt.NDArray[np.object_]:
    """Return strings or bytes, possibly in nested lists, as an array of bytes.

    >>> bytes_array(["a", b"b"]), bytes_array("é").shape
    (array([b'a', b'b'], dtype=object), ())
    """
    made = np.array(values, dtype=object)
    for place, value in np.ndenumerate(made):
        if isinstance(value, str):
            made[place] = value.encode()
    return made
