"""A dataset in Croissant: files with hashes, one record set for its rows, and JSON-LD that is whole by itself."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.features.types import ClassLabel
from datasets_core.meta.croissant_description import CroissantFacts, described
from datasets_core.meta.listings import DatasetFile, DatasetFiles

FEATURES = Features({"text": Value("string"), "label": ClassLabel(names=["neg", "pos"])})
CSV = "text/csv"


def _nodes(told: Any) -> list[dict[str, Any]]:
    """Every node that has an identifier and says something."""
    if isinstance(told, dict):
        own = [told] if "@id" in told and len(told) > 1 else []
        return own + [node for key, value in told.items() if key not in ("@context", "data") for node in _nodes(value)]
    return [node for value in told for node in _nodes(value)] if isinstance(told, list) else []


def _references(told: Any) -> set[str]:
    if isinstance(told, dict):
        own = {told["@id"]} if set(told) == {"@id"} else set()
        return own.union(*(_references(value) for key, value in told.items() if key not in ("@context", "data")))
    return set().union(*map(_references, told)) if isinstance(told, list) else set()


def test_files_are_told_with_size_hash_and_address() -> None:
    file = DatasetFile("data/a.csv", "https://x.org/a.csv", CSV, 7, "ff" * 32)
    told = described((CroissantFacts("birds", features=FEATURES), DatasetFiles((file,))))
    assert told["distribution"] == [
        {
            "@type": "cr:FileObject",
            "@id": "data/a.csv",
            "name": "data/a.csv",
            "contentSize": "7 B",
            "contentUrl": "https://x.org/a.csv",
            "encodingFormat": CSV,
            "sha256": "ff" * 32,
        }
    ]


def test_what_is_known_of_the_dataset_is_told_and_what_is_not_is_left_out() -> None:
    said = CroissantFacts(
        "birds", description="Birds.", citation="@b", license="mit", homepage="https://b.org", version="1.0.0"
    )
    told = described((said, None))
    facts = {key: told.get(key) for key in ("name", "description", "citeAs", "license", "url", "version", "datePublished")}
    assert facts == {
        "name": "birds",
        "description": "Birds.",
        "citeAs": "@b",
        "license": "mit",
        "url": "https://b.org",
        "version": "1.0.0",
        "datePublished": None,
    }


def test_several_local_files_are_one_set_whose_patterns_name_them_alone() -> None:
    files = DatasetFiles(tuple(DatasetFile(f"{split}[1].csv", None, CSV, splits=(split,)) for split in ("a", "b")))
    told = described((CroissantFacts("birds", features=FEATURES), files))
    assert told["distribution"][-1]["includes"] == ["a[[]1].csv", "b[[]1].csv"]


def test_several_remote_files_are_the_set_of_those_files() -> None:
    files = DatasetFiles(tuple(DatasetFile(f"{split}.csv", f"https://x/{split}", CSV, splits=(split,)) for split in ("a", "b")))
    told = described((CroissantFacts("birds", features=FEATURES), files))
    assert told["distribution"][-1]["containedIn"] == [{"@id": "a.csv"}, {"@id": "b.csv"}]


def test_files_of_splits_that_are_not_asked_for_are_left_out() -> None:
    files = DatasetFiles(tuple(DatasetFile(f"{split}.csv", None, CSV, splits=(split,)) for split in ("a", "b")))
    told = described((CroissantFacts("birds", features=FEATURES, splits=["b"]), files))
    assert [node["name"] for node in told["distribution"]] == ["b.csv"]


def test_a_dataset_without_files_is_told_by_its_columns() -> None:
    told = described((CroissantFacts("birds", features=FEATURES, splits=["train"]), None))
    assert [field["name"] for field in told["recordSet"][-1]["field"]] == ["split", "text", "label"]
    assert told["distribution"][0]["includes"] == "data/*.parquet"


def test_a_dataset_whose_columns_are_unknown_has_files_and_no_record_set() -> None:
    told = described((CroissantFacts("birds"), DatasetFiles(others=(DatasetFile("a.csv", None, CSV),))))
    assert (len(told["distribution"]), told["recordSet"]) == (1, [])


names = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(st.lists(names, min_size=1, max_size=5, unique=True), names, st.lists(names, max_size=3, unique=True))
def test_every_description_is_whole_json_with_unique_identifiers(columns: list[str], config: str, paths: list[str]) -> None:
    files = DatasetFiles(
        tuple(DatasetFile(f"{path}/{config}", None, CSV, splits=(f"s{number}",)) for number, path in enumerate(paths))
    )
    features = Features({name: ClassLabel(names=["x"]) for name in columns})
    told = described((CroissantFacts("a\ud800", config or "default", features=features), files))
    json.dumps(told, allow_nan=False).encode()
    nodes = [node["@id"] for node in _nodes(told)]
    assert len(nodes) == len(set(nodes))
    assert _references(told) <= set(nodes)


def test_configs_of_one_dataset_share_their_files() -> None:
    shared = DatasetFiles((DatasetFile("a.csv", None, CSV),))
    told = described(*((CroissantFacts("birds", name, features=FEATURES), shared) for name in ("one", "two")))
    assert [node["@id"] for node in told["distribution"]] == ["a.csv"]
    assert [node["@id"] for node in told["recordSet"] if "label" not in node["@id"]] == ["one", "two"]
