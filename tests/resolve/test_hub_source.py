"""A repository as a dataset: what its listing and its card say, with few requests and without its data."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import pytest

from datasets_core import config
from datasets_core.errors import (
    ConfigurationError,
    DataFilesNotFoundError,
    DataFilesWarning,
    EmptyRepositoryError,
    ManifestError,
    OfflineError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    UnknownConfigError,
)
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.inspect import (
    get_dataset_config_info,
    get_dataset_config_names,
    get_dataset_default_config_name,
    get_dataset_infos,
    get_dataset_split_names,
)
from datasets_core.load import load_dataset_builder

CARD = """---
license: mit
configs:
- config_name: en
  data_files:
  - split: train
    path: en/*.csv
  - split: dev
    path: [en/more/x.csv]
  sep: ";"
  version: 1.2.0
- config_name: lines
  data_dir: lines
  default: true
dataset_info:
- config_name: en
  features:
  - name: a
    dtype: int32
  splits:
  - name: train
    num_bytes: 8
    num_examples: 1
---
# Title
"""
FILES = {
    "README.md": CARD,
    "en/a.csv": "a\n1\n",
    "en/more/x.csv": "a\n2\n",
    "lines/train.jsonl": '{"a": 1}\n',
    "lines/test.jsonl": '{"a": 1}\n',
}


@pytest.fixture
def planned(hub: Any) -> Callable[..., Any]:
    """The builder of a repository with these files, and its data files as paths in it."""

    def planned(files: dict[str, Any], **arguments: Any) -> Any:
        if "org/set" not in hub.repos:
            hub.repo("org/set", files)
        hub.forget()
        builder = load_dataset_builder(arguments.pop("path", "org/set"), **arguments)
        root = f"hf://datasets/org/set@{builder.commit_sha}/" if builder.commit_sha else ""
        found = {split: [path.removeprefix(root) for path in paths] for split, paths in builder.config.data_files.items()}
        return builder, found

    return planned


def test_a_repository_is_planned_with_two_requests_and_its_card(planned: Callable[..., Any], hub: Any) -> None:
    builder, found = planned(FILES)
    sha = hub.repos["org/set"].sha
    assert dict(hub.counts()) == {"info": 1, "tree": 1, "resolve": 1}
    assert [request.name for request in hub.of("resolve")] == ["README.md"]
    assert found == {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}
    assert (builder.name, builder.config.name, builder.dataset_name) == ("json", "lines", "set")
    assert (builder.repo_id, builder.commit_sha, builder.base_path) == ("org/set", sha, f"hf://datasets/org/set@{sha}")
    assert "/org___set/lines-" in builder.cache_dir
    assert str(builder) == "Json(org/set/lines, version 0.0.0)"


def test_a_config_has_its_files_options_version_and_record(planned: Callable[..., Any]) -> None:
    builder, found = planned(FILES, name="en")
    assert found == {"train": ["en/a.csv"], "dev": ["en/more/x.csv"]}
    assert (builder.name, builder.config.sep, str(builder.version)) == ("csv", ";", "1.2.0")
    assert builder.info.features == Features({"a": Value("int32")})
    assert builder.recorded.splits["train"].num_examples == 1


def test_500_shards_are_planned_with_three_requests(planned: Callable[..., Any], hub: Any) -> None:
    files = {f"data/train-{index:05d}-of-00500.parquet": f"{index}" for index in range(500)}
    _, found = planned({**files, "README.md": "# Title"})
    assert found == {"train": sorted(files)}
    assert len(hub.requests) == 3


def test_what_is_told_of_all_configs_downloads_no_data_and_asks_once(planned: Callable[..., Any], hub: Any) -> None:
    planned(FILES)
    hub.forget()
    assert get_dataset_config_names("org/set") == ["en", "lines"]
    assert get_dataset_default_config_name("org/set") == "lines"
    assert get_dataset_split_names("org/set", "en") == ["train"]
    assert get_dataset_config_info("org/set", "en").features == Features({"a": Value("int32")})
    assert dict(hub.counts()) == {"info": 4}
    hub.forget()
    infos = get_dataset_infos("org/set")
    assert {name: list(info.splits) for name, info in infos.items()} == {"en": ["train"], "lines": ["train", "test"]}
    assert dict(hub.counts()) == {"info": 1}


@pytest.mark.parametrize("place", ["", "lines", "en/more"])
def test_infos_are_told_of_a_url_too(planned: Callable[..., Any], hub: Any, place: str) -> None:
    planned(FILES)
    hub.repos["org/set"].tag("v1")
    hub.forget()
    infos = get_dataset_infos(f"hf://datasets/org/set@v1/{place}".rstrip("/"))
    assert len(infos) == 2 if not place else len(infos) >= 1
    assert dict(hub.counts()) == {"info": 1}


def test_a_pinned_plan_asks_nothing(planned: Callable[..., Any], hub: Any) -> None:
    builder, _ = planned(FILES)
    hub.forget()
    again = load_dataset_builder("org/set", revision=builder.commit_sha)
    assert (again.cache_dir, again.commit_sha) == (builder.cache_dir, builder.commit_sha)
    assert hub.requests == []


# -- the user's own files ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({"data_files": "en/*.csv"}, {"train": ["en/a.csv"]}),
        ({"data_files": {"x": ["./en/a.csv", "en/more/x.csv"]}}, {"x": ["en/a.csv", "en/more/x.csv"]}),
        ({"data_files": "**/x.csv"}, {"train": ["en/more/x.csv"]}),
        ({"data_dir": "en"}, {"train": ["en/a.csv", "en/more/x.csv"]}),
        ({"data_dir": "./lines/"}, {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}),
        ({"data_dir": "en", "data_files": {"t": "*.csv"}}, {"t": ["en/a.csv"]}),
        ({"data_files": "hf://datasets/org/set/en/a.csv"}, {"train": ["en/a.csv"]}),
        ({"data_dir": "hf://datasets/org/set@main/en/more"}, {"train": ["en/more/x.csv"]}),
        ({"path": "hf://datasets/org/set/en"}, {"train": ["en/a.csv", "en/more/x.csv"]}),
        ({"path": "hf://datasets/org/set@main"}, {"train": ["lines/train.jsonl"], "test": ["lines/test.jsonl"]}),
        ({"path": "hf://datasets/org/set/", "name": "en"}, {"train": ["en/a.csv"], "dev": ["en/more/x.csv"]}),
    ],
)
def test_files_and_folders_of_the_users_own_are_relative_to_the_repository(
    planned: Callable[..., Any], arguments: dict[str, Any], expected: dict[str, list[str]]
) -> None:
    builder, found = planned(FILES, **arguments)
    assert found == expected
    own = bool({"data_files", "data_dir"} & arguments.keys()) or str(arguments.get("path")).endswith("/en")
    assert builder.is_partial is own


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"path": "csv", "data_files": "hf://datasets/org/set@main/en/*.csv"}, "csv"),
        ({"path": "text", "data_files": {"train": ["hf://datasets/org/set/en/a.csv"]}}, "text"),
        ({"path": "csv", "data_dir": "hf://datasets/org/set/en"}, "csv"),
        ({"path": "hf://datasets/org/set@main/en/a.csv"}, "csv"),
    ],
)
def test_a_format_reads_files_of_the_hub_at_the_commit_that_a_revision_means(
    planned: Callable[..., Any], hub: Any, arguments: dict[str, Any], name: str
) -> None:
    builder, found = planned(FILES, **arguments)
    assert builder.name == builder.dataset_name == name
    assert f"hf://datasets/org/set@{hub.repos['org/set'].sha}/en/a.csv" in found["train"]
    assert dict(hub.counts()) == {"info": 1, "tree": 1}


@pytest.mark.parametrize("data_dir", ["/en", "s3://bucket/x", "en\\more", "../x"])
def test_a_folder_outside_the_repository_is_refused(planned: Callable[..., Any], data_dir: str) -> None:
    with pytest.raises(ConfigurationError):
        planned(FILES, data_dir=data_dir)


def test_a_revision_is_said_once(planned: Callable[..., Any]) -> None:
    with pytest.raises(ConfigurationError, match="Say it once"):
        planned(FILES, path="hf://datasets/org/set@main", revision="v1")
    with pytest.raises(ConfigurationError, match="Say it once"):
        planned(FILES, path="hf://datasets/org/set/en", data_dir="lines")


# -- what is not there -------------------------------------------------------------------------------------------------


def test_a_name_that_is_neither_here_nor_there_is_told_so(hub: Any) -> None:
    with pytest.raises(
        RepositoryNotFoundError, match=r"'org/none' does not exist.*nor is there a folder, .*org/none on this disk"
    ):
        load_dataset_builder("org/none")
    with pytest.raises(RevisionNotFoundError, match="'none'"):
        hub.repo("org/set", FILES)
        load_dataset_builder("org/set", revision="none")


@pytest.mark.parametrize("arguments", [{}, {"revision": "main"}])
def test_a_repository_without_data_is_told_with_what_it_holds(planned: Callable[..., Any], arguments: dict[str, Any]) -> None:
    with pytest.raises(EmptyRepositoryError, match=r"'org/set' holds no data files \(there is: .*README\.md.*'main'"):
        planned({"README.md": "# Nothing"}, **arguments)
    with pytest.raises(EmptyRepositoryError):
        get_dataset_config_names("org/set")


def test_a_folder_without_data_is_told_with_the_repository(planned: Callable[..., Any]) -> None:
    with pytest.raises(
        DataFilesNotFoundError, match=r"'org/set' has no file or folder 'none' at revision 'main'\. There is: .*en/a"
    ):
        planned(FILES | {"docs/README.md": "# Title"}, data_dir="none")
    with pytest.raises(DataFilesNotFoundError, match=r"has no file or folder 'en/b\.csv'"):
        planned(FILES, path="hf://datasets/org/set/en/b.csv/")
    with pytest.raises(EmptyRepositoryError, match=r"holds no data files in 'docs' \(there is: README\.md\)"):
        planned(FILES, data_dir="docs")


def test_files_of_no_known_format_are_named_with_repository_and_revision(planned: Callable[..., Any]) -> None:
    with pytest.raises(DataFilesNotFoundError, match=r"'org/set@main' holds no file of a known format: .*a\.exe"):
        planned({"a.exe": "MZ"})


def test_an_unknown_config_names_the_known_ones(planned: Callable[..., Any]) -> None:
    with pytest.raises(UnknownConfigError, match=r"Unknown config 'fr' in 'org/set'.*'en', 'lines'"):
        planned(FILES, name="fr")


def test_missing_shards_are_told_and_the_others_are_read(planned: Callable[..., Any]) -> None:
    with pytest.warns(DataFilesWarning, match="1 of the 3 shards"):
        _, found = planned({"data/train-00001-of-00003.csv": "a\n1\n"})
    assert found == {"train": ["data/train-00001-of-00003.csv"]}


# -- a stranger's card -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path",
    [
        *("../x.csv", "/etc/passwd", "a/../../x.csv", "s3://bucket/x.csv", "zip://a.csv::b.zip", "http://x.org/a.csv"),
        *("hf://datasets/org/other/a.csv", "file:///etc/passwd", "~/x.csv", "C:\\x.csv", "{a,../b}.csv"),
    ],
)
@pytest.mark.parametrize("key", ["data_files", "data_dir"])
def test_a_card_names_only_files_of_its_own_repository(planned: Callable[..., Any], path: str, key: str) -> None:
    card = f"---\nconfigs:\n- config_name: a\n  {key}: '{path}'\n---\n"
    with pytest.raises((ConfigurationError, DataFilesNotFoundError)) as caught:
        planned({"README.md": card, "a.csv": "a\n1\n"})
    if not path.startswith(("~", "{")):  # these are names of files, which are not there
        assert caught.type is ConfigurationError
        assert "README.md" in str(caught.value)
        assert path in str(caught.value) or repr(path) in str(caught.value)


def test_a_card_that_is_broken_is_named(planned: Callable[..., Any]) -> None:
    with pytest.raises(ManifestError, match=r"hf://datasets/org/set@[0-9a-f]{40}/README\.md: .*line"):
        planned({"README.md": "---\nconfigs: [\n---\n", "a.csv": "a\n1\n"})


@pytest.mark.parametrize("option", ["config_id: ../../../out", "repo_id: ../out", "cache_dir: /tmp/x", "token: x"])
def test_a_card_does_not_choose_the_folder_of_the_build(planned: Callable[..., Any], option: str) -> None:
    card = f"---\nconfigs:\n- config_name: default\n  data_files: a.csv\n  {option}\n---\n"
    with pytest.raises(ConfigurationError, match="Unknown config option"):
        planned({"README.md": card, "a.csv": "a\n1\n"})


def test_what_a_builder_has_no_option_for_is_left_out_and_told(
    planned: Callable[..., Any], caplog: pytest.LogCaptureFixture
) -> None:
    card = "---\nconfigs:\n- config_name: default\n  data_files: a.csv\n  sep: ;\n  audience: all\n---\n"
    builder, _ = planned({"README.md": card, "a.csv": "a\n1\n"})
    assert builder.config.sep == ";"
    assert "The card of org/set@main says 'audience' of the config 'default'; Csv has no such option" in caplog.text


# -- records -----------------------------------------------------------------------------------------------------------


def test_the_only_old_info_is_that_of_the_only_config(planned: Callable[..., Any]) -> None:
    infos = {"me--set": {"features": {"a": {"dtype": "int8", "_type": "Value"}}, "splits": {}}}
    builder, _ = planned({"a.csv": "a\n1\n", "dataset_infos.json": json.dumps(infos)})
    assert builder.info.features == Features({"a": Value("int8")})


def test_the_yaml_file_has_the_word(planned: Callable[..., Any]) -> None:
    yaml = "configs:\n- config_name: own\n  data_files: b.csv\n"
    builder, found = planned({".huggingface.yaml": yaml, "README.md": CARD, "b.csv": "a\n1\n"})
    assert (builder.config.name, found) == ("own", {"train": ["b.csv"]})


# -- builds ------------------------------------------------------------------------------------------------------------


def test_a_commit_that_changes_no_file_of_a_config_changes_no_build(planned: Callable[..., Any], hub: Any) -> None:
    before, _ = planned(FILES)
    repo = hub.repos["org/set"]
    repo.commit({"en/a.csv": "a\n7\n", "notes.txt": "x"})
    same, _ = planned(FILES)
    repo.commit({"lines/test.jsonl": '{"a": 2}\n'})
    changed, _ = planned(FILES)
    repo.commit({"README.md": CARD.replace("# Title", "# Other title")})
    other_text, _ = planned(FILES)
    assert len({each.commit_sha for each in (before, same, changed, other_text)}) == 4
    assert same.cache_dir == before.cache_dir != changed.cache_dir == other_text.cache_dir


def test_other_features_on_the_card_are_another_build(planned: Callable[..., Any], hub: Any) -> None:
    before, _ = planned(FILES, name="en")
    hub.repos["org/set"].commit({"README.md": CARD.replace("int32", "int64")})
    assert planned(FILES, name="en")[0].cache_dir != before.cache_dir


def test_repositories_with_equal_files_have_builds_of_their_own(planned: Callable[..., Any], hub: Any) -> None:
    first, _ = planned(FILES)
    for name in ("you/set", "org/set2", "set"):
        hub.repo(name, FILES)
    others = [load_dataset_builder(name).cache_dir for name in ("you/set", "org/set2", "set")]
    assert len({first.cache_dir, *others}) == 4


# -- archives ----------------------------------------------------------------------------------------------------------


def _zipped(files: dict[str, str]) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return sink.getvalue()


def test_an_archive_is_looked_into_and_not_fetched(planned: Callable[..., Any], hub: Any) -> None:
    files = {f"cat/{index}.png": "x" * 100_000 for index in range(30)}
    builder, found = planned({"images.zip": _zipped(files)})
    assert (builder.name, found) == ("imagefolder", {"train": ["images.zip"]})
    *_, last = [request.headers.get("range", "") for request in hub.of("storage", "GET")]
    size = len(hub.repos["org/set"].files()["images.zip"])
    assert int(last.removeprefix("bytes=").partition("-")[0]) > size - 100_000
    assert not list(hub.cache_dir.glob("*/blobs/*"))


# -- without the Hub ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [{}, {"data_files": "data/*"}, {"data_files": "data/train-00001-of-00002.csv"}])
def test_a_part_of_a_repository_in_the_cache_is_not_taken_for_all_of_it(hub: Any, arguments: dict[str, Any]) -> None:
    repo = hub.repo("org/set", {f"data/train-0000{index}-of-00002.csv": "a\n1\n" for index in range(2)})
    folder = hub.cache_dir / "datasets--org--set"
    snapshot = folder / "snapshots" / repo.sha / "data"
    snapshot.mkdir(parents=True)
    (snapshot / "train-00000-of-00002.csv").write_text("a\n1\n")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text(repo.sha)
    with config.using(offline=True), pytest.raises(OfflineError, match="the hub cache holds a part of it only"):
        load_dataset_builder("org/set", **arguments)
    assert hub.requests == []
