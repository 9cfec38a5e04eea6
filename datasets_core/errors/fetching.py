"""Errors of verification, downloads, archives and the Hub."""

from __future__ import annotations

from collections.abc import Iterable

from datasets_core.errors.base import DatasetsCoreError, FileNotFoundDatasetsError, _names, redact
from datasets_core.errors.data import ColumnLimitError, FileFormatError
from datasets_core.errors.loading import DataFilesNotFoundError, DatasetNotFoundError


class VerificationError(DatasetsCoreError):
    """Data that differ from their record.

    To fix: find out whether the data or the record changed; then build again, or update the record.
    """


class ChecksumVerificationError(VerificationError):
    """A downloaded file that differs from its record.

    To fix: delete the file from the cache and load again; if the new content is right, update the record.
    """


class NonMatchingChecksumError(ChecksumVerificationError, ValueError):
    """A file whose size or checksum differs from the recorded one.

    To fix: delete the file from the cache and load again; if the new content is right, register it with
    `register_checksums=True`.

    `NonMatchingChecksumError("text")`, as code for Hugging Face `datasets` raises it, has the message `text`.

    Args:
        url: the URL or file.
        expected, found: the recorded value, and the actual one.
        what: "sha256" or "size".
        advice: one thing to do, as a sentence without its full stop.
        is_optional: True if the comparison can be skipped.
    """

    def __init__(
        self,
        url: str = "",
        *,
        expected: str | None = None,
        found: str = "",
        what: str = "sha256",
        advice: str | None = None,
        is_optional: bool = True,
    ) -> None:
        if expected is None:
            super().__init__(url)
            return
        self.url, self.expected, self.found, self.what = url, expected, found, what
        self.file, self.value, self.advice = url, found, advice or "Delete the file from the cache, or fix the record"
        otherwise = "; verification_mode='no_checks' skips the comparison" if is_optional else ""
        super().__init__(f"{url} has {what} {found}, expected {expected}. {self.advice}{otherwise}.")


class MissingChecksumError(ChecksumVerificationError, ValueError):
    """URLs without a registered checksum where all must have one.

    To fix: pass `register_checksums=True` once, or leave out `force_checksums_validation`.

    Args:
        urls: the URLs.
        path: the `checksums.tsv` without them; None if there is none.
    """

    def __init__(self, urls: Iterable[str], *, path: str | None) -> None:
        self.urls = tuple(urls)
        self.file = self.path = path
        super().__init__(
            f"No checksum is registered for {_names(self.urls)}{f' in {path}' if path else ''}, "
            "and force_checksums_validation=True requires one. Pass register_checksums=True to register the current content."
        )


class ExpectedMoreDownloadedFilesError(ChecksumVerificationError):
    """Recorded files that were not downloaded.

    To fix: check that the script still downloads all files, or update the record.
    """


class UnexpectedDownloadedFileError(ChecksumVerificationError):
    """Downloaded files that are not recorded.

    To fix: update the record if the script downloads more files than before.
    """


class SplitsVerificationError(VerificationError):
    """Splits that differ from their record.

    To fix: build again with `download_mode='force_redownload'`, or correct the splits in the card.
    """


class ExpectedMoreSplitsError(SplitsVerificationError):
    """Recorded splits that were not generated.

    To fix: check that the data files of the split exist, or correct the splits in the card.
    """


class UnexpectedSplitsError(SplitsVerificationError):
    """Generated splits that are not recorded.

    To fix: add the split to the card, or remove its files.
    """


class NonMatchingSplitsSizesError(SplitsVerificationError, ValueError):
    """A split whose number of rows or bytes differs from the recorded one.

    To fix: build again with `download_mode='force_redownload'`, or correct the sizes in the card.
    """


class LockDriftError(VerificationError, ValueError):
    """A dataset that differs from its lock file.

    To fix: undo the changes that the message lists, or accept them with `lock_dataset(..., update=True)`.

    Args:
        path: the lock file.
        moved: the differences, one line each.
    """

    def __init__(self, path: str, moved: Iterable[str]) -> None:
        self.file = self.path = path
        self.moved = tuple(moved)
        listed = "; ".join(self.moved[:20]) + (f"; … ({len(self.moved)} in all)" if len(self.moved) > 20 else "")
        super().__init__(
            f"The dataset differs from its lock file {path}: {listed}. "
            "Undo the changes, or accept them with lock_dataset(..., update=True)."
        )


_REBUILD = (
    "If load_dataset built it, load it again, or run `datasets-core repair`: damaged shards are made again from their sources; "
    "else restore the file from a copy"
)


class DamagedShardError(VerificationError, OSError):
    """A shard on disk that is truncated, altered or not a shard.

    To fix: load the dataset again, or run `datasets-core repair`, which makes only the damaged shards again from their sources.
    Restore a saved folder from a copy. Check the disk.

    Attributes:
        path: the shard.
        batch: the record batch that is damaged; None if the file as a whole is damaged.
        rows: the rows of that batch, counted from the first row of the shard.

    Args:
        reason: what is wrong, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(
        self,
        path: str,
        reason: str,
        *,
        advice: str | None = None,
        batch: int | None = None,
        rows: range | None = None,
    ) -> None:
        self.file = self.path = path
        self.batch, self.rows = batch, rows
        self.reason, self.advice = reason, advice or _REBUILD
        super().__init__(f"{path}: {reason}. {self.advice}.")


class ManifestError(VerificationError, ValueError):
    """A dataset_info.json or another recorded description that cannot be read.

    To fix: delete the file and build again, or fix it at the place that the message names.

    Args:
        path: path of the file.
        reason: what is wrong, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(self, path: str, reason: str, *, advice: str = "Fix or delete that file") -> None:
        self.file = self.path = path
        self.reason, self.advice = reason, advice
        super().__init__(f"{path}: {reason.rstrip('.')}. {advice}.")


def restated(error: DatasetsCoreError, *, path: str, where: str = "") -> ManifestError | ColumnLimitError:
    """Return the error of a value as an error of its file, with the place before the same text.

    >>> print(restated(DatasetsCoreError("It is odd. Mend it."), path="a.md", where="line 3: "))
    a.md: line 3: It is odd. Mend it.
    """
    if isinstance(error, ColumnLimitError):
        return ColumnLimitError(path, error.value, error.limit)
    reason, stop, advice = str(error).removesuffix(".").rpartition(". ")
    return ManifestError(path, where + reason, advice=advice) if stop else ManifestError(path, where + advice)


class DownloadError(DatasetsCoreError, OSError):
    """A URL that could not be fetched.

    To fix: check the address and the connection, then run again; a download continues after its last byte.

    Args:
        url: the URL, without secrets.
        reason: what is wrong, without a full stop.
        status: status code of the response, if there was one.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(self, url: str, reason: str, *, status: int | None = None, advice: str | None = None) -> None:
        self.file = self.url = url
        self.reason, self.status = reason, status
        self.advice = advice or "Check the address and the connection, then run again"
        super().__init__(f"{url}: {reason}. {self.advice}.")


class UrlNotFoundError(DownloadError, FileNotFoundDatasetsError):
    """A URL that does not exist on its server.

    To fix: check the address.
    """


class FileChangedError(DownloadError):
    """A file that changed while it was read; bytes of two versions are never mixed.

    To fix: load the dataset again; states that were saved with the old file are invalid.

    Args:
        url: the file, a URL without secrets or a path.
        reason: how the change was detected, without a full stop.
    """

    def __init__(self, url: str, reason: str = "it changed while it was read") -> None:
        super().__init__(url, reason, advice="Load the dataset again; states saved with the old file are invalid")


class OfflineError(DownloadError, ConnectionError):
    """A URL that is needed while offline mode is on.

    To fix: turn offline mode off (`HF_DATASETS_OFFLINE`, `HF_HUB_OFFLINE`, the setting `offline`), or build the dataset
    once with a network.
    """


class HubError(DatasetsCoreError):
    """An error of the Hub, or of a repository on it.

    To fix: follow the advice of the message; `error.status` is the status code of the response.

    Args:
        repo_id: the repository.
        reason: what was found there, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
        revision: the requested revision, if known.
        status: the HTTP status, if any.
    """

    def __init__(
        self, repo_id: str, reason: str, advice: str, *, revision: str | None = None, status: int | None = None
    ) -> None:
        self.repo_id, self.reason, self.advice, self.revision, self.status = repo_id, reason, advice, revision, status
        super().__init__(f"The Hub dataset {repo_id!r} {reason}. {advice}.")


class RepositoryNotFoundError(DatasetNotFoundError, HubError):
    """A repository that does not exist, or that this user cannot access.

    To fix: check the name; log in (`hf auth login`) if the repository is private.

    Args:
        repo_id: the repository.
        token_sent: True if a token was sent.
        endpoint: the address of the Hub.
        status: the HTTP status.
        local: a local path that could have been meant, but does not exist.
    """

    def __init__(
        self,
        repo_id: str,
        *,
        token_sent: bool = False,
        endpoint: str | None = None,
        status: int | None = None,
        local: str | None = None,
    ) -> None:
        self.token_sent, self.endpoint, self.local = token_sent, endpoint, local
        where = f" at {redact(endpoint)}" if endpoint else ""
        if token_sent:
            reason = f"does not exist{where}, or is private and your token has no access to it"
            advice = "Check its name, or ask its owner for access"
        else:
            reason = f"does not exist{where}, or is private and no token was sent"
            advice = "Check its name, or log in (hf auth login, HF_TOKEN or token='hf_…')"
        HubError.__init__(self, repo_id, reason, advice, status=status)


class ForbiddenRepositoryError(DatasetNotFoundError, HubError, PermissionError):
    """A repository to which the Hub denies access.

    To fix: ask the owner for access, or use a token with the needed permission.
    """


class DisabledRepositoryError(ForbiddenRepositoryError):
    """A repository disabled by the Hub.

    To fix: use another dataset; the Hub disabled this one.
    """


class GatedRepositoryError(DatasetNotFoundError, HubError, PermissionError):
    """A repository that requires a request for access on its page.

    To fix: request access on the page that the message names, and log in.

    Args:
        repo_id: the repository.
        token_sent: True if a token was sent.
        page: the page to request access.
        status: the HTTP status.
    """

    def __init__(self, repo_id: str, *, token_sent: bool, page: str, status: int | None = None) -> None:
        self.token_sent, self.page = token_sent, page
        if token_sent:
            reason, advice = "is gated, and your token has no access to its files", f"Request access at {redact(page)}"
        else:
            reason = "is gated, and no token was sent"
            advice = f"Request access at {redact(page)} and log in (hf auth login, HF_TOKEN or token='hf_…')"
        HubError.__init__(self, repo_id, reason, advice, status=status)


class InvalidTokenError(HubError, PermissionError):
    """A token that is missing, or that the Hub rejects.

    To fix: log in again (`hf auth login`), or correct `HF_TOKEN` or `token=`.

    Args:
        reason: what is wrong, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
        repo_id: the repository.
        status: status code of the response, if there was one.
    """

    def __init__(self, reason: str, *, advice: str | None = None, repo_id: str = "", status: int | None = None) -> None:
        self.repo_id, self.reason, self.revision, self.status = repo_id, reason, None, status
        self.advice = advice or "Log in again (hf auth login), fix HF_TOKEN or token=, or pass token=False for public datasets"
        of = f" (while requesting {repo_id!r})" if repo_id else ""
        DatasetsCoreError.__init__(self, f"{reason}{of}. {self.advice}.")


class RevisionNotFoundError(DatasetNotFoundError, HubError):
    """A branch, tag or commit that a repository does not have.

    To fix: use one of the listed branches and tags, or a full commit hash.

    Args:
        repo_id: the repository.
        revision: the requested revision.
        known: existing branches and tags, if known.
        status: the HTTP status.
    """

    def __init__(self, repo_id: str, revision: str, *, known: Iterable[str] = (), status: int | None = None) -> None:
        self.known, self.value = tuple(known), revision
        listed = f" (available: {_names(self.known)})" if self.known else ""
        reason = f"has no revision {revision!r}{listed}"
        HubError.__init__(
            self, repo_id, reason, "Give a branch, a tag or a full commit hash as revision=", revision=revision, status=status
        )


class HubUnreachableError(OfflineError, HubError):
    """The Hub cannot be reached, and the cache does not have the requested files.

    To fix: check the connection and `HF_ENDPOINT`, then run again.

    Args:
        url: the requested URL.
        reason: why the request failed.
        repo_id, revision: the repository.
        status: the HTTP status, if any.
        commit: the commit of the revision, if the Hub reported it; cached files of another commit are not used.
    """

    def __init__(
        self,
        url: str,
        reason: str,
        *,
        repo_id: str,
        revision: str | None = None,
        status: int | None = None,
        commit: str | None = None,
    ) -> None:
        self.url, self.reason, self.repo_id, self.revision, self.status = url, reason, repo_id, revision, status
        self.commit, self.file, self.advice = commit, url, "Check the connection and HF_ENDPOINT, then run again"
        DatasetsCoreError.__init__(self, f"{url}: {reason}. {self.advice}.")


class EmptyRepositoryError(DataFilesNotFoundError, HubError):
    """A repository without data files.

    To fix: add data files to the repository, or name files with `data_files=`.

    Args:
        repo_id: the repository.
        revision: revision of the repository.
        reason: what it contains instead.
    """

    def __init__(self, repo_id: str, *, revision: str | None = None, reason: str = "holds no data files") -> None:
        at = f" at revision {revision!r}" if revision else ""
        HubError.__init__(
            self,
            repo_id,
            f"{reason}{at}",
            "Add data files (CSV, JSON, Parquet, text, images, …), or name files with data_files=",
            revision=revision,
        )


class PushError(HubError):
    """A push to the Hub that failed before its commit.

    To fix: fix the cause and push again; uploaded files are not sent twice.
    """


class PushConflictError(PushError):
    """A push that repeatedly conflicted with commits of others.

    To fix: push again when no other commits to the branch are in progress.
    """


class ArchiveError(FileFormatError):
    """An archive that is damaged, encrypted, too large, or not an archive.

    To fix: download or pack the archive again; the limits are settings (`max_archive_bytes` and others).
    """


class UnsafeArchiveError(ArchiveError, PermissionError):
    """An archive with a member that would be extracted outside the folder, is a device, or links outside.

    To fix: do not extract it by hand: ask its author for an archive without such members.
    """
