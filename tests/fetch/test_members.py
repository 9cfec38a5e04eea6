"""Names, links and limits: what refuses a whole archive."""

from __future__ import annotations

import posixpath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core import config
from datasets_core.errors import ArchiveError, UnsafeArchiveError
from datasets_core.fetch.members import Budget, Member, plan, safe_path

HOSTILE = [
    "/etc/passwd",
    "//host/share",
    "../up",
    "a/../../up",
    "a/..",
    "..",
    "C:/x",
    "c:x",
    "a/C:/x",
    "\\abs",
    "..\\up",
    "a\\..\\..\\up",
    "a\\..",
    "",
    "a\0b",
    "a\udcffb",
]
PIECES = st.sampled_from(["..", ".", "", "a", "b c", "C:", "\\", "/", "//", "..\\", "x\0", "é", "\udc80", "~", "nul", " "])


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_refused(name):
    with pytest.raises(UnsafeArchiveError, match=r"bad\.zip: member"):
        safe_path("bad.zip", name)


@given(st.lists(PIECES | st.text(max_size=3), max_size=6), st.sampled_from(["/", "\\", ""]))
def test_whatever_is_let_through_stays_inside(pieces, joint):
    name = joint.join(pieces)
    try:
        path = safe_path("a.zip", name)
    except UnsafeArchiveError:
        return
    for system in (path, path.replace("\\", "/")):
        assert posixpath.normpath(posixpath.join("/target", system)).startswith("/target")
        assert ".." not in system.split("/")
    assert not posixpath.isabs(path)
    path.encode("utf-8")


@pytest.mark.parametrize(
    ("name", "path"), [("./a", "a"), ("a//b/", "a/b"), ("./", ""), ("a\\b", "a\\b"), ("a..b/..c", "a..b/..c")]
)
def test_a_harmless_name_loses_only_its_empty_parts(name, path):
    assert safe_path("a.zip", name) == path


def budget(**changes):
    with config.using(**changes) as limits:
        return Budget("a.tar", 1000, limits)


def planned(*members, **changes):
    return plan("a.tar", members, budget(**changes))


def file(path, size=1):
    return Member(path, path, "file", size)


def link(path, target):
    return Member(path, path, "symlink", target=target)


def hard(path, target):
    return Member(path, path, "hardlink", target=target)


def test_a_path_without_end_is_refused():
    assert safe_path("a.zip", "a/" * 200 + "b") == "a/" * 200 + "b"
    with pytest.raises(UnsafeArchiveError, match=r"member '(a/){100,}a?….* more than 256 folders deep") as caught:
        safe_path("a.zip", "a/" * 3000 + "b")
    assert len(str(caught.value)) < 600


def test_folders_are_made_for_all_that_lies_in_them():
    found = planned(file("a/b/c"), Member("d/", "d", "folder"))
    assert sorted(found.folders) == ["a", "a/b", "d"]
    assert found.folders.index("a") < found.folders.index("a/b")


@pytest.mark.parametrize(
    ("member", "source"),
    [
        (link("l", "d/f"), "d/f"),
        (link("d/l", "f"), "d/f"),
        (link("d/l", "../g"), "g"),
        (link("d/l", "./../d/./f"), "d/f"),
        (hard("x/l", "d/f"), "d/f"),
        (hard("x/l", "./d/f"), "d/f"),
    ],
)
def test_a_link_that_stays_inside_is_a_copy(member, source):
    assert planned(file("d/f"), file("g"), member).copies == [(member.path, source)]
    assert planned(member, file("d/f"), file("g")).copies == [(member.path, source)]


def test_links_to_links_and_to_folders_are_followed():
    found = planned(file("d/f"), file("d/e/g"), link("one", "two"), link("two", "d"), link("d/l", "f"))
    assert sorted(found.copies) == [
        ("d/l", "d/f"),
        ("one/e/g", "d/e/g"),
        ("one/f", "d/f"),
        ("one/l", "d/f"),
        ("two/e/g", "d/e/g"),
        ("two/f", "d/f"),
        ("two/l", "d/f"),
    ]


def test_a_link_may_lead_through_another():
    assert ("l", "d/f") in planned(file("d/f"), link("k", "d"), link("l", "k/f")).copies


@pytest.mark.parametrize("target", ["/etc/passwd", "../up", "d/../../up", "C:\\x", "\\\\host", "..\\up", "", "a\0b"])
@pytest.mark.parametrize("make", [link, hard])
def test_a_link_that_leaves_is_refused(make, target):
    with pytest.raises(UnsafeArchiveError, match="points out of the archive"):
        planned(file("d/f"), make("l", target))


@pytest.mark.parametrize(
    "members",
    [
        [link("a", "a")],
        [link("a", "b"), link("b", "a")],
        [link("d/l", "..")],
        [link("d/l", ".")],
        [link("l", ".")],
        [link("a/x", "../b"), link("b/y", "../a"), file("a/f"), file("b/f")],
        [link("a", "b/x"), link("b", "a/y")],
    ],
)
def test_circles_are_refused(members):
    with pytest.raises(UnsafeArchiveError, match="circle"):
        planned(*members)


def test_a_link_to_nothing_is_told():
    with pytest.raises(ArchiveError, match="points to 'gone', which the archive does not hold"):
        planned(link("l", "gone"))


@pytest.mark.parametrize(
    "members",
    [
        [file("a"), file("a/b")],
        [link("a", "d"), file("a/b"), file("d/x")],
        [file("a"), Member("a/", "a", "folder")],
        [file("")],
        [file("a"), link("a", "b"), file("b")],
        [link("a", "b"), link("a", "c"), file("b"), file("c")],
    ],
)
def test_members_that_contradict_each_other_are_refused(members):
    with pytest.raises(UnsafeArchiveError):
        planned(*members)


def test_a_name_that_comes_twice_is_marked_to_be_compared():
    assert planned(file("a"), file("b"), file("a")).repeated == {"a"}


def test_copies_count_as_bytes():
    with pytest.raises(UnsafeArchiveError, match="max_archive_bytes"):
        planned(file("d/f", 60), link("l", "d"), link("m", "d"), max_archive_bytes=100)


def test_the_ratio_counts_above_100_mb_only():
    limits = budget()
    limits.take_bytes(100_000_000)
    with pytest.raises(UnsafeArchiveError, match="200 times"):
        limits.take_bytes(1)
