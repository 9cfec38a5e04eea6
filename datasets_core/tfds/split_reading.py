"""`SplitReading`: how builders of TFDS's kind give what they prepared: as streams in TFDS's order, and as TFDS shows rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from datasets_core.building.class_identity import source_file
from datasets_core.building.record_reading import RecordReading
from datasets_core.errors import ArgumentTypeError, ConfigurationError, UnknownOptionError
from datasets_core.features.schema import Features
from datasets_core.meta.info import DatasetInfo as LibraryInfo
from datasets_core.store.manifest import Manifest
from datasets_core.stream.iterable import IterableDataset
from datasets_core.stream.read_config import ReadConfig
from datasets_core.tfds.decoding import changed, chosen
from datasets_core.tfds.elements import supervised
from datasets_core.tfds.split_stream import SplitStream
from datasets_core.tfds.tfds_info import DatasetInfo


class SplitReading(RecordReading):
    """What builders with code, and those that only read, have in common."""

    _seen: DatasetInfo | None = None
    _is_hosted: bool = False

    @property
    def info(self) -> DatasetInfo:
        """What is recorded of the dataset."""
        assert self._seen is not None
        return self._seen

    @info.setter
    def info(self, value: LibraryInfo) -> None:
        folder = vars(self).get("_output_dir")
        self._seen = DatasetInfo.of(value, known=self._seen, data_dir=folder)

    @property
    def data_dir(self) -> str:
        """The folder of the prepared dataset."""
        return self._output_dir

    @property
    def data_path(self) -> Any:
        """The folder of the prepared dataset, as a path."""
        from datasets_core.scripting.epath_standin import Path

        return Path(self._output_dir)

    @property
    def data_dir_root(self) -> str:
        """The folder of all datasets."""
        return self._cache_dir_root

    @property
    def code_path(self) -> Any:
        """The file of the builder's class, as a path."""
        from datasets_core.scripting.epath_standin import Path

        return Path(source_file(type(self)) or "")

    @property
    def builder_config(self) -> Any:
        """The config; None where there is only one without a name."""
        return self.config if self.builder_configs or self.config.name != "default" else None

    @property
    def _builder_config(self) -> Any:  # which authors read, since TFDS keeps it there
        return self.builder_config

    def is_prepared(self) -> bool:
        """Whether the dataset stands."""
        return self._found() is not None

    def _found(self) -> Manifest | None:
        raise NotImplementedError

    def _built(self) -> Manifest:
        manifest = super()._built()
        if self._is_hosted:
            plain = LibraryInfo.from_dict(manifest.info.to_dict())
            return dataclasses.replace(manifest, info=plain)
        return dataclasses.replace(manifest, info=DatasetInfo.of(manifest.info, known=self._seen, data_dir=self._output_dir))

    def shown_info(self) -> LibraryInfo:
        """See `DatasetBuilder.shown_info`: for the library's own datasets, with its own features."""
        return LibraryInfo.from_dict(self.info.to_dict()) if self._is_hosted else self.info.copy()

    # -- reading -------------------------------------------------------------------------------------------------------

    def as_dataset(  # type: ignore[override]
        self,
        split: Any = None,
        *,
        batch_size: int | None = None,
        shuffle_files: bool = False,
        decoders: Any = None,
        read_config: ReadConfig | None = None,
        as_supervised: bool = False,
        **library: Any,
    ) -> Any:
        """The rows of splits, as streams.

        Args:
            split: a name, an expression, a `ReadInstruction`, or a list, tuple or dict of such; None for a dict of all.
            batch_size: put so many rows together; -1 gives all rows as one dict of arrays.
            shuffle_files: read the files in random order, another one in each iteration.
            decoders: columns that are not decoded, or not read at all.
            read_config: in which order files are read; 16 at a time, 16 rows of each in turn, by default.
            as_supervised: give tuples of the columns that `supervised_keys` names.
            library: `in_memory=`, by which the library asks for a `Dataset`.

        Raises:
            DatasetNotFoundError: nothing is prepared.
            UnknownSplitError, EmptySplitError: no such split, or one without rows.
            ConfigurationError: arguments that do not fit the dataset.
        """
        if self._is_hosted:
            return super().as_dataset(split, shuffle_files=shuffle_files, read_config=read_config, **library)
        if library:
            raise UnknownOptionError(next(iter(library)), builder=self.label, known=("split", "batch_size", "read_config"))
        if read_config is not None and not isinstance(read_config, ReadConfig):
            raise ArgumentTypeError(f"read_config={read_config!r} is no ReadConfig. Give one.")
        if batch_size is not None and (not isinstance(batch_size, int) or batch_size == 0 or batch_size < -1):
            raise ConfigurationError(f"batch_size={batch_size!r} has no meaning. Give 1 or more, or -1 for all rows at once.")
        read = super().as_dataset

        def one(part: Any) -> Any:
            stream = read(part, shuffle_files=shuffle_files, read_config=read_config or ReadConfig())
            made = self._elements(stream, decoders, as_supervised=as_supervised)
            if batch_size is None:
                return made
            return made.padded_batch(batch_size) if batch_size > 0 else next(iter(made.padded_batch(max(1, len(made)))))

        return mapped(one, {name: name for name in self._built().split_lengths()} if split is None else split)

    def as_data_source(self, split: Any = None, *, decoders: Any = None, **_: Any) -> Any:
        """The rows of splits by number, in the order in which they are stored.

        Args:
            split: as in `as_dataset`.
            decoders: columns that are not decoded, or not read at all.
        """

        def one(rows: Any) -> Any:
            names = chosen(rows.features, decoders)
            rows = rows if decoders is None else rows.cast(Features(changed(rows.features, decoders)))
            return rows if names is None else rows.select_columns(names)

        return mapped(one, super().as_dataset(split))

    def _elements(self, stream: IterableDataset, decoders: Any, *, as_supervised: bool) -> SplitStream:
        features = stream.features or Features()
        if decoders is not None:
            names = chosen(features, decoders)
            stream = stream.cast(Features(changed(features, decoders)))
            stream = stream if names is None else stream.select_columns(names)
        keys = self.info.supervised_keys
        if not as_supervised:
            return SplitStream.of(stream)
        form = supervised(keys, stream.features or {}, dataset=self.label)
        return SplitStream.of(stream.select_columns(form.names), form)  # the other columns are not read


def mapped(function: Callable[[Any], Any], nest: Any) -> Any:
    """A nest of lists, tuples and dicts with what a function makes of each leaf.

    >>> mapped(str, {"a": [1, (2,)]})
    {'a': ['1', ('2',)]}
    """
    if isinstance(nest, Mapping):
        return {name: mapped(function, inner) for name, inner in nest.items()}
    if isinstance(nest, (list, tuple)):
        return type(nest)(mapped(function, inner) for inner in nest)
    return function(nest)
