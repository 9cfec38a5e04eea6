"""A small Hub on this machine: repositories, users, a storage host on its own port, faults, and a record of every request."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import parse_qs, urlsplit

from .faults import Answer, Fault, Request, Rule, Rules
from .repos import GIT_ATTRIBUTES, Content, Repo
from .routes import Routes, ranged
from .storage import Storage
from .wire import Port

_WRITING = {"create", "delete", "upload", "commit", "branch", "tag", "settings", "lfs-complete"}


@dataclass(frozen=True)
class User:
    """Somebody with a token."""

    name: str
    token: str
    orgs: tuple[str, ...] = ()
    role: str = "write"

    @property
    def spaces(self) -> tuple[str, ...]:
        return (self.name, *self.orgs)


class SmallHub:
    """A Hub that the real client talks to.

    Attributes:
        url: the endpoint.
        requests: every request so far, in order.
        repos: repositories by id.
        moved: new ids of repositories that were renamed, by the old ones.
        page_size: entries on a page of a tree.
        small_files: "200" to answer with a small file at once, "307" to redirect to where it is.
        part_bytes: size above which an upload comes in parts.
        verifies_uploads: whether each upload is to be verified.
        needs_xet: whether uploads by LFS are refused.
        viewer: answers of the dataset viewer: ("info" or "parquet", repo) -> (commit, answer).
        owner: a user who may write in "org" and "me"; `token` is theirs.
        stranger: a user who owns nothing.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.repos: dict[str, Repo] = {}
        self.users: dict[str, User] = {}
        self.moved: dict[str, str] = {}
        self.viewer: dict[tuple[str, str], tuple[str, Any]] = {}
        self.storage, self.rules, self._routes = Storage(), Rules(), Routes(self)
        self.page_size, self.small_files, self.part_bytes = 1000, "200", 5_000_000
        self.verifies_uploads = self.needs_xet = False
        self.owner = self.user("me", "hf_ownerTokenOfTheSmallHub", orgs=("org",))
        self.stranger = self.user("stranger", "hf_strangerTokenOfTheSmallHub")
        self._lock = threading.Lock()
        self._ports = [Port(self._on_hub), Port(self._on_storage)]
        self.url, self.storage.url = (port.url for port in self._ports)

    @property
    def token(self) -> str:
        return self.owner.token

    def user(self, name: str, token: str, *, orgs: tuple[str, ...] = (), role: str = "write") -> User:
        """Let somebody in."""
        self.users[token] = User(name, token, orgs, role)
        return self.users[token]

    def repo(
        self,
        repo_id: str,
        files: Mapping[str, Content] | None = None,
        *,
        private: bool = False,
        gated: str | bool = False,
        lfs: bool | None = None,
    ) -> Repo:
        """A repository with these files, in one commit after the one that every repository begins with."""
        repo = self.repos[repo_id] = Repo(repo_id, self.storage.objects, private=private, gated=gated)
        repo.commit({".gitattributes": GIT_ATTRIBUTES}, title="initial commit")
        if files:
            repo.commit(files, title="Add files", lfs=lfs)
        return repo

    def rename(self, old: str, new: str) -> None:
        """Give a repository another name; the old one leads there."""
        repo = self.repos[new] = self.repos.pop(old)
        repo.id, self.moved[old] = new, new

    # -- faults

    def fail(self, fault: Fault, kind: str = "*", name: str = "*", **when: Any) -> Rule:
        """Let requests meet a fault.

        Args:
            kind: the endpoint ("info", "resolve", "storage", …), or a pattern.
            name: pattern of the file's path, or of an object's file name in the storage.
            when: method, skip, times (1 unless told; None for always), done (of a request to write: only the answer is lost).
        """
        return self.rules.add(Rule(fault, kind, name, **when))

    def before(self, action: Callable[[Request], object], kind: str = "*", name: str = "*", **when: Any) -> Rule:
        """Call `action` right before such a request is answered, as it should be."""
        return self.rules.add(Rule(None, kind, name, action=action, **when))

    # -- what was asked

    def forget(self) -> None:
        """Count anew."""
        with self._lock:
            self.requests.clear()

    def counts(self) -> Counter[str]:
        """How many requests there were of each kind."""
        return Counter(request.kind for request in self.requests)

    @property
    def connections(self) -> tuple[int, int]:
        """How many connections were made to the Hub, and to the storage."""
        return self._ports[0].connections, self._ports[1].connections

    def of(self, kind: str, method: str | None = None) -> list[Request]:
        """The requests of one kind."""
        return [each for each in self.requests if each.kind == kind and method in (None, each.method)]

    # -- answering

    def _on_hub(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        request, rest = self._routes.classify(method, target, headers, body)
        return self._answered(request, lambda: self._routes.answer(request, rest))

    def _on_storage(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Answer:
        parts = urlsplit(target)
        shown = parse_qs(parts.query).get("response-content-disposition", [""])[0]
        name = shown.partition('filename="')[2].rstrip('"') or self._name_of(parts.path.rpartition("/")[2])
        kind = "upload" if method == "PUT" else "storage"
        request = Request(kind, method, target, "storage", headers, name=name, body=b"" if method == "PUT" else body)
        return self._answered(request, lambda: self._stored(request, body))

    def _name_of(self, sha256: str) -> str:
        for repo in list(self.repos.values()):
            for commit in list(repo.commits.values()):
                for path, blob in commit.files.items():
                    if blob.sha256 == sha256:
                        return path.rpartition("/")[2]
        return ""

    def _stored(self, request: Request, body: bytes) -> Answer:
        storage, path = self.storage, urlsplit(request.target).path
        if "authorization" in request.headers:
            return Answer(400, {}, b"<Error><Code>InvalidArgument</Code>Only one auth mechanism allowed</Error>")
        if not storage.is_open(request.method, request.target):
            return Answer(403, {}, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>")
        if request.method == "PUT":
            parts = path.split("/")
            if parts[1] == "parts":
                return Answer(200, {"ETag": f'"{storage.keep_part(parts[2], int(parts[3]), body)}"'})
            return Answer(200 if storage.keep(parts[-1], body) else 400, {"ETag": '"etag-of-storage"'})
        sha256 = path.rpartition("/")[2]
        content = storage.objects.get(sha256)
        if content is None:
            return Answer(404, {}, b"<Error><Code>NoSuchKey</Code></Error>")
        return ranged(content, {"ETag": f'"{sha256[:32]}"', "Accept-Ranges": "bytes"}, request)

    def _answered(self, request: Request, make: Callable[[], Answer]) -> Answer:
        rule = self.rules.due(request)
        if rule is not None and rule.action is not None:
            rule.action(request)
        if rule is None or rule.fault is None:
            answer = make()
        else:
            is_left = request.kind in _WRITING and not rule.done
            answer = rule.fault(Answer() if is_left else make())
        with self._lock:
            self.requests.append(replace(request, status=0 if answer.is_silent else answer.status, num_bytes=len(answer.body)))
        return answer

    def stop(self) -> None:
        """Be no longer there: whoever asks is refused."""
        for port in self._ports:
            port.close()
