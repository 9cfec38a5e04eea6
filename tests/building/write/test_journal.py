"""The journal: what is on the disk counts, what is cut does not."""

import dataclasses
import hashlib
import os

import pyarrow as pa
import pytest

from datasets_core.building.write.build import build_journal
from datasets_core.building.write.jobs import ShardResult
from datasets_core.building.write.row_keys import KeyRecord
from datasets_core.building.write.runs import Run
from datasets_core.errors import DatasetDiskError
from datasets_core.features.unordered import Facts
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.manifest import JOURNAL_NAME, ShardRecord

SCHEMA = pa.schema([pa.field("a", pa.int8())], metadata={"k": "v"})


def result(folder, name):
    content = name.encode() * 5
    (folder / f"{name}.arrow").write_bytes(content)
    shard = ShardRecord(f"{name}.arrow", "train", 3, len(content), 3, hashlib.sha256(content).hexdigest(), ((1, 3),))
    return ShardResult(name, (shard,), SCHEMA, KeyRecord(3, ((0, 3, 0),), (), ((1, 2, 3),)))


def finished(folder, plan):
    return {done.name: done for done in build_journal(folder, plan).entries}


@pytest.fixture
def written(tmp_path):
    results = [result(tmp_path, name) for name in ("one", "two", "three")]
    with build_journal(str(tmp_path), "plan") as journal:
        for done in results:
            journal.add(done)
    return {done.name: done for done in results}


def test_finished_jobs_are_read_back_whole(tmp_path, written):
    found = finished(str(tmp_path), "plan")

    assert found == written
    assert found["one"].schema.metadata == {b"k": b"v"}


def test_a_journal_cut_anywhere_gives_the_jobs_before_the_cut(tmp_path, written):
    path = tmp_path / JOURNAL_NAME
    content = path.read_bytes()

    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        whole = max(content[:cut].count(b"\n") - 1, 0)
        assert list(finished(str(tmp_path), "plan")) == list(written)[:whole]


def test_a_job_whose_shard_is_cut_or_gone_is_not_finished(tmp_path, written):
    (tmp_path / "one.arrow").unlink()
    (tmp_path / "two.arrow").write_bytes(b"short")

    assert list(finished(str(tmp_path), "plan")) == ["three"]


@pytest.mark.parametrize("lost", ["b.order", "b.words"])
def test_runs_and_words_of_a_job_are_read_back_while_they_are_whole(tmp_path, lost):
    whole = result(tmp_path, "b")
    facts = Facts({("a",)}, {("b", None, "c")}, {(): {("a", "b")}, ("b", None): set()})
    done = ShardResult("b", whole.shards, SCHEMA, None, (Run("b.arrow", "b.order", 3, 40),), "b.words", facts)
    (tmp_path / "b.order").write_bytes(b"x" * 72)
    (tmp_path / "b.words").write_bytes(b"x" * 48)
    with build_journal(str(tmp_path), "plan") as journal:
        journal.add(done)

    assert finished(str(tmp_path), "plan") == {"b": done}
    (tmp_path / lost).write_bytes(b"x")
    assert finished(str(tmp_path), "plan") == {}


def test_another_plan_starts_anew(tmp_path, written):
    with build_journal(str(tmp_path), "another") as journal:
        assert journal.entries == []

    assert finished(str(tmp_path), "plan") == {}


def test_a_full_disk_is_one_disk_error(tmp_path):
    done = result(tmp_path, "one")
    with build_journal(str(tmp_path), "plan") as journal, open("/dev/full", "wb", buffering=0) as full:
        os.dup2(full.fileno(), journal._out.fileno())
        with pytest.raises(DatasetDiskError, match="No space left"):
            journal.add(done)
        assert journal.entries == []


def test_a_job_whose_shard_has_other_bytes_is_not_finished(tmp_path, written):
    (tmp_path / "two.arrow").write_bytes(b"tw0" * 5)

    assert list(finished(str(tmp_path), "plan")) == ["one", "three"]


def test_a_shard_outside_the_folder_is_not_taken_over(tmp_path, written):
    (tmp_path / "inside").mkdir()
    (tmp_path / JOURNAL_NAME).rename(tmp_path / "inside" / JOURNAL_NAME)
    journal = tmp_path / "inside" / JOURNAL_NAME
    journal.write_text(journal.read_text().replace('"one.arrow"', '"../one.arrow"'))

    assert finished(str(journal.parent), "plan") == {}


def test_how_rows_lie_in_their_files_is_read_back(tmp_path):
    blocks = RowBlocks.of([4, 2], [40, 20], [0, 2], is_indexed=False, file_count=4)
    with build_journal(str(tmp_path), "plan") as journal:
        journal.add(dataclasses.replace(result(tmp_path, "one"), blocks=blocks))

    found = finished(str(tmp_path), "plan")["one"].blocks

    assert found is not None
    assert found.to_json() == blocks.to_json()
