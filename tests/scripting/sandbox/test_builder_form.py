"""What a confined process tells of its builder: plain values there, and here nothing that cannot be."""

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import BuilderConfig, SplitGenerator
from datasets_core.errors import DatasetsCoreError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.data_files import DataFilesDict, DataFilesList
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.version import Version
from datasets_core.scripting.sandbox.protocol import (
    BuilderFacts,
    ClassFacts,
    RemoteText,
    builder_form,
    class_form,
    files_form,
    files_of,
)


class Reviews(GeneratorBasedBuilder):
    """Reviews."""

    VERSION = Version("2.0.0", "more rows")
    SUPPORTED_VERSIONS = ("1.0.0", "1.1.0")
    BLOCKED_VERSIONS = {"1.1.0": "wrong labels"}  # noqa: RUF012
    BUILDER_CONFIGS = [BuilderConfig(name="en", description="English"), BuilderConfig(name="de")]  # noqa: RUF012
    DEFAULT_CONFIG_NAME = "en"

    def _info(self) -> DatasetInfo:
        return DatasetInfo(description="d", features=Features({"a": Value("int8")}))

    def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        return []

    def _generate_examples(self) -> Any:
        yield 0, {"a": 1}


def over(form: Any) -> Any:
    return json.loads(json.dumps(form))


@pytest.fixture
def told(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = over(builder_form(Reviews(cache_dir=tmp_path)))
    return found


def test_a_class_comes_as_it_is() -> None:
    facts = ClassFacts.of(over(class_form(Reviews)), script="reviews.py")
    assert (facts.class_name, facts.name, facts.doc, facts.default) == ("Reviews", Reviews.class_name(), "Reviews.", "en")
    assert [(config.name, config.description) for config in facts.configs] == [("en", "English"), ("de", None)]
    assert (facts.yields, facts.version) == ("rows", "2.0.0")
    assert facts.blocked.is_blocked("1.1.0") == (True, "wrong labels")


def test_a_builder_comes_as_it_is(tmp_path: Path) -> None:
    made = Reviews(cache_dir=tmp_path, config_name="de", version="1.*.*")
    made.config.features, made.config.thing = made.info.features, object()
    made.config.data_files = DataFilesDict(train=DataFilesList(["a"], [("a", 3, "x")]))
    facts = BuilderFacts.of(over(builder_form(made)), script="reviews.py")
    assert (facts.version, facts.versions, facts.config_id) == (made.version, made._versions, made.config_id)
    assert facts.version.description is None
    assert facts.versions.canonical.description == "more rows"
    assert facts.info == made.info
    assert (facts.config.name, facts.config.features) == ("de", made.info.features)  # type: ignore[attr-defined]
    assert facts.config.data_files.identities == (("a", 3, "x"),)
    assert isinstance(facts.config.thing, RemoteText)  # type: ignore[attr-defined]
    assert repr(facts.config.thing).startswith("<object object")  # type: ignore[attr-defined]


def test_data_files_keep_their_identities() -> None:
    files = DataFilesDict(train=DataFilesList(["/a", "/b"], [("/a", 1, "x"), ("/b", -1, "")]), test=DataFilesList(["/c"]))
    found = files_of(over(files_form(files)))
    assert found == files
    assert found.identities == files.identities


def changed(form: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    form = copy.deepcopy(form)
    *above, last = path.split(".")
    inner = form
    for name in above:
        inner = inner[name]
    inner[last] = value
    return form


BUILDER: list[tuple[str, Any]] = [
    ("config_id", "../../elsewhere"),
    ("config_id", ""),
    ("config_id", "a" * 1000),
    ("config_id", "a\nb"),
    ("config_id", "a.incomplete-1-x"),  # as a folder that a build has not finished
    ("config_id", 5),
    ("config.name", 5),
    ("config.fields", []),
    ("config.fields", {"create_config_id": "evil"}),
    ("config.fields", {"_private": 1}),
    ("config.fields", {"a b": 1}),
    ("config.fields", {"description": 5}),
    ("config.fields", {"version": 5}),
    ("config.fields", {"data_files": ["/home"]}),
    ("config.fields", {"a": {"held": {"features": {"x": {"_type": "Evil"}}}}}),
    ("config.fields", {"a": {"held": {"pickle": "x"}}}),
    ("version", "1.0.0"),
    ("version", {"version": "1", "description": None, "release": None}),
    ("canonical", None),
    ("supported", [1]),
    ("refused", [1]),
    ("release_notes", {"1.0.0": 5}),
    ("info", None),
    ("info", {"features": 5}),
    ("info", {"description": 5}),
    ("info", {"features": {"a": {"_type": "os.system"}}}),
    ("info", {"version": {"x": 1}}),
    ("manual", 5),
    ("writer_batch_size", -1),
    ("writer_batch_size", "2"),
]


@pytest.mark.parametrize(("path", "value"), BUILDER, ids=str)
def test_a_builder_that_cannot_be_is_refused(told: dict[str, Any], path: str, value: Any) -> None:
    with pytest.raises(DatasetsCoreError):
        BuilderFacts.of(changed(told, path, value), script="reviews.py")


CLASS: list[tuple[str, Any]] = [
    ("class", "not a name"),
    ("class", 5),
    ("name", "../x"),
    ("doc", 5),
    ("configs", 5),
    ("configs", [{"name": "a/b", "fields": {}}]),
    ("default", 5),
    ("version", 5),
    ("yields", "pickles"),
    ("blocked", 5),
    ("blocked", [[["*"]], []]),
]


@pytest.mark.parametrize(("path", "value"), CLASS, ids=str)
def test_a_class_that_cannot_be_is_refused(path: str, value: Any) -> None:
    with pytest.raises(DatasetsCoreError):
        ClassFacts.of(changed(over(class_form(Reviews)), path, value), script="reviews.py")


@pytest.mark.parametrize("of", [ClassFacts.of, BuilderFacts.of])
def test_a_form_that_lacks_everything_is_refused(of: Callable[..., Any]) -> None:
    with pytest.raises(DatasetsCoreError, match=r"reviews\.py"):
        of({}, script="reviews.py")


def test_a_field_does_not_change_the_name_of_a_config(told: dict[str, Any]) -> None:
    facts = BuilderFacts.of(changed(told, "config.fields", {"name": "../x", "a": 1}), script="reviews.py")
    assert (facts.config.name, facts.config.a) == ("en", 1)  # type: ignore[attr-defined]
