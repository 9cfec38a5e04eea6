"""A revision becomes a commit by two requests, and by none where the cache knows it; offline it is never another one."""

from typing import Any

from datasets_core.fetch.hub import Hub


def test_a_commit_costs_two_requests_then_one_and_none_by_its_hash(hub: Any) -> None:
    repo = hub.repo("org/name", {"a.csv": "a\n1\n", "data/b.parquet": b"PAR1" * 10})
    first = Hub.of().commit("org/name")
    assert hub.counts() == {"info": 1, "tree": 1}
    assert (first.sha, first.is_whole, sorted(first.files)) == (repo.sha, True, [".gitattributes", "a.csv", "data/b.parquet"])
    hub.forget()
    assert Hub.of().commit("org/name", "main") == first
    assert hub.counts() == {"info": 1}
    hub.forget()
    assert Hub.of().commit("org/name", repo.sha).files == first.files
    assert hub.requests == []
