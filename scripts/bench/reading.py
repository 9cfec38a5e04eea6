"""Rows as Python values: one after the other, by number, in batches, as columns."""

import random
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import accumulate, islice
from typing import Any

from by_hand import BUILT, dict_maker, in_steps, opened, prepare, write
from context import Context, Timed, Workload, load


def _order(context: Context) -> Any:
    """The rows in the order that a library shuffles them into with this seed."""
    import numpy as np

    return np.random.default_rng(5).permutation(sum(batch.num_rows for batch in opened(context)))


def _rows(context: Context, is_shuffled: bool) -> Any:
    rows = load(context, "parquet", context.warm)
    return rows.shuffle(seed=5, load_from_cache_file=False) if is_shuffled else rows


# -- one after the other ---------------------------------------------------------------------------------------------------


def _iterate(kind: str, limit: int) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = load(context, kind, context.warm)
        rows = rows.select(range(min(len(rows), context.rows(limit))))
        return lambda: sum(row["id"] for row in rows)

    return cell


def _iterate_by_hand(limit: int) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        batches, wanted = opened(context), context.rows(limit)
        made = dict_maker(batches[0].schema.names)

        def run() -> int:
            total, left = 0, wanted
            for batch in in_steps(batches, 1000):
                for row in made([column.to_pylist() for column in batch.slice(0, left).columns]):
                    total += row["id"]
                left -= min(left, batch.num_rows)
                if not left:
                    break
            return total

        return run

    return cell


def _iterate_shuffled(context: Context) -> Timed:
    rows, count = _rows(context, True), context.rows(100_000)
    return lambda: sum(row["id"] for row in islice(rows, count))


def _iterate_shuffled_by_hand(context: Context) -> Timed:
    row, order, count = _row_reader(opened(context)), _order(context), context.rows(100_000)
    return lambda: sum(row(i)["id"] for i in order[:count].tolist())


# -- by number -------------------------------------------------------------------------------------------------------------


def _value_reader(column: Any) -> Callable[[int], Any]:
    """Reads one value of a column without nulls from its buffers."""
    offset, buffers = column.offset, column.buffers()
    code: Any = {"int64": "q", "int32": "i", "double": "d", "float": "f"}.get(str(column.type))
    if code is not None:
        return memoryview(buffers[1]).cast("B").cast(code)[offset:].__getitem__
    if str(column.type) == "bool":
        bits = memoryview(buffers[1]).cast("B")
        return lambda i: bits[(i + offset) >> 3] >> ((i + offset) & 7) & 1 == 1
    ends, text = memoryview(buffers[1]).cast("B").cast("i")[offset:], memoryview(buffers[2])
    return lambda i: str(text[ends[i] : ends[i + 1]], "utf8")


def _row_reader(batches: list[Any]) -> Callable[[int], dict[str, Any]]:
    names = batches[0].schema.names
    values = [f"v{index}" for index in range(len(names))]
    body = ", ".join(f"{name!r}: {value}(i)" for name, value in zip(names, values, strict=True))
    made = eval(f"lambda {', '.join(values)}: lambda i: {{{body}}}")
    readers = [made(*map(_value_reader, batch.columns)) for batch in batches]
    starts = [0, *accumulate(batch.num_rows for batch in batches)][:-1]

    def row(i: int) -> dict[str, Any]:
        k = bisect_right(starts, i) - 1
        found: dict[str, Any] = readers[k](i - starts[k])
        return found

    return row


def _positions(rows: int, count: int) -> list[int]:
    chooser = random.Random(5)
    return [chooser.randrange(rows) for _ in range(count)]


def _single_rows(is_shuffled: bool) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = _rows(context, is_shuffled)
        wanted = _positions(len(rows), context.rows(50_000))
        return lambda: sum(rows[i]["id"] for i in wanted)

    return cell


def _single_rows_by_hand(is_shuffled: bool) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        row, order = _row_reader(opened(context)), memoryview(_order(context))
        wanted = _positions(len(order), context.rows(50_000))
        if is_shuffled:
            return lambda: sum(row(order[i])["id"] for i in wanted)
        return lambda: sum(row(i)["id"] for i in wanted)

    return cell


def _groups(rows: int, count: int) -> list[list[int]]:
    wanted = _positions(rows, count)
    return [wanted[i : i + 100] for i in range(0, len(wanted), 100)]


def _random_batches(is_shuffled: bool) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = _rows(context, is_shuffled)
        groups = _groups(len(rows), context.rows(100_000))
        return lambda: sum(sum(rows[group]["id"]) for group in groups)

    return cell


def _random_batches_by_hand(is_shuffled: bool) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        batches = opened(context)
        row, order, names = _row_reader(batches), memoryview(_order(context)), batches[0].schema.names
        groups = _groups(len(order), context.rows(100_000))

        def run() -> int:
            total = 0
            for group in groups:
                found = [row(order[i]) for i in group] if is_shuffled else list(map(row, group))
                total += sum({name: [one[name] for one in found] for name in names}["id"])
            return total

        return run

    return cell


# -- neighbours, and columns -----------------------------------------------------------------------------------------------


def _ranges(context: Context) -> Timed:
    rows = load(context, "parquet", context.warm)
    return lambda: sum(sum(rows[i : i + 100]["id"]) for i in range(0, len(rows) - 100, max(100, len(rows) // 1000)))


def _ranges_by_hand(context: Context) -> Timed:
    import pyarrow as pa

    table = pa.Table.from_batches(opened(context))
    step = max(100, table.num_rows // 1000)
    return lambda: sum(sum(table.slice(i, 100).to_pydict()["id"]) for i in range(0, table.num_rows - 100, step))


def _lists(context: Context) -> Timed:
    rows = load(context, "parquet", context.warm)
    return lambda: sum(batch["id"][0] + len(batch["text"]) for batch in rows.iter(batch_size=1000))


def _lists_by_hand(context: Context) -> Timed:
    batches = opened(context)

    def run() -> int:
        total = 0
        for batch in in_steps(batches, 1000):
            columns = {name: values.to_pylist() for name, values in zip(batch.schema.names, batch.columns, strict=True)}
            total += columns["id"][0] + len(columns["text"])
        return total

    return run


def _column(context: Context) -> Timed:
    rows = load(context, "parquet", context.warm)
    return lambda: len(rows["text"][:])


def _column_by_hand(context: Context) -> Timed:
    import pyarrow as pa

    table = pa.Table.from_batches(opened(context))
    return lambda: len(table["text"].to_pylist())


# -- large values ----------------------------------------------------------------------------------------------------------


def large_rows(n: int) -> Iterator[dict[str, Any]]:
    """Rows of 100 KB each."""
    block = random.Random(7).randbytes(200_000)
    for i in range(n):
        yield {"id": i, "data": block[i % 99_991 :][:100_000]}


def _large(context: Context) -> Any:
    return context.library.Dataset.from_generator(
        large_rows, gen_kwargs={"n": context.rows(4_000)}, cache_dir=str(context.warm)
    )


def _prepare_large(context: Context) -> None:
    import pyarrow as pa

    if context.module:
        _large(context)
        return
    rows = large_rows(context.rows(4_000))
    steps = iter(lambda: list(islice(rows, 64)), [])
    write((pa.RecordBatch.from_pylist(step) for step in steps), context.warm / "0.arrow")


def _iterate_large(context: Context) -> Timed:
    rows = _large(context)
    return lambda: sum(len(row["data"]) for row in rows)


def _iterate_large_by_hand(context: Context) -> Timed:
    batches = opened(context)
    made = dict_maker(["id", "data"])

    def run() -> int:
        return sum(len(row["data"]) for batch in batches for row in made([column.to_pylist() for column in batch.columns]))

    return run


ROWS = {
    "rows": Workload("200 k rows as dicts", _iterate("parquet", 200_000), _iterate_by_hand(200_000), *BUILT),
    "rows_nested": Workload(
        "100 k nested rows as dicts", _iterate("nested", 100_000), _iterate_by_hand(100_000), ("nested",), prepare("nested")
    ),
    "rows_shuffled": Workload("100 k rows of 1 M shuffled ones", _iterate_shuffled, _iterate_shuffled_by_hand, *BUILT),
    "rows_large": Workload("4 k rows of 100 KB", _iterate_large, _iterate_large_by_hand, (), _prepare_large),
    "row": Workload("50 k times ds[i]", _single_rows(False), _single_rows_by_hand(False), *BUILT),
    "row_shuffled": Workload("50 k times ds[i], shuffled", _single_rows(True), _single_rows_by_hand(True), *BUILT),
    "batch": Workload("1 k batches of 100 random rows", _random_batches(False), _random_batches_by_hand(False), *BUILT),
    "batch_shuffled": Workload(
        "1 k batches of 100 random rows, shuffled", _random_batches(True), _random_batches_by_hand(True), *BUILT
    ),
    "slice": Workload("1 k slices of 100 rows", _ranges, _ranges_by_hand, *BUILT),
    "batches": Workload("1 M rows in batches of lists", _lists, _lists_by_hand, *BUILT),
    "column": Workload("ds['text'][:], 1 M rows", _column, _column_by_hand, *BUILT),
}
