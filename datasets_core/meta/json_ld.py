"""JSON-LD as far as descriptions of datasets need it: terms with whatever prefixes, told by their last parts."""

from __future__ import annotations

from typing import Any

_OWN_VOCABULARIES = (
    "https://schema.org/",
    "http://schema.org/",
    "http://mlcommons.org/croissant/",
    "https://mlcommons.org/croissant/",
    "http://mlcommons.org/schema/",
    "http://purl.org/dc/terms/",
)
_WELL_KNOWN = {
    "sc": "https://schema.org/",
    "schema": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "croissant": "http://mlcommons.org/croissant/",
    "ml": "http://mlcommons.org/schema/",
    "dct": "http://purl.org/dc/terms/",
}
_AS_THEY_STAND = ("@context", "data", "examples", "value")
_MAX_DEPTH = 120


class Terms:
    """The terms of one description, as its `@context` explains them.

    >>> terms = Terms({"croiss": "http://mlcommons.org/croissant/", "fields": {"@id": "croiss:field"}})
    >>> terms.plain({"fields": [{"croiss:source": 1, "https://schema.org/name": "a", "prov:label": "b"}]})
    {'field': [{'source': 1, 'name': 'a'}]}
    >>> terms.last("https://schema.org/Text"), terms.last("croiss:Int8"), terms.last("Text")
    ('Text', 'Int8', 'Text')
    """

    def __init__(self, context: Any) -> None:
        self._prefixes, self._terms = dict(_WELL_KNOWN), dict[str, str]()
        for each in context if isinstance(context, list) else [context]:
            for term, meaning in each.items() if isinstance(each, dict) else ():
                iri = meaning.get("@id") if isinstance(meaning, dict) else meaning
                if not isinstance(iri, str) or term.startswith("@"):
                    continue
                self._terms[term] = iri
                if iri[-1:] in ("/", "#", "_", "="):
                    self._prefixes[term] = iri

    def plain(self, node: Any, depth: int = 0) -> Any:
        """The same with short keys; those of vocabularies that do not describe datasets are left out.

        Raises:
            RecursionError: it is nested too deep.
        """
        if depth > _MAX_DEPTH:
            raise RecursionError
        if isinstance(node, list):
            return [self.plain(each, depth + 1) for each in node]
        if not isinstance(node, dict):
            return node
        found: dict[str, Any] = {}
        for key, value in node.items():
            short = key if key.startswith("@") else self._short(key)
            if short is not None:
                found[short] = value if short in _AS_THEY_STAND else self.plain(value, depth + 1)
        return found

    def last(self, text: Any) -> str:
        """The last part of the IRI that a text stands for."""
        iri = self._expanded(self._terms.get(str(text), str(text)))
        return iri.rstrip("/").rpartition("/")[2].rpartition("#")[2] if "/" in iri else iri.rpartition(":")[2]

    def _short(self, key: str) -> str | None:
        iri = self._expanded(self._terms.get(key, key))
        if ":" not in iri:
            return iri
        own = next((each for each in _OWN_VOCABULARIES if iri.startswith(each)), None)
        return None if own is None else iri[len(own) :]

    def _expanded(self, text: str) -> str:
        prefix, colon, rest = text.partition(":")
        return self._prefixes[prefix] + rest if colon and prefix in self._prefixes and not rest.startswith("//") else text
