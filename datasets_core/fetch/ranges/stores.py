"""`StoreTransport`: parts of a file in a store, by fsspec: `s3://`, `gs://`, `memory://` and other protocols.

S3 is asked for the version that was read before; the version of files in other stores is checked after each part.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from datasets_core import files
from datasets_core.config import settings
from datasets_core.engines.threads import RetryPolicy, renewed_after_fork
from datasets_core.errors import (
    DataFilesNotFoundError,
    DatasetsCoreError,
    DownloadError,
    FileChangedError,
    MissingDependencyError,
    redact,
    redact_text,
)
from datasets_core.fetch.http import Attempts, TransientError
from datasets_core.fetch.ranges.file import (
    Bytes,
    FileVersion,
    NoRangesError,
    Range,
    StallTimeout,
    StoppedError,
    Transport,
    check_ranges,
    check_same,
)
from datasets_core.fetch.transfer import store_errors

# `ObstoreTransport`: parts of a file in S3 or Google Cloud, by the package `obstore`, which waits outside of Python.


_CHUNK_BYTES = 1 << 20
_PROTOCOLS = {"s3": "s3", "s3a": "s3", "gs": "gs", "gcs": "gs"}
_OPTIONS = {  # what s3fs and gcsfs call it -> obstore
    "s3": {
        "key": "access_key_id",
        "secret": "secret_access_key",
        "token": "session_token",
        "endpoint_url": "endpoint",
        "anon": "skip_signature",
        "region_name": "region",
    },
    "gs": {"anon": "skip_signature"},
}


def obstore_options(url: str, options: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the options of `obstore` for those of fsspec; None if it does not support the protocol, or one of them.

    >>> obstore_options("s3://bucket/a", {"key": "k", "client_kwargs": {"region_name": "eu-west-1"}})
    {'access_key_id': 'k', 'region': 'eu-west-1'}
    >>> obstore_options("memory://a", {}) is None, obstore_options("s3://b/a", {"asynchronous": True}) is None
    (True, True)
    """
    protocol = _PROTOCOLS.get(url.partition("://")[0])
    if protocol is None or "::" in url:
        return None
    flat = {**{name: value for name, value in options.items() if name != "client_kwargs"}, **options.get("client_kwargs", {})}
    known = _OPTIONS[protocol]
    if not set(flat) <= set(known):
        return None
    return {known[name]: value for name, value in flat.items() if value is not None}


class ObstoreTransport:
    """See the module.

    Args:
        url: URL of the file.
        options: the result of `obstore_options`.

    Raises:
        MissingDependencyError: the package is not installed.
    """

    takes_many = False

    def __init__(self, url: str, options: Mapping[str, Any]) -> None:
        self._url, self._options = url, dict(options)
        self._store: Any = None
        self._opened()

    def __getstate__(self) -> dict[str, Any]:
        return {"_url": self._url, "_options": self._options, "_store": None}

    @property
    def name(self) -> str:
        return redact(self._url)

    @property
    def url(self) -> str:
        return self._url

    def stat(self, stall_timeout: StallTimeout) -> FileVersion:
        import obstore

        with _failures(self.name):
            return _version(obstore.head(self._opened(), self._path))

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, stall_timeout: StallTimeout
    ) -> tuple[list[Bytes], FileVersion]:
        found: list[Bytes] = []
        for start, stop in ranges:
            if held is not None and start >= 0:
                check_ranges(self.name, [(start, stop)], held.size)
            data, version = self._get(start, stop, stall_timeout)
            held = check_same(self.name, held, version)
            if start >= 0 and len(data) != stop - start:
                check_ranges(self.name, [(start, stop)], version.size)
                raise DownloadError(self.name, f"{len(data):,} bytes were received instead of the requested {stop - start:,}")
            found.append(data)
        assert held is not None
        return found, held

    def put(self, data: bytes) -> None:
        import obstore

        with _failures(self.name):
            obstore.put(self._opened(), self._path, data)

    def close(self) -> None:
        """See `Transport.close`; nothing is held open."""

    def _get(self, start: int, stop: int, stall_timeout: StallTimeout) -> tuple[Bytes, FileVersion]:
        import obstore

        wanted: Any = {"suffix": -start} if start < 0 else (start, stop)
        try:
            with _failures(self.name):
                answer = obstore.get(self._opened(), self._path, options={"range": wanted})
                version = _version(answer.meta)
                data = bytearray()
                for part in answer.stream(min_chunk_size=_CHUNK_BYTES):
                    data += part
                    stall_timeout.told(len(part))
                return memoryview(data).toreadonly(), version
        except DownloadError:
            version = self.stat(stall_timeout)  # an empty file has no last bytes, and a short one has other ones
            if start < 0 and not version.size:
                return b"", version
            if start >= 0:
                check_ranges(self.name, [(start, stop)], version.size)
            raise

    @property
    def _path(self) -> str:
        return self._url.partition("://")[2].partition("/")[2]

    def _opened(self) -> Any:
        if self._store is None:
            try:
                from obstore.store import from_url
            except ImportError as error:
                raise MissingDependencyError(
                    "obstore", needed_for="The setting stream_transport='obstore'", install="datasets_core[fast]"
                ) from error
            protocol, _, rest = self._url.partition("://")
            place = f"{_PROTOCOLS.get(protocol, protocol)}://{rest.partition('/')[0]}"
            options: Any = dict(self._options)
            if str(options.get("endpoint", "")).startswith("http:"):
                options["client_options"] = {"allow_http": True}
            with _failures(self.name):
                self._store = from_url(place, **options)
        return self._store


def _version(meta: Mapping[str, Any]) -> FileVersion:
    return FileVersion(int(meta["size"]), str(meta.get("e_tag") or meta.get("last_modified") or "").strip('"'))


class _failures:  # noqa: N801 - used as a block
    """Converts errors of `obstore` to an error of this library, without secrets and debugging output."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataFilesNotFoundError(f"{self._name} does not exist", advice="Check the URL", file=self._name) from error
        if isinstance(error, Exception) and not isinstance(error, StoppedError):
            reason = redact_text(str(error).partition("\n")[0]).rstrip(".") or type(error).__name__
            raise DownloadError(self._name, reason) from error


T = TypeVar("T")

_OWN = (DatasetsCoreError, NoRangesError, StoppedError)
_FINAL = (FileNotFoundError, PermissionError, NotImplementedError, *_OWN)
_CONDITIONAL = ("s3", "s3a")  # protocols whose open files are requested with If-Match
_PART_BYTES = 4 << 20
_LEAST_CALL_BYTES, _MOST_CALL_BYTES = 1 << 18, 32 << 20  # limits of the bytes requested in one call of a store
_QUICK_SECONDS, _SLOW_SECONDS = 1.0, 8.0  # of a call: the next requests more, or less


def store_transport(url: str, options: Mapping[str, Any], policy: RetryPolicy | None = None) -> Transport:
    """Return a transport for a file in a store: `obstore` if the setting `stream_transport` selects it and it supports the URL,
    else fsspec.

    Args:
        url: URL of the file.
        options: options for the store, as fsspec takes them.
        policy: how often to retry and how long to wait; from the settings by default.
    """
    if settings().stream_transport == "obstore" and (known := obstore_options(url, options)) is not None:
        return ObstoreTransport(url, known)
    return StoreTransport(url, options, policy=policy)


class StoreTransport:
    """See the module.

    Args:
        url: URL of the file.
        storage_options: options for the store.
        policy: number of tries, and the pauses; default: from the settings.
    """

    def __init__(
        self, url: str, storage_options: Mapping[str, Any] | None = None, *, policy: RetryPolicy | None = None
    ) -> None:
        self._url, self._options, self._policy = url, dict(storage_options or {}), policy
        self._begin()

    def _begin(self) -> None:
        self.forked()
        renewed_after_fork(self)

    def forked(self) -> None:
        """Create locks and a store for this process after a fork: the store of the parent process has its threads there."""
        self._lock = threading.Lock()
        self._found: tuple[Any, str] | None = None
        self._opened: Any = None
        self._call_bytes = _PART_BYTES

    def __getstate__(self) -> dict[str, Any]:
        return {"_url": self._url, "_options": self._options, "_policy": self._policy}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin()

    @property
    def name(self) -> str:
        return redact(self._url)

    @property
    def url(self) -> str:
        return self._url

    @property
    def takes_many(self) -> bool:
        """See `Transport.takes_many`: True for a store that itself waits for many answers at once."""
        with store_errors(self._url):
            store, _ = self._store()
        return bool(store.async_impl) and not self._is_conditional

    def stat(self, stall_timeout: StallTimeout) -> FileVersion:
        return self._tried(self._version, stall_timeout)

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, stall_timeout: StallTimeout
    ) -> tuple[list[Bytes], FileVersion]:
        return self._tried(lambda: self._get_ranges(ranges, held, stall_timeout), stall_timeout)

    def put(self, data: bytes) -> None:
        with store_errors(self._url), files.new_file(self._url, self._options) as out:
            out.write(data)

    def close(self) -> None:
        with self._lock:
            opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    # -- one try -------------------------------------------------------------------------------------------------------

    def _get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, stall_timeout: StallTimeout
    ) -> tuple[list[Bytes], FileVersion]:
        before = held or self._version()
        places = [(max(0, before.size + start), before.size) if start < 0 else (start, stop) for start, stop in ranges]
        check_ranges(self.name, places, before.size)
        found = self._in_pieces(places, stall_timeout)
        is_short = any(len(data) != stop - start for data, (start, stop) in zip(found, places, strict=True))
        version = before
        if not self._is_conditional or is_short:
            version = check_same(self.name, before, self._version())
        if is_short:
            raise OSError("fewer bytes were received than requested")
        return list(found), version

    def _in_pieces(self, places: Sequence[Range], stall_timeout: StallTimeout) -> list[Bytes]:
        """Return the bytes of each range, in calls small enough that a slow store does not appear to stall."""
        found: list[list[Bytes]] = [[] for _ in places]
        for batch in self._batches(places):
            began = time.monotonic()
            wanted = [place for _, place in batch]
            data = self._conditional(wanted) if self._is_conditional else self._plain(wanted)
            for (number, _), part in zip(batch, data, strict=True):
                found[number].append(part)
            stall_timeout.told(sum(map(len, data)))
            seconds = time.monotonic() - began
            if seconds < _QUICK_SECONDS:
                self._call_bytes = min(_MOST_CALL_BYTES, 2 * self._call_bytes)
            elif seconds > _SLOW_SECONDS:
                self._call_bytes = max(_LEAST_CALL_BYTES, self._call_bytes // 4)
        return [parts[0] if len(parts) == 1 else b"".join(parts) for parts in found]

    def _batches(self, places: Sequence[Range]) -> Iterator[list[tuple[int, Range]]]:
        """Yield the parts for each call, as (number of the range, part of it); their size may change from call to call."""
        batch: list[tuple[int, Range]] = []
        left = self._call_bytes
        for number, (start, stop) in enumerate(places):
            while start < stop:
                if not left:
                    yield batch
                    batch, left = [], self._call_bytes
                part = start, min(stop, start + left, start + _PART_BYTES)
                batch.append((number, part))
                start, left = part[1], left - (part[1] - start)
        if batch:
            yield batch

    def _plain(self, places: Sequence[Range]) -> list[bytes]:
        store, inner = self._store()
        if store.async_impl:
            starts, stops = [start for start, _ in places], [stop for _, stop in places]
            found = store.cat_ranges([inner] * len(places), starts, stops, on_error="raise")
            return [bytes(data) for data in found]
        return [bytes(store.cat_file(inner, start=start, end=stop)) if stop > start else b"" for start, stop in places]

    def _conditional(self, places: Sequence[Range]) -> list[bytes]:
        with self._lock:
            if self._opened is None:
                store, inner = self._store()
                self._opened = store.open(inner, "rb")
            opened = self._opened
        try:
            return [bytes(opened._fetch_range(start, stop)) if stop > start else b"" for start, stop in places]
        except OSError as error:
            if type(error).__name__ == "FileExpired" or "PreconditionFailed" in str(error):
                raise FileChangedError(self.name) from error
            raise

    @property
    def _is_conditional(self) -> bool:
        return self._url.partition("://")[0] in _CONDITIONAL and "::" not in self._url

    def _version(self) -> FileVersion:
        """Return size and identity of the current version, ignoring earlier listings."""
        store, inner = self._store()
        store.invalidate_cache(store._parent(inner))
        found = files.entry(self._url, self._options)
        if found is None:
            raise DataFilesNotFoundError(f"{self.name} does not exist", advice="Check the URL", file=self.name)
        if found.size < 0:
            raise NoRangesError(None)
        return FileVersion(found.size, found.identity)

    def _store(self) -> tuple[Any, str]:
        if self._found is None:
            self._found = files.filesystem(self._url, self._options)
        return self._found

    def _tried(self, work: Callable[[], T], stall_timeout: StallTimeout) -> T:
        policy = self._policy or RetryPolicy(settings().max_retries, settings().max_retry_wait_seconds)

        def ask() -> T:
            stall_timeout.told(0)
            try:
                return work()
            except _FINAL as error:
                if isinstance(error, FileNotFoundError) and not isinstance(error, DatasetsCoreError):
                    raise DataFilesNotFoundError(
                        f"{self.name} does not exist", advice="Check the URL", file=self.name
                    ) from error
                if isinstance(error, _OWN):
                    raise
                raise DownloadError(self.name, _why(error)) from error
            except Exception as error:  # a store's own, of whatever class: it may pass
                raise TransientError(_why(error)) from error

        def given_up(error: TransientError, failures: int) -> DownloadError | None:
            return DownloadError(self.name, error.reason) if failures >= policy.tries else None

        def waits(error: TransientError, failures: int) -> None:
            seconds = policy.seconds(failures)
            stall_timeout.pauses(seconds, error.reason)
            policy.wait(seconds, stall_timeout.stop)

        return Attempts(policy, self.name, given_up=given_up, waits=waits).call(ask)


def _why(error: Exception) -> str:
    return redact_text(str(error)).rstrip(".") or type(error).__name__
