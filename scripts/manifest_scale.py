"""Measures a made-up manifest of very many shards: its size on disk, the time to open it and to plan slices, the memory.

    python scripts/manifest_scale.py --shards 1000000
    python scripts/manifest_scale.py --shards 1000000 --format arrow

No shard exists: only the manifest is written, and read in a new process.  Each shard has its own size, hash and number of rows;
one of 1 GB of Parquet has ten row groups, one of Arrow has as many checksums as batches (`--batches`).
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from datasets_core import Features, Value  # noqa: E402
from datasets_core.features.schema import plain_schema  # noqa: E402
from datasets_core.meta.info import DatasetInfo  # noqa: E402
from datasets_core.meta.split_info import SplitDict, SplitInfo, shard_file_name  # noqa: E402
from datasets_core.store.fingerprint import Hasher  # noqa: E402
from datasets_core.store.manifest import Manifest, ShardRecord, manifest_files, read_manifest, runs  # noqa: E402
from datasets_core.store.pieces import row_ranges  # noqa: E402
from datasets_core.store.source import open_rows  # noqa: E402


def made_up(count: int, file_format: str, batches: int) -> Manifest:
    """A manifest of shards that do not exist."""
    chance = random.Random(0)
    shards = []
    for number in range(count):
        rows = 1_000_000 - chance.randrange(1000)
        sizes = [rows // batches + (rows % batches if batch == batches - 1 else 0) for batch in range(batches)]
        parts = [700, *(chance.randrange(1 << 26, 1 << 27) for _ in sizes), 500]
        crcs = [0x1234ABCD, *(chance.getrandbits(32) for _ in parts[1:])]  # all shards begin with the same schema
        sums = " ".join(f"{part:x}:{crc:08x}" for part, crc in zip(parts, crcs, strict=True)) if file_format == "arrow" else ""
        size = sum(parts) if sums else 1_000_000_000 - chance.randrange(1 << 20)
        name = shard_file_name("pages", "train", number, count, file_format)
        digest = chance.randbytes(32).hex()
        shards.append(ShardRecord(name, "train", rows, size, size * 2 - chance.randrange(1000), digest, runs(sizes), sums))
    rows = sum(shard.rows for shard in shards)
    splits = SplitDict({"train": SplitInfo("train", num_examples=rows, dataset_name="pages")}, dataset_name="pages")
    features = Features({"text": Value("string")})
    info = DatasetInfo(features=features, splits=splits, dataset_name="pages")
    schema = Hasher.hash(plain_schema(features.arrow_schema))
    return Manifest(info, tuple(shards), file_format, created="2026-01-01T00:00:00+00:00", identity="made up", schema=schema)


def measured(folder: str) -> None:
    """Open the manifest, plan slices, and print times."""
    import pyarrow.parquet  # noqa: F401  imports are not what is measured

    import datasets_core.store.shard_records  # noqa: F401

    begun = time.perf_counter()
    manifest = read_manifest(folder)
    assert manifest is not None
    print(f"opened in {time.perf_counter() - begun:.3f} s: {len(manifest.shards):,} shards")
    total = sum(map(sum, manifest.split_lengths().values()))
    for text in (f"train[{total // 2}:{total // 2 + 5_000_000}]", "train[37%:38%]", "train[10%:60%]", "train"):
        begun = time.perf_counter()
        ranges = row_ranges(text, manifest.split_lengths())
        planned = time.perf_counter() - begun
        begun = time.perf_counter()
        table = open_rows(folder, manifest, ranges, is_asked=False)
        opened = time.perf_counter() - begun
        print(
            f"{text}: {len(ranges):,} ranges in {planned * 1e3:.1f} ms; as a table of {len(table):,} rows {opened * 1e3:.1f} ms"
        )
    print(f"memory at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main() -> None:
    """Read the options and run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=1_000_000)
    parser.add_argument("--format", choices=["arrow", "parquet"], default="parquet")
    parser.add_argument("--batches", type=int, default=0, help="of a shard; 10 for Parquet, 1 for Arrow")
    parser.add_argument("--read", metavar="FOLDER", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.read:
        measured(options.read)
        return
    with tempfile.TemporaryDirectory() as folder:
        manifest = made_up(options.shards, options.format, options.batches or {"parquet": 10, "arrow": 1}[options.format])
        begun = time.perf_counter()
        for name, content in manifest_files(manifest).items():
            Path(folder, name).write_bytes(content)
        seconds = time.perf_counter() - begun
        size = sum(path.stat().st_size for path in Path(folder).iterdir())
        print(f"{options.shards:,} shards of {options.format}: {size / 1e6:.1f} MB, written in {seconds:.1f} s", flush=True)
        subprocess.run([sys.executable, os.path.abspath(__file__), "--read", folder], check=True)


if __name__ == "__main__":
    main()
