"""Errors of verification, downloads, archives and the Hub."""

from __future__ import annotations

from collections.abc import Iterable

from datasets_core.errors.base import DatasetsCoreError, FileNotFoundDatasetsError, _names, redact
from datasets_core.errors.data import FileFormatError
from datasets_core.errors.loading import DataFilesNotFoundError, DatasetNotFoundError


class VerificationError(DatasetsCoreError):
    """Something differs from its record."""


class ChecksumVerificationError(VerificationError):
    """A downloaded file differs from its record."""


class NonMatchingChecksumError(ChecksumVerificationError, ValueError):
    """The bytes of a file are not the bytes on record.

    Args:
        url: the URL or file.
        expected, found: what is on record, and what came.
        what: "sha256" or "size".
        advice: one thing to do, as a sentence without its stop.
        is_optional: whether a load may go without the comparison.

    `NonMatchingChecksumError("text")`, as code for Hugging Face `datasets` raises it, is an error of that text.
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
        self.file, self.value, self.advice = url, found, advice or "Delete it from the cache or mend the record"
        otherwise = "; verification_mode='no_checks' skips the comparison" if is_optional else ""
        super().__init__(f"{url} has {what} {found}, expected {expected}. {self.advice}{otherwise}.")


class MissingChecksumError(ChecksumVerificationError, ValueError):
    """URLs without a registered checksum, where each must have one.

    Args:
        urls: the URLs.
        path: the `checksums.tsv` without them; None if there is none.
    """

    def __init__(self, urls: Iterable[str], *, path: str | None) -> None:
        self.urls = tuple(urls)
        self.file = self.path = path
        super().__init__(
            f"No checksum is registered for {_names(self.urls)}{f' in {path}' if path else ''}, "
            "and force_checksums_validation=True demands one. Register what comes now with register_checksums=True."
        )


class ExpectedMoreDownloadedFilesError(ChecksumVerificationError):
    """Files on record were not downloaded."""


class UnexpectedDownloadedFileError(ChecksumVerificationError):
    """Files were downloaded that are not on record."""


class SplitsVerificationError(VerificationError):
    """The splits differ from their record."""


class ExpectedMoreSplitsError(SplitsVerificationError):
    """Splits on record were not made."""


class UnexpectedSplitsError(SplitsVerificationError):
    """Splits were made that are not on record."""


class NonMatchingSplitsSizesError(SplitsVerificationError, ValueError):
    """A split has another number of rows or bytes than on record."""


class LockDriftError(VerificationError, ValueError):
    """A dataset that is not what its lock says.

    Args:
        path: the lock.
        moved: what is not what it was, a line each.
    """

    def __init__(self, path: str, moved: Iterable[str]) -> None:
        self.file = self.path = path
        self.moved = tuple(moved)
        listed = "; ".join(self.moved[:20]) + (f"; … ({len(self.moved)} in all)" if len(self.moved) > 20 else "")
        super().__init__(
            f"The dataset is not what {path} says: {listed}. "
            "Put back what moved, or accept it with lock_dataset(..., update=True)."
        )


_REBUILD = "Build the dataset again with download_mode='force_redownload'"


class DamagedShardError(VerificationError, OSError):
    """A shard on disk is cut, altered or not ours."""

    def __init__(self, path: str, reason: str, *, advice: str | None = None) -> None:
        self.file = self.path = path
        self.reason, self.advice = reason, advice or _REBUILD
        super().__init__(f"{path}: {reason}. {self.advice}.")


class ManifestError(VerificationError, ValueError):
    """A dataset_info.json or another recorded description that cannot be read."""

    def __init__(self, path: str, reason: str, *, advice: str = "Mend or delete that file") -> None:
        self.file = self.path = path
        self.reason, self.advice = reason, advice
        super().__init__(f"{path}: {reason.rstrip('.')}. {advice}.")


class DownloadError(DatasetsCoreError, OSError):
    """A URL that could not be fetched."""

    def __init__(self, url: str, reason: str, *, status: int | None = None, advice: str | None = None) -> None:
        self.file = self.url = url
        self.reason, self.status = reason, status
        self.advice = advice or "Check the address and the connection, then run again"
        super().__init__(f"{url}: {reason}. {self.advice}.")


class UrlNotFoundError(DownloadError, FileNotFoundDatasetsError):
    """A URL at which its server has nothing."""


class FileChangedError(DownloadError):
    """A file that changed while it was read: bytes of two versions are never mixed.

    Args:
        url: the file, a URL without secrets or a path.
        reason: how the change was detected, without a final stop.
    """

    def __init__(self, url: str, reason: str = "it changed while it was read") -> None:
        super().__init__(url, reason, advice="Load the dataset again; saved states of the old file hold no longer")


class OfflineError(DownloadError, ConnectionError):
    """A URL that is needed while offline mode is on."""


class HubError(DatasetsCoreError):
    """An error of the Hub, or of a repository on it.

    Args:
        repo_id: the repository.
        reason: what was found there, without a final stop.
        advice: one thing to do, as a sentence without its stop.
        revision: the requested revision, if known.
        status: the HTTP status, if any.
    """

    def __init__(
        self, repo_id: str, reason: str, advice: str, *, revision: str | None = None, status: int | None = None
    ) -> None:
        self.repo_id, self.reason, self.advice, self.revision, self.status = repo_id, reason, advice, revision, status
        super().__init__(f"The Hub dataset {repo_id!r} {reason}. {advice}.")


class RepositoryNotFoundError(DatasetNotFoundError, HubError):
    """A repository that does not exist, or that this user may not see.

    Args:
        repo_id: the repository.
        token_sent: True if a token was sent.
        endpoint: the address of the Hub.
        status: the HTTP status.
        local: the local path that could have been meant, and does not exist.
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
            reason = f"does not exist{where}, or is private and your token may not see it"
            advice = "Check its name, or ask its owner for access"
        else:
            reason = f"does not exist{where}, or is private and no token was sent"
            advice = "Check its name, or log in (hf auth login, HF_TOKEN or token='hf_…')"
        beside = f"; nor is there a folder, script or data file {local} on this disk" if local else ""
        HubError.__init__(self, repo_id, reason + beside, advice, status=status)


class ForbiddenRepositoryError(DatasetNotFoundError, HubError, PermissionError):
    """A repository that the Hub does not let this user at."""


class DisabledRepositoryError(ForbiddenRepositoryError):
    """A repository disabled by the Hub."""


class GatedRepositoryError(DatasetNotFoundError, HubError, PermissionError):
    """A repository that requires a request for access on its page.

    Args:
        repo_id: the repository.
        token_sent: True if a token was sent.
        page: the page to request access.
        status: the HTTP status.
    """

    def __init__(self, repo_id: str, *, token_sent: bool, page: str, status: int | None = None) -> None:
        self.token_sent, self.page = token_sent, page
        if token_sent:
            reason, advice = "is gated, and your token has no access to its files", f"Ask for access at {redact(page)}"
        else:
            reason = "is gated, and its files are for users with access; no token was sent"
            advice = f"Ask for access at {redact(page)} and log in (hf auth login, HF_TOKEN or token='hf_…')"
        HubError.__init__(self, repo_id, reason, advice, status=status)


class InvalidTokenError(HubError, PermissionError):
    """A token unknown to the Hub, or a missing one."""

    def __init__(self, reason: str, *, advice: str | None = None, repo_id: str = "", status: int | None = None) -> None:
        self.repo_id, self.reason, self.revision, self.status = repo_id, reason, None, status
        self.advice = advice or "Log in again (hf auth login), mend HF_TOKEN or token=, or pass token=False for public datasets"
        of = f" (asked for {repo_id!r})" if repo_id else ""
        DatasetsCoreError.__init__(self, f"{reason}{of}. {self.advice}.")


class RevisionNotFoundError(DatasetNotFoundError, HubError):
    """A branch, tag or commit that a repository does not have.

    Args:
        repo_id: the repository.
        revision: the requested revision.
        known: existing branches and tags, if known.
        status: the HTTP status.
    """

    def __init__(self, repo_id: str, revision: str, *, known: Iterable[str] = (), status: int | None = None) -> None:
        self.known, self.value = tuple(known), revision
        listed = f" (known here: {_names(self.known)})" if self.known else ""
        reason = f"has no revision {revision!r}{listed}"
        HubError.__init__(
            self, repo_id, reason, "Give a branch, a tag or a full commit hash as revision=", revision=revision, status=status
        )


class HubUnreachableError(OfflineError, HubError):
    """The Hub cannot be reached, and the cache does not have the requested files.

    Args:
        url: the requested URL.
        reason: why the request failed.
        repo_id, revision: the repository.
        status: the HTTP status, if any.
        commit: the commit of the revision, if the Hub reported it: cached files of another commit are not used.
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
    """A repository without a file of data.

    Args:
        repo_id: the repository.
        revision: which revision of it.
        reason: what it holds instead.
    """

    def __init__(self, repo_id: str, *, revision: str | None = None, reason: str = "holds no data files") -> None:
        at = f" at revision {revision!r}" if revision else ""
        HubError.__init__(
            self,
            repo_id,
            f"{reason}{at}",
            "Put data there (CSV, JSON, Parquet, text, images, …), or name files with data_files=",
            revision=revision,
        )


class PushError(HubError):
    """A push to the Hub that did not come to its commit."""


class PushConflictError(PushError):
    """A push that others' commits came before, again and again."""


class ArchiveError(FileFormatError):
    """An archive that is damaged, encrypted, too large, or not an archive."""


class UnsafeArchiveError(ArchiveError, PermissionError):
    """An archive with a member that would leave its folder, or is a device or an outward link."""
