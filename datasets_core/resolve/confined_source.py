"""A script that nobody trusts as a source: it runs in a confined process, and its builder is one as any other."""

from __future__ import annotations

import base64
import dataclasses
import os
from collections.abc import Mapping
from functools import partial

from datasets_core import files
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.registration import read_registered
from datasets_core.config import settings
from datasets_core.confine.children import Children
from datasets_core.confine.confined_builder import ConfinedBuilder, Confinement, confined_class
from datasets_core.confine.granted import Granted, check_folder
from datasets_core.fetch.hub_listing import HubCommit
from datasets_core.meta.checksum_file import CHECKSUMS_NAME
from datasets_core.meta.data_files import DataFilesDict
from datasets_core.meta.info import DatasetInfo
from datasets_core.resolve.request import Request
from datasets_core.resolve.scripted import default_of, made, names_of
from datasets_core.resolve.standing import Standing
from datasets_core.scripting.modules import Script, scan


@dataclasses.dataclass(frozen=True)
class ConfinedSource:
    """A script that runs confined."""

    request: Request
    standing: Standing

    @property
    def commit(self) -> HubCommit | None:
        """What the repository holds that it comes from; None for a folder."""
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
        """The class that the script defines, as its process tells of it."""
        return self._told()[0]

    def builder(self) -> DatasetBuilder:
        """See `Source.builder`."""
        asked, standing = self.request, self.standing
        script, found = standing.read(is_confined=True), standing.data_files(asked)
        held = self._confinement(script, found)
        try:
            cls = confined_class(held.children.told(asked.timeout), script.path)
            name = asked.name or default_of(cls)
            info = standing.info(name, is_confined=True) if name is not None else None
            make = partial(cls, confinement=held, deadline=asked.timeout)
            return made(asked, make, script, standing, data_files=found, info=info)
        except BaseException:
            held.children.close()
            raise

    def _told(self) -> tuple[type[ConfinedBuilder], Confinement]:
        script = self.standing.read(is_confined=True)
        held = self._confinement(script, None)
        try:
            return confined_class(held.children.told(self.request.timeout), script.path), held
        finally:
            held.children.close()

    def _confinement(self, script: Script, data_files: DataFilesDict | None) -> Confinement:
        """What the script may have: its folder, what is fetched for it, and the files that the user names."""
        asked, folder = self.request, os.path.dirname(script.path)
        check_folder(folder, "The folder of the script")
        read_registered(os.path.join(folder, CHECKSUMS_NAME), within=folder)  # and no file of the user behind a link
        downloads = settings().downloads_dir
        if asked.download_config is not None and asked.download_config.cache_dir is not None:
            downloads = os.path.abspath(os.fspath(asked.download_config.cache_dir))
        elif asked.cache_dir is not None and not files.is_url(asked.cache_dir):
            downloads = os.path.join(os.path.abspath(asked.cache_dir), "downloads")
        home = self.standing.home(downloads)
        users = _named_by_user(asked.data_dir, data_files, folder)
        start = partial(Children, script.path, home, load=_load_request(script), preload=_preload(script))
        rules = partial(Granted, script.path, mark=home.mark)
        return Confinement(
            start(readable=(folder, *users)),
            rules(roots=(folder, home.files, *users), holds_user_data=bool(users)),
            folder,
            self.standing.own_files(home),
            (start(readable=(folder,)), rules(roots=(folder, home.files), holds_user_data=False)) if users else None,
        )


def _named_by_user(data_dir: str | None, data_files: DataFilesDict | None, folder: str) -> tuple[str, ...]:
    """Local files and folders that the user names and that are not the script's own."""
    named = [] if data_dir is None or files.is_url(data_dir) else [os.path.abspath(files.local_path(data_dir))]
    for place in named:
        check_folder(place, "data_dir")
    for listed in (data_files or {}).values():
        named += [os.path.abspath(path) for path in listed if not files.is_url(path)]
    own = os.path.join(os.path.realpath(folder), "")
    return tuple(dict.fromkeys(path for path in named if not os.path.join(os.path.realpath(path), "").startswith(own)))


def _load_request(script: Script) -> dict[str, object]:
    modules = [
        [module.name, module.path, base64.b64encode(module.text).decode("ascii"), module.is_package]
        for module in script.modules
    ]
    limits = dataclasses.asdict(settings())
    return {"do": "load", "script": script.path, "modules": modules, "settings": limits}


def _preload(script: Script) -> tuple[str, ...]:
    """Modules that the script imports, for the process that all confined ones are forked from: known ones are loaded there."""
    return tuple(sorted({package for module in script.modules for package, _ in scan(module.path, module.text).needed}))
