"""How a split is divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.jobs import MAX_JOBS, divide


@given(st.lists(st.integers(), max_size=300), st.booleans())
def test_the_parts_of_a_list_are_the_list(values, second):
    arguments = {"values": values, "lower": True} | ({"more": [value + 1 for value in values]} if second else {})

    parts = divide(arguments)

    assert [value for part in parts for value in part["values"]] == values
    assert all(part["lower"] is True for part in parts)
    assert all(part.get("more", []) == [value + 1 for value in part["values"]] for part in parts if second)
    assert len(parts) == max(1, min(len(values), MAX_JOBS))


@given(sizes=st.lists(st.integers(0, 50), min_size=1, max_size=100), group=st.integers(1, 120))
def test_files_are_grouped_by_their_bytes(tmp_path_factory, sizes, group):
    folder = tmp_path_factory.mktemp("files")
    paths = []
    for number, size in enumerate(sizes):
        path = folder / f"{number}.txt"
        path.write_bytes(b"x" * size)
        paths.append(str(path))

    parts = divide({"files": paths, "names": list(range(len(paths)))}, group_bytes=group)

    assert [path for part in parts for path in part["files"]] == paths
    assert [name for part in parts for name in part["names"]] == list(range(len(paths)))
    assert len(parts) <= MAX_JOBS
    assert all(sum(sizes[name] for name in part["names"]) >= group for part in parts[:-1])


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"path": "x.csv", "split": "train"},
        {"shards": []},
        {"shards": [1]},
        {"shards": [1, 2], "languages": ["en", "fr", "de"]},
        {"shards": (1, 2, 3)},
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
