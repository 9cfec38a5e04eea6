"""Names on disk: the folder of a dataset, its manifest, its lock, its staging folders.

A finished dataset stands in `<cache>/<dataset>/<config id>/<version>/<key>`.  While it is built, its shards stand in a
staging folder beside it, `<folder>.incomplete-<pid>-<random>`, under the lock `<folder>.lock`.  What is built for a URL is
staged in the cache.
"""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import dataclass

from datasets_core.config import settings
from datasets_core.files import is_url, local_path

MANIFEST_NAME = "dataset_info.json"
JOURNAL_NAME = "journal.jsonl"
EXTENSIONS = {"arrow": "arrow", "parquet": "parquet"}

_SHARD = re.compile(r".+-\d{5,}-of-\d{5,}(-[0-9a-f]{16})?\.(arrow|parquet)")
_STAGING = re.compile(r"(?P<folder>.+)\.incomplete-(?P<pid>\d+)-(?P<token>[0-9a-f]+)")
_TEMPORARY = re.compile(r".+\.tmp-(?P<pid>\d+)-[0-9a-f]+")


def dataset_folder(cache_dir: str, dataset: str, config_id: str, version: str, key: str) -> str:
    """The folder of a dataset in the cache; `owner/name` becomes `owner___name`.

    >>> dataset_folder("/c", "acme/reviews", "default", "1.0.0", "ab12")
    '/c/acme___reviews/default/1.0.0/ab12'
    """
    return os.path.join(cache_dir, dataset.replace("/", "___"), config_id, version, key)


def located(folder: str | os.PathLike[str]) -> str:
    """A folder as a local path, or as a URL where it is remote.

    >>> located("file:///c/reviews"), located("s3://bucket/reviews/")
    ('/c/reviews', 's3://bucket/reviews')
    """
    place = local_path(folder)
    return place.rstrip("/") if is_url(place) else place


def staging_base(target: str) -> str:
    """What the names of lock and staging folders begin with: the target itself, or for a URL a place in the cache."""
    place = located(target)
    if is_url(place):
        key = hashlib.sha256(place.encode()).hexdigest()[:32]
        return os.path.join(settings().cache_dir, "remote", key)
    return os.path.realpath(place)  # staged in the file system where the folder really is


def lock_path(target: str) -> str:
    """The lock file that a build of `target` holds.

    >>> lock_path("/c/reviews")
    '/c/reviews.lock'
    """
    return f"{staging_base(target)}.lock"


def staging_path(target: str) -> str:
    """A fresh name for a staging folder of `target`, in the same file system, owned by this process."""
    return f"{staging_base(target)}.incomplete-{os.getpid()}-{os.urandom(4).hex()}"


def temporary_path(path: str) -> str:
    """A fresh name beside `path` for a file that becomes `path` by a rename."""
    return f"{path}.tmp-{os.getpid()}-{os.urandom(4).hex()}"


@dataclass(frozen=True, slots=True)
class StagingName:
    """What the name of a staging folder says: whose it is."""

    path: str
    target: str
    pid: int


def parse_staging(path: str) -> StagingName | None:
    """Read the name of a staging folder; None if `path` is no such name.

    >>> parse_staging("/c/reviews.incomplete-12-ab")
    StagingName(path='/c/reviews.incomplete-12-ab', target='/c/reviews', pid=12)
    """
    found = _STAGING.fullmatch(path)
    return StagingName(path, found["folder"], int(found["pid"])) if found else None


def temporary_owner(path: str) -> int | None:
    """The process that a temporary file belongs to; None if `path` is no name of a temporary.

    >>> temporary_owner("a.arrow.tmp-12-ab"), temporary_owner("a.arrow")
    (12, None)
    """
    found = _TEMPORARY.fullmatch(os.path.basename(path))
    return int(found["pid"]) if found else None


def is_shard_name(name: str) -> bool:
    """Whether a file of a finished dataset is one of its shards, by its name.

    >>> is_shard_name("reviews-train-00000-of-00002.arrow"), is_shard_name("cache-ab12.arrow")
    (True, False)
    """
    return _SHARD.fullmatch(name) is not None


def is_named_by_content(name: str) -> bool:
    """Whether a file is a shard that only a manifest makes part of a dataset, by its name.

    >>> is_named_by_content("reviews-train-00000-of-00002-0123456789abcdef.arrow")
    True
    """
    found = _SHARD.fullmatch(name)
    return found is not None and found[1] is not None


def staging_folders(target: str) -> list[StagingName]:
    """Every staging folder of `target`, in the order of their names."""
    base = staging_base(target)
    parent = os.path.dirname(base)
    if not os.path.isdir(parent):
        return []
    with os.scandir(parent) as entries:
        found = [parse_staging(os.path.join(parent, entry.name)) for entry in entries if entry.is_dir(follow_symlinks=False)]
    return sorted((name for name in found if name and name.target == base), key=lambda name: name.path)
