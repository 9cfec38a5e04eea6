"""Tests of datasets_core/scripting/compat/tables.py."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import cloudpickle
import pytest

from datasets_core.scripting.compat import tables
from datasets_core.scripting.compat.tables import (
    COMPAT_MODULES,
    HUGGING_FACE_MODULES,
    HUGGING_FACE_REASONS,
    Face,
    compat_module_of,
    open_module,
)

PEER = os.environ.get("DATASETS_PEER_PYTHON")


@pytest.mark.parametrize("old", sorted(COMPAT_MODULES))
def test_every_name_of_every_face_has_a_home(old: str) -> None:
    face = open_module(old)
    for name in dir(face):
        assert getattr(face, name) is not None or name.startswith("__")


def test_submodules_are_attributes_without_an_import() -> None:
    text = "import datasets_core.scripting.compat.tables as t; print(t.open_module('datasets').features.ClassLabel.__name__)"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout == "ClassLabel\n"


def test_a_name_that_there_is_not_is_told_by_its_old_name_and_what_to_do() -> None:
    with pytest.raises(AttributeError, match=r"^datasets has no 'load_metric' here: .*'evaluate'"):
        _ = open_module("datasets").load_metric
    with pytest.raises(AttributeError, match=r"^datasets\.features has no 'Nothing' here"):
        _ = open_module("datasets.features").Nothing
    with pytest.raises(ImportError, match=r"^datasets has no 'nothing' here"):
        open_module("datasets.nothing")
    assert not hasattr(open_module("datasets"), "nothing")


def test_names_that_are_not_ours_have_no_face() -> None:
    assert [compat_module_of(name) for name in ("os", "datasets_core", "datasetsx.y", "evaluate")] == [None] * 4


@pytest.mark.parametrize("pickler", [pickle, cloudpickle])
def test_faces_and_what_comes_from_them_travel(pickler: Any) -> None:
    face = open_module("datasets")
    assert pickler.loads(pickler.dumps(face)) is face
    assert pickler.loads(pickler.dumps(face.features)) is open_module("datasets.features")
    assert pickler.loads(pickler.dumps(face.Value("int8"))) == face.Value("int8")


def test_a_process_that_never_heard_of_faces_unpickles_them(tmp_path: Path) -> None:
    (tmp_path / "it").write_bytes(pickle.dumps(open_module("datasets.features")))
    text = f"import pickle; print(pickle.load(open({str(tmp_path / 'it')!r}, 'rb')).Value.__name__)"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True).stdout == "Value\n"


REAL = "VALUE = 'the real one'\nfrom . import features\n"
SCRIPT = """
import sys
import datasets, datasets.features
import friend
def look():
    import datasets
    return datasets.__name__
FOUND = [datasets.__name__, datasets.features.__name__, look(), friend.datasets.VALUE, sys.modules["datasets"].VALUE]
class Main(datasets.GeneratorBasedBuilder):
    def _info(self): return datasets.DatasetInfo()
    def _split_generators(self, dl_manager): return []
    def _generate_examples(self): yield from ()
"""
PROGRAM = """
import sys, json
sys.path.insert(0, sys.argv[1])
{before}
from datasets_core.scripting.script import load_script
cls = load_script(sys.argv[1] + "/main.py")
import datasets, datasets.features
print(json.dumps([sys.modules[cls.__module__].FOUND, datasets.VALUE, sorted(vars(datasets.features)), datasets.__name__]))
"""


@pytest.mark.parametrize("before", ["", "import datasets", "import datasets_core, datasets"])
def test_a_real_library_is_neither_seen_nor_touched(tmp_path: Path, before: str) -> None:
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "__init__.py").write_text(REAL)
    (tmp_path / "datasets" / "features.py").write_text("")
    (tmp_path / "friend.py").write_text("import datasets\n")  # what the script imports sees the real one
    (tmp_path / "main.py").write_text(SCRIPT)
    program = [sys.executable, "-c", PROGRAM.format(before=before), str(tmp_path)]
    done = subprocess.run(program, capture_output=True, text=True, check=True)
    found, value, names, name = json.loads(done.stdout)
    top = "datasets_core.scripting.compat.tables.datasets"
    assert found == [top, f"{top}.features", top, "the real one", "the real one"]
    assert (value, name) == ("the real one", "datasets")
    assert [each for each in names if not each.startswith("__")] == []


@pytest.mark.optional("datasets")
@pytest.mark.skipif(PEER is None, reason="DATASETS_PEER_PYTHON is not set")
@pytest.mark.parametrize("before", ["", "import datasets"])
def test_hugging_face_datasets_goes_on_working_beside_scripts_of_its_name(tmp_path: Path, before: str) -> None:
    (tmp_path / "friend.py").write_text("import datasets\ndatasets.VALUE = 'the real one'\n")
    (tmp_path / "main.py").write_text(SCRIPT)
    ours = [str(Path(__file__).parents[3]), *(place for place in sys.path if place.endswith("site-packages"))]
    program = PROGRAM.replace("import sys, json", f"import sys, json\nsys.path += {ours!r}").format(before=before)
    program += "from datasets_core.features.base import Value as Ours\nrows = datasets.Dataset.from_dict({'a': [1]})\n"
    program += "assert rows.features['a'] == datasets.Value('int64') and not isinstance(rows.features['a'], Ours)\n"
    assert PEER is not None
    done = subprocess.run([PEER, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    top = "datasets_core.scripting.compat.tables.datasets"
    found, value, _, name = json.loads(done.stdout)
    assert found == [top, f"{top}.features", top, "the real one", "the real one"]
    assert (value, name) == ("the real one", "datasets")


def test_a_face_lists_its_names_and_submodules() -> None:
    face = open_module("datasets")
    assert isinstance(face, Face)
    assert {"Value", "features", "tasks", "utils", "__version__"} <= set(dir(face))


# hugging face

SUBMODULES = ["features", "logging", "tasks", "splits", "info", "builder", "naming", "utils", "exceptions", "load", "config"]


@pytest.mark.parametrize("name", SUBMODULES)
def test_what_scripts_reach_as_attributes_is_a_module(name: str) -> None:
    assert getattr(open_module("datasets"), name) is open_module(f"datasets.{name}")


def test_every_module_stands_below_one_that_there_is() -> None:
    assert {name.rpartition(".")[0] for name in HUGGING_FACE_MODULES if "." in name} <= set(HUGGING_FACE_MODULES)


def test_no_name_is_both_there_and_refused() -> None:
    there = {f"{module}.{name}" for module, names in HUGGING_FACE_MODULES.items() for name in names} | set(HUGGING_FACE_MODULES)
    assert there & set(HUGGING_FACE_REASONS) == set()


# Each name of the faces of TFDS, TensorFlow and etils leads somewhere.


@pytest.mark.parametrize("old", sorted(tables.TENSORFLOW_MODULES))
def test_names_lead_somewhere(old: str) -> None:
    face = open_module(old)
    for name in tables.TENSORFLOW_MODULES[old]:
        if name != "*":
            assert getattr(face, name) is not None
    assert isinstance(dir(face), list)


def test_modules_open_as_attributes() -> None:
    tfds = open_module("tensorflow_datasets")
    assert tfds.core.utils.Version is tfds.core.Version is tfds.public_api.core.Version
    assert tfds.core.features.Text is tfds.features.Text
    assert tfds.testing.DatasetBuilderTestCase is not None
    with pytest.raises(AttributeError, match=r"tensorflow_datasets\.core has no 'reader' here: scripts get"):
        _ = tfds.core.reader
    with pytest.raises(ModuleNotFoundError, match="has no 'translate' here"):
        importlib.import_module(f"{compat_module_of('tensorflow_datasets')}.translate")


def test_packages_that_are_here_are_taken_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    assert compat_module_of("six") is None or compat_module_of("six").endswith("tables.six")  # type: ignore[union-attr]
    monkeypatch.setattr("datasets_core.scripting.compat.tables.is_installed", lambda name: True)
    assert compat_module_of("tensorflow") is compat_module_of("etils.enp") is None
    assert compat_module_of("etils.epath") == "datasets_core.scripting.compat.tables.etils.epath"  # its paths fit annotations
    assert compat_module_of("tensorflow_datasets") is not None


def test_what_depends_on_the_machine_is_a_face() -> None:
    assert {name.partition(".")[0] for name in tables.TENSORFLOW_MODULES} >= tables.UNLESS_INSTALLED
