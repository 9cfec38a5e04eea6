"""How much a stream fetches: the beginning of a compressed file or tar, one member of a zip, the footers of skipped shards."""

from __future__ import annotations

import base64
import gzip
import io
import json
import random
import tarfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from datasets_core import load_dataset
from datasets_core.fetch.streaming import StreamingDownloadManager

_RANDOM = random.Random(0)
_ROWS_OF_SHARD = 2000
_TAIL_BYTES = 64 << 10


def _text(num_bytes: int) -> str:
    return base64.b64encode(_RANDOM.randbytes(num_bytes)).decode()


def _jsonl_gz() -> bytes:
    return gzip.compress(b"".join(json.dumps({"i": i, "t": _text(450)}).encode() + b"\n" for i in range(9600)))


def _tar() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number in range(200):
            for extension, body in (("bin", _RANDOM.randbytes(100_000)), ("json", b'{"i": %d}' % number)):
                member = tarfile.TarInfo(f"{number:04}.{extension}")
                member.size = len(body)
                archive.addfile(member, io.BytesIO(body))
    return out.getvalue()


def _zip() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(12):
            rows = "".join(f"{i},{_text(650)}\n" for i in range(1500))
            archive.writestr(f"data/{number}.csv", f"i,t\n{rows}")
    return out.getvalue()


def _shard(number: int, kind: str) -> bytes:
    out = io.BytesIO()
    rows = range(number * _ROWS_OF_SHARD, (number + 1) * _ROWS_OF_SHARD)
    table = pa.table({"i": list(rows), "t": [_text(375) for _ in rows]})
    if kind == "parquet":
        pq.write_table(table, out)
    else:
        with pa.ipc.new_file(out, table.schema) as writer:
            writer.write_table(table, max_chunksize=500)
    return out.getvalue()


class _Places:
    """A server of ranges, or a Hub; what it sends of one file is counted."""

    def __init__(self, kind: str, range_server: Any, hub: Any) -> None:
        self.kind, self._server, self._hub = kind, range_server, hub

    def put(self, files: dict[str, bytes]) -> list[str]:
        if self.kind == "http":
            return [self._server.put(name, data) for name, data in files.items()]
        self._hub.repo("org/name", files)
        self._hub.forget()
        return [f"hf://datasets/org/name/{name}" for name in files]

    @property
    def requests(self) -> list[Any]:
        return list(self._server.requests if self.kind == "http" else self._hub.requests)

    @property
    def num_bytes(self) -> int:
        if self.kind == "http":
            return int(self._server.num_bytes)
        return sum(each.num_bytes for each in self._hub.requests if each.kind in ("resolve", "storage") and each.status < 300)


@pytest.fixture(params=["http", "hub"])
def places(request: pytest.FixtureRequest, range_server: Any, hub: Any) -> _Places:
    return _Places(request.param, range_server, hub)


def _streamed(name: str, urls: list[str]) -> Any:
    return load_dataset(name, data_files=urls, split="train", streaming=True)


def test_the_first_rows_of_a_compressed_file_take_its_beginning(places: _Places) -> None:
    data = _jsonl_gz()
    (url,) = places.put({"rows.jsonl.gz": data})
    assert [row["i"] for row in _streamed("json", [url]).take(5)] == list(range(5))
    assert places.num_bytes <= 0.15 * len(data)


def test_the_first_rows_of_a_tar_take_its_beginning(places: _Places) -> None:
    data = _tar()
    (url,) = places.put({"rows.tar": data})
    assert [row["json"]["i"] for row in _streamed("webdataset", [url]).take(3)] == [0, 1, 2]
    assert places.num_bytes <= 0.15 * len(data)


def _tar_of_csv(sizes: list[int], *, is_sorted: bool = True) -> bytes:
    out, numbers = io.BytesIO(), list(range(len(sizes)))
    if not is_sorted:
        _RANDOM.shuffle(numbers)
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number in numbers:
            body = b"n,t\n" + b"".join(f"{number:04},{_text(600)}\n".encode() for _ in range(sizes[number] // 806))
            member = tarfile.TarInfo(f"data/{number:04}.csv")
            member.size = len(body)
            archive.addfile(member, io.BytesIO(body))
    return out.getvalue()


@pytest.mark.parametrize("sizes", [[100_000] * 200, [1_500_000 + 90_000 * number for number in range(12)]])
def test_the_members_of_a_tar_are_read_one_by_one(places: _Places, sizes: list[int]) -> None:
    data = _tar_of_csv(sizes)
    (url,) = places.put({"rows.tar": data})
    rows = _streamed("csv", [url])
    assert [row["n"] for row in rows.take(5)] == [0] * 5
    assert places.num_bytes <= 0.15 * len(data)
    found = list(rows)
    assert places.num_bytes <= 1.25 * len(data)
    assert found == load_dataset("csv", data_files=[url], split="train").to_list()


def test_members_of_a_tar_are_read_at_the_same_time(places: _Places) -> None:
    sizes = [1_500_000] * 8
    data = _tar_of_csv(sizes)
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        contents = {member.name: archive.extractfile(member).read() for member in archive}  # type: ignore[union-attr]
    (url,) = places.put({"rows.tar": data})
    archive_there = StreamingDownloadManager().download(url)
    assert archive_there.members() == list(contents)

    def read(name: str) -> bool:
        with (archive_there.unpacked() / name).open("rb") as file:
            parts = [file.read(100_000)]
            file.seek(-5, io.SEEK_CUR)
            assert file.read(5) == parts[0][-5:]
            return b"".join([*parts, *iter(lambda: file.read(70_000), b"")]) == contents[name]

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(read, contents))


@pytest.mark.parametrize("sizes", [[100_000] * 60, [60_000 + 1_000 * number for number in range(80)]])
def test_a_tar_whose_members_take_many_requests_is_fetched_whole(places: _Places, sizes: list[int]) -> None:
    data = _tar_of_csv(sizes, is_sorted=len(set(sizes)) > 1)
    (url,) = places.put({"rows.tar": data})
    rows = list(_streamed("csv", [url]))
    assert [row["n"] for row in rows] == sorted(row["n"] for row in rows)
    assert {row["n"] for row in rows} == set(range(len(sizes)))
    assert places.num_bytes <= len(data) + (5 << 18)
    assert sum(each.num_bytes == len(data) for each in places.requests) == 1


def test_a_tar_of_a_server_without_ranges_is_fetched_whole(range_server: Any) -> None:
    data = _tar_of_csv([100_000] * 60)
    range_server.ranged = False
    url = range_server.put("rows.tar", data)
    rows = list(_streamed("csv", [url]))
    assert [row["n"] for row in rows] == sorted(row["n"] for row in rows)
    assert len(range_server.requests) <= 3  # its head, and all of it


@pytest.mark.parametrize("how", ["opened", "path", "chained", "chained path"])
def test_one_member_of_a_zip_is_fetched_alone(places: _Places, how: str) -> None:
    data = _zip()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        member = archive.getinfo("data/5.csv")
        content = archive.read(member)
    (url,) = places.put({"rows.zip": data})
    manager = StreamingDownloadManager()
    if "chained" in how:
        file = manager.download(f"zip://data/5.csv::{url}")
    else:
        file = manager.download_and_extract(url) / "data/5.csv"
    if "path" in how:
        with open(file, "rb") as opened:
            assert opened.read() == content
    else:
        assert file.read_bytes() == content
    assert places.num_bytes <= 1.1 * member.compress_size


def test_the_members_of_a_zip_are_read_one_by_one(places: _Places) -> None:
    data = _zip()
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        sizes = [each.compress_size for each in archive.infolist()]
    (url,) = places.put({"rows.zip": data})
    rows = _streamed("csv", [url])
    assert [row["i"] for row in rows.take(5)] == list(range(5))
    assert places.num_bytes <= 1.1 * max(sizes)
    assert [row["i"] for row in rows] == 12 * list(range(1500))
    assert places.num_bytes <= 1.1 * (sum(sizes) + max(sizes))
    built = load_dataset("csv", data_files=[url], split="train")
    assert built.to_list() == list(rows)


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_skipped_shards_cost_their_footers(places: _Places, kind: str) -> None:
    files = {f"{number}.{kind}": _shard(number, kind) for number in range(9)}
    urls = places.put(files)
    skipped = 8 * _ROWS_OF_SHARD + 500
    assert [row["i"] for row in _streamed(kind, urls).skip(skipped).take(2)] == [skipped, skipped + 1]
    assert places.num_bytes <= len(files) * _TAIL_BYTES + len(files[f"8.{kind}"])


@pytest.mark.parametrize(("size", "count"), [(1_500_000, 20), (400_000, 60), (100_000, 200)])
def test_a_member_deep_in_a_tar_costs_the_headers_before_it(places: _Places, size: int, count: int) -> None:
    out, deep = io.BytesIO(), count * 3 // 4
    with tarfile.open(fileobj=out, mode="w") as archive:
        for number in range(count):
            member = tarfile.TarInfo(f"data/{number:04}.bin")
            member.size = size
            archive.addfile(member, io.BytesIO(bytes([number]) * size))
    (url,) = places.put({"rows.tar": out.getvalue()})
    file = StreamingDownloadManager().download_and_extract(url) / f"data/{deep:04}.bin"
    assert file.read_bytes() == bytes([deep]) * size
    assert places.num_bytes <= 0.05 * len(out.getvalue()) + size


def test_shards_without_footers_are_skipped_when_their_rows_were_counted(places: _Places) -> None:
    names = range(9)
    shards = [
        b"".join(json.dumps({"i": each * 2000 + i, "t": _text(375)}).encode() + b"\n" for i in range(2000)) for each in names
    ]
    urls = places.put({f"{each}.jsonl": shards[each] for each in names})
    skipped = 8 * 2000 + 500
    for most in (sum(map(len, shards)), len(shards[0]) + len(shards[8])):  # the first tells the columns
        before = places.num_bytes
        assert [row["i"] for row in _streamed("json", urls).skip(skipped).take(2)] == [skipped, skipped + 1]
        assert places.num_bytes - before <= most
