"""Features as JSON (`dataset_info.json`, Arrow metadata) and YAML (cards), in old and new forms."""

from __future__ import annotations

import collections.abc
import copy
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cache, wraps
from importlib import import_module
from typing import Any

from datasets_core.config import FEW_COLUMNS, check_columns
from datasets_core.errors import ConfigurationError
from datasets_core.features import KINDS
from datasets_core.features.arrow import column_name
from datasets_core.features.base import MAX_DEPTH, REGISTERED, Feature, FeatureType, LargeList, List, Value, as_feature

MAX_CLASSES = 10_000_000
_KEYS_TO_TYPE = {  # what a form without "_type" must be, by its keys
    frozenset({"dtype"}): "Value",
    frozenset({"feature"}): "Sequence",
    frozenset({"feature", "length"}): "Sequence",
    frozenset({"names"}): "ClassLabel",
    frozenset({"num_classes", "names"}): "ClassLabel",
    frozenset({"num_classes", "names", "names_file"}): "ClassLabel",
    frozenset({"languages"}): "Translation",
    frozenset({"languages", "num_languages"}): "TranslationVariableLanguages",
}


def feature_to_json(feature: FeatureType) -> dict[str, Any]:
    """Return the JSON form of a feature, without default values.

    >>> feature_to_json(List(Value("int8")))
    {'feature': {'dtype': 'int8', '_type': 'Value'}, '_type': 'List'}
    """
    if isinstance(feature, dict):
        return {name: feature_to_json(inner) for name, inner in feature.items()}
    form = as_feature(feature).to_json()  # type: ignore[union-attr]
    if "feature" in form:
        form["feature"] = feature_to_json(form["feature"])
    return {**form, "_type": feature._type}


def check_forms(form: Any, path: str = "The features") -> Any:
    """Return features, unless they have more columns and fields than the setting `max_columns`:
    then no feature is made of any.

    Args:
        form: features in the form of JSON or of cards, where each object describes one.
        path: the file they are from.

    Raises:
        ColumnLimitError: there are more.
    """
    count, waiting = 0, [form]
    while waiting:
        inner = waiting.pop()
        if isinstance(inner, Mapping):
            count += 1
            inner = list(inner.values())
        waiting += [each for each in inner if isinstance(each, (Mapping, list))]
    if count > FEW_COLUMNS:
        check_columns(count, path)
    return form


def feature_from_json(form: Any, *, path: str = "", depth: int = 0) -> FeatureType:
    """Return a feature from its JSON form, as any version of Hugging Face `datasets` wrote it.

    >>> feature_from_json({"feature": {"x": {"dtype": "int8", "_type": "Value"}}, "length": -1, "_type": "Sequence"})
    {'x': List(Value('int8'))}

    Args:
        form: the form.
        path: the column that the form describes, for messages.
        depth: number of levels of nesting above the form.

    Raises:
        ConfigurationError: the form does not describe a feature that this version supports.
    """
    if depth > MAX_DEPTH:
        raise ConfigurationError(
            f"The features of {path[:40]!r}… are nested more than {MAX_DEPTH} levels", advice="Fix the metadata"
        )
    if isinstance(form, list):
        if len(form) != 1:
            raise ConfigurationError(
                f"Feature {path!r} is a list of {len(form)} features, expected 1", advice="Fix the metadata"
            )
        return List(feature_from_json(form[0], path=path, depth=depth + 1))
    if not isinstance(form, Mapping):
        raise ConfigurationError(
            f"Feature {path!r} is {form!r}, which is not the description of a feature", advice="Fix the metadata", value=form
        )
    kind = form.get("_type")
    if not isinstance(kind, str):  # a dict of features, with one called "_type"
        kind = _guess_type(form)
        if kind is None:
            return {
                column_name(name): feature_from_json(inner, path=f"{path}.{name}".lstrip("."), depth=depth + 1)
                for name, inner in form.items()
            }
    if form.get("feature") is not None:
        form = {**form, "feature": feature_from_json(form["feature"], path=path, depth=depth + 1)}
    return _make(kind, form, path)


def _guess_type(form: Mapping[Any, Any]) -> str | None:
    keys = frozenset(form) - {"id", "_type"}
    if not form or all(isinstance(value, Mapping) for value in form.values()):
        return None
    if keys == {"shape", "dtype"} and isinstance(form["shape"], list):
        return f"Array{len(form['shape'])}D"
    guess = _KEYS_TO_TYPE.get(keys)
    return None if guess == "Value" and not isinstance(form["dtype"], str) else guess


def _make(name: str, form: Mapping[str, Any], path: str) -> FeatureType:
    kind = library_kind(name)
    if kind is None:
        known = ", ".join((*KINDS, *REGISTERED))
        raise ConfigurationError(
            f"Feature {path!r} has the type {name!r}, which is unknown in this version. Known types: {known}."
        )
    count = form.get("num_classes")
    if isinstance(count, int) and count > MAX_CLASSES:
        raise ConfigurationError(
            f"Feature {path!r} has {count:,} classes, more than {MAX_CLASSES:,}", advice="Fix the metadata"
        )
    try:
        return kind.from_json(form)  # type: ignore[no-any-return]
    except ConfigurationError as error:
        raise ConfigurationError(f"Feature {path!r}: {error}") from error
    except (TypeError, ValueError, OSError) as error:
        raise ConfigurationError(f"Feature {path!r} is not a valid {name}: {error}", advice="Fix the metadata") from error


def library_kind(name: str) -> Any:
    """Return the class of a kind of features by its name; None if none is installed."""
    home = KINDS.get(name)
    if home is not None:
        return getattr(import_module(home), name)
    if name not in REGISTERED and (offered := _offered().get(name)) is not None:
        offered.load()  # registers it
    return REGISTERED.get(name)


def _offered() -> dict[str, Any]:
    """Return the entry points for kinds of features in installed packages."""
    from importlib.metadata import entry_points  # 9 ms that a known kind does without

    return {point.name: point for point in entry_points(group="datasets_core.features")}


# -- the YAML form -----------------------------------------------------------------------------------------------------

_LISTS = {"list": "List", "sequence": "Sequence", "large_list": "LargeList"}
_CAPITALS = r"(?<=[a-z0-9])([A-Z])"


def features_to_yaml(features: Mapping[str, FeatureType]) -> list[dict[str, Any]]:
    """Return named features in the form of dataset cards.

    >>> features_to_yaml({"label": ClassLabel(names=["no", "yes"]), "tokens": List(Value("string"))})
    [{'name': 'label', 'dtype': {'class_label': {'names': {'0': 'no', '1': 'yes'}}}}, {'name': 'tokens', 'list': 'string'}]
    """
    return [{"name": name, **_yaml_entry(feature)} for name, feature in features.items()]


def _yaml_entry(feature: FeatureType) -> dict[str, Any]:
    if isinstance(feature, dict):
        return {"struct": features_to_yaml(feature)}
    if isinstance(feature, (List, LargeList)):
        key = "list" if isinstance(feature, List) else "large_list"
        inner = (
            features_to_yaml(feature.feature) if isinstance(feature.feature, dict) else _shortest(_yaml_entry(feature.feature))
        )
        length = {"length": feature.length} if isinstance(feature, List) and feature.length != -1 else {}
        return {key: inner, **length}
    if isinstance(feature, Value):
        return {"dtype": str(feature.dtype), **({"id": feature.id} if feature.id is not None else {})}
    form = {key: list(value) if isinstance(value, tuple) else value for key, value in feature.to_json().items()}
    kind = _snake(feature._type)
    if feature._type == "ClassLabel":
        form["names"] = {str(code): name for code, name in enumerate(form["names"])}
    return {"dtype": {kind: form} if form else kind}


def _shortest(entry: dict[str, Any]) -> Any:
    return entry["dtype"] if entry.keys() == {"dtype"} else entry


@cache
def _snake(name: str) -> str:
    return re.sub(_CAPITALS, r"_\1", name).lower()


def features_from_yaml(form: Any, *, path: str = "", depth: int = 0) -> dict[str, FeatureType]:
    """Return named features from the old or new form of dataset cards.

    >>> features_from_yaml([{"name": "x", "sequence": [{"name": "start", "dtype": "int32"}]}])
    {'x': {'start': List(Value('int32'))}}

    Raises:
        ConfigurationError: the form does not describe features.
    """
    if not isinstance(form, Iterable) or isinstance(form, (str, Mapping)):
        raise ConfigurationError(
            f"features{f' of {path!r}' if path else ''} are {form!r}, expected a list of '- name: …'",
            advice="Fix the card",
            value=form,
        )
    if depth > MAX_DEPTH:
        raise ConfigurationError(
            f"The features of {path[:40]!r}… are nested more than {MAX_DEPTH} levels", advice="Fix the card"
        )
    form = list(form)
    if not depth:
        check_forms(form)
    features: dict[str, FeatureType] = {}
    for entry in form:
        if not isinstance(entry, Mapping) or not isinstance(entry.get("name"), (str, int, float)):
            raise ConfigurationError(
                f"{entry!r} is not a valid feature of a card: it has no name",
                advice="Write '- name: …' and 'dtype: …'",
                value=entry,
            )
        name = str(entry["name"])
        if name in features:
            raise ConfigurationError(f"The card lists the feature {name!r} twice", advice="Remove one")
        inner = {key: value for key, value in entry.items() if key != "name"}
        features[name] = _from_entry(inner, f"{path}.{name}".lstrip("."), depth)
    return features


def _from_entry(entry: Any, path: str, depth: int) -> FeatureType:
    if depth > MAX_DEPTH:
        raise ConfigurationError(
            f"The features of {path[:40]!r}… are nested more than {MAX_DEPTH} levels", advice="Fix the card"
        )
    if isinstance(entry, str):
        return _from_word(entry, {}, path)
    if isinstance(entry, (list, tuple)):
        return features_from_yaml(entry, path=path, depth=depth + 1)
    if not isinstance(entry, Mapping):
        raise ConfigurationError(
            f"Feature {path!r} is {entry!r} in the card", advice="Write 'dtype: …', 'struct: …' or 'list: …'", value=entry
        )
    options = {key: value for key, value in entry.items() if value is not None}
    for key, kind in _LISTS.items():
        if key in options:
            arguments = {"feature": _from_entry(options[key], path, depth + 1)}
            if kind != "LargeList" and "length" in options:
                arguments["length"] = options["length"]
            return _make(kind, arguments, path)
    if "struct" in options:
        return features_from_yaml(options["struct"], path=path, depth=depth + 1)
    if "dtype" in options:
        dtype = options["dtype"]
        extra = {"id": options["id"]} if "id" in options else {}
        return _from_word(dtype, extra, path) if isinstance(dtype, str) else _from_entry(dtype, path, depth + 1)
    if len(options) == 1:  # {class_label: {names: …}}, where the word `dtype` was left out
        ((word, arguments),) = options.items()
        if isinstance(arguments, Mapping):
            return _from_word(str(word), dict(arguments), path)
    if not options and "dtype" not in entry:
        return {}
    raise ConfigurationError(
        f"Feature {path!r} is {dict(entry)!r} in the card", advice="Write 'dtype: …', 'struct: …' or 'list: …'"
    )


def _from_word(word: str, arguments: dict[str, Any], path: str) -> FeatureType:
    kind = _kind_of_word(word, (*KINDS, *REGISTERED))
    if kind is None and arguments.keys() <= {"id"}:
        try:
            return Value(word, **arguments)
        except ConfigurationError as error:
            kind = _kind_of_word(word, _offered())
            if kind is None:
                raise ConfigurationError(f"Feature {path!r}: {error}") from error
    if kind == "ClassLabel":
        arguments["names"] = _class_names(arguments.get("names"), path)
    return _make(kind or _kind_of_word(word, _offered()) or word, arguments, path)


def _kind_of_word(word: str, kinds: Iterable[str]) -> str | None:
    return next((kind for kind in kinds if _snake(kind) == word), None)


def _class_names(names: Any, path: str) -> Any:
    if not isinstance(names, Mapping):
        return names
    try:
        by_code = {int(code): name for code, name in names.items()}
    except (TypeError, ValueError) as error:
        raise ConfigurationError(f"The class names of {path!r} need integer keys: {error}", advice="Write '0': name") from error
    if sorted(by_code) != list(range(len(names))):
        raise ConfigurationError(
            f"The class names of {path!r} have the keys {sorted(by_code)}", advice="Number them from 0 without gaps"
        )
    return [by_code[code] for code in range(len(by_code))]


# Information in the `id` of a feature beyond its type: a box, audio, video, an image of some shape, what may
# lack.


AUDIO, BOX, DATASET, ENCODED, VIDEO = "tfds audio", "tfds bbox", "tfds dataset", "tfds encoded", "tfds video"
IMAGE_MODES = {1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}
IMAGE_DTYPES = ("uint8", "uint16", "float32")

_OPTIONAL = "tfds optional"
_IMAGE = "tfds"  # how the id of an image begins that says more than its mode
_TOLD_IMAGE = rf"{_IMAGE} ((?:(?:[0-9]{{1,9}}|None)x){{2}}(?:[0-9]{{1,9}}|None)) ({'|'.join(IMAGE_DTYPES)})"


def optional(feature: FeatureType) -> FeatureType:
    """Return the same feature with None allowed: its `id`, or for a dict the `id` of each of its features, ends with a marker.

    >>> is_optional(optional({"a": Value("int8")})), is_optional(Value("int8"))
    (True, False)
    """
    if isinstance(feature, dict):
        made = {name: optional(inner) for name, inner in feature.items()}
        return type(feature)(made)
    if is_optional(feature) or not hasattr(feature, "id"):
        return feature
    other = copy.copy(feature)
    object.__setattr__(other, "id", f"{kind_of(feature)} {_OPTIONAL}".strip())  # not changed before it is given away
    return other


def is_optional(feature: FeatureType) -> bool:
    """Return True if a row may hold None: see `optional`."""
    if isinstance(feature, dict):
        return bool(feature) and all(map(is_optional, feature.values()))
    return str(getattr(feature, "id", None)).endswith(_OPTIONAL)


def kind_of(feature: FeatureType) -> str:
    """Return the content of the `id` of a feature, without the marker for None.

    >>> kind_of(List(Value("int8"), id="tfds audio 8000 tfds optional"))
    'tfds audio 8000'
    """
    return (getattr(feature, "id", None) or "").removesuffix(_OPTIONAL).rstrip()


def audio_id(sample_rate: int | None) -> str:
    """Return the `id` of a list of samples.

    >>> audio_id(8000), audio_id(None)
    ('tfds audio 8000', 'tfds audio')
    """
    return AUDIO if sample_rate is None else f"{AUDIO} {sample_rate}"


def box_id(form: str | None) -> str:
    """Return the `id` of a box, with the order and the unit of its numbers unless these are `REL_YXYX`.

    >>> box_id("REL_YXYX"), box_id("XYWH")
    ('tfds bbox', 'tfds bbox XYWH')
    """
    return BOX if form == "REL_YXYX" else f"{BOX} {form}"


def image_mode(sizes: collections.abc.Sequence[int | None], dtype: str) -> str | None:
    """Return the mode in which Pillow decodes an image of this shape and type; None: the mode of its file."""
    channels = sizes[2]
    return IMAGE_MODES.get(channels) if dtype == "uint8" and channels is not None else None


def image_id(sizes: collections.abc.Sequence[int | None], dtype: str) -> str | None:
    """Return the `id` of an image of this shape and type; None if its mode implies both.

    >>> image_id((28, 28, 1), "uint8"), image_id((None, None, 3), "uint8")
    ('tfds 28x28x1 uint8', None)
    """
    is_told = dtype == "uint8" and tuple(sizes[:2]) == (None, None)
    return None if is_told else f"{_IMAGE} {'x'.join(map(str, sizes))} {dtype}"


def image_of_id(id: str | None) -> tuple[tuple[int | None, ...], str] | None:
    """Return shape and type of an image from its `id`; None for other ids.

    >>> image_of_id("tfds 28xNonex1 uint16"), image_of_id("birds")
    (((28, None, 1), 'uint16'), None)
    """
    found = re.fullmatch(_TOLD_IMAGE, (id or "").removesuffix(_OPTIONAL).rstrip())
    return found and (tuple(None if size == "None" else int(size) for size in found[1].split("x")), found[2])


def array_feature(sizes: collections.abc.Sequence[int | None], dtype: str) -> Feature:
    """Return the feature of arrays of one shape; sizes may be None.

    Args:
        sizes: the size of each dimension.
        dtype: name of a `Value` type.

    >>> array_feature((3,), "float32"), array_feature((None, 2), "int32"), array_feature((None, None), "int8")
    (List(Value('float32'), length=3), Array2D(shape=(None, 2), dtype='int32'), List(List(Value('int8'))))
    """
    is_fixed = all(size is not None for size in sizes[1:])
    if 2 <= len(sizes) <= 5 and is_fixed and dtype not in ("string", "binary"):
        made: Feature = library_kind(f"Array{len(sizes)}D")(shape=tuple(sizes), dtype=dtype)
        return made
    feature: Feature = Value(dtype)
    for size in reversed(sizes):
        feature = List(feature, length=-1 if size is None else size)
    return feature


def conversions_of(foreign: type) -> dict[str, Callable[..., Any]]:
    """Return the methods of a class that convert values; each is called on an object of exactly that class, with the same
    attributes.

    They serve a feature type derived from that class: attributes that the methods set on their class are set on `foreign`.
    """

    def called_on_foreign(name: str) -> Callable[..., Any]:
        @wraps(getattr(foreign, name))
        def called(self: Any, *args: Any, **kwargs: Any) -> Any:
            twin: Any = object.__new__(foreign)
            object.__setattr__(twin, "__dict__", vars(self))
            return getattr(twin, name)(*args, **kwargs)

        return called

    return {name: called_on_foreign(name) for name in ("encode_example", "decode_example") if hasattr(foreign, name)}
