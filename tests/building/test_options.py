"""The arguments of a build."""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.cache_key import checksums_path
from datasets_core.building.hooks import SplitGenerator
from datasets_core.building.options import (
    BuildOptions,
    LocalFiles,
    check_downloads,
    check_hashes,
    check_manifest,
    check_place,
    check_split_list,
    check_split_names,
    check_splits,
    is_wanted,
    named_splits,
    read_registered,
    recorded_downloads,
    register,
    variant_folder,
    wanted_order,
)
from datasets_core.config import parse_size
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    DatasetDiskError,
    ExpectedMoreSplitsError,
    ManifestError,
    ManualDownloadError,
    MissingChecksumError,
    NonMatchingChecksumError,
    NonMatchingSplitsSizesError,
    UnexpectedSplitsError,
)
from datasets_core.fetch.checksums import DownloadConfig, DownloadMode, RegisteredFile, VerificationMode
from datasets_core.load import load_dataset, load_dataset_builder
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitInfo
from datasets_core.store.manifest import Manifest, ShardRecord


@pytest.mark.parametrize(
    "options",
    [
        {"num_proc": 0},
        {"file_format": "json"},
        {"download_mode": "sometimes"},
        {"verification_mode": "some_checks"},
        {"max_shard_size": "big"},
        {"max_shard_size": 0},
        {"engine": "steam"},
        {"num_shards": -1},
        {"num_shards": 1.5},
        {"num_shards": True},
        {"max_examples_per_split": -1},
        {"max_examples_per_split": "10"},
        {"wrong": 1},
    ],
)
def test_options_without_a_meaning_are_refused(options):
    with pytest.raises(ConfigurationError):
        BuildOptions.of(output_dir="x", **options)


@pytest.mark.parametrize(
    ("size", "expected"), [(None, None), (7, 7), ("500MB", 500_000_000), ("1.5 KiB", 1536), ("2_000", 2000), ("1gb", 10**9)]
)
def test_sizes_are_read(size, expected):
    assert parse_size(size) == expected


def test_what_is_left_out_has_a_default():
    options = BuildOptions.of(output_dir="x")

    assert options.mode is DownloadMode.REUSE_DATASET_IF_EXISTS
    assert options.verification is VerificationMode.BASIC_CHECKS
    assert (options.num_shards, options.disable_shuffling, options.max_rows) == (None, False, None)


def test_no_shards_are_no_wish_and_no_rows_are_one():
    options = BuildOptions.of(output_dir="x", num_shards=0, max_examples_per_split=0)

    assert (options.num_shards, options.max_rows) == (None, 0)


def test_counts_may_be_integers_of_numpy():
    counts = {name: np.int64(3) for name in ("num_shards", "max_examples_per_split", "num_proc", "max_shard_size")}
    options = BuildOptions.of(output_dir="x", **counts)

    found = (options.num_shards, options.max_rows, options.max_shard_bytes)
    assert found == (3, 3, 3)
    assert [type(each) for each in found] == [int] * 3


def test_old_names_are_taken():
    options = BuildOptions.of(output_dir="x", ignore_verifications=True, try_from_hf_gcs=False)

    assert options.verification is VerificationMode.NO_CHECKS


# Expected against recorded.

BASIC, ALL, NONE = VerificationMode.BASIC_CHECKS, VerificationMode.ALL_CHECKS, VerificationMode.NO_CHECKS


def splits(**numbers):
    return {name: SplitInfo(name, num_bytes, num_examples) for name, (num_bytes, num_examples) in numbers.items()}


@pytest.mark.parametrize(
    ("expected", "mode"),
    [
        (None, ALL),
        ({}, ALL),
        (splits(train=(1000, 10)), ALL),
        (splits(train=(1009, 10)), ALL),  # another writer's batches
        (splits(train=(7, 10)), BASIC),
        (splits(train=(None, None)), ALL),
        (splits(train=(0, 0)), ALL),
        (splits(test=(1, 1)), NONE),
    ],
)
def test_what_agrees_or_is_unknown_passes(expected, mode):
    check_splits(expected, splits(train=(1000, 10)), dataset="reviews", mode=mode)


@pytest.mark.parametrize(
    ("expected", "mode", "error", "words"),
    [
        (splits(train=(0, 10), test=(0, 1)), BASIC, ExpectedMoreSplitsError, r"\['test'\]"),
        (splits(test=(0, 1)), BASIC, ExpectedMoreSplitsError, r"\['test'\]"),
        (splits(train=(0, 11)), BASIC, NonMatchingSplitsSizesError, "num_examples=11, but has num_examples=10"),
        (splits(train=(2000, 10)), ALL, NonMatchingSplitsSizesError, "num_bytes=2000, but has num_bytes=1000"),
    ],
)
def test_what_differs_is_named_with_both_numbers(expected, mode, error, words):
    with pytest.raises(error, match=words):
        check_splits(expected, splits(train=(1000, 10)), dataset="reviews", mode=mode)


def test_a_split_that_is_not_on_record_is_refused():
    with pytest.raises(UnexpectedSplitsError, match="more"):
        check_splits(splits(train=(0, 1)), splits(train=(0, 1), more=(0, 1)), dataset="reviews", mode=BASIC)


def test_downloads_are_compared_where_both_sides_are_known():
    found = {"http://a/x": {"num_bytes": 3, "checksum": "ab"}}

    check_downloads(None, found, ALL)
    check_downloads({"http://a/x": {"num_bytes": 4, "checksum": None}}, None, ALL)
    check_downloads({"http://a/x": {"num_bytes": None, "checksum": "AB"}}, found, ALL)
    with pytest.raises(NonMatchingChecksumError, match="http://a/x"):
        check_downloads({"http://a/x": {"num_bytes": 4, "checksum": None}}, found, BASIC)


def test_the_first_rows_of_a_dataset_are_compared_in_their_downloads_only():
    recorded = DatasetInfo(splits=[{"name": "train", "num_examples": 9}], download_checksums={"http://a/x": {"num_bytes": 4}})
    builder = SimpleNamespace(is_partial=False, recorded=recorded, label="reviews", is_of_old_datasets=False)
    found = DatasetInfo(splits=[{"name": "train", "num_examples": 3}])

    check_manifest(builder, Manifest(found, max_rows=3), recorded.download_checksums, ALL)
    with pytest.raises(NonMatchingSplitsSizesError):
        check_manifest(builder, Manifest(found), recorded.download_checksums, ALL)
    with pytest.raises(NonMatchingChecksumError):
        check_manifest(builder, Manifest(found, max_rows=3), {"http://a/x": {"num_bytes": 5}}, ALL)


def test_a_shard_of_other_bytes_is_named(tmp_path):
    (tmp_path / "a.arrow").write_bytes(b"abc")
    manifest = Manifest(DatasetInfo(), (ShardRecord("a.arrow", "train", 1, 3, 3, "00", ((1, 1),)),))

    with pytest.raises(DamagedShardError, match=r"a\.arrow.*sha256"):
        check_hashes(str(tmp_path), manifest)


@pytest.mark.parametrize(("is_old", "mode", "compared"), [(True, BASIC, False), (True, ALL, True), (False, BASIC, True)])
def test_downloads_of_old_scripts_count_under_all_checks(is_old: bool, mode: VerificationMode, compared: bool) -> None:
    recorded = DatasetInfo(download_checksums={"https://x.org/a": {"num_bytes": 1, "checksum": None}})
    builder = SimpleNamespace(recorded=recorded, is_of_old_datasets=is_old)
    assert (recorded_downloads(builder, mode) is not None) is compared


# `checksums.tsv` beside a script: written when that is asked for, and enforced otherwise.

SCRIPT = """
import datasets_core as datasets

class Lines(datasets.GeneratorBasedBuilder):
    VERSION = datasets.Version("1.0.0")

    def _info(self):
        return datasets.DatasetInfo(features=datasets.Features({"line": datasets.Value("string")}))

    def _split_generators(self, dl_manager):
        paths = dl_manager.download(URLS)
        return [datasets.SplitGenerator(name=name, gen_kwargs={"path": path}) for name, path in paths.items()]

    def _generate_examples(self, path):
        with open(path) as lines:
            for number, line in enumerate(lines):
                yield number, {"line": line.strip()}
"""


def _sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder that is served, and its URL."""
    folder = tmp_path / "site"
    folder.mkdir()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield folder, f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.fixture
def script(tmp_path: Path, site: tuple[Path, str]) -> Path:
    """A script that downloads two files, `b.txt` and `a.txt`."""
    folder, url = site
    (folder / "a.txt").write_bytes(b"one\ntwo\n")
    (folder / "b.txt").write_bytes(b"three\n")
    path = tmp_path / "lines" / "lines.py"
    path.parent.mkdir()
    path.write_text(SCRIPT.replace("URLS", repr({"train": f"{url}/b.txt", "test": f"{url}/a.txt"})))
    return path


def _load(script: Path, cache: str = "cache", **options: Any) -> Any:
    return load_dataset(str(script), cache_dir=str(script.parents[1] / cache), **options)


def _prepare(script: Path, cache: str = "cache", data_dir: str | None = None, **options: Any) -> None:
    builder = load_dataset_builder(str(script), cache_dir=str(script.parents[1] / cache), data_dir=data_dir)
    builder.download_and_prepare(**options)


def _registered(script: Path) -> list[list[str]]:
    return [line.split("\t") for line in script.with_name("checksums.tsv").read_text().splitlines()]


def test_registering_writes_each_url_sorted_beside_the_script(script: Path, site: tuple[Path, str]) -> None:
    _prepare(script, register_checksums=True)
    assert _registered(script) == [
        [f"{site[1]}/a.txt", "8", _sha(b"one\ntwo\n"), "a.txt"],
        [f"{site[1]}/b.txt", "6", _sha(b"three\n"), "b.txt"],
    ]


def test_nothing_is_written_unasked(script: Path) -> None:
    _prepare(script)
    assert not script.with_name("checksums.tsv").exists()


@pytest.mark.parametrize("mode", ["basic_checks", "all_checks"])
@pytest.mark.parametrize("changed", [b"One\ntwo\n", b"one\ntwo\nthree\n"])
def test_what_is_registered_is_enforced(mode: str, changed: bytes, script: Path, site: tuple[Path, str]) -> None:
    _prepare(script, register_checksums=True)
    (site[0] / "a.txt").write_bytes(changed)
    with pytest.raises(NonMatchingChecksumError) as caught:
        _load(script, "elsewhere", verification_mode=mode)
    assert caught.value.url == f"{site[1]}/a.txt"
    assert caught.value.expected in (_sha(b"one\ntwo\n"), "8 bytes")
    assert caught.value.found in (_sha(changed), "14 bytes")
    assert "register_checksums=True" in str(caught.value)


def test_no_checks_enforces_nothing(script: Path, site: tuple[Path, str]) -> None:
    _prepare(script, register_checksums=True)
    (site[0] / "a.txt").write_bytes(b"another\n")
    assert _load(script, "elsewhere", verification_mode="no_checks")["test"]["line"][:] == ["another"]


def test_registering_again_replaces_what_differs_and_says_so(
    script: Path, site: tuple[Path, str], caplog: pytest.LogCaptureFixture
) -> None:
    _prepare(script, register_checksums=True)
    script.with_name("checksums.tsv").write_text(
        f"# by hand\nhttps://example.org/z\t1\t{'0' * 64}\tz\n" + script.with_name("checksums.tsv").read_text()
    )
    (site[0] / "a.txt").write_bytes(b"another\n")
    with caplog.at_level(logging.WARNING):
        _prepare(script, register_checksums=True, download_mode="force_redownload")
    assert [fields[0].rpartition("/")[2] for fields in _registered(script)] == ["# by hand", "a.txt", "b.txt", "z"]
    assert _registered(script)[1][2] == _sha(b"another\n")
    assert (
        f"{site[1]}/a.txt was registered with 8 bytes and sha256 {_sha(b'one' + bytes([10]) + b'two' + bytes([10]))}"
        in caplog.text
    )


def test_a_dataset_that_stands_is_registered_too(script: Path) -> None:
    _prepare(script)
    _prepare(script, register_checksums=True)
    assert len(_registered(script)) == 2


def test_load_dataset_and_the_download_config_register_too(script: Path) -> None:
    _load(script, download_config=DownloadConfig(register_checksums=True))
    assert len(_registered(script)) == 2
    script.with_name("checksums.tsv").unlink()
    _load(script, register_checksums=True)
    assert len(_registered(script)) == 2


def test_a_flipped_bit_in_the_cache_is_mended_by_another_download(script: Path, site: tuple[Path, str]) -> None:
    _prepare(script, register_checksums=True)
    downloads = script.parents[1] / "cache" / "downloads"
    (damaged,) = (path for path in downloads.iterdir() if path.is_file() and path.read_bytes() == b"three\n")
    damaged.write_bytes(b"threE\n")
    _prepare(script, download_mode="reuse_cache_if_exists")
    assert _load(script)["train"]["line"][:] == ["three"]


def test_a_registered_file_in_the_cache_needs_no_server(script: Path, site: tuple[Path, str]) -> None:
    _prepare(script, register_checksums=True)
    (site[0] / "a.txt").unlink()
    _prepare(script, download_mode="reuse_cache_if_exists")


def test_another_record_is_held_against_a_dataset_that_stands(script: Path, site: tuple[Path, str]) -> None:
    _prepare(script)
    script.with_name("checksums.tsv").write_text(f"{site[1]}/a.txt\t8\t{'0' * 64}\ta.txt\n")
    with pytest.raises(NonMatchingChecksumError, match="expected 0000"):
        _load(script)


# -- an entry for every URL --------------------------------------------------------------------------------------------


def test_every_url_must_be_registered_where_that_is_demanded(script: Path, site: tuple[Path, str]) -> None:
    script.with_name("checksums.tsv").write_text(f"{site[1]}/a.txt\t8\t{_sha(b'one' + bytes([10]) + b'two' + bytes([10]))}\n")
    with pytest.raises(MissingChecksumError) as caught:
        _prepare(script, force_checksums_validation=True)
    assert caught.value.urls == (f"{site[1]}/b.txt",)
    assert str(script.with_name("checksums.tsv")) in str(caught.value)
    with pytest.raises(MissingChecksumError):
        _load(script, force_checksums_validation=True)
    with pytest.raises(MissingChecksumError):
        _load(script, download_config=DownloadConfig(force_checksums_validation=True))


def test_the_demand_holds_for_a_dataset_that_stands(script: Path) -> None:
    _prepare(script)
    with pytest.raises(MissingChecksumError):
        _prepare(script, force_checksums_validation=True)
    _prepare(script, register_checksums=True)
    _prepare(script, force_checksums_validation=True)


def test_registering_meets_the_demand(script: Path) -> None:
    _prepare(script, register_checksums=True, force_checksums_validation=True)
    assert len(_registered(script)) == 2


def test_a_demand_without_checks_is_refused(script: Path) -> None:
    with pytest.raises(ConfigurationError, match="Omit one"):
        _prepare(script, force_checksums_validation=True, verification_mode="no_checks")


# -- files fetched by hand ---------------------------------------------------------------------------------------------


@pytest.fixture
def manual(tmp_path: Path, script: Path) -> Path:
    """The manual folder of a dataset whose files are registered."""
    _prepare(script, "first", register_checksums=True)
    folder = tmp_path / "manual"
    folder.mkdir()
    return folder


def test_a_file_fetched_by_hand_takes_the_place_of_the_download(manual: Path, script: Path, site: tuple[Path, str]) -> None:
    (site[0] / "a.txt").unlink()
    (manual / "a.txt").write_bytes(b"one\ntwo\n")
    assert _load(script, data_dir=str(manual))["test"]["line"][:] == ["one", "two"]


def test_another_file_of_that_name_is_refused(manual: Path, script: Path, site: tuple[Path, str]) -> None:
    (manual / "a.txt").write_bytes(b"one\nTWO\n")
    with pytest.raises(NonMatchingChecksumError) as caught:
        _load(script, data_dir=str(manual))
    for said in (str(manual / "a.txt"), f"{site[1]}/a.txt", _sha(b"one\ntwo\n"), _sha(b"one\nTWO\n")):
        assert said in str(caught.value)


def test_a_file_of_a_namesake_is_not_mistaken(manual: Path, script: Path) -> None:
    text = script.with_name("checksums.tsv").read_text()
    script.with_name("checksums.tsv").write_text(text.replace("\ta.txt\n", "\tb.txt\n"))
    (manual / "b.txt").write_bytes(b"three\n")
    assert _load(script, data_dir=str(manual))["test"]["line"][:] == ["one", "two"]


# -- what goes wrong ---------------------------------------------------------------------------------------------------


def test_a_builder_without_a_script_has_nowhere_to_register(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ConfigurationError, match="has no script"):
        load_dataset("csv", data_files=str(tmp_path / "a.csv"), cache_dir=str(tmp_path), register_checksums=True)


def test_a_folder_that_cannot_be_written_is_told_before_anything_is_downloaded(script: Path, site: tuple[Path, str]) -> None:
    script.with_name("checksums.tsv").mkdir()
    (site[0] / "a.txt").unlink()  # so that a download would fail
    with pytest.raises(ManifestError, match="not a regular file"):
        _prepare(script, register_checksums=True)


def test_a_place_that_takes_no_file_is_a_disk_error() -> None:
    with pytest.raises(DatasetDiskError, match=r"/proc/checksums\.tsv"):
        check_place("/proc/checksums.tsv", "lines")


@pytest.mark.parametrize(
    ("text", "reason"),
    [(b"https://x/a\t3\n", "line 1"), (b"\n\xff", "line 2: it is not UTF-8"), (b"u\t1\t" + b"0" * 64 + b"\t../a", "line 1")],
)
def test_a_broken_register_names_its_line(text: bytes, reason: str, script: Path) -> None:
    script.with_name("checksums.tsv").write_bytes(text)
    for options in ({}, {"register_checksums": True}):
        with pytest.raises(ManifestError, match=reason):
            _prepare(script, **options)  # type: ignore[arg-type]


def test_secrets_do_not_reach_the_register(tmp_path: Path) -> None:
    from datasets_core.fetch.downloads import DownloadManager

    manager = DownloadManager(
        base_path=str(tmp_path), download_config=DownloadConfig(cache_dir=str(tmp_path), register_checksums=True)
    )
    (tmp_path / "a.txt").write_text("x")
    manager.download([f"file://{tmp_path}/a.txt", "a.txt"])
    assert [entry.name for entry in manager.registrable().values()] == ["a.txt"]
    manager._records = dict.fromkeys(["https://me:pw@x/a?token=s"], manager._records.popitem()[1])
    assert list(manager.registrable()) in ([], ["https://***@x/a?token=***"])


def test_processes_that_register_at_the_same_time_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "checksums.tsv"
    code = (
        "import sys; from datasets_core.building.options import register; "
        "from datasets_core.fetch.checksums import RegisteredFile\n"
        "for n in range(30): register(sys.argv[1], {f'https://x/{sys.argv[2]}/{n}': RegisteredFile(n, '0' * 64, 'f')})"
    )
    running = [subprocess.Popen([sys.executable, "-c", code, str(path), name]) for name in "abc"]
    assert [process.wait() for process in running] == [0, 0, 0]
    urls = list(read_registered(str(path)))
    assert len(urls) == 90
    assert urls == sorted(urls)
    assert os.listdir(tmp_path) == ["checksums.tsv"]


def test_a_name_that_the_author_gave_stays(tmp_path: Path) -> None:
    path = str(tmp_path / "checksums.tsv")
    register(path, {"https://x/a": RegisteredFile(1, "0" * 64, "by_hand.zip")})
    register(path, {"https://x/a": RegisteredFile(2, "1" * 64, "a")})
    assert read_registered(path) == {"https://x/a": RegisteredFile(2, "1" * 64, "by_hand.zip")}
    register(path, {})
    assert checksums_path(int) is None


def test_pipes_devices_and_what_lies_elsewhere_are_no_registers(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name in ("pipe", "zero"):
        with pytest.raises(ManifestError, match="not a regular file"):
            read_registered(str(tmp_path / name))
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").write_text("https://example.org/a 12 None\n")
    (tmp_path / "folder" / "checksums.tsv").symlink_to(tmp_path / "elsewhere")
    path = str(tmp_path / "folder" / "checksums.tsv")
    assert len(read_registered(path)) == 1
    with pytest.raises(ManifestError, match="leads outside its folder"):
        read_registered(path, within=str(tmp_path / "folder"))


# The splits that a builder names.


class Named(GeneratorBasedBuilder):
    splits: ClassVar[Any] = [SplitGenerator("train", {}), SplitGenerator("test", {})]

    def _info(self) -> DatasetInfo:
        return DatasetInfo()

    def _split_generators(self, dl_manager: Any) -> Any:
        return self.splits

    def _generate_examples(self) -> Any:
        return iter(())


def test_splits_come_in_their_order(tmp_path: Any) -> None:
    assert [split.name for split in named_splits(Named(cache_dir=str(tmp_path)), None)] == ["train", "test"]


@pytest.mark.parametrize(("splits", "words"), [(7, "returned 7"), (["train"], "returned 'train'"), ([], "has no splits")])
def test_what_is_no_list_of_splits_is_refused(splits: Any, words: str, tmp_path: Any) -> None:
    class Other(Named):
        pass

    Other.splits = splits
    with pytest.raises(ConfigurationError, match=words):
        named_splits(Other(cache_dir=str(tmp_path)), None)


@pytest.mark.parametrize("names", [[], ["all"], ["a", "a"], ["a b"]])
def test_names_that_mean_nothing_are_refused(names: list[str]) -> None:
    with pytest.raises(ConfigurationError, match="label"):
        check_split_names(names, "label")


def test_arguments_of_a_split_have_names() -> None:
    with pytest.raises(ConfigurationError, match="gen_kwargs of split 'train'"):
        check_split_list([SplitGenerator("train", [1])], "label")  # type: ignore[arg-type]


def test_files_that_come_by_hand_need_a_folder(tmp_path: Any) -> None:
    class Manual(Named):
        @property
        def manual_download_instructions(self) -> str:
            return "Fetch it from the library."

    with pytest.raises(ManualDownloadError, match="from the library"):
        named_splits(Manual(cache_dir=str(tmp_path)), None)


class Asked:
    """A download manager that notes what it is asked for."""

    def __init__(self) -> None:
        self.asked: list[Any] = []
        self.local_paths: set[str] = set()

    def download(self, paths: Any) -> Any:
        self.asked.append(paths)
        return paths

    def extract(self, path: str) -> str:
        return f"{path}.folder"


def test_local_files_are_given_as_they_are_without_a_manager(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    files = LocalFiles(lambda: pytest.fail("a manager was made"))
    assert files.download({"train": [str(path), str(path)]}) == {"train": [str(path), str(path)]}
    assert files.get_recorded_sizes_checksums() == {str(path): {"num_bytes": 4, "checksum": None}}
    assert files.local_paths == {str(path)} and files.cache_folders == ()
    files.manage_extracted_files()


def test_what_local_files_cannot_do_a_manager_does_which_knows_them(tmp_path: Path) -> None:
    path, manager = tmp_path / "a.zip", Asked()
    path.write_text("zip")
    files = LocalFiles(lambda: manager)
    files.download({"train": [str(path)]})
    assert manager.asked == []
    assert files.extract(str(path)) == f"{path}.folder"
    assert manager.asked == [[str(path)]]


def test_a_local_file_that_is_missing_is_told_by_the_manager(tmp_path: Path) -> None:
    manager = Asked()
    LocalFiles(lambda: manager).download({"train": [str(tmp_path / "none.csv")]})
    assert manager.asked == [{"train": [str(tmp_path / "none.csv")]}]


# Which order is wanted, and which dataset that stands has it.


def builder(shuffles, disables=False):
    return SimpleNamespace(shuffle_on_write=shuffles, info=DatasetInfo(disable_shuffling=disables))


def manifest(order="source", lengths=(5, 5), **more):
    shards = tuple(ShardRecord(f"{rows}", "train", rows, 100, 10, "", ((rows, 1),)) for rows in lengths)
    return Manifest(DatasetInfo(), shards, write_order=order, **more)


def options(**given):
    return BuildOptions.of(output_dir="x", **given)


@pytest.mark.parametrize(
    ("shuffles", "disables", "asked", "expected"),
    [
        (False, False, False, "source"),
        (False, True, True, "source"),
        (True, False, False, "hash"),
        (True, True, False, "key"),
        (True, False, True, "key"),
    ],
)
def test_rows_are_ordered_where_a_builder_asks_for_it_and_nobody_disables_it(shuffles, disables, asked, expected):
    assert wanted_order(builder(shuffles, disables), disable_shuffling=asked) == expected


@pytest.mark.parametrize(
    ("shuffles", "given", "stands", "expected"),
    [
        (False, {}, manifest(), True),
        (False, {}, manifest("hash"), False),
        (False, {}, manifest(disable_shuffling=True), False),
        (True, {}, manifest("hash"), True),
        (True, {}, manifest(), False),
        (True, {}, manifest("key", disable_shuffling=True), False),
        (True, {"disable_shuffling": True}, manifest("key", disable_shuffling=True), True),
        (True, {"disable_shuffling": True}, manifest("source", disable_shuffling=True), True),
        (True, {"disable_shuffling": True}, manifest("hash"), False),
        (True, {"num_shards": 2}, manifest("hash"), True),
        (True, {"num_shards": 3}, manifest("hash"), False),
        (True, {"num_shards": 0}, manifest("hash"), True),
        (False, {"num_shards": 3}, manifest(lengths=(0,)), True),
        (False, {"max_examples_per_split": 10}, manifest(), False),
        (False, {"max_examples_per_split": 10}, manifest(max_rows=10), True),
        (False, {}, manifest(max_rows=10), False),
    ],
)
def test_what_stands_is_taken_where_rows_order_and_shards_are_those_asked_for(shuffles, given, stands, expected):
    assert is_wanted(stands, builder(shuffles), options(**given)) is expected


def test_other_rows_and_another_order_have_folders_of_their_own():
    plain, shuffling, kept = builder(False), builder(True), builder(True, disables=True)

    assert variant_folder("/c/a", plain, disable_shuffling=True, max_rows=None) == "/c/a"
    assert variant_folder("/c/a", shuffling, disable_shuffling=True, max_rows=None) == "/c/a-unshuffled"
    assert variant_folder("/c/a", kept, disable_shuffling=True, max_rows=3) == "/c/a-first3"
