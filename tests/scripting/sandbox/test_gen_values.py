"""Values on the pipe: what is plain comes as what it was, and the rest stays."""

import json
import pathlib
import pickle
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from datasets_core.building.hooks import divide, holds_once, is_data
from datasets_core.errors import ConfigurationError, DatasetBuildError
from datasets_core.scripting.sandbox.batches import (
    RemoteData,
    RemoteIterator,
    RemoteValue,
    Values,
    decoded,
    encoded,
    given_back,
    refused,
    remote_value,
    unknown,
)

KEYS = st.one_of(st.text(max_size=5), st.integers(), st.tuples(st.integers(), st.text(max_size=3)))
PLAIN = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(max_size=9), st.binary(max_size=9)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.lists(inner, max_size=3).map(tuple), st.dictionaries(KEYS, inner, max_size=3)
    ),
    max_leaves=12,
)


@given(PLAIN)
def test_plain_values_come_as_they_were(value: Any) -> None:
    form = json.loads(json.dumps(encoded(value, refused)))
    found = decoded(form, unknown)
    assert found == value
    assert repr(found) == repr(value)  # 1 is no 1.0, and no True


def test_paths_come_as_paths() -> None:
    assert decoded(encoded([pathlib.Path("/a/b")], refused), unknown) == [pathlib.Path("/a/b")]


def _sent(value: Any, **options: Any) -> tuple[Any, Values]:
    values = Values()
    form = json.loads(json.dumps(encoded(value, values.hold, **options)))
    return decoded(form, remote_value), values


def test_what_is_not_plain_stays_and_is_given_back() -> None:
    thing = object()
    found, values = _sent({"a": 1, "thing": thing})
    assert isinstance(found["thing"], RemoteValue)
    back = decoded(json.loads(json.dumps(encoded(found, given_back))), values.held)
    assert back == {"a": 1, "thing": thing}


@pytest.mark.parametrize(
    "value",
    [
        {"shards": [0, 1], "keep": {1, 2}},
        {"files": [{1}, {2}], "x": 1},
        {"it": [iter([]), iter([])]},
        {"o": [object(), object()]},
    ],
)
def test_the_parent_divides_what_stays_as_the_script_would_be(value: dict[str, Any]) -> None:
    found, _ = _sent(value)
    assert len(divide(found)) == len(divide(value))
    assert holds_once(found) == holds_once(value)
    assert [is_data(each) for each in found.values()] == [is_data(each) for each in value.values()]


def test_what_can_be_read_once_is_known_as_such() -> None:
    found, _ = _sent([iter([1]), range(3), object()])
    assert [type(each) for each in found] == [RemoteIterator, RemoteData, RemoteValue]
    assert isinstance(found[0], Iterator)
    for read in (iter, lambda each: next(iter(each))):
        with pytest.raises(DatasetBuildError, match="stays in the confined process"):
            read(found[0])
    assert pickle.loads(pickle.dumps(found[0])) == found[0]


def test_values_without_an_identity_never_have_the_same() -> None:
    (first,), _ = _sent([(n for n in range(3))])
    (again,), _ = _sent([(n for n in range(3))])
    (known,), _ = _sent([frozenset({1})])
    assert first.identity != again.identity
    assert known.identity == _sent([frozenset({1})])[0][0].identity


def test_paths_of_a_folder_that_goes_stay() -> None:
    found, values = _sent({"files": ["/scratch/a", "/data/b"], "path": pathlib.Path("/scratch/c")}, own="/scratch")
    assert isinstance(found["path"], RemoteValue)
    assert isinstance(found["files"][0], RemoteValue)
    assert found["files"][1] == "/data/b"
    assert decoded(encoded(found, given_back), values.held)["files"] == ["/scratch/a", "/data/b"]


@pytest.mark.parametrize(
    "form",
    [
        {"d": 1},
        {"t": "ab"},
        {"b": "!"},
        {"x": []},
        {},
        {"d": {}, "t": []},
        {"m": [[1]]},
        {"m": [[[], 1]]},
        {"held": 1},
        {"p": 2},
    ]
    + [{"held": {"number": number, "kind": "value", "identity": None}} for number in (-1, "0", None, 1.5)]
    + [{"held": {"number": 0, "kind": "evil", "identity": None}}, {"held": {"number": 0, "kind": "data", "identity": 5}}],
)
def test_forms_that_stand_for_nothing_are_refused(form: Any) -> None:
    with pytest.raises(ConfigurationError, match="Do not trust it"):
        decoded([form], remote_value)


def test_what_a_user_says_is_plain() -> None:
    with pytest.raises(ConfigurationError, match=r"object.*cannot be said to a confined script"):
        encoded({"a": object()}, refused)
