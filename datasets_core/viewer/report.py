"""A report of a dataset in one self-contained HTML file: statistics, duplicates, leaks between splits, a sample."""

from __future__ import annotations

import base64
import html
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from datasets_core._version import __version__
from datasets_core.dataset.combine import concatenate_datasets
from datasets_core.dataset.insight.describe import ColumnSummary, Summary
from datasets_core.dataset.insight.statistics import hashes, is_media, numbers_of
from datasets_core.errors import ConfigurationError, DatasetsCoreError
from datasets_core.features.types import ClassLabel
from datasets_core.files import local_path, write_atomically
from datasets_core.io.tables import table_of
from datasets_core.store.rows.view import joined_blocks
from datasets_core.viewer.cells import IN_TABLE, kind_of_cell, plain, time_text
from datasets_core.viewer.media import THUMBNAIL, Content, first_page, picture
from datasets_core.viewer.opening import Opened, open_rows
from datasets_core.viewer.pictures import Picture, as_text, summary_of
from datasets_core.viewer.queries import View

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset

Hashes: TypeAlias = npt.NDArray[np.uint64]

_MOST_CORRELATED = 20
_MOST_COMPARED = 12  # columns of texts and files whose values are compared between splits
_EXTREMES = 3
_SAMPLED = 8
_MOST_NAMED = 80  # characters of a value in a table of its counts
_MOST_SAMPLED_COLUMNS = 60
_MOST_DRAWN_COLUMNS = 300
_MOST_MEDIA_BYTES, _MOST_SOUND_BYTES = 2_500_000, 300_000
_LONG_BYTES = 64  # texts above this are hashed whole, not by a checksum


def report(dataset: Any, path: str | os.PathLike[str], *, title: str | None = None) -> str:
    """Write a report of a dataset, or of its splits, into one HTML file.

    Args:
        dataset: a `Dataset` or a `DatasetDict`.
        path: path of the new file.
        title: title of the report.

    Returns:
        The path.

    Raises:
        ConfigurationError: there are no rows or no columns, it is a stream, or the folder does not exist.
        ArgumentTypeError: the argument has another type.
    """
    opened = open_rows(dataset)
    if title is not None:
        opened.title = title
    return report_of(opened, path)


def report_of(opened: Opened, path: str | os.PathLike[str], *, split: str | None = None) -> str:
    """Write the report of an opened dataset.

    Args:
        opened: the dataset.
        path: path of the new file.
        split: a split expression, to report on these rows only.
    """
    if opened.streams:
        raise ConfigurationError("A report reads all rows, and a stream may have no end", advice="Load it without streaming")
    folder = os.path.dirname(os.path.abspath(local_path(path)))
    if not os.path.isdir(folder):
        raise ConfigurationError(
            f"The folder {folder} of the report does not exist", advice="Create it, or name another file", file=folder
        )
    splits = dict(opened.queries.splits)
    if split is not None:
        splits = {split: opened.queries.base(View(split)).rows}
    text = _Report(opened.title, {name: rows for name, rows in splits.items() if rows.num_rows}).html()
    write_atomically(local_path(path), text.encode("utf-8", "replace"))
    return os.fspath(path)


# -- what is found -----------------------------------------------------------------------------------------------------


@dataclass
class _Pass:
    """Results of one pass over a split, in addition to the statistics."""

    rows: Hashes
    columns: dict[str, Hashes] = field(default_factory=dict)
    longest: dict[str, list[tuple[int, int]]] = field(default_factory=dict)
    shortest: dict[str, list[tuple[int, int]]] = field(default_factory=dict)


class _Correlations:
    """Sums for the correlations of two columns of numbers, over the rows where both have a value."""

    def __init__(self, columns: Sequence[ColumnSummary]) -> None:
        self.names = [column.name for column in columns]
        self._means = np.array([column.mean for column in columns], dtype=np.float64)
        size = len(self.names)
        self._sums = [np.zeros((size, size)) for _ in range(4)]

    def add(self, block: pa.RecordBatch, features: Mapping[str, Any]) -> None:
        grid = np.full((len(self.names), block.num_rows), np.nan)
        for place, name in enumerate(self.names):
            numbers, has_one = numbers_of(block.column(name), features[name], are_lengths=False)
            grid[place, slice(None) if has_one is None else has_one] = numbers
        grid -= self._means[:, None]
        known = np.isfinite(grid)
        grid[~known] = 0.0
        here = known.astype(np.float64)
        for found, (one, other) in zip(
            self._sums, ((here, here), (grid, here), (grid * grid, here), (grid, grid)), strict=True
        ):
            found += one @ other.T

    def matrix(self) -> npt.NDArray[np.float64]:
        count, first, squares, products = self._sums
        with np.errstate(all="ignore"):
            spread = squares - first * first / count
            found = (products - first * first.T / count) / np.sqrt(spread * spread.T)
        return np.clip(found, -1.0, 1.0)


def row_hashes(values: pa.Array, feature: Any) -> Hashes:
    """Return a hash of 64 bits of each value, of any type, null and nested ones included; the same within one process.

    >>> found = row_hashes(pa.array([[1, 2], [2, 1], [1, 2], None]), None)
    >>> (found[0] == found[2], found[0] == found[1])
    (np.True_, np.False_)
    """
    if pa.types.is_null(values.type):
        return np.zeros(len(values), np.uint64)
    if isinstance(values, pa.ExtensionArray):
        values = values.storage
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    kind = values.type
    found = np.full(len(values), 0x5BD1E995, np.uint64)
    valid = slice(None) if not values.null_count else ~values.is_null().to_numpy(zero_copy_only=False)
    if pa.types.is_struct(kind):
        fields = [each.name for each in kind]
        if is_media(feature, kind):
            content = values.field("bytes")
            fields = ["bytes"] if content.null_count < len(content) else ["path"]
        inner = feature if isinstance(feature, Mapping) else {}
        mixed = np.zeros(len(values), np.uint64)
        for name in fields:
            place = kind.get_field_index(name)
            mixed = _mixed(mixed, row_hashes(pc.struct_field(values, [place]), inner.get(name)))
        found[valid] = mixed[valid]
    elif pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        items = row_hashes(values.flatten(), getattr(feature, "feature", None))
        lengths = pc.list_value_length(values).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
        ends = np.cumsum(lengths)
        places = np.arange(len(items)) - np.repeat(ends - lengths, lengths)
        running = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_mixed(items, places.astype(np.uint64)), dtype=np.uint64)])
        sums = running[ends] - running[ends - lengths]
        found[valid] = _mixed(sums, lengths.astype(np.uint64))[valid]
    elif pa.types.is_map(kind):
        found[valid] = np.array([hash(str(value)) & 0xFFFFFFFFFFFFFFFF for value in values.drop_null().to_pylist()], np.uint64)
    else:
        found[valid] = _plain_hashes(values.drop_null() if values.null_count else values)
    return found


def _plain_hashes(values: pa.Array) -> Hashes:
    if values.type in (pa.string_view(), pa.binary_view()):
        values = values.cast(pa.large_binary())
    if pa.types.is_floating(values.type):
        values = pc.add(values, pa.scalar(0.0, values.type))  # so that -0.0 is 0.0
    found = hashes(values)
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type) or pa.types.is_binary(values.type):
        long = np.flatnonzero(pc.greater(pc.binary_length(values), _LONG_BYTES).to_numpy(zero_copy_only=False))
        if len(long):
            whole = [hash(value.as_buffer().to_pybytes()) & 0xFFFFFFFFFFFFFFFF for value in values.take(pa.array(long))]
            found[long] = _mixed(found[long], np.array(whole, np.uint64))
    return found


def _mixed(one: Hashes, other: Hashes) -> Hashes:
    with np.errstate(over="ignore"):
        found = (one ^ (one >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9) + other * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(32)
        return found * np.uint64(0x94D049BB133111EB)


def _passed(rows: Dataset, names: Sequence[str], compared: Sequence[str], texts: Sequence[str], sums: _Correlations) -> _Pass:
    """Read the rows once; return hashes of rows and values, the shortest and longest texts, and the sums for correlations."""
    table = rows._table.select(list(names))
    found = _Pass(np.empty(rows.num_rows, np.uint64), {name: np.empty(rows.num_rows, np.uint64) for name in compared})
    done = 0
    for block in joined_blocks(table, rows._index):
        here = slice(done, done + block.num_rows)
        mixed = np.zeros(block.num_rows, np.uint64)
        for name in names:
            each = row_hashes(block.column(name), rows.features[name])
            if name in found.columns:
                found.columns[name][here] = each
            mixed = _mixed(mixed, each)
        found.rows[here] = mixed
        for name in texts:
            _note_ends(found, name, block.column(name), done)
        if len(sums.names) > 1:
            sums.add(block, rows.features)
        done += block.num_rows
    return found


def _repeats(values: Hashes) -> int:
    """Return the number of values that repeat an earlier one."""
    ordered = np.sort(values)  # some 100 times as quick as np.unique, which hashes
    return int((ordered[1:] == ordered[:-1]).sum())


def _shared(values: Hashes, others: Hashes) -> int:
    """Return the number of values that also occur among the others."""
    known, asked = np.sort(others), np.sort(values)
    places = np.minimum(np.searchsorted(known, asked), len(known) - 1)
    return int((known[places] == asked).sum())


def _note_ends(found: _Pass, name: str, values: pa.Array, done: int) -> None:
    text = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values
    lengths = pc.utf8_length(text.cast(pa.large_string()) if text.type == pa.string_view() else text)
    numbers = lengths.fill_null(-1).to_numpy(zero_copy_only=False)
    order = np.argsort(numbers, kind="stable")
    order = order[np.searchsorted(numbers[order], 0) :]
    longest = [(int(numbers[at]), done + int(at)) for at in order[: -_EXTREMES - 1 : -1]]
    shortest = [(int(numbers[at]), done + int(at)) for at in order[:_EXTREMES]]
    found.longest[name] = sorted([*found.longest.get(name, []), *longest], key=lambda each: (-each[0], each[1]))[:_EXTREMES]
    found.shortest[name] = sorted([*found.shortest.get(name, []), *shortest])[:_EXTREMES]


@dataclass(frozen=True)
class _Overlap:
    one: str
    other: str
    rows: int
    share: float
    column: str | None = None


class _Report:
    """The page of one dataset.

    Args:
        title: title of the page.
        splits: the rows of each split; none is empty.
    """

    def __init__(self, title: str, splits: Mapping[str, Dataset]) -> None:
        self._title, self._splits = title, splits
        first = next(iter(splits.values()))
        alike = [rows for rows in splits.values() if rows.features == first.features]
        self._rows = first if len(alike) == 1 else concatenate_datasets(alike)
        self._names = list(self._rows.column_names)
        self._features = self._rows.features
        self._schema = self._rows._table.schema
        self._kinds = {name: kind_of_cell(self._features[name], self._schema.field(name).type) for name in self._names}
        self._summary: Summary = summary_of(self._rows)
        self._columns = [self._summary[name] for name in self._names]
        numeric = [
            column
            for column in self._columns
            if self._kinds[column.name] == "number" and column.mean is not None and np.isfinite(column.mean)
        ][:_MOST_CORRELATED]
        self._sums = _Correlations(numeric)
        self._texts = [name for name in self._names if self._kinds[name] == "text"]
        self._compared = [name for name in self._names if self._kinds[name] in ("text", "media", "chat", "array")][
            :_MOST_COMPARED
        ]
        common = [name for name in self._names if all(name in rows.features for rows in splits.values())]
        self._passes = {
            name: _passed(
                rows,
                common,
                [column for column in self._compared if column in common],
                [column for column in self._texts if column in common],
                self._sums if rows.features == first.features else _Correlations([]),
            )
            for name, rows in splits.items()
        }
        self._overlaps = list(self._found_overlaps())
        self._duplicates = {name: _repeats(found.rows) for name, found in self._passes.items()}
        self._matrix = self._sums.matrix() if len(self._sums.names) > 1 else None

    def _found_overlaps(self) -> Iterator[_Overlap]:
        for one, other in combinations(self._passes, 2):
            first, second = self._passes[one], self._passes[other]
            shared = _shared(second.rows, first.rows)
            yield _Overlap(one, other, shared, shared / len(second.rows))
            for name in first.columns:
                column = self._summary[name]
                if name in second.columns and (
                    column.distinct is None or column.distinct > 0.5 * (self._summary.num_rows - column.nulls)
                ):
                    same = _shared(second.columns[name], first.columns[name])
                    if same > shared:
                        yield _Overlap(one, other, same, same / len(second.rows), name)

    # -- the page ------------------------------------------------------------------------------------------------------

    def html(self) -> str:
        """Return the page."""
        parts = [
            self._overview(),
            self._notes(),
            self._column_cards(),
            self._balance(),
            self._repeated(),
            self._correlated(),
            self._extremes(),
            self._sample(),
        ]
        with open(_STYLE, encoding="utf-8") as file:
            style = file.read()
        return _PAGE.format(
            policy=_POLICY, title=_escaped(self._title), style=style, content="".join(filter(None, parts)), version=__version__
        )

    def _overview(self) -> str:
        total = sum(rows.num_rows for rows in self._splits.values())
        lines = [
            [_row_head(name), _number(f"{rows.num_rows:,}"), _number(_share(rows.num_rows, total))]
            for name, rows in self._splits.items()
        ]
        nulls = sum(column.nulls for column in self._columns)
        facts = {
            "rows": f"{total:,}",
            "columns": f"{len(self._names):,}",
            "nulls": f"{_share(nulls, max(1, self._summary.num_rows * len(self._columns)))} of the values",
            "repeated rows": f"{sum(self._duplicates.values()):,}",
        }
        tiles = "".join(f"<div class=tile><span>{name}</span><strong>{value}</strong></div>" for name, value in facts.items())
        listed = _table(["split", "rows#", "share#"], lines, "narrow")
        return f"<header><h1>{_escaped(self._title)}</h1></header><div class=tiles>{tiles}</div>{listed}"

    def _notes(self) -> str:
        found = [*self._leaks(), *self._odd_columns()]
        if self._matrix is not None:
            names = [_code(name) for name in self._sums.names]
            for one, other in combinations(range(len(names)), 2):
                value = self._matrix[one, other]
                if abs(value) > 0.95:
                    found.append(f"{names[one]} and {names[other]} have a correlation of {value:.3f}.")
        if not found:
            text = "Nothing stands out: no leaks between splits, no repeated rows, no empty or constant column."
            return _section("What to look at", f"<p>{text}</p>")
        return _section("What to look at", f"<ul class=notes>{''.join(f'<li>{line}</li>' for line in found[:60])}</ul>")

    def _leaks(self) -> Iterator[str]:
        for each in self._overlaps:
            if each.rows:
                what = "rows" if each.column is None else f"values of {_code(each.column)}"
                place = f"{_code(each.other)} ({each.share:.1%}) are also in {_code(each.one)}"
                yield f"<b>Leak:</b> {each.rows:,} {what} of {place}."
        for name, count in self._duplicates.items():
            if count:
                share = _share(count, self._splits[name].num_rows)
                yield f"{count:,} rows of {_code(name)} repeat an earlier row ({share})."

    def _odd_columns(self) -> Iterator[str]:
        total = self._summary.num_rows
        for column in self._columns:
            name, known = _code(column.name), total - column.nulls
            if column.nulls == total:
                yield f"{name} has nulls only."
            elif column.nulls > total / 2:
                yield f"{name} is null in {_share(column.nulls, total)} of the rows."
            if column.distinct == 1 and known > 1:
                yield f"{name} has one value in all rows."
            if column.nans:
                yield f"{name} has {column.nans:,} NaN."
            if column.frequencies and known and column.is_distinct_exact and 1 < (column.distinct or 0) <= 50:
                value, count = column.frequencies[0]
                if count > 0.9 * known:
                    yield f"{name} is {_code(as_text(value) or '')} in {_share(count, known)} of the rows."

    def _column_cards(self) -> str:
        cards = "".join(self._card(column) for column in self._columns[:_MOST_DRAWN_COLUMNS])
        left = len(self._columns) - _MOST_DRAWN_COLUMNS
        return _section("Columns", f"<div class=cards>{cards}</div>" + (f"<p>and {left:,} more</p>" if left > 0 else ""))

    def _card(self, column: ColumnSummary) -> str:
        facts: list[tuple[str, str]] = [("nulls", f"{column.nulls:,} ({_share(column.nulls, self._summary.num_rows)})")]
        if column.distinct is not None:
            facts.append(("distinct", f"{'' if column.is_distinct_exact else 'about '}{column.distinct:,}"))
        bounds = (("lowest", column.min), ("mean", column.mean), ("deviation", column.std), ("highest", column.max))
        facts += [(name, text) for name, value in bounds if (text := as_text(value)) is not None]
        if column.lengths is not None:
            facts.append(
                (column.lengths.unit, f"{column.lengths.min:,} to {column.lengths.max:,}, mean {column.lengths.mean:.6g}")
            )
        listed = "".join(f"<dt>{name}</dt><dd>{_escaped(value)}</dd>" for name, value in facts)
        title = f"<h3>{_escaped(column.name)}</h3><p class=type>{_escaped(column.kind)}</p>"
        return f"<article>{title}{_drawn(Picture(column))}<dl>{listed}</dl></article>"

    def _balance(self) -> str:
        if len(self._splits) < 2:
            return ""
        parts = []
        for column in self._columns:
            drawn = Picture(column)
            if drawn.kind != "bars" or not 1 < len(drawn.values) <= 40:
                continue
            counts: dict[str, dict[Any, int]] = {}
            for name, rows in self._splits.items():
                if column.name in rows.features:
                    own = summary_of(rows.select_columns([column.name]))[column.name]
                    counts[name] = dict(own.frequencies or ())
            lines = []
            for value in drawn.values:
                name = as_text(value) or "empty text"
                cells = [_row_head(name if len(name) <= _MOST_NAMED else f"{name[:_MOST_NAMED]}…")]
                for found in counts.values():
                    share = found.get(value, 0) / max(1, sum(found.values()))
                    cells += [
                        _number(f"{found.get(value, 0):,}"),
                        f"<td class=meter>{_meter(share)}<small>{share:.1%}</small></td>",
                    ]
                lines.append(cells)
            head = ["value", *(title for name in counts for title in (f"{name}#", "share"))]
            parts.append(f"<h3>{_escaped(column.name)}</h3>{_table(head, lines)}")
        return _section("Balance over the splits", "".join(parts)) if parts else ""

    def _repeated(self) -> str:
        lines = [
            [_row_head(name), _number(f"{count:,}"), _number(_share(count, self._splits[name].num_rows))]
            for name, count in self._duplicates.items()
        ]
        text = _table(["split", "rows that repeat an earlier one#", "share#"], lines, "narrow")
        if self._overlaps:
            lines = [
                [
                    _row_head(f"{each.other} in {each.one}"),
                    f"<td>{'whole rows' if each.column is None else _code(each.column)}</td>",
                    _number(f"{each.rows:,}"),
                    _number(f"{each.share:.1%}"),
                ]
                for each in self._overlaps
            ]
            text += f"<h3>Shared between splits</h3>{_table(['splits', 'compared', 'rows#', 'share#'], lines, 'narrow')}"
        return _section("Repeated rows", text)

    def _correlated(self) -> str:
        if self._matrix is None:
            return ""
        names = self._sums.names
        lines = [
            [_row_head(name), *(_correlation(self._matrix[place, other]) for other in range(len(names)))]
            for place, name in enumerate(names)
        ]
        return _section("Correlations", _table(["", *names], lines, "matrix"))

    def _extremes(self) -> str:
        parts = []
        for name in self._texts[:12]:
            column = self._summary[name]
            if column.distinct is not None and column.is_distinct_exact and column.distinct <= 40:
                continue
            lines = []
            for word in ("shortest", "longest"):
                ends = {split: getattr(found, word).get(name, []) for split, found in self._passes.items()}
                pairs = sorted(
                    ((size, split, row) for split, found in ends.items() for size, row in found), reverse=word == "longest"
                )
                for size, split, row in pairs[:_EXTREMES]:
                    text = table_of(self._splits[split].select_columns([name]), row, row + 1).column(name)[0].as_py()
                    shown = f"{_escaped(text[:240])}{'…' if len(text) > 240 else ''}"
                    place = f"<td>{_escaped(split)} {row:,}</td><td class=clip dir=auto>{shown}</td>"
                    lines.append([_row_head(word), _number(f"{size:,}"), place])
            parts.append(f"<h3>{_escaped(name)}</h3>{_table(['', 'characters#', 'row', 'text'], lines)}")
        return _section("Shortest and longest texts", "".join(parts)) if parts else ""

    def _sample(self) -> str:
        split, rows = next(iter(self._splits.items()))
        chosen = np.unique(np.linspace(0, rows.num_rows - 1, min(_SAMPLED, rows.num_rows)).astype(np.int64))
        names = rows.column_names[:_MOST_SAMPLED_COLUMNS]
        table = table_of(rows.select(chosen).select_columns(names), 0, len(chosen))
        budget = [_MOST_MEDIA_BYTES]
        lines = [
            [
                _row_head(f"{number:,}"),
                *(
                    f'<td data-name="{_escaped(name)}">{self._cell(table.column(name)[at], rows, name, budget)}</td>'
                    for name in names
                ),
            ]
            for at, number in enumerate(chosen.tolist())
        ]
        return _section(f"Rows of {_escaped(split)}", _table(["row", *names], lines, "sample"))

    def _cell(self, value: pa.Scalar, rows: Dataset, name: str, budget: list[int]) -> str:
        if not value.is_valid:
            return "<i class=null>null</i>"
        feature = rows.features[name]
        kind = self._kinds.get(name)
        if kind == "time":
            return _escaped(time_text(value))
        if kind == "media":
            return _medium(value, feature, rows, budget)
        shown = plain(value, feature, rows._media_paths(), IN_TABLE)
        text = _brief(shown)
        if isinstance(feature, ClassLabel):
            return f"<span class=label>{_escaped(text)}</span>"
        if not text:
            return "<i class=null>empty text</i>"
        return f"<span dir=auto>{_escaped(text[:300])}{'…' if len(text) > 300 else ''}</span>"


def _section(title: str, content: str) -> str:
    return f"<section><h2>{title}</h2>{content}</section>"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], kind: str = "") -> str:
    """Return a table of cells in HTML; a title that ends with # marks a column of numbers."""
    titles = "".join(
        f"<th scope=col{' class=n' if title.endswith('#') else ''}><span>{_escaped(title.removesuffix('#'))}</span></th>"
        if title
        else "<td></td>"
        for title in head
    )
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in rows)
    return (
        f'<div class=wide tabindex=0><table class="{kind}"><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def _row_head(text: str) -> str:
    return f"<th scope=row>{_escaped(text)}</th>"


def _number(text: str) -> str:
    return f"<td class=n>{text}</td>"


def _brief(value: Any) -> str:
    """Return JSON values of a cell in one line."""
    if isinstance(value, dict):
        if "$map" in value:
            return "{" + ", ".join(f"{name}: {_brief(each)}" for name, each in value["$map"]) + "}"
        if "$media" in value:
            return f"{value['$media'].get('kind')} {value['$media'].get('name', '')}".strip()
        if "$array" in value:
            return f"array {' × '.join(map(str, value['$array']))}, {value['min']} to {value['max']}"
        if "$bytes" in value:
            return f"{value['size']:,} bytes"
        return str(next(iter(value.values()))) + ("…" if "$text" in value else "")
    if isinstance(value, list):
        return "[" + ", ".join(map(_brief, value)) + "]"
    return as_text(value) if value is not None else "null"  # type: ignore[return-value]


def _medium(value: pa.Scalar, feature: Any, rows: Dataset, budget: list[int]) -> str:
    kind = str(getattr(feature, "_type", "")).lower()
    try:
        content = Content(value, rows._media_paths())
        note = f"{kind} {content.name}, {content.size:,} bytes".replace(" ,", ",")
        if kind in ("image", "pdf"):
            data, mime = picture(content, THUMBNAIL) if kind == "image" else first_page(content, THUMBNAIL)
            shown = f'<img alt="{_escaped(note)}" src="{_data(mime, data)}">'
        elif kind == "audio" and content.size <= _MOST_SOUND_BYTES and content.type.startswith("audio/"):
            source = _data(content.type, content.read(0, content.size))
            shown = f'<audio controls preload="none" aria-label="{_escaped(note)}" src="{source}"></audio>'
        else:
            return _escaped(note)
    except (DatasetsCoreError, OSError) as error:
        return f"<span class=failure>{_escaped(str(error))}</span>"
    budget[0] -= len(shown)
    return shown if budget[0] > 0 else _escaped(note)


def _data(mime: str, data: bytes) -> str:
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"


def _drawn(drawn: Picture) -> str:
    if drawn.kind == "none" or not drawn.counts:
        return "<div class=chart></div>"
    most = max(1, *drawn.counts)
    if drawn.kind == "bars":
        shown = list(zip(drawn.values, drawn.counts, strict=True))
        lines = "".join(
            f"<li><span class=fill>{_meter(count / most)}</span><span>{_escaped(as_text(value) or 'empty text')}</span>"
            f"<span class=n>{count:,}</span></li>"
            for value, count in shown[:5]
        )
        more = f"<li class=more>and {len(shown) - 5} more</li>" if len(shown) > 5 else ""
        return f"<ul class=bars>{lines}{more}</ul>"
    step = 240 / len(drawn.counts)
    edges = [_escaped(as_text(edge) or "") for edge in drawn.edges]
    bars = ""
    for place, count in enumerate(drawn.counts):
        if count:
            high = max(1.0, 60 * count / most)
            size = f'x="{place * step + 0.5:.1f}" y="{60 - high:.1f}" width="{max(0.5, step - 1):.1f}" height="{high:.1f}"'
            bars += f"<rect {size}><title>{edges[place]} – {edges[place + 1]}: {count:,}</title></rect>"
    what = "lengths" if drawn.kind == "lengths" else "values"
    highest = drawn.column.lengths.max if what == "lengths" and drawn.column.lengths else drawn.column.max
    label = f"histogram of {what} from {edges[0]} to {_escaped(as_text(highest) or '')}"
    return (
        f'<figure><svg viewBox="0 0 240 60" preserveAspectRatio="none" role="img" aria-label="{label}">{bars}</svg>'
        f"<figcaption><span>{edges[0]}</span><span>{_escaped(as_text(highest) or '')}</span></figcaption></figure>"
    )


def _meter(share: float) -> str:
    bars = f'<rect class=all width="100" height="10"/><rect width="{100 * share:.1f}" height="10"/>'
    return f'<svg class=bar viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">{bars}</svg>'


def _correlation(value: float) -> str:
    if not np.isfinite(value):
        return "<td class=n>–</td>"
    hue = "accent" if value >= 0 else "warm"
    return f'<td class=n style="background:color-mix(in srgb,var(--{hue}) {abs(value) * 70:.0f}%,transparent)">{value:.2f}</td>'


def _escaped(text: str) -> str:
    return html.escape(text).translate(_CONTROLS)


_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "�")


def _code(text: str) -> str:
    return f"<code>{_escaped(text)}</code>"


def _share(part: int, whole: int) -> str:
    return "0%" if not part else f"{part / max(1, whole):.1%}"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}: report</title>
<style>
{style}</style>
</head>
<body>
<main>
{content}
<footer>Written by datasets_core {version}.</footer>
</main>
</body>
</html>
"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
_STYLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "static", "report.css")
