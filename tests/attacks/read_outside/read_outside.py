"""Reads files that are not its own, by every function that opens one."""

import csv
import ctypes
import ctypes.util
import fileinput
import importlib.util
import io
import linecache
import mmap
import os
import pathlib
import shutil
import sqlite3
import struct
import sys
import tarfile
import tokenize
import zipfile

import numpy
import pandas
import pyarrow
import pyarrow.csv
import pyarrow.dataset
import pyarrow.fs
import pyarrow.json
import pyarrow.parquet

from .attacker import LIBC, WHERE, Attacker, attempt, system_call

SECRET = WHERE["secret"]
O_PATH = os.O_PATH


def _whole(descriptor):
    try:
        return os.read(descriptor, 4096)
    finally:
        os.close(descriptor)


def _by_path_descriptor():
    descriptor = os.open(SECRET, O_PATH)
    return open(f"/proc/self/fd/{descriptor}").read()


def _reopened():
    descriptor = os.open(SECRET, O_PATH)
    return _whole(os.open("", os.O_RDONLY, dir_fd=descriptor))


def _by_folder_descriptor():
    folder = os.open(os.path.dirname(SECRET), O_PATH | os.O_DIRECTORY)
    return _whole(os.open(os.path.basename(SECRET), os.O_RDONLY, dir_fd=folder))


def _by_changed_folder():
    here = os.getcwd()
    os.chdir(os.path.dirname(SECRET))
    try:
        return open(os.path.basename(SECRET)).read()
    finally:
        os.chdir(here)


def _by_symlink():
    os.symlink(SECRET, "link")
    return open("link").read()


def _by_raw_symlink():
    system_call("symlinkat", os.fsencode(SECRET), -100, b"raw_link")
    return open("raw_link").read()


def _by_hard_link():
    os.link(SECRET, "hard")
    return open("hard").read()


def _by_rename():
    os.rename(SECRET, "stolen")
    return open("stolen").read()


def _libc_read(descriptor):
    if descriptor < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return _whole(descriptor)


def _openat2():
    how = struct.pack("=QQQ", os.O_RDONLY, 0, 0)
    return _whole(system_call("openat2", -100, os.fsencode(SECRET), how, len(how)))


def _fopen():
    LIBC.fopen.restype = ctypes.c_void_p
    found = LIBC.fopen(os.fsencode(SECRET), b"r")
    if not found:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    text = ctypes.create_string_buffer(4096)
    LIBC.fread(text, 1, 4096, ctypes.c_void_p(found))
    return text.value


def _mapped():
    with open(SECRET, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as place:
        return bytes(place)


def _sent():
    """sendfile and copy_file_range from a descriptor that only names the file."""
    descriptor = os.open(SECRET, O_PATH)
    with open("copy", "w+b") as file:
        os.sendfile(file.fileno(), descriptor, 0, 4096)
        file.seek(0)
        return file.read()


def _attached():
    database = sqlite3.connect(":memory:")
    database.execute("ATTACH DATABASE ? AS other", (WHERE["database"],))
    return database.execute("SELECT * FROM other.secrets").fetchall()


def _extended():
    database = sqlite3.connect(":memory:")
    database.enable_load_extension(True)
    return database.load_extension(SECRET)


def _imported(path):
    spec = importlib.util.spec_from_file_location("secret", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)["TOKEN"]


def _by_sys_path():
    sys.path.insert(0, WHERE["project"])
    try:
        import project_secrets

        return project_secrets.TOKEN
    finally:
        sys.path.remove(WHERE["project"])


def _by_dlopen():
    try:
        return ctypes.CDLL(SECRET)
    except OSError as error:  # the loader opens a file first, and then says that it is no library
        if "invalid ELF" in str(error) or "too short" in str(error):
            return str(error)
        raise


def _by_manager(name):
    def way():
        found = getattr(WHERE["manager"], name)(SECRET)
        return open(found).read() if isinstance(found, str) else [open(path).read() for path in found]

    return way


def _walked():
    (_, file), *_ = WHERE["manager"].iter_archive(WHERE["archive"])
    return file.read()


def ways():
    """Each way, with its name."""
    for name in ("secret", "other_dataset", "project_file", "passwd", "token_file", "other_scratch", "shadow_copy"):
        yield f"open {name}", lambda place=WHERE[name]: open(place, "rb").read()
    yield "os.open", lambda: _whole(os.open(SECRET, os.O_RDONLY))
    yield "io.FileIO", lambda: io.FileIO(SECRET).read()
    yield "io.open_code", lambda: io.open_code(SECRET).read()
    yield "pathlib", lambda: pathlib.Path(SECRET).read_text()
    yield "path with dots", lambda: open(f"{os.getcwd()}/../../../../../../../../../..{SECRET}").read()
    yield (
        "path beside the script",
        lambda: open(os.path.join(os.path.dirname(__file__), os.path.relpath(SECRET, os.path.dirname(__file__)))).read(),
    )
    yield "proc root", lambda: open(f"/proc/self/root{SECRET}").read()
    yield "proc cwd", lambda: open(f"/proc/self/cwd/{os.path.relpath(SECRET)}").read()
    yield "O_PATH and /proc/self/fd", _by_path_descriptor
    yield "O_PATH opened again", _reopened
    yield "dir_fd", _by_folder_descriptor
    yield "chdir", _by_changed_folder
    yield "symlink", _by_symlink
    yield "raw symlink", _by_raw_symlink
    yield "hard link", _by_hard_link
    yield "rename", _by_rename
    yield "shutil.copy", lambda: open(shutil.copy(SECRET, "copied")).read()
    yield "libc open", lambda: _libc_read(LIBC.open(os.fsencode(SECRET), os.O_RDONLY))
    yield "libc openat", lambda: _libc_read(LIBC.openat(-100, os.fsencode(SECRET), os.O_RDONLY))
    yield "raw openat", lambda: _whole(system_call("openat", -100, os.fsencode(SECRET), os.O_RDONLY, 0))
    yield "raw openat2", _openat2
    yield "libc fopen", _fopen
    yield "mmap", _mapped
    yield "sendfile", _sent
    yield "dlopen", _by_dlopen
    yield "linecache", lambda: linecache.getlines(SECRET)
    yield "tokenize", lambda: tokenize.open(SECRET).read()
    yield "fileinput", lambda: list(fileinput.input([SECRET]))
    yield "csv", lambda: list(csv.reader(open(SECRET)))
    yield "zipfile", lambda: zipfile.ZipFile(WHERE["archive"]).namelist()
    yield "tarfile", lambda: tarfile.open(WHERE["archive"]).getnames()
    yield "numpy.fromfile", lambda: numpy.fromfile(SECRET, dtype="uint8").tobytes()
    yield "numpy.memmap", lambda: numpy.memmap(SECRET, dtype="uint8", mode="r").tobytes()
    yield "numpy.loadtxt", lambda: numpy.loadtxt(SECRET, dtype=str).tolist()
    yield "pyarrow.memory_map", lambda: pyarrow.memory_map(SECRET).read()
    yield "pyarrow.OSFile", lambda: pyarrow.OSFile(SECRET).read()
    yield "pyarrow.fs", lambda: pyarrow.fs.LocalFileSystem().open_input_stream(SECRET).read()
    yield "pyarrow.csv", lambda: pyarrow.csv.read_csv(SECRET).to_pydict()
    yield "pyarrow.json", lambda: pyarrow.json.read_json(SECRET).to_pydict()
    yield "pyarrow.parquet", lambda: pyarrow.parquet.read_table(WHERE["parquet"]).to_pydict()
    yield "pyarrow.dataset", lambda: pyarrow.dataset.dataset(WHERE["parquet"]).to_table().to_pydict()
    yield "pandas.read_csv", lambda: pandas.read_csv(SECRET).to_dict()
    yield "pandas.read_csv by arrow", lambda: pandas.read_csv(SECRET, engine="pyarrow").to_dict()
    yield "pandas.read_parquet", lambda: pandas.read_parquet(WHERE["parquet"]).to_dict()
    yield "sqlite3", lambda: sqlite3.connect(WHERE["database"]).execute("SELECT * FROM secrets").fetchall()
    yield (
        "sqlite3 by uri",
        lambda: sqlite3.connect(f"file:{WHERE['database']}?immutable=1", uri=True).execute("SELECT * FROM secrets").fetchall(),
    )
    yield "sqlite3 attach", _attached
    yield "sqlite3 extension", _extended
    yield "import", lambda: _imported(os.path.join(WHERE["project"], "project_secrets.py"))
    yield "sys.path", _by_sys_path
    if WHERE["phase"] == "split_generators":
        yield "manager.download", _by_manager("download")
        yield "manager.download with file://", lambda: open(WHERE["manager"].download(f"file://{SECRET}")).read()
        yield "manager.extract", _by_manager("extract")
        yield "manager.download_and_extract", _by_manager("download_and_extract")
        yield "manager.iter_files", _by_manager("iter_files")
        yield "manager.iter_archive", _walked


attempt("import", ways)


class ReadOutside(Attacker):
    """Reads."""

    ways = staticmethod(ways)
