"""What a card says, as values."""

from datasets_core.meta.config_entries import Card, ConfigEntry


def test_the_later_card_has_the_word() -> None:
    merged = Card([ConfigEntry("a"), ConfigEntry("b")]).merge(Card([ConfigEntry("a", default=True)]))
    assert merged == Card([ConfigEntry("a", default=True), ConfigEntry("b")])
    assert merged.default_config == "a"


def test_no_config_is_the_default_of_several() -> None:
    assert Card([ConfigEntry("a"), ConfigEntry("b")]).default_config is None
    assert Card().default_config is None
