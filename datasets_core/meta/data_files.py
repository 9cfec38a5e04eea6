"""`DataFilesDict`: the files of each split with their identities, from `data_files=`, patterns, or names.

Every folder is listed once, for any number of patterns; a path without wildcards is only looked up, never searched for.
"""

from __future__ import annotations

import itertools
import os
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from datasets_core import files
from datasets_core.errors import ConfigurationError, DataFilesNotFoundError, DataFilesWarning, redact, redact_text
from datasets_core.files import FileEntry
from datasets_core.meta.listings import FORMATS, RECORD_INDEX, Listing, entry_at, list_folder, member, paths_in
from datasets_core.meta.splits import is_split_name

# The files of a listing that match a glob, and the split of a file by its name.


SPLIT_KEYWORDS = {
    "train": ("train", "training"),
    "validation": ("validation", "valid", "dev", "val"),
    "test": ("test", "testing", "eval", "evaluation"),
}
DEFAULT_SPLITS = tuple(SPLIT_KEYWORDS)
EXCLUDED_NAMES = frozenset(
    (
        *("README.md", "config.json", "dataset_info.json", "dataset_infos.json", "dummy_data.zip", "dataset_dict.json"),
        "croissant.json",  # what describes the data is none of it
    )
)

_MAX_DEPTH = 60  # of lists in lists
_WILDCARDS = r"[*?\[]"
_BORDER = "[-._ 0-9]"
_SHARDED = r"data/([^/]*)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*"


def is_pattern(path: str) -> bool:
    """Return True if `path` holds a wildcard (`*`, `?`, `[`).

    >>> is_pattern("data/*.csv"), is_pattern("data/a.csv")
    (True, False)
    """
    return re.search(_WILDCARDS, path) is not None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """Return the regular expression of a glob: `*` stays within a folder, `**` as a whole part crosses folders.

    It is matched in bounded time: what follows a star up to the next one is taken where it first fits, and is not tried
    again (atomic groups), since the next star takes any rest.

    Raises:
        ConfigurationError: `**` is next to other characters, or a range in brackets is reversed.
    """
    parts = pattern.split("/")
    between = [""]
    for position, part in enumerate(parts):
        end = "" if position == len(parts) - 1 else "/"
        if part == "**" and not end:
            between[-1] += ".+"
        elif part == "**":
            between += [""] if between[-1] or len(between) == 1 else []  # two in a row are one
        elif "**" in part:
            raise ConfigurationError(
                f"The pattern {pattern!r} has '**' next to other characters", advice=f"Write '**/{part.replace('**', '*')}'"
            )
        else:
            between[-1] += _part_regex(part) + end
    text = _starred(between, "(?:[^/]+/)*")
    try:
        return re.compile(text, re.DOTALL)
    except re.error as error:
        raise ConfigurationError(
            f"Invalid pattern {pattern!r} ({error.msg})",
            advice="Write '[a-z]' from low to high, or '[[]' for a bracket",
            value=pattern,
        ) from error


def _part_regex(part: str) -> str:
    if part == "*":
        return "[^/]+"
    between, position = [""], 0  # what stands between stars
    while position < len(part):
        char = part[position]
        position += 1
        if char == "*":
            between.append("")
        elif char == "?":
            between[-1] += "[^/]"
        elif char == "[" and (end := part.find("]", position + 1 + (part[position : position + 1] == "!"))) > 0:
            members = part[position:end]
            negated = members.startswith("!")
            members = (
                members.removeprefix("!").replace("\\", "\\\\").replace("^", "\\^").replace("[", "\\[").replace("]", "\\]")
            )
            between[-1] += f"[^/{members}]" if negated else f"[{members}]"
            position = end + 1
        else:
            between[-1] += re.escape(char)
    return _starred(between, "[^/]*")


def _starred(between: Sequence[str], star: str) -> str:
    """Return the expression of parts with stars between them; every part but the last is taken where it first fits."""
    first, *more = between
    return first + "".join(f"(?>{star}?{part})" for part in more[:-1]) + (star + more[-1] if more else "")


def _hidden_parts(path: str) -> int:
    return sum(part.startswith(".") and part.strip(".") != "" for part in path.split("/"))


def _special_folders(path: str) -> int:
    return sum(part.startswith("__") for part in path.split("/")[:-1])


def _visible_to(pattern: str) -> Callable[[str], bool]:
    """Return the test of a path for `pattern`: no hidden or `__` parts except those in the pattern itself, and no excluded
    name.
    """
    hidden, special, name = _hidden_parts(pattern), _special_folders(pattern), pattern.rpartition("/")[2]

    def visible(path: str) -> bool:
        # The substring tests are true for few paths, and spare the others the splitting.
        if (hidden or path.startswith(".") or "/." in path) and _hidden_parts(path) != hidden:
            return False
        if (special or path.startswith("__") or "/__" in path) and _special_folders(path) != special:
            return False
        last = path.rpartition("/")[2]
        return last not in EXCLUDED_NAMES or last == name

    return visible


def match(pattern: str, paths: Iterable[str]) -> list[str]:
    """Return the relative paths that match `pattern`, in the order given.

    Hidden files, files below hidden folders or folders that begin with `__`, and `EXCLUDED_NAMES` match only a pattern
    that contains that part literally.

    Raises:
        ConfigurationError: `**` next to other characters.
    """
    matches, visible = compiled(pattern).fullmatch, _visible_to(pattern)
    return [path for path in paths if matches(path) and visible(path)]


def infer_splits(paths: Sequence[str]) -> dict[str, list[str]]:
    """Return relative paths by the split in their names; the first rule that matches any file applies to all.

    The rules: sharded names (`data/<split>-00000-of-00003.csv`, any split name), a keyword as a folder's name, a keyword in
    the file's name, and else everything is `train`.  A keyword ends at one of `-._`, a blank, a digit or the name's border.
    A file that matches two keywords of one split is listed once.

    Raises:
        ConfigurationError: a sharded name with an invalid split name.
    """
    visible = _visible_to("**")
    seen = [path for path in paths if visible(path)]
    return (
        _by_shards(seen)
        or _by_keyword(seen, rf"(?:^|/|{_BORDER})(?:{_WORDS})(?:{_BORDER}[^/]*)?/", _FOLDER_TEMPLATES)
        or _by_keyword(seen, rf"(?:^|/|{_BORDER})(?:{_WORDS}){_BORDER}[^/]*\Z", _NAME_TEMPLATES)
        or ({"train": seen} if seen else {})
    )


def _by_shards(paths: Sequence[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for path in paths:
        if path.startswith("data/") and (shard := re.fullmatch(_SHARDED, path)) and not _ends_in_extension(shard[1]):
            if not is_split_name(shard[1]):
                raise ConfigurationError(
                    f"{path!r} has the name of a shard of a split {shard[1]!r}, which is not a valid split name",
                    advice="Use letters, digits, '_' and '-' in it, or name the files with data_files=",
                    value=path,
                )
            found.setdefault(shard[1], []).append(path)
    known = [split for split in DEFAULT_SPLITS if split in found]
    return {split: found[split] for split in [*known, *sorted(found.keys() - set(known))]}


def _ends_in_extension(name: str) -> bool:
    """Return True if a shard number follows an extension, as in `mnist-train.tfrecord-00000-of-00010.gz`."""
    return "." in name and f".{name.rpartition('.')[2].lower()}" in FORMATS


_WORDS = "|".join(word for keywords in SPLIT_KEYWORDS.values() for word in keywords)
_FOLDER_TEMPLATES = (r"(?:^|/){}/", rf"(?:^|/){{}}{_BORDER}[^/]*/", rf"{_BORDER}{{}}/", rf"{_BORDER}{{}}{_BORDER}[^/]*/")
_NAME_TEMPLATES = (rf"(?:^|/){{}}{_BORDER}[^/]*\Z", rf"{_BORDER}{{}}{_BORDER}[^/]*\Z")


def _by_keyword(paths: Sequence[str], any_keyword: str, templates: tuple[str, ...]) -> dict[str, list[str]]:
    anything = re.compile(any_keyword, re.DOTALL).search
    candidates = [path for path in paths if anything(path)]
    if not candidates:
        return {}
    found = {split: _ranked(candidates, words, templates) for split, words in SPLIT_KEYWORDS.items()}
    return {split: files for split, files in found.items() if files}


def _ranked(candidates: list[str], words: tuple[str, ...], templates: tuple[str, ...]) -> list[str]:
    """Return the candidates that match a keyword with borders, each once, ordered by keyword and then by borders."""
    found: list[str] = []
    left = candidates
    for word, template in itertools.product(words, templates):
        holding = [path for path in left if word in path]
        if holding:  # of 30 expressions few are needed, and each takes 0.1 ms to compile
            expression = re.compile(template.format(word), re.DOTALL)
            hits = [path for path in holding if expression.search(path)]
            found += hits
            taken = set(hits)
            left = [path for path in left if path not in taken]
    return found


Identity = tuple[str, int, str]
DataFiles = str | os.PathLike[str] | Sequence[Any] | Mapping[str, Any]

_SHOWN = 10
_SHARD = r"(?s)(.*[-.])([0-9]{5})-of-([0-9]{5})(-[0-9a-f]{8,64})?(\.[^/]*)?"
_NOT_PLAIN = r"[*?\[\\]|:[:/]|/\.{0,2}(/|$)"


class DataFilesList(list[str]):
    """The files of one split, in reading order.

    Attributes:
        identities: (path, bytes or -1, mtime or ETag or "") of each file: a part of the cache key of a build.
        links: files behind links that the user did not name: the path, the link, and the folder of the dataset.
    """

    identities: tuple[Identity, ...]
    links: Mapping[str, tuple[str, str]]

    def __init__(
        self,
        paths: Iterable[str] = (),
        identities: Iterable[Identity] | None = None,
        links: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        super().__init__(paths)
        self.identities = tuple((path, -1, "") for path in self) if identities is None else tuple(identities)
        self.links = dict(links)

    @classmethod
    def from_entries(cls, entries: Iterable[FileEntry], links: Mapping[str, tuple[str, str]] | None = None) -> DataFilesList:
        """Return the files of a listing."""
        listed = list(entries)
        identities = ((found.path, found.size, found.identity) for found in listed)
        return cls((found.path for found in listed), identities, links or {})

    @classmethod
    def from_patterns(
        cls,
        patterns: Sequence[str],
        base_path: str | os.PathLike[str] | None = None,
        allowed_extensions: Sequence[str] | None = None,
        download_config: Any = None,
    ) -> DataFilesList:
        """Return the files of paths and patterns, as in `datasets`.

        Args:
            patterns: paths, globs and URLs.
            base_path: base of relative ones; default: the working directory.
            allowed_extensions: the files with other extensions (`.csv`) are left out.
            download_config: its `storage_options` are those of the file systems.

        Raises:
            DataFilesNotFoundError: a path or pattern has no files.
        """
        options = getattr(download_config, "storage_options", None)
        found = resolve_data_files(list(patterns), base_path or "", storage_options=options)["train"]
        if allowed_extensions is None:
            return found
        return found.keep([path for path in found if any(f".{part}" in allowed_extensions for part in path.split(".")[1:])])

    def keep(self, kept: Iterable[str]) -> DataFilesList:
        """Return only the files in `kept`, in the current order."""
        wanted = set(kept)
        pairs = [(path, identity) for path, identity in zip(self, self.identities, strict=True) if path in wanted]
        return DataFilesList((path for path, _ in pairs), (identity for _, identity in pairs), self.links)


class DataFilesDict(dict[str, DataFilesList]):
    """The files of each split, the splits in their order.

    Attributes:
        unclaimed: files of the folder that belong to no split by their name.
    """

    unclaimed: tuple[FileEntry, ...] = ()

    @classmethod
    def from_patterns(
        cls,
        patterns: Mapping[str, Sequence[str]],
        base_path: str | os.PathLike[str] | None = None,
        allowed_extensions: Sequence[str] | None = None,
        download_config: Any = None,
    ) -> DataFilesDict:
        """Return the files of each split by its paths and patterns; see `DataFilesList.from_patterns`.

        Raises:
            DataFilesNotFoundError: a path or pattern has no files.
        """
        more = base_path, allowed_extensions, download_config
        return cls({split: DataFilesList.from_patterns(each, *more) for split, each in patterns.items()})

    @property
    def identities(self) -> tuple[Identity, ...]:
        """The identities of all files, in the order of the splits."""
        return tuple(identity for found in self.values() for identity in found.identities)

    @property
    def is_local(self) -> bool:
        """True if all files are named by absolute paths of this machine."""
        return all(files.is_local_path(path) for found in self.values() for path in found)


# -- the user's argument -----------------------------------------------------------------------------------------------


def by_split(data_files: DataFiles) -> dict[str, list[str]]:
    """Return `data_files`, in any of its forms, as split → patterns.

    >>> by_split("a.csv"), by_split({"train": "a.csv", "test": ["b.csv"]})
    ({'train': ['a.csv']}, {'train': ['a.csv'], 'test': ['b.csv']})
    >>> by_split([{"split": "dev", "path": "c.csv"}])
    {'dev': ['c.csv']}

    Raises:
        ConfigurationError: the form is unknown, a split is named twice or has an invalid name, or there is no file.
    """
    found: dict[str, list[str]] = {}
    for split, value in _pairs(data_files):
        if not is_split_name(split):
            raise ConfigurationError(
                f"Invalid split name {split!r} in data_files",
                advice="Use letters, digits, '_' and '-', separated by dots",
                value=split,
            )
        if split in found:
            raise ConfigurationError(f"data_files names the split {split!r} twice", advice="List its files together")
        found[str(split)] = list(_flat(value))
        if not found[split]:
            raise ConfigurationError(
                f"data_files has no file for the split {split!r}", advice="Name a file, or remove the split"
            )
    if not found:
        raise ConfigurationError("data_files is empty", advice="Name at least one file, or remove the argument")
    return found


def _pairs(data_files: DataFiles) -> Iterator[tuple[Any, Any]]:
    if isinstance(data_files, Mapping):
        yield from data_files.items()
    elif isinstance(data_files, (list, tuple)) and data_files and all(isinstance(item, Mapping) for item in data_files):
        for item in data_files:
            if set(item) != {"split", "path"}:
                raise ConfigurationError(
                    f"data_files contains {redact_text(repr(dict(item)))}", advice="Write {'split': …, 'path': …}"
                )
            yield item["split"], item["path"]
    else:
        yield "train", data_files


def _is_encodable(text: str) -> bool:
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return False
    return True


def _flat(value: Any, depth: int = 0) -> Iterator[str]:
    if depth > _MAX_DEPTH:
        raise ConfigurationError(
            f"data_files is nested more than {_MAX_DEPTH} levels deep", advice="Give the files of a split in one list"
        )
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if not isinstance(text, str) or not text or "\0" in text or not _is_encodable(text):
            raise ConfigurationError(
                f"data_files contains {redact_text(repr(value))}", advice="Give paths, patterns or URLs as strings"
            )
        yield text
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _flat(item, depth + 1)
    else:
        shown = redact_text(repr(value))
        raise ConfigurationError(
            f"data_files contains {shown}", advice="Give paths, patterns or URLs, alone, in lists, or by split"
        )


# -- existing files -----------------------------------------------------------------------------------------------------


def resolve_data_files(
    data_files: DataFiles,
    base_path: str | os.PathLike[str] = "",
    *,
    storage_options: dict[str, Any] | None = None,
    of_user: bool = True,
    listing: Listing | None = None,
) -> DataFilesDict:
    """Return the files of `data_files`, with their sizes and identities.

    A split's files are in the order of its patterns, and by path within a pattern; a pattern adds no file twice.
    `http(s)` URLs are taken unchanged: their content is known after the download.

    Args:
        data_files: path, glob or URL, alone, in a list, or by split.
        base_path: base of relative paths; default: the working directory.
        storage_options: options for the file system of the URLs.
        of_user: True for patterns of the user, who may name any path; False for those of the dataset's card.
        listing: known listings; files in it are looked up there, at its pinned version.

    Raises:
        DataFilesNotFoundError: a path or pattern has no files.
        ConfigurationError: `data_files` has an unknown form.
    """
    if isinstance(data_files, DataFilesDict):
        return data_files
    if isinstance(data_files, DataFilesList):
        return DataFilesDict(train=data_files)
    search = _Search(os.fspath(base_path), storage_options, of_user, listing)
    return DataFilesDict({split: search.found(names) for split, names in by_split(data_files).items()})


def infer_data_files(
    listing: Sequence[FileEntry], base_path: str | os.PathLike[str], *, refuses_gaps: bool = True
) -> DataFilesDict:
    """Return the files of a folder by the split in their names (see `infer_splits`).

    Args:
        listing: content of the folder.
        base_path: the folder.
        refuses_gaps: True to raise an error for incomplete sets of shards, False to warn.

    Raises:
        DataFilesNotFoundError: the folder has no data file, an unreadable one, or an incomplete set of shards.
    """
    base = os.fspath(base_path)
    if files.is_local_path(base):
        cut = len(base) if base.endswith(os.sep) else len(base) + 1
        entries = {entry.path[cut:]: entry for entry in listing}
    else:
        entries = dict(zip(paths_in(base, listing), listing, strict=True))
    splits = infer_splits(list(entries))
    if not splits:
        raise DataFilesNotFoundError(
            f"No data file found in {redact(base)}. Found: {_shown(sorted(entries))}.", file=redact(base)
        )
    found = {split: [entries[path] for path in paths] for split, paths in splits.items()}
    for chosen in found.values():
        _refuse_unreadable(chosen)
    _refuse_gaps(splits, base, warns=not refuses_gaps)
    links = {entry.path: (entry.link, base) for entry in listing if entry.link}
    made = DataFilesDict({split: DataFilesList.from_entries(chosen, links) for split, chosen in found.items()})
    if sum(map(len, splits.values())) < len(entries):
        claimed = {path for paths in splits.values() for path in paths}
        made.unclaimed = tuple(entry for path, entry in entries.items() if path not in claimed)
    return made


def _refuse_unreadable(found: Iterable[FileEntry]) -> None:
    """Refuse unreadable files of a listing.

    Raises:
        DataFilesNotFoundError: a local path is a broken link, or a pipe, a device or similar.
    """
    for each in found:
        if each.size < 0 and not files.is_url(each.path):
            raise DataFilesNotFoundError(_why_unreadable(each.path))


def _why_unreadable(path: str) -> str:
    if os.path.islink(path) and not os.path.exists(path):
        return f"{path} is a link to {os.readlink(path)}, which does not exist. Restore that file, or delete the link."
    return f"{path} is not a regular file but a pipe, a device or a socket. Write its content to a file, and name that."


def _refuse_gaps(found: Mapping[str, Iterable[str]], folder: str, pattern: str | None = None, *, warns: bool = False) -> None:
    """Refuse, or warn of (`warns`), incomplete sets of shards (`-00000-of-00003`), among those that match `pattern`.

    Shards may be counted from 1, and each name may have its own hash.
    """
    sets: dict[tuple[str, str, str], dict[int, str]] = {}
    for path in itertools.chain.from_iterable(found.values()):
        if "-of-" in path and (shard := re.fullmatch(_SHARD, path)) and shard[5] != RECORD_INDEX:
            sets.setdefault((shard[1], shard[3], shard[5] or ""), {})[int(shard[2])] = shard[4] or ""
    for (head, total, tail), numbers in sets.items():
        count = int(total)
        wanted = range(1, count + 1) if count in numbers else range(count)
        names = {number: f"{head}{number:05d}-of-{total}" for number in wanted if number not in numbers}
        mark = next(iter(numbers.values()))
        missing = [name + tail for name in names.values() if pattern is None or match(pattern, [name + mark + tail])]
        if missing:
            told = (
                f"{redact(folder)} contains {len(numbers)} of the {count} shards of {head.rstrip('-.')}{tail}; missing: "
                f"{_shown(missing)}."
            )
            if not warns:
                raise DataFilesNotFoundError(f"{told} Add the missing files, or list the files to read in data_files=.")
            warnings.warn(f"{told} The existing files are read.", DataFilesWarning, stacklevel=2)


class _Search:
    """Finds the files of many patterns; each folder is listed once."""

    def __init__(self, base: str, storage_options: dict[str, Any] | None, of_user: bool, listing: Listing | None) -> None:
        self.base = base if files.is_url(base) else os.path.abspath(files.local_path(base))
        self.listing = listing
        self.storage_options = storage_options
        self.of_user = of_user
        self._folder = self.base if base and not files.is_url(base) else None  # of the dataset, where one is named
        self._links: dict[str, tuple[str, str]] = {}
        self.listings: dict[tuple[str, int | None, bool], dict[str, FileEntry]] = {}

    def found(self, names: Iterable[str]) -> DataFilesList:
        entries: list[FileEntry] = []
        known: set[str] = set()
        for name in names:
            is_plain = _is_plain(name)
            path = name if is_plain else self._full(name)
            literal = (entry_at(path, None) if is_plain else None) or self._literal(path, name)
            # A literal path that is repeated is read twice, as requested; a wildcard only adds missing files.
            new = [literal] if literal else [found for found in self._matches(path, name) if found.path not in known]
            if literal and not self.of_user and self._folder and not files.is_url(path):
                self._links[path] = path, self._folder
            entries += new
            known.update(found.path for found in new)
        return DataFilesList.from_entries(entries, self._links)

    def _known(self, url: str) -> Listing | None:
        """Return the listing for a URL."""
        return self.listing if self.listing is not None and files.is_url(url) and self.listing.holds(url) else None

    def _full(self, name: str) -> str:
        path = self._joined(name)
        known = self._known(path)
        return path if known is None else known.pinned(path)

    def _joined(self, name: str) -> str:
        head, chain, outer = name.partition("::")
        if chain:
            return f"{head}::{outer if files.is_url(outer) else self._joined(outer)}"
        if files.is_url(name) and not name.startswith("file://"):
            return name
        local = files.local_path(name)
        if files.is_url(self.base) and not os.path.isabs(local):
            return files.join(self.base, local.removeprefix("./"))
        joined = os.path.join(self.base, local)
        return os.path.realpath(joined) if ".." in local.split("/") and not is_pattern(local) else os.path.normpath(joined)

    def _literal(self, path: str, name: str) -> FileEntry | None:
        """Return the one file at `path`; None if `path` is a pattern."""
        head, chain, _ = path.partition("::")
        wild = is_pattern(head)
        known = self._known(path)
        if known is not None:
            return self._listed(known, path, name, wild)
        if files.is_http(path.rpartition("::")[2]):
            if chain and wild:
                raise DataFilesNotFoundError(
                    f"{redact(name)!r} has wildcards in an archive at an http URL, which cannot be listed",
                    advice="Name its members",
                    file=redact(name),
                )
            return FileEntry(path, -1, "")
        found = member(path, self.storage_options) if chain else entry_at(path, self.storage_options)
        if found is not None or wild:
            return found
        if files.is_url(path):
            raise DataFilesNotFoundError(f"There is no data file {redact(path)}", advice="Check the address", file=redact(path))
        if os.path.isdir(path):
            raise DataFilesNotFoundError(
                f"{path} is a folder, not a data file",
                advice=f"Write {os.path.join(name, '**')!r} for the files in it",
                file=path,
            )
        if os.path.lexists(path):
            raise DataFilesNotFoundError(_why_unreadable(path))
        folder = os.path.dirname(path)
        raise DataFilesNotFoundError(f"There is no data file {path}. {folder} contains: {_there(folder)}.", file=path)

    def _listed(self, known: Listing, path: str, name: str, wild: bool) -> FileEntry | None:
        """Return the one file at `path` in the known listings; None if `path` is a pattern."""
        found = known.entry(path)
        if found is not None or wild:
            return found
        inside = known.list_folder(path)
        if inside:
            raise DataFilesNotFoundError(
                f"{redact(path)} is a folder, not a data file",
                advice=f"Write {files.join(name, '**')!r} for the files in it",
                file=redact(path),
            )
        folder, chain, outer = path.partition("::")
        above = folder.rpartition("/")[0] + chain + outer
        beside = known.list_folder(above)
        raise DataFilesNotFoundError(
            f"There is no data file {redact(path)}. {redact(above)} contains: {_shown(paths_in(above, beside))}.",
            file=redact(path),
        )

    def _matches(self, path: str, name: str) -> list[FileEntry]:
        head, chain, outer = path.partition("::")
        parts = head.split("/")
        first = next(position for position, part in enumerate(parts) if is_pattern(part))
        root, rest = "/".join(parts[:first]) + ("/" if head.startswith("/") and first == 1 else ""), "/".join(parts[first:])
        if chain or files.is_url(head):
            root = root + "/" if root.endswith("/") else root
        listing = self._listing(root + chain + outer, rest)
        matches = match(rest, listing)
        found = [listing[match] for match in matches]
        if not found:
            there = _shown(sorted(listing)) if listing or chain or files.is_url(head) else _there(root)
            raise DataFilesNotFoundError(
                f"{redact(name)!r} matches no file in {redact(root + chain + outer)}. Found: {there}.", value=redact(name)
            )
        _refuse_unreadable(found)
        folder = self._folder if self._folder and f"{root}/".startswith(f"{self._folder.rstrip('/')}/") else root
        self._links.update((entry.path, (entry.link, folder)) for entry in found if entry.link)
        known = self._known(root + chain + outer)
        _refuse_gaps({name: matches}, root + chain + outer, rest, warns=known is not None and known.is_whole(path))
        return found

    def _listing(self, root: str, rest: str) -> dict[str, FileEntry]:
        depth = None if "**" in rest.split("/") else rest.count("/") + 1
        hidden = any(part.startswith(".") for part in rest.split("/"))
        key = (root, depth, hidden)
        if key not in self.listings:
            if not files.is_url(root) and not os.path.isdir(root):
                raise DataFilesNotFoundError(f"There is no folder {root}", advice="Check the path", file=root)
            known = self._known(root)
            if known is not None:
                listed = known.list_folder(root)
            else:
                listed = list_folder(root, max_depth=depth, hidden=hidden, storage_options=self.storage_options)
            self.listings[key] = dict(zip(paths_in(root, listed), listed, strict=True))
        return self.listings[key]


def _is_plain(name: str) -> bool:
    """Return True if `name` is an absolute local path without wildcards, in the form that `_Search` would return."""
    return name.startswith("/") and re.search(_NOT_PLAIN, name) is None


def _there(folder: str) -> str:
    try:
        return _shown(sorted(os.listdir(folder or ".")))
    except OSError as error:
        return f"nothing that can be listed ({error.strerror})"


def _shown(names: Sequence[str]) -> str:
    more = f", … ({len(names)} in all)" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more or "nothing"
