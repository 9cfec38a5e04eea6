"""What the examples in docstrings find: names that every user knows, and a skip where a package that they need is missing."""

from __future__ import annotations

import atexit
import doctest
import os
import shutil
import tempfile
from collections.abc import Generator
from importlib.util import find_spec
from typing import Any

import pytest

# Each run has a cache of its own: a test server may get the port of an earlier one, whose files have the same addresses.
_CACHE = tempfile.mkdtemp(prefix="datasets_core-tests-")
_PID = os.getpid()
atexit.register(lambda: shutil.rmtree(_CACHE, ignore_errors=True) if os.getpid() == _PID else None)
os.environ["HF_DATASETS_CACHE"] = _CACHE

_NAMES = ("ClassLabel", "Dataset", "DatasetDict", "Features", "IterableDataset", "Value")


class _TextServer:
    """A client of an Elasticsearch server, for examples: it finds texts by the words that they share with a query."""

    def __init__(self) -> None:
        self.indices, self._texts = self, dict[str, dict[str, str]]()

    def create(self, *, index: str, body: dict[str, Any]) -> None:
        self._texts[index] = {}

    def refresh(self, *, index: str) -> None:
        return None

    def bulk(self, *, body: list[dict[str, Any]]) -> dict[str, Any]:
        for action, document in zip(body[::2], body[1::2], strict=True):
            self._texts[action["index"]["_index"]][action["index"]["_id"]] = document["text"]
        return {"errors": False}

    def search(self, *, index: str, body: dict[str, Any]) -> dict[str, Any]:
        words = set(body["query"]["multi_match"]["query"].split())
        scores = {row: len(words & set(text.split())) for row, text in self._texts[index].items()}
        best = sorted((row for row in scores if scores[row]), key=lambda row: -scores[row])[: body["size"]]
        return {"hits": {"hits": [{"_score": scores[row], "_id": row} for row in best]}}


def _birds() -> Any:
    """The three rows of a dataset that was built, read into memory."""
    import pyarrow

    from datasets_core.dataset.dataset import Dataset
    from datasets_core.store.pieces import locations_of_file
    from datasets_core.store.shard import MemoryShard
    from datasets_core.store.table import RowTable

    batch = pyarrow.record_batch({"name": ["wren", "owl", "rook"]})
    name = "birds-train-00000-of-00001.arrow"
    standing = locations_of_file(f"birds/{name}", name, [3])
    return Dataset(RowTable.from_shards([MemoryShard([batch], batch.schema, standing)]))


@pytest.fixture(autouse=True)
def _registers(request: pytest.FixtureRequest) -> Generator[None]:
    """What an example registers is unknown to the tests behind it."""
    if not isinstance(request.node, pytest.DoctestItem):
        yield
        return
    from datasets_core import engines
    from datasets_core.features import base
    from datasets_core.resolve import registry

    before = [(register, dict(register)) for register in (base.REGISTERED, engines._ENGINES, registry._registered)]
    yield
    for register, known in before:
        for name in register.keys() - known.keys():
            del register[name]


@pytest.fixture(autouse=True)
def _known_names(request: pytest.FixtureRequest) -> None:
    if isinstance(request.node, pytest.DoctestItem):
        import numpy
        import pyarrow

        import datasets_core

        names: dict[str, Any] = {name: getattr(datasets_core, name) for name in _NAMES}
        found = request.getfixturevalue("doctest_namespace")
        known = {**names, "np": numpy, "pa": pyarrow, "es_client": _TextServer(), "birds": _birds()}
        for name, value in known.items():
            found.setdefault(name, value)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    """Skip an example that needs a package which is not installed."""
    try:
        return (yield)
    except doctest.UnexpectedException as failure:
        error = failure.exc_info[1]
        package = getattr(error, "package", None) or getattr(error, "name", None)  # ours, and Python's
        if isinstance(error, ImportError) and package and find_spec(package.partition(".")[0]) is None:
            pytest.skip(f"the package {package} is not installed")
        raise
