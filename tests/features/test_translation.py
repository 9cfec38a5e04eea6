import pytest

from datasets_core.errors import CastError, ConfigurationError
from datasets_core.features.types import Translation, TranslationVariableLanguages


def test_texts_by_language_are_sorted_into_two_lists() -> None:
    feature = TranslationVariableLanguages(languages=["fr", "en"])
    assert feature.encode_example({"fr": ("le chat", "la chatte"), "en": "the cat"}) == {
        "language": ["en", "fr", "fr"],
        "translation": ["the cat", "la chatte", "le chat"],
    }


def test_what_is_encoded_already_stays() -> None:
    encoded = {"language": ["en"], "translation": ["x"]}
    assert TranslationVariableLanguages(languages=["en"]).encode_example(encoded) == encoded


def test_languages_are_sorted_and_counted() -> None:
    assert repr(TranslationVariableLanguages(["fr", "en", "fr"])) == (
        "TranslationVariableLanguages(languages=['en', 'fr'], num_languages=2)"
    )
    assert TranslationVariableLanguages().num_languages is None


@pytest.mark.parametrize("feature", [Translation(["en"]), TranslationVariableLanguages(["en"])], ids=repr)
@pytest.mark.parametrize("value", [{"en": "a", "de": "b"}, "text", 5], ids=repr)
def test_an_unknown_language_or_no_dict_is_refused(feature: Translation, value: object) -> None:
    with pytest.raises(CastError):
        feature.encode_example(value)


def test_one_string_is_no_list_of_languages() -> None:
    with pytest.raises(ConfigurationError, match="languages"):
        Translation("en")  # type: ignore[arg-type]


def test_a_language_that_is_missing_is_no_error() -> None:
    assert Translation(["en", "fr"]).encode_example({"en": "a"}) == {"en": "a"}


@pytest.mark.parametrize("texts", [None, 5, ["a", None], [5]])
def test_what_is_no_text_is_refused_with_its_language(texts: object) -> None:
    with pytest.raises(CastError, match=r"'en'"):
        TranslationVariableLanguages(languages=["en"]).encode_example({"en": texts})


@pytest.mark.parametrize("languages", [None, 5, "en", [1], ["en", "en"]])
def test_what_is_no_list_of_different_languages_is_refused(languages: object) -> None:
    with pytest.raises(ConfigurationError, match=r"languages="):
        Translation(languages=languages)  # type: ignore[arg-type]
