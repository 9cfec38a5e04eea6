"""Errors of requests and builds: datasets, configs, splits, versions, scripts, engines."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterable, Sequence
from typing import Any

from datasets_core.errors.base import (
    ConfigurationError,
    DatasetBuildError,
    DatasetsCoreError,
    FileNotFoundDatasetsError,
    _begun,
    _HarmlessWarning,
    _names,
)


class DataFilesNotFoundError(FileNotFoundDatasetsError):
    """A pattern that matches no data file, or a data file or folder that does not exist.

    To fix: check the path or pattern; relative paths start at the current folder, or at `data_dir=` if it is given.
    """


class DatasetNotFoundError(FileNotFoundDatasetsError, ValueError):
    """A reference to a dataset that does not exist.

    To fix: check the name or path. A name `org/name` is searched as a local path first, then on the Hub.
    """


class DefunctDatasetError(DatasetsCoreError):
    """A dataset that its author withdrew.

    To fix: load another version, or another dataset; the message has the author's reason.
    """


class BlockedVersionError(DefunctDatasetError, ValueError):
    """A version or config that the author of the builder blocked.

    To fix: choose another version or config; the message has the author's reason.

    Args:
        dataset: the dataset, with config and version.
        reason: the author's reason; None if not given.
    """

    def __init__(self, dataset: str, reason: str | None = None) -> None:
        self.dataset, self.reason, self.advice = dataset, reason, "Choose another version or config"
        why = reason.strip().rstrip(".") if reason else "the author gives no reason"
        super().__init__(f"{dataset} is blocked: {why}. {self.advice}.")


class FileInPlaceError(ConfigurationError, FileExistsError):
    """An output folder whose path is a file.

    To fix: pass another path, or remove the file.

    Args:
        path: path of the file.
    """

    def __init__(self, path: str) -> None:
        self.file = self.path = path
        super().__init__(f"{path} is a file, but must be a folder. Pass another path, or remove that file.")


class InvalidConfigNameError(ConfigurationError):
    """A config name that cannot be used as a folder name.

    To fix: use letters, digits, `-`, `_` and `.` only.
    """


class UnknownConfigError(ConfigurationError):
    """A config that the dataset does not have.

    To fix: pass one of the listed configs as the second argument of `load_dataset`.

    Args:
        name: the name that was passed; None if none was.
        dataset: name of the dataset.
        known: names of the configs.
    """

    def __init__(self, name: str | None, *, dataset: str, known: Iterable[str]) -> None:
        self.name, self.dataset, self.known, self.value = name, dataset, tuple(known), name
        if name is None:
            what = f"{dataset!r} has several configs and no default config."
        else:
            what = f"Unknown config {name!r} in {dataset!r}."
        super().__init__(f"{what} Available configs: {_names(self.known)}.")


class UnknownOptionError(ConfigurationError, TypeError):
    """A keyword argument that the builder does not support.

    To fix: use one of the listed options; see the reference of formats for what they do.

    Args:
        option: the argument.
        builder: the builder.
        known: the known options.
        near: other arguments of the call, as candidates for a misspelled name.
    """

    def __init__(self, option: str, *, builder: str, known: Iterable[str], near: Iterable[str] = ()) -> None:
        self.option, self.builder, self.known, self.value = option, builder, tuple(known), option
        from difflib import get_close_matches  # 5 ms that only a mistake needs

        others = list(dict.fromkeys((*self.known, *near)))
        begun = [name for name in others if len(name) > 2 and option.startswith(name)]  # sep for separator
        close = begun or get_close_matches(option, others)
        meant = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
        options = [*(name for name in close if name in self.known), *(name for name in self.known if name not in close)]
        super().__init__(f"Unknown option {option!r} for {builder!r}. {meant}Available options: {_names(options)}.")


class StreamStateError(ConfigurationError):
    """A saved state that does not belong to this stream, or is damaged.

    To fix: load the state into a stream that is made by the same calls from the same data; the message names the
    difference.
    """


class UnknownSplitError(DatasetsCoreError, ValueError, KeyError):
    """A split that the dataset does not have.

    To fix: use one of the listed splits.

    Args:
        name: the name that was passed.
        known: names of the splits.
        dataset: name of the dataset.
    """

    def __init__(self, name: str, *, known: Iterable[str], dataset: str | None = None) -> None:
        self.name, self.known, self.dataset, self.value = name, tuple(known), dataset, name
        of = f" in {dataset!r}" if dataset else ""
        super().__init__(f"Unknown split {name!r}{of}. Available splits: {_names(self.known)}.")


class NotPreparedError(UnknownSplitError):
    """A split of a dataset that is not built, so that its splits are unknown.

    To fix: call `builder.download_and_prepare()` before `builder.as_dataset()`.

    Args:
        name: name of the split.
        dataset: name of the dataset.
    """

    def __init__(self, name: str, *, dataset: str | None = None) -> None:
        super().__init__(name, known=(), dataset=dataset)
        of = f" of {dataset!r}" if dataset else ""
        self.advice = "Call download_and_prepare() first"
        self.args = (f"Unknown split {name!r}: the splits{of} are unknown before a build. {self.advice}.",)


class RankError(ConfigurationError, IndexError):
    """A rank that is out of range.

    To fix: pass a rank from 0 to the number of processes minus 1.

    Args:
        rank: the rank that was passed.
        world_size: number of ranks.
    """

    def __init__(self, rank: object, *, world_size: int) -> None:
        self.rank, self.world_size, self.value = rank, world_size, rank
        super().__init__(f"rank={rank!r} is out of range for {world_size} processes. Pass a number from 0 to {world_size - 1}.")


class SplitSyntaxError(DatasetsCoreError, ValueError):
    """A split expression that cannot be parsed, or has invalid bounds.

    To fix: write for example `train`, `train[:10%]`, `train[5:]+test` or `train[-100:]`.

    Args:
        spec: the expression.
        reason: what is wrong, without a full stop.
    """

    def __init__(self, spec: str, reason: str) -> None:
        self.spec, self.reason, self.value = spec, reason, spec
        examples = "Write for example 'train', 'train[:10%]' or 'train[5:]+test'."
        super().__init__(f"{spec!r} is not a valid split expression: {reason}. {examples}")


class EmptySplitError(DatasetsCoreError, ValueError):
    """A split expression that selects no rows although rows are needed.

    To fix: use an expression that selects at least one row.

    Args:
        spec: the expression.
        dataset: name of the dataset.
    """

    def __init__(self, spec: str, *, dataset: str) -> None:
        self.spec, self.dataset, self.split = spec, dataset, spec
        super().__init__(f"Split {spec!r} of {dataset} corresponds to no rows. Use an expression that selects rows.")


class ReferenceSyntaxError(ConfigurationError):
    """A dataset reference, or a version in it, that cannot be parsed.

    To fix: write `org/name` or `name/config:1.0.0`, and versions as `1.0.0` or `1.*.*`.
    """


class UnknownVersionError(ConfigurationError, LookupError):
    """A version that the dataset does not have.

    To fix: use one of the listed versions, or a pattern such as `1.*.*`.

    Args:
        version: the requested version or pattern.
        dataset: the dataset.
        known: the existing versions.
    """

    def __init__(self, version: object, *, dataset: str, known: Iterable[object]) -> None:
        self.version, self.dataset, self.known = str(version), dataset, tuple(map(str, known))
        self.value = self.version
        super().__init__(f"{dataset!r} has no version {str(version)!r}. Available versions: {_names(self.known)}.")


class MissingVersionError(ConfigurationError):
    """A builder that needs a version, but has none.

    To fix: set `VERSION = Version('1.0.0')` in the class of the builder.

    Args:
        dataset: name of the dataset.
    """

    def __init__(self, dataset: str) -> None:
        self.dataset, self.advice = dataset, "Set VERSION = Version('1.0.0') in its class"
        super().__init__(f"The builder of {dataset!r} has no version. {self.advice}.")


class UnknownExperimentError(ConfigurationError, KeyError):
    """An experiment that is not a member of an `Experiment` enum.

    To fix: pass a member of a subclass of `Experiment`.

    Args:
        experiment: the object that was passed.
    """

    def __init__(self, experiment: object) -> None:
        self.experiment = self.value = experiment
        super().__init__(
            f"Unknown experiment {experiment!r}. Pass a member of a subclass of Experiment, such as Packing.BY_LENGTH."
        )


class ExperimentalVersionWarning(_HarmlessWarning):
    """A version above the canonical one, which may still change.

    To fix: use the canonical version (leave out `version=`) if the rows must not change.
    """


class UntrustedScriptError(DatasetsCoreError, ValueError, PermissionError):
    """A dataset script that must not run: it is not trusted and cannot be confined, or scripts are disabled.

    To fix: read the script, then name its `.py` file or pass `trust_remote_code=True`; or use a machine that can confine
    it (`datasets-core doctor`).

    Args:
        path: the script.
        repository: where it comes from; None for a folder of this machine.
        commit: the commit of that repository.
        reason: why it cannot be confined, without a full stop.
        is_refused: True if the user disabled scripts.
        by: the argument or setting that disabled them.
        export: a revision of the repository that contains the rows without a script, if any.
    """

    def __init__(
        self,
        path: str,
        *,
        repository: str | None = None,
        commit: str | None = None,
        reason: str | None = None,
        is_refused: bool = False,
        by: str = "trust_remote_code=False",
        export: str | None = None,
    ) -> None:
        self.file = self.path = path
        self.repository, self.commit, self.reason = repository, commit, reason
        self.export, self._said = export, {"reason": reason, "is_refused": is_refused, "by": by}
        of = "" if repository is None else f" of {repository} at commit {commit or 'unknown'}"
        what = f"{path}{of} is a dataset script"
        bound = "" if repository is None else f" with revision={commit!r}: trust applies to that commit only"
        instead = "" if export is None else f"Pass revision={export!r} to load its rows without a script, or "
        if is_refused:
            ways = "pass trust_remote_code='sandbox' to run it confined, or read it and pass trust_remote_code=True"
            super().__init__(f"{what}, and {by} disables scripts. {_begun(instead + ways)}{bound}.")
            return
        cannot = "" if reason is None else f", and this machine cannot confine it: {reason}"
        named = " or name the .py file itself" if repository is None else bound
        super().__init__(
            f"{what}, and running it would run its author's code here{cannot}. "
            f"{_begun(f'{instead}read it, then pass trust_remote_code=True')}{named}."
        )

    def with_export(self, revision: str) -> UntrustedScriptError:
        """Return the same error with a revision that contains the rows without a script."""
        said: dict[str, Any] = self._said
        return UntrustedScriptError(self.path, repository=self.repository, commit=self.commit, export=revision, **said)


class UnknownFormatError(ConfigurationError):
    """A data format that no installed package reads.

    To fix: use one of the listed formats, or install the package that adds yours.

    Args:
        name: the name that was passed.
        known: names of the formats.
    """

    def __init__(self, name: str, *, known: Iterable[str]) -> None:
        self.name, self.known, self.value = name, tuple(known), name
        super().__init__(f"Unknown data format {name!r}. Available formats: {_names(self.known)}.")


class PluginError(ConfigurationError, ImportError):
    """A package whose entry point cannot be imported or is invalid.

    To fix: update or remove the package that the message names.
    """


class ScriptError(ConfigurationError, ImportError):
    """A dataset script that cannot be loaded.

    To fix: fix the script at the line that the message names.

    Args:
        path: the script, or a module next to it.
        reason: what is wrong, without a full stop.
        line: line number from 1, if any.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(self, path: str, reason: str, *, line: int | None = None, advice: str = "Fix the script") -> None:
        self.file = self.path = path
        self.reason, self.line, self.advice = reason, line, advice
        where = f", line {line}" if line is not None else ""
        super().__init__(f"{path}{where}: {reason}. {advice}.")


class DataFilesWarning(_HarmlessWarning):
    """Files that were found, but are ignored.

    To fix: pass `data_files=` to choose the files, or move the others out of the folder.
    """


class MissingDependencyError(DatasetsCoreError, ImportError):
    """A required package that is not installed.

    To fix: run the `pip install` command of the message.

    Args:
        package: its import name; None if it is only named in `said`.
        needed_for: what needs it, as the subject of a sentence.
        install: its name for pip, if different.
        said: the message of the package that requires it; it is shown if `package` is None.
        more: other required packages that are not installed either, each with its name for pip.
    """

    def __init__(
        self,
        package: str | None,
        *,
        needed_for: str,
        install: str | None = None,
        said: str | None = None,
        more: Sequence[tuple[str, str]] = (),
    ) -> None:
        self.package, self.needed_for, self.install, self.said = package, needed_for, install or package, said
        self.more = tuple(more)
        if package is None:
            super().__init__(
                f"{needed_for} needs a package that is not installed: {(said or 'its name is not known').rstrip('.')}."
            )
        elif self.more:
            names = ", ".join(repr(name) for name in (package, *(name for name, _ in self.more)))
            run = " ".join(repr(name) for name in dict.fromkeys((self.install, *(name for _, name in self.more))))
            self.advice = f"Run: pip install {run}"
            super().__init__(f"{needed_for} needs packages that are not installed: {names}. {self.advice}")
        else:
            self.advice = f"Run: pip install {self.install!r}"
            super().__init__(f"{needed_for} needs the package {package!r}, which is not installed. {self.advice}")


class UnpreparableVersionError(DatasetBuildError, ValueError):
    """A version that can still be read if it is prepared, but that this code can no longer prepare.

    To fix: choose one of the listed versions, or prepare this one with the older release that the message names.

    Args:
        version: the version.
        dataset: the dataset.
        release: the last release of the library that can prepare it, if known.
        known: the versions that can be prepared.
        where: the folder that does not contain it; None if a new preparation was requested.
    """

    def __init__(
        self, version: object, *, dataset: str, release: str | None, known: Iterable[object], where: str | None
    ) -> None:
        self.version, self.dataset, self.release, self.known = str(version), dataset, release, tuple(map(str, known))
        self.value, self.file = self.version, where
        what = "cannot be prepared again" if where is None else f"is not prepared in {where}"
        by = f"only release {release} of the library or an older one prepares it" if release else "it is too old to be prepared"
        way = f"Prepare it with release {release}, or choose a version" if release else "Choose a version"
        super().__init__(
            f"Version {version} of {dataset!r} {what}, and {by}. {way} that can be prepared: {_names(self.known)}."
        )


class WrongVersionError(DatasetBuildError, ValueError):
    """A build whose version number is too low for its changes.

    To fix: raise `VERSION` of the builder as the message says, or build without `check_version`.

    Args:
        dataset: the dataset.
        old: the version to which it is compared.
        new: the version of the build.
        right: the lowest version that it should have, if known.
        level: kind of change: "patch", "minor" or "major".
        changes: the differences, one line each.
    """

    def __init__(
        self, dataset: str, *, old: object, new: object, right: object | None, level: str, changes: Iterable[str]
    ) -> None:
        self.dataset, self.old, self.new, self.level, self.changes = dataset, str(old), str(new), level, tuple(changes)
        self.right = None if right is None else str(right)
        what = "; ".join(self.changes[:3]) + ("; …" if len(self.changes) > 3 else "")
        self.value = str(new)
        self.advice = f"Use version {self.right or 'a higher one'} or higher, or build without check_version"
        super().__init__(
            f"Version {new} of {dataset!r} is a {level} change of {old}, but its number does not show it: {what}. "
            f"{self.advice}."
        )


class ManualDownloadError(DatasetBuildError):
    """A dataset whose files must be downloaded manually.

    To fix: download the files by the instructions in the message, and pass their folder as `data_dir=`.

    `ManualDownloadError("text")`, as code for Hugging Face `datasets` raises it, has the message `text`.

    Args:
        dataset: name of the dataset.
        instructions: what the dataset script says about the download.
    """

    def __init__(self, dataset: str = "", instructions: str | None = None) -> None:
        if instructions is None:
            super().__init__(dataset)
            return
        self.dataset, self.instructions, self.advice = dataset, instructions, instructions
        super().__init__(f"{dataset!r} needs files that you download yourself; pass their folder as data_dir=. {instructions}")


class WorkerDiedError(DatasetBuildError, RuntimeError):
    """A worker process ended without a result (killed, or out of memory).

    To fix: use fewer processes or smaller batches if memory ran out. The message names the signal, and the rows or the
    job.

    Attributes:
        how: how it ended, if known, such as "was killed by signal 9 (SIGKILL)".

    Args:
        message: what happened, and what to do.
        job: number of its job, if known.
    """

    how = ""

    def __init__(self, message: str, *, job: int | None = None) -> None:
        self.job = job
        super().__init__(message)


class ScriptTimeoutError(DatasetBuildError, TimeoutError):
    """A dataset script that exceeded its time limit.

    To fix: fix the code if it hangs; otherwise pass a larger `timeout=`, or None for no limit.

    Args:
        script: the script.
        doing: the activity, such as "importing it" or "generating the rows of split 'train'".
        seconds: the time limit.
        path, line: the position of its code at that time, if known.
        split: the split that was being generated, if any.
        row: number of rows yielded, if known.
    """

    def __init__(
        self,
        script: str,
        doing: str,
        *,
        seconds: float,
        path: str | None = None,
        line: int | None = None,
        split: str | None = None,
        row: int | None = None,
    ) -> None:
        self.script, self.doing, self.seconds = script, doing, seconds
        self.file = self.path = path or script
        self.line, self.split, self.row = line, split, row
        where = f", line {line}" if line is not None else ""
        of = "" if self.path == script else f" of {script}"
        reached = "" if row is None else f", at row {row}"
        super().__init__(
            f"{self.path}{where}: {doing}{of} was not finished after {seconds:g} seconds{reached}. "
            "Fix the code if it hangs, or allow more time (timeout=, or None for no limit)."
        )


class ConfinementUnavailableError(DatasetsCoreError, PermissionError):
    """A script that must run confined on a machine that cannot confine it.

    To fix: use Linux 5.13 or newer, or read the script and pass `trust_remote_code=True`. `datasets-core doctor` shows
    what is missing.

    Args:
        reason: what is missing, without a full stop.
        advice: one thing to do, as a sentence without its full stop.
    """

    def __init__(self, reason: str, *, advice: str | None = None) -> None:
        otherwise = "Run it on Linux 5.13 or later, or pass trust_remote_code=True if you have read the script and trust it"
        self.reason, self.advice = reason, advice or otherwise
        super().__init__(f"This machine cannot confine a dataset script: {reason}. {self.advice}.")


class DeniedAccessError(DatasetBuildError, PermissionError):
    """A forbidden operation that a confined script tried.

    To fix: pass `trust_remote_code=True` if you trust the script; scripts should download by `dl_manager`.

    Args:
        tried: the operation, as in "it tried to …": `connect to ('1.2.3.4', 80)`, `read '/etc/passwd'`.
        path: the file of the script, if known.
        line: the line in it, from 1.
    """

    def __init__(self, tried: str, *, path: str | None = None, line: int | None = None) -> None:
        self.file = self.path = path
        self.tried, self.line, self.value = tried, line, tried
        where = "A confined script" if path is None else f"The script {path}" + (f", line {line}," if line else "")
        super().__init__(
            f"{where} tried to {tried}. Confined scripts have no network access, start no processes, and read and write only "
            "their own files. Pass trust_remote_code=True if you trust the script."
        )
        self.errno = errno.EPERM  # by which code knows what is denied


class DeniedAccessWarning(_HarmlessWarning):
    """A denial of access that a sandboxed script ignored.

    To fix: compare the rows with those of a trusted build, or read what the script does at the line that the message
    names.
    """


class ScriptMemoryError(DatasetBuildError, MemoryError):
    """A dataset script that needs more memory than its limit.

    To fix: keep fewer rows in memory at a time, or raise the setting `confined_memory_bytes`.

    Args:
        what: what needed the memory, as the subject of a sentence.
        limit: the limit in bytes, if known.
    """

    def __init__(self, what: str, *, limit: int | None = None) -> None:
        self.what, self.limit = what, limit
        than = "than is available" if limit is None else f"than its limit of {limit:,} bytes"
        self.advice = "Keep less in memory at a time, or raise the setting confined_memory_bytes"
        super().__init__(f"{what} needs more memory {than}. {self.advice}.")


class DatasetDiskError(DatasetBuildError, OSError):
    """A refusal of the system: a disk that is full, damaged, read-only or not writable for this user, or too many open files.

    To fix: free space, check permissions, or choose another disk with the setting `cache_dir`.

    Args:
        path: the file or folder that could not be written or read.
        reason: the message of the operating system.
        needed: bytes needed, if known.
        free: bytes free, if known.
        action: what failed: "write", "read", or "use" if it can be either.
        advice: what to do, if this differs from the usual advice.
    """

    def __init__(
        self,
        path: str,
        reason: str,
        *,
        needed: int | None = None,
        free: int | None = None,
        action: str = "write",
        advice: str | None = None,
    ) -> None:
        self.file = self.path = path
        self.reason, self.needed, self.free, self.action, self.advice = reason, needed, free, action, advice
        sizes = [f"{count:,} bytes {what}" for count, what in ((needed, "needed"), (free, "free")) if count is not None]
        detail = f" ({', '.join(sizes)})" if sizes else ""
        advice = advice or "Free space, check the permissions, or use another path"
        super().__init__(f"Cannot {action} {path}: {reason}{detail}. {advice}.")

    @classmethod
    def of(
        cls, error: OSError, path: str, *, action: str = "write", needed: int | None = None, free: int | None = None
    ) -> DatasetDiskError:
        """Return the error for an `OSError` of the system."""
        reason = error.strerror or str(error)
        number = errno.ENOMEM if error.errno is None else error.errno
        if number in PASSING:
            return cls(path, reason, action="use", advice=PASSING[number])
        if action == "read":
            return cls(path, reason, action=action, advice="Check the file, its permissions and its disk")
        return cls(path, reason, action=action, needed=needed, free=free)


PASSING = {
    errno.EMFILE: "Close files, or raise the limit of open files (`ulimit -n`)",
    errno.ENFILE: "End programs that have many open files",
    errno.ENOMEM: "Free memory, or use fewer processes",
    errno.EINTR: "Run it again",
}
"""Errors of the system that are unrelated to the file, each with advice."""


def disk_usage(path: str) -> tuple[int, int, int] | None:
    """Return the total, used and free bytes of the disk of `path`; None if the system does not report them."""
    import shutil  # 2 ms with its archives; only a full disk asks

    here = os.path.abspath(path)
    while not os.path.exists(here) and os.path.dirname(here) != here:
        here = os.path.dirname(here)
    try:
        return shutil.disk_usage(here)
    except OSError:
        return None
