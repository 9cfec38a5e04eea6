"""Versions of a builder: the requested one, those it can prepare, and blocked ones."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple

from datasets_core.building.built import BuiltPushing
from datasets_core.building.options import check_hashes
from datasets_core.errors import (
    ArgumentTypeError,
    BlockedVersionError,
    ConfigurationError,
    ExperimentalVersionWarning,
    MissingVersionError,
    UnknownVersionError,
    UnpreparableVersionError,
)
from datasets_core.meta.version import NO_VERSION, Version, as_version, check_pattern, highest
from datasets_core.store.manifest import Manifest

EXPERIMENTAL_LATEST = "experimental_latest"


def is_pattern(requested: object) -> bool:
    """Return True if a requested version is a pattern.

    >>> is_pattern("1.*.*"), is_pattern("1.0.0"), is_pattern(None)
    (True, False, False)
    """
    return isinstance(requested, str) and requested != EXPERIMENTAL_LATEST and not Version.is_valid(requested)


class Versions(NamedTuple):
    """The versions listed by a builder.

    Attributes:
        canonical: the default version.
        supported: other versions, above or below it.
        blocked: versions blocked by their author.

    >>> listed = Versions.of("2.0.1", ["3.0.0", "3.1.1", "1.0.0"])
    >>> listed.pick("3.*.*", dataset="reviews"), listed.preparable
    (3.1.1, (2.0.1, 3.1.1))
    """

    canonical: Version
    supported: tuple[Version, ...] = ()
    blocked: frozenset[Version] = frozenset()

    @classmethod
    def of(cls, canonical: str | Version, supported: Iterable[str | Version] | None = None) -> Versions:
        """Return the versions, given as versions or strings.

        Raises:
            ReferenceSyntaxError: a version is invalid.
        """
        if isinstance(supported, (str, Version)):
            supported = [supported]
        return cls(as_version(canonical), tuple(map(as_version, supported or ())))

    @property
    def all(self) -> tuple[Version, ...]:
        """Every version once, the canonical one first."""
        return tuple(dict.fromkeys((self.canonical, *self.supported)))

    @property
    def free(self) -> tuple[Version, ...]:
        """Versions that are not blocked."""
        return tuple(version for version in self.all if version not in self.blocked)

    @property
    def preparable(self) -> tuple[Version, ...]:
        """The canonical version and the highest one that are not blocked, unless only an older release prepares them."""
        free = self.free
        ends = dict.fromkeys(version for version in (self.canonical, max(free, default=self.canonical)) if version in free)
        return tuple(version for version in ends if version.library_version_to_prepare is None)

    def without(self, is_blocked: Callable[[Version], bool]) -> Versions:
        """Return a copy with the versions blocked for which `is_blocked` is true."""
        return self._replace(blocked=frozenset(filter(is_blocked, self.all)))

    def pick(self, requested: str | Version | None, *, dataset: str) -> Version:
        """Return the requested version: for a pattern the highest match, independent of the order of the list.

        A blocked version is returned only if it is requested exactly, or no other fits.

        Args:
            requested: a version, a pattern, "experimental_latest" for the highest of all, None for the canonical one.
            dataset: name of the dataset for messages.

        Raises:
            UnknownVersionError: no listed version fits.
            ReferenceSyntaxError: `requested` is neither a version nor a pattern.
        """
        if requested is None:
            return self.canonical
        if not isinstance(requested, (str, Version)):
            raise ArgumentTypeError(
                f"version is {requested!r}",
                advice="Pass a version such as '1.0.0', or a pattern such as '1.*.*'",
                value=requested,
            )
        if isinstance(requested, str) and requested == EXPERIMENTAL_LATEST:
            return max(self.free or self.all)
        pattern = check_pattern(requested)
        found = highest(pattern, self.free) or highest(pattern, self.all)
        if found is None:
            raise UnknownVersionError(requested, dataset=dataset, known=self.free)
        return found


NO_VERSIONS = Versions(NO_VERSION)
"""Versions of a builder without listed versions."""


@dataclass(frozen=True, slots=True)
class BlockedVersions:
    """The versions and configs blocked by the author of a builder, with the reasons (or None).

    Args:
        versions: reason by version, or by a pattern such as `1.*.*`.
        configs: reason by config, or a dict of reasons by version.

    Example:
        >>> from datasets_core import BlockedVersions
        >>> blocked = BlockedVersions(versions={"1.0.0": "wrong labels"}, configs={"tiny": "empty"})
        >>> blocked.is_blocked("1.0.0"), blocked.is_blocked("2.0.0", "tiny"), blocked.is_blocked("2.0.0")
        ((True, 'wrong labels'), (True, 'empty'), (False, None))
    """

    versions: Mapping[str, str | None] = field(default_factory=dict)
    configs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> BlockedVersions:
        """Return blocked versions in their standard form.

        Args:
            value: a `BlockedVersions`, a mapping of versions to reasons, a list of versions, or None.

        Raises:
            ConfigurationError: the value has another type.
        """
        if value is None or isinstance(value, cls):
            return value or cls()
        if isinstance(value, Mapping):
            return cls(**value) if value and value.keys() <= {"versions", "configs"} else cls(versions=value)
        if isinstance(value, (list, tuple, set, frozenset)):
            return cls(versions=dict.fromkeys(map(str, value)))
        raise ConfigurationError(
            f"BLOCKED_VERSIONS is {value!r}", advice="Use BlockedVersions(versions={'1.0.0': 'why'})", value=value
        )

    def is_blocked(self, version: str | Version, config: str | None = None) -> tuple[bool, str | None]:
        """Return whether a version, or a config in it, is blocked, and the reason.

        Args:
            version: the version.
            config: the name of the config.
        """
        found = as_version(version)
        of_config = self.configs.get(config, {}) if config is not None else {}
        for reasons in (self.versions, of_config):
            if reasons is None or isinstance(reasons, str):
                return True, reasons
            for pattern, reason in reasons.items():
                if found.match(pattern):
                    return True, reason
        return False, None


# `Versioned`: the versions of a builder, and properties of the selected one.


class Versioned(BuiltPushing):
    """The versions of a builder.

    Attributes:
        VERSION: the canonical version.
        SUPPORTED_VERSIONS: other versions supported by the code, above or below the canonical one.
        RELEASE_NOTES: changes, by version.
        BLOCKED_VERSIONS: versions and configs that are refused, with the reasons.
        requires_version: True to refuse a builder without a version; otherwise its version is `0.0.0`.
    """

    VERSION: ClassVar[Version | str | None] = None
    SUPPORTED_VERSIONS: ClassVar[Iterable[Version | str]] = ()
    RELEASE_NOTES: ClassVar[Mapping[str, str] | None] = None
    BLOCKED_VERSIONS: ClassVar[BlockedVersions | Mapping[str, Any] | Iterable[str] | None] = None
    requires_version: ClassVar[bool] = False

    dataset_name: str
    _cache_dir: str
    _versions: Versions
    _version: Version

    @property
    def canonical_version(self) -> Version:
        """The default version: that of the config, else of the class."""
        return self._versions.canonical

    @property
    def supported_versions(self) -> list[Version]:
        """The other versions: those of the config, else of the class."""
        return list(self._versions.supported)

    @property
    def versions(self) -> list[Version]:
        """Every version, the canonical one first."""
        return list(self._versions.all)

    @property
    def release_notes(self) -> dict[str, str]:
        """Changes by version: the release notes of the config or the class, and descriptions of versions."""
        described = {str(version): version.description for version in self._versions.all if version.description}
        notes = getattr(self.config, "release_notes", None) or self.RELEASE_NOTES or {}
        return {**described, **{str(version): note for version, note in notes.items()}}

    @property
    def is_preparable(self) -> bool:
        """True if this code prepares the selected version: the canonical one, or the highest that is not blocked."""
        return self._version in self._versions.preparable

    @property
    def is_available(self) -> bool:
        """True if the selected version is available: this code prepares it, or it was prepared before."""
        if self.is_preparable:
            return True
        try:
            self._take_prepared()
        except UnpreparableVersionError:
            return False
        return True

    @classmethod
    def blocks(cls, version: str | Version, config: str | None = None) -> tuple[bool, str | None]:
        """Return whether the author blocked a version, or a config in it, and the reason.

        Args:
            version: the version.
            config: the name of the config.
        """
        return BlockedVersions.of(cls.BLOCKED_VERSIONS).is_blocked(version, config)

    def _pick_version(self, requested: str | Version | None) -> None:
        """Select the requested version from those listed by config and class.

        Raises:
            UnknownVersionError, ReferenceSyntaxError: the version is not listed, or invalid.
            MissingVersionError: a version is required, but none is listed.
        """
        canonical = next((found for found in (self.config.version, self.VERSION) if _is_named(found)), None)
        if canonical is None and self.requires_version:
            raise MissingVersionError(self.dataset_name)
        free = requested if canonical is None and Version.is_valid(requested) else None
        if canonical is None and free is not None:  # a dataset without a version gets this one
            self._versions = Versions.of(as_version(free))
        else:
            supported = getattr(self.config, "supported_versions", None) or self.SUPPORTED_VERSIONS
            self._versions = Versions.of(canonical or NO_VERSION, supported if canonical is not None else ())
        self._versions = self._versions.without(lambda version: self.blocks(version, self.config.name)[0])
        try:
            self._version = self._versions.pick(requested, dataset=self.dataset_name)
        except UnknownVersionError:
            if Version.is_valid(requested):  # blocked, and no longer listed: existing builds must not be read either
                self._version = as_version(requested)  # type: ignore[arg-type]
                self._check_blocked()
            raise
        if requested is not None:
            self.config.version = self._version
        self._warn_of_experimental(stacklevel=4)

    def _warn_of_experimental(self, *, stacklevel: int) -> None:
        if self._version > self.canonical_version:
            warnings.warn(
                f"Version {self._version} of {self.dataset_name!r} is experimental: it is higher than the canonical "
                f"{self.canonical_version}, and may still change. Omit version= for the canonical one.",
                ExperimentalVersionWarning,
                stacklevel=stacklevel,
            )

    def _check_blocked(self) -> None:
        """Raise if the author blocked the version or config.

        Raises:
            BlockedVersionError: the version or config is blocked; the error has the reason.
        """
        is_blocked, reason = self.blocks(self._version, self.config.name)
        if is_blocked:
            config = f"/{self.config.name}" if self.config.name != "default" else ""
            raise BlockedVersionError(f"{self.dataset_name}{config}/{self._version}", reason)

    def _built(self) -> Manifest:
        self._check_blocked()
        if self._manifest is None and not self.is_preparable:
            self._manifest = self._take_prepared()
        return super()._built()

    def _take_prepared(self, *, forced: bool = False, hashed: bool = False) -> Manifest:
        """Return the manifest of a version prepared by other code, in the output folder or next to it in the cache.

        Args:
            forced: True if a rebuild is requested.
            hashed: True to hash every shard and compare it with its record.

        Raises:
            DamagedShardError: the bytes of a shard differ.
            UnpreparableVersionError: the version does not exist, or a rebuild is requested.
            ConfigurationError: there are several builds by other code.
        """
        from datasets_core.building.folders import the_one, whole_builds  # takes 10 ms; most do not need it

        folder, options = self._output_dir, self._output_storage_options
        version = os.path.dirname(folder)
        in_cache = folder == self._cache_dir and os.path.basename(version) == str(self._version)
        where = version if in_cache else folder  # in the cache, builds of other code are next to this one
        if not forced:
            own = [found for found in whole_builds(folder, self._version, options) if found.folder == folder]
            found = the_one(own or (whole_builds(where, self._version) if in_cache else []), self.dataset_name, options)
            if found is not None and found.manifest.info.version in (None, self._version):
                self._output_dir = found.folder
                self._cache_dir = found.folder if in_cache else self._cache_dir
                if hashed:
                    check_hashes(found.folder, found.manifest, storage_options=options)
                return found.manifest
        raise UnpreparableVersionError(
            self._version,
            dataset=self.dataset_name,
            release=self._version.library_version_to_prepare,
            known=self._versions.preparable,
            where=None if forced else where,
        )


def _is_named(version: Version | str | None) -> bool:
    return version is not None and as_version(version) != NO_VERSION
