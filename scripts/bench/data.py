"""The benchmark's data: seeded, made once for each scale, by numpy and pyarrow alone."""

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

WORDS = np.array(
    [
        "the",
        "of",
        "and",
        "data",
        "row",
        "shard",
        "split",
        "of",
        "a",
        "model",
        "train",
        "slow",
        "fast",
        "penguin",
        "table",
        "column",
        "arrow",
        "file",
        "name",
        "value",
        "größe",
        "naïve",
        "数据",
        "stream",
        "order",
        "version",
        "build",
    ]
)


def _texts(random: np.random.Generator, rows: int, words: int) -> list[str]:
    picked = WORDS[random.integers(0, len(WORDS), (rows, words))]
    return [" ".join(line) for line in picked]


def _flat(rows: int, seed: int) -> pa.Table:
    """Seven columns, as in a usual table: integers, floats, a flag, a category, a sentence."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "id": np.arange(seed * rows, (seed + 1) * rows),
            "x": random.normal(size=rows),
            "y": random.random(rows).astype("float32"),
            "count": random.integers(0, 1000, rows).astype("int32"),
            "flag": random.random(rows) < 0.5,
            "category": WORDS[random.integers(0, len(WORDS), rows)],
            "text": _texts(random, rows, 8),
        }
    )


def _nested(rows: int, seed: int) -> list[str]:
    random = np.random.default_rng(seed)
    texts = _texts(random, rows, 6)
    lines = []
    for row in range(rows):
        spans = [{"start": int(at), "label": "ab"[int(at) % 2]} for at in random.integers(0, 99, 3)]
        record = {
            "id": row,
            "meta": {"source": "web", "score": float(random.random())},
            "tags": texts[row].split(),
            "spans": spans,
        }
        lines.append(json.dumps(record, ensure_ascii=False))
    return lines


def _csv(folder: Path, scale: float) -> None:
    for part in range(4):
        pacsv.write_csv(_flat(int(250_000 * scale), part), folder / f"{part}.csv")


def _jsonl(folder: Path, scale: float) -> None:
    for part in range(4):
        rows = _flat(int(125_000 * scale), part).to_pylist()
        (folder / f"{part}.jsonl").write_text(
            "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
        )


def _nested_files(folder: Path, scale: float) -> None:
    for part in range(4):
        (folder / f"{part}.jsonl").write_text("\n".join(_nested(int(40_000 * scale), part)) + "\n", encoding="utf-8")


def _parquet(folder: Path, scale: float) -> None:
    for part in range(4):
        pq.write_table(_flat(int(250_000 * scale), part), folder / f"{part}.parquet", row_group_size=65_536)


def _text(folder: Path, scale: float) -> None:
    for part in range(4):
        lines = _texts(np.random.default_rng(part), int(500_000 * scale), 10)
        (folder / f"{part}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


def _small(folder: Path, scale: float) -> None:
    for part in range(int(2_000 * scale)):
        rows = [{"id": part * 5 + row, "text": f"row {row}", "score": row / 7} for row in range(5)]
        (folder / f"{part:05d}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def _big(folder: Path, scale: float) -> None:
    """One CSV file of about 1 GB at scale 1, written in steps."""
    with open(folder / "big.csv", "wb") as out:
        for part in range(max(1, int(60 * scale))):
            pacsv.write_csv(_flat(250_000, part), out, pacsv.WriteOptions(include_header=part == 0))


def _shards(folder: Path, scale: float) -> None:
    for part in range(100):
        pq.write_table(
            pa.table({"id": np.arange(part * 1000, part * 1000 + int(100_000 * scale))}), folder / f"{part:03d}.parquet"
        )


def _images(folder: Path, scale: float) -> None:
    """PNG files of 64 x 64 pixels of noise, in ten folders."""
    for part in range(int(2_000 * scale)):
        pixels = np.random.default_rng(part).integers(0, 256, (64, 64, 3), np.uint8)
        place = folder / f"class-{part % 10}" / f"{part:05d}.png"
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(_png(pixels))


def _png(pixels: np.ndarray[tuple[int, int, int], np.dtype[np.uint8]]) -> bytes:
    height, width, _ = pixels.shape
    lines = np.concatenate([np.zeros((height, 1), np.uint8), pixels.reshape(height, -1)], axis=1)
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)), (b"IDAT", zlib.compress(lines.tobytes(), 1))]
    packed = (
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in [*chunks, (b"IEND", b"")]
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


MAKERS: dict[str, Callable[[Path, float], None]] = {
    "csv": _csv,
    "jsonl": _jsonl,
    "nested": _nested_files,
    "parquet": _parquet,
    "text": _text,
    "small": _small,
    "big": _big,
    "shards": _shards,
    "images": _images,
}


def files(root: Path, kind: str) -> list[str]:
    """The files of one kind, in order."""
    return sorted(str(path) for path in (root / kind).iterdir())


def make(root: Path, kind: str, scale: float) -> None:
    """Make the files of one kind, unless a finished run left them."""
    folder = root / kind
    if not folder.exists():
        unfinished = root / f"{kind}.unfinished"
        unfinished.mkdir(parents=True, exist_ok=True)
        MAKERS[kind](unfinished, scale)
        unfinished.rename(folder)
