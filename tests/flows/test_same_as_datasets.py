"""Programs for Hugging Face `datasets` find the same behaviour here, by the alias."""

from __future__ import annotations

import copy
import importlib
import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pyarrow as pa
import pytest

from datasets_core import as_datasets

pytestmark = pytest.mark.skipif("datasets" in sys.modules, reason="the library datasets is imported already")


@pytest.fixture
def datasets() -> Iterator[ModuleType]:
    with as_datasets.install():
        yield importlib.import_module("datasets")


# -- tables ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def birds(datasets: ModuleType, tmp_path: Path) -> str:
    """A file of five rows that `map` wrote."""
    path = str(tmp_path / "birds.arrow")
    datasets.Dataset.from_dict({"name": list("abcde"), "grams": [1, 2, 3, 4, 5]}).map(cache_file_name=path)
    return path


def test_a_named_cache_file_is_an_arrow_stream(birds: str) -> None:
    with pa.memory_map(birds) as source:
        assert pa.ipc.open_stream(source).read_all()["grams"].to_pylist() == [1, 2, 3, 4, 5]


def test_a_mapped_table_pickles_as_its_file_and_what_was_done_to_it(datasets: ModuleType, birds: str) -> None:
    table = datasets.table.MemoryMappedTable.from_file(birds)
    changed = table.slice(1, 3).rename_columns(["n", "g"]).remove_column(0)
    assert [replay[0] for replay in changed.replays] == ["slice", "rename_columns", "remove_column"]
    before = pa.total_allocated_bytes()
    again = pickle.loads(pickle.dumps(changed))
    assert pa.total_allocated_bytes() == before
    assert (type(again), again.path, again.to_pydict()) == (type(table), birds, {"g": [2, 3, 4]})
    assert copy.deepcopy(table).table is table.table


def test_put_together_tables_have_blocks(datasets: ModuleType, birds: str) -> None:
    tables = datasets.table
    mapped = tables.MemoryMappedTable.from_file(birds)
    held = tables.InMemoryTable.from_file(birds)
    below = tables.concat_tables([held, held.table, mapped])
    assert (len(below), [[type(block) for block in row] for row in below.blocks]) == (
        15,
        [[tables.InMemoryTable], [tables.MemoryMappedTable]],
    )
    other = held.rename_columns(["n", "g"])
    beside = tables.ConcatenationTable.from_tables(
        [tables.ConcatenationTable.from_blocks([mapped.slice(0, 2), mapped.slice(2)]), other], axis=1
    )
    assert beside.column_names == ["name", "grams", "n", "g"]
    assert [[len(block) for block in row] for row in beside.blocks] == [[2, 2], [3, 3]]
    assert [len(row[0]) for row in beside.slice(1, 2).blocks] == [1, 1]
    assert tables.ConcatenationTable.from_blocks([[mapped], [other]]).num_rows == 10
    for each in (below, beside, beside.slice(1, 3)):
        again = pickle.loads(pickle.dumps(each))
        assert again.equals(each)
        assert type(again) is tables.ConcatenationTable


def test_tables_are_cast_by_the_rules_of_features(datasets: ModuleType) -> None:
    table = datasets.table.InMemoryTable.from_pydict({"label": ["a", "b"], "box": [{"x": 1, "y": 2}] * 2})
    features = datasets.Features(
        {"label": datasets.ClassLabel(names=["a", "b"]), "box": {"y": datasets.Value("int8"), "x": datasets.Value("int64")}}
    )
    cast = table.cast(features.arrow_schema)
    assert datasets.Features.from_arrow_schema(cast.schema) == features
    assert cast.to_pylist()[1] == {"label": 1, "box": {"y": 2, "x": 1}}


def test_rows_of_a_dataset_lie_in_tables_that_know_their_files(datasets: ModuleType, birds: str) -> None:
    held, mapped = datasets.Dataset.from_dict({"grams": [7]}), datasets.Dataset.from_file(birds)
    both = datasets.concatenate_datasets([held, mapped.select_columns(["grams"])])
    kinds = [type(each.data).__name__ for each in (held, both)]
    assert kinds == ["InMemoryTable", "ConcatenationTable"]
    assert isinstance(mapped.data, datasets.table.MemoryMappedTable)
    assert mapped.data.path == birds
    assert [[len(block) for block in row] for row in both.data.blocks] == [[1], [5]]
    assert len(held.add_column("b", [1]).data.blocks) == 1
    assert pickle.loads(pickle.dumps(mapped.data)).equals(mapped.data)


@pytest.mark.parametrize("how", ["from_file", "from_csv"])
def test_rows_that_are_read_lie_in_memory_that_arrow_counts(datasets: ModuleType, birds: str, tmp_path: Path, how: str) -> None:
    (tmp_path / "birds.csv").write_text("a,b\n1,2\n")
    before = pa.total_allocated_bytes()
    rows: Any = (
        datasets.Dataset.from_file(birds, in_memory=True)
        if how == "from_file"
        else datasets.Dataset.from_csv(str(tmp_path / "birds.csv"), cache_dir=str(tmp_path), keep_in_memory=True)
    )
    assert (pa.total_allocated_bytes() > before, rows.cache_files) == (True, [])


def test_kinds_of_media_say_their_arrow_type(datasets: ModuleType) -> None:
    for kind in (datasets.Image, datasets.Audio, datasets.Video):
        assert kind.pa_type == kind().pa_type == pa.struct({"bytes": pa.binary(), "path": pa.string()})


# -- what programs look at ---------------------------------------------------------------------------------------------


def test_reused_results_are_told_in_the_log(datasets: ModuleType, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "birds.csv").write_text("a,b\n1,2\n")

    def rows() -> Any:
        return datasets.load_dataset("csv", data_files=str(tmp_path / "birds.csv"), cache_dir=str(tmp_path / "cache"))["train"]

    def doubled() -> Any:
        return rows().map(lambda row: {"c": row["a"] * 2})

    with caplog.at_level("INFO", logger=datasets.logging.get_logger().name):
        doubled()
        assert "Found cached dataset" not in caplog.text
        assert "Loading cached processed dataset" not in caplog.text
        doubled()
    assert "Found cached dataset" in caplog.text
    assert "Loading cached processed dataset" in caplog.text


def test_a_version_equals_no_other_value(datasets: ModuleType) -> None:
    version = importlib.import_module("datasets.utils.version").Version("1.0.0")
    assert [version == other for other in ("1.0.0", "2.0.0", "1", "latest", 1, None)] == [True, *[False] * 5]
    assert hash(version) == hash("1.0.0")


def test_what_was_filtered_has_an_index(datasets: ModuleType) -> None:
    rows = datasets.Dataset.from_dict({"a": [1, 2, 3]}).filter(lambda row: row["a"] > 5)
    assert (len(rows), rows._indices.num_rows, rows["a"][:]) == (0, 0, [])
    assert rows.flatten_indices()._indices is None
    assert rows.select([])[:] == {"a": []}


def test_features_of_a_card_are_read_and_written(datasets: ModuleType) -> None:
    hub = pytest.importorskip("huggingface_hub")
    metadata = importlib.import_module("datasets.utils.metadata").MetadataConfigs
    features = datasets.Features({"id": datasets.Value("int64"), "label": datasets.ClassLabel(names=["a", "b"])})
    told = [{"config_name": "en", "features": features.to_yaml_list()}]
    configs = metadata.from_dataset_card_data(hub.DatasetCardData(configs=told))
    assert configs == {"en": {"features": features}}
    card = hub.DatasetCardData()
    configs.to_dataset_card_data(card)
    assert card.configs == told


def test_a_column_of_none_says_how_it_takes_values(datasets: ModuleType) -> None:
    writers = importlib.import_module("datasets.arrow_writer")
    with writers.ArrowWriter(stream=pa.BufferOutputStream()) as writer:
        writer.write_batch({"a": ["x", "y"], "b": [None, None]})
        writer.write_batch({"a": ["z"], "b": [None]})
        for write in (
            lambda: writer.write_batch({"a": ["z"], "b": [1]}),
            lambda: writer.write_table(pa.table({"a": ["z"], "b": [1]})),
        ):
            with pytest.raises(TypeError, match=r"Column 'b'.*first 3 values written for it were all None.*features="):
                write()
        assert writer.finalize()[0] == 3


def test_what_cannot_be_hashed_cannot_be_pickled(datasets: ModuleType) -> None:
    class Locked:
        def __getstate__(self) -> Any:
            raise pickle.PicklingError("locked")

    with pytest.raises(pickle.PicklingError, match="locked"):
        datasets.fingerprint.Hasher.hash(Locked())


# -- nodes -------------------------------------------------------------------------------------------------------------


def test_nodes_get_every_so_many_shards(datasets: ModuleType) -> None:
    split = importlib.import_module("datasets.distributed").split_dataset_by_node
    stream = datasets.IterableDataset.from_dict({"a": list(range(12))}, num_shards=4)

    def parts(nodes: int, strategy: str) -> list[list[int]]:
        return [list(split(stream, rank, nodes, strategy)["a"]) for rank in range(nodes)]

    assert parts(2, "shards") == [[0, 1, 2, 6, 7, 8], [3, 4, 5, 9, 10, 11]]
    assert parts(3, "shards") == [[0, 1, 2, 9, 10, 11], [3, 4, 5], [6, 7, 8]]
    assert parts(3, "examples") == [[0, 3, 6, 9], [1, 4, 7, 10], [2, 5, 8, 11]]
    assert parts(3, "auto") == parts(3, "lanes")
    assert split(datasets.Dataset.from_dict({"a": [1, 2, 3]}), 0, 2)["a"][:] == [1, 2]
    with pytest.raises(ValueError, match="num_shards=4, world_size=5"):
        parts(5, "shards")
    for node in (2, -1):
        with pytest.raises(ValueError, match=f"rank={node}"):
            split(stream, node, 2, "shards")
