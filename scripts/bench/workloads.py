"""The workloads: each row of the table as a function for a library with the API of `datasets`, and one by hand.

A function takes the cell's `Context`, sets up untimed, and returns a callable; only that is timed.  What the callable returns
is compared between the implementations: who differs did not do the same work.
"""

import glob
import hashlib
import os
import random
import shutil
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

Timed = Callable[[], Any]


@dataclass(frozen=True)
class Context:
    """One cell: where its data is, where it may write, and the module it measures ("" for by hand)."""

    data: Path
    scratch: Path
    warm: Path
    scale: float
    module: str

    @property
    def library(self) -> Any:
        """The module under measurement, its names opened: a lazy import is no work of the row that comes first."""
        module = import_module(self.module)
        for name in ("load_dataset", "Dataset", "GeneratorBasedBuilder"):
            getattr(module, name)
        return module

    def files(self, kind: str) -> list[str]:
        """The data files of one kind."""
        return sorted(glob.glob(str(self.data / kind / "*")))

    def rows(self, count: int) -> int:
        """A count at this scale."""
        return max(1000, int(count * self.scale))


@dataclass(frozen=True)
class Workload:
    """One row of the table."""

    title: str
    library: Callable[[Context], Timed]
    by_hand: Callable[[Context], Timed] | None
    data: tuple[str, ...] = ()
    prepare: Callable[[Context], Any] | None = None


FORMATS = {"csv": "csv", "jsonl": "json", "nested": "json", "parquet": "parquet", "text": "text", "small": "json", "big": "csv"}


def _load(context: Context, kind: str, cache: Path, **options: Any) -> Any:
    return context.library.load_dataset(
        FORMATS[kind], data_files=context.files(kind), split="train", cache_dir=str(cache), **options
    )


# -- by hand: the reader, the writer, and sha256 over what was written ---------------------------------------------------


def _batches(kind: str, path: str) -> Iterator[Any]:
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


def _write_by_hand(batches: Iterator[Any], path: Path) -> int:
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


def _build_by_hand(kind: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        def run() -> int:
            if kind == "small":
                return _write_by_hand(_small_batches(context.files(kind)), context.scratch / "0.arrow")
            return sum(
                _write_by_hand(_batches(kind, path), context.scratch / f"{part}.arrow")
                for part, path in enumerate(context.files(kind))
            )

        return run

    return cell


def _small_batches(paths: list[str]) -> Iterator[Any]:
    import pyarrow as pa
    import pyarrow.json as pajson

    parts = []
    for path in paths:
        with open(path, "rb") as lines:
            parts.append(lines.read())
    yield from pajson.read_json(pa.BufferReader(b"".join(parts))).to_batches()


def _build(kind: str, **options: Any) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        context.library  # noqa: B018 - imported untimed; `import` is a row of its own
        return lambda: len(_load(context, kind, context.scratch, **options))

    return cell


# -- rows from Python -----------------------------------------------------------------------------------------------------


def small_rows(n: int) -> Iterator[dict[str, Any]]:
    """Rows of five plain columns."""
    for i in range(n):
        yield {"id": i, "x": i * 0.5, "flag": i % 3 == 0, "cat": f"c{i % 17}", "text": f"this is row number {i}"}


def _features(library: Any) -> Any:
    value = library.Value
    return library.Features(
        {"id": value("int64"), "x": value("float64"), "flag": value("bool"), "cat": value("string"), "text": value("string")}
    )


def _from_generator(typed: bool) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        library, n = context.library, context.rows(300_000)
        features = _features(library) if typed else None
        return lambda: len(
            library.Dataset.from_generator(small_rows, gen_kwargs={"n": n}, features=features, cache_dir=str(context.scratch))
        )

    return cell


def _builder(context: Context) -> Timed:
    library, n = context.library, context.rows(300_000)

    class Rows(library.GeneratorBasedBuilder):  # type: ignore[misc, name-defined]
        VERSION = library.Version("1.0.0")

        def _info(self) -> Any:
            return library.DatasetInfo(features=_features(library))

        def _split_generators(self, dl_manager: Any) -> Any:
            return [library.SplitGenerator(name="train", gen_kwargs={"n": n})]

        def _generate_examples(self, n: int) -> Iterator[tuple[int, dict[str, Any]]]:
            yield from enumerate(small_rows(n))

    def run() -> int:
        builder = Rows(cache_dir=str(context.scratch))
        builder.download_and_prepare()
        return len(builder.as_dataset(split="train"))

    return run


def _generated_by_hand(context: Context) -> Timed:
    import pyarrow as pa

    kinds = {"id": pa.int64(), "x": pa.float64(), "flag": pa.bool_(), "cat": pa.string(), "text": pa.string()}
    schema = pa.schema(kinds)

    def batches() -> Iterator[Any]:
        rows = []
        for row in small_rows(context.rows(300_000)):
            rows.append(row)
            if len(rows) == 10_000:
                yield pa.record_batch([pa.array([row[name] for row in rows], kinds[name]) for name in kinds], schema=schema)
                rows = []
        if rows:
            yield pa.record_batch([pa.array([row[name] for row in rows], kinds[name]) for name in kinds], schema=schema)

    return lambda: _write_by_hand(batches(), context.scratch / "0.arrow")


# -- reading --------------------------------------------------------------------------------------------------------------


def _prepare(kind: str) -> Callable[[Context], Any]:
    def prepare(context: Context) -> None:
        if context.module:
            _load(context, kind, context.warm)
        else:
            for part, path in enumerate(context.files(kind)):
                _write_by_hand(_batches(kind, path), context.warm / f"{part}.arrow")

    return prepare


def _opened(context: Context) -> list[Any]:
    import pyarrow as pa

    batches = []
    for path in sorted(glob.glob(str(context.warm / "*.arrow"))):
        shard = pa.ipc.open_file(pa.memory_map(path))
        batches += [shard.get_batch(i) for i in range(shard.num_record_batches)]
    return batches


def _dicts(batch: Any) -> list[dict[str, Any]]:
    names = batch.schema.names
    return [dict(zip(names, row, strict=True)) for row in zip(*(column.to_pylist() for column in batch.columns), strict=True)]


def _iterate(kind: str, limit: int) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = _load(context, kind, context.warm)
        rows = rows.select(range(min(len(rows), context.rows(limit))))
        return lambda: sum(row["id"] for row in rows)

    return cell


def _iterate_by_hand(limit: int) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        batches, wanted = _opened(context), context.rows(limit)

        def run() -> int:
            total, left = 0, wanted
            for batch in batches:
                for row in _dicts(batch.slice(0, left)):
                    total += row["id"]
                left -= min(left, batch.num_rows)
            return total

        return run

    return cell


def _positions(context: Context, rows: int, count: int) -> list[int]:
    chooser = random.Random(5)
    return [chooser.randrange(rows) for _ in range(count)]


def _single_rows(context: Context) -> Timed:
    rows = _load(context, "parquet", context.warm)
    wanted = _positions(context, len(rows), context.rows(50_000))
    return lambda: sum(rows[i]["id"] for i in wanted)


def _single_rows_by_hand(context: Context) -> Timed:
    batches = _opened(context)
    starts = [0]
    for batch in batches:
        starts.append(starts[-1] + batch.num_rows)
    wanted = _positions(context, starts[-1], context.rows(50_000))

    def run() -> int:
        total = 0
        for i in wanted:
            at = bisect_right(starts, i) - 1
            row = {
                name: column[i - starts[at]].as_py()
                for name, column in zip(batches[at].schema.names, batches[at].columns, strict=True)
            }
            total += row["id"]
        return total

    return run


def _random_batches(context: Context) -> Timed:
    rows = _load(context, "parquet", context.warm)
    wanted = _positions(context, len(rows), context.rows(100_000))
    groups = [wanted[i : i + 100] for i in range(0, len(wanted), 100)]
    return lambda: sum(sum(rows[group]["id"]) for group in groups)


def _random_batches_by_hand(context: Context) -> Timed:
    import pyarrow as pa

    table = pa.Table.from_batches(_opened(context)).combine_chunks()
    wanted = _positions(context, table.num_rows, context.rows(100_000))
    groups = [wanted[i : i + 100] for i in range(0, len(wanted), 100)]
    return lambda: sum(sum(table.take(group).to_pydict()["id"]) for group in groups)


def _ranges(context: Context) -> Timed:
    rows = _load(context, "parquet", context.warm)
    return lambda: sum(sum(rows[i : i + 100]["id"]) for i in range(0, len(rows) - 100, max(100, len(rows) // 1000)))


def _ranges_by_hand(context: Context) -> Timed:
    import pyarrow as pa

    table = pa.Table.from_batches(_opened(context))
    step = max(100, table.num_rows // 1000)
    return lambda: sum(sum(table.slice(i, 100).to_pydict()["id"]) for i in range(0, table.num_rows - 100, step))


def _warm(kind: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        context.library  # noqa: B018
        return lambda: _load(context, kind, context.warm)[0]["id"]

    return cell


def _warm_by_hand(context: Context) -> Timed:
    return lambda: _opened(context)[0].slice(0, 1).to_pylist()[0]["id"]


def _prepare_shards(context: Context) -> None:
    if context.module:
        _load_shards(context, "train")
    else:
        for part, path in enumerate(context.files("shards")):
            _write_by_hand(_batches("parquet", path), context.warm / f"{part:03d}.arrow")


def _load_shards(context: Context, split: str) -> Any:
    return context.library.load_dataset("parquet", data_files=context.files("shards"), split=split, cache_dir=str(context.warm))


def _slice(context: Context) -> Timed:
    context.library  # noqa: B018
    return lambda: _load_shards(context, "train[10%:20%]")[0]["id"]


def _slice_by_hand(context: Context) -> Timed:
    import pyarrow as pa

    def run() -> Any:
        paths = sorted(glob.glob(str(context.warm / "*.arrow")))[10:20]
        opened = [pa.ipc.open_file(pa.memory_map(path)) for path in paths]
        return opened[0].get_batch(0).slice(0, 1).to_pylist()[0]["id"]

    return run


# -- import ---------------------------------------------------------------------------------------------------------------


def _import(context: Context) -> Timed:
    return lambda: bool(context.library)


def _import_by_hand(context: Context) -> Timed:
    return lambda: bool(import_module("numpy") and import_module("pyarrow"))


def _first_use(context: Context) -> Timed:
    return lambda: context.library.Dataset.from_dict({"a": [1, 2]})[1]["a"]


def _first_use_by_hand(context: Context) -> Timed:
    def run() -> Any:
        import_module("numpy")
        pa = import_module("pyarrow")
        values = pa.Array.from_buffers(pa.int64(), 2, [None, pa.py_buffer(array("q", [1, 2]))])
        return pa.RecordBatch.from_arrays([values], ["a"]).to_pylist()[1]["a"]

    return run


# -- functions over rows ---------------------------------------------------------------------------------------------------

_NUMBERS = ["id", "count", "x", "y"]


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
        rows = _load(context, "parquet", context.warm)
        if limit:
            rows = rows.select(range(min(len(rows), context.rows(limit))))
        if function is sums_of:
            rows = rows.select_columns(_NUMBERS).with_format("numpy")
        name = "z" if function is sums_of else "n"
        again = {"load_from_cache_file": False} if anew else {}
        return lambda: round(float(rows.map(function, **options, **again)[5][name]), 6)

    return cell


def _map_by_hand(function: Callable[..., Any], limit: int = 0) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        import pyarrow as pa

        columns = _NUMBERS if function is sums_of else None
        batches = list(_limited(context, limit, columns))
        pa.array([0])  # the first one imports pandas, which is no work of this row
        path = str(context.scratch / "mapped.arrow")

        def made(batch: Any) -> Any:
            if function is length_of:
                return "n", pa.array([row["n"] for row in map(function, _compiled_dicts(batch))])
            if function is lengths_of:
                return "n", pa.array(function({"text": batch["text"].to_pylist(), "id": batch["id"].to_pylist()})["n"])
            return "z", pa.array(function({"x": _array(batch["x"]), "y": _array(batch["y"])})["z"])

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


def _limited(context: Context, limit: int, columns: list[str] | None = None) -> Iterator[Any]:
    """The built rows in batches of 10,000, up to a number."""
    left = context.rows(limit) if limit else 1 << 62
    for whole in _opened(context):
        for start in range(0, whole.num_rows, 10_000):
            if left <= 0:
                return
            batch = whole.slice(start, min(10_000, left))
            left -= batch.num_rows
            yield batch if columns is None else batch.select(columns)


def _compiled_dicts(batch: Any) -> Any:
    names = batch.schema.names
    values = [f"v{index}" for index in range(len(names))]
    body = ", ".join(f"{name!r}: {value}" for name, value in zip(names, values, strict=True))
    return eval(f"lambda columns: [{{{body}}} for {', '.join(values)} in zip(*columns)]")(
        [column.to_pylist() for column in batch.columns]
    )


def _array(column: Any) -> Any:
    import numpy as np

    dtype = np.dtype(column.type.to_pandas_dtype())
    return np.frombuffer(column.buffers()[1], dtype, len(column), column.offset * dtype.itemsize)


def _prepare_map(context: Context) -> None:
    _prepare("parquet")(context)
    if context.module:
        _load(context, "parquet", context.warm).map(lengths_of, batched=True)


def _cached_by_hand(context: Context) -> Timed:
    def run() -> float:
        row = _opened(context)[0].slice(5, 1).to_pylist()[0]
        return round(float(len(row["text"]) + row["id"]), 6)

    return run


def _filter(function: Callable[..., Any], limit: int = 0, **options: Any) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = _load(context, "parquet", context.warm)
        if limit:
            rows = rows.select(range(min(len(rows), context.rows(limit))))
        return lambda: len(rows.filter(function, load_from_cache_file=False, **options))

    return cell


def _filter_by_hand(function: Callable[..., Any], limit: int = 0) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        batches = list(_limited(context, limit))

        def kept(batch: Any) -> list[int]:
            if function is is_third:
                return [i for i, count in enumerate(batch["count"].to_pylist()) if function(count)]
            if function is is_long_third:
                return [i for i, row in enumerate(_compiled_dicts(batch)) if function(row)]
            return [i for i, keeps in enumerate(function({"count": batch["count"].to_pylist()})) if keeps]

        return lambda: sum(len(kept(batch)) for batch in batches)

    return cell


# -- files out, and folders ------------------------------------------------------------------------------------------------


def _to_parquet(context: Context) -> Timed:
    rows = _load(context, "parquet", context.warm)
    return lambda: bool(rows.to_parquet(str(context.scratch / "out.parquet")))


def _to_parquet_by_hand(context: Context) -> Timed:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_batches(_opened(context))

    def run() -> bool:
        pq.write_table(table, str(context.scratch / "out.parquet"))
        return True

    return run


def _to_text(method: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = _load(context, "parquet", context.warm)
        rows = rows.select(range(min(len(rows), context.rows(200_000))))
        return lambda: getattr(rows, method)(str(context.scratch / "out.txt"))

    return cell


def _save_disk(context: Context) -> Timed:
    rows = _load(context, "parquet", context.warm)
    return lambda: rows.save_to_disk(str(context.scratch / "saved"))


def _save_shuffled(context: Context) -> Timed:
    rows = _load(context, "parquet", context.warm).shuffle(seed=5)
    return lambda: rows.save_to_disk(str(context.scratch / "saved"))


def _save_shuffled_by_hand(context: Context) -> Timed:
    import numpy as np
    import pyarrow as pa

    table = pa.Table.from_batches(_opened(context))
    order = np.random.default_rng(5).permutation(table.num_rows)
    steps = range(0, len(order), 65_536)

    def run() -> None:
        whole = table.combine_chunks()
        with pa.OSFile(str(context.scratch / "0.arrow"), "wb") as out, pa.ipc.new_stream(out, table.schema) as writer:
            for start in steps:
                writer.write_table(whole.take(pa.array(order[start : start + 65_536])))

    return run


def _save_disk_by_hand(context: Context) -> Timed:
    shards = sorted(glob.glob(str(context.warm / "*.arrow")))

    def run() -> None:
        for shard in shards:
            shutil.copy(shard, context.scratch)

    return run


def _prepare_disk(context: Context) -> None:
    _prepare("parquet")(context)
    if context.module:
        _load(context, "parquet", context.warm).save_to_disk(str(context.warm / "saved"))


def _load_disk(context: Context) -> Timed:
    library = context.library
    return lambda: library.load_from_disk(str(context.warm / "saved"))[0]["id"]


# -- verification ---------------------------------------------------------------------------------------------------------


def _checked(context: Context) -> Timed:
    context.library  # noqa: B018
    return lambda: len(_load(context, "big", context.scratch, verification_mode="all_checks"))


def _checked_by_hand(context: Context) -> Timed:
    def run() -> int:
        for path in context.files("big"):
            with open(path, "rb") as source:
                hashlib.file_digest(source, "sha256")
        return sum(
            _write_by_hand(_batches("big", path), context.scratch / f"{os.path.basename(path)}.arrow")
            for path in context.files("big")
        )

    return run


# -- other orders, and several datasets together ----------------------------------------------------------------------------

Act = Callable[[Any, Any], Any]  # of the library and of a dataset


def _acting(act: Act) -> Callable[[Context], Timed]:
    """What the library makes of the built rows, made anew and not taken from its cache."""

    def cell(context: Context) -> Timed:
        library = context.library
        library.disable_caching()
        rows = _load(context, "parquet", context.warm)
        len(rows[0])
        return lambda: act(library, rows)

    return cell


def _acting_by_hand(act: Callable[[Any, Path], Any]) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        import pyarrow as pa

        table = pa.Table.from_batches(_opened(context))
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
    _write_by_hand(taken.to_batches(max_chunksize=65_536), path)
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


# -- many files ------------------------------------------------------------------------------------------------------------


def _folder(kind: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        cache, folder = str(context.scratch / "cache"), str(context.data / kind)
        return lambda: len(context.library.load_dataset(folder, split="train", cache_dir=cache))

    return cell


def _read_by_hand(kind: str) -> Callable[[Context], Timed]:
    """The files opened and read, no more: the rows of a file of lines are its lines."""

    def cell(context: Context) -> Timed:
        def run() -> int:
            rows = 0
            for place, _, names in sorted(os.walk(context.data / kind)):
                for name in sorted(names):
                    with open(os.path.join(place, name), "rb") as handle:
                        data = handle.read()
                    rows += data.count(b"\n") if kind == "small" else 1
            return rows

        return run

    return cell


def _prepare_images(context: Context) -> None:
    context.library.load_dataset(str(context.data / "images"), split="train", cache_dir=str(context.warm))


def _decoded(context: Context) -> Timed:
    rows = context.library.load_dataset(str(context.data / "images"), split="train", cache_dir=str(context.warm))
    import_module("PIL.Image").init()
    return lambda: sum(row["image"].getpixel((0, 0))[0] for row in rows)


def _decoded_by_hand(context: Context) -> Timed:
    pillow = import_module("PIL.Image")
    pillow.init()

    def run() -> int:
        total = 0
        for path in sorted(glob.glob(str(context.data / "images" / "*" / "*"))):
            with pillow.open(path) as image:
                total += image.getpixel((0, 0))[0]
        return total

    return run


# -- columns --------------------------------------------------------------------------------------------------------------


def _classes_by_hand(table: Any, path: Path) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    place = table.schema.get_field_index("category")
    names = pa.array(sorted(pc.unique(table["category"]).to_pylist()))
    encoded = table.set_column(place, "category", pc.index_in(table["category"], names).cast(pa.int64()))
    _write_by_hand(iter(encoded.to_batches()), path)
    return encoded["category"][5].as_py()


def _cast_by_hand(table: Any, path: Path) -> int:
    import pyarrow as pa

    cast = table.set_column(table.schema.get_field_index("count"), "count", table["count"].cast(pa.int64()))
    _write_by_hand(iter(cast.to_batches()), path)
    return cast["count"][5].as_py()


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


_BUILT: tuple[Any, Any] = (("parquet",), _prepare("parquet"))

WORKLOADS: dict[str, Workload] = {
    "import": Workload("import the library", _import, _import_by_hand),
    "first_use": Workload("import, a table from a dict, one row", _first_use, _first_use_by_hand),
    **{
        f"build_{kind}": Workload(title, _build(kind), _build_by_hand(kind), (kind,))
        for kind, title in {
            "csv": "build csv, 4 files, 1 M rows",
            "jsonl": "build JSON lines, 4 files, 500 k rows",
            "nested": "build nested JSON lines, 4 files, 160 k rows",
            "parquet": "build parquet, 4 files, 1 M rows",
            "text": "build text, 4 files, 2 M lines",
            "small": "build 2,000 JSON files of 5 rows",
            "big": "build one csv file of 1.2 GB",
        }.items()
    },
    "small_json": Workload(
        "load a folder of 2,000 JSON files, beside reading them", _folder("small"), _read_by_hand("small"), ("small",)
    ),
    "imagefolder_build": Workload(
        "load a folder of 2,000 images, beside reading them", _folder("images"), _read_by_hand("images"), ("images",)
    ),
    "imagefolder_iter": Workload("decode 2,000 images", _decoded, _decoded_by_hand, ("images",), _prepare_images),
    "build_checked": Workload("the same, all_checks", _checked, _checked_by_hand, ("big",)),
    "generator": Workload("from_generator, 300 k rows", _from_generator(False), _generated_by_hand),
    "generator_typed": Workload("from_generator with features, 300 k rows", _from_generator(True), _generated_by_hand),
    "builder": Workload("GeneratorBasedBuilder with keys, 300 k rows", _builder, _generated_by_hand),
    "rows": Workload("200 k rows as dicts", _iterate("parquet", 200_000), _iterate_by_hand(200_000), *_BUILT),
    "rows_nested": Workload(
        "100 k nested rows as dicts", _iterate("nested", 100_000), _iterate_by_hand(100_000), ("nested",), _prepare("nested")
    ),
    "row": Workload("50 k times ds[i]", _single_rows, _single_rows_by_hand, *_BUILT),
    "batch": Workload("1 k batches of 100 random rows", _random_batches, _random_batches_by_hand, *_BUILT),
    "slice": Workload("1 k slices of 100 rows", _ranges, _ranges_by_hand, *_BUILT),
    "map_row": Workload(
        "map of a row function, 100 k rows", _map(length_of, 100_000), _map_by_hand(length_of, 100_000), *_BUILT
    ),
    "map_batched": Workload(
        "map of a batched function over lists, 1 M rows", _map(lengths_of, batched=True), _map_by_hand(lengths_of), *_BUILT
    ),
    "map_batched_numpy": Workload(
        "map of a batched function over arrays, 1 M rows", _map(sums_of, batched=True), _map_by_hand(sums_of), *_BUILT
    ),
    "map_row_np2": Workload(
        "map of a row function, num_proc=2", _map(length_of, 100_000, num_proc=2), _map_by_hand(length_of, 100_000), *_BUILT
    ),
    "map_cached": Workload(
        "map that was done before", _map(lengths_of, anew=False, batched=True), _cached_by_hand, ("parquet",), _prepare_map
    ),
    "filter_row": Workload(
        "filter by a column, 300 k rows",
        _filter(is_third, 300_000, input_columns="count"),
        _filter_by_hand(is_third, 300_000),
        *_BUILT,
    ),
    "filter_row_dict": Workload(
        "filter by rows, 100 k rows", _filter(is_long_third, 100_000), _filter_by_hand(is_long_third, 100_000), *_BUILT
    ),
    "filter_batched": Workload(
        "filter of a batched function, 1 M rows", _filter(are_thirds, batched=True), _filter_by_hand(are_thirds), *_BUILT
    ),
    "to_parquet": Workload("to_parquet, 1 M rows", _to_parquet, _to_parquet_by_hand, *_BUILT),
    "to_csv": Workload("to_csv, 200 k rows", _to_text("to_csv"), None, *_BUILT),
    "to_json": Workload("to_json, 200 k rows", _to_text("to_json"), None, *_BUILT),
    "save_disk": Workload("save_to_disk, 1 M rows", _save_disk, _save_disk_by_hand, *_BUILT),
    "save_shuffled": Workload("save_to_disk of shuffled rows, 1 M rows", _save_shuffled, _save_shuffled_by_hand, *_BUILT),
    "load_disk": Workload("load_from_disk, first row", _load_disk, _warm_by_hand, ("parquet",), _prepare_disk),
    **{
        name: Workload(title, _acting(act), _acting_by_hand(by_hand), *_BUILT)
        for name, (title, act, by_hand) in {**_ORDERS, **_COLUMNS}.items()
    },
    "warm_csv": Workload("load a built dataset, first row", _warm("csv"), _warm_by_hand, ("csv",), _prepare("csv")),
    "warm_slice": Workload("train[10%:20%] of 100 shards, first row", _slice, _slice_by_hand, ("shards",), _prepare_shards),
}
