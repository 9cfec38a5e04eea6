"""Layout of rows in the Examples of a folder prepared by TensorFlow Datasets, from its `features.json`.

Each feature becomes a node: one of values (`Leaf`), a dict (`Fields`), or a list (`Items`).  A node has the library's feature
for users.  A list of dicts is a dict of lists, as in TensorFlow Datasets.  The file is only read as data: the classes that it
names are never imported.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, TypeAlias, cast

from datasets_core.errors import DatasetsCoreError, ManifestError, logger_of
from datasets_core.features.base import FeatureType, List, Value, feature_to_arrow
from datasets_core.features.media.types import Image
from datasets_core.features.serialization import (
    DATASET,
    IMAGE_DTYPES,
    VIDEO,
    array_feature,
    audio_id,
    box_id,
    image_id,
    image_mode,
    optional,
)
from datasets_core.features.types import ClassLabel, Translation, TranslationVariableLanguages

logger = logger_of(__name__)

Shape: TypeAlias = tuple[int | None, ...]
Labels: TypeAlias = Callable[[str], list[str] | None]
"""Returns the lines of the label file of a feature, by its name in the file name; None without a file."""

_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
_FLOATS = ("float16", "bfloat16", "float32", "float64")
_STRINGS = ("string", "object", "str", "bytes")
_ENCODINGS = ("none", "bytes", "zlib")
_MOST_CLASSES = 1 << 24
_MOST_DIMENSIONS = 32
_MOST_LEVELS = 25  # with those of an array fewer than features may have, which are 60
_WRITTEN_BY = "Prepare the dataset again, with tensorflow-datasets 4.9.10 or newer"


@dataclass(frozen=True, slots=True)
class Leaf:
    """Values of one shape and type.

    Attributes:
        feature: feature of one item.
        dtype: name of their type; "bytes" for values that are not text, "bfloat16" for values shown as float32.
        shape: the sizes, None for an unknown one.
        encoding: "none", "bytes" or "zlib"; in the latter two cases an item is a single bytes value.
        holds: "values", "file" for stored bytes of a file, "float image" for numbers in the channels of
            an image, "sound" for the bytes of a file shown as samples.
        is_optional: a record may lack it.
        is_told_text: True if it was declared as text instead of a string, which may hold any bytes.
    """

    feature: FeatureType
    dtype: str
    shape: Shape = ()
    encoding: str = "none"
    holds: str = "values"
    is_optional: bool = False
    is_told_text: bool = False

    @property
    def is_dynamic(self) -> bool:
        """True if sizes are stored next to the values, as more than one is unknown."""
        return self.shape.count(None) > 1

    @property
    def is_one_value(self) -> bool:
        """True if an item is serialized as one value, for every shape."""
        return self.encoding != "none" or self.holds != "values"

    @property
    def kind(self) -> str:
        """The kind of values on the wire: "int64", "float" or "bytes"."""
        if self.is_one_value or self.dtype in ("string", "bytes"):
            return "bytes"
        return "float" if self.dtype in _FLOATS else "int64"

    @property
    def item_size(self) -> int:
        """Number of values of an item; if a size varies, a divisor of that number."""
        return 1 if self.is_one_value else prod(size for size in self.shape if size is not None)


@dataclass(frozen=True, slots=True)
class Fields:
    """Several features by name.

    Attributes:
        feature: a dict, or a feature that is stored as one.
        fields: the nodes.
    """

    feature: FeatureType
    fields: Mapping[str, Node]


@dataclass(frozen=True, slots=True)
class Items:
    """A list whose elements have the layout of another node.

    Attributes:
        feature: a `List`.
        inner: layout of an item.
        length: number of items; None for any number.
    """

    feature: FeatureType
    inner: Node
    length: int | None = None


Node: TypeAlias = Leaf | Fields | Items


def layout_of(form: Any, labels: Labels, *, path: str, bytes_keys: Collection[str] = ()) -> Fields:
    """Return the columns that a `features.json` describes.

    Args:
        form: content of the file.
        labels: returns the names of classes.
        path: the file, for messages.
        bytes_keys: strings that are bytes and not text.

    Raises:
        ManifestError: the content is invalid, or has features that only their own code can read.

    >>> tensor = {"tensor": {"shape": {}, "dtype": "int64"}, "pythonClassName": "tfds.Tensor"}
    >>> layout_of({"featuresDict": {"features": {"x": tensor}}}, lambda name: None, path="features.json").feature
    {'x': Value('int64')}
    """
    try:
        node = _Reader(labels, path, bytes_keys).node(form, ())
        if not isinstance(node, Fields):
            raise ManifestError(path, "its features have no names", advice=_WRITTEN_BY)
        if not isinstance(node.feature, Mapping):  # a translation, whose languages are the columns
            node = Fields({name: each.feature for name, each in node.fields.items()}, node.fields)
        if _height(node) > _MOST_LEVELS:
            raise ManifestError(path, f"its features are nested more than {_MOST_LEVELS} levels", advice=_WRITTEN_BY)
        for name, leaf, depth in leaves(node):
            if depth and None in leaf.shape and not leaf.is_one_value:
                raise ManifestError(
                    path,
                    f"feature {name!r} is a list of arrays of different sizes, whose boundaries its files do not record",
                    advice="Prepare the dataset again with an encoding of the tensor",
                )
        feature_to_arrow(node.feature)  # which refuses sizes that no list can have
        return node
    except ManifestError:
        raise
    except RecursionError as error:
        raise ManifestError(path, "its features are nested too deeply", advice=_WRITTEN_BY) from error
    except (DatasetsCoreError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise ManifestError(path, str(error).rstrip("."), advice=_WRITTEN_BY) from error


def _height(node: Node) -> int:
    """Return the number of levels of lists and dicts above the innermost values."""
    if isinstance(node, Leaf):
        return 0
    inner = (node.inner,) if isinstance(node, Items) else node.fields.values()
    return 1 + max(map(_height, inner), default=0)


def leaves(node: Node, name: str = "", depth: int = 0) -> Iterator[tuple[str, Leaf, int]]:
    """Yield the leaves of a node: the key of each on the wire, and the number of lists around it."""
    if isinstance(node, Leaf):
        yield name, node, depth
    elif isinstance(node, Items):
        yield from leaves(node.inner, name, depth + 1)
    else:
        for field, inner in node.fields.items():
            yield from leaves(inner, f"{name}/{field}" if name else field, depth)


def untold_strings(node: Node) -> dict[str, str]:
    """Return the keys of strings that may be bytes as well as texts, each with the key of its values on the wire.

    >>> string = {"tensor": {"dtype": "string", "shape": {}}}
    >>> untold_strings(layout_of({"featuresDict": {"features": {"x": string}}}, lambda name: None, path="features.json"))
    {'x': 'x'}
    """
    found = {}
    for key, leaf, depth in leaves(node):
        if leaf.dtype == "string" and leaf.holds == "values" and not leaf.is_told_text:
            name = f"{key}/value" if leaf.is_dynamic else key
            found[key] = f"{name}/ragged_flat_values" if depth > 1 else name
    return found


def _dicts(node: Node) -> Iterator[Fields]:
    """Yield all dicts in a node."""
    if isinstance(node, Items):
        yield from _dicts(node.inner)
    elif isinstance(node, Fields):
        yield node
        for inner in node.fields.values():
            yield from _dicts(inner)


def items_of(inner: Node, length: int | None, id: str | None = None) -> Node:
    """Return a node for lists of a node; lists of dicts become a dict of lists."""
    if isinstance(inner, Fields) and isinstance(inner.feature, dict):
        fields = {name: _listed(each, length, None) for name, each in inner.fields.items()}
        return Fields({name: each.feature for name, each in fields.items()}, fields)
    return _listed(inner, length, id)


def _listed(inner: Node, length: int | None, id: str | None) -> Items:
    return Items(List(inner.feature, length=-1 if length is None else length, id=id), inner, length)


class _Reader:
    """Converts descriptions of features to nodes: current ones, and those from before 2022, which have their class under
    "type".
    """

    def __init__(self, labels: Labels, path: str, bytes_keys: Collection[str]) -> None:
        self._labels, self._path, self._bytes_keys = labels, path, bytes_keys

    def node(self, form: Any, place: tuple[str, ...]) -> Node:
        """Return the node of a description; `place` names it in messages."""
        kind, content, cls = self._told(form, place)
        made: Node | None = getattr(self, f"_{kind}")(content, place, cls)
        if made is None:
            raise self._fault(place, f"is {cls or kind!r}, which only its own code can read")
        return made

    def _told(self, form: Any, place: tuple[str, ...]) -> tuple[str, Any, str]:
        """Return kind, content and class name of a description."""
        if not isinstance(form, Mapping):
            raise self._fault(place, f"is {type(form).__name__}, but an object is expected")
        cls = str(form.get("pythonClassName") or form.get("python_class_name") or form.get("type") or "")
        for key, kind in _KINDS.items():
            if key in form:
                return kind, form[key] or {}, cls
        kind = _CLASSES.get(cls.rpartition(".")[2], "")
        content = form.get("content", {})
        if isinstance(content, str):
            content = json.loads(content)
        if not kind:
            raise self._fault(place, f"is {cls or 'of an unnamed class'}, which only its own code can read")
        return kind, content, cls

    def _fault(self, place: tuple[str, ...], reason: str) -> ManifestError:
        return ManifestError(self._path, f"feature {'/'.join(place)!r} {reason}", advice=_WRITTEN_BY)

    # -- containers ----------------------------------------------------------------------------------------------------

    def _dict(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        given = content["features"] if isinstance(content.get("features"), Mapping) and "type" not in content else content
        fields = {str(name): self.node(each, (*place, str(name))) for name, each in given.items()}
        return Fields({name: each.feature for name, each in fields.items()}, fields)

    def _sequence(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        inner = self.node(content.get("feature"), place)
        length = _number(content.get("length"))
        is_dataset = cls.rpartition(".")[2] == "Dataset"
        if not all(each.fields for each in _dicts(inner)):
            raise self._fault(place, "is a list of empty dicts")
        return items_of(inner, None if length == -1 else length, DATASET if is_dataset else None)

    def _translation(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        languages = [str(each) for each in content.get("languages") or ()]
        varies = _field(content, "variableLanguagesPerExample") or cls.endswith("VariableLanguages")
        text = Leaf(Value("string"), "string", is_told_text=True)
        if varies:
            listed = _listed(text, None, None)
            return Fields(TranslationVariableLanguages(languages or None), {"language": listed, "translation": listed})
        return Fields(Translation(languages=list(dict.fromkeys(languages))), dict.fromkeys(languages, text))

    # -- values --------------------------------------------------------------------------------------------------------

    def _text(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        if content.get("use_encoder"):
            raise self._fault(place, "is a text encoded by words, which TensorFlow Datasets no longer reads")
        text = Leaf(Value("string"), "string", is_told_text=True)
        return replace(text, is_optional=True)  # which is stored nowhere

    def _tensor(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        encoding = str(content.get("encoding") or "none").lower()
        made = self._array(_shape(content), str(content.get("dtype")), encoding.rpartition(".")[2], place)
        return replace(made, feature=optional(made.feature), is_optional=True) if content.get("optional") else made

    def _array(self, shape: Shape, told: str, encoding: str, place: tuple[str, ...], id: str | None = None) -> Leaf:
        dtype = "string" if told in _STRINGS else told
        if dtype not in (*_INTEGERS, *_FLOATS, "bool", "string"):
            raise self._fault(place, f"has the dtype {told!r}, which its files cannot hold")
        if encoding not in _ENCODINGS or (encoding != "none" and dtype == "string"):
            raise self._fault(place, f"of {dtype} has the encoding {encoding!r}, which is unknown")
        if dtype == "string" and "/".join(place) in self._bytes_keys:
            dtype = "bytes"
        feature = array_feature(shape, {"bfloat16": "float32", "bytes": "binary"}.get(dtype, dtype))
        if id is not None:
            feature = replace(cast(Any, feature), id=id)
        return Leaf(feature, dtype, shape, encoding)

    def _label(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        given = content.get("names")
        names = [str(name) for name in given] if isinstance(given, Sequence) and not isinstance(given, str) else None
        count = _number(_field(content, "numClasses"))
        if filed := self._labels("-".join(place)):
            names = self._names_of_lines(filed, count, place)
        if names and count is not None and count != len(names):
            raise self._fault(place, f"has {count} classes, but its file of labels names {len(names)}")
        if count is not None and count > _MOST_CLASSES:
            raise self._fault(place, f"has {count:,} classes, which are more than {_MOST_CLASSES:,}")
        if not names and not count:
            return Leaf(Value("int64"), "int64")
        return Leaf(ClassLabel(names=names) if names else ClassLabel(num_classes=count), "int64")

    def _names_of_lines(self, lines: list[str], count: int | None, place: tuple[str, ...]) -> list[str] | None:
        """Return the names in a file of labels: its lines that are not blank; a blank name is replaced by its number."""
        names = [name for line in lines if (name := line.strip())]
        while count is not None and len(lines) > count and not lines[-1].strip():
            lines = lines[:-1]  # the end of the file
        if count is None or len(names) == count or len(lines) != count:
            return names or None
        logger.warning(
            "%s: feature %r has %d classes, and some names in its file of labels are blank; the name of such a class is its "
            "number.",
            self._path,
            "/".join(place),
            count,
        )
        return _numbered([line.strip() for line in lines])

    def _image(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        shape, dtype = _shape(content) or (None, None, 3), str(content.get("dtype") or "uint8")
        if len(shape) != 3 or dtype not in IMAGE_DTYPES:
            raise self._fault(place, f"is an image of shape {shape} and {dtype}, which is not supported")
        feature = Image(mode=image_mode(shape, dtype), id=image_id(shape, dtype))
        return Leaf(feature, "string", holds="float image" if dtype == "float32" else "file")

    def _video(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        length, *sizes = _shape(content) or (None, None, None, 3)
        picture = {"shape": sizes, "dtype": content.get("dtype")}
        return _listed(self._image(picture, place, cls), length, VIDEO)

    def _audio(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        rate, shape = _number(_field(content, "sampleRate")), _shape(content) or (None,)
        encoding = str(content.get("encoding") or "none").lower().rpartition(".")[2]
        made = self._array(shape, str(content.get("dtype") or "int64"), encoding, place, audio_id(rate or None))
        if not _field(content, "lazyDecode"):
            return made
        if not 1 <= len(shape) <= 2 or shape[0] is not None or made.dtype in ("string", "bool"):
            raise self._fault(place, f"is an audio clip of shape {shape} and {made.dtype}, which is not supported")
        return Leaf(made.feature, made.dtype, shape, holds="sound")

    def _box(self, content: Any, place: tuple[str, ...], cls: str) -> Node:
        form = _field(content, "bboxFormat")
        feature = List(Value("float32"), length=4, id=box_id(str(form) if form else None))
        return Leaf(feature, "float32", (4,))


_KINDS = {
    "featuresDict": "dict",
    "sequence": "sequence",
    "tensor": "tensor",
    "text": "text",
    "classLabel": "label",
    "image": "image",
    "video": "video",
    "audio": "audio",
    "boundingBox": "box",
    "translation": "translation",
}
_CLASSES = {
    "FeaturesDict": "dict",
    "Sequence": "sequence",
    "Dataset": "sequence",
    "Tensor": "tensor",
    "Scalar": "tensor",
    "Text": "text",
    "ClassLabel": "label",
    "Image": "image",
    "LabeledImage": "image",
    "Video": "video",
    "Audio": "audio",
    "BBoxFeature": "box",
    "Translation": "translation",
    "TranslationVariableLanguages": "translation",
}


def _numbered(names: Sequence[str]) -> list[str]:
    """Return names of classes; a blank one becomes its number, with an underscore before it if another class has that name.

    >>> _numbered(["1", "", "x", ""])
    ['1', '_1', 'x', '3']
    """
    taken = set(names)
    made = []
    for number, name in enumerate(names):
        own = name or str(number)
        while not name and own in taken:
            own = f"_{own}"
        taken.add(own)
        made.append(own)
    return made


def _field(content: Mapping[str, Any], name: str) -> Any:
    """Return a field by its current name, or by that of older versions: `numClasses`, `num_classes`."""
    older = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return content.get(name, content.get(older))


def _number(given: Any) -> int | None:
    return None if given is None else int(given)


def _shape(content: Mapping[str, Any]) -> Shape:
    given = content.get("shape") or ()
    sizes = given.get("dimensions") or () if isinstance(given, Mapping) else given
    if isinstance(sizes, str) or len(sizes) > _MOST_DIMENSIONS:
        raise ValueError(f"{str(sizes)[:40]!r} is not a valid shape")
    made = tuple(None if size is None or int(size) == -1 else int(size) for size in sizes)
    if any(size is not None and not 0 <= size < 1 << 40 for size in made):
        raise ValueError(f"{made} is not a valid shape")
    return made
