"""The journal of a build, with its finished jobs, and `JobPlan`: a file from which one of its jobs is run alone."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import reprlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from datasets_core import files
from datasets_core.building.failures import describe
from datasets_core.building.write.exchange import Exchange, files_of, small_files_of
from datasets_core.building.write.jobs import ShardJob, ShardResult, jobs_of_split
from datasets_core.building.write.row_keys import as_json, from_json
from datasets_core.building.write.runs import Run
from datasets_core.config import Config, settings
from datasets_core.errors import ConfigurationError, DatasetDiskError, logger_of, redact
from datasets_core.features.unordered import Facts
from datasets_core.fetch.checksums import digest_of
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.commit import Journal
from datasets_core.store.manifest import JOURNAL_NAME, ShardRecord

logger = logger_of(__name__)

# The finished jobs of an unfinished build, which the next run reuses.


def build_journal(folder: str, plan: str, exchange: Exchange | None = None) -> Journal[ShardResult]:
    """Return the journal of a staging folder, with the finished jobs whose shards are complete.

    Args:
        folder: the staging folder.
        plan: the identity of the build; finished jobs of another plan do not count.
        exchange: has the files instead, and the journal if another machine wrote it.
    """
    path = os.path.join(folder, JOURNAL_NAME)
    if exchange is not None and exchange.size(JOURNAL_NAME) > max(0, _size(path)):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
        exchange.fetch(folder, [JOURNAL_NAME])
    journal = Journal(path, {"plan": plan}, _line, _result, is_lazy=True)
    journal.read()
    journal.entries = [result for result in journal.entries if _is_whole(result, folder, exchange)]
    if exchange is not None:
        exchange.fetch(folder, [name for result in journal.entries for name, _ in small_files_of(result)])
    return journal


_ENDINGS = (".arrow", ".parquet", ".keys", ".order", ".words")  # of the files that jobs write


def remove_unfinished(folder: str, results: Iterable[ShardResult]) -> None:
    """Remove the files of interrupted attempts: no other attempt uses their names and would overwrite them."""
    known = {name for result in results for name, _ in files_of(result)}
    for name in os.listdir(folder):
        if name.endswith(_ENDINGS) and name not in known:
            os.unlink(os.path.join(folder, name))


def has_finished_jobs(path: str) -> bool:
    """Return True if the journal has a finished job, so that another run may resume it."""
    try:
        with open(path, "rb") as handle:
            return bool(handle.readline()) and bool(handle.readline())
    except FileNotFoundError:
        return False


def _line(result: ShardResult) -> dict[str, Any]:
    schema = None if result.schema is None else base64.b64encode(result.schema.serialize().to_pybytes()).decode()
    return {
        "job": result.name,
        "shards": [shard._asdict() for shard in result.shards],
        "schema": schema,
        "keys": None if result.keys is None else as_json(result.keys),
        "runs": [asdict(run) for run in result.runs],
        "words": result.words,
        "facts": None if result.facts is None else result.facts.to_json(),
        "denied": list(result.denied),
        "blocks": None if result.blocks is None else result.blocks.to_json(),
        "final": result.is_final,
    }


def _result(found: dict[str, Any]) -> ShardResult:
    shards = tuple(
        ShardRecord(**{**shard, "batches": tuple((int(rows), int(count)) for rows, count in shard["batches"])})
        for shard in found["shards"]
    )
    schema = None if found["schema"] is None else pa.ipc.read_schema(pa.py_buffer(base64.b64decode(found["schema"])))
    keys = None if found["keys"] is None else from_json(found["keys"])
    runs = tuple(Run(**run) for run in found["runs"])
    facts = None if found["facts"] is None else Facts.from_json(found["facts"])
    blocks = None if found["blocks"] is None else RowBlocks.from_json(found["blocks"])
    denied, is_final = tuple(found["denied"]), bool(found.get("final"))
    return ShardResult(found["job"], shards, schema, keys, runs, found["words"], facts, denied, blocks, is_final)


def _is_whole(result: ShardResult, folder: str, exchange: Exchange | None) -> bool:
    if exchange is not None:  # whose files are whole, or not there
        return all(os.path.basename(name) == name and exchange.size(name) == size for name, size in files_of(result))
    return all(
        os.path.basename(name) == name and _size(os.path.join(folder, name)) == size for name, size in files_of(result)
    ) and all(digest_of(os.path.join(folder, shard.name)).hexdigest() == shard.sha256 for shard in result.shards)


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1


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
        """Write the plan into a folder; return what the user is told about a job that failed."""
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
