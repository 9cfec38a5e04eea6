"""What is read of a dataset of 1,000 shards, found before it is read: slices, epochs, places to go on from, rows by id.

Each begins with nothing but the folder.  By hand it is the manifest parsed, and those shards mapped that are read.  Beside
the times stands how many shards were opened.
"""

import json
import random
from itertools import accumulate
from pathlib import Path
from typing import Any

from context import Context, Timed, Workload

SHARDS, BATCHES = 1000, 100  # of 10 M rows at scale 1


def _rows_of_shard(context: Context) -> int:
    return max(BATCHES, int(10_000 * context.scale))


def _folder(context: Context) -> Path:
    return context.warm / "numbers"


def _prepare(context: Context) -> None:
    if _folder(context).exists():
        return
    if context.module == "datasets_core":
        _build(context)
    elif context.module:
        rows = context.library.Dataset.from_dict({"id": range(SHARDS * _rows_of_shard(context))})
        rows.save_to_disk(str(_folder(context)), num_shards=SHARDS)
    else:
        _write(context)


def _build(context: Context) -> None:
    """The dataset, written by the library's own writer and committed as a build commits it."""
    import pyarrow as pa

    from datasets_core.features.base import Value
    from datasets_core.features.schema import Features
    from datasets_core.meta.info import DatasetInfo
    from datasets_core.meta.split_info import SplitDict, SplitInfo
    from datasets_core.store.commit import Staging
    from datasets_core.store.manifest import Manifest
    from datasets_core.store.writer import ShardWriter

    features, count = Features({"id": Value("int64")}), _rows_of_shard(context)
    staging, records = Staging.adopt_or_create(str(_folder(context))), []
    for shard in range(SHARDS):
        rows = pa.table({"id": range(shard * count, (shard + 1) * count)}).cast(features.arrow_schema)
        with ShardWriter(
            staging.folder, f"{shard:05d}", split="train", schema=rows.schema, batch_rows=count // BATCHES
        ) as writer:
            writer.write(rows)
        records += writer.close()
    split = SplitInfo("train", num_bytes=8 * SHARDS * count, num_examples=SHARDS * count, dataset_name="numbers")
    info = DatasetInfo(features=features, dataset_name="numbers", splits=SplitDict({"train": split}))
    staging.commit(Manifest(info, tuple(records)))


def _write(context: Context) -> None:
    import pyarrow as pa

    count, records = _rows_of_shard(context), []
    _folder(context).mkdir(exist_ok=True)
    for shard in range(SHARDS):
        path = _folder(context) / f"numbers-train-{shard:05d}-of-{SHARDS:05d}.arrow"
        rows = pa.table({"id": range(shard * count, (shard + 1) * count)})
        with pa.OSFile(str(path), "wb") as out, pa.ipc.new_file(out, rows.schema) as writer:
            writer.write_table(rows, max_chunksize=count // BATCHES)
        record = {"name": path.name, "split": "train", "rows": count, "size": path.stat().st_size, "num_bytes": 8 * count}
        records.append({**record, "sha256": "0" * 64, "batches": [[count // BATCHES, BATCHES]]})
    (_folder(context) / "dataset_info.json").write_text(json.dumps({"manifest": {"shards": records}}))


# -- by hand ---------------------------------------------------------------------------------------------------------------


def _records(context: Context) -> list[dict[str, Any]]:
    with open(_folder(context) / "dataset_info.json", "rb") as manifest:
        found: list[dict[str, Any]] = json.load(manifest)["manifest"]["shards"]
    return found


def _one_percent(records: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    """The files of `train[44%:45%]`, with the rows to skip and to take."""
    borders = list(accumulate((record["rows"] for record in records), initial=0))
    first, last = borders[-1] * 44 // 100, borders[-1] * 45 // 100
    return [
        (record["name"], max(first - begin, 0), min(last, end) - max(first, begin))
        for record, begin, end in zip(records, borders, borders[1:], strict=False)
        if begin < last and first < end
    ]


def _mapped(folder: Path, name: str, row: int, size: int) -> Any:
    """A row of a shard."""
    import pyarrow as pa

    shard = pa.ipc.open_file(pa.memory_map(str(folder / name)))
    return shard.get_batch(row // size).column(0)[row % size].as_py()


# -- slices ----------------------------------------------------------------------------------------------------------------


def _info(context: Context) -> Timed:
    library, folder = context.library, str(_folder(context))

    def run() -> list[Any]:
        found = library.builder_from_directory(folder).info.splits["train[44%:45%]"].file_instructions
        return [len(found), found[0].filename, sum(each.num_examples for each in found)]

    return run


def _info_by_hand(context: Context) -> Timed:
    def run() -> list[Any]:
        found = _one_percent(_records(context))
        return [len(found), found[0][0], sum(take for _, _, take in found)]

    return run


def _slice(context: Context) -> Timed:
    library, folder = context.library, str(_folder(context))

    def run() -> int:
        if context.module == "datasets_core":
            rows = library.builder_from_directory(folder).as_dataset("train[44%:45%]")
        else:
            whole = library.load_from_disk(folder)
            rows = whole.select(range(len(whole) * 44 // 100, len(whole) * 45 // 100))
        return len(rows)

    return run


def _slice_by_hand(context: Context) -> Timed:
    return lambda: sum(take for _, _, take in _one_percent(_records(context)))


# -- epochs ----------------------------------------------------------------------------------------------------------------


def _stream(context: Context) -> Any:
    config = context.library.ReadConfig(interleave_cycle_length=16, interleave_block_length=16)
    return context.library.builder_from_directory(str(_folder(context))).as_dataset("train", read_config=config)


def _epoch(context: Context) -> Timed:
    context.library  # noqa: B018

    def run() -> int:
        found: int = _stream(context).info.splits["train"].num_examples
        return found

    return run


def _epoch_by_hand(context: Context) -> Timed:
    return lambda: sum(record["rows"] for record in _records(context))


def _at(context: Context) -> int:
    """The row at which an epoch was interrupted."""
    return int(7_654_321 * context.scale)


def _interrupt(context: Context) -> None:
    """Read the rows before that row, and keep the state."""
    _prepare(context)
    if context.module and not _state(context).exists():
        stream = _stream(context).with_format("arrow")
        next(iter(stream.iter(_at(context))))
        _state(context).write_text(json.dumps(stream.state_dict()))


def _state(context: Context) -> Path:
    return context.warm / "state.json"


def _resume(context: Context) -> Timed:
    context.library  # noqa: B018

    def run() -> int:
        stream = _stream(context)
        stream.load_state_dict(json.loads(_state(context).read_text()))
        found: int = next(iter(stream))["id"]
        return found

    return run


def _resume_by_hand(context: Context) -> Timed:
    def run() -> int:
        records, at = _records(context), _at(context)
        size = records[0]["rows"]
        group, within = divmod(at, 16 * size)  # 16 shards of equal size begin together, and end together
        turn, left = divmod(within, 16 * 16)
        block = 16 if turn < size // 16 else size % 16
        shard, row = 16 * group + left // block, 16 * turn + left % block
        found: int = _mapped(_folder(context), records[shard]["name"], row, records[shard]["batches"][0][0])
        return found

    return run


# -- ids -------------------------------------------------------------------------------------------------------------------


def _ids(context: Context) -> list[str]:
    chance, size = random.Random(5), _rows_of_shard(context)
    places = [(chance.randrange(SHARDS), chance.randrange(size)) for _ in range(100)]
    return [f"numbers-train-{shard:05d}-of-{SHARDS:05d}.arrow__{row}" for shard, row in places]


def _by_id(context: Context) -> Timed:
    library, ids = context.library, _ids(context)

    def run() -> int:
        whole = library.builder_from_directory(str(_folder(context))).as_dataset("train")
        return sum(whole.rows(ids)["id"])

    return run


def _by_id_by_hand(context: Context) -> Timed:
    ids = _ids(context)

    def run() -> int:
        records = {record["name"]: record for record in _records(context)}
        found = (id_.rpartition("__") for id_ in ids)
        return sum(_mapped(_folder(context), name, int(row), records[name]["batches"][0][0]) for name, _, row in found)

    return run


DATASET, PLACE = "1,000 shards", "planning"
ROWS = {
    "plan_info": Workload(
        f"info.splits['train[44%:45%]'] of {DATASET}",
        _info,
        _info_by_hand,
        (),
        _prepare,
        counts=True,
        place=PLACE,
        is_peer=False,
    ),
    "plan_slice": Workload(f"train[44%:45%] of {DATASET}", _slice, _slice_by_hand, (), _prepare, counts=True, place=PLACE),
    "plan_epoch": Workload(
        f"an epoch of {DATASET}, 16 in turn", _epoch, _epoch_by_hand, (), _prepare, counts=True, place=PLACE, is_peer=False
    ),
    "resume": Workload(
        f"resume at row 7.6 M of {DATASET}, first row",
        _resume,
        _resume_by_hand,
        (),
        _interrupt,
        counts=True,
        place=PLACE,
        is_peer=False,
    ),
    "by_id": Workload(
        f"100 rows by their ids, of {DATASET}", _by_id, _by_id_by_hand, (), _prepare, counts=True, place=PLACE, is_peer=False
    ),
}
