"""`Exchange`: a folder in a store, through which jobs on machines without a common disk exchange their files."""

from __future__ import annotations

import contextlib
import copy
import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, NamedTuple

from datasets_core import files
from datasets_core.building.hooks import Builder
from datasets_core.building.write.jobs import ShardResult, run_attempt
from datasets_core.building.write.runs import WORDS_BYTES
from datasets_core.errors import ConfigurationError, DownloadError
from datasets_core.store.atomic import StagedFolder
from datasets_core.store.commit import again_on_failure, put_file
from datasets_core.store.manifest import temporary_path

_SECRETS = re.compile(r"key|secret|token|password|passwd|credential|sas|connection_string|session", re.IGNORECASE)
_BUILDING = ".building"


class Exchange(NamedTuple):
    """The folder of a build in a store; the names of its files are those of one attempt, and are never used again.

    Attributes:
        url: URL of the folder.
        options: options of its file system, without credentials, which workers have in their environment.
        own: options of this process, including credentials; never sent.
    """

    url: str
    options: Mapping[str, Any]
    own: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, target: str, options: Mapping[str, Any] | None) -> Exchange:
        """Return the folder of a build at a URL.

        Raises:
            ConfigurationError: other processes cannot see what is written there.
        """
        if target.startswith("memory://"):
            raise ConfigurationError(
                f"output_dir={target!r} is the memory of this process, which workers do not see",
                advice="Use a shared folder, a store, or engine='threads'",
                value=target,
            )
        return cls(files.join(target, _BUILDING), _without_secrets(options or {}), options or {})

    def __reduce__(self) -> tuple[Any, ...]:
        return Exchange, (self.url, self.options)

    def _store(self) -> tuple[Any, str]:
        store, root = files.filesystem(self.url, dict(self.options if self.own is None else self.own))
        return store, root.rstrip("/")

    def size(self, name: str) -> int:
        """Return the size of a file; -1 if there is none."""
        store, root = self._store()
        try:
            store.invalidate_cache()
            return int(store.info(f"{root}/{name}")["size"])
        except FileNotFoundError:
            return -1

    def fetch(self, folder: str, names: Iterable[str]) -> None:
        """Fetch files into a local folder, unless they are there."""
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.exists(path):
                store, root = self._store()
                temporary = temporary_path(path)
                again_on_failure(files.join(self.url, name), partial(store.get_file, f"{root}/{name}", temporary))
                os.replace(temporary, path)

    def send(self, folder: str, names: Iterable[str]) -> None:
        """Send files of a local folder to the store."""
        store, root = self._store()
        again_on_failure(self.url, partial(store.makedirs, root, exist_ok=True))
        for name in names:
            path = os.path.join(folder, name)
            put = partial(put_file, store, path, f"{root}/{name}", os.path.getsize(path))
            again_on_failure(files.join(self.url, name), put)

    def discard(self) -> None:
        """Remove the folder and its content."""
        store, root = self._store()
        store.invalidate_cache()
        with contextlib.suppress(FileNotFoundError):
            store.rm(root, recursive=True)


def _without_secrets(options: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: value for name, value in options.items() if not _SECRETS.search(name)}
    return {name: _without_secrets(value) if isinstance(value, Mapping) else value for name, value in kept.items()}


def without_credentials(builder: Builder) -> Builder:
    """Return a copy of a builder for other machines: workers have tokens, keys and passwords in their environment."""
    found = copy.copy(builder)
    changed = {"token": None, "storage_options": _without_secrets(builder.storage_options), "_output_storage_options": None}
    vars(found).update(changed)
    return found


def run_elsewhere(exchange: Exchange, function: Callable[..., ShardResult], job: Any, **how: Any) -> ShardResult:
    """Run a job in a worker that shares no disk with the others.

    Args:
        exchange: the store with the files of other jobs, which also takes those of this one.
        function: runs the job.
        job: a job with `name`, `attempt(token)`, `within(folder)` and `inputs(folder)`.
        how: see `run_attempt`.

    Raises:
        ConfigurationError: the worker has no access to the store.
    """
    with StagedFolder(os.path.join(tempfile.gettempdir(), "datasets_core-jobs")) as staged:
        job = job.within(staged.path)
        try:
            exchange.fetch(staged.path, job.inputs(staged.path))
            result = run_attempt(function, job, **how)
            exchange.send(
                staged.path, [name for name, _ in files_of(result) if os.path.exists(os.path.join(staged.path, name))]
            )
        except DownloadError as error:
            if not error.url.startswith(exchange.url):
                raise
            raise ConfigurationError(
                f"The worker on {socket.gethostname()} cannot use {exchange.url}: {error} Credentials do not travel with jobs: "
                "set them in the environment of the workers, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY for S3."
            ) from error
        return result


def files_of(result: ShardResult) -> list[tuple[str, int]]:
    """Return the names and sizes of the files of a job."""
    found = [(shard.name, shard.size) for shard in result.shards]
    found += small_files_of(result)
    if result.words is not None:
        found.append((result.words, result.rows * WORDS_BYTES))
    return found


def small_files_of(result: ShardResult) -> list[tuple[str, int]]:
    """Return the files of a job that the building process reads: the keys of rows, and the order of sorted runs."""
    found = [] if result.keys is None else [(name, count * 24) for name, count in result.keys.runs]
    return found + [(run.order, run.order_bytes) for run in result.runs]
