"""Scripts of the corpus in the small Hub, with their data beside them: free, confined and streamed they make the same rows."""

import json
import runpy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import datasets_core
from datasets_core import config
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.scripting.sandbox.limits import layers

CORPUS = Path(__file__).parents[1] / "corpus"
NAMES = (
    "archive_many_splits",
    "base_in_sibling",
    "extract_many",
    "names-with_both.v1-2k",
    "picture_values",
    "shards_of_archives",
)

calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
    pytest.mark.skipif(not layers().can_sandbox, reason="no confinement here"),
]


def _rows(found: Any, golden: dict[str, Any]) -> None:
    for split, made in golden["splits"].items():
        features = found[split].features or dict.fromkeys(made["rows"][0])
        columns = [column for column, feature in features.items() if not calls.has_media(feature)]
        rows = [{column: calls.plain(row[column]) for column in columns} for row in found[split]]
        expected = [{column: row[column] for column in columns} for row in made["rows"]]
        assert json.dumps(rows) == json.dumps(expected), split


@pytest.mark.parametrize("name", NAMES)
def test_a_script_of_the_hub_makes_the_rows_that_it_makes_in_a_folder(name: str, hub: Any, tmp_path: Path) -> None:
    if name in calls.NEEDS:
        pytest.importorskip(calls.NEEDS[name])
    files = {path.relative_to(CORPUS / name).as_posix(): path for path in (CORPUS / name).rglob("*") if path.is_file()}
    pushed = {path: file.read_bytes() for path, file in files.items() if "__pycache__" not in path}
    hub.repo(f"org/{name}", pushed, private=True)
    golden = next(
        load
        for load in json.loads((CORPUS / "golden" / f"{name}.json").read_text(encoding="utf-8"))["loads"]
        if "error" not in load
    )
    arguments = calls.arguments(datasets_core, name, golden["call"], "")
    for trust in (True, None):
        with config.using(cache_dir=str(tmp_path / str(trust))):
            how = {**arguments, "trust_remote_code": trust, "token": hub.token}
            built = load_dataset(f"org/{name}", **how)
            assert list(built) == list(golden["splits"])
            assert next(iter(built.values())).features == Features.from_dict(golden["features"])
            _rows(built, golden)
            described = calls.described(built)["splits"]
            assert json.dumps([split["rows"] for split in described.values()]) == json.dumps(
                [split["rows"] for split in golden["splits"].values()]
            )
            _rows(load_dataset(f"org/{name}", streaming=True, **how), golden)
    assert all(request.token is None for request in hub.of("storage"))
