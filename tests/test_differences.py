"""Behaviour that programs written for Hugging Face `datasets` rely on."""

from __future__ import annotations

import dataclasses
import json
import pickle
from typing import Any, ClassVar

import fsspec
import pandas as pd
import pyarrow as pa
import pytest
from fsspec.implementations.memory import MemoryFileSystem

from datasets_core import (
    Array2D,
    ClassLabel,
    Dataset,
    DatasetInfo,
    Features,
    GeneratorBasedBuilder,
    Image,
    IterableDataset,
    List,
    SplitGenerator,
    Value,
    concatenate_datasets,
    config,
    interleave_datasets,
    load_dataset,
)
from datasets_core.errors import CastError, CellCastError, ConfigurationError, DatasetGenerationCastError, OfflineError
from datasets_core.io.tables import ConcatenationTable, InMemoryTable
from datasets_core.store.fingerprint import fingerprint


def test_the_format_of_a_dataset_can_be_given_back() -> None:
    dataset = Dataset.from_dict({"a": [1, 2], "b": [3, 4]}).with_format("numpy", columns=["a"], dtype="float32")
    other = Dataset.from_dict({"a": [1, 2], "b": [3, 4]})
    other.set_format(**dataset.format)
    assert other.format == dataset.format
    assert other[:]["a"].dtype == "float32"


def test_patterns_of_regex_are_known_by_their_content() -> None:
    regex = pytest.importorskip("regex")
    assert fingerprint(regex.compile("x+")) == fingerprint(regex.compile("x+"))
    assert fingerprint(regex.compile("x+")) != fingerprint(regex.compile("y+"))
    assert fingerprint(regex.compile("x+")) != fingerprint(regex.compile("x+", regex.IGNORECASE))


BOTH = pytest.mark.parametrize("kind", [Dataset, IterableDataset])
A_AND_B = Features({"a": Value("int64"), "b": Value("string")})


@BOTH
def test_columns_that_the_features_lack_are_refused_or_left_out(kind) -> None:
    for made, data in ((kind.from_dict, {"a": [1], "b": ["x"], "c": [3]}), (kind.from_list, [{"a": 1, "b": "x", "c": 3}])):
        with pytest.raises(CastError, match="extra_columns='ignore'"):
            made(data, features=A_AND_B)
        assert list(made(data, features=A_AND_B, extra_columns="ignore")) == [{"a": 1, "b": "x"}]
        with pytest.raises(ConfigurationError, match="extra_columns='drop'"):
            made(data, features=A_AND_B, extra_columns="drop")


@BOTH
def test_keys_of_a_generator_that_the_features_lack_are_refused_or_left_out(kind) -> None:
    def rows(last):
        yield {"a": 1, "b": "x"}
        yield {"a": 2, "b": "y", "c": last}

    given = {"features": A_AND_B, "gen_kwargs": {"last": 3}}
    with pytest.raises(CellCastError, match="extra_columns='ignore'") as error:
        list(kind.from_generator(rows, **given))
    assert (error.value.column, error.value.row) == ("c", 1)
    found = kind.from_generator(rows, **given, extra_columns="ignore")
    assert list(found) == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    with pytest.raises(CellCastError):  # what was left out before is found under another name
        list(kind.from_generator(rows, **given))


class Extra(GeneratorBasedBuilder):
    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=A_AND_B)

    def _split_generators(self, dl_manager):
        return [SplitGenerator("train")]

    def _generate_examples(self):
        yield 0, {"a": 1, "b": "x", "c": 2}


class ExtraIgnored(Extra):
    extra_columns = "ignore"


def test_keys_of_a_builder_that_the_features_lack_are_refused_or_left_out(tmp_path) -> None:
    with pytest.raises(DatasetGenerationCastError, match="extra_columns = 'ignore'"):
        Extra(cache_dir=str(tmp_path)).download_and_prepare()
    builder = ExtraIgnored(cache_dir=str(tmp_path))
    builder.download_and_prepare()
    assert list(builder.as_dataset("train")) == [{"a": 1, "b": "x"}]
    assert list(builder.as_streaming_dataset("train")) == [{"a": 1, "b": "x"}]


@BOTH
def test_a_feature_without_a_column_is_refused_or_filled(kind) -> None:
    for made, data in ((kind.from_dict, {"a": [1]}), (kind.from_list, [{"a": 1}])):
        with pytest.raises(CastError, match=r"'b'.*missing_columns='insert'"):
            made(data, features=A_AND_B)
        with pytest.raises(CastError):
            made(data, info=DatasetInfo(features=A_AND_B))
        assert list(made(data, features=A_AND_B, missing_columns="insert")) == [{"a": 1, "b": None}]
        with pytest.raises(ConfigurationError, match="missing_columns='ignore'"):
            made(data, features=A_AND_B, missing_columns="ignore")
    assert list(kind.from_list([{"a": 1}, {"b": "x"}], features=A_AND_B)) == [{"a": 1, "b": None}, {"a": None, "b": "x"}]
    assert list(kind.from_dict({}, features=A_AND_B)) == list(kind.from_list([], features=A_AND_B)) == []


@BOTH
@pytest.mark.parametrize("rows", [[1, 2], []])
@pytest.mark.parametrize("table", [pa.table, pd.DataFrame])
def test_a_function_of_a_row_returns_one_row(kind, rows, table) -> None:
    dataset = kind.from_dict({"a": [1, 2]})
    with pytest.raises(CastError, match="batched=True"):
        list(dataset.map(lambda row: table({"b": rows})))
    with pytest.raises(CastError, match="batched=True"):
        list(dataset.with_format("arrow").map(lambda row: pa.table({"b": rows})))
    found = list(dataset.map(lambda batch: table({"b": rows}), batched=True, batch_size=1))
    assert [row["b"] for row in found] == rows * 2


def test_a_row_that_is_left_as_it_is_stays_beside_rows_that_are_tables() -> None:
    dataset = Dataset.from_dict({"a": [1, 2, 3], "b": ["x", "y", "z"]})
    found = dataset.map(lambda row: pa.table({"a": [row["a"] * 10]}) if row["a"] > 1 else None, remove_columns="b")
    assert found["a"][:] == [1, 20, 30]


def test_the_table_of_a_dataset_has_that_of_pyarrow_and_its_blocks(tmp_path) -> None:
    held = Dataset.from_dict({"a": [1, 2]})
    assert isinstance(held.data.table, pa.Table)
    assert held.data.table.schema.metadata == held.features.arrow_schema.metadata
    assert held.data.column("a") == held.data.table.column("a")
    assert [[block.table for block in line] for line in held.data.blocks] == [[held.data.table]]
    assert pa.table(held.data) == held.data.table

    held.save_to_disk(str(tmp_path), num_shards=2)
    mapped = Dataset.load_from_disk(str(tmp_path))
    assert [line[0].path for line in mapped.data.blocks] == [file["filename"] for file in mapped.cache_files]
    assert pickle.loads(pickle.dumps(mapped.data)).table == mapped.data.table
    assert Dataset(mapped.data)[:] == {"a": [1, 2]}

    joined = concatenate_datasets([held, Dataset.from_dict({"a": [3]})])
    assert isinstance(joined.data, ConcatenationTable)
    assert [[type(block) for block in line] for line in joined.data.blocks] == [[InMemoryTable]]
    assert pickle.loads(pickle.dumps(joined)).data.table == joined.data.table
    assert isinstance(held.data, InMemoryTable)

    chosen = held.select([1, 0])
    assert held._indices is None
    assert chosen._indices.table.to_pydict() == {"indices": [1, 0]}
    assert Dataset(chosen.data, indices_table=chosen._indices)[:] == {"a": [2, 1]}


def test_the_info_of_a_dataset_as_a_dict_has_the_json_form_of_its_features() -> None:
    features = Features({"a": Value("int8"), "b": List({"c": ClassLabel(names=["x"])}), "d": {"e": Image()}})
    info = DatasetInfo(features=features, description="d")
    form = dataclasses.asdict(info)
    assert form["features"] == features.to_dict()
    assert type(form["features"]) is dict
    assert json.loads(json.dumps(form["features"])) == form["features"]
    assert DatasetInfo(**form) == info


def test_offline_mode_closes_the_hub_and_the_web_and_no_store_of_the_user(tmp_path) -> None:
    class Store(MemoryFileSystem):
        protocol = "differences"
        store: ClassVar[dict[str, Any]] = {}
        pseudo_dirs: ClassVar[list[str]] = [""]

    fsspec.register_implementation("differences", Store, clobber=True)
    held = Dataset.from_dict({"a": [1]})
    with config.using(offline=True, cache_dir=tmp_path):
        held.save_to_disk("differences://saved")
        held.to_parquet("differences://rows/a.parquet")
        assert Dataset.load_from_disk("differences://saved")[:] == {"a": [1]}
        files = {"data_files": "differences://rows/*.parquet", "split": "train"}
        assert load_dataset("parquet", **files)[:] == {"a": [1]}
        assert list(load_dataset("parquet", **files, streaming=True)) == [{"a": 1}]
        with pytest.raises(OfflineError):
            load_dataset("parquet", data_files="http://127.0.0.1:9/a.parquet", split="train")


def test_the_format_of_a_dataset_is_part_of_its_fingerprint(tmp_path) -> None:
    plain = Dataset.from_dict({"a": [1, 2], "b": [3, 4]})
    formatted, again = (plain.with_format("numpy", columns=["a"]) for _ in range(2))
    names = {each._fingerprint for each in (plain, formatted, plain.with_format("numpy"), plain.with_transform(len))}
    assert len(names) == 4
    assert formatted._fingerprint == again._fingerprint
    again.reset_format()
    assert again._fingerprint == plain._fingerprint
    assert formatted.select([0])._lineage.fingerprint == plain.select([0])._fingerprint  # of the rows alone

    formatted.save_to_disk(str(tmp_path))
    assert Dataset.load_from_disk(str(tmp_path))._fingerprint == formatted._fingerprint


def test_columns_of_different_lengths_are_an_error_of_arrow_too() -> None:
    dataset = Dataset.from_dict({"a": [1, 2], "b": [1, 2]})
    with pytest.raises(pa.ArrowInvalid, match="expected length") as error:
        dataset.map(lambda batch: {"a": [1]}, batched=True)
    assert isinstance(error.value, CastError)
    assert (error.value.lengths, pickle.loads(pickle.dumps(error.value)).lengths) == ({"a": 1, "b": 2}, {"a": 1, "b": 2})


@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")
def test_what_torch_compiles_is_known_by_its_content() -> None:
    torch = pytest.importorskip("torch")

    def one(x):
        return torch.sin(x)

    def other(x):
        return torch.cos(x)

    def module(value):
        found = torch.nn.Linear(2, 2)
        next(found.parameters()).data.fill_(value)
        found.bias.data.fill_(0)
        return found

    assert fingerprint(torch.compile(one)) == fingerprint(one) != fingerprint(torch.compile(other))
    assert fingerprint(torch.compile(module(1))) == fingerprint(module(1)) != fingerprint(torch.compile(module(2)))


@dataclasses.dataclass
class Decoded:
    """A kind of columns as programs of Hugging Face `datasets` write them, which counts what it decodes."""

    num_decoded = 0

    def __post_init__(self) -> None:
        self.decode = True

    def decode_example(self, value, token_per_repo_id=None):
        type(self).num_decoded += 1
        return "decoded" if self.decode else value

    def __call__(self):
        return pa.string()


def test_the_decoding_of_own_kinds_of_columns_can_be_switched_off() -> None:
    stream = IterableDataset.from_generator(lambda: iter([{"a": "0"}, {"a": "1"}]), features=Features({"a": Decoded()}))
    Decoded.num_decoded = 0
    assert next(iter(stream)) == {"a": "decoded"}
    assert Decoded.num_decoded == 1
    off = stream.decode(False)
    assert list(off) == list(stream.decode(num_threads=2).decode(False)) == [{"a": "0"}, {"a": "1"}]
    assert Decoded.num_decoded == 1
    assert list(off.decode()) == list(off.decode(num_threads=2)) == [{"a": "decoded"}] * 2


def test_arrays_of_a_fixed_shape_are_extension_arrays_in_pandas() -> None:
    features = Features({"m": Array2D((2, 2), "int32"), "d": Array2D((None, 2), "int8"), "n": Array2D((1, 2), "int64")})
    rows = {"m": [[[1, 2], [3, 4]], [[5, 6], [7, 8]]], "d": [[[1, 2]], [[1, 2], [3, 4]]], "n": [None, [[1, 2]]]}
    dataset = Dataset.from_dict(rows, features=features)
    for frame in (dataset.to_pandas(), dataset.with_format("pandas")[:], next(dataset.to_pandas(batched=True))):
        assert frame.dtypes.astype(str).tolist() == ["array[int32]", "array[int8]", "array[int64]"]
        assert frame["m"].to_numpy().shape == (2, 2, 2)
        assert frame["m"].to_numpy().tolist() == rows["m"]
        assert [row.tolist() for row in frame["d"]] == rows["d"]
        assert frame["n"].isna().tolist() == [True, False]
        assert pickle.loads(pickle.dumps(frame)).equals(frame)
        assert frame.iloc[::-1]["m"].to_numpy().tolist() == rows["m"][::-1]
        joined = pd.concat([frame, frame], ignore_index=True)
        assert joined["m"].to_numpy().shape == (4, 2, 2)
        assert (joined["m"][:2] == frame["m"]).all()
        assert joined.reindex([0, 9])["d"].isna().tolist() == [False, True]
        assert Dataset.from_pandas(frame, features=features)[:] == dataset[:]
    assert dataset.with_format("pandas").map(lambda frame: frame, batched=True).features == features
    assert dataset.select([]).to_pandas().dtypes.astype(str).tolist() == ["array[int32]", "array[int8]", "array[int64]"]
    stream = dataset.to_iterable_dataset().with_format("pandas")
    assert next(stream.iter(2))["m"].to_numpy().shape == (2, 2, 2)


def test_streams_that_are_put_together_know_their_columns() -> None:
    one, two = (IterableDataset.from_generator(lambda name=name: iter([{name: 1}, {name: 2}])) for name in "ab")
    assert one.column_names is None
    assert concatenate_datasets([one, one]).column_names == interleave_datasets([one, one]).column_names == ["a"]
    assert concatenate_datasets([one, two]).column_names == ["a", "b"]
    both = concatenate_datasets([one, two], axis=1)
    assert (both.column_names, both.num_columns) == (["a", "b"], 2)
    assert list(both) == [{"a": 1, "b": 1}, {"a": 2, "b": 2}]
    with pytest.raises(ValueError, match="Column 'a' is duplicated"):
        list(concatenate_datasets([one, one], axis=1))


def test_decoding_of_media_can_be_replaced(monkeypatch) -> None:
    data = {"i": [{"bytes": b"abc", "path": None}, None]}
    dataset = Dataset.from_dict(data, features=Features({"i": Image()}))
    monkeypatch.setattr(Image, "decode_example", lambda self, value, token_per_repo_id=None: value["bytes"].decode())
    assert dataset[:] == {"i": ["abc", None]}
    nested = Dataset.from_dict({"i": [data["i"]]}, features=Features({"i": List(Image())}))
    assert nested[0] == {"i": ["abc", None]}
    assert dataset.with_format("numpy")["i"][:].tolist() == ["abc", None]
    assert list(dataset.to_iterable_dataset()) == [{"i": "abc"}, {"i": None}]
    assert dataset.map(lambda row: {"n": row["i"]}, load_from_cache_file=False)["n"][:] == ["abc", None]
    assert dataset.cast_column("i", Image(decode=False))[0] == {"i": {"bytes": b"abc", "path": None}}


def test_a_column_can_be_called_self() -> None:
    features = Features(self=Value("string"))
    assert features == Features({"self": Value("string")})
    features.update(self=Value("int8"))
    assert Features.from_dict(dataclasses.asdict(DatasetInfo(features=features))["features"]) == {"self": Value("int8")}
