"""Scratch folders go, whatever is in them."""

import os
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.scripting.sandbox.limits import clear


def test_a_folder_that_is_not_there_is_cleared(tmp_path: Path) -> None:
    clear(str(tmp_path / "none"))


def test_folders_deeper_than_a_path_can_name_go(tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    descriptor = os.open(scratch, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("deep", dir_fd=descriptor)
        inner = os.open("deep", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
    os.close(descriptor)
    clear(str(scratch))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_lies_deep_itself_goes_with_the_longest_names(tmp_path: Path) -> None:
    scratch = tmp_path.joinpath(*["p" * 250] * 12)
    scratch.mkdir(parents=True)
    descriptor = os.open(scratch, os.O_RDONLY)
    for _ in range(40):
        os.mkdir("d" * 255, dir_fd=descriptor)
        inner = os.open("d" * 255, os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = inner
    os.close(descriptor)
    clear(str(scratch))
    assert not scratch.exists()


def test_links_and_what_they_lead_to_are_told_apart(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("x")
    scratch = tmp_path / "scratch"
    (scratch / "closed").mkdir(parents=True)
    (scratch / "link").symlink_to(outside)
    (scratch / "closed" / "link").symlink_to(outside / "file")
    (scratch / "closed").chmod(0)
    clear(str(scratch))
    assert [path.name for path in tmp_path.rglob("*")] == ["outside", "file"]


@settings(max_examples=25)
@given(names=st.lists(st.lists(st.sampled_from(["a", "0.moved", "1.moved", "b"]), min_size=1, max_size=4), max_size=4))
def test_names_of_its_own_do_not_matter(tmp_path_factory: object, names: list[list[str]]) -> None:
    root = tmp_path_factory.mktemp("root")  # type: ignore[attr-defined]
    for parts in names:
        (root / "scratch").joinpath(*parts).mkdir(parents=True, exist_ok=True)
    clear(str(root / "scratch"))
    assert list(root.iterdir()) == []
