"""What a training loop gets: shuffled samples of a torch `DataLoader`, by this library and by those that people train with.

    python scripts/bench/training.py --peer PYTHON [--peer PYTHON ...]

JPEGs decoded and resized, rows of tokens, and texts; each library stores them in its own form.  Every cell is a process of its
own.  A library is run by the first interpreter that has it; those that none has are named and left out.  Samples per second of
CPU count all processes.  The order is compared with the stored one: 1.0 is as far apart as in a random order of all rows.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import report

ROOT = Path(__file__).parents[2]
FILES, SIZE, SEED, BUFFER = 8, 224, 7, 1000
KINDS = {  # samples at scale 1, of a batch, and the title
    "images": (20_000, 64, "JPEGs of 256 px, decoded and resized"),
    "tokens": (40_000, 64, "rows of 2,048 tokens"),
    "texts": (2_000_000, 256, "texts of 20 words"),
}
VALUE = {"images": "image", "tokens": "tokens", "texts": "text"}
SUFFIX = {"images": "jpg", "tokens": "npy", "texts": "txt"}


# -- data --------------------------------------------------------------------------------------------------------------


def make_data(folder: Path, kind: str, count: int) -> None:
    """Parquet files of the columns `id` and the value, the same ones every time."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    for file in range(FILES):
        ids = np.arange(count * file // FILES, count * (file + 1) // FILES)
        values: Any
        if kind == "images":
            values = [_jpeg(random) for _ in ids]
        elif kind == "tokens":
            tokens = random.integers(0, 50_000, (len(ids), 2048), np.int32)
            values = pa.FixedSizeListArray.from_arrays(tokens.reshape(-1), 2048).cast(pa.list_(pa.int32()))
        else:
            words = np.array([f"word{number}" for number in range(2000)])
            values = [" ".join(line) for line in words[random.integers(0, 2000, (len(ids), 20))]]
        rows = pa.table({"id": ids, VALUE[kind]: values})
        pq.write_table(rows, folder / f"part-{file}.parquet", row_group_size=max(1, min(len(ids), 1 << 13)))


def _jpeg(random: Any) -> bytes:
    import numpy as np
    from PIL import Image

    coarse = random.integers(0, 256, (8, 8, 3), np.uint8)  # compresses as a photograph does, other than noise
    image = Image.fromarray(coarse).resize((256, 256), Image.Resampling.BICUBIC)
    data = io.BytesIO()
    image.save(data, "JPEG", quality=90)
    return data.getvalue()


def rows_of(source: Path) -> Iterator[dict[str, Any]]:
    """The rows of the files, in order."""
    import pyarrow.parquet as pq

    for path in sorted(source.glob("*.parquet")):
        yield from pq.read_table(path).to_pylist()


def decoded(data: bytes) -> Any:
    """The pixels of a JPEG at the size of the model; the same work for all libraries."""
    import numpy as np
    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(data)).convert("RGB").resize((SIZE, SIZE), Image.Resampling.BILINEAR))


def finished(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    """A sample as the collation of torch takes it."""
    import numpy as np

    value = row[VALUE[kind]]
    if kind == "images":
        value = decoded(value)
    elif kind == "tokens":
        value = np.asarray(value, np.int32)
    return {"id": int(row["id"]), VALUE[kind]: value}


def _torch_loader(rows: Any, kind: str, workers: int, **options: Any) -> Any:
    import torch

    return torch.utils.data.DataLoader(rows, batch_size=KINDS[kind][1], num_workers=workers, **options)


# -- readers: each writes its form of the rows, and returns a loader ---------------------------------------------------


class Reader:
    """A library with one form of the rows.

    Attributes:
        package: what it needs.
        workers: the numbers of workers that it can have.
    """

    package = ""
    workers: tuple[int, ...] = (0, 2)

    def write(self, kind: str, source: Path, folder: Path) -> None:
        """Write the rows; without an own form, nothing."""

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        """An iterable of shuffled batches."""
        raise NotImplementedError

    def state(self, loader: Any, batches: Any) -> Any:
        """The state after the batches that were taken; None if the library has none."""
        return None

    def load(self, loader: Any, state: Any) -> Any:
        """Return batches from a state on."""
        raise NotImplementedError


class Files(Reader):
    """This library and `datasets`, whose names are the same.

    Args:
        module: which of them.
        form: `arrow`, `parquet`, `webdataset` or `tfrecord`.
    """

    def __init__(self, module: str, form: str) -> None:
        self.package, self.form = module, form

    def write(self, kind: str, source: Path, folder: Path) -> None:
        if self.form == "arrow":
            self._built(source, folder)
        elif self.form == "webdataset":
            write_tars(kind, source, folder)
        elif self.form == "tfrecord":
            rows = self._built(source, folder.with_name(f"{folder.name}-built"))
            for file in range(FILES):
                rows.shard(FILES, file).to_tfrecord(str(folder / f"part-{file}.tfrecord"))

    def _built(self, source: Path, folder: Path) -> Any:
        library = importlib.import_module(self.package)
        library.disable_progress_bars()
        files = sorted(map(str, source.glob("*.parquet")))
        return library.load_dataset("parquet", data_files=files, split="train", cache_dir=str(folder))

    def stream(self, kind: str, source: Path, folder: Path) -> Any:
        """The shuffled samples."""
        library = importlib.import_module(self.package)
        library.disable_progress_bars()
        if self.form == "arrow":
            rows = self._built(source, folder).to_iterable_dataset(num_shards=FILES)
        else:
            where, ending = (source, "parquet") if self.form == "parquet" else (folder, "tar")
            ending = "tfrecord" if self.form == "tfrecord" else ending
            files = sorted(map(str, where.glob(f"*.{ending}")))
            rows = library.load_dataset(self.form, data_files=files, split="train", streaming=True)
        if self.form == "webdataset":
            if kind == "images":
                rows = rows.cast_column("jpg", library.Image(decode=False))
            return rows.shuffle(SEED, buffer_size=BUFFER).map(lambda row: _of_tar(kind, row), remove_columns=rows.column_names)
        rows = rows.shuffle(SEED, buffer_size=BUFFER)
        if kind == "texts":
            return rows
        if kind == "tokens":
            return rows.with_format("numpy")
        return rows.map(lambda row: finished(kind, row))

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        self._stream = self.stream(kind, source, folder)
        return _torch_loader(self._stream, kind, workers)

    def state(self, loader: Any, batches: Any) -> Any:
        return self._stream.state_dict()

    def load(self, loader: Any, state: Any) -> Any:
        self._stream.load_state_dict(state)
        return iter(loader)


def _of_tar(kind: str, row: dict[str, Any]) -> dict[str, Any]:
    value = row[SUFFIX[kind]]
    if kind == "images":
        value = value["bytes"] if isinstance(value, dict) else value
    elif isinstance(value, bytes):
        value = value.decode()
    return finished(kind, {"id": int(row["__key__"]), VALUE[kind]: value})


def write_tars(kind: str, source: Path, folder: Path) -> None:
    """The rows as members of tar files, as webdataset reads them."""
    import numpy as np

    rows, count = list(rows_of(source)), 0
    for file in range(FILES):
        with tarfile.open(folder / f"part-{file}.tar", "w") as out:
            for row in rows[len(rows) * file // FILES : len(rows) * (file + 1) // FILES]:
                value = row[VALUE[kind]]
                if kind == "tokens":
                    data = io.BytesIO()
                    np.save(data, np.asarray(value, np.int32))
                    value = data.getvalue()
                value = value.encode() if isinstance(value, str) else value
                member = tarfile.TarInfo(f"{count:09d}.{SUFFIX[kind]}")
                member.size, count = len(value), count + 1
                out.addfile(member, io.BytesIO(value))


class Webdataset(Reader):
    package = "webdataset"

    def write(self, kind: str, source: Path, folder: Path) -> None:
        write_tars(kind, source, folder)

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        import webdataset as wds

        tars = sorted(map(str, folder.glob("*.tar")))
        rows = wds.WebDataset(tars, shardshuffle=FILES, seed=SEED).shuffle(BUFFER)
        rows = rows.decode() if kind == "tokens" else rows
        return _torch_loader(rows.map(lambda row: _of_tar(kind, row)), kind, workers)


class Mosaic(Reader):
    package = "streaming"

    def write(self, kind: str, source: Path, folder: Path) -> None:
        import numpy as np
        from streaming import MDSWriter

        form = {"images": "bytes", "tokens": "ndarray:int32", "texts": "str"}[kind]
        with MDSWriter(out=str(folder), columns={"id": "int", VALUE[kind]: form}) as out:
            for row in rows_of(source):
                out.write({**row, "tokens": np.asarray(row["tokens"], np.int32)} if kind == "tokens" else row)

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        from streaming import StreamingDataLoader, StreamingDataset
        from streaming.base.util import clean_stale_shared_memory

        clean_stale_shared_memory()
        size = KINDS[kind][1]

        class Samples(StreamingDataset):  # type: ignore[misc]
            def __getitem__(self, at: Any) -> Any:
                return finished(kind, super().__getitem__(at))

        rows = Samples(local=str(folder), shuffle=True, shuffle_seed=SEED, batch_size=size)
        return StreamingDataLoader(rows, batch_size=size, num_workers=workers)

    def state(self, loader: Any, batches: Any) -> Any:
        return loader.state_dict()

    def load(self, loader: Any, state: Any) -> Any:
        loader.load_state_dict(state)
        return iter(loader)


class Litdata(Reader):
    package = "litdata"

    def write(self, kind: str, source: Path, folder: Path) -> None:
        import numpy as np
        from litdata.streaming.writer import BinaryWriter

        writer = BinaryWriter(str(folder), chunk_bytes="64MB")
        for count, row in enumerate(rows_of(source)):
            writer[count] = {**row, "tokens": np.asarray(row["tokens"], np.int32)} if kind == "tokens" else row
        writer.done()
        writer.merge(1)

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        from litdata import StreamingDataLoader, StreamingDataset

        class Samples(StreamingDataset):  # type: ignore[misc]
            def __getitem__(self, at: Any) -> Any:
                return finished(kind, super().__getitem__(at))

        rows = Samples(str(folder), shuffle=True, seed=SEED)
        return StreamingDataLoader(rows, batch_size=KINDS[kind][1], num_workers=workers)

    def state(self, loader: Any, batches: Any) -> Any:
        return loader.state_dict()

    def load(self, loader: Any, state: Any) -> Any:
        loader.load_state_dict(state)
        return iter(loader)


class Lance(Reader):
    package = "lance"
    workers = (0,)

    def write(self, kind: str, source: Path, folder: Path) -> None:
        import lance
        import pyarrow.parquet as pq

        lance.write_dataset(pq.read_table(source), str(folder / "rows.lance"))

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        import lance
        import torch

        class Samples(torch.utils.data.Dataset):  # type: ignore[misc]
            rows = lance.dataset(str(folder / "rows.lance"))

            def __len__(self) -> int:
                return int(self.rows.count_rows())

            def __getitems__(self, places: list[int]) -> list[Any]:
                return [finished(kind, row) for row in self.rows.take(places).to_pylist()]

        return _torch_loader(Samples(), kind, workers, shuffle=True, generator=torch.Generator().manual_seed(SEED))


class Single:
    """The rows as single files, or as one file of numbers, which a sampler reads at random.

    Args:
        kind: of the rows.
        folder: of the files.
    """

    def __init__(self, kind: str, folder: Path) -> None:
        self.kind, self.folder = kind, folder
        self.count = int((folder / "count").read_text())
        self.opened: Any = None

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, at: int) -> Any:
        import numpy as np

        if self.kind == "images":
            value: Any = (self.folder / f"{at:09d}.jpg").read_bytes()
        elif self.kind == "tokens":
            if self.opened is None:
                self.opened = np.memmap(self.folder / "tokens", np.int32, "r", shape=(self.count, 2048))
            value = np.array(self.opened[at])
        else:
            if self.opened is None:
                self.opened = (self.folder / "texts").read_text().split("\n")
            value = self.opened[at]
        return finished(self.kind, {"id": at, VALUE[self.kind]: value})


def write_single(kind: str, source: Path, folder: Path) -> None:
    """See `Single`."""
    import numpy as np

    rows = list(rows_of(source))
    (folder / "count").write_text(str(len(rows)))
    if kind == "images":
        for row in rows:
            (folder / f"{row['id']:09d}.jpg").write_bytes(row["image"])
    elif kind == "tokens":
        np.array([row["tokens"] for row in rows], np.int32).tofile(folder / "tokens")
    else:
        (folder / "texts").write_text("\n".join(row["text"] for row in rows))


class Torchdata(Reader):
    package = "torchdata"
    workers = (0,)  # it does not wait for its processes, so their time is not known

    def write(self, kind: str, source: Path, folder: Path) -> None:
        write_single(kind, source, folder)

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        import torch
        import torchdata.nodes as tn

        rows = Single(kind, folder)
        sampler = torch.utils.data.RandomSampler(rows, generator=torch.Generator().manual_seed(SEED))
        places = tn.Batcher(tn.SamplerWrapper(sampler), KINDS[kind][1], drop_last=False)

        def read(batch: list[int]) -> Any:
            return torch.utils.data.default_collate([rows[at] for at in batch])

        return tn.Loader(tn.Mapper(places, read))

    def state(self, loader: Any, batches: Any) -> Any:
        return loader.state_dict()

    def load(self, loader: Any, state: Any) -> Any:
        loader.load_state_dict(state)
        return iter(loader)


class Grain(Reader):
    package = "grain"
    workers = (0,)

    def write(self, kind: str, source: Path, folder: Path) -> None:
        write_single(kind, source, folder)

    def loader(self, kind: str, source: Path, folder: Path, workers: int) -> Any:
        import grain

        rows = grain.MapDataset.source(Single(kind, folder)).shuffle(seed=SEED)
        return rows.to_iter_dataset().batch(KINDS[kind][1], batch_fn=_stacked)

    def state(self, loader: Any, batches: Any) -> Any:
        return batches.get_state()

    def load(self, loader: Any, state: Any) -> Any:
        batches = iter(loader)
        batches.set_state(state)
        return batches


def _stacked(samples: Any) -> Any:
    import torch

    return torch.utils.data.default_collate(list(samples))


READERS: dict[str, tuple[str, Callable[[], Reader]]] = {
    "arrow": ("datasets_core, built (Arrow)", lambda: Files("datasets_core", "arrow")),
    "parquet": ("datasets_core, stream of Parquet", lambda: Files("datasets_core", "parquet")),
    "tar": ("datasets_core, stream of tar files", lambda: Files("datasets_core", "webdataset")),
    "tfrecord": ("datasets_core, stream of TFRecord", lambda: Files("datasets_core", "tfrecord")),
    "hf_arrow": ("datasets, built (Arrow)", lambda: Files("datasets", "arrow")),
    "hf_parquet": ("datasets, stream of Parquet", lambda: Files("datasets", "parquet")),
    "mosaic": ("mosaicml-streaming (MDS)", Mosaic),
    "litdata": ("litdata", Litdata),
    "webdataset": ("webdataset (tar files)", Webdataset),
    "torchdata": ("torchdata.nodes over files", Torchdata),
    "lance": ("Lance", Lance),
    "grain": ("grain over files", Grain),
}


# -- cells -------------------------------------------------------------------------------------------------------------


def spread(ids: list[int]) -> float:
    """How far apart stored neighbours end: the mean distance in the order, of that in a random order.

    >>> round(spread(list(range(1000))), 2)
    0.0
    """
    import numpy as np

    places = np.empty(len(ids))
    places[np.array(ids)] = np.arange(len(ids))
    return float(np.abs(np.diff(places)).mean() / (len(ids) / 3))


def read_cell(reader: Reader, kind: str, source: Path, folder: Path, workers: int, count: int) -> dict[str, Any]:
    """An epoch after a first batch that loads what is loaded late."""
    import cell

    loader = reader.loader(kind, source, folder, 0)
    next(iter(loader))
    loader = reader.loader(kind, source, folder, workers)
    watch = cell.Watch(0.05)
    watch.start()
    wall, cpu, ids = time.perf_counter(), cell.cpu_seconds(), []
    for batch in loader:
        ids += [int(number) for number in batch["id"]]
    del batch
    seconds = time.perf_counter() - wall
    loader = None  # workers end, so that their time counts
    watch.ended.set()
    watch.join()
    used = cell.cpu_seconds() - cpu - watch.cpu
    if sorted(set(ids)) != list(range(count)) or len(ids) != count:
        raise ValueError(f"{len(ids):,} samples, {len(set(ids)):,} different ones, of {count:,}")
    return {"seconds": seconds, "cpu": used, "memory_mb": watch.peak_kib / 1024, "spread": spread(ids)}


def resume_cell(reader: Reader, kind: str, source: Path, folder: Path, count: int) -> dict[str, Any]:
    """From half an epoch: the CPU time to the next batch of a new loader, and whether it is the batch that would have come."""
    import cell

    loader = reader.loader(kind, source, folder, 0)
    batches = iter(loader)
    for _ in range(count // KINDS[kind][1] // 2):
        next(batches)
    state = reader.state(loader, batches)
    if state is None:
        return {}
    wanted = [int(number) for number in next(batches)["id"]]
    loader = reader.loader(kind, source, folder, 0)
    cpu = cell.cpu_seconds()
    try:
        found = [int(number) for number in next(iter(reader.load(loader, state)))["id"]]
    except Exception as error:  # any kind: it is what the table says
        return {"resume_error": f"{type(error).__name__}: {error}"[:200]}
    return {"resume_cpu": cell.cpu_seconds() - cpu, "is_exact": found == wanted}


def run_cell(phase: str, name: str, kind: str, source: str, folder: str, workers: str, count: str) -> None:
    """One process: what it found, as JSON."""
    reader = READERS[name][1]()
    if phase == "has":
        importlib.import_module(reader.package)
        if importlib.util.find_spec("torch") is None:
            raise SystemExit("torch is not installed")
        return
    if phase == "write":
        reader.write(kind, Path(source), Path(folder))
        return
    places = (Path(source), Path(folder))
    found = read_cell(reader, kind, *places, int(workers), int(count))
    if workers == "0":
        found |= resume_cell(reader, kind, *places, int(count))
    print(json.dumps(found), flush=True)
    os._exit(0)  # no waiting for threads of a library


class Bench:
    """The cells of one call.

    Args:
        options: of the command line.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.scratch = Path(tempfile.mkdtemp(prefix="training-", dir=options.scratch))
        self.pythons = {name: self._python(name) for name in options.readers.split(",")}

    def _python(self, name: str) -> str | None:
        for python in (sys.executable, *(self.options.peer or ())):
            if "error" not in self._process(python, "has", name, "", Path(), Path()):
                return str(python)
        return None

    def _process(self, python: str, phase: str, name: str, kind: str, source: Path, folder: Path, *more: int) -> dict[str, Any]:
        given = [*map(str, more), *["0"] * (2 - len(more))]
        command = [python, __file__, "--cell", phase, name, kind or "images", str(source), str(folder), *given]
        environment = {
            **os.environ,
            "HF_HUB_OFFLINE": "1",
            "OMP_NUM_THREADS": "1",
            "HF_DATASETS_DISABLE_PROGRESS_BARS": "1",
            "HF_HOME": str(self.scratch),
        }
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), environment.get("PYTHONPATH"))))
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=900)
        if done.returncode:
            return {"error": (done.stderr.strip().splitlines() or ["no message"])[-1][:200]}
        return dict(json.loads(done.stdout.strip().splitlines()[-1])) if phase == "read" else {}

    def count(self, kind: str) -> int:
        """The number of samples."""
        return max(FILES, int(KINDS[kind][0] * self.options.scale))

    def row(self, name: str, kind: str) -> dict[str, Any]:
        """The figures of one reader."""
        count, source = self.count(kind), self.scratch / f"{kind}-source"
        if not source.exists():
            make_data(source, kind, count)
        folder, python = self.scratch / f"{kind}-{name}", self.pythons[name]
        assert python is not None
        folder.mkdir()
        failed = self._process(python, "write", name, kind, source, folder)
        if failed:
            return failed
        stored = source if not any(folder.iterdir()) else folder
        found: dict[str, Any] = {"mb": sum(path.stat().st_size for path in stored.rglob("*") if path.is_file()) / 1e6}
        asked = [int(number) for number in self.options.workers.split(",")]
        for workers in (number for number in READERS[name][1]().workers if number in asked):
            cell = self._process(python, "read", name, kind, source, folder, workers, count)
            if "error" in cell:
                found[f"error_{workers}"] = cell["error"]
                continue
            found[f"per_cpu_{workers}"] = count / cell["cpu"]
            found[f"per_second_{workers}"] = count / cell["seconds"]
            found[f"memory_mb_{workers}"] = cell["memory_mb"]
            found |= {
                key: cell[key]
                for key in ("spread", "resume_cpu", "is_exact", "resume_error")
                if key in cell and key not in found
            }
        return found


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cell", nargs=7, help=argparse.SUPPRESS)
    parser.add_argument(
        "--peer", action="append", metavar="PYTHON", help="an interpreter that has torch and some of the libraries"
    )
    parser.add_argument("--scratch", help="folder for temporary files")
    parser.add_argument("--scale", type=float, default=0.05, help="1.0 is 20,000 JPEGs (default 0.05)")
    parser.add_argument("--workers", default="0,2", help="numbers of workers of the loaders (default 0,2)")
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--readers", default=",".join(READERS))
    parser.add_argument("--out", type=Path, help="also write the figures to this file (docs/speed/results.json)")
    options = parser.parse_args()
    if options.cell:
        run_cell(*options.cell)
        return
    bench, rows = Bench(options), {}
    missing = [name for name, python in bench.pythons.items() if python is None]
    if missing:
        print(f"Not installed, so left out: {', '.join(missing)}\n")
    print(report.TRAINING_HEAD, flush=True)
    for kind in options.kinds.split(","):
        for name in bench.pythons:
            if name not in missing:
                what = f"{bench.count(kind):,} {KINDS[kind][2]}"
                rows[f"{kind}_{name}"] = {"what": what, "reader": READERS[name][0], **bench.row(name, kind)}
                print(report.training_line(rows[f"{kind}_{name}"]), flush=True)
                if options.out:
                    report.record(options.out, "training", *(options.peer or ()), scale=options.scale, rows=rows)


if __name__ == "__main__":
    main()
