"""Rows in another order, datasets together, other columns: what needs no function of a user."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from by_hand import BUILT, opened, write
from context import Context, Timed, Workload, load

Act = Callable[[Any, Any], Any]  # of the library and of a dataset


def _acting(act: Act) -> Callable[[Context], Timed]:
    """What the library makes of the built rows, made anew and not taken from its cache."""

    def cell(context: Context) -> Timed:
        library = context.library
        library.disable_caching()
        rows = load(context, "parquet", context.warm)
        len(rows[0])
        return lambda: act(library, rows)

    return cell


def _acting_by_hand(act: Callable[[Any, Path], Any]) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        import pyarrow as pa

        table = pa.Table.from_batches(opened(context))
        pa.array([0])  # the first one imports pandas, which is no work of these rows
        return lambda: act(table, context.scratch / "0.arrow")

    return cell


def _id(table: Any, row: int) -> Any:
    return table.slice(int(row), 1).to_pylist()[0]["id"]


def _permutation(count: int) -> Any:
    import numpy as np

    return np.random.default_rng(3).permutation(count)


def _half(count: int) -> Any:
    import numpy as np

    return np.random.default_rng(5).integers(0, count, count // 2)


def _flattened_by_hand(table: Any, path: Path) -> Any:
    import pyarrow as pa

    taken = table.combine_chunks().take(pa.array(_permutation(table.num_rows)))
    write(taken.to_batches(max_chunksize=65_536), path)
    return _id(taken, 5)


def _sorted_by_hand(*columns: str) -> Callable[[Any, Path], Any]:
    def act(table: Any, path: Path) -> Any:
        import pyarrow.compute as pc

        keys = [(column, "ascending") for column in columns]
        return _id(table, pc.sort_indices(table.select(columns), sort_keys=keys)[0].as_py())

    return act


def _mixed(library: Any, rows: Any) -> Any:
    parts = [rows.shard(3, part, contiguous=True) for part in range(3)]
    return library.interleave_datasets(parts, probabilities=[0.5, 0.3, 0.2], seed=3)[1000]["id"]


def _mixed_by_hand(table: Any, path: Path) -> Any:
    import numpy as np

    sizes = np.array([table.num_rows // 3 + (part < table.num_rows % 3) for part in range(3)])
    draws = np.random.default_rng(3).choice(3, size=1000 * -(-table.num_rows // 1000), p=[0.5, 0.3, 0.2])
    places = [np.flatnonzero(draws == part) for part in range(3)]
    end = min(place[size - 1] for place, size in zip(places, sizes, strict=True) if len(place) >= size)
    index = np.empty(len(draws), np.int64)
    for place, start in zip(places, np.cumsum(sizes) - sizes, strict=True):
        index[place] = start + np.arange(len(place))
    return _id(table, index[: end + 1][1000])


_ORDERS: dict[str, tuple[str, Act, Callable[[Any, Path], Any]]] = {
    "select_list": (
        "select of 500 k random rows, one row",
        lambda library, rows: rows.select(_half(len(rows)))[7]["id"],
        lambda table, path: _id(table, _half(table.num_rows)[7]),
    ),
    "shuffle": (
        "shuffle of 1 M rows, first row",
        lambda library, rows: rows.shuffle(seed=3)[0]["id"],
        lambda table, path: _id(table, _permutation(table.num_rows)[0]),
    ),
    "flatten_indices": (
        "shuffle, flatten_indices of 1 M rows",
        lambda library, rows: rows.shuffle(seed=3).flatten_indices()[5]["id"],
        _flattened_by_hand,
    ),
    "sort": ("sort by a column of ints, 1 M rows", lambda library, rows: rows.sort("count")[0]["id"], _sorted_by_hand("count")),
    "sort_two": (
        "sort by texts and floats, 1 M rows",
        lambda library, rows: rows.sort(["category", "x"])[0]["id"],
        _sorted_by_hand("category", "x"),
    ),
    "train_test_split": (
        "train_test_split, 1 M rows",
        lambda library, rows: rows.train_test_split(test_size=0.1, seed=3)["test"][0]["id"],
        lambda table, path: _id(table, _permutation(table.num_rows)[: table.num_rows // 10][0]),
    ),
    "concatenate": (
        "concatenate_datasets of 8, first row",
        lambda library, rows: library.concatenate_datasets([rows] * 8)[0]["id"],
        lambda table, path: _id(import_module("pyarrow").concat_tables([table] * 8), 0),
    ),
    "interleave": ("interleave_datasets of 3 by probabilities, 1 M rows", _mixed, _mixed_by_hand),
}


def _classes_by_hand(table: Any, path: Path) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    place = table.schema.get_field_index("category")
    names = pa.array(sorted(pc.unique(table["category"]).to_pylist()))
    encoded = table.set_column(place, "category", pc.index_in(table["category"], names).cast(pa.int64()))
    write(iter(encoded.to_batches()), path)
    return int(encoded["category"][5].as_py())


def _cast_by_hand(table: Any, path: Path) -> int:
    import pyarrow as pa

    cast = table.set_column(table.schema.get_field_index("count"), "count", table["count"].cast(pa.int64()))
    write(iter(cast.to_batches()), path)
    return int(cast["count"][5].as_py())


_COLUMNS: dict[str, tuple[str, Act, Callable[[Any, Path], Any]]] = {
    "class_encode": (
        "class_encode_column, 1 M rows",
        lambda library, rows: rows.class_encode_column("category")[5]["category"],
        _classes_by_hand,
    ),
    "unique": (
        "unique of a column of texts, 1 M rows",
        lambda library, rows: len(rows.unique("category")),
        lambda table, path: len(import_module("pyarrow.compute").unique(table["category"])),
    ),
    "cast": (
        "cast of a column, 1 M rows",
        lambda library, rows: rows.cast_column("count", library.Value("int64"))[5]["count"],
        _cast_by_hand,
    ),
}


ROWS = {
    name: Workload(title, _acting(act), _acting_by_hand(by_hand), *BUILT)
    for name, (title, act, by_hand) in {**_ORDERS, **_COLUMNS}.items()
}
