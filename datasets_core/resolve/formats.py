"""Which format a set of data files has, and which of the files are of another."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from datasets_core import files
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DataFilesWarning
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.resolve import registry

_ARCHIVES = 10  # opened per split to look inside
_MEMBERS = 100  # looked at per archive
_SHOWN = 5
# Names that come along with data and are not missed when they are left out.
_PAPERS = frozenset(("license", "licence", "copying", "notice", "readme", "changelog", "citation", "authors", "makefile"))
_PAPER_EXTENSIONS = (".md", ".py", ".cff", ".bib", ".lock")

Choice = tuple[str, tuple[tuple[str, Any], ...]]


@dataclass(frozen=True, slots=True)
class Format:
    """A format for a set of files.

    Attributes:
        name: as the registry knows it.
        options: what the files' extension asks for.
        files: the files of this format.
    """

    name: str
    options: Mapping[str, Any]
    files: DataFilesDict


def infer_format(data_files: DataFilesDict, *, dataset: str) -> Format:
    """The most frequent format among the extensions, and the files that have it.

    Archives are looked into only where no other file tells.  A warning names files that are left out.

    Raises:
        DataFilesNotFoundError: no file is of a known format.
        ConfigurationError: two splits have different formats.
    """
    found = _choices(path for paths in data_files.values() for path in paths)
    winners = {split: _winner(paths, found) for split, paths in data_files.items()}
    kinds = {winner for winner in winners.values() if winner is not None}
    if not kinds:
        raise DataFilesNotFoundError(
            f"{dataset!r} holds no file of a known format: {_shown(found)}. "
            f"Name the format, as in load_dataset('csv', data_files=…); formats: {', '.join(registry.known_formats())}."
        )
    if len(kinds) > 1:
        told = ", ".join(f"{split!r} is {winner[0]}" for split, winner in winners.items() if winner)
        raise ConfigurationError(f"The splits of {dataset!r} have different formats: {told}. Load each by its own data_files.")
    name, options = winner = kinds.pop()
    kept = DataFilesDict({split: _kept(paths, found, winner) for split, paths in data_files.items()})
    _warn_of(data_files, kept, name, dataset)
    return Format(name, dict(options), DataFilesDict({split: paths for split, paths in kept.items() if paths}))


def keep_format(data_files: DataFilesDict, name: str, *, dataset: str) -> DataFilesDict:
    """The files whose extension is of the format `name`, or all of them where none is.  A warning names what is left out."""
    found = _choices(path for paths in data_files.values() for path in paths)
    chosen = [path for path, choice in found.items() if choice is not None and choice[0] == name]
    if not chosen:
        return data_files
    kept = DataFilesDict({split: paths.keep(chosen) for split, paths in data_files.items()})
    _warn_of(data_files, kept, name, dataset)
    return DataFilesDict({split: paths for split, paths in kept.items() if paths})


def _choices(paths: Iterable[str]) -> dict[str, Choice | None]:
    """The format of each path; asked once for all local names that end alike."""
    known: dict[str, Choice | None] = {}
    found: dict[str, Choice | None] = {}
    for path in paths:
        ending = path if files.is_url(path) else path.rpartition("/")[2].lstrip(".").partition(".")[2]
        if ending not in known:
            known[ending] = _choice(path)
        found[path] = known[ending]
    return found


def _choice(path: str) -> Choice | None:
    found = registry.format_of(path)
    return found and (found[0], tuple(sorted(found[1].items())))


def _winner(paths: Iterable[str], found: Mapping[str, Choice | None]) -> Choice | None:
    counts = Counter(choice for path in paths if (choice := found[path]) is not None)
    if not counts:
        counts = Counter(choice for path in _archives(paths) for choice in _inside(path))
    if not counts:
        return None
    return min(counts, key=lambda choice: (-counts[choice], registry.rank(choice[0]), choice[1]))


def _archives(paths: Iterable[str]) -> Iterable[str]:
    readable = (path for path in paths if registry.is_archive(path) and not files.is_http(path.rpartition("::")[2]))
    return islice(readable, _ARCHIVES)


def _inside(path: str) -> Iterable[Choice]:
    from datasets_core.fetch.archive import walk  # 6 ms that files beside archives do without
    from datasets_core.fetch.listing import is_hidden

    for member, _ in islice(walk(path), _MEMBERS):
        if member.kind == "file" and not any(is_hidden(part) for part in member.path.split("/")):
            choice = _choice(member.path)
            if choice is not None:
                yield choice


def _kept(paths: DataFilesList, found: Mapping[str, Choice | None], winner: Choice) -> DataFilesList:
    if any(found[path] is not None for path in paths):
        return paths.keep([path for path in paths if found[path] == winner])
    return paths.keep([path for path in paths if registry.is_archive(path)])


def _warn_of(data_files: DataFilesDict, kept: DataFilesDict, name: str, dataset: str) -> None:
    used = {path for paths in kept.values() for path in paths}
    left = [path for paths in data_files.values() for path in paths if path not in used and not _is_paper(path)]
    if left:
        warnings.warn(
            f"{dataset!r} is read as {name}; left out: {_shown(left)}. Name the files that you want with data_files=.",
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
