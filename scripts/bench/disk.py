"""Files and folders written, and folders opened again."""

import glob
import json
import shutil
from collections.abc import Callable
from typing import Any

from by_hand import BUILT, compiled_dicts, first_row, opened, prepare
from context import Context, Timed, Workload, load


def _to_parquet(context: Context) -> Timed:
    rows = load(context, "parquet", context.warm)
    return lambda: bool(rows.to_parquet(str(context.scratch / "out.parquet")))


def _to_parquet_by_hand(context: Context) -> Timed:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_batches(opened(context))

    def run() -> bool:
        pq.write_table(table, str(context.scratch / "out.parquet"))
        return True

    return run


def _to_text(method: str) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        rows = load(context, "parquet", context.warm)
        rows = rows.select(range(min(len(rows), context.rows(200_000))))
        rows.select([0]).to_pandas()  # pandas is loaded untimed, as by hand
        return lambda: bool(getattr(rows, method)(str(context.scratch / "out.txt")))

    return cell


def _to_text_by_hand(written: Callable[[Any, str], Any]) -> Callable[[Context], Timed]:
    def cell(context: Context) -> Timed:
        import pyarrow as pa

        table = pa.Table.from_batches(opened(context)).slice(0, context.rows(200_000))
        table.slice(0, 1).to_pandas()

        def run() -> bool:
            written(table, str(context.scratch / "out.txt"))
            return True

        return run

    return cell


def _csv_by_hand(table: Any, path: str) -> None:
    with open(path, "w", encoding="utf-8") as out:
        for batch in table.to_batches(max_chunksize=10_000):
            batch.to_pandas().to_csv(out, index=False, header=out.tell() == 0)


def _json_by_hand(table: Any, path: str) -> None:
    encode = json.JSONEncoder(ensure_ascii=False).encode
    with open(path, "w", encoding="utf-8") as out:
        for batch in table.to_batches(max_chunksize=1000):
            out.writelines(encode(row) + "\n" for row in compiled_dicts(batch))


def _save_disk(context: Context) -> Timed:
    rows = load(context, "parquet", context.warm)
    return lambda: rows.save_to_disk(str(context.scratch / "saved"))


def _save_shuffled(context: Context) -> Timed:
    rows = load(context, "parquet", context.warm).shuffle(seed=5)
    return lambda: rows.save_to_disk(str(context.scratch / "saved"))


def _save_shuffled_by_hand(context: Context) -> Timed:
    import numpy as np
    import pyarrow as pa

    table = pa.Table.from_batches(opened(context))
    order = np.random.default_rng(5).permutation(table.num_rows)
    steps = range(0, len(order), 65_536)
    pa.array([0])  # the first one imports pandas, which is no work of this row

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
    prepare("parquet")(context)
    if context.module:
        load(context, "parquet", context.warm).save_to_disk(str(context.warm / "saved"))


def _load_disk(context: Context) -> Timed:
    library = context.library
    return lambda: library.load_from_disk(str(context.warm / "saved"))[0]["id"]


ROWS = {
    "to_parquet": Workload("to_parquet, 1 M rows", _to_parquet, _to_parquet_by_hand, *BUILT),
    "to_csv": Workload("to_csv, 200 k rows", _to_text("to_csv"), _to_text_by_hand(_csv_by_hand), *BUILT),
    "to_json": Workload("to_json, 200 k rows", _to_text("to_json"), _to_text_by_hand(_json_by_hand), *BUILT),
    "save_disk": Workload("save_to_disk, 1 M rows", _save_disk, _save_disk_by_hand, *BUILT),
    "save_shuffled": Workload("save_to_disk of shuffled rows, 1 M rows", _save_shuffled, _save_shuffled_by_hand, *BUILT),
    "load_disk": Workload("load_from_disk, first row", _load_disk, first_row, ("parquet",), _prepare_disk),
}
