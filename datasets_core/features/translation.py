"""`Translation` and `TranslationVariableLanguages`: one text in several languages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import pyarrow as pa

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.base import Feature, FeatureType, List, Value


@dataclass(frozen=True, slots=True)
class Translation(Feature):
    """A text in each of the same languages, in each row.

    >>> Translation(languages=["en", "fr"]).arrow_type
    StructType(struct<en: string, fr: string>)
    """

    languages: list[str]
    id: str | None = None
    _type: ClassVar[str] = "Translation"
    needs_encoding: ClassVar[bool] = True

    def __post_init__(self) -> None:
        languages = _languages(self.languages)
        if len(set(languages)) != len(languages):
            raise ConfigurationError(f"languages={languages!r} lists a language twice. Remove one.")
        object.__setattr__(self, "languages", languages)

    def __repr__(self) -> str:
        return f"Translation(languages={self.languages!r})"

    @property
    def dtype(self) -> str:
        """The name of the python type of a value."""
        return "dict"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        return pa.struct([(language, pa.string()) for language in sorted(self.languages)])

    def flatten(self) -> dict[str, FeatureType]:
        """The columns that one column of this kind is made of, by the alphabet."""
        return {language: Value("string") for language in sorted(self.languages)}

    def encode_example(self, value: Any) -> Any:
        """The texts by language; a language that is not there stays null."""
        if not isinstance(value, Mapping):
            raise CastError(f"A value of type {type(value).__name__} is no translation. Pass a dict of texts by language.")
        unknown = value.keys() - set(self.languages)
        if unknown:
            raise CastError(f"{sorted(map(str, unknown))} are none of the languages {self.languages}. Add them to the feature.")
        return value


@dataclass(frozen=True, slots=True)
class TranslationVariableLanguages(Feature):
    """Texts in some languages in each row, any number of them for each language.

    Args:
        languages: the languages that may occur; None allows all.
        num_languages: how many there are; follows from `languages`.

    >>> feature = TranslationVariableLanguages(languages=["fr", "en"])
    >>> feature.encode_example({"en": "the cat", "fr": ["le chat", "la chatte"]})
    {'language': ['en', 'fr', 'fr'], 'translation': ['the cat', 'la chatte', 'le chat']}
    """

    languages: list[str] | None = None
    num_languages: int | None = None
    id: str | None = None
    _type: ClassVar[str] = "TranslationVariableLanguages"
    needs_encoding: ClassVar[bool] = True

    def __post_init__(self) -> None:
        languages = sorted(set(_languages(self.languages))) if self.languages else None
        object.__setattr__(self, "languages", languages)
        object.__setattr__(self, "num_languages", len(languages) if languages else None)

    def __repr__(self) -> str:
        return f"TranslationVariableLanguages(languages={self.languages!r}, num_languages={self.num_languages!r})"

    @property
    def dtype(self) -> str:
        """The name of the python type of a value."""
        return "dict"

    @property
    def arrow_type(self) -> pa.DataType:
        """See `Feature.arrow_type`."""
        return pa.struct([("language", pa.list_(pa.string())), ("translation", pa.list_(pa.string()))])

    def flatten(self) -> dict[str, FeatureType]:
        """The columns that one column of this kind is made of."""
        return {"language": List(Value("string")), "translation": List(Value("string"))}

    def encode_example(self, value: Any) -> Any:
        """The texts as two lists of equal length, sorted by language, then by text."""
        if not isinstance(value, Mapping):
            raise CastError(f"A value of type {type(value).__name__} is no translation. Pass a dict of texts by language.")
        if value.keys() == {"language", "translation"}:
            return value
        if self.languages:
            unknown = value.keys() - set(self.languages)
            if unknown:
                raise CastError(
                    f"{sorted(map(str, unknown))} are none of the languages {self.languages}. Add them to the feature."
                )
        pairs: list[tuple[str, str]] = []
        for language, text in value.items():
            texts = [text] if isinstance(text, str) or not isinstance(text, Iterable) else list(text)
            if not all(isinstance(one, str) for one in texts):
                raise CastError(
                    f"{text!r} is no text in {language!r}. Pass a string or a list of them, or no {language!r} at all."
                )
            pairs += [(language, one) for one in texts]
        pairs.sort()
        return {"language": [language for language, _ in pairs], "translation": [text for _, text in pairs]}


def _languages(given: Any) -> list[str]:
    languages: list[Any] = list(given) if isinstance(given, Iterable) and not isinstance(given, (str, bytes)) else [given]
    if isinstance(given, (str, bytes)) or not all(isinstance(language, str) for language in languages):
        raise ConfigurationError(f"languages={given!r} is no list of languages. Write for example languages=['en', 'fr'].")
    return languages
