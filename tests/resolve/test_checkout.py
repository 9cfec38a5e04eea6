"""Files of a commit in a folder: fetched when they are asked for, verified, and none outside."""

from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import ScriptError
from datasets_core.fetch.hub.client import Hub
from datasets_core.resolve.hub_script import Checkout

FILES = {"a.py": "a", "pack/__init__.py": "", "pack/deep/b.py": "b", "data/c.bin": b"c" * 100}


@pytest.fixture
def checkout(hub: Any, tmp_path: Path) -> Checkout:
    hub.repo("org/name", FILES)
    found = Hub.of()
    return Checkout.below(str(tmp_path / "modules"), found, found.commit("org/name"))


def test_a_file_is_fetched_when_it_is_asked_for_and_once(checkout: Checkout, hub: Any, tmp_path: Path) -> None:
    sha = hub.repos["org/name"].sha
    assert checkout.folder == str(tmp_path / "modules" / "hub" / "org--name" / sha)
    assert not Path(checkout.folder).exists()
    hub.forget()
    for _ in range(2):
        assert checkout.is_file(checkout.path("pack/deep/b.py"))
    assert Path(checkout.folder, "pack", "deep", "b.py").read_text() == "b"
    assert [request.name for request in hub.requests] == ["pack/deep/b.py"]
    again = Checkout(Hub.of(), checkout.commit, checkout.folder)
    assert again.is_file(again.path("pack/deep/b.py"))
    assert len(hub.requests) == 1


def test_what_is_asked_for_outside_is_not_there(checkout: Checkout, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("mine")
    for path in (tmp_path / "a.py", Path(checkout.folder), Path(checkout.folder).parent / "a.py"):
        assert not checkout.is_file(str(path))
        assert not checkout.is_folder(str(path))
    assert not checkout.is_file(f"{checkout.folder}/../a.py")
    assert not checkout.is_file(checkout.path("gone.py"))


def test_folders_are_those_that_files_stand_in(checkout: Checkout) -> None:
    assert checkout.is_folder(checkout.path("pack"))
    assert checkout.is_folder(checkout.path("pack/deep"))
    assert not checkout.is_folder(checkout.path("pac"))
    assert not checkout.is_folder(checkout.path("a.py"))


def test_altered_files_and_links_are_put_right(checkout: Checkout, tmp_path: Path) -> None:
    checkout.bring(FILES)
    (tmp_path / "a.py").write_text("a")
    Path(checkout.path("a.py")).unlink()
    Path(checkout.path("a.py")).symlink_to(tmp_path / "a.py")
    Path(checkout.path("pack/deep/b.py")).write_text("!")
    again = Checkout(Hub.of(), checkout.commit, checkout.folder)
    again.bring(FILES)
    assert not Path(again.path("a.py")).is_symlink()
    assert Path(again.path("pack/deep/b.py")).read_text() == "b"


def test_there_are_not_too_many_nor_too_large_ones(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/many", {f"m{number}.py": "" for number in range(1001)})
    found = Hub.of()
    checkout = Checkout.below(str(tmp_path), found, found.commit("org/many"))
    with pytest.raises(ScriptError, match=r"more than 1,000.*Download the repository"):
        checkout.bring(checkout.commit.files)
