"""`DatasetRef`: parses `owner/name/config:version`; the version at the end of a path."""

from __future__ import annotations

import re
from dataclasses import dataclass

from datasets_core.errors import ReferenceSyntaxError
from datasets_core.files import is_url
from datasets_core.meta.version import check_pattern

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
VERSION_LIKE = r"(?:\d+|\*)(?:\.(?:\d+|\*)){2}"
_VERSIONED = re.compile(rf"(?P<path>.+):(?P<version>{VERSION_LIKE})", re.DOTALL)
_CONFIG = re.compile(r"[^\s<>:/\\|?*\x00-\x1f][^<>:/\\|?*\x00-\x1f]*")


@dataclass(frozen=True, slots=True)
class DatasetRef:
    """A dataset by name.

    Attributes:
        name: name of the dataset.
        owner: user or organisation it belongs to, if any.
        config: config of the dataset, if one is named.
        version: version, or a pattern such as `1.*.*`, if one is named.

    >>> DatasetRef.parse("acme/reviews/en:1.*.*")
    DatasetRef(name='reviews', owner='acme', config='en', version='1.*.*')
    """

    name: str
    owner: str | None = None
    config: str | None = None
    version: str | None = None

    @classmethod
    def parse(cls, text: str) -> DatasetRef:
        """The reference `name`, `owner/name` or `owner/name/config`, each with an optional `:version`.

        Raises:
            ReferenceSyntaxError: the text is none of these.
        """
        path, colon, version = text.partition(":")
        parts = path.split("/")
        if len(parts) > 3:
            raise _wrong(text, "it has more than three parts")
        if colon:
            check_pattern(version)
        owner, name = (None, parts[0]) if len(parts) == 1 else parts[:2]
        for part in parts[:2]:
            if _NAME.fullmatch(part) is None or ".." in part or "--" in part:
                raise _wrong(text, f"{part!r} is no name")
        if len(parts) == 3 and _CONFIG.fullmatch(parts[2]) is None:
            raise _wrong(text, f"{parts[2]!r} is no config name")
        return cls(name, owner, parts[2] if len(parts) == 3 else None, version if colon else None)

    @property
    def repository(self) -> str:
        """`owner/name`, or the name alone."""
        return f"{self.owner}/{self.name}" if self.owner else self.name

    def __str__(self) -> str:
        config = f"/{self.config}" if self.config else ""
        return self.repository + config + (f":{self.version}" if self.version else "")


def split_version(path: str) -> tuple[str, str | None]:
    """A path, and the version or pattern that follows it after a colon; None where none does.  A URL has none.

    Raises:
        ReferenceSyntaxError: numbers with leading zeros.

    >>> split_version("data/reviews.py:1.*.*"), split_version("C:/reviews"), split_version("reviews:latest")
    (('data/reviews.py', '1.*.*'), ('C:/reviews', None), ('reviews:latest', None))
    """
    found = _VERSIONED.fullmatch(path)
    if found is None or (is_url(path) and not path.startswith("file://")):
        return path, None
    return found["path"], check_pattern(found["version"])


def _wrong(text: str, reason: str) -> ReferenceSyntaxError:
    return ReferenceSyntaxError(f"{text!r} names no dataset: {reason}. Write 'owner/name' or 'owner/name/config:1.0.0'.")
