"""Selection of the rows shown: a split expression or a query, a search, filters and an order; their Python code and files."""

from __future__ import annotations

import json
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.relational import SortKeys, sorted_rows
from datasets_core.errors import ConfigurationError, UnknownColumnError, UnknownSplitError
from datasets_core.features.types import ClassLabel
from datasets_core.io.tables import table_of
from datasets_core.meta.splits import ReadInstruction
from datasets_core.store.rows.view import joined_blocks
from datasets_core.viewer.cells import IN_PANEL, cells, described_columns, inner_value, kind_of_cell, plain
from datasets_core.viewer.media import Content
from datasets_core.viewer.pictures import Mask, Pictures

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset

_KEPT = 6  # views whose rows are held
MOST_ROWS = 500
"""Most rows of one answer."""
_LOOKED_ROWS = 40  # for the length of their texts, which sets the width of a column
_FORMATS = {"csv": "to_csv", "jsonl": "to_json", "parquet": "to_parquet"}


@dataclass(frozen=True)
class View:
    """The requested rows, as the address of the page describes them.

    Args:
        split: a split expression, such as `train[:10%]+test`.
        sql: a query, in which the split is named `ds`; its result is shown instead of the split.
        search: a text that one of the columns contains, ignoring case.
        searched: the columns to search; empty for all.
        filters: dicts with `column`, and `bins`, `values` or `null`.
        sort: pairs of a column and True for descending.
    """

    split: str
    sql: str = ""
    search: str = ""
    searched: tuple[str, ...] = ()
    filters: tuple[dict[str, Any], ...] = ()
    sort: tuple[tuple[str, bool], ...] = field(default=())

    @classmethod
    def of(cls, given: Any, default_split: str) -> View:
        """Return the view that a page requests.

        Raises:
            ConfigurationError: the request is not a valid view.
        """
        given = given or {}
        try:
            return cls(
                str(given.get("split") or default_split),
                str(given.get("sql") or "").strip(),
                str(given.get("search") or ""),
                tuple(map(str, given.get("searched") or ())),
                tuple({"column": str(each["column"]), **{key: each[key] for key in ("bins", "values", "null") if key in each}}
                      for each in given.get("filters") or ()),
                tuple((str(column), bool(descends)) for column, descends in given.get("sort") or ()),
            )  # fmt: skip
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise ConfigurationError(f"The page asks for an invalid view: {error!r}.") from error

    @property
    def base(self) -> tuple[str, str]:
        """The split expression or query that the rows are taken from."""
        return self.split, self.sql

    @property
    def key(self) -> str:
        """The view as text, for use as a key."""
        return json.dumps([*self.base, self.search, self.searched, self.filters, self.sort], sort_keys=True)


class _Base:
    """The rows of a split expression or of a query, with their pictures."""

    def __init__(self, rows: Dataset) -> None:
        self.rows = rows
        self.pictures = Pictures(rows)
        self.found: OrderedDict[tuple[str, tuple[str, ...]], Mask] = OrderedDict()  # by what is searched for


class Queries:
    """The rows of datasets by views.

    Args:
        splits: the rows of each split.
        opened: returns the rows of a split expression, if the dataset supports more than its splits; None: splits are sliced.
        code: Python text that loads the dataset, with `{split}` for the expression.
        each: Python text of the rows of a split, if `code` loads all splits.
        unread: returns the rows of a split that is read on first use.
    """

    def __init__(
        self,
        splits: Mapping[str, Dataset],
        opened: Callable[[str], Dataset] | None = None,
        code: str = "",
        *,
        each: str | None = None,
        unread: Mapping[str, Callable[[], Dataset]] | None = None,
    ) -> None:
        self.splits, self._opened = dict(splits), opened
        self._code, self._each, self._unread = code, each, dict(unread or {})
        self._lock = threading.RLock()
        self._bases: OrderedDict[tuple[str, str], _Base] = OrderedDict()
        self._orders: OrderedDict[str, npt.NDArray[np.int64] | None] = OrderedDict()

    def close(self) -> None:
        """Stop what is being computed."""
        for base in list(self._bases.values()):
            base.pictures.stop()

    def replace(self, split: str, rows: Dataset) -> None:
        """Replace the rows of a split, after more rows of its stream were read."""
        with self._lock:
            self.splits[split] = rows
            for base in self._bases.values():
                base.pictures.stop()
            self._bases.clear()
            self._orders.clear()

    @property
    def default_split(self) -> str:
        """The split that is shown first."""
        return next(iter(self.splits), "")

    # -- rows ----------------------------------------------------------------------------------------------------------

    def base(self, view: View) -> _Base:
        """Return the rows of the split expression or query that a view is based on.

        Raises:
            SplitSyntaxError, UnknownSplitError: the split expression is invalid.
            QueryError, MissingDependencyError: the query is invalid, or DuckDB is not installed.
        """
        with self._lock:
            found = self._bases.get(view.base)
            if found is None:
                rows = self._split(view.split)
                found = _Base(rows.sql(view.sql) if view.sql else rows)
                self._bases[view.base] = found
                while len(self._bases) > _KEPT:
                    _, old = self._bases.popitem(last=False)
                    old.pictures.stop()
            self._bases.move_to_end(view.base)
            return found

    def _split(self, text: str) -> Dataset:
        if text in self._unread:
            self.splits[text] = self._unread[text]()
            del self._unread[text]
        if text in self.splits:
            return self.splits[text]
        asked = ReadInstruction.from_spec(text)
        if self._opened is not None:
            return self._opened(text)
        if not self.splits:
            raise UnknownSplitError(text, known=())
        parts = [self.splits[name].select(range(start, stop)) for name, start, stop in self._ranges(asked)]
        return parts[0] if len(parts) == 1 else concatenate_datasets(parts)

    def _ranges(self, asked: ReadInstruction) -> list[tuple[str, int, int]]:
        lengths = {name: rows.num_rows for name, rows in self.splits.items()}
        return [(each.splitname, each.from_ or 0, lengths[each.splitname] if each.to is None else each.to)
                for each in asked.to_absolute(lengths)]  # fmt: skip

    def order(self, view: View) -> npt.NDArray[np.int64] | None:
        """Return the numbers of the rows of a view in its base; None for all of them in their order."""
        with self._lock:
            key = view.key
            if key not in self._orders:
                self._orders[key] = self._ordered(view)
                while len(self._orders) > _KEPT:
                    self._orders.popitem(last=False)
            self._orders.move_to_end(key)
            return self._orders[key]

    def _ordered(self, view: View) -> npt.NDArray[np.int64] | None:
        base = self.base(view)
        passes = self._passing(view)
        numbers = None if passes is None else np.flatnonzero(passes).astype(np.int64)
        if not view.sort:
            return numbers
        key = replace(view, search="", searched=(), filters=()).key
        whole = self._orders.get(key)
        if passes is not None and whole is not None:  # all rows were sorted before
            self._orders.move_to_end(key)
            return whole[passes[whole]]
        columns = list(dict.fromkeys(column for column, _ in view.sort))
        _check(base.rows, columns)
        descends = dict(reversed(view.sort))
        keys = SortKeys(tuple(columns), tuple(descends[column] for column in columns), nulls_first=False)
        index = base.rows._index if numbers is None else numbers if base.rows._index is None else base.rows._index[numbers]
        places = np.asarray(sorted_rows(base.rows._table, index, keys), dtype=np.int64)
        return places if numbers is None else numbers[places]

    def _passing(self, view: View) -> Mask | None:
        base = self.base(view)
        found = self._searched(base, view)
        if view.filters:
            _check(base.rows, [each["column"] for each in view.filters])
            passes = base.pictures.mask(view.filters)
            found = passes if found is None else found & passes
        return found

    def _searched(self, base: _Base, view: View) -> Mask | None:
        if not view.search:
            return None
        key = (view.search, view.searched)
        if key not in base.found:
            _check(base.rows, view.searched)
            base.found[key] = _search(base.rows, view.search, view.searched or tuple(base.rows.column_names))
            while len(base.found) > _KEPT:
                base.found.popitem(last=False)
        return base.found[key]

    def rows_of(self, view: View) -> Dataset:
        """Return the rows of a view as a dataset."""
        order = self.order(view)
        rows = self.base(view).rows
        return rows if order is None else rows._selected(order)

    # -- answers -------------------------------------------------------------------------------------------------------

    def opened(self, view: View) -> dict[str, Any]:
        """Return the columns of a view, and its number of rows."""
        rows = self.base(view).rows
        order = self.order(view)
        self.base(view).pictures.start()
        columns = described_columns(rows.features, rows._table.schema)
        texts = [each["name"] for each in columns if each["cell"] in ("text", "label")]
        head = table_of(rows.select_columns(texts), 0, min(rows.num_rows, _LOOKED_ROWS)) if texts else None
        for each in columns:
            if head is not None and each["cell"] == "text":
                each["longest"] = max((_size(value) for value in head.column(each["name"])), default=0)
        return {"rows": rows.num_rows if order is None else len(order), "total": rows.num_rows, "columns": columns}

    def page(self, view: View, start: int, stop: int, names: Sequence[str] | None = None) -> pa.RecordBatch:
        """Return rows of a view as the page reads them, see `cells`.

        Args:
            view: the rows.
            start, stop: range of positions in the view.
            names: names of the requested columns; None: all.
        """
        rows, order = self.base(view).rows, self.order(view)
        size = rows.num_rows if order is None else len(order)
        start = max(0, min(start, size))
        stop = max(start, min(stop, size, start + MOST_ROWS))
        if order is None:
            chosen, numbers = rows, list(range(start, stop))
        else:
            chosen, numbers = rows._selected(order[start:stop]), order[start:stop].tolist()
            start, stop = 0, len(numbers)
        wanted = set(rows.column_names if names is None else names)
        places = {name: place for place, name in enumerate(rows.column_names) if name in wanted}
        if names is not None:
            chosen = chosen.select_columns(list(places))
        table = table_of(chosen, start, stop)
        return cells(table, {name: rows.features[name] for name in places}, rows._media_paths(), numbers, list(places.values()))

    def row(self, view: View, number: int) -> dict[str, Any]:
        """Return one whole row of the base of a view, its id and its position.

        Raises:
            ConfigurationError: the row does not exist.
        """
        rows, order = self.base(view).rows, self.order(view)
        table = self._one(rows, number)
        fields = [
            {
                **described,
                "value": plain(
                    table.column(described["name"])[0], rows.features[described["name"]], rows._media_paths(), IN_PANEL
                ),
            }
            for described in described_columns(rows.features, table.schema)
        ]
        place = number if order is None else _place_in(order, number)
        source = _source_of(rows, number)
        return {"row": number, "place": place, "fields": fields, **source}

    def _one(self, rows: Dataset, number: int) -> pa.Table:
        if not 0 <= number < rows.num_rows:
            raise ConfigurationError(f"Row {number:,} does not exist. The rows are numbered from 0 to {rows.num_rows - 1:,}.")
        return table_of(rows, number, number + 1)

    def content(self, view: View, column: str, number: int, path: Sequence[str | int]) -> tuple[Content, str]:
        """Return a medium of a row, and its kind.

        Raises:
            UnknownColumnError, ConfigurationError: there is no medium at that place.
            UntrustedPathError, MediaNotFoundError: the path of the medium may not be opened, or its file does not exist.
        """
        rows = self.base(view).rows
        _check(rows, [column])
        table = self._one(rows, number)
        try:
            value, feature = inner_value(table.column(column)[0], rows.features[column], path)
            if not value.is_valid:
                raise KeyError(column)
            return Content(value, rows._media_paths()), str(getattr(feature, "_type", "")).lower()
        except (KeyError, IndexError, AttributeError, TypeError) as error:
            raise ConfigurationError(f"Row {number:,} has no file in column {column!r} at {list(path)}.") from error

    def pictures(self, view: View, names: Sequence[str] | None, wait_seconds: float) -> dict[str, Any]:
        """Return the charts of the columns of a view that are known so far."""
        from datasets_core.viewer.pictures import Picture

        base = self.base(view)
        summary, is_exact, share = base.pictures.state(wait_seconds)
        wanted = list(base.rows.column_names) if names is None else [name for name in names if name in base.rows.features]
        found: dict[str, Any] = {"exact": is_exact, "share": share, "columns": {}}
        if summary is None:
            return found
        columns = {column.name: column for column in summary}
        found["columns"] = {name: Picture(columns[name]).to_dict() for name in wanted}
        if is_exact and (view.filters or view.search):
            filtered = base.pictures.counts(wanted, view.filters, self._searched(base, view))
            for name, each in filtered["columns"].items():
                found["columns"][name]["selected"] = each
            found["rows"] = filtered["rows"]
        return found

    # -- what is on screen, for others ---------------------------------------------------------------------------------

    def python(self, view: View) -> str:
        """Return the rows of a view as Python text."""
        base = self.base(view)
        lines = [self._code.replace("{split}", view.split)] if self._code else []
        if self._each is not None:
            lines += self._part_code(view.split)
        if view.sql:
            lines.append(f"ds = ds.sql({view.sql!r})")
        if view.search:
            lines.append(_search_code(base.rows, view))
        lines += [self._filter_code(base, each) for each in view.filters]
        if view.sort:
            names, reverse = [name for name, _ in view.sort], [descends for _, descends in view.sort]
            lines.append(f"ds = ds.sort({names!r}, reverse={reverse!r})")
        return "\n".join(lines) + "\n"

    def _part_code(self, text: str) -> list[str]:
        assert self._each is not None
        if text in self.splits:
            own = self._each.replace("{split}", text)
            return [] if own == "ds" else [f"ds = {own}"]
        parts = [
            f"{self._each.replace('{split}', name)}.select(range({start}, {stop}))"
            for name, start, stop in self._ranges(ReadInstruction.from_spec(text))
        ]
        if len(parts) == 1:
            return [f"ds = {parts[0]}"]
        return ["from datasets_core import concatenate_datasets", f"ds = concatenate_datasets([{', '.join(parts)}])"]

    def _filter_code(self, base: _Base, given: Mapping[str, Any]) -> str:
        name = given["column"]
        value = f"row[{name!r}]"
        if given.get("null") is not None:
            return f"ds = ds.filter(lambda row: {value} is {'' if given['null'] else 'not '}None)"
        picture = base.pictures.picture(name)
        if picture.kind == "bars":
            chosen = [picture.values[number] for number in given.get("values") or () if 0 <= number < len(picture.values)]
            feature = base.rows.features[name]
            if isinstance(feature, ClassLabel):
                chosen = [feature.str2int(each) if each in feature.names else int(each) for each in chosen]
            return f"ds = ds.filter(lambda row: {value} in {chosen!r})"
        start, stop = (int(number) for number in given.get("bins") or (0, 0))
        stop = min(stop, len(picture.edges) - 1)
        low, high = picture.edges[max(0, start)], picture.edges[stop]
        if picture.kind == "lengths":
            value = f"len({value})"
        ends = "<=" if stop == len(picture.edges) - 1 else "<"
        text = f"ds = ds.filter(lambda row: row[{name!r}] is not None and {low!r} <= {value} {ends} {high!r})"
        return f"import datetime\n{text}" if "datetime." in text else text

    def save(self, view: View, kind: str, path: str | os.PathLike[str]) -> None:
        """Write the rows of a view to a file.

        Args:
            view: the rows.
            kind: "csv", "jsonl" or "parquet".
            path: path of the new file.

        Raises:
            ConfigurationError: the kind of file is unknown.
        """
        if kind not in _FORMATS:
            raise ConfigurationError(
                f"Unknown format {kind!r}. Available formats: {', '.join(map(repr, _FORMATS))}.", value=kind
            )
        getattr(self.rows_of(view), _FORMATS[kind])(path)


def _size(value: pa.Scalar) -> int:
    """Return the number of bytes of a text."""
    value = value.value if isinstance(value, pa.DictionaryScalar) else value
    return value.as_buffer().size if value is not None and value.is_valid else 0


def _check(rows: Dataset, names: Sequence[str]) -> None:
    for name in names:
        if name not in rows.features:
            raise UnknownColumnError(name, known=rows.column_names)


def _place_in(order: npt.NDArray[np.int64], number: int) -> int | None:
    found = np.flatnonzero(order == number)
    return int(found[0]) if len(found) else None


def _source_of(rows: Dataset, number: int) -> dict[str, Any]:
    """Return the id of a row, the shard that holds it, and its number there."""
    from datasets_core.errors import MissingRowIdsError

    try:
        identity = rows.row_id(number)
    except MissingRowIdsError:
        return {"id": None, "file": None, "file_row": None}
    name, _, place = identity.rpartition("__")
    held = next((path for path in rows._table.files if path.replace(os.sep, "/").endswith(name)), name)
    return {"id": identity, "file": held, "file_row": int(place) if place.isdigit() else None}


# -- search ------------------------------------------------------------------------------------------------------------


def _search(rows: Dataset, text: str, names: Sequence[str]) -> Mask:
    table = rows._table.select(list(names))
    found = np.zeros(rows.num_rows, bool)
    done = 0
    for block in joined_blocks(table, rows._index):
        for number, name in enumerate(names):
            mask = _contains(block.column(number), rows.features[name], text)
            if mask is not None:
                found[done : done + block.num_rows] |= mask
        done += block.num_rows
    return found


_UNSEARCHED = ("media", "bytes", "null", "array", "time", "bool")  # kinds of cells


def _contains(values: pa.Array, feature: Any, text: str) -> Mask | None:
    """Return a mask of the values that contain a text: texts, printed numbers, label names, also within lists and dicts."""
    kind = kind_of_cell(feature, values.type)
    if kind in _UNSEARCHED:
        return None
    if isinstance(feature, ClassLabel):
        codes = [code for code, name in enumerate(feature.names) if text.casefold() in name.casefold()]
        return _mask(pc.is_in(values, value_set=pa.array(codes, values.type)))
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if kind == "number":
        if not _is_number(text):
            return None
        values = values.cast(pa.string())
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return _mask(pc.match_substring(values, text, ignore_case=True))
    if values.type == pa.string_view():
        return _mask(pc.match_substring(values.cast(pa.large_string()), text, ignore_case=True))
    if pa.types.is_struct(values.type):
        inner = feature if isinstance(feature, Mapping) else {}
        masks = [
            found
            for place, each in enumerate(values.type)
            if each.name in inner and (found := _contains(pc.struct_field(values, [place]), inner[each.name], text)) is not None
        ]
        return np.logical_or.reduce(masks) if masks else None
    if pa.types.is_list(values.type) or pa.types.is_large_list(values.type) or pa.types.is_fixed_size_list(values.type):
        inside = _contains(values.flatten(), getattr(feature, "feature", None), text)
        if inside is None:
            return None
        found = np.zeros(len(values), bool)
        found[pc.list_parent_indices(values).to_numpy(zero_copy_only=False)[inside]] = True
        return found
    return None


def _mask(found: pa.Array) -> Mask:
    return found.fill_null(False).to_numpy(zero_copy_only=False)  # type: ignore[no-any-return]


_TEXTS_CODE = """def texts(value):
    if isinstance(value, (list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from texts(each)
    elif isinstance(value, {types}) and not isinstance(value, bool):
        yield str(value).casefold()
"""


def _search_code(rows: Dataset, view: View) -> str:
    """Return Python code that finds the same rows as `_contains`."""
    text, names, labels = view.search.casefold(), [], ""
    for name in view.searched or rows.column_names:
        feature = rows.features[name]
        if isinstance(feature, ClassLabel):
            codes = [code for code, label in enumerate(feature.names) if text in label.casefold()]
            labels += f" or row[{name!r}] in {codes}" if codes else ""
        elif kind_of_cell(feature, rows._table.schema.field(name).type) not in _UNSEARCHED:
            names.append(name)
    code = _TEXTS_CODE.replace("{types}", "(str, int, float)" if _is_number(text) else "str")
    found = f"any({text!r} in text for name in {names!r} for text in texts(row[name]))"
    return f"{code}ds = ds.filter(lambda row: {found}{labels})"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
