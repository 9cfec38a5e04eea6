"""`ColumnChanges`: methods that select, rename, remove, add, flatten and cast columns.

Each method imports its implementation on use: together 10 ms, not needed for reading.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, time, timedelta
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError
from datasets_core.features.arrow import merge_types
from datasets_core.features.base import (
    FeatureType,
    LargeList,
    List,
    Value,
    as_feature,
    bitmap,
    feature_to_arrow,
    feature_to_field,
    own_copy,
)
from datasets_core.features.formats.formats import RowFormat
from datasets_core.features.formats.python import RowReader
from datasets_core.features.schema import Decoder, Features, RowEncoder, feature_from_arrow
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.column import Column
from datasets_core.store.rows.indices import as_int, names_of
from datasets_core.store.rows.rows import Rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    from datasets_core.dataset.recompute import Change


# Additions to a dataset: a column, and a row.


_NULL_ROWS = 1 << 16


def new_column(name: str, values: Any, feature: Any, num_rows: int, names: Iterable[str]) -> tuple[pa.Table, Features]:
    """Return a column as a separate table, with its feature.

    Raises:
        ConfigurationError: the name exists, or is invalid.
        CastError: the number of values differs from the number of rows, or the values share no type or do not fit the feature.
    """
    from datasets_core.features.cast import cast_table

    if not isinstance(name, str):
        raise ArgumentTypeError(f"{name!r} is not a valid column name", advice="Give a string", value=name)
    if name in names:
        raise ConfigurationError(f"Column {name!r} already exists", advice="Choose another name, or remove that column first")
    features = None if feature is None else Features({name: feature}).copy()
    if isinstance(values, Column):
        values, found = values.to_arrow(), values.features
        features = features or (None if found is None else Features({name: found}))
    if isinstance(values, (pa.Array, pa.ChunkedArray)) and features is not None:
        table = cast_table(pa.table([values], names=[name]), features)
    else:
        from datasets_core.store.rows.create import columns_table  # here and below: 7 ms that reading does without

        table = columns_table({name: values}, features, None)
    if table.num_rows != num_rows:
        raise CastError(
            f"Column {name!r} has {table.num_rows} values, but the dataset has {num_rows} rows",
            advice="Give one value for each row",
        )
    return table, features or Features.from_arrow_schema(table.schema)


def scattered(table: pa.Table, index: Ints, num_rows: int) -> pa.Table | None:
    """Return for each row of the table its position in the index, null for rows without one; None if the index has a
    row twice.
    """
    places = np.full(num_rows, -1, dtype=np.int64)
    places[index] = np.arange(len(index))
    if int((places >= 0).sum()) != len(index):
        return None
    return table.take(pa.Array.from_buffers(pa.int64(), num_rows, [bitmap(places >= 0), pa.py_buffer(places)]))


def item_features(item: Any, features: Features) -> Features:
    """Return the features after a row is added: the existing ones, wider where they are null so far.

    Raises:
        ArgumentTypeError: the row is not a dict.
    """
    if not isinstance(item, Mapping):
        raise ArgumentTypeError(f"add_item() takes a row as a dict, found {type(item).__name__}", advice="Give a dict")
    from datasets_core.store.rows.create import columns_table

    wide = Features(features)
    for name, value in item.items():
        if value is not None and (name not in features or _has_null(features[name])):
            found = Features.from_arrow_schema(columns_table({name: [value]}, None, None).schema)[name]
            wide[name] = found if name not in features else _joined(features[name], found)
    for name in item:
        wide.setdefault(name, Value("null"))
    return wide


def item_table(item: Mapping[str, Any], features: Features, row: int) -> pa.Table:
    """Return a row as a table; `row` is its number in messages.

    Raises:
        CastError: a value does not fit its column.
    """
    for name, value in item.items():
        _check_fields(features[name], value, name, row)
    item = {name: _as_text(value) if _is_text(features[name]) else value for name, value in item.items()}
    try:
        return pa.Table.from_batches([RowEncoder(features).encode([item])], features.arrow_schema)
    except CellCastError as error:
        raise CellCastError(error.column, error.reason, row=row) from error


def _is_text(feature: FeatureType) -> bool:
    return isinstance(feature, Value) and feature.dtype in ("string", "large_string")


def _as_text(value: Any) -> Any:
    """Return the text that Arrow makes of a number, a boolean or a time, such as `2` for 2.0; other values stay unchanged."""
    is_plain = isinstance(value, (bool, float, np.floating, np.bool_, date, time, timedelta))
    return pa.scalar(value).cast(pa.string()).as_py() if is_plain else value


def _check_fields(feature: FeatureType, value: Any, path: str, row: int) -> None:
    """Raise an error for fields that the features lack: they would be lost."""
    if isinstance(feature, dict) and isinstance(value, Mapping):
        for name, inner in value.items():
            if name not in feature:
                raise CellCastError(path, f"it has the field {name!r}, which is not in the features", row=row)
            _check_fields(feature[name], inner, f"{path}.{name}", row)
    elif isinstance(feature, (List, LargeList)) and isinstance(value, (list, tuple)):
        for inner in value:
            _check_fields(feature.feature, inner, f"{path}[]", row)


def stored_as(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a table with another schema of the same columns, whose types may store the values differently."""
    from datasets_core.store.rows.create import viewed

    arrays = []
    for column, field in zip(table.columns, schema, strict=True):
        chunk = column.combine_chunks()
        chunk = chunk.chunk(0) if isinstance(chunk, pa.ChunkedArray) else chunk
        is_encoded = pa.types.is_dictionary(field.type) or pa.types.is_run_end_encoded(field.type)
        arrays.append(chunk.cast(field.type) if is_encoded else viewed(chunk, field.type))
    return pa.Table.from_arrays(arrays, schema=schema)


def null_table(features: Features, num_rows: int) -> RowTable:
    """Return columns of nulls, whose memory does not grow with the number of rows."""
    schema = features.arrow_schema
    whole = pa.RecordBatch.from_arrays([pa.nulls(min(num_rows, _NULL_ROWS), kind) for kind in schema.types], schema=schema)
    rest = num_rows % _NULL_ROWS if num_rows > _NULL_ROWS else 0
    return RowTable.from_batches([whole] * max(1, num_rows // _NULL_ROWS) + [whole.slice(0, rest)] * bool(rest), schema)


def _has_null(feature: FeatureType) -> bool:
    if isinstance(feature, dict):
        return not feature or any(map(_has_null, feature.values()))
    if isinstance(feature, (List, LargeList)):
        return _has_null(feature.feature)
    return isinstance(feature, Value) and feature.dtype == "null"


def _joined(old: FeatureType, new: FeatureType) -> FeatureType:
    joined = merge_types(feature_to_arrow(old), feature_to_arrow(new))
    return old if joined is None else feature_from_arrow(joined)


_SPARSE = 4  # where fewer than one row of so many is shown, the shown rows are gathered first


class ColumnChanges(Rows):
    """Methods that remove, rename and cast columns."""

    def select_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Self:
        """Return the rows with some columns only, in the order given.

        Args:
            column_names: the column, or several.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            UnknownColumnError: a column does not exist.

        Example:
            >>> Dataset.from_dict({"a": [1], "b": [2], "c": [3]}).select_columns(["c", "a"])[0]
            {'c': 3, 'a': 1}
        """
        return self._of_columns(names_of(column_names), new_fingerprint)

    def remove_columns(self, column_names: str | Sequence[str], new_fingerprint: str | None = None) -> Self:
        """Return the rows without some columns.

        Args:
            column_names: the column, or several.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            UnknownColumnError: a column does not exist.

        Example:
            >>> Dataset.from_dict({"a": [1], "b": [2], "c": [3]}).remove_columns("b")[0]
            {'a': 1, 'c': 3}
        """
        names = names_of(column_names)
        self._check_columns(names)
        return self._renamed({name: name for name in self.column_names if name not in names}, new_fingerprint)

    def rename_column(self, original_column_name: str, new_column_name: str, new_fingerprint: str | None = None) -> Self:
        """Return the rows with a column renamed.

        Args:
            original_column_name: the current name.
            new_column_name: the new name.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            UnknownColumnError: the column does not exist.
            ConfigurationError: the new name is empty, or another column has it.

        Example:
            >>> Dataset.from_dict({"a": [1], "b": [2]}).rename_column("a", "label")[0]
            {'label': 1, 'b': 2}
        """
        return self.rename_columns({original_column_name: new_column_name}, new_fingerprint)

    def rename_columns(self, column_mapping: Mapping[str, str], new_fingerprint: str | None = None) -> Self:
        """Return the rows with columns renamed. Columns may swap names.

        Args:
            column_mapping: the new name of each column to rename.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: a new name is empty, or two columns would have the same name.

        Example:
            >>> Dataset(pa.table({"a": [1], "b": [2]})).rename_columns({"a": "b", "b": "a"})[0]
            {'b': 1, 'a': 2}
        """
        if not isinstance(column_mapping, Mapping):
            raise ArgumentTypeError(
                f"rename_columns() takes a dict from old to new names, found {column_mapping!r}",
                advice="Give a dict",
                value=column_mapping,
            )
        self._check_columns(column_mapping)
        renamed = {name: column_mapping.get(name, name) for name in self.column_names}
        taken: set[str] = set()
        for name in renamed.values():
            if not isinstance(name, str) or not name:
                raise ConfigurationError(
                    f"{name!r} is not a valid column name", advice="Give a string that is not empty", value=name
                )
            if name in taken:
                raise ConfigurationError(f"Two columns would have the name {name!r}", advice="Choose another name")
            taken.add(name)
        return self._renamed(renamed, new_fingerprint)

    # -- kinds ---------------------------------------------------------------------------------------------------------

    def cast(
        self,
        features: Features,
        batch_size: int | None = 1000,
        keep_in_memory: bool = False,
        load_from_cache_file: bool | None = None,
        cache_file_name: str | None = None,
        writer_batch_size: int | None = 1000,
        num_proc: int | None = None,
    ) -> Self:
        """Return the dataset with the columns cast to `features`, in their order.

        Only columns whose stored type changes are written again; the others keep their files, unless a file is named.  A value
        that does not fit is an error, raised before anything has changed.

        Args:
            features: features of exactly the existing columns.
            batch_size, writer_batch_size, num_proc: ignored: columns are cast by Arrow, in blocks.
            keep_in_memory: True to keep the new columns in memory.
            load_from_cache_file: True to use a cached result; None: if caching is on.
            cache_file_name: a file for all columns of the selected rows.

        Raises:
            CastError: the features are not those of these columns.
            CellCastError: a value does not fit; the error names column and row.

        Example:
            >>> Dataset(pa.table({"a": [1, 2]})).cast(Features({"a": Value("string")}))[1]
            {'a': '2'}
        """
        from datasets_core.dataset.recompute import cast_features

        wanted = cast_features(features, self._features)
        for name, given in (("batch_size", batch_size), ("num_proc", num_proc)):
            if given is not None:
                as_int(name, given)
        return self._cast(
            wanted,
            "cast",
            wanted.to_dict(),
            keep_in_memory=keep_in_memory,
            load_from_cache_file=load_from_cache_file,
            cache_file_name=cache_file_name,
        )

    def cast_column(self, column: str, feature: Any, new_fingerprint: str | None = None) -> Self:
        """Return the rows with one column cast to another feature. `cast` does it for all columns.

        Args:
            column: name of the column.
            feature: the new type, such as `Value("float32")` or a `ClassLabel`.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            UnknownColumnError: the column does not exist.
            CellCastError: a value does not fit; the error names column and row.

        Example:
            >>> Dataset(pa.table({"a": ["x", "y"]})).cast_column("a", ClassLabel(names=["y", "x"]))["a"][:]
            [1, 0]
        """
        self._check_columns([column])
        wanted = Features({**self._features, column: own_copy(as_feature(feature))})
        return self._cast(wanted, "cast", wanted.to_dict(), new_fingerprint=new_fingerprint)

    def class_encode_column(self, column: str, include_nulls: bool = False) -> Self:
        """Return the rows with a column of texts or numbers as class labels; the class names are the sorted values, as texts.

        Args:
            column: a column of plain values.
            include_nulls: True makes null a class of its own, "None"; False keeps it null.

        Raises:
            UnknownColumnError: the column does not exist.
            ConfigurationError: the column contains lists, structs or class labels.

        Example:
            >>> dogs = Dataset(pa.table({"a": ["x", "b", "x"]})).class_encode_column("a")
            >>> dogs.features["a"], dogs["a"][:]
            (ClassLabel(names=['b', 'x']), [1, 0, 1])
        """
        from datasets_core.dataset.recompute import check_encodable, distinct_values, found_classes

        self._check_columns([column])
        check_encodable(column, self._features[column])
        distinct = distinct_values(self._table.select([column]), self._index)
        values = self._values_of(column, distinct)
        label, change = found_classes(values, distinct, include_nulls)
        after = Features({**self._features, column: label})
        return self._recomputed({column: change}, after, "class_encode_column", column, include_nulls)

    def align_labels_with_mapping(self, label2id: dict[str, int], label_column: str) -> Self:
        """Return the rows with the class labels of a column renumbered, for example to those of a model.

        Class names are compared without regard to case.

        Args:
            label2id: the number of each class name, from 0 without gaps.
            label_column: a column of class labels.

        Raises:
            UnknownColumnError: the column does not exist.
            ConfigurationError: the column does not contain class labels, the mapping lacks a class, or its numbers are not
                0, 1, 2, ….

        Example:
            >>> animals = Dataset(pa.table({"a": ["cat", "dog"]})).class_encode_column("a")
            >>> animals.align_labels_with_mapping({"dog": 0, "cat": 1}, "a")["a"][:]
            [1, 0]
        """
        from datasets_core.dataset.recompute import aligned_classes

        self._check_columns([label_column])
        label, change = aligned_classes(label_column, self._features[label_column], label2id)
        after = Features({**self._features, label_column: label})
        return self._recomputed({label_column: change}, after, "align_labels", label_column, label.names)

    def flatten(self, new_fingerprint: str | None = None, max_depth: int = 16) -> Self:
        """Return the rows with each field of a column of structs as a column `column.field`. No data is read.

        Args:
            new_fingerprint: fingerprint of the result; None computes it.
            max_depth: number of levels of structs that are flattened, plus one.

        Raises:
            ConfigurationError: a column already has the name of a field.

        Example:
            >>> Dataset(pa.table({"a": [{"b": 1, "c": {"d": 2}}]})).flatten()[0]
            {'a.b': 1, 'a.c.d': 2}
        """
        from datasets_core.store.rows.create import spread

        flat = flat_columns(self._table.schema, self._features, max_depth)
        names = [name for name, _, _ in flat]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ConfigurationError(f"Two columns would have the name {twice!r}", advice="Rename one of them first")
        other = self._derived("flatten", max_depth, new_fingerprint=new_fingerprint)
        features = Features({name: feature for name, _, feature in flat})
        fields = [field_at(self._table.schema, path, name, features[name]) for name, path, _ in flat]
        other._table = spread(self._table, [path for _, path, _ in flat], pa.schema(fields))
        other._info.features = features
        if self._format.columns is not None:
            roots = {name: self.column_names[path[0]] for name, path, _ in flat}
            shown = tuple(name for wanted in self._format.columns for name in names if roots[name] == wanted)
            other._format = RowFormat(self._format.type, shown, self._format.is_complete, self._format.kwargs)
        return other

    def unique(self, column: str) -> list[Any]:
        """Return the distinct values of a column, in the order in which they first occur.

        Args:
            column: name of the column.

        Raises:
            UnknownColumnError: the column does not exist.
            ConfigurationError: the column contains lists or structs.

        Example:
            >>> Dataset(pa.table({"a": ["x", "b", "x"]})).unique("a")
            ['x', 'b']
        """
        from datasets_core.dataset.recompute import distinct_values

        self._check_columns([column])
        return self._values_of(column, distinct_values(self._table.select([column]), self._index))

    # -- more ----------------------------------------------------------------------------------------------------------

    def add_column(self, name: str, column: Any, new_fingerprint: str | None = None, feature: Any = None) -> Self:
        """Return the rows with one more column, which is the last.

        Args:
            name: name of the new column.
            column: one value for each row: a list, a numpy or Arrow array, or a column of a dataset.
            new_fingerprint: fingerprint of the result; None computes it.
            feature: type of the column; None infers it from the values.

        Raises:
            ConfigurationError: a column of that name exists.
            CastError: the number of values differs from the number of rows, or the values share no type or do not fit the
                feature.

        Example:
            >>> Dataset(pa.table({"a": [1, 2]})).add_column("b", ["x", "y"])[1]
            {'a': 2, 'b': 'y'}
        """
        from datasets_core.store.table import zipped

        table, features = new_column(name, column, feature, self.num_rows, self.column_names)
        other = self._derived("add_column", name, table, new_fingerprint=new_fingerprint)
        if self._index is not None:
            is_sparse = _SPARSE * len(self._index) < self._table.num_rows
            moved = None if is_sparse else scattered(table, self._index, self._table.num_rows)
            if moved is None:
                other._table, other._index = self._gathered(), None
            else:
                table = moved
        rows = RowTable.from_table(table)
        other._table = zipped(other._table, rows) if self.column_names else rows
        other._info.features = Features({**self._features, **features})
        if self._format.columns is not None:
            shown = (*self._format.columns, name)
            other._format = RowFormat(self._format.type, shown, self._format.is_complete, self._format.kwargs)
        return other

    def add_item(self, item: dict[str, Any], new_fingerprint: str | None = None) -> Self:
        """Return the rows with one more row at the end.

        A column that the new row lacks is null in it; a column that only the new row has is null in all others.

        Args:
            item: the row, as a dict by column.
            new_fingerprint: fingerprint of the result; None computes it.

        Raises:
            CastError: a value does not fit its column.
            ArgumentTypeError: the row is not a dict.

        Example:
            >>> Dataset(pa.table({"a": [1], "b": ["x"]})).add_item({"a": 2, "c": 0.5})[:]
            {'a': [1, 2], 'b': ['x', None], 'c': [None, 0.5]}
        """

        wide = item_features(item, self._features)
        added = item_table(item, wide, self.num_rows)
        other = self._widened(wide)
        index = other._index
        other = other._derived("add_item", _own(dict(item)), new_fingerprint=new_fingerprint)
        other._table = RowTable.concat([other._table, RowTable.from_table(stored_as(added, other._table.schema))])
        if index is not None:
            other._index = np.append(index, np.int64(other._table.num_rows - 1))
        return other

    # -- implementation -----------------------------------------------------------------------------------------------

    def _cast(
        self, features: Features, operation: str, *arguments: Any, new_fingerprint: str | None = None, **keeping: Any
    ) -> Self:
        from datasets_core.dataset.recompute import cast_plan, checked

        checks, changes = cast_plan(self._table, self._index, self._features, features)
        if checks:
            checked(self._table, self._index, checks)
        return self._recomputed(changes, features, operation, *arguments, new_fingerprint=new_fingerprint, **keeping)

    def _recomputed(
        self,
        changes: Mapping[str, Change],
        features: Features,
        operation: str,
        *arguments: Any,
        new_fingerprint: str | None = None,
        **keeping: Any,
    ) -> Self:
        """Return some columns computed again and the others as they are stored, all with `features` and in their order."""
        from datasets_core.dataset.recompute import recomputed, retyped_schema, whole_rows, with_columns_of
        from datasets_core.dataset.results import written
        from datasets_core.store.rows.create import spread

        other = self._derived(operation, *arguments, new_fingerprint=new_fingerprint)
        if keeping.get("cache_file_name") is not None:
            source, shown = self._table, self._index
            other._table = written(
                self, other._lineage, lambda: whole_rows(source, shown, changes, features), features, **keeping
            )
            other._index, other._info.features = None, features
            return other
        if changes and self._index is not None and _SPARSE * len(self._index) < self._table.num_rows:
            other._table, other._index = self._gathered(keep_in_memory=bool(keeping.get("keep_in_memory"))), None
        table, index = other._table, other._index
        if changes:
            made = Features({name: features[name] for name in changes})
            # These are rows of the table, not of the dataset: another table of the same rows needs others.
            place = () if index is None else (table.num_rows, index)
            lineage = other._lineage.then("columns", list(changes), *place)
            rows = written(self, lineage, lambda: recomputed(table, index, changes), made, **keeping)
            table = with_columns_of(table, rows)
        if table.column_names != list(features):
            table = table.select(list(features))
        schema = retyped_schema(table, features)
        if not schema.equals(table.schema, check_metadata=True):
            table = spread(table, [(column,) for column in range(len(schema))], schema)
        other._table = table
        other._info.features = features
        return other

    def _gathered(self, keep_in_memory: bool = False) -> RowTable:
        """Return the selected rows as a separate table."""
        from datasets_core.dataset.results import written
        from datasets_core.store.rows.view import blocks

        table, index = self._table, self._index
        lineage = self._lineage.then("gathered")
        return written(self, lineage, lambda: blocks(table, index), self._features, keep_in_memory=keep_in_memory)

    def _widened(self, wide: Features) -> Self:
        """Return the same rows with features that have more columns, which are null, or types for columns of nulls."""
        from datasets_core.store.table import zipped

        other = self._cast(Features({name: wide[name] for name in self._features}), "widened")
        more = Features({name: feature for name, feature in wide.items() if name not in self._features})
        if more:
            nulls = null_table(more, other._table.num_rows)
            other._table = zipped(other._table, nulls) if self.column_names else nulls
            other._info.features = wide
        return other

    def _values_of(self, column: str, stored: pa.Array) -> list[Any]:
        """Return stored values as rows show them."""
        schema = pa.schema([self._table.schema.field(column).with_type(stored.type)])
        reader = RowReader(schema, Decoder(Features({column: self._features[column]}), self._media_paths()))
        values: list[Any] = reader.columns(pa.RecordBatch.from_arrays([stored], schema=schema))[column]
        return values

    def _of_columns(self, names: Sequence[str], new_fingerprint: str | None = None) -> Self:
        self._check_columns(names)
        return self._renamed({name: name for name in names}, new_fingerprint)

    def _renamed(self, renamed: Mapping[str, str], new_fingerprint: str | None) -> Self:
        """Return the columns `renamed` (old name → new name), in that order."""
        other = self._derived("columns", dict(renamed), new_fingerprint=new_fingerprint)
        other._info.features = Features({new: self._features[old] for old, new in renamed.items()})
        other._table = self._table
        if list(renamed) != self.column_names:
            other._table = other._table.select(list(renamed))
        if list(renamed.values()) != list(renamed):
            other._table = other._table.rename(list(renamed.values()))
        if self._format.columns is not None:
            kept = tuple(renamed[name] for name in self._format.columns if name in renamed)
            other._format = RowFormat(self._format.type, kept, self._format.is_complete, self._format.kwargs)
        return other


def _own(value: Any) -> Any:
    """Return a copy with its own dicts and lists: the fingerprint is computed later, and the caller may change them
    until then.
    """
    if type(value) is dict:
        return {name: _own(inner) for name, inner in value.items()}
    return [_own(inner) for inner in value] if type(value) is list else value


# Columns of structs as one column for each field: the fields and their names.


Flat = tuple[str, tuple[int, ...], FeatureType]


def flat_columns(schema: pa.Schema, features: Features, max_depth: int) -> list[Flat]:
    """Return name, place (column, field, field within, ...) and feature of each column after flattening, in order.

    Args:
        schema: schema of the columns as they are stored.
        features: features of the columns.
        max_depth: number of flattened levels plus one.
    """
    flat: list[Flat] = []
    for place, field in enumerate(schema):
        flat += _spread(field.name, (place,), features[field.name], field.type, max_depth - 1)
    return flat


def _spread(name: str, path: tuple[int, ...], feature: FeatureType, kind: pa.DataType, levels: int) -> list[Flat]:
    parts = _parts(feature)
    kind = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    if levels < 1 or parts is None or not pa.types.is_struct(kind):
        return [(name, path, feature)]
    flat: list[Flat] = []
    for place, field in enumerate(kind):
        if field.name in parts:
            flat += _spread(f"{name}.{field.name}", (*path, place), parts[field.name], field.type, levels - 1)
    return flat


def _parts(feature: FeatureType) -> dict[str, FeatureType] | None:
    if isinstance(feature, dict):
        return feature
    flatten = getattr(feature, "flatten", None)
    parts = None if flatten is None else flatten()
    return parts if isinstance(parts, dict) else None


def field_at(schema: pa.Schema, path: tuple[int, ...], name: str, feature: FeatureType) -> pa.Field:
    """Return the schema field of a column after flattening: that of its feature, with the stored type."""
    stored = schema.field(path[0]).type
    for place in path[1:]:
        stored = (stored.storage_type if isinstance(stored, pa.BaseExtensionType) else stored).field(place).type
    return feature_to_field(name, feature).with_type(stored)
