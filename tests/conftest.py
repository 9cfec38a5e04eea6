"""What the marks mean, and how hypothesis finds its examples: the same in every run, unless HYPOTHESIS_PROFILE=campaign."""

import dataclasses
import importlib
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from datasets_core import config
from datasets_core.errors import ScriptTimeoutError

settings.register_profile("suite", derandomize=True, deadline=None)
settings.register_profile("campaign", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

# read once, when huggingface_hub is imported: no test may send a developer's own token, or upload by Xet
os.environ.pop("HF_TOKEN", None)
os.environ.update(HF_TOKEN_PATH=os.devnull, HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_TELEMETRY="1")
os.environ["HF_ENDPOINT"] = "http://127.0.0.1:9"  # a Hub that nobody reaches: a test that needs one says so by `hub`

# A shell starts background jobs with SIGINT ignored, and every program that a test starts and interrupts would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

PEER = "DATASETS_PEER_PYTHON"  # an interpreter that has Hugging Face datasets, where the one that runs the tests has not


def pytest_itemcollected(item: pytest.Item) -> None:
    """Let tests of uploads pass: huggingface_hub sends files in a manner that its HTTP client calls deprecated."""
    if {"hub", "shared_hub"} & set(getattr(item, "fixturenames", ())):
        item.add_marker(pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what is marked `optional(package)` where the package is not installed."""
    for mark in item.iter_markers("optional"):
        (package,) = mark.args
        elsewhere = package == "datasets" and PEER in os.environ
        if not elsewhere and find_spec(package) is None:
            hint = f", and {PEER} names no other interpreter" if package == "datasets" else ""
            pytest.skip(f"the package {package} is not installed{hint}")


def _small_hub(module: str) -> Any:
    """A module of `tests/hub`, which is a package under a name of its own: no test folder is on the path."""
    if "small_hub" not in sys.modules:
        spec = ModuleSpec("small_hub", None, is_package=True)
        spec.submodule_search_locations = [str(Path(__file__).with_name("hub"))]
        sys.modules["small_hub"] = module_from_spec(spec)
    return importlib.import_module(f"small_hub.{module}")


@contextmanager
def _serving(home: Path, **changes: Any) -> Iterator[Any]:
    small = _small_hub("server").SmallHub()
    home.mkdir()
    small.faults, small.home, small.cache_dir = _small_hub("faults"), home, home / "hub"
    small.run = _small_hub("fresh").Fresh(small.url, home)
    hub = {"hub_endpoint": small.url, "hub_cache_dir": str(home / "hub")}
    known = {field.name for field in dataclasses.fields(config.Config)}
    changes = {"cache_dir": str(home / "datasets"), "offline": False, **hub, **changes}
    small.settings = {name: value for name, value in changes.items() if name in known}
    try:
        yield small
    finally:
        small.stop()


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Any]:
    """A small Hub of this test alone, which is the endpoint of the settings; its caches are empty, and no pause is waited for.

    `hub.repo("org/name", {"data.csv": "a\\n1\\n"})` makes a repository, `hub.fail(hub.faults.status(503), "tree")` a
    fault, `hub.requests` has what was asked, and `hub.run("say(1)")` runs code in a fresh process (see `fresh.py`).
    """
    with _serving(tmp_path / "home", max_retry_wait_seconds=0) as small, config.using(**small.settings):
        yield small


@pytest.fixture(scope="module")
def shared_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A small Hub, and a home, for all tests of a module; `config.using(**shared_hub.settings)` makes it the endpoint."""
    with _serving(tmp_path_factory.mktemp("shared") / "home", max_retry_wait_seconds=0) as small:
        yield small


def _until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 60  # on a machine with much else to do
    while not is_so():
        assert time.monotonic() < end, "it does not happen"
        time.sleep(0.001)


@pytest.fixture
def until() -> Callable[[Callable[[], bool]], None]:
    """Waits until something is so: `until(path.exists)`."""
    return _until


class _HandClock:
    """A clock that a test moves; whoever waits by it looks at it all the time."""

    def __init__(self) -> None:
        self.now, self.num_looks = 1000.0, 0

    def monotonic(self) -> float:
        self.num_looks += 1
        return self.now

    def is_looked_at(self) -> None:
        """Wait until those who wait have seen the time; to be called while somebody waits."""
        looks = self.num_looks + 10
        _until(lambda: self.num_looks >= looks)

    def jumps(self, seconds: float) -> None:
        """Let time pass once somebody waits."""
        self.is_looked_at()
        self.now += seconds

    def passes(self, seconds: float) -> None:
        """Let time pass, and be seen by somebody who waits on."""
        self.jumps(seconds)
        self.is_looked_at()


@pytest.fixture
def hand_clock(monkeypatch: pytest.MonkeyPatch) -> _HandClock:
    """The time of everybody who waits for bytes."""
    from datasets_core.engines import threads
    from datasets_core.fetch.ranges import file

    made = _HandClock()
    monkeypatch.setattr(threads, "time", made)
    monkeypatch.setattr(file, "time", made)
    monkeypatch.setattr(file, "_LOG_SECONDS", 0.0)  # so that they look all the time
    return made


@pytest.fixture
def stopped_in() -> Callable[..., tuple[ScriptTimeoutError, float]]:
    """The error of `load(seconds)`, which hangs in a phase, and the seconds that it had: `stopped_in(load, phase, line)`.

    It has more of them where a busy machine was still before that phase, or before that line of it, when they were over.
    """

    def stopped(load: Callable[[float], object], *told: str) -> tuple[ScriptTimeoutError, float]:
        for seconds in (0.3, 1.5, 6.0, 30.0, 120.0):
            try:
                load(seconds)
            except ScriptTimeoutError as error:
                found = error
            else:
                pytest.fail("it was not stopped")
            cause: BaseException | None = found
            while cause is not None:  # the frames would keep what was loaded
                cause = cause.with_traceback(None).__cause__ or cause.__context__
            if all(words in str(found) for words in told):
                return found, seconds
        raise AssertionError(f"{told} are not in: {found}")

    return stopped


@pytest.fixture
def range_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A server that gives parts of files, counts requests and bytes, and fails as it is told (see `range_server.py`).

    `range_server.serve(folder)` and `range_server.put("a.csv", data)` give URLs, `range_server.requests` and `.num_bytes` what
    was asked for and sent, and `range_server.fail("a.csv", "drop", after=1000)` is a fault of the next answer.  What is saved
    of files is the test's own: another server may have had the same address before.
    """
    if "range_server" not in sys.modules:
        spec = spec_from_file_location("range_server", Path(__file__).with_name("range_server.py"))
        assert spec is not None and spec.loader is not None
        sys.modules["range_server"] = module_from_spec(spec)
        spec.loader.exec_module(sys.modules["range_server"])
    cache = str(tmp_path_factory.mktemp("ranges"))
    with config.using(cache_dir=cache), sys.modules["range_server"].serving() as server:
        yield server
