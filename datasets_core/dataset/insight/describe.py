"""`Summary`: printable result of `describe`: statistics of each column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from html import escape
from typing import Any

from datasets_core.errors import UnknownColumnError
from datasets_core.features.base import Feature, FeatureType, LargeList, List, Value
from datasets_core.features.types import ClassLabel

# The HTML frame of notebook views, and a short name for the type of a column.


# Colours of the page itself, made fainter: so a table is legible on light and on dark.
_STYLE = """<style>
.dsc{font:13px/1.45 system-ui,sans-serif;max-width:100%;overflow-x:auto;color:inherit}
.dsc .about{opacity:.75;margin:4px 2px 8px}
.dsc table{border-collapse:collapse;border:0;margin:0;font-size:13px}
.dsc th,.dsc td{text-align:left!important;vertical-align:top;padding:6px 12px;border:0;
border-bottom:1px solid rgba(128,128,128,.25);background:none;max-width:28em;
overflow-wrap:break-word;font-weight:400;color:inherit}
.dsc thead th{font-weight:600;border-bottom:2px solid rgba(128,128,128,.5);white-space:nowrap}
.dsc thead small{display:block;font-weight:400;opacity:.6;white-space:normal}
.dsc tbody tr:hover{background:rgba(128,128,128,.09)}
.dsc td.number,.dsc .label{white-space:nowrap}
.dsc td.number,.dsc th.number{text-align:right!important;font-variant-numeric:tabular-nums}
.dsc td.null{text-align:center!important}
.dsc .row{opacity:.5;text-align:right!important}
.dsc .none,.dsc .note{opacity:.55;font-style:italic}
.dsc code{font:12px/1.4 ui-monospace,monospace;background:none;color:inherit;padding:0;white-space:pre-wrap}
.dsc .label{display:inline-block;padding:0 8px;border-radius:9px;background:rgba(64,128,255,.18)}
.dsc img{display:block;max-width:160px;max-height:160px;border-radius:4px;margin:0}
.dsc audio{display:block;width:230px;height:36px}
.dsc .bars{display:inline-flex;align-items:flex-end;height:24px;gap:1px}
.dsc .bars i{width:9px;background:rgb(70,130,235)}
.dsc h4{margin:14px 2px 2px;font-size:14px}
</style>"""


_CONTROLS = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)])  # they mean nothing in a page, and much to a terminal


def framed(title: str, inner: str) -> str:
    """Return markup in the frame of all views; the title is plain text, and is escaped."""
    return f'{_STYLE}<div class="dsc"><div class="about">{escape(title)}</div>{inner}</div>'.translate(_CONTROLS)


def kind_of_feature(feature: FeatureType) -> str:
    """Return a short name for a feature.

    >>> kind_of_feature(List(Value("int8"))), kind_of_feature({"a": Value("int8")})
    ('list of int8', 'dict of 1')
    """
    if isinstance(feature, dict):
        return f"dict of {len(feature)}"
    if isinstance(feature, Value):
        return feature.dtype
    if isinstance(feature, ClassLabel):
        return f"label of {feature.num_classes}"
    if isinstance(feature, (List, LargeList)):
        return f"list of {kind_of_feature(feature.feature)}"
    assert isinstance(feature, Feature)
    shape = getattr(feature, "shape", None)
    return (
        feature._type if shape is None else f"{feature._type} {'×'.join('?' if size is None else str(size) for size in shape)}"
    )


_BARS = " ▁▂▃▄▅▆▇█"
_MOST_SHOWN, _MOST_CHARACTERS = 3, 16  # of the frequent values, and of each


@dataclass(frozen=True, slots=True)
class Lengths:
    """Lengths of the values of a column.

    Args:
        unit: "characters", "bytes" or "items".
        min, mean, max: over the values that are not null.
        histogram: histogram of the lengths; `describe` leaves it out.
    """

    unit: str
    min: int
    mean: float
    max: int
    histogram: Histogram | None = None


@dataclass(frozen=True, slots=True)
class Histogram:
    """Distribution of a column: `counts[i]` values in `[edges[i], edges[i + 1])`, the last interval closed."""

    edges: tuple[Any, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """Statistics of one column; None if not applicable.

    Args:
        name: name of the column, or `column.field` for a field in it.
        kind: a short name of its feature.
        nulls: number of nulls.
        nans: number of NaNs.
        distinct: number of distinct values, without nulls and NaNs.
        is_distinct_exact: True if counted, False if estimated.
        min, max: the lowest and the highest number or time.
        mean, std: mean and standard deviation of the numbers; the deviation is that of a sample.
        lengths: lengths of texts, bytes, lists and files.
        histogram: histogram of numbers and times that are finite.
        frequencies: number of occurrences of each text, label or bool, the most frequent first.
    """

    name: str
    kind: str
    nulls: int
    nans: int | None = None
    distinct: int | None = None
    is_distinct_exact: bool = True
    min: Any = None
    max: Any = None
    mean: float | None = None
    std: float | None = None
    lengths: Lengths | None = None
    histogram: Histogram | None = None
    frequencies: tuple[tuple[Any, int], ...] | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """Statistics of a dataset, column by column.

    Args:
        num_rows: number of rows of the dataset.
        columns: statistics of each column, and of each field of a column of dicts.

    >>> summary = Summary(3, (ColumnSummary("a", "int8", nulls=1, distinct=2, min=1, max=4, mean=2.5),))
    >>> print(summary)
    3 rows
    column  kind  nulls  distinct  min  mean  max  values
    a       int8      1         2    1   2.5    4
    >>> summary["a"].max
    4
    """

    num_rows: int
    columns: tuple[ColumnSummary, ...]

    def __getitem__(self, name: str) -> ColumnSummary:
        """Return the statistics of a column by its name.

        Raises:
            UnknownColumnError: the column does not exist.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise UnknownColumnError(name, known=[column.name for column in self.columns])

    def __iter__(self) -> Iterator[ColumnSummary]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics as plain dicts and lists."""
        columns = {column.name: asdict(column) for column in self.columns}
        return {"num_rows": self.num_rows, "columns": columns}

    def __str__(self) -> str:
        title = f"{self.num_rows:,} row{'' if self.num_rows == 1 else 's'}"
        rows = [list(_HEAD), *(_cells(column) for column in self.columns)]
        widths = [max(len(row[number]) for row in rows) for number in range(len(_HEAD))]
        lines = []
        for row in rows:
            sized = enumerate(zip(row, widths, strict=True))
            cells = [cell.rjust(width) if i in _NUMBERS else cell.ljust(width) for i, (cell, width) in sized]
            lines.append("  ".join(cells).rstrip())
        return "\n".join([title, *lines])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        head = "".join(f"<th{_class(number)}>{escape(cell)}</th>" for number, cell in enumerate(_HEAD))
        body = "".join(f"<tr>{_html_cells(column)}</tr>" for column in self.columns)
        title = f"{self.num_rows:,} row{'' if self.num_rows == 1 else 's'}"
        return framed(title, f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")


_UNITS = {"characters": "chars"}
_NUMBERS = range(2, 7)  # the columns of numbers
_HEAD = ("column", "kind", "nulls", "distinct", "min", "mean", "max", "values")


def _cells(column: ColumnSummary) -> list[str]:
    """Return the cells of a column's line, with lengths for columns without numbers."""
    distinct = "" if column.distinct is None else f"{'' if column.is_distinct_exact else '~'}{column.distinct:,}"
    low, mean, high = column.min, column.mean, column.max
    bounds = [_text(low), _text(mean), _text(high)]
    if column.lengths is not None:
        unit = _UNITS.get(column.lengths.unit, column.lengths.unit)
        bounds = [f"{_text(length)} {unit}" for length in (column.lengths.min, column.lengths.mean, column.lengths.max)]
    values = _spread(column.histogram.counts) if column.histogram is not None else _frequent(column.frequencies)
    return [
        _cut(column.name, 40),
        _cut(column.kind, 24),
        _nulls(column),
        distinct,
        *bounds,
        values.strip(),
    ]


def _nulls(column: ColumnSummary) -> str:
    return f"{column.nulls:,}" + (f" + {column.nans:,} NaN" if column.nans else "")


def _spread(counts: Sequence[int]) -> str:
    most = max(counts, default=0)
    return "".join(_BARS[-(-count * (len(_BARS) - 1) // most)] if most else " " for count in counts)


def _frequent(frequencies: tuple[tuple[Any, int], ...] | None) -> str:
    if not frequencies or (len(frequencies) > _MOST_SHOWN and frequencies[0][1] == 1):
        return ""
    shown = [f"{_cut(_text(value), _MOST_CHARACTERS)} ({times:,})" for value, times in frequencies[:_MOST_SHOWN]]
    return ", ".join(shown) + (", …" if len(frequencies) > _MOST_SHOWN else "")


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


def _cut(text: str, most: int) -> str:
    if not text.isprintable():  # lines become one, and what a terminal would obey is written out
        text = "".join(each if each.isprintable() else ascii(each)[1:-1] for each in " ".join(text.split()))
    return text if len(text) <= most else text[: most - 1] + "…"


def _html_cells(column: ColumnSummary) -> str:
    *cells, values = _cells(column)
    if column.histogram is not None:
        most = max(column.histogram.counts, default=0) or 1
        edges = column.histogram.edges
        bars = "".join(
            f'<i style="height:{max(1, round(24 * count / most)) if count else 0}px" '
            f'title="{escape(_text(edges[i]), quote=True)} to {escape(_text(edges[i + 1]), quote=True)}: {count:,}"></i>'
            for i, count in enumerate(column.histogram.counts)
        )
        drawn = f'<span class="bars">{bars}</span>'
    else:
        drawn = escape(values)
    first, *others = cells
    shown = "".join(f"<td{_class(number)}>{escape(cell)}</td>" for number, cell in enumerate(others, 1))
    return f"<th>{escape(first)}</th>{shown}<td>{drawn}</td>"


def _class(number: int) -> str:
    return ' class="number"' if number in _NUMBERS else ""
