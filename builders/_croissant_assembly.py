"""The columns of records, put together of what their fields' sources give: typed, in structs and lists as the fields are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from datasets_core.errors import FileFormatError
from datasets_core.features.base import FeatureType, List
from datasets_core.features.nesting import list_array, list_parts, validity
from datasets_core.features.schema import Features
from datasets_core.meta.croissant_nodes import CroissantDocument, FieldNode
from datasets_core.meta.croissant_types import class_names, field_feature, in_lists, is_known
from datasets_core.meta.json_path import parse_json_path

from ._croissant_rows import Columns
from ._croissant_values import ValueFault, narrowed, typed

WHOLE = "\0whole"  # no identifier holds such
_ADVICE = "Mend the description, or give features= for what the column is to be"


class Assembly:
    """Makes record batches of the values of fields.

    Args:
        document: the description.
        fields: the columns.
        typed_ids: fields whose values come typed from other records, whatever the file says.
        wanted: the features that the user asks for.
        fault: makes the error about a node.
    """

    def __init__(
        self,
        document: CroissantDocument,
        fields: Sequence[FieldNode],
        typed_ids: set[str],
        wanted: Features | None,
        fault: Callable[..., FileFormatError],
    ) -> None:
        self._document, self._fields, self._typed_ids, self._fault = document, fields, typed_ids, fault
        self._wanted = wanted or Features()
        leaves = [leaf for field in fields for leaf in field.leaves()]
        self._classes = {leaf.id: names for leaf in leaves if (names := class_names(document, leaf)) is not None}

    def batch(self, columns: Columns) -> tuple[pa.RecordBatch, dict[str, pa.Array]]:
        """The rows, and the column of each field by its identifier.

        Raises:
            FileFormatError: a value is not what its field says; it names the node.
        """
        made = {field.id: self._column(field, columns) for field in self._fields}
        features = Features({field.name: made[field.id][1] for field in self._fields})
        found = {node: array for node, (array, _) in made.items()}
        return pa.RecordBatch.from_arrays(list(found.values()), schema=features.arrow_schema), found

    def features(self) -> Features:
        """The columns, as far as they can be told before a file is looked at: as those of text."""
        return Features({field.name: field_feature(self._known(field), None, self._classes) for field in self._fields})

    def _column(self, field: FieldNode, columns: Columns) -> tuple[pa.Array, FeatureType]:
        whole = columns.arrays.get(whole_id(field))
        if field.name in self._wanted and (whole is not None or not field.sub_fields):
            feature = self._wanted[field.name]
            return self._fitted(field, columns.arrays[field.id] if whole is None else whole, feature, columns), feature
        if whole is not None:
            feature = field_feature(self._known(field), whole.type if columns.is_typed else None, self._classes)
            return self._fitted(field, narrowed(whole, feature), feature, columns), feature
        return self._struct(field, columns, 0) if field.sub_fields else self._leaf(field, columns, 0)

    def _leaf(self, field: FieldNode, columns: Columns, depth: int) -> tuple[pa.Array, FeatureType]:
        """The column of a field without parts, which stands in `depth` lists besides its own."""
        array = columns.arrays[field.id]
        stored: pa.DataType | None = None
        if columns.is_typed or field.id in self._typed_ids:
            stored = array.type
            for _ in range(depth):
                stored = getattr(stored, "value_type", pa.null())
        feature: FeatureType = field_feature(self._known(field), stored, self._classes)
        for _ in range(depth):
            feature = List(feature)
        return self._fitted(field, array, feature, columns), feature

    def _fitted(self, field: FieldNode, array: pa.Array, feature: FeatureType, columns: Columns) -> pa.Array:
        try:
            return typed(array, feature)
        except ValueFault as fault:
            file, row = columns.place(fault.row)
            raise self._fault(field.id, fault.reason, file=file, row=row, advice=_ADVICE) from fault

    def _known(self, field: FieldNode) -> FieldNode:
        """The field, and those in it, with data types: their own, or those of what they come from."""
        if field.sub_fields:
            return replace(field, sub_fields=tuple(map(self._known, field.sub_fields)))
        data_types, source = field.data_types, field.source
        while not is_known(data_types) and source is not None and source.node in self._document.fields:  # no circle: it is read
            target = self._document.fields[source.node][1]
            data_types, source = data_types or target.data_types, target.source
        if data_types and not is_known(data_types):
            raise self._fault(field.id, f"has the data type {' and '.join(data_types)}, which is not supported", advice=_ADVICE)
        formats = [str(argument) for name, argument in (field.source.transforms if field.source else ()) if name == "format"]
        if "Date" in data_types and any("H" in each for each in formats):  # it has a time of the day too
            data_types = ("DateTime",)
        return replace(field, data_types=data_types)

    def _struct(self, field: FieldNode, columns: Columns, depth: int) -> tuple[pa.Array, FeatureType]:
        inner = depth + len(field.shape)
        parts = {
            each.name: self._struct(each, columns, inner) if each.sub_fields else self._leaf(each, columns, inner)
            for each in field.sub_fields
        }
        array = self._zipped(field, [array for array, _ in parts.values()], list(parts), inner)
        feature = in_lists({name: _without_lists(part, inner) for name, (_, part) in parts.items()}, field.shape)
        for _ in range(depth):
            feature = List(feature)
        return array, feature

    def _zipped(self, field: FieldNode, arrays: Sequence[pa.Array], names: Sequence[str], depth: int) -> pa.Array:
        """The struct of some columns; inside their lists, which must be of the same lengths, where they stand in such."""
        if not depth:
            return pa.StructArray.from_arrays(list(arrays), list(names))
        taken = [list_parts(array) for array in arrays]
        lengths, valid, _ = taken[0]
        for other, _, _ in taken[1:]:
            if not (other == lengths).all():
                row = int((other != lengths).argmax())
                raise self._fault(field.id, f"has parts of different lengths, {lengths[row]} and {other[row]}", row=row)
        inner = self._zipped(field, [child for _, _, child in taken], names, depth - 1)
        are_null = all(validity(array) is not None for array in arrays)
        return list_array(pa.list_(inner.type), lengths, valid if are_null else None, inner)


def whole_id(field: FieldNode) -> str:
    """What the column of a struct is known under that is taken as it stands, parts and all."""
    return f"{field.id}{WHOLE}"


def whole_column(field: FieldNode) -> FieldNode | None:
    """A field that stands for the column of a struct, where its parts have the names that they have there; else None."""
    leaves = list(field.leaves())
    ways = [_way(leaf) for leaf in leaves]
    if not field.sub_fields or len({way[0] for way in ways if way is not None}) != 1:
        return None
    for way, names in zip(ways, _names_below(field), strict=True):
        if way is None or way[1] != names:
            return None
    source = leaves[0].source
    if source is None:
        return None
    return FieldNode(whole_id(field), field.name, source=replace(source, transforms=()))


def _way(field: FieldNode) -> tuple[str, tuple[Any, ...]] | None:
    """The column of a field and the path below it, where that is all that its source says."""
    source = field.source
    if source is None:
        return None
    place = source.column or source.json_path
    if place is None or any(name != "jsonPath" for name, _ in source.transforms):
        return None
    try:
        steps = [step for _, path in source.transforms for step in parse_json_path(str(path))]
    except ValueError:
        return None
    return place, tuple(steps)


def _names_below(field: FieldNode, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names on the way from a field to each of its leaves."""
    for each in field.sub_fields:
        if each.sub_fields:
            yield from _names_below(each, (*before, each.name))
        else:
            yield (*before, each.name)


def _without_lists(feature: Any, depth: int) -> Any:
    for _ in range(depth):
        feature = feature.feature
    return feature
