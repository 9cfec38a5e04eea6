"""Columns computed from old ones, block by block: casts, class codes, distinct values; other columns stay in their files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.errors import ArgumentTypeError, CastError, CellCastError, ConfigurationError
from datasets_core.features.arrow import Misfit, raw_values, validity
from datasets_core.features.base import FeatureType, LargeList, List, Value, bitmap, feature_to_arrow, feature_to_field
from datasets_core.features.cast import cast_array, compile_column
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel, FixedShape, Json
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.create import viewed
from datasets_core.store.rows.view import blocks, joined_blocks
from datasets_core.store.table import RowTable, zipped

if TYPE_CHECKING:
    import numpy.typing as npt

Change = Callable[[pa.Array], pa.Array]
"""Change of a column, a run of its rows at a time; raises Misfit if a value does not fit."""


def runs(table: RowTable, shown: npt.NDArray[np.bool_] | None = None) -> Iterator[tuple[int, pa.RecordBatch]]:
    """Yield the rows of a table in runs of bounded rows and bytes; small pieces are joined.

    Args:
        table: the rows.
        shown: mask of the selected rows; the others are null.

    Yields:
        The first row of the run, and the run.
    """
    start = 0
    for block in joined_blocks(table, None):
        yield start, block if shown is None else _masked(block, shown[start : start + block.num_rows])
        start += block.num_rows


def _masked(batch: pa.RecordBatch, shown: npt.NDArray[np.bool_]) -> pa.RecordBatch:
    """Return the batch with null in the rows that are not selected."""
    if shown.all():
        return batch
    if not shown.any():
        return pa.RecordBatch.from_arrays([pa.nulls(len(shown), field.type) for field in batch.schema], schema=batch.schema)
    # `pa.array(ndarray)` would import pandas where it is installed: 0.3 s
    places = pa.Array.from_buffers(pa.int64(), len(shown), [bitmap(shown), pa.py_buffer(np.arange(len(shown)))])
    return batch.take(places)


def shown_rows(index: Ints | None, num_rows: int) -> npt.NDArray[np.bool_] | None:
    """Return a mask of the rows of a table in an index; None: all of them."""
    if index is None:
        return None
    shown = np.zeros(num_rows, dtype=np.bool_)
    shown[index] = True
    return None if shown.all() else shown


def checked(table: RowTable, index: Ints | None, changes: Mapping[str, Change]) -> None:
    """Check that every change can be applied, without keeping the results.

    Raises:
        CellCastError: a value does not fit; it names column and row.
    """
    for _ in _changed(table.select(list(changes)), index, changes):
        pass


def recomputed(table: RowTable, index: Ints | None, changes: Mapping[str, Change]) -> Iterator[pa.RecordBatch]:
    """Return changed columns, with rows in the order of the table, and null in rows outside the index.

    Args:
        table: the rows.
        index: the selected rows.
        changes: the change of each changed column.

    Raises:
        CellCastError: a value does not fit; it names column and row.
    """
    for arrays in _changed(table.select(list(changes)), index, changes):
        yield pa.RecordBatch.from_arrays(arrays, list(changes))


def _changed(table: RowTable, index: Ints | None, changes: Mapping[str, Change]) -> Iterator[list[pa.Array]]:
    for start, block in runs(table, shown_rows(index, table.num_rows)):
        arrays = []
        for (name, change), column in zip(changes.items(), block.columns, strict=True):
            try:
                arrays.append(change(column))
            except Misfit as misfit:
                row = _row_of(start + misfit.index, index)
                raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=row) from misfit.__cause__
        yield arrays


def whole_rows(
    table: RowTable, index: Ints | None, changes: Mapping[str, Change], features: Features
) -> Iterator[pa.RecordBatch]:
    """Yield all columns of `features`, including changed ones, for the selected rows in their order.

    Raises:
        CellCastError: a value does not fit; it names column and row.
    """
    start = 0
    for block in joined_blocks(table.select(list(features)), index):
        arrays = []
        for name, column in zip(features, block.columns, strict=True):
            try:
                made = changes[name](column) if name in changes else column
            except Misfit as misfit:
                raise CellCastError(f"{name}{misfit.path}", misfit.reason, row=start + misfit.index) from misfit.__cause__
            arrays.append(viewed(made, feature_to_arrow(features[name])))
        yield pa.RecordBatch.from_arrays(arrays, list(features))
        start += block.num_rows


def _row_of(row: int, index: Ints | None) -> int:
    """Return the first row of the dataset that is a given row of the table."""
    return row if index is None else int(np.argmax(index == row))


def with_columns_of(table: RowTable, made: RowTable) -> RowTable:
    """Return a table with columns replaced by those of another table with the same names."""
    kept = [name for name in table.column_names if name not in made.column_names]
    if not kept:
        return made.select(table.column_names)
    return zipped(table.select(kept), made).select(table.column_names)


def retyped_schema(table: RowTable, features: Features) -> pa.Schema:
    """Return the schema of a table with the stored types of its columns, and the field metadata of `features`."""
    fields = []
    for stored in table.schema:
        field = feature_to_field(stored.name, features[stored.name])
        is_wrapped = isinstance(field.type, pa.BaseExtensionType) or isinstance(stored.type, pa.BaseExtensionType)
        fields.append(field if is_wrapped else field.with_type(stored.type))
    return pa.schema(fields, table.schema.metadata)


# Columns cast to other features: those that stay as stored, those that only need a check, and those that are computed again.


_TEXTS = ("string", "large_string")


def cast_features(given: Any, features: Features) -> Features:
    """Return the features to cast to, after checking that they are for the existing columns.

    Raises:
        CastError: columns are missing, or unknown.
    """
    if not isinstance(given, Mapping):
        raise CastError(f"{given!r} is not a schema", advice="Give Features, or a dict of column to feature", value=given)
    wanted = Features(given).copy()
    odd = [name for name in (*wanted, *features) if (name in wanted) != (name in features)]
    if odd:
        what = f"Unknown column {odd[0]!r}" if odd[0] in wanted else f"Column {odd[0]!r} has no feature"
        raise CastError(f"{what}", advice=f"Give features for exactly the columns {', '.join(map(repr, features))}")
    return wanted


def cast_plan(
    table: RowTable, index: Ints | None, before: Features, after: Features
) -> tuple[dict[str, Change], dict[str, Change]]:
    """Return the changes of columns for new features: those that only check, and those that make new data."""
    checks: dict[str, Change] = {}
    changes: dict[str, Change] = {}
    for name, feature in after.items():
        old = before[name]
        if old == feature and feature_to_arrow(old) == feature_to_arrow(feature):  # equal dicts may be in another order
            continue
        if isinstance(feature, Json) and isinstance(old, Value) and old.dtype in _TEXTS:
            if not _is_json(table.select([name]), index):
                changes[name] = encoding_change(feature)
            elif old.dtype != "string":
                changes[name] = _viewed_change(feature)
        elif isinstance(old, Json) and isinstance(feature, Value) and feature.dtype == "string":
            continue
        elif feature_to_arrow(old) != feature_to_arrow(feature):
            changes[name] = _cast_change(feature)
        elif not _is_within(old, feature):
            checks[name] = _cast_change(feature)
    return checks, changes


def _cast_change(feature: FeatureType) -> Change:
    def change(column: pa.Array) -> pa.Array:
        return cast_array(column, feature)

    return change


def encoding_change(feature: FeatureType) -> Change:
    """Return values encoded again for a feature, like those of a new dataset."""
    encode = compile_column(feature)

    def change(column: pa.Array) -> pa.Array:
        return encode(column.to_pylist())

    return change


def _viewed_change(feature: FeatureType) -> Change:
    target = feature_to_arrow(feature)

    def change(column: pa.Array) -> pa.Array:
        return viewed(column.cast(pa.string()), target)

    return change


def _is_json(table: RowTable, index: Ints | None) -> bool:
    """Return True if every text of a column is JSON; only then is the column read as JSON."""
    try:
        for _, block in runs(table, shown_rows(index, table.num_rows)):
            for text in block.column(0).to_pylist():
                if text is not None:
                    json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _is_within(old: FeatureType, new: FeatureType) -> bool:
    """Return True if values of one feature are valid for another feature with the same storage."""
    if old == new:
        return True
    if isinstance(new, ClassLabel):
        return isinstance(old, ClassLabel) and old.num_classes <= new.num_classes
    if isinstance(new, FixedShape):
        return False
    if isinstance(new, dict):
        return isinstance(old, dict) and all(name in old and _is_within(old[name], inner) for name, inner in new.items())
    if isinstance(new, (List, LargeList)):
        return isinstance(old, (List, LargeList)) and _is_within(old.feature, new.feature)
    return True


# Classes of a column: found among its values, or renumbered.


def check_encodable(name: str, feature: FeatureType) -> None:
    """Raise an error for a column that does not have plain values."""
    if not isinstance(feature, Value):
        raise ConfigurationError(
            f"Column {name!r} is {feature}, but only columns of plain values can be encoded as classes", advice="Cast it first"
        )


def found_classes(values: list[Any], distinct: pa.Array, include_nulls: bool) -> tuple[ClassLabel, Change]:
    """Return the classes of a column, in the order of their texts, and the change of a column to their codes.

    Args:
        values: each value of the column once, as a user sees it.
        distinct: the same values, in the same order, as they are stored.
        include_nulls: True makes null a separate class named "None".
    """
    texts = [str(value) for value in values if value is not None or include_nulls]
    label = ClassLabel(names=sorted(set(texts)))
    codes = [-1 if value is None and not include_nulls else label.codes[str(value)] for value in values]
    codes_of = int64_array(np.array(codes, dtype=np.int64), np.array(codes, dtype=np.int64) >= 0)

    def change(column: pa.Array) -> pa.Array:
        import pyarrow.compute as pc  # 20 ms that reading does without

        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        return codes_of.take(pc.index_in(column, value_set=distinct))

    return label, change


def aligned_classes(name: str, feature: FeatureType, label2id: Mapping[str, int]) -> tuple[ClassLabel, Change]:
    """Return the classes in the order of a mapping, and the change of a column from old codes to new ones.

    Names are compared without regard to case, as labels of models are often in capitals.

    Raises:
        ConfigurationError: a column without classes, a class that the mapping lacks, or codes other than 0, 1, 2, ...
    """
    if not isinstance(feature, ClassLabel):
        raise ConfigurationError(
            f"Column {name!r} is {feature}, not a ClassLabel", advice=f"Use class_encode_column({name!r}) first"
        )
    if not isinstance(label2id, Mapping):
        raise ArgumentTypeError(
            f"label2id={label2id!r} is not a dict from class names to integers", advice="Give such a dict", value=label2id
        )
    try:
        ordered = sorted((int(code), str(label)) for label, code in label2id.items())
    except (TypeError, ValueError):
        raise ArgumentTypeError(
            f"label2id={label2id!r} maps a class to a non-integer value", advice="Give integers", value=label2id
        ) from None
    if [code for code, _ in ordered] != list(range(len(ordered))):
        raise ConfigurationError(f"label2id={dict(label2id)!r} must number the classes 0 to {len(ordered) - 1}, each once.")
    codes = {label.lower(): code for code, label in ordered}
    missing = [label for label in feature.names if label.lower() not in codes]
    if missing:
        raise ConfigurationError(f"label2id has no integer for {missing[0]!r}, a class of column {name!r}", advice="Add it")
    codes_of = np.array([*(codes[label.lower()] for label in feature.names), -1], dtype=np.int64)  # -1, unknown, stays so

    def change(column: pa.Array) -> pa.Array:
        valid = validity(column)
        old = raw_values(column.buffers()[1], np.int64, column)
        return int64_array(codes_of[old if valid is None else np.where(valid, old, -1)], valid)

    return ClassLabel(names=[label for _, label in ordered]), change


def int64_array(values: Any, valid: Any = None) -> pa.Array:
    # `pa.array` and `fill_null` would import pandas where it is installed: 0.3 s
    values = np.ascontiguousarray(values, dtype=np.int64)
    return pa.Array.from_buffers(pa.int64(), len(values), [bitmap(valid), pa.py_buffer(values)])


# The distinct values of a column, in the order of their first occurrence.


_WINDOW_BYTES = 32 << 20


def distinct_values(table: RowTable, index: Ints | None) -> pa.Array:
    """Return the values of the one column of a table, as they are stored.

    Args:
        table: table of one column.
        index: the selected rows, in their order; None: all.

    Raises:
        ConfigurationError: the values are lists or structs, which Arrow does not compare.
    """
    import pyarrow.compute as pc  # 20 ms that reading does without

    kind = table.schema.field(0).type
    found = pa.nulls(0, _plain_type(kind))
    for columns in _windows(table, index):
        try:
            values = pc.unique(columns)
        except pa.ArrowNotImplementedError as error:
            reason = f"Values of {kind}, as in column {table.schema.names[0]!r}, cannot be compared"
            raise ConfigurationError(f"{reason}", advice="Use a column of plain values") from error
        found = pc.unique(pa.chunked_array([found, values])) if len(found) else values
    return found


def _windows(table: RowTable, index: Ints | None) -> Iterator[pa.ChunkedArray]:
    """Yield the column in runs of bounded memory: all at once if it is mapped and takes no memory."""
    is_free = index is None and table.is_all_mapped
    held, num_bytes = list[pa.Array](), 0
    for block in blocks(table, index):
        held.append(_plain(block.column(0)))
        num_bytes += 0 if is_free else block.nbytes
        if num_bytes > _WINDOW_BYTES:
            yield pa.chunked_array(held)
            held, num_bytes = [], 0
    if held:
        yield pa.chunked_array(held)


def _plain(column: pa.Array) -> pa.Array:
    if isinstance(column.type, pa.BaseExtensionType):
        column = column.storage
    return column.dictionary_decode() if pa.types.is_dictionary(column.type) else column


def _plain_type(kind: pa.DataType) -> pa.DataType:
    if isinstance(kind, pa.BaseExtensionType):
        kind = kind.storage_type
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def packed_order(column: pa.ChunkedArray, *, is_down: bool) -> Ints | None:
    """Return the order of integers, sorted together with their row numbers in words of 64 bits, which is several times as fast.

    None if they have nulls, are in more than one piece, or a word does not hold them.
    """
    if not len(column) or column.num_chunks != 1 or column.null_count or not pa.types.is_integer(column.type):
        return None
    values = column.chunk(0).to_numpy()
    low, high, bits = int(values.min()), int(values.max()), len(values).bit_length()
    if (high - low).bit_length() + bits > 64:
        return None
    words = values.astype(np.uint64)  # modulo 2^64, as are the differences
    words = np.uint64(high % (1 << 64)) - words if is_down else words - np.uint64(low % (1 << 64))
    words <<= np.uint64(bits)
    words |= np.arange(len(values), dtype=np.uint64)
    words.sort()
    words &= np.uint64((1 << bits) - 1)
    found: Ints = words.view(np.int64)
    return found


def fixed_bytes(schema: pa.Schema) -> float:
    """Return the number of bytes of a row, infinity if it is not the same for all rows."""
    try:
        return float(sum(field.type.bit_width for field in schema)) / 8
    except ValueError:
        return float("inf")
