"""`tfds.typing`: names of types that builders of TFDS write into annotations, none of which has an effect."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Dim = int | None
Json = JsonValue = dict[str, Any] | list[Any] | str | int | float | bool | None
Key = int | str | bytes
KeySerializedExample = tuple[Key, bytes]
NpArrayOrScalar = np.ndarray | np.generic | Any
NpArrayOrScalarDict = dict[str, Any]
PathLike = str | os.PathLike[str]
Shape = tuple[Dim, ...]
Tensor = TensorDict = TfdsDType = FeatureConnectorArg = FeatureSpecs = SplitArg = DecoderArg = Any


class _Generic:
    """A type of other types."""

    def __class_getitem__(cls, item: Any) -> Any:
        return Any


class ListOrElem(_Generic):
    """One, or a list of them."""


class ListOrTreeOrElem(_Generic):
    """One, or a nest of them."""


class Tree(_Generic):
    """A nest."""


class TreeDict(_Generic):
    """A nest of dicts."""


class TupleOrList(_Generic):
    """Some of them."""


KeyExample = tuple[Key, Any]
KeyExamples = Iterator[KeyExample]
