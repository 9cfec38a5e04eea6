"""The splits of a Croissant record set: the field that tells them, and which files or which values belong to each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as fresh
from typing import Any

import pyarrow as pa

from datasets_core.errors import FileFormatError
from datasets_core.meta.croissant_nodes import CroissantDocument, FieldNode, RecordSetNode
from datasets_core.meta.patterns import infer_splits
from datasets_core.meta.split import is_split_name

from ._croissant_found import FoundFile
from ._croissant_rows import ResourceRows
from ._croissant_values import ValueFault, transformed

_SPLIT_TYPES = {"Split", "Q3985153"}  # the second is Wikidata's, which descriptions of before 1.0 use
_OF_FILES = ("filename", "fullpath", "filepath")
_NAMES = ("split_name", "name")


@dataclass(frozen=True, slots=True)
class SplitField:
    """The field that says which split a record belongs to.

    Attributes:
        field: the field.
        names: split by value of the field, as its record set lists them; empty where it lists none.
        constant: the split of all records; None where they differ.
        is_of_files: whether the file of a record tells its split.
    """

    field: FieldNode
    names: Mapping[str, str] = fresh(default_factory=dict)
    constant: str | None = None
    is_of_files: bool = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """The field, where it only says what the name of the split says too; a column of the data stays."""
        return (self.field.id,) if self.is_of_files or self.constant is not None else ()

    def by_file(self, files: Sequence[FoundFile], fault: Callable[..., FileFormatError]) -> dict[str, list[FoundFile]]:
        """The files of each split, the splits in the order in which they are listed.

        Raises:
            FileFormatError: the path of a file tells no split.
        """
        found: dict[str, list[FoundFile]] = {split: [] for split in self.names.values()}
        source = self.field.source
        for file in files if source is not None else ():
            asked = source.file_property if source is not None else None
            rows = ResourceRows([self.field], fault)
            text = file.inner.rpartition("/")[2] if asked == "filename" else rows.full_path(self.field.id, file)
            try:
                value = transformed(pa.array([text]), source)[0].as_py() if source is not None else text
            except ValueFault as problem:
                raise fault(self.field.id, problem.reason, file=file) from problem
            split = self.names.get(value, value)
            if not isinstance(split, str) or not is_split_name(split) or (self.names and value not in self.names):
                raise fault(self.field.id, f"tells the split {value!r}, which is none of the description", file=file)
            found.setdefault(split, []).append(file)
        return {split: chosen for split, chosen in found.items() if chosen}

    def by_value(self) -> dict[str, list[str]]:
        """The values of the field that belong to each split."""
        found: dict[str, list[str]] = {}
        for value, split in self.names.items():
            found.setdefault(split, []).append(value)
        return found


def split_field(document: CroissantDocument, record_set: RecordSetNode) -> SplitField | None:
    """The field that divides the records into splits; None where there is none."""
    for each in record_set.fields:
        target = document.fields.get(each.references.node) if each.references is not None else None
        is_split = bool(_SPLIT_TYPES & set(each.data_types)) or (target is not None and "Split" in target[0].data_types)
        if not is_split or each.sub_fields:
            continue
        names = {} if target is None else _listed_names(*target)
        if each.constant and isinstance(each.constant[0], str) and is_split_name(each.constant[0]):
            return SplitField(each, constant=each.constant[0])
        if each.source is not None and each.source.file_property in _OF_FILES and each.source.node in document.files:
            return SplitField(each, names, is_of_files=True)
        if each.source is not None and all(is_split_name(split) for split in names.values()):
            return SplitField(each, names)
    return None


def _listed_names(owner: RecordSetNode, key: FieldNode) -> dict[str, str]:
    """Split by value of the key, as a record set lists them in the description."""
    named = next((each for each in owner.fields if each.id != key.id and each.name in _NAMES), key)

    def of(row: Mapping[str, Any], field: FieldNode) -> Any:
        return row.get(field.id, row.get(field.name))

    pairs = [(of(row, key), of(row, named)) for row in owner.data or ()]
    return {value: name for value, name in pairs if isinstance(value, str) and isinstance(name, str)}


def splits_of_names(paths: Sequence[str]) -> dict[str, set[str]]:
    """The files of each split, where the names of all files tell one of several well-known splits; else none."""
    if len(paths) < 2:
        return {}
    found = {str(split): set(names) for split, names in infer_splits(list(paths)).items()}
    is_told = len(found) > 1 and set(found) <= {"train", "validation", "test"} and set().union(*found.values()) == set(paths)
    return found if is_told else {}
