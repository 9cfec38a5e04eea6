"""`BeamBasedBuilder`: a builder whose rows a pipeline of Apache Beam makes."""

from __future__ import annotations

import abc
import logging
import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

from datasets_core.building.beam_rows import BeamRun, wants_pipeline
from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.errors import ConfigurationError
from datasets_core.files import is_url
from datasets_core.store.layout import staging_path

logger = logging.getLogger(__name__)


class BeamBasedBuilder(DatasetBuilder):
    """A builder whose hook adds to a pipeline of Apache Beam (the extra `beam`), which runs once for all splits.

    The rows stand in the order of their keys, whatever the runner: integers by their size, texts by their characters.

    Args:
        beam_runner: the name of a runner, or one; `"DirectRunner"`, which runs here, by default.
        beam_options: `PipelineOptions` of Beam, or a dict of them.
        arguments, options: those of `DatasetBuilder`.

    >>> from datasets_core import DatasetInfo, SplitGenerator
    >>> class Squares(BeamBasedBuilder):
    ...     def _info(self):
    ...         return DatasetInfo(features=Features({"square": Value("int64")}))
    ...     def _split_generators(self, dl_manager):
    ...         return [SplitGenerator(name="train", gen_kwargs={"below": 4})]
    ...     def _build_pcollection(self, pipeline, below):
    ...         import apache_beam as beam
    ...         return pipeline | beam.Create(range(below)) | beam.Map(lambda n: (n, {"square": n**2}))
    >>> Squares().info.features
    {'square': Value('int64')}
    """

    yields: ClassVar[Literal["rows", "tables"]] = "rows"

    def __init__(self, *arguments: Any, beam_runner: Any = None, beam_options: Any = None, **options: Any) -> None:
        self._beam = (beam_runner, beam_options)
        super().__init__(*arguments, **options)

    @abc.abstractmethod
    def _build_pcollection(self, pipeline: Any, **kwargs: Any) -> Any:
        """A `PCollection` of pairs of a key and a row.  Called with the `gen_kwargs` of a `SplitGenerator`."""

    def download_and_prepare(self, *arguments: Any, beam_runner: Any = None, beam_options: Any = None, **options: Any) -> None:
        """Build the dataset, unless it stands already.

        Args:
            beam_runner, beam_options: instead of those of the constructor.
            arguments, options: those of `DatasetBuilder.download_and_prepare`.

        Raises:
            MissingDependencyError: Apache Beam is not installed.
            DatasetsCoreError: of the kind that says what is wrong.
        """
        runner, known = self._beam
        self._beam = (beam_runner or runner, beam_options or known)
        try:
            super().download_and_prepare(*arguments, **options)
        finally:
            self._forget()

    def split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        """The splits of `_split_generators`, with the rows that the pipeline made of them."""
        runner, options = self._beam
        folder = self._room()
        run = BeamRun(folder, runner=runner, options=options, needed_for=f"{type(self).__name__}, a builder of Apache Beam,")
        given = {"pipeline": run.pipeline} if wants_pipeline(self._split_generators) else {}
        splits: list[Any] = list(self._split_generators(dl_manager, **given))
        for split in splits:
            if not isinstance(split, SplitGenerator):
                return splits  # the build says what is wrong with it
            run.keep(split.name, lambda begin, split=split: self._pcollection(begin, split))  # type: ignore[misc]
        rows = run.run()
        return [
            SplitGenerator(split.name, {"rows": rows[split.name], "sources": tuple(_texts(split.gen_kwargs))})
            for split in splits
        ]

    def _pcollection(self, pipeline: Any, split: SplitGenerator) -> Any:
        made = self._build_pcollection(pipeline, **split.gen_kwargs)
        if made is None:
            raise ConfigurationError(
                f"_build_pcollection of {self.label} returns None for split {split.name!r}. Return a PCollection."
            )
        return made

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """The rows that the pipeline made; where several have one key, the key of each but the first has a number behind it."""
        last, count = None, 0
        for position, (key, row) in enumerate(gen_kwargs["rows"]):
            if position and type(key) is type(last) and key == last:
                if not count:
                    logger.warning("Several rows of %s have the key %r.", self.label, key)
                count += 1
                yield (key, count), row
            else:
                last, count = key, 0
                yield key, row

    # -- the folder of the rows ----------------------------------------------------------------------------------------

    def _room(self) -> str:
        """A new folder beside the dataset, which goes with this build, or with this builder."""
        self._forget()
        beside = self._cache_dir if not is_url(self._cache_dir) else os.path.join(os.getcwd(), self.dataset_name)
        folder = staging_path(f"{beside}-beam")
        try:
            os.makedirs(folder)
        except OSError:  # a script that nobody trusts may write into its own scratch folder alone
            folder = tempfile.mkdtemp(prefix="datasets_core-beam-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _forget(self) -> None:
        remove = vars(self).pop("_remove", None)
        if remove is not None:
            remove()

    def __getstate__(self) -> dict[str, Any]:
        """What travels to workers, those of Beam among them: all but the pipeline's settings."""
        return {name: value for name, value in vars(self).items() if name not in ("_beam", "_remove")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _beam=(None, None))


def _texts(value: Any) -> Iterator[str]:
    """The texts among the arguments: the files among them are sources of the dataset."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str):
            yield text
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
