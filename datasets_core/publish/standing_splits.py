"""The splits that a repository has without naming them, as it is loaded: their files, their format, and globs for a card."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from datasets_core.errors import ConfigurationError
from datasets_core.meta import patterns
from datasets_core.meta.card import way_out
from datasets_core.meta.extensions import COMPRESSION, FORMATS, extensions

PARQUET = "parquet"
_ARCHIVES = frozenset((".zip", ".tar", ".tgz"))
_SPLIT = re.compile(r"\w+(\.\w+)*")
_SHARD = re.compile(r"(?P<head>.*-)[0-9]{5}-of-[0-9]{5}[^/]*", re.DOTALL)
_PAPERS, _PICTURES = frozenset(("text", "pdffolder")), frozenset(("imagefolder",))  # licences, notes, a logo in the root
_FORMATS = tuple(dict.fromkeys(FORMATS.values()))
_FEW = 20


@dataclass(frozen=True, slots=True)
class StandingSplit:
    """A split as its files tell it.

    Attributes:
        files: the files that it is read from.
        format: of these files; None where they are none that the library knows.
        beside: files that tell more of them.
    """

    files: Sequence[str]
    format: str | None
    beside: Sequence[str] = field(default=())

    @classmethod
    def of(cls, paths: Sequence[str]) -> StandingSplit:
        """The split of these files: they are read in the most frequent format, and archives where there is nothing else.

        >>> StandingSplit.of(["a.csv", "b.parquet", "c.csv", "d.md"])
        StandingSplit(files=['a.csv', 'c.csv'], format='csv', beside=[])
        """
        formats = {path: found for path in paths if (found := _format_of(path)) is not None}
        telling = [path for path in formats if not _is_metadata(path)] or [*formats]
        counts = Counter(formats[path] for path in telling)
        if len(counts) > 1:
            counts.pop("", None)
        if not counts:
            return cls((), None)
        best = min(counts, key=lambda name: (-counts[name], _FORMATS.index(name) if name else 0))
        chosen = [path for path in telling if formats[path] == best]
        return cls(chosen, best or "archive", [path for path in formats if path not in telling])


def standing_splits(paths: Sequence[str], folder: str = "") -> dict[str, StandingSplit]:
    """The splits that loading finds in a folder of a repository whose card names none.

    Args:
        paths: all files of the repository.
        folder: the folder, or the root.

    Returns:
        The splits that a card can name, in their order; none where loading finds none, or none that it can read.

    >>> standing_splits(["more/test.csv", "README.md"])
    {'test': StandingSplit(files=['more/test.csv'], format='csv', beside=[])}
    """
    base = f"{folder.strip('/')}/" if folder.strip("/") else ""
    inside = [path[len(base) :] for path in paths if path.startswith(base) and way_out(path) is None]
    try:
        named = patterns.infer_splits(inside)
    except ConfigurationError:  # nobody can load it as it stands, so there is nothing to keep
        return {}
    metadata = [path for path in inside if _is_metadata(path) and _format_of(path)]
    found = {}
    for name, files in named.items():
        split = StandingSplit.of([*files, *(path for path in metadata if path not in set(files))])
        if split.format is None or not _SPLIT.fullmatch(name) or _is_beside_data(split, files):
            continue
        beside = split.beside if split.format != PARQUET else ()
        found[name] = StandingSplit([base + path for path in split.files], split.format, [base + path for path in beside])
    return found


def named_files(globs: Iterable[str], paths: Sequence[str]) -> list[str]:
    """The files that globs of a card name; a glob that names none stands for itself.

    >>> named_files(["a/*", "b.csv"], ["a/x", "c"])
    ['a/x', 'b.csv']
    """
    found: dict[str, None] = {}
    for glob in globs:
        plain = glob.removeprefix("./")
        found.update(dict.fromkeys([plain] if plain in paths else patterns.match(plain, paths) or [plain]))
    return [*found]


def globs_of(split: StandingSplit, paths: Iterable[str], avoided: Collection[str]) -> list[str]:
    """Globs that name the files of a split, and no other file.

    Args:
        split: the split.
        paths: all files of the repository.
        avoided: files that are not to be named, though they are not there yet.

    >>> files = [f"data/train-{n:05d}-of-00003.parquet" for n in range(3)]
    >>> globs_of(StandingSplit(files, "parquet"), files, [])
    ['data/train-*']
    """
    wanted = [*split.files, *split.beside]
    return _Globs(set(wanted), [*paths, *avoided]).of(sorted(wanted))


@dataclass(frozen=True, slots=True)
class _Globs:
    wanted: set[str]
    paths: Sequence[str]

    def of(self, files: Sequence[str], folder: str = "") -> list[str]:
        shards: dict[str, list[str]] = {}
        for path in files:
            head = _SHARD.fullmatch(path)
            shards.setdefault(f"{_plain(head['head'])}*" if head else "", []).append(path)
        whole = {glob: held for glob, held in shards.items() if glob and self._fits(glob)}
        held = {path for each in whole.values() for path in each}
        left = [path for path in files if path not in held]
        firsts = {each[0]: glob for glob, each in whole.items()}
        if len(left) > _FEW:
            return self._by_folder(files, folder)
        firsts |= {path: _plain(path) for path in left}
        return [firsts[path] for path in sorted(firsts)]

    def _by_folder(self, files: Sequence[str], folder: str) -> list[str]:
        if folder and self._fits(f"{_plain(folder)}**"):
            return [f"{_plain(folder)}**"]
        parts: dict[str, list[str]] = {}
        for path in files:
            name, slash, _ = path[len(folder) :].partition("/")
            ending = "." + name.rpartition(".")[2]
            parts.setdefault(f"{folder}{name}/" if slash else f"*{ending}", []).append(path)
        found = []
        for part, held in parts.items():
            if part.startswith("*"):
                glob = f"{_plain(folder)}{part}"
                found += [glob] if len(held) > 1 and self._fits(glob) else [_plain(path) for path in held]
            else:
                found += self.of(held, part) if len(held) <= _FEW else self._by_folder(held, part)
        return found

    def _fits(self, glob: str) -> bool:
        return self.wanted.issuperset(patterns.match(glob, self.paths))


def _plain(path: str) -> str:
    """A glob that names this path alone."""
    return re.sub(r"[*?\[]", r"[\g<0>]", path)


def _format_of(path: str) -> str | None:
    """The format of a file by its extension; '' of an archive."""
    found = [*extensions(path)]
    known = next((FORMATS[each] for each in found if each in FORMATS and each not in COMPRESSION), None)
    return known or ("" if _ARCHIVES.intersection(found) else None)


def _is_metadata(path: str) -> bool:
    return path.rpartition("/")[2].startswith("metadata.")


def _is_beside_data(split: StandingSplit, files: Sequence[str]) -> bool:
    """Whether a split is only what stands beside data, and is data for want of any other."""
    is_logo = split.format in _PICTURES and not any("/" in path for path in files)
    return (is_logo or split.format in _PAPERS) and "0" in patterns.infer_splits([*files, "0"]).get("train", ())
