"""`DaskEngine`: jobs as tasks of a Dask cluster."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import time
import weakref
from collections import deque
from concurrent.futures import CancelledError, Future
from typing import Any

from datasets_core.engines.deadline import RETRIES
from datasets_core.engines.pool import Head, RemoteEngine, answer_anywhere, died, folder_of_cluster, is_running, look_for
from datasets_core.engines.threads import Daemons
from datasets_core.errors import ConfigurationError, logger_of
from datasets_core.optional import needed

logger = logger_of(__name__)

_SMALL_BYTES = 16 << 10  # of a function: more are a task of their own, which all jobs depend on
_LOOK_SECONDS, _GRACE_SECONDS, _TELL_SECONDS = 0.02, 1.0, 60.0
_IDLE = "300 s"  # after which a local cluster ends whose driver was killed


class DaskEngine(RemoteEngine):
    """Jobs in the workers of a Dask cluster.

    The cluster is that of `client`, or the one at `address`, in `DASK_SCHEDULER_ADDRESS`, or of the program's own client, if
    there is one; otherwise a cluster on this machine, which ends with the engine.  The scheduler's setting
    `distributed.scheduler.allowed-failures` limits how often a job is run again after its worker died.

    Args:
        workers: number of processes of a local cluster, and of jobs that run at once; None: all processors, or all workers.
        address: address of the scheduler, such as "tcp://10.0.0.1:8786".
        client: a `distributed.Client`, which stays open.
        allowed_failures: how often a local cluster runs a job again after its worker died.
        options: options of each task, as for `Client.submit`: `resources={"GPU": 1}`, `priority=1`.

    Raises:
        ConfigurationError: (on use) there is no scheduler at the address.
        MissingDependencyError: `distributed` is not installed.

    Example:
        >>> with DaskEngine(2) as engine:  # doctest: +SKIP
        ...     load_dataset("csv", data_files="many/*.csv", engine=engine)
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        address: str | None = None,
        client: Any = None,
        allowed_failures: int = RETRIES,
        **options: Any,
    ) -> None:
        self._distributed = needed("distributed", "DaskEngine", "datasets_core[dask]")
        self._asked, self._address, self._options = workers, address, options
        self._client: Any = client
        self._ended: weakref.finalize[Any, Any] | None = None
        self._head: tuple[str, Any] = ("", None)
        self._is_local, self._allowed_failures = False, allowed_failures
        self._heard: Any = None  # the client whose events are counted
        self._finished: deque[tuple[Any, Future[Any], int]] = deque()
        self._gathering = Daemons("datasets_core-dask", lambda: 1)
        self.workers = workers or os.cpu_count() or 1

    def open(self) -> None:
        if self._client is not None and self._ended is not None and self._client.status != "running":
            self.close()  # a local cluster that was idle for too long
        if self._client is None:
            self._connect()
        if self._asked is None:
            threads: dict[str, int] = self._client.nthreads()  # pyright: ignore[reportOptionalMemberAccess]
            self.workers = max(1, sum(threads.values()))
        if self._heard is not self._client:
            self._heard = self._client
            self._client.subscribe_topic("all", self._hear)  # pyright: ignore[reportOptionalMemberAccess]

    def _hear(self, event: tuple[float, Any]) -> None:
        """Count the jobs of a worker that is gone, which run again elsewhere."""
        said = event[1]
        if isinstance(said, dict) and said.get("action") == "remove-worker":
            self.retried += sum(isinstance(key, tuple) and key[0] == self._head[0] for key in said.get("processing-tasks", ()))

    def _connect(self) -> None:
        config = needed("dask.config", "DaskEngine", "datasets_core[dask]")
        address = self._address or config.get("scheduler-address", None)
        if address is None:
            with contextlib.suppress(ValueError):  # the program has none
                self._client = self._distributed.Client.current()
                return
            self._start_local()
            return
        try:
            look_for(address)
            client = self._distributed.Client(address, set_as_default=False)
        except (OSError, ValueError) as error:
            raise ConfigurationError(
                f"There is no Dask scheduler at {address}: {error}",
                advice="Check the address, start one with `dask scheduler`, or omit address= to use this machine",
            ) from error
        self._client = client
        self._ended = weakref.finalize(self, client.close)

    def _start_local(self) -> None:
        """Start the scheduler and the workers as programs, which need no `if __name__ == "__main__"`."""
        from distributed.deploy.subprocess import SubprocessCluster  # part of what was imported

        folder = folder_of_cluster("dask")
        file = os.path.join(folder, "scheduler.json")
        rules: Any = {"allowed_failures": self._allowed_failures, "idle_timeout": _IDLE, "scheduler_file": file}
        no_address: Any = None  # which the type of the argument forgets
        cluster = SubprocessCluster(
            n_workers=self.workers,
            threads_per_worker=1,
            dashboard_address=no_address,
            scheduler_kwargs=rules,
            worker_kwargs={"local_directory": folder, "memory_limit": 0, "dashboard": False},
            silence_logs=logging.CRITICAL,
        )
        self._client, self._is_local = self._distributed.Client(cluster, set_as_default=False), True
        self._ended = weakref.finalize(self, _end_local, self._client, cluster, folder)
        self._client.wait_for_workers(self.workers)

    def _start(self, function: Any, head: Head, index: int, job: Any, retries: int) -> Future[Any]:
        if self._head[0] != head[0]:
            self._head = head[0], head if len(head[3]) <= _SMALL_BYTES else self._client.submit(tuple, head, key=head[0])
        call = self._client.submit(
            answer_anywhere, self._head[1], function.pack(job), key=(head[0], index), pure=False, **self._options
        )
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        future.task = call  # type: ignore[attr-defined]
        call.add_done_callback(lambda call: self._over(call, future, index))
        return future

    def _over(self, call: Any, future: Future[Any], index: int) -> None:
        """Receive the outcome of a job; results that are ready are fetched together."""
        if call.status == "finished":
            self._finished.append((call, future, index))
            self._gathering.submit(self._gather)
        else:
            self._settle(call, future, index)

    def _settle(self, call: Any, future: Future[Any], index: int) -> None:
        """Receive the outcome of a single job, also if its result was lost with the worker and is computed again."""
        try:
            future.set_result(call.result())
        except self._distributed.KilledWorker as error:
            future.set_exception(died("the scheduler allows no more deaths of workers", index, error.allowed_failures))
        except CancelledError:
            future.set_exception(died("the scheduler lost the job", index, 0))
        except Exception as error:
            future.set_exception(error)

    def _gather(self) -> None:
        taken = [self._finished.popleft() for _ in range(len(self._finished))]
        try:
            found = self._client.gather([call for call, _, _ in taken]) if taken else []
        except (Exception, CancelledError):  # of one of them
            found = [None] * len(taken)
        for (call, future, index), answer in zip(taken, found, strict=True):
            if answer is None:
                self._settle(call, future, index)
            else:
                future.set_result(answer)

    def _end(self, run: str, begun: set[Future[Any]]) -> None:
        self._head = ("", None)
        calls = [future.task for future in tuple(begun)]  # type: ignore[attr-defined]
        if not calls:
            return
        self._client.cancel(calls, force=True)
        since = told = time.monotonic()
        while busy := [place for place, found in self._client.run(is_running, run, on_error="return").items() if found is True]:
            if self._is_local and time.monotonic() >= since + _GRACE_SECONDS:
                self._client.restart_workers(busy)  # processes that are ours alone
            elif time.monotonic() >= told + _TELL_SECONDS:
                told = time.monotonic()
                logger.warning("Waiting for jobs of a finished run that are still running on %s.", ", ".join(busy))
            time.sleep(_LOOK_SECONDS)

    def close(self) -> None:
        """End a local cluster, or disconnect from another one; a client of the program stays open."""
        if self._ended is not None:
            self._ended()
            self._ended = self._client = None


def _end_local(client: Any, cluster: Any, folder: str) -> None:
    client.close()
    try:
        cluster.close()
    except KeyError as error:  # Dask lost count of a worker that died while it started; all processes have ended by now
        logger.info("The local cluster of Dask has ended with %r.", error)
    shutil.rmtree(folder, ignore_errors=True)
