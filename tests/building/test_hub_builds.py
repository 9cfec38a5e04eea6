"""What was built of a repository, found again by commit and by what was asked for, and by nothing else."""

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from datasets_core.building.prepare import HubReference, is_known, recall, remember

A, B = "a" * 40, "b" * 40
ASKED = HubReference("org/name", None, A, None, "0")


def places(root: Path, reference: HubReference) -> list[str]:
    return [build.place for build in recall(str(root), reference)]


def test_a_build_is_found_by_the_revision_that_led_to_it(tmp_path: Path) -> None:
    assert not is_known(str(tmp_path), "org/name")
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "org___name" / "en" / "k"))
    assert is_known(str(tmp_path), "org/name")
    for same in (ASKED, ASKED._replace(revision="main"), ASKED._replace(revision=A), ASKED._replace(config="en")):
        assert places(tmp_path, same._replace(commit=None)) == ["org___name/en/k"], same
    for other in (
        ASKED._replace(revision="v2"),
        ASKED._replace(revision=B),
        ASKED._replace(config="de"),
        ASKED._replace(asked="1"),
        ASKED._replace(repo_id="org/other"),
        ASKED._replace(repo_id="name"),
    ):
        assert places(tmp_path, other) == [], other


def test_repositories_with_nearly_one_name_have_each_their_own(tmp_path: Path) -> None:
    ids = ["a_/b", "a/_b", "x___y", "x/y", "x_/_y", "x-y", "y"]
    for repo_id in ids:
        assert not is_known(str(tmp_path), repo_id)
        assert places(tmp_path, ASKED._replace(repo_id=repo_id)) == []
        remember(str(tmp_path), ASKED._replace(repo_id=repo_id), "en", str(tmp_path / "builds" / repo_id.replace("/", "+")))
    for repo_id in ids:
        assert places(tmp_path, ASKED._replace(repo_id=repo_id)) == [f"builds/{repo_id.replace('/', '+')}"]


def test_a_record_of_another_repository_is_none(tmp_path: Path) -> None:
    """As on a disk on which `A` is `a`."""
    remember(str(tmp_path), ASKED._replace(repo_id="Org/name"), "en", str(tmp_path / "x"))
    (path,) = (tmp_path / "hub_builds").glob("*.json")
    path.rename(path.with_name(path.name.lower()))
    assert places(tmp_path, ASKED) == []
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "y"))
    assert places(tmp_path, ASKED) == ["y"]


def test_a_branch_means_what_it_meant_last(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x" / "1"))
    remember(str(tmp_path), ASKED._replace(revision="v1", commit=B), "en", str(tmp_path / "x" / "0"))
    assert places(tmp_path, ASKED) == ["x/1"]
    remember(str(tmp_path), ASKED._replace(commit=B), "en", str(tmp_path / "x" / "2"))
    assert places(tmp_path, ASKED) == ["x/2"]
    remember(str(tmp_path), ASKED._replace(revision=A), "en", str(tmp_path / "x" / "1"))  # by its hash: main stays
    assert places(tmp_path, ASKED) == ["x/2"]
    assert places(tmp_path, ASKED._replace(revision=A)) == ["x/1"]


def test_a_config_that_was_named_is_not_the_default(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED._replace(config="de"), "de", str(tmp_path / "x"))
    assert places(tmp_path, ASKED) == []
    assert places(tmp_path, ASKED._replace(config="de")) == ["x"]


def test_what_is_damaged_or_leads_elsewhere_is_nothing(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    (path,) = (tmp_path / "hub_builds").glob("*.json")
    good = json.loads(path.read_text())
    for builds in ([[A, "en", True, "0", "../x"]], [[A, "en", True, "0", "/etc"]], [[A, "en"]], 5, None):
        path.write_text(json.dumps({**good, "builds": builds}))
        assert places(tmp_path, ASKED) == []
    for text in ("", "{", "[]", "null", json.dumps({**good, "form": 2}), json.dumps({**good, "revisions": []})):
        path.write_text(text)
        assert places(tmp_path, ASKED) == []
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    assert places(tmp_path, ASKED) == ["x"]


def test_nothing_is_written_where_nothing_is_new_or_nothing_can_be(tmp_path: Path) -> None:
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    (path,) = (tmp_path / "hub_builds").glob("*.json")
    before = os.stat(path).st_ino
    remember(str(tmp_path), ASKED, "en", str(tmp_path / "x"))
    assert os.stat(path).st_ino == before
    remember("s3://bucket", ASKED, "en", "s3://bucket/x")
    remember(str(tmp_path), ASKED._replace(commit=None), "en", str(tmp_path / "y"))
    remember(str(tmp_path / "c"), ASKED, "en", str(tmp_path / "elsewhere"))
    assert not (tmp_path / "c").exists()
    assert recall("s3://bucket", ASKED) == []
    (tmp_path / "file").write_text("")
    remember(str(tmp_path / "file"), ASKED, "en", str(tmp_path / "file" / "x"))


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    def write(number: int) -> None:
        remember(str(tmp_path), ASKED._replace(asked=str(number)), "en", str(tmp_path / str(number)))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, range(24)))
    assert [places(tmp_path, ASKED._replace(asked=str(number))) for number in range(24)] == [[str(n)] for n in range(24)]


@settings(max_examples=30)
@given(
    st.lists(
        st.tuples(
            st.sampled_from([None, "main", "v1", A, B]),
            st.sampled_from([A, B]),
            st.sampled_from([None, "en", "de"]),
            st.sampled_from(["0", "1"]),
        ),
        max_size=12,
    ),
    st.sampled_from([None, "main", "v1", A, B]),
    st.sampled_from([None, "en", "de"]),
)
def test_what_is_found_was_built_of_the_commit_that_is_meant(tmp_path_factory, history, revision, config) -> None:  # type: ignore[no-untyped-def]
    root = tmp_path_factory.mktemp("cache")
    meant: dict[str, str] = {}
    built: dict[tuple[str, str, bool, str], str] = {}
    for number, (asked, commit, name, rest) in enumerate(history):
        commit = asked if asked in (A, B) else commit
        remember(str(root), HubReference("o/n", asked, commit, name, rest), name or "en", str(root / str(number)))
        if asked not in (A, B):
            meant[asked or "main"] = commit
        built[commit, name or "en", name is None, rest] = str(number)
    target = revision if revision in (A, B) else meant.get(revision or "main")
    found = recall(str(root), HubReference("o/n", revision, None, config, "0"))
    wanted = {
        place
        for (commit, name, is_default, rest), place in built.items()
        if commit == target and rest == "0" and (is_default if config is None else name == config)
    }
    assert {build.place for build in found} == wanted
