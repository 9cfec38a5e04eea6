"""`Records`: the rows of one Croissant record set: fields from one or more sources, joined, as typed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from datasets_core.errors import FileFormatError
from datasets_core.features.arrow import list_array, list_parts, validity
from datasets_core.features.base import FeatureType, List
from datasets_core.features.schema import Features
from datasets_core.meta.croissant_nodes import (
    CroissantDocument,
    FieldNode,
    RecordSetNode,
    ValueSource,
    class_names,
    field_feature,
    in_lists,
    is_known,
    parse_json_path,
)

from ._croissant_files import FoundFile, kind_of_file
from ._croissant_rows import Columns, ResourceRows
from ._croissant_values import Keyed, ValueFault, array_of, narrowed, transformed, typed

# The columns of records, assembled from the sources of their fields: typed, with the structs and lists of the
# are.


WHOLE = "\0whole"  # not a valid identifier, so no clash
_ADVICE = "Fix the description, or pass features= with the type of the column"


class Assembly:
    """Makes record batches from the values of fields.

    Args:
        document: the description.
        fields: the columns.
        typed_ids: fields with typed values from other records.
        wanted: the features requested by the user.
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
        """Return the rows, and the column of each field by its identifier.

        Raises:
            FileFormatError: a value does not fit its field; the error names the node.
        """
        made = {field.id: self._column(field, columns) for field in self._fields}
        features = Features({field.name: made[field.id][1] for field in self._fields})
        found = {node: array for node, (array, _) in made.items()}
        return pa.RecordBatch.from_arrays(list(found.values()), schema=features.arrow_schema), found

    def features(self) -> Features:
        """Return the columns that are known before a file is opened: those of text files."""
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
        """Return the column of a field without parts, inside `depth` lists besides its own."""
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
        """Return the field, and those in it, with data types: their own, or those of their sources."""
        if field.sub_fields:
            return replace(field, sub_fields=tuple(map(self._known, field.sub_fields)))
        data_types, source = field.data_types, field.source
        while not is_known(data_types) and source is not None and source.node in self._document.fields:  # no circle: it is read
            target = self._document.fields[source.node][1]
            data_types, source = data_types or target.data_types, target.source
        if data_types and not is_known(data_types):
            raise self._fault(field.id, f"has the data type {' and '.join(data_types)}, which is not supported", advice=_ADVICE)
        formats = [str(argument) for name, argument in (field.source.transforms if field.source else ()) if name == "format"]
        if "Date" in data_types and any("H" in each for each in formats):  # the values include a time of day
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
        """Return the struct of some columns; inside their lists, which must have the same lengths."""
        if not depth:
            return pa.StructArray.from_arrays(list(arrays), list(names))
        taken = [list_parts(array) for array in arrays]
        lengths, valid, _ = taken[0]
        for other, _, _ in taken[1:]:
            if not (other == lengths).all():
                row = int((other != lengths).argmax())
                raise self._fault(field.id, f"has sub-fields of different lengths, {lengths[row]} and {other[row]}", row=row)
        inner = self._zipped(field, [child for _, _, child in taken], names, depth - 1)
        are_null = all(validity(array) is not None for array in arrays)
        return list_array(pa.list_(inner.type), lengths, valid if are_null else None, inner)


def whole_id(field: FieldNode) -> str:
    """Return the identifier of a struct column that is read completely."""
    return f"{field.id}{WHOLE}"


def whole_column(field: FieldNode) -> FieldNode | None:
    """Return a field for a whole struct column, if its parts have the names they have there; else None."""
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
    """Return the column of a field and the path below it, if its source contains nothing else."""
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
    """Yield the names on the way from a field to each of its leaves."""
    for each in field.sub_fields:
        if each.sub_fields:
            yield from _names_below(each, (*before, each.name))
        else:
            yield (*before, each.name)


def _without_lists(feature: Any, depth: int) -> Any:
    for _ in range(depth):
        feature = feature.feature
    return feature


FilesOf = Callable[[str], Sequence[FoundFile]]
_WITH_STRUCTS = ("parquet", "arrow", "json", "jsonl")
_INLINE = "\0inline"  # not a valid identifier, so no clash


class Records:
    """Reads the records of one record set.

    Args:
        document: the description.
        record_set: the record set.
        without: identifiers of fields to leave out.
        above: the record sets that refer to this one.
        wanted: the features requested by the user.
        num_files: number of files with rows, if only some of them are read.
    """

    def __init__(
        self,
        document: CroissantDocument,
        record_set: RecordSetNode,
        *,
        without: Sequence[str] = (),
        above: Sequence[str] = (),
        wanted: Features | None = None,
        num_files: int | None = None,
    ) -> None:
        self._document, self.record_set = document, record_set
        self.fields = [field for field in record_set.fields if field.id not in without]
        for field in self.fields:
            self._see_supported(field)
        own = {leaf.id: leaf for field in record_set.fields for leaf in field.leaves()}
        self._leaves = [self._followed(leaf, own) for field in self.fields for leaf in field.leaves()]
        if not self._leaves:
            raise self.fault(record_set.id, "has no field that could be a column")
        self._num_files = num_files
        self._above = (*above, record_set.id)
        self._by_base: dict[str, list[FieldNode]] = {}
        for leaf in self._leaves:
            if (base := self._base_of(leaf)) is not None:
                self._by_base.setdefault(base, []).append(leaf)
        self._keys = self._joins()
        self.primary = self._primary()
        records = {leaf.id for base, leaves in self._by_base.items() if base in document.record_sets for leaf in leaves}
        self._assembly = Assembly(document, self.fields, records, wanted, self.fault)

    def _see_supported(self, field: FieldNode) -> None:
        if field.fault:
            raise self.fault(field.id, field.fault)
        for each in field.sub_fields:
            self._see_supported(each)

    def _followed(self, leaf: FieldNode, own: Mapping[str, FieldNode]) -> FieldNode:
        """Return a field whose source is another field of this record set, with that field's source before its own
        transforms.
        """
        for _ in own:
            if leaf.source is None or leaf.source.node not in own:
                return leaf
            before = own[leaf.source.node]
            if before.source is None:
                return replace(leaf, source=None, constant=before.constant)
            steps = (*before.source.transforms, *leaf.source.transforms)
            data_types = leaf.data_types or before.data_types
            leaf = replace(leaf, source=replace(before.source, transforms=steps), data_types=data_types)
        raise self.fault(leaf.id, "comes from itself")

    # -- where values come from ----------------------------------------------------------------------------------------

    def _base_of(self, field: FieldNode) -> str | None:
        """Return the source of the rows of a field: a file, a file set or a record set."""
        if self.record_set.data is not None:
            return _INLINE
        if field.source is None:
            if field.constant:
                return None
            raise self.fault(field.id, "has neither a source nor a value")
        return self._base_of_source(field.id, field.source)

    def _base_of_source(self, owner: str, source: ValueSource) -> str:
        if source.node in self._document.files:
            return source.node
        if source.node in self._document.fields:
            found = self._document.fields[source.node][0].id
            if found in self._above:
                raise self.fault(owner, f"comes from {source.node!r}, which in turn comes from {self.record_set.id!r}")
            return found
        raise self.fault(owner, f"has the source {source.node!r}, which is not a file, file set or field of the description")

    def _joins(self) -> list[tuple[FieldNode, str, FieldNode]]:
        """Return a field of this record set, the joined source, and the field in it."""
        found = []
        for leaf in self._leaves:
            if leaf.references is None or leaf.source is None or self.record_set.data is not None:
                continue
            left = self._base_of_source(leaf.id, leaf.source)
            target = self._document.fields.get(leaf.references.node)
            if target is None and leaf.references.node not in self._document.files:
                raise self.fault(leaf.id, f"refers to {leaf.references.node!r}, which is not a field of the description")
            if target is None:  # the column of a file
                there = FieldNode(f"{leaf.id}\0key", "key", source=leaf.references)
                right = leaf.references.node
            else:
                there, right = target[1], target[0].id
                if right not in self._by_base and there.source is not None and there.source.node in self._by_base:
                    right = there.source.node
            if right in self._by_base and right != left:
                found.append((leaf, right, there))
        return found

    def _primary(self) -> str | None:
        """Return the main source of the rows; others are joined to it."""
        joined = {right for _, right, _ in self._keys}
        free = [base for base in self._by_base if base not in joined]
        if len(free) > 1:
            first, second = (self._by_base[base][0].id for base in free[:2])
            raise self.fault(second, f"comes from {free[1]!r} and {first!r} from {free[0]!r}, but no key joins their rows")
        if not free and self._by_base:
            raise self.fault(self.record_set.id, "has fields whose sources are joined in a circle")
        return free[0] if free else None

    def resource(self) -> str | None:
        """Return the file or file set with the rows, directly or through record sets; None for rows in the description."""
        if self.primary is None or self.primary == _INLINE or self.primary in self._document.files:
            return None if self.primary == _INLINE else self.primary
        return self._other(self.primary).resource()

    def other_resources(self) -> set[str]:
        """Other files and file sets, which rows are joined from."""
        found: set[str] = set()
        for base in self._by_base:
            if base in self._document.files:
                found.add(base)
            elif base != _INLINE:
                other = self._other(base)
                found |= other.other_resources()
                if (own := other.resource()) is not None:
                    found.add(own)
        return found - {self.resource()}

    def _other(self, record_set: str) -> Records:
        return Records(self._document, self._document.record_sets[record_set], above=self._above)

    def features(self) -> Features | None:
        """Return the columns, if known before any file is opened: those of text files."""
        typed = ("parquet", "arrow")
        nodes = [self._document.files[base] for base in self._by_base if base in self._document.files]
        if any(kind_of_file(node, node.url or " ".join(node.includes)) in typed for node in nodes):
            return None
        return None if any(base in self._document.record_sets for base in self._by_base) else self._assembly.features()

    # -- rows ----------------------------------------------------------------------------------------------------------

    def tables(self, files: Sequence[FoundFile], files_of: FilesOf) -> Iterator[tuple[pa.RecordBatch, dict[str, pa.Array]]]:
        """Yield the records, some at a time, with the column of each field by its identifier.

        Args:
            files: the files with the rows.
            files_of: the files of other resources.

        Raises:
            FileFormatError: a file or value does not fit the description; the error names the node.
        """
        for columns in self._rows(files, files_of):
            batch, found = self._assembly.batch(columns)
            yield batch, {**columns.arrays, **found}

    def _rows(self, files: Sequence[FoundFile], files_of: FilesOf) -> Iterator[Columns]:
        rights = [(left, self._keyed(right, there, files_of)) for left, right, there in self._keys]
        own = self._with_wholes(self._by_base.get(self.primary or "", []), files)
        for columns in self._of_base(self.primary, own, files, files_of):
            arrays, num_rows = dict(columns.arrays), columns.num_rows
            for left, keyed in rights:
                if left.id not in arrays:
                    raise self.fault(left.id, "is the key of a join, but its own rows are joined later")
                try:
                    arrays, num_rows = keyed.joined(arrays, left.id, num_rows)
                except ValueFault as fault:
                    raise self.fault(left.id, fault.reason, file=columns.file) from fault
            for leaf in self._leaves:
                if leaf.constant and leaf.id not in arrays:
                    arrays[leaf.id] = array_of([leaf.constant[0]]).take(pa.array([0] * num_rows, pa.int64()))
            yield replace(columns, arrays=arrays, num_rows=num_rows)

    def _with_wholes(self, leaves: list[FieldNode], files: Sequence[FoundFile]) -> list[FieldNode]:
        """Return the fields to read: whole structs for structs of typed files."""
        if self.primary not in self._document.files or any(file.kind not in _WITH_STRUCTS for file in files):
            return leaves
        wholes = {field.id: whole for field in self.fields if (whole := whole_column(field)) is not None}
        parts = {leaf.id for field in self.fields if field.id in wholes for leaf in field.leaves()}
        return [leaf for leaf in leaves if leaf.id not in parts] + list(wholes.values())

    def _keyed(self, right: str, there: FieldNode, files_of: FilesOf) -> Keyed:
        """Return all rows that are joined by a key, in memory."""
        own = self._by_base[right]
        wanted = [*own] if right not in self._document.files else [*own, there]
        files = files_of(right) if right in self._document.files else files_of(self._other(right).resource() or "")
        keyed = Keyed(there.id, [field.id for field in own])
        for columns in self._of_base(right, wanted, files, files_of, key=there):
            keyed.add(columns.arrays)
        return keyed

    def _of_base(
        self,
        base: str | None,
        fields: Sequence[FieldNode],
        files: Sequence[FoundFile],
        files_of: FilesOf,
        key: FieldNode | None = None,
    ) -> Iterator[Columns]:
        if base is None:  # constants alone: one record
            yield Columns({}, 1, False, FoundFile("", self._document.path, "", "", ""), 0)
        elif base == _INLINE:
            yield self._inline()
        elif base in self._document.files:
            single = {field.id for field in self.fields if not field.sub_fields and not field.shape}
            count = len(files) if base != self.primary or self._num_files is None else self._num_files
            reader = ResourceRows(fields, self.fault, single=single, is_only_file=count == 1)
            yield from reader.batches(files)
        else:
            yield from self._of_record_set(base, fields, files, files_of, key)

    def _of_record_set(
        self,
        base: str,
        fields: Sequence[FieldNode],
        files: Sequence[FoundFile],
        files_of: FilesOf,
        key: FieldNode | None,
    ) -> Iterator[Columns]:
        where = FoundFile("", self._document.path, "", "", "")
        for batch, found in self._other(base).tables(files, files_of):
            arrays: dict[str, pa.Array] = {} if key is None else {key.id: self._taken(key.id, key.id, found)}
            for field in fields:
                source = field.source
                if source is None:
                    continue
                try:
                    arrays[field.id] = transformed(self._taken(field.id, source.node, found), source)
                except ValueFault as fault:
                    raise self.fault(field.id, fault.reason, row=fault.row) from fault
            yield Columns(arrays, batch.num_rows, True, where, 0)

    def _taken(self, owner: str, node: str, found: Mapping[str, pa.Array]) -> pa.Array:
        if node not in found:
            raise self.fault(owner, f"comes from {node!r}, which is not part of any record")
        return found[node]

    def _inline(self) -> Columns:
        rows = self.record_set.data or ()
        arrays = {}
        for leaf in self._leaves:
            keys = (leaf.id, leaf.name, f"{self.record_set.id}/{leaf.name}")
            values = [next((row[key] for key in keys if key in row), None) for row in rows]
            try:
                arrays[leaf.id] = array_of(values)
            except ValueFault as fault:
                raise self.fault(leaf.id, fault.reason, row=fault.row) from fault
        return Columns(arrays, len(rows), False, FoundFile("", self._document.path, "", "", ""), 0)

    # -- faults --------------------------------------------------------------------------------------------------------

    def fault(
        self,
        node: str,
        reason: str,
        *,
        file: FoundFile | None = None,
        row: int | None = None,
        advice: str = "Fix the description",
    ) -> FileFormatError:
        """Return the error about a node, and about the file in which it fails."""
        path, node = self._document.path, node.removesuffix(WHOLE)
        if file is None or not file.path:
            return FileFormatError(path, f"the node {node!r} {reason}", row=row, advice=advice)
        return FileFormatError(file.label, f"the node {node!r} of {path} {reason}", row=row, advice=advice)
