"""What a card says, as values."""

from datasets_core.building.hooks import BuilderConfig, option_names
from datasets_core.meta.info import BUILDER_OPTIONS, Card, ConfigEntry
from datasets_core.resolve import registry


def test_the_later_card_has_the_word() -> None:
    merged = Card([ConfigEntry("a"), ConfigEntry("b")]).merge(Card([ConfigEntry("a", default=True)]))
    assert merged == Card([ConfigEntry("a", default=True), ConfigEntry("b")])
    assert merged.default_config == "a"


def test_no_config_is_the_default_of_several() -> None:
    assert Card([ConfigEntry("a"), ConfigEntry("b")]).default_config is None
    assert Card().default_config is None


def test_the_options_of_all_builders_are_known() -> None:
    taken = {name for each in registry.BUILT_IN for name in option_names(registry.builder_class(each).BUILDER_CONFIG_CLASS)}
    general = set(option_names(BuilderConfig)) - {"features"}
    assert taken - general <= BUILDER_OPTIONS
    assert not BUILDER_OPTIONS & {*general, "config_name", "default"}
