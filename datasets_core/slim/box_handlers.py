"""Item handlers of boxes and points: the keys that hold one coordinate each, put together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from datasets_core.errors import ConfigurationError, ItemError
from datasets_core.records.parsed_values import RaggedValue, SparseValue
from datasets_core.slim.item_handlers import ItemHandler, as_dense
from datasets_core.slim.shaping import as_sparse, dense

_SIDES = ("ymin", "xmin", "ymax", "xmax")
_POINT = ("y", "x")


def _full_keys(handler: str, keys: Sequence[str] | None, default: Sequence[str], prefix: str | None) -> list[str]:
    """The keys with the prefix before each, where there are as many as there should be."""
    chosen = [keys] if isinstance(keys, str) else list(default if keys is None else keys)
    if len(chosen) != len(default):
        raise ConfigurationError(f"{handler} takes {len(default)} keys, not {len(chosen)}: {chosen}. Give {list(default)}.")
    return [f"{prefix or ''}{key}" for key in chosen]


def _together(parts: Iterable[tuple[tuple[int, ...], np.dtype[Any]]], keys: Sequence[str]) -> None:
    """Refuse coordinates that do not go together: their shapes or types differ."""
    found = list(parts)
    if len(set(found)) > 1:
        named = zip(keys, found, strict=True)
        told = ", ".join(f"{key!r} {list(shape)} of {_named(dtype)}" for key, (shape, dtype) in named)
        raise ItemError(f"the coordinates do not go together: {told}")


def _named(dtype: np.dtype[Any]) -> str:
    return "strings" if dtype.hasobject else dtype.name


class BoundingBox(ItemHandler):
    """Boxes, a row for each, in the order ymin, xmin, ymax, xmax.

    Args:
        keys: the four keys; `["ymin", "xmin", "ymax", "xmax"]` by default.
        prefix: what stands before each key, as `"image/object/bbox/"`.

    Raises:
        ConfigurationError: not four keys.

    >>> found = {"ymin": np.array([0.1, 0.2]), "xmin": np.array([0.3, 0.4])}
    >>> BoundingBox().tensors_to_item(found | {"ymax": np.array([0.5, 0.6]), "xmax": np.array([0.7, 0.8])})
    array([[0.1, 0.3, 0.5, 0.7],
           [0.2, 0.4, 0.6, 0.8]])
    """

    def __init__(self, keys: Sequence[str] | None = None, prefix: str | None = "") -> None:
        super().__init__(_full_keys("BoundingBox", keys, _SIDES, prefix))

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        sides = [_values(keys_to_tensors[key]) for key in self.keys]
        _together([(side.shape, side.dtype) for side in sides], self.keys)
        return np.ascontiguousarray(np.stack(sides).T)


def _values(value: Any) -> npt.NDArray[Any]:
    return value.values if isinstance(value, SparseValue) else as_dense(value)


class _CoordinatesSequence(ItemHandler):
    """What boxes and points of a sequence have in common."""

    def __init__(self, keys: list[str], return_dense: bool, default_value: float) -> None:
        super().__init__(keys)
        self._return_dense, self._default_value = return_dense, default_value

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        sides = [_steps(key, keys_to_tensors[key]) for key in self.keys]
        _together([(tuple(side.dense_shape.tolist()), side.values.dtype) for side in sides], self.keys)
        shape = [*sides[0].dense_shape.tolist(), len(sides)]
        if self._return_dense:
            return np.stack([dense(side, self._default_value) for side in sides], axis=-1)
        numbers = [np.full((len(side.indices), 1), number) for number, side in enumerate(sides)]
        indices = np.concatenate([np.hstack([side.indices, number]) for side, number in zip(sides, numbers, strict=True)])
        values = np.concatenate([side.values for side in sides])
        order = np.lexsort(indices.T[::-1])
        return SparseValue(indices[order], values[order], np.array(shape, np.int64))


def _steps(key: str, value: Any) -> SparseValue:
    """The values of a key in the steps of a sequence, as a sparse array of two dimensions."""
    found = value if isinstance(value, SparseValue) else as_sparse(as_dense(value))
    if len(found.dense_shape) != 2:
        advice = "Give the key of a feature list of a SequenceExample, read by VarLenFeature"
        raise ItemError(f"{key!r} has {len(found.dense_shape)} dimensions, not time and place in it", advice=advice)
    return found


class BoundingBoxSequence(_CoordinatesSequence):
    """Boxes in each step of a sequence: `[time, boxes, 4]`, in the order ymin, xmin, ymax, xmax.

    Args:
        keys: the four keys; `["ymin", "xmin", "ymax", "xmax"]` by default.
        prefix: what stands before each key.
        return_dense: an array; False gives a `SparseValue`.
        default_value: what stands in the array in steps with fewer boxes than another has.

    Raises:
        ConfigurationError: not four keys.

    >>> side = SparseValue.of([[0, 0], [1, 0], [1, 1]], [0.5, 0.25, 0.75], [2, 2])
    >>> boxes = BoundingBoxSequence().tensors_to_item(dict.fromkeys(["ymin", "xmin", "ymax", "xmax"], side))
    >>> boxes.shape, boxes[0].tolist()
    ((2, 2, 4), [[0.5, 0.5, 0.5, 0.5], [-1.0, -1.0, -1.0, -1.0]])
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        prefix: str | None = None,
        return_dense: bool = True,
        default_value: float = -1.0,
    ) -> None:
        super().__init__(_full_keys("BoundingBoxSequence", keys, _SIDES, prefix), return_dense, default_value)


class KeypointsSequence(_CoordinatesSequence):
    """Points in each step of a sequence: `[time, points, 2]`, in the order y, x.

    Args:
        keys: the two keys; `["y", "x"]` by default.
        prefix: what stands before each key.
        return_dense: an array; False gives a `SparseValue`.
        default_value: what stands in the array in steps with fewer points than another has.

    Raises:
        ConfigurationError: not two keys.

    >>> side = SparseValue.of([[0, 0]], [0.5], [1, 1])
    >>> KeypointsSequence(prefix="eye/").tensors_to_item({"eye/y": side, "eye/x": side}).tolist()
    [[[0.5, 0.5]]]
    """

    def __init__(
        self,
        keys: Sequence[str] | None = None,
        prefix: str | None = None,
        return_dense: bool = True,
        default_value: float = -1.0,
    ) -> None:
        super().__init__(_full_keys("KeypointsSequence", keys, _POINT, prefix), return_dense, default_value)


class NumBoxesSequence(ItemHandler):
    """How many boxes each step of a sequence has.

    Args:
        keys: the keys of the coordinates, of which the first is counted.
        check_consistency: it is an error if another of them has other counts.

    Raises:
        ConfigurationError: no keys.

    >>> side = SparseValue.of([[0, 0], [2, 0], [2, 1]], [0.5, 0.25, 0.75], [3, 2])
    >>> NumBoxesSequence("ymin").tensors_to_item({"ymin": side})
    array([1, 0, 2])
    """

    def __init__(self, keys: str | Sequence[str] | None = None, check_consistency: bool = True) -> None:
        if not keys:
            raise ConfigurationError("NumBoxesSequence has no keys. Give those of the coordinates, as ['ymin', 'xmin'].")
        super().__init__(keys)
        self._check_consistency = check_consistency

    def tensors_to_item(self, keys_to_tensors: Mapping[str, Any]) -> Any:
        """See `ItemHandler.tensors_to_item`."""
        counts = _counts(self.keys[0], keys_to_tensors[self.keys[0]])
        for key in self.keys[1:] if self._check_consistency else ():
            others = _counts(key, keys_to_tensors[key])
            if not np.array_equal(counts, others):
                told = f"{self.keys[0]!r} has {_told(counts)} boxes in its steps and {key!r} {_told(others)}"
                raise ItemError(told, advice="Mend the record, or give check_consistency=False")
        return counts


def _counts(key: str, value: Any) -> npt.NDArray[np.int64]:
    if isinstance(value, RaggedValue) and len(value.nested_row_splits) == 1:
        return np.diff(value.row_splits).astype(np.int64)
    if not isinstance(value, SparseValue) or len(value.dense_shape) != 2:
        advice = "Give the key of a feature list of a SequenceExample, read by VarLenFeature"
        raise ItemError(f"{key!r} has no sparse values of two dimensions, by which boxes are counted", advice=advice)
    counts = np.zeros(int(value.dense_shape[0]), np.int64)
    np.maximum.at(counts, value.indices[:, 0], value.indices[:, 1] + 1)
    return counts


def _told(counts: npt.NDArray[np.int64]) -> str:
    shown = counts[:10].tolist()
    return f"{shown}" if len(counts) <= 10 else f"{str(shown)[:-1]}, …]"
