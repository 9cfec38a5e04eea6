"""Nodes of a Croissant description as values: files, record sets, fields, value sources; data types; JSON paths."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa

from datasets_core.features.base import FeatureType, List, Value, name_from_type
from datasets_core.features.schema import feature_from_arrow
from datasets_core.features.types import Array2D, Array3D, Array4D, Array5D, ClassLabel

Target = Literal["any", "field", "fileObject", "fileSet", "recordSet"]


@dataclass(frozen=True, slots=True)
class ValueSource:
    """Source of values.

    Attributes:
        node: the identifier of a file, a file set, a record set or a field.
        column: the column of a table.
        json_path: the path in JSON.
        file_property: property of the file itself: its content, lines, names.
        transforms: transforms of the values, in order: `(name, argument)`.
    """

    node: str
    column: str | None = None
    json_path: str | None = None
    file_property: str | None = None
    transforms: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class FieldNode:
    """A field.

    Attributes:
        id: its identifier.
        name: name of its column.
        data_types: the last parts of the IRIs of its types.
        source: source of its values.
        references: the field of another record set to which they refer.
        sub_fields: the fields inside it.
        shape: the lengths of its nested lists, -1 for any length; () for a single value.
        constant: the value of all rows, in a tuple.
        fault: an unsupported part of the node, as the predicate of a sentence; an error if the field is read.
    """

    id: str
    name: str
    data_types: tuple[str, ...] = ()
    source: ValueSource | None = None
    references: ValueSource | None = None
    sub_fields: tuple[FieldNode, ...] = ()
    shape: tuple[int, ...] = ()
    constant: tuple[Any, ...] = ()
    fault: str = ""

    def leaves(self) -> Iterator[FieldNode]:
        """Yield the fields without sub-fields."""
        if not self.sub_fields:
            yield self
        for inner in self.sub_fields:
            yield from inner.leaves()


@dataclass(frozen=True, slots=True)
class RecordSetNode:
    """A record set.

    Attributes:
        id: its identifier.
        name: its name.
        description: its description.
        data_types: the last parts of the IRIs of its types.
        fields: the columns.
        data: the rows, if they are in the description itself.
    """

    id: str
    name: str
    description: str = ""
    data_types: tuple[str, ...] = ()
    fields: tuple[FieldNode, ...] = ()
    data: tuple[Mapping[str, Any], ...] | None = None

    @property
    def is_main(self) -> bool:
        """True if it contains the rows of a dataset, and not its splits, classes or other data that rows refer to."""
        return self.data is None and not {"Split", "Enumeration"} & set(self.data_types)


@dataclass(frozen=True, slots=True)
class Container:
    """Container of a file or a file set.

    Attributes:
        node: the identifier.
        transforms: how to open it: `unArchive`, `readLines`.
    """

    node: str
    transforms: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class FileNode:
    """A file, or a set of files.

    Attributes:
        id: its identifier.
        name: its name.
        is_set: True for a set of files.
        url: URL of the file; the path in its container, if it has one.
        encodings: its media types.
        sha256, md5: hashes of its content, as written; "" if unknown.
        containers: its containers; empty for a separate file, and for a set next to the description.
        includes, excludes: patterns of the paths of a set.
    """

    id: str
    name: str
    is_set: bool
    url: str = ""
    encodings: tuple[str, ...] = ()
    sha256: str = ""
    md5: str = ""
    containers: tuple[Container, ...] = ()
    includes: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CroissantDocument:
    """A description.

    Attributes:
        path: the file or URL that it was read from, for messages.
        facts: facts about the dataset, by the names of `DatasetInfo`.
        files: files and file sets by identifier.
        record_sets: record sets by identifier.
        fields: fields by identifier, including those inside others, each with its record set.
    """

    path: str
    facts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileNode] = field(default_factory=dict)
    record_sets: Mapping[str, RecordSetNode] = field(default_factory=dict)
    fields: Mapping[str, tuple[RecordSetNode, FieldNode]] = field(default_factory=dict)

    def main_record_sets(self) -> list[RecordSetNode]:
        """Return the record sets that are configs: those with rows of the dataset, or all if there are none."""
        found = [each for each in self.record_sets.values() if each.is_main]
        return found or list(self.record_sets.values())


# Data types of Croissant as features: exact ones unchanged, loose ones by the content of the files.


_EXACT = {
    **{f"Int{bits}": f"int{bits}" for bits in (8, 16, 32, 64)},
    **{f"UInt{bits}": f"uint{bits}" for bits in (8, 16, 32, 64)},
    **{f"Float{bits}": f"float{bits}" for bits in (16, 32, 64)},
}
_Test = Callable[[pa.DataType], bool]
_types = pa.types


def _is_number(kind: pa.DataType) -> bool:
    return bool(_types.is_integer(kind) or _types.is_floating(kind) or _types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    tests: Sequence[_Test] = (_types.is_string, _types.is_large_string, _types.is_string_view)
    return any(test(kind) for test in tests)


def _is_bytes(kind: pa.DataType) -> bool:
    tests: Sequence[_Test] = (_types.is_binary, _types.is_large_binary, _types.is_binary_view, _types.is_fixed_size_binary)
    return any(test(kind) for test in tests)


# A loose type takes the type of a typed file; for text it is the second type.
_LOOSE: Mapping[str, tuple[_Test, str]] = {
    "Duration": (_types.is_duration, "int64"),
    "Number": (_is_number, "float64"),
    "Boolean": (_types.is_boolean, "bool"),
    "Integer": (_types.is_integer, "int64"),
    "Float": (_types.is_floating, "float64"),
    "DateTime": (_types.is_timestamp, "timestamp[us]"),
    "Date": (_types.is_date, "date32"),
    "Time": (_types.is_time, "time64[us]"),
    "Text": (lambda kind: _is_text(kind) or _is_bytes(kind) or _types.is_null(kind), "string"),
    "URL": (_is_text, "string"),
    "String": (_is_text, "string"),
    "Split": (_is_text, "string"),
}
_MEDIA = ("ImageObject", "AudioObject", "VideoObject")
_BOX = "BoundingBox"
_NAMES = ("name", "label", "split_name")
_ARRAYS = {2: Array2D, 3: Array3D, 4: Array4D, 5: Array5D}


def is_known(data_types: Sequence[str]) -> bool:
    """Return True if values can be read as at least one of these types."""
    return any(each in _EXACT or each in _LOOSE or each in _MEDIA or each == _BOX for each in data_types)


def is_media(data_types: Sequence[str]) -> bool:
    """Return True if values are the bytes of images, audio or video."""
    return any(each in _MEDIA for each in data_types)


def is_read_as_text(data_types: Sequence[str]) -> bool:
    """Return True if values in a text file are taken unchanged: texts, and times, which have their own formats."""
    if is_media(data_types) or _BOX in data_types:
        return False
    return value_feature(data_types, None).dtype not in ("bool", *_EXACT.values())


def value_feature(data_types: Sequence[str], stored: pa.DataType | None) -> Any:
    """Return the feature of single values.

    Args:
        data_types: the last parts of the IRIs of their types.
        stored: the type in the file, if it has types; None for text.

    >>> value_feature(["Integer"], pa.int16()), value_feature(["Integer"], None), value_feature(["Int8"], pa.int16())
    (Value('int16'), Value('int64'), Value('int8'))
    """
    if is_media(data_types):
        return _media(next(each for each in data_types if each in _MEDIA))
    if _BOX in data_types:
        return List(Value("float64"), length=4)
    loose = [each for each in _LOOSE if each in data_types]  # the widest first
    if stored is not None:
        for each in loose:
            if _LOOSE[each][0](stored) and not (_types.is_null(stored) and len(loose) > 1):
                return feature_from_arrow(stored)
    exact = next((each for each in data_types if each in _EXACT), None)
    if exact is not None:
        return Value(_EXACT[exact])
    if loose:
        return Value(_LOOSE[loose[-1] if "Text" not in data_types else "Text"][1])
    if stored is not None and not _types.is_nested(stored) and name_from_type(stored) is not None:
        return feature_from_arrow(stored)
    return Value("string")


def _media(kind: str) -> FeatureType:
    if kind == "ImageObject":
        from datasets_core.features.media.types import Image  # here and below: 6 ms that plain columns do without

        return Image()
    if kind == "AudioObject":
        from datasets_core.features.media.audio import Audio

        return Audio()
    from datasets_core.features.media.types import Video

    return Video()


def in_lists(feature: FeatureType, shape: Sequence[int]) -> FeatureType:
    """Return a feature inside lists of these lengths; numbers in lists of two or more fixed lengths are an array.

    >>> in_lists(Value("int8"), (-1,)), in_lists(Value("int8"), (2, 3))
    (List(Value('int8')), Array2D(shape=(2, 3), dtype='int8'))
    """
    if (
        len(shape) in _ARRAYS
        and all(length >= 0 for length in shape)
        and isinstance(feature, Value)
        and feature.dtype != "string"
    ):
        return _ARRAYS[len(shape)](tuple(shape), feature.dtype)
    for length in reversed(shape):
        feature = List(feature, length=length)
    return feature


def field_feature(field: FieldNode, stored: pa.DataType | None, classes: Mapping[str, Sequence[str]]) -> FeatureType:
    """Return the feature of a field whose values are one column, nested as the field is.

    Args:
        field: the field.
        stored: the type of the column; None for text.
        classes: the names of classes, by the identifier of the field.
    """
    inner = stored
    for _ in field.shape:
        inner = inner.value_type if inner is not None and _is_list(inner) else None
    if field.sub_fields:
        known = {} if inner is None or not _types.is_struct(inner) else {part.name: part.type for part in inner}
        struct: dict[str, FeatureType] = {
            each.name: field_feature(each, known.get(each.name), classes) for each in field.sub_fields
        }
        return in_lists(struct, field.shape)
    if field.id in classes:
        return in_lists(ClassLabel(names=list(classes[field.id])), field.shape)
    return in_lists(value_feature(field.data_types, inner), field.shape)


def class_names(document: CroissantDocument, field: FieldNode) -> list[str] | None:
    """Return the names of the classes that a field numbers from 0, if the record set to which it refers lists them;
    else None.
    """
    target = document.fields.get(field.references.node) if field.references is not None else None
    if target is None or target[0].data is None or "Enumeration" not in target[0].data_types:
        return None
    owner, key = target
    label = next(
        (each for each in owner.fields if each.id != key.id and ("name" in each.data_types or each.name in _NAMES)), None
    )
    if label is None:
        return None
    rows = [(row.get(key.id, row.get(key.name)), row.get(label.id, row.get(label.name))) for row in owner.data or ()]
    numbered = {number: name for number, name in rows if isinstance(number, int) and not isinstance(number, bool)}
    if len(numbered) != len(rows) or sorted(numbered) != list(range(len(rows))):
        return None
    names = [numbered[number] for number in range(len(rows))]
    return names if all(isinstance(name, str) for name in names) and len(set(names)) == len(names) and names else None


def _is_list(kind: pa.DataType) -> bool:
    return bool(_types.is_list(kind) or _types.is_large_list(kind) or _types.is_fixed_size_list(kind))


# JSON paths as Croissant writes them: keys, positions and wildcards, one after the other.


Step = str | int | None
"""A key, a position, or None for every element."""

_STEP = re.compile(
    r"""
    \.?\[\s*(?P<every>\*)\s*\]
    | \.?\[\s*(?P<position>\d+)\s*\]
    | \.?\[\s*(?P<quote>['"])(?P<quoted>(?:\\.|(?!(?P=quote)).)*)(?P=quote)\s*\]
    | \.(?P<all>\*)
    | \.(?P<key>[^.\[\]*?()'"\s,:][^.\[\]?()'",]*)
    """,
    re.VERBOSE | re.DOTALL,
)


def parse_json_path(text: str) -> tuple[Step, ...]:
    """Return the steps of a path.

    >>> parse_json_path("$.rows[*].name"), parse_json_path("bytes"), parse_json_path("$['a b'][0]")
    (('rows', None, 'name'), ('bytes',), ('a b', 0))

    Raises:
        ValueError: it is not a path of keys, positions and wildcards.
    """
    rest = text.strip()
    if rest.startswith("$"):
        rest = rest[1:]
    elif rest and not rest.startswith((".", "[")):
        rest = "." + rest
    steps: list[Step] = []
    at = 0
    while at < len(rest):
        found = _STEP.match(rest, at)
        if found is None:
            raise ValueError(f"{text!r} is not a path of keys, positions and wildcards from {rest[at : at + 20]!r} on")
        if found["key"] is not None:
            steps.append(found["key"].strip())
        elif found["quoted"] is not None:
            steps.append(re.sub(r"\\(.)", r"\1", found["quoted"], flags=re.DOTALL))
        else:
            steps.append(None if found["position"] is None else int(found["position"]))
        at = found.end()
    return tuple(steps)


def found_at(value: Any, steps: Sequence[Step]) -> list[Any]:
    """Return the values at a path, in order; empty if it does not exist.

    >>> found_at({"rows": [{"a": 1}, {}, {"a": 2}]}, ("rows", None, "a"))
    [1, 2]
    """
    values = [value]
    for step in steps:
        if step is None:
            values = [inner for each in values for inner in _elements(each)]
        elif isinstance(step, int):
            values = [each[step] for each in values if isinstance(each, list) and step < len(each)]
        else:
            values = [each[step] for each in values if isinstance(each, dict) and step in each]
    return values


def _elements(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []
