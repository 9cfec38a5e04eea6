"""What has no lasting identity is named, with the way to it."""

from __future__ import annotations

import io
import logging
import sqlite3
import sys
import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from datasets_core.errors import UnhashableError
from datasets_core.store import fingerprint
from datasets_core.store.fingerprint import Hasher

_DB = sqlite3.connect(":memory:", check_same_thread=False)
_LOGGER = logging.getLogger("a.b")


class _Holder:
    def __init__(self, held: Any) -> None:
        self.held = held

    def act(self, row: Any) -> Any:
        return row


class _Broken:
    def __reduce_ex__(self, protocol: Any) -> Any:
        return 5


def _asks(row: Any) -> Any:
    return _DB.execute(row)


def _calls(row: Any) -> Any:
    return _asks(row)


def _logs(row: Any) -> Any:
    _LOGGER.info("%s", row)
    return row


def _closing_over(held: Any) -> Callable[[Any], Any]:
    def function(row: Any) -> Any:
        return row, held

    return function


@pytest.mark.parametrize(
    ("value", "way"),
    [
        (_asks, r"a sqlite3\.Connection .*global '_DB' of function '_asks'"),
        (_calls, r"global '_asks' of function '_calls', global '_DB' of function '_asks'"),
        (_closing_over(threading.Lock()), r"a _thread\.lock .*variable 'held' of function '_closing_over\.<locals>\.function'"),
        (_Holder({"x": [sys.stdout]}).act, r"attribute 'held' of a .*_Holder, key 'x'"),
        (_Holder(n for n in range(3)), r"a builtins\.generator is another one in every process, reached by attribute 'held'"),
        (threading.Lock().acquire, r"the method 'lock\.acquire'"),
        ((io.BytesIO(), {threading.Lock()}), r"a _thread\.lock"),
        (_Holder({"x": _Broken()}), r"a .*_Broken cannot be read \(.*\), reached by attribute 'held' of a .*_Holder, key 'x'"),
        (_Holder(np.frompyfunc(_Holder, 1, 1)), r"the ufunc .* does not tell what it calls, reached by attribute 'held'"),
    ],
)
def test_what_has_no_lasting_identity_is_named_with_the_way_to_it(value: Any, way: str) -> None:
    with pytest.raises(UnhashableError, match=way):
        Hasher.hash(value)


def test_a_logger_is_its_name() -> None:
    assert Hasher.hash(_logs) == Hasher.hash(_logs)
    assert Hasher.hash(_LOGGER) != Hasher.hash(logging.getLogger("a.c"))


def test_graphs_of_functions_and_of_objects_come_to_an_end() -> None:
    names: dict[str, Any] = {}
    exec("def f0(): pass\n" + "\n".join(f"def f{n}(): f{n - 1}(), f{n - 1}()" for n in range(1, 60)), names)
    assert Hasher.hash(names["f59"]) == Hasher.hash(names["f59"])

    pair = _Holder(None)
    for _ in range(60):
        pair = _Holder((pair, pair))
    assert Hasher.hash(pair) == Hasher.hash(pair)


def test_objects_in_sets_that_contain_them_have_a_hash() -> None:
    first, second = _Holder(None), _Holder(None)
    first.held, second.held = {second}, {first}

    assert Hasher.hash(first) == Hasher.hash(second)


def test_more_text_than_one_array_holds_is_hashed_by_its_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    def whole(value: Any) -> Any:
        if len(value) > 2:
            raise pa.ArrowInvalid("offset overflow while concatenating arrays")
        return value.combine_chunks()

    monkeypatch.setattr(fingerprint, "_whole", whole)

    first = Hasher.hash(pa.chunked_array([["a"], ["b", "c"], ["d", "e"]]))
    assert first == Hasher.hash(pa.chunked_array([["a", "b", "c"], ["d"], ["e"]]))
    assert first != Hasher.hash(pa.chunked_array([["a", "b", "c"], ["d"], ["f"]]))
