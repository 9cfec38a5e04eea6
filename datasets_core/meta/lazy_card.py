"""A card, and a `dataset_infos.json`, of which only that is parsed which is asked for: all of a large one take a second."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from datasets_core.errors import ManifestError
from datasets_core.meta.card import front_matter, read_dataset_infos, read_yaml
from datasets_core.meta.card_cut import Cut, cut_config, cut_key
from datasets_core.meta.config_entries import Card, ConfigEntry, LazyInfos
from datasets_core.meta.info import DatasetInfo, info_of, parse_json


class LazyCard(LazyInfos):
    """The infos that a card describes, each parsed when it is asked for.

    Args:
        text: a `README.md`, as far as its front matter goes at least, or a `.yaml` file.
        path: name of the file, which also tells the two apart.

    >>> card = LazyCard("dataset_info:\\n- config_name: en\\n  download_size: 3\\n- config_name: de\\n", path="a.yaml")
    >>> card["en"].download_size, list(card)
    (3, ['en', 'de'])
    """

    def __init__(self, text: str, *, path: str) -> None:
        super().__init__()
        self._path = path
        self._text, self._above = front_matter(text, path=path) or ("", 0)

    @property
    def configs(self) -> list[ConfigEntry]:
        """The configs that the card describes, without a look at what it records of each."""
        cut = cut_key(self._text, "configs")
        return self._whole.configs if cut is None else self._read(cut).configs

    def one(self, name: str) -> DatasetInfo | None:
        """See `LazyInfos.one`."""
        if "_whole" in vars(self):
            return self._whole.infos.get(name)
        cut = cut_config(self._text, "dataset_info", name)
        return self._whole.infos.get(name) if cut is None else self._read(cut).infos.get(name)

    def every(self) -> dict[str, DatasetInfo]:
        """See `LazyInfos.every`."""
        return dict(self._whole.infos)

    def _read(self, cut: Cut) -> Card:
        return read_yaml(cut.text, path=self._path, lines_above=self._above + cut.above) if cut.lines else Card()

    @cached_property
    def _whole(self) -> Card:
        return read_yaml(self._text, path=self._path, lines_above=self._above)


class LazyDatasetInfos(LazyInfos):
    """The infos of an old `dataset_infos.json`, each made when it is asked for.

    Args:
        text: the JSON.
        path: name of the file.
    """

    def __init__(self, text: str, *, path: str) -> None:
        super().__init__()
        self._text, self._path = text, path

    def one(self, name: str) -> DatasetInfo | None:
        """See `LazyInfos.one`."""
        if name not in self._form:
            return None
        info = info_of(self._form[name], path=self._path, place=f"config {name!r}")
        info.config_name = info.config_name or name
        return info

    def every(self) -> dict[str, DatasetInfo]:
        """See `LazyInfos.every`."""
        return read_dataset_infos(self._text, path=self._path)

    @cached_property
    def _form(self) -> dict[str, Any]:
        form = parse_json(self._text, path=self._path, is_strict=False)
        if not isinstance(form, dict):
            raise ManifestError(self._path, "it does not hold an object of infos by config name")
        return form
