"""`tfds.features`: feature classes of TFDS, which create features of this library.

A feature without a counterpart in the library becomes the nearest one, with an `id` that names its kind, so that a dataset
read without its code still has it: a box is stored as four numbers, audio as samples, a video as images.
"""

from __future__ import annotations

import enum
import os
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from datasets_core.errors import ConfigurationError
from datasets_core.features.base import Feature, FeatureType, List, Value
from datasets_core.features.schema import Features
from datasets_core.features.serialization import AUDIO, BOX, DATASET, ENCODED, VIDEO, audio_id, box_id, kind_of
from datasets_core.features.serialization import optional as optional_of
from datasets_core.features.types import ClassLabel as LibraryClassLabel
from datasets_core.features.types import FixedShape
from datasets_core.features.types import Translation as LibraryTranslation
from datasets_core.features.types import TranslationVariableLanguages as LibraryTranslationVariableLanguages
from datasets_core.tfds.connectors import ClassLabel as Labels
from datasets_core.tfds.connectors import (
    DatasetColumns,
    FeaturesDict,
    ListColumns,
    ListFeature,
    TensorList,
    connector_of,
    dtype_name,
    list_of,
    tensor_of,
)
from datasets_core.tfds.connectors import Translation as Languages
from datasets_core.tfds.connectors import TranslationVariableLanguages as VariableLanguages
from datasets_core.tfds.images import ImageArray

Image = ImageArray
DocArg = Any


class Documentation(NamedTuple):
    """A description of a feature; it is accepted, but has no effect."""

    desc: str | None = None
    value_range: str | None = None


class Encoding(enum.Enum):
    """Encoding of tensors in TFDS files; in this library it only means that numbers of `float64` keep their precision."""

    NONE = "none"
    BYTES = "bytes"
    ZLIB = "zlib"


class BBoxFormat(enum.Enum):
    """Order and unit of the four coordinates of a box; relative coordinates are checked."""

    YXYX = "YXYX"
    REL_YXYX = "REL_YXYX"
    REL_XYXY = "REL_XYXY"
    XYXY = "XYXY"
    XYWH = "XYWH"
    CENTER_XYWH = "CENTER_XYWH"
    REL_XYWH = "REL_XYWH"
    REL_CENTER_XYWH = "REL_CENTER_XYWH"


class BBox(NamedTuple):
    """A box with coordinates relative to height and width of the image.

    >>> tuple(BBox(ymin=0.0, xmin=0.1, ymax=0.5, xmax=1.0))
    (0.0, 0.1, 0.5, 1.0)
    """

    ymin: float
    xmin: float
    ymax: float
    xmax: float


class _Made(type):
    """Metaclass of callables that return a feature; `isinstance` accepts features that the call could return."""

    is_one: Callable[[Any], bool]

    def __instancecheck__(cls, instance: Any) -> bool:
        return cls.is_one(instance)


class FeatureConnector(metaclass=_Made):
    """Base class of all features, including dicts of features.

    >>> isinstance(Text(), FeatureConnector), isinstance(5, FeatureConnector)
    (True, False)
    """

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True if the instance is a feature."""
        return isinstance(feature, (Feature, Features))


class Text(metaclass=_Made):
    """A string in each row: a `Value("string")`.

    >>> Text(), isinstance(Text(), Text)
    (Value('string'), True)
    """

    def __new__(cls, encoder: Any = None, encoder_config: Any = None, *, doc: object = None, optional: bool = False) -> Any:
        """Create the feature.

        Raises:
            ConfigurationError: an encoder was passed, which TFDS no longer supports.
        """
        if encoder is not None or getattr(encoder_config, "encoder_cls", None) is not None:
            raise ConfigurationError(
                "Text() does not support encoders, which TFDS removed", advice="Store the text, and encode it after reading"
            )
        return _feature(Value("string"), optional)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for string features."""
        return isinstance(feature, Value) and feature.dtype == "string"


class Scalar(metaclass=_Made):
    """One value in each row.

    >>> Scalar(np.uint8), Scalar(dtype="string")
    (Value('uint8'), Value('string'))
    """

    def __new__(cls, dtype: Any, *, doc: object = None, optional: bool = False) -> Any:
        """Create the feature."""
        return _feature(Value(dtype_name(dtype)), optional)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for features of single values."""
        return isinstance(feature, Value)


class Tensor(metaclass=_Made):
    """An array of one shape in each row; None for variable sizes.

    >>> Tensor(shape=(2, 3), dtype=np.float32)
    Array2D(shape=(2, 3), dtype='float32')
    >>> Tensor(shape=(None,), dtype="int64")
    List(Value('int64'))
    """

    def __new__(
        cls,
        *,
        shape: Any,
        dtype: Any,
        encoding: Any = Encoding.NONE,
        doc: object = None,
        serialized_dtype: Any = None,
        serialized_shape: Any = None,
        minimum: Any = None,
        maximum: Any = None,
        optional: bool = False,
    ) -> Any:
        """Create the feature; without `encoding=`, numbers of `float64` are rounded to `float32`, as in TFDS."""
        is_exact = dtype_name(dtype) == "float64" and Encoding(encoding or "none") is not Encoding.NONE
        return _tensor(shape, dtype, optional=optional, id=ENCODED if is_exact else None)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for features of arrays or numbers."""
        if isinstance(feature, List):
            return isinstance(feature, TensorList) or (type(feature) is List and not kind_of(feature))
        return isinstance(feature, (Value, FixedShape, LibraryClassLabel))


class ClassLabel(metaclass=_Made):
    """Integers with names: the library's own `ClassLabel`, whose names may be set later.

    >>> ClassLabel(names=["a", "b"]).str2int("b"), ClassLabel(num_classes=3).num_classes
    (1, 3)
    """

    def __new__(
        cls,
        *,
        num_classes: int | None = None,
        names: Iterable[Any] | None = None,
        names_file: str | os.PathLike[str] | None = None,
        doc: object = None,
    ) -> Any:
        """Create the feature."""
        if num_classes is None and names is None and names_file is None:
            return Labels(names=[])  # the author may set names after downloading the data
        path = None if names_file is None else os.fspath(names_file)
        listed = None if names is None else [name.decode() if isinstance(name, bytes) else name for name in names]
        return Labels(num_classes=num_classes, names=listed, names_file=path)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for class label features."""
        return isinstance(feature, LibraryClassLabel)


class LabeledImage(metaclass=_Made):
    """An image with a class for each pixel, stored with one channel.

    >>> LabeledImage(labels=10).shape
    (None, None, 1)
    """

    def __new__(
        cls, *, labels: Any, shape: Any = None, dtype: Any = None, encoding_format: str | None = None, doc: object = None
    ) -> Any:
        """Create the feature; the names of the classes are not stored."""
        return ImageArray(shape=shape or (None, None, 1), dtype=dtype, encoding_format=encoding_format)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for images with one channel."""
        return isinstance(feature, ImageArray) and feature.shape[2] == 1


class Audio(metaclass=_Made):
    """An audio clip in each row: its samples, given as an array or as the path of a file.

    >>> Audio(sample_rate=16_000)
    List(Value('int64'))
    """

    def __new__(
        cls,
        *,
        file_format: str | None = None,
        shape: Any = (None,),
        dtype: Any = np.int64,
        sample_rate: int | None = None,
        encoding: Any = Encoding.NONE,
        doc: object = None,
        lazy_decode: bool = False,
    ) -> Any:
        """Create the feature."""
        length, *channels = shape
        inner = tensor_of(channels, dtype)
        return list_of(inner, -1 if length is None else length, id=audio_id(sample_rate), kind=TensorList)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for audio features."""
        return isinstance(feature, List) and str(feature.id).startswith(AUDIO)


class Video(metaclass=_Made):
    """A video in each row: its frames, given as arrays or as the path of a video for ffmpeg or torchcodec.

    >>> Video(shape=(None, 64, 64, 3)).shape
    (None, 64, 64, 3)
    """

    def __new__(
        cls,
        shape: Any = None,
        encoding_format: str = "png",
        ffmpeg_extra_args: Any = (),
        use_colormap: bool = False,
        dtype: Any = np.uint8,
        doc: object = None,
    ) -> Any:
        """Create the feature."""
        length, *picture = (None, None, None, 3) if shape is None else tuple(shape)
        image = ImageArray(shape=tuple(picture), dtype=dtype, encoding_format=encoding_format)
        return list_of(image.of_videos(ffmpeg_extra_args or ()), -1 if length is None else length, VIDEO)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for video features."""
        return isinstance(feature, List) and kind_of(feature) == VIDEO


class BBoxFeature(metaclass=_Made):
    """A box in each row: four numbers.

    >>> BBoxFeature()
    List(Value('float32'), length=4)
    """

    def __new__(cls, *, doc: object = None, bbox_format: Any = BBoxFormat.REL_YXYX) -> Any:
        """Create the feature."""
        form = None if bbox_format is None else BBoxFormat(bbox_format)
        return list_of(Value("float32"), 4, box_id(form and form.value), TensorList)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for box features."""
        return isinstance(feature, List) and kind_of(feature).startswith(BOX)


class Sequence(metaclass=_Made):
    """A list in each row; a list of dicts is returned as a dict of lists.

    >>> Sequence(np.int32, length=3), Sequence({"word": Text()})
    (List(Value('int32'), length=3), {'word': List(Value('string'))})
    """

    def __new__(cls, feature: Any, length: int | None = None, *, doc: object = None) -> Any:
        """Create the feature."""
        return _sequence(feature, length)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for list features."""
        return isinstance(feature, ListColumns) or (isinstance(feature, List) and not isinstance(feature, TensorList))


class Dataset(metaclass=_Made):
    """A dataset in each row: a list of rows, returned as a dict of lists.

    >>> from datasets_core import tfds
    >>> tfds.features.Dataset({"step": np.int32})
    {'step': List(Value('int32'))}
    """

    def __new__(cls, feature: Any, length: int | None = None, *, doc: object = None) -> Any:
        """Create the feature."""
        return _sequence(feature, length, DATASET)

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for features of nested datasets."""
        return isinstance(feature, DatasetColumns) or (isinstance(feature, List) and kind_of(feature) == DATASET)


class Translation(metaclass=_Made):
    """A text in each of several languages: the library's own `Translation`.

    >>> Translation(languages=["en", "fr"]).languages
    ['en', 'fr']
    """

    def __new__(cls, languages: Iterable[str], encoder: None = None, encoder_config: None = None, *, doc: object = None) -> Any:
        """Create the feature."""
        return Languages(languages=list(dict.fromkeys(languages)))  # a dict in TFDS

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for translation features."""
        return isinstance(feature, LibraryTranslation)


class TranslationVariableLanguages(metaclass=_Made):
    """Texts in a variable number of languages: the library's own `TranslationVariableLanguages`.

    >>> TranslationVariableLanguages(languages=["fr", "en"]).languages
    ['en', 'fr']
    """

    def __new__(cls, languages: Iterable[str] | None = None, *, doc: object = None) -> Any:
        """Create the feature."""
        return VariableLanguages(languages=None if languages is None else list(languages))

    @staticmethod
    def is_one(feature: Any) -> bool:
        """Return True for translations with variable languages."""
        return isinstance(feature, LibraryTranslationVariableLanguages)


def Optional(feature: Any, *, doc: object = None) -> FeatureType:  # noqa: N802 - TFDS has a class of this name
    """Return the feature with None allowed; otherwise rows of a builder must have a value.

    >>> Optional(np.int32)
    Value('int32')
    """
    return connector_of(optional_of(connector_of(feature)))  # type: ignore[no-any-return]


def _feature(library: FeatureType, optional: bool) -> Any:
    return connector_of(optional_of(library) if optional else library)


def _tensor(shape: Any, dtype: Any, *, optional: bool, id: str | None = None) -> Any:
    made = _feature(tensor_of(shape, dtype, id), optional)
    return list_of(made.feature, made.length, made.id, TensorList) if isinstance(made, List) else made


def _sequence(feature: Any, length: int | None, id: str | None = None) -> Any:
    inner = connector_of(feature)
    if isinstance(inner, dict):
        return (DatasetColumns if id == DATASET else ListColumns).of(inner, -1 if length is None else length)
    return list_of(inner, -1 if length is None else length, id)


def as_tfds(features: Mapping[str, Any]) -> FeaturesDict:
    """Return the features of a dataset read from a folder, with images as in TFDS.

    >>> from datasets_core.features.media.types import Image as LibraryImage
    >>> as_tfds({"a": LibraryImage(mode="L")})
    {'a': Image(shape=(None, None, 1), dtype=uint8)}
    """
    return FeaturesDict({name: _as_tfds(feature) for name, feature in features.items()})


def _as_tfds(feature: FeatureType) -> FeatureType:
    if isinstance(feature, Features):
        return feature
    if isinstance(feature, dict):
        return {name: _as_tfds(inner) for name, inner in feature.items()}
    if isinstance(feature, List):
        kind = type(feature) if isinstance(feature, ListFeature) else ListFeature
        return list_of(_as_tfds(feature.feature), feature.length, feature.id, kind)
    if getattr(feature, "_type", None) == "Image":
        return ImageArray.of(feature)  # type: ignore[arg-type]
    return feature
