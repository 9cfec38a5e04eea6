"""The lines of one config, cut out of a card, say what the whole card says of it."""

import json
from pathlib import Path

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ManifestError
from datasets_core.meta import card as whole_cards
from datasets_core.meta import card_sections
from datasets_core.meta.card import read_card, read_dataset_infos
from datasets_core.meta.card_sections import LazyCard, LazyDatasetInfos, cut_config, cut_key, entry_lines

CARD = """\
license: mit
pretty_name: It's big
dataset_info:
- config_name: a
  features:
  - name: x
    dtype:
      class_label:
        names:
          '0': 'it''s'
          '1': "b"
- config_name: 'b c'
  download_size: 3
- download_size: 4
  config_name: "d"
configs:
- config_name: a
  data_files: a/*.csv
"""


@pytest.mark.parametrize(("config", "size"), [("b c", 3), ("d", 4)])
def test_the_entry_of_a_config_is_cut(config, size):
    cut = cut_config(CARD, "dataset_info", config)

    assert [entry["download_size"] for entry in yaml.safe_load(cut.text)["dataset_info"]] == [size]
    assert CARD.split("\n")[cut.above + 1] == cut.lines[1]


def test_a_config_without_an_entry_has_no_lines():
    assert cut_config(CARD, "dataset_info", "e").lines == ()
    assert cut_config("license: mit\n", "dataset_info", "a").lines == ()


def test_a_key_is_cut_with_all_that_is_below_it():
    assert yaml.safe_load(cut_key(CARD, "configs").text) == {"configs": [{"config_name": "a", "data_files": "a/*.csv"}]}


def test_what_is_no_list_is_cut_as_a_whole():
    text = "dataset_info:\n  download_size: 3\nlicense: mit\n"

    assert cut_config(text, "dataset_info", "a").lines == ["dataset_info:", "  download_size: 3"]


@pytest.mark.parametrize(
    "text",
    [
        "dataset_info:\n- config_name: &n a\n- config_name: *n\n",
        "x: &x {y: 1}\ndataset_info:\n- config_name: a\n  <<: *x\n- config_name: b\n",
        "dataset_info:\n-\tconfig_name: a\n- config_name: b\n",
        "dataset_info: [{config_name: a}, {config_name: b}]\n",
        "dataset_info:\n- {config_name: a,\n   x: 1}\n- config_name: b\n",
        "dataset_info:\n- config_name: a\n- config_name: a\n",
        "dataset_info:\n- config_name: a\ndataset_info:\n- config_name: b\n",
        "pretty_name: 'a\ndataset_info: b'\nlicense: mit\n",
        'pretty_name: "a\ndataset_info:\n- config_name: a\n- config_name: b\n"\n',
        "{dataset_info: [{config_name: a}]}\n",
        "'dataset_info':\n- config_name: a\n- config_name: b\n",
        "dataset_info:\n- config_name: a\n    b\n- config_name: c\n",
        "dataset_info:\n- config_name: !!str a\n- config_name: c\n",
        "dataset_info:\n- ? config_name\n  : a\n- config_name: c\n",
        "dataset_info:\n-\n  config_name: a\n-\n  config_name: b\n",
        "dataset_info:\n- config_name: null\n- config_name: b\n",
        "dataset_info:\n- config_name: a\n...\n- config_name: b\n",
        'dataset_info:\n- "config_name": a\n- config_name: b\n',
    ],
)
def test_what_only_a_parser_understands_is_not_cut(text):
    assert cut_config(text, "dataset_info", "a") is None


# -- generated cards ---------------------------------------------------------------------------------------------------

_WORDS = st.sampled_from(
    ["a", "b", "de-en", "1.0", "no", "2020-01-01", "x y", "it's", 'say "so"', "a: b", "- a", "#c", "~", "*", ""]
)
_NAMES = st.sampled_from(["a", "b", "c", "de-en", "it's", "a b", "1", "config_name"])


@st.composite
def _scalars(draw, indent):
    """A value behind `key:`, in one of the ways to write it."""
    word = draw(_WORDS)
    quoted = "'" + word.replace("'", "''") + "'"
    doubled = '"' + word.replace('"', '\\"') + '"'
    folded = f"'{word.replace(chr(39), '')} and\n{' ' * (indent + draw(st.integers(0, 3)))}dataset_info: more'"
    lines = draw(st.lists(st.sampled_from(["config_name: a", "- config_name: b", "'", '"', "# no", "", "text"]), max_size=3))
    block = draw(st.sampled_from(["|", ">", "|-", ">+"])) + "".join(
        f"\n{' ' * (indent + 2) + line if line else ''}" for line in lines
    )
    return draw(
        st.sampled_from(
            [quoted, doubled, "plain", "plain\n" + " " * (indent + 1) + "goes on", folded, block, "[a, b]", "3", ""]
        )
    )


@st.composite
def _entries(draw, at):
    """An item of a list, as lines: keys in any order, with comments and empty lines."""
    gap = draw(st.integers(1, 3))
    column = at + 1 + gap
    name = draw(_NAMES)
    written = draw(
        st.sampled_from(
            [name if "'" not in name or name == "it's" else f'"{name}"', f'"{name}"', "'" + name.replace("'", "''") + "'"]
        )
    )
    pairs = [f"config_name: {written}"]
    for key in draw(st.lists(st.sampled_from(["x", "y", "z", "names"]), max_size=3, unique=True)):
        if key == "names":
            inner = column + draw(st.integers(1, 3))
            pairs.append(f"names:\n{' ' * inner}'0': {draw(_scalars(inner))}\n{' ' * inner}config_name: deep")
        else:
            pairs.append(f"{key}: {draw(_scalars(column))}")
    pairs = draw(st.permutations(pairs))
    noise = st.sampled_from(["", "", "\n", "\n# c: 'x", "\n" + " " * column + "# - config_name: a"])
    body = "".join((" " * column if number else "") + pair + draw(noise) + "\n" for number, pair in enumerate(pairs))
    return " " * at + "-" + " " * gap + body


@st.composite
def _cards(draw):
    at = draw(st.integers(0, 3))
    entries = "".join(draw(st.lists(_entries(at), min_size=1, max_size=5)))
    above = draw(
        st.sampled_from(
            ["", "license: mit\n", 'pretty_name: "a\n  b"\n', "tags: [a, 'b']\n", "# c\n\n", "text: |\n dataset_info:\n - a\n"]
        )
    )
    below = draw(
        st.sampled_from(["", "configs:\n- config_name: a\n", "license: 'x\n  y'\n", "size_categories:\n- 10K<n<100K\n"])
    )
    return f"{above}dataset_info:{draw(st.sampled_from(['', ' ', ' # c']))}\n{entries}{below}"


def _meant(text, config):
    """The entries of a config by the whole parse; None where the card is broken."""
    try:
        found = yaml.safe_load(text)
    except yaml.YAMLError:
        return None
    entries = found["dataset_info"]
    names = [str(entry.get("config_name")) for entry in entries]
    return (
        None if len(set(names)) < len(names) else [entry for entry, name in zip(entries, names, strict=True) if name == config]
    )


@settings(max_examples=150, deadline=None)
@given(_cards(), _NAMES)
def test_a_cut_says_what_the_whole_says(text, config):
    cut, meant = cut_config(text, "dataset_info", config), _meant(text, config)

    if cut is not None and meant is not None:
        found = yaml.safe_load(cut.text)["dataset_info"] if cut.lines else []
        assert [entry for entry in found if str(entry.get("config_name")) == config] == meant


def test_a_large_card_is_cut_unparsed(monkeypatch):
    monkeypatch.setattr(card_sections, "read_yaml", None)
    entries = "".join(
        f"- config_name: c{number}\n  features:\n" + "".join(f"  - name: f{k}\n    dtype: string\n" for k in range(20))
        for number in range(500)
    )
    cut = cut_config(f"dataset_info:\n{entries}", "dataset_info", "c499")

    assert len(cut.lines) == 43


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (
            "a: 1\nconfigs:\n# x\n- config_name: b\n  y: |\n    - config_name: c\n\n- z: 1\n  config_name: 'd'\nend: 1\n",
            [("b", 3, 7), ("d", 7, 9)],
        ),
        ("configs:\n- x: 1\n- config_name: b\n", None),
        ("configs:\n- config_name: b\n- config_name: b\n", None),
        ("configs:\n  config_name: b\n", None),
        ("configs: []\n", None),
        ("license: mit\n", None),
        ("configs:\n- &a\n  config_name: b\n", None),
    ],
    ids=["list", "nameless", "twice", "mapping", "flow", "absent", "anchor"],
)
def test_entries_are_found_by_their_lines(text: str, found: object) -> None:
    assert entry_lines(text, "configs") == found


# Infos that are parsed when they are asked for are those that the whole card gives.

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
