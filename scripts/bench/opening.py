"""The library imported, and what was built before opened again."""

import glob
from array import array
from collections.abc import Callable
from importlib import import_module
from typing import Any

from by_hand import first_row, prepare, read_batches, write
from context import Context, Timed, Workload, load


def _warm(kind: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        context.library  # noqa: B018
        return lambda: load(context, kind, context.warm)[0]["id"]

    return cell


def _prepare_shards(context: Context) -> None:
    if context.module:
        _load_shards(context, "train")
    else:
        for part, path in enumerate(context.files("shards")):
            write(read_batches("parquet", path), context.warm / f"{part:03d}.arrow")


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


ROWS = {
    "import": Workload("import the library", _import, _import_by_hand),
    "first_use": Workload("import, a table from a dict, one row", _first_use, _first_use_by_hand),
    "warm_csv": Workload("load a built dataset, first row", _warm("csv"), first_row, ("csv",), prepare("csv")),
    "warm_slice": Workload("train[10%:20%] of 100 shards, first row", _slice, _slice_by_hand, ("shards",), _prepare_shards),
}
