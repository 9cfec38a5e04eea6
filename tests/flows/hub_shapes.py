"""Repositories of every shape, and calls on them; what Hugging Face `datasets` makes of them is in `golden/hub_shapes.json`."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import struct
import tarfile
import wave
import zipfile
import zlib
from pathlib import Path
from typing import Any

Files = dict[str, bytes | str]


def csv(*values: object, column: str = "a") -> str:
    return f"{column}\n" + "".join(f"{value}\n" for value in values)


def lines(*rows: dict[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def parquet(values: dict[str, Any], row_group: int | None = None, metadata: dict[str, str] | None = None) -> bytes:
    import pyarrow
    import pyarrow.parquet

    table, sink = pyarrow.table(values), io.BytesIO()
    if metadata:
        table = table.replace_schema_metadata(metadata)
    pyarrow.parquet.write_table(table, sink, row_group_size=row_group)
    return sink.getvalue()


def arrow(values: dict[str, Any], *, is_stream: bool) -> bytes:
    import pyarrow

    table, sink = pyarrow.table(values), io.BytesIO()
    writer = (pyarrow.ipc.new_stream if is_stream else pyarrow.ipc.new_file)(sink, table.schema)
    with writer:
        writer.write_table(table)
    return sink.getvalue()


def png(red: int, width: int = 2, height: int = 2) -> bytes:
    """A picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = (b"\0" + bytes((red, 0, 0)) * width) * height
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(pixels)) + chunk(b"IEND", b"")


def wav(value: int, count: int = 8) -> bytes:
    sink = io.BytesIO()
    with wave.open(sink, "wb") as file:
        file.setparams((1, 2, 8000, 0, "NONE", ""))
        file.writeframes(struct.pack("<h", value) * count)
    return sink.getvalue()


def zipped(files: Files) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return sink.getvalue()


def tarred(files: Files) -> bytes:
    sink = io.BytesIO()
    with tarfile.open(fileobj=sink, mode="w") as archive:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return sink.getvalue()


def gz(text: str) -> bytes:
    return gzip.compress(text.encode(), mtime=0)


def card(front: str, text: str = "") -> str:
    return f"---\n{front.strip()}\n---\n{text}"


CLASS_CARD = """
dataset_info:
  features:
  - name: text
    dtype: string
  - name: label
    dtype:
      class_label:
        names:
          '0': neg
          '1': pos
  splits:
  - name: train
    num_bytes: 20
    num_examples: 2
  download_size: 30
  dataset_size: 20
"""

TWO_CONFIGS = """
configs:
- config_name: en
  data_files:
  - split: train
    path: en/train-*.csv
  - split: test
    path: [en/test.csv, en/more.csv]
- config_name: fr
  data_dir: fr
"""

INFOS = {
    "default": {
        "description": "old times",
        "features": {"a": {"dtype": "int32", "id": None, "_type": "Value"}},
        "splits": {"train": {"name": "train", "num_bytes": 8, "num_examples": 2, "dataset_name": "infos"}},
    }
}

SHAPES: dict[str, Files] = {
    # one file
    "csv": {"data.csv": csv(1, 2, 3)},
    "tsv": {"data.tsv": "a\tb\n1\tx\n"},
    "jsonl": {"data.jsonl": lines({"a": 1, "b": {"c": [1.5]}}, {"a": 2, "b": {"c": []}})},
    "json_array": {"data.json": json.dumps([{"a": 1}, {"a": 2}])},
    "parquet": {"data.parquet": parquet({"a": [1, 2, 3], "s": ["x", None, "z"]})},
    "text": {"data.txt": "one\ntwo\n\nfour\n"},
    "arrow_stream": {"data.arrow": arrow({"a": [1, 2]}, is_stream=True)},
    "arrow_file": {"data.arrow": arrow({"a": [1, 2]}, is_stream=False)},
    "xml": {"data.xml": "<r><x>1</x></r>"},
    "upper_case": {"DATA.CSV": csv(1)},
    # split names
    "split_files": {"train.csv": csv(1, 2), "test.csv": csv(3), "validation.csv": csv(4)},
    "split_words": {
        "my-train.csv": csv(1),
        "data_training_2.csv": csv(2),
        "dev.csv": csv(3),
        "eval1.csv": csv(4),
        "contrain.csv": csv(5),
    },
    "split_folders": {"train/a.csv": csv(1), "train/b.csv": csv(2), "valid/a.csv": csv(3), "testing/x/a.csv": csv(4)},
    "split_folders_deep": {"x/train/a.csv": csv(1), "x/test/a.csv": csv(2)},
    "data_folder": {"data/train.csv": csv(1), "data/test.csv": csv(2)},
    "sharded": {
        "data/train-00000-of-00002.parquet": parquet({"a": [1, 2]}),
        "data/train-00001-of-00002.parquet": parquet({"a": [3]}),
        "data/my.split-00000-of-00001.parquet": parquet({"a": [4]}),
        "other.parquet": parquet({"a": [5]}),
    },
    "sharded_hashes": {
        "data/train-00000-of-00002-0123456789abcdef.parquet": parquet({"a": [1]}),
        "data/train-00001-of-00002-fedcba9876543210.parquet": parquet({"a": [2]}),
    },
    "ten_files": {f"train_{n}.csv": csv(n) for n in range(12)},
    "nested": {"en/a.csv": csv(1), "fr/deep/b.csv": csv(2)},
    "train_and_other": {"train.csv": csv(1), "other.csv": csv(2)},
    "hidden": {
        "a.csv": csv(1),
        ".b.csv": csv(2),
        ".git2/c.csv": csv(3),
        "__pycache__/d.csv": csv(4),
        "__e.csv": csv(5),
        "_f.csv": csv(6),
        "dataset_info.json": "{}",
        "config.json": "{}",
    },
    "odd_names": {"train ä+b #1 50%.csv": csv(1), "train ?&=.csv": csv(2), "train/100%25.csv": csv(3)},
    "order_of_files": {"b.csv": csv(2), "B.csv": csv(1), "a10.csv": csv(4), "a9.csv": csv(3)},
    # formats
    "formats_mixed": {"a.csv": csv(1), "b.csv": csv(2), "c.jsonl": lines({"a": 3}), "notes.md": "hello"},
    "text_beside_csv": {"a.csv": csv(1), "LICENSE.txt": "mit\n"},
    "readme_text": {"a.jsonl": lines({"a": 1}), "README.md": "# hello", "LICENSE": "mit"},
    "jsonl_gz": {"data.jsonl.gz": gz(lines({"a": 1}, {"a": 2}))},
    "csv_gz_splits": {"train.csv.gz": gz(csv(1)), "test.csv.gz": gz(csv(2))},
    "jsonl_bz2_xz": {
        "train.jsonl.bz2": bz2.compress(lines({"a": 1}).encode()),
        "test.jsonl.xz": lzma.compress(lines({"a": 2}).encode()),
    },
    "zip_of_csv": {"data.zip": zipped({"x/a.csv": csv(1), "x/b.csv": csv(2)})},
    "zips_of_text": {"train.zip": zipped({"a.txt": "one\n"}), "test.zip": zipped({"b.txt": "two\n"})},
    # media
    "images": {"a.png": png(10), "b.png": png(20)},
    "image_classes": {f"{s}/{c}/{n}.png": png(n) for s in ("train", "test") for c in ("cat", "dog") for n in (1, 2)},
    "image_classes_one_split": {"cat/1.png": png(1), "dog/2.png": png(2)},
    "image_csv": {"train/1.png": png(1), "train/2.png": png(2), "train/metadata.csv": "file_name,text\n1.png,one\n2.png,two\n"},
    "image_jsonl": {
        "1.png": png(1),
        "x/2.png": png(2),
        "metadata.jsonl": lines({"file_name": "1.png", "n": 1}, {"file_name": "x/2.png", "n": 2}),
    },
    "image_metadata_parquet": {"1.png": png(1), "metadata.parquet": parquet({"file_name": ["1.png"], "n": [3]})},
    "image_metadata_split": {
        "train/1.png": png(1),
        "test/2.png": png(2),
        "train/metadata.csv": "file_name,n\n1.png,1\n",
        "test/metadata.csv": "file_name,n\n2.png,2\n",
    },
    "image_zip": {"train.zip": zipped({"cat/1.png": png(1), "dog/2.png": png(2)})},
    "image_zip_metadata": {"data.zip": zipped({"1.png": png(1), "metadata.csv": "file_name,t\n1.png,one\n"})},
    "image_no_labels": {
        "cat/1.png": png(1),
        "dog/2.png": png(2),
        "README.md": card("configs:\n- config_name: default\n  drop_labels: true\n  data_files: '**/*.png'"),
    },
    "audio": {"train/a.wav": wav(1), "train/b.wav": wav(2), "train/metadata.csv": "file_name,t\na.wav,one\nb.wav,two\n"},
    "audio_classes": {"yes/a.wav": wav(1), "no/b.wav": wav(2)},
    "webdataset": {
        "train-000.tar": tarred({"1.png": png(1), "1.json": '{"n": 1}', "2.png": png(2), "2.json": '{"n": 2}'}),
        "train-001.tar": tarred({"3.png": png(3), "3.json": '{"n": 3}'}),
    },
    # the card
    "two_configs": {
        "en/train-1.csv": csv(1),
        "en/train-2.csv": csv(2),
        "en/test.csv": csv(3),
        "en/more.csv": csv(4),
        "fr/test.csv": csv(5),
        "README.md": card(TWO_CONFIGS),
    },
    "default_config": {
        "a.csv": csv(1),
        "b.csv": csv(2),
        "README.md": card(
            "configs:\n- config_name: one\n  data_files: a.csv\n- config_name: two\n  data_files: b.csv\n  default: true\n"
        ),
    },
    "two_defaults": {
        "a.csv": csv(1),
        "README.md": card(
            "configs:\n- config_name: x\n  data_files: a.csv\n  default: true\n"
            "- config_name: y\n  data_files: a.csv\n  default: true\n"
        ),
    },
    "config_called_default": {
        "a.csv": csv(1),
        "b.csv": csv(2),
        "README.md": card("configs:\n- config_name: x\n  data_files: a.csv\n- config_name: default\n  data_files: b.csv\n"),
    },
    "one_config_named": {"a.csv": csv(1), "README.md": card("configs:\n- config_name: only\n  data_files: a.csv\n")},
    "formats_by_config": {
        "a/x.csv": csv(1),
        "b/x.jsonl": lines({"b": 2}),
        "c/train.parquet": parquet({"c": [3]}),
        "README.md": card(
            "configs:\n- config_name: a\n  data_files: a/*\n- config_name: b\n  data_files: b/*\n"
            "- config_name: c\n  data_dir: c\n"
        ),
    },
    "options": {
        "a.csv": "x;y\n1;2\n",
        "README.md": card("configs:\n- config_name: default\n  data_files: a.csv\n  sep: ;\n  skiprows: 0\n"),
    },
    "globs": {
        "d/1.csv": csv(1),
        "d/2.csv": csv(2),
        "d/e/3.csv": csv(3),
        "README.md": card(
            "configs:\n- config_name: flat\n  data_files: d/*.csv\n- config_name: deep\n  data_files: d/**/*.csv\n"
            "- config_name: set\n  data_files: d/[12].csv\n- config_name: one\n  data_files: d/?.csv\n"
            "- config_name: deepest\n  data_files: '**'\n"
        ),
    },
    "split_order": {
        "a.csv": csv(1),
        "b.csv": csv(2),
        "README.md": card(
            "configs:\n- config_name: default\n  data_files:\n"
            "  - split: zeta\n    path: a.csv\n  - split: alpha\n    path: b.csv\n"
        ),
    },
    "class_card": {"data.csv": "text,label\ngood,1\nbad,0\n", "README.md": card(CLASS_CARD)},
    "class_names": {"data.csv": "text,label\ngood,pos\nbad,neg\n", "README.md": card(CLASS_CARD)},
    "infos_json": {"data.csv": csv(1, 2), "dataset_infos.json": json.dumps(INFOS)},
    "huggingface_yaml": {
        "a.csv": csv(1),
        "b.csv": csv(2),
        ".huggingface.yaml": "configs:\n- config_name: default\n  data_files: b.csv\n",
    },
    "infos_by_config": {
        "a.csv": csv(1),
        "b.csv": csv(2),
        "README.md": card(
            "configs:\n- config_name: one\n  data_files: a.csv\n- config_name: two\n  data_files: b.csv\n"
            "dataset_info:\n- config_name: one\n  features:\n  - name: a\n    dtype: float32\n"
            "- config_name: two\n  features:\n  - name: a\n    dtype: string\n"
        ),
    },
    "hf_features": {
        "data.parquet": parquet(
            {"label": [0, 1]},
            metadata={
                "huggingface": json.dumps(
                    {"info": {"features": {"label": {"names": ["no", "yes"], "_type": "ClassLabel"}}}}  #
                )
            },
        )
    },
    "card_without_yaml": {"data.csv": csv(1), "README.md": "# Nothing but text\n"},
    "foreign_keys": {"data.csv": csv(1), "README.md": card("license: mit\ntags:\n- a\nodd: {x: 1}\n", "text")},
    "no_data": {"README.md": "# nothing"},
    "nothing_known": {"a.exe": b"MZ", "b.unknown": b"?"},
    "config_without_files": {"a.csv": csv(1), "README.md": card("configs:\n- config_name: x\n  data_files: none/*.csv\n")},
    "empty_csv_column": {"data.csv": "a,b\n1,\n2,\n"},
    "data_dirs": {"v1/train.csv": csv(1), "v1/test.csv": csv(2), "v2/train.csv": csv(3)},
    "different_columns": {"train.csv": csv(1), "test.csv": csv("x", column="b")},
    "json_field": {"data.json": json.dumps({"version": 1, "data": [{"a": 1}, {"a": 2}]})},
    "card_url": {
        "data.csv": csv(1),
        "README.md": card("configs:\n- config_name: default\n  data_files: data.csv\n  description: a set\n  version: 1.2.0\n"),
    },
}

LOAD = "load"

# (what, repository, arguments); "HUB" in an argument is where the hf:// URL of the repository begins
CALLS: list[tuple[str, str, dict[str, Any]]] = [
    *((LOAD, shape, {}) for shape in SHAPES),
    *((LOAD, shape, {"split": "train"}) for shape in ("csv", "parquet", "split_files", "sharded", "image_classes")),
    *((LOAD, "two_configs", {"name": name}) for name in ("en", "fr", "none")),
    *((LOAD, "default_config", {"name": name}) for name in ("one", "two")),
    *((LOAD, "formats_by_config", {"name": name}) for name in ("a", "b", "c")),
    *((LOAD, "globs", {"name": name}) for name in ("flat", "deep", "set", "one", "deepest")),
    *((LOAD, "infos_by_config", {"name": name}) for name in ("one", "two")),
    (LOAD, "config_called_default", {"name": "x"}),
    *(
        (LOAD, "split_files", {"split": split})
        for split in (
            *(
                "train[:1]",
                "train+test",
                "train[50%:]",
                "validation[-1:]",
                "train[:100%]+test[:1]",
                "all",
                "none",
                "train[1:1]",
            ),
            *(["train", "test"], {"x": "train"}),
        )
    ),
    *(
        (LOAD, "split_files", {"data_files": files})
        for files in (
            *("train.csv", "*.csv", "t*.csv", "./train.csv", "none.csv", "**/test.csv"),
            *(["train.csv", "test.csv"], {"train": "test.csv"}, {"a": ["test.csv", "validation.csv"], "b": "tr*.csv"}),
            *("HUB/test.csv", "HUB@main/te*.csv", {"test": "HUB@v1/test.csv"}),
        )
    ),
    *((LOAD, "data_dirs", {"data_dir": folder}) for folder in ("v1", "v2", "./v1", "v1/", "v3")),
    (LOAD, "data_dirs", {"data_dir": "v1", "data_files": "train.csv"}),
    (LOAD, "data_dirs", {"data_dir": "v1", "split": "test"}),
    (LOAD, "two_configs", {"data_files": "en/test.csv"}),
    (LOAD, "two_configs", {"data_dir": "en"}),
    (LOAD, "two_configs", {"name": "en", "split": "test"}),
    (LOAD, "zip_of_csv", {"data_files": "data.zip"}),
    (LOAD, "image_classes", {"drop_labels": True}),
    (LOAD, "image_csv", {"drop_metadata": True}),
    (LOAD, "options", {"sep": ","}),
    (LOAD, "json_field", {"field": "data"}),
    (LOAD, "parquet", {"columns": ["s"]}),
    (LOAD, "csv", {"names": ["z"], "header": 0}),
    (LOAD, "csv", {"nonsense": 1}),
    (LOAD, "csv", {"revision": "v1"}),
    (LOAD, "csv", {"revision": "refs/convert/parquet"}),
    (LOAD, "csv", {"revision": "none"}),
    (LOAD, "does_not_exist", {}),
    *(
        ("stream", shape, {})
        for shape in (
            "csv",
            "parquet",
            "sharded",
            "jsonl_gz",
            "two_splits_zip",
            "image_csv",
            "webdataset",
            "zip_of_csv",
            "text",
        )
        if shape in SHAPES
    ),
    ("stream", "split_files", {"split": "test"}),
    ("stream", "two_configs", {"name": "fr"}),
    *(("formatted", "csv", {"path": kind, "data_files": "HUB/data.csv"}) for kind in ("csv", "text")),
    ("formatted", "csv", {"path": "csv", "data_files": {"test": ["HUB@v1/data.csv"]}}),
    ("formatted", "split_files", {"path": "csv", "data_files": "HUB/*.csv"}),
    ("formatted", "split_files", {"path": "csv", "data_dir": "HUB"}),
    ("formatted", "zip_of_csv", {"path": "csv", "data_files": "zip://x/*.csv::HUB/data.zip"}),
    *(
        ("names", shape, {})
        for shape in (
            *("csv", "two_configs", "default_config", "config_called_default", "one_config_named", "class_card", "infos_json"),
            *("infos_by_config", "sharded", "split_files", "image_classes", "no_data", "huggingface_yaml", "formats_by_config"),
        )
    ),
    *(("builder", shape, {}) for shape in ("csv", "class_card", "infos_json", "sharded", "image_classes", "hf_features")),
    ("builder", "infos_by_config", {"name": "two"}),
]


def title(call: tuple[str, str, dict[str, Any]]) -> str:
    """What a call is named in the golden file, and as a test."""
    what, shape, arguments = call
    return f"{what} {shape} {json.dumps(arguments)}" if arguments else f"{what} {shape}"


def repository(call: tuple[str, str, dict[str, Any]]) -> str:
    """Where a call is made: questions are put to repositories of which nothing was ever built."""
    return f"me/{call[1]}" if call[0] in {"names", "builder"} else f"org/{call[1]}"


def extend(hub: Any) -> None:
    """Make every repository twice, with a tag "v1", and for "csv" a conversion."""
    for shape, files in SHAPES.items():
        for owner in ("org", "me"):
            hub.repo(f"{owner}/{shape}", files).tag("v1")
    repo = hub.repos["org/csv"]
    repo.commit({"default/train/0000.parquet": parquet({"a": [7, 8]})}, delete=["data.csv"], branch="refs/convert/parquet")


# what comes out here where Hugging Face `datasets` fails by a fault of its own, or knows a type less
OURS: dict[str, Any] = json.loads(Path(__file__).with_name("golden").joinpath("hub_shapes_ours.json").read_text())


def compared(found: Any, expected: Any) -> Any:
    """The outcome in the form of the expected one: of an error, whether it is one, where no kind is asked for."""
    if "error" in found:
        return {"error": "Exception" if expected.get("error") == "Exception" else found["error"]}
    return json.loads(json.dumps(found).replace('"large_string"', '"string"'))
