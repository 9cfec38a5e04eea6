import json, runpy, warnings
from pathlib import Path
from types import SimpleNamespace
import pytest
import datasets_core
from datasets_core import config, load_dataset
from datasets_core.errors import *

CORPUS = Path(__file__).parents[1] / "corpus"
calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))
T = SimpleNamespace(**runpy.run_path(str(Path(__file__).with_name("test_corpus.py")), run_name="tc"))
pytestmark = [pytest.mark.filterwarnings("ignore")]


@pytest.fixture(scope="module")
def server():
    with calls.served() as url:
        yield url


@pytest.mark.parametrize("way", ["plain", "confined", "plain-stream", "confined-stream"])
@pytest.mark.parametrize("name", calls.names())
def test_it(hub, name, way, server, tmp_path):
    files = {
        str(p.relative_to(CORPUS / name)): p.read_bytes()
        for p in (CORPUS / name).rglob("*")
        if p.is_file() and "__pycache__" not in str(p)
    }
    hub.repo(f"org/{name}", files, private=True)
    golden = T._first(name)
    if name in calls.NEEDS:
        pytest.importorskip(calls.NEEDS[name])
    arguments = calls.arguments(datasets_core, name, golden["call"], server)
    trust = True if way.startswith("plain") else None
    with config.using(cache_dir=str(tmp_path / "inner")):
        if "stream" not in way:
            T._check(
                name,
                golden,
                lambda: load_dataset(
                    f"org/{name}", cache_dir=str(tmp_path / "own"), trust_remote_code=trust, token=hub.token, **arguments
                ),
            )
        else:
            arguments.pop("verification_mode", None)
            streams = load_dataset(
                f"org/{name}",
                cache_dir=str(tmp_path / "own"),
                trust_remote_code=trust,
                token=hub.token,
                streaming=True,
                **arguments,
            )
            assert list(streams) == list(golden["splits"])
            for split, made in golden["splits"].items():
                features = streams[split].features or dict.fromkeys(made["rows"][0])
                columns = [column for column, feature in features.items() if not calls.has_media(feature)]
                found = [{column: calls.plain(row[column]) for column in columns} for row in streams[split]]
                expected = [{column: row[column] for column in columns} for row in made["rows"]]
                assert json.dumps(found) == json.dumps(expected), f"{name} {split}"
