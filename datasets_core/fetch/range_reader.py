"""`TransportRanges`: the ranges of one file, merged, fetched side by side, kept on the disk where that is wished.

What a server gives as a whole only is fetched into the cache of downloads, and read there.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from datasets_core.errors import DownloadError, FileChangedError
from datasets_core.fetch.after_fork import renewed_after_fork
from datasets_core.fetch.daemons import SHARED, Job, Patience
from datasets_core.fetch.range_cache import RangeCache
from datasets_core.fetch.range_file import WITNESS_BYTES, Bytes, FileVersion, LocalRanges, Range, check_ranges, check_same
from datasets_core.fetch.range_plan import Merged, cut, merged
from datasets_core.fetch.transports import NoRangesError, Transport

_MOST_EDGES = 256


class TransportRanges:
    """A `RangeFile` that reads by a `Transport`.

    Args:
        transport: the way to it.
        whole: fetches all of it, says so in the log, and where it is; None where that cannot be.
        told: its version, where that is known for good.
    """

    def __init__(
        self, transport: Transport, *, whole: Callable[[], str] | None = None, told: FileVersion | None = None
    ) -> None:
        self._transport, self._whole, self._told = transport, whole, told
        self._held: FileVersion | None = None
        self._begin()

    def _begin(self) -> None:
        self._local: LocalRanges | None = None
        self._sample = (0, b"")  # of what came first: another version would have other bytes there
        self._edges: dict[int, bytes] = {}  # the bytes before a place, of a file without a tag
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Have locks of this process: those who held them are in the one that it was forked from."""
        self._lock, self._whole_lock = threading.Lock(), threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        kept = ("_transport", "_whole", "_told", "_held")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @property
    def name(self) -> str:
        """See `RangeFile.name`."""
        return self._transport.name

    def version(self) -> FileVersion:
        """See `RangeFile.version`."""
        if self._told is not None:
            return self._told
        if self._held is not None:
            return self._held
        try:
            patience = Patience(self.name, 1)
            found = patience.waited_for(SHARED.submit(lambda: self._transport.stat(patience)), SHARED)
            return self._settled(found)
        except NoRangesError as error:
            return self._go_whole(error)

    def hold(self, version: FileVersion) -> None:
        """See `RangeFile.hold`."""
        if self._told is not None:
            check_same(self.name, self._told, version)
        else:
            self._held = version

    def tail(self, count: int) -> Bytes:
        """See `RangeFile.tail`."""
        known = self._told or self._held
        if known is not None:
            start = max(0, known.size - count)
            return self.read([(start, known.size)])[0]
        if self._local is None:
            try:
                found = self._fetched([(-count, 0)])[0]
                assert self._held is not None
                self._sample = max(0, self._held.size - count), bytes(found[:WITNESS_BYTES])
                return found
            except NoRangesError as error:
                self._go_whole(error)
        assert self._local is not None
        return self._local.tail(count)

    def read(self, ranges: Sequence[Range]) -> list[Bytes]:
        """See `RangeFile.read`."""
        known = self._told or self._held
        if known is not None:
            check_ranges(self.name, ranges, known.size)
        if self._local is None:
            try:
                return self._read(ranges)
            except NoRangesError as error:
                self._go_whole(error)
        assert self._local is not None
        return self._local.read(ranges)

    def close(self) -> None:
        """See `RangeFile.close`."""
        self._transport.close()

    # -- fetching ------------------------------------------------------------------------------------------------------

    def _read(self, ranges: Sequence[Range]) -> list[Bytes]:
        plan = merged(ranges)
        parts = [part for each in plan for part in cut(each.start, each.stop)]
        known = dict(zip(parts, self._kept_or_fetched(parts), strict=True))
        found: list[Bytes] = [b""] * len(ranges)
        for each in plan:
            data = _joined([known[part] for part in cut(each.start, each.stop)])
            for number, start, stop in each.ranges:
                found[number] = data if len(data) == stop - start else _slice(data, each, start, stop)
        return found

    def _kept_or_fetched(self, parts: list[Range]) -> list[Bytes]:
        """The bytes of each part, from the disk cache if there is one."""
        cache, version = RangeCache.of_settings(), self._told or self._held
        if version is None or not version.tag:
            return self._compared(parts)
        if cache is None:
            return self._fetched(parts)
        keys = [cache.key(self._transport.url, version.tag, *part) for part in parts]
        found: list[Bytes | None] = [cache.get(key, stop - start) for key, (start, stop) in zip(keys, parts, strict=True)]
        missing = [number for number, data in enumerate(found) if data is None]
        for number, data in zip(missing, self._fetched([parts[number] for number in missing]), strict=True):
            cache.put(keys[number], data)
            found[number] = data
        return [data for data in found if data is not None]

    def _compared(self, parts: list[Range]) -> list[Bytes]:
        """The bytes of each part of a file whose server tells no version: what adjoins known bytes comes with some of them."""
        with self._lock:
            before = [self._edges.get(start, b"") for start, _ in parts]
        wanted = [(start - len(known), stop) for known, (start, stop) in zip(before, parts, strict=True)]
        found: list[Bytes] = []
        for known, data in zip(before, self._fetched(wanted), strict=True):
            if data[: len(known)] != known:
                raise FileChangedError(self.name)
            found.append(memoryview(data)[len(known) :])
        with self._lock:
            for (_, stop), data in zip(parts, found, strict=True):
                self._edges[stop] = bytes(data[-WITNESS_BYTES:])
                if len(self._edges) > _MOST_EDGES:
                    self._edges.pop(next(iter(self._edges)))
        return found

    def _fetched(self, parts: list[Range]) -> list[Bytes]:
        """The bytes of each part, side by side; the first failure calls the others off."""
        groups = [parts] if self._transport.takes_many else [[part] for part in parts]
        begun: list[tuple[Patience, Job[tuple[list[Bytes], FileVersion]]]] = []
        found: list[Bytes] = []
        try:
            for group in groups:  # one by one: those that are begun are called off where one fails
                begun += [self._begun(group)] if group else []
            for patience, job in begun:
                data, version = patience.waited_for(job, SHARED)
                self._settled(version)
                found += data
            if found and not self._sample[1] and parts[0][0] >= 0:
                self._sample = parts[0][0], bytes(found[0][:WITNESS_BYTES])
        except BaseException:
            for patience, job in begun:
                if not job.done.is_set():
                    patience.end()
                    SHARED.leave(job)
            raise
        return found

    def _begun(self, group: list[Range]) -> tuple[Patience, Job[tuple[list[Bytes], FileVersion]]]:
        patience = Patience(self.name, sum(stop - start for start, stop in group))
        held, transport = self._held, self._transport
        return patience, SHARED.submit(lambda: transport.get_ranges(group, held, patience))

    def _settled(self, found: FileVersion) -> FileVersion:
        """Take the version of an answer for the file's, or complain."""
        with self._lock:
            if self._told is not None and self._told.size != found.size:
                raise FileChangedError(
                    self.name, f"it should have {self._told.size:,} bytes, and its server has {found.size:,}"
                )
            self._held = check_same(self.name, self._held, found)
            return self._held

    def _go_whole(self, error: NoRangesError) -> FileVersion:
        """Fetch all of it, and read it on this disk from now on; its version."""
        if self._whole is None:
            advice = "Download it, and give the path"
            raise DownloadError(self.name, "its server gives no parts of it", advice=advice) from error
        with self._whole_lock:
            if self._local is None:
                local = LocalRanges(self._whole(), name=self.name)
                size = local.version().size
                known = self._told or self._held or error.version
                if known is not None and known.size != size:
                    reason = f"it changed while it was read: it had {known.size:,} bytes, and has {size:,} now"
                    raise FileChangedError(self.name, reason)
                start, sample = self._sample
                if bytes(local.read([(start, start + len(sample))])[0]) != sample:
                    raise FileChangedError(self.name)
                self._held = self._held or error.version or FileVersion(size, "")
                self._local = local
            return self._held or FileVersion(0, "")


def _joined(parts: list[Bytes]) -> Bytes:
    return parts[0] if len(parts) == 1 else memoryview(b"".join(parts))


def _slice(data: Bytes, merged: Merged, start: int, stop: int) -> Bytes:
    return memoryview(data)[start - merged.start : stop - merged.start]
