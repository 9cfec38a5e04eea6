"""`Version`, and patterns such as `1.*.*`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from datasets_core.errors import ReferenceSyntaxError

_NUMBER = r"(0|[1-9][0-9]{0,17})"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}")
_PATTERN = re.compile(rf"(?:{_NUMBER}|\*)\.(?:{_NUMBER}|\*)\.(?:{_NUMBER}|\*)")


@functools.total_ordering
@dataclass(frozen=True, eq=False, repr=False)
class Version:
    """A version `major.minor.patch` of a dataset: three numbers without leading zeros.

    It compares with other versions and with their text.  What is no version is unequal, as everywhere in Python, but has no
    order: `version < "latest"` is refused.

    Args:
        version_str: the text, or another `Version` to copy.
        description: what changed in this version.
        major, minor, patch: taken from the text; accepted so that a stored form can be passed back.

    Raises:
        ReferenceSyntaxError: the text is no version.

    >>> Version("1.10.0", "more rows") > "1.9.0", Version("1.10.0").match("1.*.*")
    (True, True)
    """

    version_str: str
    description: str | None = None
    major: int | None = None
    minor: int | None = None
    patch: int | None = None

    def __post_init__(self) -> None:
        text: object = self.version_str
        if isinstance(text, Version):
            object.__setattr__(self, "description", self.description or text.description)
            text = text.version_str
        major, minor, patch = _numbers(text)
        object.__setattr__(self, "version_str", str(text))
        object.__setattr__(self, "major", major)
        object.__setattr__(self, "minor", minor)
        object.__setattr__(self, "patch", patch)

    @property
    def tuple(self) -> tuple[int, int, int]:
        """The three numbers."""
        return _numbers(self.version_str)

    def match(self, pattern: str | Version) -> bool:
        """Whether this version fits `pattern`, whose parts are numbers or `*`.

        Raises:
            ReferenceSyntaxError: the pattern has not three such parts.
        """
        wanted = check_pattern(str(pattern)).split(".")
        return all(part in ("*", own) for part, own in zip(wanted, self.version_str.split("."), strict=True))

    @classmethod
    def from_dict(cls, dic: Mapping[str, Any]) -> Version:
        """The version of a stored form; keys of older libraries are left out."""
        return cls(dic["version_str"], description=dic.get("description"))

    def to_dict(self) -> dict[str, Any]:
        """The form in which Hugging Face `datasets` stores a version."""
        form = {"version_str": self.version_str, "description": self.description}
        form = {name: value for name, value in form.items() if value is not None}
        return {**form, "major": self.major, "minor": self.minor, "patch": self.patch}

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (str, Version)):
            return self.version_str == str(other)  # one text for one version: there are no leading zeros
        return NotImplemented

    def __lt__(self, other: str | Version) -> bool:
        if isinstance(other, (str, Version)):
            return self.tuple < _numbers(str(other))
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.version_str)  # equal to the hash of the text, as the two are equal

    def __str__(self) -> str:
        return self.version_str

    def __repr__(self) -> str:
        return self.version_str


def _numbers(text: object) -> tuple[int, int, int]:
    found = _VERSION.fullmatch(text) if isinstance(text, str) else None
    if found is None:
        raise ReferenceSyntaxError(f"{text!r} is no version. Write three numbers without leading zeros, such as '1.0.0'.")
    major, minor, patch = found.groups()
    return int(major), int(minor), int(patch)


def check_pattern(pattern: str) -> str:
    """`pattern`, if it is a version or a version with `*` in place of numbers.

    Raises:
        ReferenceSyntaxError: it is neither.
    """
    if _PATTERN.fullmatch(pattern) is None:
        raise ReferenceSyntaxError(f"{pattern!r} is no version. Write three numbers or stars, such as '1.0.0' or '1.*.*'.")
    return pattern


def highest(pattern: str, versions: Iterable[str | Version]) -> Version | None:
    """The highest of `versions` that fits `pattern`; None where none does.

    >>> highest("1.*.*", ["1.2.0", "1.10.0", "2.0.0"])
    1.10.0
    """
    fitting = [found for found in map(Version, map(str, versions)) if found.match(pattern)]
    return max(fitting, default=None)
