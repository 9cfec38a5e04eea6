"""Configs, splits and info of a dataset, without building it."""

from __future__ import annotations

import dataclasses
import os
from typing import Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.errors import UnknownOptionError, UnknownVersionError, logger_of
from datasets_core.fetch.checksums import DownloadConfig, DownloadMode
from datasets_core.hub_urls import hub_url, parse_hub_url
from datasets_core.load import load_dataset_builder, request_of
from datasets_core.meta.data_files import DataFiles, DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.meta.split_info import SplitDict, SplitInfo
from datasets_core.resolve.request import Request
from datasets_core.resolve.resolve import source_of

logger = logger_of(__name__)

Path = str | os.PathLike[str]


def get_dataset_config_names(
    path: Path,
    revision: str | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    data_files: DataFiles | None = None,
    **download_kwargs: Any,
) -> list[str]:
    """Return the names of the configs of a dataset, in their order.

    Args:
        path, revision, download_config, download_mode, data_files: see `load_dataset`.
        download_kwargs: `data_dir`, `name`, `token`, `storage_options` and `trust_remote_code` of `load_dataset`, and fields of
            the `DownloadConfig`.

    Raises:
        DatasetNotFoundError: the dataset does not exist.
        UntrustedScriptError: the folder contains a script, and this machine cannot confine it.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "train.csv").write_text("a,b")
        ...     _ = pathlib.Path(folder, "test.csv").write_text("a,b")
        ...     get_dataset_config_names(folder)
        ['default']
    """
    request = _request(path, data_files, download_config, download_mode, revision, download_kwargs)
    return source_of(request).config_names


def get_dataset_default_config_name(
    path: Path,
    revision: str | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    data_files: DataFiles | None = None,
    **download_kwargs: Any,
) -> str | None:
    """Return the name of the config that is loaded if none is named; None if one must be named.

    Args:
        path, revision, download_config, download_mode, data_files: see `load_dataset`.
        download_kwargs: see `get_dataset_config_names`.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "train.csv").write_text("a,b")
        ...     _ = pathlib.Path(folder, "test.csv").write_text("a,b")
        ...     get_dataset_default_config_name(folder)
        'default'
    """
    request = _request(path, data_files, download_config, download_mode, revision, download_kwargs)
    return source_of(request).default_config_name


def get_dataset_infos(
    path: Path,
    data_files: DataFiles | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    revision: str | None = None,
    token: bool | str | None = None,
    **config_kwargs: Any,
) -> dict[str, DatasetInfo]:
    """Return the info of every config, by name. With `version=`, only configs that have this version.

    Args:
        path, data_files, download_config, download_mode, revision, token: see `load_dataset`.
        config_kwargs: options of the config, and `version`.

    Raises:
        UnknownVersionError: no config has the version.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "train.csv").write_text("a,b")
        ...     _ = pathlib.Path(folder, "test.csv").write_text("a,b")
        ...     list(get_dataset_infos(folder))
        ['default']
    """
    of_source = {name: config_kwargs[name] for name in _OF_SOURCE if name in config_kwargs}
    request = _request(path, data_files, download_config, download_mode, revision, {"token": token, **of_source})
    source = source_of(request)
    names, commit = source.config_names, getattr(source, "commit_sha", None)
    if commit is not None:  # all of them at one
        place = parse_hub_url(os.fspath(path))
        path, revision = (path, commit) if place is None else (hub_url(place.repo_id, commit, place.path), None)
    infos: dict[str, DatasetInfo] = {}
    for name in names:
        try:
            infos[name] = get_dataset_config_info(
                path, name, data_files, download_config, download_mode, revision, token, **config_kwargs
            )
        except UnknownVersionError as error:
            if not infos and name == names[-1]:
                raise
            logger.warning("Config %r is skipped: %s", name, error)
    return infos


def get_dataset_config_info(
    path: Path,
    config_name: str | None = None,
    data_files: DataFiles | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    revision: str | None = None,
    token: bool | str | None = None,
    **config_kwargs: Any,
) -> DatasetInfo:
    """Return the info of one config. Splits whose rows were not recorded have zero rows.

    Args:
        path, data_files, download_config, download_mode, revision, token: see `load_dataset`.
        config_name: name of the config; None means the default one.
        config_kwargs: options of the config.

    Raises:
        UnknownConfigError: the config does not exist, or none is named and the dataset has no default.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "train.csv").write_text("a,b")
        ...     _ = pathlib.Path(folder, "test.csv").write_text("a,b")
        ...     list(get_dataset_config_info(folder).splits)
        ['train', 'test']
    """
    builder = load_dataset_builder(
        path,
        name=config_name,
        data_files=data_files,
        download_config=download_config,
        download_mode=download_mode,
        revision=revision,
        token=token,
        **config_kwargs,
    )
    info = builder.info.copy()
    if not info.splits:
        names = _split_names(builder, download_config, download_mode)
        info.splits = SplitDict({name: SplitInfo(name, dataset_name=builder.dataset_name) for name in names})
    return info


def get_dataset_split_names(
    path: Path,
    config_name: str | None = None,
    data_files: DataFiles | None = None,
    download_config: DownloadConfig | None = None,
    download_mode: DownloadMode | str | None = None,
    revision: str | None = None,
    token: bool | str | None = None,
    **config_kwargs: Any,
) -> list[str]:
    """Return the names of the splits of one config. A script without recorded splits is run, and downloads what it needs for
    that.

    Args:
        path, data_files, download_config, download_mode, revision, token: see `load_dataset`.
        config_name: name of the config; None means the default one.
        config_kwargs: options of the config.

    Raises:
        UnknownConfigError: the config does not exist, or none is named and the dataset has no default.

    Example:
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     _ = pathlib.Path(folder, "train.csv").write_text("a,b")
        ...     _ = pathlib.Path(folder, "test.csv").write_text("a,b")
        ...     get_dataset_split_names(folder)
        ['train', 'test']
    """
    info = get_dataset_config_info(
        path, config_name, data_files, download_config, download_mode, revision, token, **config_kwargs
    )
    return list(info.splits or ())


_OF_SOURCE = ("name", "data_dir", "storage_options", "token", "trust_remote_code", "use_auth_token")


def _request(
    path: Path,
    data_files: DataFiles | None,
    download_config: DownloadConfig | None,
    download_mode: DownloadMode | str | None,
    revision: str | None,
    options: dict[str, Any],
) -> Request:
    of_downloads = {field.name for field in dataclasses.fields(DownloadConfig)} - {*_OF_SOURCE}
    unknown = sorted(options.keys() - of_downloads - {*_OF_SOURCE})
    if unknown:
        raise UnknownOptionError(unknown[0], builder=os.fspath(path), known=sorted(of_downloads | {*_OF_SOURCE}))
    request = request_of(
        path,
        data_files=data_files,
        download_config=download_config,
        download_mode=download_mode,
        revision=revision,
        **{name: options[name] for name in _OF_SOURCE if name in options},
    )
    changes = {name: options[name] for name in of_downloads if name in options}
    if not changes:
        return request
    base = download_config or DownloadConfig(token=request.token, storage_options=request.storage_options or {})
    return request._replace(download_config=dataclasses.replace(base, **changes))


def _split_names(
    builder: DatasetBuilder, download_config: DownloadConfig | None, download_mode: DownloadMode | str | None
) -> list[str]:
    told = getattr(builder, "told_splits", None)  # of a format whose one file describes them
    names = None if told is None else told(download_config)
    if names is not None:
        return list(names)
    data_files = builder.config.data_files
    if told is None and isinstance(data_files, DataFilesDict) and data_files:
        return list(data_files)
    from datasets_core.building.live import LiveSplits  # 10 ms that recorded splits do without
    from datasets_core.building.options import BuildOptions
    from datasets_core.store.source import paths_below

    options = BuildOptions.of(
        output_dir=builder.cache_dir,
        download_config=download_config,
        download_mode=download_mode,
        base_path=builder.base_path,
    )
    return LiveSplits(builder, options, paths_below(())).names  # as a stream: the names need no download of data
