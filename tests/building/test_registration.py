"""`checksums.tsv` beside a script: written when that is asked for, and enforced otherwise."""

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
from typing import Any

import pytest

from datasets_core.building.cache_key import checksums_path
from datasets_core.building.options import check_place, read_registered, register
from datasets_core.errors import (
    ConfigurationError,
    DatasetDiskError,
    ManifestError,
    MissingChecksumError,
    NonMatchingChecksumError,
)
from datasets_core.fetch.checksums import DownloadConfig, RegisteredFile
from datasets_core.load import load_dataset, load_dataset_builder

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
    assert f"{site[1]}/a.txt had 8 bytes and sha256 {_sha(b'one' + bytes([10]) + b'two' + bytes([10]))}" in caplog.text


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
    with pytest.raises(ConfigurationError, match="Leave one out"):
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
    with pytest.raises(ManifestError, match="no regular file"):
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
        with pytest.raises(ManifestError, match="no regular file"):
            read_registered(str(tmp_path / name))
    (tmp_path / "folder").mkdir()
    (tmp_path / "elsewhere").write_text("https://example.org/a 12 None\n")
    (tmp_path / "folder" / "checksums.tsv").symlink_to(tmp_path / "elsewhere")
    path = str(tmp_path / "folder" / "checksums.tsv")
    assert len(read_registered(path)) == 1
    with pytest.raises(ManifestError, match="leads out of its folder"):
        read_registered(path, within=str(tmp_path / "folder"))
