"""Item handlers: what makes an item of the values of one or more keys, and the handlers of tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.slim.lookup_tables import LookupTable
from datasets_core.slim.shaping import dense, reshaped, sizes_of, sparse_reshaped


class ItemHandler(ABC):
    """What makes one item of the parsed values of its keys: derive a class that has `tensors_to_item`.

    Args:
        keys: the key, or a list of keys, whose values the handler is given.

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
        """The keys whose values `tensors_to_item` is given."""
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item.

        Args:
            keys_to_tensors: key → its parsed value: a numpy array, or a `SparseValue` where the length varies.

        Raises:
            ItemError: the values make no item.
        """

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(map(repr, self._keys))})"


class ItemHandlerCallback(ItemHandler):
    """An item that a function makes.

    Args:
        keys: the key, or a list of keys.
        func: takes a dict of key → parsed value, and gives the item.

    >>> double = ItemHandlerCallback("size", lambda found: found["size"] * 2)
    >>> double.tensors_to_item({"size": np.array([1, 2])})
    array([2, 4])
    """

    def __init__(self, keys: str | Sequence[str], func: Callable[[dict[str, Any]], Any]) -> None:
        super().__init__(keys)
        if not callable(func):
            raise ArgumentTypeError(f"func={func!r} cannot be called. Give a function of a dict of keys and values.")
        self._func = func

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        return self._func(dict(keys_to_tensors))


class Tensor(ItemHandler):
    """The value of a key as an array, in another shape where one is given.

    Args:
        tensor_key: the key.
        shape_keys: the key that holds the shape, or a list of keys, one for each dimension.
        shape: the shape; -1 is a dimension that follows from the number of values.
        default_value: what stands in a dense array where a value of the `VarLenFeature` of a sequence, or of a
            `SparseFeature`, has nothing. For a missing key the spec of the key has a default of its own.

    Raises:
        ConfigurationError: `shape_keys` and `shape` together, or a shape that is none.

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
            raise ConfigurationError(f"{type(self).__name__}({tensor_key!r}) takes shape_keys or shape, not both. Give one.")
        self._tensor_key = tensor_key
        self._shape_keys = [shape_keys] if isinstance(shape_keys, str) else list(shape_keys or [])
        self._shape = None if shape is None else sizes_of(shape)
        self._default_value = default_value
        super().__init__([tensor_key, *self._shape_keys])

    @property
    def plain_key(self) -> str | None:
        """The key whose values the item is as they are, so that nobody needs to ask the handler; else None."""
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
    """What a table has for the values of a key, as the numbers of labels.

    Args:
        tensor_key: the key.
        table: a `slim.LookupTable`, a dict, or anything whose `lookup` takes an array and gives one of the same shape; a
            `StaticHashTable` of TensorFlow is copied, outside of graphs.
        shape_keys, shape, default_value: as for `Tensor`.

    Raises:
        ConfigurationError: as for `Tensor`; or a table that is none.

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
    """The item of one handler, or of another where the first gives one without elements.

    Args:
        handler: the handler that is asked first.
        backup: the handler that is asked then.

    Raises:
        ArgumentTypeError: one of them is no `ItemHandler`.

    >>> either = BackupHandler(Tensor("boxes"), Tensor("points"))
    >>> either.tensors_to_item({"boxes": np.empty(0), "points": np.array([1, 2])})
    array([1, 2])
    """

    def __init__(self, handler: ItemHandler, backup: ItemHandler) -> None:
        for name, given in (("handler", handler), ("backup", backup)):
            if not isinstance(given, ItemHandler):
                raise ArgumentTypeError(f"{name}={given!r} is no ItemHandler. Give one, as slim.Tensor('key').")
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
    """A parsed value as an array; of a sparse one its values where they fill it."""
    if isinstance(value, SparseValue):
        return dense(value, None)
    return value.values if isinstance(value, RaggedValue) else np.asarray(value)


def bytes_array(values: Any) -> npt.NDArray[np.object_]:
    """Texts or bytes as an array of bytes, of the shape of the lists around them.

    >>> bytes_array(["a", b"b"]), bytes_array("é").shape
    (array([b'a', b'b'], dtype=object), ())
    """
    made = np.array(values, dtype=object)
    for place, value in np.ndenumerate(made):
        if isinstance(value, str):
            made[place] = value.encode()
    return made
