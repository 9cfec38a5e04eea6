"""Jobs that travel: `Exchange`, a folder in a store for the files of machines without a common disk; `JobPlan`, a file from
which one job is run alone.
"""

from __future__ import annotations

import base64
import contextlib
import copy
import json
import os
import re
import reprlib
import socket
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from datasets_core import files
from datasets_core.building.failures import describe
from datasets_core.building.hooks import Builder
from datasets_core.building.write.jobs import ShardJob, ShardResult, jobs_of_split, run_attempt
from datasets_core.building.write.runs import WORDS_BYTES
from datasets_core.config import Config, settings
from datasets_core.errors import ConfigurationError, DatasetDiskError, DownloadError, redact
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


# The plan of a build whose job failed, from which each of its jobs is run alone.

_FORM = 1
_shown = reprlib.Repr()
_shown.maxlist, _shown.maxdict, _shown.maxstring, _shown.maxother = 4, 8, 200, 200


@dataclass(frozen=True, slots=True)
class JobPlan:
    """The jobs of a build, numbered through all splits.

    Attributes:
        function: runs a job.
        template: see `jobs_of_split`.
        splits: names and arguments of the splits.
        division: options of `jobs_of_split`.
    """

    function: Callable[[ShardJob], ShardResult]
    template: ShardJob
    splits: Sequence[tuple[str, dict[str, Any]]]
    division: dict[str, Any]

    def jobs(self) -> list[ShardJob]:
        """Return all jobs."""
        made = (jobs_of_split(self.template, name, gen_kwargs, **self.division) for name, gen_kwargs in self.splits)
        return [job for jobs in made for job in jobs]

    def told(self, failed: ShardJob, folder: str, error: BaseException) -> str:
        """Write the plan into a folder; return the note for the error of a job."""
        from datasets_core.engines.pool import versions  # what failed has imported it
        from datasets_core.engines.process import packed

        jobs = self.jobs()
        number = next((number for number, job in enumerate(jobs) if job.name == failed.name), None)
        said = f"Job {number} of {len(jobs)} has the arguments {arguments_of(failed)}"
        if number is None:  # the split was built in one piece
            return f"The job has the arguments {arguments_of(failed)}."
        path = plan_path(folder, self.template)
        content = {
            "job_plan": _FORM,
            "dataset": self.template.builder.label,
            "versions": versions(),
            "jobs": {name: sum(job.split == name for job in jobs) for name, _ in self.splits},
            "failed": {"job": number, "arguments": arguments_of(failed), "error": redact(describe(error))},
        }
        try:
            code = base64.b64encode(packed((settings(), self))).decode()
            os.makedirs(folder, exist_ok=True)
            files.write_atomically(path, json.dumps({**content, "code": code}, indent=1).encode())
        except (OSError, ConfigurationError, DatasetDiskError) as failure:
            return f"{said}. It cannot be written to a file, from which to run it alone: {failure}"
        return f"{said}. To run it alone: datasets-core run-job {path} {number}"

    @classmethod
    def read(cls, path: str) -> tuple[Config, JobPlan]:
        """Return the settings and the plan in a file.

        Raises:
            ConfigurationError: there is no plan there, or it is of other versions.
        """
        from datasets_core.engines.pool import versions  # 3 ms that builds do without
        from datasets_core.engines.process import unpacked

        try:
            with open(path, "rb") as handle:
                found = json.load(handle)
        except FileNotFoundError:
            raise ConfigurationError(f"There is no file {path}", advice="Give the path from the error of the build") from None
        except ValueError:
            found = None
        if not isinstance(found, dict) or found.get("job_plan") != _FORM:
            raise ConfigurationError(f"{path} is not the plan of a build", advice="Give the path from the error of the build")
        if found["versions"] != versions():
            theirs, ours = (", ".join(map(" ".join, each.items())) for each in (found["versions"], versions()))
            raise ConfigurationError(f"{path} was written with {theirs}; here is {ours}", advice="Install the same versions")
        config, plan = unpacked(base64.b64decode(found["code"]))
        return config, plan

    def job(self, number: int) -> ShardJob:
        """Return the job of a number.

        Raises:
            ConfigurationError: there is none.
        """
        jobs = self.jobs()
        if not 0 <= number < len(jobs):
            raise ConfigurationError(f"There is no job {number}", advice=f"Give a number from 0 to {len(jobs) - 1}")
        return jobs[number]


def arguments_of(job: ShardJob) -> str:
    """Return the arguments of a job as text for people: long ones are cut, without secrets."""
    return redact(", ".join(f"{name}={_shown.repr(value)}" for name, value in job.gen_kwargs.items()) or "(none)")


def plan_path(folder: str, template: ShardJob) -> str:
    """Return the path of the plan of a build, in a folder."""
    builder = template.builder
    place = os.path.basename(template.folder).partition(".")[0]
    return os.path.join(folder, f"{builder.dataset_name}-{builder.config.name}-{place[:12]}.json")


def remove_plan(folder: str, template: ShardJob) -> None:
    """Remove the plan of an earlier build that failed."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        os.unlink(plan_path(folder, template))
        with contextlib.suppress(OSError):  # others are there
            os.rmdir(folder)
