"""Reader of Croissant descriptions: JSON-LD of versions 0.8 to 1.1 as nodes, with any prefixes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from datasets_core.config import check_columns
from datasets_core.errors import FileFormatError, bounded_json
from datasets_core.meta.croissant_nodes import Container, CroissantDocument, FieldNode, FileNode, RecordSetNode, ValueSource

# JSON-LD as far as dataset descriptions need it: terms with any prefixes, matched by their last parts.


_OWN_VOCABULARIES = (
    "https://schema.org/",
    "http://schema.org/",
    "http://mlcommons.org/croissant/",
    "https://mlcommons.org/croissant/",
    "http://mlcommons.org/schema/",
    "http://purl.org/dc/terms/",
)
_WELL_KNOWN = {
    "sc": "https://schema.org/",
    "schema": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "croissant": "http://mlcommons.org/croissant/",
    "ml": "http://mlcommons.org/schema/",
    "dct": "http://purl.org/dc/terms/",
}
_AS_THEY_STAND = ("@context", "data", "examples", "value")
_MAX_JSON_LD_DEPTH = 120


class Terms:
    """The terms of one description, as defined by its `@context`.

    >>> terms = Terms({"croiss": "http://mlcommons.org/croissant/", "fields": {"@id": "croiss:field"}})
    >>> terms.plain({"fields": [{"croiss:source": 1, "https://schema.org/name": "a", "prov:label": "b"}]})
    {'field': [{'source': 1, 'name': 'a'}]}
    >>> terms.last("https://schema.org/Text"), terms.last("croiss:Int8"), terms.last("Text")
    ('Text', 'Int8', 'Text')
    """

    def __init__(self, context: Any) -> None:
        self._prefixes, self._terms = dict(_WELL_KNOWN), dict[str, str]()
        for each in context if isinstance(context, list) else [context]:
            for term, meaning in each.items() if isinstance(each, dict) else ():
                iri = meaning.get("@id") if isinstance(meaning, dict) else meaning
                if not isinstance(iri, str) or term.startswith("@"):
                    continue
                self._terms[term] = iri
                if iri[-1:] in ("/", "#", "_", "="):
                    self._prefixes[term] = iri

    def plain(self, node: Any, depth: int = 0) -> Any:
        """Return the same document with short keys, without keys of vocabularies that do not describe datasets.

        Raises:
            RecursionError: it is nested too deeply.
        """
        if depth > _MAX_JSON_LD_DEPTH:
            raise RecursionError
        if isinstance(node, list):
            return [self.plain(each, depth + 1) for each in node]
        if not isinstance(node, dict):
            return node
        found: dict[str, Any] = {}
        for key, value in node.items():
            short = key if key.startswith("@") else self._short(key)
            if short is not None:
                found[short] = value if short in _AS_THEY_STAND else self.plain(value, depth + 1)
        return found

    def last(self, text: Any) -> str:
        """Return the last part of the IRI of a text."""
        iri = self._expanded(self._terms.get(str(text), str(text)))
        return iri.rstrip("/").rpartition("/")[2].rpartition("#")[2] if "/" in iri else iri.rpartition(":")[2]

    def _short(self, key: str) -> str | None:
        iri = self._expanded(self._terms.get(key, key))
        if ":" not in iri:
            return iri
        own = next((each for each in _OWN_VOCABULARIES if iri.startswith(each)), None)
        return None if own is None else iri[len(own) :]

    def _expanded(self, text: str) -> str:
        prefix, colon, rest = text.partition(":")
        return self._prefixes[prefix] + rest if colon and prefix in self._prefixes and not rest.startswith("//") else text


_MAX_DEPTH = 40
_TARGETS = ("field", "fileObject", "fileSet", "recordSet", "distribution")
_TRANSFORMS = ("regex", "jsonPath", "separator", "format", "replace", "samplingRate", "readLines", "unArchive", "delimiter")
_ADVICE = "Fix the description, or load the files by their own format"


def parse_croissant(text: str | bytes, *, path: str) -> CroissantDocument:
    """Return the nodes of a description.

    >>> parse_croissant('{"@type": "sc:Dataset", "name": "birds", "license": ["mit", "cc0"]}', path="a.json").facts["license"]
    'mit, cc0'

    Raises:
        FileFormatError: it is not the JSON-LD of a dataset, or has an invalid node; the error names the node.
    """
    try:
        form = json.loads(bounded_json(text))
    except (ValueError, RecursionError) as error:
        raise FileFormatError(
            path, f"is not valid JSON ({error})", advice="Give the description of a dataset in Croissant"
        ) from error
    if not isinstance(form, dict):
        raise FileFormatError(path, "is not an object of JSON-LD", advice="Give the description of a dataset in Croissant")
    return _Parser(path, form).document()


class _Unsupported(Exception):
    """An unsupported part of a node, as the predicate of a sentence."""


class _Parser:
    def __init__(self, path: str, form: dict[str, Any]) -> None:
        self._path, self._num_fields = path, 0
        self._terms = Terms(form.get("@context"))
        try:
            self._form: dict[str, Any] = self._terms.plain(form)
        except RecursionError as error:
            raise self._fault("the description", "is nested too deeply") from error

    def document(self) -> CroissantDocument:
        form = self._form
        kinds = {self._terms.last(kind) for kind in _listed(form.get("@type"))}
        if "Dataset" not in kinds:
            raise self._fault("the description", f"has the type {form.get('@type')!r}, expected sc:Dataset")
        files = [self._file(node) for node in _listed(form.get("distribution"))]
        record_sets = [self._record_set(node) for node in _listed(form.get("recordSet"))]
        fields = [(each, inner) for each in record_sets for top in each.fields for inner in _all_fields(top)]
        self._see_unique([*(each.id for each in files), *(each.id for each in record_sets), *(each.id for _, each in fields)])
        return CroissantDocument(
            self._path,
            self._facts(form),
            {each.id: each for each in files},
            {each.id: each for each in record_sets},
            {each.id: (owner, each) for owner, each in fields},
        )

    def _facts(self, form: Mapping[str, Any]) -> dict[str, str]:
        licenses = [
            node.get("url") or node.get("name") if isinstance(node, dict) else node for node in _listed(form.get("license"))
        ]
        said = {
            "name": _text(form.get("name")),
            "description": _text(form.get("description")),
            "citation": _text(form.get("citeAs") or form.get("citation")),
            "homepage": _text(form.get("url")),
            "license": ", ".join(_text(each) for each in licenses if each),
            "version": _text(form.get("version")),
        }
        return {name: text for name, text in said.items() if text}

    # -- nodes ---------------------------------------------------------------------------------------------------------

    def _file(self, node: Any) -> FileNode:
        self._see_object(node, "distribution")
        name = _text(node.get("name"))
        kind = self._terms.last(next(iter(_listed(node.get("@type"))), ""))
        found = str(node.get("@id") or name)
        if kind not in ("FileObject", "FileSet"):
            raise self._fault(found, f"has the type {node.get('@type')!r}, expected cr:FileObject or cr:FileSet")
        if not found:
            raise self._fault("a file", "has neither an @id nor a name")
        return FileNode(
            found,
            name or found,
            is_set=kind == "FileSet",
            url=_text(node.get("contentUrl")),
            encodings=tuple(_text(each) for each in _listed(node.get("encodingFormat"))),
            sha256=_text(node.get("sha256")),
            md5=_text(node.get("md5")),
            containers=tuple(self._container(found, each) for each in _listed(node.get("containedIn"))),
            includes=tuple(_text(each) for each in _listed(node.get("includes"))),
            excludes=tuple(_text(each) for each in _listed(node.get("excludes"))),
        )

    def _container(self, owner: str, node: Any) -> Container:
        try:
            if isinstance(node, dict) and any(key in node for key in _TARGETS):
                source = self._source(node)
                return Container(source.node, source.transforms)
            return Container(self._reference(node))
        except _Unsupported as unsupported:
            raise self._fault(owner, str(unsupported)) from unsupported

    def _record_set(self, node: Any) -> RecordSetNode:
        self._see_object(node, "recordSet")
        name = _text(node.get("name"))
        found = str(node.get("@id") or name)
        if not found:
            raise self._fault("a record set", "has neither an @id nor a name")
        data = node.get("data")
        if isinstance(data, str):  # JSON written as text
            try:
                data = json.loads(data)
            except ValueError as error:
                raise self._fault(found, f"has data that is not valid JSON ({error})") from error
        rows = None if data is None else tuple(_listed(data))
        if rows is not None and not all(isinstance(row, dict) for row in rows):
            raise self._fault(found, "has data that is not a list of objects")
        fields = self._named_apart(self._field(each, (found, name), 0) for each in self._counted(node.get("field")))
        types = tuple(self._terms.last(_reference_text(each)) for each in _listed(node.get("dataType")))
        if node.get("isEnumeration") is True:
            types = (*types, "Enumeration")
        return RecordSetNode(found, name or found, _text(node.get("description")), types, fields, rows)

    def _counted(self, nodes: Any) -> list[Any]:
        """Return fields as a list; a description may have at most `max_columns` of them."""
        listed = _listed(nodes)
        self._num_fields += len(listed)
        check_columns(self._num_fields, self._path)
        return listed

    def _field(self, node: Any, parents: tuple[str, str], depth: int) -> FieldNode:
        self._see_object(node, f"field of {parents[0]!r}")
        name = _text(node.get("name"))
        found = str(node.get("@id") or (f"{parents[0]}/{name}" if name else ""))
        if not found:
            raise self._fault(parents[0], "has a field with neither an @id nor a name")
        if depth > _MAX_DEPTH:
            raise self._fault(found, f"is nested more than {_MAX_DEPTH} levels deep")
        field = FieldNode(
            found,
            _short(name or found, parents),
            tuple(self._terms.last(_reference_text(each)) for each in _listed(node.get("dataType"))),
            sub_fields=self._named_apart(
                self._field(each, (found, name), depth + 1) for each in self._counted(node.get("subField"))
            ),
            constant=(node["value"],) if "value" in node and node.get("source") is None else (),
        )
        try:  # an unreadable record set does not affect the others
            return replace(field, **self._origin(node, field))
        except _Unsupported as unsupported:
            return replace(field, fault=str(unsupported))

    def _origin(self, node: Mapping[str, Any], field: FieldNode) -> dict[str, Any]:
        """Return the source of the values of a field."""
        if node.get("parentField") is not None:
            raise _Unsupported("has a parentField, which is not supported")
        said: dict[str, Any] = {"shape": self._shape(node)}
        if node.get("source") is not None:
            said["source"] = self._source(node["source"])
        if node.get("references"):
            said["references"] = references = self._source(node["references"])
            is_all = "source" not in said and not field.constant and not field.sub_fields
            if is_all and (references.column or references.json_path or references.file_property):
                said |= {"source": references, "references": None}  # as descriptions of before 1.0 say it
        return said

    @staticmethod
    def _named_apart(fields: Iterable[FieldNode]) -> tuple[FieldNode, ...]:
        """Return fields with unique names: fields with the same name get the last part of their identifiers, or all of it."""
        listed = list(fields)
        for is_last in (True, False):
            counts = Counter(field.name for field in listed)
            ends = [(is_last and field.id.rpartition("/")[2]) or field.id for field in listed]
            pairs = zip(listed, ends, strict=True)
            listed = [replace(field, name=end) if counts[field.name] > 1 else field for field, end in pairs]
        return tuple(listed)

    def _shape(self, node: Mapping[str, Any]) -> tuple[int, ...]:
        text = _text(node.get("arrayShape")).strip(" ()[]")
        if not text:
            return (-1,) if node.get("isArray") is True or node.get("repeated") is True else ()
        try:
            shape = tuple(int(part) for part in text.split(",") if part.strip())
        except ValueError as error:
            raise _Unsupported(f"has the arrayShape {text!r}, which is not a list of lengths") from error
        if any(length < -1 for length in shape) or len(shape) > _MAX_DEPTH:
            raise _Unsupported(f"has the arrayShape {text!r}, which is not a valid shape")
        return shape

    def _source(self, node: Any) -> ValueSource:
        if isinstance(node, list) and len(node) == 1:
            node = node[0]
        if not isinstance(node, dict) or set(node) <= {"@id", "@type"}:
            return ValueSource(self._reference(node))
        targets = [node[key] for key in _TARGETS if node.get(key) is not None] or [node.get("@id")]
        if len(targets) != 1 or targets[0] is None:
            raise _Unsupported(f"has a source that names {len([each for each in targets if each])} nodes, expected one")
        extract = node.get("extract") or {}
        if not isinstance(extract, dict):
            raise _Unsupported(f"extracts by {extract!r}, which is not an object")
        known = {key: _text(extract[key]) for key in ("column", "jsonPath", "fileProperty") if extract.get(key) is not None}
        unknown = sorted(set(extract) - {"column", "jsonPath", "fileProperty", "@id", "@type"})
        if unknown or len(known) > 1:
            listed = ", ".join([*known, *unknown])
            raise _Unsupported(f"extracts by {listed}, expected one of column, jsonPath and fileProperty")
        transforms = [pair for each in _listed(node.get("transform")) for pair in self._transforms(each)]
        if node.get("format") is not None:
            transforms.append(("format", _text(node["format"])))
        if node.get("samplingRate") is not None:
            transforms.append(("samplingRate", node["samplingRate"]))
        return ValueSource(
            self._reference(targets[0]),
            known.get("column"),
            known.get("jsonPath"),
            known.get("fileProperty"),
            tuple(transforms),
        )

    def _transforms(self, node: Any) -> list[tuple[str, Any]]:
        said = {key: value for key, value in node.items() if not key.startswith("@")} if isinstance(node, dict) else {"": node}
        unknown = sorted(set(said) - set(_TRANSFORMS))
        if unknown:
            raise _Unsupported(f"has the transform {unknown[0] or node!r}, which is not supported")
        if len(set(said) - {"readLines", "unArchive"}) > 1:
            raise _Unsupported(f"has a transform of several kinds, {', '.join(sorted(said))}")
        return [("separator" if key == "delimiter" else key, value) for key, value in said.items()]

    def _reference(self, node: Any) -> str:
        found = _reference_text(node[0] if isinstance(node, list) and len(node) == 1 else node)
        if not found:
            raise _Unsupported(f"refers to the unknown node {node!r}")
        return found.removeprefix("#{").removesuffix("}") if found.startswith("#{") else found

    # -- faults --------------------------------------------------------------------------------------------------------

    def _fault(self, node: str, reason: str) -> FileFormatError:
        return FileFormatError(self._path, f"the node {node!r} {reason}", advice=_ADVICE)

    def _see_object(self, node: Any, what: str) -> None:
        if not isinstance(node, dict):
            raise self._fault(what, f"is {str(node)[:60]!r}, expected an object")

    def _see_unique(self, ids: Sequence[str]) -> None:
        seen: set[str] = set()
        for each in ids:
            if each in seen:
                raise self._fault(each, "appears twice in the description")
            seen.add(each)


def _listed(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def _reference_text(node: Any) -> str:
    if isinstance(node, dict):
        node = next((node[key] for key in ("@id", *_TARGETS) if node.get(key) is not None), None)
        return _reference_text(node)
    return node if isinstance(node, str) else ""


def _text(value: Any) -> str:
    """Return a text, in English if it is given in several languages."""
    if isinstance(value, dict):
        value = value.get("@value", value.get("en", next(iter(value.values()), "")))
    if isinstance(value, list):
        english = [each for each in value if isinstance(each, dict) and each.get("@language") == "en"]
        return _text((english or value)[0]) if value else ""
    return "" if value is None or isinstance(value, (dict, bool)) else str(value)


def _short(name: str, parents: tuple[str, str]) -> str:
    """Return the name of a column, without the prefix of the record set or field that some descriptions add."""
    for parent in parents:
        if parent and name.startswith(f"{parent}/") and len(name) > len(parent) + 1:
            return name[len(parent) + 1 :]
    return name


def _all_fields(field: FieldNode) -> list[FieldNode]:
    return [field, *(inner for each in field.sub_fields for inner in _all_fields(each))]
