"""`BeamBasedBuilder`: a builder whose rows come from a pipeline of Apache Beam."""

from __future__ import annotations

import abc
import contextlib
import heapq
import inspect
import itertools
import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO, ClassVar, Literal

import numpy as np

from datasets_core.building.builder import DatasetBuilder
from datasets_core.building.hooks import SplitGenerator
from datasets_core.engines.process import sent_by_value
from datasets_core.errors import ConfigurationError, logger_of
from datasets_core.files import is_url
from datasets_core.optional import needed
from datasets_core.store.manifest import staging_path

# The rows of an Apache Beam pipeline, stored on disk in the order of their keys, and read from there.


_RUN_BYTES = 64 << 20
_MOST_RUNS = 200  # maximum number of open files
_NAMES = "names"
_LOCAL_RUNNERS = (None, "DirectRunner", "PortableRunner", "BundleBasedDirectRunner", "FnApiRunner", "PrismRunner")

Order = tuple[int, Any]


class BeamRun:
    """A pipeline whose rows are stored in a folder.

    Args:
        folder: folder for the rows; for a distributed runner, on a file system that all machines share.
        runner: a runner, or its name; default: that of Beam.
        options: `PipelineOptions`, or a dict of them.
        needed_for: the component that needs Beam, as the subject of a sentence.

    Raises:
        MissingDependencyError: Apache Beam is not installed.
    """

    def __init__(self, folder: str, *, runner: Any = None, options: Any = None, needed_for: str = "This builder") -> None:
        self.folder = folder
        self._beam = beam_package(needed_for)
        self._splits: list[str] = []
        self.pipeline = _pipeline(self._beam, runner, options)

    def keep(self, split: str, make: Callable[[Any], Any]) -> None:
        """Add the rows of a split to the pipeline.

        Args:
            split: name of the split.
            make: receives the start of the pipeline; returns a `PCollection` of pairs of key and row, or a
                `PTransform` that returns one.
        """
        beam, folder = self._beam, os.path.join(self.folder, split)
        os.makedirs(folder, exist_ok=True)
        self._splits.append(split)

        def expand(begin: Any) -> Any:
            made = make(begin)
            rows = begin | made if isinstance(made, beam.PTransform) else made
            return (
                rows
                | "datasets_core: one window" >> beam.WindowInto(beam.window.GlobalWindows())
                | "datasets_core: pickle" >> beam.Map(_pickled)
                | "datasets_core: gather" >> beam.BatchElements(_RUN_BYTES, _RUN_BYTES, element_size_fn=_size)
                | "datasets_core: write" >> beam.Map(_write_run, folder)
                | "datasets_core: name" >> beam.io.WriteToText(os.path.join(folder, _NAMES))
            )

        _ = self.pipeline | f"datasets_core: {split}" >> beam.ptransform_fn(expand)()

    def run(self) -> dict[str, SortedRows]:
        """Run the pipeline, and return the rows of each split."""
        with contextlib.suppress(ModuleNotFoundError):  # old versions have no copy of their own, and use the global one
            cloudpickle = needed("apache_beam.internal.cloudpickle.cloudpickle", "A pipeline of Apache Beam")
            for module in sent_by_value():
                cloudpickle.register_pickle_by_value(module)
        result = self.pipeline.run()
        result.wait_until_finish()
        return {split: _merged(os.path.join(self.folder, split)) for split in self._splits}


@dataclass(frozen=True, slots=True)
class SortedRows:
    """Pairs of key and row in the order of the keys: integers first, then strings, bytes, and other types.

    They can be iterated repeatedly, and sent to another local process.  Rows with equal keys are ordered by content.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = [_write_run([_pickled((key, {"n": key})) for key in keys], folder) for keys in ([3, 1], [2])]
    ...     list(SortedRows(tuple(runs)))
    [(1, {'n': 1}), (2, {'n': 2}), (3, {'n': 3})]
    """

    runs: tuple[str, ...]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        for _, pair in _walk(self.runs):
            yield pickle.loads(pair)


def beam_package(needed_for: str) -> Any:
    """Import and return Apache Beam.

    Raises:
        MissingDependencyError: Apache Beam is not installed.
    """
    return needed("apache_beam", needed_for, install="datasets_core[beam]")


def wants_pipeline(hook: Callable[..., Any]) -> bool:
    """Return True if the author's `_split_generators` also takes the pipeline."""
    return "pipeline" in inspect.signature(hook).parameters


def _pipeline(beam: Any, runner: Any, options: Any) -> Any:
    kind = beam.options.pipeline_options.PipelineOptions
    if options is None or isinstance(options, Mapping):
        # Beam infers the type of a row from its source, and refuses rows of several types.
        options = kind.from_dictionary({"pipeline_type_check": False, **(options or {})})

    class BeamPipeline(beam.Pipeline):  # type: ignore[misc]  # untyped
        """A pipeline that knows whether it has access to local files."""

        def is_local(self) -> bool:
            """Return True if it runs on this machine."""
            return runs_here(runner, self._options)

    return BeamPipeline(runner=runner, options=options)


def runs_here(runner: Any, options: Any) -> bool:
    """Return True if a runner runs on this machine, judged by its name."""
    known = runner if runner is not None else options.get_all_options().get("runner")
    name = known.rpartition(".")[2] if isinstance(known, str) else None if known is None else type(known).__name__
    return name in _LOCAL_RUNNERS


# -- on the workers ----------------------------------------------------------------------------------------------------


def _pickled(pair: tuple[Any, Any]) -> tuple[Order, bytes]:
    key, _ = pair
    return _order(key), pickle.dumps(pair, pickle.HIGHEST_PROTOCOL)


def _order(key: Any) -> Order:
    """Return the sort key of a key; keys of all types have one order."""
    if isinstance(key, (int, np.integer)):
        return 0, int(key)
    if isinstance(key, str):
        return 1, key.encode("utf-8", "surrogatepass")
    if isinstance(key, bytes):
        return 2, key
    return 3, pickle.dumps(key)


def _size(row: tuple[Order, bytes]) -> int:
    return len(row[1])


def _write_run(rows: Iterable[tuple[Order, bytes]], folder: str) -> str:
    path = os.path.join(folder, f"run-{os.urandom(8).hex()}")
    with open(path, "wb") as file:
        for row in sorted(rows):
            pickle.dump(row, file, pickle.HIGHEST_PROTOCOL)
    return path


# -- where they are read -----------------------------------------------------------------------------------------------


def _merged(folder: str) -> SortedRows:
    """Merge the output files of the pipeline in a folder into few sorted runs."""
    names = sorted(name for name in os.listdir(folder) if name.startswith(f"{_NAMES}-"))
    runs: list[str] = []
    for name in names:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            runs += file.read().splitlines()
    while len(runs) > _MOST_RUNS:
        group, runs = runs[:_MOST_RUNS], runs[_MOST_RUNS:]
        path = os.path.join(folder, f"merged-{os.urandom(8).hex()}")
        with open(path, "wb") as file:
            for row in _walk(group):
                pickle.dump(row, file, pickle.HIGHEST_PROTOCOL)
        for each in group:
            os.unlink(each)
        runs.append(path)
    return SortedRows(tuple(runs))


def _walk(runs: Iterable[str]) -> Iterator[tuple[Order, bytes]]:
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context(open(run, "rb")) for run in runs]
        yield from heapq.merge(*map(_rows, files))


def _rows(file: BinaryIO) -> Iterator[tuple[Order, bytes]]:
    for _ in itertools.count():
        try:
            yield pickle.load(file)
        except EOFError:
            return


logger = logger_of(__name__)


class BeamBasedBuilder(DatasetBuilder):
    """A builder whose hook extends a pipeline of Apache Beam (the extra `beam`), which runs once for all splits.

    Rows are in the order of their keys, for any runner: integers by value, strings by character.

    Args:
        arguments, options: those of `DatasetBuilder`.
        beam_runner: a runner or its name; default `"DirectRunner"`, which runs on this machine.
        beam_options: `PipelineOptions` of Beam, or a dict of them.

    Example:
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
        """Return a `PCollection` of pairs of a key and a row.  Called with the `gen_kwargs` of a `SplitGenerator`."""

    def download_and_prepare(self, *arguments: Any, beam_runner: Any = None, beam_options: Any = None, **options: Any) -> None:
        """Build the dataset, unless it exists already.

        Args:
            arguments, options: those of `DatasetBuilder.download_and_prepare`.
            beam_runner, beam_options: instead of those of the constructor.

        Raises:
            MissingDependencyError: Apache Beam is not installed.
            DatasetsCoreError: a subclass for the failure.
        """
        runner, known = self._beam
        self._beam = (beam_runner or runner, beam_options or known)
        try:
            super().download_and_prepare(*arguments, **options)
        finally:
            self._forget()

    def split_generators(self, dl_manager: Any) -> list[SplitGenerator]:
        """Return the splits of `_split_generators`, with the rows of the pipeline.

        Args:
            dl_manager: the download manager.
        """
        runner, options = self._beam
        folder = self._room()
        run = BeamRun(folder, runner=runner, options=options, needed_for=f"{type(self).__name__}, a builder of Apache Beam,")
        given = {"pipeline": run.pipeline} if wants_pipeline(self._split_generators) else {}
        splits: list[Any] = list(self._split_generators(dl_manager, **given))
        for split in splits:
            if not isinstance(split, SplitGenerator):
                return splits  # the build reports the error
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
                f"_build_pcollection of {self.label} returned None for split {split.name!r}", advice="Return a PCollection"
            )
        return made

    def generate(self, gen_kwargs: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """Yield the rows of the pipeline. A number is appended to repeated keys.

        Args:
            gen_kwargs: arguments of a split.
        """
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
        """Return a new folder next to the dataset; it is removed when this build ends or this builder is deleted."""
        self._forget()
        beside = self._cache_dir if not is_url(self._cache_dir) else os.path.join(os.getcwd(), self.dataset_name)
        folder = staging_path(f"{beside}-beam")
        try:
            os.makedirs(folder)
        except OSError:  # an untrusted script may only write into its own scratch folder
            folder = tempfile.mkdtemp(prefix="datasets_core-beam-")
        self._remove = weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return folder

    def _forget(self) -> None:
        remove = vars(self).pop("_remove", None)
        if remove is not None:
            remove()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state sent to workers, also to those of Beam: everything except the settings of the pipeline."""
        return {name: value for name, value in vars(self).items() if name not in ("_beam", "_remove")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        vars(self).update(state, _beam=(None, None))


def _texts(value: Any) -> Iterator[str]:
    """Yield the strings among the arguments, since those that name files are sources of the dataset."""
    if isinstance(value, (str, os.PathLike)):
        text = os.fspath(value)
        if isinstance(text, str):
            yield text
    elif isinstance(value, Mapping):
        yield from _texts(list(value.values()))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _texts(item)
