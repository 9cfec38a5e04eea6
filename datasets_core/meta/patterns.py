"""Which files of a listing a glob names, and which split a file belongs to by its name.

Everything here works on relative paths in memory: the one listing is made elsewhere (`meta/data_files.py`).

>>> match("**/*.csv", ["a.csv", "b/c.csv", ".hidden/d.csv", "e.txt"])
['a.csv', 'b/c.csv']
>>> infer_splits(["reviews/train.csv", "reviews/dev.csv"])
{'train': ['reviews/train.csv'], 'validation': ['reviews/dev.csv']}
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache

from datasets_core.errors import ConfigurationError
from datasets_core.meta.extensions import FORMATS
from datasets_core.meta.split import is_split_name

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

_WILDCARDS = re.compile(r"[*?\[]")
_BORDER = "[-._ 0-9]"
_SHARDED = re.compile(r"data/([^/]*)-[0-9]{5}-of-[0-9]{5}[^/]*\.[^/]*")


def is_pattern(path: str) -> bool:
    """Whether `path` holds a wildcard (`*`, `?`, `[`).

    >>> is_pattern("data/*.csv"), is_pattern("data/a.csv")
    (True, False)
    """
    return _WILDCARDS.search(path) is not None


@lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """The regular expression of a glob: `*` stays within a folder, `**` as a whole part crosses folders.

    Raises:
        ConfigurationError: `**` beside other characters, or a range in brackets that runs backwards.
    """
    parts = pattern.split("/")
    last = len(parts) - 1
    text = ""
    for position, part in enumerate(parts):
        if part == "**":
            text += ".+" if position == last else "(?:[^/]+/)*"
        elif "**" in part:
            raise ConfigurationError(
                f"The pattern {pattern!r} has '**' beside other characters. Write '**/{part.replace('**', '*')}'."
            )
        else:
            text += _part_regex(part) + ("" if position == last else "/")
    try:
        return re.compile(text, re.DOTALL)
    except re.error as error:
        raise ConfigurationError(
            f"The pattern {pattern!r} means nothing ({error.msg}). Write '[a-z]' from low to high, or '[[]' for a bracket."
        ) from error


def _part_regex(part: str) -> str:
    if part == "*":
        return "[^/]+"
    out, position = "", 0
    while position < len(part):
        char = part[position]
        position += 1
        if char == "*":
            out += "[^/]*"
        elif char == "?":
            out += "[^/]"
        elif char == "[" and (end := part.find("]", position + 1 + (part[position : position + 1] == "!"))) > 0:
            members = part[position:end]
            negated = members.startswith("!")
            members = (
                members.removeprefix("!").replace("\\", "\\\\").replace("^", "\\^").replace("[", "\\[").replace("]", "\\]")
            )
            out += f"[^/{members}]" if negated else f"[{members}]"
            position = end + 1
        else:
            out += re.escape(char)
    return out


def _hidden_parts(path: str) -> int:
    return sum(part.startswith(".") and part.strip(".") != "" for part in path.split("/"))


def _special_folders(path: str) -> int:
    return sum(part.startswith("__") for part in path.split("/")[:-1])


def _visible_to(pattern: str) -> Callable[[str], bool]:
    """The test that `pattern` puts to a path: no more hidden or `__` parts than it spells out itself, no excluded name."""
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
    """The relative paths that `pattern` names, in the order given.

    Hidden files, files below hidden folders or folders that begin with `__`, and `EXCLUDED_NAMES` are named only by a pattern
    that spells that part out.

    Raises:
        ConfigurationError: `**` beside other characters.
    """
    matches, visible = compiled(pattern).fullmatch, _visible_to(pattern)
    return [path for path in paths if matches(path) and visible(path)]


def infer_splits(paths: Sequence[str]) -> dict[str, list[str]]:
    """Relative paths by the split that their names tell; the first rule that any file follows decides for all.

    The rules: sharded names (`data/<split>-00000-of-00003.csv`, any split name), a keyword as a folder's name, a keyword in
    the file's name, and else everything is `train`.  A keyword ends at one of `-._`, a blank, a digit or the name's border.
    A file that two keywords of one split name is listed once.

    Raises:
        ConfigurationError: a sharded name whose split no split can be called.
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
        if path.startswith("data/") and (shard := _SHARDED.fullmatch(path)) and not _ends_in_extension(shard[1]):
            if not is_split_name(shard[1]):
                raise ConfigurationError(
                    f"{path!r} is named like a shard of a split {shard[1]!r}, which is no name of a split. "
                    "Use letters, digits, '_' and '-' in it, or name the files with data_files=."
                )
            found.setdefault(shard[1], []).append(path)
    known = [split for split in DEFAULT_SPLITS if split in found]
    return {split: found[split] for split in [*known, *sorted(found.keys() - set(known))]}


def _ends_in_extension(name: str) -> bool:
    """Whether the number of a shard stands behind an extension, as in `mnist-train.tfrecord-00000-of-00010.gz`."""
    return "." in name and f".{name.rpartition('.')[2].lower()}" in FORMATS


_WORDS = "|".join(word for keywords in SPLIT_KEYWORDS.values() for word in keywords)
_FOLDER_TEMPLATES = (r"(?:^|/){}/", rf"(?:^|/){{}}{_BORDER}[^/]*/", rf"{_BORDER}{{}}/", rf"{_BORDER}{{}}{_BORDER}[^/]*/")
_NAME_TEMPLATES = (rf"(?:^|/){{}}{_BORDER}[^/]*\Z", rf"{_BORDER}{{}}{_BORDER}[^/]*\Z")


@cache
def _rules(templates: tuple[str, ...]) -> dict[str, list[re.Pattern[str]]]:
    """For each split one expression for every (keyword, borders), in the order of their rank: 10 ms to compile."""
    return {
        split: [re.compile(template.format(word), re.DOTALL) for word in words for template in templates]
        for split, words in SPLIT_KEYWORDS.items()
    }


def _by_keyword(paths: Sequence[str], any_keyword: str, templates: tuple[str, ...]) -> dict[str, list[str]]:
    anything = re.compile(any_keyword, re.DOTALL).search
    candidates = [path for path in paths if anything(path)]
    if not candidates:
        return {}
    found = {split: _ranked(candidates, expressions) for split, expressions in _rules(templates).items()}
    return {split: files for split, files in found.items() if files}


def _ranked(candidates: list[str], expressions: list[re.Pattern[str]]) -> list[str]:
    """The candidates that any expression finds, those of the first expression first, each once."""
    found: list[str] = []
    left = candidates
    for expression in expressions:
        if not left:
            break
        hits = [path for path in left if expression.search(path)]
        if hits:
            found += hits
            taken = set(hits)
            left = [path for path in left if path not in taken]
    return found
