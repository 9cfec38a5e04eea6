"""Datasets in stores that have no rename: in memory, and in S3 as a server of the package `moto` speaks it."""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import fsspec
import pytest

from datasets_core import config, errors
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.building.write.exchange import Exchange
from datasets_core.engines.executor import ExecutorEngine
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset
from datasets_core.meta.info import DatasetInfo


@dataclass
class NumbersConfig(BuilderConfig):
    start: int = 0


class Numbers(GeneratorBasedBuilder):
    """Three parts of ten rows, which count from `start`, and a small test split."""

    BUILDER_CONFIG_CLASS = NumbersConfig

    def _info(self) -> DatasetInfo:
        return DatasetInfo(features=Features({"n": Value("int64"), "text": Value("string"), "at": Value("timestamp[s]")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return [SplitGenerator("train", {"parts": [0, 1, 2]}), SplitGenerator("test", {"parts": [9]})]

    def _generate_examples(self, parts: list[int]) -> Iterator[tuple[int, dict[str, Any]]]:
        for part in parts:
            for row in range(10 * part, 10 * part + 10):
                number = self.config.start + row
                yield row, {"n": number, "text": None if row % 7 == 0 else f"row {number}", "at": number}


@dataclass
class Store:
    """A place for a dataset, and what is done to it."""

    url: str
    options: dict[str, Any]
    puts: list[str] = field(default_factory=list)
    failing_put: int | None = None

    @property
    def files(self) -> Any:
        return fsspec.filesystem(self.url.partition("://")[0], **self.options)

    def objects(self) -> list[str]:
        self.files.invalidate_cache()
        return sorted(path.rpartition("/")[2] for path in self.files.find(self.url))

    def build(self, start: int = 0, **options: Any) -> Numbers:
        builder = Numbers(start=start)
        self.puts.clear()
        builder.download_and_prepare(output_dir=self.url, storage_options=self.options, **options)
        return builder


@pytest.fixture(scope="session")
def s3() -> Iterator[str]:
    """The address of an S3 server in a process of its own."""
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as server:
        assert server.stderr is not None
        running = next(line for line in server.stderr if "Running on" in line)
        drain = threading.Thread(target=server.stderr.read)  # its log, which else would fill the pipe
        drain.start()
        yield running.split("Running on ")[1].strip()
        server.terminate()
        drain.join()


def _memory(request: pytest.FixtureRequest) -> Store:
    return Store("memory://flows/numbers", {})


def _s3(request: pytest.FixtureRequest) -> Store:
    address = request.getfixturevalue("s3")
    options = {"key": "a key", "secret": "a secret", "endpoint_url": address, "client_kwargs": {"region_name": "eu-west-1"}}
    return Store("s3://flows/numbers", options)


_STORES = [
    pytest.param(_memory, id="memory"),
    pytest.param(_s3, id="s3", marks=[pytest.mark.optional("moto"), pytest.mark.optional("s3fs")]),
]


@pytest.fixture(params=_STORES)
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """An empty place in each kind of store, which keeps a list of what is put and fails where it is told to."""
    made = request.param(request)
    files, (bucket, _, _) = made.files, made.url.partition("://")[2].partition("/")
    files.mkdir(bucket)

    def watch(real: Callable[..., Any], place: int) -> Callable[..., Any]:
        def put(*arguments: Any, **more: Any) -> Any:
            made.puts.append(arguments[place].rpartition("/")[2])
            if made.failing_put == len(made.puts) - 1:
                raise ConnectionResetError("the connection was reset")
            return real(*arguments, **more)

        return put

    with monkeypatch.context() as patch, config.using(cache_dir=str(tmp_path / "cache"), max_retries=1):
        patch.setattr(files, "put_file", watch(files.put_file, 1), raising=True)
        patch.setattr(files, "pipe_file", watch(files.pipe_file, 0), raising=True)
        yield made
    files.rm(bucket, recursive=True)


def _numbers(dataset: Any) -> list[int]:
    return list(dataset["n"])


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_what_is_built_at_a_url_is_read_there(store: Store, file_format: str, tmp_path: Path) -> None:
    there = store.build(file_format=file_format, max_shard_size=1)
    here = Numbers()
    here.download_and_prepare(output_dir=tmp_path / "here", file_format=file_format, max_shard_size=1)

    assert {name: list(rows) for name, rows in there.as_dataset().items()} == {
        name: list(rows) for name, rows in here.as_dataset().items()
    }
    assert there.as_dataset("train[5:25]")[:] == here.as_dataset("train[5:25]")[:]
    assert there.as_dataset("test", in_memory=True).features == here.info.features


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_a_finished_dataset_at_a_url_is_taken_as_it_is(store: Store, file_format: str) -> None:
    store.build(file_format=file_format)

    again = store.build(file_format=file_format)

    assert store.puts == []
    assert _numbers(again.as_dataset("train")) == list(range(30))


def test_a_finished_dataset_at_a_url_loads_as_a_folder(store: Store) -> None:
    store.build()
    store.build(start=100)

    found = load_dataset(store.url, storage_options=store.options)

    assert {name: _numbers(rows) for name, rows in found.items()} == {
        "train": list(range(100, 130)),
        "test": list(range(190, 200)),
    }


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_the_manifest_is_put_last(store: Store, file_format: str) -> None:
    builder = store.build(file_format=file_format, max_shard_size=1)

    names = [name for split in builder.info.splits.values() for name in split.shard_names]
    assert len(names) > 2
    assert (store.puts[0], store.puts[-1]) == (names[0], "dataset_info.json")
    assert sorted(store.puts) == sorted([*names, "dataset_info.json"])
    assert store.objects() == sorted(store.puts)


_SOME = "contains [12] of the 3 shards|a build was interrupted"
_PUTS = {  # a part, three more at once, and the manifest: how what was put when each of them failed is refused
    0: "No data file found",
    1: _SOME,
    2: _SOME,
    3: _SOME,
    4: "a build was interrupted",
}


@pytest.mark.parametrize("put", _PUTS)
def test_a_put_that_fails_leaves_nothing_that_loads(store: Store, put: int, tmp_path: Path) -> None:
    store.failing_put = put
    with pytest.raises(errors.DownloadError, match=r"the connection was reset.*Run again"):
        store.build()
    with pytest.raises(errors.DatasetNotFoundError):
        _unbuilt(store).as_dataset()
    missing = (errors.DatasetNotFoundError, errors.DataFilesNotFoundError)
    with pytest.raises(missing, match=_PUTS[put]):
        load_dataset(store.url, storage_options=store.options)

    store.failing_put = None
    assert _numbers(store.build().as_dataset("train")) == list(range(30))
    assert len(store.objects()) == len(_PUTS)
    assert [path.name for path in (tmp_path / "cache" / "remote").iterdir() if not path.name.endswith(".lock")] == []


def _unbuilt(store: Store) -> Numbers:
    """A builder that reads at the URL what stands there, and builds nothing."""
    builder = Numbers()
    builder._output_dir, builder._output_storage_options = store.url, store.options
    return builder


@pytest.mark.parametrize("put", _PUTS)
def test_a_put_that_fails_leaves_the_dataset_before(store: Store, put: int) -> None:
    store.build()
    store.failing_put = put
    with pytest.raises(errors.DownloadError):
        store.build(start=100)
    assert _numbers(_unbuilt(store).as_dataset("train")) == list(range(30))

    store.failing_put = None
    assert _numbers(store.build(start=100).as_dataset("train")) == list(range(100, 130))


@pytest.mark.parametrize("file_format", ["arrow", "parquet"])
def test_readers_of_a_replaced_dataset_keep_their_rows(store: Store, file_format: str) -> None:
    untouched, begun = (store.build(file_format=file_format).as_dataset("train") for _ in range(2))
    assert begun[0]["n"] == 0

    new = store.build(start=100, file_format=file_format)

    assert _numbers(untouched) == _numbers(begun) == list(range(30))
    assert _numbers(new.as_dataset("train")) == list(range(100, 130))


@pytest.mark.parametrize("mode", ["basic_checks", "all_checks"])
def test_a_shard_that_is_gone_is_built_again(store: Store, mode: str) -> None:
    builder = store.build()
    store.files.rm(f"{store.url}/{builder.info.splits['train'].shard_names[1]}")
    with pytest.raises(errors.DamagedShardError, match="missing"):
        _unbuilt(store).as_dataset("train")

    again = store.build(verification_mode=mode)

    assert store.puts == [builder.info.splits["train"].shard_names[1], "dataset_info.json"]
    assert _numbers(again.as_dataset("train")) == list(range(30))


# -- by workers that share the store, and no disk ----------------------------------------------------------------------


class _Elsewhere(ExecutorEngine):
    """Threads to which everything is sent, as to other machines; the run is stopped behind some jobs."""

    def __init__(self, executor: ThreadPoolExecutor, stops_behind: int | None = None) -> None:
        super().__init__(executor)
        self.shares_memory, self.spans_machines = False, True
        self.stops_behind, self.num_jobs = stops_behind, 0

    def run(self, function: Any, jobs: Any, **options: Any) -> Iterator[tuple[int, Any]]:
        for found in super().run(function, jobs, **options):
            if self.num_jobs == self.stops_behind:
                raise KeyboardInterrupt
            self.num_jobs += 1
            yield found


@pytest.fixture
def elsewhere() -> Iterator[_Elsewhere]:
    with ThreadPoolExecutor(2) as executor:
        yield _Elsewhere(executor)


@pytest.fixture
def bucket(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A place in S3, whose credentials workers have in their environment."""
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    made = _s3(request)
    made.files.mkdir("flows")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", made.options["key"])
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", made.options["secret"])
    type(made.files).clear_instance_cache()  # which remembers that another test had no credentials
    with config.using(cache_dir=str(tmp_path / "cache"), max_retries=1):
        yield made
    made.files.rm("flows", recursive=True)


class Shuffled(Numbers):
    shuffle_on_write = True

    def _info(self) -> DatasetInfo:
        return DatasetInfo()


@pytest.mark.parametrize("kind", [Numbers, Shuffled])
def test_workers_build_in_a_store_what_one_process_builds(
    bucket: Store, kind: type[Numbers], elsewhere: _Elsewhere, tmp_path: Path
) -> None:
    there, here = kind(), kind()
    there.download_and_prepare(output_dir=bucket.url, storage_options=bucket.options, engine=elsewhere, num_shards=2)
    here.download_and_prepare(output_dir=tmp_path / "here", num_shards=2)
    for split, rows in here.as_dataset().items():
        assert _numbers(there.as_dataset(split)) == _numbers(rows)
    assert len(bucket.objects()) == 5 and ".building" not in str(bucket.files.find(bucket.url))
    sizes = [path.stat().st_size for path in (tmp_path / "here").glob("*.arrow")]
    found = bucket.files.find(bucket.url, detail=True)
    assert sorted(info["size"] for path, info in found.items() if path.endswith(".arrow")) == sorted(sizes)


def test_another_machine_goes_on_with_a_build_in_a_store(bucket: Store, elsewhere: _Elsewhere, tmp_path: Path) -> None:
    elsewhere.stops_behind = 2
    with pytest.raises(KeyboardInterrupt):
        bucket.build(engine=elsewhere)
    assert ".building" in str(bucket.files.find(bucket.url))
    elsewhere.stops_behind, elsewhere.num_jobs = None, 0
    with config.using(cache_dir=str(tmp_path / "of another machine")):
        made = bucket.build(engine=elsewhere)
    assert elsewhere.num_jobs == 2  # of three parts of one split and one of the other
    assert _numbers(made.as_dataset("train")) == list(range(30))
    assert not [name for name in bucket.files.find(bucket.url) if ".building" in name]


def test_a_worker_without_access_to_the_store_is_an_error(
    bucket: Store, elsewhere: _Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    type(bucket.files).clear_instance_cache()  # which remembers the credentials of the test before
    with pytest.raises(errors.ConfigurationError, match=r"cannot use s3://.*Credentials do not travel with jobs"):
        bucket.build(engine=elsewhere)


def test_credentials_are_not_sent() -> None:
    options = {"key": "a", "secret": "b", "anon": False, "client_kwargs": {"aws_session_token": "c", "region_name": "d"}}
    sent = pickle.dumps(Exchange.of("s3://flows/numbers", options))
    assert pickle.loads(sent).options == {"anon": False, "client_kwargs": {"region_name": "d"}}
    assert pickle.loads(sent).own is None and b"aws_session_token" not in sent


def test_the_memory_of_this_process_is_refused(elsewhere: _Elsewhere) -> None:
    with pytest.raises(errors.ConfigurationError, match=r"memory of this process, which workers do not see"):
        Store("memory://flows/elsewhere", {}).build(engine=elsewhere)
