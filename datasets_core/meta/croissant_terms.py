"""The vocabulary of Croissant: its JSON-LD context, its versions, and how parts of a description are identified."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

CONFORMS_TO = "http://mlcommons.org/croissant/1.1"

# The standard context of version 1.1, with the terms that its reference implementation asks for.
_OWN_TERMS = (
    "annotation arrayShape citeAs column containedIn equivalentProperty excludes extract field fileObject fileProperty fileSet "
    "format includes isArray isLiveDataset jsonPath key md5 parentField path readLines recordSet references regex repeated "
    "replace samplingRate sdVersion separator source subField transform unArchive"
)
CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in _OWN_TERMS.split()},
}


class Ids:
    """Identifiers that are well-formed, and unique in one description.

    >>> ids = Ids()
    >>> ids.new("default", "a b"), ids.new("default", "a/b"), ids.new("default", "a b"), ids.new("..")
    ('default/a%20b', 'default/a%2Fb', 'default/a%20b~2', '%2E%2E')
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def new(self, *parts: str) -> str:
        """An identifier that shows a name, the last of `parts`, behind those that are identifiers already."""
        *before, last = parts
        return self._unique("/".join((*before, _segment(last))))

    def of_path(self, path: str) -> str:
        """An identifier that shows the path of a file.

        >>> Ids().of_path("data/train set.csv")
        'data/train%20set.csv'
        """
        return self._unique("/".join(map(_segment, path.split("/"))))

    def _unique(self, wanted: str) -> str:
        found, number = wanted, 1
        while found in self._taken:
            number += 1
            found = f"{wanted}~{number}"
        self._taken.add(found)
        return found


def _segment(text: str) -> str:
    """One part of an identifier: dots alone would lead to another place, and an empty part nowhere."""
    if not text.strip("."):
        return "%2E" * len(text) or "_"
    return quote(text, safe="~", errors="replace")


def plain_text(text: str) -> str:
    """A text as JSON-LD can hold it: halves of surrogate pairs, which are no text, become question marks.

    >>> plain_text("a\\ud800b")
    'a?b'
    """
    return text.encode("utf-8", "replace").decode("utf-8")
