"""Names of shard files in row ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.rows.file_names import FileNames

_PARTS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        ([], ()),
        (["/d/a.arrow", "/d/b.arrow"], ("a.arrow", "b.arrow")),
        (["/x/1/k/a.arrow", "/x/2/k/a.arrow"], ("1/k/a.arrow", "2/k/a.arrow")),
        (["a.arrow", "d/a.arrow"], ("a.arrow", "d/a.arrow")),
        (["memory://one/a.arrow", "memory://two/a.arrow"], ("one/a.arrow", "two/a.arrow")),
    ],
)
def test_a_name_is_as_long_as_it_must_be(paths: list[str], names: tuple[str, ...]) -> None:
    assert FileNames(paths).names == names


@given(st.lists(_PARTS, max_size=6, unique_by=tuple))
def test_a_name_means_one_file(parts: list[list[str]]) -> None:
    paths = ["/" + "/".join(each) for each in parts]
    names = FileNames(paths)
    assert len(set(names.names)) == len(paths)
    assert [names.find(path) for path in paths] == [[number] for number in range(len(paths))]
    assert all(number in names.find(name) for number, name in enumerate(names.names))


def test_a_name_that_is_too_short_means_several_files() -> None:
    names = FileNames(["/x/1/a.arrow", "/x/2/a.arrow"])
    assert names.find("a.arrow") == [0, 1]
    assert names.find("2/a.arrow") == [1]
    assert names.find("3/a.arrow") == names.find("b.arrow") == names.find("row.arrow") == []
