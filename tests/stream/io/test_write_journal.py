"""The journal of a write: what it keeps, what it drops."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path

import pytest

from datasets_core.config import using
from datasets_core.errors import FileInPlaceError
from datasets_core.stream.io.write import WriteJournal, header_of, holds, writing_folder


def journal_of(folder: Path, header: dict[str, object]) -> WriteJournal:
    return WriteJournal(str(folder / "work"), header, "out.csv")


def test_entries_come_back(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0, "state": {"at": [1, 2]}})
        journal.add({"shard": 1, "state": None})
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert [entry["shard"] for entry in journal.entries] == [0, 1]
        journal.keep(journal.entries[:1])
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert [entry["shard"] for entry in journal.entries] == [0]


def test_a_line_that_was_cut_is_left_out(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0})
        journal.add({"shard": 1})
    path = tmp_path / "work" / "journal.jsonl"
    path.write_bytes(path.read_bytes()[:-4])
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert journal.entries == [{"shard": 0}]
        journal.add({"shard": 5})
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        assert journal.entries == [{"shard": 0}, {"shard": 5}]


def test_another_write_begins_anew_and_says_so(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0})
        Path(journal.path("00000")).write_bytes(b"rows")
    with caplog.at_level(logging.WARNING, "datasets_core"), journal_of(tmp_path, {"rows": "b"}) as journal:
        assert journal.entries == []
        assert not os.path.exists(journal.path("00000"))
    assert "out.csv" in caplog.text and "anew" in caplog.text


def test_a_finished_write_leaves_nothing(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"rows": "a"}) as journal:
        journal.add({"shard": 0})
        journal.finish()
    assert os.listdir(tmp_path) == []


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").write_bytes(b"")
    with pytest.raises(FileInPlaceError, match="work"), journal_of(tmp_path, {}):
        pass


def test_files_are_written_beside_their_place_or_in_the_cache(tmp_path: Path) -> None:
    assert writing_folder(str(tmp_path / "a.csv")) == str(tmp_path / ".a.csv.writing")
    with using(cache_dir=str(tmp_path)):
        assert writing_folder("memory://bucket/a.csv").startswith(str(tmp_path / "writes"))


def test_a_prefix_is_held_to_its_hash(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"abcdef")
    digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # of b"abc"
    assert holds(str(path), 3, digest)
    assert not holds(str(path), 4, digest)
    assert not holds(str(path), 30, digest)
    assert not holds(str(tmp_path / "b"), 3, digest)


def test_a_journal_has_the_number_of_its_form_beside_what_is_written(tmp_path: Path) -> None:
    with journal_of(tmp_path, {"form": "csv", "rows": "a"}):
        assert header_of(str(tmp_path / "work")) == {"form": "csv", "rows": "a", "journal": 1}


@pytest.mark.parametrize(("form", "entries"), [({}, [{"shard": 0}]), ({"journal": 1}, [{"shard": 0}]), ({"journal": 2}, [])])
def test_a_journal_without_a_form_is_of_the_first_and_one_of_another_form_is_dropped(
    tmp_path: Path, form: dict[str, int], entries: list[dict[str, int]]
) -> None:
    (tmp_path / "work").mkdir()
    lines = [{"form": "csv", "rows": "a", **form}, {"shard": 0}]
    (tmp_path / "work" / "journal.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    with journal_of(tmp_path, {"form": "csv", "rows": "a"}) as journal:
        assert journal.entries == entries
