"""Registry of formats: the builder of each in the entry point group `datasets_core.builders`; detection of the format of files.

A package adds a format with an entry point `name = "module:Class"` and, in the class or next to it, `EXTENSIONS`: a mapping of
file extension to the default options of that extension.  `companions(options)` next to it returns names of files that accompany
those of the format but have another extension.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
import threading
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice
from types import MappingProxyType, ModuleType
from typing import Any, BinaryIO, NamedTuple

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DataFilesWarning,
    DatasetNotFoundError,
    MissingDependencyError,
    PluginError,
    UnknownFormatError,
)
from datasets_core.meta.data_files import DataFilesDict, DataFilesList, infer_splits
from datasets_core.meta.listings import COMPRESSION, FORMATS, RECORD_INDEX, extensions, is_bare_shard

GROUP = "datasets_core.builders"
# The formats of this library, in order of precedence between extensions.  A checkout that is not installed has no entry
# points, and loading a prepared dataset cannot spend 10 ms on searching for any.
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
    "orc": "datasets_core.builders.binary:Orc",
    "avro": "datasets_core.builders.binary:Avro",
    "numpy": "datasets_core.builders.binary:Numpy",
    "excel": "datasets_core.builders.binary:Excel",
    "sqlite": "datasets_core.builders.binary:Sqlite",
    "croissant": "datasets_core.builders.croissant:Croissant",
    "text": "datasets_core.builders.text:Text",
}
_classes: dict[str, type[DatasetBuilder]] = {}
_registered: dict[str, str] = {}
_lock = threading.RLock()


def register_format(name: str, builder: type[DatasetBuilder]) -> None:
    """Add a format of data files in this process; an entry point in `datasets_core.builders` adds one in all processes.

    Args:
        name: name for `load_dataset(name, data_files=...)`; it replaces a format added before.
        builder: reads the format. `EXTENSIONS` in its module maps the extensions of its files to default options.

    Raises:
        ConfigurationError: the library itself has a format of that name.

    Example:
        >>> from datasets_core.builders.text import Text
        >>> class Notes(Text):
        ...     name, is_format, cache_version = "notes", True, "1"
        >>> register_format("notes", Notes)
        >>> is_format("notes")
        True
    """
    if name in BUILT_IN:
        raise ConfigurationError(f"{name!r} is a format of the library", advice="Use another name", value=name)
    home = f"{builder.__module__}:{builder.__qualname__}"
    with _lock:
        _registered[name], _classes[home] = home, builder
        _plugin_by_extension.cache_clear()


def known_formats() -> tuple[str, ...]:
    """Return the names of all formats, those of other packages last."""
    return (*BUILT_IN, *sorted(_plugins().keys() - BUILT_IN.keys()))


def is_format(name: str) -> bool:
    """Return True if `name` is a format; other packages are only searched for a valid name."""
    return name in BUILT_IN or (name.replace("-", "_").isidentifier() and name in _plugins())


def builder_class(name: str) -> type[DatasetBuilder]:
    """Return the class that reads the format `name`.

    Raises:
        UnknownFormatError: no package provides the format.
        PluginError: the package that provides it cannot be imported.
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
    """Return the format of a file by its extension, and the options of the extension; None if no format claims it.

    The last known extension decides, so compression suffixes are ignored.  Shards without any extension are
    files of records, and the index of such a file is not data.

    >>> format_of("a.tsv.gz"), format_of("a.gz"), format_of("train-00000-of-00128")
    (('csv', {'sep': '\\t'}), None, ('tfrecord', {}))
    """
    own = os.path.splitext(path)[1].lower() if files.is_local_path(path) else ""
    if own in FORMATS and own not in COMPRESSION:
        return _built_in_by_extension(own)
    for number, extension in enumerate(extensions(path)):
        if extension == RECORD_INDEX and not number:
            return None
        found = _by_extension(extension)
        if found is not None:
            return found
    return ("tfrecord", {}) if is_bare_shard(path) else None


def is_archive(path: str) -> bool:
    """Return True if the extension of a file is that of an archive."""
    return any(extension in {".zip", ".tar", ".tgz"} for extension in extensions(path))


def archive_format(path: str, members: Sequence[str]) -> tuple[str, Mapping[str, Any]] | None:
    """Return the format that reads an archive completely, by its name and first members; None if its members are files.

    A module declares it by `claims(members)` next to `EXTENSIONS`.
    """
    for extension in extensions(path):
        if extension not in COMPRESSION:
            return None
        found = _built_in_by_extension(".tar" if extension == ".tgz" else extension)
        if found is not None and getattr(_module_of(found[0]), "claims", lambda _: False)(members):
            return found
    return None


def companions(name: str, options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of files that accompany those of the format `name`, such as the `metadata.csv` of images."""
    found: Callable[[Mapping[str, Any]], tuple[str, ...]] | None = getattr(_module_of(name), "companions", None)
    return () if found is None else found(options)


DESCRIPTIONS = {"croissant.json": "croissant"}
"""Files with a special format independent of their extension, if they are named or are the only files."""


def description_names(name: str) -> tuple[str, ...]:
    """Return the names of the single file of a folder that a format reads, by precedence; empty for formats of data files."""
    found: tuple[str, ...] = getattr(_module_of(name), "FILE_NAMES", ())
    return found


def rank(name: str) -> int:
    """Return the position of a format in the order that breaks ties."""
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
            warnings.warn(f"{error} The format {name!r} is ignored.", DataFilesWarning, stacklevel=2)
            continue
        if options is not None:
            return name, options
    return None


def _extensions_of(name: str) -> Mapping[str, Mapping[str, Any]]:
    own: Mapping[str, Mapping[str, Any]] | None = getattr(builder_class(name), "EXTENSIONS", None)
    return getattr(_module_of(name), "EXTENSIONS", {}) if own is None else own


def _module_of(name: str) -> ModuleType:
    return sys.modules[builder_class(name).__module__]


def _plugins() -> Mapping[str, str]:
    return {**_installed(tuple(sys.path)), **_registered}


@lru_cache(maxsize=4)
def _installed(_search_path: tuple[str, ...]) -> Mapping[str, str]:
    from importlib.metadata import entry_points  # takes 8 ms; a built-in format does not need it

    return {point.name: point.value for point in entry_points(group=GROUP)}


def _load(name: str, home: str) -> type[DatasetBuilder]:
    module_name, _, class_name = home.partition(":")
    try:
        found = getattr(importlib.import_module(module_name), class_name)
    except MissingDependencyError:
        raise
    except Exception as error:
        raise PluginError(
            f"The format {name!r} is registered as {home!r}, which cannot be imported: {type(error).__name__}: {error}",
            advice="Update or remove the package that registers it",
        ) from error
    if not (isinstance(found, type) and issubclass(found, DatasetBuilder)):
        raise PluginError(
            f"The format {name!r} is registered as {home!r}, which is not a subclass of DatasetBuilder",
            advice="Register a subclass",
        )
    return found


# The format of a set of data files, and the files of other formats.


_ARCHIVES = 10  # number of archives opened per split
_MEMBERS = 100  # number of members read per archive
_SHOWN = 5
# Names that accompany data, and are left out without a warning.
_PAPERS = frozenset(("license", "licence", "copying", "notice", "readme", "changelog", "citation", "authors", "makefile"))
_PAPER_EXTENSIONS = (".md", ".py", ".cff", ".bib", ".lock")

Choice = tuple[str, tuple[tuple[str, Any], ...]]


class Format(NamedTuple):
    """A format for a set of files.

    Attributes:
        name: name in the registry.
        options: default options of the extension.
        files: the files of this format.
    """

    name: str
    options: Mapping[str, Any]
    files: DataFilesDict


def infer_format(
    data_files: DataFilesDict,
    *,
    dataset: str,
    options: Mapping[str, Any] = MappingProxyType({}),
    opened: Callable[[str], BinaryIO] | None = None,
) -> Format:
    """Return the most frequent format among the extensions, with its files.

    Archives are opened only if no other file has a known format.  A warning names files that are left out.

    Args:
        data_files: the files by split.
        dataset: its name for messages.
        options: options of the builder, from the user or the card; they may define accompanying files.
        opened: opens archives on the Hub.

    Raises:
        DataFilesNotFoundError: no file has a known format.
        ConfigurationError: the formats of two splits differ.
    """
    found = _choices(path for paths in data_files.values() for path in paths)
    winners = {split: _winner(paths, found, opened) for split, paths in data_files.items()}
    kinds = {winner for winner in winners.values() if winner is not None}
    if not kinds:
        raise DataFilesNotFoundError(
            f"{dataset!r} has no file of a known format: {_shown(found)}. "
            f"Pass the format, as in load_dataset('csv', data_files=…). Available formats: {', '.join(known_formats())}.",
            value=dataset,
        )
    if len(kinds) > 1:
        told = ", ".join(f"{split!r} is {winner[0]}" for split, winner in winners.items() if winner)
        raise ConfigurationError(
            f"The splits of {dataset!r} have different formats: {told}", advice="Load each split with its own data_files"
        )
    name, extension_options = winner = kinds.pop()
    beside = companions(name, options)
    kept = DataFilesDict({split: _kept(paths, found, winner, beside) for split, paths in data_files.items()})
    kept = _with_companions(DataFilesDict({split: paths for split, paths in kept.items() if paths}), data_files, beside)
    _warn_of(data_files, kept, name, dataset)
    return Format(name, dict(extension_options), kept)


def keep_format(
    data_files: DataFilesDict, name: str, *, dataset: str, options: Mapping[str, Any] = MappingProxyType({})
) -> DataFilesDict:
    """Return the files with an extension of the format `name`, or all files without any.  A warning lists skipped files."""
    found = _choices(path for paths in data_files.values() for path in paths)
    chosen = {path for path, choice in found.items() if choice is not None and choice[0] == name}
    if not chosen:
        return data_files
    beside = companions(name, options)
    chosen |= {path for path in found if _file_name(path) in beside or (beside and is_archive(path))}
    kept = DataFilesDict({split: paths.keep(chosen) for split, paths in data_files.items()})
    kept = _with_companions(DataFilesDict({split: paths for split, paths in kept.items() if paths}), data_files, beside)
    _warn_of(data_files, kept, name, dataset)
    return kept


def _with_companions(kept: DataFilesDict, data_files: DataFilesDict, names: Container[str]) -> DataFilesDict:
    """Return the files with those of `names` outside the splits, which belong to all splits."""
    shared = [entry for entry in data_files.unclaimed if entry.size >= 0 and _file_name(entry.path) in names]
    if not shared:
        return kept
    more = DataFilesList.from_entries(shared)
    return DataFilesDict(
        {
            split: DataFilesList([*paths, *more], (*paths.identities, *more.identities), paths.links)
            for split, paths in kept.items()
        }
    )


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _choices(paths: Iterable[str]) -> dict[str, Choice | None]:
    """Return the format of each path; looked up once for all names with the same extension, local or on the Hub."""
    known: dict[str, Choice | None] = {}
    found: dict[str, Choice | None] = {}
    for path in paths:
        is_elsewhere = files.is_url(path) and ("::" in path or not path.startswith("hf://"))
        ending = path if is_elsewhere or "-of-" in path else path.rpartition("/")[2].lstrip(".").partition(".")[2]
        if ending not in known:
            known[ending] = _choice(path)
        found[path] = known[ending]
    return found


def _choice(path: str) -> Choice | None:
    found = format_of(path)
    return found and (found[0], tuple(sorted(found[1].items())))


def _winner(
    paths: Iterable[str], found: Mapping[str, Choice | None], opened: Callable[[str], BinaryIO] | None
) -> Choice | None:
    listed = list(paths)
    counts = Counter(choice for path in listed if (choice := found[path]) is not None)
    if len(counts) > 1:
        counts = _counted((path, choice) for path in listed if (choice := found[path]) is not None)
    if not counts or all(_is_metadata(path) for path in listed if found[path] is not None):
        inside = _counted(_in_archives(listed, opened))
        if not counts or any(companions(name, {}) for name, _ in inside):
            counts = inside
    if not counts:
        return None
    return min(counts, key=lambda choice: (-counts[choice], rank(choice[0]), choice[1]))


def _counted(choices: Iterable[tuple[str, Choice]]) -> Counter[Choice]:
    """Return the number of files of each format; metadata that describe files of another format do not count."""
    listed = list(choices)
    counts = Counter(choice for _, choice in listed)
    if len(counts) > 1 and any(companions(name, {}) for name, _ in counts):
        return Counter(choice for path, choice in listed if not _is_metadata(path))
    return counts


def _is_metadata(path: str) -> bool:
    return _file_name(path).startswith("metadata.")


def _archives(paths: Iterable[str]) -> Iterable[str]:
    readable = (path for path in paths if is_archive(path) and not files.is_http(path.rpartition("::")[2]))
    return islice(readable, _ARCHIVES)


def _in_archives(paths: Iterable[str], opened: Callable[[str], BinaryIO] | None) -> Iterator[tuple[str, Choice]]:
    """Yield the formats in archives; on the Hub only the first non-empty one is opened, since each costs requests."""
    for path in _archives(paths):
        found = list(_inside(path, opened))
        yield from found
        if found and path.startswith("hf://"):
            return


def _inside(path: str, opened: Callable[[str], BinaryIO] | None) -> Iterable[tuple[str, Choice]]:
    from datasets_core.fetch.archive import walk  # takes 6 ms; plain files do not need it
    from datasets_core.fetch.extract import is_hidden

    is_on_hub = opened is not None and path.startswith("hf://")
    with opened(path) if is_on_hub and opened else contextlib.nullcontext(path) as source:
        members = [
            member.path
            for member, _ in islice(walk(source, known_as=path), _MEMBERS)
            if member.kind == "file" and not any(is_hidden(part) for part in member.path.split("/"))
        ]
    whole = archive_format(path, members)
    if whole is not None:
        return [(path, (whole[0], tuple(sorted(whole[1].items()))))]
    return [(member, choice) for member in members if (choice := _choice(member)) is not None]


def in_archive(path: str, shown: str) -> tuple[str, Mapping[str, Any], Any]:
    """Return the format of the files in a local archive, its options, and its `data_files`: by split, if it has several.

    Splits follow from the names of the members, as in a folder. Media builders get the archive for each split and divide it.

    Args:
        path: the archive.
        shown: its name for the user.

    Raises:
        DatasetNotFoundError: no member has a known format.
    """
    from datasets_core.fetch.archive import walk  # takes 6 ms, as above
    from datasets_core.fetch.extract import is_hidden

    listed = (member.path for member, _ in islice(walk(path, known_as=path), _MOST_MEMBERS) if member.kind == "file")
    members = [member for member in listed if not any(is_hidden(part) for part in member.split("/"))]
    whole = archive_format(path, members[:_MEMBERS])
    if whole is not None:
        return (*whole, path)
    choices = {member: _choice(member) for member in members}
    winner = _winner([member for member in members if not is_archive(member)], choices, None)
    if winner is None:
        few, more = ", ".join(map(repr, members[:5])), f" and {len(members) - 5:,} more" if len(members) > 5 else ""
        raise DatasetNotFoundError(
            f"{shown!r} is an archive without files of a known format: it contains {few or 'no files'}{more}",
            advice=f"Extract it and check its files, or pass their format: load_dataset('csv', data_files={shown!r})",
            value=shown,
        )
    name, options = winner[0], dict(winner[1])
    chosen = [member for member in members if choices[member] == winner]
    splits = infer_splits(chosen)
    if len(splits) < 2:
        return name, options, path
    if hasattr(_module_of(name), "companions"):
        return name, options, {split: [path] for split in splits}
    is_zip = path.lower().endswith(".zip")
    work = 0 if is_zip else len(chosen) * os.path.getsize(path)  # a tar is read up to each member
    if len(members) == _MOST_MEMBERS or work > _MOST_BYTES:
        told = f"{path} is read as one split, though its files are named as several: {', '.join(splits)}"
        warnings.warn(f"{told}. Extract it and load the folder to get these splits.", DataFilesWarning, stacklevel=2)
        return name, options, path
    scheme = "zip" if is_zip else "tar"
    return name, options, {split: [f"{scheme}://{member}::{path}" for member in found] for split, found in splits.items()}


_MOST_MEMBERS = 10_000
_MOST_BYTES = 1 << 30


def _kept(paths: DataFilesList, found: Mapping[str, Choice | None], winner: Choice, beside: Container[str]) -> DataFilesList:
    if any(found[path] is not None for path in paths):
        kept = [path for path in paths if found[path] == winner]
        if len(kept) < len(paths) and (beside or not kept):
            others = (path for path in paths if found[path] != winner)
            kept += [path for path in others if _file_name(path) in beside or is_archive(path)]
        return paths if len(kept) == len(paths) else paths.keep(kept)
    return paths.keep([path for path in paths if is_archive(path)])


def _warn_of(data_files: DataFilesDict, kept: DataFilesDict, name: str, dataset: str) -> None:
    used = {path for paths in kept.values() for path in paths}
    others = (path for paths in data_files.values() for path in paths if path not in used and not _is_paper(path))
    left = [path for path in others if path.removesuffix(RECORD_INDEX) not in used]
    if left:
        warnings.warn(
            f"{dataset!r} is read as {name}; skipped: {_shown(left)}. Choose files with data_files=.",
            DataFilesWarning,
            stacklevel=2,
        )


def _is_paper(path: str) -> bool:
    name = path.rpartition("/")[2].lower()
    return (
        name.partition(".")[0] in _PAPERS or name == "checksums.tsv" or any(name.endswith(each) for each in _PAPER_EXTENSIONS)
    )


def _shown(paths: Iterable[str]) -> str:
    listed = list(paths)
    more = f", … ({len(listed)} in all)" if len(listed) > _SHOWN else ""
    return ", ".join(listed[:_SHOWN]) + more
