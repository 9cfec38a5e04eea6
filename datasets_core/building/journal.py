"""The finished jobs of an unfinished build, so that the next run takes them over.

One JSON line for the plan, one for each finished job, each on the disk before the next job counts.  A line that was cut by a
crash ends the journal; a shard that is missing or has other bytes makes its job undone.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import json
import os
from dataclasses import asdict
from typing import IO, Any

import pyarrow as pa

from datasets_core.building.jobs import ShardResult
from datasets_core.building.keys import as_json, from_json
from datasets_core.building.sorted_runs import WORDS_BYTES, Run
from datasets_core.features.order_free import Facts
from datasets_core.fetch.checksum import digest_of
from datasets_core.files import disk_errors, sync_folder
from datasets_core.meta.row_blocks import RowBlocks
from datasets_core.store.layout import JOURNAL_NAME
from datasets_core.store.manifest import ShardRecord


class Journal:
    """The journal of one staging folder.

    Args:
        folder: the staging folder.
        plan: the identity of what is being built; finished jobs of another plan do not count.
    """

    def __init__(self, folder: str, plan: str) -> None:
        self.path = os.path.join(folder, JOURNAL_NAME)
        self._folder, self._plan = folder, plan
        self.finished: dict[str, ShardResult] = _finished(self.path, folder, plan)
        self._handle: IO[bytes] | None = None

    def __enter__(self) -> Journal:
        with disk_errors(self.path):
            self._handle = open(self.path, "wb")
        try:
            self._append({"plan": self._plan})
            for result in self.finished.values():
                self._append(_line(result))
            sync_folder(self._folder)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            with contextlib.suppress(OSError):  # of bytes that were refused, as `_append` has told
                self._handle.close()

    def record(self, result: ShardResult) -> None:
        """Have it on the disk that a job is finished."""
        self._append(_line(result))
        self.finished[result.name] = result

    def _append(self, content: dict[str, Any]) -> None:
        assert self._handle is not None
        with disk_errors(self.path):
            self._handle.write(json.dumps(content).encode() + b"\n")
            self._handle.flush()
            os.fsync(self._handle.fileno())


def has_finished_jobs(path: str) -> bool:
    """Whether a journal is there that tells of a finished job, so that another run may go on behind it."""
    try:
        with open(path, "rb") as handle:
            return bool(handle.readline()) and bool(handle.readline())
    except FileNotFoundError:
        return False


def _line(result: ShardResult) -> dict[str, Any]:
    schema = None if result.schema is None else base64.b64encode(result.schema.serialize().to_pybytes()).decode()
    return {
        "job": result.name,
        "shards": [asdict(shard) for shard in result.shards],
        "schema": schema,
        "keys": None if result.keys is None else as_json(result.keys),
        "runs": [asdict(run) for run in result.runs],
        "words": result.words,
        "facts": None if result.facts is None else result.facts.to_json(),
        "denied": list(result.denied),
        "blocks": None if result.blocks is None else result.blocks.to_json(),
    }


def _finished(path: str, folder: str, plan: str) -> dict[str, ShardResult]:
    try:
        with open(path, "rb") as handle:
            lines = handle.read().split(b"\n")[:-1]  # the last line is whole only if a line end follows
    except FileNotFoundError:
        return {}
    finished: dict[str, ShardResult] = {}
    try:
        if not lines or json.loads(lines[0]) != {"plan": plan}:
            return {}
        for line in lines[1:]:
            result = _result(json.loads(line))
            if _is_whole(result, folder):
                finished[result.name] = result
    except (ValueError, KeyError, TypeError, binascii.Error, pa.ArrowException):
        return finished  # what follows a damaged line was written after a crash of the system: not to be trusted
    return finished


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
    return ShardResult(found["job"], shards, schema, keys, runs, found["words"], facts, tuple(found["denied"]), blocks)


def _is_whole(result: ShardResult, folder: str) -> bool:
    files = [(shard.name, shard.size) for shard in result.shards]
    if result.keys is not None:
        files += [(name, count * 24) for name, count in result.keys.runs]
    files += [(run.order, run.order_bytes) for run in result.runs]
    if result.words is not None:
        files.append((result.words, result.rows * WORDS_BYTES))
    return all(os.path.basename(name) == name and _size(os.path.join(folder, name)) == size for name, size in files) and all(
        digest_of(os.path.join(folder, shard.name)).hexdigest() == shard.sha256 for shard in result.shards
    )


def _size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError:
        return -1
