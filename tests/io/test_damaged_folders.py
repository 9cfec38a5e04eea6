"""Saved and prepared folders of others, with changed, cut and forged files: rows, or one library error that names them."""

import itertools
import json
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import google_crc32c
import pyarrow as pa
import pytest

import datasets_core
from datasets_core.errors import CastError, DamagedShardError

LAW = """
import json, os, random, shutil, sys
import datasets_core as D
from datasets_core import config
from datasets_core.errors import DatasetsCoreError

kind, base, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
draw = random.Random(seed)
good, bad = os.path.join(base, "good"), os.path.join(base, "bad")
columns = {"n": list(range(300)), "s": ["text %d" % n for n in range(300)], "l": [[n] * (n % 4) for n in range(300)]}


def read(folder):
    if kind == "saved":
        rows = D.load_from_disk(folder)
    else:
        rows = D.builder_from_directory(folder).as_dataset(split="train")
    single = [rows[n] for n in (0, 150, len(rows) - 1)]
    return rows[:] if single else None


def forged(path):
    with open(path, "rb") as handle:
        return json.loads(handle.read())


def state_of(folder):
    return os.path.join(folder, "state.json" if kind == "saved" else "dataset_info.json")


def entries(content):
    return content["_data_files"] if kind == "saved" else content["manifest"]["shards"]


with config.using(cache_dir=os.path.join(base, "cache"), batch_rows=64):
    rows = D.Dataset.from_dict(columns)
    if kind == "saved":
        rows.save_to_disk(good)
    else:
        source = os.path.join(base, "source")
        os.makedirs(source)
        rows.to_parquet(os.path.join(source, "a.parquet"))
        builder = D.load_dataset_builder("parquet", data_files=os.path.join(source, "a.parquet"))
        builder.download_and_prepare(good)
    assert read(good) == columns
    outcomes = set()
    for number in range(120):
        shutil.rmtree(bad, ignore_errors=True)
        shutil.copytree(good, bad)
        shard = next(os.path.join(bad, name) for name in sorted(os.listdir(bad)) if name.endswith(".arrow"))
        how = draw.choice(["flip", "flip", "blind", "blind", "cut", "state", "count", "pipe", "device", "folder"])
        content = bytearray(open(shard, "rb").read())
        if how in ("flip", "blind"):
            for _ in range(draw.choice([1, 1, 4, 40])):
                place = draw.randrange(len(content))
                wide = content[place : place + draw.choice([1, 4, 8])]
                content[place : place + len(wide)] = draw.choice([b"\\xff" * 8, b"\\x7f" * 8, draw.randbytes(8)])[: len(wide)]
            open(shard, "wb").write(content)
        elif how == "cut":
            os.truncate(shard, draw.randrange(len(content)))
        elif how in ("pipe", "device", "folder"):
            victim = draw.choice([shard, state_of(bad)])
            os.unlink(victim)
            {"pipe": os.mkfifo, "folder": os.mkdir}.get(how, lambda path: os.symlink("/dev/zero", path))(victim)
        if how == "blind":  # without checksums, as older versions wrote it
            found = forged(state_of(bad))
            for entry in entries(found):
                entry.pop("crc32c", None)
            if kind == "saved" and draw.random() < 0.5:  # as Hugging Face `datasets` writes it
                found["_data_files"] = [{"filename": entry["filename"]} for entry in entries(found)]
            json.dump(found, open(state_of(bad), "w"))
        elif how == "count":
            found = forged(state_of(bad))
            size = draw.choice([len(content), 10**12])
            os.truncate(shard, size)
            entries(found)[0] |= {"size": size, "batches": [[draw.choice([0, 1]), draw.choice([10**6, 10**9, 10**12])]]}
            json.dump(found, open(state_of(bad), "w"))
        elif how == "state":
            text = bytearray(open(state_of(bad), "rb").read())
            text[draw.randrange(len(text))] = draw.randrange(256)
            open(state_of(bad), "wb").write(text)
        try:
            found = read(bad)
        except DatasetsCoreError as error:
            assert bad in str(error) or how == "state", (number, how, error)
            outcomes.add((how, "error"))
        else:
            assert how in ("blind", "state") or found == columns, (number, how)
            outcomes.add((how, "rows"))
    assert {("flip", "error"), ("cut", "error"), ("pipe", "error"), ("count", "error")} <= outcomes, outcomes
print("held")
"""


@pytest.mark.parametrize("kind", ["saved", "prepared"])
def test_a_folder_of_others_gives_rows_or_one_error_and_never_ends_the_program(kind: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LAW, kind, str(tmp_path), "23"], capture_output=True, text=True, timeout=300, check=False
    )
    assert (done.returncode, done.stdout.splitlines()[-1:]) == (0, ["held"]), done.stderr[-3000:]


def _spans(content: bytes, *cuts: int) -> str:
    """Checksums of the parts of a file between the cuts, as a state records them."""
    edges = [0, *cuts, len(content)]
    parts = [content[start:stop] for start, stop in itertools.pairwise(edges)]
    return " ".join(f"{len(part):x}:{google_crc32c.value(part):08x}" for part in parts)


@pytest.mark.parametrize("how", ["listed twice", "listed later", "linked"])
def test_a_file_is_validated_for_each_way_to_find_its_batches(how: str, tmp_path: Path) -> None:
    """A value of a sound file is itself a record batch, whose offsets point past the end of the file."""
    schema = pa.schema({"s": pa.binary()})
    hidden = bytearray(pa.record_batch([pa.array([b"y" * 64])], schema=schema).serialize().to_pybytes())
    at = hidden.rindex(struct.pack("<ii", 0, 64))
    hidden[at : at + 8] = struct.pack("<ii", 0, 0x7FFFFFF0)
    for padding in range(64):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, schema) as writer:
            writer.write_batch(pa.record_batch([pa.array([b"P" * padding + b"A" * 64 + hidden + b"B" * 64])], schema=schema))
        content = sink.getvalue().to_pybytes()
        if (start := content.index(hidden)) % 64 == 0:
            break
    (tmp_path / "data.arrow").write_bytes(content)
    (tmp_path / "dataset_info.json").write_text(json.dumps({"features": {"s": {"dtype": "binary", "_type": "Value"}}}))
    second = {"filename": "data.arrow", "size": len(content), "batches": [[1, 1]]}
    second["crc32c"] = _spans(content, start, start + len(hidden))

    def load(*listed: dict[str, Any]) -> datasets_core.Dataset:
        (tmp_path / "state.json").write_text(json.dumps({"_data_files": listed, "_fingerprint": "abcd", "_split": None}))
        return datasets_core.Dataset.load_from_disk(str(tmp_path))

    if how == "listed twice":
        rows = load({"filename": "data.arrow"}, second | {"filename": "./data.arrow"})
    elif how == "linked":
        (tmp_path / "other.arrow").hardlink_to(tmp_path / "data.arrow")
        rows = load({"filename": "data.arrow"}, second | {"filename": "other.arrow"})
    else:
        assert load({"filename": "data.arrow"})[0]["s"].startswith(b"P" * padding + b"A" * 64)
        rows = load(second)
    with pytest.raises(DamagedShardError, match="valid Arrow data"):
        rows[:]
    with pytest.raises(DamagedShardError, match="valid Arrow data"):
        rows.to_pandas()


def test_features_of_others_that_do_not_fit_name_their_file(tmp_path: Path) -> None:
    datasets_core.Dataset.from_dict({"n": [1], "s": ["a"]}).save_to_disk(str(tmp_path / "saved"))
    path = tmp_path / "saved" / "dataset_info.json"
    info = json.loads(path.read_text())
    info["features"]["other"] = info["features"].pop("s")
    path.write_text(json.dumps(info))
    with pytest.raises(CastError, match="'other'") as caught:
        datasets_core.load_from_disk(str(tmp_path / "saved"))
    assert caught.value.file == str(path) in str(caught.value)
