"""Scripts that open the text of a URL while they are streamed: the files are fetched first from there on, and it is said."""

from __future__ import annotations

import logging
import pickle
import threading
import zipfile
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.building.live import unopened
from datasets_core.errors import DatasetGenerationError, DeniedAccessError, UrlNotFoundError
from datasets_core.load import load_dataset

SCRIPT = """
import datasets, os, pathlib

class Texts(datasets.GeneratorBasedBuilder):
    BUILDER_CONFIGS = [
        datasets.BuilderConfig(name=name)
        for name in ("format", "percent", "text", "pathlib", "named", "late", "zip", "parts", "whole", "absent")
    ]

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"t": datasets.Value("string")}))

    def _split_generators(self, dl):
        name = self.config.name
        path = dl.download_and_extract("URL/z.zip") if name in ("zip", "whole") else dl.download("URL/a.txt")
        if name == "named":
            open(f"{path}").close()
        if name == "parts":
            path = dl.download(["URL/a.txt", "URL/b.txt"])
        return [datasets.SplitGenerator("train", {"path": path})]

    def _generate_examples(self, path):
        name = self.config.name
        for place in path if name == "parts" else [path]:
            if name in ("late", "named"):
                lines = open(place)
            elif name == "whole":
                lines = [file + "\\n" for file in sorted(os.listdir(place))]
            elif name == "pathlib":
                lines = pathlib.Path(str(place)).open()
            elif name in ("zip", "absent"):
                lines = open(str(place) + "/d/a.txt")
            else:
                lines = open({"format": f"{place}", "percent": "%s" % place}.get(name, str(place)))
            for number, line in enumerate(lines):
                if name == "late" and number == 50:
                    open(f"{place}").close()
                yield f"{place}{number}", {"t": line.strip()}
"""


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        return None


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = tmp_path_factory.mktemp("served")
    for name in ("a", "b"):
        (folder / f"{name}.txt").write_text("".join(f"{name}{number}\n" for number in range(99)))
    with zipfile.ZipFile(folder / "z.zip", "w") as archive:
        archive.writestr("d/a.txt", "one\ntwo\n")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        path = tmp_path_factory.mktemp("texts") / "texts.py"
        path.write_text(SCRIPT.replace("URL", f"http://127.0.0.1:{server.server_port}"))
        yield str(path)
        server.shutdown()


@pytest.fixture(params=[True, None], ids=["trusted", "confined"])
def load(request: pytest.FixtureRequest, script: str, tmp_path: Path) -> Iterator[Any]:
    options: dict[str, Any] = {"trust_remote_code": True} if request.param else {}
    with config.using(cache_dir=str(tmp_path)):
        yield lambda name, **more: load_dataset(script, name, split="train", **options, **more)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", ["format", "percent", "text", "pathlib", "named", "late", "zip", "parts"])
def test_a_text_of_a_path_is_opened_once_its_file_is_fetched(name: str, load: Any, caplog: pytest.LogCaptureFixture) -> None:
    lines = {"zip": ["one", "two"], "parts": [f"{part}{number}" for part in "ab" for number in range(99)]}
    told = lines.get(name, [f"a{number}" for number in range(99)])
    rows = load(name, streaming=True)
    with caplog.at_level(logging.WARNING):
        assert [row["t"] for row in rows] == told
        assert [row["t"] for row in rows] == told
    (record,) = (each for each in caplog.records if "makes a text of the path of http://" in each.getMessage())
    assert "without streaming" in record.getMessage()
    walk = iter(rows)
    next(walk)
    again = pickle.loads(pickle.dumps(rows))
    again.load_state_dict(walk.state_dict())
    assert [row["t"] for row in again] == told[1:]


def test_what_is_nowhere_fails_as_it_does_in_a_build(load: Any) -> None:
    with pytest.raises(DatasetGenerationError, match=r"row 0 of split 'train'.*NotADirectoryError"):
        list(load("absent", streaming=True))


def test_that_an_archive_is_fetched_whole_is_said_once(load: Any, caplog: pytest.LogCaptureFixture) -> None:
    rows = load("whole", streaming=True)
    with caplog.at_level(logging.WARNING):
        assert list(rows) == list(rows) == [{"t": "d"}]
    (message,) = (each.getMessage() for each in caplog.records if "z.zip is fetched whole (" in each.getMessage())
    assert "bytes) and unpacked" in message
    assert "Load the dataset without streaming" in message


def test_only_failures_to_open_a_given_url_count() -> None:
    given = ["https://example.org/a", "https://example.org/a/z.zip"]
    opened = DatasetGenerationError("x failed: FileNotFoundError: [Errno 2] No such file or directory: 'https:/example.org/a'")
    assert unopened(opened, given) == "https://example.org/a"
    assert unopened(opened, []) is None
    assert unopened(DatasetGenerationError("x failed: ValueError: bad line in https://example.org/a"), given) is None
    beside = UrlNotFoundError("https://example.org/a/z.zip.tmp", "HTTP 404")
    assert unopened(beside, given) == given[1]
    assert unopened(UrlNotFoundError(given[1], "HTTP 404"), given[1:]) is None
    assert unopened(DeniedAccessError("connect to 'example.org', port 443"), given) is not None
    assert unopened(DeniedAccessError("read '/etc/passwd'"), given) is None
    assert unopened(ValueError(given[0]), given) is None
