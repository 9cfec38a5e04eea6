"""`SparseTensor`: the item handler that makes a sparse array of the keys that hold places and values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ItemError
from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.slim.item_handlers import ItemHandler, as_dense
from datasets_core.slim.shaping import as_sparse, dense, sizes_of


class SparseTensor(ItemHandler):
    """A sparse array: one key holds the places of its values, another the values.

    Args:
        indices_key: the key of the places; `"indices"` by default.
        values_key: the key of the values; `"values"` by default.
        shape_key: the key that holds the shape; it goes before `shape`.
        shape: the shape; by default that of the places themselves, which is seldom what is meant.
        densify: the item is a dense array, whose places must be in order, each once, and inside of the shape.
        default_value: what stands in the dense array where no value does.

    Raises:
        ConfigurationError: a shape that is none.

    >>> handler = SparseTensor("place", "weight", shape=[4], densify=True)
    >>> handler.tensors_to_item({"place": np.array([0, 3]), "weight": np.array([0.5, 2.0])})
    array([0.5, 0. , 0. , 2. ])
    """

    def __init__(
        self,
        indices_key: str | None = None,
        values_key: str | None = None,
        shape_key: str | None = None,
        shape: Sequence[int] | None = None,
        densify: bool = False,
        default_value: Any = 0,
    ) -> None:
        self._indices_key = indices_key or "indices"
        self._values_key = values_key or "values"
        self._shape_key = shape_key
        self._shape = sizes_of(shape) if shape is not None and len(shape) else None
        self._densify = densify
        self._default_value = default_value
        super().__init__([self._indices_key, self._values_key, *([shape_key] if shape_key else [])])

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        given = keys_to_tensors[self._indices_key]
        where = given if isinstance(given, SparseValue) else as_sparse(np.atleast_1d(as_dense(given)))
        values = _flat(keys_to_tensors[self._values_key])
        if len(where.values) != len(values):
            counts = f"{len(where.values):,} places and {self._values_key!r} {len(values):,} values"
            raise ItemError(f"{self._indices_key!r} has {counts}", advice="Mend the record, so that each value has one place")
        places = np.asarray(where.values)
        if places.dtype.kind not in "iuf":
            raise ItemError(f"{self._indices_key!r} holds no numbers", advice="Give the key of the places as indices_key")
        indices = np.concatenate([where.indices[:, :-1], places.astype(np.int64)[:, None]], axis=1)
        shape = self._shape_of(keys_to_tensors, where)
        if len(shape) != indices.shape[1]:
            raise ItemError(f"a place has {indices.shape[1]} dimensions, and the shape {shape} has {len(shape)}")
        made = SparseValue(indices, values, np.array(shape, np.int64))
        return dense(made, self._default_value) if self._densify else made

    def _shape_of(self, found: Mapping[str, Any], where: SparseValue) -> list[int]:
        if self._shape_key:
            return list(sizes_of(as_dense(found[self._shape_key]).reshape(-1), what=f"the shape in {self._shape_key!r}"))
        return list(self._shape) if self._shape is not None else where.dense_shape.tolist()


def _flat(value: Any) -> npt.NDArray[Any]:
    return value.values if isinstance(value, SparseValue | RaggedValue) else np.asarray(value).reshape(-1)
