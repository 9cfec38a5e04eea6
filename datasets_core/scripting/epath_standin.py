"""`etils.epath`, and the paths that TFDS builders get: those of `pathlib`, with the verbs that etils adds."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path as _LibraryPath
from typing import Any

from datasets_core.errors import ConfigurationError
from datasets_core.files import is_url
from datasets_core.scripting.calling_script import script_folder

PathLike = str | os.PathLike[str]
PathLikeCls = (str, os.PathLike)
_Kind: Any = type(_LibraryPath())
_SCHEMES = ("gs:/", "s3:/", "http:/", "https:/")  # of which pathlib drops a slash


class Path(_Kind):  # type: ignore[misc]  # that of this system
    """A path of this machine, with what `epath.Path` can do beyond `pathlib.Path`.

    >>> path = Path("a") / "b.txt"
    >>> type(path) is Path, path.name, path.format(1), Path("{}").format("x") == Path("x")
    (True, 'b.txt', Path('a/b.txt'), True)
    >>> str(Path("gs://bucket") / "a")
    'gs://bucket/a'
    """

    def __str__(self) -> str:
        text: str = super().__str__()
        return text.replace(":/", "://", 1) if text.startswith(_SCHEMES) and "://" not in text else text

    def __fspath__(self) -> str:
        return str(self)

    def format(self, *args: Any, **kwargs: Any) -> Path:
        """The path with its braces filled in, as those of a text."""
        return type(self)(str(self).format(*args, **kwargs))

    def copy(self, dst: PathLike, overwrite: bool = False) -> Path:
        """Copy the file.

        Raises:
            FileExistsError: there is one already, and it is not to be replaced.
        """
        self._check_free(dst, overwrite)
        shutil.copyfile(self, dst)
        return type(self)(dst)

    def copytree(self, dst: PathLike) -> Path:
        """Copy the folder, with all that is in it."""
        shutil.copytree(self, dst)
        return type(self)(dst)

    def rmtree(self, missing_ok: bool = False) -> None:
        """Remove the folder, with all that is in it."""
        if not missing_ok or self.exists():
            shutil.rmtree(self)

    def _check_free(self, path: PathLike, overwrite: bool) -> None:
        if not overwrite and os.path.exists(path):
            raise FileExistsError(f"{os.fspath(path)!r} is there already. Give overwrite=True, or another name.")

    def mkdir(self, mode: int | None = None, parents: bool = False, exist_ok: bool = False) -> None:
        """Make a folder."""
        super().mkdir(0o777 if mode is None else mode, parents=parents, exist_ok=exist_ok)

    def open(self, mode: str = "r", encoding: str | None = None, errors: str | None = None, **kwargs: Any) -> Any:
        """The file, opened; texts are UTF-8."""
        return super().open(mode, encoding=_encoding(mode, encoding), errors=errors, **kwargs)

    def read_text(self, encoding: str | None = None, errors: str | None = None) -> str:
        """The text of the file, which is UTF-8."""
        found: str = super().read_text(encoding or "utf-8", errors)
        return found

    def write_text(self, data: str, encoding: str | None = None, errors: str | None = None, **kwargs: Any) -> int:
        """Write a text into the file, as UTF-8."""
        count: int = super().write_text(data, encoding or "utf-8", errors, **kwargs)
        return count

    if sys.version_info < (3, 12):

        def walk(
            self, top_down: bool = True, on_error: Any = None, follow_symlinks: bool = False
        ) -> Iterator[tuple[Path, list[str], list[str]]]:
            """Each folder below, with the names of the folders and of the files in it."""
            for folder, folders, files in os.walk(str(self), top_down, on_error, follow_symlinks):
                yield type(self)(folder), folders, files


def _encoding(mode: str, given: str | None) -> str | None:
    return None if "b" in mode else given or "utf-8"


def as_path(path: PathLike) -> Path:
    """A path, given as text or as another path.

    >>> as_path("a/b").name
    'b'

    Raises:
        ConfigurationError: it is a URL.
    """
    text = os.fspath(path)
    if is_url(text) and not text.startswith("file://"):
        raise ConfigurationError(f"{text!r} is on no disk of this machine. Fetch it by dl_manager.download.")
    return Path(text.removeprefix("file://"))


def resource_path(package: Any) -> Path:
    """The folder of the files of a package; for one of an old library, that of the calling script.

    >>> resource_path("json").name
    'json'
    """
    import importlib.util

    name = package if isinstance(package, str) else package.__name__
    found = None if name.startswith("tensorflow_datasets") else importlib.util.find_spec(name)
    places = [] if found is None else list(found.submodule_search_locations or [])
    return Path(places[0] if places else script_folder() or os.curdir)
