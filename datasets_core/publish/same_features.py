"""The features that the splits of a config have in common: all of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from datasets_core.errors import ConfigurationError
from datasets_core.features.schema import Features


def same_features(features: Mapping[str, Features], empty: Collection[str] = ()) -> Features:
    """The features of every split.

    Args:
        features: by split; one at least.
        empty: splits without rows, which any types will do for, if the columns are the same.

    Raises:
        ConfigurationError: two splits differ.

    >>> from datasets_core import Value
    >>> same_features({"train": Features({"a": Value("int8")}), "test": Features({"a": Value("int8")})})
    {'a': Value('int8')}
    """
    first = next((name for name in features if name not in empty), next(iter(features)))
    for name, found in features.items():
        if found != features[first] and not (name in empty and found.keys() == features[first].keys()):
            raise ConfigurationError(
                f"Split {name!r} has the features {dict(features[name])}, and {first!r} has {dict(features[first])}. "
                "Cast them to the same, or push them with different config_names."
            )
    return features[first]
