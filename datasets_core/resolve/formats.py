"""Which format a set of data files has, and which of the files are of another."""

from __future__ import annotations

import contextlib
import warnings
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from types import MappingProxyType
from typing import Any, BinaryIO

from datasets_core import files
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DataFilesWarning
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.extensions import RECORD_INDEX
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


def infer_format(
    data_files: DataFilesDict,
    *,
    dataset: str,
    options: Mapping[str, Any] = MappingProxyType({}),
    opened: Callable[[str], BinaryIO] | None = None,
) -> Format:
    """The most frequent format among the extensions, and the files that have it.

    Archives are looked into only where no other file tells.  A warning names files that are left out.

    Args:
        data_files: the files by split.
        dataset: its name for messages.
        options: what the user or the card says to the builder, which may name the companions of the files.
        opened: opens archives that lie on the Hub.

    Raises:
        DataFilesNotFoundError: no file is of a known format.
        ConfigurationError: two splits have different formats.
    """
    found = _choices(path for paths in data_files.values() for path in paths)
    winners = {split: _winner(paths, found, opened) for split, paths in data_files.items()}
    kinds = {winner for winner in winners.values() if winner is not None}
    if not kinds:
        raise DataFilesNotFoundError(
            f"{dataset!r} holds no file of a known format: {_shown(found)}. "
            f"Name the format, as in load_dataset('csv', data_files=…); formats: {', '.join(registry.known_formats())}."
        )
    if len(kinds) > 1:
        told = ", ".join(f"{split!r} is {winner[0]}" for split, winner in winners.items() if winner)
        raise ConfigurationError(f"The splits of {dataset!r} have different formats: {told}. Load each by its own data_files.")
    name, extension_options = winner = kinds.pop()
    beside = registry.companions(name, options)
    kept = DataFilesDict({split: _kept(paths, found, winner, beside) for split, paths in data_files.items()})
    kept = _with_companions(DataFilesDict({split: paths for split, paths in kept.items() if paths}), data_files, beside)
    _warn_of(data_files, kept, name, dataset)
    return Format(name, dict(extension_options), kept)


def keep_format(
    data_files: DataFilesDict, name: str, *, dataset: str, options: Mapping[str, Any] = MappingProxyType({})
) -> DataFilesDict:
    """The files whose extension is of the format `name`, or all of them where none is.  A warning names what is left out."""
    found = _choices(path for paths in data_files.values() for path in paths)
    chosen = {path for path, choice in found.items() if choice is not None and choice[0] == name}
    if not chosen:
        return data_files
    beside = registry.companions(name, options)
    chosen |= {path for path in found if _file_name(path) in beside or (beside and registry.is_archive(path))}
    kept = DataFilesDict({split: paths.keep(chosen) for split, paths in data_files.items()})
    kept = _with_companions(DataFilesDict({split: paths for split, paths in kept.items() if paths}), data_files, beside)
    _warn_of(data_files, kept, name, dataset)
    return kept


def _with_companions(kept: DataFilesDict, data_files: DataFilesDict, names: Container[str]) -> DataFilesDict:
    """The files with those of `names` that stand outside the splits, and so belong to all of them."""
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
    """The format of each path; asked once for all names that end alike, here or on the Hub."""
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
    found = registry.format_of(path)
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
        if not counts or any(registry.companions(name, {}) for name, _ in inside):
            counts = inside
    if not counts:
        return None
    return min(counts, key=lambda choice: (-counts[choice], registry.rank(choice[0]), choice[1]))


def _counted(choices: Iterable[tuple[str, Choice]]) -> Counter[Choice]:
    """How many files each format has; metadata that describe files of another format tell nothing."""
    listed = list(choices)
    counts = Counter(choice for _, choice in listed)
    if len(counts) > 1 and any(registry.companions(name, {}) for name, _ in counts):
        return Counter(choice for path, choice in listed if not _is_metadata(path))
    return counts


def _is_metadata(path: str) -> bool:
    return _file_name(path).startswith("metadata.")


def _archives(paths: Iterable[str]) -> Iterable[str]:
    readable = (path for path in paths if registry.is_archive(path) and not files.is_http(path.rpartition("::")[2]))
    return islice(readable, _ARCHIVES)


def _in_archives(paths: Iterable[str], opened: Callable[[str], BinaryIO] | None) -> Iterator[tuple[str, Choice]]:
    """What archives hold; of those on the Hub one is asked, the first that holds something, since each costs requests."""
    for path in _archives(paths):
        found = list(_inside(path, opened))
        yield from found
        if found and path.startswith("hf://"):
            return


def _inside(path: str, opened: Callable[[str], BinaryIO] | None) -> Iterable[tuple[str, Choice]]:
    from datasets_core.fetch.archive import walk  # 6 ms that files beside archives do without
    from datasets_core.fetch.listing import is_hidden

    is_on_hub = opened is not None and path.startswith("hf://")
    with opened(path) if is_on_hub and opened else contextlib.nullcontext(path) as source:
        members = [
            member.path
            for member, _ in islice(walk(source, known_as=path), _MEMBERS)
            if member.kind == "file" and not any(is_hidden(part) for part in member.path.split("/"))
        ]
    whole = registry.archive_format(path, members)
    if whole is not None:
        return [(path, (whole[0], tuple(sorted(whole[1].items()))))]
    return [(member, choice) for member in members if (choice := _choice(member)) is not None]


def _kept(paths: DataFilesList, found: Mapping[str, Choice | None], winner: Choice, beside: Container[str]) -> DataFilesList:
    if any(found[path] is not None for path in paths):
        kept = [path for path in paths if found[path] == winner]
        if len(kept) < len(paths) and (beside or not kept):
            others = (path for path in paths if found[path] != winner)
            kept += [path for path in others if _file_name(path) in beside or registry.is_archive(path)]
        return paths if len(kept) == len(paths) else paths.keep(kept)
    return paths.keep([path for path in paths if registry.is_archive(path)])


def _warn_of(data_files: DataFilesDict, kept: DataFilesDict, name: str, dataset: str) -> None:
    used = {path for paths in kept.values() for path in paths}
    others = (path for paths in data_files.values() for path in paths if path not in used and not _is_paper(path))
    left = [path for path in others if path.removesuffix(RECORD_INDEX) not in used]
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
