"""Which version of a dataset is meant, of those that its builder lists; which can be prepared, and which are blocked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownVersionError
from datasets_core.meta.version import Version, as_version, check_pattern, highest

NO_VERSION = Version("0.0.0")
EXPERIMENTAL_LATEST = "experimental_latest"


def is_pattern(requested: object) -> bool:
    """Whether what is asked for may be any of several versions.

    >>> is_pattern("1.*.*"), is_pattern("1.0.0"), is_pattern(None)
    (True, False, False)
    """
    return isinstance(requested, str) and requested != EXPERIMENTAL_LATEST and not Version.is_valid(requested)


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions that a builder lists.

    Attributes:
        canonical: the one that is meant where none is named.
        supported: the others, above or below it.
        blocked: those of them that their author blocked.

    >>> listed = Versions.of("2.0.1", ["3.0.0", "3.1.1", "1.0.0"])
    >>> listed.pick("3.*.*", dataset="reviews"), listed.preparable
    (3.1.1, (2.0.1, 3.1.1))
    """

    canonical: Version
    supported: tuple[Version, ...] = ()
    blocked: frozenset[Version] = frozenset()

    @classmethod
    def of(cls, canonical: str | Version, supported: Iterable[str | Version] | None = None) -> Versions:
        """The versions, given as such or as texts.

        Raises:
            ReferenceSyntaxError: one of them is no version.
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
        """Those that are not blocked."""
        return tuple(version for version in self.all if version not in self.blocked)

    @property
    def preparable(self) -> tuple[Version, ...]:
        """The canonical version and the highest one, of those that are free, unless only an older release prepares them."""
        free = self.free
        ends = dict.fromkeys(version for version in (self.canonical, max(free, default=self.canonical)) if version in free)
        return tuple(version for version in ends if version.library_version_to_prepare is None)

    def without(self, is_blocked: Callable[[Version], bool]) -> Versions:
        """The same, with those blocked of which `is_blocked` is true."""
        return replace(self, blocked=frozenset(filter(is_blocked, self.all)))

    def pick(self, requested: str | Version | None, *, dataset: str) -> Version:
        """The version that is meant: of a pattern the highest match, in whatever order they are listed.

        A blocked version is taken only where it is the one that is named, or no other fits.

        Args:
            requested: a version, a pattern, "experimental_latest" for the highest of all, None for the canonical one.
            dataset: for messages.

        Raises:
            UnknownVersionError: none that is listed fits.
            ReferenceSyntaxError: `requested` is no version and no pattern.
        """
        if requested is None:
            return self.canonical
        if not isinstance(requested, (str, Version)):
            raise ArgumentTypeError(f"version is {requested!r}. Give a version such as '1.0.0', or a pattern such as '1.*.*'.")
        if isinstance(requested, str) and requested == EXPERIMENTAL_LATEST:
            return max(self.free or self.all)
        pattern = check_pattern(requested)
        found = highest(pattern, self.free) or highest(pattern, self.all)
        if found is None:
            raise UnknownVersionError(requested, dataset=dataset, known=self.free)
        return found


@dataclass(frozen=True, slots=True)
class BlockedVersions:
    """The versions and configs that the author of a builder blocked, with the reasons (None where there is none).

    Args:
        versions: reason by version, or by a pattern such as `1.*.*`.
        configs: by config the reason, or the reasons by version.

    >>> from datasets_core import BlockedVersions
    >>> blocked = BlockedVersions(versions={"1.0.0": "wrong labels"}, configs={"tiny": "empty"})
    >>> blocked.is_blocked("1.0.0"), blocked.is_blocked("2.0.0", "tiny"), blocked.is_blocked("2.0.0")
    ((True, 'wrong labels'), (True, 'empty'), (False, None))
    """

    versions: Mapping[str, str | None] = field(default_factory=dict)
    configs: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, value: Any) -> BlockedVersions:
        """What a builder says: a `BlockedVersions`, a mapping of versions to reasons, versions alone, or None.

        Raises:
            ConfigurationError: something else.
        """
        if value is None or isinstance(value, cls):
            return value or cls()
        if isinstance(value, Mapping):
            return cls(**value) if value and value.keys() <= {"versions", "configs"} else cls(versions=value)
        if isinstance(value, (list, tuple, set, frozenset)):
            return cls(versions=dict.fromkeys(map(str, value)))
        raise ConfigurationError(f"BLOCKED_VERSIONS is {value!r}. Give BlockedVersions(versions={{'1.0.0': 'why'}}).")

    def is_blocked(self, version: str | Version, config: str | None = None) -> tuple[bool, str | None]:
        """Whether a version, or a config in it, is blocked, and why.

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
