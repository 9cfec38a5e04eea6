"""`Overview`: HTML tables of datasets and streams in notebooks, with images and players; values are always escaped."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import ConfigurationError, DatasetsCoreError
from datasets_core.errors.base import redact
from datasets_core.features.base import FeatureType, Value
from datasets_core.features.schema import Features
from datasets_core.files import is_url
from datasets_core.store.rows.indices import as_int, names_of
from datasets_core.store.rows.rows import Rows

if TYPE_CHECKING:
    from datasets_core.dataset.insight.describe import Summary
    from datasets_core.stream.iterable import IterableDataset
    from datasets_core.stream.plan import Plan


# Views of a dataset: as an Arrow stream for other tools, as statistics of its columns, as a table in a
# notebook.


class Overview(Rows):
    """Whole datasets: for other Arrow tools, and as HTML in notebooks."""

    # -- for other tools -----------------------------------------------------------------------------------------------

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Export the rows as an Arrow stream, by the PyCapsule protocol: `polars.DataFrame(dataset)`, `pyarrow.table(dataset)`.

        It contains every column as stored, in any format, batch by batch: without a copy if the rows are
        in the order of the table, else gathered block by block in bounded memory.

        Args:
            requested_schema: a capsule of the Arrow schema to cast the rows to.

        >>> import pyarrow as pa
        >>> pa.table(Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0])).to_pydict()
        {'a': [3, 1]}
        """
        return self._stream().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        """Return the schema of that stream."""
        return self._stream_schema().__arrow_c_schema__()

    def _stream(self) -> pa.RecordBatchReader:
        from datasets_core.store.rows.view import stream

        return stream(self._table, self._index, self._stream_schema())

    def _stream_schema(self) -> pa.Schema:
        """Return the schema of the table, with its features, and without the extensions of their fields, which other tools do
        not know.
        """
        described = self._table.schema.with_metadata(self._metadata_of(self._table))
        return pa.schema([field.remove_metadata() for field in described], metadata=described.metadata)

    # -- for people ----------------------------------------------------------------------------------------------------

    def describe(self, columns: str | Sequence[str] | None = None, *, bins: int = 10) -> Summary:
        """Return statistics of the columns: nulls, distinct values, bounds, means, lengths, histograms.

        Computed block by block in bounded memory; images and sounds are not decoded.  Distinct values are counted
        exactly up to 10,000, and estimated beyond.

        Args:
            columns: the columns; default all.
            bins: number of bins of each histogram.

        Raises:
            UnknownColumnError: a column does not exist.
            ConfigurationError: fewer than one bin.

        Example:
            >>> summary = Dataset.from_dict({"a": [1, 2, None, 2]}).describe()
            >>> summary["a"].nulls, summary["a"].distinct, summary["a"].min, summary["a"].max
            (1, 2, 1, 2)
        """
        from datasets_core.dataset.insight.statistics import summarized
        from datasets_core.store.rows.view import joined_blocks  # they import pyarrow.compute: 25 ms

        names = self.column_names if columns is None else names_of(columns)
        self._check_columns(names)
        if as_int("bins", bins) < 1:
            raise ConfigurationError(f"Invalid number of bins {bins}", advice="Give 1 or more")
        features = {name: self._features[name] for name in names}
        table = self._table.select(names)
        return summarized(features, table.schema, lambda: joined_blocks(table, self._index), bins)

    def _repr_mimebundle_(self, **how: Any) -> Any:
        """Return the table of `widget()` for a notebook where anywidget is installed; if None, the first rows are shown."""
        return widget_bundle(self, how)

    def _display_(self) -> Any:
        """Return what marimo shows, which prefers the first rows to the table."""
        return displayed(self)

    def _repr_html_(self) -> str:
        """Return the first rows, for a notebook: images, players and texts, cut to a size that a page can hold."""
        try:
            head = self._raw_head(first_rows(self.num_rows))
            return dataset_html(self.num_rows, self._features, head)
        except Exception as error:  # a notebook shows what a cell gives in any case
            return fallback_html(repr(self), error)

    def _raw_head(self, rows: int) -> pa.Table:
        """Return the first rows as they are stored."""
        if self._index is None:
            return pa.Table.from_batches(self._table.batches(start=0, stop=rows), self._table.schema)
        return self._table.take(self._index[:rows])


def widget_bundle(dataset: Any, how: dict[str, Any]) -> Any:
    """Return what a notebook shows for the widget of a dataset; None without a widget.

    Args:
        dataset: the dataset, or the splits of one.
        how: the arguments of `_repr_mimebundle_`.
    """
    from datasets_core.optional import is_installed  # these are only needed in a notebook

    if not is_installed("anywidget"):
        return None
    try:
        return dataset.widget()._repr_mimebundle_(**how)
    except (DatasetsCoreError, ImportError):  # no rows, or a kernel without widgets: the first rows are shown, or why not
        return None


def displayed(dataset: Any) -> Any:
    """Return the table of `widget()` where anywidget is installed, else an object that shows the first rows.

    Args:
        dataset: a `Dataset` or a `DatasetDict`.
    """
    from datasets_core.optional import is_installed

    if is_installed("anywidget"):
        with contextlib.suppress(DatasetsCoreError, ImportError):  # no rows, or a kernel without widgets
            return dataset.widget()
    return SimpleNamespace(_repr_html_=dataset._repr_html_)


_MOST_ROWS, _MOST_COLUMNS = 10, 30
_MOST_CHARACTERS = 300  # of a text, or of the JSON of a nested value
_MOST_ITEMS = 12  # of a list
_PIXELS = 160  # of a picture's longer side
_SMALL_PICTURE_BYTES = 64 << 10  # shown as it is; larger ones as thumbnails, where Pillow is installed
_MOST_PICTURE_BYTES = 1 << 20  # shown as it is where Pillow is not
_MOST_DECODED_PICTURE_BYTES, _MOST_DECODED_PIXELS = 32 << 20, 50_000_000
_MOST_AUDIO_BYTES = 1 << 20
_MOST_MEDIA_BYTES = 6 << 20  # of all that one table shows
_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}
_SOUNDS = {
    b"fLaC": "audio/flac",
    b"OggS": "audio/ogg",
    b"ID3": "audio/mpeg",
    b"\xff\xfb": "audio/mpeg",
    b"\xff\xf3": "audio/mpeg",
}


def shown(rows: Any) -> str:
    """Return the page of a stream, or of the rows by split.

    Args:
        rows: an `IterableDataset`, or a dict of datasets or streams by split.
    """
    if isinstance(rows, Mapping):
        return group_html((name, each._repr_html_()) for name, each in rows.items())
    try:
        return stream_html(rows)
    except Exception as error:  # as for a dataset
        return fallback_html(repr(rows), error)


def stream_html(stream: IterableDataset) -> str:
    """Return the first rows of a stream as a page; only its columns if a function would run or a file would be fetched."""
    plan = stream._plan
    reason = _why_unread(plan)
    if reason is not None:
        note = f"The first rows are not read for this preview, because {reason}. To read some, call list(stream.take(5))."
        known = plan.features  # `stream.features` may read a file
        if not known:
            return f"<pre>{_escape(repr(stream))}</pre><p>{_escape(note)}</p>"
        return dataset_html(None, known, known.arrow_schema.empty_table(), note)
    tables = list(stream.with_format("arrow").take(_MOST_ROWS).iter(batch_size=_MOST_ROWS))
    head = tables[0] if tables else pa.table({})
    features = plan.known_features() or Features.from_arrow_schema(head.schema)
    num_rows = None if plan.source.dataset_table is None else plan.num_rows  # of files, the footers of all would be read
    return dataset_html(num_rows, features, head)


def _why_unread(plan: Plan) -> str | None:
    """Return why the rows of a plan are not read without a request; None if neither a function nor a request is needed."""
    source = plan.source
    for each in source.streams:
        if (reason := _why_unread(each)) is not None:
            return reason
    if plan.counts_errors:
        return "rows at which a step fails would be counted"
    step = next((step for step in plan.steps if step.runs_function), None)
    if step is not None:
        return f"{step.text} would run"
    if source.streams:
        return None
    files: Iterable[str] | None = source.file_names()
    if (table := source.dataset_table) is not None:
        files = table.files
    elif files is None:
        return "a function generates them"
    for number, file in enumerate(files):
        if is_url(file) or (number == 0 and not os.path.exists(file)):
            return f"{redact(file)} would be fetched"
    return None


def dataset_html(num_rows: int | None, features: Mapping[str, FeatureType], head: pa.Table, note: str | None = None) -> str:
    """Return the first rows of a dataset as a page.

    Args:
        num_rows: number of rows of the dataset; None if it is unknown.
        features: features of its columns.
        head: the first rows, as they are stored.
        note: a sentence below the table.
    """
    from datasets_core.dataset.insight.describe import framed

    names = list(features)[:_MOST_COLUMNS]
    title = _counted(len(features), "column")
    if num_rows is not None:
        title = f"{_counted(num_rows, 'row')}, {title}"
    if note is None and (num_rows is None or head.num_rows < num_rows):
        title += f"; the first {_counted(head.num_rows, 'row')}"
    if len(names) < len(features):
        title += f"; the first {len(names)} columns"
    budget = _Budget()
    heads = "".join(_head(name, features[name]) for name in names)
    rows = []
    for row in range(head.num_rows):
        cells = "".join(_cell(head.column(name)[row], features[name], budget) for name in names)
        rows.append(f'<tr><td class="row">{row}</td>{cells}</tr>')
    table = f'<table><thead><tr><th class="row"></th>{heads}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return framed(title, table if note is None else f'{table}<p class="note">{_escape(note)}</p>')


def group_html(splits: Iterable[tuple[str, str]]) -> str:
    """Return the page of several datasets, each under its name."""
    return "".join(f'<div class="dsc"><h4>{_escape(str(name))}</h4></div>{page}' for name, page in splits)


def fallback_html(text: str, error: BaseException) -> str:
    """Return the text of a dataset whose rows could not be shown, with the reason."""
    reason = str(error) if isinstance(error, DatasetsCoreError) else f"{type(error).__name__}: {error}"
    return f"<pre>{_escape(text)}</pre><p>The rows cannot be shown: {_escape(_cut(reason, 500))}</p>"


def _escape(text: str) -> str:
    import html  # 1 ms that reading does without

    return html.escape(text)


def first_rows(num_rows: int) -> int:
    """Return the number of rows that a page shows."""
    return min(num_rows, _MOST_ROWS)


class _Budget:
    """Remaining bytes for images and sounds of one page."""

    def __init__(self) -> None:
        self._left = _MOST_MEDIA_BYTES

    def takes(self, num_bytes: int) -> bool:
        if num_bytes > self._left:
            return False
        self._left -= num_bytes
        return True


def _counted(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _head(name: str, feature: FeatureType) -> str:
    from datasets_core.dataset.insight.describe import kind_of_feature

    kind = ' class="number"' if isinstance(feature, Value) and _is_number(feature.pa_type) else ""
    return f"<th{kind}>{_escape(_cut(name, 60))}<small>{_escape(_cut(kind_of_feature(feature), 60))}</small></th>"


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind))


def _cell(value: pa.Scalar, feature: FeatureType, budget: _Budget) -> str:
    if not value.is_valid:
        return '<td class="null"><span class="none">None</span></td>'
    from datasets_core.features.types import ClassLabel  # 2 ms that reading does without

    if isinstance(feature, ClassLabel):
        code = value.as_py()
        name = feature.names[code] if 0 <= code < len(feature.names) else str(code)
        return f'<td><span class="label" title="{code}">{_escape(_cut(name, 60))}</span></td>'
    if (
        pa.types.is_struct(value.type)
        and {field.name for field in value.type} == {"bytes", "path"}
        and not isinstance(feature, dict)
    ):
        return f"<td>{_media(value, feature, budget)}</td>"
    plain = bounded(value)
    if isinstance(plain, bool) or not isinstance(plain, (int, float, str)):
        if isinstance(plain, (dict, list)):
            dumped = json.dumps(plain, ensure_ascii=False, default=str)
            dumped = re.sub(r'"(… \([\d,]+ in all\))"', r"\1", dumped)  # a note, no value
            return f"<td><code>{_escape(_cut(dumped, _MOST_CHARACTERS))}</code></td>"
        return f"<td>{_escape(_cut(str(plain), _MOST_CHARACTERS))}</td>"
    if isinstance(plain, str):
        return f"<td>{_escape(_cut(plain, _MOST_CHARACTERS))}</td>"
    return f'<td class="number">{_escape(str(plain))}</td>'


def bounded(value: pa.Scalar, depth: int = 0) -> Any:
    """Return a stored value as plain Python; only the part that is shown is read.

    >>> bounded(pa.scalar([1] * 15))
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, '… (15 in all)']
    """
    kind = value.type
    if isinstance(value, pa.ExtensionScalar):
        return bounded(value.value, depth)
    if not value.is_valid:
        return None
    if pa.types.is_dictionary(kind):
        return bounded(value.value, depth)
    if depth > 8:
        return "…"
    if pa.types.is_struct(kind):
        return {field.name: bounded(value[number], depth + 1) for number, field in enumerate(kind)}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        items = [bounded(value.values[number], depth + 1) for number in range(min(_MOST_ITEMS, len(value.values)))]
        return items if len(items) == len(value.values) else [*items, f"… ({len(value.values):,} in all)"]
    if isinstance(value, (pa.StringScalar, pa.BinaryScalar)):  # and their large and fixed-size kinds
        data = value.as_buffer()
        if isinstance(value, pa.StringScalar) or pa.types.is_large_string(kind):
            text = _start(data, 4 * _MOST_CHARACTERS + 4).decode(errors="replace")
            return (
                _cut(text, _MOST_CHARACTERS)
                if data.size <= len(text.encode(errors="replace"))
                else text[:_MOST_CHARACTERS] + "…"
            )
        return f"{_start(data, 24)!r}{'…' if data.size > 24 else ''} ({_bytes(data.size)})"
    if pa.types.is_timestamp(kind) or pa.types.is_time(kind) or pa.types.is_duration(kind):
        return str(value.cast(pa.string())) if not pa.types.is_duration(kind) else f"{value.value:,} {kind.unit}"
    return value.as_py()


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _bytes(size: int) -> str:
    return f"{size:,} bytes" if size < 10_000 else f"{size / 1000:,.0f} kB" if size < 10_000_000 else f"{size / 1e6:,.0f} MB"


# -- pictures and sounds -----------------------------------------------------------------------------------------------


def _media(value: pa.Scalar, feature: FeatureType, budget: _Budget) -> str:
    path = value["path"]
    name = "" if not path.is_valid else str(bounded(path)).replace("\\", "/").rsplit("/", 1)[-1]
    stored = value["bytes"]
    kind = str(getattr(feature, "_type", ""))
    if not stored.is_valid:  # a path is not opened: it comes from the data
        return f'<span class="note">{_escape(_cut(name, 80)) or "no bytes"}</span>'
    data = stored.as_buffer()
    shown = None
    if kind == "Image":
        shown = _picture(data, budget)
    elif kind == "Audio":
        shown = _player(data, budget)
    note = f'<span class="note">{_escape(_cut(name, 80))} {kind.lower()} of {_bytes(data.size)}</span>'
    return note if shown is None else shown


def _picture(data: pa.Buffer, budget: _Budget) -> str | None:
    """Return the picture if it is small enough and its type cannot contain code that a browser runs."""
    mime = _sniffed(data, _PICTURES, b"WEBP", "image/webp")
    if mime is None or data.size > _SMALL_PICTURE_BYTES:
        small = _thumbnail(data)
        if small is not None:
            return _image_tag("image/png", small, budget)
    if mime is None or data.size > _MOST_PICTURE_BYTES:
        return None
    return _image_tag(mime, data.to_pybytes(), budget)


def _base64(data: bytes) -> str:
    import base64

    return base64.b64encode(data).decode()


def _image_tag(mime: str, data: bytes, budget: _Budget) -> str | None:
    if not budget.takes(len(data)):
        return None
    return f'<img alt="" src="data:{mime};base64,{_base64(data)}">'


def _thumbnail(data: pa.Buffer) -> bytes | None:
    from datasets_core.features.media.types import PROGRAM_FORMATS

    if data.size > _MOST_DECODED_PICTURE_BYTES:
        return None
    try:
        from PIL import Image
    except ImportError:
        return None
    try:
        with Image.open(io.BytesIO(data.to_pybytes())) as picture:
            if picture.width * picture.height > _MOST_DECODED_PIXELS or picture.format in PROGRAM_FORMATS:
                return None
            picture.draft("RGB", (2 * _PIXELS, 2 * _PIXELS))
            picture.thumbnail((2 * _PIXELS, 2 * _PIXELS))
            written = io.BytesIO()
            keeps = picture.mode in ("RGB", "RGBA", "L", "LA", "P", "1")
            (picture if keeps else picture.convert("RGB")).save(written, "PNG")
    except Exception:  # whatever a damaged picture makes Pillow raise: it is shown by its size
        return None
    return written.getvalue()


def _player(data: pa.Buffer, budget: _Budget) -> str | None:
    mime = _sniffed(data, _SOUNDS, b"WAVE", "audio/wav")
    if mime is None or data.size > _MOST_AUDIO_BYTES or not budget.takes(data.size):
        return None
    return f'<audio controls preload="none" src="data:{mime};base64,{_base64(data.to_pybytes())}"></audio>'


def _sniffed(data: pa.Buffer, kinds: Mapping[bytes, str], riff: bytes, riff_mime: str) -> str | None:
    """Return the type of a file by its first bytes, among those that may be shown."""
    first = _start(data, 16)
    if first[:4] == b"RIFF" and first[8:12] == riff:
        return riff_mime
    return next((mime for start, mime in kinds.items() if first.startswith(start)), None)


def _start(data: pa.Buffer, most: int) -> bytes:
    start: bytes = data.slice(0, min(most, data.size)).to_pybytes()
    return start
