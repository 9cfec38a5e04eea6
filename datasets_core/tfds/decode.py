"""`tfds.decode`: columns to leave undecoded, or not to read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from datasets_core.errors import ConfigurationError, UnknownColumnError
from datasets_core.features.base import FeatureType, List
from datasets_core.tfds.connectors import FeaturesDict
from datasets_core.tfds.images import ImageArray


class SkipDecoding:
    """Skip decoding: images are returned as the bytes of their files.

    >>> from datasets_core import tfds
    >>> changed({"image": tfds.features.Image()}, {"image": SkipDecoding()})["image"].is_skipped
    True
    """


class Decoder:
    """Base class of custom decoders in TFDS code; they are not run by this library."""


def make_decoder(**_: Any) -> Any:
    """Return the function unchanged; it is not run.

    >>> make_decoder()(len)("abc")
    3
    """
    return lambda function: function


class PartialDecoding:
    """Read only some columns.

    Args:
        features: names of columns, or a dict whose keys are the names.
        decoders: further decoders.
    """

    def __init__(self, features: Any, decoders: Any = None) -> None:
        self.features, self.decoders = features, decoders


def chosen(features: Mapping[str, FeatureType], decoders: Any) -> list[str] | None:
    """Return the columns to read; None for all.

    Raises:
        UnknownColumnError: a column does not exist.
    """
    if not isinstance(decoders, PartialDecoding):
        return None
    wanted = decoders.features
    names = [name for name in wanted if not isinstance(wanted, Mapping) or wanted[name] is not False]
    for name in names:
        if name not in features:
            raise UnknownColumnError(name, known=list(features))
    return [name for name in features if name in names]


def changed(features: Mapping[str, FeatureType], decoders: Any) -> FeaturesDict:
    """Return the features with the given decoders applied.

    Raises:
        ConfigurationError: a value is not a decoder, or its column is not decoded.
        UnknownColumnError: a column does not exist.
    """
    found = FeaturesDict(features)
    wanted = decoders.decoders if isinstance(decoders, PartialDecoding) else decoders
    for name, decoder in (wanted or {}).items():
        if name not in found:
            raise UnknownColumnError(name, known=list(found))
        found[name] = _skipped(name, found[name], decoder)
    return found


def _skipped_below(feature: FeatureType) -> FeatureType:
    """Return a feature whose images, if any, are not decoded."""
    if isinstance(feature, List):
        return List(_skipped_below(feature.feature), length=feature.length, id=feature.id)
    if isinstance(feature, dict):
        return {name: _skipped_below(inner) for name, inner in feature.items()}
    return feature.skipped() if isinstance(feature, ImageArray) else feature


def _skipped(name: str, feature: FeatureType, decoder: Any) -> FeatureType:
    if isinstance(feature, dict) and isinstance(decoder, Mapping):
        return {
            inner: _skipped(f"{name}.{inner}", kind, decoder[inner]) if inner in decoder else kind
            for inner, kind in feature.items()
        }
    if not isinstance(decoder, SkipDecoding):
        raise ConfigurationError(
            f"The decoder of {name!r} is {decoder!r}", advice="Pass tfds.decode.SkipDecoding(), or use map()", value=decoder
        )
    if isinstance(feature, List):
        return List(_skipped(name, feature.feature, decoder), length=feature.length, id=feature.id)
    if isinstance(feature, ImageArray):
        return feature.skipped()
    if isinstance(feature, dict) and all(isinstance(inner, List) for inner in feature.values()):  # lists of dicts
        return {inner: _skipped_below(kind) for inner, kind in feature.items()}
    raise ConfigurationError(f"{name!r} is not decoded", advice="Remove its decoder", value=name)
