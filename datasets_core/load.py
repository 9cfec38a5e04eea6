"""`load_dataset` and similar functions: a reference is resolved, built if necessary, and read; a saved folder is opened."""

# mypy: disable-error-code="empty-body"
# pyright: reportReturnType=false
from __future__ import annotations

import contextlib
import inspect
import os
import warnings
from collections.abc import Collection, Iterator, Mapping
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from datasets_core._lazy import options_to
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.options import LOCK_NAME
from datasets_core.engines import Engine, get_engine, on_engine
from datasets_core.engines.deadline import Deadline
from datasets_core.errors import ArgumentTypeError, ConfigurationError, LockDriftError, UnknownOptionError, UnknownSplitError
from datasets_core.features.schema import Features
from datasets_core.fetch.checksums import DownloadConfig, DownloadMode, VerificationMode
from datasets_core.files import check_writable, disk_errors, local_path, remove_dead_temporaries, write_atomically
from datasets_core.meta.data_files import DataFiles, DataFilesDict
from datasets_core.meta.splits import ReadInstruction, Split, parse_split
from datasets_core.meta.version import Version
from datasets_core.resolve.request import Request, checked_trust
from datasets_core.resolve.resolve import asked_revision, resolve, root_of_builder

if TYPE_CHECKING:
    from datasets_core.dataset.dataset import Dataset
    from datasets_core.dataset.dataset_dict import DatasetDict
    from datasets_core.stream.order.files import ReadConfig


def load_dataset(
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: DataFiles | None = None,
    split: Any = None,
    cache_dir: str | os.PathLike[str] | None = None,
    features: Features | Mapping[str, Any] | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    verification_mode: VerificationMode | str | None = None,
    keep_in_memory: bool | None = None,
    save_infos: bool = False,
    revision: str | None = None,
    token: bool | str | None = None,
    streaming: bool = False,
    num_proc: int | None = None,
    storage_options: dict[str, Any] | None = None,
    *,
    version: str | Version | None = None,
    shuffle_files: bool = False,
    read_config: ReadConfig | None = None,
    register_checksums: bool = False,
    force_checksums_validation: bool = False,
    lock: str | os.PathLike[str] | bool | None = None,
    timeout: float | None = None,
    engine: str | Engine | None = None,
    **config_kwargs: Any,
) -> Any:
    """Load a dataset; build it first if it is not cached.

    Args:
        path: a format (`"csv"`), a folder of data files, a script (`.py`, or a folder with a script of the same name), one data
            file or URL, or a dataset of the Hugging Face Hub: `"org/name"`, or `"hf://datasets/org/name@revision/path"` for a
            folder or a file in it.  Formats and local paths take precedence over names on the Hub.  A local path may end
            with a version or a pattern, `"reviews.py:1.*.*"`, and contain the config, `"folder/reviews/en:1.0.0"`.
            A dataset whose source was removed is read from the cache, if it was built before.
        name: name of the config; None for the default one.
        data_dir: subfolder to read; for a script, the folder of files downloaded by hand.
        data_files: paths, globs or URLs, alone, in a list, or by split.
        split: `"train"`, `"train[:10%]+test"`, a `ReadInstruction`, or a list, tuple or dict of them; None for all splits.
        cache_dir: folder of finished datasets.
        features: types of the columns.
        download_config: options of downloads.
        download_mode: `reuse_dataset_if_exists`, `reuse_cache_if_exists` or `force_redownload`.
        verification_mode: `all_checks`, `basic_checks` or `no_checks`.
        keep_in_memory: True copies the rows into memory, False never does; None copies tables below
            `HF_DATASETS_IN_MEMORY_MAX_SIZE`.
        save_infos: True to verify everything, so that the recorded sizes and checksums are complete.
        revision: branch, tag or commit of a repository; not allowed for a local path.
        token: token for hosts that require one; for the Hub, True and None mean the token of the login, False means none.
        streaming: True to return a stream of rows without a build; see `DatasetBuilder.as_streaming_dataset`.
        num_proc: worker processes of a build.
        storage_options: options of the file systems of URLs.
        version: the version; a pattern such as `1.*.*` means the highest listed one, `"experimental_latest"` the highest
            of all, None the canonical one.
        shuffle_files: True to read the files in a random order, which differs in each iteration; the result is a stream.
        read_config: order of reading files; see `ReadConfig`. The result is a stream.  Without these two arguments files
            are read in order, one after the other.
        register_checksums: True to write size and sha256 of downloads into the `checksums.tsv` next to the script.
        force_checksums_validation: True to require that every downloaded URL is registered there.
        lock: a file written by `lock_dataset`: any difference from it is an error, before rows are returned.  True means
            `dataset.lock` in the folder of the dataset, or else in the current folder.  A dataset on the Hub is loaded at the
            locked commit, even if its branch has moved.  Sources, shards and rows are hashed each
            time; `verification_mode="no_checks"` trusts the cache, and only counts its rows.
            With `streaming`, commit, options, script, files with their hashes, and columns of a dataset on the Hub are compared
            with the lock; its rows are not hashed.
        timeout: time limit in seconds for the code of a script: its import, description, downloads and rows; None for no limit.
            Code outside the sandbox is stopped in the main thread only.
        engine: what runs the jobs of a build: "serial", "threads", "processes", "ray", "dask", an engine itself, or an executor
            of `concurrent.futures`; "c", "python" and "pyarrow" are readers of pandas, for the config of csv.
        config_kwargs: options of the builder's config, such as `sep=` of csv.  `trust_remote_code` says how a script runs: by
            default a script that you name runs directly, one found in a folder runs in the sandbox (without network or
            processes, and with no other files than its own and those you name); `True` runs it directly, `"sandbox"` in the
            sandbox, `False` not at all. `ignore_verifications=True` is the older form of `verification_mode="no_checks"`, and
            `use_auth_token=` that of `token=`.

    Returns:
        A `Dataset` for one split expression, a list, tuple or dict of them for several, a `DatasetDict` for None; with
        `streaming`, `shuffle_files` or `read_config` an `IterableDataset`, and for None an `IterableDatasetDict`.

    Raises:
        DatasetNotFoundError, DataFilesNotFoundError: the dataset or its data files do not exist.
        UnknownConfigError, UnknownSplitError, UnknownOptionError, ConfigurationError: an argument is invalid.
        ScriptTimeoutError: a script exceeded `timeout`.
        DatasetBuildError, DownloadError, VerificationError: the build or the download failed, or its result differs from the
            record.

    Example:
        >>> import os, pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "train.csv")
        ...     _ = pathlib.Path(path).write_text("a,b\\n1,x\\n2,y\\n")
        ...     rows = load_dataset("csv", data_files=path, split="train", cache_dir=folder, keep_in_memory=True)
        ...     rows[1]
        {'a': 2, 'b': 'y'}
    """
    if isinstance(engine, str) and engine in _READERS:
        config_kwargs, engine = {**config_kwargs, "engine": engine}, None
    if streaming:
        _check_streamed(
            num_proc=num_proc,
            engine=engine,
            keep_in_memory=keep_in_memory,
            shuffle_files=shuffle_files,
            read_config=read_config,
            register_checksums=register_checksums,
        )
    ignore_verifications = config_kwargs.pop("ignore_verifications", False)
    checks = _verification(verification_mode, ignore_verifications, save_infos)
    mode = _download_mode(download_mode)
    if num_proc is not None:
        get_engine(num_proc=num_proc)  # refuses a number that means nothing
    wanted = None if split is None else parse_split(split)
    request = request_of(
        path,
        name=name,
        data_dir=data_dir,
        data_files=data_files,
        cache_dir=cache_dir,
        features=features,
        download_config=download_config,
        download_mode=mode,
        revision=revision,
        token=token,
        storage_options=storage_options,
        version=version,
        timeout=timeout,
        **config_kwargs,
    )
    if lock is not None and lock is not False:
        from datasets_core.resolve.resolve import pinned  # 10 ms that a dataset without a lock does without

        request = pinned(request, lock)
    elif streaming:
        request = request._replace(is_streamed=True)
    builder = _resolved(request)
    if isinstance(builder.config.data_files, DataFilesDict):
        _check_splits(wanted, builder.config.data_files, os.fspath(path))  # before anything is fetched
    if streaming:
        _hold_stream(lock, builder, request)
        return builder.as_streaming_dataset(
            split=split,
            download_config=download_config,
            download_mode=mode,
            verification_mode=checks,
            force_checksums_validation=force_checksums_validation,
            timeout=request.timeout,
        )
    registers = register_checksums or (download_config is not None and download_config.register_checksums)
    is_hashed = checks is not VerificationMode.NO_CHECKS
    held = _held(lock, builder, request, registers=registers, is_hashed=is_hashed)
    runs_on = contextlib.nullcontext() if engine is None else on_engine(engine, num_proc=num_proc)
    with disk_errors(builder.cache_dir, action="use"), held, runs_on:
        builder.download_and_prepare(
            download_config=download_config,
            download_mode=mode,
            verification_mode=checks,
            num_proc=num_proc,
            storage_options=storage_options,
            register_checksums=register_checksums,
            force_checksums_validation=force_checksums_validation,
            timeout=request.timeout,
        )
    _check_splits(wanted, builder.info.splits or (), os.fspath(path))
    return builder.as_dataset(split=split, in_memory=keep_in_memory, shuffle_files=shuffle_files, read_config=read_config)


def load_from_disk(
    dataset_path: str | os.PathLike[str], keep_in_memory: bool | None = None, storage_options: dict[str, Any] | None = None
) -> Dataset | DatasetDict:
    """Load a dataset saved by `save_to_disk`, as a `Dataset`, or a `DatasetDict` of several splits.

    Folders saved by Hugging Face `datasets` are supported.

    Args:
        dataset_path: local folder or URL; the files of a URL are fetched into the cache.
        keep_in_memory: True reads the files into memory instead of mapping them; None does so below the setting
            `max_memory_bytes`.
        storage_options: options of the file system of a URL.

    Returns:
        The saved rows.

    Raises:
        ManifestError, DamagedShardError: the saved dataset is damaged.
        FileNotFoundDatasetsError: the folder contains no saved dataset.

    Example:
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Dataset.from_dict({"a": [1, 2]}).save_to_disk(folder)
        ...     load_from_disk(folder)[1]
        {'a': 2}
    """
    from datasets_core.dataset.dataset import Dataset
    from datasets_core.dataset.dataset_dict import DatasetDict
    from datasets_core.io.save_to_disk import holds_group, load_group  # 5 ms that other reading does without

    if holds_group(dataset_path, storage_options):
        return DatasetDict(load_group(Dataset, dataset_path, keep_in_memory, storage_options))
    return Dataset.load_from_disk(dataset_path, keep_in_memory, storage_options)


def _opened(path: str | os.PathLike[str], **reference: Any) -> DatasetBuilder:
    builder = _resolved(request_of(path, **reference))
    builder.look_at_built()
    return builder


@options_to(_opened)
def load_dataset_builder(
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: DataFiles | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    features: Features | Mapping[str, Any] | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    revision: str | None = None,
    token: bool | str | None = None,
    storage_options: dict[str, Any] | None = None,
    *,
    version: str | Version | None = None,
    timeout: float | None = None,
    **config_kwargs: Any,
) -> DatasetBuilder:
    """Return the builder of a dataset, with its info.

    Nothing is downloaded or built.  If the dataset was built before, the builder also has its splits and sizes.

    Args:
        path, name, data_dir, data_files, cache_dir, features: see `load_dataset`.
        download_config, download_mode, revision, token, storage_options, version, timeout: see `load_dataset`.
        config_kwargs: options of the config, or of the format.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = pathlib.Path(folder, "a.csv")
        ...     _ = path.write_text("a,b")
        ...     builder = load_dataset_builder("csv", data_files={"test": str(path)}, cache_dir=folder)
        ...     builder.name, list(builder.config.data_files)
        ('csv', ['test'])
    """


_READERS = frozenset({"c", "python", "pyarrow", "python-fwf"})  # of pandas, which the config of csv calls `engine`


def _check_streamed(**asked: Any) -> None:
    """Raise an error for options that only a built dataset supports.

    Raises:
        ConfigurationError: an argument is not supported with `streaming=True`.
    """
    for name, value in asked.items():
        if value is not None and value is not False:
            advice = "The workers of a torch DataLoader share the rows of a stream. " if name == "num_proc" else ""
            raise ConfigurationError(
                f"{name}={value!r} is not supported with streaming=True. {advice}Remove one of the two.", value=value
            )


def _held(
    lock: str | os.PathLike[str] | bool | None, builder: DatasetBuilder, request: Request, *, registers: bool, is_hashed: bool
) -> contextlib.AbstractContextManager[None]:
    if lock is None or lock is False:
        return contextlib.nullcontext()
    from datasets_core.resolve.resolve import held  # 10 ms that a dataset without a lock does without

    return held(lock, builder, request, registers=registers, is_hashed=is_hashed)


def _hold_stream(lock: str | os.PathLike[str] | bool | None, builder: DatasetBuilder, request: Request) -> None:
    if lock is None or lock is False:
        return
    if builder.commit_sha is None:
        _check_streamed(lock=lock)
    from datasets_core.resolve.resolve import hold_stream  # 10 ms that a dataset without a lock does without

    hold_stream(lock, builder, request)


def _resolved(request: Request) -> DatasetBuilder:
    try:
        with disk_errors(request.path, action="read"):
            return resolve(request)
    except UnknownOptionError as error:  # what was meant may be an argument of ours
        near = inspect.signature(load_dataset).parameters
        raise UnknownOptionError(error.option, builder=error.builder, known=error.known, near=near) from error.__cause__


def request_of(
    path: str | os.PathLike[str],
    name: str | None = None,
    data_dir: str | os.PathLike[str] | None = None,
    data_files: DataFiles | None = None,
    cache_dir: str | os.PathLike[str] | None = None,
    features: Features | Mapping[str, Any] | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    revision: str | None = None,
    token: bool | str | None = None,
    storage_options: dict[str, Any] | None = None,
    version: str | Version | None = None,
    timeout: float | Deadline | None = None,
    **config_kwargs: Any,
) -> Request:
    """Check the arguments of `load_dataset`, and return them as one value.

    Raises:
        ConfigurationError: an argument is invalid.
    """
    trusted = checked_trust(config_kwargs.pop("trust_remote_code", None))
    if "use_auth_token" in config_kwargs:
        warnings.warn("use_auth_token= is deprecated since 2023. Use token= instead.", FutureWarning, stacklevel=3)
        token = config_kwargs.pop("use_auth_token")
    _download_mode(download_mode)
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ConfigurationError(
            f"path is {path!r}", advice="Give a format, a folder, a script, a data file or a URL", value=path
        )
    if revision is not None and not isinstance(revision, (str, Version)):
        raise ArgumentTypeError(
            f"revision is {revision!r}", advice="Give a branch, a tag or a commit of the repository", value=revision
        )
    if not isinstance(download_config, DownloadConfig | None):
        raise ArgumentTypeError(
            f"download_config is {download_config!r}", advice="Give a DownloadConfig", value=download_config
        )
    if not isinstance(storage_options, Mapping | None):
        raise ArgumentTypeError(
            f"storage_options is {storage_options!r}",
            advice="Give a dict of options for the file system",
            value=storage_options,
        )
    if token is None and download_config is not None:
        token = download_config.token
    place, asked = _versioned(os.fspath(path), version)
    return Request(
        place,
        name=None if name is None else str(name),
        data_dir=_path("data_dir", data_dir),
        data_files=data_files,
        cache_dir=_path("cache_dir", cache_dir),
        features=_features(features),
        token=token,
        download_config=download_config,
        storage_options=storage_options,
        trust_remote_code=trusted,
        options=config_kwargs,
        version=asked,
        revision=None if revision is None else str(revision),
        timeout=None if timeout is None else Deadline.of(timeout),
    )


def _versioned(path: str, version: str | Version | None) -> tuple[str, str | Version | None]:
    """Return the path, and the version given after it or by `version`."""
    if not isinstance(version, (str, Version, NoneType)):
        raise ArgumentTypeError(
            f"version is {version!r}", advice="Give a version such as '1.0.0', or a pattern such as '1.*.*'", value=version
        )
    if ":" not in path:
        return path, version
    from datasets_core.meta.reference import split_version  # 2 ms that a path without a version does without

    place, suffix = split_version(path)
    if suffix is None or os.path.exists(local_path(path)):  # a colon may be part of a name
        return path, version
    if version is not None:
        raise ArgumentTypeError(
            f"{path!r} and version={str(version)!r} give different versions", advice="Give one of them", value=path
        )
    return place, suffix


def _path(argument: str, value: str | os.PathLike[str] | None) -> str | None:
    if value is None:
        return None
    text = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(text, str) or "\0" in text:
        raise ArgumentTypeError(f"{argument} is {value!r}", advice="Give a path", value=value)
    return text


def _features(features: Features | Mapping[str, Any] | None) -> Features | None:
    if features is None or isinstance(features, Features):
        return features
    if isinstance(features, Mapping):
        return Features(dict(features))
    raise ConfigurationError(
        f"features is {features!r}", advice="Give a Features object, or a dict of column to type", value=features
    )


def _download_mode(mode: DownloadMode | str | None) -> DownloadMode:
    try:
        return DownloadMode(DownloadMode.REUSE_DATASET_IF_EXISTS if mode is None else mode)
    except ValueError:
        known = ", ".join(repr(each.value) for each in DownloadMode)
        raise ConfigurationError(f"Unknown download_mode {mode!r}. Available modes: {known}.", value=mode) from None


def _verification(mode: VerificationMode | str | None, ignore: bool, save_infos: bool) -> VerificationMode:
    if mode is None:
        if save_infos:
            return VerificationMode.ALL_CHECKS
        return VerificationMode.NO_CHECKS if ignore else VerificationMode.BASIC_CHECKS
    try:
        return VerificationMode(mode)
    except ValueError:
        known = ", ".join(repr(each.value) for each in VerificationMode)
        raise ConfigurationError(f"Unknown verification_mode {mode!r}. Available modes: {known}.", value=mode) from None


def _check_splits(wanted: Any, known: Collection[str], dataset: str) -> None:
    for instruction in _leaves(wanted):
        for part in instruction.parts:
            if part.split not in known and part.split != Split.ALL:
                raise UnknownSplitError(part.split, known=known, dataset=dataset)


def _leaves(wanted: Any) -> Iterator[ReadInstruction]:
    if isinstance(wanted, ReadInstruction):
        yield wanted
    elif wanted is not None:
        for inner in wanted.values() if isinstance(wanted, dict) else wanted:
            yield from _leaves(inner)


# `lock_dataset`: the sources of a dataset, and the result of its build, recorded in a file that `load_dataset` can compare
# with.


class LockOutcome(NamedTuple):
    """Result of `lock_dataset`.

    Attributes:
        path: the lock file.
        moved: differences from an earlier lock, one line each; empty without an earlier lock, or without differences.
        is_written: True if the file was written.
    """

    path: str
    moved: tuple[str, ...]
    is_written: bool


def lock_dataset(
    path: str | os.PathLike[str],
    name: str | None = None,
    *,
    lock: str | os.PathLike[str] = LOCK_NAME,
    update: bool = False,
    num_proc: int | None = None,
    **reference: Any,
) -> LockOutcome:
    """Record the sources and rows of a dataset in a lock file: `load_dataset(..., lock=)` then rejects any others.

    The lock contains every file with its size and sha256 (paths are relative to the folder of the dataset, for use on other
    machines), the script, config and options, the columns, the rows of each split with a sha256 of their values, and the
    versions of the libraries.  The dataset is built if it is not cached.

    Loading with a lock hashes every local source, every cached shard, and its rows, each time: a few seconds per gigabyte.
    With `verification_mode="no_checks"` the cache is trusted, and its rows are counted.  A file that a script
    opens by itself, not as an argument of a split or by the download manager, is not in the lock: its changes are only noticed
    in the rows, after the next build.

    For a dataset on the Hub the lock contains repository and commit, and loading with it loads that commit, even if its branch
    has moved, and without a request if it is cached.

    Args:
        path, name: see `load_dataset`.
        lock: path of the file to write.
        update: True to replace a lock with other contents; otherwise a difference is an error.
        num_proc: worker processes of a build.
        reference: the other arguments of `load_dataset` that identify the dataset: `data_files`, `data_dir`, `version`,
            `revision`, `token`, `features`, `cache_dir`, `storage_options`, `download_config`, options of the config.

    Returns:
        The path of the file, and the differences from the lock that it replaced.

    Raises:
        FileNotFoundDatasetsError: the folder of the file does not exist.
        LockDriftError: the file has other contents, and `update` is False; the error lists all differences.

    Example:
        >>> import os, pathlib, tempfile
        >>> from datasets_core import load_dataset
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     data, lock = pathlib.Path(folder, "birds.csv"), os.path.join(folder, "dataset.lock")
        ...     _ = data.write_text("name\\nalba\\n")
        ...     _ = lock_dataset(data, lock=lock, cache_dir=folder)
        ...     rows = load_dataset(data, split="train", lock=lock, cache_dir=folder, keep_in_memory=True)
        ...     _ = data.write_text("name\\nbrno\\n")
        ...     try:
        ...         load_dataset(data, split="train", lock=lock, cache_dir=folder)
        ...     except LockDriftError as error:
        ...         print(rows[0], error.moved[0].partition(" (")[0])
        {'name': 'alba'} birds.csv changed
    """
    from datasets_core.building.lock import differences, lock_of, read_lock

    place = os.path.abspath(os.fspath(lock))
    before = read_lock(place) if os.path.lexists(place) else None
    if before is None or update:
        check_writable(place)
    builder = load_dataset_builder(path, name, **reference)
    how = {key: reference[key] for key in ("download_config", "download_mode", "storage_options") if key in reference}
    builder.download_and_prepare(num_proc=num_proc, **how)
    request = request_of(path, name, **reference)
    with disk_errors(place, action="use"):
        made = lock_of(builder, root_of_builder(request, builder), asked_revision(request))
    moved = [] if before is None else differences(before, made)
    if moved and not update:
        raise LockDriftError(place, moved)
    with disk_errors(place):
        remove_dead_temporaries(place)
    if before is not None and not moved:
        return LockOutcome(place, (), is_written=False)
    write_atomically(place, made.text().encode("utf-8", "surrogatepass"))
    return LockOutcome(place, tuple(moved), is_written=True)
