"""`filter`: which rows a function keeps, as an index that is computed by batches, in parts, and kept in a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from datasets_core.engines.engine import Engine
from datasets_core.errors import ArgumentTypeError, MaskLengthError
from datasets_core.features.values import tensor_array
from datasets_core.progress import progress
from datasets_core.results.cached import Place
from datasets_core.rows.lineage import Lineage
from datasets_core.store.shard import DAMAGE
from datasets_core.store.table import Ints
from datasets_core.store.whole_file import FINGERPRINT_KEY, write_whole
from datasets_core.transforms.calling import Caller, Calls
from datasets_core.transforms.inputs import Inputs
from datasets_core.transforms.reads import columns_read
from datasets_core.transforms.row_jobs import Part, Teller, borders, number_of_parts, results

if TYPE_CHECKING:
    from datasets_core.rows.tabled import Tabled

_ROWS = b"datasets_core.rows"
_MOST_BATCHES = 64  # whose coroutines wait together


@dataclass(frozen=True, slots=True)
class FilterPlan:
    """What the user asks `filter` for, as far as it decides about the rows."""

    calls: Calls
    input_columns: tuple[str, ...] | None
    batched: bool
    batch_size: int | None


def chosen_rows(
    dataset: Tabled, plan: FilterPlan, *, num_proc: int | None, engine: str | Engine | None, desc: str | None
) -> Ints:
    """The numbers of the rows that the function keeps, in their order."""
    rows = dataset.num_rows
    count = number_of_parts(num_proc, rows)
    runs = borders(rows, count or 1, (plan.batch_size or max(rows, 1)) if plan.batched else 1)
    stage = desc or "Filter"
    if len(runs) == 1:
        with progress(stage, total=rows, unit="rows") as bar:
            return _chosen(plan, Part(dataset, 0, None if count is None else 0), bar.update)
    parts = []
    for rank, (start, stop) in enumerate(runs):
        part = dataset._selected(range(start, stop))
        part._lineage = Lineage.known("part")
        parts.append(Part(part, start, rank))
    work = partial(_job, plan)
    stage = f"{stage} (num_proc={len(runs)})"
    found = results(work, parts, engine=engine, stage=stage, total=rows, verb=plan.calls.verb)
    return np.concatenate([part.start + kept for part, kept in zip(parts, found, strict=True)])


def _job(plan: FilterPlan, part: Part) -> Ints:
    with Teller(part.tells) as teller:
        return _chosen(plan, part, teller.update)


def _chosen(plan: FilterPlan, part: Part, tell: Callable[[int], object]) -> Ints:
    read = None if plan.batched else columns_read(plan.calls.function)
    inputs = Inputs(part.dataset, plan.input_columns, read, is_only_read=True)
    rows = part.dataset.num_rows
    masks: list[Any] = []

    def keep(mask: Any) -> None:
        masks.append(mask)
        tell(len(mask))

    with Caller(plan.calls, part.rank) as caller:
        if not plan.batched:
            for block in inputs.blocks(0, rows):
                numbers = range(part.start + block.start, part.start + block.start + block.num_rows)
                keep(_truths(caller.on_rows(block.row_arguments(as_records=True), numbers)))
        else:
            blocks = inputs.batches(0, rows, plan.batch_size or max(rows, 1))
            most = _MOST_BATCHES if caller.is_async else 1
            while window := [block for _, block in zip(range(most), blocks, strict=False)]:
                asked = [
                    (block.batch_arguments(), range(part.start + block.start, part.start + block.start + block.num_rows))
                    for block in window
                ]
                given = caller.on_batches(asked) if caller.is_async else [caller.on_batch(*asked[0])]
                for block, mask in zip(window, given, strict=True):
                    keep(mask_of(mask, block.num_rows))
    rows_kept: Ints = np.flatnonzero(np.concatenate(masks)) if masks else np.zeros(0, np.int64)
    return rows_kept


def _truths(found: list[Any]) -> Any:
    """Whether each value is true; None is not."""
    if set(map(type, found)) == {bool}:
        return np.frombuffer(bytes(found), bool)  # a third of the time of `fromiter`
    return np.fromiter(map(_is_true, found), bool, len(found))


def _is_true(value: Any) -> bool:
    return bool(value.as_py() if isinstance(value, pa.Scalar) else value)


def mask_of(found: Any, size: int) -> Any:
    """What a batched function returned, as one boolean for each row.

    >>> mask_of([1, None, True], 3).tolist()
    [True, False, True]

    Raises:
        MaskLengthError: not one for each row.
        ArgumentTypeError: nothing that has one for each row.
    """
    found = tensor_array(found) if type(found).__module__.startswith("torch") else found
    if isinstance(found, (pa.Array, pa.ChunkedArray)):
        found = found.to_pylist()
    elif hasattr(found, "to_list") and not isinstance(found, np.ndarray):  # a series
        found = found.to_list()
    if not hasattr(found, "__len__") or isinstance(found, (str, bytes, dict)):
        raise ArgumentTypeError(
            f"The function that was given to filter() returned a {type(found).__name__} for a batch. "
            "Return a list or an array, with a boolean for each row."
        )
    if len(found) != size:
        raise MaskLengthError(len(found), size=size)
    if isinstance(found, np.ndarray) and found.ndim == 1 and found.dtype.kind in "biuf":
        return found.astype(bool)
    return _truths(list(found))


# -- the file ----------------------------------------------------------------------------------------------------------


def index_path(place: Place, dataset: Tabled) -> str | None:
    """The file of the index that belongs at `place`; None where it stays in memory."""
    if place.file is not None:
        return place.file
    return f"{place.folder}.arrow" if place.folder is not None and dataset._table.files and place.may_be_found else None


def read_index(path: str, place: Place, size: int) -> Ints | None:
    """The index of an earlier run over as many rows; None if there is none."""
    if not place.may_be_found or not os.path.isfile(path):
        return None
    try:
        with pa.memory_map(path) as source:
            reader = pa.ipc.open_file(source)
            known = reader.schema.metadata or {}
            if known.get(FINGERPRINT_KEY) != place.key.encode() or known.get(_ROWS) != str(size).encode():
                return None
            column = reader.get_batch(0).column(0) if reader.num_record_batches else pa.array([], pa.int64())
        rows = np.frombuffer(column.buffers()[1], np.int64, len(column)) if len(column) else np.zeros(0, np.int64)
    except DAMAGE:
        return None  # cut by a full disk or a power failure: computed again
    is_sound = not len(rows) or (rows[0] >= 0 and rows[-1] < size and bool((rows[1:] > rows[:-1]).all()))
    return rows if is_sound else None


def write_index(path: str, place: Place, rows: Ints, size: int) -> None:
    """Keep an index over `size` rows, by a rename.

    Raises:
        DatasetDiskError: the disk is full, read-only or forbidden.
    """
    schema = pa.schema([pa.field("indices", pa.int64())], {FINGERPRINT_KEY: place.key.encode(), _ROWS: str(size).encode()})
    column = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(np.ascontiguousarray(rows))])
    write_whole(path, schema, [pa.RecordBatch.from_arrays([column], schema=schema)])
