"""`Quarantine`: the file of rows at which a step failed: which row of which file it was, which step and error, and its values.

Any number of processes write to one file: each adds under a lock what nobody wrote yet, so that a row that is read again, by
whoever goes on from a state, stands there once.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from datasets_core.errors import ConfigurationError
from datasets_core.files import disk_errors, is_url, local_path, locked, write_atomically
from datasets_core.redact import redact, redact_text
from datasets_core.stream.block import ArrowBlock, Block

if TYPE_CHECKING:
    from datasets_core.stream.node import Delivery

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


class Quarantine:
    """Bad rows, as JSON lines or (`.parquet`) as a Parquet file.

    Args:
        path: of the file.
    """

    def __init__(self, path: str) -> None:
        self.path = path if is_url(path) else os.path.abspath(local_path(path))
        self._lock = threading.Lock()
        self._known: set[tuple[Any, ...]] = set()
        self._stamp: tuple[int, int] = (0, 0)

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
        """Write rows that failed, but for those that stand there."""
        origins = delivery.origins()
        records = []
        for row, error in failed.items():
            name = None if origins is None else redact(origins.names[int(origins.files[row])]) or None
            number = None if origins is None else int(origins.rows[row])
            at = json.dumps(delivery.after(row - 1) if row else delivery.before) if origins is None else None
            record = {"source": name, "row": number, "at": at, "step": step}
            text = redact_text(str(error))[:_MOST_TEXT]
            records.append({**record, "error": _kind(error), "message": text, "values": values_of(delivery.block, row)})
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with self._lock, locked(f"{self.path}.lock"), disk_errors(self.path):
            (self._add_to_parquet if self.path.endswith(".parquet") else self._add_lines)(records)

    def _new(self, records: list[dict[str, Any]]) -> list[dict[str, Any]]:
        found = []
        for record in records:
            if (key := _key(record)) not in self._known:
                self._known.add(key)
                found.append(record)
        return found

    def _add_lines(self, records: list[dict[str, Any]]) -> None:
        with open(self.path, "ab+") as file:
            known, inode = self._stamp
            status = os.fstat(file.fileno())
            if status.st_ino != inode or status.st_size < known:
                known, self._known = 0, set()
            file.seek(known)
            data = file.read()
            whole = data.rfind(b"\n") + 1
            if whole < len(data):  # whoever wrote the last line was killed in the middle of it
                file.truncate(known + whole)
            self._known.update(_key(json.loads(line)) for line in data[:whole].splitlines())
            file.write("".join(f"{json.dumps(record, ensure_ascii=False)}\n" for record in self._new(records)).encode())
            file.flush()
            self._stamp = file.tell(), status.st_ino

    def _add_to_parquet(self, records: list[dict[str, Any]]) -> None:
        from pyarrow import parquet  # 20 ms that only this needs

        tables = []
        if os.path.exists(self.path):
            status = os.stat(self.path)
            tables.append(parquet.read_table(self.path, schema=_SCHEMA))
            if (status.st_mtime_ns, status.st_ino) != self._stamp:
                self._known = {_key(record) for record in tables[0].drop_columns(["values"]).to_pylist()}
        else:
            self._known = set()
        new = [{**record, "values": json.dumps(record["values"], ensure_ascii=False)} for record in self._new(records)]
        if not new:
            return
        sink = pa.BufferOutputStream()
        parquet.write_table(pa.concat_tables([*tables, pa.Table.from_pylist(new, _SCHEMA)]), sink)
        write_atomically(self.path, sink.getvalue().to_pybytes())
        status = os.stat(self.path)
        self._stamp = status.st_mtime_ns, status.st_ino


def _key(record: Mapping[str, Any]) -> tuple[Any, ...]:
    return record.get("source"), record.get("row"), record.get("at"), record.get("step")


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
