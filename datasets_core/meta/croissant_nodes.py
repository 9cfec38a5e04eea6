"""The nodes of a Croissant description as values: files, record sets, fields, and where the values of a field come from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Target = Literal["any", "field", "fileObject", "fileSet", "recordSet"]


@dataclass(frozen=True, slots=True)
class ValueSource:
    """Where values come from.

    Attributes:
        node: the identifier of a file, a file set, a record set or a field.
        column: the column of a table.
        json_path: the path in JSON.
        file_property: what of the file itself: its content, lines, names.
        transforms: what is done to the values, in order: `(name, argument)`.
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
        name: what its column is called.
        data_types: the last parts of the IRIs of its types.
        source: where its values come from.
        references: what they refer to, in another record set.
        sub_fields: the fields inside it.
        shape: the lengths of the lists that it is, -1 for any length; () for a single value.
        constant: the value of all rows, alone in a tuple.
        fault: what the node says that is not supported, as the predicate of a sentence; it counts where the field is read.
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
        """The fields without sub-fields."""
        if not self.sub_fields:
            yield self
        for inner in self.sub_fields:
            yield from inner.leaves()


@dataclass(frozen=True, slots=True)
class RecordSetNode:
    """A record set.

    Attributes:
        id: its identifier.
        name: what it is called.
        description: in words.
        data_types: the last parts of the IRIs of its types.
        fields: the columns.
        data: the rows, where they stand in the description itself.
    """

    id: str
    name: str
    description: str = ""
    data_types: tuple[str, ...] = ()
    fields: tuple[FieldNode, ...] = ()
    data: tuple[Mapping[str, Any], ...] | None = None

    @property
    def is_main(self) -> bool:
        """Whether it holds the rows of a dataset, and not its splits, classes or other things that rows refer to."""
        return self.data is None and not {"Split", "Enumeration"} & set(self.data_types)


@dataclass(frozen=True, slots=True)
class Container:
    """What a file or a file set lies in.

    Attributes:
        node: the identifier.
        transforms: how it is opened: `unArchive`, `readLines`.
    """

    node: str
    transforms: tuple[tuple[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class FileNode:
    """A file, or a set of files.

    Attributes:
        id: its identifier.
        name: what it is called.
        is_set: whether it is a set of files.
        url: where the file is; the path in its container, if it has one.
        encodings: its media types.
        sha256, md5: hashes of its content, as they are written; "" where unknown.
        containers: what it lies in; none for a file of its own, and for a set beside the description.
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
        facts: what is said of the dataset, by the names of `DatasetInfo`.
        files: files and file sets by identifier.
        record_sets: record sets by identifier.
        fields: fields by identifier, those inside others too, with the record set of each.
    """

    path: str
    facts: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, FileNode] = field(default_factory=dict)
    record_sets: Mapping[str, RecordSetNode] = field(default_factory=dict)
    fields: Mapping[str, tuple[RecordSetNode, FieldNode]] = field(default_factory=dict)

    def main_record_sets(self) -> list[RecordSetNode]:
        """The record sets that are configs: those with the rows of the dataset, or all where there are no such."""
        found = [each for each in self.record_sets.values() if each.is_main]
        return found or list(self.record_sets.values())
