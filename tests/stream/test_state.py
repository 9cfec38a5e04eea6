"""States of streams as JSON: what they say, and when they are refused."""

import json

import pytest

from datasets_core.errors import StreamStateError
from datasets_core.stream.plan import Share
from datasets_core.stream.state import Place, read, saved

SIGNATURE = [["8 rows", "ab12"], ["batch(2)", "cd34"]]


@pytest.mark.parametrize("place", [Place(0, None, 7), Place(3, Share(1, 4), [[5, 0, 2], 1])])
def test_a_state_is_read_as_it_was_saved(place: Place) -> None:
    assert read(json.loads(json.dumps(saved(place, SIGNATURE))), SIGNATURE) == place


@pytest.mark.parametrize("odd", [None, {}, [], {"version": 1}, "x"])
def test_what_is_no_state_is_refused(odd: object) -> None:
    with pytest.raises(StreamStateError, match=r"Give what state_dict\(\) returned"):
        read(odd, SIGNATURE)


def test_a_state_of_another_version_is_refused() -> None:
    with pytest.raises(StreamStateError, match="version 2"):
        read({**saved(Place(0, None, 0), SIGNATURE), "version": 2}, SIGNATURE)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ([["9 rows", "ab12"]], "begins with 8 rows, and this one 9 rows"),
        ([["8 rows", "ffff"]], "begins with another 8 rows than this one"),
        ([SIGNATURE[0]], r"only the other has the step batch\(2\)"),
        ([*SIGNATURE, ["take(3)", "ee"]], r"only this one has the step take\(3\)"),
    ],
)
def test_a_refusal_says_what_differs(other: list[list[str]], message: str) -> None:
    with pytest.raises(StreamStateError, match=message):
        read(saved(Place(0, None, 0), SIGNATURE), other)
