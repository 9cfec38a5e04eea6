"""Item handlers: what makes an item of the values of one or more keys, and those for tensors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


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
        self._keys = list(keys) if isinstance(keys, list | tuple) else [keys]

    @property
    def keys(self) -> list[str]:
        """The keys whose values `tensors_to_item` is given."""
        return self._keys

    @abstractmethod
    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """The item.

        Args:
            keys_to_tensors: key → its parsed value: a numpy array, or a `SparseValue` where the length varies.
        """


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
