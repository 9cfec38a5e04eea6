"""Writes the golden data below `data/`: what the library of before leaves behind, for the library of after to find again.

    python tests/golden/make.py [PART...]

Parts: see `PARTS`; without one all are made, in order.  Run it with the code of before, never to make a test pass: whatever
changes here is a state, a cache, a fingerprint or a name that a user had, and that is lost with the next version.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import golden_cases as cases
import golden_files as golden
import golden_names as names
import golden_values as values
import pyarrow as pa
import pyarrow.parquet as pq
from golden_files import DATA, SOURCES, TIME

from datasets_core import Dataset, config, load_dataset, lock_dataset, records

PARTS: dict[str, Callable[[], None]] = {}


def part(function: Callable[[], None]) -> Callable[[], None]:
    """Have a function make the part of its name."""
    PARTS[function.__name__] = function
    return function


@contextlib.contextmanager
def emptied() -> Iterator[Path]:
    """A cache of its own, in which nothing is."""
    with tempfile.TemporaryDirectory() as home, config.using(cache_dir=home):
        yield Path(home)


# -- sources -----------------------------------------------------------------------------------------------------------


@part
def sources() -> None:
    """The files that all else is made of."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        _texts(root)
        _columns(root)
        _archives(root)
        for name, text in cases.SCRIPTS.items():
            _put(root / "scripts" / name / f"{name}.py", text)
        golden.pack(root, "sources.tar.gz")


def _put(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


def _texts(root: Path) -> None:
    for number, rows in enumerate(cases.PARTS_OF_ROWS):
        lines = [f"{row['n']},{row['t']},{row['x']}" for row in rows]
        csv = "\n".join(["n,t,x", *lines, ""])
        _put(root / "csv" / f"{number}.csv", csv)
        _put(root / "csv_gz" / f"{number}.csv.gz", gzip.compress(csv.encode(), mtime=0))
        _put(root / "json" / f"{number}.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
        _put(root / "json_array" / f"{number}.json", json.dumps({"data": rows}))
        _put(root / "text" / f"{number}.txt", "".join(f"{row['t']} {row['n']}\n" for row in rows))
        _put(root / "paragraphs" / f"{number}.txt", "\n\n".join(f"{row['t']}\n{row['n']}" for row in rows) + "\n")
        genes = [f">s{row['n']} a {row['t']}\nACGT\nAC{'G' * row['n']}\n" for row in rows]
        _put(root / "fasta" / f"{number}.fasta", "".join(genes))
        _put(root / "fastq" / f"{number}.fastq", "".join(f"@s{row['n']}\nACGT\n+\nIIII\n" for row in rows))
        _put(root / "conll" / f"{number}.conll", "\n".join(f"{row['t']}\tN\n{row['n']}\tC\n" for row in rows))
        for row in rows:
            _put(root / "xml" / f"{row['t']}.xml", f"<r>{row['n']}</r>\n")
    for folder, paths in cases.MEDIA.items():  # which builders do not look into
        for name in paths:
            _put(root / folder / name, f"{folder} {name}".encode())
    _put(root / "hdf5" / "a.h5", b"no hdf5")
    _put(root / "croissant" / "croissant.json", json.dumps(cases.CROISSANT, indent=1))
    _put(root / "croissant" / "birds.csv", "n,t\n1,a\n2,b\n")
    with zipfile.ZipFile(io.BytesIO(), "w") as archive:
        for number in range(2):
            archive.writestr(zipfile.ZipInfo(f"birds/{number}.csv"), f"n,t\n{number},z\n")
        assert isinstance(archive.fp, io.BytesIO)
        zipped = archive.fp
    _put(root / "zip" / "birds.zip", zipped.getvalue())
    _put(root / "large_csv" / "large.csv", "n,t\n" + "".join(f"{number},{'wren' * 8}\n" for number in range(20_000)))
    _put(root / "large_json" / "large.jsonl", "".join(f'{{"n": {n}, "t": "{"wren" * 8}"}}\n' for n in range(30_000)))
    _put(root / "large_text" / "large.txt", "".join(f"{n} {'wren' * 8}\n" for n in range(20_000)))
    for number, rows in enumerate(cases.PARTS_OF_ROWS[:2]):
        text = "n,t\n" + "".join(f"{row['n']},{row['t']}\n" for row in rows)
        _put(root / "scripts" / "old_rows" / "data" / f"{number}.csv", text)
    _put(root / "card" / "data" / "train-0.csv", "n,t\n1,a\n2,b\n")
    _put(root / "card" / "data" / "test-0.csv", "n,t\n3,c\n")
    _put(root / "card" / "README.md", cases.CARD)


def _columns(root: Path) -> None:
    schema = pa.schema({"n": pa.int64(), "t": pa.string(), "x": pa.float64(), "v": pa.list_(pa.int64())})
    for number, rows in enumerate(cases.PARTS_OF_ROWS):
        table = pa.Table.from_pylist(rows, schema)
        for kind in ("parquet", "arrow", "arrow_stream", "feather", "tfrecord", "tfrecord_indexed"):
            (root / kind).mkdir(parents=True, exist_ok=True)
        pq.write_table(table, root / "parquet" / f"{number}.parquet", row_group_size=3)
        with pa.ipc.new_file(root / "arrow" / f"{number}.arrow", schema) as out:
            out.write_table(table, max_chunksize=3)
        with pa.ipc.new_stream(root / "arrow_stream" / f"{number}.arrow", schema) as out:
            out.write_table(table, max_chunksize=3)
        import pyarrow.feather as feather

        feather.write_feather(table, root / "feather" / f"{number}.feather", compression="uncompressed")
        (root / "large_tfrecord").mkdir(exist_ok=True)
        if not number:
            large = [{"n": n, "t": "wren" * 8_000} for n in range(60)]
            Dataset.from_list(large).to_tfrecord(root / "large_tfrecord" / "large.tfrecord")
        for kind in ("tfrecord", "tfrecord_indexed"):
            path = root / kind / f"{number}.tfrecord"
            Dataset.from_list(rows).select_columns(["n", "t", "x"]).to_tfrecord(path)
            if kind == "tfrecord_indexed":
                records.index(path, save=True)
    with sqlite3.connect(":memory:") as connection:
        connection.execute("create table birds (n integer, t text)")
        connection.executemany("insert into birds values (?, ?)", [(row["n"], row["t"]) for row in cases.ROWS])
        connection.commit()
        _put(root / "sql" / "birds.sqlite", connection.serialize())
    connection.close()


def _archives(root: Path) -> None:
    from PIL import Image

    for number, rows in enumerate(cases.PARTS_OF_ROWS):
        path = root / "webdataset" / f"{number}.tar"
        path.parent.mkdir(parents=True, exist_ok=True)
        with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as archive:
            for row in rows:
                for extension, content in (("txt", str(row["t"])), ("json", json.dumps({"n": row["n"]}))):
                    data = content.encode()
                    info = tarfile.TarInfo(f"{row['t']}.{extension}")
                    info.size, info.mtime = len(data), TIME
                    archive.addfile(info, io.BytesIO(data))
        for row in rows:
            place = root / "images" / ("even" if row["n"] % 2 == 0 else "odd") / f"{row['t']}.png"
            place.parent.mkdir(parents=True, exist_ok=True)
            Image.new("L", (2, 2), row["n"]).save(place)


# -- states ------------------------------------------------------------------------------------------------------------


@part
def states() -> None:
    """The states of every source behind every step, and the rows behind each of them."""
    rows: dict[str, int] = {}
    found: dict[str, Any] = {}
    refused: list[str] = []
    with golden.standing_sources():
        for source in cases.SOURCES_OF_STREAMS:
            with emptied():
                streams = cases.streams_of(source)
                found[source] = {step: cases.steadily_walked(make, rows) for step, make in streams.items()}
                refused += [f"{source}/{step}" for step, make in streams.items() if cases.refused(make, found[source][step])]
        large = {}
        for name, make in cases.LARGE.items():
            with emptied():
                large[name] = cases.walked_far(make)
        merged = {}
        for kind in cases.MERGED:
            with emptied():
                ranks, batches = cases.merged(kind), cases.behind_batches(kind)
                rest = cases.rest_of_merged(kind, ranks), cases.rest_of_batches(kind, batches)
                merged[kind] = [[ranks, rest[0]], [batches, rest[1]]]
    golden.write_json("merged.json.gz", merged)
    golden.write_json("states.json.gz", {"rows": list(rows), "cases": found, "large": large, "refused": refused})


# -- caches ------------------------------------------------------------------------------------------------------------


@part
def caches() -> None:
    """What builds and transforms leave in the cache, and the rows that are read from there."""
    rows, asked = {}, {}
    with golden.standing_sources(), tempfile.TemporaryDirectory() as folder:
        for name, load in cases.CACHED.items():
            with config.using(cache_dir=os.path.join(folder, name)):
                rows[name] = load()
                cases.GoldenStore.asked = 0
                assert load() == rows[name], name  # what is known from the first time is read in another way
                asked[name] = cases.GoldenStore.asked
        for lock in Path(folder).rglob("*.lock"):
            lock.unlink()
        golden.pack(Path(folder), "caches.tar.gz")
        with emptied():
            places = {name: cases.place_of(*reference) for name, reference in cases.FORMATS.items()}
    asked = {name: count for name, count in asked.items() if count}
    golden.write_json("caches.json", {"rows": rows, "places": places, "asked": asked})


# -- hub ---------------------------------------------------------------------------------------------------------------


@part
def hub() -> None:
    """The hub cache, the builds of repositories, and downloads, as they are found without a network."""
    small = cases.hub_module("server").SmallHub()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, golden.standing_sources():
        home = Path(folder)
        files = {"README.md": cases.HUB_CARD, "data/train.csv": "n,t\n1,a\n2,b\n", "data/test.csv": "n,t\n3,c\n"}
        repo = small.repo("org/birds", files)
        small.repo("org/large", {"train.parquet": (SOURCES / "parquet" / "0.parquet").read_bytes()}, lfs=True)
        with cases.at_hub(home, hub_endpoint=small.url, offline=False):
            found["commit"] = repo.sha
            found["rows"] = {name: load(repo.sha) for name, load in cases.HUB.items()}
            server = cases.test_module("range_server")
            with server.serving() as serving:
                found["url"] = serving.put("birds.csv", b"n,t\n7,q\n")
                found["rows"]["download"] = cases.downloaded(found["url"])
        small.stop()
        shutil.copytree(home / "hub", home / "hub_of_copies")  # links are followed
        for place in [*home.glob("hub_of_copies/*/.listings"), *home.glob("hub_of_copies/*/blobs")]:
            shutil.rmtree(place)
        for path in home.glob("hub_of_copies/*/snapshots/**/*"):
            os.utime(path, (TIME, TIME))
        with cases.at_hub(home, hub="hub_of_copies", cache_dir=str(home / "passing")):
            cases.HUB["main"](repo.sha)
        shutil.rmtree(home / "passing")
        for lock in home.rglob("*.lock"):
            lock.unlink()
        golden.pack(home, "hub.tar.gz")
    golden.write_json("hub.json", found)


# -- what is half finished, and locks ----------------------------------------------------------------------------------


@part
def journals() -> None:
    """Builds and writes that broke off, and what the rest of them called and gave."""
    found = {}
    with golden.standing_sources(), tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        calls = Path(other) / "calls"
        for name in cases.BROKEN:
            place = Path(folder) / name
            place.mkdir()
            _killed(name, place, calls)
            golden.moved(place, str(place), "@FOLDER@")
            again = Path(shutil.copytree(place, Path(other) / name))
            golden.moved(again, "@FOLDER@", str(again))
            calls.unlink()
            rows = cases.finished(name, again, calls)
            found[name] = {"rows": rows, "calls": calls.read_text().split()}
            calls.unlink()
        for lock in [*Path(folder).rglob("*.lock"), *Path(folder).rglob("lock")]:
            lock.unlink()
        golden.pack(Path(folder), "journals.tar.gz")
    golden.write_json("journals.json", found)


def _killed(name: str, place: Path, calls: Path) -> None:
    """Begin it in another process, which is killed on the way."""
    code = "import sys; sys.path.insert(0, sys.argv[1]); import golden_cases as cases; from pathlib import Path\n"
    code += "cases.finished(sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4]))"
    command = [sys.executable, "-c", code, str(Path(__file__).parent), name, str(place), str(calls)]
    done = subprocess.run(command, env={**os.environ, "GOLDEN_FAILS": str(cases.BROKEN[name][0])}, check=False)
    if done.returncode != 9:
        raise SystemExit(f"{name} was not killed on its way")


@part
def locks() -> None:
    """The files that `lock_dataset` writes."""
    found = {}
    with golden.standing_sources(), emptied() as folder:
        for name, (path, arguments) in cases.LOCKED.items():
            lock_dataset(path, lock=folder / "dataset.lock", **arguments)
            found[name] = (folder / "dataset.lock").read_text()
            (folder / "dataset.lock").unlink()
    golden.write_json("locks.json", found)


# -- values and names --------------------------------------------------------------------------------------------------


@part
def fingerprints() -> None:
    """The fingerprints of values of many kinds, and of datasets that were made of them."""
    golden.write_json("fingerprints.json", {name: values.fingerprint_of(make) for name, make in values.VALUES.items()})


@part
def public_names() -> None:
    """Public import paths with the signatures there, the faces of old libraries, and entry points."""
    paths = [*names.modules(), *names.NAMESPACES]
    told = {path: {name: names.described(path, name) for name in names.names_of(path)} for path in paths}
    content = {"signatures": told, "entry_points": names.entry_points(), "opened": names.opened_entry_points()}
    golden.write_json("names.json.gz", content)


@part
def faces() -> None:
    """What the names of old libraries are, as a script sees them; those that need a package which is not here are left out."""
    # private, and of before only: which modules there are, the test reads from the data
    from datasets_core.scripting.faces import FACES, open_face

    tables = {old: dict.fromkeys(name for name in dir(open_face(old)) if not name.startswith("_")) for old in FACES}
    with emptied() as folder:
        script = folder / "faces_of_old.py"
        script.write_text(names.script_of_faces(tables))
        rows = load_dataset(str(script), split="train")
        for old, told in zip(rows["old"], rows["is"], strict=True):
            module, _, name = old.partition(" ")
            if told.endswith("Error") and told in ("ImportError", "ModuleNotFoundError", "MissingDependencyError"):
                del tables[module][name]
            else:
                tables[module][name] = told
    golden.write_json("faces.json.gz", tables)


def main(names: list[str]) -> None:
    """Make the parts of these names, or all."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise SystemExit(f"There is no part {unknown[0]!r}. Parts: {', '.join(PARTS)}.")
    DATA.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, config.using(cache_dir=home):
        for name, make in PARTS.items():
            if not names or name in names:
                make()
                print(f"{name} is made", file=sys.stderr)
    sizes = {path.name: path.stat().st_size for path in sorted(DATA.iterdir())}
    print("\n".join(f"{size:>9,} {name}" for name, size in sizes.items()), f"{sum(sizes.values()):>9,} in all", sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
