"""Names of datasets on the Hub: the ids of repositories, and `hf://datasets/…` URLs parsed and built.

This module sends no requests to the Hub (see `fetch/hub/`); a local load uses it to check that a path is not on the Hub.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from datasets_core.errors import ConfigurationError

PREFIX = "hf://datasets/"
DEFAULT_REVISION = "main"
_NAME = r"\b[A-Za-z0-9_.-]{1,96}\b"
_REPO_ID = rf"(?a)(?:{_NAME}/)?{_NAME}"
_COMMIT = r"[0-9a-f]{40}"
_PINNED = r"(hf://datasets/[^@]{1,200})@[0-9a-f]{40}(?=/|$)"
_PART = r"(?!\.{1,2}(?:/|\Z))[^/\\\0\ud800-\udfff]+"  # halves of letters are in no file's name
_INNER_PATH = rf"(?![A-Za-z]:/){_PART}(?:/{_PART})*"
_OWN_REF = r"(?a)refs/(?:convert/[\w.-]+|pr/\d+)(?=/|$)"  # the two refs that may be unquoted in a URL


class HubPath(NamedTuple):
    """A place in a dataset repository.

    Attributes:
        repo_id: `org/name`, or `name`.
        revision: branch, tag, commit or ref; None if the URL names none.
        path: path in the repository, "" for its root.
    """

    repo_id: str
    revision: str | None
    path: str


def is_repo_id(text: str) -> bool:
    """Return True if a text has the form of a repository id of the Hub, with or without a namespace.

    >>> is_repo_id("org/name"), is_repo_id("squad"), is_repo_id("./data"), is_repo_id("a/b/c")
    (True, True, False, False)
    """
    return re.fullmatch(_REPO_ID, text) is not None and "--" not in text and ".." not in text and not text.endswith(".git")


def is_commit(revision: str | None) -> bool:
    """Return True if a revision is a full commit hash, whose meaning never changes.

    >>> is_commit("a" * 40), is_commit("main"), is_commit("a" * 7)
    (True, False, False)
    """
    return revision is not None and re.fullmatch(_COMMIT, revision) is not None


def is_hub_url(url: str) -> bool:
    """Return True if a URL refers to a dataset repository of the Hub.

    >>> is_hub_url("hf://datasets/org/name/a.csv"), is_hub_url("hf://org/model/a.bin"), is_hub_url("zip://a::hf://datasets/o/n/z")
    (True, False, False)
    """
    return url.startswith(PREFIX) and "::" not in url


def parse_hub_url(url: str) -> HubPath | None:
    """Return the repository, revision and path of an `hf://datasets/…` URL; None for anything else.

    >>> parse_hub_url("hf://datasets/org/name@refs/convert/parquet/default/train/0000.parquet")
    HubPath(repo_id='org/name', revision='refs/convert/parquet', path='default/train/0000.parquet')
    >>> parse_hub_url("hf://datasets/squad@v1%2Fnew/a.csv")
    HubPath(repo_id='squad', revision='v1/new', path='a.csv')
    >>> parse_hub_url("hf://org/model/a.csv") is None
    True

    Raises:
        ConfigurationError: such a URL does not name a repository, names an empty revision, or leads out of the repository.
    """
    if not url.startswith(PREFIX):
        return None
    rest = url[len(PREFIX) :]
    front, mark, back = rest.partition("@")
    if mark and front.count("/") <= 1 and not front.endswith("/"):
        repo_id = front
        revision, path = _split_revision(back)
        if not revision:
            raise ConfigurationError(
                f"{url!r} names an empty revision", advice="Write a branch, a tag or a commit after '@'", value=url
            )
    else:  # an '@' further on belongs to the name of a file
        parts = rest.rstrip("/").split("/", 2)
        repo_id, revision, path = "/".join(parts[:2]), None, parts[2] if len(parts) > 2 else ""
    if not is_repo_id(repo_id):
        raise ConfigurationError(
            f"{url!r} does not name a dataset repository", advice=f"Write {PREFIX}org/name@revision/path", value=url
        )
    segments = [segment for segment in path.split("/") if segment not in ("", ".")]
    if ".." in segments:
        raise ConfigurationError(f"{url!r} leads outside its repository", advice="Write the path without '..'", value=url)
    return HubPath(repo_id, revision, "/".join(segments))


def _split_revision(text: str) -> tuple[str, str]:
    own = re.match(_OWN_REF, text)
    if own is not None:
        return own.group(), text[own.end() :].removeprefix("/")
    from urllib.parse import unquote  # 3 ms that local paths do without

    revision, _, path = text.partition("/")
    return unquote(revision), path


def without_commit(url: str) -> str:
    """Return a URL without the commit that it is pinned to, which is the same for all commits; other texts unchanged.

    >>> without_commit(f"zip://a.csv::hf://datasets/org/name@{'a' * 40}/b.zip"), without_commit("a@b")
    ('zip://a.csv::hf://datasets/org/name/b.zip', 'a@b')
    """
    return re.sub(_PINNED, r"\1", url) if PREFIX in url else url


def hub_url(repo_id: str, revision: str, path: str = "") -> str:
    """Return the URL of a path in a repository at a revision; with a commit hash, its meaning never changes.

    >>> hub_url("org/name", "refs/pr/1", "a.csv"), hub_url("squad", "v1/new")
    ('hf://datasets/org/name@refs/pr/1/a.csv', 'hf://datasets/squad@v1%2Fnew')
    """
    return f"{PREFIX}{repo_id}@{quoted_revision(revision)}" + (f"/{path}" if path else "")


def quoted_revision(revision: str) -> str:
    """Return a revision as one segment of an `hf://` URL.

    >>> quoted_revision("50%/a b"), quoted_revision("refs/convert/parquet")
    ('50%25%2Fa%20b', 'refs/convert/parquet')
    """
    if is_commit(revision) or re.fullmatch(_OWN_REF, revision):
        return revision
    from urllib.parse import quote

    return quote(revision, safe="")


def is_inner_path(path: str) -> bool:
    r"""Return True if a path of a repository stays below the folder into which it is written, on every system.

    >>> is_inner_path("data/a b.csv"), is_inner_path("../a"), is_inner_path("/a"), is_inner_path("a\\b"), is_inner_path("a//b")
    (True, False, False, False, False)
    """
    return re.fullmatch(_INNER_PATH, path) is not None
