"""Where golden data are, and the one place where their source files stand while they are used.

Keys of builds hold the absolute path, the size and the time of every source file, so that these stand at the same path, with
the same times, whoever made the data and whoever reads them: in `SOURCES`.  All who use them share a lock; the last one removes
them.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import io
import json
import os
import shutil
import sys
import tarfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import datasets_core

DATA = Path(__file__).with_name("data")
ROOT = Path("/tmp/datasets_core_golden")
SOURCES = ROOT / "sources"
TIME = 1_700_000_000
"""The time of every source file, in seconds."""
_PAUSE = 0.05


def versions() -> dict[str, str]:
    """What decides about bytes beside the library: Python about those of code, Arrow about those of schemas and files."""
    import numpy
    import pyarrow

    python = ".".join(map(str, sys.version_info[:2]))
    return {"python": python, "pyarrow": pyarrow.__version__, "numpy": numpy.__version__.partition(".")[0],
            "library": datasets_core.__version__}  # fmt: skip


# -- data --------------------------------------------------------------------------------------------------------------


def write_json(name: str, content: Any) -> None:
    """Write a file of golden data, with the versions that it was made with; compressed where it is called so."""
    text = json.dumps({"versions": versions(), "content": content}, indent=1, ensure_ascii=False).encode() + b"\n"
    (DATA / name).write_bytes(_zipped(text) if name.endswith(".gz") else text)


def read_json(name: str) -> tuple[Any, dict[str, str]]:
    """The content of a file of golden data, and the versions that it was made with."""
    data = (DATA / name).read_bytes()
    found = json.loads(gzip.decompress(data) if name.endswith(".gz") else data)
    return found["content"], found["versions"]


def same(made: dict[str, str], *names: str) -> bool:
    """Whether golden data were made with the same versions of these as are used now."""
    return all(made[name] == versions()[name] for name in names)


def _zipped(data: bytes) -> bytes:
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9, mtime=0) as zipped:
        zipped.write(data)
    return out.getvalue()


# -- trees -------------------------------------------------------------------------------------------------------------


def pack(folder: Path, name: str) -> None:
    """Write a folder as an archive: in order, with the times in whole seconds, and with nothing of a user or a machine."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for path in sorted(folder.rglob("*")):
            info = archive.gettarinfo(str(path), str(path.relative_to(folder)))
            info.uid = info.gid = 0
            info.uname = info.gname = ""
            info.mode = 0o755 if info.isdir() else 0o644
            info.mtime = TIME
            if info.isreg():
                with path.open("rb") as source:
                    archive.addfile(info, source)
            else:
                archive.addfile(info)
    (DATA / name).write_bytes(_zipped(out.getvalue()))


def unpack(name: str, folder: Path, inner: str = "") -> Path:
    """The folder that an archive holds, as it was packed; or one in it, used just now: caches drop what is old."""
    with tarfile.open(DATA / name) as archive:
        found = [info for info in archive if not inner or info.name.startswith(f"{inner}/")]
        archive.extractall(folder, members=found, filter="data")
        if inner:
            for info in found:
                os.utime(folder / info.name, follow_symlinks=False)
    return folder / inner


def moved(folder: Path, old: str, new: str) -> Path:
    """A folder whose journals of writes name another place for it: they say where the files are to be."""
    for journal in folder.rglob("*.writing/journal.jsonl"):
        journal.write_text(journal.read_text().replace(old, new))
    return folder


def listed(folder: Path) -> dict[str, tuple[int, int]]:
    """Inode and size of every file below a folder: what is written again is another file."""
    return {
        str(path.relative_to(folder)): ((status := path.stat()).st_ino, status.st_size)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


@contextlib.contextmanager
def standing_sources() -> Iterator[str]:
    """The folder of the source files, as long as anybody uses it."""
    with open(f"{ROOT}.lock", "w") as lock:
        while True:
            fcntl.flock(lock, fcntl.LOCK_SH)
            if _stands():
                break
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:  # others use them, or lay them now
                time.sleep(_PAUSE)
                continue
            if not _stands():
                shutil.rmtree(SOURCES, ignore_errors=True)
                unpack("sources.tar.gz", SOURCES)
        try:
            yield str(SOURCES)
        finally:
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(ROOT, ignore_errors=True)


def _stands() -> bool:
    with tarfile.open(DATA / "sources.tar.gz") as archive:
        wanted = {info.name: archive.extractfile(info).read() for info in archive if info.isreg()}  # type: ignore[union-attr]
    for name, content in wanted.items():
        path = SOURCES / name
        if not path.is_file() or path.stat().st_mtime_ns != TIME * 10**9 or path.read_bytes() != content:
            return False
    return True
