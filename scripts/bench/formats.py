"""Rows in the formats of numpy, Arrow and torch, and torch's loader."""

from collections.abc import Callable
from typing import Any

from by_hand import BUILT, NUMBERS, dict_maker, in_steps, opened, view
from context import Context, Timed, Workload, load

Converted = Callable[[Any], Any]  # of a record batch: the columns by name


def _limited(context: Context, limit: int, columns: list[str] | None) -> Any:
    rows = load(context, "parquet", context.warm)
    rows = rows.select(range(min(len(rows), context.rows(limit)))) if limit else rows
    return rows.select_columns(columns) if columns else rows


def _limited_by_hand(context: Context, limit: int, columns: list[str] | None) -> list[Any]:
    import pyarrow as pa

    table = pa.Table.from_batches(opened(context))
    table = table.slice(0, context.rows(limit)) if limit else table
    return list((table.select(columns) if columns else table).to_batches())


def _first(value: Any) -> int:
    return int(value.as_py() if hasattr(value, "as_py") else value)


def _load_torch(format_name: str) -> None:
    if format_name == "torch":
        import torch  # noqa: F401 - its import is no work of a row


def _batches(format_name: str, limit: int = 0, columns: list[str] | None = None) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        _load_torch(format_name)
        rows = _limited(context, limit, columns).with_format(format_name)
        return lambda: sum(_first(batch["id"][0]) for batch in rows.iter(batch_size=1000))

    return cell


def _batches_by_hand(converted: Converted, limit: int = 0, columns: list[str] | None = None) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        batches = _limited_by_hand(context, limit, columns)
        converted(batches[0].slice(0, 1))  # what is imported late is no work of this row
        return lambda: sum(_first(converted(batch)["id"][0]) for batch in in_steps(batches, 1000))

    return cell


def _arrays(batch: Any) -> dict[str, Any]:
    return {name: view(column) for name, column in zip(batch.schema.names, batch.columns, strict=True)}


def _all_arrays(batch: Any) -> dict[str, Any]:
    import numpy as np

    return {
        name: view(column) if name in NUMBERS else np.array(column.to_pylist())
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }


def _tensors(batch: Any) -> dict[str, Any]:
    """Copies, as memory that is mapped may not be written to."""
    import torch

    return {name: torch.from_numpy(array.copy()) for name, array in _arrays(batch).items()}


def _array_rows(context: Context) -> Timed:
    rows = _limited(context, 100_000, NUMBERS).with_format("numpy")
    return lambda: sum(int(row["id"]) for row in rows)


def _array_rows_by_hand(context: Context) -> Timed:
    batches, made = _limited_by_hand(context, 100_000, NUMBERS), dict_maker(NUMBERS)

    def run() -> int:
        return sum(
            int(row["id"])
            for batch in in_steps(batches, 1000)
            for row in made([list(view(column)) for column in batch.columns])
        )

    return run


def _loader(context: Context) -> Timed:
    import torch

    rows = _limited(context, 100_000, NUMBERS).with_format("torch")
    return lambda: sum(int(batch["id"][0]) for batch in torch.utils.data.DataLoader(rows, batch_size=256))


def _loader_by_hand(context: Context) -> Timed:
    import pyarrow as pa
    import torch

    table = pa.Table.from_batches(_limited_by_hand(context, 100_000, NUMBERS))

    class Rows(torch.utils.data.Dataset[Any]):
        """Batches of neighbours, which is what the loader asks for."""

        def __len__(self) -> int:
            return int(table.num_rows)

        def __getitems__(self, rows: list[int]) -> Any:
            return _tensors(table.slice(rows[0], len(rows)).combine_chunks().to_batches()[0])

    loader = torch.utils.data.DataLoader(Rows(), batch_size=256, collate_fn=lambda batch: batch)
    return lambda: sum(int(batch["id"][0]) for batch in loader)


def _as_arrow(batch: Any) -> Any:
    return batch


ROWS = {
    "batches_numpy": Workload(
        "1 M rows of numbers in batches of arrays",
        _batches("numpy", columns=NUMBERS),
        _batches_by_hand(_arrays, columns=NUMBERS),
        *BUILT,
    ),
    "batches_numpy_all": Workload(
        "200 k rows in batches of arrays, texts too", _batches("numpy", 200_000), _batches_by_hand(_all_arrays, 200_000), *BUILT
    ),
    "batches_arrow": Workload("1 M rows in batches of Arrow", _batches("arrow"), _batches_by_hand(_as_arrow), *BUILT),
    "batches_torch": Workload(
        "1 M rows of numbers in batches of tensors",
        _batches("torch", columns=NUMBERS),
        _batches_by_hand(_tensors, columns=NUMBERS),
        *BUILT,
    ),
    "rows_numpy": Workload("100 k rows of numbers as numpy scalars", _array_rows, _array_rows_by_hand, *BUILT),
    "loader_torch": Workload("torch DataLoader, batches of 256, 100 k rows", _loader, _loader_by_hand, *BUILT),
}
