import io
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from datasets_core.errors import (
    ArgumentTypeError,
    ConfigurationError,
    DataFilesNotFoundError,
    DownloadError,
    FileChangedError,
    FileFormatError,
)
from datasets_core.fetch.streaming import place_of
from datasets_core.records.reader import RecordFile, record_file

DATA = bytes(range(200))


def read(file: RecordFile) -> tuple[bytes, int | None]:
    with file.opened() as (stream, size):
        return b"".join(iter(lambda: stream.read(64), b"")), size


@pytest.mark.parametrize("kind", ["path", "text", "url", "file", "http", "remote", "memory"])
def test_any_bytes_of_any_file(kind: str, tmp_path: Path, range_server: Any) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(DATA)
    with open(path, "rb") as handle:
        places: dict[str, Any] = {
            "path": path,
            "text": str(path),
            "url": f"file://{path}",
            "file": handle,
            "memory": io.BytesIO(DATA),
        }
        if kind in ("http", "remote"):
            url = range_server.put("a.bin", DATA)
            places |= {"http": url, "remote": place_of(url)}
        file = record_file(places[kind])
        assert read(file) == (DATA, None if kind in ("file", "memory") else 200)
        assert read(file)[0] == DATA
        assert file.version().size == 200
        assert (file.at(3, 9), file.at(190, 300), file.at(200, 300), file.at(300, 400)) == (DATA[3:9], DATA[190:], b"", b"")
        assert file.name.endswith("a.bin") or kind == "memory"
        file.close()


def test_an_open_file_is_read_from_where_it_stands() -> None:
    data = io.BytesIO(DATA)
    data.seek(50)
    file = record_file(data)
    assert file.at(0, 3) == DATA[50:53]
    assert read(file)[0] == read(file)[0] == DATA[50:]
    assert (file.version().size, data.closed) == (150, False)


def test_a_pipe_is_read_once() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source:
        with open(writing, "wb") as target:
            target.write(DATA)
        file = record_file(source)
        assert read(file)[0] == DATA
        with pytest.raises(ConfigurationError, match="can be read once"):
            read(file)
        with pytest.raises(ConfigurationError, match="can be read once"):
            file.at(0, 1)


def test_a_named_pipe_has_no_size_and_no_places(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=path.write_bytes, args=(DATA,))
    writer.start()
    assert read(record_file(path)) == (DATA, None)
    writer.join()


def test_what_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(DataFilesNotFoundError, match=r"none\.bin does not exist"):
        read(record_file(tmp_path / "none.bin"))
    with pytest.raises(DataFilesNotFoundError):
        record_file(tmp_path / "none.bin").at(0, 1)
    with pytest.raises(FileFormatError, match="is a folder"):
        read(record_file(tmp_path))
    with pytest.raises(ArgumentTypeError, match="A int is not a file"):
        record_file(3)  # type: ignore[arg-type]
    with pytest.raises(DownloadError, match="does not support reading parts"):
        record_file("/dev/null").at(0, 1)


@pytest.mark.parametrize("how", ["grows", "shrinks", "is written anew"])
def test_a_file_that_changes_while_it_is_read(how: str, tmp_path: Path) -> None:
    path = tmp_path / "a.bin"
    path.write_bytes(DATA)
    file = record_file(path)
    file.at(0, 4)
    with file.opened() as (stream, _):
        assert stream.read(64) == DATA[:64]
        path.write_bytes({"grows": DATA * 2, "shrinks": DATA[:50], "is written anew": DATA[::-1]}[how])
        os.utime(path, ns=(0, 10**18))
        with pytest.raises(FileChangedError, match="changed while it was read"):
            stream.read(64)
    with pytest.raises(FileChangedError):
        file.at(0, 4)
    with pytest.raises(FileChangedError):
        file.version()
    assert record_file(path).at(0, 1) in (DATA[:1], DATA[-1:])


def test_names_show_no_secrets() -> None:
    assert record_file("https://me:secret@127.0.0.1/a.tfrecord?sig=x").name == "https://***@127.0.0.1/a.tfrecord?sig=***"
