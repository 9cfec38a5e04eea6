"""The scripts of `tests/corpus`, in the manner of published ones, make what Hugging Face `datasets` 2.21.0 made of them."""

from __future__ import annotations

import json
import os
import runpy
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import datasets_core
from datasets_core import config
from datasets_core.errors import DatasetsCoreError, DeniedAccessError, DeniedAccessWarning
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.scripting.sandbox.limits import layers

# Published scripts leave files open, and invite other warnings; nobody mends them.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CORPUS = Path(__file__).parents[1] / "corpus"


calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))
NAMES: list[str] = calls.names()
SHARDED = ("dl_shapes", "http_shards", "nested_archives", "parquet_parts", "shards_jsonl", "shards_of_archives")
SHARDED += ("shards_side_by_side", "zst_lines")

# Loads that were refused there and make rows here.
MORE = {
    ("loose_values", "int_in_decimal"): "3 is 3.00",
    ("loose_values", "later_string_in_list_of_ints"): "as it was taken where a text came first",
    ("loose_values", "text_for_a_list"): "letters, as [feature] took them there, which is the same here",
    ("loose_values", "translation_with_less"): "a text that is missing is null",
    ("loose_values", "list_and_array"): "lists and arrays may stand in one column",
    ("loose_values", "nat_in_timestamp"): "a time that is none is null",
    ("loose_values", "string_in_time"): "a text that is a time is one",
    ("many_tongues", "free"): "any language, as its documentation says",
}
# Parts of a result that are meant to differ.
OTHERWISE = {
    ("version_notes", "none"): "a config without a version has the builder's VERSION: it was 0.0.0",
}


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with calls.served() as url:
        yield url


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path) -> Iterator[None]:
    with config.using(cache_dir=str(tmp_path / "inner")):  # where datasets go that a script loads itself
        yield


def _golden(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / "golden" / f"{name}.json").read_text(encoding="utf-8"))
    return found


def _loads(name: str) -> list[dict[str, Any]]:
    if name in calls.NEEDS:
        pytest.importorskip(calls.NEEDS[name])
    loads: list[dict[str, Any]] = _golden(name)["loads"]
    return loads


def _compare(name: str, golden: dict[str, Any], group: Any) -> None:
    found = calls.described(group)
    features = next(iter(group.values())).features
    where = f"{name} {golden['call']}"
    if "features" in golden:
        assert features == Features.from_dict(golden["features"]), where
        assert {column: found["types"][column] for column in golden["types"]} == golden["types"], where
    assert list(found["splits"]) == list(golden["splits"]), where
    for split, made in golden["splits"].items():
        assert json.dumps(found["splits"][split]["rows"]) == json.dumps(made["rows"]), f"{where} {split}"
        assert found["splits"][split]["num_rows"] == made["num_rows"], f"{where} {split}"
    for what in set(golden) - {"call", "features", "types", "splits"}:
        assert found[what] == golden[what], f"{where}: {what}"


def _check(name: str, golden: dict[str, Any], load: Any) -> None:
    key = (name, golden["call"].get("name", ""))
    if key in OTHERWISE:
        assert [made["num_rows"] for made in golden["splits"].values()] == [len(rows) for rows in load().values()]
    elif "error" not in golden:
        _compare(name, golden, load())
    elif key in MORE:
        load()
    else:
        with pytest.raises(DatasetsCoreError):
            load()


@pytest.mark.parametrize("name", NAMES)
def test_a_script_makes_the_rows_that_it_always_made(name: str, server: str, tmp_path: Path) -> None:
    for number, golden in enumerate(_loads(name)):
        arguments = calls.arguments(datasets_core, name, golden["call"], server)
        cache = str(tmp_path / str(number))
        _check(name, golden, lambda: load_dataset(calls.script(name), cache_dir=cache, trust_remote_code=True, **arguments))  # noqa: B023


@pytest.mark.parametrize("name", NAMES)
def test_a_script_has_the_configs_that_it_always_had(name: str) -> None:
    if name in calls.NEEDS:
        pytest.importorskip(calls.NEEDS[name])
    golden = _golden(name)
    script = calls.script(name)
    assert datasets_core.get_dataset_config_names(script, trust_remote_code=True) == golden["config_names"]
    assert datasets_core.get_dataset_default_config_name(script, trust_remote_code=True) == golden["default_config"]


@pytest.mark.parametrize("name", SHARDED)
def test_two_processes_make_the_rows_of_one(name: str, server: str, tmp_path: Path) -> None:
    for number, golden in enumerate(load for load in _loads(name) if "error" not in load):
        arguments = calls.arguments(datasets_core, name, golden["call"], server)
        group = load_dataset(calls.script(name), cache_dir=str(tmp_path / str(number)), num_proc=2, **arguments)
        _compare(name, golden, group)


def _first(name: str) -> dict[str, Any]:
    return next((load for load in _loads(name) if "error" not in load), {})


@pytest.mark.skipif(not layers().can_sandbox, reason="no confinement here")
@pytest.mark.parametrize("name", NAMES)
def test_a_confined_script_makes_the_rows_of_a_free_one(name: str, server: str, tmp_path: Path) -> None:
    golden = _first(name)
    arguments = calls.arguments(datasets_core, name, golden["call"], server)
    if name == "http_rewritten":
        with pytest.raises(DeniedAccessError, match="tried to write"):
            load_dataset(str(CORPUS / name), cache_dir=str(tmp_path / "own"), **arguments)
        return
    with warnings.catch_warnings():
        if name == "script_in_script":  # whose files are copied where they cannot be linked
            warnings.simplefilter("ignore", DeniedAccessWarning)
        _check(name, golden, lambda: load_dataset(str(CORPUS / name), cache_dir=str(tmp_path / "own"), **arguments))


@pytest.mark.parametrize("name", NAMES)
def test_a_streamed_script_makes_the_rows_of_a_built_one(name: str, server: str, tmp_path: Path) -> None:
    golden = _first(name)
    arguments = calls.arguments(datasets_core, name, golden["call"], server)
    arguments.pop("verification_mode", None)
    if (name, golden["call"].get("name", "")) == ("http_missing", "caught"):
        pytest.skip("nobody knows that a URL is missing before it is read")
    if name == "http_rewritten":
        pytest.skip("what is not there yet cannot be written beside")
    cache = str(tmp_path / "own")
    streams = load_dataset(calls.script(name), cache_dir=cache, trust_remote_code=True, streaming=True, **arguments)
    assert list(streams) == list(golden["splits"])
    for split, made in golden["splits"].items():
        features = streams[split].features or dict.fromkeys(made["rows"][0])
        columns = [column for column, feature in features.items() if not calls.has_media(feature)]
        found = [{column: calls.plain(row[column]) for column in columns} for row in streams[split]]
        expected = [{column: row[column] for column in columns} for row in made["rows"]]
        assert json.dumps(found) == json.dumps(expected), f"{name} {split}"


def test_the_corpus_is_whole_and_small() -> None:
    """Each script has what HF made of it, and nothing else stands among the golden files."""
    assert [path.stem for path in sorted((CORPUS / "golden").iterdir())] == NAMES
    assert len(NAMES) >= 70
    size = sum(os.path.getsize(os.path.join(folder, name)) for folder, _, names in os.walk(CORPUS) for name in names)
    assert size < 2_000_000
