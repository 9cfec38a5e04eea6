"""A builder as its confined process tells of it: plain values there, checked facts in the parent."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.builder_config import BuilderConfig, check_name
from datasets_core.building.versions import BlockedVersions, Versions
from datasets_core.confine.gen_values import decoded, encoded, shown_form
from datasets_core.confine.reported import shown
from datasets_core.errors import ConfigurationError, DatasetsCoreError, ScriptError
from datasets_core.features.schema import Features
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.info import DatasetInfo, info_of
from datasets_core.meta.version import Version

_LONGEST_NAME = 255
_MOST_CONFIGS = 100_000


# -- in the confined process -------------------------------------------------------------------------------------------


def class_form(cls: type[DatasetBuilder]) -> dict[str, Any]:
    """What a class says before a builder is made of it."""
    blocked = BlockedVersions.of(cls.BLOCKED_VERSIONS)
    return {
        "class": cls.__name__,
        "name": cls.class_name(),
        "doc": cls.__doc__,
        "configs": [_config_form(config, _shown) for config in cls.builder_configs.values()],
        "default": cls.DEFAULT_CONFIG_NAME,
        "version": None if cls.VERSION is None else str(cls.VERSION),
        "yields": cls.yields,
        "shuffle_on_write": bool(cls.shuffle_on_write),
        "requires_version": bool(cls.requires_version),
        "is_of_old_datasets": bool(cls.is_of_old_datasets),
        "blocked": [
            [[str(version), _reason(reason)] for version, reason in blocked.versions.items()],
            [[str(name), _blocked_form(found)] for name, found in blocked.configs.items()],
        ],
    }


def _reason(reason: object) -> str | None:
    return None if reason is None else str(reason)


def _blocked_form(found: Any) -> Any:
    return (
        {str(version): _reason(reason) for version, reason in found.items()} if isinstance(found, Mapping) else _reason(found)
    )


def builder_form(builder: DatasetBuilder) -> dict[str, Any]:
    """What a builder says once it is made."""
    versions = builder._versions
    return {
        "config": _config_form(builder.config, _held_form),
        "config_id": builder.config_id,
        "version": _version_form(builder.version),
        "canonical": _version_form(versions.canonical),
        "supported": [_version_form(version) for version in versions.supported],
        "refused": [str(version) for version in versions.blocked],
        "release_notes": builder.release_notes,
        "info": builder.info.to_dict(),
        "manual": builder.manual_download_instructions,
        "rereads": bool(builder.rereads),
        "merge_columns": bool(builder.merge_columns),
        "writer_batch_size": builder.writer_batch_size,
    }


def _version_form(version: Version) -> dict[str, Any]:
    release = version.library_version_to_prepare
    description = _reason(version.description)
    return {"version": str(version), "description": description, "release": None if release is None else str(release)}


def _config_form(config: Any, hold: Any) -> dict[str, Any]:
    fields = {name: encoded(value, hold) for name, value in vars(config).items() if not name.startswith("_")}
    return {"name": config.name, "fields": fields}


def _shown(value: Any) -> dict[str, Any]:
    if isinstance(value, Version):
        return {"held": {"version": _version_form(value)}}
    return shown_form(value)


def _held_form(value: Any) -> dict[str, Any]:
    if isinstance(value, Features):
        return {"held": {"features": value.to_dict()}}
    if isinstance(value, DataFilesDict):
        return {"held": {"files": files_form(value)}}
    return _shown(value)


def files_form(data_files: DataFilesDict) -> list[Any]:
    """Data files with what tells them from others."""
    return [[str(split), list(map(list, files.identities))] for split, files in data_files.items()]


def files_of(form: Sequence[Any]) -> DataFilesDict:
    """Data files of their form."""
    found = DataFilesDict()
    for split, identities in form:
        known = [(str(path), int(size), str(identity)) for path, size, identity in identities]
        found[str(split)] = DataFilesList((path for path, _, _ in known), known)
    return found


# -- in the parent -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shown:
    """A value of a config that stays in the confined process: its words.

    Args:
        text: its words.
    """

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """What a class of a confined script says, checked.

    Attributes:
        class_name, name: of the class, and of its builders.
        doc: its docstring.
        configs: its configs, in their order.
        default: the name of the default one.
        version: its version.
        yields: "rows" or "tables".
        shuffle_on_write, requires_version, is_of_old_datasets: as of `DatasetBuilder`.
        blocked: versions and configs that its author blocked.
    """

    class_name: str
    name: str
    doc: str | None
    configs: tuple[BuilderConfig, ...]
    default: str | None
    version: str | None
    yields: Any
    shuffle_on_write: bool
    requires_version: bool
    is_of_old_datasets: bool
    blocked: BlockedVersions

    @classmethod
    def of(cls, form: Mapping[str, Any], *, script: str) -> ClassFacts:
        """The facts of a form.

        Raises:
            ScriptError: it is not what `class_form` makes.
        """
        with _Checked(script):
            versions, configs = form["blocked"]
            yields = _text(form["yields"])
            if yields not in ("rows", "tables"):
                raise ValueError(yields)
            if len(form["configs"]) > _MOST_CONFIGS:
                raise ValueError("too many configs")
            return cls(
                class_name=_identifier(form["class"]),
                name=_folder_name(form["name"]),
                doc=_optional(form["doc"]),
                configs=tuple(_config_of(each) for each in form["configs"]),
                default=_optional(form["default"]),
                version=_optional(form["version"]),
                yields=yields,
                shuffle_on_write=form["shuffle_on_write"] is True,
                requires_version=form["requires_version"] is True,
                is_of_old_datasets=form["is_of_old_datasets"] is True,
                blocked=BlockedVersions(_reasons(versions), {_text(name): _blocked_of(found) for name, found in configs}),
            )


@dataclass(frozen=True, slots=True)
class BuilderFacts:
    """What a builder of a confined script says, checked.

    Attributes:
        config, config_id: its config, and the name of that one's folder.
        version, versions: the version that was picked, and all that are listed.
        release_notes: what changed, by version.
        info: its info.
        manual: how to fetch what is fetched by hand.
        rereads, merge_columns, writer_batch_size: as of `DatasetBuilder`.
    """

    config: BuilderConfig
    config_id: str
    version: Version
    versions: Versions
    release_notes: dict[str, str]
    info: DatasetInfo
    manual: str | None
    rereads: bool
    merge_columns: bool
    writer_batch_size: int | None

    @classmethod
    def of(cls, form: Mapping[str, Any], *, script: str) -> BuilderFacts:
        """The facts of a form.

        Raises:
            ScriptError: it is not what `builder_form` makes, or names what no folder can be called.
        """
        info = info_of(form.get("info"), path=script, place="the info of its builder")
        with _Checked(script):
            supported = tuple(map(_version_of, form["supported"]))
            blocked = frozenset(Version(_text(version)) for version in form["refused"])
            batch = form["writer_batch_size"]
            if batch is not None and (type(batch) is not int or batch < 1):
                raise ValueError(batch)
            config = _config_of(form["config"])
            if not isinstance(config.version, str | Version | None) or not isinstance(config.data_files, DataFilesDict | None):
                raise TypeError("a version, or data files, that are none")
            notes = {_text(version): _text(note) for version, note in form["release_notes"].items()}
            return cls(
                config=config,
                config_id=_folder_name(form["config_id"]),
                version=_version_of(form["version"]),
                versions=Versions(_version_of(form["canonical"]), supported, blocked),
                release_notes=notes,
                info=info,
                manual=None if form["manual"] is None else shown(_text(form["manual"])),
                rereads=form["rereads"] is True,
                merge_columns=form["merge_columns"] is True,
                writer_batch_size=batch,
            )


class _Checked:
    """What is wrong with a form, as one error that names the script."""

    def __init__(self, script: str) -> None:
        self._script = script

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (KeyError, TypeError, ValueError, AttributeError)) and not isinstance(error, DatasetsCoreError):
            reason = f"its confined process tells of a builder that cannot be ({type(error).__name__}: {str(error)[:200]})"
            raise ScriptError(self._script, reason, advice="Do not trust it") from error


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{type(value).__name__} for a text")
    return value


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _identifier(value: Any) -> str:
    if not _text(value).isidentifier() or len(value) > _LONGEST_NAME:
        raise ValueError(f"a class called {value[:100]!r}")
    return str(value)


def _folder_name(value: Any) -> str:
    check_name(_text(value))
    if len(os.fsencode(value)) > _LONGEST_NAME or not value.isprintable() or ".incomplete-" in value:
        raise ConfigurationError(f"{value[:100]!r} is no name for a folder. Mend the names in the script.")
    return str(value)


def _version_of(form: Mapping[str, Any]) -> Version:
    return Version(
        _text(form["version"]), _optional(form["description"]), library_version_to_prepare=_optional(form["release"])
    )


def _reasons(pairs: Iterable[Any]) -> dict[str, str | None]:
    return {_text(version): _optional(reason) for version, reason in pairs}


def _blocked_of(found: Any) -> Any:
    return _reasons(found.items()) if isinstance(found, dict) else _optional(found)


def _config_of(form: Mapping[str, Any]) -> BuilderConfig:
    config = BuilderConfig(name=_text(form["name"]))
    for name, value in form["fields"].items():
        if name == "name":
            continue
        if not name.isidentifier() or name.startswith("_") or callable(getattr(BuilderConfig, name, None)):
            raise ValueError(f"a field called {name[:100]!r}")
        setattr(config, name, decoded(value, _held_of))
    if not isinstance(config.description, str | None) or not isinstance(config.data_dir, str | None):
        raise TypeError("a description, or a data_dir, that is no text")
    return config


def _held_of(form: Mapping[str, Any]) -> Any:
    ((kind, inner),) = form.items()
    if kind == "version":
        return _version_of(inner)
    if kind == "features":
        return Features.from_dict(inner)
    if kind == "files":
        return files_of(inner)
    if kind == "shown":
        return Shown(_text(inner))
    raise ValueError(kind)
