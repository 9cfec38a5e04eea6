"""Identities that hold from one process to the next."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import fractions
import functools
import io
import logging
import re
import sqlite3
import subprocess
import sys
import threading
import types
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import datasets_core
from datasets_core import features, records, slim, tfds
from datasets_core.builders import csv
from datasets_core.dataset.dataset import Dataset
from datasets_core.errors import UnhashableError
from datasets_core.features.base import Value
from datasets_core.store import fingerprint as fingerprint_identity
from datasets_core.store import recorded_names
from datasets_core.store.fingerprint import Hasher, ValueWriter, fingerprint, random_fingerprint

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=8,
)


@given(values, values)
def test_values_have_one_hash_exactly_if_they_are_written_alike(a: Any, b: Any) -> None:
    assert (Hasher.hash(a) == Hasher.hash(b)) == (repr(a) == repr(b))


@given(st.sets(st.integers() | st.text()), st.randoms())
def test_the_order_in_which_a_set_came_about_does_not_matter(values: set[Any], random: Any) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    assert Hasher.hash(set(shuffled)) == Hasher.hash(values)


def test_the_order_of_a_dict_matters() -> None:
    assert Hasher.hash({"a": 1, "b": 2}) != Hasher.hash({"b": 2, "a": 1})


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


@dataclasses.dataclass
class Dot:
    x: int
    y: int = 0


class Plain:
    def __init__(self, value: Any) -> None:
        self.value = value


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


_DIFFERENT: list[Any] = [
    None,
    0,
    False,
    0.0,
    -0.0,
    "0",
    b"0",
    "",
    [],
    (),
    {},
    set(),
    [[]],
    [0],
    (0,),
    {0},
    frozenset({0}),
    {0: 0},
    ["ab"],
    ["a", "b"],
    Point(1),
    Point(2),
    Dot(1),
    Plain(1),
    Plain(2),
    Point,
    Dot,
    Colour.RED,
    Colour.BLUE,
    PurePosixPath("a"),
    re.compile("a"),
    re.compile("a", re.I),
    range(3),
    slice(3),
    decimal.Decimal("1.0"),
    decimal.Decimal("1.00"),
    datetime.date(2026, 1, 1),
    datetime.datetime(2026, 1, 1),
    datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc),  # noqa: UP017 - the object, not the alias
    datetime.timedelta(1),
    np.arange(3),
    np.arange(3.0),
    np.arange(3).reshape(1, 3),
    np.array(["a", None], dtype=object),
    np.dtype("int32"),
    np.int64(3),
    np.random.default_rng(1),
    np.random.default_rng(2),
    np.random.RandomState(1),
    pa.array([1, 2]),
    pa.array([1, None]),
    pa.table({"a": [1]}),
    pa.table({"b": [1]}),
    pa.int32(),
    pa.schema({"a": pa.int8()}),
    pa.field("a", pa.int8()),
    pa.scalar(1),
    collections.OrderedDict(a=1),
    collections.Counter("a"),
    len,
    [].append,
    [1].append,
    str.upper,
    np.add,
    np,
    re.escape,
    functools.partial(max, 1),
    functools.partial(max, 2),
    functools.partial(max, key=len),
    lambda row: row,
    lambda row: row + 1,
    lambda row: row + 2,
    lambda row, by=1: row,
    lambda row, by=2: row,
    lambda row: len(row),
    lambda row: max(row),
    Plain(1).__init__,
]


def test_what_differs_has_different_hashes_and_each_is_repeatable() -> None:
    hashes = [Hasher.hash(value) for value in _DIFFERENT]
    assert len(set(hashes)) == len(hashes)
    assert [Hasher.hash(value) for value in _DIFFERENT] == hashes


def test_parts_of_larger_arrays_are_hashed_alone() -> None:
    assert Hasher.hash(pa.array([0, 1, 2, 3]).slice(1, 2)) == Hasher.hash(pa.array([1, 2]))
    assert Hasher.hash(pa.chunked_array([[1], [2]])) == Hasher.hash(pa.chunked_array([[1, 2]]))
    assert Hasher.hash(np.arange(10)[::2]) == Hasher.hash(np.arange(10)[::2].copy())


# -- functions ---------------------------------------------------------------------------------------------------------


def _made(number: int) -> Any:
    def function(row: int) -> int:
        return row + number

    return function


def test_functions_are_what_they_do_not_where_they_stand() -> None:
    a = lambda row: row + 1  # noqa: E731
    b = lambda row: row + 1  # noqa: E731
    assert Hasher.hash(a) == Hasher.hash(b)


def test_what_a_function_closes_over_counts() -> None:
    assert Hasher.hash(_made(1)) == Hasher.hash(_made(1))
    assert Hasher.hash(_made(1)) != Hasher.hash(_made(2))


_FACTOR = 1


def _scaled(row: int) -> int:
    return row * _FACTOR


def test_the_globals_that_a_function_names_count(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Hasher.hash(_scaled)
    monkeypatch.setitem(globals(), "_UNRELATED", 5)
    assert Hasher.hash(_scaled) == before
    monkeypatch.setitem(globals(), "_FACTOR", 2)
    assert Hasher.hash(_scaled) != before


def _even(n: int) -> bool:
    return n == 0 or _odd(n - 1)


def _odd(n: int) -> bool:
    return n != 0 and _even(n - 1)


def test_functions_that_call_each_other_have_a_hash() -> None:
    assert Hasher.hash(_even) != Hasher.hash(_odd)


def test_values_that_contain_themselves_have_a_hash() -> None:
    circle: list[Any] = [1]
    circle.append(circle)
    other: list[Any] = [2]
    other.append(other)
    assert Hasher.hash(circle) != Hasher.hash(other)


class _Tool:
    __slots__ = ("a", "b")

    @functools.cached_property
    def slow(self) -> int:
        return 1

    @functools.lru_cache  # noqa: B019 - the wrapper is what is hashed
    def cached(self) -> int:
        return 2

    @staticmethod
    def plain() -> int:
        return 3


def test_classes_with_slots_and_wrapped_methods_have_a_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    before = Hasher.hash(_Tool)
    assert Hasher.hash(_Tool) == before
    monkeypatch.setattr(_Tool, "cached", functools.lru_cache(lambda self: 5))
    assert Hasher.hash(_Tool) != before


@pytest.mark.parametrize("method", [datasets_core.ReadInstruction.from_spec, Dataset.from_dict, Dataset.num_rows])
def test_methods_of_the_library_have_the_hash_of_their_name(method: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    function = getattr(method, "fget", None) or method.__func__
    before = Hasher.hash(method)
    edited = function.__code__.replace(co_consts=("Another docstring.", *function.__code__.co_consts[1:]))
    monkeypatch.setattr(function, "__code__", edited)

    assert Hasher.hash(method) == before


def test_a_dataset_is_known_by_its_own_fingerprint_and_by_its_format() -> None:
    first, second = Dataset.from_dict({"a": [1]}), Dataset.from_dict({"a": [1]})

    assert Hasher.hash(first) == Hasher.hash(second)
    assert Hasher.hash(first) != Hasher.hash(first.with_format("arrow"))
    assert Hasher.hash(first) != Hasher.hash(first.with_format(columns=[]))


def test_an_attribute_called_fingerprint_says_nothing() -> None:
    first, second = Plain([1]), Plain([2])
    first._fingerprint = second._fingerprint = "ab"  # type: ignore[attr-defined]
    assert Hasher.hash(first) != Hasher.hash(second)


_ELSEWHERE = """
import functools, re, decimal, enum, pathlib
import numpy as np, pyarrow as pa
from datasets_core.store import recorded_names
from datasets_core.store.fingerprint import Hasher

class Colour(enum.Enum):
    RED = 1

class Tool:
    words = {"a", "b", "c", "d"}
    def __init__(self):
        self.b, self.a = 2, 1
    def __call__(self, row):
        return {word for word in row if word in {"x", "y", "z"}}

values = [{"a", "b", "c", 1, None}, Tool(), Tool, Colour.RED, lambda row: row in {"p", "q", "r"},
          functools.partial(re.sub, "a"), np.arange(5), pa.table({"a": ["x"]}), pathlib.PurePosixPath("a"), decimal.Decimal(1)]
print([Hasher.hash(value) for value in values])
"""


def test_hashes_are_equal_in_every_process() -> None:
    printed = {
        subprocess.run(
            [sys.executable, "-c", _ELSEWHERE],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(Path(__file__).parents[2])},
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(printed) == 1


# -- what has none -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [threading.Lock(), (n for n in range(3)), [threading.Lock()], {"a": sys.stdout.buffer}])
def test_what_is_another_in_every_process_has_no_hash(value: Any) -> None:
    with pytest.raises(UnhashableError):
        Hasher.hash(value)


def test_a_transform_without_identity_gets_a_random_one_and_a_warning() -> None:
    with pytest.warns(UserWarning, match=r"map cannot be reused in another run: a _thread\.lock") as told:
        first = fingerprint("map", threading.Lock(), what="map")
    with pytest.warns(UserWarning, match="cannot be reused"):
        second = fingerprint("map", threading.Lock())
    assert first != second
    assert told[0].filename == __file__
    assert len(first) == len(random_fingerprint()) == len(fingerprint("map", 1)) == 16


def test_bytes_are_hashed_as_one() -> None:
    assert Hasher.hash_bytes([b"ab", b"c"]) == Hasher.hash_bytes(b"abc")


MOVED = """
import sys, types
import datasets_core
from datasets_core import Dataset, Features, Image, Value, concatenate_datasets
from datasets_core.store.fingerprint import Hasher

def values():
    helper = types.ModuleType("helper")
    helper.Value, helper.joined = Value, concatenate_datasets
    given = (Value("int64"), Value, Features({"a": Value("int8"), "b": Image()}), concatenate_datasets, Dataset)
    given += (lambda row: Features({"a": Value("int64")}), type("Mine", (Value,), {}), helper, Features.encode_example)
    return [Hasher.hash(value) for value in given]

before = values()
for part, room in ((Value, "anywhere"), (Image, "features"), (concatenate_datasets, "somewhere"), (Dataset, "dataset")):
    module = types.ModuleType(f"datasets_core.{room}.elsewhere")
    module.__file__ = datasets_core.__file__
    sys.modules[module.__name__] = module
    setattr(module, part.__name__, part)
    part.__module__ = module.__name__
print(before == values(), len(set(before)))
"""


def test_a_class_that_is_moved_keeps_its_fingerprints() -> None:
    assert Hasher.hash(Value("int64")) == "9e4c74a5940cc76d"
    done = subprocess.run([sys.executable, "-c", MOVED], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "9"]


def test_attributes_of_a_member_of_an_enumeration_count() -> None:
    class Sized(enum.Enum):
        ONE = 1

    before = Hasher.hash(Sized.ONE)
    Sized.ONE.width = 2  # type: ignore[attr-defined]
    after = Hasher.hash(Sized.ONE)
    Sized.ONE.width = 3  # type: ignore[attr-defined]
    assert len({before, after, Hasher.hash(Sized.ONE)}) == 3


def test_each_recorded_name_has_one_definition_where_it_says() -> None:
    found: dict[str, set[str]] = {}
    for name, folder in (
        ("datasets_core", Path(datasets_core.__file__).parent),
        ("datasets_core.builders", Path(csv.__file__).parent),
    ):
        for path in folder.rglob("*.py"):
            parts = [name, *path.relative_to(folder).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            for defined in re.findall(r"^(?:async )?(?:def|class) (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
                found.setdefault(defined, set()).add(module)
    for names in recorded_names._MODULES.values():
        for name in names:
            assert len(found.get(name, ())) == 1 and name not in recorded_names._NAMESAKES, name
    for name, places in recorded_names._NAMESAKES.items():
        for place in places:
            within = [module for module in found[name] if module == place or module.startswith(f"{place}.")]
            assert len(within) == 1, (name, place)


def test_every_class_is_recorded() -> None:
    """A class that moves to another module keeps its name in fingerprints, so each is recorded when it is made."""
    recorded = {name for names in recorded_names._MODULES.values() for name in names}
    for name, folder in (
        ("datasets_core", Path(datasets_core.__file__).parent),
        ("datasets_core.builders", Path(csv.__file__).parent),
    ):
        for path in folder.rglob("*.py"):
            parts = [name, *path.relative_to(folder).with_suffix("").parts]
            module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
            for defined in re.findall(r"^class (\w+)", path.read_text(encoding="utf-8"), re.MULTILINE):
                places = recorded_names._NAMESAKES.get(defined, {})
                is_known = defined in recorded or f"{module}:{defined}" in recorded_names._RENAMED
                is_known = is_known or any(module == place or module.startswith(f"{place}.") for place in places)
                assert is_known, f"record {defined} of {module} in store/recorded_names.py"


def test_a_class_that_moves_keeps_its_fingerprint() -> None:
    assert recorded_names.recorded_name("datasets_core.stream.elsewhere", "Stopping").endswith("order.mixture.Stopping")
    assert (
        recorded_names.recorded_name("datasets_core.elsewhere", "FileVersion") == "datasets_core.fetch.range_file.FileVersion"
    )


def test_class_methods_of_other_packages_are_known_by_their_code() -> None:
    code = Hasher.hash(fractions.Fraction.from_float.__func__.__code__)
    assert code not in ("", Hasher.hash("fractions.Fraction.from_float"))
    written: list[bytes] = []
    ValueWriter(written.append).write(fractions.Fraction.from_float.__func__)
    assert written[0] == b"function[7]"


def test_declared_functions_are_known_by_their_names() -> None:
    for function in (
        datasets_core.load_dataset_builder,
        datasets_core.DatasetDict.map,
        datasets_core.Features.from_dict.__func__,
    ):
        written: list[bytes] = []
        ValueWriter(written.append).write(function)
        assert written[0].startswith(b"function:"), written
        assert written[0].decode().endswith(f".{function.__name__}")


def test_every_public_class_and_function_is_recorded() -> None:
    public = [getattr(face, name) for face in (datasets_core, features, slim, tfds, records) for name in face.__all__]
    own = [
        part for part in public if isinstance(part, (type, types.FunctionType)) and part.__module__.startswith("datasets_core.")
    ]
    for part in own:
        root = part.__qualname__.partition(".")[0]
        recorded = {name for names in recorded_names._MODULES.values() for name in names}
        assert root in recorded or root in recorded_names._NAMESAKES, f"record {part.__qualname__} of {part.__module__}"


# What has no lasting identity is named, with the way to it.

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
        (_Holder(n for n in range(3)), r"a builtins\.generator differs in every process, reached by attribute 'held'"),
        (threading.Lock().acquire, r"the method 'lock\.acquire'"),
        ((io.BytesIO(), {threading.Lock()}), r"a _thread\.lock"),
        (_Holder({"x": _Broken()}), r"a .*_Broken cannot be read \(.*\), reached by attribute 'held' of a .*_Holder, key 'x'"),
        (
            _Holder(np.frompyfunc(_Holder, 1, 1)),
            r"the ufunc .* does not expose the function that it calls, reached by attribute 'held'",
        ),
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

    monkeypatch.setattr(fingerprint_identity, "_whole", whole)

    first = Hasher.hash(pa.chunked_array([["a"], ["b", "c"], ["d", "e"]]))
    assert first == Hasher.hash(pa.chunked_array([["a", "b", "c"], ["d"], ["e"]]))
    assert first != Hasher.hash(pa.chunked_array([["a", "b", "c"], ["d"], ["f"]]))
