"""The schema on which jobs agree."""

from types import SimpleNamespace

import pyarrow as pa
import pytest

from datasets_core.building.write.jobs import RecastJob, ShardJob, ShardResult, agreed_schema, recast_job
from datasets_core.errors import DatasetGenerationCastError
from datasets_core.features.arrow import merge_types
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.unordered import Facts
from datasets_core.store.writer import ShardWriter


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
    with pytest.raises(DatasetGenerationCastError, match="Column 'a' has integers below zero, and others that are uint64"):
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
