"""Croissant descriptions of datasets: JSON-LD with the files, their hashes, and the origin of each column."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value, name_from_type, storage_of
from datasets_core.features.media.media import Media
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, FixedShape
from datasets_core.meta.listings import TABLES, DatasetFile, DatasetFiles

# The vocabulary of Croissant: its JSON-LD context, its versions, and how parts of a description are identified.


CONFORMS_TO = "http://mlcommons.org/croissant/1.1"

# The standard context of version 1.1, with the terms that its reference implementation requires.
_OWN_TERMS = (
    "annotation arrayShape citeAs column containedIn equivalentProperty excludes extract field fileObject fileProperty fileSet "
    "format includes isArray isLiveDataset jsonPath key md5 parentField path readLines recordSet references regex repeated "
    "replace samplingRate sdVersion separator source subField transform unArchive"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _OWN_TERMS.split()},
}


class Ids:
    """Identifiers that are well-formed, and unique in one description.

    >>> ids = Ids()
    >>> ids.new("default", "a b"), ids.new("default", "a/b"), ids.new("default", "a b"), ids.new("..")
    ('default/a%20b', 'default/a%2Fb', 'default/a%20b~2', '%2E%2E')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, *parts: str) -> str:
        """Return a new identifier: the first parts, which are identifiers already, followed by the last one, a name."""
        *before, last = parts
        return self._unique("/".join((*before, _segment(last))))

    def of_path(self, path: str) -> str:
        """Return an identifier that shows the path of a file.

        >>> Ids().of_path("data/train set.csv")
        'data/train%20set.csv'
        """
        return self._unique("/".join(map(_segment, path.split("/"))))

    def _unique(self, wanted: str) -> str:
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}~{number}"
        self._taken.add(found)
        return found


def _segment(text: str) -> str:
    """Return one part of an identifier: neither empty nor only dots, which would change the path."""
    if not text.strip("."):
        return "%2E" * len(text) or "_"
    return quote(text, safe="~", errors="replace")


def plain_text(text: str) -> str:
    """Return a text as JSON-LD can contain it: unpaired surrogates become question marks.

    >>> plain_text("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode("utf-8")


# Features as fields of a Croissant record set: type of each column, and its place in its file.


_NUMBERS = {
    "float16": "cr:Float16",
    "float32": "cr:Float32",
    "float64": "cr:Float64",
    **{f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"cr:UInt{bits}" for bits in (8, 16, 32, 64)},
}
_FAMILIES: dict[str, str | list[str]] = {  # the type known to every reader comes first
    "bool": "sc:Boolean",
    "timestamp": "sc:DateTime",
    "date": "sc:Date",
    "time": "sc:Time",
    "duration": ["cr:Int64", "sc:Duration"],
    "decimal": ["sc:Float", "sc:Number"],
}
_FAMILY = re.compile(r"[a-z]+")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Place:
    """Place of values: the column, and the path from its value to them.

    Attributes:
        column: the name.
        paths: JSON paths, one for each list on the way, the last for its items.
    """

    column: str
    paths: tuple[str, ...] = ("",)

    def below(self, key: str) -> _Place:
        return replace(self, paths=(*self.paths[:-1], _stepped(self.paths[-1], key)))

    def inside(self) -> _Place:
        """Return the place in the elements of a list: paths apply to each element, except for a list that is the
        column itself.
        """
        return self if self.paths == ("",) else replace(self, paths=(*self.paths, ""))


class FieldWriter:
    """Makes the fields of one record set.

    Args:
        ids: the identifiers of the description.
        record_set: the identifier of the record set.
        source: the node with the columns, as `{"fileSet": {"@id": …}}`.
        is_json: True if its files are JSON arrays of rows, whose values are found by paths.

    Attributes:
        enumerations: record sets with class names, referenced by fields.
    """

    def __init__(self, ids: Ids, record_set: str, source: Mapping[str, Any], *, is_json: bool = False) -> None:
        self.enumerations: list[dict[str, Any]] = []
        self._ids, self._record_set, self._source, self._is_json = ids, record_set, source, is_json

    def fields(self, features: Features) -> list[dict[str, Any]]:
        """Return one field for each column."""
        return [
            {**self._field(name, kind, self._ids.new(self._record_set, name), _Place(name)), "description": _said(name, kind)}
            for name, kind in features.items()
        ]

    def _field(self, name: str, feature: FeatureType, node: str, place: _Place) -> dict[str, Any]:
        field: dict[str, Any] = {"@type": "cr:Field", "@id": node, "name": plain_text(name)}
        feature, shape = _unwrapped(feature)
        if isinstance(feature, Feature) and feature.croissant is None and storage_of(feature) is not feature:
            feature, lengths = _unwrapped(storage_of(feature))
            shape += lengths
        if shape:
            field |= {"isArray": True, "arrayShape": ",".join(map(str, shape))}
            place = place.inside()
        if isinstance(feature, dict) and feature:
            field["subField"] = [
                self._field(key, inner, self._ids.new(node, key), place.below(key)) for key, inner in feature.items()
            ]
            return field
        field["dataType"] = data_type(feature)
        field["source"] = self._from(place.below("bytes") if isinstance(feature, Media) else place)
        if isinstance(feature, ClassLabel) and feature.names:
            field["references"] = {"field": {"@id": self._enumerated(node, name, feature.names)}}
        return field

    def _from(self, place: _Place) -> dict[str, Any]:
        column = plain_text(place.column)
        extract = {"jsonPath": _stepped("$[*]", column)} if self._is_json else {"column": column}
        source = {**self._source, "extract": extract}
        steps = [{"jsonPath": path} for path in place.paths if path]
        if steps:
            source["transform"] = steps[0] if len(steps) == 1 else steps
        return source

    def _enumerated(self, node: str, name: str, names: Sequence[str]) -> str:
        """Record the names of classes; return the identifier of the field that numbers them."""
        record_set = self._ids.of_path(f"{node.replace('/', '_')}_labels")
        number, label = self._ids.new(record_set, "index"), self._ids.new(record_set, "name")
        self.enumerations.append(
            {
                "@type": "cr:RecordSet",
                "@id": record_set,
                "name": record_set,
                "description": f"The classes of {plain_text(name)}.",
                "dataType": "sc:Enumeration",
                "key": {"@id": number},
                "field": [
                    {"@type": "cr:Field", "@id": number, "name": "index", "dataType": "cr:Int64"},
                    {"@type": "cr:Field", "@id": label, "name": "name", "dataType": ["sc:Text", "sc:name"]},
                ],
                "data": [{number: index, label: plain_text(str(each))} for index, each in enumerate(names)],
            }
        )
        return number


def _stepped(path: str, key: str) -> str:
    """Return a JSON path extended by a key."""
    key = plain_text(key)
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return path + "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"


def data_type(feature: FeatureType) -> str | list[str]:
    """Return the data type of values other than lists, and of structs without fields.

    >>> from datasets_core.features import Image, Value
    >>> data_type(Value("uint8")), data_type(Value("timestamp[us, tz=UTC]")), data_type(Image())
    ('cr:UInt8', 'sc:DateTime', 'sc:ImageObject')
    """
    if isinstance(feature, dict):
        return "sc:Text"
    if feature.croissant is not None:
        return feature.croissant if isinstance(feature.croissant, str) else list(feature.croissant)
    dtype = name_from_type(feature.arrow_type) or "string"
    if dtype in _NUMBERS:
        return _NUMBERS[dtype]
    family = _FAMILY.match(dtype)
    return _FAMILIES.get(family[0] if family else "", "sc:Text")


def _unwrapped(feature: FeatureType) -> tuple[FeatureType, list[int]]:
    """Return the innermost type of nested lists, and their lengths, -1 for variable ones."""
    shape: list[int] = []
    while isinstance(feature, (List, LargeList)):
        shape.append(feature.length if isinstance(feature, List) else -1)
        feature = feature.feature
    if isinstance(feature, FixedShape):
        return feature.element, shape + [-1 if size is None else size for size in feature.shape]
    return feature, shape


def _said(name: str, feature: FeatureType) -> str:
    inner, shape = _unwrapped(feature)
    word = "struct" if isinstance(inner, dict) else inner.dtype if isinstance(inner, Value) else inner._type
    return f"Column {plain_text(name)!r}: {'lists of ' if shape else ''}{word}."


# The split of a row in Croissant: from the path of its file, or a constant.


_DIGITS = re.compile(r"\d+")


def split_nodes(
    ids: Ids,
    record_set: str,
    splits: Sequence[str],
    files: Sequence[DatasetFile],
    source: Mapping[str, Any],
    columns: Collection[str] = (),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the record set that lists the splits, and the field with the split of each row.

    The field is a constant for a single split, and a part of the path of the row's file if one pattern fits all paths.
    Else it is that path, which the record set maps to the split.

    Args:
        ids: the identifiers of the description.
        record_set: that of the rows.
        splits: their names, at least one.
        files: those of the rows, each of one split; empty if they are still to be written.
        source: the node of the files.
        columns: names of the columns; the name of the field differs from these.
    """
    called = next(word for number in range(len(columns) + 1) if (word := "split" + "_name" * number) not in columns)
    node = ids.of_path(f"{record_set}_splits")
    name = ids.new(node, "split_name")
    listed: dict[str, Any] = {
        "@type": "cr:RecordSet",
        "@id": node,
        "name": node,
        "description": f"The splits of {record_set}.",
        "dataType": "cr:Split",
        "key": {"@id": name},
        "field": [{"@type": "cr:Field", "@id": name, "name": "split_name", "dataType": "sc:Text"}],
        "data": [{name: split} for split in splits],
    }
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": ids.new(record_set, called),
        "name": called,
        "description": "The split that the row belongs to.",
        "dataType": "sc:Text",
    }
    if files and len(splits) == 1:
        return listed, field | {"dataType": ["sc:Text", "cr:Split"], "value": splits[0]}
    field["source"] = {**source, "extract": {"fileProperty": "fullpath"}}
    pattern = split_pattern(files) if files else f"^data/({'|'.join(map(re.escape, splits))})-.+\\.parquet$"
    if pattern is not None:
        field["source"]["transform"] = {"regex": pattern}
        return listed, field | {"references": {"field": {"@id": name}}}
    file = ids.new(node, "file")
    listed["key"] = {"@id": file}
    listed["field"].append({"@type": "cr:Field", "@id": file, "name": "file", "dataType": "sc:Text"})
    listed["data"] = [{name: each.splits[0], file: plain_text(each.name)} for each in files]
    return listed, field | {"references": {"field": {"@id": file}}}


def split_pattern(files: Sequence[DatasetFile]) -> str | None:
    """Return a regular expression whose group is the split of each file, from its name; None if no single one fits.

    >>> split_pattern([DatasetFile(f"data/{name}-00000-of-00001.parquet", splits=(name,)) for name in ("train", "test")])
    '^data/(train|test)\\\\-\\\\d+\\\\-of\\\\-\\\\d+\\\\.parquet$'
    """
    if any(len(file.splits) != 1 for file in files):
        return None
    shared: set[tuple[str, str]] = set()
    for number, file in enumerate(files):
        frames = set(_frames(file.name, file.splits[0]))
        shared = frames if number == 0 else shared & frames
        if not shared:
            return None
    names = "|".join(map(re.escape, dict.fromkeys(file.splits[0] for file in files)))
    for before, after in sorted(shared, key=lambda frame: (len(frame[0]), frame)):
        pattern = f"^{before}({names}){after}$"
        found = re.compile(pattern)
        if all((match := found.match(file.name)) is not None and match[1] == file.splits[0] for file in files):
            return pattern
    return None


def _frames(path: str, split: str) -> Iterator[tuple[str, str]]:
    """Yield patterns for the text around each mention of `split`: numbers and further mentions in it may differ."""
    at = path.find(split)
    while at >= 0:
        yield _loosely(path[:at], split), _loosely(path[at + len(split) :], split)
        at = path.find(split, at + 1)


def _loosely(text: str, split: str) -> str:
    return ".+".join(r"\d+".join(map(re.escape, _DIGITS.split(part))) for part in text.split(split))


_NO_FILES = "Files to which the rows may be written, in the layout of a push to the Hub. None of them exists yet."


@dataclass(frozen=True, slots=True)
class CroissantFacts:
    """Metadata of a dataset for its description.

    Attributes:
        name: name of the dataset.
        config: name of its config.
        description, citation, license, homepage, version: as recorded; "" if unknown.
        features: its columns; None if unknown.
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


def described(*configs: tuple[CroissantFacts, DatasetFiles | None]) -> dict[str, Any]:
    """Return the description of a dataset, as JSON-LD.

    The files with the rows are listed one by one; several of them form one file set, which the fields refer to.  For a
    dataset without files, the fields are those of Parquet files still to be written.

    Args:
        configs: metadata and files of each config; each becomes a record set.

    >>> told = described((CroissantFacts("birds", features=Features({"name": Value("string")})), None))
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


def _facts(said: CroissantFacts, files: DatasetFiles) -> dict[str, Any]:
    """Return the metadata of the whole dataset, without unknown ones."""
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
    """Return the files with rows of the splits; all files if splits are unknown."""
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
    """Return the node of the columns: the one file, or a set of all with its own description."""
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
    """Return patterns that match exactly these files, one for each."""
    return ["".join(f"[{sign}]" if sign in "*?[" else sign for sign in plain_text(name)) for name in names]


def _record_sets(
    ids: Ids,
    record_set: str,
    said: CroissantFacts,
    features: Features,
    source: Mapping[str, Any],
    tables: Sequence[DatasetFile],
) -> list[dict[str, Any]]:
    """Return the record set of the rows, after the record sets that it refers to: the splits, and the names of classes."""
    before: list[dict[str, Any]] = []
    fields: list[dict[str, Any]] = []
    told = dict.fromkeys(split for file in tables for split in file.splits)
    splits = [split for split in (told or said.splits) if split in (said.splits or told)]
    if splits and all(len(file.splits) == 1 for file in tables):  # a file of several splits identifies none
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
