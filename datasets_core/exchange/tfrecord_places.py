"""Where TFRecord files go: their names, and files that stand there when all of them are whole."""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from typing import IO, Any

from datasets_core import files
from datasets_core.errors import ArgumentTypeError, ConfigurationError, FileInPlaceError
from datasets_core.records.inflated import checked_compression
from datasets_core.store.swap import StagedFolder
from datasets_core.stream.streamed import at_least_one

_NAME = "data.tfrecord"  # of a file in a folder
_ENDINGS = {".gz": "GZIP"}
_NUMBERED = re.compile(r"-\d{5,}-of-\d{5,}")


def compression_for(target: Any, compression: str | None) -> str:
    """How files are compressed: "GZIP", "ZLIB", or "" for not at all.

    Args:
        target: a path, whose ending tells where nobody says, or a file.
        compression: as the user gives it.

    Raises:
        ConfigurationError: another one.
        ArgumentTypeError: the file is open for text.

    >>> compression_for("a.tfrecord.gz", None), compression_for("a.tfrecord", "zlib"), compression_for("a.gz", "")
    ('GZIP', 'ZLIB', '')
    """
    if isinstance(target, io.TextIOBase):
        raise ArgumentTypeError(f"{target!r} is open for text. Open it for bytes, with the mode 'wb'.")
    checked = checked_compression(compression)
    if checked is not None:
        return checked
    if not isinstance(target, (str, os.PathLike)):
        return ""
    return next((kind for ending, kind in _ENDINGS.items() if str(os.fspath(target)).endswith(ending)), "")


def record_path(given: Any) -> str:
    """The path or URL that the user names; in a folder, of a file with a name of its own.

    Raises:
        ArgumentTypeError: it is none.
        ConfigurationError: it is an open file, and shards are asked for.

    >>> record_path("memory://out/")
    'memory://out/data.tfrecord'
    """
    if hasattr(given, "write"):
        raise ConfigurationError("num_shards is for paths, and a file was given. Give the path of the files.")
    if not isinstance(given, (str, os.PathLike)) or not isinstance(path := os.fspath(given), str):
        raise ArgumentTypeError(f"{given!r} is neither a path nor a file. Give a path, a URL, or a file open for bytes.")
    local = None if files.is_url(path) else files.local_path(path)
    if path.endswith(("/", os.sep)) or (local is not None and os.path.isdir(local)):
        return files.join(local or path, _NAME)
    return local or path


def written_through(target: Any) -> AbstractContextManager[IO[bytes]] | None:
    """What is written as the rows come: a file of the user's, or a device or a pipe; None for other paths."""
    if hasattr(target, "write"):
        return nullcontext(target)
    if not isinstance(target, (str, os.PathLike)) or files.is_url(path := str(os.fspath(target))):
        return None
    path = files.local_path(path)
    is_special = os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path)
    return open(path, "wb") if is_special else None


def shard_paths(path: str, num_shards: Any) -> list[str]:
    """The files of a path: itself, or `<path>-00000-of-00003` and so on, as readers of shards know them.

    Args:
        path: path or URL.
        num_shards: how many files are asked for; None: the path itself.

    Raises:
        ConfigurationError: a number below 1.

    >>> shard_paths("a.tfrecord", 2)
    ['a.tfrecord-00000-of-00002', 'a.tfrecord-00001-of-00002']
    """
    if num_shards is None:
        return [path]
    count = at_least_one("num_shards", num_shards)
    return [f"{path}-{number:05d}-of-{count:05d}" for number in range(count)]


def refuse_others(path: str, names: Sequence[str]) -> None:
    """Refuse to write local shards among those of another number: whoever reads all of them would read both.

    Raises:
        ConfigurationError: the first of them.
    """
    folder, base = os.path.split(os.path.abspath(path))
    if files.is_url(path) or not os.path.isdir(folder):
        return
    own = set(map(os.path.basename, names))
    for name in sorted(os.listdir(folder)):
        if name.startswith(base) and _NUMBERED.fullmatch(name, len(base)) and name not in own:
            raise ConfigurationError(
                f"{os.path.join(folder, name)} stands there already, from a write of another number of shards. Remove its "
                "files, or choose another name."
            )


class RecordPlaces:
    """Files that are written one after the other.

    Local files appear together when the block ends well: until then they are in a hidden folder beside, which is gone with the
    block; what a killed process left of one, the next write removes.  An object of a store is there when it is whole.

    Args:
        paths: of the files.
        storage_options: for the file system of URLs.
    """

    def __init__(self, paths: Sequence[str], storage_options: dict[str, Any] | None) -> None:
        self._paths, self._options = paths, storage_options
        self._stack = ExitStack()
        self._staged: StagedFolder | None = None

    def __enter__(self) -> RecordPlaces:
        if not files.is_url(self._paths[0]):
            self._paths = list(map(os.path.realpath, self._paths))  # a link stays a link
            folder, name = os.path.split(self._paths[0])
            with files.disk_errors(folder):
                try:
                    os.makedirs(folder, exist_ok=True)
                except (FileExistsError, NotADirectoryError) as error:
                    raise FileInPlaceError(folder) from error
            self._staged = self._stack.enter_context(StagedFolder(os.path.join(folder, f".{name}")))
        return self

    @contextmanager
    def opened(self, number: int) -> Iterator[IO[bytes]]:
        """The file of a number, to be written from front to back."""
        if self._staged is None:
            with files.new_file(self._paths[number], self._options) as out:
                yield out
            return
        with files.disk_errors(self._paths[number]), open(os.path.join(self._staged.path, str(number)), "wb") as out:
            yield out

    def __exit__(self, kind: type[BaseException] | None, *error: Any) -> None:
        with self._stack:
            if kind is None and self._staged is not None:
                for number, path in enumerate(self._paths):
                    with files.disk_errors(path):
                        os.replace(os.path.join(self._staged.path, str(number)), path)
