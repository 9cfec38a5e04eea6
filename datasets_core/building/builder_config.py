"""`BuilderConfig`: one variant of a dataset, and the id that names its folder."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from datasets_core.errors import ConfigurationError, UnknownOptionError
from datasets_core.fetch.hub_url import without_commit
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.version import Version
from datasets_core.store.fingerprint import Hasher

if TYPE_CHECKING:
    from datasets_core.features.schema import Features

_NO_VERSION = Version("0.0.0")
_FORBIDDEN = frozenset('<>:/\\|?*"')
_READABLE = 32  # characters of options that are spelled out in an id, as Hugging Face does
_LONGEST = 255  # bytes of one folder name on the usual file systems


@dataclasses.dataclass(eq=False)
class BuilderConfig:
    """One variant of a dataset: subclass it to add options.

    Args:
        name: what the user calls it.
        version: its version; `0.0.0` stands for the version of the builder's class.
        data_dir: folder of the user's files (manual downloads, or where data files are looked for).
        data_files: the data files by split.
        description: for people.
        supported_versions: other versions that it has; none stands for those of the builder's class.
        release_notes: what changed, by version; none stands for those of the builder's class.

    >>> BuilderConfig("en", version="1.2.0").create_config_id({"lower": True})
    'en-lower=True'
    """

    name: str = "default"
    version: Version | str | None = _NO_VERSION
    data_dir: str | None = None
    data_files: Any = None
    description: str | None = None
    supported_versions: Iterable[Version | str] = dataclasses.field(default=(), kw_only=True)
    release_notes: Mapping[str, str] | None = dataclasses.field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        check_name(self.name)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]  # mutable

    def create_config_id(self, config_kwargs: dict[str, Any], custom_features: Features | None = None) -> str:
        """The name of this config's folder: its name, and a suffix of what the user changed.

        Args:
            config_kwargs: the options that the user gave.
            custom_features: the features that the user gave.
        """
        suffix = _options_suffix(config_kwargs)
        parts: list[Any] = [suffix] if suffix else []
        if isinstance(self.data_files, DataFilesDict):
            named = self.data_files.items()
            # As one text: a file of thousands costs the hash a microsecond this way, and ten value by value.
            # A commit that changes none of them is no part of it.
            known = {split: [(without_commit(path), *rest) for path, *rest in files.identities] for split, files in named}
            parts.append(json.dumps(known))
        elif self.data_files is not None:
            parts.append(self.data_files)
        if custom_features is not None:
            parts.append(custom_features.to_dict())
        if len(parts) > (1 if suffix else 0):
            suffix = Hasher.hash(parts)
        if not suffix:
            return self.name
        readable = f"{self.name}-{suffix}"
        return readable if len(readable.encode()) <= _LONGEST else f"{self.name[:100]}-{Hasher.hash([self.name, suffix])}"


def check_name(name: object) -> None:
    """Refuse a name that cannot be a folder's.

    Raises:
        ConfigurationError: `name` is no text, is empty, or holds a character that file systems refuse.
    """
    if not isinstance(name, str) or not name or name in {".", ".."}:
        raise ConfigurationError(f"A config cannot be called {name!r}. Give it a name of letters, digits, '-', '_' or '.'.")
    bad = sorted(_FORBIDDEN.intersection(name))
    if bad:
        raise ConfigurationError(
            f"The config name {name!r} holds {bad[0]!r}, which no folder name may hold. Choose another name."
        )


def _options_suffix(config_kwargs: dict[str, Any]) -> str:
    options = {
        name: config_kwargs[name] for name in sorted(config_kwargs) if name not in {"name", "version", "data_files", "features"}
    }
    if options.get("data_dir") is None:
        options.pop("data_dir", None)
    else:
        options["data_dir"] = os.path.normpath(options["data_dir"])
    if not options:
        return ""
    if all(isinstance(value, (str, bool, int, float)) for value in options.values()):
        from urllib.parse import quote_plus  # 3 ms that a config without options does without

        spelled = ",".join(f"{name}={quote_plus(str(value))}" for name, value in options.items())
        if len(spelled) <= _READABLE:
            return spelled
    return Hasher.hash(options)


def option_names(config_class: type[BuilderConfig]) -> list[str]:
    """The keyword arguments that a config class takes, its parents' included as far as it passes them on."""
    found: dict[str, None] = {}
    for parent in config_class.__mro__:
        if "__init__" not in vars(parent) or parent is object:
            continue
        parameters = inspect.signature(vars(parent)["__init__"]).parameters.values()
        plain = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found.update(dict.fromkeys(p.name for p in parameters if p.kind in plain and p.name != "self"))
        if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
            break
    return list(found)


def make_config(config_class: type[BuilderConfig], options: dict[str, Any], *, builder: str) -> BuilderConfig:
    """A new config of `config_class`.

    Raises:
        UnknownOptionError: the class takes no such option.
    """
    try:
        return config_class(**options)
    except TypeError as error:
        unknown = [name for name in options if "unexpected keyword argument" in str(error) and f"'{name}'" in str(error)]
        if not unknown:
            raise
        raise UnknownOptionError(unknown[0], builder=builder, known=option_names(config_class)) from error


def change_config(config: BuilderConfig, options: dict[str, Any], *, builder: str) -> BuilderConfig:
    """A copy of `config` with the user's options in place of its own; None keeps the config's.

    Raises:
        UnknownOptionError: the config has no such attribute.
    """
    changed = _copy(config)
    for name, value in options.items():
        if not hasattr(changed, name):
            known = dict.fromkeys([*option_names(type(config)), *(key for key in vars(config) if not key.startswith("_"))])
            raise UnknownOptionError(name, builder=builder, known=known)
        if value is not None:
            setattr(changed, name, value)
    return changed


def _copy(config: BuilderConfig) -> BuilderConfig:
    try:
        return copy.deepcopy(config)
    except TypeError:  # an attribute that has no copy, such as a module, is shared
        return copy.copy(config)
