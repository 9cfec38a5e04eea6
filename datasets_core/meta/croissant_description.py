"""A dataset described in Croissant: JSON-LD that names its files with their hashes, and tells where each column stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datasets_core.features.schema import Features
from datasets_core.meta.croissant_fields import FieldWriter
from datasets_core.meta.croissant_splits import split_nodes
from datasets_core.meta.croissant_terms import CONFORMS_TO, CONTEXT, Ids, plain_text
from datasets_core.meta.dataset_files import TABLES, DatasetFile, DatasetFiles

_NO_FILES = "Files that the rows may be written to, as a push to the Hub lays them out. None of them is there yet."


@dataclass(frozen=True, slots=True)
class Described:
    """What is said of a dataset besides its files.

    Attributes:
        name: of the dataset.
        config: of its config.
        description, citation, license, homepage, version: as they are recorded; "" where unknown.
        features: its columns; None where unknown.
        splits: their names.
    """

    name: str
    config: str = "default"
    description: str = ""
    citation: str = ""
    license: str = ""
    homepage: str = ""
    version: str = ""
    features: Features | None = None
    splits: Sequence[str] = ()


def described(*configs: tuple[Described, DatasetFiles | None]) -> dict[str, Any]:
    """The description of a dataset, as JSON-LD.

    The files that hold the rows are told one by one; several of them make one file set, which the fields refer to.  Of a
    dataset without files, the fields are told as those of Parquet files that are still to be written.

    Args:
        configs: what is said of the dataset, and its files, for each of its configs; each is a record set.

    >>> told = described((Described("birds", features=Features({"name": Value("string")})), None))
    >>> [field["name"] for field in told["recordSet"][0]["field"]], told["conformsTo"]
    (['name'], 'http://mlcommons.org/croissant/1.1')
    """
    ids = Ids()
    record_sets = [ids.new(said.config) for said, _ in configs]
    distribution: dict[str, dict[str, Any]] = {}
    nodes: dict[tuple[str, str | None], str] = {}
    listed: list[dict[str, Any]] = []
    for (said, known), record_set in zip(configs, record_sets, strict=True):
        files = known or DatasetFiles()
        features = said.features if files.features is None else files.features
        tables = _of_splits(files.tables, said.splits)
        for file in (*tables, *files.others):
            if (file.name, file.url) not in nodes:
                node = nodes[file.name, file.url] = ids.of_path(file.name)
                distribution[node] = _file_object(file, node)
        if features:
            source, file_set = _source(ids, said.config, tables, [nodes[file.name, file.url] for file in tables])
            if file_set is not None:
                distribution[file_set["@id"]] = file_set
            listed += _record_sets(ids, record_set, said, features, source, tables)
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        **_facts(configs[0][0], configs[0][1] or DatasetFiles()),
        "distribution": list(distribution.values()),
        "recordSet": listed,
    }


def _facts(said: Described, files: DatasetFiles) -> dict[str, Any]:
    """What is said of the whole dataset; what is unknown is left out."""
    facts = {
        "name": said.name,
        "description": said.description or f"The dataset {said.name}.",
        "license": said.license,
        "citeAs": said.citation,
        "url": files.page or said.homepage,
        "sameAs": said.homepage if files.page and said.homepage != files.page else "",
        "version": said.version,
        "datePublished": files.created,
    }
    told: dict[str, Any] = {name: plain_text(text) for name, text in facts.items() if text}
    if files.owner:
        told["creator"] = {"@type": "sc:Organization", "name": files.owner}
    return told


def _of_splits(tables: Sequence[DatasetFile], splits: Sequence[str]) -> list[DatasetFile]:
    """The files that hold rows of the splits; all of them where no split is known."""
    return [file for file in tables if not file.splits or not splits or set(file.splits) & set(splits)]


def _file_object(file: DatasetFile, node: str) -> dict[str, Any]:
    told = {"@type": "cr:FileObject", "@id": node, "name": plain_text(file.name)}
    if file.size is not None and file.size >= 0:
        told["contentSize"] = f"{file.size} B"
    told |= {"contentUrl": plain_text(file.url or file.name), "encodingFormat": file.encoding}
    return told | ({"sha256": file.sha256} if file.sha256 else {})


def _source(
    ids: Ids, config: str, tables: Sequence[DatasetFile], nodes: Sequence[str]
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The node that columns stand in: the one file, or a set of all, which is to be described too."""
    if len(tables) == 1:
        return {"fileObject": {"@id": nodes[0]}}, None
    kind = next((ext[1:] for ext, encoding in TABLES.items() if tables and encoding == tables[0].encoding), "parquet")
    node = ids.of_path(f"{kind}-files-for-config-{config.replace('/', '_')}")
    told: dict[str, Any] = {"@type": "cr:FileSet", "@id": node, "name": plain_text(node)}
    if not tables:
        told |= {"description": _NO_FILES, "encodingFormat": TABLES[".parquet"], "includes": "data/*.parquet"}
    else:
        encodings = list(dict.fromkeys(file.encoding for file in tables))
        told["encodingFormat"] = encodings[0] if len(encodings) == 1 else encodings
        if any(file.url for file in tables):  # the set is the union of these files
            told |= {"containedIn": [{"@id": each} for each in nodes], "includes": "*"}
        else:
            told["includes"] = _includes([file.name for file in tables])
    return {"fileSet": {"@id": node}}, told


def _includes(names: Sequence[str]) -> list[str]:
    """Patterns that name these files and no others: each for itself."""
    return ["".join(f"[{sign}]" if sign in "*?[" else sign for sign in plain_text(name)) for name in names]


def _record_sets(
    ids: Ids,
    record_set: str,
    said: Described,
    features: Features,
    source: Mapping[str, Any],
    tables: Sequence[DatasetFile],
) -> list[dict[str, Any]]:
    """The record set of the rows, behind those that it refers to: the splits, and the names of classes."""
    before: list[dict[str, Any]] = []
    fields: list[dict[str, Any]] = []
    told = dict.fromkeys(split for file in tables for split in file.splits)
    splits = [split for split in (told or said.splits) if split in (said.splits or told)]
    if splits and all(len(file.splits) == 1 for file in tables):  # a file of several splits tells none
        listed, field = split_nodes(ids, record_set, splits, tables, source, features)
        before.append(listed)
        fields.append(field)
    writer = FieldWriter(ids, record_set, source, is_json=bool(tables) and tables[0].encoding == TABLES[".json"])
    fields += writer.fields(features)
    rows = {
        "@type": "cr:RecordSet",
        "@id": record_set,
        "name": plain_text(said.config),
        "description": f"The rows of {plain_text(said.name)}, config {plain_text(said.config)!r}.",
        "field": fields,
    }
    return [*before, *writer.enumerations, rows]
