"""`Features`: names and types of columns, to and from Arrow schemas; `RowEncoder`, `Decoder`: rows to batches and back."""

from __future__ import annotations

import dataclasses
import inspect
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from types import GeneratorType
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import CastError, CellCastError, ConfigurationError, MediaError, bounded_json
from datasets_core.features.arrow import Misfit, column_name
from datasets_core.features.base import (
    EXTENSION_NAME,
    EXTENSION_VALUE,
    MAX_DEPTH,
    FeatureType,
    LargeList,
    List,
    Value,
    as_feature,
    feature_to_arrow,
    feature_to_field,
    members_of,
    name_from_type,
    needs_decoding,
    own_copy,
)
from datasets_core.features.media.media import ANYWHERE, MARK, NOWHERE, MediaPaths
from datasets_core.features.serialization import feature_from_json, feature_to_json, features_from_yaml, features_to_yaml
from datasets_core.features.values import decode_value, encode_value, shown

if TYPE_CHECKING:
    from datasets_core.features.cast import Column


METADATA_KEY = b"huggingface"
"""The key under which an Arrow schema carries its features, as Hugging Face `datasets` 2.x to 5.x read and write it."""

_PLAIN = frozenset((Value,))

__all__ = ["METADATA_KEY", "Features", "feature_from_arrow", "feature_to_arrow", "storage_type"]


class Features(dict[str, FeatureType]):
    """The type of each column of a dataset, by name and in order.

    Args:
        args, kwargs: the columns, as for `dict`.

    >>> features = Features({"text": Value("string"), "tags": [Value("int8")]})
    >>> features
    {'text': Value('string'), 'tags': List(Value('int8'))}
    >>> features.type
    StructType(struct<text: string, tags: list<item: int8>>)
    """

    if not TYPE_CHECKING:  # type checkers would take its result for the result of every call

        def __new__(cls, *args: Any, **kwargs: Any) -> Any:
            """Create features, or their JSON form if `dataclasses.asdict` calls this class, as it does for each dict in a
            dataclass.

            Its argument is a generator over the items of the features, whose dicts lack the names of the feature types.
            """
            if args and isinstance(args[0], GeneratorType) and args[0].gi_code.co_filename == dataclasses.__file__:
                return Features(dict(inspect.getgeneratorlocals(args[0])[".0"])).to_dict()
            return super().__new__(cls)

    def __init__(self, /, *args: Any, **kwargs: Any) -> None:
        super().__init__()
        self.update(*args, **kwargs)

    def __setitem__(self, name: str, feature: Any) -> None:
        if not (isinstance(name, str) and name.isascii()):
            column_name(name)
        super().__setitem__(name, as_feature(feature))

    def update(self, /, *args: Any, **kwargs: Any) -> None:
        """Set several columns; `args` and `kwargs` are those of `dict.update`."""
        for name, feature in dict(*args, **kwargs).items():
            self[name] = feature

    def setdefault(self, name: str, default: Any = None) -> FeatureType:
        """Return the feature of the column `name`, after setting it to `default` if the column does not exist."""
        if name not in self:
            self[name] = default
        return self[name]

    def __ior__(self, other: Any) -> Features:  # type: ignore[override]
        self.update(other)
        return self

    def __or__(self, other: Any) -> Features:  # type: ignore[override]
        return Features({**self, **other})

    def __reduce__(self) -> tuple[Any, ...]:
        return Features, (dict(self),)

    def __deepcopy__(self, memo: dict[int, Any]) -> Features:
        made = Features()
        is_plain = _PLAIN.issuperset(map(type, self.values()))  # five times as fast for wide tables
        dict.update(made, self if is_plain else {name: own_copy(feature) for name, feature in self.items()})
        return made

    def copy(self) -> Features:
        """Return a deep copy."""
        return self.__deepcopy__({})

    # -- Arrow ---------------------------------------------------------------------------------------------------------

    @property
    def type(self) -> pa.StructType:
        """The columns as one Arrow struct."""
        return feature_to_arrow(dict(self))

    @property
    def arrow_schema(self) -> pa.Schema:
        """The Arrow schema of the columns; its metadata holds the features themselves."""
        form = json.dumps({"info": {"features": self.to_dict()}})
        return pa.schema([feature_to_field(name, feature) for name, feature in self.items()], metadata={METADATA_KEY: form})

    @classmethod
    def from_arrow_schema(cls, pa_schema: pa.Schema) -> Features:
        """Return the features of `pa_schema`: those in its metadata if they agree with the types, else those of the types.

        Raises:
            ConfigurationError: the metadata is invalid, or contains a type of feature that this version does not support.

        >>> Features.from_arrow_schema(pa.schema({"a": pa.int8(), "b": pa.list_(pa.string())}))
        {'a': Value('int8'), 'b': List(Value('string'))}
        """
        recorded = _recorded_features(pa_schema)
        features = cls()
        for field in pa_schema:
            form = recorded.get(field.name)
            dtype = _plain_dtype(form)
            found = Value(dtype) if dtype else None if form is None else feature_from_json(form, path=field.name)
            if found is None or storage_type(feature_to_arrow(found)) != storage_type(field.type):
                found = feature_from_field(field)
            features[field.name] = found
        return features

    # -- text ----------------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the features in their JSON form.

        >>> Features({"a": Value("int8")}).to_dict()
        {'a': {'dtype': 'int8', '_type': 'Value'}}
        """
        return {
            name: {"dtype": str(feature.dtype), "_type": "Value"}
            if type(feature) is Value and feature.id is None
            else feature_to_json(feature)
            for name, feature in self.items()
        }

    @classmethod
    def from_dict(cls, dic: Mapping[str, Any]) -> Features:
        """Return the features of their JSON form `dic`, of this version or an older one.

        Raises:
            ConfigurationError: the form does not describe features.

        >>> Features.from_dict({"a": {"dtype": "int8", "_type": "Value"}})
        {'a': Value('int8')}
        """
        if not isinstance(dic, Mapping):
            raise ConfigurationError(f"{dic!r} is not a description of features. Pass a dict of column name to feature.")
        return cls({name: feature_from_json(form, path=str(name)) for name, form in dic.items()})

    def to_yaml_list(self) -> list[dict[str, Any]]:
        """Return the features in the form of dataset cards.

        >>> Features({"a": Value("int8")}).to_yaml_list()
        [{'name': 'a', 'dtype': 'int8'}]
        """
        return features_to_yaml(self)

    @classmethod
    def from_yaml_list(cls, yaml_data: Iterable[Mapping[str, Any]]) -> Features:
        """Return the features of the list `yaml_data` in a dataset card, of this version or an older one.

        Raises:
            ConfigurationError: the list does not describe features.
        """
        return cls(features_from_yaml(yaml_data))

    _to_yaml_list, _from_yaml_list = to_yaml_list, from_yaml_list  # their names in `datasets`

    # -- values --------------------------------------------------------------------------------------------------------

    def encode_example(self, example: Mapping[str, Any]) -> dict[str, Any]:
        """Return the row `example` in stored form.

        >>> Features({"a": Value("string"), "b": Value("int8")}).encode_example({"a": 5})
        {'a': '5', 'b': None}
        """
        return {name: _located(name, feature, example.get(name)) for name, feature in self.items()}

    def encode_batch(self, batch: Mapping[str, Iterable[Any]]) -> dict[str, list[Any]]:
        """Return the columns `batch` as they are stored.

        Raises:
            CastError: the batch has other columns, or a value does not fit.

        >>> Features({"a": Value("string")}).encode_batch({"a": [5, None]})
        {'a': ['5', None]}
        """
        if batch.keys() != self.keys():
            raise CastError(
                f"The batch has the columns {sorted(batch)}, expected {sorted(self)}. Change the columns or the features."
            )
        return {name: self.encode_column(values, name) for name, values in batch.items()}

    def encode_column(self, column: Iterable[Any], column_name: str) -> list[Any]:
        """Return the values `column` of `column_name` as they are stored."""
        return [_located(column_name, self[column_name], value, row) for row, value in enumerate(column)]

    def decode_example(self, example: Mapping[str, Any], token_per_repo_id: object = None) -> dict[str, Any]:
        """Return the stored row `example` as users see it; `token_per_repo_id` is ignored.

        >>> from datasets_core import Json
        >>> Features({"a": Json()}).decode_example({"a": "[1]"})
        {'a': [1]}
        """
        return {name: decode_value(self[name], value, ANYWHERE) if name in self else value for name, value in example.items()}

    def decode_batch(self, batch: Mapping[str, list[Any]], token_per_repo_id: object = None) -> dict[str, list[Any]]:
        """Return the stored columns `batch` as users see them; `token_per_repo_id` is ignored."""
        return {name: self.decode_column(values, name) if name in self else values for name, values in batch.items()}

    def decode_column(self, column: list[Any], column_name: str, token_per_repo_id: object = None) -> list[Any]:
        """Return the stored values `column` of `column_name` as users see them; `token_per_repo_id` is ignored."""
        feature = self[column_name]
        return [decode_value(feature, value, ANYWHERE) for value in column] if needs_decoding(feature) else column

    # -- shape ---------------------------------------------------------------------------------------------------------

    def flatten(self, max_depth: int = 16) -> Features:
        """Return the features with the fields of structs, down to `max_depth` - 1 levels, as columns `outer.inner`, which come
        last.

        >>> Features({"a": {"b": Value("int8")}, "c": Value("bool")}).flatten()
        {'c': Value('bool'), 'a.b': Value('int8')}
        """
        flat = self.copy()
        for _ in range(1, max_depth):
            spread = {name: parts for name, feature in flat.items() if (parts := _parts(feature)) is not None}
            if not spread:
                break
            for name, parts in spread.items():
                del flat[name]
                flat.update({f"{name}.{inner}": part for inner, part in parts.items()})
        return flat

    def reorder_fields_as(self, other: Features) -> Features:
        """Return the same features in the order of those of `other`, at every level.

        Raises:
            CastError: the names differ.

        >>> wanted = Features({"a": Value("int8"), "b": Value("bool")})
        >>> Features({"b": Value("bool"), "a": Value("int8")}).reorder_fields_as(wanted)
        {'a': Value('int8'), 'b': Value('bool')}
        """
        return Features(_reordered(dict(self), dict(other), ""))


def _located(name: str, feature: FeatureType, value: Any, row: int | None = None) -> Any:
    try:
        return encode_value(feature, value)
    except CastError as error:
        where = "" if row is None else f", row {row}"
        raise CastError(f"Column {name!r}{where}: {error} Fix the value, or the feature of the column.") from error


def _parts(feature: FeatureType) -> dict[str, FeatureType] | None:
    if isinstance(feature, dict):
        return feature
    flatten = getattr(feature, "flatten", None)
    parts = flatten() if flatten is not None else None
    return parts if isinstance(parts, dict) else None


def _reordered(mine: FeatureType, other: FeatureType, path: str) -> Any:
    if isinstance(mine, dict) and isinstance(other, dict):
        if mine.keys() != other.keys():
            differ = sorted(mine.keys() ^ other.keys())
            raise CastError(
                f"The fields {differ}{f' of {path!r}' if path else ''} are only in one of the two schemas",
                advice="Add them to the other",
            )
        return {name: _reordered(mine[name], inner, f"{path}.{name}".lstrip(".")) for name, inner in other.items()}
    if isinstance(mine, List) and isinstance(other, List):
        return List(_reordered(mine.feature, other.feature, path), length=mine.length, id=mine.id)
    if isinstance(mine, LargeList) and isinstance(other, LargeList):
        return LargeList(_reordered(mine.feature, other.feature, path), id=mine.id)
    if isinstance(mine, (dict, List, LargeList)):  # others have no fields to reorder
        raise CastError(f"{path!r} is {mine!r} in one of the two schemas and {other!r} in the other. Use one feature in both.")
    return mine


# -- from Arrow --------------------------------------------------------------------------------------------------------


PLAIN_DTYPES = frozenset(
    ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "bool", "string", "binary")
)


def _plain_dtype(form: Any) -> str | None:
    """Return the dtype of a JSON form that only contains the dtype of a plain value, and so needs no check; None for others.

    >>> _plain_dtype({"dtype": "int8", "_type": "Value"}), _plain_dtype({"dtype": "int9", "_type": "Value"})
    ('int8', None)
    """
    if type(form) is not dict or len(form) != 2 or form.get("_type") != "Value":
        return None
    dtype = form.get("dtype")
    return dtype if type(dtype) is str and dtype in PLAIN_DTYPES else None


def _recorded_features(schema: pa.Schema) -> Mapping[str, Any]:
    raw = (schema.metadata or {}).get(METADATA_KEY)
    if raw is None:
        return {}
    try:
        info = json.loads(bounded_json(raw))["info"]
        features = (info or {}).get("features")
    except KeyError:
        return {}
    except (ValueError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigurationError(
            f"The features in the metadata of an Arrow schema are invalid: {error}", advice="Write the file again"
        ) from error
    return features if isinstance(features, Mapping) else {}


def features_of_file(schema: pa.Schema, name: str) -> Features:
    """Return the features of the Arrow schema of a file; see `Features.from_arrow_schema`.

    Raises:
        ConfigurationError: the metadata is invalid; the error names the file.
    """
    try:
        return Features.from_arrow_schema(schema)
    except ConfigurationError as error:
        raise ConfigurationError(f"{name}: {error}") from error


def feature_from_field(field: pa.Field) -> FeatureType:
    """Return the feature of a field of an Arrow schema; its metadata may name an extension type of Hugging Face `datasets`."""
    return _from_field(field, 0)


def feature_from_arrow(arrow_type: pa.DataType) -> FeatureType:
    """Return the feature with the same storage as an Arrow type.

    Dictionary and run-end encodings become their values, maps become lists of `{"key", "value"}`.

    >>> feature_from_arrow(pa.large_list(pa.struct({"x": pa.float64()})))
    LargeList({'x': Value('float64')})
    """
    return _from_type(arrow_type, 0)


def _from_field(field: pa.Field, depth: int) -> FeatureType:
    metadata = field.metadata or {}
    name = metadata.get(EXTENSION_NAME)
    if name is not None:
        from datasets_core.features.types import from_extension  # here and below: 2 ms that plain columns do without

        found = from_extension(name.decode(), metadata.get(EXTENSION_VALUE, b""))
        if found is not None and storage_type(found.arrow_type) == storage_type(field.type):
            return found
    return _from_type(field.type, depth)


def _from_type(arrow_type: pa.DataType, depth: int) -> FeatureType:
    if depth > MAX_DEPTH:
        raise ConfigurationError(f"A column is nested more than {MAX_DEPTH} levels deep. Keep it as JSON text, with Json().")
    types = pa.types
    if isinstance(arrow_type, pa.BaseExtensionType):
        return _from_extension_type(arrow_type, depth)
    if types.is_struct(arrow_type):
        return _from_mark(arrow_type) or {field.name: _from_field(field, depth + 1) for field in arrow_type}
    if types.is_fixed_size_list(arrow_type):
        return List(_from_field(arrow_type.value_field, depth + 1), length=arrow_type.list_size)
    if types.is_large_list(arrow_type) or types.is_large_list_view(arrow_type):
        return LargeList(_from_field(arrow_type.value_field, depth + 1))
    if types.is_list(arrow_type) or types.is_list_view(arrow_type):
        return List(_from_field(arrow_type.value_field, depth + 1))
    if types.is_map(arrow_type):
        return List(
            {"key": _from_field(arrow_type.key_field, depth + 1), "value": _from_field(arrow_type.item_field, depth + 1)}
        )
    if types.is_dictionary(arrow_type) or types.is_run_end_encoded(arrow_type):
        return _from_type(arrow_type.value_type, depth)
    if types.is_decimal32(arrow_type) or types.is_decimal64(arrow_type):
        return Value(f"decimal128({arrow_type.precision}, {arrow_type.scale})")
    name = name_from_type(arrow_type)
    if name is None:
        raise ConfigurationError(
            f"No feature supports the Arrow type {arrow_type}", advice="Convert or remove the column first"
        )
    return Value(name)


def _from_mark(arrow_type: pa.DataType) -> FeatureType | None:
    """Return the kind of the objects from which the column was inferred."""
    form = (arrow_type.field(0).metadata or {}).get(MARK) if arrow_type.num_fields else None
    return None if form is None else feature_from_json(json.loads(form))


def _from_extension_type(arrow_type: pa.DataType, depth: int) -> FeatureType:
    from datasets_core.features.types import Json, from_extension

    if arrow_type.extension_name == "arrow.json":
        return Json()
    serialize = getattr(arrow_type, "__arrow_ext_serialize__", None)
    found = from_extension(arrow_type.extension_name, serialize()) if serialize is not None else None
    return found or _from_type(arrow_type.storage_type, depth)


def storage_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type with every extension except JSON replaced by its storage, so that equivalent types of a column are equal.

    >>> storage_type(pa.list_(pa.uuid()))
    ListType(list<item: fixed_size_binary[16]>)
    """
    types = pa.types
    if isinstance(arrow_type, pa.BaseExtensionType):
        return arrow_type if arrow_type.extension_name == "arrow.json" else storage_type(arrow_type.storage_type)
    if types.is_struct(arrow_type):
        return pa.struct([field.with_type(storage_type(field.type)) for field in arrow_type])
    if types.is_fixed_size_list(arrow_type):
        return pa.list_(arrow_type.value_field.with_type(storage_type(arrow_type.value_type)), arrow_type.list_size)
    if types.is_large_list(arrow_type):
        return pa.large_list(arrow_type.value_field.with_type(storage_type(arrow_type.value_type)))
    if types.is_list(arrow_type):
        return pa.list_(arrow_type.value_field.with_type(storage_type(arrow_type.value_type)))
    return arrow_type


# `joined_features`: the union of the columns of several datasets, and their types.


_NULL = Value("null")


def joined_features(features: Sequence[Features]) -> Features:
    """Return the columns of all, in the order of first occurrence; null yields to any other type.

    >>> joined_features([Features({"a": Value("null")}), Features({"a": Value("int8"), "b": Value("string")})])
    {'a': Value('int8'), 'b': Value('string')}

    Raises:
        CastError: a column has different types.
    """
    joined: dict[str, FeatureType] = {}
    homes: dict[str, int] = {}
    for number, each in enumerate(features):
        for name, feature in each.items():
            try:
                joined[name] = _joined(joined[name], feature) if name in joined else feature
            except _DifferError:
                raise CastError(
                    f"Column {name!r} is {feature} in dataset {number} and {joined[name]} in dataset {homes[name]}",
                    advice="Cast one of them, for example by cast_column()",
                ) from None
            homes.setdefault(name, number)
    return Features(joined)


class _DifferError(Exception):
    """Two types without a common type."""


def _joined(one: FeatureType, other: FeatureType) -> FeatureType:
    if one == other or other == _NULL:
        return one
    if one == _NULL:
        return other
    if isinstance(one, dict) and isinstance(other, dict):
        names = dict.fromkeys([*one, *other])
        return {
            name: _joined(one[name], other[name]) if name in one and name in other else one.get(name, other.get(name, _NULL))
            for name in names
        }
    if isinstance(one, List) and isinstance(other, List) and one.length == other.length:
        return List(_joined(one.feature, other.feature), length=one.length)
    if isinstance(one, LargeList) and isinstance(other, LargeList):
        return LargeList(_joined(one.feature, other.feature))
    raise _DifferError


_LISTS = (
    (pa.types.is_list, pa.list_),
    (pa.types.is_large_list, pa.large_list),
    (pa.types.is_list_view, pa.list_view),
    (pa.types.is_large_list_view, pa.large_list_view),
)


def plain_type(arrow_type: pa.DataType) -> pa.DataType:
    """Return the type with every dictionary in it replaced by the type of its values.

    >>> plain_type(pa.list_(pa.dictionary(pa.int8(), pa.string())))
    ListType(list<item: string>)
    """
    if pa.types.is_dictionary(arrow_type):
        return plain_type(arrow_type.value_type)
    if pa.types.is_struct(arrow_type):
        return pa.struct([_plain_field(field) for field in arrow_type.fields])
    if pa.types.is_map(arrow_type):
        return pa.map_(_plain_field(arrow_type.key_field), _plain_field(arrow_type.item_field), arrow_type.keys_sorted)
    for is_kind, make in _LISTS:
        if is_kind(arrow_type):
            return make(_plain_field(arrow_type.value_field))
    if pa.types.is_fixed_size_list(arrow_type):
        return pa.list_(_plain_field(arrow_type.value_field), arrow_type.list_size)
    return arrow_type


def _plain_field(field: pa.Field) -> pa.Field:
    return field.with_type(plain_type(field.type))


def plain_schema(schema: pa.Schema) -> pa.Schema:
    """Return the schema with plain types; the same object if it has no dictionary."""
    if "dictionary<" not in str(schema.types):
        return schema
    plain = pa.schema([_plain_field(field) for field in schema], schema.metadata)
    return schema if plain.equals(schema) else plain


# `RowEncoder`, `Decoder`: rows to record batches and back, by functions compiled once for each schema.


class RowEncoder:
    """Converts rows to record batches.

    Args:
        features: the columns; None takes the columns and types of each batch from its rows.
        as_json: without features, values that share no type and dicts of different keys become JSON.
        is_loose: with features, values and keys that do not fit are converted as in Hugging Face `datasets` 1 to 3: see
            `loose`; keys without a feature are left out.
        extra_columns: with features, "ignore" leaves out keys without a feature; otherwise such a row is an error, whose
            message names this option if it is "raise".

    >>> from datasets_core.features.base import Value
    >>> RowEncoder(Features({"a": Value("int8")})).encode([{"a": 1}, {"a": None}]).to_pylist()
    [{'a': 1}, {'a': None}]
    >>> RowEncoder(None).encode([{"a": 1}, {"a": 2.5, "b": "x"}]).schema.types
    [DataType(double), DataType(string)]
    """

    def __init__(
        self, features: Features | None, *, as_json: bool = False, is_loose: bool = False, extra_columns: str | None = None
    ) -> None:
        from datasets_core.features.cast import compile_column  # 10 ms with the next, that reading does without
        from datasets_core.features.inference import infer_column, infer_or_json

        self.features, self._extra_columns = features, "ignore" if is_loose else extra_columns
        self._infer = infer_or_json if as_json else infer_column
        self._schema = None if features is None else features.arrow_schema
        self._columns: list[tuple[str, Column]] = []
        if features is not None:
            self._columns = [(name, compile_column(feature, is_loose=is_loose)) for name, feature in features.items()]

    @property
    def schema(self) -> pa.Schema | None:
        """The schema of every batch; None if each batch has its own."""
        return self._schema

    def encode(self, rows: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
        """Return one batch of these rows, in their order; a key that a row lacks is null.

        Raises:
            CellCastError: a value does not fit its column, or a key has no feature; the error names column and row.
        """
        if self._schema is None:
            return infer_batch(rows, lambda name: self._infer)
        arrays = [_array(name, values, write) for (name, write), values in zip(self._columns, self._values(rows), strict=True)]
        if not arrays:
            return _empty_rows(len(rows), self._schema)
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _values(self, rows: Sequence[Mapping[str, Any]]) -> list[list[Any]]:
        columns = _equal_rows(rows, [name for name, _ in self._columns])
        if columns is not None:
            return columns
        _check_rows(rows)
        if self._extra_columns != "ignore":
            self._check_keys(rows)
        return [[row.get(name) for row in rows] for name, _ in self._columns]

    def _check_keys(self, rows: Sequence[Mapping[str, Any]]) -> None:
        known = dict(self._columns)
        for index, row in enumerate(rows):
            unknown = next((name for name in row if name not in known), None)
            if unknown is not None:
                raise CellCastError(
                    str(unknown),
                    f"the features do not have this column, only {', '.join(map(repr, known)) or 'none'}",
                    row=index,
                    advice="Add it to the features, or pass extra_columns='ignore' to leave it out"
                    if self._extra_columns
                    else "Add it to the features, or remove it from the rows",
                )


def _array(name: str, values: list[Any], write: Column) -> pa.Array:
    try:
        return write(values)
    except Misfit as misfit:
        raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=misfit.index) from misfit.__cause__


def _check_rows(rows: Sequence[Any]) -> None:
    for index, row in enumerate(rows):
        if type(row) is not dict and not isinstance(row, Mapping):
            raise CastError(
                f"Row {index} is {shown(row)} ({type(row).__name__}), not a dict",
                advice="Give each row as a dict of column to value",
            )


def _equal_rows(rows: Sequence[Any], names: Sequence[Any]) -> list[list[Any]] | None:
    """Return the columns of rows with exactly these keys; None if a row has others, or is not a plain dict."""
    return members_of(rows, names) if set(map(type, rows)) <= {dict} else None


def infer_batch(rows: Sequence[Mapping[Any, Any]], infer: Callable[[str], Column]) -> pa.RecordBatch:
    """Return rows as a batch whose columns are made by `infer(name)`.

    Raises:
        CellCastError: a value does not fit its column; the error names column and row.
    """
    names = list(rows[0]) if rows and type(rows[0]) is dict else []
    columns = _equal_rows(rows, names)
    if columns is None:
        _check_rows(rows)
        names = list(dict.fromkeys(chain.from_iterable(rows)))
        columns = [[row.get(name) for row in rows] for name in names]
    arrays = []
    for name, values in zip(names, columns, strict=True):
        if not isinstance(name, str):
            index = next(index for index, row in enumerate(rows) if name in row)
            raise CellCastError(str(name), "the column name is not a string", row=index, advice="Use strings as column names")
        arrays.append(_array(name, values, infer(name)))
    if not arrays:
        return _empty_rows(len(rows), pa.schema([]))
    return pa.RecordBatch.from_arrays(arrays, names)


def _empty_rows(length: int, schema: pa.Schema) -> pa.RecordBatch:
    """Return rows without columns, which can still be counted."""
    batch = pa.RecordBatch.from_struct_array(pa.Array.from_buffers(pa.struct([]), length, [None], children=[]))
    return batch.replace_schema_metadata(schema.metadata)


class Decoder:
    """Converts stored values to those that the user sees, for the columns in which they differ.

    Args:
        features: the types of the columns.
        paths: the paths in values that may be opened; none by default.

    >>> from datasets_core.features.types import Json
    >>> decoder = Decoder(Features({"a": Json()}))
    >>> decoder.columns_to_decode, decoder.decode_value("a", '{"x": 1}')
    (frozenset({'a'}), {'x': 1})
    """

    def __init__(self, features: Features, paths: MediaPaths = NOWHERE) -> None:
        self.features, self.paths = features, paths
        self._decoders: dict[str, Callable[[Any], Any]] = {
            name: partial(decode_value, feature, paths=paths) for name, feature in features.items() if needs_decoding(feature)
        }
        self.columns_to_decode: frozenset[str] = frozenset(self._decoders)

    def decode_value(self, name: str, value: Any) -> Any:
        """Return a stored value of one column as the user sees it."""
        decode = self._decoders.get(name)
        if decode is None:
            return value
        try:
            return decode(value)
        except MediaError as error:
            raise error.at(column=name) from error.__cause__
