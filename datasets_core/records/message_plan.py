"""Which feature of a message each column becomes, or each part of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import FeatureType, LargeList, List, feature_to_arrow
from datasets_core.features.fixed_shape import FixedShape
from datasets_core.features.media import Media
from datasets_core.features.stored_media import is_binary, is_text
from datasets_core.features.translation import Translation, TranslationVariableLanguages
from datasets_core.records.wire import Kind

types = pa.types
ANY = -1
"""How many elements lists have of which that is not said."""
MEDIA_BYTES = "bytes"

Step: TypeAlias = str | int
_COUNTS = (types.is_timestamp, types.is_date, types.is_time, types.is_duration)


@dataclass(frozen=True, slots=True)
class Leaf:
    """What becomes one feature.

    Attributes:
        key: of the feature.
        path: the column, or the field in it, as messages name it.
        steps: the way to its values: names of fields, of which the first is the column, and sizes of lists.
        kind: of the feature.
        is_media: its values are the bytes of files.
    """

    key: str
    path: str
    steps: tuple[Step, ...]
    kind: Kind
    is_media: bool = False

    @property
    def sizes(self) -> tuple[int, ...]:
        """Those of its lists, from the outermost on."""
        return tuple(step for step in self.steps if isinstance(step, int))

    @property
    def has_steps(self) -> bool:
        """Whether it becomes a feature list: its lists hold lists of any size."""
        return ANY in self.sizes[1:]


def leaves_of(features: Mapping[str, FeatureType]) -> list[Leaf]:
    """The features that rows with such columns become, in the order of the columns.

    Raises:
        CastError: messages have no form of a column.
        ConfigurationError: two columns become features of one name.

    >>> from datasets_core.features import Features, List, Value
    >>> [(leaf.key, leaf.kind) for leaf in leaves_of(Features({"a": {"b": Value("int8")}, "c": List(Value("string"))}))]
    [('a/b', 'int64'), ('c', 'bytes')]
    """
    found: dict[str, Leaf] = {}
    for name, feature in features.items():
        for leaf in _leaves(feature, name, name, (name,)):
            if leaf.key in found:
                raise ConfigurationError(
                    f"Column {found[leaf.key].path!r} and column {leaf.path!r} would both be the feature {leaf.key!r} of a "
                    "record. Rename one of them."
                )
            _check(leaf)
            found[leaf.key] = leaf
    return list(found.values())


def _leaves(feature: FeatureType, key: str, path: str, steps: tuple[Step, ...]) -> Iterator[Leaf]:
    if isinstance(feature, (Translation, TranslationVariableLanguages)):
        feature = feature.flatten()
    if isinstance(feature, dict):
        for name, inner in feature.items():
            yield from _leaves(inner, f"{key}/{name}", f"{path}.{name}", (*steps, name))
    elif isinstance(feature, (List, LargeList)):
        size = feature.length if isinstance(feature, List) else ANY
        yield from _leaves(feature.feature, key, path, (*steps, size))
    elif isinstance(feature, FixedShape):
        sizes = tuple(ANY if size is None else size for size in feature.shape)
        yield from _leaves(feature.element, key, path, (*steps, *sizes))
    elif isinstance(feature, Media):
        yield Leaf(key, path, (*steps, MEDIA_BYTES), "bytes", is_media=True)
    else:
        kind = _kind_of(feature_to_arrow(feature), path)
        if kind is not None:
            yield Leaf(key, path, steps, kind)


def _kind_of(stored: pa.DataType, path: str) -> Kind | None:
    """The kind of the features of some values; None of values that are all null."""
    if isinstance(stored, pa.BaseExtensionType):
        stored = stored.storage_type
    if types.is_null(stored):
        return None
    if types.is_boolean(stored) or types.is_integer(stored) or any(is_one(stored) for is_one in _COUNTS):
        return "int64"
    if types.is_floating(stored):
        return "float"
    if is_text(stored) or is_binary(stored):
        return "bytes"
    raise CastError(f"Column {path!r}: TFRecord files have no form of {stored}. Cast it to numbers or text, or leave it out.")


def _check(leaf: Leaf) -> None:
    first, *inner = leaf.sizes or (0,)
    if leaf.has_steps and (inner[0] != ANY or ANY in inner[1:]):
        raise CastError(
            f"Column {leaf.path!r}: TFRecord files have no form of lists of any size within lists of lists. "
            "Flatten it, or leave it out."
        )
    if first == ANY and 0 in inner:
        raise CastError(f"Column {leaf.path!r}: of arrays without elements nothing would say how many there are. Leave it out.")
    try:
        leaf.key.encode()
    except UnicodeEncodeError:
        raise ConfigurationError(f"The name of column {leaf.path!r} has no form in UTF-8. Rename it.") from None
