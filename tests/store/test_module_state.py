"""Worker processes give the rows that this process gives, whatever was set in modules since they were imported."""

from __future__ import annotations

import builtins
import decimal
import importlib
import logging
import os
import pickle
import string
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from datasets_core import config
from datasets_core.dataset.dataset import Dataset
from datasets_core.engines.pool import ProcessEngine
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.load import load_dataset_builder
from datasets_core.store.code import is_installed
from datasets_core.store.fingerprint import Hasher
from datasets_core.store.module_state import ModuleStateError, _Checked, state_of

SOURCE = """
import contextvars
import decimal
import enum
import functools
import os
import string
import sys
import threading

LIMIT = 1
TABLE = {"k": 1}
VARIABLE = contextvars.ContextVar("VARIABLE", default=1)
LOCK = threading.Lock()
LOCAL = threading.local()


class Base:
    K = 1


class Scale(Base):
    def __init__(self, own=1):
        self.own = own

    def __call__(self, row):
        return {"b": row["a"] * self.K * self.own}

    def method(self, row):
        return {"b": row["a"] * self.K * self.own}

    @classmethod
    def of_class(cls, row):
        return {"b": row["a"] * cls.K}

    @staticmethod
    def of_nobody(row):
        return {"b": row["a"] * Scale.K}


class Kind(enum.Enum):
    ONE = 1

    def __init__(self, value):
        self.factor = value
        self._hidden = value


def times(value):
    return value


def by_member(row):
    return {"b": row["a"] * Kind.ONE.factor}


def by_hidden_value_of_a_member(row):
    return {"b": row["a"] * Kind(1)._hidden}


def by_all_members(row):
    return {"b": row["a"] * sum(kind.factor for kind in Kind)}


def by_name_in_a_member(row):
    return {"b": row["a"] * getattr(Kind.ONE, "added", 1)}


def by_global(row):
    return {"b": row["a"] * LIMIT}


def by_lock(row):
    with LOCK:
        return {"b": row["a"] * LIMIT}


def by_table(row):
    return {"b": row["a"] * TABLE["k"]}


def by_class(row):
    return {"b": row["a"] * Scale.K}


def by_function(row):
    return {"b": times(row["a"])}


def by_default(row, factor=1):
    return {"b": row["a"] * factor}


def by_variable(row):
    return {"b": row["a"] * VARIABLE.get()}


def by_local(row):
    return {"b": row["a"] * getattr(LOCAL, "k", 1)}


def by_decimals(row):
    return {"b": str(decimal.Decimal(row["a"]) / 7)}


def by_loaded_modules(row):
    return {"b": row["a"] * sys.modules["made_of_test"].K}


def by_name_of_a_loaded_module(row):
    return {"b": row["a"] * getattr(sys.modules[__name__], "LIMIT")}


def by_installed_class(row):
    return {"b": string.Template.delimiter * row["a"]}


def by_name_in_an_installed_class(row):
    return {"b": row["a"] * getattr(string.Formatter, "k_of_test", 1)}


def by_builtin(row):
    return {"b": row["a"] * k_of_test}


def by_environment(row):
    return {"b": row["a"] * int(os.environ["FACTOR_OF_TEST"])}


@functools.lru_cache
def cached(value):
    return value * LIMIT


def by_cache(row):
    return {"b": cached(row["a"])}
"""


@pytest.fixture
def helpers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of a user, in a program that has loaded no other: functions that read `sys.modules` depend on all of them."""
    for name, module in list(sys.modules.items()):
        if name not in (__name__, "__main__") and not is_installed(module):
            monkeypatch.delitem(sys.modules, name)
    (tmp_path / "helpers_of_test.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("FACTOR_OF_TEST", "3")
    with decimal.localcontext():
        yield importlib.import_module("helpers_of_test")
    for name in ("helpers_of_test", "made_of_test"):
        sys.modules.pop(name, None)


@pytest.fixture(params=["fork", "spawn"])
def method(request: pytest.FixtureRequest) -> Iterator[str]:
    with config.using(start_method=request.param):
        yield request.param


def _cases(helpers: Any) -> dict[str, Callable[[dict[str, Any]], Any]]:
    factor = 3

    def by_import(row: dict[str, Any]) -> Any:
        import helpers_of_test  # type: ignore[import-not-found]

        return {"b": row["a"] * helpers_of_test.LIMIT}

    def by_made_module(row: dict[str, Any]) -> Any:
        import made_of_test  # type: ignore[import-not-found]

        return {"b": row["a"] * made_of_test.K}

    names = {name: getattr(helpers, name) for name in vars(helpers) if name.startswith("by_")}
    own, member = helpers.Scale(3), helpers.Kind.ONE
    return names | {
        "instance": own,
        "method": own.method,
        "class method": helpers.Scale.of_class,
        "static method": helpers.Scale.of_nobody,
        "closure": lambda row: {"b": row["a"] * factor},
        "member in a closure": lambda row: {"b": row["a"] * member.factor},
        "module": lambda row: {"b": row["a"] * helpers.LIMIT},
        "class of module": lambda row: {"b": row["a"] * helpers.Scale.K},
        "function of module": lambda row: {"b": helpers.by_table(row)["b"]},
        "import": by_import,
        "made module": by_made_module,
        "standard library": lambda row: {"b": row["a"] * len(string.digits)},
        "class of the standard library": lambda row: {"b": row["a"] * string.Template.delimiter},
        "name in a class of the standard library": lambda row: {"b": row["a"] * getattr(string.Formatter, "k_of_test", 1)},
        "loaded module": lambda row: {"b": row["a"] * sys.modules["made_of_test"].K},
        "builtin": lambda row: {"b": row["a"] * k_of_test},  # type: ignore[name-defined]  # noqa: F821
        "local": lambda row: {"b": row["a"] * getattr(helpers.LOCAL, "k", 1)},
        "decimals": lambda row: {"b": str(decimal.Decimal(row["a"]) / 7)},
        "function of the standard library": lambda row: {"b": row["a"] * string.capwords("x")},
    }


def _set_all(helpers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    helpers.LIMIT = 3
    helpers.TABLE["k"] = 3
    helpers.Base.K = 3
    helpers.Kind.ONE.factor = helpers.Kind.ONE._hidden = helpers.Kind.ONE.added = 3
    helpers.VARIABLE.set(3)
    helpers.times = lambda value: value * 3
    helpers.by_default.__defaults__ = (3,)
    made = types.ModuleType("made_of_test")
    made.K = 3  # type: ignore[attr-defined]
    sys.modules["made_of_test"] = made
    helpers.LOCAL.k = 3
    decimal.getcontext().prec = 5
    monkeypatch.setattr(string.Template, "delimiter", "!")
    monkeypatch.setattr(string.Formatter, "k_of_test", 3, raising=False)
    monkeypatch.setattr(builtins, "k_of_test", 3, raising=False)
    monkeypatch.setattr(string, "digits", "abc")
    monkeypatch.setattr(string, "capwords", lambda text: 3)


def _answered(job: tuple[Any, Any]) -> Any:
    checked, row = job
    try:
        return checked(row)
    except ModuleStateError as error:
        return f"refused: {error.names}"


def _answers_of_a_worker(cases: dict[str, Any]) -> dict[str, Any]:
    jobs = [(_Checked(function, state_of([function])), {"a": 5}) for function in cases.values()]
    answers = dict(ProcessEngine(1).run(_answered, jobs))
    return {name: answers[place] for place, name in enumerate(cases)}


def test_a_worker_gives_what_this_process_gives_or_does_not_run(
    helpers: Any, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_all(helpers, monkeypatch)
    cases, row = _cases(helpers), {"a": 5}
    answers = _answers_of_a_worker(cases)
    refused = {name for name, answer in answers.items() if str(answer).startswith("refused")}
    assert {name: answer for name, answer in answers.items() if name not in refused} == {
        name: function(dict(row)) for name, function in cases.items() if name not in refused
    }
    sent = {"closure", "by_environment", "by_decimals", "decimals"}
    assert refused == ({*cases} - sent if method == "spawn" else set())


def test_without_a_change_all_runs_in_the_worker(helpers: Any, method: str) -> None:
    changed = {"made module", "function of the standard library", "loaded module", "builtin"}
    changed |= {"by_loaded_modules", "by_builtin", "by_name_of_a_loaded_module"}  # pytest changes the modules of the tests
    cases = {name: function for name, function in _cases(helpers).items() if name not in changed}
    assert _answers_of_a_worker(cases) == {name: function({"a": 5}) for name, function in cases.items()}


def test_map_and_filter_give_the_same_rows_in_processes(
    helpers: Any, method: str, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    _set_all(helpers, monkeypatch)
    Dataset.from_dict({"a": [1, 2, 3, 4]}).save_to_disk(tmp_path / "saved")
    dataset = Dataset.load_from_disk(tmp_path / "saved")
    with caplog.at_level(logging.WARNING):
        found = dataset.map(helpers.by_class, num_proc=2, engine="processes")
    assert found["b"][:] == [3, 6, 9, 12]
    assert ("helpers_of_test.by_class" in caplog.text) is (method == "spawn")
    assert dataset.map(helpers.by_class)["b"][:] == [3, 6, 9, 12]
    kept = dataset.filter(lambda row: helpers.by_class(row)["b"] > 6, num_proc=2)
    assert kept["a"][:] == [3, 4]


@pytest.mark.parametrize("is_set", [False, True])
def test_streams_map_and_filter_the_same_rows_in_processes(
    helpers: Any, is_set: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if is_set:
        monkeypatch.setattr(helpers.Base, "K", 3)
    stream = Dataset.from_dict({"a": [1, 2, 3]}).to_iterable_dataset()
    with caplog.at_level(logging.WARNING, "datasets_core"):
        found = list(stream.map(helpers.by_class, num_workers=2, engine="processes"))
    kept = stream.filter(lambda row: helpers.by_class(row)["b"] > 2, num_workers=2, engine="processes")
    assert [row["b"] for row in found] == ([3, 6, 9] if is_set else [1, 2, 3])
    assert [row["a"] for row in kept] == ([1, 2, 3] if is_set else [3])
    assert caplog.text.count("runs in this process only") == 2 * is_set


def test_rows_of_a_generator_are_the_same_in_processes(helpers: Any, method: str, tmp_path: Path) -> None:
    helpers.Base.K = 3

    def rows(numbers: list[int]) -> Any:
        for number in numbers:
            yield helpers.by_class({"a": number})

    dataset = Dataset.from_generator(rows, gen_kwargs={"numbers": [1, 2, 3]}, num_proc=2, cache_dir=str(tmp_path))
    assert dataset["b"][:] == [3, 6, 9]


BUILDER = """
import os
import datasets_core


class Scaled(datasets_core.GeneratorBasedBuilder):
    FACTOR = 1

    def _info(self):
        return datasets_core.DatasetInfo(
            features=datasets_core.Features({"b": datasets_core.Value("int64"), "pid": datasets_core.Value("int64")})
        )

    def _split_generators(self, manager):
        return [datasets_core.SplitGenerator(name="train", gen_kwargs={"numbers": [1, 2, 3, 4]})]

    def _generate_examples(self, numbers):
        for number in numbers:
            yield number, {"b": number * self.FACTOR, "pid": os.getpid()}
"""


@pytest.mark.parametrize("is_set", [False, True])
def test_builds_give_the_same_rows_in_processes(
    is_set: bool, method: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "builder_of_test.py").write_text(BUILDER)
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("builder_of_test")
    try:
        if is_set:
            module.Scaled.FACTOR = 3
        builder = module.Scaled(cache_dir=str(tmp_path / "cache"))
        builder.download_and_prepare(num_proc=2)
        rows = builder.as_dataset("train")
    finally:
        del sys.modules["builder_of_test"]
    assert sorted(rows["b"][:]) == [number * (3 if is_set else 1) for number in (1, 2, 3, 4)]
    assert (os.getpid() in rows["pid"][:]) is (is_set and method == "spawn")


def test_features_are_not_asked_for() -> None:
    assert state_of([Features({"a": Value("int64")}), {"a": [1, len]}, print]) == {}


def test_the_builder_of_a_format_reads_nothing_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a\n1\n")
    assert state_of([load_dataset_builder("csv", data_files=str(path), cache_dir=str(tmp_path))]) == {}


def test_pickling_an_object_does_not_change_what_is_compared_of_its_class(helpers: Any) -> None:
    before = Hasher.hash_what_can_be(helpers.Scale)
    pickle.dumps(helpers.Scale(3))
    assert Hasher.hash_what_can_be(helpers.Scale) == before
