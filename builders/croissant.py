"""Croissant: datasets as JSON-LD describes them (MLCommons, versions 0.8 to 1.1), from whatever files and archives it names.

A record set is a config.  Its split field, where it has one, divides the rows: by the file they stand in, or by a column.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from datasets_core.building.builder import ArrowBasedBuilder
from datasets_core.building.builder_config import BuilderConfig
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError, FileFormatError, UnknownConfigError
from datasets_core.fetch.download import DownloadManager
from datasets_core.fetch.download_config import DownloadConfig
from datasets_core.files import is_url
from datasets_core.meta.croissant_document import parse_croissant
from datasets_core.meta.croissant_nodes import CroissantDocument, RecordSetNode
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split import is_split_name
from datasets_core.redact import redact

from ._croissant_files import ResourceFiles
from ._croissant_found import FoundFile
from ._croissant_parts import SplitField, split_field, splits_of_names
from ._croissant_records import Records

EXTENSIONS: dict[str, dict[str, Any]] = {}
FILE_NAMES = ("croissant.json", "metadata.json")
"""What a description is called in a folder, the first that is there."""

_MOST_BYTES = 256 << 20


@dataclass(eq=False)
class CroissantConfig(BuilderConfig):
    """Options of `load_dataset("croissant", ...)`; `name=` is the record set.

    Args:
        features: what the columns are cast to; by default what the description says of them.
    """

    features: Any = None


class Croissant(ArrowBasedBuilder):
    """The records of one record set of a Croissant description."""

    BUILDER_CONFIG_CLASS = CroissantConfig
    config: Any

    _document: CroissantDocument | None = None

    @classmethod
    def config_names_of(cls, data_files: Any, download_config: DownloadConfig | None) -> list[str]:
        """The configs of a description: the identifiers of its record sets with rows.

        Args:
            data_files: the description.
            download_config: how it is fetched.
        """
        path = described_in(data_files)
        place = DownloadManager(download_config=download_config).download(path) if is_url(path) else path
        return [each.id for each in _read(place, redact(path)).main_record_sets()]

    def told_splits(self, download_config: DownloadConfig | None) -> list[str] | None:
        """The splits as far as the description alone tells them; None where its files do.

        Args:
            download_config: how it is fetched.
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
        if is_url(path):  # it is fetched with the files that it names
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
        """The splits: name, files, and the values of the split field that belong to it where a column tells that."""
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
        """The splits that a column tells and nothing lists: its values, in the order of their first sight."""
        name, seen = described.field.name, dict[str, list[str]]()
        for batch, _ in records.tables(files, files_of):
            for value in batch.column(name).unique().to_pylist():
                if not isinstance(value, str) or not is_split_name(value):
                    raise records.fault(described.field.id, f"tells the split {value!r}, which no split can be called")
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
            raise ConfigurationError(f"{self.label} is read before its splits are named. Build it by download_and_prepare().")
        wanted, node = self.config.features, document.record_sets[record_set]
        records = Records(document, node, without=left_out, wanted=wanted, num_files=num_files)
        files = [FoundFile(*values) for values in zip(*(listed[name] for name in FoundFile.__slots__), strict=True)]

        def files_of(node: str) -> list[FoundFile]:
            return [FoundFile(*each) for each in others[node]] if node in others else files

        for number, (batch, found) in enumerate(records.tables(files, files_of)):
            if kept is not None:
                import pyarrow.compute as pc  # 15 ms that rows without such a column do without

                split_field_id, *values = kept
                batch = batch.filter(pc.is_in(found[split_field_id].cast(pa.string()), pa.array(values, pa.string())))
            yield number, batch

    # -- the description -----------------------------------------------------------------------------------------------

    def _path(self) -> str:
        return described_in(self.config.data_files)

    def _chosen(self, document: CroissantDocument) -> RecordSetNode:
        """The record set that is the config: by identifier or name, or the only one with rows.

        Raises:
            UnknownConfigError: there is none of that name, or there are several and none is named.
        """
        name = self.config.name
        listed = list(document.record_sets.values())
        found = next((each for each in listed if name in (each.id, each.name)), None)
        main = document.main_record_sets()
        if found is None and name == "default" and len(main) == 1:
            return main[0]
        if not listed:
            reason = "has no record set, so that nothing is known of its rows"
            raise FileFormatError(document.path, reason, advice="Load its files by their own format")
        if found is None:
            known = [each.id for each in main]
            raise UnknownConfigError(None if name == "default" else name, dataset=document.path, known=known)
        return found


def described_in(data_files: Any) -> str:
    """The one description among the data files.

    Raises:
        ConfigurationError: there are several files, or none.
    """
    found = [
        os.fspath(path) for paths in dict(data_files or {}).values() for path in ([paths] if isinstance(paths, str) else paths)
    ]
    if len(found) != 1:
        what = f"{len(found)} files" if found else "no file"
        raise ConfigurationError(f"A Croissant dataset is one description, and {what} are given. Give data_files= the one.")
    return found[0]


def _read(path: str, label: str) -> CroissantDocument:
    if os.path.getsize(path) > _MOST_BYTES:
        raise FileFormatError(label, "is larger than 256 MB: it is no description", advice="Give the description of a dataset")
    with open(path, "rb") as handle:
        return parse_croissant(handle.read(), path=label)


def _said(document: CroissantDocument, record_set: RecordSetNode) -> dict[str, str]:
    facts = {name: text for name, text in document.facts.items() if name in ("description", "citation", "homepage", "license")}
    return facts if facts.get("description") else {**facts, "description": record_set.description}


def _plain(file: FoundFile) -> tuple[str, ...]:
    return tuple(getattr(file, name) for name in FoundFile.__slots__)


def _listed(files: Sequence[FoundFile]) -> dict[str, list[str]]:
    """Files as lists of texts, which divide a split into jobs."""
    return {name: [getattr(file, name) for file in files] for name in FoundFile.__slots__}
