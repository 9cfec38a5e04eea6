"""Edits of a card's `configs:` and `dataset_info:`: everything else stays unchanged, byte for byte.

The lines of a changed entry are replaced, if the YAML is written line by line, as is usual; other keys and
entries, comments and line ends stay.  YAML that only a parser understands (aliases, braces around the whole)
is written again.  In both cases the new text is parsed, and compared with the intended content, before it is returned.
"""

from __future__ import annotations

import bisect
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from datasets_core.errors import ManifestError
from datasets_core.meta.card import card_nodes, check_yaml, front_matter, yaml_list, yaml_mapping, yaml_node, yaml_text
from datasets_core.meta.card_sections import entry_lines

_LINE = re.compile(r"[^\r\n\x85\u2028\u2029]*(?:\r\n|[\r\n\x85\u2028\u2029]|$)")
_LARGE = 50_000  # characters: of less, all is made nodes of, and compared
_KEYS = ("dataset_info", "configs")  # in this order where a card has neither


@dataclass(frozen=True, slots=True)
class Edit:
    """Changes of the entry of one config.

    Attributes:
        values: plain values by key; existing keys keep their place.
        dropped: keys to remove.
        is_last: True to append a new entry, False to insert it in the order of names.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    is_last: bool = False


def edited_card(text: str | None, edits: Mapping[str, Mapping[str, Edit]], *, path: str = "README.md") -> str:
    """Return the text of a card with changed entries.

    Args:
        text: the card; None if there is none.
        edits: for `configs` and `dataset_info`, the changes by config; a missing entry is added.
        path: name of the card.

    Raises:
        ManifestError: its YAML is broken.

    >>> print(edited_card("# Title", {"configs": {"en": Edit({"data_files": "en/*.csv"})}}))
    ---
    configs:
    - config_name: en
      data_files: en/*.csv
    ---
    # Title
    """
    text = (text or "").removeprefix("\ufeff")  # the libraries of the Hub do not recognise a card with this mark
    found = front_matter(text, path=path)
    if found is None:
        end = "\r\n" if "\r\n" in text else "\n"
        return f"---{end}{_merged('', edits, path, 0, end)}---{end}{text}"
    yaml, above = found
    start = _start_of(text, above)
    before, behind = text[:start], text[start + len(yaml) :]
    end = "\r\n" if (before or yaml.partition("\n")[0] + "\n").endswith("\r\n") else "\n"
    merged = _merged_by_lines(yaml, edits, path, above, end) if len(yaml) > _LARGE else None
    return before + (_merged(yaml, edits, path, above, end) if merged is None else merged) + behind


def _start_of(text: str, lines: int) -> int:
    start = 0
    for _ in range(lines):
        start = text.index("\n", start) + 1
    return start


def _merged_by_lines(yaml: str, edits: Mapping[str, Mapping[str, Edit]], path: str, above: int, end: str) -> str | None:
    """Like `_merged`, but only the entries that change are parsed; None if lines do not show which these are."""
    _check(yaml, path, above)
    for key in _KEYS:
        for config, edit in edits.get(key, {}).items():
            found = _with_entry(yaml, key, config, edit, path, above, end)
            if found is None:
                return None
            yaml = found
    return yaml


@lru_cache(maxsize=2)
def _check(yaml: str, path: str, above: int) -> None:
    """Refuse invalid YAML; a card is merged before its rows are written, and again afterwards."""
    check_yaml(yaml, path=path, lines_above=above)


def _with_entry(yaml: str, key: str, config: str, edit: Edit, path: str, above: int, end: str) -> str | None:
    entries = entry_lines(yaml, key)
    if entries is None or len(entries) < 2:  # one `dataset_info` is not a list
        return None
    names = [name for name, _, _ in entries]
    if config in names:
        first = min(names.index(config), len(names) - 2)
        last = first + 1
    else:
        is_sorted = not edit.is_last and names == sorted(names)
        first = last = max(0, bisect.bisect(names, config) - 1) if is_sorted else len(names) - 1
        if not is_sorted and config < names[last] and not edit.is_last:
            return None
    lines = yaml.split("\n")
    top = next(place for place in range(entries[0][1] - 1, -1, -1) if lines[place].startswith(key))
    start, stop = entries[first][1] if first else top + 1, entries[last][2]
    part = "\n".join([lines[top], *lines[start:stop]]) + "\n"
    made = _merged(part, {key: {config: edit}}, path, above + start - 1, end).split("\n")
    if made[0] != lines[top] or made[-1]:
        return None
    merged = "\n".join([*lines[:start], *made[1:-1], *lines[stop:]])
    place = last if config < names[last] and not edit.is_last else last + 1
    after = names if config in names else [*names[:place], config, *names[place:]]
    found = entry_lines(merged, key)
    return merged if found is not None and [name for name, _, _ in found] == after else None


def _merged(yaml: str, edits: Mapping[str, Mapping[str, Edit]], path: str, above: int, end: str) -> str:
    nodes = card_nodes(yaml, path=path, lines_above=above)
    wanted = {key: _Entries.of(key, nodes.get(key)).edited(edits[key]) for key in _KEYS if edits.get(key)}
    if all(entries.is_unchanged for entries in wanted.values()):
        return yaml
    spliced = _spliced(yaml, nodes, wanted, end)
    if spliced is None or not _says(spliced, nodes, wanted, path):
        spliced = _rewritten(nodes, wanted).replace("\n", end)
        if not _says(spliced, nodes, wanted, path):
            raise ManifestError(
                path,
                "its YAML cannot be edited without changing the meaning of the rest",
                advice="Write it without aliases and tags, or remove configs: and dataset_info:",
            )
    return spliced


# -- entries -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Entries:
    """Entries of one key, by config.

    Attributes:
        key: `configs` or `dataset_info`.
        old: the existing nodes.
        new: the new nodes; the same objects if unchanged.
        node: the value of the key; None without the key.
        name: the node of the key.
    """

    key: str
    old: dict[str, Any]
    new: dict[str, Any]
    node: Any
    name: Any

    @classmethod
    def of(cls, key: str, found: tuple[Any, Any] | None) -> _Entries:
        name, node = found or (None, None)
        items = [] if node is None or node.id == "scalar" else [node] if node.id == "mapping" else node.value
        old = {_config_of(item): item for item in items}
        return cls(key, old, dict(old), node, name)

    def edited(self, edits: Mapping[str, Edit]) -> _Entries:
        new = dict(self.old)
        for config, edit in edits.items():
            before = new.get(config)
            after = _edited(before, config, edit)
            if before is not None:
                new[config] = before if _same(before, after) else after
            elif not edit.is_last and [*new] == sorted(new):  # as the libraries of the Hub keep them
                new = dict(sorted({**new, config: after}.items()))
            else:
                new[config] = after
        return _Entries(self.key, self.old, new, self.node, self.name)

    @property
    def is_unchanged(self) -> bool:
        return [*map(id, self.old.values())] == [*map(id, self.new.values())]

    @property
    def value(self) -> Any:
        """Return the node of all entries: a mapping for one `dataset_info`, a list for several, and a list for configs."""
        if self.key == "configs" or len(self.new) != 1:
            return yaml_list([_named(node, config) for config, node in self.new.items()])
        ((config, node),) = self.new.items()
        rest = [(key, value) for key, value in node.value if key.value != "config_name"]
        return _mapping(rest) if config == "default" else _named(node, config)


def _config_of(node: Any) -> str:
    names = [str(value.value) for key, value in node.value if key.value == "config_name"]
    return names[-1] if names else "default"


def _edited(node: Any, config: str, edit: Edit) -> Any:
    pairs = [] if node is None else [(key, value) for key, value in node.value if key.value not in edit.dropped]
    places = {key.value: place for place, (key, _) in enumerate(pairs)}
    for key, value in edit.values.items():
        if key in places:
            pairs[places[key]] = pairs[places[key]][0], _kept_if_equal(pairs[places[key]][1], yaml_node(value))
        else:
            pairs.append((yaml_node(key), yaml_node(value)))
    made = _mapping(pairs)
    return _named(made, config) if node is None else made


def _kept_if_equal(old: Any, new: Any) -> Any:
    return old if _same(old, new) else new


def _named(node: Any, config: str) -> Any:
    """Return the entry with its name as the first key, unless it has one."""
    if any(key.value == "config_name" for key, _ in node.value):
        return node
    return _mapping([(yaml_node("config_name"), yaml_node(config)), *node.value])


def _mapping(pairs: list[tuple[Any, Any]]) -> Any:
    made = yaml_mapping([])
    made.value.extend(pairs)
    return made


# -- text --------------------------------------------------------------------------------------------------------------


def _spliced(yaml: str, nodes: Mapping[str, tuple[Any, Any]], wanted: Mapping[str, _Entries], end: str) -> str | None:
    """Return the YAML with the lines of changed entries replaced; None if the entries are not separated by lines."""
    lines = [line for line in _LINE.findall(yaml) if line]
    column = 0
    if nodes:
        column = next(iter(nodes.values()))[0].start_mark.column
        if _have_aliases(nodes, wanted):
            return None
    cuts: list[tuple[int, int, str]] = []
    for entries in wanted.values():
        if entries.is_unchanged:
            continue
        cut = _cuts(lines, entries, column)
        if cut is None:
            return None
        cuts += cut
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    cuts.sort(key=lambda cut: cut[:2])
    count = len(lines)
    for start, stop, new in reversed(cuts):  # from the last on: so of two at one place the first comes first
        lines[min(start, count) : min(stop, count)] = [new.replace("\n", end)]
    return "".join(lines)


def _cuts(lines: list[str], entries: _Entries, column: int) -> list[tuple[int, int, str]] | None:
    """Return the line ranges to replace, and their replacements."""
    if entries.node is None:
        behind = len(lines) + 1  # also behind an entry that comes at the end of the last key
        return [(behind, behind, _whole(entries, column))]
    line = entries.name.start_mark.line
    if entries.name.start_mark.column != column or lines[line][:column].strip(" "):
        return None
    items = _item_lines(lines, entries)
    if items is None:
        return [(line, max(_last_line(entries.node), line) + 1, _whole(entries, column))]
    cuts: list[tuple[int, int, str]] = []
    dash = lines[items[0][0]].index("-")
    place = line + 1
    spans = dict(zip(entries.old, items, strict=True))
    for config, node in entries.new.items():
        if config in spans:
            start, place = spans[config]
            if entries.old[config] is node:
                continue
        else:
            start = place
        cuts.append((start, place, _indented(yaml_text(yaml_list([node])), dash)))
    return cuts


def _whole(entries: _Entries, column: int) -> str:
    return _indented(yaml_text(yaml_mapping([(entries.key, entries.value)])), column)


def _item_lines(lines: list[str], entries: _Entries) -> list[tuple[int, int]] | None:
    """Return the first line of each entry of a list and the line after its last; None if entries share lines."""
    node = entries.node
    if node.id != "sequence" or node.flow_style or not node.value or entries.value.id != "sequence":
        return None
    spans = [(item.start_mark.line, _last_line(item) + 1) for item in node.value]
    for (start, _), item in zip(spans, node.value, strict=True):
        before = lines[start][: item.start_mark.column]
        if item.flow_style or before.strip(" ") != "-":
            return None
    return spans


def _last_line(node: Any) -> int:
    """Return the last line of the node."""
    if node.id != "scalar" and not node.flow_style and node.value:
        last = node.value[-1]
        return _last_line(last if node.id == "sequence" else last[1])
    mark = node.end_mark
    return int(mark.line) - int(mark.column == 0 and mark.line > node.start_mark.line)


def _indented(text: str, column: int) -> str:
    return "".join(f"{' ' * column}{line}\n" for line in text.splitlines()) if column else text


def _rewritten(nodes: Mapping[str, tuple[Any, Any]], wanted: Mapping[str, _Entries]) -> str:
    made = _mapping([(name, wanted[key].value if key in wanted else value) for key, (name, value) in nodes.items()])
    made.value.extend((yaml_node(key), entries.value) for key, entries in wanted.items() if key not in nodes)
    return yaml_text(made)


# -- meaning ------------------------------------------------------------------------------------------------------


def _says(yaml: str, nodes: Mapping[str, tuple[Any, Any]], wanted: Mapping[str, _Entries], path: str) -> bool:
    """Return True if the YAML has the intended changes, and everything else is unchanged."""
    try:
        found = card_nodes(yaml, path=path)
    except ManifestError:
        return False
    for key, (_, value) in nodes.items():
        if key not in wanted and (key not in found or not _same(found[key][1], value)):
            return False
    for key, entries in wanted.items():
        there = _Entries.of(key, found.get(key)).old
        if [*there] != [*entries.new]:
            return False
        if not all(_same(_unnamed(there[name]), _unnamed(node)) for name, node in entries.new.items()):
            return False
    return found.keys() == {*nodes, *wanted}


def _unnamed(node: Any) -> Any:
    return _mapping([(key, value) for key, value in node.value if key.value != "config_name"])


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if one.id != other.id or one.tag != other.tag:
        return False
    if one.id == "scalar":
        return bool(one.value == other.value)
    if len(one.value) != len(other.value):
        return False
    if one.id == "sequence":
        return all(map(_same, one.value, other.value))
    return all(_same(a, c) and _same(b, d) for (a, b), (c, d) in zip(one.value, other.value, strict=True))


def _have_aliases(nodes: Mapping[str, tuple[Any, Any]], keys: Iterable[str]) -> bool:
    """Return True if an alias connects values below one of the keys with values elsewhere."""
    seen: Counter[int] = Counter()
    below: set[int] = set()
    for key, (_, value) in nodes.items():
        waiting = [value]
        while waiting:
            node = waiting.pop()
            seen[id(node)] += 1
            if key in keys:
                below.add(id(node))
            if node.id == "sequence":
                waiting += node.value
            elif node.id == "mapping":
                waiting += [part for pair in node.value for part in pair]
    return any(seen[node] > 1 for node in below)
