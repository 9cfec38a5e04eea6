"""Names of shard files in row ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.store.rows.rows import FileNames

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


_ENDS = st.lists(st.tuples(_PARTS, st.integers(1, 4)), max_size=6, unique_by=lambda each: tuple(each[0]))


@given(_ENDS, st.data())
def test_a_given_name_is_kept_or_lengthened_and_means_one_file(files: list[tuple[list[str], int]], data: st.DataObject) -> None:
    paths = ["/" + "/".join(parts) for parts, _ in files]
    given_ = ["/".join(parts[-length:]) for parts, length in files]
    names = FileNames(paths, given_)
    assert [names.find(name) for name in names.names] == [[number] for number in range(len(paths))]
    assert all(name.endswith(own) for name, own in zip(names.names, given_, strict=True))
    for number, own in enumerate(given_):  # a name that is found says which file, or that there are several
        assert number in names.find(own)
        assert len(names.find(own)) > 1 or names.names[number] == own


def test_a_name_that_is_shorter_than_what_is_given_means_none() -> None:
    names = FileNames(["/x/1/a.arrow", "/x/2/a.arrow", "/x/2/b.arrow"], ["1/a.arrow", "2/a.arrow", "2/b.arrow"])
    assert names.names == ("1/a.arrow", "2/a.arrow", "2/b.arrow")
    assert names.find("a.arrow") == names.find("b.arrow") == []
    assert names.find("x/2/b.arrow") == [2]
    assert names.reason("a.arrow") == "they stand in 2 files of that name, '1/a.arrow', '2/a.arrow'"
    assert names.reason("b.arrow") == "they stand in no file called 'b.arrow', but in '2/b.arrow'"
    assert names.reason("c.arrow") == "they stand in no file called 'c.arrow'"


def test_a_name_that_is_too_short_means_several_files() -> None:
    names = FileNames(["/x/1/a.arrow", "/x/2/a.arrow"])
    assert names.find("a.arrow") == [0, 1]
    assert names.find("2/a.arrow") == [1]
    assert names.find("3/a.arrow") == names.find("b.arrow") == names.find("row.arrow") == []
