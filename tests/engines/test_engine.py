"""What every engine promises, on each of them; and how a name becomes an engine."""

import importlib.metadata
import multiprocessing
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from importlib.metadata import EntryPoint
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from datasets_core import Dataset, IterableDatasetDict, config, load_dataset
from datasets_core import engines as engine_module
from datasets_core.building.builder import GeneratorBasedBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.engines import Engine, get_engine, pool, register_engine
from datasets_core.engines import executor as executor_module
from datasets_core.engines.deadline import Deadline, SerialEngine, TimeUp
from datasets_core.engines.executor import ExecutorEngine
from datasets_core.engines.pool import ProcessEngine, ThreadEngine
from datasets_core.errors import ConfigurationError, FileFormatError, WorkerDiedError
from datasets_core.features.base import Value
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo
from datasets_core.store import module_state

ENGINES = {"serial": SerialEngine(), "a thread": ThreadEngine(1), "threads": ThreadEngine(3), "processes": ProcessEngine(2)}


@pytest.fixture(params=[*ENGINES, "executor", "ray", "dask"])
def engine(request: pytest.FixtureRequest) -> Engine:
    """Each engine there is; the last ones with two workers in a cluster that all tests here share."""
    if request.param == "executor":
        return ExecutorEngine(partial(ProcessPoolExecutor, 2))
    return ENGINES[request.param] if request.param in ENGINES else request.getfixturevalue(request.param)  # type: ignore[no-any-return]


def test_every_job_has_one_result_under_its_number(engine: Engine) -> None:
    assert dict(engine.run(lambda job: job * job, [3, 1, 4, 1, 5])) == {0: 9, 1: 1, 2: 16, 3: 1, 4: 25}


def test_no_jobs_have_no_results(engine: Engine) -> None:
    assert list(engine.run(lambda job: job, [])) == []


def test_a_failure_is_raised_as_it_is(engine: Engine) -> None:
    def fail(job: int) -> int:
        raise FileFormatError("a.csv", "no header", line=job)

    with pytest.raises(FileFormatError, match=r"a\.csv, line 7: no header") as caught:
        list(engine.run(fail, [7]))
    assert (caught.value.path, caught.value.line) == ("a.csv", 7)


def test_a_failure_keeps_its_cause(engine: Engine) -> None:
    def fail(job: int) -> int:
        try:
            return {}[job]  # type: ignore[no-any-return]
        except KeyError as error:
            raise ValueError("no such thing") from error

    with pytest.raises(ValueError, match="no such thing") as caught:
        list(engine.run(fail, [7]))
    assert isinstance(caught.value.__cause__, KeyError)


def test_jobs_that_were_not_begun_before_a_failure_never_begin(engine: Engine, tmp_path: object) -> None:
    def touch_or_fail(job: int) -> None:
        if job == 0:
            raise RuntimeError("stop")
        with open(os.path.join(str(tmp_path), str(job)), "x"):
            pass

    with pytest.raises(RuntimeError, match="stop"):
        list(engine.run(touch_or_fail, range(1000)))
    assert len(os.listdir(str(tmp_path))) < 999


def test_nothing_runs_after_the_results_are_closed(engine: Engine, tmp_path: object) -> None:
    def touch(job: int) -> None:
        with open(os.path.join(str(tmp_path), str(job)), "x"):
            pass

    results = engine.run(touch, range(1000))
    next(results)
    results.close()  # type: ignore[attr-defined]
    left = len(os.listdir(str(tmp_path)))
    assert left < 1000
    assert len(os.listdir(str(tmp_path))) == left


def test_the_settings_of_the_caller_hold_in_every_job(engine: Engine) -> None:
    with config.using(batch_rows=123):
        results = dict(engine.run(lambda job: config.settings().batch_rows + job, [0, 1]))
    assert results == {0: 123, 1: 124}


def test_local_classes_and_closures_are_jobs(engine: Engine) -> None:
    class Job:
        def __init__(self, number: int) -> None:
            self.number = number

    factor = 10
    results = dict(engine.run(lambda job: Job(job.number * factor), [Job(1), Job(2)]))
    assert [results[index].number for index in range(2)] == [10, 20]


def test_a_keyboard_interrupt_ends_the_run(engine: Engine) -> None:
    def interrupt(job: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        list(engine.run(interrupt, [1, 2, 3]))


def test_results_come_in_order_where_they_are_wanted_so(engine: Engine) -> None:
    def slow_at_first(job: int) -> int:
        time.sleep(0.2 * (job == 0))
        return -job

    assert list(engine.run(slow_at_first, range(9), ordered=True)) == [(job, -job) for job in range(9)]


def test_an_error_comes_in_its_order_too(engine: Engine) -> None:
    results = engine.run(lambda job: 1 // job, [2, 1, 0, 1], ordered=True)
    assert [next(results), next(results)] == [(0, 0), (1, 1)]
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_jobs_are_taken_as_there_is_room(engine: Engine) -> None:
    taken: list[int] = []

    def jobs() -> Iterator[int]:
        for job in range(50):
            taken.append(job)
            yield job

    results = engine.run(lambda job: job, jobs(), window=4, ordered=True)
    assert taken == []
    for number in range(10):
        assert next(results) == (number, number)
        assert len(taken) <= number + 1 + 4
    results.close()  # type: ignore[attr-defined]


def test_an_error_of_the_jobs_is_raised_behind_what_was_done(engine: Engine) -> None:
    def jobs() -> Iterator[int]:
        yield from range(3)
        raise OSError("no more")

    found: list[int] = []
    with pytest.raises(OSError, match="no more"):
        found.extend(result for _, result in engine.run(lambda job: job, jobs(), ordered=True))
    assert found == [0, 1, 2]


def test_no_job_begins_when_the_time_is_over(engine: Engine) -> None:
    with pytest.raises(TimeUp):
        list(engine.run(lambda job: time.sleep(0.4), range(1000), deadline=Deadline.of(0.3)))


def test_a_run_is_stopped_from_outside_and_says_when_it_failed(engine: Engine) -> None:
    stop = threading.Event()
    results = engine.run(lambda job: job, range(1000), stop=stop)
    assert next(results)[1] < 1000
    assert not stop.is_set()
    stop.set()
    assert list(results) == []

    over = threading.Event()
    assert len(list(engine.run(lambda job: job, [0, 1], stop=over))) == 2
    assert not over.is_set()
    with pytest.raises(ZeroDivisionError):
        list(engine.run(lambda job: 1 // job, [0, 1], stop=over))
    assert over.is_set()


def test_running_jobs_can_look_whether_the_run_is_over() -> None:
    stop = threading.Event()

    def fail_or_wait(job: int) -> bool:
        if not job:
            raise OSError("no")
        return stop.wait(30)

    with pytest.raises(OSError, match="no"):
        list(ThreadEngine(2).run(fail_or_wait, [1, 0], stop=stop))


def test_threads_run_side_by_side() -> None:
    meeting = threading.Barrier(3, timeout=30)
    assert sorted(ThreadEngine(3).run(lambda job: meeting.wait() >= 0, [0, 1, 2])) == [(0, True), (1, True), (2, True)]


def test_processes_are_other_processes() -> None:
    found = dict(ProcessEngine(2).run(lambda job: os.getpid(), [0]))
    assert found[0] != os.getpid()


# -- engines that other libraries are behind ---------------------------------------------------------------------------


@pytest.fixture(params=["executor", "ray", "dask"])
def remote(request: pytest.FixtureRequest) -> Any:
    made = ExecutorEngine(partial(ProcessPoolExecutor, 2)) if request.param == "executor" else None
    return made or request.getfixturevalue(request.param)


def _once(place: Path) -> bool:
    """Whether this is the first call, by any process."""
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return False
    return True


def test_a_job_whose_worker_was_killed_is_done_again(remote: Engine, tmp_path: Path) -> None:
    once = _once

    def die(job: int) -> int:
        if job == 2 and once(tmp_path / "died"):
            os.kill(os.getpid(), signal.SIGKILL)
        return job * job

    before = remote.retried  # type: ignore[attr-defined]
    assert dict(remote.run(die, range(4))) == {0: 0, 1: 1, 2: 4, 3: 9}
    assert remote.retried > before  # type: ignore[attr-defined]


def test_a_worker_that_is_killed_in_the_middle_of_its_result_does_not_stop_an_executor(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    once = _once
    monkeypatch.setattr(executor_module, "_STUCK_SECONDS", 0.1)
    monkeypatch.setattr(executor_module, "_LOOK_SECONDS", 0.05)

    def die(job: int) -> int:
        if job == 1 and once(tmp_path / "died"):
            frame = sys._getframe()
            while "result_queue" not in frame.f_locals:
                frame = frame.f_back  # type: ignore[assignment]
            frame.f_locals["result_queue"]._writer._send(b"\x00\x00\x10\x00half")  # of a message of 1 MiB
            os.kill(os.getpid(), signal.SIGKILL)
        return job * job

    engine = ExecutorEngine(partial(ProcessPoolExecutor, 2))
    assert dict(engine.run(die, range(4))) == {0: 0, 1: 1, 2: 4, 3: 9}
    assert engine.retried and "ended in the middle of a result" in caplog.text


def test_a_job_that_kills_its_workers_is_named(remote: Engine) -> None:
    def die(job: int) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerDiedError, match=r"The worker of job 0 ended without a result") as caught:
        list(remote.run(die, [0], retries=1))
    assert caught.value.job == 0


def test_a_function_that_cannot_be_sent_is_refused_before_the_first_job(remote: Engine) -> None:
    lock = threading.Lock()
    with pytest.raises(ConfigurationError, match=r"A function cannot be sent to or from a worker process"):
        list(remote.run(lambda job: lock, [0]))


def test_workers_of_another_version_are_refused(remote: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "__version__", "0.0.7")
    list_of = getattr(remote, "_make", None)
    if list_of is not None:  # processes that are forked have the version of this test
        remote = ExecutorEngine(partial(ProcessPoolExecutor, 1, multiprocessing.get_context("spawn")))
    with pytest.raises(ConfigurationError, match=r"has datasets_core .*, this process has 0\.0\.7\. Install the same"):
        list(remote.run(lambda job: job, [0]))


def test_folders_of_killed_drivers_are_removed(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    old, new = tmp_path / f"dc-dask.tmp-{dead.pid}-old", tmp_path / f"dc-dask.tmp-{dead.pid}-new"
    for folder in (old, new):
        (folder / "spilled").mkdir(parents=True)
    os.utime(old, (1, 1))
    made = Path(pool.folder_of_cluster("dask", str(tmp_path)))
    assert sorted(tmp_path.iterdir()) == sorted([new, made])


def test_an_address_without_a_cluster_is_named_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("ray")
    from datasets_core.engines.ray import RayEngine

    monkeypatch.setattr(library, "is_initialized", lambda: False)  # other tests here may have a cluster
    monkeypatch.setattr(library, "init", pytest.fail)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ConfigurationError, match=f"There is no Ray cluster at {address}: .*Check the address"):
        RayEngine(address=address).open()


def test_the_address_of_a_cluster_that_has_ended_is_not_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = pytest.importorskip("ray")
    from datasets_core.engines.ray import RayEngine

    used: list[str] = []
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(library, "is_initialized", lambda: False)
    monkeypatch.setattr(library, "init", lambda **options: used.append(options["address"]))
    monkeypatch.setattr(library, "shutdown", lambda: None)
    monkeypatch.setattr(library, "cluster_resources", lambda: {"CPU": 2})
    (tmp_path / "ray").mkdir()
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        (tmp_path / "ray" / "ray_current_cluster").write_text(address)
        RayEngine().open()
    RayEngine().open()
    assert used == [address, "local"]


@pytest.mark.parametrize("scheme", ["", "tcp://"])
def test_an_address_without_a_scheduler_is_named_soon(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    library = pytest.importorskip("distributed")
    from datasets_core.engines.dask import DaskEngine

    monkeypatch.setattr(library, "Client", pytest.fail)
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"{scheme}127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(ConfigurationError, match=f"There is no Dask scheduler at {address}: .*Check the address"):
        DaskEngine(address=address).open()


@pytest.mark.parametrize("order", ["source", "hash"])
def test_a_build_is_the_same_after_kills(remote: Engine, order: str, tmp_path: Path) -> None:
    once, marks = _once, tmp_path / "marks"

    class Made(GeneratorBasedBuilder):
        shuffle_on_write = order == "hash"

        def _info(self) -> DatasetInfo:
            return DatasetInfo(features=Features({"a": Value("int64")}))

        def _split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
            return [SplitGenerator(name="train", gen_kwargs={"parts": list(range(6))})]

        def _generate_examples(self, parts: list[int]) -> Iterator[tuple[int, dict[str, Any]]]:
            for part in parts:
                for number in range(50):
                    if marks.exists() and number == 25 and part == 1 and once(marks / "while it generates"):
                        os.kill(os.getpid(), signal.SIGKILL)
                    yield part * 50 + number, {"a": part * 50 + number}
                if marks.exists() and part == 4 and once(marks / "behind its rows"):
                    os.kill(os.getpid(), signal.SIGKILL)

    found = {}
    for name, engine in (("serial", SerialEngine()), ("remote", remote)):
        builder = Made(cache_dir=str(tmp_path / name))
        builder.download_and_prepare(engine=engine, num_shards=3)
        found[name] = {path.name: path.read_bytes() for path in Path(builder.cache_dir).glob("*.arrow")}
        marks.mkdir(exist_ok=True)
    assert len(found["serial"]) == 3 and found["remote"] == found["serial"]
    assert len(list(marks.iterdir())) == 2
    assert not [path for path in (tmp_path / "remote").rglob("*") if "incomplete" in path.name]


def test_files_are_the_same_whatever_engine_writes_them(remote: Engine, tmp_path: Path) -> None:
    Dataset.from_dict({"a": list(range(300))}).save_to_disk(tmp_path / "rows", num_shards=2)
    with config.using(cache_dir=str(tmp_path / "cache")):
        rows = Dataset.load_from_disk(tmp_path / "rows")
        made = rows.map(lambda row: {"b": row["a"] * 2}, engine=remote)
        assert made["b"] == [2 * number for number in range(300)]
        assert rows.filter(lambda row: row["a"] % 7 == 0, engine=remote)["a"] == list(range(0, 300, 7))
        order = rows.map(lambda row: {"c": row["a"] * 7 % 50})  # every value six times
        by_value = order.sort(["c", "a"], reverse=[True, False], engine=remote)
        assert by_value["a"] == order.sort(["c", "a"], reverse=[True, False])["a"]
        with config.using(engine=remote, caching=False):
            assert by_value.sort("c")["a"] == order.select(by_value["a"]).sort("c", engine="serial")["a"]
            flat = by_value.flatten_indices(features=Features({"a": Value("string"), "c": Value("int32")}))
        assert flat._index is None and flat["a"] == [str(number) for number in by_value["a"]]
        assert len(flat.cache_files) == 64
        found: dict[str, dict[str, bytes]] = {}
        for name, engine in (("here", SerialEngine()), ("there", remote)):
            folder = tmp_path / name
            folder.mkdir()
            made.to_csv(folder / "rows.csv", batch_size=100, engine=engine)
            made.to_json(folder / "rows.jsonl", batch_size=100, engine=engine)
            made.to_parquet(folder / "rows.parquet", batch_size=100, engine=engine)
            made.to_tfrecord(folder / "rows.tfrecord", num_shards=2, engine=engine)
            made.save_to_disk(folder / "saved", num_shards=3, engine=engine)
            rows.save_to_disk(folder / "copied", engine=engine)
            stream = made.to_iterable_dataset()
            stream.to_parquet(f"{folder}/parts/", num_shards=3, engine=engine)
            stream.to_json(f"{folder}/texts/", num_shards=3, engine=engine)
            IterableDatasetDict({"a": stream, "b": stream.take(7)}).save_to_disk(
                folder / "splits", num_shards={"a": 3, "b": 1}, engine=engine
            )
            written = [path for path in folder.rglob("*") if path.is_file() and path.name not in {"state.json"}]
            found[name] = {str(path.relative_to(folder)): path.read_bytes() for path in written}
    assert len(found["here"]) > 12 and found["there"] == found["here"]


@pytest.mark.parametrize(("job_bytes", "jobs"), [(1, 8), (40, 4), (1 << 20, 1)])
def test_small_files_are_joined_to_jobs_of_at_least_so_many_bytes(job_bytes: int, jobs: int, tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"{number}.csv").write_text(f"a,b\n{number},xxxxxxxxxxxxxxxx\n", encoding="utf-8")
    with ThreadPoolExecutor(2) as executor, config.using(job_bytes=job_bytes):
        rows = load_dataset(
            "csv", data_files=str(tmp_path / "*.csv"), split="train", cache_dir=str(tmp_path / "cache"), engine=executor
        )
    assert rows["a"] == list(range(8)) and len(rows.cache_files) == jobs


def test_a_folder_that_workers_do_not_see_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(module_state.os.path, "exists", lambda path: "seen" not in str(path) and os.path.lexists(path))
    with ThreadPoolExecutor(1) as executor:
        engine = ExecutorEngine(executor)
        engine.spans_machines = True
        with pytest.raises(ConfigurationError, match=r"does not see the folder .*, where this process combines its results"):
            Dataset.from_dict({"a": [1, 2]}).save_to_disk(tmp_path / "rows", num_shards=2, engine=engine)
    assert not (tmp_path / "rows").exists()


def test_executors_are_engines_as_they_are() -> None:
    rows = Dataset.from_dict({"a": list(range(20))})
    with ThreadPoolExecutor(2) as executor:
        assert rows.map(lambda row: {"a": -row["a"]}, engine=executor)["a"] == [-number for number in range(20)]  # type: ignore[arg-type]
    with config.using(engine="threads"):
        assert isinstance(get_engine(), ThreadEngine)


def _handed_over(folder: Path) -> Dataset:
    Dataset.from_dict({"a": list(range(100)), "text": [str(row) if row % 3 else None for row in range(100)]}).save_to_disk(
        folder, num_shards=2
    )
    return Dataset.load_from_disk(folder).select(range(0, 100, 2))


@pytest.mark.filterwarnings("ignore")  # of ray.data itself
def test_workers_of_ray_read_the_files_of_a_dataset(ray: Engine, tmp_path: Path) -> None:
    ray.open()  # type: ignore[attr-defined]
    rows = _handed_over(tmp_path / "rows")
    found = rows.to_ray(parts=3).take_all()
    assert sorted(found, key=lambda row: row["a"]) == list(rows)
    back = Dataset.from_ray(rows.to_ray(parts=3), cache_dir=tmp_path / "cache")
    assert list(back) == list(rows) and len(back.cache_files) == 3


@pytest.mark.filterwarnings("ignore")  # of dask.dataframe itself
def test_workers_of_dask_read_the_files_of_a_dataset(tmp_path: Path) -> None:
    pytest.importorskip("dask.dataframe")
    rows = _handed_over(tmp_path / "rows")
    frame = rows.to_dask(parts=3)
    assert frame.npartitions == 3
    found = frame.compute(scheduler="synchronous")
    assert found["a"].tolist() == rows["a"] and found["text"].isna().sum() == rows["text"].count(None)
    back = Dataset.from_dask(frame, cache_dir=tmp_path / "cache")
    assert list(back) == list(rows) and len(back.cache_files) == 3


# -- names -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "num_proc", "kind", "workers"),
    [
        (None, None, SerialEngine, 1),
        (None, 1, SerialEngine, 1),
        (None, 3, ProcessEngine, 3),
        ("serial", None, SerialEngine, 1),
        ("threads", 2, ThreadEngine, 2),
        ("processes", None, ProcessEngine, os.cpu_count()),
    ],
)
def test_a_name_and_a_number_choose_an_engine(name: str | None, num_proc: int | None, kind: type, workers: int) -> None:
    found = get_engine(name, num_proc=num_proc)
    assert type(found) is kind
    assert found.workers == workers  # type: ignore[attr-defined]


class _Backwards:
    def __init__(self, workers: int | None = None) -> None:
        self.workers = workers

    def run(self, function: object, jobs: Sequence[int]) -> Iterator[tuple[int, object]]:
        yield from ((index, function(jobs[index])) for index in reversed(range(len(jobs))))  # type: ignore[operator]


def test_an_engine_itself_is_taken_as_it_is() -> None:
    mine = _Backwards()
    assert get_engine(mine, num_proc=4) is mine


def test_an_engine_is_added_by_one_call(tmp_path: Path) -> None:
    made: list[int | None] = []

    def backwards(num_proc: int | None) -> _Backwards:
        made.append(num_proc)
        return _Backwards(num_proc)

    register_engine("mine", backwards)
    try:
        assert type(get_engine("mine", num_proc=3)) is _Backwards
        rows = Dataset.from_dict({"a": [1, 2, 3]})
        assert rows.map(lambda row: {"a": -row["a"]}, engine="mine", num_proc=2)["a"] == [-1, -2, -3]
        (tmp_path / "a.csv").write_text("a\n1\n2\n", encoding="utf-8")
        built: Any = load_dataset(str(tmp_path), split="train", cache_dir=str(tmp_path / "cache"), engine="mine")
        assert built["a"] == [1, 2] and len(made) == 3
    finally:
        del engine_module._ENGINES["mine"]
    with pytest.raises(ConfigurationError, match="Unknown engine 'mine'"):
        get_engine("mine")
    with pytest.raises(ConfigurationError, match="built-in engine"):
        register_engine("threads", backwards)


def test_an_installed_package_can_offer_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    point = EntryPoint("backwards", f"{_Backwards.__module__}:_Backwards", engine_module.GROUP)
    monkeypatch.setattr(EntryPoint, "load", lambda self: _Backwards)
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda group: [point] if group == engine_module.GROUP else [])
    found = get_engine("backwards", num_proc=2)
    assert isinstance(found, _Backwards)
    assert found.workers == 2


@pytest.mark.parametrize("num_proc", [0, -1, 1.5, True, "2"])
def test_a_number_of_workers_below_one_is_refused(num_proc: object) -> None:
    with pytest.raises(ConfigurationError, match=r"num_proc is .*at least 1"):
        get_engine(num_proc=num_proc)  # type: ignore[arg-type]


def test_jobs_that_take_much_longer_than_others_are_named(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(pool, "time", clock)
    pace = pool.JobPace("work")
    for index in range(10):
        pace.begun(index)
    for index in range(1, 9):
        clock.now = float(index)
        pace.ended(index)
    assert not caplog.records
    clock.now = 40.0
    pace.ended(9)
    pace.begun(10)
    clock.now = 41.0
    pace.ended(10)
    assert [record.getMessage() for record in caplog.records] == [
        "work: job 0 has been running for 40 seconds; half of the others took at most 5.0."
    ]


def test_an_address_is_for_engines_that_have_one() -> None:
    register_engine("elsewhere", lambda num_proc, address=None: _Backwards(address))
    try:
        assert get_engine("elsewhere", address="tcp://head:1").workers == "tcp://head:1"  # type: ignore[attr-defined]
    finally:
        del engine_module._ENGINES["elsewhere"]
    with pytest.raises(ConfigurationError, match=r"The engine 'threads' runs on this machine and has no address"):
        get_engine("threads", address="auto")


def test_an_unknown_engine_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ConfigurationError, match=r"Unknown engine 'spark'\. Available engines: 'serial', 'threads', 'processes'"
    ):
        get_engine("spark")


def test_an_object_without_run_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="Unknown engine"):
        get_engine(3)  # type: ignore[arg-type]
