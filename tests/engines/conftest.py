"""Clusters of two nodes on this machine, for all tests of a file: they take seconds to start, their threads disturb others."""

import gc
import warnings
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    pytest.importorskip("ray")
    from datasets_core.engines.ray import RayEngine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with RayEngine(2) as engine:
            yield engine
        gc.collect()


@pytest.fixture(scope="module")
def dask() -> Iterator[Any]:
    pytest.importorskip("distributed")
    from datasets_core.engines.dask import DaskEngine

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with DaskEngine(2) as engine:
            yield engine
        gc.collect()
