"""`ObstoreTransport`: parts of a file in S3 or Google Cloud, by the package `obstore`, which waits outside of Python.

Each answer of it tells its version.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from datasets_core.errors import DataFilesNotFoundError, DownloadError, MissingDependencyError
from datasets_core.fetch.daemons import Patience, StoppedError
from datasets_core.fetch.range_file import Bytes, FileVersion, Range, check_ranges, check_same
from datasets_core.redact import redact, redact_text

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
    """What `obstore` is told for the options that fsspec takes; None where it does not know the protocol, or one of them.

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
        url: of the file.
        options: as `obstore_options` gives them.

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
        """See `Transport.name`."""
        return redact(self._url)

    @property
    def url(self) -> str:
        """See `Transport.url`."""
        return self._url

    def stat(self, patience: Patience) -> FileVersion:
        """See `Transport.stat`."""
        import obstore

        with _failures(self.name):
            return _version(obstore.head(self._opened(), self._path))

    def get_ranges(
        self, ranges: Sequence[Range], held: FileVersion | None, patience: Patience
    ) -> tuple[list[Bytes], FileVersion]:
        """See `Transport.get_ranges`."""
        found: list[Bytes] = []
        for start, stop in ranges:
            if held is not None and start >= 0:
                check_ranges(self.name, [(start, stop)], held.size)
            data, version = self._get(start, stop, patience)
            held = check_same(self.name, held, version)
            if start >= 0 and len(data) != stop - start:
                check_ranges(self.name, [(start, stop)], version.size)
                raise DownloadError(self.name, f"{len(data):,} bytes came where {stop - start:,} were asked for")
            found.append(data)
        assert held is not None
        return found, held

    def put(self, data: bytes) -> None:
        """See `Transport.put`."""
        import obstore

        with _failures(self.name):
            obstore.put(self._opened(), self._path, data)

    def close(self) -> None:
        """See `Transport.close`; nothing is held open."""

    def _get(self, start: int, stop: int, patience: Patience) -> tuple[Bytes, FileVersion]:
        import obstore

        wanted: Any = {"suffix": -start} if start < 0 else (start, stop)
        try:
            with _failures(self.name):
                answer = obstore.get(self._opened(), self._path, options={"range": wanted})
                version = _version(answer.meta)
                data = bytearray()
                for part in answer.stream(min_chunk_size=_CHUNK_BYTES):
                    data += part
                    patience.told(len(part))
                return memoryview(data).toreadonly(), version
        except DownloadError:
            version = self.stat(patience)  # an empty file has no last bytes, and a short one not those
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
    """Whatever `obstore` raises becomes one error of ours, without secrets; its list of debugging facts is left out."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise DataFilesNotFoundError(f"{self._name} does not exist. Check the address.") from error
        if isinstance(error, Exception) and not isinstance(error, StoppedError):
            reason = redact_text(str(error).partition("\n")[0]).rstrip(".") or type(error).__name__
            raise DownloadError(self._name, reason) from error
