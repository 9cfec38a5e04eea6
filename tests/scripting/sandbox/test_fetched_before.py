"""What is fetched before a script reads the user's files: places, or what went wrong; nothing else."""

import pickle

import pytest

from datasets_core.errors import DeniedAccessError, UrlNotFoundError
from datasets_core.scripting.sandbox.answers import PrefetchedFiles


def test_all_is_fetched_at_once_in_order_and_never_again() -> None:
    asked: list[str] = []

    def fetch(url: str) -> str:
        asked.append(url)
        if "gone" in url:
            raise UrlNotFoundError(url, "the server answers 404, not found", status=404, advice="Check the address")
        return f"/files/{len(asked)}"

    urls = ["http://a/1", "http://a/gone", "http://a/2"]
    before = pickle.loads(pickle.dumps(PrefetchedFiles("words.py", urls, fetch, None)))
    assert [before.place("http://a/2"), before.place("http://a/1")] == ["/files/3", "/files/1"]
    with pytest.raises(UrlNotFoundError, match="404"):
        before.place("http://a/gone")
    with pytest.raises(DeniedAccessError, match="after it could read your own files"):
        before.place("http://a/other")
    assert asked == urls
