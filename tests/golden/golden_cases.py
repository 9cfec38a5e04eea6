"""What golden data are made of: rows, sources, steps, functions and values; the same for `make.py` and for the tests."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from functools import cache, partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from unittest import mock

import fsspec
from fsspec import AbstractFileSystem
from golden_files import SOURCES, TIME

from datasets_core import (
    Dataset,
    DownloadConfig,
    DownloadManager,
    Features,
    IterableDataset,
    ReadConfig,
    Value,
    builder_from_directory,
    concatenate_datasets,
    get_dataset_config_names,
    interleave_datasets,
    load_dataset,
    load_dataset_builder,
    load_from_disk,
    merge_states,
)
from datasets_core.config import settings, using
from datasets_core.distributed import split_dataset_by_node
from datasets_core.errors import DatasetsCoreError, StreamStateError

ROWS = [{"n": n, "t": f"r{n:02d}", "x": n / 4, "v": list(range(n % 5))} for n in range(22)]
PARTS_OF_ROWS = [ROWS[:8], ROWS[8:15], ROWS[15:]]

CARD = """---
configs:
- config_name: small
  data_files:
  - split: train
    path: data/train-*.csv
  - split: test
    path: data/test-*.csv
---
Some birds.
"""

MEDIA = {
    "audio": ["a/x.wav", "b/y.wav"],
    "video": ["a/x.mp4", "b/y.mp4"],
    "pdf": ["a/x.pdf", "b/y.pdf"],
    "mesh": ["a/x.glb", "b/y.glb"],
    "nifti": ["a/x.nii", "b/y.nii"],
}

CROISSANT = {
    "@context": {"@vocab": "https://schema.org/", "sc": "https://schema.org/", "cr": "http://mlcommons.org/croissant/",
                 "dct": "http://purl.org/dc/terms/", "conformsTo": "dct:conformsTo", "recordSet": "cr:recordSet",
                 "field": "cr:field", "source": "cr:source", "fileObject": "cr:fileObject", "extract": "cr:extract",
                 "column": "cr:column", "dataType": {"@id": "cr:dataType", "@type": "@vocab"}},
    "@type": "sc:Dataset",
    "name": "birds",
    "conformsTo": "http://mlcommons.org/croissant/1.0",
    "distribution": [{"@type": "cr:FileObject", "@id": "birds.csv", "name": "birds.csv", "contentUrl": "birds.csv",
                      "encodingFormat": "text/csv"}],
    "recordSet": [{"@type": "cr:RecordSet", "@id": "rows", "name": "rows", "field": [
        {"@type": "cr:Field", "@id": "rows/n", "name": "n", "dataType": "sc:Integer",
         "source": {"fileObject": {"@id": "birds.csv"}, "extract": {"column": "n"}}},
        {"@type": "cr:Field", "@id": "rows/t", "name": "t", "dataType": "sc:Text",
         "source": {"fileObject": {"@id": "birds.csv"}, "extract": {"column": "t"}}},
    ]}],
}  # fmt: skip

BREAKING = """
import os

import pyarrow as pa

import datasets_core as datasets


def _begun(part):
    with open(os.environ["GOLDEN_CALLS"], "a") as calls:
        calls.write(f"{part}\\n")
    if part >= int(os.environ.get("GOLDEN_FAILS", "99")):
        os._exit(9)  # as a kill, behind which nothing is cleared away


class NAME(datasets.BASE):
    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"n": datasets.Value("int64"), "t": datasets.Value("string")})
        )

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {"parts": [0, 1, 2, 3]})]
"""

SCRIPTS = {
    "golden_rows": '''
import datasets_core as datasets


class GoldenRows(datasets.GeneratorBasedBuilder):
    """Rows of two splits, made in parts."""

    VERSION = datasets.Version("1.2.0")
    BUILDER_CONFIGS = [datasets.BuilderConfig("plain"), datasets.BuilderConfig("loud")]
    DEFAULT_CONFIG_NAME = "plain"

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"n": datasets.Value("int64"), "t": datasets.Value("string")})
        )

    def _split_generators(self, dl_manager):
        return [
            datasets.SplitGenerator("train", {"parts": [0, 1, 2]}),
            datasets.SplitGenerator("test", {"parts": [3]}),
        ]

    def _generate_examples(self, parts):
        for part in parts:
            for row in range(7):
                number = part * 7 + row
                yield number, {"n": number, "t": f"{self.config.name}{number}"}
''',
    "golden_tables": """
import pyarrow as pa

import datasets_core as datasets


class GoldenTables(datasets.ArrowBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo()

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {"parts": [0, 1, 2]})]

    def _generate_tables(self, parts):
        for part in parts:
            for key in range(2):
                first = part * 8 + key * 4
                yield (part, key), pa.table({"n": range(first, first + 4), "t": [f"t{first + row}" for row in range(4)]})
""",
    "breaking_rows": BREAKING.replace("BASE", "GeneratorBasedBuilder").replace("NAME", "BreakingRows")
    + """
    def _generate_examples(self, parts):
        for part in parts:
            _begun(part)
            for row in range(5):
                yield part * 5 + row, {"n": part * 5 + row, "t": f"b{part}"}
""",
    "breaking_tables": BREAKING.replace("BASE", "ArrowBasedBuilder").replace("NAME", "BreakingTables")
    + """
    def _generate_tables(self, parts):
        for part in parts:
            _begun(part)
            yield part, pa.table({"n": pa.array([part] * 4, pa.int64()), "t": [f"b{part}"] * 4})
""",
    "breaking_tfds": """
import os

import numpy as np
import tensorflow_datasets as tfds


class BreakingTfds(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": np.int64}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(0), "test": self._generate_examples(1), "dev": self._generate_examples(2)}

    def _generate_examples(self, part):
        with open(os.environ["GOLDEN_CALLS"], "a") as calls:
            calls.write(f"{part}\\n")
        if part >= int(os.environ.get("GOLDEN_FAILS", "99")):
            os._exit(9)  # as a kill, behind which nothing is cleared away
        for row in range(6):
            yield f"{part}-{row}", {"n": part * 6 + row}
""",
    "tfds_rows": '''
import numpy as np
import tensorflow_datasets as tfds


class TfdsRows(tfds.core.GeneratorBasedBuilder):
    """A script as those of TensorFlow Datasets are."""

    VERSION = tfds.core.Version("2.0.1")
    RELEASE_NOTES = {"2.0.1": "First."}

    def _info(self):
        return self.dataset_info_from_configs(
            features=tfds.features.FeaturesDict({"n": np.int64, "t": tfds.features.Text()}),
        )

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(9), "test": self._generate_examples(3)}

    def _generate_examples(self, count):
        for number in range(count):
            yield number, {"n": number, "t": f"t{number}"}
''',
    "old_rows": '''
import csv

import datasets


class OldRows(datasets.GeneratorBasedBuilder):
    """A script as those of Hugging Face datasets 2 are."""

    def _info(self):
        return datasets.DatasetInfo(
            features=datasets.Features({"n": datasets.Value("int32"), "t": datasets.Value("string")})
        )

    def _split_generators(self, dl_manager):
        paths = dl_manager.download([f"data/{name}.csv" for name in range(2)])
        return [datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"paths": paths})]

    def _generate_examples(self, paths):
        for number, path in enumerate(paths):
            with open(path) as source:
                for place, row in enumerate(csv.DictReader(source)):
                    yield f"{number}-{place}", {"n": int(row["n"]), "t": row["t"]}
''',
}


# -- functions of users ------------------------------------------------------------------------------------------------
#
# Their hashes hold the name of this module and their code: they are never edited.


def length(column, row):
    return {"m": len(str(row[column]))}


def lengths(column, rows):
    return {"m": [len(str(value)) for value in rows[column]]}


def doubled(column, rows):
    return {column: [value for value in rows[column] for _ in range(2)]}


def counted(column, rows):
    return {"count": [len(rows[column])]}


def numbered(column, row, index):
    return {"m": f"{index} {str(row[column])[:20]}"}


def of_value(value):
    return {"m": str(value)[-2:]}


def tokens(column, row, index):
    return {"tokens": list(range(index % 5 + 1)), "place": index}


def is_wanted(column, row):
    return sum(str(row[column]).encode()) % 3 != 0


def are_wanted(column, rows):
    return [sum(str(value).encode()) % 3 != 0 for value in rows[column]]


def is_even(row, index):
    return index % 2 == 0


def failing(column, row, index):
    if index % 4 == 2:
        raise ValueError(f"no {index}")
    return {"m": index}


def generated(parts, count):
    for part in parts:
        for row in range(count):
            yield {"n": part * count + row, "t": f"g{part}-{row}"}


def with_arguments(row, column, times):
    return {"m": row[column] * times}


def squares(below):
    for number in range(below):
        yield {"n": number**2, "t": str(number)}


# -- streams: sources --------------------------------------------------------------------------------------------------


def _files(kind: str, pattern: str, **options: Any) -> IterableDataset:
    return load_dataset(kind, data_files=f"{SOURCES}/{pattern}", split="train", streaming=True, **options)


def _csv_features(n: str, x: str) -> Features:
    return Features({"n": Value(n), "t": Value("string"), "x": Value(x)})


def _table(num_shards: int = 1) -> IterableDataset:
    return Dataset.from_list(ROWS).to_iterable_dataset(num_shards)


def _other(count: int = 9) -> IterableDataset:
    return IterableDataset.from_list([{"n": 100 + n, "t": f"o{n}"} for n in range(count)])


def _plain() -> IterableDataset:
    return _table().select_columns(["n", "t"])


def _built(kind: str = "csv", pattern: str = "csv/*.csv", **options: Any) -> Any:
    builder = load_dataset_builder(kind, data_files=f"{SOURCES}/{pattern}")
    builder.download_and_prepare(num_shards=4, **options)
    return builder


def _script(name: str, config: str | None = None) -> IterableDataset:
    return load_dataset(f"{SOURCES}/scripts/{name}/{name}.py", config, split="train", streaming=True)


def _generator(features: Features | None = None) -> IterableDataset:
    return IterableDataset.from_generator(generated, features, {"parts": [0, 1, 2], "count": 7})


SOURCES_OF_ALL_STEPS: dict[str, tuple[str, Callable[[], IterableDataset]]] = {
    "table": ("n", _table),
    "table_of_3_shards": ("t", lambda: _table(3)),
    "csv": ("n", lambda: _files("csv", "csv/*.csv")),
    "parquet": ("t", lambda: _files("parquet", "parquet/*")),
    "arrow_stream": ("n", lambda: _files("arrow", "arrow_stream/*")),
    "tfrecord": ("n", lambda: _files("tfrecord", "tfrecord/*.tfrecord")),
    "generator": ("n", lambda: _generator(Features({"n": Value("int64"), "t": Value("string")}))),
    "script": ("n", lambda: _script("golden_rows")),
    "built_files": ("n", lambda: _built().as_dataset("train", read_config=ReadConfig(interleave_block_length=2))),
    "concatenated": ("n", lambda: concatenate_datasets([_plain(), _other()])),
    "interleaved": ("n", lambda: interleave_datasets([_plain(), _other()], stopping_strategy="all_exhausted")),
    "zipped": ("n", lambda: concatenate_datasets([_table().select_columns(["n"]), _table().select_columns(["t"])], axis=1)),
    "sharded": ("n", lambda: _files("csv", "csv/*.csv").shard(2, 1)),
}
"""By name, the column that steps work on, and the stream."""

SOURCES_OF_SOME_STEPS: dict[str, tuple[str, Callable[[], IterableDataset]]] = {
    "selected": ("n", lambda: Dataset.from_list(ROWS).select([5, 3, 8, 1, 20, 21, 2]).to_iterable_dataset()),
    "shuffled_table": ("n", lambda: Dataset.from_list(ROWS).shuffle(seed=4).to_iterable_dataset(2)),
    "list": ("n", _other),
    "dict": ("n", lambda: IterableDataset.from_dict({"n": list(range(12)), "t": list("abcdefghijkl")}, num_shards=3)),
    "generator_without_features": ("n", _generator),
    "csv_gz": ("n", lambda: _files("csv", "csv_gz/*.gz")),
    "csv_with_features": (
        "n",
        lambda: _files("csv", "csv/*.csv", features=_csv_features("int32", "float64")),
    ),
    "json": ("n", lambda: _files("json", "json/*.jsonl")),
    "json_array": ("n", lambda: _files("json", "json_array/*.json", field="data")),
    "text": ("text", lambda: _files("text", "text/*.txt")),
    "paragraphs": ("text", lambda: _files("text", "paragraphs/*.txt", sample_by="paragraph")),
    "documents": ("text", lambda: _files("text", "text/*.txt", sample_by="document")),
    "parquet_columns": ("n", lambda: _files("parquet", "parquet/*", columns=["n", "t"])),
    "parquet_filters": ("n", lambda: _files("parquet", "parquet/*", filters=[("n", ">", 4)])),
    "arrow": ("n", lambda: _files("arrow", "arrow/*")),
    "tfrecord_indexed": ("n", lambda: _files("tfrecord", "tfrecord_indexed/*.tfrecord")),
    "tfrecord_with_features": (
        "n",
        lambda: _files("tfrecord", "tfrecord/*.tfrecord", features=Features({"n": Value("int64"), "t": Value("string")})),
    ),
    "webdataset": ("txt", lambda: _files("webdataset", "webdataset/*")),
    "fasta": ("id", lambda: _files("fasta", "fasta/*").decode(False)),
    "fastq": ("id", lambda: _files("fastq", "fastq/*").decode(False)),
    "conll": ("t", lambda: _files("conll", "conll/*", column_names=["t", "k"])),
    "xml": ("xml", lambda: _files("xml", "xml/*")),
    "feather": ("n", lambda: _files("pandas", "feather/*")),
    "images": (
        "label",
        lambda: load_dataset("imagefolder", data_dir=f"{SOURCES}/images", split="train", streaming=True).decode(False),
    ),
    "sql": (
        "n",
        lambda: load_dataset("sql", sql="birds", con=f"sqlite:///{SOURCES}/sql/birds.sqlite", split="train", streaming=True),
    ),
    "card": ("n", lambda: load_dataset(f"{SOURCES}/card", "small", split="train+test", streaming=True)),
    "slice": ("n", lambda: load_dataset("csv", data_files=f"{SOURCES}/csv/*.csv", split="train[5:17]", streaming=True)),
    "slice_of_blocks": (
        "n",
        lambda: load_dataset("parquet", data_files=f"{SOURCES}/parquet/*", split="train[5:12]+train[2:4]", streaming=True),
    ),
    "script_config": ("n", lambda: _script("golden_rows", "loud")),
    "script_of_tables": ("n", lambda: _script("golden_tables")),
    "script_of_old": ("n", lambda: _script("old_rows")),
    "from_csv": ("n", lambda: IterableDataset.from_csv(f"{SOURCES}/csv/1.csv")),
    "from_json": ("n", lambda: IterableDataset.from_json(f"{SOURCES}/json/1.jsonl")),
    "from_parquet": ("n", lambda: IterableDataset.from_parquet(f"{SOURCES}/parquet/1.parquet")),
    "from_text": ("text", lambda: IterableDataset.from_text(f"{SOURCES}/text/1.txt")),
    "from_tfrecord": ("n", lambda: IterableDataset.from_tfrecord(f"{SOURCES}/tfrecord/1.tfrecord")),
    "from_file": ("n", lambda: IterableDataset.from_file(f"{SOURCES}/arrow/1.arrow")),
    "built": ("n", lambda: _built().as_dataset("train").to_iterable_dataset(3)),
    "built_parquet": ("n", lambda: _built("json", "json/*", file_format="parquet").as_dataset("train").to_iterable_dataset()),
    "built_slice": ("n", lambda: _built().as_dataset("train[3:15]").to_iterable_dataset()),
    "built_shuffled_files": (
        "n",
        lambda: _built().as_dataset("train", shuffle_files=True, read_config=ReadConfig(shuffle_seed=7, add_tfds_id=True)),
    ),
    "built_files_in_turn": (
        "n",
        lambda: _built().as_dataset("train", read_config=ReadConfig(interleave_cycle_length=2, interleave_block_length=3)),
    ),
    "built_files_endless": (
        "n",
        lambda: _built().as_dataset("train", read_config=ReadConfig(repeat_filenames=True)).take(40),
    ),
    "streamed_in_turn": (
        "n",
        lambda: load_dataset_builder("csv", data_files=f"{SOURCES}/csv/*.csv").as_streaming_dataset("train"),
    ),
    "interleaved_first_exhausted": ("n", lambda: interleave_datasets([_plain(), _other()])),
    "interleaved_without_replacement": (
        "n",
        lambda: interleave_datasets([_plain(), _other()], stopping_strategy="all_exhausted_without_replacement"),
    ),
    "interleaved_drawn": ("n", lambda: interleave_datasets([_plain(), _other()], [0.7, 0.3], seed=3)),
    "interleaved_drawn_all": (
        "n",
        lambda: interleave_datasets([_plain(), _other()], [0.5, 0.5], seed=3, stopping_strategy="all_exhausted"),
    ),
    "interleaved_files": ("n", lambda: interleave_datasets([_files("csv", "csv/*.csv"), _files("json", "json/*.jsonl")])),
    "concatenated_files": ("n", lambda: concatenate_datasets([_files("csv", "csv/*.csv"), _files("parquet", "parquet/*")])),
    "zipped_unequal": (
        "n",
        lambda: concatenate_datasets([_table().select_columns(["n"]), _other().select_columns(["t"])], axis=1),
    ),
    "nested_mixture": (
        "n",
        lambda: interleave_datasets([concatenate_datasets([_other(), _plain()]), _plain().shuffle(seed=1)], seed=2),
    ),
}


# -- streams: steps ----------------------------------------------------------------------------------------------------

Step = Callable[[IterableDataset, str], IterableDataset]


def _ranks(rank: int, world_size: int, **how: Any) -> Step:
    return lambda stream, column: split_dataset_by_node(stream, rank=rank, world_size=world_size, **how)


def _mixed(stream: IterableDataset, **how: Any) -> IterableDataset:
    return interleave_datasets([stream, stream.skip(3)], **how)


def _at_epoch(stream: IterableDataset, epoch: int) -> IterableDataset:
    stream.set_epoch(epoch)
    return stream


STEPS: dict[str, Step] = {
    "nothing": lambda s, c: s,
    "map": lambda s, c: s.map(partial(length, c)),
    "map_batched": lambda s, c: s.map(partial(lengths, c), batched=True, batch_size=4),
    "map_removing": lambda s, c: s.map(partial(length, c), remove_columns=[c]),
    "unbatched": lambda s, c: s.select_columns([c]).map(partial(doubled, c), batched=True, batch_size=3),
    "contracted": lambda s, c: s.map(partial(counted, c), batched=True, batch_size=3, remove_columns=s.column_names or [c]),
    "map_numbered": lambda s, c: s.map(partial(numbered, c), with_indices=True),
    "map_of_values": lambda s, c: s.map(of_value, input_columns=c),
    "map_lambda": lambda s, c: s.map(lambda row: {"y": len(row)}),
    "map_threads": lambda s, c: s.map(partial(length, c), num_workers=2),
    "filter": lambda s, c: s.filter(partial(is_wanted, c)),
    "filter_batched": lambda s, c: s.filter(partial(are_wanted, c), batched=True, batch_size=5),
    "filter_numbered": lambda s, c: s.filter(is_even, with_indices=True),
    "batch": lambda s, c: s.batch(4),
    "batch_whole": lambda s, c: s.batch(4, drop_last_batch=True),
    "batch_by_column": lambda s, c: s.map(of_value, input_columns=c).batch(by_column="m"),
    "pack": lambda s, c: s.map(partial(tokens, c), with_indices=True).select_columns(["tokens", "place"]).pack(6, "tokens"),
    "pack_padded": lambda s, c: (
        s.map(partial(tokens, c), with_indices=True)
        .select_columns(["tokens"])
        .pack(4, "tokens", overlong="truncate", pad=-1, window_rows=2)
    ),
    "shuffle": lambda s, c: s.shuffle(seed=42),
    "shuffle_few": lambda s, c: s.shuffle(seed=7, buffer_size=4),
    "shuffle_bytes": lambda s, c: s.shuffle(seed=7, window_bytes=200),
    "shuffle_anew": lambda s, c: s.shuffle(seed=7, reshuffle_each_iteration=True),
    "shuffle_of_epoch": lambda s, c: _at_epoch(s.shuffle(seed=42), 3),
    "skip": lambda s, c: s.skip(5),
    "take": lambda s, c: s.take(8),
    "skip_and_take": lambda s, c: s.skip(2).take(7),
    "repeat": lambda s, c: s.repeat(2),
    "repeat_endless": lambda s, c: s.repeat(None).take(30),
    "repeat_anew": lambda s, c: s.shuffle(seed=7, reshuffle_each_iteration=True).repeat(2),
    "select_columns": lambda s, c: s.select_columns([c]),
    "remove_column": lambda s, c: s.remove_columns(c),
    "rename_column": lambda s, c: s.rename_column(c, "renamed"),
    "add_column": lambda s, c: s.add_column("added", list(range(200, 240))),
    "cast_column": lambda s, c: s.cast_column(c, Value("large_string")),
    "cast": lambda s, c: s.select_columns([c]).cast(Features({c: Value("string")})),
    "decode": lambda s, c: s.decode(False),
    "numpy": lambda s, c: s.with_format("numpy"),
    "row_ids": lambda s, c: s.with_row_ids(),
    "skipping_errors": lambda s, c: s.map(partial(failing, c), with_indices=True).on_error("skip"),
    "nulling_errors": lambda s, c: s.on_error("null").map(partial(failing, c), with_indices=True),
    "counting_errors": lambda s, c: s.map(partial(failing, c), with_indices=True).on_error("skip", max_errors=50).batch(3),
    "errors_of_a_step": lambda s, c: s.map(partial(failing, c), with_indices=True, on_error="skip").shuffle(seed=1),
    "shard": lambda s, c: s.shard(2, 0),
    "shard_in_turn": lambda s, c: s.shard(3, 1, contiguous=False),
    "reshard": lambda s, c: s.reshard(),
    "ranks": _ranks(1, 2, lanes=4),
    "ranks_even": _ranks(0, 2, lanes=4, ends="drop"),
    "ranks_padded": _ranks(1, 2, lanes=4, ends="pad"),
    "ranks_of_shards": _ranks(0, 2, strategy="shards"),
    "ranks_of_rows": _ranks(1, 2, strategy="examples"),
    "ranks_of_many_lanes": _ranks(0, 1),
    "concatenated": lambda s, c: concatenate_datasets([s, s.take(4)]),
    "interleaved": lambda s, c: _mixed(s),
    "interleaved_drawn": lambda s, c: _mixed(s, probabilities=[0.25, 0.75], seed=5, stopping_strategy="all_exhausted"),
    "zipped": lambda s, c: concatenate_datasets(
        [s.select_columns([c]).rename_column(c, "left"), s.select_columns([c])], axis=1
    ),
    "filter_shuffle_batch": lambda s, c: s.filter(partial(is_wanted, c)).shuffle(seed=3, buffer_size=6).batch(2),
    "shuffle_map_take": lambda s, c: s.shuffle(seed=3).map(partial(length, c)).take(9),
    "map_repeat_shuffle": lambda s, c: s.map(partial(length, c)).repeat(2).shuffle(seed=3, buffer_size=8),
    "shuffle_ranks_batch": lambda s, c: split_dataset_by_node(s.shuffle(seed=3), rank=0, world_size=2, lanes=2).batch(2),
    "ranks_filter_shuffle": lambda s, c: (
        split_dataset_by_node(s, rank=1, world_size=2, lanes=4).filter(partial(is_wanted, c)).shuffle(seed=5, buffer_size=3)
    ),
    "ranks_pack": lambda s, c: split_dataset_by_node(
        s.map(partial(tokens, c), with_indices=True).select_columns(["tokens"]), rank=0, world_size=2, lanes=2
    ).pack(5, "tokens"),
    "ranks_take": lambda s, c: split_dataset_by_node(s, rank=0, world_size=2, lanes=4).take(3),
    "interleaved_shuffle_ranks": lambda s, c: split_dataset_by_node(_mixed(s).shuffle(seed=9), rank=1, world_size=2, lanes=2),
}
SOME_STEPS = (
    "nothing", "pack", "shuffle_of_epoch", "skip_and_take", "filter_shuffle_batch", "ranks_filter_shuffle", "interleaved",
)  # fmt: skip

LARGE: dict[str, Callable[[], IterableDataset]] = {
    "large_csv": lambda: _files("csv", "large_csv/*"),
    "large_csv_shuffled": lambda: _files("csv", "large_csv/*").shuffle(seed=2),
    "large_json": lambda: _files("json", "large_json/*"),
    "large_text": lambda: _files("text", "large_text/*"),
    "large_text_in_lanes": lambda: split_dataset_by_node(_files("text", "large_text/*"), rank=1, world_size=2),
    "large_tfrecord": lambda: _files("tfrecord", "large_tfrecord/*"),
}
"""Streams of files of more than one block, whose states hold places in the midst of a file."""


SOURCES_OF_STREAMS = {**SOURCES_OF_ALL_STEPS, **SOURCES_OF_SOME_STEPS}


def streams_of(source: str) -> dict[str, Callable[[], IterableDataset]]:
    """By the names of steps, what makes the stream of a source behind them; the source itself is made once."""
    column, make = SOURCES_OF_STREAMS[source]
    steps = tuple(STEPS) if source in SOURCES_OF_ALL_STEPS else SOME_STEPS
    kept = cache(make)
    return {name: make if name == "nothing" else partial(_stepped, kept, STEPS[name], column) for name in steps}


def _stepped(make: Callable[[], IterableDataset], step: Step, column: str) -> IterableDataset:
    return step(make(), column)


# -- streams: what is recorded -----------------------------------------------------------------------------------------

POINTS = (1, 6, 13)


def plain(value: Any) -> str:
    """A row as a text: the same for equal rows, whatever numpy says of its numbers.

    Images were stored with paths relative to their folder when the values of before were recorded.
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{name}: {plain(part)}" for name, part in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(plain, value)) + "]"
    if isinstance(value, str):
        value = value.removeprefix(f"{SOURCES}/images/")
    return plain(value.tolist()) if hasattr(value, "tolist") else repr(value)


def walked(make: Callable[[], IterableDataset], known: dict[str, int], most: int | None = None) -> dict[str, Any]:
    """What a stream gives, with its states; or the kind of error that it ends with.

    Args:
        make: makes the stream.
        known: rows by their texts, which get a number when they come first.
        most: end behind so many rows.
    """
    given: list[int] = []
    states: list[list[Any]] = []
    try:
        stream = make()
        states.append([0, stream.state_dict()])
        for row in stream:
            given.append(known.setdefault(plain(row), len(known)))
            if len(given) in POINTS:
                states.append([len(given), stream.state_dict()])
            if len(given) == most:
                return {"given": given, "states": states}
        states.append([len(given), stream.state_dict()])
    except (DatasetsCoreError, ValueError) as error:
        return {"error": type(error).__name__, "given": given, "states": states}
    return {"given": given, "states": states}


def steadily_walked(make: Callable[[], IterableDataset], known: dict[str, int]) -> dict[str, Any]:
    """What `walked` gives two times: a machine that is busy for a moment makes other states of mixtures."""
    first = walked(make, known)
    while (second := walked(make, known)) != first:
        first = second
    return first


def walked_far(make: Callable[[], IterableDataset]) -> list[list[Any]]:
    """Of a stream of many rows: some states, and of the rows behind each how many they are and a hash of all."""
    stream = make()
    states = [[0, stream.state_dict()]]
    texts = []
    for row in stream:
        texts.append(repr(row))
        if len(texts) in (10, 40, 9_000, 15_000):
            states.append([len(texts), stream.state_dict()])
    return [[count, state, *summary(texts[count:])] for count, state in states]


def summary(texts: list[str]) -> tuple[int, str]:
    """How many rows, and a hash of all."""
    return len(texts), hashlib.sha256("\n".join(texts).encode()).hexdigest()


def rest_of(stream: IterableDataset, state: dict[str, Any], *, told: Callable[[Any], str] = plain) -> list[str]:
    """The rows that a stream gives behind a state."""
    stream.load_state_dict(state)
    return [told(row) for row in stream]


def refused(make: Callable[[], IterableDataset], case: dict[str, Any]) -> bool:
    """Whether a stream refuses a state that it wrote itself: an error of today, which may be mended."""
    if "error" in case:
        return False
    try:
        for _, state in case["states"]:
            rest_of(make(), state)
    except StreamStateError:
        return True
    return False


# -- streams: states of several ranks, and behind batches --------------------------------------------------------------


def _divided(kind: str) -> IterableDataset:
    return SOURCES_OF_STREAMS[kind][1]().shuffle(seed=3)


def merged(kind: str) -> dict[str, Any]:
    """One state of two ranks that have read some rows."""
    states = []
    for rank in range(2):
        stream = split_dataset_by_node(_divided(kind), rank=rank, world_size=2, lanes=6)
        rows = iter(stream)
        for _ in range(3):
            next(rows)
        states.append(stream.state_dict())
    return merge_states(states)


def rest_of_merged(kind: str, state: dict[str, Any]) -> list[list[str]]:
    """The rows of three ranks that go on behind such a state."""
    return [rest_of(split_dataset_by_node(_divided(kind), rank=rank, world_size=3, lanes=6), state) for rank in range(3)]


def behind_batches(kind: str) -> dict[str, Any]:
    """The state behind two batches of four rows."""
    stream = _divided(kind)
    batches = stream.iter(4)
    next(batches), next(batches)
    return stream.state_dict()


def rest_of_batches(kind: str, state: dict[str, Any]) -> list[str]:
    """The batches that come behind such a state."""
    stream = _divided(kind)
    stream.load_state_dict(state)
    return [plain(batch) for batch in stream.iter(4)]


MERGED = ("table", "csv", "parquet", "generator", "script", "built_files", "concatenated", "json", "tfrecord")


# -- caches ------------------------------------------------------------------------------------------------------------


def _of_files(kind: str, pattern: str, **options: Any) -> tuple[str, dict[str, Any]]:
    return kind, {"data_files": f"{SOURCES}/{pattern}", **options}


def _of_folder(kind: str, folder: str) -> tuple[str, dict[str, Any]]:
    return kind, {"data_dir": f"{SOURCES}/{folder}"}


FORMATS: dict[str, tuple[str, dict[str, Any]]] = {
    "csv": _of_files("csv", "csv/*.csv"),
    "csv_options": _of_files("csv", "csv/*.csv", sep=",", skiprows=1, names=["a", "b", "c"]),
    "csv_features": _of_files("csv", "csv/*.csv", features=_csv_features("int8", "float32")),
    "csv_gz": _of_files("csv", "csv_gz/*.gz"),
    "csv_zip": _of_files("csv", "zip/birds.zip"),
    "csv_splits": (
        "csv",
        {"data_files": {"train": f"{SOURCES}/csv/0.csv", "test": [f"{SOURCES}/csv/1.csv", f"{SOURCES}/csv/2.csv"]}},
    ),
    "json": _of_files("json", "json/*.jsonl"),
    "json_field": _of_files("json", "json_array/*.json", field="data"),
    "parquet": _of_files("parquet", "parquet/*.parquet"),
    "parquet_options": _of_files("parquet", "parquet/*.parquet", columns=["n", "t"], filters=[("n", ">", 4)]),
    "arrow": _of_files("arrow", "arrow/*.arrow"),
    "text": _of_files("text", "text/*.txt"),
    "text_paragraphs": _of_files("text", "paragraphs/*.txt", sample_by="paragraph"),
    "imagefolder": _of_folder("imagefolder", "images"),
    "imagefolder_without_labels": ("imagefolder", {"data_dir": f"{SOURCES}/images", "drop_labels": True}),
    "audiofolder": _of_folder("audiofolder", "audio"),
    "videofolder": _of_folder("videofolder", "video"),
    "pdffolder": _of_folder("pdffolder", "pdf"),
    "meshfolder": _of_folder("meshfolder", "mesh"),
    "niftifolder": _of_folder("niftifolder", "nifti"),
    "webdataset": _of_files("webdataset", "webdataset/*.tar"),
    "tfrecord": _of_files("tfrecord", "tfrecord/*.tfrecord"),
    "tfrecord_features": _of_files("tfrecord", "tfrecord/*.tfrecord", features=Features({"n": Value("int64")})),
    "hdf5": _of_files("hdf5", "hdf5/a.h5"),
    "sql": ("sql", {"sql": "birds", "con": f"sqlite:///{SOURCES}/sql/birds.sqlite"}),
    "conll": _of_files("conll", "conll/*.conll", column_names=["t", "k"]),
    "fasta": _of_files("fasta", "fasta/*.fasta"),
    "fastq": _of_files("fastq", "fastq/*.fastq"),
    "xml": _of_files("xml", "xml/*.xml"),
    "pandas": _of_files("pandas", "feather/*.feather"),
    "croissant": _of_files("croissant", "croissant/croissant.json"),
    "folder": (f"{SOURCES}/csv", {}),
    "file": (f"{SOURCES}/json/1.jsonl", {}),
    "card": (f"{SOURCES}/card", {"name": "small"}),
    "script": (f"{SOURCES}/scripts/golden_rows/golden_rows.py", {}),
    "script_config": (f"{SOURCES}/scripts/golden_rows/golden_rows.py", {"name": "loud"}),
    "script_of_tables": (f"{SOURCES}/scripts/golden_tables/golden_tables.py", {}),
    "script_of_old_datasets": (f"{SOURCES}/scripts/old_rows/old_rows.py", {}),
    "script_of_tfds": (f"{SOURCES}/scripts/tfds_rows/tfds_rows.py", {}),
}
"""By name, the path and the arguments of `load_dataset`."""


def place_of(path: str, arguments: dict[str, Any]) -> str:
    """Where a build of it stands in the cache: its name, config, version and key."""
    return os.path.relpath(load_dataset_builder(path, **arguments).cache_dir, settings().cache_dir)


def _told(loaded: Any) -> dict[str, list[str]]:
    """The rows of each split, as texts; media as they are stored."""
    splits = loaded if isinstance(loaded, dict) else {"rows": loaded}
    return {name: [plain(row) for row in rows.with_format("arrow")[:].to_pylist()] for name, rows in splits.items()}


def _loaded(name: str) -> dict[str, list[str]]:
    path, arguments = FORMATS[name]
    return _told(load_dataset(path, **arguments))


def _birds() -> Dataset:
    return load_dataset("csv", data_files=f"{SOURCES}/csv/*.csv", split="train")


TRANSFORMS: dict[str, Callable[[Dataset], Dataset]] = {
    "map": lambda rows: rows.map(partial(length, "n")),
    "map_batched": lambda rows: rows.map(partial(lengths, "n"), batched=True, batch_size=4),
    "map_removing": lambda rows: rows.map(partial(length, "n"), remove_columns=["n"]),
    "map_numbered": lambda rows: rows.map(partial(numbered, "n"), with_indices=True),
    "map_of_values": lambda rows: rows.map(of_value, input_columns="n"),
    "map_lambda": lambda rows: rows.map(lambda row: {"y": len(row)}),
    "map_arguments": lambda rows: rows.map(with_arguments, fn_kwargs={"column": "t", "times": 2}),
    "map_features": lambda rows: rows.map(partial(length, "n"), features=Features({**rows.features, "m": Value("int16")})),
    "map_of_map": lambda rows: rows.map(partial(length, "n")).map(of_value, input_columns="m"),
    "map_named": lambda rows: rows.map(partial(length, "n"), new_fingerprint="golden-fingerprint"),
    "map_unbatched": lambda rows: rows.select_columns(["n"]).map(partial(doubled, "n"), batched=True, batch_size=3),
    "filter": lambda rows: rows.filter(partial(is_wanted, "t")),
    "filter_batched": lambda rows: rows.filter(partial(are_wanted, "t"), batched=True),
    "filter_of_map": lambda rows: rows.map(partial(length, "n")).filter(partial(is_wanted, "m")),
    "map_of_filter": lambda rows: rows.filter(partial(is_wanted, "t")).map(partial(length, "n")),
    "map_of_selection": lambda rows: rows.select([5, 3, 8]).map(partial(length, "n")),
    "map_of_shuffled": lambda rows: rows.shuffle(seed=3).map(partial(length, "n")),
    "map_of_part": lambda rows: rows.train_test_split(test_size=0.3, seed=1)["test"].map(partial(length, "n")),
    "map_of_shard": lambda rows: rows.shard(3, 1).map(partial(length, "n")),
    "map_of_columns": lambda rows: rows.rename_column("n", "k").remove_columns("x").map(partial(length, "k")),
    "sort": lambda rows: rows.sort("x", reverse=True).map(partial(length, "n")),
    "flatten_indices": lambda rows: rows.select([7, 2, 9]).flatten_indices(),
    "cast": lambda rows: rows.cast_column("n", Value("string")),
    "class_encode_column": lambda rows: rows.class_encode_column("t"),
    "add_column": lambda rows: rows.add_column("added", list(range(len(rows)))),
    "concatenated": lambda rows: concatenate_datasets([rows, rows]).map(partial(length, "n")),
    "interleaved": lambda rows: interleave_datasets([rows, rows.skip(4)], seed=2).map(partial(length, "n")),
}


def _transformed(name: str) -> dict[str, list[str]]:
    return _told(TRANSFORMS[name](_birds()))


def _generated_rows() -> dict[str, list[str]]:
    return _told(Dataset.from_generator(squares, gen_kwargs={"below": 7}))


def _streamed(make: Callable[[], IterableDataset]) -> dict[str, list[str]]:
    return {"rows": [summary([plain(row) for row in make()])[1]]}


class GoldenStore(AbstractFileSystem):
    """The source files as those of a store, whose versions last; it counts what it is asked for."""

    protocol = "golden"
    cachable = False
    asked = 0

    def ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        inner = self._strip_protocol(path).strip("/")
        names = sorted(os.listdir(SOURCES / inner)) if (SOURCES / inner).is_dir() else [""]
        found = [self.info(f"{inner}/{name}".strip("/")) for name in names]
        return found if detail else [each["name"] for each in found]

    def info(self, path: str, **_: Any) -> dict[str, Any]:
        inner = self._strip_protocol(path).strip("/")
        place = SOURCES / inner
        if not place.exists():
            raise FileNotFoundError(path)
        if place.is_dir():
            return {"name": inner, "type": "directory", "size": 0}
        return {"name": inner, "type": "file", "size": place.stat().st_size, "ETag": f'"{inner}-1"'}

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        GoldenStore.asked += 1
        return (SOURCES / self._strip_protocol(path).strip("/")).read_bytes()[start:end]

    def _open(self, path: str, mode: str = "rb", **_: Any) -> Any:
        GoldenStore.asked += 1
        return open(SOURCES / self._strip_protocol(path).strip("/"), mode)


fsspec.register_implementation("golden", GoldenStore, clobber=True)


def _remote(kind: str, pattern: str = "") -> IterableDataset:
    return load_dataset(kind, data_files=f"golden://{pattern or f'{kind}/*.{kind}'}", split="train", streaming=True)


def _cached_ranges(make: Callable[[], IterableDataset]) -> dict[str, list[str]]:
    with using(stream_cache_bytes=1 << 26):
        return {"rows": [plain(row) for row in make()]}


def _saved(save: Callable[[str], Any]) -> Any:
    """What is saved in the folder of the cache, where it is not there yet."""
    folder = os.path.join(settings().cache_dir, "saved")
    if not os.path.exists(folder):
        save(folder)
    return load_from_disk(folder)


def _prepared() -> Any:
    folder = os.path.join(settings().cache_dir, "prepared")
    if not os.path.exists(folder):
        load_dataset_builder(f"{SOURCES}/scripts/golden_rows/golden_rows.py").download_and_prepare(folder)
    return builder_from_directory(folder).as_dataset()


_stat = os.stat


def _stat_of_fixed_change(path: Any, **how: Any) -> Any:
    """As `os.stat`, but a source file was changed when it was written: what is extracted is known by that time, too."""
    found = _stat(path, **how)
    if not str(path).startswith(str(SOURCES)):
        return found
    return os.stat_result(tuple(found), {"st_mtime_ns": found.st_mtime_ns, "st_ctime_ns": TIME * 10**9})


def _extracted() -> dict[str, list[str]]:
    manager = DownloadManager(download_config=DownloadConfig(cache_dir=settings().downloads_dir))
    with mock.patch("os.stat", _stat_of_fixed_change):
        place = manager.extract(f"{SOURCES}/zip/birds.zip")
    return {"files": sorted(str(path.relative_to(place)) for path in Path(place).rglob("*.csv"))}


NOT_BUILT = ("hdf5",)
_MARKED = ("large_csv", "large_json", "large_text", "large_tfrecord")
CACHED: dict[str, Callable[[], dict[str, list[str]]]] = {
    **{name: partial(_loaded, name) for name in FORMATS if name not in NOT_BUILT},
    "built_parquet": lambda: _told(_built("json", "json/*", file_format="parquet").as_dataset("train")),
    "built_in_parts": lambda: _told(_built().as_dataset("train[3:20]")),
    "generator": _generated_rows,
    "generator_of_parts": lambda: _told(Dataset.from_generator(generated, gen_kwargs={"parts": [0, 1], "count": 3})),
    "from_csv": lambda: _told(Dataset.from_csv(f"{SOURCES}/csv/1.csv")),
    "from_json": lambda: _told(Dataset.from_json(f"{SOURCES}/json/1.jsonl")),
    "from_parquet": lambda: _told(Dataset.from_parquet(f"{SOURCES}/parquet/1.parquet")),
    "from_text": lambda: _told(Dataset.from_text(f"{SOURCES}/text/1.txt")),
    **{f"transform_{name}": partial(_transformed, name) for name in TRANSFORMS},
    **{f"marks_{name}": partial(_streamed, LARGE[name]) for name in _MARKED},
    "marks_of_small_files": lambda: _streamed(lambda: _files("csv", "csv/*.csv")),
    "indexes_of_parquet": lambda: _streamed(lambda: _remote("parquet")),
    "indexes_of_arrow": lambda: _streamed(lambda: _remote("arrow").shuffle(seed=1)),
    "ranges_of_parquet": lambda: _cached_ranges(lambda: _remote("parquet").shuffle(seed=1)),
    "ranges_of_arrow": lambda: _cached_ranges(lambda: _remote("arrow")),
    "ranges_of_csv": lambda: _cached_ranges(lambda: _remote("csv")),
    "ranges_of_tfrecord": lambda: _cached_ranges(lambda: _remote("tfrecord", "tfrecord_indexed/*.tfrecord")),
    "remote_csv": lambda: _told(load_dataset("csv", data_files="golden://csv/*.csv")),
    "remote_parquet": lambda: _told(load_dataset("parquet", data_files="golden://parquet/*.parquet")),
    "saved": lambda: _told(_saved(lambda folder: Dataset.from_list(ROWS).save_to_disk(folder))),
    "saved_dict": lambda: _told(_saved(lambda folder: _birds().train_test_split(0.3, seed=1).save_to_disk(folder))),
    "saved_stream": lambda: _told(_saved(lambda folder: _table().save_to_disk(folder, num_shards=2))),
    "prepared": lambda: _told(_prepared()),
    "extracted": _extracted,
}
"""By name, what fills the cache of the settings, or finds it there, and gives what comes of it."""


# -- the Hub, and downloads --------------------------------------------------------------------------------------------

HUB_CARD = """---
configs:
- config_name: en
  data_files:
  - split: train
    path: data/train.csv
  - split: test
    path: data/test.csv
---
# Birds
"""

HUB: dict[str, Callable[[str], dict[str, list[str]]]] = {
    "main": lambda commit: _told(load_dataset("org/birds")),
    "commit": lambda commit: _told(load_dataset("org/birds", revision=commit)),
    "url": lambda commit: _told(load_dataset("csv", data_files="hf://datasets/org/birds/data/*.csv")),
    "large": lambda commit: _told(load_dataset("org/large")),
    "configs": lambda commit: {"names": get_dataset_config_names("org/birds")},
    "stream": lambda commit: {"rows": [plain(row) for row in load_dataset("org/birds", split="train", streaming=True)]},
}
"""By name, what is asked of the Hub, or found of it in the caches."""


def test_module(name: str) -> Any:
    """A module of the folder of all tests, which is on no path."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[1] / f"{name}.py")
        assert spec is not None and spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


test_module.__test__ = False  # type: ignore[attr-defined]


def hub_module(name: str) -> Any:
    """A module of the small Hub, as `tests/conftest.py` has it."""
    if "small_hub" not in sys.modules:
        spec = ModuleSpec("small_hub", None, is_package=True)
        spec.submodule_search_locations = [str(Path(__file__).parents[1] / "hub")]
        sys.modules["small_hub"] = importlib.util.module_from_spec(spec)
    return importlib.import_module(f"small_hub.{name}")


def at_hub(home: Path, hub: str = "hub", **more: Any) -> Any:
    """Settings of a home with these caches, and of a Hub that nobody reaches."""
    told = {"cache_dir": str(home / "datasets"), "hub_cache_dir": str(home / hub), "offline": True, **more}
    return using(**{"hub_endpoint": "http://127.0.0.1:9", **told})


def downloaded(url: str) -> dict[str, list[str]]:
    """The text of a file that was downloaded."""
    with open(DownloadManager().download(url)) as source:
        return {"text": source.read().splitlines()}


# -- half-finished builds and writes -----------------------------------------------------------------------------------


def noted(row, index):
    with open(os.environ["GOLDEN_CALLS"], "a") as calls:
        calls.write(f"{index}\n")
    if index >= int(os.environ.get("GOLDEN_FAILS", "99")):
        os._exit(9)  # as a kill, behind which nothing is cleared away
    return {"index": index}


def _noted_stream() -> IterableDataset:
    features = Features({"n": Value("int64"), "t": Value("string"), "index": Value("int64")})
    return _table(4).select_columns(["n", "t"]).map(noted, with_indices=True, features=features)


def _build_of(name: str) -> dict[str, list[str]]:
    return _told(load_dataset(f"{SOURCES}/scripts/{name}/{name}.py"))


def _written(write: Callable[[IterableDataset, str], Any], read: Callable[[str], Any]) -> dict[str, list[str]]:
    target = os.path.join(settings().cache_dir, "out")
    os.makedirs(target, exist_ok=True)
    write(_noted_stream(), target)
    return _told(read(target))


def _save(stream: IterableDataset, folder: str) -> None:
    stream.save_to_disk(f"{folder}/saved", num_shards=4)


def _to_tfrecord(stream: IterableDataset, folder: str) -> None:
    stream.to_tfrecord(f"{folder}/rows.tfrecord", num_shards=4)


def _read(kind: str, folder: str) -> Any:
    return load_dataset(kind, data_dir=folder, split="train", cache_dir=f"{folder}-cache")


BROKEN: dict[str, tuple[int, Callable[[], dict[str, list[str]]]]] = {
    "build_of_rows": (2, lambda: _build_of("breaking_rows")),
    "build_of_tables": (3, lambda: _build_of("breaking_tables")),
    "build_of_tfds": (1, lambda: _build_of("breaking_tfds")),
    "save_to_disk": (13, lambda: _written(_save, lambda to: load_from_disk(f"{to}/saved"))),
    "to_parquet": (13, lambda: _written(lambda s, to: s.to_parquet(f"{to}/", num_shards=4), partial(_read, "parquet"))),
    "to_csv": (13, lambda: _written(lambda s, to: s.to_csv(f"{to}/", num_shards=4), partial(_read, "csv"))),
    "to_json": (13, lambda: _written(lambda s, to: s.to_json(f"{to}/", num_shards=4), partial(_read, "json"))),
    "to_tfrecord": (13, lambda: _written(_to_tfrecord, partial(_read, "tfrecord"))),
}  # fmt: skip
"""By name, from which call on it fails when it is asked to, and what is built or written and read again."""


def finished(name: str, folder: Path, calls: Path) -> dict[str, list[str]]:
    """Build or write it, or what is left of it to be done."""
    with mock.patch.dict(os.environ, {"GOLDEN_CALLS": str(calls)}), using(cache_dir=str(folder)):
        return BROKEN[name][1]()


# -- locks -------------------------------------------------------------------------------------------------------------

LOCKED: dict[str, tuple[str, dict[str, Any]]] = {
    name: FORMATS[name] for name in ("csv", "csv_splits", "csv_features", "json", "parquet", "folder", "file", "card", "script",
                                     "script_config", "script_of_old_datasets")
}  # fmt: skip
