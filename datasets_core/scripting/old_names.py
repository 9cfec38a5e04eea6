"""What scripts take from inside `datasets` and what has no other home here: its lenient versions, and small helpers."""

from __future__ import annotations

import contextlib
import io
import os
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
import pyarrow as pa

from datasets_core import files
from datasets_core._version import __version__
from datasets_core.features.cast import cast_table
from datasets_core.features.schema import Features
from datasets_core.meta import version
from datasets_core.rows.arguments import parse_size
from datasets_core.store.fingerprint import Hasher

Key = int | str | tuple[int, int]


@dataclass(frozen=True, eq=False, repr=False)
class Version(version.Version):
    """A version whose numbers may have leading zeros, as dates do.

    >>> Version("2018.04.18", "the first") == "2018.4.18"
    True
    """

    def __post_init__(self) -> None:
        text: object = self.version_str
        if isinstance(text, str) and not self.is_valid(text):
            self._set(version_str=str(version.as_version(text)))
        super().__post_init__()


# -- files -------------------------------------------------------------------------------------------------------------


def xopen(file: str | os.PathLike[str], mode: str = "r", *arguments: Any, **options: Any) -> IO[Any]:
    """A file, local or at a URL, opened as `open` does.

    Args:
        file: its path or URL.
        mode: "r" or "rb" where it is a URL.
        arguments, options: those of `open`; `download_config` is left out.
    """
    options.pop("download_config", None)
    if not isinstance(file, str) or not files.is_url(file):
        return open(file, mode, *arguments, **options)
    handle = files.open_binary(file)
    options.pop("buffering", None)
    return handle if "b" in mode else io.TextIOWrapper(handle, **options)


def is_remote_url(url_or_filename: str | os.PathLike[str]) -> bool:
    """Whether a text names something behind a network.

    >>> is_remote_url("https://example.com/a"), is_remote_url("a/b.txt")
    (True, False)
    """
    text = os.fspath(url_or_filename)
    return files.is_url(text) and not text.startswith("file://")


def is_local_path(url_or_filename: str | os.PathLike[str]) -> bool:
    """Whether a text names a file of this machine.

    >>> is_local_path("a/b.txt"), is_local_path("s3://a/b")
    (True, False)
    """
    return not is_remote_url(url_or_filename)


def is_relative_path(url_or_filename: str | os.PathLike[str]) -> bool:
    """Whether a text is a path that starts from some folder.

    >>> is_relative_path("a/b.txt"), is_relative_path("/a"), is_relative_path("https://a/b")
    (True, False, False)
    """
    return not files.is_url(os.fspath(url_or_filename)) and not os.path.isabs(url_or_filename)


def url_or_path_join(base_name: str, *pathnames: str) -> str:
    """A path or URL with parts behind it.

    >>> url_or_path_join("https://example.com/a/", "b.txt")
    'https://example.com/a/b.txt'
    """
    return files.join(base_name, *pathnames)


def url_or_path_parent(url_or_path: str) -> str:
    """The folder of a path or URL.

    >>> url_or_path_parent("https://example.com/a/b.txt")
    'https://example.com/a'
    """
    return url_or_path.rpartition("/")[0] if is_remote_url(url_or_path) else os.path.dirname(url_or_path)


def hash_url_to_filename(url: str, etag: str | None = None) -> str:
    """A name for a file of a URL, which is no other URL's.

    >>> hash_url_to_filename("https://example.com/a.zip") != hash_url_to_filename("https://example.com/a.zip", "v2")
    True
    """
    return Hasher.hash([url, etag])


def get_datasets_user_agent(user_agent: str | Mapping[str, str] | None = None) -> str:
    """What scripts call themselves when they fetch files on their own.

    >>> get_datasets_user_agent({"purpose": "test"}).partition("; ")[2]
    'purpose/test'
    """
    own = f"datasets_core/{__version__}"
    more = "; ".join(f"{name}/{value}" for name, value in user_agent.items()) if isinstance(user_agent, Mapping) else user_agent
    return f"{own}; {more}" if more else own


def readline(f: Any) -> Any:
    """The next line of an open file, with its end."""
    return f.readline()


# -- values ------------------------------------------------------------------------------------------------------------


def map_nested(function: Callable[[Any], Any], data_struct: Any, dict_only: bool = False, **options: Any) -> Any:
    """What a function makes of each value in a nesting of dicts and lists, in the same nesting.

    Args:
        function: what to call.
        data_struct: the nesting.
        dict_only: lists are values too.
        options: have no effect.

    >>> map_nested(len, {"a": ["x", "yy"]}), map_nested(len, {"a": ["x", "yy"]}, dict_only=True)
    ({'a': [1, 2]}, {'a': 2})
    """
    if isinstance(data_struct, Mapping):
        return {name: map_nested(function, value, dict_only) for name, value in data_struct.items()}
    if isinstance(data_struct, (list, tuple)) and not dict_only:
        return type(data_struct)(map_nested(function, value) for value in data_struct)
    return function(data_struct)


def unique_values(values: Any) -> Iterator[Any]:
    """Each value once, in the order in which they first come.

    >>> list(unique_values("abca"))
    ['a', 'b', 'c']
    """
    return iter(dict.fromkeys(values))


def zip_dict(*dicts: Mapping[Any, Any]) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """The keys of dicts, each with its values in all of them.

    >>> list(zip_dict({"a": 1}, {"a": 2}))
    [('a', (1, 2))]
    """
    for key in unique_values(key for each in dicts for key in each):
        yield key, tuple(each[key] for each in dicts)


def convert_file_size_to_int(size: int | str) -> int:
    """A size in bytes.

    >>> convert_file_size_to_int("1MB")
    1000000
    """
    return parse_size(size) or 0


def size_str(size_in_bytes: int | None) -> str:
    """A size for people.

    >>> size_str(1536)
    '1.50 KiB'
    """
    if not size_in_bytes:
        return "Unknown size"
    for power, name in ((4, "TiB"), (3, "GiB"), (2, "MiB"), (1, "KiB")):
        if size_in_bytes >= 1024**power:
            return f"{size_in_bytes / 1024**power:.2f} {name}"
    return f"{int(size_in_bytes)} bytes"


@contextlib.contextmanager
def temp_seed(seed: int, set_pytorch: bool = False, set_tensorflow: bool = False) -> Iterator[None]:
    """Have `numpy.random` and `random` begin at a seed, and go on behind as if nothing had been.

    Args:
        seed: the seed.
        set_pytorch, set_tensorflow: have no effect.
    """
    numpy_state, state = np.random.get_state(), random.getstate()
    np.random.seed(seed)
    try:
        yield
    finally:
        np.random.set_state(numpy_state)
        random.setstate(state)


# -- tables ------------------------------------------------------------------------------------------------------------


def table_cast(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A table with the columns and types of a schema.

    Raises:
        CastError: the columns are others, or a value does not fit.

    >>> table_cast(pa.table({"a": [1]}), pa.schema({"a": pa.string()})).to_pylist()
    [{'a': '1'}]
    """
    return cast_table(table, Features.from_arrow_schema(schema), fill_missing=False)


def require_storage_cast(feature: Any) -> bool:
    """Whether a table of plain types must be cast by `table_cast`, as media, labels and arrays must."""
    return hasattr(feature, "cast_storage")
