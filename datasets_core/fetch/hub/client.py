"""`Hub`: the Hugging Face Hub for one user, and the commits of its datasets, from the Hub or the hub cache.

`huggingface_hub` is used only here, and imported with the network: cached data is read without it.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urljoin, urlsplit

from datasets_core import files
from datasets_core._version import __version__
from datasets_core.config import settings
from datasets_core.engines.threads import RetryPolicy, done_by, in_thread, pause_asked
from datasets_core.errors import (
    ConfigurationError,
    DatasetsCoreError,
    DisabledRepositoryError,
    DownloadError,
    ForbiddenRepositoryError,
    GatedRepositoryError,
    HubError,
    HubUnreachableError,
    InvalidTokenError,
    OfflineError,
    RepositoryNotFoundError,
    RevisionNotFoundError,
    logger_of,
    redact,
)
from datasets_core.fetch.http import Attempts, Credentials, TransientError, followed, origin_of, proxied, transport_failures
from datasets_core.fetch.hub.repository import HubCache, HubCommit, HubFile, check_case, listed_files, malformed, shown
from datasets_core.hub_urls import DEFAULT_REVISION, hub_url, is_commit, is_inner_path, is_repo_id

if TYPE_CHECKING:
    from huggingface_hub import CommitInfo as CommitInfo
    from huggingface_hub import HfApi

    from datasets_core.fetch.checksums import DownloadConfig


# Refusals of a Hub: status codes and error headers as errors of the library.


_BAD_TOKEN = "Invalid credentials in Authorization header"
_DISABLED = "Access to this resource is disabled."


def refusal(
    status: int,
    headers: Mapping[str, str],
    *,
    repo_id: str,
    endpoint: str,
    revision: str | None = None,
    token: str | None = None,
    known: Iterable[str] = (),
) -> DatasetsCoreError:
    """Return the error for a refused request to the Hub.

    Args:
        status: the status code.
        headers: headers of the response, by lower-case names.
        repo_id: the requested repository.
        endpoint: the address of the Hub.
        revision: the requested revision, if any.
        token: the token of the request; it is removed from messages, even if the server repeats it.
        known: revisions of the repository that were requested before.

    >>> str(refusal(404, {"x-error-code": "RevisionNotFound"}, repo_id="a/b", endpoint="https://hub", revision="v9"))
    "The Hub dataset 'a/b' has no revision 'v9'. Give a branch, a tag or a full commit hash as revision=."
    """
    code, said = headers.get("x-error-code"), headers.get("x-error-message", "")
    if code == "RevisionNotFound":
        return RevisionNotFoundError(repo_id, revision or "main", known=known, status=status)
    if code == "GatedRepo":
        page = f"{endpoint}/datasets/{repo_id}"
        return GatedRepositoryError(repo_id, token_sent=token is not None, page=page, status=status)
    if said == _DISABLED:
        return DisabledRepositoryError(repo_id, "is disabled", "Ask its owner, or the Hub", status=status)
    if status == 401 and said == _BAD_TOKEN:
        return InvalidTokenError("The Hub does not accept the token", repo_id=repo_id, status=status)
    if code == "RepoNotFound" or (code is None and status in (401, 404)):
        return RepositoryNotFoundError(repo_id, token_sent=token is not None, endpoint=endpoint, status=status)
    reason = f"is refused: the Hub returned {status}{_shown(code, said, token)}"
    if status in (401, 403):
        return ForbiddenRepositoryError(repo_id, reason, "Check the permissions of the token, or ask its owner", status=status)
    return HubError(repo_id, reason, "Check the name, the revision and HF_ENDPOINT", revision=revision, status=status)


def _shown(code: str | None, said: str, token: str | None) -> str:
    text = said or code or ""
    if token:
        text = text.replace(token, "***")
    return f" ({ascii(text)[1:-1][:200]})" if text else ""


# Requests to a Hub's API: a GET with redirects, retried until it is answered, with the token only for the origin of
# the Hub.


logger = logger_of(__name__)

_TRY_AGAIN = {408, 429, 500, 502, 503, 504}
_MOST_REFUSED = 2  # tries of a server that does not accept connections
_MOST_BODY_BYTES = 1 << 28  # size limit of a response; a page of a listing has a thousandth of it
_LEAST_BYTES_PER_SECOND = 16 << 10  # slower responses are treated as silent
_MOST_ITEMS = 1_000_000  # each takes half a kilobyte of memory
_GLANCE_SECONDS = 0.2  # interval at which a waiting thread checks whether its result is still needed
_SPARE_PAGES, _LEAST_ITEMS = 200, 10  # limit of the pages of a listing: these, and one for so many items


class UnansweredError(Exception):
    """All tries failed; never shown to the user.

    Args:
        reason: what happened, without secrets.
        status: the status code, if the server responded.
    """

    def __init__(self, reason: str, *, status: int | None = None) -> None:
        self.reason, self.status = reason, status
        super().__init__(reason)


@dataclass(frozen=True, slots=True)
class HubAnswer:
    """The response of a Hub.

    Attributes:
        url: the final URL.
        status: the HTTP status code.
        headers: by lower-case names.
        body: the whole body.
        following: the URL of the next page, if there is one.
    """

    url: str
    status: int
    headers: Mapping[str, str]
    body: bytes
    following: str | None = None

    def has_end(self) -> bool:
        """Return True if the body ends like a list or an object; a truncated one does not.

        >>> HubAnswer("https://hub", 200, {}, b'{"sha": "ab').has_end()
        False
        """
        return self.body.rstrip()[-1:] in (b"]", b"}")

    def json(self, repo_id: str) -> Any:
        """Return the body as a value.

        Raises:
            HubError: the body is not valid JSON.
        """
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            found = f"{len(self.body)} bytes of {self.headers.get('content-type')!a}"
            raise malformed(repo_id, f"has a response with {found} instead of JSON at {redact(self.url)}") from error


@dataclass(frozen=True, slots=True)
class HubRequests:
    """Requests of one user.

    Attributes:
        session: returns the connections, a client of `httpx2`.
        credentials: the user's, and the origin to which they may be sent.
        agent: the user agent.
        policy: number of tries, and the pauses between them.
    """

    session: Callable[[], Any]
    credentials: Credentials
    agent: str
    policy: RetryPolicy

    def answer(self, url: str, wait_limit: Callable[[], float | None] = lambda: None) -> HubAnswer:
        """Send a GET request and return the answer.  A busy Hub is retried by the policy; a silent one only for a short time.

        Args:
            url: the URL.
            wait_limit: returns the limit in seconds of all pauses that the Hub requires, called at the first; None: twice the
                longest pause of the policy.

        Raises:
            UnansweredError: no response.
            DownloadError: a redirect is not followed, or the response is endless.
        """
        seconds, begun, waited = settings().hub_timeout_seconds, time.monotonic(), 0.0
        end = begun + seconds

        def ask() -> HubAnswer:
            files.check()
            answer = followed(url, self.credentials, lambda here: self._sent(here, end))
            if answer.status in _TRY_AGAIN:
                reason = f"it answers {answer.status}"
                raise TransientError(reason, status=answer.status, retry_after=pause_asked(answer.headers))
            return answer

        def is_waited_for(error: TransientError) -> bool:
            return error.retry_after is not None or error.status == 429  # the server responded, with a reason

        def given_up(error: TransientError, failures: int) -> UnansweredError | None:
            most = _MOST_REFUSED if error.is_unreachable else self.policy.tries
            is_over = time.monotonic() >= end and not is_waited_for(error)
            return UnansweredError(error.reason, status=error.status) if failures >= most or is_over else None

        def waits(error: TransientError, failures: int) -> None:
            nonlocal waited, end
            if not is_waited_for(error):
                self.policy.wait(self.policy.seconds(failures, within=(end - time.monotonic()) / 2))
                return
            length, given = self.policy.seconds(failures, error.retry_after), wait_limit()
            waited += length
            if waited > (2 * self.policy.longest_pause_seconds if given is None else given):
                raise UnansweredError(error.reason, status=error.status) from error
            self.policy.wait(length)
            end = time.monotonic() + seconds
            end = end if given is None else min(end, begun + given + seconds)

        return Attempts(self.policy, redact(url), given_up=given_up, waits=waits).call(ask)

    def _sent(self, url: str, end: float) -> HubAnswer:
        headers = {"User-Agent": self.agent}
        if self.credentials.origin == origin_of(url):
            headers.update(self.credentials.headers)
        left = end - time.monotonic()
        if left <= 0:
            raise TransientError("the server does not respond")
        with transport_failures():
            session = self.session()
            request = session.build_request("GET", url, headers=headers, timeout=left)
            try:  # in a thread: name resolution has no time limit of its own
                response = done_by(end, lambda: session.send(request, stream=True, follow_redirects=False))
            except files.Overdue as error:
                files.check()
                raise TransientError("the server does not respond") from error
            try:
                body = _body(response, url, end)
            finally:
                response.close()
        named = {name.lower(): value for name, value in response.headers.items()}
        return HubAnswer(url, response.status_code, named, body, response.links.get("next", {}).get("url"))


def _body(response: Any, url: str, end: float) -> bytes:
    """Return a whole body; the time limit is extended while data arrives."""
    body, is_over = bytearray(), threading.Event()

    def read() -> None:
        for chunk in response.iter_bytes():
            body.extend(chunk)
            if is_over.is_set():
                return
            if len(body) > _MOST_BODY_BYTES:
                raise DownloadError(redact(url), f"the response has more than {_MOST_BODY_BYTES:,} bytes")

    reading = in_thread(read, "hub_body")
    try:
        while not reading.done():
            files.check()
            left = end + len(body) / _LEAST_BYTES_PER_SECOND - time.monotonic()
            if left <= 0:
                raise TransientError("the server does not respond, or sends too slowly")
            reading.wait(min(left, _GLANCE_SECONDS))
    finally:
        is_over.set()
    reading.result()
    return bytes(body)


def paged(ask: Callable[[str], HubAnswer], url: str, repo_id: str) -> Iterator[Any]:
    """Yield the pages of a list, as long as they are on one origin.

    Args:
        ask: returns the response for a URL.
        url: the first page.
        repo_id: the repository of the list.

    Raises:
        HubError: the response is not a list, or is endless.
    """
    following: str | None = url
    seen: set[str] = set()
    count = 0
    while following is not None:
        if following in seen:
            raise malformed(repo_id, "has a listing with a cycle of pages")
        seen.add(following)
        answer = ask(following)
        items = answer.json(repo_id)
        if not isinstance(items, list):
            raise malformed(repo_id, f"has {shown(items)} as its listing")
        count += len(items)
        if count > _MOST_ITEMS:
            advice = "Ask its owner to pack them, or download the files you need and load their folder"
            raise HubError(repo_id, f"has more than {_MOST_ITEMS:,} files and folders, the limit of a listing", advice)
        yield from items
        if len(seen) > _SPARE_PAGES + count // _LEAST_ITEMS:
            raise malformed(repo_id, f"has an endless listing: {len(seen)} pages with {count} files")
        following = None if answer.following is None else _next_page(url, answer, repo_id)


def _next_page(first: str, answer: HubAnswer, repo_id: str) -> str:
    """Return the next page, at the origin of the first: a mirror may return URLs of the original Hub."""
    link = answer.following or ""
    try:
        link = urljoin(answer.url, link)
        if origin_of(link) == origin_of(first):
            return link
    except (DownloadError, ValueError) as error:
        raise malformed(repo_id, f"has a listing that continues at {ascii(redact(link))[:200]}") from error
    begin, there = urlsplit(first), urlsplit(link)
    if not begin.path.endswith(there.path):
        raise malformed(repo_id, f"has a listing that continues at {ascii(redact(link))[:200]}, a different host")
    return begin._replace(query=there.query).geturl()


def check_endpoint(endpoint: str) -> None:
    """Check the URL of a Hub.

    Raises:
        ConfigurationError: the value is not an http(s) URL.
    """
    try:
        origin_of(endpoint)
    except DownloadError as error:
        raise ConfigurationError(
            f"The endpoint {redact(endpoint)!r} of the Hub is not an http(s) URL", advice="Fix HF_ENDPOINT or hub_endpoint"
        ) from error


def checked_token(token: str) -> str:
    """Return the token if it is valid in a header; otherwise the error of the HTTP client would contain it.

    Raises:
        InvalidTokenError: the token is invalid.
    """
    text = token.strip()
    if not text or not text.isascii() or not text.isprintable() or " " in text:
        what = "is empty" if not text else "has invalid characters (a space, a line break or a non-ASCII letter)"
        raise InvalidTokenError(
            f"The token for the Hub {what}", advice="Fix HF_TOKEN or token=, or pass token=False if none is needed"
        )
    return text


OFFLINE_ADVICE = "Unset HF_DATASETS_OFFLINE and HF_HUB_OFFLINE to access the Hub"


class Hub:
    """The Hub at one endpoint, for one user.

    A pickled copy of it has no token of its own: it uses the token with which the user is logged in, if any.
    A token given by `token=` reaches the workers in the `DownloadConfig` of a builder or of a stream, and is then part
    of their pickles.

    Args:
        endpoint: the URL of the Hub.
        cache: the hub cache.
        token: the user's token; True for that of the login, None for the same if there is one, False for none.
        policy: number of tries, and the pauses between them.
        local_only: True to send no requests.
        user_agent: added to that of the library.
        proxies: scheme → URL of a proxy; default: those of the environment.

    >>> Hub("https://huggingface.co", HubCache("/hub"), token="hf_secret")
    Hub('https://huggingface.co')
    """

    def __init__(
        self,
        endpoint: str,
        cache: HubCache,
        *,
        token: str | bool | None = None,
        policy: RetryPolicy | None = None,
        local_only: bool = False,
        user_agent: str | None = None,
        proxies: Mapping[str, str] | None = None,
    ) -> None:
        check_endpoint(endpoint)
        self.endpoint, self.cache, self.policy, self.local_only = endpoint, cache, policy or RetryPolicy(), local_only
        self._user_agent, self._proxies = user_agent, dict(proxies or {})
        self._given = checked_token(token) if isinstance(token, str) else token
        self._token: tuple[str | None] | None = None

    @classmethod
    def of(cls, token: str | bool | None = None, *, endpoint: str | None = None, config: DownloadConfig | None = None) -> Self:
        """Return the Hub of the settings.

        Args:
            token: the user's token; default: that of `config`.
            endpoint: URL of another Hub.
            config: options of downloads.

        Raises:
            ConfigurationError: the endpoint is invalid.
            InvalidTokenError: the token is invalid.
        """
        now = settings()
        tries = max(now.max_retries, config.max_retries if config else 1)
        return cls(
            (endpoint or now.hub_endpoint).rstrip("/"),
            HubCache(now.hub_cache_dir),
            token=config.token if token is None and config else token,
            policy=RetryPolicy(tries, now.max_retry_wait_seconds),
            local_only=bool(config and config.local_files_only),
            user_agent=config.user_agent if config else None,
            proxies=config.proxies if config else None,
        )

    def __repr__(self) -> str:
        return f"Hub({redact(self.endpoint)!r})"

    def __getstate__(self) -> dict[str, Any]:
        given = None if isinstance(self._given, str) else self._given  # a pickle of this alone holds no token
        return {**vars(self), "_given": given, "_token": None}

    # -- authentication ------------------------------------------------------------------------------------------------

    def token(self) -> str | None:
        """Return the token for requests, by the rules of `huggingface_hub`; None if there is none.

        Raises:
            InvalidTokenError: `token=True` without a login; or the stored token is invalid.
        """
        if isinstance(self._given, str):
            return self._given
        if self._token is None:
            self._token = (self._stored(),)
        return self._token[0]

    def _stored(self) -> str | None:
        if self._given is False:
            return None
        from huggingface_hub import constants, get_token

        if self._given is None and constants.HF_HUB_DISABLE_IMPLICIT_TOKEN:
            return None
        stored = get_token()
        if stored is None and self._given:
            reason = "token=True requires the stored token of a login, but there is none"
            raise InvalidTokenError(reason, advice="Log in (hf auth login), or set HF_TOKEN")
        return None if stored is None else checked_token(stored)

    def credentials(self) -> Credentials:
        """Return the token as a header, only for the origin of the endpoint."""
        token = self.token()
        return Credentials(origin_of(self.endpoint), {} if token is None else {"Authorization": f"Bearer {token}"})

    @property
    def api(self) -> HfApi:
        """The client of `huggingface_hub` for the same endpoint and user."""
        from huggingface_hub import HfApi

        return HfApi(self.endpoint, token=self.token() or False, library_name="datasets_core", library_version=__version__)

    # -- URLs ----------------------------------------------------------------------------------------------------------

    def resolve_url(self, repo_id: str, sha: str, path: str) -> str:
        """Return the URL of a file of a commit.

        >>> Hub("https://hub", HubCache("/hub")).resolve_url("org/name", "refs/pr/1", "a b.csv")
        'https://hub/datasets/org/name/resolve/refs%2Fpr%2F1/a%20b.csv'
        """
        return f"{self.endpoint}/datasets/{repo_id}/resolve/{quote(sha, safe='')}/{quote(path)}"

    def _api_url(self, repo_id: str, what: str, revision: str) -> str:
        return f"{self.endpoint}/api/datasets/{repo_id}/{what}/{quote(revision, safe='')}"

    # -- commits -------------------------------------------------------------------------------------------------------

    def commit(self, repo_id: str, revision: str | None = None, *, local_only: bool = False) -> HubCommit:
        """Return the files of the current commit of a revision.

        Two requests are sent: for the commit of the revision, and for its files, unless the cache has them.
        If the Hub cannot be reached, the commit of the last request is used, if there is one.

        A Hub that does not respond is tried for `hub_timeout_seconds` (a setting).  If a busy Hub requires a pause
        (`Retry-After`), this waits up to twice that time if the cache has the revision, else up to twice the setting
        `max_retry_wait_seconds`, which also limits each pause.

        Args:
            repo_id: `org/name`, or `name`.
            revision: branch, tag, commit or ref; default: the main branch.
            local_only: True to use the cache only.

        Raises:
            ConfigurationError: the id is invalid.
            RepositoryNotFoundError: the repository does not exist, or is not visible to this user.
            RevisionNotFoundError: the repository has no such revision.
            ForbiddenRepositoryError: the user has no access.
            InvalidTokenError: the Hub does not accept the token.
            HubError: the response of the Hub is invalid.
            HubUnreachableError: the Hub cannot be reached, and the revision is not cached.
            OfflineError: requests are not allowed, and the revision is not cached.
        """
        wanted: str = DEFAULT_REVISION if revision is None else getattr(revision, "resolved", revision)  # the client's own type
        _check_names(repo_id, wanted)
        if is_commit(wanted):
            files = self.cache.listing(repo_id, wanted)
            if files is not None:
                return self._checked(HubCommit(repo_id, wanted, wanted, files))
        if local_only or self.local_only or settings().offline:
            return self._offline(repo_id, wanted)
        meant = wanted
        try:
            named = repo_id  # what the Hub calls it today
            if not is_commit(wanted):
                meant, named = self._resolved(repo_id, wanted)
            found = self._checked(HubCommit(repo_id, meant, wanted, self._listed(repo_id, meant, named, wanted)))
        except UnansweredError as error:
            # If the Hub returned the commit, no older one is used, here or by a caller that catches this error.
            known = self.known(repo_id, meant)
            if known is None:
                raise self._unreachable(repo_id, wanted, meant, error) from error
            logger.warning(
                "The Hub did not respond for %s (%s): %r is resolved to commit %s from the cache%s",
                repo_id, error.reason, wanted, known.sha, "" if known.is_whole else " in part",
            )  # fmt: skip
            return known._replace(revision=wanted)
        self.cache.set_ref(repo_id, wanted, meant)
        return found

    def known(self, repo_id: str, revision: str) -> HubCommit | None:
        """Return the cached commit of that revision: with the listing of the commit, else the files of its snapshot."""
        sha = self.cache.ref(repo_id, revision)
        if sha is None:
            return None
        listed, is_whole = self.cache.listing(repo_id, sha), True
        if listed is None:
            listed, is_whole = self.cache.snapshot_listing(repo_id, sha), False
        return None if listed is None else self._checked(HubCommit(repo_id, sha, revision, listed, is_whole))

    def _checked(self, commit: HubCommit) -> HubCommit:
        if not self.cache.tells_case():
            check_case(commit.files, commit.repo_id)
        return commit

    def _offline(self, repo_id: str, revision: str) -> HubCommit:
        known = self.known(repo_id, revision)
        if known is None:
            is_set = settings().offline
            why = "offline mode is on" if is_set else "only the cache may be used"
            advice = OFFLINE_ADVICE if is_set else "Omit local_files_only=True to access the Hub"
            reason = f"{why}, and {self._unknown(repo_id, revision, revision)}"
            raise OfflineError(hub_url(repo_id, revision), reason, advice=advice)
        if not known.is_whole:
            logger.warning("%s at %r: only cached files are used, since the cache has no listing", repo_id, revision)
        return known

    def _unknown(self, repo_id: str, revision: str, meant: str) -> str:
        if meant != revision:
            return f"the hub cache {self.cache.root} does not have the commit {meant}, the current one of {revision!r}"
        refs = self.cache.refs(repo_id)
        others = f" (it knows {', '.join(map(repr, refs[:20]))})" if refs else ""
        return f"the hub cache {self.cache.root} does not have {revision!r} of the dataset {repo_id!r}{others}"

    def _unreachable(self, repo_id: str, revision: str, meant: str, error: UnansweredError) -> HubUnreachableError:
        if error.status is None:
            reason = f"the Hub at {redact(self.endpoint)} cannot be reached ({error.reason})"
        else:
            reason = f"the Hub at {redact(self.endpoint)} does not serve it ({error.reason}, repeatedly)"
        reason = f"{reason}, and {self._unknown(repo_id, revision, meant)}"
        told = meant if meant != revision else None
        return HubUnreachableError(
            hub_url(repo_id, revision), reason, repo_id=repo_id, revision=revision, status=error.status, commit=told
        )

    def _resolved(self, repo_id: str, revision: str) -> tuple[str, str]:
        """Return the commit of a revision, and the current id of the repository."""
        url = self._api_url(repo_id, "revision", revision)
        answer = self._fetched(url, repo_id, revision, meant=revision)
        info = answer.json(repo_id)
        sha = info.get("sha") if isinstance(info, dict) else info
        if not isinstance(info, dict) or not isinstance(sha, str) or not is_commit(sha):
            raise malformed(repo_id, f"has {shown(sha)} as the commit of {revision!r}")
        named = info.get("id")
        if answer.url == url or not isinstance(named, str) or not is_repo_id(named) or named.lower() == repo_id.lower():
            return sha, repo_id
        logger.warning("The Hub dataset %s has been renamed to %s", repo_id, named)
        return sha, named

    def _listed(self, repo_id: str, sha: str, named: str, revision: str) -> dict[str, HubFile]:
        files = self.cache.listing(repo_id, sha)
        if files is None:
            first = f"{self._api_url(named, 'tree', sha)}?recursive=true&expand=false"
            files = listed_files(paged(lambda url: self._fetched(url, repo_id, revision, meant=sha), first, repo_id), repo_id)
            self.cache.keep_listing(repo_id, sha, files)
        return files

    def _fetched(self, url: str, repo_id: str, revision: str, *, meant: str) -> HubAnswer:
        def wait_limit() -> float | None:  # limit for waiting for a busy Hub, if the cache has the revision
            return None if self.known(repo_id, meant) is None else 2 * settings().hub_timeout_seconds

        answer = self.answer(url, wait_limit)
        if answer.status == 200 and not answer.has_end():
            answer = self.answer(url, wait_limit)
        if answer.status == 200:
            return answer
        known = [ref for ref in self.cache.refs(repo_id) if ref != revision]
        who = {"repo_id": repo_id, "endpoint": self.endpoint, "revision": revision, "token": self.token(), "known": known}
        raise refusal(answer.status, answer.headers, **who)  # type: ignore[arg-type]

    def answer(self, url: str, wait_limit: Callable[[], float | None] = lambda: None) -> HubAnswer:
        """Return the response to a GET, with retries; see `HubRequests.answer`.

        Raises:
            UnansweredError: there is no response.
            DownloadError: a redirect is not followed, or the response is endless.
        """
        package = client_package()
        agent = f"datasets_core/{__version__}; hf_hub/{package.__version__}"
        agent = f"{agent}; {self._user_agent}" if self._user_agent else agent
        if not self._proxies:
            return HubRequests(package.get_session, self.credentials(), agent, self.policy).answer(url, wait_limit)
        with proxied(self._proxies) as session:  # the session of the package is shared by the process
            return HubRequests(lambda: session, self.credentials(), agent, self.policy).answer(url, wait_limit)


def client_package() -> Any:
    """Return the package `huggingface_hub`, for code that writes to the Hub with it."""
    import huggingface_hub.constants

    return huggingface_hub


def _check_names(repo_id: str, revision: str) -> None:
    if not isinstance(repo_id, str) or not is_repo_id(repo_id):
        raise ConfigurationError(
            f"{repo_id!r} is not a valid name of a dataset on the Hub", advice="Write org/name", value=repo_id
        )
    if not isinstance(revision, str):
        raise ConfigurationError(
            f"{revision!r} is not a valid revision of {repo_id!r}",
            advice="Pass a branch, a tag or a commit as a string",
            value=revision,
        )
    if not is_inner_path(revision) or any(letter.isspace() or not letter.isprintable() for letter in revision):
        raise RevisionNotFoundError(repo_id, revision)  # not a valid ref of git, and it would be a path
