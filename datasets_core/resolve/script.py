"""Local scripts as sources: trust, run mode, card and data files; unconfined or in the sandbox."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.options import read_registered
from datasets_core.config import settings
from datasets_core.errors import ConfinementUnavailableError, UntrustedScriptError, logger_of
from datasets_core.fetch.checksums import CHECKSUMS_NAME
from datasets_core.fetch.hub.repository import HubCommit
from datasets_core.meta.data_files import DataFilesDict, resolve_data_files
from datasets_core.meta.info import Card, DatasetInfo
from datasets_core.meta.reference import OF_TFDS
from datasets_core.resolve.folder import read_folder_card, recorded_info
from datasets_core.resolve.request import DEFAULT, Kind, Request, Trust
from datasets_core.scripting.modules import Script, collection_of, read_script, scan
from datasets_core.scripting.sandbox.children import Children, Home
from datasets_core.scripting.sandbox.grants import Granted, OwnFiles, check_folder, visible
from datasets_core.scripting.script import load, ran

if TYPE_CHECKING:
    from datasets_core.scripting.sandbox.builder import SandboxedBuilder, ScriptSandbox

# `LocalScript`: a script file, the records next to it, and the folder of its data.


class LocalScript:
    """A local script.

    Args:
        script: its path.

    Attributes:
        commit: the commit of the repository that contains it; None for a local folder.
    """

    commit: HubCommit | None = None

    def __init__(self, script: str) -> None:
        self.script = script

    @property
    def folder(self) -> str:
        """The local folder of the script."""
        return os.path.dirname(os.path.abspath(self.script))

    @property
    def base_path(self) -> str:
        """Base of relative paths of its downloads."""
        return self.folder

    @property
    def dataset_name(self) -> str:
        """The name of its dataset: that of its file, without the suffix that TFDS adds to the name of the folder.

        >>> LocalScript("/a/reviews/reviews_dataset_builder.py").dataset_name, LocalScript("/a/reviews.py").dataset_name
        ('reviews', 'reviews')
        """
        stem, folder = os.path.basename(self.script).removesuffix(".py"), os.path.basename(self.folder)
        return folder if stem == f"{folder}{OF_TFDS}" else stem

    def read(self, *, is_confined: bool = False) -> Script:
        """Return the script and its modules, read but not run; see `read_script`."""
        return read_script(self.script, is_confined=is_confined)

    def card(self, *, is_confined: bool = False) -> Card:
        """Return the records of all its configs."""
        return read_folder_card(self.folder, is_confined=is_confined)

    def info(self, name: str, *, is_confined: bool = False) -> DatasetInfo | None:
        """Return the record of one config."""
        return recorded_info(self.folder, name, is_confined=is_confined)

    def identity(self, script: Script) -> str:
        """Return the identity of a script: its sources, and the folder with files that it may read."""
        return hashlib.sha256(f"{script.path}\0{script.digest}".encode()).hexdigest()

    def data_files(self, asked: Request) -> DataFilesDict | None:
        """Return the user's `data_files` as files; relative paths start at `data_dir`, or the folder of the script."""
        if asked.data_files is None:
            return None
        return resolve_data_files(asked.data_files, asked.data_dir or self.folder, storage_options=asked.storage_options)

    def home(self, downloads: str) -> Home:
        """Return the place for downloads of the script, if it runs in the sandbox.

        Args:
            downloads: the folder of downloads.
        """
        return Home.of(downloads, self.folder)

    def own_files(self, home: Home) -> OwnFiles | None:
        """Return the files of its repository for a sandboxed run; None for a local folder, which it reads itself.

        Args:
            home: the folder for the files.
        """
        return None


# A dataset script as a source, with the records next to it: card and `dataset_infos.json`.


@dataclass(frozen=True, slots=True)
class ScriptSource:
    """A script that the user passed or trusted."""

    request: Request
    standing: LocalScript

    @property
    def commit(self) -> HubCommit | None:
        """Listing of its repository; None for a folder."""
        return self.standing.commit

    @property
    def builder_class(self) -> type[DatasetBuilder]:
        """The class that the script defines; the script runs."""
        return load(self.standing.read(), deadline=self.request.timeout)

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`."""
        return names_of(self.builder_class)

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        return default_of(self.builder_class)

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return self.standing.card().infos

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked, standing = self.request, self.standing
        script, found = standing.read(), standing.data_files(asked)
        cls = load(script, deadline=asked.timeout)
        name = asked.name or default_of(cls)
        info = standing.info(name) if name is not None else None
        make = partial(made, asked, cls, script, standing, data_files=found, info=info)
        return ran(script, make, doing="creating its builder", deadline=asked.timeout)


def names_of(cls: type[DatasetBuilder]) -> list[str]:
    """Return the names of the configs that a script lists."""
    return list(cls.builder_configs) or [DEFAULT]


def default_of(cls: type[DatasetBuilder]) -> str | None:
    """Return the default config; None if the author defines none."""
    if cls.DEFAULT_CONFIG_NAME is not None:
        return cls.DEFAULT_CONFIG_NAME
    names = names_of(cls)
    return names[0] if len(names) == 1 else None


def made(
    asked: Request,
    make: Callable[..., DatasetBuilder],
    script: Script,
    standing: LocalScript,
    *,
    data_files: DataFilesDict | None,
    info: DatasetInfo | None,
) -> DatasetBuilder:
    """Return the builder of a script: the result of `make` for the arguments of any builder."""
    from datasets_core.resolve.hub import reference_of

    commit = standing.commit
    builder = asked.builder(
        make,
        asked.options,
        dataset_name=standing.dataset_name,
        config_name=asked.name,
        base_path=standing.base_path,
        repo_id=None if commit is None else commit.repo_id,
        hash=standing.identity(script),
        data_dir=asked.data_dir,
        data_files=data_files,
        info=info,
    )
    builder.script_digest = script.digest
    if commit is not None:
        builder.commit_sha = commit.sha
        builder.hub_reference = reference_of(asked, commit.repo_id, commit.revision, commit.sha)
    return builder


@dataclasses.dataclass(frozen=True)
class SandboxedSource:
    """A script that runs in the sandbox."""

    request: Request
    standing: LocalScript

    @property
    def commit(self) -> HubCommit | None:
        """Listing of its repository; None for a folder."""
        return self.standing.commit

    @property
    def config_names(self) -> list[str]:
        """See `Source.config_names`."""
        return names_of(self._told()[0])

    @property
    def default_config_name(self) -> str | None:
        """See `Source.default_config_name`."""
        return default_of(self._told()[0])

    @property
    def recorded(self) -> Mapping[str, DatasetInfo]:
        """See `Source.recorded`."""
        return self.standing.card(is_confined=True).infos

    @property
    def builder_class(self) -> type[DatasetBuilder]:
        """Return the class that the script defines, as described by its process."""
        return self._told()[0]

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        _start_interpreter()
        from datasets_core.scripting.sandbox.builder import sandboxed_class

        asked, standing = self.request, self.standing
        script, found = standing.read(is_confined=True), standing.data_files(asked)
        held = self._confinement(script, found)
        try:
            cls = sandboxed_class(held.children.told(asked.timeout), script.path)
            name = asked.name or default_of(cls)
            info = standing.info(name, is_confined=True) if name is not None else None
            make = partial(cls, confinement=held, deadline=asked.timeout)
            return made(asked, make, script, standing, data_files=found, info=info)
        except BaseException:
            held.children.close()
            raise

    def _told(self) -> tuple[type[SandboxedBuilder], ScriptSandbox]:
        _start_interpreter()
        from datasets_core.scripting.sandbox.builder import sandboxed_class

        script = self.standing.read(is_confined=True)
        held = self._confinement(script, None)
        try:
            return sandboxed_class(held.children.told(self.request.timeout), script.path), held
        finally:
            held.children.close()

    def _confinement(self, script: Script, data_files: DataFilesDict | None) -> ScriptSandbox:
        """Return the sandbox of the script: its folder or collection, its downloads, and the files named by the user."""
        from datasets_core.scripting.sandbox.builder import ScriptSandbox

        asked, folder = self.request, os.path.dirname(script.path)
        whole = collection_of(script.path) or folder
        check_folder(whole, "The folder of the script")
        read_registered(os.path.join(folder, CHECKSUMS_NAME), within=folder)  # and no user file behind a link
        downloads = settings().downloads_dir
        if asked.download_config is not None and asked.download_config.cache_dir is not None:
            downloads = os.path.abspath(os.fspath(asked.download_config.cache_dir))
        elif asked.cache_dir is not None and not files.is_url(asked.cache_dir):
            downloads = os.path.join(os.path.abspath(asked.cache_dir), "downloads")
        home = self.standing.home(downloads)
        users = _named_by_user(asked.data_dir, data_files, folder)

        def start(named: Sequence[str], without: Sequence[str] = ()) -> Children:
            seen = [visible(whole, without), *map(visible, named)]
            readable = tuple(path for places, _ in seen for path in places)
            listed = tuple(path for _, places in seen for path in places)
            how: dict[str, Any] = {"load": _load_request(script), "preload": _preload(script)}
            return Children(script.path, home, readable=readable, listed=listed, **how)

        rules = partial(Granted, script.path, mark=home.mark)
        return ScriptSandbox(
            start(users),
            rules(roots=(whole, home.files, *users), holds_user_data=bool(users)),
            folder,
            self.standing.own_files(home),
            (start((), users), rules(roots=(whole, home.files), without=users, holds_user_data=False)) if users else None,
        )


def _start_interpreter() -> None:
    """Start the interpreter that sandboxed processes are forked from, and load what a build needs here while it starts."""
    from datasets_core.scripting.sandbox.limits import layers
    from datasets_core.scripting.sandbox.template import template

    if layers().can_sandbox:
        template()
        from datasets_core.building import prepared  # noqa: F401  # 20 ms
        from datasets_core.building.write import build  # noqa: F401  # 25 ms


def local_script_source(request: Request, path: str, kind: Kind) -> ScriptSource | SandboxedSource:
    """Return the source of a local script, run as `run_mode` decides.

    Args:
        request: the request.
        path: the script.
        kind: "file" if the user passed its path, "folder" if it was found in a folder.
    """
    confined = run_mode(request.trust_remote_code, kind, path) == "confined"
    return (SandboxedSource if confined else ScriptSource)(request, LocalScript(path))


def _named_by_user(data_dir: str | None, data_files: DataFilesDict | None, folder: str) -> tuple[str, ...]:
    """Return local files and folders named by the user, also those in the folder of the script."""
    named = [] if data_dir is None or files.is_url(data_dir) else [os.path.abspath(files.local_path(data_dir))]
    for place in named:
        check_folder(place, "data_dir")
    for listed in (data_files or {}).values():
        named += [os.path.abspath(path) for path in listed if not files.is_url(path)]
    return tuple(dict.fromkeys(path for path in map(os.path.realpath, named) if path != os.path.realpath(folder)))


def _load_request(script: Script) -> dict[str, object]:
    modules = [
        [module.name, module.path, base64.b64encode(module.text).decode("ascii"), module.is_package]
        for module in script.modules
    ]
    limits = dataclasses.asdict(settings())
    return {"do": "load", "script": script.path, "modules": modules, "settings": limits}


def _preload(script: Script) -> tuple[str, ...]:
    """Return modules that the script imports, which are loaded once in the process that sandboxes are forked from."""
    return tuple(sorted({package for module in script.modules for package, _ in scan(module.path, module.text).needed}))


# Trust: the meaning of `trust_remote_code` for a script given by path, or found in a folder or a repository.


logger = logger_of(__name__)

RunMode = Literal["plain", "confined"]


def run_mode(trust: Trust, kind: Kind, script: str, *, repository: str | None = None, commit: str | None = None) -> RunMode:
    """Return how a script runs: plain (unconfined) or sandboxed.

    | `trust_remote_code` | given by path | found in a folder | found in a repository |
    |---|---|---|---|
    | None | plain | confined, else refused | confined, else refused |
    | True | plain | plain | plain, at this commit |
    | False | refused | refused | refused |
    | "sandbox" | confined, else an error | confined, else an error | confined, else an error |

    `HF_DATASETS_TRUST_REMOTE_CODE` only has an effect if it is false: then None means False for scripts that are found.
    If it is true, it was set for all scripts of another library, and is ignored.

    Args:
        trust: the user's argument.
        kind: how the script was found.
        script: the script.
        repository: its repository.
        commit: the commit of that repository, which the user's consent is limited to.

    Raises:
        UntrustedScriptError: it must not run.
        ConfinementUnavailableError: it must run in the sandbox, which is not available.

    >>> run_mode(None, "file", "reviews.py"), run_mode(True, "folder", "reviews/reviews.py")
    ('plain', 'plain')
    """
    if trust is None and kind != "file" and settings().refuse_found_scripts:
        by = "HF_DATASETS_TRUST_REMOTE_CODE=0 (setting refuse_found_scripts)"
        raise UntrustedScriptError(script, repository=repository, commit=commit, is_refused=True, by=by)
    if trust is False:
        raise UntrustedScriptError(script, repository=repository, commit=commit, is_refused=True)
    if trust is True or (trust is None and kind == "file"):
        if kind == "repository":
            logger.warning(
                "Running %s of %s at commit %s without the sandbox because of trust_remote_code=True. "
                "Review the changes before you trust another commit.",
                *(script, repository, commit or "unknown"),
            )
        return "plain"
    from datasets_core.scripting.sandbox.limits import layers  # takes 5 ms; a trusted script does not need it

    reason = layers().reason
    if not reason:
        return "confined"
    if trust == "sandbox":
        raise ConfinementUnavailableError(reason)
    raise UntrustedScriptError(script, repository=repository, commit=commit, reason=reason)
