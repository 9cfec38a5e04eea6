"""The cache: whole files or none, asked for once, current as far as the server says."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from datasets_core import config
from datasets_core.errors import DatasetDiskError, DownloadError, NonMatchingChecksumError, OfflineError
from datasets_core.fetch.checksums import VerificationMode
from datasets_core.fetch.downloads import DownloadManager

BODY = bytes(range(256)) * 4000


def read(path):
    return Path(path).read_bytes()


def test_the_second_time_nothing_is_sent_if_the_server_says_unchanged(site, manager, faults, policy, cache_dir):
    site.pages["/a"] = faults.page(BODY)
    first = manager.download(site.at("/a"))
    assert DownloadManager(retries=policy).download(site.at("/a")) == first
    assert site.heads("if-none-match") == [None, '"v1"']


def test_a_changed_file_is_fetched_again_and_the_old_one_stays_for_its_readers(site, manager, faults):
    site.pages["/a"] = faults.page(b"old")
    old = manager.download(site.at("/a"))
    site.pages["/a"] = faults.page(b"new", etag='"v2"')
    new = manager.download(site.at("/a"))
    assert (read(old), read(new)) == (b"old", b"new")


def test_a_date_serves_where_there_is_no_etag(site, manager, faults):
    site.pages["/a"] = faults.page(b"old", etag=None, last_modified=faults.http_date(faults.now))
    first = manager.download(site.at("/a"))
    assert manager.download(site.at("/a")) == first
    site.pages["/a"] = faults.page(b"new", etag=None, last_modified=faults.http_date(faults.now + 60))
    assert read(manager.download(site.at("/a"))) == b"new"


def test_without_use_etag_the_server_is_not_asked(site, manager, faults):
    manager.download_config.use_etag = False
    site.pages["/a"] = faults.page(b"a")
    manager.download(site.at("/a"))
    manager.download(site.at("/a"))
    assert len(site.requests) == 1


def test_force_download_fetches_again(site, manager, faults):
    site.pages["/a"] = faults.page(b"old")
    manager.download(site.at("/a"))
    site.pages["/a"] = faults.page(b"new")
    manager.download_config.force_download = True
    assert read(manager.download(site.at("/a"))) == b"new"


def test_offline_the_cache_is_used_and_else_an_error_says_so(site, manager, faults):
    site.pages["/a"] = site.pages["/b"] = faults.page(b"a")
    path = manager.download(site.at("/a"))
    with config.using(offline=True):
        assert manager.download(site.at("/a")) == path
        with pytest.raises(OfflineError, match="/b: is not in the cache"):
            manager.download(site.at("/b"))
    assert len(site.requests) == 1


def test_local_files_only_is_offline_for_one_manager(site, manager):
    manager.download_config.local_files_only = True
    with pytest.raises(OfflineError, match="local_files_only"):
        manager.download(site.at("/b"))


def test_a_server_that_is_gone_leaves_the_cache_in_use(site, manager, faults, caplog):
    site.pages["/a"] = faults.page(b"a")
    path = manager.download(site.at("/a"))
    site.pages["/a"].faults.extend([faults.answering(503)] * 2)
    assert manager.download(site.at("/a")) == path
    assert "cannot be checked for a newer version" in caplog.text


def test_a_cut_file_in_the_cache_is_fetched_again(site, manager, faults):
    site.pages["/a"] = faults.page(BODY)
    path = manager.download(site.at("/a"))
    os.truncate(path, 10)
    assert read(manager.download(site.at("/a"))) == BODY


def test_all_checks_notice_altered_bytes_in_the_cache(site, manager, faults):
    site.pages["/a"] = faults.page(BODY)
    path = Path(manager.download(site.at("/a")))
    path.write_bytes(b"x" + BODY[1:])
    manager.verification = VerificationMode.ALL_CHECKS
    assert read(manager.download(site.at("/a"))) == BODY


def test_a_finished_cache_serves_from_a_disk_that_cannot_be_written(site, manager, faults, cache_dir):
    site.pages["/a.gz"] = faults.page(gzip.compress(b"a"))
    path = manager.download_and_extract(site.at("/a.gz"))
    before = {name: os.stat(cache_dir / name).st_mtime_ns for name in os.listdir(cache_dir)}
    for name in list(before):
        if name.endswith(".lock"):
            os.unlink(cache_dir / name)
            del before[name]
    assert manager.download_and_extract(site.at("/a.gz")) == path
    assert {name: os.stat(cache_dir / name).st_mtime_ns for name in os.listdir(cache_dir)} == before


def test_threads_that_ask_together_fetch_once(site, manager, faults, policy):
    site.pages["/a"] = faults.page(BODY)
    places, settings = [], config.settings()
    barrier = threading.Barrier(8)

    def ask():
        with config.using(settings):
            barrier.wait()
            places.append(DownloadManager(retries=policy).download(site.at("/a")))

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(places)) == 1
    assert len(places) == 8
    assert len([1 for headers in site.heads("if-none-match") if headers is None]) == 1


def test_two_processes_that_ask_together_fetch_once(site, manager, faults, cache_dir):
    began, go_on = threading.Event(), threading.Event()

    def slowly(handler, page):
        began.set()
        go_on.wait(30)
        handler.serve(page)

    site.pages["/a"] = faults.page(BODY, faults=[slowly])
    code = (
        "import sys; from datasets_core import config; from datasets_core.fetch.downloads import DownloadManager\n"
        "print('up', flush=True)\n"
        "with config.using(cache_dir=sys.argv[1]): print(DownloadManager().download(sys.argv[2]), flush=True)"
    )
    command = [sys.executable, "-c", code, str(cache_dir.parent), site.at("/a")]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as one,
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as two,
    ):
        assert one.stdout.readline() == two.stdout.readline() == "up\n"
        assert began.wait(30)
        go_on.set()
        assert one.stdout.readline() == two.stdout.readline() != ""
    assert [headers for headers in site.heads("if-none-match") if headers is None] == [None]


def test_eight_processes_that_load_a_url_together_fetch_it_once(site, faults, tmp_path, until):
    def whole():
        return [1 for _, headers in site.requests if "range" not in headers]

    def slowly(handler, page):
        if "range" not in handler.headers:  # all of them have asked for the version
            until(lambda: len(site.requests) - len(whole()) >= 8)
        handler.serve(page)

    site.pages["/a.csv"] = faults.page(b"a\n1\n2\n", faults=[slowly] * 40)
    code = (
        "import os, sys\n"
        "from datasets_core import load_dataset\n"
        "import datasets_core.building.write.build, datasets_core.fetch.cache\n"
        "for number in range(8):\n"
        "    if not os.fork():\n"
        "        os.write(1, b'up\\n')\n"
        "        rows = load_dataset('csv', data_files=sys.argv[1], names=[str(number)], skiprows=1, split='train')\n"
        "        os.write(1, f'{rows[:]}\\n'.encode())\n"
        "        os._exit(0)\n"
        "print([os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(8)])\n"
    )
    command = [sys.executable, "-c", code, site.at("/a.csv")]
    environ = {**os.environ, "HF_DATASETS_CACHE": str(tmp_path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environ) as program:
        assert [program.stdout.readline() for _ in range(8)] == ["up\n"] * 8
        lines = program.stdout.read().splitlines()
    assert sorted(lines[:-1]) == [f"{{'{number}': [1, 2]}}" for number in range(8)]
    assert lines[-1] == str([0] * 8)
    assert len(whole()) == 1


def test_a_full_disk_is_told_before_it_is_full(site, manager, faults, monkeypatch, cache_dir):
    def declared(handler, page):
        handler.answer(200, {}, b"", length=1 << 60)

    site.pages["/a"] = faults.page(b"", faults=[declared])
    with pytest.raises(DatasetDiskError) as caught:
        manager.download(site.at("/a"))
    assert caught.value.needed == 1 << 60
    assert not [name for name in os.listdir(cache_dir) if ".part" in name]


def test_offline_mode_reads_what_needs_no_network(manager, tmp_path):
    import zipfile

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("a.csv", "inner")
    with config.using(offline=True):
        assert read(manager.download(f"zip://a.csv::{tmp_path}/a.zip")) == b"inner"
        with pytest.raises(OfflineError):
            manager.download("http://127.0.0.1:9/key")
        manager.download_config.local_files_only = True
        with pytest.raises(OfflineError):
            manager.download("s3://bucket/key")


def test_the_version_is_that_of_the_server_and_nothing_is_fetched(site, manager, faults):
    site.pages["/a"] = faults.page(b"old")
    assert manager.versions([site.at("/a")]) == {site.at("/a"): '"v1"'}
    manager.download(site.at("/a"))
    site.pages["/a"] = faults.page(b"new", etag='"v2"')
    assert manager.versions([site.at("/a")]) == {site.at("/a"): '"v2"'}
    manager.download_config.use_etag = False
    assert manager.versions([site.at("/a")]) == {site.at("/a"): '"v1"'}


def test_the_version_in_the_cache_holds_while_the_server_is_not_there(site, manager, faults):
    site.pages["/a"] = site.pages["/b"] = faults.page(b"a")
    manager.download(site.at("/a"))
    with config.using(offline=True):
        assert manager.versions([site.at("/a")]) == {site.at("/a"): '"v1"'}
        with pytest.raises(OfflineError, match="/b: is not in the cache"):
            manager.versions([site.at("/b")])
    site.pages["/a"].faults.extend([faults.answering(503)] * 2)
    assert manager.versions([site.at("/a")]) == {site.at("/a"): '"v1"'}


def test_a_server_in_trouble_is_asked_for_the_version_again(site, manager, faults):
    site.pages["/a"] = faults.page(b"a", faults=[faults.answering(503)] * 4)
    assert manager.versions([site.at("/a")]) == {site.at("/a"): '"v1"'}


def test_a_server_without_versions_tells_none(site, manager, faults):
    site.pages["/a"] = faults.page(b"a", etag=None)
    assert manager.versions([site.at("/a")]) == {site.at("/a"): ""}


def sending(body):
    return lambda handler, page: handler.answer(200, {"ETag": '"v1"'}, body)


def test_bytes_that_flip_on_their_way_are_fetched_again_in_every_checking_mode(site, manager, faults):
    for mode in (VerificationMode.BASIC_CHECKS, VerificationMode.ALL_CHECKS):
        url = site.at(f"/{mode}")
        site.pages[f"/{mode}"] = faults.page(BODY, faults=[sending(b"X" + BODY[1:])])
        manager.verification, manager.expected = mode, {url: record_of_bytes(BODY)}
        assert read(manager.download(url)) == BODY


def test_an_outdated_sha256_is_told_and_refused_under_all_checks_only(site, manager, faults, caplog):
    url = site.at("/a")
    site.pages["/a"] = faults.page(BODY)
    manager.expected = {url: {"num_bytes": len(BODY), "checksum": "0" * 64}}
    assert read(manager.download(url)) == BODY
    assert "all_checks" in caplog.text
    manager.verification = VerificationMode.ALL_CHECKS
    with pytest.raises(NonMatchingChecksumError):
        manager.download(url)


def test_bytes_that_are_others_each_time_are_refused(site, manager, faults, cache_dir):
    url = site.at("/a")
    site.pages["/a"] = faults.page(BODY, faults=[sending(b"X" + BODY[1:]), sending(b"Y" + BODY[1:])])
    manager.expected = {url: record_of_bytes(BODY)}
    with pytest.raises(DownloadError, match="content in each download"):
        manager.download(url)
    assert [name for name in os.listdir(cache_dir) if not name.endswith(".lock")] == []


def test_a_cut_content_encoding_names_the_url(site, manager, faults, cache_dir):
    site.pages["/a.csv"] = faults.page(gzip.compress(BODY)[:-20], headers={"Content-Encoding": "gzip"})
    with pytest.raises(DownloadError, match=r"/a\.csv: the server sends damaged data: the gz stream is truncated") as caught:
        manager.download(site.at("/a.csv"))
    assert ".part" not in str(caught.value)
    assert [name for name in os.listdir(cache_dir) if not name.endswith(".lock")] == []


def record_of_bytes(body):
    return {"num_bytes": len(body), "checksum": hashlib.sha256(body).hexdigest()}


@pytest.mark.parametrize("body", [b"", b"a", b"body"])
@pytest.mark.parametrize("ranged", [True, False])
def test_the_version_is_that_of_the_file_and_costs_a_byte(range_server, cache_dir, policy, body, ranged):
    range_server.ranged = ranged
    url = range_server.put("a.txt", body, tag="v1")
    manager = DownloadManager(retries=policy)
    assert manager.versions([url]) == {url: '"v1"'}
    assert range_server.num_bytes <= (1 if ranged else len(body))
    path = manager.download(url)
    range_server.reset()
    assert manager.versions([url]) == {url: '"v1"'} and manager.download(url) == path
    assert range_server.num_bytes <= 2 * (1 if ranged else len(body))
    range_server.put("a.txt", b"another", tag="v2")
    assert manager.versions([url]) == {url: '"v2"'}
    with open(manager.download(url), "rb") as file:
        assert file.read() == b"another"
