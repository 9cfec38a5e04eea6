"""What is fetched before a script reads the user's files: places, or what went wrong; nothing else."""

import pickle

import pytest

from datasets_core.confine.fetched_before import FetchedBefore
from datasets_core.errors import DeniedAccessError, UrlNotFoundError


class Manager:
    def __init__(self) -> None:
        self.asked: list[str] = []

    def download(self, urls: list[str]) -> list[str]:
        self.asked += urls
        if "gone" in urls[0]:
            raise UrlNotFoundError(urls[0], "the server answers 404, not found", status=404, advice="Check the address")
        return [f"/files/{len(self.asked)}"]


def test_all_is_fetched_at_once_in_order_and_never_again() -> None:
    manager = Manager()
    before = pickle.loads(pickle.dumps(FetchedBefore("words.py", ["http://a/1", "http://a/gone", "http://a/2"], manager)))
    assert [before.place("http://a/2"), before.place("http://a/1")] == ["/files/3", "/files/1"]
    with pytest.raises(UrlNotFoundError, match="404"):
        before.place("http://a/gone")
    with pytest.raises(DeniedAccessError, match="after it could read your own files"):
        before.place("http://a/other")
    assert manager.asked == ["http://a/1", "http://a/gone", "http://a/2"]
