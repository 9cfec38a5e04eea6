"""`Version`, patterns such as `1.*.*`, and `Experiment`."""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from datasets_core.errors import ArgumentTypeError, ConfigurationError, ReferenceSyntaxError, UnknownExperimentError

# `Experiment`: a new way of making a dataset, which a version switches on, or a later one off.


class Experiment(enum.Enum):
    """The base of an author's experiments; members of a plain `enum.Enum` work as well.

    An experiment starts off, and a version switches it on: `Version("2.0.0", experiments={Packing.BY_LENGTH: True})`.
    Once it is proven, its class names it in `__on_by_default__`, and a version opts out with False.

    Attributes:
        DUMMY: an experiment without meaning, for tests.  It is off by default.

    Example:
        >>> from datasets_core import Experiment, Version
        >>> class Packing(Experiment):
        ...     __on_by_default__ = ("SORTED",)
        ...     BY_LENGTH = "rows of a shard have about the same length"
        ...     SORTED = "rows are sorted by key"
        >>> Version("1.0.0").implements(Packing.BY_LENGTH), Version("1.0.0").implements(Packing.SORTED)
        (False, True)
    """

    DUMMY: ClassVar[Experiment]


class _OfLibrary(Experiment):
    DUMMY = 1  # type: ignore[misc]


Experiment.DUMMY = _OfLibrary.DUMMY  # no member of the base, which could not be derived from then


def check_experiment(experiment: object) -> enum.Enum:
    """Return `experiment`, if it is a member of an enum.

    Raises:
        UnknownExperimentError: it is not a member.
    """
    if not isinstance(experiment, enum.Enum):
        raise UnknownExperimentError(experiment)
    return experiment


def is_on_by_default(experiment: enum.Enum) -> bool:
    """Return True if versions that do not name `experiment` implement it: it is in `__on_by_default__` of its class.

    >>> is_on_by_default(Experiment.DUMMY)
    False
    """
    return experiment.name in getattr(type(experiment), "__on_by_default__", ())


_NUMBER = r"([0-9]|[1-9][0-9]{0,79})"
_VERSION = rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}\n?"  # the end of a line read from a file does no harm
_DATED = r"([0-9]{1,80})\.([0-9]{1,80})\.([0-9]{1,80})\n?"
_PATTERN = rf"(?:{_NUMBER}|(\*))\.(?:{_NUMBER}|(\*))\.(?:{_NUMBER}|(\*))\n?"


@functools.total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class Version:
    """A version `major.minor.patch` of a dataset: three numbers without leading zeros.

    It compares with other versions and with their text.  A text that is not a version is refused, also by `==`: for `version ==
    "1.*.*"`, which would silently be False, use `match`.  None is unequal; versions of the same numbers are equal, regardless
    of their other attributes.

    Args:
        version_str: the text, or another `Version` to copy.
        description: the changes of this version.
        major, minor, patch: taken from the text; accepted so that a stored form can be passed back.
        experiments: experiments switched on (True) or off (False); see `Experiment`.
        library_version_to_prepare: the last release of the library that can build this version.  Later ones can read it.
        tfds_version_to_prepare: the same, by its name in TensorFlow Datasets.

    Raises:
        ReferenceSyntaxError: the text is not a version.
        UnknownExperimentError: an experiment is not a member of an enum.
        ConfigurationError: the two names of the release have different values.

    Example:
        >>> from datasets_core import Experiment, Version
        >>> Version("1.10.0", "more rows") > "1.9.0", Version("1.10.0").match("1.*.*")
        (True, True)
        >>> Version("2.0.0", "packed", experiments={Experiment.DUMMY: True}).implements(Experiment.DUMMY)
        True
    """

    version_str: str
    description: str | None = None
    major: int | None = None
    minor: int | None = None
    patch: int | None = None
    experiments: Mapping[enum.Enum, bool] | None = None
    library_version_to_prepare: str | None = None
    tfds_version_to_prepare: str | None = None

    def __post_init__(self) -> None:
        text: object = self.version_str
        if not isinstance(self.experiments, Mapping | None):
            raise ArgumentTypeError(
                f"experiments of version {text} is {self.experiments!r}",
                advice="Give {experiment: True or False}",
                value=self.experiments,
            )
        experiments = dict(self.experiments or {})
        release = self.library_version_to_prepare or self.tfds_version_to_prepare
        if release and self.tfds_version_to_prepare not in (None, release):
            raise ConfigurationError(
                f"Version {text} names {self.library_version_to_prepare!r} and {self.tfds_version_to_prepare!r} as the "
                "release that prepares it",
                advice="Give library_version_to_prepare or tfds_version_to_prepare, not both",
            )
        if isinstance(text, Version):
            experiments = {**(text.experiments or {}), **experiments}
            release = release or text.library_version_to_prepare
            self._set(description=self.description or text.description)
            text = text.version_str
        major, minor, patch = _numbers(text)
        for experiment in experiments:
            check_experiment(experiment)
        self._set(version_str=f"{major}.{minor}.{patch}", major=major, minor=minor, patch=patch, experiments=experiments)
        self._set(library_version_to_prepare=release, tfds_version_to_prepare=release)

    def _set(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def is_valid(cls, version: object) -> bool:
        """Return True if a value is a version without wildcards.

        Args:
            version: any value.

        Example:
            >>> Version.is_valid("1.0.0"), Version.is_valid("1.0"), Version.is_valid("1.*.*")
            (True, False, False)
        """
        return isinstance(version, Version) or (isinstance(version, str) and re.fullmatch(_VERSION, version) is not None)

    @property
    def tuple(self) -> tuple[int, int, int]:
        """The three numbers."""
        return _numbers(self.version_str)

    def match(self, other_version: str | Version) -> bool:
        """Return True if this version matches a pattern.

        Args:
            other_version: three parts, each a number or `*`, such as `1.2.*`.

        Raises:
            ReferenceSyntaxError: the pattern does not have three such parts.
        """
        wanted = check_pattern(other_version).split(".")
        return all(part in ("*", own) for part, own in zip(wanted, self.version_str.split("."), strict=True))

    def implements(self, experiment: enum.Enum) -> bool:
        """Return True if an experiment is switched on for this version: by the version itself, or else by default.

        Args:
            experiment: a member of an enum of experiments.

        Raises:
            UnknownExperimentError: `experiment` is not a member of an enum.
        """
        found = check_experiment(experiment)
        return bool((self.experiments or {}).get(found, is_on_by_default(found)))

    @classmethod
    def from_dict(cls, dic: Mapping[str, Any]) -> Version:
        """Return the version of a stored form, whose numbers may have leading zeros. Keys of older libraries are ignored.

        Args:
            dic: the stored form.
        """
        return cls(as_version(dic["version_str"]).version_str, description=dic.get("description"))

    def to_dict(self) -> dict[str, Any]:
        """Return the form in which Hugging Face `datasets` stores a version."""
        form = {"version_str": self.version_str, "description": self.description}
        form = {name: value for name, value in form.items() if value is not None}
        return {**form, "major": self.major, "minor": self.minor, "patch": self.patch}

    def __eq__(self, other: object) -> bool:
        return other is not None and self.tuple == _operand(other)

    def __lt__(self, other: str | Version) -> bool:
        return self.tuple < _operand(other)

    def __hash__(self) -> int:
        return hash(self.version_str)  # equal to the hash of the text, as the two are equal

    def __str__(self) -> str:
        return self.version_str

    def __repr__(self) -> str:
        return self.version_str


def _operand(other: object) -> tuple[int, int, int]:
    if isinstance(other, Version):
        return other.tuple
    if isinstance(other, str):
        return _numbers(other)
    raise ArgumentTypeError(
        f"{other!r} ({type(other).__name__}) cannot be compared with a version",
        advice="Compare a Version or a string",
        value=other,
    )


def _numbers(text: object) -> tuple[int, int, int]:
    found = re.fullmatch(_VERSION, text) if isinstance(text, str) else None
    if found is None:
        raise ReferenceSyntaxError(
            f"{text!r} is not a valid version", advice="Write three numbers without leading zeros, such as '1.0.0'", value=text
        )
    major, minor, patch = found.groups()
    return int(major), int(minor), int(patch)


def check_pattern(pattern: str | Version) -> str:
    """Return the text of `pattern`, if it is a version or a version with `*` in place of numbers.

    Raises:
        ReferenceSyntaxError: it is neither.
    """
    found = re.fullmatch(_PATTERN, str(pattern))
    if found is None:
        raise ReferenceSyntaxError(
            f"{pattern!r} is not a valid version",
            advice="Write three numbers or asterisks, such as '1.0.0' or '1.*.*'",
            value=pattern,
        )
    return ".".join(part if part == "*" else str(int(part)) for part in found.groups() if part is not None)


def highest(pattern: str | Version, versions: Iterable[str | Version]) -> Version | None:
    """Return the highest of `versions` that matches `pattern`; None if none matches.

    >>> highest("1.*.*", ["1.2.0", "1.10.0", "2.0.0"])
    1.10.0
    """
    fitting = [found for found in map(as_version, versions) if found.match(pattern)]
    return max(fitting, default=None)


def as_version(version: str | Version) -> Version:
    """Return the version for a text; a `Version` itself, with its experiments.

    The numbers of the text may have leading zeros: authors of scripts write dates.

    >>> as_version("2018.04.18")
    2018.4.18
    """
    if isinstance(version, Version):
        return version
    found = re.fullmatch(_DATED, version) if isinstance(version, str) else None
    return Version(version if found is None else ".".join(str(int(part)) for part in found.groups()))


NO_VERSION = Version("0.0.0")
"""The version of a dataset that names none."""
