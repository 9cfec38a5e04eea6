"""Which files data sources name."""

import os
from pathlib import Path

import pytest

from datasets_core.errors import NoDataFilesError
from datasets_core.slim.dataset import get_data_files


@pytest.fixture
def folder(tmp_path):
    for name in ("b.tfrecord", "a.tfrecord", "c.txt", ".hidden", "odd[1].tfrecord"):
        (tmp_path / name).touch()
    (tmp_path / "folder.tfrecord").mkdir()
    return tmp_path


def test_a_pattern_is_the_files_that_fit_it_sorted(folder):
    assert get_data_files(f"{folder}/?.tfrecord") == [f"{folder}/a.tfrecord", f"{folder}/b.tfrecord"]
    assert get_data_files(f"{folder}/[bc].*") == [f"{folder}/b.tfrecord", f"{folder}/c.txt"]


def test_a_list_keeps_its_order_and_what_stands_in_it_twice(folder):
    sources = [f"{folder}/c.txt", (f"{folder}/*b.tfrecord", [f"{folder}/c.txt"])]
    assert get_data_files(sources) == [f"{folder}/c.txt", f"{folder}/b.tfrecord", f"{folder}/c.txt"]


def test_a_path_is_taken_as_it_stands_whether_it_is_there_or_not(folder):
    assert get_data_files("no/such/file") == ["no/such/file"]
    assert get_data_files(Path("some") / "path") == [os.path.join("some", "path")]
    assert get_data_files(f"{folder}/odd[1].tfrecord") == [f"{folder}/odd[1].tfrecord"]


def test_the_question_of_an_address_is_no_pattern():
    assert get_data_files("https://example.org/a.tfrecord?part=1") == ["https://example.org/a.tfrecord?part=1"]


def test_a_pattern_of_a_store_is_its_files_sorted():
    import fsspec

    store = fsspec.filesystem("memory")
    for name in ("b", "a"):
        store.pipe(f"/sources/{name}.tfrecord", b"")
    assert get_data_files("memory://sources/*.tfrecord") == ["memory://sources/a.tfrecord", "memory://sources/b.tfrecord"]
    with pytest.raises(NoDataFilesError):
        get_data_files("memory://sources/*.csv")


@pytest.mark.parametrize("sources", ["nothing-*", [], [[]], ["a", []], ["a", "nothing-*"], ""])
def test_sources_without_a_file_are_refused(sources):
    with pytest.raises(ValueError, match="No data files found in"):
        get_data_files(sources)


@pytest.mark.parametrize("sources", [None, 3, {"a"}, {"a": "b"}, b"a", [None]])
def test_other_sources_are_refused(sources):
    with pytest.raises(ValueError, match="data_sources"):
        get_data_files(sources)
