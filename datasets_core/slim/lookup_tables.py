"""`LookupTable`: numbers for the names of a vocabulary, or whatever else stands for values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ArgumentTypeError, ItemError


class LookupTable:
    """A table of values and what stands for them, as `LookupTensor` asks it.

    Args:
        vocabulary: value → what stands for it; or a list of values, for which their places stand. Texts are their bytes.
        default_value: what stands for all other values; None makes them an error.

    >>> table = LookupTable(["wren", "owl"])
    >>> table.lookup(np.array([b"owl", b"rook"], dtype=object)).tolist()
    [1, -1]
    >>> LookupTable({0: "wren", 1: "owl"}, default_value="?").lookup(np.array([1, 7])).tolist()
    [b'owl', b'?']
    """

    def __init__(self, vocabulary: Mapping[Any, Any] | Iterable[Any], default_value: Any = -1) -> None:
        if isinstance(vocabulary, str | bytes):
            raise ArgumentTypeError(f"{vocabulary!r} is no vocabulary. Give a dict, or a list of values.")
        pairs = vocabulary.items() if isinstance(vocabulary, Mapping) else ((word, k) for k, word in enumerate(vocabulary))
        self._known = {_plain(word): _plain(number) for word, number in pairs}
        self._factory = getattr(vocabulary, "default_factory", None)
        self.default_value = _plain(default_value)
        kinds = [*self._known.values(), *([] if default_value is None else [self.default_value])]
        self._dtype: Any = object if any(isinstance(kind, bytes) for kind in kinds) else np.asarray(kinds).dtype

    @classmethod
    def of(cls, table: Any) -> Any:
        """What users give as a table: one of these, anything that has `lookup`, or a dict, whose other values are an error.

        A static hash table of TensorFlow, which takes tensors alone, is copied.

        Raises:
            ArgumentTypeError: none of them, or another table of TensorFlow.
        """
        if hasattr(getattr(table, "key_dtype", None), "base_dtype"):
            return cls._copied(table)
        if hasattr(table, "lookup"):
            return table
        if isinstance(table, Mapping):
            return cls(table, default_value=None)
        raise ArgumentTypeError(f"table={table!r} is no table. Give slim.LookupTable({{…}}, default_value=-1), or a dict.")

    @classmethod
    def _copied(cls, table: Any) -> Any:
        """A table of TensorFlow as one of these."""
        parts = [*table.export(), table.default_value] if hasattr(table, "export") and hasattr(table, "default_value") else []
        if not parts or not all(hasattr(part, "numpy") for part in parts):
            raise ArgumentTypeError(
                f"table={table!r} is one of TensorFlow that tells no arrays what it holds. "
                "Give slim.LookupTable({…}, default_value=-1), or a dict."
            )
        keys, values, default = (np.asarray(part.numpy()) for part in parts)
        made = cls(dict(zip(keys.tolist(), values.tolist(), strict=True)), default.tolist())
        made._dtype = values.dtype
        return made

    def __len__(self) -> int:
        return len(self._known)

    def lookup(self, values: Any) -> npt.NDArray[Any]:
        """What stands for each value, in an array of the same shape.

        Args:
            values: an array.

        Raises:
            ItemError: a value that the table does not have, and no default.
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
        advice = "Give a table with a default: slim.LookupTable({…}, default_value=-1)"
        raise ItemError(f"the table has no {value!r}", advice=advice)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value.encode() if isinstance(value, str) else value
