"""Dataset cards and `dataset_infos.json`: configs and infos recorded by the author of a repository.

The author is not trusted: the YAML makes plain values only, its size is limited as if every alias were expanded, and a
card names only files of its own repository.  Errors name file and line.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, NoReturn
from urllib.parse import unquote

import yaml

from datasets_core.errors import ConfigurationError, DatasetsCoreError, ManifestError
from datasets_core.errors.fetching import restated
from datasets_core.features.schema import Features
from datasets_core.meta.info import Card, ConfigEntry, DatasetInfo, info_of, is_config_name, parse_json
from datasets_core.meta.splits import NamedSplit
from datasets_core.meta.version import Version

MAX_TEXT = 32 << 20
MAX_NODES = 500_000
MAX_DEPTH = 64

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CLOSING = re.compile(r"^---[ \t]*\r?$", re.MULTILINE)
_OPENING = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*\r?\n")
_OURS = re.compile(r"^(?:configs|dataset_info)[ \t]*:", re.MULTILINE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://|[\\/])|[A-Za-z]:")
# Scalars below these keys are names, which YAML would read as numbers, dates or booleans: a class called `no`.
_TEXT_KEYS = frozenset(
    {"config_name", "name", "names", "split", "path", "data_dir", "data_files", "dtype", "version", "description"}
)


def read_card(text: str, *, path: str) -> Card:
    """Return the configs and infos in a card.

    Args:
        text: a `README.md`, whose front matter is read, or a `.yaml` file, which is read whole.  A README without front
            matter is a card without configs.
        path: name of the file, which also distinguishes the two.

    Raises:
        ManifestError: the YAML is broken, or a value has the wrong kind; the error names the line.
        ConfigurationError: a path leaves the repository; the error names the line.

    >>> read_card("---\\nconfigs:\\n- config_name: en\\n  data_files: en/*.csv\\n---\\n# Title\\n", path="README.md").configs
    [ConfigEntry(name='en', data_files={'train': ['en/*.csv']}, data_dir=None, default=False, version=None, options={})]
    """
    if len(text) > MAX_TEXT:
        raise ManifestError(path, f"it is longer than {MAX_TEXT:,} characters")
    found = front_matter(text, path=path)
    return read_yaml(found[0], path=path, lines_above=found[1]) if found else Card()


def read_yaml(text: str, *, path: str, lines_above: int) -> Card:
    """Return the configs and infos in the YAML of a card.

    Args:
        text: the YAML, or a self-contained part of it.
        path: name of the file.
        lines_above: number of lines of the file above it.

    Raises:
        ManifestError, ConfigurationError: as for `read_card`.
    """
    return _CardReader(path, lines_above).card(text)


def front_matter(text: str, *, path: str) -> tuple[str, int] | None:
    """Return the YAML of a card and the number of lines above it; None if a README has none.

    Raises:
        ManifestError: the front matter is not closed.
    """
    if path.endswith((".yaml", ".yml")):
        return text, 0
    opening = _OPENING.match(text)
    if opening is None:
        return None
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        if _OURS.search(text):
            raise ManifestError(path, "the front matter that begins with '---' is not closed by a second '---'")
        return None  # a horizontal rule, and no front matter
    return text[opening.end() : closing.start()], text.count("\n", 0, opening.end())


def card_nodes(text: str, *, path: str, lines_above: int = 0) -> dict[str, tuple[Any, Any]]:
    """Return the YAML nodes of key and value, by top-level key.

    Args:
        text: YAML without its delimiters.
        path: name of the file.
        lines_above: number of lines of the file above it.

    Raises:
        ManifestError: the YAML is broken, or is not a mapping.
    """
    return _CardReader(path, lines_above).top_level(text)


def check_yaml(text: str, *, path: str, lines_above: int = 0) -> None:
    """Refuse invalid YAML, without the time that constructing its values would take.

    Raises:
        ManifestError: as for `card_nodes`.
    """
    _CardReader(path, lines_above).check(text)


def yaml_node(value: Any) -> Any:
    """Return the node of a plain value."""
    return _Writer(io.StringIO(), sort_keys=False, default_flow_style=False).represent_data(value)


def yaml_mapping(entries: Iterable[tuple[str, Any]]) -> Any:
    """Return the node of a mapping from texts to nodes, in block style."""
    pairs = [(yaml_node(key), node) for key, node in entries]
    return yaml.MappingNode("tag:yaml.org,2002:map", pairs, flow_style=False)


def yaml_list(nodes: Iterable[Any]) -> Any:
    """Return the node of a list of nodes, in block style."""
    return yaml.SequenceNode("tag:yaml.org,2002:seq", list(nodes), flow_style=False)


def yaml_text(node: Any) -> str:
    """Return the YAML of a node, as the libraries of the Hub write it: lines are folded only where these would fold them."""
    return str(yaml.serialize(node, Dumper=yaml.SafeDumper, allow_unicode=True))


class _Writer(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True  # an alias is expanded when written


class _CardReader:
    """Reads the YAML of one card; errors name its file and line."""

    def __init__(self, path: str, lines_above: int) -> None:
        self._path, self._lines_above = path, lines_above
        self._scalars = yaml.constructor.SafeConstructor()

    def card(self, text: str) -> Card:
        root = self._root(text)
        if root is None:
            return Card()
        wanted = {key: value for key, value in self._pairs(root) if key.value in ("configs", "dataset_info")}
        values = {key.value: value for key, value in wanted.items()}
        return Card(self._configs(values.get("configs")), self._infos(values.get("dataset_info")))

    def top_level(self, text: str) -> dict[str, tuple[Any, Any]]:
        root = self._root(text)
        return {} if root is None else {key.value: (key, value) for key, value in self._pairs(root)}

    def check(self, text: str) -> None:
        self._compose(text, only_looks="*" not in text and "&" not in text)

    def _root(self, text: str) -> Any:
        """Return the YAML as a mapping; None if it is empty."""
        root = self._compose(text)
        if root is None or _is_null(root):
            return None
        if not isinstance(root, yaml.MappingNode):
            self._fail(root, "the card's YAML is not a mapping of keys to values")
        return root

    # -- configs -------------------------------------------------------------------------------------------------------

    def _configs(self, node: Any) -> list[ConfigEntry]:
        if node is None or _is_null(node):
            return []
        if not isinstance(node, yaml.SequenceNode):
            self._fail(node, "configs is not a list; begin each config with '- config_name:'")
        found: dict[str, ConfigEntry] = {}
        default: str | None = None
        for item in node.value:
            entry = self._config(item)
            if entry.name in found:
                self._fail(item, f"there are two configs named {entry.name!r}")
            if entry.default and default is not None:
                self._fail(item, f"both {default!r} and {entry.name!r} are marked 'default: true'")
            default = entry.name if entry.default else default
            found[entry.name] = entry
        return list(found.values())

    def _config(self, node: Any) -> ConfigEntry:
        form, lines = self._mapping(node, "a config")
        if "config_name" not in form:
            self._fail(node, "a config has no config_name")
        at = lines.get
        name = self._config_name(form.pop("config_name"), at("config_name"))
        default, version = form.pop("default", None), form.pop("version", None)
        if not isinstance(default, (bool, type(None))):
            self._fail(at("default"), f"default is {default!r}, expected true or false")
        if version is not None:
            self._trying(at("version"), partial(Version, version))
        data_dir = form.pop("data_dir", None)
        if data_dir is not None:
            self._inside(data_dir, "data_dir", at("data_dir"))
        data_files = self._data_files(form.pop("data_files"), at("data_files")) if form.get("data_files") is not None else None
        form.pop("data_files", None)
        if form.get("features") is not None:
            form["features"] = self._trying(at("features"), partial(Features.from_yaml_list, form["features"]))
        return ConfigEntry(name, data_files, data_dir, bool(default), version, form)

    def _config_name(self, name: Any, node: Any) -> str:
        if not is_config_name(name):
            self._fail(node, f"the config_name {name!r} is not a string without any of <>:/\\|?*")
        return str(name)

    def _data_files(self, form: Any, node: Any) -> dict[str, list[str]]:
        if isinstance(form, str) or (isinstance(form, list) and form and all(isinstance(item, str) for item in form)):
            return {"train": self._patterns(form, node)}
        if not isinstance(form, list) or not form or not all(isinstance(item, dict) for item in form):
            self._fail(node, "data_files is not a string, a list of strings or a list of {split, path}")
        found: dict[str, list[str]] = {}
        for item, place in zip(form, node.value, strict=True):
            if set(item) != {"split", "path"}:
                self._fail(place, f"an item of data_files has the keys {sorted(item)}, expected 'split' and 'path'")
            split = item["split"]
            if not isinstance(split, str):
                self._fail(place, f"the split {split!r} is not a string")
            self._trying(place, partial(NamedSplit, split))
            if split in found:
                self._fail(place, f"the split {split!r} appears twice in data_files")
            found[split] = self._patterns(item["path"], place)
        return found

    def _patterns(self, form: Any, node: Any) -> list[str]:
        patterns = [form] if isinstance(form, str) else form
        if not isinstance(patterns, list) or not patterns:
            self._fail(node, f"the path {form!r} is not a string or a list of strings")
        for pattern in patterns:
            self._inside(pattern, "data_files", node)
        return patterns

    def _inside(self, path: Any, key: str, node: Any) -> None:
        if not isinstance(path, str) or not path:
            self._fail(node, f"{key} names {path!r}, which is not a path")
        reason = way_out(path)
        if reason:
            raise ConfigurationError(
                f"{self._path}, line {self._line(node)}: {key} names {path!r}, which {reason}. "
                "A card may only name files of its own repository, by relative paths."
            )

    # -- infos ---------------------------------------------------------------------------------------------------------

    def _infos(self, node: Any) -> dict[str, DatasetInfo]:
        if node is None or _is_null(node):
            return {}
        items = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found: dict[str, DatasetInfo] = {}
        for item in items:
            form, lines = self._mapping(item, "dataset_info")
            if form.get("config_name") is None:
                if len(items) > 1:
                    self._fail(item, "one of several dataset_info has no config_name")
                form["config_name"] = "default"
            name = self._config_name(form["config_name"], lines.get("config_name", item))
            if name in found:
                self._fail(item, f"there are two dataset_info of config {name!r}")
            for key in ("features", "splits"):
                if form.get(key) is not None and not isinstance(form[key], list):
                    self._fail(lines[key], f"{key} of dataset_info is not a list")
            found[name] = self._trying(item, partial(DatasetInfo.from_yaml_dict, form))
        return found

    # -- YAML ----------------------------------------------------------------------------------------------------------

    def _compose(self, text: str, *, only_looks: bool = False) -> Any:
        try:
            _Weigher(self._fail).weigh(_events(text))
            if only_looks:
                return None
            loader = _Loader(text)
            try:
                return loader.get_single_node()
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            problem = " ".join(filter(None, (error.context, error.problem))) or "it cannot be read"
            line = None if mark is None else mark.line + 1 + self._lines_above
            is_deep = "maximum nesting depth" in problem  # a limit of libyaml itself, for brackets
            reason = f"the YAML is nested deeper than {MAX_DEPTH} levels" if is_deep else f"the YAML is broken: {problem}"
            raise ManifestError(self._path, f"{'' if line is None else f'line {line}: '}{reason}") from error
        except (yaml.YAMLError, UnicodeError) as error:
            position = getattr(error, "position", getattr(error, "start", 0)) or 0
            line = text.count("\n", 0, position) + 1 + self._lines_above
            raise ManifestError(self._path, f"near line {line}: the YAML contains a character that is not allowed") from error

    def _pairs(self, node: Any) -> Iterator[tuple[Any, Any]]:
        """Yield the keys and values of a mapping node, with merges (`<<`) expanded; for a duplicate key, the last value is
        used.

        The libraries of the Hub do the same.
        """
        merge = None
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                self._fail(key, "a key is not a plain string")
            merge = key if key.tag == "tag:yaml.org,2002:merge" else merge
        if merge is not None:
            try:
                self._scalars.flatten_mapping(node)
            except yaml.MarkedYAMLError as error:
                raise ManifestError(self._path, f"line {self._line(merge)}: '<<' does not name a mapping") from error
        return iter({key.value: (key, value) for key, value in node.value}.values())

    def _mapping(self, node: Any, what: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a mapping as plain values, and the node of each value."""
        if not isinstance(node, yaml.MappingNode):
            self._fail(node, f"{what} is not a mapping of keys to values")
        pairs = list(self._pairs(node))
        values = {key.value: self._plain(value, key.value) for key, value in pairs}
        return values, {key.value: value for key, value in pairs}

    def _plain(self, node: Any, key: str) -> Any:
        kind = node.tag.removeprefix("tag:yaml.org,2002:")
        if kind == "seq" and isinstance(node, yaml.SequenceNode):
            return [self._plain(item, key) for item in node.value]
        if kind == "map" and isinstance(node, yaml.MappingNode):
            pairs = list(self._pairs(node))
            return {name.value: self._plain(value, "names" if key == "names" else name.value) for name, value in pairs}
        if kind in ("str", "timestamp") or (kind in ("bool", "int", "float") and key in _TEXT_KEYS):
            return node.value
        if kind == "null":
            return node.value if key == "dtype" and node.value else None
        if kind not in ("bool", "int", "float") or not isinstance(node, yaml.ScalarNode):
            self._fail(node, f"the tag {node.tag!r} is not allowed")
        try:
            return getattr(self._scalars, f"construct_yaml_{kind}")(node)
        except (ValueError, KeyError) as error:
            raise ManifestError(self._path, f"line {self._line(node)}: {node.value[:40]!r} cannot be read as {kind}") from error

    def _trying(self, node: Any, make: Callable[[], Any]) -> Any:
        """Return the result of `make`; any error becomes one about this line of the card."""
        try:
            return make()
        except DatasetsCoreError as error:
            raise restated(error, path=self._path, where=f"line {self._line(node)}: ") from error
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            reason = f"the value is invalid ({type(error).__name__}: {error})"
            raise ManifestError(self._path, f"line {self._line(node)}: {reason}") from error

    def _line(self, node: Any) -> int:
        return int(node.start_mark.line) + 1 + self._lines_above

    def _fail(self, node: Any, reason: str) -> NoReturn:
        raise ManifestError(self._path, f"line {self._line(node)}: {reason}")


def _is_null(node: Any) -> bool:
    return isinstance(node, yaml.ScalarNode) and node.tag == "tag:yaml.org,2002:null"


def _events(text: str) -> Iterator[Any]:
    loader = _Loader(text)
    try:
        while loader.check_event():
            yield loader.get_event()
    finally:
        loader.dispose()


@dataclass(slots=True)
class _Weight:
    anchor: str | None
    nodes: int = 1
    height: int = 1


class _Weigher:
    """Measures a document event by event before it is constructed; each alias counts as its target."""

    def __init__(self, fail: Callable[[Any, str], NoReturn]) -> None:
        self._fail = fail
        self._open: list[_Weight] = []
        self._known: dict[str, _Weight] = {}

    def weigh(self, events: Iterable[Any]) -> None:
        """Call `fail` if the document is too large, too deep, or contains itself."""
        for event in events:
            if isinstance(event, yaml.CollectionStartEvent):
                self._open.append(_Weight(event.anchor))
                if len(self._open) > MAX_DEPTH:
                    self._fail(event, f"the YAML is nested deeper than {MAX_DEPTH} levels")
            elif isinstance(event, yaml.CollectionEndEvent):
                self._close(self._open.pop(), event)
            elif isinstance(event, yaml.ScalarEvent):
                self._close(_Weight(event.anchor), event)
            elif isinstance(event, yaml.AliasEvent):
                if any(weight.anchor == event.anchor for weight in self._open):
                    self._fail(event, f"the alias *{event.anchor} is inside the value that it refers to")
                known = self._known.get(str(event.anchor), _Weight(None))
                self._close(_Weight(None, known.nodes, known.height), event)

    def _close(self, weight: _Weight, event: Any) -> None:
        if weight.anchor is not None:
            self._known[weight.anchor] = weight
        if len(self._open) + weight.height > MAX_DEPTH + 1:
            self._fail(event, f"the YAML is nested deeper than {MAX_DEPTH} levels")
        if self._open:
            above = self._open[-1]
            above.nodes += weight.nodes
            above.height = max(above.height, weight.height + 1)
            if above.nodes > MAX_NODES:
                self._fail(event, f"the YAML contains more than {MAX_NODES:,} values with aliases expanded")


def way_out(path: str) -> str | None:
    """Return why a path of a card may lead out of its repository; None for a path that stays inside.

    >>> way_out("data/*.csv"), way_out("../x"), way_out("s3://bucket/x")
    (None, "contains '..'", 'has a scheme')
    """
    for text in (path, unquote(path)):
        steps = re.split(r"[/\\]", text)
        if any(ord(character) < 32 for character in text):
            return "contains a control character"
        if "::" in text:
            return "chains file systems with '::'"
        if _SCHEME.match(text) or "://" in text:
            return "has a scheme"
        if not steps[0] or steps[0].startswith("~"):
            return "is absolute"
        if ".." in (step.strip() for step in steps):
            return "contains '..'"
    return None


def read_dataset_infos(text: str | bytes, *, path: str) -> dict[str, DatasetInfo]:
    """Return the infos of an old `dataset_infos.json`, by config name.

    Raises:
        ManifestError: it is not such a JSON file; the error names the line or the config.
    """
    form = parse_json(text, path=path)
    if not isinstance(form, dict):
        raise ManifestError(path, "it does not contain an object of infos by config name")
    found = {name: info_of(info, path=path, place=f"config {name!r}") for name, info in form.items()}
    for name, info in found.items():
        info.config_name = info.config_name or name
    return found
