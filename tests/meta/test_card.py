"""Tests of datasets_core/meta/card.py."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.hooks import BuilderConfig, option_names
from datasets_core.errors import ConfigurationError, DatasetsCoreError, ManifestError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta import card
from datasets_core.meta.card import read_card, read_dataset_infos, way_out
from datasets_core.meta.info import BUILDER_OPTIONS, Card, ConfigEntry
from datasets_core.resolve import registry

FIXTURES = Path(__file__).parent / "fixtures"


def readme(yaml: str) -> str:
    return f"---\n{yaml}---\n\n# Title\n"


def read(yaml: str) -> Card:
    return read_card(readme(yaml), path="README.md")


def config(lines: str) -> ConfigEntry:
    return read(f"configs:\n- config_name: a\n{lines}").configs[0]


def test_the_card_that_datasets_wrote_is_read() -> None:
    found = read_card((FIXTURES / "README_5.2.0.md").read_text(), path="README.md")
    assert found.configs == [
        ConfigEntry("de", {"train": ["de/train-*"]}, default=True),
        ConfigEntry("en", {"train": ["en/train-*"], "test": ["en/test-*"]}),
    ]
    assert (list(found.infos), found.infos["en"].splits["train"].num_examples) == (["de", "en"], 10)


def test_the_infos_of_a_card_are_written_alike() -> None:
    found = read_card((FIXTURES / "README_5.2.0.md").read_text(), path="README.md").infos["en"]
    again = found.from_yaml_dict(found.to_yaml_dict())
    assert again == found


@pytest.mark.parametrize(
    "text",
    [
        "# Title\n\nText.\n",
        "",
        "\n",
        "---\nA rule, and no front matter.\n",
        "---\nlicense: mit\ntags: [a, no]\n---\n",
        "---\n---\n",
        "---\nconfigs:\ndataset_info:\n---\n",
        "Text\n---\nconfigs: 3\n---\n",
    ],
)
def test_a_readme_without_our_keys_is_a_card_without_configs(text: str) -> None:
    assert read_card(text, path="README.md") == Card()


@pytest.mark.parametrize(
    "text", ["\ufeff---\r\nconfigs:\r\n- config_name: a\r\n---\r\n", "\n\n---\nconfigs:\n- config_name: a\n---"]
)
def test_front_matter_may_have_a_mark_blank_lines_and_other_line_ends(text: str) -> None:
    assert read_card(text, path="README.md").configs == [ConfigEntry("a")]


def test_a_yaml_file_is_read_whole() -> None:
    assert read_card("configs:\n- config_name: a\n", path=".huggingface.yaml").configs == [ConfigEntry("a")]


@pytest.mark.parametrize(
    ("lines", "data_files"),
    [
        ("  data_files: a.csv\n", {"train": ["a.csv"]}),
        ("  data_files: [a.csv, b/*.csv]\n", {"train": ["a.csv", "b/*.csv"]}),
        (
            "  data_files:\n  - split: train\n    path: 2020\n  - {split: test, path: [x, y]}\n",
            {"train": ["2020"], "test": ["x", "y"]},
        ),
        ("  data_files:\n", None),
        ("  data_dir: d\n", None),
    ],
)
def test_data_files_are_patterns_by_split(lines: str, data_files: dict[str, list[str]] | None) -> None:
    assert config(lines).data_files == data_files


def test_names_are_texts_even_where_yaml_sees_numbers_or_booleans() -> None:
    assert [entry.name for entry in read("configs:\n- config_name: no\n- config_name: 2020\n- config_name: 1_0\n").configs] == [
        "no",
        "2020",
        "1_0",
    ]


def test_other_keys_are_options_of_the_builder() -> None:
    found = config(
        "  data_dir: d\n  version: 1.0.0\n  default: true\n  sep: ';'\n  header: null\n  skiprows: 2\n  decimal: 1.5\n"
    )
    assert found == ConfigEntry("a", None, "d", True, "1.0.0", {"sep": ";", "header": None, "skiprows": 2, "decimal": 1.5})


def test_features_among_the_options_are_features() -> None:
    assert config("  features:\n  - {name: x, dtype: int8}\n").options == {"features": Features({"x": Value("int8")})}


def test_aliases_and_merges_are_written_out() -> None:
    found = read("configs:\n- &base\n  config_name: a\n  sep: ';'\n- <<: *base\n  config_name: b\n")
    assert found.configs == [ConfigEntry("a", options={"sep": ";"}), ConfigEntry("b", options={"sep": ";"})]


def test_class_names_that_yaml_takes_for_booleans_stay_names() -> None:
    names = "names: {'0': no, 1: yes, '2': 1e3}"
    found = read(f"dataset_info:\n  features:\n  - name: l\n    dtype:\n      class_label:\n        {names}\n")
    assert found.infos["default"].features["l"].names == ["no", "yes", "1e3"]


def test_an_info_without_a_config_name_is_the_default() -> None:
    found = read("dataset_info:\n  splits:\n  - {name: train, num_bytes: null, num_examples: 3}\n  download_size: null\n").infos
    assert found["default"].splits["train"].num_bytes is None
    assert found["default"].download_size is None


@pytest.mark.parametrize(
    ("yaml", "name"),
    [
        ("configs:\n- config_name: a\n- config_name: b\n  default: true\n", "b"),
        ("configs:\n- config_name: a\n- config_name: default\n", "default"),
        ("configs:\n- config_name: a\n", "a"),
        ("configs:\n- config_name: a\n- config_name: b\n", None),
        ("configs:\n- config_name: a\n  default:\n- config_name: b\n  default: false\n", None),
        ("license: mit\n", None),
    ],
)
def test_the_default_config_is_marked_named_or_alone(yaml: str, name: str | None) -> None:
    assert read(yaml).default_config == name


def test_a_second_card_has_the_word_on_what_both_describe() -> None:
    merged = read("configs:\n- config_name: a\n- config_name: b\n").merge(read("configs:\n- config_name: a\n  sep: x\n"))
    assert merged.configs == [ConfigEntry("a", options={"sep": "x"}), ConfigEntry("b")]


def bomb(levels: int) -> str:
    """A billion laughs: each level is ten times the one below."""
    first = "configs:\n- config_name: a\n  l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n"
    return first + "".join(f"  l{k}: &l{k} [{', '.join([f'*l{k - 1}'] * 10)}]\n" for k in range(1, levels))


HEAD = "configs:\n- config_name: a\n"
REFUSED = {
    "configs: [\n": "line 3: the YAML is broken",
    "a: b: c\n": "line 2: the YAML is broken",
    "\ta: b\n": "line 2: the YAML is broken",
    "a: 'b\n": "the YAML is broken",
    "a: \x01\n": "a character that is not allowed",
    "just text\n": "line 2: the card's YAML is not a mapping",
    "- a\n": "line 2: the card's YAML is not a mapping",
    "configs: 3\n": "line 2: configs is not a list",
    "configs:\n  config_name: a\n": "line 3: configs is not a list",
    "configs:\n- 3\n": "line 3: a config is not a mapping",
    "configs:\n- sep: ';'\n": "line 3: a config has no config_name",
    "configs:\n- config_name: [a]\n": "line 3: the config_name ['a'] is not a string",
    "configs:\n- config_name: a/b\n": "line 3: the config_name 'a/b'",
    "configs:\n- config_name: ..\n": "line 3: the config_name '..'",
    "configs:\n- config_name: a\n- config_name: a\n": "line 4: there are two configs named 'a'",
    HEAD + "  default: true\n- config_name: b\n  default: true\n": "line 5: both 'a' and 'b' are marked",
    HEAD + "  default: 1\n": "line 4: default is 1",
    HEAD + "  version: 1\n": "line 4: '1' is not a valid version",
    HEAD + "  data_files: {train: x}\n": "line 4: data_files is not a string",
    HEAD + "  data_files: []\n": "line 4: data_files is not a string",
    HEAD + "  data_files:\n  - split: train\n    pattern: x\n": "line 5: an item of data_files has the keys",
    HEAD + "  data_files:\n  - {split: 'a b', path: x}\n": "line 5: 'a b' is not a valid split expression",
    HEAD + "  data_files:\n  - {split: t, path: x}\n  - {split: t, path: y}\n": "line 6: the split 't' appears twice",
    HEAD + "  data_files:\n  - {split: t, path: {}}\n": "line 5: the path {} is not a string",
    HEAD + "  data_dir: ''\n": "line 4: data_dir names ''",
    HEAD + "  ? [x]\n  : y\n": "line 4: a key is not a plain string",
    HEAD + "  x: !!python/object/apply:os.system [echo]\n": "line 4: the tag",
    HEAD + "  x: !!python/name:os.system\n": "line 4: the tag",
    HEAD + "  x: !!binary aGVsbG8=\n": "line 4: the tag",
    HEAD + "  x: !!int abc\n": "line 4: 'abc' cannot be read as int",
    HEAD + "  x: " + "9" * 5000 + "\n": "line 4",
    HEAD + "  <<: 3\n": "line 4",
    HEAD + "  x: *nowhere\n": "line 4: the YAML is broken",
    "configs:\n- &self\n  config_name: a\n  x: *self\n": "line 5: the alias *self is inside",
    bomb(9): "more than 500,000 values",
    "a: " + "[" * 100 + "]" * 100 + "\n": "line 2: the YAML is nested deeper than 64 levels",
    "a: " + "[" * 50_000 + "\n": "line 2: the YAML is nested deeper than 64 levels",
    "l0: &l0 [x]\n" + "".join(f"l{k}: &l{k} [*l{k - 1}]\n" for k in range(1, 80)): "nested deeper than 64 levels",
    "dataset_info: 3\n": "line 2: dataset_info is not a mapping",
    "dataset_info:\n- splits: []\n- splits: []\n": "line 3: one of several dataset_info has no config_name",
    "dataset_info:\n- config_name: a\n- config_name: a\n": "line 4: there are two dataset_info of config 'a'",
    "dataset_info:\n  features: {}\n": "line 3: features of dataset_info is not a list",
    "dataset_info:\n  splits: 3\n": "line 3: splits of dataset_info is not a list",
    "dataset_info:\n  features:\n  - name: a\n    dtype: nonsense\n": "line 3",
    "dataset_info:\n  splits:\n  - name: a\n    num_examples: many\n": "num_examples of split 'a' is 'many'",
    "dataset_info:\n  splits:\n  - name: a\n  - name: a\n": "Two splits are named 'a'",
    "dataset_info:\n  download_size: big\n": "download_size is 'big'",
}


@pytest.mark.parametrize(("yaml", "reason"), REFUSED.items(), ids=[key[:60] for key in REFUSED])
def test_a_broken_card_is_one_error_that_names_file_and_line(yaml: str, reason: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read(yaml)
    assert str(caught.value).startswith("README.md: ")
    assert reason in str(caught.value)


def test_front_matter_that_is_not_closed_is_refused() -> None:
    with pytest.raises(ManifestError, match="not closed"):
        read_card("---\nconfigs:\n- config_name: a\n", path="README.md")


def test_a_huge_card_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "MAX_TEXT", 100)
    with pytest.raises(ManifestError, match="longer than 100 characters"):
        read_card("x" * 101, path="README.md")


def test_a_bomb_is_refused_before_it_grows() -> None:
    with pytest.raises(ManifestError):
        read(bomb(60))  # as it grows it would have 10**60 elements


OUTWARD = [
    "/etc/passwd",
    "\\\\host\\share",
    "C:\\data\\x.csv",
    "C:x.csv",
    "~/x",
    "~root/x",
    "../x",
    "a/../../x",
    "a\\..\\x",
    "..",
    "s3://bucket/x",
    "https://example.org/x.csv",
    "file:///etc/passwd",
    "file:/etc/passwd",
    "hf://datasets/o/n/x",
    "zip://x.csv::a.zip",
    "data::x",
    "%2e%2e/x",
    "a/%2E%2E/x",
    "%2fetc/passwd",
    "a\nb",
]


@pytest.mark.parametrize("path", OUTWARD)
@pytest.mark.parametrize("key", ["data_files", "data_dir"])
def test_a_path_that_leaves_the_repository_is_refused(path: str, key: str) -> None:
    quoted = '"' + path.replace("\\", "\\\\").replace("\n", "\\n") + '"'
    with pytest.raises(ConfigurationError, match=r"README\.md, line 4: data_(files|dir) names"):
        config(f"  {key}: {quoted}\n")


def test_a_path_of_a_split_that_leaves_the_repository_is_refused() -> None:
    with pytest.raises(ConfigurationError, match=r"README\.md, line 5: data_files names '\.\./x'"):
        config("  data_files:\n  - {split: train, path: [a, ../x]}\n")


@pytest.mark.parametrize(
    "path", ["data/*.csv", "**/train-*.parquet", "a b/c:d.csv", "x..y/z", "./a", "ü/..a", "100%.csv", "a~b"]
)
def test_a_path_inside_the_repository_is_taken(path: str) -> None:
    assert way_out(path) is None


@given(st.text(max_size=200))
def test_any_text_is_a_card_or_one_library_error(text: str) -> None:
    try:
        found: object = read_card("---\n" + text + "\n---\n", path="README.md")
    except DatasetsCoreError as error:
        found = error
    assert isinstance(found, (Card, ManifestError, ConfigurationError))


LINES = """configs:
- config_name: a
  data_files: x
  data_files:
  - split: train
    path: x
dataset_info:
  features:
  - name: a
    dtype: string
    struct:
    sequence: x
    list: string
    list:
    - dtype: 3
    dtype:
      class_label:
        names:
          '0': a
  splits:
    num_examples: 3
  default: true
  x: &a [1]
  y: *a
  <<: *a
  null
  [
  {
"""
fragments = st.lists(st.sampled_from(LINES.splitlines(keepends=True)), max_size=12).map("".join)


@given(fragments)
def test_any_mixture_of_card_lines_is_a_card_or_one_library_error(text: str) -> None:
    try:
        found: object = read_card(text, path="card.yaml")
    except DatasetsCoreError as error:
        found = error
    assert isinstance(found, (Card, ManifestError, ConfigurationError))


@pytest.mark.parametrize(
    "text",
    [
        "license: a\nlicense: b\n" + HEAD + "  sep: y\n",
        HEAD + "  sep: x\n  sep: y\n",
        HEAD + "  sep: x\n" + HEAD + "  sep: y\n",
    ],
    ids=["foreign", "inside", "configs"],
)
def test_of_a_key_that_stands_twice_the_last_value_holds(text: str) -> None:
    (entry,) = read_card(text, path="card.yaml").configs
    assert entry.options == {"sep": "y"}  # as for the libraries of the Hub, which load such a card


def test_old_infos_are_read_by_config() -> None:
    found = read_dataset_infos((FIXTURES / "dataset_infos_1.18.json").read_bytes(), path="dataset_infos.json")
    assert [(name, info.config_name) for name, info in found.items()] == [("plain_text", "plain_text")]


def test_an_old_info_without_a_config_name_has_that_of_its_key() -> None:
    assert read_dataset_infos('{"en": {}}', path="f")["en"].config_name == "en"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line 1, column 2"),
        ("[]", "object of infos by config name"),
        ('{"a": 3}', "config 'a'"),
        ('{"a": {"splits": 3}}', "config 'a'"),
        ('{"description": "x"}', "config 'description'"),
        ('{"a": {}, "a": {}}', "'a' appears twice"),
    ],
)
def test_broken_old_infos_are_one_error_that_names_the_file(text: str, reason: str) -> None:
    with pytest.raises(ManifestError) as caught:
        read_dataset_infos(text, path="dataset_infos.json")
    assert "dataset_infos.json" in str(caught.value)
    assert reason in str(caught.value)


# What a card says, as values.


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
