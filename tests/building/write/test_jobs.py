"""How a split is divided."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.hooks import MAX_JOBS, divide
from datasets_core.building.write import jobs as module
from datasets_core.building.write.generate import FileCounts
from datasets_core.building.write.jobs import (
    Arrivals,
    RecastJob,
    ShardJob,
    ShardResult,
    TableSink,
    agreed_schema,
    counted_files,
    read_batches,
    recast_job,
)
from datasets_core.building.write.row_keys import Clash, KeyLog
from datasets_core.errors import DatasetGenerationCastError
from datasets_core.features.arrow import merge_types
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.features.unordered import Facts
from datasets_core.load import load_dataset
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.writer import ShardWriter


@given(st.lists(st.integers(), max_size=300))
def test_the_parts_of_a_list_are_the_list(values):
    parts = divide({"values": values, "lower": True})

    assert [value for part in parts for value in part["values"]] == values
    assert all(part["lower"] is True for part in parts)
    assert len(parts) == max(1, min(len(values), MAX_JOBS))


@given(st.integers(2, 100))
def test_lists_of_data_are_cut_at_the_same_places(length):
    images, labels = ([f"https://host/{kind}/{number}" for number in range(length)] for kind in ("images", "labels"))

    parts = divide({"images": images, "labels": labels})

    assert [path for part in parts for path in part["images"]] == images
    assert all([path.replace("images", "labels") for path in part["images"]] == part["labels"] for part in parts)
    assert len(parts) == min(length, MAX_JOBS)


def test_the_names_of_files_are_cut_with_them():
    parts = divide({"files": ["https://host/a", "https://host/b"], "names": ["a in x.zip", "b in x.zip"]})

    assert [part["names"] for part in parts] == [["a in x.zip"], ["b in x.zip"]]


@given(sizes=st.lists(st.integers(0, 50), min_size=1, max_size=100), group=st.integers(1, 120))
def test_files_are_grouped_by_their_bytes(tmp_path_factory, sizes, group):
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number, size in enumerate(sizes):
        path = folder / f"{number}.txt"
        path.write_bytes(b"x" * size)
        paths.append(str(path))

    parts = divide({"files": paths}, group_bytes=group)

    assert [path for part in parts for path in part["files"]] == paths
    assert len(parts) <= MAX_JOBS
    assert all(sum(sizes[paths.index(path)] for path in part["files"]) >= group for part in parts[:-1])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"path": "x.csv", "split": "train"},
        {"shards": []},
        {"shards": [1]},
        {"shards": [1, 2], "languages": ["en", "fr", "de"]},
        {"shards": (1, 2, 3)},
        {"years": [2020, 2021], "languages": ["en", "fr"]},
        {"files": ["https://host/a", "https://host/b"], "languages": ["en", "fr"]},
        {"files": ["https://host/a", "https://host/b"], "labels": iter(["neg", "pos"])},
        {"lines": [iter(["a"]), iter(["b"])]},
    ],
)
def test_what_cannot_be_cut_is_one_job(arguments):
    assert divide(arguments) == [arguments]


def test_a_list_of_names_beside_the_data_is_a_parameter(tmp_path):
    data = tmp_path / "data.txt"
    data.write_text("a")

    assert len(divide({"path": str(data), "labels": ["neg", "pos"]})) == 1
    assert len(divide({"archive": iter([]), "labels": ["neg", "pos"]})) == 1
    assert len(divide({"paths": {"a": str(data)}, "labels": ["neg", "pos"]})) == 1


@pytest.mark.parametrize(
    ("count", "parts"),
    [(1, [[1, 2, 3, 4, 5]]), (2, [[1, 2, 3], [4, 5]]), (3, [[1, 2], [3, 4], [5]]), (9, [[1], [2], [3], [4], [5]])],
)
def test_so_many_parts_are_made_as_are_asked_for(count: int, parts: list[list[int]]) -> None:
    assert [part["n"] for part in divide({"n": [1, 2, 3, 4, 5]}, count=count)] == parts


# Keys of jobs that are done: compared when they come, with work in proportion to the rows.


def results_of(folder, listed):
    found = {}
    for index, keys in enumerate(listed):
        log = KeyLog(str(folder), f"part-{index}", keep=True)
        log.add(keys)
        found[index] = ShardResult(f"part-{index}", (), None, log.finish())
    return found


def arrive(arrivals, results):
    for index, result in results.items():
        arrivals.add(index, result)


def test_a_key_among_the_first_ones_is_found_at_once(tmp_path):
    results = results_of(tmp_path, [["a", "b"], ["c", "a"]])

    with pytest.raises(Clash) as caught:
        arrive(Arrivals(str(tmp_path), is_thorough=False), results)
    assert (caught.value.first, caught.value.second) == ((0, 0), (1, 1))


LAST = [[f"{part}-{row}" for row in range(200)] + ["shared"] for part in range(2)]


def test_a_later_key_is_found_where_all_are_compared(tmp_path):
    results = results_of(tmp_path, LAST)

    arrived = Arrivals(str(tmp_path), is_thorough=False)
    arrive(arrived, results)
    with pytest.raises(Clash):
        arrived.finish()
    with pytest.raises(Clash) as caught:
        arrive(Arrivals(str(tmp_path), is_thorough=True), results)
    assert (caught.value.first, caught.value.second) == ((0, 200), (1, 200))


def test_all_keys_are_compared_again_when_half_as_many_more_have_come(tmp_path, monkeypatch):
    compared = []
    monkeypatch.setattr(module, "_THOROUGH_ROWS", 100)
    monkeypatch.setattr(module, "compare", lambda records, folder: compared.append(sum(record.rows for record in records)))
    results = results_of(tmp_path, [[f"{part}-{row}" for row in range(100)] for part in range(12)])
    arrived = Arrivals(str(tmp_path), is_thorough=True)

    arrive(arrived, results)

    assert compared == [200, 300, 500, 800, 1200]


# Rows counted by the file that they came from.


def counts(files: int, found: RowBlocks | None = None, *, is_format: bool = True) -> FileCounts:
    builder: Any = SimpleNamespace(reads_in_order=is_format, file_blocks=lambda gen_kwargs: found)
    names = [__file__] * files
    return FileCounts(builder, {"files": names, "names": names, "dl_manager": None})


def table(rows: int) -> pa.Table:
    return pa.table({"a": pa.array(range(rows), pa.int64())})


def test_rows_and_bytes_of_each_file_are_summed_up() -> None:
    each = counts(4)
    for number, rows in [(0, 3), (0, 2), (2, 0), (3, 7)]:
        each.add((number, 0), table(rows))
    blocks = each.blocks()
    assert blocks is not None and not blocks.is_indexed
    assert (blocks.rows.tolist(), blocks.sizes.tolist(), blocks.files.tolist()) == ([5, 7], [40, 56], [0, 3])
    assert blocks.num_files == 4


def test_files_that_are_read_as_one_tell_the_rows_of_each() -> None:
    each = counts(5)
    each.add((0, 0), table(1))
    each.add((1, 0, (2, 0, 3)), table(4))
    each.add((1, 1, (2, 0, 3)), table(1))
    each.add((4, 0), table(2))
    blocks = each.blocks()
    assert blocks is not None
    assert (blocks.rows.tolist(), blocks.files.tolist()) == ([1, 2, 3, 2], [0, 1, 3, 4])
    assert blocks.sizes.tolist() == [8, 32 * 2 // 5 + 8 * 2 // 5, 32 * 3 // 5 + 8 * 3 // 5, 16]


def test_of_one_file_keys_are_what_they_like() -> None:
    each = counts(1)
    for key in (None, "a", (5, 1)):
        each.add(key, table(2))
    blocks = each.blocks()
    assert blocks is not None and blocks.rows.tolist() == [6]


@pytest.mark.parametrize("keys", [[(1, 0), (0, 0)], [(3, 0)], [("a", 0)], [0], [None], [(0, 0), ()]])
def test_rows_that_tell_no_file_have_no_structure(keys: list[Any]) -> None:
    each = counts(3)
    for key in keys:
        each.add(key, table(2))
    each.add((2, 0), table(1))
    assert each.blocks() is None


def test_what_is_no_format_has_no_structure() -> None:
    each = counts(2, is_format=False)
    each.add((0, 0), table(2))
    assert each.blocks() is None


def test_blocks_of_footers_count_where_all_their_rows_came() -> None:
    footers = RowBlocks.of([2, 3, 4], [20, 30, 40], [0, 0, 1], file_count=2)
    for rows, is_indexed in [((5, 4), True), ((5, 3), False), ((9, 0), False)]:
        each = counts(2, footers)
        for number, count in enumerate(rows):
            each.add((number, 0), table(count))
        blocks = each.blocks()
        assert blocks is not None and blocks.is_indexed is is_indexed
        assert blocks.rows.tolist() == ([2, 3, 4] if is_indexed else [count for count in rows if count])


ROWS = [5, 0, 9, 1]


def test_names_are_those_of_the_stream_without_secrets_and_none_where_rows_are_left_out() -> None:
    builder: Any = SimpleNamespace(block_steps=tuple)
    asked = {"files": ["x", "y"], "names": ["https://me:pw@host/a.csv?token=secret", "b.csv"]}
    found = counted_files(builder, {"train": asked})
    assert "secret" not in found["train"] and "pw" not in found["train"] and "host/a.csv" in found["train"]
    assert counted_files(SimpleNamespace(block_steps=lambda: ("filter",)), {"train": asked}) == {}  # type: ignore[arg-type]


@pytest.fixture
def files(tmp_path: Path) -> dict[str, list[str]]:
    made: dict[str, list[str]] = {"parquet": [], "arrow": [], "json": []}
    for number, rows in enumerate(ROWS):
        for kind in made:
            path = tmp_path / f"{number}.{kind}"
            if kind == "parquet":
                pq.write_table(table(rows), path, row_group_size=4)
            elif kind == "arrow":
                with pa.ipc.new_file(path, table(rows).schema) as sink:
                    sink.write_table(table(rows), max_chunksize=4)
            else:
                path.write_text("".join(f'{{"a": {row}}}\n' for row in range(rows)))
            made[kind].append(str(path))
    return made


def recorded(kind: str, files: dict[str, list[str]], folder: Path, **options: Any) -> RowBlocks | None:
    dataset = load_dataset(kind, data_files=files[kind], split="train", cache_dir=str(folder / "cache"), **options)
    structure = dataset._table.structure
    return None if structure is None else structure.blocks()


@pytest.mark.parametrize("options", [{}, {"num_proc": 4}, {"columns": ["a"]}], ids=["plain", "num_proc", "columns"])
def test_row_groups_are_recorded_however_a_build_runs(
    options: dict[str, Any], files: dict[str, list[str]], tmp_path: Path
) -> None:
    blocks = recorded("parquet", files, tmp_path, **options)
    groups = [pq.ParquetFile(path).metadata.row_group(k) for path, k in zip(files["parquet"], [0, 0, 0, 0], strict=True)]
    assert blocks is not None and blocks.is_indexed and blocks.num_files == 4
    assert (blocks.rows.tolist(), blocks.files.tolist()) == ([4, 1, 4, 4, 1, 1], [0, 0, 2, 2, 2, 3])
    assert blocks.sizes[0] == groups[0].total_byte_size


def test_record_batches_are_recorded_and_files_of_text_by_their_rows(files: dict[str, list[str]], tmp_path: Path) -> None:
    batches, lines = recorded("arrow", files, tmp_path), recorded("json", files, tmp_path)
    assert batches is not None and batches.is_indexed and batches.rows.tolist() == [4, 1, 4, 4, 1, 1]
    assert lines is not None and not lines.is_indexed
    assert (lines.rows.tolist(), lines.files.tolist(), lines.num_files) == ([5, 9, 1], [0, 2, 3], 4)


def test_rows_that_are_left_out_leave_rows_by_file(files: dict[str, list[str]], tmp_path: Path) -> None:
    blocks = recorded("parquet", files, tmp_path, filters=[("a", ">", 3)])
    assert blocks is not None and not blocks.is_indexed
    assert (blocks.rows.tolist(), blocks.num_files) == ([1, 5], 4)


# The schema on which jobs agree.


def builder(**changes):
    facts = {"info": SimpleNamespace(features=None), "yields": "tables", "merge_columns": False, "rereads": False, "label": "x"}
    facts["join_types"] = merge_types
    return SimpleNamespace(**{**facts, **changes})


def job(name, *, schema=None, folder="", made_by=None):
    arguments = {"files": [f"{name}.csv"], "names": [f"{name}.csv"]}
    return ShardJob(made_by or builder(), "train", arguments, 0, 2, folder, name, schema, "arrow", None, None, False, False)


def done(*schemas):
    return [
        (job(f"f{number}"), ShardResult(f"f{number}", (), None if schema is None else pa.schema(schema)))
        for number, schema in enumerate(schemas)
    ]


def test_types_widen_and_jobs_without_rows_do_not_count():
    found = agreed_schema(builder(), done(None, {"a": pa.null()}, {"a": pa.int64()}, {"a": pa.float64()}))

    assert found.equals(pa.schema({"a": pa.float64()}))


def test_nothing_at_all_is_no_columns():
    assert agreed_schema(builder(), done(None, None)).names == []


def test_features_decide():
    features = Features({"a": Value("int8")})

    assert agreed_schema(builder(info=SimpleNamespace(features=features)), done({"b": pa.string()})).types == [pa.int8()]


def test_other_columns_are_refused_unless_they_are_merged():
    with pytest.raises(DatasetGenerationCastError, match=r"f1\.csv.*f0\.csv.*new columns \['b'\]"):
        agreed_schema(builder(), done({"a": pa.int64()}, {"a": pa.int64(), "b": pa.int64()}))

    assert agreed_schema(builder(merge_columns=True), done({"a": pa.int8()}, {"b": pa.int8()})).names == ["a", "b"]


def test_facts_decide_about_the_order_of_columns_and_about_integers():
    def parts(*found):
        return [(job(name), ShardResult(name, (), pa.schema(kinds), facts=facts)) for name, kinds, facts in found]

    one = ("f0", {"b": pa.int64(), "a": pa.int64()}, Facts(neighbours={(): {("b", "a")}}))
    other = ("f1", {"a": pa.uint64(), "b": pa.int64()}, Facts(unsigned={("a",)}, neighbours={(): {("a", "b")}}))
    expected = pa.schema({"a": pa.uint64(), "b": pa.int64()})
    assert agreed_schema(builder(yields="rows"), parts(one, other)).equals(expected)
    assert agreed_schema(builder(yields="rows"), parts(other, one)).equals(expected)

    one[2].negative.add(("a",))
    with pytest.raises(DatasetGenerationCastError, match="Column 'a' has negative integers and uint64 integers"):
        agreed_schema(builder(yields="rows"), parts(one, other))


def test_types_that_do_not_fit_name_the_file_unless_the_text_is_read_again():
    schemas = done({"a": pa.int64()}, {"a": pa.string()})

    with pytest.raises(DatasetGenerationCastError, match=r"f1\.csv.*'a'"):
        agreed_schema(builder(), schemas)
    assert agreed_schema(builder(rereads=True), schemas).types == [pa.string()]
    assert agreed_schema(builder(rereads=True), done({"a": pa.int64()}, {"a": pa.bool_()})).types == [pa.string()]


def test_finished_shards_are_cast(tmp_path):
    narrow = pa.schema({"a": pa.int64()})
    with ShardWriter(str(tmp_path), "f0", split="train", schema=narrow) as writer:
        writer.write(pa.table({"a": [1, 2]}))
    wide = pa.schema({"a": pa.float64(), "b": pa.string()})

    found = recast_job(
        RecastJob(job("f0-r", schema=wide, folder=str(tmp_path)), ShardResult("f0", tuple(writer.close()), narrow))
    )

    (shard,) = found.shards
    with pa.memory_map(str(tmp_path / shard.name)) as mapped:
        assert pa.ipc.open_file(mapped).read_all().to_pylist() == [{"a": 1.0, "b": None}, {"a": 2.0, "b": None}]


# Tables into shards whose schema widens.


def job_sink(folder, features=None, file_format="arrow"):
    builder = SimpleNamespace(info=SimpleNamespace(features=features), label="reviews")
    return ShardJob(builder, "train", {}, 0, 1, str(folder), "train-00000", None, file_format, None, None, False, False)


def written(folder, tables, *, merge_columns=False, file_format="arrow", features=None):
    made = job_sink(folder, features, file_format)
    with TableSink(made, merge_columns=merge_columns) as sink:
        for number, table in enumerate(tables):
            sink.write(pa.table(table), what=f"{number}.csv", row=0, file=f"{number}.csv")
        shards = sink.finish()
    rows = [row for batch in read_batches(str(folder), shards, file_format) for row in batch.to_pylist()]
    return rows, sorted(path.name for path in folder.iterdir()), shards


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_what_was_written_is_widened_and_nothing_else_is_left(tmp_path, file_format):
    rows, names, shards = written(tmp_path, [{"a": [1]}, {"a": [2.5]}, {"a": [None]}], file_format=file_format)

    assert rows == [{"a": 1.0}, {"a": 2.5}, {"a": None}]
    assert names == [shard.name for shard in shards]


def test_null_columns_take_the_type_that_comes(tmp_path):
    assert written(tmp_path, [{"a": pa.nulls(2)}, {"a": ["x"]}])[0] == [{"a": None}, {"a": None}, {"a": "x"}]


def test_a_value_that_widening_would_lose_stops(tmp_path):
    with pytest.raises(DatasetGenerationCastError, match="9007199254740993"):
        written(tmp_path, [{"a": [2**53 + 1]}, {"a": [0.5]}])

    assert list(tmp_path.iterdir()) == []


def test_other_columns_are_named_with_both_files(tmp_path):
    with pytest.raises(
        DatasetGenerationCastError, match=r"1\.csv does not fit split 'train' of reviews next to 0\.csv.*\['b'\].*\['a'\]"
    ):
        written(tmp_path, [{"a": [1]}, {"b": [1]}])

    assert list(tmp_path.iterdir()) == []


def test_merged_columns_are_null_where_they_are_missing(tmp_path):
    assert written(tmp_path, [{"a": [1]}, {"b": [2]}], merge_columns=True)[0] == [{"a": 1, "b": None}, {"a": None, "b": 2}]


def test_features_cast_fill_and_refuse(tmp_path):
    features = Features({"label": ClassLabel(names=["neg", "pos"]), "text": Value("string")})

    assert written(tmp_path, [{"label": ["pos"]}], features=features)[0] == [{"label": 1, "text": None}]
    with pytest.raises(DatasetGenerationCastError, match=r"0\.csv.*'more'"):
        written(tmp_path, [{"more": [1]}], features=features)


@pytest.mark.parametrize(
    ("column", "values"),
    [
        (pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), [[{"key": "a", "value": 1}], None]),
        (pa.array([[1], []], pa.list_view(pa.int64())), [[1], []]),
        (pa.ExtensionArray.from_storage(pa.uuid(), pa.array([b"x" * 16], pa.binary(16))), [b"x" * 16]),
        (pa.DictionaryArray.from_arrays(pa.array([0, 0]), pa.array([{"k": 1}])), [{"k": 1}, {"k": 1}]),
        (pa.RunEndEncodedArray.from_arrays(pa.array([2], pa.int32()), pa.array(["x"])), ["x", "x"]),
    ],
    ids=["map", "list view", "extension", "dictionary", "run ends"],
)
def test_columns_come_as_their_features_store_them(tmp_path, column, values):
    rows = written(tmp_path, [{"a": column}, {"a": column}])[0]
    assert [row["a"] for row in rows] == values * 2


def test_no_rows_are_no_shards(tmp_path):
    assert written(tmp_path, [{"a": pa.array([], pa.int64())}]) == ([], [], ())
