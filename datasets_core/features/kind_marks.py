"""What the `id` of a feature says where its type says less: a box, a sound, a film, a picture of some shape, what may lack.

Datasets that were defined for TensorFlow Datasets know features that the library has no class for.  Each becomes the nearest
one with such an `id`, so that a dataset which is read without its code still knows it.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from typing import Any

from datasets_core.features.base import Feature, FeatureType, List, Value
from datasets_core.features.fixed_shape import Array2D, Array3D, Array4D, Array5D

AUDIO, BOX, DATASET, VIDEO = "tfds audio", "tfds bbox", "tfds dataset", "tfds video"
IMAGE_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
IMAGE_DTYPES = ("uint8", "uint16", "float32")

_OPTIONAL = "tfds optional"
_IMAGE = "tfds"  # how the id of an image begins that says more than its mode
_TOLD_IMAGE = re.compile(rf"{_IMAGE} ((?:(?:[0-9]{{1,9}}|None)x){{2}}(?:[0-9]{{1,9}}|None)) ({'|'.join(IMAGE_DTYPES)})")
_FIXED: dict[int, Any] = {2: Array2D, 3: Array3D, 4: Array4D, 5: Array5D}


def optional(feature: FeatureType) -> FeatureType:
    """The same feature, of which a row may hold None: its `id` ends with a word that says so; of a dict, all that it holds.

    >>> is_optional(optional({"a": Value("int8")})), is_optional(Value("int8"))
    (True, False)
    """
    if isinstance(feature, dict):
        made = {name: optional(inner) for name, inner in feature.items()}
        return type(feature)(made)
    if is_optional(feature) or not hasattr(feature, "id"):
        return feature
    other = copy.copy(feature)
    object.__setattr__(other, "id", f"{kind_of(feature)} {_OPTIONAL}".strip())  # not changed before it is given away
    return other


def is_optional(feature: FeatureType) -> bool:
    """Whether a row may hold None: see `optional`."""
    if isinstance(feature, dict):
        return bool(feature) and all(map(is_optional, feature.values()))
    return str(getattr(feature, "id", None)).endswith(_OPTIONAL)


def kind_of(feature: FeatureType) -> str:
    """What the `id` of a feature says of it, besides that it is optional.

    >>> kind_of(List(Value("int8"), id="tfds audio 8000 tfds optional"))
    'tfds audio 8000'
    """
    return (getattr(feature, "id", None) or "").removesuffix(_OPTIONAL).rstrip()


def audio_id(sample_rate: int | None) -> str:
    """The `id` of a list of samples.

    >>> audio_id(8000), audio_id(None)
    ('tfds audio 8000', 'tfds audio')
    """
    return AUDIO if sample_rate is None else f"{AUDIO} {sample_rate}"


def box_id(form: str | None) -> str:
    """The `id` of four numbers: in which order and unit they stand, where those are not parts of a picture as `REL_YXYX`.

    >>> box_id("REL_YXYX"), box_id("XYWH")
    ('tfds bbox', 'tfds bbox XYWH')
    """
    return BOX if form == "REL_YXYX" else f"{BOX} {form}"


def image_mode(sizes: Sequence[int | None], dtype: str) -> str | None:
    """The mode in which Pillow decodes a picture of this shape and type; None: as its file has it."""
    channels = sizes[2]
    return IMAGE_MODES.get(channels) if dtype == "uint8" and channels is not None else None


def image_id(sizes: Sequence[int | None], dtype: str) -> str | None:
    """The `id` of an image of this shape and type; None where its mode tells both.

    >>> image_id((28, 28, 1), "uint8"), image_id((None, None, 3), "uint8")
    ('tfds 28x28x1 uint8', None)
    """
    is_told = dtype == "uint8" and tuple(sizes[:2]) == (None, None)
    return None if is_told else f"{_IMAGE} {'x'.join(map(str, sizes))} {dtype}"


def told_image(id: str | None) -> tuple[tuple[int | None, ...], str] | None:
    """Shape and type of an image, as its `id` tells them; None where it tells nothing.

    >>> told_image("tfds 28xNonex1 uint16"), told_image("birds")
    (((28, None, 1), 'uint16'), None)
    """
    found = _TOLD_IMAGE.fullmatch((id or "").removesuffix(_OPTIONAL).rstrip())
    return found and (tuple(None if size == "None" else int(size) for size in found[1].split("x")), found[2])


def array_feature(sizes: Sequence[int | None], dtype: str) -> Feature:
    """The feature of arrays of one shape, of which sizes may be None.

    Args:
        sizes: of the dimensions.
        dtype: the name of a type, as a `Value` knows it.

    >>> array_feature((3,), "float32"), array_feature((None, 2), "int32"), array_feature((None, None), "int8")
    (List(Value('float32'), length=3), Array2D(shape=(None, 2), dtype='int32'), List(List(Value('int8'))))
    """
    is_fixed = all(size is not None for size in sizes[1:])
    if len(sizes) in _FIXED and is_fixed and dtype not in ("string", "binary"):
        made: Feature = _FIXED[len(sizes)](shape=tuple(sizes), dtype=dtype)
        return made
    feature: Feature = Value(dtype)
    for size in reversed(sizes):
        feature = List(feature, length=-1 if size is None else size)
    return feature
