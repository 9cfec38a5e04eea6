"""What can go wrong with an answer, and the rules that say with which."""

from __future__ import annotations

import fnmatch
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol


@dataclass(frozen=True)
class Request:
    """A request as it came.

    Attributes:
        kind: which endpoint, such as "info", "tree", "resolve", "storage", "commit".
        host: "hub", "storage" or "viewer".
        name: path in the repository, where the request is about a file.
        headers: with names in small letters.
        num_bytes: of the body of its answer.
    """

    kind: str
    method: str
    target: str
    host: str
    headers: dict[str, str]
    repo: str = ""
    revision: str = ""
    name: str = ""
    status: int = 0
    num_bytes: int = 0
    body: bytes = field(default=b"", repr=False)

    @property
    def token(self) -> str | None:
        given = self.headers.get("authorization")
        return given.removeprefix("Bearer ") if given else None

    @property
    def range(self) -> str | None:
        return self.headers.get("range")


@dataclass
class Answer:
    """What is sent back.

    Attributes:
        length: what `Content-Length` says, where that is not the truth.
        cut: how many bytes of the body are sent before the connection ends; None for all of them.
        is_reset: whether the connection ends as by a crash instead of a close.
        hangs: whether nothing more comes, then.
        drips: seconds between two bytes of the body; None for all of it at once.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    length: int | None = None
    cut: int | None = None
    is_reset: bool = False
    hangs: bool = False
    is_silent: bool = False
    drips: float | None = None


class Fault(Protocol):
    """Another answer in place of the right one."""

    def __call__(self, right: Answer, /) -> Answer: ...


def status(code: int, body: bytes = b"try later", **headers: str) -> Fault:
    """An answer with a status: `status(429, Retry_After="1")`."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda right: Answer(code, named, body)


def cut(at: int, *, reset: bool = True) -> Fault:
    """The right answer, but the connection ends after `at` bytes of the body."""
    return lambda right: replace(right, cut=at, is_reset=reset)


def shortened(by: int = 1) -> Fault:
    """A whole answer with `by` bytes too few, of which the length says nothing."""
    return lambda right: replace(right, body=right.body[:-by])


def wrong(body: bytes | None = None) -> Fault:
    """Other bytes: those given, or as many as there were with each changed."""
    return lambda right: replace(right, body=bytes(byte ^ 0xFF for byte in right.body) if body is None else body)


def redirected(url: str, code: int = 302) -> Fault:
    """A redirect to somewhere else; the headers about the file stay."""
    kept = ("X-Repo-Commit", "X-Linked-ETag", "X-Linked-Size", "ETag")
    return lambda right: Answer(
        code, {**{name: right.headers[name] for name in kept if name in right.headers}, "Location": url}, b"moved"
    )


def hanging(at: int | None = None) -> Fault:
    """Nothing comes; or nothing after `at` bytes of the body. It ends when the Hub is closed."""
    return lambda right: replace(right, cut=at, hangs=True, is_silent=at is None)


def dripping(seconds: float = 0.02) -> Fault:
    """The right answer, byte by byte, with a pause before each."""
    return lambda right: replace(right, drips=seconds)


def dropped() -> Fault:
    """The connection ends without an answer."""
    return lambda right: replace(right, is_silent=True, is_reset=True)


@dataclass
class Rule:
    """Which requests meet a fault.

    Attributes:
        fault: None for a rule that only does something before the right answer is made.
        skip: how many requests are let through first.
        times: how many meet it then; None for all.
        action: called before the answer is made.
        done: whether what a request to write asks for is done all the same, so that only the answer is lost.
    """

    fault: Fault | None
    kind: str = "*"
    name: str = "*"
    method: str = "*"
    skip: int = 0
    times: int | None = 1
    action: Callable[[Request], object] | None = None
    done: bool = False
    met: int = 0

    def matches(self, request: Request) -> bool:
        return all(
            fnmatch.fnmatch(value, pattern)
            for value, pattern in ((request.kind, self.kind), (request.name, self.name), (request.method, self.method))
        )


class Rules:
    """Rules in the order in which they were made; the first that is due holds."""

    def __init__(self) -> None:
        self._rules: list[Rule] = []
        self._lock = threading.Lock()

    def add(self, rule: Rule) -> Rule:
        with self._lock:
            self._rules.append(rule)
        return rule

    def clear(self) -> None:
        with self._lock:
            self._rules.clear()

    def due(self, request: Request) -> Rule | None:
        """The rule that this request meets."""
        with self._lock:
            for rule in self._rules:
                if rule.matches(request):
                    if rule.skip:
                        rule.skip -= 1
                    elif rule.times is None or rule.met < rule.times:
                        rule.met += 1
                        return rule
        return None
