"""Infos that are parsed when they are asked for are those that the whole card gives."""

import json
from pathlib import Path

import pytest

from datasets_core.errors import ManifestError
from datasets_core.meta import card as whole_cards
from datasets_core.meta.card import read_card, read_dataset_infos
from datasets_core.meta.card_sections import LazyCard, LazyDatasetInfos

FIXTURES = Path(__file__).parent / "fixtures"
README = (FIXTURES / "README_5.2.0.md").read_text()
INFOS = (FIXTURES / "dataset_infos_1.18.json").read_text()


@pytest.mark.parametrize("name", ["de", "en", "fr"])
def test_one_info_is_that_of_the_whole_card(name):
    assert LazyCard(README, path="README.md").get(name) == read_card(README, path="README.md").infos.get(name)


def test_the_configs_are_those_of_the_whole_card():
    assert LazyCard(README, path="README.md").configs == read_card(README, path="README.md").configs


def test_all_infos_are_those_of_the_whole_card():
    assert dict(LazyCard(README, path="README.md")) == read_card(README, path="README.md").infos


def test_old_infos_are_those_of_the_whole_file():
    expected = read_dataset_infos(INFOS, path="x.json")
    found = LazyDatasetInfos(INFOS, path="x.json")

    assert {name: found[name] for name in expected} == expected == dict(found)
    assert found.get("no such config") is None


@pytest.mark.parametrize("text", ["# Title\n", "", "---\nlicense: mit\n---\n", "---\ndataset_info:\n---\n"])
def test_a_card_without_infos_has_none(text):
    card = LazyCard(text, path="README.md")

    assert (card.get("a"), list(card), card.configs) == (None, [], [])


def test_an_info_that_is_broken_names_its_line_and_the_others_are_read():
    text = (
        "---\nlicense: mit\ndataset_info:\n- config_name: a\n  download_size: 1\n- config_name: b\n  download_size: much\n---\n"
    )
    card = LazyCard(text, path="README.md")

    assert card["a"].download_size == 1
    with pytest.raises(ManifestError, match="line 6: download_size is 'much'"):
        card["b"]


def test_a_broken_config_names_its_line():
    text = "---\nlicense: mit\n# c\nconfigs:\n- config_name: a\n  default: perhaps\n---\n"

    with pytest.raises(ManifestError, match="line 6: default is 'perhaps'"):
        LazyCard(text, path="README.md").configs  # noqa: B018


def test_what_cannot_be_cut_is_read_as_a_whole():
    text = "x: &n {download_size: 7}\ndataset_info:\n- config_name: a\n  <<: *n\n- config_name: b\n"

    assert LazyCard(text, path="a.yaml")["a"].download_size == 7


@pytest.mark.parametrize("form", ["[]", "{", "3"])
def test_infos_that_are_none_are_told(form):
    with pytest.raises(ManifestError):
        LazyDatasetInfos(form, path="x.json").get("a")


def test_other_configs_are_not_parsed(monkeypatch):
    entries = "".join(f"- config_name: c{number}\n  download_size: {number}\n" for number in range(1000))
    parsed = []
    compose = whole_cards._CardReader._compose
    monkeypatch.setattr(whole_cards._CardReader, "_compose", lambda self, text: parsed.append(len(text)) or compose(self, text))

    assert LazyCard(f"dataset_info:\n{entries}", path="a.yaml")["c999"].download_size == 999
    assert max(parsed) < 100


def test_a_name_is_looked_up_once():
    infos = LazyDatasetInfos(json.dumps({"a": {"description": "x"}}), path="x.json")

    assert infos["a"] is infos["a"]
