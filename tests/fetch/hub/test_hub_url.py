"""`hf://datasets/…` URLs are taken apart as the Hub's client does it, and put together so that they mean the same."""

import string

import pytest
from huggingface_hub.utils import HFValidationError, parse_hf_uri, validate_repo_id
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.errors import ConfigurationError
from datasets_core.fetch.hub.repository import HubPath, hub_url, is_commit, is_repo_id, parse_hub_url, without_commit

SHA = "0123456789" * 4
URLS = [
    "hf://datasets/org/name",
    "hf://datasets/org/name/",
    "hf://datasets/org/name/data/a.csv",
    "hf://datasets/org/name/a@b.csv",
    "hf://datasets/org/name/data@v1/a.csv",
    "hf://datasets/org/name@main",
    "hf://datasets/org/name@v1.0/a b.csv",
    "hf://datasets/org/name@feature%2Fnew/data/a.csv",
    "hf://datasets/org/name@100%25/a.csv",
    "hf://datasets/org/name@refs/convert/parquet/default/train/0000.parquet",
    "hf://datasets/org/name@refs%2Fconvert%2Fparquet/default/train/0000.parquet",
    "hf://datasets/org/name@refs/pr/12/a.csv",
    "hf://datasets/org/name@refs/pr/12",
    f"hf://datasets/org/name@{SHA}/**/*.parquet",
]


@pytest.mark.parametrize("url", URLS)
def test_a_url_means_what_the_client_of_the_hub_takes_it_for(url: str) -> None:
    theirs = parse_hf_uri(url)
    assert parse_hub_url(url) == HubPath(theirs.id, theirs.revision, theirs.path_in_repo)


@pytest.mark.parametrize(
    ("url", "meant"),
    [
        ("hf://datasets/squad", HubPath("squad", None, "")),
        ("hf://datasets/squad/", HubPath("squad", None, "")),
        ("hf://datasets/squad@main/a.csv", HubPath("squad", "main", "a.csv")),
        ("hf://datasets/squad@refs/convert/parquet", HubPath("squad", "refs/convert/parquet", "")),
        ("hf://datasets/org/name@main//data/./a.csv", HubPath("org/name", "main", "data/a.csv")),
    ],
)
def test_a_repository_may_have_no_namespace(url: str, meant: HubPath) -> None:
    assert parse_hub_url(url) == meant


@pytest.mark.parametrize(
    "url", ["", "data/a.csv", "https://huggingface.co/datasets/org/name", "hf://org/model/a.csv", "hf://spaces/org/name/a.csv"]
)
def test_what_is_no_dataset_of_the_hub_is_left_alone(url: str) -> None:
    assert parse_hub_url(url) is None


@pytest.mark.parametrize(
    "url",
    [
        "hf://datasets/",
        "hf://datasets//name",
        "hf://datasets/org/name@/a.csv",
        "hf://datasets/org/@main/a.csv",
        "hf://datasets/a--b/name/a.csv",
        "hf://datasets/../name/a.csv",
        "hf://datasets/org/name/../../etc/passwd",
        "hf://datasets/org/name@main/data/../../a.csv",
    ],
)
def test_a_url_without_a_repository_or_out_of_it_is_refused(url: str) -> None:
    with pytest.raises(ConfigurationError, match="hf://datasets/"):
        parse_hub_url(url)


letters = st.text(string.ascii_letters + string.digits + "-_./%@ #é", min_size=1, max_size=20)


@given(st.sampled_from(["org/name", "squad"]), letters | st.just(SHA) | st.just("refs/pr/3"), st.lists(letters, max_size=3))
def test_a_url_that_was_put_together_is_taken_apart_again(repo: str, revision: str, parts: list[str]) -> None:
    path = "/".join(part for text in parts for part in text.split("/") if part not in ("", ".", ".."))
    assert parse_hub_url(hub_url(repo, revision, path)) == HubPath(repo, revision, path)


@given(st.text(string.ascii_letters + "0-_./é\n", max_size=12) | st.text("ab-./", max_size=100))
def test_repository_ids_are_those_that_the_client_of_the_hub_takes(text: str) -> None:
    try:
        validate_repo_id(text)
    except HFValidationError:
        assert not is_repo_id(text)
    else:
        assert is_repo_id(text)


@pytest.mark.parametrize("text", ["main", SHA[:39], SHA + "0", SHA.replace("0", "A"), f"{SHA}\n", "", None])
def test_only_a_full_hash_is_a_commit(text: str | None) -> None:
    assert not is_commit(text)
    assert is_commit(SHA)


@pytest.mark.parametrize(
    "text", ["org@x/a.csv", f"/data/set@{SHA}/a", f"hf://datasets/org/name@{SHA}x/a", "hf://datasets/org/name@main/a"]
)
def test_only_a_commit_in_a_url_is_taken_off(text: str) -> None:
    assert without_commit(text) == text
    assert without_commit(hub_url("org/name", SHA, "a@b/c.csv")) == "hf://datasets/org/name/a@b/c.csv"
    assert without_commit(hub_url("squad", SHA)) == "hf://datasets/squad"
