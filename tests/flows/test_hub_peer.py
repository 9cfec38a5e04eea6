"""Repositories go to and from Hugging Face `datasets` by the Hub: equal rows, features and cards, whoever pushed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml

import datasets_core
from datasets_core.dataset.dataset import Dataset
from datasets_core.dataset.dataset_dict import DatasetDict
from datasets_core.features.media.audio import Audio
from datasets_core.features.media.types import Image
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.load import load_dataset, load_dataset_builder

PEER = os.environ.get("DATASETS_PEER_PYTHON")
pytestmark = [pytest.mark.optional("datasets"), pytest.mark.skipif(PEER is None, reason="DATASETS_PEER_PYTHON is not set")]

NOT_PUSHED = {"uint64", "Translation", "TranslationVariableLanguages"}  # columns that the peer fails to write

BEGIN = f"""
import sys
sys.path.insert(0, {str(Path(__file__).parent)!r})
import datasets, exchange, hub_calls, every_kind
datasets.disable_progress_bars()
"""


@pytest.fixture
def theirs(hub: Any, tmp_path: Path) -> Any:
    """Runs code in the peer's interpreter, with a home of its own: `theirs("say(...)")` is what it says."""

    def run(code: str) -> Any:
        assert PEER is not None
        home = {"HF_HOME": str(tmp_path / "theirs"), "PYTHONWARNINGS": "ignore", "PYTHONPATH": None}
        return hub.run(BEGIN + code, python=PEER, token=hub.token, **home).value

    return run


def push(dataset: Any, hub: Any, repo: str = "org/new", **arguments: Any) -> None:
    dataset.push_to_hub(repo, token=hub.token, **arguments)


def rows(count: int, start: int = 0) -> Dataset:
    return Dataset.from_dict({"a": list(range(start, start + count)), "s": [f"row {n}" for n in range(start, start + count)]})


def front(hub: Any, repo: str = "org/new") -> dict[str, Any]:
    return yaml.safe_load(hub.repos[repo].text("README.md").split("---\n")[1])


LOAD = "found = datasets.load_dataset('org/new'); say({name: exchange.described(split) for name, split in found.items()})"


def test_the_peer_loads_every_kind_that_we_pushed(hub: Any, theirs: Any, every_kind: ModuleType, exchange: ModuleType) -> None:
    form = {name: feature for name, feature in every_kind.FORM.items() if name != "uint64"}  # which the peer fails to encode
    made = Dataset.from_list(
        [{name: row[name] for name in form} for row in every_kind.rows()], features=Features.from_dict(form)
    )
    push(made, hub)
    assert theirs(LOAD) == {"train": exchange.described(load_dataset("org/new", split="train"))}
    assert exchange.described(load_dataset("org/new", split="train"))["features"] == exchange.described(made)["features"]


def test_we_load_every_kind_that_the_peer_pushed(hub: Any, theirs: Any, every_kind: ModuleType, exchange: ModuleType) -> None:
    code = f"""
names = [name for name in every_kind.FORM if name not in {sorted(NOT_PUSHED)!r}]
features = datasets.Features.from_dict({{name: every_kind.FORM[name] for name in names}})
made = datasets.Dataset.from_generator(
    lambda: ({{name: row[name] for name in names}} for row in every_kind.rows()), features=features
)
made.push_to_hub("org/new")
found = datasets.load_dataset("org/new", split="train")
say(exchange.described(found))
"""
    expected = theirs(code)
    assert exchange.described(load_dataset("org/new", split="train")) == expected


def test_splits_shards_and_configs_go_both_ways(hub: Any, theirs: Any, exchange: ModuleType) -> None:
    group = DatasetDict({"train": rows(30), "test": rows(4, 100)})
    push(group, hub, config_name="large", num_shards={"train": 3, "test": 1})
    push(rows(5), hub, config_name="small", set_default=True)
    described = {name: exchange.described(split) for name, split in group.items()}

    found = theirs(
        "say([datasets.get_dataset_config_names('org/new'), datasets.get_dataset_default_config_name('org/new'),"
        "{n: exchange.described(s) for n, s in datasets.load_dataset('org/new', 'large').items()},"
        "datasets.load_dataset('org/new', split='train').num_rows,"
        "[row['a'] for row in datasets.load_dataset('org/new', 'large', split='test', streaming=True)]])"
    )

    assert found == [["large", "small"], "small", described, 5, [100, 101, 102, 103]]


def test_the_peer_finds_the_info_that_we_wrote(hub: Any, theirs: Any) -> None:
    push(DatasetDict({"train": rows(30), "test": rows(4)}), hub)
    code = """
info = datasets.load_dataset_builder("org/new").info
splits = {name: [split.num_examples, split.num_bytes] for name, split in info.splits.items()}
say([splits, info.download_size, info.dataset_size])
"""
    before = theirs(code)
    theirs("datasets.load_dataset('org/new', verification_mode='all_checks'); say(0)")
    ours = load_dataset_builder("org/new").info
    assert ours.splits is not None
    assert before == [
        {name: [split.num_examples, split.num_bytes] for name, split in ours.splits.items()},
        ours.download_size,
        ours.dataset_size,
    ]


@pytest.mark.parametrize("shards", ["", ", num_shards=3"])
def test_we_load_what_the_peer_pushed(shards: str, hub: Any, theirs: Any, exchange: ModuleType) -> None:
    code = f"""
made = datasets.DatasetDict({{
    "train": datasets.Dataset.from_dict({{"a": list(range(10)), "c": [0, 1] * 5}}),
    "test": datasets.Dataset.from_dict({{"a": [1], "c": [1]}}),
}}).cast_column("c", datasets.ClassLabel(names=["n", "y"]))
made["train"].push_to_hub("org/new", "one", private=True, split="train"{shards})
made["test"].push_to_hub("org/new", "one", split="test")
made["test"].push_to_hub("org/new", "other")
say({{name: exchange.described(split) for name, split in made.items()}})
"""
    expected = theirs(code)
    found = load_dataset("org/new", "one", token=hub.token)
    assert {name: exchange.described(split) for name, split in found.items()} == expected
    assert load_dataset("org/new", "other", token=hub.token)["train"].num_rows == 1
    assert found["train"].features["c"] == ClassLabel(names=["n", "y"])


def test_each_adds_to_what_the_other_pushed(hub: Any, theirs: Any) -> None:
    theirs("datasets.Dataset.from_dict({'a': [1, 2], 's': ['x', 'y']}).push_to_hub('org/new'); say(0)")
    push(rows(3, 10), hub, split="test")
    theirs("datasets.Dataset.from_dict({'a': [7], 's': ['z']}).push_to_hub('org/new', split='validation'); say(0)")
    push(rows(1, 20), hub, config_name="ours")
    theirs("datasets.Dataset.from_dict({'b': [1.5]}).push_to_hub('org/new', 'theirs'); say(0)")
    push(rows(2, 30), hub, split="train")

    counts = {"train": 2, "test": 3, "validation": 1}
    assert {name: split.num_rows for name, split in load_dataset("org/new", "default").items()} == counts
    assert theirs("say({n: s.num_rows for n, s in datasets.load_dataset('org/new', 'default').items()})") == counts
    assert load_dataset("org/new", "default", split="train")["a"] == [30, 31]
    assert load_dataset("org/new", "theirs", split="train")["b"] == [1.5]
    assert theirs("say(datasets.load_dataset('org/new', 'ours', split='train')['a'][:])") == [20]
    assert {each["config_name"] for each in front(hub)["configs"]} == {"default", "ours", "theirs"}


def test_the_cards_are_the_same(hub: Any, theirs: Any) -> None:
    theirs(
        "datasets.DatasetDict({'train': datasets.Dataset.from_dict({'a': [1, 2], 's': ['x', 'y']}),"
        "'test': datasets.Dataset.from_dict({'a': [1], 's': ['x']})}).push_to_hub('org/theirs'); say(0)"
    )
    made = {"train": Dataset.from_dict({"a": [1, 2], "s": ["x", "y"]}), "test": Dataset.from_dict({"a": [1], "s": ["x"]})}
    push(DatasetDict(made), hub)
    ours, other = front(hub), front(hub, "org/theirs")
    assert ours["configs"] == other["configs"]
    for card in (ours, other):
        card["dataset_info"].pop("download_size")  # of compressed files, which differ a little
    assert ours["dataset_info"] == other["dataset_info"]
    assert list(hub.repos["org/new"].files()) == list(hub.repos["org/theirs"].files())


def test_media_go_both_ways(hub: Any, theirs: Any, tmp_path: Path, hub_shapes: ModuleType) -> None:
    (tmp_path / "a.png").write_bytes(hub_shapes.png(7))
    (tmp_path / "a.wav").write_bytes(hub_shapes.wav(7))
    features = Features({"image": Image(), "sound": Audio()})
    made = Dataset.from_dict(
        {"image": [str(tmp_path / "a.png"), None], "sound": [str(tmp_path / "a.wav"), None]}, features=features
    )
    push(made, hub)
    code = """
found = datasets.load_dataset("org/new", split="train")
pixel = found[0]["image"].getpixel((0, 0)) if found.features["image"].decode else None
plain = found.cast_column("sound", datasets.Audio(decode=False)).cast_column("image", datasets.Image(decode=False))
plain.cast_column("image", datasets.Image()).push_to_hub("org/again")
say([pixel, [[row["sound"] and row["sound"]["bytes"].hex(), row["sound"] and row["sound"]["path"]] for row in plain]])
"""
    pixel, sounds = theirs(code.replace("found[0]", "found.remove_columns('sound')[0]"))
    assert pixel == [7, 0, 0]
    assert sounds == [[hub_shapes.wav(7).hex(), "a.wav"], None] or sounds == [[hub_shapes.wav(7).hex(), "a.wav"], [None, None]]
    again = load_dataset("org/again", split="train")
    assert again[0]["image"].getpixel((0, 0)) == (7, 0, 0)
    assert again[1]["image"] is None


def test_the_cache_of_the_hub_is_shared(hub: Any, theirs: Any, tmp_path: Path) -> None:
    hub.repo("org/new", {"train.csv": "a\n1\n"})
    load_dataset("org/new")
    hub.forget()
    code = "say(datasets.load_dataset('org/new', split='train')['a'][:])"
    shared = {"HF_HOME": str(tmp_path / "theirs"), "HF_HUB_CACHE": str(hub.cache_dir), "PYTHONPATH": None}
    assert PEER is not None
    assert hub.run(BEGIN + code, python=PEER, **shared).value == [1]
    assert hub.of("resolve", "GET") == []


def test_we_find_what_the_peer_loaded_offline(hub: Any, tmp_path: Path) -> None:
    hub.repo("org/new", {"train.csv": "a\n1\n"})
    code = "say(datasets.load_dataset('org/new', split='train')['a'][:])"
    shared = {"HF_HOME": str(tmp_path / "theirs"), "HF_HUB_CACHE": str(hub.cache_dir), "PYTHONPATH": None}
    assert PEER is not None
    assert hub.run(BEGIN + code, python=PEER, **shared).value == [1]
    hub.forget()
    with datasets_core.config.using(offline=True):
        assert load_dataset("org/new", split="train")["a"] == [1]
    assert hub.requests == []


@pytest.mark.slow
def test_the_golden_file_is_what_the_peer_gives(shared_hub: Any, hub_shapes: ModuleType, tmp_path: Path) -> None:
    hub_shapes.extend(shared_hub)
    calls = [[call[0], hub_shapes.repository(call), call[2]] for call in hub_shapes.CALLS]
    code = f"import json; say([hub_calls.outcome(datasets, *call) for call in json.loads({json.dumps(calls)!r})])"
    home = {"HF_HOME": str(tmp_path / "theirs"), "PYTHONWARNINGS": "ignore", "PYTHONPATH": None}
    assert PEER is not None
    found = shared_hub.run(BEGIN + code, python=PEER, seconds=280, **home).value
    golden = json.loads(Path(__file__).with_name("golden").joinpath("hub_shapes.json").read_text())
    titled = zip(map(hub_shapes.title, hub_shapes.CALLS), found, strict=True)
    assert {title: hub_shapes.compared(each, golden[title]) for title, each in titled} == golden
