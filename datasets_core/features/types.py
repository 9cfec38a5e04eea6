"""Column types other than `Value` and lists: `ClassLabel`, `Json`, `Array2D` to `Array5D`, `Translation`; see `KINDS`."""

from __future__ import annotations

import copy
import json
import operator
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import NoneType
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import pyarrow as pa

from datasets_core.config import has_alias
from datasets_core.errors import ArgumentTypeError, CastError, ConfigurationError
from datasets_core.features.arrow import Misfit, list_parts, raw_values, validity
from datasets_core.features.base import (
    EXTENSION_NAME,
    EXTENSION_VALUE,
    Feature,
    FeatureType,
    List,
    Value,
    canonical_name,
    plain_array,
    type_from_name,
)
from datasets_core.features.values import as_elements, is_json, is_missing, json_texts, names_in_file, plain_json

if TYPE_CHECKING:
    from datasets_core.features.cast import Column


@dataclass(frozen=True, slots=True, repr=False)
class Json(Feature):
    """Any JSON value in each row; rows may have values of different types.

    Args:
        decode: False returns the JSON text.
        id: ignored.

    Example:
        >>> Json().encode_example({"a": [1, "b"]})
        '{"a":[1,"b"]}'
        >>> Json().decode_example('[1, null]')
        [1, None]
    """

    decode: bool = True
    id: str | None = None
    _type: ClassVar[str] = "Json"
    is_constant: ClassVar[bool] = True
    needs_encoding: ClassVar[bool] = True

    def __repr__(self) -> str:
        return f"Json(decode={self.decode!r})"

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.json_(pa.string())

    @property
    def needs_decoding(self) -> bool:
        return self.decode

    def column(self) -> Column:
        """See `Feature.column`."""
        from datasets_core.features.cast import encoded, leaf_column  # a warm load encodes nothing

        texts = encoded(self, leaf_column(pa.string()))
        return lambda values: pa.ExtensionArray.from_storage(self.arrow_type, texts(values))

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `Feature.cast_array`: the JSON text of each value."""
        return self.column()(array.to_pylist())

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """See `ClassLabel.cast_storage`: text is taken as JSON if all of it is valid JSON, as in `datasets`."""
        texts = json_texts(storage)
        return self.cast_array(storage) if texts is None else pa.ExtensionArray.from_storage(self.arrow_type, texts)

    def encode_example(self, value: Any) -> str:
        """Return `value` as JSON text; NaN and infinities are written as Python's `json` writes them.

        With `decode=False`, a string that is valid JSON is stored unchanged.

        Raises:
            CastError: JSON cannot express the value.
        """
        if not self.decode and isinstance(value, str) and is_json(value):
            return value
        try:
            return _ENCODER.encode(plain_json(value))
        except (TypeError, ValueError, RecursionError) as error:
            raise CastError(
                f"A value of type {type(value).__name__} is not a JSON value: {error or 'nested too deeply'}. Convert it first."
            ) from error

    def decode_example(self, value: Any, token_per_repo_id: object = None) -> Any:
        """Return the value of the JSON text `value`; `token_per_repo_id` is ignored.

        Raises:
            CastError: the text is not JSON.
        """
        if value is None or not self.decode:
            return value
        try:
            return json.loads(value)
        except (ValueError, RecursionError) as error:
            raise CastError(f"A stored value is not valid JSON: {error}. Read the text with Json(decode=False).") from error


_ENCODER = json.JSONEncoder(separators=(",", ":"))


# `Array2D` to `Array5D`: an array of one shape in each row.


_PREFIX = "datasets.features.features."


@dataclass(frozen=True, slots=True, repr=False)
class FixedShape(Feature):
    """An array with a fixed number of dimensions in each row.

    Args:
        shape: the size of each dimension; the first may be None, for any size.
        dtype: the name of the type of the elements.
        id: a name that is kept, but has no effect.
    """

    shape: tuple[int | None, ...]
    dtype: str
    id: str | None = None
    _type: ClassVar[str] = "FixedShape"
    is_constant: ClassVar[bool] = True
    ndim: ClassVar[int] = 0
    needs_encoding: ClassVar[bool] = True
    has_rules: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.shape, Iterable):
            raise ConfigurationError(
                f"shape={self.shape!r} is not a valid shape", advice=f"Pass {self.ndim} sizes, for example {(2,) * self.ndim}"
            )
        shape = tuple(self.shape)
        name = type(self).__name__
        if len(shape) != self.ndim:
            raise ConfigurationError(
                f"{name} has {self.ndim} dimensions, but shape={shape} has {len(shape)}", advice="Use the same number"
            )
        if not all(isinstance(size, int) and size >= 0 for size in shape[1:]) or not (
            shape[0] is None or (isinstance(shape[0], int) and shape[0] >= 0)
        ):
            raise ConfigurationError(f"shape={shape} of {name} is invalid. Only the first size may be None.")
        type_from_name(self.dtype)
        object.__setattr__(self, "shape", shape)
        object.__setattr__(self, "dtype", canonical_name(self.dtype))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape!r}, dtype={self.dtype!r})"

    @property
    def arrow_metadata(self) -> dict[bytes, bytes]:
        # The names under which Hugging Face `datasets` finds its extension types. They are not registered here: a
        # process that imports both libraries could not register one name twice, and the storage is the same.
        name = f"{_PREFIX}{type(self).__name__}ExtensionType"
        return {EXTENSION_NAME: name.encode(), EXTENSION_VALUE: json.dumps([list(self.shape), self.dtype]).encode()}

    @property
    def element(self) -> Value:
        """The feature of one element."""
        return Value(self.dtype)

    @property
    def storage(self) -> List:
        """See `Feature.storage`: lists in lists."""
        nested: Any = self.element
        for _ in range(self.ndim):
            nested = List(nested)
        return nested  # type: ignore[no-any-return]

    def column(self) -> Column:
        """See `Feature.column`."""
        from datasets_core.features.cast import compile_column, without_stop

        column = compile_column(self.storage)

        def write(values: list[Any]) -> pa.Array:
            arrays: list[Any] = []
            for index, value in enumerate(values):
                try:
                    arrays.append(None if is_missing(value) else self._shaped(value))
                except CastError as error:
                    raise Misfit(index, without_stop(error)) from error
            return column(arrays)

        return write

    def _shaped(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) and hasattr(value, "__array__"):
            value = np.asarray(value)
        if isinstance(value, np.ndarray) and value.dtype == object:
            value = list(value)  # of arrays, as a column of pandas holds nested lists
        self.check_shape(value.shape if isinstance(value, np.ndarray) else self._shape_of(value, self.ndim))
        return value

    def _shape_of(self, value: Any, ndim: int) -> tuple[int, ...]:
        """Return the shape of nested lists, which must be regular."""
        elements = as_elements(value)
        if ndim == 1:
            return (len(elements),)
        inner = {self._shape_of(element, ndim - 1) for element in elements if element is not None}
        if len(inner) > 1:
            raise CastError(f"Lists of the shapes {sorted(inner)} in one array do not fit {self!r}.")
        missing = tuple(size or 0 for size in self.shape[self.ndim - ndim + 1 :])
        return (len(elements), *(inner.pop() if inner else missing))

    def cast_array(self, array: pa.Array) -> pa.Array:
        """See `Feature.cast_array`: nested lists of the shape of this feature."""
        from datasets_core.features.cast import cast_array

        cast = cast_array(array, self.storage)
        parent: np.ndarray[Any, Any] = np.arange(len(cast))
        level = cast
        for size in self.shape:
            lengths, valid, child = list_parts(level)
            wrong = np.zeros(len(lengths), bool) if size is None else lengths != size
            wrong = wrong if valid is None else wrong & valid
            if wrong.any():
                index = int(np.argmax(wrong))
                reason = f"an array with {lengths[index]} elements in a dimension does not fit {self!r}"
                raise Misfit(int(parent[index]), reason)
            parent, level = np.repeat(parent, lengths), child
        return cast

    def check_shape(self, shape: tuple[int, ...]) -> None:
        """Raise an error if `shape` differs from the shape of this feature.

        Raises:
            CastError: the shapes differ.
        """
        if len(shape) != self.ndim or any(size not in (None, found) for size, found in zip(self.shape, shape, strict=True)):
            raise CastError(f"An array of shape {shape} does not fit {self!r}", advice="Reshape it, or change the feature")


class Array2D(FixedShape):
    """A two-dimensional array of type `dtype` in each row; the first size in `shape` may be None, for any. `id` is ignored.

    Example:
        >>> Array2D(shape=(None, 3), dtype="float32").arrow_type
        ListType(list<item: list<item: float>>)
    """

    __slots__ = ()
    _type = "Array2D"
    ndim = 2


class Array3D(FixedShape):
    """A three-dimensional array of type `dtype` and shape `shape` in each row; see `Array2D`. `id` is ignored.

    Example:
        >>> features = Features({"a": Array3D(shape=(2, 2, 3), dtype="float32")})
        >>> Dataset.from_dict({"a": [np.zeros((2, 2, 3))]}, features).with_format("numpy")[0]["a"].shape
        (2, 2, 3)
    """

    __slots__ = ()
    _type = "Array3D"
    ndim = 3


class Array4D(FixedShape):
    """A four-dimensional array of type `dtype` and shape `shape` in each row; see `Array2D`. `id` is ignored.

    Example:
        >>> features = Features({"a": Array4D(shape=(None, 2, 2, 3), dtype="float32")})
        >>> Dataset.from_dict({"a": [np.zeros((5, 2, 2, 3))]}, features).with_format("numpy")[0]["a"].shape
        (5, 2, 2, 3)
    """

    __slots__ = ()
    _type = "Array4D"
    ndim = 4


class Array5D(FixedShape):
    """A five-dimensional array of type `dtype` and shape `shape` in each row; see `Array2D`. `id` is ignored.

    Example:
        >>> features = Features({"a": Array5D(shape=(None, 1, 2, 2, 3), dtype="float32")})
        >>> Dataset.from_dict({"a": [np.zeros((7, 1, 2, 2, 3))]}, features).with_format("numpy")[0]["a"].shape
        (7, 1, 2, 2, 3)
    """

    __slots__ = ()
    _type = "Array5D"
    ndim = 5


_BY_EXTENSION: dict[str, type[FixedShape]] = {
    f"{_PREFIX}Array2DExtensionType": Array2D,
    f"{_PREFIX}Array3DExtensionType": Array3D,
    f"{_PREFIX}Array4DExtensionType": Array4D,
    f"{_PREFIX}Array5DExtensionType": Array5D,
}


def from_extension(name: str, serialized: bytes) -> FixedShape | None:
    """Return the feature for an extension type of Hugging Face `datasets`, or None for another extension.

    >>> from_extension("datasets.features.features.Array2DExtensionType", b'[[2, 3], "float32"]')
    Array2D(shape=(2, 3), dtype='float32')
    """
    kind = _BY_EXTENSION.get(name)
    if kind is None:
        return None
    shape, dtype = json.loads(serialized)
    return kind(tuple(shape), dtype)


@dataclass(frozen=True, slots=True, init=False, repr=False)
class ClassLabel(Feature):
    """An integer in each row that represents one of `names`; -1 means unknown.

    Args:
        num_classes: number of classes; without names they are called `"0"`, `"1"`, ….
        names: the name of each class, in the order of their integers.
        names_file: a text file with one name per line.
        id: a name that is kept, but has no effect.

    Example:
        >>> label = ClassLabel(names=["negative", "positive"])
        >>> label.str2int("positive"), label.int2str([0, 1]), label.num_classes
        (1, ['negative', 'positive'], 2)
    """

    names: list[str]
    id: str | None = None
    names_file: str | None = field(default=None, compare=False)
    _codes: dict[str, int] = field(default_factory=dict, compare=False)
    _type: ClassVar[str] = "ClassLabel"
    needs_encoding: ClassVar[bool] = True
    has_rules: ClassVar[bool] = True
    croissant: ClassVar[tuple[str, ...]] = ("cr:Int64", "cr:Label")

    def __init__(
        self,
        num_classes: int | None = None,
        names: Iterable[str] | None = None,
        names_file: str | None = None,
        id: str | None = None,
    ) -> None:
        if names is not None and names_file is not None:
            raise ConfigurationError("A ClassLabel takes names or names_file, not both", advice="Remove one")
        if names_file is not None:
            listed = names_in_file(names_file)
        elif names is not None:
            unordered = (
                str,
                bytes,
                set,
                frozenset,
                Mapping,
                *([np.ndarray] if has_alias() else []),
            )  # which `datasets` rejects
            if isinstance(names, unordered) or not isinstance(names, Iterable):
                raise ArgumentTypeError(f"names={names!r} is not a list of names", advice="Pass the class names as a list")
            listed = [str(name) for name in names]
        elif num_classes is not None:
            if not isinstance(num_classes, int) or num_classes < 0:
                raise ConfigurationError(f"Invalid num_classes={num_classes!r} of a ClassLabel. Pass the number of classes.")
            listed = [str(code) for code in range(num_classes)]
        else:
            raise ConfigurationError("A ClassLabel needs its classes", advice="Pass names=, names_file= or num_classes=")
        if num_classes is not None and len(listed) != num_classes:
            raise ConfigurationError(f"There are {len(listed)} names, but num_classes={num_classes}. Remove num_classes.")
        codes = {name: code for code, name in enumerate(listed)}
        if len(codes) != len(listed):
            twice = next(name for name in listed if listed.count(name) > 1)
            raise ConfigurationError(f"The class name {twice!r} is given more than once", advice="Make the names unique")
        object.__setattr__(self, "names", listed)
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "names_file", None if names_file is None else str(names_file))
        object.__setattr__(self, "_codes", codes)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        made = copy.copy(self)
        _NAMES.__set__(made, self.names.copy())  # `_codes` never changes: both share it
        return made

    def __repr__(self) -> str:
        return f"ClassLabel(names={self.names!r})"

    @property
    def num_classes(self) -> int:
        """Number of classes."""
        return len(self.names)

    @property
    def codes(self) -> dict[str, int]:
        """The integer of each name."""
        return self._codes.copy()

    @property
    def _str2int(self) -> dict[str, int]:  # which published scripts read, as the one below
        return dict(self._codes)

    @property
    def _int2str(self) -> list[str]:
        return self.names

    @property
    def dtype(self) -> str:
        """The name of the stored type."""
        return "int64"

    @property
    def arrow_type(self) -> pa.DataType:
        return pa.int64()

    @classmethod
    def arguments(cls) -> tuple[str, ...]:
        """See `Feature.arguments`; a description does not name a file, since only the user's code may read one."""
        return ("names", "num_classes", "id")

    def column(self) -> Column:
        """See `Feature.column`."""
        from datasets_core.features.cast import ARROW_ERRORS, INTEGERS, encoded, leaf_column

        codes: dict[Any, int | None] = {**self._codes, None: None}
        one_by_one = encoded(self, leaf_column(pa.int64()))
        plain = INTEGERS | {NoneType}

        def write(values: list[Any]) -> pa.Array:
            kinds = set(map(type, values))
            if plain.issuperset(kinds):
                try:
                    array = plain_array(values, pa.int64())
                except ARROW_ERRORS:
                    return one_by_one(values)
                stored = raw_values(array.buffers()[1], np.int64, array)
                if not len(stored) or (stored.min() >= -1 and stored.max() < self.num_classes):
                    return array
            elif kinds <= {str, NoneType}:
                try:
                    return plain_array([codes[value] for value in values], pa.int64())
                except KeyError:
                    return one_by_one(values)
            return one_by_one(values)

        return write

    def cast_storage(self, storage: pa.Array) -> pa.Array:
        """Return an array as integers; all negative integers are kept, as in `datasets`.

        Args:
            storage: class names or integers.

        Raises:
            CastError: a class does not exist.
        """
        try:
            return self.cast_array(storage, lowest=np.iinfo(np.int64).min)
        except Misfit as misfit:
            raise CastError(f"Row {misfit.index}: {misfit.reason}. {self._advice()}") from misfit

    def cast_array(self, array: pa.Array, lowest: int = -1) -> pa.Array:
        """See `Feature.cast_array`: text is the name of a class, and a number its integer, not below `lowest`."""
        from datasets_core.features.cast import cast_leaf, is_text

        if is_text(array.type):
            texts = array.dictionary_encode()
            try:
                codes = self.column()(texts.dictionary.to_pylist())
            except Misfit as misfit:
                hits = raw_values(texts.indices.buffers()[1], np.int32, texts.indices) == misfit.index
                valid = validity(array)
                row = int(np.argmax(hits if valid is None else hits & valid))
                raise Misfit(row, misfit.reason) from misfit
            return codes.take(texts.indices)
        codes = cast_leaf(array, pa.int64())
        stored = raw_values(codes.buffers()[1], np.int64, codes)
        wrong = (stored < lowest) | (stored >= self.num_classes)
        valid = validity(codes)
        wrong = wrong if valid is None else wrong & valid
        if wrong.any():
            index = int(np.argmax(wrong))
            reason = f"{stored[index]} is not the integer of one of the {self.num_classes} classes; -1 or null means unknown"
            raise Misfit(index, reason)
        return codes

    def str2int(self, values: str | Iterable[Any]) -> int | list[int]:
        """Return the integers of `values`, one class name or several.

        Spaces around a name are ignored; a name may also be its integer as text.

        Raises:
            CastError: a class does not exist.

        Example:
            >>> ClassLabel(names=["a", "b"]).str2int([" b ", "0", "-1"])
            [1, 0, -1]
        """
        if isinstance(values, str):
            return self._code(values)
        if not isinstance(values, Iterable):
            raise CastError(f"{values!r} is not a valid class name", advice="Pass a string, or a list of them", value=values)
        return [self._code(value) for value in values]

    def int2str(self, values: Any) -> str | list[str]:
        """Return the class names of `values`, one integer or several.

        Raises:
            CastError: an integer does not belong to a class.
        """
        if isinstance(values, Iterable) and not isinstance(values, (str, bytes)) and np.ndim(values) > 0:  # type: ignore[arg-type]
            return [self._name(value) for value in values]
        return self._name(values)

    def encode_example(self, value: Any) -> Any:
        """Return the integer of the class `value`, a name or an integer.

        Raises:
            CastError: the class does not exist.

        Example:
            >>> ClassLabel(names=["a", "b"]).encode_example("b")
            1
        """
        if isinstance(value, str):
            return self._code(value)
        code = _integer(value)
        if code is None:
            raise CastError(f"{value!r} is neither the name nor the integer of a class. {self._advice()}")
        if not -1 <= code < len(self.names):
            raise CastError(f"{code} is not the integer of a class. {self._advice()}")
        return code

    def _code(self, name: Any) -> int:
        if isinstance(name, str):
            found = self._codes.get(name)
            if found is None:
                found = self._codes.get(name.strip())
            if found is not None:
                return found
        try:
            code = int(name)
        except (TypeError, ValueError, OverflowError):
            code = len(self.names)
        if not -1 <= code < len(self.names) or (isinstance(name, float) and name != code):
            raise CastError(f"Unknown class {name!r}. {self._advice()}")
        return code

    def _name(self, code: Any) -> str:
        number = _integer(code)
        if number is None or not 0 <= number < len(self.names):
            raise CastError(f"{code!r} is not the integer of a class. {self._advice()}")
        return self.names[number]

    def _advice(self) -> str:
        shown = ", ".join(repr(name) for name in self.names[:10]) + (", …" if len(self.names) > 10 else "")
        return f"The {len(self.names)} classes are {shown or 'none'}; -1 or None means unknown."


_NAMES: Any = ClassLabel.__dict__["names"]  # its slot, which a class below may hide behind a property


def _integer(value: Any) -> int | None:
    """Return `value` as an int, if that loses nothing."""
    if isinstance(value, (float, np.floating)):
        return int(value) if value == value and abs(value) != float("inf") and value == int(value) else None
    try:
        return operator.index(value)
    except TypeError:
        return int(value) if isinstance(value, np.bool_) else None


# `Translation` and `TranslationVariableLanguages`: one text in several languages.


@dataclass(frozen=True, slots=True, repr=False)
class Translation(Feature):
    """A text in each of the same `languages`, in each row. `id` is ignored.

    Example:
        >>> Translation(languages=["en", "fr"]).arrow_type
        StructType(struct<en: string, fr: string>)
    """

    languages: list[str]
    id: str | None = None
    _type: ClassVar[str] = "Translation"
    dtype: ClassVar[str] = "dict"
    needs_encoding: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "languages", _languages(self.languages))

    def __repr__(self) -> str:
        return f"Translation(languages={self.languages!r})"

    @property
    def storage(self) -> dict[str, FeatureType]:
        return self.flatten()

    def flatten(self) -> dict[str, FeatureType]:
        """Return the columns into which one column of this type is flattened, in alphabetical order."""
        return {language: Value("string") for language in sorted(self.languages)}

    def encode_example(self, value: Any) -> Any:
        """Return the texts of the dict `value` by language; a missing language is null.

        Raises:
            CastError: a language is not one of `languages`, or the value is not a dict.
        """
        _check_languages(value, self.languages)
        return value


@dataclass(frozen=True, slots=True, repr=False)
class TranslationVariableLanguages(Feature):
    """Texts in some languages in each row, any number of them for each language.

    Args:
        languages: the languages that may occur; None allows all.
        num_languages: number of languages; computed from `languages`.
        id: ignored.

    Example:
        >>> feature = TranslationVariableLanguages(languages=["fr", "en"])
        >>> feature.encode_example({"en": "the cat", "fr": ["le chat", "la chatte"]})
        {'language': ['en', 'fr', 'fr'], 'translation': ['the cat', 'la chatte', 'le chat']}
    """

    languages: list[str] | None = None
    num_languages: int | None = None
    id: str | None = None
    _type: ClassVar[str] = "TranslationVariableLanguages"
    dtype: ClassVar[str] = "dict"
    needs_encoding: ClassVar[bool] = True

    def __post_init__(self) -> None:
        languages = sorted(set(_languages(self.languages))) if self.languages else None
        object.__setattr__(self, "languages", languages)
        object.__setattr__(self, "num_languages", len(languages) if languages else None)

    def __repr__(self) -> str:
        return f"TranslationVariableLanguages(languages={self.languages!r}, num_languages={self.num_languages!r})"

    @property
    def storage(self) -> dict[str, FeatureType]:
        return self.flatten()

    def flatten(self) -> dict[str, FeatureType]:
        """Return the columns into which one column of this type is flattened."""
        return {"language": List(Value("string")), "translation": List(Value("string"))}

    def encode_example(self, value: Any) -> Any:
        """Return the texts of the dict `value` as two lists of equal length, sorted by language, then by text.

        Raises:
            CastError: a language is not one of `languages`, or the value is not a dict.
        """
        if isinstance(value, Mapping) and value.keys() == {"language", "translation"}:
            return value
        _check_languages(value, self.languages)
        pairs: list[tuple[str, str]] = []
        for language, text in value.items():
            texts = [text] if isinstance(text, str) or not isinstance(text, Iterable) else list(text)
            if not all(isinstance(one, str) for one in texts):
                raise CastError(
                    f"{text!r} is not text in {language!r}",
                    advice=f"Pass a string, a list of strings, or omit {language!r}",
                    value=text,
                )
            pairs += [(language, one) for one in texts]
        pairs.sort()
        return {"language": [language for language, _ in pairs], "translation": [text for _, text in pairs]}


def _check_languages(value: Any, languages: list[str] | None) -> None:
    if not isinstance(value, Mapping):
        raise CastError(f"A value of type {type(value).__name__} is not a translation. Pass a dict of texts by language.")
    unknown = value.keys() - set(languages) if languages is not None else None
    if unknown:
        raise CastError(f"Unknown languages {sorted(map(str, unknown))}. The feature has {languages}. Add them to the feature.")


def _languages(given: Any) -> list[str]:
    languages: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else [given]
    if isinstance(given, (str, bytes)) or not all(isinstance(language, str) for language in languages):
        raise ConfigurationError(
            f"languages={given!r} is not a list of languages", advice="Write for example languages=['en', 'fr']", value=given
        )
    return languages
