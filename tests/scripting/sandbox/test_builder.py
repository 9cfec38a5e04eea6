"""Builds of confined scripts: the same rows and the same bytes as of the same script that runs as it is."""

import contextlib
import os
import pickle
import threading
import warnings
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import (
    ConfigurationError,
    DatasetBuildError,
    DatasetGenerationCastError,
    DatasetGenerationError,
    DatasetsCoreError,
    DeniedAccessError,
    DeniedAccessWarning,
    DuplicateKeysError,
    InvalidKeyError,
    ManualDownloadError,
    ScriptMemoryError,
    WorkerDiedError,
)
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.scripting.sandbox.limits import layers
from datasets_core.store.manifest import read_manifest

pytestmark = pytest.mark.skipif(not layers().can_sandbox, reason=f"no confinement here: {layers().reason}")

HEAD = "import datasets, itertools, os, sys, time\n"
BUILDER = """
class Words(datasets.GeneratorBasedBuilder):
    {extra}
    def _info(self):
        {info}
        return datasets.DatasetInfo(features={features})
    def _split_generators(self, dl_manager):
        {before}
        return {splits}
    def _generate_examples(self, {arguments}):
        {rows}
"""
FEATURES = 'datasets.Features({"a": datasets.Value("int32")})'
TRAIN = '[datasets.SplitGenerator("train", {"n": 3})]'
Written = Callable[..., str]


@pytest.fixture
def written(tmp_path: Path) -> Written:
    """Write a script and files beside it, and have the path of the script."""

    def write(
        rows: str = 'for i in range(n): yield i, {"a": i}', *, files: dict[str, str] | None = None, text: str = "", **parts: str
    ) -> str:
        folder = tmp_path / "words"
        folder.mkdir(exist_ok=True)
        for name, content in (files or {}).items():
            (folder / name).write_text(content)
        filled = {"extra": "pass", "info": "pass", "before": "pass", "features": FEATURES, "splits": TRAIN, "arguments": "n"}
        made = HEAD + parts.pop("top", "") + BUILDER.format(**{**filled, **parts}, rows=rows)
        (folder / "words.py").write_text(text or made)
        return str(folder / "words.py")

    return write


@pytest.fixture(autouse=True)
def nothing_left(tmp_path: Path) -> Iterator[None]:
    yield
    left = [str(path) for path in tmp_path.rglob("*") if ".incomplete-" in path.name]
    assert left == []


def twins(script: str, tmp_path: Path, *, how: dict[str, Any] | None = None, **options: Any) -> list[Any]:
    """What came of a script as it is, and confined: shards with their bytes, or an error with its words."""
    found: list[Any] = []
    for trust in (True, "sandbox"):
        cache = str(tmp_path / f"cache-{trust}")
        try:
            builder = load_dataset_builder(script, cache_dir=cache, trust_remote_code=trust, **(how or {}))
            builder.download_and_prepare(**options)
        except DatasetsCoreError as error:
            facts = (getattr(error, "row", None), getattr(error, "line", None))
            found.append((type(error), str(error).replace(cache, "CACHE"), facts))
        else:
            manifest = read_manifest(builder.cache_dir)
            assert manifest is not None
            shards = [(shard.name, shard.rows, shard.sha256) for shard in manifest.shards]
            found.append((shards, manifest.identity, manifest.write_order, manifest.info.features, manifest.info.description))
    return found


PARTS = {
    "splits": '[datasets.SplitGenerator("train", {"parts": [1, 2, 3]}), datasets.SplitGenerator("test", {"parts": [4]})]',
    "arguments": "parts",
    "before": "self.plus = 7",
    "rows": 'for p in parts:\n            for i in range(p * 300): yield f"{p}-{i}", {"a": i + self.plus}',
}
OBJECTS = '[datasets.SplitGenerator("train", {"n": [Box(1, 2), Box(3)], "s": {7}, "f": open})]'
LATE = "row = {'a': [i]} if i < 200 else row\n            row['a'][0] = i\n            yield i, row"
SAME: dict[str, tuple[dict[str, str], dict[str, Any]]] = {
    "plain": ({}, {}),
    "parts": (PARTS, {}),
    "threads": (PARTS, {"engine": "threads"}),
    "parquet": ({}, {"file_format": "parquet"}),
    "shards": (PARTS, {"num_shards": 3}),
    "sizes": (PARTS, {"max_shard_size": 4000}),
    "few": (PARTS, {"max_examples_per_split": 5}),
    "no features": ({"features": "None", "rows": 'yield 0, {"a": 1}\n        yield 1, {"a": 2.5, "b": ["x"]}'}, {}),
    "no features in parts": (
        {**PARTS, "features": "None", "rows": 'for p in parts: yield (p, 0), {"a": p / 2 if p == 3 else p}'},
        {},
    ),
    "changed rows": (
        {
            "features": "None",
            "rows": "row = {}\n        for i in range(400):\n            row['a'] = [i]\n            yield i, row",
        },
        {},
    ),
    "late changes": ({"features": "None", "rows": f"row = {{}}\n        for i in range(400):\n            {LATE}"}, {}),
    "iterators": (
        {"splits": '[datasets.SplitGenerator("train", {"n": iter(range(99))})]', "rows": 'for i in n: yield i, {"a": i}'},
        {},
    ),
    "objects": (
        {
            "top": "class Box:\n    def __init__(self, *n): self.n = n\n",
            "splits": OBJECTS,
            "arguments": "n, s, f",
            "rows": 'for box in n:\n            for i in box.n: yield i, {"a": i + sum(s)}',
        },
        {},
    ),
    "keys of all kinds": ({"rows": 'for k in (5, "x", b"x", ("y", 1), 1 << 80, True): yield k, {"a": 1}'}, {}),
    "an empty split": ({"rows": "return\n        yield"}, {}),
    "files": (
        {
            "before": 'p = dl_manager.download_and_extract({"x": ["a.txt"]})["x"][0]',
            "splits": '[datasets.SplitGenerator("t", {"n": p})]',
            "rows": 'with open(n) as f:\n            for i, line in enumerate(f): yield i, {"a": int(line)}',
        },
        {},
    ),
    "a changed info": (
        {
            "before": 'self.info.description = "later"; self.info.features["b"] = datasets.Value("string")',
            "rows": 'yield 0, {"a": 1, "b": "x"}',
        },
        {},
    ),
    "what it makes itself": (
        {
            "before": 'os.makedirs("made", exist_ok=True); p = [os.path.abspath("made"), "x"]',
            "splits": '[datasets.SplitGenerator("t", {"n": p})]',
            "rows": 'yield n[-1], {"a": os.path.isdir(n[0])}',
        },
        {},
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_a_confined_build_has_the_same_bytes(name: str, written: Written, tmp_path: Path) -> None:
    parts, options = SAME[name]
    plain, confined = twins(written(files={"a.txt": "1\n2\n"}, **parts), tmp_path, **options)
    assert isinstance(plain[0], list), plain
    assert confined == plain


TABLES = """
import datasets, pyarrow as pa
class Words(datasets.ArrowBasedBuilder):
    def _info(self): return datasets.DatasetInfo()
    def _split_generators(self, dl_manager): return [datasets.SplitGenerator("train", {"parts": [1, 2, 3]})]
    def _generate_tables(self, parts):
        for part in parts:
            yield part, pa.table({"a": list(range(part * 10)), "d": pa.array(["x"] * part * 10).dictionary_encode()})
"""
PARQUET = """
import datasets
from datasets.packaged_modules.csv.csv import Csv
class Words(Csv):
    pass
"""


@pytest.mark.parametrize("options", [{}, {"max_examples_per_split": 15}])
def test_tables_come_as_they_are(written: Written, tmp_path: Path, options: dict[str, Any]) -> None:
    plain, confined = twins(written(text=TABLES), tmp_path, **options)
    assert isinstance(plain[0], list), plain
    assert confined == plain


def test_a_reader_of_files_reads_them_again_where_it_has_to(written: Written, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,y\n1.5,abc\n")
    how = {"data_files": [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]}
    plain, confined = twins(written(text=PARQUET), tmp_path, how=how)
    assert isinstance(plain[0], list), plain
    assert confined == plain


def test_workers_start_processes_of_their_own(written: Written, tmp_path: Path) -> None:
    plain, confined = twins(written(**PARTS), tmp_path, num_proc=2)
    assert isinstance(plain[0], list), plain
    assert confined == plain


BAD: dict[str, tuple[dict[str, str], type[Exception]]] = {
    "info": ({"info": 'raise KeyError("x")'}, ConfigurationError),
    "splits": ({"before": "1 / 0"}, DatasetGenerationError),
    "no splits": ({"splits": "None"}, ConfigurationError),
    "paths for splits": ({"splits": '[datasets.SplitGenerator("../x", {})]'}, ConfigurationError),
    "no generators": ({"splits": '["train"]'}, ConfigurationError),
    "no arguments": ({"splits": '[datasets.SplitGenerator("train", [1])]'}, ConfigurationError),
    "a row": ({"rows": 'yield "k", {"a": 1}\n        raise ValueError("bad line")'}, DatasetGenerationError),
    "a cast": ({"rows": 'yield "k", {"a": 1}\n        yield "l", {"a": "x"}'}, DatasetGenerationCastError),
    "no pair": ({"rows": 'yield {"a": 1}'}, DatasetGenerationError),
    "equal keys": ({"rows": 'for i in range(5000): yield ("k", i % 4000), {"a": i}'}, DuplicateKeysError),
    "no key": ({"rows": 'yield [1], {"a": 1}'}, InvalidKeyError),
    "no such file": ({"before": 'dl_manager.download("nope.txt")'}, DatasetsCoreError),
    "no such server": ({"before": 'dl_manager.download("http://127.0.0.1:9/x")'}, DatasetsCoreError),
    "other arguments": ({"arguments": "m"}, DatasetGenerationError),
    "by hand": ({"extra": 'manual_download_instructions = "get it"'}, ManualDownloadError),
    "an exit": ({"rows": "sys.exit(3); yield 1"}, DatasetGenerationError),
}


@pytest.mark.parametrize("name", BAD)
def test_errors_are_told_in_the_same_words(name: str, written: Written, tmp_path: Path) -> None:
    parts, error = BAD[name]
    with config.using(max_retries=1, max_retry_wait_seconds=0):
        plain, confined = twins(written(**parts), tmp_path)
    assert issubclass(plain[0], error), plain
    assert confined == plain


HANGS = "while True:\n            try: time.sleep(10**6)\n            except BaseException: pass"
HANGING: dict[str, tuple[dict[str, str], str]] = {
    "import": ({"top": "time.sleep(10**6)\n"}, "importing it was not finished"),
    "info": ({"info": HANGS}, "creating its builder was not finished"),
    "splits": ({"before": HANGS}, "returning its splits was not finished"),
    "rows": ({"rows": f'yield 0, {{"a": 1}}\n        {HANGS}'}, "generating the rows of split 'train' was not finished"),
}


@pytest.mark.parametrize("name", HANGING)
def test_a_script_that_hangs_is_stopped_in_every_phase(name: str, written: Written, tmp_path: Path, stopped_in: Any) -> None:
    parts, words = HANGING[name]
    script, how = written(**parts), {"cache_dir": tmp_path / "cache", "trust_remote_code": "sandbox"}
    error, _ = stopped_in(lambda seconds: load_dataset(script, timeout=seconds, **how), words)
    assert error.split == ("train" if name == "rows" else None)


@pytest.mark.parametrize(
    ("rows", "error", "words"),
    [
        ('yield from ((i, {"a": 1}) for i in itertools.count())', DatasetGenerationError, "more than 100,000 bytes of rows"),
        (
            "x = []\n        while True: x.append(bytearray(10_000_000))\n        yield 1",
            ScriptMemoryError,
            "confined_memory_bytes",
        ),
        ("os._exit(3); yield 1", WorkerDiedError, "ended by itself, with exit status 3"),
        ("open('/etc/passwd'); yield 1", DeniedAccessError, r"line \d+, tried to read '/etc/passwd'.*trust_remote_code=True"),
        ("os.fork(); yield 1", DeniedAccessError, "start a process"),
    ],
)
def test_what_does_harm_ends_alone(written: Written, tmp_path: Path, rows: str, error: type[Exception], words: str) -> None:
    script = written(rows)
    with config.using(confined_output_bytes=100_000, confined_memory_bytes=1 << 30), pytest.raises(error, match=words):
        load_dataset(script, cache_dir=tmp_path / "cache", trust_remote_code="sandbox")


def test_what_was_denied_and_swallowed_is_warned_of_once(written: Written, tmp_path: Path) -> None:
    tries = 'try: open("/etc/passwd")\n            except OSError: pass'
    rows = f'for i in range(n):\n            {tries}\n            yield i, {{"a": i}}'
    with pytest.warns(DeniedAccessWarning, match="read '/etc/passwd'") as warned:
        rows_made = load_dataset(written(rows), cache_dir=tmp_path / "cache", trust_remote_code="sandbox")
    assert rows_made["train"].num_rows == 3
    assert len([each for each in warned if each.category is DeniedAccessWarning]) == 1


@pytest.mark.parametrize("how", [{}, {"num_proc": 2}])
def test_rows_of_a_script_that_was_denied_are_not_those_of_a_trusted_one(
    written: Written, tmp_path: Path, how: dict[str, Any]
) -> None:
    (tmp_path / "secret").write_text("7")
    rows = f"""for i in n:
            try:
                with open({str(tmp_path / "secret")!r}) as file: found = file.read()
            except OSError: found = -1
            yield i, {{"a": found}}"""
    path = written(rows, splits='[datasets.SplitGenerator("train", {"n": [0, 1]})]')
    with pytest.warns(DeniedAccessWarning) if not how else warnings.catch_warnings():
        warnings.simplefilter("default", DeniedAccessWarning)  # also of the workers, which are forked
        denied = load_dataset(os.path.dirname(path), split="train", cache_dir=tmp_path / "cache", **how)
    trusted = load_dataset(path, split="train", cache_dir=tmp_path / "cache", trust_remote_code=True)
    again = load_dataset(os.path.dirname(path), split="train", cache_dir=tmp_path / "cache")
    assert [each["a"][:] for each in (denied, trusted, again)] == [[-1, -1], [7, 7], [7, 7]]


def test_a_build_that_was_stopped_goes_on(written: Written, tmp_path: Path) -> None:
    splits = '[datasets.SplitGenerator("train", {"n": 3}), datasets.SplitGenerator("test", {"n": 4})]'
    rows = f'if n == 4 and not os.path.exists({str(tmp_path / "words" / "go")!r}): os._exit(1)\n        yield n, {{"a": n}}'
    script = written(rows, splits=splits)
    builder = load_dataset_builder(script, cache_dir=tmp_path / "cache", trust_remote_code="sandbox")
    with pytest.raises(WorkerDiedError):
        builder.download_and_prepare()
    (staging,) = [path for path in tmp_path.rglob("*") if ".incomplete-" in path.name]
    before = {path.name: path.stat().st_mtime_ns for path in staging.iterdir() if path.name.startswith("train")}
    (tmp_path / "words" / "go").touch()
    builder.download_and_prepare()
    shard = Path(builder.cache_dir) / "words-train-00000-of-00001.arrow"
    assert [shard.stat().st_mtime_ns] == list(before.values())
    assert builder.as_dataset("test")["a"][:] == [4]


def test_a_builder_comes_whole_out_of_a_pickle(written: Written, tmp_path: Path) -> None:
    builder = load_dataset_builder(written(before="self.plus = 1"), cache_dir=tmp_path / "cache", trust_remote_code="sandbox")
    again = pickle.loads(pickle.dumps(builder))
    assert (again.hash, again.config, again.info, type(again).__name__) == (builder.hash, builder.config, builder.info, "Words")
    again.download_and_prepare()
    assert again.as_dataset("train")["a"][:] == [0, 1, 2]


def test_nothing_runs_any_more_behind_a_build(written: Written, tmp_path: Path) -> None:
    builder = load_dataset_builder(written(), cache_dir=tmp_path / "cache", trust_remote_code="sandbox")
    builder.download_and_prepare()
    assert builder._confinement.children._idle == []  # type: ignore[attr-defined]
    assert not list((tmp_path / "cache" / "downloads").rglob("script.incomplete*"))


def test_the_parent_gives_what_it_can_and_no_more(written: Written, tmp_path: Path) -> None:
    for asked in ("/etc/passwd", str(tmp_path / "secret.txt"), "../secret.txt"):
        (tmp_path / "secret.txt").write_text("secret")
        for how in ("download", "extract", "iter_archive"):
            script = written(before=f"list(dl_manager.{how}({asked!r}) or [])")
            with pytest.raises((DeniedAccessError, DatasetGenerationError), match=r"tried to read|failed naming"):
                load_dataset(script, cache_dir=tmp_path / "cache", trust_remote_code="sandbox")


def test_a_script_cannot_ask_for_urls_after_it_saw_the_files_of_the_user(written: Written, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "secret.txt").write_text("secret")
    before = "dl_manager.download('http://127.0.0.1:9/?' + open(dl_manager.manual_dir + '/secret.txt').read())"
    with pytest.raises(DeniedAccessError, match="after it could read your own files"):
        load_dataset(
            written(before=before), data_dir=str(tmp_path / "mine"), cache_dir=tmp_path / "cache", trust_remote_code="sandbox"
        )


def test_the_environment_of_the_user_is_not_there(written: Written, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    rows = 'yield 0, {"a": int(any("hf_secret" in value for value in os.environ.values()))}'
    made = load_dataset(
        written(rows), split="train", cache_dir=tmp_path / "cache", trust_remote_code="sandbox", token="hf_secret"
    )
    assert made["a"][:] == [0]
    assert os.environ["HF_TOKEN"] == "hf_secret"


def test_options_that_are_no_plain_values_are_refused(written: Written, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be passed to a confined script"):
        load_dataset(written(), cache_dir=tmp_path / "cache", trust_remote_code="sandbox", names=object())


def test_errors_of_a_confined_build_are_errors_of_a_build() -> None:
    assert issubclass(DeniedAccessError, DatasetBuildError)


def test_files_that_a_stranger_names_are_not_looked_into(written: Written, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("secret")
    own = str(tmp_path / "words" / "a.txt")
    splits = f'[datasets.SplitGenerator("train", {{"n": 3, "f": [{str(tmp_path / "secret.txt")!r}, {own!r}]}})]'
    builder = load_dataset_builder(
        written(splits=splits, arguments="n, f", files={"a.txt": "1"}),
        cache_dir=tmp_path / "cache",
        trust_remote_code="sandbox",
    )
    builder.download_and_prepare(verification_mode="all_checks")
    manifest = read_manifest(builder.cache_dir)
    assert manifest is not None
    assert [source.path for source in manifest.sources] == [own]


@pytest.mark.parametrize("how", ["build", "stream"])
def test_a_server_that_drips_takes_no_longer_than_the_time(written: Written, tmp_path: Path, how: str, stopped_in: Any) -> None:
    release = threading.Event()

    class Drip(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", "1000000")
            self.end_headers()
            with contextlib.suppress(OSError):
                while not release.wait(0.02):
                    self.wfile.write(b"x")

        def log_message(self, *arguments: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Drip)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    before = f'f = dl_manager.download("http://127.0.0.1:{server.server_port}/a"); open(f).read()'
    try:
        script = written(before=before)
        builder = load_dataset_builder(script, cache_dir=str(tmp_path / "c"), trust_remote_code="sandbox")

        def load(seconds: float) -> object:
            if how == "build":
                return builder.download_and_prepare(timeout=seconds)
            options = {"cache_dir": str(tmp_path / "c"), "trust_remote_code": "sandbox"}
            return load_dataset(script, streaming=True, timeout=seconds, **options)["train"]

        stopped_in(load, "returning its splits")
    finally:
        release.set()
        server.shutdown()
        server.server_close()


def test_a_script_may_download_while_it_makes_rows(written: Written, tmp_path: Path) -> None:
    rows = 'with open(self.manager.download("seven.txt")) as file: yield 0, {"a": file.read()}'
    path = written(rows, before="self.manager = dl_manager", files={"seven.txt": "7"})
    assert load_dataset(path, split="train", cache_dir=tmp_path / "cache", trust_remote_code="sandbox")["a"][:] == [7]


def test_what_is_not_given_and_the_script_does_without_is_warned_of(written: Written, tmp_path: Path) -> None:
    before = 'try: dl_manager.download("/etc/passwd")\n        except OSError: pass'
    with pytest.warns(DeniedAccessWarning, match="/etc/passwd"):
        load_dataset(written(before=before), cache_dir=tmp_path / "cache", trust_remote_code="sandbox")


@pytest.mark.parametrize("place", ["before", "rows"])
def test_what_a_script_says_late_about_itself_changes_nothing_but_what_people_read(
    written: Written, tmp_path: Path, place: str
) -> None:
    said = (
        'self.info.dataset_name = self.info.builder_name = ".."; self.info.config_name = "/x"; self.info.version = "9.9.9";'
        ' self.info.splits = [{"name": "other", "num_examples": 7}]; self.info.dataset_size = 5;'
        ' self.info.download_checksums = {"http://x": {"num_bytes": 1}}; self.info.citation = "late"'
    )
    script = written(f'{said}\n        yield 0, {{"a": 1}}') if place == "rows" else written(before=said)
    info = load_dataset(script, split="train", trust_remote_code="sandbox", cache_dir=str(tmp_path / "cache")).info
    assert (info.builder_name, info.dataset_name, info.config_name, str(info.version)) == ("words", "words", "default", "0.0.0")
    assert (list(info.splits or ()), info.download_checksums, info.citation) == (["train"], {}, "late")
