"""Scripts of `tests/corpus`, streamed: the rows of a build in the same order, and states that go on anywhere."""

from __future__ import annotations

import json
import runpy
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import datasets_core
from datasets_core import config
from datasets_core.load import load_dataset

pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

CORPUS = Path(__file__).parents[1] / "corpus"
NAMES = (
    "archive_many_splits", "arrow_tables", "dl_shapes", "extract_many", "gz_lines", "http_and_local", "http_archive",
    "http_many", "http_plain", "http_query", "http_shards", "keeps_state", "loose_values", "nested_archives", "parquet_parts",
    "returns_iterator", "shards_jsonl", "shards_of_archives", "shards_side_by_side", "streaming_flag", "typed_values",
    "walked_files",
)  # fmt: skip


calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with calls.served() as url:
        yield url


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path) -> Iterator[None]:
    with config.using(cache_dir=str(tmp_path / "inner")):
        yield


def _loaded(name: str, call: dict[str, Any], server: str, cache: Path, **options: Any) -> dict[str, Any]:
    arguments = calls.arguments(datasets_core, name, call, server)
    made = load_dataset(calls.script(name), cache_dir=str(cache), trust_remote_code=True, **arguments, **options)
    return dict(made) if isinstance(made, dict) else {"": made}


@pytest.mark.parametrize("name", NAMES)
def test_a_script_streams_the_rows_that_it_builds(name: str, server: str, tmp_path: Path) -> None:
    if name in calls.NEEDS:
        pytest.importorskip(calls.NEEDS[name])
    loads = json.loads((CORPUS / "golden" / f"{name}.json").read_text(encoding="utf-8"))["loads"]
    for number, golden in enumerate([load for load in loads if "error" not in load][:3]):
        built = _loaded(name, golden["call"], server, tmp_path / f"{number}")
        streamed = _loaded(name, golden["call"], server, tmp_path / f"{number}", streaming=True)
        told = [f"{split}: {row}" for split, rows in built.items() for row in rows]
        assert [f"{split}: {row}" for split, rows in streamed.items() for row in rows] == told
        for split, rows in streamed.items():
            assert rows.features in (None, built[split].features)
            _check_states(rows)


def _check_states(rows: Any) -> None:
    whole = list(map(str, rows))
    for at in {0, 1, len(whole) // 2, len(whole)}:
        walk = iter(rows)
        head = [str(next(walk)) for _ in range(at)] if at <= len(whole) else []
        rows.load_state_dict(json.loads(json.dumps(walk.state_dict())))
        assert head + list(map(str, rows)) == whole


class _Slow(BaseHTTPRequestHandler):
    """A file without an end, line by line; or the first lines of one, and then nothing for as long as nobody says so."""

    protocol_version = "HTTP/1.1"
    sent = 0
    go_on = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(10 << 30))
        self.end_headers()
        try:
            for number in range(1_000_000):
                line = b"line %d\n" % number
                self.wfile.write(line)
                _Slow.sent += len(line)
                if number == 100:
                    self.go_on.wait(20)
        except OSError:
            pass  # the stream was closed

    def log_message(self, format: str, *args: Any) -> None:
        return None


SCRIPT = """
import datasets

class Lines(datasets.GeneratorBasedBuilder):
    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"text": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        return [datasets.SplitGenerator("train", {"path": dl_manager.download(self.config.data_dir)})]

    def _generate_examples(self, path):
        with path.open() as lines:
            for key, line in enumerate(lines):
                yield key, {"text": line.strip()}
"""


def test_a_file_of_ten_gigabytes_starts_at_once_and_is_left_at_once(tmp_path: Path) -> None:
    (tmp_path / "lines.py").write_text(SCRIPT)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}/lines.txt"
    try:
        rows = load_dataset(str(tmp_path / "lines.py"), data_dir=url, split="train", streaming=True, cache_dir=str(tmp_path))
        walk = iter(rows)
        assert [next(walk)["text"] for _ in range(3)] == ["line 0", "line 1", "line 2"]
        assert _Slow.sent < 10_000
        _Slow.go_on.set()
        assert [row["text"] for row in rows.skip(5000).take(1)] == ["line 5000"]
        del walk
    finally:
        _Slow.go_on.set()
        server.shutdown()
        server.server_close()
    assert not (tmp_path / "downloads").exists()


@pytest.mark.optional("torch")
def test_workers_of_a_loader_share_the_jobs(tmp_path: Path, server: str) -> None:
    from torch.utils.data import DataLoader

    rows = _loaded("shards_jsonl", {"name": "all"}, server, tmp_path, streaming=True)["train"]
    loader = DataLoader(rows, batch_size=None, num_workers=2)
    assert rows.num_shards > 2
    assert sorted(map(str, loader)) == sorted(map(str, rows))
