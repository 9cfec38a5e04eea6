"""The same plan gives the same rows in the same order, wherever its rows come from: from files here or elsewhere, or built."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import records
from datasets_core.dataset.combine import concatenate_datasets, interleave_datasets
from datasets_core.distributed import split_dataset_by_node
from datasets_core.load import load_dataset
from datasets_core.records.encoding import encode_example
from datasets_core.records.writer import TFRecordWriter

SIZES = {"train": [7, 0, 25, 3, 41, 1], "test": [9, 14]}
GROUP = 6
INDEXED = "tfrecord with indexes"
PAD = 30_000  # bytes of a record, so that a block of a file holds eight or nine


def write(path: Path, kind: str, first: int, rows: int) -> None:
    numbers = list(range(first, first + rows))
    columns = {"id": numbers, "text": [f"row {n} " + "x" * (n % 17) for n in numbers], "half": [n / 2 for n in numbers]}
    table = pa.table(columns, pa.schema([("id", pa.int64()), ("text", pa.string()), ("half", pa.float64())]))
    if kind == "parquet":
        pq.write_table(table, path, row_group_size=GROUP)
    elif kind == "arrow":
        with pa.ipc.new_file(path, table.schema) as sink:
            sink.write_table(table, max_chunksize=GROUP)
    elif kind.startswith("tfrecord"):
        with TFRecordWriter(path) as sink:
            for row in table.to_pylist():
                sink.write(encode_example({**row, "pad": bytes(PAD)} if kind == INDEXED else row))
        if kind == INDEXED:
            records.index(path, save=True)
    elif kind == "json":
        path.write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()))
    elif kind == "csv":
        path.write_text("id,text,half\n" + "".join(f"{row['id']},{row['text']},{row['half']}\n" for row in table.to_pylist()))
    else:
        path.write_text("".join(f"row {n}\n" for n in numbers))


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    if "range_server" not in sys.modules:
        spec = spec_from_file_location("range_server", Path(__file__).parents[1] / "range_server.py")
        assert spec is not None and spec.loader is not None
        sys.modules["range_server"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["range_server"])
    with sys.modules["range_server"].serving() as found:
        yield found


class Sources:
    """The same files, here and behind http."""

    def __init__(self, kind: str, folder: Path, server: Any) -> None:
        self.kind, self.folder = kind.partition(" ")[0], folder
        self._loaded: dict[str, Any] = {}
        files = folder / "files"
        files.mkdir()
        names: dict[str, list[str]] = {}
        first = 0
        for split, sizes in SIZES.items():
            for number, rows in enumerate(sizes):
                name = f"{split}-{number}.{'txt' if kind == 'text' else self.kind}"
                write(files / name, kind, first, rows)
                names.setdefault(split, []).append(name)
                first += rows
        base = server.serve(folder).rstrip("/") + "/files"  # so that both call them by one folder
        self.local = {split: [str(files / name) for name in listed] for split, listed in names.items()}
        self.remote = {split: [f"{base}/{name}" for name in listed] for split, listed in names.items()}

    def ways(self, split: str = "train", **options: Any) -> dict[str, Callable[[], Any]]:
        """What gives the rows of a split as a stream, by where they come from."""

        def load(files: Any, cache: str, **more: Any) -> Any:
            key = json.dumps([files, cache, split, options, more])
            if key not in self._loaded:
                self._loaded[key] = load_dataset(
                    self.kind, data_files=files, split=split, cache_dir=str(self.folder / cache), **options, **more
                )
            found = self._loaded[key]
            return copy.copy(found) if more.get("streaming") else found.to_iterable_dataset()

        return {
            "streamed": lambda: load(self.local, "a", streaming=True),
            "built": lambda: load(self.local, "a"),
            "built in memory": lambda: load(self.local, "a", keep_in_memory=True),
            "built by 2": lambda: load(self.local, "b", num_proc=2),
            "http": lambda: load(self.remote, "c", streaming=True),
            "built of http": lambda: load(self.remote, "d"),
            "http that was fetched": lambda: load(self.remote, "d", streaming=True),
        }


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory, server: Any) -> Callable[[str], Sources]:
    made: dict[str, Sources] = {}

    def of(kind: str) -> Sources:
        if kind not in made:
            made[kind] = Sources(kind, tmp_path_factory.mktemp(kind), server)
        return made[kind]

    return of


def number(row: Any) -> int:
    return int(row["text"].split()[1])


def tenfold(row: dict[str, Any]) -> dict[str, Any]:
    return {"tenfold": number(row) * 10}


def lengths(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"size": [len(rows["text"])] * len(rows["text"])}


def twice(rows: dict[str, list[Any]]) -> dict[str, list[Any]]:
    return {"text": [text for text in rows["text"] for _ in range(2)]}


def is_odd(row: dict[str, Any]) -> bool:
    return number(row) % 2 == 1


def nodes(stream: Any, count: int, **options: Any) -> list[Any]:
    return [list(split_dataset_by_node(stream, rank, count, **options)) for rank in range(count)]


def shards(stream: Any, count: int, **options: Any) -> list[Any]:
    return [list(stream.shard(count, index, **options)) for index in range(count)]


def epochs(stream: Any) -> list[Any]:
    found = []
    for epoch in (0, 1, 5):
        stream.set_epoch(epoch)
        found.append(list(stream))
    return found


def resumed(stream: Any) -> list[Any]:
    """Rows with a state that is loaded into the same plan behind every thirtieth."""
    found: list[Any] = []
    state = stream.state_dict()
    while True:
        stream.load_state_dict(json.loads(json.dumps(state)))
        some = []
        for row in stream:
            some.append(row)
            if len(some) == 30:
                state = stream.state_dict()
                break
        found += some
        if len(some) < 30:
            return found


ROWS: dict[str, Callable[[Any], Any]] = {
    "plain": lambda s: s,
    "skip": lambda s: s.skip(11),
    "take": lambda s: s.take(19),
    "skip, take": lambda s: s.skip(30).take(20),
    "map": lambda s: s.map(tenfold),
    "filter": lambda s: s.filter(is_odd),
    "batched map": lambda s: s.map(lengths, batched=True, batch_size=5),
    "batched map of all columns": lambda s: s.map(twice, batched=True, batch_size=4, remove_columns=s.column_names),
    "batch": lambda s: s.batch(4),
    "select_columns": lambda s: s.select_columns(["text"]),
    "rename": lambda s: s.rename_column("text", "words"),
    "repeat": lambda s: s.repeat(2),
    "repeat without end": lambda s: s.repeat(None).take(200),
    "shuffle": lambda s: s.shuffle(seed=3),
    "shuffle, buffer of 1": lambda s: s.shuffle(seed=3, buffer_size=1),
    "shuffle, buffer of 10": lambda s: s.shuffle(seed=4, buffer_size=10),
    "shuffle, large buffer": lambda s: s.shuffle(seed=5, buffer_size=10_000),
    "shuffle, window of bytes": lambda s: s.shuffle(seed=5, window_bytes=900),
    "shuffle twice": lambda s: s.shuffle(seed=1).shuffle(seed=2, buffer_size=7),
    "shuffle, select": lambda s: s.shuffle(seed=3).select_columns(["text"]),
    "select, shuffle": lambda s: s.select_columns(["text"]).shuffle(seed=3),
    "map, shuffle": lambda s: s.map(tenfold).shuffle(seed=3),
    "filter, shuffle": lambda s: s.filter(is_odd).shuffle(seed=3, buffer_size=8),
    "shuffle, filter": lambda s: s.shuffle(seed=3, buffer_size=8).filter(is_odd),
    "batch, shuffle": lambda s: s.batch(3).shuffle(seed=3),
    "shuffle, batch": lambda s: s.shuffle(seed=3).batch(3),
    "batched map, shuffle": lambda s: s.map(lengths, batched=True, batch_size=5).shuffle(seed=6, buffer_size=9),
    "skip, shuffle": lambda s: s.skip(13).shuffle(seed=3),
    "take, shuffle": lambda s: s.take(40).shuffle(seed=3),
    "shuffle, skip, take": lambda s: s.shuffle(seed=3).skip(13).take(30),
    "repeat, shuffle": lambda s: s.repeat(2).shuffle(seed=3),
    "shuffle, repeat": lambda s: s.shuffle(seed=3).repeat(2),
    "shard": lambda s: s.shard(3, 1),
    "shard, not contiguous": lambda s: s.shard(3, 1, contiguous=False),
    "shuffle, shard": lambda s: s.shuffle(seed=3).shard(2, 1),
    "shard, shuffle": lambda s: s.shard(2, 1).shuffle(seed=3),
    "more shards than files": lambda s: s.shard(8, 5),
    "concatenate": lambda s: concatenate_datasets([s, s.take(5)]),
    "interleave": lambda s: interleave_datasets([s, s.skip(20)], probabilities=[0.7, 0.3], seed=2),
    "interleave shuffled": lambda s: interleave_datasets([s.shuffle(seed=1), s.shuffle(seed=2)]),
    "interleave, shuffle": lambda s: interleave_datasets([s, s.skip(20)]).shuffle(seed=2, buffer_size=8),
}


def identified(stream: Any) -> list[Any]:
    """Rows with their ids, plain, shuffled, cut, divided among lanes, and behind a step that sees them one by one."""
    ways = [
        lambda s: s.with_row_ids(),
        lambda s: s.shuffle(seed=3, buffer_size=10).with_row_ids(),
        lambda s: s.with_row_ids().shuffle(seed=3, buffer_size=10),
        lambda s: s.skip(9).take(40).with_row_ids(),
        lambda s: s.shard(3, 1).with_row_ids(),
        lambda s: s.filter(is_odd).shuffle(seed=3, buffer_size=8).with_row_ids(["__id__"]),
    ]
    lanes = [nodes(each, 3) for each in (stream.with_row_ids(), stream.shuffle(seed=7, buffer_size=12).with_row_ids())]
    return [*(list(way(stream)) for way in ways), *lanes]


READ: dict[str, Callable[[Any], Any]] = {
    "all shards": lambda s: shards(s, 4),
    "all shards, not contiguous": lambda s: shards(s, 4, contiguous=False),
    "shuffled shards": lambda s: shards(s.shuffle(seed=7), 3),
    "2 nodes": lambda s: nodes(s, 2),
    "5 nodes": lambda s: nodes(s, 5),
    "nodes of a shuffle": lambda s: nodes(s.shuffle(seed=7, buffer_size=12), 3),
    "nodes of a filter": lambda s: nodes(s.filter(is_odd), 3),
    "nodes by shards": lambda s: nodes(s, 2, strategy="shards"),
    "nodes by examples": lambda s: nodes(s, 3, strategy="examples"),
    "filtered nodes of a shuffle": lambda s: nodes(s.shuffle(seed=7).filter(is_odd), 4),
    "epochs": lambda s: epochs(s.shuffle(seed=9, buffer_size=20)),
    "epochs behind a filter": lambda s: epochs(s.filter(is_odd).shuffle(seed=9, buffer_size=20)),
    "resumed": resumed,
    "resumed shuffle": lambda s: resumed(s.shuffle(seed=9, buffer_size=20)),
    "resumed filter": lambda s: resumed(s.shuffle(seed=9).filter(is_odd)),
}

SOME = {
    "plain",
    "shuffle, buffer of 10",
    "filter, shuffle",
    "shuffle, filter",
    "batched map, shuffle",
    "interleave, shuffle",
    "all shards, not contiguous",
    "nodes of a shuffle",
    "filtered nodes of a shuffle",
    "resumed shuffle",
}
EVERY = {**ROWS, **READ}
CASES = [(kind, name) for kind in ("parquet", "json") for name in EVERY]
CASES += [(kind, name) for kind in ("arrow", "csv", "text", "tfrecord", INDEXED) for name in EVERY if name in SOME]
THREE = ("streamed", "built", "http")


def compared(ways: dict[str, Callable[[], Any]], operation: Callable[[Any], Any], *names: str) -> None:
    found = {name: list(operation(ways[name]())) for name in names or ways}
    first = next(iter(found.values()))
    other = [name for name, rows in found.items() if rows != first]
    assert not other, f"{other} differ from streamed"


@pytest.mark.parametrize(("kind", "operation"), CASES, ids=[f"{kind}: {name}" for kind, name in CASES])
def test_rows_come_in_one_order(kind: str, operation: str, sources: Callable[[str], Sources]) -> None:
    compared(sources(kind).ways(), EVERY[operation], *THREE)


def in_short(stream: Any) -> list[Any]:
    """What tells whether two streams have the same structure."""
    return [list(stream), list(stream.shuffle(seed=3, buffer_size=10)), nodes(stream, 2), shards(stream, 3)]


@pytest.mark.parametrize("kind", ["parquet", "arrow", "json", "csv", "text", "tfrecord", INDEXED])
def test_builds_and_caches_keep_the_order(kind: str, sources: Callable[[str], Sources]) -> None:
    compared(sources(kind).ways(), in_short)


def in_brief(value: bytes) -> list[Any]:
    """Bytes as JSON has them."""
    return [len(value), repr(value[:30])]


def paths_apart(found: list[Any], folder: str) -> Any:
    """What was found, with names of files that say nothing of where they are."""
    return json.loads(json.dumps(found, default=in_brief).replace(json.dumps(folder)[1:-1], ""))


@pytest.mark.parametrize("kind", ["parquet", "json", "csv", "text", "arrow", "tfrecord", INDEXED])
@pytest.mark.parametrize("split", ["train", "train[5:40]", "test+train[30:77]", "all"])
def test_rows_have_the_same_ids(kind: str, split: str, sources: Callable[[str], Sources]) -> None:
    made = sources(kind)
    ways = made.ways(split)
    bases = [str(Path(made.local["train"][0]).parent), made.remote["train"][0].rpartition("/")[0]]
    found = {name: identified(way()) for name, way in ways.items() if split == "train" or name in THREE}
    assert all(row["__source__"] for row in found["built"][0])
    ids = [row["__id__"] for row in found["streamed"][0]]
    assert len(set(ids)) == len(ids)
    for name, each in found.items():
        here = paths_apart(each, bases["http" in name])
        assert here == paths_apart(found["streamed"], bases[0]), f"{name} differs from streamed"


def test_a_run_of_a_dataset_has_the_ids_of_the_slice(sources: Callable[[str], Sources]) -> None:
    for kind in ("parquet", "json"):
        whole = sources(kind).ways("train")["built"]()
        rows = list(whole.with_row_ids())[20:50]
        data = load_dataset(kind, data_files=sources(kind).local, split="train", cache_dir=str(sources(kind).folder / "a"))
        assert list(data.select(range(20, 50)).to_iterable_dataset().with_row_ids()) == rows
        assert list(data.select(range(10, 60)).select(range(10, 40)).to_iterable_dataset().with_row_ids()) == rows


SPLITS = ["train[5:40]", "train[30:35]", "test+train", "train[7:32]+test[3:]", "train[0:0]+test", "all", "train[77:90]"]
COUNTED = ["train[-20:]", "train[10%:50%]", "train[:-30]+test[50%:]", "all[10%:90%]"]
SLICES = [(kind, split) for kind in ("parquet", "json") for split in SPLITS] + [("text", SPLITS[0]), ("csv", SPLITS[3])]
SLICES += [("parquet", split) for split in COUNTED] + [("arrow", COUNTED[2])]
SLICES += [("tfrecord", SPLITS[3]), *((INDEXED, split) for split in (SPLITS[3], *COUNTED))]


@pytest.mark.parametrize(("kind", "split"), SLICES)
def test_slices_come_in_one_order(kind: str, split: str, sources: Callable[[str], Sources]) -> None:
    compared(sources(kind).ways(split), in_short, *THREE)


def test_columns_of_a_file_change_no_order(sources: Callable[[str], Sources]) -> None:
    ways = sources("parquet").ways(columns=["id"])
    compared(ways, in_short, *THREE)
    whole = [row["id"] for row in sources("parquet").ways()["streamed"]().shuffle(seed=3, window_bytes=900)]
    assert [row["id"] for row in ways["streamed"]().shuffle(seed=3, window_bytes=900)] == whole


def test_rows_that_filters_keep_come_in_one_order(sources: Callable[[str], Sources]) -> None:
    ways = sources("parquet").ways(filters=[("id", ">", 20)])
    compared(ways, list)


@pytest.mark.parametrize("kind", ["parquet", "json"])
def test_workers_of_a_loader_read_in_one_order(kind: str, sources: Callable[[str], Sources]) -> None:
    pytest.importorskip("torch")
    from torch.utils.data import DataLoader

    ways = sources(kind).ways()
    compared(ways, lambda stream: list(DataLoader(stream.shuffle(seed=3), batch_size=None, num_workers=2)), "streamed", "built")
