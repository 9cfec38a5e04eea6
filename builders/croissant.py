"""Croissant: datasets described in JSON-LD (MLCommons, versions 0.8 to 1.1), from the files and archives they name.

A record set is a config.  Its split field, if it has one, divides the rows: by their file, or by a column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as fresh
from typing import Any

import pyarrow as pa

from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import ConfigurationError, FileFormatError, UnknownConfigError, redact
from datasets_core.fetch.checksums import DownloadConfig
from datasets_core.fetch.downloads import DownloadManager
from datasets_core.files import is_url
from datasets_core.meta.croissant_document import parse_croissant
from datasets_core.meta.croissant_nodes import CroissantDocument, FieldNode, RecordSetNode
from datasets_core.meta.data_files import infer_splits
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.splits import is_split_name

from ._croissant_files import FoundFile, ResourceFiles
from ._croissant_records import Records
from ._croissant_rows import ResourceRows
from ._croissant_values import ValueFault, transformed

# The splits of a Croissant record set: the split field, and the files or values of each split.


_SPLIT_TYPES = {"Split", "Q3985153"}  # the second is Wikidata's, used by descriptions before 1.0
_OF_FILES = ("filename", "fullpath", "filepath")
_NAMES = ("split_name", "name")


@dataclass(frozen=True, slots=True)
class SplitField:
    """The field with the split of each record.

    Attributes:
        field: the field.
        names: split by value of the field, as its record set lists them; empty without a list.
        constant: the split of all records; None if they differ.
        is_of_files: True if the file of a record determines its split.
    """

    field: FieldNode
    names: Mapping[str, str] = fresh(default_factory=dict)
    constant: str | None = None
    is_of_files: bool = False

    @property
    def left_out(self) -> tuple[str, ...]:
        """The field if it only repeats the name of the split; a column of the data stays."""
        return (self.field.id,) if self.is_of_files or self.constant is not None else ()

    def by_file(self, files: Sequence[FoundFile], fault: Callable[..., FileFormatError]) -> dict[str, list[FoundFile]]:
        """Return the files of each split, in listed order.

        Raises:
            FileFormatError: the path of a file matches no split.
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
                raise fault(self.field.id, f"has the split {value!r}, which is not in the description", file=file)
            found.setdefault(split, []).append(file)
        return {split: chosen for split, chosen in found.items() if chosen}

    def by_value(self) -> dict[str, list[str]]:
        """Return the values of the field that belong to each split."""
        found: dict[str, list[str]] = {}
        for value, split in self.names.items():
            found.setdefault(split, []).append(value)
        return found


def split_field(document: CroissantDocument, record_set: RecordSetNode) -> SplitField | None:
    """Return the field that divides the records into splits, or None."""
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
    """Return the split of each value of the key, as listed in a record set of the description."""
    named = next((each for each in owner.fields if each.id != key.id and each.name in _NAMES), key)

    def of(row: Mapping[str, Any], field: FieldNode) -> Any:
        return row.get(field.id, row.get(field.name))

    pairs = [(of(row, key), of(row, named)) for row in owner.data or ()]
    return {value: name for value, name in pairs if isinstance(value, str) and isinstance(name, str)}


def splits_of_names(paths: Sequence[str]) -> dict[str, set[str]]:
    """Return the files of each split, if the names of all files contain one of several well-known splits; else empty."""
    if len(paths) < 2:
        return {}
    found = {str(split): set(names) for split, names in infer_splits(list(paths)).items()}
    is_told = len(found) > 1 and set(found) <= {"train", "validation", "test"} and set().union(*found.values()) == set(paths)
    return found if is_told else {}


EXTENSIONS: dict[str, dict[str, Any]] = {}
FILE_NAMES = ("croissant.json", "metadata.json")
"""Names of a description in a folder, by precedence."""

_MOST_BYTES = 256 << 20


@dataclass(eq=False)
class CroissantConfig(BuilderConfig):
    """Options of `load_dataset("croissant", ...)`; `name=` is the record set.

    Args:
        features: types that the columns are cast to; default: those of the description.
    """

    features: Any = None


class Croissant(ArrowBasedBuilder):
    """The records of one record set of a Croissant description."""

    is_format = True
    name = "croissant"
    cache_version = "190470249205060193cb683f2ab4c0ee"
    BUILDER_CONFIG_CLASS = CroissantConfig
    config: Any

    _document: CroissantDocument | None = None

    @classmethod
    def config_names_of(cls, data_files: Any, download_config: DownloadConfig | None) -> list[str]:
        """Return the configs of a description: the identifiers of its record sets with rows.

        Args:
            data_files: the description.
            download_config: download options.
        """
        path = described_in(data_files)
        place = DownloadManager(download_config=download_config).download(path) if is_url(path) else path
        return [each.id for each in _read(place, redact(path)).main_record_sets()]

    def told_splits(self, download_config: DownloadConfig | None) -> list[str] | None:
        """Return the splits as far as the description alone defines them; None if files define them.

        Args:
            download_config: download options.
        """
        path = self._path()
        place = DownloadManager(download_config=download_config).download(path) if is_url(path) else path
        document = _read(place, redact(path))
        described = split_field(document, self._chosen(document))
        if described is None:
            return [self._default_split()] if not any(file.is_set for file in document.files.values()) else None
        return [described.constant] if described.constant is not None else list(described.by_value()) or None

    def _info(self) -> DatasetInfo:
        path = self._path()
        if is_url(path):  # the description is fetched with the files that it refers to
            return DatasetInfo(features=self.config.features)
        document = _read(path, redact(path))
        record_set = self._chosen(document)
        described = split_field(document, record_set)
        records = Records(document, record_set, without=described.left_out if described else ())
        features = self.config.features or records.features()
        info = DatasetInfo(features=features)
        for name, text in _said(document, record_set).items():
            setattr(info, name, text)
        return info

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        path = self._path()
        document = _read(os.fspath(dl_manager.download(path)), redact(path))
        record_set = self._chosen(document)
        self._document = document
        for name, text in _said(document, record_set).items():
            if not getattr(self.info, name):
                setattr(self.info, name, text)
        described = split_field(document, record_set)
        left_out = described.left_out if described else ()
        records = Records(document, record_set, without=left_out)
        found = ResourceFiles(document, path, dl_manager, self.token)
        resource = records.resource()
        files = [] if resource is None else found.of(resource)
        shared: dict[str, Any] = {
            "record_set": record_set.id,
            "left_out": tuple(left_out),
            "num_files": len(files),
            "others": {node: tuple(map(_plain, found.of(node))) for node in sorted(records.other_resources())},
        }
        return [
            SplitGenerator(split, {**_listed(chosen), **shared, "kept": kept})
            for split, chosen, kept in self._divided(files, described, records, found.of)
        ]

    def _divided(
        self,
        files: Sequence[FoundFile],
        described: SplitField | None,
        records: Records,
        files_of: Callable[[str], Sequence[FoundFile]],
    ) -> Iterator[tuple[str, Sequence[FoundFile], tuple[Any, ...] | None]]:
        """Yield the splits: name, files, and the values of the split field for it if a column defines splits."""
        if described is None:
            by_name = splits_of_names([file.inner for file in files])
            for split, names in by_name.items() if by_name else ():
                yield split, [file for file in files if file.inner in names], None
            if not by_name:
                yield self._default_split(), files, None
        elif described.constant is not None:
            yield described.constant, files, None
        elif described.is_of_files:
            for split, chosen in described.by_file(files, records.fault).items():
                yield split, chosen, None
        else:
            by_value = described.by_value() or self._values_of(described, records, files, files_of)
            for split, values in by_value.items():
                yield split, files, (described.field.id, *values)

    def _values_of(
        self,
        described: SplitField,
        records: Records,
        files: Sequence[FoundFile],
        files_of: Callable[[str], Sequence[FoundFile]],
    ) -> dict[str, list[str]]:
        """Return the splits defined by an unlisted column: its values, in order of first occurrence."""
        name, seen = described.field.name, dict[str, list[str]]()
        for batch, _ in records.tables(files, files_of):
            for value in batch.column(name).unique().to_pylist():
                if not isinstance(value, str) or not is_split_name(value):
                    raise records.fault(described.field.id, f"has the split {value!r}, which is not a valid name of a split")
                seen.setdefault(value, [value])
        return seen

    def _default_split(self) -> str:
        data_files = self.config.data_files
        return str(next(iter(data_files))) if isinstance(data_files, Mapping) and data_files else "train"

    def _generate_tables(
        self,
        record_set: str,
        left_out: Sequence[str],
        num_files: int,
        others: Mapping[str, Any],
        kept: Sequence[Any] | None,
        **listed: Sequence[str],
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        document = self._document
        if document is None:
            raise ConfigurationError(f"{self.label} is read before its splits are known. Call download_and_prepare() first.")
        wanted, node = self.config.features, document.record_sets[record_set]
        records = Records(document, node, without=left_out, wanted=wanted, num_files=num_files)
        files = [FoundFile(*values) for values in zip(*(listed[name] for name in FoundFile.__slots__), strict=True)]

        def files_of(node: str) -> list[FoundFile]:
            return [FoundFile(*each) for each in others[node]] if node in others else files

        for number, (batch, found) in enumerate(records.tables(files, files_of)):
            if kept is not None:
                import pyarrow.compute as pc  # takes 15 ms; rows without such a column do not need it

                split_field_id, *values = kept
                batch = batch.filter(pc.is_in(found[split_field_id].cast(pa.string()), pa.array(values, pa.string())))
            yield number, batch

    # -- the description -----------------------------------------------------------------------------------------------

    def _path(self) -> str:
        return described_in(self.config.data_files)

    def _chosen(self, document: CroissantDocument) -> RecordSetNode:
        """Return the record set of the config: by identifier or name, or the only one with rows.

        Raises:
            UnknownConfigError: no record set has that name, or there are several and no name was given.
        """
        name = self.config.name
        listed = list(document.record_sets.values())
        found = next((each for each in listed if name in (each.id, each.name)), None)
        main = document.main_record_sets()
        if found is None and name == "default" and len(main) == 1:
            return main[0]
        if not listed:
            reason = "has no record set that describes rows"
            raise FileFormatError(document.path, reason, advice="Load its files with their own format")
        if found is None:
            known = [each.id for each in main]
            raise UnknownConfigError(None if name == "default" else name, dataset=document.path, known=known)
        return found


def described_in(data_files: Any) -> str:
    """Return the only description among the data files.

    Raises:
        ConfigurationError: there are several files, or none.
    """
    found = [
        os.fspath(path) for paths in dict(data_files or {}).values() for path in ([paths] if isinstance(paths, str) else paths)
    ]
    if len(found) != 1:
        what = f"{len(found)} files" if found else "no file"
        raise ConfigurationError(f"A Croissant dataset is one description, but {what} were given. Pass one file.")
    return found[0]


def _read(path: str, label: str) -> CroissantDocument:
    if os.path.getsize(path) > _MOST_BYTES:
        raise FileFormatError(
            label, "is larger than 256 MB, so it is not a description", advice="Pass the description of a dataset"
        )
    with open(path, "rb") as handle:
        return parse_croissant(handle.read(), path=label)


def _said(document: CroissantDocument, record_set: RecordSetNode) -> dict[str, str]:
    facts = {name: text for name, text in document.facts.items() if name in ("description", "citation", "homepage", "license")}
    return facts if facts.get("description") else {**facts, "description": record_set.description}


def _plain(file: FoundFile) -> tuple[str, ...]:
    return tuple(getattr(file, name) for name in FoundFile.__slots__)


def _listed(files: Sequence[FoundFile]) -> dict[str, list[str]]:
    """Return files as lists of texts, which divide a split into jobs."""
    return {name: [getattr(file, name) for file in files] for name in FoundFile.__slots__}
