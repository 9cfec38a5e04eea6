"""`push`: uploads shards in batches while they are made, and commits them with the card in one commit.

No part of a push is visible before its commit.  A push that fails leaves the repository unchanged; files that it uploaded are
not uploaded again by the next push.
"""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from datasets_core import files
from datasets_core.config import parse_size, settings
from datasets_core.engines import Engine, get_engine, on_engine
from datasets_core.engines.threads import RetryPolicy
from datasets_core.errors import ConfigurationError, OfflineError, PushConflictError, PushError, logger_of
from datasets_core.fetch import disk_cache
from datasets_core.fetch.hub.branch import not_logged_in
from datasets_core.fetch.hub.client import OFFLINE_ADVICE, Hub
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.fetch.hub.upload import FILES_A_CALL, Change, HubWriter, MissedCommitError, NewFile
from datasets_core.io.push_target import (
    PushedSplit,
    PushTarget,
    RepositoryState,
    Shards,
    WorkerUploads,
    WriteCard,
    push_target,
    shard_limits,
)
from datasets_core.meta.card_sections import LazyCard
from datasets_core.meta.data_files import match
from datasets_core.meta.info import ConfigEntry
from datasets_core.store.atomic import temporary_folder

if TYPE_CHECKING:
    from datasets_core.fetch.hub.client import CommitInfo


# Files that a push must not remove, since only another config reads them.


def check_replaced(target: PushTarget, state: RepositoryState, replaced: Collection[str]) -> None:
    """Raise an error for a push that would remove files of another config.

    Args:
        target: target of the push.
        state: state of the repository before the push.
        replaced: the files that the push removes or changes.

    Raises:
        ConfigurationError: the push would remove such files.
        ManifestError: the card of the repository is invalid.

    >>> card = "---\\nconfigs:\\n- config_name: en\\n  data_files: all/*.parquet\\n---\\n"
    >>> check_replaced(PushTarget("org/name", "de", "all"), RepositoryState(card, None, []), ["all/train-0.parquet"])
    ... # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    datasets_core.errors.ConfigurationError: 'all/train-0.parquet' of org/name belongs to the config 'en', and pushing ...
    """
    if not replaced:
        return
    configs = [] if state.yaml is None else LazyCard(state.yaml, path=".huggingface.yaml").configs
    configs = configs or LazyCard(state.readme or "", path="README.md").configs
    own = {path for entry in configs if entry.name == target.config_name for path in _read(entry, replaced, is_own=True)}
    for entry in configs:
        taken = sorted(set(_read(entry, replaced)) - own)
        if taken:
            raise ConfigurationError(
                f"{taken[0]!r} of {target.repo_id} belongs to the config {entry.name!r}, and pushing {target.config_name!r} "
                f"with data_dir={target.data_dir!r} would replace it",
                advice="Choose another data_dir",
                value=target.data_dir,
            )


def _read(entry: ConfigEntry, paths: Collection[str], *, is_own: bool = False) -> list[str]:
    """Return the files that a config reads; a config without patterns reads the folder it was pushed to."""
    folder = "" if entry.data_dir is None else f"{entry.data_dir.strip('/')}/"
    patterns = [pattern for named in (entry.data_files or {}).values() for pattern in named]
    if not patterns and (folder or is_own):
        patterns = ["**"]
    return [path for pattern in patterns for path in _matched(folder + pattern.removeprefix("./"), paths)]


def _matched(pattern: str, paths: Collection[str]) -> list[str]:
    try:
        return match(pattern, paths)
    except ConfigurationError:  # the pattern is invalid, so it matches nothing
        return []


# The folder of the shards of a push, between writing and upload.


@contextmanager
def shard_folder() -> Iterator[str]:
    """Return a context with a folder for shards before their upload; a later push removes folders of killed processes."""
    folder = _own_folder()
    if folder is None:
        with tempfile.TemporaryDirectory(dir=temporary_folder()) as made:
            yield made
        return
    try:
        yield folder
    finally:
        disk_cache.discard(folder)


def _own_folder() -> str | None:
    """Return a folder in the cache; None if the cache is at a URL or read-only."""
    cache = settings().cache_dir
    if files.is_url(cache):
        return None
    parent, made = os.path.join(cache, "pushing"), None
    try:
        os.makedirs(parent, exist_ok=True)
        _sweep(parent)
        made = tempfile.mkdtemp(dir=parent, suffix=disk_cache.SUFFIX)
        disk_cache.claim(made)
    except OSError:
        if made is not None:
            disk_cache.discard(made)
        return None
    return made


def _sweep(parent: str) -> None:
    """Remove the leftovers of processes that ended."""
    for name in os.listdir(parent):
        folder = os.path.join(parent, name.removesuffix(".json"))
        if folder.endswith(disk_cache.SUFFIX) and files.owner_is_alive(folder) is False:
            disk_cache.discard(folder)
    disk_cache.sweep(parent)  # folders of other machines, and unclaimed ones


logger = logger_of(__name__)

COMMIT_MESSAGE = "Upload dataset"
"""The default first line of the commit message of a push."""
_README, _INFOS, _YAML, _IGNORE = "README.md", "dataset_infos.json", ".huggingface.yaml", ".gitignore"
_BATCH_BYTES = 2 << 30
_STREAM_FILES, _STREAM_BYTES = 4, 32 << 20
_TRIES, _GARBLED_TRIES = 10, 3
_LONGEST_PAUSE_SECONDS = 4.0  # limit of the pause between tries while other users commit


@dataclass
class _Shard:
    """A shard between writing and commit."""

    split: str
    num_rows: int
    num_bytes: int
    file: NewFile
    stored_at: tuple[HubCommit, str] | None = None  # path of the content in the repository, if its own file was removed


def push_splits(
    splits: Mapping[str, Any],
    num_shards: Mapping[str, Any],
    *,
    max_shard_size: int | str | None = None,
    embed_external_files: bool = True,
    num_proc: int | None = None,
    engine: str | Engine | None = None,
    **where: Any,
) -> CommitInfo:
    """Push rows as splits of one config; see `Dataset.push_to_hub`.

    Args:
        splits: datasets by split, or streams.
        num_shards: number of files of each split; None computes it from the rows.
        max_shard_size, embed_external_files, num_proc, engine: see `push_to_hub`.
        where: arguments of `push_target`.
    """
    from datasets_core.io.push_card import card_writer  # 15 ms, with pyarrow.parquet

    target = push_target(splits=[*splits], **where)
    size = parse_size(max_shard_size)
    with on_engine(engine, num_proc=num_proc):
        limits = {name: shard_limits(size, num_shards.get(name), num_proc, split=name) for name in splits}
        uploads = None
        if getattr(get_engine(num_proc=num_proc), "spans_machines", False):
            how = target.data_dir, target.revision, target.create_pr
            uploads = WorkerUploads(Hub.of(target.token), target.repo_id, *how)
            limits = {name: replace(limit, uploads=uploads) for name, limit in limits.items()}
        features, shards, is_stream = next(iter(splits.values()))._pushed(splits, limits, embeds=embed_external_files)
        return push(target, shards, card_writer(target, features), is_stream=is_stream, uploads=uploads)


def push(
    target: PushTarget,
    shards: Shards,
    write_card: WriteCard,
    *,
    is_stream: bool = False,
    hub: Hub | None = None,
    policy: RetryPolicy | None = None,
    uploads: WorkerUploads | None = None,
) -> CommitInfo:
    """Push splits to a repository, in one commit; there is no commit if nothing changes.

    Args:
        target: the target.
        shards: functions that yield the shards of each split, at least one per split; shards are removed after their upload.
        write_card: merges the splits into the card.
        is_stream: True for an unknown number of rows: shards are uploaded early, so that only a few are on disk.
        hub: the Hub client; by default that of the settings with `target.token`.
        policy: retries after commits of other users, and their clock.
        uploads: where workers send shards; this gets the name of the repository.

    Returns:
        The `CommitInfo` of huggingface_hub.

    Raises:
        PushConflictError: other users committed first, repeatedly.
        PushError: the Hub rejects the push.
        InvalidTokenError: no user is logged in, or the token is invalid.
    """
    if settings().offline:
        raise OfflineError(target.repo_id, "cannot be pushed to in offline mode", advice=OFFLINE_ADVICE)
    hub = hub or Hub.of(target.token)
    if hub.token() is None:
        raise not_logged_in(target.repo_id)
    writer = HubWriter(hub, target.repo_id, revision=target.revision, create_pr=target.create_pr)
    before = writer.open(private=target.private)
    if uploads is not None:
        uploads.repo_id, uploads.ignores_nothing = writer.repo_id, _IGNORE in before.files
    replaced = _replaced(target, before, shards)
    state = _state(writer, before)
    check_replaced(target, state, replaced)  # before the first row is written, as for the card
    write_card(state, [PushedSplit(name, 0, 0, 0, 0) for name in shards])
    with shard_folder() as folder, files.disk_errors(folder, action="use"):
        sent = _Upload(writer, target, before, folder, is_stream=is_stream)
        sent.run(shards)
        return _Commit(writer, target, sent.shards, write_card, policy).made(before)


class _Upload:
    """Writes and uploads shards in batches; the last batch is uploaded with the commit."""

    def __init__(self, writer: HubWriter, target: PushTarget, before: HubCommit, folder: str, *, is_stream: bool) -> None:
        self._writer, self._target, self._before, self._folder = writer, target, before, folder
        self._is_stream, self._most_files = is_stream, _STREAM_FILES if is_stream else FILES_A_CALL
        self._held = {file.sha256: path for path, file in before.files.items() if file.sha256}
        self._waiting: list[_Shard] = []
        self._largest = 0
        self.shards: list[_Shard] = []

    def run(self, shards: Shards) -> None:
        """Write all shards, and name them."""
        for split, make in shards.items():
            count = 0
            for local in make(self._folder):
                if len(self._waiting) >= self._most_files:
                    self._send()
                path = f"{self._target.data_dir}/{split}-{count:05d}-of-pending.parquet"  # a unique path
                shard = _Shard(split, local.num_rows, local.num_bytes, local.file or NewFile(path, local.path))
                shard.file.path = path
                self.shards.append(shard)
                count += 1
                if local.file is not None:  # its worker has sent it
                    continue
                self._waiting.append(shard)
                if self._is_much():
                    self._send()
            if not count:
                raise ConfigurationError(
                    f"The split {split!r} has no shards", advice="Push at least one shard, which may be empty"
                )
            for index, shard in enumerate(self.shards[-count:]):
                shard.file.path = f"{self._target.data_dir}/{split}-{index:05d}-of-{count:05d}.parquet"

    def _is_much(self) -> bool:
        """Return True if waiting shards reach the disk limit: for a stream, the size of two large shards."""
        self._largest = max(self._largest, self._waiting[-1].file.size)
        most = min(max(self._largest * 3 // 2, _STREAM_BYTES), _BATCH_BYTES // 2) if self._is_stream else _BATCH_BYTES
        return sum(shard.file.size for shard in self._waiting) >= most

    def _send(self) -> None:
        new = []
        for shard in self._waiting:
            path = self._held.get(shard.file.sha256)
            if path is None:
                new.append(shard)
            else:
                shard.stored_at = (self._before, path)
                shard.file.forget_local()
        self._writer.upload([shard.file for shard in new], ignores_nothing=_IGNORE in self._before.files)
        for shard in new:
            if shard.file.is_stored:
                shard.file.forget_local()
        self._waiting = []
        self._most_files = min(4 * self._most_files, FILES_A_CALL)  # few calls, even for a long stream


class _Commit:
    """The commit of shards and card, computed again if another user committed first."""

    def __init__(
        self,
        writer: HubWriter,
        target: PushTarget,
        shards: Sequence[_Shard],
        write_card: WriteCard,
        policy: RetryPolicy | None,
    ) -> None:
        self._writer, self._target, self._shards, self._write_card = writer, target, shards, write_card
        self._policy = policy or RetryPolicy(_TRIES, settings().max_retry_wait_seconds)
        self._card: list[NewFile] = []
        message = target.commit_message or COMMIT_MESSAGE
        self._said: dict[str, Any] = {"message": message, "description": target.commit_description}

    def made(self, before: HubCommit) -> CommitInfo:
        """Return the `CommitInfo` of the commit, or of `before` if nothing changed."""
        failures = 0
        while True:
            change = self._change(before)
            if change.is_empty():
                self._writer.upload(self._card, ignores_nothing=_IGNORE in before.files)  # fails without write access
                logger.info("%s already has this content. Nothing to commit.", self._writer.repo_id)
                return self._writer.made(before, **self._said)
            unsent = [file for file in change.files if not file.is_sent]
            self._writer.upload(unsent, ignores_nothing=_IGNORE in before.files)
            try:
                return self._writer.commit(before, change, **self._said)
            except MissedCommitError as missed:
                failures += 1
                if failures >= (min(_GARBLED_TRIES, self._policy.tries) if missed.is_garbled else self._policy.tries):
                    raise self._given_up(missed, failures) from missed
                logger.info("%s: %s. Retrying.", self._writer.repo_id, missed.reason)
                self._pause(failures, missed)
                found = self._after(change, before, missed)
                if not isinstance(found, HubCommit):
                    return found
                before = found

    def _pause(self, failures: int, missed: MissedCommitError) -> None:
        policy = self._policy
        if missed.retry_after is None:
            policy = replace(policy, longest_pause_seconds=min(policy.longest_pause_seconds, _LONGEST_PAUSE_SECONDS))
        policy.wait(policy.seconds(failures, missed.retry_after))

    def _after(self, change: Change, before: HubCommit, missed: MissedCommitError) -> CommitInfo | HubCommit:
        """Return the `CommitInfo` of a commit whose response was lost, or else the current head of the branch."""
        if not missed.is_conflict and self._target.create_pr:
            request = self._writer.pull_request(change, **self._said)
            if request is not None:
                return request
        now = self._writer.current()
        if now.sha != before.sha and change.stands_in(now):
            return self._writer.made(now, **self._said)
        return now

    def _given_up(self, missed: MissedCommitError, failures: int) -> PushError:
        repo_id, branch = self._writer.repo_id, self._writer.branch
        again = "Push again later: uploaded files are not uploaded again"
        if missed.is_conflict:
            return PushConflictError(
                repo_id, f"was changed by other users before each of {failures} commits to {branch!r}", again
            )
        reason = f"did not accept a commit to {branch!r} after {failures} attempts ({missed.reason})"
        return PushError(repo_id, reason, "Push again later: uploaded files are not uploaded again")

    def _change(self, before: HubCommit) -> Change:
        change = Change()
        for shard in self._shards:
            if shard.file.stands_in(before):
                continue
            if shard.stored_at is None:
                change.files.append(shard.file)
            else:
                change.copies[shard.file.path] = shard.stored_at
        new = {shard.file.path for shard in self._shards}
        replaced = _replaced(self._target, before, {shard.split for shard in self._shards})
        change.deletions = sorted(path for path in replaced if path not in new)
        self._card = [NewFile(path, text.encode()) for path, text in self._texts(before, replaced)]
        change.files += [file for file in self._card if not file.stands_in(before)]
        return change

    def _texts(self, before: HubCommit, replaced: dict[str, str]) -> Iterator[tuple[str, str]]:
        splits = []
        for name in dict.fromkeys(shard.split for shard in self._shards):
            own = [shard for shard in self._shards if shard.split == name]
            old = sum(before.files[path].size for path, split in replaced.items() if split == name)
            splits.append(
                PushedSplit(
                    name=name,
                    num_rows=sum(shard.num_rows for shard in own),
                    num_bytes=sum(shard.num_bytes for shard in own),
                    file_bytes=sum(shard.file.size for shard in own),
                    replaced_bytes=old,
                )
            )
        state = _state(self._writer, before)
        check_replaced(self._target, state, replaced)
        texts = self._write_card(state, splits)
        yield _README, texts.readme
        if texts.dataset_infos is not None:
            yield _INFOS, texts.dataset_infos
        if texts.yaml is not None:
            yield _YAML, texts.yaml


def _state(writer: HubWriter, commit: HubCommit) -> RepositoryState:
    readme, infos, yaml = (writer.text(commit, name) for name in (_README, _INFOS, _YAML))
    return RepositoryState(readme, infos, tuple(commit.files), yaml)


def _replaced(target: PushTarget, before: HubCommit, splits: Collection[str]) -> dict[str, str]:
    """Return the files to remove or replace, and their splits; '' for splits that are removed completely."""
    inside = re.escape(target.data_dir)
    found = {}
    for path in before.files:
        named = re.fullmatch(rf"{inside}/(\w+(?:\.\w+)*)-([^/]*)", path)
        if named is None:
            continue
        if named[1] in splits:
            found[path] = named[1]
        elif target.replaces_config and re.fullmatch(r"\d{5,}-of-\d{5,}(-\w+)?\.parquet", named[2]):
            found[path] = ""
    return found
