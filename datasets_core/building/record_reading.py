"""`RecordReading`: a builder whose dataset may stand as records that TensorFlow Datasets wrote, read where they stand."""

from __future__ import annotations

from typing import Any

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.built import nested
from datasets_core.building.prepared_manifest import prepared_manifest
from datasets_core.building.record_manifest import Conversion, RecordManifest
from datasets_core.dataset.dataset import Dataset
from datasets_core.features.schema import Features
from datasets_core.meta.rows import row_ranges
from datasets_core.meta.split import ReadInstruction
from datasets_core.store.manifest import Manifest
from datasets_core.store.source import structure_of


class RecordReading(DatasetBuilder):
    """Streams decode records when they are read; what is read by row number is converted once, into the cache.

    Attributes:
        conversion: how records are converted.
        wanted: the features that the user asks for; None for those that are recorded.
    """

    conversion: Conversion = Conversion()
    wanted: Features | None = None

    def _built(self) -> Manifest:
        if self._manifest is None:
            self._manifest = prepared_manifest(self._output_dir, self._output_storage_options)
        return super()._built()

    def _as_dataset(self, manifest: Manifest, in_memory: bool | None, split: str | ReadInstruction) -> Dataset:
        if not isinstance(manifest, RecordManifest):
            return super()._as_dataset(manifest, in_memory, split)
        from datasets_core.building.converted import converted_rows  # 100 ms that all other datasets do without

        folder, options = self._output_dir, self._output_storage_options
        rows, digests = converted_rows(folder, manifest, split, self.conversion, in_memory=in_memory, storage_options=options)
        found = self._dataset(manifest, rows, digests, split)
        return found if self.wanted is None else found.cast(self.wanted)

    def _streamed(self, split: Any) -> Any:
        """The rows of a nest of split expressions as streams, in their order; of None, all splits: nothing is converted.

        Raises:
            DatasetNotFoundError, UnknownSplitError: as `as_dataset`.
        """
        manifest = self._built()

        def one(part: str | ReadInstruction) -> Any:
            if not isinstance(manifest, RecordManifest):
                return self._as_dataset(manifest, None, part).to_iterable_dataset()
            ranges = row_ranges(part, manifest.split_lengths())
            rows = self._rows(manifest, False, ranges, structure=structure_of(manifest, part))
            stream = self._dataset(manifest, rows, [(manifest.identity, "")], part).to_iterable_dataset()
            return stream if self.wanted is None else stream.cast(self.wanted)

        from datasets_core.stream.iterable_group import IterableDatasetDict  # 5 ms that rows by number do without

        return nested(split, one, lambda: IterableDatasetDict({name: one(name) for name in manifest.split_lengths()}))
