"""Which builder reads which format, by the entry point group `datasets_core.builders`.

A package adds a format with an entry point `name = "module:Class"` and, beside the class, `EXTENSIONS`: a mapping of file
extension to the default options of that extension.  `companions(options)` beside it names files that come along with those
of the format and have the extension of another.
"""

from __future__ import annotations

import importlib
import sys
import threading
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import DataFilesWarning, MissingDependencyError, PluginError, UnknownFormatError
from datasets_core.meta.extensions import COMPRESSION, FORMATS, RECORD_INDEX, extensions, is_bare_shard

GROUP = "datasets_core.builders"
# The formats of this library in the order that wins a tie between extensions.  A checkout that is not installed has no entry
# points, and a warm load has no 10 ms to look for any.
BUILT_IN = {
    "parquet": "datasets_core.builders.parquet:Parquet",
    "arrow": "datasets_core.builders.arrow:Arrow",
    "json": "datasets_core.builders.json:Json",
    "csv": "datasets_core.builders.csv:Csv",
    "imagefolder": "datasets_core.builders.imagefolder:ImageFolder",
    "audiofolder": "datasets_core.builders.audiofolder:AudioFolder",
    "videofolder": "datasets_core.builders.videofolder:VideoFolder",
    "pdffolder": "datasets_core.builders.pdffolder:PdfFolder",
    "webdataset": "datasets_core.builders.webdataset:WebDataset",
    "tfrecord": "datasets_core.builders.tfrecord:TfRecord",
    "hdf5": "datasets_core.builders.hdf5:Hdf5",
    "xml": "datasets_core.builders.xml:Xml",
    "conll": "datasets_core.builders.conll:Conll",
    "fasta": "datasets_core.builders.fasta:Fasta",
    "fastq": "datasets_core.builders.fastq:Fastq",
    "meshfolder": "datasets_core.builders.meshfolder:MeshFolder",
    "niftifolder": "datasets_core.builders.niftifolder:NiftiFolder",
    "pandas": "datasets_core.builders.pandas:Pandas",
    "sql": "datasets_core.builders.sql:Sql",
    "croissant": "datasets_core.builders.croissant:Croissant",
    "text": "datasets_core.builders.text:Text",
}
_classes: dict[str, type[DatasetBuilder]] = {}
_lock = threading.RLock()


def known_formats() -> tuple[str, ...]:
    """The names of all formats, those of other packages last."""
    return (*BUILT_IN, *sorted(_plugins().keys() - BUILT_IN.keys()))


def is_format(name: str) -> bool:
    """Whether `name` is a format; other packages are asked only for a name that could be one."""
    return name in BUILT_IN or (name.replace("-", "_").isidentifier() and name in _plugins())


def builder_class(name: str) -> type[DatasetBuilder]:
    """The class that reads the format `name`.

    Raises:
        UnknownFormatError: no package has such a format.
        PluginError: the package that has it is broken.
    """
    home = BUILT_IN.get(name) or _plugins().get(name)
    if home is None:
        raise UnknownFormatError(name, known=known_formats())
    found = _classes.get(home)
    if found is None:
        with _lock:
            found = _classes[home] = _load(name, home)
    return found


def format_of(path: str) -> tuple[str, Mapping[str, Any]] | None:
    """The format of a file by its extension, and the options that the extension asks for; None if no format claims it.

    The last extension that is known decides, so that compression suffixes are seen through.  Shards without any extension are
    files of records, and the index of such a file is no data.

    >>> format_of("a.tsv.gz"), format_of("a.gz"), format_of("train-00000-of-00128")
    (('csv', {'sep': '\\t'}), None, ('tfrecord', {}))
    """
    for number, extension in enumerate(extensions(path)):
        if extension == RECORD_INDEX and not number:
            return None
        found = _by_extension(extension)
        if found is not None:
            return found
    return ("tfrecord", {}) if is_bare_shard(path) else None


def is_archive(path: str) -> bool:
    """Whether the file's name says that it holds other files."""
    return any(extension in {".zip", ".tar", ".tgz"} for extension in extensions(path))


def archive_format(path: str, members: Sequence[str]) -> tuple[str, Mapping[str, Any]] | None:
    """The format that reads an archive as a whole, by its name and its first members; None where its members are files.

    A module says so by `claims(members)` beside `EXTENSIONS`.
    """
    for extension in extensions(path):
        if extension not in COMPRESSION:
            return None
        found = _built_in_by_extension(".tar" if extension == ".tgz" else extension)
        if found is not None and getattr(_module_of(found[0]), "claims", lambda _: False)(members):
            return found
    return None


def companions(name: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of files that come along with those of the format `name`, such as the `metadata.csv` of images."""
    found: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = getattr(_module_of(name), "companions", None)
    return () if found is None else found(options)


DESCRIPTIONS = {"croissant.json": "croissant"}
"""Files with a format of their own, whatever their extension says, where they are named or are all that there is."""


def description_names(name: str) -> tuple[str, ...]:
    """What the one file of a folder is called that a format reads, the first that is there; none for formats of data files."""
    found: tuple[str, ...] = getattr(_module_of(name), "FILE_NAMES", ())
    return found


def rank(name: str) -> int:
    """The place of a format in the order that breaks ties."""
    return list(BUILT_IN).index(name) if name in BUILT_IN else known_formats().index(name)


def _by_extension(extension: str) -> tuple[str, Mapping[str, Any]] | None:
    if extension in COMPRESSION:
        return None
    return _built_in_by_extension(extension) or _plugin_by_extension(extension, tuple(sys.path))


@lru_cache(maxsize=512)
def _built_in_by_extension(extension: str) -> tuple[str, Mapping[str, Any]] | None:
    name = FORMATS.get(extension)
    return None if name is None else (name, _extensions_of(name)[extension])


@lru_cache(maxsize=512)
def _plugin_by_extension(extension: str, _search_path: tuple[str, ...]) -> tuple[str, Mapping[str, Any]] | None:
    for name in sorted(_plugins().keys() - BUILT_IN.keys()):
        try:
            options = _extensions_of(name).get(extension)
        except (PluginError, MissingDependencyError) as error:
            warnings.warn(f"{error} Files are not tried with the format {name!r}.", DataFilesWarning, stacklevel=2)
            continue
        if options is not None:
            return name, options
    return None


def _extensions_of(name: str) -> Mapping[str, Mapping[str, Any]]:
    found: Mapping[str, Mapping[str, Any]] = getattr(_module_of(name), "EXTENSIONS", {})
    return found


def _module_of(name: str) -> ModuleType:
    return sys.modules[builder_class(name).__module__]


def _plugins() -> Mapping[str, str]:
    return _installed(tuple(sys.path))


@lru_cache(maxsize=4)
def _installed(_search_path: tuple[str, ...]) -> Mapping[str, str]:
    from importlib.metadata import entry_points  # 8 ms that a built-in format does without

    return {point.name: point.value for point in entry_points(group=GROUP)}


def _load(name: str, home: str) -> type[DatasetBuilder]:
    module_name, _, class_name = home.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except MissingDependencyError:
        raise
    except Exception as error:
        raise PluginError(
            f"The format {name!r} is registered as {home!r}, which cannot be imported: {type(error).__name__}: {error}. "
            "Update or remove the package that registers it."
        ) from error
    if not (isinstance(found, type) and issubclass(found, DatasetBuilder)):
        raise PluginError(f"The format {name!r} is registered as {home!r}, which is no DatasetBuilder. Name a subclass of it.")
    return found
