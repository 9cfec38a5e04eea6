"""Public behaviour that is the same as in Hugging Face `datasets` 5.2.0, where it was another before."""

from __future__ import annotations

import datetime as dt
import json
import os
import pickle
import signal
import sqlite3
import subprocess
import sys
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import Dataset, Features, Image, List, Translation, Value, Version, errors, load_dataset
from datasets_core.building.hooks import BuilderConfig
from datasets_core.distributed import split_dataset_by_node


def test_a_config_name_that_no_folder_can_have_is_an_error_of_its_own() -> None:
    with pytest.raises(errors.InvalidConfigNameError):
        BuilderConfig(name="a*b")


def _kill(row: dict[str, Any]) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_is_a_runtime_error() -> None:
    with pytest.raises(RuntimeError) as caught:
        Dataset.from_dict({"a": [1, 2]}).map(_kill, num_proc=2)
    assert isinstance(caught.value, errors.WorkerDiedError)


@pytest.mark.parametrize(
    "name", ["NonMatchingChecksumError", "FileFormatError", "ManualDownloadError", "DatasetGenerationError"]
)
def test_errors_are_made_of_nothing_or_of_a_text(name: str) -> None:
    kind = getattr(errors, name)
    for args in ((), ("what happened",)):
        error = pickle.loads(pickle.dumps(kind(*args)))
        assert (type(error), error.args or ("",), str(error)) == (kind, args or ("",), "".join(args))


@pytest.mark.optional("PIL")
def test_images_that_are_not_decoded_or_not_arrays_of_pixels_have_the_exceptions_of_datasets() -> None:
    with pytest.raises(RuntimeError):
        Image(decode=False).decode_example({"bytes": b"", "path": None})
    for array in (np.ones((2, 2), "complex64"), np.ones((2, 2, 3), "float64"), np.ones((2, 2), "int8")):
        with pytest.raises(TypeError) as caught:
            Image().encode_example(array)
        assert isinstance(caught.value, errors.CastError)
        with pytest.raises(TypeError):
            Dataset.from_dict({"i": [array]}, features=Features({"i": Image()}))


@pytest.mark.optional("PIL")
def test_narrowed_pixels_are_told() -> None:
    with pytest.warns(UserWarning, match="Downcasting array dtype int64 to uint8"):
        Image().encode_example(np.ones((2, 2, 3), "int64"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Image().encode_example(np.ones((2, 2, 3), "uint8"))
    with pytest.raises(errors.CastError, match="outside the range"):
        Image().encode_example(np.full((2, 2), 2**40, "int64"))


_MOMENT = dt.datetime(2020, 1, 1, 5, 6, 7, 123456)
_TIMES = Features(
    {
        "us": Value("timestamp[us]"),
        "zone": Value("timestamp[s, tz=UTC]"),
        "far": Value("timestamp[us]"),
        "list": List(List(Value("timestamp[ms]"))),
        "far_list": List(Value("timestamp[us]")),
        "three": List(Value("duration[us]"), length=1),
        "span": Value("duration[us]"),
        "ages": Value("duration[s]"),
        "dict": {"t": Value("timestamp[us]")},
    }
)
_ROW = {
    "us": _MOMENT,
    "zone": dt.datetime(2020, 1, 1, tzinfo=dt.UTC),
    "far": dt.datetime(3000, 1, 1, 0, 0, 1),
    "list": [[dt.datetime(2020, 1, 1)], [None]],
    "far_list": [dt.datetime(3000, 1, 1), None],
    "three": [dt.timedelta(seconds=3)],
    "span": dt.timedelta(seconds=3, microseconds=7),
    "ages": dt.timedelta(days=200_000),
    "dict": {"t": dt.datetime(2020, 1, 1)},
}


@pytest.fixture
def frame_units(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    pandas = pytest.importorskip("pandas")
    seen: list[str] = []
    write = pandas.DataFrame.to_json

    def to_json(frame: Any, *args: Any, **kwargs: Any) -> Any:
        seen.extend(str(dtype) for dtype in frame.dtypes)
        return write(frame, *args, **kwargs)

    monkeypatch.setattr(pandas.DataFrame, "to_json", to_json)
    return seen


@pytest.mark.optional("pandas")
def test_times_of_json_with_options_are_right_in_every_release_of_pandas(tmp_path: Path, frame_units: list[str]) -> None:
    """Before 3.0, pandas writes times in other units than nanoseconds off by 1,000 or more."""
    dataset = Dataset.from_dict({name: [value, None] for name, value in _ROW.items()}, features=_TIMES)
    file = tmp_path / "a.json"
    dataset.to_json(file, double_precision=3)
    assert not [unit for unit in frame_units if unit.startswith(("datetime64", "timedelta64")) and "ns" not in unit]
    assert json.loads(file.read_text().splitlines()[0]) == {
        "us": 1577855167123,
        "zone": 1577836800000,
        "far": 32503680001000,
        "list": [[1577836800000], [None]],
        "far_list": [32503680000000, None],
        "three": [3000],
        "span": 3000,
        "ages": 17280000000000,
        "dict": {"t": 1577836800000},
    }
    dataset.to_json(file, orient="index", date_unit="us")
    assert json.loads(file.read_text())["0"]["far"] == 32503680001000000
    dataset.to_json(file, date_format="iso")
    first = json.loads(file.read_text().splitlines()[0])
    assert (first["us"], first["far"]) == ("2020-01-01T05:06:07.123", "3000-01-01T00:00:01.000")
    assert (first["span"], first["ages"]) == ("P0DT0H0M3.000007S", "P200000DT0H0M0S")


def test_parquet_files_say_how_their_pages_were_cut(tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"a": [1, 2, 3]})
    chunks = {"min_chunk_size": 262144, "max_chunk_size": 1048576, "norm_level": 0}
    own = {"min_chunk_size": 128, "max_chunk_size": 1024, "norm_level": 1}
    file = tmp_path / "a.parquet"
    for rows in (dataset, dataset.to_iterable_dataset()):
        kinds: list[tuple[dict[str, Any], dict[str, int]]] = [({}, chunks), ({"use_content_defined_chunking": own}, own)]
        for options, expected in kinds:
            rows.to_parquet(file, **options)
            assert json.loads(pq.read_metadata(file).metadata[b"content_defined_chunking"]) == expected
            assert pq.ParquetFile(file).read().column("a").to_pylist() == [1, 2, 3]
        rows.to_parquet(file, use_content_defined_chunking=False)
        assert b"content_defined_chunking" not in pq.read_metadata(file).metadata


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("change", [lambda row: row, lambda row: {**row}])
def test_a_formatted_row_that_comes_back_keeps_the_removed_columns(batched: bool, change: Any) -> None:
    dataset = Dataset.from_dict({"a": [1, 2], "c": [1.0, 2.0]}).with_format("numpy")
    result = dataset.map(change, remove_columns=["a"], batched=batched).with_format(None)
    assert result[:] == {"a": [1, 2], "c": [1.0, 2.0]}
    plain = dataset.with_format(None).map(lambda row: row, remove_columns=["a"], batched=batched)
    assert plain[:] == {"c": [1.0, 2.0]}


def _doubled(rows: Any) -> Any:
    rows["c"] = rows["c"] * 2
    rows["z"] = rows["c"]
    return rows


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("removed", [None, ["a"]])
def test_a_formatted_stream_takes_what_a_function_changes_in_place(batched: bool, removed: list[str] | None) -> None:
    stream = Dataset.from_dict({"a": [1, 2], "c": [1.0, 2.0]}).to_iterable_dataset().with_format("numpy")
    rows = list(stream.map(_doubled, batched=batched, remove_columns=removed).with_format(None))
    assert [{name: float(value) for name, value in row.items()} for row in rows] == [
        {**({} if removed else {"a": a}), "c": c, "z": c} for a, c in ((1.0, 2.0), (2.0, 4.0))
    ]


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("kind", ["arrow", pytest.param("pandas", marks=pytest.mark.optional("pandas"))])
def test_a_function_that_returns_nothing_keeps_the_rows_of_a_stream_of_tables(kind: str, batched: bool) -> None:
    stream = Dataset.from_dict({"a": [1, 2], "c": [1.0, 2.0]}).to_iterable_dataset().with_format(kind)
    made = stream.map(lambda rows: None, batched=batched, remove_columns=["a"])
    assert list(made.with_format(None)) == [{"c": 1.0}, {"c": 2.0}]


@pytest.mark.optional("pandas")
@pytest.mark.optional("sqlalchemy")
def test_unsigned_integers_go_to_a_database_that_a_uri_names(tmp_path: Path) -> None:
    dataset = Dataset.from_dict({"a": [1, 2**40, None]}, features=Features({"a": Value("uint64")}))
    assert dataset.to_sql("t", f"sqlite:///{tmp_path / 'x.db'}") == 3
    with sqlite3.connect(tmp_path / "x.db") as database:
        assert database.execute("select a, typeof(a) from t").fetchall() == [(1, "integer"), (2**40, "integer"), (None, "null")]
    database.close()


@pytest.mark.parametrize("method", ["map", "filter"])
def test_names_of_results_are_checked_as_in_datasets(tmp_path: Path, method: str) -> None:
    call = getattr(Dataset.from_dict({"a": [1, 2]}), method)
    with pytest.raises(ValueError, match="extension"):
        call(bool, cache_file_name=str(tmp_path / "train"))
    for template in ("_x", "_{}_of_{}", "_{rank}", "_{rank}_{num_proc}_{more}"):
        with pytest.raises(ValueError, match="suffix_template"):
            call(bool, suffix_template=template)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("text", ["\u0661.2.3", "1.\uff12.3", "1.2.\u0967"])
def test_digits_of_other_scripts_make_no_version(text: str) -> None:
    assert not Version.is_valid(text)
    for make in (Version, Version("1.2.3").match, lambda text: Version.from_dict({"version_str": text})):
        with pytest.raises(errors.ReferenceSyntaxError):
            make(text)


def _broken(folder: Path, metadata: str) -> tuple[str, str]:
    table = pa.table({"a": [1]}).replace_schema_metadata({"huggingface": metadata})
    pq.write_table(table, folder / "a.parquet")
    with pa.ipc.new_file(folder / "a.arrow", table.schema) as writer:
        writer.write_table(table)
    return str(folder / "a.parquet"), str(folder / "a.arrow")


@pytest.mark.parametrize(
    "metadata",
    [
        "{broken",
        json.dumps({"info": {"features": {"a": {"dtype": "intx", "_type": "Value"}}}}),
        json.dumps({"info": {"features": {"a": {"_type": "Nope"}}}}),
    ],
)
def test_broken_features_of_a_file_name_it(tmp_path: Path, metadata: str) -> None:
    parquet, arrow = _broken(tmp_path, metadata)
    uses = {
        "built parquet": (parquet, lambda: load_dataset("parquet", data_files=parquet)),
        "streamed parquet": (parquet, lambda: list(load_dataset("parquet", data_files=parquet, split="train", streaming=True))),
        "its features": (parquet, lambda: load_dataset("parquet", data_files=parquet, split="train", streaming=True).features),
        "built arrow": (arrow, lambda: load_dataset("arrow", data_files=arrow)),
        "streamed arrow": (arrow, lambda: list(load_dataset("arrow", data_files=arrow, split="train", streaming=True))),
        "opened": (arrow, lambda: Dataset.from_file(arrow)[0]),
    }
    for use, (file, call) in uses.items():
        with pytest.raises(errors.ConfigurationError) as caught:
            call()
        assert str(caught.value).startswith(f"{file}: "), use


_SCRIPT = """
import datasets

class Made(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("2018.04.18")
    BUILDER_CONFIGS = [datasets.BuilderConfig(name="mode=first,char_skip=25", version=VERSION)]

    def _info(self):
        features = datasets.Features({
            "source_aligned": datasets.Translation(languages=["en", "en"]),
            "authors": datasets.Sequence({"name": datasets.Value("string")}),
            "tags": datasets.Sequence(datasets.Value("string")),
            "one": {"name": datasets.Value("string")},
        })
        self.lists = sorted(key for key, value in features.items() if isinstance(value, datasets.Sequence))
        self.inner = sorted(features["authors"].feature)
        return datasets.DatasetInfo(features=features)

    def _split_generators(self, dl_manager):
        return [
            datasets.SplitGenerator(name=datasets.Split.TRAIN, gen_kwargs={"rows": 1}),
            datasets.SplitGenerator(name=datasets.Split.TEST, gen_kwargs={"rows": 0}),
        ]

    def _generate_examples(self, rows):
        assert isinstance(self.info.features["authors"], datasets.Sequence)
        for row in range(rows):
            authors = [{"name": name} for name in self.inner]
            yield row, {"source_aligned": {"en": "a"}, "authors": authors, "tags": self.lists, "one": {"name": "x"}}
"""


@pytest.mark.parametrize("options", [{}, {"streaming": True}, {"num_proc": 2}, {"trust_remote_code": True}])
def test_what_published_scripts_do_runs_as_in_datasets_2(tmp_path: Path, options: dict[str, Any]) -> None:
    """A language twice (gem), a dated version in the record (qanta), an empty split and a `Sequence` of dicts (pubmed)."""
    folder = tmp_path / "made"
    folder.mkdir()
    (folder / "made.py").write_text(_SCRIPT)
    record = {"features": None, "version": {"version_str": "2018.04.18", "major": 2018, "minor": 4, "patch": 18}}
    (folder / "dataset_infos.json").write_text(json.dumps({"mode=first,char_skip=25": record}))
    made = load_dataset(str(folder), cache_dir=str(tmp_path / "cache"), **options)
    assert list(made["train"]) == [
        {
            "source_aligned": {"en": "a"},
            "authors": {"name": ["name"]},
            "tags": ["authors", "tags"],
            "one": {"name": "x"},
        }
    ]
    assert list(made["test"]) == []
    features = made["train"].features
    assert features == {
        "source_aligned": Translation(languages=["en", "en"]),
        "authors": {"name": List(Value("string"))},
        "tags": List(Value("string")),
        "one": {"name": Value("string")},
    }
    assert made["train"].info.version == "2018.4.18"


@dataclass
class Still:
    """As `VideoFrame` of lerobot."""

    pa_type: ClassVar[Any] = pa.struct({"path": pa.string(), "at": pa.float32()})
    _type: str = field(default="Still", init=False, repr=False)

    def __call__(self) -> Any:
        return self.pa_type


@dataclass(frozen=True)
class Offset:
    """Converts its values."""

    by: int = 3

    def __call__(self) -> Any:
        return pa.int64()

    def encode_example(self, value: str) -> int:
        return int(value.removeprefix("v")) + self.by

    def decode_example(self, value: int, token_per_repo_id: object = None) -> str:
        return f"v{value - self.by}"


@pytest.mark.parametrize(
    ("feature", "values"),
    [(Still(), [{"path": "a", "at": 1.0}, None, {"path": None, "at": 2.0}]), (Offset(5), ["v1", None, "v7"])],
)
def test_own_feature_classes_are_columns(tmp_path: Path, feature: Any, values: list[Any]) -> None:
    features = Features({"v": feature, "w": List(feature), "x": {"y": feature}})
    data = {"v": values, "w": [[value, value] for value in values], "x": [{"y": value} for value in values]}
    dataset = Dataset.from_dict(data, features=features)
    expected = [{name: column[row] for name, column in data.items()} for row in range(3)]
    assert list(dataset) == list(dataset.to_iterable_dataset()) == expected
    for kinds in (features, dataset.features, pickle.loads(pickle.dumps(features)), Features.from_dict(features.to_dict())):
        assert isinstance(kinds["v"], type(feature)) and kinds == features and kinds["v"] == feature == kinds["v"]
    assert features["v"] != Offset(9) and repr(features["v"]) == repr(feature)
    mapped = dataset.map(lambda row: {"z": row["v"], "is_own": isinstance(features["v"], type(feature))}, num_proc=2)
    assert mapped["z"][:] == values and all(mapped["is_own"]) and mapped.features["v"] == feature
    dataset.save_to_disk(tmp_path / "saved")
    dataset.to_parquet(tmp_path / "a.parquet")
    for again in (Dataset.load_from_disk(str(tmp_path / "saved")), Dataset.from_file(tmp_path / "a.parquet")):
        assert list(again) == expected and again.features == features
    assert Dataset.from_dict(data, features=features)._fingerprint == dataset._fingerprint


def test_an_own_feature_class_takes_no_name_of_the_library() -> None:
    with pytest.raises(errors.ConfigurationError, match="already"):
        Features({"v": dataclass(type("Video", (), {"pa_type": pa.int8()}))()})
    with pytest.raises(TypeError, match="not a feature"):
        Features({"v": dataclass(type("Nothing", (), {}))()})


def test_an_added_item_is_text_as_arrow_writes_it() -> None:
    dataset = Dataset.from_dict({"text": ["x"], "number": [1]})
    moment = dt.datetime(2020, 1, 1)
    for value, text in (
        (2.0, "2"),
        (2.5, "2.5"),
        (True, "true"),
        (7, "7"),
        (None, None),
        (moment, "2020-01-01 00:00:00.000000"),
    ):
        assert dataset.add_item({"text": value, "number": "5"})[-1] == {"text": text, "number": 5}


def test_values_are_encoded_by_hand() -> None:
    for dtype, value, stored in (
        ("int32", "3", 3),
        ("float32", "2.5", 2.5),
        ("float64", 3, 3.0),
        ("bool", 1, True),
        ("string", 3, "3"),
    ):
        found = Value(dtype).encode_example(value)
        assert (type(found), found) == (type(stored), stored)
    with pytest.raises(errors.CastError):
        Value("int32").encode_example(3.5)


class _Held:
    def __init__(self, values: list[int]) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.asarray(self.values, dtype)


def test_objects_that_are_arrays_come_as_arrays_of_streams() -> None:
    stream = Dataset.from_dict({"a": [1, 2]}).to_iterable_dataset().map(lambda row: {"b": _Held([row["a"], 3])})
    rows = list(stream.with_format("numpy"))
    assert all(type(row["b"]) is np.ndarray for row in rows) and [row["b"].tolist() for row in rows] == [[1, 3], [2, 3]]


def test_names_of_datasets_that_are_modules_too_are_what_they_are_there() -> None:
    code = """
import warnings
from datasets_core import as_datasets
as_datasets.install()
import datasets
import datasets.utils.experimental, datasets.utils.tqdm
from datasets.utils.experimental import experimental
assert datasets.experimental is datasets.utils.experimental is experimental
assert isinstance(datasets.utils.tqdm, type) and list(datasets.utils.logging.tqdm(range(2))) == [0, 1]
assert datasets.logging.log_levels["warning"] == datasets.logging.WARNING
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    assert experimental(lambda: 5)() == 5
assert [each.category for each in told] == [UserWarning]
assert issubclass(datasets.builder.InvalidConfigName, ValueError)
assert isinstance(datasets.Dataset.from_dict({"a": [1]}).data, datasets.table.InMemoryTable)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_files_that_are_read_into_memory_are_counted_by_arrow(tmp_path: Path) -> None:
    Dataset.from_dict({"a": list(range(10_000))}).save_to_disk(tmp_path / "rows")
    file = next((tmp_path / "rows").glob("*.arrow"))
    before = pa.total_allocated_bytes()
    rows = Dataset.from_file(file, in_memory=True)
    assert pa.total_allocated_bytes() - before >= 80_000 and rows[-1] == {"a": 9999}


def test_messages_hold_the_words_that_code_compares() -> None:
    with pytest.raises(ValueError, match="Bad characters"):
        BuilderConfig(name="a*b")
    with pytest.raises(TypeError, match="generator must be callable"):
        Dataset.from_generator([{"a": 1}])  # type: ignore[arg-type]
    stream = Dataset.from_dict({"a": [1, 2], "b": [1, 2]}).to_iterable_dataset()
    with pytest.raises(ValueError, match="Column lengths mismatch"):
        list(stream.map(lambda batch: {"a": batch["a"][:1]}, batched=True))
    for rows, strategy, text in (
        (stream, "no", "Invalid strategy"),
        (Dataset.from_dict({"a": [1]}), "examples", "Map-style datasets"),
    ):
        with pytest.raises(ValueError, match=text):
            split_dataset_by_node(rows, 0, 1, strategy=strategy)  # type: ignore[type-var]


@pytest.mark.parametrize(("name", "text"), [("bad.json", '{"a": 1}\n{"a":\n'), ("bad.csv", "a,b\n1,2\n1,2,3\n")])
def test_broken_files_are_failed_builds_as_in_datasets(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(errors.DatasetGenerationError) as caught:
        load_dataset(name.rpartition(".")[2], data_files=str(tmp_path / name), cache_dir=tmp_path / "cache")
    assert isinstance(caught.value, errors.FileFormatError)
    assert (caught.value.line, caught.value.file) == (len(text.splitlines()), str(tmp_path / name))


@pytest.mark.optional("PIL")
def test_an_image_that_cannot_be_decoded_is_an_error_of_the_system_as_in_pillow() -> None:
    dataset = Dataset.from_dict({"i": [{"bytes": b"none", "path": None}]}, features=Features({"i": Image()}))
    with pytest.raises(OSError) as caught:
        dataset[0]
    assert (caught.value.column, caught.value.row) == ("i", 0)
    assert isinstance(pickle.loads(pickle.dumps(caught.value)), errors.MediaDecodeError)
    assert (caught.value.row, caught.value.column) == (0, "i")  # type: ignore[attr-defined]
