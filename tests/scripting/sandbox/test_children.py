"""The confined processes of one script: used again, brought to where the builder stands, and gone when they are not needed."""

import base64
import dataclasses
import os
import pickle
import time
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ScriptError, ScriptTimeoutError
from datasets_core.scripting.sandbox.children import Children, Home, in_time
from datasets_core.scripting.sandbox.limits import layers

confines = pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")

SCRIPT = """
import datasets
class Words(datasets.GeneratorBasedBuilder):
    '''Words.'''
    def _info(self): return datasets.DatasetInfo()
    def _split_generators(self, dl_manager): return []
    def _generate_examples(self): yield 0, {"a": 1}
"""


def of(tmp_path: Path, text: str = SCRIPT) -> Children:
    path = str(tmp_path / "words.py")
    module = ["words", path, base64.b64encode(text.encode()).decode(), False]
    load = {"do": "load", "script": path, "modules": [module], "settings": dataclasses.asdict(config.settings())}
    return Children(path, Home.of(str(tmp_path / "downloads"), str(tmp_path)), readable=(str(tmp_path),), load=load)


def running(children: Children) -> list[int]:
    return list(map(id, children._idle))


@confines
def test_a_process_is_used_again_and_gone_in_the_end(tmp_path: Path) -> None:
    children = of(tmp_path)
    assert children.told(None)["doc"] == "Words."
    before = running(children)
    with children.one():
        assert running(children) == []
        with children.one():
            pass
        assert len(running(children)) == 1
    assert len(running(children)) == 2
    assert before[0] in running(children)
    children.end()
    assert running(children) == []
    assert [path.name for path in Path(children.home.folder).iterdir()] == ["files"]


@confines
def test_what_fails_ends_its_process(tmp_path: Path) -> None:
    children = of(tmp_path, "raise KeyError('x')")
    with pytest.raises(ScriptError, match="KeyError"):
        children.told(None)
    assert running(children) == []


@confines
def test_jobs_of_one_builder_share_what_came_to_a_worker(tmp_path: Path) -> None:
    sent = pickle.dumps(of(tmp_path))
    first, second = pickle.loads(sent), pickle.loads(sent)
    assert first is second
    assert first.told(None)["doc"] == "Words."
    other = pickle.loads(pickle.dumps(of(tmp_path)))
    assert other is not first
    assert running(first) == []


def test_scratch_folders_of_a_family_are_removed(tmp_path: Path) -> None:
    home = Home.of(str(tmp_path), "reviews")
    mine, other = home.scratch("aaaaaaaa"), home.scratch("bbbbbbbb")
    home.clear("aaaaaaaa")
    assert not os.path.exists(mine)
    assert os.path.isdir(other)


def test_where_nothing_can_be_written_scratch_is_temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    scratch = Home.of(str(tmp_path / "file"), "reviews").scratch("aaaaaaaa")
    assert not scratch.startswith(str(tmp_path))
    os.rmdir(scratch)


def test_scripts_of_other_folders_have_other_files() -> None:
    assert Home.of("/c", "/a").files != Home.of("/c", "/b").files


def test_a_timeout_says_how_much_time_there_was() -> None:
    def late() -> Any:
        raise ScriptTimeoutError("words.py", "its answer", seconds=0.7)

    words = "importing it was not finished after 5 seconds"
    with pytest.raises(ScriptTimeoutError, match=words), in_time("words.py", Deadline(5.0, time.monotonic()), "importing it"):
        late()


@confines
def test_of_many_builders_only_the_last_few_have_a_process_that_waits(tmp_path: Path) -> None:
    kept = []
    for _ in range(6):
        kept.append(of(tmp_path))
        kept[-1].told(None)
    assert [len(running(children)) for children in kept] == [0, 0, 1, 1, 1, 1]
    with kept[0].one():
        pass
    assert [len(running(children)) for children in kept] == [1, 0, 0, 1, 1, 1]
    for children in kept:
        children.end()
