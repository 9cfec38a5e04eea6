"""`BuildOptions`: the arguments of `download_and_prepare`, parsed once; download managers, split checks, write order."""

from __future__ import annotations

import contextlib
import itertools
import operator
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from datasets_core.building.hooks import Builder, Hooks, SplitGenerator
from datasets_core.config import parse_size, settings
from datasets_core.engines import Engine, get_engine
from datasets_core.engines.deadline import SERIAL, Deadline, stopped_at
from datasets_core.errors import (
    ConfigurationError,
    DamagedShardError,
    ExpectedMoreSplitsError,
    ManifestError,
    ManualDownloadError,
    MissingChecksumError,
    NonMatchingSplitsSizesError,
    UnexpectedSplitsError,
    describe,
    logger_of,
    redact,
)
from datasets_core.fetch.checksums import (
    CHECKSUMS_NAME,
    Digest,
    DownloadConfig,
    DownloadMode,
    FileRecord,
    RegisteredFile,
    VerificationMode,
    check_files,
    check_registered,
    checksums_text,
    is_file_name,
    parse_checksums,
)
from datasets_core.files import check_writable, is_local_path, is_url, join, open_binary, write_atomically
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.split_info import SplitInfo
from datasets_core.meta.splits import is_split_name
from datasets_core.store.manifest import EXTENSIONS, Manifest

if TYPE_CHECKING:
    from datasets_core.fetch.downloads import DownloadManager

# Expected and recorded facts: the splits, their rows and bytes, and the downloads.


STRENGTH = {VerificationMode.NO_CHECKS: 0, VerificationMode.BASIC_CHECKS: 1, VerificationMode.ALL_CHECKS: 2}

_BLOCK = 1 << 20

LOCK_NAME = "dataset.lock"  # default name for `lock_dataset` and `load_dataset`


def check_splits(
    expected: Mapping[str, SplitInfo] | None, found: Mapping[str, SplitInfo], *, dataset: str, mode: VerificationMode
) -> None:
    """Compare the built splits with the recorded ones.

    Args:
        expected: the recorded splits; None if none are.
        found: the splits that were built.
        dataset: name of the dataset for messages.
        mode: bytes are only compared under `all_checks`, since they depend on the storage of rows.

    Raises:
        ExpectedMoreSplitsError: a recorded split was not built.
        UnexpectedSplitsError: a built split is not recorded.
        NonMatchingSplitsSizesError: the number of rows or bytes of a split differs.
    """
    if not expected or mode is VerificationMode.NO_CHECKS:
        return
    missing = [name for name in expected if name not in found]
    if missing:
        raise ExpectedMoreSplitsError(
            f"{dataset!r} was built without the recorded splits {missing} (built: {list(found)})",
            advice="Fix the record or the data; verification_mode='no_checks' skips the comparison",
            value=dataset,
        )
    extra = [name for name in found if name not in expected]
    if extra:
        raise UnexpectedSplitsError(
            f"{dataset!r} has the splits {extra}, which are not recorded (recorded: {list(expected)})",
            advice="Fix the record or the data; verification_mode='no_checks' skips the comparison",
        )
    wrong = [line for name in found for line in _differences(name, expected[name], found[name], mode)]
    if wrong:
        raise NonMatchingSplitsSizesError(
            f"{dataset!r} differs from its record: {'; '.join(wrong)}",
            advice="Fix the record or the data; verification_mode='no_checks' skips the comparison",
        )


def _differences(name: str, expected: SplitInfo, found: SplitInfo, mode: VerificationMode) -> Iterable[str]:
    wanted: dict[str, object] = {}
    if expected.num_examples and expected.num_examples != found.num_examples:  # old records use 0 for unknown
        wanted["num_examples"] = expected.num_examples
    if mode is VerificationMode.ALL_CHECKS and expected.num_bytes and not _about(expected.num_bytes, found.num_bytes or 0):
        wanted["num_bytes"] = expected.num_bytes
    if wanted:
        real = {what: getattr(found, what) for what in wanted}
        yield f"split {name!r} should have {describe(wanted)}, but has {describe(real)}"


def _about(expected: int, found: int) -> bool:
    """Return True if sizes differ only by offsets and bitmaps of record batches, since other writers make other batches."""
    return abs(expected - found) * 100 <= expected


def check_downloads(expected: Mapping[str, Any] | None, recorded: Mapping[str, Any] | None, mode: VerificationMode) -> None:
    """Compare the downloads with the recorded ones.

    Raises:
        ChecksumVerificationError: a file is missing, not recorded, or different.
    """
    if expected and recorded is not None:
        check_files(expected, recorded, mode)


def recorded_downloads(builder: Builder, mode: VerificationMode) -> Mapping[str, Any] | None:
    """Return the recorded downloads of a builder; None if they are not compared.

    Hugging Face `datasets` only compared them under `all_checks`, and files of many scripts have changed since.
    """
    if builder.is_of_old_datasets and mode is not VerificationMode.ALL_CHECKS:
        return None
    return builder.recorded.download_checksums or None


def check_manifest(builder: Builder, manifest: Manifest, downloads: Mapping[str, Any] | None, mode: VerificationMode) -> None:
    """Compare a complete dataset and its downloads with the records of its builder.

    A dataset of files that the user chose is a part of the recorded one, and not compared; for one that
    has only the first rows of each split, only downloads are compared.

    Raises:
        VerificationError: something differs.
    """
    if builder.is_partial:
        return
    check_downloads(recorded_downloads(builder, mode), downloads, mode)
    if manifest.max_rows is None:
        check_splits(builder.recorded.splits, manifest.info.splits or {}, dataset=builder.label, mode=mode)


def check_hashes(
    folder: str,
    manifest: Manifest,
    on_bytes: Callable[[int], object] = lambda done: None,
    storage_options: dict[str, Any] | None = None,
) -> None:
    """Hash every shard, local or remote, and compare it with its record.

    Raises:
        DamagedShardError: the bytes of a shard differ.
    """
    for shard in manifest.shards:
        path = join(folder, shard.name)
        digest = Digest()
        with open_binary(path, storage_options) as handle:
            while block := handle.read(_BLOCK):
                digest.update(block)
        found = digest.hexdigest()
        on_bytes(shard.num_bytes)
        if found != shard.sha256:
            raise DamagedShardError(path, f"has sha256 {found}, but {shard.sha256} is recorded")


_OLD_OPTIONS = {"ignore_verifications", "try_from_hf_gcs", "use_auth_token", "beam_runner", "beam_options", "disable_tqdm"}


class BuildOptions(NamedTuple):
    """Parsed arguments of `download_and_prepare`."""

    output_dir: str
    download_config: DownloadConfig | None = None
    mode: DownloadMode = DownloadMode.REUSE_DATASET_IF_EXISTS
    verification: VerificationMode = VerificationMode.BASIC_CHECKS
    dl_manager: Any = None
    base_path: str | None = None
    file_format: str = "arrow"
    max_shard_bytes: int | None = None
    num_proc: int | None = None
    storage_options: dict[str, Any] | None = None
    engine: Engine = SERIAL
    num_shards: int | None = None
    disable_shuffling: bool = False
    max_rows: int | None = None
    registers_checksums: bool = False
    demands_checksums: bool = False
    checks_version: bool = False
    timeout: Deadline | None = None

    @classmethod
    def of(cls, **given: Any) -> BuildOptions:
        """Return the options for arguments of `download_and_prepare`, including `output_dir`.

        Raises:
            ConfigurationError: a mode, format, size, count or option is invalid.
        """
        arguments = {_ARGUMENTS.get(name, name): name for name in cls._fields}
        unknown = sorted(given.keys() - arguments.keys() - _OLD_OPTIONS)
        if unknown:
            raise ConfigurationError(f"download_and_prepare() has no option {unknown[0]!r}", advice="Omit it")
        is_unchecked = given.get("ignore_verifications")
        said = {arguments[name]: value for name, value in given.items() if name in arguments and value is not None}
        if given.get("file_format", "arrow") not in EXTENSIONS:
            raise ConfigurationError(
                f"Unknown file_format {given['file_format']!r}. Available formats: {', '.join(map(repr, EXTENSIONS))}."
            )
        options = cls(**said)
        verification = VerificationMode.NO_CHECKS if is_unchecked else VerificationMode(options.verification)
        downloads = options.download_config or DownloadConfig()
        demands = bool(options.demands_checksums or downloads.force_checksums_validation)
        if demands and verification is VerificationMode.NO_CHECKS:
            raise ConfigurationError(
                "force_checksums_validation=True requires checks, but verification_mode='no_checks' disables them. Omit one."
            )
        is_serial = "engine" not in said and options.num_proc is None and settings().engine is None
        return options._replace(
            mode=DownloadMode(options.mode),
            verification=verification,
            max_shard_bytes=None if options.max_shard_bytes is None else parse_size(options.max_shard_bytes),
            engine=SERIAL if is_serial else get_engine(said.get("engine"), num_proc=options.num_proc),
            num_shards=_count("num_shards", options.num_shards) or None,  # 0 means unset, as elsewhere
            disable_shuffling=bool(options.disable_shuffling),
            max_rows=_count("max_examples_per_split", options.max_rows),
            registers_checksums=bool(options.registers_checksums or downloads.register_checksums),
            demands_checksums=demands,
            checks_version=bool(options.checks_version),
            timeout=None if options.timeout is None else Deadline.of(options.timeout),
        )


_ARGUMENTS = {
    "mode": "download_mode",
    "verification": "verification_mode",
    "max_shard_bytes": "max_shard_size",
    "max_rows": "max_examples_per_split",
    "registers_checksums": "register_checksums",
    "demands_checksums": "force_checksums_validation",
    "checks_version": "check_version",
}
"""Return the name of an option in `download_and_prepare`."""


def _count(name: str, given: Any) -> int | None:
    if given is None:
        return None
    try:
        count = -1 if isinstance(given, bool) else operator.index(given)  # accepts numpy integers, too
    except TypeError:
        count = -1
    if count < 0:
        raise ConfigurationError(f"{name} is {given!r}", advice="Pass a non-negative integer, or omit it")
    return count


# Preparation of a builder before rows are generated: its download manager and its splits.


def has_register(builder: Builder, options: BuildOptions) -> bool:
    """Return True if checksums of downloads of the build are, or will be, registered."""
    if options.registers_checksums or options.demands_checksums or builder.locked_checksums:
        return True
    path = builder.checksums_path
    return path is not None and (options.dl_manager is not None or os.path.lexists(path))


def takes_local_files(builder: Builder, options: BuildOptions) -> bool:
    """Return True if a build only needs its files to exist, as for local data files of a format.

    Recorded hashes (`all_checks`) and sizes require a `DownloadManager`.
    """
    data_files = builder.config.data_files
    return (
        builder.reads_in_order
        and options.dl_manager is None
        and options.verification is not VerificationMode.ALL_CHECKS
        and not getattr(options.download_config, "extract_compressed_file", False)
        and (builder.is_partial or not builder.recorded.download_checksums)
        and isinstance(data_files, DataFilesDict)
        and data_files.is_local
    )


class LocalFiles:
    """Local data files, passed to their builder unchanged, each checked once.

    For other requests, such as the members of an archive, the download manager is created on first use.

    Args:
        manager: creates the download manager.

    Attributes:
        local_paths: the requested files.
    """

    is_streaming = False

    def __init__(self, manager: Callable[[], Any]) -> None:
        self._make = manager
        self._manager: Any = None
        self._sizes: dict[str, int | None] = {}
        self.local_paths: set[str] = set()

    def download(self, paths: Any) -> Any:
        """Return absolute local paths, by split or in a list, unchanged.

        Raises:
            DataFilesNotFoundError: a file does not exist.
        """
        if self._manager is not None or not isinstance(paths, dict) or not all(map(_are_local, paths.values())):
            return self._real.download(paths)
        for path in dict.fromkeys(itertools.chain.from_iterable(paths.values())):
            try:
                found = os.stat(path)
            except (FileNotFoundError, NotADirectoryError):
                return self._real.download(paths)  # raises the error for the missing file
            is_file = stat.S_ISREG(found.st_mode)
            self._sizes[path] = found.st_size if is_file else None
            if is_file:
                self.local_paths.add(path)
        return {name: list(listed) for name, listed in paths.items()}

    def get_recorded_sizes_checksums(self) -> dict[str, dict[str, int | str | None]]:
        if self._manager is not None:
            found: dict[str, dict[str, int | str | None]] = self._manager.get_recorded_sizes_checksums()
            return found
        return {path: {"num_bytes": size, "checksum": None} for path, size in self._sizes.items()}

    @property
    def cache_folders(self) -> tuple[str, ...]:
        """See `DownloadManager.cache_folders`; local files are not in these folders."""
        folders: tuple[str, ...] = () if self._manager is None else self._manager.cache_folders
        return folders

    def manage_extracted_files(self) -> None:
        if self._manager is not None:
            self._manager.manage_extracted_files()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    @property
    def _real(self) -> Any:
        """Return the download manager, with the earlier requests."""
        if self._manager is None:
            self._manager = self._make()
            if self._sizes:
                self._manager.download(list(self._sizes))
            self.local_paths = self._manager.local_paths
        return self._manager


def _are_local(paths: Any) -> bool:
    return isinstance(paths, list) and all(type(path) is str and is_local_path(path) for path in paths)


def download_manager(builder: Builder, options: BuildOptions, *, kind: type[DownloadManager] | None = None) -> Any:
    """Return the download manager for the files of a builder, with the options of the user."""
    from datasets_core.fetch.downloads import DownloadManager  # takes 20 ms; local files do not need it

    if options.download_config is None:
        config = DownloadConfig(cache_dir=builder.download_dir, token=builder.token, storage_options=builder.storage_options)
    else:
        config = options.download_config.copy()
    if options.mode is DownloadMode.FORCE_REDOWNLOAD:
        config.force_download = config.force_extract = True
    manager = (kind or DownloadManager)(
        dataset_name=builder.dataset_name,
        data_dir=builder.config.data_dir,
        download_config=config,
        base_path=options.base_path,
    )
    manager.verification = options.verification
    if not builder.is_partial:
        manager.expected = recorded_downloads(builder, options.verification)
    return manager


def named_splits(builder: Builder, dl_manager: Any, *, deadline: Deadline | None = None) -> list[SplitGenerator]:
    """Return the splits defined by a builder.

    Args:
        builder: the builder.
        dl_manager: the download manager.
        deadline: deadline of the author's code; None if the builder enforces it itself.

    Raises:
        ManualDownloadError: files must be downloaded manually.
        DatasetGenerationError, ScriptTimeoutError: the author's code failed, or did not finish in time.
        ConfigurationError: the hook did not return splits.
    """
    instructions = builder.manual_download_instructions
    if instructions is not None and getattr(dl_manager, "manual_dir", None) is None:
        raise ManualDownloadError(builder.label, str(instructions))

    def name_them() -> tuple[Any, list[Any] | None]:
        try:
            named = builder.split_generators(dl_manager)
            return named, list(named) if isinstance(named, Iterable) else None
        except TypeError as error:
            if getattr(dl_manager, "misses_manual_dir", False) and "None" in str(error):
                from datasets_core.building.failures import missed_manual_dir  # here and below: only needed for errors

                raise missed_manual_dir(error) from error
            raise

    doing = "returning its splits"
    timer = deadline if builder.is_stopped_by_timer else None
    try:
        named, splits = name_them() if timer is None else stopped_at(timer, name_them, doing=doing)
    except BaseException as error:
        from datasets_core.building.failures import fail_hook

        fail_hook(error, builder, timer, doing=doing, label=builder.label)
        raise
    label = _HookLabel(builder)
    if splits is None:
        raise ConfigurationError(
            f"_split_generators of {label} returned {named!r} ({type(named).__name__}). Return a list of SplitGenerators."
        )
    check_split_list(splits, label)
    return splits


class _HookLabel:
    """The dataset with the location of its hook, computed when a message needs it."""

    def __init__(self, builder: Builder) -> None:
        self._builder = builder

    def __str__(self) -> str:
        from datasets_core.building.failures import hook_place

        place = hook_place(type(self._builder), "_split_generators")
        return f"{self._builder.label} ({place})" if place else self._builder.label


def check_split_list(splits: Sequence[Any], label: object) -> None:
    """Check that splits are a list of `SplitGenerator`s.

    Args:
        splits: what the hook returned.
        label: the dataset, as text or as an object that becomes text in messages.

    Raises:
        ConfigurationError: the value or a name is invalid.
    """
    for split in splits:
        if not isinstance(split, SplitGenerator):
            raise ConfigurationError(
                f"_split_generators of {label} returned {split!r} ({type(split).__name__}). Return a list of SplitGenerators."
            )
        if not isinstance(split.gen_kwargs, dict):
            raise ConfigurationError(
                f"gen_kwargs of split {split.name!r} of {label} is {split.gen_kwargs!r}. Pass a dict of keyword arguments."
            )
    check_split_names([split.name for split in splits], label)


def check_split_names(names: Sequence[str], label: object) -> None:
    """Refuse names that no split expression can contain.

    Raises:
        ConfigurationError: there is no split, or a name is duplicate, `all`, or has invalid characters.
    """
    if not names:
        raise ConfigurationError(f"{label} has no splits", advice="Return at least one SplitGenerator from _split_generators")
    for name in names:
        if not is_split_name(name):
            raise ConfigurationError(
                f"{label} has an invalid split {name!r}", advice="Use letters, digits, '_', '-', and '.' between them"
            )
        if name.lower() == "all":
            raise ConfigurationError(
                f"{label} has a split named {name!r}, but 'all' means the union of all splits", advice="Choose another name"
            )
        if names.count(name) > 1:
            raise ConfigurationError(f"{label} has two splits named {name!r}", advice="Use a different name for each split")


# The order in which rows are written, and whether an existing dataset has it.


Order = Literal["source", "hash", "key"]


def wanted_order(builder: Hooks, *, disable_shuffling: bool = False) -> Order:
    """Return the write order: none, by the hash of keys, or by keys, if these are integers."""
    if not builder.shuffle_on_write:
        return "source"
    return "key" if disable_shuffling or builder.info.disable_shuffling else "hash"


def is_wanted(manifest: Manifest, builder: Hooks, options: BuildOptions) -> bool:
    """Return True if an existing dataset has the requested rows, order and number of shards."""
    wanted = wanted_order(builder, disable_shuffling=options.disable_shuffling)
    orders = {"source": ("source",), "hash": ("hash",), "key": ("key", "source")}[wanted]
    if manifest.write_order not in orders or manifest.disable_shuffling != (wanted == "key"):
        return False
    lengths = manifest.split_lengths().values()
    return manifest.max_rows == options.max_rows and (
        options.num_shards is None or all(len(rows) == options.num_shards or not sum(rows) for rows in lengths)
    )


def variant_folder(folder: str, builder: Hooks, *, disable_shuffling: bool, max_rows: int | None) -> str:
    """Return the folder in the cache for a build with other rows or another order than the default.

    The dataset in `folder` is not changed.
    """
    wanted = wanted_order(builder, disable_shuffling=disable_shuffling)
    unshuffled = "-unshuffled" if wanted != wanted_order(builder) else ""
    return f"{folder}{unshuffled}" + ("" if max_rows is None else f"-first{max_rows}")


# The `checksums.tsv` next to a script: reading it, and writing the checksums of downloads.


logger = logger_of(__name__)

_MAX_BYTES = 256 << 20


class Register(NamedTuple):
    """Registered checksums of the downloads of one build, and their use.

    Attributes:
        path: the `checksums.tsv`; None without a place for one.
        entries: its entries, by URL.
        mode: `no_checks` compares nothing.
        is_written: True to register downloads instead of comparing them.
        is_demanded: True if an unregistered URL is an error.
    """

    path: str | None
    entries: Mapping[str, RegisteredFile]
    mode: VerificationMode
    is_written: bool = False
    is_demanded: bool = False

    @classmethod
    def of(cls, builder: Builder, options: BuildOptions) -> Register:
        """Return the register of a builder, before anything is downloaded.

        Raises:
            ConfigurationError: it has to be written, but the builder has no script.
            DatasetDiskError: it cannot be written.
            ManifestError: the file is invalid.
        """
        path = builder.checksums_path
        if options.registers_checksums:
            check_place(path, builder.label)
        entries = {**read_registered(path), **builder.locked_checksums}
        return cls(path, entries, options.verification, options.registers_checksums, options.demands_checksums)

    def equip(self, manager: Any) -> Any:
        """Return a download manager that compares or records what it fetches."""
        if hasattr(manager, "registered"):
            manager.registered, manager.registered_path = self.entries, self.path
            manager.download_config = manager.download_config.copy()
            manager.download_config.register_checksums = self.is_written
            manager.download_config.force_checksums_validation = self.is_demanded
        return manager

    def settle(self, manager: Any, downloads: Mapping[str, Any] | None) -> None:
        """Register or compare the downloads.

        Raises:
            NonMatchingChecksumError, MissingChecksumError: as `check`.
            DatasetDiskError: the register cannot be written.
        """
        if self.is_written and self.path is not None and hasattr(manager, "registrable"):
            register(self.path, manager.registrable())
        else:
            self.check(downloads)

    def check(self, downloads: Mapping[str, Any] | None) -> None:
        """Compare the recorded downloads of this build, or of an earlier one.

        Raises:
            NonMatchingChecksumError: the size or sha256 of a download differs from the registered one.
            MissingChecksumError: a download is not registered, though all must be.
        """
        if self.mode is VerificationMode.NO_CHECKS or self.is_written:
            return
        found = {url: FileRecord.from_dict(record) for url, record in (downloads or {}).items()}
        known = {redact(url): entry for url, entry in self.entries.items()}
        missing = [url for url in found if is_url(url) and (url not in known or known[url].checksum is None)]
        if self.is_demanded and missing:
            raise MissingChecksumError(missing, path=self.path)
        for url, record in found.items():
            if url in known:
                check_registered(url, known[url].record, record)


def read_registered(path: str | None, *, within: str | None = None) -> dict[str, RegisteredFile]:
    """Return the registered entries by URL; empty without a file.

    Args:
        path: the file.
        within: the folder that must contain it after resolving links; None for any.

    Raises:
        ManifestError: the file is invalid; the error names the line.
    """
    text = _text(path, within=within)
    if path is None or text is None:
        return {}
    return {url: RegisteredFile(**entry) for url, entry in parse_checksums(text, path=path).items()}


def check_place(path: str | None, label: str) -> str:
    """Return the register file, if it can be written: checked before anything is downloaded.

    Raises:
        ConfigurationError: the builder has no script.
        DatasetDiskError: the folder cannot be written.
        ManifestError: the existing file is invalid.
    """
    if path is None:
        raise ConfigurationError(
            f"{label} has no script whose folder could contain {CHECKSUMS_NAME}", advice="Omit register_checksums=True"
        )
    read_registered(path)
    check_writable(path)
    return path


def register(path: str, found: Mapping[str, RegisteredFile]) -> None:
    """Merge the checksums of downloads into the file; an entry with another size or sha256 is replaced.

    Processes that register at the same time take turns, and the file has the entries of all.

    Raises:
        DatasetDiskError: the file cannot be written; an existing file stays unchanged.
        ManifestError: the existing file is invalid.
    """
    if not found:
        return
    with _alone_in(os.path.dirname(path)):
        text = _text(path) or ""
        entries: dict[str, dict[str, Any]] = parse_checksums(text, path=path)
        for url, file in found.items():
            known = entries.get(url)
            if known is not None and (known["num_bytes"], known["checksum"]) != (file.num_bytes, file.checksum):
                logger.warning(
                    "%s: %s was registered with %s bytes and sha256 %s, and is now registered with %s bytes and sha256 %s.",
                    *(path, url, known["num_bytes"], known["checksum"], file.num_bytes, file.checksum),
                )
            name = (known and known["name"]) or (file.name if file.name and is_file_name(file.name) else None)
            entries[url] = {"num_bytes": file.num_bytes, "checksum": file.checksum, "name": name}
        comments = [line.rstrip("\r") + "\n" for line in text.removeprefix("\ufeff").split("\n") if line.startswith("#")]
        written = checksums_text(entries, comments="".join(comments))
        if written != text:
            write_atomically(path, written.encode("utf-8", "surrogatepass"))


def _text(path: str | None, *, within: str | None = None) -> str | None:
    if path is None:
        return None
    from datasets_core.meta.listings import UnfitFileError, small_bytes  # only for a script

    try:
        data = small_bytes(path, most_bytes=_MAX_BYTES, within=within)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnfitFileError as error:  # a pipe may be endless
        raise ManifestError(path, str(error)) from error
    except OSError as error:
        raise ManifestError(path, f"cannot be read ({error.strerror or error})") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ManifestError(path, f"line {line}: it is not UTF-8") from error


@contextlib.contextmanager
def _alone_in(folder: str) -> Iterator[None]:
    """Lock the folder against other registering processes, without a lock file among the author's files."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(ImportError, OSError):  # without locks, the merge happens right before the rename
            import fcntl  # not on every system

            descriptor = os.open(folder, os.O_RDONLY)
            held.callback(os.close, descriptor)
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
