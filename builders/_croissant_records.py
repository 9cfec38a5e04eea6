"""The records of one record set: where its fields come from, joined where they come from several places, as typed columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from datasets_core.errors import FileFormatError
from datasets_core.features.schema import Features
from datasets_core.meta.croissant_nodes import CroissantDocument, FieldNode, RecordSetNode, ValueSource

from ._croissant_assembly import WHOLE, Assembly, whole_column
from ._croissant_found import FoundFile, kind_of_file
from ._croissant_joins import Keyed
from ._croissant_rows import Columns, ResourceRows
from ._croissant_values import ValueFault, array_of, transformed

FilesOf = Callable[[str], Sequence[FoundFile]]
_WITH_STRUCTS = ("parquet", "arrow", "json", "jsonl")
_INLINE = "\0inline"  # no identifier holds it


class Records:
    """Reads the records of one record set.

    Args:
        document: the description.
        record_set: the record set.
        without: identifiers of fields that are left out.
        above: the record sets that take fields of this one.
        wanted: the features that the user asks for.
        num_files: how many files give the rows, where those at hand are a part of them.
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
        """A field whose source is another field of this record set, with that field's source before its own transforms."""
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
        """What the rows are read from in which the values of a field stand: a file, a file set or a record set."""
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
                raise self.fault(owner, f"comes from {source.node!r}, which comes from {self.record_set.id!r} in turn")
            return found
        raise self.fault(owner, f"has the source {source.node!r}, which is no file, file set or field of the description")

    def _joins(self) -> list[tuple[FieldNode, str, FieldNode]]:
        """A field here, what is joined by it, and the field there."""
        found = []
        for leaf in self._leaves:
            if leaf.references is None or leaf.source is None or self.record_set.data is not None:
                continue
            left = self._base_of_source(leaf.id, leaf.source)
            target = self._document.fields.get(leaf.references.node)
            if target is None and leaf.references.node not in self._document.files:
                raise self.fault(leaf.id, f"refers to {leaf.references.node!r}, which is no field of the description")
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
        """What gives the rows; all else is joined to it."""
        joined = {right for _, right, _ in self._keys}
        free = [base for base in self._by_base if base not in joined]
        if len(free) > 1:
            first, second = (self._by_base[base][0].id for base in free[:2])
            raise self.fault(
                second, f"comes from {free[1]!r} and {first!r} from {free[0]!r}, and nothing says how their rows join"
            )
        if not free and self._by_base:
            raise self.fault(self.record_set.id, "has fields whose sources are joined in a circle")
        return free[0] if free else None

    def resource(self) -> str | None:
        """The file or file set that gives the rows, be it through other record sets; None for rows in the description."""
        if self.primary is None or self.primary == _INLINE or self.primary in self._document.files:
            return None if self.primary == _INLINE else self.primary
        return self._other(self.primary).resource()

    def other_resources(self) -> set[str]:
        """Files and file sets besides that one which rows are joined from."""
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
        """The columns, where they can be told before any file is looked at: of rows of text."""
        typed = ("parquet", "arrow")
        nodes = [self._document.files[base] for base in self._by_base if base in self._document.files]
        if any(kind_of_file(node, node.url or " ".join(node.includes)) in typed for node in nodes):
            return None
        return None if any(base in self._document.record_sets for base in self._by_base) else self._assembly.features()

    # -- rows ----------------------------------------------------------------------------------------------------------

    def tables(self, files: Sequence[FoundFile], files_of: FilesOf) -> Iterator[tuple[pa.RecordBatch, dict[str, pa.Array]]]:
        """The records, some at a time, with the column of each field by its identifier.

        Args:
            files: those that give the rows.
            files_of: the files of other resources.

        Raises:
            FileFormatError: a file is not what it is said to be, or a value not what its field says; it names the node.
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
                    raise self.fault(left.id, "is the key of a join, and its own rows are joined later")
                try:
                    arrays, num_rows = keyed.joined(arrays, left.id, num_rows)
                except ValueFault as fault:
                    raise self.fault(left.id, fault.reason, file=columns.file) from fault
            for leaf in self._leaves:
                if leaf.constant and leaf.id not in arrays:
                    arrays[leaf.id] = array_of([leaf.constant[0]]).take(pa.array([0] * num_rows, pa.int64()))
            yield replace(columns, arrays=arrays, num_rows=num_rows)

    def _with_wholes(self, leaves: list[FieldNode], files: Sequence[FoundFile]) -> list[FieldNode]:
        """The fields to read: for structs that stand so in typed files, the struct."""
        if self.primary not in self._document.files or any(file.kind not in _WITH_STRUCTS for file in files):
            return leaves
        wholes = {field.id: whole for field in self.fields if (whole := whole_column(field)) is not None}
        parts = {leaf.id for field in self.fields if field.id in wholes for leaf in field.leaves()}
        return [leaf for leaf in leaves if leaf.id not in parts] + list(wholes.values())

    def _keyed(self, right: str, there: FieldNode, files_of: FilesOf) -> Keyed:
        """All rows that are joined by a key, in memory."""
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
            raise self.fault(owner, f"comes from {node!r}, which is a part of no record")
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
        advice: str = "Mend the description",
    ) -> FileFormatError:
        """The error about a node, and about the file in which it does not work out."""
        path, node = self._document.path, node.removesuffix(WHOLE)
        if file is None or not file.path:
            return FileFormatError(path, f"the node {node!r} {reason}", row=row, advice=advice)
        return FileFormatError(file.label, f"the node {node!r} of {path} {reason}", row=row, advice=advice)
