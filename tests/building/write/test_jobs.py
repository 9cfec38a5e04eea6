"""How a split is divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.hooks import MAX_JOBS, divide


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
