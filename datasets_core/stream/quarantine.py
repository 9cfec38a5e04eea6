"""`Quarantine`: the file of rows at which a step failed: which row of which file it was, which step and error, and its values.

Any number of processes write to one file: each adds under a lock what nobody wrote yet, so that a row that is read again, by
whoever goes on from a state, stands there once.
"""

from __future__ import annotations

import json
import logging
import os
import threading
from collections.abc import Mapping
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.files import disk_errors, is_url, local_path, locked, write_atomically
from datasets_core.redact import redact, redact_text
from datasets_core.stream.block import ArrowBlock, Block

if TYPE_CHECKING:
    from datasets_core.stream.node import Delivery

logger = logging.getLogger(__name__)

_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("row", pa.int64()),
        ("at", pa.string()),
        ("step", pa.string()),
        ("error", pa.string()),
        ("message", pa.string()),
        ("values", pa.string()),
    ]
)
_MOST_TEXT = 10_000
_BEGIN = b'{"source": '
MOST_IN_PARQUET = 5000
"""Rows that a Parquet file takes, about."""
MOST_KNOWN = 1_000_000
"""Failures that are remembered, some 90 bytes each."""


class Quarantine:
    """Bad rows, as JSON lines or (`.parquet`) as a Parquet file.

    A Parquet file is written again as a whole by each block that has bad rows, so that it takes some thousands of rows at most:
    those behind them become JSON lines in a file beside it, called as it is with `.jsonl` behind.  A process remembers a
    million failures: those behind them may be written twice, if rows are read again.

    Args:
        path: of the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path if is_url(path) else os.path.abspath(local_path(path))
        self._lock = threading.Lock()
        self._known: set[int] = set()
        self._stamp: tuple[int, int] = (0, 0)
        self._rest: Quarantine | None = None

    def check(self) -> None:
        """Complain about a file that rows cannot be written to.

        Raises:
            ConfigurationError: another kind of file, or one that is not on this machine.
        """
        if is_url(self.path):
            raise ConfigurationError(f"quarantine={redact(self.path)!r} is not on this machine. Give the path of a local file.")
        if not self.path.endswith((".jsonl", ".json", ".ndjson", ".parquet")):
            raise ConfigurationError(f"quarantine={self.path!r} is no file of a known kind. Give a .jsonl or a .parquet file.")

    def write(self, delivery: Delivery, failed: Mapping[int, Exception], step: str) -> None:
        """Write rows that failed, but for those that stand there.

        Raises:
            ConfigurationError: another file is there, which stays as it is.
            DatasetDiskError: the file cannot be written.
        """
        origins = delivery.origins()
        records = []
        for row, error in failed.items():
            name = None if origins is None else redact(origins.names[int(origins.files[row])]) or None
            number = None if origins is None else int(origins.rows[row])
            at = json.dumps(delivery.after(row - 1) if row else delivery.before) if origins is None else None
            record = {"source": name, "row": number, "at": at, "step": step}
            text = redact_text(str(error))[:_MOST_TEXT]
            records.append({**record, "error": _kind(error), "message": text, "values": values_of(delivery.block, row)})
        with self._lock, locked(f"{self.path}.lock"), disk_errors(self.path):
            (self._add_to_parquet if self.path.endswith(".parquet") else self._add_lines)(records)

    def _new(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [record for record in records if self._is_new(_key(record))]

    def _is_new(self, key: int) -> bool:
        """Whether nobody wrote such a row, as far as that is remembered; it is from here on."""
        if key in self._known:
            return False
        if len(self._known) < MOST_KNOWN:
            self._known.add(key)
        return True

    def _add_lines(self, records: list[dict[str, Any]]) -> None:
        with open(self.path, "ab+") as file:
            known, inode = self._stamp
            status = os.fstat(file.fileno())
            if status.st_ino != inode or status.st_size < known:
                known, self._known = 0, set()
            file.seek(known)
            for number, line in enumerate(file):
                if line.endswith(b"\n"):
                    self._is_new(_key(self._record(line, number)))
                    known += len(line)
                    continue
                if line[: len(_BEGIN)] != _BEGIN[: len(line)]:
                    raise self._foreign(f"its last line begins with {_shown(line)}")
                file.truncate(known)  # whoever wrote the last line was killed in the middle of it
            file.seek(known)
            file.write("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in self._new(records)).encode())
            file.flush()
            self._stamp = file.tell(), status.st_ino

    def _record(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            found = json.loads(line)
        except ValueError:
            found = None
        if not isinstance(found, dict) or not set(_SCHEMA.names) <= set(found):
            raise self._foreign(f"it has {_shown(line)}" if number else f"it begins with {_shown(line)}")
        return found

    def _foreign(self, what: str) -> ConfigurationError:
        return ConfigurationError(
            f"quarantine={self.path!r} is there already and holds no rows that failed: {what}. Give the path of a new file."
        )

    def _add_to_parquet(self, records: list[dict[str, Any]]) -> None:
        from pyarrow import parquet  # 20 ms that only this needs

        tables = []
        if os.path.exists(self.path):
            status = os.stat(self.path)
            try:
                names, count = (about := parquet.read_metadata(self.path)).schema.names, about.num_rows
            except pa.ArrowInvalid:
                raise self._foreign("it is no Parquet file") from None
            if names != _SCHEMA.names:
                raise self._foreign(f"it has the columns {', '.join(map(repr, names[:9]))}")
            if (status.st_mtime_ns, status.st_ino) != self._stamp:
                keys = parquet.read_table(self.path, columns=["source", "row", "at", "step"])
                self._known = {_key(record) for record in keys.to_pylist()}
                self._stamp = status.st_mtime_ns, status.st_ino
        else:
            self._known, count = set(), 0
        new = [{**record, "values": json.dumps(record["values"], ensure_ascii=False)} for record in self._new(records)]
        if not new:
            return
        if count >= MOST_IN_PARQUET:  # each time such a file is written again as a whole
            if self._rest is None:
                self._rest = Quarantine(f"{self.path}.jsonl")
                logger.warning("%s has %d rows: further ones are written to %s.", self.path, count, self._rest.path)
            self._rest._add_lines([{**record, "values": json.loads(record["values"])} for record in new])
            return
        if count:
            tables.append(parquet.read_table(self.path, schema=_SCHEMA))
        sink = pa.BufferOutputStream()
        parquet.write_table(pa.concat_tables([*tables, pa.Table.from_pylist(new, _SCHEMA)]), sink)
        write_atomically(self.path, sink.getvalue().to_pybytes())
        status = os.stat(self.path)
        self._stamp = status.st_mtime_ns, status.st_ino


def _key(record: Mapping[str, Any]) -> int:
    """What tells a failure from others, in little memory."""
    told = json.dumps([record.get(name) for name in ("source", "row", "at", "step")])
    return int.from_bytes(blake2b(told.encode(), digest_size=8).digest(), "little")


def _shown(line: bytes) -> str:
    return repr(line[:40].decode("utf-8", "replace").strip())


def _kind(error: Exception) -> str:
    kind = type(error)
    return (
        kind.__qualname__
        if kind.__module__ in ("builtins", "datasets_core.errors")
        else f"{kind.__module__}.{kind.__qualname__}"
    )


def values_of(block: Block, row: int) -> dict[str, Any]:
    """What stands in a row, as JSON has it; what JSON has no form for as text.

    >>> from datasets_core.stream.block import DictBlock
    >>> values_of(DictBlock([{"a": 1, "b": b"xyz"}]), 0)
    {'a': 1, 'b': '<3 bytes>'}
    """
    one = block.slice(row, row + 1)
    found = one.batch.to_pylist() if isinstance(one, ArrowBlock) else one.rows()
    values: dict[str, Any] = _plain(found[0]) if found else {}
    return values


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return value[:_MOST_TEXT]
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if value == value and abs(value) != float("inf") else repr(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return f"<{len(value)} bytes>"
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value[:_MOST_TEXT]]
    return repr(value)[:_MOST_TEXT]
