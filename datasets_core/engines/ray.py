"""`RayEngine`: jobs as tasks of a Ray cluster."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import weakref
from concurrent.futures import Future
from typing import Any

from datasets_core.engines.pool import Head, RemoteEngine, answer_anywhere, died, folder_of_cluster, look_for
from datasets_core.errors import ConfigurationError
from datasets_core.optional import needed

_END_SECONDS = 30.0  # for jobs that were told to stop
_SMALL_BYTES = 64 << 10  # of a function: more are put into the object store once


class RayEngine(RemoteEngine):
    """Jobs in the workers of a Ray cluster.

    The cluster is that of `ray.init`, if the program has called it; otherwise the one at `address`, in the variable
    `RAY_ADDRESS`, or started by `ray start` on this machine; otherwise a cluster on this machine, which ends with the engine.

    Args:
        workers: number of processors of a local cluster, and of jobs that run at once; None: all.
        address: the address, such as "auto", "10.0.0.1:6379" or "ray://head:10001"; "local" starts a cluster.
        resources: resources that a job needs, as arguments of `ray.remote`: `{"num_cpus": 2, "memory": 4 << 30}`.
        options: options of `ray.init`, such as `runtime_env`.

    Raises:
        ConfigurationError: (on use) there is no cluster at the address.
        MissingDependencyError: Ray is not installed.

    Example:
        >>> with RayEngine(2) as engine:  # doctest: +SKIP
        ...     load_dataset("csv", data_files="many/*.csv", engine=engine)
    """

    def __init__(
        self,
        workers: int | None = None,
        *,
        address: str | None = None,
        resources: dict[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self._ray = needed("ray", "RayEngine", "datasets_core[ray]")
        self._asked, self._address, self._options = workers, address, options
        self._resources = {"num_cpus": 1, **(resources or {})}
        self._ended: weakref.finalize[Any, Any] | None = None
        self._head: tuple[str, Any] = ("", None)
        self.workers = workers or os.cpu_count() or 1

    def open(self) -> None:
        if not self._ray.is_initialized():
            address = self._address or os.environ.get("RAY_ADDRESS") or _started()
            try:
                look_for(address)
                self._connect(address)
            except (ConnectionError, ValueError) as error:
                raise ConfigurationError(
                    f"There is no Ray cluster at {address}: {error}",
                    advice=("Check the address, start one with `ray start --head`, or omit address= to use this machine"),
                ) from error
        if self._asked is None:
            self.workers = max(1, int(self._ray.cluster_resources().get("CPU", 1) / (self._resources["num_cpus"] or 1)))
        self._task = self._ray.remote(_answer_of_attempt)

    def _connect(self, address: str | None) -> None:
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR", "include_dashboard": False}
        if address is not None and address != "local":
            self._ray.init(address=address, **{"log_to_driver": False, **self._options})
            self._ended = weakref.finalize(self, self._ray.shutdown)
            return
        folder = folder_of_cluster("ray", _short())
        self._ended = weakref.finalize(self, _end_local, self._ray, folder)
        local = {"num_cpus": self.workers, "_temp_dir": folder, **quiet, **self._options}
        try:
            self._ray.init(address="local", **local)
        except BaseException:
            self.close()
            raise

    def _start(self, function: Any, head: Head, index: int, job: Any, retries: int) -> Future[Any]:
        if self._head[0] != head[0]:
            self._head = head[0], head if len(head[3]) <= _SMALL_BYTES else self._ray.put(head)
        options = {**self._resources, "max_retries": retries, "name": function.label}
        task = self._task.options(**options).remote(self._head[1], function.pack(job))
        future: Future[Any] = Future()
        future.set_running_or_notify_cancel()
        future.task = task  # type: ignore[attr-defined]
        task.future().add_done_callback(lambda inner: self._over(inner, future, index, retries))
        return future

    def _over(self, inner: Any, future: Future[Any], index: int, retries: int) -> None:
        errors = self._ray.exceptions
        lost = (errors.WorkerCrashedError, errors.NodeDiedError, errors.OutOfMemoryError)
        error: Any = InterruptedError() if inner.cancelled() else inner.exception()
        if error is None:
            attempt, found = inner.result()
            self.retried += attempt
            future.set_result(found)
        elif isinstance(error, (*lost, errors.ObjectLostError)):
            lines = str(error).strip().splitlines()
            future.set_exception(died(lines[0] if lines else type(error).__name__, index, retries))
        elif isinstance(error, errors.LocalRayletDiedError):
            future.set_exception(died("Ray's own process on this machine has ended", index, 0))
        elif isinstance(error, errors.RayTaskError):
            future.set_exception(error.as_instanceof_cause())
        else:
            future.set_exception(error)

    def _end(self, run: str, begun: set[Future[Any]]) -> None:
        self._head = ("", None)
        tasks = [future.task for future in tuple(begun)]  # type: ignore[attr-defined]
        for task in tasks:
            self._ray.cancel(task, force=True)
        if tasks:
            self._ray.wait(tasks, num_returns=len(tasks), timeout=_END_SECONDS, fetch_local=False)

    def close(self) -> None:
        """End a local cluster, or disconnect from another one; a cluster that the program itself has joined stays connected."""
        if self._ended is not None:
            self._ended()
            self._ended = None


def _answer_of_attempt(head: Head, job: bytes) -> tuple[int, Any]:
    """Return the number of attempts at the job that failed before, and its answer."""
    import ray

    core = getattr(getattr(ray, "_private", None), "worker", None)
    ask = getattr(getattr(getattr(core, "global_worker", None), "core_worker", None), "get_current_task_attempt_number", int)
    return ask(), answer_anywhere(head, job)


_answer_of_attempt.__module__ = "__main__"  # see `answer_anywhere`


def _started() -> str | None:
    """Return the address of the cluster that `ray start` started on this machine; None if it has ended."""
    path = os.path.join(tempfile.gettempdir(), "ray", "ray_current_cluster")
    with contextlib.suppress(OSError, ValueError), open(path) as file:
        address = file.read().strip()
        look_for(address or None)
        return address or None
    return None


def _short() -> str | None:
    """Return a folder whose name leaves room for the names of sockets below it, 107 bytes in all; None: the usual one."""
    return "/tmp" if len(tempfile.gettempdir()) > 16 and os.access("/tmp", os.W_OK) else None


def _end_local(ray: Any, folder: str) -> None:
    ray.shutdown()
    shutil.rmtree(folder, ignore_errors=True)  # sockets, logs and spilled objects
