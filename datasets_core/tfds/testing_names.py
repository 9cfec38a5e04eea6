"""`tfds.testing` and `tfds.visualization`: names that may be imported beside a builder; what they do is not here."""

from __future__ import annotations

from typing import Any, NoReturn

from datasets_core.errors import ConfigurationError
from datasets_core.tfds.tfds_info import MetadataDict


class NotHere:
    """A name of TFDS for tests or pictures, which may be derived from and looked at, and not be called.

    >>> class MyTest(NotHere("DatasetBuilderTestCase")):
    ...     SPLITS = {"train": 3}
    >>> NotHere("test_main")()
    Traceback (most recent call last):
    datasets_core.errors.ConfigurationError: tfds.testing has no 'test_main' here. Load the dataset, and compare its rows.
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> NotHere:
        if name.startswith("_"):
            raise AttributeError(f"{self._name} has no {name!r}", name=name)
        return NotHere(f"{self._name}.{name}")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (object,)

    def __call__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise ConfigurationError(f"tfds.testing has no {self._name!r} here. Load the dataset, and compare its rows.")


class GraphVisualizerMetadataDict(MetadataDict):
    """What a picture of a graph needs to know of its edges, kept as metadata.

    Args:
        edgelist_feature_name: the feature that holds the edges.
        graph_feature_name: likewise, by its old name.
    """

    def __init__(self, edgelist_feature_name: str = "", graph_feature_name: str = "", **more: Any) -> None:
        super().__init__(edgelist_feature_name=edgelist_feature_name, graph_feature_name=graph_feature_name, **more)


class Names:
    """A module of TFDS: some names, and `NotHere` for all others.

    Args:
        known: the names.
    """

    def __init__(self, **known: Any) -> None:
        vars(self).update(known)

    def __getattr__(self, name: str) -> NotHere:
        if name.startswith("_"):
            raise AttributeError(f"tfds.testing has no {name!r}", name=name)
        return NotHere(name)


testing = Names()
visualization = Names(GraphVisualizerMetadataDict=GraphVisualizerMetadataDict)
