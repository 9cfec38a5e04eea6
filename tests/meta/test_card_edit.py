"""Cards keep all that nobody meant to change, byte for byte, and say the rest."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.errors import ManifestError
from datasets_core.meta import card_edit
from datasets_core.meta.card import read_card
from datasets_core.meta.card_edit import Edit, edited_card

MINE = {
    "dataset_info": {"mine": Edit({"features": [{"name": "a", "dtype": "int64"}], "download_size": 3})},
    "configs": {"mine": Edit({"data_files": [{"split": "train", "path": "mine/train-*"}]})},
}
OURS = ("configs", "dataset_info")


def yaml_of(text: str) -> dict[str, Any]:
    lines = text.replace("\r\n", "\n").lstrip("\ufeff").split("\n")
    first = lines.index("---")
    found: dict[str, Any] = yaml.safe_load("\n".join(lines[first + 1 : lines.index("---", first + 1)]) + "\n")
    return found


def check_mine(text: str) -> None:
    card = read_card(text, path="README.md")
    assert card.infos["mine"].download_size == 3
    assert next(entry for entry in card.configs if entry.name == "mine").data_files == {"train": ["mine/train-*"]}


NEW_KEYS = ("features", "name", "dtype", "download_size")

HAND_WRITTEN = """\
---
# of the author
license: "mit"   # as it was
language: [en, 'no']
configs:
# the first
- config_name: "en"    # English
  data_files: 'en/*.csv'
  sep: ";"

  # and the second
- config_name: 'no'
  data_files:
    - split: train
      path: [no/1.csv, no/2.csv]
# behind configs
pretty_name: >-
  A long
  title
dataset_info:
- config_name: en
  features:
  - {name: x, dtype: int64}   # in braces
- config_name: 'no'
  description: |
    # no comment
    text
tags:
- a
---
# Title

---
Text \u00fc
"""


def test_a_new_entry_leaves_every_other_line() -> None:
    found = edited_card(HAND_WRITTEN, MINE)

    check_mine(found)
    lines = iter(found.splitlines())
    assert all(line in lines for line in HAND_WRITTEN.splitlines())  # all of them, in their order
    added = set(found.splitlines()) - set(HAND_WRITTEN.splitlines())
    assert all(
        "mine" in line or "download_size" in line or line.lstrip(" -").startswith(("name", "dtype", "split")) for line in added
    )
    assert [entry.name for entry in read_card(found, path="README.md").configs] == ["en", "mine", "no"]


def test_an_entry_that_changes_leaves_the_lines_of_others() -> None:
    found = edited_card(HAND_WRITTEN, {"configs": {"en": Edit({"data_files": "en/train-*"}, frozenset({"sep"}))}})

    assert found == HAND_WRITTEN.replace(
        """- config_name: "en"    # English
  data_files: 'en/*.csv'
  sep: ";"
""",
        """- config_name: "en"
  data_files: en/train-*
""",
    )


def test_what_stands_there_already_changes_nothing() -> None:
    once = edited_card(HAND_WRITTEN, MINE)

    assert edited_card(once, MINE) == once
    assert edited_card(HAND_WRITTEN, {"configs": {"no": Edit({"config_name": "no"}, frozenset({"sep"}))}}) == HAND_WRITTEN


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (None, ""),
        ("", ""),
        ("# Title\n", "# Title\n"),
        ("\ufeff# Title\n", "# Title\n"),
        ("# Title\r\n\r\nText\r\n", "# Title\r\n\r\nText\r\n"),
        ("---\n---\n# Title", "# Title"),
        ("---\n# only a remark\n---\n", ""),
        ("---\nlicense: mit\n# Title, and the front matter is not closed\n", "---\nlicense: mit\n# Title, and the "),
        ("----\nno front matter\n", "----\nno front matter\n"),
        ("---\nlicense: mit\n---", ""),
        ("\n\n---\nlicense: mit\n---\nText", "Text"),
    ],
)
def test_cards_of_every_form_get_front_matter(text: str | None, rest: str) -> None:
    found = edited_card(text, MINE)

    check_mine(found)
    assert found.endswith(rest) or rest in found
    assert ("license: mit" in found) == ("license: mit" in (text or ""))
    assert not found.startswith("\ufeff")
    assert edited_card(found, MINE) == found


def test_a_new_card_is_what_the_libraries_of_the_hub_write() -> None:
    assert edited_card(None, {"dataset_info": {"default": Edit({"features": []})}, "configs": {"default": Edit()}}) == (
        "---\ndataset_info:\n  features: []\nconfigs:\n- config_name: default\n---\n"
    )


def test_line_ends_stay() -> None:
    found = edited_card(HAND_WRITTEN.replace("\n", "\r\n"), MINE)

    assert found.replace("\r\n", "\n") == edited_card(HAND_WRITTEN, MINE)
    assert "\n" not in found.replace("\r\n", "")


@pytest.mark.parametrize(
    "front",
    [
        "configs: []\n",
        "configs:\n",
        "configs: null # none\n",
        "configs: [{config_name: en, data_files: a.csv}]\n",
        "configs:\n    -   config_name: en\n        data_files: a.csv\n",
        "configs:\n-\n  config_name: en\n  data_files: a.csv\n",
        "configs:\n- {config_name: en, data_files: a.csv}\n",
        "{license: mit, configs: [{config_name: en, data_files: a.csv}]}\n",
        "  license: mit\n  configs:\n  - config_name: en\n    data_files: a.csv\n",
        "a: &x [1, 2]\nb: *x\nconfigs:\n- config_name: en\n  data_files: a.csv\n",
        "base: &x {config_name: en, data_files: a.csv}\nconfigs:\n- *x\n",
        "configs:\n- &x\n  config_name: en\n  data_files: a.csv\nother: *x\n",
        "base: &x {data_files: a.csv}\nconfigs:\n- config_name: en\n  <<: *x\n",
        '"configs":\n- "config_name": en\n  data_files: a.csv\n',
        "configs: # remark\n# remark\n- config_name: en\n  data_files: >-\n    a.csv\n\n\n# remark\nend: 1\n",
        "dataset_info:\n  # remark\n  features:\n  - name: x\n    dtype: string\n  splits: []\n",
        "dataset_info:\n    config_name: en\n    download_size: 5\n",
        "dataset_info: {download_size: 5}\n",
        "text: |+\n  keep\n\n\n",
        "text: 'two\n\n  lines'\n",
        "date: 2020-01-01\nno: yes\nnumber: 0o17\nsexagesimal: 1:30\nversion: 1.10\n",
        "unicode: \u00fc\nemoji: \U0001f600\n",
    ],
)
def test_yaml_of_every_form_says_what_it_said(front: str) -> None:
    text = f"---\n{front}---\n# Title\n"
    before = yaml_of(text)
    found = edited_card(text, MINE)

    check_mine(found)
    after = yaml_of(found)
    assert {key: value for key, value in after.items() if key not in OURS} == {
        key: value for key, value in before.items() if key not in OURS
    }
    kept = {entry["config_name"]: entry for entry in after["configs"]}
    for entry in before.get("configs") or []:
        assert kept[entry["config_name"]] == entry
    assert found.endswith("---\n# Title\n")
    assert edited_card(found, MINE) == found


def test_one_info_is_a_mapping_and_two_are_a_list() -> None:
    one = edited_card(None, {"dataset_info": {"default": Edit({"download_size": 1})}})
    two = edited_card(one, {"dataset_info": {"en": Edit({"download_size": 2})}})

    assert yaml_of(one) == {"dataset_info": {"download_size": 1}}
    assert yaml_of(two) == {
        "dataset_info": [{"config_name": "default", "download_size": 1}, {"config_name": "en", "download_size": 2}]
    }


def test_new_entries_stand_in_order_where_the_others_do() -> None:
    card = edited_card(None, {"configs": {name: Edit({"data_files": name}) for name in ("b", "d", "a", "c")}})
    assert [entry.name for entry in read_card(card, path="README.md").configs] == ["a", "b", "c", "d"]

    turned = "---\nconfigs:\n- config_name: b\n- config_name: a\n---\n"
    card = edited_card(turned, {"configs": {"aa": Edit()}})
    assert [entry.name for entry in read_card(card, path="README.md").configs] == ["b", "a", "aa"]


@pytest.mark.parametrize(
    "text",
    [
        "---\nlicense: [mit\n---\n",
        "---\n- a\n- b\n---\n",
        "---\njust text\n---\n",
        "---\nconfigs:\n- config_name: en\n# never closed\n",
        "---\na: !!python/object:os.system x\nb: [\n---\n",
    ],
)
def test_a_broken_card_is_told(text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        edited_card(text, MINE)
    assert str(caught.value.file).endswith("README.md")


def test_what_stands_twice_stays_twice() -> None:
    text = "---\nlicense: a\nlicense: b\nconfigs:\n- config_name: en\n  x: 1\n  x: 2\n---\n"
    found = edited_card(text, MINE)
    check_mine(found)
    assert found.startswith(text.removesuffix("---\n"))


def test_what_is_to_be_last_stands_behind_what_its_name_comes_before() -> None:
    edits = {"configs": {"en": Edit({"x": 1}), "default": Edit({"x": 2}, is_last=True)}}
    assert [entry["config_name"] for entry in yaml_of(edited_card(None, edits))["configs"]] == ["en", "default"]


MANY = """\
license: mit
configs:
# the first
- config_name: "b"    # English
  data_files: 'en/*.csv'

  # and the second
- config_name: d
  data_files:
    - split: train
      path: [no/1.csv, no/2.csv]
- data_files: x
  config_name: f  # named below
# behind configs
dataset_info:
- config_name: b
  features:
  - name: x
    dtype: int64
- config_name: d
  description: |
    # no comment
    - config_name: x
tags:
- a
"""


@pytest.mark.parametrize("end", ["\n", "\r\n"], ids=["lf", "crlf"])
@pytest.mark.parametrize("name", ["a", "b", "c", "d", "e", "f", "g"])
def test_large_cards_are_edited_as_small_ones(name: str, end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"---\n{MANY}---\n# Title\n".replace("\n", end)
    files = Edit({"data_files": [{"split": "train", "path": f"{name}/train-*"}]}, frozenset({"x"}))
    edits = {"dataset_info": {name: Edit({"download_size": 3})}, "configs": {name: files, "zz": Edit({"x": 1}, is_last=True)}}
    whole = edited_card(text, edits)

    monkeypatch.setattr(card_edit, "_LARGE", 0)
    monkeypatch.setattr(card_edit, "_merged", only_parts(card_edit._merged, len(text)))
    assert edited_card(text, edits) == whole
    assert edited_card(whole, edits) == whole


def only_parts(merged: Any, most: int) -> Any:
    """What merges a part of a card, and refuses the whole of it."""

    def checked(yaml: str, *others: Any) -> str:
        assert len(yaml) < most * 2 // 3, "all of it is parsed"
        return str(merged(yaml, *others))

    return checked


@pytest.mark.parametrize("front", ["tags: [a\n", "a: *b\n", "a: b: c\n", "just text\n"])
def test_a_large_card_that_is_broken_is_told(front: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card_edit, "_LARGE", 0)
    with pytest.raises(ManifestError) as caught:
        edited_card(f"---\n{MANY}{front}---\n", MINE)
    assert str(caught.value.file).endswith("README.md")


KEYS = st.text("abcxyz_", min_size=1, max_size=8).filter(lambda key: key not in OURS)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=12) | st.dates()
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3), max_leaves=6
)
NAMES = st.sampled_from(["default", "en", "no", "null", "1", "mine", "1e3", "a b"])


@settings(max_examples=60)
@given(data=st.data())
def test_whatever_tools_write_stays_and_whatever_is_set_is_there(data: st.DataObject) -> None:
    names = data.draw(st.lists(NAMES, unique=True, max_size=4))
    front: dict[str, Any] = data.draw(st.dictionaries(KEYS, VALUES, max_size=3))
    front["configs"] = [{"config_name": name, "data_files": f"{name}.csv", "x": data.draw(SCALARS)} for name in names]
    front["dataset_info"] = [{"config_name": name, "download_size": 1} for name in names]
    keys = data.draw(st.permutations(list(front)))
    style: dict[str, Any] = {
        "default_flow_style": data.draw(st.sampled_from([False, None])),
        "indent": data.draw(st.sampled_from([2, 4])),
    }
    text = yaml.safe_dump({key: front[key] for key in keys}, sort_keys=False, allow_unicode=True, **style)
    wanted = data.draw(NAMES)
    files = [{"split": "train", "path": "x/train-*"}]
    edits = {
        "configs": {wanted: Edit({"data_files": files})},
        "dataset_info": {wanted: Edit({"download_size": 2})},
    }
    found = yaml_of(edited_card(f"---\n{text}---\nText", edits))

    assert {key: found[key] for key in front if key not in OURS} == {key: front[key] for key in front if key not in OURS}
    configs = {entry["config_name"]: entry for entry in found["configs"]}
    assert configs.keys() == {*names, wanted}
    assert configs[wanted]["data_files"] == files
    for entry in front["configs"]:
        if entry["config_name"] != wanted:
            assert configs[entry["config_name"]] == entry
    infos = found["dataset_info"] if isinstance(found["dataset_info"], list) else [found["dataset_info"]]
    sizes = {entry.get("config_name", "default"): entry["download_size"] for entry in infos}
    assert sizes == {**dict.fromkeys(names, 1), wanted: 2}
