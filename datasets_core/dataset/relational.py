"""Methods of tables: columns computed by Arrow expressions, groups, counts of values, joins, rows without their duplicates.

No function of Python runs for a row.  Each method imports what does its work, with `pyarrow.compute`: 20 ms that reading does
without.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa

from datasets_core.config import settings
from datasets_core.dataset.columns import ColumnChanges
from datasets_core.dataset.transforms.map import Transforms
from datasets_core.errors import ArgumentTypeError, ConfigurationError
from datasets_core.features.arrow import check_precision, columns_of, computed, is_expression, no_rows, truths, validity
from datasets_core.features.schema import Features
from datasets_core.optional import is_hugging_face
from datasets_core.store.pieces import Ints
from datasets_core.store.rows.indices import names_of
from datasets_core.store.rows.rows import Rows
from datasets_core.store.table import RowTable

if TYPE_CHECKING:
    import pyarrow.compute as pc

# Arrow expressions, computed over windows of rows.


_WINDOW_BYTES = 32 << 20


def rows_where(dataset: Rows, expression: pc.Expression) -> Ints:
    """Return the numbers of the rows for which an expression is true.

    Raises:
        UnknownColumnError: a column that the dataset does not have.
        ConfigurationError: its values are not booleans, or it cannot be computed.
    """
    from datasets_core.store.rows.view import blocks

    known, start = dataset.column_names, 0
    table = dataset._table.select(columns_of([expression], known))
    truths(expression, no_rows(table.schema), known)
    found: list[Ints] = []
    for window in _windows(blocks(table, dataset._index)):
        for mask in truths(expression, window, known).chunks:
            found.append(np.flatnonzero(_bits(mask)) + start)
            start += len(mask)
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _bits(mask: pa.BooleanArray) -> Any:
    """Return a boolean for each row; null is False."""
    bits, valid = np.frombuffer(mask.buffers()[1], np.uint8), validity(mask)
    found = np.unpackbits(bits, count=mask.offset + len(mask), bitorder="little")[mask.offset :].view(np.bool_)
    return found if valid is None else found & valid


def _windows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield the batches in windows of some size: Arrow divides each among its threads."""
    held, num_bytes = list[pa.RecordBatch](), 0
    for batch in batches:
        held.append(batch)
        num_bytes += batch.nbytes + 1
        if num_bytes > _WINDOW_BYTES:
            yield pa.Table.from_batches(held)
            held, num_bytes = [], 0
    if held:
        yield pa.Table.from_batches(held)


# Groups of rows.


class GroupBy:
    """Rows of a dataset by the values of columns, as `group_by` has them; `agg` computes one row for each group."""

    def __init__(self, dataset: Relational, keys: tuple[str, ...]) -> None:
        self._dataset, self._keys = dataset, keys

    def __repr__(self) -> str:
        return f"GroupBy({', '.join(map(repr, self._keys))}) of {self._dataset!r}"

    def agg(
        self,
        aggregations: Mapping[str, str | Sequence[str]] | Sequence[tuple[str, str]] | None = None,
        /,
        **named: str | tuple[str, str],
    ) -> Any:
        """Return a dataset with a row for each group, in the order in which the groups first come.

        Nulls are a group, and no value: `sum`, `mean` and the others leave them out. `std` and `var` are those of samples, as
        in pandas and polars. A group need not fit into memory, but lists of its values do.

        Args:
            aggregations: functions by column, as `{"price": ["min", "max"]}`, whose results are `price_min` and `price_max`.
            **named: by name of the result column and function, as `total=("price", "sum")`, or `n="count"` for the rows.

        >>> sold = Dataset.from_dict({"what": ["pear", "fig", "pear"], "price": [2, 5, 3]})
        >>> sold.group_by("what").agg(n="count", total=("price", "sum"))[:]
        {'what': ['pear', 'fig'], 'n': [2, 1], 'total': [5, 5]}

        Raises:
            ConfigurationError: an unknown function, one that a column has not, two results of one name, or a key of lists.
            UnknownColumnError: a column that does not exist.
        """
        from datasets_core.dataset import keys as work
        from datasets_core.dataset.results import written

        asked = work.aggregations(aggregations, named)
        dataset, keys = self._dataset, self._keys
        dataset._check_columns([each.column for each in asked if each.column is not None])
        features = work.group_features(dataset._features, keys, asked)
        other = dataset._derived("group_by", keys, [tuple(each) for each in asked])
        table = written(dataset, other._lineage, lambda: work.aggregated(dataset, keys, asked, features), features)
        return dataset._of_other_rows(other, table, features)


# Methods of a dataset.


How = Literal["inner", "left", "right", "full", "semi", "anti"]
_HOW: tuple[How, ...] = ("inner", "left", "right", "full", "semi", "anti")
_SPARSE = 4  # where fewer than one row of so many is shown, the shown rows are gathered first


class Relational(ColumnChanges, Transforms):
    """Methods known from data frames and databases."""

    def with_columns(self, columns: Mapping[str, pc.Expression] | None = None, /, **named: pc.Expression) -> Self:
        """Return the rows with columns computed by Arrow expressions. Other columns are not copied.

        A column with the name of an existing one replaces it in its place; new columns are added at the end. Each
        expression sees the columns of this dataset. Results are cached, as those of `map`.

        Args:
            columns: expressions by column name, for names that are not Python identifiers.
            **named: expressions by column name.

        Raises:
            ArgumentTypeError: a value is not an expression; add lists with `add_column`.
            UnknownColumnError: a column does not exist.
            ConfigurationError: an expression is invalid, fails for a value, or would be computed in float32 although no
                column has that type.

        Example:
            >>> import pyarrow.compute as pc
            >>> Dataset.from_dict({"a": [1, 2]}).with_columns(b=pc.field("a") * 10, c=pc.scalar("x"))[:]
            {'a': [1, 2], 'b': [10, 20], 'c': ['x', 'x']}
        """
        from datasets_core.dataset.recompute import runs, shown_rows, with_columns_of
        from datasets_core.dataset.results import written
        from datasets_core.store.rows.view import blocks
        from datasets_core.store.table import zipped

        wanted = {**(columns or {}), **named}
        for name, given in wanted.items():
            if not is_expression(given):
                raise ArgumentTypeError(
                    f"with_columns() got {type(given).__name__} for {name!r}. Give an Arrow expression such as pc.field('a') * "
                    "2 or pc.scalar(0); add_column() takes lists and arrays."
                )
        if not wanted:
            return self._derived("columns", {name: name for name in self.column_names})
        known = self.column_names
        used = columns_of([*wanted.values()], known)
        kinds = computed(wanted, no_rows(self._table.select(used).schema), known).schema
        check_precision(wanted, kinds, self._table.select(used).schema)
        made = Features.from_arrow_schema(kinds.remove_metadata())
        other = self._derived("with_columns", wanted)
        assert other._lineage.fingerprint
        if self._index is not None and _SPARSE * len(self._index) < self._table.num_rows:
            other._table, other._index = self._gathered(), None
        table, index = other._table, other._index

        def batches() -> Iterator[pa.RecordBatch]:
            shown = shown_rows(index, table.num_rows)
            if not used:  # constants
                ones = pa.table([pa.nulls(table.num_rows, pa.bool_())], names=["0"])
                yield from _batches_of(computed(wanted, ones, known), made)
                return
            source = table.select(used)
            found = blocks(source, None) if shown is None else (batch for _, batch in runs(source, shown))
            for window in _windows(found):
                yield from _batches_of(computed(wanted, window, known), made)

        place = () if index is None else (table.num_rows, index)
        rows = written(self, other._lineage.then("columns", *place), batches, made)
        features = Features({**self._features, **made})
        kept = (
            with_columns_of(table, rows.select([name for name in made if name in known])) if set(made) & set(known) else table
        )
        new = [name for name in made if name not in known]
        other._table = kept if not new else zipped(kept, rows.select(new)) if known else rows
        other._info.features = features
        if self._format.columns is not None:
            other._format = replace(self._format, columns=(*self._format.columns, *new))
        other._forget()
        return other

    def group_by(self, *columns: str | Sequence[str]) -> GroupBy:
        """Group the rows by the values of columns.

        Args:
            columns: names of columns, or lists of them.

        Returns:
            The groups. Their method `agg` computes a row for each group.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: no column is passed.

        Example:
            >>> people = Dataset.from_dict({"town": ["Ulm", "Bonn", "Ulm"], "age": [30, 40, 50]})
            >>> people.group_by("town").agg({"age": "mean"})[:]
            {'town': ['Ulm', 'Bonn'], 'age_mean': [40.0, 40.0]}
        """
        return GroupBy(self, self._keys("group_by", *columns))

    def value_counts(self, column: str | Sequence[str], sort: bool = True, name: str = "count") -> Self:
        """Return a dataset of the distinct values of a column, or of several together, and how often each is there.

        Args:
            column: the column, or columns.
            sort: True for the most frequent value first; else in the order in which they first come.
            name: of the column of numbers.

        Raises:
            UnknownColumnError: a column that does not exist.
            ConfigurationError: a column of lists or structs, or a name that a column has.

        Example:
            >>> Dataset.from_dict({"a": ["x", "y", "y", None]}).value_counts("a")[:]
            {'a': ['y', 'x', None], 'count': [2, 1, 1]}
        """
        keys = self._keys("value_counts", column)
        if name in keys:
            raise ConfigurationError(f"Two columns would have the name {name!r}. Pass another name=.")
        counted: Self = GroupBy(self, keys).agg(**{name: "count"})
        return counted.sort(name, reverse=True) if sort else counted  # type: ignore[attr-defined]

    def drop_duplicates(
        self, column_names: str | Sequence[str] | None = None, keep: Literal["first", "last", False] = "first"
    ) -> Self:
        """Return the rows without duplicates in some columns. Only an index is written.

        Media are compared by their bytes, or by their paths if they have no bytes; lists and structs by digests.

        Args:
            column_names: the columns to compare; None compares all.
            keep: which of equal rows to keep: the "first", the "last", or none (False).

        Raises:
            UnknownColumnError: a column does not exist.

        Example:
            >>> rows = Dataset.from_dict({"a": [1, 2, 1], "b": ["x", "y", "z"]})
            >>> rows.drop_duplicates("a")["b"][:], rows.drop_duplicates("a", keep="last")["b"][:]
            (['x', 'y'], ['y', 'z'])
        """
        if keep not in ("first", "last", False):
            raise ConfigurationError(f"keep={keep!r} is invalid. Give 'first', 'last' or False.")
        names = self._keys("drop_duplicates", self.column_names if column_names is None else column_names)

        def find() -> Ints:
            from datasets_core.dataset.keys import distinct_rows

            return distinct_rows(self, names, keep)

        return self._kept_rows(find, "drop_duplicates", names, keep)

    def join(
        self,
        other: Self,
        on: str | Sequence[str] | None = None,
        how: How = "inner",
        *,
        left_on: str | Sequence[str] | None = None,
        right_on: str | Sequence[str] | None = None,
        suffix: str = "_right",
    ) -> Self:
        """Return the rows of this dataset together with the rows of another one that have the same keys.

        The result has the order of this dataset (of the other one for "right"); in a full join, rows of the other dataset
        without a match come last. Null matches nothing. The key columns occur once, under the names in this dataset. If
        each row has at most one match ("inner", "left"), the columns of this dataset are not copied; "semi" and "anti" only
        select rows.

        Args:
            other: the other dataset. Its keys are held in memory up to the limit of the setting `sort_bytes`.
            on: the key columns, if they have the same names in both datasets.
            how: "inner" keeps rows with a match; "left", "right" and "full" also keep rows without one of this dataset, the
                other one or both, with nulls; "semi" and "anti" keep the rows of this dataset with or without a match, and
                add no column.
            left_on, right_on: the key columns of this and the other dataset, if their names differ.
            suffix: appended to columns of the other dataset whose names this one also has.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: the keys cannot be compared, or two columns would have the same name.
            ArgumentTypeError: `other` is not a dataset.

        Example:
            >>> photos = Dataset.from_dict({"file": ["a.png", "b.png", "c.png"], "size": [1, 2, 3]})
            >>> labels = Dataset.from_dict({"file": ["c.png", "a.png"], "label": ["cat", "dog"]})
            >>> photos.join(labels, on="file")[:]
            {'file': ['a.png', 'c.png'], 'size': [1, 3], 'label': ['dog', 'cat']}
            >>> photos.join(labels, on="file", how="left")["label"][:]
            ['dog', None, 'cat']
        """
        from datasets_core.dataset.keys import joined_rows, key_pairs

        given: Any = other
        if not isinstance(given, Relational):
            maker = "from_hf" if is_hugging_face(given) else "from_pandas"
            raise ArgumentTypeError(f"join() takes a Dataset, found {type(given).__name__}. Make one, as by Dataset.{maker}().")
        if how not in _HOW:
            raise ConfigurationError(f"how={how!r} is invalid. Give one of {', '.join(map(repr, _HOW))}.")
        if (on is None) == (left_on is None and right_on is None) or (left_on is None) != (right_on is None):
            raise ConfigurationError(
                "join() takes either on=, or left_on= and right_on=. Name the columns that are to be equal."
            )
        mine = self._keys("join", on if left_on is None else left_on)
        others = other._keys("join", on if right_on is None else right_on)
        if len(mine) != len(others):
            raise ConfigurationError(
                f"join() got {len(mine)} columns of one and {len(others)} of the other dataset. Give pairs."
            )
        key_pairs(self, other, mine, others)
        asked = (other._lineage, mine, others)
        if how in ("semi", "anti"):

            def find() -> Ints:
                rows, _ = joined_rows("inner", self, other, (mine, others))
                has = np.zeros(self.num_rows, bool)
                has[rows] = True
                return np.flatnonzero(has if how == "semi" else ~has)

            return self._kept_rows(find, f"join {how}", *asked)
        return self._joined(other, how, (mine, others), suffix)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _keys(self, verb: str, *columns: str | Sequence[str] | None) -> tuple[str, ...]:
        names = tuple(dict.fromkeys(name for each in columns if each is not None for name in names_of(each)))
        self._check_columns(names)
        if not names:
            raise ConfigurationError(f"{verb}() got no column. Name at least one.")
        return names

    def _of_other_rows(self, other: Self, table: RowTable, features: Features) -> Self:
        """`other` with rows that are not those of this dataset: no split, and the format of all columns."""
        other._table, other._index, other._split = table, None, None
        other._info.features = features
        other._format = replace(self._format, columns=None)
        other._forget()
        return other

    def _joined(self, other: Relational, how: str, on: tuple[tuple[str, ...], tuple[str, ...]], suffix: str) -> Self:
        from datasets_core.dataset.keys import joined_rows, side_by_side
        from datasets_core.dataset.results import found, place_of, written
        from datasets_core.store.table import zipped

        new = {name: name + suffix if name in self.column_names else name for name in other.column_names if name not in on[1]}
        twice = next((name for name in new.values() if [*self.column_names, *new.values()].count(name) > 1), None)
        if twice is not None:
            raise ConfigurationError(f"Two columns would have the name {twice!r}. Pass another suffix=.")
        added = Features({renamed: other._features[name] for name, renamed in new.items()})
        features = Features({**self._features, **added})
        result = self._derived(f"join {how}", other._lineage, *on, suffix)
        beside = result._lineage.then("columns")
        pairs: list[tuple[Ints, Ints]] = []

        def matched() -> tuple[Ints, Ints]:
            if not pairs:
                pairs.append(joined_rows(how, self, other, on))
            return pairs[0]

        is_found = [settings().caching and found(place_of(self, lineage)) is not None for lineage in (beside, result._lineage)]
        may_stay = how in ("inner", "left") and self._index is None and bool(new) and not is_found[1]
        if may_stay and (is_found[0] or bool((np.diff(matched()[0]) > 0).all())):
            table = self._table

            def columns() -> Iterator[pa.RecordBatch]:
                others = np.full(table.num_rows, -1, np.int64)
                others[matched()[0]] = matched()[1]
                return side_by_side(self, other, np.arange(table.num_rows), others, [(None, name) for name in new], added)

            made = self._derived("columns")
            made._lineage = beside
            made._table, made._info.features = zipped(table, written(self, beside, columns, added)), features
            made._format = replace(self._format, columns=None)
            made._forget()
            if how == "inner":
                made = made._kept_rows(lambda: matched()[0], "matched")
            made._lineage = result._lineage
            return made
        pairs_of_names = [
            (name, on[1][on[0].index(name)] if how in ("right", "full") and name in on[0] else None) for name in self._features
        ]
        names = [*pairs_of_names, *((None, name) for name in new)]
        table = written(self, result._lineage, lambda: side_by_side(self, other, *matched(), names, features), features)
        return self._of_other_rows(result, table, features)


def _batches_of(table: pa.Table, features: Features) -> Iterator[pa.RecordBatch]:
    schema = features.arrow_schema
    for batch in table.to_batches():
        columns = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(batch.columns, schema, strict=True)
        ]
        yield pa.RecordBatch.from_arrays(columns, schema=schema)
