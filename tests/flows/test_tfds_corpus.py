"""The scripts of `tests/tfds_corpus`, in the manner of those for TFDS, make what tensorflow-datasets 4.9.10 made of them."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import json
import runpy
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from datasets_core import tfds
from datasets_core.errors import (
    ConfigurationError,
    DatasetGenerationCastError,
    DatasetNotFoundError,
    DatasetsCoreError,
    DuplicateKeysError,
    ManualDownloadError,
    MissingDependencyError,
    NonMatchingChecksumError,
    UntrustedScriptError,
)
from datasets_core.load import load_dataset
from datasets_core.optional import is_installed
from datasets_core.scripting.sandbox.limits import layers

CORPUS = Path(__file__).parents[1] / "tfds_corpus"
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # published scripts leave files open; nobody mends them
    pytest.mark.filterwarnings("ignore::datasets_core.errors.ExperimentalVersionWarning"),
]


calls = SimpleNamespace(**runpy.run_path(str(CORPUS / "calls.py"), run_name="calls"))
LOADS = [pytest.param(name, load, id=calls.title(name, load)) for name in calls.LOADS for load in calls.LOADS[name]]


def _golden(name: str, load: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((CORPUS / "golden" / f"{calls.title(name, load)}.json").read_text())
    for rows in found["splits"].values():
        for row in rows:
            for column, value in calls.MISSING.get(name, {}).items():
                if row[column]["values"] == value:
                    row[column] = {"type": "NoneType", "values": None}
    return found


@pytest.mark.parametrize(("name", "load"), LOADS)
def test_rows_are_those_of_tfds(name: str, load: dict[str, Any], tmp_path: Path) -> None:
    golden = _golden(name, load)
    builder = tfds.builder(
        str(calls.script(name)), data_dir=tmp_path, **{k: load[k] for k in ("config", "version") if k in load}
    )
    manual = str(CORPUS / name / "manual") if load.get("manual") else None
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=manual))
    info = builder.info
    for split, rows in golden["splits"].items():
        found = [calls.described(row) for row in tfds.as_numpy(builder.as_dataset(split=split))]
        assert json.loads(json.dumps(found)) == rows, split
    assert list(info.splits) == list(golden["splits"])
    if "tensorflow.org/datasets/catalog" in golden["homepage"]:  # its own, where the author names none
        golden["homepage"] = ""
    told = {key: getattr(info, key) for key in ("full_name", "description", "citation", "homepage", "supervised_keys")}
    assert json.loads(json.dumps(told, default=list)) == {key: golden[key] for key in told}
    labels = {key: feature.names for key, feature in info.features.items() if isinstance(feature, tfds.features.ClassLabel)}
    assert labels == golden["names"]
    assert {split: info.splits[split].num_shards for split in info.splits} == golden["shards"]


@pytest.mark.parametrize(("name", "load"), LOADS)
def test_the_library_loads_them_too(name: str, load: dict[str, Any], tmp_path: Path) -> None:
    golden = _golden(name, load)
    data_dir = str(CORPUS / name / "manual") if load.get("manual") else None
    found = load_dataset(
        str(calls.script(name)), load.get("config"), data_dir=data_dir, version=load.get("version"), cache_dir=tmp_path
    )
    assert {split: len(rows) for split, rows in found.items()} == {s: len(rows) for s, rows in golden["splits"].items()}
    for split, rows in golden["splits"].items():
        plain = [key for key, value in rows[0].items() if value.get("type") in ("object", "int64", "int32", "bool", "NoneType")]
        for key in plain:
            if not isinstance(rows[0][key]["values"], list):
                assert list(found[split][key]) == [row[key]["values"] for row in rows], (split, key)


def test_a_folder_of_tfds_is_a_dataset(tmp_path: Path) -> None:
    folder = shutil.copytree(CORPUS / "csv_reviews", tmp_path / "csv_reviews")
    found = load_dataset(str(folder), split="train", trust_remote_code=True, cache_dir=tmp_path / "cache")
    assert found.info.description.startswith("# Reviews")
    assert found.info.citation.startswith("@misc{reviews")
    assert sorted(found["label"]) == [0, 0, 0, 0, 1, 1, 1]
    rows, info = tfds.load(folder, split="test", with_info=True, builder_kwargs={"trust_remote_code": True}, data_dir=tmp_path)
    assert (len(list(rows)), info.full_name) == (3, "csv_reviews/1.0.1")


def test_scripts_give_their_classes() -> None:
    cls = tfds.builder_cls(calls.script("csv_reviews"))
    assert (cls.name, cls.VERSION) == ("csv_reviews", "1.0.1")
    assert tfds.builder_cls(str(calls.script("whole_shards"))).name == "whole_shards"
    with pytest.raises(UntrustedScriptError):
        tfds.builder_cls(CORPUS / "csv_reviews")
    with pytest.raises(DatasetNotFoundError):
        tfds.builder_cls(CORPUS)


def test_pictures_of_jpeg_are_what_tfds_wrote(tmp_path: Path) -> None:
    rows = tfds.load(
        calls.script("idx_digits"), split="train", data_dir=tmp_path, decoders={"lossy": tfds.decode.SkipDecoding()}
    )
    for row in tfds.as_numpy(rows):
        assert row["lossy"][:2] == b"\xff\xd8"


def test_shards_are_those_of_the_author(tmp_path: Path) -> None:
    rows, info = tfds.load(calls.script("whole_shards"), split="train", data_dir=tmp_path, with_info=True)
    assert [row["n"] for row in rows] == [10, 0, 5, 11, 1, 12] or [row["n"] for row in rows] == [10, 11, 12, 0, 1, 5]
    assert info.splits["train"].shard_lengths == [3, 2, 1]


def test_a_split_that_is_named_twice_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="train"):
        load_dataset(str(calls.script("same_split_twice")), cache_dir=tmp_path)


def test_a_real_op_of_tensorflow_names_the_line(tmp_path: Path) -> None:
    if is_installed("tensorflow"):
        pytest.skip("TensorFlow is here")
    path = calls.script("needs_tensorflow")
    line = next(number for number, text in enumerate(path.read_text().splitlines(), 1) if "session.run" in text)
    with pytest.raises(MissingDependencyError, match=rf"line {line}, calls tf\.compat\.v1\.Session\.run.*tensorflow"):
        load_dataset(str(path), cache_dir=tmp_path)


def test_a_pipeline_of_beam_runs_or_says_what_to_install(tmp_path: Path) -> None:
    path = str(calls.script("beam_lines"))
    if not is_installed("apache_beam"):
        with pytest.raises(MissingDependencyError, match="apache_beam"):
            load_dataset(path, cache_dir=tmp_path)
    else:
        found = load_dataset(path, split="train", cache_dir=tmp_path)
        assert sorted(found["length"]) == [3, 5, 22]


def test_files_fetched_by_hand_are_asked_for(tmp_path: Path) -> None:
    with pytest.raises(ManualDownloadError, match=r"notes\.example\.org"):
        load_dataset(str(calls.script("manual_notes")), cache_dir=tmp_path)


def test_a_config_keeps_an_option_that_is_called_data_dir(tmp_path: Path) -> None:
    found = load_dataset(str(calls.script("glued_tasks")), "mood", data_dir=str(tmp_path), split="train", cache_dir=tmp_path)
    assert sorted(found["label"]) == [0, 1]


def test_workers_make_the_same_rows(tmp_path: Path) -> None:
    for name in ("with_siblings", "boxed_objects"):
        script = str(calls.script(name))
        one = load_dataset(script, cache_dir=tmp_path / "one")
        two = load_dataset(script, cache_dir=tmp_path / "two", num_proc=2)
        assert {split: rows.to_list() for split, rows in one.items()} == {split: rows.to_list() for split, rows in two.items()}


def test_none_of_it_is_seen_outside(tmp_path: Path) -> None:
    import sys

    load_dataset(str(calls.script("inner_modules")), cache_dir=tmp_path)
    assert not [name for name in sys.modules if name.split(".")[0] in ("tensorflow_datasets", "tensorflow", "etils", "absl")]


def test_every_script_is_loaded_somewhere() -> None:
    names = {path.name for path in CORPUS.iterdir() if path.is_dir() and path.name not in ("golden", "rig", "__pycache__")}
    assert names == {*calls.LOADS, "beam_lines", "needs_tensorflow", "same_split_twice"}
    assert issubclass(ConfigurationError, DatasetsCoreError)
    assert np.dtype("int64") == tfds.features.Scalar(np.int64).dtype


@pytest.mark.skipif(not layers().can_sandbox, reason="no confinement here")
@pytest.mark.parametrize(
    "name", ["boxed_objects", "inner_modules", "jsonl_answers", "whole_shards", "with_siblings", "zip_scenes"]
)
def test_confined_scripts_make_the_same_rows(name: str, tmp_path: Path) -> None:
    script, config = str(calls.script(name)), "lower" if name == "jsonl_answers" else None
    plain = load_dataset(script, config, cache_dir=tmp_path / "plain")
    confined = load_dataset(script, config, cache_dir=tmp_path / "confined", trust_remote_code="sandbox")
    assert {split: rows.data.to_pylist() for split, rows in confined.items()} == {
        split: rows.data.to_pylist() for split, rows in plain.items()
    }
    assert {split: rows.features for split, rows in confined.items()} == {split: rows.features for split, rows in plain.items()}


@pytest.mark.parametrize("name", ["boxed_objects", "jsonl_answers", "tar_pictures", "told_apart"])
def test_streams_give_the_same_rows(name: str, tmp_path: Path) -> None:
    script, config = str(calls.script(name)), "plain" if name == "jsonl_answers" else None
    built = load_dataset(script, config, cache_dir=tmp_path)
    streamed = load_dataset(script, config, cache_dir=tmp_path, streaming=True)
    for split, rows in built.items():
        found = [_shown(row) for row in streamed[split]]
        assert sorted(found, key=str) == sorted((_shown(row) for row in rows), key=str)


def _shown(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.tobytes() if hasattr(value, "tobytes") else value for name, value in row.items()}


DUPLICATES = """
import tensorflow_datasets.public_api as tfds


class Twice(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return tfds.core.DatasetInfo(builder=self, features=tfds.features.FeaturesDict({"n": tfds.features.Scalar("int64")}))

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples()}

    def _generate_examples(self):
        for n, key in enumerate(["a", "b", "a", b"b", "c"]):
            yield key, {"n": n}
"""


def test_duplicates_are_refused_or_passed_by(tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    script.write_text(DUPLICATES)
    with pytest.raises(DuplicateKeysError):
        load_dataset(str(script), cache_dir=tmp_path)
    config = tfds.download.DownloadConfig(ignore_duplicates=True)
    rows = tfds.load(script, split="train", data_dir=tmp_path, download_and_prepare_kwargs={"download_config": config})
    assert sorted(row["n"] for row in rows) == [0, 1, 4]


CHECKED = """
import tensorflow_datasets.public_api as tfds

URL = "{url}"


class Builder(tfds.core.GeneratorBasedBuilder):
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        return self.dataset_info_from_configs(features=tfds.features.FeaturesDict({{"line": tfds.features.Text()}}))

    def _split_generators(self, dl_manager):
        return {{"train": self._generate_examples(dl_manager.download(URL))}}

    def _generate_examples(self, path):
        for n, line in enumerate(path.read_text().splitlines()):
            yield n, {{"line": line}}
"""


def test_checksums_beside_the_script_are_compared(tmp_path: Path) -> None:
    data = b"one\ntwo\n"
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "lines.txt").write_bytes(data)
    folder = tmp_path / "checked_lines"
    folder.mkdir()
    with _served(tmp_path / "files") as root:
        url = f"{root}/lines.txt"
        (folder / "checked_lines_dataset_builder.py").write_text(CHECKED.format(url=url))
        known = folder / "checksums.tsv"
        known.write_text(f"{url}\t{len(data)}\t{hashlib.sha256(data).hexdigest()}\tlines.txt\n")
        found = load_dataset(str(folder), split="train", trust_remote_code=True, cache_dir=tmp_path / "one")
        assert sorted(found["line"]) == ["one", "two"]
        known.write_text(f"{url}\t{len(data)}\t{hashlib.sha256(b'else').hexdigest()}\tlines.txt\n")
        with pytest.raises(NonMatchingChecksumError, match="lines"):
            load_dataset(str(folder), trust_remote_code=True, cache_dir=tmp_path / "two")


@contextlib.contextmanager
def _served(folder: Path) -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize(
    ("value", "what"),
    [("'x'", r"column 'n'.*'x' \(str\) is not a valid int64"), ("None", "feature 'n': it is None"), ("2**70", "column 'n'")],
)
def test_rows_that_do_not_fit_are_told_by_their_line(value: str, what: str, tmp_path: Path) -> None:
    script = tmp_path / "twice.py"
    text = DUPLICATES.replace(
        '            yield key, {"n": n}',
        f'            if n > 1:\n                yield "z", {{"n": {value}}}\n            yield key, {{"n": n}}',
    )
    script.write_text(text)
    line = next(number for number, each in enumerate(text.splitlines(), 1) if '"z"' in each)
    with pytest.raises(DatasetGenerationCastError, match=rf"key 'z'.*twice\.py, line {line}, does not fit {what}"):
        load_dataset(str(script), cache_dir=tmp_path)
