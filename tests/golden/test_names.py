"""What users import and call: public paths, names and signatures, what scripts of old libraries see, entry points."""

from __future__ import annotations

import copy
import pickle
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import golden_files as golden
import golden_names as names
import pytest

import datasets_core
from datasets_core import Dataset, Features, Value, errors, load_dataset

NAMES, MADE_WITH = golden.read_json("names.json.gz")
FACES: dict[str, dict[str, str]]
FACES, _ = golden.read_json("faces.json.gz")


# Names of other modules that a module of before had for itself, and `vars()` showed with its own.
# `copy.copy`, which these names were, returns a function itself: what is then set on it changes the other too.
IMPROVED = {
    "datasets.utils copyfunc",
    "datasets.utils.py_utils copyfunc",
    "datasets.config DUCKDB_VERSION",  # a text where duckdb is installed
    "datasets.config HF_CACHE_HOME",  # of the type that it has in Hugging Face `datasets`, like the next
    "datasets.config HF_MODULES_CACHE",
}
# Arguments that may be left out since then: some errors may also be made of a text alone, as in Hugging Face `datasets`.
OPTIONAL = {
    f"{name}: {now}": f"{name}: str"
    for now, names_of_arguments in (
        ("str=''", "path url found message dataset"),
        ("str | None=None", "reason expected instructions"),
    )
    for name in names_of_arguments.split()
} | dict.fromkeys(
    (
        ", keyword same_keys: bool=True",
        ", keyword extra_columns: Literal['raise', 'ignore']='raise'",
        ", keyword missing_columns: Literal['raise', 'insert']='raise'",
        ", keyword batch: int | None=None, keyword rows: range | None=None",
        ", verify_reads: str='sequential'",
        ", start_method: str='auto'",
        ", on_short_lines: Literal['error', 'fill']='error'",
        ", dtype: Any=None, parse_dates: Any=None",
        ", jpeg_dct: str='accurate'",
        ", confined_scratch_bytes: int | None=None",
        ", confined_scratch_files: int | None=None",
        ", confined_seconds: int | None=None",
        ", max_columns: int=100000",
        ", keyword lazy: bool=False",
        ", keyword action: str='write', keyword advice: str | None=None",
        ", keyword action: str='write'",
        ", keyword engine: str | Engine | None=None",
        ", engine: str | Engine | None=None",
        ", engine: Any=None",
        ", job_bytes: int | None=None",
        "*args: Any, keyword advice: str | None=None, keyword value: Any=None, "
        "keyword file: str | os.PathLike[str] | None=None",
    ),
    "",
)
OPTIONAL |= {
    "(positional self": "(self",  # a column can be called self
    "shard_names: Sequence[str] | None=None": "shard_names: list[str] | None=None",
}
OPTIONAL |= {f"{name}: int | None=None": f"{name}: int" for name in ("rank", "world_size")}
# Defaults that are texts of messages, whose words changed.
OPTIONAL |= {
    "str='Fix or delete that file'": "str='Mend or delete that file'",
    "str='Fix the query; refer to the dataset as ds'": "str='Mend the query; the dataset is called ds in it'",
    "str='Fix the script'": "str='Mend the script'",
    "str='does not exist'": "str='leads to no file'",
}
OF_THE_CLASS = {"Translation.dtype", "TranslationVariableLanguages.dtype"}  # properties that the class itself has now
INNER = {"Any", "Iterable", "Mapping", "Self", "Sequence", "annotations", "errno", "logger"}


@pytest.mark.parametrize("path", NAMES["signatures"])
def test_every_public_name_is_there_with_its_signature(path: str) -> None:
    before: dict[str, dict[str, str]] = {name: each for name, each in NAMES["signatures"][path].items() if name not in INNER}
    now = {name: names.described(path, name) for name in before if hasattr(names.opened(path), name)}
    if not golden.same(MADE_WITH, "python"):  # which says of classes of its own what their arguments are
        before, now = ({name: dict.fromkeys(each) for name, each in found.items()} for found in (before, now))

    assert sorted(before) == sorted(now)
    for name, told in before.items():
        told = {key: "value" if key in OF_THE_CLASS else each for key, each in told.items()}
        assert {key: _as_before(now[name].get(key), each) for key, each in told.items()} == told


def _as_before(now: str | None, before: str) -> str | None:
    """What is said of a class or function, without the bases and defaults that it has got since: what used it does so still."""
    for optional, needed in OPTIONAL.items():
        if now is not None and optional not in before:
            now = now.replace(optional, needed)
    if now is None or not before.startswith("class("):
        return now
    bases, _, rest = now.removeprefix("class(").partition(")")
    kept = before.removeprefix("class(").partition(")")[0].split(", ")
    return f"class({', '.join(base for base in bases.split(', ') if base in kept)}){rest}"


def test_modules_are_imported_by_their_paths_in_a_fresh_process() -> None:
    code = "\n".join(f"import {path}" for path in NAMES["signatures"] if path not in names.NAMESPACES)
    lines = [f"from datasets_core import {', '.join(NAMES['signatures']['datasets_core'])}", code]
    subprocess.run([sys.executable, "-W", "error", "-c", "\n".join(lines)], check=True, cwd=names.PROJECT.parent)


def test_scripts_find_the_names_of_old_libraries(tmp_path: Path) -> None:
    installed = {"six", "absl"} & {
        root for root in {old.partition(".")[0] for old in FACES} if find_spec(root)
    }  # scripts get those
    script = tmp_path / "faces_of_old.py"
    script.write_text(names.script_of_faces(FACES))
    rows = load_dataset(str(script), split="train", cache_dir=tmp_path / "cache")
    before = {
        f"{old} {name}": told
        for old, table in FACES.items()
        for name, told in table.items()
        if name not in INNER and old.partition(".")[0] not in installed and not _is_gone(old, name)
    }
    now = dict(zip(rows["old"], rows["is"], strict=True))

    assert {name: (told, now[name]) for name, told in before.items() if told != now[name] and name not in IMPROVED} == {}


def _is_gone(old: str, name: str) -> bool:
    """Return True for a name that the module of this Python has no more: what `urllib` imports for itself."""
    standard = old.removeprefix("six.moves.")
    return standard.startswith("urllib.") and not hasattr(import_module(standard), name)


def test_entry_points_are_those_of_before_and_open() -> None:
    assert names.entry_points().items() >= NAMES["entry_points"].items()
    assert names.opened_entry_points().items() >= NAMES["opened"].items()


@pytest.mark.slow
@pytest.mark.skipif(int(version("setuptools").partition(".")[0]) < 77, reason="the project is built by setuptools 77 or newer")
def test_a_wheel_has_the_entry_points_and_the_modules(tmp_path: Path) -> None:
    root, checkout = names.PROJECT.parent, tmp_path / "checkout"
    kept = shutil.ignore_patterns(".*", "*.egg-info", "build", "dist", "__pycache__", "tests", "scripts")
    shutil.copytree(root, checkout, ignore=kept)
    build = "from setuptools import build_meta; build_meta.build_wheel('out')"
    subprocess.run([sys.executable, "-c", build], cwd=checkout, check=True, capture_output=True)
    with zipfile.ZipFile(next(checkout.glob("out/*.whl"))) as wheel:
        files = wheel.namelist()
        points = wheel.read(next(name for name in files if name.endswith("entry_points.txt"))).decode()
    told = dict(re.findall(r"^(\S+) = (\S+)$", points, re.MULTILINE))

    for name, value in NAMES["entry_points"].items():
        group, _, short = name.partition(" ")
        assert told[short] == value or group == "console"
        assert told[short].partition(":")[0].replace(".", "/") + ".py" in files
    for path in NAMES["signatures"]:
        stem = path.replace(".", "/")
        assert path in names.NAMESPACES or {f"{stem}.py", f"{stem}/__init__.py"} & set(files), path


# -- pickles: of one version, for processes that work together


PICKLED: dict[str, Callable[[], Any]] = {
    "dataset": lambda: Dataset.from_list([{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]).select([1, 0]),
    "dataset_dict": lambda: datasets_core.DatasetDict({"train": Dataset.from_dict({"a": [1, 2]})}),
    "stream": lambda: Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset().shuffle(seed=1).skip(1),
    "features": lambda: Features({"a": Value("int8"), "b": datasets_core.ClassLabel(names=["x"]), "c": datasets_core.Image()}),
    "info": lambda: datasets_core.DatasetInfo(description="x", features=Features({"a": Value("int8")}), version="1.2.3"),
    "version": lambda: datasets_core.Version("1.2.3"),
    "split": lambda: datasets_core.Split.TRAIN,
    "read_instruction": lambda: datasets_core.ReadInstruction("train", to=10, unit="%"),
    "read_config": lambda: datasets_core.ReadConfig(shuffle_seed=3),
    "download_config": lambda: datasets_core.DownloadConfig(max_retries=2),
    "record_spec": lambda: datasets_core.records.FixedLenFeature([], "int64", 0),
}


def _shown(value: Any) -> Any:
    return list(value) if isinstance(value, (Dataset, datasets_core.IterableDataset)) else value


@pytest.mark.parametrize("name", PICKLED)
def test_values_go_to_other_processes_and_back(name: str) -> None:
    value = PICKLED[name]()
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(value, protocol))
        assert type(again) is type(value)
        assert str(_shown(again)) == str(_shown(value))
    assert str(_shown(copy.deepcopy(value))) == str(_shown(value))


def test_every_error_goes_to_other_processes_and_back() -> None:
    def raised(action: Callable[[], Any]) -> errors.DatasetsCoreError:
        with pytest.raises(errors.DatasetsCoreError) as caught:
            action()
        return caught.value

    rows = Dataset.from_dict({"a": [1]})
    found = [
        raised(lambda: rows.select_columns("b")),
        raised(lambda: load_dataset("csv", data_files="/tmp/datasets_core_golden/nothing.csv")),
        raised(lambda: rows.to_iterable_dataset().load_state_dict({})),
        raised(lambda: rows.cast_column("a", Value("no such type"))),
        raised(lambda: datasets_core.ReadInstruction.from_spec("train[:")),
    ]
    for error in found:
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), str(again)) == (type(error), str(error))
