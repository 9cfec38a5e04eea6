"""Values of users that are hashed: their fingerprints name results in caches and stand in states.

Functions here are hashed with their code: they are never edited.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import itertools
import json
import math
import operator
import pathlib
import re
import types
import uuid
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import datasets_core as dc
from datasets_core import errors, records
from datasets_core.features import ClassLabel, Features, Value

LABELS = ["wren", "owl"]
FEATURES = Features({"a": Value("int64"), "b": ClassLabel(names=LABELS)})


def plain(row):
    return {"n": row["n"] + 1}


def with_default(row, times=3, *, name="x"):
    return row[name] * times


def of_global(row):
    return LABELS[row["label"]]


def of_library(row):
    return Value("string"), Features({"a": Value("int8")}), row


def of_library_object(row):
    return FEATURES.encode_example(row)


def of_library_module(row):
    return dc.concatenate_datasets([row]), records.TFRecordReader


def of_library_error(row):
    try:
        return row["a"]
    except errors.DatasetsCoreError:
        return None


def of_numpy(row):
    return np.sqrt(row["x"]) + math.pi


def importing(row):
    import json as other

    return other.dumps(row)


def annotated(row: dict[str, int], count: int = 1) -> list[str]:
    return [str(row)] * count


def generator(rows):
    for row in rows:
        yield {**row, "k": [value for value in row if value]}


def recursive(n):
    return n if n < 2 else recursive(n - 1) + recursive(n - 2)


def closing(value):
    def inner(row):
        return row, value

    return inner


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@decorated
def wrapped(row):
    return row


@functools.lru_cache(maxsize=4)
def cached(row):
    return row


class Plain:
    def __init__(self, value=1):
        self.value = value

    def method(self, row):
        return self.value, row

    @classmethod
    def made(cls, row):
        return cls(row)

    @staticmethod
    def static(row):
        return row

    @property
    def shown(self):
        return str(self.value)


class Callable_(Plain):  # noqa: N801 - its name is hashed
    def __call__(self, row):
        return self.method(row)


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1, "x"


class OfLibrary(dc.BuilderConfig):
    more = 3


@dataclasses.dataclass
class Data:
    a: int = 1
    b: list[str] = dataclasses.field(default_factory=lambda: ["x"])


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    feature: Any = Value("int8")  # noqa: RUF009


class Color(enum.Enum):
    RED = 1
    BLUE = "b"


class Flags(enum.IntFlag):
    A = 1
    B = 2


Pair = collections.namedtuple("Pair", ["left", "right"])

SCALARS: dict[str, Callable[[], Any]] = {
    "none": lambda: None,
    "bool": lambda: True,
    "int": lambda: 12,
    "large_int": lambda: -(10**40),
    "float": lambda: 0.1,
    "nan": lambda: float("nan"),
    "complex": lambda: 1 + 2j,
    "str": lambda: "wren ü",
    "bytes": lambda: b"\0wren",
    "bytearray": lambda: bytearray(b"x"),
    "ellipsis": lambda: ...,
    "decimal": lambda: decimal.Decimal("1.50"),
    "fraction": lambda: fractions.Fraction(2, 3),
    "date": lambda: datetime.date(2024, 2, 29),
    "datetime": lambda: datetime.datetime(2024, 2, 29, 1, 2, 3, 4),
    "datetime_utc": lambda: datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC),
    "timedelta": lambda: datetime.timedelta(1, 2, 3),
    "uuid": lambda: uuid.UUID(int=7),
    "list": lambda: [1, "a", [2.0]],
    "strings": lambda: ["a", "bc", "d"],
    "tuple": lambda: (1, ("a",)),
    "dict": lambda: {"b": 1, "a": [None], 3: {}},
    "set": lambda: {"b", "a", 3},
    "frozenset": lambda: frozenset({(1, 2), "x"}),
    "nested_twice": lambda: (shared := [1], shared, {"again": shared}),
    "ordered_dict": lambda: collections.OrderedDict(b=1, a=2),
    "defaultdict": lambda: collections.defaultdict(list, a=[1]),
    "counter": lambda: collections.Counter("abca"),
    "deque": lambda: collections.deque([1, 2], maxlen=3),
    "named_tuple": lambda: Pair(1, "x"),
    "namespace": lambda: types.SimpleNamespace(a=1, b="x"),
    "range": lambda: range(2, 9, 3),
    "slice": lambda: slice(None, 5, 2),
    "pattern": lambda: re.compile(r"\\d+", re.IGNORECASE),
    "path": lambda: pathlib.PurePosixPath("/data/x.csv"),
    "mapping_proxy": lambda: types.MappingProxyType({"a": 1}),
    "union": lambda: int | str,
    "generic": lambda: dict[str, list[int]],
    "enum": lambda: Color.BLUE,
    "flag": lambda: Flags.A | Flags.B,
}
ARRAYS: dict[str, Callable[[], Any]] = {
    "numpy_array": lambda: np.arange(6, dtype=np.int32).reshape(2, 3),
    "numpy_strings": lambda: np.array(["a", "bc"]),
    "numpy_objects": lambda: np.array([1, "a", None], dtype=object),
    "numpy_scalar": lambda: np.float32(1.5),
    "numpy_structured": lambda: np.zeros(2, dtype=[("a", np.int8), ("b", "U2")]),
    "numpy_dtype": lambda: np.dtype("float64"),
    "numpy_masked": lambda: np.ma.MaskedArray([1, 2], mask=[0, 1]),
    "numpy_ufunc": lambda: np.add,
    "numpy_generator": lambda: np.random.default_rng(3),
    "numpy_random_state": lambda: np.random.RandomState(3),
    "arrow_array": lambda: pa.array([1, None, 3]),
    "arrow_chunked": lambda: pa.chunked_array([["a"], ["b", None]]),
    "arrow_table": lambda: pa.table({"a": [1, 2], "b": ["x", None]}),
    "arrow_schema": lambda: pa.schema({"a": pa.int8(), "b": pa.list_(pa.string())}),
    "arrow_type": lambda: pa.struct({"a": pa.timestamp("us", "UTC")}),
    "arrow_field": lambda: pa.field("a", pa.int8(), nullable=False),
    "arrow_scalar": lambda: pa.scalar(5),
    "arrow_buffer": lambda: pa.py_buffer(b"abc"),
}
LIBRARY: dict[str, Callable[[], Any]] = {
    "value": lambda: Value("int64"),
    "value_of_time": lambda: Value("timestamp[us, tz=UTC]"),
    "class_label": lambda: ClassLabel(names=["a", "b"]),
    "features": lambda: FEATURES,
    "features_nested": lambda: Features({"a": [{"b": Value("string")}], "c": {"d": dc.List(Value("int8"), length=2)}}),
    "list_feature": lambda: dc.List(Value("int8")),
    "large_list": lambda: dc.LargeList(Value("int8")),
    "sequence": lambda: dc.Sequence({"a": Value("int8")}),
    "array_2d": lambda: dc.Array2D((2, 3), "int32"),
    "array_5d": lambda: dc.Array5D((None, 1, 2, 3, 4), "float32"),
    "translation": lambda: dc.Translation(["de", "en"]),
    "translations": lambda: dc.TranslationVariableLanguages(["de", "en"]),
    "json_feature": lambda: dc.Json(),
    "image": lambda: dc.Image(mode="RGB", decode=False),
    "audio": lambda: dc.Audio(sampling_rate=16_000),
    "video": lambda: dc.Video(),
    "pdf": lambda: dc.Pdf(),
    "nifti": lambda: dc.Nifti(),
    "mesh": lambda: dc.Mesh(),
    "bio_sequence": lambda: dc.BioSequence(),
    "bio_structure": lambda: dc.BioStructure(),
    "dataset_info": lambda: dc.DatasetInfo(description="x", features=FEATURES, citation="y", version="1.2.3"),
    "supervised_keys": lambda: dc.SupervisedKeysData("a", "b"),
    "version": lambda: dc.Version("1.2.3"),
    "split": lambda: dc.Split.TRAIN,
    "split_sum": lambda: dc.Split.TRAIN + dc.Split.TEST,
    "named_split": lambda: dc.NamedSplit("dev"),
    "read_instruction": lambda: dc.ReadInstruction("train", from_=10, to=20, unit="%"),
    "split_info": lambda: dc.SplitInfo("train", num_examples=3),
    "split_dict": lambda: dc.SplitDict({"train": dc.SplitInfo("train", num_examples=3)}),
    "split_generator": lambda: dc.SplitGenerator("train", {"a": [1]}),
    "read_config": lambda: dc.ReadConfig(shuffle_seed=3, interleave_cycle_length=2),
    "builder_config": lambda: dc.BuilderConfig("en", version=dc.Version("1.0.0"), description="x"),
    "config_of_user": lambda: OfLibrary("en"),
    "download_config": lambda: dc.DownloadConfig(max_retries=2),
    "download_mode": lambda: dc.DownloadMode.FORCE_REDOWNLOAD,
    "verification_mode": lambda: dc.VerificationMode.ALL_CHECKS,
    "experiment": lambda: dc.Experiment,
    "dataset": lambda: dc.Dataset.from_dict({"a": [1, 2]}),
    "dataset_selected": lambda: dc.Dataset.from_dict({"a": [1, 2, 3]}).select([2, 0]),
    "dataset_dict": lambda: dc.DatasetDict({"train": dc.Dataset.from_dict({"a": [1, 2]})}),
    "column": lambda: dc.Dataset.from_dict({"a": [1, 2]})["a"],
    "stream": lambda: dc.IterableDataset.from_dict({"a": [1, 2]}).skip(1),
    "error": lambda: errors.ConfigurationError("x"),
    "record_spec": lambda: records.FixedLenFeature([], "int64", default_value=0),
    "record_specs": lambda: {"a": records.VarLenFeature("string"), "b": records.SparseFeature("i", "v", "float32", 3)},
    "tfds_features": lambda: dc.tfds.features.FeaturesDict({"a": dc.tfds.features.Text(), "b": np.int64}),
    "class_of_feature": lambda: Value,
    "class_of_dataset": lambda: dc.Dataset,
    "class_of_error": lambda: errors.DatasetsError,
    "function_load": lambda: dc.load_dataset,
    "function_combine": lambda: dc.interleave_datasets,
    "function_records": lambda: records.decode_example,
    "method_of_feature": lambda: ClassLabel(names=["a"]).str2int,
    "method_of_features": lambda: FEATURES.encode_example,
    "partial_of_library": lambda: functools.partial(dc.load_dataset, "csv", streaming=True),
    "module": lambda: records,
    "settings": lambda: dc.config.Config("/c", "/c/d", "/c/e", hub_cache_dir="/h"),
}
CODE: dict[str, Callable[[], Any]] = {
    "function": lambda: plain,
    "lambda": lambda: lambda row: row["a"] > 1,
    "defaults": lambda: with_default,
    "global": lambda: of_global,
    "library_by_global": lambda: of_library,
    "library_object_by_global": lambda: of_library_object,
    "library_module_by_global": lambda: of_library_module,
    "library_error_by_global": lambda: of_library_error,
    "numpy_by_global": lambda: of_numpy,
    "import": lambda: importing,
    "annotations": lambda: annotated,
    "generator_function": lambda: generator,
    "recursion": lambda: recursive,
    "closure": lambda: closing({"a": 1}),
    "closure_of_library": lambda: closing([Value("string"), dc.Version("1.0.0"), FEATURES]),
    "closure_of_library_function": lambda: closing(dc.concatenate_datasets),
    "closure_of_dataset": lambda: closing(dc.Dataset.from_dict({"a": [1]})),
    "closure_of_function": lambda: closing(closing(plain)),
    "decorated": lambda: wrapped,
    "cached": lambda: cached,
    "partial": lambda: functools.partial(with_default, times=4),
    "partial_of_lambda": lambda: functools.partial(lambda a, b: a + b, 1),
    "class": lambda: Plain,
    "class_of_library_base": lambda: OfLibrary,
    "object": lambda: Plain("v"),
    "object_with_slots": lambda: Slotted(),
    "callable_object": lambda: Callable_(2),
    "bound_method": lambda: Plain(3).method,
    "class_method": lambda: Plain.made,
    "static_method": lambda: Plain.static,
    "property": lambda: Plain.shown,
    "dataclass": lambda: Data(),
    "frozen_dataclass": lambda: Frozen(),
    "code": lambda: plain.__code__,
    "compare": lambda: lambda row: 0 < row["n"] <= 5 and row["t"] in {"a", "b"},
    "comprehension": lambda: lambda rows: [{k: v for k, v in row.items() if v} for row in rows],
}
OF_PYTHON: dict[str, Callable[[], Any]] = {
    "builtin": lambda: len,
    "method_of_str": lambda: str.upper,
    "bound_builtin": lambda: "a-b".split,
    "operator": lambda: operator.itemgetter("a", 1),
    "attrgetter": lambda: operator.attrgetter("a.b"),
    "json_dumps": lambda: json.dumps,
    "chain": lambda: itertools.chain.from_iterable,
    "arrow_function": lambda: pc.add,
    "class_of_python": lambda: collections.OrderedDict,
    "module_of_python": lambda: json,
}
VALUES = {
    f"{kind}/{name}": make
    for kind, values in {
        "scalars": SCALARS, "arrays": ARRAYS, "library": LIBRARY, "code": CODE, "python": OF_PYTHON,
    }.items()
    for name, make in values.items()
}  # fmt: skip


def fingerprint_of(make: Callable[[], Any]) -> str:
    """The fingerprint of a value; of what has none, that it has none."""
    try:
        return dc.Hasher.hash(make())
    except errors.UnhashableError:
        return "none"
