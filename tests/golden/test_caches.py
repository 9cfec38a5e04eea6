"""Caches: what the code of before built, made or fetched is found where it left it, and nothing is made again."""

from __future__ import annotations

import json
from pathlib import Path

import golden_cases as cases
import golden_files as golden
import pytest

from datasets_core import config

CACHES, MADE_WITH = golden.read_json("caches.json")
NEEDS = {"pandas": "pandas"}
SAME_PYTHON = pytest.mark.skipif(not golden.same(MADE_WITH, "python"), reason="the code of functions has other bytes")


def _marked(name: str) -> object:
    return pytest.param(name, marks=SAME_PYTHON) if name.startswith(("transform", "generator")) else name


def test_everything_that_is_cached_is_recorded() -> None:
    assert list(CACHES["rows"]) == list(cases.CACHED)
    assert list(CACHES["places"]) == list(cases.FORMATS)


@pytest.mark.parametrize("name", [_marked(name) for name in cases.CACHED])
def test_what_was_cached_before_is_found(name: str, tmp_path: Path, sources: str) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    folder = golden.unpack("caches.tar.gz", tmp_path, name)
    before = golden.listed(folder)
    cases.GoldenStore.asked = 0
    with config.using(cache_dir=folder):
        rows = cases.CACHED[name]()

    assert rows == CACHES["rows"][name]
    after = golden.listed(folder)
    assert before.items() <= after.items()
    # Neighbouring blocks are fetched by one range where both are known in time, and by two on a machine at its ease.
    others = [path for path in after if path not in before and not path.startswith("sound/")]  # marks of validated files
    assert not others or name == "ranges_of_arrow"
    assert cases.GoldenStore.asked <= CACHES["asked"].get(name, 0) + len(others) <= CACHES["asked"].get(name, 0) + 2


@pytest.mark.parametrize("name", cases.FORMATS)
def test_a_build_has_the_place_that_it_had(name: str, tmp_path: Path, sources: str) -> None:
    with config.using(cache_dir=tmp_path / "cache"):
        assert cases.place_of(*cases.FORMATS[name]) == CACHES["places"][name]


HUB, _ = golden.read_json("hub.json")


@pytest.mark.parametrize("name", cases.HUB)
def test_what_came_of_the_hub_is_found_without_it(name: str, tmp_path: Path) -> None:
    home = golden.unpack("hub.tar.gz", tmp_path)
    before = golden.listed(home)
    with cases.at_hub(home):
        assert cases.HUB[name](HUB["commit"]) == HUB["rows"][name]
    assert golden.listed(home) == before


def test_what_was_downloaded_is_found_without_a_network(tmp_path: Path) -> None:
    home = golden.unpack("hub.tar.gz", tmp_path)
    with cases.at_hub(home):
        assert cases.downloaded(HUB["url"]) == HUB["rows"]["download"]


def test_hashes_of_files_that_were_kept_are_believed(tmp_path: Path) -> None:
    home = golden.unpack("hub.tar.gz", tmp_path)
    (kept,) = home.glob(f"hub_of_copies/datasets--org--birds/.hashes/{HUB['commit']}.json")
    content = json.loads(kept.read_text())
    (snapshot,) = home.glob("hub_of_copies/datasets--org--birds/snapshots/*")
    for number, (name, (size, written, _, _)) in enumerate(content["files"].items()):
        status = (snapshot / name).stat()  # of a file with another inode, and another hash than it has
        assert (size, written) == (status.st_size, status.st_mtime_ns)
        content["files"][name] = [size, written, status.st_ino, f"{number:040x}"]
    kept.write_text(json.dumps(content))
    with cases.at_hub(home, hub="hub_of_copies", cache_dir=str(tmp_path / "other")):
        assert cases.HUB["main"](HUB["commit"]) == HUB["rows"]["main"]

    assert json.loads(kept.read_text()) == content
