"""Sections of a large card for one config, found by indentation, so that the YAML of others is not parsed.

Only plain block YAML is cut, as tools write it.  If the meaning may not follow from the lines (anchors, tags, tabs, flow over
several lines, a duplicate key), the whole is parsed.
"""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from datasets_core.errors import ManifestError
from datasets_core.meta.card import front_matter, read_dataset_infos, read_yaml
from datasets_core.meta.info import Card, ConfigEntry, DatasetInfo, LazyInfos, info_of, parse_json

_QUOTED_KEY = re.compile(r"""(?:'(?:[^']|'')*'|"[^"\\]*")[ ]*:(?=[ ]|$)""")
_ONE_LINE = {
    "'": re.compile(r"'(?:[^']|'')*'[ ]*(?:[ ]#.*)?"),
    '"': re.compile(r'"(?:[^"\\]|\\.)*"[ ]*(?:[ ]#.*)?'),
    "[": re.compile(r"""\[[^\[\]{}'"#&*!|>]*\][ ]*(?:[ ]#.*)?"""),
    "{": re.compile(r"""\{[^\[\]{}'"#&*!|>]*\}[ ]*(?:[ ]#.*)?"""),
}
_BEGUN = {"'": re.compile(r"'(?:[^']|'')*"), '"': re.compile(r'"(?:[^"\\]|\\.|\\$)*')}
_ENDED = {"'": re.compile(r"(?:[^']|'')*'(?!')[ ]*(?:[ ]#.*)?"), '"': re.compile(r'(?:[^"\\]|\\.)*"[ ]*(?:[ ]#.*)?')}
_WITHIN = {"'": re.compile(r"(?:[^']|'')*"), '"': re.compile(r'(?:[^"\\]|\\.|\\$)*')}
_BLOCK_SCALAR = re.compile(r"[|>][-+]?[1-9]?[-+]?[ ]*(?:[ ]#.*)?")
_MARKS = "|>[]{}&*!%@`?,"  # first characters of values, or keys, that are not plain text
_SPECIAL = frozenset(_MARKS + "'\"")
_STRANGE = ("\t", "\r", "\x85", "\u2028", "\u2029", "\ufeff", "\0", "\n---", "\n...", "<<")
_TOP_LEVEL = re.compile(r"\n[^\n #-]")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))


class _Unclear(Exception):
    """Lines that only a parser of YAML understands."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Lines of a card for one config.

    Attributes:
        lines: the lines, the first with the top-level key; empty if the card does not have the config.
        above: number of lines above the second of these, minus one.
    """

    lines: Sequence[str]
    above: int

    @property
    def text(self) -> str:
        """YAML with one top-level key."""
        return "\n".join(self.lines) + "\n"


def cut_config(text: str, key: str, config: str) -> Cut | None:
    """Return the entry of one config in the list of a top-level key.

    Args:
        text: YAML, such as the front matter of a README.
        key: `dataset_info` or `configs`.
        config: the `config_name` of the entry.

    Returns:
        The key and the lines of that entry, or of all if they are not a list; None if the whole must be parsed.

    >>> cut_config("license: mit\\ndataset_info:\\n- config_name: a\\n  x: 1\\n- config_name: b\\n", "dataset_info", "a").text
    'dataset_info:\\n- config_name: a\\n  x: 1\\n'
    """
    try:
        block, hidden = _block(text, key)
        items = _items(block.lines, hidden)
        if len(items) < 2:
            return block
        places = [
            place
            for place in _that_may_be(config, block.lines, items, hidden)
            if _is_named(config, block.lines, *place, hidden)
        ]
    except _Unclear:
        return None
    if len(places) > 1:
        return None  # invalid; the parser raises the error
    if not places:
        return Cut((), 0)
    start, stop = places[0]
    return Cut((block.lines[0], *block.lines[start:stop]), block.above + start - 1)


def cut_key(text: str, key: str) -> Cut | None:
    """Return a top-level key with everything below it; None if the whole must be parsed."""
    try:
        return _block(text, key)[0]
    except _Unclear:
        return None


def entry_lines(text: str, key: str) -> list[tuple[str, int, int]] | None:
    """Return the entries of the list of a top-level key: name, first line, and the line after the last.

    Returns:
        None if the whole must be parsed, or without such a list.

    >>> entry_lines("license: mit\\nconfigs:\\n- config_name: a\\n  x: 1\\n- config_name: b\\n", "configs")
    [('a', 2, 4), ('b', 4, 5)]
    """
    try:
        block, hidden = _block(text, key)
        items = _items(block.lines, hidden)
        if not items or not block.lines[items[0][0]].lstrip(" ").startswith("-"):
            return None
        names = [_name_in(block.lines, start, stop, hidden) for start, stop in items]
    except _Unclear:
        return None
    found = [(name, block.above + start, block.above + stop) for name, (start, stop) in zip(names, items, strict=True) if name]
    return found if len({name for name, _, _ in found}) == len(items) else None


def _block(text: str, key: str) -> tuple[Cut, frozenset[int]]:
    """Return a top-level key with everything below it, and which of its lines belong to multi-line texts."""
    text = "\n" + text.replace("\r\n", "\n")
    if any(mark in text for mark in _STRANGE) or text[-1] != "\n":
        raise _Unclear
    begin = text.find(f"\n{key}")
    if f'"{key}' in text or f"'{key}" in text or text.find(f"\n{key}", begin + 1) > 0 or text[1:2] in ("{", "["):
        raise _Unclear
    if begin < 0:
        return Cut((), 0), frozenset()
    following = _TOP_LEVEL.search(text, begin + 1)
    text = text[1 : -1 if following is None else following.start()]
    lines = text.split("\n")
    above = text.count("\n", 0, begin)
    hidden = _hidden(text, lines)  # refuses a text that is begun here and ends behind
    head = lines[above]
    if above in hidden or _key_of(head) != key or head.partition(":")[2].partition(" #")[0].strip(" "):
        raise _Unclear  # it is part of a text, another key, or has its value behind it
    return Cut(lines[above:], above), frozenset(number - above for number in hidden if number > above)


def _key_of(line: str) -> str | None:
    """Return the key of a line, if it has one."""
    key, colon, value = line.partition(":")
    return key.rstrip(" ") if colon and value[:1] in ("", " ") else None


def _hidden(text: str, lines: Sequence[str]) -> frozenset[int]:
    """Return the lines inside multi-line texts: quoted ones, and block scalars."""
    odd: list[int] = []
    for quote in "'\"":
        if quote in text:
            odd += [number for number, line in enumerate(lines) if quote in line and line.count(quote) & 1]
    if "\\" in text:
        odd += [number for number, line in enumerate(lines) if "\\" in line]
    found: set[int] = set()
    behind = 0
    for number in sorted({*odd, *_marked(text, lines)}):
        if number >= behind:
            behind = _behind(lines, number)
            found.update(range(number + 1, behind))
    return frozenset(found)


def _marked(text: str, lines: Sequence[str]) -> Iterator[int]:
    """Yield the lines in which a value, or a key, begins with a mark."""
    starts: list[int] = []
    for mark in _MARKS:
        place = text.find(mark)
        while place >= 0:
            before = text[text.rfind("\n", 0, place) + 1 : place]
            if not before or (before[-1] == " " and before.rstrip(" ")[-1:] in ("", ":", "-", "?")):
                starts = starts or list(itertools.accumulate((len(line) + 1 for line in lines), initial=0))
                yield bisect.bisect_right(starts, place) - 1
            place = text.find(mark, place + 1)


def _behind(lines: Sequence[str], number: int) -> int:
    """Return the line after the value that begins in a line: the next one, unless a multi-line text begins there."""
    line = lines[number]
    body = line.lstrip(" ")
    if not body or body[0] == "#":
        return number + 1
    while body.startswith("- "):
        body = body[2:].lstrip(" ")
    if body[:1] in _SPECIAL and body:
        quoted = _QUOTED_KEY.match(body)
        if quoted is not None:
            return _behind_value(lines, number, body, body[quoted.end() :].lstrip(" "))
        form = _ONE_LINE.get(body[0])
        if form is None or form.fullmatch(body) is None or (line[0] in "[{"):
            raise _Unclear
        return number + 1
    return _behind_value(lines, number, body, body.partition(": ")[2].lstrip(" "))


def _behind_value(lines: Sequence[str], number: int, body: str, value: str) -> int:
    """Like `_behind`, for a line whose first key has that value."""
    first = value[:1]
    if not first or first not in _SPECIAL:
        return number + 1
    if first in "|>":
        if _BLOCK_SCALAR.fullmatch(value) is None:
            raise _Unclear
        column = len(lines[number]) - len(body)
        number += 1
        while number < len(lines) and (not lines[number].strip(" ") or _indent(lines[number]) > column):
            number += 1
        return number
    form = _ONE_LINE.get(first)
    if form is None:
        raise _Unclear
    if form.fullmatch(value) is not None:
        return number + 1
    if first not in _BEGUN or _BEGUN[first].fullmatch(value) is None:
        raise _Unclear
    for below in range(number + 1, len(lines)):
        if _ENDED[first].fullmatch(lines[below]) is not None:
            return below + 1
        if _WITHIN[first].fullmatch(lines[below]) is None:
            raise _Unclear
    raise _Unclear


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _items(lines: Sequence[str], hidden: frozenset[int]) -> list[tuple[int, int]]:
    """Return start and end of the items of the list; one item or none if it is not a list."""
    first = next((line for line in lines[1:] if line.strip(" ") and line.lstrip(" ")[0] != "#"), "")
    column = _indent(first)
    if not (first[column:] == "-" or first.startswith("- ", column)):
        return [(1, len(lines))][: len(lines) - 1]
    before = " " * column
    here = [number for number, line in enumerate(lines) if number and line[column : column + 1] not in _DEEPER]
    outside = [number for number, line in enumerate(lines) if number and not line.startswith(before)] if before else []
    starts = []
    for number in sorted({*here, *outside}):
        line = lines[number]
        if number in hidden or not line.strip(" ") or line.lstrip(" ")[0] == "#":
            continue
        if not line.startswith(before) or not (line[column:] == "-" or line.startswith("- ", column)):
            raise _Unclear
        starts.append(number)
    return list(itertools.pairwise([*starts, len(lines)]))


_DEEPER = frozenset(("", " ", "#"))


def _that_may_be(
    config: str, lines: Sequence[str], items: Sequence[tuple[int, int]], hidden: frozenset[int]
) -> Iterator[tuple[int, int]]:
    """Yield the items in which the name occurs after a `config_name`, anywhere in them."""
    is_plain = not any(mark in config for mark in "'\"\\") and "\\" not in "\n".join(lines)
    starts = [start for start, _ in items]
    before = -1
    for number, line in enumerate(lines):
        if "config_name" in line and (not is_plain or config in line) and number not in hidden:
            place = bisect.bisect_right(starts, number) - 1
            if place != before:
                before = place
                yield items[place]


def _is_named(config: str, lines: Sequence[str], start: int, stop: int, hidden: frozenset[int]) -> bool:
    return _name_in(lines, start, stop, hidden) == config


def _name_in(lines: Sequence[str], start: int, stop: int, hidden: frozenset[int]) -> str | None:
    """Return the `config_name` of an item; None if it has none."""
    body = lines[start].lstrip(" ")[1:].lstrip(" ")
    if not body or body[0] in "#-":
        raise _Unclear  # the item begins in a line below, or is a list
    column = len(lines[start]) - len(body)
    numbers = (number for number in range(start, stop) if "config_name" in lines[number] and number not in hidden)
    found = [number for number in numbers if number == start or _indent(lines[number]) == column]
    places = [number for number in found if _key_of(lines[number][column:]) == "config_name"]
    if any("config_name" in lines[number].partition(":")[0] for number in found if number not in places) or len(places) > 1:
        raise _Unclear
    return _name(lines, places[0], stop, column) if places else None


def _name(lines: Sequence[str], number: int, stop: int, column: int) -> str:
    """Return the name after `config_name:` in its written form, without quotes."""
    value = lines[number].partition(":")[2].strip(" ")
    below = next((line for line in lines[number + 1 : stop] if line.strip(" ")), "")
    if _indent(below) > column:
        raise _Unclear  # continued there
    if value[:1] in ("'", '"'):
        if _ONE_LINE[value[0]].fullmatch(value) is None or "\\" in value:
            raise _Unclear
        text = value[1 : value.rindex(value[0])]
        return text.replace("''", "'") if value[0] == "'" else text
    name = value.partition(" #")[0].rstrip(" ")
    if name in _NULLS or name[0] in _SPECIAL or name[0] in "#-" or ": " in name or name.endswith(":"):
        raise _Unclear
    return name


# Lazy views of a card, and of a `dataset_infos.json`: parsing all of a large one takes a second.


class LazyCard(LazyInfos):
    """The infos in a card, each parsed on first use.

    Args:
        text: a `README.md`, at least its front matter, or a `.yaml` file.
        path: name of the file, which also distinguishes the two.

    >>> card = LazyCard("dataset_info:\\n- config_name: en\\n  download_size: 3\\n- config_name: de\\n", path="a.yaml")
    >>> card["en"].download_size, list(card)
    (3, ['en', 'de'])
    """

    def __init__(self, text: str, *, path: str) -> None:
        super().__init__()
        self._path = path
        self._text, self._above = front_matter(text, path=path) or ("", 0)

    @property
    def configs(self) -> list[ConfigEntry]:
        """The configs that the card describes; their infos are not parsed."""
        cut = cut_key(self._text, "configs")
        return self._whole.configs if cut is None else self._read(cut).configs

    def one(self, name: str) -> DatasetInfo | None:
        if "_whole" in vars(self):
            return self._whole.infos.get(name)
        cut = cut_config(self._text, "dataset_info", name)
        return self._whole.infos.get(name) if cut is None else self._read(cut).infos.get(name)

    def every(self) -> dict[str, DatasetInfo]:
        return dict(self._whole.infos)

    def _read(self, cut: Cut) -> Card:
        return read_yaml(cut.text, path=self._path, lines_above=self._above + cut.above) if cut.lines else Card()

    @cached_property
    def _whole(self) -> Card:
        return read_yaml(self._text, path=self._path, lines_above=self._above)


class LazyDatasetInfos(LazyInfos):
    """The infos of an old `dataset_infos.json`, each parsed on first use.

    Args:
        text: the JSON.
        path: name of the file.
    """

    def __init__(self, text: str, *, path: str) -> None:
        super().__init__()
        self._text, self._path = text, path

    def one(self, name: str) -> DatasetInfo | None:
        if name not in self._form:
            return None
        info = info_of(self._form[name], path=self._path, place=f"config {name!r}")
        info.config_name = info.config_name or name
        return info

    def every(self) -> dict[str, DatasetInfo]:
        return read_dataset_infos(self._text, path=self._path)

    @cached_property
    def _form(self) -> dict[str, Any]:
        form = parse_json(self._text, path=self._path, is_strict=False)
        if not isinstance(form, dict):
            raise ManifestError(self._path, "it does not contain an object of infos by config name")
        return form
