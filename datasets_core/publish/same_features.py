"""The features that the splits of a config have in common: all of them."""

from __future__ import annotations

from collections.abc import Mapping

from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features


def same_features(features: Mapping[str, Features]) -> Features:
    """The features of every split.

    Args:
        features: by split; one at least.

    Raises:
        ConfigurationError: two splits differ.

    >>> from datasets_core import Value
    >>> same_features({"train": Features({"a": Value("int8")}), "test": Features({"a": Value("int8")})})
    {'a': Value('int8')}
    """
    first, *others = features
    for name in others:
        if features[name] != features[first]:
            raise ConfigurationError(
                f"Split {name!r} has the features {dict(features[name])}, and {first!r} has {dict(features[first])}. "
                "Cast them to the same, or push them with different config_names."
            )
    return features[first]
