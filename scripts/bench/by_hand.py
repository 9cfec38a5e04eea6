"""Files read and written by hand over pyarrow: readers, an Arrow file with sha256 over what was written, rows as dicts."""

import glob
import hashlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from context import Context, Timed, load


def read_batches(kind: str, path: str) -> Iterator[Any]:
    """A data file as record batches."""
    import pyarrow as pa
    import pyarrow.csv as pacsv
    import pyarrow.json as pajson
    import pyarrow.parquet as pq

    if kind in {"csv", "big"}:
        yield from pacsv.open_csv(path, read_options=pacsv.ReadOptions(block_size=1 << 20))
    elif kind == "parquet":
        yield from pq.ParquetFile(path, memory_map=True, pre_buffer=False).iter_batches(65_536)
    elif kind == "text":
        yield from _text_batches(path)
    else:
        with open(path, "rb") as lines:
            while block := lines.read(8 << 20):
                whole = pa.BufferReader(block + lines.readline())
                yield from pajson.read_json(whole, pajson.ReadOptions(block_size=1 << 20)).to_batches()


def _text_batches(path: str) -> Iterator[Any]:
    import numpy as np
    import pyarrow as pa

    with open(path, "rb") as lines:
        while block := lines.read(4 << 20):
            block += lines.readline()
            ends = np.flatnonzero(np.frombuffer(block, np.uint8) == 10)
            offsets = np.zeros(len(ends) + 1, np.int32)
            offsets[1:] = ends - np.arange(len(ends))
            text = pa.StringArray.from_buffers(len(ends), pa.py_buffer(offsets), pa.py_buffer(block.translate(None, b"\n")))
            text.validate(full=True)
            yield pa.record_batch([text], ["text"])


def write(batches: Iterator[Any], path: Path) -> int:
    """Record batches as one Arrow file, which is hashed; how many rows there were."""
    import pyarrow as pa

    rows, writer = 0, None
    with pa.OSFile(str(path), "wb") as out:
        for batch in batches:
            if writer is None:
                writer = pa.ipc.new_file(out, batch.schema)
            writer.write_batch(batch)
            rows += batch.num_rows
        if writer is not None:
            writer.close()
    with open(path, "rb") as written:
        hashlib.file_digest(written, "sha256")
    return rows


def prepare(kind: str) -> Callable[[Context], Any]:
    """Files of one kind built once, before they are read."""

    def built(context: Context) -> None:
        if context.module:
            load(context, kind, context.warm)
        else:
            for part, path in enumerate(context.files(kind)):
                write(read_batches(kind, path), context.warm / f"{part}.arrow")

    return built


def opened(context: Context) -> list[Any]:
    """The record batches that `prepare` wrote."""
    import pyarrow as pa

    batches = []
    for path in sorted(glob.glob(str(context.warm / "*.arrow"))):
        shard = pa.ipc.open_file(pa.memory_map(path))
        batches += [shard.get_batch(i) for i in range(shard.num_record_batches)]
    return batches


def first_row(context: Context) -> Timed:
    """The first row of what was built."""
    return lambda: opened(context)[0].slice(0, 1).to_pylist()[0]["id"]


def limited(context: Context, limit: int, columns: list[str] | None = None) -> Iterator[Any]:
    """The built rows in batches of 10,000, up to a number."""
    left = context.rows(limit) if limit else 1 << 62
    for whole in opened(context):
        for start in range(0, whole.num_rows, 10_000):
            if left <= 0:
                return
            batch = whole.slice(start, min(10_000, left))
            left -= batch.num_rows
            yield batch if columns is None else batch.select(columns)


def dict_maker(names: list[str]) -> Callable[[list[Any]], list[dict[str, Any]]]:
    """Columns to rows by one compiled `{'a': a, 'b': b}`, the cheapest way to make a dict a row."""
    values = [f"v{index}" for index in range(len(names))]
    body = ", ".join(f"{name!r}: {value}" for name, value in zip(names, values, strict=True))
    made: Callable[[list[Any]], list[dict[str, Any]]] = eval(
        f"lambda columns: [{{{body}}} for {', '.join(values)}, in zip(*columns)]"
    )
    return made


def compiled_dicts(batch: Any) -> list[dict[str, Any]]:
    """A record batch as rows."""
    return dict_maker(batch.schema.names)([column.to_pylist() for column in batch.columns])


def in_steps(batches: list[Any], step: int) -> Iterator[Any]:
    """Record batches of exactly so many rows but for the last one, without a copy inside one batch."""
    import pyarrow as pa

    left: list[Any] = []
    missing = step
    for whole in batches:
        start = 0
        while start < whole.num_rows:
            part = whole.slice(start, missing)
            start += part.num_rows
            missing -= part.num_rows
            left.append(part)
            if not missing:
                yield left[0] if len(left) == 1 else pa.concat_batches(left)
                left, missing = [], step
    if left:
        yield left[0] if len(left) == 1 else pa.concat_batches(left)


NUMBERS = ["id", "count", "x", "y"]  # the columns of numbers
_CODES = {"int64": "q", "int32": "i", "double": "d", "float": "f"}


def view(column: Any) -> Any:
    """A column of numbers as a numpy array of the same memory."""
    import numpy as np

    dtype = np.dtype(_CODES[str(column.type)])
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)


BUILT: tuple[Any, Any] = (("parquet",), prepare("parquet"))
