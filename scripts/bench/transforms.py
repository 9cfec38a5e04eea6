"""Functions over rows, over batches and over arrays: `map` and `filter`."""

from collections.abc import Callable
from typing import Any

from by_hand import BUILT, NUMBERS, compiled_dicts, in_steps, limited, opened, prepare, view
from context import Context, Timed, Workload, load


def length_of(row: dict[str, Any]) -> dict[str, Any]:
    """A column more, of a row."""
    return {"n": len(row["text"]) + row["id"]}


def lengths_of(batch: dict[str, Any]) -> dict[str, Any]:
    """A column more, of lists."""
    return {"n": [len(text) + number for text, number in zip(batch["text"], batch["id"], strict=True)]}


def sums_of(batch: dict[str, Any]) -> dict[str, Any]:
    """A column more, of arrays."""
    return {"z": batch["x"] * 2 + batch["y"]}


def is_third(count: int) -> bool:
    """A third of the rows, by a value."""
    return count % 3 == 0


def is_long_third(row: dict[str, Any]) -> bool:
    """Fewer of them, by a row."""
    return row["count"] % 3 == 0 and len(row["text"]) > 20


def are_thirds(batch: dict[str, Any]) -> list[bool]:
    """A third of the rows, by a list."""
    return [count % 3 == 0 for count in batch["count"]]


def _map(function: Callable[..., Any], limit: int = 0, anew: bool = True, **options: Any) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = load(context, "parquet", context.warm)
        if limit:
            rows = rows.select(range(min(len(rows), context.rows(limit))))
        if function is sums_of:
            rows = rows.select_columns(NUMBERS).with_format("numpy")
        name = "z" if function is sums_of else "n"
        again = {"load_from_cache_file": False} if anew else {}
        return lambda: round(float(rows.map(function, **options, **again)[5][name]), 6)

    return cell


def _map_by_hand(function: Callable[..., Any], limit: int = 0) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        import numpy as np
        import pyarrow as pa

        columns = NUMBERS if function is sums_of else None
        batches = list(limited(context, limit, columns))
        pa.array([0])  # the first one imports pandas, which is no work of this row
        path = str(context.scratch / "mapped.arrow")

        def made(batch: Any) -> Any:
            if function is length_of:
                return "n", pa.array([row["n"] for row in map(function, compiled_dicts(batch))])
            parts = list(in_steps([batch], 1000))  # what the function gets of a library
            if function is sums_of:
                return "z", pa.array(
                    np.concatenate([function({"x": view(part["x"]), "y": view(part["y"])})["z"] for part in parts])
                )
            lists = [function({"text": part["text"].to_pylist(), "id": part["id"].to_pylist()})["n"] for part in parts]
            return "n", pa.array([value for values in lists for value in values])

        def run() -> float:
            writer = None
            with pa.OSFile(path, "wb") as out:
                for batch in batches:
                    longer = batch.append_column(*made(batch))
                    if writer is None:
                        writer = pa.ipc.new_file(out, longer.schema)
                    writer.write_batch(longer)
                assert writer is not None
                writer.close()
            found = pa.ipc.open_file(pa.memory_map(path)).get_batch(0)
            return round(float(found.column(found.num_columns - 1)[5].as_py()), 6)

        return run

    return cell


def _prepare_map(context: Context) -> None:
    prepare("parquet")(context)
    if context.module:
        load(context, "parquet", context.warm).map(lengths_of, batched=True)


def _cached_by_hand(context: Context) -> Timed:
    def run() -> float:
        row = opened(context)[0].slice(5, 1).to_pylist()[0]
        return round(float(len(row["text"]) + row["id"]), 6)

    return run


def _filter(function: Callable[..., Any], limit: int = 0, **options: Any) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = load(context, "parquet", context.warm)
        if limit:
            rows = rows.select(range(min(len(rows), context.rows(limit))))
        return lambda: len(rows.filter(function, load_from_cache_file=False, **options))

    return cell


def _filter_by_hand(function: Callable[..., Any], limit: int = 0) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        batches = list(limited(context, limit))

        def kept(batch: Any) -> list[int]:
            if function is is_third:
                return [i for i, count in enumerate(batch["count"].to_pylist()) if function(count)]
            if function is is_long_third:
                return [i for i, row in enumerate(compiled_dicts(batch)) if function(row)]
            parts = in_steps([batch], 1000)
            kept = [keeps for part in parts for keeps in function({"count": part["count"].to_pylist()})]
            return [i for i, keeps in enumerate(kept) if keeps]

        return lambda: sum(len(kept(batch)) for batch in batches)

    return cell


ROWS = {
    "map_row": Workload(
        "map of a row function, 100 k rows", _map(length_of, 100_000), _map_by_hand(length_of, 100_000), *BUILT
    ),
    "map_batched": Workload(
        "map of a batched function over lists, 1 M rows", _map(lengths_of, batched=True), _map_by_hand(lengths_of), *BUILT
    ),
    "map_batched_numpy": Workload(
        "map of a batched function over arrays, 1 M rows", _map(sums_of, batched=True), _map_by_hand(sums_of), *BUILT
    ),
    "map_row_np2": Workload(
        "map of a row function, num_proc=2", _map(length_of, 100_000, num_proc=2), _map_by_hand(length_of, 100_000), *BUILT
    ),
    "map_cached": Workload(
        "map that was done before", _map(lengths_of, anew=False, batched=True), _cached_by_hand, ("parquet",), _prepare_map
    ),
    "filter_row": Workload(
        "filter by a column, 300 k rows",
        _filter(is_third, 300_000, input_columns="count"),
        _filter_by_hand(is_third, 300_000),
        *BUILT,
    ),
    "filter_row_dict": Workload(
        "filter by rows, 100 k rows", _filter(is_long_third, 100_000), _filter_by_hand(is_long_third, 100_000), *BUILT
    ),
    "filter_batched": Workload(
        "filter of a batched function, 1 M rows", _filter(are_thirds, batched=True), _filter_by_hand(are_thirds), *BUILT
    ),
}
