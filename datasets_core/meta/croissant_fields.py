"""Features as fields of a Croissant record set: what each column holds, and where in its file it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from datasets_core.features.schema import Features
from datasets_core.meta.croissant_terms import Ids, plain_text

_NUMBERS = {
    "float16": "cr:Float16",
    "float32": "cr:Float32",
    "float64": "cr:Float64",
    **{f"int{bits}": f"cr:Int{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"cr:UInt{bits}" for bits in (8, 16, 32, 64)},
}
_FAMILIES: dict[str, str | list[str]] = {  # the type that every reader knows stands first
    "bool": "sc:Boolean",
    "timestamp": "sc:DateTime",
    "date": "sc:Date",
    "time": "sc:Time",
    "duration": ["cr:Int64", "sc:Duration"],
    "decimal": ["sc:Float", "sc:Number"],
}
_MEDIA: dict[str, Any] = {
    "Image": "sc:ImageObject",
    "Audio": "sc:AudioObject",
    "Video": "sc:VideoObject",
    "Pdf": ["sc:Text", "sc:DigitalDocument"],
}
_OTHER_MEDIA = ("Nifti", "Mesh", "BioSequence", "BioStructure")
_FAMILY = re.compile(r"[a-z]+")
_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where values stand: the column, and the way from its value to them.

    Attributes:
        column: the name.
        paths: JSON paths, one for each list that is gone into, the last for what is inside it.
    """

    column: str
    paths: tuple[str, ...] = ("",)

    def below(self, key: str) -> _Place:
        return replace(self, paths=(*self.paths[:-1], _stepped(self.paths[-1], key)))

    def inside(self) -> _Place:
        """In the elements of a list: paths apply to each of them, but for the list that the column itself is."""
        return self if self.paths == ("",) else replace(self, paths=(*self.paths, ""))


class FieldWriter:
    """Makes the fields of one record set.

    Args:
        ids: the identifiers of the description.
        record_set: the identifier of the record set.
        source: the node that the columns stand in, as `{"fileSet": {"@id": …}}`.
        is_json: its files are JSON arrays of rows, whose values are found by paths.

    Attributes:
        enumerations: record sets with the names of classes, to which fields refer.
    """

    def __init__(self, ids: Ids, record_set: str, source: Mapping[str, Any], *, is_json: bool = False) -> None:
        self.enumerations: list[dict[str, Any]] = []
        self._ids, self._record_set, self._source, self._is_json = ids, record_set, source, is_json

    def fields(self, features: Features) -> list[dict[str, Any]]:
        """One field for each column."""
        forms: Mapping[str, Any] = features.to_dict()
        return [
            {**self._field(name, form, self._ids.new(self._record_set, name), _Place(name)), "description": _said(name, form)}
            for name, form in forms.items()
        ]

    def _field(self, name: str, form: Any, node: str, place: _Place) -> dict[str, Any]:
        field: dict[str, Any] = {"@type": "cr:Field", "@id": node, "name": plain_text(name)}
        form, shape = _unwrapped(form)
        if shape:
            field |= {"isArray": True, "arrayShape": ",".join(map(str, shape))}
            place = place.inside()
        columns = _columns_of(form)
        if columns:
            field["subField"] = [
                self._field(key, inner, self._ids.new(node, key), place.below(key)) for key, inner in columns.items()
            ]
            return field
        kind = form.get("_type", "")
        if kind in _MEDIA or kind in _OTHER_MEDIA:
            field["dataType"] = _MEDIA.get(kind, ["sc:Text", "sc:MediaObject"])
            return field | {"source": self._from(place.below("bytes"))}
        if kind == "ClassLabel":
            field["dataType"] = ["cr:Int64", "cr:Label"]
            field["source"] = self._from(place)
            if form.get("names"):
                field["references"] = {"field": {"@id": self._enumerated(node, name, form["names"])}}
            return field
        return field | {"dataType": data_type(form), "source": self._from(place)}

    def _from(self, place: _Place) -> dict[str, Any]:
        column = plain_text(place.column)
        extract = {"jsonPath": _stepped("$[*]", column)} if self._is_json else {"column": column}
        source = {**self._source, "extract": extract}
        steps = [{"jsonPath": path} for path in place.paths if path]
        if steps:
            source["transform"] = steps[0] if len(steps) == 1 else steps
        return source

    def _enumerated(self, node: str, name: str, names: Sequence[str]) -> str:
        """Write down the names of classes; the identifier of the field that numbers them."""
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
    """A JSON path, and a key behind it."""
    key = plain_text(key)
    if _PLAIN_KEY.fullmatch(key):
        return f"{path}.{key}" if path else key
    return path + "['" + key.replace("\\", "\\\\").replace("'", "\\'") + "']"


def data_type(form: Mapping[str, Any]) -> str | list[str]:
    """The data type of values that are no lists, structs or media.

    >>> data_type({"_type": "Value", "dtype": "uint8"}), data_type({"_type": "Value", "dtype": "timestamp[us, tz=UTC]"})
    ('cr:UInt8', 'sc:DateTime')
    """
    dtype = str(form.get("dtype", "string"))
    if dtype in _NUMBERS:
        return _NUMBERS[dtype]
    family = _FAMILY.match(dtype)
    return _FAMILIES.get(family[0] if family else "", "sc:Text")


def _unwrapped(form: Any) -> tuple[Mapping[str, Any], list[int]]:
    """What lists hold inside, and their lengths, -1 where they may have any."""
    shape: list[int] = []
    while True:
        if isinstance(form, list):
            form, length = form[0], -1
        elif form.get("_type") in ("List", "LargeList", "Sequence") and "feature" in form:
            form, length = form["feature"], form.get("length", -1)
        elif str(form.get("_type", "")).startswith("Array") and "shape" in form:
            lengths = [-1 if each is None else each for each in form["shape"]]
            return {"_type": "Value", "dtype": form["dtype"]}, shape + lengths
        else:
            return form, shape
        shape.append(-1 if length is None else length)


def _columns_of(form: Mapping[str, Any]) -> Mapping[str, Any]:
    """The features of a struct, by name; none where it is no struct."""
    kind = form.get("_type")
    text = {"_type": "Value", "dtype": "string"}
    if kind == "Translation":
        return dict.fromkeys(form["languages"], text)
    if kind == "TranslationVariableLanguages":
        return {key: {"_type": "List", "feature": text} for key in ("language", "translation")}
    return {} if isinstance(kind, str) else form


def _said(name: str, form: Any) -> str:
    inner, shape = _unwrapped(form)
    kind = inner.get("_type")
    word = inner.get("dtype") if kind == "Value" else kind if isinstance(kind, str) else "struct"
    return f"Column {plain_text(name)!r}: {'lists of ' if shape else ''}{word}."
